'use strict'
// Subscriptions: an iterator over a queue that is bounded in bytes, and how many messages of a publisher did not come.

const { failure } = require('../base/errors')
const { show, integerFrom, oneOf, optionsOf } = require('../base/validate')
const { signalOf, checkSignal } = require('../base/signals')
const { countCopy } = require('../backend/storage')
const { onNextTurn } = require('../runtime/host')
const { Tensor } = require('../tensor/tensor')
const { readHeaders } = require('./headers')
const { SMALL, decodeParts } = require('./messages')
const { disconnected, refused } = require('./link')
const { refusal } = require('./publish')
const { remember } = require('./remember')

/** @typedef {import('./bus').Core} Core */
/** @typedef {import('./batches').Value} Value */
/** @typedef {import('../tensor/tensor').Tensor} AnyTensor */

/**
 * @template {Value} [T=Value]
 * @typedef {object} SubscribeOptions
 * @property {string | undefined} [queue]  a queue group: each message goes to one of its members
 * @property {'drop-oldest' | 'drop-newest' | 'error' | undefined} [overflow]  what happens to a message for which the queue has no room; 'drop-oldest' unless told. 'error' ends the iterator with ERR_TOO_LARGE behind what is queued
 * @property {number | undefined} [maxPending]  bytes of memory that the queue may hold; the bus' unless told. One message always has room
 * @property {T | undefined} [out]  a tensor, or tensors by name, that each message is written into
 * @property {((error: Error, subject: string) => void) | undefined} [onError]  called with messages that are no tensors, or not as `out` is; they count as lost
 * @property {import('../base/types').Signal | undefined} [signal]  ends the iterator with its reason
 */

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {Omit<SubscribeOptions<any>, 'signal'> & { maxPending: number, maxBytes: number, signal: Signal | undefined }} Checked options */

/**
 * A message.
 *
 * @template {Value} [T=AnyTensor]
 * @typedef {object} Received
 * @property {T extends AnyTensor ? T : undefined} tensor  over the message's own bytes, where they are 64 KiB or more and aligned; else of a counted copy, or out. It is the caller's
 * @property {T extends AnyTensor ? undefined : T} [tensors]  in its place, of a record: tensors by name
 * @property {string} subject
 * @property {number} lost  messages of its publisher on its subject that were sent before it, after the one received before, and were not received: lost on the way,
 * dropped, or no tensors. -1: this message was counted as lost and comes late, as one may after the publisher changed servers: sums are exact. In a queue group, and of publishers that do not count theirs, only what was dropped here
 * @property {number | undefined} seq  the publisher's count on this subject, from 1
 * @property {ReadonlyMap<string, string>} headers  by lower-cased name
 * @property {string} [reply]  subject that an answer is expected at
 */

/**
 * A message that waits in the queue.
 *
 * @typedef {object} Item
 * @property {string} subject
 * @property {string} reply
 * @property {Map<string, string>} fields
 * @property {Uint8Array} data
 * @property {Error | null} error  why it is no tensor
 * @property {string} publisher  and subject; '' where it is not known
 * @property {number} seq  in the order that is expected
 * @property {number | undefined} count  of its publisher, as it says
 * @property {number} overhead  bytes of heap, for its names and headers
 * @property {number} held  bytes in all
 */

const OPTIONS = ['queue', 'overflow', 'maxPending', 'out', 'onError', 'signal']
const OVERFLOWS = /** @type {const} */ (['drop-oldest', 'drop-newest', 'error'])
const ITEM_BYTES = 1024 // of heap for a queued message beside its bytes
const MOST_PUBLISHERS = 4096 // whose counts are remembered
const MOST_GAPS = 64 // of a publisher that are remembered, in case that their messages come late
const ITEMS_PER_TURN = 64 // that are taken before other work of the event loop has its turn
const SEQ = /^([\w-]{1,64}):([1-9]\d{0,14})$/
const NONE = new Uint8Array(0)
const KEY = Symbol('samebytes subscription')
/** codes of errors that are the message's fault */
const FAULTS = ['ERR_FORMAT', 'ERR_TOO_LARGE', 'ERR_DTYPE', 'ERR_SHAPE', 'ERR_NOT_FOUND']
/** @type {typeof Symbol.asyncDispose} */
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

/** What has come of a publisher: the next count, and ranges of counts before it that are missing. @typedef {{ next: number, missing: [from: number, to: number][] }} Course */

/** Which message of a publisher is expected next. */
class Expected {
  /** @type {Map<string, Course>} */
  #courses = new Map()
  /** messages without a count, which are counted here */
  #uncounted = 0

  count() {
    return ++this.#uncounted
  }

