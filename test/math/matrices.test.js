'use strict'
// matmul, vecdot, tensordot, outer, einsum and cosineSimilarity: the rule of their sums, NumPy, layouts, out, refusals.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { canCast, fromBlob, full, iinfo, memory, promoteTypes, tensor, zeros } = require('samebytes')
const {
  ROOT,
  fails,
  generator,
  hex,
  leavesNothing,
  needs,
  refusedUnchanged,
  skipWithout,
} = require('../setup')
const { PYTHON } = require('../tools')
const { math, needsMath, some } = require('./load')
const { SIZES, fixed, productOf } = require('./matrices-rule')

const {
  matmul,
  matmulAsync,
  einsumAsync,
  vecdot,
  tensordot,
  outer,
  einsum,
  cosineSimilarity,
  linalg,
  sum,
  multiply,
} = math

const EPSILON = {
  float32: 2 ** -23,
  float64: 2 ** -51,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
  complex64: 2 ** -22,
  complex128: 2 ** -50,
}
const DTYPES = [
  'float32',
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'int8',
  'uint16',
  'int32',
  'uint64',
  'complex64',
  'complex128',
]

const flat = (t) => t.reshape([t.size]).toArray()

function valueOf({ next }, dtype) {
  if (dtype.startsWith('complex')) return [next(2000) / 999 - 1, next(2000) / 999 - 1]
  if (dtype === 'int64' || dtype === 'uint64') return BigInt(next(1e6)) * 65537n
  if (dtype.includes('int')) return next(100)
  return next(2 ** 24) / 2 ** 23 - 1
}

/** A tensor of a given shape, of any layout. */
function arranged(random, dtype, shape) {
  const { next, pick, shuffle } = random
  const order = shuffle(shape.map((_, d) => d))
  const kind = next(4)
  const extents = order.map((d) => (kind === 0 ? 2 * shape[d] : shape[d]))
  const n = extents.reduce((a, b) => a * b, 1)
  let t = tensor(
    Array.from({ length: n }, () => valueOf(random, dtype)),
    { dtype },
  ).reshape(extents)
  if (kind === 0) t = t.slice(...extents.map(() => pick(['::2', '1::2', '::-2'])))
  if (kind === 1) t = t.slice(...extents.map(() => pick([':', '::-1'])))
  return t.permute(shape.map((_, d) => order.indexOf(d)))
}

