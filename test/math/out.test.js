'use strict'
// Results that are written into a tensor of the caller's.
const assert = require('node:assert/strict')
const { fromBlob, memory, tensor, zeros } = require('samebytes')
const { fails } = require('../setup')
const { math, needsMath } = require('./load')

const { add, less, multiply, sqrt, where } = math
const staged = () => memory().staged.count

describe('arithmetic into out', () => {
  needsMath()

  it('writes the result and returns that tensor', () => {
    const out = zeros([2])
    assert.equal(add(tensor([1, 2]), 3, { out }), out)
    assert.deepEqual(out.toArray(), [4, 5])
  })

  it('writes a view of every second element and leaves the others', () => {
    const whole = zeros([4])
    add(tensor([1, 2]), tensor([3, 4]), { out: whole.slice('::2') })
    assert.deepEqual(whole.toArray(), [4, 0, 6, 0])
  })

  it('takes exactly the shape of the result, larger ones of one element included', () => {
    fails(
      () => add(tensor([1, 2]), 3, { out: zeros([1, 2]) }),
      RangeError,
      'ERR_SHAPE',
      /out has shape \[1, ?2\]; the result has \[2\]/,
    )
    fails(() => add(tensor([[1, 2]]), tensor([1, 2]), { out: zeros([2]) }), RangeError, 'ERR_SHAPE')
    fails(() => add(tensor([1]), 3, { out: zeros([]) }), RangeError, 'ERR_SHAPE')
  })

  it('casts the result as casting says', () => {
    const out = zeros([2], 'int32')
    fails(() => add(tensor([1.5, 2]), 3, { out }), TypeError, 'ERR_CAST', /float32.*int32/)
    assert.deepEqual(out.toArray(), [0, 0])
    assert.deepEqual(add(tensor([1.5, 2]), 3, { out, casting: 'unsafe' }).toArray(), [4, 5])
    assert.deepEqual(less(tensor([1, 5]), 3, { out: zeros([2]) }).toArray(), [1, 0])
    assert.deepEqual(
      sqrt(tensor([4, 9], 'int32'), { out: zeros([2], 'float64') }).toArray(),
      [2, 3],
    )
    fails(
      () => sqrt(tensor([4], 'float64'), { out: zeros([1]), casting: 'safe' }),
      TypeError,
      'ERR_CAST',
    )
  })

  it('converts operands by dtype, and the result to that of out', () => {
    const out = zeros([2], 'float64')
    assert.deepEqual(
      multiply(tensor([1, 2], 'uint8'), 0.5, { dtype: 'float32', out }).toArray(),
      [0.5, 1],
    )
  })

  it('wraps integers in the dtype in which they are computed, however wide out is', async () => {
    const { crossAsync } = math.linalg
    const {
      cumulativeProd,
      cumulativeSum,
      convolve,
      einsum,
      matmul,
      matmulAsync,
      outer,
      prod,
      sum,
      sumAsync,
      tensordot,
      vecdot,
    } = math
    const row = (values) => tensor(values, 'int32')
    const functions = {
      matmul: (options) =>
        matmul(tensor([[300, 100]], 'int32'), tensor([[1], [2]], 'int32'), options),
      matmulAsync: (options) =>
        matmulAsync(tensor([[300, 100]], 'int32'), tensor([[1], [2]], 'int32'), options),
      vecdot: (options) => vecdot(row([300, 100]), row([1, 2]), options),
      outer: (options) => outer(row([300]), row([1, 2]), options),
      tensordot: (options) => tensordot(row([300, 2]), row([1, 3]), { axes: 1, ...options }),
      contracted: (options) => einsum('i,i->', row([300, 2]), row([1, 3]), options),
      outerByLabels: (options) => einsum('i,j->ij', row([300, 2]), row([1, 3]), options),
      summedByLabels: (options) => einsum('i->', row([300, 2]), options),
      crossAsync: (options) => crossAsync(row([300, 0, 0]), row([0, 1, 0]), options),
      convolve: (options) => convolve(row([300, 1]), row([1, 2]), options),
      sum: (options) => sum(row([300, 300]), options),
      sumAsync: (options) => sumAsync(row([300, 300]), options),
      prod: (options) => prod(row([300, 3]), options),
      cumulativeSum: (options) => cumulativeSum(row([300, 300]), options),
      cumulativeProd: (options) =>
        cumulativeProd(row([300, 3]), { includeInitial: true, ...options }),
      trace: (options) =>
        math.linalg.trace(
          tensor(
            [
              [300, 0],
              [0, 2],
            ],
            'int32',
          ),
          options,
        ),
    }
    for (const [name, compute] of Object.entries(functions)) {
      for (const dtype of ['int8', 'uint8', 'int16']) {
        const expected = await compute({ dtype })
        for (const wide of ['int32', 'float32', 'int64']) {
          const out = zeros(expected.shape, wide)
          assert.equal(await compute({ dtype, out }), out, name)
          assert.deepEqual(
            out.toArray(),
            expected.astype(wide).toArray(),
            `${name}: ${dtype} into ${wide}`,
          )
        }
        fails(
          () => sum(row([1]), { dtype, out: zeros([], 'bool'), casting: 'safe' }),
          TypeError,
          'ERR_CAST',
        )
      }
    }
    assert.equal(
      matmul(tensor([[100, 100]], 'int8'), tensor([[100], [100]], 'int8'), {
        out: zeros([1, 1], 'int32'),
      }).item(),
      32,
    ) // as NumPy has it
  })

  it('may be an operand', () => {
    const x = tensor([1, 2, 3])
    const before = staged()
    assert.deepEqual(multiply(x, x, { out: x }).toArray(), [1, 4, 9])
    assert.deepEqual(add(1, x, { out: x }).toArray(), [2, 5, 10])
    assert.equal(staged(), before)
  })

  it('stages an operand that it overlaps otherwise, and counts that', () => {
    const x = tensor([1, 2, 3, 4])
    const before = staged()
    add(x.slice(':3'), 10, { out: x.slice('1:') })
    assert.deepEqual(x.toArray(), [1, 11, 12, 13])
    assert.equal(staged(), before + 1)
    const m = tensor([
      [1, 2],
      [3, 4],
    ])
    const stagedBy = (a, b, out) => {
      const until = staged()
      add(a, b, { out })
      return staged() - until
    }
    assert.equal(stagedBy(m, m.T, m), 1)
    assert.deepEqual(m.toArray(), [
      [2, 5],
      [5, 8],
    ])
    const y = tensor([1, 2, 3])
    assert.equal(stagedBy(y, y.slice('::-1'), y), 1)
    assert.deepEqual(y.toArray(), [4, 4, 4])
    const w = tensor([1, 2, 3, 4, 5, 6])
    assert.equal(stagedBy(w.slice(':3').slice('::-1'), 1, w.slice('3:')), 0) // beside it
    assert.deepEqual(w.toArray(), [1, 2, 3, 4, 3, 2])
    assert.equal(stagedBy(w.slice('2:5').slice('::-1'), 1, w.slice(':3')), 1) // begins beyond it
    assert.deepEqual(w.toArray(), [4, 5, 4, 4, 3, 2])
    const z = tensor([1, 2, 3])
    add(
      tensor([
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
      ]).slice(0),
      z.slice(0),
      { out: z },
    )
    assert.deepEqual(z.toArray(), [2, 3, 4])
  })

  it("may be a where's or another dtype's view of an operand", () => {
    const x = tensor([1, 2, 3])
    where(less(x, 3), x, 0, { out: x })
    assert.deepEqual(x.toArray(), [1, 2, 0])
    const bits = x.view([3], { dtype: 'int32' })
    add(x, bits, { out: x, casting: 'unsafe' })
    assert.ok(x.get(0) > 1e9)
  })

  it('stays untouched when the call is refused', () => {
    const out = zeros([2]).fill(7)
    for (const call of [
      () => add(tensor([1, 2]), tensor([1, 2, 3]), { out }),
      () => add(tensor([1, 2], 'uint8'), 0.5, { out }),
      () => add(tensor([true, false]), tensor([true, true]), { out }),
      () => add(tensor([1, 2]), 'x', { out }),
      () => add(tensor([[1, 2]], [1], 'complex64'), 1, { out }),
    ]) {
      assert.throws(call, { code: /^ERR_/ })
    }
    assert.deepEqual(out.toArray(), [7, 7])
  })

  it('is refused where it is read-only, repeats its elements, or is gone', () => {
    const x = tensor([1, 2])
    const sealed = fromBlob(Float32Array.of(5, 6), [2], { readOnly: true })
    fails(() => add(x, 1, { out: sealed }), Error, 'ERR_READ_ONLY')
    assert.deepEqual(sealed.toArray(), [5, 6])
    fails(() => add(x, 1, { out: zeros([1]).expand([2]) }), Error, 'ERR_OVERLAP')
    const gone = zeros([2])
    gone.dispose()
    fails(() => add(x, 1, { out: gone }), Error, 'ERR_DISPOSED')
    const bytes = new Float32Array(2)
    const detached = fromBlob(bytes)
    structuredClone(bytes, { transfer: [bytes.buffer] })
    fails(() => add(x, 1, { out: detached }), Error, 'ERR_DETACHED')
    fails(() => add(detached, 1), Error, 'ERR_DETACHED')
  })
})
