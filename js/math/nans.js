'use strict'
// Reductions that leave NaN out: it is replaced by what changes nothing, and counted where elements are counted.

const { CASTINGS, boolean } = require('../base/validate')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { axesGiven } = require('./axes')
const { target } = require('./cores')
const {
  divide,
  isnan,
  lessEqual,
  logicalNot,
  positive,
  sqrt,
  square,
  subtract,
  where,
} = require('./functions')
const { checkNumbers, checkReal, operandOf, targetOf } = require('./operands')
const { floatOf, known, numberOf, optionsAlong } = require('./options')
const { all, max, mean, min, prod, std, sum, var: variance } = require('./reductions')

/** @import { Axes, DtypeName, Floated, NameOf, Or, Summed } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */
/** @import { ReductionOptions, SpreadOptions, TypedReductionOptions } from './reductions' */

const OF_SUM = known(['axis', 'keepdims', 'dtype', 'out', 'casting'], 'axis')
const OF_SPREAD = known(['axis', 'correction', 'keepdims', 'dtype', 'out', 'casting'], 'axis')
const OF_EXTREME = known(['axis', 'keepdims', 'out', 'casting'], 'axis')

/**
 * Options, read: the same for the reductions below.
 *
 * @param {string} name  of the function
 * @param {unknown} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @param {import('./options').Known} names
 */
function read(name, x, first, opts, names) {
  const t = tensorOf(x, 'x')
  const options = optionsAlong(first, opts, names)
  const { axis, keepdims, correction = 0 } = options
  const along = { axis: axesGiven(axis), keepdims: boolean('keepdims', keepdims) }
  numberOf('correction', correction, Number.isFinite)
  const { out, dtype, casting } = resultIn(options)
  checkNumbers(name, operandOf(t, 'x'), names === OF_SUM ? 'numbers' : 'real numbers')
  if (out !== undefined) targetOf(out) // before anything is computed
  return { along, correction, dtype: dtype?.name, out, casting, word: CASTINGS[casting] }
}

/** @param {Tensor<any>} x @returns {boolean} may it have NaN? */
function hasNan(x) {
  const { kind } = dtypes[operandOf(x, 'x').dtype]
  return kind === 'FLOATING' || kind === 'COMPLEX'
}

/**
 * @param {string} name  of the function
 * @param {(x: any, opts: any) => any} reduction
 * @param {number} filler  what stands for NaN
 * @param {any} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @returns {any}
 */
function filled(name, reduction, filler, x, first, opts) {
  const { along, dtype, out, word } = read(name, x, first, opts, OF_SUM)
  return tidy(() =>
    reduction(hasNan(x) ? where(isnan(x), filler, x) : x, { ...along, dtype, out, casting: word }),
  )
}

/** @param {Tensor<any>} x @param {any} along @returns {Tensor<any>} how many elements are numbers */
const countNumbers = (x, along) => sum(logicalNot(isnan(x)), along)

/**
 * Where a mean or a variance goes.
 *
 * @param {Tensor<any>} value
 * @param {Tensor<any>} x
 * @param {ReturnType<typeof read>} given
 * @returns {any}
 */
function rounded(value, x, { dtype, out, casting }) {
  const made = dtype === undefined ? operandOf(x, 'x').dtype : dtypeOf(dtype).index
  const { result } = target(out, made, value.shape.slice(), casting)
  return positive(value, { out: result(), casting: 'unsafe' })
}

/**
 * @param {string} name  of the function
 * @param {(x: any, opts: any) => any} plain  of tensors without NaN
 * @param {any} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @param {boolean} isRoot
 * @returns {any}
 */
function spread(name, plain, x, first, opts, isRoot) {
  const given = read(name, x, first, opts, OF_SPREAD)
  const { along, correction, dtype, out, word } = given
  if (!hasNan(x)) return plain(x, { ...along, correction, dtype, out, casting: word })
  checkFloat(x, dtype)
  return tidy(() => {
    const { axis } = along
    const middle = divide(
      sum(where(isnan(x), 0, x), { axis, keepdims: true, dtype: 'float64' }),
      countNumbers(x, { axis, keepdims: true }),
    )
    const squares = square(where(isnan(x), 0, subtract(x, middle, 'float64')))
    const count = subtract(countNumbers(x, along), correction, 'float64')
    const value = where(lessEqual(count, 0), NaN, divide(sum(squares, along), count))
    return rounded(isRoot ? sqrt(value) : value, x, given)
  })
}

