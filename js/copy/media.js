'use strict'
// copyFromAsync of a VideoFrame, which the runtime reads asynchronously, and of an AudioBuffer, one copy per channel.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { stats, countCopy, countStaged } = require('../backend/storage')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout, allocated } = require('../layout/layouts')
const { checkShape, withAlphaOrNot, makeOpaque } = require('./images')
const { copiesOfRows } = require('./channels')
const { channelsOf } = require('./sources')
const { copyAsync, beginUse, endUse, nextTurn } = require('./async')
const { checkSignal } = require('../base/signals')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('./channels').CopyOfAny} CopyOfAny */
/** @typedef {import('../base/signals').Signal} Signal */

const UINT8 = dtypeOf('uint8').index

/**
 * @param {any} src  a VideoFrame, which the caller may close at once, or an AudioBuffer
 * @param {() => Layout} target  gives the writable target; called after the source's getters ran
 * @param {{ scaling: import('../backend/calls').Scaling | null, casting: number, signal: Signal | undefined }} options
 */
async function copyMedia(src, target, { scaling, casting, signal }) {
  const channels = channelsOf(src, target().shape)
  const own = channels === null ? cloneOf(src) : null
  let dst
  try {
    dst = target()
    beginUse(dst.storage, 1)
    try {
      if (channels === null) await copyFrame(own, { dst, scaling, casting }, signal)
      else {
        const copies = copiesOfRows({ dst, scaling, casting }, channels) ?? [] // null is for lists only
        for (const copy of copies) await copyAsync(copy, false, signal)
      }
    } finally {
      endUse(dst.storage, 1)
    }
  } finally {
    own?.close()
  }
  countCopy('copyFromAsync', dst.nbytes)
}

// ---- VideoFrame ----

/**
 * Copies a frame's pixels as RGBA. The runtime writes into the target itself where that is contiguous (height, width, 4)
 * uint8, else into a temporary that is then copied like an ImageData.
 *
 * @param {any} frame
 * @param {CopyOfAny} copy
 * @param {Signal | undefined} signal
 */
async function copyFrame(frame, { dst, scaling, casting }, signal) {
  const { width, height } = frame.visibleRect
  checkShape(width, height, dst.shape)
  checkConverts(frame, 4 * width * height)
  const fits =
    scaling === null && dst.dtype === UINT8 && dst.shape[2] === 4 && ffi.isContiguous(dst)
  if (fits && (await readFrame(frame, dst))) {
    await nextTurn() // a runtime that reads at once gives the loop no turn, in which others run and garbage is collected
    checkSignal(signal)
    return
  }
  const pixels = allocated(denseLayout(UINT8, [height, width, 4]))
  try {
    const src = withAlphaOrNot(pixels, dst.shape[2])
    ffi.checkCopy({ dst, src, scaling, casting }) // throws before the frame is read
    countStaged(pixels.size)
    if (!(await readFrame(frame, pixels))) {
      throw failure(
        'ERR_UNSUPPORTED',
        `this runtime reads no VideoFrame of format ${frame.format} into WASM memory`,
      )
    }
    await copyAsync({ dst, src, scaling, casting }, true, signal)
  } finally {
    backend.release(pixels.storage)
  }
  checkSignal(signal)
}

/**
 * A clone of the frame, which the caller cannot close.
 *
 * @param {any} frame
 */
function cloneOf(frame) {
  try {
    return frame.clone()
  } catch (error) {
    throw failure(
      'ERR_DETACHED',
      `the VideoFrame was closed or transferred away: ${/** @type {Error} */ (error).message}`,
    )
  }
}

/**
 * Refuses runtimes that ignore the format option and would write the frame's own format.
 *
 * @param {any} frame
 * @param {number} nbytes
 */
function checkConverts(frame, nbytes) {
  let asked = false
  const options = {
    get format() {
      asked = true
      return 'RGBA'
    },
  }
  let size
  try {
    size = frame.allocationSize(options)
  } catch (error) {
    throw unreadable(frame, error)
  }
  if (asked && size === nbytes) return
  throw failure(
    'ERR_UNSUPPORTED',
    `this runtime does not convert a VideoFrame of format ${frame.format} to RGBA; drawn on a canvas, getImageData gives its pixels`,
  )
}

/**
 * @param {any} frame
 * @param {unknown} error
 */
function unreadable(frame, error) {
  return failure(
    'ERR_UNSUPPORTED',
    `the VideoFrame of format ${frame.format} could not be read as RGBA: ${/** @type {Error} */ (error).message}`,
  )
}

/**
 * Has the runtime write a frame into a layout's memory. Where WebAssembly's memory grew meanwhile the pixels may be lost
 * with the old buffer, so the frame is read again.
 *
 * @param {any} frame
 * @param {Layout} pixels  dense
 * @returns {Promise<boolean>} false: the runtime refuses such a buffer, or the alpha channel could not be set
 */
async function readFrame(frame, pixels) {
  const isOpaque = frame.format !== null && frame.format.endsWith('X') // RGBX, BGRX: the fourth byte is undefined
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

module.exports = { copyMedia }
