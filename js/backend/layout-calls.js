'use strict'
// Questions to C about a layout alone; no byte is touched.

const { opcodes, frame, invoke, put, putList, readLayout, RESULTS, ARGS } = require('./call-buffer')
const { nothing, CONTIGUOUS, STRIDED } = require('./layout')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * @param {Layout} layout  with at least one element
 * @returns {{ low: number, high: number }} its lowest and highest element in memory, counted from its offset
 */
function extent (layout) {
  put(0, layout)
  invoke(opcodes.extent)
  return { low: frame.f64[RESULTS], high: frame.f64[RESULTS + 1] }
}

/**
 * @param {Layout} layout
 * @returns {boolean}
 */
function isContiguous (layout) {
  if ((layout.flags & (CONTIGUOUS | STRIDED)) === 0) {
    put(0, layout)
    invoke(opcodes.is_contiguous)
    layout.flags |= frame.f64[RESULTS] !== 0 ? CONTIGUOUS : STRIDED
  }
  return (layout.flags & CONTIGUOUS) !== 0
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major, without bytes
 */
function dense (dtype, shape) {
  frame.f64[ARGS] = dtype
  putList(ARGS + 1, shape)
  invoke(opcodes.dense)
  return readLayout(nothing, CONTIGUOUS)
}

module.exports = { extent, isContiguous, dense }
