'use strict'
// median and quantile beside NumPy; special values; lines that are hard to select from; out.
const assert = require('node:assert/strict')
const { fromBlob, memory, tensor, zeros } = require('samebytes')
const { median, quantile } = require('samebytes/math')
const { fails, generator, hex, needs, refusedUnchanged } = require('../setup')
const {
  FLOATS,
  INTEGERS,
  EPSILON,
  arranged,
  axisOf,
  askNumpy,
  numberOf,
} = require('./numpy-reductions')

const METHODS = ['linear', 'lower', 'higher', 'midpoint', 'nearest']

describe('quantiles beside NumPy', () => {
  needs('NumPy')

  it('agree on 500 random tensors, axes, dtypes, methods and layouts', () => {
    const random = generator(33)
    const cases = Array.from({ length: 500 }, () => {
      const name = random.pick(['median', 'quantile', 'quantile'])
      const dtype = random.pick([...FLOATS, ...FLOATS, ...INTEGERS])
      const t = random.next(3)
        ? arranged(random, dtype, [1, 2, 3, 5, 8], 4)
        : arranged(random, dtype, [1, 3, 17, 33, 70], 2)
      const q = random.pick([0, 1, 0.5, 0.3, [], [0.25, 0.9], [0.9, 0, 1, 0.25, 0.25, 0.625]])
      return {
        t,
        name,
        dtype,
        axis: axisOf(random, t.ndim, false),
        keepdims: random.next(2) === 1,
        q,
        method: random.pick(METHODS),
      }
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, dtype, axis, keepdims, q, method } = cases[i]
      const what = JSON.stringify({
        name,
        dtype,
        axis,
        keepdims,
        q,
        method,
        shape: t.shape,
        strides: t.strides,
      })
      const got =
        name === 'median'
          ? median(t, { axis, keepdims })
          : quantile(t, q, { axis, keepdims, method })
      assert.equal(got.dtype, dtype in EPSILON ? dtype : 'float32', what)
      assert.deepEqual([...got.shape], wanted.shape, what)
      const values = got.reshape([got.size]).toArray()
      wanted.values.forEach((text, k) => {
        const most =
          Math.abs(numberOf(text)) * EPSILON[got.dtype] * 1.01 +
          (dtype === 'float16' ? 2 ** -25 : 0)
        assert.ok(
          Math.abs(values[k] - numberOf(text)) <= most,
          `${what} at ${k}: ${values[k]}, not ${text}`,
        )
      })
    })
  })
})

