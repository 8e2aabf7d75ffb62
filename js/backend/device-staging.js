'use strict'
// Operands of functions that only the CPU has: bytes on a device are copied to the CPU's memory for the call, and back.

const { isOnDevice, countStaged } = require('./storage')
const { itemsizes } = require('./dtypes')
const { backend } = require('./call-buffer')
const { dense } = require('./layout-calls')
const { allocate, stage, unstage } = require('./staging')
const { copy } = require('./copies')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * @param {Layout} layout
 * @param {boolean} read  whether C reads it; else C writes all of its elements
 * @returns {Layout} the operand
 * @throws as stage
 */
function stageOnCpu (layout, read) {
  const there = stage(layout)
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
 * Ends what `stageOnCpu` began.
 *
 * @param {Layout} staged  the operand
 * @param {Layout} layout
 * @param {boolean} written
 */
function unstageFromCpu (staged, layout, written) {
  if (staged === layout) return
  if (!isOnDevice(layout.storage)) {
    unstage(staged, layout, written)
    return
  }
  try {
    if (written) copy(layout, staged, 0)
  } finally {
    backend.release(staged.storage)
  }
}

module.exports = { stageOnCpu, unstageFromCpu }
