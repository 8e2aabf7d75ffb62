'use strict'
const assert = require('node:assert/strict')
const { sharesMemory, tensor, zeros } = require('samebytes')
const { copied, fails, refusedUnchanged, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

describe('reshape', () => {
  it('is a view of a row-major float32 tensor: nothing is copied', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result, copies } = copied(() => t.reshape([3, 2]))
    assert.deepEqual(copies, {})
    assert.deepEqual(result.toArray(), [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    result.set(9, 2, 1)
    assert.equal(t.get(1, 2), 9)
    assert.equal(result.dataPtr, t.dataPtr)
  })

  for (const {
    dtype,
    values: [a, b, c, d, e, f],
    itemsize,
  } of SAMPLES) {
    it(`copies a transposed ${dtype} tensor where a view cannot keep the order`, () => {
      const t = tensor([a, b, c, d, e, f], [2, 3], { dtype })
      const { result, copies } = copied(() => t.T.reshape([2, 3]))
      assert.deepEqual(copies, { reshape: { count: 1, bytes: 6 * itemsize } })
      assert.deepEqual(result.toArray(), [
        [a, d, b],
        [e, c, f],
      ])
      assert.equal(sharesMemory(result, t), false)
      assert.equal(result.isView, false)
    })
  }

  it('is a view where only some axes of a strided int32 tensor merge or split', () => {
    const t = zeros([4, 6, 5], 'int32').slice('...', '1:4')
    const { result, copies } = copied(() => t.reshape([2, 12, 3]))
    assert.deepEqual(copies, {})
    assert.deepEqual([...result.strides], [60, 5, 1])
    const split = copied(() => t.reshape([4, 2, 3, 3]))
    assert.deepEqual(split.copies, {})
    assert.deepEqual([...split.result.strides], [30, 15, 5, 1])
    assert.deepEqual(copied(() => t.reshape([24, 3])).copies, {})
    assert.deepEqual(copied(() => t.reshape([4, 18])).copies, { reshape: { count: 1, bytes: 288 } })
  })

  it('is a view of reversed float32 elements', () => {
    const t = tensor([1, 2, 3, 4, 5, 6]).slice('::-1')
    const { result, copies } = copied(() => t.reshape([2, 3]))
    assert.deepEqual(copies, {})
    assert.deepEqual(result.toArray(), [
      [6, 5, 4],
      [3, 2, 1],
    ])
  })

  it('infers -1 and takes arguments instead of a list', () => {
    const t = zeros([2, 3, 4])
    assert.deepEqual([...t.reshape([-1]).shape], [24])
    assert.deepEqual([...t.reshape([4, -1, 2]).shape], [4, 3, 2])
    assert.deepEqual([...t.reshape(-1, 8).shape], [3, 8])
    assert.deepEqual([...t.reshape(6, 4).shape], [6, 4])
    assert.deepEqual([...t.reshape(24).shape], [24])
    assert.deepEqual([...zeros([1]).reshape([]).shape], [])
  })

  it('keeps float32 tensors without elements, -1 included where it is determined', () => {
    assert.deepEqual([...zeros([0, 3]).reshape([3, 0, 2]).shape], [3, 0, 2])
    assert.deepEqual([...zeros([0, 3]).reshape([-1, 3]).shape], [0, 3])
    fails(() => zeros([0, 3]).reshape([-1, 0]), RangeError, 'ERR_SHAPE')
  })

  it('refuses another count, two -1, negative extents', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(() => t.reshape([4]), RangeError, 'ERR_SHAPE', /6|4/)
    fails(() => t.reshape([-1, -1]), RangeError, 'ERR_SHAPE')
    fails(() => t.reshape([-1, 4]), RangeError, 'ERR_SHAPE')
    fails(() => t.reshape([-2, -3]), RangeError, 'ERR_SHAPE')
    fails(() => t.reshape([]), RangeError, 'ERR_SHAPE')
    fails(() => t.reshape(new Array(65).fill(1)), RangeError, 'ERR_SHAPE')
    refuses(() => t.reshape([2 ** 32, 2 ** 32, 6]), 'ERR_SHAPE')
    refuses(() => t.reshape([2 ** 52, 2 ** 12, -1]), 'ERR_SHAPE')
    for (const bad of ['6', [6.5], [NaN], ['6'], [6n], [[6]], null, {}, [undefined]]) {
      refusedUnchanged(t, () => t.reshape(bad), 'ERR_ARGUMENT', 'ERR_SHAPE')
    }
  })

  it('throws instead of copying when told { copy: false }', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(t.reshape([6], { copy: false }).toArray(), [1, 2, 3, 4, 5, 6])
    refusedUnchanged(t, () => t.T.reshape([6], { copy: false }), 'ERR_SHAPE')
  })
})
