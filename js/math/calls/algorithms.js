'use strict'
// Calls of algorithms (src/math), by the core's call buffer.

const { frame, putList, putScalar, RESULTS, ARGS } = require('../../backend/call-buffer')
const { algorithms, tables, callOn } = require('./calls')
const { NOWHERE, planned } = require('./plan')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */
/** @typedef {boolean | number | bigint | [number, number]} Scalar */

/** Arguments beside tensors, in the order of the row's signature: lists, integers, scalars. @typedef {{ lists?: readonly (readonly number[])[], numbers?: readonly number[], scalars?: readonly Scalar[] }} Arguments */

/**
 * Number of each algorithm for the call buffer, by its name in C. WebAssembly's module is opened when the first one is read: in a function, not where a file is loaded.
 *
 * @type {Record<string, number>}
 */
const rows = Object.create(
  new Proxy({ __proto__: null }, { get: (_, /** @type {string} */ name) => readRows()[name] }),
)

/** @returns {Record<string, number>} the same */
function readRows() {
  const { exports } = algorithms()
  Object.setPrototypeOf(rows, null)
  for (let i = 0; i < exports.length - 1; i++) rows[exports[i]] = tables.exports.length - 1 + i
  return rows
}

/** @type {readonly any[]} */
const NONE = []

/**
 * Runs an algorithm. All operands are in the CPU's memory (math/operands.js).
 *
 * @param {number} row  one of `rows`; its signature: targets, sources, lists, numbers, scalars
 * @param {readonly Layout[]} to  writable; get the results
 * @param {readonly Layout[]} from
 * @param {Arguments} [given]
 * @throws as its function in C; ERR_SHAPE, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY
 */
function run(row, to, from, given = {}) {
  const plan = planned()
  if (plan !== null) {
    plan.add(
      NOWHERE,
      to[0],
      from,
      (first, sources, others) => run(row, [first, ...others], sources, given),
      to.slice(1),
    )
  } else callOn(row, to.length > 0 ? to[0] : null, from, putArguments, given, to.slice(1))
}

/** @param {readonly Layout[]} _ @param {Arguments} given */
function putArguments(_, { lists = NONE, numbers = NONE, scalars = NONE }) {
  let at = ARGS
  for (const list of lists) at = putList(at, list)
  for (const number of numbers) frame.f64[at++] = number
  for (const scalar of scalars) {
    putScalar(at, scalar)
    at += 3
  }
}

/** A result of the last call that `run` made, after the first. @param {number} i @returns {number} */
const resultAt = (i) => frame.f64[RESULTS + i]

module.exports = { rows, run, resultAt }
