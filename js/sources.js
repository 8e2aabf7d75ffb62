'use strict'
// What copyFrom and copyFromAsync are given, as layouts to copy from.

const ffi = require('./ffi')
const { later } = require('./later')
const { failure } = require('./errors')
const { show, integer } = require('./validate')
const { dtypes, dtypeOf } = require('./dtypes')
const { flatten } = require('./values')
const { dtypeOfArray, partsOfArray, partsOfLive, isAudioBuffer } = require('./buffers')
const { allocated, written, layoutOver } = require('./layouts')
const { writeValues, factorOf } = require('./elements')

const { backend } = ffi

/** @type {typeof import('./images').layoutOfImage} */
const layoutOfImage = later(() => require('./images').layoutOfImage)

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('./ffi').Scaling} Scaling */

/**
 * An ImageData, or what has the same fields; null for anything else.
 *
 * @param {any} value
 * @returns {import('./images').Image | null}
 */
function imageOf (value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || ArrayBuffer.isView(value)) return null
  const { data, width, height } = value
  const dtype = dtypeOfArray(data)
  if (dtype === undefined || typeof width !== 'number' || typeof height !== 'number') return null
  if (dtype !== 'uint8') throw failure('ERR_DTYPE', `the image's data is ${dtype}; uint8 was expected`)
  const { length } = partsOfLive(data, "the image's data")
  if (!Number.isSafeInteger(width) || !Number.isSafeInteger(height) || width < 0 || height < 0 || length !== 4 * width * height) {
    throw failure('ERR_SHAPE', `the image has ${length} bytes; ${show(width)} x ${show(height)} pixels of 4 were expected`)
  }
  return { data, width, height }
}

/**
 * An AudioBuffer's channels, or a list that may be one of rows; null for anything else.
 *
 * @param {any} src
 * @returns {import('./channels').Channels | null}
 */
function channelsOf (src) {
  if (isAudioBuffer(src)) {
    const { numberOfChannels, length } = src
    return { arrays: Array.from({ length: numberOfChannels }, (_, c) => src.getChannelData(c)), length, isAudio: true }
  }
  if (!Array.isArray(src) || dtypeOfArray(src[0]) === undefined) return null
  return { arrays: Array.from({ length: src.length }, (_, c) => src[c]), length: 0, isAudio: false }
}

/**
 * The elements of anything but a tensor.
 *
 * @param {unknown} src
 * @param {import('./images').Image | null} image  what it is
 * @param {Layout} target
 * @returns {Layout} to be released after the copy
 */
function sourceOf (src, image, { shape, size, dtype }) {
  if (image !== null) return layoutOfImage(image, shape)
  return dtypeOfArray(src) === undefined ? listed(src, shape, size, dtypes[dtype]) : elementsOf(src, shape, size)
}

/**
 * A typed array's elements.
 *
 * @param {any} array
 * @param {number[]} shape
 * @param {number} size
 * @returns {Layout}
 */
function elementsOf (array, shape, size) {
  const { length } = partsOfLive(array, 'src')
  if (length !== size) throw failure('ERR_SHAPE', `the typed array has ${length} elements; the tensor has ${size}`)
  return layoutOver(array, dtypeOf(dtypeOfArray(array)).index, shape)
}

/**
 * Values that a person wrote, in bytes of their own.
 *
 * @param {unknown} src
 * @param {number[]} shape
 * @param {number} size
 * @param {import('./dtypes').Dtype} dtype
 * @returns {Layout}
 */
function listed (src, shape, size, dtype) {
  const { flat, shape: given } = flatten('src', src, dtype.kind === 'COMPLEX' && !isFlat(src, size))
  const packed = allocated(ffi.dense(dtype.index, given))
  written(packed, layout => writeValues(layout, flat))
  // A flat list of equal count fills row-major.
  return given.length === 1 && given[0] === size ? ffi.reshape(packed, shape) : packed
}

/**
 * A flat list of as many numbers as there are elements: none of them is half of a complex value.
 *
 * @param {unknown} list
 * @param {number} size
 */
function isFlat (list, size) {
  return Array.isArray(list) && list.length === size && list.every(value => typeof value === 'number')
}

/**
 * A typed array's storage beyond one call: what it shows of WASM memory is claimed.
 *
 * @param {import('./storage').Storage} storage
 * @param {unknown} array
 */
function kept (storage, array) {
  if (storage.kind !== 'wasm') return storage
  const { buffer, byteOffset, byteLength } = partsOfArray(array)
  return backend.adopt(buffer, byteOffset, byteLength, /** @type {object} */ (array))
}

/**
 * What copyFrom was given as scale, bias and axis.
 *
 * @param {unknown} scale
 * @param {unknown} bias
 * @param {unknown} axis
 * @returns {Scaling | null} null: nothing is scaled
 */
function scalingOf (scale, bias, axis) {
  const scaled = scale !== undefined || bias !== undefined
  if (!scaled && axis === undefined) return null
  const factors = scaled ? factorOf('scale', scale, 1) : null
  const terms = scaled ? factorOf('bias', bias, 0) : null
  const along = axis === undefined ? 0 : integer('axis', axis)
  if (factors === null || terms === null) return null
  if (axis === undefined && (factors.length >= 0 || terms.length >= 0)) {
    throw failure('ERR_ARGUMENT', 'scale or bias is a list; axis says along which axis of the target')
  }
  return { scale: factors.layout, bias: terms.layout, axis: along }
}

module.exports = { sourceOf, imageOf, channelsOf, kept, scalingOf }
