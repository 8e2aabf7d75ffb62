'use strict'
// DLPack: capsules of layouts, layouts of capsules, and the CUDA array interface.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { show, boolean, integers } = require('../base/validate')
const { dtypes } = require('../backend/dtypes')
const { countCopy, CPU, deviceOfStorage, nameOfDevice } = require('../backend/storage')
const { SHARED, placementLike } = require('../layout/placement')
const { withTemporary } = require('../layout/layouts')
const { likeOf } = require('../copy/results')
const { addressOf } = require('../layout/data')
const pins = require('../backend/pins')

const cuda = lazyFile(() => require('../backend/cuda'))

const { backend, READ_ONLY } = ffi
const { addon } = /** @type {any} */ (backend)

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/**
 * What a consumer asked __dlpack__ for, read and checked.
 *
 * @typedef {object} Asked
 * @property {boolean} isVersioned
 * @property {boolean} copy
 * @property {number[] | null} device  as DLPack numbers it
 * @property {number | bigint | null} stream  the consumer's
 */

const TYPE_CPU = 1
const TYPE_CUDA = 2
const DEFAULT_STREAM = 1 // DLPack's number of CUDA's legacy default stream
/** device types whose memory the CPU reads: its own, and what was pinned for CUDA and ROCm */
const HOST = [TYPE_CPU, 3, 11]

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number[] | null} null: not given
 */
function pairOfIntegers(name, value) {
  if (value === undefined || value === null) return null
  const list = integers(name, value)
  if (list.length !== 2) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; two integers were expected`)
  }
  return list
}

/**
 * @param {import('../base/types').DlpackOptions} options
 * @returns {Asked}
 */
function askedOf({ maxVersion, copy, dlDevice, stream }) {
  const version = pairOfIntegers('maxVersion', maxVersion)
  if (version !== null && version.some((n) => n < 0)) {
    throw failure(
      'ERR_BOUNDS',
      `maxVersion is ${show(maxVersion)}; it has a major and a minor version`,
    )
  }
  const device = pairOfIntegers('dlDevice', dlDevice)
  const number = stream ?? null
  if (number !== null && typeof number !== 'bigint' && !Number.isSafeInteger(number)) {
    throw failure('ERR_ARGUMENT', `stream is ${show(stream)}; an integer was expected`)
  }
  return {
    isVersioned: version !== null && version[0] >= 1,
    copy: boolean('copy', copy ?? undefined),
    device,
    stream: number,
  }
}

/**
 * Where a layout's bytes are, as DLPack numbers it.
 *
 * @param {Layout} layout
 * @returns {[number, number]}
 */
function dlDeviceOf({ storage }) {
  const device = deviceOfStorage(storage)
  return device === CPU ? [TYPE_CPU, 0] : [TYPE_CUDA, device]
}

/**
 * Checks that the bytes are on the device asked for, and that the stream is one of it.
 *
 * @param {Layout} layout
 * @param {Asked} asked
 */
function checkDeviceAndStream(layout, { device, stream }) {
  const there = dlDeviceOf(layout)
  if (device !== null && (device[0] !== there[0] || device[1] !== there[1])) {
    throw failure(
      'ERR_DEVICE',
      `dlDevice is [${device.join(', ')}]; the tensor is on ${nameOfDevice(deviceOfStorage(layout.storage))}, [${there.join(', ')}]; cpu() and to() copy it elsewhere`,
    )
  }
  if (stream === null) return
  if (there[0] === TYPE_CPU) {
    throw failure('ERR_ARGUMENT', `stream is ${show(stream)}; the CPU has none`)
  }
  if (stream === 0 || stream === 0n || stream < -1) {
    throw failure(
      'ERR_ARGUMENT',
      `stream is ${show(stream)}; -1, 1, 2 or a stream's number was expected`,
    )
  }
}

/**
 * Refuses what a legacy capsule cannot express, or what crashes its consumers.
 *
 * @param {Layout} layout
 * @param {boolean} copy  the capsule will be of a contiguous, writable copy
 */
function checkLegacy({ dtype, flags, strides, size }, copy) {
  const { name, kind, itemsize } = dtypes[dtype]
  const instead = 'maxVersion: [1, 0] asks for a capsule that can'
  if (kind === 'BOOLEAN' || (kind === 'FLOATING' && itemsize === 1)) {
    throw failure(
      'ERR_DTYPE',
      `legacy capsules cannot hold ${name}; view('uint8') can, and ${instead}`,
    )
  }
  if (copy) return
  if ((flags & READ_ONLY) !== 0) {
    throw failure(
      'ERR_READ_ONLY',
      `legacy capsules cannot say that a tensor is read-only; copy: true copies, and ${instead}`,
    )
  }
  if (size > 0 && strides.some((n) => n < 0)) {
    throw failure(
      'ERR_UNSUPPORTED',
      `consumers of legacy capsules end the process at negative strides, and these are [${strides.join(', ')}]; copy: true copies, and ${instead}`,
    )
  }
}

/**
 * A capsule of a layout's bytes, pinned until its consumer frees them; or of a copy.
 *
 * @param {Layout} layout  of a tensor that is not disposed; its bytes are attached
 * @param {Asked} asked
 * @returns {object}
 */
