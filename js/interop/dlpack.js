'use strict'
// fromDlpack: tensors over arrays of other addons of the process, by the rules of Python's DLPack protocol.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, boolean, optionsOf } = require('../base/validate')
const { copied, likeOf } = require('../copy/results')
const { layoutOfCapsule, streamFor } = require('../tensor/capsules')
const { Tensor, wrap } = require('../tensor/tensor')

const { Layout } = ffi

/** @import { Capsule, DlpackSource, DtypeName } from '../base/types' */

const VERSION = [1, 2] // the newest that is supported

/**
 * A tensor over the bytes of a tensor, or with `copy: true` a counted copy.
 *
 * @template {DtypeName} D
 * @overload
 * @param {Tensor<D>} x
 * @param {{ copy?: boolean | undefined }} [opts]
 * @returns {Tensor<D>}
 * @throws ERR_DISPOSED, ERR_DETACHED · {RangeError} ERR_MEMORY
 * @see array API from_dlpack
 * @example
 * const t = zeros([2])
 * fromDlpack(t).set(1, 0)
 * t.toArray() // [1, 0]
 */
/**
 * A tensor over the bytes of another addon's array; nothing is copied unless `copy` asks for it, and each sees the other's writes. The producer's
 * deleter is called, on any thread, when no tensor and no typed array over the bytes is left. A capsule can be used once; if this throws, it
 * is still unused.
 *
 * @overload
 * @param {DlpackSource | Capsule} x  an object with `__dlpack__`, which is asked for a capsule of DLPack 1.x; or a capsule, versioned or legacy
 * @param {{ copy?: boolean | undefined }} [opts]  copy: true always copies, and counts that; false never does, and asks x not to
 * @returns {Tensor} read-only where the producer says so; a copy is not
 * @throws {TypeError} ERR_ARGUMENT x is neither, ERR_DTYPE · ERR_STALE the capsule was used · ERR_DEVICE its bytes are on a
 * device that is not available or not supported · {RangeError} ERR_SHAPE, ERR_BOUNDS, ERR_ALIGNMENT, ERR_MEMORY · ERR_UNSUPPORTED a later major version, or WASM · what x throws
 * @see array API from_dlpack, PyTorch from_dlpack
 * @example
 * const give = addon => fromDlpack(addon.take(), { copy: true })
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function fromDlpack(x, opts) {
  const { copy } = optionsOf(opts, ['copy'], 'fromDlpack')
  const isCopied = boolean('copy', copy)
  if (Tensor.isTensor(x)) {
    const layout = Tensor.attachedOf(x)
    const { storage, dtype, shape, strides, offset, size, flags } = layout
    return wrap(
      isCopied ? ownCopy(layout) : new Layout(storage, dtype, shape, strides, offset, size, flags),
    )
  }
  if (x === null || (typeof x !== 'object' && typeof x !== 'function')) {
    throw failure(
      'ERR_ARGUMENT',
      `x is ${show(x)}; an object with __dlpack__, or a capsule, was expected`,
    )
  }
  const layout = layoutOfCapsule(capsuleFrom(x, copy))
  if (!isCopied) return wrap(layout)
  try {
    return wrap(ownCopy(layout))
  } finally {
    ffi.backend.release(layout.storage)
  }
}

/** @param {InstanceType<typeof Layout>} layout */
const ownCopy = (layout) => copied('fromDlpack', likeOf(layout, undefined), layout, 0)

/**
 * @param {any} x
 * @param {boolean | undefined} copy  false: x is asked not to copy
 * @returns {unknown}
 */
function capsuleFrom(x, copy) {
  const { __dlpack__: method } = x
  if (typeof method !== 'function') return x // a capsule; C refuses anything else
  const { __dlpack_device__: device } = x
  const stream = typeof device === 'function' ? streamFor(device.call(x)) : null
  const wanted = { ...(stream !== null && { stream }), ...(copy === false && { copy }) }
  return method.call(x, { maxVersion: VERSION.slice(), ...wanted })
}

module.exports = { fromDlpack }
