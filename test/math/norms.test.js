'use strict'
// vectorNorm and normalize beside NumPy; special values; out.
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { vectorNorm, normalize, ...math } = require('samebytes/math')
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

const PARTS = { complex64: 'float32', complex128: 'float64' }
const COMPLEX = Object.keys(PARTS)

describe('norms beside NumPy', () => {
  needs('NumPy')

  function makeCase(random) {
    const name = random.pick(['vectorNorm', 'vectorNorm', 'normalize'])
    const dtype = random.pick([...FLOATS, ...FLOATS, ...INTEGERS, ...COMPLEX, 'bool'])
    const t = random.next(3)
      ? arranged(random, dtype, [1, 2, 3, 5, 8], 4)
      : arranged(random, dtype, [1, 3, 17, 33, 70], 2)
    return {
      t,
      name,
      dtype,
      axis: axisOf(random, t.ndim, false),
      keepdims: random.next(2) === 1,
      ord: random.pick([2, 2, 1, 0, 'inf', '-inf', 3, 0.5]),
    }
  }

  it('agree on 500 random tensors, axes, dtypes, orders and layouts', () => {
    const random = generator(32)
    const cases = Array.from({ length: 500 }, () => makeCase(random))
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, dtype, axis, keepdims, ord: word } = cases[i]
      const ord = typeof word === 'string' ? numberOf(word) : word
      const what = JSON.stringify({
        name,
        dtype,
        axis,
        keepdims,
        ord: word,
        shape: t.shape,
        strides: t.strides,
      })
      if (wanted === null) {
        return assert.throws(() => math[name](t, { axis, ord }), { code: 'ERR_SHAPE' }, what)
      }
      const got =
        name === 'vectorNorm' ? vectorNorm(t, { axis, keepdims, ord }) : normalize(t, { axis, ord })
      const own = dtype in EPSILON || dtype in PARTS ? dtype : 'float32'
      assert.equal(got.dtype, name === 'normalize' ? own : (PARTS[own] ?? own), what)
      assert.deepEqual([...got.shape], wanted.shape, what)
      const values = got.reshape([got.size]).toArray().flat()
      const unit = EPSILON[PARTS[own] ?? own]
      wanted.values.flat().forEach((text, k) => {
        const most =
          4 * unit * Math.abs(numberOf(text)) +
          (dtype in PARTS && name === 'normalize' ? 4 * unit : 0) +
          (dtype === 'float16' ? 2 ** -24 : 0)
        assert.ok(
          Math.abs(values[k] - numberOf(text)) <= most ||
            (dtype === 'float16' &&
              Math.abs(numberOf(text)) > 65500 &&
              values[k] === Math.sign(numberOf(text)) * Infinity),
          `${what} at ${k}: ${values[k]}, not ${text}`,
        )
      })
    })
  })
})

describe('vectorNorm', () => {
  it('has the orders of the standard', () => {
    const t = tensor([
      [3, -4],
      [0, 0],
    ])
    const norms = (ord) => vectorNorm(t, { axis: 1, ord }).toArray()
    assert.deepEqual(norms(2), [5, 0])
    assert.deepEqual(norms(1), [7, 0])
    assert.deepEqual(norms(0), [2, 0])
    assert.deepEqual(norms(Infinity), [4, 0])
    assert.deepEqual(norms(-Infinity), [3, 0])
    assert.deepEqual(norms(-1), [Math.fround(12 / 7), 0])
    assert.equal(vectorNorm(tensor([-128, 0], 'int8'), { ord: Infinity }).item(), 128)
    assert.equal(vectorNorm(tensor([300, 400], 'float16')).item(), 500)
    assert.equal(vectorNorm(tensor([[3, 4]], 'complex64')).item(), 5)
    assert.equal(
      vectorNorm(tensor([3e38, 4e38].map(Math.fround)), { dtype: 'float64' }).item() > 3.4e38,
      true,
    )
  })

  it('of NaN, infinities and nothing', () => {
    for (const ord of [1, 2, Infinity, -Infinity, 3]) {
      assert.ok(Number.isNaN(vectorNorm(tensor([1, NaN]), { ord }).item()), `of ${ord}`)
      assert.equal(vectorNorm(tensor([-Infinity, -Infinity]), { ord }).item(), Infinity)
    }
    assert.equal(vectorNorm(tensor([NaN, 0]), { ord: 0 }).item(), 1)
    for (const ord of [0, 1, 2, 3]) {
      assert.deepEqual(vectorNorm(zeros([2, 0]), { axis: 1, ord }).toArray(), [0, 0])
    }
    fails(() => vectorNorm(zeros([0]), { ord: Infinity }), RangeError, 'ERR_SHAPE', /no elements/)
    assert.equal(vectorNorm(tensor(-3)).item(), 3)
  })

  it('refuses what it is not for', () => {
    const t = zeros([2])
    fails(() => vectorNorm(zeros([2], 'float8_e5m2')), TypeError, 'ERR_DTYPE', /astype/)
    for (const ord of [1, 2, 0, Infinity, 3]) {
      fails(() => vectorNorm(t, { ord, dtype: 'int32' }), TypeError, 'ERR_DTYPE', /floats/)
      fails(() => vectorNorm(t, { ord, dtype: 'complex64' }), TypeError, 'ERR_DTYPE', /floats/)
      const out = zeros([3]).fill(7)
      refusedUnchanged(out, () => vectorNorm(t, { ord, out }), 'ERR_SHAPE')
      const whole = zeros([], 'int32').fill(7)
      refusedUnchanged(whole, () => vectorNorm(t, { ord, out: whole }), 'ERR_CAST')
    }
    for (const ord of ['fro', NaN, null, 2n]) {
      fails(() => vectorNorm(t, { ord }), TypeError, 'ERR_ARGUMENT', /ord is/)
    }
    fails(() => vectorNorm(t, { axis: 1 }), RangeError, 'ERR_BOUNDS')
    fails(() => vectorNorm([3, 4]), TypeError, 'ERR_ARGUMENT', /x is/)
  })

  it('writes into out, which may be part of x', () => {
    for (const ord of [1, 2, 0, Infinity, -Infinity, 3]) {
      const t = tensor([
        [3, -4],
        [6, 8],
      ])
      const wanted = vectorNorm(t, { axis: 1, ord }).toArray()
      const out = zeros([2, 1], 'float64')
      assert.equal(vectorNorm(t, { axis: 1, ord, keepdims: true, out }), out)
      assert.deepEqual(out.toArray().flat().map(Math.fround), wanted)
      vectorNorm(t, { axis: 1, ord, out: t.select(1, 0) })
      assert.deepEqual(t.select(1, 0).toArray(), wanted)
    }
  })
})

