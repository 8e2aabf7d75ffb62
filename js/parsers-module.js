'use strict'
// C's parsers on the WASM back ends: a module of their own, whose memory holds nothing but what is parsed.

const { failure } = require('./errors')
const { textOf } = require('./host')
const { compile } = require('./modules')
const { errorOf } = require('./ffi')

const PAGE = 65536
const KEPT = 2 ** 23 // bytes of memory that stay for the next file: each new one reserves gigabytes of addresses
const ROOM = 512 // words, at least

/** @typedef {import('./layouts').Bytes} Bytes */

/** @type {WebAssembly.Module | null} */
let compiled = null

/** an instance that is at rest @type {Parsers | null} */
let spare = null

/** An instance; its memory never gets smaller. */
class Parsers {
  constructor () {
    const made = compiled ??= compile('samebytes-parsers.wasm')
    /** @type {any} */
    this.exports = allocated(PAGE, () => new WebAssembly.Instance(made).exports)
    /** where the bytes are put */
    this.at = this.exports.sb_room()
    /** C ran to its end: else its stack is not what it was */
    this.isWhole = true
  }

  /** @returns {ArrayBuffer} another one when memory has grown */
  get buffer () { return this.exports.memory.buffer }

  /** @param {number} end  of what there has to be room for */
  reach (end) {
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
  parse (which, { buffer, byteOffset, byteLength }, total, base) {
    const from = Math.ceil((this.at + byteLength) / 8) * 8 // of the words
    let room = Math.max(ROOM, byteLength >> 2) // nearly always enough, so that nothing is parsed twice
    this.reach(from + room * 8)
    new Uint8Array(this.buffer, this.at).set(new Uint8Array(buffer, byteOffset, byteLength))
    for (;;) {
      this.isWhole = false
      const status = this.exports.sb_parse(which, byteLength, total, base, from, room)
      this.isWhole = true
      if (status !== 0) throw errorOf(status, this.text())
      const [count, wanted] = new Float64Array(this.buffer, this.exports.sb_found(), 2)
      if (count <= room) return { words: allocated(count * 8, () => new Float64Array(this.buffer, from, count).slice()), wanted }
      room = count
      this.reach(from + room * 8)
    }
  }

  /** The last failure in words. */
  text () {
    const bytes = new Uint8Array(this.buffer, this.exports.sb_message(), 512)
    return textOf(bytes.slice(0, bytes.indexOf(0)))
  }
}

/**
 * @template R
 * @param {number} nbytes
 * @param {() => R} fn  fails only without memory
 * @returns {R}
 */
function allocated (nbytes, fn) {
  try {
    return fn()
  } catch (error) {
    throw failure('ERR_MEMORY', `${nbytes} bytes for what is in the file cannot be allocated: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * As parse of parsers.js.
 *
 * @param {number} which
 * @param {Bytes} bytes  copied
 * @param {number} total
 * @param {number} base
 */
function parse (which, bytes, total, base) {
  const parsers = spare ?? new Parsers()
  spare = null
  try {
    return parsers.parse(which, bytes, total, base)
  } finally {
    if (parsers.isWhole && parsers.buffer.byteLength <= KEPT) spare = parsers
  }
}

module.exports = { parse }
