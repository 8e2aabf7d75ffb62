'use strict'
// Reductions: reads axes and options, makes the result, calls C.

const { Number, arrayOf } = require('../base/primordials')
const { failure } = require('../base/errors')
const { show, boolean, axesOf, integer, optionsOf } = require('../base/validate')
const ffi = require('../backend/calls')
const { NONE } = require('../backend/math')
const { reductions, reductionType, reduce, cumulate } = require('../backend/reductions')
const { denseLayout } = require('../layout/layouts')
const { checkOut } = require('../copy/results')
const { Tensor, tensorOf, wrap, resultOf } = require('../tensor/tensor')
const { concat } = require('../tensor/combine')
const { tidy } = require('../tensor/scopes')
const { allocated } = require('./allocate')
const { subtract } = require('./functions')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, DtypeName } from '../base/types' */

/**
 * @typedef {object} ReductionOptions
 * @property {number | readonly number[] | null} [axis]  one, or several; all of them where none is given
 * @property {boolean} [keepdims]  keep the axes, with one element each
 * @property {AnyTensor} [out]  gets the result, and is returned
 * @property {'safe' | 'same_kind' | 'unsafe'} [casting]  of the result to out's dtype
 */
/** @typedef {ReductionOptions & { dtype?: DtypeName }} TypedReductionOptions dtype: of the result */
/** @typedef {TypedReductionOptions & { correction?: number }} SpreadOptions correction: what is subtracted from the number of elements; 0 where none is given */
/** @typedef {Omit<TypedReductionOptions, 'axis' | 'dtype'> & { axis?: number | null, dtype?: 'int32' | 'int64' }} IndexOptions */

/**
 * @param {unknown} x
 * @returns {Layout}
 */
function sourceOf (x) {
  if (!Tensor.isTensor(x)) throw failure('ERR_ARGUMENT', `x is ${show(x)}; a tensor was expected`)
  return Tensor.attachedOf(x)
}

/**
 * @param {number} axis
 * @param {number} ndim
 * @returns {number} from 0 on
 */
function inRange (axis, ndim) {
  if (axis < -ndim || axis >= ndim) throw failure('ERR_BOUNDS', `axis ${axis} is outside ${ndim} axes`)
  return axis < 0 ? axis + ndim : axis
}

/**
 * Reads the axes of a reduction.
 *
 * @param {unknown} axis
 * @param {number} ndim
 * @returns {number[]} each once, from 0 on
 */
function axesFor (axis, ndim) {
  if (axis === undefined || axis === null) return arrayOf(ndim, d => d)
  const axes = axesOf(axis)
  for (let i = 0; i < axes.length; i++) {
    axes[i] = inRange(axes[i], ndim)
    for (let k = 0; k < i; k++) if (axes[k] === axes[i]) throw failure('ERR_BOUNDS', `axis[${i}] repeats axis ${axes[i]}`)
  }
  return axes
}

/**
 * @param {number[]} shape
 * @param {number[]} axes
 * @param {boolean} keepdims
 * @returns {number[]} the result's
 */
function reducedShape (shape, axes, keepdims) {
  /** @type {number[]} */
  const result = []
  for (let d = 0; d < shape.length; d++) {
    let isReduced = false
    for (let i = 0; i < axes.length; i++) isReduced ||= axes[i] === d
    if (!isReduced) result[result.length] = shape[d]
    else if (keepdims) result[result.length] = 1
  }
  return result
}

/**
 * @param {number} op
 * @param {unknown} x
 * @param {any} opts
 * @param {boolean} [isIndex]  axis is one
 * @returns {Tensor}
 */
function reduced (op, x, opts, isIndex = false) {
  const from = sourceOf(x)
  const options = optionsOf(opts)
  const { axis, keepdims: kept, correction: given = 0 } = options
  const axes = axesFor(isIndex && axis !== undefined && axis !== null ? integer('axis', axis) : axis, from.shape.length)
  const keepdims = boolean('keepdims', kept)
  if (typeof given !== 'number' || !Number.isFinite(given)) throw failure('ERR_ARGUMENT', `correction is ${show(given)}; a number was expected`)
  const { out, dtype, casting } = resultOf(opts)
  const asked = dtype === undefined ? NONE : dtype.index
  const shape = reducedShape(from.shape, axes, keepdims)
  const result = reductionType(op, from.dtype, asked)
  if (out !== undefined) {
    const to = Tensor.writableOf(out)
    checkOut(to, shape, undefined)
    reduce(op, to, from, axes, asked, casting, given)
    return out
  }
  const made = allocated(denseLayout(result, shape))
  reduce(op, made, from, axes, asked, casting, given)
  return wrap(made)
}

/**
 * The sum over axes. Signed integers and bool are added as int64, unsigned ones as uint64, which wrap; floats in float64, rounded once, by a
 * tree that depends on the elements' order alone: any strides, threads and back end give the same bits.
 *
 * @param {AnyTensor} x  numbers or bool
 * @param {TypedReductionOptions} [opts]  dtype: of the result, which x's has to cast to
 * @returns {AnyTensor} x's shape without the axes
 * @throws {TypeError} ERR_DTYPE float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside or repeated, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device
 * @see array API sum
 * @example
 * sum(tensor([[1, 2], [3, 4]]), { axis: 0 }).toArray() // [4, 6]
 */
