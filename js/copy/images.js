'use strict'
// ImageData to and from tensors: rows of RGBA pixels, a byte per channel, or a half float of an image with pixelFormat 'rgba-float16'.

const { lengthOf } = require('../base/buffers')
const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { CASTINGS, show } = require('../base/validate')
const { tensors } = require('../base/tensors')
const { countStaged } = require('../backend/storage')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout, withTemporary, layoutOver } = require('../layout/layouts')
const { copyElements } = require('./results')

const { backend, opcodes } = ffi
const UNSAFE = CASTINGS.indexOf('unsafe')

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
function layoutOfImage({ data, width, height, dtype }, shape) {
  checkShape(width, height, shape)
  return withAlphaOrNot(layoutOver(data, dtype.index, [height, width, 4]), shape[2])
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number[]} shape  of the target
 */
function checkShape(width, height, shape) {
  const channels = shape.length > 2 ? shape[2] : 1
  if (shape[0] !== height || shape[1] !== width || shape.length > 3) {
    throw failure(
      'ERR_SHAPE',
      `the image has ${height} rows of ${width} pixels; the target has shape [${shape.join(', ')}]: ${EXPECTED}, of other orders permute shows one`,
    )
  }
  if (channels !== 3 && channels !== 4) {
    throw failure(
      'ERR_SHAPE',
      `the target has shape [${shape.join(', ')}]: ${EXPECTED}; of these select(2, 0) is the first channel, and grey is a sum of three that you choose`,
    )
  }
}

/**
 * @param {Layout} pixels  (height, width, 4)
 * @param {number} count  3: without alpha
 */
const withAlphaOrNot = (pixels, count) => (count === 4 ? pixels : colours(pixels))

/** What toImageData's options come to. scale, bias: to 256 levels; table: their colours, or null. @typedef {{ scale: number, bias: number, table: Uint8Array | null }} Levels */

/**
 * Reads toImageData's options.
 *
 * @param {any} min
 * @param {any} max
 * @param {any} colours  the colormap: lists, typed arrays or tensors
 * @returns {Levels}
 */
function levelsOf(min = 0, max = 1, colours = undefined) {
  if (!Number.isFinite(min)) {
    throw failure('ERR_ARGUMENT', `min is ${show(min)}; a finite number was expected`)
  }
  if (!Number.isFinite(max) || !(max > min)) {
    throw failure(
      'ERR_ARGUMENT',
      `max is ${show(max)}; a finite number above min (${min}) was expected`,
    )
  }
  const scale = 255 / (max - min)
  if (scale === 0 || !Number.isFinite(scale)) {
    throw failure(
      'ERR_ARGUMENT',
      `min is ${min}, and max ${max}; their difference has no reciprocal in float64`,
    )
  }
  return { scale, bias: 0.5 - min * scale, table: colours === undefined ? null : tableOf(colours) }
}

/** @param {any} value  a tensor, or like an array @param {number} most @returns {any[] | null} its entries; null: it has none, or more */
function entriesOf(value, most) {
  const layout = tensors.layoutOf(value)
  if (layout !== null && layout.size > 4 * most) return null // no lists of millions
  const list = layout === null ? value : tensors.nested(layout)
  if (list === null || typeof list !== 'object') return null
  const { length } = list
  return Number.isInteger(length) && length >= 0 && length <= most
    ? arrayOf(length, (i) => list[i])
    : null
}

/** @param {any} colours @returns {Uint8Array} 256 colours between them, of 3 channels or 4 */
function tableOf(colours) {
  const list = entriesOf(colours, 256)
  if (list === null || list.length < 2) {
    throw failure(
      'ERR_ARGUMENT',
      `colormap is ${list === null ? show(colours) : `a list of ${list.length}`}; 2 to 256 colours [red, green, blue] were expected`,
    )
  }
  const rows = list.map((colour) => entriesOf(colour, 4) ?? [])
  const channels = rows.some((row) => row.length === 4) ? 4 : 3
  const count = rows.length
  const anchors = new Float64Array(channels * count)
  for (let i = 0; i < count; i++) {
    const row = rows[i]
    for (let c = 0; c < channels; c++) {
      const given = row.length < 3 ? undefined : c < row.length ? row[c] : 255
      const x = typeof given === 'bigint' ? Number(given) : given
      if (typeof x !== 'number' || !(x >= 0 && x <= 255)) {
        throw failure(
          'ERR_ARGUMENT',
          `colormap[${i}] is no colour; [red, green, blue], or these and alpha, each from 0 to 255, was expected`,
        )
      }
      anchors[channels * i + c] = x
    }
  }
  const table = new Uint8Array(256 * channels)
  for (let i = 0; i < 256 * channels; i++) {
    const at = (Math.floor(i / channels) * (count - 1)) / 255
    const from = Math.min(Math.floor(at), count - 2)
    const low = anchors[channels * from + (i % channels)]
    table[i] = Math.round(
      low + (at - from) * (anchors[channels * (from + 1) + (i % channels)] - low),
    )
  }
  return table
}

