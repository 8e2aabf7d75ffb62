'use strict'
// What functions of cores (src/math/cores.h) have in common: batches, which are the axes before a core, and results.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { elementwise, ops } = require('./calls/calls')
const { countCopy } = require('../backend/storage')
const { dtypes, itemsizes } = require('../backend/dtypes')
const { checkCast, checkOperandCast, checkOut } = require('../copy/results')
const { broadcast, denseLayout, isSameShape } = require('../layout/layouts')
const { wrap } = require('../tensor/tensor')
const { allocated, freed } = require('./allocate')
const { targetOf } = require('./operands')
const { isWhole } = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */

/**
 * @param {Layout} layout
 * @param {number} axes  of a core
 * @param {string} name  of the argument, for messages
 * @throws {RangeError} ERR_SHAPE
 */
function checkCore({ shape }, axes, name) {
  if (shape.length < axes) {
    throw failure('ERR_SHAPE', `${name} has ${shape.length} axes; at least ${axes} were expected`)
  }
}

/** @param {Layout} layout @param {number} axes  of a core @returns {number[]} */
const batchOf = ({ shape }, axes) => shape.slice(0, shape.length - axes)

/**
 * @param {Layout} a
 * @param {number} axesA  of its core
 * @param {Layout} b
 * @param {number} axesB
 * @returns {{ batch: number[], a: Layout, b: Layout }} both with the same batches; views
 * @throws {RangeError} ERR_SHAPE they do not broadcast
 */
function broadcastBatches(a, axesA, b, axesB) {
  const batch = broadcast(batchOf(a, axesA), batchOf(b, axesB))
  return { batch, a: broadcastTo(a, axesA, batch), b: broadcastTo(b, axesB, batch) }
}

/** @param {Layout} layout @param {number} axes  of its core @param {number[]} batch @returns {Layout} a view, or itself where it is alike */
function broadcastTo(layout, axes, batch) {
  const shape = [...batch, ...layout.shape.slice(layout.shape.length - axes)]
  if (isSameShape(layout.shape, shape)) return layout
  return ffi.viewByList(ffi.opcodes.broadcast_to, layout, shape)
}

/**
 * The target of a result. Comes last before C is called: no code of the caller's runs after it.
 *
 * @param {Tensor | undefined} out  the caller's; undefined: a new one
 * @param {number} dtype  a new one's
 * @param {number[]} shape
 * @param {number} [casting]  of the result to out's dtype, where C does not look at it
 * @returns {{ to: Layout, result: () => any }} result: the tensor, once C has written it
 * @throws ERR_SHAPE, ERR_MEMORY, ERR_CAST; of out as targetOf
 */
function target(out, dtype, shape, casting) {
  if (out !== undefined) {
    const to = targetOf(out)
    checkOut(to, shape, undefined)
    if (casting !== undefined) checkCast(dtype, to.dtype, casting)
    return { to, result: () => out }
  }
  const to = allocated(denseLayout(dtype, shape))
  return { to, result: () => wrap(to) }
}

/**
 * As target, of integers that wrap in their dtype: a wider out would show what wraps, so they are made in bytes of their own first.
 *
 * @param {string} by  the function, for the numbers of memory()
 * @param {Tensor | undefined} out
 * @param {number} dtype  of the result
 * @param {number[]} shape
 * @param {number} casting  of the result to out's dtype
 * @param {(to: Layout) => void} compute
 * @returns {any} the result
 * @throws as target
 */
function wrapping(by, out, dtype, shape, casting, compute) {
  const given = target(out, dtype, shape)
  if (
    !isWhole[dtype] ||
    (isWhole[given.to.dtype] && itemsizes[given.to.dtype] <= itemsizes[dtype])
  ) {
    compute(given.to)
    return given.result()
  }
  checkCast(dtype, given.to.dtype, casting)
  const to = allocated(denseLayout(dtype, shape))
  try {
    compute(to)
    elementwise({ op: ops.positive, asked: dtype, casting }, given.to, [to])
  } finally {
    freed(to)
  }
  countCopy(by, to.nbytes)
  return given.result()
}

/**
 * Runs what may be refused because of what elements are: the bytes of a new result are given back then.
 *
 * @param {Tensor | undefined} out  undefined: to is new
 * @param {Layout} to
 * @param {() => void} compute
 */
function refusable(out, to, compute) {
  try {
    compute()
  } catch (error) {
    if (out === undefined) freed(to)
    throw error
  }
}

/** @param {number} dtype  of an operand, which may be bool or float8 beside numbers */
const isNumbers = (dtype) =>
  dtypes[dtype].kind !== 'BOOLEAN' &&
  (dtypes[dtype].itemsize > 1 || dtypes[dtype].kind !== 'FLOATING')

/**
 * The dtype of a product.
 *
 * @param {readonly Layout[]} operands
 * @param {import('../backend/dtypes').Dtype | undefined} asked  undefined: the one in which operands meet
 * @returns {number}
 * @throws ERR_DTYPE bool or float8 · ERR_CAST an operand does not cast to it
 */
function productDtype(operands, asked) {
  let { dtype } = operands[0]
  for (let i = 1; i < operands.length; i++) dtype = ffi.promoteTypes(dtype, operands[i].dtype)
  if (asked !== undefined) {
    dtype = asked.index
    for (let i = 0; i < operands.length; i++) checkOperandCast(operands[i].dtype, dtype)
  }
  if (isNumbers(dtype)) return dtype
  throw failure(
    'ERR_DTYPE',
    `there are no products of ${dtypes[dtype].name}; astype or { dtype } converts`,
  )
}

module.exports = {
  checkCore,
  batchOf,
  broadcastBatches,
  broadcastTo,
  target,
  wrapping,
  refusable,
  isNumbers,
  productDtype,
}
