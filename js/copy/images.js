'use strict'
// ImageData to and from tensors: rows of RGBA pixels, a byte per channel, or a half float of an image with pixelFormat 'rgba-float16'.

const { Uint8ClampedArray, arrayIncludes, arrayJoin } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { countStaged } = require('../backend/storage')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout, allocated, layoutOver } = require('../layout/layouts')

const { backend, opcodes } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {{ data: any, width: number, height: number, dtype: import('../backend/dtypes').Dtype }} Image data: a typed array of dtype uint8 or float16 */

const UINT8 = dtypeOf('uint8').index
const EXPECTED = 'image data goes into (height, width, 4), or (height, width, 3) without alpha'

/**
 * A layout over an image's pixels, with as many channels as the target has.
 *
 * @param {Image} image
 * @param {number[]} shape  of the target
 * @returns {Layout}
 */
function layoutOfImage ({ data, width, height, dtype }, shape) {
  checkShape(width, height, shape)
  return withAlphaOrNot(layoutOver(data, dtype.index, [height, width, 4]), shape[2])
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number[]} shape  of the target
 */
function checkShape (width, height, shape) {
  const channels = shape.length > 2 ? shape[2] : 1
  if (shape[0] !== height || shape[1] !== width || shape.length > 3) {
    throw failure('ERR_SHAPE', `the image has ${height} rows of ${width} pixels; the target has shape [${arrayJoin(shape)}]: ${EXPECTED}, of other orders permute shows one`)
  }
  if (channels !== 3 && channels !== 4) {
    throw failure('ERR_SHAPE', `the target has shape [${arrayJoin(shape)}]: ${EXPECTED}; of these select(2, 0) is the first channel, and grey is a sum of three that you choose`)
  }
}

/**
 * @param {Layout} pixels  (height, width, 4)
 * @param {number} count  3: without alpha
 */
function withAlphaOrNot (pixels, count) {
  return count === 4 ? pixels : colours(pixels)
}

/**
 * Copies uint8 elements into an ImageData: grey, RGB or RGBA; opaque where there is no alpha.
 *
 * @param {Layout} layout  (height, width) or (height, width, 1, 3 or 4) of uint8
 * @returns {{ data: Uint8ClampedArray, width: number, height: number }} an ImageData where the runtime has that class
 */
function imageOfLayout (layout) {
  const { shape } = layout
  const height = shape[0]
  const width = shape[1]
  const channels = shape.length > 2 ? shape[2] : 1
  if (layout.dtype !== UINT8) throw failure('ERR_DTYPE', 'image data is made of uint8; astype, or copyFrom with a scale, makes it of others')
  if ((shape.length !== 2 && shape.length !== 3) || !arrayIncludes([1, 3, 4], channels)) {
    throw failure('ERR_SHAPE', `the tensor has shape [${arrayJoin(shape)}]; (height, width) or (height, width, 1, 3 or 4) was expected, and permute shows other orders so`)
  }
  if (layout.size === 0) throw failure('ERR_SHAPE', `the tensor has shape [${arrayJoin(shape)}]; an image has at least one pixel`)
  const data = newPixels(4 * width * height)
  const pixels = layoutOver(data, UINT8, [height, width, 4])
  const source = shape.length === 2 ? ffi.reshape(layout, [height, width, 1]) : layout
  if (backend.isWasm && !(channels === 4 && ffi.isContiguous(source))) writeThroughTemporary(pixels, source)
  else write(pixels, source)
  const Class = /** @type {any} */ (globalThis).ImageData
  return typeof Class === 'function' ? new Class(data, width, height) : { data, width, height }
}

/**
 * @param {Layout} pixels
 * @param {Layout} source
 */
function write (pixels, source) {
  if (source.shape[2] === 4) {
    ffi.copy(pixels, source, 0)
  } else {
    makeOpaque(pixels)
    ffi.copy(colours(pixels), source, 0)
  }
}

/** @param {Layout} pixels */
function makeOpaque (pixels) {
  ffi.fill(ffi.viewByNumbers(opcodes.narrow, pixels, 2, 3, 1), 255)
}

/** @param {Layout} pixels */
function colours (pixels) {
  return ffi.viewByNumbers(opcodes.narrow, pixels, 2, 0, 3)
}

/**
 * For WebAssembly, whose kernels cannot write outside its memory: fills a temporary and copies it as a whole.
 *
 * @param {Layout} pixels
 * @param {Layout} source
 */
function writeThroughTemporary (pixels, source) {
  const temporary = allocated(denseLayout(UINT8, pixels.shape))
  try {
    write(temporary, source)
    ffi.copy(pixels, temporary, 0)
    countStaged(temporary.size)
  } finally {
    backend.release(temporary.storage)
  }
}

/** @param {number} nbytes */
function newPixels (nbytes) {
  try {
    return new Uint8ClampedArray(nbytes)
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} bytes for an image could not be allocated`)
  }
}

module.exports = { layoutOfImage, checkShape, withAlphaOrNot, makeOpaque, imageOfLayout }
