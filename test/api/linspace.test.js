'use strict'
// Evenly spaced numbers with NumPy's bits.
const assert = require('node:assert/strict')
const { backend, linspace, memory } = require('samebytes')
const { fails, generator, hex, makesNothing, refuses, skipWithout } = require('../setup')
const { BOUNDS, askNumpy } = require('../sequences')

function cases({ next, uint32, pick }) {
  const list = []
  for (const [dtype, [low, high]] of Object.entries(BOUNDS)) {
    if (dtype === 'bool') continue
    for (let i = 0; i < 40; i++) {
      const width = Math.min(Number(high), 2 ** 52) - Math.max(Number(low), -(2 ** 52))
      const near = () =>
        Math.max(Number(low), -(2 ** 52)) + (uint32() / 2 ** 32) * width * pick([1, 1e-2, 1e-9])
      const [start, stop] = [near(), pick([near, near, near, () => Math.trunc(near())])()]
      list.push({
        make: 'linspace',
        start,
        stop: next(12) ? stop : start,
        num: pick([0, 1, 2, 3, 5, next(50), 257, 700]),
        endpoint: next(3) > 0,
        dtype,
      })
    }
  }
  for (const num of [2, 3, 7, 300]) {
    // steps that a float64 cannot hold
    for (const stop of [5e-324, -5e-324, 3e-323]) {
      for (const endpoint of [true, false]) {
        list.push({ make: 'linspace', start: 0, stop, num, endpoint, dtype: 'float64' })
      }
    }
  }
  return list
}

describe('linspace', () => {
  it('divides the way from start to stop, in float32 unless a dtype is given', () => {
    const t = linspace(0, 1, 5)
    assert.equal(t.dtype, 'float32')
    assert.deepEqual(t.toArray(), [0, 0.25, 0.5, 0.75, 1])
    assert.deepEqual(linspace(1, -1, 3, 'float64').toArray(), [1, 0, -1])
    assert.deepEqual(linspace(3, 3, 3).toArray(), [3, 3, 3])
  })

  it('leaves stop out where endpoint is false', () => {
    assert.deepEqual(linspace(0, 1, 4, { endpoint: false }).toArray(), [0, 0.25, 0.5, 0.75])
    assert.deepEqual(linspace(2, 3, 1, { endpoint: false }).toArray(), [2])
    assert.deepEqual(linspace(0, 1, 3, { endpoint: true }).toArray(), [0, 0.5, 1])
  })

  it('ends with exactly stop, where the float64 sum would not', () => {
    let different = 0
    for (let num = 2; num < 300; num++) {
      const [start, stop] = [0.1, 0.7]
      const t = linspace(start, stop, num, 'float64')
      assert.equal(t.get(-1), stop)
      assert.equal(t.get(0), start)
      different += (num - 1) * ((stop - start) / (num - 1)) + start !== stop
    }
    assert.ok(different > 10)
  })

  it('is start alone of one element, and nothing of none', () => {
    assert.deepEqual(linspace(2, 9, 1).toArray(), [2])
    assert.deepEqual(linspace(2, 9, 0).toArray(), [])
    assert.deepEqual(linspace(2, 9, 0, { endpoint: false }).shape, [0])
    assert.deepEqual(linspace(-1, 300, 0, 'uint8').shape, [0]) // nothing has to fit
  })

  it('takes the next integer below in integer dtypes, also below zero', () => {
    assert.deepEqual(linspace(0, 10, 5, 'int32').toArray(), [0, 2, 5, 7, 10])
    assert.deepEqual(linspace(-1, 0, 3, 'int8').toArray(), [-1, -1, 0])
    assert.deepEqual(linspace(0, 1, 3, 'uint64').toArray(), [0n, 0n, 1n])
    assert.deepEqual(linspace(0, 255.9, 2, 'uint8').toArray(), [0, 255])
  })

  it('goes where it is asked to', () => {
    assert.equal(linspace(0, 1, 3, { dynamism: 'unbound' }).dynamism, 'unbound')
    for (const shared of [true, 'sab']) {
      const t = linspace(0, 1, 300, { shared })
      assert.ok(t.isShared)
      assert.equal(hex(t), hex(linspace(0, 1, 300)))
    }
  })

  it('refuses values that do not fit, bool, NaN, infinities, ways beyond float64, and counts that are none; nothing is left', () => {
    makesNothing(() => {
      fails(() => linspace(0, 256, 3, 'uint8'), TypeError, 'ERR_CAST', /256/)
      fails(() => linspace(-0.5, 3, 3, 'uint8'), TypeError, 'ERR_CAST', /-1/)
      fails(() => linspace(0, 2 ** 63, 2, 'int64'), TypeError, 'ERR_CAST')
      fails(() => linspace(0, 1e39, 2), TypeError, 'ERR_CAST')
      fails(() => linspace(0, 500, 2, 'float8_e4m3fn'), TypeError, 'ERR_CAST')
      fails(() => linspace(0, 1, 3, 'bool'), TypeError, 'ERR_DTYPE')
      for (const bad of [NaN, Infinity, -Infinity]) {
        fails(() => linspace(bad, 1, 3), RangeError, 'ERR_BOUNDS', /start/)
        fails(() => linspace(0, bad, 3), RangeError, 'ERR_BOUNDS', /stop/)
      }
      fails(
        () => linspace(-1.7e308, 1.7e308, 3, 'float64'),
        RangeError,
        'ERR_BOUNDS',
        /stop - start/,
      )
      for (const bad of ['0', 1n, null, undefined, [0], true]) {
        fails(() => linspace(bad, 1, 3), TypeError, 'ERR_ARGUMENT', /start/)
        fails(() => linspace(0, bad, 3), TypeError, 'ERR_ARGUMENT', /stop/)
      }
      for (const bad of [undefined, '3', null, {}, 3n]) {
        fails(() => linspace(0, 1, bad), TypeError, 'ERR_ARGUMENT', /num/)
      }
      for (const bad of [-1, 1.5, NaN, 2 ** 53]) {
        fails(() => linspace(0, 1, bad), RangeError, 'ERR_SHAPE', /num/)
      }
      fails(() => linspace(0, 1, 3, { endpoint: 1 }), TypeError, 'ERR_ARGUMENT', /endpoint/)
      fails(() => linspace(0, 1, 3, { pinMemory: true }), Error, 'ERR_UNSUPPORTED', /CUDA/)
      refuses(() => linspace(0, 1, 2 ** 52), 'ERR_MEMORY', 'ERR_SHAPE')
    })
  })

  it('frees the bytes of what it refuses at once', () => {
    const [kind, shared] = backend() === 'native' ? ['native', true] : ['wasm', false]
    const before = memory().bytes[kind]
    fails(() => linspace(0, 300, 1000, { dtype: 'uint8', shared }), TypeError, 'ERR_CAST')
    assert.equal(memory().bytes[kind], before)
    const t = linspace(0, 255, 1000, { dtype: 'uint8', shared })
    assert.equal(memory().bytes[kind], before + 1000)
    t.dispose()
  })

  it('agrees with NumPy bit for bit in every dtype but bool', function () {
    skipWithout(this, 'NumPy')
    const list = cases(generator(11))
    const expected = askNumpy(list)
    assert.ok(list.length > 600)
    list.forEach(({ start, stop, num, endpoint, dtype }, i) => {
      assert.equal(
        hex(linspace(start, stop, num, { endpoint, dtype })),
        expected[i],
        `linspace(${start}, ${stop}, ${num}, ${endpoint}, ${dtype})`,
      )
    })
  })
})
