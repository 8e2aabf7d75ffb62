'use strict'
const assert = require('node:assert/strict')
const { backend, empty, sharesMemory, tensor, zeros } = require('samebytes')
const { assertView, copied, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

// What all views have in common; the files named after a view hold its own rules.
const VIEWS = {
  slice: [
    (t) => t.slice('1:', '::2'),
    [
      [1, 0],
      [1, 2],
    ],
  ],
  'slice, reversed': [
    (t) => t.slice('::-1', '::-1'),
    [
      [1, 2],
      [1, 1],
      [1, 0],
      [0, 2],
      [0, 1],
      [0, 0],
    ],
  ],
  select: [
    (t) => t.select(1, 2),
    [
      [0, 2],
      [1, 2],
    ],
  ],
  narrow: [
    (t) => t.narrow(1, 1, 2),
    [
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
    ],
  ],
  permute: [
    (t) => t.permute([1, 0]),
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
    ],
  ],
  transpose: [
    (t) => t.transpose(0, 1),
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
    ],
  ],
  T: [
    (t) => t.T,
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
    ],
  ],
  reshape: [
    (t) => t.reshape([3, 2]),
    [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
  view: [
    (t) => t.view([6]),
    [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
  unfold: [
    (t) => t.unfold(1, 2, 1),
    [
      [0, 0],
      [0, 1],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 1],
      [1, 2],
    ],
  ],
  flip: [
    (t) => t.flip(1),
    [
      [0, 2],
      [0, 1],
      [0, 0],
      [1, 2],
      [1, 1],
      [1, 0],
    ],
  ],
  diagonal: [
    (t) => t.diagonal(1),
    [
      [0, 1],
      [1, 2],
    ],
  ],
  mT: [
    (t) => t.mT,
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
    ],
  ],
  squeeze: [
    (t) => t.narrow(0, 1, 1).squeeze(),
    [
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
  unsqueeze: [
    (t) => t.unsqueeze(1),
    [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
  expand: [
    (t) => t.narrow(1, 2, 1).expand(2, 2),
    [
      [0, 2],
      [0, 2],
      [1, 2],
      [1, 2],
    ],
  ],
  split: [
    (t) => t.split([1, 2], 1)[1],
    [
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
    ],
  ],
  chunk: [
    (t) => t.chunk(2)[1],
    [
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
  unbind: [
    (t) => t.unbind(1)[0],
    [
      [0, 0],
      [1, 0],
    ],
  ],
  asStrided: [
    (t) => t.asStrided([2, 2], [3, -1], 2),
    [
      [0, 2],
      [0, 1],
      [1, 2],
      [1, 1],
    ],
  ],
  'get with fewer indices by select': [
    (t) => t.select(0, 1),
    [
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ],
}

function indices(shape) {
  let list = [[]]
  for (const extent of shape) {
    list = list.flatMap((head) => Array.from({ length: extent }, (_, i) => [...head, i]))
  }
  return list
}

describe('views', () => {
  for (const [name, [make, places]] of Object.entries(VIEWS)) {
    for (const { dtype, values } of SAMPLES) {
      it(`${name}: ${dtype} elements are the base's, both ways, without a copy`, () => {
        const t = tensor(values, [2, 3], { dtype })
        const view = assertView(t, () => make(t))
        const flat = indices([...view.shape])
        assert.equal(flat.length, places.length)
        assert.deepEqual(
          flat.map((i) => view.get(...i)),
          places.map((i) => t.get(...i)),
        )
        flat.forEach((i, k) => {
          const value = values[(k * 5 + 1) % 6]
          view.set(value, ...i)
          assert.deepEqual(t.get(...places[k]), value)
          t.set(values[k % 6], ...places[k])
          assert.deepEqual(view.get(...i), values[k % 6])
        })
      })
    }

    it(`${name}: a float32 view knows its base and shares its memory`, () => {
      const t = zeros([2, 3])
      const view = make(t)
      assert.equal(view.isView, true)
      assert.equal(view.base, t)
      assert.equal(sharesMemory(t, view), true)
      assert.equal(view.dtype, 'float32')
      assert.equal(make(t).base, t)
    })

    it(`${name}: a float32 view outlives its base`, () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ])
      const view = make(t)
      const before = view.toArray()
      t.dispose()
      const others = Array.from({ length: 50 }, () =>
        tensor([
          [9, 9, 9],
          [9, 9, 9],
        ]),
      )
      assert.equal(view.isDisposed, false)
      assert.deepEqual(view.toArray(), before)
      assert.equal(others.length, 50)
    })

    it(`${name}: disposing a float32 view leaves its base alone`, () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ])
      const view = make(t)
      view.dispose()
      assert.equal(view.isDisposed, true)
      assert.deepEqual(t.toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
    })
  }

  it('of a float32 view have the root as their base', () => {
    const t = zeros([4, 4])
    const inner = t.slice('1:').T.select(0, 0)
    assert.equal(inner.base, t)
  })

  it('have the address of their first element', () => {
    const t = zeros([4, 5], 'float64')
    const v = t.slice('1:', '2:')
    assert.equal(v.dataPtr - t.dataPtr, 56n)
    assert.equal(t.T.dataPtr, t.dataPtr)
    assert.equal(t.slice('::-1').dataPtr - t.dataPtr, 120n)
  })

  it('of float32 tensors without elements work and have no address', () => {
    const t = zeros([0, 3])
    assert.deepEqual([...t.T.shape], [3, 0])
    assert.deepEqual([...t.slice('...', '1:').shape], [0, 2])
    assert.deepEqual([...t.select(1, 2).shape], [0])
    assert.deepEqual([...t.narrow(0, 0, 0).shape], [0, 3])
    assert.deepEqual([...t.reshape([3, 0]).shape], [3, 0])
    assert.equal(t.T.dataPtr, 0n)
    assert.deepEqual(t.T.toArray(), [[], [], []])
    refuses(() => t.select(0, 0), 'ERR_BOUNDS')
  })

  it('of a rank-0 float32 tensor work', () => {
    const t = tensor(5)
    assert.equal(t.permute([]).item(), 5)
    assert.deepEqual(t.reshape([1, 1]).toArray(), [[5]])
    assert.deepEqual(t.slice(null).toArray(), [5])
    assert.equal(t.slice('...').item(), 5)
    assert.equal(t.view([]).item(), 5)
    refuses(() => t.select(0, 0), 'ERR_BOUNDS')
    refuses(() => t.narrow(0, 0, 1), 'ERR_BOUNDS')
  })

  it('chain over a hundred thousand steps', () => {
    let t = tensor([1, 2, 3, 4])
    for (let i = 0; i < 100000; i++) t = t.slice('::-1')
    assert.deepEqual(t.toArray(), [1, 2, 3, 4])
  })
})

describe('sharesMemory', () => {
  it('is judged by bytes, not by base, for float32', () => {
    const t = zeros([6])
    assert.equal(sharesMemory(t.narrow(0, 0, 3), t.narrow(0, 3, 3)), false)
    assert.equal(sharesMemory(t.narrow(0, 0, 4), t.narrow(0, 3, 3)), true)
    assert.equal(sharesMemory(t.slice('::2'), t.slice('1::2')), false)
    assert.equal(sharesMemory(t.slice('::2'), t.slice('::3')), true)
    assert.equal(sharesMemory(t, t), true)
    assert.equal(sharesMemory(t, zeros([6])), false)
    assert.equal(sharesMemory(t, t.clone()), false)
  })

  it('is judged by address across tensors of one Float32Array', () => {
    const { fromBlob } = require('samebytes')
    const source = new Float32Array(8)
    const a = fromBlob(source, [4])
    const b = fromBlob(source.subarray(2), [4])
    const c = fromBlob(source.subarray(4), [4])
    assert.equal(sharesMemory(a, b), true)
    assert.equal(sharesMemory(a, c), false)
    assert.equal(sharesMemory(a, fromBlob(source.buffer, [1], { dtype: 'int8', offset: 15 })), true)
    assert.equal(
      sharesMemory(a, fromBlob(source.buffer, [1], { dtype: 'int8', offset: 16 })),
      false,
    )
  })

  it('is false without elements, and for neighbours in one block', () => {
    const t = zeros([4])
    assert.equal(sharesMemory(t.narrow(0, 0, 0), t), false)
    const many = Array.from({ length: 20 }, () => empty([2]))
    for (const other of many.slice(1)) assert.equal(sharesMemory(many[0], other), false)
  })

  it('refuses what is no tensor', () => {
    refuses(() => sharesMemory(zeros([1]), new Float32Array(1)), 'ERR_ARGUMENT')
    refuses(() => sharesMemory(zeros([1])), 'ERR_ARGUMENT')
    refuses(() => sharesMemory(), 'ERR_ARGUMENT')
  })
})

describe('isContiguous', () => {
  it('ignores axes of extent 1 and is true without elements, for int8', () => {
    const t = zeros([2, 3], 'int8')
    assert.equal(t.isContiguous(), true)
    assert.equal(t.T.isContiguous(), false)
    assert.equal(t.narrow(0, 1, 1).isContiguous(), true)
    assert.equal(t.narrow(1, 1, 1).isContiguous(), false)
    assert.equal(t.slice(null, 0).isContiguous(), true)
    assert.equal(t.slice('::-1').isContiguous(), false)
    assert.equal(t.narrow(0, 0, 1).slice('::-1').isContiguous(), true)
    assert.equal(t.narrow(1, 0, 0).isContiguous(), true)
    assert.equal(zeros([1, 5, 1], 'int8').permute([2, 1, 0]).isContiguous(), true)
  })
})

describe('contiguous', () => {
  for (const { dtype, values, itemsize } of SAMPLES) {
    it(`copies a transposed ${dtype} tensor, and counts it`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const { result, copies } = copied(() => t.T.contiguous())
      assert.deepEqual(copies, { contiguous: { count: 1, bytes: 6 * itemsize } })
      const [a, b, c, d, e, f] = values
      assert.deepEqual(result.toArray(), [
        [a, d],
        [b, e],
        [c, f],
      ])
      assert.deepEqual([...result.strides], [2, 1])
      assert.equal(sharesMemory(result, t), false)
    })
  }

  it('copies nothing of a float32 tensor that is row-major already', () => {
    const t = zeros([2, 3])
    const { result, copies } = copied(() => t.contiguous())
    assert.deepEqual(copies, {})
    assert.equal(sharesMemory(result, t), true)
    if (backend() === 'native') assert.equal(result.dataPtr, t.dataPtr)
  })
})
