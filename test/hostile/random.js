'use strict'
// What a seed draws.

const { generator } = require('../setup')

const DTYPES = [
  'bool',
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float8_e4m3fn',
  'float8_e5m2',
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'complex64',
  'complex128',
]

/** @param {number} seed */
function drawing(seed) {
  const r = generator(Math.imul(seed, 0x9e3779b1) ^ (seed / 2 ** 32))
  const { next, pick } = r
  return {
    ...r,
    /** true once in n times */
    rarely: (n = 10) => next(n) === 0,
    /** an integer in [low, high] */
    between: (low, high) => low + next(high - low + 1),
    /** an integer in [1, most], as often of few digits as of many */
    size: (most) =>
      Math.max(1, Math.min(most, Math.floor(2 ** ((next(1e6) / 1e6) * Math.log2(most + 1))))),
    dtype: () => pick(DTYPES),
    /** one entry of each list of an object, say */
    either: (...makers) => pick(makers)(),
    bytes: (n) => Uint8Array.from({ length: n }, () => next(256)),
  }
}

module.exports = { DTYPES, drawing }
