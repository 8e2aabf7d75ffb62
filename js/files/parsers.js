'use strict'
// C's parsers of file headers, and the records that they find. On the WASM back ends parsers-module.js runs them.

const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { functionsOf } = require('../runtime/lazy')
const { failure } = require('../base/errors')
const { isHtml, latin1Of, partsOfArray } = require('../base/buffers')
const { checkHeap } = require('../runtime/heap')
const { allocated } = require('./allocate')

const { backend } = ffi
const { parse: parseInModule } = functionsOf(() => require('./parsers-module'))

/** As C numbers its parsers. */
const PARSERS = { NPY: 0, SAFETENSORS: 1, GGUF: 2, ZIP_END: 3, ZIP_DIRECTORY: 4, ZIP_MEMBER: 5 }
const { NPY, SAFETENSORS, GGUF, ZIP_END } = PARSERS

/** How files of the formats begin, from a byte on, and what others are most often taken for them. @type {{ text: string, at: number, name: string, parser: number }[]} */
const BEGINNINGS = [
  { text: '\x93NUMPY', at: 0, name: 'a .npy file', parser: NPY },
  { text: '\0\0\0\0{', at: 4, name: 'a .safetensors file', parser: SAFETENSORS },
  { text: 'GGUF', at: 0, name: 'a .gguf file', parser: GGUF },
  { text: 'PK\x03\x04', at: 0, name: "a zip file, as .npz and PyTorch's .pt are", parser: ZIP_END },
  { text: '\x1f\x8b', at: 0, name: 'compressed with gzip', parser: -1 },
]
// Tags of records, as C numbers them.
const PAIR = 0
const TENSOR = 1

const WIDEST = 2 // bytes of heap for a byte of UTF-8: where one character is above U+00FF, all of a text take two
const WORD = 40 // bytes of heap for one word of a record, as objects, names and maps

/**
 * A record of src/formats/formats.h.
 *
 * @typedef {{ tag: number, nameAt: number, nameLength: number, words: Float64Array }} Found  words: the record from its length on
 */

/** @typedef {import('../layout/layouts').Bytes} Bytes */

/**
 * Parses a file's header or a part of a zip.
 *
 * @param {number} which  parser
 * @param {Uint8Array} given  bytes of the file, or of its beginning, that nobody else can write to
 * @param {number} total  bytes of the whole file
 * @param {number} [base]  byte of the file where the given ones begin, for pieces of a zip
 * @returns {{ words: Float64Array, wanted: number }} words: as src/formats/formats.h has them. wanted: bytes that the parser needs from the beginning on; 0: it has all
 * @throws ERR_FORMAT
 */
function parse(which, given, total, base = 0) {
  if (base === 0 && isHtml(given)) {
    throw failure(
      'ERR_FORMAT',
      'byte 0: this is a page of HTML, as servers send it where there is no such file',
    )
  }
  try {
    const parts = partsOfArray(given)
    if (backend.isWasm) return parseInModule(which, parts, total, base)
    const input = backend.borrow(parts.buffer, parts.byteOffset, parts.byteLength)
    for (let capacity = 512; ;) {
      const words = allocated(capacity * 8, () => new Float64Array(capacity))
      const { count, wanted } = fileCalls.parse(
        which,
        input,
        backend.borrow(words.buffer, 0, capacity * 8),
        total,
        base,
      )
      if (count <= capacity) return { words: words.subarray(0, count), wanted }
      capacity = count
    }
  } catch (/** @type {any} */ error) {
    if (base !== 0 || error.code !== 'ERR_FORMAT') throw error
    const start = latin1Of(given, 9)
    const found = BEGINNINGS.find(({ text, at }) => start.startsWith(text, at))
    throw found === undefined || found.parser === Math.min(which, ZIP_END)
      ? error
      : failure('ERR_FORMAT', `byte 0: this is ${found.name}`)
  }
}

/**
 * The records among a parser's words.
 *
 * @param {Float64Array} words
 * @returns {Generator<Found>}
 */
function* recordsOf(words) {
  let text = 0 // bytes of names, and of the texts that have names
  for (let at = 1; at < words.length; at += words[at]) {
    text += words[at + 3] + (words[at + 1] === PAIR && words[at] > 6 ? words[at + 6] : 0)
  }
  checkHeap(WORD * words.length + WIDEST * text, () => 'what the file says of its tensors')
  for (let at = 1; at < words.length; at += words[at]) {
    const record = words.subarray(at, at + words[at])
    yield { tag: record[1], nameAt: record[2], nameLength: record[3], words: record }
  }
}

module.exports = { PARSERS, PAIR, TENSOR, WIDEST, parse, recordsOf }
