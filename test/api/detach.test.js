'use strict'
const assert = require('node:assert/strict')
const { empty, fromBlob, openGguf, openNpy, sharesMemory, tensor, zeros } = require('samebytes')
const { fails, isPage, isWasm, skipWithout } = require('../setup')

const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })

// Everything that touches a float32 [2, 2] tensor's bytes.
const USES = {
  get: (t) => t.get(0, 0),
  set: (t) => t.set(1, 0, 0),
  'item of a view': (t) => t.slice('0:1', '0:1').item(),
  toArray: (t) => t.toArray(),
  data: (t) => t.data,
  bytes: (t) => t.bytes,
  dataPtr: (t) => t.dataPtr,
  fill: (t) => t.fill(1),
  zero: (t) => t.zero(),
  'copyFrom, as target': (t) => t.copyFrom(1),
  'copyFrom, as target of a tensor': (t) => t.copyFrom(zeros([2])),
  'copyFrom, as source': (t) => zeros([2, 2]).copyFrom(t),
  'copyFrom with scale, as source': (t) => zeros([2, 2]).copyFrom(t, { scale: 2 }),
  tensor: (t) => tensor(t),
  clone: (t) => t.clone(),
  'contiguous of a transposed view': (t) => t.T.contiguous(),
  'reshape that copies': (t) => t.T.reshape([4]),
  astype: (t) => t.astype('float64'),
  'fill through a view': (t) => t.select(0, 0).fill(3),
  'get through a view': (t) => t.T.get(0, 0),
}

if (isWasm) delete USES.dataPtr // JS-owned bytes have no address there

describe('detached bytes', () => {
  for (const [name, use] of Object.entries(USES)) {
    it(`of a Float32Array given to fromBlob: ${name} throws`, () => {
      const source = new Float32Array(4)
      const t = fromBlob(source, [2, 2])
      const view = fromBlob(source, [3, 2], { strides: [0, 1] }).narrow(0, 0, 2)
      use(t)
      detach(source.buffer)
      fails(() => use(t), Error, 'ERR_DETACHED')
      fails(() => use(t), Error, 'ERR_DETACHED')
      if (!/fill|set|zero|target|data|bytes/.test(name)) {
        fails(() => use(view), Error, 'ERR_DETACHED')
      }
    })

    it(`of an owned float32 tensor whose data.buffer was transferred: ${name} throws`, function () {
      skipWithout(this, 'memory that can be detached')
      const t = zeros([2, 2])
      const before = t.slice(':')
      use(t)
      detach(t.data.buffer)
      fails(() => use(t), Error, 'ERR_DETACHED')
      fails(() => use(before), Error, 'ERR_DETACHED')
    })

    it(`of a resizable ArrayBuffer that shrank: ${name} throws until it has grown back`, () => {
      const buffer = new ArrayBuffer(16, { maxByteLength: 64 })
      const t = fromBlob(buffer, [2, 2], 'float32')
      use(t)
      buffer.resize(12)
      fails(() => use(t), Error, 'ERR_DETACHED')
      buffer.resize(0)
      fails(() => use(t), Error, 'ERR_DETACHED')
      buffer.resize(64)
      use(t)
      assert.equal(t.size, 4)
    })
  }

  it('leave other float32 tensors alone', () => {
    const source = new Float32Array(4)
    const t = fromBlob(source)
    const other = tensor([1, 2])
    detach(source.buffer)
    fails(() => other.copyFrom(t.narrow(0, 0, 2)), Error, 'ERR_DETACHED')
    assert.deepEqual(other.toArray(), [1, 2])
    assert.equal(sharesMemory(other, other), true)
  })

  it('can be disposed of', () => {
    const source = new Float32Array(4)
    const t = fromBlob(source)
    detach(source.buffer)
    t.dispose()
    assert.equal(t.isDisposed, true)
  })

  it('of a typed array that follows a resizable buffer: float32 extent is what it was', () => {
    const buffer = new ArrayBuffer(16, { maxByteLength: 64 })
    const source = new Float32Array(buffer)
    const t = fromBlob(source)
    assert.deepEqual([...t.shape], [4])
    buffer.resize(32)
    assert.deepEqual([...t.shape], [4])
    t.fill(2)
    assert.deepEqual([...source], [2, 2, 2, 2, 0, 0, 0, 0])
    buffer.resize(8)
    fails(() => t.fill(3), Error, 'ERR_DETACHED')
    assert.deepEqual([...source], [2, 2])
  })

  it('do not come from a SharedArrayBuffer that grows, for float32', () => {
    const buffer = new SharedArrayBuffer(16, { maxByteLength: 64 })
    const t = fromBlob(buffer, [4], 'float32')
    buffer.grow(64)
    t.fill(3)
    assert.deepEqual([...new Float32Array(buffer, 0, 5)], [3, 3, 3, 3, 0])
  })

  it('of a buffer transferred and sent back are another buffer: still detached', () => {
    const source = new Float32Array([1, 2])
    const t = fromBlob(source)
    const moved = detach(source.buffer)
    assert.equal(moved.byteLength, 8)
    fails(() => t.get(0), Error, 'ERR_DETACHED')
  })

  it('shared float32 memory survives a transfer of its data.buffer', () => {
    const t = empty([4], { shared: true }).fill(6)
    const { buffer } = t.data
    try {
      detach(buffer)
    } catch {} // copies on Node 20, throws from 22 on
    if (buffer.transfer) {
      try {
        buffer.transfer()
      } catch {}
    }
    assert.deepEqual(t.toArray(), [6, 6, 6, 6])
    assert.deepEqual([...t.data], [6, 6, 6, 6])
    t.data[0] = 1
    assert.equal(t.get(0), 1)
  })

  it('of no elements are none still, where they are read', () => {
    const { buffer } = new Float32Array(4)
    const t = fromBlob(new Float32Array(buffer, 4, 0))
    detach(buffer)
    assert.deepEqual(t.toArray(), [])
    assert.equal(t.dtype, 'float32')
  })

  it('a detached DataView, or any other array, is no options object', () => {
    const view = new DataView(new ArrayBuffer(8))
    detach(view.buffer)
    if (!isPage) {
      for (const call of [openGguf, openNpy]) {
        fails(() => call('there-is-none', view), TypeError, 'ERR_ARGUMENT')
      }
    }
    fails(() => empty([2], view), TypeError, 'ERR_ARGUMENT')
    fails(() => empty([2], new Uint8Array(2)), TypeError, 'ERR_ARGUMENT')
  })
})
