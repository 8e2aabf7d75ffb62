'use strict'
// Calls of reductions, by the core's call buffer.

const { arrayOf } = require('../../base/records')
const { frame, check, putList, putScalar, RESULTS, ARGS } = require('../../backend/call-buffer')
const { tables, rows, call, callOn } = require('./calls')
const { ANYWHERE, planned } = require('./plan')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */

/** Number of each reduction, by its name in C. @type {Record<string, number>} */
const reductions = Object.fromEntries(
  tables.reductions.map((/** @type {string} */ name, /** @type {number} */ index) => [name, index]),
)

/** Results' dtypes by reduction, source and dtype asked for. @type {number[]} */
const known = []

/**
 * The dtype of a reduction's result.
 *
 * @param {number} op
 * @param {number} from  the source's dtype
 * @param {number} asked  a dtype, or NONE
 * @returns {number}
 * @throws ERR_DTYPE, ERR_CAST · {TypeError} ERR_ARGUMENT the reduction takes no dtype
 */
function reductionType(op, from, asked) {
  const key = (op << 12) | (from << 6) | (asked + 1)
  if (known[key] !== undefined) return known[key]
  const { f64 } = frame
  f64[ARGS] = op
  f64[ARGS + 1] = from
  f64[ARGS + 2] = asked
  call(rows.reduction_type)
  check()
  known[key] = frame.f64[RESULTS]
  return known[key]
}

/**
 * Calls C on a target and a source, with a list and numbers.
 *
 * @param {number} row
 * @param {Layout} to  writable; gets the result
 * @param {Layout} from
 * @param {readonly number[]} list
 * @param {readonly number[]} numbers
 * @param {number | null} value  a scalar; null: there is none
 */
function callWith(row, to, from, list, numbers, value) {
  callOn(
    row,
    to,
    [from],
    () => {
      let at = putList(ARGS, list)
      for (const number of numbers) frame.f64[at++] = number
      if (value !== null) putScalar(at, value)
    },
    null,
  )
}

/**
 * @param {Layout} to
 * @param {Layout} from
 * @param {readonly number[]} axes  that are reduced, and that the target has not, or has with one element each
 * @returns {number[]} for each axis of the source the target's; -1: it is reduced
 */
function keptAxes(to, from, axes) {
  const stay = to.shape.length === from.shape.length
  let at = 0
  return from.shape.map((n, d) => {
    if (axes.includes(d)) return -1
    return stay ? d : at++
  })
}

/**
 * Computes a reduction. All operands are in the CPU's memory (math/operands.js).
 *
 * @param {number} op
 * @param {Layout} to  writable; gets the result
 * @param {Layout} from
 * @param {readonly number[]} axes  each once, from 0 on
 * @param {number} asked  a dtype, or NONE
 * @param {number} casting
 * @param {number} correction
 * @throws ERR_SHAPE, ERR_BOUNDS, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY
 */
function reduce(op, to, from, axes, asked, casting, correction) {
  const plan = planned()
  if (plan !== null) {
    plan.add({ ...ANYWHERE, follows: keptAxes(to, from, axes) }, to, [from], (target, x) =>
      reduce(op, target, x[0], axes, asked, casting, correction),
    )
  } else callWith(rows.reduce, to, from, axes, [op, asked, casting], correction)
}

/**
 * Computes a cumulative sum or product.
 *
 * @param {number} op  the reduction that goes on
 * @param {Layout} to  writable; of from's shape
 * @param {Layout} from
 * @param {number} axis  from 0 on
 * @param {number} asked  a dtype, or NONE
 * @param {number} casting
 * @throws as reduce
 */
function cumulate(op, to, from, axis, asked, casting) {
  const plan = planned()
  if (plan !== null) {
    plan.add({ ...ANYWHERE, whole: [axis] }, to, [from], (target, x) =>
      cumulate(op, target, x[0], axis, asked, casting),
    )
  } else callWith(rows.cumulate, to, from, [axis], [op, asked, casting], 0)
}

/** @param {number} op @param {Layout} to @param {Layout} from @param {number} axes @returns {import('./plan').Cut} */
function cutOfLines(op, to, from, axes) {
  const kept = from.shape.length - axes
  const isOfLines = op === reductions.softmax || op === reductions.log_softmax // so is the target
  return {
    ...ANYWHERE,
    whole: arrayOf(to.shape.length - kept, (i) => kept + i),
    follows: isOfLines ? null : from.shape.map((_, d) => (d < kept ? d : -1)),
  }
}

/**
 * Computes a function of whole lines, which are all elements along the last axes.
 *
 * @param {number} op  softmax, log_softmax, log_sum_exp or quantile
 * @param {Layout} to  writable; from's other axes, then those of results
 * @param {Layout} from
 * @param {number} axes  how many make a line
 * @param {readonly number[]} ranks  quantile: of each result of a line; at most MOST_RANKS
 * @param {number} asked  a dtype, or NONE
 * @param {number} casting
 * @throws as reduce
 */
function lines(op, to, from, axes, ranks, asked, casting) {
  const plan = planned()
  if (plan !== null) {
    plan.add(cutOfLines(op, to, from, axes), to, [from], (target, x) =>
      lines(op, target, x[0], axes, ranks, asked, casting),
    )
  } else callWith(rows.lines, to, from, ranks, [op, asked, casting, axes], null)
}

const MOST_RANKS = 256

module.exports = { reductions, reductionType, reduce, cumulate, lines, MOST_RANKS }
