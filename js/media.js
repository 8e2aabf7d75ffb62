'use strict'
// What takes the runtime or several copies to read, off the event loop: VideoFrame, AudioBuffer.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { stats, countStaged } = require('./storage')
const { dtypeOf } = require('./dtypes')
const { denseLayout, allocated } = require('./layouts')
const { checkShape, channelsOf, makeOpaque } = require('./images')
const { copiesOfRows } = require('./channels')
const { copyAsync, hold, letGo, checkSignal } = require('./async')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('./channels').CopyOfAny} CopyOfAny */

const UINT8 = dtypeOf('uint8').index

// ---- VideoFrame ----

/**
 * A frame's pixels as RGBA. The runtime writes them where the target has bytes for them, else into a temporary, from which
 * they are copied as those of an ImageData are.
 *
 * @param {any} frame  may be closed at once
 * @param {CopyOfAny} copy
 * @param {AbortSignal | undefined} signal
 */
async function copyFrame (frame, { dst, scaling, casting }, signal) {
  const own = cloneOf(frame)
  hold(dst.storage, 1)
  try {
    const { width, height } = own.visibleRect
    checkShape(width, height, dst.shape)
    checkConverts(own, 4 * width * height)
    const fits = scaling === null && dst.dtype === UINT8 && dst.shape[2] === 4 && ffi.isContiguous(dst)
    if (!fits || !(await readFrame(own, dst))) await copyByWay(own, { dst, scaling, casting }, signal)
    checkSignal(signal)
  } finally {
    own.close()
    letGo(dst.storage, 1)
  }
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
 * @param {AbortSignal | undefined} signal
 */
async function copyByWay (frame, { dst, scaling, casting }, signal) {
  const { width, height } = frame.visibleRect
  const pixels = allocated(denseLayout(UINT8, [height, width, 4]))
  try {
    const src = channelsOf(pixels, dst.shape[2])
    ffi.checkCopy({ dst, src, scaling, casting }) // before the frame is read for nothing
    countStaged(pixels.size)
    if (!(await readFrame(frame, pixels))) throw failure('ERR_UNSUPPORTED', `this runtime reads no VideoFrame of format ${frame.format} into WASM memory`)
    checkSignal(signal)
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
 * @param {AbortSignal | undefined} signal
 */
async function copyChannels (copy, channels, signal) {
  const { storage } = copy.dst
  const copies = copiesOfRows(copy, channels) ?? []
  hold(storage, 1)
  try {
    for (const each of copies) await copyAsync(each, false, signal)
  } finally {
    letGo(storage, 1)
  }
}

module.exports = { copyFrame, copyChannels }
