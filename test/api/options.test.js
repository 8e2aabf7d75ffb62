'use strict'
// What an option says is done or refused; nothing is passed over in silence.
const assert = require('node:assert/strict')
const {
  allClose,
  asarray,
  clone,
  concat,
  sharesMemory,
  tensor,
  zeros,
  zerosLike,
} = require('samebytes')
const { fails, refuses } = require('../setup')

const matrix = () =>
  tensor([
    [1, 2],
    [3, 4],
  ])

describe('options of float32 tensors', () => {
  it('may name the axis in take, roll, repeat and concat', () => {
    const t = matrix()
    assert.deepEqual(t.take([0], { axis: 1 }).toArray(), [[1], [3]])
    assert.deepEqual(t.take([0], undefined, { axis: -1 }).toArray(), [[1], [3]])
    assert.deepEqual(t.take([0], { axis: null }).toArray(), [1])
    assert.deepEqual(t.roll(1, { axis: 1 }).toArray(), [
      [2, 1],
      [4, 3],
    ])
    assert.deepEqual(t.roll([1, 1], { axis: [0, 1] }).toArray(), [
      [4, 3],
      [2, 1],
    ])
    assert.deepEqual(t.roll(1, { dtype: 'float64' }).toArray(), [
      [4, 1],
      [2, 3],
    ])
    assert.deepEqual(t.repeat(2, { axis: 1 }).toArray(), [
      [1, 1, 2, 2],
      [3, 3, 4, 4],
    ])
    assert.deepEqual(concat(t, t, { axis: 1 }).toArray(), [
      [1, 2, 1, 2],
      [3, 4, 3, 4],
    ])
    refuses(() => concat([t, t], 1, { axis: 0 }), 'ERR_ARGUMENT') // one of them is wrong
    refuses(() => t.take([0], { axis: '1' }), 'ERR_ARGUMENT')
    refuses(() => t.roll(1, { axis: 2 }), 'ERR_BOUNDS')
  })

  it('read each property once', () => {
    const read = []
    const options = new Proxy(
      { axis: 1 },
      {
        get(o, key) {
          read.push(key)
          return o[key]
        },
      },
    )
    concat([matrix(), matrix()], options)
    assert.deepEqual(read.sort(), ['axis', 'casting', 'dtype', 'out'])
  })

  it('of contiguous may be a dtype', () => {
    const t = matrix()
    assert.equal(t.contiguous('float32'), t)
    for (const made of [t.contiguous('float64'), t.contiguous({ dtype: 'float64' })]) {
      assert.deepEqual(
        [made.dtype, made.toArray()],
        [
          'float64',
          [
            [1, 2],
            [3, 4],
          ],
        ],
      )
    }
    const made = t.T.contiguous({ dtype: 'int8', casting: 'unsafe' })
    assert.deepEqual(
      [made.dtype, made.strides, made.toArray()],
      [
        'int8',
        [2, 1],
        [
          [1, 3],
          [2, 4],
        ],
      ],
    )
    refuses(() => t.contiguous('int8'), 'ERR_CAST')
  })

  it('of reshape: copy is true or false', () => {
    fails(
      () => matrix().reshape([4], { copy: 'never' }),
      TypeError,
      'ERR_ARGUMENT',
      /copy is "never"/,
    )
    refuses(() => matrix().reshape(4, { copy: 0 }), 'ERR_ARGUMENT')
  })
})

describe('functions of tensors', () => {
  it('name the argument that is none', () => {
    fails(() => clone([1]), TypeError, 'ERR_ARGUMENT', /t is an array; a tensor was expected/)
    fails(() => zerosLike(5), TypeError, 'ERR_ARGUMENT', /t is 5/)
    fails(() => sharesMemory(zeros([1]), 5), TypeError, 'ERR_ARGUMENT', /b is 5/)
  })

  it('sharesMemory takes two, in a list or not', () => {
    const t = zeros([2])
    assert.equal(sharesMemory(t, t.flip()), true)
    assert.equal(sharesMemory([t, t.clone()]), false)
    refuses(() => sharesMemory(t, t, t.clone()), 'ERR_ARGUMENT')
    refuses(() => sharesMemory([t, t, t.clone()]), 'ERR_ARGUMENT')
    refuses(() => sharesMemory(t), 'ERR_ARGUMENT')
    refuses(() => sharesMemory(), 'ERR_ARGUMENT')
  })

  it('asarray copies bytes that are not aligned', () => {
    const bytes = Uint8Array.of(9, 0, 0, 128, 63, 0, 0, 0, 64, 7)
    const view = new DataView(bytes.buffer, 1, 9)
    assert.deepEqual(asarray(view, 'float32').toArray(), [1, 2])
    assert.deepEqual(
      asarray(view, { dtype: 'float32', copy: true, dynamism: 'unbound' }).dynamism,
      'unbound',
    )
    fails(
      () => asarray(view, { dtype: 'float32', copy: false }),
      Error,
      'ERR_UNSUPPORTED',
      /not aligned/,
    )
    asarray(view, 'float32').fill(0)
    assert.equal(bytes[3], 128)
    assert.deepEqual(asarray(view, 'uint8').set(5, 0), undefined)
    assert.equal(bytes[1], 5)
    refuses(() => asarray(new DataView(new ArrayBuffer(8)), { copy: true }), 'ERR_DTYPE')
  })

  it('allClose takes no tolerance below 0', () => {
    const t = tensor([1])
    fails(() => allClose(t, t, { rtol: -1 }), RangeError, 'ERR_BOUNDS', /rtol is -1/)
    fails(() => allClose(t, t, { atol: -1e-9 }), RangeError, 'ERR_BOUNDS', /atol is -1e-9/)
    assert.equal(allClose(t, zeros([1]), { atol: Infinity }), true)
    assert.equal(allClose(t, t, { rtol: 0, atol: -0 }), true)
  })

  it('mT is for 2 axes or more', () => {
    assert.deepEqual(zeros([2, 3, 4]).mT.shape, [2, 4, 3])
    fails(() => zeros([2]).mT, RangeError, 'ERR_SHAPE', /1/)
    fails(() => zeros([]).T, RangeError, 'ERR_SHAPE', /0/)
  })
})

describe('lists of parts and runs', () => {
  it('split takes more sizes than a tensor has axes', () => {
    const parts = zeros([100]).split(new Array(100).fill(1))
    assert.deepEqual([parts.length, parts[99].offset], [100, 99])
    assert.deepEqual(
      zeros([3])
        .split(Int32Array.of(1, 2))
        .map((t) => t.size),
      [1, 2],
    )
    refuses(() => zeros([3]).split([1, 1.5]), 'ERR_BOUNDS')
    refuses(() => zeros([3]).split('3'), 'ERR_ARGUMENT')
  })

  it('repeat crosses its pieces of indices: int32', () => {
    const n = 100000
    const t = tensor(new Int32Array(n).map((_, i) => i))
    const counts = new Int32Array(n).map((_, i) => i % 3)
    const expected = []
    for (let i = 0; i < n; i++) for (let k = 0; k < counts[i]; k++) expected.push(i)
    assert.deepEqual(t.repeat(counts).data, Int32Array.from(expected))
    const runs = new Array(5).fill(0).with(1, 70000).with(4, 70000)
    const made = tensor(Int8Array.of(1, 2, 3, 4, 5)).repeat(runs)
    assert.deepEqual([made.size, made.get(69999), made.get(70000), made.get(-1)], [140000, 2, 5, 5])
  })
})
