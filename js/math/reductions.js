'use strict'
// Reductions along axes.

const { arrayOf } = require('../base/records')
const { failure } = require('../base/errors')
const { boolean, integer } = require('../base/validate')
const ffi = require('../backend/calls')
const { NONE } = require('./calls/calls')
const { NOWHERE, planned } = require('./calls/plan')
const { reductions, reductionType, cumulate } = require('./calls/reductions')
const { dtypes } = require('../backend/dtypes')
const { checkOut } = require('../copy/results')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { concat } = require('../tensor/combine')
const { scalarTensor } = require('../tensor/creation')
const { tidy } = require('../tensor/scopes')
const { inRange } = require('./axes')
const { wrapping } = require('./cores')
const { subtract } = require('./functions')
const { checkNumbers, operandOf, targetOf } = require('./operands')
const { known, optionsAlong } = require('./options')
const scalars = require('./scalars')
const { reduced } = require('./reduce')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Axes, Casting, DtypeName, Floated, InputOf, NameOf, Or, RealOf, Summed } from '../base/types' */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} ReductionOptions
 * @property {number | readonly number[] | null | undefined} [axis]  one, or several; all of them where none is given
 * @property {boolean | undefined} [keepdims]  keep the axes, with one element each
 * @property {Tensor<O> | undefined} [out]  gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {ReductionOptions<O> & { dtype?: E | undefined }} TypedReductionOptions dtype: of the result */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {TypedReductionOptions<E, O> & { correction?: number | undefined }} SpreadOptions correction: what is subtracted from the number of elements; 0 where none is given */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {Omit<TypedReductionOptions<E, O>, 'axis'> & { axis?: number | null | undefined }} IndexOptions */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {Omit<TypedReductionOptions<E, O>, 'axis' | 'keepdims'> & { axis?: number | undefined, includeInitial?: boolean | undefined }} CumulativeOptions axis: needed where there are several; includeInitial: begins with 0, or 1 of products */
/** @typedef {'int32' | 'int64'} IndexName a dtype of indices */

/**
 * The sum over axes. Signed integers and bool are added as int64, unsigned ones as uint64, which wrap; floats in float64, rounded once, by a
 * tree that depends on the elements' order alone: any strides, threads and back end give the same bits.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]  dtype: of the result, which x's has to cast to
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} x's shape without the axes
 * @throws {TypeError} ERR_DTYPE float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside or repeated, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device
 * @see array API sum
 * @example
 * sum(tensor([[1, 2], [3, 4]]), { axis: 0 }).toArray() // [4, 6]
 */
const sum = (x, axis, opts) => reduced(reductions.sum, x, axis, opts)

/**
 * The product over axes, in the dtypes of sum; 1 of no elements.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} x's shape without the axes
 * @throws as sum
 * @see array API prod
 * @example
 * prod(tensor([2, 3, 4])).item() // 24
 */
const prod = (x, axis, opts) => reduced(reductions.prod, x, axis, opts)

/**
 * The mean over axes, by sum's tree; NaN of no elements. Integers and bool give float32, or what dtype says.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as sum
 * @see array API mean
 * @example
 * mean(tensor([1, 2, 6])).item() // 3
 */
const mean = (x, axis, opts) => reduced(reductions.mean, x, axis, opts)

/**
 * The variance over axes, in two passes: the mean, then squared differences to it. NaN where the correction leaves no elements.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {SpreadOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {SpreadOptions<E, O> | NameOf<E>} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as sum
 * @see array API var
 * @example
 * variance(tensor([1, 2, 3, 4])).item() // 1.25
 */
const variance = (x, axis, opts) => reduced(reductions.var, x, axis, opts)

/**
 * The standard deviation over axes: the square root of the variance.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {SpreadOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {SpreadOptions<E, O> | NameOf<E>} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as sum
 * @see array API std
 * @example
 * std(tensor([1, 1, 3, 3])).item() // 1
 */
const std = (x, axis, opts) => reduced(reductions.std, x, axis, opts)

/**
 * The least value over axes. NaN wins; -0 is less than 0.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's dtype
 * @throws as sum · {RangeError} ERR_SHAPE there are no elements along the axes
 * @see array API min
 * @example
 * min(tensor([[3, 1], [2, 5]]), { axis: 1 }).toArray() // [1, 2]
 */
const min = (x, axis, opts) => reduced(reductions.min, x, axis, opts)

/**
 * The greatest value over axes. NaN wins; 0 is greater than -0.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's dtype
 * @throws as min
 * @see array API max
 * @example
 * max(tensor([[3, 1], [2, 5]]), { axis: 1 }).toArray() // [3, 5]
 */
const max = (x, axis, opts) => reduced(reductions.max, x, axis, opts)

