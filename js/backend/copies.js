'use strict'
// Copies between layouts, at once and on other threads, the casts that they may do, and fills.

const { lengthOf } = require('../base/buffers')
const { failure } = require('../base/errors')
const { isOnDevice, countStaged, bytesLeft } = require('./storage')
const { itemsizes } = require('./dtypes')
const { CONTIGUOUS } = require('./layout')
const buffer = require('./call-buffer')
const { backend, opcodes, frame, held, put, putScalar, putStorage } = buffer
const { invokeWith, invokeOn, callBounded, isForAgain, check, lastError } = buffer
const { STATUS, RESULTS, OPERANDS, ARGS, ADDRESS, SIZE_OF_OPERAND, SCRATCH, ALIGNMENT } = buffer
const { isContiguous } = require('./layout-calls')
const { checkAttached, stage, unstage } = require('./staging')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * @param {number} from
 * @param {number} to
 * @param {number} casting
 * @returns {boolean} whether a copy may change the one dtype into the other
 */
function canCast(from, to, casting) {
  return invokeWith(opcodes.can_cast, from, to, casting) !== 0
}

/**
 * Stages operands and calls C, which writes the target and reads the sources.
 *
 * @param {number} opcode
 * @param {Layout} target
 * @param {Layout[]} sources
 * @param {number} a
 * @param {number} b
 * @param {(layout: Layout, read: boolean) => Layout} [begin]  as stage; read: C reads it
 * @param {(staged: Layout, layout: Layout, written: boolean) => void} [end]  what ends that
 */
function invokeStaged(opcode, target, sources, a, b, begin = stage, end = unstage) {
  const to = begin(target, false)
  const from = sources.slice()
  let staged = 0
  try {
    for (; staged < sources.length; staged++) from[staged] = begin(sources[staged], true)
    invokeOn(opcode, to, from, a, b)
    end(to, target, true)
  } catch (error) {
    end(to, target, false)
    throw error
  } finally {
    for (let i = 0; i < staged; i++) end(from[i], sources[i], false)
  }
}

const FEW_BYTES = 2 ** 16 // with more, non-temporal stores and threads pay, which C's `copy` has and `copy_bytes` has not

/**
 * Have two layouts one dtype and shape? If both are dense as well, copying one to the other is copying its bytes.
 *
 * @param {Layout} a
 * @param {Layout} b
 */
function areAlike(a, b) {
  if (a.dtype !== b.dtype || a.size !== b.size) return false
  const x = a.shape
  const y = b.shape
  if (x === y) return true
  if (x.length !== y.length) return false
  for (let d = 0; d < x.length; d++) if (x[d] !== y[d]) return false
  return true
}

/**
 * Is it a plain copy of few bytes, on the CPU? C is not asked: both have to be known to be dense.
 *
 * @param {Layout} dst
 * @param {Layout} src
 */
function isPlain(dst, src) {
  return (
    (dst.flags & src.flags & CONTIGUOUS) !== 0 &&
    dst.size <= FEW_BYTES / 16 &&
    areAlike(dst, src) &&
    !isOnDevice(dst.storage) &&
    !isOnDevice(src.storage)
  )
}

/**
 * Is it a plain copy that need not pass through linear memory, because either side lies outside of it?
 *
 * @param {Layout} dst
 * @param {Layout} src
 */
function isPlainOutside(dst, src) {
  return (
    (dst.storage.address === null || src.storage.address === null) &&
    areAlike(dst, src) &&
    isContiguous(dst) &&
    isContiguous(src)
  )
}

/**
 * @param {Layout} dst  staged, and in `held`
 * @param {Layout} src  likewise; isPlain
 */
function copyBytes(dst, src) {
  const { f64 } = frame
  const itemsize = itemsizes[dst.dtype]
  putStorage(f64, OPERANDS, dst.storage)
  putStorage(f64, OPERANDS + SIZE_OF_OPERAND, src.storage)
  f64[ARGS] = dst.offset * itemsize
  f64[ARGS + 1] = src.offset * itemsize
  f64[ARGS + 2] = dst.size * itemsize
  backend.call(opcodes.copy_bytes)
  held.a = held.b = null
  if (f64[STATUS] !== 0) check()
}

/**
 * @param {Layout} layout  dense
 * @returns {Uint8Array<ArrayBuffer>} over its bytes, which stay where they are
 * @throws ERR_DISPOSED · ERR_DETACHED
 */
