'use strict'
// The collector does not see how large a tensor in WebAssembly's memory is: pages that dispose nothing would fill that memory before it runs.
// So a large tensor holds an ArrayBuffer, its ballast, which is collected with it. No bytes are behind it, because browsers map zeroed pages
// when they are touched, and nobody touches these; the collector counts its length nevertheless.
//
// V8 makes a program wait for it only once buffers have become half a heap longer, 2 GiB on large machines: before, it marks beside the program
// and may lag behind by hundreds of megabytes. So ballast is longer than its tensor, as long as there is little in use, and where little room is left:
// browsers collect once garbage is a part of what is held, and that much has to fit.

const { ArrayBuffer, Math, newList } = require('../base/primordials')
const { byteLengthOf } = require('../base/buffers')

const LEAST = 2 ** 14 // bytes; smaller tensors are collected for their objects' sake
const LEAST_LONGER = 2 ** 17 // bytes; shorter buffers may come from a heap that browsers clear by writing
const TIMES = 8 // of the tensor's length, at most
const LONG = 2 ** 31 // bytes: what the ballast of all tensors may come to before it is shorter
const MOST_SPARE = 8
const MOST_SPARE_BYTES = 2 ** 29

/** Of tensors that were disposed, for the next ones of their size: else each would be one more for the collector. @type {ArrayBuffer[]} */
const spare = newList()
let spareCount = 0
let spareBytes = 0

/**
 * @param {number} nbytes  of a tensor
 * @param {() => number} inUse  bytes of all tensors
 * @param {number} [most]  bytes that there may be of them
 * @returns {ArrayBuffer | null} to be held as long as the tensor's bytes; null: the tensor needs none, or there is no room for it
 */
function ballastOf (nbytes, inUse, most = Infinity) {
  if (nbytes < LEAST) return null
  for (let i = spareCount - 1; i >= 0; i--) {
    const ballast = spare[i]
    const length = byteLengthOf(ballast)
    if (length < nbytes || length > TIMES * nbytes) continue
    spare[i] = spare[--spareCount]
    spareBytes -= length
    return ballast
  }
  const used = nbytes < LEAST_LONGER ? 0 : inUse()
  const times = nbytes < LEAST_LONGER ? 1 : Math.max(1, Math.min(TIMES, Math.max(LONG / used, 2 * used / Math.max(0, most - used))))
  return newBallast(Math.floor(nbytes * times)) ?? newBallast(nbytes)
}

/** @param {number} length @returns {ArrayBuffer | null} null: no room */
function newBallast (length) {
  try {
    return new ArrayBuffer(length)
  } catch {
    return null
  }
}

/**
 * Takes the ballast of bytes that were released.
 *
 * @param {ArrayBuffer} ballast
 */
function keepSpare (ballast) {
  const length = byteLengthOf(ballast)
  if (spareCount === MOST_SPARE || spareBytes + length > MOST_SPARE_BYTES) return
  spare[spareCount++] = ballast
  spareBytes += length
}

module.exports = { ballastOf, keepSpare }
