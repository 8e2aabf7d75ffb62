'use strict'
// Special values: what the array API standard says of each function, one by one, for every float dtype that has them.
const assert = require('node:assert/strict')
const { fromBytes, tensor } = require('samebytes')
const { math, needsMath } = require('./load')

const { PI } = Math
const NAN = NaN
const INF = Infinity
const e = 1.5 // any finite number above 1

/** A row for each sign of the first operand, of a function that is odd in it. */
const odd = (rows) =>
  rows.flatMap(([x, ...rest]) => [
    [x, ...rest],
    [-x, ...rest.map((value, i) => (i === rest.length - 1 ? -value : value))],
  ])
const nans = (count) =>
  count === 1
    ? [[NAN, NAN]]
    : [
        [NAN, 1, NAN],
        [1, NAN, NAN],
        [NAN, NAN, NAN],
        [NAN, INF, NAN],
        [-INF, NAN, NAN],
      ]

/** name → rows of operands, and what they give */
const REAL = {
  abs: [
    [NAN, NAN],
    [-0, 0],
    [INF, INF],
    [-INF, INF],
  ],
  acos: [
    [NAN, NAN],
    [1.5, NAN],
    [-1.5, NAN],
    [1, 0],
    [0, PI / 2],
    [-0, PI / 2],
    [-1, PI],
  ],
  acosh: [
    [NAN, NAN],
    [0.5, NAN],
    [-INF, NAN],
    [1, 0],
    [INF, INF],
  ],
  add: [
    ...nans(2),
    [INF, -INF, NAN],
    [-INF, INF, NAN],
    [INF, INF, INF],
    [-INF, -INF, -INF],
    [INF, e, INF],
    [-INF, e, -INF],
    [e, INF, INF],
    [e, -INF, -INF],
    [-0, -0, -0],
    [-0, 0, 0],
    [0, -0, 0],
    [0, 0, 0],
    [0, e, e],
    [-0, e, e],
    [e, -e, 0],
  ],
  asin: [
    [NAN, NAN],
    [1.5, NAN],
    [-1.5, NAN],
    ...odd([
      [0, 0],
      [1, PI / 2],
    ]),
  ],
  asinh: [
    [NAN, NAN],
    ...odd([
      [0, 0],
      [INF, INF],
    ]),
  ],
  atan: [
    [NAN, NAN],
    ...odd([
      [0, 0],
      [INF, PI / 2],
    ]),
  ],
  atan2: [
    ...nans(2),
    ...odd([
      [e, 0, PI / 2],
      [e, -0, PI / 2],
      [0, e, 0],
      [0, 0, 0],
      [0, -0, PI],
      [0, -e, PI],
      [e, INF, 0],
      [e, -INF, PI],
      [INF, e, PI / 2],
      [INF, -e, PI / 2],
      [INF, INF, PI / 4],
      [INF, -INF, (3 * PI) / 4],
    ]),
  ],
  atanh: [
    [NAN, NAN],
    [1.5, NAN],
    [-1.5, NAN],
    ...odd([
      [0, 0],
      [1, INF],
    ]),
  ],
  ceil: [
    [NAN, NAN],
    [3, 3],
    ...odd([
      [0, 0],
      [INF, INF],
    ]),
    [-0.5, -0],
  ],
  copysign: [
    [1, -0, -1],
    [1, 0, 1],
    [-1, 0, 1],
    [0, -1, -0],
    [INF, -1, -INF],
    [-INF, 1, INF],
    [NAN, 1, NAN],
  ],
  cos: [
    [NAN, NAN],
    [0, 1],
    [-0, 1],
    [INF, NAN],
    [-INF, NAN],
  ],
  cosh: [
    [NAN, NAN],
    [0, 1],
    [-0, 1],
    [INF, INF],
    [-INF, INF],
  ],
  divide: [
    ...nans(2),
    [INF, INF, NAN],
    [INF, -INF, NAN],
    [-INF, INF, NAN],
    [0, 0, NAN],
    [0, -0, NAN],
    [-0, 0, NAN],
    ...odd([
      [0, e, 0],
      [0, -e, -0],
      [e, 0, INF],
      [e, -0, -INF],
      [INF, e, INF],
      [INF, -e, -INF],
      [e, INF, 0],
      [e, -INF, -0],
      [INF, 0, INF],
      [INF, -0, -INF],
      [0, INF, 0],
      [0, -INF, -0],
    ]),
  ],
  equal: [
    [NAN, NAN, false],
    [NAN, 1, false],
    [INF, INF, true],
    [-INF, INF, false],
    [0, -0, true],
  ],
  erf: [
    [NAN, NAN],
    ...odd([
      [0, 0],
      [INF, 1],
    ]),
  ],
  exp: [
    [NAN, NAN],
    [0, 1],
    [-0, 1],
    [INF, INF],
    [-INF, 0],
  ],
  expm1: [[NAN, NAN], ...odd([[0, 0]]), [INF, INF], [-INF, -1]],
  floor: [
    [NAN, NAN],
    [3, 3],
    ...odd([
      [0, 0],
      [INF, INF],
    ]),
    [0.5, 0],
  ],
  floor_divide: [
    ...nans(2),
    [0, 0, NAN],
    [-0, 0, NAN],
    [INF, INF, NAN],
    [INF, -INF, NAN],
    [0, e, 0],
    [-0, e, -0],
    [0, -e, -0],
    [-0, -e, 0],
    [e, 0, INF],
    [-e, 0, -INF],
    [e, -0, -INF],
    [e, INF, 0],
    [e, -INF, -1],
    [-e, INF, -1],
    [-e, -INF, 0],
  ],
  greater: [
    [NAN, 1, false],
    [1, NAN, false],
    [INF, 1, true],
    [0, -0, false],
  ],
  greater_equal: [
    [NAN, NAN, false],
    [0, -0, true],
    [-0, 0, true],
  ],
  hypot: [
    [INF, 1, INF],
    [-INF, 1, INF],
    [1, -INF, INF],
    [INF, NAN, INF],
    [NAN, -INF, INF],
    [NAN, 1, NAN],
    [1, NAN, NAN],
    [-0, 0, 0],
    [-0, -3, 3],
  ],
  isfinite: [
    [NAN, false],
    [INF, false],
    [-INF, false],
    [0, true],
  ],
  isinf: [
    [NAN, false],
    [INF, true],
    [-INF, true],
    [0, false],
  ],
  isnan: [
    [NAN, true],
    [INF, false],
    [0, false],
  ],
  less: [
    [NAN, 1, false],
    [1, NAN, false],
    [-INF, 1, true],
    [-0, 0, false],
  ],
  less_equal: [
    [NAN, NAN, false],
    [0, -0, true],
  ],
  log: [
    [NAN, NAN],
    [-1, NAN],
    [-INF, NAN],
    [0, -INF],
    [-0, -INF],
    [1, 0],
    [INF, INF],
  ],
  log10: [
    [NAN, NAN],
    [-1, NAN],
    [-INF, NAN],
    [0, -INF],
    [-0, -INF],
    [1, 0],
    [INF, INF],
    [10, 1],
    [100, 2],
  ],
  log1p: [
    [NAN, NAN],
    [-1.5, NAN],
    [-INF, NAN],
    [-1, -INF],
    ...odd([[0, 0]]).slice(0, 2),
    [INF, INF],
  ],
  log2: [
    [NAN, NAN],
    [-1, NAN],
    [-INF, NAN],
    [0, -INF],
    [-0, -INF],
    [1, 0],
    [INF, INF],
    [8, 3],
    [0.25, -2],
  ],
  logaddexp: [
    [NAN, 1, NAN],
    [1, NAN, NAN],
    [NAN, -INF, NAN],
    [NAN, INF, NAN],
    [INF, 1, INF],
    [-INF, 1, 1],
    [-INF, -INF, -INF],
    [INF, INF, INF],
    [INF, -INF, INF],
  ],
  logical_and: [
    [NAN, 1, true],
    [0, NAN, false],
    [-0, 1, false],
  ],
  logical_not: [
    [NAN, false],
    [0, true],
    [-0, true],
    [INF, false],
  ],
  logical_or: [
    [NAN, 0, true],
    [-0, 0, false],
  ],
  logical_xor: [
    [NAN, 0, true],
    [NAN, INF, false],
  ],
  maximum: [...nans(2), [INF, -INF, INF], [-0, 0, 0], [0, -0, 0]],
  minimum: [...nans(2), [INF, -INF, -INF], [-0, 0, -0], [0, -0, -0]],
  multiply: [
    ...nans(2),
    [INF, 0, NAN],
    [-INF, 0, NAN],
    [0, INF, NAN],
    [-0, -INF, NAN],
    [INF, INF, INF],
    [INF, -INF, -INF],
    [-INF, e, -INF],
    [e, -INF, -INF],
    [0, -e, -0],
    [-0, -e, 0],
  ],
  negative: [
    [NAN, NAN],
    [0, -0],
    [-0, 0],
    [INF, -INF],
  ],
  nextafter: [...nans(2), [0, -0, -0], [-0, 0, 0], [1, 1, 1], [INF, INF, INF]],
  not_equal: [
    [NAN, NAN, true],
    [INF, INF, false],
    [0, -0, false],
  ],
  positive: [
    [NAN, NAN],
    [-0, -0],
    [-INF, -INF],
  ],
  pow: [
    [NAN, 1, NAN],
    [2, NAN, NAN],
    [NAN, 0, 1],
    [NAN, -0, 1],
    [INF, 0, 1],
    [0, 0, 1],
    [0, -0, 1],
    [2, INF, INF],
    [-2, INF, INF],
    [2, -INF, 0],
    [1, INF, 1],
    [1, -INF, 1],
    [1, NAN, 1],
    [-1, INF, 1],
    [-1, -INF, 1],
    [0.5, INF, 0],
    [0.5, -INF, INF],
    [INF, 2, INF],
    [INF, -2, 0],
    [-INF, 3, -INF],
    [-INF, 2, INF],
    [-INF, 0.5, INF],
    [-INF, -3, -0],
    [-INF, -2, 0],
    [0, 2, 0],
    [0, -2, INF],
    [-0, 3, -0],
    [-0, 2, 0],
    [-0, 0.5, 0],
    [-0, -3, -INF],
    [-0, -2, INF],
    [-0, -0.5, INF],
    [-2, 0.5, NAN],
    [-2, 3, -8],
  ],
  reciprocal: [
    [NAN, NAN],
    ...odd([
      [0, INF],
      [INF, 0],
      [2, 0.5],
    ]),
  ],
  remainder: [
    ...nans(2),
    [INF, 2, NAN],
    [-INF, 2, NAN],
    [0, 0, NAN],
    [-0, 0, NAN],
    [0, 2, 0],
    [-0, 2, 0],
    [0, -2, -0],
    [-0, -2, -0],
    [2, 0, NAN],
    [-2, -0, NAN],
    [2, INF, 2],
    [-2, INF, INF],
    [2, -INF, -INF],
    [-2, -INF, -2],
    [4, 2, 0],
    [4, -2, -0],
    [-4, 2, 0],
  ],
  relu: [
    [NAN, NAN],
    [-INF, 0],
    [INF, INF],
    [-1, 0],
  ],
  round: [
    [NAN, NAN],
    [3, 3],
    ...odd([
      [0, 0],
      [INF, INF],
      [0.5, 0],
      [1.5, 2],
      [2.5, 2],
    ]),
  ],
  sigmoid: [
    [NAN, NAN],
    [INF, 1],
    [-INF, 0],
    [0, 0.5],
    [-0, 0.5],
  ],
  sign: [
    [NAN, NAN],
    [0, 0],
    [-0, 0],
    [INF, 1],
    [-INF, -1],
  ],
  signbit: [
    [0, false],
    [-0, true],
    [INF, false],
    [-INF, true],
    [NAN, false],
  ],
  silu: [
    [NAN, NAN],
    [INF, INF],
    [0, 0],
  ],
  sin: [[NAN, NAN], ...odd([[0, 0]]), [INF, NAN], [-INF, NAN]],
  sinh: [
    [NAN, NAN],
    ...odd([
      [0, 0],
      [INF, INF],
    ]),
  ],
  sqrt: [
    [NAN, NAN],
    [-1, NAN],
    [-INF, NAN],
    [0, 0],
    [-0, -0],
    [INF, INF],
    [4, 2],
  ],
  square: [
    [NAN, NAN],
    [-0, 0],
    [-INF, INF],
  ],
  subtract: [
    ...nans(2),
    [INF, INF, NAN],
    [-INF, -INF, NAN],
    [INF, -INF, INF],
    [-INF, INF, -INF],
    [0, 0, 0],
    [-0, 0, -0],
    [0, -0, 0],
    [-0, -0, 0],
    [e, e, 0],
  ],
  tan: [[NAN, NAN], ...odd([[0, 0]]), [INF, NAN], [-INF, NAN]],
  tanh: [
    [NAN, NAN],
    ...odd([
      [0, 0],
      [INF, 1],
    ]),
  ],
  trunc: [
    [NAN, NAN],
    [3, 3],
    ...odd([
      [0, 0],
      [INF, INF],
      [0.5, 0],
    ]),
  ],
}

