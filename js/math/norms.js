'use strict'
// Norms of vectors along axes.

const { boolean } = require('../base/validate')
const { NONE, elementwise, ops } = require('./calls/calls')
const { reduce, reductions, reductionType } = require('./calls/reductions')
const { dtypes } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { checkOut } = require('../copy/results')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { allocated, made, freed } = require('./allocate')
const { axesFor, axesGiven, reducedShape } = require('./axes')
const { FLOAT32, SAME_KIND } = require('./constants')
const { target } = require('./cores')
const { checkNumbers, operandOf, targetOf } = require('./operands')
const { abs, divide, maximum, positive, pow } = require('./functions')
const { known, numberOf, optionsAlong } = require('./options')
const { reduced } = require('./reduce')
const { sum, min, max, countNonzero } = require('./reductions')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, DtypeName, Floated, NameOf, Or, RealOf } from '../base/types' */
/** @import { TypedReductionOptions } from './reductions' */

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {Omit<TypedReductionOptions<E, O>, 'casting'> & { ord?: number | undefined }} NormOptions ord: 2 where none is given */
/** @template {DtypeName} [O=any] @typedef {{ axis?: number | readonly number[] | null | undefined, ord?: number | undefined, eps?: number | undefined, out?: Tensor<O> | undefined }} NormalizeOptions axis: -1 where none is given; ord: 2; eps: 1e-12, the least that is divided by */

const KNOWN = known(['axis', 'keepdims', 'ord', 'dtype', 'out'], 'ord')
const OF_NORMALIZE = known(['axis', 'ord', 'eps', 'out'], 'ord')

/** @param {number} dtype */
const isComplex = (dtype) => dtypes[dtype].kind === 'COMPLEX'

/** @param {number} ord @returns {number} the reduction that gives the norm, or its dtype */
const reductionOf = (ord) => (ord === 1 ? reductions.norm1 : reductions.norm2)

/** @param {Layout} from @param {number} ord @returns {boolean} whether one reduction gives the norm */
const isPlain = (from, ord) => (ord === 1 || ord === 2) && !isComplex(from.dtype)

/**
 * The length of vectors: of absolute values, the sum (ord 1), the root of the sum of squares (2), the greatest (Infinity), the least
 * (-Infinity), how many are not 0 (0), or the sum of powers to the power of 1 / ord (others).
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {NormOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, RealOf<Floated<D>>>>>} x's shape without the axes; integers give float32, complex numbers the dtype of their parts
 * @throws as sum · {TypeError} ERR_ARGUMENT ord is no number · {RangeError} ERR_SHAPE there is no greatest or least of no elements
 * @see array API linalg.vector_norm
 * @example
 * vectorNorm(tensor([[3, 4], [6, 8]]), { axis: 1 }).toArray() // [5, 10]
 */
function vectorNorm(x, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(opts, undefined, KNOWN)
  const { axis, keepdims: kept, ord = 2 } = options
  const given = axesGiven(axis)
  const keepdims = boolean('keepdims', kept)
  const { out, dtype } = resultIn(options)
  const power = numberOf('ord', ord)
  const asked = dtype === undefined ? NONE : dtype.index
  const from = operandOf(x, 'x')
  if (asked === NONE) checkNumbers('vectorNorm', from)
  const axes = axesFor(given, from.shape.length)
  if (!isPlain(from, power)) return tidy(() => normOf(x, axes, keepdims, power, asked, out))
  const op = reductionOf(power)
  const { to, result } = target(
    out,
    reductionType(op, from.dtype, asked),
    reducedShape(from.shape, axes, keepdims),
  )
  reduce(op, to, from, axes, asked, SAME_KIND, 0)
  return result()
}

/**
 * @param {Tensor<any>} x
 * @param {number[]} axes
 * @param {boolean} keepdims
 * @param {number} ord
 * @param {number} asked  a dtype, or NONE
 * @param {Tensor | undefined} out
 * @returns {any}
 */
function normOf(x, axes, keepdims, ord, asked, out) {
  const from = operandOf(x, 'x')
  const real = isComplex(from.dtype) ? abs(x) : x
  const op = reductionOf(ord)
  const result = reductionType(op, Tensor.layoutOf(real).dtype, asked)
  const shape = reducedShape(from.shape, axes, keepdims)
  if (out !== undefined) checkOut(targetOf(out), shape, undefined)
  const to = out ?? made(result, shape)
  const options = { axis: axes, keepdims }
  if (ord === 1 || ord === 2) {
    const dtype = asked === NONE ? undefined : dtypes[asked].name
    return reduced(op, real, { ...options, dtype, out: to }, undefined)
  }
  if (ord === 0) {
    return positive(countNonzero(real, { ...options, dtype: 'int64' }), {
      dtype: dtypes[result].name,
      out: to,
    })
  }
  if (!Number.isFinite(ord)) {
    const extreme = ord > 0 ? max : min
    return extreme(abs(real, { dtype: dtypes[result].name }), { ...options, out: to })
  }
  const powers = pow(abs(real, { dtype: 'float64' }), ord)
  return pow(sum(powers, options), 1 / ord, { out: to })
}

/**
 * Vectors of length 1: x divided by its norm along an axis, or by eps where the norm is less.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {NormalizeOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} of x's shape; integers give float32
 * @throws as vectorNorm
 * @see PyTorch normalize
 * @example
 * normalize(tensor([[3, 4], [0, 0]])).toArray() // [[0.6000000238418579, 0.800000011920929], [0, 0]]
 */
function normalize(x, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(opts, undefined, OF_NORMALIZE)
  const { axis = -1, ord = 2, eps = 1e-12 } = options
  const given = axesGiven(axis)
  const power = numberOf('ord', ord)
  const least = numberOf('eps', eps)
  const { out } = resultIn(options)
  const from = operandOf(x, 'x')
  checkNumbers('normalize', from)
  const result = isComplex(from.dtype)
    ? from.dtype
    : reductionType(reductions.norm2, from.dtype, NONE)
  if (out !== undefined) checkOut(targetOf(out), from.shape, undefined)
  const axes = axesFor(given, from.shape.length)
  const asked = dtypes[result].itemsize < 4 ? FLOAT32 : NONE
  if (!isPlain(from, power)) {
    return tidy(() => {
      const norm = normOf(x, axes, true, power, asked, undefined)
      maximum(norm, least, { out: norm })
      return divide(/** @type {any} */ (x), norm, { out: out ?? made(result, from.shape) })
    })
  }
  const normalized = target(out, result, from.shape)
  const op = reductionOf(power)
  const dtype = reductionType(op, from.dtype, asked)
  const scalar = scalars.taken('eps', ops.maximum, dtype, NONE, least)
  const norm = allocated(denseLayout(dtype, reducedShape(from.shape, axes, true)))
  const how = { asked: NONE, casting: SAME_KIND }
  try {
    reduce(op, norm, from, axes, asked, SAME_KIND, 0)
    elementwise({ op: ops.maximum, ...how, scalar, position: 1 }, norm, [norm])
    elementwise({ op: ops.divide, ...how }, normalized.to, [from, norm])
  } finally {
    freed(norm)
  }
  return normalized.result()
}

module.exports = { vectorNorm, normalize }
