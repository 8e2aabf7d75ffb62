'use strict'
// .npy: the array of NumPy's format.

const { failure } = require('../base/errors')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { parseHeader, entryOf, tensorFromEntry } = require('./entries')
const { NPY } = require('./parsers')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */

// Bits of a record's `foreign` word.
const FORTRAN = 1
const SWAPPED = 2

/** What NumPy calls dtypes; raw bytes where it has none. @type {Record<string, string>} */
const NUMPY_TYPES = {
  bool: '|b1',
  uint8: '|u1',
  int8: '|i1',
  int16: '<i2',
  uint16: '<u2',
  int32: '<i4',
  uint32: '<u4',
  int64: '<i8',
  uint64: '<u8',
  float16: '<f2',
  bfloat16: '<V2',
  float32: '<f4',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
  float8_e4m3fn: '|V1',
  float8_e5m2: '|V1'
}

/**
 * @param {Source} source
 * @param {string} name
 * @param {string | undefined} dtype  of an array that has none in the file
 * @param {boolean} [isOnly]  the file's only array: where it has a dtype, it has to be that one
 * @returns {{ entry: Entry, how: { fortran: boolean, swapped: boolean } }} an entry without a dtype where the array is of raw bytes and none was given
 */
function readHeader (source, name, dtype, isOnly = true) {
  const words = parseHeader(NPY, source).words.subarray(1)
  const entry = entryOf(words, name, '')
  const how = { fortran: (entry.foreign & FORTRAN) !== 0, swapped: (entry.foreign & SWAPPED) !== 0 }
  const kind = entry.dtype < 0 ? 'V' : NUMPY_TYPES[dtypes[entry.dtype].name][1]
  entry.type = `${entry.blockBytes === 1 ? '|' : how.swapped ? '>' : '<'}${kind}${entry.blockBytes}`
  if (dtype !== undefined && (isOnly || entry.dtype < 0)) {
    const { index, itemsize, name: given } = dtypeOf(dtype)
    if (entry.dtype >= 0 && entry.dtype !== index) throw failure('ERR_DTYPE', `dtype is ${given}; the array is of ${dtypes[entry.dtype].name}, which astype converts`)
    if (entry.dtype < 0 && itemsize !== entry.blockBytes) throw failure('ERR_DTYPE', `dtype is ${given}; the array has ${entry.blockBytes} bytes an element`)
    entry.dtype = index
  }
  return { entry, how }
}

/** readHeader of what can become a tensor. @type {typeof readHeader} */
function readArrayHeader (source, name, dtype, isOnly) {
  const found = readHeader(source, name, dtype, isOnly)
  const { entry } = found
  if (entry.dtype < 0) {
    throw failure('ERR_DTYPE', `the array is of ${entry.blockBytes} raw bytes an element (NumPy has no ${entry.blockBytes === 2 ? 'bfloat16' : 'float8'}); dtype says what they are`)
  }
  return found
}

/**
 * @param {Source} source
 * @param {string | undefined} dtype  of an array that has none in the file
 * @returns {Tensor}
 */
function npyTensor (source, dtype) {
  const { entry, how } = readArrayHeader(source, '', dtype)
  return tensorFromEntry(source, entry, how)
}

/** npyTensor of a file that is closed then. @type {typeof npyTensor} */
function onlyTensor (source, dtype) {
  const t = npyTensor(source, dtype)
  source.close()
  return t
}

module.exports = { NUMPY_TYPES, readHeader, readArrayHeader, npyTensor, onlyTensor }
