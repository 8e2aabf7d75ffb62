'use strict'
const assert = require('node:assert/strict')
const { fromBlob, scalarTensor, tensor, zeros } = require('samebytes')
const { copied, fails, refusedUnchanged } = require('../setup')
const { SAMPLES } = require('../tables')

const zeroOf = (value) =>
  Array.isArray(value) ? [0, 0] : { number: 0, bigint: 0n, boolean: false }[typeof value]

describe('fill and zero', () => {
  for (const { dtype, values } of SAMPLES) {
    const [a, b, c] = values
    const zero = zeroOf(a)

    it(`write one ${dtype} value everywhere and return the tensor`, () => {
      const t = tensor(values, [2, 3], { dtype })
      assert.equal(t.fill(b), t)
      assert.deepEqual(t.toArray(), [
        [b, b, b],
        [b, b, b],
      ])
      assert.equal(t.zero(), t)
      assert.deepEqual(t.toArray(), [
        [zero, zero, zero],
        [zero, zero, zero],
      ])
    })

    it(`write a strided ${dtype} view and leave the gaps alone`, () => {
      const t = tensor(new Array(12).fill(c), [3, 4], { dtype })
      t.slice('::-2', '1::2').fill(b)
      assert.deepEqual(t.toArray(), [
        [c, b, c, b],
        [c, c, c, c],
        [c, b, c, b],
      ])
      t.T.slice('1:3', 1).zero()
      assert.deepEqual(t.toArray(), [
        [c, b, c, b],
        [c, zero, zero, c],
        [c, b, c, b],
      ])
    })

    it(`write every length of ${dtype} to its last element and no further`, () => {
      for (let n = 0; n < 70; n++) {
        const t = tensor(new Array(n + 2).fill(c), [n + 2], { dtype })
        t.narrow(0, 1, n).fill(b)
        assert.deepEqual(t.toArray(), [c, ...new Array(n).fill(b), c])
      }
    })
  }

  for (const [dtype, itemsize] of [
    ['int16', 2],
    ['float32', 4],
    ['complex128', 16],
  ]) {
    it(`write megabytes of ${dtype} to the last element and no further`, () => {
      const item = dtype === 'complex128' ? [1.5, -2] : 0x1234
      const one = scalarTensor(item, { dtype }).bytes.slice() // its own: the tensor goes
      for (const n of [0, 1, 7, 2 ** 20 / itemsize].map((more) => 2 ** 20 / itemsize + more)) {
        const base = zeros([n + 10], dtype)
        base.narrow(0, 3, n).fill(item)
        const wrong = base.bytes.findIndex((byte, i) => {
          const at = Math.floor(i / itemsize)
          return byte !== (at >= 3 && at < 3 + n ? one[i % itemsize] : 0)
        })
        assert.equal(wrong, -1, `${n} elements`)
      }
    })
  }

  it('fill takes bigints for float32 and numbers for int64', () => {
    assert.deepEqual(zeros([2]).fill(3n).toArray(), [3, 3])
    assert.deepEqual(zeros([2], 'int64').fill(3).toArray(), [3n, 3n])
  })

  it('fill takes a number for complex64', () => {
    assert.deepEqual(zeros([1], 'complex64').fill(2).toArray(), [[2, 0]])
    assert.deepEqual(zeros([1], 'complex64').fill([2, -1]).toArray(), [[2, -1]])
  })

  it('copy nothing', () => {
    const t = zeros([4])
    assert.deepEqual(copied(() => t.fill(1).zero()).copies, {})
  })

  it('fill refuses values that do not fit int32 and changes nothing', () => {
    const t = tensor([1, 2, 3], 'int32')
    for (const value of [1.5, NaN, Infinity, 2147483648, -2147483649, 2n ** 31n, [1, 2]]) {
      refusedUnchanged(t, () => t.fill(value), 'ERR_CAST', 'ERR_ARGUMENT')
    }
    for (const value of [undefined, null, '1', {}, [], [1], Symbol('s'), () => 1, t]) {
      refusedUnchanged(t, () => t.fill(value), 'ERR_ARGUMENT')
    }
  })

  it('fill refuses 1e39 for float32, -1 for uint64 and 2n ** 64n for uint64', () => {
    const f = tensor([1])
    refusedUnchanged(f, () => f.fill(1e39), 'ERR_CAST')
    const u = tensor([1n], 'uint64')
    refusedUnchanged(u, () => u.fill(-1), 'ERR_CAST')
    refusedUnchanged(u, () => u.fill(2n ** 64n), 'ERR_CAST')
    refusedUnchanged(u, () => u.fill(2 ** 53), 'ERR_CAST')
  })

  for (const { dtype, value, bad } of [
    { dtype: 'int8', value: 3, bad: 300 },
    { dtype: 'int32', value: 70000, bad: 1.5 },
    { dtype: 'uint64', value: 5n, bad: -1n },
    { dtype: 'float16', value: 2, bad: 1e39 },
    { dtype: 'float32', value: 0.5, bad: 1e39 },
  ]) {
    it(`fill of ${dtype} over the caller's bytes refuses ${bad} and leaves them, gaps and all`, () => {
      const buffer = new ArrayBuffer(64)
      const whole = fromBlob(buffer, { dtype }).fill(value)
      const before = Buffer.from(buffer).toString('hex')
      for (const t of [whole, whole.slice('::2'), whole.slice('::-1'), whole.select(0, 1)]) {
        for (let round = 0; round < 3; round++) {
          // the C heap is used in between
          fails(() => t.fill(bad), TypeError, 'ERR_CAST', /fit/)
          fails(() => t.set(bad, ...new Array(t.ndim).fill(0)), TypeError, 'ERR_CAST', /fit/)
        }
      }
      assert.equal(Buffer.from(buffer).toString('hex'), before)
    })
  }
})
