'use strict'
// C's parsers on the WASM back ends: a module of their own, whose memory holds nothing but what is parsed.

const { Float64Array, Math, Uint8Array, bufferOfMemory, bytesCopied, rootless, typedIndexOf, typedSet } = require('../base/primordials')
const { textOf } = require('../runtime/host')
const { byteLengthOf } = require('../base/buffers')
const { compile } = require('../runtime/wasm-modules')
const { errorOf } = require('../backend/calls')
const { allocated } = require('./allocate')

const PAGE = 65536
const KEPT = 2 ** 23 // bytes of memory that stay for the next file: each new one reserves gigabytes of addresses
const ROOM = 512 // words, at least

/** @typedef {import('../layout/layouts').Bytes} Bytes */

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
  get buffer () { return bufferOfMemory(this.exports.memory) }

  /** @param {number} end  of what there has to be room for */
  reach (end) {
    const pages = Math.ceil((end - byteLengthOf(this.buffer)) / PAGE)
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
    typedSet(new Uint8Array(this.buffer, this.at), new Uint8Array(buffer, byteOffset, byteLength))
    for (;;) {
      this.isWhole = false
      const status = this.exports.sb_parse(which, byteLength, total, base, from, room)
      this.isWhole = true
      if (status !== 0) throw errorOf(status, this.text())
      const found = new Float64Array(this.buffer, this.exports.sb_found(), 2)
      const count = found[0]
      const wanted = found[1]
      if (count <= room) return { words: allocated(count * 8, () => new Float64Array(new Float64Array(this.buffer, from, count))), wanted }
      room = count
      this.reach(from + room * 8)
    }
  }

  /** The last failure in words. */
  text () {
    const bytes = new Uint8Array(this.buffer, this.exports.sb_message(), 512)
    return textOf(bytesCopied(bytes, 0, typedIndexOf(bytes, 0)))
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
function parse (which, bytes, total, base) {
  const parsers = spare ?? new Parsers()
  spare = null
  try {
    return parsers.parse(which, bytes, total, base)
  } finally {
    if (parsers.isWhole && byteLengthOf(parsers.buffer) <= KEPT) spare = parsers
  }
}

module.exports = { parse }