  /** @param {string} publisher @param {number} seq */
  arrived(publisher, seq) {
    if (this.#courses.has(publisher)) return
    remember(this.#courses, publisher, { next: seq, missing: [] }, MOST_PUBLISHERS)
  }

  /** @param {string} publisher @param {number} seq @returns {number} messages that were lost before it; -1: it was counted as lost and comes late */
  delivered(publisher, seq) {
    const course = this.#courses.get(publisher) ?? { next: seq, missing: [] }
    const { next, missing } = course
    if (seq < next) {
      const i = missing.findIndex(([from, to]) => seq >= from && seq < to)
      if (i < 0) return 0
      const [from, to] = missing[i]
      missing.splice(i, 1)
      if (seq + 1 < to) missing.splice(i, 0, [seq + 1, to])
      if (from < seq) missing.splice(i, 0, [from, seq])
      return -1
    }
    if (seq > next) missing.push([next, seq])
    if (missing.length > MOST_GAPS) missing.shift()
    course.next = seq + 1
    remember(this.#courses, publisher, course, MOST_PUBLISHERS)
    return seq - next
  }
}

/** Queued messages, of which the first and the last are cheap to take. */
class Queue {
  /** @type {(Item | undefined)[]} */
  #items = []
  #first = 0
  bytes = 0

  get length() {
    return this.#items.length - this.#first
  }

  /** @param {Item} item */
  push(item) {
    this.#items.push(item)
    this.bytes += item.held
  }

  /** @returns {Item | undefined} */
  shift() {
    if (this.length === 0) return undefined
    const item = /** @type {Item} */ (this.#items[this.#first])
    this.#items[this.#first++] = undefined
    this.bytes -= item.held
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}

/**
 * The messages of a subject, received from the call of `bus.subscribe` on: an async iterator. A `for await` loop that is left, `return()`, `await using` and
 * the signal of its options end it.
 *
 * @template {Value} [T=AnyTensor]
 * @implements {AsyncIterableIterator<Received<T>>}
 * @example
 * const firstOf = async (bus, subject) => {
 *   for await (const { tensor, lost } of bus.subscribe(subject)) return { tensor, lost }
 * }
 */
class TensorSubscription {
  #options
  #queue = new Queue()
  #expected = new Expected()
  /** of the client @type {any} */
  #source
  /** how it ended; undefined: it goes on; error null: without one @type {{ error: unknown } | undefined} */
  #end
  /** wakes the call of next() that waits @type {(() => void) | null} */
  #wake = null
  /** the call before @type {Promise<unknown>} */
  #last = Promise.resolve()
  #taken = 0
  /** @type {() => void} */
  #leave = () => {}

  /**
   * @param {symbol} key
   * @param {Core} core
   * @param {string} subject
   * @param {Checked} options
   * @private
   */
  constructor(key, core, subject, options) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'subscriptions are made by bus.subscribe()')
    this.#options = options
    const { queue, signal } = options
    const callback = this.#arrived.bind(this)
    try {
      this.#source = core.connection.subscribe(subject, { queue, callback })
    } catch (error) {
      throw refusal(core.connection, error)
    }
    this.#source.closed.then((/** @type {any} */ error) =>
      this.#stop(
        Object.assign(
          disconnected('the connection was closed'),
          error instanceof Error && { cause: error },
        ),
      ),
    )
    if (signal !== undefined) this.#leave = signal.follow(() => this.#abandon(signal.reason))
  }

  // ---- Messages that arrive: nothing here throws ----

  /** @param {any} error  the server's @param {any} message */
  #arrived(error, message) {
    if (this.#end !== undefined) return
    if (error) return this.#stop(refused('refuses the subscription', error))
    const item = this.#itemOf(message)
    this.#expected.arrived(item.publisher, item.seq)
    const { data } = item
    const waits = this.#wake === null || this.#queue.length > 0
    if (waits && data.length < SMALL && data.buffer.byteLength > 2 * data.length) {
      // else it would keep what the client read from the socket at once
      item.data = new Uint8Array(data) // a copy
      item.held = heldBy(item)
      if (data.length > 0) countCopy('nats', data.length)
    }
    if (this.#makeRoom(item)) this.#queue.push(item)
    this.#wake?.()
  }

  /** @param {any} message @returns {Item} */
  #itemOf(message) {
    const { subject, reply } = message
    const { maxBytes, queue } = this.#options
    let { data } = message
    let fields = new Map()
    let error = null
    const n = data.length
    try {
      fields = readHeaders(message)
      if (n > maxBytes) {
        throw failure('ERR_TOO_LARGE', `a message has ${n} bytes; maxBytes is ${maxBytes}`)
      }
    } catch (/** @type {any} */ reason) {
      error = reason
      data = NONE
    }
    const [, id, text] = SEQ.exec(fields.get('tensor-seq') ?? '') ?? []
    const count = id === undefined ? undefined : Number(text)
    const isFollowed = count !== undefined && queue === undefined
    const publisher = isFollowed ? `${id} ${subject}` : ''
    const seq = isFollowed ? count : this.#expected.count()
    const overhead = ITEM_BYTES + 4 * (message.size() - n)
    const held = heldBy({ data, overhead })
    return { subject, reply, fields, data, error, publisher, seq, count, overhead, held }
  }

  /** @param {Item} item @returns {boolean} false: the item is dropped */
  #makeRoom(item) {
    const { maxPending, overflow } = this.#options
    while (this.#queue.length > 0 && this.#queue.bytes + item.held > maxPending) {
      if (overflow === 'drop-newest') return false
      if (overflow === 'error') {
        const { length, bytes } = this.#queue
        const text = `the queue of a subscription has no room for another message: ${length} messages hold ${bytes} bytes, maxPending is ${maxPending}`
        this.#stop(failure('ERR_TOO_LARGE', text))
        return false
      }
      this.#queue.shift()
    }
    return true
  }