/**
 * An image of numbers of any real dtype.
 *
 * @param {Layout} layout
 * @param {import('../backend/calls').Scaling | null} scaling  to levels
 * @param {Uint8Array | null} table
 */
function imageOfLevels(layout, scaling, table) {
  const { shape } = layout
  const isGrey = shape.length === 2 || (shape.length === 3 && shape[2] === 1)
  if (table !== null && !isGrey) {
    throw failure(
      'ERR_SHAPE',
      `the tensor has shape [${shape.join(', ')}]; with a colormap (height, width) or (height, width, 1) was expected`,
    )
  }
  return withTemporary(denseLayout(UINT8, shape), (bytes) => {
    copyElements(bytes, layout, scaling, UNSAFE)
    countStaged(bytes.size)
    return table === null ? imageOfLayout(bytes) : imageOfTable(bytes, table)
  })
}

/** @param {Layout} bytes  (height, width) or (height, width, 1), dense @param {Uint8Array} table */
function imageOfTable(bytes, table) {
  const { shape, size } = bytes
  const channels = lengthOf(table) / 256
  return withTemporary(denseLayout(UINT8, [size, channels]), (colours) => {
    ffi.take(colours, layoutOver(table, UINT8, [256, channels]), ffi.reshape(bytes, [size]), 0)
    countStaged(colours.size)
    return imageOfLayout(ffi.reshape(colours, [shape[0], shape[1], channels]))
  })
}

/**
 * Copies uint8 elements into an ImageData: grey, RGB or RGBA; opaque where there is no alpha.
 *
 * @param {Layout} layout  (height, width) or (height, width, 1, 3 or 4) of uint8
 * @returns {{ data: Uint8ClampedArray, width: number, height: number }} an ImageData where the runtime has that class
 */
function imageOfLayout(layout) {
  const { shape } = layout
  const height = shape[0]
  const width = shape[1]
  const channels = shape.length > 2 ? shape[2] : 1
  if (layout.dtype !== UINT8) {
    throw failure(
      'ERR_DTYPE',
      'image data is made of uint8; of others toImageData({ min, max }) makes it',
    )
  }
  if ((shape.length !== 2 && shape.length !== 3) || ![1, 3, 4].includes(channels)) {
    throw failure(
      'ERR_SHAPE',
      `the tensor has shape [${shape.join(', ')}]; (height, width) or (height, width, 1, 3 or 4) was expected, and permute shows other orders so`,
    )
  }
  if (layout.size === 0) {
    throw failure(
      'ERR_SHAPE',
      `the tensor has shape [${shape.join(', ')}]; an image has at least one pixel`,
    )
  }
  let data
  try {
    data = new Uint8ClampedArray(4 * width * height)
  } catch {
    throw failure('ERR_MEMORY', `${4 * width * height} bytes for an image could not be allocated`)
  }
  const pixels = layoutOver(data, UINT8, [height, width, 4])
  const source = shape.length === 2 ? ffi.reshape(layout, [height, width, 1]) : layout
  if (backend.isWasm && !(channels === 4 && ffi.isContiguous(source))) {
    // whose kernels cannot write outside its memory
    withTemporary(denseLayout(UINT8, pixels.shape), (temporary) => {
      write(temporary, source)
      ffi.copy(pixels, temporary, 0)
      countStaged(temporary.size)
    })
  } else write(pixels, source)
  const Class = /** @type {any} */ (globalThis).ImageData
  return typeof Class === 'function' ? new Class(data, width, height) : { data, width, height }
}

/**
 * @param {Layout} pixels
 * @param {Layout} source
 */
function write(pixels, source) {
  if (source.shape[2] === 4) {
    ffi.copy(pixels, source, 0)
  } else {
    makeOpaque(pixels)
    ffi.copy(colours(pixels), source, 0)
  }
}

/** @param {Layout} pixels */
function makeOpaque(pixels) {
  ffi.fill(ffi.viewByNumbers(opcodes.narrow, pixels, 2, 3, 1), 255)
}

/** @param {Layout} pixels */
const colours = (pixels) => ffi.viewByNumbers(opcodes.narrow, pixels, 2, 0, 3)

module.exports = {
  layoutOfImage,
  checkShape,
  withAlphaOrNot,
  makeOpaque,
  imageOfLayout,
  imageOfLevels,
  levelsOf,
}
