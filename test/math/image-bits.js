'use strict'
// A hash of what resize and its kin make of fixed images: one for all back ends, levels and numbers of threads.
const { createHash } = require('node:crypto')
const { tensor } = require('samebytes')
const math = require('samebytes/math')

const SIZES = [[24, 31], [224, 97], [310, 430]]

/** @returns {string} */
function imageBits () {
  const values = new Float32Array(300 * 411 * 3)
  for (let i = 0, x = 1; i < values.length; i++) values[i] = ((x = Math.imul(x, 1664525) + 1013904223 | 0) >>> 24) + (i % 7) / 8
  const hash = createHash('sha256')
  for (const dtype of ['uint8', 'float32', 'float64', 'float16']) {
    const t = tensor(values, [300, 411, 3]).astype(dtype, { casting: 'unsafe' })
    for (const size of SIZES) {
      for (const method of ['bilinear', 'bicubic']) {
        for (const antialias of [true, false]) {
          hash.update(math.resize(t, size, { axes: [0, 1], method, antialias }).bytes)
          hash.update(math.resize(t.permute([2, 0, 1]).contiguous(), size, { method, antialias, dtype: 'float32', scale: [0.5, 2, 3], bias: -7 }).bytes)
        }
      }
    }
  }
  const boxes = tensor(values, [values.length / 4, 4]).narrow(0, 0, 4000)
  const sized = math.add(boxes, tensor([0, 0, 256, 256]))
  hash.update(math.nms(sized, boxes.select(1, 0), { iouThreshold: 0.3 }).bytes)
  hash.update(math.iou(sized.narrow(0, 0, 300), sized.narrow(0, 300, 301)).bytes)
  return hash.digest('hex')
}

module.exports = { imageBits }
