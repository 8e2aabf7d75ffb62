'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { fails, refusedUnchanged } = require('../setup')
const { SAMPLES } = require('../tables')

describe('unfold', () => {
  for (const {
    dtype,
    values: [a, b, c, d, e, f],
  } of SAMPLES) {
    it(`shows overlapping ${dtype} windows`, () => {
      const t = tensor([a, b, c, d, e, f], [6], { dtype })
      assert.deepEqual(t.unfold(0, 3, 2).toArray(), [
        [a, b, c],
        [c, d, e],
      ])
      assert.deepEqual(t.unfold(0, 3, 3).toArray(), [
        [a, b, c],
        [d, e, f],
      ])
    })
  }

  it('leaves the other axes of int32 and adds the window last', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'int32',
    )
    assert.deepEqual(t.unfold(1, 2, 1).toArray(), [
      [
        [1, 2],
        [2, 3],
      ],
      [
        [4, 5],
        [5, 6],
      ],
    ])
    assert.deepEqual(t.unfold(0, 2, 1).toArray(), [
      [
        [1, 4],
        [2, 5],
        [3, 6],
      ],
    ])
    assert.deepEqual([...zeros([7, 5]).unfold(-2, 4, 3).shape], [2, 5, 4])
  })

  it('drops what does not fill a window, and walks reversed float32', () => {
    assert.deepEqual([...zeros([10]).unfold(0, 4, 4).shape], [2, 4])
    assert.deepEqual([...zeros([4]).unfold(0, 4, 100).shape], [1, 4])
    const t = tensor([1, 2, 3, 4]).slice('::-1')
    assert.deepEqual(t.unfold(0, 2, 1).toArray(), [
      [4, 3],
      [3, 2],
      [2, 1],
    ])
  })

  it('one write through a window shows in all that overlap it', () => {
    const t = tensor([1, 2, 3, 4], 'int16')
    const w = t.unfold(0, 3, 1)
    w.set(9, 0, 2)
    assert.deepEqual(w.toArray(), [
      [1, 2, 9],
      [2, 9, 4],
    ])
    assert.deepEqual(t.toArray(), [1, 2, 9, 4])
  })

  it('refuses windows larger than the axis, steps below 1, axes outside', () => {
    const t = tensor([1, 2, 3, 4])
    const bad = [
      [0, 5, 1],
      [1, 1, 1],
      [-2, 1, 1],
      [0, -1, 1],
      [0, 2, 0],
      [0, 2, -1],
    ]
    for (const args of bad) fails(() => t.unfold(...args), RangeError, 'ERR_BOUNDS')
    fails(() => zeros(new Array(64).fill(1)).unfold(0, 1, 1), RangeError, 'ERR_SHAPE')
    for (const value of [0.5, NaN, '1', null, undefined, {}, 2 ** 53]) {
      refusedUnchanged(t, () => t.unfold(value, 2, 1), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.unfold(0, value, 1), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.unfold(0, 2, value), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
  })
})
