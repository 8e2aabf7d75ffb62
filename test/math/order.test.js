'use strict'
// Sorting and its like beside NumPy, on all dtypes and layouts; NaN, zeros, ties; out; what is refused.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { arange, backend, full, memory, tensor, zeros } = require('samebytes')
const {
  ROOT,
  childJson,
  fails,
  generator,
  needs,
  refusedUnchanged,
  skipWithout,
} = require('../setup')
const { PYTHON } = require('../tools')
const { math, needsMath, some } = require('./load')

const {
  sort,
  argsort,
  topK,
  searchsorted,
  isin,
  uniqueAll,
  uniqueCounts,
  uniqueInverse,
  uniqueValues,
  bincount,
} = math

const INTEGERS = ['uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const REAL = [
  ...INTEGERS,
  'float16',
  'float32',
  'float64',
  'bfloat16',
  'float8_e4m3fn',
  'float8_e5m2',
  'bool',
]
/** What NumPy has not is compared as float32, which has all its values in the same order. */
const shownAs = (dtype) => (dtype.startsWith('float8') || dtype === 'bfloat16' ? 'float32' : dtype)
const isBig = (dtype) => dtype === 'int64' || dtype === 'uint64'

function valueOf({ next, pick }, dtype, few) {
  if (dtype === 'bool') return next(3) === 0
  if (isBig(dtype)) {
    const wide = BigInt(next(2 ** 31)) * BigInt(next(2 ** 31)) * (dtype === 'int64' ? 2n : 4n)
    const value = few ? BigInt(next(6)) : wide
    return dtype === 'int64' && next(2) ? -value : value
  }
  if (INTEGERS.includes(dtype)) {
    const bits = Number(dtype.replace(/\D/g, ''))
    const value = few ? next(6) : Math.floor((next(2 ** 31) / 2 ** 31) * 2 ** bits)
    return dtype[0] === 'u' ? value : few ? value - 3 : value - 2 ** (bits - 1)
  }
  const special = next(few ? 3 : 12) === 0
  if (special) {
    return pick([0, -0, NaN, 1, -1, ...(dtype === 'float8_e4m3fn' ? [] : [Infinity, -Infinity])])
  }
  return few ? next(6) - 3 : (next(2 ** 31) / 2 ** 31 - 0.5) * pick([1, 1e-3, 300])
}

function filled(random, dtype, shape) {
  const few = random.next(2) === 1
  const n = shape.reduce((a, b) => a * b, 1)
  return tensor(
    Array.from({ length: n }, () => valueOf(random, dtype, few)),
    { dtype },
  ).reshape(shape)
}

/** Any layout: permuted, sliced, flipped, broadcast. */
function arranged(random, dtype, axes, most) {
  const { next, pick, shuffle } = random
  const shape = Array.from({ length: axes }, () => pick([1, 2, 3, 5, 8]))
  if (next(2)) shape[next(axes)] = pick([17, 33, 49, 100, 193, 300, most])
  if (next(12) === 0) shape[next(axes)] = 0
  let t = filled(random, dtype, shape)
  if (next(2)) t = t.permute(shuffle(shape.map((_, d) => d)))
  if (next(2)) t = t.slice(...t.shape.map(() => pick([':', ':', '::2', '::-1', '1:'])))
  if (next(6) === 0) t = t.broadcastTo([pick([2, 3]), ...t.shape])
  return t
}

const bytesOf = (t) => Buffer.from(t.astype(shownAs(t.dtype)).contiguous().bytes).toString('base64')
const sent = (t) => ({ dtype: shownAs(t.dtype), shape: [...t.shape], bytes: bytesOf(t) })

