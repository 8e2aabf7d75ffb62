'use strict'
// Weights that sessions use where a program has them, in the place of the model's own. Node alone.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { keep } = require('../layout/lifetime')
const { Tensor, wrap } = require('../tensor/tensor')
const { graphOf } = require('./graph')
const { TYPE_NAMES } = require('./types')

const { backend } = ffi

/** @typedef {import('../tensor/tensor').Tensor} Tensors */
/** A caller's weights. key: what he gave. @typedef {{ key: object, find: (name: string) => unknown }} Weights */

/**
 * Reads what a caller gave for weights, a record once.
 *
 * @param {any} given  a file of tensors, a Map, or a record
 * @returns {Weights}
 * @throws {TypeError} ERR_ARGUMENT
 */
function weightsOf(given) {
  if (
    given === null ||
    typeof given !== 'object' ||
    Array.isArray(given) ||
    ArrayBuffer.isView(given)
  ) {
    throw failure(
      'ERR_ARGUMENT',
      `weights is ${show(given)}; a file of tensors, or an object of tensors by name, was expected`,
    )
  }
  if (typeof given.has === 'function' && typeof given.get === 'function') {
    return { key: given, find: (name) => (given.has(name) ? given.get(name) : undefined) }
  }
  const read = new Map(Object.entries(given))
  return { key: given, find: (name) => read.get(name) }
}

/**
 * The weights for a model, by the names that it has for its own.
 *
 * @param {string | Uint8Array} model  a path, or bytes
 * @param {Weights} weights
 * @returns {Map<string, Tensors>} views in native memory, which the caller disposes
 * @throws ERR_NOT_FOUND · ERR_DTYPE · ERR_SHAPE · ERR_ARGUMENT · ERR_FORMAT
 */
function weightsFor(model, weights) {
  const { initializers } = graphOf(model)
  /** @type {Map<string, Tensors>} */
  const found = new Map()
  try {
    for (const [name, about] of initializers) {
      const given = weights.find(name)
      if (given !== undefined) found.set(name, weightAt(name, given, about))
      else if (about.isExternal) {
        throw failure(
          'ERR_NOT_FOUND',
          `weights has no '${name}', and the model keeps its bytes in another file`,
        )
      }
    }
    if (found.size === 0) {
      const names = [...initializers.keys()].slice(0, 3).map((name) => `'${name}'`)
      throw failure(
        'ERR_NOT_FOUND',
        `weights has none of the model's: ${names.join(', ') || 'it has none'}`,
      )
    }
    return found
  } catch (error) {
    for (const t of found.values()) t.dispose()
    throw error
  }
}

/**
 * @param {string} name
 * @param {unknown} given
 * @param {import('./graph').Initializer} about
 * @returns {Tensors}
 */
function weightAt(name, given, { type, shape }) {
  const title = `weight '${name}'`
  if (!Tensor.isTensor(given)) {
    throw failure('ERR_ARGUMENT', `${title} is ${show(given)}; a tensor was expected`)
  }
  const layout = Tensor.attachedOf(given)
  const dtype = dtypes[layout.dtype].name
  const expected = TYPE_NAMES[type]
  if (dtype !== expected) {
    throw failure(
      'ERR_DTYPE',
      `${title} is of ${expected ?? 'no dtype'} in the model; one of ${dtype} was given`,
    )
  }
  if (layout.shape.length !== shape.length || layout.shape.some((n, d) => n !== shape[d])) {
    throw failure(
      'ERR_SHAPE',
      `${title} has shape [${shape.join(', ')}] in the model; one of shape [${layout.shape.join(', ')}] was given`,
    )
  }
  const { storage } = layout
  if (layout.size === 0 || (storage.kind === 'native' && ffi.isContiguous(layout))) {
    return keep(given.view())
  }
  const twin = ffi.dense(layout.dtype, shape)
  twin.storage = backend.allocateNative(twin.nbytes, ffi.check)
  ffi.copy(twin, layout, 0)
  countCopy('load', twin.nbytes)
  return keep(wrap(twin))
}

/** What sessions over the same weights share, by what the caller gave. @type {WeakMap<object, unknown>} */
const shared = new WeakMap()

/** @param {Weights} weights @returns {unknown} C's */
function prepackedFor({ key }) {
  let made = shared.get(key)
  if (made === undefined) {
    made = /** @type {any} */ (backend).addon.modelPrepacked()
    ffi.check()
    shared.set(key, made)
  }
  return made
}

module.exports = { weightsOf, weightsFor, prepackedFor }
