'use strict'
// A device's bytes in the CPU's memory for one call.

const { isOnDevice, countStaged } = require('./storage')
const { itemsizes } = require('./dtypes')
const { backend } = require('./call-buffer')
const { dense } = require('./layout-calls')
const { allocate, reach, settle } = require('./staging')
const { copy } = require('./copies')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * The same for rows that only the CPU has: what lies on a device comes by way of a copy.
 *
 * @param {Layout} layout
 * @param {boolean} read  the row reads it; else all of its elements are written
 * @returns {Layout}
 */
function reachHere (layout, read) {
  const there = reach(layout)
  if (!isOnDevice(there.storage)) return there
  const here = dense(layout.dtype, layout.shape)
  here.storage = allocate(here.size * itemsizes[here.dtype])
  try {
    backend.addressOf(here.storage)
    if (read) copy(here, layout, 0)
  } catch (error) {
    backend.release(here.storage)
    throw error
  }
  countStaged(here.storage.nbytes)
  return here
}

/**
 * Ends what reachHere began.
 *
 * @param {Layout} staged  what reachHere returned
 * @param {Layout} layout  what it was given
 * @param {boolean} written
 */
function settleHere (staged, layout, written) {
  if (staged === layout) return
  if (!isOnDevice(layout.storage)) {
    settle(staged, layout, written)
    return
  }
  try {
    if (written) copy(layout, staged, 0)
  } finally {
    backend.release(staged.storage)
  }
}

module.exports = { reachHere, settleHere }
