'use strict'
// A program of onnxruntime-node's, which knows nothing of samebytes: what its sessions take, give and refuse, as JSON.
//   node [--import samebytes/onnxruntime] test/native/onnxruntime-cases.js FOLDER
// Among the cases are those of onnxruntime-node's own unit tests of sessions, told anew.
const fs = require('node:fs')
const path = require('node:path')
const ort = require('onnxruntime-node')
const { onnx } = require('../onnx')

const { InferenceSession, Tensor } = ort
const folder = process.argv[2]

const BOTH = onnx({
  inputs: { a: 'float32[n, 3]', b: 'float32[n, 3]' },
  nodes: ['Add(a, b) -> sum', 'Mul(a, b) -> product'],
  outputs: { sum: 'float32[n, 3]', product: 'float32[n, 3]' },
})
const modelPath = path.join(folder, 'both.onnx')
fs.writeFileSync(modelPath, BOTH)
const LOUDNESS = { logSeverityLevel: 4 } // failures are not written to stderr

const floats = (values, dims) => new Tensor('float32', Float32Array.from(values), dims)
const same = (type, shape) =>
  onnx({ inputs: { x: type + shape }, nodes: ['Identity(x) -> y'], outputs: { y: type + shape } })

const plain = (value) => {
  if (value instanceof Tensor) {
    const { type, dims, data, location, size } = value
    const kind = Object.prototype.toString.call(data)
    return { type, dims, location, size, kind, isList: Array.isArray(dims), data: plain([...data]) }
  }
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value === null || typeof value !== 'object') return value === undefined ? 'undefined' : value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

/** Each gives what is compared. */
const cases = {}

// ---- create ----

for (const [title, ...args] of [
  ['nothing'],
  ['an offset below zero', BOTH.buffer, -1],
  ['an offset that is too large', BOTH.buffer, 100_000_000],
  ['a length below zero', BOTH.buffer, 0, -1],
  ['a length that is too large', BOTH.buffer, 0, 100_000_000],
  ['a path with options of text', modelPath, 'cpu'],
  ['bytes with options of text', BOTH, 'cpu'],
  ['a buffer with options of text', BOTH.buffer, 0, BOTH.length, 'cpu'],
  ['a path of no file', '/this/is/no/model.onnx', LOUDNESS],
  ['no bytes', new Uint8Array(0), LOUDNESS],
  ['bytes of no model', new Uint8Array(100).fill(7), LOUDNESS],
  ['the beginning of a model', BOTH.subarray(0, 40), LOUDNESS],
]) {
  cases[`create of ${title}`] = () => InferenceSession.create(...args)
}
for (const [title, args] of [
  ['a path', [modelPath]],
  ['a Buffer', [fs.readFileSync(modelPath)]],
  ['a buffer and its part', [Uint8Array.from([0, 0, ...BOTH, 0]).buffer, 2, BOTH.length]],
]) {
  cases[`create of ${title}`] = async () => {
    const session = await InferenceSession.create(...args)
    const { inputNames, outputNames, inputMetadata, outputMetadata } = session
    await session.release()
    return { inputNames, outputNames, inputMetadata, outputMetadata }
  }
}
const OPTIONS = {
  executionProviders: [['cpu'], [{ name: 'cpu' }], []],
  intraOpNumThreads: ['bad', 1.5, -1, 0, 1],
  interOpNumThreads: ['bad', 1.5, -1, 1],
  graphOptimizationLevel: [0, 'bad', 'basic', 'all', 'disabled'],
  enableCpuMemArena: [0, true, false],
  enableMemPattern: [0, true, false],
  executionMode: [0, 'bad', 'sequential', 'parallel'],
  logId: [5, 'a name'],
  logSeverityLevel: ['bad', 8, 1.5, 3],
  logVerbosityLevel: ['bad', 1],
  freeDimensionOverrides: [{ n: 2 }, { n: 'bad' }],
  extra: [{ session: { disable_prepacking: '1' } }, 5],
  preferredOutputLocation: ['cpu', 'bad'],
  enableProfiling: [false, 'bad'],
  nobodyKnowsThis: [1],
}
for (const [name, values] of Object.entries(OPTIONS)) {
  for (const value of values) {
    cases[`the option ${name}: ${JSON.stringify(value)}`] = async () => {
      const session = await InferenceSession.create(modelPath, { [name]: value })
      return session.run(feeds)
    }
  }
}

