'use strict'
// The caller's bytes in linear memory for one call.

const { Uint8Array, typedSet } = require('../base/primordials')
const { failure } = require('../base/errors')
const { countStaged } = require('./storage')
const { itemsizes } = require('./dtypes')
const { Layout } = require('./layout')
const { backend, check } = require('./call-buffer')
const { checkAttached } = require('./storage-checks')
const { extent } = require('./layout-calls')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/**
 * @param {number} nbytes
 * @returns {Storage} uninitialised
 */
function allocate (nbytes) {
  return backend.allocate(nbytes, check)
}

/**
 * A layout whose bytes C will touch: attached, with an address. Comes before any put, because memory
 * may grow here.
 *
 * @param {Layout} layout
 * @returns {Layout}  to put; another one where the bytes were staged
 */
function reach (layout) {
  const { storage } = layout
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  if (storage.address === null) {
    if (backend.isWasm) return stage(layout)
    backend.addressOf(storage)
  }
  return layout
}

/**
 * A copy of the caller's bytes in linear memory.
 *
 * @param {Layout} layout
 * @returns {Layout}
 */
function stage (layout) {
  const { storage, dtype, shape, strides, size, flags } = layout
  if (size === 0) return new Layout(allocate(0), dtype, shape, strides, 0, size, flags)
  const itemsize = itemsizes[dtype]
  const { low, high } = extent(layout)
  const n = (high - low + 1) * itemsize
  const from = storage.byteOffset + (layout.offset + low) * itemsize
  const copy = allocate(n)
  try {
    checkAttached(storage) // it may be linear memory from its first byte on, which has just grown
    typedSet(bytesOfStaged(copy, n), new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), from, n))
  } catch (error) {
    backend.release(copy)
    throw error
  }
  countStaged(n)
  return new Layout(copy, dtype, shape, strides, -low, size, flags)
}

/**
 * @param {Storage} storage  in linear memory
 * @param {number} n
 */
function bytesOfStaged (storage, n) {
  return new Uint8Array(backend.bufferOf(storage, check), backend.addressOf(storage), n)
}

/**
 * Ends what reach began: writes back what a staged target got, and frees the copy.
 *
 * @param {Layout} staged  what reach returned
 * @param {Layout} layout  what it was given
 * @param {boolean} written
 */
function settle (staged, layout, written) {
  if (staged === layout) return
  const { storage, dtype, shape, strides, size } = layout
  if (written && size > 0) {
    const itemsize = itemsizes[dtype]
    const { low, high } = extent(layout)
    const n = (high - low + 1) * itemsize
    const source = bytesOfStaged(staged.storage, n)
    const target = new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), storage.byteOffset + (layout.offset + low) * itemsize, n)
    if (size === high - low + 1) typedSet(target, source)
    else writeBack(target, source, shape, strides, -low * itemsize, itemsize, 0) // not the gaps: they are others'
  }
  backend.release(staged.storage)
}

/**
 * @param {Uint8Array} target
 * @param {Uint8Array} source
 * @param {number[]} shape
 * @param {number[]} strides
 * @param {number} at
 * @param {number} itemsize
 * @param {number} d
 */
function writeBack (target, source, shape, strides, at, itemsize, d) {
  if (d === shape.length) {
    for (let i = at; i < at + itemsize; i++) target[i] = source[i]
    return
  }
  for (let i = 0; i < shape[d]; i++) writeBack(target, source, shape, strides, at + i * strides[d] * itemsize, itemsize, d + 1)
}

module.exports = { allocate, reach, settle }
