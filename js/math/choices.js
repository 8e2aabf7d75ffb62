'use strict'
// where and clip: each operand may be a tensor or a scalar.

const { arrayMap, newList } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { CHOICE, ops } = require('../backend/math')
const { dtypeOf } = require('../backend/dtypes')
const { broadcast } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { binary, computed } = require('./elementwise')
const { operandOf } = require('./operands')
const { resultOptions } = require('./options')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('../backend/math').Scalar} Scalar */

const BOOL = dtypeOf('bool').index

/**
 * The dtype of scalars beside no tensor, as in full.
 *
 * @param {Scalar} value
 */
const dtypeOfScalar = value => dtypeOf(typeof value === 'object' ? 'complex64' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'int64' : 'float32').index

/** @param {(Tensor | Scalar)[]} operands @returns {number} the dtype in which they meet: that of tensors, or of scalars where there is no tensor */
function meeting (operands) {
  let found = -1
  let ofScalars = -1
  for (let i = 0; i < operands.length; i++) {
    const operand = operands[i]
    const isTensor = Tensor.isTensor(operand)
    const dtype = isTensor ? Tensor.layoutOf(operand).dtype : dtypeOfScalar(operand)
    if (isTensor) found = found < 0 ? dtype : ffi.promoteTypes(found, dtype)
    else ofScalars = ofScalars < 0 ? dtype : ffi.promoteTypes(ofScalars, dtype)
  }
  return found < 0 ? ofScalars : found
}

/**
 * A function of three operands.
 *
 * @param {number} op
 * @param {string[]} names  of the operands
 * @param {unknown[]} given
 * @param {unknown} opts
 * @param {number} first  operand that the result's dtype follows from, with those after it
 * @returns {any}
 */
function ternary (op, names, given, opts, first) {
  /** @type {(Tensor | Scalar)[]} */
  const operands = arrayMap(given, (value, i) => Tensor.isTensor(value) ? value : scalars.read(names[i], value))
  const options = resultOptions(opts)
  const { dtype } = options
  const to = dtype === undefined ? meeting(first === 0 ? operands : [operands[1], operands[2]]) : dtype.index
  /** @type {Layout[]} */
  const layouts = newList()
  /** @type {Scalar[]} */
  const values = newList()
  /** @type {number[]} */
  const dtypes = newList()
  let mask = 0
  for (let i = 0; i < 3; i++) {
    const operand = operands[i]
    if (Tensor.isTensor(operand)) {
      const layout = layouts[layouts.length] = operandOf(operand, names[i])
      dtypes[i] = layout.dtype
    } else {
      const own = dtypes[i] = i < first ? BOOL : to
      if (!scalars.takes(own, operand)) throw scalars.misfit(names[i], operand, own)
      mask |= 1 << i
      values[values.length] = operand
    }
  }
  if (mask === 7) return ofScalars(op, values, dtypes, options)
  const a = layouts[0]
  if (mask === 0) return computed(op, a, layouts[1], layouts[2], broadcast(broadcast(a.shape, layouts[1].shape), layouts[2].shape), options)
  const b = layouts.length === 2 ? layouts[1] : null
  return computed(op, a, b, null, b === null ? a.shape : broadcast(a.shape, b.shape), options, { mask, dtype: to, values }, CHOICE, dtypes)
}

/**
 * where of no tensor at all.
 *
 * @param {number} op
 * @param {Scalar[]} values
 * @param {number[]} dtypes
 * @param {ReturnType<typeof resultOptions>} options
 */
function ofScalars (op, values, dtypes, options) {
  const condition = scalars.ofValue(values[0], dtypes[0])
  try {
    return computed(op, condition, null, null, condition.shape, options, { mask: 6, dtype: dtypes[1], values: [values[1], values[2]] }, CHOICE, dtypes)
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
function where (condition, x1, x2, opts) {
  if (!Tensor.isTensor(condition) && typeof condition !== 'boolean') throw failure('ERR_ARGUMENT', `condition is ${show(condition)}; a tensor, true or false was expected`)
  return ternary(ops.where, ['condition', 'x1', 'x2'], [condition, x1, x2], opts, 1)
}

/**
 * @param {unknown} x
 * @param {unknown} min  undefined or null: there is no bound
 * @param {unknown} max  likewise
 * @param {unknown} opts
 * @returns {any}
 */
function clip (x, min, max, opts) {
  if (!Tensor.isTensor(x)) throw failure('ERR_ARGUMENT', `x is ${show(x)}; a tensor was expected`)
  const hasMin = min !== undefined && min !== null
  const hasMax = max !== undefined && max !== null
  if (hasMin && hasMax) return ternary(ops.clip, ['x', 'min', 'max'], [x, min, max], opts, 0)
  if (hasMin) return binary(ops.maximum, x, min, opts, 'x', 'min')
  return hasMax ? binary(ops.minimum, x, max, opts, 'x', 'max') : binary(ops.maximum, x, x, opts, 'x')
}

module.exports = { where, clip }
