'use strict'
// copyFromAsync, and the means of other asynchronous functions: on another thread where neither operand's memory can move, else on the event loop, one piece per turn.
// Until it settles both storages are claimed (dispose frees nothing) and busy (samebytes' writers refuse them).

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { onNextTurn, now } = require('../runtime/host')
const { lazyFile } = require('../runtime/lazy')
const {
  OptionalFields,
  claim,
  unclaim,
  stats,
  countStaged,
  isOnDevice,
} = require('../backend/storage')
const { itemsizes } = require('../backend/dtypes')
const { checkSignal } = require('../base/signals')
const { subLayout, scalingOfPart } = require('../layout/layouts')
const { copyElements } = require('./results')

const cuda = lazyFile(() => require('../backend/cuda'))

const { backend, opcodes } = ffi

/** @typedef {import('../backend/storage').Storage} Storage */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('../backend/calls').Copy} Copy */
/** @typedef {import('../base/signals').Signal} Signal */

const PIECE_BYTES = 2 ** 19 // of the operand with the larger items
const MOST_PIECES = 16 // in one turn
const SHORT_MS = 0.75 // a shorter turn doubles the pieces of the next one
const LONG_MS = 1.5 // a longer turn halves them
const DEVICE_PIECE_BYTES = 2 ** 23 // of a piece to or from a device

// ---- Turns ----

/** @type {Promise<void>} */
let lastTurn = Promise.resolve()

/** Resolves in a turn of the event loop in which no other piece is copied. */
function nextTurn() {
  lastTurn = lastTurn.then(() => new Promise((resolve) => onNextTurn(() => resolve())))
  return lastTurn
}

// ---- Storages in use ----

/** @param {string} what  'tensor' or 'source' */
function busy(what) {
  return failure(
    'ERR_BUSY',
    `the ${what}'s bytes are in use by a pending copyFromAsync, by asynchronous arithmetic, by a load, by a model's run or by a message; await it first`,
  )
}

/**
 * Claims a storage and marks it busy; endUse undoes both.
 *
 * @param {Storage} storage
 * @param {number} writes  1 for a target, 0 for a source
 */
function beginUse(storage, writes) {
  claim(storage)
  const optional = (storage.optional ??= new OptionalFields())
  optional.busy++
  optional.written += writes
}

/**
 * @param {Storage} storage
 * @param {number} writes
 */
function endUse(storage, writes) {
  const optional = /** @type {OptionalFields} */ (storage.optional)
  optional.busy--
  optional.written -= writes
  unclaim(storage, backend)
}

// ---- Pieces ----

/** Iterates over a layout in boxes of about equal size. */
class Pieces {
  /**
   * @param {Layout} layout
   * @param {number} most  elements of a piece
   * @param {boolean} compact  each piece must be contiguous in memory
   */
  constructor(layout, most, compact) {
    const { extents, axis } = ffi.cut(layout, most, compact)
    this.shape = layout.shape
    this.unit = extents
    /** axis along which neighbouring pieces can be joined */
    this.axis = axis
    /** first index of the next piece, per axis */
    this.start = extents.map(() => 0)
    this.ended = layout.size === 0
    this.isOne = extents.every((n, d) => n === layout.shape[d])
  }

  /**
   * @param {number} count  pieces to join, at most
   * @returns {number[]} extents of the joined piece at start
   */
  extents(count) {
    const { axis } = this
    const extents = this.unit.slice()
    for (let d = 0; d < extents.length; d++) {
      extents[d] = Math.min(
        d === axis ? extents[d] * count : extents[d],
        this.shape[d] - this.start[d],
      )
    }
    return extents
  }

  /** @param {number[]} extents  of the piece that was copied */
  advance(extents) {
    const { start, shape, axis } = this
    /** @param {number} d */
    const isInside = (d) => (start[d] += extents[d]) < shape[d] || (start[d] = 0) !== 0
    if (shape.length > 0 && isInside(axis)) return
    for (let d = shape.length - 1; d >= 0; d--) if (d !== axis && isInside(d)) return
    this.ended = true
  }
}

