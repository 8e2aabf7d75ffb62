'use strict'
// Numbers by a step, as NumPy counts them; values are start + i * step, rounded once.
const assert = require('node:assert/strict')
const { arange } = require('samebytes')
const { NO_CUDA, fails, generator, hex, makesNothing, refuses, skipWithout } = require('../setup')
const { BOUNDS, askNumpy } = require('../sequences')

const FLOATS = [
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'complex64',
  'complex128',
  'float8_e4m3fn',
  'float8_e5m2',
]

/** Integers of all widths, from end to end of what the dtype holds; more than fit one chunk of the loop. */
function integerCases({ next, uint32 }) {
  const cases = []
  for (const [dtype, [low, high]] of Object.entries(BOUNDS)) {
    if (FLOATS.includes(dtype)) continue
    for (let i = 0; i < 24; i++) {
      const span = BigInt(high) - BigInt(low)
      const random = ((BigInt(uint32()) << 32n) | BigInt(uint32())) % (span + 1n)
      const start = [BigInt(low), BigInt(high), BigInt(low) + random, BigInt(low) + random][next(4)]
      const up = next(2) === 0
      const room = up ? BigInt(high) - start : start - BigInt(low)
      const count = BigInt(next(700))
      const most = count > 1n ? room / (count - 1n) : room
      const step = (most > 0n ? (BigInt(uint32()) << 32n) | BigInt(uint32()) : 0n) % (most + 1n)
      const pace = step === 0n ? 1n : step
      const steps = step === 0n ? (count > room + 1n ? room + 1n : count) : count
      const signed = up ? pace : -pace
      const stop = start + steps * signed - (pace > 1n && steps > 0n ? (up ? 1n : -1n) : 0n)
      if (stop > 2n ** 64n - 1n || stop < -(2n ** 63n) || signed < -(2n ** 63n)) continue // no 64-bit integers
      cases.push({ make: 'arange', start, stop, step: signed, dtype, exact: true })
    }
  }
  return cases
}

/** Fractions of 8, whose sums are exact, and any numbers. */
function realCases({ next, uint32 }) {
  const real = () => (uint32() / 2 ** 32 - 0.5) * 2 ** next(8)
  const cases = []
  for (const dtype of FLOATS) {
    for (let i = 0; i < 30; i++) {
      const exact = i % 2 === 0
      const start = exact ? next(2000) / 8 - 100 : real()
      const step = (exact ? (1 + next(40)) / 8 : Math.abs(real()) + 1e-3) * (next(2) ? 1 : -1)
      const stop =
        start +
        step * next(dtype === 'float8_e4m3fn' ? 40 : 600) * (next(8) ? 1 : -1) +
        (exact ? 0 : (step * real()) / 128)
      if (Math.abs(stop) > 400 && dtype === 'float8_e4m3fn') continue
      cases.push({ make: 'arange', start, stop, step, dtype, exact: exact && dtype !== 'float16' })
    }
  }
  return cases
}

