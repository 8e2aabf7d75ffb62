'use strict'
// hostRegister: page-locks the memory of an existing tensor, so that devices copy from and to it directly.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { isOnDevice, nameOfDevice, deviceOfStorage } = require('../backend/storage')
const { checkPinning } = require('../backend/cuda')
const { fix } = require('../backend/pins')
const { Tensor, tensorOf } = require('../tensor/tensor')

const { backend, opcodes, isPinned, READ_ONLY } = ffi

/** @import { DtypeName } from '../base/types' */

/** keeps registered buffers alive, by the handle of the registration @type {Map<number, unknown>} */
const registered = new Map()

const registrations = new FinalizationRegistry((/** @type {number} */ handle) => {
  ;/** @type {any} */ (backend).drop(handle)
  registered.delete(handle)
})

/**
 * Pins the memory of an existing tensor: an ArrayBuffer, a SharedArrayBuffer, a mapped file, shared memory. Devices then copy
 * from and to it as fast as with memory allocated by pinMemory. It takes about a second per one or two gigabytes, and lasts until no
 * tensor uses the memory any more; the buffer cannot be transferred from then on (Node 24 and later).
 *
 * @template {DtypeName} D
 * @param {import('../tensor/tensor').Tensor<D>} t  in the CPU's memory; of a view, the whole storage is pinned
 * @returns {import('../tensor/tensor').Tensor<D>} t itself, now with isPinned
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · ERR_UNSUPPORTED no CUDA, WASM, a resizable buffer, or read-only
 * memory where the device does not support it · ERR_EXISTS a part of it is registered already · ERR_DEVICE t is on a device · {RangeError} ERR_MEMORY ·
 * ERR_DETACHED, ERR_DISPOSED
 * @see CUDA cuMemHostRegister, PyTorch torch.cuda.cudart().cudaHostRegister
 * @example
 * const pinned = path => hostRegister(openSafetensors(path).get('weights'))
 */
function hostRegister(t) {
  const layout = Tensor.attachedOf(tensorOf(t))
  const { storage } = layout
  if (isOnDevice(storage)) {
    throw failure(
      'ERR_DEVICE',
      `t is on ${nameOfDevice(deviceOfStorage(storage))}; the CPU's memory is what is pinned`,
    )
  }
  checkPinning('hostRegister was called')
  backend.promote(storage)
  if (storage.nbytes === 0) return t
  backend.addressOf(storage)
  if (isPinned(storage)) return t
  if (storage.kind !== 'native') fix(storage)
  ffi.run(opcodes.cuda_register, [storage], [(layout.flags & READ_ONLY) !== 0 ? 1 : 0])
  const handle = ffi.result(0)
  registered.set(handle, storage.kind === 'native' ? null : storage.buffer)
  registrations.register(storage, handle)
  return t
}

module.exports = { hostRegister }
