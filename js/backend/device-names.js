'use strict'
// Names of devices, and the device of a storage. Nothing here loads the driver.

const ffi = require('./calls')

const { backend } = ffi

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/** the number of the CPU among devices */
const CPU = -1

/**
 * Does a text name a device, there or not?
 *
 * @param {unknown} value
 * @returns {value is string}
 */
function isDevice (value) {
  return typeof value === 'string' && /^(cpu|cuda(:\d+)?)$/.test(value)
}

/**
 * The number of the device that has a storage's bytes.
 *
 * @param {Storage} storage
 * @returns {number} CPU for the CPU
 */
function deviceOfStorage ({ extra }) {
  return extra === null ? CPU : extra.device
}

/**
 * Are all bytes of a storage page-locked? Whoever pinned them; no driver is asked.
 *
 * @param {Storage} storage
 * @returns {boolean}
 */
function isPinned (storage) {
  const { extra, address, nbytes } = storage
  if (extra !== null && extra.pinned) return true
  if (backend.isWasm || address === null || nbytes === 0 || deviceOfStorage(storage) !== CPU) return false
  ffi.run(ffi.opcodes.is_pinned, [storage])
  return ffi.result(0) !== 0
}

/**
 * @param {number} device
 * @returns {import('../base/types').DeviceName}
 */
const nameOfDevice = device => device === CPU ? 'cpu' : `cuda:${device}`

module.exports = { CPU, isDevice, deviceOfStorage, isPinned, nameOfDevice }
