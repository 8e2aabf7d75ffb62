'use strict'
// Medians and quantiles: C selects elements by rank, which are averaged here.

const { arrayOf } = require('../base/records')
const { failure } = require('../base/errors')
const { boolean, oneOf, show } = require('../base/validate')
const { NONE } = require('./calls/calls')
const { reductions, reductionType, lines, MOST_RANKS } = require('./calls/reductions')
const { checkOut } = require('../copy/results')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { made } = require('./allocate')
const { axesFor, axesGiven, lastAxes, permuted, reducedShape } = require('./axes')
const { FLOAT64 } = require('./constants')
const { positive } = require('./functions')
const { known, optionsAlong } = require('./options')
const { checkNumbers, operandOf, targetOf } = require('./operands')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Axes, DtypeName, Floated, Or } from '../base/types' */
/** @import { ReductionOptions } from './reductions' */

/** @template {DtypeName} [O=any] @typedef {Omit<ReductionOptions<O>, 'casting'>} MedianOptions */
/** @template {DtypeName} [O=any] @typedef {MedianOptions<O> & { method?: 'linear' | 'lower' | 'higher' | 'midpoint' | 'nearest' | undefined }} QuantileOptions method: 'linear' where none is given */

/** A place between two ranks of sorted elements. @typedef {{ low: number, high: number, part: number }} Position part: how far from low to high; from 0 to 1 */

const OF_MEDIAN = known(['axis', 'keepdims', 'out'], 'axis')
const OF_QUANTILE = known(['axis', 'keepdims', 'method', 'out'], 'axis')
const METHODS = ['linear', 'lower', 'higher', 'midpoint', 'nearest']

/**
 * As NumPy rounds it, but for infinities, and differences that overflow.
 *
 * @param {number} a
 * @param {number} b
 * @param {number} part
 */
function between(a, b, part) {
  const gap = b - a
  if (gap === Infinity) return a * (1 - part) + b * part
  return part < 0.5 ? a + gap * part : b - gap * (1 - part)
}

/**
 * @param {number} at  from 0 to the last rank
 * @param {string} method
 * @returns {Position}
 */
function positionOf(at, method) {
  const low = Math.floor(at)
  const high = Math.ceil(at)
  const part = at - low
  if (method === 'linear') return { low, high, part }
  if (method === 'midpoint') return { low, high, part: 0.5 }
  const isHigh =
    method === 'higher' || (method === 'nearest' && (part > 0.5 || (part === 0.5 && low % 2 === 1)))
  const one = isHigh ? high : low
  return { low: one, high: one, part: 0 }
}

const MOST_PARTS = 2 ** 16

/**
 * @param {unknown} q
 * @returns {number[]} each from 0 to 1
 */
function partsOf(q) {
  const isTensor = Tensor.isTensor(q)
  const list =
    isTensor && operandOf(q, 'q').shape.length <= 1 ? tidy(() => q.reshape([q.size]).toArray()) : q
  if (!Array.isArray(list)) {
    throw failure(
      'ERR_ARGUMENT',
      `q is ${show(q)}; a number, a list of numbers or a tensor with one axis was expected`,
    )
  }
  const { length } = list
  if (!(Number.isInteger(length) && length >= 0 && length <= MOST_PARTS)) {
    throw failure('ERR_SHAPE', `q has ${show(length)} entries; ${MOST_PARTS} are possible`)
  }
  return arrayOf(length, (i) => partOf(`q[${i}]`, list[i]))
}

