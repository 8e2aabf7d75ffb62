'use strict'
// New bytes for results.

const { backend } = require('../backend/calls')
const { planned } = require('./calls/plan')
const { allocated: ordinary, denseLayout, withBytes } = require('../layout/layouts')
const { SHARED } = require('../layout/placement')
const { wrap } = require('../tensor/tensor')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

/**
 * The layout over new, uninitialised bytes; native ones where another thread will write them.
 *
 * @param {Layout} layout  without bytes
 * @returns {Layout}
 * @throws {RangeError} ERR_MEMORY
 */
function allocated(layout) {
  const plan = planned()
  if (plan === null) return ordinary(layout)
  const made = plan.isFixed ? withBytes(layout, 0, false, SHARED) : ordinary(layout)
  plan.made.push(made)
  return made
}

/** @param {number} dtype @param {number[]} shape @returns {import('../tensor/tensor').Tensor<any>} over new bytes */
const made = (dtype, shape) => wrap(allocated(denseLayout(dtype, shape)))

/**
 * Frees a temporary layout now; those of calls that are yet to run are freed after these.
 *
 * @param {Layout} layout
 */
function freed({ storage }) {
  if (planned() === null) backend.release(storage)
}

module.exports = { allocated, made, freed }