describe('arange', () => {
  it('counts from 0 to one number, from one to another, and by a step', () => {
    assert.deepEqual(arange(5).toArray(), [0, 1, 2, 3, 4])
    assert.deepEqual(arange(2, 5).toArray(), [2, 3, 4])
    assert.deepEqual(arange(5, 0, -2).toArray(), [5, 3, 1])
    assert.deepEqual(arange(0, 1, 0.25).toArray(), [0, 0.25, 0.5, 0.75])
    assert.deepEqual(arange(-1, 2).toArray(), [-1, 0, 1])
    assert.deepEqual([...arange(4).strides], [1])
  })

  it('has no elements where stop is not ahead', () => {
    for (const t of [
      arange(0),
      arange(-3),
      arange(5, 5),
      arange(5, 2),
      arange(2, 5, -1),
      arange(0.5, 0.5, 0.1),
      arange(3n, 1n),
      arange(1e39, 0, 1),
      arange(300, 0, 'uint8'),
    ]) {
      assert.deepEqual(t.shape, [0])
    }
  })

  it('is int32 of integers, int64 where one is a bigint, float32 of other numbers', () => {
    assert.equal(arange(3).dtype, 'int32')
    assert.equal(arange(1, 7, 2).dtype, 'int32')
    assert.equal(arange(3.5).dtype, 'float32')
    assert.equal(arange(0, 1, 0.5).dtype, 'float32')
    for (const t of [arange(3n), arange(0, 3n), arange(0n, 3), arange(0, 3, 1n)]) {
      assert.equal(t.dtype, 'int64')
      assert.deepEqual(t.toArray(), [0n, 1n, 2n])
    }
  })

  it('takes options, or a dtype, in place of any number that is omitted, and after all', () => {
    for (const t of [
      arange(2, 'float64'),
      arange(0, 2, 'float64'),
      arange(0, 2, 1, 'float64'),
      arange(2, { dtype: 'float64' }),
      arange(0, 2, { dtype: 'float64' }),
      arange(0, 2, undefined, { dtype: 'float64' }),
    ]) {
      assert.equal(t.dtype, 'float64')
      assert.deepEqual(t.toArray(), [0, 1])
    }
    assert.equal(arange(2, { dynamism: 'static' }).dynamism, 'static')
    assert.deepEqual(arange(2, { shared: true }).toArray(), [0, 1])
    assert.deepEqual(arange(2, { shared: 'sab', dtype: 'int8' }).toArray(), [0, 1])
  })

  it('rounds each float64 value once, where adding up would err', () => {
    assert.deepEqual(
      arange(1, 2, 0.1, 'float64').toArray(),
      [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7000000000000002, 1.8, 1.9],
    )
    assert.deepEqual(arange(1, 1.3, 0.1, 'float64').shape, [4]) // as NumPy: (1.3 - 1) / 0.1 is above 3
    assert.deepEqual(arange(0, 5e-324, 10).shape, [1]) // the quotient is 0, the way is not
    assert.deepEqual(arange(0, -5e-324, 10).shape, [0])
  })

  it('reaches both ends of int64, uint64 and int8 and rounds nothing on the way', () => {
    assert.deepEqual(arange(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n - 1n).toArray(), [
      -(2n ** 63n),
      -1n,
      2n ** 63n - 2n,
    ])
    assert.deepEqual(arange(2n ** 64n - 1n, 2n ** 64n - 3n, -1n, 'uint64').toArray(), [
      2n ** 64n - 1n,
      2n ** 64n - 2n,
    ])
    assert.deepEqual(arange(2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n)).toArray(), [
      2n ** 63n - 1n,
      -1n,
    ])
    assert.deepEqual(arange(-128, 128, 127, 'int8').toArray(), [-128, -1, 126])
    assert.deepEqual(arange(2 ** 53 - 1, 2 ** 53 - 3, -1, 'int64').toArray(), [
      9007199254740991n,
      9007199254740990n,
    ])
    // (2^62 + 1) / 2^61 is 2 in float64, but three numbers fit
    assert.deepEqual(arange(0n, 2n ** 62n + 1n, 2n ** 61n).toArray(), [0n, 2n ** 61n, 2n ** 62n])
  })

  it('counts in bool as well', () => {
    assert.deepEqual(arange(2, 'bool').toArray(), [false, true])
    assert.deepEqual(arange(1, -1, -1, 'bool').toArray(), [true, false])
    fails(() => arange(3, 'bool'), TypeError, 'ERR_CAST')
  })

  it('makes values that fit the dtype or nothing at all, before any byte is asked for', () => {
    makesNothing(() => {
      for (const make of [
        () => arange(257, 'uint8'),
        () => arange(0, -2, -1, 'uint16'),
        () => arange(0, 1, 0.5, 'int32'),
        () => arange(0.5, 3, 1, 'int64'),
        () => arange(2 ** 31, 2 ** 31 + 2),
        () => arange(0, 1e15),
        () => arange(0, 70000, 66000, 'float16'),
        () => arange(0, 2e39, 1e39),
        () => arange(0, 500, 10, 'float8_e4m3fn'),
        () => arange(1e18, 1e18 + 4096, 1024, 'int64'),
        () => arange(0n, 2n ** 64n - 1n, 2n ** 62n),
        () => arange(-1n, 5n, 'uint64'),
      ]) {
        fails(make, TypeError, 'ERR_CAST')
      }
    })
    assert.deepEqual(arange(0, 1, 2, 'uint8').toArray(), [0]) // a step that is never taken
    assert.deepEqual(arange(0, 0.4, 0.5, 'uint8').toArray(), [0])
    assert.deepEqual(arange(0, 2.5, 1, 'uint8').toArray(), [0, 1, 2])
    assert.deepEqual(arange(256, 'uint8').get(-1), 255)
  })

  it('refuses steps of 0, NaN, infinities, what is no number, and more elements than can be had', () => {
    makesNothing(() => {
      for (const step of [0, -0, 0n]) {
        fails(() => arange(0, 5, step), TypeError, 'ERR_ARGUMENT', /step is 0/)
      }
      for (const bad of [NaN, Infinity, -Infinity, 2n ** 64n, -(2n ** 63n) - 1n]) {
        fails(() => arange(bad), RangeError, 'ERR_BOUNDS', /stop/)
        fails(() => arange(bad, 1), RangeError, 'ERR_BOUNDS', /start/)
        fails(() => arange(0, bad), RangeError, 'ERR_BOUNDS', /stop/)
        fails(() => arange(0, 1, bad), RangeError, 'ERR_BOUNDS', /step/)
      }
      for (const bad of ['1', null, true, {}, [], Symbol('s')]) {
        fails(() => arange(bad), TypeError, 'ERR_ARGUMENT', /stop/)
      }
      for (const bad of [1, null, true, [], Symbol('s')]) {
        fails(() => arange(0, 1, 1, bad), TypeError, 'ERR_ARGUMENT', /options/)
      }
      fails(() => arange(), TypeError, 'ERR_ARGUMENT', /stop/)
      fails(() => arange(undefined, 3), TypeError, 'ERR_ARGUMENT', /start/)
      for (const bad of [null, true, [], Symbol('s')]) {
        fails(() => arange(0, bad), TypeError, 'ERR_ARGUMENT', /stop/)
      }
      fails(() => arange(0n, 2.5), TypeError, 'ERR_CAST', /bigint/)
      fails(() => arange(5, 'int8', 1), TypeError, 'ERR_ARGUMENT', /last/)
      refuses(() => arange(5, 'int9'), 'ERR_DTYPE')
      refuses(() => arange(5, { device: 'cuda:0' }), NO_CUDA)
      refuses(() => arange(5, { pinMemory: true }), 'ERR_UNSUPPORTED')
      refuses(() => arange(0, 1e300), 'ERR_SHAPE')
      refuses(() => arange(0, 1e308, 1e-308), 'ERR_SHAPE')
      refuses(() => arange(-1e308, 1.7e308, 1e300, 'float64'), 'ERR_SHAPE')
      refuses(() => arange(0, 2 ** 51, 1, 'float64'), 'ERR_MEMORY')
    })
  })

  it('agrees with NumPy bit for bit: integers of every dtype, exact and other fractions in every float dtype', function () {
    skipWithout(this, 'NumPy')
    const random = generator(7)
    const cases = [...integerCases(random), ...realCases(random)]
    const expected = askNumpy(cases)
    assert.ok(cases.length > 300 && expected.some((bytes) => bytes.length > 2 * 600))
    cases.forEach(({ start, stop, step, dtype }, i) => {
      assert.equal(
        hex(arange(start, stop, step, { dtype })),
        expected[i],
        `arange(${start}, ${stop}, ${step}, ${dtype})`,
      )
    })
  })
})
