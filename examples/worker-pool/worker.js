'use strict'
// A worker of index.js: NAME, and a number above 0 that no other worker has.

const { once } = require('node:events')
const { SharedRing, SharedTensor } = require('samebytes')
const { END, workOn } = require('./jobs')

let running = Promise.resolve() // a promise for the next message while the pool has stopped this worker
process.on('message', (what) => {
  if (what === 'stop') running = once(process, 'message')
})

async function main(name, me) {
  const progress = SharedTensor.open(`${name}-states`)
  const states = progress.tensor.data // of the pool's progress, then of each job
  const [results, runs] = ['results', 'runs'].map(
    (which) => SharedTensor.open(`${name}-${which}`).tensor.data,
  )
  const frames = SharedRing.open(`${name}-jobs`).read({ from: 0 })
  const first = frames.next() // takes a place: from now on the pool waits for this process
  process.send('ready')
  for (let { value } = await first; ; { value } = await frames.next()) {
    const job = value.tensor.data // ours until the next one is asked for
    const number = job[0]
    if (number === END) break
    await running
    if (Atomics.compareExchange(states, 1 + number, 0, me) !== 0) continue // another worker took it
    Atomics.add(runs, number, 1)
    results[number] = workOn(job)
    Atomics.store(states, 1 + number, -me) // done
    Atomics.add(states, 0, 1)
    progress.notify(0)
  }
  await frames.return()
  process.disconnect()
}

process.once('disconnect', () => process.exit()) // the pool has ended
main(process.argv[2], Number(process.argv[3])).catch((error) => {
  console.error(error)
  process.exit(1)
})
