'use strict'
// Histograms, covariances, interpolation, convolution and reductions without NaN beside NumPy; out, layouts, what is refused, asynchronous forms.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { arange, full, memory, rand, setMemoryLimit, tensor, zeros } = require('samebytes')
const { ROOT, fails, generator, hex, needs, refusedUnchanged, restoresLimit } = require('../setup')
const { budget } = require('../../js/backend/storage')
const { PYTHON } = require('../tools')
const { math, needsMath, some } = require('./load')
const { FLOATS, INTEGERS, arranged, numberOf } = require('./numpy-reductions')

const { histogram, digitize, cov, corrcoef, interp, convolve, convolveAsync } = math
const NAN = ['nansum', 'nanprod', 'nanmean', 'nanvar', 'nanstd', 'nanmin', 'nanmax']
const NUMPYS = FLOATS.filter((dtype) => dtype !== 'bfloat16')

const sent = (value) =>
  value?.contiguous === undefined
    ? value
    : {
        dtype: value.dtype,
        shape: [...value.shape],
        bytes: Buffer.from(value.contiguous().bytes).toString('base64'),
      }

/** What NumPy makes of cases: for each a list of { dtype, shape, values }, or what it raised. */
function askNumpy(cases) {
  const input = JSON.stringify(
    cases.map((each) =>
      Object.fromEntries(Object.entries(each).map(([name, value]) => [name, sent(value)])),
    ),
  )
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'histograms.py')],
    { input, env: { ...process.env, LD_PRELOAD: '' }, encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** Elements in logical order, as numbers; complex ones as pairs. */
const flat = (t) =>
  t
    .contiguous()
    .reshape([t.size])
    .toArray()
    .map((x) => (Array.isArray(x) ? x : Number(x)))

/** How far a float may be off, in units of the greatest one. */
const UNIT = {
  float32: 2 ** -24,
  float64: 2 ** -48,
  float16: 2 ** -11,
  bfloat16: 2 ** -8,
  complex64: 2 ** -23,
  complex128: 2 ** -48,
}

function assertExact(got, wanted, what) {
  assert.deepEqual([...got.shape], wanted.shape, what)
  assert.deepEqual(flat(got), wanted.values.map(numberOf), what)
}

/** Within a unit of its own size, or of the greatest one's where that is said. */
function assertNear(got, wanted, unit, what, ofMost = false) {
  assert.deepEqual([...got.shape], wanted.shape, what)
  const values = wanted.values.map((each) =>
    Array.isArray(each) ? each.map(numberOf) : numberOf(each),
  )
  const most = ofMost ? Math.max(1e-300, ...values.flat().filter(Number.isFinite).map(Math.abs)) : 0
  flat(got).forEach((x, k) =>
    [x].flat().forEach((part, i) => {
      const y = [values[k]].flat()[i]
      assert.ok(
        Object.is(part, y) ||
          part === y ||
          Math.abs(part - y) <= unit * Math.max(most, Math.abs(y)),
        `${what} at ${k}: ${part}, not ${y}`,
      )
    }),
  )
}

const whole = (t, dtype) => (/^u?int64$/.test(dtype) ? BigInt(t) : t)

/** A line of numbers. */
function line(random, dtype, n) {
  const { next } = random
  const value =
    dtype === 'bool'
      ? () => next(2) === 1
      : dtype[0] === 'u'
        ? () => next(200)
        : dtype[0] === 'i'
          ? () => next(200) - 100
          : dtype[0] === 'c'
            ? () => [next(2000) / 500 - 2, next(2000) / 500 - 2]
            : () => next(2000) / 500 - 2
  const t = tensor(
    Array.from({ length: 2 * n }, () => whole(value(), dtype)),
    { dtype },
  )
  return random.pick([t.slice(`:${n}`), t.slice('::2'), t.slice('::-2')])
}

describe('histogram and digitize beside NumPy', function () {
  needsMath()
  needs('NumPy')

  function edgesOf({ next, pick }, dtype) {
    let at = next(5) - 3
    const list = Array.from({ length: 1 + next(9) }, () => (at += pick([0, 1, 1, 2, 0.25])))
    if (/int|bool/.test(dtype)) {
      return list.map((x) => Math.min(100, Math.max(0, Math.round(14 * x))))
    }
    return list
  }

  it('agrees on random tensors, bins, ranges, weights and densities: counts and edges to the last bit', () => {
    const random = generator(41)
    const { next, pick } = random
    const cases = Array.from({ length: some(900) }, () => {
      const dtype = pick([...NUMPYS, ...NUMPYS, ...INTEGERS, 'bool'])
      const x = arranged(random, dtype, [0, 1, 2, 3, 7, 30], 3)
      const given = { name: 'histogram', x, bins: pick([1, 2, 3, 10, 33]) }
      const kind = next(4)
      if (kind === 0) {
        given.bins = tensor(
          edgesOf(random, dtype).map((v) => whole(v, dtype)),
          { dtype: dtype === 'bool' ? 'uint8' : dtype },
        )
      }
      if (kind === 1) given.bins = tensor(edgesOf(random, 'float64'), { dtype: 'float64' })
      if (kind === 2) {
        given.range = pick([
          [0, 1],
          [-1, 1.5],
          [0.1, 0.7],
          [3, 3],
          [-100.5, 255.5],
        ])
      }
      if (next(3) === 0) given.weights = rand(x.shape).astype('float64')
      if (next(3) === 0) given.density = true
      return given
    })
    let counted = 0
    askNumpy(cases).forEach((wanted, i) => {
      const { name, x, ...opts } = cases[i]
      const what = JSON.stringify({
        i,
        ...opts,
        bins: typeof opts.bins === 'number' ? opts.bins : opts.bins.toArray().map(Number),
        weights: opts.weights !== undefined,
        dtype: x.dtype,
        shape: x.shape,
      })
      const { hist, edges } = histogram(x, opts)
      const isFloat = opts.weights !== undefined || opts.density === true
      assert.equal(hist.dtype, isFloat ? 'float64' : 'int32', what)
      assert.equal(
        edges.dtype,
        typeof opts.bins !== 'number' ? opts.bins.dtype : wanted[1].dtype,
        what,
      )
      assert.deepEqual(
        flat(edges).map((e) => e + 0),
        wanted[1].values.map((e) => numberOf(e) + 0),
        what,
      ) // of -0 and 0 max takes 0
      if (opts.weights !== undefined) assertNear(hist, wanted[0], 1e-12, what, true)
      else assertExact(hist, wanted[0], what)
      counted += wanted[0].values.length
      const other = histogram(x, { ...opts, dtype: isFloat ? 'float32' : 'int64' }).hist
      assert.deepEqual(
        flat(other),
        flat(hist).map((v) => (isFloat ? Math.fround(v) : v)),
        what,
      )
    })
    assert.ok(counted > 500)
  })

  it('digitize agrees on ascending and descending edges', () => {
    const random = generator(42)
    const { next, pick } = random
    const cases = Array.from({ length: some(600) }, () => {
      const dtype = pick([...NUMPYS, ...INTEGERS])
      const edges = edgesOf(random, dtype)
      const bins = tensor(
        (next(2) ? edges : edges.reverse()).map((v) => whole(v, dtype)),
        { dtype },
      )
      return {
        name: 'digitize',
        x: arranged(random, dtype, [0, 1, 2, 3, 7, 30], 3),
        bins,
        right: next(2) === 1,
      }
    })
    askNumpy(cases).forEach(([wanted], i) => {
      const { name, x, bins, ...opts } = cases[i]
      const what = JSON.stringify({ i, ...opts, bins: flat(bins), dtype: x.dtype, shape: x.shape })
      assertExact(digitize(x, bins, opts), wanted, what)
      assertExact(digitize(x, bins.toArray(), { ...opts, dtype: 'int64' }), wanted, what)
    })
  })

  it('interp agrees to the last bit: duplicates, infinities, NaN, ends and periods', () => {
    const random = generator(43)
    const { next, pick } = random
    const cases = Array.from({ length: some(900) }, () => {
      const n = pick([1, 2, 3, 5, 20])
      const period = next(4) === 0 ? pick([1, -3, 360, 0.7]) : undefined
      let at = -2
      const xp = Array.from({ length: n }, () =>
        period === undefined ? (at += pick([0, 0.25, 0.5, 1, 1 / 3])) : next(4000) / 1000 - 2,
      )
      const fp = Array.from({ length: n }, () =>
        next(9) ? next(2000) / 300 - 3 : pick([Infinity, -Infinity, NaN, 0, -0]),
      )
      const dtype = pick(['float64', 'float64', 'float32', 'float16', 'int32', 'uint8'])
      const x = arranged(random, dtype, [1, 2, 3, 7, 30], 3)
      const ends = {
        ...(next(3) === 0 && { left: pick([-7, NaN, Infinity]) }),
        ...(next(3) === 0 && { right: 0.1 }),
      }
      return {
        name: 'interp',
        x,
        xp: tensor(xp, { dtype: 'float64' }),
        fp: tensor(fp, { dtype: 'float64' }),
        ...ends,
        ...(period !== undefined && { period }),
      }
    })
    // JSON has neither NaN nor infinities
    const shown = cases.map(({ left, ...rest }) => ({
      ...rest,
      ...(left !== undefined && { left: tensor(left, { dtype: 'float64' }) }),
    }))
    askNumpy(shown).forEach(([wanted], i) => {
      const { name, x, xp, fp, ...opts } = cases[i]
      const what = JSON.stringify({
        i,
        ...opts,
        xp: flat(xp),
        fp: flat(fp).map(String),
        dtype: x.dtype,
        x: flat(x),
      })
      const got = interp(x, xp, fp, opts)
      assert.equal(got.dtype, 'float64')
      if (
        opts.period !== undefined &&
        new Set(
          flat(xp).map((v) => v - Math.floor(v / Math.abs(opts.period)) * Math.abs(opts.period)),
        ).size < xp.size
      ) {
        return
      } // NumPy's sort is not stable
      assertExact(got, wanted, what)
      const single = interp(x.astype('float32', { casting: 'unsafe' }), xp, flat(fp), {
        ...opts,
        dtype: 'float32',
      })
      assert.equal(single.dtype, 'float32')
      if (x.dtype !== 'float64') {
        assert.deepEqual(
          flat(single),
          wanted.values.map((v) => Math.fround(numberOf(v))),
          what,
        )
      }
    })
  })
})

describe('convolve, cov and corrcoef beside NumPy', function () {
  needsMath()
  needs('NumPy')

  it('convolve agrees: integers to the last bit, which wrap, floats within their rounding', () => {
    const random = generator(44)
    const { pick } = random
    const cases = Array.from({ length: some(600) }, () => {
      const dtypes = pick([NUMPYS, INTEGERS, INTEGERS, ['complex64', 'complex128']])
      const lengths = [1, 2, 3, 4, 5, 8, 33, 300]
      const dtype = pick(dtypes)
      return {
        name: 'convolve',
        x: line(random, dtype, pick(lengths)),
        v: line(random, pick([dtype, pick(dtypes)]), pick(lengths)),
        mode: pick(['full', 'same', 'valid']),
      }
    })
    askNumpy(cases.map(({ x, ...rest }) => ({ ...rest, x }))).forEach(([wanted], i) => {
      const { x, v, mode } = cases[i]
      const what = JSON.stringify({
        i,
        mode,
        dtypes: [x.dtype, v.dtype],
        shapes: [x.shape, v.shape],
      })
      const got = convolve(x, v, { mode })
      const isWhole = /int/.test(x.dtype) && /int/.test(v.dtype)
      if (!(isWhole && wanted.dtype === 'float64')) assert.equal(got.dtype, wanted.dtype, what)
      if (isWhole) assertExact(got, wanted, what)
      else assertNear(got, wanted, 8 * UNIT[got.dtype], what, true)
    })
  })

  it('cov and corrcoef agree on variables as rows and columns, weights, corrections and more variables', () => {
    const random = generator(45)
    const { next, pick } = random
    const cases = Array.from({ length: some(600) }, () => {
      const dtype = pick([...NUMPYS, 'int32', 'uint8'])
      const name = pick(['cov', 'cov', 'corrcoef'])
      const n = pick([2, 3, 5, 40])
      const rowvar = next(3) > 0
      const matrix = () => {
        const rows = 1 + next(4)
        return line(random, dtype, rows * n).reshape(rowvar ? [rows, n] : [n, rows])
      }
      const given = { name, x: next(4) === 0 ? line(random, dtype, n) : matrix(), rowvar }
      if (next(3) === 0) given.y = given.x.ndim === 1 ? line(random, dtype, n) : matrix()
      if (name === 'corrcoef') return given
      if (next(3) === 0) given.ddof = pick([0, 1, 2, n])
      if (next(3) === 0) {
        given.fweights = tensor(
          Array.from({ length: n }, () => next(4)),
          { dtype: 'int32' },
        )
      }
      if (next(3) === 0) {
        given.aweights = tensor(
          Array.from({ length: n }, () => next(100) / 32),
          { dtype: 'float64' },
        )
      }
      return given
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { name, x, ddof, ...opts } = cases[i]
      const what = JSON.stringify({
        i,
        name,
        ddof,
        rowvar: opts.rowvar,
        fweights: opts.fweights?.toArray(),
        aweights: opts.aweights?.toArray(),
        dtype: x.dtype,
        shapes: [x.shape, opts.y?.shape],
      })
      const call = () =>
        math[name](x, {
          ...opts,
          ...(ddof !== undefined && { correction: ddof }),
          dtype: 'float64',
        })
      if (typeof wanted === 'string') return assert.throws(call, what)
      const got = call()
      if (ddof === n(x, opts.rowvar)) return
      assertNear(got, wanted[0], 1e-9, what, true)
      const own = math[name](x, { ...opts, ...(ddof !== undefined && { correction: ddof }) })
      assert.equal(own.dtype, /int/.test(x.dtype) ? 'float32' : x.dtype)
      assert.equal(hex(own), hex(got.astype(own.dtype, { casting: 'same_kind' })), what)
    })
  })
  const n = (x, rowvar) => (x.ndim === 1 ? x.size : x.shape[rowvar ? 1 : 0])
})

describe('reductions without NaN beside NumPy', function () {
  needsMath()
  needs('NumPy')

  it('agree on random tensors, axes and corrections', () => {
    const random = generator(46)
    const { next, pick, shuffle } = random
    const cases = Array.from({ length: some(1500) }, () => {
      const name = pick(NAN)
      const dtype = pick(['float64', 'float64', 'int32', 'uint8', 'bool'])
      const t = arranged(random, dtype, [1, 2, 3, 5], 3)
      const x =
        dtype === 'float64'
          ? math.where(math.less(rand(t.shape), pick([0, 0.2, 0.6, 1])), NaN, t)
          : t
      const axis =
        x.ndim === 0 || next(4) === 0
          ? null
          : next(2)
            ? next(x.ndim) - pick([0, x.ndim])
            : shuffle([...x.shape.keys()]).slice(0, 1 + next(x.ndim))
      return {
        name,
        x,
        axis,
        keepdims: next(2) === 1,
        ...(['nanvar', 'nanstd'].includes(name) && {
          ddof: dtype === 'float64' ? pick([0, 1, 2]) : 0,
        }),
      } // of integers without a degree of freedom NumPy gives Infinity; var is NaN
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { name, x, ddof, ...opts } = cases[i]
      const what = JSON.stringify({
        i,
        name,
        ddof,
        ...opts,
        dtype: x.dtype,
        shape: x.shape,
        x: x.size < 20 ? flat(x).map(String) : '',
      })
      assert.equal(typeof wanted, 'object', `${what}: ${wanted}`)
      const got = math[name](x, {
        ...opts,
        ...(ddof !== undefined && { correction: ddof }),
        ...(!['nanmin', 'nanmax'].includes(name) &&
          x.dtype !== 'float64' &&
          /mean|var|std/.test(name) && { dtype: 'float64' }),
      })
      assertNear(got, wanted[0], 1e-12, what, true)
    })
  })
})

describe('statistics', () => {
  restoresLimit(budget)
  needsMath()

  it('histogram: an element is in the bin whose edges it lies between, also where the quotient is rounded', () => {
    const { next } = generator(47)
    for (const dtype of ['float32', 'float64', 'float16', 'bfloat16']) {
      const x = tensor(
        Array.from({ length: 2000 }, () => next(1000) / 1000),
        { dtype },
      )
      const { hist, edges } = histogram(x, { bins: 70, range: [0.1, 0.9] })
      assert.equal(edges.dtype, dtype)
      const [e, values] = [flat(edges), flat(x)]
      assert.deepEqual(
        flat(hist),
        e
          .slice(1)
          .map(
            (_, i) =>
              values.filter((v) => v >= e[i] && (v < e[i + 1] || (i === 69 && v === e[70]))).length,
          ),
        dtype,
      )
    }
  })

  it('histogram and digitize compare all pairs of 64-bit integers and floats exactly', () => {
    const { next, pick } = generator(52)
    const limits = {
      int64: [-(2n ** 63n), 2n ** 63n - 1n],
      uint64: [0n, 2n ** 64n - 1n],
      float64: [-(2n ** 65n), 2n ** 65n],
      int32: [-(2n ** 31n), 2n ** 31n - 1n],
      float32: [-(2n ** 65n), 2n ** 65n],
    }
    const near = [0n, 2n ** 31n, 2n ** 53n, 2n ** 60n, 2n ** 63n, 2n ** 64n]
    /** Whole numbers around powers of two, as they are in the dtype. */
    const some = (dtype, n) => {
      const [low, high] = limits[dtype]
      const list = Array.from(
        { length: n },
        () => (next(2) ? 1n : -1n) * pick(near) + BigInt(next(9)) - 4n,
      ).map((x) => (x < low ? low : x > high ? high : x))
      return /^f/.test(dtype)
        ? list.map((x) => (dtype === 'float32' ? Math.fround(Number(x)) : Number(x)))
        : list
    }
    const exact = (t) => t.toArray().map(BigInt)
    for (const of of Object.keys(limits)) {
      for (const by of Object.keys(limits)) {
        for (let i = 0; i < 20; i++) {
          const x = tensor(some(of, 30), { dtype: of })
          const bins = math.sort(tensor(some(by, 2 + next(6)), { dtype: by }))
          const [elements, edges] = [exact(x), exact(bins)]
          const last = edges.length - 1
          const wanted = Array.from(
            { length: last },
            (_, k) =>
              elements.filter(
                (e) => e >= edges[k] && (k === last - 1 ? e <= edges[last] : e < edges[k + 1]),
              ).length,
          )
          assert.deepEqual(
            histogram(x, { bins, dtype: 'int64' }).hist.toArray().map(Number),
            wanted,
            `${of} ${elements} beside ${by} ${edges}`,
          )
          assert.deepEqual(
            histogram(x, { bins, weights: elements.map(() => 2) }).hist.toArray(),
            wanted.map((n) => 2 * n),
          )
          assert.deepEqual(
            digitize(x, bins).toArray(),
            elements.map((e) => edges.filter((edge) => edge <= e).length),
            `${of} ${elements} beside ${by} ${edges}`,
          )
          if (edges[0] < edges[last]) {
            assert.deepEqual(
              digitize(x, bins.flip(), { right: true }).toArray(),
              elements.map((e) => edges.filter((edge) => edge >= e).length),
            )
          }
        }
      }
    }
    assert.deepEqual(
      histogram(tensor([2n ** 53n + 1n, 5n]), { bins: [0.5, 2 ** 53] }).hist.toArray(),
      [1],
    )
    assert.deepEqual(
      histogram(tensor([NaN, Infinity, -Infinity, 2 ** 53], 'float64'), {
        bins: tensor([0n, 2n ** 53n + 1n]),
      }).hist.toArray(),
      [1],
    )
  })

  it('histogram: equal bins hold all 64-bit integers, and widths of integer edges are exact', () => {
    for (const x of [
      [2n ** 53n + 3n, 2n ** 60n + 1n],
      [-(2n ** 60n) - 129n, 2n ** 62n + 257n],
      [2n ** 63n - 1n, 2n ** 63n - 2n],
      [-(2n ** 63n), 2n ** 63n - 1n],
    ]) {
      const { hist, edges } = histogram(tensor(x, 'int64'), { bins: 4 })
      assert.equal(math.sum(hist).item(), 2n, String(x))
      for (const element of x) {
        assert.ok(BigInt(edges.at(0)) <= element && BigInt(edges.at(4)) >= element)
      }
    }
    assert.equal(
      math
        .sum(histogram(tensor([2n ** 64n - 1n, 2n ** 64n - 1025n], 'uint64'), { bins: 3 }).hist)
        .item(),
      2n,
    )
    const at = 2n ** 60n
    for (const dtype of ['int64', 'uint64']) {
      assert.deepEqual(
        histogram(tensor([at, at + 1n, at + 2n], dtype), {
          bins: tensor([at, at + 1n, at + 3n], dtype),
          density: true,
        }).hist.toArray(),
        [1 / 3, 1 / 3],
      )
    }
    assert.deepEqual(
      histogram(tensor([0n]), {
        bins: tensor([-(2n ** 63n), 2n ** 63n - 1n]),
        density: true,
      }).hist.toArray(),
      [2 ** -64],
    )
  })

  it('what is made of other functions refuses dtypes by its own name, and takes bool as fweights', () => {
    const x = zeros([3, 3], 'float8_e4m3fn')
    const complex = zeros([3, 3], 'complex64')
    const own = [
      'median',
      'normalize',
      'vectorNorm',
      'logSumExp',
      'cumulativeSum',
      'cumulativeProd',
      'diff',
      'histogram',
      'cov',
      'corrcoef',
      ...NAN,
    ]
    for (const name of own) {
      fails(
        () => math[name](/^cumul/.test(name) ? x.select(0, 0) : x),
        TypeError,
        'ERR_DTYPE',
        new RegExp(`^${name} is not for float8_e4m3fn, but for other numbers; astype converts$`),
      )
    }
    for (const name of [
      'median',
      'logSumExp',
      'cov',
      'corrcoef',
      'nanvar',
      'nanstd',
      'nanmin',
      'nanmax',
    ]) {
      fails(
        () => math[name](complex),
        TypeError,
        'ERR_DTYPE',
        new RegExp(`^${name} is not for complex64, but for real numbers`),
      )
    }
    for (const wrong of [x, complex]) {
      fails(() => cov(zeros([3, 3]), { y: wrong }), TypeError, 'ERR_DTYPE', /^cov is not for/)
    }
    fails(() => math.linalg.trace(x), TypeError, 'ERR_DTYPE', /^trace is not for/)
    fails(
      () => math.diff(zeros([3], 'bool')),
      TypeError,
      'ERR_DTYPE',
      /^diff is not for bool, but for numbers/,
    )
    fails(() => digitize(complex, [1, 2]), TypeError, 'ERR_DTYPE', /^x is of complex64/)
    for (const name of ['fweights', 'aweights']) {
      fails(
        () => cov(tensor([1, 2, 3]), { [name]: x.select(0, 0) }),
        TypeError,
        'ERR_DTYPE',
        new RegExp(`^${name} is of float8_e4m3fn; `),
      )
      const flags = tensor([true, false, true])
      assert.equal(
        hex(cov(tensor([1, 2, 3]), { [name]: flags })),
        hex(cov(tensor([1, 2, 3]), { [name]: flags.astype('int32') })),
      )
    }
    assert.equal(math.nansum(complex).item()[0], 0)
    const message = 'no integer dtype holds both the largest and the smallest of the values'
    for (const call of [
      () => math.isin(zeros([1], 'int64'), [-1, 2n ** 64n - 1n]),
      () => math.searchsorted(zeros([1], 'int64'), [-1n, 2n ** 64n - 1n]),
      () => tensor([-1n, 2n ** 64n - 1n]),
    ]) {
      assert.throws(call, { name: 'TypeError', code: 'ERR_CAST', message })
    }
  })

  it('histogram and digitize compare 64-bit integers exactly, of both signs', () => {
    const big = 2n ** 53n
    const x = tensor([big - 1n, big, big + 1n, big + 2n, -big - 1n], { dtype: 'int64' })
    assert.deepEqual(histogram(x, { bins: [big, big + 1n, big + 2n] }).hist.toArray(), [1, 2])
    assert.deepEqual(
      histogram(x, {
        bins: tensor([0n, big + 1n, 2n ** 63n + 1n], { dtype: 'uint64' }),
      }).hist.toArray(),
      [2, 2],
    )
    const u = tensor([0n, 5n, big + 1n, 2n ** 64n - 1n], { dtype: 'uint64' })
    assert.deepEqual(
      histogram(u, {
        bins: tensor([-7n, 1n, big + 1n, 2n ** 63n - 1n], { dtype: 'int64' }),
      }).hist.toArray(),
      [1, 1, 1],
    )
    assert.deepEqual(
      histogram(u, { bins: tensor([-7n, -1n], { dtype: 'int64' }) }).hist.toArray(),
      [0],
    )
    assert.deepEqual(
      histogram(u, { bins: tensor([-7n, 0n], { dtype: 'int64' }) }).hist.toArray(),
      [1],
    )
    assert.deepEqual(digitize(x, [big, big + 1n, big + 2n]).toArray(), [0, 1, 2, 3, 0])
  })

  it('lists beside floats are rounded to their dtype, as everywhere', () => {
    const x = tensor([0.1, 0.3, 0.7])
    assert.deepEqual(digitize(x, [0.1, 0.3, 0.7]).toArray(), [1, 2, 3])
    assert.deepEqual(digitize(x, [0.1, 0.3, 0.7], { right: true }).toArray(), [0, 1, 2])
    assert.deepEqual(histogram(x, { bins: [0.1, 0.3, 0.7] }).hist.toArray(), [1, 2])
    assert.deepEqual(
      interp(x, [0.1, 0.3, 0.7], [1, 2, 3], { left: NaN, right: NaN }).toArray(),
      [1, 2, 3],
    )
    assert.deepEqual(convolve(tensor([1, 2, 3], 'uint8'), [1, 1]).dtype, 'uint8')
    fails(
      () => convolve(tensor([1, 2, 3], 'uint8'), [-1, 0, 1]),
      TypeError,
      'ERR_CAST',
      /v is -1, which does not fit uint8; \{ dtype: 'int32' \}/,
    )
    assert.deepEqual(
      convolve(tensor([1, 2, 3], 'uint8'), [-1, 0, 1], 'int32').toArray(),
      [-1, -2, -2, 2, 3],
    )
    assert.deepEqual(
      convolve([0.5, 1], tensor([1, 2, 3], 'uint8'), { dtype: 'float32', mode: 'valid' }).toArray(),
      [2, 3.5],
    )
    assert.deepEqual(
      convolve(tensor([100, 100], 'int8'), tensor([1, 1], 'int8')).toArray(),
      [100, -56, 100],
    )
    assert.deepEqual(
      convolve(tensor([100, 100], 'int8'), tensor([1, 1], 'int8'), 'int32').toArray(),
      [100, 200, 100],
    )
  })

  // Recorded with NumPy 2: np.convolve
  it('convolve has NaN and infinities of the shorter line only where they are multiplied', async () => {
    const x = tensor([1, 2, 3, 4, 5])
    const full = {
      infinite: [1, Infinity, Infinity, Infinity, Infinity, Infinity, 10],
      nan: [NaN, NaN, NaN, NaN, NaN, 16, 14, 5],
    }
    for (const dtype of ['float16', 'float32', 'float64', 'complex64']) {
      const of = async (v, mode) => {
        const a = x.astype(dtype)
        const b = tensor(v).astype(dtype)
        const out = zeros([a.size + b.size - 1], dtype)
        const got = convolve(a, b, { mode }).toArray()
        assert.deepEqual((await convolveAsync(b, a, { mode })).toArray(), got)
        if (mode === 'full') assert.deepEqual(convolve(a, b, { out }).toArray(), got)
        return got.map((value) => (Array.isArray(value) ? value[0] : value))
      }
      assert.deepEqual(await of([NaN, 1, 2, 1], 'full'), full.nan)
      assert.deepEqual(await of([NaN, 1, 2, 1], 'same'), full.nan.slice(1, 6))
      assert.deepEqual(await of([NaN, 1, 2, 1], 'valid'), [NaN, NaN])
      if (dtype !== 'complex64') assert.deepEqual(await of([1, Infinity, 2], 'full'), full.infinite)
    }
    assert.deepEqual(convolve(tensor([1, 2, 3]), tensor([0, NaN, 1])).toArray(), [
      0,
      NaN,
      NaN,
      NaN,
      3,
    ])
    assert.deepEqual(
      convolve(tensor([1, 2, 3]), tensor([1, 2n ** 62n], [2], 'int64'), 'float16').toArray(),
      [1, Infinity, Infinity, Infinity],
    )
    assert.deepEqual(
      convolve(tensor([1, 2, 3], 'float16'), tensor([65504, 65504, 1], 'float16')).toArray()[4],
      3,
    ) // whose sum alone is infinite
  })

  it('writes into out: of another dtype, with gaps, over an operand', () => {
    const x = tensor([1, 2, 4, 8])
    const wide = zeros([4, 2], 'float64')
    assert.equal(
      interp(x, [0, 10], [0, 5], { out: wide.select(1, 1) })
        .toArray()
        .join(),
      '0.5,1,2,4',
    )
    assert.deepEqual(wide.select(1, 0).toArray(), [0, 0, 0, 0])
    assert.equal(hex(interp(x, [0, 10], [0, 5], { out: x })), hex(tensor([0.5, 1, 2, 4])))
    const y = tensor([1, 2, 3])
    assert.deepEqual(convolve(y, [1, 1, 0], { mode: 'same', out: y }).toArray(), [3, 5, 3])
    const m = tensor([
      [1, 2],
      [3, 5],
    ])
    assert.deepEqual(cov(m, { out: m }).toArray(), [
      [0.5, 1],
      [1, 2],
    ])
    const n = tensor([
      [1, 2],
      [3, 5],
    ])
    assert.deepEqual(corrcoef(n, { out: n }).toArray(), [
      [1, 1],
      [1, 1],
    ])
    const places = zeros([3], 'int64')
    assert.equal(digitize(tensor([1, 2, 3]), [3, 2], { out: places }), places)
    assert.deepEqual(places.toArray(), [2n, 1n, 0n])
    for (const name of NAN) {
      const t = tensor([
        [1, NaN],
        [3, 4],
      ])
      const wanted = flat(math[name](t, { axis: 0 }))
      assert.deepEqual(flat(math[name](t, { axis: 0, out: t.select(1, 0) })), wanted, name)
    }
  })

  it('refuses what it is not for, and leaves out as it was', () => {
    const x = tensor([1, NaN, 3])
    for (const bins of [0, -1, 1.5, 2 ** 31]) {
      fails(() => histogram(x, { bins }), RangeError, 'ERR_BOUNDS')
    }
    fails(
      () => histogram(x),
      TypeError,
      'ERR_ARGUMENT',
      /x has elements from NaN to NaN; range says/,
    )
    fails(() => histogram(tensor([1, Infinity])), TypeError, 'ERR_ARGUMENT', /from 1 to Infinity/)
    for (const range of [
      null,
      [2, 1],
      [NaN, 1],
      [1],
      [0, Infinity],
      5,
      'ab',
      [1, 2, 3],
      ['0', 1],
    ]) {
      fails(() => histogram(x, { range }), TypeError, 'ERR_ARGUMENT', /range is/)
    }
    fails(() => histogram(x, { bins: [2, 1] }), TypeError, 'ERR_ARGUMENT', /descending/)
    fails(
      () => histogram(x, { bins: [1, 3, 2] }),
      TypeError,
      'ERR_ARGUMENT',
      /bins\[2\] is 2 after 3/,
    )
    fails(() => histogram(x, { bins: [] }), RangeError, 'ERR_SHAPE', /no edges/)
    fails(() => histogram(x, { bins: [[1, 2]] }), RangeError, 'ERR_SHAPE', /2 axes/)
    fails(() => histogram(x, { bins: 'auto' }), TypeError, 'ERR_ARGUMENT')
    fails(
      () => histogram(x, { bins: [1, 2], weights: [1, 2] }),
      RangeError,
      'ERR_SHAPE',
      /weights has shape \[2\]; x has \[3\]/,
    )
    fails(
      () => histogram(x, { bins: [1, 2], dtype: 'float32' }),
      TypeError,
      'ERR_DTYPE',
      /int32 or int64/,
    )
    fails(
      () => histogram(x, { bins: [1, 2], density: true, dtype: 'int32' }),
      TypeError,
      'ERR_DTYPE',
      /float64 or float32/,
    )
    fails(() => histogram(x.astype('complex64')), TypeError, 'ERR_DTYPE')
    fails(() => histogram(x.astype('complex64'), { bins: [1, 2] }), TypeError, 'ERR_DTYPE')
    fails(() => histogram([1, 2]), TypeError, 'ERR_ARGUMENT')
    fails(
      () => histogram(x, { bin: 3 }),
      TypeError,
      'ERR_ARGUMENT',
      /no option "bin"; bins was expected/,
    )
    const places = full([3], 7, 'int32')
    refusedUnchanged(places, () => digitize(x, [1, 3, 2], { out: places }), 'ERR_ARGUMENT')
    refusedUnchanged(
      places,
      () => digitize(x.astype('complex64'), [1, 3], { out: places }),
      'ERR_DTYPE',
    )
    const out = full([3], 7)
    refusedUnchanged(out, () => interp(x, [1, 2], [1], { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => interp(x, [], [], { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => interp(x, [1, 2], [1, 2], { out, period: 0 }), 'ERR_ARGUMENT')
    refusedUnchanged(out, () => interp(x, [1, 2], [1, 2], { out, left: '1' }), 'ERR_ARGUMENT')
    refusedUnchanged(
      out,
      () =>
        interp(
          x,
          [1, 2],
          tensor(
            [
              [1, 2],
              [3, 4],
            ],
            { dtype: 'complex64' },
          ).select(0, 0),
          { out },
        ),
      'ERR_DTYPE',
    )
    refusedUnchanged(out, () => convolve(x, zeros([0]), { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => convolve(x, zeros([1, 1]), { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => convolve(x, [1, 2], { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => convolve(tensor([true, false, true]), [true], { out }), 'ERR_DTYPE')
    fails(() => convolve(tensor([true]), [true]), TypeError, 'ERR_DTYPE', /convolve has no bool;/)
    fails(
      () => convolve(zeros([1], 'float8_e5m2'), [1]),
      TypeError,
      'ERR_DTYPE',
      /convolve has no float8_e5m2; \{ dtype \} converts first/,
    )
    fails(
      () => digitize(tensor([1], 'int32'), [3, 1, 2]),
      TypeError,
      'ERR_ARGUMENT',
      /bins\[2\] is 2 after 1;/,
    )
    fails(() => convolve([1], [2]), TypeError, 'ERR_ARGUMENT', /one of them has to be a tensor/)
    fails(() => convolve(x, [1], { mode: 'wrap' }), TypeError, 'ERR_ARGUMENT')
    const square = full([2, 2], 7)
    const m = tensor([
      [1, 2, 4],
      [3, 5, 1],
    ])
    refusedUnchanged(square, () => cov(m, { out: square, fweights: [1, -1, 2] }), 'ERR_ARGUMENT')
    refusedUnchanged(square, () => cov(m, { out: square, fweights: [1, 0.5, 2] }), 'ERR_ARGUMENT')
    refusedUnchanged(square, () => cov(m, { out: square, aweights: [0, 0, 0] }), 'ERR_ARGUMENT')
    refusedUnchanged(square, () => cov(m, { out: square, aweights: [1, NaN, 0] }), 'ERR_ARGUMENT')
    refusedUnchanged(square, () => cov(m, { out: square, aweights: [1, 2] }), 'ERR_SHAPE')
    refusedUnchanged(square, () => cov(m, { out: square, y: zeros([2, 2]) }), 'ERR_SHAPE')
    refusedUnchanged(square, () => cov(m.astype('complex64'), { out: square }), 'ERR_DTYPE')
    refusedUnchanged(square, () => corrcoef(zeros([2, 2, 2]), { out: square }), 'ERR_SHAPE')
    fails(
      () => cov(m, { ddof: 1 }),
      TypeError,
      'ERR_ARGUMENT',
      /no option "ddof"; correction was expected/,
    )
    fails(() => cov(m, { dtype: 'int32' }), TypeError, 'ERR_DTYPE')
    for (const name of ['nanmean', 'nanvar', 'nanstd', 'nanmin', 'nanmax']) {
      fails(() => math[name](m.astype('complex64')), TypeError, 'ERR_DTYPE')
    }
    for (const name of ['nanmin', 'nanmax']) {
      fails(() => math[name](zeros([0])), RangeError, 'ERR_SHAPE')
    }
    for (const name of NAN) {
      fails(() => math[name](zeros([2], 'float8_e5m2')), TypeError, 'ERR_DTYPE')
    }
  })

  it('density: widths between edges of small integers do not wrap', () => {
    const density = (x, bins) => flat(histogram(x, { bins, density: true }).hist)
    assert.deepEqual(density(tensor([0, 100], 'int8'), tensor([-100, 100], 'int8')), [0.005])
    assert.deepEqual(density(tensor([0, 1]), tensor([false, true])), [1])
  })

  it('equal bins: as many as the limit of memory allows', () => {
    const bins = 2 ** 17 // more than are written at a time
    const { edges } = histogram(tensor([0, 1], 'float64'), { bins })
    assert.equal(edges.size, bins + 1)
    for (const i of [0, 1, 2 ** 15 - 1, 2 ** 15, 2 ** 16, bins - 1, bins]) {
      assert.equal(edges.get(i), i / bins)
    }
    setMemoryLimit(2 ** 28)
    fails(() => histogram(tensor([1]), { bins: 2 ** 28 }), RangeError, 'ERR_MEMORY')
  })

  it('of few elements and none', () => {
    assert.deepEqual(
      histogram(zeros([0])).edges.toArray(),
      flat(arange(0, 11, 1, 'float64')).map((i) => Math.fround(i * 0.1)),
    )
    assert.deepEqual(histogram(zeros([0]), { bins: 2 }).hist.toArray(), [0, 0])
    assert.deepEqual(histogram(tensor(5), { bins: 2 }).edges.toArray(), [4.5, 5, 5.5])
    assert.deepEqual(histogram(tensor([1, 2]), { bins: [1] }).hist.toArray(), [])
    assert.deepEqual(cov(zeros([0, 3])).shape, [0, 0])
    assert.deepEqual(cov(tensor(3)).toArray(), NaN)
    assert.deepEqual(interp(zeros([0, 2]), [1], [2]).shape, [0, 2])
    assert.deepEqual(
      [
        nan('nansum', []),
        nan('nanmean', []),
        nan('nanvar', [1], { correction: 1 }),
        nan('nanmin', [NaN]),
        nan('nanmax', [-Infinity, NaN]),
        nan('nanmin', [Infinity, NaN]),
      ],
      [0, NaN, NaN, NaN, -Infinity, Infinity],
    )
    assert.deepEqual(
      math
        .nansum(
          tensor(
            [
              [1, 2],
              [NaN, 1],
            ],
            { dtype: 'complex64' },
          ),
          { axis: 0 },
        )
        .toArray(),
      [1, 2],
    )
  })
  const nan = (name, list, opts) => math[name](tensor(list), opts).item()

  it("gives the same asynchronously, and lets the caller's functions run first", async () => {
    const x = math.where(math.less(rand([40, 50]), 0.2), NaN, rand([40, 50]))
    const full = rand([40, 50])
    const calls = {
      histogram: [
        full,
        {
          bins: 7,
          density: true,
          get weights() {
            return math.add(full, 1)
          },
        },
      ],
      digitize: [x, [0.9, 0.5, 0.1]],
      interp: [x, [0, 0.4, 1], [3, 1, 2], { period: 0.75 }],
      convolve: [full.reshape([-1]), full.select(0, 3), { mode: 'same', dtype: 'float64' }],
      cov: [
        full,
        { rowvar: false, fweights: math.round(math.multiply(rand([40]), 5)), aweights: rand([40]) },
      ],
      corrcoef: [full, { y: full }],
      ...Object.fromEntries(
        NAN.map((name) => [
          name,
          [
            x,
            {
              axis: [1],
              get keepdims() {
                return math.any(x).item()
              },
            },
          ],
        ]),
      ),
    }
    for (const [name, args] of Object.entries(calls)) {
      const [got, wanted] = [await math[`${name}Async`](...args), math[name](...args)].map(
        (made) => (name === 'histogram' ? [made.hist, made.edges] : [made]),
      )
      assert.deepEqual(got.map(hex), wanted.map(hex), name)
      const stop = new AbortController()
      stop.abort(new Error('enough'))
      const opts =
        typeof args.at(-1) === 'object' &&
        !Array.isArray(args.at(-1)) &&
        args.at(-1).contiguous === undefined
          ? args.at(-1)
          : {}
      await assert.rejects(
        math[`${name}Async`](...args.slice(0, args.at(-1) === opts ? -1 : undefined), {
          ...opts,
          signal: stop.signal,
        }),
        /enough/,
      )
    }
  })

  it('leaves nothing behind, also after failures', async () => {
    const [x, y] = [rand([9]), rand([2, 9])]
    const calls = () => [
      () => histogram(x, { density: true, weights: [1, 2, 3, 4, 5, 6, 7, 8, 9] }),
      () => digitize(x, [3, 2, 1]),
      () => interp(x, [1, 2], [3, 4], { period: 5 }),
      () => convolve(x, [1, 2]),
      () => cov(y, { aweights: x, y }),
      () => corrcoef(y),
      ...NAN.map((name) => () => math[name](y, { axis: 0 })),
      () => assert.throws(() => cov(y, { fweights: [1] })),
      () => assert.throws(() => interp(x, [1], [1], { out: zeros([3]) })),
    ]
    const before = memory().tensors
    for (const call of calls()) {
      const made = call()
      for (const t of made === undefined
        ? []
        : made.hist === undefined
          ? [made]
          : [made.hist, made.edges]) {
        t.dispose()
      }
      assert.ok(memory().tensors <= before + 1, String(call))
    }
  })
})
