'use strict'
// Numbers that C has for dtypes and castings.

const { dtypeOf } = require('../backend/dtypes')

module.exports = {
  BOOL: dtypeOf('bool').index,
  UINT8: dtypeOf('uint8').index,
  INT32: dtypeOf('int32').index,
  INT64: dtypeOf('int64').index,
  UINT64: dtypeOf('uint64').index,
  FLOAT32: dtypeOf('float32').index,
  FLOAT64: dtypeOf('float64').index,
  COMPLEX64: dtypeOf('complex64').index,
  COMPLEX128: dtypeOf('complex128').index,
  /** castings */
  SAFE: 0,
  SAME_KIND: 1,
  UNSAFE: 2,
  MOST_INT32: 2 ** 31 - 1,
}
