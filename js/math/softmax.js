'use strict'
// softmax and its like: functions that need whole lines, which are brought to the last axes.

const { boolean } = require('../base/validate')
const { NONE } = require('./calls/calls')
const { reductions, reductionType, lines } = require('./calls/reductions')
const { tensorOf, resultIn } = require('../tensor/tensor')
const {
  axesFor,
  axesGiven,
  axisGiven,
  inRange,
  lastAxes,
  permuted,
  reducedShape,
} = require('./axes')
const { target } = require('./cores')
const { known, optionsAlong } = require('./options')
const { checkNumbers, operandOf } = require('./operands')

/** @import { AnyTensor, Axes, Casting, DtypeName, Floated, NameOf, Or } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */
/** @import { TypedReductionOptions } from './reductions' */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} AlongOptions
 * @property {number | undefined} [axis]  -1 where none is given
 * @property {E | undefined} [dtype]  of the result: a float; x is computed in at least that
 * @property {Tensor<O> | undefined} [out]  of x's shape; gets the result, and is returned; may be x
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

const KNOWN = known(['axis', 'dtype', 'out', 'casting'], 'axis')
const OF_SUM = known(['axis', 'keepdims', 'dtype', 'out', 'casting'], 'axis')

/**
 * @param {number} op
 * @param {unknown} x
 * @param {unknown} first  axis, or options
 * @param {unknown} opts
 * @returns {any}
 */
function along(op, x, first, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(first, opts, KNOWN)
  const given = axisGiven(options)
  const { out, dtype, casting } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const { shape } = from
  const order = lastAxes(shape.length, [inRange(given, shape.length)])
  const asked = dtype === undefined ? NONE : dtype.index
  const { to, result } = target(out, reductionType(op, from.dtype, asked), shape)
  lines(op, permuted(to, order), permuted(from, order), 1, [], asked, casting)
  return result()
}

/**
 * Scores to probabilities: exp(x) divided by its sum along an axis. The greatest element is taken off first, so that nothing overflows.
 * Computed in float32, or float64 of float64 and integers of 32 bits and more, and rounded once. Where there are NaN, Infinity, or nothing but
 * -Infinity, the whole line is NaN.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {AlongOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {AlongOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} of x's shape; integers give float32
 * @throws {TypeError} ERR_DTYPE float8 and complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch softmax
 * @example
 * softmax(tensor([[1, 1], [0, 1000]])).toArray() // [[0.5, 0.5], [0, 1]]
 */
const softmax = (x, axis, opts) => along(reductions.softmax, x, axis, opts)

/**
 * The logarithm of softmax, exact also where a probability is too small for a float.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {AlongOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {AlongOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} of x's shape; integers give float32
 * @throws as softmax
 * @see PyTorch log_softmax
 * @example
 * logSoftmax(tensor([0, 1000])).toArray() // [-1000, 0]
 */
const logSoftmax = (x, axis, opts) => along(reductions.log_softmax, x, axis, opts)

/**
 * The logarithm of the sum of exp(x) over axes, without overflow; -Infinity of no elements.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes; integers give float32
 * @throws as softmax · {RangeError} ERR_BOUNDS an axis repeated
 * @see PyTorch logsumexp
 * @example
 * logSumExp(tensor([1000, -Infinity])).item() // 1000
 */
function logSumExp(x, axis, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(axis, opts, OF_SUM)
  const given = axesGiven(options.axis)
  const keepdims = boolean('keepdims', options.keepdims)
  const { out, dtype, casting } = resultIn(options)
  const from = operandOf(x, 'x')
  const op = reductions.log_sum_exp
  const asked = dtype === undefined ? NONE : dtype.index
  if (asked === NONE) checkNumbers('logSumExp', from, 'real numbers')
  const axes = axesFor(given, from.shape.length)
  const shape = reducedShape(from.shape, axes, keepdims)
  const order = lastAxes(from.shape.length, axes)
  const { to, result } = target(out, reductionType(op, from.dtype, asked), shape)
  const lineByLine = keepdims ? permuted(to, order) : to
  lines(op, lineByLine, permuted(from, order), axes.length, [], asked, casting)
  return result()
}

module.exports = { softmax, logSoftmax, logSumExp }
