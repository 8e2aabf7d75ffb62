'use strict'
const assert = require('node:assert/strict')
const {
  concat,
  empty,
  fromBlob,
  memory,
  stack,
  takeAlongAxis,
  tensor,
  tril,
  triu,
  zeros,
} = require('samebytes')
const { copied, describeTensor, fails, refusedUnchanged, refuses } = require('../setup')

// Each makes of a 2 × 3 tensor a result of which shape and values are known.
const FLAT = [1, 2, 3, 4, 5, 6]
const places = tensor(
  [
    [2, 0],
    [-1, 1],
  ],
  'int32',
)
const MAKERS = {
  clone: [(t, opts) => t.clone(opts), [2, 3], FLAT],
  astype: [(t, opts) => t.astype(opts.out.dtype, opts), [2, 3], FLAT],
  contiguous: [(t, opts) => t.contiguous(opts), [2, 3], FLAT],
  to: [(t, opts) => t.to('cpu', opts), [2, 3], FLAT],
  cpu: [(t, opts) => t.cpu(opts), [2, 3], FLAT],
  concat: [(t, opts) => concat(t, t, 1, opts), [2, 6], [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]],
  stack: [(t, opts) => stack([t, t], 0, opts), [2, 2, 3], [...FLAT, ...FLAT]],
  tile: [(t, opts) => t.tile([2, 1], opts), [4, 3], [...FLAT, ...FLAT]],
  repeat: [(t, opts) => t.repeat(2, opts), [12], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]],
  roll: [(t, opts) => t.roll(1, opts), [2, 3], [6, 1, 2, 3, 4, 5]],
  take: [(t, opts) => t.take([2, 0], 1, opts), [2, 2], [3, 1, 6, 4]],
  takeAlongAxis: [(t, opts) => takeAlongAxis(t, places, opts), [2, 2], [3, 1, 6, 5]],
  tril: [(t, opts) => tril(t, opts), [2, 3], [1, 0, 0, 4, 5, 0]],
  triu: [(t, opts) => triu(t, opts), [2, 3], [1, 2, 3, 0, 5, 6]],
}
const matrix = (dtype = 'float32') =>
  tensor(
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    dtype,
  )
const flat = (t) => t.reshape(-1).toArray()

for (const [name, [make, shape, values]] of Object.entries(MAKERS)) {
  describe(`${name} into out`, () => {
    it('gives out back, with the elements in it, and counts one copy of its bytes', () => {
      const t = matrix()
      const out = zeros(shape)
      const { tensors, storages } = memory()
      const { result, copies } = copied(() => make(t, { out }))
      assert.equal(result, out)
      assert.deepEqual(flat(out), values)
      assert.deepEqual(copies[name === 'cpu' ? 'to' : name], { count: 1, bytes: 4 * values.length })
      const after = memory()
      assert.ok(after.tensors <= tensors + 1 && after.storages <= storages + 1) // flat's
    })

    it('writes through any strides, and nothing else', () => {
      const base = zeros([...shape, 2]).fill(-1)
      const out = base.select(-1, 1).flip()
      assert.equal(make(matrix(), { out }), out)
      assert.deepEqual(flat(out), values)
      assert.deepEqual(
        flat(base.select(-1, 0)),
        values.map(() => -1),
      )
    })

    it('casts to its dtype, by the rule that is given', () => {
      const halves = zeros(shape, 'float16')
      assert.deepEqual(flat(make(matrix('float64'), { out: halves })), values)
      const out = zeros(shape, 'int16')
      refusedUnchanged(out, () => make(matrix(), { out }), 'ERR_CAST')
      refusedUnchanged(halves, () => make(matrix(), { out: halves, casting: 'safe' }), 'ERR_CAST')
      assert.deepEqual(flat(make(matrix(), { out, casting: 'unsafe' })), values)
      assert.deepEqual(flat(make(matrix('uint8'), { out, casting: 'safe' })), values)
    })

    it('refuses what it cannot be put into, and leaves that as it was', () => {
      const t = matrix()
      const other = zeros([...shape, 1])
      refusedUnchanged(other, () => make(t, { out: other }), 'ERR_SHAPE')
      const twice = shape.map((n, d) => (d === 0 ? 1 : n))
      const repeated = zeros(twice).fill(3).expand(shape)
      refusedUnchanged(repeated, () => make(t, { out: repeated }), 'ERR_OVERLAP')
      const locked = fromBlob(new Float32Array(values.length), shape, { readOnly: true })
      refusedUnchanged(locked, () => make(t, { out: locked }), 'ERR_READ_ONLY')
      const out = zeros(shape)
      out.dispose()
      refuses(() => make(t, { out }), 'ERR_DISPOSED')
      const bytes = new Float32Array(values.length)
      const gone = fromBlob(bytes, shape)
      structuredClone(bytes, { transfer: [bytes.buffer] })
      refuses(() => make(t, { out: gone }), 'ERR_DETACHED')
    })

    it('refuses what is no tensor', () => {
      const t = matrix()
      for (const out of [null, [1], new Float32Array(values.length), 'float32', {}]) {
        if (name === 'astype') refuses(() => t.astype('float32', { out }), 'ERR_ARGUMENT')
        else refuses(() => make(t, { out }), 'ERR_ARGUMENT')
      }
    })

    it('refuses a tensor that is being written', async () => {
      const out = zeros(shape, { shared: true })
      const pending = out.copyFromAsync(zeros(shape, { shared: true }))
      refuses(() => make(matrix(), { out }), 'ERR_BUSY')
      await pending
      assert.deepEqual(flat(make(matrix(), { out })), values)
    })

    it('is right where out is the source, or shifted within the same bytes', () => {
      const n = values.length
      for (const at of [0, 1, 2, 5]) {
        for (const backwards of [false, true]) {
          const base = zeros([n + 12])
          const t = base.slice('4:10').reshape(2, 3).copyFrom(matrix())
          const out = base.narrow(0, at, n).view(shape)
          const target = backwards ? out.flip() : out
          assert.equal(make(t, { out: target }), target)
          assert.deepEqual(flat(target), values, `${at}`)
        }
      }
    })
  })
}

