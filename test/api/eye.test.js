'use strict'
const assert = require('node:assert/strict')
const { dtypes, eye } = require('samebytes')
const { fails, generator, hex, makesNothing, refuses, skipWithout } = require('../setup')
const { askNumpy } = require('../sequences')

describe('eye', () => {
  it('has ones on the main diagonal, in float32', () => {
    assert.equal(eye(2).dtype, 'float32')
    assert.deepEqual(eye(3).toArray(), [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ])
    assert.deepEqual(eye(2, 3).toArray(), [
      [1, 0, 0],
      [0, 1, 0],
    ])
    assert.deepEqual(eye(3, 1).toArray(), [[1], [0], [0]])
  })

  it('has them on the diagonal that k names: positive above, negative below, none where it lies outside', () => {
    assert.deepEqual(eye(2, 3, { k: 1 }).toArray(), [
      [0, 1, 0],
      [0, 0, 1],
    ])
    assert.deepEqual(eye(3, { k: -2 }).toArray(), [
      [0, 0, 0],
      [0, 0, 0],
      [1, 0, 0],
    ])
    for (const k of [2, -2, 2 ** 53 - 1, -(2 ** 53) + 1]) {
      assert.deepEqual(eye(2, { k }).toArray(), [
        [0, 0],
        [0, 0],
      ])
    }
  })

  it('takes options, or a dtype, in place of m', () => {
    assert.deepEqual(eye(2, 'int64').toArray(), [
      [1n, 0n],
      [0n, 1n],
    ])
    assert.deepEqual(eye(2, { dtype: 'bool' }).toArray(), [
      [true, false],
      [false, true],
    ])
    assert.deepEqual(eye(1, 2, 'complex64').toArray(), [
      [
        [1, 0],
        [0, 0],
      ],
    ])
    assert.deepEqual(eye(2, undefined, { dynamism: 'static' }).dynamism, 'static')
  })

  it('lies in order F where that is asked for, and where other threads can see it', () => {
    const t = eye(2, 3, { order: 'F', k: 1 })
    assert.deepEqual([...t.strides], [1, 2])
    assert.deepEqual(t.toArray(), [
      [0, 1, 0],
      [0, 0, 1],
    ])
    for (const shared of [true, 'sab']) {
      assert.deepEqual(eye(2, { shared }).toArray(), [
        [1, 0],
        [0, 1],
      ])
    }
  })

  it('may be without rows or columns', () => {
    assert.deepEqual(eye(0).shape, [0, 0])
    assert.deepEqual(eye(0, 3).shape, [0, 3])
    assert.deepEqual(eye(2, 0, { k: 1 }).shape, [2, 0])
  })

  it('refuses extents and diagonals that are none; nothing is left', () => {
    makesNothing(() => {
      for (const bad of [-1, 1.5, NaN, Infinity]) {
        fails(() => eye(bad), RangeError, 'ERR_SHAPE', /n is/)
        fails(() => eye(2, bad), RangeError, 'ERR_SHAPE', /m is/)
        if (bad !== -1) fails(() => eye(2, { k: bad }), RangeError, 'ERR_BOUNDS', /k is/)
      }
      for (const bad of ['2', null, undefined, [2], 2n]) {
        fails(() => eye(bad), TypeError, 'ERR_ARGUMENT')
      }
      for (const bad of [null, [2], 2n]) fails(() => eye(2, bad), TypeError, 'ERR_ARGUMENT')
      fails(() => eye(2, { k: '1' }), TypeError, 'ERR_ARGUMENT', /k is/)
      refuses(() => eye(2, 'float'), 'ERR_DTYPE')
      refuses(() => eye(2, { pinMemory: true }), 'ERR_UNSUPPORTED')
      refuses(() => eye(2 ** 26), 'ERR_MEMORY', 'ERR_SHAPE')
    })
  })

  it('agrees with NumPy in every dtype', function () {
    skipWithout(this, 'NumPy')
    const { next, pick } = generator(3)
    const cases = dtypes.flatMap((dtype) =>
      Array.from({ length: 20 }, () => {
        return {
          make: 'eye',
          n: next(9),
          m: next(9),
          k: next(13) - 6,
          dtype,
          order: pick(['C', 'F']),
        }
      }),
    )
    const expected = askNumpy(cases)
    cases.forEach(({ n, m, k, dtype, order }, i) => {
      assert.equal(
        hex(eye(n, m, { k, dtype, order })),
        expected[i],
        `eye(${n}, ${m}, ${k}, ${dtype}, ${order})`,
      )
    })
  })
})
