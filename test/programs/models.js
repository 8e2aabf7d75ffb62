'use strict'
// The model of classification.mts, and its weights as JSON, of which the program computes what the model should say.
const { onnx } = require('../onnx')

const FILTERS = 8
const CLASSES = 10

/** Numbers between -1 and 1, the same ones each time. */
function numbers(count, seed) {
  let state = seed
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  })
}

/** A convolution, the mean of each of its planes, and a linear layer. @returns {{ model: Uint8Array, weights: string }} */
function classifier() {
  const kernels = numbers(FILTERS * 3 * 3 * 3, 1)
  const bias = numbers(FILTERS, 2)
  const linear = numbers(FILTERS * CLASSES, 3)
  const model = onnx({
    inputs: { images: 'float32[n, 3, 32, 32]' },
    constants: {
      kernels: { dtype: 'float32', shape: [FILTERS, 3, 3, 3], data: kernels },
      bias: { dtype: 'float32', shape: [FILTERS], data: bias },
      linear: { dtype: 'float32', shape: [FILTERS, CLASSES], data: linear },
    },
    nodes: [
      [
        'Conv(images, kernels, bias) -> planes',
        { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] },
      ],
      'Relu(planes) -> positive',
      'GlobalAveragePool(positive) -> means',
      ['Flatten(means) -> features', { axis: 1 }],
      'MatMul(features, linear) -> logits',
    ],
    outputs: { logits: `float32[n, ${CLASSES}]` },
  })
  return {
    model,
    weights: JSON.stringify({ kernels: [...kernels], bias: [...bias], linear: [...linear] }),
  }
}

module.exports = { classifier }
