'use strict'
const assert = require('node:assert/strict')
const { backend, empty, fromBlob, full, rand, sharesMemory, tensor, zeros } = require('samebytes')
const {
  copied,
  fails,
  generator,
  leavesNothing,
  needs,
  refusedUnchanged,
  refuses,
  settledMemory,
  turn,
} = require('../setup')
const { SAMPLES } = require('../tables')

describe('resize', () => {
  for (const { dtype, values, itemsize } of SAMPLES) {
    it(`shows fewer ${dtype} elements over the same bytes, and all of them again`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const before = t.data
      const { result, copies } = copied(() => t.resize(2, 2))
      assert.equal(result, t)
      assert.deepEqual(copies, {})
      assert.deepEqual(
        [t.shape, t.strides, t.size, t.nbytes, t.capacity],
        [[2, 2], [2, 1], 4, 4 * itemsize, 6],
      )
      assert.deepEqual(t.toArray(), [values.slice(0, 2), values.slice(2, 4)])
      // Memory of several threads may grow by another one between two lines: then data is over another object at the same place.
      if (backend() !== 'wasm-shared') assert.equal(t.data.buffer, before.buffer)
      assert.equal(t.data.byteOffset, before.byteOffset)
      assert.equal(before.byteLength, 6 * itemsize)
      assert.deepEqual(
        t
          .resize([6, 1])
          .toArray()
          .flat(dtype.startsWith('complex') ? 1 : 2),
        values,
      )
    })

    it(`moves an unbound ${dtype} tensor that outgrows its capacity, with all that it had room for`, () => {
      const t = tensor(values, [6], { dtype, dynamism: 'unbound' })
      const view = t.view()
      const data = t.data
      t.resize(2)
      const { copies } = copied(() => t.resize(100))
      assert.deepEqual(copies, { resize: { count: 1, bytes: 6 * itemsize } })
      assert.deepEqual([t.size, t.capacity, t.isView, t.dynamism], [100, 100, false, 'unbound'])
      assert.deepEqual(t.narrow(0, 0, 6).toArray(), values)
      t.zero()
      assert.deepEqual(view.toArray(), values) // the old bytes
      assert.equal(data.length, dtype.startsWith('complex') ? 12 : 6)
      assert.equal(sharesMemory(t, view), false)
    })
  }

  it('takes any shape of the same rank within the capacity of float32, and counts no tensor or storage', () => {
    const { next } = generator(113)
    const t = rand([6, 5, 4])
    const all = t.view([120]).toArray()
    const rounds = (n) => {
      for (let round = 0; round < n; round++) {
        const shape = [next(12), next(12), next(12)]
        const size = shape.reduce((a, b) => a * b)
        if (size > 120) {
          refusedUnchanged(t, () => t.resize(shape), 'ERR_SHAPE')
          continue
        }
        t.resize(...shape)
        assert.deepEqual(t.shape, shape)
        assert.equal(t.capacity, 120)
        assert.deepEqual(t.toArray().flat(2), all.slice(0, size))
      }
    }
    leavesNothing(() => rounds(500))
    assert.equal(t.capacity, 120) // it is alive until here: a compiled loop forgets what nobody uses after it
  })

  it('keeps the order of axes in memory: channels last stays so, also through one channel and none', () => {
    const shape = [2, 3, 4, 4]
    const through = [
      [1, 3, 2, 2],
      [2, 1, 4, 4],
      [2, 0, 4, 4],
      [0, 3, 4, 4],
      [0, 0, 0, 0],
      [1, 1, 1, 1],
      [2, 3, 1, 4],
      [2, 3, 4, 1],
      [2, 3, 1, 1],
    ]
    const t = zeros(shape).toMemoryFormat('channels_last')
    for (const other of through) {
      t.resize(other)
      assert.deepEqual(t.dimOrder, [0, 2, 3, 1])
      assert.equal(t.isContiguous('channels_last'), true)
      assert.deepEqual(t.clone().dimOrder, [0, 2, 3, 1])
      for (const next of through) {
        assert.deepEqual(t.resize(next).resize(shape).strides, [48, 1, 12, 3])
      }
    }
    t.resize([2, 0, 4, 4]).setData(zeros([96]))
    assert.deepEqual(t.dimOrder, [0, 2, 3, 1])
  })

  it('keeps any order of axes of int16 through zero elements and through a move', () => {
    const { next, shuffle } = generator(114)
    for (let round = 0; round < 200; round++) {
      const order = shuffle(Array.from({ length: 1 + next(5) }, (_, d) => d))
      const shape = order.map(() => 2 + next(2))
      const t = zeros(shape, { dtype: 'int16', dynamism: 'unbound' }).permute(order)
      const { shape: now, strides, dimOrder } = t
      t.resize(now.map((n) => next(n + 1)))
      assert.deepEqual(t.dimOrder, dimOrder)
      assert.deepEqual(t.resize(now).strides, strides)
      t.resize(now.map((n) => next(2))).resize(now.map((n) => n + 1)) // outgrown
      assert.equal(t.isView, false)
      assert.deepEqual(t.dimOrder, dimOrder)
      assert.deepEqual(t.resize(now).strides, strides)
    }
    const t = zeros([1, 3, 2, 2], { dynamism: 'unbound' })
      .toMemoryFormat('channels_last')
      .resize(50, 1, 1, 1)
    assert.equal(t.capacity, 50) // moved to where strides do not tell
    assert.deepEqual(t.resize(1, 3, 2, 2).strides, [12, 1, 6, 3])
  })

  it('is refused: another rank, too large, static, gaps, negative; the float32 tensor is as it was', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(
      () => t.resize(6),
      RangeError,
      'ERR_SHAPE',
      /shape \[6\] has 1 axes; a resize keeps the 2 of \[2, 3\]/,
    )
    fails(() => t.resize([7, 1]), RangeError, 'ERR_SHAPE', /7 elements; .* room for 6/)
    fails(() => t.resize(-1, 3), RangeError, 'ERR_SHAPE', /shape\[0\] is -1/)
    for (const shape of [
      [2 ** 53 - 1, 2 ** 53 - 1],
      [2 ** 31, 2 ** 31],
      [2 ** 53 - 1, 1],
      [],
      [1, 2, 3],
    ]) {
      refusedUnchanged(t, () => t.resize(shape), 'ERR_SHAPE')
    }
    for (const bad of [NaN, 1.5, Infinity, -Infinity, 2 ** 53]) {
      refusedUnchanged(t, () => t.resize(bad, 1), 'ERR_SHAPE')
    }
    for (const bad of [undefined, null, '1', true, {}, 1n, [1]]) {
      refusedUnchanged(t, () => t.resize(bad, 1), 'ERR_ARGUMENT')
    }
    fails(() => t.slice(':', '::2').resize(1, 1), RangeError, 'ERR_SHAPE', /gaps/)
    fails(() => t.flip().resize(1, 1), RangeError, 'ERR_SHAPE', /gaps/)
    fails(() => t.narrow(0, 0, 1).expand(3, 3).resize(1, 1), RangeError, 'ERR_SHAPE', /gaps/)
    const fixed = zeros([2, 3], { dynamism: 'static' })
    fails(() => fixed.resize(1, 3), RangeError, 'ERR_SHAPE', /static/)
    assert.deepEqual(fixed.resize(2, 3).shape, [2, 3])
    const unbound = full([2], 7, { dynamism: 'unbound' })
    refusedUnchanged(unbound, () => unbound.resize(2 ** 49), 'ERR_MEMORY')
    refusedUnchanged(unbound, () => unbound.resize(2 ** 53), 'ERR_SHAPE')
    t.dispose()
    refuses(() => t.resize(1, 1), 'ERR_DISPOSED')
  })

  it('of rank 0 does nothing, with no arguments or an empty list', () => {
    const t = tensor(5)
    assert.equal(t.capacity, 1)
    assert.equal(t.resize([]).resize().item(), 5)
    fails(() => t.resize(1), RangeError, 'ERR_SHAPE')
  })

  it('of a read-only float32 tensor moves no byte and keeps it so', () => {
    const t = fromBlob(new Float32Array(4), [4], { readOnly: true }).resize(2)
    assert.equal(t.isReadOnly, true)
    refuses(() => t.fill(1), 'ERR_READ_ONLY')
  })

  it('through a Proxy that disposes, detaches or resizes finds it out', () => {
    const sly = (act) =>
      new Proxy([1, 1], {
        get(list, key) {
          if (key === '1') act()
          return list[key]
        },
      })
    const t = zeros([2, 2])
    refuses(() => t.resize(sly(() => t.dispose())), 'ERR_DISPOSED')
    const source = new Float32Array(4)
    const blob = fromBlob(source, [2, 2])
    refuses(
      () => blob.resize(sly(() => structuredClone(source, { transfer: [source.buffer] }))),
      'ERR_DETACHED',
    )
    const u = zeros([2, 2])
    assert.deepEqual(u.resize(sly(() => u.resize(4, 1))).shape, [1, 1])
    assert.deepEqual(u.resize(2, 2).toArray(), [
      [0, 0],
      [0, 0],
    ])
  })
})

