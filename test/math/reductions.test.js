'use strict'
// Reductions beside NumPy, and the same bits for every layout, number of threads and instruction set.
const assert = require('node:assert/strict')
const { tensor, zeros, full, stack, iinfo, backend, memory } = require('samebytes')
const math = require('samebytes/math')
const {
  childJson,
  fails,
  generator,
  hex,
  needs,
  refusedUnchanged,
  skip,
  skipWithout,
} = require('../setup')
const {
  FLOATS,
  INTEGERS,
  EPSILON,
  arranged,
  axisOf,
  askNumpy,
  assertClose,
} = require('./numpy-reductions')

const NAMES = [
  'sum',
  'prod',
  'mean',
  'var',
  'std',
  'min',
  'max',
  'any',
  'all',
  'countNonzero',
  'argmax',
  'argmin',
]

function makeCase(random) {
  const name = random.pick(NAMES)
  const isIndex = name.startsWith('arg')
  const dtypes = [
    ...FLOATS,
    ...INTEGERS,
    'bool',
    ...(['sum', 'mean', 'prod'].includes(name) ? ['complex64', 'complex128'] : []),
  ]
  const dtype = random.pick(dtypes)
  const t = random.next(3)
    ? arranged(random, dtype, [1, 2, 3, 5, 8], 4)
    : arranged(random, dtype, [1, 3, 17, 33, 70], 2)
  return {
    t,
    name,
    dtype,
    axis: axisOf(random, t.ndim, isIndex),
    keepdims: random.next(2) === 1,
    correction: random.next(2),
  }
}

const run = ({ t, name, axis, keepdims, correction }, more = {}) =>
  math[name](t, {
    axis,
    keepdims,
    ...(name === 'var' || name === 'std' ? { correction } : {}),
    ...more,
  })

const describeCase = ({ t, name, dtype, axis, keepdims, correction }) =>
  JSON.stringify({ name, dtype, shape: t.shape, strides: t.strides, axis, keepdims, correction })

describe('reductions beside NumPy', () => {
  let random
  before(function () {
    skipWithout(this, 'NumPy')
    random = generator(27)
  })

  it('agree on 600 random tensors, axes, dtypes and layouts', () => {
    const cases = Array.from({ length: 600 }, () => makeCase(random))
    const expected = askNumpy(cases)
    let results = 0
    cases.forEach((one, i) => {
      const what = describeCase(one)
      const wanted = expected[i]
      if (wanted === null) {
        assert.throws(() => run(one), { code: 'ERR_SHAPE' }, what)
        return
      }
      results++
      const got = run(one)
      assert.deepEqual([...got.shape], wanted.shape, what)
      const values = got.reshape([got.size]).toArray()
      wanted.values.forEach((text, k) =>
        assertClose(
          values[k],
          text,
          got.dtype,
          one.name === 'prod' ? 0 : 4 * one.t.size,
          `${what} at ${k}`,
        ),
      )
    })
    assert.ok(results > 550, `only ${results}`)
  })
})

