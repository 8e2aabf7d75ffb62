'use strict'
// Single elements and lists of them, between JavaScript's values and a layout's bytes.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, integer } = require('./validate')
const { countStaged } = require('./storage')
const { dtypes, itemsizes, dtypeOf } = require('./dtypes')
const { MOST_VALUES, pack, listOf } = require('./values')
const { dtypeOfArray, partsOfLive } = require('./buffers')
const { layoutOver } = require('./layouts')

const { backend, Layout } = ffi

/** @typedef {import('./dtypes').Dtype} Dtype */

const FLOAT32 = dtypeOf('float32')
const FLOAT64 = dtypeOf('float64')
// What V8 needs for nested arrays, at most; beyond, it would end the process.
const MOST_BYTES = 2 ** 31
const LIST = 128
const VALUE = 32

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
    return to.window.slice(to.first, to.first + n)
  } finally {
    backend.release(bits.storage)
    if (floats.storage !== ffi.nothing) backend.release(floats.storage)
  }
}

/**
 * A typed array over a storage, for load and store. What load needs besides is made first: memory may grow then.
 *
 * @param {import('./storage').Storage} storage
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
const ways = dtypes.map(dtype => needsDecoding(dtype) ? DECODED + dtype.index : WAYS.indexOf(dtype.name))

/** what the bits of short floats stand for, from the first use on @type {Float32Array[]} */
const values = []

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
  return load(window, backend.windowOffset(storage) / dtype.itemsize + place, ways[layout.dtype])
}

/** where single elements are copied to, to be read @type {InstanceType<typeof Layout>[]} */
const copies = []

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
    if (store(window, backend.windowOffset(storage) / dtype.itemsize + place, ways[layout.dtype], value)) return
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
  if (backend.canView(layout.storage, dtypes[layout.dtype].Type)) return fn(layout)
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
 * All elements as nested arrays.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {any} a value for 0-d
 * @throws {RangeError} ERR_MEMORY more values and lists than a process can hold
 */
function nested (layout) {
  const { shape } = layout
  const { kind, itemsize } = dtypes[layout.dtype]
  let lists = 0
  let entries = 1
  for (const extent of shape) {
    lists += entries
    entries *= extent
  }
  const each = kind === 'COMPLEX' ? LIST : itemsize === 8 && kind !== 'FLOATING' ? 2 * VALUE : VALUE
  if (lists * LIST + entries * each > MOST_BYTES) {
    throw failure('ERR_MEMORY', `nested arrays of shape [${shape.join(', ')}] are too many for V8: ${lists} of ${entries} values; take a part, or data`)
  }
  return reading(layout, nest)
}

/**
 * @param {InstanceType<typeof Layout>} layout  that is readable
 * @returns {any}
 */
function nest (layout) {
  const { shape, strides } = layout
  if (shape.length === 0) return read(layout, layout.offset)
  const way = ways[layout.dtype]
  const { window, first } = windowOf(layout)
  const last = shape.length - 1
  /**
   * @param {number} d
   * @param {number} at
   * @returns {any[]}
   */
  function list (d, at) {
    const out = []
    for (let i = 0; i < shape[d]; i++, at += strides[d]) out.push(d === last ? load(window, at, way) : list(d + 1, at))
    return out
  }
  return list(0, first)
}

/**
 * Writes values that a person wrote into a layout, in logical order; each must fit its dtype.
 *
 * @param {InstanceType<typeof Layout>} target
 * @param {(number | bigint | boolean | [number, number])[]} flat
 */
function writeValues (target, flat) {
  const { array, dtype } = pack(flat, dtypes[target.dtype])
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
    const one = Float64Array.of(value ?? missing)
    return { layout: layoutOver(one, FLOAT64.index, []), length: -1 }
  }
  const list = listOf(name, value)
  if (list === null) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number or a list of numbers was expected`)
  const numbers = new Float64Array(lengthOf(name, list))
  for (let i = 0; i < numbers.length; i++) {
    const x = list[i]
    if (typeof x !== 'number') throw failure('ERR_ARGUMENT', `${name}[${i}] is ${show(x)}; a number was expected`)
    numbers[i] = x
  }
  return { layout: layoutOver(numbers, FLOAT64.index, [numbers.length]), length: numbers.length }
}

/**
 * @param {string} name
 * @param {ArrayLike<unknown>} list  as listOf gives it
 * @returns {number}
 */
function lengthOf (name, list) {
  const n = dtypeOfArray(list) === undefined ? list.length : partsOfLive(list, name).length
  if (!(Number.isInteger(n) && n >= 0 && n <= MOST_VALUES)) throw failure('ERR_MEMORY', `${name} has ${show(n)} entries; ${MOST_VALUES} are possible`) // a Proxy may say anything
  return n
}

/**
 * Integers that a list, or anything that can be iterated over, has; each is read once.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {number[]}
 */
function integerList (name, value) {
  const list = listOf(name, value)
  if (list === null) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a list of integers was expected`)
  const n = lengthOf(name, list)
  const out = []
  for (let i = 0; i < n; i++) {
    const x = list[i]
    out.push(Number.isSafeInteger(x) ? /** @type {number} */ (x) : integer(`${name}[${i}]`, typeof x === 'bigint' ? Number(x) : x))
  }
  return out
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
  const small = list.every(x => x === (x | 0))
  const array = small ? new Int32Array(list) : BigInt64Array.from(list, BigInt)
  return layoutOver(array, dtypeOf(small ? 'int32' : 'int64').index, [list.length])
}

module.exports = { ways, windowFor, load, store, read, write, nested, writeValues, factorOf, integerList, indicesOf }
