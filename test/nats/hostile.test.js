'use strict'
// Peers and programs that mean harm: what they do stays theirs.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { connect } = require('@nats-io/transport-node')
const { jetstreamManager } = require('@nats-io/jetstream')
const { fromBytes, memory, ones, zeros } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { decode, encode } = require('../../js/nats/messages')
const { needs } = require('../setup')
const { startServer } = require('./server')
const { RawClient } = require('./wire')

const PERMISSIONS =
  'authorization { users = [{ user: all, password: x }, { user: deaf, password: x, permissions: { publish: [">"], subscribe: ["_INBOX.>", "$SRV.>"] } }] }'
const codeOf = (promise) =>
  promise.then(
    () => 'none',
    (error) => error.code,
  )

async function until(is) {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('NATS: who means harm', function () {
  needs('nats-server')
  let server, nc, ours, bus, caller, raw, jsm
  const connected = (options) =>
    connect({
      servers: server.url,
      user: 'all',
      pass: 'x',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 20,
      ...options,
    })

  before(async () => {
    server = await startServer({ jetstream: true, config: `max_payload: 8MB\n${PERMISSIONS}` })
  })
  beforeEach(async () => {
    nc = await connected()
    ours = await connected()
    bus = tensors(nc)
    caller = tensors(ours)
    raw = await RawClient.connect(server, { user: 'all', pass: 'x' })
    jsm = await jetstreamManager(ours)
  })
  afterEach(async () => {
    raw.close()
    await nc.close()
    await ours.close()
  })
  after(() => server?.stop())

  describe('a function that throws', () => {
    const thrown = {
      'what is no text': Object.create(null),
      'a message that throws': {
        get message() {
          throw new Error('no')
        },
      },
      'a code that throws': {
        get code() {
          throw new Error('no')
        },
      },
      'a proxy that throws': new Proxy(
        {},
        {
          get() {
            throw new Error('no')
          },
        },
      ),
    }
    for (const [what, error] of Object.entries(thrown)) {
      it(`${what} fails its requests alone`, async () => {
        const service = await bus.serve((x) => {
          if (x.size === 1) throw error
          return x
        }, 'throws')
        assert.equal(
          await codeOf(caller.request('throws', ones([1]), { deadline: 10000 })),
          'ERR_REMOTE',
        )
        assert.deepEqual(
          (await caller.request('throws', ones([2]), { deadline: 10000 })).shape,
          [2],
        )
        assert.equal(service.stats().errors, 1)
        await service.drain()
      })
    }
  })

  it('a function may change the record that it gets', async () => {
    const service = await bus.serve((record) => {
      record.x = null
      record.more = 5
      return ones([2])
    }, 'changes')
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(
        (await caller.request('changes', { x: ones([1]) }, { deadline: 10000 })).shape,
        [2],
      )
    }
    await service.drain()
  })

  it('requests are answered to no subject of the server, where an answer is an order', async () => {
    const service = await bus.serve((x) => x, 'orders')
    await jsm.streams.add({ name: 'victim', subjects: ['victim'] })
    raw.publish('orders', '', new Uint8Array(0))
    raw.socket.write(
      'PUB orders $JS.API.STREAM.DELETE.victim 0\r\n\r\nPUB orders.replica $JS.API.STREAM.DELETE.victim 0\r\n\r\n',
    )
    await raw.flush()
    await caller.request('orders', ones([1])) // those before have been answered then
    await service.drain()
    assert.equal((await jsm.streams.info('victim')).config.name, 'victim')
    await jsm.streams.delete('victim')
  })

  it("subjects of replies that are too long for the server do not end the service's connection", async () => {
    const service = await bus.serve((x) => x, 'l')
    const seen = []
    const watching = (async () => {
      for await (const { type } of nc.status()) seen.push(type)
    })()
    for (const length of [1024, 1025, 4088, 4089, 4090]) {
      raw.socket.write(`PUB l ${'r'.repeat(length)} 0\r\n\r\n`)
    }
    await raw.flush()
    await caller.request('l', ones([1]), { deadline: 10000, attempts: 100 })
    await service.drain()
    await nc.close()
    await watching
    assert.ok(!seen.includes('disconnect'), seen.join())
  })

  it('getters are read once, and nothing stays busy when one throws', async () => {
    const service = await bus.serve((x) => x, 'getters')
    const [source, out, block] = [ones([2 ** 17]), zeros([2 ** 17]), zeros([2 ** 17])]
    const small = block.narrow(0, 0, 4)
    for (let good = 0; good < 8; good++) {
      let count = 0
      const throwing = {
        get x() {
          if (count++ >= good) throw new Error('no')
          return out
        },
      }
      await caller.request('getters', source, { out: throwing, deadline: 10000 }).catch(() => {})
      let again = 0
      const changing = {
        get x() {
          return again++ >= good ? small : out
        },
      }
      await caller
        .request('getters', { x: source }, { out: changing, deadline: 10000 })
        .catch(() => {})
      assert.equal(block.get(100), 0, 'bytes behind a tensor were written')
      await until(() => memory().inFlight === 0)
      source.fill(1)
      out.fill(0)
    }
    const { headers, payload } = encode({ x: source })
    const bytes = new Uint8Array(Buffer.concat([headers.encode(), payload]))
    const message = {
      subject: '',
      reply: '',
      data: bytes.subarray(bytes.length - payload.length),
      size: () => bytes.length,
    }
    let reads = 0
    decode(message, {
      out: {
        get x() {
          return reads++ === 0 ? out : small
        },
      },
    })
    assert.deepEqual([reads, out.get(0), block.get(0)], [1, 1, 0])
    await service.drain()
  })

  it('what a getter publishes is counted before what it is part of', async () => {
    const subscription = bus.subscribe('nested')
    await nc.flush()
    let inner
    await caller.publish('nested', {
      get x() {
        inner ??= caller.publish('nested', ones([2]))
        return ones([3])
      },
    })
    await inner
    await caller.publish('nested', ones([4]))
    const got = []
    for await (const { seq, lost } of subscription) if (got.push([seq, lost]) === 3) break
    assert.deepEqual(got, [
      [1, 0],
      [2, 0],
      [3, 0],
    ])
  })

  for (const turns of [0, 1, 2, 3, 5]) {
    it(`a buffer that is transferred away after ${turns} turns ends one message at most`, async () => {
      const service = await bus.serve((x) => x, 'transfers')
      const store = await caller.store('transfers')
      const acts = [
        (x) => caller.publish('transfers.none', x),
        (x) => caller.request('transfers', x, { deadline: 10000 }),
        (x) => caller.request('transfers.none', x, { deadline: 50, attempts: 2 }),
        (x) => store.put('x.npy', x),
      ]
      for (const act of acts) {
        const buffer = new Float32Array(2 ** 18).fill(1).buffer
        const settled = codeOf(
          act(fromBytes(new Uint8Array(buffer), [2 ** 18], { dtype: 'float32', copy: false })),
        )
        for (let i = 0; i < turns; i++) await null
        structuredClone(buffer, { transfer: [buffer] })
        assert.ok(
          ['none', 'ERR_DETACHED', 'ERR_NO_RESPONDERS', 'ERR_TIMEOUT'].includes(await settled),
          await settled,
        )
        assert.deepEqual(
          (await caller.request('transfers', ones([2]), { deadline: 10000 })).shape,
          [2],
        ) // the connection goes on
      }
      await until(() => memory().inFlight === 0)
      await service.drain()
    })
  }

  it('a service whose start fails answers nothing when the connection is back', async () => {
    const failing = await startServer()
    const connections = []
    try {
      for (let i = 0; i < 2; i++) {
        connections.push(
          await connect({ servers: failing.url, maxReconnectAttempts: -1, reconnectTimeWait: 20 }),
        )
      }
      const [mine, others] = connections
      failing.kill('SIGSTOP')
      await until(() => / T /.test(fs.readFileSync(`/proc/${failing.pid}/stat`, 'latin1')))
      const starting = codeOf(tensors(mine).serve((x) => x, 'late'))
      await new Promise((resolve) => setImmediate(resolve))
      failing.kill('SIGKILL')
      assert.equal(await starting, 'ERR_DISCONNECTED')
      await failing.ended
      await failing.restart()
      for (const each of connections) {
        await until(() =>
          each.flush().then(
            () => true,
            () => false,
          ),
        )
      }
      assert.equal(
        await codeOf(tensors(others).request('late', ones([1]), { deadline: 10000 })),
        'ERR_NO_RESPONDERS',
      )
    } finally {
      for (const each of connections) await each.close()
      await failing.stop()
    }
  })

  it('a service that may not subscribe does not keep its process', async () => {
    const program = `
      const { connect } = require('@nats-io/transport-node')
      const { tensors } = require('samebytes/nats')
      connect({ servers: '${server.url}', user: 'deaf', pass: 'x' }).then(async connection => {
        await tensors(connection).serve(x => x, 'deaf').catch(() => {})
        await connection.close()
        process.send('closed')
        process.disconnect()
      })`
    const child = spawn(process.execPath, ['-e', program], {
      cwd: path.join(__dirname, '..', '..'),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    try {
      await once(child, 'message')
      assert.deepEqual(await once(child, 'exit'), [0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })
})
