'use strict'
// Copies between typed arrays and contiguous layouts. Native memory is reached by its address: an ArrayBuffer over it would keep it, after the
// tensor is disposed, until this thread's next garbage collection.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { itemsizes } = require('../backend/dtypes')
const { readBytes } = require('../layout/data')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */

/**
 * @param {Layout} layout
 * @param {number} at  bytes from its first element
 * @param {number} nbytes
 * @returns {number} the address; 0: of memory that is no native one
 */
function addressIn ({ storage, offset, size, dtype }, at, nbytes) {
  if (backend.isWasm || storage.kind !== 'native') return 0
  const begin = offset * itemsizes[dtype] + at
  if (!(at >= 0 && at + nbytes <= size * itemsizes[dtype] && begin + nbytes <= storage.nbytes)) throw failure('ERR_BOUNDS', `bytes ${at} to ${at + nbytes} are outside the tensor`)
  ffi.checkIntact(storage)
  return backend.addressOf(storage) + begin
}

/** Writes bytes at a place of a layout. @param {Layout} layout @param {number} at  bytes from its first element @param {Uint8Array} bytes */
function copyIn (layout, at, bytes) {
  const address = addressIn(layout, at, bytes.length)
  if (address === 0) return readBytes(layout, at, bytes.length, place => { place.set(bytes) })
  const { addon } = /** @type {any} */ (backend)
  addon.move(address, addon.address(bytes), bytes.length)
  ffi.checkIntact(layout.storage)
}

/** Reads bytes from a place of a layout. @param {Layout} layout @param {number} at  bytes from its first element @param {Uint8Array} bytes  to be filled */
function copyOut (layout, at, bytes) {
  const address = addressIn(layout, at, bytes.length)
  if (address === 0) return readBytes(layout, at, bytes.length, place => { bytes.set(place) })
  const { addon } = /** @type {any} */ (backend)
  addon.move(addon.address(bytes), address, bytes.length)
  ffi.checkIntact(layout.storage)
}

module.exports = { copyIn, copyOut }
