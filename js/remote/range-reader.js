'use strict'
// Reads ranges of a file at a URL. Whatever the server does, a run ends: with its bytes or with a typed error, after a bounded number of
// attempts that bring little, each of which ends when little comes.

const { failure, startAtCaller } = require('../base/errors')
const { newBytes } = require('../files/allocate')
const { Excess, Trouble, bodyOf, conditionOf, isSame } = require('./answers')
const { isElsewhere } = require('./fetch-transport')

/** @typedef {import('./answers').Version} Version */
/** @typedef {import('./answers').Body} Body */
/** @typedef {import('./fetch-transport').Transport} Transport */
/** A body that comes. isTold: the answer says where it ends; next: the byte that comes next @typedef {Body & { isTold: boolean, next: number }} Coming */
/** The first request. @typedef {{ range: () => string, began: () => void }} First  range: that it asks for; began: the file's size is known */
/** @typedef {(piece: Uint8Array, at: number) => Promise<void> | void} Take  at: byte of the file; throws nothing */

const FIRST = 2 ** 19 // bytes that are asked for first
const LEAST = 4096 // bytes that have to come within the idle limit
const PROGRESS = 2 ** 16 // bytes after which failures are counted anew
const DELAY = 200 // ms before the second attempt; each later one doubles it
const LONGEST_DELAY = 10000
const MOST_UNTOLD = 2 ** 30 // bytes of a file of which the server does not say how long it is: it may have no end

/** Bytes of a file that are being read. */
class Run {
  /** @param {number} from @param {number} end @param {Take} take */
  constructor(from, end, take) {
    /** the next byte that is needed */
    this.at = from
    this.end = end
    this.take = take
    this.isCancelled = false
    /** @type {unknown} */
    this.reason = undefined
    /** ends what the run waits for @type {() => void} */
    this.interrupt = () => {}
  }

  /** @param {unknown} reason  that it is rejected with */
  cancel(reason) {
    if (this.isCancelled) return
    this.isCancelled = true
    this.reason = reason
    this.interrupt()
  }

  check() {
    if (this.isCancelled) throw this.reason
  }

