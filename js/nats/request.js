'use strict'
// Requests: sent, and sent again while the caller still waits. Models are pure, so a repeated request does no harm.

const { failure } = require('../base/errors')
const { signalOf, checkSignal } = require('../base/signals')
const { integerFrom, optionsOf, show } = require('../base/validate')
const { now } = require('../runtime/host')
const { beginUse, endUse, busy } = require('../copy/async')
const { Tensor } = require('../tensor/tensor')
const { isValue, ownValue, tensorsOf } = require('./batches')
const { STATUS, readHeaders } = require('./headers')
const host = require('./host')
const { inboxOf, closed } = require('./inbox')
const { refused } = require('./link')
const messages = require('./messages')
const { steeringOf, callOf, subjectOfReplica } = require('./replicas')
const { isStable } = require('./payloads')
const { post } = require('./replies')
const { subjectOf } = require('./subjects')

/** @typedef {import('../tensor/tensor').Tensor} AnyTensor */
/** @typedef {import('./batches').Value} Value */
/** @typedef {import('./inbox').Core} Core */
/** @typedef {NonNullable<ReturnType<typeof host.offer>>} Offer */

/**
 * @template {Value} [R=Value]
 * @typedef {object} RequestOptions
 * @property {number | undefined} [deadline]  milliseconds that the caller waits, all attempts together; 5000 unless told
 * @property {number | undefined} [attempts]  how often the request may be sent to a replica; 1 unless told. From 2 on, it also waits for a service or a
 *   connection that is not there, until the deadline
 * @property {R | undefined} [out]  is written and returned; untouched unless the request succeeds
 * @property {string | undefined} [method]  of a Module; forward unless told
 * @property {import('../base/types').Signal | undefined} [signal]
 */

const DEADLINE_MS = 5000
const LONGEST_MS = 2 ** 31 - 1 // of a timer
const FIRST_PAUSE_MS = 10 // before another attempt where nobody took the last one; doubled each time
const LONGEST_PAUSE_MS = 250
const CALL_MS = 250 // that replicas have to say that they are there
const NO_BYTES = new Uint8Array(0)
const OPTIONS = ['deadline', 'attempts', 'out', 'method', 'signal']

/** Why the last attempt brought no reply, as codes of errors. @typedef {'ERR_TIMEOUT' | 'ERR_NO_RESPONDERS' | 'ERR_BUSY_REMOTE' | 'ERR_DISCONNECTED'} Why */

/** @type {Record<Why, string>} */
const TEXTS = {
  ERR_TIMEOUT: 'no reply came in time',
  ERR_NO_RESPONDERS: 'no service listens there',
  ERR_BUSY_REMOTE: 'all replicas that were asked have full queues',
  ERR_DISCONNECTED: 'the connection was lost',
}

/** What a request hears while it waits. @typedef {Why | 'called' | 'restored' | 'bytes' | 'again'} Event */

/** @param {Event} event @returns {Why} */
const whyOf = (event) => (event in TEXTS ? /** @type {Why} */ (event) : 'ERR_DISCONNECTED')

/** One request, until it settles. */
class Request {
  #core
  #inbox
  #subject
  /** null: not needed until now @type {ReturnType<typeof messages.outgoing> | null} */
  #outgoing
  /** for services of this host */
  #offer
  #options
  #endsAt
  /** bytes of `out` */
  #written
  /** subjects of replies, one for each attempt @type {string[]} */
  #replies = []
  /** ends the current wait @type {((why: Event) => void) | null} */
  #wake = null
  #isSettled = false
  /** messages that may have the bytes */
  #sent = 0
  /** @type {(value: Value) => void} */
  #resolve = () => {}
  /** @type {(error: unknown) => void} */
  #reject = () => {}
  #unfollow = () => {}
  #unlink = () => {}
  /** @param {Error} error */
  #failed = (error) => {
    if (this.#offer?.isBarred(error)) this.#wake?.('bytes')
    else this.#end(() => this.#reject(error), true)
  }

