/// <reference lib="esnext.disposable" preserve="true" />
'use strict'
// tidy, scope and keep: which tensors are disposed together. Takes any object with dispose() for a tensor.

const { failure } = require('../base/errors')
const { MOST_PARTS: MOST_TRACKED, show, receiver } = require('../base/validate')

/** the innermost tidy that runs, with the tensors made in it @type {{ made: any[] } | null} */
let current = null

/**
 * Called by Tensor's constructor: records a new tensor in the running tidy.
 *
 * @param {any} tensor
 */
function made(tensor) {
  if (current !== null) current.made.push(tensor)
}

/** on: a tidy runs, so constructors call `made` */
const tracking = { on: false }

/** tensors given to keep() @type {WeakSet<object>} */
const kept = new WeakSet()

/**
 * What a Map (keys as well) or a Set of any realm has.
 *
 * @param {any} value
 * @returns {Iterable<[unknown, unknown]>} nothing where it is neither
 */
function entriesOf(value) {
  for (const { prototype } of [Map, Set]) {
    try {
      return prototype.entries.call(value)
    } catch {}
  }
  return []
}

/** What AggregateError, SuppressedError and `new Error('', { cause })` have as properties of their own that are not enumerable. */
const OF_ERRORS = ['cause', 'errors', 'error', 'suppressed']
const MOST_NAMED = 256 // elements of an array whose own names are read: each index becomes a text for that

/**
 * Finds tensors in a result: itself, and those in arrays, Maps, Sets and own enumerable properties of any object, however deep, and what errors
 * carry. Getters are not run.
 *
 * @param {unknown} result
 * @param {(value: unknown) => boolean} isTensor
 * @param {Set<unknown>} lost  loses those that are found
 */
function findTensors(result, isTensor, lost) {
  /** objects found so far; grows during the loop @type {Set<any>} */
  const seen = new Set()
  const add = (/** @type {unknown} */ value) => {
    if (value !== null && (typeof value === 'object' || typeof value === 'function')) {
      seen.add(value)
    }
  }
  add(result)
  for (const value of seen) {
    if (lost.size === 0) return
    if (isTensor(value)) {
      lost.delete(value)
      continue
    }
    if (ArrayBuffer.isView(value)) continue
    const isPlain = Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype
    if (isPlain) {
      for (const item of value) add(item)
      if (value.length > MOST_NAMED) continue
    } else {
      for (const [key, item] of entriesOf(value)) {
        add(key)
        add(item)
      }
    }
    const keys = Reflect.ownKeys(value)
    for (const key of isPlain ? keys.slice(keys.indexOf('length')) : keys) {
      // behind indices
      const property = Reflect.getOwnPropertyDescriptor(value, key)
      if (
        property !== undefined &&
        (property.enumerable || OF_ERRORS.includes(/** @type {string} */ (key)))
      ) {
        add(property.value)
      }
    }
  }
}

/**
 * Disposes all tensors, also after one of them throws.
 *
 * @param {Iterable<any>} tensors
 * @param {unknown[]} errors  gets what they throw
 */
function disposeAll(tensors, errors) {
  for (const tensor of tensors) {
    try {
      tensor.dispose()
    } catch (error) {
      errors.push(error)
    }
  }
}

/**
 * Disposes tensors that are neither in the result nor kept.
 *
 * @param {any[]} tensors
 * @param {unknown} result
 * @param {(value: unknown) => boolean} isTensor
 * @returns {any[]} the others
 */
function disposeExcept(tensors, result, isTensor) {
  const lost = new Set(tensors)
  /** @type {unknown[]} */
  const errors = []
  try {
    findTensors(result, isTensor, lost)
  } catch (error) {
    // a Proxy in the result threw: all are disposed
    for (const tensor of tensors) lost.add(tensor)
    errors.push(error)
  }
  for (const tensor of tensors) if (kept.has(tensor)) lost.delete(tensor)
  const survivors = tensors.filter((tensor) => !lost.has(tensor))
  disposeAll(lost, errors)
  if (errors.length > 0) throw errors[0]
  return survivors
}

let isWatched = false

/**
 * Forgets a tidy whose function was stopped (vm's timeout, Ctrl+C in a REPL) and will not return: when microtasks run, no tidy does.
 */
async function forgetStopped() {
  await undefined
  current = null
  tracking.on = isWatched = false
}

