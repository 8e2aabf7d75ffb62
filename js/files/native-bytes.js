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
 * @param {Uint8Array} bytes
 * @param {boolean} writes  the layout's bytes; else the given ones
 */
function move(layout, at, bytes, writes) {
  const { storage, offset, size, dtype } = layout
  const nbytes = bytes.length
  let address = 0
  if (!backend.isWasm && storage.kind === 'native') {
    const begin = offset * itemsizes[dtype] + at
    if (!(at >= 0 && at + nbytes <= size * itemsizes[dtype] && begin + nbytes <= storage.nbytes)) {
      throw failure('ERR_BOUNDS', `bytes ${at} to ${at + nbytes} are outside the tensor`)
    }
    ffi.checkIntact(storage)
    address = backend.addressOf(storage) + begin
  }
  if (address === 0) {
    return readBytes(layout, at, nbytes, (own) => (writes ? own.set(bytes) : bytes.set(own)))
  }
  const { addon } = /** @type {any} */ (backend)
  if (writes) addon.move(address, addon.address(bytes), nbytes)
  else addon.move(addon.address(bytes), address, nbytes)
  ffi.checkIntact(storage)
}

/** Writes bytes into a layout. @param {Layout} layout @param {number} at  bytes from its first element @param {Uint8Array} bytes */
const copyIn = (layout, at, bytes) => move(layout, at, bytes, true)

/** Reads bytes from a layout. @param {Layout} layout @param {number} at  bytes from its first element @param {Uint8Array} bytes  to be filled */
const copyOut = (layout, at, bytes) => move(layout, at, bytes, false)

module.exports = { copyIn, copyOut }
