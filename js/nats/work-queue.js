'use strict'
// The queue of a durable service: a stream of JetStream, which keeps a request until a replica has answered it, and the consumer that all replicas share.

const { createHash } = require('node:crypto')
const { failure } = require('../base/errors')
const { now, exactTextOf } = require('../runtime/host')
const { STATUS, readHeaders } = require('./headers')
const { peer } = require('./peers')
const { isPassing, isRefusal, repeated, storeError } = require('./store-meta')

/** @typedef {import('./inbox').Core} Core */

const CONSUMER = 'replicas'
const MOST_COPIES = 3 // of a request, on as many servers
const MOST_MESSAGES = 4096 // that wait
const MOST_BYTES = 2 ** 28 // that wait; the server sets so much aside
const ACK_WAIT_MS = 2000 // after which a request goes to another replica, unless this one says that it goes on
const MOST_READERS = 4096 // replicas that ask for requests at a time
const API_MS = 2000 // for an answer of JetStream; a cluster that has just started does not answer
const OPEN_MS = 30000
const PROGRESS_MS = 500
const MOST_QUEUES = 1024 // that a bus remembers
const MOST_ACK = 2 ** 16 // bytes of an acknowledgement that are read

const NO_PEERS = new Set([10005, 10074]) // too few servers for so many copies
const NAME_IN_USE = 10058
const FULL = new Set([10023, 10047, 10077]) // no resources, no storage, most messages or bytes
const TOO_LARGE = 10054
const UNAVAILABLE = 10008

/**
 * How far the replicas are.
 *
 * @typedef {object} Progress
 * @property {boolean} isAway  nobody gives requests to replicas now: the consumer's server is gone, and no other has taken its place
 * @property {number} done  all requests up to this place are acknowledged
 * @property {number} last  no request after this place can be given to a replica now: the stream's server is gone
 */

/** @type {WeakMap<Core, Map<string, WorkQueue>>} */
const known = new WeakMap()

/** @param {Core} core @param {string} subject  of the service @returns {WorkQueue} */
function queueOf (core, subject) {
  let queues = known.get(core)
  if (queues === undefined) known.set(core, queues = new Map())
  let queue = queues.get(subject)
  if (queue === undefined) {
    if (queues.size >= MOST_QUEUES) queues.clear()
    queues.set(subject, queue = new WorkQueue(core, subject))
  }
  return queue
}

class WorkQueue {
  #core
  /** @type {Promise<any> | null} */
  #manager = null
  /** @type {Promise<void> | null} */
  #opening = null
  /** @type {Promise<Progress> | null} */
  #progress = null
  #askedAt = 0

  /** @param {Core} core @param {string} subject  of the service */
  constructor (core, subject) {
    this.#core = core
    /** to publish to */
    this.subject = `${subject}.queue`
    /** readable, and different for different subjects */
    this.stream = `tensors-${subject.replace(/[^-\w]+/g, '-').slice(0, 64)}-${createHash('sha256').update(subject).digest('base64url').slice(0, 8)}`
  }

  /**
   * Headers of a request.
   *
   * @param {string} reply  where its answer goes; a request that is sent again with the same one is kept once
   * @returns {[string, string][]}
   */
  fieldsFor (reply) {
    return [['Tensor-Reply', reply], ['Nats-Msg-Id', reply], ['Nats-Expected-Stream', this.stream]]
  }

  /** @returns {Promise<any>} the client's manager of streams and consumers */
  #managed () {
    return (this.#manager ??= peer('jetstream').jetstreamManager(this.#core.connection, { checkAPI: false, timeout: API_MS }))
  }

  /**
   * Makes the stream if there is none. One that somebody made or changed by other means keeps its limits.
   *
   * @returns {Promise<void>}
   * @throws ERR_NO_RESPONDERS the server has no JetStream, or does not allow it · ERR_EXISTS another stream has the name · ERR_TOO_LARGE no storage · ERR_TIMEOUT, ERR_DISCONNECTED, ERR_REMOTE
   */
  open () {
    return (this.#opening ??= this.#open().finally(() => { this.#opening = null }))
  }

  async #open () {
    try {
      await this.#ensureStream()
    } catch (/** @type {any} */ error) {
      if (!isRefusal(error)) throw storeError(error, `queue ${this.subject}`)
      throw Object.assign(failure('ERR_NO_RESPONDERS', `there is no queue ${this.subject}, and this user may not make one`), { cause: error })
    }
  }

