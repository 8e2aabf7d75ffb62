'use strict'
// A replica's side of a work queue: takes as many requests as there is room for, says that it goes on with them, and acknowledges what it has answered.

const { failure } = require('../base/errors')
const { now } = require('../runtime/host')
const { readHeaders } = require('./headers')
const { MessageJob } = require('./jobs')
const { refuse } = require('./replies')
const { subjectOf, takesAnswers } = require('./subjects')

/** @typedef {import('./inbox').Core} Core */
/** @typedef {import('./batches').Value} Value */

const FETCH_MS = 1000 // that a demand for requests holds: a replica that is frozen gets none after it
const HEARTBEAT_MS = 500 // two that do not come end the demand
const PAUSE_MS = 100 // before the next demand, where nobody answers
const LOST_MS = 10000 // without an answer, after which stream and consumer are made again, if they are not there
const FULL_MS = 100 // before a request is given to somebody else
const MOST_DELIVERIES = 64 // of one request: it may be what ends replicas

/** Settles a message; the connection may be gone: then it is given to another replica. @param {() => void} settle */
function quietly (settle) {
  try {
    settle()
  } catch {}
}

/** A request of a queue. */
class QueuedJob extends MessageJob {
  #message
  #reader

  /**
   * @param {Core} core
   * @param {any} message  of JetStream
   * @param {Map<string, string>} headers
   * @param {Pick<Service, 'replica' | 'axis'>} terms
   * @param {QueueReader} reader
   * @throws as MessageJob
   */
  constructor (core, message, headers, terms, reader) {
    super(core, { headers, data: message.data, reply: replyOf(headers) }, { replica: terms.replica, axis: terms.axis, settled: () => this.#end(() => message.ack()) })
    this.#message = message
    this.#reader = reader
    this.expiresAt -= Math.max(0, Date.now() - message.info.timestampNanos / 1e6)
    reader.held.add(this)
  }

  /** @override @returns {Value} */
  read () {
    this.#reader.changed()
    return super.read()
  }

  /** @override @param {Value} out @returns {Value} */
  readInto (out) {
    this.#reader.changed()
    return super.readInto(out)
  }

  /** @override @param {any} error */
  fail (error) {
    if (error?.code === 'ERR_BUSY_REMOTE' || error?.code === 'ERR_DISCONNECTED') this.#end(() => this.#message.nak(FULL_MS))
    else super.fail(error)
  }

  /** @override */
  expire () {
    const isExpired = this.expiresAt <= now()
    this.#end(() => isExpired ? this.#message.term() : this.#message.nak())
  }

  /** Keeps the request from being given to another replica. */
  goesOn () { quietly(() => this.#message.working()) }

  /** @param {() => void} settle */
  #end (settle) {
    quietly(settle)
    this.#reader.held.delete(this)
    this.#reader.changed()
  }
}

/** @param {Map<string, string>} headers @returns {string} where the answer goes */
function replyOf (headers) {
  const reply = subjectOf(headers.get('tensor-reply'), 'Tensor-Reply')
  if (!takesAnswers(reply)) throw failure('ERR_FORMAT', `the header Tensor-Reply is ${reply}, which is the server's`)
  return reply
}

/**
 * What a reader needs of its service.
 *
 * @typedef {object} Service
 * @property {string} replica  its id
 * @property {number | null} axis  of batches
 * @property {() => number} room  requests that it wants
 * @property {() => boolean} isFull  does it take no more?
 * @property {(job: QueuedJob) => void} add
 * @property {(error: unknown) => void} failed  a request that could not be read
 */

class QueueReader {
  #core
  #queue
  #service
  #consumer
  /** when a demand was answered last, in milliseconds of `now` */
  #answeredAt = now()
  #isEnding = false
  /** of the demand that holds @type {any} */
  #messages = null
  /** rejects never @type {Promise<void>} */
  #reading
  /** @type {(() => void) | null} */
  #wake = null
  #timer
  /** requests that wait or run here @type {Set<QueuedJob>} */
  held = new Set()

  /**
   * Reads from now on.
   *
   * @param {Core} core
   * @param {import('./work-queue').WorkQueue} queue
   * @param {{ consumer: any, ackWait: number }} consumer  of the queue
   * @param {Service} service
   */
  constructor (core, queue, { consumer, ackWait }, service) {
    this.#core = core
    this.#queue = queue
    this.#service = service
    this.#consumer = consumer
    this.#timer = setInterval(() => { for (const job of this.held) job.goesOn() }, ackWait / 4).unref()
    this.#reading = this.#read()
  }

  async #read () {
    while (!this.#isEnding && !this.#core.connection.isClosed()) {
      const room = this.#service.room()
      if (room > 0) await this.#fetch(room)
      else await new Promise(resolve => { this.#wake = () => resolve(undefined) })
    }
  }

  /** There may be room. */
  changed () {
    this.#wake?.()
    this.#wake = null
  }

  /** @param {number} count */
  async #fetch (count) {
    try {
      this.#messages = await this.#consumer.fetch({ max_messages: count, expires: FETCH_MS, idle_heartbeat: HEARTBEAT_MS, bind: true })
      for await (const message of this.#messages) this.#take(message)
      this.#answeredAt = now()
    } catch { // nobody gives requests now
      await new Promise(resolve => { setTimeout(resolve, PAUSE_MS) })
      if (now() - this.#answeredAt > LOST_MS && this.#core.isConnected()) await this.#openAgain()
    }
  }

  async #openAgain () {
    this.#answeredAt = now()
    try {
      await this.#queue.ensureConsumer()
    } catch {} // the same again later
  }

  /** @param {any} message  of JetStream */
  #take (message) {
    if (this.#isEnding) return quietly(() => message.nak())
    if (this.#service.isFull()) return quietly(() => message.nak(FULL_MS))
    let headers
    try {
      headers = readHeaders(message)
      if (message.info.deliveryCount > MOST_DELIVERIES) throw failure('ERR_REMOTE', `${MOST_DELIVERIES} replicas have got the request, and none has answered it`)
      this.#service.add(new QueuedJob(this.#core, message, headers, this.#service, this))
    } catch (error) {
      this.#refuse(message, headers, error)
    }
  }

  /** Tells of a request that can never be run. @param {any} message @param {Map<string, string> | undefined} headers @param {unknown} error */
  #refuse (message, headers, error) {
    this.#service.failed(error)
    quietly(() => {
      if (headers !== undefined) refuse(this.#core, replyOf(headers), error, this.#service.replica)
    })
    quietly(() => message.term())
  }

  /** Takes no more; resolves when nothing is on its way any more. */
  async stop () {
    this.#isEnding = true
    this.changed()
    const late = setTimeout(() => this.#messages?.stop(), 2 * FETCH_MS) // the connection is lost
    await this.#reading
    clearTimeout(late)
  }

  /** Lets go of what it still holds, after `stop`. */
  end () {
    this.#isEnding = true
    this.changed()
    clearInterval(this.#timer)
  }
}

module.exports = { QueueReader }
