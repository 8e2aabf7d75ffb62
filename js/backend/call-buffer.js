'use strict'
// Calls into C through the frame: descriptors and numbers in, status and results out.
//
// Whatever is user code (getters, valueOf) ran before; between the first write into the frame and the
// last read from it there is none. `held` keeps what an address points to reachable during a call.

const { Math, arrayIndexOf, arrayOf, arraySlice } = require('../base/primordials')
const backend = require('./select')
const { learnErrors, failure } = require('../base/errors')
const { countStaged } = require('./storage')
const { Layout, READ_ONLY } = require('./layout')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

const { tables, frame } = backend
const codes = learnErrors(arraySlice(tables.errors, 0, tables.errors.length - 1))

const { rows } = backend

const { STATUS, RESULTS, OPERANDS, ARGS, HANDLE, ADDRESS, NBYTES, HEAD, OFFSET, NUMEL, AXES, SIZE_OF_OPERAND } = tables.frame
const { NDIM, FLAGS, WIDE } = tables.head
const OUT = OPERANDS + 4 * SIZE_OF_OPERAND
const ALIGNMENT = tables.alignment

/** @type {{ a: unknown, b: unknown }} what the current call's addresses point into */
const held = { a: null, b: null }

/** Throws what the frame reports. */
function check () {
  const status = frame.f64[STATUS]
  if (status !== 0) throw failure(codes[status], backend.text())
}

/** @param {number} row */
function invoke (row) {
  backend.call(row)
  if (frame.f64[STATUS] !== 0) check()
}

/**
 * Writes what a descriptor says of a storage.
 *
 * @param {Float64Array} f64  the frame
 * @param {number} at  index in it
 * @param {Storage} storage
 */
function putStorage (f64, at, storage) {
  f64[at + HANDLE] = storage.extra === null ? 0 : storage.extra.handle
  // Where no byte is touched, the offset in the buffer stands for the address: alignment can be judged.
  f64[at + ADDRESS] = storage.address === null ? storage.byteOffset : storage.address
  f64[at + NBYTES] = storage.nbytes
}

/**
 * Writes storages as operands, for functions of the addon that are no rows.
 *
 * @param {Storage[]} storages
 */
