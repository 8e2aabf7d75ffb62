'use strict'
// Layouts before there is a tensor: dense ones, remembered, and those over bytes that a caller gave for
// one call.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, shapeOf } = require('./validate')
const { countStaged } = require('./storage')
const { dtypeOfArray, isArrayBuffer, isSharedArrayBuffer, isGone, partsOfArray, partsOfView, byteLengthOf } = require('./buffers')
const { itemsizes } = require('./dtypes')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {{ buffer: ArrayBufferLike, byteOffset: number, byteLength: number }} Bytes where some bytes are */

/** the last dense layout of a rank and dtype: a loop makes the same shape again and again @type {(Layout | undefined)[]} */
const recent = new Array(9 * 32)

/**
 * @param {number} dtype
 * @param {unknown[]} shape  not checked yet
 * @returns {Layout} row-major, without bytes; shape and strides to be shared
 */
function denseLayout (dtype, shape) {
  const n = shape.length
  const known = recent[n * 32 + dtype]
  if (known === undefined || known.shape.length !== n) return newDenseLayout(dtype, shape) // a Proxy's length may be anything
  for (let d = 0; d < n; d++) {
    if (known.shape[d] !== shape[d]) return newDenseLayout(dtype, shape)
  }
  return known
}

/** what recent forgot, by a hash @type {(Layout | undefined)[]} */
const remembered = new Array(256)

/**
 * @param {number} dtype
 * @param {unknown[]} shape
 * @returns {Layout}
 */
function newDenseLayout (dtype, shape) {
  const extents = shapeOf(shape)
  const n = extents.length
  const hash = extents.reduce((sum, extent) => (sum * 31 + extent) | 0, dtype + n * 17) & 255
  let layout = remembered[hash]
  if (layout === undefined || layout.dtype !== dtype || layout.shape.length !== n || layout.shape.some((extent, d) => extent !== extents[d])) {
    layout = remembered[hash] = ffi.dense(dtype, extents)
  }
  if (n <= 8) recent[n * 32 + dtype] = layout
  return layout
}

/**
 * A typed array's elements.
 *
 * @param {any} array
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major
 */
function layoutOver (array, dtype, shape) {
  return layoutOverBytes(partsOfArray(array), dtype, shape)
}

/**
 * @param {Bytes} bytes  copied first where their place is no multiple of the item size
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major
 */
function layoutOverBytes ({ buffer, byteOffset, byteLength }, dtype, shape) {
  if (byteOffset % itemsizes[dtype] !== 0) {
    countStaged(byteLength)
    buffer = new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength).slice().buffer
    byteOffset = 0
  }
  const layout = ffi.dense(dtype, shape)
  layout.storage = backend.borrow(buffer, byteOffset, byteLength)
  return layout
}

/**
 * @param {unknown} source
 * @returns {Bytes}
 */
function bytesOf (source) {
  let bytes
  if (dtypeOfArray(source) !== undefined) bytes = partsOfArray(source)
  else if (ArrayBuffer.isView(source)) bytes = partsOfView(source)
  else if (isArrayBuffer(source) || isSharedArrayBuffer(source)) bytes = { buffer: source, byteOffset: 0, byteLength: byteLengthOf(source) }
  else throw failure('ERR_ARGUMENT', `bytes is ${show(source)}; a typed array or an ArrayBuffer was expected`)
  if (bytes.byteLength === 0 && isGone(bytes.buffer)) throw failure('ERR_DETACHED', 'the bytes were transferred away')
  return bytes
}

module.exports = { denseLayout, layoutOver, layoutOverBytes, bytesOf }
