'use strict'
// JavaScript's scalars beside tensors: a scalar takes the dtype that is computed in, and has to fit it, as in fill.

const { isView } = require('../base/buffers')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { NONE, tables, dtypeOfResult } = require('./calls/calls')
const { atOnce } = require('./calls/plan')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { claim, unclaim } = require('../backend/storage')
const { denseLayout, written } = require('../layout/layouts')
const { pairOf } = require('../layout/values')
const { allocated } = require('./allocate')
const { INT64, UINT64, FLOAT32 } = require('./constants')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('./calls/calls').Scalar} Scalar */

/** By dtype: is it of integers? */
const isWhole = dtypes.map(({ kind }) => kind === 'SIGNED' || kind === 'UNSIGNED')

/** By dtype: are numbers rounded to it, unless they are beyond its largest one? */
const isRounded = dtypes.map(({ kind }) => kind === 'FLOATING' || kind === 'COMPLEX')

/** By dtype: the largest number that it takes, and below the smallest one. A float takes infinities as well; 64-bit integers take other numbers as bigint. */
const most = dtypes.map(({ index, kind, itemsize }) => {
  if (kind === 'FLOATING') return ffi.finfo(index).max
  if (kind === 'COMPLEX') return Infinity
  if (kind === 'BOOLEAN') return 1
  return Math.min(2 ** (8 * itemsize - (kind === 'SIGNED' ? 1 : 0)) - 1, Number.MAX_SAFE_INTEGER)
})
const least = dtypes.map(({ kind, itemsize }, i) => {
  if (kind === 'SIGNED') return itemsize < 8 ? -most[i] - 1 : -most[i]
  return isRounded[i] ? -most[i] : 0
})

/** By function: what its operands become. @type {string[]} */
const domains = tables.ops.map((/** @type {any} */ row) => (row === null ? '' : row[2]))
const compares = domains.map((domain) => domain === 'ORDER' || domain === 'EQUALITY')
const givesFloats = domains.map((domain) => domain === 'FLOAT' || domain === 'DIVISION')
const isLogic = domains.map((domain) => domain === 'LOGIC')

/**
 * @param {number} dtype
 * @param {number | boolean | bigint} x
 * @returns {boolean}
 */
function fits(dtype, x) {
  if (typeof x === 'number') {
    if (!isWhole[dtype]) return (x <= most[dtype] && x >= least[dtype]) || !Number.isFinite(x)
    return x <= most[dtype] && x >= least[dtype] && Math.floor(x) === x
  }
  if (typeof x === 'boolean') return true
  const { kind, itemsize } = dtypes[dtype]
  if (kind === 'SIGNED') return BigInt.asIntN(8 * itemsize, x) === x
  if (kind === 'UNSIGNED') return BigInt.asUintN(8 * itemsize, x) === x
  return kind === 'COMPLEX' || fits(dtype, Number(x))
}

/** @param {number} dtype @param {Scalar} x */
const takes = (dtype, x) =>
  typeof x === 'object' ? dtypes[dtype].kind === 'COMPLEX' : fits(dtype, x)

/**
 * Reads a scalar: afterwards no code of the caller's is left to run.
 *
 * @param {string} name  of the argument
 * @param {unknown} value
 * @param {string} [wanted]  what else it may be than a complex number
 * @returns {Scalar}
 * @throws ERR_ARGUMENT
 */
function read(name, value, wanted = 'a tensor, a number') {
  const type = typeof value
  if (type === 'number' || type === 'boolean' || type === 'bigint') {
    return /** @type {Scalar} */ (value)
  }
  const pair = atOnce(() => pairOf(value))
  if (pair === null) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(value)}; ${wanted} or [re, im] was expected${Array.isArray(value) ? '; tensor() makes one of a list' : isView(value) ? '; fromBlob() makes one of a typed array' : ''}`,
    )
  }
  return pair
}

/**
 * What a scalar becomes beside a tensor of a dtype.
 *
 * @param {string} name  of the argument
 * @param {number} op
 * @param {number} dtype  the tensor's
 * @param {number} asked  that operands are converted to, or NONE
 * @param {Scalar} value
 * @returns {Scalar}
 * @throws ERR_CAST it does not fit · ERR_DTYPE the function is not for the tensor's dtype
 */
function taken(name, op, dtype, asked, value) {
  if (isLogic[op]) {
    return typeof value === 'object'
      ? value[0] !== 0 || value[1] !== 0
      : value !== 0 && value !== false && value !== 0n
  }
  if (compares[op] && asked === NONE) {
    if (typeof value === 'number' && isRounded[dtype] && !fits(dtype, value)) {
      throw misfit(name, value, dtype)
    }
    return typeof value === 'bigint' && !fits(INT64, value) && !fits(UINT64, value)
      ? Number(value)
      : value
  } // C compares values
  let to = asked === NONE ? dtype : asked
  if (isWhole[to] && givesFloats[op]) to = FLOAT32
  if (typeof value === 'object') {
    if (dtypes[to].kind === 'COMPLEX') return value
  } else if (fits(to, value)) return value
  dtypeOfResult(op, dtype, dtype, dtype, asked) // a dtype that the function is not for is the better answer
  throw misfit(name, value, to)
}

/**
 * @param {string} name
 * @param {Scalar} value
 * @param {number} dtype
 * @param {string} [first]  a tensor that has to be converted, where the function takes no dtype
 */
function misfit(name, value, dtype, first) {
  const text = typeof value === 'object' ? `[${value[0]}, ${value[1]}]` : show(value)
  const list = typeof value === 'object' ? `; tensor(${text}) makes a tensor of a list` : ''
  const what = list === '' ? text : `${text}, a complex number`
  if (
    typeof value === 'number' &&
    isWhole[dtype] &&
    dtypes[dtype].itemsize === 8 &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value)
  ) {
    return failure(
      'ERR_CAST',
      `${name} is ${what}, which does not fit ${dtypes[dtype].name}: numbers do as safe integers, others as bigint`,
    )
  }
  const to = better(value, dtype)
  const how =
    first === undefined
      ? `{ dtype: '${to}' } converts operands first`
      : `${first}.astype('${to}') first takes it`
  return failure(
    'ERR_CAST',
    `${name} is ${what}, which does not fit ${dtypes[dtype].name}; ${how}${list}`,
  )
}

/**
 * A dtype that takes a scalar.
 *
 * @param {Scalar} value
 * @param {number} dtype  that does not
 * @returns {string}
 */
function better(value, dtype) {
  if (typeof value === 'object') return dtypes[dtype].itemsize < 8 ? 'complex64' : 'complex128'
  if (!isWhole[dtype]) return fits(FLOAT32, value) ? 'float32' : 'float64'
  if (dtypes[dtype].itemsize === 8) return 'float64'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'float32'
  const wider = dtypes[dtype].name === 'uint32' ? ['int64'] : ['int32', 'int64']
  return wider.find((each) => fits(dtypeOf(each).index, value)) ?? 'float64'
}

/**
 * @param {Scalar} value  that fits
 * @param {number} dtype
 * @returns {Layout} 0-d, over new bytes, which it claims; release ends that
 */
function ofValue(value, dtype) {
  const layout = written(allocated(denseLayout(dtype, [])), (made) => ffi.fill(made, value))
  claim(layout.storage)
  return layout
}

/** @param {Layout} layout  of ofValue */
const release = (layout) => unclaim(layout.storage, ffi.backend)

module.exports = { isWhole, read, takes, taken, misfit, ofValue, release }