function putStorages (storages) {
  for (let i = 0; i < storages.length; i++) putStorage(frame.f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
}

/**
 * Writes a descriptor.
 *
 * @param {number} slot  0 to 3
 * @param {Layout} layout
 */
function put (slot, layout) {
  const { f64, i32 } = frame
  const at = OPERANDS + slot * SIZE_OF_OPERAND
  const { storage, shape, strides, offset } = layout
  putStorage(f64, at, storage)
  i32[2 * (at + OFFSET)] = offset
  i32[2 * (at + HEAD)] = layout.dtype | shape.length << NDIM | (layout.flags & READ_ONLY) << FLAGS
  const first = 2 * (at + AXES)
  const isSmall = shape.length === 2 ? putMatrix(i32, first, shape, strides) : putAxes(i32, first, shape, strides)
  if (!isSmall || offset !== (offset | 0)) putWide(at, layout)
}

/**
 * Writes the lower halves of shape and strides.
 *
 * @param {Int32Array} i32  the frame
 * @param {number} at  index in it
 * @param {number[]} shape
 * @param {number[]} strides
 * @returns {boolean} that is all there is of them
 */
function putAxes (i32, at, shape, strides) {
  let isSmall = true
  for (let d = 0; d < shape.length; d++, at += 4) {
    const extent = shape[d]
    const stride = strides[d]
    i32[at] = extent
    i32[at + 2] = stride
    isSmall = isSmall && extent === (extent | 0) && stride === (stride | 0)
  }
  return isSmall
}

/**
 * The same of two axes, without a loop.
 *
 * @param {Int32Array} i32
 * @param {number} at
 * @param {number[]} shape
 * @param {number[]} strides
 */
function putMatrix (i32, at, shape, strides) {
  const height = shape[0]
  const width = shape[1]
  const down = strides[0]
  const right = strides[1]
  i32[at] = height
  i32[at + 2] = down
  i32[at + 4] = width
  i32[at + 6] = right
  return height === (height | 0) && width === (width | 0) && down === (down | 0) && right === (right | 0)
}

/**
 * The upper halves of a descriptor's integers.
 *
 * @param {number} at
 * @param {Layout} layout
 */
function putWide (at, { shape, strides, offset }) {
  const { i32 } = frame
  i32[2 * (at + HEAD)] |= 1 << WIDE
  i32[2 * (at + OFFSET) + 1] = upper(offset)
  for (let d = 0, k = 2 * (at + AXES); d < shape.length; d++, k += 4) {
    i32[k + 1] = upper(shape[d])
    i32[k + 3] = upper(strides[d])
  }
}

/** @param {number} x  an integer @returns {number} what is above its lower 32 bits */
const upper = x => Math.floor(x / 2 ** 32)

/**
 * Writes a layout as the first operand, for functions of the addon that are no rows.
 *
 * @param {Layout} layout  whose storage has an address
 * @param {boolean} readOnly  whatever the layout says
 */
function putOperand (layout, readOnly) {
  put(0, layout)
  if (readOnly) frame.i32[2 * (OPERANDS + HEAD)] |= READ_ONLY << FLAGS
}

/**
 * Writes an integer of 64 bits.
 *
 * @param {number} at  index in the frame
 * @param {number} x
 */
function putInteger (at, x) {
  const { i32 } = frame
  i32[2 * at] = x
  i32[2 * at + 1] = x === (x | 0) ? x >> 31 : upper(x)
}

/**
 * Writes a list of integers; null says that none is given.
 *
 * @param {number} at  index in the frame
 * @param {readonly number[] | null} list
 * @returns {number} index after it
 */
function putList (at, list) {
  const { i32 } = frame
  const n = list === null ? -1 : list.length
  let isWide = 0
  i32[2 * at] = n
  for (let i = 0, k = 2 * (at + 1); i < n; i++, k += 2) {
    const x = /** @type {readonly number[]} */ (list)[i]
    i32[k] = x
    if (x !== (x | 0)) isWide = 1
  }
  i32[2 * at + 1] = isWide
  for (let i = 0; i < (isWide !== 0 ? n : 0); i++) putInteger(at + 1 + i, /** @type {readonly number[]} */ (list)[i])
  return at + 1 + Math.max(n, 0)
}

const KINDS = { BOOL: 0, INT: 1, UINT: 2, REAL: 3, COMPLEX: 4 }

/**
 * Writes a scalar.
 *
 * @param {number} at  index in the frame
 * @param {boolean | number | bigint | [number, number]} value
 */
function putScalar (at, value) {
  const { f64, i64 } = frame
  if (typeof value === 'number') {
    f64[at] = KINDS.REAL
    f64[at + 1] = value
  } else if (typeof value === 'boolean') {
    f64[at] = KINDS.BOOL
    i64[at + 1] = value ? 1n : 0n
  } else if (typeof value === 'bigint') {
    f64[at] = value > 0x7fffffffffffffffn ? KINDS.UINT : KINDS.INT
    i64[at + 1] = value
  } else {
    f64[at] = KINDS.COMPLEX
    f64[at + 1] = value[0]
    f64[at + 2] = value[1]
  }
}

/**
 * The layout that C left, over a storage.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function takeLayout (storage, flags) {
  const { i32 } = frame
  const head = i32[2 * (OUT + HEAD)]
  if (head >> WIDE !== 0) return takeWideLayout(storage, flags)
  const n = head >> NDIM
  const shape = n === 2 ? [i32[FIRST], i32[FIRST + 4]] : takeSmall(FIRST, n)
  const strides = n === 2 ? [i32[FIRST + 2], i32[FIRST + 6]] : takeSmall(FIRST + 2, n)
  return new Layout(storage, head & 255, shape, strides, i32[2 * (OUT + OFFSET)], i32[2 * (OUT + NUMEL)], flags)
}

const FIRST = 2 * (OUT + AXES)

/**
 * Literals, because an array that grows has room for 17.
 *
 * @param {number} at  index of a lower half
 * @param {number} n
 * @returns {number[]}
 */
function takeSmall (at, n) {
  const { i32 } = frame
  if (n === 1) return [i32[at]]
  if (n === 3) return [i32[at], i32[at + 4], i32[at + 8]]
  if (n === 4) return [i32[at], i32[at + 4], i32[at + 8], i32[at + 12]]
  return arrayOf(n, d => i32[at + 4 * d])
}

/**
 * The same where a number is beyond 32 bits.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function takeWideLayout (storage, flags) {
  const head = frame.i32[2 * (OUT + HEAD)]
  const n = head >> NDIM & 255
  const shape = arrayOf(n, d => wide(OUT + AXES + 2 * d))
  const strides = arrayOf(n, d => wide(OUT + AXES + 2 * d + 1))
  return new Layout(storage, head & 255, shape, strides, wide(OUT + OFFSET), wide(OUT + NUMEL), flags)
}

/** @param {number} at  index in the frame @returns {number} the integer of 64 bits there, which a double holds exactly */
const wide = at => frame.i32[2 * at + 1] * 2 ** 32 + (frame.i32[2 * at] >>> 0)

/** @param {number} i @returns {number} the i-th of the numbers that C left among the arguments */
const argument = i => frame.f64[ARGS + i]

/** @param {number} i @returns {number} the i-th of the results that C left */
const result = i => frame.f64[RESULTS + i]

/**
 * Runs a row on operands that were staged: the first is written, the others are read.
 *
 * @param {number} row
 * @param {Layout} to
 * @param {Layout[]} from
 * @param {number} a
 * @param {number} b
 */
function invokeOn (row, to, from, a, b) {
  held.a = to
  held.b = from
  put(0, to)
  for (let i = 0; i < from.length; i++) put(i + 1, from[i])
  frame.f64[RESULTS] = 0
  frame.f64[ARGS] = a
  frame.f64[ARGS + 1] = b
  backend.call(row)
  held.a = held.b = null
  check()
  if (frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS])
}

/**
 * Leaves an error for C: its words in the frame.
 *
 * @param {unknown} error
 * @returns {number} its status
 */
function leave (error) {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error ?? {})
  const status = arrayIndexOf(codes, String(code))
  /** @type {any} */ const native = backend
  native.leaveText(status > 0 ? String(message) : 'JavaScript could not run (out of memory, or of stack)')
  return status > 0 ? status : arrayIndexOf(codes, 'ERR_MEMORY')
}

/**
 * @param {number} status
 * @param {string} text
 * @returns {Error} what C says went wrong
 */
const errorOf = (status, text) => failure(codes[status] ?? 'ERR_ARGUMENT', text === '' ? `an addon refused: ${codes[status]}` : text)

module.exports = { backend, rows, tables, frame, codes, held, check, invoke, invokeOn, putStorage, putStorages, put, putOperand, putInteger, putList, putScalar, takeLayout, argument, result, leave, errorOf, STATUS, RESULTS, OPERANDS, ARGS, ADDRESS, SIZE_OF_OPERAND, ALIGNMENT }
