'use strict'
// fromBlob: tensors over bytes that somebody else made. Never copies.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, boolean, integer, integers, shapeOf, optionsOf, isOptions } = require('./validate')
const { dtypeOfArray, dtypeOfType, isArrayBuffer, isSharedArrayBuffer, isGone, partsOfArray, partsOfView, byteLengthOf } = require('./buffers')
const { byName, dtypeOf } = require('./dtypes')
const { denseLayout, dynamismOf } = require('./layouts')
const { wrap } = require('./tensor')

const { backend, Layout, READ_ONLY, CONTIGUOUS } = ffi

/**
 * @typedef {object} BlobOptions
 * @property {string} [dtype]  needed for buffers, DataViews and addresses; reinterprets Uint8Arrays
 * @property {number[]} [strides]  elements; any that stay inside
 * @property {number[]} [dimOrder]  axes from outermost to innermost in memory
 * @property {number} [offset]  elements from the source's first byte
 * @property {number} [nbytes]  of an address: lets the extent be checked
 * @property {unknown} [owner]  kept as long as the bytes are in use
 * @property {(address: bigint) => void} [deleter]  called once, on a later turn, when nobody uses the bytes
 * @property {boolean} [borrowed]  the caller vouches for an address
 * @property {boolean} [transfer]  takes the caller's ArrayBuffer over
 * @property {boolean} [readOnly]
 * @property {'static' | 'bounded' | 'unbound'} [dynamism]  'unbound' cannot grow beyond the blob either
 * @property {string} [device]  'cpu'
 */

/**
 * The bytes of a source, before anything is made of them.
 *
 * @param {any} source
 * @param {Record<string, any>} options
 * @returns {{ buffer: ArrayBufferLike, byteOffset: number, nbytes: number, dtype: string | undefined }}
 */
function bytesOfSource (source, options) {
  const arrayType = dtypeOfArray(source)
  let buffer = source
  let byteOffset = 0
  let nbytes
  let dtype
  if (arrayType !== undefined) {
    // Pairs for complex and bits for short floats are what those dtypes' own typed arrays hold.
    if (options.dtype !== undefined && arrayType !== 'uint8' && dtypeOfType(dtypeOf(options.dtype).Type) !== arrayType) {
      throw failure('ERR_DTYPE', `the source is of ${arrayType}, dtype is ${options.dtype}; view(dtype) reads bytes as another dtype`)
    }
    ({ buffer, byteOffset, byteLength: nbytes } = partsOfArray(source))
    dtype = arrayType
  } else if (ArrayBuffer.isView(source)) { // DataView
    ({ buffer, byteOffset, byteLength: nbytes } = partsOfView(source))
  } else if (isArrayBuffer(source) || isSharedArrayBuffer(source)) {
    nbytes = byteLengthOf(source)
  } else {
    throw failure('ERR_ARGUMENT', `source is ${show(source)}; a typed array, ArrayBuffer, SharedArrayBuffer, DataView or address was expected`)
  }
  if (nbytes === 0 && isGone(buffer)) throw failure('ERR_DETACHED', 'the source was transferred away')
  return { buffer, byteOffset, nbytes, dtype }
}

/**
 * Detaches the caller's buffer; the bytes go on in a new one.
 *
 * @param {ArrayBufferLike} buffer
 * @returns {ArrayBuffer}
 */
function takeOver (buffer) {
  if (!isArrayBuffer(buffer)) throw failure('ERR_ARGUMENT', 'transfer takes an ArrayBuffer over; a SharedArrayBuffer has no single holder')
  const length = byteLengthOf(buffer)
  let taken
  try {
    taken = structuredClone(buffer, { transfer: [buffer] })
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `the buffer cannot be transferred: ${/** @type {Error} */ (error).message}`)
  }
  if (length > 0 && byteLengthOf(buffer) !== 0) throw failure('ERR_UNSUPPORTED', 'the buffer cannot be transferred; it stays with its holder')
  return taken
}

