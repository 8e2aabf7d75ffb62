'use strict'
// What all functions of cores (src/math/cores.h) have from there, by one of them: any layout and dtype, batches, targets that overlap sources,
// other threads.
const assert = require('node:assert/strict')
const { arrayEqual, empty, fromBlob, memory, tensor, zeros } = require('samebytes')
const { fails, generator } = require('../setup')
const { math, needsMath } = require('./load')

const isNative = process.env.SAMEBYTES_BACKEND === 'native'
const { next, shuffle } = generator(28)

function crossOf(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/** Integers, in a random layout. */
function operand(shape, dtype) {
  const order = shuffle(shape.map((_, d) => d))
  const steps = shape.map(() => [1, 1, 2, -1][next(4)])
  const inMemory = order.map((d) => shape[d] * Math.abs(steps[d]))
  const whole = empty(inMemory, dtype)
  whole.copyFrom(
    tensor(
      Array.from({ length: whole.size }, () => next(7)),
      inMemory,
      { dtype: 'uint8' },
    ),
    { casting: 'unsafe' },
  )
  return whole
    .permute(shape.map((_, d) => order.indexOf(d)))
    .slice(...steps.map((step) => (step === 2 ? '::2' : step === -1 ? '::-1' : ':')))
}

const rowsOf = (t, shape) =>
  t.broadcastTo(shape).contiguous().astype('float64').view([-1, 3]).toArray()
const same = (a, b) => assert.ok(arrayEqual(a, b), `${a} ${b}`)

describe('functions of cores', () => {
  needsMath()
  let cross
  before(() => {
    ;({ cross } = math.linalg)
  })

  it('read any layout, dtype and batches, and write any', () => {
    for (let i = 0; i < 150; i++) {
      const batch = Array.from({ length: next(4) }, () => 1 + next(4))
      const drop = next(batch.length + 1)
      const shapes = [
        [...batch, 3],
        [...batch.slice(drop).map((n) => (next(3) === 0 ? 1 : n)), 3],
      ]
      const dtypes = [0, 1].map(
        () =>
          ['int8', 'uint16', 'int32', 'int64', 'float16', 'float32', 'float64', 'complex64'][
            next(8)
          ],
      )
      const [a, b] = shapes.map((shape, k) => operand(shape, dtypes[k]))
      const result = cross(a, b)
      if (result.dtype.startsWith('complex') || result.dtype.startsWith('uint')) {
        const again = cross(a.contiguous(), b.contiguous())
        same(result, again)
        continue
      }
      const [x, y] = [rowsOf(a, result.shape), rowsOf(b, result.shape)]
      const wanted = tensor(
        x.flatMap((row, k) => crossOf(row, y[k])),
        result.shape,
        { dtype: 'float64' },
      )
      assert.deepEqual(result.shape, [...batch, 3])
      same(result.astype('float64', { casting: 'unsafe' }), wanted)
      const out = operand(result.shape, 'float64')
      assert.equal(cross(a, b, { out }), out)
      same(out, wanted)
    }
  })

  it('write into a source, and beside it, as if it had been read before', () => {
    for (let i = 0; i < 60; i++) {
      const count = 1 + next(6000)
      const values = operand([count + 2, 3], 'float64').contiguous()
      const other = operand([count, 3], 'float64')
      const shift = next(3)
      const [source, out] = [
        values.slice(`${next(3)}:`).narrow(0, 0, count),
        values.narrow(0, shift, count),
      ]
      const wanted = cross(source.clone(), other.clone())
      const { staged } = memory()
      cross(source, other, { out })
      same(out, wanted)
      const isMoved = source.offset !== out.offset
      assert.equal(
        memory().staged.bytes - staged.bytes,
        isMoved ? 24 * count : 0,
        'counted where a copy was needed',
      )
    }
  })

  it('have nothing to do without batches, and with none of them copy nothing', () => {
    const before = memory()
    assert.deepEqual(cross(zeros([0, 3]), zeros([5, 1, 3])).shape, [5, 0, 3])
    assert.deepEqual(math.linalg.matrixPower(zeros([2 ** 50, 0, 0]), -3).shape, [2 ** 50, 0, 0])
    assert.deepEqual(math.iou(zeros([1, 4]).expand(2 ** 50, 4), zeros([0, 4])).shape, [2 ** 50, 0])
    fails(() => math.oneHot(zeros([1], 'int32').expand(2 ** 50), 0), RangeError, 'ERR_BOUNDS')
    assert.deepEqual(memory().staged, before.staged)
  })

  it('refuse what does not fit, and leave out as it is', () => {
    const out = zeros([4, 3]).fill(7)
    const [a, b] = [zeros([4, 3]), zeros([5, 3])]
    fails(() => cross(a, b, { out }), RangeError, 'ERR_SHAPE')
    fails(() => cross(a, zeros([4, 2]), { out }), RangeError, 'ERR_SHAPE')
    fails(() => cross(a, a, { out: zeros([3, 4]) }), RangeError, 'ERR_SHAPE')
    fails(() => cross(a, a, { axis: 2, out }), RangeError, 'ERR_BOUNDS')
    for (const dtype of ['bool', 'float8_e5m2']) {
      fails(
        () => cross(zeros([4, 3], dtype), zeros([4, 3], dtype), { out }),
        TypeError,
        'ERR_DTYPE',
      )
    }
    fails(() => cross(a.astype('complex64'), a, { out }), TypeError, 'ERR_CAST')
    fails(() => cross(a, a, { axes: 1 }), Error, 'ERR_ARGUMENT', /axis/)
    fails(() => cross(a, [1, 2, 3]), Error, 'ERR_ARGUMENT')
    fails(() => cross(a, a, { out: zeros([3]).broadcastTo([4, 3]) }), Error, 'ERR_OVERLAP')
    fails(
      () => cross(a, a, { out: fromBlob(new Float32Array(12), [4, 3], { readOnly: true }) }),
      Error,
      'ERR_READ_ONLY',
    )
    same(out, zeros([4, 3]).fill(7))
  })

  it('run on another thread, on copies where memory could move, which are counted', async () => {
    const [a, b] = [
      operand([9000, 3], 'float32').contiguous(),
      operand([9000, 3], 'float64').contiguous(),
    ]
    const wanted = cross(a, b)
    const before = memory()
    const result = await math.linalg.crossAsync(a, b)
    same(result, wanted)
    if (isNative) assert.equal(memory().staged.bytes - before.staged.bytes, 9000 * 3 * (4 + 8 + 8))
    const out = zeros([3, 9000], 'float64')
    const pending = math.linalg.crossAsync(a, b, { out: out.T })
    assert.throws(() => out.fill(0), { code: 'ERR_BUSY' })
    await pending
    same(out.T, wanted)
    await assert.rejects(
      math.linalg.crossAsync(a, b, { out: out.T, signal: AbortSignal.abort() }),
      { name: 'AbortError' },
    )
    const { tensors, inFlight } = memory()
    await assert.rejects(math.linalg.crossAsync(a, b.slice('1:')), { code: 'ERR_SHAPE' })
    assert.equal(memory().inFlight, inFlight)
    assert.equal(memory().tensors, tensors + 1) // the slice
  })

  it('give back at once what they made, where elements are refused', () => {
    const singular = zeros([64, 64])
    const far = tensor(new Array(64).fill(99), 'int32')
    const keys = zeros([64])
    const calls = {
      inv: () => math.linalg.inv(singular),
      solve: () => math.linalg.solve(singular, singular),
      cholesky: () => math.linalg.cholesky(singular),
      matrixPower: () => math.linalg.matrixPower(singular, -1),
      oneHot: () => math.oneHot(far, 50),
      searchsorted: () => math.searchsorted(keys, keys, { sorter: far }),
    }
    for (const [name, call] of Object.entries(calls)) {
      assert.throws(call, /./, name) // whatever is made once
      const { bytes, tensors } = memory()
      for (let i = 0; i < 10; i++) assert.throws(call)
      const after = memory()
      for (const [of, before] of Object.entries(bytes)) {
        assert.ok(after.bytes[of] <= before, `${name}: ${after.bytes[of] - before} bytes of ${of}`)
      }
      assert.ok(after.tensors <= tensors, name)
    }
  })

  it('refuse an out that casting does not allow, before anything is computed', () => {
    const x = tensor(
      [
        [2, 1],
        [1, 3],
      ],
      'float64',
    )
    const keys = tensor([1, 2, 3], 'float64')
    const calls = {
      det: (opts) => math.linalg.det(x, { out: zeros([], 'float32'), ...opts }),
      eigvalsh: (opts) => math.linalg.eigvalsh(x, { out: zeros([2], 'float32'), ...opts }),
      svdvals: (opts) => math.linalg.svdvals(x, { out: zeros([2], 'float32'), ...opts }),
      pinv: (opts) => math.linalg.pinv(x, { out: zeros([2, 2], 'float32'), ...opts }),
      argsort: (opts) => math.argsort(keys, { dtype: 'int64', out: zeros([3], 'int32'), ...opts }),
      searchsorted: (opts) =>
        math.searchsorted(keys, keys, { dtype: 'int64', out: zeros([3], 'int32'), ...opts }),
    }
    for (const call of Object.values(calls)) {
      fails(
        () => call({ casting: 'safe' }),
        TypeError,
        'ERR_CAST',
        /does not cast to .* under casting 'safe'/,
      )
      call()
    }
  })

  it('say of operands that astype converts them: casting is that of the result, and allows no other dtype', () => {
    const x = tensor([[1.5]])
    const line = tensor([1.5, 2, 3])
    const calls = {
      add: (opts) => math.add(x, x, opts),
      sum: (opts) => math.sum(x, opts),
      cumulativeSum: (opts) => math.cumulativeSum(line, opts),
      matmul: (opts) => math.matmul(x, x, opts),
      einsum: (opts) => math.einsum('ij,jk->ik', x, x, opts),
      vecdot: (opts) => math.vecdot(x, x, opts),
      outer: (opts) => math.outer(line, line, opts),
      cross: (opts) => math.linalg.cross(line, line, opts),
      convolve: (opts) => math.convolve(line, line, opts),
    }
    for (const call of Object.values(calls)) {
      for (const casting of ['same_kind', 'unsafe']) {
        fails(
          () => call({ dtype: 'int32', casting }),
          TypeError,
          'ERR_CAST',
          /^float32 does not cast to int32 under casting 'same_kind'; astype converts operands$/,
        )
      }
    }
  })
})
