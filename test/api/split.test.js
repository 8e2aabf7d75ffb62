'use strict'
const assert = require('node:assert/strict')
const { memory, tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, makesNothing, refusedUnchanged, refuses, settledMemory } = require('../setup')

const arrays = (parts) => parts.map((t) => t.toArray())

describe('split', () => {
  agrees('split', { seed: 107 }, ({ array, next, pick }) => {
    const one = array(1 + next(4))
    const axis = next(one.now.length)
    let rest = one.now[axis]
    const sizes = []
    while (rest > 0 || next(3) === 0) {
      sizes.push(next(rest + 1))
      rest -= sizes.at(-1)
    }
    const wrong = [...sizes, pick([1, -1])]
    return {
      ...one,
      args: [
        pick([next(7) - 1, sizes, sizes, wrong]),
        pick([axis, axis - one.now.length, one.now.length]),
      ],
    }
  })

  it('cuts int32 into equal parts, or parts of given sizes', () => {
    const t = tensor([1, 2, 3, 4, 5], 'int32')
    assert.deepEqual(arrays(t.split(2)), [[1, 2], [3, 4], [5]])
    assert.deepEqual(arrays(t.split(9)), [[1, 2, 3, 4, 5]])
    assert.deepEqual(arrays(t.split([0, 4, 1])), [[], [1, 2, 3, 4], [5]])
    assert.deepEqual(arrays(t.split(Int32Array.of(1, 4))), [[1], [2, 3, 4, 5]])
    t.split(2)[1].fill(0)
    assert.deepEqual(t.toArray(), [1, 2, 0, 0, 5])
    assert.deepEqual(arrays(zeros([0]).split(3)), [[]])
    assert.deepEqual(arrays(zeros([0]).split(0)), [[]])
    assert.deepEqual(arrays(zeros([0]).split([])), [])
  })

  it('takes more sizes than a tensor has axes', () => {
    assert.equal(zeros([1000]).split(new Array(1000).fill(1)).length, 1000)
  })

  it('refuses sizes that are none, or not together the axis', () => {
    const t = tensor([1, 2, 3])
    fails(() => t.split(0), RangeError, 'ERR_BOUNDS', /size is 0/)
    fails(() => t.split(-1), RangeError, 'ERR_BOUNDS', /size is -1/)
    fails(() => zeros([0]).split(-1), RangeError, 'ERR_BOUNDS')
    fails(() => t.split([1, 1]), RangeError, 'ERR_SHAPE', /sizes are \[1, 1\].*3 elements/)
    fails(() => t.split([4, -1]), RangeError, 'ERR_SHAPE')
    fails(() => t.split([-1, 4]), RangeError, 'ERR_SHAPE')
    fails(() => t.split([2 ** 53 - 1, 2 ** 53 - 1, 3]), RangeError, 'ERR_SHAPE')
    fails(() => t.split(1, 1), RangeError, 'ERR_BOUNDS', /axis is 1/)
    fails(() => tensor(1).split(1), RangeError, 'ERR_BOUNDS')
    for (const bad of [undefined, null, '1', true, {}, 1n]) {
      refusedUnchanged(t, () => t.split(bad), 'ERR_ARGUMENT')
      refusedUnchanged(t, () => t.split([bad]), 'ERR_ARGUMENT')
      if (bad !== undefined) refusedUnchanged(t, () => t.split(1, bad), 'ERR_ARGUMENT')
    }
  })

  it('leaves no part behind where reading the sizes disposes of the float32 tensor, or resizes it', () => {
    for (const act of [(t) => t.dispose(), (t) => t.resize(1)]) {
      const t = zeros([4])
      const sizes = new Proxy([2, 2], {
        get(list, key) {
          if (key === '1') act(t)
          return list[key]
        },
      })
      const before = settledMemory().tensors
      refuses(() => t.split(sizes), 'ERR_DISPOSED', 'ERR_SHAPE')
      assert.equal(memory().tensors, t.isDisposed ? before - 1 : before)
    }
  })
})

