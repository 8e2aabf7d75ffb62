'use strict'
// Comparisons of all dtypes with all others by value: no 64-bit integer is rounded to a float. JavaScript's `<` and `==` are exact between bigints
// and numbers.
const assert = require('node:assert/strict')
const { dtypes, iinfo, tensor } = require('samebytes')
const { fails, generator } = require('../setup')
const { math, needsMath, some } = require('./load')

const { clip, equal, greater, isin, less, maximum, minimum, searchsorted, uniqueAll, where } = math

const REAL = dtypes.filter((name) => !name.startsWith('complex'))
const INTEGERS = REAL.filter((name) => name.includes('int'))
const EDGES = [
  0n,
  1n,
  7n,
  127n,
  2n ** 24n,
  2n ** 31n,
  2n ** 40n,
  2n ** 53n,
  2n ** 54n,
  2n ** 60n,
  2n ** 62n,
  2n ** 63n,
  2n ** 64n - 2048n,
  2n ** 64n - 2n,
]

/** Values of a dtype about where others end, as its tensor gives them. */
function drawn({ next, pick }, dtype, n) {
  const value = () => {
    const near = pick(EDGES) + BigInt(next(5) - 2)
    const wide = next(2) ? -near : near
    if (dtype === 'bool') return next(2) === 0
    if (!INTEGERS.includes(dtype)) {
      return next(5) === 0
        ? pick([NaN, -0, 0.5, -1.5, 1e-310, Infinity, -Infinity])
        : Number(wide) + pick([0, 0, 0.5])
    }
    const { min, max } = iinfo(dtype)
    return wide < min || wide > max
      ? dtype.endsWith('64')
        ? BigInt(next(9))
        : next(9)
      : dtype.endsWith('64')
        ? wide
        : Number(wide)
  }
  const values = Array.from({ length: n }, value)
  if (dtype === 'bool' || INTEGERS.includes(dtype)) return tensor(values, dtype)
  return tensor(tensor(values, 'float64'), null, { dtype, casting: 'unsafe' })
}

const isNaNs = (x) => typeof x === 'number' && Number.isNaN(x)
const isLess = (a, b) => (isNaNs(a) ? false : isNaNs(b) || a < b)
const isEqual = (a, b) => a == b // eslint-disable-line eqeqeq
const numbersOf = (list) => list.map(Number)

