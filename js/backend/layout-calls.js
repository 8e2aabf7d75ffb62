'use strict'
// Calls about layouts alone, which touch no byte: questions, views over the same storage, and layouts that get a storage later.

const {
  opcodes,
  frame,
  invoke,
  put,
  putInteger,
  putList,
  readLayout,
  RESULTS,
  ARGS,
} = require('./call-buffer')
const { nothing, READ_ONLY, CONTIGUOUS, STRIDED, STATIC, UNBOUND, INHERITED } = require('./layout')

/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/**
 * @param {Layout} layout  with at least one element
 * @returns {{ low: number, high: number }} its lowest and highest element in memory, counted from its offset
 */
function extent(layout) {
  put(0, layout)
  invoke(opcodes.extent)
  return { low: frame.f64[RESULTS], high: frame.f64[RESULTS + 1] }
}

/**
 * @param {Layout} layout
 * @returns {boolean}
 */
function isContiguous(layout) {
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
function dense(dtype, shape) {
  frame.f64[ARGS] = dtype
  putList(ARGS + 1, shape)
  invoke(opcodes.dense)
  return readLayout(nothing, CONTIGUOUS)
}

/**
 * @param {number} opcode
 * @param {Layout} layout
 * @returns {Layout} a view on the same storage
 */
function view(opcode, layout) {
  put(0, layout)
  invoke(opcode)
  return readLayout(layout.storage, layout.flags & INHERITED)
}

/**
 * @param {number} opcode
 * @param {Layout} layout
 * @param {readonly number[] | null} list
 */
function viewByList(opcode, layout, list) {
  putList(ARGS, list)
  return view(opcode, layout)
}

/**
 * @param {number} opcode
 * @param {Layout} layout
 * @param {number} a
 * @param {number} [b]
 * @param {number} [c]
 */
function viewByNumbers(opcode, layout, a, b = 0, c = 0) {
  putInteger(ARGS, a)
  putInteger(ARGS + 1, b)
  putInteger(ARGS + 2, c)
  return view(opcode, layout)
}

/**
 * Any layout inside the storage.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 * @param {number[] | null} strides  elements; null: dense
 * @param {number[] | null} dimOrder  null: row-major, or as the strides say
 * @param {number} offset  elements from the storage's first byte
 * @param {boolean} within  whether it has to lie between the layout's own elements
 */
function asStrided(layout, shape, strides, dimOrder, offset, within) {
  const at = putList(putList(putList(ARGS, shape), strides), dimOrder)
  frame.f64[at] = offset
  frame.f64[at + 1] = within ? 1 : 0
  return view(opcodes.as_strided, layout)
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @param {number[]} dimOrder
 * @returns {Layout} dense, without bytes
 */
function denseOrdered(dtype, shape, dimOrder) {
  frame.f64[ARGS] = dtype
  putList(putList(ARGS + 1, shape), dimOrder)
  invoke(opcodes.dense_ordered)
  return readLayout(nothing, 0)
}

/**
 * A layout of the same shape and order of axes in memory.
 *
 * @param {Layout} layout
 * @param {number} dtype
 * @returns {Layout} dense, without bytes
 */
function denseLike(layout, dtype) {
  const out = viewByNumbers(opcodes.dense_like, layout, dtype)
  out.order = layout.order
  return out
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @param {number[]} strides  not negative
 * @param {number[] | null} dimOrder  null: as the strides say
 * @returns {{ layout: Layout, elements: number }} without bytes; how many elements its storage needs
 */
function strided(dtype, shape, strides, dimOrder) {
  frame.f64[ARGS] = dtype
  putList(putList(putList(ARGS + 1, shape), strides), dimOrder)
  invoke(opcodes.strided)
  return { layout: readLayout(nothing, 0), elements: frame.f64[RESULTS] }
}

/**
 * A view of another shape, if strides exist that keep the order of elements; else a dense layout without bytes.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 */
function reshape(layout, shape) {
  const out = viewByList(opcodes.reshape, layout, shape)
  if (frame.f64[RESULTS] === 0) {
    out.storage = nothing
    out.flags = CONTIGUOUS | (layout.flags & (STATIC | UNBOUND))
  }
  return out
}

/**
 * Another shape over the same bytes, in the same order of axes.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 * @returns {Layout} without bytes if the layout is UNBOUND and needs more than its capacity
 */
function resize(layout, shape) {
  const order = layout.order ?? (isContiguous(layout) ? null : dimOrder(layout))
  const at = putList(putList(ARGS, shape), order)
  frame.f64[at] = layout.flags & STATIC ? 0 : layout.flags & UNBOUND ? 2 : 1
  frame.f64[at + 1] = layout.capacity
  const out = view(opcodes.resize, layout)
  if (frame.f64[RESULTS] !== 0) out.storage = nothing
  else out.capacity = layout.capacity
  out.order = order
  return out
}

/**
 * A layout's shape and strides over a source's bytes, from the source's first element on.
 *
 * @param {Layout} layout
 * @param {Layout} source
 * @returns {Layout}
 */
function rebind(layout, source) {
  put(0, layout)
  put(1, source)
  invoke(opcodes.set_data)
  const out = readLayout(
    source.storage,
    (source.flags & READ_ONLY) | (layout.flags & (STATIC | UNBOUND)),
  )
  out.order = layout.order
  return out
}

/**
 * Axes from outermost to innermost in memory.
 *
 * @param {Layout} layout
 * @returns {number[]}
 */
function dimOrder(layout) {
  if (layout.order !== null) return layout.order.slice()
  put(0, layout)
  invoke(opcodes.dim_order)
  return readLayout(nothing, 0).shape
}

/**
 * @param {Layout} layout
 * @param {number[]} order  axes from outermost to innermost
 * @returns {boolean} without gaps in that order
 */
function isContiguousIn(layout, order) {
  putList(ARGS, order)
  put(0, layout)
  invoke(opcodes.is_contiguous_in)
  return frame.f64[RESULTS] !== 0
}

/**
 * Cuts a layout into pieces.
 *
 * @param {Layout} layout
 * @param {number} most  elements of a piece
 * @param {boolean} compact  whether each piece has to be contiguous in memory
 * @returns {{ extents: number[], axis: number }} the first piece's shape; the others follow along the axis
 */
function cut(layout, most, compact) {
  frame.f64[ARGS] = most
  frame.f64[ARGS + 1] = compact ? 1 : 0
  const { shape } = view(opcodes.cut, layout)
  return { extents: shape, axis: frame.f64[RESULTS] }
}

module.exports = {
  extent,
  isContiguous,
  dense,
  viewByList,
  viewByNumbers,
  asStrided,
  denseOrdered,
  denseLike,
  strided,
  reshape,
  resize,
  rebind,
  dimOrder,
  isContiguousIn,
  cut,
}
