'use strict'
// A layout's bytes as others see them: a typed array, an address.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { dtypes, itemsizes } = require('./dtypes')
const { isResizable } = require('./buffers')
const { isOnDevice } = require('./storage')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */

/**
 * A typed array for the caller.
 *
 * @param {Layout} layout
 */
function dataOf (layout) {
  const { storage } = layout
  const { Type, kind, itemsize } = dtypes[layout.dtype]
  ffi.checkAttached(storage)
  if (isOnDevice(storage)) throw failure('ERR_DEVICE', `the bytes are on cuda:${storage.extra?.device}, where JavaScript does not see them; cpu() copies them`)
  if (layout.size === 0) return new Type(0)
  ffi.checkIntact(storage)
  if (!ffi.isContiguous(layout)) throw notContiguous(layout)
  const buffer = backend.bufferOf(storage, ffi.check)
  const n = kind === 'COMPLEX' ? 2 * layout.size : layout.size
  let data
  try {
    data = new Type(buffer, storage.byteOffset + layout.offset * itemsize, n)
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `no typed array of ${n} elements can be made; narrow first (${/** @type {Error} */ (error).message})`)
  }
  if (storage.kind === 'wasm') backend.expose(data, storage)
  // What may shrink, or prove to be gone, is checked at each use.
  if ((storage.kind !== 'js' || !isResizable(buffer)) && !ffi.isGuarded(storage)) layout.data = data
  return data
}

/** @param {Layout} layout */
function notContiguous ({ shape, strides }) {
  return failure('ERR_SHAPE', `the tensor of shape [${shape.join(', ')}] and strides [${strides.join(', ')}] is not contiguous; contiguous() copies`)
}

/**
 * Are the bytes the caller's, where only linear memory has addresses?
 *
 * @param {Layout} layout
 */
function hasNoAddress ({ storage }) {
  return backend.isWasm && storage.kind !== 'wasm'
}

/**
 * Address of the first element, which will not move any more.
 *
 * @param {Layout} layout
 * @returns {bigint} 0n without elements
 */
function addressOf ({ storage, size, offset, dtype }) {
  if (size === 0) return 0n
  ffi.checkIntact(storage)
  backend.promote(storage)
  return BigInt(backend.addressOf(storage) + offset * itemsizes[dtype])
}

module.exports = { dataOf, hasNoAddress, addressOf }
