'use strict'
// The npm peers as a child of ../copy.js: those that are installed, in this package or in the folder
// SAMEBYTES_PEERS, and do the same with the same dtypes.

const path = require('node:path')
const { ROOT } = require('../measure')
const { serve } = require('./serve')

const ARRAYS = {
  uint8: Uint8Array,
  int16: Int16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
}

const ndarray = load('ndarray')
const ops = load('ndarray-ops')
const stdlib = {
  Ndarray: load('@stdlib/ndarray/ctor'),
  assign: load('@stdlib/ndarray/base/assign'),
  fill: load('@stdlib/ndarray/base/fill'),
}
const tf = load('@tensorflow/tfjs-core')
tf?.env().set('IS_TEST', true) // no advertisement
const backends = tf ? { 'tfjs cpu': 'cpu', 'tfjs wasm': 'wasm' } : {}
for (const [who, name] of Object.entries(backends)) {
  if (!load(`@tensorflow/tfjs-backend-${name}`)) delete backends[who]
}

function load(name) {
  try {
    return require(
      require.resolve(name, { paths: [ROOT, path.resolve(process.env.SAMEBYTES_PEERS || ROOT)] }),
    )
  } catch {
    return null
  }
}

serve(async (work) => {
  const runs = {
    'ndarray-ops': ndarray && ops && byNdarray(work),
    stdlib: stdlib.Ndarray && byStdlib(work),
  }
  for (const [who, name] of Object.entries(backends)) runs[who] = await byTensorflow(name, work)
  return Object.fromEntries(Object.entries(runs).filter(([, run]) => run))
})

const countOf = (shape) => shape.reduce((a, b) => a * b, 1)

function byNdarray({ kind, from, to, shape, order, scale, count }) {
  if (kind === 'uniform') {
    const dst = ndarray(new Float32Array(count))
    return () => ops.random(dst)
  }
  if (kind === 'normal' || scale || !ARRAYS[to]) return null
  const target = (axes) => ndarray(new ARRAYS[to](countOf(axes)), axes)
  if (kind === 'fill') {
    const dst = target(shape)
    return () => ops.assigns(dst, 1.5)
  }
  if (!ARRAYS[from]) return null
  const flat = ndarray(new ARRAYS[from](countOf(shape)).fill(1), shape)
  const src = order ? flat.transpose(...order) : flat
  const dst = target(src.shape)
  return () => ops.assign(dst, src)
}

function byStdlib({ kind, from, to, shape, order, scale }) {
  if (scale || !ARRAYS[to]) return null
  const dense = (dtype, axes) =>
    new stdlib.Ndarray(
      dtype,
      new ARRAYS[dtype](countOf(axes)).fill(1),
      axes,
      stridesOf(axes),
      0,
      'row-major',
    )
  if (kind === 'fill' && stdlib.fill) {
    const dst = dense(to, shape)
    return () => stdlib.fill(dst, 1.5)
  }
  if (kind !== 'copy' || !ARRAYS[from]) return null
  const src = dense(from, shape)
  const axes = order ?? shape.map((_, d) => d)
  const view = new stdlib.Ndarray(
    from,
    src.data,
    axes.map((d) => shape[d]),
    axes.map((d) => src.strides[d]),
    0,
    'row-major',
  )
  const dst = dense(
    to,
    axes.map((d) => shape[d]),
  )
  return () => stdlib.assign([view, dst])
}

function stridesOf(shape) {
  return shape.map((_, d) => countOf(shape.slice(d + 1)))
}

/** Its tensors are values: a copy that neither moves nor casts is none, and every result is a new one. */
async function byTensorflow(name, { kind, from, to, shape, order, scale, count }) {
  if (to !== 'float32' || scale) return null
  const make = {
    fill: () => tf.fill(shape, 1.5),
    uniform: () => tf.randomUniform([count], 0, 1, 'float32', 1),
    normal: () => tf.randomNormal([count], 0, 1, 'float32', 1),
  }
  await tf.setBackend(name)
  if (kind === 'copy') {
    if (!['int32', 'float32'].includes(from) || (from === to && !order)) return null
    if (from !== to && name === 'cpu') return null // the same array, called float32
    const src = tf.tensor(new ARRAYS[from](countOf(shape)).fill(1), shape, from)
    make.copy = () => (order ? tf.transpose(src, order) : tf.cast(src, to))
  }
  return () => {
    tf.setBackend(name) // at once, as it is there already
    make[kind]().dispose()
  }
}
