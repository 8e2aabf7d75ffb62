'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { fails, refuses } = require('../setup')

describe('transpose', () => {
  it('swaps two axes of an int32 tensor, named in either order', () => {
    const t = tensor(
      [
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      ],
      'int32',
    )
    assert.deepEqual(t.transpose(1, 2).toArray(), [
      [
        [1, 3, 5],
        [2, 4, 6],
      ],
    ])
    assert.deepEqual(t.transpose(2, 1).toArray(), [
      [
        [1, 3, 5],
        [2, 4, 6],
      ],
    ])
    assert.deepEqual([...t.transpose(0, -1).shape], [2, 3, 1])
  })

  it('leaves a float32 tensor as it is where both axes are one', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(t.transpose(1, -1).toArray(), [
      [1, 2],
      [3, 4],
    ])
  })

  it('refuses axes outside', () => {
    fails(() => zeros([2, 3]).transpose(0, 2), RangeError, 'ERR_BOUNDS')
    fails(() => zeros([2, 3]).transpose(-3, 1), RangeError, 'ERR_BOUNDS')
    for (const axis of [0.5, NaN, '1', {}, [1], null, 1n, Infinity]) {
      refuses(() => zeros([2, 3]).transpose(0, axis), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
  })
})

describe('T', () => {
  it('transposes a float32 matrix of rank 2', () => {
    assert.deepEqual(
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).T.toArray(),
      [
        [1, 4],
        [2, 5],
        [3, 6],
      ],
    )
  })

  it('is for rank 2 only', () => {
    fails(() => zeros([2, 3, 4]).T, RangeError, 'ERR_SHAPE')
    fails(() => zeros([3]).T, RangeError, 'ERR_SHAPE')
    fails(() => zeros([]).T, RangeError, 'ERR_SHAPE')
  })
})
