'use strict'
const assert = require('node:assert/strict')
const { moveaxis, tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { assertView, fails, refusedUnchanged } = require('../setup')

describe('moveaxis', () => {
  const some = ({ array, next, pick, shuffle }) => {
    const ndim = next(5)
    const count = next(ndim + 1)
    const axes = () =>
      shuffle(Array.from({ length: ndim }, (_, d) => d - (next(2) ? ndim : 0))).slice(0, count)
    const wrong = () => axes().map((d) => (next(5) ? d : next(2 * ndim + 2) - ndim - 1))
    const one = (list) => (list.length === 1 && next(2) ? list[0] : list)
    return {
      ...array(ndim),
      args: pick([
        [one(axes()), one(axes())],
        [one(axes()), one(axes())],
        [one(wrong()), one(wrong())],
      ]),
    }
  }
  agrees('moveaxis', { seed: 108 }, some)
  agrees('moveaxis', { seed: 109, call: (t, args) => moveaxis(t, ...args) }, some)

  it('is a view of int32, which writes show in, as function and as method', () => {
    const t = zeros([2, 3, 4], 'int32')
    for (const view of [
      assertView(t, () => t.moveaxis(0, -1)),
      assertView(t, () => moveaxis(t, 0, -1)),
    ]) {
      assert.deepEqual(view.shape, [3, 4, 2])
      assert.deepEqual(view.strides, [4, 1, 12])
      assert.equal(view.base, t)
      t.set(t.get(1, 2, 3) + 7, 1, 2, 3)
      assert.equal(view.get(2, 3, 1), t.get(1, 2, 3))
      assert.equal(view.offset, t.offset)
    }
  })

  it('moves lists of axes, each to its place', () => {
    const t = zeros([2, 3, 4, 5])
    assert.deepEqual(t.moveaxis([0, 1], [-1, 0]).shape, [3, 4, 5, 2])
    assert.deepEqual(t.moveaxis([], []).shape, [2, 3, 4, 5])
    assert.deepEqual(t.moveaxis(Int8Array.of(-1), [0]).shape, [5, 2, 3, 4])
  })

  it('refuses repeated axes, axes outside and lists of two lengths', () => {
    const t = tensor([[1, 2]])
    fails(
      () => t.moveaxis([0, -2], [0, 1]),
      RangeError,
      'ERR_BOUNDS',
      /source has -2, and so axis 0 repeated/,
    )
    fails(
      () => t.moveaxis([0, 1], [1, 1]),
      RangeError,
      'ERR_BOUNDS',
      /destination has 1, and so axis 1 repeated/,
    )
    fails(() => t.moveaxis(2, 0), RangeError, 'ERR_BOUNDS', /source is 2; there are 2 axes/)
    fails(() => t.moveaxis(0, -3), RangeError, 'ERR_BOUNDS', /destination is -3/)
    fails(() => t.moveaxis([0, 1], 0), RangeError, 'ERR_SHAPE', /source has 2 axes, destination 1/)
    fails(() => tensor(1).moveaxis(0, 0), RangeError, 'ERR_BOUNDS')
    for (const bad of [undefined, null, '0', {}, 1n]) {
      refusedUnchanged(t, () => t.moveaxis(0, bad), 'ERR_ARGUMENT')
    }
    fails(() => moveaxis([1], 0, 0), TypeError, 'ERR_ARGUMENT', /x is an array/)
  })
})
