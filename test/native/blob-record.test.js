'use strict'
const assert = require('node:assert/strict')
const { flush, fromBlob, full, memory, tensor, zeros } = require('samebytes')
const {
  childJson,
  collectAll,
  collectUntil,
  copied,
  fails,
  nativeOnly,
  refuses,
} = require('../setup')

const TORCH = {
  byte: 'uint8',
  char: 'int8',
  short: 'int16',
  int: 'int32',
  long: 'int64',
  half: 'float16',
  float: 'float32',
  double: 'float64',
  cfloat: 'complex64',
  cdouble: 'complex128',
  bfloat16: 'bfloat16',
  bool: 'bool',
}

/** shared float32 1 … 6, and a plain record of it */
function recordOf() {
  const kept = tensor([1, 2, 3, 4, 5, 6], { shared: true })
  return { kept, record: { ptr: kept.dataPtr, shape: [2, 3], dtype: 'float32', owner: kept } }
}

describe('fromBlob of a plain record', () => {
  nativeOnly()

  it('is the float32 bytes at its address, both ways, with its owner', () => {
    const { kept, record } = recordOf()
    const { result: t, copies } = copied(() => fromBlob(record))
    assert.deepEqual(copies, {})
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.equal(t.dataPtr, kept.dataPtr)
    assert.equal(t.owner, kept)
    t.set(60, 1, 2)
    assert.equal(kept.get(5), 60)
    kept.fill(7)
    assert.deepEqual([...t.data], [7, 7, 7, 7, 7, 7])
  })

  it('reads strides, also negative ones, from the first element on', () => {
    const { kept, record } = recordOf()
    assert.deepEqual(fromBlob({ ...record, shape: [3, 2], strides: [1, 3] }).toArray(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    const back = fromBlob({ ...record, ptr: kept.dataPtr + 20n, shape: [2, 2], strides: [-3, -1] })
    assert.deepEqual(back.toArray(), [
      [6, 5],
      [3, 2],
    ])
    assert.equal(back.dataPtr, kept.dataPtr + 20n)
    assert.deepEqual(
      fromBlob({ ...record, strides: null, device: null, shape: 6 }).toArray(),
      [1, 2, 3, 4, 5, 6],
    )
    fails(() => fromBlob({ ...record, strides: [1] }), RangeError, 'ERR_SHAPE')
    fails(() => fromBlob({ ...record, strides: 'row-major' }), TypeError, 'ERR_ARGUMENT', /strides/)
    fails(() => fromBlob({ ...record, strides: [-(2 ** 52), 1] }), RangeError, 'ERR_BOUNDS')
    fails(
      () => fromBlob({ ...record, ptr: 8n, strides: [-3, 1] }),
      RangeError,
      'ERR_BOUNDS',
      /address/,
    )
    fails(() => fromBlob({ ...record, strides: [2 ** 52, 1] }), RangeError, 'ERR_BOUNDS')
  })

  for (const [name, dtype] of Object.entries(TORCH)) {
    it(`knows PyTorch's ${name} as ${dtype}, in records only`, () => {
      const kept = zeros([4], { dtype, shared: true })
      assert.equal(
        fromBlob({ ptr: kept.dataPtr, shape: [4], dtype: name, owner: kept }).dtype,
        dtype,
      )
      if (name === dtype) return
      fails(() => fromBlob(kept.dataPtr, [4], { dtype: name, owner: kept }), TypeError, 'ERR_DTYPE')
      fails(() => zeros([1], name), TypeError, 'ERR_DTYPE')
    })
  }

  it('names the field that is missing or wrong', () => {
    const { record } = recordOf()
    const without = (name, value) => ({ ...record, [name]: value })
    fails(() => fromBlob(without('ptr')), TypeError, 'ERR_ARGUMENT', /ptr/)
    fails(() => fromBlob(without('shape')), RangeError, 'ERR_SHAPE', /shape/)
    fails(() => fromBlob(without('dtype')), TypeError, 'ERR_DTYPE', /dtype/)
    fails(() => fromBlob(without('owner')), TypeError, 'ERR_ARGUMENT', /owner/)
    fails(() => fromBlob(without('owner', null)), TypeError, 'ERR_ARGUMENT', /owner/)
    for (const ptr of ['0', -1n, 1.5, 2n ** 64n, {}, true]) {
      fails(() => fromBlob(without('ptr', ptr)), TypeError, 'ERR_ARGUMENT', /ptr/)
    }
    fails(() => fromBlob(without('dtype', 'float33')), TypeError, 'ERR_DTYPE', /float33/)
    fails(() => fromBlob(without('shape', 'x')), TypeError, 'ERR_ARGUMENT', /shape/)
    fails(() => fromBlob(without('shape', [-1])), RangeError, 'ERR_SHAPE')
    fails(() => fromBlob(without('device', 'cuda:0')), Error, 'ERR_DEVICE', /device/)
    fails(() => fromBlob(without('elementSize', 8)), TypeError, 'ERR_DTYPE', /elementSize/)
    fails(() => fromBlob(without('ptr', record.ptr + 1n)), RangeError, 'ERR_ALIGNMENT')
    refuses(() => fromBlob({}, [1], 'float32'), 'ERR_ARGUMENT')
  })

  it('takes what is missing from the options: shape, dtype, owner', () => {
    const {
      kept,
      record: { ptr },
    } = recordOf()
    assert.deepEqual(fromBlob({ ptr }, [2], { dtype: 'float32', owner: kept }).toArray(), [1, 2])
    assert.deepEqual(
      fromBlob({ ptr, shape: [2], dtype: 'float' }, { borrowed: true }).toArray(),
      [1, 2],
    )
    const owner = {}
    assert.equal(fromBlob({ ptr, shape: [2], dtype: 'float', owner: kept }, { owner }).owner, owner)
  })

  it("never leaves the record's own elements, whatever else is asked for", () => {
    const { record } = recordOf()
    assert.deepEqual(fromBlob(record, [2], { offset: 4 }).toArray(), [5, 6])
    assert.deepEqual(fromBlob(record, [3], { strides: [2], readOnly: true }).toArray(), [1, 3, 5])
    assert.deepEqual(fromBlob(record, 'int32').shape, [2, 3])
    fails(() => fromBlob(record, [7]), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(record, [2], { offset: 5 }), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(record, { nbytes: 23 }), RangeError, 'ERR_BOUNDS', /nbytes/)
    fails(() => fromBlob(record, { nbytes: -1 }), RangeError, 'ERR_BOUNDS')
    assert.equal(fromBlob(record, { nbytes: 24 }).size, 6)
    fails(() => fromBlob(record, { transfer: true }), TypeError, 'ERR_ARGUMENT')
  })

  it('takes ptr 0 and null without elements only', () => {
    for (const ptr of [0, 0n, null]) {
      assert.deepEqual(
        fromBlob({ ptr, shape: [0, 2], dtype: 'float32' }, { borrowed: true }).toArray(),
        [],
      )
      fails(
        () => fromBlob({ ptr, shape: [1], dtype: 'float32' }, { borrowed: true }),
        TypeError,
        'ERR_ARGUMENT',
      )
    }
  })

  it('runs its deleter once, with the lowest address; not where it refuses', async () => {
    const { kept, record } = recordOf()
    const calls = []
    const deleter = (address) => calls.push(address)
    fails(() => fromBlob(record, [7], { deleter }), RangeError, 'ERR_BOUNDS')
    const t = fromBlob(
      { ...record, ptr: kept.dataPtr + 20n, shape: [6], strides: [-1] },
      { deleter },
    )
    await flush()
    assert.deepEqual(calls, [])
    t.dispose()
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
  })

  it('keeps its owner alive through the last view, and lets go of it then', async () => {
    let gone = false
    const registry = new FinalizationRegistry(() => {
      gone = true
    })
    const { kept, record } = recordOf()
    let view = (() => {
      const owner = { name: 'owner' }
      registry.register(owner)
      return fromBlob({ ...record, owner }).slice('1:').T
    })()
    await collectAll()
    assert.equal(gone, false)
    assert.equal(view.owner.name, 'owner')
    assert.deepEqual(view.toArray(), [[4], [5], [6]])
    view = null
    assert.equal(await collectUntil(() => gone), true)
    assert.equal(kept.get(0), 1)
  })

  it('reads each field once', () => {
    const { record } = recordOf()
    const reads = {}
    const counted = new Proxy(record, {
      get(target, name) {
        reads[name] = (reads[name] ?? 0) + 1
        return target[name]
      },
    })
    fromBlob(counted)
    assert.ok(
      Object.values(reads).every((n) => n === 1),
      JSON.stringify(reads),
    )
  })
})

describe('an address whose owner is a tensor', () => {
  nativeOnly()

  for (const [name, make] of Object.entries({
    'shared float32': () => full([4], 5, { shared: true }),
    'small float32': () => full([4], 5),
    'large float32': () => full([40000], 5),
  })) {
    it(`keeps the bytes past the owner's dispose: ${name}`, async () => {
      const owner = make()
      const t = fromBlob(owner.dataPtr, [4], { dtype: 'float32', owner })
      const u = fromBlob({ ...owner.toBlob() })
      const { buffer } = fromBlob(owner.dataPtr, [4], { dtype: 'float32', owner }).data
      owner.dispose()
      await collectAll()
      const others = Array.from({ length: 100 }, () => make().fill(9))
      assert.deepEqual(t.toArray(), [5, 5, 5, 5])
      assert.equal(u.get(3), 5)
      assert.deepEqual([...new Float32Array(buffer)], [5, 5, 5, 5])
      assert.equal(others.length, 100)
    })

    it(`keeps the bytes for a buffer, when all tensors are gone and the owner was disposed: ${name}`, async () => {
      const buffers = Array.from({ length: 20 }, () => {
        const owner = make()
        const { buffer } = fromBlob(owner.dataPtr, [4], { dtype: 'float32', owner }).data
        owner.dispose()
        return buffer
      })
      await collectAll()
      const others = Array.from({ length: 100 }, () => make().fill(9))
      for (const buffer of buffers) assert.deepEqual([...new Float32Array(buffer)], [5, 5, 5, 5])
      assert.equal(others.length, 100)
    })
  }

  it('gives them up with the last of the two: shared float32', () => {
    const owner = full([100000], 5, { shared: true })
    const before = memory().bytes.native
    const t = fromBlob(owner.dataPtr, [4], { dtype: 'float32', owner })
    owner.dispose()
    assert.equal(memory().bytes.native, before)
    t.dispose()
    assert.equal(memory().bytes.native, before - 400000)
  })

  it('refuses an owner that is disposed, and does not run the deleter', async () => {
    const kept = full([4], 5, { shared: true })
    const owner = zeros([1])
    owner.dispose()
    let calls = 0
    fails(
      () => fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner, deleter: () => calls++ }),
      Error,
      'ERR_DISPOSED',
    )
    await flush()
    assert.equal(calls, 0)
  })
})

