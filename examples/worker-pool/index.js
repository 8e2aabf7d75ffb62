'use strict'
// A pool of processes: jobs are frames of a ring whose writer waits, and the worker that is free takes the next one. On the way one
// worker is stopped for a while, and one is killed.
//
//   node examples/worker-pool/index.js [--jobs 20000] [--workers 3]

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { SharedRing, SharedTensor, memory } = require('samebytes')
const { END, JOB, fillIn, isDear, workOn } = require('./jobs')

const LOOK_MS = 100 // so long it waits for a slot before it looks who holds it back
const name = `samebytes-pool-${process.pid}`

class Pool {
  /** @param {number} count  jobs @param {number} size  workers */
  constructor(count, size) {
    const int32 = { dtype: 'int32' }
    this.count = count
    this.size = size
    this.jobs = SharedRing.create(`${name}-jobs`, [JOB], {
      slots: 8,
      readers: size,
      dtype: 'int32',
    })
    this.progress = SharedTensor.create(`${name}-states`, [1 + count], int32)
    this.states = this.progress.tensor.data // 0: one that is added to; 1 + i: of job i, 0: nobody has it, n: worker n, -n: worker n has done it
    this.results = SharedTensor.create(`${name}-results`, [count], int32)
    this.runs = SharedTensor.create(`${name}-runs`, [count], int32) // how often each was begun
    this.workers = []
    this.started = 0
    this.written = 0 // jobs 0 to this
    this.done = 0 // all before this one are
    this.again = [] // to be written once more
    this.said = new Map() // job → how often it was begun by a worker that died
    this.failure = null
  }

  async start() {
    const id = ++this.started
    const worker = fork(path.join(__dirname, 'worker.js'), [name, String(id)])
    this.workers.push(worker)
    worker.once('exit', () => this.#goOnWithout(worker, id))
    const [what] = await Promise.race([once(worker, 'message'), once(worker, 'exit')])
    if (what !== 'ready') throw new Error('a worker ended before it was ready')
  }

  /** What a dead worker had is nobody's, and comes again, as does what nobody has taken: the dead one may have been all who saw it. */
  #goOnWithout(worker, id) {
    this.workers.splice(this.workers.indexOf(worker), 1)
    if (this.isOver) return
    for (let i = this.done; i < this.written; i++) {
      const state = Atomics.load(this.states, 1 + i)
      if (state === id) {
        this.said.set(i, (this.said.get(i) ?? 0) + 1)
        Atomics.store(this.states, 1 + i, 0)
      }
      if (state === id || state === 0) this.again.push(i)
    }
    this.start()
      .catch((error) => {
        this.failure = error
      })
      .finally(() => this.#look())
    this.#look()
  }

  #look() {
    Atomics.add(this.states, 0, 1)
    this.progress.notify(0)
  }

  /** Waits for a slot, and makes the job in it. @param {(message: string) => void} heldBack  called while a worker holds the pool back */
  async write(number, heldBack) {
    for (;;) {
      try {
        const frame = await this.jobs.nextAsync({ timeout: LOOK_MS })
        if (number === END) frame.data[0] = END
        else fillIn(frame.data, number)
        this.jobs.commit()
        return
      } catch (error) {
        if (error.code !== 'ERR_BUSY') throw error
        heldBack(error.message)
      }
    }
  }

  /** Until all jobs are done. @param {(written: number) => void} each  called after each new job */
  async run(each, heldBack) {
    while (this.done < this.count) {
      const seen = Atomics.load(this.states, 0)
      while (this.done < this.written && Atomics.load(this.states, 1 + this.done) < 0) this.done++
      if (this.failure !== null) throw this.failure
      if (this.again.length > 0) await this.write(this.again.shift(), heldBack)
      else if (this.written < this.count) {
        await this.write(this.written++, heldBack)
        each(this.written)
      } else if (this.done < this.count) await this.progress.wait(0, seen)
    }
  }

  /** Is worker n in one of the jobs that cost most? */
  hasDearJob(n) {
    for (let i = this.done; i < this.written; i++) {
      if (isDear(i) && Atomics.load(this.states, 1 + i) === n) return true
    }
    return false
  }

  async end() {
    this.isOver = true
    const ended = Promise.all(this.workers.map((worker) => once(worker, 'exit')))
    await this.write(END, () => {})
    await ended
    this.jobs.dispose()
  }

  /** Beside what this process computes itself. */
  check() {
    const found = { right: 0, wrong: 0, lost: 0, twice: 0 }
    const job = new Int32Array(JOB)
    for (let i = 0; i < this.count; i++) {
      fillIn(job, i)
      if (this.states[1 + i] >= 0) found.lost++
      else if (this.results.tensor.data[i] === workOn(job)) found.right++
      else found.wrong++
      if (this.runs.tensor.data[i] > 1 + (this.said.get(i) ?? 0)) found.twice++
    }
    return found
  }
}

// Windows cannot stop a process: there the worker is asked to, and stops before its next job.
const HAS_SIGNALS = process.platform !== 'win32'
const stop = (worker) => (HAS_SIGNALS ? worker.kill('SIGSTOP') : worker.send('stop'))
const goOn = (worker) => (HAS_SIGNALS ? worker.kill('SIGCONT') : worker.send('go on'))

function unlink() {
  for (const each of [
    () => SharedRing.unlink(`${name}-jobs`),
    ...['states', 'results', 'runs'].map((which) => () => SharedTensor.unlink(`${name}-${which}`)),
  ]) {
    try {
      each()
    } catch {} // it is gone
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      jobs: { type: 'string', default: '20000' },
      workers: { type: 'string', default: '3' },
    },
  })
  const [count, size] = [Number(values.jobs), Number(values.workers)]
  process.once('exit', unlink)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const pool = new Pool(count, size)
  await Promise.all(Array.from({ length: size }, () => pool.start()))
  const before = JSON.stringify(memory().copied)
  const [stopped, killed] = pool.workers
  const death = once(killed, 'exit')
  let isStopped = false
  let wasHeldBack = false

  await pool.run(
    (written) => {
      if (written === Math.floor(count / 4)) isStopped = stop(stopped)
      if (
        written > count / 2 &&
        !killed.killed &&
        (pool.hasDearJob(2) || written > (count * 3) / 4)
      ) {
        killed.kill('SIGKILL')
      }
    },
    (message) => {
      if (!isStopped || !message.startsWith(`process ${stopped.pid} `)) return // it may be slow before
      isStopped = false
      wasHeldBack = true
      console.log(`  ${message}: it was stopped; now it is continued`)
      goOn(stopped)
    },
  )
  const copied = JSON.stringify(memory().copied)
  await death
  await pool.end()

  const { right, wrong, lost, twice } = pool.check()
  console.log(
    `  process ${killed.pid} was killed; what it had begun was done again: ${[...pool.said.keys()].map((i) => `job ${i}`).join(', ') || 'nothing'}`,
  )
  console.log(
    `  ${count} jobs by ${size} workers, and ${pool.started - size} that came for a dead one: ${right} right, ${wrong} wrong, ${lost} lost, ${twice} done twice and not said`,
  )
  console.log(`  copied by samebytes: ${copied === before ? 'nothing' : copied}`)
  if (right !== count || twice > 0 || !wasHeldBack || pool.started !== size + 1) {
    process.exitCode = 1
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exit(1)
})
