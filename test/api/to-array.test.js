'use strict'
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { copied, fromHex } = require('../setup')
const { SAMPLES } = require('../tables')

describe('toArray and tolist', () => {
  for (const { dtype, values, bytes } of SAMPLES) {
    const [a, b, c, d, e, f] = values

    it(`nest ${dtype} values by shape`, () => {
      const t = fromBlob(fromHex(bytes), [1, 2, 3], { dtype })
      assert.deepEqual(t.toArray(), [
        [
          [a, b, c],
          [d, e, f],
        ],
      ])
      assert.deepEqual(t.tolist(), [
        [
          [a, b, c],
          [d, e, f],
        ],
      ])
    })

    it(`read ${dtype} of rank 0, strided, reversed and without elements`, () => {
      const t = fromBlob(fromHex(bytes), [6], { dtype })
      assert.deepEqual(t.select(0, 2).toArray(), c)
      assert.deepEqual(t.slice('::-2').toArray(), [f, d, b])
      assert.deepEqual(t.view([2, 2], { strides: [0, 3] }).toArray(), [
        [a, d],
        [a, d],
      ])
      assert.deepEqual(t.narrow(0, 3, 0).toArray(), [])
    })
  }

  it('keep the axes of float32 tensors without elements', () => {
    assert.deepEqual(zeros([2, 0]).toArray(), [[], []])
    assert.deepEqual(zeros([0, 2]).toArray(), [])
    assert.deepEqual(zeros([1, 2, 0, 3]).toArray(), [[[], []]])
  })

  it('give arrays of their own: float32', () => {
    const t = tensor([[1, 2]])
    const list = t.toArray()
    list[0][0] = 9
    assert.equal(t.get(0, 0), 1)
    assert.notEqual(t.toArray()[0], t.toArray()[0])
  })

  it('read rank 64', () => {
    let list = tensor([7], new Array(64).fill(1)).toArray()
    for (let d = 0; d < 64; d++) list = list[0]
    assert.equal(list, 7)
  })

  it('read 100,000 int32', () => {
    const t = tensor(
      new Int32Array(100000).map((_, i) => i * 3),
      [100, 1000],
    )
    const list = t.T.toArray()
    assert.equal(list.length, 1000)
    assert.equal(list[999][99], 299997)
    assert.equal(list[1][1], 3003)
  })

  it('count no copy', () => {
    const t = zeros([2, 2])
    assert.deepEqual(copied(() => t.T.toArray()).copies, {})
  })
})
