'use strict'
const assert = require('node:assert/strict')
const { backend, flush, forBlob, fromBlob, full, zeros } = require('samebytes')
const { NO_CUDA, copied, fails, fromHex, isWasm, refuses, skipWithout } = require('../setup')
const { SAMPLES } = require('../tables')

const floats = () => new Float32Array([0, 1, 2, 3, 4, 5, 6, 7])

describe('forBlob', () => {
  it('makes what fromBlob makes: the same float32 bytes, nothing copied', () => {
    const source = floats()
    const { result: t, copies } = copied(() => forBlob(source, [2, 4]).makeTensor())
    assert.deepEqual(copies, {})
    assert.deepEqual(t.toArray(), [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ])
    t.set(50, 1, 1)
    assert.equal(source[5], 50)
    assert.equal(t.data.buffer, source.buffer)
    assert.equal(t.owner, source)
  })

  it('has a setter for every option, each giving the builder', () => {
    const owner = {}
    const builder = forBlob(floats().buffer, [2, 2])
    const setters = {
      dtype: 'float32',
      strides: [1, 3],
      dimOrder: [1, 0],
      offset: 1,
      nbytes: 32,
      dynamism: 'static',
      deleter: () => {},
      owner,
      borrowed: undefined,
      transfer: false,
      device: 'cpu',
      readOnly: undefined,
    }
    for (const [name, value] of Object.entries(setters)) {
      assert.equal(builder[name](value), builder, name)
    }
    const t = builder.makeTensor()
    assert.deepEqual(t.toArray(), [
      [1, 4],
      [2, 5],
    ])
    assert.deepEqual(
      [t.strides, t.offset, t.dynamism, t.isReadOnly, t.owner],
      [[1, 3], 1, 'static', true, owner],
    )
  })

  it('takes the last value of a setter that is called twice', () => {
    assert.deepEqual(forBlob(floats(), [2]).offset(1).offset(3).makeTensor().toArray(), [3, 4])
    assert.equal(forBlob(floats(), [2]).readOnly().readOnly(false).makeTensor().isReadOnly, false)
  })

  it('takes the shape and dtype away where they can be told: float32', () => {
    assert.deepEqual(forBlob(floats()).makeTensor().shape, [8])
    assert.deepEqual(forBlob(floats().buffer, null, 'float64').makeTensor().shape, [4])
  })

  for (const { dtype, values, bytes } of SAMPLES) {
    it(`reads bytes as ${dtype}, in a dim order`, () => {
      const t = forBlob(fromHex(bytes), [3, 2], dtype).dimOrder([1, 0]).makeTensor()
      assert.deepEqual(t.T.toArray(), [values.slice(0, 3), values.slice(3)])
    })
  }

  it("takes a record: toBlob's own on every back end", () => {
    const t = full([4], 3)
    const u = forBlob(t.toBlob(), [2, 2]).readOnly().makeTensor()
    t.set(9, 3)
    assert.equal(u.get(1, 1), 9)
    assert.equal(u.owner, t)
  })

  it('takes an address with nbytes and a deleter, or says that WASM has none', async () => {
    const kept = full([4], 3, { shared: true })
    const calls = []
    const builder = () =>
      forBlob(backend() === 'native' ? kept.dataPtr : 64n, [4], 'float32').deleter((address) =>
        calls.push(address),
      )
    if (isWasm) {
      fails(() => builder().makeTensor(), Error, 'ERR_UNSUPPORTED')
      return
    }
    fails(() => builder().nbytes(15).makeTensor(), RangeError, 'ERR_BOUNDS')
    const t = builder().nbytes(16).makeTensor()
    assert.deepEqual(t.toArray(), [3, 3, 3, 3])
    assert.deepEqual(
      forBlob(kept.dataPtr, [4], 'float32').borrowed().makeTensor().toArray(),
      [3, 3, 3, 3],
    )
    t.dispose()
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
  })

  it('finished twice is ERR_STALE, and so is a setter afterwards', () => {
    const builder = forBlob(floats(), [2, 4])
    const t = builder.makeTensor()
    fails(() => builder.makeTensor(), Error, 'ERR_STALE', /forBlob/)
    fails(() => builder.readOnly(), Error, 'ERR_STALE')
    assert.equal(t.get(1, 3), 7)
    assert.equal(t.isReadOnly, false)
  })

  it('takes nothing over before makeTensor, nor where that throws; then it may be tried again', async () => {
    const source = floats()
    let calls = 0
    const builder = forBlob(source, [9])
      .transfer()
      .deleter(() => calls++)
    assert.equal(source.length, 8)
    fails(() => builder.makeTensor(), RangeError, 'ERR_BOUNDS')
    assert.deepEqual([...source], [0, 1, 2, 3, 4, 5, 6, 7])
    const t = builder.strides([0]).makeTensor()
    assert.equal(source.length, 0)
    await flush()
    assert.equal(calls, 0)
    t.dispose()
    await flush()
    assert.equal(calls, 1)
  })

  it('says what is wrong with an argument when the tensor is made', () => {
    const refusals = [
      [(b) => b.strides(['1', '1']), 'ERR_ARGUMENT'],
      [(b) => b.strides([1]), 'ERR_SHAPE'],
      [(b) => b.dimOrder([0, 0]), 'ERR_SHAPE'],
      [(b) => b.offset(-1), 'ERR_BOUNDS'],
      [(b) => b.nbytes('8'), 'ERR_ARGUMENT'],
      [(b) => b.dynamism('some'), 'ERR_ARGUMENT'],
      [(b) => b.deleter(5), 'ERR_ARGUMENT'],
      [(b) => b.borrowed('yes'), 'ERR_ARGUMENT'],
      [(b) => b.transfer(1), 'ERR_ARGUMENT'],
      [(b) => b.readOnly(null), 'ERR_ARGUMENT'],
      [(b) => b.device('cuda:0'), NO_CUDA],
      [(b) => b.dtype('float'), 'ERR_DTYPE'],
    ]
    for (const [set, code] of refusals) {
      refuses(() => set(forBlob(floats(), [2, 4])).makeTensor(), code)
    }
    refuses(() => forBlob(zeros([2]), [2]).makeTensor(), 'ERR_ARGUMENT')
    refuses(() => forBlob().makeTensor(), 'ERR_ARGUMENT')
    refuses(() => forBlob(floats(), [2], {}).makeTensor(), 'ERR_DTYPE')
  })

  it('with transfer and a deleter leaves both alone where the buffer cannot be transferred', async function () {
    skipWithout(this, 'buffers that Node keeps')
    let calls = 0
    const pooled = Buffer.from('in the pool of all small buffers')
    for (let i = 0; i < 20; i++) {
      fails(
        () => fromBlob(pooled, [4], { transfer: true, deleter: () => calls++ }),
        Error,
        'ERR_UNSUPPORTED',
      )
    }
    globalThis.gc()
    await flush()
    assert.equal(calls, 0)
    assert.equal(String(pooled), 'in the pool of all small buffers')
  })

  it('with transfer gives the deleter the address that the tensor has: float32', async () => {
    const addresses = []
    const t = forBlob(floats(), [8])
      .transfer()
      .deleter((address) => addresses.push(address))
      .makeTensor()
    const expected = backend() === 'native' ? t.dataPtr : 0n
    t.dispose()
    await flush()
    assert.deepEqual(addresses, [expected])
  })
})
