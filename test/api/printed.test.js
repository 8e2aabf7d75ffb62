'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { empty, fromBlob, tensor, zeros } = require('samebytes')
const { ROOT, fails, generator, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')

// PyTorch 1.13 as the oracle: the same bytes in the same layout must print alike, but for "torch.".

const TYPES = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
}
const FLOATS = ['float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128']

const SHAPES = [
  [],
  [1],
  [2],
  [3],
  [6],
  [7],
  [9],
  [20],
  [100],
  [999],
  [1000],
  [1001],
  [5000],
  [1, 1],
  [2, 3],
  [3, 2],
  [6, 6],
  [7, 7],
  [1, 30],
  [4, 40],
  [40, 4],
  [31, 32],
  [32, 32],
  [6, 200],
  [7, 200],
  [200, 6],
  [200, 7],
  [1, 1001],
  [1001, 1],
  [2, 2, 2],
  [3, 1, 4],
  [10, 10, 10],
  [11, 10, 10],
  [6, 7, 30],
  [7, 6, 30],
  [30, 6, 7],
  [30, 7, 6],
  [2, 3, 200],
  [8, 1, 200],
  [1, 2, 1, 2],
  [7, 7, 7, 7],
  [6, 6, 6, 6],
  [2, 2, 2, 2, 2],
  [3, 7, 2, 7, 5],
  [1, 1, 1, 1, 1, 1, 1],
]
const EMPTY = [[0], [0, 0], [2, 0], [0, 3], [1, 0, 2], [0, 1, 1, 1], [1000000, 0]]

const SPECIAL = [
  0,
  -0,
  NaN,
  Infinity,
  -Infinity,
  1,
  -1,
  0.5,
  0.1,
  0.03125,
  0.09375,
  -0.15625,
  100000.5,
  300000.5,
  1.00005,
  9.99995,
  99999.5,
  1e-4,
  9.9999e-5,
  0.00011,
  1e-5,
  1e8,
  1.0000001e8,
  2e8,
  1000,
  1000.5,
  1001,
  12345678,
  1e-30,
  1e30,
  5e-324,
  3.4e38,
  0.99999,
  0.999995,
  2.5,
  123.45678,
]

/** One list of numbers; each way gives other texts. */
const WAYS = {
  special:
    ({ pick }) =>
    () =>
      pick(SPECIAL),
  'a few of them': ({ pick, shuffle }) => {
    const few = shuffle(SPECIAL).slice(0, 3)
    return () => pick(few)
  },
  'small integers':
    ({ next }) =>
    () =>
      next(20) - 10,
  integers:
    ({ next }) =>
    () =>
      next(2001) - 1000,
  fractions:
    ({ next }) =>
    () =>
      (next(200001) - 100000) / 1000,
  ties:
    ({ next }) =>
    () =>
      (2 * next(1000) - 999) / 32,
  'ties in the exponent form':
    ({ next }) =>
    () =>
      10 * next(100000) + 5 + 1e5 * next(2) * next(1000),
  'all magnitudes':
    ({ next }) =>
    () =>
      (next(2) ? 1 : -1) * Math.exp((next(1000) - 500) / 12),
  'nothing finite':
    ({ pick }) =>
    () =>
      pick([0, -0, NaN, Infinity, -Infinity]),
  zeros:
    ({ pick }) =>
    () =>
      pick([0, 0, 0, -0]),
}

/** JavaScript's numbers as elements; shorter floats by their bits. */
function elements(dtype, numbers) {
  const Type = TYPES[dtype]
  if (dtype === 'bfloat16') {
    return Uint16Array.from(
      new Uint32Array(Float32Array.from(numbers).buffer),
      (bits) => bits >>> 16,
    )
  }
  if (dtype === 'float16') {
    return new Uint16Array(
      empty([numbers.length], 'float16').copyFrom(Float64Array.from(numbers)).bytes.slice().buffer,
    )
  }
  if (dtype === 'int64') {
    return Type.from(numbers, (x) => (Number.isFinite(x) ? BigInt(Math.trunc(x)) : 2n ** 62n))
  }
  if (dtype === 'bool') return Type.from(numbers, (x) => (Math.abs(x) > 1 ? 1 : 0))
  return Type.from(numbers)
}

