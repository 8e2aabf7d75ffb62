'use strict'
const assert = require('node:assert/strict')
const { sharesMemory, tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { copied, fails, refuses } = require('../setup')

const FORMATS = { channels_last: [4], channels_last_3d: [5] } // PyTorch's ranks

describe('toMemoryFormat and isContiguous', () => {
  const call = (t, [format]) => [
    t.toMemoryFormat(format),
    tensor(Number(t.isContiguous(format)), 'int32'),
  ]
  agrees('memoryFormat', { seed: 111, needs: 'PyTorch', call }, ({ array, next, pick }) => {
    const format = pick(['contiguous', ...Object.keys(FORMATS)])
    const one = array(pick(FORMATS[format] ?? [0, 1, 2, 3, 4]), {
      negative: false,
      extents: [1, 2, 2, 3],
    })
    // Without elements PyTorch keeps strides; here they have no say.
    return one.shape.includes(0)
      ? { shape: [], before: [], args: ['contiguous'] }
      : { ...one, args: [format] }
  })

  it('lays float32 out with the channels innermost, the same values in logical order', () => {
    const t = tensor(
      new Float32Array(24).map((_, i) => i),
      [1, 2, 3, 4],
    )
    const { result, copies } = copied(() => t.toMemoryFormat('channels_last'))
    assert.deepEqual(copies, { toMemoryFormat: { count: 1, bytes: 96 } })
    assert.deepEqual(result.strides, [24, 1, 8, 2])
    assert.deepEqual(result.dimOrder, [0, 2, 3, 1])
    assert.deepEqual(result.toArray(), t.toArray())
    assert.deepEqual(result.permute(0, 2, 3, 1).data.slice(0, 4), Float32Array.of(0, 12, 1, 13))
    assert.equal(result.isContiguous('channels_last'), true)
    assert.equal(result.isContiguous(), false)
    assert.equal(t.isContiguous('channels_last'), false)
    assert.equal(t.isContiguous('contiguous'), true)
  })

  it('gives the float32 tensor itself where it lies so already', () => {
    const t = zeros([2, 3, 4, 4]).toMemoryFormat('channels_last')
    for (const [u, format] of [
      [t, 'channels_last'],
      [zeros([3]), 'contiguous'],
      [zeros([2, 1, 4, 4]), 'channels_last'],
      [zeros([2, 0, 4, 4]), 'channels_last'],
    ]) {
      const { result, copies } = copied(() => u.toMemoryFormat(format))
      assert.equal(result, u)
      assert.deepEqual(copies, {})
    }
    assert.equal(sharesMemory(t.toMemoryFormat('contiguous'), t), false)
  })

  it('keeps dynamism, and has five axes for videos', () => {
    const t = zeros([1, 2, 2, 2, 2], { dynamism: 'unbound' })
    for (const format of ['channels_last', 'channels_last_3d']) {
      const u = t.toMemoryFormat(format)
      assert.deepEqual(u.strides, [16, 1, 8, 4, 2])
      assert.equal(u.dynamism, 'unbound')
      assert.equal(u.isContiguous(format), true)
    }
  })

  it('refuses formats that are none, and other ranks', () => {
    for (const ndim of [0, 1, 3, 6]) {
      const t = zeros(new Array(ndim).fill(1))
      fails(
        () => t.toMemoryFormat('channels_last'),
        RangeError,
        'ERR_SHAPE',
        new RegExp(`4 or 5 axes; the tensor has ${ndim}`),
      )
      fails(() => t.isContiguous('channels_last'), RangeError, 'ERR_SHAPE')
    }
    const t = zeros([1, 1, 1, 1])
    fails(() => t.toMemoryFormat('channels_last_3d'), RangeError, 'ERR_SHAPE', /5 axes/)
    for (const bad of ['nhwc', '', 'constructor', null, 4, {}, [], 1n, Symbol('s')]) {
      refuses(() => t.toMemoryFormat(bad), 'ERR_ARGUMENT')
      refuses(() => t.isContiguous(bad), 'ERR_ARGUMENT')
    }
    fails(() => t.toMemoryFormat(), TypeError, 'ERR_ARGUMENT', /memoryFormat is undefined/)
  })
})
