'use strict'
const assert = require('node:assert/strict')
const { empty, fromBlob, full, memory, tensor, zeros } = require('samebytes')
const {
  child,
  copied,
  fails,
  nativeOnly,
  refuses,
  settledMemory,
  skipWithout,
} = require('../setup')

describe('fromBlob of an address', () => {
  nativeOnly()

  it('is the same float32 bytes, both ways, at the same address', () => {
    const kept = empty([2, 3], { shared: true }).copyFrom([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result: t, copies } = copied(() =>
      fromBlob(kept.dataPtr, [3, 2], { dtype: 'float32', owner: kept }),
    )
    assert.deepEqual(copies, {})
    assert.equal(t.dataPtr, kept.dataPtr)
    assert.equal(t.owner, kept)
    assert.deepEqual(t.toArray(), [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    t.set(60, 2, 1)
    assert.equal(kept.get(1, 2), 60)
    kept.fill(7)
    assert.deepEqual([...t.data], [7, 7, 7, 7, 7, 7])
  })

  it('takes a safe integer, an offset and strides, for int16', () => {
    const kept = empty([8], { dtype: 'int16', shared: true }).copyFrom([0, 1, 2, 3, 4, 5, 6, 7])
    const opts = { dtype: 'int16', owner: kept, offset: 7, strides: [-2] }
    const t = fromBlob(Number(kept.dataPtr), [4], opts)
    assert.deepEqual(t.toArray(), [7, 5, 3, 1])
    assert.equal(t.dataPtr, kept.dataPtr + 14n)
  })

  it("works over V8's own memory of a promoted float32 tensor", () => {
    const kept = tensor([1, 2, 3, 4])
    const t = fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner: kept })
    t.set(9, 0)
    assert.equal(kept.get(0), 9)
    assert.equal(kept.data[0], 9)
  })

  it('needs a dtype, and an owner, a deleter or borrowed: true', () => {
    const kept = empty([4], { shared: true })
    const ptr = kept.dataPtr
    refuses(() => fromBlob(ptr, [4], { owner: kept }), 'ERR_DTYPE', 'ERR_ARGUMENT')
    fails(
      () => fromBlob(ptr, [4], { dtype: 'float32' }),
      TypeError,
      'ERR_ARGUMENT',
      /owner|deleter|borrowed/,
    )
    fails(
      () => fromBlob(ptr, [4], { dtype: 'float32', borrowed: false }),
      TypeError,
      'ERR_ARGUMENT',
    )
    assert.equal(fromBlob(ptr, [4], { dtype: 'float32', borrowed: true }).size, 4)
  })

  it('checks the extent where nbytes says how many bytes there are, for float32', () => {
    const kept = full([4], 1, { shared: true })
    const opts = { dtype: 'float32', owner: kept, nbytes: 16 }
    assert.deepEqual(fromBlob(kept.dataPtr, [4], opts).toArray(), [1, 1, 1, 1])
    fails(() => fromBlob(kept.dataPtr, [5], opts), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(kept.dataPtr, [4], { ...opts, offset: 1 }), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(kept.dataPtr, [2], { ...opts, strides: [4] }), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(kept.dataPtr, [2], { ...opts, strides: [-1] }), RangeError, 'ERR_BOUNDS')
    for (const nbytes of [-1, 1.5, NaN, '16', 2 ** 53]) {
      refuses(() => fromBlob(kept.dataPtr, [1], { ...opts, nbytes }))
    }
  })

  it('views stay inside what was described, for float32', () => {
    const kept = full([8], 1, { shared: true })
    const t = fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner: kept })
    fails(() => t.view([5], { strides: [1] }), RangeError, 'ERR_BOUNDS')
    fails(() => t.view([1], { offset: 4 }), RangeError, 'ERR_BOUNDS')
    fails(() => t.view([2], { strides: [-1] }), RangeError, 'ERR_BOUNDS')
  })

  it('refuses a misaligned float32 address', () => {
    const kept = empty([8], { shared: true })
    fails(
      () => fromBlob(kept.dataPtr + 1n, [4], { dtype: 'float32', owner: kept }),
      RangeError,
      'ERR_ALIGNMENT',
    )
    assert.equal(fromBlob(kept.dataPtr + 1n, [4], { dtype: 'int8', owner: kept }).size, 4)
  })

  it('takes address 0 and null without elements only', () => {
    for (const ptr of [0, 0n, null]) {
      const t = fromBlob(ptr, [0, 3], { dtype: 'float32', borrowed: true })
      assert.deepEqual(t.toArray(), [])
      assert.equal(t.dataPtr, 0n)
      refuses(() => fromBlob(ptr, [1], { dtype: 'float32', borrowed: true }))
    }
  })

  it('refuses what is no address', () => {
    for (const ptr of [-1, -1n, 1.5, NaN, Infinity, 2 ** 53, 2n ** 64n, -(2n ** 63n), '16', true]) {
      refuses(() => fromBlob(ptr, [1], { dtype: 'int8', borrowed: true, nbytes: 1 }))
    }
    refuses(() => fromBlob(2n ** 64n - 1n, [4], { dtype: 'int8', borrowed: true }))
  })

  it('honours readOnly for float32', () => {
    const kept = full([4], 1, { shared: true })
    const t = fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner: kept, readOnly: true })
    fails(() => t.fill(2), Error, 'ERR_READ_ONLY')
    assert.deepEqual(kept.toArray(), [1, 1, 1, 1])
  })

  it('keeps its owner alive while a view or only data.buffer is held, and lets go of it then: float32', async () => {
    const { collectAll, collectUntil } = require('../setup')
    const gone = new Set()
    const registry = new FinalizationRegistry((name) => gone.add(name))
    const kept = full([4], 5, { shared: true }) // stays, so that losing the owner is no crash
    function make(name, pick) {
      const owner = { name }
      registry.register(owner, name)
      const t = fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner })
      const held = pick(t)
      return { held, owner: new WeakRef(owner) }
    }
    const held = {
      tensor: make('tensor', (t) => t),
      view: make('view', (t) => t.slice('1:')),
      'view of a disposed tensor': make('view of a disposed tensor', (t) => {
        const v = t.slice('1:')
        t.dispose()
        return v
      }),
      data: make('data', (t) => t.data),
      buffer: make('buffer', (t) => t.data.buffer),
      'buffer of a disposed tensor': make('buffer of a disposed tensor', (t) => {
        const { buffer } = t.data
        t.dispose()
        return buffer
      }),
      'buffer of a view': make('buffer of a view', (t) => t.slice('2:').data.buffer),
      'disposed without data': make('disposed without data', (t) => {
        t.dispose()
      }),
      nothing: make('nothing', () => {}),
    }
    assert.equal(await collectUntil(() => gone.size === 2), true)
    await collectAll()
    assert.deepEqual([...gone].sort(), ['disposed without data', 'nothing'])
    for (const [name, { owner }] of Object.entries(held)) {
      if (!gone.has(name)) assert.equal(owner.deref().name, name)
    }
    assert.equal(new Float32Array(held.buffer.held)[3], 5)
    for (const entry of Object.values(held)) entry.held = null
    assert.equal(await collectUntil(() => gone.size === 9), true, `gone: ${[...gone]}`)
  })

  it('leaves memory() as it was when it is disposed of, or was refused: float32', () => {
    const kept = full([4], 5, { shared: true })
    const ptr = kept.dataPtr
    const before = settledMemory()
    for (let i = 0; i < 100; i++) {
      fromBlob(ptr, [4], { dtype: 'float32', borrowed: true }).dispose()
      fails(
        () => fromBlob(ptr, [5], { dtype: 'float32', borrowed: true, nbytes: 16 }),
        RangeError,
        'ERR_BOUNDS',
      )
    }
    const after = memory()
    assert.ok(after.storages <= before.storages, `${after.storages - before.storages} storages`)
    assert.ok(after.tensors <= before.tensors)
    assert.equal(kept.get(0), 5)
  })

  it('keeps its owner alive, so the float32 bytes stay', async () => {
    const { collectAll } = require('../setup')
    const t = (() => {
      const kept = full([4], 5, { shared: true })
      return fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner: kept })
    })()
    await collectAll()
    for (let i = 0; i < 100; i++) full([4], 9, { shared: true })
    assert.deepEqual(t.toArray(), [5, 5, 5, 5])
    assert.deepEqual(zeros([4]).copyFrom(t).toArray(), [5, 5, 5, 5])
  })
})

describe('fromBlob of an address in WASM', () => {
  it('is ERR_UNSUPPORTED', async function () {
    skipWithout(this, 'the WebAssembly build')
    const { code, stdout } = await child(
      `
      const { fromBlob } = require('samebytes')
      try { fromBlob(64n, [1], { dtype: 'int8', borrowed: true }) } catch (error) { console.log(error.code) }
    `,
      { env: { SAMEBYTES_BACKEND: 'wasm' } },
    )
    assert.equal(code, 0)
    assert.equal(stdout.trim(), 'ERR_UNSUPPORTED')
  })
})