rootless(Pieces)

/**
 * Calls run on piece after piece, for about a millisecond per turn.
 *
 * @param {Pieces} pieces
 * @param {Signal | undefined} signal
 * @param {(extents: number[]) => void} run  of the piece at pieces.start
 */
async function inTurns(pieces, signal, run) {
  let count = 1
  while (!pieces.ended) {
    await nextTurn()
    checkSignal(signal)
    const extents = pieces.extents(count)
    const from = now()
    run(extents)
    const took = now() - from
    if (took < SHORT_MS) count = Math.min(2 * count, MOST_PIECES)
    else if (took > LONG_MS && count > 1) count /= 2
    pieces.advance(extents)
  }
}

/**
 * Copies in turns. Each turn looks the memory up again: it may have moved (a small tensor whose `data` was read first) or be gone.
 *
 * @param {Copy} copy  the source has the target's shape
 * @param {Pieces} pieces
 * @param {Signal | undefined} signal
 */
function copyPieces(copy, pieces, signal) {
  return inTurns(pieces, signal, (extents) => {
    const { dst, src, scaling, casting } = partOfCopy(copy, pieces.start, extents)
    copyElements(dst, src, scaling, casting)
  })
}

/**
 * @param {Copy} copy  the source has the target's shape
 * @param {number[]} start  first index per axis
 * @param {number[]} extents
 * @returns {Copy} that box of it
 */
const partOfCopy = ({ dst, src, scaling, casting }, start, extents) => ({
  dst: subLayout(dst, start, extents),
  src: subLayout(src, start, extents),
  scaling: scaling && scalingOfPart(scaling, start, extents),
  casting,
})

/**
 * Are the bytes in a buffer outside WebAssembly's memory? C works on a staged copy of each piece then.
 *
 * @param {Layout} layout
 */
const isOutside = ({ storage }) => backend.isWasm && storage.address === null

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Layout} along  pieces follow its order in memory
 */
function piecesOf(dst, src, along) {
  const most = PIECE_BYTES / Math.max(itemsizes[dst.dtype], itemsizes[src.dtype])
  return new Pieces(along, most, isOutside(dst) || isOutside(src))
}

/**
 * Does a piece of a source span many more bytes than it has elements? All of the span would be staged.
 *
 * @param {Layout} piece
 */
function isSpreadOut(piece) {
  if (!isOutside(piece) || piece.size === 0) return false
  const { low, high } = ffi.extent(piece)
  return high - low >= 2 * piece.size
}

/**
 * Copies on the event loop. A source that overlaps the target, or whose pieces are spread out, is first copied to a
 * temporary, in pieces as well.
 *
 * @param {Copy} copy
 * @param {boolean} collides  source and target share bytes
 * @param {Signal | undefined} signal
 */
async function copyOnLoop({ dst, src, scaling, casting }, collides, signal) {
  let shown = ffi.viewByList(opcodes.broadcast_to, src, dst.shape)
  const pieces = piecesOf(dst, shown, dst)
  if (pieces.isOne || !(collides || isSpreadOut(subLayout(shown, pieces.start, pieces.unit)))) {
    await copyPieces({ dst, src: shown, scaling, casting }, pieces, signal)
    return
  }
  const temporary = ffi.dense(src.dtype, src.shape)
  const nbytes = src.nbytes
  temporary.storage = ffi.allocate(nbytes)
  try {
    countStaged(nbytes)
    await copyPieces(
      { dst: temporary, src, scaling: null, casting: 0 },
      piecesOf(temporary, src, src),
      signal,
    )
    shown = ffi.viewByList(opcodes.broadcast_to, temporary, dst.shape)
    await copyPieces({ dst, src: shown, scaling, casting }, piecesOf(dst, shown, dst), signal)
  } finally {
    backend.release(temporary.storage)
  }
}

