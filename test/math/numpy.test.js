'use strict'
// Every elementwise function on random tensors of every dtype, layout and pair of shapes, compared with NumPy.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { dtypes, fromBytes, iinfo, promoteTypes, tensor } = require('samebytes')
const { ROOT, generator, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')
const { math, needsMath, rows } = require('./load')

const IN_NUMPY = dtypes.filter((name) => !/^(bfloat16|float8)/.test(name))
const INTEGERS = IN_NUMPY.filter((name) => /int/.test(name))
const FLOATS = IN_NUMPY.filter((name) => name.startsWith('float'))
const COMPLEX = ['complex64', 'complex128']
const REAL = [...INTEGERS, ...FLOATS]
const DTYPES = {
  NUMBER: [...REAL, ...COMPLEX],
  TEST: [...REAL, ...COMPLEX],
  DIVISION: [...REAL, ...COMPLEX],
  REAL,
  WHOLE: REAL,
  NEAREST: [...REAL, ...COMPLEX],
  POWER: REAL,
  FLOAT: REAL,
  BITS: ['bool', ...INTEGERS],
  INTEGER: INTEGERS,
  LOGIC: IN_NUMPY,
  EQUALITY: IN_NUMPY,
  ORDER: ['bool', ...REAL],
  CHOICE: IN_NUMPY,
}
const EACH = process.env.SAMEBYTES_FULL === '1' ? 1000 : 100 // cases of a function
const SPECIAL = [0, -0, 1, -1, 0.5, NaN, Infinity, -Infinity, 2 ** -149, 1e30, -2.5, 3]

/** Functions that differ from NumPy's by some units in the last place, and by how many; what NumPy makes of gelu has rounded before erfc. */
const ULP = (name) =>
  name === 'gelu'
    ? 64
    : /^(a?(sin|cos|tan)h?|atan2|exp|expm1|log|log10|log1p|log2|logaddexp|erf|sigmoid|silu|hypot|pow)$/.test(
          name,
        )
      ? 8
      : 0

function valueOf(dtype, { next, pick }) {
  if (dtype === 'bool') return next(2) === 1
  if (COMPLEX.includes(dtype)) return [pick([0, 1, -2, 0.5, 3]), pick([0, 1, -1, 2.25])]
  if (FLOATS.includes(dtype)) {
    return next(3)
      ? (next(2001) - 1000) / 64
      : pick(dtype === 'float16' ? SPECIAL.filter((x) => x !== 1e30) : SPECIAL)
  }
  const { min, max, bits } = iinfo(dtype)
  const x = next(3) ? next(11) - (min < 0 ? 5 : 0) : pick([0, 1, min, max])
  return bits === 64 ? BigInt(x) : x
}

/** A tensor of random layout. */
function operand(shape, dtype, random, value = () => valueOf(dtype, random)) {
  const { next, shuffle } = random
  const order = shuffle(shape.map((_, d) => d))
  const steps = shape.map(() => [1, 1, 2, -1][next(4)])
  const inMemory = order.map((d) => shape[d] * Math.abs(steps[d]))
  const n = inMemory.reduce((a, b) => a * b, 1)
  const flat = Array.from({ length: n + 1 }, value)
  const whole = tensor(flat, [n + 1], { dtype })
    .slice('1:')
    .view(inMemory)
  return whole
    .permute(shape.map((_, d) => order.indexOf(d)))
    .slice(...steps.map((step) => (step === 2 ? '::2' : step === -1 ? '::-1' : ':')))
}

function makeCase(row, random) {
  const { next, pick } = random
  const shape = Array.from({ length: next(4) }, () =>
    pick([1, 2, 3, 5, next(20) ? 4 : 0, next(10) ? 2 : 40]),
  )
  const accepted = DTYPES[row.domain]
  assert.ok(accepted !== undefined, `${__filename} does not know the domain ${row.domain}`)
  const first = pick(accepted)
  const second = pick(accepted)
  const isBits = row.domain === 'BITS' || row.domain === 'INTEGER' // uint64 and a signed one meet in float64, which has no bits
  const same = next(2) === 1 || (isBits && promoteTypes(first, second).startsWith('float'))
  const list = Array.from({ length: row.count }, (_, i) => {
    const dtype = row.domain === 'CHOICE' && i === 0 ? 'bool' : i === 0 || same ? first : second
    const own =
      i === 0 || next(2) ? shape : shape.map((n) => (next(2) ? n : 1)).slice(next(shape.length + 1))
    const isExponent =
      i === 1 && /^(pow|bitwise_.*_shift)$/.test(row.name) && INTEGERS.includes(dtype)
    return operand(
      own,
      dtype,
      random,
      isExponent ? () => (dtype.endsWith('64') ? BigInt(next(9)) : next(9)) : undefined,
    )
  })
  const meeting = list
    .slice(row.domain === 'CHOICE' ? 1 : 0)
    .map((t) => t.dtype)
    .reduce((a, b) => promoteTypes(a, b))
  return { row, list, meeting }
}

/** The dtype that NumPy is to compute in. */
function computedIn({ row, list, meeting }) {
  const isMixed = list.some((t) => t.dtype !== list[0].dtype)
  if (row.domain === 'LOGIC') return 'bool'
  if ((row.domain === 'EQUALITY' || row.domain === 'ORDER') && isMixed) return null
  if (/FLOAT|DIVISION/.test(row.domain) && INTEGERS.includes(meeting)) return 'float32'
  // Short floats are computed in float32, what meets them as well.
  return meeting === 'float16' && isMixed && row.name !== 'nextafter' ? 'float32' : meeting
}

const request = (one) => ({
  name: one.row.name,
  to: computedIn(one),
  result: one.got?.dtype ?? 'bool',
  operands: one.list.map((t) => ({
    dtype: t.dtype,
    shape: t.shape,
    bytes: Buffer.from(t.contiguous().bytes).toString('base64'),
  })),
})

const flatOf = (t) => (t.size === 0 ? [] : [t.toArray()].flat(Infinity))

/** @returns {boolean} whether two numbers are the same, or so many units apart */
function isClose(a, b, dtype, ulp) {
  if (Object.is(a, b)) return true
  if (typeof a !== 'number' || ulp === 0) return false
  const eps = {
    float16: 2 ** -10,
    bfloat16: 2 ** -7,
    float32: 2 ** -23,
    float64: 2 ** -52,
    complex64: 2 ** -23,
    complex128: 2 ** -52,
  }[dtype]
  return Math.abs(a - b) <= ulp * eps * Math.max(Math.abs(a), Math.abs(b), 2 ** -14)
}

describe('elementwise functions beside NumPy', function () {
  needsMath()
  let answers

  before(function () {
    if (math.add === undefined) return
    skipWithout(this, 'NumPy')
    const random = generator(27)
    const cases = rows
      .filter((row) => row.domain !== undefined)
      .flatMap((row) => Array.from({ length: EACH }, () => makeCase(row, random)))
    for (const one of cases) {
      try {
        one.got = math[one.row.js](...one.list)
      } catch (error) {
        one.error = error
      }
    }
    const { status, stdout, stderr } = spawnSync(
      PYTHON,
      [path.join(ROOT, 'test', 'python', 'math.py')],
      {
        input: JSON.stringify(cases.map(request)),
        env: { ...process.env, LD_PRELOAD: '' },
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      },
    )
    assert.equal(status, 0, stderr)
    const all = JSON.parse(stdout)
    answers = new Map(rows.map(({ name }) => [name, []]))
    cases.forEach((one, i) => answers.get(one.row.name).push({ ...one, expected: all[i] }))
  })

  for (const { name, js } of rows) {
    it(`${js} is NumPy's on random dtypes, shapes and layouts`, () => {
      for (const { list, got, expected, error } of answers.get(name)) {
        if (error !== undefined) throw error
        const what = `${js}(${list.map((t) => `${t.dtype}[${t.shape}] ${JSON.stringify(flatOf(t).slice(0, 8).map(String))}`).join(', ')})`
        assert.equal(expected.error, undefined, what)
        assert.deepEqual(got.shape, expected.shape, what)
        const right = fromBytes(Buffer.from(expected.bytes, 'base64'), expected.shape, {
          dtype: got.dtype,
        })
        const isComplex = list.some((t) => COMPLEX.includes(t.dtype))
        const [left, wanted] = [flatOf(got), flatOf(right)]
        // NumPy's complex products and quotients are others beside infinities and NaN.
        // The standard leaves open what infinity // x is: infinite, or NumPy's NaN.
        // nextafter of two zeros is the second one; NumPy has the first one of float16.
        // Which of two zeros is larger depends on NumPy's build; special-values.test.js says what ours is.
        const isOpen = (i) =>
          (name === 'floor_divide' && Number.isNaN(wanted[i]) && Math.abs(left[i]) === Infinity) ||
          ((/^(minimum|maximum|clip)$/.test(name) ||
            (name === 'nextafter' && got.dtype === 'float16')) &&
            left[i] === 0 &&
            wanted[i] === 0)
        const isCompared = (i) =>
          isOpen(i) ? false : !isComplex || (Number.isFinite(left[i]) && Number.isFinite(wanted[i]))
        left.forEach((x, i) =>
          assert.ok(
            !isCompared(i) || isClose(x, wanted[i], got.dtype, ULP(name) || (isComplex ? 4 : 0)),
            `${what}: element ${i} is ${Object.is(x, -0) ? '-0' : x}; NumPy has ${Object.is(wanted[i], -0) ? '-0' : wanted[i]}`,
          ),
        )
      }
    })
  }
})