function askNumpy(cases) {
  const input = JSON.stringify(
    cases.map((each) =>
      Object.fromEntries(
        Object.entries(each).map(([name, value]) => [name, value?.shape ? sent(value) : value]),
      ),
    ),
  )
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'order.py')],
    { input, env: { ...process.env, LD_PRELOAD: '' }, encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** Runs cases here and in NumPy, and compares all bytes. */
function compare(cases, run) {
  askNumpy(cases).forEach((wanted, i) => {
    const { name, x, ...rest } = cases[i]
    const what = JSON.stringify({
      i,
      name,
      dtype: x.dtype,
      shape: x.shape,
      strides: x.strides,
      ...rest,
    })
    run(cases[i]).forEach((got, k) => assert.equal(bytesOf(got), wanted[k], `${what}: result ${k}`))
  })
}

/** Sorts and counts in memory that another thread writes all the time. Says whether bytes beside it changed, and what was refused. */
const RACE = `
  const { Worker } = require('node:worker_threads')
  const { arange, fromBlob } = require('samebytes')
  const { bincount, oneHot, sort, uniqueAll } = require('samebytes/math')
  const n = 3000
  const whole = new Int32Array(new SharedArrayBuffer(4 * 9 * n)).fill(7)
  const started = new Int32Array(new SharedArrayBuffer(4))
  const hot = whole.subarray(4 * n, 5 * n)
  const worker = new Worker(\`
    const { hot, started } = require('node:worker_threads').workerData
    Atomics.store(started, 0, 1)
    Atomics.notify(started, 0)
    for (let seed = 1; ; seed = Math.imul(seed, 1103515245) + 12345 | 0) {
      if ((seed >>> 20) % 2048 === 0) hot.fill(seed)
      else hot[(seed >>> 8) % hot.length] = (seed >>> 4) % 50 === 0 ? seed : (seed >>> 16) % 1000
    }
  \`, { eval: true, workerData: { hot, started } })
  Atomics.wait(started, 0, 0)
  const out = fromBlob(hot)
  const wide = fromBlob(new BigInt64Array(whole.buffer, 4 * 4 * n, n / 2))
  const x = arange(n, 'int32').slice('::-1').contiguous()
  const refused = {}
  for (let i = 0; i < 4000; i++) {
    for (const fn of [() => sort(x, { out }), () => sort(wide, { out: wide }), () => bincount(wide).dispose(), () => oneHot(out, 1000).dispose(), () => Object.values(uniqueAll(wide)).forEach(t => t.dispose())].slice(0, i % 20 === 0 ? 5 : 2)) {
      try {
        fn()
      } catch ({ code }) {
        refused[code] = (refused[code] ?? 0) + 1
      }
    }
  }
  worker.terminate()
  console.log(JSON.stringify({ refused, isWhole: whole.every((x, i) => x === 7 || (i >= 4 * n && i < 5 * n)) }))
`

/** Is it refused, and out left as it was? */
const unchanged = (out, fn, code) => refusedUnchanged(out, () => fn(out), code)

const lists = (result) =>
  Object.fromEntries(Object.entries(result).map(([name, t]) => [name, t.toArray()]))

describe('order beside NumPy', () => {
  needsMath()
  needs('NumPy')

  /** @returns {any[]} cases by tensors of all dtypes */
  const cases = (seed, count, most, make) => {
    const random = generator(seed)
    return Array.from({ length: some(count) }, (_, i) => {
      const x = arranged(random, REAL[i % REAL.length], 1 + random.next(3), most)
      return {
        x,
        axis: random.next(x.ndim) - random.pick([0, x.ndim]),
        dtype: random.pick(['int32', 'int64']),
        ...make(random, x),
      }
    })
  }

  it('sorts random tensors, axes, dtypes and layouts', () => {
    compare(
      cases(1, 450, 1500, ({ next }) => ({ name: 'sort', descending: next(2) === 1 })),
      ({ x, axis, descending }) => [sort(x, { axis, descending })],
    )
  })

  it('has their indices', () => {
    compare(
      cases(2, 450, 1500, ({ next }) => ({ name: 'argsort', descending: next(2) === 1 })),
      ({ x, axis, descending, dtype }) => [argsort(x, { axis, descending, dtype })],
    )
  })

  it('has the greatest and the least elements', () => {
    const made = cases(3, 450, 3000, ({ next }) => ({ name: 'topK', largest: next(2) === 1 }))
    const random = generator(4)
    for (const each of made) {
      const n = each.x.shape.at(each.axis)
      each.k = Math.min(random.pick([0, 1, 2, 10, 300, n >> 1, n]), n)
    }
    compare(made, ({ x, axis, k, largest, dtype }) => {
      const { values, indices } = topK(x, k, { axis, largest, dtype })
      return [values, indices]
    })
  })

  it('searches in sorted ones', () => {
    const random = generator(5)
    const { next, pick } = random
    compare(
      Array.from({ length: some(450) }, (_, i) => {
        const own = REAL[i % REAL.length]
        const other =
          own.startsWith('int') && next(3) === 0
            ? 'int64'
            : own === 'float32' && next(3) === 0
              ? 'float64'
              : own
        const x = filled(random, own, [pick([0, 1, 2, 7, 100, 700])]).slice(
          pick([':', '::-1', '::2']),
        )
        const both = {
          name: 'searchsorted',
          side: pick(['left', 'right']),
          dtype: pick(['int32', 'int64']),
          y: arranged(random, other, 1 + next(3), 400),
        }
        return next(2)
          ? { ...both, x: sort(x) }
          : { ...both, x, sorter: argsort(x).astype(pick(['int32', 'uint32', 'int64'])) }
      }),
      ({ x, y, side, sorter, dtype }) => [searchsorted(x, y, { side, sorter, dtype })],
    )
  })

  it('tells membership, unique values and counts', () => {
    compare(
      cases(6, 450, 1500, (random, x) => ({
        name: 'isin',
        invert: random.next(2) === 1,
        y: arranged(random, x.dtype, 1 + random.next(2), 300),
      })),
      ({ x, y, invert }) => [isin(x, y, { invert })],
    )
    compare(
      cases(7, 450, 1500, () => ({ name: 'unique' })),
      ({ x, dtype }) => {
        const { values, indices, inverseIndices, counts } = uniqueAll(x, { dtype })
        assert.deepEqual(inverseIndices.shape, x.shape)
        const some = uniqueCounts(x, { dtype })
        const others = uniqueInverse(x, { dtype })
        assert.deepEqual(
          [some.values, some.counts, others.values, others.inverseIndices, uniqueValues(x)].map(
            bytesOf,
          ),
          [values, counts, values, inverseIndices, values].map(bytesOf),
        )
        return [values, indices, inverseIndices, counts]
      },
    )
  })

  it('counts integers as bincount', () => {
    const random = generator(8)
    const { next, pick } = random
    compare(
      Array.from({ length: some(300) }, (_, i) => {
        const n = pick([0, 1, 5, 100, 1000])
        const most = pick([1, 3, 100])
        const x = tensor(
          Array.from({ length: n }, () => next(most)),
          { dtype: 'float64' },
        )
          .astype(INTEGERS[i % 7], { casting: 'unsafe' })
          .slice(pick([':', '::2', '::-1'])) // NumPy refuses uint64
        const weights = next(2)
          ? {
              weights: filled(random, pick(['float32', 'float64', 'int16', 'float16']), [
                2 * x.size,
              ]).slice('::2'),
            }
          : {}
        return {
          name: 'bincount',
          x,
          minlength: pick([0, 5, 200]),
          dtype: pick(['int32', 'int64']),
          ...weights,
        }
      }),
      ({ x, weights, minlength, dtype }) => [
        bincount(x, weights ? { weights, minlength } : { minlength, dtype }),
      ],
    )
  })
})

describe('sort and argsort', () => {
  needsMath()

  it('keep the order of equal elements, zeros of both signs among them, and put NaN last', () => {
    const t = tensor([0, -0, 3, NaN, -1, 0, -0])
    assert.deepEqual(sort(t).toArray(), [-1, 0, -0, 0, -0, 3, NaN])
    assert.deepEqual(argsort(t).toArray(), [4, 0, 1, 5, 6, 2, 3])
    assert.deepEqual(sort(t, { descending: true }).toArray(), [3, 0, -0, 0, -0, -1, NaN])
    assert.deepEqual(
      argsort(t, { descending: true, stable: false }).toArray(),
      [2, 0, 1, 5, 6, 4, 3],
    )
  })

  it('make NaN canonical in any dtype', () => {
    for (const [dtype, bits, wanted] of [
      ['float32', 'uint32', 0x7fc00000],
      ['float64', 'uint64', 0x7ff8000000000000n],
      ['float16', 'uint16', 0x7e00],
    ]) {
      const odd = full(
        [3],
        bits === 'uint64' ? 0xfff4000000000001n : bits === 'uint32' ? 0xffa00001 : 0xfd01,
        bits,
      ).view(dtype)
      assert.deepEqual(sort(odd).view(bits).toArray(), [wanted, wanted, wanted])
    }
  })

  it('take long lines of few values, of one, and sorted ones', () => {
    const n = 70000
    const up = arange(n, { dtype: 'int32' })
    const down = up.slice('::-1')
    assert.deepEqual(sort(down).toArray(), up.toArray())
    assert.deepEqual(argsort(down, { descending: true }).toArray(), up.toArray())
    assert.deepEqual(argsort(full([n], 7, 'float64')).toArray(), up.toArray())
    assert.deepEqual(argsort(tensor(Uint8Array.from({ length: n }, (_, i) => i % 2))).toArray(), [
      ...sort(up.slice('::2')).toArray(),
      ...up.slice('1::2').toArray(),
    ])
  })

  it('write into out: x itself, a part of it, transposed, of another dtype', () => {
    const t = tensor([
      [3, 1, 2],
      [9, 8, 7],
    ])
    assert.equal(sort(t, { out: t }), t)
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [7, 8, 9],
    ])
    assert.equal(sort(t, { axis: 0, descending: true, out: t }), t)
    assert.deepEqual(t.toArray(), [
      [7, 8, 9],
      [1, 2, 3],
    ])
    const line = tensor([4, 3, 2, 1, 0])
    const { staged } = memory()
    sort(line.slice(':4'), { out: line.slice('1:') })
    assert.equal(memory().staged.bytes - staged.bytes, 16)
    assert.deepEqual(line.toArray(), [4, 1, 2, 3, 4])
    const out = zeros([3, 2], 'float64')
    sort(
      tensor(
        [
          [3, 1, 2],
          [9, 8, 7],
        ],
        'int32',
      ),
      { out: out.T },
    )
    assert.deepEqual(out.toArray(), [
      [1, 7],
      [2, 8],
      [3, 9],
    ])
    const places = zeros([3], 'int16')
    argsort(tensor([3, 1, 2]), { out: places })
    assert.deepEqual(places.toArray(), [1, 2, 0])
    const large = zeros([1000]).copyFrom(arange(1000).slice('::-1'))
    const before = memory().staged
    sort(large, { out: large })
    assert.deepEqual(memory().staged, before)
    assert.equal(large.get(0), 0)
  })

  it('take nothing, however many lines of it, and one element', () => {
    for (const fn of [sort, argsort]) {
      assert.deepEqual([...fn(zeros([2 ** 50, 0])).shape], [2 ** 50, 0])
    }
    assert.deepEqual([...topK(zeros([1, 3]).expand(2 ** 50, 3), 0).indices.shape], [2 ** 50, 0])
    assert.deepEqual(sort(zeros([0])).toArray(), [])
    assert.deepEqual([...sort(zeros([3, 0])).shape], [3, 0])
    assert.deepEqual([...argsort(zeros([0, 3])).shape], [0, 3])
    assert.deepEqual(argsort(tensor([5])).toArray(), [0])
  })

  it('refuse what has no order, no such axis, and wrong options', () => {
    const t = zeros([2, 3])
    for (const fn of [sort, argsort]) {
      fails(() => fn(zeros([2], 'complex64')), TypeError, 'ERR_DTYPE', /order/)
      fails(() => fn(zeros([])), RangeError, 'ERR_BOUNDS', /axis/)
      fails(() => fn(t, { axis: 2 }), RangeError, 'ERR_BOUNDS', /axis 2/)
      fails(() => fn(t, { kind: 'stable' }), TypeError, 'ERR_ARGUMENT', /kind/)
      fails(() => fn(t, { descending: 1 }), TypeError, 'ERR_ARGUMENT', /descending/)
      fails(() => fn([3, 1]), TypeError, 'ERR_ARGUMENT', /x is/)
      unchanged(zeros([3, 2]).fill(7), (out) => fn(t, { out }), 'ERR_SHAPE')
    }
    const out = zeros([2, 3], 'int8').fill(7)
    refusedUnchanged(out, () => sort(t, { out }), 'ERR_CAST')
    fails(() => argsort(t, 'float32'), TypeError, 'ERR_DTYPE', /int64/)
    const x = zeros([2])
    fails(
      () =>
        sort(x, {
          get axis() {
            x.dispose()
            return 0
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })
})

describe('what another thread writes meanwhile', function () {
  needsMath()

  it('is sorted and counted inside of its memory', async function () {
    skipWithout(this, 'a Node of its own')
    const { refused, isWhole } = await childJson(RACE)
    assert.ok(isWhole)
    for (const code of Object.keys(refused)) {
      assert.ok(['ERR_BOUNDS', 'ERR_SHAPE', 'ERR_MEMORY'].includes(code), JSON.stringify(refused))
    }
  })
})

describe('topK', () => {
  needsMath()

  it('takes the first of equal elements, and NaN as the greatest', () => {
    assert.deepEqual(lists(topK(tensor([2, NaN, 7, NaN, 7, 7]), 4)), {
      values: [NaN, NaN, 7, 7],
      indices: [1, 3, 2, 4],
    })
    assert.deepEqual(lists(topK(tensor([2, NaN, -0, 0, 2]), 4, { largest: false })), {
      values: [-0, 0, 2, 2],
      indices: [2, 3, 0, 4],
    })
    assert.deepEqual(lists(topK(full([3000], 5, 'uint8'), 3)), {
      values: [5, 5, 5],
      indices: [0, 1, 2],
    })
    assert.deepEqual(lists(topK(full([3000], NaN), 2, { largest: false })).indices, [0, 1])
  })

  it('goes along any axis', () => {
    const { values, indices } = topK(
      tensor([
        [1, 9],
        [5, 2],
        [3, 4],
      ]),
      2,
      { axis: 0, dtype: 'int64' },
    )
    assert.deepEqual(values.toArray(), [
      [5, 9],
      [3, 4],
    ])
    assert.deepEqual(indices.toArray(), [
      [1n, 0n],
      [2n, 2n],
    ])
    assert.deepEqual(
      topK(tensor([1, 3, 2]), 2, { sorted: false })
        .values.toArray()
        .sort(),
      [2, 3],
    )
  })

  it('finds them in long lines that rise, fall, and turn', () => {
    const n = 50000
    const up = arange(n, { dtype: 'float64' })
    for (const k of [1, 10, 700]) {
      const greatest = Array.from({ length: k }, (_, i) => n - 1 - i)
      assert.deepEqual(topK(up, k).values.toArray(), greatest)
      assert.deepEqual(topK(up.slice('::-1').astype('float32'), k).values.toArray(), greatest)
      assert.deepEqual(
        topK(up, k, { largest: false }).indices.toArray(),
        Array.from({ length: k }, (_, i) => i),
      )
    }
  })

  it('takes k from 0 to all', () => {
    assert.deepEqual(lists(topK(zeros([3]), 0)), { values: [], indices: [] })
    assert.deepEqual([...topK(zeros([0, 2]), 0, { axis: 0 }).values.shape], [0, 2])
    for (const k of [-1, 4]) {
      fails(() => topK(zeros([2, 3]), k), RangeError, 'ERR_BOUNDS', /from 0 to 3/)
    }
    fails(() => topK(zeros([3]), '1'), TypeError, 'ERR_ARGUMENT', /k/)
    fails(() => topK(zeros([]), 1), RangeError, 'ERR_BOUNDS', /axis/)
    fails(() => topK(zeros([3], 'complex128'), 1), TypeError, 'ERR_DTYPE', /order/)
    fails(() => topK(zeros([3]), 1, { dim: 0 }), TypeError, 'ERR_ARGUMENT', /axis/)
  })

  it('has an asynchronous form', async () => {
    assert.deepEqual(lists(await math.topKAsync(tensor([1, 4, 3]), 2)), {
      values: [4, 3],
      indices: [1, 2],
    })
    const shared = full([400, 300], 0, { shared: true })
    const sorted = await math.sortAsync(shared, { axis: 0 })
    assert.equal(sorted.isShared, backend() !== 'wasm')
    assert.deepEqual((await math.argsortAsync(tensor([2, 1]))).toArray(), [1, 0])
    assert.deepEqual((await math.searchsortedAsync(tensor([1, 5]), tensor([[2], [9]]))).toArray(), [
      [1],
      [2],
    ])
    assert.deepEqual((await math.isinAsync(tensor([1, 5]), tensor([[5]]))).toArray(), [false, true])
  })
})

describe('searchsorted and isin', () => {
  needsMath()

  it('take -0 as 0, and NaN as last', () => {
    const x1 = tensor([-0, 0, 1, NaN])
    const x2 = tensor([0, -0, NaN, Infinity])
    assert.deepEqual(searchsorted(x1, x2).toArray(), [0, 0, 3, 3])
    assert.deepEqual(searchsorted(x1, x2, { side: 'right' }).toArray(), [2, 2, 4, 3])
    assert.deepEqual(isin(x2, x1).toArray(), [true, true, false, false])
    assert.deepEqual(isin(x2, x1, { invert: true }).toArray(), [false, false, true, true])
    assert.equal(
      searchsorted(tensor([255], 'uint8'), tensor(255, { dtype: 'uint8' }), {
        side: 'right',
      }).item(),
      1,
    )
    assert.equal(
      searchsorted(
        tensor([2n ** 64n - 1n], 'uint64'),
        tensor(2n ** 64n - 1n, { dtype: 'uint64' }),
        { side: 'right' },
      ).item(),
      1,
    )
  })

  it('of nothing', () => {
    assert.deepEqual(searchsorted(zeros([0]), tensor([1, 2])).toArray(), [0, 0])
    assert.deepEqual(isin(tensor([1, 2]), zeros([0])).toArray(), [false, false])
    assert.deepEqual(isin(zeros([0]), zeros([2])).toArray(), [])
  })

  it('write into out, which may be what they read', () => {
    const x = tensor([5, 1, 3], 'int32')
    assert.equal(searchsorted(tensor([2, 4], 'int32'), x, { out: x }), x)
    assert.deepEqual(x.toArray(), [2, 0, 1])
    const keys = tensor([1, 2, 3], 'int32')
    searchsorted(keys, tensor([3, 3, 3], 'int32'), { out: keys })
    assert.deepEqual(keys.toArray(), [2, 2, 2])
    const out = zeros([2], 'bool')
    assert.equal(isin(tensor([1, 2]), tensor([2]), { out }), out)
    assert.deepEqual(out.toArray(), [false, true])
    unchanged(
      zeros([3], 'int32').fill(7),
      (out) => searchsorted(keys, zeros([2], 'int32'), { out }),
      'ERR_SHAPE',
    )
  })

  it('refuse wrong shapes, sides and sorters', () => {
    const t = zeros([3])
    fails(() => searchsorted(zeros([2, 3]), t), RangeError, 'ERR_SHAPE', /x1/)
    fails(() => searchsorted(t, t, { side: 'middle' }), TypeError, 'ERR_ARGUMENT', /side/)
    fails(
      () => searchsorted(t, t, { sorter: zeros([2], 'int32') }),
      RangeError,
      'ERR_SHAPE',
      /sorter/,
    )
    fails(() => searchsorted(t, t, { sorter: zeros([3]) }), TypeError, 'ERR_DTYPE', /sorter/)
    const out = zeros([3], 'int32').fill(7)
    refusedUnchanged(
      out,
      () => searchsorted(t, t, { sorter: tensor([0, 1, 3], 'int32'), out }),
      'ERR_BOUNDS',
    )
    refusedUnchanged(
      out,
      () => searchsorted(t, t, { sorter: tensor([0, -1, 2], 'int32'), out }),
      'ERR_BOUNDS',
    )
    fails(() => searchsorted(t, zeros([2], 'complex64')), TypeError, 'ERR_DTYPE', /order/)
    fails(() => isin(zeros([2], 'complex64'), t), TypeError, 'ERR_DTYPE', /order/)
    fails(
      () => isin(3, [3]),
      TypeError,
      'ERR_ARGUMENT',
      /x1 is 3, and x2 .*; one of them has to be a tensor/,
    )
    fails(() => isin(t, [[1], 2]), RangeError, 'ERR_SHAPE', /x2 is ragged/)
    fails(() => searchsorted(3, t), RangeError, 'ERR_SHAPE', /x1 has 0 axes/)
    fails(
      () => searchsorted(t, [0, 1e300]),
      TypeError,
      'ERR_CAST',
      /x2 is 1e\+300.*x1\.astype\('float64'\)/,
    )
    fails(() => searchsorted(t, 0, { sorter: [0, 1, 0.5] }), TypeError, 'ERR_DTYPE', /sorter/)
  })

  it('take scalars and nested lists for one of both, as tensors of their values', () => {
    const x = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      'int8',
    )
    const keys = tensor([1, 5])
    const unsorted = tensor([3, 1, 2])
    const { tensors, copied } = memory()
    const results = [
      isin(x, 3),
      isin(x, [[4], [1]]),
      isin([4, 5], x),
      isin(x, new Set([2, 3])),
      searchsorted([2, 3], x),
      searchsorted(keys, 5, { side: 'right' }),
      searchsorted(unsorted, [2, 4], { sorter: [1, 2, 0] }),
    ]
    assert.deepEqual(
      results.map((t) => t.toArray()),
      [
        [
          [false, false],
          [true, false],
        ],
        [
          [true, false],
          [false, true],
        ],
        [true, false],
        [
          [false, true],
          [true, false],
        ],
        [
          [0, 0],
          [1, 2],
        ],
        2,
        [1, 3],
      ],
    )
    const after = memory()
    assert.equal(after.tensors, tensors + results.length)
    assert.equal(after.copied.isin.count - (copied.isin?.count ?? 0), 4)
    assert.equal(after.copied.searchsorted.count - (copied.searchsorted?.count ?? 0), 4)
  })

  it('compare them beside integers as they are, and rounded beside floats, as equal does', () => {
    for (const [dtype, element, value] of [
      ['int8', 1, 257],
      ['int8', 1, 1.5],
      ['uint8', 255, -1],
      ['int32', 1, 1],
      ['int32', 7, 7n],
      ['int64', 2n ** 60n + 1n, 2n ** 60n],
      ['int64', 2n ** 60n + 1n, 2n ** 60n + 1n],
      ['uint64', 2n ** 63n + 1n, 2n ** 63n + 1n],
      ['uint64', 2n ** 64n - 1n, -1],
      ['int64', 5n, true],
      ['float32', 0.1, 0.1],
      ['float16', 0.1, 0.1],
      ['bfloat16', 0.1, 0.1],
      ['float64', 0.1, 0.1],
      ['float32', NaN, NaN],
      ['float64', 5, 5n],
      ['bool', true, 1],
    ]) {
      const t = tensor([element], dtype)
      const wanted = math.equal(t, value).toArray()
      assert.deepEqual(
        [isin(t, value), isin(t, [value]), isin(value, t).reshape([1])].map((each) =>
          each.toArray(),
        ),
        [wanted, wanted, wanted],
        `${dtype} ${element} ${value}`,
      )
    }
    assert.deepEqual(isin(tensor([3], 'int8'), []).toArray(), [false])
  })

  it('take them in their asynchronous forms, and leave nothing behind', async () => {
    const x = tensor([1, 2, 3], 'int8')
    const { tensors, storages } = memory()
    const found = await math.isinAsync(x, [3, 1])
    const places = await math.searchsortedAsync([2, 3], x)
    assert.deepEqual(
      [found.toArray(), places.toArray()],
      [
        [true, false, true],
        [0, 0, 1],
      ],
    )
    for (const t of [found, places]) t.dispose()
    const after = memory() // garbage of others may be gone
    assert.ok(
      after.tensors <= tensors && after.storages <= storages,
      `${after.tensors} ${after.storages}`,
    )
  })
})

describe('unique values', () => {
  it('are found in tensors of as many axes as there may be', () => {
    for (const t of [
      zeros([3, ...Array(63).fill(1)]),
      tensor([5, 2, 5, 1, 0, 2])
        .reshape([2, ...Array(62).fill(1), 3])
        .flip(),
    ]) {
      const { values, counts, inverseIndices } = math.uniqueAll(t)
      assert.equal(
        counts.toArray().reduce((a, b) => a + Number(b), 0),
        t.size,
      )
      assert.deepEqual(values.toArray(), [...new Set(t.reshape([t.size]).toArray())].sort())
      assert.deepEqual(
        values.take(inverseIndices.reshape([t.size])).toArray(),
        t.reshape([t.size]).toArray(),
      )
      assert.deepEqual(math.uniqueValues(t).toArray(), values.toArray())
    }
  })

  needsMath()

  it('count each NaN, take -0 and 0 as one, and have where each is first', () => {
    const t = tensor([
      [NaN, 1],
      [-0, NaN],
      [0, 1],
    ])
    assert.deepEqual(lists(uniqueAll(t)), {
      values: [-0, 1, NaN, NaN],
      indices: [2, 1, 0, 3],
      inverseIndices: [
        [2, 1],
        [0, 3],
        [0, 1],
      ],
      counts: [2, 2, 1, 1],
    })
    assert.deepEqual(lists(uniqueCounts(t)), { values: [-0, 1, NaN, NaN], counts: [2, 2, 1, 1] })
    assert.deepEqual(uniqueValues(t).toArray(), [-0, 1, NaN, NaN])
    assert.deepEqual(uniqueInverse(tensor(5), 'int64').inverseIndices.item(), 0n)
  })

  it('of nothing', () => {
    assert.deepEqual(lists(uniqueAll(zeros([0, 2]))), {
      values: [],
      indices: [],
      inverseIndices: [],
      counts: [],
    })
    assert.deepEqual(uniqueValues(zeros([0])).toArray(), [])
  })

  it('leave no tensors behind', () => {
    const t = tensor([1, 2, 1])
    const before = memory().tensors
    for (const fn of [uniqueAll, uniqueCounts, uniqueInverse]) {
      Object.values(fn(t)).forEach((each) => each.dispose())
    }
    uniqueValues(t).dispose()
    const complex = zeros([2], 'complex64')
    for (const fn of [uniqueAll, uniqueCounts, uniqueInverse, uniqueValues]) {
      fails(
        () => fn(complex),
        TypeError,
        'ERR_DTYPE',
        /^unique has no complex64, which have no order/,
      )
    }
    assert.ok(memory().tensors <= before + 1)
  })

  it('refuse wrong options', () => {
    fails(() => uniqueValues(zeros([2]), { axis: 0 }), TypeError, 'ERR_ARGUMENT', /axis/)
    fails(() => uniqueAll(zeros([2]), 'float32'), TypeError, 'ERR_DTYPE', /int64/)
  })
})

describe('bincount', () => {
  needsMath()

  it('adds weights, in float64, and has its length from x and minlength', () => {
    assert.deepEqual(
      bincount(tensor([1, 3, 1], 'uint8'), { minlength: 6 }).toArray(),
      [0, 2, 0, 1, 0, 0],
    )
    assert.deepEqual(
      bincount(tensor([1, 0, 1], 'uint64'), { weights: tensor([0.5, 2, 1]) }).toArray(),
      [2, 1.5],
    )
    assert.deepEqual(
      bincount(tensor([1, 0, 1], 'uint64'), { weights: [0.1, 2, true] }).toArray(),
      [2, 1.1],
    )
    assert.equal(
      bincount(tensor([1], 'int32'), { weights: tensor([1]), dtype: 'float32' }).dtype,
      'float32',
    )
    assert.deepEqual(bincount(tensor([true, false, true])).toArray(), [1, 2])
    assert.deepEqual(bincount(zeros([0], 'int32')).toArray(), [])
    assert.deepEqual(bincount(tensor([1, 1], 'int32'), { dtype: 'int64' }).toArray(), [0n, 2n])
  })

  it('writes into out, which may be x', () => {
    const x = tensor([0, 2, 2], 'int32')
    assert.equal(bincount(x, { out: x }), x)
    assert.deepEqual(x.toArray(), [1, 0, 2])
    unchanged(zeros([2], 'int32').fill(7), (out) => bincount(x, { out }), 'ERR_SHAPE')
    unchanged(
      zeros([3], 'int32').fill(7),
      (out) => bincount(x, { out, weights: zeros([3]) }),
      'ERR_CAST',
    )
  })

  it('refuses negative elements, and others than integers', () => {
    fails(() => bincount(tensor([1, -2], 'int32')), RangeError, 'ERR_BOUNDS', /-2/)
    fails(() => bincount(tensor([2n ** 63n], 'uint64')), RangeError, 'ERR_BOUNDS', /2\^63/)
    fails(() => bincount(zeros([2])), TypeError, 'ERR_DTYPE', /float32/)
    fails(() => bincount(zeros([2, 2], 'int32')), RangeError, 'ERR_SHAPE', /axes/)
    fails(
      () => bincount(zeros([2], 'int32'), { weights: zeros([3]) }),
      RangeError,
      'ERR_SHAPE',
      /weights/,
    )
    fails(
      () => bincount(zeros([2], 'int32'), { weights: zeros([2], 'complex64') }),
      TypeError,
      'ERR_CAST',
      /complex64/,
    )
    fails(
      () => bincount(zeros([2], 'int32'), { minlength: -1 }),
      RangeError,
      'ERR_BOUNDS',
      /minlength/,
    )
    fails(() => bincount(tensor([2n ** 62n], 'int64')), RangeError, 'ERR_BOUNDS', /2\^53/)
  })
})
