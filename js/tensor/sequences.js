'use strict'
// arange, linspace and eye. C computes the elements.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, boolean, integer, isOptions, optionsOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { scalarFor } = require('../layout/values')
const { OF_MAKING, emptyLayout, written } = require('../layout/layouts')
const { wrap } = require('./tensor')

const { opcodes } = ffi

const OF_LINSPACE = [...OF_MAKING, 'endpoint']
const OF_EYE = [...OF_MAKING, 'k']

/** @import { DtypeName, NameOf, Or, MakeOptions, LinspaceOptions, EyeOptions, DtypeOfRange } from '../base/types' */
/** @import { Tensor } from './tensor' */

/**
 * Splits arguments into numbers, the last of which may be omitted, and options.
 *
 * @param {unknown[]} args  options last
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {[unknown[], Record<string, any>]} without options; omitted ones are undefined
 */
function argumentsAndOptions(args, names, where) {
  const at = args.findIndex((arg, i) => i > 0 && isOptions(arg))
  if (at < 0) return [args.slice(0, -1), optionsOf(args[args.length - 1], names, where)]
  if (args.slice(at + 1).some((arg) => arg !== undefined)) {
    throw failure('ERR_ARGUMENT', 'the options are not the last argument')
  }
  return [args.slice(0, at), optionsOf(args[at], names, where)]
}

/**
 * A finite number, or an integer of 64 bits.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {number | bigint}
 */
