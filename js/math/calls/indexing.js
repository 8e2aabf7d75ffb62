'use strict'
// Calls of indexing, by the core's call buffer.

const { frame, putInteger, putList, RESULTS, ARGS } = require('../../backend/call-buffer')
const { rows, callOn } = require('./calls')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */

/** @param {unknown} _ @param {readonly number[]} numbers */
const putNumbers = (_, numbers) => putList(ARGS, numbers)

/** @param {Layout} mask  bool, without gaps @returns {number} how many of its elements are true */
function countTrue(mask) {
  callOn(rows.count_true, null, [mask], () => {}, null)
  return frame.f64[RESULTS + 1]
}

/**
 * Writes where a mask is true: sums of each axis' index times its factor.
 *
 * @param {Layout} to  int32 or int64, with an element for each true one of the mask
 * @param {Layout} mask  bool, without gaps
 * @param {readonly number[]} factors  one per axis of the mask
 */
function positions(to, mask, factors) {
  callOn(rows.positions, to, [mask], putNumbers, factors)
}

/** An axis that an entry indexes; stride: bytes. @typedef {{ extent: number, stride: number, entry: number, number: number }} IndexedAxis */

/**
 * Computes offsets, in bytes, of indices along an axis.
 *
 * @param {Layout} to  int64, without gaps
 * @param {Layout} indices  broadcast to its shape
 * @param {IndexedAxis} axis
 * @param {boolean} adds  to what is there
 * @throws ERR_BOUNDS an index is outside · ERR_DTYPE they are no integers
 */
function offsets(to, indices, { extent, stride, entry, number }, adds) {
  callOn(
    rows.offsets,
    to,
    [indices],
    () => {
      const { f64 } = frame
      f64[ARGS] = extent
      putInteger(ARGS + 1, stride)
      f64[ARGS + 2] = entry
      f64[ARGS + 3] = number
      f64[ARGS + 4] = adds ? 1 : 0
    },
    null,
  )
}

/**
 * Copies elements at offsets, which are checked before each use.
 *
 * @param {Layout} items  gets them; its first axis is that of offsets, the others are those of all that are not in axes
 * @param {Layout} all
 * @param {Layout} at  offsets
 * @param {readonly number[]} axes  of all, in order, that offsets are along
 */
function gather(items, all, at, axes) {
  callOn(rows.gather, items, [all, at], putNumbers, axes)
}

/**
 * The other way: of repeated offsets the last one's items are written.
 *
 * @param {Layout} all
 * @param {Layout} items  share no byte with all
 * @param {Layout} at
 * @param {readonly number[]} axes
 */
function scatter(all, items, at, axes) {
  callOn(rows.scatter, all, [items, at], putNumbers, axes)
}

module.exports = { countTrue, positions, offsets, gather, scatter }
