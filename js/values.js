'use strict'
// JavaScript values on their way into a tensor: nested lists, numbers, bigints, booleans, [re, im].
// Only kinds and counts are judged here; whether a value fits a dtype is C's to say.

const { failure } = require('./errors')
const { show } = require('./validate')
const { dtypeOfArray, partsOfLive } = require('./buffers')

const MAX_DEPTH = 64
const MOST_VALUES = 2 ** 26 // that lists may have; with twice as many, V8 ends the process

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
 * @param {string} name  of the argument, for messages
 * @param {Iterable<unknown>} iterable
 * @returns {unknown[]}
 */
function collected (name, iterable) {
  const out = []
  for (const value of iterable) {
    if (out.length === MOST_VALUES) throw failure('ERR_MEMORY', `${name} is an iterable that gave ${MOST_VALUES} values and does not end; no more are possible`)
    out.push(value)
  }
  return out
}

/**
 * Flattens nested lists in logical order.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} data
 * @param {boolean} complex  innermost pairs of numbers are values
 * @returns {{ flat: (number | bigint | boolean | [number, number])[], shape: number[] }}
 */
function flatten (name, data, complex) {
  /** @type {(number | bigint | boolean | [number, number])[]} */
  const flat = []
  /** @type {number[]} */
  const shape = []
  let leaf = -1 // depth of the values; -1: none seen yet
  let entries = 1 // of all lists together, as far as the shape is known

  /** The shape is known before all entries were looked at, of which there may be no end. */
  function checkCount () {
    if (entries > MOST_VALUES) throw failure('ERR_MEMORY', `${name} has lists of shape [${shape.join(', ')}]; more than ${MOST_VALUES} values are for a typed array`)
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
      }
      if (leaf !== depth || depth !== shape.length) {
        throw failure('ERR_SHAPE', `${name} is ragged: ${show(value)} stands at depth ${depth}, other values deeper or higher`)
      }
      flat.push(pair ?? /** @type {number} */ (value))
      return
    }
    const list = listOf(name, value)
    if (list === null) throw failure('ERR_ARGUMENT', `${name} ${depth === 0 ? 'is' : 'has'} ${show(value)}; a number, bigint, boolean or list of them was expected`)
    if (depth >= MAX_DEPTH) throw failure('ERR_SHAPE', `${name} is nested more than ${MAX_DEPTH} deep`)
    const n = Array.isArray(list) ? list.length : partsOfLive(list, depth === 0 ? name : `a list in ${name}`).length
    if (!Number.isSafeInteger(n) || n < 0) throw failure('ERR_ARGUMENT', `${name} has a list of length ${show(n)}; an integer was expected`)
    if (depth === shape.length && leaf < 0) {
      shape.push(n)
      entries *= Math.max(1, n)
      if (n === 0) checkCount()
    }
    if (shape[depth] !== n) throw failure('ERR_SHAPE', `${name} is ragged: ${n} entries at depth ${depth} where others have ${shape[depth] ?? 'none'}`)
    for (let i = 0; i < n; i++) walk(list[i], depth + 1)
  }
  walk(data, 0)
  return { flat, shape }
}

/**
 * The dtype that values have by themselves.
 *
 * @param {(number | bigint | boolean | [number, number])[]} flat
 * @returns {string}
 */
function deduce (flat) {
  if (flat.length === 0) return 'float32'
  if (flat.every(v => typeof v === 'boolean')) return 'bool'
  if (flat.some(v => typeof v === 'bigint')) return 'int64'
  return 'float32'
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

/**
 * Flat values as a typed array that holds them exactly, and the name of its dtype, for C to cast.
 *
 * @param {(number | bigint | boolean | [number, number])[]} flat
 * @param {{ name: string, kind: string, itemsize: number }} dtype  that they go to
 * @returns {{ array: any, dtype: string }}
 */
function pack (flat, dtype) {
  const n = flat.length
  const values = flat.map(v => scalarFor(v, dtype))
  if (dtype.kind === 'COMPLEX') {
    const array = new Float64Array(2 * n)
    for (let i = 0; i < n; i++) {
      const v = values[i]
      array[2 * i] = Array.isArray(v) ? v[0] : Number(v)
      array[2 * i + 1] = Array.isArray(v) ? v[1] : 0
    }
    return { array, dtype: 'complex128' }
  }
  if (values.some(v => typeof v === 'bigint')) {
    const large = values.some(v => typeof v === 'bigint' && v > 0x7fffffffffffffffn)
    const fraction = values.find(v => typeof v === 'number' && !Number.isSafeInteger(v))
    if (fraction !== undefined) throw failure('ERR_CAST', `the value ${fraction} stands among bigints`)
    if (large && values.some(v => Number(v) < 0)) throw failure('ERR_CAST', `no integer dtype holds both the largest and the smallest of the values; ${dtype.name} was asked for`)
    const array = large ? new BigUint64Array(n) : new BigInt64Array(n)
    for (let i = 0; i < n; i++) array[i] = BigInt(/** @type {bigint} */ (values[i]))
    return { array, dtype: large ? 'uint64' : 'int64' }
  }
  if (n > 0 && values.every(v => typeof v === 'boolean')) {
    return { array: Uint8Array.from(values, Number), dtype: 'bool' }
  }
  const array = new Float64Array(n)
  for (let i = 0; i < n; i++) array[i] = Number(values[i])
  return { array, dtype: 'float64' }
}

module.exports = { BRAND, COPY, MOST_VALUES, flatten, deduce, scalarFor, pack, listOf }
