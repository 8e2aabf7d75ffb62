'use strict'
// Models for the tests, and the onnxruntime that runs them: onnxruntime-node, in a page onnxruntime-web.
const { fromBlob, ones, zeros } = require('samebytes')
const { onnx } = require('./onnx')
const { ALL_SHARED, isPage } = require('./setup')

/** @returns {Promise<any>} */
const loadOrt = async () =>
  isPage ? await require('onnxruntime-node') : require('onnxruntime-node')

/** where onnxruntime can write: on wasm-shared, whose memory not every version can, a typed array of its own */
function target(shape) {
  return ALL_SHARED
    ? fromBlob(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape)
    : zeros(shape)
}
const input = (shape) => target(shape).copyFrom(ones(shape))

/** c = a + b, rows of three */
const ADD = onnx({
  inputs: { a: 'float32[n, 3]', b: 'float32[n, 3]' },
  nodes: ['Add(a, b) -> c'],
  outputs: { c: 'float32[n, 3]' },
})
/** c = a + b, of one shape alone */
const FIXED = onnx({
  inputs: { a: 'float32[2, 3]', b: 'float32[2, 3]' },
  nodes: ['Add(a, b) -> c'],
  outputs: { c: 'float32[2, 3]' },
})
/** two outputs, and extents without names */
const BOTH = onnx({
  inputs: { a: 'float32[?]', b: 'float32[?]' },
  nodes: ['Add(a, b) -> sum', 'Mul(a, b) -> product'],
  outputs: { sum: 'float32[?]', product: 'float32[?]' },
})
/** doubles its input */
const DOUBLE = onnx({
  inputs: { x: 'float32[n]' },
  nodes: ['Add(x, x) -> y'],
  outputs: { y: 'float32[n]' },
})
/** the same value again, of one dtype */
const same = (dtype, shape = '[?]') =>
  onnx({ inputs: { x: dtype + shape }, nodes: ['Identity(x) -> y'], outputs: { y: dtype + shape } })
/** fails when extents differ, other than 1 */
const MISDECLARED = onnx({
  inputs: { a: 'float32[?]', b: 'float32[?]' },
  nodes: ['Add(a, b) -> c'],
  outputs: { c: 'float32[?]' },
})

module.exports = { ADD, BOTH, DOUBLE, FIXED, MISDECLARED, input, loadOrt, same, target }
