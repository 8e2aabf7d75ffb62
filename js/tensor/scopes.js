'use strict'
// tidy, scope and dispose for tensors; layout/lifetime.js has the logic.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const lifetime = require('../layout/lifetime')
const { Tensor } = require('./tensor')

/**
 * Runs a function and disposes every tensor made inside, except those that it returns or keeps. Returned are also the tensors in arrays, Maps, Sets
 * and own enumerable properties of any object, however deep, and what errors carry as `cause` and `errors`. Private fields cannot be seen, and getters
 * are not run: `keep` what only these give, and what is a named property of a plain array of more than 256 elements or of a typed array.
 * Synchronous: if the function returns a promise, tidy throws.
 *
 * @template R
 * @param {() => R} fn
 * @returns {R} what fn returned
 * @throws {TypeError} ERR_ARGUMENT no function, or a promise · what fn throws; all is disposed then
 * @see TensorFlow.js tidy
 * @example
 * tidy(() => zeros([2, 3]).T.contiguous()).shape // [3, 2]
 */
function tidy(fn) {
  return lifetime.tidy(fn, Tensor.isTensor)
}

/**
 * Runs an asynchronous function with a scope. Tensors that the scope tracks are disposed at the end, except those that are
 * returned (in whatever tidy looks into) or kept.
 *
 * @template R
 * @param {(scope: lifetime.Scope) => Promise<R> | R} fn
 * @returns {Promise<R>} what fn returned
 * @throws {TypeError} ERR_ARGUMENT no function · what fn throws, as rejections; all is disposed then
 * @example
 * const t = await scope(async s => s.track(ones([2])).clone())
 * t.toArray() // [1, 1]
 */
function scope(fn) {
  return lifetime.scope(fn, Tensor.isTensor)
}

/**
 * Disposes each tensor of a list.
 *
 * @param {readonly Tensor[] | Tensor} list
 * @throws {TypeError} ERR_ARGUMENT; nothing is disposed then
 * @example
 * const t = zeros([2])
 * dispose([t, ones([2])])
 * t.isDisposed // true
 */
function dispose(list) {
  const refused = () =>
    failure(
      'ERR_ARGUMENT',
      `dispose was given ${show(list)}; a tensor or an array of them was expected`,
    )
  const given = Tensor.isTensor(list) ? [list] : Array.isArray(list) ? list : null
  if (given === null) throw refused()
  const all = []
  for (let i = 0; i < given.length; i++) {
    // of holes as well
    const t = given[i]
    if (!Tensor.isTensor(t)) throw refused()
    all.push(t)
  }
  for (const t of all) t.dispose()
}

module.exports = { tidy, scope, dispose }
