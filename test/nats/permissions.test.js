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

describe('NATS: permissions, as the guide has them', () => {
  let server
  const connections = []
  before(async () => {
    const [config] = /^authorization \{[^]*?^\}/m.exec(fs.readFileSync(PAGE, 'utf8'))
    server = await startServer({ config: config.replace(/\$(CAMERA|CALLER|WORKER)\b/g, 'secret') })
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