describe('cumulative functions beside NumPy', () => {
  it('with includeInitial leave nothing but their result', () => {
    const x = tensor([
      [1, 2],
      [3, 4],
    ])
    const out = zeros([2, 3])
    const { tensors } = memory()
    for (let i = 0; i < 10; i++) math.cumulativeSum(x, { axis: 1, includeInitial: true }).dispose()
    math.cumulativeProd(x, { axis: 1, includeInitial: true, out })
    assert.ok(memory().tensors <= tensors)
    assert.deepEqual(out.toArray(), [
      [1, 1, 2],
      [1, 3, 12],
    ])
  })

  needs('NumPy')

  it('agree on 300 random tensors, axes, dtypes and layouts', () => {
    const random = generator(28)
    const cases = Array.from({ length: 300 }, () => {
      const name = random.pick(['cumulativeSum', 'cumulativeProd', 'diff'])
      const dtype = random.pick([
        ...FLOATS.slice(0, 2),
        ...INTEGERS,
        ...(name === 'diff' ? [] : ['bool', 'float16', 'complex64']),
      ])
      const t = random.next(2)
        ? arranged(random, dtype, [1, 2, 3, 5, 8], 4)
        : arranged(random, dtype, [1, 3, 17, 70, 130], 2)
      return {
        t: t.ndim === 0 ? t.reshape([1]) : t,
        name,
        dtype,
        axis: random.next(Math.max(t.ndim, 1)),
        n: 1 + random.next(2),
      }
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, axis, n, ...rest } = cases[i]
      const what = JSON.stringify({ name, axis, n, shape: t.shape, strides: t.strides, ...rest })
      const got = math[name](t, { axis, ...(name === 'diff' ? { n } : {}) })
      assert.deepEqual([...got.shape], wanted.shape, what)
      const values = got.reshape([got.size]).toArray()
      wanted.values.forEach((text, k) =>
        assertClose(
          typeof values[k] === 'number' && !(got.dtype in EPSILON) ? BigInt(values[k]) : values[k],
          text,
          got.dtype,
          8 * t.size,
          `${what} at ${k}`,
        ),
      )
    })
  })

  it('difference as often as there are elements, whatever n is, into an out of the right shape only', () => {
    assert.deepEqual([...math.diff(tensor([1, 4, 9]), { n: 2 ** 40 }).shape], [0])
    assert.deepEqual([...math.diff(zeros([2, 0]), { n: 2 ** 40 }).shape], [2, 0])
    assert.deepEqual(
      math
        .cumulativeProd(
          tensor(
            [
              [Infinity, 2],
              [1, 0],
            ],
            [2],
            'complex128',
          ),
        )
        .toArray()[0],
      [Infinity, 2],
    )
    assert.deepEqual(
      math
        .cumulativeProd(
          tensor(
            [
              [1, 1],
              [0, 1],
              [2, 0],
            ],
            [3],
            'complex64',
          ),
        )
        .toArray(),
      [
        [1, 1],
        [-1, 1],
        [-2, 2],
      ],
    )
    assert.deepEqual(math.diff(tensor([1, 4, 9]), { n: 2 }).toArray(), [2])
    fails(
      () => math.diff(tensor([1, 2]), { n: 0, out: zeros([3, 2]) }),
      RangeError,
      'ERR_SHAPE',
      /out has shape/,
    )
    assert.deepEqual(math.diff(tensor([1, 2]), { n: 0, out: zeros([2]) }).toArray(), [1, 2])
  })

  it('difference what begins or ends with a scalar, which has to fit', async () => {
    const x = tensor(
      [
        [1, 4],
        [9, 16],
      ],
      'int8',
    )
    assert.deepEqual(math.diff(x, { prepend: -1, append: 5n }).toArray(), [
      [2, 3, 1],
      [10, 7, -11],
    ])
    assert.deepEqual(
      math.diff(x, { axis: 0, append: zeros([1, 2], 'int8'), prepend: true }).toArray(),
      [
        [0, 3],
        [8, 12],
        [-9, -16],
      ],
    )
    assert.deepEqual(math.diff(tensor([[1, 2]], [1], 'complex64'), { prepend: [1, 0] }).toArray(), [
      [0, 2],
    ])
    assert.deepEqual(math.diff(zeros([0]), { prepend: 1, append: 3, n: 1 }).toArray(), [2])
    fails(
      () => math.diff(x, { prepend: 128 }),
      TypeError,
      'ERR_CAST',
      /^prepend is 128, which does not fit int8; x\.astype\('int32'\)/,
    )
    fails(
      () => math.diff(x, { append: [0, 1] }),
      TypeError,
      'ERR_CAST',
      /^append is \[0, 1\], a complex number/,
    )
    fails(
      () => math.diff(x, { append: [[0], [1]] }),
      TypeError,
      'ERR_ARGUMENT',
      /^append is an array; a tensor, a number or/,
    )
    assert.deepEqual((await math.diffAsync(x, { prepend: -1, append: 5n })).toArray(), [
      [2, 3, 1],
      [10, 7, -11],
    ])
  })

  it('have axes, initial values and dtypes as the standard says', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(math.cumulativeSum(t, { axis: 0, includeInitial: true }).toArray(), [
      [0, 0, 0],
      [1, 2, 3],
      [5, 7, 9],
    ])
    assert.deepEqual(
      math.cumulativeProd(tensor([2, 3], 'uint8'), { includeInitial: true }).toArray(),
      [1n, 2n, 6n],
    )
    const one = zeros([1, 3])
    fails(
      () =>
        math.cumulativeSum(tensor([[1, 2, 3]]), {
          axis: 0,
          includeInitial: true,
          out: one.expand([2, 3]),
        }),
      Error,
      'ERR_OVERLAP',
    )
    assert.deepEqual(one.toArray(), [[0, 0, 0]])
    assert.equal(math.cumulativeSum(tensor([1, 2], 'uint8'), { dtype: 'float32' }).dtype, 'float32')
    assert.deepEqual(
      math
        .cumulativeSum(
          tensor(
            [
              [1, 2],
              [3, 4],
            ],
            'complex64',
          ),
        )
        .toArray(),
      [
        [1, 2],
        [4, 6],
      ],
    )
    fails(() => math.cumulativeSum(t), TypeError, 'ERR_ARGUMENT', /no axis/)
    fails(() => math.cumulativeSum(t, { axis: 2 }), RangeError, 'ERR_BOUNDS', /axis 2/)
    assert.deepEqual(math.cumulativeSum(t, { axis: 1, out: t }).toArray(), [
      [1, 3, 6],
      [4, 9, 15],
    ])
    assert.deepEqual(math.diff(tensor([1, 4, 9]), { prepend: tensor([0]), n: 2 }).toArray(), [2, 2])
    assert.deepEqual(math.diff(tensor([1, 4]), { n: 3 }).toArray(), [])
    fails(() => math.diff(t, { n: -1 }), RangeError, 'ERR_BOUNDS', /n is -1/)
  })
})

