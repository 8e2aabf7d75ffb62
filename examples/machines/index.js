'use strict'
// A camera, two workers that measure its frames, and three servers of NATS in a cluster, each a process of this machine. While requests go on, a
// worker and then a server are killed. At the end it says what was lost.
//
//   npm run example:machines [-- --seconds 9]

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { parseArgs } = require('node:util')
const { connect } = require('@nats-io/transport-node')
const { empty } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { startCluster } = require('../../test/nats/server')

const SHAPE = [240, 320, 3]
const PERIOD_MS = 20 // between two frames

async function startWorker(urls) {
  const worker = fork(path.join(__dirname, 'worker.js'), [urls.join(',')])
  await once(worker, 'message')
  return worker
}

/** Sends a frame of one brightness, and checks the answer. */
async function measure(bus, value, report) {
  const frame = empty([1, ...SHAPE], 'uint8').fill(value)
  const begin = performance.now()
  try {
    const answer = await bus.request('models.brightness', frame, { deadline: 3000, attempts: 5 })
    if (answer.get(0) !== value) {
      throw new Error(`a frame of ${value} is said to be ${answer.get(0)}`)
    }
    report.answered++
    answer.dispose()
  } catch (error) {
    report.failed.push(error.message)
  }
  report.longest = Math.max(report.longest, performance.now() - begin)
  frame.dispose()
}

async function film(bus, seconds, events) {
  const report = { answered: 0, failed: [], longest: 0 }
  const begin = performance.now()
  const pending = []
  let sent = 0
  for (; performance.now() - begin < seconds * 1000; sent++) {
    while (events.length > 0 && performance.now() - begin > events[0].at * seconds * 1000) {
      events.shift().run()
    }
    pending.push(measure(bus, sent % 256, report))
    await wait(PERIOD_MS)
  }
  await Promise.all(pending)
  return { sent, ...report }
}

async function main() {
  const {
    values: { seconds },
  } = parseArgs({ options: { seconds: { type: 'string', default: '9' } } })
  const cluster = await startCluster(3, { config: 'max_payload: 8MB' })
  const workers = []
  try {
    // each worker knows all servers, and is connected to another one than the camera
    workers.push(
      await startWorker([cluster.urls[1], cluster.urls[2], cluster.urls[0]]),
      await startWorker([cluster.urls[2], cluster.urls[1], cluster.urls[0]]),
    )
    const connection = await connect({
      servers: cluster.urls,
      noRandomize: true,
      reconnectTimeWait: 50,
      maxReconnectAttempts: -1,
      pingInterval: 500,
    })
    console.log(`cluster     ${cluster.urls.join(', ')}`)
    const events = [
      {
        at: 1 / 3,
        run() {
          console.log(`killed      worker ${workers[0].pid}`)
          workers[0].kill('SIGKILL')
        },
      },
      {
        at: 2 / 3,
        run() {
          console.log(`killed      server ${cluster.urls[0]}, the camera's own`)
          cluster.nodes[0].kill('SIGKILL')
        },
      },
    ]
    const { sent, answered, failed, longest } = await film(
      tensors(connection),
      Number(seconds),
      events,
    )
    console.log(
      `frames      ${sent} sent, ${answered} answered, ${failed.length} lost${failed.length > 0 ? `: ${failed[0]}` : ''}`,
    )
    console.log(`longest     ${longest.toFixed(0)} ms until an answer`)
    if (failed.length > 0) process.exitCode = 1
    await connection.close()
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await cluster.stop()
  }
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