/**
 * @param {number | bigint} source
 * @returns {number}
 */
function addressOf (source) {
  const address = Number(source)
  if (!Number.isSafeInteger(address) || address < 0) {
    throw failure('ERR_ARGUMENT', `the address is ${show(source)}; a bigint or safe integer, not negative, was expected`)
  }
  return address
}

/**
 * A tensor over the source's own bytes; both see each other's writes. The source is kept alive, and so
 * is owner. It may be longer than needed; with the shape omitted, 1-D over the whole of it.
 *
 * @param {ArrayBufferView | ArrayBufferLike | number | bigint} source  an address needs owner, deleter or borrowed
 * @param {import('./tensor').Shape | BlobOptions | string | null} [shape]
 * @param {BlobOptions | string} [opts]
 * @returns {import('./tensor').Tensor}
 * @throws {RangeError} ERR_BOUNDS the layout leaves the source, ERR_ALIGNMENT (fromBytes copies) · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED · ERR_UNSUPPORTED addresses in WASM
 * @example
 * const samples = new Float32Array(6)
 * fromBlob(samples, [2, 3]).set(1, 0, 0) // samples[0] is 1 now
 */
function fromBlob (source, shape, opts) {
  if (opts === undefined && (shape === undefined || Array.isArray(shape))) {
    const dtype = dtypeOfArray(source)
    if (dtype !== undefined) return overArray(/** @type {any} */ (source), byName.get(dtype), shape)
  }
  if (opts === undefined && shape !== undefined && shape !== null && isOptions(shape)) {
    opts = /** @type {BlobOptions} */ (shape)
    shape = undefined
  }
  // All that is user code runs here, before any buffer is looked at.
  const { dtype, strides, dimOrder, offset, nbytes, owner, deleter, borrowed, transfer, readOnly, dynamism, device } = optionsOf(opts)
  const given = {
    dtype,
    transfer: boolean('transfer', transfer),
    owner,
    deleter,
    borrowed: boolean('borrowed', borrowed),
    flags: (boolean('readOnly', readOnly) ? READ_ONLY : 0) | dynamismOf(dynamism),
    nbytes: nbytes === undefined ? undefined : integer('nbytes', nbytes),
    strides: strides === undefined ? null : integers('strides', strides),
    dimOrder: dimOrder === undefined ? null : integers('dimOrder', dimOrder, 'ERR_SHAPE'),
    offset: offset === undefined ? 0 : integer('offset', offset),
    shape: shape === undefined || shape === null ? null : shapeOf(shape)
  }
  if (dtype !== undefined) dtypeOf(dtype)
  if (device !== undefined && device !== 'cpu') throw failure('ERR_DEVICE', `device is ${show(device)}; 'cpu' is there`)
  if (deleter !== undefined && typeof deleter !== 'function') throw failure('ERR_ARGUMENT', `deleter is ${show(deleter)}; a function was expected`)
  const layout = typeof source === 'bigint' || typeof source === 'number' || source === null
    ? overAddress(source ?? 0, given)
    : overBuffer(source, given)
  layout.flags |= given.flags
  return wrap(layout)
}

/**
 * The plain case: a typed array as it is, row-major from its first element.
 *
 * @param {any} array
 * @param {any} dtype
 * @param {number[] | undefined} shape
 * @returns {import('./tensor').Tensor}
 */
function overArray (array, dtype, shape) {
  if (shape !== undefined) shape = denseLayout(dtype.index, shape).shape // user code in getters runs here
  const { buffer, byteOffset, byteLength, length } = partsOfArray(array)
  if (byteLength === 0 && isGone(buffer)) throw failure('ERR_DETACHED', 'the source was transferred away')
  const { shape: extents, strides, size } = denseLayout(dtype.index, shape === undefined ? [length] : shape)
  if (size > length) throw failure('ERR_BOUNDS', `shape [${extents.join(', ')}] needs ${size} elements; the source has ${length} of ${dtype.name}`)
  const storage = backend.adopt(buffer, byteOffset, byteLength, array)
  storage.owner = array
  return wrap(new Layout(storage, dtype.index, extents, strides, 0, size, CONTIGUOUS))
}