/**
 * Is any element true, that is, not 0? NaN is true.
 *
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>} bool; false of no elements
 * @throws as sum
 * @see array API any
 * @example
 * any(tensor([0, 2, 0])).item() // true
 */
const any = (x, axis, opts) => reduced(reductions.any, x, axis, opts)

/**
 * Are all elements true, that is, not 0?
 *
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>} bool; true of no elements
 * @throws as sum
 * @see array API all
 * @example
 * all(tensor([1, 2, 0])).item() // false
 */
const all = (x, axis, opts) => reduced(reductions.all, x, axis, opts)

/**
 * How many elements are not 0.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} int32, or what dtype says
 * @throws as sum · {RangeError} ERR_BOUNDS the axes have more than 2^31 - 1 elements, and dtype is not 'int64'
 * @see array API count_nonzero
 * @example
 * countNonzero(tensor([[1, 0], [2, 3]]), { axis: 1 }).toArray() // [1, 2]
 */
const countNonzero = (x, axis, opts) => reduced(reductions.count_nonzero, x, axis, opts)

/**
 * The index of the first greatest value along an axis, or of the first NaN.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x  real numbers or bool
 * @param {IndexOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {IndexOptions<E, O> | NameOf<E>} [opts]  axis: where none is given the index counts all elements
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} int32, or what dtype says
 * @throws as countNonzero · {RangeError} ERR_SHAPE there are no elements along the axis
 * @see array API argmax
 * @example
 * argmax(tensor([[1, 5, 2], [7, 0, 7]]), { axis: 1 }).toArray() // [1, 0]
 */
const argmax = (x, axis, opts) => reduced(reductions.argmax, x, axis, opts, true)

/**
 * The index of the first least value along an axis, or of the first NaN.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x  real numbers or bool
 * @param {IndexOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {IndexOptions<E, O> | NameOf<E>} [opts]  as of argmax
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} int32, or what dtype says
 * @throws as argmax
 * @see array API argmin
 * @example
 * argmin(tensor([3, 1, 2])).item() // 1
 */
const argmin = (x, axis, opts) => reduced(reductions.argmin, x, axis, opts, true)

/**
 * The axis of a function along one: it may be left out where there is one alone.
 *
 * @param {number | undefined} axis
 * @param {number} ndim
 */
function oneAxis(axis, ndim) {
  if (axis === undefined && ndim === 1) return 0
  if (axis === undefined && ndim > 0) {
    throw failure('ERR_ARGUMENT', `no axis was given; the tensor has ${ndim}`)
  }
  return inRange(axis ?? 0, ndim)
}

/**
 * Fills a target, after the calls that are noted for later where there are any: they may read what it overwrites.
 *
 * @param {Layout} to
 * @param {number} value
 */
function fillInTurn(to, value) {
  const plan = planned()
  if (plan === null) ffi.fill(to, value)
  else {
    plan.add({ ...NOWHERE, isHere: true }, to, [], (target) => ffi.fill(target, value))
  }
}

const OF_CUMULATIVE = known(['axis', 'includeInitial', 'dtype', 'out', 'casting'], 'axis')
const OF_DIFF = known(['axis', 'n', 'prepend', 'append', 'out', 'casting'], 'n')

/**
 * @param {number} op
 * @param {unknown} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @returns {any}
 */
function cumulative(op, x, first, opts) {
  tensorOf(x, 'x')
  const options = optionsAlong(first, opts, OF_CUMULATIVE)
  const { axis, includeInitial } = options
  const given = axis === undefined ? undefined : integer('axis', axis)
  const initial = boolean('includeInitial', includeInitial) ? 1 : 0
  const { out, dtype, casting } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const along = oneAxis(given, from.shape.length)
  const asked = dtype === undefined ? NONE : dtype.index
  const shape = arrayOf(from.shape.length, (d) => from.shape[d] + (d === along ? initial : 0))
  const by = op === reductions.prod ? 'cumulativeProd' : 'cumulativeSum'
  if (asked === NONE) checkNumbers(by, from)
  const dtypeOfSum = reductionType(op, from.dtype, asked)
  return wrapping(by, out, dtypeOfSum, shape, casting, (to) => {
    if (initial !== 0) ffi.checkCopy({ dst: to, src: to, scaling: null, casting }) // parts of it may not show that elements share bytes
    const part = (/** @type {number} */ first, /** @type {number} */ length) =>
      ffi.viewByNumbers(ffi.opcodes.narrow, to, along, first, length)
    cumulate(op, initial === 0 ? to : part(1, from.shape[along]), from, along, asked, casting)
    if (initial !== 0) fillInTurn(part(0, 1), op === reductions.prod ? 1 : 0)
  })
}

