'use strict'
// Which payloads nobody writes to until they are sent: the transport sends these where they lie, and packs all others as the client does.

const { isResizable, isSharedArrayBuffer } = require('../base/buffers')
const { fix } = require('../backend/pins')

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/** payloads, and the storages that they lie in; null: in a copy @type {WeakMap<Uint8Array, Storage | null>} */
const stable = new WeakMap()

/**
 * Promises that samebytes lets nobody write to a payload until the server has it.
 *
 * @param {Uint8Array} payload  the very object that the client is given
 * @param {Storage | null} storage  that it lies in; null: it is a copy, which nobody else has
 */
const markStable = (payload, storage) => stable.set(payload, storage)

/** @param {Uint8Array} payload */
const isStable = (payload) => stable.has(payload)

/**
 * Keeps a payload's memory where it is for as long as the system reads it: its buffer, if it is one of V8's, is not transferred any more.
 *
 * @param {Uint8Array} payload  stable
 * @returns {boolean} false: it may shrink, and has to be copied
 */
function stays(payload) {
  const storage = /** @type {Storage | null} */ (stable.get(payload))
  if (storage === null || storage.kind === 'native') return true
  if (!isSharedArrayBuffer(payload.buffer) && isResizable(payload.buffer)) return false
  fix(storage)
  return true
}

module.exports = { markStable, isStable, stays }
