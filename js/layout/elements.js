'use strict'
// Single elements and lists of them, between JavaScript's values and a layout's bytes.

const { BigInt, BigInt64Array, Float32Array, Float64Array, Int32Array, Math, Number, Uint16Array, arrayIndexOf, arrayJoin, arrayMap, lengthOf, newList } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer } = require('../base/validate')
const { countStaged } = require('../backend/storage')
const { dtypes, itemsizes, dtypeOf } = require('../backend/dtypes')
const { MOST_VALUES, listOf } = require('./values')
const { dtypeOfArray, partsOfLive } = require('../base/buffers')
const { layoutOver } = require('./layouts')
const { checkHeap, LIST, ENTRY, NUMBER, BIGINT, PAIR, TEXT } = require('../runtime/heap')

const { backend, Layout } = ffi

/** @typedef {import('../backend/dtypes').Dtype} Dtype */

const FLOAT32 = dtypeOf('float32')
const FLOAT64 = dtypeOf('float64')
const MOST_AT_ONCE = 2 ** 25 // entries of an array that V8 makes room for at once

// ---- Single elements ----

/**
 * Short floats that JavaScript cannot read from a typed array.
 *
 * @param {Dtype} dtype
 */
function needsDecoding (dtype) {
  return dtype.kind === 'FLOATING' && dtype.itemsize < 4 && (dtype.name !== 'float16' || dtype.Type === Uint16Array)
}

/**
 * What all the bits of a short float stand for, as C says.
 *
 * @param {Dtype} dtype
 * @returns {Float32Array} by bits
 */
function decoded (dtype) {
  const n = 2 ** (8 * dtype.itemsize)
  const bits = ffi.dense(dtype.index, [n])
  const floats = ffi.dense(FLOAT32.index, [n])
  bits.storage = ffi.allocate(n * dtype.itemsize)
  try {
    floats.storage = ffi.allocate(n * FLOAT32.itemsize)
    const from = backend.window(bits.storage, dtype.index, dtype.Type, ffi.check)
    const first = backend.windowOffset(bits.storage) / dtype.itemsize
    for (let i = 0; i < n; i++) from[first + i] = i
    ffi.copy(floats, bits, 0)
    const to = windowOf(floats)
    const out = new Float32Array(n)
    for (let i = 0; i < n; i++) out[i] = to.window[to.first + i]
    return out
  } finally {
    backend.release(bits.storage)
    if (floats.storage !== ffi.nothing) backend.release(floats.storage)
  }
}

/**
 * A typed array over a storage, for load and store. What load needs besides is made first: memory may grow then.
 *
 * @param {import('../backend/storage').Storage} storage
 * @param {number} dtype
 * @returns {any}
 */
function windowFor (storage, dtype) {
  const way = ways[dtype]
  if (way >= DECODED && values[way] === undefined) values[way] = decoded(dtypes[dtype])
  return backend.window(storage, dtype, dtypes[dtype].Type, ffi.check)
}

/**
 * A window on a layout's bytes, and where in it its first element is.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {{ window: any, first: number }}
 */
function windowOf ({ storage, dtype, offset }) {
  const window = windowFor(storage, dtype)
  return { window, first: backend.windowOffset(storage) / dtypes[dtype].itemsize + offset }
}

const WAYS = ['uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float32', 'float64', 'float16', 'bool', 'complex64', 'complex128']
const DECODED = WAYS.length

/** how load and store go about each dtype: an index of WAYS, or from DECODED on one of `values` @type {number[]} */
const ways = arrayMap(dtypes, dtype => needsDecoding(dtype) ? DECODED + dtype.index : arrayIndexOf(WAYS, dtype.name))

/** what the bits of short floats stand for, from the first use on @type {Float32Array[]} */
const values = newList()

/**
 * Element `at` of a window. A line for each kind of typed array: V8 makes fast code of a place that sees one
 * kind only (5 instead of 12 ns).
 *
 * @param {any} window
 * @param {number} at
 * @param {number} way
 * @returns {any}
 */
function load (window, at, way) {
  switch (way) {
    case 0: return window[at]
    case 1: return window[at]
    case 2: return window[at]
    case 3: return window[at]
    case 4: return window[at]
    case 5: return window[at]
    case 6: return window[at]
    case 7: return window[at]
    case 8: return window[at]
    case 9: return window[at]
    case 10: return window[at]
    case 11: return window[at] !== 0
    case 12: return [window[2 * at], window[2 * at + 1]]
    case 13: return [window[2 * at], window[2 * at + 1]]
    default: return values[way][window[at]]
  }
}

/**
 * Writes an element, where the value, as scalarFor gives it, becomes one by being stored.
 *
 * @param {any} window
 * @param {number} at
 * @param {number} way
 * @param {any} value
 * @returns {boolean} false: it is C's to write, or to refuse
 */
