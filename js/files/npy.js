'use strict'
// .npy: the array of NumPy's format.

const { failure } = require('../base/errors')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { parsed, entryOf, madeOf } = require('./entries')
const { NPY } = require('./parsers')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */

const FORTRAN = 1
const SWAPPED = 2

/**
 * @param {Source} source
 * @param {string} name
 * @param {string | undefined} dtype  of what has none in the file
 * @param {boolean} [isOnly]  the file's only array: where it has a dtype, it is that one
 * @returns {{ entry: Entry, how: { fortran: boolean, swapped: boolean } }} of raw bytes where nobody said what they are
 */
function npyHeader (source, name, dtype, isOnly = true) {
  const words = parsed(NPY, source).words.subarray(1)
  const entry = entryOf(words, name, '')
  const how = { fortran: (entry.foreign & FORTRAN) !== 0, swapped: (entry.foreign & SWAPPED) !== 0 }
  entry.type = `${entry.blockBytes === 1 ? '|' : how.swapped ? '>' : '<'}${entry.dtype < 0 ? 'V' : NUMPY_KINDS[dtypes[entry.dtype].name]}${entry.blockBytes}`
  if (dtype !== undefined && (isOnly || entry.dtype < 0)) giveDtype(entry, dtype)
  return { entry, how }
}

/** The same, of what can be a tensor. @type {typeof npyHeader} */
function npyEntry (source, name, dtype, isOnly) {
  const found = npyHeader(source, name, dtype, isOnly)
  const { entry } = found
  if (entry.dtype < 0) {
    throw failure('ERR_DTYPE', `the array is of ${entry.blockBytes} raw bytes an element (NumPy has no ${entry.blockBytes === 2 ? 'bfloat16' : 'float8'}); dtype says what they are`)
  }
  return found
}

/** What NumPy calls dtypes, without the size. @type {Record<string, string>} */
const NUMPY_KINDS = {
  bool: 'b',
  uint8: 'u',
  uint16: 'u',
  uint32: 'u',
  uint64: 'u',
  int8: 'i',
  int16: 'i',
  int32: 'i',
  int64: 'i',
  float16: 'f',
  float32: 'f',
  float64: 'f',
  complex64: 'c',
  complex128: 'c'
}

/**
 * @param {Entry} entry
 * @param {string} dtype
 */
function giveDtype (entry, dtype) {
  const { index, itemsize, name } = dtypeOf(dtype)
  if (entry.dtype >= 0 && entry.dtype !== index) throw failure('ERR_DTYPE', `dtype is ${name}; the array is of ${dtypes[entry.dtype].name}`)
  if (entry.dtype < 0 && itemsize !== entry.blockBytes) throw failure('ERR_DTYPE', `dtype is ${name}; the array has ${entry.blockBytes} bytes an element`)
  entry.dtype = index
}

/**
 * @param {Source} source
 * @param {string | undefined} dtype
 * @returns {Tensor}
 */
function npyTensor (source, dtype) {
  const { entry, how } = npyEntry(source, '', dtype)
  return madeOf(source, entry, how)
}

module.exports = { npyHeader, npyEntry, npyTensor }
