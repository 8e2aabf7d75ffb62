'use strict'
// Deflated members of an .npz, inflated on another thread.

const { badMember, inflatedBytes, roomOf, TOO_MANY } = require('./inflate')
const { crc32 } = require('./crc32')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./npz').Member} Member */

const PART = 2 ** 18 // bytes that are inflated at a time

/** A deflated member on its way to what it was, on another thread, a part of PART bytes at a time. */
class Inflation {
  /**
   * @param {Member} member
   * @param {Signal | undefined} signal  ends it after any part
   */
  constructor (member, signal) {
    this.member = member
    this.bytes = roomOf(member)
    /** bytes that came, of which there may be too many */
    this.n = 0
    this.crc = 0
    /** @type {Error | null} */
    this.fault = null
    this.stream = require('node:zlib').createInflateRaw({ chunkSize: Math.max(64, Math.min(member.unpacked + 1, PART)) })
    this.stream.on('data', part => {
      this.n += part.length
      if (this.n > this.bytes.length || signal?.look()) {
        this.stream.destroy()
      } else {
        this.bytes.set(part, this.n - part.length)
        this.crc = crc32(part, this.crc)
      }
    })
    /** nothing comes any more @type {Promise<void>} */
    this.over = new Promise(resolve => {
      this.stream.on('error', error => { this.fault = error })
      for (const event of ['end', 'error', 'close']) this.stream.on(event, () => resolve())
    })
  }

  /** Whatever else is added will not be looked at: that was the end, or wrong, or too much, or the signal fired. */
  get isOver () { return this.stream.destroyed || this.stream.readableEnded }

  /**
   * @param {Uint8Array} packed
   * @returns {Promise<void>} that they were inflated
   */
  add (packed) {
    return Promise.race([this.over, new Promise(resolve => { this.stream.write(packed, () => resolve(undefined)) })])
  }

  /** Nothing is added any more. */
  end () {
    this.stream.end()
    return this.over
  }

  /** @param {Source} source @returns {Source} of the bytes that the member has */
  result (source) {
    const { member, bytes, n, fault } = this
    if (fault !== null) throw badMember(member, fault.message)
    if (n > bytes.length) throw badMember(member, TOO_MANY)
    return inflatedBytes(source, member, bytes.subarray(0, n), this.crc)
  }
}

module.exports = { PART, Inflation }
