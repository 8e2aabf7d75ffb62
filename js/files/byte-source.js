'use strict'
// Where the parsers and tensors find a file's bytes: the interface `Source`, and the sources that are in memory or part of another.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { byteLengthOf } = require('../base/buffers')
const { bufferRangeOf } = require('../layout/layouts')
const { newBytes } = require('./allocate')

const { backend } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * A file's bytes, in memory or not. MappedFile, ReadFile and Beginning are others.
 *
 * @typedef {object} Source
 * @property {number} size  bytes
 * @property {number} first  bytes that a parser is given first
 * @property {number} flags  of the layouts of tensors over it
 * @property {string} reason  under which copies are counted
 * @property {boolean} writes  whether what is written to a tensor has to reach it
 * @property {(from: number, nbytes: number) => Uint8Array<ArrayBuffer>} read  a copy that nobody else can write to, for what is looked at more than once
 * @property {(from: number, nbytes: number) => Uint8Array} view  a copy, or the file's own bytes where they are in memory, for what is read once
 * @property {(from: number, nbytes: number, alignment: number) => Storage | null} storageAt  the bytes as a storage; null: they are not aligned, or not in memory
 * @property {() => void} close
 * @property {boolean} [owned]  place gives a storage that nothing else uses
 * @property {Set<unknown>} [faults]  of load(), which reads each member of an .npz once: errors of those that are none of our arrays
 */

/** A caller's bytes as a file. @implements {Source} */
class Bytes {
  /**
   * @param {unknown} bytes
   * @param {string} reason
   */
  constructor(bytes, reason) {
    const { buffer, byteOffset, byteLength } = bufferRangeOf(bytes)
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.size = byteLength
    this.source = /** @type {object} */ (bytes)
    this.flags = 0
    this.reason = reason
    this.writes = false
    this.first = 4096
    /** keeps linear memory from being freed, which the caller's array does not @type {Storage | null} */
    this.holder =
      byteOffset > 0 && backend.isOwn(buffer)
        ? backend.adopt(buffer, byteOffset, byteLength, this.source)
        : null
  }

  /** The buffer that has the bytes now: linear memory has another one after it grew. */
  current() {
    return this.holder === null ? this.buffer : backend.bufferOf(this.holder, ffi.check)
  }

  /**
   * A copy, because another thread or process may write to the caller's bytes: any buffer may lie over shared or mapped memory.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  read(from, nbytes) {
    const bytes = newBytes(nbytes, 'a header')
    bytes.set(this.view(from, nbytes))
    return bytes
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   */
  view(from, nbytes) {
    const at = this.live(from, nbytes)
    return new Uint8Array(/** @type {ArrayBuffer} */ (this.current()), at, nbytes)
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @returns {number} where they are in the buffer
   * @throws ERR_DETACHED they are gone: tensors are made later than the file object
   */
  live(from, nbytes) {
    const at = this.byteOffset + from
    if (byteLengthOf(this.current()) < at + nbytes) {
      throw failure(
        'ERR_DETACHED',
        'the bytes of the file are gone: their buffer was transferred away or shrunk, or is that of WASM memory which grew since',
      )
    }
    return at
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   */
  storageAt(from, nbytes, alignment) {
    const at = this.live(from, nbytes)
    if (at % alignment !== 0) return null
    const storage = backend.adopt(this.current(), at, nbytes, this.source)
    if (backend.addressOf(storage) % alignment !== 0) {
      backend.release(storage)
      return null
    }
    storage.owner ??= this.source
    return storage
  }

  close() {
    if (this.holder !== null) backend.release(this.holder)
  }
}

rootless(Bytes)

/**
 * Calls make with a caller's bytes as a source, which is closed if make throws.
 *
 * @template R
 * @param {unknown} bytes
 * @param {string} reason
 * @param {(source: Bytes) => R} make
 * @returns {R}
 */
function ofBytes(bytes, reason, make) {
  const source = new Bytes(bytes, reason)
  try {
    return make(source)
  } catch (error) {
    source.close()
    throw error
  }
}

/** Part of a file as a file of its own. @implements {Source} */
class Part {
  /**
   * @param {Source} whole
   * @param {number} at
   * @param {number} size
   */
  constructor(whole, at, size) {
    this.whole = whole
    this.at = at
    this.size = size
    this.flags = whole.flags
    this.reason = whole.reason
    this.writes = whole.writes
    this.owned = whole.owned === true
    this.first = whole.first
  }

  /** @param {number} from @param {number} nbytes */
  read(from, nbytes) {
    return this.whole.read(this.at + from, nbytes)
  }
  /** @param {number} from @param {number} nbytes */
  view(from, nbytes) {
    return this.whole.view(this.at + from, nbytes)
  }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  storageAt(from, nbytes, alignment) {
    return this.whole.storageAt(this.at + from, nbytes, alignment)
  }
  close() {}
}

rootless(Part)

module.exports = { Bytes, Part, ofBytes }
