'use strict'
// …Like: the shape, dtype and dim order of a tensor that there is, and neither its dynamism nor its bytes.
const assert = require('node:assert/strict')
const {
  Generator,
  empty,
  emptyLike,
  fromBlob,
  fullLike,
  memory,
  onesLike,
  rand,
  randLike,
  randint,
  randintLike,
  randn,
  randnLike,
  tensor,
  zeros,
  zerosLike,
} = require('samebytes')
const {
  ALL_SHARED,
  NO_CUDA,
  alive,
  fails,
  generator,
  hex,
  makesNothing,
  refuses,
} = require('../setup')
const { SAMPLES } = require('../tables')

const MAKERS = {
  emptyLike,
  zerosLike,
  onesLike,
  fullLike: (t, opts) => fullLike(t, 1, opts),
  randLike: (t, opts) => randLike(t, opts),
  randnLike: (t, opts) => randnLike(t, opts),
  randintLike: (t, opts) => randintLike(t, 0, 2, opts),
}
/** a dtype that each of them can make */
const fitting = (name) => (name === 'randintLike' ? 'int16' : 'float64')

describe('…Like', () => {
  for (const [name, make] of Object.entries(MAKERS)) {
    const dtype = fitting(name)

    it(`${name} takes shape, dtype and order of axes over, and leaves no gaps`, () => {
      const t = zeros([2, 3, 4], { dtype })
      const cases = [
        [t, [12, 4, 1]],
        [zeros([2, 3, 4], { dtype, order: 'F' }), [1, 2, 6]],
        [t.permute(1, 2, 0).contiguous().permute(2, 0, 1), [1, 8, 2]],
        [zeros([4, 6, 8], dtype).slice('::2', '::2', '::2'), [12, 4, 1]],
        [t.flip(), [12, 4, 1]],
        [t.select(0, 0).expand(2, 3, 4), t.select(0, 0).expand(2, 3, 4).clone().strides], // a repeated axis gets room, too
      ]
      for (const [source, strides] of cases) {
        const made = make(source)
        assert.deepEqual(
          [made.shape, made.strides, made.dtype, made.offset],
          [[2, 3, 4], strides, dtype, 0],
        )
        assert.equal(made.isView, false)
      }
      for (const shape of [[], [0], [2, 0, 3], [1, 1], [5]]) {
        assert.deepEqual(make(zeros(shape, dtype)).shape, shape)
      }
    })

    it(`${name} does not take dynamism, sharing, read-only or owner over`, () => {
      const source = new (dtype === 'int16' ? Int16Array : Float64Array)(4)
      const t = make(fromBlob(source, [4], { dynamism: 'unbound', readOnly: true }))
      assert.equal(t.dynamism, 'bounded')
      assert.equal(t.capacity, 4)
      assert.equal(t.isReadOnly, false)
      assert.equal(t.owner, undefined)
      assert.equal(make(zeros([2], { dtype, shared: true })).isShared, ALL_SHARED)
      t.fill(1)
      assert.deepEqual([...source], [0, 0, 0, 0])
    })

    it(`${name} lets options differ: dtype, order, dynamism, shared`, () => {
      const other = dtype === 'int16' ? 'uint8' : 'float16'
      const t = zeros([2, 3], { dtype, order: 'F' })
      assert.equal(make(t, other).dtype, other)
      assert.deepEqual([...make(t, { dtype: other }).strides], [1, 2])
      assert.deepEqual([...make(t, { order: 'C' }).strides], [3, 1])
      assert.deepEqual([...make(t.T.contiguous(), { order: 'F' }).strides], [1, 3])
      assert.equal(make(t, { dynamism: 'static' }).dynamism, 'static')
      for (const shared of [true, 'sab']) assert.equal(make(t, { shared }).isShared, true)
    })

    it(`${name} refuses what is no tensor, and what was disposed, and leaves nothing`, () => {
      const gone = zeros([2], dtype)
      gone.dispose()
      const t = zeros([2], dtype)
      makesNothing(() => {
        for (const bad of [undefined, null, 3, [1, 2], {}, new Float32Array(2)]) {
          fails(() => make(bad), TypeError, 'ERR_ARGUMENT', /tensor/)
        }
        fails(() => make(gone), Error, 'ERR_DISPOSED')
        refuses(() => make(t, 'float'), 'ERR_DTYPE')
        refuses(() => make(t, { device: 'cuda:0' }), NO_CUDA)
        refuses(() => make(t, { order: 'A' }), 'ERR_ARGUMENT')
        refuses(() => make(t, { dynamism: 'some' }), 'ERR_ARGUMENT')
        refuses(() => make(t, { pinMemory: true }), 'ERR_UNSUPPORTED')
        refuses(() => make(t, 5), 'ERR_ARGUMENT')
      })
    })
  }

  for (const { dtype, values } of SAMPLES) {
    it(`write zeros, ones and values of ${dtype}`, () => {
      const t = tensor(values, [2, 3], { dtype, order: 'F' })
      const zero = zeros([2, 3], dtype).toArray()
      const one = zeros([2, 3], dtype).fill(1).toArray()
      assert.deepEqual(zerosLike(t).toArray(), zero)
      assert.deepEqual(onesLike(t).toArray(), one)
      const made = fullLike(t, values[3])
      assert.equal(made.dtype, dtype)
      assert.deepEqual(made.toArray(), [
        [values[3], values[3], values[3]],
        [values[3], values[3], values[3]],
      ])
      assert.deepEqual(t.toArray().flat(Array.isArray(values[0]) ? 1 : Infinity), values)
    })
  }

  it('give zeros in reused memory too', () => {
    const like = empty([4, 4], { order: 'F' })
    for (let round = 0; round < 100; round++) {
      fullLike(like, 7).dispose()
      const z = zerosLike(like)
      assert.equal(hex(z), '00'.repeat(64))
      z.dispose()
    }
  })

  it('draw what rand, randn and randint draw of the same shape, dtype and order', () => {
    const pairs = [
      [
        (opts) => randLike(zeros([3, 4], { dtype: 'float64', order: 'F' }), opts),
        (opts) => rand([3, 4], { dtype: 'float64', ...opts }),
      ],
      [
        (opts) => randnLike(zeros([3, 4], 'float16'), opts),
        (opts) => randn([3, 4], { dtype: 'float16', ...opts }),
      ],
      [
        (opts) => randintLike(zeros([3, 4], { dtype: 'int8', order: 'F' }), -3, 9, opts),
        (opts) => randint(-3, 9, [3, 4], { dtype: 'int8', ...opts }),
      ],
    ]
    for (const [like, plain] of pairs) {
      assert.deepEqual(
        like({ generator: new Generator(5) }).toArray(),
        plain({ generator: new Generator(5) }).toArray(),
      )
    }
  })

  it('have no random numbers for an integer or float tensor that fit another kind, unless a dtype is given', () => {
    const before = alive()
    const [integers, floats] = [zeros([2], 'int32'), zeros([2])]
    const numbers = new Generator(1)
    fails(() => randLike(integers, { generator: numbers }), TypeError, 'ERR_DTYPE', /int32/)
    fails(() => randnLike(integers, { generator: numbers }), TypeError, 'ERR_DTYPE', /int32/)
    fails(
      () => randintLike(floats, 0, 2, { generator: numbers }),
      TypeError,
      'ERR_DTYPE',
      /float32/,
    )
    assert.equal(numbers.offset, 0n)
    assert.equal(randLike(integers, 'float32').dtype, 'float32')
    assert.equal(randnLike(integers, { dtype: 'float64' }).dtype, 'float64')
    assert.equal(randintLike(floats, 0, 2, 'int8').dtype, 'int8')
    assert.equal(memory().tensors, before + 5)
  })

  it('refuse values and bounds that do not fit the dtype taken over; nothing is left', () => {
    const bytes = zeros([2], 'uint8')
    makesNothing(() => {
      fails(() => fullLike(bytes, 300), TypeError, 'ERR_CAST')
      fails(() => fullLike(bytes, 1.5), TypeError, 'ERR_CAST')
      fails(() => fullLike(bytes), TypeError, 'ERR_ARGUMENT')
      fails(() => randintLike(bytes, 0, 257), TypeError, 'ERR_CAST')
      fails(() => randintLike(bytes, 3, 3), RangeError, 'ERR_BOUNDS', /below/)
      fails(() => randintLike(bytes, 4, 3), RangeError, 'ERR_BOUNDS', /below/)
      fails(() => randintLike(bytes, 0.5, 3), TypeError, 'ERR_ARGUMENT', /low/)
      fails(() => randintLike(bytes, 0), TypeError, 'ERR_ARGUMENT', /high/)
    })
  })

  it('keep the order of axes of random layouts, as clone does', () => {
    const { next, shuffle } = generator(9)
    for (let round = 0; round < 200; round++) {
      const n = 1 + next(5)
      const shape = Array.from({ length: n }, () => 1 + next(4))
      const order = shuffle(shape.map((_, d) => d))
      const t = zeros(shape, 'int16').permute(...order)
      assert.deepEqual(emptyLike(t).strides, t.clone().strides)
      assert.deepEqual(emptyLike(t).dimOrder, t.dimOrder)
    }
  })
})
