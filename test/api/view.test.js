'use strict'
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { copied, fails, fromHex, hex, refusedUnchanged, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

describe('view', () => {
  it('gives float32 elements another shape without a copy', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result, copies } = copied(() => t.view([3, -1]))
    assert.deepEqual(copies, {})
    assert.deepEqual(result.toArray(), [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    result.set(60, 2, 1)
    assert.equal(t.get(1, 2), 60)
  })

  it('without arguments is the same float32 elements again', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ]).T
    assert.deepEqual(t.view().toArray(), [
      [1, 3],
      [2, 4],
    ])
  })

  it('names reshape where the logical order cannot be kept', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(() => t.T.view([6]), RangeError, 'ERR_SHAPE', /reshape/)
    fails(() => t.slice(':', ':2').view([4]), RangeError, 'ERR_SHAPE', /reshape/)
  })

  it('takes any strides inside the bytes: overlapping, zero and negative', () => {
    const t = tensor([0, 1, 2, 3, 4, 5], 'int32')
    assert.deepEqual(t.view([3, 2], { strides: [1, 1] }).toArray(), [
      [0, 1],
      [1, 2],
      [2, 3],
    ])
    assert.deepEqual(t.view([2, 3], { strides: [0, 2] }).toArray(), [
      [0, 2, 4],
      [0, 2, 4],
    ])
    assert.deepEqual(t.view([3], { strides: [-2], offset: 5 }).toArray(), [5, 3, 1])
    assert.deepEqual(t.view([2, 2], { strides: [-3, 1], offset: 3 }).toArray(), [
      [3, 4],
      [0, 1],
    ])
  })

  it('counts offset from its own first element, for int32', () => {
    const t = tensor([0, 1, 2, 3, 4, 5, 6, 7], 'int32').slice('2:')
    assert.deepEqual(t.view([2], { offset: 3 }).toArray(), [5, 6])
    assert.deepEqual(t.view([2, 2], { offset: 1, strides: [2, 1] }).toArray(), [
      [3, 4],
      [5, 6],
    ])
  })

  it('stores axes in the dim order asked for', () => {
    const t = tensor([0, 1, 2, 3, 4, 5], 'int32')
    const v = t.view([2, 3], { dimOrder: [1, 0] })
    assert.deepEqual([...v.strides], [1, 2])
    assert.deepEqual(v.toArray(), [
      [0, 2, 4],
      [1, 3, 5],
    ])
  })

  it('refuses strides that leave the bytes', () => {
    const t = tensor([0, 1, 2, 3, 4, 5], 'int32')
    const bad = [
      [[2], { strides: [6] }],
      [[2], { strides: [-1] }],
      [[7], { strides: [1] }],
      [[2, 2], { strides: [5, 1] }],
      [[2], { strides: [4503599627370496] }],
      [[2], { strides: [-4503599627370496] }],
      [[3], { strides: [4503599627370496] }],
      [[6], { offset: 1, strides: [1] }],
      [[1], { offset: 6 }],
      [[1], { offset: -1 }],
      [[4503599627370496, 2], { strides: [0, 6] }],
    ]
    for (const [shape, opts] of bad) refusedUnchanged(t, () => t.view(shape, opts), 'ERR_BOUNDS')
    refusedUnchanged(t, () =>
      t.view([2 ** 53 - 1, 2 ** 53 - 1], { strides: [2 ** 53 - 1, 2 ** 53 - 1] }),
    )
  })

  it('refuses another count of strides, and dim orders that are none', () => {
    const t = tensor([0, 1, 2, 3, 4, 5])
    fails(() => t.view([2, 3], { strides: [1] }), RangeError, 'ERR_SHAPE')
    fails(() => t.view([2, 3], { strides: [3, 1, 1] }), RangeError, 'ERR_SHAPE')
    for (const dimOrder of [[0], [0, 0], [0, 2], [-3, 0], [0, 1, 2]]) {
      fails(() => t.view([2, 3], { dimOrder }), RangeError, 'ERR_SHAPE')
    }
  })

  it('takes strides and dim order together only where they agree', () => {
    const t = zeros([12])
    assert.deepEqual([...t.view([2, 3], { strides: [1, 2], dimOrder: [1, 0] }).strides], [1, 2])
    assert.deepEqual([...t.view([2, 3], { strides: [1, 4], dimOrder: [1, 0] }).strides], [1, 4])
    fails(() => t.view([2, 3], { strides: [3, 1], dimOrder: [1, 0] }), RangeError, 'ERR_SHAPE')
  })

  it('refuses another count of elements', () => {
    fails(() => zeros([2, 3]).view([4]), RangeError, 'ERR_SHAPE')
    fails(() => zeros([2, 3]).view([-1, -1]), RangeError, 'ERR_SHAPE')
    refuses(() => zeros([2, 3]).view([2, 3], { strides: 'x' }), 'ERR_ARGUMENT')
    refuses(() => zeros([2, 3]).view([2, 3], { strides: [1.5, 1] }), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    refuses(() => zeros([2, 3]).view([2, 3], { offset: '1' }), 'ERR_ARGUMENT')
  })

  describe('to another dtype', () => {
    for (const { dtype, values, bytes, itemsize } of SAMPLES) {
      it(`shows ${dtype} as uint8 bytes and back`, () => {
        const t = tensor(values, [2, 3], { dtype })
        const raw = t.view('uint8')
        assert.deepEqual([...raw.shape], [2, 3 * itemsize])
        assert.equal(hex(raw), bytes)
        const back = raw.view({ dtype })
        assert.deepEqual([...back.shape], [2, 3])
        assert.deepEqual(back.toArray(), t.toArray())
        raw.zero()
        assert.equal(hex(t), '00'.repeat(bytes.length / 2))
      })
    }

    it('shows float32 1 as int32 1065353216', () => {
      const t = tensor([[1, -2]])
      assert.deepEqual(t.view('int32').toArray(), [[1065353216, -1073741824]])
      assert.deepEqual(t.T.view('int32').toArray(), [[1065353216], [-1073741824]])
    })

    it('halves the last axis from float32 to float64', () => {
      const t = fromBlob(fromHex('9a9999999999b93f000000000000f8bf'), [1, 4], { dtype: 'float32' })
      assert.deepEqual(t.view('float64').toArray(), [[0.1, -1.5]])
    })

    it('needs a dense last axis where the item size changes', () => {
      const t = zeros([4, 4])
      fails(() => t.T.view('uint8'), RangeError, 'ERR_SHAPE')
      fails(() => t.slice(':', '::2').view('float64'), RangeError, 'ERR_SHAPE')
      assert.deepEqual([...t.slice('::2').view('float64').shape], [2, 2])
      assert.deepEqual([...t.slice('::-1').view('uint8').strides], [-16, 1])
    })

    it('needs bytes that divide, float32 [3] to float64', () => {
      fails(() => zeros([3]).view('float64'), RangeError, 'ERR_SHAPE')
      fails(() => zeros([]).view('uint8'), RangeError, 'ERR_SHAPE')
      assert.equal(zeros([]).view('int32').item(), 0)
    })

    it('needs alignment: float32 from element 1 is no float64', () => {
      refuses(() => zeros([5]).narrow(0, 1, 4).view('float64'), 'ERR_ALIGNMENT', 'ERR_SHAPE')
      assert.deepEqual([...zeros([6]).narrow(0, 2, 4).view('float64').shape], [2])
    })

    it('refuses unknown dtypes', () => {
      fails(() => zeros([3]).view('float'), TypeError, 'ERR_DTYPE')
    })

    it('goes with a shape: float32 [4] as uint8 [2, 8]', () => {
      const t = zeros([4])
      assert.deepEqual([...t.view([2, 8], { dtype: 'uint8' }).shape], [2, 8])
      assert.deepEqual([...t.view([2], 'float64').shape], [2])
      fails(() => t.view([3], 'float64'), RangeError, 'ERR_SHAPE')
    })
  })
})
