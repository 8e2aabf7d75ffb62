'use strict'
// Values in exported memory: a tensor's bytes, or those of a record as a .safetensors file. Written there, and read as tensors over it.

const fs = require('node:fs')
const ffi = require('../backend/calls')
const { countCopy, isOnDevice } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { copyIn, copyOut } = require('../files/native-bytes')
const { readFully } = require('../files/read-file')
const { entriesOf, safetensorsHeader } = require('../files/writers')
const { denseLayout } = require('../layout/layouts')
const { fromBytes } = require('../tensor/creation')
const { Tensor, wrap } = require('../tensor/tensor')

const { Layout } = ffi

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** A mapped file with its descriptor, from a byte on. @typedef {{ fd: number, at: number, storageAt: Source['storageAt'] }} Memory */

/**
 * A value as it lies in exported memory.
 *
 * @typedef {object} Content
 * @property {number} nbytes
 * @property {boolean} isOnCpu
 * @property {(memory: Memory) => void} write  copies it to the beginning of the memory, counted
 */

const STEP = 2 ** 18 // bytes that are read or written at a time

/** for bytes that are read or written; used by one call at a time @type {Uint8Array | null} */
let own = null

const uint8 = dtypeOf('uint8').index

/**
 * @param {Value} value
 * @returns {Content}
 * @throws {TypeError} ERR_DTYPE a record with complex128 · ERR_DISPOSED, ERR_DETACHED
 */
function hostContent(value) {
  if (Tensor.isTensor(value)) {
    const { nbytes, storage } = Tensor.attachedOf(value)
    return { nbytes, isOnCpu: !isOnDevice(storage), write: (memory) => copyInto(memory, 0, value) }
  }
  const specs = entriesOf(value).map(([name, t]) => {
    const { dtype, shape, nbytes, storage } = Tensor.attachedOf(t)
    return { name, dtype: dtypes[dtype].name, shape, nbytes, isOnCpu: !isOnDevice(storage), t }
  })
  const { header, order, total } = safetensorsHeader(specs, [])
  return {
    nbytes: total,
    isOnCpu: specs.every(({ isOnCpu }) => isOnCpu),
    write(memory) {
      const head = fromBytes(header, [header.length], { dtype: 'uint8', copy: false })
      copyInto(memory, 0, head)
      head.dispose()
      for (const { spec, begin } of order) if (spec.nbytes > 0) copyInto(memory, begin, spec.t)
    },
  }
}

/**
 * Contiguous bytes are written by the descriptor: the first touch of new pages costs more in a mapping.
 *
 * @param {Memory} memory
 * @param {number} at  byte
 * @param {Tensor} t
 */
function copyInto(memory, at, t) {
  const layout = Tensor.attachedOf(t)
  const nbytes = layout.nbytes
  if (ffi.isContiguous(layout)) {
    return inSteps(nbytes, (bytes, from) => {
      copyOut(layout, from, bytes)
      for (let done = 0; done < bytes.length;) {
        done += fs.writeSync(
          memory.fd,
          bytes,
          done,
          bytes.length - done,
          memory.at + at + from + done,
        )
      }
    })
  }
  const target = tensorOver(
    /** @type {Storage} */ (memory.storageAt(at, nbytes, 1)),
    layout.dtype,
    layout.shape,
  )
  try {
    copyTo(target, t)
  } finally {
    target.dispose()
  }
}

/** @param {Tensor} target  contiguous @param {number} fd  whose beginning has its bytes */
function readFrom(target, fd) {
  const layout = Tensor.writableOf(target)
  inSteps(layout.nbytes, (bytes, from) => {
    readFully(fd, bytes, from)
    copyIn(layout, from, bytes)
  })
}

/** A counted copy, a step at a time. @param {number} nbytes @param {(bytes: Uint8Array, from: number) => void} copy */
function inSteps(nbytes, copy) {
  own ??= new Uint8Array(STEP)
  for (let from = 0; from < nbytes; from += STEP) {
    copy(own.subarray(0, Math.min(STEP, nbytes - from)), from)
  }
  countCopy('host', nbytes)
}

/**
 * @param {Storage} storage
 * @param {number} [dtype]  uint8 unless told, and all bytes of the storage
 * @param {readonly number[]} [shape]
 * @param {number} [flags]
 * @returns {Tensor} over it
 */
function tensorOver(storage, dtype = uint8, shape = [storage.nbytes], flags = 0) {
  const bare = denseLayout(dtype, /** @type {number[]} */ (shape))
  return wrap(
    new Layout(storage, dtype, bare.shape, bare.strides, 0, bare.size, bare.flags | flags),
  )
}

/** A counted copy. @param {Tensor} target @param {Tensor} source  of the same dtype and shape */
function copyTo(target, source) {
  const layout = Tensor.writableOf(target)
  ffi.copy(layout, Tensor.attachedOf(source), 0)
  countCopy('host', layout.nbytes)
}

module.exports = { hostContent, copyTo, readFrom, tensorOver }
