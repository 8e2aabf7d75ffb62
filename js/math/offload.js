'use strict'
// Arithmetic without blocking the event loop. A function runs as ever, but its calls of C are noted in a plan (calls/plan.js). Then they are
// run piece by piece: on other threads where no operand's memory can move, else in turns of the event loop. Until the promise settles, all
// operands are claimed and busy, as those of copyFromAsync.

const ffi = require('../backend/calls')
const { checkSignal, signalOf } = require('../base/signals')
const { isOptions } = require('../base/validate')
const { sumOf } = require('../base/records')
const { countStaged, stats, unclaim } = require('../backend/storage')
const { callOnThread } = require('./calls/calls')
const { Plan, atOnce, within } = require('./calls/plan')
const { UNSAFE } = require('./constants')
const { isSameShape, subLayout } = require('../layout/layouts')
const {
  PIECE_BYTES,
  Pieces,
  beginUse,
  busy,
  copyOffLoop,
  copyPieces,
  endUse,
  inTurns,
  isOutside,
  isSpreadOut,
  nextTurn,
  offLoop,
  piecesOf,
} = require('../copy/async')
const { Tensor } = require('../tensor/tensor')

const { backend, opcodes } = ffi

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('../backend/storage').Storage} Storage */
/** @typedef {import('./calls/plan').Call} Call */
/** @typedef {import('../base/signals').Signal} Signal */

const THREAD_BYTES = 2 ** 25 // of a piece on another thread; it ends before the signal, or the end of this thread, counts
const SEPARATE_BYTES = 2 ** 15 // of all operands of a call that cannot be cut: from there on it is worth copies and a thread

// ---- Pieces ----

/** @param {Layout} a @param {Layout} b */
const isSame = (a, b) =>
  a.storage === b.storage &&
  a.dtype === b.dtype &&
  a.offset === b.offset &&
  isSameShape(a.shape, b.shape) &&
  isSameShape(a.strides, b.strides)

/**
 * The pieces of a call's target.
 *
 * @param {Call} call
 * @param {number} nbytes  of a piece, of the operand with the most
 */
function piecesOfCall({ to, from, cut: { whole } }, nbytes) {
  const head = subLayout(
    to,
    to.shape.map(() => 0),
    to.shape.map((n, d) => (whole !== null && whole.includes(d) ? 1 : n)),
  )
  const most = Math.max(to.nbytes, ...from.map((layout) => layout.nbytes))
  const count = whole === null ? head.size : Math.floor(nbytes / (most / head.size))
  return new Pieces(head, Math.max(count, 1), [to, ...from].some(isOutside))
}

/**
 * The part of a source that a piece of the target needs.
 *
 * @param {Call} call  whose sources have the target's shape where `follows` is null
 * @param {Layout} source
 * @param {number[]} start  of the piece
 * @param {number[]} extents
 */
function partOf({ cut: { follows } }, source, start, extents) {
  if (follows === null) return subLayout(source, start, extents)
  return subLayout(
    source,
    follows.map((d) => (d < 0 ? 0 : start[d])),
    follows.map((d, i) => (d < 0 ? source.shape[i] : extents[d])),
  )
}

/**
 * @param {Call} call
 * @param {number[]} lengths  of a piece, one for axes that are not cut
 */
const extentsOf = ({ to, cut: { whole } }, lengths) =>
  lengths.map((n, d) => (/** @type {number[]} */ (whole).includes(d) ? to.shape[d] : n))

/**
 * @param {Call} call
 * @param {Pieces} pieces
 * @param {number[]} lengths  of the piece
 */
function runPiece(call, { start }, lengths) {
  const { to, from } = call
  const extents = extentsOf(call, lengths)
  call.run(
    subLayout(to, start, extents),
    from.map((source) => partOf(call, source, start, extents)),
    [],
  )
}

// ---- Running ----

/**
 * @param {Call} call
 * @param {Layout} source
 */
const shown = ({ to, cut: { follows } }, source) =>
  follows === null ? ffi.viewByList(opcodes.broadcast_to, source, to.shape) : source

/**
 * @param {Layout} layout
 * @param {boolean} isFixed
 * @param {Layout[]} made  gets the result, whose storage is the caller's to release
 * @returns {Layout} for a copy, which is counted as staged
 */
