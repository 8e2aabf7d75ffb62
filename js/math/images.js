'use strict'
// Images: in another size, a part of them, with a border.

const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const {
  axesFromStart,
  axisFromStart,
  boolean,
  integer,
  integers,
  oneOf,
  shapeOf,
  show,
} = require('../base/validate')
const { rows, run } = require('./calls/algorithms')
const { atOnce } = require('./calls/plan')
const { claim, unclaim } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { checkOut } = require('../copy/results')
const { factorOf } = require('../layout/elements')
const { denseLayout, layoutOver, written } = require('../layout/layouts')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { allocated } = require('./allocate')
const { lastAxes, permuted } = require('./axes')
const { FLOAT64 } = require('./constants')
const { target } = require('./cores')
const { operandOf } = require('./operands')
const { known, optionsFor } = require('./options')
const {
  alphaFrom,
  channelsFrom,
  layoutOfPicture,
  pictureOf,
  tensorOfPicture,
} = require('./pictures')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Canvas, Casting, Image, DtypeName, NameOf, Or } from '../base/types' */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} ImageOptions
 * @property {readonly number[] | undefined} [axes]  of rows and of columns; [-2, -1], as of NCHW, where none are given; [-3, -2] are those of NHWC; a picture's are [0, 1]
 * @property {3 | 4 | undefined} [channels]  of a picture (ImageData, canvas, VideoFrame), as whose last axis they are: 3, without alpha, where none is given
 * @property {boolean | undefined} [alpha]  is the last of the channels alpha? Then the others are averaged with it as weight, and where it becomes 0 they do: what is transparent colours nothing.
 *   Where nothing is said: true of a picture with four channels, else false. 'nearest' averages nothing
 * @property {'nearest' | 'bilinear' | 'bicubic' | undefined} [method]  'bilinear' where none is given; 'nearest' is PyTorch's 'nearest-exact'
 * @property {boolean | undefined} [antialias]  true where none is given: as interpolate's antialias=True, every pixel counts where an axis shrinks;
 *   false: a result is made of the two or four nearest pixels of each axis
 * @property {number | AnyTensor | ArrayLike<number> | undefined} [scale]  result \* scale + bias is written: one number, or one per index of `axis`. Where x has integers, a scale or bias that is none needs dtype or out
 * @property {number | AnyTensor | ArrayLike<number> | undefined} [bias]
 * @property {number | undefined} [axis]  of channels, for lists in scale and bias, and for alpha; the one after columns where none is given, or before rows if columns are last
 * @property {E | undefined} [dtype]  of the result; x's where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {ImageOptions<E, O> & { value?: number | undefined, align?: 'center' | 'start' | 'end' | undefined }} LetterboxOptions value: of the border, before it is scaled; 114 where none is given · align: where the image is; 'center' where none is given */

/** Where a letterbox shows an image; pairs are of rows and columns. @typedef {{ scale: [number, number], padding: [number, number], size: [number, number] }} LetterboxPlace scale: pixels of the letterbox for one of the image · padding: before the image · size: the image's */

/** @typedef {{ axes?: readonly number[] | undefined, channels?: 3 | 4 | undefined }} CropOptions axes: of rows and of columns; [-2, -1] where none are given, of a picture [0, 1] · channels: as of resize */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} PadOptions
 * @property {'constant' | 'reflect' | 'edge' | undefined} [mode]  'constant' where none is given; 'reflect' does not repeat the edge
 * @property {number | bigint | boolean | readonly [number, number] | undefined} [value]  of a constant border; 0 where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of x to out's dtype; 'same_kind' where none is given
 */

const OF_RESIZE = known([
  'axes',
  'channels',
  'alpha',
  'method',
  'antialias',
  'scale',
  'bias',
  'axis',
  'dtype',
  'out',
  'casting',
])
const OF_LETTERBOX = known([
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
])
const OF_CROP = known(['axes', 'channels'], 'axes')
const OF_PAD = known(['mode', 'value', 'out', 'casting'])
const METHODS = ['nearest', 'bilinear', 'bicubic'] // as in resize.c
const NEAREST = 0
const MODES = ['constant', 'reflect', 'edge'] // as in pad.c
const ALIGNS = ['start', 'center', 'end']
const MOST_AXES = 64
const MOST_PIXELS = 2 ** 30 - 1 // along an axis

