'use strict'
// Copies between layouts.

const { Uint8Array, arraySlice, typedSet } = require('../base/primordials')
const { failure } = require('../base/errors')
const { isOnDevice, countStaged } = require('./storage')
const { itemsizes } = require('./dtypes')
const { CONTIGUOUS } = require('./layout')
const { backend, rows, frame, codes, held, check, invokeOn, put, putStorage, STATUS, RESULTS, OPERANDS, ARGS, ADDRESS, SIZE_OF_OPERAND, ALIGNMENT } = require('./call-buffer')
const { checkAttached } = require('./storage-checks')
const { isContiguous } = require('./layout-calls')
const { reach, settle } = require('./staging')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * Runs a row whose first operand is written and whose others are read.
 *
 * @param {number} row
 * @param {Layout} target
 * @param {Layout[]} sources
 * @param {number} a
 * @param {number} b
 */
function write (row, target, sources, a, b) {
  const to = reach(target)
  /** @type {Layout[]} */
  const from = arraySlice(sources)
  let reached = 0
  try {
    for (; reached < sources.length; reached++) from[reached] = reach(sources[reached])
    invokeOn(row, to, from, a, b)
    settle(to, target, true)
  } catch (error) {
    settle(to, target, false)
    throw error
  } finally {
    for (let i = 0; i < reached; i++) settle(from[i], sources[i], false)
  }
}

const FEW_BYTES = 2 ** 16 // beyond, streaming and threads pay

/**
 * Few elements of one dtype and shape, known to be dense: their bytes in one stretch are all there is to copy.
 *
 * @param {Layout} a
 * @param {Layout} b
 */
function arePlain (a, b) {
  if (a.dtype !== b.dtype || a.size !== b.size || (a.flags & b.flags & CONTIGUOUS) === 0 || a.size > FEW_BYTES / 16) return false
  if (isOnDevice(a.storage) || isOnDevice(b.storage)) return false
  const x = a.shape
  const y = b.shape
  if (x === y) return true
  if (x.length !== y.length) return false
  for (let d = 0; d < x.length; d++) if (x[d] !== y[d]) return false
  return true
}

/**
 * @param {Layout} dst  within reach, and held
 * @param {Layout} src  likewise, and plain beside it
 */
function copyBytes (dst, src) {
  const { f64 } = frame
  const itemsize = itemsizes[dst.dtype]
  putStorage(f64, OPERANDS, dst.storage)
  putStorage(f64, OPERANDS + SIZE_OF_OPERAND, src.storage)
  f64[ARGS] = dst.offset * itemsize
  f64[ARGS + 1] = src.offset * itemsize
  f64[ARGS + 2] = dst.size * itemsize
  backend.call(rows.copy_bytes)
  held.a = held.b = null
  if (f64[STATUS] !== 0) check()
}

/**
 * The caller's bytes on either side, and both in the same order without gaps: the runtime can copy them, while a kernel
 * would need them in linear memory first.
 *
 * @param {Layout} dst
 * @param {Layout} src
 */
