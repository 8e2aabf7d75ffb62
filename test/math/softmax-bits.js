'use strict'
// A hash of what softmax and its kin make of fixed numbers, along each axis: one for all back ends, levels and numbers of threads.
const { createHash } = require('node:crypto')
const { tensor } = require('samebytes')
const math = require('samebytes/math')

const NAMES = ['softmax', 'logSoftmax', 'logSumExp', 'vectorNorm', 'normalize', 'median']

/** @returns {string} */
function softmaxBits() {
  const values = new Float32Array(2 * 300 * 1111)
  for (let i = 0, x = 1; i < values.length; i++) {
    values[i] = (x = (Math.imul(x, 1664525) + 1013904223) | 0) / 2 ** (24 + (x % 5))
  }
  const hash = createHash('sha256')
  for (const dtype of ['float32', 'float64', 'bfloat16', 'int16']) {
    const t = tensor(values, [2, 300, 1111]).astype(dtype, { casting: 'unsafe' })
    for (const axis of [0, 1, 2]) {
      const made = [
        ...NAMES.map((name) => math[name](t, { axis })),
        math.vectorNorm(t, { axis, ord: 3 }),
        math.quantile(t, [0.1, 0.75], { axis }),
      ]
      for (const result of made) hash.update(result.bytes)
    }
  }
  return hash.digest('hex')
}

module.exports = { softmaxBits }
