'use strict'
// softmax, logSoftmax and logSumExp beside NumPy; special values; out; the same bits everywhere.
const assert = require('node:assert/strict')
const { backend, fromBlob, memory, tensor, zeros } = require('samebytes')
const math = require('samebytes/math')
const { childJson, fails, generator, hex, needs, refusedUnchanged, skip } = require('../setup')
const {
  FLOATS,
  INTEGERS,
  EPSILON,
  arranged,
  axisOf,
  askNumpy,
  numberOf,
} = require('./numpy-reductions')
const { softmaxBits } = require('./softmax-bits')

const { softmax, logSoftmax, logSumExp } = math
const NAMES = ['softmax', 'logSoftmax', 'logSumExp']
const staged = () => memory().staged.count

/** Numbers that are neither few nor regular. */
function numbers(n, seed = 1) {
  const { next } = generator(seed)
  return new Float64Array(n).map(() => ((next(2000) - 1000) / 7) * 2 ** (next(8) - 7))
}

describe('softmax beside NumPy', () => {
  needs('NumPy')

  it('agrees on 400 random tensors, axes, dtypes and layouts', () => {
    const random = generator(31)
    const cases = Array.from({ length: 400 }, () => {
      const name = random.pick(NAMES)
      const dtype = random.pick([...FLOATS, ...FLOATS, ...INTEGERS, 'bool'])
      const t = random.next(3)
        ? arranged(random, dtype, [1, 2, 3, 5, 8], 4)
        : arranged(random, dtype, [1, 3, 17, 33, 70], 2)
      const isSum = name === 'logSumExp'
      const one = t.ndim === 0 && !isSum ? t.reshape([1]) : t
      return {
        t: one,
        name,
        dtype,
        axis: isSum
          ? axisOf(random, one.ndim, false)
          : random.next(one.ndim) - random.pick([0, one.ndim]),
        keepdims: random.next(2) === 1,
      }
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, dtype, axis, keepdims } = cases[i]
      const what = JSON.stringify({
        name,
        dtype,
        axis,
        keepdims,
        shape: t.shape,
        strides: t.strides,
      })
      const got = math[name](t, name === 'logSumExp' ? { axis, keepdims } : { axis })
      assert.equal(got.dtype, dtype in EPSILON ? dtype : 'float32', what)
      assert.deepEqual([...got.shape], wanted.shape, what)
      const values = got.reshape([got.size]).toArray()
      wanted.values.forEach((text, k) => {
        const most =
          EPSILON[got.dtype] *
            (got.dtype === 'float32' ? 4 : 1.01) *
            Math.max(Math.abs(numberOf(text)), name === 'softmax' ? 0 : 2) +
          (dtype === 'float16' ? 2 ** -24 : 2 ** -149)
        assert.ok(
          Math.abs(values[k] - numberOf(text)) <= most,
          `${what} at ${k}: ${values[k]}, not ${text}`,
        )
      })
    })
  })
})

