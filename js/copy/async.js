'use strict'
// Copies that leave the event loop its turns: on another thread where neither operand can move, else on
// the loop, a piece in each turn. Meanwhile the storages are held (a tensor's dispose frees nothing) and
// busy (our writers refuse them).

const { Math, Promise, arrayEvery, arrayMap, arrayPush, arrayShift, arraySlice, newList, rootless } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { onNextTurn, now } = require('../runtime/host')
const { laterFile } = require('../runtime/lazy')
const { Extra, claim, unclaim, stats, countStaged, isOnDevice } = require('../backend/storage')
const { itemsizes } = require('../backend/dtypes')
const { checkSignal } = require('../base/signals')
const { part, scalingOfPart } = require('../layout/layouts')
const { copyElements } = require('./results')

const cuda = laterFile(() => require('../backend/cuda'))

const { backend, rows } = ffi

/** @typedef {import('../backend/storage').Storage} Storage */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('../backend/calls').Copy} Copy */
/** @typedef {import('../base/signals').Signal} Signal */

const PIECE = 2 ** 19 // bytes of the first piece, of the wider side
const MOST = 16 // pieces in one turn
const SHORT = 0.75 // ms in a turn below which the next one gets twice as many
const DEVICE_PIECE = 2 ** 23 // bytes of a piece that goes to or from a device
const LONG = 1.5 // and above which half as many

// ---- Turns ----

/** who waits for a turn of its own @type {(() => void)[]} */
const waiting = newList()

/** Waits for a turn of the event loop in which no other piece is copied. */
function nextTurn () {
  return new Promise(resolve => {
    if (arrayPush(waiting, () => resolve(undefined)) === 1) onNextTurn(wake)
  })
}

function wake () {
  const next = /** @type {() => void} */ (arrayShift(waiting))
  next()
  if (waiting.length > 0) onNextTurn(wake)
}

// ---- What is in use ----

/** @param {string} what */
function busy (what) {
  return failure('ERR_BUSY', `the ${what}'s bytes are in use by a pending copyFromAsync or by a model's run; await it first`)
}

/**
 * @param {Storage} storage
 * @param {number} writes  1: it is the target
 */
function hold (storage, writes) {
  claim(storage)
  const extra = storage.extra ??= new Extra()
  extra.busy++
  extra.written += writes
}

/**
 * @param {Storage} storage
 * @param {number} writes
 */
function letGo (storage, writes) {
  const extra = /** @type {Extra} */ (storage.extra)
  extra.busy--
  extra.written -= writes
  unclaim(storage, backend)
}

// ---- Pieces ----

/** The pieces of a layout, one after the other. */
class Pieces {
  /**
   * @param {Layout} layout
   * @param {number} most  elements of a piece
   * @param {boolean} compact  each in one stretch of memory
   */
  constructor (layout, most, compact) {
    const { extents, axis } = ffi.cut(layout, most, compact)
    this.shape = layout.shape
    this.unit = extents
    /** along which several can be taken as one */
    this.axis = axis
    /** where the next one begins, per axis */
    this.start = arrayMap(extents, () => 0)
    this.ended = layout.size === 0
    this.isOne = arrayEvery(extents, (n, d) => n === layout.shape[d])
  }

  /**
   * @param {number} count  how many to take as one, where there are as many
   * @returns {number[]} extents of what begins at start
   */
  extents (count) {
    const { axis } = this
    const extents = arraySlice(this.unit)
    for (let d = 0; d < extents.length; d++) {
      extents[d] = Math.min(d === axis ? extents[d] * count : extents[d], this.shape[d] - this.start[d])
    }
    return extents
  }

  /** @param {number[]} extents  of the piece that is done */
  pass (extents) {
    const { start, shape, axis } = this
    /** @param {number} d */
    const isInside = d => (start[d] += extents[d]) < shape[d] || (start[d] = 0) !== 0
    if (shape.length > 0 && isInside(axis)) return
    for (let d = shape.length - 1; d >= 0; d--) if (d !== axis && isInside(d)) return
    this.ended = true
  }
}

rootless(Pieces)

/**
 * @param {Copy} copy
 * @param {Pieces} pieces
 * @param {number[]} extents
 */
function copyPiece ({ dst, src, scaling, casting }, { start }, extents) {
  const to = part(dst, start, extents)
  const from = part(src, start, extents)
  copyElements(to, from, scaling && scalingOfPart(scaling, start, extents), casting)
}

/**
 * As many pieces in a turn as take a millisecond or two. What a piece works on is looked at anew in its
 * turn: bytes may have moved (a small tensor's first exposure) or be gone.
 *
 * @param {Copy} copy  whose source has the target's shape
 * @param {Pieces} pieces
 * @param {Signal | undefined} signal
 */
async function copyPieces (copy, pieces, signal) {
  let count = 1
  while (!pieces.ended) {
    await nextTurn()
    checkSignal(signal)
    const extents = pieces.extents(count)
    const from = now()
    copyPiece(copy, pieces, extents)
    const took = now() - from
    if (took < SHORT) count = Math.min(2 * count, MOST)
    else if (took > LONG && count > 1) count /= 2
    pieces.pass(extents)
  }
}

/**
 * Bytes of the caller's buffer, which the WASM back end copies in and out for each piece.
 *
 * @param {Layout} layout
 */
function isElsewhere ({ storage }) {
  return backend.isWasm && storage.address === null
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Layout} along  whose order in memory the pieces follow
 */
function piecesOf (dst, src, along) {
  const most = PIECE / Math.max(itemsizes[dst.dtype], itemsizes[src.dtype])
  return new Pieces(along, most, isElsewhere(dst) || isElsewhere(src))
}

/**
 * Would a piece of the source stretch far over its bytes, all of which had to be copied in?
 *
 * @param {Layout} src
 * @param {Pieces} pieces
 */
