'use strict'
const assert = require('node:assert/strict')
const { dtypes, empty, fromBlob, memory, ones, tensor, wasmMemory, zeros } = require('samebytes')
const { fails, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

/** every index of a shape */
function* indices(shape, at = []) {
  if (at.length === shape.length) yield at
  else for (let i = 0; i < shape[at.length]; i++) yield* indices(shape, [...at, i])
}

describe('accessor', () => {
  for (const { dtype, values } of SAMPLES) {
    it(`gets and sets what get and set do, on ${dtype} of 0 to 6 axes and any strides`, () => {
      for (const shape of [
        [],
        [6],
        [2, 3],
        [3, 1, 2],
        [1, 2, 3, 1],
        [1, 2, 1, 3, 1],
        [1, 1, 2, 3, 1, 1],
      ]) {
        const t = tensor(values.slice(0, shape.length === 0 ? 1 : 6), shape, dtype)
        const views = [
          t,
          t.permute(shape.map((_, d) => shape.length - 1 - d)),
          t.flip(shape.map((_, d) => d)),
          t.clone().expand(t.shape),
          t.astype(dtype),
        ]
        for (const v of views) {
          const a = v.accessor({ dtype, ndim: shape.length })
          for (const index of indices(v.shape)) {
            const fromEnd = index.map((i, d) => i - v.shape[d])
            assert.deepEqual(a.get(...index), v.get(...index))
            assert.deepEqual(a.get(...fromEnd), v.get(...index))
            for (const value of values) {
              assert.equal(a.set(value, ...fromEnd), undefined)
              assert.deepEqual(v.get(...index), value)
              assert.deepEqual(a.get(...index), value)
            }
          }
        }
      }
    })
  }

  for (const dtype of dtypes) {
    it(`takes the same values as set on ${dtype}, and refuses the same with the same code`, () => {
      const values = [
        0,
        -0,
        1,
        -1,
        2,
        0.5,
        1.5,
        127,
        128,
        255,
        256,
        -128,
        -129,
        32767,
        32768,
        65535,
        65536,
        -32769,
        2 ** 31,
        2 ** 31 - 1,
        2 ** 32 - 1,
        2 ** 32,
        -(2 ** 31),
        -(2 ** 31) - 1,
        2 ** 53,
        1e39,
        -1e39,
        3.4028235e38,
        3.40282356e38,
        1e300,
        65504,
        65520,
        448,
        500,
        NaN,
        Infinity,
        -Infinity,
        true,
        false,
        0n,
        1n,
        -1n,
        255n,
        256n,
        2n ** 63n - 1n,
        2n ** 63n,
        2n ** 64n - 1n,
        2n ** 64n,
        -(2n ** 63n),
        -(2n ** 63n) - 1n,
        [1, 2],
        [1],
        [],
        null,
        undefined,
        'a',
        '1',
        {},
        Symbol('s'),
        () => 1,
        { valueOf: () => 1 },
      ]
      const [t, u] = [ones([2], dtype), ones([2], dtype)]
      const a = t.accessor()
      const codeOf = (fn) => {
        try {
          fn()
        } catch (error) {
          return error.code ?? error
        }
      }
      for (const value of values) {
        assert.equal(
          codeOf(() => a.set(value, 1)),
          codeOf(() => u.fill(0).set(value, 1)),
        )
        t.set(0, 0)
        if (codeOf(() => u.set(value, 1)) === undefined) assert.deepEqual(t.bytes, u.bytes)
      }
    })
  }

  it('checks what is relied on: float32, 2 axes', () => {
    const t = zeros([2, 3])
    for (const given of [undefined, {}, 'float32', { dtype: 'float32' }, { ndim: 2 }]) {
      assert.equal(t.accessor(given).get(0, 0), 0)
    }
    fails(() => t.accessor('float64'), TypeError, 'ERR_DTYPE', /"float64".*float32/)
    fails(() => t.accessor({ ndim: 3 }), RangeError, 'ERR_SHAPE', /ndim is 3.*2 axes/)
    refuses(() => t.accessor({ ndim: 2.5 }), 'ERR_SHAPE')
    refuses(() => t.accessor({ ndim: '2' }), 'ERR_ARGUMENT')
    refuses(() => t.accessor({ dtype: 'f32' }), 'ERR_DTYPE')
    refuses(() => t.accessor(7), 'ERR_ARGUMENT')
  })

  it('keeps to the bounds and the number of axes of float32', () => {
    for (const shape of [[], [3], [3, 4], [3, 4, 5], [3, 4, 5, 6], [3, 4, 5, 6, 7]]) {
      const t = zeros(shape)
      const a = t.accessor()
      const zero = shape.map(() => 0)
      for (const [d, extent] of shape.entries()) {
        for (const bad of [extent, -extent - 1, 2 ** 32, -(2 ** 32), 2 ** 53, NaN, 0.5, Infinity]) {
          const index = zero.with?.(d, bad) ?? Object.assign([...zero], { [d]: bad })
          refuses(() => a.get(...index), 'ERR_BOUNDS')
          refuses(() => a.set(1, ...index), 'ERR_BOUNDS')
        }
        for (const bad of ['0', null, undefined, {}, 0n, { valueOf: () => 0 }]) {
          refuses(() => a.get(...Object.assign([...zero], { [d]: bad })), 'ERR_ARGUMENT')
        }
      }
      refuses(() => a.get(...zero, 0), 'ERR_SHAPE')
      refuses(() => a.set(1, ...zero, 0), 'ERR_SHAPE')
      if (shape.length > 0) {
        refuses(() => a.get(...zero.slice(1)), 'ERR_SHAPE')
        refuses(() => a.set(1, ...zero.slice(1)), 'ERR_SHAPE')
      }
      assert.ok(t.contiguous().data.every((x) => x === 0))
    }
    refuses(() => zeros([0]).accessor().get(0), 'ERR_BOUNDS')
    refuses(() => zeros([2, 0]).accessor().set(1, 0, 0), 'ERR_BOUNDS')
  })

  it('goes with a small float32 tensor whose bytes move when data shows them', () => {
    const t = tensor([1, 2, 3])
    const a = t.accessor()
    const b = t.slice('1:').accessor()
    assert.equal(a.get(1), 2)
    assert.equal(b.get(0), 2)
    const { data } = t
    a.set(7, 1)
    assert.deepEqual([...data], [1, 7, 3])
    data[2] = 9
    assert.deepEqual([a.get(2), b.get(1), b.get(0)], [9, 9, 7])
    b.set(5, -1)
    assert.equal(data[2], 5)
  })

  it('goes with float32 in memory that grows', () => {
    const t = tensor([1, 2, 3])
    const a = t.accessor()
    assert.equal(a.get(0), 1)
    const { grown } = memory()
    wasmMemory()?.grow(1)
    a.set(4, 0)
    assert.deepEqual([a.get(0), a.get(2), t.get(0)], [4, 3, 4])
    const more = empty([2 ** 24]) // grows it from inside
    assert.equal(a.get(1), 2)
    a.set(5, 1)
    assert.equal(t.get(1), 5)
    if (wasmMemory()) assert.ok(memory().grown > grown)
    more.dispose()
  })

  for (const [name, make] of Object.entries({
    'adopted bytes': () => fromBlob(new Float32Array([1, 2, 3, 4, 5, 6]), [2, 3]),
    'shared bytes': () => empty([2, 3], { shared: true }).copyFrom([1, 2, 3, 4, 5, 6]),
    'a SharedArrayBuffer': () => empty([2, 3], { shared: 'sab' }).copyFrom([1, 2, 3, 4, 5, 6]),
    '4 KiB': () =>
      zeros([32, 32])
        .slice(':2', ':3')
        .copyFrom([
          [1, 2, 3],
          [4, 5, 6],
        ]),
  })) {
    it(`works on float32 in ${name}`, () => {
      const t = make()
      const a = t.T.accessor()
      assert.deepEqual([a.get(0, 0), a.get(0, 1), a.get(2, -1)], [1, 4, 6])
      a.set(8, 1, 1)
      assert.equal(t.get(1, 1), 8)
      refuses(() => a.set(1e39, 0, 0), 'ERR_CAST')
      refuses(() => a.set('8', 0, 0), 'ERR_ARGUMENT')
      t.contiguous().data // eslint-disable-line no-unused-expressions
      if (t.isContiguous()) t.data[0] = 3
      else t.set(3, 0, 0)
      assert.equal(a.get(0, 0), 3)
    })
  }

  it('is refused on a disposed, detached or shrunk float32 tensor, before and after', () => {
    const gone = zeros([2])
    const a = gone.accessor()
    const view = gone.slice('1:').accessor()
    a.get(0)
    gone.dispose()
    refuses(() => a.get(0), 'ERR_DISPOSED')
    refuses(() => a.set(1, 0), 'ERR_DISPOSED')
    refuses(() => gone.accessor(), 'ERR_DISPOSED')
    assert.equal(view.get(0), 0)

    const buffer = new ArrayBuffer(16)
    const t = fromBlob(buffer, [4], 'float32')
    const b = t.accessor()
    b.get(0)
    structuredClone(buffer, { transfer: [buffer] })
    refuses(() => b.get(0), 'ERR_DETACHED')
    refuses(() => b.set(1, 0), 'ERR_DETACHED')
    refuses(() => t.accessor(), 'ERR_DETACHED')

    const shrinking = new ArrayBuffer(16, { maxByteLength: 32 })
    const c = fromBlob(shrinking, [4], 'float32').accessor()
    c.set(1, 3)
    shrinking.resize(12)
    refuses(() => c.get(0), 'ERR_DETACHED')
    shrinking.resize(16)
    assert.equal(c.get(3), 0)
  })

  it('is stale after resize and setData, on float32', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const a = t.accessor()
    assert.equal(a.get(1, 1), 4)
    t.resize([1, 2])
    refuses(() => a.get(0, 0), 'ERR_STALE')
    refuses(() => a.set(1, 0, 0), 'ERR_STALE')
    const b = t.accessor()
    assert.equal(b.get(0, 1), 2)
    t.setData(tensor([[5, 6]]))
    refuses(() => b.get(0, 0), 'ERR_STALE')
    assert.equal(t.accessor().get(0, 1), 6)
    t.dispose()
    refuses(() => b.get(0, 0), 'ERR_DISPOSED')
  })

  it('only reads what is read-only, or busy', async () => {
    const t = fromBlob(new Float32Array([1, 2]), [2], { readOnly: true })
    const a = t.accessor()
    assert.equal(a.get(1), 2)
    refuses(() => a.set(3, 1), 'ERR_READ_ONLY')
    const busy = zeros([2 ** 21])
    const b = busy.accessor()
    const copying = busy.copyFromAsync(ones([2 ** 21]))
    refuses(() => b.set(3, 1), 'ERR_BUSY')
    await copying
    assert.equal(b.get(-1), 1)
    b.set(3, 1)
    assert.equal(busy.get(1), 3)
  })

  it('says that its methods were taken from it', () => {
    for (const shape of [[], [2], [2, 2], [1, 2, 2], [1, 1, 2, 2], [1, 1, 1, 2, 2]]) {
      const { get, set } = zeros(shape).accessor()
      const index = shape.map(() => 0)
      fails(
        () => get(...index),
        TypeError,
        'ERR_ARGUMENT',
        /^get was called without its accessor; accessor\.get\(\.\.\.\) was expected$/,
      )
      fails(
        () => set(1, ...index),
        TypeError,
        'ERR_ARGUMENT',
        /^set was called without its accessor/,
      )
      fails(
        () => ({ get }).get(...index),
        TypeError,
        'ERR_ARGUMENT',
        /^get was called without its accessor/,
      )
      fails(
        () => ({ set }).set(1, ...index),
        TypeError,
        'ERR_ARGUMENT',
        /^set was called without its accessor/,
      )
    }
  })

  it('shows none of its memory', () => {
    const a = zeros([2, 2]).accessor()
    a.get(0, 0)
    assert.deepEqual(Reflect.ownKeys(a), [])
    assert.deepEqual(Object.keys(Object.getPrototypeOf(a)), [])
  })

  it("runs a pair's getters before it looks at the complex64 tensor", () => {
    const t = zeros([1], 'complex64')
    const a = t.accessor()
    const pair = Object.defineProperty([1, 2], 0, {
      get: () => {
        t.dispose()
        return 1
      },
    })
    refuses(() => a.set(pair, 0), 'ERR_DISPOSED')
  })

  it('counts no copies, and stages none, on float32 of its own', () => {
    const t = zeros([4])
    const a = t.accessor()
    const { copied, staged } = memory()
    for (let i = 0; i < 4; i++) a.set(a.get(i) + 1, i)
    assert.deepEqual(memory().copied, copied)
    assert.deepEqual(memory().staged, staged)
  })
})
