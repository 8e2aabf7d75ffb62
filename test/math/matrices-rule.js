'use strict'
// The rule of matmul's sums in plain JavaScript, and sizes of matrices.
const { tensor, zeros } = require('samebytes')

const BLOCK = 256

/** A sum of products by the rule. terms: how many; each: gives the i-th pair; round: to the dtype. */
function summed(terms, each, round) {
  let sum = 0
  for (let first = 0; first < terms; first += BLOCK) {
    let block = 0
    for (let i = first; i < Math.min(first + BLOCK, terms); i++) {
      const [x, y] = each(i)
      block = round(block + round(x * y))
    }
    sum = first === 0 ? block : round(sum + block)
  }
  return sum
}

/** A complex one: of two products of each pair. */
function summedComplex(terms, each, round) {
  const re = summed(
    2 * terms,
    (i) => {
      const [[a, b], [c, d]] = each(i >> 1)
      return i % 2 ? [b, -d] : [a, c]
    },
    round,
  )
  const im = summed(
    2 * terms,
    (i) => {
      const [[a, b], [c, d]] = each(i >> 1)
      return i % 2 ? [b, c] : [a, d]
    },
    round,
  )
  return [re, im]
}

/** Integers of any size, which wrap. */
function summedIntegers(terms, each, dtype) {
  let sum = 0n
  for (let i = 0; i < terms; i++) {
    const [x, y] = each(i)
    sum += BigInt(x) * BigInt(y)
  }
  const bits = Number(/\d+/.exec(dtype)[0])
  const wrapped = dtype.startsWith('u') ? BigInt.asUintN(bits, sum) : BigInt.asIntN(bits, sum)
  return bits === 64 ? wrapped : Number(wrapped)
}

/** What matmul makes of matrices of one dtype, as nested lists. */
function productOf(a, b, dtype) {
  const round = dtype === 'float64' || dtype === 'complex128' ? (x) => x : Math.fround
  return a.map((row) =>
    b[0].map((_, j) => {
      const each = (i) => [row[i], b[i][j]]
      if (dtype.includes('int')) return summedIntegers(row.length, each, dtype)
      return (dtype.startsWith('complex') ? summedComplex : summed)(row.length, each, round)
    }),
  )
}

/** Sizes at which tiles, panels, blocks and threads begin and end, and the ways of one row. */
const SIZES = [
  [130, 520, 200],
  [500, 9, 40],
  [7, 20, 1100],
  [1, 30, 8300],
  [600, 384, 1],
  [2, 300, 400],
  [500, 300, 2],
  [1, 4000, 1],
  [3, 3, 3],
]

/** Fixed numbers, a matrix. */
function fixed(rows, columns, dtype, seed) {
  const values = new Float32Array(rows * columns)
  for (let i = 0, x = seed; i < values.length; i++) {
    values[i] = (x = (Math.imul(x, 1664525) + 1013904223) | 0) / 2 ** (24 + (x % 5))
  }
  return zeros([rows, columns], dtype).copyFrom(tensor(values, [rows, columns]), {
    casting: 'unsafe',
  })
}

module.exports = { SIZES, fixed, productOf }
