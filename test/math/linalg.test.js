'use strict'
// linalg beside NumPy, and by what factors have to be; identical bits; special matrices; out; errors.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { memory, tensor, zeros, ones } = require('samebytes')
const {
  ROOT,
  copied,
  fails,
  generator,
  hex,
  leavesNothing,
  needs,
  refusedUnchanged,
} = require('../setup')
const { PYTHON } = require('../tools')
const { math, needsMath, some } = require('./load')

const { linalg } = math
const UNITS = {
  float16: 2 ** -11,
  bfloat16: 2 ** -8,
  float32: 2 ** -24,
  float64: 2 ** -53,
  complex64: 2 ** -24,
  complex128: 2 ** -53,
}
const DTYPES = [
  'float64',
  'float64',
  'float32',
  'float32',
  'complex128',
  'complex64',
  'float16',
  'bfloat16',
  'int8',
  'int64',
]
const isComplex = (dtype) => dtype.startsWith('complex')
const size = (shape) => shape.reduce((a, b) => a * b, 1)

/** Values near 1 that each dtype has. */
function valueOf({ next }, dtype) {
  const real = () => (dtype.startsWith('int') ? next(19) - 9 : (next(255) - 127) / 64)
  return isComplex(dtype) ? [real(), real()] : dtype === 'int64' ? BigInt(real()) : real()
}

/** The same values in another layout. */
function arranged({ next, pick }, t) {
  const kind = next(4)
  if (kind === 0) return t
  if (kind === 1 && t.ndim > 1) return t.transpose(-1, -2).contiguous().transpose(-1, -2)
  if (kind === 2) return t.flip().contiguous().flip()
  const big = zeros(
    t.shape.map((n) => 2 * n + pick([0, 1])),
    t.dtype,
  )
  const view = big.slice(...t.shape.map((n) => `1:${2 * n + 1}:2`))
  if (t.shape.some((n, d) => view.shape[d] !== n)) return t
  view.copyFrom(t)
  return view
}

function matrices(random, dtype, batch, m, n) {
  const shape = [...batch, m, n]
  return tensor(
    Array.from({ length: size(shape) }, () => valueOf(random, dtype)),
    { dtype },
  ).reshape(shape)
}

/** Symmetric, or Hermitian, and positive definite: the diagonal outweighs the rest. */
function definite(random, dtype, batch, n) {
  const t = matrices(random, dtype, batch, n, n)
  const whole =
    dtype === 'int64' ? BigInt(9 * n + 1) : dtype === 'int8' ? Math.min(127, 9 * n + 1) : 3 * n + 1
  for (let i = 0; i < n; i++) {
    t.select(-1, i)
      .select(-1, i)
      .fill(isComplex(dtype) ? [whole, 0] : whole)
  }
  return t
}

const wide = (t) =>
  t.astype(isComplex(t.dtype) ? 'complex128' : 'float64', { casting: 'unsafe' }).contiguous()
const sent = (t) => ({
  dtype: wide(t).dtype,
  shape: [...t.shape],
  bytes: Buffer.from(wide(t).bytes).toString('base64'),
})

