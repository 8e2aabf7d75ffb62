'use strict'
// Where new bytes go. Nothing here touches a driver: backend/cuda.js does, when it is first needed.

const { Object } = require('../base/primordials')
const { backend } = require('../backend/calls')
const { failure } = require('../base/errors')
const { laterFile } = require('../runtime/lazy')
const { show, boolean } = require('../base/validate')

const { CPU, deviceOfStorage, isDevice, nameOfDevice } = require('../backend/device-names')

const cuda = laterFile(() => require('../backend/cuda'))

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * Where new bytes go; undefined stands for the CPU's ordinary memory.
 *
 * @typedef {object} Place
 * @property {number} device  number of a CUDA device, or CPU
 * @property {boolean} pinned  page-locked memory of the CPU's, which devices see
 * @property {unknown} shared  true, or 'sab': memory that others may see
 */

/** @type {Place} the CPU's ordinary memory, where a tensor is not on the CPU */
const HOST = Object.freeze({ device: CPU, pinned: false, shared: false })

/** @type {Place} memory that other threads may see */
const SHARED = Object.freeze({ device: CPU, pinned: false, shared: true })

/**
 * The number of a device that is there.
 *
 * @param {unknown} device  undefined: none is asked for, and it is the CPU
 * @param {string} [name]  of the argument, for messages
 * @returns {number} CPU for the CPU
 * @throws ERR_DEVICE it is not there, or no device's name · ERR_UNSUPPORTED on WASM
 */
function deviceOf (device, name = 'device') {
  if (device === undefined || device === 'cpu') return CPU
  if (!isDevice(device)) throw failure('ERR_DEVICE', `${name} is ${show(device)}; 'cpu' is there, and 'cuda:0' and its like where CUDA is`)
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', `${name} is ${show(device)}; WASM has 'cpu' alone`)
  return cuda().indexOf(device, name)
}

/**
 * What the options of all that make tensors say.
 *
 * @param {unknown} device
 * @param {unknown} pinMemory
 * @param {unknown} [shared]  judged where bytes are allocated
 * @returns {Place | undefined}
 */
function placeOf (device, pinMemory, shared) {
  const at = deviceOf(device)
  const pinned = pinMemory !== undefined && boolean('pinMemory', pinMemory)
  if (at === CPU && !pinned) return shared === undefined || shared === false ? undefined : { device: CPU, pinned, shared }
  if (at !== CPU && pinned) throw failure('ERR_ARGUMENT', `pinMemory is true, and device is ${show(device)}; the CPU's memory alone is pinned`)
  if (pinned) cuda().checkPinning()
  return { device: at, pinned, shared: shared === undefined ? false : shared }
}

/**
 * Ordinary memory of the device that a storage's bytes are on.
 *
 * @param {Storage} storage
 * @returns {Place | undefined}
 */
function placeLike (storage) {
  const device = deviceOfStorage(storage)
  return device === CPU ? undefined : { device, pinned: false, shared: false }
}

/**
 * What is done with several tensors at once is done on one device.
 *
 * @param {Storage} a
 * @param {Storage} b
 * @throws ERR_DEVICE
 */
function checkTogether (a, b) {
  if (a.extra === b.extra) return // both null, most often
  const one = deviceOfStorage(a)
  const other = deviceOfStorage(b)
  if (one !== other) throw failure('ERR_DEVICE', `one tensor is on ${nameOfDevice(one)}, another one on ${nameOfDevice(other)}; to() and cpu() bring them together`)
}

module.exports = { HOST, SHARED, deviceOf, placeOf, placeLike, checkTogether }
