/// <reference lib="esnext.disposable" preserve="true" />
'use strict'
// Functions of tensors and models as services: found, watched and counted through the client's service framework.

const { failure } = require('../base/errors')
const { integer, integerFrom, optionsOf, receiver, show } = require('../base/validate')
const { Module } = require('../model/module')
const { Tensor } = require('../tensor/tensor')
const host = require('./host')
const { closed } = require('./inbox')
const { newJob } = require('./jobs')
const { HeaderBlock, readHeaders } = require('./headers')
const { refused } = require('./link')
const { peer } = require('./peers')
const { callOf, subjectOfReplica } = require('./replicas')
const { refuse, post } = require('./replies')
const { milliseconds } = require('./request')
const { Runs } = require('./runs')
const { patternOf, takesAnswers } = require('./subjects')

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('./inbox').Core} Core */

/**
 * @typedef {object} ServeOptions
 * @property {string | undefined} [queue]  replicas with the same one share the requests; 'q' unless told
 * @property {{ max: number, wait?: number | undefined, axis?: number | undefined } | undefined} [batch]  requests whose tensors differ along the axis alone run together:
 *   at most max rows, after at most wait milliseconds (0 unless told) in an idle service, along axis (0 unless told); without it they run one by one
 * @property {number | undefined} [maxQueued]  requests that wait; more are refused as busy; 64 unless told
 * @property {number | undefined} [timeout]  milliseconds of a run, after which its callers get ERR_TIMEOUT; none unless told
 * @property {string | undefined} [name]  of letters, digits, - and _; of the subject unless told
 * @property {string | undefined} [version]  such as '1.0.0'
 */

/**
 * Counts since the service began. Times are of whole runs, in milliseconds.
 *
 * @typedef {object} ServiceStats
 * @property {number} requests  that came, refused ones among them
 * @property {number} errors  requests that were answered with a failure
 * @property {number} busy  requests that were refused because the queue was full
 * @property {number} expired  requests that were dropped because nobody waited any longer
 * @property {number} batches  runs
 * @property {number} rows  of all runs
 * @property {number} queued  requests that wait
 * @property {number} runTime  of all runs together
 * @property {string} lastError
 */

const OPTIONS = ['queue', 'batch', 'maxQueued', 'timeout', 'name', 'version']
const MAX_QUEUED = 64
const VERSION = '1.0.0'
const KEY = Symbol('samebytes service')
/** @type {typeof Symbol.asyncDispose} */
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

/** what a service's method was called on @type {(it: any) => TensorService} */
let own

/**
 * A function or a model that answers requests. Made by `bus.serve` and `serve`.
 *
 * @example
 * const copies = async bus => {
 *   const service = await bus.serve(x => x.clone(), 'copies', { batch: { max: 16 } })
 *   return () => service.drain()
 * }
 */
class TensorService {
  #core
  #subject
  #limits
  #runs
  /** of the client's framework @type {any} */
  #framework
  /** to this replica alone @type {any[]} */
  #subscriptions = []
  /** @type {Promise<void> | null} */
  #ending = null

