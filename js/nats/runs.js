'use strict'
// What a service does with requests: they wait in a bounded queue, run in batches, one at a time, and are answered. Knows nothing of NATS.

const { failure } = require('../base/errors')
const { now, onNextTurn } = require('../runtime/host')
const {
  Batches,
  batchFor,
  axisOf,
  checkResult,
  mapTensors,
  rowsOf,
  tensorsOf,
} = require('./batches')

/** @typedef {import('../tensor/tensor').Tensor} AnyTensor */
/** @typedef {import('./batches').Value} Value */

/**
 * A request as it is run.
 *
 * @typedef {object} Job
 * @property {string | null} key  as of Batches
 * @property {number} rows
 * @property {string} method  '': a Module's forward
 * @property {number} nbytes  that it holds while it waits
 * @property {number} expiresAt  milliseconds of `now`
 * @property {() => Value} read  what was sent, as views of the message where it can be
 * @property {(out: Value) => Value} readInto  writes it into views of a batch
 * @property {Record<string, { dtype: string, shape: readonly number[] }>} kinds  by name in a record, '' for one tensor
 * @property {(result: Value) => boolean} succeed  sends a result; true: in place, so that its bytes must stay as they are until it was sent
 * @property {(error: { code: unknown, message: string }) => void} fail
 * @property {() => void} expire  nobody waits for it any more
 */

/** @typedef {(value: Value, context: { method: string | undefined }) => unknown} Call */

const MOST_STUCK = 4 // runs that took too long and have not settled

class Runs {
  #call
  #limits
  #whenSent
  /** counts of the service; times are of whole runs, in milliseconds */
  stats = {
    requests: 0,
    errors: 0,
    busy: 0,
    expired: 0,
    batches: 0,
    rows: 0,
    runTime: 0,
    lastError: '',
  }
  /** requests that runs have answered */
  answered = 0
  /** @type {Batches<Job>} */
  #batches
  #bytes = 0
  #isRunning = false
  #stuck = 0
  #isDraining = false
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isScheduled = false
  /** @type {(() => void)[]} */
  #idle = []

  /**
   * @param {Call} call
   * @param {{ max: number, wait: number, axis: number, maxQueued: number, maxBytes: number, timeout: number }} limits  maxBytes: of requests that wait; timeout: Infinity for none
   * @param {() => Promise<void>} whenSent  resolves when results that were sent in place may change
   */
  constructor(call, limits, whenSent) {
    this.#call = call
    this.#limits = limits
    this.#whenSent = whenSent
    this.#batches = new Batches(limits)
  }

  /** Requests that wait. */
  get queued() {
    return this.#batches.size
  }

  /** Is there no room for a request? */
  get isFull() {
    return this.#batches.size >= this.#limits.maxQueued || this.#bytes >= this.#limits.maxBytes
  }

