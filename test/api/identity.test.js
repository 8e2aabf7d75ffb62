'use strict'
const assert = require('node:assert/strict')
const v8 = require('node:v8')
const { MessageChannel, Worker } = require('node:worker_threads')
const { Tensor, dtypes, empty, fromBlob, memory, tensor, zeros } = require('samebytes')
const { settledMemory } = require('../setup')

const differ = (a, b, text) => {
  assert.notDeepEqual(a, b, text)
  assert.notDeepEqual([{ t: a }], [{ t: b }], text)
  assert.notEqual(Object.prototype.toString.call(a), Object.prototype.toString.call(b)) // what Jest and Chai compare
}
const agree = (a, b, text) => {
  assert.deepEqual(a, b, text)
  assert.deepEqual([{ t: a }], [{ t: b }], text)
  assert.equal(Object.prototype.toString.call(a), Object.prototype.toString.call(b))
}

describe('assert.deepStrictEqual', () => {
  for (const dtype of dtypes) {
    it(`tells ${dtype} tensors of other values, shapes and dtypes apart`, () => {
      const t = tensor([0, 1, 1, 0, 1, 0], [2, 3], dtype)
      agree(t, tensor([0, 1, 1, 0, 1, 0], [2, 3], dtype))
      agree(t, t.clone())
      differ(t, tensor([0, 1, 1, 0, 1, 1], [2, 3], dtype))
      differ(t, tensor([1, 0, 1, 0, 1, 0], [2, 3], dtype))
      differ(t, t.reshape([3, 2]))
      differ(t, t.slice(':', ':2'))
      differ(t, t.astype(dtype === 'int32' ? 'int64' : 'int32', { casting: 'unsafe' }))
    })

    it(`finds ${dtype} views equal to what they show, whatever their strides`, () => {
      const t = tensor(
        Array.from({ length: 120 }, (_, i) => (i % 7 < 3 ? 1 : 0)),
        [4, 5, 6],
        dtype,
      )
      for (const view of [
        t.permute([2, 0, 1]),
        t.slice('::-1', '::2', '1:'),
        t.select(2, 3),
        t.transpose(0, 1),
        t.slice('0:1').expand([3, 5, 6]),
      ]) {
        agree(view, view.clone())
        agree(view, tensor(view.toArray(), view.shape, dtype))
        const other = view.clone()
        const last = other.shape.map(() => -1)
        other.set([].concat(other.get(...last))[0] ? 0 : 1, ...last)
        differ(view, other)
      }
    })

    it(`notices one bit of 100 KB of ${dtype}`, () => {
      const bytes = new Uint8Array(102400)
      const copy = () => fromBlob(bytes.slice(), { dtype })
      const t = copy()
      agree(t, copy())
      for (const at of [0, 1, 7, 8, 31, 32, 33, 4095, 51200, 102399]) {
        bytes[at] ^= 0x80
        const other = copy()
        differ(t, other, `byte ${at}`)
        bytes[at] ^= 0x81
        differ(other, copy())
        bytes[at] = 0
      }
    })
  }

  it('tells float64 of few bits apart, in any order', () => {
    const seen = new Map()
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 40; j++) {
        const text = Object.prototype.toString.call(tensor([i, j, 2 ** i, -i], 'float64'))
        assert.equal(seen.get(text), undefined)
        seen.set(text, [i, j])
      }
    }
  })

  it('tells empty float32 tensors apart by their shape, and rank 0', () => {
    agree(zeros([0, 3]), zeros([0, 3]))
    differ(zeros([0, 3]), zeros([3, 0]))
    differ(zeros([]), zeros([1]))
    agree(zeros([]), zeros([]))
    differ(zeros([1]), tensor([-0]))
    differ(zeros([2]), [0, 0])
    differ(zeros([2]), new Float32Array(2))
  })

  it('says dtype and shape in the tag of a float32 tensor', () => {
    assert.match(
      Object.prototype.toString.call(zeros([2, 3])),
      /^\[object Tensor\(float32\[2,3\]#[0-9a-f]{16}\)\]$/,
    )
  })

  it('gives the same tag on every back end', () => {
    assert.equal(zeros([2], 'float32')[Symbol.toStringTag], 'Tensor(float32[2]#1e58337aa5722c4b)')
    assert.equal(
      tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'int32')[Symbol.toStringTag],
      'Tensor(int32[10]#4728de8eec1d6e2f)',
    )
  })

  it('does not throw for what is disposed, detached or no tensor', () => {
    const gone = zeros([2])
    gone.dispose()
    assert.equal(Object.prototype.toString.call(gone), '[object Tensor(disposed)]')
    const buffer = new ArrayBuffer(8)
    const detached = fromBlob(buffer, [2], 'float32')
    structuredClone(buffer, { transfer: [buffer] })
    assert.equal(Object.prototype.toString.call(detached), '[object Tensor(float32[2], detached)]')
    differ(detached, gone)
    differ(gone, zeros([2]))
    assert.equal(Object.prototype.toString.call(Tensor.prototype), '[object Tensor]')
    assert.equal(Object.prototype.toString.call(Object.create(zeros([2]))), '[object Tensor]')
  })

  it('hashes 16 MiB, and reads nothing of more: that equals itself, and no other tensor', () => {
    const most = empty([2 ** 22]).zero()
    const other = most.clone()
    agree(most, other)
    other.set(1, 2 ** 22 - 1)
    differ(most, other)
    const more = empty([2 ** 22 + 1]).zero()
    const rows = empty([2 ** 24])
      .zero()
      .view([2 ** 23, 2])
      .slice(':', 0)
    for (const t of [more, rows]) {
      assert.match(
        Object.prototype.toString.call(t),
        /^\[object Tensor\(float32\[\d+\], not hashed \d+\)\]$/,
      )
      assert.deepEqual(t, t)
      assert.deepEqual([{ t }], [{ t }])
      differ(t, t.clone())
    }
    agree(zeros([1]).expand(2 ** 40), zeros([1]).expand(2 ** 40)) // one element
    for (const t of [most, other, more]) t.dispose()
  })
})

