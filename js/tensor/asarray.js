'use strict'
// asarray: a tensor of anything, which copies only where it must.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, optionsOf, castingOf, ownFields } = require('../base/validate')
const { countCopy, deviceOfStorage, nameOfDevice } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { dtypeOfArray, isArrayBuffer, isSharedArrayBuffer } = require('../base/buffers')
const { placementOf } = require('../layout/placement')
const {
  dynamismOf,
  nameOfDynamism,
  emptyLayout,
  likeLayout,
  axesOfOrder,
  written,
  layoutOverBytes,
  bufferRangeOf,
} = require('../layout/layouts')
const { Tensor, wrap } = require('./tensor')
const { tensorOfData } = require('./creation')
const { fromBlob } = require('./blob')

const { isPinned } = ffi

const OF_ASARRAY = ['dtype', 'device', 'order', 'copy', 'casting', 'dynamism', 'pinMemory']

/** @import { DtypeName, NameOf, Or, TensorData, AsarrayOptions, DtypeOfData } from '../base/types' */

/**
 * Makes a tensor of anything. A tensor that already has the dtype, device and order is returned itself; typed arrays and buffers are
 * wrapped as by fromBlob; lists, iterables and numbers are copied as by tensor, and so is what needs another dtype, device or order.
 *
 * @template {TensorData | ArrayBufferLike} T
 * @template {DtypeName} [D=never]
 * @param {T} x  a tensor, typed array, Buffer (uint8), ArrayBuffer, SharedArrayBuffer or DataView (dtype is needed), number or list
 * @param {AsarrayOptions<D> | NameOf<D>} [opts]  copy: true always copies, false never; dynamism: of a new tensor
 * @returns {Tensor<Or<D, DtypeOfData<T>>>} x itself, over x's bytes, or with bytes of its own
 * @throws ERR_UNSUPPORTED copy is false and a copy is needed · {TypeError} ERR_CAST, ERR_DTYPE · as fromBlob and tensor
 * @see array API asarray
 * @example
 * const t = zeros([2])
 * asarray(t) === t // true
 * asarray(new Float64Array(2), { copy: false }).dtype // 'float64'
 */
function asarray(x, opts) {
  const given = optionsOf(opts, OF_ASARRAY, 'asarray')
  const { dtype: name, device, order, copy, casting, dynamism, pinMemory } = given
  const placement = placementOf(device, pinMemory)
  const isNear = Tensor.isTensor(x) && device === undefined
  const options = {
    dtype: name === undefined ? undefined : dtypeOf(name).name,
    order,
    casting,
    dynamism,
    pinMemory,
    device: isNear
      ? nameOfDevice(deviceOfStorage(Tensor.layoutOf(x).storage))
      : placement === undefined
        ? undefined
        : nameOfDevice(placement.device),
  }
  const rule = copy === undefined ? undefined : boolean('copy', copy)
  castingOf(casting)
  dynamismOf(dynamism)
  axesOfOrder(order, 0)
  const need = whyCopy(x, options)
  if (rule === false && need !== null) {
    throw failure('ERR_UNSUPPORTED', `copy is false, but ${need} would have to be copied`)
  }
  if (rule === true || need !== null) {
    const made = copied(x, options)
    countCopy('asarray', made.nbytes)
    return made
  }
  return Tensor.isTensor(x)
    ? x
    : fromBlob(
        /** @type {any} */ (x),
        dtypeOfArray(x) === undefined ? { dtype: options.dtype, dynamism } : { dynamism },
      )
}

/**
 * Why x's bytes cannot be used as they are, for a message; null: they can.
 *
 * @param {unknown} x
 * @param {AsarrayOptions} options
 * @returns {string | null}
 */
function whyCopy(x, { dtype, order, device = 'cpu', pinMemory = false }) {
  if (Tensor.isTensor(x)) {
    const layout = Tensor.layoutOf(x)
    const there = nameOfDevice(deviceOfStorage(layout.storage))
    const { name } = dtypes[layout.dtype]
    if (there !== device) return `a tensor on ${there} that is wanted on ${device}`
    if (pinMemory && !isPinned(layout.storage)) return 'a tensor that is to be in pinned memory'
    if (dtype !== undefined && dtype !== name) {
      return `a tensor of ${name} that is wanted as ${dtype}`
    }
    const axes = axesOfOrder(order, layout.shape.length)
    return axes === null || ffi.isContiguousIn(layout, axes)
      ? null
      : `a tensor that does not lie in order '${order}'`
  }
  const found = dtypeOfArray(x)
  if (isBuffer(x)) {
    if (device !== 'cpu') return `a buffer that is wanted on ${device}`
    if (pinMemory) return 'a buffer that is to be in pinned memory'
  }
  if (found !== undefined) {
    return dtype === undefined || dtype === found
      ? null
      : `a typed array of ${found} that is wanted as ${dtype}`
  }
  if (isBuffer(x)) {
    const isAligned =
      dtype === undefined || bufferRangeOf(x).byteOffset % dtypeOf(dtype).itemsize === 0
    return isAligned ? null : `a view that is not aligned for ${dtype}`
  }
  return typeof x === 'object' ? 'a list' : `a ${typeof x}`
}

/**
 * Is it a buffer or view? Also true of typed arrays.
 *
 * @param {unknown} x
 */
const isBuffer = (x) => ArrayBuffer.isView(x) || isArrayBuffer(x) || isSharedArrayBuffer(x)

/**
 * @param {any} x
 * @param {AsarrayOptions} options
 * @returns {Tensor} with bytes of its own
 */
function copied(x, options) {
  if (dtypeOfArray(x) === undefined && isBuffer(x)) return copiedBytes(x, options)
  if (!Tensor.isTensor(x)) return tensorOfData(x, null, options)
  const source = Tensor.layoutOf(x)
  const {
    dtype,
    order,
    casting,
    dynamism = nameOfDynamism(source.flags),
    device,
    pinMemory,
  } = options
  const to = dtype === undefined ? dtypes[source.dtype] : dtypeOf(dtype)
  const made = likeLayout(to, source, { order, dynamism, device, pinMemory }, false)
  return wrap(written(made, () => ffi.copy(made, source, castingOf(casting))))
}

/**
 * @param {unknown} x  a buffer, aligned or not; bytes after the last whole element are left out
 * @param {AsarrayOptions} options
 * @returns {Tensor} 1-D
 */
function copiedBytes(x, { dtype: name, dynamism, device, pinMemory }) {
  const dtype = dtypeOf(name)
  const parts = bufferRangeOf(x)
  const length = Math.floor(parts.byteLength / dtype.itemsize)
  const bytes = { ...parts, byteLength: length * dtype.itemsize }
  const source = layoutOverBytes(bytes, dtype.index, [length])
  const options = ownFields({ dynamism, device, pinMemory })
  const made = emptyLayout(dtype, [length], options, false)
  return wrap(written(made, () => ffi.copy(made, source, 0)))
}

module.exports = { asarray }
