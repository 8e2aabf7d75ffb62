'use strict'
// What C does with storages: counts them, sends them to other threads, takes them over.

const { isOnDevice } = require('./storage')
const { backend, rows, frame, held, check, invoke, putStorage, putScalar, readLayout, RESULTS, OPERANDS, ARGS, SIZE_OF_OPERAND } = require('./call-buffer')
const { nothing, READ_ONLY } = require('./layout')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */
/** @typedef {InstanceType<typeof import('./layout').Layout>} Layout */

/** @returns {{ storages: number, heap: number, foreign: number, inFlight: number, mapped: number, pinned: number, cuda: number }} bytes alive in C; tokens' uses */
function totals () {
  invoke(rows.totals)
  const { f64 } = frame
  return { storages: f64[RESULTS], heap: f64[RESULTS + 1], foreign: f64[RESULTS + 2], inFlight: f64[RESULTS + 3], mapped: f64[RESULTS + 4], pinned: f64[RESULTS + 5], cuda: f64[RESULTS + 6] }
}

/** Descriptors of device memory that nobody has used, and memory that importers have on loan. @returns {number} */
function sharedVram () {
  /** @type {any} undefined on WASM */
  const { addon } = /** @type {any} */ (backend)
  if (addon === undefined) return 0
  addon.vramHeld()
  return frame.f64[RESULTS]
}

/**
 * Runs a row that takes storages and numbers rootless.
 *
 * @param {number} opcode
 * @param {Storage[]} storages  each with an address, or a handle
 * @param {number[]} [numbers]
 */
function run (opcode, storages, numbers) {
  const { f64 } = frame
  held.a = storages
  for (let i = 0; i < storages.length; i++) putStorage(f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
  if (numbers !== undefined) for (let i = 0; i < numbers.length; i++) f64[ARGS + i] = numbers[i]
  backend.call(opcode)
  held.a = null
  check()
}

/**
 * @param {number} device
 * @param {bigint} number  somebody's of a stream there
 * @returns {number} the handle of what stands for it
 */
function wrapStream (device, number) {
  frame.f64[ARGS] = device
  putScalar(ARGS + 1, number)
  invoke(rows.cuda_stream_wrap)
  return frame.f64[RESULTS]
}

/**
 * A storage on its way to other threads: it stays for as many takers.
 *
 * @param {Storage} storage  with a handle
 * @param {number} uses
 * @returns {number} its key
 */
function sendStorage (storage, uses) {
  putStorage(frame.f64, OPERANDS, storage)
  frame.f64[ARGS] = uses
  invoke(rows.parcel_new)
  return frame.f64[RESULTS]
}

/**
 * What others see as well of a device does not move to where there is more room.
 *
 * @param {Storage} storage  with a handle
 * @returns {Storage}
 */
function staying (storage) {
  if (isOnDevice(storage)) /** @type {import('./storage').Extra} */ (storage.extra).stays = true
  return storage
}

/**
 * @param {number} key
 * @param {boolean} asSab  its buffer is a SharedArrayBuffer; a token of which none can be made is not used up
 * @returns {Storage} this thread's as well
 */
function receiveStorage (key, asSab) {
  const buffer = asSab && backend.name === 'native' ? backend.sharedBuffer(key, check) : null // WASM's memory is one
  frame.f64[ARGS] = key
  invoke(rows.parcel_take)
  const { f64 } = frame
  const storage = staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  if (buffer !== null) storage.buffer = buffer
  return storage
}

/**
 * @param {number} key
 * @returns {number} bytes of what a token is of; nothing is taken
 */
function sentBytes (key) {
  frame.f64[ARGS] = key
  invoke(rows.parcel_nbytes)
  return frame.f64[RESULTS]
}

/**
 * A tensor that C left: its layout in the frame, and where its storage is not known its handle, address and bytes.
 *
 * @param {Storage | null} storage
 * @param {number} flags
 * @returns {Layout}
 */
function received (storage, flags) {
  const { f64 } = frame
  return readLayout(storage ?? backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]), flags)
}

/**
 * What a capsule held.
 *
 * @param {(number: number) => Storage} lentAs  what this thread itself lent under a number
 * @returns {Layout}
 */
function takeCapsule (lentAs) {
  const { f64 } = frame
  const number = f64[RESULTS + 4]
  const layout = readLayout(nothing, f64[RESULTS + 3] & READ_ONLY)
  layout.storage = number >= 0 ? lentAs(number) : staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  return layout
}

/** @param {number} key */
function takeBackStorage (key) {
  frame.f64[ARGS] = key
  invoke(rows.parcel_drop)
}

/** @returns {number} tells this process from others */
function home () {
  invoke(rows.parcels_home)
  return frame.f64[RESULTS]
}

module.exports = { totals, sharedVram, run, wrapStream, sendStorage, receiveStorage, sentBytes, received, takeCapsule, takeBackStorage, home }