describe('structured clones', () => {
  const refused = { name: 'DataCloneError', message: /Tensor.*share\(t\).*could not be cloned/ }
  const t = tensor([
    [1, 2],
    [3, 4],
  ])

  it('of a float32 tensor are refused, naming share()', () => {
    for (const value of [t, [t], { a: { b: t } }, new Map([[1, t]]), t.T, zeros([0]), tensor(1)]) {
      assert.throws(() => structuredClone(value), refused)
    }
  })

  it('are refused by message ports, workers and v8.serialize', async () => {
    const { port1, port2 } = new MessageChannel()
    assert.throws(() => port1.postMessage(t), refused)
    assert.throws(() => port1.postMessage({ t }), refused)
    port1.close()
    port2.close()
    assert.throws(() => new Worker('', { eval: true, workerData: t }), refused)
    assert.throws(() => v8.serialize(t), { message: refused.message })
  })

  it('are refused for a disposed float32 tensor, and for one that lost its bytes', () => {
    const gone = zeros([2])
    gone.dispose()
    assert.throws(() => structuredClone(gone), refused)
  })

  it('leave one property that can be seen, and one that does no harm', () => {
    assert.deepEqual(Object.keys(t), ['uncloneable'])
    assert.equal(typeof t.uncloneable, globalThis.RUN?.browser === 'Firefox' ? 'object' : 'symbol')
    assert.equal(JSON.stringify({ ...t }), '{}')
    assert.equal(JSON.stringify({ t }), '{"t":[[1,2],[3,4]]}')
    const before = settledMemory().tensors
    assert.deepEqual({ ...t }, { ...zeros([3]) })
    assert.equal(memory().tensors, before + 1)
  })

  it('let programs that walk objects read every property, three levels deep and more', () => {
    const gone = zeros([2])
    gone.dispose()
    for (const each of [t, t.T, zeros([0]), gone]) {
      const names = []
      walk({ props: each }, 5, names)
      assert.deepEqual(names, ['props', 'uncloneable'])
    }
    const { uncloneable } = t
    assert.equal(
      typeof uncloneable === 'object'
        ? JSON.stringify([uncloneable, { uncloneable }])
        : '[null,{}]',
      '[null,{}]',
    )
    assert.match(String(uncloneable), /^(Symbol\(a Tensor .*\)|\[object Object\])$/)
  })
})

/** Reads as React, loggers and comparisons do: by for...in, and each own property, the hidden ones too. */
function walk(object, depth, names) {
  if (object === null || typeof object !== 'object' || depth === 0) return
  Object.prototype.toString.call(object)
  for (const name in object) {
    names.push(name)
    assert.equal(object[name], object[name])
  }
  for (const key of Reflect.ownKeys(object)) walk(object[key], depth - 1, names)
  if (typeof object[Symbol.iterator] === 'function' && !Tensor.isTensor(object)) {
    for (const each of object) walk(each, depth - 1, names)
  }
}

describe('names', () => {
  it('of public functions and classes are those that they are exported by, also in bundles', () => {
    const samebytes = require('samebytes')
    const wrong = Object.entries(samebytes).filter(
      ([name, value]) => typeof value === 'function' && value.name !== name,
    )
    assert.deepEqual(
      wrong.map(([name, { name: own }]) => `${name}: ${own}`),
      [],
    )
    const t = zeros([2])
    assert.equal(t.constructor.name, 'Tensor')
    t.dispose()
    assert.throws(
      () => t.get(0),
      (error) =>
        error.name === 'SamebytesError' &&
        error.constructor.name === 'SamebytesError' &&
        /^SamebytesError: /.test(String(error)),
    )
    assert.throws(
      () => zeros([-1]),
      (error) => error.name === 'RangeError' && error.constructor === RangeError,
    )
  })
})
