'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { assertView, fails, refusedUnchanged } = require('../setup')

describe('squeeze', () => {
  agrees('squeeze', { seed: 103 }, ({ array, next, pick, shuffle }) => {
    const one = array(next(6), { extents: [1, 1, 1, 2, 3] })
    const ones = one.now.flatMap((n, d) => (n === 1 ? [pick([d, d - one.now.length])] : []))
    const some = shuffle(ones).slice(0, 1 + next(3))
    return { ...one, args: pick([[], [some], [some[0] ?? 0], [next(9) - 4]]) }
  })

  it('drops axes of one element of int32 and no others', () => {
    const t = zeros([1, 3, 1], 'int32')
    assert.deepEqual(t.squeeze().shape, [3])
    assert.deepEqual(t.squeeze(0).shape, [3, 1])
    assert.deepEqual(t.squeeze([-1, 0]).shape, [3])
    assert.deepEqual(t.squeeze([]).shape, [1, 3, 1])
    assert.equal(
      tensor([[[5]]])
        .squeeze()
        .item(),
      5,
    )
    fails(() => t.squeeze(1), RangeError, 'ERR_SHAPE', /axis 1 has 3 elements/)
    fails(() => zeros([0]).squeeze(0), RangeError, 'ERR_SHAPE')
    fails(() => t.squeeze(3), RangeError, 'ERR_BOUNDS', /axis is 3/)
    fails(() => t.squeeze([0, -3]), RangeError, 'ERR_BOUNDS', /repeated/)
  })

  it('of a resized float32 tensor may grow as far as that one', () => {
    const t = zeros([1, 6]).resize([1, 4])
    assert.equal(t.squeeze().capacity, 6)
    assert.deepEqual(t.squeeze().resize(6).shape, [6])
    assert.equal(t.resize([1, 1]).squeeze().capacity, 1) // of rank 0
  })

  it('refuses what is no axis', () => {
    const t = zeros([1, 3])
    for (const bad of [null, '0', true, {}, 1n, () => 0, Symbol('s')]) {
      refusedUnchanged(t, () => t.squeeze(bad), 'ERR_ARGUMENT')
    }
    for (const bad of [NaN, 0.5, -Infinity, 2 ** 53]) {
      refusedUnchanged(t, () => t.squeeze(bad), 'ERR_BOUNDS')
    }
  })
})

describe('unsqueeze', () => {
  agrees('unsqueeze', { seed: 104 }, ({ array, next }) => {
    const ndim = next(5)
    return { ...array(ndim), args: [next(2 * ndim + 4) - ndim - 2] }
  })

  agrees('unsqueeze', { seed: 107 }, ({ array, next, pick, shuffle }) => {
    const ndim = next(4)
    const count = next(4)
    const all = ndim + count
    const axes = shuffle(Array.from({ length: all }, (_, d) => d - (next(2) ? all : 0))).slice(
      0,
      count,
    )
    return { ...array(ndim), args: [pick([axes, axes, axes, axes.map(() => next(all + 2) - 1)])] }
  })

  it('adds an axis of one element to int32, up to 64', () => {
    const t = tensor([1, 2, 3], 'int32')
    assert.deepEqual(t.unsqueeze(0).toArray(), [[1, 2, 3]])
    assert.deepEqual(t.unsqueeze(-1).toArray(), [[1], [2], [3]])
    assert.deepEqual(tensor(5).unsqueeze(0).toArray(), [5])
    let deep = t
    while (deep.ndim < 64) deep = deep.unsqueeze(1)
    assert.equal(deep.numel, 3)
    fails(() => deep.unsqueeze(0), RangeError, 'ERR_SHAPE', /64/)
    fails(() => t.unsqueeze(2), RangeError, 'ERR_BOUNDS', /axis is 2/)
    fails(() => t.unsqueeze(-3), RangeError, 'ERR_BOUNDS', /axis is -3/)
    for (const bad of [undefined, null, '0', true, ['0'], 1n]) {
      refusedUnchanged(t, () => t.unsqueeze(bad), 'ERR_ARGUMENT')
    }
  })
})

describe('unsqueeze of several axes', () => {
  it('adds axes of one element to uint8, as views', () => {
    const t = tensor([1, 2, 3], 'uint8')
    assert.deepEqual(assertView(t, () => t.unsqueeze([0, -1])).shape, [1, 3, 1])
    assert.deepEqual(t.unsqueeze([2, 0]).toArray(), [[[1], [2], [3]]])
    const same = t.unsqueeze([])
    assert.deepEqual(same.shape, [3])
    assert.equal(same.base, t)
    t.set(9, 0)
    assert.equal(same.get(0), 9)
    assert.deepEqual(tensor(5).unsqueeze([0, 1]).toArray(), [[5]])
  })

  it('of a resized float32 tensor may grow as far as that one', () => {
    assert.equal(zeros([6]).resize([4]).unsqueeze([0, 2]).capacity, 6)
  })

  it('refuses axes outside and repeated ones, and more than 64', () => {
    const t = zeros([3])
    fails(() => t.unsqueeze([0, 3]), RangeError, 'ERR_BOUNDS', /axis is 3; there are 3 axes/)
    fails(() => t.unsqueeze([0, -4]), RangeError, 'ERR_BOUNDS', /axis is -4/)
    fails(
      () => t.unsqueeze([0, -3]),
      RangeError,
      'ERR_BOUNDS',
      /axis has -3, and so axis 0 repeated/,
    )
    fails(() => t.unsqueeze(Array.from({ length: 64 }, (_, d) => d)), RangeError, 'ERR_SHAPE', /64/)
    assert.equal(t.unsqueeze(Array.from({ length: 63 }, (_, d) => d)).ndim, 64)
  })
})

describe('mT', () => {
  agrees('mT', { seed: 105, call: (t) => t.mT, count: 100 }, ({ array, next }) => ({
    ...array(1 + next(5)),
    args: [],
  }))

  it('swaps the last two axes of float32; fewer are ERR_SHAPE', () => {
    const t = tensor([
      [
        [1, 2],
        [3, 4],
      ],
    ])
    assert.deepEqual(t.mT.toArray(), [
      [
        [1, 3],
        [2, 4],
      ],
    ])
    fails(() => tensor([1]).mT, RangeError, 'ERR_SHAPE', /mT/)
    fails(() => tensor(1).mT, RangeError, 'ERR_SHAPE', /mT/)
  })
})