function askNumpy(cases) {
  const list = cases.map(({ call, operands }) => ({
    call,
    operands: operands.map((t) => ({
      dtype: t.dtype,
      shape: [...t.shape],
      bytes: Buffer.from(t.contiguous().bytes).toString('base64'),
    })),
  }))
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'matrices.py')],
    {
      input: JSON.stringify(list),
      env: { ...process.env, LD_PRELOAD: '' },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** Are values NumPy's, within what `terms` roundings of numbers of at most `most` allow? */
function assertClose(got, wanted, terms, most, what) {
  assert.deepEqual([...got.shape], wanted.shape, what)
  const unit = EPSILON[got.dtype]
  flat(got).forEach((value, i) => {
    const expected = wanted.values[i]
    if (unit === undefined) return assert.equal(String(value), expected, `${what} at ${i}`)
    const parts = Array.isArray(value)
      ? value.map((part, d) => [part, expected[d]])
      : [[value, expected]]
    const size = Math.hypot(...parts.map(([, x]) => x))
    for (const [x, y] of parts) {
      assert.ok(
        Math.abs(x - y) <= unit * size + terms * most * 2 ** (unit < 2 ** -40 ? -52 : -22),
        `${what} at ${i}: ${x}, not ${y}`,
      )
    }
  })
}

describe('matmul', () => {
  needsMath()

  it('adds by the rule, for every dtype, layout, batch and out', () => {
    const random = generator(71)
    const { next, pick } = random
    const extent = () => pick([1, 1, 2, 3, 4, 5, 6, 7, 13, 17, 33, 66])
    for (let i = 0; i < some(250); i++) {
      const dtype = pick(DTYPES)
      const [m, k, n] = [
        extent(),
        pick([extent(), extent(), 255, 256, 257, 520]),
        pick([extent(), extent(), 130]),
      ]
      const batch = next(3) ? [] : pick([[1], [3], [2, 2]])
      const a = arranged(random, dtype, [...(next(2) ? batch : []), m, k])
      const b = arranged(random, dtype, [...batch, k, n])
      const wide = dtype.startsWith('complex')
        ? 'complex128'
        : dtype.includes('int')
          ? dtype
          : 'float64'
      const out = next(2)
        ? undefined
        : arranged(random, pick([dtype, dtype, wide]), [...batch, m, n])
      const got = matmul(a, b, { out })
      const what = JSON.stringify({
        dtype,
        a: [a.shape, a.strides],
        b: [b.shape, b.strides],
        out: out && [out.dtype, out.strides],
      })
      assert.equal(got, out ?? got)
      const computed = ['float16', 'bfloat16'].includes(dtype) ? 'float32' : dtype
      const listsOf = (t) =>
        batch.length === 0
          ? [t.toArray()]
          : t
              .broadcastTo([...batch, ...t.shape.slice(-2)])
              .reshape([-1, ...t.shape.slice(-2)])
              .toArray()
      const [left, right] = [listsOf(a), listsOf(b)]
      const wanted = tensor(
        left.map((rows, q) => productOf(rows, right[q], computed)),
        { dtype: computed },
      )
        .astype(got.dtype, { casting: 'unsafe' })
        .reshape([...batch, m, n])
      assert.equal(hex(got), hex(wanted), what)
    }
  })

  it('has the same bits for transposed, sliced and copied operands, and for parts of the result', () => {
    for (const dtype of ['float32', 'float64', 'float16', 'int32', 'complex64']) {
      for (const [m, k, n] of SIZES) {
        const a = fixed(m, k, dtype, 1)
        const b = fixed(k, n, dtype, 2)
        const wanted = matmul(a, b)
        const [at, bt] = [a.T.contiguous().T, b.T.contiguous().T]
        for (const [x, y] of [
          [at, b],
          [a, bt],
          [at, bt],
        ]) {
          assert.equal(hex(matmul(x, y)), hex(wanted))
        }
        assert.equal(hex(matmul(a, b, { out: zeros([n, m], dtype).T })), hex(wanted))
        if (dtype !== 'complex64') assert.equal(hex(matmul(bt.T, at.T).T), hex(wanted))
        assert.equal(
          hex(matmul(a.slice('-2:'), b.slice(':', '-2:'))),
          hex(wanted.slice('-2:', '-2:')),
        )
        assert.equal(hex(matmul(a.select(0, m - 1), b)), hex(wanted.select(0, m - 1)))
        assert.equal(hex(matmul(a, b.select(1, n - 1))), hex(wanted.select(1, n - 1)))
      }
    }
  })

  it('takes vectors, and broadcasts batches', () => {
    const matrix = tensor([
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(matmul(tensor([1, 10]), matrix).toArray(), [31, 42])
    assert.deepEqual(matmul(matrix, tensor([1, 10])).toArray(), [21, 43])
    assert.equal(matmul(tensor([1, 2]), tensor([3, 4])).item(), 11)
    assert.deepEqual([...matmul(zeros([4, 1, 2, 3]), zeros([5, 3, 6])).shape], [4, 5, 2, 6])
    assert.deepEqual([...matmul(zeros([3]), zeros([4, 3, 6])).shape], [4, 6])
    assert.deepEqual([...matmul(zeros([4, 6, 3]), zeros([3])).shape], [4, 6])
    assert.equal(
      matmul(tensor([1, 2], 'int8'), tensor([1.5, 2])).dtype,
      promoteTypes('int8', 'float32'),
    )
  })

  it('of nothing is zeros', () => {
    assert.deepEqual(matmul(zeros([2, 0]), zeros([0, 2])).toArray(), [
      [0, 0],
      [0, 0],
    ])
    assert.equal(matmul(zeros([0]), zeros([0])).item(), 0)
    assert.deepEqual([...matmul(zeros([0, 3]), zeros([3, 2])).shape], [0, 2])
    assert.deepEqual([...matmul(zeros([0, 2, 3]), zeros([3, 2])).shape], [0, 2, 2])
    const out = full([2, 3], 7).T
    assert.deepEqual(matmul(zeros([3, 0]), zeros([0, 2]), { out }).toArray(), [
      [0, 0],
      [0, 0],
      [0, 0],
    ])
  })

  it('has NaN and Infinity where they belong, and one NaN', () => {
    const odd = fromBlob(Uint32Array.of(0xffc12345, 0x3f800000, 0x7f800000, 0).buffer, [2, 2], {
      dtype: 'float32',
    })
    for (const n of [1, 2, 70]) {
      const got = matmul(odd, full([2, n], 1))
      const bits = new Uint32Array(got.contiguous().bytes.slice().buffer)
      assert.deepEqual([bits[0], bits[n]], [0x7fc00000, 0x7f800000])
      assert.equal(hex(matmul(full([n, 2], 1), odd.T)), hex(got.T))
    }
    assert.equal(Object.is(matmul(tensor([-0]), tensor([1])).item(), 0), true)
  })

  it('is more accurate where that is asked for', () => {
    const a = tensor([1, 2 ** -30, -1, 2 ** -30])
    const ones = full([4], 1)
    assert.equal(matmul(a, ones).item(), 2 ** -30)
    assert.equal(matmul(a, ones, { accuracy: 'precise' }).item(), 2 ** -29)
    const [x, y] = [fixed(70, 300, 'float32', 1), fixed(300, 80, 'float32', 2)]
    const exact = matmul(x.astype('float64'), y.astype('float64'))
    assert.equal(hex(matmul(x, y, { accuracy: 'precise' })), hex(exact.astype('float32')))
    const fast = flat(matmul(x, y, { accuracy: 'fast' }))
    const sizes = flat(matmul(math.abs(x), math.abs(y)))
    flat(exact).forEach((value, i) => assert.ok(Math.abs(fast[i] - value) <= sizes[i] * 2 ** -18))
    fails(() => matmul(a, ones, { accuracy: 'exact' }), TypeError, 'ERR_ARGUMENT', /identical/)
  })

  it('writes into out, which may overlap operands, and copies these alone', () => {
    const t = fixed(90, 90, 'float32', 1)
    const b = fixed(90, 90, 'float32', 2)
    const wanted = hex(matmul(t, b))
    const counts = () => {
      const { staged, copied } = memory()
      return [staged.count, JSON.stringify(copied)]
    }
    const before = counts()
    for (const view of [t, t.T, t.slice('::-1', '::2')]) matmul(view, b.slice(`:${view.shape[1]}`))
    matmul(t, b, { out: zeros([90, 90], 'float64').T })
    assert.deepEqual(counts(), before)
    const { bytes } = memory().staged
    matmul(t, b, { out: t })
    assert.equal(hex(t), wanted)
    assert.equal(memory().staged.bytes - bytes, 90 * 90 * 4)
    const both = fixed(8, 8, 'float64', 3)
    const square = hex(matmul(both, both))
    matmul(both, both, { out: both.T })
    assert.equal(hex(both.T), square)
    const row = fixed(1, 64, 'float32', 4).reshape([64])
    const big = fixed(64, 64, 'float32', 5)
    const made = hex(matmul(row, big))
    matmul(row, big, { out: big.select(1, 3) })
    assert.equal(hex(big.select(1, 3)), made)
  })

  it('refuses what it is not for, and leaves out as it was', () => {
    const out = zeros([2, 2]).fill(7)
    refusedUnchanged(out, () => matmul(zeros([2, 3]), zeros([2, 2]), { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => matmul(zeros([3, 3]), zeros([3, 2]), { out }), 'ERR_SHAPE')
    refusedUnchanged(
      out,
      () => matmul(zeros([2, 2], 'bool'), zeros([2, 2], 'bool'), { out }),
      'ERR_DTYPE',
    )
    refusedUnchanged(
      out,
      () => matmul(zeros([2, 2], 'complex64'), zeros([2, 2]), { out }),
      'ERR_CAST',
    )
    fails(
      () => matmul(zeros([2, 2], 'float8_e5m2'), zeros([2, 2], 'float8_e5m2')),
      TypeError,
      'ERR_DTYPE',
      /astype/,
    )
    fails(() => matmul(zeros([]), zeros([2])), RangeError, 'ERR_SHAPE', /x1 has no axes/)
    fails(() => matmul(zeros([2, 2, 3]), zeros([3, 3, 2])), RangeError, 'ERR_SHAPE', /broadcast/)
    fails(() => matmul([1], zeros([1])), TypeError, 'ERR_ARGUMENT', /x1/)
    fails(
      () => matmul(zeros([1]), zeros([1]), { acuracy: 'fast' }),
      TypeError,
      'ERR_ARGUMENT',
      /accuracy/,
    )
    const sealed = fromBlob(new Float32Array(4), [2, 2], { readOnly: true })
    refusedUnchanged(
      sealed,
      () => matmul(zeros([2, 2]), zeros([2, 2]), { out: sealed }),
      'ERR_READ_ONLY',
    )
  })

  it('runs off the event loop', async () => {
    const [a, b] = [fixed(120, 300, 'float32', 1), fixed(300, 100, 'float32', 2)]
    assert.equal(hex(await matmulAsync(a, b)), hex(matmul(a, b)))
    const out = zeros([100, 120], 'float64').T
    assert.equal(await matmulAsync(a, b, { out, accuracy: 'precise' }), out)
    assert.equal(hex(out), hex(matmul(a.astype('float64'), b.astype('float64'))))
    assert.equal(hex(await einsumAsync('ij,jk->ki', a, b)), hex(einsum('ij,jk->ki', a, b)))
    await assert.rejects(
      einsumAsync('ij,jk->ki', a, b, { signal: AbortSignal.abort(new Error('no')) }),
      /no/,
    )
  })

  it('compute at once what lists of an asynchronous call call', async () => {
    const [x, y] = [tensor([1, 2]), zeros([2])]
    const seen = []
    const axes = new Proxy([[0], [0]], {
      get(list, key) {
        multiply(x, 3, { out: y })
        seen.push(y.get(1))
        y.fill(0)
        return list[key]
      },
    })
    assert.equal((await math.tensordotAsync(x, x, { axes })).item(), 5)
    assert.ok(seen.length > 0 && seen.every((value) => value === 6), `${seen}`)
  })
})

describe('products beside NumPy', () => {
  needsMath()
  needs('NumPy')

  const EQUATIONS = [
    'ij,jk->ik',
    'ij,kj',
    'bij,bjk->bki',
    'ij,ij->i',
    'ij,ij->',
    'ij->j',
    'ij->ji',
    'ii->i',
    'ii',
    'iij,jk->ik',
    'i,j->ij',
    'i,i->i',
    'ij,jk,kl->il',
    'ij,jk,ik->k',
    '...ij,...jk->...ik',
    '...i,i->...',
    'i...,...j->ij...',
    'abc,cba->b',
    'ab,bc,cd,de->ea',
    'ij,k->ik',
    'bij,jc',
    'ijk,jil->kl',
    'i->',
    'ab,ab,ab->a',
    'aab,bcc->ac',
  ]
  const SIZE = { a: 3, b: 4, c: 2, d: 5, e: 3, i: 5, j: 7, k: 3, l: 2 }

  /** Operands of random layouts for an equation; some axes have one element. */
  function operandsOf(random, equation, dtype) {
    const [inputs] = equation.split('->')
    return inputs.split(',').map((term) => {
      const shape = [...term.replace('...', '.')].flatMap((letter) =>
        letter === '.'
          ? [[2, 3], [3], [1, 3]][random.next(3)]
          : [
              random.next(12)
                ? SIZE[letter]
                : random.next(2) &&
                    inputs.split(letter).length > 2 &&
                    !term.match(new RegExp(`${letter}.*${letter}`))
                  ? 1
                  : SIZE[letter],
            ],
      )
      return arranged(random, dtype, shape)
    })
  }

  it('einsum agrees on all kinds of equations', () => {
    const random = generator(5)
    const cases = []
    for (let i = 0; i < some(12); i++) {
      for (const equation of EQUATIONS) {
        const dtype = random.pick(DTYPES)
        const operands = operandsOf(random, equation, dtype)
        cases.push({ equation, dtype, operands, call: `np.einsum('${equation}', *x)` })
      }
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { equation, dtype, operands } = cases[i]
      const what = JSON.stringify({
        equation,
        dtype,
        shapes: operands.map((t) => [t.shape, t.strides]),
      })
      if (wanted === null) {
        return assert.throws(() => einsum(equation, ...operands), { code: 'ERR_SHAPE' }, what)
      }
      const hasPartialSums = operands.some((t) => t.shape.includes(1)) // of axes that only one operand has
      if (['float16', 'bfloat16'].includes(dtype) && (operands.length > 2 || hasPartialSums)) return // results between are rounded
      const got = einsum(equation, ...operands)
      assert.equal(got.dtype, dtype)
      assertClose(got, wanted, 60, 2 ** operands.length, what)
      const out = zeros([...got.shape].reverse(), got.dtype).permute(
        got.shape.map((_, d) => got.ndim - 1 - d),
      )
      assert.equal(einsum(equation, ...operands, { out }), out)
      assert.equal(hex(out), hex(got), what)
    })
  })

  it('vecdot, tensordot and outer agree', () => {
    const random = generator(6)
    const { next, pick } = random
    const cases = []
    for (let i = 0; i < some(150); i++) {
      const dtype = pick(DTYPES)
      const [k, n, m] = [pick([1, 3, 17, 300]), pick([1, 2, 5, 40]), pick([1, 3, 4])]
      const axis = next(2) - 2
      const shape = axis === -1 ? [n, k] : [k, n]
      const [a, b] = [
        arranged(random, dtype, next(2) ? [m, ...shape] : shape),
        arranged(random, dtype, shape),
      ]
      cases.push({
        operands: [a, b],
        terms: k,
        run: () => vecdot(a, b, { axis }),
        call: `(np.conj(x[0]) * x[1]).sum(axis=${axis}, dtype=x[0].dtype)`,
      })
      const [c, d] = [arranged(random, dtype, [3, m, n]), arranged(random, dtype, [n, 3, 2])]
      cases.push({
        operands: [c, d],
        terms: 3 * n,
        run: () =>
          tensordot(c, d, {
            axes: [
              [0, 2],
              [1, -3],
            ],
          }),
        call: 'np.tensordot(x[0], x[1], axes=[[0, 2], [1, -3]])',
      })
      cases.push({
        operands: [c, d],
        terms: n,
        run: () => tensordot(c, d, { axes: 1 }),
        call: 'np.tensordot(x[0], x[1], axes=1)',
      })
      const [e, f] = [arranged(random, dtype, [n]), arranged(random, dtype, [m])]
      cases.push({
        operands: [e, f],
        terms: 1,
        run: () => outer(e, f),
        call: 'np.outer(x[0], x[1])',
      })
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { operands, terms, run, call } = cases[i]
      assertClose(
        run(),
        wanted,
        terms,
        4,
        `${call} ${operands[0].dtype} ${JSON.stringify(operands.map((t) => [t.shape, t.strides]))}`,
      )
    })
  })
})

describe('products with a dtype', () => {
  needsMath()

  const WHOLE = ['bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
  const FLOATS = ['float16', 'float32', 'float64', 'complex64', 'complex128']
  const PRODUCTS = [
    {
      name: 'matmul',
      shapes: ({ m, n, k }) => [
        [m, k],
        [k, n],
      ],
      run: (x, opts) => matmul(...x, opts),
      call: 'np.matmul(*x)',
    },
    {
      name: 'matmul of a row',
      shapes: ({ n, k }) => [[k], [k, n]],
      run: (x, opts) => matmul(...x, opts),
      call: 'np.matmul(*x)',
    },
    {
      name: 'matmul of vectors',
      shapes: ({ k }) => [[k], [k]],
      run: (x, opts) => matmul(...x, opts),
      call: 'np.matmul(*x)',
    },
    {
      name: 'matmul of batches',
      shapes: ({ m, n, k }) => [
        [2, m, k],
        [k, n],
      ],
      run: (x, opts) => matmul(...x, opts),
      call: 'np.matmul(*x)',
    },
    {
      name: 'vecdot',
      shapes: ({ m, k }) => [[m, k], [k]],
      run: (x, opts) => vecdot(...x, opts),
      call: '(np.conj(x[0]) * x[1]).sum(axis=-1, dtype=x[0].dtype)',
    },
    {
      name: 'outer',
      shapes: ({ m, n }) => [[m], [n]],
      run: (x, opts) => outer(...x, opts),
      call: 'np.outer(*x)',
    },
    {
      name: 'tensordot',
      shapes: ({ m, n, k }) => [
        [m, 2, k],
        [k, n, 2],
      ],
      run: (x, opts) =>
        tensordot(...x, {
          ...opts,
          axes: [
            [1, 2],
            [2, 0],
          ],
        }),
      call: 'np.tensordot(*x, axes=[[1, 2], [2, 0]])',
    },
    {
      name: 'einsum',
      shapes: ({ m, n, k }) => [[m, k], [k, n], [n]],
      run: (x, opts) => einsum('ij,jk,k->i', ...x, opts),
      call: "np.einsum('ij,jk,k->i', *x)",
    },
    {
      name: 'einsum of one',
      shapes: ({ m, k }) => [[m, k]],
      run: (x, opts) => einsum('ij->j', ...x, opts),
      call: "np.einsum('ij->j', *x)",
    },
    {
      name: 'einsum, transposed',
      shapes: ({ m, k }) => [[m, k]],
      run: (x, opts) => einsum('ij->ji', ...x, opts),
      call: 'x[0].T',
    },
    {
      name: 'cross',
      shapes: ({ m }) => [[m, 3], [3]],
      run: (x, opts) => linalg.cross(...x, opts),
      call: 'np.cross(*x)',
    },
  ]

  function drawn({ next, pick }, dtype, shape, isSmall) {
    const n = shape.reduce((a, b) => a * b, 1)
    const value = () => {
      if (dtype === 'bool') return next(2) === 0
      if (dtype.startsWith('complex')) return [next(7) - 3, next(7) - 3]
      if (dtype.includes('float') || isSmall) return next(5) - (dtype.startsWith('u') ? 0 : 2)
      const { min, max } = iinfo(dtype)
      return pick([
        min,
        max,
        max,
        dtype.endsWith('64') ? BigInt(next(1e6)) ** 3n : next(Number(max) + 1),
      ])
    }
    return tensor(Array.from({ length: n }, value), [n], dtype).reshape(shape)
  }

  it('agree with NumPy on operands that are converted first, for each dtype; out and its casting as well', function () {
    skipWithout(this, 'NumPy')
    const random = generator(909)
    const { next, pick } = random
    const cases = []
    for (const product of PRODUCTS) {
      for (const asked of [...WHOLE.slice(1), ...FLOATS]) {
        for (let i = 0; i < some(24); i++) {
          const size = { m: 1 + next(5), n: 1 + next(20), k: pick([0, 1, 3, 40, 300]) }
          const isWhole = WHOLE.includes(asked)
          const operands = product
            .shapes(size)
            .map((shape) =>
              drawn(
                random,
                pick([...WHOLE, ...FLOATS].filter((dtype) => canCast(dtype, asked, 'same_kind'))),
                shape,
                !isWhole,
              ),
            )
          cases.push({
            product,
            asked,
            operands,
            call: `[x := [a.astype('${asked}') for a in x], ${product.call}.astype('${asked}')][1]`,
          })
        }
      }
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { product, asked, operands } = cases[i]
      const what = JSON.stringify([product.name, asked, operands.map((t) => [t.dtype, t.shape])])
      const got = product.run(operands, { dtype: asked })
      assert.equal(got.dtype, asked, what)
      if (WHOLE.includes(asked)) assertClose(got, wanted, 0, 0, what)
      else assert.deepEqual(flat(got).flat(), wanted.values.flat(), what) // small integers: exact in each dtype
      const views = operands.map((t) => (t.ndim === 2 ? t.T.contiguous().T : t))
      assert.equal(hex(product.run(views, { dtype: asked })), hex(got), what)
      const out = zeros([...got.shape], asked)
      assert.equal(product.run(operands, { dtype: asked, out }), out)
      assert.equal(hex(out), hex(got), what)
    })
  })

  it('keep int8 and uint8 from wrapping, which they do without', () => {
    const t = tensor([100, 100], 'int8')
    assert.deepEqual([matmul(t, t).dtype, matmul(t, t).item()], ['int8', (20000 << 24) >> 24])
    for (const run of [
      (opts) => matmul(t, t, opts),
      (opts) => vecdot(t, t, opts),
      (opts) => einsum('i,i', t, t, opts),
      (opts) => tensordot(t, t, { axes: 1, ...opts }),
    ]) {
      const made = run({ dtype: 'int32' })
      assert.deepEqual([made.dtype, made.item()], ['int32', 20000])
      assert.equal(run({ dtype: 'float32' }).item(), 20000)
    }
    assert.equal(matmul(t, t, 'int32').item(), 20000)
    assert.equal(outer(t, t, 'int16').get(0, 0), 10000)
    assert.deepEqual(
      linalg.cross(tensor([100, 0, 0], 'int8'), tensor([0, 100, 0], 'int8'), 'int16').toArray(),
      [0, 0, 10000],
    )
    assert.equal(matmul(tensor([true, true]), tensor([true, true]), 'int32').item(), 2)
    const short = tensor([0.1, 0.2], 'float8_e4m3fn')
    assert.equal(
      matmul(short, short, 'float32').item(),
      sum(multiply(short, short, 'float32')).item(),
    )
    const one = tensor([0.1, 0.2, 0.3])
    assert.equal(
      matmul(one, one, { dtype: 'float64' }).item(),
      one.toArray().reduce((a, x) => a + x * x, 0),
    )
  })

  it('run off the event loop with int8 as int32', async () => {
    const t = tensor(
      [
        [100, 100],
        [1, 2],
      ],
      'int8',
    )
    assert.deepEqual((await matmulAsync(t, t, { dtype: 'int32' })).toArray(), [
      [10100, 10200],
      [102, 104],
    ])
    assert.deepEqual((await einsumAsync('ij,jk->ik', t, t, { dtype: 'int32' })).toArray(), [
      [10100, 10200],
      [102, 104],
    ])
  })

  it('copy nothing for int8 as int32', () => {
    const t = full([40, 40], 100, 'int8')
    const before = memory().copied
    einsum('ij,jk->ik', t, t, { dtype: 'int32' })
    matmul(t, t.T, { dtype: 'int32' })
    assert.deepEqual(memory().copied, before)
  })

  it('refuse a dtype that float32 does not cast to, and bool; nothing is left', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const row = tensor([1, 2, 3])
    const bools = tensor([true])
    leavesNothing(() => {
      for (const run of [
        (opts) => matmul(t, t, opts),
        (opts) => vecdot(t, t, opts),
        (opts) => tensordot(t, t, opts),
        (opts) => einsum('ij,jk', t, t, opts),
        (opts) => einsum('ij->ji', t, opts),
        (opts) => outer(row, row, opts),
        (opts) => linalg.cross(row, row, opts),
      ]) {
        fails(
          () => run({ dtype: 'int32' }),
          TypeError,
          'ERR_CAST',
          /float32 does not cast to int32/,
        )
        fails(() => run({ dtype: 'bool' }), TypeError, 'ERR_CAST')
        fails(() => run({ dtype: 'int' }), TypeError, 'ERR_DTYPE')
      }
      fails(() => matmul(bools, bools, 'bool'), TypeError, 'ERR_DTYPE')
    })
  })
})

describe('vecdot', () => {
  needsMath()

  it('has the bits of matmul, whatever the layout', () => {
    for (const dtype of ['float32', 'float64', 'bfloat16', 'int16', 'complex64']) {
      for (const [n, k] of [
        [1, 5000],
        [40, 600],
        [3, 1],
        [100, 7],
      ]) {
        const [a, b] = [fixed(n, k, dtype, 1), fixed(n, k, dtype, 2)]
        const wanted = hex(matmul(a.unsqueeze(1), b.unsqueeze(2)).reshape([n]))
        assert.equal(hex(vecdot(a, b)), wanted)
        assert.equal(hex(vecdot(a.T.contiguous(), b.T, { axis: 0 - 2 })), wanted)
        assert.equal(hex(vecdot(a, b.T.contiguous().T)), wanted)
        assert.equal(hex(vecdot(a.slice('::-1'), b.slice('::-1')).slice('::-1')), wanted)
        assert.equal(hex(vecdot(a, b.select(0, 0))), hex(matmul(a, b.select(0, 0))))
        assert.equal(hex(vecdot(a.select(0, 0), b)), hex(vecdot(b, a.select(0, 0))))
      }
    }
  })

  it('conjugates the first, and refuses lengths that differ', () => {
    assert.deepEqual(
      vecdot(tensor([[1, 2]], 'complex64'), tensor([[3, 4]], 'complex64')).toArray(),
      [11, -2],
    )
    fails(() => vecdot(zeros([2]), zeros([1])), RangeError, 'ERR_SHAPE')
    fails(() => vecdot(zeros([2]), zeros([])), RangeError, 'ERR_SHAPE')
    fails(() => vecdot(zeros([2, 2]), zeros([2]), { axis: -2 }), RangeError, 'ERR_SHAPE')
    fails(() => vecdot(zeros([2]), zeros([2]), { axis: 1 }), RangeError, 'ERR_BOUNDS')
    fails(() => vecdot(zeros([2], 'bool'), zeros([2], 'bool')), TypeError, 'ERR_DTYPE')
    assert.deepEqual(vecdot(zeros([3, 0]), zeros([3, 0])).toArray(), [0, 0, 0])
    const out = zeros([2]).fill(7)
    refusedUnchanged(out, () => vecdot(zeros([3, 4]), zeros([3, 4]), { out }), 'ERR_SHAPE')
  })
})

describe('tensordot, outer and einsum', () => {
  needsMath()

  it('refuse what does not fit', () => {
    const t = zeros([2, 3])
    assert.equal(tensordot(t, t).item(), 0)
    fails(() => tensordot(t, t, { axes: 1 }), RangeError, 'ERR_SHAPE', /axis 1 of x1 has 3/)
    fails(() => tensordot(t, t, { axes: 3 }), RangeError, 'ERR_BOUNDS', /axes is 3/)
    fails(() => tensordot(t, t, { axes: -1 }), RangeError, 'ERR_BOUNDS')
    fails(
      () => tensordot(t, t, { axes: [[0], [0, 1]] }),
      RangeError,
      'ERR_SHAPE',
      /1 axes of x1, and 2/,
    )
    fails(
      () =>
        tensordot(t, t, {
          axes: [
            [0, 0],
            [0, 0],
          ],
        }),
      RangeError,
      'ERR_BOUNDS',
      /repeats/,
    )
    fails(() => tensordot(t, t, { axes: [[2], [0]] }), RangeError, 'ERR_BOUNDS')
    fails(() => tensordot(t, t, { axes: 'all' }), TypeError, 'ERR_ARGUMENT', /axes/)
    assert.deepEqual([...tensordot(t, t, { axes: 0 }).shape], [2, 3, 2, 3])
    const out = zeros([2, 2]).fill(7)
    refusedUnchanged(out, () => tensordot(t, t, { axes: 1, out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => tensordot(t, zeros([3, 3]), { axes: 1, out }), 'ERR_SHAPE')
  })

  it('of equations that are none', () => {
    const t = zeros([2, 3])
    for (const equation of [
      'ij,jk',
      'i$',
      'ij->ii',
      'ij->k',
      '...ij...',
      'ij-j',
      'ij->i->j',
      'i.j',
    ]) {
      fails(() => einsum(equation, t), TypeError, 'ERR_ARGUMENT', /equation/)
    }
    fails(() => einsum('ijk', t), RangeError, 'ERR_SHAPE', /operand 0/)
    fails(() => einsum('i', t), RangeError, 'ERR_SHAPE', /operand 0/)
    fails(() => einsum('ii', t), RangeError, 'ERR_SHAPE', /2 and 3|3 elements, and 2/)
    fails(() => einsum('ij,ik', t, zeros([4, 2])), RangeError, 'ERR_SHAPE', /axis 'i'/)
    fails(() => einsum(7, t), TypeError, 'ERR_ARGUMENT', /equation is 7/)
    fails(() => einsum('i,i', t), TypeError, 'ERR_ARGUMENT', /1 operands/)
    fails(() => einsum('i', [1]), TypeError, 'ERR_ARGUMENT', /operand 0/)
    fails(() => einsum('ij->', zeros([2, 3], 'bool')), TypeError, 'ERR_DTYPE')
    assert.equal(einsum(' i j -> ', full([2, 3], 2)).item(), 12)
  })

  it('takes diagonals of one element, alone and beside more', () => {
    const t = full([1, 1], 3)
    assert.equal(einsum('cc->', t).item(), 3)
    assert.deepEqual([...einsum('cc->c', t).shape], [1])
    assert.equal(einsum('cc,c->', t, full([3], 1)).item(), 9)
    assert.equal(einsum('bcb,c', zeros([1, 2, 1]), full([2], 1)).item(), 0)
    for (const shape of [
      [1, 2, 2],
      [2, 1, 2],
      [2, 2, 1],
    ]) {
      assert.deepEqual(einsum('ccc->c', tensor([1, 2, 3, 4]).reshape(shape)).toArray(), [1, 4])
    }
  })

  it('take bool and float8 beside numbers, whatever has to be copied or summed', () => {
    for (const dtype of ['bool', 'float8_e5m2']) {
      const [a, b] = [full([3], 1, dtype), full([3, 4, 5], 1, dtype)]
      const beside = full([3], 2)
      assert.equal(einsum('a,b,b->', a, a, beside).item(), 18)
      assert.deepEqual(einsum('i,i,i->i', a, a, beside).toArray(), [2, 2, 2])
      assert.deepEqual(einsum('jik,kj->i', b, full([5, 3], 2)).toArray(), [30, 30, 30, 30])
      assert.deepEqual(
        tensordot(b, full([5, 3], 2), {
          axes: [
            [0, 2],
            [1, 0],
          ],
        }).toArray(),
        [30, 30, 30, 30],
      )
      assert.equal(cosineSimilarity(a, beside).item(), 1)
    }
  })

  it('compute in the dtype in which all operands meet', () => {
    const small = full([3, 2], 100, 'int8')
    const wide = full([2], 1, 'float64')
    assert.deepEqual(einsum('ij,j->j', small, wide).toArray(), [300, 300])
    assert.deepEqual(einsum('ij,ij,j->j', small, small, wide).toArray(), [30000, 30000])
    assert.deepEqual(
      einsum('ij,kj,j->ik', small, small, wide).toArray(),
      Array(3).fill(Array(3).fill(20000)),
    )
    assert.deepEqual(einsum('ij->j', small).toArray(), [44, 44])
  })

  it('make views where strides allow it, and count copies', () => {
    const { copied } = memory()
    const count = () =>
      (memory().copied.einsum?.count ?? 0) + (memory().copied.tensordot?.count ?? 0)
    assert.equal(typeof copied, 'object')
    const before = count()
    const t = fixed(12, 60, 'float32', 1).reshape([3, 4, 5, 12])
    einsum('ijkl,kl->ij', t, zeros([5, 12]))
    einsum('ijkl,lm->ijkm', t, zeros([12, 6]))
    tensordot(t, t.permute([2, 3, 0, 1]), { axes: 2 })
    assert.equal(count(), before)
    einsum('ijkl,jl->ik', t, zeros([4, 12]))
    assert.equal(count() - before, 1)
  })

  it('outer has all products', () => {
    assert.deepEqual(outer(tensor([1, 2], 'int8'), tensor([3, 100], 'int8')).toArray(), [
      [3, 100],
      [6, -56],
    ])
    const t = tensor([1, 2, 3])
    assert.deepEqual(outer(t, t.slice('::-1'), { out: zeros([3, 3], 'float64').T }).toArray(), [
      [3, 2, 1],
      [6, 4, 2],
      [9, 6, 3],
    ])
    fails(() => outer(zeros([2, 2]), t), RangeError, 'ERR_SHAPE', /vectors/)
    fails(() => outer(zeros([2], 'bool'), zeros([2], 'bool')), TypeError, 'ERR_DTYPE')
  })
})

describe('cosineSimilarity', () => {
  needsMath()

  it('is the cosine, for every float and integer dtype', () => {
    const random = generator(8)
    for (const dtype of ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'int32']) {
      const [a, b] = [arranged(random, dtype, [4, 9]), arranged(random, dtype, [9])]
      const got = cosineSimilarity(a, b)
      assert.equal(got.dtype, dtype.includes('int') ? 'float32' : dtype)
      a.toArray().forEach((row, i) => {
        const dot = row.reduce((s, x, k) => s + x * b.get(k), 0)
        const wanted = dot / Math.hypot(...row) / Math.hypot(...b.toArray())
        assert.ok(
          Math.abs(got.get(i) - wanted) < 2 ** -20 + (EPSILON[got.dtype] ?? 0),
          `${dtype}: ${got.get(i)}, not ${wanted}`,
        )
      })
    }
  })

  it('along any axis, with lengths of at least eps', () => {
    const t = tensor([
      [3, 0],
      [4, 0],
    ])
    assert.deepEqual(cosineSimilarity(t, t, { axis: 0 }).toArray(), [1, 0])
    assert.deepEqual(
      cosineSimilarity(tensor([3, 4]), tensor([3, 4]), { eps: 50 }).item(),
      Math.fround(25 / 2500),
    )
    const out = zeros([2], 'float64')
    assert.equal(cosineSimilarity(t, tensor([1, 0]), { out }), out)
    assert.deepEqual(out.toArray(), [1, 1])
    refusedUnchanged(out, () => cosineSimilarity(zeros([3, 2]), zeros([2]), { out }), 'ERR_SHAPE')
    fails(() => cosineSimilarity(t, t, { eps: -1 }), TypeError, 'ERR_ARGUMENT', /eps/)
    fails(() => cosineSimilarity(zeros([2], 'complex64'), zeros([2])), TypeError, 'ERR_DTYPE')
    fails(
      () => cosineSimilarity(zeros([2], 'bool'), zeros([2], 'bool')),
      TypeError,
      'ERR_DTYPE',
      /bool/,
    )
    assert.ok(sum(multiply(t, t)).item() === 25)
  })
})
