'use strict'
// Pictures of the web as operands: an ImageData, a canvas, and a VideoFrame, which is read asynchronously. They are uint8 [height, width, channels], or float16
// where an ImageData has pixelFormat 'rgba-float16'.

const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, optionsOf, show } = require('../base/validate')
const { dtypeOfArray, isVideoFrame, lengthOf } = require('../base/buffers')
const { checkSignal, signalOf } = require('../base/signals')
const { imageOf } = require('../copy/sources')
const { adoptArray, denseLayout, layoutOver, withBytes } = require('../layout/layouts')
const { Tensor, wrap } = require('../tensor/tensor')
const { UINT8 } = require('./constants')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('../copy/images').Image} Image */

const OPTIONS = [
  'axes',
  'channels',
  'alpha',
  'method',
  'antialias',
  'scale',
  'bias',
  'axis',
  'value',
  'align',
  'dtype',
  'out',
  'casting',
  'signal',
]
const MOST_ENTRIES = 64 // of lists, as of axes; longer ones are refused

/**
 * @param {any} x
 * @returns {Image | null} null: it is a tensor
 * @throws ERR_ARGUMENT neither a tensor nor a picture · ERR_UNSUPPORTED a VideoFrame
 */
function pictureOf(x) {
  if (Tensor.isTensor(x)) return null
  if (x === null || typeof x !== 'object') throw noPicture(x)
  if (isVideoFrame(x)) {
    throw failure(
      'ERR_UNSUPPORTED',
      'x is a VideoFrame, which takes time to read; the asynchronous form does that',
    )
  }
  const picture = imageOf(x)
  if (picture === null) throw noPicture(x)
  return picture
}

/** @param {unknown} x */
const noPicture = (x) =>
  failure('ERR_ARGUMENT', `x is ${show(x)}; a tensor, an ImageData or a canvas was expected`)

/**
 * @param {unknown} channels
 * @param {boolean} isPicture
 * @returns {3 | 4}
 */
function channelsFrom(channels, isPicture) {
  if (!isPicture && channels !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      'channels is for an ImageData, a canvas and a VideoFrame; of a tensor, narrow takes some',
    )
  }
  if (channels === undefined || channels === 3) return 3
  if (channels === 4) return 4
  throw failure(
    'ERR_ARGUMENT',
    `channels is ${show(channels)}; 3, without alpha, or 4 was expected`,
  )
}

/**
 * @param {unknown} alpha
 * @param {3 | 4 | null} channels  of a picture; null: of a tensor
 * @returns {boolean} does the last channel weight the others?
 */
function alphaFrom(alpha, channels) {
  const isGiven = boolean('alpha', alpha)
  if (isGiven && channels === 3) {
    throw failure(
      'ERR_ARGUMENT',
      'alpha is true, and channels 3, without it; { channels: 4 } has it',
    )
  }
  return isGiven || (alpha === undefined && channels === 4)
}

/**
 * @param {Image} image
 * @param {3 | 4} channels
 * @returns {Layout} over its pixels, for one call
 */
function layoutOfPicture({ data, width, height, dtype }, channels) {
  return firstOf(layoutOver(data, dtype.index, [height, width, 4]), channels)
}

/**
 * @param {Image} image
 * @param {3 | 4} channels
 * @returns {Tensor} over its bytes
 */
function tensorOfPicture({ data, width, height, dtype }, channels) {
  return wrap(firstOf(adoptArray(data, dtype, [height, width, 4]), channels))
}

/** @param {Layout} pixels  [height, width, 4] @param {3 | 4} channels */
const firstOf = (pixels, channels) =>
  channels === 4 ? pixels : ffi.viewByNumbers(ffi.opcodes.narrow, pixels, 2, 0, 3)

/**
 * A function's asynchronous form that takes pictures as well: they are read into a tensor first, which is copied from as copyFromAsync does.
 *
 * @param {(...args: any[]) => Promise<any>} fn  takes (x, size, options)
 * @param {boolean} [isResized]  has the option alpha
 * @returns {any}
 */
function ofPictures(fn, isResized = false) {
  return {
    /** @param {any} x @param {any} size @param {any} opts */
    [fn.name]: async (x, size, opts) => {
      if (Tensor.isTensor(x)) return fn(x, size, opts)
      const isFrame = isVideoFrame(x)
      const picture = isFrame ? null : pictureOf(x)
      const { channels: given, signal: stop, axes = [0, 1], ...rest } = optionsNow(optionsOf(opts))
      const wanted = now(size)
      const channels = channelsFrom(given, true)
      if (isResized) rest.alpha = alphaFrom(rest.alpha, channels)
      checkSignal(signalOf(stop))
      const pixels = await pixelsOf(
        picture ?? x,
        picture === null ? UINT8 : picture.dtype.index,
        stop,
      )
      const part = Tensor.viewOf(pixels, firstOf(Tensor.attachedOf(pixels), channels))
      try {
        return await fn(part, wanted, { ...rest, axes, signal: stop })
      } finally {
        part.dispose()
        pixels.dispose()
      }
    },
  }[fn.name]
}

/**
 * A list as it is now; it may be another one when the picture was read.
 *
 * @param {any} value
 * @returns {any} anything else is itself
 */
function now(value) {
  const n = Array.isArray(value)
    ? value.length
    : dtypeOfArray(value) === undefined
      ? -1
      : lengthOf(value)
  return Number.isInteger(n) && n >= 0 && n <= MOST_ENTRIES ? arrayOf(n, (i) => value[i]) : value
}

/** @param {Record<string, any>} options @returns {Record<string, any>} as they are now, inherited ones too */
function optionsNow(options) {
  /** @type {Record<string, any>} */
  const read = {}
  const names = [...OPTIONS, ...Object.keys(options)]
  for (let i = 0; i < names.length; i++) {
    if (!Object.hasOwn(read, names[i])) read[names[i]] = now(options[names[i]])
  }
  return read
}

/** @param {any} source @param {number} dtype @param {any} signal @returns {Promise<Tensor>} [height, width, 4] */
async function pixelsOf(source, dtype, signal) {
  const extent = isVideoFrame(source) ? source.visibleRect : source
  if (extent === null) {
    throw failure('ERR_DETACHED', 'the VideoFrame was closed or transferred away')
  }
  const { width, height } = extent
  const pixels = wrap(withBytes(denseLayout(dtype, [height, width, 4]), 0, false))
  try {
    return await pixels.copyFromAsync(source, { signal })
  } catch (error) {
    pixels.dispose()
    throw error
  }
}

module.exports = {
  pictureOf,
  alphaFrom,
  channelsFrom,
  layoutOfPicture,
  tensorOfPicture,
  ofPictures,
}
