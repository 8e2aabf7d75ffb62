'use strict'
// Which way tensors went, in messages or in memory of the host: memory() and the memory map tell.

const assert = require('node:assert/strict')
const { connect } = require('@nats-io/transport-node')
const { SharedTensor, full, memory } = require('samebytes')
const { memoryMap, trace, untrace } = require('samebytes/inspect')
const { tensors } = require('samebytes/nats')
const { needs, skipWithout } = require('../setup')
const { startServer } = require('./server')

const LARGE = 2 ** 18 // elements of float32: 1 MiB
const BYTES = 4 * LARGE
const WAYS = ['message', 'host']

describe('NATS: the way that tensors went', () => {
  needs('nats-server')
  let server
  let bus
  const connections = []
  const newBus = async () => {
    const connection = await connect({ servers: server.url })
    connections.push(connection)
    return tensors(connection)
  }

  before(async () => {
    server = await startServer({ config: 'max_payload: 8MB' })
    bus = await newBus()
    const service = await newBus()
    await service.serve((x) => x.narrow(0, 0, 1).clone(), 'first')
    await service.serve((x) => x.clone(), 'same')
    connections[1].subscribe('raw', {
      callback: (_, m) => m.respond(m.data.subarray(0, 4), { headers: tell('float32', '1') }),
    })
    await connections[1].flush()
  })
  after(async () => {
    untrace()
    for (const connection of connections) await connection.close()
    await server?.stop()
  })

  /** Headers of a tensor, of whatever client. */
  function tell(dtype, shape) {
    const { headers } = require('@nats-io/transport-node')
    const fields = headers()
    fields.set('Tensor-Dtype', dtype)
    fields.set('Tensor-Shape', shape)
    return fields
  }

  /** What memory() counts while something is done: [count, bytes] by way. */
  async function sentBy(run) {
    const counts = () => WAYS.map((way) => memory().sent[way] ?? { count: 0, bytes: 0 })
    const before = counts()
    await run()
    return Object.fromEntries(
      counts().map(({ count, bytes }, i) => [
        WAYS[i],
        [count - before[i].count, bytes - before[i].bytes],
      ]),
    )
  }

  it('is memory of the host for requests of 64 KiB and more, and messages for small replies', async function () {
    skipWithout(this, 'paths of descriptors')
    const x = full([LARGE], 3)
    assert.deepEqual(await sentBy(() => bus.request('first', x)), {
      message: [1, 4],
      host: [1, BYTES],
    })
    assert.deepEqual(await sentBy(() => bus.request('first', full([4], 1))), {
      message: [2, 20],
      host: [0, 0],
    })
  })

  it('is memory of the host both ways where the reply is large', async function () {
    skipWithout(this, 'paths of descriptors')
    const x = full([LARGE], 3)
    const out = full([LARGE], 0)
    assert.deepEqual(await sentBy(() => bus.request('same', x, { out })), {
      message: [0, 0],
      host: [2, 2 * BYTES],
    })
    assert.equal(out.get(LARGE - 1), 3)
  })

  it('is memory of the host where nothing is copied', async function () {
    skipWithout(this, 'paths of descriptors')
    const shared = SharedTensor.create(null, [LARGE])
    const before = { ...memory().copied.host }
    assert.deepEqual(await sentBy(() => bus.request('first', shared.tensor)), {
      message: [1, 4],
      host: [1, BYTES],
    })
    assert.deepEqual({ ...memory().copied.host }, before)
    shared.dispose()
  })

  it('is a message where no service of the host listens, once that is known', async () => {
    const x = full([LARGE], 3)
    await bus.request('raw', x)
    assert.deepEqual(await sentBy(() => bus.request('raw', x)), {
      message: [1, BYTES],
      host: [0, 0],
    })
  })

  it('is a message for records and for what is published', async () => {
    const x = full([LARGE], 3)
    assert.deepEqual(await sentBy(() => bus.publish('nobody', x)), {
      message: [1, BYTES],
      host: [0, 0],
    })
    const {
      message: [count, bytes],
      host,
    } = await sentBy(() => bus.publish('nobody', { x }))
    assert.ok(bytes > BYTES && bytes < BYTES + 1024)
    assert.deepEqual([count, host], [1, [0, 0]])
  })

  it('is told with the line that sent, as data and as text', async () => {
    untrace() // which the import began
    trace()
    const x = full([LARGE], 3)
    await bus.request('first', x)
    await bus.publish('nobody', x)
    const { sent, memory: counted } = memoryMap()
    for (const way of WAYS) {
      const [here] = sent[way].sites.filter(({ site }) => site?.file.endsWith('ways.test.js'))
      assert.deepEqual(
        [here.count, here.bytes, here.site.call],
        [1, BYTES, way === 'host' ? 'request' : 'publish'],
      )
      assert.deepEqual(counted.sent[way], { count: sent[way].count, bytes: sent[way].bytes })
    }
    const text = memoryMap({ format: 'text' })
    const lines = text.slice(text.indexOf('\nsent over NATS\n'))
    for (const way of ['in messages', 'in shared memory of the host']) {
      assert.match(
        lines,
        new RegExp(`\n  ${way}: \\d+ ×, [^\n]*\n    [^\n]*ways\\.test\\.js:\\d+: 1 ×, 1\\.0 MiB\n`),
      )
    }
    untrace()
    await bus.publish('nobody', x)
    assert.deepEqual(memoryMap().sent.message.sites, [])
  })
})
