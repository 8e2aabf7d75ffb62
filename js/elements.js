'use strict'
// Single elements and lists of them, between JavaScript's values and a layout's bytes.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, integer } = require('./validate')
const { countStaged } = require('./storage')
const { dtypes, itemsizes, dtypeOf } = require('./dtypes')
const { pack, listOf } = require('./values')
const { dtypeOfArray, partsOfArray, isGone } = require('./buffers')
const { layoutOver } = require('./layouts')

const { backend, Layout } = ffi

/** @typedef {import('./dtypes').Dtype} Dtype */

const FLOAT32 = dtypeOf('float32')
const FLOAT64 = dtypeOf('float64')
const MOST_VALUES = 2 ** 27 // that nested arrays may have; beyond, V8 would end the process

/**
 * Short floats that JavaScript cannot read from a typed array.
 *
 * @param {Dtype} dtype
 */
function needsDecoding (dtype) {
  return dtype.kind === 'FLOATING' && dtype.itemsize < 4 && (dtype.name !== 'float16' || dtype.Type === Uint16Array)
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
  if (needsDecoding(dtype)) return readCopy(layout, place, FLOAT32)
  if (!backend.canView(storage, dtype.Type)) return readCopy(layout, place, dtype)
  const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
  const i = backend.windowOffset(storage) / dtype.itemsize + place
  if (dtype.kind === 'COMPLEX') return [window[2 * i], window[2 * i + 1]]
  return dtype.kind === 'BOOLEAN' ? window[i] !== 0 : window[i]
}

/** where single elements are copied to, to be read @type {InstanceType<typeof Layout>[]} */
const copies = []

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} place
 * @param {Dtype} dtype  that it is read as
 */
function readCopy (layout, place, dtype) {
  const copy = copies[dtype.index] ??= new Layout(ffi.allocate(dtype.itemsize), dtype.index, [], [], 0, 1, 0)
  ffi.copy(copy, new Layout(layout.storage, layout.dtype, [], [], place, 1, 0), 0)
  countStaged(dtype.itemsize)
  return read(copy, 0)
}

/**
 * The layout, or a temporary copy that JavaScript can read: float32 of short floats, and whatever lies
 * where the runtime allows no buffer. What is another one is to be released.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {InstanceType<typeof Layout>}
 */
function readable (layout) {
  const dtype = dtypes[layout.dtype]
  const decoding = needsDecoding(dtype)
  if (!decoding && backend.canView(layout.storage, dtype.Type)) return layout
  const copy = ffi.dense(decoding ? FLOAT32.index : layout.dtype, layout.shape)
  copy.storage = ffi.allocate(copy.size * itemsizes[copy.dtype])
  try {
    ffi.copy(copy, layout, 0)
  } catch (error) {
    backend.release(copy.storage)
    throw error
  }
  countStaged(copy.size * itemsizes[copy.dtype])
  return copy
}

/**
 * All elements as nested arrays.
 *
 * @param {InstanceType<typeof Layout>} layout  that is readable
 * @returns {any}
 * @throws {RangeError} ERR_MEMORY more values and lists than a process can hold
 */
function nest (layout) {
  const { storage, shape, strides } = layout
  const dtype = dtypes[layout.dtype]
  if (shape.length === 0) return read(layout, layout.offset)
  let lists = 1
  for (const extent of shape) {
    lists *= extent
    if (lists > MOST_VALUES) throw failure('ERR_MEMORY', `nested arrays of shape [${shape.join(', ')}] have more than ${MOST_VALUES} entries; take a part, or data`)
  }
  const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
  const first = backend.windowOffset(storage) / dtype.itemsize + layout.offset
  const last = shape.length - 1
  /**
   * @param {number} d
   * @param {number} at
   * @returns {any[]}
   */
  function list (d, at) {
    const out = []
    for (let i = 0; i < shape[d]; i++, at += strides[d]) {
      if (d < last) out.push(list(d + 1, at))
      else if (dtype.kind === 'COMPLEX') out.push([window[2 * at], window[2 * at + 1]])
      else out.push(dtype.kind === 'BOOLEAN' ? window[at] !== 0 : window[at])
    }
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
  const numbers = Float64Array.from(list, (x, i) => {
    if (typeof x !== 'number') throw failure('ERR_ARGUMENT', `${name}[${i}] is ${show(x)}; a number was expected`)
    return x
  })
  return { layout: layoutOver(numbers, FLOAT64.index, [numbers.length]), length: numbers.length }
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
  const n = dtypeOfArray(value) === undefined ? list.length : partsOfArray(value).length
  if (!(Number.isInteger(n) && n >= 0 && n <= MOST_VALUES)) throw failure('ERR_MEMORY', `${name} has ${show(n)} entries; ${MOST_VALUES} are possible`)
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
    const { buffer, length } = partsOfArray(value)
    if (length === 0 && isGone(buffer)) throw failure('ERR_DETACHED', `${name} was transferred away`)
    return layoutOver(value, dtypeOf(arrayType).index, [length])
  }
  const list = integerList(name, value)
  const small = list.every(x => x === (x | 0))
  const array = small ? new Int32Array(list) : BigInt64Array.from(list, BigInt)
  return layoutOver(array, dtypeOf(small ? 'int32' : 'int64').index, [list.length])
}

module.exports = { read, readable, nest, writeValues, factorOf, integerList, indicesOf }
