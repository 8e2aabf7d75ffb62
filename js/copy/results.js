'use strict'
// Results of copies and recipes: in new bytes, or in a layout that the caller gave as `out`.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { CASTINGS } = require('../base/validate')
const { countCopy } = require('../backend/storage')
const { placementLike, checkSameDevice } = require('../layout/placement')
const { dtypes } = require('../backend/dtypes')
const { denseLayout, isSameShape, withBytes, written } = require('../layout/layouts')

const { Layout, STATIC, UNBOUND } = ffi

const rearrange = lazyFile(() => require('./recipes'))

/** @typedef {import('../backend/dtypes').Dtype} Dtype */

/**
 * Copies with or without scale and bias.
 *
 * @param {InstanceType<typeof Layout>} dst
 * @param {InstanceType<typeof Layout>} src
 * @param {import('../backend/calls').Scaling | null} scaling
 * @param {number} casting
 */
function copyElements(dst, src, scaling, casting) {
  if (scaling === null) ffi.copy(dst, src, casting)
  else ffi.copyScaled(dst, src, scaling, casting)
}

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {Dtype} [dtype]  its own where none is given
 * @returns {InstanceType<typeof Layout>} contiguous, without bytes; its axes in the same order in memory as the layout's
 */
function likeOf(layout, dtype) {
  const to = dtype === undefined ? layout.dtype : dtype.index
  const isRowMajor = layout.order === null && layout.size > 0 && ffi.isContiguous(layout)
  return isRowMajor ? denseLayout(to, layout.shape) : ffi.denseLike(layout, to)
}

/**
 * Copies a layout's elements, in logical order, into new bytes.
 *
 * @param {string} reason  name of the public function, which memory() counts copies by
 * @param {InstanceType<typeof Layout>} target  without bytes; row-major where its shape is not the source's
 * @param {InstanceType<typeof Layout>} source
 * @param {number} casting
 * @param {import('../layout/placement').Placement | undefined} [placement]  of the new bytes; ordinary memory of the source's device where none is given
 * @returns {InstanceType<typeof Layout>} target with bytes
 */
function copied(reason, target, source, casting, placement = placementLike(source.storage)) {
  const made = withBytes(target, source.flags & (STATIC | UNBOUND), false, placement)
  written(made, ({ storage, dtype, size }) => {
    if (isSameShape(target.shape, source.shape)) ffi.copy(made, source, casting)
    else {
      const { strides } = ffi.dense(dtype, source.shape)
      ffi.copy(new Layout(storage, dtype, source.shape, strides, 0, size, 0), source, casting)
    }
  })
  countCopy(reason, made.nbytes)
  return made
}

/**
 * Copies a layout's elements into the caller's `out`.
 *
 * @param {string} reason
 * @param {InstanceType<typeof Layout>} out  writable
 * @param {Dtype | undefined} dtype  also asked for; must be out's
 * @param {InstanceType<typeof Layout>} source
 * @param {number} casting
 */
function copiedInto(reason, out, dtype, source, casting) {
  checkOut(out, source.shape, dtype)
  ffi.copy(out, source, casting)
  countCopy(reason, out.nbytes)
}

/**
 * Writes a recipe's result.
 *
 * @param {string} reason
 * @param {import('./recipes').Recipe} recipe
 * @param {InstanceType<typeof Layout> | null} out  writable; null: in new bytes
 * @param {Dtype | undefined} dtype
 * @param {number} casting
 * @returns {InstanceType<typeof Layout>}
 */
function produced(reason, recipe, out, dtype, casting) {
  if (out !== null) checkOut(out, recipe.shape, dtype)
  const to = out !== null ? out.dtype : dtype === undefined ? recipe.dtype : dtype.index
  const { storage } = recipe.sources[0]
  for (const source of recipe.sources) {
    checkSameDevice(storage, source.storage)
    checkCast(source.dtype, to, casting)
  }
  if (out !== null) checkSameDevice(storage, out.storage)
  const target = out ?? withBytes(denseLayout(to, recipe.shape), 0, false, placementLike(storage))
  if (out === null) written(target, () => rearrange().write(recipe, target, casting))
  else rearrange().writeInto(recipe, target, casting)
  countCopy(reason, target.nbytes)
  return target
}

/**
 * Checks that `out` takes a result of this shape and dtype.
 *
 * @param {InstanceType<typeof Layout>} out
 * @param {number[]} shape
 * @param {Dtype | undefined} dtype  also asked for; must be out's
 */
function checkOut(out, shape, dtype) {
  if (!isSameShape(out.shape, shape)) {
    throw failure(
      'ERR_SHAPE',
      `out has shape [${out.shape.join(', ')}]; the result has [${shape.join(', ')}]`,
    )
  }
  if (dtype !== undefined && dtype.index !== out.dtype) {
    throw failure(
      'ERR_DTYPE',
      `out is ${dtypes[out.dtype].name}; the result was to be ${dtype.name}`,
    )
  }
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} casting
 * @param {string} [instead]
 */
function checkCast(from, to, casting, instead = "'unsafe' allows it") {
  if (ffi.canCast(from, to, casting)) return
  throw failure(
    'ERR_CAST',
    `${dtypes[from].name} does not cast to ${dtypes[to].name} under casting '${CASTINGS[casting]}'; ${instead}`,
  )
}

/**
 * The same of an operand and the dtype that was asked for: no option allows that cast, since `casting` is that of the result.
 *
 * @param {number} from
 * @param {number} to
 */
const checkOperandCast = (from, to) =>
  checkCast(from, to, CASTINGS.indexOf('same_kind'), 'astype converts operands')

module.exports = {
  copyElements,
  likeOf,
  copied,
  copiedInto,
  produced,
  checkCast,
  checkOperandCast,
  checkOut,
}
