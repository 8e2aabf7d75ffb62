'use strict'
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { copied, fails, fromHex, hex, refusedUnchanged, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

describe('get and set', () => {
  for (const { dtype, values, bytes } of SAMPLES) {
    it(`read ${dtype} elements, with negative indices too`, () => {
      const t = fromBlob(fromHex(bytes), [2, 3], { dtype })
      assert.deepEqual(
        [t.get(0, 0), t.get(0, 1), t.get(0, 2), t.get(1, 0), t.get(1, 1), t.get(1, 2)],
        values,
      )
      assert.deepEqual(t.get(-1, -1), values[5])
      assert.deepEqual(t.get(-2, -3), values[0])
    })

    it(`write ${dtype} elements as their bytes`, () => {
      const t = zeros([6], { dtype })
      values.forEach((value, i) => assert.equal(t.set(value, i), undefined))
      assert.equal(hex(t), bytes)
    })

    it(`read ${dtype} through a transposed and reversed view`, () => {
      const t = tensor(values, [2, 3], { dtype }).slice('::-1').T
      assert.deepEqual(t.get(2, 0), values[5])
      assert.deepEqual(t.get(0, 1), values[0])
      t.set(values[1], 0, 1)
      assert.deepEqual(t.get(0, 1), values[1])
    })
  }

  it('counts the indices that are missing in words', () => {
    for (const get of [
      (t, ...index) => t.get(...index),
      (t, ...index) => t.accessor().get(...index),
    ]) {
      fails(
        () => get(zeros([2, 3]), 0),
        RangeError,
        'ERR_SHAPE',
        /^1 index was given; the tensor has 2 axes$/,
      )
      fails(
        () => get(zeros([2]), 0, 0),
        RangeError,
        'ERR_SHAPE',
        /^2 indices were given; the tensor has 1 axis$/,
      )
    }
  })

  it('copy nothing', () => {
    const t = zeros([4])
    assert.deepEqual(
      copied(() => {
        t.set(1, 2)
        t.get(2)
      }).copies,
      {},
    )
  })

  it('read and write float32 of rank 0', () => {
    const t = tensor(1)
    t.set(5)
    assert.equal(t.get(), 5)
  })

  it('round float64 numbers to float32, bfloat16 and float16 once', () => {
    const t = zeros([1])
    t.set(0.1, 0)
    assert.equal(t.get(0), 0.10000000149011612)
    const h = zeros([1], 'float16')
    h.set(1.0004882812509095, 0)
    assert.equal(h.get(0), 1.0009765625)
    const b = zeros([1], 'bfloat16')
    b.set(1.0039062500009095, 0)
    assert.equal(b.get(0), 1.0078125)
  })

  it('take safe integers and bigints for int64', () => {
    const t = zeros([2], 'int64')
    t.set(9007199254740991, 0)
    t.set(-9223372036854775808n, 1)
    assert.deepEqual(t.toArray(), [9007199254740991n, -9223372036854775808n])
  })

  it('refuse values that do not fit and change nothing', () => {
    const cases = [
      ['uint8', 256],
      ['uint8', -1],
      ['uint8', 1.5],
      ['int32', NaN],
      ['int64', 2 ** 53],
      ['int64', 1.5],
      ['float32', 1e39],
      ['float16', 65520],
      ['uint64', -1n],
      ['uint64', 2n ** 64n],
    ]
    for (const [dtype, value] of cases) {
      const t = tensor([7], { dtype })
      refusedUnchanged(t, () => t.set(value, 0), 'ERR_CAST')
    }
    const t = tensor([7])
    for (const value of ['1', null, undefined, {}, [], Symbol('s'), () => 1]) {
      refusedUnchanged(t, () => t.set(value, 0), 'ERR_ARGUMENT')
    }
  })

  it('refuse indices outside, for float32 [2, 3]', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    for (const index of [
      [2, 0],
      [0, 3],
      [-3, 0],
      [0, -4],
      [0, 9007199254740991],
      [-9007199254740991, 0],
    ]) {
      fails(() => t.get(...index), RangeError, 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.set(9, ...index), 'ERR_BOUNDS')
    }
    fails(() => zeros([0]).get(0), RangeError, 'ERR_BOUNDS')
  })

  it('refuse another count of indices', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    for (const index of [[], [0], [0, 0, 0]]) {
      fails(() => t.get(...index), RangeError, 'ERR_SHAPE')
      refusedUnchanged(t, () => t.set(9, ...index), 'ERR_SHAPE')
    }
    fails(() => tensor(1).get(0), RangeError, 'ERR_SHAPE')
  })

  it('refuse indices that are no integers', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    for (const bad of [
      0.5,
      NaN,
      Infinity,
      -Infinity,
      '0',
      null,
      undefined,
      {},
      [0],
      0n,
      true,
      2 ** 53,
    ]) {
      refuses(() => t.get(0, bad), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refuses(() => t.get(bad, 0), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.set(9, 0, bad), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
  })
})

describe('item', () => {
  for (const { dtype, values } of SAMPLES) {
    it(`gives the one ${dtype} element, whatever the rank`, () => {
      assert.deepEqual(tensor([values[4]], [1, 1, 1], { dtype }).item(), values[4])
      assert.deepEqual(tensor(values, [6], { dtype }).select(0, 3).item(), values[3])
    })
  }

  it('refuses more or fewer elements than one', () => {
    fails(() => zeros([2]).item(), RangeError, 'ERR_SHAPE')
    fails(() => zeros([0]).item(), RangeError, 'ERR_SHAPE')
  })
})
