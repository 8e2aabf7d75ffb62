'use strict'
// What can be served, as functions from a tensor or a record of tensors to another.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { Module } = require('../model/module')
const { Tensor } = require('../tensor/tensor')

/** @typedef {import('./runs').Call} Call */

/**
 * @param {any} target
 * @returns {Call}
 * @throws {TypeError} ERR_ARGUMENT neither a function nor a Module
 */
function callOfTarget (target) {
  if (target instanceof Module) return (value, { method }) => callModule(target, value, method)
  if (typeof target === 'function') return (value, context) => target(value, context)
  throw failure('ERR_ARGUMENT', `target is ${show(target)}; a function of tensors or a Module was expected`)
}

/**
 * A tensor is the only input; the only output comes back as a tensor, several by name. Records have inputs and outputs by name.
 *
 * @param {Module} module
 * @param {import('./batches').Value} value
 * @param {string | undefined} method
 */
async function callModule (module, value, method) {
  const isOne = Tensor.isTensor(value)
  const [input] = module.meta(method).inputs
  const results = await module.run(isOne ? { [input?.name]: value } : value, { method })
  const [first, ...others] = Object.values(results)
  return isOne && others.length === 0 ? first : results
}

module.exports = { callOfTarget }
