'use strict'
// Scalars beside tensors, and what where and clip take.
const assert = require('node:assert/strict')
const { arrayEqual, dtypes, full, memory, promoteTypes, tensor, zeros } = require('samebytes')
const { fails, settledMemory } = require('../setup')
const { math, needsMath } = require('./load')

const { add, clip, divide, equal, greater, less, multiply, subtract, where } = math

describe('a scalar beside a tensor', () => {
  needsMath()

  for (const dtype of dtypes.filter((name) => name !== 'bool' && !/float8|complex/.test(name))) {
    it(`takes the dtype ${dtype}`, () => {
      const sum = add(tensor([1, 2], dtype), 1)
      assert.equal(sum.dtype, dtype)
      assert.deepEqual(sum.toArray(), tensor([2, 3], dtype).toArray())
      assert.deepEqual(
        subtract(5, tensor([1, 2], dtype)).toArray(),
        tensor([4, 3], dtype).toArray(),
      )
    })
  }

  it('gives what a tensor of it gives, of any size, in place as well', () => {
    for (const n of [
      1, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2049, 4096, 4097, 8191, 8192, 8193, 20000,
    ]) {
      for (const dtype of ['uint8', 'int16', 'float32', 'float64', 'complex128']) {
        const x = tensor(
          Array.from({ length: n }, (_, i) => (dtype === 'complex128' ? [i % 97, i % 5] : i % 97)),
          [n],
          { dtype },
        )
        const threes = full([n], 3, dtype)
        assert.ok(arrayEqual(add(x, 3), add(x, threes)), `${n} ${dtype}`)
        assert.ok(arrayEqual(subtract(3, x), subtract(threes, x)))
        const wanted = multiply(threes, x)
        const y = x.clone()
        assert.equal(multiply(y, 3, { out: y }), y)
        assert.ok(arrayEqual(y, wanted))
        if (dtype === 'complex128') continue
        const isLess = less(x, threes)
        assert.ok(arrayEqual(less(x, 3), isLess))
        assert.ok(arrayEqual(where(isLess, x, 3), where(isLess, x, threes)))
        assert.ok(arrayEqual(clip(x, 3, 50), clip(x, threes, full([n], 50, dtype))))
      }
    }
  })

  it('is rounded as its elements are: 2049 beside float16, 257 beside bfloat16, 1 / 3 beside float32', () => {
    for (const [dtype, value] of [
      ['float16', 2049],
      ['bfloat16', 257],
      ['float16', 1 / 3],
      ['bfloat16', 0.1],
      ['float32', 2 ** 24 + 1],
      ['float32', 1 / 3],
      ['float32', -0],
      ['float32', 1e-45],
    ]) {
      const x = tensor([3, -1, 0, 1000, 2048, 256], dtype)
      const same = full([6], value, dtype)
      assert.ok(arrayEqual(multiply(x, value), multiply(x, same)), `${value} ${dtype}`)
      assert.ok(arrayEqual(less(x, value), less(x, same)), `${value} ${dtype}`)
      assert.ok(arrayEqual(divide(1, clip(x, value, value)), divide(1, same)), `${value} ${dtype}`)
      assert.ok(
        arrayEqual(divide(1, where(less(x, 0), value, same)), divide(1, same)),
        `${value} ${dtype}`,
      )
    }
  })

  it('has to fit it; the message names a dtype that converts operands first', () => {
    const t = tensor([1, 2], 'uint8')
    fails(
      () => subtract(tensor([1n]), 17e17),
      TypeError,
      'ERR_CAST',
      /^x2 is 1700000000000000000, which does not fit int64: numbers do as safe integers, others as bigint$/,
    )
    fails(() => subtract(tensor([1n]), 1e30), TypeError, 'ERR_CAST', /fit int64/)
    fails(
      () => multiply(t, 0.5),
      TypeError,
      'ERR_CAST',
      /^x2 is 0\.5, which does not fit uint8; \{ dtype: 'float32' \} converts operands first$/,
    )
    assert.deepEqual(multiply(t, 0.5, { dtype: 'float32' }).toArray(), [0.5, 1])
    assert.deepEqual(multiply(t, 0.5, 'float32').toArray(), [0.5, 1])
    fails(() => add(-1, t), TypeError, 'ERR_CAST', /^x1 is -1, .*'int32'/)
    assert.deepEqual(add(-2, t, { dtype: 'int32' }).toArray(), [-1, 0])
    fails(() => add(t, 2 ** 40), TypeError, 'ERR_CAST', /'int64'/)
    fails(() => add(t, NaN), TypeError, 'ERR_CAST', /'float32'/)
    fails(() => add(tensor([1n]), 2 ** 60), TypeError, 'ERR_CAST', /int64/)
    fails(() => add(tensor([1n]), 2n ** 64n), TypeError, 'ERR_CAST', /int64/)
    fails(() => add(tensor([1.5]), [1, 2]), TypeError, 'ERR_CAST', /'complex64'/)
    fails(() => add(tensor([1.5]), 1e300), TypeError, 'ERR_CAST', /'float64'/)
  })

  it('of a function that gives floats is no integer where { dtype } asks for one', () => {
    for (const dtype of ['uint8', 'int16', 'int64']) {
      fails(
        () => divide(tensor([-4, 3], 'int8'), 2, { dtype }),
        TypeError,
        'ERR_DTYPE',
        /^divide gives floats, not u?int\d+; astype converts its result$/,
      )
      fails(
        () => math.exp(tensor([1], 'uint8'), dtype),
        TypeError,
        'ERR_DTYPE',
        /^exp gives floats/,
      )
    }
    assert.deepEqual(divide(tensor([-4, 3], 'int8'), 2, { dtype: 'float64' }).toArray(), [-2, 1.5])
  })

  it('may be a bigint, a boolean, or [re, im] beside complex numbers', () => {
    assert.deepEqual(add(tensor([1n]), 2n ** 62n).toArray(), [2n ** 62n + 1n])
    assert.deepEqual(add(tensor([1.5]), 2n).toArray(), [3.5])
    assert.deepEqual(add(tensor([1.5]), true).toArray(), [2.5])
    assert.deepEqual(multiply(tensor([[1, 2]], [1], 'complex64'), [0, 1]).toArray(), [[-2, 1]])
    assert.deepEqual(divide(tensor([1, 3], 'int32'), 0.5).toArray(), [2, 6])
  })

  it('says what would take it, and where a list was meant', () => {
    fails(
      () => less(tensor([1]), 1e300),
      TypeError,
      'ERR_CAST',
      /^x2 is 1e\+300, which does not fit float32; \{ dtype: 'float64' \}/,
    )
    fails(() => multiply(tensor([1], 'float16'), 1e6), TypeError, 'ERR_CAST', /'float32'/)
    fails(
      () => add(tensor([1, 2]), [3, 4]),
      TypeError,
      'ERR_CAST',
      /\[3, 4\], a complex number, .*tensor\(\[3, 4\]\) makes a tensor of a list$/,
    )
    fails(() => math.indexPut(tensor([1, 2]), [0]), TypeError, 'ERR_ARGUMENT', /the last argument/)
    for (const name of ['median', 'normalize']) {
      fails(
        () => math[name](tensor([1, 2]), { dtype: 'float64' }),
        TypeError,
        'ERR_ARGUMENT',
        /^there is no option "dtype" here; astype/,
      )
    }
  })

  it('is compared by its value', () => {
    const t = tensor([1, 2, 255], 'uint8')
    assert.deepEqual(less(t, 1.5).toArray(), [true, false, false])
    assert.deepEqual(less(t, 300).toArray(), [true, true, true])
    assert.deepEqual(less(-1, t).toArray(), [true, true, true])
    assert.deepEqual(equal(t, NaN).toArray(), [false, false, false])
    const flags = tensor([true, false])
    assert.deepEqual(
      [less(flags, 2), equal(2, flags), less(flags, -1e300), greater(flags, 0.5)].map((t) =>
        t.toArray(),
      ),
      [
        [true, true],
        [false, false],
        [false, false],
        [true, false],
      ],
    )
    const large = tensor([2n ** 63n - 1n, -(2n ** 63n)])
    assert.deepEqual(less(large, 2 ** 63).toArray(), [true, true])
    assert.deepEqual(less(large, 2n ** 80n).toArray(), [true, true])
    assert.deepEqual(equal(large, -(2 ** 63)).toArray(), [false, true])
  })

  it('is refused beside no tensor, and as anything else', () => {
    fails(() => add(1, 2), TypeError, 'ERR_ARGUMENT', /one of them has to be a tensor/)
    for (const wrong of [
      '1',
      null,
      undefined,
      {},
      [1],
      [1, 2, 3],
      [1, '2'],
      Symbol('s'),
      () => 1,
      Float32Array.of(1),
    ]) {
      fails(
        () => add(tensor([1]), wrong),
        TypeError,
        'ERR_ARGUMENT',
        /^x2 is .*a tensor, a number or \[re, im\] was expected(; tensor\(\) makes one of a list|; fromBlob\(\) makes one of a typed array)?$/,
      )
      fails(() => add(wrong, tensor([1])), TypeError, 'ERR_ARGUMENT', /^x1 is /)
    }
  })

  it('is read before tensors are looked at', () => {
    const t = zeros([2], 'complex64')
    const sly = new Proxy([1, 2], {
      get(list, key) {
        if (!t.isDisposed) t.dispose()
        return Reflect.get(list, key)
      },
    })
    fails(() => add(t, sly), Error, 'ERR_DISPOSED')
    const x = zeros([2])
    fails(
      () =>
        add(x, 1, {
          get dtype() {
            x.dispose()
            return 'float64'
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })
})

describe('where', () => {
  needsMath()
  const mask = tensor([true, false])

  it('takes tensors and scalars in every place', () => {
    const t = tensor([1, 2], 'int16')
    assert.deepEqual(where(mask, t, 9).toArray(), [1, 9])
    assert.deepEqual(where(mask, 9, t).toArray(), [9, 2])
    assert.equal(where(mask, 9, t).dtype, 'int16')
    assert.deepEqual(where(true, t, 0).toArray(), [1, 2])
    assert.deepEqual(
      [
        where(mask, 1, 0).dtype,
        where(mask, 1n, 0n).dtype,
        where(mask, true, false).dtype,
        where(mask, 1, 0, 'int8').dtype,
      ],
      ['float32', 'int64', 'bool', 'int8'],
    )
    assert.deepEqual(where(mask.reshape([2, 1]), tensor([1, 2, 3]), 0).toArray(), [
      [1, 2, 3],
      [0, 0, 0],
    ])
  })

  it('and clip meet in the dtype of their tensors, whatever is a scalar', () => {
    const values = { uint8: 3, int16: -4, float32: 0.5, float64: 0.25, complex64: [1, 2] }
    for (const [first, a] of Object.entries(values)) {
      for (const [second, b] of Object.entries(values)) {
        const x = full([2], a, first)
        const y = full([2], b, second)
        const to = promoteTypes(first, second)
        for (const condition of [mask, true, false]) {
          const chosen = where(condition, x, y)
          assert.deepEqual(
            [chosen.dtype, chosen.toArray()],
            [to, where(condition, x.astype(to), y.astype(to)).toArray()],
          )
        }
        if (first === 'complex64' || second === 'complex64') continue
        assert.deepEqual(
          [clip(x, 3, y).dtype, clip(x, x, 100).dtype, clip(x, x, y).dtype],
          [to, first, to],
        )
        assert.deepEqual(clip(x, 3, y).toArray(), clip(x, full([2], 3, 'uint8'), y).toArray())
      }
    }
    assert.deepEqual(
      [where(true, 1, 2n).dtype, where(false, true, 2).dtype, where(mask, 1, [1, 2]).dtype],
      [promoteTypes('float32', 'int64'), 'float32', 'complex64'],
    )
  })

  it('refuses a scalar that does not fit, and gives back what it made', () => {
    const before = settledMemory()
    fails(
      () => where(mask, tensor([1], 'uint8'), 0.5),
      TypeError,
      'ERR_CAST',
      /^x2 is 0\.5, which does not fit uint8/,
    )
    fails(() => where(1, 2, 3), TypeError, 'ERR_ARGUMENT', /^condition is 1/)
    assert.ok(memory().bytes.wasm <= before.bytes.wasm + 2 ** 16)
  })
})

describe('clip', () => {
  needsMath()

  it('has no bound where none is given', () => {
    const t = tensor([-2, 0, 2])
    assert.deepEqual(clip(t, -1, 1).toArray(), [-1, 0, 1])
    assert.deepEqual(clip(t, -1).toArray(), [-1, 0, 2])
    assert.deepEqual(clip(t, undefined, 1).toArray(), [-2, 0, 1])
    assert.deepEqual(clip(t, null, null).toArray(), [-2, 0, 2])
    assert.notEqual(clip(t), t)
  })

  it("gives x's dtype promoted with those of the bounds, as its type says", () => {
    const real = dtypes.filter((name) => name !== 'bool' && !/float8|complex/.test(name))
    for (const a of real) {
      for (const b of real) {
        const first = promoteTypes(a, b)
        assert.equal(clip(zeros([1], a), zeros([1], b)).dtype, first)
        assert.equal(clip(zeros([1], a), 0, zeros([1], b)).dtype, first)
        for (const c of real) {
          assert.equal(
            clip(zeros([1], a), zeros([1], b), zeros([1], c)).dtype,
            promoteTypes(first, c),
            `${a}, ${b}, ${c}`,
          )
        }
      }
    }
  })

  it('takes tensors as bounds, and keeps NaN', () => {
    assert.deepEqual(clip(tensor([[-2], [2]]), tensor([-1, 0]), 1).toArray(), [
      [-1, 0],
      [1, 1],
    ])
    assert.deepEqual(clip(tensor([NaN, 5]), 0, 1).toArray(), [NaN, 1])
    fails(() => clip(tensor([1], 'uint8'), 0, 256), TypeError, 'ERR_CAST', /^max is 256/)
    fails(() => clip(tensor([1], 'uint8'), 0.5), TypeError, 'ERR_CAST', /^min is 0\.5/)
    fails(() => clip(3, 0, 1), TypeError, 'ERR_ARGUMENT', /^x is 3/)
    fails(() => clip(tensor([1]), 'x', 1), TypeError, 'ERR_ARGUMENT', /^min is "x"/)
  })
})
