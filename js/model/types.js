'use strict'
// onnxruntime's element types.

/** by ONNX's numbers @type {(string | undefined)[]} */
const TYPE_NAMES = [
  ...[undefined, 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string'],
  ...['bool', 'float16', 'float64', 'uint32', 'uint64', 'complex64', 'complex128', 'bfloat16'],
]

module.exports = { TYPE_NAMES }
