'use strict'
// nonzero, index, indexPut, maskedSelect and maskedFill: NumPy's answers on random shapes and entries, bad input, copies that are counted, and
// threads that write indices meanwhile.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const {
  backend,
  dtypes,
  forBlob,
  fromBlob,
  fromBytes,
  full,
  memory,
  tensor,
  zeros,
} = require('samebytes')
const {
  ROOT,
  childJson,
  copied,
  fails,
  generator,
  needs,
  refusedUnchanged,
  skipWithout,
} = require('../setup')
const { PYTHON } = require('../tools')
const { math, needsMath } = require('./load')

const { index, indexPut, maskedFill, maskedSelect, nonzero } = math
const isWasmShared = backend() === 'wasm-shared'
const INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1)
const base64 = (t) => Buffer.from(t.contiguous().bytes).toString('base64')

/** A tensor of random bytes and layout: permuted, with gaps, backwards. */
function arranged({ next, shuffle }, shape, make) {
  const order = shuffle(shape.map((_, d) => d))
  const steps = shape.map(() => [1, 1, 2, -1][next(4)])
  const inMemory = order.map((d) => shape[d] * Math.abs(steps[d]))
  const whole = make(sizeOf(inMemory)).view(inMemory)
  return whole
    .permute(shape.map((_, d) => order.indexOf(d)))
    .slice(...steps.map((step) => (step === 2 ? '::2' : step === -1 ? '::-1' : ':')))
}

function randomBytes({ next }, dtype, n) {
  const { itemsize } = zeros([1], dtype)
  const bytes = new Uint8Array(n * itemsize).map(() => (dtype === 'bool' ? next(2) : next(256)))
  return fromBytes(bytes, [n], { dtype })
}

/** Integers in range but for one case in forty, of any dtype. */
function integersFor(random, extent, shape) {
  const { next, pick } = random
  const dtype = pick(INTEGERS)
  const isSigned = !dtype.startsWith('u')
  const values = Array.from({ length: sizeOf(shape) }, () =>
    next(160) === 0 ? extent : extent === 0 ? 0 : next(extent) - (isSigned && next(2) ? extent : 0),
  )
  const t = arranged(random, shape, (n) =>
    tensor(
      Array.from({ length: n }, () => (dtype.endsWith('64') ? 0n : 0)),
      [n],
      { dtype },
    ),
  )
  if (t.size > 0) {
    t.copyFrom(tensor(dtype.endsWith('64') ? values.map(BigInt) : values, shape, { dtype }))
  }
  return { sent: { kind: 'integers', dtype, values, shape }, given: t }
}

function maskFor(random, shape) {
  const { next } = random
  const values = Array.from({ length: sizeOf(shape) }, () => next(2) === 1)
  const t = arranged(random, shape, (n) => zeros([n], 'bool'))
  if (t.size > 0) t.copyFrom(tensor(values, shape, 'bool'))
  return { sent: { kind: 'mask', values, shape }, given: t }
}

function sliceFor({ next }, extent) {
  const bound = () => (next(3) ? null : next(2 * extent + 3) - extent - 1)
  const step = [1, 1, 2, -1, -2][next(5)]
  const [start, stop] = [bound(), bound()]
  const given = next(2) ? { start, stop, step } : `${start ?? ''}:${stop ?? ''}:${step}`
  return { sent: { kind: 'slice', slice: [start, stop, step] }, given }
}

/** Entries for a shape, as NumPy and as index get them. */
function entriesFor(random, shape) {
  const { next, pick } = random
  const shared = pick([[], [1], [3], [2, 3], [4], [0]])
  const out = []
  let hasEllipsis = false
  for (let d = 0; d < shape.length;) {
    const kind = next(12)
    if (kind === 0) {
      out.push({ sent: { kind: 'newaxis' }, given: null })
    } else if (kind === 1 && !hasEllipsis) {
      hasEllipsis = true
      out.push({ sent: { kind: 'ellipsis' }, given: '...' })
      d += next(shape.length - d + 1)
    } else if (kind <= 4) {
      out.push(sliceFor(random, shape[d++]))
    } else if (kind === 5) {
      const i = next(60) === 0 ? shape[d] : shape[d] === 0 ? 0 : next(2 * shape[d]) - shape[d]
      out.push({ sent: { kind: 'number', index: i }, given: i })
      d++
    } else if (kind === 6) {
      const axes = Math.min(next(3), shape.length - d)
      const own = shape.slice(d, d + axes)
      if (next(30) === 0 && axes > 0) own[0]++
      out.push(maskFor(random, own))
      d += axes
    } else if (kind === 7) {
      const values = Array.from({ length: sizeOf(shared) }, () =>
        shape[d] === 0 ? 0 : next(2 * shape[d]) - shape[d],
      )
      out.push({
        sent: { kind: 'list', dtype: 'int64', values, shape: [values.length] },
        given: next(2) ? values : Int32Array.from(values),
      })
      d++
    } else {
      const own = shared.map((n) => (next(4) ? n : 1)).slice(next(shared.length + 1))
      out.push(integersFor(random, shape[d++], own))
    }
    if (next(6) === 0) break
  }
  return out
}

