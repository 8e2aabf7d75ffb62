'use strict'
// A bus: tensors over a connection to NATS, which is the caller's.

const { failure } = require('../base/errors')
const { receiver } = require('../base/validate')

const KEY = Symbol('samebytes bus')

/** what a bus's method was called on @type {(it: any) => any} */
let own

/**
 * Tensors over a connection to NATS. Made by `tensors`.
 */
class TensorBus {
  #connection

  /** @param {symbol} key @param {any} connection @private */
  constructor (key, connection) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'buses are made by tensors()')
    this.#connection = connection
  }

  static { own = receiver('bus', it => #connection in it, 'tensors') }
}

/**
 * @param {any} connection  to NATS, of @nats-io/transport-node or of `transport.connect`
 * @param {{ maxBytes?: number, maxPending?: number }} [opts]
 * @returns {TensorBus}
 */
function tensors (connection, opts) {
  return new TensorBus(KEY, connection)
}

module.exports = { TensorBus, tensors }
