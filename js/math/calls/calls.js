'use strict'
// Calls into arithmetic: the addon samebytes_math, or its WebAssembly modules, by the core's call buffer. Loaded when samebytes/math is.

const { failure } = require('../../base/errors')
const {
  countStaged,
  deviceOfStorage,
  isOnDevice,
  nameOfDevice,
  bytesLeft,
} = require('../../backend/storage')
const {
  backend,
  frame,
  held,
  check,
  lastError,
  callBounded,
  isForAgain,
  put,
  putScalar,
  STATUS,
  RESULTS,
  ARGS,
  SCRATCH,
} = require('../../backend/call-buffer')
const { checkAttached, stage, unstage } = require('../../backend/staging')
const { ANYWHERE, planned } = require('./plan')

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

/** Is called when the call that is being made has ended on another thread; null: calls run here. @type {(() => void) | null} */
let done = null

const {
  tables,
  algorithms,
  call: callNow,
  start,
} = backend.isWasm
  ? require('./wasm-side').openMath(/** @type {any} */ (backend))
  : /** @type {any} */ (backend).openMath()

/**
 * Calls C on what is in the call buffer.
 *
 * @param {number} row
 */
function call(row) {
  if (done === null) {
    callBounded(callNow, row)
  } else {
    frame.f64[SCRATCH] = bytesLeft()
    start(row, done)
  }
}

/**
 * Begins a call on another thread.
 *
 * @param {() => void} run  calls C once, by `call`, on operands that do not move and are held until done is called
 * @param {(finished: boolean, error: Error | null) => void} then  called on a later turn
 * @returns {number} its number, for backend.stopCopy
 */
function callOnThread(run, then) {
  let id = 0
  done = () => {
    const { f64 } = frame
    const status = f64[STATUS]
    const finished = f64[RESULTS] !== 0
    if (f64[RESULTS + 1] > 0) countStaged(f64[RESULTS + 1])
    if (f64[SCRATCH] === 0 || !isForAgain()) {
      then(finished, status === 0 ? null : lastError(status))
      return
    }
    // It was refused memory, and there is enough: it is begun once more, and cannot be stopped.
    try {
      callOnThread(run, then)
    } catch (error) {
      then(false, /** @type {Error} */ (error))
    }
  }
  try {
    run()
    id = frame.f64[RESULTS]
  } finally {
    done = null
  }
  return id
}

/** Number of each function that arithmetic has for the call buffer; those of algorithms follow (algorithms.js). @type {Record<string, number>} */
const rows = Object.fromEntries(
  tables.exports
    .slice(0, tables.exports.length - 1)
    .map((/** @type {string} */ name, /** @type {number} */ index) => [name, index]),
)

/** Number of each elementwise function, by its name in C. @type {Record<string, number>} */
const ops = Object.fromEntries(
  tables.ops.map((/** @type {any} */ row, /** @type {number} */ index) => [
    row === null ? '' : row[0],
    index,
  ]),
)

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
function dtypeOfResult(op, a, b, c, asked) {
  const key = a !== c || asked !== NONE ? -1 : (op << 10) | (a << 5) | b
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
function checkHost({ storage }, name, way) {
  if (isOnDevice(storage)) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${name} is on ${nameOfDevice(deviceOfStorage(storage))}; arithmetic is the CPU's, and ${way}`,
    )
  }
}

/** @type {readonly Layout[]} */
const NOTHING = []

/**
 * Calls C on operands.
 *
 * @template G
 * @param {number} row
 * @param {Layout | null} to  writable; gets the result; null: the function gives numbers
 * @param {readonly Layout[]} from
 * @param {(sources: readonly Layout[], given: G) => void} putArguments  writes what follows the operands into the call buffer
 * @param {G} given  for it
 * @param {readonly Layout[]} [also]  more targets
 * @throws ERR_DISPOSED, ERR_DETACHED, ERR_MEMORY · as the function in C
 */
function callOn(row, to, from, putArguments, given, also = NOTHING) {
  if (backend.isWasm) {
    callStaged(row, to, from, putArguments, given, also)
    return
  }
  if (to !== null) stage(to)
  for (let i = 0; i < also.length; i++) stage(also[i])
  for (let i = 0; i < from.length; i++) stage(from[i])
  invoke(row, to, from, putArguments, given, also)
}