function store (window, at, way, value) {
  switch (way) {
    case 0: return isWhole(value, 0, 255) && put(window[at] = value)
    case 1: return isWhole(value, -128, 127) && put(window[at] = value)
    case 2: return isWhole(value, -32768, 32767) && put(window[at] = value)
    case 3: return isWhole(value, 0, 65535) && put(window[at] = value)
    case 4: return isWhole(value, -2147483648, 2147483647) && put(window[at] = value)
    case 5: return isWhole(value, 0, 4294967295) && put(window[at] = value)
    case 6: return typeof value === 'bigint' && BigInt.asIntN(64, value) === value && put(window[at] = value)
    case 7: return typeof value === 'bigint' && BigInt.asUintN(64, value) === value && put(window[at] = value)
    case 8: return typeof value === 'number' && (Number.isFinite(Math.fround(value)) || !Number.isFinite(value)) && put(window[at] = canonical(value))
    case 9: return typeof value === 'number' && put(window[at] = canonical(value))
    case 11: return typeof value === 'boolean' && put(window[at] = value ? 1 : 0)
    default: return false
  }
}

/** @param {any} _  that was just stored */
const put = _ => true

/**
 * Calculations give NaNs of any sign; C stores one of them only.
 *
 * @param {number} x
 */
const canonical = x => Number.isNaN(x) ? NaN : x

/**
 * @param {any} value
 * @param {number} low
 * @param {number} high
 */
function isWhole (value, low, high) {
  return typeof value === 'number' && value >= low && value <= high && Math.floor(value) === value
}

/**
 * One element.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} place  elements from the storage's first byte
 * @returns {any}
 */
function read (layout, place) {
  const dtype = dtypes[layout.dtype]
  const { storage } = layout
  if (!backend.canView(storage, dtype.Type)) return readCopy(layout, place)
  const window = windowFor(storage, layout.dtype)
  const value = load(window, backend.windowOffset(storage) / dtype.itemsize + place, ways[layout.dtype])
  ffi.checkIntact(storage)
  return value
}

/** where single elements are copied to, to be read @type {InstanceType<typeof Layout>[]} */
const copies = newList()

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} place
 */
function readCopy (layout, place) {
  const { itemsize, index } = dtypes[layout.dtype]
  const copy = copies[index] ??= new Layout(ffi.allocate(itemsize), index, [], [], 0, 1, 0)
  ffi.copy(copy, new Layout(layout.storage, index, [], [], place, 1, 0), 0)
  countStaged(itemsize)
  return read(copy, 0)
}

/**
 * Writes one element; the value must fit the dtype.
 *
 * @param {InstanceType<typeof Layout>} layout  that may be written to
 * @param {number} place  elements from the storage's first byte
 * @param {boolean | number | bigint | [number, number]} value  as scalarFor gives it
 * @throws {TypeError} ERR_CAST
 */
function write (layout, place, value) {
  const dtype = dtypes[layout.dtype]
  const { storage } = layout
  if (backend.canView(storage, dtype.Type)) {
    const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
    if (store(window, backend.windowOffset(storage) / dtype.itemsize + place, ways[layout.dtype], value)) {
      ffi.checkIntact(storage)
      return
    }
  }
  ffi.fill(new Layout(storage, layout.dtype, [], [], place, 1, layout.flags), value)
}

// ---- Lists of elements ----

/**
 * What fn makes of a layout whose bytes JavaScript can read: this one, or a temporary copy where the
 * runtime allows no buffer.
 *
 * @template R
 * @param {InstanceType<typeof Layout>} layout
 * @param {(layout: InstanceType<typeof Layout>) => R} fn
 * @returns {R}
 */
function reading (layout, fn) {
  if (backend.canView(layout.storage, dtypes[layout.dtype].Type)) {
    const result = fn(layout)
    ffi.checkIntact(layout.storage)
    return result
  }
  const copy = ffi.dense(layout.dtype, layout.shape)
  copy.storage = ffi.allocate(copy.size * itemsizes[copy.dtype])
  try {
    ffi.copy(copy, layout, 0)
    countStaged(copy.size * itemsizes[copy.dtype])
    return fn(copy)
  } finally {
    backend.release(copy.storage)
  }
}

/**
 * What one value needs beside its place in an array.
 *
 * @param {Dtype} dtype
 * @param {boolean} asText  64-bit integers are to be text
 */
function bytesOfValue ({ kind, itemsize, name }, asText) {
  if (kind === 'COMPLEX') return PAIR
  if (kind === 'FLOATING' || name === 'uint32') return NUMBER
  return itemsize < 8 ? 0 : asText ? TEXT : BIGINT
}

/**
 * All elements as nested arrays.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {boolean} [asText]  64-bit integers as text
 * @returns {any} a value for 0-d
 * @throws {RangeError} ERR_MEMORY more values and lists than the runtime's heap has room for
 */
function nested (layout, asText = false) {
  const { shape } = layout
  let nbytes = 0
  let entries = 1
  for (let i = 0; i < shape.length; i++) {
    const extent = shape[i]
    if (extent > MOST_VALUES) throw failure('ERR_MEMORY', `an array of ${extent} entries was asked for; ${MOST_VALUES} are possible: take a part, or data`)
    nbytes += entries * LIST
    entries *= extent
    nbytes += entries * (extent > MOST_AT_ONCE ? 3 * ENTRY : ENTRY) // what grows has two copies at times
  }
  nbytes += entries * bytesOfValue(dtypes[layout.dtype], asText)
  checkHeap(nbytes, () => `nested arrays of shape [${arrayJoin(shape)}] with ${entries} values; take a part, or data`)
  return reading(layout, layout => nest(layout, asText))
}

