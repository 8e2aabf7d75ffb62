'use strict'
// Calls into arithmetic: the addon samebytes_math, or its WebAssembly modules, by the core's call buffer. Loaded when samebytes/math is.

const { failure } = require('../../base/errors')
const { claim, countStaged, deviceOfStorage, isOnDevice, nameOfDevice, room } = require('../../backend/storage')
const { backend, frame, held, check, lastError, callBounded, isForAgain, put, putScalar, STATUS, RESULTS, ARGS, SCRATCH } = require('../../backend/call-buffer')
const { stage, unstage } = require('../../backend/staging')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */
/** @typedef {boolean | number | bigint | [number, number]} Scalar */
/**
 * Which of three sources are scalars.
 *
 * @typedef {object} Choice
 * @property {number} mask  a bit for each source that is a scalar
 * @property {number} dtype  of the scalars, but of a condition
 * @property {Scalar} first  of the scalars
 * @property {Scalar} last  the other one, or the same
 * @property {number} of  dtypes of the sources: the first one's
 * @property {number} second
 * @property {number} third
 */

/**
 * A call that an asynchronous function asks for; math/later.js runs it.
 *
 * @typedef {object} Deferred
 * @property {Layout} to
 * @property {Layout[]} from
 * @property {number[] | null} follows  the target's axis that each axis of the one source follows, -1: a part of the target needs all of it; null:
 *   each source is broadcast to the target
 * @property {readonly number[] | null} whole  axes of the target that are not cut; null: none is
 * @property {(to: Layout, from: Layout[], also: readonly Layout[]) => void} run  calls C on the operands, on parts of them, or on copies
 * @property {boolean} isHere  run calls functions of the core: it stays on this thread
 * @property {readonly Layout[]} also  more targets, of a call that is run whole
 */

/** How calls run; math/later.js changes that. */
const mode = {
  /**
   * Where calls are noted instead of being run, and layouts over new bytes; isFixed: other threads may write these.
   *
   * @type {{ calls: Deferred[], made: Layout[], isFixed: boolean } | null}
   */
  deferred: null,
  /** the next call runs on another thread, and this is called afterwards @type {(() => void) | null} */
  done: null
}

const { tables, algorithms, call: callNow, start } = backend.isWasm ? require('./wasm-side').openMath(/** @type {any} */ (backend)) : /** @type {any} */ (backend).openMath()

/**
 * Calls C on what is in the call buffer.
 *
 * @param {number} row
 */
function call (row) {
  if (mode.done === null) {
    callBounded(callNow, row)
  } else {
    frame.f64[SCRATCH] = room()
    start(row, mode.done)
  }
}

/**
 * Begins a call on another thread.
 *
 * @param {() => void} run  calls C once, by `call`, on operands that do not move and are held until done is called
 * @param {(finished: boolean, error: Error | null) => void} done  called on a later turn
 * @returns {number} its number, for backend.stopCopy
 */
function callOnThread (run, done) {
  let id = 0
  mode.done = () => {
    const { f64 } = frame
    const status = f64[STATUS]
    const finished = f64[RESULTS] !== 0
    if (f64[RESULTS + 1] > 0) countStaged(f64[RESULTS + 1])
    if (f64[SCRATCH] !== 0 && isForAgain()) anew(run, done)
    else done(finished, status === 0 ? null : lastError(status))
  }
  try {
    run()
    id = frame.f64[RESULTS]
  } finally {
    mode.done = null
  }
  return id
}

/**
 * Begins a call that was refused memory once more: there is enough. It cannot be stopped.
 *
 * @param {() => void} run
 * @param {(finished: boolean, error: Error | null) => void} done
 */
function anew (run, done) {
  try {
    callOnThread(run, done)
  } catch (error) {
    done(false, /** @type {Error} */ (error))
  }
}

/** Number of each function that arithmetic has for the call buffer; those of algorithms follow (algorithms.js). @type {Record<string, number>} */
const rows = Object.fromEntries(tables.exports.slice(0, tables.exports.length - 1).map((/** @type {string} */ name, /** @type {number} */ index) => [name, index]))

