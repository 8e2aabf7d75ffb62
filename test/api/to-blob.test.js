'use strict'
const assert = require('node:assert/strict')
const {
  Tensor,
  backend,
  empty,
  flush,
  fromBlob,
  full,
  memory,
  sharesMemory,
  tensor,
  tidy,
  wasmMemory,
  zeros,
} = require('samebytes')
const {
  NO_CUDA,
  closeGroups,
  collectAll,
  collectUntil,
  copied,
  fails,
  isWasm,
  refuses,
} = require('../setup')
const { SAMPLES } = require('../tables')

const matrix = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])

/** memory that the tensor does not own, on every back end */
const FOREIGN = {
  'a made tensor': () => full([4], 5),
  'a large tensor': () => full([40000], 5),
  'shared memory': () => full([4], 5, { shared: true }),
  'a Float32Array of the caller': () => fromBlob(new Float32Array(4).fill(5)),
}

describe('toBlob', () => {
  it('says where a float32 matrix is, in plain words', () => {
    const t = matrix()
    const { result: blob, copies } = copied(() => t.toBlob())
    assert.deepEqual(copies, {})
    assert.deepEqual(Object.keys(blob), [
      'ptr',
      'shape',
      'strides',
      'dtype',
      'device',
      'elementSize',
      'owner',
    ])
    assert.equal(blob.ptr, t.dataPtr)
    assert.deepEqual(blob.shape, [2, 3])
    assert.deepEqual(blob.strides, [3, 1])
    assert.equal(blob.dtype, 'float32')
    assert.equal(blob.device, 'cpu')
    assert.equal(blob.elementSize, 4)
    assert.equal(blob.owner, t)
  })

  for (const { dtype, itemsize } of SAMPLES) {
    it(`names ${dtype} and its ${itemsize} bytes`, () => {
      const { dtype: name, elementSize, ptr } = zeros([2], dtype).toBlob()
      assert.deepEqual([name, elementSize, ptr > 0n], [dtype, itemsize, true])
    })
  }

  it('has the offset in ptr: of a transposed, reversed int16 view', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'int16',
    )
    const blob = t.slice('::-1', '1:').T.toBlob()
    assert.equal(blob.ptr - t.toBlob().ptr, 8n)
    assert.deepEqual(blob.shape, [2, 2])
    assert.deepEqual(blob.strides, [1, -3])
  })

  it('describes rank 0, no elements, and read-only float32', () => {
    const scalar = tensor(7)
    assert.deepEqual(scalar.toBlob().shape, [])
    assert.deepEqual(scalar.toBlob().strides, [])
    assert.equal(scalar.toBlob().ptr, scalar.dataPtr)
    const none = zeros([0, 3]).toBlob()
    assert.equal(none.ptr, 0n)
    assert.deepEqual(none.shape, [0, 3])
    const locked = fromBlob(new Float32Array([1, 2]), { readOnly: true })
    assert.deepEqual(locked.toBlob().shape, [2])
  })

  it("has 0n for the caller's bytes in WASM, an address in wasmMemory() for others", () => {
    const ours = full([3], 2)
    const callers = fromBlob(new Float32Array([1, 2]))
    if (backend() === 'native') {
      assert.equal(callers.toBlob().ptr, callers.dataPtr)
      return
    }
    assert.equal(callers.toBlob().ptr, 0n)
    assert.equal(callers.slice('1:').toBlob().ptr, 0n)
    assert.deepEqual(
      [...new Float32Array(wasmMemory().buffer, Number(ours.toBlob().ptr), 3)],
      [2, 2, 2],
    )
  })

  it('is a snapshot that nobody can change', () => {
    const t = zeros([4, 3], 'int8')
    const blob = t.toBlob()
    for (const thing of [blob, blob.shape, blob.strides]) assert.ok(Object.isFrozen(thing))
    t.resize(2, 3)
    assert.deepEqual(blob.shape, [4, 3])
    assert.deepEqual(fromBlob(blob).shape, [4, 3])
    t.setData(full([2, 3], 9, 'int8'))
    assert.deepEqual(fromBlob(blob).get(0, 0), 0)
    assert.equal(blob.owner, t)
  })

  it('refuses a disposed and a detached tensor', () => {
    const t = zeros([2])
    t.dispose()
    fails(() => t.toBlob(), Error, 'ERR_DISPOSED')
    const source = new Float32Array(2)
    const adopted = fromBlob(source)
    const blob = adopted.toBlob()
    structuredClone(source.buffer, { transfer: [source.buffer] })
    fails(() => adopted.toBlob(), Error, 'ERR_DETACHED')
    fails(() => fromBlob(blob), Error, 'ERR_DETACHED')
  })
})