function capsuleOf(layout, asked) {
  const { isVersioned, copy, stream } = asked
  checkDeviceAndStream(layout, asked)
  if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      'capsules are for native code, which needs the native addon: WASM sees its own memory only',
    )
  }
  if (!isVersioned) checkLegacy(layout, copy)
  if (copy) return capsuleOfCopy(layout, isVersioned, stream)
  const readOnly = (layout.flags & READ_ONLY) !== 0
  if (deviceOfStorage(layout.storage) !== CPU) {
    return capsuleOnDevice(layout, readOnly, stream, isVersioned, false)
  }
  if (layout.size > 0) return capsuleOfOperand(pins.pin(layout, readOnly), isVersioned, false)
  ffi.putOperand(layout, readOnly)
  return capsuleOfOperand(-1, isVersioned, false)
}

/**
 * A capsule of a layout on a device, whose storage the capsule references itself.
 *
 * @param {Layout} layout
 * @param {boolean} readOnly
 * @param {number | bigint | null} stream  the consumer's, which waits for pending work; -1: the consumer synchronizes itself
 * @param {boolean} isVersioned
 * @param {boolean} copied
 */
function capsuleOnDevice(layout, readOnly, stream, isVersioned, copied) {
  pins.checkUse(layout, readOnly)
  if (stream !== -1 && stream !== -1n && layout.size > 0) cuda().touch(layout.storage, stream)
  ffi.putOperand(layout, readOnly)
  return capsuleOfOperand(-1, isVersioned, copied)
}

/**
 * @param {Layout} layout
 * @param {boolean} isVersioned
 * @param {number | bigint | null} stream
 */
function capsuleOfCopy(layout, isVersioned, stream) {
  const fill = (/** @type {Layout} */ made) => {
    ffi.copy(made, layout, 0)
    countCopy('__dlpack__', made.nbytes)
    if (deviceOfStorage(made.storage) !== CPU) {
      return capsuleOnDevice(made, false, stream, isVersioned, true)
    }
    ffi.putOperand(made, false)
    return capsuleOfOperand(-1, isVersioned, true) // which has a reference of its own to the bytes
  }
  return withTemporary(likeOf(layout), fill, placementLike(layout.storage) ?? SHARED)
}

/**
 * Makes a capsule of the operand in the frame.
 *
 * @param {number} number  of the operand's pin; -1: it has no bytes, or native ones
 * @param {boolean} isVersioned
 * @param {boolean} copied
 */
function capsuleOfOperand(number, isVersioned, copied) {
  const capsule = addon.capsule(number, isVersioned, copied)
  try {
    ffi.check()
  } catch (error) {
    if (number >= 0 && ffi.result(0) === 0) pins.unpin(number)
    throw error
  }
  return capsule
}

/**
 * Takes the tensor out of a capsule, which is used up.
 *
 * @param {unknown} capsule
 * @returns {Layout} its storage calls the capsule's deleter when it is freed
 */
function layoutOfCapsule(capsule) {
  if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      'x can be a tensor only: capsules are native memory, which needs the native addon',
    )
  }
  addon.fromCapsule(capsule)
  ffi.check()
  return ffi.takeCapsule(
    (number) => /** @type {import('../backend/storage').Storage} */ (pins.pinned()[number]),
  )
}

/**
 * The stream to ask a producer for.
 *
 * @param {unknown} device  what the producer's __dlpack_device__ returned
 * @returns {number | null} null: the bytes are on the CPU
 * @throws ERR_DEVICE no such device
 */
function streamFor(device) {
  const list = pairOfIntegers('the device of x', device)
  if (list !== null && HOST.includes(list[0])) return null
  if (list !== null && list[0] === TYPE_CUDA && !backend.isWasm) {
    try {
      ffi.run(ffi.opcodes.cuda_open, [], [Math.min(list[1], 2 ** 31)])
    } catch (error) {
      const { code, message } = /** @type {any} */ (error)
      throw failure(code, `x is on the device cuda:${list[1]}: ${message}`)
    }
    return DEFAULT_STREAM
  }
  throw failure(
    'ERR_DEVICE',
    `x is on the device ${list === null ? show(device) : `[${list.join(', ')}]`}; the CPU, [1, 0], or a CUDA device, [2, 0] and its like, was expected`,
  )
}

/** typestr of NumPy's array interface @type {Record<string, string>} */
const TYPES = {
  bool: '|b1',
  uint8: '|u1',
  int8: '|i1',
  float8_e4m3fn: '|u1',
  float8_e5m2: '|u1',
  uint16: '<u2',
  int16: '<i2',
  float16: '<f2',
  bfloat16: '<u2',
  uint32: '<u4',
  int32: '<i4',
  float32: '<f4',
  uint64: '<u8',
  int64: '<i8',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
}

/**
 * The CUDA array interface of a layout on a device.
 *
 * @param {Layout} layout
 * @returns {import('../base/types').CudaArrayInterface}
 */
function arrayInterfaceOf(layout) {
  const { storage, dtype, shape, strides, size, flags } = layout
  const { name, itemsize } = dtypes[dtype]
  if (size > 0) cuda().touch(storage, null)
  return {
    shape: shape.slice(),
    typestr: TYPES[name],
    data: [addressOf(layout), (flags & READ_ONLY) !== 0],
    version: 3,
    strides: ffi.isContiguous(layout) ? null : strides.map((n) => n * itemsize),
    stream: DEFAULT_STREAM,
  }
}

module.exports = { askedOf, arrayInterfaceOf, capsuleOf, dlDeviceOf, layoutOfCapsule, streamFor }