/**
 * Options of resize, read.
 *
 * @typedef {object} Given
 * @property {number[]} axes
 * @property {3 | 4} channels  of a picture
 * @property {boolean} alpha  the last channel is, and weights the others
 * @property {number} method
 * @property {boolean} antialias
 * @property {number | Float64Array} scale
 * @property {number | Float64Array} bias
 * @property {boolean} isScaled
 * @property {number | undefined} axis
 * @property {ReturnType<typeof resultIn>} result
 */

/** @param {unknown} axes @param {boolean} isPicture @returns {number[]} */
function pairOf(axes, isPicture) {
  if (axes === undefined) return isPicture ? [0, 1] : [-2, -1]
  const list = atOnce(() => integers('axes', axes))
  if (list.length !== 2) {
    throw failure(
      'ERR_SHAPE',
      `axes has ${list.length} entries; two were expected, of rows and of columns`,
    )
  }
  return list
}

/** @param {unknown} size @returns {number[]} height and width */
function heightAndWidth(size) {
  if (typeof size !== 'object') {
    throw failure('ERR_ARGUMENT', `size is ${show(size)}; [height, width] was expected`)
  }
  const list = atOnce(() => integers('size', size, 'ERR_SHAPE'))
  if (list.length !== 2) {
    throw failure('ERR_SHAPE', `size has ${list.length} entries; [height, width] was expected`)
  }
  for (let i = 0; i < 2; i++) {
    if (list[i] < 0 || list[i] > MOST_PIXELS) {
      throw failure(
        'ERR_SHAPE',
        `size[${i}] is ${list[i]}; 0 to ${MOST_PIXELS} pixels are possible`,
      )
    }
  }
  return list
}

/**
 * @param {string} name
 * @param {unknown} factor
 * @param {number} missing
 * @returns {number | Float64Array}
 */
function readFactor(name, factor, missing) {
  return atOnce(() => {
    if (Tensor.isTensor(factor)) operandOf(factor, name)
    return factorOf(name, factor, missing, () => {})
  })
}

/** @param {Record<string, any>} options @param {boolean} isPicture @returns {Given} */
function readOptions(options, isPicture) {
  const {
    axes,
    channels: given,
    alpha,
    method = 'bilinear',
    antialias = true,
    scale,
    bias,
    axis,
  } = options
  const channels = channelsFrom(given, isPicture)
  if (Array.isArray(axis)) {
    throw failure(
      'ERR_ARGUMENT',
      'axis is an array; the axis of channels was expected, axes are those of rows and columns',
    )
  }
  return {
    axes: pairOf(axes, isPicture),
    channels,
    alpha: alphaFrom(alpha, isPicture ? channels : null),
    method: oneOf('method', method, METHODS),
    antialias: boolean('antialias', antialias),
    scale: readFactor('scale', scale, 1),
    bias: readFactor('bias', bias, 0),
    isScaled: scale !== undefined || bias !== undefined,
    axis: axis === undefined ? undefined : integer('axis', axis), // of channels
    result: resultIn(options),
  }
}

/** @param {any} x @param {import('../copy/images').Image | null} picture  that x is @param {Given} given */
const pixelsOf = (x, picture, { channels }) =>
  picture === null ? operandOf(x, 'x') : layoutOfPicture(picture, channels)

/** @param {number[]} axes @param {number[]} shape @returns {number[]} from 0 on */
function axesIn(axes, shape) {
  if (shape.length < 2) {
    throw failure('ERR_SHAPE', `x has ${shape.length} axes; an image has at least two`)
  }
  return axesFromStart(axes, shape.length, 'axes')
}

/**
 * The axis of channels.
 *
 * @param {Given} given
 * @param {number[]} axes  of rows and columns
 * @param {number[]} shape
 * @returns {number} -1: nothing asks for it
 */
function channelAxis({ axis, scale, bias, alpha }, axes, shape) {
  if (typeof scale === 'number' && typeof bias === 'number' && !alpha) return -1
  const last = axes[1] + 1
  const at =
    axis !== undefined
      ? axisFromStart(axis, shape.length)
      : last < shape.length
        ? last
        : axes[0] - 1
  if (at < 0) {
    throw failure(
      'ERR_SHAPE',
      `x has no axis of channels, ${alpha ? 'of which alpha is the last one' : 'along which lists in scale and bias would be'}`,
    )
  }
  if (at === axes[0] || at === axes[1]) {
    throw failure('ERR_ARGUMENT', `axis ${at} is one of axes; channels are along another one`)
  }
  if (alpha && shape[at] < 2) {
    throw failure(
      'ERR_SHAPE',
      `axis ${at} has ${shape[at]} channels; one or more and alpha were expected`,
    )
  }
  return at
}