function temporaryOf({ dtype, shape, nbytes }, isFixed, made) {
  const copy = ffi.dense(dtype, shape)
  copy.storage = isFixed ? backend.allocateNative(nbytes, ffi.check) : ffi.allocate(nbytes)
  countStaged(nbytes)
  made.push(copy)
  return copy
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Signal | undefined} signal
 * @param {Layout} along  pieces follow its order in memory
 */
const copyInTurns = (dst, src, signal, along) =>
  copyPieces({ dst, src, scaling: null, casting: 0 }, piecesOf(dst, src, along), signal)

/**
 * The call on sources that its pieces can be computed from.
 *
 * @param {Call} call
 * @param {Pieces} pieces
 * @param {boolean} isFixed
 * @param {Signal | undefined} signal
 * @param {Layout[]} made  as of temporaryOf
 * @returns {Promise<Call>}
 */
async function separated(call, pieces, isFixed, signal, made) {
  const { to } = call
  /** @type {Layout[]} */
  const from = []
  for (const src of call.from) {
    const source = shown(call, src)
    const collides =
      ffi.sharesMemory(to, source) && !(call.cut.follows === null && isSame(to, source))
    const part = partOf(call, source, pieces.start, extentsOf(call, pieces.unit))
    if (!collides && !isSpreadOut(part)) {
      from.push(source)
      continue
    }
    // Pieces would overwrite it, or stage far more than they need.
    const dst = temporaryOf(src, isFixed, made)
    if (isFixed) await copyOffLoop({ dst, src, scaling: null, casting: 0 }, signal)
    else await copyInTurns(dst, src, signal, src)
    from.push(shown(call, dst))
  }
  return { ...call, from }
}

/**
 * @param {() => void} run  makes one call of C
 * @param {Signal | undefined} signal
 */
const onThread = (run, signal) => offLoop((done) => callOnThread(run, done), signal)

/**
 * @param {Call} call
 * @param {boolean} isFixed
 * @param {Signal | undefined} signal
 */
async function runWhole(call, isFixed, signal) {
  const { to, from, also, cut, run } = call
  if (isFixed) {
    return onThread(() => run(to, from, also), signal)
  }
  const nbytes = sumOf([to, ...from, ...also].map((layout) => layout.nbytes))
  const canLeave = cut.whole === null && !cut.isHere && !backend.isWasm
  if (canLeave && nbytes >= SEPARATE_BYTES) return runSeparately(call, signal)
  await nextTurn()
  checkSignal(signal)
  run(to, from, also)
}

/**
 * Runs a call that cannot be cut on another thread, on copies of operands whose memory could move. They are counted as staged.
 *
 * @param {Call} call
 * @param {Signal | undefined} signal
 */
async function runSeparately({ to, from, also, run }, signal) {
  const targets = [to, ...also]
  /** @type {Layout[]} */
  const made = []
  try {
    const results = targets.map((layout) => temporaryOf(layout, true, made))
    const sources = from.map((layout) => temporaryOf(layout, true, made))
    for (const target of targets) {
      ffi.checkCopy({ dst: target, src: target, scaling: null, casting: UNSAFE })
    }
    for (const [i, src] of from.entries()) await copyInTurns(sources[i], src, signal, src)
    await onThread(() => run(results[0], sources, results.slice(1)), signal)
    for (const [i, dst] of targets.entries()) await copyInTurns(dst, results[i], signal, dst)
  } finally {
    for (const { storage } of made) backend.release(storage)
  }
}

/**
 * @param {Call} call
 * @param {Signal | undefined} signal
 */
async function run(call, signal) {
  const { to, from, also, cut } = call
  const isFixed =
    !cut.isHere && [to, ...from, ...also].every(({ storage }) => backend.isFixed(storage))
  if (cut.whole === null || to.size === 0) return runWhole(call, isFixed, signal)
  const pieces = piecesOfCall(call, isFixed ? THREAD_BYTES : PIECE_BYTES)
  if (pieces.isOne) return runWhole(call, isFixed, signal)
  ffi.checkCopy({ dst: to, src: to, scaling: null, casting: UNSAFE }) // of a target that overlaps itself pieces may not
  /** @type {Layout[]} */
  const made = []
  try {
    const apart = await separated(call, pieces, isFixed, signal, made)
    if (!isFixed) {
      await inTurns(pieces, signal, (lengths) => runPiece(apart, pieces, lengths))
    }
    while (!pieces.ended) {
      const lengths = pieces.extents(1)
      await onThread(() => runPiece(apart, pieces, lengths), signal)
      pieces.advance(lengths)
    }
  } finally {
    for (const { storage } of made) backend.release(storage)
  }
}