/** @param {Tensor<any>} x @param {string | undefined} dtype */
function checkFloat(x, dtype) {
  checkReal(operandOf(x, 'x'), 'x')
  if (dtype !== undefined) floatOf(dtypeOf(dtype))
}

/**
 * @param {string} name  of the function
 * @param {(x: any, opts: any) => any} reduction
 * @param {number} end  what stands for NaN
 * @param {any} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @returns {any}
 */
function extreme(name, reduction, end, x, first, opts) {
  const { along, out, casting, word } = read(name, x, first, opts, OF_EXTREME)
  if (!hasNan(x)) return reduction(x, { ...along, out, casting: word })
  return tidy(() => {
    const from = operandOf(x, 'x')
    const found = reduction(where(isnan(x), end, x), along)
    const { result } = target(out, from.dtype, found.shape.slice(), casting)
    return where(all(isnan(x), along), NaN, found, { out: result(), casting: word })
  })
}

/**
 * The sum over axes, of the elements that are not NaN; 0 of none.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} x's shape without the axes
 * @throws as sum
 * @see NumPy nansum
 * @example
 * nansum(tensor([1, NaN, 3])).item() // 4
 */
const nansum = (x, axis, opts) => filled('nansum', sum, 0, x, axis, opts)

/**
 * The product over axes, of the elements that are not NaN; 1 of none.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} x's shape without the axes
 * @throws as sum
 * @see NumPy nanprod
 * @example
 * nanprod(tensor([2, NaN, 3])).item() // 6
 */
const nanprod = (x, axis, opts) => filled('nanprod', prod, 1, x, axis, opts)

/**
 * The mean over axes, of the elements that are not NaN; NaN of none. Computed in float64, and rounded once.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {TypedReductionOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {TypedReductionOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as mean · {TypeError} ERR_DTYPE complex numbers
 * @see NumPy nanmean
 * @example
 * nanmean(tensor([1, NaN, 3])).item() // 2
 */
function nanmean(x, axis, opts) {
  const given = read('nanmean', x, axis, opts, OF_SUM)
  const { along, dtype, out, word } = given
  if (!hasNan(x)) {
    return mean(/** @type {any} */ (x), {
      ...along,
      dtype: /** @type {any} */ (dtype),
      out,
      casting: word,
    })
  }
  checkFloat(x, dtype)
  return tidy(() =>
    rounded(
      divide(sum(where(isnan(x), 0, x), { ...along, dtype: 'float64' }), countNumbers(x, along)),
      x,
      given,
    ),
  )
}

/**
 * The variance over axes, of the elements that are not NaN; NaN where the correction leaves none. Computed in float64, and rounded once.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {SpreadOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {SpreadOptions<E, O> | NameOf<E>} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as nanmean
 * @see NumPy nanvar
 * @example
 * nanvar(tensor([1, NaN, 3])).item() // 1
 */
const nanvar = (x, axis, opts) => spread('nanvar', variance, x, axis, opts, false)

/**
 * The standard deviation over axes, of the elements that are not NaN: the square root of nanvar.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {SpreadOptions<E, O> | NameOf<E> | Axes} [axis]  or options
 * @param {SpreadOptions<E, O> | NameOf<E>} [opts]  correction: 0 for a population, 1 for a sample
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} x's shape without the axes
 * @throws as nanmean
 * @see NumPy nanstd
 * @example
 * nanstd(tensor([1, NaN, 3])).item() // 1
 */
const nanstd = (x, axis, opts) => spread('nanstd', std, x, axis, opts, true)

/**
 * The least value over axes, of the elements that are not NaN; NaN where all are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's dtype
 * @throws as min
 * @see NumPy nanmin
 * @example
 * nanmin(tensor([[3, NaN], [NaN, NaN]]), { axis: 1 }).toArray() // [3, NaN]
 */
const nanmin = (x, axis, opts) => extreme('nanmin', min, Infinity, x, axis, opts)

/**
 * The greatest value over axes, of the elements that are not NaN; NaN where all are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {ReductionOptions<O> | Axes} [axis]  or options
 * @param {ReductionOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's dtype
 * @throws as min
 * @see NumPy nanmax
 * @example
 * nanmax(tensor([[3, NaN], [1, 2]]), { axis: 1 }).toArray() // [3, 2]
 */
const nanmax = (x, axis, opts) => extreme('nanmax', max, -Infinity, x, axis, opts)

module.exports = { nansum, nanprod, nanmean, nanvar, nanstd, nanmin, nanmax }
