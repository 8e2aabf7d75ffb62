'use strict'
// The call buffer: memory through which C is called. Operands (storages and layouts), lists and numbers go in; status, results
// and a layout come out.
//
// User code (getters, valueOf) runs before: there is none between the first write into the buffer and the last read from it.

const { arrayOf } = require('../base/records')
const backend = require('./select')
const { learnErrors, failure } = require('../base/errors')
const { events, countStaged, grantScratch, bytesLeft, staying } = require('./storage')
const { Layout, nothing, READ_ONLY } = require('./layout')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

const { tables, frame } = backend
const codes = learnErrors(tables.errors.slice(0, tables.errors.length - 1))

const { opcodes } = backend

const {
  STATUS,
  RESULTS,
  OPERANDS,
  ARGS,
  HANDLE,
  ADDRESS,
  NBYTES,
  HEAD,
  OFFSET,
  NUMEL,
  AXES,
  SIZE_OF_OPERAND,
  SCRATCH,
} = tables.frame
const { NDIM, FLAGS, WIDE } = tables.head
const OUT = OPERANDS + 4 * SIZE_OF_OPERAND
const ALIGNMENT = tables.alignment

/** Keeps the memory of a call's operands from being collected until C returns. @type {{ a: unknown, b: unknown }} */
const held = { a: null, b: null }

/** of the last call, which wanted memory beyond the limit @type {Error | null} */
let excess = null

/** Throws the error of the last call, if it failed. */
function check() {
  const status = frame.f64[STATUS]
  if (status !== 0) throw lastError(status)
}

/** @param {number} status @returns {Error} of the last call */
function lastError(status) {
  const error = excess ?? failure(codes[status], backend.text())
  excess = null
  return error
}

/**
 * Calls C where it may take memory for the call, which counts against the limit. `check` follows.
 *
 * @param {(opcode: number) => void} call
 * @param {number} opcode
 */
function callBounded(call, opcode) {
  do {
    frame.f64[SCRATCH] = bytesLeft()
    call(opcode)
  } while (frame.f64[SCRATCH] !== 0 && isForAgain())
}

/**
 * After a call that wanted more memory than `bytesLeft` had: whether it is there, now that it is counted anew. The call has written nothing, and is
 * still in the call buffer.
 *
 * @returns {boolean} false: lastError is the call's
 */
function isForAgain() {
  const status = frame.f64[STATUS]
  const refused = frame.f64[SCRATCH]
  frame.f64[SCRATCH] = 0
  if (status === 0) return false
  try {
    grantScratch(refused, backend.inUse)
    return true
  } catch (error) {
    excess = /** @type {Error} */ (error)
    frame.f64[STATUS] = status
    return false
  }
}

/** @param {number} opcode */
function invoke(opcode) {
  backend.call(opcode)
  if (frame.f64[STATUS] !== 0) check()
}

/**
 * Calls C with numbers alone.
 *
 * @param {number} opcode
 * @param {...number} numbers
 * @returns {number} the first result
 */
function invokeWith(opcode, ...numbers) {
  for (let i = 0; i < numbers.length; i++) frame.f64[ARGS + i] = numbers[i]
  invoke(opcode)
  return frame.f64[RESULTS]
}

/**
 * Writes an operand's storage: handle, address, size.
 *
 * @param {Float64Array} f64  the call buffer
 * @param {number} at  index in it
 * @param {Storage} storage
 */
function putStorage(f64, at, storage) {
  f64[at + HANDLE] = storage.optional === null ? 0 : storage.optional.handle
  // Without an address C will touch no byte; the offset in the buffer is enough to judge alignment.
  f64[at + ADDRESS] = storage.address === null ? storage.byteOffset : storage.address
  f64[at + NBYTES] = storage.nbytes
}

/**
 * Writes storages as operands, for functions of the addon that have no opcode.
 *
 * @param {Storage[]} storages
 */
