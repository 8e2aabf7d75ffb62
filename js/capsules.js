'use strict'
// DLPack capsules: a layout's bytes for other addons, and theirs as layouts.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, boolean, integers } = require('./validate')
const { dtypes, itemsizes } = require('./dtypes')
const { countCopy } = require('./storage')
const { SHARED } = require('./devices')
const { withBytes } = require('./layouts')
const { likeOf } = require('./results')
const loans = require('./loans')

const { backend, READ_ONLY } = ffi
const { addon } = /** @type {any} */ (backend)

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {{ isVersioned: boolean, copy: boolean }} Asked what a consumer asked for, after all that is user code ran */

const CPU = 1
/** device types whose memory the CPU reads: its own, and what was pinned for CUDA and ROCm */
const HOST = [CPU, 3, 11]

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number[] | null} null: not given
 */
function pair (name, value) {
  if (value === undefined || value === null) return null
  const list = integers(name, value)
  if (list.length !== 2) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; two integers were expected`)
  return list
}

/**
 * @param {import('./types').DlpackOptions} options
 * @returns {Asked}
 */
function askedOf ({ maxVersion, copy, dlDevice, stream }) {
  const version = pair('maxVersion', maxVersion)
  if (version !== null && version.some(n => n < 0)) throw failure('ERR_BOUNDS', `maxVersion is ${show(maxVersion)}; it has a major and a minor version`)
  const device = pair('dlDevice', dlDevice)
  if (device !== null && (device[0] !== CPU || device[1] !== 0)) throw failure('ERR_DEVICE', `dlDevice is [${device.join(', ')}]; the tensor is on the CPU, [1, 0]`)
  if (stream !== undefined && stream !== null) throw failure('ERR_ARGUMENT', `stream is ${show(stream)}; the CPU has none`)
  return { isVersioned: version !== null && version[0] >= 1, copy: boolean('copy', copy ?? undefined) }
}

/**
 * Refuses what consumers of legacy capsules read wrongly or die of.
 *
 * @param {Layout} layout
 * @param {boolean} copy  dense and writable, whatever the layout is
 */
function checkLegacy ({ dtype, flags, strides, size }, copy) {
  const { name, kind, itemsize } = dtypes[dtype]
  const instead = 'maxVersion: [1, 0] asks for a capsule that can'
  if (kind === 'BOOLEAN' || (kind === 'FLOATING' && itemsize === 1)) {
    throw failure('ERR_DTYPE', `legacy capsules cannot hold ${name}; view('uint8') can, and ${instead}`)
  }
  if (copy) return
  if ((flags & READ_ONLY) !== 0) throw failure('ERR_READ_ONLY', `legacy capsules cannot say that a tensor is read-only; copy: true copies, and ${instead}`)
  if (size > 0 && strides.some(n => n < 0)) {
    throw failure('ERR_UNSUPPORTED', `consumers of legacy capsules end the process at negative strides, and these are [${strides.join(', ')}]; copy: true copies, and ${instead}`)
  }
}

/**
 * A capsule of the bytes where they are, held until its consumer frees them; or of a copy.
 *
 * @param {Layout} layout  of a tensor that was not disposed, over bytes that are attached
 * @param {Asked} asked
 * @returns {object}
 */
function capsuleOf (layout, { isVersioned, copy }) {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'capsules are for native code, which needs the native addon: WASM sees its own memory only')
  if (!isVersioned) checkLegacy(layout, copy)
  if (copy) return capsuleOfCopy(layout, isVersioned)
  const readOnly = (layout.flags & READ_ONLY) !== 0
  if (layout.size > 0) return capsuleOfOperand(loans.hold(layout, readOnly), isVersioned, false)
  ffi.putOperand(layout, readOnly)
  return capsuleOfOperand(-1, isVersioned, false)
}

/**
 * @param {Layout} layout
 * @param {boolean} isVersioned
 */
function capsuleOfCopy (layout, isVersioned) {
  const made = withBytes(likeOf(layout, undefined), 0, false, SHARED)
  try {
    ffi.copy(made, layout, 0)
    countCopy('__dlpack__', made.size * itemsizes[made.dtype])
    ffi.putOperand(made, false)
    return capsuleOfOperand(-1, isVersioned, true)
  } finally {
    backend.release(made.storage) // the capsule has a hold of its own
  }
}

/**
 * @param {number} number  under which the operand in the frame is held; -1: it has no bytes, or native ones
 * @param {boolean} isVersioned
 * @param {boolean} copied
 */
function capsuleOfOperand (number, isVersioned, copied) {
  const capsule = addon.capsule(number, isVersioned, copied)
  try {
    ffi.check()
  } catch (error) {
    if (number >= 0 && ffi.result(0) === 0) loans.giveBack(number)
    throw error
  }
  return capsule
}

/**
 * Uses a capsule up.
 *
 * @param {unknown} capsule
 * @returns {Layout} whose storage frees it when nobody needs it any more
 */
function layoutOf (capsule) {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'x can be a tensor only: capsules are native memory, which needs the native addon')
  addon.fromCapsule(capsule)
  ffi.check()
  return ffi.takeCapsule(number => /** @type {import('./storage').Storage} */ (loans.lent.held[number]))
}

/**
 * Where what others export lies.
 *
 * @param {unknown} device  what their __dlpack_device__ gave
 */
function checkHost (device) {
  const list = pair('the device of x', device)
  if (list === null || !HOST.includes(list[0])) {
    throw failure('ERR_DEVICE', `x is on the device ${list === null ? show(device) : `[${list.join(', ')}]`}; the CPU, [1, 0], was expected`)
  }
}

module.exports = { askedOf, capsuleOf, layoutOf, checkHost }
