'use strict'
// Requests go on while a replica or a server of three is killed or frozen: none fails, and none has a wrong answer. How long nobody answered is told, not judged.
// What a stream has acknowledged is there afterwards.
// SAMEBYTES_FULL=1: a minute each, with deadlines of 3 seconds; and more cases.

const assert = require('node:assert/strict')
const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { setTimeout: wait } = require('node:timers/promises')
const { jetstreamManager } = require('@nats-io/jetstream')
const { empty } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { needs } = require('../setup')
const { startCluster } = require('./server')

const FULL = process.env.SAMEBYTES_FULL === '1'
const SECONDS = FULL ? 60 : Number(process.env.KILLED_SECONDS ?? 2)
const PERIOD_MS = 5 // between two requests
const DEADLINE_MS = FULL ? 3000 : 60000 // on a busy machine no test may decide by the clock
const ELEMENTS = 4096
const SUBJECT = 'models.double'

/** What is killed or frozen in the middle: of { client's server, server and process of the first worker }. */
const CASES = {
  'a worker is killed': ({ workers }) => workers[0].kill('SIGKILL'),
  'a worker is frozen': ({ workers }) => workers[0].kill('SIGSTOP'),
  'the server of a worker is killed': ({ cluster }) => cluster.nodes[1].kill('SIGKILL'),
  'the server of a worker is frozen': ({ cluster }) => cluster.nodes[1].kill('SIGSTOP'),
  'the server of the caller is killed': ({ cluster }) => cluster.nodes[0].kill('SIGKILL'),
  'the server of the caller is frozen': ({ cluster }) => cluster.nodes[0].kill('SIGSTOP'),
}

async function startWorker(urls) {
  const worker = fork(path.join(__dirname, 'worker.js'), [urls.join(','), SUBJECT])
  await once(worker, 'message')
  return worker
}

describe('NATS: servers and replicas that fail', function () {
  needs('nats-server')
  let cast
  afterEach(async () => {
    for (const worker of cast?.workers ?? []) worker.kill('SIGKILL')
    await cast?.connection?.close()
    await cast?.cluster.stop()
    cast = undefined
  })

  async function start({ jetstream = false, workers = 2 } = {}) {
    cast = {
      cluster: await startCluster(3, {
        jetstream,
        config: 'max_payload: 8MB\nping_interval: "500ms"\nping_max: 2',
      }),
      workers: [],
    }
    const { urls } = cast.cluster
    for (const [a, b, c] of [
      [1, 2, 0],
      [2, 1, 0],
    ].slice(0, workers)) {
      cast.workers.push(await startWorker([urls[a], urls[b], urls[c]]))
    }
    // the client's own transport would wait for ever to send to a frozen server, once its buffers are full
    cast.connection = await transport.connect({
      servers: urls,
      noRandomize: true,
      timeout: 500,
      waitOnFirstConnect: true,
      reconnectTimeWait: 50,
      maxReconnectAttempts: -1,
      pingInterval: 500,
      maxPingOut: 2,
    })
    return cast
  }

  /** One request; resolves with the time of its answer. */
  async function ask(bus, i, options) {
    const x = empty([ELEMENTS]).fill(i)
    const y = await bus.request(SUBJECT, x, options)
    assert.equal(y.get(0), 2 * i)
    assert.equal(y.get(ELEMENTS - 1), 2 * i)
    x.dispose()
    y.dispose()
    return performance.now()
  }

  /** Calls act again and again, and strikes in the middle; resolves with what became of each call. */
  async function underFire(act, strike) {
    const pending = []
    const count = (SECONDS * 1000) / PERIOD_MS
    const begin = performance.now()
    for (let i = 0; i < count; i++) {
      if (i === count / 2) strike(cast)
      const call = act(i)
      call.catch(() => {}) // looked at when all are settled
      pending.push(call)
      await wait(Math.max(0, begin + (i + 1) * PERIOD_MS - performance.now()))
    }
    return await Promise.allSettled(pending)
  }

  /** Checks that all were answered. */
  function check(title, settled) {
    const failed = settled
      .filter(({ status }) => status === 'rejected')
      .map(({ reason }) => String(reason))
    assert.deepEqual(failed, [])
    if (FULL) {
      console.log(
        `${title}: ${settled.length} requests, longest without an answer ${longestGap(settled.map(({ value }) => value)).toFixed(0)} ms`,
      )
    }
  }

  for (const [title, strike] of Object.entries(CASES)) {
    it(`${title}, and every request is answered`, async () => {
      const { connection } = await start()
      const bus = tensors(connection)
      check(
        title,
        await underFire((i) => ask(bus, i, { deadline: DEADLINE_MS, attempts: 20 }), strike),
      )
    })
  }

  for (const which of FULL ? [0, 1, 2] : [1]) {
    it(`server ${which} is killed, and what a stream has acknowledged is there`, async () => {
      const { connection, cluster } = await start({ jetstream: true, workers: 0 })
      const bus = tensors(connection)
      const jsm = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 })
      while (
        !(await jsm.streams
          .add({ name: 'KEPT', subjects: ['kept.*'], num_replicas: 3 })
          .catch(() => null))
      ) {
        await wait(50)
      }
      const settled = await underFire(
        async (i) => {
          await bus.publish('kept.all', empty([1]).fill(i), { stream: 'KEPT', id: String(i) })
          return i
        },
        () => cluster.nodes[which].kill('SIGKILL'),
      )
      const acknowledged = settled
        .filter(({ status }) => status === 'fulfilled')
        .map(({ value }) => value)
      const stored = await readAll(bus, connection)
      assert.deepEqual(
        acknowledged.filter((i) => !stored.has(i)),
        [],
      )
      assert.ok(acknowledged.length > 0)
      if (FULL) {
        console.log(
          `server ${which} is killed: ${acknowledged.length} of ${settled.length} acknowledged, none lost`,
        )
      }
    })
  }

  /** What the stream has. */
  async function readAll(bus, connection) {
    const stored = new Set()
    const jsm = await jetstreamManager(connection, { checkAPI: false, timeout: 1000 })
    let info = null
    while (!(info = await jsm.streams.info('KEPT').catch(() => null))) await wait(50)
    for (let seq = info.state.first_seq; seq <= info.state.last_seq;) {
      const message = await jsm.streams.getMessage('KEPT', { seq }).catch(() => undefined)
      if (message === undefined) await wait(50)
      else {
        stored.add(new Float32Array(message.data.slice().buffer)[0])
        seq++
      }
    }
    return stored
  }
})

/** Milliseconds between two answers, at most. */
function longestGap(times) {
  times.sort((a, b) => a - b)
  return Math.max(...times.slice(1).map((t, i) => t - times[i]))
}
