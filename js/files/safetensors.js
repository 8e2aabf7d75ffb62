'use strict'
// .safetensors: named tensors behind a header of JSON.

const { textOf } = require('../runtime/host')
const { checkHeap } = require('../runtime/heap')
const { parsed, entryOf, put } = require('./entries')
const { SAFETENSORS, PAIR, WIDEST, recordsOf } = require('./parsers')
const { plainFile } = require('./tensor-file')

/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

/** @param {Source} source @returns {TensorFile} */
function safetensorsFile (source) {
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** @type {Map<string, string>} */
  const pairs = new Map()
  const { words: all, bytes } = parsed(SAFETENSORS, source)
  for (const { tag, nameAt, nameLength, words } of recordsOf(all)) {
    const name = jsonAt(bytes, nameAt, nameLength)
    if (tag === PAIR) put(pairs, name, nameAt, jsonAt(bytes, words[5], words[6]))
    else put(entries, name, nameAt, entryOf(words, name, typeAt(bytes, words[5])))
  }
  return plainFile(source, entries, () => Object.fromEntries(pairs))
}

/**
 * A string of JSON, which was checked.
 *
 * @param {Uint8Array} bytes
 * @param {number} at  after its quote
 * @param {number} n
 * @returns {string}
 */
function jsonAt (bytes, at, n) {
  const text = textAt(bytes, at, n)
  if (!text.includes('\\')) return text
  checkHeap(2 * WIDEST * n, () => `a text of ${n} bytes with its escapes`)
  return JSON.parse(`"${text}"`)
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} n
 */
function textAt (bytes, at, n) {
  return textOf(bytes.subarray(at, at + n))
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function typeAt (bytes, at) {
  return String.fromCharCode(...bytes.subarray(at, bytes.indexOf(34, at)))
}

module.exports = { safetensorsFile }
