'use strict'
// Boxes of detectors, [x1, y1, x2, y2], and classes.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, integer, show } = require('../base/validate')
const { resultAt, rows, run } = require('./calls/algorithms')
const { atOnce } = require('./calls/plan')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { checkOut } = require('../copy/results')
const { allocated, denseLayout, written } = require('../layout/layouts')
const { tensorOf, resultIn, wrap } = require('../tensor/tensor')
const { axisGiven, inRange, lastAxes, permuted } = require('./axes')
const { INT32, INT64, FLOAT32, SAFE } = require('./constants')
const { broadcastBatches, checkCore, refusable, target } = require('./cores')
const { operandOf } = require('./operands')
const { known, numberOf, optionsAlong, optionsFor } = require('./options')
const { isWhole } = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Casting, DtypeName, Floated, NameOf, Or, Promote } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */
/** @import { LetterboxPlace } from './images' */
/** @import { IndexName } from './reductions' */

/**
 * @template {IndexName} [E=any]
 * @typedef {object} NmsOptions
 * @property {number | undefined} [iouThreshold]  boxes with more in common with one before are left out; 0.5 where none is given. It is not rounded to
 *   the boxes' dtype, as in torchvision: float32's 3 / 10 is more than 0.3
 * @property {number | undefined} [scoreThreshold]  boxes whose score is not greater are left out. It is rounded to the scores' dtype, if that is one of
 *   floats, as beside any tensor: a score of 0.3 is not greater than 0.3
 * @property {number | undefined} [limit]  indices at most
 * @property {AnyTensor | undefined} [classes]  integers [n]: only boxes of one class leave each other out
 * @property {E | undefined} [dtype]  of the result; 'int32' where none is given
 */

/** @template {DtypeName} [O=any] @typedef {{ out?: Tensor<O> | undefined, casting?: Casting | undefined }} BoxOptions out: of the result's shape; gets the result, and is returned · casting: of the result to out's dtype; 'same_kind' where none is given */

/** @template {DtypeName} [O=any] @typedef {BoxOptions<O> & { clip?: boolean | undefined }} UnletterboxOptions clip: to the image; false where none is given */

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ axis?: number | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined }} OneHotOptions axis: of the classes, in the result; -1 where none is given · dtype: 'float32' where none is given · out: of the result's shape; gets the result, and is returned */

const OF_NMS = known(
  ['iouThreshold', 'scoreThreshold', 'limit', 'classes', 'dtype'],
  'iouThreshold',
)
const OF_BOXES = known(['out', 'casting'])
const OF_UNLETTERBOX = known(['clip', 'out', 'casting'])
const OF_ONE_HOT = known(['axis', 'dtype', 'out'], 'axis')

/** @param {number} dtype @returns {number} what float functions of it give */
const floated = (dtype) => (isWhole[dtype] ? FLOAT32 : dtype)

/** @param {string} name @param {number[]} shape @param {number} n */
function checkList(name, shape, n) {
  if (shape.length !== 1 || shape[0] !== n) {
    throw failure(
      'ERR_SHAPE',
      `${name} has shape [${show(shape[0])}${shape.length > 1 ? ', ...' : ''}]; [${n}] was expected, one for each box`,
    )
  }
}

/** @param {Layout} layout @param {string} name */
function checkBoxes({ shape }, name) {
  const last = shape[shape.length - 1]
  if (last !== 4) {
    throw failure('ERR_SHAPE', `${name} has ${last} elements along its last axis; boxes have 4`)
  }
}

/**
 * Non-maximum suppression: the boxes with the best scores, of which no two have much in common. Beginning with the best one, each box leaves
 * those behind it out whose intersection with it, divided by the union, is greater than the threshold. Equal scores count in the order
 * of boxes, and NaN last.
 *
 * @template {IndexName} [E=never]
 * @param {AnyTensor} boxes  [n, 4]: x1, y1, x2, y2
 * @param {AnyTensor} scores  [n]
 * @param {NmsOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, 'int32'>>} indices of boxes, the best first
 * @throws {TypeError} ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_BOUNDS a negative limit, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device
 * @see torchvision nms, batched_nms
 * @example
 * nms(tensor([[0, 0, 2, 2], [0, 0, 2, 1.5], [4, 4, 6, 6]]), tensor([0.5, 0.75, 0.25])).toArray() // [1, 2]
 */
