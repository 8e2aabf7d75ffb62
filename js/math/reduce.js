'use strict'
// A reduction: reads axes and options, makes the result, calls C.

const { Number } = require('../base/primordials')
const { failure } = require('../base/errors')
const { show, boolean, integer, optionsOf } = require('../base/validate')
const { NONE } = require('../backend/math')
const { reductionType, reduce } = require('../backend/reductions')
const { denseLayout } = require('../layout/layouts')
const { checkOut } = require('../copy/results')
const { tensorOf, wrap, resultOf } = require('../tensor/tensor')
const { allocated } = require('./allocate')
const { axesFor, axesGiven, reducedShape } = require('./axes')
const { operandOf, targetOf } = require('./operands')

/**
 * @param {number} op
 * @param {unknown} x
 * @param {any} opts
 * @param {boolean} [isIndex]  axis is one
 * @returns {any}
 */
function reduced (op, x, opts, isIndex = false) {
  tensorOf(x, 'x')
  const { axis, keepdims: kept, correction: given = 0 } = optionsOf(opts)
  const listed = axesGiven(isIndex && axis !== undefined && axis !== null ? integer('axis', axis) : axis)
  const keepdims = boolean('keepdims', kept)
  if (typeof given !== 'number' || !Number.isFinite(given)) throw failure('ERR_ARGUMENT', `correction is ${show(given)}; a number was expected`)
  const { out, dtype, casting } = resultOf(opts)
  const from = operandOf(/** @type {import('../tensor/tensor').Tensor} */ (x), 'x')
  const axes = axesFor(listed, from.shape.length)
  const asked = dtype === undefined ? NONE : dtype.index
  const shape = reducedShape(from.shape, axes, keepdims)
  const result = reductionType(op, from.dtype, asked)
  if (out !== undefined) {
    const to = targetOf(out)
    checkOut(to, shape, undefined)
    reduce(op, to, from, axes, asked, casting, given)
    return out
  }
  const made = allocated(denseLayout(result, shape))
  reduce(op, made, from, axes, asked, casting, given)
  return wrap(made)
}

module.exports = { reduced }
