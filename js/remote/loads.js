'use strict'
// Loads of a file's bytes, merged into few requests.

const { failure } = require('../base/errors')
const { onNextTurn } = require('../runtime/host')
const { Run } = require('./range-reader')

/** @typedef {import('./range-reader').RangeReader} RangeReader */
/** @typedef {import('./known-bytes').KnownBytes} KnownBytes */
/** @typedef {import('../base/signals').Signal} Signal */

const GAP = 2 ** 16 // bytes between neighbours that are read and dropped rather than asked around
const LONGEST = 2 ** 26 // bytes of a request that takes in more loads
const MOST = 4 // requests at once

/**
 * Bytes of the file that somebody waits for.
 *
 * @typedef {object} Receiver
 * @property {(bytes: Uint8Array) => Promise<unknown> | void} write  what comes next
 * @property {(n: number) => void} [came]  bytes, after write; may throw
 */

class Job {
  /**
   * @param {number} from
   * @param {number} end
   * @param {Receiver} receiver
   * @param {Signal | undefined} signal
   */
  constructor(from, end, receiver, signal) {
    this.at = from
    this.end = end
    this.receiver = receiver
    this.isSettled = false
    /** called when it failed */
    this.failed = () => {}
    /** @type {Promise<void>} */
    this.whole = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.whole.catch(() => {}) // whoever waits gets it
    this.leave = signal?.follow(() => this.fail(signal.reason))
    if (signal?.look()) this.fail(signal.reason)
  }

  /** @param {() => void} tell */
  settle(tell) {
    if (this.isSettled) return
    this.isSettled = true
    this.leave?.()
    tell()
  }

  /** @param {unknown} error */
  fail(error) {
    this.settle(() => {
      ;/** @type {any} */ (this).reject(error)
      this.failed()
    })
  }

  /**
   * Takes what it needs of a piece; what goes wrong is this load's alone.
   *
   * @param {Uint8Array} piece
   * @param {number} at  byte of the file
   * @returns {Promise<void> | void}
   */
  take(piece, at) {
    const end = Math.min(at + piece.length, this.end)
    if (this.isSettled || end <= this.at) return
    const part = piece.subarray(this.at - at, end - at)
    this.at = end
    try {
      const wait = this.receiver.write(part)
      if (wait !== undefined) {
        return wait.then(
          () => this.came(part.length),
          (error) => this.fail(error),
        )
      }
      this.came(part.length)
    } catch (error) {
      this.fail(error)
    }
  }

  /** @param {number} n */
  came(n) {
    try {
      this.receiver.came?.(n)
      if (this.at === this.end) this.settle(() => /** @type {any} */ (this).resolve())
    } catch (error) {
      this.fail(error)
    }
  }
}

/** So many requests at once, of all files that are read as one; the others wait for their turn. */
class Turns {
  constructor() {
    this.free = MOST
    /** @type {(() => void)[]} */
    this.waiting = []
  }

  /**
   * @template R
   * @param {() => Promise<R>} work
   * @returns {Promise<R>}
   */
  async run(work) {
    if (this.free > 0) this.free--
    else await new Promise((resolve) => this.waiting.push(() => resolve(undefined)))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}

class Loads {
  /** @param {RangeReader} reader @param {KnownBytes} known @param {Turns} turns */
  constructor(reader, known, turns) {
    this.reader = reader
    this.known = known
    this.turns = turns
    /** since the last turn @type {Job[]} */
    this.waiting = []
    /** each is for one request @type {Job[][]} */
    this.groups = []
    this.isClosed = false
  }

  /**
   * Reads bytes of the file. Loads that are added in one turn share requests.
   *
   * @param {number} from
   * @param {number} nbytes
   * @param {Receiver} receiver
   * @param {Signal | undefined} signal
   * @returns {Promise<void>}
   */
  async add(from, nbytes, receiver, signal) {
    if (this.isClosed) throw closed()
    const job = new Job(from, from + nbytes, receiver, signal)
    for (
      let known = this.known.knownFrom(job.at);
      known !== null && !job.isSettled && job.at < job.end;
      known = this.known.knownFrom(job.at)
    ) {
      await job.take(known, job.at)
    }
    if (job.at === job.end && !job.isSettled) job.came(0)
    if (this.isClosed) job.fail(closed()) // meanwhile
    if (!job.isSettled && this.waiting.push(job) === 1) onNextTurn(() => this.plan())
    return job.whole
  }

  /** Groups what waits, and starts it. */
  plan() {
    const jobs = this.waiting
      .filter((job) => !job.isSettled)
      .sort((a, b) => a.at - b.at || a.end - b.end)
    this.waiting = []
    /** @type {Job[][]} */
    const groups = []
    let end = -Infinity
    for (const job of jobs) {
      const group = groups[groups.length - 1]
      const isNear =
        end > -Infinity &&
        (!this.reader.hasRanges || (job.at - end <= GAP && end - group[0].at < LONGEST))
      if (isNear) group.push(job)
      else groups.push([job])
      end = isNear ? Math.max(end, job.end) : job.end
    }
    this.groups.push(...groups)
    groups.forEach(() => this.turns.run(() => this.next()))
  }

  /** Reads what the first group waits for. */
  async next() {
    const jobs = (this.groups.shift() ?? []).filter((job) => !job.isSettled)
    if (jobs.length === 0) return
    const run = new Run(jobs[0].at, endOf(jobs), (piece, at) => {
      while (jobs.length > 0 && jobs[0].isSettled) jobs.shift()
      const waits = []
      for (const job of jobs) {
        if (job.at >= at + piece.length) break
        const wait = job.take(piece, at)
        if (wait !== undefined) waits.push(wait)
      }
      if (waits.length > 0) return Promise.all(waits).then(() => {})
    })
    for (const job of jobs) {
      job.failed = () => {
        run.end = Math.min(run.end, endOf(jobs)) // what nobody waits for any more is not read
        if (run.end === 0) run.cancel(ENDED)
      }
    }
    try {
      await this.reader.finish(run)
    } catch (error) {
      for (const job of jobs) job.fail(error)
    }
  }

  close() {
    this.isClosed = true
    for (const job of [...this.waiting, ...this.groups.flat()]) job.fail(closed())
    this.reader.cancel(closed())
  }
}

/** @param {Job[]} jobs @returns {number} behind the last byte that is waited for; 0: none is */
const endOf = (jobs) => jobs.reduce((end, job) => (job.isSettled ? end : Math.max(end, job.end)), 0)

/** Nobody waits for the run any more. */
const ENDED = new Error('ended')

const closed = () => failure('ERR_DISPOSED', 'the file was closed')

module.exports = { Loads, Turns }