  /**
   * @param {Core} core
   * @param {string} subject
   * @param {Value} value
   * @param {ReturnType<typeof checkOptions>} options
   */
  constructor(core, subject, value, options) {
    this.#core = core
    this.#inbox = inboxOf(core)
    this.#subject = subject
    this.#options = options
    this.#endsAt = now() + options.deadline
    this.#written = options.out === undefined ? [] : storagesOf(options.out)
    this.#offer = host.offer(core, subject, value, options)
    try {
      this.#outgoing = this.#offer?.isEmpty ? null : messages.outgoing(value)
    } catch (error) {
      this.#offer?.release()
      this.#offer?.end()
      throw error
    }
  }

  /** @returns {Promise<Value>} */
  start() {
    const promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    for (const storage of this.#written) beginUse(storage, 1)
    this.#unlink = this.#core.link.follow({
      lost: () => this.#wake?.('ERR_DISCONNECTED'),
      restored: () => this.#wake?.('restored'),
      refused: (subject, error) => {
        if (subject !== this.#subject && subject !== this.#offer?.subject) return
        this.#failed(refused(`does not take ${subject}`, error))
      },
      closed: () => this.#failed(closed()),
    })
    if (this.#core.connection.isClosed()) this.#failed(closed())
    const { signal } = this.#options
    const abort = () => this.#end(() => this.#reject(signal?.reason), true)
    if (signal !== undefined) this.#unfollow = signal.follow(abort)
    if (this.#isSettled) this.#unfollow()
    this.#run().catch(this.#failed)
    return promise
  }

  // ---- Attempts ----

  async #run() {
    const { attempts, deadline } = this.#options
    let pause = FIRST_PAUSE_MS
    /** @type {Why} */
    let why = 'ERR_TIMEOUT'
    for (let sent = 0; !this.#isSettled && sent < attempts && this.#left > 0;) {
      if (!this.#core.isConnected()) {
        why = 'ERR_DISCONNECTED'
        if (attempts === 1) break
        await this.#wait(this.#left)
        continue
      }
      /** @type {string | undefined} */
      const replica = why === 'ERR_TIMEOUT' ? await this.#replica(sent > 0) : undefined
      if (this.#isSettled) return
      why = await this.#attempt(replica, this.#left / (attempts - sent))
      if (why === 'ERR_NO_RESPONDERS' && replica !== undefined) {
        why = 'ERR_TIMEOUT' // it ended: another one is asked at once
        continue
      }
      if (why === 'ERR_TIMEOUT' || why === 'ERR_BUSY_REMOTE') sent++
      if (attempts === 1 || sent === attempts) break
      if (why !== 'ERR_NO_RESPONDERS' && why !== 'ERR_BUSY_REMOTE') continue
      await this.#wait(Math.min(pause, this.#left))
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    }
    this.#end(
      () =>
        this.#reject(
          failure(
            why,
            `${this.#subject}: ${TEXTS[why]} (deadline: ${deadline} ms, attempts: ${attempts})`,
          ),
        ),
      true,
    )
  }

