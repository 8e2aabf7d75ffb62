'use strict'
// What takes the runtime or several copies to read, off the event loop: VideoFrame, AudioBuffer.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { stats, countCopy, countStaged } = require('../backend/storage')
const { dtypeOf, itemsizes } = require('../backend/dtypes')
const { denseLayout, allocated } = require('../layout/layouts')
const { checkShape, withAlphaOrNot, makeOpaque } = require('./images')
const { copiesOfRows } = require('./channels')
const { channelsOf } = require('./sources')
const { copyAsync, hold, letGo } = require('./async')
const { checkSignal } = require('../base/signals')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('./channels').CopyOfAny} CopyOfAny */
/** @typedef {import('../base/signals').Signal} Signal */

const UINT8 = dtypeOf('uint8').index

/**
 * @param {any} src  a VideoFrame, which may be closed at once, or an AudioBuffer
 * @param {() => Layout} target  that may be written to; asked for when no code of the caller's is yet to run
 * @param {{ scaling: import('../backend/calls').Scaling | null, casting: number, signal: Signal | undefined }} options
 */
async function copyMedia (src, target, { scaling, casting, signal }) {
  const channels = channelsOf(src, target().shape)
  const own = channels === null ? cloneOf(src) : null
  let dst
  try {
    dst = target()
    hold(dst.storage, 1)
    try {
      if (channels === null) await copyFrame(own, { dst, scaling, casting }, signal)
      else await copyChannels({ dst, scaling, casting }, channels, signal)
    } finally {
      letGo(dst.storage, 1)
    }
  } finally {
    own?.close()
  }
  countCopy('copyFromAsync', dst.size * itemsizes[dst.dtype])
}

// ---- VideoFrame ----

/**
 * A frame's pixels as RGBA. The runtime writes them where the target has bytes for them, else into a temporary, from which
 * they are copied as those of an ImageData are.
 *
 * @param {any} frame
 * @param {CopyOfAny} copy
 * @param {Signal | undefined} signal
 */
async function copyFrame (frame, { dst, scaling, casting }, signal) {
  const { width, height } = frame.visibleRect
  checkShape(width, height, dst.shape)
  checkConverts(frame, 4 * width * height)
  const fits = scaling === null && dst.dtype === UINT8 && dst.shape[2] === 4 && ffi.isContiguous(dst)
  if (!fits || !(await readFrame(frame, dst))) await copyByWay(frame, { dst, scaling, casting }, signal)
  checkSignal(signal)
}

/**
 * The same picture, for as long as we need it.
 *
 * @param {any} frame
 */
function cloneOf (frame) {
  try {
    return frame.clone()
  } catch (error) {
    throw failure('ERR_DETACHED', `the VideoFrame was closed or transferred away: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * Runtimes that convert no pixels ignore the format, and would give the frame's own.
 *
 * @param {any} frame
 * @param {number} nbytes
 */
function checkConverts (frame, nbytes) {
  let asked = false
  const options = { get format () { asked = true; return 'RGBA' } }
  let size
  try {
    size = frame.allocationSize(options)
  } catch (error) {
    throw unreadable(frame, error)
  }
  if (asked && size === nbytes) return
  throw failure('ERR_UNSUPPORTED', `this runtime does not convert a VideoFrame of format ${frame.format} to RGBA; drawn on a canvas, getImageData gives its pixels`)
}

/**
 * @param {any} frame
 * @param {unknown} error
 */
function unreadable (frame, error) {
  return failure('ERR_UNSUPPORTED', `the VideoFrame of format ${frame.format} could not be read as RGBA: ${/** @type {Error} */ (error).message}`)
}

/**
 * @param {any} frame
 * @param {CopyOfAny} copy
 * @param {Signal | undefined} signal
 */
async function copyByWay (frame, { dst, scaling, casting }, signal) {
  const { width, height } = frame.visibleRect
  const pixels = allocated(denseLayout(UINT8, [height, width, 4]))
  try {
    const src = withAlphaOrNot(pixels, dst.shape[2])
    ffi.checkCopy({ dst, src, scaling, casting }) // before the frame is read for nothing
    countStaged(pixels.size)
    if (!(await readFrame(frame, pixels))) throw failure('ERR_UNSUPPORTED', `this runtime reads no VideoFrame of format ${frame.format} into WASM memory`)
    await copyAsync({ dst, src, scaling, casting }, true, signal)
  } finally {
    backend.release(pixels.storage)
  }
}

/**
 * WASM memory that grows meanwhile is another buffer afterwards, and what was written to the old one may be lost: then
 * the frame is read again.
 *
 * @param {any} frame
 * @param {Layout} pixels  dense
 * @returns {Promise<boolean>} false: the runtime does not write to such a buffer, or nothing would be opaque
 */
async function readFrame (frame, pixels) {
  const isOpaque = frame.format !== null && frame.format.endsWith('X') // its fourth byte means nothing
  if (isOpaque && backend.isWasm && pixels.storage.kind !== 'wasm') return false
  const options = { format: frame.format === 'RGBX' ? 'RGBX' : 'RGBA' }
  for (;;) {
    const bytes = ffi.bytesWithin(pixels)
    stats.inFlight++
    try {
      await frame.copyTo(bytes, options)
    } catch (error) {
      if (bytes.length > 0) {
        if (/** @type {Error} */ (error).name === 'TypeError') return false
        throw unreadable(frame, error)
      }
    } finally {
      stats.inFlight--
    }
    if (bytes.length > 0) break
  }
  if (isOpaque) makeOpaque(pixels)
  return true
}

// ---- AudioBuffer ----

/**
 * @param {CopyOfAny} copy
 * @param {import('./channels').Channels} channels  of an AudioBuffer; read until it settles
 * @param {Signal | undefined} signal
 */
async function copyChannels (copy, channels, signal) {
  const copies = copiesOfRows(copy, channels) ?? [] // null is for lists
  for (let i = 0; i < copies.length; i++) await copyAsync(copies[i], false, signal)
}

module.exports = { copyMedia }