  static {
    own = receiver('service', (it) => #core in it)
  }

  /**
   * @param {symbol} key
   * @param {Core} core
   * @param {string} subject
   * @param {import('./runs').Call} call
   * @param {ReturnType<typeof limitsOf>} limits
   * @private
   */
  constructor(key, core, subject, call, limits) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'services are made by bus.serve()')
    this.#core = core
    this.#subject = subject
    this.#limits = limits
    const whenSent = () => core.link.flush().catch(() => {})
    this.#runs = new Runs(call, { ...limits, maxBytes: core.maxPending }, whenSent)
  }

  /**
   * Starts a service; resolves when requests reach it.
   *
   * @param {Core} core
   * @param {string} subject
   * @param {import('./runs').Call} call
   * @param {ReturnType<typeof limitsOf>} limits
   * @returns {Promise<TensorService>}
   * @internal
   */
  static async start(core, subject, call, limits) {
    const service = new TensorService(KEY, core, subject, call, limits)
    const { connection } = core
    const { name, version, queue, isBatched, max, wait, axis } = limits
    if (connection.isClosed()) throw closed()
    const { Svcm } = peer('services')
    try {
      const metadata = isBatched ? { batch: JSON.stringify({ max, wait, axis }) } : {}
      const statsHandler = service.#report.bind(service)
      const config = { name, version, queue, metadata, statsHandler }
      service.#framework = await new Svcm(connection).add(config)
      service.#framework.stopped.then(() => service.#ended())
      const handler = service.#take.bind(service)
      service.#framework.addEndpoint('run', { subject, queue, handler })
      service.#subscribe(subjectOfReplica(subject, service.id), handler)
      const ofHost = host.subjectOfHost(subject)
      if (ofHost !== null) service.#subscribe(ofHost, handler, queue)
      service.#subscribe(callOf(subject), service.#tell.bind(service))
      await core.link.flush()
      if (service.#framework.isStopped) {
        // the server refused one of its subscriptions
        const cause = await service.#framework.stopped
        throw cause instanceof Error && !connection.isClosed()
          ? refused(`allows no service of ${subject}`, cause)
          : closed(cause)
      }
      return service
    } catch (error) {
      service.#framework?.stop().catch(() => {}) // else it would answer when the connection is back
      service.#ended()
      throw connection.isClosed() ? closed(error) : error
    }
  }

  /** @param {string} subject @param {(error: any, message: any) => void} callback @param {string} [queue] */
  #subscribe(subject, callback, queue) {
    this.#subscriptions.push(this.#core.connection.subscribe(subject, { queue, callback }))
  }

  // ---- Requests ----

  /** @param {any} error  the subscription is refused @param {any} message */
  #take(error, message) {
    if (error) return
    const { reply, data } = message
    if (!takesAnswers(reply ?? '')) return // nobody waits for an answer
    this.#runs.stats.requests++
    if (this.#runs.isFull) {
      this.#runs.stats.busy++
      return refuse(
        this.#core,
        reply,
        failure(
          'ERR_BUSY_REMOTE',
          `the replica's queue is full: ${this.#runs.queued} requests wait`,
        ),
        this.id,
      )
    }
    try {
      const headers = readHeaders(message)
      const exported = host.isExported(headers) ? host.accept(headers, this.#core) : null
      if (exported === null && host.isExported(headers)) {
        // the descriptor cannot be used
        this.#runs.stats.requests-- // it will come again
        return post(
          this.#core,
          reply,
          undefined,
          new HeaderBlock(host.pleaseSendBytes(), { 'Tensor-Replica': this.id }),
        )
      }
      const terms = { replica: this.id, axis: this.#limits.isBatched ? this.#limits.axis : null }
      this.#runs.add(newJob(this.#core, { headers, data, reply, exported }, terms))
    } catch (/** @type {any} */ reason) {
      this.#runs.failed(1, reason.message)
      refuse(this.#core, reply, reason, this.id)
    }
  }

  /** Answers who asks which replicas there are. @param {any} error  the subscription is refused @param {any} message */
  #tell(error, message) {
    if (error || this.#runs.isFull || this.#ending !== null) return
    const { reply } = message
    if (!takesAnswers(reply ?? '')) return
    try {
      post(this.#core, reply, undefined, new HeaderBlock({ 'Tensor-Replica': this.id }))
    } catch {} // the connection is closed
  }

  // ---- What it is ----

  /** Of this replica, in `$SRV.INFO`. @returns {string} @throws nothing */
  get id() {
    return own(this).#framework.info().id
  }

  /** @returns {string} @throws nothing */
  get name() {
    return own(this).#limits.name
  }

  /** @returns {string} @throws nothing */
  get subject() {
    return own(this).#subject
  }

  /** Does it take no more requests? @returns {boolean} @throws nothing */
  get isStopped() {
    return own(this).#ending !== null
  }

  /**
   * Counts, as in `$SRV.STATS`.
   *
   * @returns {ServiceStats} a copy
   * @throws nothing
   * @example
   * const perRun = service => service.stats().rows / service.stats().batches
   */
  stats() {
    const { stats, queued } = own(this).#runs
    return { ...stats, queued }
  }

  /** Puts true numbers in place of the framework's, which times the start of a run alone. @param {any} endpoint */
  async #report(endpoint) {
    const stats = this.stats()
    const { answered } = this.#runs
    const processing = Math.round(stats.runTime * 1e6)
    if (endpoint.stats) {
      Object.assign(endpoint.stats, {
        num_requests: stats.requests,
        num_errors: stats.errors,
        last_error: stats.lastError || undefined,
        processing_time: processing,
        average_processing_time: answered === 0 ? 0 : Math.round(processing / answered),
      })
    }
    return stats
  }

  // ---- Its end ----

  /**
   * Ends the service without loss: it takes no new requests, runs and answers those that it has, then leaves. A run that took longer than `timeout` is not
   * waited for.
   *
   * @returns {Promise<void>} the same promise each time
   * @throws nothing
   * @example
   * const end = service => service.drain()
   */
  drain() {
    const service = own(this)
    service.#ending ??= service.#drain()
    return service.#ending
  }

  async #drain() {
    const { connection } = this.#core
    const leaving = [this.#framework.stop()]
    if (!connection.isClosed()) {
      leaving.push(...this.#subscriptions.map((subscription) => subscription.drain()))
    }
    await Promise.allSettled(leaving)
    await this.#runs.drain()
    try {
      await connection.flush()
    } catch {} // the connection is lost, and the answers with it
  }

  /** The connection was closed, or the server allows no subscription. */
  #ended() {
    if (this.#ending !== null) return
    this.#ending = Promise.resolve()
    if (!this.#core.connection.isClosed()) {
      for (const subscription of this.#subscriptions) subscription.unsubscribe()
    }
    this.#runs.drop()
  }

  /** What `await using` calls: drain(). */
  async [ASYNC_DISPOSE]() {
    return own(this).drain()
  }
}

// ---- Arguments ----

/** @param {string} name @param {unknown} value */
function word(name, value) {
  if (typeof value === 'string' && /^[-\w]{1,128}$/.test(value)) return value
  throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; letters, digits, - and _ were expected`)
}

/** @param {string} subject @param {unknown} given */
function limitsOf(subject, given) {
  const {
    queue = 'q',
    batch,
    maxQueued = MAX_QUEUED,
    timeout,
    name = subject.replace(/[^-\w]+/g, '-'),
    version = VERSION,
  } = optionsOf(given, OPTIONS, 'bus.serve')
  const {
    max,
    wait = 0,
    axis = 0,
  } = batch === undefined ? { max: 1 } : optionsOf(batch, ['max', 'wait', 'axis'], 'batch')
  const limits = {
    isBatched: batch !== undefined,
    max: integerFrom('batch.max', max, 1),
    wait: milliseconds('batch.wait', wait, 0),
    axis: integer('batch.axis', axis),
    queue: word('queue', queue),
    maxQueued: integerFrom('maxQueued', maxQueued, 1),
    timeout: timeout === undefined ? Infinity : milliseconds('timeout', timeout, 1),
    name: word('name', name),
  }
  if (typeof version === 'string' && /^\d+\.\d+\.\d+(-[-.\w]+)?(\+[-.\w]+)?$/.test(version)) {
    return { ...limits, version }
  }
  throw failure('ERR_ARGUMENT', `version is ${show(version)}; one such as '1.0.0' was expected`)
}

/**
 * @param {any} target
 * @returns {import('./runs').Call}
 * @throws {TypeError} ERR_ARGUMENT neither a function nor a Module
 */
function callOfTarget(target) {
  if (typeof target === 'function') return (value, context) => target(value, context)
  if (!(target instanceof Module)) {
    throw failure(
      'ERR_ARGUMENT',
      `target is ${show(target)}; a function of tensors or a Module was expected`,
    )
  }
  return async (value, { method }) => {
    // a tensor is the only input; the only output comes back as a tensor, several by name. Records have both by name
    const isOne = Tensor.isTensor(value)
    const [input] = target.meta(method).inputs
    const results = await target.run(isOne ? { [input?.name]: value } : value, { method })
    const [first, ...others] = Object.values(results)
    return isOne && others.length === 0 ? first : results
  }
}

/**
 * Serves a function of tensors or a Module.
 *
 * @param {Core} core
 * @param {unknown} target
 * @param {unknown} subject
 * @param {unknown} given  ServeOptions
 * @returns {Promise<TensorService>}
 */
async function serve(core, target, subject, given) {
  const call = callOfTarget(target)
  const to = patternOf(subject)
  if (to.endsWith('>')) {
    throw failure(
      'ERR_ARGUMENT',
      `subject is ${show(to)}; one that does not end with > was expected, because replicas have subjects below it`,
    )
  }
  return await TensorService.start(core, to, call, limitsOf(to, given))
}

module.exports = { TensorService, serve }