function sum (x, opts) {
  return reduced(reductions.sum, x, opts)
}

/**
 * The product over axes, in the dtypes of sum; 1 of no elements.
 *
 * @param {AnyTensor} x
 * @param {TypedReductionOptions} [opts]
 * @returns {AnyTensor} x's shape without the axes
 * @throws as sum
 * @see array API prod
 * @example
 * prod(tensor([2, 3, 4])).item() // 24
 */
function prod (x, opts) {
  return reduced(reductions.prod, x, opts)
}

/**
 * The mean over axes, by sum's tree; NaN of no elements. Integers and bool give float32, or what dtype says.
 *
 * @param {AnyTensor} x
 * @param {TypedReductionOptions} [opts]
 * @returns {AnyTensor} x's shape without the axes
 * @throws as sum
 * @see array API mean
 * @example
 * mean(tensor([1, 2, 6])).item() // 3
 */
function mean (x, opts) {
  return reduced(reductions.mean, x, opts)
}

/**
 * The variance over axes, in two passes: the mean, then squared differences to it. NaN where the correction leaves no elements.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {SpreadOptions} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {AnyTensor} x's shape without the axes
 * @throws as sum
 * @see array API var
 * @example
 * variance(tensor([1, 2, 3, 4])).item() // 1.25
 */
function variance (x, opts) {
  return reduced(reductions.var, x, opts)
}

/**
 * The standard deviation over axes: the square root of the variance.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {SpreadOptions} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {AnyTensor} x's shape without the axes
 * @throws as sum
 * @see array API std
 * @example
 * std(tensor([1, 1, 3, 3])).item() // 1
 */
function std (x, opts) {
  return reduced(reductions.std, x, opts)
}

/**
 * The least value over axes. NaN wins; -0 is less than 0.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {ReductionOptions} [opts]
 * @returns {AnyTensor} of x's dtype
 * @throws as sum · {RangeError} ERR_SHAPE there are no elements along the axes
 * @see array API min
 * @example
 * min(tensor([[3, 1], [2, 5]]), { axis: 1 }).toArray() // [1, 2]
 */
function min (x, opts) {
  return reduced(reductions.min, x, opts)
}

/**
 * The greatest value over axes. NaN wins; 0 is greater than -0.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {ReductionOptions} [opts]
 * @returns {AnyTensor} of x's dtype
 * @throws as min
 * @see array API max
 * @example
 * max(tensor([[3, 1], [2, 5]]), { axis: 1 }).toArray() // [3, 5]
 */
function max (x, opts) {
  return reduced(reductions.max, x, opts)
}

/**
 * Is any element true, that is, not 0? NaN is true.
 *
 * @param {AnyTensor} x
 * @param {ReductionOptions} [opts]
 * @returns {AnyTensor} bool; false of no elements
 * @throws as sum
 * @see array API any
 * @example
 * any(tensor([0, 2, 0])).item() // true
 */
function any (x, opts) {
  return reduced(reductions.any, x, opts)
}

/**
 * Are all elements true, that is, not 0?
 *
 * @param {AnyTensor} x
 * @param {ReductionOptions} [opts]
 * @returns {AnyTensor} bool; true of no elements
 * @throws as sum
 * @see array API all
 * @example
 * all(tensor([1, 2, 0])).item() // false
 */
function all (x, opts) {
  return reduced(reductions.all, x, opts)
}

/**
 * How many elements are not 0.
 *
 * @param {AnyTensor} x
 * @param {ReductionOptions & { dtype?: 'int32' | 'int64' }} [opts]
 * @returns {AnyTensor} int32, or what dtype says
 * @throws as sum · {RangeError} ERR_BOUNDS the axes have more than 2^31 - 1 elements, and dtype is not 'int64'
 * @see array API count_nonzero
 * @example
 * countNonzero(tensor([[1, 0], [2, 3]]), { axis: 1 }).toArray() // [1, 2]
 */
function countNonzero (x, opts) {
  return reduced(reductions.count_nonzero, x, opts)
}

/**
 * The index of the first greatest value along an axis, or of the first NaN.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {IndexOptions} [opts]  axis: where none is given the index counts all elements
 * @returns {AnyTensor} int32, or what dtype says
 * @throws as countNonzero · {RangeError} ERR_SHAPE there are no elements along the axis
 * @see array API argmax
 * @example
 * argmax(tensor([[1, 5, 2], [7, 0, 7]]), { axis: 1 }).toArray() // [1, 0]
 */
function argmax (x, opts) {
  return reduced(reductions.argmax, x, opts, true)
}

/**
 * The index of the first least value along an axis, or of the first NaN.
 *
 * @param {AnyTensor} x  real numbers or bool
 * @param {IndexOptions} [opts]  as of argmax
 * @returns {AnyTensor} int32, or what dtype says
 * @throws as argmax
 * @see array API argmin
 * @example
 * argmin(tensor([3, 1, 2])).item() // 1
 */
