'use strict'
// Calls that read and write elements, copies and fills apart, and questions about dtypes.

const { isOnDevice, countStaged } = require('./storage')
const buffer = require('./call-buffer')
const { backend, opcodes, frame, held, put, putScalar, invoke, invokeWith, callBounded, check } =
  buffer
const { RESULTS, OPERANDS, ARGS, ADDRESS, SIZE_OF_OPERAND, ALIGNMENT } = buffer
const { dense } = require('./layout-calls')
const { checkAttached, allocate, stage, unstage } = require('./staging')
const { copy, invokeStaged } = require('./copies')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * Stages an operand of a function that only the CPU has: bytes on a device are copied to the CPU's memory for the call.
 *
 * @param {Layout} layout
 * @param {boolean} read  whether C reads it; else C writes all of its elements
 * @returns {Layout} the operand
 * @throws as stage
 */
function stageOnCpu(layout, read) {
  const there = stage(layout)
  if (!isOnDevice(there.storage)) return there
  const here = dense(layout.dtype, layout.shape)
  here.storage = allocate(here.nbytes)
  try {
    backend.addressOf(here.storage)
    if (read) copy(here, layout, 0)
  } catch (error) {
    backend.release(here.storage)
    throw error
  }
  countStaged(here.storage.nbytes)
  return here
}

/**
 * Ends what `stageOnCpu` began.
 *
 * @param {Layout} staged  the operand
 * @param {Layout} layout
 * @param {boolean} written
 */
function unstageFromCpu(staged, layout, written) {
  if (staged === layout) return
  if (!isOnDevice(layout.storage)) return unstage(staged, layout, written)
  try {
    if (written) copy(layout, staged, 0)
  } finally {
    backend.release(staged.storage)
  }
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number} the dtype in which both meet
 */
function promoteTypes(a, b) {
  return invokeWith(opcodes.promote_types, a, b)
}

/**
 * @param {number} dtype
 * @returns {{ eps: number, max: number, smallestNormal: number }}
 */
function finfo(dtype) {
  const eps = invokeWith(opcodes.finfo, dtype)
  const { f64 } = frame
  return { eps, max: f64[RESULTS + 1], smallestNormal: f64[RESULTS + 2] }
}

/**
 * @param {Layout} layout
 * @returns {string} 16 hexadecimal digits; equal elements give equal ones
 */
function hash(layout) {
  const source = stageOnCpu(layout, true)
  held.a = source
  put(0, source)
  backend.call(opcodes.hash)
  held.a = null
  try {
    check()
    const low = frame.f64[RESULTS] // of 32 bits, as high
    const high = frame.f64[RESULTS + 1]
    return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0')
  } finally {
    unstageFromCpu(source, layout, false)
  }
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @returns {boolean} whether an element of the one has a byte of the other
 */
function sharesMemory(a, b) {
  checkAttached(a.storage)
  checkAttached(b.storage)
  if (isOnDevice(a.storage) !== isOnDevice(b.storage)) return false
  if (a.storage !== b.storage && (a.storage.block !== null || b.storage.block !== null)) {
    return false
  }
  const unplaced = backend.isWasm && (a.storage.address === null || b.storage.address === null)
  if (unplaced && a.storage.buffer !== b.storage.buffer) return false
  if (!unplaced) {
    backend.addressOf(a.storage)
    backend.addressOf(b.storage)
  }
  held.a = a
  held.b = b
  put(0, a)
  put(1, b)
  if (unplaced) {
    // C touches no byte: offsets in their buffer do as addresses
    frame.f64[OPERANDS + ADDRESS] = ALIGNMENT + a.storage.byteOffset
    frame.f64[OPERANDS + SIZE_OF_OPERAND + ADDRESS] = ALIGNMENT + b.storage.byteOffset
  }
  callBounded(backend.call, opcodes.shares_memory)
  held.a = held.b = null
  check()
  return frame.f64[RESULTS] !== 0
}

/**
 * @param {Layout} dst  of the source's dtype; shares no byte with it
 * @param {Layout} src
 * @param {Layout} indices  into the source's axis
 * @param {number} axis
 */
function take(dst, src, indices, axis) {
  invokeStaged(opcodes.take, dst, [src, indices], axis, 0, stageOnCpu, unstageFromCpu)
}

/**
 * Asks C whether something holds for two layouts.
 *
 * @param {number} opcode
 * @param {Layout} a
 * @param {Layout} b
 * @param {() => void} putArguments
 * @returns {boolean}
 */
function judge(opcode, a, b, putArguments) {
  const x = stageOnCpu(a, true)
  try {
    const y = stageOnCpu(b, true)
    try {
      held.a = x
      held.b = y
      put(0, x)
      put(1, y)
      putArguments()
      backend.call(opcode)
      held.a = held.b = null
      check()
      return frame.f64[RESULTS] !== 0
    } finally {
      unstageFromCpu(y, b, false)
    }
  } finally {
    unstageFromCpu(x, a, false)
  }
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @param {boolean} equalNaN
 * @returns {boolean}
 */
const arrayEqual = (a, b, equalNaN) =>
  judge(opcodes.array_equal, a, b, () => {
    frame.f64[ARGS] = equalNaN ? 1 : 0
  })

/**
 * @param {Layout} a
 * @param {Layout} b
 * @param {number} rtol
 * @param {number} atol
 * @param {boolean} equalNaN
 * @returns {boolean}
 */
function allClose(a, b, rtol, atol, equalNaN) {
  return judge(opcodes.all_close, a, b, () => {
    putScalar(ARGS, rtol)
    putScalar(ARGS + 3, atol)
    frame.f64[ARGS + 6] = equalNaN ? 1 : 0
  })
}

/**
 * Fills a layout with what C computes: ranges, random numbers.
 *
 * @param {number} opcode
 * @param {Layout} layout
 * @param {(number | bigint)[]} scalars
 * @param {number} number  after the scalars, for opcodes that take one
 * @returns {number} the call's result
 */
function generate(opcode, layout, scalars, number) {
  const target =
    opcode === opcodes.arange || opcode === opcodes.linspace
      ? stageOnCpu(layout, false)
      : stage(layout)
  try {
    held.a = target
    put(0, target)
    for (let i = 0; i < scalars.length; i++) putScalar(ARGS + 3 * i, scalars[i])
    frame.f64[ARGS + 3 * scalars.length] = number
    callBounded(backend.call, opcode)
    held.a = null
    check()
    const result = frame.f64[RESULTS]
    unstageFromCpu(target, layout, true)
    return result
  } catch (error) {
    unstageFromCpu(target, layout, false)
    throw error
  }
}

/**
 * Throws where values from start on, step apart, do not all fit into a dtype.
 *
 * @param {number} dtype
 * @param {number} size
 * @param {number | bigint} start
 * @param {number | bigint} step
 */
function checkArange(dtype, size, start, step) {
  frame.f64[ARGS] = dtype
  frame.f64[ARGS + 1] = size
  putScalar(ARGS + 2, start)
  putScalar(ARGS + 5, step)
  invoke(opcodes.arange_check)
}

module.exports = {
  promoteTypes,
  finfo,
  hash,
  sharesMemory,
  take,
  arrayEqual,
  allClose,
  generate,
  checkArange,
}
