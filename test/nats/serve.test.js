'use strict'
const assert = require('node:assert/strict')
const { connect } = require('@nats-io/transport-node')
const { Svcm } = require('@nats-io/services')
const { full, memory, ones, tensor, zeros } = require('samebytes')
const { Module } = require('samebytes/module')
const { add, multiply: mul } = require('samebytes/math')
const { serve, tensors } = require('samebytes/nats')
const { ADD, DOUBLE } = require('../models')
const { needs } = require('../setup')
const { startServer } = require('./server')

/** Holds runs until it is opened. */
function gate() {
  let open
  const opened = new Promise((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Waits for something that comes, with time for other things to happen. */
async function until(is) {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 1))
}

const code = (promise) =>
  promise.then(
    () => 'none',
    (error) => error.code,
  )
const rowsOf = (t) => t.toArray()

describe('NATS: services', function () {
  needs('nats-server')
  let server, nc, ours, bus, caller
  const services = []
  /** A service that the test's end drains. */
  const start = async (target, subject, options) => {
    const service = await bus.serve(target, subject, options)
    services.push(service)
    return service
  }

  before(async () => {
    server = await startServer()
    nc = await connect({ servers: server.url })
    ours = await connect({ servers: server.url })
    bus = tensors(nc)
    caller = tensors(ours)
  })
  after(async () => {
    await nc?.close()
    await ours?.close()
    await server?.stop()
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.drain()
  })

  it('answer with what a function returns, at once or later', async () => {
    await start((x) => add(x, 1), 'sync')
    await start(async (x) => add(x, 2), 'async')
    assert.deepEqual((await caller.request('sync', tensor([1, 2]))).toArray(), [2, 3])
    assert.deepEqual((await caller.request('async', tensor([1, 2]))).toArray(), [3, 4])
  })

  it('take and give records', async () => {
    await start(({ a, b }) => ({ sum: add(a, b), a }), 'record')
    const { sum, a } = await caller.request('record', { a: tensor([1, 2]), b: tensor([3, 4]) })
    assert.deepEqual(
      [sum.toArray(), a.toArray()],
      [
        [4, 6],
        [1, 2],
      ],
    )
  })

  it('batch: each caller gets its own rows, whatever the shapes', async () => {
    const seen = []
    await start(
      async (x) => {
        seen.push([x.dtype, ...x.shape])
        await new Promise((resolve) => setImmediate(resolve))
        return mul(x, 2)
      },
      'double',
      { batch: { max: 8, wait: 1 }, maxQueued: 1000 },
    )
    const asked = Array.from({ length: 200 }, (_, i) => {
      const dtype = ['float32', 'int32', 'float64'][i % 3]
      return full([i % 4, [2, 3, 2, 70000][i % 29 === 0 ? 3 : i % 3]], i, { dtype })
    })
    const answers = await Promise.all(
      asked.map((x) => caller.request('double', x, { deadline: 15000 })),
    )
    answers.forEach((y, i) => {
      assert.deepEqual([y.dtype, ...y.shape], [asked[i].dtype, ...asked[i].shape])
      assert.ok([...y.data].every((v) => v === 2 * i))
    })
    assert.ok(seen.length < 200, `${seen.length} runs`)
    assert.ok(seen.every(([, rows]) => rows <= 8))
  })

  it('batch along another axis, and records', async () => {
    const seen = []
    const { open, opened } = gate()
    await start(
      async (x) => {
        seen.push(x.a?.shape ?? x.shape)
        await opened
        return x
      },
      'axis',
      { batch: { max: 16, wait: 0, axis: 1 } },
    )
    const first = caller.request('axis', zeros([2, 1]))
    await until(() => seen.length === 1)
    const more = [
      [[1], [2]],
      [
        [3, 4],
        [5, 6],
      ],
    ].map((x) => caller.request('axis', tensor(x)))
    const records = [1, 2].map((n) =>
      caller.request('axis', { a: tensor([[n], [n]]), b: tensor([[[n]]], { dtype: 'int64' }) }),
    )
    await ours.flush()
    await nc.flush()
    open()
    await first
    assert.deepEqual((await Promise.all(more)).map(rowsOf), [
      [[1], [2]],
      [
        [3, 4],
        [5, 6],
      ],
    ])
    const answers = await Promise.all(records)
    assert.deepEqual(
      answers.map(({ a, b }) => [a.toArray(), b.toArray()]),
      [
        [[[1], [1]], [[[1n]]]],
        [[[2], [2]], [[[2n]]]],
      ],
    )
    assert.deepEqual(
      seen.slice(1).map((shape) => [...shape]),
      [
        [2, 3],
        [2, 2],
      ],
    )
  })

  it('fail one bad request alone', async () => {
    const { open, opened } = gate()
    let runs = 0
    await start(
      async (x) => {
        runs++
        await opened
        return x
      },
      'bad',
      { batch: { max: 16 } },
    )
    const first = caller.request('bad', zeros([1, 2]))
    await until(() => runs === 1)
    const good = caller.request('bad', tensor([[1, 2]]))
    const wrong = ours.request('bad', new Uint8Array(7), { timeout: 5000 })
    const none = ours.request('bad', undefined, { timeout: 5000 })
    const other = caller.request('bad', tensor([[3, 4]]))
    await ours.flush()
    await nc.flush()
    open()
    assert.deepEqual((await Promise.all([first, good, other])).map(rowsOf), [
      [[0, 0]],
      [[1, 2]],
      [[3, 4]],
    ])
    for (const reply of [await wrong, await none]) {
      assert.equal(reply.headers.get('Tensor-Error'), 'ERR_FORMAT')
      assert.equal(reply.headers.get('Nats-Service-Error-Code'), '400')
    }
  })

  it('tell callers what a function threw, and that it returned something else', async () => {
    const targets = {
      throws: () => {
        throw Object.assign(new Error('no\r\nway'), { code: 'ERR_NOT_FOUND' })
      },
      rejects: async () => {
        throw new Error('later')
      },
      nothing: () => undefined,
      null: () => {
        // eslint-disable-next-line no-throw-literal
        throw null
      },
      rows: (x) => zeros([x.shape[0] + 1, 2]),
    }
    const codes = {
      throws: 'ERR_NOT_FOUND',
      rejects: 'ERR_REMOTE',
      nothing: 'ERR_ARGUMENT',
      null: 'ERR_REMOTE',
      rows: 'ERR_SHAPE',
    }
    for (const name of Object.keys(targets)) {
      const service = await start(targets[name], `wrong.${name}`, { batch: { max: 4, wait: 1 } })
      const failures = await Promise.all(
        [1, 2, 3].map(() => caller.request(`wrong.${name}`, zeros([1, 2])).catch((error) => error)),
      )
      for (const error of failures) {
        assert.deepEqual(
          [error.code, error.remoteCode, error.replica],
          ['ERR_REMOTE', codes[name], service.id],
          error.stack,
        )
      }
      assert.equal(service.stats().errors, 3)
    }
  })

  it('refuse requests that the queue has no room for, at once', async () => {
    const { open, opened } = gate()
    const service = await start(
      async (x) => {
        await opened
        return x
      },
      'full',
      { maxQueued: 2 },
    )
    const all = Array.from({ length: 6 }, (_, i) => caller.request('full', tensor([i])))
    const codes = all.map(code)
    await until(() => service.stats().busy === 3)
    open()
    assert.deepEqual(await Promise.all(codes), [
      'none',
      'none',
      'none',
      'ERR_BUSY_REMOTE',
      'ERR_BUSY_REMOTE',
      'ERR_BUSY_REMOTE',
    ])
  })

  it('are asked with options that there are', async () => {
    const x = tensor([1])
    const calls = {
      tensors: (opts) => tensors(caller.connection, opts),
      'bus.publish': (opts) => caller.publish('a', x, opts),
      'bus.subscribe': (opts) => caller.subscribe('a', opts),
      'bus.request': (opts) => caller.request('a', x, opts),
      'bus.serve': (opts) => caller.serve((x) => x, 'a', opts),
      'bus.store': (opts) => caller.store('a', opts),
    }
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(
        async () => call({ nothing: 0 }),
        (error) =>
          error.code === 'ERR_ARGUMENT' &&
          error.message.startsWith(`${name} has no option "nothing"; `),
        name,
      )
    }
    await assert.rejects(caller.request('a', x, { timeout: 5 }), {
      message:
        'bus.request has no option "timeout"; deadline, attempts, out, method or signal was expected',
    })
    await assert.rejects(
      caller.serve((x) => x, 'a', { batch: { maximum: 5 } }),
      { message: 'batch has no option "maximum"; max, wait or axis was expected' },
    )
    await assert.rejects(
      serve((x) => x, 'a', { bus: caller, maxqueued: 5 }),
      { message: 'bus.serve has no option "maxqueued"; maxQueued was expected' },
    )
  })

  it('that do not answer are ERR_TIMEOUT, which names deadline and attempts', async () => {
    const { open, opened } = gate()
    await start(async (x) => {
      await opened
      return x
    }, 'silent')
    const message = 'silent: no reply came in time (deadline: 20 ms, attempts: 2)'
    await assert.rejects(caller.request('silent', tensor([1]), { deadline: 20, attempts: 2 }), {
      code: 'ERR_TIMEOUT',
      message,
    })
    open()
  })

  it('drop requests that nobody waits for any more', async () => {
    const { open, opened } = gate()
    let runs = 0
    const service = await start(
      async (x) => {
        runs++
        await opened
        return x
      },
      'expired',
      { batch: { max: 1 } },
    )
    const first = caller.request('expired', tensor([1]))
    await until(() => runs === 1)
    assert.deepEqual(
      await Promise.all(
        [
          caller.request('expired', tensor([2]), { deadline: 5 }),
          caller.request('expired', tensor([3]), { deadline: 5 }),
        ].map(code),
      ),
      ['ERR_TIMEOUT', 'ERR_TIMEOUT'],
    )
    await until(() => service.stats().queued === 2)
    await new Promise((resolve) => setTimeout(resolve, 20)) // a replica counts from when a request came
    open()
    await first
    await until(() => service.stats().expired === 2)
    assert.equal(runs, 1)
  })

  it('answer for a run that takes too long, and go on', async () => {
    const { open, opened } = gate()
    let runs = 0
    const service = await start(
      async (x) => {
        if (++runs === 1) await opened
        return x
      },
      'slow',
      { timeout: 30 },
    )
    const late = caller.request('slow', tensor([1]))
    assert.equal(await code(late), 'ERR_TIMEOUT')
    assert.deepEqual((await caller.request('slow', tensor([2]))).toArray(), [2])
    open()
    assert.equal(service.stats().errors, 1)
  })

  it('send rows from the result, which a function may use again', async () => {
    const y = zeros([4, 65536])
    await start(
      (x) => {
        y.narrow(0, 0, x.shape[0]).copyFrom(x)
        return y.narrow(0, 0, x.shape[0])
      },
      'again',
      { batch: { max: 4, wait: 1 } },
    )
    const before = memory().copies?.nats?.bytes ?? 0
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        caller.request('again', mul(ones([1, 65536]), i), { deadline: 15000 }),
      ),
    )
    answers.forEach((t, i) => assert.ok(t.get(0, 0) === i && t.get(0, 65535) === i))
    assert.equal(memory().copies?.nats?.bytes ?? 0, before)
    await until(() => code(Promise.resolve().then(() => y.fill(1))).then((is) => is === 'none')) // busy until the server has the last answers
  })

  it('drain: nothing is lost under load', async () => {
    const here = []
    const replica = async () => {
      const service = await bus.serve(
        async (x) => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          return mul(x, 2)
        },
        'drain',
        { batch: { max: 4, wait: 1 }, maxQueued: 1000 },
      )
      here.push(service)
      return service
    }
    const first = await replica()
    const asked = []
    const ask = (i) => asked.push(caller.request('drain', tensor([[i]]), { deadline: 15000 }))
    for (let i = 0; i < 100; i++) ask(i)
    await replica()
    const drained = first.drain()
    for (let i = 100; i < 200; i++) ask(i)
    await drained
    assert.ok(first.isStopped)
    assert.equal(first.drain(), drained)
    const { requests } = first.stats()
    for (let i = 200; i < 250; i++) ask(i)
    const answers = await Promise.all(asked)
    answers.forEach((y, i) => assert.deepEqual(y.toArray(), [[2 * i]]))
    assert.equal(first.stats().requests, requests)
    for (const service of here) await service.drain()
    assert.equal(await code(caller.request('drain', tensor([[1]]))), 'ERR_NO_RESPONDERS')
  })

  it('are found and counted through the service framework', async () => {
    const service = await start(
      async (x) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return x
      },
      'counted.one',
      { name: 'counted', version: '2.1.0', batch: { max: 4 } },
    )
    for (let i = 0; i < 3; i++) await caller.request('counted.one', tensor([[1]]))
    const client = new Svcm(ours).client()
    const only = async (iterator) => (await (await iterator)[Symbol.asyncIterator]().next()).value
    const ping = await only(client.ping('counted'))
    assert.deepEqual([ping.id, ping.version], [service.id, '2.1.0'])
    const {
      endpoints: [info],
    } = await only(client.info('counted'))
    assert.deepEqual([info.subject, info.queue_group], ['counted.one', 'q'])
    const {
      endpoints: [stats],
    } = await only(client.stats('counted'))
    assert.equal(stats.num_requests, 3)
    assert.ok(stats.average_processing_time > 15e6, `${stats.average_processing_time} ns`)
    assert.deepEqual([stats.data.batches, stats.data.rows, stats.data.errors], [3, 3, 0])
  })

  it('run the methods of a Module', async () => {
    const module = await Module.load({ forward: ADD, double: DOUBLE })
    try {
      await start(module, 'module', { batch: { max: 8, wait: 1 } })
      const asked = [1, 2, 3].map((i) =>
        caller.request('module', { a: ones([i, 3]), b: mul(ones([i, 3]), i) }),
      )
      const answers = await Promise.all(asked)
      answers.forEach(({ c }, i) =>
        assert.deepEqual(c.toArray(), mul(ones([i + 1, 3]), i + 2).toArray()),
      )
      const doubled = await caller.request('module', tensor([1, 2]), { method: 'double' })
      assert.deepEqual(doubled.toArray(), [2, 4])
      const error = await caller
        .request('module', tensor([1]), { method: 'none' })
        .catch((error) => error)
      assert.deepEqual([error.code, error.remoteCode], ['ERR_REMOTE', 'ERR_NOT_FOUND'])
    } finally {
      for (const service of services.splice(0)) await service.drain()
      await module.dispose()
    }
  })

  it('end with await using, and with the connection', async () => {
    const service = await bus.serve((x) => x, 'using')
    await service[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]()
    assert.ok(service.isStopped)
    const other = await connect({ servers: server.url })
    const gone = await tensors(other).serve((x) => x, 'gone')
    await other.close()
    await until(() => gone.isStopped)
    await gone.drain()
  })

  it('are made on the only bus, or on the one that is named', async () => {
    await assert.rejects(
      serve((x) => x, 'named'),
      { code: 'ERR_ARGUMENT' },
    )
    const service = await serve((x) => x, 'named', { bus })
    assert.deepEqual((await caller.request('named', tensor([1]))).toArray(), [1])
    await service.drain()
  })

  it('leave nothing behind: no subscriptions, no busy tensors', async () => {
    const { subscriptions } = nc.protocol
    const x = ones([1, 65536])
    const turn = async () => {
      const service = await bus.serve((x) => x, 'left', { batch: { max: 2 } })
      await caller.request('left', x)
      await service.drain()
    }
    await turn()
    const before = subscriptions.size()
    for (let i = 0; i < 3; i++) await turn()
    assert.equal(subscriptions.size(), before)
    x.fill(2)
  })

  it('refuse wrong arguments before anything happens', async () => {
    for (const wrong of [['a b'], [''], ['a.>'], ['a..b'], [1]]) {
      await assert.rejects(
        bus.serve((x) => x, ...wrong),
        { code: 'ERR_ARGUMENT' },
      )
    }
    await assert.rejects(bus.serve({}, 'a'), { code: 'ERR_ARGUMENT' })
    for (const [options, expected] of [
      [{ maxQueued: 0 }, 'ERR_BOUNDS'],
      [{ batch: {} }, 'ERR_ARGUMENT'],
      [{ batch: { max: 0 } }, 'ERR_BOUNDS'],
      [{ timeout: -1 }, 'ERR_BOUNDS'],
      [{ queue: 'a b' }, 'ERR_ARGUMENT'],
      [{ name: 'a.b' }, 'ERR_ARGUMENT'],
      [{ version: 'x' }, 'ERR_ARGUMENT'],
      [1, 'ERR_ARGUMENT'],
    ]) {
      assert.equal(await code(bus.serve((x) => x, 'a', options)), expected)
    }
  })
})
