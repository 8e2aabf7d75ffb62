'use strict'
// Which payloads nobody writes to until they are sent: the transport sends these where they lie, and packs all others as the client does.

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

module.exports = { markStable, isStable }
