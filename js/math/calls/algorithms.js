'use strict'
// Calls of algorithms (src/math), by the core's call buffer.

const { frame, held, put, putList, putScalar, RESULTS, ARGS } = require('../../backend/call-buffer')
const { checkAttached, stage, unstage } = require('../../backend/staging')
const { algorithms, tables, mode, call, defer, finish } = require('./calls')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */
/** @typedef {boolean | number | bigint | [number, number]} Scalar */

/** Arguments beside tensors, in the order of the row's signature: lists, integers, scalars. @typedef {{ lists?: readonly (readonly number[])[], numbers?: readonly number[], scalars?: readonly Scalar[] }} Arguments */

/**
 * Number of each algorithm for the call buffer, by its name in C. WebAssembly's module is opened when the first one is read: in a function, not where a file is loaded.
 *
 * @type {Record<string, number>}
 */
const rows = Object.create(new Proxy({ __proto__: null }, { get: (_, /** @type {string} */ name) => readRows()[name] }))

/** @returns {Record<string, number>} the same */
function readRows () {
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
 * @param {Layout[]} from
 * @param {Arguments} [given]
 * @throws as its function in C; ERR_SHAPE, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY
 */
function run (row, to, from, given = {}) {
  if (mode.deferred !== null) {
    defer(to[0], from, null, null, (first, sources, others) => { run(row, [first, ...others], sources, given) }, false, to.slice(1))
    return
  }
  const operands = [...to, ...from]
  let count = 0 // of operands that C can reach
  let isDone = false
  try {
    for (; count < operands.length; count++) operands[count] = stage(operands[count])
    for (let i = 0; i < to.length; i++) checkAttached(to[i].storage)
    invoke(row, operands, given)
    isDone = true
  } finally {
    // operands that were staged are the target's, or copies; those of targets first, so that results are back where sources share their bytes
    for (let i = 0; i < count; i++) unstage(operands[i], i < to.length ? to[i] : from[i - to.length], isDone && i < to.length)
  }
}

/**
 * @param {number} row
 * @param {readonly Layout[]} operands  that C can reach
 * @param {Arguments} given
 */
function invoke (row, operands, { lists = NONE, numbers = NONE, scalars = NONE }) {
  held.a = operands
  for (let i = 0; i < operands.length; i++) put(i, operands[i])
  let at = ARGS
  for (let i = 0; i < lists.length; i++) at = putList(at, lists[i])
  for (let i = 0; i < numbers.length; i++) frame.f64[at++] = numbers[i]
  for (let i = 0; i < scalars.length; i++, at += 3) putScalar(at, scalars[i])
  call(row)
  held.a = null
  finish()
}

/** A result of the last call that `run` made, after the first. @param {number} i @returns {number} */
const resultAt = i => frame.f64[RESULTS + i]

module.exports = { rows, run, resultAt }