describe('comparisons of int64 and uint64 with other dtypes', () => {
  needsMath()

  for (const a of REAL) {
    it(`are exact: ${a} beside all dtypes, in searchsorted, isin, equal, less and greater`, () => {
      const random = generator(520600 + REAL.indexOf(a))
      for (const b of REAL) {
        for (let i = 0; i < some(60); i++) {
          const [sorted, x] = [
            math.sort(drawn(random, a, random.next(12))),
            drawn(random, b, 1 + random.next(300)),
          ]
          const [keys, values] = [sorted.toArray(), x.toArray()]
          const text = () => JSON.stringify([a, keys.map(String), b, values.map(String)])
          const left = values.map((value) => keys.filter((key) => isLess(key, value)).length)
          const right = values.map((value) => keys.filter((key) => !isLess(value, key)).length)
          assert.deepEqual(searchsorted(sorted, x).toArray(), left, text())
          assert.deepEqual(searchsorted(sorted, x, { side: 'right' }).toArray(), right, text())
          const found = values.map((value) => keys.some((key) => isEqual(key, value)))
          assert.deepEqual(isin(x, sorted).toArray(), found, text())
          assert.deepEqual(
            isin(x, sorted, { invert: true }).toArray(),
            found.map((is) => !is),
            text(),
          )
          if (keys.length === 0) continue
          const [one, key] = [sorted.slice('-1:'), keys.at(-1)]
          assert.deepEqual(
            equal(x, one).toArray(),
            values.map((value) => isEqual(value, key)),
            text(),
          )
          assert.deepEqual(
            less(x, one).toArray(),
            values.map((value) => value < key),
            text(),
          )
          assert.deepEqual(
            greater(one, x).toArray(),
            values.map((value) => key > value),
            text(),
          )
        }
      }
    })
  }

  it('are exact for sorters, out, views, and int64 beside uint64', () => {
    const keys = tensor([2n ** 53n + 1n, 2n ** 53n, -1n, 2n ** 53n + 2n])
    const x = tensor(
      [
        [2n ** 53n, 0n],
        [2n ** 53n + 1n, 9n],
      ],
      'uint64',
    ).slice(':', 0)
    for (const t of [x, x.contiguous()]) {
      assert.deepEqual(searchsorted(keys, t, { sorter: [2, 1, 0, 3] }).toArray(), [1, 2])
      assert.deepEqual(
        searchsorted(keys, t, { sorter: [2, 1, 0, 3], side: 'right', dtype: 'int64' }).toArray(),
        [2n, 3n],
      )
      const out = tensor([0, 0], 'uint8')
      assert.equal(searchsorted(keys, t, { sorter: [2, 1, 0, 3], out, casting: 'unsafe' }), out)
      assert.deepEqual(out.toArray(), [1, 2])
    }
    assert.deepEqual(isin(keys, tensor([2n ** 53n + 1n], 'uint64')).toArray(), [
      true,
      false,
      false,
      false,
    ])
    assert.deepEqual(isin(tensor([2n ** 64n - 1n], 'uint64'), tensor([-1n])).toArray(), [false])
    const two = tensor([2n ** 63n + 1n, 2n ** 63n, 2n ** 63n + 1n], 'uint64')
    assert.deepEqual(uniqueAll(two).values.toArray(), [2n ** 63n, 2n ** 63n + 1n])
  })

  it('are exact for lists: one negative, one huge, fractions, bigints beside float32 and uint64', () => {
    const big = 2n ** 60n
    const ids = tensor([big, big + 1n, big + 2n], 'uint64')
    assert.deepEqual(isin(ids, [big + 1n, -1n]).toArray(), [false, true, false])
    assert.deepEqual(isin(ids, [-1n]).toArray(), [false, false, false])
    assert.deepEqual(isin(ids, [-1]).toArray(), [false, false, false])
    assert.deepEqual(
      isin(ids.astype('int64', { casting: 'unsafe' }), [big + 1n, 2n ** 63n]).toArray(),
      [false, true, false],
    )
    assert.deepEqual(isin(ids, [2 ** 60, 0.5]).toArray(), [true, false, false])
    assert.deepEqual(isin([big + 1n, -1n], ids).toArray(), [true, false])
    assert.deepEqual(searchsorted(ids, [-1n, big + 1n], { side: 'right' }).toArray(), [0, 2])
    assert.deepEqual(searchsorted([-1n, big + 1n], ids).toArray(), [1, 1, 2])
    assert.deepEqual(searchsorted([-0.5, 2 ** 60, Infinity], ids).toArray(), [1, 2, 2])
    const floats = tensor([16777216, 16777218])
    assert.deepEqual(isin(floats, [16777217n]).toArray(), [false, false])
    assert.deepEqual(isin([16777217n, 16777218n], floats).toArray(), [false, true])
    assert.deepEqual(isin(floats, [16777217]).toArray(), [true, false]) // a number is rounded to the tensor's dtype, as in equal
    assert.deepEqual(equal(floats, 16777217n).toArray(), [false, false])
    assert.deepEqual(searchsorted(floats, [16777217n]).toArray(), [1])
    assert.deepEqual(isin(tensor([65504], 'float16'), [70000n]).toArray(), [false])
    fails(() => isin(tensor([1n]), [2n ** 63n, -1n]), TypeError, 'ERR_CAST') // no dtype has both
  })

  it('choose exactly and round once: maximum, minimum, clip and where of int64 beside uint64', () => {
    const random = generator(520699)
    const most = (a, b) => (a < b ? b : a)
    const least = (a, b) => (b < a ? b : a)
    for (let i = 0; i < some(600); i++) {
      const [x, y, z] = ['int64', 'uint64', random.pick(['int64', 'uint64'])].map((dtype) =>
        drawn(random, dtype, 20),
      )
      const [xs, ys, zs] = [x, y, z].map((t) => t.toArray())
      const mask = drawn(random, 'bool', 20)
      const cases = [
        [maximum(x, y), xs.map((a, i) => most(a, ys[i]))],
        [minimum(y, x), xs.map((a, i) => least(a, ys[i]))],
        [clip(x, y, z), xs.map((a, i) => least(most(a, ys[i]), zs[i]))],
        [clip(z, x, y), zs.map((a, i) => least(most(a, xs[i]), ys[i]))],
        [where(mask, x, y), mask.toArray().map((is, i) => (is ? xs[i] : ys[i]))],
      ]
      for (const [made, values] of cases) {
        assert.deepEqual([made.dtype, made.toArray()], ['float64', numbersOf(values)])
      }
    }
  })
})
