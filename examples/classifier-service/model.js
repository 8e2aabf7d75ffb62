'use strict'
// A model of a few hundred bytes, so that the example has one without a download: it names the colour of a picture. It takes
// what image classifiers take, float32 [1, 3, 224, 224] of normalised planes, and gives one logit for each label.

const SIZE = 224
/** of ImageNet, by which most image classifiers were trained: red, green, blue, of values from 0 to 1 */
const MEAN = [0.485, 0.456, 0.406]
const DEVIATION = [0.229, 0.224, 0.225]

const COLOURS = {
  black: [0, 0, 0],
  white: [1, 1, 1],
  grey: [0.5, 0.5, 0.5],
  red: [1, 0, 0],
  green: [0, 0.6, 0],
  blue: [0, 0, 1],
  yellow: [1, 1, 0],
  orange: [1, 0.5, 0],
  purple: [0.5, 0, 0.5],
  brown: [0.5, 0.25, 0.1],
}

const labels = Object.keys(COLOURS)

/** The model: logit = 2 c·x - c·c for the mean colour x and each colour c, which is greatest for the nearest one. */
function model() {
  const colours = Object.values(COLOURS).map((colour) =>
    colour.map((value, i) => (value - MEAN[i]) / DEVIATION[i]),
  )
  const weights = [0, 1, 2].flatMap((channel) => colours.map((colour) => 2 * colour[channel]))
  const bias = colours.map((colour) => -colour.reduce((sum, value) => sum + value * value, 0))
  return Uint8Array.from(
    message(
      field(1, 8), // the format's version
      field(
        7,
        message(
          node('GlobalAveragePool', ['image'], 'mean'),
          node('Flatten', ['mean'], 'colour'),
          node('MatMul', ['colour', 'weights'], 'products'),
          node('Add', ['products', 'bias'], 'logits'),
          field(2, 'colours'),
          constant('weights', [3, labels.length], weights),
          constant('bias', [labels.length], bias),
          field(11, declaration('image', [1, 3, SIZE, SIZE])),
          field(12, declaration('logits', [1, labels.length])),
        ),
      ),
      field(8, field(2, 13)), // the version of the operators
    ),
  )
}

// ---- ONNX is a protobuf message; numbers of fields are those of onnx.proto ----

const message = (...fields) => fields.flat()

function varint(n) {
  const bytes = []
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128)
  return [...bytes, n]
}

/** a number is a varint; texts, messages and bytes have their length in front */
function field(number, value) {
  if (typeof value === 'number') return [...varint(number * 8), ...varint(value)]
  const bytes = [...Buffer.from(value)]
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes]
}

function node(operator, inputs, output) {
  return field(
    1,
    message(...inputs.map((name) => field(1, name)), field(2, output), field(4, operator)),
  )
}

const FLOAT32 = 1

function constant(name, shape, values) {
  const bytes = Buffer.from(Float32Array.from(values).buffer)
  return field(
    5,
    message(...shape.map((n) => field(1, n)), field(2, FLOAT32), field(8, name), field(9, bytes)),
  )
}

function declaration(name, shape) {
  const extents = message(...shape.map((n) => field(1, field(1, n))))
  return message(field(1, name), field(2, field(1, message(field(1, FLOAT32), field(2, extents)))))
}

module.exports = { model, labels, SIZE, MEAN, DEVIATION }