describe('median and quantile', () => {
  it('take the middle, or the mean of the two in the middle', () => {
    assert.equal(median(tensor([5, 1, 3])).item(), 3)
    assert.equal(median(tensor([5, 1, 3, 2])).item(), 2.5)
    assert.equal(median(tensor([7])).item(), 7)
    assert.equal(median(tensor(7)).item(), 7)
    assert.deepEqual(
      median(
        tensor([
          [1, 2],
          [3, 4],
        ]),
        { axis: [] },
      ).toArray(),
      [
        [1, 2],
        [3, 4],
      ],
    )
    assert.equal(
      median(tensor([3e38, 3.2e38].map(Math.fround))).item(),
      Math.fround((Math.fround(3e38) + Math.fround(3.2e38)) / 2),
    )
    assert.equal(median(tensor([true, false, true])).item(), 1)
    assert.equal(median(tensor([9007199254740993n, 1n, 2n], 'int64')).item(), 2)
  })

  it('between two elements go by the method', () => {
    const t = tensor([10, 20, 30, 40, 50])
    assert.deepEqual(
      METHODS.map((method) => quantile(t, 0.35, { method }).item()),
      [24, 20, 30, 25, 20],
    )
    assert.deepEqual(
      METHODS.map((method) => quantile(t, 0.75, { method }).item()),
      [40, 40, 40, 40, 40],
    )
    assert.deepEqual(
      [0.125, 0.375, 0.625].map((q) => quantile(t, q, { method: 'nearest' }).item()),
      [10, 30, 30],
    )
  })

  it('of a list, or a tensor, have its axis first', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(quantile(t, [0, 1], { axis: 1 }).toArray(), [
      [1, 4],
      [3, 6],
    ])
    assert.deepEqual(quantile(t, tensor([0, 1]), { axis: 1, keepdims: true }).toArray(), [
      [[1], [4]],
      [[3], [6]],
    ])
    assert.deepEqual(quantile(t, tensor(0.5)).item(), 3.5)
    assert.deepEqual([...quantile(t, [], { axis: 0 }).shape], [0, 3])
    const many = Array.from({ length: 1001 }, (_, i) => ((i * 17) % 1001) / 1000)
    assert.deepEqual(
      quantile(tensor(new Float64Array(1001).map((_, i) => (i * 19) % 1001)), many)
        .toArray()
        .map(Math.round),
      many.map((q) => Math.round(q * 1000)),
    )
  })

  it('of NaN, infinities, zeros and nothing', () => {
    assert.deepEqual(
      median(
        tensor([
          [1, NaN, 3],
          [1, 2, 3],
        ]),
        { axis: 1 },
      ).toArray(),
      [NaN, 2],
    )
    assert.equal(
      hex(median(tensor(new Float32Array(new Uint32Array([0xffc00001]).buffer)))),
      '0000c07f',
    )
    assert.deepEqual(quantile(tensor([NaN, 1]), [0, 1]).toArray(), [NaN, NaN])
    assert.deepEqual(quantile(tensor([1, Infinity]), [0, 0.5, 1]).toArray(), [
      1,
      Infinity,
      Infinity,
    ])
    assert.deepEqual(quantile(tensor([-Infinity, -Infinity, 5]), [0, 0.25, 1]).toArray(), [
      -Infinity,
      -Infinity,
      5,
    ])
    assert.ok(Number.isNaN(median(tensor([-Infinity, Infinity])).item()))
    assert.equal(median(tensor([-0, 0])).item(), 0)
    assert.equal(median(zeros([0])).item(), NaN)
    assert.deepEqual(median(zeros([2, 0]), { axis: 1, keepdims: true }).toArray(), [[NaN], [NaN]])
    assert.deepEqual(quantile(zeros([0], 'int32'), [0.1, 0.9]).toArray(), [NaN, NaN])
    assert.deepEqual([...median(zeros([0, 3]), { axis: 1 }).shape], [0])
  })

  it('select from every kind of line', () => {
    const { next, shuffle } = generator(3)
    const kinds = {
      ascending: (n) => Array.from({ length: n }, (_, i) => i),
      descending: (n) => Array.from({ length: n }, (_, i) => n - i),
      equal: (n) => Array(n).fill(1),
      two: (n) => Array.from({ length: n }, () => next(2)),
      few: (n) => Array.from({ length: n }, () => next(7)),
      saw: (n) => Array.from({ length: n }, (_, i) => i % 97),
      pipe: (n) => Array.from({ length: n }, (_, i) => Math.min(i, n - i)),
      shuffled: (n) => shuffle(Array.from({ length: n }, (_, i) => i - n / 2)),
    }
    for (const [kind, make] of Object.entries(kinds)) {
      for (const n of [1, 2, 3, 10, 100, 1000, 5001]) {
        const values = make(n)
        const sorted = Float64Array.from(values).sort()
        const ranks = [0, n >> 2, n >> 1, n - 1]
        assert.deepEqual(
          quantile(
            tensor(values, 'float64'),
            ranks.map((k) => (n === 1 ? 0 : k / (n - 1))),
            { method: 'nearest' },
          ).toArray(),
          ranks.map((k) => sorted[k]),
          `${kind} of ${n}`,
        )
        assert.equal(
          median(tensor(values, 'float64')).item(),
          (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2,
          `${kind} of ${n}`,
        )
      }
    }
  })

  it('sort a line whose first, middle and last element are always the least ones', () => {
    for (const n of [1000, 1 << 16]) {
      const values = new Float64Array(n).map((_, i) => (n - i < 100 ? n - i : n + ((i * 7) % n)))
      values[0] = 0
      const sorted = values.slice().sort()
      assert.equal(median(tensor(values)).item(), (sorted[n / 2 - 1] + sorted[n / 2]) / 2)
      assert.deepEqual(quantile(tensor(values), [1, 0.9], { method: 'lower' }).toArray(), [
        sorted[n - 1],
        sorted[Math.floor(0.9 * (n - 1))],
      ])
    }
  })

  it('leave x as it is, and have the same results for every layout', () => {
    const { next } = generator(9)
    const t = tensor(
      new Float32Array(40 * 700).map(() => next(5000) / 7),
      [40, 700],
    )
    const before = hex(t)
    for (const axis of [0, 1, null]) {
      const wanted = hex(quantile(t, [0.1, 0.5], { axis }))
      assert.equal(hex(quantile(t.T.contiguous().T, [0.1, 0.5], { axis })), wanted)
      assert.equal(
        hex(
          quantile(t.slice('::-1', '::-1'), [0.1, 0.5], {
            axis: axis === null ? [1, 0] : axis,
          }).slice(':', ...(axis === null ? [] : ['::-1'])),
        ),
        wanted,
      )
    }
    assert.equal(hex(t), before)
  })

  it('write into out, which may be part of x', () => {
    const t = tensor([
      [3, 1, 2],
      [9, 7, 8],
    ])
    const out = zeros([2], 'float64')
    assert.equal(median(t, { axis: 1, out }), out)
    assert.deepEqual(out.toArray(), [2, 8])
    const staged = memory().staged.count
    median(t, { axis: 1, out: t.select(1, 0) })
    assert.deepEqual(t.select(1, 0).toArray(), [2, 8])
    assert.equal(memory().staged.count, staged)
    refusedUnchanged(out, () => median(t, { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => quantile(t, [0.1, 2], { axis: 1, out }), 'ERR_BOUNDS')
    const whole = zeros([], 'int32').fill(7)
    refusedUnchanged(whole, () => median(t, { out: whole }), 'ERR_CAST')
    const sealed = fromBlob(Float32Array.of(5, 6), [2], { readOnly: true })
    refusedUnchanged(sealed, () => median(t, { axis: 1, out: sealed }), 'ERR_READ_ONLY')
  })

  it('refuse what is no quantile', () => {
    const t = zeros([2])
    for (const q of [-0.1, 1.1, NaN]) {
      fails(() => quantile(t, q), RangeError, 'ERR_BOUNDS', /from 0 to 1/)
      fails(() => quantile(t, [0, q]), RangeError, 'ERR_BOUNDS', /q\[1\] is/)
      fails(() => quantile(t, tensor([0, q])), RangeError, 'ERR_BOUNDS', /q\[1\] is/)
    }
    for (const q of ['0.5', undefined, null, 1n, {}, zeros([1, 1])]) {
      fails(() => quantile(t, q), TypeError, 'ERR_ARGUMENT', /q is/)
    }
    fails(() => quantile(t, ['x']), TypeError, 'ERR_ARGUMENT', /q\[0\] is/)
    fails(() => quantile(t, 0.5, { method: 'weibull' }), TypeError, 'ERR_ARGUMENT', /method is/)
    fails(() => quantile([1], 0.5), TypeError, 'ERR_ARGUMENT', /x is/)
    for (const f of [median, (x, opts) => quantile(x, 0.5, opts)]) {
      fails(() => f(zeros([2], 'complex64')), TypeError, 'ERR_DTYPE', /real numbers/)
      fails(() => f(zeros([2], 'float8_e5m2')), TypeError, 'ERR_DTYPE', /astype/)
      fails(() => f(t, { axis: 1 }), RangeError, 'ERR_BOUNDS', /axis 1/)
      const x = zeros([2])
      fails(
        () =>
          f(x, {
            get axis() {
              x.dispose()
              return 0
            },
          }),
        Error,
        'ERR_DISPOSED',
      )
    }
  })
})
