'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { fails, refusedUnchanged } = require('../setup')
const { SAMPLES } = require('../tables')

describe('permute', () => {
  for (const {
    dtype,
    values: [a, b, c, d, e, f],
  } of SAMPLES) {
    it(`shows a ${dtype} matrix transposed`, () => {
      const m = tensor([a, b, c, d, e, f], [2, 3], { dtype })
      assert.deepEqual(m.permute([1, 0]).toArray(), [
        [a, d],
        [b, e],
        [c, f],
      ])
    })
  }

  it('moves the shape and the strides of a float32 tensor together', () => {
    const t = zeros([2, 3, 4]).permute([2, 0, 1])
    assert.deepEqual([...t.shape], [4, 2, 3])
    assert.deepEqual([...t.strides], [1, 12, 4])
  })

  it('counts negative axes from the end', () => {
    assert.deepEqual([...zeros([2, 3, 4]).permute([-1, 0, -2]).shape], [4, 2, 3])
  })

  it('permutes a permuted int8 tensor back', () => {
    const t = tensor(
      [
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      ],
      'int8',
    )
    const p = t.permute([1, 2, 0])
    assert.deepEqual(p.toArray(), [
      [[1], [2]],
      [[3], [4]],
      [[5], [6]],
    ])
    assert.deepEqual(p.permute([2, 0, 1]).toArray(), t.toArray())
  })

  it('shares bytes, both ways', () => {
    const m = zeros([2, 3])
    const t = m.permute([1, 0])
    m.set(7, 0, 2)
    t.set(8, 1, 1)
    assert.equal(t.get(2, 0), 7)
    assert.equal(m.get(1, 1), 8)
  })

  it('names the axis that is repeated', () => {
    fails(() => zeros([2, 3]).permute([1, 1]), RangeError, 'ERR_BOUNDS', /1/)
    fails(() => zeros([2, 3]).permute([1, -1]), RangeError, 'ERR_BOUNDS')
  })

  it('refuses axes outside, and another count of axes', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(() => t.permute([0, 2]), RangeError, 'ERR_BOUNDS', /2/)
    fails(() => t.permute([0, -3]), RangeError, 'ERR_BOUNDS', /-3/)
    fails(() => t.permute([0]), RangeError, 'ERR_SHAPE')
    fails(() => t.permute([]), RangeError, 'ERR_SHAPE')
    fails(() => t.permute([0, 1, 2]), RangeError, 'ERR_SHAPE')
    refusedUnchanged(t, () => t.permute())
    refusedUnchanged(t, () => t.permute('10'), 'ERR_ARGUMENT')
    refusedUnchanged(t, () => t.permute(['1', '0']), 'ERR_ARGUMENT')
    refusedUnchanged(t, () => t.permute([0.5, 1]))
    refusedUnchanged(t, () => t.permute([NaN, 1]))
  })

  it('refuses an order longer than any tensor at once', () => {
    const order = []
    order.length = 4294967295
    fails(() => zeros([2, 3]).permute(order), RangeError, 'ERR_SHAPE')
  })
})
