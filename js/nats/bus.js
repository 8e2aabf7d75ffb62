'use strict'
// A bus: tensors over a connection to NATS, which is the caller's.

const { randomBytes } = require('node:crypto')
const { failure } = require('../base/errors')
const { show, receiver, integerFrom, optionsOf } = require('../base/validate')
const { linkOf } = require('./link')
const { publish } = require('./publish')
const { request } = require('./request')
const { serve } = require('./serve')
const { openStore } = require('./store')
const { subjectOf, patternOf } = require('./subjects')
const { subscribe } = require('./subscription')
const { statsOf } = require('./transport')

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('../tensor/tensor').Tensor} AnyTensor */

/**
 * How a bus's connection sends and receives.
 *
 * @typedef {object} BusStats
 * @property {'in-place' | 'client'} transport  'in-place': that of `transport.connect`, without copies of large messages. 'client': the client's own,
 *   which copies; over TLS, over WebSockets, of the client's own `connect`, and with a version later than 3.4
 * @property {string | undefined} clientVersion  of the client, such as '3.4.0'; undefined: it does not tell
 */

/**
 * What the parts of a bus are given of it.
 *
 * @typedef {object} Core
 * @property {any} connection  the caller's
 * @property {import('./link').Link} link
 * @property {number} maxBytes  of a message that is received
 * @property {number} maxPending  bytes that the queue of a subscription holds
 * @property {string} id  of the publisher
 * @property {Map<string, number>} seqs  counts of what was published, by subject
 * @property {() => boolean} isConnected
 * @property {import('./inbox').Inbox} [inbox]  made when it is first needed, as these are:
 * @property {Map<string, import('./replicas').Steering>} [steerings]  by subject
 * @property {import('./host').State} [host]
 */

const KEY = Symbol('samebytes bus')
const MAX_BYTES = 2 ** 23
const MAX_PENDING = 2 ** 26
const METHODS = /** @type {const} */ ([
  'publish',
  'subscribe',
  'request',
  'flush',
  'status',
  'isClosed',
])

/** buses that were made @type {Set<WeakRef<TensorBus>>} */
const made = new Set()

/** what a bus's method was called on @type {(it: any) => TensorBus} */
let own

/**
 * Tensors over a connection to NATS. Made by `tensors`.
 */
class TensorBus {
  #core

