'use strict'
// A reduction: reads axes and options, makes the result, calls C.

const { boolean, integer } = require('../base/validate')
const { NONE } = require('./calls/calls')
const { reductions, reductionType, reduce } = require('./calls/reductions')
const { tensorOf, resultIn } = require('../tensor/tensor')
const { axesFor, axesGiven, reducedShape } = require('./axes')
const { target, wrapping } = require('./cores')
const { operandOf } = require('./operands')
const { known, numberOf, optionsAlong } = require('./options')

const KNOWN = known(['axis', 'keepdims', 'dtype', 'out', 'casting'], 'axis')
const OF_SPREAD = known(['axis', 'correction', 'keepdims', 'dtype', 'out', 'casting'], 'axis')
const UNTYPED = known(['axis', 'keepdims', 'out', 'casting'], 'axis')

/** By reduction. */
const names = Object.keys(reductions)
/** By reduction. */
const knownBy = names.map((name) =>
  ['var', 'std'].includes(name)
    ? OF_SPREAD
    : ['min', 'max', 'any', 'all'].includes(name)
      ? UNTYPED
      : KNOWN,
)

/**
 * @param {number} op
 * @param {unknown} x
 * @param {any} first  axis, or options
 * @param {any} opts
 * @param {boolean} [isIndex]  axis is one
 * @returns {any}
 */
function reduced(op, x, first, opts, isIndex = false) {
  tensorOf(x, 'x')
  const options = optionsAlong(first, opts, knownBy[op])
  const { axis, keepdims: kept, correction: given = 0 } = options
  const listed = axesGiven(
    isIndex && axis !== undefined && axis !== null ? integer('axis', axis) : axis,
  )
  const keepdims = boolean('keepdims', kept)
  numberOf('correction', given, Number.isFinite)
  const { out, dtype, casting } = resultIn(options)
  const from = operandOf(/** @type {import('../tensor/tensor').Tensor} */ (x), 'x')
  const axes = axesFor(listed, from.shape.length)
  const asked = dtype === undefined ? NONE : dtype.index
  const shape = reducedShape(from.shape, axes, keepdims)
  const result = reductionType(op, from.dtype, asked)
  const compute = (/** @type {import('./cores').Layout} */ to) =>
    reduce(op, to, from, axes, asked, casting, given)
  if (op === reductions.sum || op === reductions.prod) {
    return wrapping(names[op], out, result, shape, casting, compute)
  }
  const made = target(out, result, shape)
  compute(made.to)
  return made.result()
}

module.exports = { reduced }