// ---- run ----

const feeds = {
  a: floats([1, 2, 3, 4, 5, 6], [2, 3]),
  b: floats([1, 1, 1, 2, 2, 2], [2, 3]),
}
const fresh = () => floats([0, 0, 0, 0, 0, 0], [2, 3])
for (const [title, ...args] of [
  ['null', null],
  ['a tensor', feeds.a],
  ['a list of tensors', [feeds.a]],
  ['no inputs', {}],
  ['another name', { c: feeds.a }],
  ['its inputs', feeds],
  ['its inputs and one more', { ...feeds, c: 5 }],
  ['names of outputs', feeds, ['product']],
  ['names of outputs in another order', feeds, ['product', 'sum']],
  ['an output that is null', feeds, { product: null }],
  ['outputs that are null', feeds, null],
  ['a number for outputs', feeds, 1],
  ['a tensor for outputs', feeds, fresh()],
  ['an empty list for outputs', feeds, []],
  ['a list of numbers for outputs', feeds, [1, 2, 3]],
  ['a wrong name for an output', feeds, ['nothing']],
  ['a number for options', feeds, ['sum'], 1],
  ['an output of another shape', feeds, { sum: floats([0, 0, 0], [1, 3]) }, LOUDNESS],
  ['an output of another type', feeds, { sum: new Tensor('int32', new Int32Array(6), [2, 3]) }],
  ['an output of strings', feeds, { sum: new Tensor('string', ['a'], [1]) }],
  ['an input of another rank', { ...feeds, b: floats([1, 1, 1], [3]) }],
  ['an input of another extent', { ...feeds, b: floats([1, 1, 1, 1], [2, 2]) }],
  ['an input of another type', { ...feeds, b: new Tensor('int32', new Int32Array(6), [2, 3]) }],
  ['an input of strings', { ...feeds, b: new Tensor('string', ['a'], [1]) }],
  ['inputs that do not fit', { ...feeds, b: floats(new Array(9).fill(1), [3, 3]) }, LOUDNESS],
  ['inputs without elements', { a: floats([], [0, 3]), b: floats([], [0, 3]) }],
  ['the option logSeverityLevel of text', feeds, { logSeverityLevel: 'error' }],
  ['the option logSeverityLevel 8', feeds, { logSeverityLevel: 8 }],
  ['the option logSeverityLevel 1.5', feeds, { logSeverityLevel: 1.5 }],
  ['the option logSeverityLevel undefined', feeds, { logSeverityLevel: undefined }],
  ['the option logSeverityLevel 4', feeds, LOUDNESS],
  ['the option tag 5', feeds, { tag: 5 }],
  ['the option tag', feeds, { tag: 'x' }],
  ['options that nobody knows', feeds, { terminate: true, extra: 5, other: 1 }],
]) {
  cases[`run of ${title}`] = (session) => session.run(...args)
}
for (const other of [
  ...[{}, { dims: null }, { dims: ['a', 3] }, { dims: [2.5, 3] }, { dims: [-1, 3] }],
  ...[{ location: null }, { location: 'x' }, { location: 'cpu-pinned' }, { location: 'texture' }],
  ...[{ location: 'gpu-buffer' }, { type: null }, { type: 'x' }, { type: 'int4' }],
  ...[{ type: 'string' }, { type: 'string', location: 'texture' }, { type: 'int32' }],
  ...[{ data: null }, { data: [1] }, { data: new DataView(new ArrayBuffer(24)) }],
  ...[{ data: new Int32Array(6) }, { data: new Float32Array(3) }, { data: new Float32Array(9) }],
  ...[{ type: 'float16', data: new Uint8Array(12) }],
  ...[
    { type: 'uint8', data: new Uint8ClampedArray(6) },
    { type: 'bool', data: new Uint8Array(6) },
  ],
]) {
  const told = JSON.stringify(other, (_, x) => (ArrayBuffer.isView(x) ? x.constructor.name : x))
  cases[`an input with the fields ${told} ${other.data?.byteLength}`] = (session) => {
    const fields = { type: 'float32', dims: [2, 3], data: Float32Array.of(9, 8, 7, 6, 5, 4) }
    return session.run({ a: feeds.a, b: { ...fields, location: 'cpu', ...other } })
  }
}
for (const value of [null, 5, 'text']) {
  cases[`an input that is ${value}`] = (session) => session.run({ a: feeds.a, b: value })
}
cases['an input that was disposed'] = (session) => {
  const b = fresh()
  b.dispose()
  return session.run({ a: feeds.a, b })
}
cases['an input that was transferred'] = (session) => {
  const b = fresh()
  structuredClone(b.data.buffer, { transfer: [b.data.buffer] })
  return session.run({ a: feeds.a, b })
}
cases['a given output'] = async (session) => {
  const sum = fresh()
  const result = await session.run(feeds, { sum })
  return [result, sum, result.sum === sum, result.sum.data === sum.data]
}
cases['a given output among others'] = async (session) => {
  const product = fresh()
  return [await session.run(feeds, { product, sum: null }), product]
}
cases['an output over an input'] = async (session) => {
  const a = floats([1, 2, 3, 4, 5, 6], [2, 3])
  return [await session.run({ a, b: feeds.b }, { sum: a }), a]
}
cases['an input of the model that is an output, given and not'] = async () => {
  const through = onnx({
    inputs: { x: 'float32[3]' },
    nodes: ['Neg(x) -> y'],
    outputs: { x: 'float32[3]', y: 'float32[3]' },
  })
  const session = await InferenceSession.create(through)
  const x = floats([5, 5, 5], [3])
  const all = []
  for (let i = 0; i < 12; i++) all.push(await session.run({ x: floats([i, 2, 3], [3]) }))
  return [all, await session.run({ x: floats([1, 2, 3], [3]) }, { x, y: null }), x]
}
cases['a constant that is an output'] = async () => {
  const constants = { c: { dtype: 'float32', shape: [2], data: Float32Array.of(1, 2) } }
  const session = await InferenceSession.create(
    onnx({
      inputs: { x: 'float32[2]' },
      constants,
      nodes: ['Add(x, c) -> y'],
      outputs: { c: 'float32[2]', y: 'float32[2]' },
    }),
  )
  const all = []
  for (let i = 0; i < 12; i++) all.push(await session.run({ x: floats([i, 2], [2]) }))
  return [all, await session.run({ x: floats([1, 2], [2]) }, { c: floats([7, 7], [2]) })]
}
const VALUES = {
  ...{ uint8: Uint8Array.of(0, 255), int8: Int8Array.of(-128, 127), bool: Uint8Array.of(0, 1) },
  ...{ int16: Int16Array.of(-1, 1), uint16: Uint16Array.of(1, 65535), int32: Int32Array.of(-1, 2) },
  ...{ int64: BigInt64Array.of(-1n, 2n ** 60n), uint64: BigUint64Array.of(1n, 2n ** 63n) },
  ...{ uint32: Uint32Array.of(1, 2 ** 32 - 1), float32: Float32Array.of(0.1, NaN) },
  ...{ float64: Float64Array.of(0.1, -Infinity), float16: Uint16Array.of(0x3c00, 0x7e00) },
  string: ['a', 'ß'],
}
for (const [type, data] of Object.entries(VALUES)) {
  cases[`${type}, new and given`] = async () => {
    const session = await InferenceSession.create(same(type, '[?]'))
    const x = new Tensor(type, data, [2])
    const y = new Tensor(type, type === 'string' ? ['', ''] : new data.constructor(2), [2])
    return [await session.run({ x }), type === 'string' ? null : await session.run({ x }, { y }), y]
  }
}
cases['bfloat16'] = () => InferenceSession.create(same('bfloat16', '[?]'))
cases['no axes'] = async () => {
  const session = await InferenceSession.create(same('float32', '[]'))
  return session.run({ x: floats([5], []) })
}
cases['shapes that depend on the values'] = async () => {
  const session = await InferenceSession.create(
    onnx({
      inputs: { x: 'float32[n]' },
      nodes: ['NonZero(x) -> y'],
      outputs: { y: 'int64[1, ?]' },
    }),
  )
  const all = []
  for (const values of ['111', '111', '110', '000', '000', '000', '111', '1', '11', '01', '01']) {
    all.push(await session.run({ x: floats(values, [values.length]) }))
  }
  return all
}
cases['extents that are declared wrong'] = async () => {
  const session = await InferenceSession.create(
    onnx({
      inputs: { a: 'float32[n]', b: 'float32[m]' },
      nodes: ['Add(a, b) -> c'],
      outputs: { c: 'float32[n]' },
    }),
    LOUDNESS,
  )
  const all = []
  for (let i = 0; i < 12; i++) {
    all.push(await session.run({ a: floats([i], [1]), b: floats([1, 2], [2]) }))
  }
  return all
}
cases['many runs, in turn and at once'] = async (session) => {
  const all = []
  for (let i = 0; i < 20; i++) {
    all.push(await session.run({ ...feeds, b: floats([i, i, i], [1, 3]) }))
  }
  const pending = []
  const ends = []
  for (let i = 0; i < 20; i++) {
    const n = 1 + (i % 3)
    const x = floats(new Array(3 * n).fill(i), [n, 3])
    pending.push(session.run({ a: x, b: x }).finally(() => ends.push(i)))
  }
  return [all, await Promise.all(pending), ends]
}
cases['what is written to an input after the call, in this turn'] = async (session) => {
  const a = floats([1, 2, 3], [1, 3])
  const pending = session.run({ a, b: a })
  a.data.fill(7)
  return pending
}
cases['a long run, and a short one before it is over'] = async () => {
  const nodes = Array.from({ length: 20 }, (_, i) => `MatMul(x${i}, x0) -> x${i + 1}`)
  const session = await InferenceSession.create(
    onnx({ inputs: { x0: 'float32[n, n]' }, nodes, outputs: { x20: 'float32[n, n]' } }),
  )
  const ends = []
  const run = (n) =>
    session.run({ x0: floats(new Float32Array(n * n), [n, n]) }).then(() => ends.push(n))
  await Promise.all([256, 2, 128, 1].map(run))
  return ends
}
cases['what is written to an input in the next turn'] = async (session) => {
  const a = floats([1, 2, 3], [1, 3])
  const pending = session.run({ a, b: a })
  setImmediate(() => a.data.fill(7))
  return pending
}
cases['inputs and results that are transferred away'] = async (session) => {
  const a = floats([1, 2, 3], [1, 3])
  const { sum } = await session.run({ a, b: a })
  const moved = [a, sum].map(({ data }) => structuredClone(data, { transfer: [data.buffer] }))
  return [moved.map((each) => [...each]), a.data.length, sum.data.length]
}
cases['a result that is disposed, and one that is asked for'] = async (session) => {
  const { sum, product } = await session.run(feeds)
  sum.dispose()
  return [sum.location, [...(await product.getData())], product.reshape([6]).dims]
}
cases['release, twice, and what comes after'] = async () => {
  const session = await InferenceSession.create(modelPath)
  const said = []
  const tell = (fn) =>
    Promise.resolve()
      .then(fn)
      .then(
        (value) => said.push(plain(value)),
        (error) => said.push([error.name, error.message]),
      )
  session.startProfiling()
  await tell(() => session.endProfiling())
  await tell(() => session.release())
  await tell(() => session.release())
  await tell(() => session.run(feeds))
  await tell(() => session.endProfiling())
  return [said, session.inputNames, session.outputMetadata]
}

async function main() {
  const session = await InferenceSession.create(modelPath)
  const found = {}
  for (const [title, test] of Object.entries(cases)) {
    if (Object.hasOwn(found, title)) throw new Error(`two cases: ${title}`)
    try {
      found[title] = plain(await test(session))
    } catch (error) {
      found[title] = { name: error.name, code: error.code ?? null, message: error.message }
    }
  }
  console.log(JSON.stringify({ by: session.handler.constructor.name, found }))
}

main()