/** Dense, or with its axes permuted, walked backwards or with gaps. */
function layoutOf(shape, { next, shuffle }) {
  const strides = []
  let step = 1
  const gap = next(3) === 0 ? 2 : 1
  const order = next(2)
    ? shape.map((_, d) => shape.length - 1 - d)
    : shuffle(shape.map((_, d) => d))
  for (const d of order) {
    strides[d] = step * gap
    step *= Math.max(shape[d], 1)
  }
  return { strides, offset: next(3), length: Math.max(step * gap + 3, 4) }
}

function cases() {
  const random = generator(20)
  const all = []
  const add = (dtype, shape, way) => {
    const { strides, offset, length } = layoutOf(shape, random)
    const next = WAYS[way](random)
    const count = length * (dtype.startsWith('complex') ? 2 : 1)
    all.push({
      dtype,
      shape,
      strides,
      offset,
      way,
      data: elements(dtype, Array.from({ length: count }, next)),
    })
  }
  for (const shape of [...SHAPES, ...EMPTY]) {
    for (const dtype of Object.keys(TYPES)) {
      if (FLOATS.includes(dtype)) {
        for (const way of random.shuffle(Object.keys(WAYS)).slice(0, shape.length ? 2 : 10)) {
          add(dtype, shape, way)
        }
      } else add(dtype, shape, random.pick(['small integers', 'integers', 'special', 'zeros']))
    }
  }
  return all
}

function ours({ dtype, shape, strides, offset, data }) {
  return String(fromBlob(data.buffer, shape, { dtype, strides, offset }))
}

describe("a tensor among JavaScript's operators", () => {
  it('of one element is that: in comparisons, products, Number', () => {
    const t = tensor([[6]])
    assert.deepEqual(
      [t > 3, t < 6, t * 2, Number(t), -t, Math.max(t, 7), t + ''],
      [true, false, 12, 6, -6, 7, 'tensor([[6.]])'],
    )
    assert.equal(tensor([5n]) > 4, true)
    assert.equal(`${tensor([5n])}`, 'tensor([5])')
  })

  it('of several is a typed error where numbers are wanted, and text elsewhere', () => {
    const t = tensor([1, 2])
    for (const use of [() => t > 3, () => Number(t), () => t * 2, () => zeros([0]) < 1]) {
      fails(use, RangeError, 'ERR_SHAPE', /item\(\) takes one/)
    }
    assert.equal(`${t}`, 'tensor([1., 2.])')
  })
})

describe('toString beside PyTorch 1.13', function () {
  const all = cases()
  let expected

  before(function () {
    skipWithout(this, 'PyTorch 1.13')
    const input = all
      .map(({ data, ...one }) =>
        JSON.stringify({ ...one, bytes: Buffer.from(data.buffer).toString('base64') }),
      )
      .join('\n')
    const { stdout, stderr, status } = spawnSync(
      PYTHON,
      [path.join(ROOT, 'test', 'python', 'printed.py')],
      { input, encoding: 'utf8', maxBuffer: 1 << 28 },
    )
    assert.equal(status, 0, stderr)
    expected = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).replace('dtype=torch.', 'dtype='))
  })

  for (const dtype of Object.keys(TYPES)) {
    it(`prints ${dtype} tensors in ${all.filter((one) => one.dtype === dtype).length} shapes and kinds alike`, () => {
      all.forEach((one, i) => {
        if (one.dtype === dtype) {
          assert.equal(
            ours(one),
            expected[i],
            `${one.way}, shape [${one.shape}], strides [${one.strides}]`,
          )
        }
      })
    })
  }
})