function nms(boxes, scores, opts) {
  tensorOf(boxes, 'boxes')
  tensorOf(scores, 'scores')
  const {
    iouThreshold = 0.5,
    scoreThreshold,
    limit,
    classes,
    dtype: asked,
  } = optionsFor(opts, OF_NMS)
  const most = numberOf('iouThreshold', iouThreshold)
  const least = scoreThreshold === undefined ? NaN : numberOf('scoreThreshold', scoreThreshold)
  const count = limit === undefined ? undefined : integer('limit', limit)
  if (count !== undefined && count < 0) {
    throw failure('ERR_BOUNDS', `limit is ${count}; 0 or more indices were expected`)
  }
  if (classes !== undefined) tensorOf(classes, 'classes')
  const dtype = asked === undefined ? INT32 : dtypeOf(asked).index
  if (dtype !== INT32 && dtype !== INT64) {
    throw failure('ERR_DTYPE', `dtype is ${dtypes[dtype].name}; indices are int32 or int64`)
  }
  const from = operandOf(/** @type {Tensor} */ (boxes), 'boxes')
  const by = operandOf(/** @type {Tensor} */ (scores), 'scores')
  const of = classes === undefined ? by : operandOf(classes, 'classes')
  if (from.shape.length !== 2) {
    throw failure('ERR_SHAPE', `boxes has ${from.shape.length} axes; [n, 4] was expected`)
  }
  checkBoxes(from, 'boxes')
  const n = from.shape[0]
  checkList('scores', by.shape, n)
  if (dtypes[by.dtype].kind === 'COMPLEX') {
    throw failure('ERR_DTYPE', `scores is ${dtypes[by.dtype].name}; real numbers were expected`)
  }
  if (classes !== undefined) checkList('classes', of.shape, n)
  if (classes !== undefined && !isWhole[of.dtype]) {
    throw failure('ERR_DTYPE', `classes is ${dtypes[of.dtype].name}; integers were expected`)
  }
  const length = Math.min(count ?? n, n)
  const scratch = allocated(denseLayout(INT32, [length]))
  try {
    const numbers = [length, classes === undefined ? 0 : 1]
    run(rows.nms, [scratch], [from, by, of], { numbers, scalars: [most, least] })
    const found = ffi.viewByNumbers(ffi.opcodes.narrow, scratch, 0, 0, resultAt(1))
    const to = allocated(denseLayout(dtype, found.shape))
    return wrap(written(to, (made) => ffi.copy(made, found, SAFE)))
  } finally {
    ffi.backend.release(scratch.storage)
  }
}

/**
 * Intersection over union of each box of a list and each of another one; NaN where both are empty.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} boxes1  [..., n, 4]: x1, y1, x2, y2
 * @param {Tensor<B>} boxes2  [..., m, 4]
 * @param {BoxOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<Promote<A, B>>>>} [..., n, m]; integers give float32
 * @throws {TypeError} ERR_DTYPE bool, float8 and complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see torchvision box_iou
 * @example
 * iou(tensor([[0, 0, 2, 2]]), tensor([[1, 0, 2, 2], [2, 2, 3, 3]])).toArray() // [[0.5, 0]]
 */
function iou(boxes1, boxes2, opts) {
  tensorOf(boxes1, 'boxes1')
  tensorOf(boxes2, 'boxes2')
  const { out, casting } = resultIn(optionsFor(opts, OF_BOXES))
  const a = operandOf(boxes1, 'boxes1')
  const b = operandOf(boxes2, 'boxes2')
  checkCore(a, 2, 'boxes1')
  checkCore(b, 2, 'boxes2')
  checkBoxes(a, 'boxes1')
  checkBoxes(b, 'boxes2')
  const { batch, a: first, b: others } = broadcastBatches(a, 2, b, 2)
  const shape = [...batch, a.shape[a.shape.length - 2], b.shape[b.shape.length - 2]]
  const { to, result } = target(out, floated(ffi.promoteTypes(a.dtype, b.dtype)), shape)
  const row = ffi.viewByNumbers(ffi.opcodes.unsqueeze, others, batch.length)
  const second = ffi.viewByList(ffi.opcodes.broadcast_to, row, [...shape, 4])
  run(rows.iou, [to], [first, second], { numbers: [casting] })
  return result()
}

