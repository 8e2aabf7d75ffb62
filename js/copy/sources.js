'use strict'
// The sources of copyFrom and copyFromAsync (values, lists, typed arrays, images, sound) as layouts.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { functionsOf } = require('../runtime/lazy')
const { failure } = require('../base/errors')
const { MOST_PARTS, show, integer } = require('../base/validate')
const { checkHeap } = require('../runtime/heap')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { MOST_VALUES, flatten } = require('../layout/values')
const {
  dtypeOfArray,
  partsOfArray,
  partsOfLive,
  isAudioBuffer,
  isView,
} = require('../base/buffers')
const { allocated, written, layoutOver } = require('../layout/layouts')
const { writeValues, factorOf, layoutOfFactor } = require('../layout/elements')

const { backend } = ffi

const { layoutOfImage } = functionsOf(() => require('./images'))

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('../backend/calls').Scaling} Scaling */

/**
 * Reads an ImageData, any object with its fields, or a canvas; null for anything else.
 *
 * @param {any} value
 * @returns {import('./images').Image | null}
 */
function imageOf(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || isView(value)) {
    return null
  }
  const { data, width, height, getContext } = value
  if (typeof getContext !== 'function') return pictureOf(data, width, height)
  if (width === 0 || height === 0) {
    throw failure('ERR_SHAPE', `the canvas has ${show(height)} rows of ${show(width)} pixels`)
  }
  let image
  try {
    image = value.getContext('2d')?.getImageData?.(0, 0, width, height)
  } catch (error) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the canvas cannot be read (a picture of another origin?): ${/** @type {any} */ (error)?.message}`,
    )
  }
  if (image === undefined || image === null) {
    throw failure('ERR_UNSUPPORTED', 'the canvas has no 2d context; draw it on one that has')
  }
  return pictureOf(image.data, image.width, image.height)
}

/**
 * @param {any} data
 * @param {unknown} width
 * @param {unknown} height
 * @returns {import('./images').Image | null} null: they are no image's
 */
function pictureOf(data, width, height) {
  const name = dtypeOfArray(data)
  if (name === undefined || typeof width !== 'number' || typeof height !== 'number') return null
  if (name !== 'uint8' && name !== 'float16') {
    throw failure(
      'ERR_DTYPE',
      `the image's data is ${name}; uint8, or float16 of 0 to 1, was expected`,
    )
  }
  const { length } = partsOfLive(data, "the image's data")
  if (
    !Number.isSafeInteger(width) ||
    !Number.isSafeInteger(height) ||
    width < 0 ||
    height < 0 ||
    length !== 4 * width * height
  ) {
    throw failure(
      'ERR_SHAPE',
      `the image has ${length} ${name === 'uint8' ? 'bytes' : 'halves'}; ${show(width)} x ${show(height)} pixels of 4 were expected`,
    )
  }
  return { data, width, height, dtype: dtypeOf(name) }
}

/**
 * Reads an AudioBuffer's channels, or a list of typed arrays; null for anything else. The source's count is not trusted: no list is
 * made unless the target has as many rows.
 *
 * @param {any} src
 * @param {readonly number[]} shape  of the target
 * @returns {import('./channels').Channels | null}
 */
function channelsOf(src, shape) {
  if (isAudioBuffer(src)) {
    const { numberOfChannels, length } = src
    const arrays =
      numberOfChannels === shape[0]
        ? listOfRows(numberOfChannels, (c) => src.getChannelData(c))
        : []
    if (arrays === null) {
      throw failure('ERR_ARGUMENT', 'the AudioBuffer has a channel that is no typed array')
    }
    return { arrays, count: numberOfChannels, length, isAudio: true }
  }
  if (!Array.isArray(src) || dtypeOfArray(src[0]) === undefined) return null
  const n = src.length
  if (n !== shape[0] || n > MOST_PARTS) return null
  const arrays = listOfRows(n, (c) => src[c])
  return arrays && { arrays, count: n, length: 0, isAudio: false }
}

const ROW_BYTES = 1024 // of heap that one row takes here

/**
 * @param {number} n
 * @param {(c: number) => any} get
 * @returns {ArrayBufferView[] | null} null: not all are typed arrays
 */