  /** @param {number} ms */
  async pause(ms) {
    this.check()
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    await new Promise((resolve) => {
      this.interrupt = () => resolve(undefined)
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
    this.check()
  }
}

/** All bytes that are needed came; the others are not waited for. */
const ENOUGH = new Error('enough')

class RangeReader {
  /**
   * @param {URL} url
   * @param {{ transport: Transport, retries: number, idleTimeout: number }} options
   */
  constructor(url, { transport, retries, idleTimeout }) {
    this.url = url.href
    /** where the last request ended up */
    this.current = url.href
    this.shownUrl = url.origin + url.pathname // what is behind it may be a signature
    this.transport = transport
    this.retries = retries
    this.idleTimeout = idleTimeout
    /** false: the server sends files whole */
    this.hasRanges = true
    /** false: what the server answers to ranges is wrong, so it is asked for the whole file */
    this.asksRanges = true
    /** bytes of the file, by a server that refused a range that goes beyond it @type {number | null} */
    this.told = null
    /** null: there was no answer yet @type {Version | null} */
    this.version = null
    /** headers that make a browser ask the other host first are left out */
    this.isElsewhere = isElsewhere(url)
    /** @type {Set<Run>} */
    this.runs = new Set()
    /** why no run is begun any more @type {{ reason: unknown } | null} */
    this.ended = null
  }

  get size() {
    return /** @type {number} */ (this.version?.size)
  }

  /**
   * Reads the first bytes, or the last ones; all of them where those would be the last ones, and the server has no ranges.
   *
   * @param {boolean} fromEnd
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<{ from: number, bytes: Uint8Array<ArrayBuffer> }>}
   */
  async open(fromEnd, signal) {
    const isSuffix = fromEnd && !this.isElsewhere
    let from = 0
    let bytes = new Uint8Array(0)
    const run = new Run(0, FIRST, (piece, at) => bytes.set(piece, at - from))
    const began = () => {
      run.at = from = isSuffix && this.hasRanges ? Math.max(0, this.size - FIRST) : 0
      run.end = isSuffix || (fromEnd && !this.hasRanges) ? this.size : Math.min(this.size, FIRST)
      bytes = newBytes(run.end - from, 'the file')
    }
    const range = () => {
      const { told } = this
      if (told === null) return isSuffix ? `bytes=-${FIRST}` : `bytes=0-${FIRST - 1}`
      return isSuffix
        ? `bytes=${Math.max(0, told - FIRST)}-${told - 1}`
        : `bytes=0-${Math.min(told, FIRST) - 1}`
    }
    await this.finish(run, signal, { range, began })
    return { from, bytes }
  }

  /**
   * Reads bytes that are kept.
   *
   * @param {number} from
   * @param {number} end
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async read(from, end, signal) {
    const bytes = newBytes(end - from, 'a header')
    await this.finish(new Run(from, end, (piece, at) => bytes.set(piece, at - from)), signal)
    return bytes
  }

  /**
   * Finishes a run: with other requests where one failed, or brought less.
   *
   * @param {Run} run
   * @param {import('../base/signals').Signal | undefined} [signal]
   * @param {First} [first]  of the first request to this file
   */
  async finish(run, signal, first) {
    const leave = signal?.follow(() => run.cancel(signal.reason))
    if (signal?.look()) run.cancel(signal.reason)
    if (this.ended !== null) run.cancel(this.ended.reason)
    this.runs.add(run)
    let watch = new Watch(this.idleTimeout)
    try {
      for (let failures = 0, mark = run.at; this.version === null || run.at < run.end;) {
        run.check()
        const from = run.at
        try {
          const isOver = await this.attempt(run, watch, first)
          if (isOver && run.at === from && run.at < run.end) {
            throw this.trouble('the answers have none of the bytes that were asked for')
          }
        } catch (error) {
          if (!(error instanceof Trouble)) throw error
          if (run.at - mark >= PROGRESS) failures = 0
          if (failures++ >= this.retries) throw startAtCaller(error.error)
          this.current = this.url // where it was redirected to may be gone
          watch.end()
          const delay = Math.min(DELAY * 2 ** (failures - 1), LONGEST_DELAY)
          await run.pause(Math.max(error.wait, delay * (0.5 + Math.random() / 2)))
          watch = new Watch(this.idleTimeout)
        }
        if (run.at - mark >= PROGRESS) mark = run.at
      }
      run.check()
    } finally {
      leave?.()
      watch.end()
      this.runs.delete(run)
    }
  }

  /**
   * One request; the run is advanced by what came.
   *
   * @param {Run} run
   * @param {Watch} watch  of all requests since the last one that failed
   * @param {First | undefined} first
   * @returns {Promise<boolean>} false: it has to be asked for in another way
   */
  async attempt(run, watch, first) {
    const controller = new AbortController()
    run.interrupt = watch.stop = () => controller.abort()
    const from = run.at
    let isDone = false
    try {
      /** @type {Record<string, string>} */
      const headers = {}
      if (this.asksRanges) {
        headers.range =
          first !== undefined && this.version === null
            ? first.range()
            : `bytes=${run.at}-${run.end - 1}`
        const condition =
          this.version === null || this.isElsewhere ? null : conditionOf(this.version)
        if (condition !== null) headers['if-range'] = condition
      }
      const answer = await this.transport(this.current, headers, controller.signal, this.shownUrl)
      run.check()
      if (answer.status === 416 && this.version === null && this.asksOtherwise(answer)) return false
      const body = this.bodyFor(answer)
      if (this.version === null) {
        if (body.version.size === null) {
          await this.measure(answer, body.version, run, watch, /** @type {First} */ (first))
          isDone = true
          return true
        }
        this.version = body.version
        first?.began()
      }
      if (body.isPart && body.from !== run.at) {
        throw failure(
          'ERR_FORMAT',
          `${this.shownUrl}: the answer begins at byte ${body.from} of the file; ${run.at} was asked for`,
        )
      }
      if (body.from === body.end) return true // what there is says why
      await answer.pump((piece) =>
        watch.around(piece.length, () => accept(run, body, piece, this.shownUrl)),
      )
      isDone = true
      if (body.next < body.end && run.at < run.end) {
        throw this.trouble(
          `the answer ended at byte ${body.next} of the file; it said that it would go on to byte ${body.end}`,
        )
      }
    } catch (error) {
      run.check()
      if (error === ENOUGH) return true
      if (error instanceof Excess) {
        if (!this.asksRanges || (run.at > from && first === undefined)) throw error.error // of what came somebody has taken some
        if (first !== undefined) this.version = null
        this.asksRanges = false
        run.at = from
        return false
      }
      if (watch.isOver) {
        throw this.trouble(
          `less than ${LEAST} bytes came in ${this.idleTimeout} ms; idleTimeout says how long is waited`,
        )
      }
      throw error
    } finally {
      run.interrupt = watch.stop = () => {}
      if (!isDone) controller.abort()
    }
    return true
  }

  /**
   * After a server has refused the first range: what it does say, or the whole file, can be asked for.
   *
   * @param {import('./fetch-transport').Answer} answer
   * @returns {boolean} false: that was tried, or the file is empty
   */
  asksOtherwise(answer) {
    const [, size] = /^bytes \*\/(\d{1,15})$/.exec(answer.header('content-range') ?? '') ?? []
    if (Number(size) === 0 || !this.asksRanges) return false
    if (size === undefined || this.told !== null) this.asksRanges = false
    else this.told = Number(size)
    return true
  }

  /**
   * Reads to the end of a file of which the server does not say how long it is; what begins it is given to the run.
   *
   * @param {import('./fetch-transport').Answer} answer
   * @param {Version} version  of which the size is not known
   * @param {Run} run
   * @param {Watch} watch
   * @param {First} first
   */
  async measure(answer, version, run, watch, first) {
    const head = newBytes(FIRST, 'the file')
    let size = 0
    await answer.pump((piece) =>
      watch.around(piece.length, () => {
        run.check()
        if (size < FIRST) head.set(piece.subarray(0, FIRST - size), size)
        size += piece.length
        if (size > MOST_UNTOLD) {
          throw failure(
            'ERR_UNSUPPORTED',
            `${this.shownUrl}: the server neither sends ranges nor says how long the file is, which has more than ${MOST_UNTOLD} bytes`,
          )
        }
      }),
    )
    this.version = { ...version, size }
    first.began()
    const end = Math.min(run.end, size, FIRST)
    run.take(head.subarray(0, end), 0)
    run.at = end
  }

  /**
   * The body of an answer, which has to be of the same file as the first one.
   *
   * @param {import('./fetch-transport').Answer} answer
   * @returns {Coming}
   */
  bodyFor(answer) {
    const { shownUrl } = this
    if (this.current !== this.url && answer.status >= 400) {
      this.current = this.url // where it was redirected to may be valid for a while only
      throw this.trouble(
        `the server that it was redirected to answered with status ${answer.status}`,
      )
    }
    const body = bodyOf(answer, shownUrl)
    this.current = answer.url
    if (!body.isPart) this.hasRanges = false
    if (this.version !== null && !isSame(this.version, body.version)) {
      throw failure('ERR_STALE', `${shownUrl} was changed while it was read`)
    }
    const end = Math.min(body.end, this.version?.size ?? Infinity)
    return { ...body, end, isTold: body.end < Infinity, next: body.from }
  }

  /** @param {string} text  what went wrong, so that another attempt may go better */
  trouble(text) {
    return new Trouble(failure('ERR_IO', `${this.shownUrl}: ${text}`))
  }

  /** Ends all runs, those that come as well. @param {unknown} reason */
  cancel(reason) {
    this.ended ??= { reason }
    for (const run of this.runs) run.cancel(reason)
  }
}

/**
 * Gives a run the bytes of a piece that it needs.
 *
 * @param {Run} run
 * @param {Coming} body
 * @param {Uint8Array} piece
 * @param {string} shownUrl
 * @returns {Promise<void> | void}
 */
function accept(run, body, piece, shownUrl) {
  run.check()
  const begin = body.next
  body.next += piece.length
  if (body.next > body.end) {
    throw body.isTold
      ? new Excess(shownUrl, body)
      : failure('ERR_STALE', `${shownUrl} was changed while it was read`)
  }
  const end = Math.min(body.next, run.end)
  const from = Math.max(begin, run.at)
  const wait = from < end ? run.take(piece.subarray(from - begin, end - begin), from) : undefined
  if (from < end) run.at = end
  if (run.at < run.end || body.next >= body.end) return wait
  if (wait === undefined) throw ENOUGH
  return wait.then(() => {
    throw ENOUGH
  })
}

/** Ends requests that bring too little, each or one after the other. While we are not done with a piece, no time passes. */
class Watch {
  /** @param {number} ms */
  constructor(ms) {
    this.stop = () => {}
    this.isOver = false
    this.isWaiting = false
    this.came = 0
    /** @type {any} a number or Node's object: declarations are without Node's types */
    this.timer = setInterval(() => {
      if (!this.isWaiting && this.came < LEAST) {
        this.isOver = true
        this.stop()
      }
      this.came = 0
    }, ms)
  }

  /** @param {number} n  bytes that came @param {() => Promise<void> | void} use */
  around(n, use) {
    this.came += n
    const wait = use()
    if (wait === undefined) return
    this.isWaiting = true
    return wait.finally(() => {
      this.isWaiting = false
      this.came += LEAST
    })
  }

  end() {
    clearInterval(this.timer)
  }
}

module.exports = { FIRST, Run, RangeReader }
