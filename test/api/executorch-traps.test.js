'use strict'
const assert = require('node:assert/strict')
const {
  backend,
  canCast,
  clone,
  empty,
  flush,
  forBlob,
  fromBlob,
  fromBytes,
  full,
  randint,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const { NO_CUDA, collectAll, fails, refusedUnchanged, refuses } = require('../setup')

const floats = (n) => new Float32Array(n).map((_, i) => i)
const HUGE = 2 ** 53 - 1
const FLOATS = ['float16', 'bfloat16', 'float32', 'float64']
const INTEGERS = ['uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const COMPLEX = ['complex64', 'complex128']

// What ExecuTorch's TensorPtr accepts silently, aborts on, or gets wrong, and what happens here instead.
describe("ExecuTorch's traps", () => {
  describe('casts', () => {
    it('float → unsigned, the hole in its rule: refused as float → int is', () => {
      for (const from of FLOATS) {
        for (const to of INTEGERS) {
          assert.equal(canCast(from, to), false, `${from} → ${to}`)
          fails(() => full([2], 1, from).astype(to), TypeError, 'ERR_CAST')
          fails(() => clone(full([2], 1, from), { dtype: to }), TypeError, 'ERR_CAST')
        }
      }
      fails(() => tensor(floats(2), 'uint32'), TypeError, 'ERR_CAST')
      fails(() => zeros([2], 'uint16').copyFrom(full([2], 1)), TypeError, 'ERR_CAST')
    })

    it('float → unsigned out of range, undefined in C++: only when asked for, and saturating; NaN is 0', () => {
      const t = tensor([-1, 4294967296, 1e30, -Infinity, NaN, 3.9])
      assert.deepEqual(
        t.astype('uint32', { casting: 'unsafe' }).toArray(),
        [0, 4294967295, 4294967295, 0, 0, 3],
      )
      assert.deepEqual(
        t.astype('uint16', { casting: 'unsafe' }).toArray(),
        [0, 65535, 65535, 0, 0, 3],
      )
      assert.deepEqual(t.astype('uint64', { casting: 'unsafe' }).toArray(), [
        0n,
        4294967296n,
        2n ** 64n - 1n,
        0n,
        0n,
        3n,
      ])
    })

    it('complex → real and anything → bool: refused, not aborted', () => {
      for (const from of COMPLEX) {
        for (const to of [...FLOATS, ...INTEGERS, 'bool']) {
          fails(() => zeros([1], from).astype(to), TypeError, 'ERR_CAST')
        }
      }
      for (const from of [...FLOATS, ...INTEGERS, ...COMPLEX]) {
        fails(() => zeros([1], from).astype('bool'), TypeError, 'ERR_CAST')
      }
    })

    it('cast permission is checked for zero elements too, in every call that casts', () => {
      const none = zeros([0, 3])
      for (const to of ['int32', 'uint32', 'bool']) {
        fails(() => none.astype(to), TypeError, 'ERR_CAST')
        fails(() => none.clone(to), TypeError, 'ERR_CAST')
        fails(() => tensor(none, { dtype: to }), TypeError, 'ERR_CAST')
        fails(() => tensor(new Float32Array(0), { dtype: to }), TypeError, 'ERR_CAST')
        fails(() => zeros([0, 3], to).copyFrom(none), TypeError, 'ERR_CAST')
      }
      assert.deepEqual(none.astype('float64').shape, [0, 3])
    })

    it('invalid dtypes, also the codes of its enumeration: an error', () => {
      for (const dtype of ['float', 'Float', 6, 29, -1, null, 'qint8', 'undefined']) {
        refuses(() => zeros([1], { dtype }), 'ERR_DTYPE')
        refuses(() => fromBlob(new ArrayBuffer(8), [1], { dtype }), 'ERR_DTYPE')
      }
    })
  })

  describe('values', () => {
    it('fill out of range: an error in every case, its three exceptions included', () => {
      const misfits = {
        int32: [1.5, NaN, Infinity, 2 ** 31, -(2 ** 31) - 1],
        uint8: [256, -1, 0.5],
        uint64: [-1, -1n, 2n ** 64n], // it wraps −1
        float16: [70000, 70000n, -1e6], // it makes the int 70000 infinite
        float32: [1e39],
        bfloat16: [1e39],
        bool: [2, 0.5, -1], // it takes any int for true
      }
      for (const [dtype, values] of Object.entries(misfits)) {
        for (const value of values) {
          fails(() => zeros([2], dtype).fill(value), TypeError, 'ERR_CAST')
          fails(() => zeros([0], dtype).fill(value), TypeError, 'ERR_CAST')
          fails(() => full([2], value, dtype), TypeError, 'ERR_CAST')
          fails(() => full([0], value, dtype), TypeError, 'ERR_CAST')
          fails(() => zeros([2], dtype).set(value, 0), TypeError, 'ERR_CAST')
          fails(() => tensor([value], dtype), TypeError, 'ERR_CAST')
        }
      }
      assert.deepEqual(full([3], Infinity, 'float16').toArray(), [Infinity, Infinity, Infinity])
    })

    it('randint low ≥ high, undefined there: an error', () => {
      for (const [low, high] of [
        [5, 5],
        [6, 5],
        [0, -1],
        [0, 0],
        [5n, 5n],
        [3n, 2n],
      ]) {
        fails(() => randint(low, high, [2]), RangeError, 'ERR_BOUNDS')
        fails(() => randint(low, high, [0]), RangeError, 'ERR_BOUNDS')
      }
      assert.deepEqual(randint(4, 5, [2]).toArray(), [4, 4])
    })

    it('randint beyond the dtype, which wraps there: an error', () => {
      fails(() => randint(0, 257, [2], 'uint8'), TypeError, 'ERR_CAST')
      fails(() => randint(-1, 5, [2], 'uint8'), TypeError, 'ERR_CAST')
    })

    it('a lone bool, and lists of them, which do not compile: bool tensors', () => {
      assert.deepEqual([tensor(true).dtype, tensor(true).item()], ['bool', true])
      assert.deepEqual(tensor([true, false]).toArray(), [true, false])
    })

    it('bool bytes other than 0 and 1, not normalised there: read as true', () => {
      assert.deepEqual(fromBytes(new Uint8Array([0, 1, 2, 255]), [4], 'bool').toArray(), [
        false,
        true,
        true,
        true,
      ])
      assert.deepEqual(
        fromBytes(new Uint8Array([0, 2, 255]), [3], 'bool')
          .astype('int32')
          .toArray(),
        [0, 1, 1],
      )
    })
  })

  describe('bytes or values', () => {
    it('uint8 with a shape, bytes or values by overload there: tensor converts, fromBytes reads, and needs a dtype', () => {
      const eight = new Uint8Array([0, 0, 0x80, 0x3f, 0, 0, 0, 0x40])
      assert.deepEqual(tensor(eight, [2, 4]).toArray(), [
        [0, 0, 128, 63],
        [0, 0, 0, 64],
      ])
      assert.deepEqual(tensor(eight, [2, 4], 'float32').toArray(), [
        [0, 0, 128, 63],
        [0, 0, 0, 64],
      ])
      assert.deepEqual(fromBytes(eight, [2], 'float32').toArray(), [1, 2])
      fails(() => fromBytes(eight, [2]), TypeError, 'ERR_DTYPE')
    })

    it('the resize example of its documentation, which aborts: works', () => {
      const t = tensor([1, 2, 3, 4, 5, 6], [2, 3], 'float32')
      assert.deepEqual(t.resize([2, 2]).toArray(), [
        [1, 2],
        [3, 4],
      ])
      assert.deepEqual(t.resize([2, 3]).toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
    })

    it('element or byte count that differs from the shape, also when too many: an error', () => {
      for (const n of [0, 5, 7]) {
        fails(() => tensor(floats(n), [2, 3]), RangeError, 'ERR_SHAPE')
        fails(() => tensor([...floats(n)], [2, 3]), RangeError, 'ERR_SHAPE')
      }
      for (const n of [0, 23, 25, 28]) {
        fails(() => fromBytes(new Uint8Array(n), [2, 3], 'float32'), RangeError, 'ERR_SHAPE')
      }
    })
  })

  describe('blobs', () => {
    it('unchecked extents: the lowest and the highest element lie inside, or it is an error', () => {
      const source = floats(6)
      fails(() => fromBlob(source, [7]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(source, [2, 2], { strides: [5, 1] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(source, [2], { strides: [-1] }), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(source, [6], { offset: 1 }), RangeError, 'ERR_BOUNDS')
      fails(() => forBlob(source, [7]).makeTensor(), RangeError, 'ERR_BOUNDS')
      assert.equal(fromBlob(source, [2, 2], { strides: [4, 1] }).get(1, 1), 5)
    })

    it('products of sizes and strides that overflow, accepted as garbage there: an error on every path', () => {
      for (const shape of [
        [2 ** 31, 2 ** 31, 2 ** 31],
        [HUGE, HUGE],
        [0, HUGE, HUGE],
        [HUGE, HUGE, 0],
      ]) {
        for (const make of [
          zeros,
          empty,
          (shape) => fromBlob(floats(1), shape),
          (shape) => fromBlob(floats(1), shape, { strides: shape.map(() => 0) }),
        ]) {
          refuses(() => make(shape), 'ERR_SHAPE', 'ERR_BOUNDS', 'ERR_MEMORY')
        }
        refuses(() => zeros([1]).expand(shape), 'ERR_SHAPE', 'ERR_BOUNDS')
      }
      fails(() => fromBlob(floats(4), [2, 70000, 70000]), RangeError, 'ERR_BOUNDS')
      fails(() => fromBlob(floats(4), [3], { strides: [HUGE] }), RangeError, 'ERR_BOUNDS')
      fails(() => zeros([4]).asStrided([3, 3], [HUGE, -HUGE]), RangeError, 'ERR_BOUNDS')
    })

    it('misaligned bytes, accepted there: an error that names the address and fromBytes', () => {
      fails(
        () => fromBlob(new Uint8Array(new ArrayBuffer(16), 1, 8), [2], 'float32'),
        RangeError,
        'ERR_ALIGNMENT',
        /0x.*fromBytes/,
      )
    })

    it('null data with elements: an error', () => {
      const opts = { dtype: 'float32', borrowed: true }
      for (const ptr of [null, 0, 0n]) {
        refuses(() => fromBlob(ptr, [1], opts), 'ERR_ARGUMENT', 'ERR_UNSUPPORTED')
        refuses(
          () => fromBlob({ ptr, shape: [1], dtype: 'float32' }, { borrowed: true }),
          'ERR_ARGUMENT',
          'ERR_UNSUPPORTED',
        )
        if (backend() === 'native') assert.equal(fromBlob(ptr, [0], opts).size, 0)
      }
    })

    it('a null handle, a segmentation fault there: a typed error', () => {
      for (const nothing of [null, undefined]) {
        refuses(() => clone(nothing), 'ERR_ARGUMENT')
        refuses(() => zeros([1]).setData(nothing), 'ERR_ARGUMENT')
        refuses(() => sharesMemory(zeros([1]), nothing), 'ERR_ARGUMENT')
        refuses(() => fromBlob(nothing), 'ERR_ARGUMENT', 'ERR_UNSUPPORTED')
        refuses(() => forBlob(nothing).makeTensor(), 'ERR_ARGUMENT', 'ERR_UNSUPPORTED')
      }
    })

    it('a const source, which does not compile: a read-only tensor, whose writers refuse', () => {
      const t = fromBlob(floats(4), { readOnly: true })
      refusedUnchanged(t, () => t.fill(1), 'ERR_READ_ONLY')
      refusedUnchanged(t, () => t.view([2, 2]).set(1, 0, 0), 'ERR_READ_ONLY')
    })

    it('a builder finished twice, a rank-0 tensor there: an error', () => {
      const builder = forBlob(floats(4), [2, 2])
      builder.makeTensor()
      fails(() => builder.makeTensor(), Error, 'ERR_STALE')
    })

    it('a device that is a label only: one that is not there is an error', () => {
      fails(() => forBlob(floats(4), [4]).device('cuda:0').makeTensor(), Error, NO_CUDA)
      fails(() => zeros([1], { device: 'cuda:0' }), Error, NO_CUDA)
      assert.equal(forBlob(floats(4), [4]).device('cpu').makeTensor().device, 'cpu')
    })

    it('the release callback gets the current pointer there: here the original address, once, after setData', async () => {
      const calls = []
      const t = fromBlob(floats(4), [4], { deleter: (address) => calls.push(address) })
      const address = backend() === 'native' ? t.dataPtr : 0n
      t.setData(floats(8))
      await flush()
      assert.deepEqual(calls, [address])
      t.dispose()
      await flush()
      assert.equal(calls.length, 1)
    })
  })

  describe('strides and dim orders', () => {
    it('negative sizes, no permutation, strides of another length: an error, not an abort', () => {
      fails(() => zeros([-1]), RangeError, 'ERR_SHAPE')
      for (const opts of [
        { dimOrder: [0] },
        { dimOrder: [0, 0] },
        { dimOrder: [0, 2] },
        { strides: [1] },
        { strides: [1, 2, 3] },
      ]) {
        fails(() => fromBlob(floats(4), [2, 2], opts), RangeError, 'ERR_SHAPE')
        fails(() => zeros([2, 2]).view([2, 2], opts), RangeError, 'ERR_SHAPE')
      }
    })

    it('strides and dimOrder that disagree: an error; both may be given where they agree, padded too', () => {
      fails(
        () => fromBlob(floats(4), [2, 2], { strides: [2, 1], dimOrder: [1, 0] }),
        RangeError,
        'ERR_SHAPE',
      )
      fails(
        () => zeros([4]).view([2, 2], { strides: [1, 2], dimOrder: [0, 1] }),
        RangeError,
        'ERR_SHAPE',
      )
      assert.deepEqual(
        fromBlob(floats(8), [2, 2], { strides: [4, 1], dimOrder: [0, 1] }).toArray(),
        [
          [0, 1],
          [4, 5],
        ],
      )
    })

    it('stride 0, negative strides, padding and storage offset, refused there: fine inside the storage', () => {
      const t = fromBlob(floats(12), [2, 2], { strides: [6, 2], offset: 1 })
      assert.deepEqual(t.toArray(), [
        [1, 3],
        [7, 9],
      ])
      assert.deepEqual(fromBlob(floats(4), [2], { strides: [-2], offset: 3 }).toArray(), [3, 1])
      assert.deepEqual(fromBlob(floats(4), [3], { strides: [0], offset: 2 }).toArray(), [2, 2, 2])
    })

    it('size-1 strides, where ties decide its order: normalised, and channels-last with C = 1 is contiguous both ways', () => {
      const t = fromBlob(floats(72), [8, 1, 3, 3], { strides: [9, 1, 3, 1] })
      assert.equal(t.isContiguous(), true)
      assert.equal(t.isContiguous('channels_last'), true)
      assert.deepEqual(t.strides, [9, 9, 3, 1])
      assert.deepEqual(t.dimOrder, [0, 1, 2, 3])
      assert.equal(zeros([8, 2, 3, 3]).isContiguous('channels_last'), false)
      assert.deepEqual(fromBlob(floats(4), [1, 2, 2], { strides: [10, 2, 1] }).strides, [4, 2, 1])
    })

    it('size-0 strides: size 0 counts as 1, as there', () => {
      for (const [shape, strides] of [
        [
          [0, 5],
          [5, 1],
        ],
        [
          [5, 0],
          [1, 1],
        ],
        [
          [2, 0, 3],
          [3, 3, 1],
        ],
      ]) {
        assert.deepEqual(zeros(shape).strides, strides)
        const given = fromBlob(new Float32Array(0), shape, { strides: shape.map(() => 77) }) // NumPy's differ: no error
        assert.deepEqual(given.strides, strides)
      }
    })

    it('rank over 16: up to 64', () => {
      const t = zeros(new Array(64).fill(1))
      assert.equal(t.ndim, 64)
      assert.equal(t.get(...new Array(64).fill(0)), 0)
      fails(() => zeros(new Array(65).fill(1)), RangeError, 'ERR_SHAPE')
      fails(() => t.unsqueeze(0), RangeError, 'ERR_SHAPE')
    })
  })

  describe('views', () => {
    it('larger than the source: an error; −1, an abort there, is inferred', () => {
      const t = zeros([2, 3])
      fails(() => t.view([7]), RangeError, 'ERR_SHAPE')
      fails(() => t.view([7], { offset: 0 }), RangeError, 'ERR_BOUNDS')
      assert.deepEqual(t.view([3, -1]).shape, [3, 2])
      fails(() => t.view([-1, -1]), RangeError, 'ERR_SHAPE')
    })

    it('of another rank on another layout, other elements without an error there: the order is kept, or refused', () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).T
      fails(() => t.view([6]), RangeError, 'ERR_SHAPE', /reshape/)
      assert.deepEqual(t.reshape([6]).toArray(), [1, 4, 2, 5, 3, 6])
      assert.deepEqual(t.view([3, 1, 2]).toArray(), [[[1, 4]], [[2, 5]], [[3, 6]]])
      assert.deepEqual(t.asStrided([6], [1]).toArray(), [1, 2, 3, 4, 5, 6])
    })

    it('of rank 0 over one element, not to be expressed there: one element', () => {
      const t = tensor([[7]])
      const scalar = t.view([])
      assert.deepEqual([scalar.ndim, scalar.item()], [0, 7])
      scalar.set(8)
      assert.equal(t.get(0, 0), 8)
      fails(() => zeros([2]).view([]), RangeError, 'ERR_SHAPE')
    })

    it('outliving their source, dangling there unless the handle is captured: keep the bytes', async () => {
      const view = (() => {
        const t = full([4], 5, { shared: true })
        const v = t.slice('1:').view([3, 1])
        t.dispose()
        return v
      })()
      await collectAll()
      const others = Array.from({ length: 50 }, () => full([4], 9, { shared: true }))
      assert.deepEqual(view.toArray(), [[5], [5], [5]])
      assert.equal(others.length, 50)
    })

    it("another dtype of equal width, accepted by its typed access: get and data know the tensor's own only", () => {
      const t = tensor([1, 2])
      assert.ok(t.data instanceof Float32Array)
      assert.equal(t.get(0), 1)
      fails(() => t.setData(new Int32Array(2)), TypeError, 'ERR_DTYPE')
      fails(() => fromBlob(new Float32Array(2), [2], 'int32'), TypeError, 'ERR_DTYPE', /view/)
      assert.deepEqual(t.view('int32').toArray(), [0x3f800000, 0x40000000]) // asked for by name
    })

    it('size(-1), an abort there: negative axes and indices count from the end, others are errors', () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      assert.equal(t.get(-1, -1), 4)
      assert.deepEqual(t.select(-1, -1).toArray(), [2, 4])
      fails(() => t.select(-3, 0), RangeError, 'ERR_BOUNDS')
      fails(() => t.get(2, 0), RangeError, 'ERR_BOUNDS')
    })
  })

  describe('resize', () => {
    it('another rank, over capacity, static: an error that changes nothing', () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ])
      for (const shape of [[6], [2, 3, 1], [7, 1], [2, 4], [-1, 3], [HUGE, HUGE]]) {
        refusedUnchanged(t, () => t.resize(shape), 'ERR_SHAPE')
      }
      const fixed = zeros([2, 3], { dynamism: 'static' })
      refusedUnchanged(fixed, () => fixed.resize([3, 2]), 'ERR_SHAPE')
      assert.deepEqual(fixed.resize([2, 3]).shape, [2, 3])
      assert.deepEqual(tensor(5).resize([]).item(), 5)
    })

    it("the capacity of views of a shrunk tensor, lost there: over the whole base it is the base's, of a narrower one its own", () => {
      const t = tensor([
        [1, 2],
        [3, 4],
        [5, 6],
      ]).resize([2, 2])
      const whole = t.view([2, 2])
      assert.equal(whole.capacity, 6)
      assert.deepEqual(whole.resize([3, 2]).toArray(), [
        [1, 2],
        [3, 4],
        [5, 6],
      ])
      assert.deepEqual(t.shape, [2, 2])
      const part = t.narrow(0, 0, 1)
      assert.equal(part.capacity, 2)
      refusedUnchanged(part, () => part.resize([2, 2]), 'ERR_SHAPE')
      assert.deepEqual(t.resize([3, 2]).toArray(), [
        [1, 2],
        [3, 4],
        [5, 6],
      ])
    })

    it('unbound, bounded there: moves to another storage, views and data keep the old one; blobs refuse', () => {
      const t = tensor([1, 2], { dynamism: 'unbound' })
      const view = t.view([2])
      t.resize([4]).set(9, 0)
      assert.deepEqual([t.get(0), t.get(1)], [9, 2])
      assert.deepEqual(view.toArray(), [1, 2])
      const blob = fromBlob(floats(2), { dynamism: 'unbound' })
      refusedUnchanged(blob, () => blob.resize([4]), 'ERR_SHAPE')
    })

    it('of a tensor not in row-major order: the order of axes stays', () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).T.clone()
      assert.deepEqual(t.strides, [1, 3])
      assert.deepEqual(t.resize([2, 2]).strides, [1, 2])
    })
  })

  it("an owner that lives in a record beside the tensor, ExTorch's: the tensor itself keeps it", async () => {
    let gone = false
    const registry = new FinalizationRegistry(() => {
      gone = true
    })
    const t = (() => {
      const owner = {}
      registry.register(owner)
      return fromBlob(floats(4), [2, 2], { owner })
    })()
    await collectAll()
    assert.equal(gone, false)
    assert.equal(typeof t.owner, 'object')
  })
})
