'use strict'
// Deflated members of an .npz, inflated: at once, or on a later turn.

const { failure } = require('../base/errors')
const { isSharedArrayBuffer } = require('../base/buffers')
const { countCopy, grant } = require('../backend/storage')
const { backend } = require('../backend/calls')
const { inflate } = require('../runtime/host')
const { roomFor } = require('./allocate')
const { Bytes } = require('./byte-source')
const { crc32 } = require('./crc32')

/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./npz').Member} Member */

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} packed
 * @returns {Source}
 */
function inflatedNow (source, member, packed) {
  grant(member.unpacked, backend.inUse)
  let inflated
  try {
    inflated = /** @type {NonNullable<typeof inflate>} */ (inflate)(isSharedArrayBuffer(packed.buffer) ? packed.slice() : packed, member.unpacked)
  } catch (error) {
    throw badMember(member, /** @type {Error} */ (error).message)
  }
  return inflatedBytes(source, member, inflated)
}

/**
 * @param {Member} member
 * @returns {Uint8Array<ArrayBuffer>} for all that it is inflated to: at most 1032 times what is packed, as the parser saw to
 */
const roomOf = ({ name, unpacked }) => roomFor(unpacked, `${JSON.stringify(name)}, inflated,`)

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Source} packed  its bytes in the file
 * @returns {Promise<Source>}
 */
async function inflatedLater (source, member, packed) {
  grant(member.unpacked, backend.inUse)
  const inflated = roomOf(member)
  let n = 0
  try {
    const stream = new Blob([packed.read(0, packed.size)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    const reader = stream.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (n + value.length > inflated.length) {
        await reader.cancel()
        throw new Error(TOO_MANY)
      }
      inflated.set(value, n)
      n += value.length
    }
  } catch (error) {
    throw badMember(member, /** @type {Error} */ (error).message)
  }
  return inflatedBytes(source, member, inflated.subarray(0, n))
}

const TOO_MANY = 'it has more bytes than the zip directory says'

/**
 * @param {Member} member
 * @param {string} why
 */
function badMember ({ name, header }, why) {
  return failure('ERR_FORMAT', `byte ${header}: the member ${JSON.stringify(name)} cannot be inflated: ${why}`)
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} inflated
 * @param {number} [crc]  of them
 * @returns {Source}
 */
function inflatedBytes (source, member, inflated, crc = crc32(inflated, 0)) {
  if (inflated.length !== member.unpacked) throw badMember(member, `it has ${inflated.length} bytes; the zip directory says ${member.unpacked}`)
  if (crc !== member.crc) throw badMember(member, 'its checksum is wrong')
  const bytes = new Bytes(inflated, source.reason)
  bytes.flags = source.flags
  countCopy(source.reason, inflated.length)
  return bytes
}

module.exports = { inflatedNow, inflatedLater, inflatedBytes, roomOf, badMember, TOO_MANY }
