'use strict'
// …Strided: strides that the caller gives, over just as many bytes as they reach.
const assert = require('node:assert/strict')
const {
  Generator,
  emptyStrided,
  fullStrided,
  onesStrided,
  rand,
  randStrided,
  randint,
  randintStrided,
  randn,
  randnStrided,
  zerosStrided,
} = require('samebytes')
const { NO_CUDA, fails, generator, makesNothing, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

const FILLED = {
  emptyStrided,
  zerosStrided,
  onesStrided,
  fullStrided: (shape, strides, opts) => fullStrided(shape, strides, 1, opts),
}
const RANDOM = {
  randStrided,
  randnStrided,
  randintStrided: (shape, strides, opts) => randintStrided(0, 100, shape, strides, opts),
}
const MAKERS = { ...FILLED, ...RANDOM }

/** Elements in the storage, from the offset on: as many as a view can show. */
function room(t) {
  let low = 0
  let high = 1 << 20
  while (low < high) {
    const middle = (low + high + 1) >> 1
    try {
      t.asStrided([middle], [1], 0)
      low = middle
    } catch {
      high = middle - 1
    }
  }
  return low
}

describe('…Strided', () => {
  for (const [name, make] of Object.entries(MAKERS)) {
    it(`${name} lies as the strides say, in a storage that ends with the last element`, () => {
      const cases = [
        [[2, 3], [3, 1], 6],
        [[2, 3], [1, 2], 6],
        [[2, 3], [4, 1], 7],
        [[2, 3], [10, 3], 17],
        [[3], [5], 11],
        [[], [], 1],
        [[2, 2, 2], [1, 10, 100], 112],
      ]
      for (const [shape, strides, elements] of cases) {
        const t = make(shape, strides)
        assert.deepEqual([t.shape, t.strides, t.offset], [shape, strides, 0])
        assert.equal(
          t.capacity,
          shape.reduce((a, b) => a * b, 1),
        )
        assert.equal(t.isView, false)
        assert.equal(room(t), elements)
        assert.equal(t.dataPtr % 64n, 0n)
      }
    })

    it(`${name} normalises strides that no element needs, and has none for zero elements`, () => {
      assert.deepEqual(make([1, 3], [99, 1]).strides, [3, 1])
      assert.equal(room(make([1, 3], [99, 1])), 3)
      const t = make([0, 3], [7, 7])
      assert.deepEqual([t.shape, t.strides, t.size, room(t)], [[0, 3], [3, 1], 0, 0])
    })

    it(`${name} takes an integer as a shape, and options`, () => {
      assert.deepEqual(make(3, [2]).shape, [3])
      assert.deepEqual(make([3], Int32Array.of(2)).strides, [2])
      assert.equal(make([3], [2], { dynamism: 'static' }).dynamism, 'static')
      assert.equal(make([3], [2], { dynamism: 'unbound' }).dynamism, 'unbound')
      for (const shared of [true, 'sab']) assert.equal(make([3], [2], { shared }).isShared, true)
      const dtype = name === 'randintStrided' ? 'int16' : 'float64'
      assert.equal(make([3], [2], dtype).dtype, dtype)
      assert.equal(make([3], [2]).dtype, name === 'randintStrided' ? 'int32' : 'float32')
    })

    it(`${name} takes an order that the strides agree with`, () => {
      assert.deepEqual(make([2, 3], [5, 1], { order: 'C' }).strides, [5, 1])
      assert.deepEqual(make([2, 3], [1, 4], { order: 'F' }).strides, [1, 4])
      fails(() => make([2, 3], [5, 1], { order: 'F' }), RangeError, 'ERR_SHAPE', /agree/)
      fails(() => make([2, 3], [1, 4], { order: 'C' }), RangeError, 'ERR_SHAPE', /agree/)
      refuses(() => make([2, 3], [1, 4], { order: 'K' }), 'ERR_ARGUMENT')
    })

    it(`${name} refuses negative strides, other counts, and what cannot be had, and leaves nothing`, () => {
      makesNothing(() => {
        fails(() => make([2, 3], [-3, 1]), RangeError, 'ERR_BOUNDS', /strides\[0\] is -3/)
        fails(() => make([0], [-1]), RangeError, 'ERR_BOUNDS', /strides\[0\]/)
        fails(() => make([1], [-1]), RangeError, 'ERR_BOUNDS', /strides\[0\]/)
        fails(
          () => make([2, 3], [1]),
          RangeError,
          'ERR_SHAPE',
          /strides has 1 entries; the shape has 2/,
        )
        fails(() => make([2], [1, 1]), RangeError, 'ERR_SHAPE', /strides/)
        fails(() => make([-2], [1]), RangeError, 'ERR_SHAPE')
        for (const bad of [undefined, null, 1, 'float32', {}, [1.5], ['1']]) {
          refuses(() => make([2], bad), 'ERR_ARGUMENT', 'ERR_BOUNDS')
        }
        for (const bad of [undefined, null, 'float32', {}]) {
          refuses(() => make(bad, [1]), 'ERR_ARGUMENT')
        }
        refuses(() => make([2, 2], [2 ** 40, 1]), 'ERR_MEMORY', 'ERR_SHAPE')
        refuses(() => make([5, 2], [2 ** 52, 1]), 'ERR_MEMORY')
        refuses(() => make([5, 2], [2 ** 52, 1], { shared: true }), 'ERR_MEMORY')
        refuses(() => make([2 ** 40, 2], [2 ** 40, 1]), 'ERR_BOUNDS', 'ERR_SHAPE')
        refuses(() => make([2], [1], 'float'), 'ERR_DTYPE')
        refuses(() => make([2], [1], { device: 'cuda:0' }), NO_CUDA)
        refuses(() => make([2], [1], { pinMemory: true }), 'ERR_UNSUPPORTED')
      })
    })
  }

  it('zerosStrided and onesStrided are there, which ExecuTorch documents (zeros_strided, ones_strided) and does not have', () => {
    assert.deepEqual(zerosStrided([2, 3], [1, 2]).toArray(), [
      [0, 0, 0],
      [0, 0, 0],
    ])
    assert.deepEqual(onesStrided([2, 3], [1, 2]).toArray(), [
      [1, 1, 1],
      [1, 1, 1],
    ])
  })

  it('zerosStrided has zeros between its elements as well, also in reused and shared memory', () => {
    for (const shared of [undefined, true, 'sab']) {
      for (let round = 0; round < 50; round++) {
        fullStrided([11], [1], 7, { shared }).dispose()
        const t = zerosStrided([3, 2], [4, 2], { shared })
        assert.deepEqual(t.asStrided([11], [1], 0).toArray(), new Array(11).fill(0))
        t.dispose()
      }
    }
  })

  it('write their elements and leave what lies between them', () => {
    const t = onesStrided([3, 2], [4, 2], 'int32')
    const whole = t.asStrided([11], [1], 0)
    whole.fill(5)
    t.fill(2)
    assert.deepEqual(whole.toArray(), [2, 5, 2, 5, 2, 5, 2, 5, 2, 5, 2])
  })

  for (const { dtype, values } of SAMPLES) {
    it(`fullStrided writes ${dtype} everywhere`, () => {
      const t = fullStrided([2, 2], [1, 3], values[2], dtype)
      assert.equal(t.dtype, dtype)
      assert.deepEqual(t.toArray(), [
        [values[2], values[2]],
        [values[2], values[2]],
      ])
      assert.equal(zerosStrided([2, 2], [1, 3], dtype).dtype, dtype)
    })
  }

  it('fullStrided deduces its dtype from the value, which must fit', () => {
    assert.equal(fullStrided([2], [2], 1n).dtype, 'int64')
    assert.equal(fullStrided([2], [2], true).dtype, 'bool')
    assert.equal(fullStrided([2], [2], [1, 2]).dtype, 'complex64')
    makesNothing(() => {
      fails(() => fullStrided([2], [2], 300, 'uint8'), TypeError, 'ERR_CAST')
      fails(() => fullStrided([2], [2]), TypeError, 'ERR_ARGUMENT')
    })
  })

  for (const [name, make] of Object.entries(FILLED)) {
    it(`${name} may have elements that share bytes, and its own value is one for all`, () => {
      const t = make([3, 2], [0, 1]).fill(4)
      assert.equal(room(t), 2)
      assert.deepEqual(t.toArray(), [
        [4, 4],
        [4, 4],
        [4, 4],
      ])
      t.set(9, 1, 0)
      assert.deepEqual(t.toArray(), [
        [9, 4],
        [9, 4],
        [9, 4],
      ])
      const windows = make([3, 2], [1, 1])
      assert.equal(room(windows), 4)
      assert.deepEqual(windows.fill(2).asStrided([4], [1], 0).toArray(), [2, 2, 2, 2])
      if (name === 'emptyStrided') return
      const value = name === 'zerosStrided' ? 0 : 1
      assert.deepEqual(make([2, 2], [1, 1]).toArray(), [
        [value, value],
        [value, value],
      ])
      assert.deepEqual(make([2, 2], [0, 0]).toArray(), [
        [value, value],
        [value, value],
      ])
    })
  }

  for (const [name, make] of Object.entries(RANDOM)) {
    it(`${name} refuses elements that share bytes, and leaves nothing`, () => {
      makesNothing(() => {
        const numbers = new Generator(3)
        for (const strides of [
          [0, 1],
          [1, 1],
          [2, 2],
          [0, 0],
        ]) {
          fails(() => make([3, 2], strides, { generator: numbers }), Error, 'ERR_OVERLAP')
        }
        assert.equal(numbers.offset, 0n)
      })
    })
  }

  it('draw the same numbers as without strides', () => {
    const { next, shuffle } = generator(4)
    for (let round = 0; round < 60; round++) {
      const shape = Array.from({ length: 1 + next(3) }, () => 1 + next(40))
      const strides = []
      let step = 1 + next(3)
      for (const d of shuffle(shape.map((_, i) => i))) {
        strides[d] = step
        step *= shape[d] + next(2)
      }
      const seed = () => ({ generator: new Generator(round) })
      assert.deepEqual(randStrided(shape, strides, seed()).toArray(), rand(shape, seed()).toArray())
      assert.deepEqual(
        randnStrided(shape, strides, seed()).toArray(),
        randn(shape, seed()).toArray(),
      )
      assert.deepEqual(
        randintStrided(-5, 5, shape, strides, seed()).toArray(),
        randint(-5, 5, shape, seed()).toArray(),
      )
    }
  })

  it('have no random numbers of other kinds, and bounds in order; nothing is left', () => {
    makesNothing(() => {
      fails(() => randStrided([2], [1], 'int32'), TypeError, 'ERR_DTYPE')
      fails(() => randnStrided([2], [1], 'complex64'), TypeError, 'ERR_DTYPE')
      fails(() => randintStrided(0, 2, [2], [1], 'float32'), TypeError, 'ERR_DTYPE')
      fails(() => randintStrided(2, 2, [2], [1]), RangeError, 'ERR_BOUNDS', /below/)
      fails(() => randintStrided(3, 2, [2], [1]), RangeError, 'ERR_BOUNDS', /below/)
      fails(() => randintStrided(0, 300, [2], [1], 'uint8'), TypeError, 'ERR_CAST')
      fails(() => randintStrided('0', 2, [2], [1]), TypeError, 'ERR_ARGUMENT', /low/)
    })
  })
})