/**
 * Factors as C reads them.
 *
 * @param {Given} given
 * @param {number} axis
 * @param {Layout} from
 * @returns {Layout | null} float64 [2, n], claimed; null: nothing is scaled
 */
function factorsOf({ scale, bias, isScaled, result }, axis, { dtype, shape }) {
  if (!isScaled) return null
  const isKept = scalars.isWhole[dtype] && result.dtype === undefined && result.out === undefined // integers that nobody asked for
  const n = axis < 0 ? 1 : shape[axis]
  const factors = Object.entries({ scale, bias })
  for (const [name, factor] of factors) {
    if (typeof factor !== 'number' && factor.length !== n) {
      throw failure(
        'ERR_SHAPE',
        `${name} has ${factor.length} entries; axis ${axis} has ${n} elements`,
      )
    }
  }
  const numbers = new Float64Array(2 * n)
  for (let i = 0; i < n; i++) {
    for (const [k, [name, factor]] of factors.entries()) {
      const number = typeof factor === 'number' ? factor : factor[i]
      if (isKept && !Number.isInteger(number)) {
        throw failure(
          'ERR_CAST',
          `${name} is ${number}, and the result would be ${dtypes[dtype].name}, as the image is; { dtype: 'float32' } gives floats`,
        )
      }
      numbers[k * n + i] = number
    }
  }
  const layout = written(allocated(denseLayout(FLOAT64, [2, n])), (made) =>
    ffi.copy(made, layoutOver(numbers, FLOAT64, [2, n]), 0),
  )
  claim(layout.storage)
  return layout
}

/** @param {number} x  from 0 on @returns {number} the nearest integer, of two the even one, as Python's round() */
function roundedToEven(x) {
  const low = Math.floor(x)
  const part = x - low
  return part > 0.5 || (part === 0.5 && low % 2 === 1) ? low + 1 : low
}

/**
 * Images in another size.
 *
 * @param {Layout} from
 * @param {Given} given
 * @param {number[]} axes  of rows and columns
 * @param {number} axis  of factors and alpha
 * @param {number[]} size  height and width of the result
 * @param {{ inside: number[], value: number } | null} [border]  inside: what is before the image, and its size, in the result; value: around it
 * @returns {any}
 */
function resized(from, given, axes, axis, size, border = null) {
  const { method, antialias, alpha } = given
  const { dtype, out, casting } = given.result
  const { shape } = from
  const factors = factorsOf(given, axis, from)
  try {
    const made = dtype === undefined ? from.dtype : dtype.index
    const { to, result } = target(
      out,
      made,
      shape.map((n, d) => (axes.includes(d) ? size[axes.indexOf(d)] : n)),
    )
    if (dtype !== undefined) checkOut(to, to.shape, dtype)
    const order =
      axes[0] < axes[1]
        ? lastAxes(shape.length, axes)
        : [...shape.keys()].filter((d) => !axes.includes(d)).concat(axes)
    const source = permuted(from, order)
    const numbers = [
      method,
      antialias ? 1 : 0,
      order === null ? axis : order.indexOf(axis),
      made,
      casting,
      factors === null ? 0 : 1,
      alpha && method !== NEAREST ? 1 : 0,
    ]
    const targets = [permuted(to, order)]
    const sources = [source, factors ?? source]
    if (border === null) run(rows.resize, targets, sources, { numbers })
    else {
      const { inside, value } = border
      run(rows.resize_within, targets, sources, { lists: [inside], numbers, scalars: [value] })
    }
    return result()
  } finally {
    if (factors !== null) unclaim(factors.storage, ffi.backend)
  }
}

