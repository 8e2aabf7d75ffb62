'use strict'
// Tensors that a run writes into: resized where an output's shape differs, as far as they have room.

const { rootless } = require('../base/records')
const { instance } = require('./internals')
const { expectedShape, namedExtents, shapeText } = require('./signature')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */
/** @typedef {import('./signature').Slot} Slot */

/** A tensor that a run writes into. */
class Target {
  /**
   * @param {Slot} slot
   * @param {Tensor} tensor
   * @param {Layout} layout
   */
  constructor(slot, tensor, layout) {
    this.slot = slot
    this.tensor = tensor
    this.layout = layout
    /** onnxruntime does not write it: its own result is copied into the tensor */
    this.isCopied = slot.isInput
  }
}

rootless(Target)

/**
 * The tensor's current layout, read without properties that the caller may have defined on it.
 *
 * @param {Tensor} tensor
 * @returns {Layout | null} null: it was disposed
 */
function layoutNow(tensor) {
  try {
    return instance().Tensor.layoutOf(tensor)
  } catch {
    return null
  }
}

/**
 * Resizes a target to its shape in this run.
 *
 * @param {Target} target  pinned
 * @param {number[]} shape
 */
function resizeTarget(target, shape) {
  const { Tensor, beginUse, endUse, isSameShape } = instance()
  const { tensor, layout } = target
  if (isSameShape(shape, layout.shape)) return
  if (layoutNow(tensor) === null) throw wrongShape(target, shape)
  const { storage } = layout
  endUse(storage, 1)
  try {
    if (storage.claims < 0 || (storage.optional !== null && storage.optional.busy > 0)) {
      throw wrongShape(target, shape)
    }
    Tensor.prototype.resize.call(tensor, shape)
  } catch (error) {
    throw wrongShape(target, shape, error)
  } finally {
    target.layout = layoutNow(tensor) ?? layout
    beginUse(target.layout.storage, 1)
  }
}

/**
 * @param {Target} target
 * @param {readonly number[]} shape  of the output in this run
 * @param {unknown} [cause]
 */
function wrongShape({ slot, layout, tensor }, shape, cause) {
  const now = layoutNow(tensor)
  const room =
    now === null
      ? 'it was disposed'
      : (now.flags & instance().ffi.STATIC) !== 0
        ? 'it is static'
        : `there is room for ${now.capacity} elements`
  const text = `${slot.title} has shape ${shapeText(shape)} in this run; the tensor to write into has ${shapeText(layout.shape)}, and ${room}`
  return Object.assign(instance().failure('ERR_SHAPE', text), { cause })
}

module.exports = { Target, resizeTarget, wrongShape, namedExtents, expectedShape }
