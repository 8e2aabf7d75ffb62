'use strict'
// fromDlpack: tensors over what other addons of the process have, by the rules of Python's protocol.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { layoutOf, streamFor } = require('../tensor/capsules')
const { Tensor, wrap } = require('../tensor/tensor')

const { Layout } = ffi

/** @import { Capsule, DlpackSource } from '../base/types' */

const VERSION = [1, 2] // the newest whose rules are known here

/**
 * A tensor over the bytes of another addon's array; nothing is copied, and both see each other's writes. What its
 * producer lent goes back to it, by its deleter, when no tensor and no typed array over the bytes is left, on whatever
 * thread that is. A capsule can be used once; where this throws, it is as it was.
 *
 * @param {DlpackSource | Capsule} x  an object with `__dlpack__`, such as a tensor, which is asked for a capsule of DLPack 1.x, or a
 * capsule of either kind
 * @returns {Tensor} read-only where the producer says so; of a tensor, one over the same bytes
 * @throws {TypeError} ERR_ARGUMENT x is neither, ERR_DTYPE · ERR_STALE the capsule was used · ERR_DEVICE its bytes are on a
 * device that is not there, or of a kind not known here · {RangeError} ERR_SHAPE, ERR_BOUNDS, ERR_ALIGNMENT, ERR_MEMORY · ERR_UNSUPPORTED a later major version, or WASM · what x throws
 * @see array API from_dlpack, PyTorch from_dlpack
 * @example
 * const t = zeros([2])
 * fromDlpack(t).set(1, 0)
 * t.toArray() // [1, 0]
 */
function fromDlpack (x) {
  if (Tensor.isTensor(x)) return wrap(again(Tensor.attachedOf(x)))
  if (x === null || (typeof x !== 'object' && typeof x !== 'function')) throw failure('ERR_ARGUMENT', `x is ${show(x)}; an object with __dlpack__, or a capsule, was expected`)
  return wrap(layoutOf(capsuleFrom(/** @type {any} */ (x))))
}

/** @param {InstanceType<typeof Layout>} layout */
function again ({ storage, dtype, shape, strides, offset, size, flags }) {
  return new Layout(storage, dtype, shape, strides, offset, size, flags)
}

/**
 * @param {any} x
 * @returns {unknown}
 */
function capsuleFrom (x) {
  const { __dlpack__: method } = x
  if (typeof method !== 'function') return x // a capsule, or C says that it is none
  const { __dlpack_device__: device } = x
  const stream = typeof device === 'function' ? streamFor(device.call(x)) : null
  return method.call(x, stream === null ? { maxVersion: VERSION.slice() } : { maxVersion: VERSION.slice(), stream })
}

module.exports = { fromDlpack }
