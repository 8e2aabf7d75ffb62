'use strict'
// Deflated members of an .npz, inflated: at once (inflateNow), on another thread (Inflation), or the beginning only (Beginning).
// Whichever it is, the memory limit is asked first, and size and checksum have to be those of the zip's directory.

const { failure } = require('../base/errors')
const { isSharedArrayBuffer } = require('../base/buffers')
const { checkSignal } = require('../base/signals')
const { countCopy, grant } = require('../backend/storage')
const { backend } = require('../backend/calls')
const { inflate, inflateSome } = require('../runtime/host')
const { newBytes } = require('./allocate')
const { Bytes } = require('./byte-source')
const { crc32 } = require('./crc32')
const { Inflater } = require('./inflater')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./npz').Member} Member */

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} packed  its bytes in the file
 * @returns {Source} of the inflated bytes
 * @throws ERR_FORMAT · {RangeError} ERR_MEMORY
 */
function inflateNow(source, member, packed) {
  grant(member.unpacked, backend.inUse)
  let inflated
  try {
    inflated = /** @type {NonNullable<typeof inflate>} */ (inflate)(
      isSharedArrayBuffer(packed.buffer) ? packed.slice() : packed,
      member.unpacked,
    )
  } catch (error) {
    throw badMember(member, /** @type {Error} */ (error).message)
  }
  return checkedBytes(source, member, inflated, crc32(inflated, 0))
}

/** A member that is inflated on another thread while its bytes come. */
class Inflation {
  /**
   * @param {Source} source
   * @param {Member} member
   * @param {Signal} [signal]  ends it after any part
   * @throws {RangeError} ERR_MEMORY
   */
  constructor(source, member, signal) {
    grant(member.unpacked, backend.inUse)
    const bytes = newBytes(member.unpacked, `${JSON.stringify(member.name)}, inflated,`) // at most 1032 times what is packed: the parser checked
    let n = 0
    let crc = 0
    /** @type {Promise<Source> | undefined} */
    this.ended = undefined
    this.inflater = new Inflater(member.unpacked, (part) => {
      const from = n
      n += part.length
      if (n > bytes.length || signal?.look()) return false
      bytes.set(part, from)
      crc = crc32(part, crc)
      return true
    })
    this.finish = async () => {
      const fault = await this.inflater.end()
      checkSignal(signal)
      if (fault !== null) throw badMember(member, fault.message)
      if (n > bytes.length) throw badMember(member, 'it has more bytes than the zip directory says')
      return checkedBytes(source, member, bytes.subarray(0, n), crc)
    }
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} piece  of its bytes in the file
   * @returns {Promise<boolean>} false: no more is wanted
   * @throws as end, if no more is wanted
   */
  async add(piece) {
    if (this.ended === undefined) await this.inflater.add(piece)
    if (!this.inflater.isOver) return true
    await this.end()
    return false
  }

  /**
   * Nothing is added any more.
   *
   * @returns {Promise<Source>} of the inflated bytes
   * @throws ERR_FORMAT · the signal's reason
   */
  end() {
    return (this.ended ??= this.finish())
  }

  close() {
    this.inflater.close()
  }
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Iterable<Uint8Array<ArrayBuffer>> | AsyncIterable<Uint8Array<ArrayBuffer>>} pieces  of its bytes in the file
 * @param {Signal} [signal]
 * @returns {Promise<Source>} of the inflated bytes
 * @throws as Inflation · what pieces throws
 */
async function inflateAsync(source, member, pieces, signal) {
  const inflation = new Inflation(source, member, signal)
  try {
    for await (const piece of pieces) if (!(await inflation.add(piece))) break
    return await inflation.end()
  } finally {
    inflation.close()
  }
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} inflated
 * @param {number} crc  of them
 * @returns {Source}
 */
function checkedBytes(source, member, inflated, crc) {
  if (inflated.length !== member.unpacked) {
    throw badMember(
      member,
      `it has ${inflated.length} bytes; the zip directory says ${member.unpacked}`,
    )
  }
  if (crc !== member.crc) throw badMember(member, 'its checksum is wrong')
  const bytes = new Bytes(inflated, source.reason)
  bytes.flags = source.flags
  countCopy(source.reason, inflated.length)
  return bytes
}

/**
 * @param {Member} member
 * @param {string} why
 */
function badMember({ name, header }, why) {
  return failure(
    'ERR_FORMAT',
    `byte ${header}: the member ${JSON.stringify(name)} cannot be inflated: ${why}`,
  )
}

const FIRST_PACKED = 4096 // deflated bytes: they nearly always have all of an array's header, and become 4 MiB at most

/** A deflated member of which only the beginning is inflated until more is read. @implements {Source} */
class Beginning {
  /**
   * @param {Source} source
   * @param {Member} member
   * @param {Source} packed  its bytes in the file
   * @param {() => Source} inflateAll
   */
  constructor(source, member, packed, inflateAll) {
    this.size = member.unpacked
    this.flags = source.flags
    this.reason = source.reason
    this.writes = source.writes
    this.inflateAll = inflateAll
    /** @type {Source | null} */
    this.whole = null
    /** @type {Uint8Array<ArrayBuffer>} */
    this.bytes = new Uint8Array(0)
    const some = packed.read(0, Math.min(packed.size, FIRST_PACKED))
    try {
      this.bytes = /** @type {NonNullable<typeof inflateSome>} */ (inflateSome)(some)
    } catch {} // inflating all of it says what is wrong
    this.first = this.bytes.length
  }

  all() {
    return (this.whole ??= this.inflateAll())
  }
  /** @param {number} from @param {number} nbytes */
  read(from, nbytes) {
    return from + nbytes <= this.bytes.length
      ? this.bytes.subarray(from, from + nbytes)
      : this.all().read(from, nbytes)
  }
  /** @param {number} from @param {number} nbytes */
  view(from, nbytes) {
    return this.all().view(from, nbytes)
  }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  storageAt(from, nbytes, alignment) {
    return this.all().storageAt(from, nbytes, alignment)
  }
  close() {}
}

module.exports = { inflateNow, Inflation, inflateAsync, Beginning }
