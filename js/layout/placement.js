'use strict'
// Where new bytes are allocated: device, pinned, shared. Loads backend/cuda.js, and with it the driver, at first use of a device.

const { backend } = require('../backend/calls')
const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { show, boolean } = require('../base/validate')

const { CPU, deviceOfStorage, isDevice, nameOfDevice } = require('../backend/storage')

const cuda = lazyFile(() => require('../backend/cuda'))

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * Where new bytes are allocated; undefined stands for the CPU's ordinary memory.
 *
 * @typedef {object} Placement
 * @property {number} device  number of a CUDA device, or CPU
 * @property {boolean} pinned  page-locked memory of the CPU, which devices can access
 * @property {unknown} shared  true, 'sab' or 'own': memory that other threads or processes can see
 */

/** @type {Placement} the CPU's ordinary memory, also for the copy of a tensor on a device */
const HOST = Object.freeze({ device: CPU, pinned: false, shared: false })

/** @type {Placement} memory that other threads can see */
const SHARED = Object.freeze({ device: CPU, pinned: false, shared: true })

/**
 * The number of an available device.
 *
 * @param {unknown} device  undefined: the CPU
 * @param {string} [name]  of the argument, for messages
 * @returns {number} CPU, or a CUDA device's number
 * @throws ERR_DEVICE not available, or not a device's name · ERR_UNSUPPORTED on WASM
 */
function deviceOf(device, name = 'device') {
  if (device === undefined || device === 'cpu') return CPU
  if (!isDevice(device)) {
    throw failure(
      'ERR_DEVICE',
      `${name} is ${show(device)}; 'cpu' is there, and 'cuda:0' and its like where CUDA is`,
    )
  }
  if (backend.isWasm) {
    throw failure('ERR_UNSUPPORTED', `${name} is ${show(device)}; WASM has 'cpu' alone`)
  }
  return cuda().indexOf(device, name)
}

/**
 * The place that the options device, pinMemory and shared ask for.
 *
 * @param {unknown} device
 * @param {unknown} pinMemory
 * @param {unknown} [shared]  checked when bytes are allocated
 * @returns {Placement | undefined}
 */
function placementOf(device, pinMemory, shared) {
  const at = deviceOf(device)
  const pinned = pinMemory !== undefined && boolean('pinMemory', pinMemory)
  if (at === CPU && !pinned) {
    return shared === undefined || shared === false ? undefined : { device: CPU, pinned, shared }
  }
  if (at !== CPU && pinned) {
    throw failure(
      'ERR_ARGUMENT',
      `pinMemory is true, and device is ${show(device)}; the CPU's memory alone is pinned`,
    )
  }
  if (pinned) cuda().checkPinning()
  return { device: at, pinned, shared: shared === undefined ? false : shared }
}

/**
 * Ordinary memory of the device that a storage's bytes are on.
 *
 * @param {Storage} storage
 * @returns {Placement | undefined}
 */
function placementLike(storage) {
  const device = deviceOfStorage(storage)
  return device === CPU ? undefined : { device, pinned: false, shared: false }
}

/**
 * Operands of one operation must be on one device.
 *
 * @param {Storage} a
 * @param {Storage} b
 * @throws ERR_DEVICE
 */
function checkSameDevice(a, b) {
  if (a.optional === b.optional) return // both null, most often
  const one = deviceOfStorage(a)
  const other = deviceOfStorage(b)
  if (one !== other) {
    throw failure(
      'ERR_DEVICE',
      `one tensor is on ${nameOfDevice(one)}, another one on ${nameOfDevice(other)}; to() and cpu() bring them together`,
    )
  }
}

module.exports = { HOST, SHARED, deviceOf, placementOf, placementLike, checkSameDevice }