function argmin (x, opts) {
  return reduced(reductions.argmin, x, opts, true)
}

/**
 * The axis of a function along one: it may be left out where there is one alone.
 *
 * @param {unknown} axis
 * @param {number} ndim
 */
function oneAxis (axis, ndim) {
  if (axis === undefined && ndim === 1) return 0
  if (axis === undefined && ndim > 0) throw failure('ERR_ARGUMENT', `no axis was given; the tensor has ${ndim}`)
  return inRange(axis === undefined ? 0 : integer('axis', axis), ndim)
}

/**
 * @param {number} op
 * @param {unknown} x
 * @param {any} opts
 * @returns {Tensor}
 */
function cumulative (op, x, opts) {
  const from = sourceOf(x)
  const { axis, includeInitial } = optionsOf(opts)
  const along = oneAxis(axis, from.shape.length)
  const initial = boolean('includeInitial', includeInitial) ? 1 : 0
  const { out, dtype, casting } = resultOf(opts)
  const asked = dtype === undefined ? NONE : dtype.index
  const shape = arrayOf(from.shape.length, d => from.shape[d] + (d === along ? initial : 0))
  const result = reductionType(op, from.dtype, asked)
  let made = out
  if (out === undefined) made = wrap(allocated(denseLayout(result, shape)))
  else checkOut(Tensor.writableOf(out), shape, undefined)
  const target = /** @type {Tensor} */ (made)
  const rest = initial === 0 ? target : target.narrow(along, 1, from.shape[along])
  cumulate(op, Tensor.writableOf(rest), from, along, asked, casting)
  if (initial !== 0) ffi.fill(Tensor.writableOf(target.narrow(along, 0, 1)), op === reductions.prod ? 1 : 0)
  return target
}

/**
 * The sum of all elements up to each one along an axis, from left to right; dtypes as of sum.
 *
 * @param {AnyTensor} x
 * @param {{ axis?: number, dtype?: DtypeName, includeInitial?: boolean, out?: AnyTensor, casting?: 'safe' | 'same_kind' | 'unsafe' }} [opts]  axis: needed where there are several; includeInitial: begins with 0
 * @returns {AnyTensor} of x's shape, one longer along the axis with includeInitial
 * @throws as sum
 * @see array API cumulative_sum
 * @example
 * cumulativeSum(tensor([1, 2, 3])).toArray() // [1, 3, 6]
 */
function cumulativeSum (x, opts) {
  return cumulative(reductions.sum, x, opts)
}

/**
 * The product of all elements up to each one along an axis, from left to right; dtypes as of prod.
 *
 * @param {AnyTensor} x
 * @param {{ axis?: number, dtype?: DtypeName, includeInitial?: boolean, out?: AnyTensor, casting?: 'safe' | 'same_kind' | 'unsafe' }} [opts]  includeInitial: begins with 1
 * @returns {AnyTensor} of x's shape, one longer along the axis with includeInitial
 * @throws as sum
 * @see array API cumulative_prod
 * @example
 * cumulativeProd(tensor([2, 3, 4])).toArray() // [2, 6, 24]
 */
function cumulativeProd (x, opts) {
  return cumulative(reductions.prod, x, opts)
}

/**
 * Differences of neighbours along an axis, n times over.
 *
 * @param {Tensor} x  numbers
 * @param {{ axis?: number, n?: number, prepend?: Tensor, append?: Tensor, out?: Tensor, casting?: 'safe' | 'same_kind' | 'unsafe' }} [opts]  axis: the last one where none is given; prepend, append: joined with x first
 * @returns {AnyTensor} of x's dtype, which wraps; n shorter along the axis
 * @throws as subtract and concat · {RangeError} ERR_BOUNDS axis outside, n below 0
 * @see array API diff
 * @example
 * diff(tensor([1, 4, 9, 16])).toArray() // [3, 5, 7]
 */
function diff (x, opts) {
  const from = sourceOf(x)
  const { axis = -1, n: times = 1, prepend, append, out, casting } = optionsOf(opts)
  const along = inRange(integer('axis', axis), from.shape.length)
  const count = integer('n', times)
  if (count < 0) throw failure('ERR_BOUNDS', `n is ${count}; 0 or more was expected`)
  if (out !== undefined) tensorOf(out, 'out')
  const pieces = prepend === undefined ? [x] : [tensorOf(prepend, 'prepend'), x]
  if (append !== undefined) pieces[pieces.length] = tensorOf(append, 'append')
  return tidy(() => {
    let now = pieces.length === 1 ? x : concat(pieces, along)
    if (count === 0) return out === undefined ? now.clone() : out.copyFrom(now, { casting })
    for (let i = 0; i < count; i++) {
      const length = now.shape[along]
      const less = length > 0 ? length - 1 : 0
      now = subtract(now.narrow(along, length - less, less), now.narrow(along, 0, less), i === count - 1 ? { out, casting } : undefined)
    }
    return now
  })
}

module.exports = { sum, prod, mean, std, min, max, any, all, countNonzero, argmax, argmin, cumulativeSum, cumulativeProd, diff, var: variance }