/**
 * Runs fn and disposes every tensor made inside but those it returns or keeps.
 *
 * @template R
 * @param {() => R} fn
 * @param {(value: unknown) => boolean} isTensor
 * @returns {R}
 */
function tidy(fn, isTensor) {
  if (typeof fn !== 'function') throw failure('ERR_ARGUMENT', 'tidy takes a function')
  const outer = current
  const mine = { made: /** @type {any[]} */ ([]) }
  if (!isWatched) {
    forgetStopped()
    isWatched = true
  }
  current = mine
  tracking.on = true
  let result
  try {
    result = fn()
    if (
      result !== null &&
      typeof result === 'object' &&
      typeof (/** @type {any} */ (result).then) === 'function'
    ) {
      throw failure(
        'ERR_ARGUMENT',
        'tidy is synchronous, but its function returned a promise; use scope(async s => ...)',
      )
    }
  } catch (error) {
    current = outer
    tracking.on = outer !== null
    disposeAll(
      mine.made.filter((tensor) => !kept.has(tensor)),
      [],
    )
    throw error
  }
  current = outer
  tracking.on = outer !== null
  const survivors = disposeExcept(mine.made, result, isTensor)
  if (outer !== null) for (const tensor of survivors) if (!kept.has(tensor)) outer.made.push(tensor)
  return result
}

/** @type {typeof Symbol.dispose} */
const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose')

/** what a scope's method was called on @type {(it: any) => Scope} */
let own

/**
 * Disposes the tensors that it tracks; for asynchronous code, with `using` or `scope`.
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

  static {
    own = receiver('scope', (it) => #tracked in it)
  }

  /**
   * Disposes the tensor (or each of a list) when the scope ends.
   *
   * @template {{ dispose: () => void } | readonly { dispose: () => void }[]} T
   * @param {T} value  a tensor or an array of them
   * @returns {T} the same
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DISPOSED the scope has ended
   * @example
   * new Scope().track([zeros([2]), ones([2])]).length // 2
   */
  track(value) {
    const scope = own(this)
    if (scope.#ended) throw failure('ERR_DISPOSED', 'the scope has ended')
    const given = Array.isArray(value) ? value : [value]
    const { length } = given
    const list = []
    for (let i = 0; i < length; i++) {
      if (i === MOST_TRACKED) {
        throw failure(
          'ERR_MEMORY',
          `track was given ${show(length)} tensors; ${MOST_TRACKED} are possible`,
        )
      }
      const tensor = given[i]
      if (tensor === null || typeof tensor !== 'object' || typeof tensor.dispose !== 'function') {
        throw failure('ERR_ARGUMENT', 'track takes tensors')
      }
      list.push(tensor)
    }
    for (const tensor of list) scope.#tracked.push(tensor)
    return value
  }

  /**
   * Stops tracking a tensor, so that it survives the scope.
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
  keep(tensor) {
    own(this).#tracked = this.#tracked.filter((other) => other !== tensor)
    return tensor
  }

  /**
   * Disposes all tracked tensors; a second call does nothing.
   *
   * @throws what the dispose of a tracked object of another kind throws, after all were disposed; tensors' never does
   * @example
   * const s = new Scope()
   * s.dispose()
   */
  dispose() {
    own(this).end(undefined, () => false)
  }

  /** What `using` calls: dispose(). */
  [DISPOSE]() {
    own(this).dispose()
  }

  /**
   * @param {unknown} result  tensors in it survive
   * @param {(value: unknown) => boolean} isTensor
   * @ignore
   */
  end(result, isTensor) {
    own(this).#ended = true
    disposeExcept(this.#tracked.splice(0), result, isTensor)
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
async function scope(fn, isTensor) {
  if (typeof fn !== 'function') throw failure('ERR_ARGUMENT', 'scope takes a function')
  const s = new Scope()
  let result
  try {
    result = await fn(s)
  } catch (error) {
    try {
      s.dispose()
    } catch {} // fn's own error is thrown
    throw error
  }
  s.end(result, isTensor)
  return result
}

/**
 * Exempts a tensor from all scopes for as long as it lives; the caller disposes it.
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
function keep(tensor) {
  if (tensor === null || typeof tensor !== 'object') {
    throw failure('ERR_ARGUMENT', 'keep takes a tensor')
  }
  kept.add(tensor)
  return tensor
}

module.exports = { DISPOSE, made, tracking, tidy, scope, Scope, keep }
