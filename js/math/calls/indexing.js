'use strict'
// Calls of indexing, by the core's call buffer.

const { frame, held, check, put, putInteger, putList, RESULTS, ARGS } = require('../../backend/call-buffer')
const { stage, unstage } = require('../../backend/staging')
const { rows, call } = require('./calls')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */

/**
 * Calls C on layouts in memory of the host.
 *
 * @param {number} row
 * @param {Layout[]} layouts  the first one is written, the others are read
 * @param {() => void} putArguments
 * @returns {number} the result, of functions that have one
 */
function callOn (row, layouts, putArguments) {
  /** @type {Layout[]} */
  const staged = []
  let isWritten = false
  try {
    for (let i = 0; i < layouts.length; i++) staged[i] = stage(layouts[i])
    held.a = staged
    for (let i = 0; i < staged.length; i++) put(i, staged[i])
    putArguments()
    call(row)
    held.a = null
    check()
    isWritten = true
    return frame.f64[RESULTS]
  } finally {
    for (let i = 0; i < staged.length; i++) unstage(staged[i], layouts[i], isWritten && i === 0)
  }
}

/** @param {Layout} mask  bool, without gaps @returns {number} how many of its elements are true */
const countTrue = mask => callOn(rows.count_true, [mask], () => {})

/**
 * Writes where a mask is true: sums of each axis' index times its factor.
 *
 * @param {Layout} to  int32 or int64, with an element for each true one of the mask
 * @param {Layout} mask  bool, without gaps
 * @param {readonly number[]} factors  one per axis of the mask
 */
function positions (to, mask, factors) {
  callOn(rows.positions, [to, mask], () => { putList(ARGS, factors) })
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
function offsets (to, indices, { extent, stride, entry, number }, adds) {
  callOn(rows.offsets, [to, indices], () => {
    const { f64 } = frame
    f64[ARGS] = extent
    putInteger(ARGS + 1, stride)
    f64[ARGS + 2] = entry
    f64[ARGS + 3] = number
    f64[ARGS + 4] = adds ? 1 : 0
  })
}

/**
 * Copies elements at offsets, which are checked before each use.
 *
 * @param {Layout} items  gets them; its first axis is that of offsets, the others are those of all that are not in axes
 * @param {Layout} all
 * @param {Layout} at  offsets
 * @param {readonly number[]} axes  of all, in order, that offsets are along
 */
function gather (items, all, at, axes) {
  callOn(rows.gather, [items, all, at], () => { putList(ARGS, axes) })
}

/**
 * The other way: of repeated offsets the last one's items are written.
 *
 * @param {Layout} all
 * @param {Layout} items  share no byte with all
 * @param {Layout} at
 * @param {readonly number[]} axes
 */
function scatter (all, items, at, axes) {
  callOn(rows.scatter, [all, items, at], () => { putList(ARGS, axes) })
}

module.exports = { countTrue, positions, offsets, gather, scatter }
