'use strict'
const assert = require('node:assert/strict')
const { backend, fromBlob, full, memory, tensor, zeros } = require('samebytes')
const {
  NO_CUDA,
  collectAll,
  copied,
  fails,
  fromHex,
  refuses,
  settledMemory,
  skipWithout,
} = require('../setup')
const { SAMPLES } = require('../tables')

const floats = () => new Float32Array([0, 1, 2, 3, 4, 5, 6, 7])

describe('fromBlob', () => {
  describe('takes its source as it is', () => {
    const sources = {
      'a Float32Array': () => {
        const source = floats()
        return { source, view: source, opts: {} }
      },
      'a float32 subarray': () => {
        const view = new Float32Array(20).subarray(5, 13)
        view.set(floats())
        return { source: view, view, opts: {} }
      },
      'an ArrayBuffer as float32': () => {
        const view = floats()
        return { source: view.buffer, view, opts: { dtype: 'float32' } }
      },
      'a SharedArrayBuffer as float32': () => {
        const view = new Float32Array(new SharedArrayBuffer(32))
        view.set(floats())
        return { source: view.buffer, view, opts: 'float32' }
      },
      'a Float32Array over a SharedArrayBuffer': () => {
        const view = new Float32Array(new SharedArrayBuffer(32))
        view.set(floats())
        return { source: view, view, opts: {} }
      },
      'a DataView as float32': () => {
        const view = new Float32Array(new ArrayBuffer(64), 16, 8)
        view.set(floats())
        return { source: new DataView(view.buffer, 16, 32), view, opts: { dtype: 'float32' } }
      },
      'a Buffer as float32': () => {
        const view = new Float32Array(new ArrayBuffer(64), 8, 8)
        view.set(floats())
        return { source: Buffer.from(view.buffer, 8, 32), view, opts: { dtype: 'float32' } }
      },
      'a Uint8Array as float32': () => {
        const view = floats()
        return { source: new Uint8Array(view.buffer), view, opts: { dtype: 'float32' } }
      },
    }
    for (const [name, make] of Object.entries(sources)) {
      it(`${name}: the same bytes both ways, nothing copied`, () => {
        const { source, view, opts } = make()
        const { result: t, copies } = copied(() => fromBlob(source, [2, 4], opts))
        assert.deepEqual(copies, {})
        assert.equal(t.dtype, 'float32')
        assert.deepEqual(t.toArray(), [
          [0, 1, 2, 3],
          [4, 5, 6, 7],
        ])
        view[5] = 50
        assert.equal(t.get(1, 1), 50)
        t.set(70, 1, 3)
        assert.equal(view[7], 70)
        t.select(1, 0).fill(-1)
        assert.deepEqual([...view], [-1, 1, 2, 3, -1, 50, 6, 70])
        t.copyFrom([
          [1, 2, 3, 4],
          [5, 6, 7, 8],
        ])
        assert.deepEqual([...view], [1, 2, 3, 4, 5, 6, 7, 8])
        assert.equal(t.data.buffer, view.buffer)
        assert.equal(t.data.byteOffset, view.byteOffset)
        assert.equal(t.owner, source)
        assert.equal(t.isReadOnly, false)
      })

      it(`${name}: 1-D over the whole source where the shape is left out`, () => {
        const { source, opts } = make()
        assert.deepEqual([...fromBlob(source, opts).shape], [8])
      })
    }

    it('a Buffer is uint8 unless told otherwise', () => {
      const t = fromBlob(Buffer.from([1, 2, 3]))
      assert.equal(t.dtype, 'uint8')
      assert.deepEqual(t.toArray(), [1, 2, 3])
    })

    it('takes a whole number of elements without a shape, and as many as a shape says', () => {
      const bytes = new Uint8Array(10)
      fails(
        () => fromBlob(bytes, { dtype: 'float32' }),
        RangeError,
        'ERR_SHAPE',
        /10 bytes.*float32's 4/,
      )
      fails(() => fromBlob(bytes, null, { dtype: 'float64', offset: 1 }), RangeError, 'ERR_SHAPE')
      assert.deepEqual(fromBlob(bytes, [2], 'float32').shape, [2])
      assert.deepEqual(fromBlob(bytes.subarray(0, 8), { dtype: 'float32' }).shape, [2])
    })

    it('a Uint8ClampedArray is uint8', () => {
      const source = new Uint8ClampedArray([1, 2, 3])
      const t = fromBlob(source, [3])
      assert.equal(t.dtype, 'uint8')
      t.set(200, 0)
      assert.equal(source[0], 200)
    })

    for (const { dtype, values, bytes } of SAMPLES) {
      it(`bytes of ${dtype} read as its values`, () => {
        const t = fromBlob(fromHex(bytes), [2, 3], { dtype })
        assert.deepEqual(t.toArray(), [values.slice(0, 3), values.slice(3)])
        t.set(values[0], 1, 2)
        assert.deepEqual(t.get(1, 2), values[0])
      })

      it(`what data of ${dtype} gives is taken back with its dtype`, () => {
        const t = tensor(values, [6], { dtype })
        const again = fromBlob(t.data, t.shape, { dtype })
        assert.deepEqual(again.toArray(), values)
        again.set(values[1], 0)
        assert.deepEqual(t.get(0), values[1])
      })
    }
  })

  it('has the address of its Float32Array, or says that it has none in WASM', () => {
    const source = floats()
    const a = fromBlob(source)
    if (backend() === 'native') {
      const b = fromBlob(source.subarray(3))
      assert.ok(a.dataPtr > 0n)
      assert.equal(b.dataPtr - a.dataPtr, 12n)
      assert.equal(a.dataPtr, fromBlob(source.buffer, 'int8').dataPtr)
    } else {
      fails(() => a.dataPtr, Error, 'ERR_UNSUPPORTED')
    }
  })

  it('keeps its float32 source alive', async () => {
    const t = fromBlob(new Float32Array(4).fill(6))
    await collectAll()
    assert.deepEqual(t.toArray(), [6, 6, 6, 6])
  })

  it('keeps the owner given alive and gives it back', async () => {
    let gone = false
    const registry = new FinalizationRegistry(() => {
      gone = true
    })
    const t = (() => {
      const owner = { name: 'owner' }
      registry.register(owner)
      return fromBlob(new Float32Array(4), [4], { owner })
    })()
    await collectAll()
    assert.equal(gone, false)
    assert.equal(t.owner.name, 'owner')
  })

  describe('lays the source out', () => {
    it('from an offset in elements, for float32 and for int8', () => {
      assert.deepEqual(fromBlob(floats(), [2, 2], { offset: 3 }).toArray(), [
        [3, 4],
        [5, 6],
      ])
      assert.deepEqual(fromBlob(floats().subarray(2), [2], { offset: 1 }).toArray(), [3, 4])
      const bytes = new Uint8Array([1, 2, 3, 4])
      assert.deepEqual(fromBlob(bytes.buffer, [2], { dtype: 'int8', offset: 2 }).toArray(), [3, 4])
    })

    it('with strides of any sign, overlapping too, for float32', () => {
      assert.deepEqual(fromBlob(floats(), [2, 2], { strides: [4, 2] }).toArray(), [
        [0, 2],
        [4, 6],
      ])
      assert.deepEqual(fromBlob(floats(), [3], { strides: [-3], offset: 7 }).toArray(), [7, 4, 1])
      assert.deepEqual(fromBlob(floats(), [3, 2], { strides: [0, 1] }).toArray(), [
        [0, 1],
        [0, 1],
        [0, 1],
      ])
      assert.deepEqual(fromBlob(floats(), [3, 2], { strides: [1, 1] }).toArray(), [
        [0, 1],
        [1, 2],
        [2, 3],
      ])
    })

    it('in a dim order, for float32', () => {
      const t = fromBlob(floats(), [2, 3], { dimOrder: [1, 0] })
      assert.deepEqual([...t.strides], [1, 2])
      assert.deepEqual(t.toArray(), [
        [0, 2, 4],
        [1, 3, 5],
      ])
    })

    it('with strides and dim order that agree, padding allowed', () => {
      const opts = { strides: [1, 4], dimOrder: [1, 0] }
      assert.deepEqual(fromBlob(floats(), [2, 2], opts).toArray(), [
        [0, 4],
        [1, 5],
      ])
      const wrong = { strides: [4, 1], dimOrder: [1, 0] }
      fails(() => fromBlob(floats(), [2, 2], wrong), RangeError, 'ERR_SHAPE')
    })

    it('with the dense stride for axes of extent 1, whatever was given', () => {
      const t = fromBlob(floats(), [1, 4], { strides: [999, 1] })
      assert.deepEqual([...t.strides], [4, 1])
      assert.equal(t.isContiguous(), true)
    })

    it('at rank 0 and with a source that is longer than needed', () => {
      assert.equal(fromBlob(floats(), [], { offset: 5 }).item(), 5)
      assert.deepEqual(fromBlob(floats(), [3]).toArray(), [0, 1, 2])
    })

    it('without elements, for float32', () => {
      for (const [source, shape] of [
        [new Float32Array(0), [0]],
        [floats(), [3, 0]],
        [new Float32Array(0), [0, 5]],
      ]) {
        const t = fromBlob(source, shape)
        assert.deepEqual([...t.shape], shape)
        assert.equal(t.size, 0)
        assert.equal(t.data.length, 0)
        t.fill(3)
        t.copyFrom(1)
      }
      assert.deepEqual([...fromBlob(new Float32Array(0)).shape], [0])
      assert.deepEqual([...fromBlob(new ArrayBuffer(0), [0], 'int64').shape], [0])
    })
  })

  describe('refuses', () => {
    it('a float32 extent outside the source', () => {
      fails(() => fromBlob(floats(), [3, 3]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [8], { offset: 1 }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [1], { offset: 8 }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [1], { offset: -1 }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [2], { strides: [-1] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [2], { strides: [8] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats().subarray(4), [8]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats().buffer, [5], 'float64'), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(new Float32Array(0), [1]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(new Float32Array(0), []), RangeError, 'ERR_BOUNDS')
    })

    it('huge strides and offsets, whose products overflow', () => {
      const huge = 2 ** 53 - 1
      fails(() => fromBlob(floats(), [3], { strides: [huge] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [3], { strides: [-huge] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(), [1], { offset: huge }), RangeError, 'ERR_BOUNDS')
      refuses(
        () => fromBlob(floats(), [2000, 3000], { strides: [huge, huge] }),
        'ERR_BOUNDS',
        'ERR_SHAPE',
      )
      refuses(
        () => fromBlob(floats(), [huge, huge], { strides: [0, 0] }),
        'ERR_BOUNDS',
        'ERR_SHAPE',
      )
      refuses(
        () => fromBlob(floats(), [huge], { strides: [huge], offset: huge }),
        'ERR_BOUNDS',
        'ERR_SHAPE',
      )
      for (const bad of [2 ** 53, NaN, Infinity, 0.5, '1', {}, null]) {
        refuses(() => fromBlob(floats(), [2], { strides: [bad] }))
        if (bad !== null) refuses(() => fromBlob(floats(), [2], { offset: bad }))
      }
    })

    it('another count of strides, and dim orders that are none', () => {
      fails(() => fromBlob(floats(), [2, 3], { strides: [1] }), RangeError, 'ERR_SHAPE')
      fails(() => fromBlob(floats(), [2, 3], { strides: [] }), RangeError, 'ERR_SHAPE')
      for (const dimOrder of [[0], [], [1, 1], [0, 2], [0, -5]]) {
        fails(() => fromBlob(floats(), [2, 3], { dimOrder }), RangeError, 'ERR_SHAPE')
      }
    })

    it('a pooled Buffer at an odd offset as float32, and says that fromBytes copies', () => {
      const pooled = Buffer.from(new ArrayBuffer(64), 3, 16)
      fails(
        () => fromBlob(pooled, [4], 'float32'),
        RangeError,
        'ERR_ALIGNMENT',
        /fromBytes with copy: 'if-needed' copies then/,
      )
      fails(() => fromBlob(pooled.subarray(2), [2], 'int16').get(2), RangeError, 'ERR_ALIGNMENT')
      assert.deepEqual(fromBlob(pooled.subarray(1), [3], 'float32').toArray(), [0, 0, 0])
      assert.deepEqual([...fromBlob(pooled, [16], 'int8').shape], [16])
      // complex64 needs the alignment of its halves only
      assert.deepEqual(fromBlob(pooled.subarray(1), [1], 'complex64').toArray(), [[0, 0]])
    })

    it('bytes without a dtype', () => {
      for (const source of [
        new ArrayBuffer(16),
        new SharedArrayBuffer(16),
        new DataView(new ArrayBuffer(16)),
      ]) {
        refuses(() => fromBlob(source, [4]), 'ERR_DTYPE', 'ERR_ARGUMENT')
        refuses(() => fromBlob(source), 'ERR_DTYPE', 'ERR_ARGUMENT')
      }
    })

    it('unknown dtypes', () => {
      fails(() => fromBlob(new ArrayBuffer(16), [4], 'float'), TypeError, 'ERR_DTYPE')
    })

    it('what is no source', () => {
      for (const source of [undefined, 'text', true, [1, 2], {}, new Map(), () => 1, Symbol('s')]) {
        fails(() => fromBlob(source, [1], 'float32'), TypeError, 'ERR_ARGUMENT')
      }
    })

    it('a source that is detached already', () => {
      const source = floats()
      structuredClone(source.buffer, { transfer: [source.buffer] })
      fails(() => fromBlob(source.buffer, [1], 'float32'), Error, 'ERR_DETACHED')
      fails(() => fromBlob(source, [1]), Error, 'ERR_DETACHED')
    })
  })

  describe('readOnly', () => {
    it('refuses every writer, also through views, and leaves float32 bytes alone', () => {
      const source = floats()
      const t = fromBlob(source, [2, 4], { readOnly: true })
      assert.equal(t.isReadOnly, true)
      for (const target of [
        t,
        t.T,
        t.select(0, 1),
        t.slice('1:'),
        t.view([8]),
        t.reshape([8]),
        t.unfold(1, 2, 2),
      ]) {
        assert.equal(target.isReadOnly, true)
        fails(() => target.fill(9), Error, 'ERR_READ_ONLY')
        fails(() => target.zero(), Error, 'ERR_READ_ONLY')
        fails(() => target.copyFrom(9), Error, 'ERR_READ_ONLY')
        fails(() => target.set(9, ...new Array(target.ndim).fill(0)), Error, 'ERR_READ_ONLY')
      }
      assert.deepEqual([...source], [0, 1, 2, 3, 4, 5, 6, 7])
    })

    it('reads, and its clone is writable', () => {
      const t = fromBlob(floats(), [2, 4], { readOnly: true })
      assert.equal(t.get(1, 1), 5)
      const c = t.clone()
      assert.equal(c.isReadOnly, false)
      c.fill(1)
      assert.equal(t.get(1, 1), 5)
    })
  })

  describe('with transfer: true', () => {
    it('takes the ArrayBuffer over: nobody else holds the float32 bytes', () => {
      for (const pick of [
        (source) => source,
        (source) => source.buffer,
        (source) => new DataView(source.buffer),
        (source) => new Uint8Array(source.buffer),
      ]) {
        const source = floats()
        const { result: t, copies } = copied(() =>
          fromBlob(pick(source), [2, 4], { dtype: 'float32', transfer: true }),
        )
        assert.deepEqual(copies, {})
        assert.equal(source.buffer.byteLength, 0)
        assert.equal(source.length, 0)
        assert.deepEqual(t.toArray(), [
          [0, 1, 2, 3],
          [4, 5, 6, 7],
        ])
        t.set(9, 0, 0)
        assert.equal(t.data[0], 9)
        assert.equal(t.owner, undefined)
      }
      const part = floats().subarray(2, 5)
      assert.deepEqual(fromBlob(part, { transfer: true }).toArray(), [2, 3, 4])
      assert.equal(part.length, 0)
    })

    const refusals = {
      'a shape that does not fit': [{}, [9], 'ERR_BOUNDS'],
      'a shape that is none': [{}, [-1], 'ERR_SHAPE'],
      'strides that leave the bytes': [{ strides: [8] }, [2], 'ERR_BOUNDS'],
      'another count of strides': [{ strides: [1, 1] }, [2], 'ERR_SHAPE'],
      'an unknown dtype': [{ dtype: 'float99' }, [2], 'ERR_DTYPE'],
      'no dtype': [{ dtype: undefined }, [2], 'ERR_DTYPE'],
      'an offset outside': [{ offset: 8 }, [1], 'ERR_BOUNDS'],
      'misaligned bytes': [{ odd: true }, [1], 'ERR_ALIGNMENT'],
      'a deleter that is none': [{ deleter: 5 }, [2], 'ERR_ARGUMENT'],
      'a device that is not there': [{ device: 'cuda:0' }, [2], NO_CUDA],
      'nbytes that are none': [{ nbytes: 'x' }, [2], 'ERR_ARGUMENT'],
    }
    for (const [name, [opts, shape, code]] of Object.entries(refusals)) {
      it(`leaves the ArrayBuffer attached where it refuses ${name}, for float32`, () => {
        const source = floats()
        const { odd, ...given } = opts
        const from = odd ? new Uint8Array(source.buffer, 1, 8) : source.buffer
        refuses(() => fromBlob(from, shape, { dtype: 'float32', transfer: true, ...given }), code)
        assert.deepEqual([...source], [0, 1, 2, 3, 4, 5, 6, 7])
        assert.equal(source.buffer.byteLength, 32)
      })
    }

    it("refuses what cannot be transferred: shared memory, WebAssembly's, marked and detached buffers", () => {
      refuses(
        () => fromBlob(new SharedArrayBuffer(8), [2], { dtype: 'float32', transfer: true }),
        'ERR_ARGUMENT',
      )
      const { buffer } = new WebAssembly.Memory({ initial: 1 })
      refuses(() => fromBlob(buffer, [2], { dtype: 'float32', transfer: true }), 'ERR_UNSUPPORTED')
      assert.equal(buffer.byteLength, 65536)
      const gone = new ArrayBuffer(8)
      structuredClone(gone, { transfer: [gone] })
      refuses(() => fromBlob(gone, [2], { dtype: 'float32', transfer: true }), 'ERR_DETACHED')
    })

    it('refuses a Buffer of the pool', function () {
      skipWithout(this, 'buffers that Node keeps')
      const pooled = Buffer.from('in the pool of all small buffers')
      refuses(() => fromBlob(pooled, [4], { transfer: true }), 'ERR_UNSUPPORTED')
      assert.equal(String(pooled), 'in the pool of all small buffers')
    })

    it('leaves no storage behind where it refuses, for float32', () => {
      const before = settledMemory().storages
      const shared = new SharedArrayBuffer(8)
      for (let i = 0; i < 20; i++) {
        refuses(
          () => fromBlob(new ArrayBuffer(8), [9], { dtype: 'float32', transfer: true }),
          'ERR_BOUNDS',
        )
        refuses(() => fromBlob(shared, [2], { dtype: 'float32', transfer: true }), 'ERR_ARGUMENT')
        refuses(() => fromBlob(new ArrayBuffer(8), [9], 'float32'), 'ERR_BOUNDS')
      }
      assert.ok(memory().storages <= before, `${memory().storages - before} storages`)
    })
  })

  it('is a source and a target of copies between owned and adopted float32', () => {
    const source = floats()
    const t = fromBlob(source, [2, 4])
    const owned = zeros([4, 2]).copyFrom(t.T)
    assert.deepEqual(owned.toArray(), [
      [0, 4],
      [1, 5],
      [2, 6],
      [3, 7],
    ])
    t.copyFrom(full([4], 3))
    assert.deepEqual([...source], [3, 3, 3, 3, 3, 3, 3, 3])
  })

  it('hands an int64 typed array of another realm through', () => {
    const vm = require('node:vm')
    const source = vm.runInNewContext('new BigInt64Array([1n, 2n])')
    const t = fromBlob(source)
    assert.equal(t.dtype, 'int64')
    t.set(5n, 1)
    assert.equal(source[1], 5n)
    const buffer = vm.runInNewContext('new ArrayBuffer(8)')
    assert.deepEqual(fromBlob(buffer, 'int32').toArray(), [0, 0])
    assert.deepEqual(tensor(vm.runInNewContext('[[1, 2], [3, 4]]')).toArray(), [
      [1, 2],
      [3, 4],
    ])
  })
})