describe('capacity', () => {
  it("is a made float32 tensor's numel, of rank 0 one, and stays through resizes", () => {
    assert.equal(zeros([3, 4]).capacity, 12)
    assert.equal(tensor(1).capacity, 1)
    assert.equal(zeros([0, 4]).capacity, 0)
    assert.equal(zeros([3, 4]).resize(0, 7).capacity, 12)
    assert.equal(fromBlob(new Float32Array(9), [4]).capacity, 4)
    assert.equal(zeros([4]).resize(2).clone().capacity, 2)
  })

  it("of a view over the whole base is the base's, of a narrower one its own numel", () => {
    const t = zeros([4, 3]).resize(2, 3)
    for (const view of [
      t.view(),
      t.T,
      t.view([6]),
      t.reshape(3, 2),
      t.narrow(0, 0, 2),
      t.unsqueeze(0),
      t.slice('...'),
    ]) {
      assert.equal(view.capacity, 12)
    }
    assert.equal(t.narrow(0, 0, 1).capacity, 3)
    assert.equal(t.flip().capacity, 6)
    assert.equal(t.select(0, 1).capacity, 3)
    assert.equal(t.narrow(0, 0, 1).expand(2, 3).capacity, 6)
    assert.deepEqual(t.view([6]).resize(12).shape, [12])
    assert.equal(t.view('int8').capacity, 48)
    assert.equal(t.view([6]).view('float64').capacity, 6)
    assert.equal(zeros([7], 'int8').resize(4).view('int32').capacity, 1)
    const whole = zeros([4])
    const early = whole.view()
    whole.resize(2)
    assert.equal(early.capacity, 4)
    assert.deepEqual(early.shape, [4])
  })

  it('of a narrower view lets it grow no further than itself', () => {
    const t = tensor([1, 2, 3, 4])
    const v = t.narrow(0, 1, 2)
    v.resize(1)
    assert.deepEqual(v.resize(2).toArray(), [2, 3])
    fails(() => v.resize(3), RangeError, 'ERR_SHAPE', /room for 2/)
  })
})