describe('the same bits', () => {
  const n = [3, 19, 1100]
  /** The same elements in several layouts. */
  const layouts = (t) => [
    t,
    t.permute([2, 0, 1]).contiguous().permute([1, 2, 0]),
    t.permute([1, 0, 2]).contiguous().permute([1, 0, 2]),
    t.permute([2, 1, 0]).contiguous().permute([2, 1, 0]),
    t.slice('::-1', '::-1', '::-1').contiguous().slice('::-1', '::-1', '::-1'),
  ]

  for (const dtype of ['float32', 'float64', 'float16', 'complex64']) {
    it(`of ${dtype}, whatever the layout`, () => {
      const random = generator(5)
      const isComplex = dtype === 'complex64'
      const real = () => ((random.next(2000) - 1000) / 7) * 2 ** (random.next(12) - 6)
      const size = n[0] * n[1] * n[2]
      const t = tensor(
        Array.from({ length: size }, () => (isComplex ? [real(), real()] : real())),
        { dtype },
      ).reshape(n)
      for (const name of isComplex
        ? ['sum', 'mean']
        : ['sum', 'mean', 'var', 'std', 'max', 'min', 'argmax', 'argmin', 'countNonzero', 'any']) {
        for (const axis of name.startsWith('arg')
          ? [null, 0, 1, 2]
          : [null, 0, 1, 2, [0, 2], [1, 2], [0, 1]]) {
          const [first, ...others] = layouts(t).map((each) => hex(math[name](each, { axis })))
          for (const other of others) assert.equal(other, first, `${name} ${axis}`)
        }
      }
    })
  }

  it('of a row as of the column of its transpose, at every length to 1100', () => {
    const random = generator(6)
    const all = tensor(
      new Float32Array(1100 * 16).map(() => (random.next(2000) - 1000) / 7),
      [16, 1100],
    )
    const wide = all.permute([1, 0]).contiguous()
    for (let length = 1; length <= 1100; length += length < 70 ? 1 : 101) {
      for (const name of ['sum', 'prod', 'var', 'max', 'argmin']) {
        const rows = math[name](all.narrow(1, 0, length), { axis: 1 })
        assert.equal(
          hex(rows),
          hex(math[name](wide.narrow(0, 0, length), { axis: 0 })),
          `${name} of ${length}`,
        )
        assert.equal(
          hex(math[name](all.narrow(0, 3, 1).narrow(1, 0, length))),
          hex(rows.narrow(0, 3, 1)),
          `${name} of ${length}`,
        )
      }
    }
  })

  it('with any number of threads and any instruction set', async function () {
    if (backend() !== 'native') skip(this, 'there are levels natively')
    const program = `
      const { tensor } = require('samebytes')
      const math = require('samebytes/math')
      const { hex } = require('./test/setup')
      const values = new Float32Array(3 * 200 * 1111)
      for (let i = 0, x = 1; i < values.length; i++) values[i] = (x = Math.imul(x, 1664525) + 1013904223 | 0) / 2 ** (20 + x % 9)
      const made = []
      for (const dtype of ['float32', 'float64', 'int16', 'uint8']) {
        const t = tensor(values, [3, 200, 1111]).astype(dtype, { casting: 'unsafe' })
        for (const name of ['sum', 'mean', 'std', 'max', 'argmin', 'countNonzero', 'prod']) for (const axis of [null, 0, 1, 2]) made.push(hex(math[name](t, { axis })))
      }
      console.log(JSON.stringify(require('crypto').createHash('sha256').update(made.join()).digest('hex')))`
    const runs = []
    for (const [SAMEBYTES_ISA, SAMEBYTES_THREADS] of [
      ['scalar', '3'],
      ['avx2', '1'],
      ['avx512', '3'],
    ]) {
      runs.push(
        await childJson(program, {
          env: { SAMEBYTES_ISA, SAMEBYTES_THREADS, NODE_NO_WARNINGS: '1' },
        }),
      )
    }
    assert.deepEqual(
      runs,
      runs.map(() => runs[0]),
    )
  })
})