function areSameOutside (dst, src) {
  if (dst.dtype !== src.dtype || dst.size !== src.size || (dst.storage.address !== null && src.storage.address !== null)) return false
  const { length } = dst.shape
  if (length !== src.shape.length) return false
  for (let d = 0; d < length; d++) if (dst.shape[d] !== src.shape[d]) return false
  return isContiguous(dst) && isContiguous(src)
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 */
function copyOutside (dst, src) {
  typedSet(bytesWithin(dst), bytesWithin(src))
}

/**
 * A dense layout's bytes where they are.
 *
 * @param {Layout} layout
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesWithin ({ storage, dtype, offset, size }) {
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  const buffer = /** @type {ArrayBuffer} */ (backend.bufferOf(storage, check))
  if (size === 0) return new Uint8Array(0)
  return new Uint8Array(buffer, storage.byteOffset + offset * itemsizes[dtype], size * itemsizes[dtype])
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {number} casting
 */
function copy (dst, src, casting) {
  if (backend.isWasm) { // may stage, which takes more care
    if (areSameOutside(dst, src)) copyOutside(dst, src)
    else write(rows.copy, dst, [src], casting, 0)
    return
  }
  reach(dst)
  reach(src)
  held.a = dst
  held.b = src
  if (arePlain(dst, src)) {
    copyBytes(dst, src)
    return
  }
  put(0, dst)
  put(1, src)
  const { f64 } = frame
  f64[RESULTS] = 0
  f64[ARGS] = casting
  backend.call(rows.copy)
  held.a = held.b = null
  if (f64[STATUS] !== 0) check()
  if (f64[RESULTS] > 0) countStaged(f64[RESULTS])
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Layout} scale
 * @param {Layout} bias
 * @param {number} axis
 * @param {number} casting
 */
function copyScaled (dst, src, scale, bias, axis, casting) {
  write(rows.copy_scaled, dst, [src, scale, bias], axis, casting)
}

/**
 * @param {Layout} dst
 * @param {Layout} src  of values that a person wrote
 */
function copyValues (dst, src) {
  write(rows.copy_values, dst, [src], 0, 0)
}

/**
 * A copy that takes more than one call.
 *
 * @typedef {object} Copy
 * @property {Layout} dst
 * @property {Layout} src
 * @property {Scaling | null} scaling
 * @property {number} casting
 */

/** @typedef {{ scale: Layout, bias: Layout, axis: number }} Scaling factors, as copyScaled takes them */

/**
 * Writes a copy's operands where no byte will be touched in this call: none is staged.
 *
 * @param {Copy} copy
 */
function putCopy ({ dst, src, scaling, casting }) {
  const operands = scaling === null ? [dst, src] : [dst, src, scaling.scale, scaling.bias]
  for (let i = 0; i < operands.length; i++) {
    const { storage } = operands[i]
    checkAttached(storage)
    backend.addressOf(storage)
  }
  held.a = operands
  const { f64 } = frame
  for (let i = 0; i < operands.length; i++) {
    const { storage } = operands[i]
    put(i, operands[i])
    // A place in its buffer does as an address.
    if (storage.address === null) f64[OPERANDS + i * SIZE_OF_OPERAND + ADDRESS] = ALIGNMENT + storage.byteOffset
  }
  f64[ARGS] = scaling === null ? casting : scaling.axis
  f64[ARGS + 1] = casting
}

/**
 * Throws what the copy would throw before it writes.
 *
 * @param {Copy} copy
 * @returns {boolean} whether its pieces would get into each other's way: the target overlaps the source
 */
function checkCopy (copy) {
  const { dst: { storage: to }, src: { storage: from } } = copy
  putCopy(copy)
  backend.call(copy.scaling === null ? rows.copy_check : rows.copy_scaled_check)
  held.a = null
  check()
  const comparable = to.address === null ? from.address === null && to.buffer === from.buffer : from.address !== null
  return comparable && frame.f64[RESULTS] !== 0
}

/**
 * Begins a copy on another thread; all its storages are fixed, and held until done is called.
 *
 * @param {Copy} copy
 * @param {(finished: boolean, error: Error | null) => void} done  called on a later turn
 * @returns {number} its number, for backend.stopCopy
 */
function startCopy (copy, done) {
  putCopy(copy)
  backend.startCopy(copy.scaling !== null, () => {
    const status = frame.f64[STATUS]
    done(frame.f64[RESULTS] !== 0, status === 0 ? null : failure(codes[status], backend.text()))
  })
  held.a = null
  check()
  const { f64 } = frame
  if (f64[RESULTS + 1] > 0) countStaged(f64[RESULTS + 1])
  return f64[RESULTS]
}

module.exports = { bytesWithin, copy, copyScaled, copyValues, putCopy, checkCopy, startCopy }
