'use strict'
// .safetensors: named tensors behind a header of JSON.

const { textOf } = require('../runtime/host')
const { checkHeap } = require('../runtime/heap')
const { parseHeader, entryOf, setOnce } = require('./entries')
const { PARSERS, PAIR, WIDEST, recordsOf } = require('./parsers')
const { plainFile } = require('./tensor-file')

/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

const QUOTE = 34

/** @param {Source} source @returns {TensorFile} */
function safetensorsFile(source) {
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** @type {Map<string, string>} */
  const metadata = new Map()
  const { words: all, bytes } = parseHeader(PARSERS.SAFETENSORS, source)
  for (const { tag, nameAt, nameLength, words } of recordsOf(all)) {
    const name = jsonText(bytes, nameAt, nameLength)
    if (tag === PAIR) setOnce(metadata, name, nameAt, jsonText(bytes, words[5], words[6]))
    else {
      setOnce(
        entries,
        name,
        nameAt,
        entryOf(
          words,
          name,
          String.fromCharCode(...bytes.subarray(words[5], bytes.indexOf(QUOTE, words[5]))),
        ),
      )
    }
  }
  return plainFile(source, entries, () => Object.fromEntries(metadata))
}

/**
 * A string of JSON, which the parser checked.
 *
 * @param {Uint8Array} bytes
 * @param {number} at  behind its opening quote
 * @param {number} n  bytes
 * @returns {string}
 */
function jsonText(bytes, at, n) {
  const text = textOf(bytes.subarray(at, at + n))
  if (!text.includes('\\')) return text
  checkHeap(2 * WIDEST * n, () => `a text of ${n} bytes with its escapes`)
  return JSON.parse(`"${text}"`)
}

module.exports = { safetensorsFile }
