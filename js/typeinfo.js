'use strict'
// What dtypes are to each other, and what numbers they hold.

const ffi = require('./ffi')
const { dtypes, dtypeOf } = require('./dtypes')

/**
 * The dtype in which values of two dtypes meet.
 *
 * bool gives way to everything; an integer beside a float (or complex) gives the latter, whatever their sizes; uint64
 * and a signed integer give float64; float16 and bfloat16 give float32; the two float8 give float16.
 *
 * @param {string} a
 * @param {string} b
 * @returns {string}
 * @throws {TypeError} ERR_DTYPE
 * @example
 * promoteTypes('int32', 'uint8') // 'int32'
 * promoteTypes('int64', 'float32') // 'float32'
 */
function promoteTypes (a, b) {
  return dtypes[ffi.promoteTypes(dtypeOf(a).index, dtypeOf(b).index)].name
}

module.exports = { promoteTypes }
