'use strict'
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { connect, Parser } = require('@nats-io/transport-node')
const { NodeTransport, VERSION } = require('@nats-io/transport-node/lib/node_transport.js')
const { arange, fromBlob, full, memory, ones, zeros } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { Frames } = require('../../js/nats/frames')
const { Outbound, writes } = require('../../js/nats/transport')
const { markStable } = require('../../js/nats/payloads')
const { needs, skipWithout } = require('../setup')
const { makeCertificates } = require('./certificates')
const { startServer, startCluster } = require('./server')
const { RawClient, withConnections, randomOf } = require('./wire')

const ROOT = path.join(__dirname, '..', '..')
const copied = () => Object.values(memory().copied).reduce((sum, { bytes }) => sum + bytes, 0)
const addressOf = (bytes) => Number(fromBlob(bytes).dataPtr)

/** Puts bytes through frames, in reads of any size. */
function readBy(frames, bytes, sizeOf) {
  for (let at = 0; at < bytes.length;) {
    const target = frames.target()
    const n = Math.min(target.length, bytes.length - at, sizeOf())
    assert.ok(n > 0)
    target.set(bytes.subarray(at, at + n))
    frames.took(n)
    at += n
  }
}

/** What the client's parser makes of pieces. */
function parserInto(events) {
  const parser = new Parser({
    push: ({ kind, msg, data }) =>
      events.push([
        kind,
        msg && Buffer.from(msg.subject).toString('latin1'),
        msg && (msg.reply ? Buffer.from(msg.reply).toString('latin1') : ''),
        msg?.sid,
        msg?.hdr,
        data ? Buffer.from(data).toString('latin1') : '',
      ]),
  })
  return (piece) => parser.parse(piece)
}

/** What a server might send. */
function streamOf(random, n) {
  const pick = (list) => list[Math.floor(random() * list.length)]
  const bytes = (length) =>
    Buffer.alloc(length, () => 0).fill(
      Buffer.from(Array.from({ length: 97 }, () => Math.floor(random() * 256))),
    )
  const parts = []
  for (let i = 0; i < n; i++) {
    const size = Math.floor(pick([0, 1, 30, 1000, 9000, 70000, 300000]) * random())
    const reply = pick(['', ' in.box'])
    const headers = `NATS/1.0\r\nA: ${'x'.repeat(Math.floor(random() * 200))}\r\n\r\n`
    const payload = bytes(size)
    parts.push(
      ...pick([
        () => [Buffer.from(`MSG sub.ject ${i}${reply} ${size}\r\n`), payload, Buffer.from('\r\n')],
        () => [
          Buffer.from(
            `HMSG sub.ject ${i}${reply} ${headers.length} ${headers.length + size}\r\n${headers}`,
          ),
          payload,
          Buffer.from('\r\n'),
        ],
        () => [
          Buffer.from(
            pick([
              'PING\r\n',
              'PONG\r\n',
              '+OK\r\n',
              "-ERR 'Something'\r\n",
              `INFO {"x":"${'y'.repeat(Math.floor(random() * 20000))}"}\r\n`,
            ]),
          ),
        ],
      ])(),
    )
  }
  return Buffer.concat(parts)
}

