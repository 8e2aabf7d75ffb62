'use strict'
// Calls about storages: what is alive, what is page-locked, what goes to other threads.

const { events, isOnDevice, staying } = require('./storage')
const buffer = require('./call-buffer')
const { backend, opcodes, frame, held, putStorage, putScalar, invoke, invokeWith, check } = buffer
const { RESULTS, OPERANDS, ARGS, SIZE_OF_OPERAND } = buffer

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/** @returns {{ storages: number, heap: number, foreign: number, inFlight: number, mapped: number, pinned: number, cuda: number }} storages and bytes alive in C; inFlight: uses of tokens that nobody has taken */
function totals() {
  invoke(opcodes.totals)
  const results = frame.f64.subarray(RESULTS, RESULTS + 7)
  const [storages, heap, foreign, inFlight, mapped, pinned, cuda] = results
  return { storages, heap, foreign, inFlight, mapped, pinned, cuda }
}

/** @returns {number} file descriptors of device memory that nobody has used, and memory that is kept for importers */
function sharedVram() {
  /** @type {any} undefined on WASM */
  const { addon } = /** @type {any} */ (backend)
  if (addon === undefined) return 0
  addon.vramHeld()
  return frame.f64[RESULTS]
}

/**
 * Calls C with storages and numbers alone.
 *
 * @param {number} opcode
 * @param {Storage[]} storages  each with an address, or a handle
 * @param {number[]} [numbers]
 */
function run(opcode, storages, numbers) {
  const { f64 } = frame
  held.a = storages
  for (let i = 0; i < storages.length; i++) {
    putStorage(f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
  }
  if (numbers !== undefined) for (let i = 0; i < numbers.length; i++) f64[ARGS + i] = numbers[i]
  backend.call(opcode)
  held.a = null
  check()
}

/**
 * Are all bytes of a storage page-locked? Whoever pinned them; no driver is asked.
 *
 * @param {Storage} storage
 * @returns {boolean}
 */
function isPinned(storage) {
  const { optional, address, nbytes } = storage
  if (optional !== null && optional.pinned) return true
  if (backend.isWasm || address === null || nbytes === 0 || isOnDevice(storage)) return false
  run(opcodes.is_pinned, [storage])
  return frame.f64[RESULTS] !== 0
}

/**
 * @param {number} device
 * @param {bigint} number  the driver's, of another library's stream
 * @returns {number} a handle of it
 */
function wrapStream(device, number) {
  frame.f64[ARGS] = device
  putScalar(ARGS + 1, number)
  invoke(opcodes.cuda_stream_wrap)
  return frame.f64[RESULTS]
}

/**
 * Keeps a storage for other threads.
 *
 * @param {Storage} storage  with a handle
 * @param {number} uses  how often it may be received
 * @returns {number} the key to receive it by
 */
function sendStorage(storage, uses) {
  putStorage(frame.f64, OPERANDS, storage)
  const key = invokeWith(opcodes.parcel_new, uses)
  if (events.listener !== null) events.listener.shared(storage, 'sent')
  return key
}

/**
 * @param {number} key
 * @param {boolean} asSab  its buffer is to be a SharedArrayBuffer; if that fails, no use is taken
 * @returns {Storage}
 */
function receiveStorage(key, asSab) {
  const buffer = asSab && backend.name === 'native' ? backend.sharedBuffer(key, check) : null // WASM's memory is one
  invokeWith(opcodes.parcel_take, key)
  const { f64 } = frame
  const storage = staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  if (buffer !== null) storage.buffer = buffer
  if (events.listener !== null) events.listener.shared(storage, 'received')
  return storage
}

/**
 * @param {number} key
 * @returns {number} bytes of the storage; no use is taken
 */
function sentBytes(key) {
  return invokeWith(opcodes.parcel_nbytes, key)
}

/** Takes back all uses that nobody has taken. @param {number} key */
function takeBackStorage(key) {
  invokeWith(opcodes.parcel_drop, key)
}

/** @returns {number} a number that no other process has */
function home() {
  return invokeWith(opcodes.parcels_home)
}

module.exports = {
  totals,
  sharedVram,
  run,
  isPinned,
  wrapStream,
  sendStorage,
  receiveStorage,
  sentBytes,
  takeBackStorage,
  home,
}