describe('out', () => {
  it('must have the dtype that is asked for besides', () => {
    const out = zeros([2, 3])
    fails(
      () => matrix().astype('float16', { out }),
      TypeError,
      'ERR_DTYPE',
      /out is float32; the result was to be float16/,
    )
    refuses(() => matrix().clone({ dtype: 'float64', out }), 'ERR_DTYPE')
    refuses(() => concat([matrix()], 0, { dtype: 'float64', out }), 'ERR_DTYPE')
    assert.equal(concat([matrix('int8')], 0, { dtype: 'float32', out }), out)
  })

  it('names both shapes where they differ', () => {
    fails(
      () => matrix().tile(2, { out: zeros([2, 3]) }),
      RangeError,
      'ERR_SHAPE',
      /out has shape \[2, 3\]; the result has \[2, 6\]/,
    )
  })

  it('is refused as a whole where only parts of it overlap each other', () => {
    const windows = zeros([5]).unfold(0, 3, 2) // the rows share one element
    refusedUnchanged(
      windows,
      () => stack([tensor([1, 2, 3]), tensor([4, 5, 6])], 0, { out: windows }),
      'ERR_OVERLAP',
    )
    const column = zeros([2, 1]).expand(2, 2)
    refusedUnchanged(
      column,
      () => concat([zeros([2, 1]).fill(1), zeros([2, 1]).fill(2)], 1, { out: column }),
      'ERR_OVERLAP',
    )
  })

  it('keeps what it has where an index is outside', () => {
    const t = matrix()
    const out = zeros([3, 3]).fill(7)
    refusedUnchanged(out, () => t.take([0, 1, 2], 0, { out }), 'ERR_BOUNDS')
    refusedUnchanged(t, () => t.take([0, 2], 0, { out: t }), 'ERR_BOUNDS')
  })

  it("may be where take's int32 indices are", () => {
    const t = tensor([30, 10, 20], 'int32')
    const indices = tensor([2, 0, 1], 'int32')
    assert.deepEqual(t.take(indices, { out: indices }).toArray(), [20, 30, 10])
    assert.deepEqual(t.toArray(), [30, 10, 20])
  })

  it('gets int64 exactly by way of a temporary copy', () => {
    const t = tensor([2n ** 53n + 1n, 5n])
    const out = zeros([2], 'uint64')
    assert.deepEqual(t.take([1, 0], { out }).toArray(), [5n, 2n ** 53n + 1n])
    const same = zeros([2], 'int64').copyFrom(t)
    assert.deepEqual(concat([same.slice('1:'), same.slice(':1')], { out: same }).toArray(), [
      5n,
      2n ** 53n + 1n,
    ])
  })

  it('gets each source as it is, not as the dtype in which they meet, also by way of a temporary copy', () => {
    const out = zeros([2], 'float64')
    const t = out
      .view('int64')
      .slice(':1')
      .fill(2 ** 24 + 1)
    assert.deepEqual(concat(t, tensor([1.5]), { out }).toArray(), [2 ** 24 + 1, 1.5]) // float32 would round
  })

  it('counts a temporary copy as staged, only where there has to be one', () => {
    const t = tensor([1, 2, 3, 4])
    const apart = empty([4])
    const before = memory().staged.count
    t.roll(1, { out: apart })
    assert.equal(memory().staged.count, before)
    t.roll(1, { out: t })
    assert.equal(memory().staged.count, before + 1)
    assert.deepEqual(t.toArray(), [4, 1, 2, 3])
  })

  it('is not asked for before all user code has run', () => {
    const t = matrix()
    const out = zeros([12])
    const opts = {
      get casting() {
        out.dispose()
        return 'same_kind'
      },
      out,
    }
    fails(() => t.repeat(2, opts), Error, 'ERR_DISPOSED')
    const list = {
      *[Symbol.iterator]() {
        t.dispose()
        yield 0
      },
    }
    fails(() => t.take(list), Error, 'ERR_DISPOSED')
  })

  it('keeps its layout and dynamism', () => {
    const out = empty([2, 3], { order: 'F', dynamism: 'static' })
    const before = describeTensor(out).strides
    matrix().clone({ out })
    assert.deepEqual([out.strides, out.dynamism], [before, 'static'])
  })
})