function putStorages(storages) {
  for (let i = 0; i < storages.length; i++) {
    putStorage(frame.f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
  }
}

/**
 * Writes a layout as an operand.
 *
 * @param {number} slot  0 to 3
 * @param {Layout} layout
 */
function put(slot, layout) {
  const { f64, i32 } = frame
  const at = OPERANDS + slot * SIZE_OF_OPERAND
  const { storage, shape, strides, offset } = layout
  putStorage(f64, at, storage)
  i32[2 * (at + OFFSET)] = offset
  i32[2 * (at + HEAD)] =
    layout.dtype | (shape.length << NDIM) | ((layout.flags & READ_ONLY) << FLAGS)
  const first = 2 * (at + AXES)
  const isSmall =
    shape.length === 2 ? putMatrix(i32, first, shape, strides) : putAxes(i32, first, shape, strides)
  if (!isSmall || offset !== (offset | 0)) putWide(at, layout)
}

/**
 * Writes the lower 32 bits of shape and strides.
 *
 * @param {Int32Array} i32  the call buffer
 * @param {number} at  index in it
 * @param {number[]} shape
 * @param {number[]} strides
 * @returns {boolean} whether all of them fit into 32 bits
 */
function putAxes(i32, at, shape, strides) {
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
 * putAxes for two axes, without a loop.
 *
 * @param {Int32Array} i32
 * @param {number} at
 * @param {number[]} shape
 * @param {number[]} strides
 */
function putMatrix(i32, at, shape, strides) {
  const height = shape[0]
  const width = shape[1]
  const down = strides[0]
  const right = strides[1]
  i32[at] = height
  i32[at + 2] = down
  i32[at + 4] = width
  i32[at + 6] = right
  return (
    height === (height | 0) && width === (width | 0) && down === (down | 0) && right === (right | 0)
  )
}

/**
 * Writes the upper 32 bits of an operand's integers.
 *
 * @param {number} at
 * @param {Layout} layout
 */
function putWide(at, { shape, strides, offset }) {
  const { i32 } = frame
  i32[2 * (at + HEAD)] |= 1 << WIDE
  i32[2 * (at + OFFSET) + 1] = upper(offset)
  for (let d = 0, k = 2 * (at + AXES); d < shape.length; d++, k += 4) {
    i32[k + 1] = upper(shape[d])
    i32[k + 3] = upper(strides[d])
  }
}

/** @param {number} x  an integer @returns {number} its bits above the lower 32 */
const upper = (x) => Math.floor(x / 2 ** 32)

/**
 * Writes a layout as the first operand, for functions of the addon that have no opcode.
 *
 * @param {Layout} layout  whose storage has an address
 * @param {boolean} readOnly  marked so even if the layout is not
 */
function putOperand(layout, readOnly) {
  put(0, layout)
  if (readOnly) frame.i32[2 * (OPERANDS + HEAD)] |= READ_ONLY << FLAGS
}

/**
 * Writes an integer of 64 bits.
 *
 * @param {number} at  index in the call buffer
 * @param {number} x
 */
function putInteger(at, x) {
  const { i32 } = frame
  i32[2 * at] = x
  i32[2 * at + 1] = x === (x | 0) ? x >> 31 : upper(x)
}

/**
 * Writes a list of integers: its length (-1 for null), whether any needs 64 bits, the integers.
 *
 * @param {number} at  index in the call buffer
 * @param {readonly number[] | null} list
 * @returns {number} index after it
 */
function putList(at, list) {
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
  for (let i = 0; i < (isWide !== 0 ? n : 0); i++) {
    putInteger(at + 1 + i, /** @type {readonly number[]} */ (list)[i])
  }
  return at + 1 + Math.max(n, 0)
}

const KINDS = { BOOL: 0, INT: 1, UINT: 2, REAL: 3, COMPLEX: 4 }

/**
 * Writes a scalar.
 *
 * @param {number} at  index in the call buffer
 * @param {boolean | number | bigint | [number, number]} value
 */
function putScalar(at, value) {
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
 * Makes a Layout of the one that C wrote.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function readLayout(storage, flags) {
  const { i32 } = frame
  const head = i32[2 * (OUT + HEAD)]
  if (head >> WIDE !== 0) return readWideLayout(storage, flags)
  const n = head >> NDIM
  const shape = n === 2 ? [i32[FIRST], i32[FIRST + 4]] : readIntegers(FIRST, n)
  const strides = n === 2 ? [i32[FIRST + 2], i32[FIRST + 6]] : readIntegers(FIRST + 2, n)
  return new Layout(
    storage,
    head & 255,
    shape,
    strides,
    i32[2 * (OUT + OFFSET)],
    i32[2 * (OUT + NUMEL)],
    flags,
  )
}

const FIRST = 2 * (OUT + AXES)

/**
 * Reads integers of 32 bits. By literals, because V8 gives an array that grows room for 17.
 *
 * @param {number} at  index of the first one's lower half
 * @param {number} n
 * @returns {number[]}
 */
function readIntegers(at, n) {
  const { i32 } = frame
  if (n === 1) return [i32[at]]
  if (n === 3) return [i32[at], i32[at + 4], i32[at + 8]]
  if (n === 4) return [i32[at], i32[at + 4], i32[at + 8], i32[at + 12]]
  return arrayOf(n, (d) => i32[at + 4 * d])
}

/**
 * readLayout where some integers need 64 bits.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function readWideLayout(storage, flags) {
  const head = frame.i32[2 * (OUT + HEAD)]
  const n = (head >> NDIM) & 255
  const shape = arrayOf(n, (d) => readWide(OUT + AXES + 2 * d))
  const strides = arrayOf(n, (d) => readWide(OUT + AXES + 2 * d + 1))
  return new Layout(
    storage,
    head & 255,
    shape,
    strides,
    readWide(OUT + OFFSET),
    readWide(OUT + NUMEL),
    flags,
  )
}

/** @param {number} at  index in the call buffer @returns {number} the integer of 64 bits there, below 2^53 */
const readWide = (at) => frame.i32[2 * at + 1] * 2 ** 32 + (frame.i32[2 * at] >>> 0)

/**
 * A layout that an addon gave, which is in the call buffer.
 *
 * @param {Storage | null} storage  null: C gave a new one's handle, address and size
 * @param {number} flags
 * @returns {Layout}
 */
function received(storage, flags) {
  const { f64 } = frame
  return readLayout(
    storage ?? backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]),
    flags,
  )
}

/**
 * The layout of a DLPack capsule, which is in the call buffer.
 *
 * @param {(number: number) => Storage} pinnedAs  the storage that this thread pinned under a number
 * @returns {Layout}
 */
function takeCapsule(pinnedAs) {
  const { f64 } = frame
  const number = f64[RESULTS + 4]
  const layout = readLayout(nothing, f64[RESULTS + 3] & READ_ONLY)
  layout.storage =
    number >= 0
      ? pinnedAs(number)
      : staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  if (number < 0 && events.listener !== null) events.listener.shared(layout.storage, 'dlpack')
  return layout
}

/** @param {number} i @returns {number} what C wrote over the i-th argument */
const argument = (i) => frame.f64[ARGS + i]

/** @param {number} i @returns {number} the i-th result */
const result = (i) => frame.f64[RESULTS + i]

/**
 * Calls C on staged operands: it writes the first and reads the others.
 *
 * @param {number} opcode
 * @param {Layout} to
 * @param {Layout[]} from
 * @param {number} a
 * @param {number} b
 */
function invokeOn(opcode, to, from, a, b) {
  held.a = to
  held.b = from
  put(0, to)
  for (let i = 0; i < from.length; i++) put(i + 1, from[i])
  frame.f64[RESULTS] = 0
  frame.f64[ARGS] = a
  frame.f64[ARGS + 1] = b
  callBounded(backend.call, opcode)
  held.a = held.b = null
  check()
  if (frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS])
}

