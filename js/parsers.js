'use strict'
// What C's parsers find in the bytes of files, as records. On the WASM back ends they are a module of their own.

const ffi = require('./ffi')
const { later } = require('./later')

const { backend } = ffi
const parseInModule = later(() => require('./parsers-module').parse)

// As C numbers them: parsers, and the tags of records.
const NPY = 0
const SAFETENSORS = 1
const GGUF = 2
const ZIP_END = 3
const ZIP_DIRECTORY = 4
const ZIP_MEMBER = 5
const PAIR = 0
const TENSOR = 1

/**
 * A record of src/share/formats.h.
 *
 * @typedef {{ tag: number, nameAt: number, nameLength: number, words: Float64Array }} Found  words: the record from its length on
 */

/** @typedef {import('./layouts').Bytes} Bytes */

/**
 * Words that a parser found.
 *
 * @param {number} which
 * @param {Bytes} bytes  of the file, or of its beginning
 * @param {number} total  bytes of the whole file
 * @param {number} [base]  where the given ones begin in it, for pieces of a zip
 * @returns {{ words: Float64Array, wanted: number }} wanted: bytes that have to be given for all; 0: no more
 * @throws ERR_FORMAT
 */
function parse (which, bytes, total, base = 0) {
  if (backend.isWasm) return parseInModule(which, bytes, total, base)
  const input = backend.borrow(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let room = 512; ;) {
    const words = new Float64Array(room)
    const { count, wanted } = ffi.parse(which, input, backend.borrow(words.buffer, 0, room * 8), total, base)
    if (count <= room) return { words: words.subarray(0, count), wanted }
    room = count
  }
}

/**
 * The records among a parser's words.
 *
 * @param {Float64Array} words
 * @returns {Generator<Found>}
 */
function * recordsOf (words) {
  // After them comes as much room as they were sorted in: one word each.
  for (let at = 1, end = endOf(words); at < end; at += words[at]) {
    yield { tag: words[at + 1], nameAt: words[at + 2], nameLength: words[at + 3], words: words.subarray(at, at + words[at]) }
  }
}

/** @param {Float64Array} words */
function endOf (words) {
  let at = 1
  let n = 0
  while (at + n < words.length) {
    at += words[at]
    n++
  }
  return at
}

module.exports = { NPY, SAFETENSORS, GGUF, ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER, PAIR, TENSOR, parse, recordsOf }