  /** Milliseconds. */
  get #left() {
    return this.#endsAt - now()
  }

  /**
   * Waits until something happens.
   *
   * @param {number} ms  after which it hears ERR_TIMEOUT
   * @returns {Promise<Event>}
   */
  #wait(ms) {
    if (this.#isSettled) return Promise.resolve('ERR_TIMEOUT')
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.#wake?.('ERR_TIMEOUT'),
        Math.min(Math.max(ms, 1), LONGEST_MS),
      )
      this.#wake = (why) => {
        this.#wake = null
        clearTimeout(timer)
        resolve(why)
      }
    })
  }

  /**
   * Sends the request. Earlier attempts may still be answered meanwhile.
   *
   * @param {string | undefined} replica  undefined: the server chooses
   * @param {number} ms
   * @returns {Promise<Why>} why no answer came; as it likes once the request has settled
   */
  async #attempt(replica, ms) {
    const until = now() + ms
    if (this.#offer?.isOpen && (replica === undefined || !this.#offer.fits)) {
      const why = await this.#attemptOnHost(this.#offer, until)
      if (why !== 'bytes') return why
    }
    this.#send(
      replica === undefined ? this.#subject : subjectOfReplica(this.#subject, replica),
      this.#open(),
    )
    const why = await this.#wait(until - now())
    if (replica !== undefined && (why === 'ERR_TIMEOUT' || why === 'ERR_NO_RESPONDERS')) {
      steeringOf(this.#core, this.#subject).forget(replica)
    }
    return whyOf(why)
  }

  /** @returns {string} subject of a new attempt's reply */
  #open() {
    const reply = this.#inbox.open((message) => this.#arrived(message, reply), this.#failed)
    this.#replies.push(reply)
    return reply
  }

  /**
   * The same by descriptor, to services of this host.
   *
   * @param {Offer} offer
   * @param {number} until
   * @returns {Promise<Why | 'bytes'>} 'bytes': nobody takes it
   */
  async #attemptOnHost(offer, until) {
    for (;;) {
      const reply = this.#open()
      this.#send(offer.subject, reply, {
        headers: offer.headersFor(reply),
        payload: offer.isEmpty ? NO_BYTES : this.#bytes().payload,
      })
      const why = await this.#wait(until - now())
      if (this.#isSettled) return 'ERR_TIMEOUT'
      if (why === 'again') continue
      if (why === 'bytes' || why === 'ERR_TIMEOUT') offer.close()
      return why === 'bytes' ? why : whyOf(why)
    }
  }

  /** What is sent as bytes. */
  #bytes() {
    return (this.#outgoing ??= /** @type {Offer} */ (this.#offer).outgoing())
  }

  /** @param {string} to @param {string} reply @param {{ headers: InstanceType<typeof import('./headers').HeaderBlock>, payload: Uint8Array }} [message] */
  #send(to, reply, { headers, payload } = this.#bytes()) {
    const { method } = this.#options
    this.#sent++
    headers.set('Tensor-Deadline', String(Math.max(1, Math.ceil(this.#left))))
    if (method !== undefined) headers.set('Tensor-Method', method)
    post(this.#core, to, reply, headers, payload)
    if (isStable(payload)) this.#core.link.flush().catch(() => {}) // hands it to the socket before anybody can transfer its buffer
  }

  /**
   * The replica to send to: after a timeout all are asked which of them answer, and it is the first that did.
   *
   * @param {boolean} isLate  an attempt has timed out
   * @returns {Promise<string | undefined>} undefined: let the server choose
   */
  async #replica(isLate) {
    const known = this.#core.steerings?.get(this.#subject)?.pick()
    if (known !== undefined || !isLate) return known
    let isAsking = true
    const reply = this.#inbox.open((message) => {
      try {
        const id = readHeaders(message).get('tensor-replica')
        if (id !== undefined && /^[\w-]{1,64}$/.test(id)) {
          steeringOf(this.#core, this.#subject).learn(id)
        }
      } catch {} // it says nothing that is understood
      if (isAsking) this.#wake?.('called')
    }, this.#failed)
    setTimeout(() => this.#inbox.close(reply), CALL_MS).unref()
    post(this.#core, callOf(this.#subject), reply, undefined)
    await this.#wait(Math.min(CALL_MS, this.#left))
    isAsking = false
    return this.#core.steerings?.get(this.#subject)?.pick()
  }

  // ---- What happens meanwhile ----

  /** @param {any} message @param {string} reply */
  #arrived(message, reply) {
    /** @param {Event} why  earlier attempts end no wait */
    const lost = (why) => {
      if (this.#replies.at(-1) === reply) this.#wake?.(why)
    }
    try {
      const headers = readHeaders(message)
      const code = headers.get('nats-service-error-code')
      const next = this.#offer?.heard(reply, headers) ?? null
      if (next !== null) lost(next)
      else if (headers.get(STATUS) === '503') lost('ERR_NO_RESPONDERS')
      else if (code === undefined) {
        this.#end(() => this.#resolve(this.#valueOf(headers, message.data, reply)), this.#sent > 1)
      } else if (code === '503') lost('ERR_BUSY_REMOTE')
      else if (headers.get('tensor-error') === 'ERR_TIMEOUT') lost('ERR_TIMEOUT')
      else {
        const remoteCode = headers.get('tensor-error') ?? code
        const text = headers.get('nats-service-error') ?? remoteCode
        const replica = headers.get('tensor-replica')
        const error = failure('ERR_REMOTE', `${this.#subject}: the service failed: ${text}`)
        this.#failed(Object.assign(error, { remoteCode, replica }))
      }
    } catch (error) {
      this.#failed(/** @type {Error} */ (error))
    }
  }

  /** What a reply gives. @param {Map<string, string>} headers @param {Uint8Array} data @param {string} reply */
  #valueOf(headers, data, reply) {
    const { out, returned } = this.#options
    const made =
      this.#offer?.result(reply, headers, data, out) ??
      messages.decodeParts(headers, data, { maxBytes: this.#core.maxBytes, out })
    return returned ?? made
  }

  /**
   * Ends the request: nothing waits, nothing is subscribed, nothing is written any more.
   *
   * @param {() => void} settle
   * @param {boolean} isUnsure  bytes may still be on their way to the server
   */
  #end(settle, isUnsure) {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#unfollow()
    this.#unlink()
    for (const reply of this.#replies) this.#inbox.close(reply)
    for (const storage of this.#written) endUse(storage, 1)
    const outgoing = this.#outgoing
    const isSending = isUnsure && outgoing !== null && outgoing.storage !== null
    if (isSending) {
      const end = () => {
        outgoing.release()
        this.#offer?.end()
      }
      this.#core.link.flush().then(end, end)
    } else outgoing?.release()
    this.#offer?.release()
    try {
      settle()
    } catch (error) {
      this.#reject(error)
    }
    if (!isSending) this.#offer?.end()
    this.#wake?.('ERR_TIMEOUT')
  }
}

/** @param {Value} value */
const storagesOf = (value) => tensorsOf(value).map((t) => Tensor.attachedOf(t).storage)

/** @param {string} name @param {unknown} value @param {number} least @returns {number} */
function milliseconds(name, value, least) {
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; milliseconds were expected`)
  }
  if (!(value >= least && value <= LONGEST_MS)) {
    throw failure(
      'ERR_BOUNDS',
      `${name} is ${value}; ${least} to ${LONGEST_MS} milliseconds were expected`,
    )
  }
  return value
}

/** @param {unknown} given  RequestOptions */
function checkOptions(given) {
  const {
    deadline = DEADLINE_MS,
    attempts = 1,
    out: returned,
    method,
    signal,
  } = optionsOf(given, OPTIONS, 'bus.request')
  const out = /** @type {Value | undefined} */ (ownValue(returned))
  milliseconds('deadline', deadline, 1)
  integerFrom('attempts', attempts, 1)
  if (out !== undefined && !isValue(out)) {
    throw failure(
      'ERR_ARGUMENT',
      `out is ${show(out)}; a tensor or a record of tensors was expected`,
    )
  }
  for (const t of tensorsOf(out ?? {})) {
    const layout = Tensor.attachedOf(t)
    if (t.isReadOnly) throw failure('ERR_READ_ONLY', 'out is read-only')
    if ((layout.storage.optional?.busy ?? 0) > 0) throw busy('tensor')
  }
  if (
    method !== undefined &&
    (typeof method !== 'string' || !/^[\x21-\x7e]{1,256}$/.test(method))
  ) {
    throw failure(
      'ERR_ARGUMENT',
      `method is ${show(method)}; a name of ASCII characters was expected`,
    )
  }
  return { deadline, attempts, out, returned, method, signal: signalOf(signal) }
}

/**
 * Sends a tensor or a record of tensors to a service, and resolves with its reply.
 *
 * @param {Core} core
 * @param {unknown} subject
 * @param {unknown} value
 * @param {unknown} given  RequestOptions
 * @returns {Promise<Value>}
 */
async function request(core, subject, value, given) {
  const to = subjectOf(subject)
  const own = ownValue(value)
  if (!isValue(own)) {
    throw failure(
      'ERR_ARGUMENT',
      `value is ${show(value)}; a tensor or a record of tensors was expected`,
    )
  }
  const options = checkOptions(given)
  for (const storage of storagesOf(own)) {
    if ((storage.optional?.written ?? 0) > 0) throw busy('source')
  }
  if (core.connection.isClosed()) throw closed()
  checkSignal(options.signal)
  return await new Request(core, to, own, options).start()
}

module.exports = { milliseconds, request }