describe('dynamism', () => {
  it('is bounded where none is given, and views, clone and astype keep it', () => {
    assert.equal(zeros([2]).dynamism, 'bounded')
    for (const dynamism of ['static', 'bounded', 'unbound']) {
      const t = tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { dynamism },
      )
      for (const other of [
        t,
        t.T,
        t.view(),
        t.reshape(4),
        t.T.reshape(4),
        t.flip(),
        t.expand(1, 2, 2),
        t.clone(),
        t.astype('int8', { casting: 'unsafe' }),
        t.T.contiguous(),
        t.select(0, 0),
      ]) {
        assert.equal(other.dynamism, dynamism)
      }
      for (const make of [
        () => zeros([1], { dynamism }),
        () => empty([1], { dynamism }),
        () => full([1], 1, { dynamism }),
        () => rand([1], { dynamism }),
        () => fromBlob(new Float32Array(1), [1], { dynamism }),
      ]) {
        assert.equal(make().dynamism, dynamism)
      }
    }
  })

  it('that is none is ERR_ARGUMENT', () => {
    for (const dynamism of ['free', '', null, 1, true, {}, Symbol('s')]) {
      refuses(() => zeros([1], { dynamism }), 'ERR_ARGUMENT')
      refuses(() => fromBlob(new Float32Array(1), [1], { dynamism }), 'ERR_ARGUMENT')
    }
  })
})