  /** @param {Job} job  while there is room */
  add(job) {
    this.#bytes += job.nbytes
    this.#batches.add(job, now())
    if (!this.#isRunning) this.#schedule()
  }

  /** Runs what waits without waiting for full batches; resolves when all is answered. @returns {Promise<void>} */
  drain() {
    this.#isDraining = true
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      this.#turn()
    })
  }

  /** Forgets what waits. */
  drop() {
    this.#isDraining = true
    for (let jobs = this.#take(); jobs !== null; jobs = this.#take()) {
      for (const job of jobs) job.expire()
    }
    this.#turn()
  }

  /** Has a run start in time. @returns {void} */
  #schedule() {
    const due = this.#batches.due
    if (due === -Infinity || this.#isDraining) return this.#turn()
    const ms = due - now()
    if (ms > 0) this.#timer ??= setTimeout(() => this.#turn(), Math.ceil(ms))
    else if (!this.#isScheduled) {
      // what has arrived with it comes along
      this.#isScheduled = true
      onNextTurn(() => {
        this.#isScheduled = false
        this.#turn()
      })
    }
  }

  /** @returns {Job[] | null} */
  #take() {
    const jobs = this.#batches.take(this.#isDraining ? Infinity : now())
    for (const { nbytes } of jobs ?? []) this.#bytes -= nbytes
    return jobs
  }

  /** Starts the next run, if one can start. @returns {void} */
  #turn() {
    if (this.#isRunning) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const isStuck = this.#stuck >= MOST_STUCK // nothing can run until a run settles: a service that ends does not wait for that
    if (isStuck && !this.#isDraining) return
    for (let jobs = this.#take(); jobs !== null; jobs = this.#take()) {
      if (isStuck) {
        this.#fail(jobs, failure('ERR_BUSY_REMOTE', 'the replica ends, and its runs do not'))
        continue
      }
      const time = now()
      const live = jobs.filter((job) => job.expiresAt > time)
      const late = jobs.filter((job) => job.expiresAt <= time)
      this.stats.expired += late.length
      for (const job of late) job.expire()
      if (live.length === 0) continue
      this.#isRunning = true
      this.#perform(live)
        .catch((error) => this.#fail(live, error))
        .then(() => {
          this.#isRunning = false
          this.#turn()
        })
      return
    }
    if (this.#batches.size > 0) return this.#schedule()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Runs requests together and answers them. @param {Job[]} jobs @returns {Promise<void>} throws nothing */
  async #perform(jobs) {
    const input = this.#inputOf(jobs)
    if (input === null) return
    const { good, value, rows } = input
    this.stats.batches++
    this.stats.rows += Math.max(1, rows)
    const from = now()
    const held = tensorsOf(value) // the function may change the record
    let isStuck = false
    try {
      const method = good[0].method === '' ? undefined : good[0].method
      const running = (async () => this.#call(value, { method }))()
      const outcome = await within(running, this.#limits.timeout)
      this.stats.runTime += now() - from
      this.answered += good.length
      if (outcome === LATE) {
        isStuck = true
        this.#stuck++
        const end = () => {
          // until then its memory is kept
          this.#stuck--
          disposeAll(held)
          this.#turn()
        }
        running.then(end, end)
        throw failure('ERR_TIMEOUT', `a run took longer than ${this.#limits.timeout} ms`)
      }
      await this.#answer(good, outcome, rows)
    } catch (error) {
      this.#fail(good, error)
    } finally {
      if (!isStuck) disposeAll(held)
    }
  }

  /**
   * Reads requests, of several straight into their rows of a batch. Those that cannot be read fail alone.
   *
   * @param {Job[]} jobs
   * @returns {{ good: Job[], value: Value, rows: number } | null} rows: -1 where they do not count; null: none can be read
   */
  #inputOf(jobs) {
    const [{ key, rows: rowsOfOne }] = jobs
    if (jobs.length === 1) {
      const value = this.#orFail(jobs, () => jobs[0].read())
      return value === null ? null : { good: jobs, value, rows: key === null ? -1 : rowsOfOne }
    }
    const { axis } = this.#limits
    const batch = this.#orFail(jobs, () => {
      const n = jobs.reduce((sum, job) => sum + job.rows, 0)
      const made = Object.entries(jobs[0].kinds).map(([name, { dtype, shape }]) => [
        name,
        batchFor(dtype, shape, axisOf(axis, shape.length), n),
      ])
      return made.length === 1 && made[0][0] === '' ? made[0][1] : Object.fromEntries(made)
    })
    if (batch === null) return null
    const good = []
    let rows = 0
    for (const job of jobs) {
      const out = rowsOf(batch, axis, rows, job.rows)
      if (this.#orFail([job], () => job.readInto(out)) !== null) {
        good.push(job)
        rows += job.rows
      }
      disposeAll(tensorsOf(out))
    }
    if (good.length === jobs.length) return { good, value: batch, rows }
    const first = good.length === 0 ? null : rowsOf(batch, axis, 0, rows)
    const value = first && mapTensors(first, (t) => (t.isContiguous() ? t.view() : t.clone()))
    for (const all of [first ?? {}, batch]) disposeAll(tensorsOf(all))
    return value && { good, value, rows }
  }

  /** @param {Job[]} jobs  which fail with what fn throws @param {() => Value} fn @returns {Value | null} */
  #orFail(jobs, fn) {
    try {
      return fn()
    } catch (error) {
      this.#fail(jobs, error)
      return null
    }
  }

  /**
   * @param {Job[]} jobs
   * @param {unknown} outcome  what the function returned
   * @param {number} rows
   */
  async #answer(jobs, outcome, rows) {
    const { axis } = this.#limits
    const result = checkResult(outcome, axis, rows)
    let at = 0
    let isInPlace = false
    for (const job of jobs) {
      const own = jobs.length === 1 ? result : rowsOf(result, axis, at, job.rows)
      try {
        if (job.succeed(own)) isInPlace = true
      } catch (error) {
        this.#fail([job], error)
      } finally {
        if (own !== result) disposeAll(tensorsOf(own))
      }
      at += job.rows
    }
    if (isInPlace) await this.#whenSent() // the function may write its next result into the same tensor
  }

  /** @param {Job[]} jobs @param {unknown} error */
  #fail(jobs, error) {
    const told = toldBy(error)
    this.failed(jobs.length, told.message)
    for (const job of jobs) job.fail(told)
  }

  /** Counts requests that failed. @param {number} requests @param {string} text */
  failed(requests, text) {
    this.stats.errors += requests
    this.stats.lastError = text
  }
}

const LATE = Symbol('a run that takes too long')

/**
 * @param {Promise<unknown>} promise
 * @param {number} ms
 * @returns {Promise<unknown>} what it gives, or LATE
 */
async function within(promise, ms) {
  if (ms === Infinity) return await promise
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** @param {AnyTensor[]} held */
function disposeAll(held) {
  for (const t of held) t.dispose()
}

/**
 * What a function threw, read once: it may be anything.
 *
 * @param {unknown} error
 * @returns {{ code: unknown, message: string }}
 */
function toldBy(error) {
  try {
    const { code, message } = /** @type {any} */ (error ?? {})
    return { code, message: String(message ?? error) }
  } catch {
    return { code: undefined, message: 'an error without a text' }
  }
}

module.exports = { Runs }
