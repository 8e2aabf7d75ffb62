'use strict'
// What a file's header says of its tensors, and the tensors over the file's bytes.

const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { countCopy } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { wrap } = require('../tensor/tensor')
const { parse } = require('./parsers')

const { backend, Layout, READ_ONLY } = ffi

/** @import { DtypeName } from '../base/types' */
/** @typedef {import('./byte-source').Source} Source */

const PIECE = 2 ** 26 // bytes that are copied at a time: typed arrays have a largest length

/**
 * Where a tensor is in a file, and what it is.
 *
 * @typedef {object} TensorInfo
 * @property {string} name
 * @property {DtypeName} dtype  of the tensor that get() gives; 'uint8' for NumPy's raw bytes (type '<V2', '|V1') of which nobody said what they are
 * @property {number[]} shape  of that tensor
 * @property {string} type  what the format calls the type: '<f4', 'BF16', 'Q4_K'
 * @property {number[]} fileShape  elements, as the file says; another than shape where elements come in blocks
 * @property {{ elements: number, bytes: number }} block  of the type; one element, but of quantised types
 * @property {number} byteOffset  in the file, or in what the member of an .npz was inflated to
 * @property {number} nbytes
 * @property {number} [deflated]  bytes that it has in an .npz that deflates it; else absent
 */

/** What formats call dtypes. npy: raw bytes where NumPy has none; null: there is none @type {Record<string, { npy: string, safetensors: string | null }>} */
const TYPES = {
  bool: { npy: '|b1', safetensors: 'BOOL' },
  uint8: { npy: '|u1', safetensors: 'U8' },
  int8: { npy: '|i1', safetensors: 'I8' },
  int16: { npy: '<i2', safetensors: 'I16' },
  uint16: { npy: '<u2', safetensors: 'U16' },
  int32: { npy: '<i4', safetensors: 'I32' },
  uint32: { npy: '<u4', safetensors: 'U32' },
  int64: { npy: '<i8', safetensors: 'I64' },
  uint64: { npy: '<u8', safetensors: 'U64' },
  float16: { npy: '<f2', safetensors: 'F16' },
  bfloat16: { npy: '<V2', safetensors: 'BF16' },
  float32: { npy: '<f4', safetensors: 'F32' },
  float64: { npy: '<f8', safetensors: 'F64' },
  complex64: { npy: '<c8', safetensors: 'C64' },
  complex128: { npy: '<c16', safetensors: null },
  float8_e4m3fn: { npy: '|V1', safetensors: 'F8_E4M3' },
  float8_e5m2: { npy: '|V1', safetensors: 'F8_E5M2' },
}

/**
 * Parses a file's header, of which the parser is given more until it has all.
 *
 * @param {number} which  parser
 * @param {Source} source
 * @returns {{ words: Float64Array, bytes: Uint8Array<ArrayBuffer> }} bytes: the file's beginning, to whose bytes the words refer
 */
function parseHeader(which, source) {
  const { size } = source
  for (let n = Math.min(size, source.first); ;) {
    const bytes = source.read(0, n)
    const { words, wanted } = parse(which, bytes, size)
    if (wanted === 0) return { words, bytes }
    n = Math.min(size, Math.max(wanted, 2 * n))
  }
}

/**
 * A tensor's record in the header, with names.
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {number} dtype  index; -1: none of ours
 * @property {number} foreign  what the format says besides: bits of .npy, the type's number in .gguf
 * @property {string} type
 * @property {number} blockElements
 * @property {number} blockBytes
 * @property {number} begin  byte of the file
 * @property {number} nbytes
 * @property {number[]} shape  elements, as the file says
 */

/**
 * @param {Float64Array} words  of the record
 * @param {string} name
 * @param {string} type
 * @returns {Entry}
 */
function entryOf(words, name, type) {
  return {
    name,
    type,
    dtype: words[4],
    foreign: words[5],
    blockElements: words[6],
    blockBytes: words[7],
    begin: words[8],
    nbytes: words[9],
    shape: arrayOf(words[10], (d) => words[11 + d]),
  }
}

/**
 * dtype and shape of an entry's tensor: bytes where the type is none of ours.
 *
 * @param {Entry} entry
 * @returns {{ dtype: import('../backend/dtypes').Dtype, shape: number[] }}
 */
