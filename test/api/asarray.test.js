'use strict'
// asarray copies only where it must, and says so where it may not.
const assert = require('node:assert/strict')
const { asarray, full, memory, tensor, zeros } = require('samebytes')
const { NO_CUDA, alive, copied, fails, makesNothing, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

/** What asarray gives, and that nothing was copied for it. */
function uncopied(...args) {
  const { result, copies } = copied(() => asarray(...args))
  assert.deepEqual(copies, {})
  return result
}

/** What asarray gives, and that it copied so many bytes, once. */
function copiedOf(bytes, ...args) {
  const { result, copies } = copied(() => asarray(...args))
  assert.deepEqual(copies, { asarray: { count: 1, bytes } })
  return result
}

describe('asarray', () => {
  it('gives a tensor itself where it is as wanted', () => {
    const t = zeros([2, 3], 'int16')
    for (const opts of [
      undefined,
      'int16',
      {},
      { dtype: 'int16', device: 'cpu', copy: false, order: 'C' },
    ]) {
      assert.equal(uncopied(t, opts), t)
    }
    const view = t.T
    assert.equal(uncopied(view), view)
    assert.equal(uncopied(view, { order: 'F', copy: false }), view)
  })

  for (const { dtype, values } of SAMPLES) {
    it(`wraps the data of ${dtype}, both ways`, () => {
      const source = tensor(values, { dtype }).contiguous().data.slice()
      const t = uncopied(source)
      assert.equal(t.owner, source)
      assert.deepEqual(t.shape, [source.length])
      const was = t.get(0)
      source[0] = source[1]
      assert.deepEqual(t.get(0), t.get(1))
      t.set(was, 0)
      assert.deepEqual(source[0], t.data[0])
    })
  }

  it('wraps Buffers as uint8, and ArrayBuffers, SharedArrayBuffers and DataViews as the dtype that is given', () => {
    const t = uncopied(Buffer.from('hi'))
    assert.deepEqual([t.dtype, t.toArray()], ['uint8', [104, 105]])
    for (const source of [
      new ArrayBuffer(8),
      new SharedArrayBuffer(8),
      new DataView(new ArrayBuffer(16), 8),
    ]) {
      const t = uncopied(source, { dtype: 'int16', copy: false, dynamism: 'static' })
      assert.deepEqual([t.dtype, t.shape, t.dynamism], ['int16', [4], 'static'])
      t.fill(3)
      assert.equal(new Uint8Array(source.buffer ?? source, source.byteOffset ?? 0, 8)[6], 3)
      fails(() => asarray(source), TypeError, 'ERR_DTYPE')
    }
    assert.equal(uncopied(new Uint8ClampedArray(2)).dtype, 'uint8')
  })

  it('copies lists, iterables and numbers as tensor does', () => {
    assert.deepEqual(
      copiedOf(16, [
        [1, 2],
        [3, 4],
      ]).toArray(),
      [
        [1, 2],
        [3, 4],
      ],
    )
    assert.deepEqual(copiedOf(8, new Set([1, 2]), 'int32').toArray(), [1, 2])
    assert.deepEqual([copiedOf(8, 5n).dtype, asarray(5n).shape], ['int64', []])
    assert.equal(copiedOf(1, true).dtype, 'bool')
    assert.deepEqual(copiedOf(8, [1, 2], 'complex64').toArray(), [1, 2])
    assert.deepEqual(
      [
        ...copiedOf(
          16,
          [
            [1, 2],
            [3, 4],
          ],
          { order: 'F' },
        ).strides,
      ],
      [1, 2],
    )
    assert.equal(asarray([1], { dynamism: 'unbound' }).dynamism, 'unbound')
  })

  it('converts values, not bytes, where a dtype differs, under the casting rule', () => {
    assert.deepEqual(copiedOf(8, Uint8Array.of(1, 255), 'float32').toArray(), [1, 255])
    assert.deepEqual(
      copiedOf(4, Float32Array.of(1.5), { dtype: 'int32', casting: 'unsafe' }).toArray(),
      [1],
    )
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { dtype: 'int16', order: 'F', dynamism: 'static' },
    )
    const made = copiedOf(24, t, 'int32')
    assert.deepEqual(
      [made.toArray(), made.strides, made.dynamism],
      [
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        [1, 2],
        'static',
      ],
    )
    const before = alive()
    fails(() => asarray(Float32Array.of(1.5), 'int32'), TypeError, 'ERR_CAST')
    fails(() => asarray(full([2], 1.5), 'int32'), TypeError, 'ERR_CAST')
    fails(() => asarray(zeros([0]), 'int32'), TypeError, 'ERR_CAST')
    fails(() => asarray([1.5], 'int32'), TypeError, 'ERR_CAST')
    fails(
      () => asarray(zeros([2], 'int32'), { dtype: 'int16', casting: 'safe' }),
      TypeError,
      'ERR_CAST',
    )
    assert.equal(memory().tensors, before + 3)
  })

  it('copies into another order of axes', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const made = copiedOf(16, t, { order: 'F' })
    assert.deepEqual(
      [[...made.strides], made.toArray()],
      [
        [1, 2],
        [
          [1, 2],
          [3, 4],
        ],
      ],
    )
    assert.deepEqual([...copiedOf(16, t.T, { order: 'C' }).strides], [2, 1])
    const gaps = zeros([4]).slice('::2')
    assert.equal(uncopied(gaps), gaps)
    assert.deepEqual([...copiedOf(8, gaps, { order: 'C' }).strides], [1])
  })

  it('always copies with copy: true', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ]).T
    const made = copiedOf(16, t, { copy: true })
    assert.notEqual(made, t)
    t.set(9, 0, 0)
    assert.deepEqual(
      [made.toArray(), made.strides],
      [
        [
          [1, 3],
          [2, 4],
        ],
        [1, 2],
      ],
    )
    const source = Float64Array.of(1, 2)
    const other = copiedOf(16, source, { copy: true })
    source[0] = 5
    assert.deepEqual([other.toArray(), other.dtype, other.owner], [[1, 2], 'float64', undefined])
    const bytes = Int16Array.of(1, 2, 3).buffer
    const before = alive()
    const words = copiedOf(6, bytes, { dtype: 'int16', copy: true, dynamism: 'unbound' })
    new Int16Array(bytes)[0] = 7
    assert.deepEqual([words.toArray(), words.dynamism], [[1, 2, 3], 'unbound'])
    assert.equal(memory().tensors, before + 1)
  })

  it('names what would have to be copied where copy is false', () => {
    const before = alive()
    const t = zeros([2, 2])
    const cases = [
      [[1, 2], {}, /a list/],
      [new Set([1]), {}, /a list/],
      [5, {}, /a number/],
      [5n, {}, /a bigint/],
      [true, {}, /a boolean/],
      [Uint8Array.of(1), { dtype: 'int8' }, /typed array of uint8 .*int8/],
      [t, { dtype: 'float64' }, /tensor of float32 .*float64/],
      [t, { order: 'F' }, /order 'F'/],
      [t.T, { order: 'C' }, /order 'C'/],
    ]
    for (const [x, opts, text] of cases) {
      const { copies } = copied(() =>
        fails(() => asarray(x, { ...opts, copy: false }), Error, 'ERR_UNSUPPORTED', text),
      )
      assert.deepEqual(copies, {})
    }
    assert.equal(memory().tensors, before + 2)
  })

  it('refuses what is nothing of all this, before it looks at the data', () => {
    const t = zeros([2])
    const gone = zeros([2])
    gone.dispose()
    makesNothing(() => {
      for (const bad of [undefined, null, 'x', Symbol('s'), () => 1, {}, ['x'], [[1], 2]]) {
        refuses(() => asarray(bad), 'ERR_ARGUMENT', 'ERR_SHAPE')
      }
      fails(() => asarray(gone), Error, 'ERR_DISPOSED')
      fails(() => asarray(gone, { copy: true }), Error, 'ERR_DISPOSED')
      for (const x of [t, [1], new Float32Array(2)]) {
        fails(() => asarray(x, 'float'), TypeError, 'ERR_DTYPE')
        fails(() => asarray(x, { device: 'cuda:0' }), Error, NO_CUDA)
        fails(() => asarray(x, { pinMemory: true }), Error, 'ERR_UNSUPPORTED', /CUDA/)
        fails(() => asarray(x, { copy: 1 }), TypeError, 'ERR_ARGUMENT', /copy/)
        fails(() => asarray(x, { casting: 'some' }), TypeError, 'ERR_ARGUMENT', /casting/)
        fails(() => asarray(x, { order: 'K' }), TypeError, 'ERR_ARGUMENT', /order/)
        fails(() => asarray(x, { dynamism: 'some' }), TypeError, 'ERR_ARGUMENT', /dynamism/)
        fails(() => asarray(x, 5), TypeError, 'ERR_ARGUMENT')
      }
      const source = new Float32Array(4)
      structuredClone(source.buffer, { transfer: [source.buffer] })
      fails(() => asarray(source), Error, 'ERR_DETACHED')
      fails(() => asarray(source, { copy: true }), Error, 'ERR_DETACHED')
    })
  })
})
