'use strict'
// Converts numbers, bigints, booleans, [re, im] and nested lists of them into typed arrays for C.
// Checks kinds and counts only; C checks whether a value fits a dtype.

const { rootless } = require('../base/records')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { dtypeOfArray, partsOfLive, bufferOf } = require('../base/buffers')
const { tensors } = require('../base/tensors')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const ffi = require('../backend/calls')
const { checkHeap, ENTRY } = require('../runtime/heap')

const MAX_DEPTH = 64
const MOST_VALUES = 2 ** 26 // in lists
const VALUES_PER_CHECK = 2 ** 9 // of an iterable between two checks of the heap
const CHECK_MARGIN = 2 ** 23 // bytes of heap that those may take

/** A property of Tensor.prototype in every copy of the package; COPY is this copy's value. */
const BRAND = Symbol.for('samebytes.tensor')
const COPY = {}

/**
 * @param {unknown} value
 * @returns {value is number | bigint | boolean}
 */
const isScalar = (value) =>
  typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'

/**
 * A pair of numbers, each read once; null for anything else.
 *
 * @param {unknown} value
 * @returns {[number, number] | null}
 */
function pairOf(value) {
  if (!Array.isArray(value) || value.length !== 2) return null
  const re = value[0]
  const im = value[1]
  return typeof re === 'number' && typeof im === 'number' ? [re, im] : null
}

/**
 * A list of an array, typed array or iterable object; null for anything else, strings included.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} value
 * @returns {ArrayLike<unknown> | null}
 */