/** @param {string} name @param {unknown} value */
function partOf(name, value) {
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number was expected`)
  }
  if (!(value >= 0 && value <= 1)) {
    throw failure('ERR_BOUNDS', `${name} is ${value}; it has to be from 0 to 1`)
  }
  return value
}

/**
 * The elements that sorted lines have at two ranks a place.
 *
 * @param {Layout} from
 * @param {number[]} axes
 * @param {Position[]} positions
 * @returns {Tensor<'float64'>} the other axes, then one with low and high of each place
 */
function selected(from, axes, positions) {
  const { shape } = from
  const kept = reducedShape(shape, axes, false)
  const all = positions.flatMap(({ low, high }) => [low, high])
  const count = all.length
  const values = made(FLOAT64, [...kept, count])
  const source = permuted(from, lastAxes(shape.length, axes))
  for (let first = 0; first < count; first += MOST_RANKS) {
    const n = Math.min(MOST_RANKS, count - first)
    const ranks = all.slice(first, first + n)
    const to = Tensor.writableOf(values.narrow(-1, first, n))
    lines(reductions.quantile, to, source, axes.length, ranks, NONE, 0)
  }
  return values
}

/**
 * @param {unknown} x
 * @param {Record<string, any>} options
 * @param {number} count  of places; -1: one, without an axis of its own
 * @param {(n: number, i: number) => Position} positionIn  lines of n elements
 * @param {(a: number, b: number, part: number) => number} meet
 * @returns {any}
 */
function computed(x, options, count, positionIn, meet) {
  const { axis, keepdims: kept } = options
  const listed = axesGiven(axis)
  const keepdims = boolean('keepdims', kept)
  const { out } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const axes = axesFor(listed, from.shape.length)
  const result = reductionType(reductions.quantile, from.dtype, NONE)
  const rest = reducedShape(from.shape, axes, keepdims)
  const shape = count < 0 ? rest : [count, ...rest]
  if (out !== undefined) checkOut(targetOf(out), shape, undefined)
  const n = axes.reduce((product, axis) => product * from.shape[axis], 1)
  const positions = arrayOf(Math.abs(count), (i) =>
    n === 0 ? { low: 0, high: 0, part: 0 } : positionIn(n, i),
  )
  return tidy(() => {
    const values = selected(from, axes, positions)
    const precise = made(FLOAT64, shape)
    fill(precise.data, values.data, positions, meet)
    return out === undefined && result === FLOAT64
      ? precise
      : positive(precise, { out: out ?? made(result, shape) })
  })
}

/**
 * @param {Float64Array} to  place by place
 * @param {Float64Array} values  line by line, of each place two
 * @param {Position[]} positions
 * @param {(a: number, b: number, part: number) => number} meet
 */
function fill(to, values, positions, meet) {
  const count = positions.length
  const lines = count === 0 ? 0 : to.length / count
  for (let i = 0; i < count; i++) {
    const { part } = positions[i]
    for (let k = 0; k < lines; k++) {
      const a = values[2 * (k * count + i)]
      const b = values[2 * (k * count + i) + 1]
      to[i * lines + k] = a === b ? b : meet(a, b, part) // of -0 and 0 it is 0
    }
  }
}

/**
 * The middle of the sorted elements over axes; of an even number the mean of the two in the middle. NaN wins, and is what no elements give.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {MedianOptions<O> | Axes} [axis]  or options
 * @param {MedianOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} x's shape without the axes; integers give float32
 * @throws {TypeError} ERR_DTYPE float8 and complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside or repeated, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy median
 * @example
 * median(tensor([[1, 9, 2], [4, 4, 0]]), { axis: 1 }).toArray() // [2, 4]
 */
function median(x, axis, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(axis, opts, OF_MEDIAN)
  checkNumbers('median', operandOf(x, 'x'), 'real numbers')
  return computed(
    x,
    options,
    -1,
    (n) => ({ low: Math.floor((n - 1) / 2), high: Math.floor(n / 2), part: 0.5 }),
    (a, b) => (a + b) / 2,
  )
}

/**
 * The element that a part of the sorted elements over axes is below. Where q lies between two of them, method says which, or what between them.
 * NaN wins, and is what no elements give.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {number | readonly number[] | AnyTensor} q  from 0 to 1; of a list, or a tensor with one axis, the result's first axis is that one
 * @param {QuantileOptions<O> | Axes} [axis]  or options
 * @param {QuantileOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} x's shape without the axes; integers give float32
 * @throws as median · {RangeError} ERR_BOUNDS q is outside 0 to 1
 * @see NumPy quantile
 * @example
 * quantile(tensor([1, 2, 3, 4, 9]), [0.25, 0.9]).toArray() // [2, 7]
 */
function quantile(x, q, axis, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(axis, opts, OF_QUANTILE)
  const { method = 'linear' } = options
  oneOf('method', method, METHODS)
  const isList = Array.isArray(q) || (Tensor.isTensor(q) && q.ndim === 1)
  const parts = typeof q === 'number' ? [partOf('q', q)] : partsOf(q)
  return computed(
    x,
    options,
    isList ? parts.length : -1,
    (n, i) => positionOf(parts[i] * (n - 1), method),
    between,
  )
}

module.exports = { median, quantile }
