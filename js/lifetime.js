/// <reference lib="esnext.disposable" preserve="true" />
'use strict'
// Scopes: which tensors are disposed together. Knows nothing of bytes.

const { failure } = require('./errors')

/** the innermost tidy that runs: what is made is noted there @type {{ made: any[] } | null} */
let current = null

/**
 * Notes a new tensor; called by its constructor.
 *
 * @param {any} tensor
 */
function made (tensor) {
  if (current !== null) current.made.push(tensor)
}

/** Is there a scope that wants to know? */
const tracking = { on: false }

/** tensors that keep() excepted @type {WeakSet<object>} */
const kept = new WeakSet()

/**
 * All tensors in a result: itself, and those in arrays, plain objects, Maps and Sets.
 *
 * @param {unknown} value
 * @param {(value: unknown) => boolean} isTensor
 * @param {Set<unknown>} found
 * @param {Set<unknown>} seen
 */
function collect (value, isTensor, found, seen) {
  if (value === null || typeof value !== 'object' || seen.has(value)) return
  seen.add(value)
  if (isTensor(value)) {
    found.add(value)
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const item of value) collect(item, isTensor, found, seen)
  } else if (value instanceof Map) {
    for (const item of value.values()) collect(item, isTensor, found, seen)
  } else if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) {
    for (const key of Object.keys(value)) collect(/** @type {any} */ (value)[key], isTensor, found, seen)
  }
}

/**
 * @param {any[]} tensors
 * @param {unknown} result
 * @param {(value: unknown) => boolean} isTensor
 * @returns {any[]} those that survive
 */
function disposeBut (tensors, result, isTensor) {
  /** @type {Set<unknown>} */
  const found = new Set()
  const survivors = []
  /** @type {unknown[]} */
  const errors = []
  try {
    collect(result, isTensor, found, new Set())
  } catch (error) { // a getter in the result: nothing of it survives
    found.clear()
    errors.push(error)
  }
  for (const tensor of tensors) {
    try {
      if (found.has(tensor) || kept.has(tensor)) survivors.push(tensor)
      else tensor.dispose()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return survivors
}

/**
 * Runs fn and disposes every tensor made inside but those it returns or keeps.
 *
 * @template R
 * @param {() => R} fn
 * @param {(value: unknown) => boolean} isTensor
 * @returns {R}
 */
function tidy (fn, isTensor) {
  if (typeof fn !== 'function') throw failure('ERR_ARGUMENT', 'tidy takes a function')
  const outer = current
  const mine = { made: /** @type {any[]} */ ([]) }
  current = mine
  tracking.on = true
  let result
  try {
    result = fn()
    if (result !== null && typeof result === 'object' && typeof /** @type {any} */ (result).then === 'function') {
      throw failure('ERR_ARGUMENT', 'tidy is synchronous, but its function returned a promise; use scope(async s => ...)')
    }
  } catch (error) {
    current = outer
    tracking.on = outer !== null
    for (const tensor of mine.made) if (!kept.has(tensor)) tensor.dispose()
    throw error
  }
  current = outer
  tracking.on = outer !== null
  const survivors = disposeBut(mine.made, result, isTensor)
  if (outer !== null) for (const tensor of survivors) if (!kept.has(tensor)) outer.made.push(tensor)
  return result
}

/** @type {typeof Symbol.dispose} */
const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose')

/**
 * Disposes what it was given to track; for asynchronous code, with `using` or `scope`.
 *
 * @example
 * const s = new Scope()
 * const t = s.track(zeros([2]))
 * s.dispose()
 * t.isDisposed // true
 */
class Scope {
  /** @type {any[]} */
  #tracked = []
  #ended = false

  /**
   * Disposes the tensor (or each of a list) when the scope ends.
   *
   * @template {{ dispose: () => void } | readonly { dispose: () => void }[]} T
   * @param {T} value  a tensor or an array of them
   * @returns {T} the same
   * @throws {TypeError} ERR_ARGUMENT · ERR_DISPOSED the scope has ended
   * @example
   * new Scope().track([zeros([2]), ones([2])]).length // 2
   */
  track (value) {
    if (this.#ended) throw failure('ERR_DISPOSED', 'the scope has ended')
    const list = Array.isArray(value) ? value : [value]
    for (const tensor of list) {
      if (tensor === null || typeof tensor !== 'object' || typeof tensor.dispose !== 'function') {
        throw failure('ERR_ARGUMENT', 'track takes tensors')
      }
    }
    for (const tensor of list) this.#tracked.push(tensor)
    return value
  }

  /**
   * Takes a tensor out again: it survives.
   *
   * @template T
   * @param {T} tensor
   * @returns {T} the same
   * @throws nothing
   * @example
   * const s = new Scope()
   * const t = s.keep(s.track(zeros([2])))
   * s.dispose()
   * t.isDisposed // false
   */
  keep (tensor) {
    this.#tracked = this.#tracked.filter(other => other !== tensor)
    return tensor
  }

  /**
   * Disposes all that is tracked; a second call does nothing.
   *
   * @throws nothing
   * @example
   * const s = new Scope()
   * s.dispose()
   */
  dispose () {
    this.end(undefined, () => false)
  }

  /** What `using` calls: dispose(). */
  [DISPOSE] () {
    this.dispose()
  }

  /**
   * @param {unknown} result  what survives
   * @param {(value: unknown) => boolean} isTensor
   * @ignore
   */
  end (result, isTensor) {
    this.#ended = true
    disposeBut(this.#tracked.splice(0), result, isTensor)
  }
}

/**
 * Runs fn with a scope that ends when the promise settles; what it returns survives.
 *
 * @template R
 * @param {(scope: Scope) => Promise<R> | R} fn
 * @param {(value: unknown) => boolean} isTensor
 * @returns {Promise<R>}
 */
async function scope (fn, isTensor) {
  if (typeof fn !== 'function') throw failure('ERR_ARGUMENT', 'scope takes a function')
  const s = new Scope()
  let result
  try {
    result = await fn(s)
  } catch (error) {
    s.dispose()
    throw error
  }
  s.end(result, isTensor)
  return result
}

/**
 * Excepts a tensor from the scopes around it, for as long as it lives: who keeps it disposes it.
 *
 * @template {object} T
 * @param {T} tensor
 * @returns {T} the same
 * @throws {TypeError} ERR_ARGUMENT
 * @see TensorFlow.js keep
 * @example
 * let t
 * tidy(() => { t = keep(zeros([2])) })
 * t.isDisposed // false
 */
function keep (tensor) {
  if (tensor === null || typeof tensor !== 'object') throw failure('ERR_ARGUMENT', 'keep takes a tensor')
  kept.add(tensor)
  return tensor
}

module.exports = { made, tracking, tidy, scope, Scope, keep }
