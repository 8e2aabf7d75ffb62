'use strict'
// The collector does not see how large a tensor in WebAssembly's memory is: programs that dispose nothing would fill that memory before it runs.
// So a large tensor holds an ArrayBuffer, its ballast, which is collected with it. No bytes are behind it: zeroed pages are mapped when they are
// touched, and nobody touches these. The collector counts its length nevertheless.
//
// V8 makes a program wait for it only once buffers have become half a heap longer, 2 GiB on large machines: before, it marks beside the program
// and may lag behind by hundreds of megabytes. So ballast is longer than its tensor, as long as there is little in use, and where little room is left:
// before that is full the program has to wait, and browsers collect once garbage is a part of what is held.

const { byteLengthOf } = require('../base/buffers')

const LEAST_LONGER = 2 ** 17 // bytes; shorter buffers may come from a heap that is cleared by writing
const LONG = 2 ** 31 // bytes: what the ballast of all tensors may come to before it is shorter
const WAITED = 3 * 2 ** 30 // bytes of ballast for which V8 makes the program wait
const MOST_SPARE = 8
const MOST_SPARE_BYTES = 2 ** 29

/**
 * @param {number} least  bytes of a ballast: smaller tensors have one together, that the last of them holds
 * @param {number} longest  times its tensor's length, at most
 * @param {(length: number) => ArrayBuffer} make  a buffer that has no bytes before it is touched
 */
function ballasts(least, longest, make) {
  /** Of tensors that were disposed, for the next ones of their size: else each would be one more for the collector. @type {ArrayBuffer[]} */
  const spare = []
  let spareCount = 0
  let spareBytes = 0
  let owed = 0

  /** @param {number} length @returns {ArrayBuffer | null} null: no room */
  function newBallast(length) {
    try {
      return make(length)
    } catch {
      return null
    }
  }

  return {
    /**
     * @param {number} nbytes  of a tensor
     * @param {() => number} inUse  bytes of all tensors
     * @param {number} [most]  bytes that there may be of them
     * @returns {ArrayBuffer | null} to be held as long as the tensor's bytes; null: the tensor needs none, or there is no room for it
     */
    ballastOf(nbytes, inUse, most = Infinity) {
      owed += nbytes
      if (owed < least) return null
      const seen = owed
      owed = 0
      for (let i = spareCount - 1; i >= 0; i--) {
        const ballast = spare[i]
        const length = byteLengthOf(ballast)
        if (length < seen || length > longest * seen) continue
        spare[i] = spare[--spareCount]
        spareBytes -= length
        return ballast
      }
      const used = seen < LEAST_LONGER ? 0 : inUse()
      const left = Math.max(0, most - used)
      const times =
        seen < LEAST_LONGER
          ? 1
          : Math.max(1, Math.min(longest, Math.max(LONG / used, (2 * used) / left, WAITED / left)))
      return newBallast(Math.floor(seen * times)) ?? newBallast(seen)
    },

    /**
     * Takes the ballast of bytes that were released.
     *
     * @param {ArrayBuffer} ballast
     */
    keepSpare(ballast) {
      const length = byteLengthOf(ballast)
      if (spareCount === MOST_SPARE || spareBytes + length > MOST_SPARE_BYTES) return
      spare[spareCount++] = ballast
      spareBytes += length
    },
  }
}

module.exports = { ballasts }
