'use strict'
// What C says of a layout alone.

const { rows, frame, invoke, put, putList, takeLayout, RESULTS, ARGS } = require('./call-buffer')
const { nothing, CONTIGUOUS, STRIDED } = require('./layout')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * Lowest and highest element that a layout reaches, from its offset; it has elements.
 *
 * @param {Layout} layout
 * @returns {{ low: number, high: number }}
 */
function extent (layout) {
  put(0, layout)
  invoke(rows.extent)
  return { low: frame.f64[RESULTS], high: frame.f64[RESULTS + 1] }
}

/**
 * @param {Layout} layout
 * @returns {boolean}
 */
function isContiguous (layout) {
  if ((layout.flags & (CONTIGUOUS | STRIDED)) === 0) {
    put(0, layout)
    invoke(rows.is_contiguous)
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
  invoke(rows.dense)
  return takeLayout(nothing, CONTIGUOUS)
}

module.exports = { extent, isContiguous, dense }