describe('NATS: the transport finds messages in what is read', () => {
  it("as the client's parser does, however it is cut", () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = randomOf(seed)
      const bytes = streamOf(random, 40)
      const [wanted, got] = [[], []]
      parserInto(wanted)(bytes)
      const most = [3, 50, 5000, 65536][seed % 4]
      readBy(
        new Frames(parserInto(got), 2 ** 26),
        bytes.subarray(0, most < 50 ? 30000 : bytes.length),
        () => 1 + Math.floor(random() * most),
      )
      assert.ok(got.length > 0)
      assert.deepEqual(got, wanted.slice(0, got.length))
      if (most >= 50) assert.equal(got.length, wanted.length)
    }
  })

  it('and gives large ones memory of their own, the payload at a multiple of 64', () => {
    const frames = new Frames((piece) => {
      if (piece.length < 2 ** 20) return
      const text = Buffer.from(piece.subarray(0, 200)).toString('latin1')
      const payload = piece.subarray(
        text.indexOf('\r\n\r\n') >= 0 ? text.indexOf('\r\n\r\n') + 4 : text.indexOf('\r\n') + 2,
      )
      assert.equal(addressOf(payload) % 64, 0)
      assert.ok(piece.buffer.byteLength <= 1.01 * 2 ** 20)
    }, 2 ** 26)
    for (const head of [
      `MSG a 1 ${2 ** 20}\r\n`,
      `MSG abc 12 reply ${2 ** 20}\r\n`,
      `HMSG abc 12 22 ${22 + 2 ** 20}\r\nNATS/1.0\r\nAbc: def\r\n\r\n`,
    ]) {
      readBy(
        frames,
        Buffer.concat([Buffer.from(head), Buffer.alloc(2 ** 20), Buffer.from('\r\n')]),
        () => 65536,
      )
    }
    assert.equal(frames.counts.inPlace, 3)
  })

  it('and copies little of one behind small ones', () => {
    const frames = new Frames(() => {}, 2 ** 26)
    const one = Buffer.concat([
      Buffer.from('PING\r\nMSG a 1 2\r\nok\r\n'),
      Buffer.from(`MSG a 1 ${2 ** 20}\r\n`),
      Buffer.alloc(2 ** 20),
      Buffer.from('\r\n'),
    ])
    readBy(frames, one, () => 65536)
    assert.equal(frames.counts.inPlace, 1)
    assert.ok(
      frames.counts.copied > 0 && frames.counts.copied <= 0.05 * 2 ** 20,
      `${frames.counts.copied}`,
    )
  })

  it('and copies little of large ones that follow each other', () => {
    const frames = new Frames(() => {}, 2 ** 26)
    const one = Buffer.concat([
      Buffer.from(`MSG a 1 ${2 ** 20}\r\n`),
      Buffer.alloc(2 ** 20),
      Buffer.from('\r\n'),
    ])
    readBy(frames, Buffer.concat(Array(20).fill(one)), () => 65536)
    assert.equal(frames.counts.inPlace, 20)
    assert.ok(frames.counts.copied <= 0.01 * 20 * one.length, `${frames.counts.copied}`)
  })

  for (const most of [7, 1000, 65536]) {
    it(`and cuts those over the limit, in reads of ${most} bytes`, () => {
      const events = []
      const frames = new Frames(parserInto(events), 1000)
      const block = 'NATS/1.0\r\nTensor-Seq: a:1\r\n\r\n'
      readBy(
        frames,
        Buffer.concat([
          Buffer.from('MSG a 1 5\r\nfirst\r\n'),
          Buffer.from('MSG b 1 in.box 3000\r\n'),
          Buffer.alloc(3000, 'M'),
          Buffer.from('\r\n'),
          Buffer.from(`HMSG c 2 ${block.length} ${block.length + 2000}\r\n${block}`),
          Buffer.alloc(2000, '\n'),
          Buffer.from('\r\n'),
          Buffer.from('HMSG d 2 20000 30000\r\n'),
          Buffer.alloc(30000, 'H'),
          Buffer.from('\r\n'),
          Buffer.from('MSG e 1 1000\r\n'),
          Buffer.alloc(1000, 'x'),
          Buffer.from('\r\nPING\r\n'),
        ]),
        () => most,
      )
      assert.equal(frames.counts.cut, 3)
      assert.deepEqual(
        events.map(([kind, subject, reply, , , data]) => [
          kind,
          subject,
          reply,
          data?.slice(0, 70),
        ]),
        [
          [2, 'a', '', 'first'],
          [2, 'b', 'in.box', 'NATS/1.0\r\nTensor-Cut: 3000\r\n\r\n'],
          [2, 'c', '', 'NATS/1.0\r\nTensor-Seq: a:1\r\nTensor-Cut: 2000\r\n\r\n'],
          [2, 'd', '', 'NATS/1.0\r\nTensor-Cut: 30000\r\n\r\n'],
          [2, 'e', '', 'x'.repeat(70)],
          [4, undefined, undefined, ''],
        ],
      )
    })
  }

  it('and takes no memory for what no client takes', () => {
    const events = []
    const frames = new Frames(parserInto(events), 2 ** 26)
    const take = (bytes) => readBy(frames, bytes, () => 65536)
    take(Buffer.from(`MSG a 1 ${2 ** 27}\r\n`))
    const piece = Buffer.alloc(2 ** 16)
    const places = new Set()
    for (let i = 0; i < 2 ** 11; i++) {
      places.add(frames.target().buffer)
      take(piece)
    }
    assert.ok(places.size <= 2, `${places.size}`)
    take(Buffer.from('\r\nMSG a 1 2\r\nok\r\n'))
    assert.deepEqual(
      events.map((event) => event.at(-1)),
      [`NATS/1.0\r\nTensor-Cut: ${2 ** 27}\r\n\r\n`, 'ok'],
    )
  })

  it('and uses memory again that is given back: once, and of large messages alone', () => {
    const pieces = []
    const frames = new Frames((piece) => pieces.push(piece), 2 ** 26)
    const receive = (size) => {
      pieces.length = 0
      readBy(
        frames,
        Buffer.concat([
          Buffer.from(`MSG a 1 ${size}\r\n`),
          Buffer.alloc(size, size & 255),
          Buffer.from('\r\n'),
        ]),
        () => 60000,
      )
      return pieces[0].buffer
    }
    const first = receive(300000)
    assert.notEqual(receive(300000), first)
    frames.reuse(first)
    frames.reuse(first)
    frames.reuse(new ArrayBuffer(310000))
    const again = receive(299990)
    assert.equal(again, first)
    assert.equal(pieces[0].length, 299990 + 'MSG a 1 299990\r\n\r\n'.length)
    assert.equal(addressOf(pieces[0].subarray('MSG a 1 299990\r\n'.length)) % 64, 0)
    assert.ok(pieces[0].subarray(16, -2).every((byte) => byte === (299990 & 255)))
    assert.notEqual(receive(299990), first, 'given back twice, it is used once')
    frames.reuse(again)
    assert.notEqual(receive(100000), first, 'a smaller message does not keep it')
    assert.notEqual(receive(400000), first)
    assert.equal(receive(300000), first)
    const large = receive(2 ** 21)
    frames.reuse(large)
    assert.notEqual(receive(2 ** 21), large, 'the connection keeps no more than a few MiB')
    const small = receive(10)
    frames.reuse(small)
    assert.notEqual(receive(65000), small, 'what small messages are read into stays that')
    assert.equal(frames.counts.reused, 2)
  })

  it('and hands on what is no message, for the parser to refuse', () => {
    for (const text of [
      'MSG a 1 x\r\n',
      `MSG ${'a'.repeat(20000)}\r\n`,
      'HMSG a 1 20 10\r\n',
      'nonsense\r\n',
      'MSG a 1 99999999999999999999\r\n',
    ]) {
      const frames = new Frames(parserInto([]), 2 ** 26)
      assert.throws(() => readBy(frames, Buffer.from(text), () => 999), Error, text.slice(0, 40))
    }
  })
})