/** Of complex numbers, which are pairs. */
const COMPLEX = {
  abs: [
    [[INF, NAN], INF],
    [[NAN, -INF], INF],
    [[NAN, 1], NAN],
    [[-0, 0], 0],
    [[3, -4], 5],
    [[-INF, 1], INF],
  ],
  exp: [
    [
      [0, 0],
      [1, 0],
    ],
    [
      [-0, 0],
      [1, 0],
    ],
    [
      [1, INF],
      [NAN, NAN],
    ],
    [
      [1, NAN],
      [NAN, NAN],
    ],
    [
      [INF, 0],
      [INF, 0],
    ],
    [
      [-INF, 1],
      [0, 0],
    ],
    [
      [INF, 1],
      [INF, INF],
    ],
    [
      [NAN, 0],
      [NAN, 0],
    ],
    [
      [NAN, 1],
      [NAN, NAN],
    ],
    [
      [NAN, NAN],
      [NAN, NAN],
    ],
  ],
  log: [
    [
      [-0, 0],
      [-INF, PI],
    ],
    [
      [0, 0],
      [-INF, 0],
    ],
    [
      [1, INF],
      [INF, PI / 2],
    ],
    [
      [1, NAN],
      [NAN, NAN],
    ],
    [
      [-INF, 1],
      [INF, PI],
    ],
    [
      [INF, 1],
      [INF, 0],
    ],
    [
      [-INF, INF],
      [INF, (3 * PI) / 4],
    ],
    [
      [INF, INF],
      [INF, PI / 4],
    ],
    [
      [INF, NAN],
      [INF, NAN],
    ],
    [
      [NAN, 1],
      [NAN, NAN],
    ],
    [
      [NAN, INF],
      [INF, NAN],
    ],
    [
      [NAN, NAN],
      [NAN, NAN],
    ],
  ],
  sqrt: [
    [
      [0, 0],
      [0, 0],
    ],
    [
      [-0, 0],
      [0, 0],
    ],
    [
      [1, INF],
      [INF, INF],
    ],
    [
      [NAN, INF],
      [INF, INF],
    ],
    [
      [1, NAN],
      [NAN, NAN],
    ],
    [
      [-INF, 1],
      [0, INF],
    ],
    [
      [INF, 1],
      [INF, 0],
    ],
    [
      [INF, NAN],
      [INF, NAN],
    ],
    [
      [NAN, 1],
      [NAN, NAN],
    ],
    [
      [NAN, NAN],
      [NAN, NAN],
    ],
    [
      [-4, 0],
      [0, 2],
    ],
    [
      [-4, -0],
      [0, -2],
    ],
  ],
  conj: [
    [
      [1, INF],
      [1, -INF],
    ],
    [
      [NAN, 0],
      [NAN, -0],
    ],
  ],
  isfinite: [
    [[1, INF], false],
    [[NAN, 1], false],
    [[1, 1], true],
  ],
  isinf: [
    [[NAN, INF], true],
    [[NAN, 1], false],
  ],
  isnan: [
    [[INF, NAN], true],
    [[INF, 1], false],
  ],
  equal: [
    [[NAN, 0], [NAN, 0], false],
    [[0, -0], [-0, 0], true],
  ],
}

