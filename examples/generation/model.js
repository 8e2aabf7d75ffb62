'use strict'
// A small decoder of four layers, as large ones are made: a token in, scores for the next one out, and keys and values of the tokens before in a cache.
// Its weights are random, so what it says means nothing.

const { onnx } = require('../../test/onnx')

const WORDS = 64
const WIDTH = 32
const HEADS = 4
const LAYERS = 4
const ROOM = 256 // tokens of the cache

/** Names of the cache's tensors. */
const NAMES = Array.from({ length: LAYERS }, (_, l) => [`key${l}`, `value${l}`]).flat()
const SHAPE = [1, HEADS, ROOM, WIDTH / HEADS]

/** @param {number[]} shape @param {number} seed */
function weights(shape, seed) {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = Float32Array.from({ length: n }, (_, i) => Math.sin((i + 1) * 12.9898 * seed) / 3)
  return { dtype: 'float32', shape, data }
}

/** @returns {Uint8Array} the model's file */
function makeModel() {
  const inputs = { token: 'int64[1, 1]', last: 'int32[1]', total: 'int32[]' }
  const outputs = { scores: `float32[1, 1, ${WORDS}]` }
  const constants = {
    embedding: weights([WORDS, WIDTH], 1),
    scoring: weights([WIDTH, WORDS], 2),
  }
  const nodes = ['Gather(embedding, token) -> h0']
  const cache = `float32[1, ${HEADS}, room, ${WIDTH / HEADS}]`
  for (let l = 0; l < LAYERS; l++) {
    for (const [i, name] of ['q', 'k', 'v', 'o'].entries()) {
      constants[`w${name}${l}`] = weights([WIDTH, WIDTH], 3 + l + i / 7)
      if (name !== 'o') nodes.push(`MatMul(h${l}, w${name}${l}) -> ${name}${l}`)
    }
    nodes.push(
      [
        `com.microsoft:GroupQueryAttention(q${l}, k${l}, v${l}, past_key${l}, past_value${l}, last, total) -> a${l}, present_key${l}, present_value${l}`,
        { num_heads: HEADS, kv_num_heads: HEADS },
      ],
      `MatMul(a${l}, wo${l}) -> o${l}`,
      `Add(h${l}, o${l}) -> h${l + 1}`,
    )
    for (const name of ['key', 'value']) {
      inputs[`past_${name}${l}`] = cache
      outputs[`present_${name}${l}`] = cache
    }
  }
  nodes.push(`MatMul(h${LAYERS}, scoring) -> scores`)
  return onnx({ inputs, outputs, nodes, constants, opset: 17 })
}

module.exports = { NAMES, ROOM, SHAPE, WORDS, makeModel }