function isScattered (src, pieces) {
  if (!isElsewhere(src) || src.size === 0) return false
  const first = part(src, pieces.start, pieces.unit)
  const { low, high } = ffi.extent(first)
  return high - low >= 2 * first.size
}

/**
 * On the loop. Where pieces cannot be taken from the source as it lies, it is copied away first, in
 * pieces as well.
 *
 * @param {Copy} copy
 * @param {boolean} collides
 * @param {Signal | undefined} signal
 */
async function copyOnLoop ({ dst, src, scaling, casting }, collides, signal) {
  let shown = ffi.viewByList(rows.broadcast_to, src, dst.shape)
  const pieces = piecesOf(dst, shown, dst)
  if (pieces.isOne || !(collides || isScattered(shown, pieces))) {
    await copyPieces({ dst, src: shown, scaling, casting }, pieces, signal)
    return
  }
  const away = ffi.dense(src.dtype, src.shape)
  const nbytes = src.size * itemsizes[src.dtype]
  away.storage = ffi.allocate(nbytes)
  try {
    countStaged(nbytes)
    await copyPieces({ dst: away, src, scaling: null, casting: 0 }, piecesOf(away, src, src), signal)
    shown = ffi.viewByList(rows.broadcast_to, away, dst.shape)
    await copyPieces({ dst, src: shown, scaling, casting }, piecesOf(dst, shown, dst), signal)
  } finally {
    backend.release(away.storage)
  }
}

/**
 * @param {Copy} copy
 * @param {Signal | undefined} signal
 * @returns {Promise<void>}
 */
function copyOffLoop (copy, signal) {
  return new Promise((resolve, reject) => {
    let leave = () => {}
    const id = ffi.startCopy(copy, (finished, error) => {
      leave()
      if (error !== null) reject(error)
      else if (finished && !signal?.look()) resolve()
      else reject(signal?.reason) // also where it came too late to stop anything
    })
    if (signal !== undefined) leave = signal.follow(() => { backend.stopCopy(id) })
  })
}

/**
 * The same values in native memory, for another thread to read.
 *
 * @param {Layout} layout  of a temporary of ours
 * @returns {Layout}
 */
function fixedCopy (layout) {
  const { dtype, shape, size } = layout
  const copy = ffi.dense(dtype, shape)
  copy.storage = backend.allocateNative(size * itemsizes[dtype], ffi.check)
  try {
    ffi.copy(copy, layout, 0)
  } catch (error) {
    backend.release(copy.storage)
    throw error
  }
  return copy
}

/**
 * @param {Copy} copy
 * @param {Signal | undefined} signal
 */
async function copyFixed (copy, signal) {
  const { scaling } = copy
  /** @type {Layout[]} */
  const made = newList()
  /** @param {Layout} layout */
  const fixed = layout => {
    const twin = fixedCopy(layout)
    arrayPush(made, twin)
    return twin
  }
  try {
    const src = backend.isFixed(copy.src.storage) ? copy.src : fixed(copy.src)
    const factors = scaling && { scale: fixed(scaling.scale), bias: fixed(scaling.bias), axis: scaling.axis }
    await copyOffLoop({ ...copy, src, scaling: factors }, signal)
  } finally {
    for (let i = 0; i < made.length; i++) backend.release(made[i].storage)
  }
}

/**
 * To, from or between devices, by their own engines. Memory of the host that is not pinned goes a piece in each turn,
 * because it is moved through memory that is.
 *
 * @param {Copy} copy
 * @param {Storage | null} stream
 * @param {Signal | undefined} signal
 */
async function copyByDevice (copy, stream, signal) {
  const { copyOn, isPageable } = cuda()
  const { dst, src, scaling, casting } = copy
  if (!isPageable(dst.storage) && !isPageable(src.storage)) {
    await copyOn(copy, stream)
    checkSignal(signal)
    return
  }
  const shown = ffi.viewByList(rows.broadcast_to, src, dst.shape)
  const pieces = new Pieces(dst, DEVICE_PIECE / Math.max(itemsizes[dst.dtype], itemsizes[src.dtype]), false)
  while (!pieces.ended) {
    const extents = pieces.extents(1)
    const { start } = pieces
    await copyOn({ dst: part(dst, start, extents), src: part(shown, start, extents), scaling: scaling && scalingOfPart(scaling, start, extents), casting }, stream)
    checkSignal(signal)
    pieces.pass(extents)
  }
}

/**
 * Copies without holding the event loop up. All is checked before the first turn.
 *
 * @param {Copy} copy
 * @param {boolean} isOurs  the source is a temporary, which goes with the copy
 * @param {Signal | undefined} signal
 * @param {Storage | null} [stream]  of a device, where one is asked for
 * @throws ERR_BUSY the source is being written · what copyFrom throws · ERR_DETACHED · the signal's reason
 */
async function copyAsync (copy, isOurs, signal, stream = null) {
  const { dst: { storage: to }, src: { storage: from } } = copy
  if (from.extra !== null && from.extra.written > 0) throw busy('source')
  const collides = ffi.checkCopy(copy)
  hold(to, 1)
  hold(from, 0)
  stats.inFlight++
  try {
    checkSignal(signal)
    if (isOnDevice(to) || isOnDevice(from)) await copyByDevice(copy, stream, signal)
    else if (backend.isFixed(to) && (isOurs || backend.isFixed(from))) await copyFixed(copy, signal)
    else await copyOnLoop(copy, collides, signal)
    ffi.checkIntact(from)
    ffi.checkIntact(to)
  } finally {
    stats.inFlight--
    letGo(from, 0)
    letGo(to, 1)
  }
}

module.exports = { copyAsync, busy, hold, letGo }
