'use strict'
// where and clip: each operand may be a tensor or a scalar.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { CHOICE, NONE, ops } = require('./calls/calls')
const { dtypeOf } = require('../backend/dtypes')
const { broadcast } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { BOOL } = require('./constants')
const { binary, computed } = require('./elementwise')
const { operandOf } = require('./operands')
const { resultOptions } = require('./options')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('./calls/calls').Scalar} Scalar */

const OF_WHERE = ['condition', 'x1', 'x2']
const OF_CLIP = ['x', 'min', 'max']
/** @type {Record<string, string>} */
const SCALARS = { object: 'complex64', boolean: 'bool', bigint: 'int64', number: 'float32' }

/**
 * The dtype of scalars beside no tensor, as in full.
 *
 * @param {Scalar} value
 */
const dtypeOfScalar = (value) => dtypeOf(SCALARS[typeof value]).index

/** @param {number} found  NONE: none yet @param {number} dtype @returns {number} the dtype in which both meet */
const together = (found, dtype) =>
  found === NONE || found === dtype ? dtype : ffi.promoteTypes(found, dtype)

/**
 * A function of three operands.
 *
 * @param {number} op
 * @param {string[]} names  of the operands
 * @param {unknown} x
 * @param {unknown} y
 * @param {unknown} z
 * @param {unknown} opts
 * @param {number} first  operand that the result's dtype follows from, with those after it: 0 or 1
 * @returns {any}
 */
function ternary(op, names, x, y, z, opts, first) {
  const p = operand(names[0], x)
  const q = operand(names[1], y)
  const r = operand(names[2], z)
  const options = resultOptions(opts)
  const a = Tensor.isTensor(p) ? operandOf(p, names[0]) : null
  const b = Tensor.isTensor(q) ? operandOf(q, names[1]) : null
  const c = Tensor.isTensor(r) ? operandOf(r, names[2]) : null
  if (a !== null && b !== null && c !== null) {
    return computed(op, [a, b, c], broadcast(broadcast(a.shape, b.shape), c.shape), options)
  }
  let to = NONE // the dtype in which tensors meet, or scalars where there is no tensor
  if (options.dtype !== undefined) {
    to = options.dtype.index
  } else {
    if (first === 0 && a !== null) to = a.dtype
    if (b !== null) to = together(to, b.dtype)
    if (c !== null) to = together(to, c.dtype)
    if (to === NONE) to = together(dtypeOfScalar(q), dtypeOfScalar(r))
  }
  const choice = {
    mask: (a === null ? 1 : 0) | (b === null ? 2 : 0) | (c === null ? 4 : 0),
    dtype: to,
    first: a === null ? p : b === null ? q : r,
    last: c === null ? r : b === null ? q : p,
    of: a === null ? dtypeOfTaken(names[0], p, first > 0 ? BOOL : to) : a.dtype,
    second: b === null ? dtypeOfTaken(names[1], q, to) : b.dtype,
    third: c === null ? dtypeOfTaken(names[2], r, to) : c.dtype,
  }
  const one = a ?? b ?? c
  if (one === null) return ofScalars(op, choice, q, options)
  const other = a === null ? (b === null ? null : c) : (b ?? c)
  return computed(
    op,
    other === null ? [one] : [one, other],
    other === null ? one.shape : broadcast(one.shape, other.shape),
    options,
    choice,
    CHOICE,
  )
}

/** @param {string} name @param {unknown} value @returns {any} the tensor, or the scalar that it is */
const operand = (name, value) => (Tensor.isTensor(value) ? value : scalars.read(name, value))

/** @param {string} name @param {Scalar} value @param {number} dtype @returns {number} the dtype, which takes the scalar */
function dtypeOfTaken(name, value, dtype) {
  if (!scalars.takes(dtype, value)) throw scalars.misfit(name, value, dtype)
  return dtype
}

/**
 * where of no tensor at all.
 *
 * @param {number} op
 * @param {import('./calls/calls').Choice} choice
 * @param {Scalar} q  the scalar in the middle
 * @param {ReturnType<typeof resultOptions>} options
 */
function ofScalars(op, choice, q, options) {
  const condition = scalars.ofValue(choice.first, choice.of)
  choice.mask = 6
  choice.first = q
  try {
    return computed(op, [condition], condition.shape, options, choice, CHOICE)
  } finally {
    scalars.release(condition)
  }
}

/**
 * @param {unknown} condition
 * @param {unknown} x1
 * @param {unknown} x2
 * @param {unknown} opts
 * @returns {any}
 */
function where(condition, x1, x2, opts) {
  if (!Tensor.isTensor(condition) && typeof condition !== 'boolean') {
    throw failure(
      'ERR_ARGUMENT',
      `condition is ${show(condition)}; a tensor, true or false was expected`,
    )
  }
  if (x1 === undefined && x2 === undefined) {
    throw failure(
      'ERR_ARGUMENT',
      'x1 and x2 are missing; nonzero(condition) gives the places where a condition holds',
    )
  }
  return ternary(ops.where, OF_WHERE, condition, x1, x2, opts, 1)
}

/**
 * @param {unknown} x
 * @param {unknown} min  undefined or null: there is no bound
 * @param {unknown} max  likewise
 * @param {unknown} opts
 * @returns {any}
 */
function clip(x, min, max, opts) {
  if (!Tensor.isTensor(x)) throw failure('ERR_ARGUMENT', `x is ${show(x)}; a tensor was expected`)
  const hasMin = min !== undefined && min !== null
  const hasMax = max !== undefined && max !== null
  if (hasMin && hasMax) return ternary(ops.clip, OF_CLIP, x, min, max, opts, 0)
  if (hasMin) return binary(ops.maximum, x, min, opts, 'x', 'min')
  return hasMax
    ? binary(ops.minimum, x, max, opts, 'x', 'max')
    : binary(ops.maximum, x, x, opts, 'x')
}

module.exports = { where, clip }