describe('blobs of unbound dynamism', () => {
  nativeOnly()

  it('do not grow beyond what was given: address, Float32Array, record of an address', () => {
    const { kept, record } = recordOf()
    const opts = { dynamism: 'unbound' }
    const blobs = [
      fromBlob(kept.dataPtr, [6], { dtype: 'float32', borrowed: true, ...opts }),
      fromBlob(record, [6], opts),
      fromBlob(new Float32Array(6), [6], opts),
    ]
    for (const t of [...blobs, ...blobs.map((t) => t.view([6]))]) {
      assert.equal(t.dynamism, 'unbound')
      fails(() => t.resize(7), RangeError, 'ERR_SHAPE', /blob/)
      assert.deepEqual([t.shape, t.resize(2).resize(6).shape], [[6], [6]])
    }
  })
})

describe('blob records under collection', function () {
  nativeOnly()

  it('go with their bytes, shared float32, in a synchronous loop', () => {
    globalThis.gc()
    const before = memory().bytes.native
    for (let i = 0; i < 100; i++) full([250000], i, { shared: true }).toBlob()
    globalThis.gc()
    assert.ok(memory().bytes.native < before + 10e6, `${memory().bytes.native - before} bytes stay`)
  })

  it('at nearly every allocation keep the float32 bytes of temporaries', async () => {
    const wrong = await childJson(
      `
      const { empty, fromBlob, full } = require('samebytes')
      const wrong = []
      const live = []
      const kinds = [i => full([4], i), i => full([300], i), i => full([4], i, { shared: true }), i => fromBlob(new Float32Array(4).fill(i))]
      for (let i = 0; i < 2000; i++) {
        const make = kinds[i % 4]
        const t = make(i)
        let blob = t.toBlob()
        if (i % 3 === 0) t.dispose()
        if (i % 5 === 0 && i % 3 !== 0) blob = { ...blob }
        const u = fromBlob(blob)
        live.push([i % 2 ? u : u.slice('1:'), i])
        if (i % 7 === 0) u.dispose()
        if (live.length > 40) live.splice((i * 31) % live.length, 1)
        empty([4])
        for (const [v, value] of live) if (!v.isDisposed && v.get(-1) !== value) wrong.push([v.get(-1), value])
      }
      console.log(JSON.stringify(wrong.slice(0, 5)))
    `,
      { env: { SAMEBYTES_BACKEND: 'native' }, flags: ['--expose-gc', '--gc-interval=300'] },
    )
    assert.deepEqual(wrong, [])
  })
})