/**
 * Tells C of an error in JavaScript: its message goes into the call buffer.
 *
 * @param {unknown} error
 * @returns {number} its status
 */
function leave(error) {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error ?? {})
  const status = codes.indexOf(/** @type {any} */ (code))
  /** @type {any} */ const native = backend
  native.leaveText(
    status > 0 ? String(message) : 'JavaScript could not run (out of memory, or of stack)',
  )
  return status > 0 ? status : codes.indexOf('ERR_MEMORY')
}

/**
 * @param {number} status
 * @param {string} text
 * @returns {Error} what C says went wrong
 */
const errorOf = (status, text) =>
  failure(
    codes[status] ?? 'ERR_ARGUMENT',
    text === '' ? `an addon refused: ${codes[status]}` : text,
  )

module.exports = {
  backend,
  opcodes,
  tables,
  frame,
  codes,
  held,
  check,
  lastError,
  callBounded,
  isForAgain,
  invoke,
  invokeWith,
  invokeOn,
  putStorage,
  putStorages,
  put,
  putOperand,
  putInteger,
  putList,
  putScalar,
  readLayout,
  received,
  takeCapsule,
  argument,
  result,
  leave,
  errorOf,
  STATUS,
  RESULTS,
  OPERANDS,
  ARGS,
  ADDRESS,
  SIZE_OF_OPERAND,
  SCRATCH,
  ALIGNMENT,
}