/**
 * @param {InstanceType<typeof Layout>} layout  that is readable
 * @param {boolean} asText
 * @returns {any}
 */
function nest (layout, asText) {
  const { shape, strides } = layout
  const textOf = (/** @type {any} */ value) => asText && typeof value === 'bigint' ? String(value) : value
  if (shape.length === 0) return textOf(read(layout, layout.offset))
  const way = ways[layout.dtype]
  const { window, first } = windowOf(layout)
  const last = shape.length - 1
  /**
   * @param {number} d
   * @param {number} at
   * @returns {any[]}
   */
  function list (d, at) {
    const n = shape[d]
    // eslint-disable-next-line no-restricted-syntax, no-restricted-globals -- whoever replaced it sees what the caller is given
    const out = n <= MOST_AT_ONCE ? new Array(n) : []
    for (let i = 0; i < n; i++, at += strides[d]) out[i] = d < last ? list(d + 1, at) : asText ? textOf(load(window, at, way)) : load(window, at, way)
    return out
  }
  return list(0, first)
}

/**
 * Writes values that a person wrote into a layout, in logical order; each must fit its dtype.
 *
 * @param {InstanceType<typeof Layout>} target
 * @param {ReturnType<typeof import('./values').flatten>['values']} values
 */
function writeValues (target, values) {
  const { array, dtype } = values.packed(dtypes[target.dtype])
  ffi.copyValues(target, layoutOver(array, dtypeOf(dtype).index, target.shape))
}

/** @typedef {{ layout: InstanceType<typeof Layout>, length: number }} Factor length -1: one number */

/**
 * scale or bias: one number, or a list of them.
 *
 * @param {string} name
 * @param {unknown} value
 * @param {number} missing
 * @returns {Factor}
 */
function factorOf (name, value, missing) {
  if (value === undefined || typeof value === 'number') {
    const one = new Float64Array(1)
    one[0] = value ?? missing
    return { layout: layoutOver(one, FLOAT64.index, []), length: -1 }
  }
  const list = listOf(name, value)
  if (list === null) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number or a list of numbers was expected`)
  const numbers = numbersFor(name, list)
  const n = lengthOf(numbers)
  for (let i = 0; i < n; i++) {
    const x = list[i]
    if (typeof x !== 'number') throw failure('ERR_ARGUMENT', `${name}[${i}] is ${show(x)}; a number was expected`)
    numbers[i] = x
  }
  return { layout: layoutOver(numbers, FLOAT64.index, [n]), length: n }
}

/**
 * Room for as many numbers as a list has entries, outside of the runtime's heap.
 *
 * @param {string} name
 * @param {ArrayLike<unknown>} list  as listOf gives it
 * @returns {Float64Array}
 */
function numbersFor (name, list) {
  const n = dtypeOfArray(list) === undefined ? list.length : partsOfLive(list, name).length
  if (!(Number.isInteger(n) && n >= 0 && n <= MOST_VALUES)) throw failure('ERR_MEMORY', `${name} has ${show(n)} entries; ${MOST_VALUES} are possible`) // a Proxy may say anything
  try {
    return new Float64Array(n)
  } catch {
    throw failure('ERR_MEMORY', `${name} has ${n} entries, for which there is no memory`)
  }
}

/**
 * Integers that a list, or anything that can be iterated over, has; each is read once.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {Float64Array}
 */
function integerList (name, value) {
  const list = listOf(name, value)
  if (list === null) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a list of integers was expected`)
  const numbers = numbersFor(name, list)
  const n = lengthOf(numbers)
  for (let i = 0; i < n; i++) {
    const x = list[i]
    numbers[i] = Number.isSafeInteger(x) ? /** @type {number} */ (x) : integer(`${name}[${i}]`, typeof x === 'bigint' ? Number(x) : x)
  }
  return numbers
}

/**
 * A list of indices for C to read: a typed array of integers as it is, anything else copied.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {InstanceType<typeof Layout>} one axis
 */
function indicesOf (name, value) {
  const arrayType = dtypeOfArray(value)
  if (arrayType !== undefined) {
    const { length } = partsOfLive(value, name)
    return layoutOver(value, dtypeOf(arrayType).index, [length])
  }
  const list = integerList(name, value)
  const n = lengthOf(list)
  let small = true
  for (let i = 0; i < n; i++) small &&= list[i] === (list[i] | 0)
  const array = small ? new Int32Array(n) : new BigInt64Array(n)
  for (let i = 0; i < n; i++) array[i] = small ? list[i] : BigInt(list[i])
  return layoutOver(array, dtypeOf(small ? 'int32' : 'int64').index, [n])
}

module.exports = { ways, windowFor, load, store, read, write, nested, writeValues, factorOf, integerList, indicesOf }