describe('softmax', () => {
  it('errs by less than 2 units in the last place of float32, beside the rounding of differences to the greatest', () => {
    const x = Float32Array.from(numbers(4000), (v) => v % 40)
    const most = Math.max(...x)
    const terms = Array.from(x, (v) => Math.exp(v - most))
    const sum = terms.reduce((a, b) => a + b)
    softmax(tensor(x))
      .toArray()
      .forEach((got, i) => {
        const unit = 2 ** Math.max(Math.floor(Math.log2(terms[i] / sum)) - 23, -149)
        assert.ok(
          Math.abs(got - terms[i] / sum) <= 2 * unit + (terms[i] / sum) * (most - x[i]) * 2 ** -24,
          `of ${x[i]}: ${got}, not ${terms[i] / sum}`,
        )
      })
  })

  it('rounds float16 and bfloat16 once, from float32', () => {
    for (const dtype of ['float16', 'bfloat16']) {
      const t = tensor(numbers(300), { casting: 'unsafe' }).astype(dtype).reshape([3, 100])
      for (const f of [softmax, logSoftmax]) {
        assert.equal(hex(f(t)), hex(f(t.astype('float32')).astype(dtype)))
      }
      assert.equal(
        hex(logSumExp(t, { axis: 1 })),
        hex(logSumExp(t.astype('float32'), { axis: 1 }).astype(dtype)),
      )
    }
  })

  it('does not overflow, and keeps probabilities below the least normal number', () => {
    assert.deepEqual(softmax(tensor([3e38, -3e38])).toArray(), [1, 0])
    assert.deepEqual(logSoftmax(tensor([1000, 0])).toArray(), [0, -1000])
    assert.equal(logSumExp(tensor([1e300, 1], 'float64')).item(), 1e300)
    const [, small] = softmax(tensor([0, -100])).toArray()
    assert.ok(Math.abs(small / Math.exp(-100) - 1) < 0.02, String(small))
    assert.equal(softmax(tensor([0, -104])).get(1), 0)
  })

  it('of NaN, infinities and nothing', () => {
    const nan = [NaN, NaN]
    for (const dtype of ['float32', 'float64', 'float16']) {
      for (const values of [
        [NaN, 1],
        [Infinity, 1],
        [Infinity, Infinity],
        [Infinity, -Infinity],
        [-Infinity, -Infinity],
      ]) {
        const t = tensor(values, dtype)
        assert.ok(softmax(t).toArray().some(Number.isNaN), `softmax of ${values}`)
        assert.ok(logSoftmax(t).toArray().some(Number.isNaN), `logSoftmax of ${values}`)
        const sum = values.some(Number.isNaN) ? NaN : Math.max(...values)
        assert.ok(
          Object.is(logSumExp(t).item(), sum),
          `logSumExp of ${values}: ${logSumExp(t).item()}`,
        )
      }
      assert.deepEqual(softmax(tensor([-Infinity, 0], dtype)).toArray(), [0, 1])
      assert.deepEqual(logSoftmax(tensor([-Infinity, 0], dtype)).toArray(), [-Infinity, 0])
      assert.deepEqual(
        softmax(
          tensor(
            [
              [-Infinity, -Infinity],
              [0, 0],
            ],
            dtype,
          ),
        ).toArray(),
        [nan, [0.5, 0.5]],
      )
      assert.deepEqual(softmax(tensor([Infinity, 1], dtype)).toArray(), nan)
      assert.deepEqual(softmax(tensor([NaN, 1], dtype)).toArray(), nan)
    }
    assert.equal(
      hex(softmax(tensor(new Float32Array(new Uint32Array([0xffc00001]).buffer)))),
      '0000c07f',
    )
    assert.deepEqual([...softmax(zeros([0, 3])).shape], [0, 3])
    assert.deepEqual([...logSoftmax(zeros([3, 0])).shape], [3, 0])
    assert.equal(logSumExp(zeros([0])).item(), -Infinity)
    assert.deepEqual(logSumExp(zeros([2, 0, 3]), { axis: 1, keepdims: true }).toArray(), [
      [[-Infinity, -Infinity, -Infinity]],
      [[-Infinity, -Infinity, -Infinity]],
    ])
    assert.deepEqual([...logSumExp(zeros([2, 0, 3]), { axis: 0 }).shape], [0, 3])
    assert.equal(logSumExp(tensor(5)).item(), 5)
    assert.deepEqual(logSumExp(tensor([1, 2]), { axis: [] }).toArray(), [1, 2])
  })

  it('gives the dtypes that the documentation says, and refuses others', () => {
    for (const f of [softmax, logSoftmax, logSumExp]) {
      assert.equal(f(zeros([2], 'uint8')).dtype, 'float32')
      assert.equal(f(zeros([2], 'bool')).dtype, 'float32')
      assert.equal(f(zeros([2], 'int64'), 'float64').dtype, 'float64')
      assert.equal(f(zeros([2]), { dtype: 'float16' }).dtype, 'float16')
      assert.equal(f(zeros([2], 'float64'), { dtype: 'float32' }).dtype, 'float32')
      fails(() => f(zeros([2], 'float8_e5m2')), TypeError, 'ERR_DTYPE', /astype/)
      fails(() => f(zeros([2], 'complex64')), TypeError, 'ERR_DTYPE', /real numbers/)
      fails(() => f(zeros([2]), 'complex64'), TypeError, 'ERR_DTYPE', /real floats/)
      fails(() => f(zeros([2]), 'int32'), TypeError, 'ERR_DTYPE', /real floats/)
      fails(() => f(zeros([2]), { axis: 1 }), RangeError, 'ERR_BOUNDS', /axis 1 is outside 1 axes/)
      fails(() => f([1, 2]), TypeError, 'ERR_ARGUMENT', /x is/)
    }
    assert.equal(
      hex(softmax(tensor([0.1, 0.7]), 'float64')),
      hex(softmax(tensor([0.1, 0.7]).astype('float64'))),
    )
    fails(() => softmax(tensor(1)), RangeError, 'ERR_BOUNDS', /axis -1/)
    fails(() => softmax(zeros([2]), { axis: null }), TypeError, 'ERR_ARGUMENT', /axis/)
    fails(() => logSumExp(zeros([2, 2]), { axis: [1, -1] }), RangeError, 'ERR_BOUNDS', /repeats/)
    fails(() => logSumExp(zeros([2]), { keepdims: 1 }), TypeError, 'ERR_ARGUMENT', /keepdims/)
  })
})