describe('chunk', () => {
  agrees('chunk', { seed: 108, needs: 'PyTorch' }, ({ array, next, pick }) => {
    const one = array(1 + next(3), { negative: false, extents: [1, 2, 3, 5, 7, 10] })
    return { ...one, args: [next(9), next(2 * one.now.length + 1) - one.now.length] }
  })

  it('makes n parts of int32, fewer where the axis is short, n of nothing', () => {
    const t = tensor([1, 2, 3, 4, 5], 'int32')
    assert.deepEqual(arrays(t.chunk(2)), [
      [1, 2, 3],
      [4, 5],
    ])
    assert.deepEqual(arrays(t.chunk(4)), [[1, 2], [3, 4], [5]])
    assert.deepEqual(arrays(t.chunk(2 ** 53 - 1)), [[1], [2], [3], [4], [5]])
    assert.deepEqual(arrays(zeros([2, 0]).chunk(3, 1)), [
      [[], []],
      [[], []],
      [[], []],
    ])
    fails(() => t.chunk(0), RangeError, 'ERR_BOUNDS', /n is 0/)
    fails(() => t.chunk(-1), RangeError, 'ERR_BOUNDS')
    fails(() => t.chunk(1, 1), RangeError, 'ERR_BOUNDS', /axis is 1/)
    for (const bad of [undefined, null, '1', [1], 1n]) {
      refusedUnchanged(t, () => t.chunk(bad), 'ERR_ARGUMENT')
    }
  })

  it('of very long axes is cut to the element', () => {
    const t = tensor([1]).expand(2 ** 53 - 1)
    for (const n of [2, 3, 7, 1000, 2 ** 17 - 3]) {
      const parts = t.chunk(n)
      const size = Number((2n ** 53n - 1n + BigInt(n) - 1n) / BigInt(n))
      assert.equal(parts[0].size, size)
      assert.equal(
        BigInt(parts.length - 1) * BigInt(size) + BigInt(parts.at(-1).size),
        2n ** 53n - 1n,
      )
      assert.ok(parts.length <= n && parts.at(-1).size > 0)
    }
  })
})

describe('unbind', () => {
  agrees('unbind', { seed: 109 }, ({ array, next }) => {
    const ndim = 1 + next(4)
    return { ...array(ndim), args: [next(2 * ndim + 1) - ndim] }
  })

  it('gives one int32 view for each index, without the axis', () => {
    const t = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      'int32',
    )
    assert.deepEqual(arrays(t.unbind()), [
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(arrays(t.unbind(-1)), [
      [1, 3],
      [2, 4],
    ])
    assert.deepEqual(t.unbind(1)[1].fill(0) && t.toArray(), [
      [1, 0],
      [3, 0],
    ])
    assert.deepEqual(arrays(zeros([0, 3]).unbind()), [])
    fails(() => tensor(1).unbind(), RangeError, 'ERR_BOUNDS', /axis is 0; the tensor has 0 axes/)
    for (const bad of [null, '1', [1], 1n]) refusedUnchanged(t, () => t.unbind(bad), 'ERR_ARGUMENT')
  })
})

describe('more parts than a process can hold', () => {
  it('are ERR_MEMORY for split, chunk and unbind of float32, at once', () => {
    const t = tensor([1]).expand(2 ** 53 - 1)
    const none = zeros([0])
    makesNothing(() => {
      fails(() => t.unbind(), RangeError, 'ERR_MEMORY', /1048576/)
      fails(() => t.split(1), RangeError, 'ERR_MEMORY', /9007199254740991 parts/)
      fails(() => t.split(2 ** 30), RangeError, 'ERR_MEMORY')
      fails(() => t.chunk(2 ** 40), RangeError, 'ERR_MEMORY')
      fails(() => none.chunk(2 ** 40), RangeError, 'ERR_MEMORY')
    })
  })

  it('are ERR_SHAPE where as many sizes are given', () => {
    const endless = new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 32 - 1 : 0) })
    fails(() => zeros([3]).split(endless), RangeError, 'ERR_SHAPE', /sizes has 4294967295 entries/)
  })
})
