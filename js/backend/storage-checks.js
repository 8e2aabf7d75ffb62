'use strict'
// Are a storage's bytes still there?

const { Atomics } = require('../base/primordials')
const { failure } = require('../base/errors')
const { byteLengthOf } = require('../base/buffers')
const { backend, opcodes, frame, invoke, putStorage, OPERANDS } = require('./call-buffer')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/**
 * Checks that the caller's buffer was not detached or shrunk.
 *
 * @param {Storage} storage
 * @throws ERR_DETACHED
 */
function checkAttached (storage) {
  if (storage.buffer === null || storage.nbytes === 0) return
  if (storage.block !== null) backend.leaveHeap(storage)
  const length = byteLengthOf(storage.buffer)
  if (length >= storage.byteOffset + storage.nbytes) return
  if (storage.kind === 'native') return // its memory stays, and gets another buffer
  throw detached(storage, length)
}

/** @param {Storage} storage */
function isGuarded ({ extra }) {
  return extra !== null && extra.guarded
}

/** native.js says what it counts @type {Int32Array | null} */
const faults = /** @type {any} */ (backend).faults ?? null

/**
 * Checks, after they were used, that no bytes of a guarded mapping turned out to be gone. The load is atomic, so that no engine moves
 * it to before that use.
 *
 * @param {Storage} storage
 * @throws ERR_IO
 */
function checkIntact (storage) {
  if (!isGuarded(storage) || (faults !== null && Atomics.load(faults, 0) === 0)) return
  putStorage(frame.f64, OPERANDS, storage)
  invoke(opcodes.storage_intact)
}

/**
 * @param {Storage} storage
 * @param {number} length
 */
function detached (storage, length) {
  return failure('ERR_DETACHED', `the tensor's buffer has ${length} bytes; ${storage.byteOffset + storage.nbytes} are needed: it was transferred away or shrunk`)
}

module.exports = { checkAttached, isGuarded, checkIntact }