function checkScalar(name, value) {
  if (typeof value === 'bigint') {
    if (value <= 0xffffffffffffffffn && value >= -0x8000000000000000n) return value
    throw failure('ERR_BOUNDS', `${name} is ${value}n, which is no 64-bit integer`)
  }
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number or a bigint was expected`)
  }
  if (!Number.isFinite(value)) {
    throw failure('ERR_BOUNDS', `${name} is ${value}; a finite number was expected`)
  }
  return value
}

/**
 * How many integers there are from start by step before stop.
 *
 * @param {bigint} start
 * @param {bigint} stop
 * @param {bigint} step
 * @returns {number}
 */
function countIntegers(start, stop, step) {
  const [way, pace] = step < 0n ? [start - stop, -step] : [stop - start, step]
  return way <= 0n ? 0 : Number((way + pace - 1n) / pace)
}

/**
 * How many numbers there are from start by step before stop, rounded as NumPy does.
 *
 * @param {number} start
 * @param {number} stop
 * @param {number} step
 * @returns {number}
 */
function countNumbers(start, stop, step) {
  const way = stop - start
  const steps = way / step
  if (steps === 0 && way !== 0) return Object.is(steps, -0) ? 0 : 1 // underflow
  return Math.max(0, Math.ceil(steps))
}

/**
 * Numbers from start by step up to, but not including, stop. Integer dtypes are computed exactly, others as
 * start + i * step in float64, rounded to the dtype.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number | bigint} stop  exclusive; start is 0, step 1
 * @param {E | (MakeOptions<E> & { dtype: E })} opts  a dtype, or options with one
 * @returns {Tensor<E>} of ceil((stop - start) / step) elements; owns its bytes
 * @throws {TypeError} ERR_CAST a value does not fit the dtype, ERR_ARGUMENT step is 0 · {RangeError} ERR_BOUNDS NaN and infinities, ERR_SHAPE, ERR_MEMORY too many
 * @see array API arange
 * @example
 * arange(5).toArray() // [0, 1, 2, 3, 4]
 * arange(1, 2, 0.25).toArray() // [1, 1.25, 1.5, 1.75]
 */
/**
 * As above, from a start.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number | bigint} start
 * @param {number | bigint} stop  exclusive
 * @param {E | (MakeOptions<E> & { dtype: E })} opts
 * @returns {Tensor<E>}
 * @throws as with a dtype
 */
/**
 * As above, from a start by a step.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number | bigint} start
 * @param {number | bigint} stop  exclusive
 * @param {number | bigint} step  not 0
 * @param {E | (MakeOptions<E> & { dtype: E })} opts
 * @returns {Tensor<E>}
 * @throws as with a dtype
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {number | bigint} A
 * @template {number | bigint} [B=never]
 * @template {number | bigint} [C=never]
 * @template {DtypeName} [D=never]
 * @overload
 * @param {A} start  or stop, if it is the only number; start is 0 then
 * @param {B | MakeOptions<D> | NameOf<D>} [stop]  exclusive
 * @param {C | MakeOptions<D> | NameOf<D>} [step]  1 where none is given; not 0
 * @param {MakeOptions<D> | NameOf<D>} [opts]  where no dtype is given: int64 if one is a bigint, int32 if all are safe integers, else float32
 * @returns {Tensor<Or<D, DtypeOfRange<A | B | C>>>} of ceil((stop - start) / step) elements; owns its bytes
 * @throws as with a dtype
 */
/**
 * @param {any} start
 * @param {any} [stop]
 * @param {any} [step]
 * @param {any} [opts]
 * @returns {any}
 */
function arange(start, stop, step, opts) {
  const [numbers, options] = argumentsAndOptions([start, stop, step, opts], OF_MAKING, 'arange')
  const [first, second, third = 1] = numbers
  const from = second === undefined ? 0 : checkScalar('start', first)
  const to = checkScalar('stop', second === undefined ? first : second)
  const by = checkScalar('step', third)
  if (Number(by) === 0) throw failure('ERR_ARGUMENT', 'step is 0: no number of steps leads to stop')
  const all = [from, to, by]
  const integral = all.every((x) => typeof x === 'bigint' || Number.isSafeInteger(x))
  const wide = all.some((x) => typeof x === 'bigint')
  if (wide && !integral) {
    throw failure('ERR_CAST', 'a number that is no safe integer stands among bigints')
  }
  const { dtype: name } = options
  const dtype = dtypeOf(
    name === undefined ? (wide ? 'int64' : integral ? 'int32' : 'float32') : name,
  )
  scalarFor(from, dtype) // refuses unsafe integers for 64-bit dtypes
  const size = integral
    ? countIntegers(BigInt(from), BigInt(to), BigInt(by))
    : countNumbers(Number(from), Number(to), Number(by))
  if (!Number.isSafeInteger(size)) {
    throw failure('ERR_SHAPE', `from ${from} to ${to} by ${by} there are ${size} numbers`)
  }
  ffi.checkArange(dtype.index, size, from, by)
  const layout = emptyLayout(dtype, [size], options, false)
  return wrap(written(layout, () => ffi.generate(opcodes.arange, layout, [from, by], 0)))
}

/**
 * Evenly spaced numbers from start to stop, computed in float64 and rounded to the dtype; for integer dtypes rounded down,
 * as NumPy does.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number} start
 * @param {number} stop  exactly the last one, unless endpoint is false
 * @param {number} num  elements
 * @param {E | (LinspaceOptions<E> & { dtype: E })} opts  a dtype, or options with one; endpoint false: stop would be the next element
 * @returns {Tensor<E>} owns its bytes
 * @throws {TypeError} ERR_CAST a value does not fit the dtype, ERR_DTYPE bool, ERR_ARGUMENT · {RangeError} ERR_BOUNDS NaN, infinities and stop - start beyond float64, ERR_SHAPE, ERR_MEMORY
 * @see array API linspace
 * @example
 * linspace(0, 1, 5).toArray() // [0, 0.25, 0.5, 0.75, 1]
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {number} start
 * @param {number} stop  exactly the last one, unless endpoint is false
 * @param {number} num  elements
 * @param {LinspaceOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given; endpoint false: stop would be the next element
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as with a dtype
 */
/**
 * @param {any} start
 * @param {any} stop
 * @param {any} num
 * @param {any} opts
 * @returns {any}
 */
function linspace(start, stop, num, opts) {
  const options = optionsOf(opts, OF_LINSPACE, 'linspace')
  const { dtype: name, endpoint } = options
  const last = endpoint === undefined || boolean('endpoint', endpoint)
  for (const [argument, value] of Object.entries({ start, stop })) {
    if (typeof value !== 'number') {
      throw failure('ERR_ARGUMENT', `${argument} is ${show(value)}; a number was expected`)
    }
  }
  checkedExtent('num', num)
  const dtype = dtypeOf(name === undefined ? 'float32' : name)
  const layout = emptyLayout(dtype, [num], options, false)
  const write = () => ffi.generate(opcodes.linspace, layout, [start, stop], last ? 1 : 0)
  return wrap(written(layout, write))
}

/**
 * A matrix of ones on a diagonal and zeros elsewhere.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number} n  rows and columns
 * @param {E | (EyeOptions<E> & { dtype: E })} opts  a dtype, or options with one; k: the diagonal, 0 for the main one, positive above it
 * @returns {Tensor<E>} owns its bytes
 * @throws {RangeError} ERR_SHAPE, ERR_BOUNDS k, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT
 * @see array API eye
 * @example
 * eye(2, 3, { k: 1 }).toArray() // [[0, 1, 0], [0, 0, 1]]
 */
/**
 * As above, with another number of columns.
 *
 * @template {DtypeName} E
 * @overload
 * @param {number} n  rows
 * @param {number} m  columns
 * @param {E | (EyeOptions<E> & { dtype: E })} opts
 * @returns {Tensor<E>}
 * @throws as with a dtype
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {number} n  rows
 * @param {number | EyeOptions<D> | NameOf<D>} [m]  columns; n where not given
 * @param {EyeOptions<D> | NameOf<D>} [opts]  k: the diagonal, 0 for the main one, positive above it
 * @returns {Tensor<Or<D, 'float32'>>} float32 where no dtype is given; owns its bytes
 * @throws as with a dtype
 */
/**
 * @param {any} n
 * @param {any} [m]
 * @param {any} [opts]
 * @returns {any}
 */
function eye(n, m, opts) {
  const [[rowCount, columns], options] = argumentsAndOptions([n, m, opts], OF_EYE, 'eye')
  const { dtype: name, k = 0 } = options
  const diagonal = integer('k', k)
  const dtype = dtypeOf(name === undefined ? 'float32' : name)
  const height = checkedExtent('n', rowCount)
  const width = columns === undefined ? height : checkedExtent('m', columns)
  const layout = emptyLayout(dtype, [height, width], options, true)
  const write = () => ffi.fill(ffi.viewByNumbers(opcodes.diagonal, layout, diagonal, 0, 1), true)
  return wrap(written(layout, write))
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number}
 */
function checkedExtent(name, value) {
  if (integer(name, value, 'ERR_SHAPE') < 0) {
    throw failure('ERR_SHAPE', `${name} is ${value}; it is 0 or more`)
  }
  return /** @type {number} */ (value)
}

module.exports = { arange, linspace, eye }
