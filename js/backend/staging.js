'use strict'
// Operands of a call whose bytes are still there and C can reach. On native all have addresses. On WASM the caller's buffers lie outside
// of linear memory: their bytes are copied into it for the call, and what the call wrote is copied back.

const { failure } = require('../base/errors')
const { byteLengthOf } = require('../base/buffers')
const { countStaged } = require('./storage')
const { itemsizes } = require('./dtypes')
const { Layout } = require('./layout')
const { backend, opcodes, frame, check, invoke, putStorage, OPERANDS } = require('./call-buffer')
const { extent } = require('./layout-calls')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/**
 * Checks that the caller's buffer was not detached or shrunk.
 *
 * @param {Storage} storage
 * @throws ERR_DETACHED
 */
function checkAttached(storage) {
  if (storage.buffer === null || storage.nbytes === 0) return
  if (storage.block !== null) backend.leaveHeap(storage)
  const length = byteLengthOf(storage.buffer)
  if (length >= storage.byteOffset + storage.nbytes) return
  if (storage.kind === 'native') return // its memory stays, and gets another buffer
  throw failure(
    'ERR_DETACHED',
    `the tensor's buffer has ${length} bytes; ${storage.byteOffset + storage.nbytes} are needed: it was transferred away or shrunk`,
  )
}

/** Guards against files that others make shorter: none, one, one unless the file is sealed. */
const GUARDS = { none: 0, needed: 1, wanted: 2 }

/** @param {Storage} storage */
const isGuarded = ({ optional }) => optional !== null && optional.guarded

/** native.js says what it counts @type {Int32Array | null} */
const faults = /** @type {any} */ (backend).faults ?? null

/**
 * Checks, after they were used, that no bytes of a guarded mapping turned out to be gone. The load is atomic, so that no engine moves
 * it to before that use.
 *
 * @param {Storage} storage
 * @throws ERR_IO
 */
function checkIntact(storage) {
  if (!isGuarded(storage) || (faults !== null && Atomics.load(faults, 0) === 0)) return
  putStorage(frame.f64, OPERANDS, storage)
  invoke(opcodes.storage_intact)
}

/**
 * @param {number} nbytes
 * @returns {Storage} uninitialised
 */
const allocate = (nbytes) => backend.allocate(nbytes, check)

/**
 * Makes sure that C can touch a layout's bytes. Comes before anything is written into the call buffer, because linear memory may
 * grow here.
 *
 * @param {Layout} layout
 * @returns {Layout} the operand: the layout itself, or one over a copy
 * @throws ERR_DISPOSED · ERR_DETACHED · {RangeError} ERR_MEMORY
 */
function stage(layout) {
  const { storage } = layout
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  if (storage.address === null) {
    if (backend.isWasm) return copyIn(layout)
    backend.addressOf(storage)
  }
  return layout
}

/**
 * Copies the caller's bytes into linear memory.
 *
 * @param {Layout} layout
 * @returns {Layout}
 */
function copyIn(layout) {
  const { storage, dtype, shape, strides, size, flags } = layout
  if (size === 0) return new Layout(allocate(0), dtype, shape, strides, 0, size, flags)
  const itemsize = itemsizes[dtype]
  const { low, high } = extent(layout)
  const n = (high - low + 1) * itemsize
  const from = storage.byteOffset + (layout.offset + low) * itemsize
  const copy = allocate(n)
  try {
    checkAttached(storage) // its buffer may be that of linear memory, which may just have grown
    bytesOfStaged(copy, n).set(new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), from, n))
  } catch (error) {
    backend.release(copy)
    throw error
  }
  countStaged(n)
  return new Layout(copy, dtype, shape, strides, -low, size, flags)
}

/** @param {Storage} storage  in linear memory @param {number} n  bytes */
const bytesOfStaged = (storage, n) =>
  new Uint8Array(backend.bufferOf(storage, check), backend.addressOf(storage), n)

/**
 * Ends what `stage` began: if there is a copy, writes it back where the call wrote it, and frees it.
 *
 * @param {Layout} staged  the operand
 * @param {Layout} layout
 * @param {boolean} written
 */
function unstage(staged, layout, written) {
  if (staged === layout) return
  const { storage, dtype, shape, strides, size } = layout
  if (written && size > 0) {
    const itemsize = itemsizes[dtype]
    const { low, high } = extent(layout)
    const n = (high - low + 1) * itemsize
    const source = bytesOfStaged(staged.storage, n)
    const target = new Uint8Array(
      /** @type {ArrayBuffer} */ (storage.buffer),
      storage.byteOffset + (layout.offset + low) * itemsize,
      n,
    )
    if (size === high - low + 1) target.set(source)
    else writeBack(target, source, shape, strides, -low * itemsize, itemsize, 0) // elements alone: others may have written what is between them
  }
  backend.release(staged.storage)
}

/**
 * Copies the elements of a layout, one axis a level.
 *
 * @param {Uint8Array} target
 * @param {Uint8Array} source  bytes at the same places
 * @param {number[]} shape
 * @param {number[]} strides  elements
 * @param {number} at  byte of the first element
 * @param {number} itemsize
 * @param {number} d  the axis
 */
function writeBack(target, source, shape, strides, at, itemsize, d) {
  if (d === shape.length) {
    for (let i = at; i < at + itemsize; i++) target[i] = source[i]
    return
  }
  for (let i = 0; i < shape[d]; i++) {
    writeBack(target, source, shape, strides, at + i * strides[d] * itemsize, itemsize, d + 1)
  }
}

module.exports = { checkAttached, GUARDS, isGuarded, checkIntact, allocate, stage, unstage }
