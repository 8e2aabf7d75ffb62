'use strict'
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { generator, refuses } = require('../setup')

describe('dimOrder', () => {
  it('lists the axes of float32 from outermost to innermost in memory', () => {
    assert.deepEqual(zeros([2, 3, 4]).dimOrder, [0, 1, 2])
    assert.deepEqual(zeros([2, 3, 4]).permute(2, 0, 1).dimOrder, [1, 2, 0])
    assert.deepEqual(zeros([2, 3, 4], { order: 'F' }).dimOrder, [2, 1, 0])
    assert.deepEqual(zeros([2, 3]).slice('::-1', '::-1').T.dimOrder, [1, 0])
    assert.deepEqual(tensor(1).dimOrder, [])
    assert.deepEqual(tensor([1, 2]).expand(3, 2).dimOrder, [1, 0]) // repeated elements are nearest
    assert.deepEqual(zeros([4, 0, 2]).dimOrder, [0, 1, 2])
    assert.deepEqual(
      fromBlob(new Float32Array(24), [2, 3, 4], { dimOrder: [1, 2, 0] }).dimOrder,
      [1, 2, 0],
    )
  })

  it('sees past axes of one element: the row of a channels-last picture', () => {
    const t = zeros([2, 3, 1, 4]).toMemoryFormat('channels_last')
    assert.deepEqual(t.dimOrder, [0, 2, 3, 1])
    assert.deepEqual(t.clone().strides, t.strides)
    assert.deepEqual(t.clone().isContiguous('channels_last'), true)
    assert.deepEqual(zeros([2, 3, 4, 1]).toMemoryFormat('channels_last').dimOrder, [0, 2, 3, 1])
    assert.deepEqual(zeros([1, 3, 4, 4]).toMemoryFormat('channels_last').dimOrder, [0, 2, 3, 1])
    assert.deepEqual(zeros([2, 1, 3]).permute(2, 1, 0).dimOrder, [2, 1, 0])
  })

  it("is a list of the caller's own", () => {
    const t = zeros([1, 3, 2, 2]).toMemoryFormat('channels_last').resize([1, 1, 2, 2])
    t.dimOrder.fill(9)
    assert.deepEqual(t.dimOrder, [0, 2, 3, 1])
    t.dispose()
    refuses(() => t.dimOrder, 'ERR_DISPOSED')
  })

  it('is kept by clone and astype of int8, whatever the order of its axes', () => {
    const { next, shuffle } = generator(112)
    for (let round = 0; round < 300; round++) {
      const order = shuffle(Array.from({ length: next(6) }, (_, d) => d))
      const t = zeros(
        order.map(() => 2 + next(2)),
        'int8',
      ).permute(order)
      assert.deepEqual(
        t.dimOrder.map((d) => order[d]),
        order.map((_, d) => d),
      )
      for (const copy of [t.clone(), t.astype('float64')]) {
        assert.deepEqual(copy.strides, t.strides)
        assert.deepEqual(copy.dimOrder, t.dimOrder)
      }
    }
  })
})
