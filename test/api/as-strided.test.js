'use strict'
const assert = require('node:assert/strict')
const { empty, fromBlob, tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, refusedUnchanged, refuses } = require('../setup')

describe('asStrided', () => {
  agrees('asStrided', { seed: 110, needs: 'PyTorch' }, ({ next, pick }) => {
    const n = 1 + next(40)
    const shape = Array.from({ length: next(4) }, () => pick([1, 2, 2, 3, 4, 0]))
    const strides = shape.map(() => pick([0, 1, 1, 2, 3, 5]))
    return { shape: [n], before: [], args: [shape, strides, shape.includes(0) ? 0 : next(6)] } // PyTorch lets what has no elements lie anywhere
  })

  it('shows any layout inside the storage of int32, from its first byte on, backwards too', () => {
    const t = tensor([0, 1, 2, 3, 4, 5], 'int32')
    assert.deepEqual(t.asStrided([3, 2], [1, 1]).toArray(), [
      [0, 1],
      [1, 2],
      [2, 3],
    ])
    assert.deepEqual(t.asStrided([3], [-2], 5).toArray(), [5, 3, 1])
    assert.deepEqual(t.asStrided(3, [2], 1).toArray(), [1, 3, 5])
    assert.equal(t.asStrided([], [], 4).item(), 4)
    const part = t.narrow(0, 2, 2)
    assert.deepEqual(part.asStrided([2], [1]).toArray(), [2, 3]) // from where it is
    assert.deepEqual(part.asStrided([6], [1], 0).toArray(), [0, 1, 2, 3, 4, 5]) // all of the storage
    assert.equal(part.asStrided([6], [1], 0).offset, 0)
  })

  it('reaches all of a blob, also what its float32 tensor does not show', () => {
    const source = Float32Array.of(1, 2, 3, 4)
    const t = fromBlob(source, [2], { offset: 1 })
    assert.deepEqual(t.asStrided([4], [1], 0).toArray(), [1, 2, 3, 4])
    t.asStrided([1], [1], 3).fill(9)
    assert.equal(source[3], 9)
  })

  it('leaves the storage nowhere: small float32 tensors have neighbours', () => {
    const many = Array.from({ length: 20 }, () => empty([3]).fill(1))
    for (const t of many) {
      fails(
        () => t.asStrided([4], [1], 0),
        RangeError,
        'ERR_BOUNDS',
        /elements 0 to 3; the source has 3/,
      )
      fails(() => t.asStrided([1], [1], -1), RangeError, 'ERR_BOUNDS')
      fails(() => t.asStrided([1], [1], 3), RangeError, 'ERR_BOUNDS')
      fails(() => t.asStrided([2], [-1], 0), RangeError, 'ERR_BOUNDS')
      fails(() => t.asStrided([2], [2 ** 53 - 1], 1), RangeError, 'ERR_BOUNDS')
      fails(() => t.asStrided([3, 3], [1, 1], 0), RangeError, 'ERR_BOUNDS')
      assert.deepEqual(t.asStrided([0], [5], 3).toArray(), [])
      fails(() => t.asStrided([0], [5], 4), RangeError, 'ERR_BOUNDS')
    }
    assert.ok(many.every((t) => t.toArray().every((x) => x === 1)))
  })

  it('reaches no further after a resize, of the float32 tensor or of its view', () => {
    const t = zeros([4, 2])
    t.resize(1, 2)
    assert.equal(t.asStrided([8], [1], 0).size, 8)
    fails(() => t.asStrided([9], [1], 0), RangeError, 'ERR_BOUNDS')
    const v = t.asStrided([2], [1], 6)
    assert.equal(v.capacity, 2)
    fails(() => v.resize(3), RangeError, 'ERR_SHAPE')
    t.setData(zeros([2]))
    fails(() => t.asStrided([3], [1], 0), RangeError, 'ERR_BOUNDS')
    assert.equal(v.asStrided([8], [1], 0).size, 8) // the old bytes
  })

  it('refuses strides that are too few, too many or none', () => {
    const t = tensor([1, 2, 3, 4])
    fails(
      () => t.asStrided([2, 2], [1]),
      RangeError,
      'ERR_SHAPE',
      /strides has 1 entries; the shape has 2/,
    )
    fails(() => t.asStrided([2], [1, 1]), RangeError, 'ERR_SHAPE')
    fails(() => t.asStrided([-1], [1]), RangeError, 'ERR_SHAPE', /shape\[0\] is -1/)
    fails(() => t.asStrided(new Array(65).fill(1), new Array(65).fill(1)), RangeError, 'ERR_SHAPE')
    fails(() => t.asStrided([2 ** 31, 2 ** 31], [0, 0]), RangeError, 'ERR_SHAPE')
    for (const bad of [undefined, null, '1', true, {}, 1n]) {
      refusedUnchanged(t, () => t.asStrided(bad, [1]), 'ERR_ARGUMENT')
      refusedUnchanged(t, () => t.asStrided([1], bad), 'ERR_ARGUMENT')
      refusedUnchanged(t, () => t.asStrided([1], [bad]), 'ERR_ARGUMENT')
      if (bad !== undefined) refusedUnchanged(t, () => t.asStrided([1], [1], bad), 'ERR_ARGUMENT')
    }
    refuses(() => t.asStrided([1], [NaN]), 'ERR_BOUNDS')
  })
})
