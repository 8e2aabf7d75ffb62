'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, refusedUnchanged } = require('../setup')

describe('flip', () => {
  agrees('flip', { seed: 101 }, ({ array, next, pick, shuffle }) => {
    const ndim = next(5)
    const axes = shuffle(Array.from({ length: ndim }, (_, d) => pick([d, d - ndim]))).slice(
      0,
      next(ndim + 1),
    )
    const any = next(2 * ndim + 3) - ndim - 1 // outside, too
    return { ...array(ndim), args: pick([[], [axes], [any], [[...axes, any]]]) }
  })

  it('walks all axes of int32 backwards, or those that are named', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'int32',
    )
    assert.deepEqual(t.flip().toArray(), [
      [6, 5, 4],
      [3, 2, 1],
    ])
    assert.deepEqual(t.flip(0).toArray(), [
      [4, 5, 6],
      [1, 2, 3],
    ])
    assert.deepEqual(t.flip([-1]).toArray(), [
      [3, 2, 1],
      [6, 5, 4],
    ])
    assert.deepEqual(t.flip([]).toArray(), t.toArray())
    assert.deepEqual(t.flip(Int32Array.of(0, 1)).toArray(), t.flip().toArray())
    assert.equal(tensor(7).flip().item(), 7)
  })

  it('of float32 can be copied into, and itself into its base', () => {
    const t = tensor([1, 2, 3, 4, 5])
    t.flip().copyFrom([10, 20, 30, 40, 50])
    assert.deepEqual(t.toArray(), [50, 40, 30, 20, 10])
    t.copyFrom(t.flip())
    assert.deepEqual(t.toArray(), [10, 20, 30, 40, 50])
  })

  it('of 64 axes works, and of none at the end of its bytes', () => {
    const t = zeros(new Array(64).fill(1)).flip()
    assert.deepEqual(t.shape, new Array(64).fill(1))
    assert.deepEqual(zeros([3, 0]).narrow(0, 3, 0).flip().toArray(), [])
  })

  it('names the axis that is outside or repeated', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    fails(() => t.flip(2), RangeError, 'ERR_BOUNDS', /axis is 2; -2 to 1/)
    fails(() => t.flip([0, -2]), RangeError, 'ERR_BOUNDS', /axis 0 is repeated/)
    fails(() => tensor(1).flip(0), RangeError, 'ERR_BOUNDS', /no axes/)
    for (const axis of [null, '0', true, {}, 1n, () => 1]) {
      refusedUnchanged(t, () => t.flip(axis), 'ERR_ARGUMENT')
    }
    for (const axis of [NaN, 0.5, Infinity, 2 ** 53, -(2 ** 53)]) {
      refusedUnchanged(t, () => t.flip(axis), 'ERR_BOUNDS')
    }
    fails(() => t.flip([0, 0.5]), RangeError, 'ERR_BOUNDS', /axis\[1\]/)
  })
})