  // ---- Its end ----

  /**
   * Ends it behind what is queued.
   *
   * @param {unknown} error  null: none
   */
  #stop(error) {
    if (this.#end !== undefined) return
    this.#end = { error }
    this.#leave()
    if (!this.#source.isClosed()) this.#source.unsubscribe()
    this.#wake?.()
  }

  /**
   * Ends it at once.
   *
   * @param {unknown} error  null: none
   */
  #abandon(error) {
    this.#stop(error)
    this.#end = { error }
    this.#queue = new Queue()
  }

  // ---- The iterator ----

  /**
   * The next message, when it is there.
   *
   * @returns {Promise<IteratorResult<Received<T>, undefined>>}
   * @throws ERR_DISCONNECTED the connection was closed · ERR_TOO_LARGE the queue was full, with overflow 'error' · ERR_REMOTE the server refuses the subscription · the
   *   signal's reason; once, as a rejection
   * @example
   * const next = async subscription => (await subscription.next()).value?.tensor
   */
  next() {
    const taken = this.#last.then(() => this.#take())
    this.#last = taken.catch(() => {})
    return taken
  }

  /** @returns {Promise<IteratorResult<Received<T>, undefined>>} */
  async #take() {
    for (;;) {
      if (++this.#taken % ITEMS_PER_TURN === 0) {
        await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
      }
      const item = this.#queue.shift()
      const value = item === undefined ? undefined : this.#valueOf(item)
      if (value !== undefined) return { value, done: false }
      if (item !== undefined) continue
      if (this.#end === undefined) {
        await new Promise((resolve) => {
          this.#wake = () => resolve(undefined)
        })
        this.#wake = null
        this.#taken = 0
        continue
      }
      const { error } = this.#end
      this.#end = { error: null }
      if (error !== null) throw error
      return { value: undefined, done: true }
    }
  }

  /** @param {Item} item @returns {Received<T> | undefined} undefined: it is no tensor */
  #valueOf(item) {
    const { subject, reply, fields, data, publisher, seq, count } = item
    let decoded
    try {
      if (item.error !== null) throw item.error
      decoded = decodeParts(fields, data, this.#options)
    } catch (/** @type {any} */ error) {
      try {
        if (!FAULTS.includes(error?.code)) throw error
        this.#options.onError?.(error, subject)
        return undefined
      } catch (thrown) {
        this.#abandon(null)
        throw thrown
      }
    }
    const lost = this.#expected.delivered(publisher, seq)
    const got = Tensor.isTensor(decoded) ? { tensor: decoded } : { tensors: decoded }
    const answer = reply === '' ? {} : { reply }
    return /** @type {any} */ ({ ...got, subject, lost, seq: count, headers: fields, ...answer })
  }

  /**
   * Ends it, with what is queued.
   *
   * @param {any} [value]
   * @returns {Promise<IteratorResult<Received<T>, any>>}
   * @throws nothing
   * @example
   * const endSoon = subscription => setTimeout(() => subscription.return(), 1000)
   */
  async return(value) {
    this.#abandon(null)
    return { value, done: true }
  }

  /** What `await using` calls. */
  async [ASYNC_DISPOSE]() {
    await this.return()
  }

  [Symbol.asyncIterator]() {
    return this
  }
}

/** @param {Pick<Item, 'data' | 'overhead'>} item */
const heldBy = ({ data, overhead }) => overhead + (data === NONE ? 0 : data.buffer.byteLength)

/**
 * @template {Value} T
 * @param {Core} core
 * @param {string} subject  that was checked
 * @param {SubscribeOptions<T>} [options]
 * @returns {TensorSubscription<T>}
 */
function subscribe(core, subject, options) {
  const {
    queue,
    overflow = 'drop-oldest',
    maxPending = core.maxPending,
    out,
    onError,
    signal: given,
  } = optionsOf(options, OPTIONS, 'bus.subscribe')
  if (queue !== undefined && (typeof queue !== 'string' || !/^[^\s\0]{1,256}$/.test(queue))) {
    throw failure('ERR_ARGUMENT', `queue is ${show(queue)}; a name without spaces was expected`)
  }
  if (onError !== undefined && typeof onError !== 'function') {
    throw failure('ERR_ARGUMENT', `onError is ${show(onError)}; a function was expected`)
  }
  oneOf('overflow', overflow, OVERFLOWS)
  integerFrom('maxPending', maxPending, 1)
  const signal = signalOf(given)
  checkSignal(signal)
  const { maxBytes } = core
  const checked = { queue, overflow, maxPending, maxBytes, out, onError, signal }
  return new /** @type {any} */ (TensorSubscription)(KEY, core, subject, checked)
}

module.exports = { TensorSubscription, subscribe }
