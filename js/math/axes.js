'use strict'
// The axes of a function along some of them.

const { arrayOf } = require('../base/records')
const { failure } = require('../base/errors')
const { axesOf, integer } = require('../base/validate')
const ffi = require('../backend/calls')
const { atOnce } = require('./calls/plan')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

/**
 * @param {number} axis
 * @param {number} ndim
 * @returns {number} from 0 on
 */
function inRange(axis, ndim) {
  if (axis < -ndim || axis >= ndim) {
    throw failure('ERR_BOUNDS', `axis ${axis} is outside ${ndim} axes`)
  }
  return axis < 0 ? axis + ndim : axis
}

/** Reads the option `axis` where it is one; -1 where none is given. @param {Record<string, any>} options @returns {number} */
const axisGiven = ({ axis = -1 }) => integer('axis', axis)

/**
 * Reads the option `axis`, which may run code of the caller's.
 *
 * @param {unknown} axis
 * @returns {number[] | null} a list of the function's own; null: all axes
 */
const axesGiven = (axis) =>
  axis === undefined || axis === null ? null : atOnce(() => axesOf(axis))

/**
 * @param {number[] | null} given
 * @param {number} ndim
 * @param {string} [name]  of the option, for messages
 * @returns {number[]} each once, from 0 on
 */
function axesFor(given, ndim, name = 'axis') {
  if (given === null) return arrayOf(ndim, (d) => d)
  const axes = arrayOf(given.length, (i) => inRange(given[i], ndim))
  for (let i = 1; i < axes.length; i++) {
    if (axes.indexOf(axes[i]) < i) {
      throw failure('ERR_BOUNDS', `${name}[${i}] repeats axis ${axes[i]}`)
    }
  }
  return axes
}

/**
 * @param {number[]} shape
 * @param {number[]} axes
 * @param {boolean} keepdims
 * @returns {number[]} the result's
 */
function reducedShape(shape, axes, keepdims) {
  return keepdims
    ? shape.map((n, d) => (axes.includes(d) ? 1 : n))
    : shape.filter((_, d) => !axes.includes(d))
}

/** @param {readonly number[]} shape @param {number} axis @param {number} n @returns {number[]} */
const withExtent = (shape, axis, n) => shape.map((extent, d) => (d === axis ? n : extent))

/**
 * The order of axes that has these last, else as they are.
 *
 * @param {number} ndim
 * @param {number[]} axes  from 0 on
 * @returns {number[] | null} null: that is how they are
 */
function lastAxes(ndim, axes) {
  const all = arrayOf(ndim, (d) => d)
  const order = [...all.filter((d) => !axes.includes(d)), ...all.filter((d) => axes.includes(d))]
  return order.every((axis, d) => axis === d) ? null : order
}

/** @param {Layout} layout @param {number[] | null} order @returns {Layout} */
const permuted = (layout, order) =>
  order === null ? layout : ffi.viewByList(ffi.opcodes.permute, layout, order)

module.exports = {
  inRange,
  axisGiven,
  axesGiven,
  axesFor,
  reducedShape,
  withExtent,
  lastAxes,
  permuted,
}