/**
 * The sum of all elements up to each one along an axis, from left to right; dtypes as of sum.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {CumulativeOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {CumulativeOptions<E, O> | NameOf<E>} [opts]  axis: needed where there are several; includeInitial: begins with 0
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} of x's shape, one longer along the axis with includeInitial
 * @throws as sum
 * @see array API cumulative_sum
 * @example
 * cumulativeSum(tensor([1, 2, 3])).toArray() // [1, 3, 6]
 */
const cumulativeSum = (x, axis, opts) => cumulative(reductions.sum, x, axis, opts)

/**
 * The product of all elements up to each one along an axis, from left to right; dtypes as of prod.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {CumulativeOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {CumulativeOptions<E, O> | NameOf<E>} [opts]  includeInitial: begins with 1
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} of x's shape, one longer along the axis with includeInitial
 * @throws as sum
 * @see array API cumulative_prod
 * @example
 * cumulativeProd(tensor([2, 3, 4])).toArray() // [2, 6, 24]
 */
const cumulativeProd = (x, axis, opts) => cumulative(reductions.prod, x, axis, opts)

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {any} a tensor, a scalar, or undefined
 */
const endOf = (name, value) =>
  value === undefined || Tensor.isTensor(value) ? value : scalars.read(name, value)

/**
 * What is joined with a tensor.
 *
 * @param {string} name
 * @param {any} end  of endOf
 * @param {Layout} layout  the tensor's
 * @param {number} along
 * @returns {Tensor}
 */
function joinedTo(name, end, { dtype, shape }, along) {
  if (Tensor.isTensor(end)) {
    operandOf(end, name)
    return end
  }
  if (!scalars.takes(dtype, end)) throw scalars.misfit(name, end, dtype, 'x')
  return scalarTensor(end, { dtype: dtypes[dtype].name }).expand(
    arrayOf(shape.length, (d) => (d === along ? 1 : shape[d])),
  )
}

/**
 * Differences of neighbours along an axis, n times over.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {{ axis?: number | undefined, n?: number | undefined, prepend?: Tensor<D> | InputOf<D> | undefined, append?: Tensor<D> | InputOf<D> | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} [opts]  axis: the last one where none is given; prepend, append: joined with x first; a scalar has to fit its dtype
 * @returns {Tensor<Or<O, D>>} of x's dtype, which wraps; n shorter along the axis
 * @throws as subtract and concat · {TypeError} ERR_CAST a scalar does not fit · {RangeError} ERR_BOUNDS axis outside, n below 0
 * @see array API diff
 * @example
 * diff(tensor([1, 4, 9, 16])).toArray() // [3, 5, 7]
 */
function diff(x, opts) {
  tensorOf(x, 'x')
  const {
    axis = -1,
    n: times = 1,
    prepend,
    append,
    out,
    casting,
  } = optionsAlong(opts, undefined, OF_DIFF)
  const given = integer('axis', axis)
  const count = integer('n', times)
  const first = endOf('prepend', prepend)
  const last = endOf('append', append)
  const from = operandOf(x, 'x')
  if (dtypes[from.dtype].kind === 'BOOLEAN') {
    throw failure('ERR_DTYPE', 'diff is not for bool, but for numbers; astype converts')
  }
  checkNumbers('diff', from)
  const along = inRange(given, from.shape.length)
  if (count < 0) throw failure('ERR_BOUNDS', `n is ${count}; 0 or more was expected`)
  if (out !== undefined) targetOf(tensorOf(out, 'out'))
  return tidy(() => {
    const pieces = first === undefined ? [x] : [joinedTo('prepend', first, from, along), x]
    if (last !== undefined) pieces.push(joinedTo('append', last, from, along))
    let now = pieces.length === 1 ? x : concat(pieces, along)
    if (count === 0) {
      resultIn({ casting }) // checks it
      if (out === undefined) return now.clone()
      checkOut(Tensor.writableOf(out), Tensor.attachedOf(now).shape, undefined)
      return out.copyFrom(now, { casting })
    }
    const rounds = Math.min(count, now.shape[along] || 1) // after these nothing is left
    for (let i = 0; i < rounds; i++) {
      const length = now.shape[along]
      const less = length > 0 ? length - 1 : 0
      now = subtract(
        now.narrow(along, length - less, less),
        now.narrow(along, 0, less),
        i === rounds - 1 ? { out, casting } : undefined,
      )
    }
    return now
  })
}

module.exports = {
  sum,
  prod,
  mean,
  std,
  min,
  max,
  any,
  all,
  countNonzero,
  argmax,
  argmin,
  cumulativeSum,
  cumulativeProd,
  diff,
  var: variance,
}
