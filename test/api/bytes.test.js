'use strict'
const assert = require('node:assert/strict')
const { fromBlob, fromBytes, tensor, zeros } = require('samebytes')
const { copied, fails, fromHex, hex, refusedUnchanged, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

describe('setBytes and fromBytes', () => {
  for (const { dtype, values, bytes } of SAMPLES) {
    it(`take the raw bytes of ${dtype} in logical order, at any alignment, and count them once`, () => {
      const source = new Uint8Array(fromHex('ff' + bytes), 1)
      const { result: t, copies } = copied(() => fromBytes(source, [2, 3], dtype))
      assert.deepEqual(t.toArray(), [values.slice(0, 3), values.slice(3)])
      assert.deepEqual(copies, { fromBytes: { count: 1, bytes: bytes.length / 2 } })
      const again = zeros([3, 2], dtype)
      const set = copied(() => again.setBytes(source))
      assert.equal(set.result, again)
      assert.equal(hex(again), bytes)
      assert.deepEqual(set.copies, { setBytes: { count: 1, bytes: bytes.length / 2 } })
      assert.equal(hex(zeros([2, 3], dtype).T.setBytes(source)), bytes)
    })
  }

  it('take ArrayBuffers, SharedArrayBuffers, DataViews and typed arrays of any kind, as int16', () => {
    const words = new Int16Array(new SharedArrayBuffer(4))
    words.set([258, -2])
    const copy = words.slice()
    for (const bytes of [words, words.buffer, copy, copy.buffer, new DataView(copy.buffer), new Float32Array(copy.buffer), Buffer.from(copy.buffer)]) {
      assert.deepEqual(fromBytes(bytes, [2], 'int16').toArray(), [258, -2])
      assert.deepEqual(zeros([2], 'int16').setBytes(bytes).toArray(), [258, -2])
    }
  })

  it('keep the order that is asked for: int16 in column-major order', () => {
    const t = fromBytes(Int16Array.of(1, 2, 3, 4, 5, 6), [2, 3], { dtype: 'int16', order: 'F' })
    assert.deepEqual(t.toArray(), [[1, 2, 3], [4, 5, 6]])
    assert.deepEqual([...t.strides], [1, 2])
  })

  it('take no bytes where there are no elements', () => {
    assert.deepEqual(fromBytes(new Uint8Array(0), [0, 3], 'float64').toArray(), [])
    assert.equal(zeros([0], 'int64').setBytes(new ArrayBuffer(0)).size, 0)
  })

  it('refuse numbers, arrays, strings and what else is no bytes, with float32 as it was', () => {
    const t = tensor([1, 2])
    const none = [0, 8, 2, NaN, 8n, '12345678', 'text', '', [1, 2, 3, 4, 5, 6, 7, 8], [], {}, { length: 8, byteLength: 8 }, null, undefined, true,
      Symbol('s'), () => 1, new Map(), new Date(0), zeros([2]), { buffer: new ArrayBuffer(8), byteOffset: 0, byteLength: 8 },
      Object.create(Uint8Array.prototype), Object.create(ArrayBuffer.prototype), Object.create(DataView.prototype), new Proxy(new Uint8Array(8), {})]
    for (const bytes of none) {
      refusedUnchanged(t, () => t.setBytes(bytes), 'ERR_ARGUMENT')
      refuses(() => fromBytes(bytes, [2], 'float32'), 'ERR_ARGUMENT')
    }
  })

  it('refuse another count of bytes, read-only float32, and no dtype', () => {
    const t = tensor([1, 2])
    for (const n of [0, 4, 7, 9, 16]) {
      refusedUnchanged(t, () => t.setBytes(new Uint8Array(n)), 'ERR_SHAPE')
      fails(() => fromBytes(new Uint8Array(n), [2], 'float32'), RangeError, 'ERR_SHAPE', /8/)
    }
    const fixed = fromBlob(new Float32Array([1, 2]), [2], { readOnly: true })
    refusedUnchanged(fixed, () => fixed.setBytes(new Uint8Array(8)), 'ERR_READ_ONLY')
    refuses(() => fromBytes(new Uint8Array(8), [2]), 'ERR_DTYPE')
    refuses(() => fromBytes(new Uint8Array(8), [-2], 'float32'), 'ERR_SHAPE')
  })

  it('refuse bytes that were transferred away: every kind of view, for uint8', () => {
    const kinds = [buffer => buffer, buffer => new Uint8Array(buffer), buffer => new DataView(buffer), buffer => new Float32Array(buffer)]
    for (const kind of kinds) {
      const buffer = new ArrayBuffer(8)
      const source = kind(buffer)
      structuredClone(buffer, { transfer: [buffer] })
      for (const n of [0, 8]) {
        refuses(() => zeros([n], 'uint8').setBytes(source), 'ERR_DETACHED')
        refuses(() => fromBytes(source, [n], 'uint8'), 'ERR_DETACHED')
        refuses(() => fromBlob(source, [n], 'uint8'), 'ERR_DETACHED', 'ERR_DTYPE')
      }
    }
    const shrunk = new ArrayBuffer(8, { maxByteLength: 8 })
    const views = [new DataView(shrunk, 4, 4), new Uint8Array(shrunk, 4, 4)]
    shrunk.resize(2)
    for (const view of views) {
      for (const n of [0, 4]) {
        refuses(() => zeros([n], 'uint8').setBytes(view), 'ERR_DETACHED')
        refuses(() => fromBytes(view, [n], 'uint8'), 'ERR_DETACHED')
        refuses(() => fromBlob(view, [n], 'uint8'), 'ERR_DETACHED')
      }
    }
  })
})