function listOfRows(n, get) {
  checkHeap(n * ROW_BYTES, () => `${n} rows; copy some at a time`)
  const arrays = []
  for (let c = 0; c < n; c++) {
    const array = get(c)
    if (dtypeOfArray(array) === undefined) return null
    arrays.push(array)
  }
  return arrays
}

/**
 * A layout with the elements of anything but a tensor.
 *
 * @param {unknown} src
 * @param {import('./images').Image | null} image  what imageOf gave for src
 * @param {Layout} target
 * @returns {Layout} its storage is to be released after the copy
 */
function sourceOf(src, image, { shape, size, dtype }) {
  if (image !== null) return layoutOfImage(image, shape)
  const found = dtypeOfArray(src)
  if (found === undefined) {
    const { kind } = dtypes[dtype]
    const { values, shape: given } = flatten('src', src, kind === 'COMPLEX' && !isFlat(src, size))
    const packed = allocated(ffi.dense(dtype, given))
    written(packed, () => writeValues(packed, values))
    // A flat list of equal count fills row-major.
    return given.length === 1 && given[0] === size ? ffi.reshape(packed, shape) : packed
  }
  const { length } = partsOfLive(src, 'src')
  if (length !== size) {
    throw failure('ERR_SHAPE', `the typed array has ${length} elements; the tensor has ${size}`)
  }
  return layoutOver(src, dtypeOf(found).index, shape)
}

/**
 * Is it a flat list of as many numbers as there are elements? Then none of them is half of a complex value.
 *
 * @param {unknown} list
 * @param {number} size
 */
function isFlat(list, size) {
  if (!Array.isArray(list) || list.length !== size || size > MOST_VALUES) return false
  for (let i = 0; i < size; i++) if (typeof list[i] !== 'number') return false // not by a method of the list, which may be the caller's
  return true
}

/**
 * A typed array's storage for longer than one call: bytes in WebAssembly's memory get a claim.
 *
 * @param {import('../backend/storage').Storage} storage
 * @param {unknown} array
 */
function kept(storage, array) {
  if (storage.kind !== 'wasm') return storage
  const { buffer, byteOffset, byteLength } = partsOfArray(array)
  return backend.adopt(buffer, byteOffset, byteLength, /** @type {object} */ (array))
}

/** Factors as they were read. Most copies pass the numbers themselves to C; others ask for layouts over them, which live as long as this: copies on devices end later. @implements {Scaling} */
class Factors {
  /**
   * @param {number | Float64Array} scale
   * @param {number | Float64Array} bias
   * @param {number} axis
   */
  constructor(scale, bias, axis) {
    this.numbers = { scale, bias }
    this.axis = axis
    /** @type {Scaling['scale'] | null} */
    this.scales = null
    /** @type {Scaling['bias'] | null} */
    this.biases = null
  }

  get scale() {
    return (this.scales ??= layoutOfFactor(this.numbers.scale))
  }
  get bias() {
    return (this.biases ??= layoutOfFactor(this.numbers.bias))
  }
}
rootless(Factors)

/**
 * Reads copyFrom's options scale, bias and axis.
 *
 * @param {unknown} scale
 * @param {unknown} bias
 * @param {unknown} axis
 * @param {readonly number[]} shape  of the target
 * @returns {Scaling | null} null: nothing is scaled
 */
function scalingOf(scale, bias, axis, shape) {
  const along = axis === undefined ? 0 : integer('axis', axis)
  if (scale === undefined && bias === undefined) return null
  const checkCount = (/** @type {string} */ name, /** @type {number} */ n) => {
    if (axis === undefined) {
      throw failure(
        'ERR_ARGUMENT',
        `${name} has several entries; axis says along which axis of the target they are`,
      )
    }
    // What C checks as well (broadcast_factor in copy.c), before memory is taken for the factors.
    const d = along < 0 ? along + shape.length : along
    if (d < 0 || d >= shape.length) {
      throw failure('ERR_BOUNDS', `axis is ${along}; there are ${shape.length} axes`)
    }
    if (n !== shape[d]) {
      throw failure(
        'ERR_SHAPE',
        `${name} has shape [${show(n)}]; axis ${d} has ${shape[d]} elements`,
      )
    }
  }
  return new Factors(
    factorOf('scale', scale, 1, checkCount),
    factorOf('bias', bias, 0, checkCount),
    along,
  )
}

module.exports = { sourceOf, imageOf, channelsOf, kept, scalingOf }