function makeCase(random) {
  const { next, pick } = random
  const shape = Array.from({ length: next(5) }, () =>
    pick([1, 2, 3, 5, next(12) ? 4 : 0, next(8) ? 3 : 21]),
  )
  const dtype = pick(dtypes)
  const t = arranged(random, shape, (n) => randomBytes(random, dtype, n))
  return { t, dtype, entries: entriesFor(random, shape) }
}

function ask(cases) {
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'indexing.py')],
    {
      input: JSON.stringify(cases),
      env: { ...process.env, LD_PRELOAD: '' },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

const sentCase = ({ t, entries, value }) => ({
  itemsize: t.itemsize,
  shape: t.shape,
  bytes: base64(t),
  entries: entries.map(({ sent }) => sent),
  ...(value && { value: { shape: value.shape, bytes: base64(value) } }),
})
const textOf = ({ t, dtype, entries, value }) =>
  JSON.stringify({
    dtype,
    shape: t.shape,
    strides: t.strides,
    entries: entries.map(({ sent }) => sent),
    value: value?.shape,
  })

/** A value that broadcasts to a shape. */
function valueFor(random, dtype, shape) {
  const own = shape
    .map((n) => (random.next(4) ? n : 1))
    .slice(random.next(3) ? 0 : random.next(shape.length + 1))
  return arranged(random, own, (n) => randomBytes(random, dtype, n))
}

describe('indexing beside NumPy', function () {
  needsMath()
  needs('NumPy')

  it('gives its elements and views on 1500 random tensors and lists of entries', () => {
    const random = generator(271)
    const cases = Array.from({ length: 1500 }, () => makeCase(random))
    const expected = ask(cases.map(sentCase))
    let results = 0
    cases.forEach((one, i) => {
      const { t, entries } = one
      const wanted = expected[i]
      const what = `${textOf(one)} ${wanted.error ?? ''}`
      const run = () => index(t, ...entries.map(({ given }) => given))
      if (wanted.error !== undefined) {
        assert.throws(run, ({ code }) => /^ERR_(BOUNDS|SHAPE)$/.test(code), what)
        return
      }
      results++
      const got = run()
      assert.deepEqual([...got.shape], wanted.shape, what)
      assert.equal(got.dtype, t.dtype)
      assert.equal(base64(got), wanted.bytes, what)
      const isBasic = entries.every(({ sent }) => !['integers', 'list', 'mask'].includes(sent.kind))
      assert.equal(got.isView, isBasic, what)
      if (t.ndim > 0 && wanted.shape.length > 0 && got.size > 0) {
        assert.equal(got.isView, wanted.isView, what)
      }
    })
    assert.ok(results > 1000, `only ${results}`)
  })

  it('writes what it writes, on 1500 random tensors, entries and values', () => {
    const random = generator(272)
    const drawn = Array.from({ length: 1500 }, () => makeCase(random))
    const shapes = ask(drawn.map(sentCase))
    const cases = drawn.filter((_, i) => shapes[i].error === undefined)
    const found = shapes.filter(({ error }) => error === undefined)
    cases.forEach((one, i) => {
      one.value = valueFor(random, one.dtype, found[i].shape)
    })
    const expected = ask(cases.map(sentCase))
    cases.forEach((one, i) => {
      assert.equal(expected[i].error, undefined, textOf(one))
      assert.equal(indexPut(one.t, ...one.entries.map(({ given }) => given), one.value), one.t)
      assert.equal(base64(one.t), expected[i].after, textOf(one))
    })
    assert.ok(cases.length > 1000, `only ${cases.length}`)
  })

  it('writes a scalar where NumPy does, on 2000 random tensors and entries', () => {
    const random = generator(5211)
    const cases = Array.from({ length: 2000 }, () => {
      const one = makeCase(random)
      return {
        ...one,
        value: tensor(
          random.next(2),
          one.dtype.startsWith('float8') ? 'float32' : one.dtype === 'bool' ? 'uint8' : one.dtype,
        ).astype(one.dtype, { casting: 'unsafe' }),
      }
    })
    let written = 0
    ask(cases.map(sentCase)).forEach((wanted, i) => {
      const { t, entries, value } = cases[i]
      const run = () => indexPut(t, ...entries.map(({ given }) => given), value.item())
      if (wanted.error !== undefined && t.size === 0) return // NumPy looks at indices of no element as well
      if (wanted.error !== undefined) {
        return assert.throws(run, ({ code }) => /^ERR_(BOUNDS|SHAPE)$/.test(code), textOf(cases[i]))
      }
      written++
      const { result, copies } = copied(run)
      assert.equal(result, t)
      assert.equal(base64(t), wanted.after, textOf(cases[i]))
      assert.deepEqual(
        Object.keys(copies).filter((key) => key !== 'indexPut' && key !== 'staged'),
        [],
      )
    })
    assert.ok(written > 1500, `only ${written}`)
  })

  it('selects by masks that are broadcast', () => {
    const random = generator(273)
    const cases = Array.from({ length: 300 }, () => {
      const one = makeCase(random)
      const { shape } = one.t
      const mask = maskFor(
        random,
        shape
          .map((n) => (random.next(3) ? n : 1))
          .slice(random.next(3) ? 0 : random.next(shape.length + 1)),
      )
      const whole = mask.given.broadcastTo(shape)
      return {
        ...one,
        mask: mask.given,
        entries: [{ sent: { kind: 'mask', shape, values: whole.reshape([whole.size]).toArray() } }],
      }
    })
    ask(cases.map(sentCase)).forEach((wanted, i) => {
      const { t, mask } = cases[i]
      const got = maskedSelect(t, mask)
      assert.deepEqual([...got.shape], wanted.shape)
      assert.equal(base64(got), wanted.bytes, textOf(cases[i]))
    })
  })
})

describe('index', () => {
  needsMath()
  const t = () =>
    tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])

  it('copies where there are integers or masks, and counts it', () => {
    const x = t()
    const { result, copies } = copied(() => index(x, [0, 0]))
    assert.deepEqual(result.toArray(), [
      [1, 2, 3],
      [1, 2, 3],
    ])
    assert.deepEqual(copies, { index: { count: 1, bytes: 24 } })
    result.fill(9)
    assert.deepEqual(x.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.equal(index(x, tensor(1, 'int32')).isView, false)
  })

  it('is a view, of which nothing is counted, where there are none', () => {
    const x = t()
    const { result, copies } = copied(() => index(x, 1, '::2'))
    assert.equal(result.base, x)
    assert.deepEqual(copies, {})
    result.fill(0)
    assert.deepEqual(x.toArray(), [
      [1, 2, 3],
      [0, 5, 0],
    ])
    assert.deepEqual(index(x).shape, [2, 3])
  })

  it('gives new bytes at an address of their own', () => {
    const x = t()
    const got = index(x, [0, 1])
    assert.notEqual(got.dataPtr, x.dataPtr)
    assert.equal(got.isView, false)
  })

  it('reads masks and indices where they are, and counts the copies of others', () => {
    const x = t()
    const rows = tensor([true, false])
    const [short, int, long] = ['uint8', 'int32', 'int64'].map((dtype) =>
      tensor([1, 0]).astype(dtype, { casting: 'unsafe' }),
    )
    const { staged } = memory()
    index(x, int)
    index(x, long.slice('::-1'))
    if (!isWasmShared) index(x, rows)
    assert.deepEqual(memory().staged, staged)
    index(x, short) // is converted
    index(x, rows.slice('::-1')) // has gaps
    assert.deepEqual(memory().staged, { count: staged.count + 2, bytes: staged.bytes + 8 + 2 })
  })

  it('takes typed arrays and bigints', () => {
    assert.deepEqual(index(t(), [1n, -1n], Uint8Array.of(0, 2)).toArray(), [4, 6])
    assert.deepEqual(index(t(), ':', tensor([2n, 0n], 'uint64')).toArray(), [
      [3, 1],
      [6, 4],
    ])
  })

  it('releases what it made meanwhile', () => {
    const x = zeros([5000])
    const mask = full([5000], true, 'bool').broadcastTo([5000])
    const run = () => {
      const [at] = nonzero(mask)
      indexPut(x, at, 1)
      for (const made of [index(x, mask), maskedSelect(x, mask.slice('::-1')), index(x, at), at]) {
        made.dispose()
      }
      assert.throws(() => indexPut(x, [5000], 1), { code: 'ERR_BOUNDS' })
    }
    run()
    const { bytes, storages } = memory()
    for (let i = 0; i < 10; i++) run()
    assert.deepEqual(memory().bytes, bytes)
    assert.equal(memory().storages, storages)
    assert.throws(() => index(x, mask, 0), { code: 'ERR_SHAPE' })
    assert.deepEqual(memory().bytes, bytes)
  })

  it('says which index of which entry is outside of which axis', () => {
    fails(
      () => index(t(), 0, [0, 3]),
      RangeError,
      'ERR_BOUNDS',
      /index 3 of entry 1 is outside axis 1 of 3 elements/,
    )
    fails(
      () => index(t(), tensor([-3], 'int8')),
      RangeError,
      'ERR_BOUNDS',
      /index -3 of entry 0 is outside axis 0 of 2 elements/,
    )
    fails(
      () => index(t(), tensor([255], 'uint8')),
      RangeError,
      'ERR_BOUNDS',
      /index 255 of entry 0/,
    )
    fails(
      () => index(t(), tensor([2n ** 64n - 1n], 'uint64')),
      RangeError,
      'ERR_BOUNDS',
      /index 18446744073709551615 of entry 0/,
    )
    fails(
      () => index(t(), tensor([2 ** 32 - 1], 'uint32')),
      RangeError,
      'ERR_BOUNDS',
      /index 4294967295 of entry 0/,
    )
    assert.deepEqual(
      index(tensor([7]).broadcastTo([2 ** 32]), tensor([2 ** 31 + 5], 'uint32')).toArray(),
      [7],
    )
    fails(
      () => index(t(), '...', -4, [0]),
      RangeError,
      'ERR_BOUNDS',
      /index -4 of entry 1 is outside axis 0 of 2/,
    )
    fails(
      () => index(t(), [0], 3),
      RangeError,
      'ERR_BOUNDS',
      /index 3 of entry 1 is outside axis 1 of 3/,
    )
    fails(() => index(zeros([0, 3]), [0]), RangeError, 'ERR_BOUNDS')
    fails(() => index(zeros([3, 0]), [3]), RangeError, 'ERR_BOUNDS')
  })

  it('refuses wrong entries', () => {
    fails(() => index(t(), [0.5]), RangeError, 'ERR_BOUNDS', /entry 0\[0\] is 0.5/)
    fails(() => index(t(), [[0, 1]]), TypeError, 'ERR_ARGUMENT', /entry 0\[0\]/)
    fails(
      () => index(t(), tensor([0, 1])),
      TypeError,
      'ERR_DTYPE',
      /entry 0 is float32; integers or bool were expected/,
    )
    fails(
      () => index(t(), [0], [0], [0]),
      RangeError,
      'ERR_SHAPE',
      /entries name 3 axes; the tensor has 2/,
    )
    fails(() => index(t(), [0, 1], [0, 1, 2]), RangeError, 'ERR_SHAPE', /\[2\] and \[3\]/)
    fails(
      () => index(t(), tensor([true, false, true])),
      RangeError,
      'ERR_SHAPE',
      /entry 0 is a mask of shape \[3\]; from axis 0 on the tensor has shape \[2\]/,
    )
    fails(() => index(t(), '...', '...', [0]), RangeError, 'ERR_SHAPE', /stands 2 times/)
    fails(() => index(t(), ...Array(65).fill(null)), RangeError, 'ERR_SHAPE', /65 entries/)
    fails(() => index(t(), 'x', [0]), TypeError, 'ERR_ARGUMENT', /entry 0 is "x"/)
    fails(() => index(t(), {}.x, [0]), TypeError, 'ERR_ARGUMENT', /entry 0/)
    fails(() => index([1, 2], [0]), TypeError, 'ERR_ARGUMENT')
    fails(
      () => index(t(), ...Array(63).fill(null), zeros([2, 2], 'int32')),
      RangeError,
      'ERR_SHAPE',
    )
  })

  it('finds what a getter of an entry disposed', () => {
    for (const call of [
      (x, entry) => index(x, entry, [0]),
      (x, entry) => indexPut(x, entry, [0], 1),
      (x) =>
        maskedSelect(x, zeros([2, 3], 'bool'), {
          get out() {
            x.dispose()
          },
        }),
      (x) =>
        nonzero(x, {
          get dtype() {
            x.dispose()
          },
        }),
      (x) =>
        maskedFill(x, zeros([2, 3], 'bool'), 1, {
          get out() {
            x.dispose()
          },
        }),
    ]) {
      const x = t()
      fails(
        () =>
          call(x, {
            get start() {
              x.dispose()
              return 0
            },
          }),
        Error,
        'ERR_DISPOSED',
      )
    }
    const x = t()
    const indices = tensor([0], 'int32')
    fails(
      () =>
        index(x, indices, {
          get stop() {
            indices.dispose()
            return 1
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })

  it('refuses tensors whose bytes went away', () => {
    const gone = (array) => {
      const x = fromBlob(array)
      structuredClone(array, { transfer: [array.buffer] })
      return x
    }
    fails(() => index(gone(new Float32Array(2)), [0]), Error, 'ERR_DETACHED')
    fails(() => index(t(), gone(new Int32Array(1))), Error, 'ERR_DETACHED')
    fails(
      () => maskedSelect(t().select(1, 0), gone(new Uint8Array(2)).view('bool')),
      Error,
      'ERR_DETACHED',
    )
    fails(() => nonzero(gone(new Float32Array(2))), Error, 'ERR_DETACHED')
    fails(() => indexPut(t(), [0], gone(new Float32Array(3))), Error, 'ERR_DETACHED')
    const taken = new Int32Array([0])
    fails(
      () =>
        index(t(), taken, {
          get start() {
            structuredClone(taken, { transfer: [taken.buffer] })
            return 0
          },
        }),
      Error,
      'ERR_DETACHED',
    )
  })
})

describe('indexPut of a scalar', () => {
  needsMath()
  const CASES = [
    [
      [':', [0, -1]],
      [
        [5, 0, 0, 5],
        [5, 0, 0, 5],
        [5, 0, 0, 5],
      ],
    ],
    [
      ['...', [0, -1]],
      [
        [5, 0, 0, 5],
        [5, 0, 0, 5],
        [5, 0, 0, 5],
      ],
    ],
    [
      ['1:', tensor([1, 1, 2], 'int32')],
      [
        [0, 0, 0, 0],
        [0, 5, 5, 0],
        [0, 5, 5, 0],
      ],
    ],
    [
      [':', tensor([true, false, false, true])],
      [
        [5, 0, 0, 5],
        [5, 0, 0, 5],
        [5, 0, 0, 5],
      ],
    ],
    [
      [
        '::2',
        tensor(
          [
            [0, 1],
            [1, 3],
          ],
          'int32',
        ),
      ],
      [
        [5, 5, 0, 5],
        [0, 0, 0, 0],
        [5, 5, 0, 5],
      ],
    ],
    [
      [tensor([true, false, true]), ':'],
      [
        [5, 5, 5, 5],
        [0, 0, 0, 0],
        [5, 5, 5, 5],
      ],
    ],
    [
      [tensor([true, false, true]), '::3'],
      [
        [5, 0, 0, 5],
        [0, 0, 0, 0],
        [5, 0, 0, 5],
      ],
    ],
    [
      [[0, 2], '...'],
      [
        [5, 5, 5, 5],
        [0, 0, 0, 0],
        [5, 5, 5, 5],
      ],
    ],
    [
      ['...'],
      [
        [5, 5, 5, 5],
        [5, 5, 5, 5],
        [5, 5, 5, 5],
      ],
    ],
    [
      [':', []],
      [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
  ]
  for (const [i, [entries, values]] of CASES.entries()) {
    it(`writes 5 behind slices, masks and '...': ${i}, in float32, int64 and a view`, () => {
      assert.deepEqual(indexPut(zeros([3, 4]), ...entries, 5).toArray(), values)
      assert.deepEqual(
        indexPut(zeros([3, 4], 'int64'), ...entries, 5n).toArray(),
        values.map((row) => row.map(BigInt)),
      )
      assert.deepEqual(indexPut(zeros([4, 3]).T, ...entries, 5).toArray(), values)
      assert.deepEqual(
        indexPut(zeros([3, 4], 'complex64'), ...entries, [5, 0]).toArray(),
        values.map((row) => row.map((x) => [x, 0])),
      )
    })
  }
})

describe('indexPut', () => {
  needsMath()

  it('leaves the last of values that go to one place', () => {
    const values = Array.from({ length: 5000 }, (_, i) => i)
    const t = zeros([3, 2])
    indexPut(
      t,
      tensor(
        values.map((i) => i % 3),
        'int32',
      ),
      tensor(values).unsqueeze(1),
    )
    assert.deepEqual(t.toArray(), [
      [4998, 4998],
      [4999, 4999],
      [4997, 4997],
    ])
    indexPut(
      t.T,
      ':',
      [0, 0, 0],
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    )
    assert.deepEqual(t.toArray()[0], [3, 6])
  })

  it('copies a value first that shares bytes with the tensor', () => {
    const t = tensor([1, 2, 3, 4])
    const last = tensor([1, 2, 3], 'int32')
    const { staged } = memory()
    indexPut(t, last, t.slice(':3'))
    assert.deepEqual(t.toArray(), [1, 1, 2, 3])
    assert.equal(memory().staged.bytes - staged.bytes, 12)
    indexPut(t, [3, 2, 1, 0], t)
    assert.deepEqual(t.toArray(), [3, 2, 1, 1])
    indexPut(t, '1:', t.slice(':3'))
    assert.deepEqual(t.toArray(), [3, 3, 2, 1])
  })

  it('writes where its own elements say', () => {
    const t = tensor([2, 0, 1], 'int32')
    indexPut(t, t, t.slice('::-1'))
    assert.deepEqual(t.toArray(), [0, 2, 1])
  })

  it('casts values as copyFrom does, and counts what it wrote', () => {
    const t = zeros([3], 'int16')
    const { copies } = copied(() => indexPut(t, [0, 2], tensor([7, 8], 'int64')))
    assert.deepEqual(t.toArray(), [7, 0, 8])
    assert.deepEqual(copies.indexPut, { count: 1, bytes: 4 })
    refusedUnchanged(t, () => indexPut(t, [0], tensor([1.5])), 'ERR_CAST')
    refusedUnchanged(t, () => indexPut(t, '1:', tensor([1.5])), 'ERR_CAST')
  })

  it('takes scalars that fit', () => {
    const t = zeros([3], 'uint8')
    indexPut(t, [0, 2], 255)
    indexPut(t, 1, true)
    assert.deepEqual(t.toArray(), [255, 1, 255])
    refusedUnchanged(t, () => indexPut(t, [0], 256), 'ERR_CAST')
    refusedUnchanged(t, () => indexPut(t, [0], 0.5), 'ERR_CAST')
    refusedUnchanged(t, () => indexPut(t, [0], '1'), 'ERR_ARGUMENT')
    assert.deepEqual(indexPut(zeros([2], 'complex64'), [1], [1, -2]).toArray(), [
      [0, 0],
      [1, -2],
    ])
    assert.deepEqual(indexPut(zeros([2], 'int64'), [1], 2n ** 62n).toArray(), [0n, 2n ** 62n])
    fails(() => indexPut(t), TypeError, 'ERR_ARGUMENT', /no value/)
  })

  it('writes nothing where anything is wrong', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    refusedUnchanged(t, () => indexPut(t, [0, 1, 2], 9), 'ERR_BOUNDS')
    refusedUnchanged(t, () => indexPut(t, [0, 1], [0, -4], 9), 'ERR_BOUNDS')
    refusedUnchanged(t, () => indexPut(t, [0, 1], zeros([4])), 'ERR_SHAPE')
    refusedUnchanged(t, () => indexPut(t, [0, 1], zeros([1, 2, 3])), 'ERR_SHAPE')
    refusedUnchanged(t, () => indexPut(t, 0, zeros([2])), 'ERR_SHAPE')
    const spread = tensor([1, 2]).broadcastTo([3, 2])
    refusedUnchanged(spread, () => indexPut(spread, [0], 9), 'ERR_OVERLAP')
    const frozen = forBlob(new Float32Array(2)).readOnly().makeTensor()
    refusedUnchanged(frozen, () => indexPut(frozen, [0], 9), 'ERR_READ_ONLY')
    refusedUnchanged(
      frozen,
      () => maskedFill(frozen, zeros([2], 'bool'), 9, { out: frozen }),
      'ERR_READ_ONLY',
    )
  })

  it('waits for nobody: a tensor that a pending copy writes is busy', async () => {
    const t = zeros([2 ** 20])
    const pending = t.copyFromAsync(zeros([2 ** 20]))
    fails(() => indexPut(t, [0], 1), Error, 'ERR_BUSY')
    await pending
    assert.equal(indexPut(t, [0], 1).get(0), 1)
  })

  it('leaves what is between the elements of a view', () => {
    const whole = zeros([7])
    indexPut(whole.slice('1::2'), [0, 2], tensor([5, 6]))
    assert.deepEqual(whole.toArray(), [0, 5, 0, 0, 0, 6, 0])
  })
})

describe('maskedSelect and maskedFill', () => {
  needsMath()
  const t = () =>
    tensor([
      [1, 5, 3],
      [7, 2, 9],
    ])
  const large = () =>
    tensor([
      [false, true, false],
      [true, false, true],
    ])

  it('select into a tensor of exactly that many elements', () => {
    const out = zeros([3])
    assert.equal(maskedSelect(t(), large(), { out }), out)
    assert.deepEqual(out.toArray(), [5, 7, 9])
    assert.deepEqual(
      maskedSelect(t(), large(), { out: zeros([6], 'float64').slice('::2') }).toArray(),
      [5, 7, 9],
    )
    refusedUnchanged(out, () => maskedSelect(t(), large(), { out: zeros([4]) }), 'ERR_SHAPE')
    fails(() => maskedSelect(t(), large(), { out: zeros([3], 'int32') }), TypeError, 'ERR_CAST')
    assert.deepEqual(
      maskedSelect(t(), large(), { out: zeros([3], 'int32'), casting: 'unsafe' }).toArray(),
      [5, 7, 9],
    )
    assert.deepEqual(maskedSelect(t(), large(), { dtype: 'float64' }).dtype, 'float64')
  })

  it('select into the tensor itself', () => {
    const x = t()
    maskedSelect(x, large(), { out: x.select(0, 1) })
    assert.deepEqual(x.toArray(), [
      [1, 5, 3],
      [5, 7, 9],
    ])
  })

  it('count what they copy', () => {
    const { copies } = copied(() => maskedSelect(t(), large()))
    assert.deepEqual(copies.maskedSelect, { count: 1, bytes: 12 })
  })

  it('fill a new tensor, or in place', () => {
    const x = t()
    assert.deepEqual(maskedFill(x, large(), 0).toArray(), [
      [1, 0, 3],
      [0, 2, 0],
    ])
    assert.deepEqual(x.toArray(), t().toArray())
    assert.equal(maskedFill(x, tensor([true, false, false]), tensor(-1), { out: x }), x)
    assert.deepEqual(x.toArray(), [
      [-1, 5, 3],
      [-1, 2, 9],
    ])
    for (const dtype of dtypes) {
      const value = dtype.startsWith('complex')
        ? [1, 0]
        : dtype === 'bool'
          ? true
          : /^u?int64$/.test(dtype)
            ? 1n
            : 1
      const got = maskedFill(zeros([2], dtype), tensor([false, true]), value)
      assert.equal(got.dtype, dtype)
      assert.deepEqual(got.get(1), value)
    }
  })

  it('refuse other masks and values', () => {
    const x = t()
    for (const call of [
      (mask) => maskedSelect(x, mask),
      (mask) => maskedFill(x, mask, 0, { out: x }),
      (mask) => maskedFill(x, mask, 0),
    ]) {
      refusedUnchanged(x, () => call(zeros([2, 3], 'uint8')), 'ERR_DTYPE')
      refusedUnchanged(x, () => call(zeros([3, 3], 'bool')), 'ERR_SHAPE')
      refusedUnchanged(x, () => call(zeros([1, 2, 3], 'bool')), 'ERR_SHAPE')
      refusedUnchanged(x, () => call([true]), 'ERR_ARGUMENT')
    }
    refusedUnchanged(x, () => maskedFill(x, large(), tensor([1, 2, 3]), { out: x }), 'ERR_SHAPE')
    for (const value of [0.5, tensor(0.5)]) {
      fails(
        () => maskedFill(tensor([1], 'uint8'), tensor([true]), value),
        TypeError,
        'ERR_CAST',
        /^value is 0\.5, which does not fit uint8; t\.astype\('float32'\)/,
      )
    }
    refusedUnchanged(x, () => maskedFill(x, large(), 1e39, { out: x }), 'ERR_CAST')
    refusedUnchanged(x, () => maskedFill(x, large(), 'x', { out: x }), 'ERR_ARGUMENT')
    fails(() => maskedFill(zeros([2], 'uint8'), zeros([2], 'bool'), 256), TypeError, 'ERR_CAST')
  })
})

describe('a list as an entry of index and indexPut', () => {
  needsMath()

  it('of booleans, or of lists, says that these are tensors', () => {
    const t = zeros([2, 2])
    for (const call of [
      (entry) => index(t, entry),
      (entry) => indexPut(t, entry, 1),
      (entry) => index(t, ':', entry),
    ]) {
      fails(
        () => call([true, false]),
        TypeError,
        'ERR_ARGUMENT',
        /^entry [01]\[0\] is true; an integer was expected, or instead of the list a tensor: tensor\(list\) makes a mask/,
      )
      fails(
        () =>
          call([
            [0, 1],
            [1, 0],
          ]),
        TypeError,
        'ERR_ARGUMENT',
        /^entry [01]\[0\] is .*; an integer was expected, .* integers of several axes$/,
      )
    }
    assert.deepEqual(index(t, tensor([true, false])).toArray(), [[0, 0]])
  })
})

describe('nonzero', () => {
  needsMath()

  it('gives a list of indices for each axis', () => {
    const at = nonzero(
      tensor([
        [0, 3],
        [4, 0],
      ]),
    )
    assert.deepEqual(
      at.map((x) => x.toArray()),
      [
        [0, 1],
        [1, 0],
      ],
    )
    assert.deepEqual(
      at.map((x) => x.dtype),
      ['int32', 'int32'],
    )
    const wide = nonzero(tensor([0, 3]), { dtype: 'int64' })
    assert.deepEqual(
      wide.map((x) => x.toArray()),
      [[1n]],
    )
  })

  it('takes every dtype; NaN is not zero, -0 is', () => {
    for (const dtype of dtypes) {
      assert.deepEqual(
        nonzero(
          zeros([3], dtype).copyFrom(tensor([false, true, false]), { casting: 'unsafe' }),
        )[0].toArray(),
        [1],
        dtype,
      )
    }
    assert.deepEqual(nonzero(tensor([NaN, -0, 1]))[0].toArray(), [0, 2])
    assert.deepEqual(
      nonzero(
        tensor(
          [
            [0, 0],
            [0, 1e-9],
          ],
          [2],
          'complex128',
        ),
      )[0].toArray(),
      [1],
    )
  })

  it('finds elements of any layout, in row-major order', () => {
    const random = generator(274)
    for (let i = 0; i < 100; i++) {
      const { given } = maskFor(
        random,
        Array.from({ length: 1 + random.next(4) }, () => random.pick([0, 1, 2, 5, 40])),
      )
      const flat = given.reshape([given.size]).toArray()
      const expected = given.shape.map((n, d) =>
        flat.flatMap((x, k) => (x ? [Math.floor(k / sizeOf(given.shape.slice(d + 1))) % n] : [])),
      )
      assert.deepEqual(
        nonzero(given).map((x) => x.toArray()),
        expected,
      )
    }
  })

  it('refuses what has no axes, other dtypes, and axes that int32 cannot count', () => {
    fails(() => nonzero(tensor(1)), RangeError, 'ERR_SHAPE', /no axes/)
    fails(
      () => nonzero(tensor([1]), { dtype: 'uint8' }),
      TypeError,
      'ERR_DTYPE',
      /uint8; int32 or int64/,
    )
    fails(
      () => nonzero(tensor([1]).broadcastTo([2 ** 31])),
      RangeError,
      'ERR_BOUNDS',
      /axis 0 has 2147483648 elements/,
    )
    fails(() => nonzero([1]), TypeError, 'ERR_ARGUMENT')
    assert.deepEqual(
      nonzero(zeros([0, 3])).map((x) => x.shape),
      [[0], [0]],
    )
  })
})

/** Indexes by what another thread writes all the time: numbers far outside, and masks. Says how often it worked and what was refused, and whether bytes beside the tensor changed. */
const RACE = `
  const { Worker } = require('node:worker_threads')
  const { fromBlob, tensor } = require('samebytes')
  const { index, indexPut, maskedSelect, nonzero } = require('samebytes/math')
  const indices = new Int32Array(new SharedArrayBuffer(4 * 300))
  const bits = new Uint8Array(new SharedArrayBuffer(300))
  const started = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(\`
    const { indices, bits, started } = require('node:worker_threads').workerData
    Atomics.store(started, 0, 1)
    Atomics.notify(started, 0)
    for (let seed = 1; ; seed = Math.imul(seed, 1103515245) + 12345 | 0) {
      const at = (seed >>> 8) % 300
      indices[at] = (seed >>> 4) % 50 === 0 ? seed : (seed >>> 16) % 100
      bits[at] = seed >>> 20
      if ((seed >>> 6) % 64 === 0) indices.fill((seed >>> 12) % 100)
    }
  \`, { eval: true, workerData: { indices, bits, started } })
  Atomics.wait(started, 0, 0)
  const whole = new Float32Array(10300).fill(7)
  const t = fromBlob(whole.subarray(5000, 5300))
  const small = fromBlob(whole.subarray(8000, 8100))
  const mask = fromBlob(bits, [300], { dtype: 'bool' })
  const at = fromBlob(indices)
  const counts = { done: 0, refused: {} }
  const attempt = fn => {
    try {
      fn()
      counts.done++
    } catch (error) {
      counts.refused[error.code] = (counts.refused[error.code] ?? 0) + 1
    }
  }
  for (let i = 0; i < 3000; i++) {
    attempt(() => index(small, at).dispose())
    attempt(() => indexPut(small, at, 7))
    attempt(() => maskedSelect(t, mask).dispose())
    attempt(() => index(t, mask).dispose())
    attempt(() => indexPut(t, mask, 7))
    attempt(() => nonzero(mask.reshape([30, 10])).forEach(x => x.dispose()))
  }
  worker.terminate()
  console.log(JSON.stringify({ ...counts, isWhole: whole.every(x => x === 7) }))
`

describe('indices and masks that another thread writes meanwhile', function () {
  needsMath()

  it('are either inside or refused, and nothing else is written', async function () {
    skipWithout(this, 'a Node of its own')
    const { done, refused, isWhole } = await childJson(RACE)
    assert.ok(isWhole)
    assert.ok(done > 12000, `${done}`)
    for (const code of Object.keys(refused)) {
      assert.equal(code, 'ERR_BOUNDS', JSON.stringify(refused))
    }
  })
})
