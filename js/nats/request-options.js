'use strict'
// Checks of what a request is told.

const { failure } = require('../base/errors')
const { signalOf } = require('../base/signals')
const { integerFrom, optionsOf, show } = require('../base/validate')
const { busy } = require('../copy/async')
const { Tensor } = require('../tensor/tensor')
const { isValue, ownValue, tensorsOf } = require('./batches')

/** @typedef {import('./batches').Value} Value */

const DEADLINE_MS = 5000
const LONGEST_MS = 2 ** 31 - 1 // of a timer

/** @param {string} name @param {unknown} value @param {number} least @returns {number} */
function milliseconds (name, value, least) {
  if (typeof value !== 'number') throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; milliseconds were expected`)
  if (!(value >= least && value <= LONGEST_MS)) throw failure('ERR_BOUNDS', `${name} is ${value}; ${least} to ${LONGEST_MS} milliseconds were expected`)
  return value
}

/** @param {unknown} method @returns {string | undefined} */
function methodOf (method) {
  if (method === undefined || (typeof method === 'string' && /^[\x21-\x7e]{1,256}$/.test(method))) return method
  throw failure('ERR_ARGUMENT', `method is ${show(method)}; a name of ASCII characters was expected`)
}

/** @param {unknown} out @returns {Value | undefined} */
function outOf (out) {
  if (out === undefined) return undefined
  if (!isValue(out)) throw failure('ERR_ARGUMENT', `out is ${show(out)}; a tensor or a record of tensors was expected`)
  for (const t of tensorsOf(out)) {
    const layout = Tensor.attachedOf(t)
    if (t.isReadOnly) throw failure('ERR_READ_ONLY', 'out is read-only')
    if ((layout.storage.optional?.busy ?? 0) > 0) throw busy('tensor')
  }
  return out
}

/** @param {unknown} given  RequestOptions */
function checkOptions (given) {
  const { deadline = DEADLINE_MS, attempts = 1, out, method, signal } = optionsOf(given, ['deadline', 'attempts', 'out', 'method', 'signal'], 'bus.request')
  const targets = ownValue(out)
  return {
    deadline: milliseconds('deadline', deadline, 1),
    attempts: integerFrom('attempts', attempts, 1),
    out: outOf(targets),
    returned: out,
    method: methodOf(method),
    signal: signalOf(signal)
  }
}

module.exports = { LONGEST_MS, milliseconds, checkOptions }