// ---- Functions ----

/** @param {any} options @returns {any} the same, whose getters may call functions: these run at once */
function apart(options) {
  // of an object of its own: what `get` returned is compared with the object's property, which would run a trap of the caller's
  return new Proxy(
    {},
    /** @type {any} */ ({
      __proto__: null,
      get: (/** @type {any} */ _, /** @type {any} */ name) => atOnce(() => options[name]),
      ownKeys: () => atOnce(() => Reflect.ownKeys(options)),
      getPrototypeOf: () => atOnce(() => Reflect.getPrototypeOf(options)),
      getOwnPropertyDescriptor(/** @type {any} */ _, /** @type {any} */ name) {
        const found = atOnce(() => Reflect.getOwnPropertyDescriptor(options, name))
        return found && { __proto__: null, ...found, configurable: true }
      },
    }),
  )
}

/**
 * @param {(...args: any[]) => any} fn
 * @param {any[]} args
 * @returns {{ result: any, plan: Plan }} what fn returned, and what C has still to do for it
 */
function prepared(fn, args) {
  const plan = new Plan(
    !backend.isWasm &&
      args.every(
        (each) => !Tensor.isTensor(each) || backend.isFixed(Tensor.layoutOf(each).storage),
      ),
  )
  try {
    return { result: within(plan, () => Reflect.apply(fn, undefined, args)), plan }
  } catch (error) {
    eachStorage(plan.calls, (storage) => unclaim(storage, backend))
    throw error
  }
}

/**
 * @param {Call[]} calls
 * @param {(storage: Storage, writes: number) => void} fn
 */
function eachStorage(calls, fn) {
  for (const { to, from, also } of calls) {
    for (const { storage } of [to, ...also]) fn(storage, 1)
    for (const { storage } of from) fn(storage, 0)
  }
}

/**
 * Runs what C has to do. Its operands' storages are claimed, once each; afterwards they are not.
 *
 * @param {Call[]} calls
 * @param {Signal | undefined} signal
 * @throws ERR_BUSY a source is being written · as the calls · ERR_DETACHED, the signal's reason
 */
async function runAll(calls, signal) {
  try {
    eachStorage(calls, ({ optional }) => {
      if (optional !== null && optional.written > 0) throw busy('source')
    })
    eachStorage(calls, beginUse)
  } finally {
    eachStorage(calls, (storage) => unclaim(storage, backend))
  }
  stats.inFlight++
  try {
    checkSignal(signal)
    for (const call of calls) await run(call, signal)
    eachStorage(calls, ffi.checkIntact)
  } finally {
    stats.inFlight--
    eachStorage(calls, endUse)
  }
}

/**
 * Disposes results that are over new bytes.
 *
 * @param {any} result  a tensor, or an object of tensors
 * @param {Layout[]} made
 */
function disposeMade(result, made) {
  const list = Tensor.isTensor(result) ? [result] : Object.values(result)
  for (const each of list) {
    if (Tensor.isTensor(each) && made.includes(Tensor.layoutOf(each))) each.dispose()
  }
}

/**
 * The same function, without blocking the event loop.
 *
 * @param {(...args: any[]) => any} fn  a function of samebytes/math; the last argument that is given may be options, and it reads no element
 * @returns {any} takes `signal` as well, and gives a promise
 */
function offload(fn) {
  const name = `${fn.name}Async` // that stacks have, of a function without another
  return {
    /** @param {any[]} args */
    [name]: async (...args) => {
      let at = (fn.length > 1 ? Math.min(fn.length, args.length) : args.length) - 1 // einsum has any number of operands
      while (at > 0 && args[at] === undefined) at--
      const options = args[at]
      const isGiven = typeof options !== 'string' && isOptions(options) && !Tensor.isTensor(options) // fn refuses all but these
      const signal = isGiven ? signalOf(/** @type {any} */ (options).signal) : undefined
      checkSignal(signal)
      if (isGiven) args[at] = apart(options)
      const { result, plan } = prepared(fn, args)
      try {
        await runAll(plan.calls, signal)
      } catch (error) {
        disposeMade(result, plan.made)
        throw error
      }
      return result
    },
  }[name]
}

module.exports = { offload }
