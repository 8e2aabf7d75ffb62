'use strict'
const assert = require('node:assert/strict')
const {
  backend,
  fromBlob,
  fromBytes,
  memory,
  sharesMemory,
  tensor,
  wasmMemory,
  zeros,
} = require('samebytes')
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
    for (const bytes of [
      words,
      words.buffer,
      copy,
      copy.buffer,
      new DataView(copy.buffer),
      new Float32Array(copy.buffer),
      Buffer.from(copy.buffer),
    ]) {
      assert.deepEqual(fromBytes(bytes, [2], 'int16').toArray(), [258, -2])
      assert.deepEqual(zeros([2], 'int16').setBytes(bytes).toArray(), [258, -2])
    }
  })

  it('keep the order that is asked for: int16 in column-major order', () => {
    const t = fromBytes(Int16Array.of(1, 2, 3, 4, 5, 6), [2, 3], { dtype: 'int16', order: 'F' })
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual([...t.strides], [1, 2])
  })

  it("take bytes at any alignment, in any layout, and from the tensor's own", () => {
    const words = Int32Array.of(1, -2, 3, 4, 5, 6)
    const askew = new Uint8Array(25).subarray(1)
    askew.set(new Uint8Array(words.buffer))
    assert.deepEqual(fromBytes(askew, [2, 3], 'int32').toArray(), [
      [1, -2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(fromBytes(askew, [2, 3], { dtype: 'int32', order: 'F' }).toArray(), [
      [1, -2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(zeros([2, 3], 'int32').setBytes(askew).toArray(), [
      [1, -2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(zeros([3, 2], 'int32').T.setBytes(askew).toArray(), [
      [1, -2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(zeros([3, 3], 'int32').slice('1:').setBytes(askew).base.toArray(), [
      [0, 0, 0],
      [1, -2, 3],
      [4, 5, 6],
    ])
    const bytes = new Uint8Array(16).map((_, i) => i)
    fromBlob(bytes.buffer, [3], { dtype: 'int32', offset: 1 }).setBytes(bytes.subarray(1, 13))
    assert.deepEqual([...bytes], [0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  it('take no bytes where there are no elements', () => {
    assert.deepEqual(fromBytes(new Uint8Array(0), [0, 3], 'float64').toArray(), [])
    assert.equal(zeros([0], 'int64').setBytes(new ArrayBuffer(0)).size, 0)
  })

  it('refuse numbers, arrays, strings and what else is no bytes, with float32 as it was', () => {
    const t = tensor([1, 2])
    const none = [
      0,
      8,
      2,
      NaN,
      8n,
      '12345678',
      'text',
      '',
      [1, 2, 3, 4, 5, 6, 7, 8],
      [],
      {},
      { length: 8, byteLength: 8 },
      null,
      undefined,
      true,
      Symbol('s'),
      () => 1,
      new Map(),
      new Date(0),
      zeros([2]),
      { buffer: new ArrayBuffer(8), byteOffset: 0, byteLength: 8 },
      Object.create(Uint8Array.prototype),
      Object.create(ArrayBuffer.prototype),
      Object.create(DataView.prototype),
      new Proxy(new Uint8Array(8), {}),
    ]
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

  for (const { dtype, values, bytes } of SAMPLES) {
    it(`make one axis of ${dtype} where no shape is given`, () => {
      const source = fromHex(bytes)
      for (const t of [
        fromBytes(source, dtype),
        fromBytes(source, { dtype }),
        fromBytes(source, null, dtype),
        fromBytes(source, undefined, { dtype }),
      ]) {
        assert.deepEqual([t.dtype, t.shape, t.toArray()], [dtype, [6], values])
      }
      assert.deepEqual(fromBytes(new ArrayBuffer(0), dtype).shape, [0])
    })

    it(`copy: 'if-needed' gives the very bytes as ${dtype} where they are aligned, else a copy that is counted`, () => {
      const source = new Uint8Array(fromHex('ff'.repeat(16) + bytes))
      const n = bytes.length / 2
      const step = /complex/.test(dtype)
        ? zeros([1], dtype).itemsize / 2
        : zeros([1], dtype).itemsize
      for (const at of [0, 1, 2, 4, 8, 16]) {
        const part = Buffer.from(source.buffer, 16 - at, n)
        const content = [...part]
        const { result: t, copies } = copied(() =>
          fromBytes(part, [2, 3], { dtype, copy: 'if-needed' }),
        )
        assert.equal(hex(t), Buffer.from(content).toString('hex'))
        const isView = at % step === 0
        assert.deepEqual(copies, isView ? {} : { fromBytes: { count: 1, bytes: n } })
        part[0] ^= 1
        assert.equal(t.bytes[0], isView ? part[0] : content[0])
        part[0] = content[0]
        if (isView) assert.equal(t.owner, part)
        if (isView) assert.ok(sharesMemory(t, fromBytes(part, [6], { dtype, copy: false })))
        else {
          fails(
            () => fromBytes(part, [6], { dtype, copy: false }),
            RangeError,
            'ERR_ALIGNMENT',
            /copy: 'if-needed' copies/,
          )
        }
        assert.deepEqual(copied(() => fromBytes(part, [6], { dtype, copy: true })).copies, {
          fromBytes: { count: 1, bytes: n },
        })
      }
    })
  }

  it('copy where other memory or another order is asked for: shared float32, column-major', () => {
    const source = new Uint8Array(16)
    for (const options of [{ shared: 'sab' }, { order: 'F' }]) {
      const { copies } = copied(() =>
        fromBytes(source, [2, 2], { dtype: 'float32', copy: 'if-needed', ...options }),
      )
      assert.deepEqual(copies, { fromBytes: { count: 1, bytes: 16 } })
      fails(
        () => fromBytes(source, [2, 2], { dtype: 'float32', copy: false, ...options }),
        Error,
        'ERR_UNSUPPORTED',
        /copy is false/,
      )
    }
    assert.deepEqual(
      copied(() =>
        fromBytes(source, [4], { dtype: 'float32', copy: false, order: 'F', dynamism: 'static' }),
      ).copies,
      {},
    )
    assert.equal(
      fromBytes(source, [4], { dtype: 'float32', copy: false, dynamism: 'static' }).dynamism,
      'static',
    )
  })

  it("read any typed array's bytes where they are, and keep them: int16 as float32", () => {
    const words = Int16Array.of(0, 0x3f80, 0, 0x4000)
    const t = fromBytes(words, { dtype: 'float32', copy: false })
    assert.deepEqual(t.toArray(), [1, 2])
    t.set(0, 1)
    assert.deepEqual([...words], [0, 0x3f80, 0, 0])
    if (backend() === 'native') return
    const own = zeros([4], 'uint8')
    const before = memory().copied
    const same = fromBytes(new Uint8Array(wasmMemory().buffer, Number(own.dataPtr), 4), {
      dtype: 'int32',
      copy: 'if-needed',
    })
    assert.equal(same.dataPtr, own.dataPtr)
    assert.deepEqual(memory().copied, before)
  })

  it('refuse, with what was expected: a part of a float32, no dtype, another word for copy', () => {
    fails(
      () => fromBytes(new Uint8Array(6), 'float32'),
      RangeError,
      'ERR_SHAPE',
      /^bytes has 6 bytes; a multiple of 4, as float32 needs, was expected$/,
    )
    fails(() => fromBytes(new Uint8Array(8)), TypeError, 'ERR_DTYPE', /^dtype is needed/)
    fails(() => fromBytes(new Uint8Array(8), [2]), TypeError, 'ERR_DTYPE', /^dtype is needed/)
    fails(() => fromBytes(new Uint8Array(8), 'half'), TypeError, 'ERR_DTYPE', /"half"/)
    for (const copy of ['never', null, 0, 'if needed']) {
      fails(
        () => fromBytes(new Uint8Array(8), { dtype: 'float32', copy }),
        TypeError,
        'ERR_ARGUMENT',
        /^copy is .*'if-needed' was expected$/,
      )
    }
  })

  it('refuse bytes that were transferred away: every kind of view, for uint8', () => {
    const kinds = [
      (buffer) => buffer,
      (buffer) => new Uint8Array(buffer),
      (buffer) => new DataView(buffer),
      (buffer) => new Float32Array(buffer),
    ]
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
