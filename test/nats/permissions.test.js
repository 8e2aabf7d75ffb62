'use strict'
// The users of docs/machines.md, as a server has them: each may do its part, and no more.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { connect } = require('@nats-io/transport-node')
const { ones } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { startServer } = require('./server')

const PAGE = path.join(__dirname, '..', '..', 'docs', 'machines.md')

/** Permissions that a sentence of the page gives to a user, besides. */
const more = (page, pattern) => pattern.exec(page)[1].match(/"[^"]+"/g).join(', ')

describe('NATS: permissions, as the guide has them', () => {
  let server
  const connections = []
  before(async () => {
    const page = fs.readFileSync(PAGE, 'utf8')
    const [config] = /^authorization \{[^]*?^\}/m.exec(page)
    const durable = config
      .replace('publish: ["_INBOX.>"]', `publish: ["_INBOX.>", ${more(page, /workers publish to (.*?),/)}]`)
      .replace('subscribe: ["models.>"', `subscribe: [${more(page, /and subscribe to (.*?);/)}, "models.>"`)
      .replace('publish: ["models.>"]', `publish: ["models.>", ${more(page, /callers publish to (\S+)/)}]`)
    server = await startServer({ jetstream: true, config: durable.replace(/\$(CAMERA|CALLER|WORKER)\b/g, 'secret') })
  })
  afterEach(async () => { for (const each of connections.splice(0)) await each.close() })
  after(() => server?.stop())

  const as = async user => {
    const connection = await connect({ servers: server.url, user, pass: 'secret' })
    connections.push(connection)
    return tensors(connection)
  }
  const codeOf = promise => promise.then(() => 'none', error => error.code)

  it('let callers ask and workers serve, by bytes and by shared memory', async () => {
    const [worker, caller] = [await as('worker'), await as('caller')]
    const service = await worker.serve(x => x.clone(), 'models.copies')
    for (const n of [4, 2 ** 17]) assert.deepEqual((await caller.request('models.copies', ones([n]))).shape, [n])
    await service.drain()
  })

  it('let callers ask durably, when workers have begun', async () => {
    const [worker, caller] = [await as('worker'), await as('caller')]
    const early = caller.request('models.durable', ones([4]), { durable: true, attempts: 100, deadline: 60000 })
    const service = await worker.serve(x => x.clone(), 'models.durable', { durable: true })
    assert.deepEqual((await early).shape, [4])
    assert.deepEqual((await caller.request('models.durable', ones([4]), { durable: true })).shape, [4])
    await service.drain()
    assert.equal(await codeOf(caller.request('models.none', ones([4]), { durable: true })), 'ERR_NO_RESPONDERS')
  })

  it('let cameras publish, and refuse what is not their part', async () => {
    const [camera, caller] = [await as('camera'), await as('caller')]
    await camera.publish('cam.1', ones([4]))
    assert.equal(await codeOf(camera.publish('models.copies', ones([4]))), 'ERR_REMOTE')
    assert.equal(await codeOf(caller.publish('cam.1', ones([4]))), 'ERR_REMOTE')
    assert.equal(await codeOf(camera.request('models.copies', ones([4]))), 'ERR_REMOTE')
  })

  it('let nobody in without a password', async () => {
    await assert.rejects(connect({ servers: server.url, user: 'camera', pass: 'wrong' }))
  })
})