function askNumpy(cases) {
  const input = JSON.stringify(
    cases.map(({ t, b, results, ...rest }) => ({
      ...rest,
      a: sent(t),
      b: b && sent(b),
      results: Object.fromEntries(
        Object.entries(results).map(([key, value]) => [key, sent(value)]),
      ),
    })),
  )
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'linalg.py')],
    { input, env: { ...process.env, LD_PRELOAD: '' }, encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

const COMPUTE = {
  det: ({ t }) => ({ y: linalg.det(t) }),
  slogdet: ({ t }) => linalg.slogdet(t),
  inv: ({ t }) => ({ y: linalg.inv(t) }),
  solve: ({ t, b }) => ({ y: linalg.solve(t, b) }),
  matrixPower: ({ t, n }) => ({ y: linalg.matrixPower(t, n) }),
  cholesky: ({ t, upper }) => ({ y: linalg.cholesky(t, { upper }) }),
  qr: ({ t, complete }) => linalg.qr(t, { mode: complete ? 'complete' : 'reduced' }),
  eigh: ({ t }) => ({ ...linalg.eigh(t), alone: linalg.eigvalsh(t) }),
  svd: ({ t, full }) => ({ ...linalg.svd(t, { fullMatrices: full }), alone: linalg.svdvals(t) }),
  pinv: ({ t, rtol }) => ({ y: linalg.pinv(t, { rtol }) }),
  matrixRank: ({ t, rtol }) => ({ y: linalg.matrixRank(t, { rtol }) }),
  matrixNorm: ({ t, ord, keepdims }) => ({
    y: linalg.matrixNorm(t, {
      ord: ord === 'inf' ? Infinity : ord === '-inf' ? -Infinity : ord,
      keepdims,
    }),
  }),
  trace: ({ t, offset }) => ({ y: linalg.trace(t, { offset }) }),
}
const SQUARE = ['det', 'slogdet', 'inv', 'solve', 'matrixPower', 'cholesky', 'eigh']

function makeCase(random, name, dtype, m, n) {
  const { next, pick } = random
  const batch = pick([[], [], [2], [3, 1], [0]])
  const made = {
    name,
    dtype,
    complete: next(2) === 1,
    full: next(2) === 1,
    upper: next(2) === 1,
    keepdims: next(2) === 1,
    offset: next(9) - 4,
    rtol: 1e-3,
    n: next(5),
    ord: pick(['fro', 'nuc', 1, -1, 2, -2, 'inf', '-inf']),
  }
  const isDefinite =
    name === 'cholesky' ||
    ['inv', 'solve', 'slogdet'].includes(name) ||
    (name === 'matrixPower' && next(2) === 1)
  if (name === 'matrixPower' && isDefinite) made.n = -made.n
  const rows = SQUARE.includes(name) ? n : m
  const t = isDefinite ? definite(random, dtype, batch, n) : matrices(random, dtype, batch, rows, n)
  const columns = next(4)
  const b =
    name !== 'solve'
      ? undefined
      : arranged(
          random,
          columns === 0
            ? matrices(random, dtype, [], 1, n).reshape([n])
            : matrices(random, dtype, pick([[], batch]), n, columns),
        )
  return { ...made, t: arranged(random, t), b }
}

/** NumPy's answers for cases: how many units each result is off. */
function compared(cases) {
  for (const each of cases) {
    each.results = COMPUTE[each.name](each)
    const own = each.dtype in UNITS ? each.dtype : 'float32'
    each.unit = each.name === 'matrixRank' ? 1 : UNITS[own]
  }
  return askNumpy(cases).map((errors, i) => ({ ...cases[i], errors }))
}

function check(answers, most) {
  for (const { t, b, results, errors, ...rest } of answers) {
    for (const error of errors) {
      assert.ok(
        typeof error === 'number' && error <= most(t),
        `${JSON.stringify({ ...rest, shape: t.shape, strides: t.strides, b: b?.shape })}: ${errors}`,
      )
    }
  }
}

const run = (cases, most) => check(compared(cases), most)

const hilbert = (n) =>
  tensor(
    Array.from({ length: n * n }, (_, i) => 1 / (Math.floor(i / n) + (i % n) + 1)),
    { dtype: 'float64' },
  ).reshape([n, n])
const diagonal = (list) => {
  const t = zeros([list.length, list.length], 'float64')
  t.diagonal().copyFrom(tensor(list, 'float64'))
  return t
}

describe('linalg beside NumPy', () => {
  needsMath()
  needs('NumPy')

  function casesOf(name) {
    const random = generator(name.length * 7 + name.charCodeAt(1))
    const { next, pick } = random
    const cases = Array.from({ length: some(60) }, () => {
      const isOfNone = name === 'matrixNorm' || name === 'matrixRank' || name === 'pinv'
      const side = () => pick([isOfNone ? 1 : 0, 1, 2, 3, 4, 5, 8, 9, 17, 1 + next(40)])
      const dtype = name === 'trace' ? 'float64' : pick(DTYPES)
      return makeCase(
        random,
        name,
        dtype,
        side(),
        dtype === 'float16' && name === 'det'
          ? 1 + next(4)
          : dtype === 'int8'
            ? 1 + next(12)
            : name === 'det' && dtype === 'int64'
              ? 1 + next(20)
              : side(),
      ) // more has no float32
    })
    return cases.filter(
      ({ t }) =>
        !['det', 'matrixPower'].includes(name) || t.dtype !== 'float16' || t.shape.at(-1) < 3,
    )
  }

  let answers
  before(() => {
    answers = compared(Object.keys(COMPUTE).flatMap(casesOf))
  })

  for (const name of Object.keys(COMPUTE)) {
    it(`${name} is right for random matrices, dtypes, stacks and layouts`, () => {
      const own = answers.filter((each) => each.name === name)
      assert.ok(own.length > 0)
      check(own, (t) => 8 + 2 * Math.max(...t.shape.slice(-2)))
    })
  }

  it('large matrices, whose panels are updated at once', () => {
    const random = generator(5)
    const cases = Object.keys(COMPUTE).flatMap((name) =>
      [
        ['float64', 100, 131],
        ['float32', 150, 90],
        ['complex128', 70, 65],
      ].map(([dtype, m, n]) => ({ ...makeCase(random, name, dtype, m, n), n: 2 })),
    )
    run(
      cases.filter(({ name, dtype }) => name !== 'det' || dtype === 'float64'),
      (t) => 8 + 2 * Math.max(...t.shape.slice(-2)),
    )
  })

  it('matrices that are nearly, or really, singular', () => {
    const random = generator(6)
    const thin = matrices(random, 'float64', [], 30, 3)
    const product = (t) =>
      tensor(
        Array.from({ length: 900 }, (_, i) =>
          [0, 1, 2].reduce((sum, k) => sum + t.get(Math.floor(i / 30), k) * t.get(i % 30, k), 0),
        ),
        { dtype: 'float64' },
      ).reshape([30, 30])
    const graded = diagonal(Array.from({ length: 20 }, (_, i) => 10 ** -i))
    const mixed = graded.clone()
    for (let i = 0; i < 19; i++) {
      mixed.set(10 ** -i / 3, i, i + 1)
      mixed.set(10 ** -i / 3, i + 1, i)
    }
    const list = [
      hilbert(4),
      hilbert(12),
      hilbert(20),
      product(thin),
      graded,
      mixed,
      zeros([7, 7], 'float64'),
      ones([9, 9], 'float64'),
      diagonal([1, 0, 2, 0, 3]),
      diagonal([5, 5, 5, 5]),
    ]
    const cases = list.flatMap((t) =>
      ['svd', 'eigh', 'qr', 'matrixRank', 'pinv', 'det'].map((name) => ({
        name,
        dtype: 'float64',
        t,
        rtol: 1e-6,
        complete: false,
        full: true,
      })),
    )
    run(cases, (t) => 8 + 2 * t.shape[0])
    run(
      [hilbert(4), hilbert(12), mixed].flatMap((t) =>
        ['inv', 'solve'].map((name) => ({
          name,
          dtype: 'float64',
          t,
          b: ones([t.shape[0]], 'float64'),
        })),
      ),
      (t) => 8 + 2 * t.shape[0],
    )
    run(
      [zeros([8, 3], 'float64'), zeros([3, 8], 'complex128')].flatMap((t) =>
        [true, false].flatMap((full) =>
          ['svd', 'qr'].map((name) => ({ name, dtype: t.dtype, t, full, complete: full })),
        ),
      ),
      () => 8,
    )
  })

  it('matrices with elements near the ends of float64', () => {
    const random = generator(7)
    for (const scale of [2 ** -1060, 2 ** -600, 2 ** 900, 2 ** 1010]) {
      const t = matrices(random, 'float64', [], 6, 6)
      const scaled = tensor(
        [...wide(t).data].map((x) => x * scale),
        { dtype: 'float64' },
      ).reshape([6, 6])
      const back = (x) => [...wide(x).data].map((y) => y / scale)
      const most = (a, b, unit = 1e-13) =>
        a.forEach((x, i) =>
          assert.ok(Math.abs(x - b[i]) <= unit * 20, `${scale}: ${x}, not ${b[i]}`),
        )
      const tolerance = scale < 2 ** -1000 ? 2 ** -14 : 1e-13
      most(back(linalg.svdvals(scaled)), linalg.svdvals(t).toArray(), tolerance)
      most(back(linalg.eigvalsh(scaled)), linalg.eigvalsh(t).toArray(), tolerance)
      most(back(linalg.qr(scaled).r), wide(linalg.qr(t).r).data, tolerance)
    }
  })
})

describe('linalg', () => {
  needsMath()

  it('has the products that the standard has under that name', () => {
    for (const name of ['matmul', 'outer', 'tensordot', 'vecdot']) {
      assert.equal(linalg[name], math[name])
      assert.equal(linalg[`${name}Async`], math[`${name}Async`])
    }
  })

  it('gives results of the dtypes that were promised', () => {
    for (const [dtype, own, real] of [
      ['float64', 'float64', 'float64'],
      ['float16', 'float16', 'float16'],
      ['int64', 'float32', 'float32'],
      ['uint8', 'float32', 'float32'],
      ['complex64', 'complex64', 'float32'],
      ['complex128', 'complex128', 'float64'],
    ]) {
      const t =
        dtype === 'uint8'
          ? tensor(
              [
                [19, 3],
                [3, 19],
              ],
              dtype,
            )
          : definite(generator(1), dtype, [], 2)
      for (const name of ['det', 'inv', 'cholesky', 'pinv']) {
        assert.equal(linalg[name](t).dtype, own, name)
      }
      for (const name of ['eigvalsh', 'svdvals', 'matrixNorm']) {
        assert.equal(linalg[name](t).dtype, real, name)
      }
      assert.deepEqual(
        Object.values(linalg.svd(t)).map((x) => x.dtype),
        [own, real, own],
      )
      assert.deepEqual(
        Object.values(linalg.eigh(t)).map((x) => x.dtype),
        [real, own],
      )
      assert.deepEqual(
        Object.values(linalg.slogdet(t)).map((x) => x.dtype),
        [own, real],
      )
      assert.equal(linalg.matrixRank(t).dtype, 'int32')
      assert.equal(linalg.matrixRank(t, 'int64').dtype, 'int64')
      assert.equal(linalg.solve(t, t).dtype, own)
    }
    assert.equal(
      linalg.solve(definite(generator(1), 'float32', [], 2), ones([2], 'complex128')).dtype,
      'complex128',
    )
    assert.equal(
      linalg.solve(definite(generator(1), 'int8', [], 2), ones([2], 'float64')).dtype,
      'float64',
    )
    assert.equal(linalg.trace(ones([2, 2], 'int8')).dtype, 'int64')
    assert.equal(linalg.trace(ones([2, 2], 'float32'), { dtype: 'float64' }).dtype, 'float64')
  })

  it('has determinants of the greatest and the least numbers', () => {
    for (const x of [1e-310, 5e-324, 1e-308, 1.7e308, 1e300]) {
      const t = tensor(
        [
          [x, 0, 0],
          [0, 0, -x],
          [0, x, 0],
        ],
        'float64',
      )
      const { sign, logabsdet } = linalg.slogdet(t)
      assert.equal(sign.item(), 1)
      assert.ok(
        Math.abs(logabsdet.item() / (3 * Math.log(x)) - 1) < 1e-15,
        `${x} ${logabsdet.item()}`,
      )
      const by = x < 1 ? 2 ** 1000 : 2 ** -1000
      assert.equal(
        linalg
          .det(
            tensor(
              [
                [x, 0, 0],
                [0, by, 0],
                [0, 0, 3],
              ],
              'float64',
            ),
          )
          .item(),
        x * by * 3,
        `${x}`,
      )
    }
  })

  it('solves for vectors only if x2 has one axis', () => {
    const a = definite(generator(2), 'float64', [3], 2)
    assert.deepEqual([...linalg.solve(a, ones([2])).shape], [3, 2])
    assert.deepEqual([...linalg.solve(a, ones([2, 5])).shape], [3, 2, 5])
    assert.deepEqual([...linalg.solve(a.select(0, 0), ones([4, 2, 5])).shape], [4, 2, 5])
    assert.deepEqual([...linalg.solve(a.unsqueeze(1), ones([4, 2, 0])).shape], [3, 4, 2, 0])
    fails(
      () => linalg.solve(a, ones([3, 3])),
      RangeError,
      'ERR_SHAPE',
      /x2 has matrices of 3 rows; x1's have 2/,
    )
    fails(() => linalg.solve(a, ones([3])), RangeError, 'ERR_SHAPE', /a vector of 3 rows/)
    fails(() => linalg.solve(a, ones([4, 2, 1])), RangeError, 'ERR_SHAPE')
    fails(() => linalg.solve(a, ones([])), RangeError, 'ERR_SHAPE', /x2 has 0 axes/)
  })

  it('of matrices without elements', () => {
    const none = zeros([0, 0], 'float64')
    assert.equal(linalg.det(none).item(), 1)
    assert.deepEqual(
      Object.values(linalg.slogdet(none)).map((x) => x.item()),
      [1, 0],
    )
    for (const name of ['inv', 'cholesky', 'pinv']) {
      assert.deepEqual([...linalg[name](none).shape], [0, 0])
    }
    assert.equal(linalg.matrixRank(zeros([0, 3])).item(), 0)
    assert.deepEqual(linalg.matrixRank(zeros([2, 0, 3])).toArray(), [0, 0])
    assert.deepEqual(linalg.svd(zeros([3, 0], 'float64')).u.toArray(), [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ])
    assert.deepEqual(linalg.svd(zeros([0, 2], 'float64')).vh.toArray(), [
      [1, 0],
      [0, 1],
    ])
    assert.deepEqual(linalg.qr(zeros([2, 0], 'float64'), { mode: 'complete' }).q.toArray(), [
      [1, 0],
      [0, 1],
    ])
    assert.deepEqual([...linalg.eigh(zeros([4, 0, 0])).eigenvectors.shape], [4, 0, 0])
    assert.deepEqual([...linalg.inv(zeros([0, 3, 3])).shape], [0, 3, 3])
    assert.equal(linalg.matrixNorm(zeros([0, 3])).item(), 0)
    assert.equal(linalg.matrixNorm(zeros([0, 3]), { ord: 'nuc' }).item(), 0)
    fails(
      () => linalg.matrixNorm(zeros([0, 3]), { ord: 2 }),
      RangeError,
      'ERR_SHAPE',
      /no elements/,
    )
    assert.equal(linalg.trace(zeros([2, 3]), { offset: 9 }).item(), 0)
    assert.equal(linalg.trace(ones([2, 3]), { offset: -2 }).item(), 0)
    assert.deepEqual([...linalg.pinv(zeros([0, 3])).shape], [3, 0])
    assert.deepEqual(linalg.matrixPower(zeros([2, 2]), 0).toArray(), [
      [1, 0],
      [0, 1],
    ])
  })

  it('refuses singular matrices, and writes nothing then', () => {
    const singular = tensor(
      [
        [
          [2, 0],
          [0, 1],
        ],
        [
          [1, 2],
          [2, 4],
        ],
      ],
      'float64',
    )
    const out = zeros([2, 2, 2], 'float64').fill(7)
    for (const name of ['inv', 'solve', 'matrixPower', 'cholesky']) {
      const call = (opts) =>
        name === 'solve'
          ? linalg.solve(singular, ones([2, 2, 2]), opts)
          : name === 'matrixPower'
            ? linalg.matrixPower(singular, -2, opts)
            : linalg[name](singular, opts)
      fails(
        () => call(),
        TypeError,
        'ERR_ARGUMENT',
        name === 'cholesky'
          ? /not positive definite; eigvalsh/
          : /singular and has no inverse; pinv/,
      )
      refusedUnchanged(out, () => call({ out }), 'ERR_ARGUMENT')
    }
    assert.deepEqual(linalg.det(singular).toArray(), [2, 0])
    const { sign, logabsdet } = linalg.slogdet(singular)
    assert.deepEqual([sign.toArray(), logabsdet.get(1)], [[1, 0], -Infinity])
    assert.equal(linalg.slogdet(zeros([2, 2], 'complex64')).logabsdet.item(), -Infinity)
    fails(
      () =>
        linalg.cholesky(
          tensor([
            [1, 2],
            [2, 1],
          ]),
        ),
      TypeError,
      'ERR_ARGUMENT',
    )
    fails(() => linalg.cholesky(tensor([[NaN]])), TypeError, 'ERR_ARGUMENT')
  })

  it('rejects singular matrices, and writes nothing then', async () => {
    const singular = ones([2, 2], 'float64')
    const out = zeros([2, 2], 'float64').fill(7)
    await assert.rejects(linalg.invAsync(singular, { out }), { code: 'ERR_ARGUMENT' })
    assert.deepEqual(out.toArray(), [
      [7, 7],
      [7, 7],
    ])
    assert.deepEqual(
      (await linalg.invAsync(definite(generator(3), 'float64', [], 2), { out })).toArray(),
      linalg.inv(definite(generator(3), 'float64', [], 2)).toArray(),
    )
    const t = definite(generator(4), 'float64', [5], 12)
    const [{ u, s }, norm, rank] = await Promise.all([
      linalg.svdAsync(t),
      linalg.matrixNormAsync(t, { ord: 'nuc' }),
      linalg.matrixRankAsync(t),
    ])
    assert.equal(hex(u), hex(linalg.svd(t).u))
    assert.equal(hex(s), hex(linalg.svd(t).s))
    assert.equal(hex(norm), hex(linalg.matrixNorm(t, { ord: 'nuc' })))
    assert.deepEqual(rank.toArray(), [12, 12, 12, 12, 12])
  })

  it('gives NaN of NaN and Infinity, matrix by matrix', () => {
    for (const dtype of ['float64', 'complex128', 'float32']) {
      for (const bad of [NaN, Infinity, -Infinity]) {
        const t = definite(generator(8), dtype, [2], 5)
        t.select(0, 1)
          .select(0, 3)
          .select(0, 1)
          .fill(isComplex(dtype) ? [0, bad] : bad)
        const made = [
          ...Object.values(linalg.svd(t)),
          ...Object.values(linalg.eigh(t)),
          linalg.svdvals(t),
          linalg.eigvalsh(t),
          linalg.pinv(t),
        ]
        for (const each of made) {
          const parts = wide(each)
          const numbers = [...parts.data].flat()
          numbers.forEach((x, i) =>
            assert.equal(Number.isNaN(x), i >= numbers.length / 2, `${dtype} ${bad} ${each.shape}`),
          )
        }
        assert.ok(linalg.qr(t).r.select(0, 1).toArray().flat(Infinity).some(Number.isNaN))
        assert.deepEqual(linalg.matrixRank(t).toArray(), [5, 0])
      }
    }
    for (const bad of [NaN, Infinity]) {
      // in what is not read
      const t = tensor(
        [
          [2, bad],
          [0, 3],
        ],
        'float64',
      )
      assert.deepEqual(linalg.eigvalsh(t).toArray(), [2, 3])
      assert.deepEqual(linalg.eigh(t).eigenvalues.toArray(), [2, 3])
      assert.deepEqual(
        linalg
          .eigvalsh(
            tensor(
              [
                [
                  [2, bad],
                  [bad, 0],
                ],
                [
                  [0, 0],
                  [3, 0],
                ],
              ],
              'complex128',
            ),
          )
          .toArray(),
        [2, 3],
      )
    }
    assert.ok(
      Number.isNaN(
        linalg
          .det(
            tensor([
              [NaN, 1],
              [1, 1],
            ]),
          )
          .item(),
      ),
    )
    assert.ok(
      linalg
        .inv(
          tensor([
            [0, 1],
            [NaN, 1],
          ]),
        )
        .toArray()
        .flat()
        .every(Number.isNaN),
    )
    assert.equal(
      hex(
        linalg.det(
          tensor(
            [
              [NaN, 1],
              [1, 1],
            ],
            'float64',
          ),
        ),
      ),
      hex(tensor(NaN, 'float64')),
    )
  })

  it('has determinants whose parts overflow', () => {
    assert.equal(linalg.det(diagonal([2 ** 1000, 2 ** 1000, 2 ** -1000, -(2 ** -1000)])).item(), -1)
    assert.equal(linalg.det(diagonal([2 ** -1000, 2 ** -1000, 2 ** 1000, 2 ** 1000])).item(), 1)
    assert.equal(linalg.det(diagonal([2 ** 1000, 2 ** 1000])).item(), Infinity)
    assert.equal(linalg.det(diagonal([2 ** -1000, 2 ** -74])).item(), 2 ** -1074)
    assert.equal(linalg.det(diagonal([2 ** -1000, 2 ** -1000])).item(), 0)
    assert.equal(
      linalg.slogdet(diagonal([2 ** 1000, -(2 ** 1000)])).logabsdet.item(),
      2000 * Math.LN2,
    )
    assert.equal(linalg.slogdet(diagonal([2 ** 1000, -(2 ** 1000)])).sign.item(), -1)
  })

  it('has the same bits for every layout', () => {
    const random = generator(9)
    for (const dtype of ['float64', 'float32', 'complex128']) {
      const t = definite(random, dtype, [2], 41)
      const views = [
        t.transpose(-1, -2).contiguous().transpose(-1, -2),
        t.flip().contiguous().flip(),
        t.permute([1, 2, 0]).contiguous().permute([2, 0, 1]),
      ]
      for (const name of Object.keys(COMPUTE)) {
        const made = (x) =>
          Object.values(
            COMPUTE[name]({
              t: x,
              b: x,
              n: -3,
              rtol: 1e-3,
              ord: 'nuc',
              full: true,
              complete: true,
            }),
          ).map(hex)
        for (const view of views) assert.deepEqual(made(view), made(t), name)
      }
    }
  })

  it('writes into out, which may be transposed, of another dtype, or x', () => {
    const t = definite(generator(10), 'float64', [2], 5)
    const big = {
      det: [2],
      eigvalsh: [2, 5],
      svdvals: [2, 5],
      matrixRank: [2],
      trace: [2],
      matrixNorm: [2],
    }
    for (const name of [
      'det',
      'inv',
      'cholesky',
      'pinv',
      'eigvalsh',
      'svdvals',
      'matrixRank',
      'trace',
      'matrixNorm',
    ]) {
      const wanted = linalg[name](t)
      const shape = big[name] ?? [2, 5, 5]
      const out = zeros([...shape].reverse(), 'float64').permute(
        shape.map((_, d) => shape.length - 1 - d),
      )
      assert.equal(linalg[name](t, { out }), out)
      assert.deepEqual(out.toArray(), wanted.toArray(), name)
      const single = zeros(shape, 'float32')
      linalg[name](t, { out: single })
      assert.deepEqual(
        single.toArray(),
        wanted.astype('float32', { casting: 'same_kind' }).toArray(),
        name,
      )
      if (name !== 'matrixRank') {
        refusedUnchanged(
          zeros(shape, 'int32').fill(7),
          () => linalg[name](t, { out: zeros(shape, 'int32') }),
          'ERR_CAST',
        )
      }
      refusedUnchanged(zeros([3]).fill(7), () => linalg[name](t, { out: zeros([3]) }), 'ERR_SHAPE')
      const same = t.clone()
      if (name in big) continue
      linalg[name](same, { out: same })
      assert.equal(hex(same), hex(wanted), name)
      linalg[name](t, { out: same.transpose(-1, -2) })
      assert.equal(hex(same.transpose(-1, -2).contiguous()), hex(wanted), name)
    }
    const b = ones([2, 5, 3], 'float64')
    const wanted = linalg.solve(t, b)
    assert.equal(hex(linalg.solve(t, b, { out: b })), hex(wanted))
    const vector = ones([5], 'float64')
    assert.equal(
      hex(linalg.solve(t.select(0, 0), vector, { out: vector })),
      hex(linalg.solve(t.select(0, 0), ones([5], 'float64'))),
    )
    const power = t.clone()
    assert.equal(hex(linalg.matrixPower(power, 3, { out: power })), hex(linalg.matrixPower(t, 3)))
  })

  it('leaves nothing behind, and copies no operand', () => {
    const t = definite(generator(11), 'float64', [2], 5)
    const out = zeros([2, 5, 5], 'float64')
    leavesNothing(() => {
      linalg.inv(t, { out })
      linalg.matrixNorm(t, { ord: 1 }).dispose()
      linalg.matrixRank(t).dispose()
      linalg.trace(t).dispose()
    })
    assert.deepEqual(
      copied(() => {
        linalg.svd(t.transpose(-1, -2))
        linalg.inv(t.flip())
        linalg.eigvalsh(t)
      }).copies,
      {},
    )
    assert.ok(memory().tensors >= 0)
  })

  it('refuses what it is not for', () => {
    for (const name of Object.keys(COMPUTE)) {
      const call = (t) => COMPUTE[name]({ t, b: t, n: 2 })
      fails(() => call([1]), TypeError, 'ERR_ARGUMENT')
      fails(() => call(zeros([3])), RangeError, 'ERR_SHAPE', /has 1 axes; at least 2 were expected/)
      if (SQUARE.includes(name)) {
        fails(
          () => call(zeros([2, 3])),
          RangeError,
          'ERR_SHAPE',
          /2 rows and 3 columns; square ones were expected/,
        )
      }
      if (name === 'trace') continue
      fails(() => call(zeros([2, 2], 'bool')), TypeError, 'ERR_DTYPE', /astype/)
      fails(() => call(zeros([2, 2], 'float8_e5m2')), TypeError, 'ERR_DTYPE', /astype/)
    }
    const t = ones([2, 2])
    for (const ord of ['inf', 3, null, NaN]) {
      fails(() => linalg.matrixNorm(t, { ord }), TypeError, 'ERR_ARGUMENT', /ord is/)
    }
    for (const rtol of [-1, NaN, '1']) {
      fails(() => linalg.pinv(t, { rtol }), TypeError, 'ERR_ARGUMENT', /rtol is/)
      fails(() => linalg.matrixRank(t, { rtol }), TypeError, 'ERR_ARGUMENT', /rtol is/)
    }
    fails(() => linalg.matrixPower(t, 1.5), RangeError, 'ERR_BOUNDS', /n is 1.5/)
    fails(() => linalg.qr(t, { mode: 'full' }), TypeError, 'ERR_ARGUMENT', /'complete'/)
    fails(() => linalg.svd(t, { fullMatrices: 1 }), TypeError, 'ERR_ARGUMENT')
    fails(() => linalg.svd(t, { full: true }), TypeError, 'ERR_ARGUMENT', /fullMatrices/)
    fails(
      () => linalg.eigh(t, { upper: true }),
      TypeError,
      'ERR_ARGUMENT',
      /no option "upper"; none was expected/,
    )
    fails(() => linalg.cholesky(t, { upper: 1 }), TypeError, 'ERR_ARGUMENT')
    fails(
      () => linalg.svdvals(zeros([1, 1], 'float64').broadcastTo([2 ** 28, 1])),
      RangeError,
      'ERR_MEMORY',
      /268435456 rows/,
    )
    fails(
      () => linalg.svdvals(zeros([1, 1], 'float64').broadcastTo([2 ** 26, 2 ** 26])),
      RangeError,
      'ERR_MEMORY',
    )
    fails(
      () => linalg.det(zeros([1, 1]).broadcastTo([2 ** 20, 2 ** 20])),
      RangeError,
      'ERR_MEMORY',
      /\d{14} bytes/,
    ) // of more digits than 32 bits have
  })

  it('looks at no option of functions that have none', () => {
    for (const name of ['slogdet', 'eigh']) {
      const read = []
      const options = new Proxy(Object.create({ out: 5 }), {
        get: (target, key) => {
          read.push(key)
          return target[key]
        },
      })
      linalg[name](ones([2, 2]), options)
      assert.deepEqual(read, [], name)
    }
  })

  it('takes a tensor as the tolerance of ranks', () => {
    const t = tensor([
      [
        [1, 0],
        [0, 0.5],
      ],
      [
        [1, 0],
        [0, 0.5],
      ],
    ])
    assert.deepEqual(linalg.matrixRank(t, { rtol: tensor([0.4, 0.6]) }).toArray(), [2, 1])
    assert.deepEqual(linalg.matrixRank(t, { rtol: 0.6 }).toArray(), [1, 1])
    assert.deepEqual(linalg.matrixRank(t).toArray(), [2, 2])
  })

  it('crosses vectors', () => {
    assert.deepEqual(linalg.cross(tensor([1, 2, 3]), tensor([4, 5, 6])).toArray(), [-3, 6, -3])
    assert.deepEqual(
      linalg
        .cross(
          tensor([[1], [0], [0]], 'int8'),
          tensor(
            [
              [0, 0],
              [1, 0],
              [0, 1],
            ],
            'int8',
          ),
          { axis: 0 },
        )
        .toArray(),
      [
        [0, 0],
        [0, -1],
        [1, 0],
      ],
    )
    const unit = (list) => tensor(list, 'float32').astype('complex64')
    assert.deepEqual(linalg.cross(unit([1, 0, 0]), unit([0, 1, 0])).toArray(), [
      [0, 0],
      [0, 0],
      [1, 0],
    ])
    assert.deepEqual(
      linalg.cross(tensor([200, 0, 0], 'uint8'), tensor([0, 2, 0], 'uint8')).toArray(),
      [0, 0, 144],
    )
    fails(() => linalg.cross(ones([2]), ones([2])), RangeError, 'ERR_SHAPE', /vectors of 3/)
    fails(() => linalg.cross(ones([3]), ones([3]), { axis: 1 }), RangeError, 'ERR_BOUNDS')
    fails(() => linalg.cross(ones([3], 'bool'), ones([3], 'bool')), TypeError, 'ERR_DTYPE')
  })
})