/**
 * callOn in WebAssembly, on copies of operands that lie outside of its memory; copies results back.
 *
 * @template G
 * @param {number} row
 * @param {Layout | null} to
 * @param {readonly Layout[]} from
 * @param {(sources: readonly Layout[], given: G) => void} putArguments
 * @param {G} given
 * @param {readonly Layout[]} also
 */
function callStaged(row, to, from, putArguments, given, also) {
  const targets = to === null ? [] : [to, ...also]
  const layouts = [...targets, ...from]
  /** @type {Layout[]} those that C can reach */
  const operands = []
  let isDone = false
  try {
    for (const layout of layouts) operands.push(stage(layout))
    for (const layout of targets) checkAttached(layout.storage) // sources' copies may have made memory grow
    const [first = null, ...others] = operands.slice(0, targets.length)
    invoke(row, first, operands.slice(targets.length), putArguments, given, others)
    isDone = true
  } finally {
    // those of targets first, so that results are back where sources share their bytes
    for (let i = 0; i < operands.length; i++) {
      unstage(operands[i], layouts[i], isDone && i < targets.length)
    }
  }
}

/**
 * callOn on operands that C can reach.
 *
 * @template G
 * @param {number} row
 * @param {Layout | null} to
 * @param {readonly Layout[]} from
 * @param {(sources: readonly Layout[], given: G) => void} putArguments
 * @param {G} given
 * @param {readonly Layout[]} also
 */
function invoke(row, to, from, putArguments, given, also) {
  held.a = also.length === 0 ? to : [to, also]
  held.b = from
  let at = 0
  if (to !== null) put(at++, to)
  for (let i = 0; i < also.length; i++) put(at++, also[i])
  for (let i = 0; i < from.length; i++) put(at++, from[i])
  frame.f64[RESULTS] = 0 // some functions have no result
  putArguments(from, given)
  call(row)
  held.a = held.b = null
  check()
  if (done === null && frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS]) // the result is how many bytes it staged
}

/**
 * An elementwise function, and what it is asked for.
 *
 * @typedef {object} How
 * @property {number} op
 * @property {number} asked  the dtype that sources are converted to, or NONE
 * @property {number} casting
 * @property {Scalar | Choice} [scalar]  a source beside the tensors
 * @property {number} [position]  the scalar's: 0, 1; CHOICE: the function has three sources, some of which are scalars
 */

/**
 * Computes an elementwise function. All operands are in the CPU's memory (math/operands.js).
 *
 * @param {How} how
 * @param {Layout} to  writable; gets the result
 * @param {readonly Layout[]} from  one to three tensors, broadcast to the target
 * @throws ERR_SHAPE, ERR_DTYPE, ERR_CAST, ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_OVERLAP, ERR_MEMORY
 */
function elementwise(how, to, from) {
  const plan = planned()
  if (plan !== null) {
    plan.add(ANYWHERE, to, from, (target, sources) => elementwise(how, target, sources))
  } else callOn(rowOf(from.length, how), to, from, putHow, how)
}

/** @param {number} sources @param {How} how */
function rowOf(sources, { scalar, position }) {
  if (position === CHOICE) return rows.choice
  if (scalar !== undefined) return rows.with_scalar
  return sources === 1 ? rows.unary : sources === 2 ? rows.binary : rows.ternary
}

/** @param {readonly Layout[]} from @param {How} how */
function putHow(from, { op, asked, casting, scalar, position = 0 }) {
  const { f64 } = frame
  f64[ARGS] = op
  f64[ARGS + 1] = asked
  f64[ARGS + 2] = casting
  if (position === CHOICE) {
    if (from.length === 1) put(2, from[0])
    const { mask, dtype, first, last } = /** @type {Choice} */ (scalar)
    f64[ARGS + 3] = mask
    f64[ARGS + 4] = dtype
    putScalar(ARGS + 5, first)
    putScalar(ARGS + 8, last)
  } else if (scalar !== undefined) {
    f64[ARGS + 3] = position
    putScalar(ARGS + 4, /** @type {Scalar} */ (scalar))
  }
}

module.exports = {
  ops,
  tables,
  algorithms,
  rows,
  call,
  callOnThread,
  callOn,
  checkHost,
  NONE,
  CHOICE,
  dtypeOfResult,
  elementwise,
}
