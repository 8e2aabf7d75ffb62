'use strict'
// Calls into arithmetic: the addon samebytes_math, or its WebAssembly module, by the core's call buffer. Loaded when samebytes/math is.

const { Object, arrayMap, newList } = require('../base/primordials')
const { failure } = require('../base/errors')
const { countStaged, isOnDevice } = require('./storage')
const { backend, frame, held, check, put, putScalar, RESULTS, ARGS } = require('./call-buffer')
const { stage, unstage } = require('./staging')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */
/** @typedef {boolean | number | bigint | [number, number]} Scalar */

const { tables, call } = backend.isWasm ? require('./wasm-math').openMath(/** @type {any} */ (backend)) : /** @type {any} */ (backend).openMath()

/** Number of each function that C has for the call buffer. @type {Record<string, number>} */
const rows = Object.fromEntries(arrayMap(tables.exports, (/** @type {string} */ name, index) => [name, index]))

/** Number of each elementwise function, by its name in C. @type {Record<string, number>} */
const ops = Object.fromEntries(arrayMap(tables.ops, (/** @type {any} */ row, index) => [row === null ? '' : row[0], index]))

/** A dtype of no number: what is computed in follows from the sources. */
const NONE = -1

/** Results' dtypes by function and dtypes of sources. @type {number[]} */
const results = newList()

/**
 * The dtype of a function's result.
 *
 * @param {number} op
 * @param {number} a  dtypes of its sources; those that it has not are the first one's
 * @param {number} b
 * @param {number} c
 * @param {number} asked  the dtype that sources are converted to, or NONE
 * @returns {number}
 * @throws ERR_DTYPE, ERR_CAST
 */
function resultOf (op, a, b, c, asked) {
  const key = a !== c || asked !== NONE ? -1 : op << 10 | a << 5 | b
  if (key >= 0 && results[key] !== undefined) return results[key]
  const { f64 } = frame
  f64[ARGS] = op
  f64[ARGS + 1] = a
  f64[ARGS + 2] = b
  f64[ARGS + 3] = c
  f64[ARGS + 4] = asked
  call(rows.types)
  check()
  const found = frame.f64[RESULTS + 1]
  if (key >= 0) results[key] = found
  return found
}

/** @param {Layout} layout */
function checkHost ({ storage }) {
  if (isOnDevice(storage)) throw failure('ERR_UNSUPPORTED', 'arithmetic is the CPU\'s, and a tensor is on a device; cpu() copies it')
}

/**
 * Computes an elementwise function.
 *
 * @param {number} op
 * @param {Layout} to  writable; gets the result
 * @param {Layout} a
 * @param {Layout | null} b  null: there is no second source
 * @param {Layout | null} c  null: there is no third one
 * @param {number} asked  a dtype, or NONE
 * @param {number} casting
 * @param {Scalar} [scalar]  a source beside the one that is given
 * @param {number} [place]  the scalar's
 * @throws ERR_SHAPE, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY, ERR_UNSUPPORTED a tensor is on a device
 */
function elementwise (op, to, a, b, c, asked, casting, scalar, place = 0) {
  checkHost(to)
  checkHost(a)
  if (b !== null) checkHost(b)
  if (c !== null) checkHost(c)
  if (backend.isWasm) {
    staged(op, to, a, b, c, asked, casting, scalar, place)
    return
  }
  stage(to)
  stage(a)
  if (b !== null) stage(b)
  if (c !== null) stage(c)
  invoke(op, to, a, b, c, asked, casting, scalar, place)
}

/**
 * elementwise on WebAssembly, where operands may have to be copied into linear memory.
 *
 * @param {number} op
 * @param {Layout} to
 * @param {Layout} a
 * @param {Layout | null} b
 * @param {Layout | null} c
 * @param {number} asked
 * @param {number} casting
 * @param {Scalar | undefined} scalar
 * @param {number} place
 */
function staged (op, to, a, b, c, asked, casting, scalar, place) {
  const target = stage(to)
  let x = a
  let y = b
  let z = c
  try {
    x = stage(a)
    if (b !== null) y = stage(b)
    if (c !== null) z = stage(c)
    invoke(op, target, x, y, z, asked, casting, scalar, place)
    unstage(target, to, true)
  } catch (error) {
    unstage(target, to, false)
    throw error
  } finally {
    unstage(x, a, false)
    if (b !== null) unstage(/** @type {Layout} */ (y), b, false)
    if (c !== null) unstage(/** @type {Layout} */ (z), c, false)
  }
}

/**
 * elementwise on operands that C can reach.
 *
 * @param {number} op
 * @param {Layout} to
 * @param {Layout} a
 * @param {Layout | null} b
 * @param {Layout | null} c
 * @param {number} asked
 * @param {number} casting
 * @param {Scalar | undefined} scalar
 * @param {number} place
 */
function invoke (op, to, a, b, c, asked, casting, scalar, place) {
  held.a = to
  held.b = [a, b, c]
  put(0, to)
  put(1, a)
  if (b !== null) put(2, b)
  if (c !== null) put(3, c)
  const { f64 } = frame
  f64[ARGS] = op
  f64[ARGS + 1] = asked
  f64[ARGS + 2] = casting
  if (scalar !== undefined) {
    f64[ARGS + 3] = place
    putScalar(ARGS + 4, scalar)
    call(rows.with_scalar)
  } else {
    call(b === null ? rows.unary : c === null ? rows.binary : rows.ternary)
  }
  held.a = held.b = null
  check()
  if (frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS])
}

module.exports = { ops, tables, rows, call, checkHost, NONE, resultOf, elementwise }