/**
 * Images in another size. Pixels' centres are at halves, as in PyTorch's interpolate with align_corners=False. Computed in float32, or float64
 * of float64 and integers of 32 bits and more; results are then scaled, and rounded once: to the nearest integer, ties to even, where they
 * are integers, which clamps them. So uint8 pixels become scaled floats in one step, in whatever order of axes `out` has. An ImageData or a
 * canvas is read as uint8 [height, width, 3], one of half floats as float16 (a VideoFrame by resizeAsync), by `channels: 4` with its alpha,
 * which then weights its colours as a canvas does.
 *
 * @template {DtypeName} [D='uint8']
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D> | Image | Canvas} x  images of real numbers; of any dtype where method is 'nearest' and nothing is scaled or converted
 * @param {readonly number[]} size  [height, width], in pixels
 * @param {ImageOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>} x's shape with these two axes in the new size
 * @throws {TypeError} ERR_DTYPE bool, float8 and complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE, also of an image without pixels, ERR_BOUNDS axes outside or repeated, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch interpolate, torchvision resize
 * @example
 * resize(tensor([[0, 100], [100, 200]], 'uint8'), [1, 4]).toArray() // [[50, 75, 125, 150]]
 */
function resize(x, size, opts) {
  const picture = pictureOf(x)
  const given = readOptions(optionsFor(opts, OF_RESIZE), picture !== null)
  const wanted = heightAndWidth(size)
  const from = pixelsOf(x, picture, given)
  const axes = axesIn(given.axes, from.shape)
  return resized(from, given, axes, channelAxis(given, axes, from.shape), wanted)
}

/**
 * A part of images, as a view: no bytes are copied. Of an ImageData it is one of its bytes, of a canvas one of those that it gave.
 *
 * @template {DtypeName} [D='uint8']
 * @param {Tensor<D> | Image | Canvas} x
 * @param {readonly number[]} box  [left, top, right, bottom] in pixels; right and bottom are not part of it
 * @param {CropOptions} [opts]
 * @returns {Tensor<D>} a view
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS the box reaches beyond the image, or has a negative size; axes outside or repeated, ERR_SHAPE
 * @see torchvision crop, Pillow crop
 * @example
 * crop(tensor([[1, 2, 3], [4, 5, 6]]), [1, 0, 3, 1]).toArray() // [[2, 3]]
 */
function crop(x, box, opts) {
  const picture = pictureOf(x)
  const options = optionsFor(opts, OF_CROP)
  const given = pairOf(options.axes, picture !== null)
  const channels = channelsFrom(options.channels, picture !== null)
  const edges = atOnce(() => integers('box', box))
  if (edges.length !== 4) {
    throw failure(
      'ERR_SHAPE',
      `box has ${edges.length} entries; [left, top, right, bottom] was expected`,
    )
  }
  const image = picture === null ? /** @type {Tensor} */ (x) : tensorOfPicture(picture, channels)
  const layout = Tensor.attachedOf(image)
  const { shape } = layout
  const axes = axesIn(given, shape)
  const [left, top, right, bottom] = edges
  const height = shape[axes[0]]
  const width = shape[axes[1]]
  if (left < 0 || top < 0 || right < left || bottom < top || right > width || bottom > height) {
    throw failure(
      'ERR_BOUNDS',
      `box is [${left}, ${top}, ${right}, ${bottom}]; an image of ${width} × ${height} pixels has [0, 0, ${width}, ${height}]`,
    )
  }
  const tall = ffi.viewByNumbers(ffi.opcodes.narrow, layout, axes[0], top, bottom - top)
  return /** @type {any} */ (
    Tensor.viewOf(image, ffi.viewByNumbers(ffi.opcodes.narrow, tall, axes[1], left, right - left))
  )
}

/**
 * Images in another size with their proportions kept, and a border around them. Resized as by resize, straight into the result.
 *
 * @template {DtypeName} [D='uint8']
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D> | Image | Canvas} x  images of real numbers
 * @param {readonly number[]} size  [height, width] of the result, in pixels
 * @param {LetterboxOptions<E, O> | NameOf<E>} [opts]
 * @returns {LetterboxPlace & { image: Tensor<Or<O, Or<E, D>>> }} image: the result; the rest is what unletterbox takes
 * @throws as resize
 * @see Ultralytics LetterBox
 * @example
 * letterbox(tensor([[8, 8]], 'uint8'), [4, 4], { value: 0 }).image.toArray() // [[0, 0, 0, 0], [8, 8, 8, 8], [8, 8, 8, 8], [0, 0, 0, 0]]
 */
