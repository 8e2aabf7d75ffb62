'use strict'
// Small ONNX models, written as bytes: protobuf messages of a few fields each, by the numbers of onnx.proto.

/** data types of ONNX by our names */
const TYPES = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  complex64: 14,
  bfloat16: 16,
}

function varint(n) {
  const bytes = []
  let rest = BigInt.asUintN(64, BigInt(n))
  do {
    const more = rest > 127n
    bytes.push(Number(rest & 127n) | (more ? 128 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return bytes
}

/** A message's field: a number is a varint, a text or bytes are themselves, undefined is left out. */
function field(number, value) {
  if (value === undefined) return []
  if (typeof value === 'number' || typeof value === 'bigint') {
    return [...varint(number << 3), ...varint(value)]
  }
  const bytes = typeof value === 'string' ? [...new TextEncoder().encode(value)] : value
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes]
}

const message = (...fields) => fields.flat()
const each = (number, list, make) => list.flatMap((one) => field(number, make(one)))

/** An extent: a number is fixed, a text names it, null is left open. */
function extent(n) {
  return typeof n === 'number' ? field(1, n) : n === null ? [] : field(2, n)
}

/** `x: 'float32[batch, 3]'` as a value's declaration; `'float32'` alone leaves the rank open. */
function declared([name, text]) {
  const [, dtype, list] = /^(\w+)(?:\[(.*)\])?$/.exec(text)
  const extents =
    list === undefined
      ? null
      : list === ''
        ? []
        : list
            .split(',')
            .map((s) => s.trim())
            .map((s) => (s === '?' ? null : /^\d+$/.test(s) ? Number(s) : s))
  const shape = extents === null ? [] : field(2, each(1, extents, extent))
  return message(field(1, name), field(2, field(1, message(field(1, TYPES[dtype]), shape))))
}

function attribute([name, value]) {
  if (Array.isArray(value)) {
    return message(
      field(1, name),
      value.flatMap((n) => field(8, n)),
      field(20, 7),
    )
  }
  return message(field(1, name), field(3, value), field(20, 2))
}

/** 'Add(a, b) -> c', with attributes as { axis: 0 }; 'domain:Op(a) -> b' is an operation of another set. */
function node(line) {
  const [text, attributes = {}] = Array.isArray(line) ? line : [line]
  const [, domain, op, inputs, outputs] = /^(?:([\w.]+):)?(\w+)\((.*)\) -> (.*)$/.exec(text)
  const names = (list) => (list === '' ? [] : list.split(',').map((s) => s.trim()))
  return message(
    names(inputs).flatMap((name) => field(1, name)),
    names(outputs).flatMap((name) => field(2, name)),
    field(4, op),
    field(7, domain),
    each(5, Object.entries(attributes), attribute),
  )
}

/** A constant: { dtype, shape, data (a typed array) }, or { dtype, shape, location (the name of a file with its bytes) }. */
function constant([name, { dtype, shape, data, location }]) {
  const entry = location && message(field(1, 'location'), field(2, location))
  return message(
    shape.flatMap((n) => field(1, n)),
    field(2, TYPES[dtype]),
    field(8, name),
    field(9, data && [...new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]),
    field(13, entry),
    field(14, location && 1),
  )
}

/**
 * A model's bytes.
 *
 *   onnx({ inputs: { a: 'float32[n]', b: 'float32[n]' }, nodes: ['Add(a, b) -> c'], outputs: { c: 'float32[n]' } })
 */
function onnx({ inputs, nodes, outputs, constants = {}, opset = 13 }) {
  const graph = message(
    each(1, nodes, node),
    field(2, 'graph'),
    each(5, Object.entries(constants), constant),
    each(11, Object.entries(inputs), declared),
    each(12, Object.entries(outputs), declared),
  )
  const others = new Set(nodes.flatMap((each) => /^([\w.]+):/.exec([each].flat()[0])?.[1] ?? []))
  return Uint8Array.from(
    message(
      field(1, 8),
      field(7, graph),
      field(8, field(2, opset)),
      each(8, [...others], (domain) => message(field(1, domain), field(2, 1))),
    ),
  )
}

module.exports = { onnx, TYPES }
