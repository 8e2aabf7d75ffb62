'use strict'
// C's parsers of file headers, and the records that they find. On the WASM back ends parsers-module.js runs them.

const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { functionsOf } = require('../runtime/lazy')
const { failure } = require('../base/errors')
const { isHtml, partsOfArray, textOf, bufferOf, byteOffsetOf, lengthOf } = require('../base/buffers')
const { checkHeap } = require('../runtime/heap')
const { allocated } = require('./allocate')

const { backend } = ffi
const { parse: parseInModule } = functionsOf(() => require('./parsers-module'))

// As C numbers them: parsers, and the tags of records.
const NPY = 0
const SAFETENSORS = 1
const GGUF = 2
const ZIP_END = 3
const ZIP_DIRECTORY = 4
const ZIP_MEMBER = 5
/** How files of the formats begin, from a byte on, and what others are most often taken for them. @type {{ text: string, at: number, name: string, parser: number }[]} */
const BEGINNINGS = [
  { text: '\x93NUMPY', at: 0, name: 'a .npy file', parser: NPY },
  { text: '\0\0\0\0{', at: 4, name: 'a .safetensors file', parser: SAFETENSORS },
  { text: 'GGUF', at: 0, name: 'a .gguf file', parser: GGUF },
  { text: 'PK\x03\x04', at: 0, name: "a zip file, as .npz and PyTorch's .pt are", parser: ZIP_END },
  { text: '\x1f\x8b', at: 0, name: 'compressed with gzip', parser: -1 }
]
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
function parse (which, given, total, base = 0) {
  if (base === 0 && isHtml(given)) throw failure('ERR_FORMAT', 'byte 0: this is a page of HTML, as servers send it where there is no such file')
  try {
    return parsed(which, given, total, base)
  } catch (/** @type {any} */ error) {
    const other = base === 0 && error.code === 'ERR_FORMAT' ? otherFormat(which, given) : undefined
    throw other === undefined ? error : failure('ERR_FORMAT', `byte 0: this is ${other}`)
  }
}

/** @param {number} which  parser @param {Uint8Array} given @returns {string | undefined} what the file is, where that is something else that is known */
function otherFormat (which, given) {
  const start = textOf(given, 9)
  for (let i = 0; i < BEGINNINGS.length; i++) {
    const { text, at, name, parser } = BEGINNINGS[i]
    if (start.startsWith(text, at)) return parser === Math.min(which, ZIP_END) ? undefined : name
  }
  return undefined
}

/**
 * @param {number} which
 * @param {Uint8Array} given
 * @param {number} total
 * @param {number} base
 * @returns {{ words: Float64Array, wanted: number }}
 */
function parsed (which, given, total, base) {
  const parts = partsOfArray(given)
  if (backend.isWasm) return parseInModule(which, parts, total, base)
  const input = backend.borrow(parts.buffer, parts.byteOffset, parts.byteLength)
  for (let room = 512; ;) {
    const words = allocated(room * 8, () => new Float64Array(room))
    const { count, wanted } = fileCalls.parse(which, input, backend.borrow(bufferOf(words), 0, room * 8), total, base)
    if (count <= room) return { words: wordsFrom(words, 0, count), wanted }
    room = count
  }
}

/**
 * @param {Float64Array} words
 * @param {number} start
 * @param {number} end
 */
const wordsFrom = (words, start, end) => new Float64Array(/** @type {ArrayBuffer} */ (bufferOf(words)), byteOffsetOf(words) + 8 * start, end - start)

/**
 * The records among a parser's words.
 *
 * @param {Float64Array} words
 * @returns {Generator<Found>}
 */
function * recordsOf (words) {
  checkHeap(WORD * lengthOf(words) + WIDEST * textBytes(words), () => 'what the file says of its tensors')
  for (let at = 1; at < lengthOf(words); at += words[at]) {
    yield { tag: words[at + 1], nameAt: words[at + 2], nameLength: words[at + 3], words: wordsFrom(words, at, at + words[at]) }
  }
}

/** @param {Float64Array} words @returns {number} bytes of names, and of the texts that have names */
function textBytes (words) {
  let text = 0
  for (let at = 1; at < lengthOf(words); at += words[at]) text += words[at + 3] + (words[at + 1] === PAIR && words[at] > 6 ? words[at + 6] : 0)
  return text
}

module.exports = { NPY, SAFETENSORS, GGUF, ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER, PAIR, TENSOR, WIDEST, parse, recordsOf }