describe('special cases of reductions', () => {
  const nan = [NaN]
  it('a zero is none, whatever its sign or its parts’ signs', () => {
    const counts = (values, dtype) => {
      const t = tensor([...values, ...values], [2, values.length], dtype)
      const columns = t.permute(1, 0).contiguous()
      return [
        math.countNonzero(t).item(),
        math.any(columns, { axis: 0 }).toArray(),
        math.all(columns, { axis: 1 }).toArray(),
      ]
    }
    for (const dtype of ['float16', 'float32', 'float64']) {
      assert.deepEqual(counts([-0, 0], dtype), [0, [false, false], [false, false]], dtype)
      assert.deepEqual(
        counts([-0, 2 ** -14, NaN], dtype),
        [4, [true, true], [false, true, true]],
        dtype,
      )
    }
    for (const dtype of ['complex64', 'complex128']) {
      assert.deepEqual(
        counts(
          [
            [-0, -0],
            [0, -0],
          ],
          dtype,
        ),
        [0, [false, false], [false, false]],
        dtype,
      )
      assert.deepEqual(
        counts(
          [
            [-0, 1],
            [NaN, -0],
            [-0, -0],
          ],
          dtype,
        ),
        [4, [true, true], [true, true, false]],
        dtype,
      )
    }
    for (const dtype of ['int16', 'int32', 'uint32', 'int64', 'uint64']) {
      assert.deepEqual(counts([0, 1], dtype), [2, [true, true], [false, true]], dtype)
    }
    assert.deepEqual(counts([-(2 ** 31), 0], 'int32'), [2, [true, true], [true, false]])
    assert.deepEqual(counts([-(2n ** 63n), 0n], 'int64'), [2, [true, true], [true, false]])
  })

  it('the first of the greatest, in rows longer than a block and in columns', () => {
    const n = 3000
    const found = (dtype, values, name) => {
      const line = zeros([n], dtype)
      for (const [i, value] of values) line.set(value, i)
      const both = stack([line, line])
      const columns = both.permute(1, 0).contiguous()
      assert.deepEqual(
        math[name](both, { axis: 1 }).toArray(),
        math[name](columns, { axis: 0 }).toArray(),
      )
      return math[name](line).item()
    }
    for (const dtype of ['float16', 'float32', 'float64']) {
      assert.equal(found(dtype, [[0, -0]], 'argmax'), 0)
      assert.equal(
        found(
          dtype,
          [
            [0, 0],
            [1, -0],
          ],
          'argmin',
        ),
        0,
      )
      assert.equal(
        found(
          dtype,
          [
            [1500, 3],
            [2999, 3],
          ],
          'argmax',
        ),
        1500,
      )
      assert.equal(
        found(
          dtype,
          [
            [1023, -3],
            [1024, -3],
          ],
          'argmin',
        ),
        1023,
      )
      assert.equal(
        found(
          dtype,
          [
            [7, Infinity],
            [2100, NaN],
            [2200, NaN],
          ],
          'argmax',
        ),
        2100,
      )
      assert.equal(
        found(
          dtype,
          [
            [7, -Infinity],
            [2047, NaN],
          ],
          'argmin',
        ),
        2047,
      )
    }
    for (const dtype of ['uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32']) {
      const { max, min } = iinfo(dtype)
      assert.equal(
        found(
          dtype,
          [
            [5, Number(max) - 1],
            [2500, Number(max)],
            [2600, Number(max)],
          ],
          'argmax',
        ),
        2500,
        dtype,
      )
      if (min < 0) assert.equal(found(dtype, [[2998, Number(min)]], 'argmin'), 2998, dtype)
    }
    assert.equal(
      found(
        'uint64',
        [
          [5, 2n ** 63n - 1n],
          [2500, 2n ** 64n - 1n],
        ],
        'argmax',
      ),
      2500,
    )
    assert.equal(math.max(full([40], -2.5)).item(), -2.5)
    assert.ok(Object.is(math.min(tensor([3, -0, 0])).item(), -0))
    assert.ok(Object.is(math.max(tensor([-3, -0, -1])).item(), -0))
    assert.equal(math.max(tensor([2 ** 31, 2 ** 32 - 1, 5], 'uint32')).item(), 2 ** 32 - 1)
    assert.equal(math.min(tensor([2 ** 31, 2 ** 32 - 1], 'uint32')).item(), 2 ** 31)
  })

  it('of no elements', () => {
    const t = zeros([0, 3])
    assert.deepEqual(math.sum(t, { axis: 0 }).toArray(), [0, 0, 0])
    assert.deepEqual(math.prod(t, { axis: 0 }).toArray(), [1, 1, 1])
    assert.deepEqual(math.prod(t.astype('complex64'), { axis: 0, keepdims: true }).toArray(), [
      [
        [1, 0],
        [1, 0],
        [1, 0],
      ],
    ])
    assert.deepEqual(math.mean(t).toArray(), NaN)
    assert.deepEqual(math.std(t, { axis: 0 }).toArray(), [NaN, NaN, NaN])
    assert.equal(math.any(t).item(), false)
    assert.equal(math.all(t).item(), true)
    assert.equal(math.countNonzero(t).item(), 0)
    assert.equal(math.sum(zeros([0], 'uint8')).item(), 0n)
    for (const name of ['min', 'max', 'argmin', 'argmax']) {
      fails(() => math[name](t, { axis: 0 }), RangeError, 'ERR_SHAPE', /no elements/)
    }
    assert.deepEqual([...math.max(t, { axis: 1 }).shape], [0])
  })

  it('of NaN, zeros and infinities', () => {
    const t = tensor([1, NaN, 3, NaN])
    for (const name of ['sum', 'prod', 'mean', 'var', 'std', 'min', 'max']) {
      assert.deepEqual(math[name](t, { keepdims: true }).toArray(), nan, name)
    }
    assert.equal(math.argmax(t).item(), 1)
    assert.equal(math.argmin(t).item(), 1)
    assert.equal(math.any(tensor([NaN])).item(), true)
    assert.equal(
      hex(math.max(tensor(new Float32Array(new Uint32Array([0xffc00001, 0]).buffer)))),
      '0000c07f',
    )
    assert.equal(
      hex(math.sum(tensor(new Float32Array(new Uint32Array([0xffc00001, 0]).buffer)))),
      '0000c07f',
    )
    assert.ok(Object.is(math.max(tensor([-0, 0, -0])).item(), 0))
    assert.ok(Object.is(math.min(tensor([0, -0, 0])).item(), -0))
    assert.equal(math.argmax(tensor([-1, -0, 0])).item(), 1)
    assert.equal(math.argmin(tensor([1, 0, -0])).item(), 1)
    assert.equal(math.sum(tensor([Infinity, 1])).item(), Infinity)
    assert.ok(Number.isNaN(math.sum(tensor([Infinity, -Infinity])).item()))
    assert.equal(math.sum(tensor([3e38, 3e38, -3e38])).item(), Math.fround(3e38))
    assert.equal(math.var(tensor([5]), { correction: 1 }).item(), NaN)
  })

  it('give the dtypes that the documentation says', () => {
    const dtypeOf = (name, dtype, opts) => math[name](zeros([2], dtype), opts).dtype
    for (const dtype of ['bool', 'int8', 'int32', 'int64']) {
      assert.equal(dtypeOf('sum', dtype), 'int64')
    }
    for (const dtype of ['uint8', 'uint64']) assert.equal(dtypeOf('prod', dtype), 'uint64')
    assert.equal(dtypeOf('mean', 'int64'), 'float32')
    assert.equal(dtypeOf('mean', 'int64', { dtype: 'float64' }), 'float64')
    assert.equal(dtypeOf('sum', 'uint8', { dtype: 'float64' }), 'float64')
    assert.equal(dtypeOf('argmax', 'float32', { dtype: 'int64' }), 'int64')
    assert.equal(dtypeOf('countNonzero', 'float8_e5m2'), 'int32')
    fails(() => dtypeOf('sum', 'float8_e5m2'), TypeError, 'ERR_DTYPE', /astype/)
    fails(() => dtypeOf('max', 'complex64'), TypeError, 'ERR_DTYPE', /real numbers/)
    fails(
      () => dtypeOf('max', 'float32', { dtype: 'float64' }),
      TypeError,
      'ERR_ARGUMENT',
      /^there is no option "dtype" here; astype/,
    )
    fails(() => dtypeOf('sum', 'float32', { dtype: 'int32' }), TypeError, 'ERR_CAST')
    fails(
      () => dtypeOf('argmin', 'float32', { dtype: 'int16' }),
      TypeError,
      'ERR_DTYPE',
      /int32 or int64/,
    )
    fails(() => dtypeOf('mean', 'float32', { dtype: 'int32' }), TypeError, 'ERR_DTYPE', /floats/)
  })

  it('refuse what is no axis', () => {
    const t = zeros([2, 3])
    fails(() => math.sum(t, { axis: 2 }), RangeError, 'ERR_BOUNDS', /axis 2 is outside 2 axes/)
    fails(
      () => math.sum(t, { axis: [0, -2] }),
      RangeError,
      'ERR_BOUNDS',
      /axis\[1\] repeats axis 0/,
    )
    fails(() => math.sum(t, { axis: 'x' }), TypeError, 'ERR_ARGUMENT', /axis is "x"/)
    fails(() => math.sum(t, { keepdims: 1 }), TypeError, 'ERR_ARGUMENT', /keepdims/)
    fails(() => math.argmax(t, { axis: [0] }), TypeError, 'ERR_ARGUMENT', /an integer/)
    fails(
      () => math.sum([1, 2]),
      TypeError,
      'ERR_ARGUMENT',
      /^x is an array; a tensor was expected$/,
    )
    fails(
      () => math.sum(Float32Array.of(1, 2)),
      TypeError,
      'ERR_ARGUMENT',
      /^x is a Float32Array; a tensor was expected, as fromBlob\(x\) makes it$/,
    )
    fails(() => math.var(t, { correction: '1' }), TypeError, 'ERR_ARGUMENT', /correction/)
    assert.deepEqual([...math.sum(t, { axis: [] }).shape], [2, 3])
  })

  it('write into out, which may overlap the source', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const before = memory().copied
    assert.equal(
      math
        .sum(t, { axis: 0, out: t.select(0, 0) })
        .toArray()
        .join(),
      '4,6',
    )
    assert.deepEqual(t.toArray(), [
      [4, 6],
      [3, 4],
    ])
    assert.ok(before !== null)
    const out = zeros([2], 'float64')
    assert.equal(math.sum(t, { axis: 1, out }), out)
    assert.deepEqual(out.toArray(), [10, 7])
    const strided = zeros([4]).slice('::2')
    math.max(t, { axis: 1, out: strided })
    assert.deepEqual(strided.toArray(), [6, 4])
    refusedUnchanged(out, () => math.sum(t, { axis: null, out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => math.sum(t.astype('complex64'), { axis: 0, out }), 'ERR_CAST')
    math.sum(
      tensor([
        [1, 2],
        [3, 4],
      ]).astype('complex64'),
      { axis: 0, out, casting: 'unsafe' },
    )
    assert.deepEqual(out.toArray(), [4, 6])
  })
})
