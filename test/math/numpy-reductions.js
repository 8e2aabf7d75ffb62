'use strict'
// Random tensors of any layout for reductions, and what NumPy makes of them.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { tensor } = require('samebytes')
const { ROOT } = require('../setup')
const { PYTHON } = require('../tools')

const FLOATS = ['float32', 'float64', 'float16', 'bfloat16']
const INTEGERS = ['uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const EPSILON = { float32: 2 ** -24, float64: 2 ** -50, float16: 2 ** -11, bfloat16: 2 ** -8 }

/** A tensor of any layout: permuted, sliced, flipped or broadcast. */
function arranged(random, dtype, extents, most) {
  const { next, pick, shuffle } = random
  const shape = Array.from({ length: next(most + 1) }, () => pick(extents))
  const n = shape.reduce((a, b) => a * b, 1)
  const values = Array.from({ length: n }, () => valueOf(random, dtype))
  let t = tensor(
    values.map((x) =>
      dtype.endsWith('64') && dtype !== 'float64' && !dtype.startsWith('complex') ? BigInt(x) : x,
    ),
    { dtype },
  ).reshape(shape)
  if (next(2)) t = t.permute(shuffle(shape.map((_, d) => d)))
  if (next(2) && shape.length > 0) {
    t = t.slice(...t.shape.map(() => pick([':', ':', '::2', '::-1'])))
  }
  if (next(4) === 0) t = t.broadcastTo([pick([2, 3, 20]), ...t.shape])
  return t
}

function valueOf({ next, pick }, dtype) {
  if (dtype === 'bool') return next(3) === 0
  if (dtype.startsWith('complex')) return [next(200) / 64 - 1.5, next(200) / 64 - 1.5]
  if (dtype.startsWith('uint')) return pick([0, next(200)])
  if (dtype.startsWith('int')) return pick([0, next(200) - 100])
  return pick([0, -0, next(1000) / 256 - 2, next(1000) / 256 - 2, next(1000) / 256 - 2])
}

function axisOf({ next, pick, shuffle }, ndim, one) {
  if (ndim === 0 || next(4) === 0) return null
  const axis = next(ndim) - pick([0, ndim])
  return one || next(2)
    ? axis
    : shuffle(Array.from({ length: ndim }, (_, d) => d)).slice(0, next(ndim + 1))
}

/** Cases as NumPy gets them: row-major bytes. */
function sent({ t, ...rest }) {
  return {
    ...rest,
    shape: [...t.shape],
    bytes: Buffer.from(t.contiguous().bytes).toString('base64'),
  }
}

function askNumpy(cases) {
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'reductions.py')],
    {
      input: JSON.stringify(cases.map(sent)),
      env: { ...process.env, LD_PRELOAD: '' },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** a number as NumPy's answer has it */
const numberOf = (text) =>
  text === 'nan' ? NaN : text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text)

/** Is a value what NumPy has in long double, within what one rounding and the order of addition allow? */
function assertClose(got, text, dtype, scale, what) {
  if (typeof text === 'boolean') return assert.equal(got, text, what)
  if (Array.isArray(text)) {
    const size = Math.hypot(...text.map(numberOf)) // a part may be far less than the number
    return text.forEach((part, i) =>
      assertClose(got[i], part, dtype === 'complex64' ? 'float32' : 'float64', scale + size, what),
    )
  }
  if (typeof got === 'bigint') return assert.equal(String(got), text, what)
  const wanted = numberOf(text)
  if (!(dtype in EPSILON) || !Number.isFinite(wanted)) {
    return assert.ok(Object.is(got, wanted) || got === wanted, `${what}: ${got}, not ${wanted}`)
  }
  const most = Number.isFinite(got)
    ? Math.abs(wanted) * (EPSILON[dtype] * 1.001 + 2 ** -42) +
      scale * 2 ** -44 +
      (dtype === 'float16' ? 2 ** -24 : 0)
    : 0
  assert.ok(
    Math.abs(got - wanted) <= most || (!Number.isFinite(got) && Math.abs(wanted) > 65000),
    `${what}: ${got}, not ${wanted}`,
  )
}

module.exports = { FLOATS, INTEGERS, EPSILON, arranged, axisOf, askNumpy, numberOf, assertClose }
