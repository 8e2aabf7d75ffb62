'use strict'
// Scalars and nested lists beside a tensor that their values are compared with, or counted for: they become tensors of the same values.

const { failure } = require('../base/errors')
const { show, ownFields } = require('../base/validate')
const { atOnce } = require('./calls/plan')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { flatten } = require('../layout/values')
const { tensorOfData } = require('../tensor/creation')
const { Tensor } = require('../tensor/tensor')
const { INT64, UINT64, FLOAT64 } = require('./constants')
const { operandOf } = require('./operands')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** What was read of lists. @typedef {{ name: string, values: ReturnType<typeof flatten>['values'], shape: number[] }} Listed */
/** One of both is a tensor. @typedef {{ x1: Tensor<any> | Listed, x2: Tensor<any> | Listed }} Pair */

/**
 * Reads an operand that may be a tensor, a scalar or nested lists: afterwards no code of the caller's is left to run.
 *
 * @param {string} name  of the argument
 * @param {unknown} value
 * @returns {Tensor<any> | Listed} a tensor itself
 * @throws ERR_ARGUMENT, ERR_SHAPE ragged lists, ERR_MEMORY
 */
function read(name, value) {
  if (Tensor.isTensor(value)) return value
  const { values, shape } = atOnce(() => flatten(name, value, false))
  return { name, values, shape }
}

/**
 * Two operands, of which one has to be a tensor.
 *
 * @param {unknown} x1
 * @param {unknown} x2
 * @returns {Pair}
 * @throws as read
 */
function readPair(x1, x2) {
  if (!Tensor.isTensor(x1) && !Tensor.isTensor(x2)) {
    throw failure(
      'ERR_ARGUMENT',
      `x1 is ${show(x1)}, and x2 ${show(x2)}; one of them has to be a tensor`,
    )
  }
  return { x1: read('x1', x1), x2: read('x2', x2) }
}

/**
 * @param {Pair} pair
 * @returns {{ x1: Layout, x2: Layout }} of both as tensors
 * @throws as tensorBeside and operandOf
 */
function operandsOf({ x1, x2 }) {
  if (!Tensor.isTensor(x1)) {
    const beside = operandOf(/** @type {Tensor} */ (x2), 'x2')
    return { x1: Tensor.layoutOf(tensorBeside(x1, beside.dtype)), x2: beside }
  }
  const beside = operandOf(x1, 'x1')
  return { x1: beside, x2: operandOf(tensorBeside(x2, beside.dtype), 'x2') }
}

/**
 * The tensor that an operand is, or that lists become; the caller runs it in tidy.
 *
 * @param {Tensor<any> | Listed} given
 * @param {number} dtype  of the tensor beside it
 * @param {string} [beside]  that tensor's name, for messages
 * @returns {Tensor<any>}
 * @throws {TypeError} ERR_CAST a value does not fit the dtype, if that is one of floats · {RangeError} ERR_MEMORY
 */
function tensorBeside(given, dtype, beside) {
  if (Tensor.isTensor(given)) return given
  const to = dtypeFor(given, dtype)
  const other = beside ?? (given.name === 'x1' ? 'x2' : 'x1')
  return made(given, to, dtypes[to].kind === 'FLOATING', other)
}

/**
 * The tensor that an operand is, or that lists become, whose values have to fit a dtype.
 *
 * @param {Tensor<any> | Listed} given
 * @param {number} dtype
 * @returns {Tensor<any>}
 * @throws {TypeError} ERR_CAST · {RangeError} ERR_MEMORY
 */
function tensorAs(given, dtype) {
  return Tensor.isTensor(given) ? given : made(given, dtype, true)
}

/**
 * @param {Listed} listed
 * @param {number} dtype
 * @param {boolean} isChecked  values have to fit it
 * @param {string} [beside]  a tensor that has to be converted else, for messages
 * @returns {Tensor<any>}
 */
function made({ name, values, shape }, dtype, isChecked, beside) {
  const { array } = values.packed(dtypes[dtype])
  if (isChecked) {
    const wrong = array.find((/** @type {any} */ each) => !scalars.takes(dtype, each))
    if (wrong !== undefined) throw scalars.misfit(name, wrong, dtype, beside)
  }
  return tensorOfData(array, shape, ownFields({ dtype: dtypes[dtype].name, casting: 'unsafe' }))
}

/**
 * Counts the copy of what was no tensor, once nothing is refused any more.
 *
 * @param {string} by  the function
 * @param {Tensor<any> | Listed | null} given
 * @param {Layout | null} layout  that it became
 */
function count(by, given, layout) {
  if (given !== null && layout !== null && !Tensor.isTensor(given)) countCopy(by, layout.nbytes)
}

/**
 * Numbers are rounded to the floats of the tensor; bigints, and what stands beside integers and bool, are compared as they are.
 *
 * @param {Listed} listed
 * @param {number} dtype  of the tensor
 * @returns {number}
 */
function dtypeFor({ values }, dtype) {
  if (dtypes[dtype].kind === 'FLOATING' && !values.areIntegers) return dtype
  if (values.fraction !== undefined) return FLOAT64
  return values.isAnyLarge || (dtype === UINT64 && !values.isAnyNegative) ? UINT64 : INT64
}

module.exports = { read, readPair, operandsOf, tensorBeside, tensorAs, count }