function listOf(name, value) {
  if (Array.isArray(value)) return value
  if (value === null || typeof value !== 'object') return null
  if (dtypeOfArray(value) !== undefined) return /** @type {any} */ (value)
  const copy = /** @type {any} */ (value)[BRAND]
  if (copy !== undefined && copy !== COPY) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is a tensor of another copy of samebytes; its data or toArray() can be given`,
    )
  }
  if (typeof (/** @type {any} */ (value)[Symbol.iterator]) === 'function') {
    return valuesOfIterable(name, /** @type {Iterable<unknown>} */ (value))
  }
  return null
}

/**
 * The values of an iterable, which may be endless.
 *
 * @template [T=unknown]
 * @param {string} name  of the argument, for messages
 * @param {Iterable<unknown>} iterable
 * @param {(value: any, i: number) => T} [read]  converts or refuses a value
 * @returns {T[]}
 * @throws {RangeError} ERR_MEMORY
 */
function valuesOfIterable(name, iterable, read = (value) => value) {
  /** @type {T[]} */
  const out = []

  for (const value of iterable) {
    const n = out.length
    if (n === MOST_VALUES) {
      throw failure(
        'ERR_MEMORY',
        `${name} is an iterable that gave ${MOST_VALUES} values and does not end; no more are possible`,
      )
    }
    if (n % VALUES_PER_CHECK === 0 && n > 0) {
      checkHeap(
        2 * ENTRY * n + CHECK_MARGIN,
        () => `${name} is an iterable that gave ${n} values and did not end`,
      )
    }
    out[n] = read(value, n)
  }
  return out
}

/** Values of nested lists, valuesOfIterable in a typed array, because V8's heap has no room for many. */
class Values {
  /** @param {boolean} complex  pairs of numbers are single values */
  constructor(complex) {
    this.complex = complex
    this.count = 0
    /** float64; 64-bit integers from the first bigint on @type {any} */
    this.array = new Float64Array(0)
    this.areBooleans = true
    this.areIntegers = false
    this.isAnyNegative = false
    this.isAnyLarge = false
    /** the first number that is no safe integer @type {number | undefined} */
    this.fraction = undefined
    /** the first bigint outside all dtypes @type {bigint | undefined} */
    this.outside = undefined
    /** the dtype in which tensors and typed arrays among the lists meet; -1: there are none */
    this.met = -1
  }

  /** @param {number} dtype  of a tensor or typed array */
  meet(dtype) {
    if (dtype !== this.met) this.met = this.met < 0 ? dtype : ffi.promoteTypes(this.met, dtype)
  }

  /**
   * @param {number} n  values to be added
   * @param {string} name  of the argument, for messages
   */
  prepare(n, name) {
    try {
      this.array = new Float64Array(this.complex ? 2 * n : n)
    } catch {
      throw failure('ERR_MEMORY', `${name} has ${n} values, for which there is no memory`)
    }
  }

  /** @param {number | bigint | boolean} value */
  addNumber(value) {
    if (typeof value === 'number') {
      this.areBooleans = false
      if (value < 0) this.isAnyNegative = true
      if (this.fraction === undefined && !Number.isSafeInteger(value)) this.fraction = value
    } else if (typeof value === 'bigint') {
      this.areBooleans = false
      if (!this.areIntegers && !this.complex) this.#becomeIntegers()
      if (value < 0n) this.isAnyNegative = true
      else if (value > 0x7fffffffffffffffn) this.isAnyLarge = true
      if (
        this.outside === undefined &&
        (value > 0xffffffffffffffffn || value < -0x8000000000000000n)
      ) {
        this.outside = value
      }
    }
    const i = this.count++
    if (this.complex) this.array[2 * i] = Number(value)
    else this.array[i] = this.areIntegers ? integerOf(value) : Number(value)
  }

  /** @param {[number, number]} pair */
  addPair(pair) {
    this.areBooleans = false
    const i = this.count++
    this.array[2 * i] = pair[0]
    this.array[2 * i + 1] = pair[1]
  }

  #becomeIntegers() {
    const numbers = this.array
    const integers = new BigInt64Array(bufferOf(numbers))
    for (let i = 0; i < this.count; i++) integers[i] = integerOf(numbers[i])
    this.array = integers
    this.areIntegers = true
  }

  /**
   * The name of the dtype for these values where none is asked for. Beside tensors and typed arrays, numbers take their dtype; where integers of
   * theirs do not hold all values, bigints make them int64, numbers float32, or float64 where float32 would round the integers.
   */
  get dtype() {
    const own = this.count > 0 && this.areBooleans ? 'bool' : this.areIntegers ? 'int64' : 'float32'
    if (this.met < 0) return own
    const { name, kind, itemsize } = dtypes[this.met]
    if (kind === 'BOOLEAN') return own
    if (kind === 'FLOATING' || kind === 'COMPLEX' || this.#fit(dtypes[this.met])) return name
    return own === 'float32' && itemsize > 2 ? 'float64' : own
  }

  /**
   * @param {{ kind: string, itemsize: number }} dtype  of integers
   * @returns {boolean} whether it holds all values
   */
  #fit({ kind, itemsize }) {
    const { isAnyLarge, fraction, count } = this
    if (fraction !== undefined) return false
    const isSigned = kind === 'SIGNED'
    const end = 2 ** (8 * itemsize - (isSigned ? 1 : 0))
    const least = isSigned ? -end : 0
    const array = isAnyLarge ? new BigUint64Array(bufferOf(this.array)) : this.array
    for (let i = 0; i < count; i++) if (array[i] < least || array[i] >= end) return false
    return true
  }

  /**
   * A typed array that holds the values exactly, and the name of its dtype; C casts from it.
   *
   * @param {{ name: string, kind: string, itemsize: number }} dtype  of the target
   * @returns {{ array: any, dtype: string }}
   * @throws {TypeError} ERR_CAST
   */
  packed(dtype) {
    const { array, fraction, outside } = this
    if (fraction !== undefined) scalarFor(fraction, dtype)
    if (outside !== undefined) scalarFor(outside, dtype)
    if (this.complex) return { array, dtype: 'complex128' }
    if (this.areIntegers) {
      if (fraction !== undefined) {
        throw failure('ERR_CAST', `the value ${fraction} stands among bigints`)
      }
      if (this.isAnyLarge && this.isAnyNegative) {
        throw failure(
          'ERR_CAST',
          'no integer dtype holds both the largest and the smallest of the values',
        )
      }
      return this.isAnyLarge
        ? { array: new BigUint64Array(bufferOf(array)), dtype: 'uint64' }
        : { array, dtype: 'int64' }
    }
    return this.count > 0 && this.areBooleans
      ? { array: Uint8Array.from(array), dtype: 'bool' }
      : { array, dtype: 'float64' }
  }
}
rootless(Values)

/**
 * @param {number | bigint | boolean} value
 * @returns {bigint} 0 for fractions, which `packed` refuses
 */
const integerOf = (value) =>
  typeof value === 'number' && !Number.isInteger(value) ? 0n : BigInt(value)

/**
 * Flattens nested lists in logical order.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} data
 * @param {boolean} complex  innermost pairs of numbers are values
 * @param {((dtype: number) => boolean) | null} [keeps]  may tensors and typed arrays of a dtype stay what they are, in lists that have nothing else?
 *   null: none may
 * @returns {{ values: Values, shape: number[], kept: any[] | null }} kept: the tensors and typed arrays, where all stay what they are; shape is
 *   that of the lists around them then, and there are no values
 */
function flatten(name, data, complex, keeps = null) {
  const values = new Values(complex)
  /** the tensors and typed arrays so far, while there was nothing else @type {any[]} */
  const together = []
  /** @type {number[]} */
  const shape = []
  let leaf = -1 // depth of the values; -1: none seen yet
  let entries = 1 // product of the extents found so far

  /** Checked as soon as the shape is known, before all entries are read. */
  function checkCount() {
    if (entries > MOST_VALUES) {
      throw failure(
        'ERR_MEMORY',
        `${name} has lists of shape [${shape.join(', ')}]; more than ${MOST_VALUES} values are for a typed array`,
      )
    }
  }

  /** Reads those so far, because something else stands beside them. */
  function readTogether() {
    const depth = leaf
    leaf = -1
    for (const rows of together.splice(0)) {
      const layout = tensors.layoutOf(rows)
      if (layout === null) walkList(rows, depth, 0)
      else walkTensor(layout, depth)
    }
  }

  /**
   * @param {any} layout
   * @param {number} depth
   */
  function walkTensor(layout, depth) {
    const { kind, name: dtype } = dtypes[layout.dtype]
    if (kind === 'COMPLEX' && !complex) {
      throw failure(
        'ERR_CAST',
        `${name} has a tensor of ${dtype} among values that are to be real; a complex dtype takes both`,
      )
    }
    walk(tensors.nested(layout), depth, layout.shape.length)
  }

  /**
   * @param {any} rows  a tensor or a typed array
   * @param {number} dtype  of it
   * @param {number} depth
   * @returns {boolean} whether it stays what it is so far
   */
  function keep(rows, dtype, depth) {
    values.meet(dtype)
    if (
      keeps === null ||
      !keeps(dtype) ||
      depth !== shape.length ||
      (leaf >= 0 && together.length === 0)
    ) {
      if (together.length > 0) readTogether()
      return false
    }
    if (leaf < 0) checkCount()
    leaf = depth
    together.push(rows)
    return true
  }

  /**
   * @param {unknown} value
   * @param {number} depth
   * @param {number} [axes]  that a tensor has from here on; -1: value is not out of a tensor
   */
  function walk(value, depth, axes = -1) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      const layout = tensors.layoutOf(value)
      if (layout !== null) {
        if (!keep(value, layout.dtype, depth)) walkTensor(layout, depth)
        return
      }
      const arrayType = dtypeOfArray(value)
      if (arrayType !== undefined) {
        if (!keep(value, dtypeOf(arrayType).index, depth)) {
          walkList(/** @type {any} */ (value), depth, 0)
        }
        return
      }
    }
    if (together.length > 0 && depth >= leaf) readTogether()
    const pair = complex && axes <= 0 ? pairOf(value) : null
    if (pair !== null || isScalar(value)) {
      if (leaf < 0) {
        leaf = depth
        checkCount()
        values.prepare(entries, name)
      }
      if (leaf !== depth || depth !== shape.length) {
        throw failure(
          'ERR_SHAPE',
          `${name} is ragged: ${show(value)} stands at depth ${depth}, other values deeper or higher`,
        )
      }
      if (pair !== null) values.addPair(pair)
      else values.addNumber(/** @type {number} */ (value))
      return
    }
    const list = listOf(name, value)
    if (list === null) {
      throw failure(
        'ERR_ARGUMENT',
        `${name} ${depth === 0 ? 'is' : 'has'} ${show(value)}; a number, bigint, boolean or list of them was expected`,
      )
    }
    walkList(list, depth, axes)
  }

  /**
   * @param {ArrayLike<unknown>} list
   * @param {number} depth
   * @param {number} axes  as of walk
   */
  function walkList(list, depth, axes) {
    if (depth >= MAX_DEPTH) {
      throw failure('ERR_SHAPE', `${name} is nested more than ${MAX_DEPTH} deep`)
    }
    const n = Array.isArray(list)
      ? list.length
      : partsOfLive(list, depth === 0 ? name : `a list in ${name}`).length
    if (!Number.isSafeInteger(n) || n < 0) {
      throw failure(
        'ERR_ARGUMENT',
        `${name} has a list of length ${show(n)}; an integer was expected`,
      )
    }
    if (depth === shape.length && leaf < 0) {
      shape[depth] = n
      entries *= Math.max(1, n)
      if (n === 0) checkCount()
    }
    if (shape[depth] !== n) {
      throw failure(
        'ERR_SHAPE',
        `${name} is ragged: ${n} entries at depth ${depth} where others have ${shape[depth] ?? 'none'}`,
      )
    }
    for (let i = 0; i < n; i++) walk(list[i], depth + 1, axes - 1)
  }
  walk(data, 0)
  return { values, shape, kept: together.length > 0 ? together : null }
}

/**
 * Reads and checks one value for fill and set: afterwards no code of the caller's is left to run.
 *
 * @param {unknown} value
 * @param {{ name: string, kind: string, itemsize: number }} dtype
 * @returns {boolean | number | bigint | [number, number]}
 */
function scalarFor(value, dtype) {
  if (typeof value === 'number') {
    if (
      dtype.itemsize === 8 &&
      (dtype.kind === 'SIGNED' || dtype.kind === 'UNSIGNED') &&
      !Number.isSafeInteger(value)
    ) {
      throw failure(
        'ERR_CAST',
        `the value ${value} does not fit ${dtype.name}: numbers do as safe integers, others as bigint`,
      )
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
    if (dtype.kind !== 'COMPLEX') {
      throw failure('ERR_CAST', `the value [${pair[0]}, ${pair[1]}] does not fit ${dtype.name}`)
    }
    return pair
  }
  throw failure(
    'ERR_ARGUMENT',
    `the value is ${show(value)}; a number, bigint${dtype.kind === 'COMPLEX' ? ', boolean or [re, im]' : ' or boolean'} was expected`,
  )
}

module.exports = { BRAND, COPY, MOST_VALUES, flatten, pairOf, scalarFor, listOf, valuesOfIterable }
