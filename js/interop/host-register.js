'use strict'
// hostRegister: memory that a tensor has already becomes page-locked, so that devices copy from and to it directly.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { isOnDevice } = require('../backend/storage')
const { nameOfDevice, deviceOfStorage, isPinned } = require('../backend/device-names')
const { checkPinning } = require('../backend/cuda')
const { fix } = require('../backend/pins')
const { Tensor, tensorOf } = require('../tensor/tensor')

const { backend, rows, READ_ONLY } = ffi

/** @import { DtypeName } from '../base/types' */

/** buffers that are registered stay where they are, by the handle of the registration @type {Map<number, unknown>} */
const registered = new Map()

const registrations = new FinalizationRegistry((/** @type {number} */ handle) => {
  /** @type {any} */ (backend).drop(handle)
  registered.delete(handle)
})

/**
 * Pins the memory that a tensor has already: an ArrayBuffer, a SharedArrayBuffer, a mapped file, shared memory. Devices then copy
 * from and to it as from and to memory that was made so. It takes time, a second per gigabyte or two, and lasts until no tensor uses
 * the memory any more; a buffer cannot be transferred away from then on (Node 24 and later).
 *
 * @template {DtypeName} D
 * @param {import('../tensor/tensor').Tensor<D>} t  of the CPU's memory; of a view all that its storage has is pinned
 * @returns {import('../tensor/tensor').Tensor<D>} t itself, which isPinned now
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · ERR_UNSUPPORTED there is no CUDA, on WASM, a resizable buffer, or memory that may only
 * be read where the device cannot · ERR_EXISTS somebody registered a part of it · ERR_DEVICE t is on a device · {RangeError} ERR_MEMORY ·
 * ERR_DETACHED, ERR_DISPOSED
 * @see CUDA cuMemHostRegister, PyTorch torch.cuda.cudart().cudaHostRegister
 * @example
 * const pinned = path => hostRegister(openSafetensors(path).get('weights'))
 */
function hostRegister (t) {
  const layout = Tensor.attachedOf(tensorOf(t))
  const { storage } = layout
  if (isOnDevice(storage)) throw failure('ERR_DEVICE', `t is on ${nameOfDevice(deviceOfStorage(storage))}; the CPU's memory is what is pinned`)
  checkPinning('hostRegister was called')
  backend.promote(storage)
  if (storage.nbytes === 0) return t
  backend.addressOf(storage)
  if (isPinned(storage)) return t
  if (storage.kind !== 'native') fix(storage)
  ffi.run(rows.cuda_register, [storage], [(layout.flags & READ_ONLY) !== 0 ? 1 : 0])
  const handle = ffi.result(0)
  registered.set(handle, storage.kind === 'native' ? null : storage.buffer)
  registrations.register(storage, handle)
  return t
}

module.exports = { hostRegister }