/** @param {string} name @param {any} value @returns {[number, number]} */
function pairOf(name, value) {
  if (!Array.isArray(value)) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(value)}; a letterbox has [of rows, of columns]`,
    )
  }
  const a = value[0]
  const b = value[1]
  return [numberOf(`${name}[0]`, a), numberOf(`${name}[1]`, b)]
}

/**
 * Boxes in pixels of a letterbox, in pixels of the image that it shows.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} boxes  [..., 4]: x1, y1, x2, y2
 * @param {LetterboxPlace} letterboxed  what letterbox returned
 * @param {UnletterboxOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} of boxes' shape; integers give float32
 * @throws {TypeError} ERR_DTYPE bool, float8 and complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see Ultralytics scale_boxes
 * @example
 * unletterbox(tensor([0, 1, 2, 3]), letterbox(zeros([1, 2]), [4, 4])).toArray() // [0, 0, 1, 1]
 */
function unletterbox(boxes, letterboxed, opts) {
  tensorOf(boxes, 'boxes')
  const options = optionsFor(opts, OF_UNLETTERBOX)
  const isClipped = boolean('clip', options.clip)
  const { out, casting } = resultIn(options)
  if (letterboxed === null || typeof letterboxed !== 'object') {
    throw failure(
      'ERR_ARGUMENT',
      `letterboxed is ${show(letterboxed)}; what letterbox returned was expected`,
    )
  }
  const { scale, padding, size } = atOnce(() => ({
    scale: pairOf('scale', letterboxed.scale),
    padding: pairOf('padding', letterboxed.padding),
    size: pairOf('size', letterboxed.size),
  }))
  const whole = [padding[1], padding[0], size[1], size[0]]
  for (let i = 0; i < 4; i++) integer(i < 2 ? 'padding' : 'size', whole[i])
  const from = operandOf(boxes, 'boxes')
  checkCore(from, 1, 'boxes')
  checkBoxes(from, 'boxes')
  const { to, result } = target(out, floated(from.dtype), from.shape.slice())
  run(rows.unletterbox, [to], [from], {
    numbers: [...whole, casting * 2 + (isClipped ? 1 : 0)],
    scalars: [scale[1], scale[0]],
  })
  return result()
}

/**
 * Classes as vectors that are 1 at the class and 0 elsewhere.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} indices  integers from 0 to n - 1
 * @param {number} n  classes
 * @param {OneHotOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {OneHotOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} indices' shape with an axis of n elements more
 * @throws {TypeError} ERR_DTYPE indices are not integers, ERR_ARGUMENT · {RangeError} ERR_BOUNDS an index or the axis is outside, ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch one_hot
 * @example
 * oneHot(tensor([2, 0], 'int32'), 3).toArray() // [[0, 0, 1], [1, 0, 0]]
 */
function oneHot(indices, n, axis, opts) {
  tensorOf(indices, 'indices')
  const options = optionsAlong(axis, opts, OF_ONE_HOT)
  const given = axisGiven(options)
  const { out, dtype } = resultIn(options)
  const count = integer('n', n, 'ERR_SHAPE')
  if (count < 0) throw failure('ERR_SHAPE', `n is ${count}; 0 or more classes were expected`)
  const from = operandOf(/** @type {Tensor} */ (indices), 'indices')
  if (!isWhole[from.dtype]) {
    throw failure('ERR_DTYPE', `indices is ${dtypes[from.dtype].name}; integers were expected`)
  }
  const ndim = from.shape.length + 1
  const at = inRange(given, ndim)
  const shape = [...from.shape.slice(0, at), count, ...from.shape.slice(at)]
  const { to, result } = target(out, dtype === undefined ? FLOAT32 : dtype.index, shape)
  if (dtype !== undefined) checkOut(to, shape, dtype)
  refusable(out, to, () => run(rows.one_hot, [permuted(to, lastAxes(ndim, [at]))], [from]))
  return result()
}

module.exports = { nms, iou, unletterbox, oneHot }