  async #ensureStream () {
    const { streams } = await this.#managed()
    const { config: { retention, subjects } } = await found(() => streams.info(this.stream)) ?? await this.#make(streams)
    if (retention !== 'workqueue' || !subjects?.includes(this.subject)) throw failure('ERR_EXISTS', `the stream ${this.stream} is no work queue of ${this.subject}`)
  }

  /** @param {any} streams  the client's @param {number} [copies] @returns {Promise<any>} what the server says of it */
  async #make (streams, copies = MOST_COPIES) {
    try {
      return await streams.add({ name: this.stream, subjects: [this.subject], retention: 'workqueue', storage: 'file', discard: 'new', num_replicas: copies, max_msgs: MOST_MESSAGES, max_bytes: MOST_BYTES })
    } catch (/** @type {any} */ error) {
      if (copies > 1 && NO_PEERS.has(error?.code)) return this.#make(streams, copies - 1)
      if (error?.code === NAME_IN_USE) return streams.info(this.stream) // of somebody who was faster
      throw error
    }
  }

  /**
   * The consumer that gives requests to replicas; made, with the stream, if there is none.
   *
   * @returns {Promise<{ consumer: any, ackWait: number }>} the client's, and milliseconds that it waits for an acknowledgement
   * @throws as open; again and again first where JetStream does not answer yet
   */
  async consumer () {
    const info = await repeated({ core: this.#core, timeout: OPEN_MS }, `queue ${this.subject}`, () => this.ensureConsumer())
    return { consumer: peer('jetstream').jetstream(this.#core.connection).consumers.getConsumerFromInfo(info), ackWait: info.config.ack_wait / 1e6 }
  }

  /**
   * Makes the consumer, and the stream, if there is none.
   *
   * @returns {Promise<any>} what the server says of it
   * @throws the client's errors · as open
   */
  async ensureConsumer () {
    try {
      await this.#ensureStream()
      const { consumers } = await this.#managed()
      return await found(() => consumers.info(this.stream, CONSUMER)) ??
        await consumers.add(this.stream, { durable_name: CONSUMER, ack_policy: 'explicit', ack_wait: ACK_WAIT_MS * 1e6, max_deliver: -1, max_ack_pending: -1, max_waiting: MOST_READERS })
    } catch (/** @type {any} */ error) {
      throw error?.name === 'JetStreamNotEnabled' ? storeError(error, `queue ${this.subject}`) : error // which does not pass
    }
  }

  /** How far the replicas are; at most half a second old. @returns {Promise<Progress>} rejects never */
  progress () {
    if (this.#progress === null || now() - this.#askedAt > PROGRESS_MS) {
      this.#askedAt = now()
      this.#progress = this.#ask()
    }
    return this.#progress
  }

  /** @returns {Promise<Progress>} */
  async #ask () {
    try {
      const { consumers } = await this.#managed()
      const { ack_floor: { stream_seq: done }, delivered: { stream_seq: given }, num_pending: pending } = await consumers.info(this.stream, CONSUMER)
      return { isAway: false, done, last: pending === 0 ? given : Infinity }
    } catch (error) {
      return { isAway: isPassing(error), done: 0, last: Infinity } // without a consumer, or a permission to ask, the request waits
    }
  }
}

/**
 * @template R
 * @param {() => Promise<R>} info  of a stream or a consumer
 * @returns {Promise<R | undefined>} undefined: there is none
 */
async function found (info) {
  try {
    return await info()
  } catch (/** @type {any} */ error) {
    if (error?.name === 'StreamNotFoundError' || error?.name === 'ConsumerNotFoundError') return undefined
    throw error
  }
}

/**
 * A stream's answer to who published a request.
 *
 * @param {any} message
 * @returns {number} the request's place in the queue, from 1
 * @throws ERR_NO_RESPONDERS there is no such stream, or its server is gone · ERR_BUSY_REMOTE it is full · ERR_TOO_LARGE · ERR_REMOTE it refuses · ERR_FORMAT
 */
function placeOf (message) {
  if (readHeaders(message).get(STATUS) === '503') throw failure('ERR_NO_RESPONDERS', 'there is no queue')
  const { seq, error } = parsed(message.data)
  if (Number.isSafeInteger(seq) && seq > 0) return seq
  const { err_code: code, description } = error ?? {}
  if (code === UNAVAILABLE) throw failure('ERR_NO_RESPONDERS', 'the queue is away')
  if (FULL.has(code)) throw failure('ERR_BUSY_REMOTE', 'the queue is full')
  if (code === TOO_LARGE) throw failure('ERR_TOO_LARGE', 'the queue takes no request of this size')
  if (error === undefined) throw failure('ERR_FORMAT', 'what acknowledges a request is no acknowledgement')
  throw Object.assign(failure('ERR_REMOTE', `the queue does not take the request: ${description}`), { remoteCode: code, replica: undefined })
}

/** @param {Uint8Array} data @returns {any} an object */
function parsed (data) {
  try {
    const given = data.length <= MOST_ACK ? JSON.parse(exactTextOf(data) ?? '') : null
    if (given !== null && typeof given === 'object') return given
  } catch {}
  return {}
}

module.exports = { WorkQueue, queueOf, placeOf }