/**
 * Waits for work on a thread of the addon.
 *
 * @param {(done: (finished: boolean, error: Error | null) => void) => number} begin  gives its number
 * @param {Signal | undefined} signal
 * @returns {Promise<void>}
 */
function offLoop(begin, signal) {
  return new Promise((resolve, reject) => {
    let leave = () => {}
    const id = begin((finished, error) => {
      leave()
      if (error !== null) reject(error)
      else if (finished && !signal?.look()) resolve()
      else reject(signal?.reason) // even if all was done by then
    })
    if (signal !== undefined) leave = signal.follow(() => backend.stopCopy(id))
  })
}

/**
 * Copies on a thread of the addon.
 *
 * @param {Copy} copy
 * @param {Signal | undefined} signal
 */
const copyOffLoop = (copy, signal) => offLoop((done) => ffi.startCopy(copy, done), signal)

/**
 * Copies on another thread; what could move is first copied to native memory.
 *
 * @param {Copy} copy  the target cannot move
 * @param {Signal | undefined} signal
 */
async function copyFixed(copy, signal) {
  const { scaling } = copy
  /** @type {Layout[]} */
  const made = []
  /** @param {Layout} layout @returns {Layout} a copy in native memory, for another thread to read */
  const fixed = (layout) => {
    const twin = ffi.dense(layout.dtype, layout.shape)
    twin.storage = backend.allocateNative(twin.nbytes, ffi.check)
    made.push(twin)
    ffi.copy(twin, layout, 0)
    return twin
  }
  try {
    const src = backend.isFixed(copy.src.storage) ? copy.src : fixed(copy.src)
    const factors = scaling && {
      scale: fixed(scaling.scale),
      bias: fixed(scaling.bias),
      axis: scaling.axis,
      numbers: null,
    }
    await copyOffLoop({ ...copy, src, scaling: factors }, signal)
  } finally {
    for (const { storage } of made) backend.release(storage)
  }
}

/**
 * Copies to, from or between devices by their copy engines. Pageable host memory goes one piece at a time, through
 * pinned memory.
 *
 * @param {Copy} copy
 * @param {Storage | null} stream
 * @param {Signal | undefined} signal
 */
async function copyByDevice(copy, stream, signal) {
  const { copyOn, isPageable } = cuda()
  const { dst, src } = copy
  if (!isPageable(dst.storage) && !isPageable(src.storage)) {
    await copyOn(copy, stream)
    checkSignal(signal)
    return
  }
  const shown = { ...copy, src: ffi.viewByList(opcodes.broadcast_to, src, dst.shape) }
  const pieces = new Pieces(
    dst,
    DEVICE_PIECE_BYTES / Math.max(itemsizes[dst.dtype], itemsizes[src.dtype]),
    false,
  )
  while (!pieces.ended) {
    const extents = pieces.extents(1)
    await copyOn(partOfCopy(shown, pieces.start, extents), stream)
    checkSignal(signal)
    pieces.advance(extents)
  }
}

/**
 * Copies without blocking the event loop. Arguments are checked before the first await.
 *
 * @param {Copy} copy
 * @param {boolean} isOurs  the source is a temporary of samebytes'
 * @param {Signal | undefined} signal
 * @param {Storage | null} [stream]  a device's; null: its default stream
 * @throws ERR_BUSY the source is being written · as copyFrom · ERR_DETACHED · the signal's reason
 */
async function copyAsync(copy, isOurs, signal, stream = null) {
  const to = copy.dst.storage
  const from = copy.src.storage
  if (from.optional !== null && from.optional.written > 0) throw busy('source')
  const collides = ffi.checkCopy(copy)
  beginUse(to, 1)
  beginUse(from, 0)
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
    endUse(from, 0)
    endUse(to, 1)
  }
}

module.exports = {
  PIECE_BYTES,
  Pieces,
  nextTurn,
  inTurns,
  piecesOf,
  copyPieces,
  copyOffLoop,
  offLoop,
  isOutside,
  isSpreadOut,
  copyAsync,
  busy,
  beginUse,
  endUse,
}