/** Number of each elementwise function, by its name in C. @type {Record<string, number>} */
const ops = Object.fromEntries(tables.ops.map((/** @type {any} */ row, /** @type {number} */ index) => [row === null ? '' : row[0], index]))

/** A dtype of no number: what is computed in follows from the sources. */
const NONE = -1

/** A scalar's place where there are three sources. */
const CHOICE = 2

/** Results' dtypes by function and dtypes of sources. @type {number[]} */
const results = []

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

/**
 * @param {Layout} layout
 * @param {string} name  for the message
 * @param {string} way  what to do, for the message
 */
function checkHost ({ storage }, name, way) {
  if (isOnDevice(storage)) throw failure('ERR_UNSUPPORTED', `${name} is on ${nameOfDevice(deviceOfStorage(storage))}; arithmetic is the CPU's, and ${way}`)
}

/**
 * Computes an elementwise function. All operands are in the CPU's memory (math/operands.js).
 *
 * @param {number} op
 * @param {Layout} to  writable; gets the result
 * @param {Layout} a
 * @param {Layout | null} b  null: there is no second source
 * @param {Layout | null} c  null: there is no third one
 * @param {number} asked  a dtype, or NONE
 * @param {number} casting
 * @param {Scalar | Choice} [scalar]  a source beside the one that is given; or those beside a, or a and b, where the function has three
 * @param {number} [place]  the scalar's; CHOICE: the function has three sources
 * @throws ERR_SHAPE, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY
 */
function elementwise (op, to, a, b, c, asked, casting, scalar, place = 0) {
  if (mode.deferred !== null) {
    const sources = c !== null ? [a, /** @type {Layout} */ (b), c] : b !== null ? [a, b] : [a]
    defer(to, sources, null, [], (target, x) => { elementwise(op, target, x[0], b && x[1], c && x[2], asked, casting, scalar, place) })
    return
  }
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
 * @param {Scalar | Choice | undefined} scalar
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
 * @param {Scalar | Choice | undefined} scalar
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
  if (place === CHOICE) {
    putChoice(a, b, /** @type {Choice} */ (scalar))
    call(rows.choice)
  } else if (scalar !== undefined) {
    f64[ARGS + 3] = place
    putScalar(ARGS + 4, /** @type {Scalar} */ (scalar))
    call(rows.with_scalar)
  } else {
    call(b === null ? rows.unary : c === null ? rows.binary : rows.ternary)
  }
  held.a = held.b = null
  finish()
}

/**
 * @param {Layout} a
 * @param {Layout | null} b
 * @param {Choice} choice
 */
function putChoice (a, b, { mask, dtype, first, last }) {
  const { f64 } = frame
  if (b === null) put(2, a)
  f64[ARGS + 3] = mask
  f64[ARGS + 4] = dtype
  putScalar(ARGS + 5, first)
  putScalar(ARGS + 8, last)
}

/** Ends a call whose result is how many bytes it staged. */
function finish () {
  check()
  if (mode.done === null && frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS])
}

/**
 * Runs the caller's code, getters of lists: functions that it calls are not deferred.
 *
 * @template T
 * @param {() => T} fn
 * @returns {T}
 */
function notDeferred (fn) {
  const { deferred } = mode
  mode.deferred = null
  try {
    return fn()
  } finally {
    mode.deferred = deferred
  }
}

/**
 * Notes a call for later: it claims its operands' storages.
 *
 * @param {Layout} to
 * @param {Layout[]} from
 * @param {Deferred['follows']} follows
 * @param {Deferred['whole']} whole
 * @param {Deferred['run']} run
 * @param {boolean} [isHere]
 * @param {readonly Layout[]} [also]
 */
function defer (to, from, follows, whole, run, isHere = false, also = []) {
  const { calls } = /** @type {NonNullable<typeof mode.deferred>} */ (mode.deferred)
  claim(to.storage)
  for (let i = 0; i < also.length; i++) claim(also[i].storage)
  for (let i = 0; i < from.length; i++) claim(from[i].storage)
  calls.push({ to, from, follows, whole, run, isHere, also })
}

module.exports = { ops, tables, algorithms, rows, mode, call, callOnThread, notDeferred, defer, finish, checkHost, NONE, CHOICE, resultOf, elementwise }