function dtypeAndShape({ dtype, shape, blockElements, blockBytes, nbytes }) {
  if (dtype >= 0) return { dtype: dtypes[dtype], shape }
  const bytes = dtypeOf('uint8')
  if (blockElements === 1 && blockBytes === 1) return { dtype: bytes, shape }
  const last = shape[shape.length - 1]
  if (shape.length === 0 || last % blockElements !== 0) return { dtype: bytes, shape: [nbytes] }
  return { dtype: bytes, shape: [...shape.slice(0, -1), (last / blockElements) * blockBytes] }
}

/**
 * A layout without a storage.
 *
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} shape
 * @param {boolean} fortran  the first axis is contiguous, not the last
 */
function layoutWithout(dtype, shape, fortran) {
  if (!fortran || shape.length < 2) return denseLayout(dtype.index, shape)
  const order = shape.map((_, d) => shape.length - 1 - d)
  return ffi.denseOrdered(dtype.index, shape, order)
}

/** Bytes of a number: a complex element has two. @param {import('../backend/dtypes').Dtype} dtype */
const widthOf = ({ kind, itemsize }) => (kind === 'COMPLEX' ? itemsize / 2 : itemsize)

/**
 * An entry's tensor: over the file's bytes, or over a copy where they are not aligned or big-endian.
 *
 * @param {Source} source
 * @param {Entry} entry
 * @param {{ fortran?: boolean, swapped?: boolean }} [how]
 */
function tensorFromEntry(source, entry, { fortran = false, swapped = false } = {}) {
  const { dtype, shape } = dtypeAndShape(entry)
  const bare = layoutWithout(dtype, shape, fortran)
  const width = widthOf(dtype)
  const { name, begin, nbytes } = entry
  let storage =
    (swapped && !source.owned) || nbytes === 0 ? null : source.storageAt(begin, nbytes, width)
  if (storage === null) {
    if (source.writes && nbytes > 0) {
      const what = name === '' ? 'the tensor' : JSON.stringify(name)
      throw swapped
        ? failure(
            'ERR_UNSUPPORTED',
            `${what} is big-endian: a copy could not be written back; mode 'c' or 'r' copies`,
          )
        : failure(
            'ERR_ALIGNMENT',
            `${what} begins at byte ${begin}, which its dtype cannot be written at in place; mode 'c' or 'r' copies`,
          )
    }
    storage = backend.allocate(nbytes, ffi.check)
    for (let at = 0; at < nbytes;) {
      const piece = source.view(begin + at, Math.min(nbytes - at, PIECE)) // may run code of a program's, and WASM memory grow
      const buffer = /** @type {ArrayBuffer} */ (backend.bufferOf(storage, ffi.check))
      new Uint8Array(buffer, storage.byteOffset + at, piece.length).set(piece)
      at += piece.length
    }
    countCopy(source.reason, nbytes)
  }
  if (swapped) fileCalls.swapBytes(storage, width)
  return wrap(
    new Layout(
      storage,
      dtype.index,
      bare.shape,
      bare.strides,
      0,
      bare.size,
      (bare.flags & ~READ_ONLY) | source.flags,
    ),
  )
}

/** @param {Entry} entry @returns {TensorInfo} */
function infoOf(entry) {
  const { dtype, shape } = dtypeAndShape(entry)
  const { name, type, blockElements, blockBytes, begin, nbytes } = entry
  return {
    name,
    dtype: dtype.name,
    shape: shape.slice(),
    type,
    fileShape: entry.shape.slice(),
    block: { elements: blockElements, bytes: blockBytes },
    byteOffset: begin,
    nbytes,
  }
}

/**
 * Of a file that is elements of one dtype and nothing else.
 *
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number} size  of the file
 * @returns {TensorInfo}
 */
function rawInfo({ name, itemsize }, size) {
  const shape = [Math.floor(size / itemsize)]
  return {
    name: '',
    dtype: name,
    shape,
    type: name,
    fileShape: shape,
    block: { elements: 1, bytes: itemsize },
    byteOffset: 0,
    nbytes: shape[0] * itemsize,
  }
}

/**
 * @param {Map<string, any>} map
 * @param {string} name
 * @param {number} at  byte of the file where the name is
 * @param {any} value
 * @throws ERR_FORMAT the name is there already
 */
function setOnce(map, name, at, value) {
  if (map.get(name) !== undefined) {
    throw failure('ERR_FORMAT', `byte ${at}: this name is there twice`)
  }
  map.set(name, value)
}

module.exports = {
  TYPES,
  parseHeader,
  entryOf,
  dtypeAndShape,
  layoutWithout,
  widthOf,
  tensorFromEntry,
  infoOf,
  rawInfo,
  setOnce,
}