  /** @param {symbol} key @param {Core} core @private */
  constructor(key, core) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'buses are made by tensors()')
    this.#core = core
  }

  static {
    own = receiver('bus', (it) => #core in it, 'bus')
  }

  /** The connection that it was made of. @returns {any} */
  get connection() {
    return own(this).#core.connection
  }
  /** Is the connection up, as far as is known? @returns {boolean} */
  get isConnected() {
    return own(this).#core.isConnected()
  }

  /**
   * Publishes a tensor, or a record of tensors by name, to all that subscribe to the subject. Settles when the server has it, or, with `stream`, when JetStream has
   * acknowledged it. Fewer than 64 KiB are copied before the call returns. More are sent in place: the tensor is busy until the promise settles (after an
   * abort until the bytes are sent), and what is written through `data` meanwhile may or may not be sent. Tensors that are not contiguous, and records, are sent with one copy.
   *
   * @param {string} subject  without wildcards
   * @param {Value} value  on the CPU
   * @param {import('./publish').PublishOptions} [options]
   * @returns {Promise<void>}
   * @throws ERR_DISCONNECTED not connected, nothing was sent; or the connection was lost meanwhile · ERR_TOO_LARGE for the server's max_payload, nothing was sent · ERR_REMOTE the
   *   server or the stream refused it · ERR_NO_RESPONDERS no stream takes it · ERR_TIMEOUT no stream acknowledged it · {TypeError} ERR_ARGUMENT, ERR_DTYPE · ERR_DEVICE ·
   *   ERR_BUSY something writes it · ERR_DISPOSED, ERR_DETACHED · the signal's reason; each as a rejection
   * @example
   * const send = (bus, frame) => bus.publish('cam.1', frame)
   */
  async publish(subject, value, options) {
    return publish(own(this).#core, subjectOf(subject), value, options)
  }

  /**
   * Receives what is published to a subject, from this call on: an async iterator. What waits is bounded in bytes. Messages that are no tensors go to `onError`, and count as lost.
   *
   * @template {Value} [T=AnyTensor]  what is published: a tensor, or a record of tensors
   * @param {string} subject  may have wildcards: 'cam.*', 'cam.>'
   * @param {import('./subscription').SubscribeOptions<T>} [options]
   * @returns {import('./subscription').TensorSubscription<T>} of { tensor, subject, lost, seq, headers, reply }; `tensors` in place of `tensor` for records
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_DISCONNECTED the connection is closed · the signal's reason
   * @example
   * const watch = async (bus, show) => {
   *   for await (const { tensor, lost } of bus.subscribe('cam.*')) show(tensor, lost)
   * }
   */
  subscribe(subject, options) {
    return subscribe(own(this).#core, patternOf(subject), options)
  }

  /**
   * Sends a tensor, or a record of tensors by name, to one replica of a service, and resolves with its answer. With several attempts a request that was lost is sent
   * again, to another replica where one does not answer. Fewer than 64 KiB are copied before the call returns; more are sent in place, the tensor busy until the call
   * settles (where it fails, until the bytes are sent). To services on this host they go through shared memory.
   *
   * @template {Value} [R=AnyTensor]  what the service answers: a tensor, or a record of tensors; that of `out`
   * @param {string} subject  without wildcards
   * @param {Value} value  on the CPU
   * @param {import('./request').RequestOptions<R>} [options]
   * @returns {Promise<R>} a tensor or a record; `out` if it was given
   * @throws ERR_NO_RESPONDERS · ERR_TIMEOUT no answer came within the deadline · ERR_BUSY_REMOTE · ERR_DISCONNECTED · ERR_REMOTE the service failed: with remoteCode and replica · ERR_TOO_LARGE · ERR_FORMAT no
   *   tensor came back · {TypeError} ERR_ARGUMENT, ERR_DTYPE of out · {RangeError} ERR_BOUNDS, ERR_SHAPE of out · ERR_BUSY · ERR_READ_ONLY, ERR_DISPOSED, ERR_DETACHED ·
   *   ERR_DEVICE · the signal's reason; each as a rejection, and `out` is as before
   * @example
   * const classify = (bus, image) => bus.request('models.vit', image, { deadline: 2000, attempts: 4 })
   */
  async request(subject, value, options) {
    return /** @type {any} */ (request(own(this).#core, subject, value, options))
  }

  /**
   * Answers requests: by a function of tensors, or by a Module, whose methods callers choose. The function gets a tensor or a record, and returns one, or a promise
   * of it. It may keep what it returned, and write to it in the next call; what it was given is disposed when the answer was sent, and views of it
   * must not be kept: on one host it may lie in the caller's memory, and is read-only then. One call runs at a time.
   *
   * @template {Value} [T=AnyTensor]  what is asked: a tensor, or a record of tensors
   * @template {Value} [R=Value]  what is answered
   * @param {((value: T, context: { method: string | undefined }) => R | Promise<R>) | import('../model/module').Module} target
   * @param {string} subject  may have wildcards *
   * @param {import('./serve').ServeOptions} [options]
   * @returns {Promise<import('./serve').TensorService>} when requests reach it
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_DISCONNECTED · ERR_UNSUPPORTED without the package `@nats-io/services` ·
   *   ERR_REMOTE the server does not allow it: remoteCode is 'PERMISSIONS_VIOLATION'; each as a rejection
   * @example
   * const copies = bus => bus.serve(x => x.clone(), 'copies', { batch: { max: 16, wait: 2 } })
   */
  async serve(target, subject, options) {
    return serve(own(this).#core, target, subject, options)
  }

  /**
   * Opens a bucket of the object store, or makes it. Its objects are whole .npy, .npz and .safetensors files.
   *
   * @param {string} name  letters, digits, _ and -
   * @param {import('./store').StoreOptions} [options]
   * @returns {Promise<import('./store').TensorStore>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_NOT_FOUND there is none, and create is false · ERR_NO_RESPONDERS the server has no JetStream ·
   *   ERR_DISCONNECTED, ERR_TIMEOUT, ERR_REMOTE · ERR_UNSUPPORTED the package `@nats-io/jetstream` is not installed · as rejections
   * @example
   * const namesIn = async bus => (await (await bus.store('weights')).list()).map(({ name }) => name)
   */
  async store(name, options) {
    return openStore(own(this).#core, name, options)
  }

  /**
   * Which transport runs, and the version of the client. Both may change when the connection is made again: a server may ask for TLS then.
   *
   * @returns {BusStats} a copy
   * @throws nothing
   * @example
   * const isInPlace = bus => bus.stats().transport === 'in-place'
   */
  stats() {
    return statsOf(own(this).#core.connection)
  }

  /** @param {TensorBus} bus @returns {Core} @internal */
  static coreOf(bus) {
    return own(bus).#core
  }
}

/**
 * Tensors over a connection, which stays the caller's to close.
 *
 * @param {any} connection  to NATS, of the package `@nats-io/transport-node` or of `transport.connect`
 * @param {{ maxBytes?: number | undefined, maxPending?: number | undefined }} [opts]  maxBytes: of a message that is received; 8 MiB, or the server's max_payload if that is more. maxPending: bytes that
 *   the queue of a subscription may hold; 64 MiB unless told
 * @returns {TensorBus}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS
 * @example
 * const busOf = async connect => tensors(await connect({ servers: 'localhost' }))
 */
function tensors(connection, opts) {
  if (
    connection === null ||
    typeof connection !== 'object' ||
    METHODS.some((name) => typeof connection[name] !== 'function')
  ) {
    throw failure(
      'ERR_ARGUMENT',
      `connection is ${show(connection)}; a connection of @nats-io/transport-node was expected`,
    )
  }
  const {
    maxBytes = Math.max(MAX_BYTES, connection.info?.max_payload ?? 0),
    maxPending = MAX_PENDING,
  } = optionsOf(opts, ['maxBytes', 'maxPending'], 'tensors')
  const link = linkOf(connection)
  const bus = new /** @type {any} */ (TensorBus)(KEY, {
    connection,
    link,
    maxBytes: integerFrom('maxBytes', maxBytes, 1),
    maxPending: integerFrom('maxPending', maxPending, 1),
    id: randomBytes(9).toString('base64url'),
    seqs: new Map(),
    isConnected: () => link.isConnected && !connection.isClosed(),
    inbox: undefined, // made when they are asked for, as are those below: own fields, whatever Object.prototype has
    host: undefined,
    steerings: undefined,
  })
  for (const each of made) if (each.deref() === undefined) made.delete(each)
  made.add(new WeakRef(bus))
  return bus
}

/**
 * Answers requests, as `bus.serve`: on the bus that options name, else on the only one that there is.
 *
 * @template {Value} [T=AnyTensor]  what is asked: a tensor, or a record of tensors
 * @template {Value} [R=Value]  what is answered
 * @param {((value: T, context: { method: string | undefined }) => R | Promise<R>) | import('../model/module').Module} target
 * @param {string} subject
 * @param {import('./serve').ServeOptions & { bus?: TensorBus | undefined }} [options]
 * @returns {Promise<import('./serve').TensorService>} as bus.serve
 * @throws as bus.serve
 * @example
 * const copies = bus => serve(x => x.clone(), 'copies', { bus })
 */
async function serveOn(target, subject, options) {
  const { bus, ...others } = optionsOf(options)
  if (bus !== undefined) return serve(TensorBus.coreOf(bus), target, subject, others)
  const all = [...made]
    .flatMap((each) => each.deref() ?? [])
    .filter((each) => !each.connection.isClosed())
  if (all.length !== 1) {
    throw failure(
      'ERR_ARGUMENT',
      `there are ${all.length} buses with a connection; options with bus were expected, or bus.serve()`,
    )
  }
  return serve(TensorBus.coreOf(all[0]), target, subject, others)
}

module.exports = { TensorBus, tensors, serve: serveOn }