describe('an unbound float32 tensor', () => {
  const counts = () => {
    const { tensors, storages, bytes } = settledMemory()
    return { tensors, storages, wasm: bytes.wasm }
  }

  it('grows again and again, and leaves nothing behind', () => {
    const before = counts()
    const t = zeros([1], { dynamism: 'unbound' })
    for (let n = 1; n < 5000; n = n * 2 + 1) {
      t.resize(n).set(n, n - 1)
      assert.equal(t.get(0), 1)
    }
    t.dispose()
    assert.deepEqual(counts(), before)
  })

  it('grows from nothing, and copies nothing then', () => {
    const t = empty([0, 3], { dynamism: 'unbound' })
    const { copies } = copied(() => t.resize(2, 3))
    assert.equal(copies.resize?.bytes ?? 0, 0)
    assert.deepEqual(t.fill(1).toArray(), [
      [1, 1, 1],
      [1, 1, 1],
    ])
  })

  it('keeps its old bytes for views past its own end', () => {
    const t = tensor([1, 2], { dynamism: 'unbound' })
    const v = t.flip()
    t.resize(2000)
    t.dispose()
    assert.deepEqual(v.toArray(), [2, 1])
  })

  it('that is not ours alone does not move: blobs, their views, shared memory', () => {
    const source = Float32Array.of(1, 2)
    const owned = zeros([2])
    const cases = [
      fromBlob(source, [2], { dynamism: 'unbound' }),
      fromBlob(source, [2], { dynamism: 'unbound' }).view(),
      fromBlob(owned.data, [2], { dynamism: 'unbound' }),
      fromBlob(new SharedArrayBuffer(8), [2], { dtype: 'float32', dynamism: 'unbound' }),
      empty([2], { shared: true, dynamism: 'unbound' }).zero(),
      empty([2], { shared: 'sab', dynamism: 'unbound' }).zero(),
      fromBlob(new ArrayBuffer(8), [2], { dtype: 'float32', transfer: true, dynamism: 'unbound' }),
    ]
    for (const t of cases) {
      refusedUnchanged(t, () => t.resize(3), 'ERR_SHAPE')
      assert.deepEqual(t.resize(1).resize(2).shape, [2])
    }
  })

  it('is busy while a copy of it is pending', async () => {
    const t = zeros([100000], { dynamism: 'unbound' })
    const copy = t.copyFromAsync(rand([100000]))
    for (const shape of [[10], [100000], [200000]]) fails(() => t.resize(shape), Error, 'ERR_BUSY')
    fails(() => t.setData(zeros([100000])), Error, 'ERR_BUSY')
    fails(() => t.flip().flip().resize(5), Error, 'ERR_BUSY')
    await copy
    assert.equal(t.resize(200000).size, 200000)
    await turn()
  })
})

describe('an unbound tensor at an address', () => {
  needs('addresses')

  it('does not move: float32', () => {
    const owner = empty([4], { shared: true })
    const t = fromBlob(owner.dataPtr, [4], {
      dtype: 'float32',
      owner,
      nbytes: 16,
      dynamism: 'unbound',
    })
    refusedUnchanged(t, () => t.resize(5), 'ERR_SHAPE')
    assert.equal(t.resize(2).capacity, 4)
  })
})
