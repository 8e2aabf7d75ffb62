'use strict'
// JavaScript values on their way into a tensor: nested lists, numbers, bigints, booleans, [re, im].
// Only kinds and counts are judged here; whether a value fits a dtype is C's to say.

const { Array, BigInt, BigInt64Array, BigUint64Array, Float64Array, Math, Number, Uint8Array, arrayJoin, arraySlice, bufferOf, rootless } = require('../base/primordials')
const { failure } = require('../base/errors')
const { show, integer } = require('../base/validate')
const { dtypeOfArray, partsOfLive } = require('../base/buffers')
const { checkHeap, ENTRY } = require('../runtime/heap')

const MAX_DEPTH = 64
const MOST_VALUES = 2 ** 26 // that lists may have
const STRETCH = 2 ** 9 // values of an iterable between two looks at the heap
const MARGIN = 2 ** 23 // bytes that those of a stretch may have

/** The prototype of tensors has it, in every copy of the package; its value is the copy's own. */
const BRAND = Symbol.for('samebytes.tensor')
const COPY = {}

/**
 * @param {unknown} value
 * @returns {value is number | bigint | boolean}
 */
function isScalar (value) {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
}

/**
 * A pair of numbers, each read once; null for anything else.
 *
 * @param {unknown} value
 * @returns {[number, number] | null}
 */
function pairOf (value) {
  if (!Array.isArray(value) || value.length !== 2) return null
  const re = value[0]
  const im = value[1]
  return typeof re === 'number' && typeof im === 'number' ? [re, im] : null
}

/**
 * A list of something that can be iterated over; strings cannot here.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} value
 * @returns {ArrayLike<unknown> | null}
 */
function listOf (name, value) {
  if (Array.isArray(value)) return value
  if (value === null || typeof value !== 'object') return null
  if (dtypeOfArray(value) !== undefined) return /** @type {any} */ (value)
  const copy = (/** @type {any} */ (value))[BRAND]
  if (copy !== undefined && copy !== COPY) throw failure('ERR_ARGUMENT', `${name} is a tensor of another copy of samebytes; its data or toArray() can be given`)
  if (typeof (/** @type {any} */ (value))[Symbol.iterator] === 'function') return collected(name, /** @type {Iterable<unknown>} */ (value))
  return null
}

/**
 * What an iterable gives, which may have no end.
 *
 * @template [T=unknown]
 * @param {string} name  of the argument, for messages
 * @param {Iterable<unknown>} iterable
 * @param {(value: any, i: number) => T} [read]  what becomes of each; it may refuse one
 * @returns {T[]}
 * @throws {RangeError} ERR_MEMORY
 */
function collected (name, iterable, read = value => value) {
  /** @type {T[]} */
  const out = []
  // eslint-disable-next-line no-restricted-syntax -- the caller's iterator is the caller's code
  for (const value of iterable) {
    const n = out.length
    if (n === MOST_VALUES) throw failure('ERR_MEMORY', `${name} is an iterable that gave ${MOST_VALUES} values and does not end; no more are possible`)
    if (n % STRETCH === 0 && n > 0) checkHeap(2 * ENTRY * n + MARGIN, () => `${name} is an iterable that gave ${n} values and did not end`)
    out[n] = read(value, n)
  }
  return out
}

/** Values that lists have. Typed arrays hold them from the start, because the runtime's heap has no room for many. */
class Values {
  /** @param {boolean} complex  pairs are values */
  constructor (complex) {
    this.complex = complex
    this.count = 0
    /** float64; 64-bit integers from the first bigint on @type {any} */
    this.array = new Float64Array(0)
    this.areBooleans = true
    this.areIntegers = false
    this.isAnyNegative = false
    this.isAnyLarge = false
    /** the first number that 64-bit integers are not sure of @type {number | undefined} */
    this.fraction = undefined
    /** the first that no dtype has @type {bigint | undefined} */
    this.outside = undefined
  }

  /**
   * @param {number} n  values that will come
   * @param {string} name  of the argument, for messages
   */
  prepare (n, name) {
    try {
      this.array = new Float64Array(this.complex ? 2 * n : n)
    } catch {
      throw failure('ERR_MEMORY', `${name} has ${n} values, for which there is no memory`)
    }
  }

  /** @param {number | bigint | boolean} value */
  addNumber (value) {
    if (typeof value === 'number') {
      this.areBooleans = false
      if (value < 0) this.isAnyNegative = true
      if (this.fraction === undefined && !Number.isSafeInteger(value)) this.fraction = value
    } else if (typeof value === 'bigint') {
      this.areBooleans = false
      if (!this.areIntegers && !this.complex) this.#becomeIntegers()
      if (value < 0n) this.isAnyNegative = true
      else if (value > 0x7fffffffffffffffn) this.isAnyLarge = true
      if (this.outside === undefined && (value > 0xffffffffffffffffn || value < -0x8000000000000000n)) this.outside = value
    }
    const i = this.count++
    if (this.complex) this.array[2 * i] = Number(value)
    else this.array[i] = this.areIntegers ? integerOf(value) : Number(value)
  }

  /** @param {[number, number]} pair */
  addPair (pair) {
    this.areBooleans = false
    const i = this.count++
    this.array[2 * i] = pair[0]
    this.array[2 * i + 1] = pair[1]
  }