const text = (value) =>
  Array.isArray(value) ? `[${value.map(text)}]` : Object.is(value, -0) ? '-0' : String(value)
const js = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())

/** The same number, or rounded to the dtype. */
function isSame(got, wanted, dtype) {
  if (typeof wanted !== 'number') return got === wanted
  const [rounded] = tensor([wanted], dtype).toArray()
  return Object.is(got, rounded)
}

describe('special values of the array API', () => {
  needsMath()

  for (const dtype of ['float16', 'bfloat16', 'float32', 'float64']) {
    for (const [name, rows] of Object.entries(REAL)) {
      it(`${name} of ${dtype}`, () => {
        for (const row of rows) {
          const operands = row.slice(0, -1)
          const wanted = row.at(-1)
          // One alone, and as one of many: vectors have loops of their own.
          for (const n of [1, 37]) {
            const got = math[js(name)](
              ...operands.map((x) => tensor(new Array(n).fill(x), dtype)),
            ).toArray()
            got.forEach((x) =>
              assert.ok(
                isSame(x, wanted, dtype),
                `${name}(${operands.map(text)}) is ${text(x)}, not ${text(wanted)}`,
              ),
            )
          }
        }
      })
    }
  }

  for (const dtype of ['complex64', 'complex128']) {
    const part = dtype === 'complex64' ? 'float32' : 'float64'
    for (const [name, rows] of Object.entries(COMPLEX)) {
      it(`${name} of ${dtype}`, () => {
        for (const row of rows) {
          const operands = row.slice(0, -1)
          const wanted = row.at(-1)
          const [got] = math[js(name)](...operands.map((x) => tensor([x], [1], dtype))).toArray()
          const isRight = Array.isArray(wanted)
            ? wanted.every((x, i) => isSame(got[i], x, part))
            : isSame(got, wanted, part)
          assert.ok(isRight, `${name}(${operands.map(text)}) is ${text(got)}, not ${text(wanted)}`)
        }
      })
    }
  }

  it('complex numbers whose length is beyond float64, or has few bits', () => {
    for (const scale of [2 ** 1020, 2 ** 900, 1, 2 ** -1000, 2 ** -1074]) {
      assert.deepEqual(math.sign(tensor([[8 * scale, -15 * scale]], [1], 'complex128')).toArray(), [
        [8 / 17, -15 / 17],
      ])
      assert.deepEqual(math.sign(tensor([[0, -scale]], [1], 'complex128')).toArray(), [[0, -1]])
    }
  })

  for (const dtype of ['float16', 'bfloat16']) {
    const INFINITE = dtype === 'float16' ? 0x7c00 : 0x7f80
    const QUIET = INFINITE + (INFINITE & -INFINITE) / 2
    const bits = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i)
    const of = (bits) => fromBytes(new Uint8Array(bits.buffer), [bits.length], dtype)
    const isNan = (x) => (x & 0x7fff) > INFINITE
    const canonical = (x) => (isNan(x) ? QUIET : x)
    const same = (got, wanted) => {
      const found = new Uint16Array(got.contiguous().bytes.slice().buffer)
      bits.forEach((x, i) =>
        assert.equal(found[i], wanted(x), `${dtype} of bits 0x${x.toString(16)}`),
      )
    }

    it(`all bits of ${dtype}`, () => {
      const x = of(bits)
      same(math.abs(x), (x) => canonical(x & 0x7fff))
      same(math.negative(x), (x) => canonical(x ^ 0x8000))
      same(math.positive(x), canonical)
      same(math.copysign(x, of(bits.map((x) => ~x))), (x) =>
        canonical((x & 0x7fff) | (~x & 0x8000)),
      )
      same(math.where(math.equal(tensor(bits), 0), 1, x), (x) =>
        x === 0 ? (dtype === 'float16' ? 0x3c00 : 0x3f80) : x,
      )
      for (const [name, wanted] of Object.entries({
        signbit: (x) => x >= 0x8000,
        isnan: isNan,
        isinf: (x) => (x & 0x7fff) === INFINITE,
        isfinite: (x) => (x & 0x7fff) < INFINITE,
      })) {
        const got = math[name](x).toArray()
        bits.forEach((x, i) =>
          assert.equal(got[i], wanted(x), `${name} of bits 0x${x.toString(16)}`),
        )
      }
    })

    it(`nextafter of ${dtype} is the next one that there is`, () => {
      // All numbers but -0, from the smallest to the largest.
      const inOrder = Uint16Array.from(
        [...bits]
          .filter((x) => !isNan(x) && x !== 0x8000)
          .sort((a, b) => (a & 0x8000 ? -(a & 0x7fff) : a) - (b & 0x8000 ? -(b & 0x7fff) : b)),
      )
      const numbers = of(inOrder).astype('float64').toArray()
      numbers.forEach((x, i) => assert.ok(i === 0 || x > numbers[i - 1]))
      const up = math.nextafter(of(inOrder), Infinity).astype('float64').toArray()
      const down = math.nextafter(of(inOrder), -Infinity).astype('float64').toArray()
      numbers.forEach((x, i) => {
        assert.equal(up[i] + 0, numbers[Math.min(i + 1, numbers.length - 1)])
        assert.equal(down[i] + 0, numbers[Math.max(i - 1, 0)])
      })
      assert.ok(math.nextafter(of(bits), NaN).toArray().every(Number.isNaN))
    })
  }

  it('float64 functions that are next to nothing', () => {
    const least = 2 ** -1074
    const one = (name, ...operands) =>
      math[name](...operands.map((x) => tensor([x], 'float64'))).item()
    assert.equal(one('gelu', -38.45687080044234) / least, -58) // -57.69 of these
    assert.equal(one('gelu', -38) / least, -2219265367)
    assert.equal(one('logaddexp', -1e300, 0), 0)
    assert.equal(one('logaddexp', -745.2, 0), 0)
    assert.equal(one('logaddexp', -745, 0), least)
  })

  it('float32 functions round what lies next to the middle between two numbers', () => {
    const rows = {
      // bits of arguments, and of what MPFR says
      acos: [[0x39826222, 0x3fc907b5]],
      asinh: [
        [0x4bdd65a5, 0x418f034b],
        [0xcbdd65a5, 0xc18f034b],
      ],
      atan: [
        [0x3d8d6b23, 0x3d8d31c3],
        [0xbd8d6b23, 0xbd8d31c3],
      ],
      cos: [[0x5f18b878, 0x3f7f14bb]],
      gelu: [
        [0x37b0a46f, 0x3730a531],
        [0xb7b0a46f, 0xb730a3ad],
      ],
      log: [[0x4c5d65a5, 0x418f034b]],
      log1p: [
        [0x35400003, 0x353fffff],
        [0xbb0ec8c4, 0xbb0ef0a5],
      ],
      sigmoid: [[0xba928601, 0x3effdb5f]],
      sin: [[0x46199998, 0xbeb1fa5d]],
    }
    for (const [name, pairs] of Object.entries(rows)) {
      for (const n of [1, 40]) {
        // a vector, and what is left of one
        const x = fromBytes(
          new Uint8Array(
            Uint32Array.from({ length: n * pairs.length }, (_, i) => pairs[i % pairs.length][0])
              .buffer,
          ),
          [n * pairs.length],
          { dtype: 'float32' },
        )
        const found = new Uint32Array(math[name](x).bytes.slice().buffer)
        found.forEach((bits, i) =>
          assert.equal(bits.toString(16), pairs[i % pairs.length][1].toString(16), name),
        )
      }
    }
  })
})
