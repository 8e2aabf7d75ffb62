'use strict'
// SHA-256 of bytes that arrive or are sent piece by piece, in the calling thread: a step at a time, so that the event loop goes on.

const { createHash } = require('node:crypto')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { readBytes } = require('../layout/data')
const { Tensor } = require('../tensor/tensor')
const { copyOut } = require('../files/native-bytes')

/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {Uint8Array | TensorOf} Section bytes that nobody changes, or a contiguous tensor */

const OWN = 2 ** 16 // bytes of native memory that are copied and hashed at a time
const STEP = 2 ** 20 // bytes that are hashed in one turn

/** @param {Section} section */
const nbytesOfSection = (section) =>
  section instanceof Uint8Array ? section.length : Tensor.layoutOf(section).nbytes

class Digest {
  #hash = createHash('sha256')
  #sections
  /** bytes of the first section that are hashed */
  #at = 0
  /** bytes of all that are hashed */
  #done = 0
  #isDropped = false
  /** for native memory @type {Uint8Array | null} */
  #own = null

  /** @param {Section[]} sections  in the order of the bytes; tensors stay alive until the digest has ended */
  constructor(sections) {
    this.#sections = sections.filter((section) => nbytesOfSection(section) > 0)
  }

  /** Hashes a step of what is in place. @param {number} total  all bytes before this one are in place now */
  reach(total) {
    for (let left = Math.min(total - this.#done, STEP); left > 0;) {
      const [section] = this.#sections
      const n = Math.min(left, nbytesOfSection(section) - this.#at)
      if (section instanceof Uint8Array) this.#hash.update(section.subarray(this.#at, this.#at + n))
      else this.#update(Tensor.attachedOf(section), n)
      left -= n
      this.#done += n
      this.#at += n
      if (this.#at < nbytesOfSection(section)) continue
      this.#sections.shift()
      this.#at = 0
    }
  }

  /** @param {InstanceType<typeof import('../backend/calls').Layout>} layout @param {number} n  bytes at this.#at */
  #update(layout, n) {
    if (layout.storage.kind !== 'native') {
      return readBytes(layout, this.#at, n, (bytes) => {
        this.#hash.update(bytes)
      })
    }
    this.#own ??= new Uint8Array(OWN)
    for (let from = 0; from < n; from += OWN) {
      const bytes = this.#own.subarray(0, Math.min(OWN, n - from))
      copyOut(layout, this.#at + from, bytes)
      this.#hash.update(bytes)
    }
  }

  /** Hashes the rest, a step each turn. @param {number} total  bytes of all @returns {Promise<string>} base64url, without padding; no digest if it was dropped meanwhile */
  async end(total) {
    while (this.#done < total && !this.#isDropped) {
      this.reach(total)
      await nextTurn()
    }
    return this.#hash.digest('base64url')
  }

  /** Nobody wants it any more. */
  drop() {
    this.#isDropped = true
  }
}

module.exports = { Digest }
