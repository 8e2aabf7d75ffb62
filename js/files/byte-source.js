'use strict'
// Bytes that a file has, as the parsers read them: what each kind of file offers, a caller's bytes, and part of a file.

const { rootless } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { byteLengthOf } = require('../base/buffers')
const { bytesOf } = require('../layout/layouts')
const { roomFor } = require('./allocate')

const { backend } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * Bytes that a file has, in memory or not.
 *
 * @typedef {object} Source
 * @property {number} size  bytes
 * @property {number} first  bytes that a parser is given first
 * @property {number} flags  of layouts over it
 * @property {string} reason  under which copies are counted
 * @property {boolean} writes  whether what is written to a tensor has to reach it
 * @property {(from: number, nbytes: number) => Uint8Array<ArrayBuffer>} read  a copy that nobody else can write to: what is looked at more than once
 * @property {(from: number, nbytes: number) => Uint8Array} view  the same, or the file's own bytes, where they are in memory: what is read once
 * @property {(from: number, nbytes: number, alignment: number) => Storage | null} place  null: they are not aligned
 * @property {() => void} close
 * @property {boolean} [owned]  what place gives is the tensor's alone
 * @property {Set<unknown>} [faults]  where members of an .npz are read once, what was wrong with those that are no arrays of ours
 */

/** A caller's bytes as a file. @implements {Source} */
class Bytes {
  /**
   * @param {unknown} bytes
   * @param {string} reason
   */
  constructor (bytes, reason) {
    const { buffer, byteOffset, byteLength } = bytesOf(bytes)
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.size = byteLength
    this.source = /** @type {object} */ (bytes)
    this.flags = 0
    this.reason = reason
    this.writes = false
    this.first = 4096
    /** keeps linear memory, which the caller's array does not keep @type {Storage | null} */
    this.holder = byteOffset > 0 && backend.isOwn(buffer) ? backend.adopt(buffer, byteOffset, byteLength, this.source) : null
  }

  /** The buffer that has the bytes now: that of linear memory is another one after growth. */
  current () {
    return this.holder === null ? this.buffer : backend.bufferOf(this.holder, ffi.check)
  }

  /**
   * Another thread or process may write to the caller's bytes, whatever their buffer: it may lie over shared or mapped memory.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  read (from, nbytes) {
    const bytes = roomFor(nbytes, 'a header')
    bytes.set(this.view(from, nbytes))
    return bytes
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   */
  view (from, nbytes) {
    const at = this.live(from, nbytes)
    return new Uint8Array(/** @type {ArrayBuffer} */ (this.current()), at, nbytes)
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @returns {number} where they are in the buffer
   * @throws ERR_DETACHED they are there no more: tensors are made later than the file object
   */
  live (from, nbytes) {
    const at = this.byteOffset + from
    if (byteLengthOf(this.current()) < at + nbytes) throw failure('ERR_DETACHED', 'the bytes of the file are gone: their buffer was transferred away or shrunk, or is that of WASM memory which grew since')
    return at
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   */
  place (from, nbytes, alignment) {
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

  close () {
    if (this.holder !== null) backend.release(this.holder)
  }
}

/**
 * What make makes of a caller's bytes. Where it fails, they are let go of.
 *
 * @template R
 * @param {unknown} bytes
 * @param {string} reason
 * @param {(source: Bytes) => R} make
 * @returns {R}
 */
function ofBytes (bytes, reason, make) {
  const source = new Bytes(bytes, reason)
  try {
    return make(source)
  } catch (error) {
    source.close()
    throw error
  }
}

rootless(Bytes)

/** Part of a file as one. @implements {Source} */
class Part {
  /**
   * @param {Source} whole
   * @param {number} at
   * @param {number} size
   */
  constructor (whole, at, size) {
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
  read (from, nbytes) { return this.whole.read(this.at + from, nbytes) }
  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.whole.view(this.at + from, nbytes) }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  place (from, nbytes, alignment) { return this.whole.place(this.at + from, nbytes, alignment) }
  close () {}
}

rootless(Part)

module.exports = { Bytes, Part, ofBytes }
