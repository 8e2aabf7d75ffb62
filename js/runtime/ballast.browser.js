'use strict'
// The collector does not see how large a tensor in WebAssembly's memory is: pages that dispose nothing would fill that memory before it runs.
// So a large tensor holds an ArrayBuffer of its size, its ballast, which is collected with it. No bytes are behind it, because browsers map
// zeroed pages when they are touched, and nobody touches these; the collector counts its length nevertheless.

const { ArrayBuffer, newList } = require('../base/primordials')
const { byteLengthOf } = require('../base/buffers')

const LEAST = 2 ** 14 // bytes; smaller tensors are collected for their objects' sake
const MOST_SPARE = 8
const MOST_SPARE_BYTES = 2 ** 26

/** Of tensors that were disposed, for the next ones of their size: else each would be one more for the collector. @type {ArrayBuffer[]} */
const spare = newList()
let spareCount = 0
let spareBytes = 0

/**
 * @param {number} nbytes  of a tensor
 * @returns {ArrayBuffer | null} to be held as long as the tensor's bytes; null: the tensor needs none, or there is no room for it
 */
function ballastOf (nbytes) {
  if (nbytes < LEAST) return null
  for (let i = spareCount - 1; i >= 0; i--) {
    const ballast = spare[i]
    if (byteLengthOf(ballast) !== nbytes) continue
    spare[i] = spare[--spareCount]
    spareBytes -= nbytes
    return ballast
  }
  try {
    return new ArrayBuffer(nbytes)
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
  const nbytes = byteLengthOf(ballast)
  if (spareCount === MOST_SPARE || spareBytes + nbytes > MOST_SPARE_BYTES) return
  spare[spareCount++] = ballast
  spareBytes += nbytes
}

module.exports = { ballastOf, keepSpare }