function letterbox(x, size, opts) {
  const picture = pictureOf(x)
  const options = optionsFor(opts, OF_LETTERBOX)
  const { value = 114, align = 'center' } = options
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `value is ${show(value)}; a number was expected`)
  }
  const aligned = oneOf('align', align, ALIGNS)
  const given = readOptions(options, picture !== null)
  const wanted = heightAndWidth(size)
  const from = pixelsOf(x, picture, given)
  const { shape } = from
  const axes = axesIn(given.axes, shape)
  const axis = channelAxis(given, axes, shape)
  const own = axes.map((d) => shape[d])
  if (own[0] === 0 || own[1] === 0 || wanted[0] === 0 || wanted[1] === 0) {
    throw failure(
      'ERR_SHAPE',
      `an image of ${own[1]} × ${own[0]} pixels has no proportions in ${wanted[1]} × ${wanted[0]}`,
    )
  }
  const by = Math.min(wanted[0] / own[0], wanted[1] / own[1])
  const inner = own.map((n, i) => Math.min(Math.max(roundedToEven(n * by), 1), wanted[i]))
  const padding = inner.map((n, i) => Math.floor(((wanted[i] - n) * aligned) / 2))
  const border = { inside: [...padding, ...inner], value }
  return /** @type {any} */ ({
    image: resized(from, given, axes, axis, wanted, border),
    scale: inner.map((n, i) => n / own[i]),
    padding,
    size: own,
  })
}

/** @param {unknown} entry @param {string} name @returns {[number, number]} */
function widthsOf(entry, name) {
  const list = shapeOf(entry, name)
  if (list.length !== 1 && list.length !== 2) {
    throw failure(
      'ERR_SHAPE',
      `${name} has ${list.length} entries; a number or [before, after] was expected`,
    )
  }
  const before = list[0]
  const after = list[list.length - 1]
  if (before < 0 || after < 0) {
    throw failure(
      'ERR_SHAPE',
      `${name} is ${before < 0 ? before : after}; 0 or more elements were expected`,
    )
  }
  return [before, after]
}

/**
 * What pad was given.
 *
 * @param {unknown} widths
 * @returns {{ all: [number, number] | null, each: [number, number][] }}
 */
function readWidths(widths) {
  if (!Array.isArray(widths)) return { all: widthsOf(widths, 'widths'), each: [] }
  const { length } = widths
  if (!(Number.isInteger(length) && length >= 0 && length <= MOST_AXES)) {
    throw failure('ERR_SHAPE', `widths has ${show(length)} entries; ${MOST_AXES} are possible`)
  } // a Proxy may return any length
  const list = arrayOf(length, (i) => widths[i])
  const isPair =
    list.length > 0 && list.length <= 2 && list.every((each) => typeof each === 'number')
  if (isPair) return { all: widthsOf(list, 'widths'), each: [] }
  return { all: null, each: list.map((entry, i) => widthsOf(entry, `widths[${i}]`)) }
}

/**
 * A tensor with a border around it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  any dtype
 * @param {number | readonly [number, number] | readonly (number | readonly [number, number])[]} widths  elements before and after each axis; [before, after] for all axes, or a list with a number or [before, after] for each
 * @param {PadOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>}
 * @throws {TypeError} ERR_ARGUMENT, ERR_CAST also of the value · {RangeError} ERR_SHAPE, also where an axis without elements would be repeated, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy pad
 * @example
 * pad(tensor([1, 2]), [1, 0], { mode: 'reflect' }).toArray() // [2, 1, 2]
 */
function pad(x, widths, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_PAD)
  const { mode = 'constant', value = 0 } = options
  const how = oneOf('mode', mode, MODES)
  const filler = scalars.read('value', value, 'a number')
  const { out, casting } = resultIn(options)
  const { all, each } = atOnce(() => readWidths(widths))
  const from = operandOf(x, 'x')
  const { shape } = from
  if (all === null && each.length !== shape.length) {
    throw failure('ERR_SHAPE', `widths has ${each.length} entries; x has ${shape.length} axes`)
  }
  const before = shape.map((_, d) => (all ?? each[d])[0])
  const padded = shape.map((n, d) => n + before[d] + (all ?? each[d])[1])
  for (let d = 0; d < padded.length; d++) {
    if (!Number.isSafeInteger(padded[d])) {
      throw failure('ERR_SHAPE', `axis ${d} would have ${padded[d]} elements`)
    }
  }
  if (out === undefined && !scalars.takes(from.dtype, filler)) {
    throw scalars.misfit('value', filler, from.dtype, 'x')
  }
  const { to, result } = target(out, from.dtype, padded)
  run(rows.pad, [to], [from], { lists: [before], numbers: [how, casting], scalars: [filler] })
  return result()
}

module.exports = { resize, crop, letterbox, pad }
