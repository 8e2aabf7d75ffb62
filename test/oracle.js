'use strict'
// Views as NumPy and PyTorch make them: random arrays, random arguments, compared by values, shape and strides.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { tensor } = require('samebytes')
const { ROOT, generator, refuses, skipWithout } = require('./setup')
const { PYTHON } = require('./tools')

const sliceText = ([start, stop, step]) => `${start ?? ''}:${stop ?? ''}:${step ?? ''}`

/** The tensor of a case: it counts from 0, then is permuted and sliced. */
function prepared({ shape, before }) {
  const n = shape.reduce((a, b) => a * b, 1)
  let t = tensor(
    Int32Array.from({ length: n }, (_, i) => i),
    shape,
  )
  for (const [kind, value] of before) {
    t = kind === 'permute' ? t.permute(value) : t.slice(...value.map(sliceText))
  }
  return t
}

/** Random arrays for cases, and random numbers for their arguments. */
function randomArrays(seed) {
  const random = generator(seed)
  const { next, pick, shuffle } = random

  /** @returns {{ shape, before, now }} now: the shape after what is done first */
  function array(ndim, { extents = [1, 1, 2, 3, 4, 5], negative = true } = {}) {
    const shape = Array.from({ length: ndim }, () => pick(next(30) ? extents : [0]))
    let now = shape
    const before = []
    if (next(2)) {
      const order = shuffle(shape.map((_, d) => d))
      before.push(['permute', order])
      now = order.map((d) => shape[d])
    }
    if (next(2) && ndim > 0) {
      const steps = now.map(() => pick(negative ? [1, 1, 2, -1, -2] : [1, 1, 2]))
      before.push(['slice', steps.map((step) => [null, null, step])])
      now = now.map((n, d) => Math.ceil(n / Math.abs(steps[d])))
    }
    return { shape, before, now }
  }
  return { ...random, array }
}

/**
 * Runs cases here and in Python.
 *
 * @param {string} name  of the method; the function of that name in test/python/views.py
 * @param {number} least  of the cases must have a result in both
 * @param {(random) => { shape, before, args }} makeCase
 */
function agrees(
  name,
  { seed, count = 400, least = count / 4, needs = 'NumPy', call = (t, args) => t[name](...args) },
  makeCase,
) {
  const random = randomArrays(seed)
  const cases = Array.from({ length: count }, () => ({ ...makeCase(random), name }))

  it(`agrees with ${needs} on ${count} random int32 arrays: values, shape, strides, refusals`, function () {
    skipWithout(this, needs)
    const env = { ...process.env, LD_PRELOAD: '' } // PyTorch throws; under a sanitizer that came first it must not
    const script = path.join(ROOT, 'test', 'python', 'views.py')
    const { status, stdout, stderr } = spawnSync(PYTHON, [script], {
      input: JSON.stringify(cases),
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    assert.equal(status, 0, stderr)
    const expected = JSON.parse(stdout)
    let results = 0
    cases.forEach((one, i) => {
      if (expected[i] === 'skipped') return
      const what = JSON.stringify(one)
      const t = prepared(one)
      if (expected[i] === null) {
        refuses(() => call(t, one.args))
        return
      }
      results++
      const got = call(t, one.args)
      assert.equal(Array.isArray(got), Array.isArray(expected[i]), what)
      const [left, right] = Array.isArray(got) ? [got, expected[i]] : [[got], [expected[i]]]
      assert.equal(left.length, right.length, what)
      right.forEach((part, k) => compare(left[k], part, what))
    })
    assert.ok(results >= least, `only ${results} cases have a result`)
  })
}

function compare(t, { shape, strides, values }, what) {
  assert.deepEqual(t.shape, shape, what)
  assert.deepEqual(t.toArray(), values, what)
  if (t.size > 0) {
    // axes of one element have any stride there
    const [a, b] = [t.strides, strides].map((list) =>
      list.map((stride, d) => (shape[d] === 1 ? 1 : stride)),
    )
    assert.deepEqual(a, b, what)
  }
}

module.exports = { agrees, prepared, randomArrays }
