'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, refusedUnchanged } = require('../setup')

describe('squeeze', () => {
  agrees('squeeze', { seed: 103 }, ({ array, next, pick, shuffle }) => {
    const one = array(next(6), { extents: [1, 1, 1, 2, 3] })
    const ones = one.now.flatMap((n, d) => n === 1 ? [pick([d, d - one.now.length])] : [])
    const some = shuffle(ones).slice(0, 1 + next(3))
    return { ...one, args: pick([[], [some], [some[0] ?? 0], [next(9) - 4]]) }
  })

  it('drops axes of one element of int32 and no others', () => {
    const t = zeros([1, 3, 1], 'int32')
    assert.deepEqual(t.squeeze().shape, [3])
    assert.deepEqual(t.squeeze(0).shape, [3, 1])
    assert.deepEqual(t.squeeze([-1, 0]).shape, [3])
    assert.deepEqual(t.squeeze([]).shape, [1, 3, 1])
    assert.equal(tensor([[[5]]]).squeeze().item(), 5)
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
    for (const bad of [null, '0', true, {}, 1n, () => 0, Symbol('s')]) refusedUnchanged(t, () => t.squeeze(bad), 'ERR_ARGUMENT')
    for (const bad of [NaN, 0.5, -Infinity, 2 ** 53]) refusedUnchanged(t, () => t.squeeze(bad), 'ERR_BOUNDS')
  })
})

describe('unsqueeze', () => {
  agrees('unsqueeze', { seed: 104 }, ({ array, next }) => {
    const ndim = next(5)
    return { ...array(ndim), args: [next(2 * ndim + 4) - ndim - 2] }
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
    for (const bad of [undefined, null, '0', true, [0], 1n]) refusedUnchanged(t, () => t.unsqueeze(bad), 'ERR_ARGUMENT')
  })
})

describe('mT', () => {
  agrees('mT', { seed: 105, call: t => t.mT, count: 100 }, ({ array, next }) => ({ ...array(1 + next(5)), args: [] }))

  it('swaps the last two axes of float32; fewer are ERR_SHAPE', () => {
    const t = tensor([[[1, 2], [3, 4]]])
    assert.deepEqual(t.mT.toArray(), [[[1, 3], [2, 4]]])
    fails(() => tensor([1]).mT, RangeError, 'ERR_SHAPE', /mT/)
    fails(() => tensor(1).mT, RangeError, 'ERR_SHAPE', /mT/)
  })
})
