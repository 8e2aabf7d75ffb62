'use strict'
// Durable requests, on one server: kept until they are answered, whoever dies.

const assert = require('node:assert/strict')
const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { connect, headers } = require('@nats-io/transport-node')
const { jetstream, jetstreamManager } = require('@nats-io/jetstream')
const { memory, ones, tensor, zeros } = require('samebytes')
const { Module } = require('samebytes/module')
const { multiply } = require('samebytes/math')
const { tensors } = require('samebytes/nats')
const { queueOf } = require('../../js/nats/work-queue')
const { ADD, DOUBLE } = require('../models')
const { needs } = require('../setup')
const { startServer } = require('./server')

const LONG = 60000 // a deadline that ends hangs alone

function gate () {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return { open, opened }
}

async function until (is) {
  while (!await is()) await new Promise(resolve => setTimeout(resolve, 5))
}

const codeOf = promise => promise.then(() => 'none', error => error.code)

describe('NATS: durable requests', function () {
  needs('nats-server')
  let server, nc, ours, bus, caller, jsm
  const serve = (target, subject, options) => bus.serve(target, subject, { durable: true, ...options })
  const ask = (subject, x, options) => caller.request(subject, x, { durable: true, deadline: LONG, ...options })
  const queue = subject => queueOf({ connection: ours }, subject)
  const waiting = async subject => (await jsm.streams.info(queue(subject).stream)).state.messages

  const connected = () => connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 })

  before(async () => {
    server = await startServer({ jetstream: true, config: 'max_payload: 8MB' })
    ours = await connected()
    caller = tensors(ours)
    jsm = await jetstreamManager(ours, { timeout: 1000 })
  })
  beforeEach(async () => {
    nc = await connected()
    bus = tensors(nc)
  })
  afterEach(async () => {
    await nc.close() // quicker than to drain services
    for await (const { config } of jsm.streams.list()) await jsm.streams.delete(config.name)
  })
  after(async () => {
    await ours?.close()
    await server?.stop()
  })

  it('are kept until somebody serves, and answered, into out as well', async () => {
    const out = zeros([2])
    const asked = [ask('early', tensor([1, 2])), ask('early', tensor([3, 4]), { out })]
    await until(async () => await codeOf(waiting('early')) === 'none' && await waiting('early') === 2)
    const service = await serve(x => multiply(x, 2), 'early')
    assert.deepEqual((await asked[0]).toArray(), [2, 4])
    assert.equal(await asked[1], out)
    assert.deepEqual(out.toArray(), [6, 8])
    await until(async () => await waiting('early') === 0)
    assert.deepEqual([service.stats().requests, service.stats().batches, service.stats().errors], [2, 2, 0])
  })

  it('run in batches, as records, by methods of a Module', async () => {
    const asked = Array.from({ length: 40 }, (_, i) => ask('batch', { a: ones([1, 3]), b: multiply(ones([1, 3]), i) }))
    await until(async () => await codeOf(waiting('batch')) === 'none' && await waiting('batch') === 40)
    const module = await Module.load({ forward: ADD, double: DOUBLE })
    try {
      const service = await serve(module, 'batch', { batch: { max: 8, wait: 2 } })
      const answers = await Promise.all(asked)
      answers.forEach(({ c }, i) => assert.deepEqual(c.toArray(), [[i + 1, i + 1, i + 1]]))
      assert.ok(service.stats().batches < 40, `${service.stats().batches} runs`)
      assert.deepEqual((await ask('batch', tensor([1, 2]), { method: 'double' })).toArray(), [2, 4])
      await service.drain()
    } finally {
      await module.dispose()
    }
  })

  it('send and read the bytes of large tensors in place, which may be written when the answer is there', async () => {
    await serve(x => x.clone(), 'large')
    const x = ones([2 ** 18])
    const before = memory().copies?.nats?.bytes ?? 0
    const y = await ask('large', x)
    x.fill(2)
    assert.deepEqual([y.get(0), y.get(2 ** 18 - 1)], [1, 1])
    assert.equal(memory().copies?.nats?.bytes ?? 0, before)
  })

  it('tell that an answer is too large for the server', async () => {
    await serve(() => zeros([2 ** 22]), 'toolarge')
    const error = await ask('toolarge', tensor([1])).catch(error => error)
    assert.deepEqual([error.code, error.remoteCode], ['ERR_REMOTE', 'ERR_TOO_LARGE'])
    await until(async () => await waiting('toolarge') === 0)
    assert.equal(await codeOf(ask('toolarge', zeros([2 ** 22]))), 'ERR_TOO_LARGE')
  })

  it('tell what a function threw, once', async () => {
    const service = await serve(() => { throw Object.assign(new Error('no'), { code: 'ERR_NOT_FOUND' }) }, 'wrong')
    const error = await ask('wrong', tensor([1]), { attempts: 3 }).catch(error => error)
    assert.deepEqual([error.code, error.remoteCode, error.replica], ['ERR_REMOTE', 'ERR_NOT_FOUND', service.id])
    await until(async () => await waiting('wrong') === 0)
    assert.equal(service.stats().errors, 1)
  })

  it('are dropped when they can never be read, whoever wrote them', async () => {
    const service = await serve(x => x, 'hostile')
    const js = jetstream(ours)
    const inbox = ours.subscribe('answers')
    for (const fields of [{}, { 'Tensor-Reply': 'a b' }, { 'Tensor-Reply': '>' }, { 'Tensor-Reply': 'answers', 'Tensor-Dtype': 'int99', 'Tensor-Shape': '3' }]) {
      const block = headers()
      for (const [name, value] of Object.entries(fields)) block.set(name, value)
      await js.publish('hostile.queue', new Uint8Array(3), { headers: block })
    }
    const { value: answer } = await inbox[Symbol.asyncIterator]().next()
    assert.equal(answer.headers.get('Tensor-Error'), 'ERR_FORMAT')
    inbox.unsubscribe()
    await until(async () => await waiting('hostile') === 0)
    assert.deepEqual([service.stats().requests, service.stats().errors], [4, 4])
    assert.deepEqual((await ask('hostile', tensor([1]))).toArray(), [1])
  })

  it('are not run when nobody waits for them any more: neither from the queue nor in a replica', async () => {
    assert.equal(await codeOf(ask('expired', tensor([1]), { deadline: 300 })), 'ERR_TIMEOUT')
    await new Promise(resolve => setTimeout(resolve, 100)) // clocks of one machine: the request is older than its deadline
    const { open, opened } = gate()
    const seen = []
    const service = await serve(async x => { seen.push(x.get(0)); await opened; return x }, 'expired')
    await until(() => service.stats().expired === 1)
    const first = ask('expired', tensor([2]))
    await until(() => seen.length === 1)
    const late = codeOf(ask('expired', tensor([3]), { deadline: 300 }))
    await until(() => service.stats().queued === 1)
    assert.equal(await late, 'ERR_TIMEOUT')
    await new Promise(resolve => setTimeout(resolve, 100))
    open()
    await first
    await until(async () => await waiting('expired') === 0)
    assert.deepEqual([seen, service.stats().expired], [[2], 2])
  })

  it('are refused by a full queue, which makes room', async () => {
    await queue('full').open()
    const { config } = await jsm.streams.info(queue('full').stream)
    assert.deepEqual([config.retention, config.discard, config.storage, config.num_replicas], ['workqueue', 'new', 'file', 1])
    await jsm.streams.update(config.name, { ...config, max_msgs: 2 })
    const kept = [1, 2].map(n => ask('full', tensor([n])))
    await until(async () => await waiting('full') === 2)
    assert.equal(await codeOf(ask('full', tensor([3]))), 'ERR_BUSY_REMOTE')
    assert.equal(await codeOf(ask('full', tensor([3]), { attempts: 3 })), 'ERR_BUSY_REMOTE')
    const patient = ask('full', tensor([4]), { attempts: 1000 })
    await serve(x => x, 'full') // takes the queue as it is
    assert.deepEqual((await Promise.all([...kept, patient])).map(y => y.get(0)), [1, 2, 4])
    assert.equal((await jsm.streams.info(config.name)).config.max_msgs, 2)
  })

  it('go to another replica when one is killed in the middle of a run', async () => {
    const hanging = fork(path.join(__dirname, 'worker.js'), [server.url, 'killed', JSON.stringify({ durable: true }), 'hang'])
    try {
      await once(hanging, 'message')
      const asked = [1, 2, 3].map(n => ask('killed', tensor([n])))
      const runs = once(hanging, 'message')
      assert.equal((await runs)[0], 'runs')
      const service = await serve(x => multiply(x, 2), 'killed')
      hanging.kill('SIGKILL')
      assert.deepEqual((await Promise.all(asked)).map(y => y.get(0)), [2, 4, 6])
      assert.equal(service.stats().errors, 0)
      await until(async () => await waiting('killed') === 0)
    } finally {
      hanging.kill('SIGKILL')
    }
  })

  it('stay with a replica that says that its run goes on, and are acknowledged after the answer', async () => {
    const { open, opened } = gate()
    const said = []
    const listener = ours.subscribe(`$JS.ACK.${queue('long').stream}.>`, { callback: (_, message) => said.push(message.string()) })
    const answers = []
    await serve(async x => { await opened; return x }, 'long')
    const asked = ask('long', tensor([1])).then(y => answers.push(y))
    await until(() => said.length >= 3)
    assert.ok(said.every(text => text === '+WPI'), said.join())
    assert.equal(await waiting('long'), 1)
    open()
    await asked
    await until(() => said.includes('+ACK'))
    listener.unsubscribe()
    await until(async () => await waiting('long') === 0)
  })

  it('drain: a replica answers what it holds, and leaves the rest in the queue', async () => {
    const { open, opened } = gate()
    const first = await serve(async x => { await opened; return multiply(x, 2) }, 'drain')
    const asked = Array.from({ length: 20 }, (_, i) => ask('drain', tensor([i])))
    await until(async () => first.stats().batches === 1 && await waiting('drain') === 20)
    const drained = first.drain()
    open()
    await drained
    const { requests, errors } = first.stats()
    assert.ok(requests >= 1 && requests < 20, `${requests} taken`)
    assert.equal(errors, 0)
    await until(async () => await waiting('drain') === 20 - requests)
    const second = await serve(x => multiply(x, 2), 'drain')
    assert.deepEqual((await Promise.all(asked)).map(y => y.get(0)), asked.map((_, i) => 2 * i))
    assert.equal(second.stats().batches, 20 - requests)
  })

  it('drain: what is given to a replica that ends goes back into the queue', async () => {
    const first = await serve(x => multiply(x, 2), 'back')
    await until(async () => (await jsm.consumers.info(queue('back').stream, 'replicas')).num_waiting > 0)
    const drained = first.drain()
    const asked = [1, 2].map(n => ask('back', tensor([n])))
    await drained
    assert.equal(first.stats().requests, 0)
    await serve(x => multiply(x, 3), 'back')
    assert.deepEqual((await Promise.all(asked)).map(y => y.get(0)), [3, 6])
  })

  it('are sent again where an answer was lost', async () => {
    const { stream } = queue('lost')
    const { consumer } = await queue('lost').consumer()
    const asked = ask('lost', tensor([5]), { attempts: 2 })
    const message = await consumer.next()
    assert.equal(message.info.stream, stream)
    message.ack() // and no answer
    await until(async () => await waiting('lost') === 1)
    await serve(x => x, 'lost')
    assert.deepEqual((await asked).toArray(), [5])
  })

  it('are given up where they have ended many replicas', async () => {
    const { consumer } = await queue('poison').consumer()
    const asked = codeOf(ask('poison', tensor([5])))
    for (let i = 0; i < 64; i++) (await consumer.next()).nak()
    const service = await serve(x => x, 'poison')
    assert.equal(await asked, 'ERR_REMOTE')
    assert.match(service.stats().lastError, /64 replicas/)
    await until(async () => await waiting('poison') === 0)
  })

  it('survive the server, killed and started again', async () => {
    const asked = ask('restart', tensor([7]), { attempts: 10 })
    await until(async () => await codeOf(waiting('restart')) === 'none' && await waiting('restart') === 1)
    server.kill('SIGKILL')
    await server.ended
    await server.restart()
    await until(async () => await codeOf(waiting('restart')) === 'none')
    assert.ok(await waiting('restart') >= 1)
    await serve(x => multiply(x, 2), 'restart')
    assert.deepEqual((await asked).toArray(), [14])
  })

  it('make one queue, however many begin at once', async () => {
    const begun = [1, 2, 3].map(() => serve(x => x, 'race'))
    const asked = Array.from({ length: 10 }, (_, i) => ask('race', tensor([i])))
    await Promise.all(begun)
    assert.deepEqual((await Promise.all(asked)).map(y => y.get(0)), asked.map((_, i) => i))
    const names = []
    for await (const { config } of jsm.streams.list()) names.push(config.name)
    assert.deepEqual(names, [queue('race').stream])
    assert.notEqual(queue('a.b').stream, queue('a-b').stream)
  })

  it('end with a signal, and leave nothing behind', async () => {
    const first = await serve(x => x, 'signal')
    await ask('signal', tensor([1]))
    await first.drain()
    const before = [nc, ours].map(({ protocol }) => protocol.subscriptions.size())
    const x = ones([2 ** 18])
    const controller = new AbortController()
    const asked = ask('signal', x, { signal: controller.signal })
    await until(async () => await waiting('signal') === 1)
    controller.abort(new Error('enough'))
    await assert.rejects(asked, /enough/)
    await until(() => codeOf(Promise.resolve().then(() => x.fill(3))).then(is => is === 'none'))
    const service = await serve(x => x, 'signal')
    await until(async () => await waiting('signal') === 0) // it is run, for nobody
    await service.drain()
    assert.deepEqual([nc, ours].map(({ protocol }) => protocol.subscriptions.size()), before)
  })

  it('answer plain requests as well', async () => {
    await serve(x => multiply(x, 2), 'plain')
    assert.deepEqual((await caller.request('plain', tensor([1]))).toArray(), [2])
    assert.equal(await waiting('plain'), 0)
  })

  it('refuse wrong arguments, and a stream that is no queue', async () => {
    for (const durable of [1, 'yes', null]) {
      assert.equal(await codeOf(ask('a', tensor([1]), { durable })), 'ERR_ARGUMENT')
      assert.equal(await codeOf(serve(x => x, 'a', { durable })), 'ERR_ARGUMENT')
    }
    assert.equal(await codeOf(serve(x => x, 'a.*')), 'ERR_ARGUMENT')
    await jsm.streams.add({ name: queue('other').stream, subjects: ['something.else'] })
    assert.equal(await codeOf(serve(x => x, 'other')), 'ERR_EXISTS')
    assert.equal(await codeOf(ask('other', tensor([1]))), 'ERR_EXISTS')
    await jsm.streams.add({ name: 'greedy', subjects: ['greedy.>'] })
    assert.equal(await codeOf(ask('greedy.a', tensor([1]))), 'ERR_REMOTE') // what another stream takes is no queue's
    assert.equal((await jsm.streams.info('greedy')).state.messages, 0)
  })

  it('need JetStream', async () => {
    const plain = await startServer()
    const connection = await connect({ servers: plain.url })
    try {
      const bus = tensors(connection)
      assert.equal(await codeOf(bus.serve(x => x, 'a', { durable: true })), 'ERR_NO_RESPONDERS')
      assert.equal(await codeOf(bus.request('a', tensor([1]), { durable: true })), 'ERR_NO_RESPONDERS')
      assert.equal(await codeOf(bus.request('a', tensor([1]))), 'ERR_NO_RESPONDERS')
    } finally {
      await connection.close()
      await plain.stop()
    }
  })
})
