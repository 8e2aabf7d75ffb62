'use strict'
// C's parsers on the WASM back ends: a WebAssembly module of their own, whose memory holds only what is parsed.

const { rootless } = require('../base/records')
const { textOf } = require('../runtime/host')
const { compile } = require('../runtime/wasm-modules')
const { errorOf } = require('../backend/calls')
const { allocated } = require('./allocate')

const PAGE = 65536
const KEPT = 2 ** 23 // bytes: an instance with no more memory is kept for the next file, because a new one reserves gigabytes of addresses
const LEAST_WORDS = 512 // of a result

/** @typedef {import('../layout/layouts').Bytes} Bytes */

/** @type {WebAssembly.Module | null} */
let compiled = null

/** an instance that is not in use @type {Parsers | null} */
let spare = null

/** An instance; its memory never gets smaller. */
class Parsers {
  constructor() {
    const made = (compiled ??= compile('samebytes-parsers.wasm'))
    /** @type {any} */
    this.exports = allocated(PAGE, () => new WebAssembly.Instance(made).exports)
    /** address that the bytes are copied to */
    this.at = this.exports.sb_room()
    /** false: a call of C was cut short, so its stack cannot be used again */
    this.isIntact = true
  }

  /** @returns {ArrayBuffer} another one after memory grew */
  get buffer() {
    return this.exports.memory.buffer
  }

  /** Grows memory if need be. @param {number} end  address that it has to reach */
  growTo(end) {
    const pages = Math.ceil((end - this.buffer.byteLength) / PAGE)
    if (pages > 0) allocated(pages * PAGE, () => this.exports.memory.grow(pages))
  }

  /**
   * @param {number} which
   * @param {Bytes} bytes
   * @param {number} total
   * @param {number} base
   * @returns {{ words: Float64Array, wanted: number }}
   */
  parse(which, { buffer, byteOffset, byteLength }, total, base) {
    const from = Math.ceil((this.at + byteLength) / 8) * 8 // address of the words
    let capacity = Math.max(LEAST_WORDS, byteLength >> 2) // words; nearly always enough, so that nothing is parsed twice
    this.growTo(from + capacity * 8)
    new Uint8Array(this.buffer, this.at).set(new Uint8Array(buffer, byteOffset, byteLength))
    for (;;) {
      this.isIntact = false
      const status = this.exports.sb_parse(which, byteLength, total, base, from, capacity)
      this.isIntact = true
      if (status !== 0) {
        const message = new Uint8Array(this.buffer, this.exports.sb_message(), 512)
        throw errorOf(status, textOf(message.slice(0, message.indexOf(0))))
      }
      const [count, wanted] = new Float64Array(this.buffer, this.exports.sb_found(), 2)
      if (count <= capacity) {
        const found = new Float64Array(this.buffer, from, count)
        return { words: allocated(count * 8, () => found.slice()), wanted }
      }
      capacity = count
      this.growTo(from + capacity * 8)
    }
  }
}

rootless(Parsers)

/**
 * As parse of parsers.js.
 *
 * @param {number} which
 * @param {Bytes} bytes  copied
 * @param {number} total
 * @param {number} base
 */
function parse(which, bytes, total, base) {
  const parsers = spare ?? new Parsers()
  spare = null
  try {
    return parsers.parse(which, bytes, total, base)
  } finally {
    if (parsers.isIntact && parsers.buffer.byteLength <= KEPT) spare = parsers
  }
}

module.exports = { parse }
