'use strict'
// .gguf: named tensors and metadata of llama.cpp's format.

const { textOf } = require('../runtime/host')
const { checkHeap } = require('../runtime/heap')
const { parseHeader, entryOf, setOnce } = require('./entries')
const { PARSERS, TENSOR, WIDEST, recordsOf } = require('./parsers')
const { plainFile } = require('./tensor-file')

/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

/** What ggml calls its types, by number. */
const TYPES =
  '0 F32,1 F16,2 Q4_0,3 Q4_1,6 Q5_0,7 Q5_1,8 Q8_0,9 Q8_1,10 Q2_K,11 Q3_K,12 Q4_K,13 Q5_K,14 Q6_K,15 Q8_K,16 IQ2_XXS,17 IQ2_XS,' +
  '18 IQ3_XXS,19 IQ1_S,20 IQ4_NL,21 IQ3_S,22 IQ2_S,23 IQ4_XS,24 I8,25 I16,26 I32,27 I64,28 F64,29 IQ1_M,30 BF16,34 TQ1_0,35 TQ2_0,39 MXFP4'
const TYPE_NAMES = Object.fromEntries(TYPES.split(',').map((each) => each.split(' ')))

/** @param {Source} source @returns {TensorFile} */
function ggufFile(source) {
  const { words, bytes } = parseHeader(PARSERS.GGUF, source)
  const header = bytes.slice(0, words[0]) // kept, because metadata is read when it is asked for
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** type, and byte of the header where the value is @type {Map<string, [number, number]>} */
  const metadata = new Map()
  const text = (/** @type {number} */ at, /** @type {number} */ n) =>
    textOf(header.subarray(at, at + n))
  for (const { tag, nameAt, nameLength, words: found } of recordsOf(words)) {
    const name = text(nameAt, nameLength)
    if (tag === TENSOR) setOnce(entries, name, nameAt, entryOf(found, name, TYPE_NAMES[found[5]]))
    else setOnce(metadata, name, nameAt, [found[4], found[5]])
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  return plainFile(source, entries, () => {
    checkHeap(WIDEST * header.length, () => 'the metadata of the file')
    return Object.fromEntries(
      Array.from(metadata, ([name, [type, at]]) => [name, readValue(view, type, { at })]),
    )
  })
}

/** Numbers and booleans by type: how one is read, its bytes, typed array of several @type {Record<number, [(view: DataView, at: number) => any, number, any]>} */
const PLAIN_VALUES = {
  0: [(view, at) => view.getUint8(at), 1, Uint8Array],
  1: [(view, at) => view.getInt8(at), 1, Int8Array],
  2: [(view, at) => view.getUint16(at, true), 2, Uint16Array],
  3: [(view, at) => view.getInt16(at, true), 2, Int16Array],
  4: [(view, at) => view.getUint32(at, true), 4, Uint32Array],
  5: [(view, at) => view.getInt32(at, true), 4, Int32Array],
  6: [(view, at) => view.getFloat32(at, true), 4, Float32Array],
  7: [(view, at) => view.getUint8(at) !== 0, 1, null],
  10: [(view, at) => view.getBigUint64(at, true), 8, BigUint64Array],
  11: [(view, at) => view.getBigInt64(at, true), 8, BigInt64Array],
  12: [(view, at) => view.getFloat64(at, true), 8, Float64Array],
}

const STRING = 8
const LIST = 9

/** Bytes of heap for a value in a list, with its place in a list that grows; PLACE for what is not named here @type {Record<number, number>} */
const HEAP_BYTES = { [STRING]: 56, [LIST]: 384 }
const SLOT_BYTES = 24

/**
 * @param {DataView} view  of the header, which the parser checked
 * @param {number} type
 * @param {{ at: number }} cursor  the value's byte; afterwards the one behind it
 * @returns {any}
 */
function readValue(view, type, cursor) {
  const plain = PLAIN_VALUES[type]
  if (plain !== undefined) {
    const [read, nbytes] = plain
    cursor.at += nbytes
    return read(view, cursor.at - nbytes)
  }
  if (type === STRING) {
    const n = Number(view.getBigUint64(cursor.at, true))
    const at = cursor.at + 8
    cursor.at = at + n
    return textOf(new Uint8Array(view.buffer, view.byteOffset + at, n))
  }
  const inner = view.getUint32(cursor.at, true)
  const n = Number(view.getBigUint64(cursor.at + 4, true))
  cursor.at += 12
  const Type = PLAIN_VALUES[inner]?.[2] ?? null
  if (Type !== null) {
    const bytes = n * Type.BYTES_PER_ELEMENT
    const from = view.byteOffset + cursor.at
    cursor.at += bytes
    return new Type(view.buffer.slice(from, from + bytes))
  }
  const list = []
  const text = inner === STRING ? WIDEST * (view.byteLength - cursor.at) : 0
  checkHeap(
    n * (HEAP_BYTES[inner] ?? SLOT_BYTES) + text,
    () => `a list of ${n} values in the metadata`,
  )
  for (let i = 0; i < n; i++) list.push(readValue(view, inner, cursor))
  return list
}

module.exports = { ggufFile }