describe('NATS: the transport', () => {
  needs('nats-server')
  let server
  before(async () => {
    server = await startServer({ config: 'max_payload: 16MB\nmax_pending: 256MB' })
  })
  after(() => server?.stop())

  describe('sends', () => {
    it('payloads that stay as they are where they lie, all others packed', () => {
      const outbound = new Outbound()
      const [stable, other, small] = [
        new Uint8Array(2 ** 16),
        new Uint8Array(2 ** 16).fill(1),
        new Uint8Array(100),
      ]
      markStable(stable, null)
      markStable(small, null)
      for (const part of [
        Uint8Array.of(1, 2),
        stable,
        Uint8Array.of(3),
        other,
        new Uint8Array(0),
        small,
      ]) {
        outbound.fill(part)
      }
      assert.deepEqual([outbound.size(), outbound.length()], [2 * 2 ** 16 + 103, 5])
      const parcel = outbound.drain()
      const parts = writes(parcel)
      assert.deepEqual(
        [outbound.size(), outbound.length(), parcel.nbytes],
        [0, 0, 2 * 2 ** 16 + 103],
      )
      assert.deepEqual(
        parts.map(({ length }) => length),
        [2, 2 ** 16, 1 + 2 ** 16 + 100],
      )
      assert.equal(parts[1], stable)
      other.fill(2)
      assert.equal(parts[2][1], 1)
    })

    for (const [how, connectTo, copies] of [
      ['in place', transport.connect, 1],
      ['of the client', connect, 0],
    ]) {
      it(`what lay in a buffer that is transferred or shrunk while the socket is full, ${how}`, () =>
        withConnections(server, [connectTo, connect], async (a, b) => {
          const [bus, received] = [tensors(a), tensors(b).subscribe('transferred')]
          await b.flush()
          const n = 3 * 2 ** 20 // more than a socket takes
          const mine = new Float32Array(n).fill(5)
          const made = full([n], 6)
          const shared = new Float32Array(new SharedArrayBuffer(4 * n)).fill(7)
          const resizable = new ArrayBuffer(4 * n, { maxByteLength: 4 * n })
          new Float32Array(resizable).fill(8)
          const before = copied()
          server.kill('SIGSTOP')
          try {
            const sent = Promise.all(
              [
                fromBlob(mine, [n]),
                made,
                fromBlob(shared, [n]),
                fromBlob(resizable, [n], { dtype: 'float32' }),
              ].map((t) => bus.publish('transferred', t)),
            )
            await new Promise((resolve) => setImmediate(resolve))
            for (const buffer of [mine.buffer, made.data.buffer]) {
              try {
                new Float32Array(structuredClone(buffer, { transfer: [buffer] })).fill(99)
              } catch (error) {
                assert.equal(error.name, 'DataCloneError')
              }
            }
            resizable.resize(4)
            server.kill('SIGCONT')
            await sent
          } finally {
            server.kill('SIGCONT')
          }
          for (const value of [5, 6, 7, 8]) {
            const { data } = (await received.next()).value.tensor
            assert.ok(
              data.length === n && data.every((x) => x === value),
              `${value} was sent; ${data[n - 1]} came`,
            )
          }
          assert.equal(copied() - before, copies * 4 * n)
          await received.return()
        }))
    }

    it('what others publish as the client does, who may write to it after their turn', () =>
      withConnections(server, [transport.connect, connect], async (a, b) => {
        const received = new Promise((resolve) => {
          b.subscribe('theirs', { callback: (error, message) => resolve(error ?? message) })
        })
        await b.flush()
        const payload = Buffer.alloc(2 ** 22, 1)
        a.publish('theirs', payload)
        await Promise.resolve()
        await new Promise((resolve) => process.nextTick(resolve))
        payload.fill(2)
        assert.ok((await received).data.every((byte) => byte === 1))
      }))
  })

  it('receives large tensors without copies, aligned, holding no more than their bytes', () =>
    withConnections(server, [transport.connect, transport.connect], async (a, b) => {
      const bus = tensors(a)
      const received = tensors(b).subscribe('large')
      await b.flush()
      const sizes = [2 ** 18, 2 ** 18 + 3, 2 ** 21]
      const sent = sizes.map((n) => arange(n, { dtype: 'float32' }))
      const before = copied()
      for (const t of sent) for (let i = 0; i < 5; i++) await bus.publish('large', t)
      for (const n of sizes) {
        for (let i = 0; i < 5; i++) {
          const { tensor: t } = (await received.next()).value
          const { data } = t
          assert.equal(data.length, n)
          assert.deepEqual([data[0], data[1], data[n - 1]], [0, 1, n - 1])
          assert.equal(t.dataPtr % 64n, 0n)
          assert.ok(
            data.buffer.byteLength <= 1.01 * data.byteLength,
            `${data.buffer.byteLength} for ${data.byteLength}`,
          )
          data[0] = 5
          assert.equal(t.get(0), 5)
        }
      }
      assert.equal(copied(), before)
      const { counts } = b.protocol.transport.frames
      assert.equal(counts.inPlace, 15)
      assert.ok(
        counts.copied <= 0.05 * 5 * sent.reduce((n, t) => n + t.nbytes, 0),
        `${counts.copied}`,
      )
      await received.return()
    }))

  for (const [how, connectTo] of [
    ['in place', transport.connect],
    ['of the client', connect],
  ]) {
    it(`small tensors have memory of their own, ${how}: it is transferred, and the connection goes on`, () =>
      withConnections(server, [connect, connectTo], async (a, b) => {
        const [sender, received] = [tensors(a), tensors(b).subscribe('small')]
        await b.flush()
        for (let i = 0; i < 5; i++) {
          const next = [received.next(), received.next(), received.next()] // who waits gets messages as they come
          await Promise.all([
            sender.publish('small', full([100], i, { dtype: 'uint8' })),
            sender.publish('small', full([50], i + 10, { dtype: 'uint8' })),
            sender.publish('small', { a: full([9], i, { dtype: 'uint8' }) }),
          ])
          const [one, other, record] = (await Promise.all(next)).map(({ value }) => value)
          const { buffer } = one.tensor.data
          assert.equal(buffer.byteLength, 100)
          structuredClone(buffer, { transfer: [buffer] })
          structuredClone(record.tensors.a.data.buffer, {
            transfer: [record.tensors.a.data.buffer],
          })
          assert.deepEqual([...new Set(other.tensor.data)], [i + 10])
        }
        await received.return()
      }))
  }

  it('sends bytes in place: what is written while they wait is sent', async () => {
    // A server that reads nothing of the payload until it is told.
    const chunks = []
    const frozen = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.write(
        'INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":134217728,"proto":1}\r\n',
      )
      let isGreeted = false
      socket.on('data', (data) => {
        if (isGreeted) chunks.push(data)
        else if (data.includes('PING')) {
          isGreeted = true
          socket.write('PONG\r\n')
          socket.pause()
          frozen.go = () => socket.resume()
        }
      })
    })
    await new Promise((resolve) => frozen.listen(0, '127.0.0.1', resolve))
    const connection = await transport.connect({ servers: `127.0.0.1:${frozen.address().port}` })
    try {
      const t = ones([2 ** 25], { dtype: 'uint8' })
      const { data } = t
      tensors(connection)
        .publish('a', t)
        .catch(() => {})
      await new Promise((resolve) => setImmediate(resolve))
      data[2 ** 25 - 1] = 77 // behind what any socket buffers
      frozen.go()
      while (chunks.reduce((n, { length }) => n + length, 0) < 2 ** 25) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.ok(Buffer.concat(chunks).includes(Buffer.from([1, 77, 13, 10])))
    } finally {
      await connection.close()
      frozen.close()
    }
  })

  it('tells of a message over the limit, and goes on', () =>
    withConnections(
      server,
      [connect, (options) => transport.connect({ ...options, maxBytes: 2 ** 20 })],
      async (a, b) => {
        const errors = []
        const received = tensors(b).subscribe('limit', {
          onError: (error) => errors.push(error.code),
        })
        await b.flush()
        const bus = tensors(a)
        await bus.publish('limit', full([1], 1))
        await bus.publish('limit', zeros([2 ** 20 + 1], { dtype: 'uint8' }))
        a.publish('limit', new Uint8Array(2 ** 21))
        await bus.publish('limit', zeros([2 ** 20], { dtype: 'uint8' }))
        const first = (await received.next()).value
        const second = (await received.next()).value
        assert.deepEqual(
          [first.lost, second.tensor.size, second.seq, second.lost],
          [0, 2 ** 20, 3, 1],
        )
        assert.deepEqual(errors, ['ERR_TOO_LARGE', 'ERR_TOO_LARGE'])
        await received.return()
        for (const maxBytes of [0, -1, 2 ** 26 + 1]) {
          await assert.rejects(transport.connect({ servers: server.url, maxBytes }), {
            code: 'ERR_BOUNDS',
          })
        }
        await assert.rejects(transport.connect({ servers: server.url, maxBytes: 'x' }), {
          code: 'ERR_ARGUMENT',
        })
      },
    ))

  it('is of its own connections alone, also when they are made again', () =>
    withConnections(server, [transport.connect, connect], async (ours, others) => {
      assert.deepEqual(
        [transport.isInPlace(ours), transport.isInPlace(others), transport.isInPlace(undefined)],
        [true, false, false],
      )
      for (const connection of [ours, others]) {
        const again = connection.status()
        await connection.reconnect()
        for await (const { type } of again) if (type === 'reconnect') break
      }
      assert.equal(transport.isInPlace(ours), true)
      assert.deepEqual(
        [ours, others].map((connection) => tensors(connection).stats()),
        [
          { transport: 'in-place', clientVersion: VERSION },
          { transport: 'client', clientVersion: VERSION },
        ],
      )
      assert.throws(() => tensors(ours).stats.call({}), { code: 'ERR_ARGUMENT' })
      assert.equal(others.protocol.transport.constructor, NodeTransport)
      const third = await connect({ servers: server.url })
      assert.equal(third.protocol.transport.constructor, NodeTransport)
      await third.close()
      const received = tensors(ours).subscribe('again')
      await tensors(ours).publish('again', ones([2 ** 18]))
      assert.equal((await received.next()).value.tensor.size, 2 ** 18)
      await received.return()
    }))

  for (const [when, isAtOnce] of [
    ['later', false],
    ['with its first answer', true],
  ]) {
    it(`makes the connection again where the server sends nonsense ${when}`, async () => {
      let connections = 0
      const odd = net.createServer((socket) => {
        connections++
        const nonsense = connections === 1 ? 'MSG a b c d e f\r\n' : ''
        socket.on('error', () => {})
        socket.write(
          'INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":1048576,"proto":1}\r\n',
        )
        socket.on('data', (data) => {
          if (data.includes('PUB')) socket.write(nonsense)
          else if (data.includes('PING')) socket.write(`PONG\r\n${isAtOnce ? nonsense : ''}`)
        })
      })
      await new Promise((resolve) => odd.listen(0, '127.0.0.1', resolve))
      const { log } = console
      console.log = (...words) => {
        if (words[0] !== 'reader closed') log(...words)
      } // the client prints what its parser throws
      let connection
      try {
        connection = await transport.connect({
          servers: `127.0.0.1:${odd.address().port}`,
          reconnectTimeWait: 10,
          maxReconnectAttempts: -1,
        })
        const again = connection.status()
        if (!isAtOnce) connection.publish('a')
        for await (const { type } of again) if (type === 'reconnect') break
        await connection.flush()
        assert.equal(connections, 2)
      } finally {
        console.log = log
        await connection?.close()
        odd.close()
      }
    })
  }

  it('leaves a frozen server whose socket is full', async () => {
    const cluster = await startCluster(2, { config: 'max_payload: 16MB' })
    try {
      const connection = await transport.connect({
        servers: cluster.urls,
        pingInterval: 100,
        maxPingOut: 2,
        reconnectTimeWait: 20,
        maxReconnectAttempts: -1,
        timeout: 500,
      })
      try {
        const bus = tensors(connection)
        const node = cluster.nodes.find(({ url }) => url === connection.getServer())
        const again = connection.status()
        node.kill('SIGSTOP')
        const t = ones([2 ** 21])
        const sent = await Promise.allSettled(Array.from({ length: 8 }, () => bus.publish('a', t)))
        assert.deepEqual(
          sent.map(({ reason }) => reason?.code),
          Array(8).fill('ERR_DISCONNECTED'),
        )
        t.fill(2)
        for await (const { type } of again) if (type === 'reconnect') break
        assert.notEqual(connection.getServer(), node.url)
        await bus.publish('a', t)
        node.kill('SIGCONT')
      } finally {
        await connection.close()
      }
    } finally {
      await cluster.stop()
    }
  })

  it('connects as the client does: to nobody, with a wrong password, with wrong options', async () => {
    await assert.rejects(
      transport.connect({ servers: '127.0.0.1:1', maxReconnectAttempts: 0 }),
      /refused/,
    )
    await assert.rejects(transport.connect({ servers: 'ws://127.0.0.1:1' }), /websocket/)
    await assert.rejects(transport.connect(5), { code: 'ERR_ARGUMENT' })
    const silent = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.end('HTTP/1.1 400\r\n\r\n')
    })
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve))
    await assert.rejects(
      transport.connect({ servers: `127.0.0.1:${silent.address().port}`, maxReconnectAttempts: 0 }),
      Error,
    )
    silent.close()
    const guarded = await startServer({ config: 'authorization { user: a, password: b }' })
    try {
      await assert.rejects(
        transport.connect({ servers: guarded.url, user: 'a', pass: 'x', maxReconnectAttempts: 0 }),
        /authorization/i,
      )
    } finally {
      await guarded.stop()
    }
  })

  describe("is the client's own", () => {
    let folder
    before(() => {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-'))
    })
    after(() => fs.rmSync(folder, { recursive: true, force: true }))

    /** Runs a piece of code with `transport`, `tensors` and `check(connection)`, which sends a tensor to itself, in a process of its own. */
    function run(code, env = {}) {
      const text = `
        const { ones } = require('samebytes')
        const { transport, tensors } = require('samebytes/nats')
        const inner = require('@nats-io/transport-node/lib/node_transport.js')
        const check = async connection => {
          const received = tensors(connection).subscribe('a')
          await tensors(connection).publish('a', ones([2 ** 17]))
          const { value } = await received.next()
          console.log(tensors(connection).stats().transport, transport.isInPlace(connection), value.tensor.get(2 ** 17 - 1))
          await received.return()
          await connection.close()
        }
        ;(async () => { ${code} })()`
      const { LD_PRELOAD, ...rest } = process.env
      const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', text], {
        cwd: ROOT,
        env: { ...rest, LD_PRELOAD: LD_PRELOAD ?? '', ...env },
        encoding: 'utf8',
      })
      assert.equal(status, 0, stderr)
      return stdout.trim()
    }

    it('with another version of it, or other insides', () => {
      const check = `await check(await transport.connect({ servers: '${server.url}' }))`
      assert.equal(run(check), 'in-place true 1')
      for (const version of ['3.5.0', '3.40.0', '4.0.0', '3.4.0-1', undefined]) {
        assert.equal(
          run(`inner.VERSION = ${JSON.stringify(version)}; ${check}`),
          'client false 1',
          version,
        )
      }
      const other = `class extends inner.NodeTransport {
        constructor () { super(); this.iterate = undefined }
        [Symbol.asyncIterator] () { return Object.getPrototypeOf(Object.getPrototypeOf(this)).iterate.call(this) }
      }`
      assert.equal(run(`inner.NodeTransport = ${other}; ${check}`), 'client false 1')
    })

    it('over TLS, whether it is asked for or the server wants it', async function () {
      skipWithout(this, 'openssl')
      makeCertificates(folder, ['server'])
      const secure = await startServer({
        config: `tls { cert_file: "${folder}/server.pem", key_file: "${folder}/server-key.pem" }`,
      })
      const ca = path.join(folder, 'ca.pem')
      try {
        assert.equal(
          run(
            `await check(await transport.connect({ servers: 'localhost:${secure.port}', tls: { caFile: '${ca}' } }))`,
          ),
          'client false 1',
        )
        assert.equal(
          run(`await check(await transport.connect({ servers: 'localhost:${secure.port}' }))`, {
            NODE_EXTRA_CA_CERTS: ca,
          }),
          'client false 1',
        )
        await assert.rejects(
          transport.connect({ servers: `localhost:${secure.port}`, maxReconnectAttempts: 0 }),
          /certificate/,
        )
      } finally {
        await secure.stop()
      }
    })
  })

  it('ends when its connection is closed: no socket is left open', async () => {
    const closed = []
    const proxy = net.createServer((socket) => {
      const inner = net.connect(server.port, '127.0.0.1')
      socket.pipe(inner).pipe(socket)
      for (const each of [socket, inner]) each.on('error', () => {})
      closed.push(once(socket, 'close').then(() => inner.destroy()))
    })
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const connection = await transport.connect({ servers: `127.0.0.1:${proxy.address().port}` })
    await tensors(connection).publish('a', ones([2 ** 18]))
    await connection.drain()
    await Promise.all(closed)
    await RawClient.connect(server).then((raw) => raw.close())
    await new Promise((resolve) => proxy.close(resolve))
  })
})
