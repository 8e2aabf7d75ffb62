'use strict'
// Which payloads nobody writes to until they are sent: the transport sends these where they lie, and packs all others as the client does.

const { failure } = require('../base/errors')

/** @type {WeakSet<Uint8Array>} */
const stable = new WeakSet()

/**
 * Promises that a payload stays as it is until the server has it.
 *
 * @param {Uint8Array} payload  the very object that the client is given
 */
const markStable = payload => { stable.add(payload) }

/** @param {Uint8Array} payload */
const isStable = payload => stable.has(payload)

/**
 * A program may have transferred or shrunk the buffer of a payload that waited for its turn: the client would throw later, and never send again.
 *
 * @param {Uint8Array} payload
 * @throws ERR_DETACHED
 */
function checkThere (payload) {
  if (isStable(payload) && payload.length === 0) throw failure('ERR_DETACHED', 'the tensor\'s buffer was transferred away or shrunk before it was sent')
}

module.exports = { markStable, isStable, checkThere }