function bytesWithin({ storage, dtype, offset, size }) {
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  const buffer = /** @type {ArrayBuffer} */ (backend.bufferOf(storage, check))
  if (size === 0) return new Uint8Array(0)
  return new Uint8Array(
    buffer,
    storage.byteOffset + offset * itemsizes[dtype],
    size * itemsizes[dtype],
  )
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {number} casting
 */
function copy(dst, src, casting) {
  if (!areReachable(dst, src)) {
    // may make copies, which have to be freed
    if (isPlainOutside(dst, src)) bytesWithin(dst).set(bytesWithin(src))
    else invokeStaged(opcodes.copy, dst, [src], casting, 0)
    return
  }
  if (isPlain(dst, src)) {
    stage(dst)
    stage(src)
    held.a = dst
    held.b = src
    copyBytes(dst, src)
    return
  }
  putPair(dst, src)
  frame.f64[ARGS] = casting
  callCopy(opcodes.copy)
}

/**
 * Does C reach the bytes of both, without copies of them?
 *
 * @param {Layout} dst
 * @param {Layout} src
 */
const areReachable = (dst, src) =>
  !backend.isWasm || (dst.storage.address !== null && src.storage.address !== null)

/**
 * Writes the operands of a copy.
 *
 * @param {Layout} dst  areReachable
 * @param {Layout} src
 */
function putPair(dst, src) {
  stage(dst)
  stage(src)
  held.a = dst
  held.b = src
  put(0, dst)
  put(1, src)
}

/** @param {number} opcode  of a copy whose operands and arguments are in the call buffer */
function callCopy(opcode) {
  frame.f64[RESULTS] = 0
  callBounded(backend.call, opcode)
  held.a = held.b = null
  const { f64 } = frame // WebAssembly's memory may have grown
  if (f64[STATUS] !== 0) check()
  if (f64[RESULTS] > 0) countStaged(f64[RESULTS])
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Scaling} scaling
 * @param {number} casting
 */
function copyScaled(dst, src, scaling, casting) {
  const { numbers, axis } = scaling
  const here = numbers !== null && areReachable(dst, src)
  if (
    !here ||
    factorCount(numbers.scale) > MOST_NUMBERS ||
    factorCount(numbers.bias) > MOST_NUMBERS
  ) {
    invokeStaged(opcodes.copy_scaled, dst, [src, scaling.scale, scaling.bias], axis, casting)
    return
  }
  putPair(dst, src)
  const { f64 } = frame
  f64[ARGS] = axis
  f64[ARGS + 1] = casting
  const at = putNumbers(f64, ARGS + 2, numbers.scale)
  putNumbers(f64, at, numbers.bias)
  callCopy(opcodes.copy_by_numbers)
}

const MOST_NUMBERS = 256 // for which there is room in the call buffer, twice

/** @param {number | Float64Array} factor */
const factorCount = (factor) => (typeof factor === 'number' ? 1 : lengthOf(factor))

/**
 * Writes a factor: how many numbers (-1: one for all elements), the numbers.
 *
 * @param {Float64Array} f64  the call buffer
 * @param {number} at  index in it
 * @param {number | Float64Array} factor
 * @returns {number} index after it
 */
function putNumbers(f64, at, factor) {
  if (typeof factor === 'number') {
    f64[at] = -1
    f64[at + 1] = factor
    return at + 2
  }
  const n = lengthOf(factor)
  f64[at] = n
  for (let i = 0; i < n; i++) f64[at + 1 + i] = factor[i]
  return at + 1 + n
}

/**
 * @param {Layout} dst
 * @param {Layout} src  of numbers as the user wrote them: out of range is an error, not a wrap
 */
function copyValues(dst, src) {
  invokeStaged(opcodes.copy_values, dst, [src], 0, 0)
}

/**
 * @param {Layout} layout
 * @param {boolean | number | bigint | [number, number]} value
 */
function fill(layout, value) {
  const target = stage(layout)
  held.a = target
  put(0, target)
  putScalar(ARGS, value)
  callBounded(backend.call, opcodes.fill)
  held.a = null
  try {
    // before unstage, which calls C
    check()
  } catch (error) {
    unstage(target, layout, false)
    throw error
  }
  unstage(target, layout, true)
}

/**
 * A copy that is checked and begun in one call, and done later.
 *
 * @typedef {object} Copy
 * @property {Layout} dst
 * @property {Layout} src
 * @property {Scaling | null} scaling
 * @property {number} casting
 */

/** @typedef {{ scale: number | Float64Array, bias: number | Float64Array }} Numbers each one number, or one per index of the axis */
/** @typedef {{ readonly scale: Layout, readonly bias: Layout, axis: number, numbers: Numbers | null }} Scaling factors as float64; numbers: the same ones, or null */

/**
 * Writes a copy's operands without staging them: the call itself touches no byte.
 *
 * @param {Copy} copy
 */
function putCopy({ dst, src, scaling, casting }) {
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
    // Without an address: one that is as aligned as the offset in the buffer.
    if (storage.address === null) {
      f64[OPERANDS + i * SIZE_OF_OPERAND + ADDRESS] = ALIGNMENT + storage.byteOffset
    }
  }
  f64[ARGS] = scaling === null ? casting : scaling.axis
  f64[ARGS + 1] = casting
}

/**
 * Throws what the copy would throw before it writes anything.
 *
 * @param {Copy} copy
 * @returns {boolean} whether the target overlaps the source, so that it cannot be done in pieces
 */
function checkCopy(copy) {
  const to = copy.dst.storage
  const from = copy.src.storage
  putCopy(copy)
  backend.call(copy.scaling === null ? opcodes.copy_check : opcodes.copy_scaled_check)
  held.a = null
  check()
  const comparable =
    to.address === null ? from.address === null && to.buffer === from.buffer : from.address !== null
  return comparable && frame.f64[RESULTS] !== 0
}

/**
 * Begins a copy on another thread.
 *
 * @param {Copy} copy  whose storages do not move, and are held until done is called
 * @param {(finished: boolean, error: Error | null) => void} done  called on a later turn
 * @returns {number} its number, for backend.stopCopy
 */
function startCopy(copy, done) {
  putCopy(copy)
  do {
    frame.f64[SCRATCH] = bytesLeft()
    backend.startCopy(copy.scaling !== null, () => {
      const status = frame.f64[STATUS]
      done(frame.f64[RESULTS] !== 0, status === 0 ? null : lastError(status))
    })
  } while (frame.f64[SCRATCH] !== 0 && isForAgain())
  held.a = null
  check()
  const { f64 } = frame
  if (f64[RESULTS + 1] > 0) countStaged(f64[RESULTS + 1])
  return f64[RESULTS]
}

module.exports = {
  canCast,
  invokeStaged,
  bytesWithin,
  copy,
  copyScaled,
  copyValues,
  fill,
  putCopy,
  checkCopy,
  startCopy,
}
