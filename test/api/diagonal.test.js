'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, refusedUnchanged } = require('../setup')

describe('diagonal', () => {
  agrees('diagonal', { seed: 102 }, ({ array, next, pick }) => {
    const ndim = 1 + next(4)
    const axis = () => next(2 * ndim + 1) - ndim // one too far now and then
    return { ...array(ndim), args: pick([[], [next(11) - 5], [next(11) - 5, axis(), axis()]]) }
  })

  it('shows what stands right of, on and below the main diagonal of int32, and writes through', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'int32',
    )
    assert.deepEqual(t.diagonal().toArray(), [1, 5])
    assert.deepEqual(t.diagonal(1).toArray(), [2, 6])
    assert.deepEqual(t.diagonal(-1).toArray(), [4])
    assert.deepEqual(t.diagonal(0, 1, 0).toArray(), [1, 5])
    t.diagonal(2).fill(9)
    assert.deepEqual(t.toArray(), [
      [1, 2, 9],
      [4, 5, 6],
    ])
  })

  it('has no elements beyond the corners, however far', () => {
    for (const offset of [3, -2, 2 ** 53 - 1, -(2 ** 53 - 1)]) {
      assert.deepEqual(zeros([2, 3]).diagonal(offset).shape, [0])
    }
    assert.deepEqual(zeros([2, 3, 4]).diagonal(9).shape, [4, 0])
  })

  it('of 64 axes has 63', () => {
    assert.equal(zeros(new Array(64).fill(1)).diagonal(0, 63, 5).ndim, 63)
  })

  it('names the axis that is outside, and refuses one axis twice', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    fails(() => t.diagonal(0, 2), RangeError, 'ERR_BOUNDS', /axis1 is 2/)
    fails(() => t.diagonal(0, 0, -3), RangeError, 'ERR_BOUNDS', /axis2 is -3/)
    fails(() => t.diagonal(0, 1, -1), RangeError, 'ERR_BOUNDS', /axis1 and axis2 are both axis 1/)
    fails(() => tensor([1]).diagonal(), RangeError, 'ERR_BOUNDS', /axis2/)
    for (const bad of [null, '0', true, {}, 1n, [0]]) {
      refusedUnchanged(t, () => t.diagonal(bad), 'ERR_ARGUMENT')
      refusedUnchanged(t, () => t.diagonal(0, bad), 'ERR_ARGUMENT')
      refusedUnchanged(t, () => t.diagonal(0, 0, bad), 'ERR_ARGUMENT')
    }
  })
})
