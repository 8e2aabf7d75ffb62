'use strict'
const assert = require('node:assert/strict')
const {
  dtypes,
  fromBlob,
  fromOrt,
  memory,
  ones,
  sharesMemory,
  tensor,
  toOrt,
  wasmMemory,
  zeros,
} = require('samebytes')
const { SAMPLES } = require('../tables')
const {
  ALL_SHARED,
  collectUntil,
  copied,
  isPage,
  nativeOnly,
  needs,
  refuses,
  settledMemory,
  skip,
  skipWithout,
} = require('../setup')
const { loadOrt, same, target } = require('../models')

const THEIRS = [
  'bool',
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float16',
  'float32',
  'float64',
]

describe('toOrt and fromOrt', function () {
  let ort

  before(async () => {
    ort = await loadOrt()
  })

  for (const { dtype, values } of SAMPLES) {
    if (THEIRS.includes(dtype)) {
      it(`show a ${dtype} tensor as onnxruntime's and back: the same bytes, nothing copied`, () => {
        const t = zeros([2, 3], dtype)
        t.fill(values[1])
        const {
          result: [theirs, back],
          copies,
        } = copied(() => {
          const theirs = toOrt(t, ort)
          return [theirs, fromOrt(theirs)]
        })
        assert.deepEqual(copies, {})
        assert.ok(theirs instanceof ort.Tensor)
        assert.deepEqual(
          [theirs.type, theirs.dims, theirs.location, theirs.size],
          [dtype, [2, 3], 'cpu', 6],
        )
        assert.equal(theirs.data.buffer, t.data.buffer)
        assert.equal(theirs.data.byteOffset, t.data.byteOffset)
        assert.deepEqual([back.dtype, back.shape], [dtype, [2, 3]])
        assert.ok(sharesMemory(t, back))
        t.set(values[2], 1, 2)
        assert.deepEqual(back.get(1, 2), values[2])
        back.set(values[5], 0, 0)
        assert.deepEqual(t.get(0, 0), values[5])
      })
    } else {
      it(`refuse ${dtype}, which onnxruntime has no type for`, () => {
        const t = zeros([2], dtype)
        const error = refuses(() => toOrt(t, ort), 'ERR_DTYPE')
        assert.match(error.message, new RegExp(dtype))
        // What it advises works.
        const [, method, argument] = /; (astype|view)\('(\w+)'\)/.exec(error.message) ?? []
        assert.ok(
          sharesMemory(fromOrt(toOrt(t[method](argument), ort)), t) === (method === 'view'),
          error.message,
        )
      })
    }
  }

  it('know every dtype', () => {
    assert.equal(dtypes.filter((name) => THEIRS.includes(name)).length, THEIRS.length)
  })

  it('do float32 without axes and without elements', () => {
    for (const shape of [[], [0], [2, 0, 3], [1, 1]]) {
      const theirs = toOrt(ones(shape), ort)
      assert.deepEqual(theirs.dims, shape)
      const back = fromOrt(theirs)
      assert.deepEqual(back.shape, shape)
      assert.deepEqual(back.toArray(), ones(shape).toArray())
    }
  })

  it('do views that are contiguous, and refuse others with a word on contiguous()', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    const theirs = toOrt(t.narrow(0, 1, 2), ort)
    assert.deepEqual([...theirs.data], [3, 4, 5, 6])
    assert.equal(theirs.data.buffer, t.data.buffer)
    assert.match(refuses(() => toOrt(t.T, ort), 'ERR_SHAPE').message, /contiguous\(\)/)
  })

  it('read float32 of what a session gives, in place', async () => {
    const session = await ort.InferenceSession.create(same('float32'))
    const { y } = await session.run({ x: toOrt(target([3]).copyFrom([1, 2, 3]), ort) })
    const { result: t, copies } = copied(() => fromOrt(y))
    assert.deepEqual(copies, {})
    assert.deepEqual(t.toArray(), [1, 2, 3])
    y.data[1] = 20
    assert.equal(t.get(1), 20)
    await session.release()
  })

  for (const { dtype, values } of SAMPLES) {
    if (
      !['float32', 'float64', 'float16', 'int64', 'uint64', 'int8', 'uint16', 'bool'].includes(
        dtype,
      )
    ) {
      continue
    }
    it(`feed a session with ${dtype}, and are written into`, async function () {
      const session = await ort.InferenceSession.create(same(dtype))
      const list = [values[1], values[2], values[5]]
      const x = zeros([3], dtype)
      for (const [i, value] of list.entries()) x.set(value, i)
      const from = ALL_SHARED ? fromBlob(x.bytes.slice(), [3], dtype) : x // not every onnxruntime reads shared memory
      const read = await session.run({ x: toOrt(from, ort) })
      assert.deepEqual(fromOrt(read.y).toArray(), list)
      if (!isPage) {
        const to = fromBlob(new Uint8Array(3 * x.itemsize), [3], dtype)
        await session.run({ x: toOrt(from, ort) }, { y: toOrt(to, ort) })
        assert.deepEqual(to.toArray(), list)
      }
      await session.release()
    })
  }

  it("keep float32 bytes alive past the tensor's dispose", () => {
    const t = tensor([1, 2, 3, 4])
    const theirs = toOrt(t, ort)
    t.dispose()
    const others = Array.from({ length: 200 }, () => zeros([4]))
    assert.deepEqual([...theirs.data], [1, 2, 3, 4])
    assert.equal(others.length, 200)
    theirs.dispose()
    assert.throws(() => theirs.data)
  })

  it("give float32 bytes back with onnxruntime's dispose, and once only", () => {
    const before = memory().tensors
    const t = zeros([64])
    const theirs = toOrt(t, ort)
    assert.equal(memory().tensors, before + 2)
    theirs.dispose()
    assert.equal(memory().tensors, before + 1)
    t.dispose()
    assert.equal(memory().tensors, before)
  })

  it('let a collection find what nobody has any more', async function () {
    if (typeof globalThis.gc !== 'function') skip(this, 'it needs gc()')
    const { tensors } = settledMemory()
    const fill = () => {
      for (let i = 0; i < 50; i++) toOrt(zeros([100]), ort)
    }
    fill()
    assert.ok(
      await collectUntil(() => settledMemory().tensors <= tensors),
      `${memory().tensors} tensors, ${tensors} before`,
    )
  })

  it('refuse what is no tensor, and no onnxruntime', () => {
    const t = zeros([2])
    for (const x of [undefined, null, 1, 'x', {}, [], new Float32Array(2)]) {
      refuses(() => toOrt(x, ort), 'ERR_ARGUMENT')
      refuses(() => fromOrt(x), 'ERR_ARGUMENT')
      if (x !== undefined) refuses(() => toOrt(t, x), 'ERR_ARGUMENT')
    }
    refuses(() => toOrt(t, { Tensor: 1 }), 'ERR_ARGUMENT')
    refuses(
      () =>
        toOrt(t, {
          Tensor: class {
            constructor() {
              throw new Error('no')
            }
          },
        }),
      'ERR_ARGUMENT',
    )
    refuses(() => fromOrt(t), 'ERR_ARGUMENT')
    t.dispose()
    refuses(() => toOrt(t, ort), 'ERR_DISPOSED')
  })

  it('follow an ort.Tensor of no dispose, and let go of the bytes where it is frozen', () => {
    class Plain {
      constructor(type, data, dims) {
        Object.assign(this, { type, dims })
      }
    }
    const before = memory().tensors
    const t = zeros([2])
    const plain = toOrt(t, { Tensor: Plain })
    assert.deepEqual(Array.from(plain.data), [0, 0])
    plain.dispose()
    refuses(() => plain.data, 'ERR_DISPOSED')
    refuses(
      () =>
        toOrt(t, {
          Tensor: class extends Plain {
            constructor(...args) {
              super(...args)
              Object.freeze(this)
            }
          },
        }),
      'ERR_ARGUMENT',
    )
    t.dispose()
    assert.equal(memory().tensors, before)
  })

  it('leave no tensor behind when onnxruntime refuses', () => {
    const t = zeros([2])
    const { tensors } = memory()
    refuses(
      () =>
        toOrt(t, {
          Tensor: class {
            constructor() {
              throw new Error('no')
            }
          },
        }),
      'ERR_ARGUMENT',
    )
    assert.equal(memory().tensors, tensors)
  })

  it('refuse strings, other places than the CPU, and data that is none', () => {
    assert.match(
      refuses(() => fromOrt(new ort.Tensor('string', ['a'], [1])), 'ERR_DTYPE').message,
      /strings/,
    )
    refuses(
      () => fromOrt({ type: 'int4', dims: [2], data: new Uint8Array(1), location: 'cpu' }),
      'ERR_DTYPE',
    )
    const onGpu = {
      type: 'float32',
      dims: [2],
      location: 'gpu-buffer',
      get data() {
        throw new Error('read')
      },
    }
    assert.match(refuses(() => fromOrt(onGpu), 'ERR_DEVICE').message, /gpu-buffer/)
    refuses(
      () => fromOrt({ type: 'float32', dims: [2], data: [1, 2], location: 'cpu' }),
      'ERR_ARGUMENT',
    )
    refuses(
      () => fromOrt({ type: 'float32', dims: 2, data: new Float32Array(2), location: 'cpu' }),
      'ERR_ARGUMENT',
    )
    refuses(
      () => fromOrt({ type: 'float32', dims: [3], data: new Float32Array(2), location: 'cpu' }),
      'ERR_BOUNDS',
    )
    refuses(
      () => fromOrt({ type: 'float32', dims: [2], data: new Float64Array(2), location: 'cpu' }),
      'ERR_DTYPE',
    )
  })

  describe('while memory grows', () => {
    needs('memory that grows')
    it('show float32 bytes where they are now', () => {
      const t = tensor([1, 2, 3])
      const theirs = toOrt(t, ort)
      assert.equal(theirs.data.length, 3)
      wasmMemory().grow(1)
      assert.deepEqual([...theirs.data], [1, 2, 3])
      theirs.data[0] = 10
      assert.equal(t.get(0), 10)
    })
  })

  describe('of the addon', () => {
    nativeOnly()
    it('have float32 data at the address of the tensor', () => {
      const t = zeros([100])
      const theirs = toOrt(t, ort)
      assert.equal(fromOrt(theirs).dataPtr, t.dataPtr)
    })
  })

  it('write float32 results to the bytes that a tensor shows', async function () {
    if (isPage) return skipWithout(this, 'results in place')
    const session = await ort.InferenceSession.create(same('float32'))
    const to = target([3])
    const window = to.data
    await session.run({ x: toOrt(target([3]).copyFrom([1, 2, 3]), ort) }, { y: toOrt(to, ort) })
    assert.deepEqual([...window], [1, 2, 3])
    await session.release()
  })
})
