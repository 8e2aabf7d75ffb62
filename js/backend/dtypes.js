'use strict'
// C's list of dtypes, with the typed array of each.

const { tables } = require('./select')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/** @typedef {{ name: any, kind: string, itemsize: number, index: number, Type: any }} Dtype name: a DtypeName */

const floats16 = /** @type {any} */ (globalThis).Float16Array
/** @type {Record<string, any>} */
const types = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float16: floats16 ?? Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
  float8_e4m3fn: Uint8Array,
  float8_e5m2: Uint8Array,
}

/** in C's order @type {Dtype[]} */
const dtypes = tables.dtypes
  .slice(0, tables.dtypes.length - 1)
  .map((/** @type {[string, string]} */ row, /** @type {number} */ index) => ({
    name: row[0],
    kind: row[1],
    itemsize: types[row[0]].BYTES_PER_ELEMENT * (row[1] === 'COMPLEX' ? 2 : 1),
    index,
    Type: types[row[0]],
  }))
const itemsizes = dtypes.map((d) => d.itemsize)

/** @type {Map<unknown, Dtype>} */
const byName = new Map(dtypes.map((d) => [d.name, d]))

/**
 * @param {unknown} name
 * @returns {Dtype}
 */
function dtypeOf(name) {
  const dtype = byName.get(name)
  if (dtype === undefined) {
    throw failure(
      'ERR_DTYPE',
      `dtype is ${show(name)}; one of ${dtypes.map((d) => d.name).join(', ')} was expected`,
    )
  }
  return dtype
}

module.exports = { dtypes, itemsizes, byName, dtypeOf }