/**
 * @param {any} source
 * @param {Record<string, any>} given
 * @returns {InstanceType<typeof Layout>}
 */
function overBuffer (source, given) {
  const { buffer, byteOffset, nbytes, dtype: found } = bytesOfSource(source, given)
  if (given.dtype === undefined && found === undefined) throw failure('ERR_DTYPE', 'dtype is needed: the source does not tell what its bytes are')
  const dtype = dtypeOf(given.dtype ?? found)
  const storage = backend.adopt(buffer, byteOffset, nbytes, source)
  try {
    const layout = shaped(storage, dtype, given, Math.floor(nbytes / dtype.itemsize))
    storage.owner = given.owner ?? source
    if (given.transfer) { // last: nothing fails after the caller's buffer is gone
      storage.buffer = takeOver(buffer)
      storage.owner = given.owner
    }
    if (given.deleter !== undefined) attachDeleter(storage, given.deleter)
    return layout
  } catch (error) {
    backend.release(storage)
    throw error
  }
}

/**
 * @param {import('./storage').Storage} storage
 * @param {import('./dtypes').Dtype} dtype
 * @param {Record<string, any>} given
 * @param {number} count  elements in the source
 * @returns {InstanceType<typeof Layout>}
 */
function shaped (storage, dtype, given, count) {
  const whole = new Layout(storage, dtype.index, [0], [1], 0, 0, 0)
  const shape = given.shape ?? [Math.max(0, count - given.offset)]
  return ffi.asStrided(whole, shape, given.strides, given.dimOrder, given.offset, false)
}

/**
 * The deleter of the caller's buffer: run when no tensor uses it any more.
 *
 * @param {import('./storage').Storage} storage
 * @param {Function} deleter
 */
function attachDeleter (storage, deleter) {
  backend.attachDeleter(storage, deleter, ffi.check)
}

/**
 * @param {number | bigint} source
 * @param {Record<string, any>} given
 * @returns {InstanceType<typeof Layout>}
 */
function overAddress (source, given) {
  const address = addressOf(source)
  if (backend.name !== 'native') throw failure('ERR_UNSUPPORTED', 'an address needs the native addon; WASM sees its own memory only')
  if (given.dtype === undefined) throw failure('ERR_DTYPE', 'dtype is needed: an address does not tell what its bytes are')
  if (given.owner === undefined && given.deleter === undefined && !given.borrowed) {
    throw failure('ERR_ARGUMENT', 'an address needs owner, deleter or borrowed: true, so that it is clear who keeps the bytes')
  }
  if (given.transfer) throw failure('ERR_ARGUMENT', 'transfer is for ArrayBuffers; an address has a deleter')
  const dtype = dtypeOf(given.dtype)
  if (given.shape === null && given.nbytes === undefined) throw failure('ERR_SHAPE', 'shape or nbytes is needed: an address has no end')
  if (given.nbytes !== undefined && given.nbytes < 0) throw failure('ERR_BOUNDS', `nbytes is ${given.nbytes}; it is 0 or more`)
  // The layout is judged before anything is taken over, over what is there or what it will need.
  const probe = backend.borrow(new ArrayBuffer(0), 0, given.nbytes ?? 2 ** 53 - 1)
  probe.address = address
  const layout = shaped(probe, dtype, given, Math.floor((given.nbytes ?? 0) / dtype.itemsize))
  if (address === 0 && layout.size > 0) throw failure('ERR_ARGUMENT', 'address 0 has no elements')
  const needed = given.nbytes ?? (layout.size === 0 ? 0 : (layout.offset + ffi.extent(layout)[1] + 1) * dtype.itemsize)
  const storage = backend.wrap(address, address === 0 ? 0 : needed, given.deleter, ffi.check)
  storage.owner = given.owner
  layout.storage = storage
  return layout
}

module.exports = { fromBlob }
