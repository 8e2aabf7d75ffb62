'use strict'
const assert = require('node:assert/strict')
const {
  allClose,
  arrayEqual,
  dtypes,
  fromBlob,
  fromBytes,
  memory,
  tensor,
  zeros,
} = require('samebytes')
const { copied, fails, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

const int64 = (value) => tensor([value], 'int64')
const float64 = (value) => tensor([value], 'float64')

describe('arrayEqual', () => {
  for (const { dtype, bytes } of SAMPLES) {
    it(`sees every change of ${dtype}`, () => {
      const read = () => fromBytes(Buffer.from(bytes, 'hex'), [2, 3], { dtype })
      const t = read()
      const special = t
        .astype('complex128', { casting: 'unsafe' })
        .toArray()
        .flat(2)
        .some(Number.isNaN)
      assert.equal(arrayEqual(t, read(), { equalNaN: special }), true)
      assert.equal(arrayEqual(t.T.flip(), read().T.flip(), { equalNaN: special }), true)
      for (let i = 0; i < 6; i++) {
        const other = read()
        const flat = other.view([6])
        flat.set(
          dtype === 'bool' ? !flat.get(i) : flat.get(i) === 7 || flat.get(i) === 7n ? 8 : 7,
          i,
        )
        assert.equal(arrayEqual(t, other, { equalNaN: special }), false, `element ${i}`)
        assert.equal(
          arrayEqual(t.T, other.T, { equalNaN: special }),
          false,
          `element ${i}, transposed`,
        )
      }
    })
  }

  it('compares shapes, and float32 of none', () => {
    assert.equal(arrayEqual(tensor([1, 2]), tensor([[1, 2]])), false)
    assert.equal(arrayEqual(tensor([1]), tensor(1)), false)
    assert.equal(arrayEqual(tensor(1), tensor(1)), true)
    assert.equal(arrayEqual(zeros([0, 2]), zeros([0, 2])), true)
    assert.equal(arrayEqual(zeros([0, 2]), zeros([2, 0])), false)
    assert.equal(arrayEqual(zeros([1, 3]), zeros([3])), false)
  })

  it('compares numbers, not dtypes', () => {
    for (const dtype of dtypes) {
      assert.equal(
        arrayEqual(
          tensor([0, 1, 0]).astype(dtype, { casting: 'unsafe' }),
          tensor([0, 1, 0], 'int64'),
        ),
        true,
        dtype,
      )
    }
    assert.equal(arrayEqual(tensor([1.5]), tensor([1], 'int32')), false)
    assert.equal(arrayEqual(tensor([[1, 0]], { dtype: 'complex64' }), tensor([1])), true)
    assert.equal(arrayEqual(tensor([[1, 2]], { dtype: 'complex64' }), tensor([1])), false)
    assert.equal(arrayEqual(tensor([0]), tensor([-0])), true)
  })

  it('compares any bool byte other than 0 as true', () => {
    const [two, one] = [2, 1].map((byte) => fromBytes(Uint8Array.of(byte), [1], 'bool'))
    assert.equal(arrayEqual(two, one), true)
    assert.equal(arrayEqual(two, tensor([false])), false)
  })

  it('compares int64, uint64 and float64 exactly', () => {
    const large = 2n ** 53n
    assert.equal(arrayEqual(int64(large + 1n), float64(2 ** 53)), false)
    assert.equal(arrayEqual(int64(large), float64(2 ** 53)), true)
    assert.equal(arrayEqual(int64(-large - 1n), float64(-(2 ** 53))), false)
    assert.equal(arrayEqual(int64(2n ** 63n - 1n), float64(2 ** 63)), false)
    assert.equal(arrayEqual(int64(-(2n ** 63n)), float64(-(2 ** 63))), true)
    assert.equal(arrayEqual(int64(-(2n ** 63n)), tensor([-(2 ** 63)])), true)
    assert.equal(arrayEqual(tensor([2n ** 63n], 'uint64'), float64(2 ** 63)), true)
    assert.equal(arrayEqual(tensor([2n ** 64n - 1n], 'uint64'), float64(2 ** 64)), false)
    assert.equal(arrayEqual(tensor([2n ** 64n - 1n], 'uint64'), int64(-1n)), false)
    assert.equal(arrayEqual(tensor([2n ** 63n], 'uint64'), int64(-(2n ** 63n))), false)
    assert.equal(arrayEqual(tensor([5n], 'uint64'), int64(5n)), true)
    assert.equal(arrayEqual(int64(-1n), float64(-1.0000000000000002)), false)
    assert.equal(arrayEqual(int64(2048n), float64(2048.0000000000005)), false)
    assert.equal(arrayEqual(int64(-2049n), float64(-2049)), true)
    assert.equal(arrayEqual(int64(0n), float64(5e-324)), false)
    assert.equal(
      arrayEqual(int64(large + 1n), tensor([[2 ** 53, 0]], { dtype: 'complex128' })),
      false,
    )
  })

  it('tells NaN from NaN unless equalNaN says otherwise', () => {
    const nan = tensor([1, NaN])
    assert.equal(arrayEqual(nan, nan), false)
    assert.equal(arrayEqual(nan, nan, { equalNaN: true }), true)
    assert.equal(arrayEqual(nan, nan.astype('float16'), { equalNaN: true }), true)
    assert.equal(arrayEqual(nan, tensor([1, 2]), { equalNaN: true }), false)
    const complex = (pair) => tensor([pair], { dtype: 'complex64' })
    assert.equal(arrayEqual(complex([NaN, 1]), complex([2, NaN]), { equalNaN: true }), true)
    assert.equal(arrayEqual(complex([NaN, 1]), complex([NaN, 1])), false)
    assert.equal(arrayEqual(tensor([Infinity]), tensor([Infinity])), true)
    assert.equal(arrayEqual(tensor([Infinity]), tensor([-Infinity]), { equalNaN: true }), false)
  })

  it('takes a list and more than two', () => {
    const [a, b, c] = [tensor([1]), tensor([1], 'int8'), tensor([2])]
    assert.equal(arrayEqual(a, b, a), true)
    assert.equal(arrayEqual(a, b, c), false)
    assert.equal(arrayEqual([a, b, a]), true)
    assert.equal(arrayEqual([a, c], { equalNaN: true }), false)
  })

  it('compares what is repeated once', () => {
    assert.equal(arrayEqual(zeros([1]).expand(2 ** 45), zeros([1]).expand(2 ** 45)), true)
    assert.equal(
      arrayEqual(zeros([1, 2]).expand(2 ** 45, 2), tensor([[0, 1]]).expand(2 ** 45, 2)),
      false,
    )
  })

  it('sees a difference in any of 1000 float32, also backwards and in gaps', () => {
    const a = zeros([1000])
    for (const i of [0, 255, 256, 511, 999]) {
      const b = zeros([2000]).slice('::-2')
      assert.equal(arrayEqual(a, b), true)
      b.set(1, i)
      assert.equal(arrayEqual(a, b), false)
      assert.equal(allClose(a, b), false)
    }
  })

  it('copies nothing, and reads what is read-only', () => {
    const t = fromBlob(Float32Array.of(1, 2), { readOnly: true })
    const { result, copies } = copied(() => arrayEqual(t, t) && allClose(t, t))
    assert.deepEqual([result, copies], [true, {}])
  })

  it('refuses what is no tensor', () => {
    const t = zeros([1])
    fails(() => arrayEqual(t), TypeError, 'ERR_ARGUMENT', /argument 1|at least 2/)
    for (const fn of [
      () => arrayEqual(),
      () => arrayEqual([t]),
      () => arrayEqual(t, [0]),
      () => arrayEqual([t, 0]),
      () => arrayEqual(t, t, 5),
      () => arrayEqual(t, t, { equalNaN: 1 }),
      () => allClose(t),
      () => allClose(t, t, t),
    ]) {
      refuses(fn, 'ERR_ARGUMENT')
    }
    const gone = zeros([1])
    gone.dispose()
    refuses(() => arrayEqual(t, gone), 'ERR_DISPOSED')
    refuses(
      () =>
        allClose(t, t, {
          get rtol() {
            t.dispose()
          },
        }),
      'ERR_DISPOSED',
    )
  })
})

describe('allClose', () => {
  it('allows 1e-8 and 1e-5 of the second, of float64', () => {
    assert.equal(allClose(float64(1.00000999), float64(1)), true)
    assert.equal(allClose(float64(1.0000102), float64(1)), false)
    assert.equal(allClose(float64(1e-8), float64(0)), true)
    assert.equal(allClose(float64(1.01e-8), float64(0)), false)
    assert.equal(allClose(float64(0), float64(1e-8)), true)
  })

  it('measures by the second, not by the first', () => {
    assert.equal(allClose(float64(2), float64(1), { rtol: 0.5, atol: 0 }), false)
    assert.equal(allClose(float64(1), float64(2), { rtol: 0.5, atol: 0 }), true)
    assert.equal(allClose(float64(-1), float64(-2), { rtol: 0.5, atol: 0 }), true)
    assert.equal(allClose([float64(3), float64(1)], { rtol: 0, atol: 2 }), true)
    assert.equal(allClose(float64(3.5), float64(1), { rtol: 0, atol: 2 }), false)
  })

  it('broadcasts float32', () => {
    const t = tensor([
      [1, 2],
      [1, 2],
    ])
    assert.equal(allClose(t, tensor([1, 2])), true)
    assert.equal(allClose(tensor([1, 2]), t), true)
    assert.equal(allClose(t, tensor([[1], [2]])), false)
    assert.equal(allClose(tensor(1), tensor([1, 1, 1])), true)
    assert.equal(allClose(zeros([0, 1]), zeros([3])), true)
    fails(() => allClose(zeros([2]), zeros([3])), RangeError, 'ERR_SHAPE', /\[2\] and \[3\]/)
    fails(() => allClose(zeros([0]), zeros([3])), RangeError, 'ERR_SHAPE')
  })

  it('keeps infinities and NaN apart, of float32', () => {
    const infinity = tensor([Infinity])
    assert.equal(allClose(infinity, infinity), true)
    assert.equal(allClose(infinity, tensor([-Infinity])), false)
    assert.equal(allClose(infinity, tensor([3e38]), { rtol: 100 }), false)
    assert.equal(allClose(tensor([1]), infinity, { rtol: 1 }), false)
    assert.equal(allClose(tensor([1]), infinity, { atol: Infinity }), false)
    assert.equal(allClose(tensor([NaN]), tensor([NaN])), false)
    assert.equal(allClose(tensor([NaN]), tensor([NaN]), { equalNaN: true }), true)
    assert.equal(allClose(tensor([NaN]), tensor([1]), { equalNaN: true, atol: 1e9 }), false)
  })

  it('takes the modulus of complex128', () => {
    const complex = (pair) => tensor([pair], { dtype: 'complex128' })
    assert.equal(allClose(complex([3, 4]), complex([0, 0]), { atol: 5, rtol: 0 }), true)
    assert.equal(allClose(complex([3, 4]), complex([0, 0]), { atol: 4.99, rtol: 0 }), false)
    assert.equal(allClose(complex([4, 4]), complex([3, 4]), { atol: 0, rtol: 0.2 }), true)
    assert.equal(allClose(complex([4, 4]), complex([3, 4]), { atol: 0, rtol: 0.19 }), false)
    assert.equal(
      allClose(complex([1e308, 1e308]), complex([1e308, 1e308]), { atol: 0, rtol: 0 }),
      true,
    )
    assert.equal(allClose(complex([Infinity, 1]), complex([Infinity, 1])), true)
    assert.equal(allClose(complex([Infinity, 1]), complex([Infinity, 2])), false)
  })

  it('is exact about int64 where nothing is allowed', () => {
    const none = { rtol: 0, atol: 0 }
    assert.equal(allClose(int64(2n ** 62n + 1n), int64(2n ** 62n), none), false)
    assert.equal(allClose(int64(2n ** 62n + 1n), int64(2n ** 62n), { rtol: 0, atol: 1 }), true)
    assert.equal(allClose(int64(-(2n ** 63n)), int64(2n ** 63n - 1n), none), false)
    assert.equal(
      allClose(tensor([0], 'uint8'), tensor([255], 'uint8'), { rtol: 0, atol: 254 }),
      false,
    )
    assert.equal(allClose(tensor([true]), tensor([false]), { rtol: 0, atol: 1 }), true)
  })

  it('refuses what is no number', () => {
    const t = zeros([1])
    for (const within of [{ rtol: '1' }, { atol: null }, { rtol: 1n }, { equalNaN: 'yes' }]) {
      refuses(() => allClose(t, t, within), 'ERR_ARGUMENT')
    }
    assert.equal(allClose(t, t.expand(1), { rtol: NaN }), true)
  })

  it('leaves nothing behind', () => {
    const [a, b] = [fromBlob(Float32Array.of(1, 2)), fromBlob(Float32Array.of(1, 2, 3))]
    const { tensors, storages, bytes } = memory()
    refuses(() => allClose(a, b))
    assert.equal(arrayEqual(a, b), false)
    const after = memory()
    assert.ok(
      after.tensors <= tensors && after.storages <= storages && after.bytes.wasm <= bytes.wasm,
    )
  })
})
