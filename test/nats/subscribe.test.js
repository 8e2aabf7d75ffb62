'use strict'
const assert = require('node:assert/strict')
const { full, ones, zeros, memory } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { connect } = require('@nats-io/transport-node')
const { needs } = require('../setup')
const { startServer } = require('./server')
const { TRANSPORTS, RawClient, withConnections } = require('./wire')

const ITEM = 'Tensor-Dtype: uint8\nTensor-Shape: 1'

/** All that has come until now, without waiting: a message of its own is sent behind it. */
async function untilEnd(bus, received, subject) {
  const all = []
  await bus.publish(subject, zeros([0]))
  for (;;) {
    const { value } = await received.next()
    all.push(value)
    if ((value.tensor ?? value.tensors.end).size === 0) return all
  }
}

const numbersOf = (all) => all.map(({ tensor: t }) => (t.size === 0 ? 'end' : t.get(0)))
const lossesOf = (all) => all.map(({ lost }) => lost)

describe('NATS: subscribing', () => {
  needs('nats-server')
  let server
  before(async () => {
    server = await startServer({
      config:
        'max_payload: 4MB\nauthorization { users = [{ user: all, password: x }, { user: few, password: x, permissions: { publish: ">", subscribe: ["ok.>"] } }] }',
    })
  })
  after(() => server?.stop())

  const as =
    (user, how = connect) =>
    (options) =>
      how({ ...options, user, pass: 'x' })
  const withRaw = async (fn) => {
    const raw = await RawClient.connect(server, { user: 'all', pass: 'x' })
    try {
      await fn(raw)
    } finally {
      raw.close()
    }
  }

  it('needs a subject and options that make sense', () =>
    withConnections(server, [as('all')], async (connection) => {
      const bus = tensors(connection)
      for (const subject of ['', 'a b', 'a.>.b', '.', 5]) {
        assert.throws(() => bus.subscribe(subject), { code: 'ERR_ARGUMENT' })
      }
      for (const options of [
        { overflow: 'drop' },
        { queue: '' },
        { queue: 'a b' },
        { onError: 5 },
        { signal: 5 },
        { maxPending: 'x' },
      ]) {
        assert.throws(() => bus.subscribe('a', options), { code: 'ERR_ARGUMENT' })
      }
      assert.throws(() => bus.subscribe('a', { maxPending: 0 }), { code: 'ERR_BOUNDS' })
      const signal = AbortSignal.abort(new Error('before'))
      assert.throws(() => bus.subscribe('a', { signal }), /before/)
    }))

  for (const [name, how] of Object.entries(TRANSPORTS)) {
    describe(`by ${name}`, () => {
      it('gives tensors, records, subjects, counts and replies', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const received = tensors(b).subscribe('s.*')
          await b.flush()
          const bus = tensors(a)
          await bus.publish('s.1', full([2], 1))
          await bus.publish('s.1', full([2], 2))
          await bus.publish('s.2', { x: full([2], 3) })
          await withRaw(async (raw) => {
            raw.socket.write(
              'HPUB s.3 answer.here 51 52\r\nNATS/1.0\r\nTensor-Dtype: int8\r\nTensor-Shape: 1\r\n\r\nA\r\n'.replace(
                '51 52',
                () => {
                  const block = 'NATS/1.0\r\nTensor-Dtype: int8\r\nTensor-Shape: 1\r\n\r\n'
                  return `${block.length} ${block.length + 1}`
                },
              ),
            )
            await raw.flush()
          })
          const all = []
          for (let i = 0; i < 4; i++) all.push((await received.next()).value)
          assert.deepEqual(
            all.map(({ subject, seq, lost, reply }) => [subject, seq, lost, reply]),
            [
              ['s.1', 1, 0, undefined],
              ['s.1', 2, 0, undefined],
              ['s.2', 1, 0, undefined],
              ['s.3', undefined, 0, 'answer.here'],
            ],
          )
          assert.deepEqual(all[1].tensor.toArray(), [2, 2])
          assert.deepEqual(all[2].tensors.x.toArray(), [3, 3])
          assert.equal(all[0].headers.get('tensor-dtype'), 'float32')
          await received.return()
        }))

      it('writes into out', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const out = zeros([2 ** 16])
          const errors = []
          const received = tensors(b).subscribe('out', {
            out,
            onError: (error) => errors.push(error.code),
          })
          await b.flush()
          const bus = tensors(a)
          await bus.publish('out', ones([5]))
          await bus.publish('out', ones([2 ** 16], { dtype: 'int32' }))
          await bus.publish('out', full([2 ** 16], 7))
          const { value } = await received.next()
          assert.equal(value.tensor, out)
          assert.equal(out.get(2 ** 16 - 1), 7)
          assert.deepEqual([errors, value.lost], [['ERR_SHAPE', 'ERR_DTYPE'], 2])
          out.dispose()
          await bus.publish('out', full([2 ** 16], 7))
          await assert.rejects(received.next(), { code: 'ERR_DISPOSED' })
          assert.deepEqual(await received.next(), { value: undefined, done: true })
        }))

      it('drops the oldest where the queue is full, and counts exactly', () =>
        withConnections(server, [as('all', how), as('all', how)], async (a, b) => {
          const [sender, other] = [tensors(a), tensors(a)]
          const received = tensors(b).subscribe('old', { maxPending: 400000 })
          await b.flush()
          for (let i = 1; i <= 20; i++) {
            await sender.publish('old', full([2 ** 14], i))
            if (i % 5 === 0) await other.publish('old', full([2 ** 14], -i))
          }
          await b.flush() // all has come
          const all = await untilEnd(sender, received, 'old')
          assert.ok(all.length >= 3 && all.length <= 7, `${all.length}`)
          const mine = all.filter(({ tensor: t }) => t.size === 0 || t.get(0) > 0)
          const others = all.filter(({ tensor: t }) => t.size > 0 && t.get(0) < 0)
          assert.equal(mine.at(-2).tensor.get(0), 20)
          assert.equal(
            mine.reduce((n, { lost }) => n + lost + 1, 0),
            21,
          )
          assert.equal(
            others.reduce((n, { lost }) => n + lost + 1, 0),
            4,
          )
          for (let i = 1; i < mine.length; i++) {
            assert.equal(mine[i].lost, mine[i].seq - mine[i - 1].seq - 1)
          }
          await received.return()
        }))

      it('bounds what is held, also by many small messages', () =>
        withConnections(server, [as('all', how)], async (connection) => {
          const received = tensors(connection).subscribe('many', { maxPending: 2 ** 20 })
          await connection.flush()
          await withRaw(async (raw) => {
            for (let i = 0; i < 200; i++) {
              for (let j = 0; j < 100; j++) raw.publish('many', ITEM, new Uint8Array(1))
              await raw.flush()
            }
            await connection.flush()
            raw.publish('many', 'Tensor-Dtype: uint8\nTensor-Shape: 0', new Uint8Array(0))
            await raw.flush()
          })
          await connection.flush()
          let n = 0
          let lost = 0
          for await (const each of received) {
            n++
            lost += each.lost
            if (each.tensor.size === 0) break
          }
          assert.equal(n + lost, 20001)
          assert.ok(n <= 2 ** 20 / 1024 && n > 500, `${n}`)
        }))
    })
  }

  it('drops the newest where it is told', () =>
    withConnections(server, [as('all'), as('all')], async (a, b) => {
      const bus = tensors(a)
      const received = tensors(b).subscribe('new', { overflow: 'drop-newest', maxPending: 300000 })
      await b.flush()
      for (let i = 1; i <= 10; i++) await bus.publish('new', full([2 ** 14], i))
      await b.flush()
      const first = (await received.next()).value
      const second = (await received.next()).value
      const all = await untilEnd(bus, received, 'new')
      assert.deepEqual(numbersOf([first, second, ...all]).slice(0, 2), [1, 2])
      assert.deepEqual(lossesOf([first, second]), [0, 0])
      assert.equal(
        [first, second, ...all].reduce((n, { lost }) => n + lost + 1, 0),
        11,
      )
      await received.return()
    }))

  it('ends behind what is queued where it is told that nothing may be lost', () =>
    withConnections(server, [as('all'), as('all')], async (a, b) => {
      const bus = tensors(a)
      const received = tensors(b).subscribe('error', { overflow: 'error', maxPending: 300000 })
      await b.flush()
      for (let i = 1; i <= 10; i++) await bus.publish('error', full([2 ** 14], i))
      await b.flush()
      const got = []
      await assert.rejects(
        async () => {
          for await (const { tensor: t } of received) got.push(t.get(0))
        },
        { code: 'ERR_TOO_LARGE' },
      )
      assert.deepEqual(
        got,
        Array.from(got, (_, i) => i + 1),
      )
      assert.ok(got.length >= 1 && got.length < 10)
      assert.deepEqual(await received.next(), { value: undefined, done: true })
    }))

  it('has room for one message, however large', () =>
    withConnections(server, [as('all'), as('all')], async (a, b) => {
      const bus = tensors(a)
      for (const overflow of ['drop-oldest', 'drop-newest', 'error']) {
        const received = tensors(b).subscribe(overflow, { overflow, maxPending: 1 })
        await b.flush()
        await bus.publish(overflow, full([2 ** 15], 1))
        await b.flush()
        assert.equal((await received.next()).value.tensor.get(0), 1)
        await received.return()
      }
    }))

  it('counts what is lost on the way, from the first message that came, and takes back what comes late', () =>
    withConnections(server, [as('all')], async (connection) => {
      const received = tensors(connection).subscribe('gaps')
      await connection.flush()
      await withRaw(async (raw) => {
        for (const seq of [
          'p:5',
          'p:6',
          'q:1',
          'p:10',
          'p:8',
          'p:8',
          'p:7',
          'p:9',
          'p:9',
          'p:4',
          'p:11',
          'q:1001',
          'q:0',
          'no number',
          'p:99999999999999999999',
          '',
        ]) {
          raw.publish('gaps', `${ITEM}\nTensor-Seq: ${seq}`, new Uint8Array(1))
        }
        await raw.flush()
      })
      const all = []
      for (let i = 0; i < 16; i++) all.push((await received.next()).value)
      assert.deepEqual(lossesOf(all), [0, 0, 0, 3, -1, 0, -1, -1, 0, 0, 0, 999, 0, 0, 0, 0])
      assert.deepEqual(
        all.map(({ seq }) => seq),
        [5, 6, 1, 10, 8, 8, 7, 9, 9, 4, 11, 1001, undefined, undefined, undefined, undefined],
      )
      await received.return()
    }))

  it('counts per subject of a pattern', () =>
    withConnections(server, [as('all'), as('all')], async (a, b) => {
      const bus = tensors(a)
      await bus.publish('p.1', ones([1]))
      const received = tensors(b).subscribe('p.*')
      await b.flush()
      for (const subject of ['p.1', 'p.2', 'p.1', 'p.2']) await bus.publish(subject, ones([1]))
      const all = []
      for (let i = 0; i < 4; i++) all.push((await received.next()).value)
      assert.deepEqual(
        all.map(({ subject, seq, lost }) => [subject, seq, lost]),
        [
          ['p.1', 2, 0],
          ['p.2', 1, 0],
          ['p.1', 3, 0],
          ['p.2', 2, 0],
        ],
      )
      await received.return()
    }))

  it('shares messages in a queue group, of which none counts as lost', () =>
    withConnections(server, [as('all'), as('all'), as('all')], async (a, b, c) => {
      const members = [b, c].map((each) => tensors(each).subscribe('group', { queue: 'q' }))
      await Promise.all([b.flush(), c.flush()])
      const bus = tensors(a)
      for (let i = 0; i < 40; i++) await bus.publish('group', full([1], i))
      const got = []
      const reading = members.map(async (member) => {
        for await (const { tensor: t, lost } of member) got.push([t.get(0), lost])
      })
      await Promise.all([b.flush(), c.flush()])
      while (got.length < 40) await new Promise((resolve) => setImmediate(resolve))
      await Promise.all(members.map((member) => member.return()))
      await Promise.all(reading)
      assert.deepEqual(
        got.map(([n]) => n).sort((x, y) => x - y),
        Array.from({ length: 40 }, (_, i) => i),
      )
      assert.ok(got.every(([, lost]) => lost === 0))
    }))

  it('gives a message that had not to wait without a copy', () =>
    withConnections(
      server,
      [
        as('all', TRANSPORTS['the transport in place']),
        as('all', TRANSPORTS['the transport in place']),
      ],
      async (a, b) => {
        const received = tensors(b).subscribe('direct')
        await b.flush()
        const next = received.next()
        await new Promise((resolve) => setImmediate(resolve))
        const t = ones([2 ** 18])
        const before = memory().copied
        await tensors(a).publish('direct', t)
        await next
        assert.deepEqual(memory().copied, before)
        await received.return()
      },
    ))

  describe('ends', () => {
    const subscriptionsOf = (connection) => connection.protocol.subscriptions.size()

    it('when a loop is left, with its subscription', () =>
      withConnections(server, [as('all'), as('all')], async (a, b) => {
        const bus = tensors(a)
        const received = tensors(b).subscribe('leave')
        await b.flush()
        for (let i = 0; i < 5; i++) await bus.publish('leave', full([1], i))
        await b.flush()
        assert.equal(subscriptionsOf(b), 1)
        for await (const { tensor: t } of received) if (t.get(0) === 2) break
        assert.equal(subscriptionsOf(b), 0)
        assert.deepEqual(await received.next(), { value: undefined, done: true })
        assert.deepEqual(await received.return(5), { value: 5, done: true })
      }))

    it('when it is disposed while somebody waits', () =>
      withConnections(server, [as('all')], async (connection) => {
        const received = tensors(connection).subscribe('dispose')
        const waiting = [received.next(), received.next()]
        await received[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]()
        for (const each of waiting) assert.deepEqual(await each, { value: undefined, done: true })
        assert.equal(subscriptionsOf(connection), 0)
      }))

    it("with a signal's reason", () =>
      withConnections(server, [as('all')], async (connection) => {
        const controller = new AbortController()
        const received = tensors(connection).subscribe('signal', { signal: controller.signal })
        const waiting = received.next()
        const reason = new Error('enough')
        controller.abort(reason)
        await assert.rejects(waiting, (error) => error === reason)
        assert.deepEqual(await received.next(), { value: undefined, done: true })
        assert.equal(subscriptionsOf(connection), 0)
      }))

    it('with ERR_DISCONNECTED behind what is queued, when the connection is closed', () =>
      withConnections(server, [as('all'), as('all')], async (a, b) => {
        const received = tensors(b).subscribe('close')
        const idle = tensors(b).subscribe('idle')
        const waiting = idle.next()
        await b.flush()
        await tensors(a).publish('close', full([1], 1))
        await b.flush()
        await b.close()
        assert.equal((await received.next()).value.tensor.get(0), 1)
        await assert.rejects(received.next(), { code: 'ERR_DISCONNECTED' })
        await assert.rejects(waiting, { code: 'ERR_DISCONNECTED' })
        assert.deepEqual(await received.next(), { value: undefined, done: true })
      }))

    it('where the server does not permit it', () =>
      withConnections(server, [as('few')], async (connection) => {
        const bus = tensors(connection)
        await assert.rejects(bus.subscribe('secret').next(), {
          code: 'ERR_REMOTE',
          remoteCode: 'PERMISSIONS_VIOLATION',
        })
        const received = bus.subscribe('ok.1')
        await bus.publish('ok.1', ones([1]))
        assert.equal((await received.next()).value.lost, 0)
        await received.return()
      }))

    it('with what onError throws', () =>
      withConnections(server, [as('all')], async (connection) => {
        const received = tensors(connection).subscribe('strict', {
          onError: (error) => {
            throw error
          },
        })
        await connection.flush()
        await withRaw(async (raw) => {
          raw.publish('strict', 'X: y', new Uint8Array(1))
          await raw.flush()
        })
        await assert.rejects(received.next(), { code: 'ERR_FORMAT' })
        assert.equal(subscriptionsOf(connection), 0)
      }))
  })

  it('goes on when the connection is made again, and counts what was missed', async () => {
    const own = await startServer()
    try {
      await withConnections(own, [connect, TRANSPORTS['the transport in place']], async (a, b) => {
        const bus = tensors(a)
        const received = tensors(b).subscribe('again')
        await b.flush()
        await bus.publish('again', full([1], 1))
        assert.equal((await received.next()).value.seq, 1)
        own.kill('SIGKILL')
        await own.ended
        await own.restart()
        for (const connection of [a, b]) {
          while (!tensors(connection).isConnected) {
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        }
        for (;;) {
          try {
            await b.flush() // the server knows of the subscription; what is published before that is lost
            await bus.publish('again', full([1], 2))
            break
          } catch (error) {
            assert.equal(error.code, 'ERR_DISCONNECTED')
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        }
        const { value } = await received.next()
        assert.deepEqual([value.tensor.get(0), value.lost], [2, value.seq - 2])
        await received.return()
      })
    } finally {
      await own.stop()
    }
  })
})
