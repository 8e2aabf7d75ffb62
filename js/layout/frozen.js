'use strict'
// Shapes and strides as they are given out: frozen, and never a layout's own lists. C's calls read those, and where some lists are
// frozen and others not, V8 reads all of them several times slower.

const { arrayOf } = require('../base/records')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const SLOTS = 256

/** The frozen list that was made last, by a hash of its entries: freezing takes longer than comparing. @type {(readonly number[])[]} */
const recent = arrayOf(SLOTS, () => Object.freeze([]))

/** what was asked for last: tensors that are made one after the other often share the list @type {readonly number[] | null} */
let lastList = null
/** its copy */
let lastCopy = recent[0]

/**
 * @param {readonly number[]} list  of a layout, which nobody changes
 * @returns {readonly number[]} with the same entries, frozen; who asks later may get the same one
 */
function frozenCopy(list) {
  if (list !== lastList) {
    lastCopy = findCopy(list)
    lastList = list
  }
  return lastCopy
}

/** @param {readonly number[]} list */
function findCopy(list) {
  const n = list.length
  let slot = n
  for (let i = 0; i < n; i++) slot = (31 * slot + list[i]) & (SLOTS - 1)
  const known = recent[slot]
  if (known.length === n) {
    let i = 0
    while (i < n && known[i] === list[i]) i++
    if (i === n) return known
  }
  return (recent[slot] = Object.freeze(list.slice()))
}

/** @param {Layout} layout */
const frozenShape = (layout) =>
  layout.frozenShape ?? (layout.frozenShape = frozenCopy(layout.shape))

/** @param {Layout} layout */
const frozenStrides = (layout) =>
  layout.frozenStrides ?? (layout.frozenStrides = frozenCopy(layout.strides))

module.exports = { frozenShape, frozenStrides }