describe("fromBlob of toBlob's record", () => {
  for (const [name, make] of Object.entries(FOREIGN)) {
    it(`over ${name}: the same float32 bytes, both ways, nothing copied`, () => {
      const t = make()
      const { result: u, copies } = copied(() => fromBlob(t.toBlob()))
      assert.deepEqual(copies, {})
      assert.deepEqual([u.shape, u.dtype], [t.shape, 'float32'])
      assert.equal(sharesMemory(t, u), true)
      u.set(7, 1)
      assert.equal(t.get(1), 7)
      t.set(8, 2)
      assert.equal(u.get(2), 8)
      if (backend() === 'native') assert.equal(u.dataPtr, t.dataPtr)
    })
  }

  for (const { dtype, values } of SAMPLES) {
    it(`keeps shape, strides and offset of a ${dtype} view`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const view = t.slice('::-1', '1:').T
      const u = fromBlob(view.toBlob())
      assert.deepEqual(u.toArray(), view.toArray())
      assert.deepEqual([u.strides, u.offset, u.dtype], [view.strides, view.offset, dtype])
      u.set(values[0], 1, 1)
      assert.deepEqual(t.get(0, 2), values[0])
    })
  }

  it('of rank 0 and without elements', () => {
    const t = tensor(5)
    fromBlob(t.toBlob()).set(6)
    assert.equal(t.item(), 6)
    assert.deepEqual(fromBlob(zeros([2, 0]).toBlob()).toArray(), [[], []])
  })

  it("has the record's owner, or the one given, which its views have too", () => {
    const t = zeros([2, 3])
    assert.equal(t.owner, undefined)
    const u = fromBlob(t.toBlob())
    assert.equal(u.owner, t)
    assert.equal(u.slice('1:').T.owner, t)
    assert.equal(u.base, undefined)
    const owner = { name: 'mine' }
    const v = fromBlob(t.toBlob(), { owner })
    assert.equal(v.owner, owner)
    assert.equal(v.select(0, 1).owner, owner)
    assert.equal(t.owner, undefined)
    assert.equal(fromBlob(v.toBlob()).owner, v)
  })

  it('inherits read-only and dynamism; both can be set', () => {
    const locked = fromBlob(
      fromBlob(new Float32Array(4), { readOnly: true, dynamism: 'static' }).toBlob(),
    )
    assert.deepEqual([locked.isReadOnly, locked.dynamism], [true, 'static'])
    fails(() => locked.fill(1), Error, 'ERR_READ_ONLY')
    const source = zeros([4])
    const u = fromBlob(source.toBlob(), { readOnly: true, dynamism: 'static' })
    assert.deepEqual([u.isReadOnly, u.dynamism], [true, 'static'])
    assert.deepEqual([source.isReadOnly, source.dynamism], [false, 'bounded'])
    fails(() => fromBlob(u.toBlob(), { readOnly: false }).fill(1), Error, 'ERR_READ_ONLY')
  })

  it('has the capacity of a shrunk tensor whose whole it shows', () => {
    const t = zeros([4, 3]).resize(2, 3)
    assert.equal(fromBlob(t.toBlob()).capacity, 12)
    assert.deepEqual(fromBlob(t.toBlob()).resize(4, 3).shape, [4, 3])
    assert.equal(fromBlob(t.toBlob(), [3]).capacity, 3)
  })

  describe('with a shape', () => {
    it('shows a run of elements in it, or some of them', () => {
      const t = tensor([1, 2, 3, 4, 5, 6])
      assert.deepEqual(fromBlob(t.toBlob(), [2, 3]).toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
      assert.deepEqual(fromBlob(t.toBlob(), [2, 2], { offset: 1 }).toArray(), [
        [2, 3],
        [4, 5],
      ])
      assert.deepEqual(fromBlob(t.toBlob(), [3], { strides: [2] }).toArray(), [1, 3, 5])
      assert.deepEqual(fromBlob(t.toBlob(), [2, 3], { dimOrder: [1, 0] }).toArray(), [
        [1, 3, 5],
        [2, 4, 6],
      ])
      fromBlob(t.toBlob(), [2], { offset: 4 }).fill(0)
      assert.deepEqual(t.toArray(), [1, 2, 3, 4, 0, 0])
    })

    it("never leaves the record's own elements", () => {
      const t = zeros([8])
      const blob = t.slice('2:6').toBlob()
      fails(() => fromBlob(blob, [5]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(blob, [4], { offset: 1 }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(blob, [1], { offset: -1 }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(blob, [2], { strides: [4] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(blob, { nbytes: 15 }), RangeError, 'ERR_BOUNDS')
      assert.equal(fromBlob(blob, { nbytes: 16 }).size, 4)
    })

    it('keeps the order of elements that are not row-major, or refuses', () => {
      const blob = matrix().T.toBlob()
      assert.deepEqual(fromBlob(blob, [3, 1, 2]).toArray(), [[[1, 4]], [[2, 5]], [[3, 6]]])
      fails(() => fromBlob(blob, [6]), RangeError, 'ERR_SHAPE')
      fails(() => fromBlob(blob, [3]), RangeError, 'ERR_SHAPE')
      fails(() => fromBlob(blob, [3], { offset: 0 }), RangeError, 'ERR_SHAPE', /strides/)
      assert.deepEqual(fromBlob(blob, [6], { strides: [1] }).toArray(), [1, 2, 3, 4, 5, 6])
    })
  })

  it('reads the bytes as another dtype where one is given', () => {
    const t = tensor([1, 2])
    const bits = fromBlob(t.toBlob(), 'int32')
    assert.deepEqual(bits.toArray(), [0x3f800000, 0x40000000])
    bits.set(0, 0)
    assert.deepEqual(t.toArray(), [0, 2])
    assert.deepEqual(fromBlob(t.toBlob(), [2, 4], 'uint8').shape, [2, 4])
  })

  it('refuses deleter and transfer: the record keeps the bytes itself', () => {
    const blob = zeros([2]).toBlob()
    fails(() => fromBlob(blob, { deleter: () => {} }), TypeError, 'ERR_ARGUMENT', /deleter/)
    fails(() => fromBlob(blob, { transfer: true }), TypeError, 'ERR_ARGUMENT', /transfer/)
    fails(() => fromBlob(blob, { device: 'cuda:0' }), Error, NO_CUDA)
  })

  it('of a copy of its fields is an address, whose owner is the tensor', () => {
    const t = full([2, 2], 3)
    const fields = { ...t.T.slice('::-1').toBlob() }
    if (isWasm) {
      fails(() => fromBlob(fields), Error, 'ERR_UNSUPPORTED', /native/)
      return
    }
    const u = fromBlob(fields)
    assert.equal(u.owner, fields.owner)
    assert.deepEqual(u.strides, [-1, 2])
    u.set(9, 0, 0)
    assert.equal(t.get(0, 1), 9)
  })

  describe('keeps the bytes', () => {
    for (const [name, make] of Object.entries(FOREIGN)) {
      it(`of ${name} past the tensor's dispose, as does the tensor made of it`, () => {
        const t = make()
        const blob = t.toBlob()
        t.dispose()
        const u = fromBlob(blob)
        const others = Array.from({ length: 50 }, () => full(u.shape, 9))
        assert.equal(u.get(3), 5)
        u.set(6, 3)
        const v = fromBlob(blob)
        u.dispose()
        others.push(...Array.from({ length: 50 }, () => full(v.shape, 9)))
        assert.equal(v.get(3), 6)
        assert.equal(others.length, 100)
      })

      it(`of ${name} through the last view after every other variable is gone`, async () => {
        let gone = 0
        const registry = new FinalizationRegistry(() => gone++)
        const view = (() => {
          const t = make()
          const blob = t.toBlob()
          registry.register(blob)
          return fromBlob(blob).slice('2:').view([-1, 1])
        })()
        assert.equal(await collectUntil(() => gone === 1), true) // the record is gone …
        const others = Array.from({ length: 100 }, () => full([4], 9))
        assert.equal(view.get(1, 0), 5) // … and the bytes are there
        assert.equal(others.length, 100)
      })

      it(`of ${name} while only the record is held, not beyond`, async () => {
        const count = () => memory().storages
        const t = make()
        const before = await settled(count)
        const n = t.size > 1000 ? 100 : 1000
        const slack = t.size > 1000 ? 50 : 600 // small tensors are counted by hundreds
        let held = Array.from({ length: n }, () => make().toBlob())
        await collectAll()
        assert.ok(held.every((blob) => fromBlob(blob).get(3) === 5))
        assert.ok(count() >= before + n, `${count() - before} storages are alive`)
        held = null
        assert.equal(
          await collectUntil(() => count() < before + slack),
          true,
          `${count() - before} storages stay`,
        )
      })
    }

    it('and gives them up at once when the last tensor is disposed after the record went: shared float32', async () => {
      const bytes = () => Object.values(memory().bytes).reduce((a, b) => a + b, 0)
      const t = empty([100000], { shared: true })
      const full = bytes()
      let gone = false
      const registry = new FinalizationRegistry(() => {
        gone = true
      })
      ;(() => registry.register(t.toBlob()))()
      await collectUntil(() => gone)
      await collectAll()
      t.dispose()
      assert.ok(bytes() <= full - 400000, `${full - bytes()} bytes were freed`)
    })

    it('also where the tensor was tidied away', () => {
      let blob
      tidy(() => {
        blob = full([3], 4).toBlob()
      })
      assert.equal(blob.owner.isDisposed, true)
      assert.deepEqual(fromBlob(blob).toArray(), [4, 4, 4])
      const returned = tidy(() => full([3], 4).toBlob())
      assert.equal(returned.owner.isDisposed, false)
    })

    it('and a deleter waits for the record', async () => {
      const calls = []
      const count = () => calls.length
      ;(() => {
        const t = fromBlob(new Float32Array(4), { deleter: (address) => calls.push(address) })
        const blob = t.toBlob()
        t.dispose()
        assert.equal(fromBlob(blob).get(0), 0)
      })()
      await flush()
      assert.equal(await collectUntil(() => count() === 1), true)
      await collectAll()
      assert.equal(count(), 1)
    })
  })

  it("runs a record's getters before it looks at anything", () => {
    const t = zeros([2])
    const hostile = {
      get ptr() {
        t.dispose()
        return 0
      },
      shape: [0],
      dtype: 'float32',
      owner: t,
    }
    refuses(() => fromBlob(hostile), 'ERR_DISPOSED', 'ERR_UNSUPPORTED')
    const thrown = new Error('mine')
    assert.throws(
      () =>
        fromBlob({
          get ptr() {
            throw thrown
          },
        }),
      (error) => error === thrown,
    )
  })

  it('is not given by an object that only looks like one', () => {
    const blob = zeros([2]).toBlob()
    for (const forged of [
      Object.create(blob),
      new Proxy(blob, {}),
      JSON.parse('{"ptr":0,"shape":[1],"dtype":"float32"}'),
    ]) {
      if (isWasm) fails(() => fromBlob(forged), Error, 'ERR_UNSUPPORTED')
      else if (forged.owner === undefined) fails(() => fromBlob(forged), TypeError, 'ERR_ARGUMENT')
      else assert.ok(fromBlob(forged) instanceof Tensor) // as an address with an owner
    }
  })
})

/** count() once collection changes it no more */
async function settled(count) {
  let last = -1
  closeGroups()
  while (last !== count()) {
    last = count()
    let rounds = 0
    await collectUntil(() => rounds++ === 3)
  }
  return last
}
