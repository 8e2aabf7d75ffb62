'use strict'
const assert = require('node:assert/strict')
const net = require('node:net')
const { connect } = require('@nats-io/transport-node')
const { jetstream, jetstreamManager } = require('@nats-io/jetstream')
const { TensorBus, arange, ones, zeros, tensor, memory } = {
  ...require('samebytes'),
  ...require('samebytes/nats'),
}
const { tensors } = require('samebytes/nats')
const { needs } = require('../setup')
const { startServer } = require('./server')
const { TRANSPORTS, RawClient, withConnections } = require('./wire')

/** Rejects with the code? */
const rejects = (promise, code) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.stack)
    return true
  })

/** A server that greets, takes all, and answers the first PING alone: it looks connected and confirms nothing. */
async function muteServer() {
  const sockets = new Set()
  let got = 0
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(
      'INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":8388608,"proto":1}\r\n',
    )
    let isGreeted = false
    socket.on('data', (data) => {
      got += data.length
      if (!isGreeted && data.includes('PING')) socket.write('PONG\r\n')
      isGreeted ||= data.includes('PING')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `127.0.0.1:${server.address().port}`,
    cut,
    got: () => got,
    stop: () => {
      cut()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A server that has a function answer each request to the subject s. */
async function streamServer(answer, holdsPongs = () => false) {
  const server = net.createServer((socket) => {
    let sid
    socket.on('error', () => {})
    socket.write(
      'INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":8388608,"proto":1}\r\n',
    )
    socket.on('data', (data) => {
      const text = data.toString('latin1')
      sid = /SUB \S+ (\d+)/.exec(text)?.[1] ?? sid
      if (text.includes('PING') && !holdsPongs()) socket.write('PONG\r\n')
      const [, inbox] = /HPUB s (\S+)/.exec(text) ?? []
      if (inbox === undefined) return
      answer({
        id: /Nats-Msg-Id: *(\S+)/i.exec(text)[1],
        refuse: () => socket.write(`HMSG ${inbox} ${sid} 16 16\r\nNATS/1.0 503\r\n\r\n\r\n`),
        store: () => socket.write(`MSG ${inbox} ${sid} 22\r\n{"stream":"S","seq":1}\r\n`),
        pong: () => socket.write('PONG\r\n'),
        cut: () => socket.end(),
      })
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('NATS: publishing', () => {
  needs('nats-server')
  let server
  before(async () => {
    server = await startServer({
      jetstream: true,
      config:
        'max_payload: 4MB\nauthorization { users = [{ user: all, password: x, permissions: { publish: ">", subscribe: ">" } }, { user: few, password: x, permissions: { publish: ["ok.>", "_INBOX.>"], subscribe: [">"] } }] }',
    })
  })
  after(() => server?.stop())

  const as =
    (user, how = connect) =>
    (options) =>
      how({ ...options, user, pass: 'x' })

  it('needs a connection, sensible limits and a bus made by tensors()', () =>
    withConnections(server, [as('all')], async (connection) => {
      for (const wrong of [undefined, null, {}, 5, { publish() {} }]) {
        assert.throws(() => tensors(wrong), { code: 'ERR_ARGUMENT' })
      }
      for (const maxBytes of [0, -1, 1.5]) {
        assert.throws(() => tensors(connection, { maxBytes }), { code: 'ERR_BOUNDS' })
      }
      assert.throws(() => tensors(connection, { maxPending: 'x' }), { code: 'ERR_ARGUMENT' })
      assert.throws(() => new TensorBus(), { code: 'ERR_ARGUMENT' })
      const { publish, subscribe } = TensorBus.prototype
      await rejects(publish('a', zeros([1])), 'ERR_ARGUMENT')
      assert.throws(() => subscribe('a'), { code: 'ERR_ARGUMENT' })
      const bus = tensors(connection)
      assert.equal(bus.connection, connection)
      assert.equal(bus.isConnected, true)
    }))

  it('refuses a tensor that something else writes, and takes it afterwards', () =>
    withConnections(server, [as('all')], async (connection) => {
      const bus = tensors(connection)
      const [small, large] = [zeros([4]), zeros([2 ** 18])]
      for (const t of [small, large]) {
        const written = t.copyFromAsync(ones([...t.shape]))
        await rejects(bus.publish('written', t), 'ERR_BUSY')
        await written
        await bus.publish('written', t)
        t.fill(2) // nothing holds it
      }
    }))

  it('needs a subject without wildcards, a value, known options', () =>
    withConnections(server, [as('all')], async (connection) => {
      const bus = tensors(connection)
      for (const subject of [
        '',
        'a b',
        'a..b',
        '.a',
        'a.',
        'a.*',
        '>',
        'a\r\nPUB b',
        'a\0',
        'x'.repeat(1025),
        5,
        undefined,
      ]) {
        await rejects(bus.publish(subject, zeros([1])), 'ERR_ARGUMENT')
      }
      for (const value of [undefined, 5, 'x']) {
        await rejects(bus.publish('a', value), 'ERR_ARGUMENT')
      }
      for (const options of [
        { stream: 5 },
        { stream: '' },
        { stream: true, id: 5 },
        { signal: {} },
        5,
      ]) {
        await rejects(bus.publish('a', zeros([1]), options), 'ERR_ARGUMENT')
      }
    }))

  for (const [name, how] of Object.entries(TRANSPORTS)) {
    describe(`by ${name}`, () => {
      it('copies small tensors before the call returns, and counts that', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const received = tensors(b).subscribe('small')
          await b.flush()
          const t = ones([10])
          const before = memory().copied.nats?.bytes ?? 0
          const sent = tensors(a).publish('small', t)
          assert.equal(memory().copied.nats.bytes - before, 40)
          t.fill(9)
          await sent
          assert.deepEqual((await received.next()).value.tensor.toArray(), Array(10).fill(1))
          await received.return()
        }))

      it('sends large tensors in place, busy until the server has them', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const received = tensors(b).subscribe('large')
          await b.flush()
          const t = ones([500, 500])
          const before = memory().copied.nats?.bytes ?? 0
          const sent = tensors(a).publish('large', t)
          assert.throws(() => t.fill(9), { code: 'ERR_BUSY' })
          await sent
          t.fill(9)
          assert.equal((memory().copied.nats?.bytes ?? 0) - before, 0)
          assert.equal((await received.next()).value.tensor.get(499, 499), 1)
          await received.return()
        }))

      it('keeps the bytes of a tensor that is disposed meanwhile', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const received = tensors(b).subscribe('gone')
          await b.flush()
          const t = ones([800, 1000])
          const sent = tensors(a).publish('gone', t)
          t.dispose()
          const others = Array.from({ length: 4 }, () => zeros([800, 1000]))
          await sent
          const { value } = await received.next()
          assert.equal(value.tensor.get(799, 999), 1)
          assert.equal(others.length, 4)
          await received.return()
        }))

      it("sends tensors over callers' arrays and shared memory in place too", () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const { fromBlob } = require('samebytes')
          const received = tensors(b).subscribe('blob')
          await b.flush()
          const array = new Float32Array(2 ** 17).fill(3)
          const shared = new Float32Array(new SharedArrayBuffer(2 ** 19)).fill(4)
          await Promise.all(
            [array, shared].map((each) => tensors(a).publish('blob', fromBlob(each))),
          )
          for (const n of [3, 4]) {
            assert.equal((await received.next()).value.tensor.get(2 ** 17 - 1), n)
          }
          await received.return()
        }))

      it('refuses what is too large for the server, before anything is sent or counted', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const received = tensors(b).subscribe('limit')
          await b.flush()
          const bus = tensors(a)
          const most = 4 * 2 ** 20
          const t = zeros([most], { dtype: 'uint8' })
          const before = memory().copied.nats?.bytes ?? 0
          await rejects(bus.publish('limit', t), 'ERR_TOO_LARGE')
          await rejects(bus.publish('limit', zeros([2, most]).permute([1, 0])), 'ERR_TOO_LARGE')
          assert.equal((memory().copied.nats?.bytes ?? 0) - before, 0)
          t.fill(1)
          await bus.publish('limit', t.narrow(0, 0, most - 128))
          const { value } = await received.next()
          assert.deepEqual([value.tensor.size, value.seq, value.lost], [most - 128, 1, 0])
          await received.return()
        }))

      it('rejects while disconnected, and when the connection is lost meanwhile', async () => {
        const mute = await muteServer()
        const connection = await how({
          servers: mute.url,
          reconnect: true,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 20,
        })
        try {
          const bus = tensors(connection)
          const [small, large] = [ones([4]), ones([2 ** 20])]
          const sent = [bus.publish('a', small), bus.publish('a', large), bus.publish('a', small)]
          assert.throws(() => large.fill(2), { code: 'ERR_BUSY' })
          await new Promise((resolve) => setImmediate(resolve))
          await mute.stop()
          for (const each of sent) await rejects(each, 'ERR_DISCONNECTED')
          large.fill(2)
          assert.equal(bus.isConnected, false)
          await rejects(bus.publish('a', small), 'ERR_DISCONNECTED')
          await rejects(bus.publish('a', small, { stream: true }), 'ERR_DISCONNECTED')
        } finally {
          await connection.close()
          await mute.stop().catch(() => {})
        }
      })

      it('rejects what is pending when the connection is closed, and later calls', async () => {
        const mute = await muteServer()
        const connection = await how({ servers: mute.url })
        try {
          const bus = tensors(connection)
          const large = ones([2 ** 20])
          const sent = [bus.publish('a', large), bus.publish('a', ones([1]))]
          await connection.close()
          for (const each of sent) await rejects(each, 'ERR_DISCONNECTED')
          large.fill(2)
          await rejects(bus.publish('a', large), 'ERR_DISCONNECTED')
          assert.throws(() => bus.subscribe('a'), { code: 'ERR_DISCONNECTED' })
        } finally {
          await mute.stop()
        }
      })

      it("rejects with a signal's reason, and keeps the bytes until they are sent", async () => {
        const mute = await muteServer()
        const connection = await how({ servers: mute.url })
        try {
          const bus = tensors(connection)
          const large = ones([2 ** 20])
          const controller = new AbortController()
          const sent = bus.publish('a', large, { signal: controller.signal })
          const reason = new Error('enough')
          controller.abort(reason)
          await assert.rejects(sent, (error) => error === reason)
          assert.throws(() => large.fill(2), { code: 'ERR_BUSY' })
          await assert.rejects(
            bus.publish('a', large, { signal: controller.signal }),
            (error) => error === reason,
          )
          await connection.close()
          await new Promise((resolve) => setImmediate(resolve))
          large.fill(2)
        } finally {
          await connection.close()
          await mute.stop()
        }
      })

      it('asks for one round trip for all that is published in a turn', async () => {
        const mute = await muteServer()
        const connection = await how({ servers: mute.url })
        try {
          let pings = 0
          const { flush } = connection
          connection.flush = function () {
            pings++
            return flush.call(connection)
          }
          const bus = tensors(connection)
          const sent = Array.from({ length: 50 }, () => bus.publish('a', ones([4])))
          await new Promise((resolve) => setImmediate(resolve))
          assert.equal(pings, 1)
          await connection.close()
          for (const each of sent) await rejects(each, 'ERR_DISCONNECTED')
        } finally {
          await connection.close()
          await mute.stop()
        }
      })
    })
  }

  it('rejects what the server does not permit, and nothing else', () =>
    withConnections(server, [as('few')], async (connection) => {
      const bus = tensors(connection)
      const [bad, good, large] = await Promise.allSettled([
        bus.publish('no', ones([1])),
        bus.publish('ok.1', ones([1])),
        bus.publish('no.2', ones([2 ** 15])),
      ])
      assert.deepEqual(
        [bad.reason?.code, bad.reason?.remoteCode, good.status, large.reason?.code],
        ['ERR_REMOTE', 'PERMISSIONS_VIOLATION', 'fulfilled', 'ERR_REMOTE'],
      )
    }))

  describe('to a stream', () => {
    it('settles when it is stored, once for each id', () =>
      withConnections(
        server,
        [as('all', TRANSPORTS['the transport in place'])],
        async (connection) => {
          const manager = await jetstreamManager(connection)
          await manager.streams.add({ name: 'S', subjects: ['s.*'] })
          const bus = tensors(connection)
          const stored = async () => (await manager.streams.info('S')).state.messages
          await bus.publish('s.1', tensor([1, 2]), { stream: true })
          await bus.publish('s.2', arange(2 ** 17), { stream: 'S' })
          assert.equal(await stored(), 2)
          for (let i = 0; i < 3; i++) {
            await bus.publish('s.1', tensor([1, 2]), { stream: 'S', id: 'one' })
          }
          assert.equal(await stored(), 3)
          const { data } = await manager.streams.getMessage('S', { seq: 2 })
          assert.equal(data.length, 2 ** 17 * arange(1).itemsize)
          const consumer = await jetstream(connection).consumers.get('S')
          const { readHeaders } = require('../../js/nats/headers')
          const { decode } = require('../../js/nats/messages')
          for (const [subject, values] of [
            ['s.1', [1, 2]],
            ['s.2', arange(2 ** 17).toArray()],
          ]) {
            const message = await consumer.next()
            assert.match(readHeaders(message).get('tensor-seq'), /^[\w-]{12}:1$/)
            assert.deepEqual([message.subject, decode(message).toArray()], [subject, values])
            message.ack()
          }
          assert.throws(() => decode({ data }), { code: 'ERR_ARGUMENT' })
        },
      ))

    it('rejects where there is no stream, or another', () =>
      withConnections(server, [as('all')], async (connection) => {
        const manager = await jetstreamManager(connection)
        await manager.streams.add({ name: 'T', subjects: ['t'] })
        const bus = tensors(connection)
        const t = ones([2 ** 15])
        await rejects(bus.publish('nobody', t, { stream: true }), 'ERR_NO_RESPONDERS')
        await assert.rejects(bus.publish('t', t, { stream: 'U' }), {
          code: 'ERR_REMOTE',
          remoteCode: 10060,
        })
        t.fill(1)
      }))

    it('asks again while nobody answers for the stream, with the same id', async () => {
      const ids = []
      const server = await streamServer(({ id, refuse, store }) =>
        ids.push(id) < 3 ? refuse() : store(),
      )
      const connection = await connect({ servers: server.url })
      try {
        const t = ones([4])
        await tensors(connection).publish('s', t, { stream: true })
        assert.equal(ids.length, 3)
        assert.equal(new Set(ids).size, 1)
        t.fill(2)
      } finally {
        await connection.close()
        await server.stop()
      }
    })

    it('keeps a tensor in place until the last attempt has gone, not only the first one', async () => {
      let asked = 0
      const order = []
      const server = await streamServer(
        ({ refuse, pong }) => {
          refuse()
          if (++asked === 3) {
            setTimeout(() => {
              order.push('gone')
              pong()
            }, 200)
          }
        },
        () => asked === 3,
      )
      const connection = await TRANSPORTS['the transport in place']({ servers: server.url })
      try {
        await rejects(
          tensors(connection).publish('s', ones([2 ** 15]), { stream: true }),
          'ERR_NO_RESPONDERS',
        )
        order.push("the caller's")
        assert.deepEqual(order, ['gone', "the caller's"])
      } finally {
        await connection.close()
        await server.stop()
      }
    })

    it("does not ask again when the connection was lost: the tensor is the caller's", async () => {
      let asked = 0
      const server = await streamServer(({ refuse, cut }) => {
        asked++
        refuse()
        cut()
      })
      const connection = await connect({
        servers: server.url,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 20,
      })
      try {
        const again = connection.status()
        await rejects(
          tensors(connection).publish('s', ones([4]), { stream: true }),
          'ERR_DISCONNECTED',
        )
        for await (const { type } of again) if (type === 'reconnect') break
        await new Promise((resolve) => {
          setTimeout(resolve, 600)
        }) // more than it waits before it asks again
        await connection.flush()
        assert.equal(asked, 1)
      } finally {
        await connection.close()
        await server.stop()
      }
    })

    it('rejects when the connection is lost meanwhile', async () => {
      const mute = await muteServer()
      const connection = await connect({ servers: mute.url })
      try {
        const t = ones([2 ** 15])
        const sent = tensors(connection).publish('t', t, { stream: true })
        sent.catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
        assert.throws(() => t.fill(2), { code: 'ERR_BUSY' })
        await connection.close()
        await rejects(sent, 'ERR_DISCONNECTED')
        t.fill(2)
      } finally {
        await connection.close()
        await mute.stop()
      }
    })
  })

  it('comes to raw clients as headers and bytes', () =>
    withConnections(server, [as('all')], async (connection) => {
      const raw = await RawClient.connect(server, { user: 'all', pass: 'x' })
      try {
        raw.socket.write('SUB plain 1\r\n')
        await raw.flush()
        await tensors(connection).publish('plain', tensor([65, 66], { dtype: 'uint8' }))
        await raw.flush()
        const [, headers, all] =
          /HMSG plain 1 (\d+) (\d+)\r\nNATS\/1\.0\r\nTensor-Dtype: uint8\r\nTensor-Shape: 2\r\nTensor-Seq: [\w-]{12}:1\r\nTensor-Pad: -*\r\n\r\nAB\r\n/.exec(
            raw.text,
          )
        assert.deepEqual([headers % 64, all - headers], [0, 2])
      } finally {
        raw.close()
      }
    }))
})