describe('softmax into out', () => {
  it('may be the source, which nothing is staged for', () => {
    for (const dtype of FLOATS) {
      for (const axis of [0, 1]) {
        for (const f of [softmax, logSoftmax]) {
          const t = tensor(numbers(40 * 1100), { casting: 'unsafe' })
            .astype(dtype, { casting: 'unsafe' })
            .reshape([40, 1100])
            .slice(':', '::2')
          const wanted = hex(f(t, { axis }))
          const before = staged()
          assert.equal(f(t, { axis, out: t }), t)
          assert.equal(hex(t), wanted, `${dtype} along ${axis}`)
          assert.equal(staged(), before)
        }
      }
    }
  })

  it('may overlap the source, which is staged then and counted', () => {
    const t = tensor([1, 2, 3, 4])
    const wanted = softmax(t.slice(':3')).toArray()
    const before = staged()
    softmax(t.slice(':3'), { out: t.slice('1:') })
    assert.deepEqual(t.toArray(), [1, ...wanted])
    assert.equal(staged(), before + 1)
    const m = tensor([
      [1, 2],
      [3, 5],
    ])
    const turned = softmax(m.T).toArray()
    assert.deepEqual(softmax(m.T, { out: m }).toArray(), turned)
    const bits = tensor([1, 2, 3])
    softmax(bits.view([3], { dtype: 'int32' }), { out: bits })
    assert.ok(bits.toArray().every((v) => v >= 0 && v <= 1))
    const sums = tensor([
      [1, 2],
      [3, 5],
    ])
    const both = logSumExp(sums, { axis: 0 }).toArray()
    logSumExp(sums, { axis: 0, out: sums.select(0, 0) })
    assert.deepEqual(sums.select(0, 0).toArray(), both)
    assert.ok(staged() >= before + 4)
  })

  it('writes what it is told to, in any layout and dtype', () => {
    const whole = zeros([2, 6], 'float64').fill(7)
    softmax(
      tensor([
        [0, 0, 0],
        [0, 1000, 0],
      ]),
      { out: whole.slice(':', '::2') },
    )
    assert.deepEqual(whole.toArray(), [
      [1 / 3, 7, 1 / 3, 7, 1 / 3, 7].map(Math.fround),
      [0, 7, 1, 7, 0, 7],
    ])
    const out = zeros([1, 2])
    assert.equal(
      logSumExp(
        tensor([
          [0, 0],
          [-Infinity, 5],
        ]),
        { axis: 0, keepdims: true, out },
      ),
      out,
    )
    assert.deepEqual(out.toArray(), [[0, Math.fround(Math.log(1 + Math.exp(5)))]])
    const whole32 = zeros([2], 'int32')
    fails(() => softmax(tensor([0, 1000]), { out: whole32 }), TypeError, 'ERR_CAST')
    assert.deepEqual(
      softmax(tensor([0, 1000]), { out: whole32, casting: 'unsafe' }).toArray(),
      [0, 1],
    )
  })

  it('stays untouched when the call is refused', () => {
    const x = tensor([1, 2])
    const out = zeros([2]).fill(7)
    for (const f of [softmax, logSoftmax]) {
      refusedUnchanged(out, () => f(zeros([3]), { out }), 'ERR_SHAPE')
      refusedUnchanged(out, () => f(x, { out, axis: 4 }), 'ERR_BOUNDS')
      refusedUnchanged(out, () => f(x.astype('float64'), { out, casting: 'safe' }), 'ERR_CAST')
      refusedUnchanged(out, () => f(x.astype('complex64'), { out }), 'ERR_DTYPE')
    }
    refusedUnchanged(out, () => logSumExp(x, { out }), 'ERR_SHAPE')
    const sealed = fromBlob(Float32Array.of(5, 6), [2], { readOnly: true })
    refusedUnchanged(sealed, () => softmax(x, { out: sealed }), 'ERR_READ_ONLY')
    fails(() => softmax(x, { out: zeros([1]).expand([2]) }), Error, 'ERR_OVERLAP')
    const gone = zeros([2])
    gone.dispose()
    fails(() => softmax(x, { out: gone }), Error, 'ERR_DISPOSED')
    fails(() => softmax(gone), Error, 'ERR_DISPOSED')
    const bytes = new Float32Array(2)
    const detached = fromBlob(bytes)
    structuredClone(bytes, { transfer: [bytes.buffer] })
    fails(() => softmax(x, { out: detached }), Error, 'ERR_DETACHED')
    fails(() => logSumExp(detached), Error, 'ERR_DETACHED')
  })

  it('reads options before it looks at tensors', () => {
    for (const f of [softmax, logSoftmax, logSumExp, math.sum, math.argmax, math.cumulativeSum]) {
      const x = zeros([4])
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

describe('the same bits of softmax', () => {
  const shape = [3, 19, 1100]
  const layouts = (t) => [
    t,
    t.permute([2, 0, 1]).contiguous().permute([1, 2, 0]),
    t.permute([1, 0, 2]).contiguous().permute([1, 0, 2]),
    t.permute([2, 1, 0]).contiguous().permute([2, 1, 0]),
    t.slice('::-1', '::-1', '::-1').contiguous().slice('::-1', '::-1', '::-1'),
  ]

  for (const dtype of ['float32', 'float64', 'float16']) {
    it(`of ${dtype}, whatever the layout`, () => {
      const t = tensor(numbers(3 * 19 * 1100), { casting: 'unsafe' })
        .astype(dtype, { casting: 'unsafe' })
        .reshape(shape)
      for (const name of NAMES) {
        for (const axis of name === 'logSumExp' ? [0, 1, 2, [0, 2], [1, 2], null] : [0, 1, 2]) {
          const [first, ...others] = layouts(t).map((each) => hex(math[name](each, { axis })))
          for (const other of others) assert.equal(other, first, `${name} ${axis}`)
          const out = zeros([1100, 19, 3], dtype).permute([2, 1, 0])
          if (name !== 'logSumExp') {
            assert.equal(
              hex(math[name](t, { axis, out })),
              first,
              `${name} ${axis} into a transposed one`,
            )
          }
        }
      }
    })
  }

  it('sums are those of sum', () => {
    const t = tensor(Float32Array.from(numbers(5000))).reshape([5, 1000])
    const log = logSumExp(t, { axis: 1 })
    for (let i = 0; i < 5; i++) {
      assert.equal(hex(logSumExp(t.select(0, i))), hex(log.narrow(0, i, 1)))
    }
  })

  const HASH = '04c1f3a13e339eaf81ed64f8b72e22ac3b389f5e7296e20ea54aef574a81b294'

  it('on every back end', () => {
    assert.equal(softmaxBits(), HASH)
  })

  it('with any number of threads and any instruction set', async function () {
    if (backend() !== 'native') skip(this, 'there are levels natively')
    const program = "console.log(JSON.stringify(require('./test/math/softmax-bits').softmaxBits()))"
    const [first, ...more] =
      process.env.SAMEBYTES_SANITIZED === '1'
        ? [['avx2', '1']]
        : [
            ['scalar', '3'],
            ['avx2', '1'],
            ['avx512', '3'],
          ] // a sanitized child takes half a minute
    const levels = process.env.SAMEBYTES_FULL === '1' ? [first, ...more] : [first] // math/hashes has each level as well
    for (const [SAMEBYTES_ISA, SAMEBYTES_THREADS] of levels) {
      assert.equal(
        await childJson(program, {
          env: { SAMEBYTES_ISA, SAMEBYTES_THREADS, NODE_NO_WARNINGS: '1' },
        }),
        HASH,
      )
    }
  })
})