  #becomeIntegers () {
    const numbers = this.array
    const integers = new BigInt64Array(bufferOf(numbers))
    for (let i = 0; i < this.count; i++) integers[i] = integerOf(numbers[i])
    this.array = integers
    this.areIntegers = true
  }

  /** The name of the dtype that they have by themselves. */
  get dtype () {
    if (this.count > 0 && this.areBooleans) return 'bool'
    return this.areIntegers ? 'int64' : 'float32'
  }

  /**
   * A typed array that holds them exactly, and the name of its dtype, for C to cast.
   *
   * @param {{ name: string, kind: string, itemsize: number }} dtype  that they go to
   * @returns {{ array: any, dtype: string }}
   * @throws {TypeError} ERR_CAST
   */
  packed (dtype) {
    const { array, fraction, outside } = this
    if (fraction !== undefined) scalarFor(fraction, dtype)
    if (outside !== undefined) scalarFor(outside, dtype)
    if (this.complex) return { array, dtype: 'complex128' }
    if (this.areIntegers) {
      if (fraction !== undefined) throw failure('ERR_CAST', `the value ${fraction} stands among bigints`)
      if (this.isAnyLarge && this.isAnyNegative) throw failure('ERR_CAST', `no integer dtype holds both the largest and the smallest of the values; ${dtype.name} was asked for`)
      return this.isAnyLarge ? { array: new BigUint64Array(bufferOf(array)), dtype: 'uint64' } : { array, dtype: 'int64' }
    }
    return this.count > 0 && this.areBooleans ? { array: Uint8Array.from(array), dtype: 'bool' } : { array, dtype: 'float64' }
  }
}
rootless(Values)

/**
 * @param {number | bigint | boolean} value
 * @returns {bigint} 0 for what is refused in the end
 */
function integerOf (value) {
  return typeof value === 'number' && !Number.isInteger(value) ? 0n : BigInt(value)
}

/**
 * Flattens nested lists in logical order.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} data
 * @param {boolean} complex  innermost pairs of numbers are values
 * @returns {{ values: Values, shape: number[] }}
 */
function flatten (name, data, complex) {
  const values = new Values(complex)
  /** @type {number[]} */
  const shape = []
  let leaf = -1 // depth of the values; -1: none seen yet
  let entries = 1 // of all lists together, as far as the shape is known

  /** The shape is known before all entries were looked at, of which there may be no end. */
  function checkCount () {
    if (entries > MOST_VALUES) throw failure('ERR_MEMORY', `${name} has lists of shape [${arrayJoin(shape)}]; more than ${MOST_VALUES} values are for a typed array`)
  }

  /**
   * @param {unknown} value
   * @param {number} depth
   */
  function walk (value, depth) {
    const pair = complex ? pairOf(value) : null
    if (pair !== null || isScalar(value)) {
      if (leaf < 0) {
        leaf = depth
        checkCount()
        values.prepare(entries, name)
      }
      if (leaf !== depth || depth !== shape.length) {
        throw failure('ERR_SHAPE', `${name} is ragged: ${show(value)} stands at depth ${depth}, other values deeper or higher`)
      }
      if (pair !== null) values.addPair(pair)
      else values.addNumber(/** @type {number} */ (value))
      return
    }
    const list = listOf(name, value)
    if (list === null) throw failure('ERR_ARGUMENT', `${name} ${depth === 0 ? 'is' : 'has'} ${show(value)}; a number, bigint, boolean or list of them was expected`)
    if (depth >= MAX_DEPTH) throw failure('ERR_SHAPE', `${name} is nested more than ${MAX_DEPTH} deep`)
    const n = Array.isArray(list) ? list.length : partsOfLive(list, depth === 0 ? name : `a list in ${name}`).length
    if (!Number.isSafeInteger(n) || n < 0) throw failure('ERR_ARGUMENT', `${name} has a list of length ${show(n)}; an integer was expected`)
    if (depth === shape.length && leaf < 0) {
      shape[depth] = n
      entries *= Math.max(1, n)
      if (n === 0) checkCount()
    }
    if (shape[depth] !== n) throw failure('ERR_SHAPE', `${name} is ragged: ${n} entries at depth ${depth} where others have ${shape[depth] ?? 'none'}`)
    for (let i = 0; i < n; i++) walk(list[i], depth + 1)
  }
  walk(data, 0)
  const extents = arraySlice(shape) // shape's entries may be what a setter of Array.prototype took
  for (let d = 0; d < extents.length; d++) integer('shape', extents[d], 'ERR_SHAPE')
  return { values, shape: extents }
}

/**
 * One value for a dtype of a kind, as fill and set take it.
 *
 * @param {unknown} value
 * @param {{ name: string, kind: string, itemsize: number }} dtype
 * @returns {boolean | number | bigint | [number, number]}
 */
function scalarFor (value, dtype) {
  if (typeof value === 'number') {
    if (dtype.itemsize === 8 && (dtype.kind === 'SIGNED' || dtype.kind === 'UNSIGNED') && !Number.isSafeInteger(value)) {
      throw failure('ERR_CAST', `the value ${value} does not fit ${dtype.name}: numbers do as safe integers, others as bigint`)
    }
    return value
  }
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint') {
    if (value > 0xffffffffffffffffn || value < -0x8000000000000000n) {
      throw failure('ERR_CAST', `the value ${value}n does not fit ${dtype.name}`)
    }
    return value
  }
  const pair = pairOf(value)
  if (pair !== null) {
    if (dtype.kind !== 'COMPLEX') throw failure('ERR_CAST', `the value [${pair[0]}, ${pair[1]}] does not fit ${dtype.name}`)
    return pair
  }
  throw failure('ERR_ARGUMENT', `the value is ${show(value)}; a number, bigint${dtype.kind === 'COMPLEX' ? ', boolean or [re, im]' : ' or boolean'} was expected`)
}

module.exports = { BRAND, COPY, MOST_VALUES, flatten, scalarFor, listOf, collected }
