'use strict'
// Requests go on while a replica or a server of three is killed or frozen: none fails, and none has a wrong answer. How long nobody answered is told, not judged.
// SAMEBYTES_FULL=1: a minute each, with deadlines of 3 seconds.

const assert = require('node:assert/strict')
const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { setTimeout: wait } = require('node:timers/promises')
const { connect } = require('@nats-io/transport-node')
const { empty } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { startCluster } = require('./server')

const FULL = process.env.SAMEBYTES_FULL === '1'
const SECONDS = FULL ? 60 : Number(process.env.KILLED_SECONDS ?? 2)
const PERIOD_MS = 5 // between two requests
const DEADLINE_MS = FULL ? 3000 : 60000 // on a busy machine no test may decide by the clock
const ELEMENTS = 4096

/** What is killed or frozen in the middle: of { client's server, server and process of the first worker }. */
const CASES = {
  'a worker is killed': ({ workers }) => workers[0].kill('SIGKILL'),
  'a worker is frozen': ({ workers }) => workers[0].kill('SIGSTOP'),
  'the server of a worker is killed': ({ cluster }) => cluster.nodes[1].kill('SIGKILL'),
  'the server of a worker is frozen': ({ cluster }) => cluster.nodes[1].kill('SIGSTOP'),
  'the server of the caller is killed': ({ cluster }) => cluster.nodes[0].kill('SIGKILL'),
  'the server of the caller is frozen': ({ cluster }) => cluster.nodes[0].kill('SIGSTOP')
}

async function startWorker (urls) {
  const worker = fork(path.join(__dirname, 'worker.js'), [urls.join(','), 'models.double', '{}'])
  await once(worker, 'message')
  return worker
}

describe('NATS: servers and replicas that fail', function () {
  this.timeout(FULL ? 300000 : 120000)
  let cast
  afterEach(async () => {
    for (const worker of cast?.workers ?? []) worker.kill('SIGKILL')
    await cast?.connection?.close()
    await cast?.cluster.stop()
    cast = undefined
  })

  async function start () {
    cast = { cluster: await startCluster(3, { config: 'max_payload: 8MB\nping_interval: "500ms"\nping_max: 2' }), workers: [] }
    const { urls } = cast.cluster
    for (const [a, b, c] of [[1, 2, 0], [2, 1, 0]]) cast.workers.push(await startWorker([urls[a], urls[b], urls[c]]))
    cast.connection = await connect({ servers: urls, noRandomize: true, timeout: 20000, reconnectTimeWait: 50, maxReconnectAttempts: -1, pingInterval: 500, maxPingOut: 2 })
    return cast
  }

  /** One request; resolves with the time of its answer. */
  async function ask (bus, i) {
    const x = empty([ELEMENTS]).fill(i)
    const y = await bus.request('models.double', x, { deadline: DEADLINE_MS, attempts: 20 })
    assert.equal(y.get(0), 2 * i)
    assert.equal(y.get(ELEMENTS - 1), 2 * i)
    x.dispose()
    y.dispose()
    return performance.now()
  }

  for (const [title, strike] of Object.entries(CASES)) {
    it(`${title}, and every request is answered`, async () => {
      const { connection } = await start()
      const bus = tensors(connection)
      const pending = []
      const count = SECONDS * 1000 / PERIOD_MS
      for (let i = 0; i < count; i++) {
        if (i === count / 2) strike(cast)
        pending.push(ask(bus, i))
        await wait(PERIOD_MS)
      }
      const answered = (await Promise.allSettled(pending)).map(({ status, reason, value }) => status === 'fulfilled' ? value : reason)
      const failed = answered.filter(each => typeof each !== 'number')
      assert.deepEqual(failed.map(String), [])
      const times = answered.sort((a, b) => a - b)
      if (FULL) console.log(`${title}: ${count} requests, longest without an answer ${Math.max(...times.slice(1).map((t, i) => t - times[i])).toFixed(0)} ms`)
    })
  }
})