describe('normalize', () => {
  it('gives vectors of length 1, and divides by eps at least', () => {
    assert.deepEqual(
      normalize(
        tensor(
          [
            [3, 4],
            [0, 0],
          ],
          'float64',
        ),
      ).toArray(),
      [
        [0.6, 0.8],
        [0, 0],
      ],
    )
    assert.deepEqual(
      normalize(
        tensor(
          [
            [3, 4],
            [1, 0],
          ],
          'float64',
        ),
        { axis: 0, ord: 1 },
      ).toArray(),
      [
        [0.75, 1],
        [0.25, 0],
      ],
    )
    assert.deepEqual(normalize(tensor([3, 4], 'float64'), { eps: 10 }).toArray(), [0.3, 0.4])
    assert.deepEqual(
      normalize(
        tensor(
          [
            [2, 0],
            [0, 2],
          ],
          'float64',
        ),
        { axis: [0, 1], ord: Infinity },
      ).toArray(),
      [
        [1, 0],
        [0, 1],
      ],
    )
    assert.deepEqual(normalize(tensor([[3, 4]], 'complex64')).toArray(), [
      [3, 4].map((x) => Math.fround(x / 5)),
    ])
    assert.deepEqual(normalize(tensor([0, 2], 'int32')).toArray(), [0, 1])
    assert.deepEqual([...normalize(zeros([0, 3])).shape], [0, 3])
  })

  it('of float16 does not overflow in between', () => {
    const t = tensor([60000, 60000], 'float16')
    assert.deepEqual(
      normalize(t).toArray(),
      tensor([Math.SQRT1_2, Math.SQRT1_2]).astype('float16').toArray(),
    )
    assert.deepEqual(normalize(zeros([2], 'float16')).toArray(), [0, 0])
  })

  it('has the same bits for every layout', () => {
    const { next } = generator(4)
    const t = tensor(
      new Float32Array(30 * 1500).map(() => next(1000) / 7 - 60),
      [30, 1500],
    )
    for (const ord of [1, 2, 3]) {
      for (const axis of [0, 1]) {
        const wanted = hex(normalize(t, { axis, ord }))
        assert.equal(hex(normalize(t.T.contiguous().T, { axis, ord })), wanted)
        assert.equal(
          hex(normalize(t.slice('::-1', '::-1').contiguous().slice('::-1', '::-1'), { axis, ord })),
          wanted,
        )
      }
    }
  })

  it('writes into out, which may be x or overlap it', () => {
    const t = tensor([3, 4, 0, 0], 'float64')
    normalize(t.slice(':2'), { out: t.slice('1:3') })
    assert.deepEqual(t.toArray(), [3, 0.6, 0.8, 0])
    assert.equal(normalize(t, { ord: Infinity, out: t }), t)
    assert.deepEqual(t.toArray(), [1, 0.6 / 3, 0.8 / 3, 0])
    const sealed = fromBlob(Float32Array.of(5, 6), [2], { readOnly: true })
    refusedUnchanged(sealed, () => normalize(tensor([1, 2]), { out: sealed }), 'ERR_READ_ONLY')
    const out = zeros([2]).fill(7)
    refusedUnchanged(out, () => normalize(zeros([3]), { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => normalize(zeros([2]), { out, eps: '1' }), 'ERR_ARGUMENT')
    refusedUnchanged(
      out,
      () => normalize(tensor([1, 2], 'complex64'), { out }),
      'ERR_SHAPE',
      'ERR_CAST',
    )
    const x = zeros([2])
    fails(
      () =>
        normalize(x, {
          get eps() {
            x.dispose()
            return 1
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })
})
