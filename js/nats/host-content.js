'use strict'
// Values in lent memory: a tensor's bytes, or those of a record as a .safetensors file. Written there, and read as tensors over it.

const ffi = require('../backend/calls')
const { countCopy, isOnDevice } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { Part } = require('../files/byte-source')
const { entriesOf, safetensorsHeader } = require('../files/writers')
const { denseLayout } = require('../layout/layouts')
const { fromBlob } = require('../tensor/blob')
const { fromBytes } = require('../tensor/creation')
const { Tensor, wrap } = require('../tensor/tensor')
const messages = require('./messages')

const { backend, Layout } = ffi

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {Pick<Source, 'place'>} Memory */

/**
 * A value as it lies in lent memory.
 *
 * @typedef {object} Content
 * @property {number} nbytes
 * @property {boolean} isOnCpu
 * @property {(memory: Memory) => void} write  copies it to the beginning of the memory, counted
 */

const uint8 = dtypeOf('uint8').index

/** @param {InstanceType<typeof Layout>} layout */
const nbytesOf = ({ size, dtype }) => size * dtypes[dtype].itemsize

/**
 * @param {Value} value
 * @returns {Content}
 * @throws {TypeError} ERR_DTYPE a record with complex128 · ERR_DISPOSED, ERR_DETACHED
 */
const contentOf = value => Tensor.isTensor(value) ? contentOfTensor(value) : contentOfRecord(value)

/** @param {Tensor} t @returns {Content} */
function contentOfTensor (t) {
  const layout = Tensor.attachedOf(t)
  return { nbytes: nbytesOf(layout), isOnCpu: !isOnDevice(layout.storage), write: memory => copyInto(memory, 0, t) }
}

/** @param {Record<string, Tensor>} record @returns {Content} */
function contentOfRecord (record) {
  const specs = entriesOf(record).map(([name, t]) => {
    const layout = Tensor.attachedOf(t)
    return { name, dtype: dtypes[layout.dtype].name, shape: layout.shape, nbytes: nbytesOf(layout), isOnCpu: !isOnDevice(layout.storage), t }
  })
  const { header, order, total } = safetensorsHeader(specs, [])
  return {
    nbytes: total,
    isOnCpu: specs.every(({ isOnCpu }) => isOnCpu),
    write (memory) {
      const head = fromBytes(header, [header.length], { dtype: 'uint8', copy: false })
      copyInto(memory, 0, head)
      head.dispose()
      for (const { spec: { t, nbytes }, begin } of order) if (nbytes > 0) copyInto(memory, begin, t)
    }
  }
}

/** @param {Memory} memory @param {number} at  byte @param {Tensor} t */
function copyInto (memory, at, t) {
  const { dtype, shape, size } = Tensor.attachedOf(t)
  const target = over(/** @type {Storage} */ (memory.place(at, size * dtypes[dtype].itemsize, 1)), dtype, shape, 0)
  try {
    copyTo(target, t)
  } finally {
    target.dispose()
  }
}

/**
 * @param {Storage} storage
 * @param {number} dtype
 * @param {readonly number[]} shape
 * @param {number} flags
 * @returns {Tensor} over it
 */
function over (storage, dtype, shape, flags) {
  const bare = denseLayout(dtype, /** @type {number[]} */ (shape))
  return wrap(new Layout(storage, dtype, bare.shape, bare.strides, 0, bare.size, bare.flags | flags))
}

/** A counted copy. @param {Tensor} target @param {Tensor} source  of the same dtype and shape */
function copyTo (target, source) {
  const layout = Tensor.writableOf(target)
  ffi.copy(layout, Tensor.attachedOf(source), 0)
  countCopy('host', nbytesOf(layout))
}

/**
 * What was written to lent memory, as one tensor that is sent as a message's bytes.
 *
 * @param {Memory} memory
 * @param {Value} value  that was written
 * @param {number} nbytes  of its content
 * @returns {Tensor} of uint8 for a record
 */
function tensorOver (memory, value, nbytes) {
  const storage = /** @type {Storage} */ (memory.place(0, nbytes, 1))
  if (!Tensor.isTensor(value)) return over(storage, uint8, [nbytes], 0)
  const { dtype, shape } = Tensor.attachedOf(value)
  return over(storage, dtype, shape, 0)
}

/**
 * The tensors of a record that was written to a segment.
 *
 * @param {InstanceType<typeof import('../sharing/segments').Segment>} segment
 * @param {number} nbytes
 * @param {() => void} unused  is called when no tensor and no buffer is over the segment, also where this throws
 * @returns {Record<string, Tensor>} over the segment
 * @throws as messages.decode
 */
function recordOver (segment, nbytes, unused) {
  const address = backend.addressOf(/** @type {Storage} */ (segment.storage))
  const whole = fromBlob(BigInt(address), [nbytes], { dtype: 'uint8', deleter: unused })
  try {
    return messages.decodeLent(new Kept(segment, nbytes, Tensor.layoutOf(whole).storage))
  } finally {
    whole.dispose()
  }
}

/** The beginning of a segment, whose parts keep a storage. */
class Kept extends Part {
  #storage

  /** @param {Source} segment @param {number} nbytes @param {Storage} storage  of these bytes */
  constructor (segment, nbytes, storage) {
    super(segment, 0, nbytes)
    this.#storage = storage
  }

  /** @param {number} from @param {number} nbytes @param {number} alignment @override */
  place (from, nbytes, alignment) {
    return from % alignment === 0 ? /** @type {any} */ (backend).partOf(this.#storage, from, nbytes) : null
  }
}

module.exports = { contentOf, over, copyTo, tensorOver, recordOver }
