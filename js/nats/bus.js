'use strict'
// A bus: tensors over a connection to NATS, which is the caller's.

const { failure } = require('../base/errors')
const { receiver } = require('../base/validate')
const { openStore } = require('./store')

const KEY = Symbol('samebytes bus')

/** what a bus's method was called on @type {(it: any) => any} */
let own

/** @param {any} connection */
function coreOf (connection) {
  let isUp = true
  ;(async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') isUp = false
      if (type === 'reconnect') isUp = true
    }
  })()
  return { connection, isConnected: () => isUp && !connection.isClosed() }
}

/**
 * Tensors over a connection to NATS. Made by `tensors`.
 */
class TensorBus {
  #core

  /** @param {symbol} key @param {any} connection @private */
  constructor (key, connection) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'buses are made by tensors()')
    this.#core = coreOf(connection)
  }

  /**
   * Opens a bucket of the object store, or makes it.
   *
   * @param {string} name  letters, digits, _ and -
   * @param {import('./store').StoreOptions} [options]
   * @returns {Promise<import('./store').TensorStore>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_NOT_FOUND there is none, and create is false · ERR_NO_RESPONDERS the server has no JetStream ·
   * ERR_UNSUPPORTED @nats-io/jetstream is not installed · as rejections
   * @example
   * const names = async bus => (await (await bus.store('weights')).list()).map(({ name }) => name)
   */
  async store (name, options) {
    return openStore(own(this).#core, name, options)
  }

  static { own = receiver('bus', it => #core in it, 'tensors') }
}

/**
 * @param {any} connection  to NATS, of @nats-io/transport-node or of `transport.connect`
 * @param {{ maxBytes?: number, maxPending?: number }} [opts]
 * @returns {TensorBus}
 */
function tensors (connection, opts) {
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorBus(KEY, connection)
}

module.exports = { TensorBus, tensors }
