'use strict'
// A layout's bytes as others see them: a typed array, an address.

const { BigInt, Promise, Uint8Array, arrayJoin } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { dtypes, itemsizes } = require('../backend/dtypes')
const { isResizable } = require('../base/buffers')
const { isOnDevice } = require('../backend/storage')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

const MOST = 2 ** 32 - 1 // bytes that any runtime makes a typed array of

/**
 * A typed array for the caller.
 *
 * @param {Layout} layout
 */
function dataOf (layout) {
  const { storage, guardedData } = layout
  if (guardedData !== null && guardedData.length > 0) {
    ffi.checkIntact(storage)
    return guardedData
  }
  const { Type, kind, itemsize } = dtypes[layout.dtype]
  ffi.checkAttached(storage)
  if (isOnDevice(storage)) throw failure('ERR_DEVICE', `the bytes are on cuda:${storage.extra?.device}, where JavaScript does not see them; cpu() copies them`)
  if (layout.size === 0) return new Type(0)
  ffi.checkIntact(storage)
  if (!ffi.isContiguous(layout)) throw notContiguous(layout)
  const n = kind === 'COMPLEX' ? 2 * layout.size : layout.size
  if (storage.block !== null && layout.size * itemsize === storage.nbytes) {
    const data = backend.moveToHeap(storage, Type)
    if (data !== null) return (layout.data = data)
  }
  const { buffer, begin } = reach(storage, layout.offset * itemsize, layout.size * itemsize)
  let data
  try {
    data = new Type(buffer, begin, n)
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `no typed array of ${n} elements can be made; narrow first (${/** @type {Error} */ (error).message})`)
  }
  if (storage.kind === 'wasm') backend.expose(data, storage)
  // What may shrink, or prove to be gone, is checked at each use.
  if (ffi.isGuarded(storage)) layout.guardedData = data
  else if (storage.kind !== 'js' || !isResizable(buffer)) layout.data = data
  return data
}

/**
 * A buffer that has some bytes of a storage: that of them all, or one of their own, as Node 20 makes none over more than 4 GiB of C's memory.
 *
 * @param {Storage} storage
 * @param {number} at
 * @param {number} nbytes
 * @returns {{ buffer: ArrayBufferLike, begin: number }}
 */
function reach (storage, at, nbytes) {
  try {
    return { buffer: backend.bufferOf(storage, ffi.check), begin: storage.byteOffset + at }
  } catch (error) {
    if (storage.kind !== 'native' || storage.nbytes <= MOST || nbytes > MOST || !storage.extra?.handle) throw error
    const part = ffi.partOf(storage, at, nbytes)
    return { buffer: backend.bufferOf(part, ffi.check), begin: 0 }
  }
}

/**
 * What use makes of some bytes of a contiguous layout on the CPU, which may have more than a typed array: the one way in which
 * they are read here. Those of a guarded mapping may have become zeros meanwhile, so they are looked after when use is done,
 * also where that is later.
 *
 * @template R
 * @param {Layout} layout
 * @param {number} at
 * @param {number} nbytes
 * @param {(bytes: Uint8Array) => R} use  keeps nothing of them; may return a promise
 * @returns {R}
 * @throws ERR_IO the bytes are gone · ERR_DETACHED · what use throws
 */
function readBytes ({ storage, offset, dtype }, at, nbytes, use) {
  if (nbytes === 0) return use(new Uint8Array(0))
  ffi.checkAttached(storage)
  ffi.checkIntact(storage)
  const { buffer, begin } = reach(storage, offset * itemsizes[dtype] + at, nbytes)
  const result = use(new Uint8Array(/** @type {ArrayBuffer} */ (buffer), begin, nbytes))
  if (result instanceof Promise) return /** @type {any} */ (afterwards(storage, result))
  ffi.checkIntact(storage)
  return result
}

/**
 * @param {Storage} storage
 * @param {Promise<unknown>} pending
 */
async function afterwards (storage, pending) {
  const result = await pending
  ffi.checkIntact(storage)
  return result
}

/** @param {Layout} layout */
function notContiguous ({ shape, strides }) {
  return failure('ERR_SHAPE', `the tensor of shape [${arrayJoin(shape)}] and strides [${arrayJoin(strides)}] is not contiguous; contiguous() copies`)
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

module.exports = { dataOf, readBytes, hasNoAddress, addressOf }
