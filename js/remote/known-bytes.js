'use strict'
// What came of a file so far, for the parsers.

const { newBytes } = require('../files/allocate')

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('../files/byte-source').Source} Source */

const LEAST_READ = 2 ** 14 // bytes: asking for fewer takes as long

/** Bytes of the file are needed that did not come yet. */
class Missing extends Error {
  /** @param {number} from @param {number} end */
  constructor(from, end) {
    super('more of the file is needed')
    this.from = from
    this.end = end
  }
}

/** Bytes of the file, one after the other. @typedef {{ from: number, bytes: Uint8Array<ArrayBuffer> }} Part */

/** @implements {Source} */
class KnownBytes {
  /** @param {number} size  of the file */
  constructor(size) {
    this.size = size
    this.reason = 'load'
    this.first = 4096
    this.flags = 0
    this.writes = false
    /** @type {Part[]} */
    this.parts = []
  }

  /** @param {number} from @param {Uint8Array<ArrayBuffer>} bytes @returns {Part} */
  add(from, bytes) {
    const part = { from, bytes }
    this.parts.push(part)
    return part
  }

  /**
   * Bytes that are known, from one of them on.
   *
   * @param {number} from
   * @returns {Uint8Array<ArrayBuffer> | null} at least one; null: that one is not known
   */
  knownFrom(from) {
    const part = this.parts.find(
      ({ from: begin, bytes }) => begin <= from && from < begin + bytes.length,
    )
    return part === undefined ? null : part.bytes.subarray(from - part.from)
  }

  /** @param {number} from @param {number} nbytes @throws {Missing} */
  read(from, nbytes) {
    /** @type {Uint8Array[]} */
    const found = []
    for (let at = from; at < from + nbytes;) {
      const known = this.knownFrom(at)?.subarray(0, from + nbytes - at)
      if (known === undefined) {
        const behind = this.parts.filter((part) => part.from > at).map((part) => part.from)
        const end = Math.min(this.size, Math.max(from + nbytes, at + LEAST_READ), ...behind)
        throw new Missing(at, end)
      }
      found.push(known)
      at += known.length
    }
    const bytes = newBytes(nbytes, 'a header')
    let n = 0
    for (const part of found) {
      bytes.set(part, n)
      n += part.length
    }
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view(from, nbytes) {
    return this.read(from, nbytes)
  }

  /** @param {number} from @param {number} nbytes @returns {Storage | null} */
  storageAt(from, nbytes) {
    return null
  }

  /** Forgets all but what is short. @param {number} most  bytes */
  forget(most) {
    this.parts = this.parts.filter((part) => part.bytes.length <= most)
  }

  /** @param {Part[]} parts */
  drop(parts) {
    if (parts.length > 0) this.parts = this.parts.filter((part) => !parts.includes(part))
  }

  close() {
    this.parts = []
  }
}

module.exports = { KnownBytes, Missing }
