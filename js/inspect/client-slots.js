'use strict'
// Which places in memory have which elements of a tensor.

/**
 * The first places in memory that a tensor reaches, and the elements at each. Self-contained: pages have its text.
 *
 * @param {import('./map').MappedTensors} row
 * @param {number} most  places
 * @returns {{ slots: number[][], all: number }} slots: elements by place, as row-major order numbers them; all: how many places there are
 */
function slotsOf ({ shape, strides, itemsize, reach, size }, most) {
  const all = size === 0 ? 0 : (reach[1] - reach[0]) / itemsize
  const shown = Math.min(most, all)
  /** @type {number[][]} */
  const slots = Array.from({ length: shown }, () => [])
  // Of the axes from each one on: the lowest and highest place they reach, and how many elements an index is worth.
  const low = new Array(shape.length + 1).fill(0)
  const high = low.slice()
  const weight = low.slice().fill(1)
  for (let d = shape.length - 1; d >= 0; d--) {
    const far = (shape[d] - 1) * strides[d]
    low[d] = low[d + 1] + Math.min(0, far)
    high[d] = high[d + 1] + Math.max(0, far)
    weight[d] = weight[d + 1] * shape[d]
  }
  /** Indices of an axis whose elements can lie in the slots. @param {number} d @param {number} at @returns {[number, number]} */
  const range = (d, at) => {
    const [stride, last] = [strides[d], shape[d] - 1]
    const [least, farthest] = [at + low[d + 1], at + high[d + 1]]
    if (stride > 0) return [Math.max(0, Math.ceil(-farthest / stride)), Math.min(last, Math.floor((shown - 1 - least) / stride))]
    if (stride < 0) return [Math.max(0, Math.ceil((least - shown + 1) / -stride)), Math.min(last, Math.floor(farthest / -stride))]
    return [0, farthest < 0 || least >= shown ? -1 : last]
  }
  let budget = 20000 // steps, whatever strides there are
  /** @param {number} d @param {number} at @param {number} order */
  const walk = (d, at, order) => {
    if (--budget < 0) return
    if (d === shape.length) {
      if (slots[at].length < 1000) slots[at].push(order)
      return
    }
    const [from, to] = range(d, at)
    for (let i = from; i <= to; i++) {
      if (budget < 0) return
      walk(d + 1, at + i * strides[d], order + i * weight[d + 1])
    }
  }
  if (size > 0) walk(0, -reach[0] / itemsize, 0)
  return { slots, all }
}

module.exports = { slotsOf }
