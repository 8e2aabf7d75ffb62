'use strict'
// .npy: the array of NumPy's format.

const { failure } = require('../base/errors')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { TYPES, parseHeader, entryOf, tensorFromEntry } = require('./entries')
const { PARSERS } = require('./parsers')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */

// Bits of a record's `foreign` word.
const FORTRAN = 1
const SWAPPED = 2

/**
 * @param {Source} source
 * @param {string} name
 * @param {string | undefined} dtype  of an array that has none in the file
 * @param {boolean} [isOnly]  the file's only array: where it has a dtype, it has to be that one
 * @returns {{ entry: Entry, how: { fortran: boolean, swapped: boolean } }} an entry without a dtype where the array is of raw bytes and none was given
 */
function readHeader(source, name, dtype, isOnly = true) {
  const words = parseHeader(PARSERS.NPY, source).words.subarray(1)
  const entry = entryOf(words, name, '')
  const how = { fortran: (entry.foreign & FORTRAN) !== 0, swapped: (entry.foreign & SWAPPED) !== 0 }
  const kind = entry.dtype < 0 ? 'V' : TYPES[dtypes[entry.dtype].name].npy[1]
  entry.type = `${entry.blockBytes === 1 ? '|' : how.swapped ? '>' : '<'}${kind}${entry.blockBytes}`
  if (dtype !== undefined && (isOnly || entry.dtype < 0)) {
    const { index, itemsize, name: given } = dtypeOf(dtype)
    const isOther = entry.dtype >= 0 && entry.dtype !== index
    if (isOther) {
      throw failure(
        'ERR_DTYPE',
        `dtype is ${given}; the array is of ${dtypes[entry.dtype].name}, which astype converts`,
      )
    }
    if (entry.dtype < 0 && itemsize !== entry.blockBytes) {
      throw failure(
        'ERR_DTYPE',
        `dtype is ${given}; the array has ${entry.blockBytes} bytes an element`,
      )
    }
    entry.dtype = index
  }
  return { entry, how }
}

/** readHeader of what can become a tensor. @type {typeof readHeader} */
function readArrayHeader(source, name, dtype, isOnly) {
  const found = readHeader(source, name, dtype, isOnly)
  const { entry } = found
  if (entry.dtype < 0) {
    throw failure(
      'ERR_DTYPE',
      `the array is of ${entry.blockBytes} raw bytes an element (NumPy has no ${entry.blockBytes === 2 ? 'bfloat16' : 'float8'}); dtype says what they are`,
    )
  }
  return found
}

/**
 * @param {Source} source
 * @param {string | undefined} dtype  of an array that has none in the file
 * @returns {Tensor}
 */
function npyTensor(source, dtype) {
  const { entry, how } = readArrayHeader(source, '', dtype)
  return tensorFromEntry(source, entry, how)
}

/** npyTensor of a file that is closed then. @type {typeof npyTensor} */
function onlyTensor(source, dtype) {
  const t = npyTensor(source, dtype)
  source.close()
  return t
}

module.exports = { readHeader, readArrayHeader, npyTensor, onlyTensor }
