'use strict'
// Lists of typed arrays, alone and beside tensors and numbers: the dtype is kept, and no integer is rounded.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { asarray, promoteTypes, tensor } = require('samebytes')
const { copied, fails, generator, hex, leavesNothing, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')

const ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float32: Float32Array,
  float64: Float64Array,
}
if (typeof Float16Array === 'function') ARRAYS.float16 = Float16Array // eslint-disable-line no-undef

/** Values that a dtype alone holds, and others. */
const EDGES = {
  uint8: [255, 0, 7],
  int8: [-128, 127, 3],
  uint16: [65535, 0, 258],
  int16: [-32768, 32767, 3],
  uint32: [4294967295, 0, 16777217],
  int32: [-2147483648, 2147483647, 16777217],
  uint64: [2n ** 64n - 1n, 0n, 2n ** 53n + 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n],
  float16: [65504, -0, 2 ** -24],
  float32: [Math.fround(0.1), -0, 2 ** -149],
  float64: [0.1, 1e300, NaN],
}

const rowOf = (dtype, values = EDGES[dtype]) => ARRAYS[dtype].from(values)

describe('tensor of lists of typed arrays', () => {
  for (const dtype of Object.keys(ARRAYS)) {
    it(`keeps ${dtype}, at each depth, from iterables, beside tensors, and so does asarray`, () => {
      const [a, b] = [rowOf(dtype), rowOf(dtype).reverse()]
      const bits = hex(tensor(a)) + hex(tensor(b))
      const makes = [
        [
          [a, b],
          [2, 3],
        ],
        [
          [[a], [b]],
          [2, 1, 3],
        ],
        [[[a, b]], [1, 2, 3]],
        [new Set([a, b]), [2, 3]],
        [
          [tensor(a), b],
          [2, 3],
        ],
        [
          [a, tensor(b)],
          [2, 3],
        ],
        [
          [[a], [tensor(b)]],
          [2, 1, 3],
        ],
        [
          [new Set([a]), [b]],
          [2, 1, 3],
        ],
      ]
      for (const [data, shape] of makes) {
        for (const make of [tensor, asarray]) {
          const { result, copies } = copied(() => make(data))
          assert.deepEqual([result.dtype, [...result.shape], hex(result)], [dtype, shape, bits])
          assert.deepEqual(copies, { [make.name]: { count: 1, bytes: result.nbytes } })
        }
      }
      assert.equal(hex(tensor([a, b], [3, 2])), bits)
      assert.deepEqual(tensor([a, b], { order: 'F' }).toArray(), tensor([a, b]).toArray())
      const none = tensor([rowOf(dtype, []), rowOf(dtype, [])])
      assert.deepEqual([none.dtype, [...none.shape]], [dtype, [2, 0]])
    })

    it(`gives numbers beside them their dtype, as it does beside tensors: ${dtype}`, () => {
      const a = rowOf(dtype)
      const numbers = /64/.test(dtype) && dtype !== 'float64' ? [1n, 2n, 3n] : [1, 2, 3]
      for (const others of [[1, 2, 3], numbers, [true, 2, false], [[1], [2], [3]].flat()]) {
        const bits = hex(tensor(a)) + hex(tensor([...others].map(Number), dtype))
        for (const own of [a, tensor(a), tensor(a, [3])]) {
          assert.deepEqual([tensor([own, others]).dtype, hex(tensor([own, others]))], [dtype, bits])
          assert.deepEqual(
            [asarray([others, own]).dtype, asarray([others, own]).toArray()[1]],
            [dtype, [...tensor(a).toArray()]],
          )
        }
      }
      assert.equal(tensor([[], rowOf(dtype, [])]).dtype, dtype)
    })
  }

  it('takes a Buffer for uint8, a Uint8ClampedArray as well', () => {
    for (const a of [
      Uint8ClampedArray.of(3, 255),
      ...(typeof Buffer === 'function' ? [Buffer.from([3, 255])] : []),
    ]) {
      assert.deepEqual(
        [tensor([a, a]).dtype, tensor([a, a]).toArray()],
        [
          'uint8',
          [
            [3, 255],
            [3, 255],
          ],
        ],
      )
    }
  })

  it('goes beyond int8, uint16, int32 and uint64 where numbers beside them do, and rounds no integer', () => {
    const cases = [
      [[Int8Array.of(7), [2.5]], 'float32', [[7], [2.5]]],
      [[Uint8Array.of(7), [300]], 'float32', [[7], [300]]],
      [[Uint8Array.of(7), [-1n]], 'int64', [[7n], [-1n]]],
      [[Uint16Array.of(65535), [NaN]], 'float32', [[65535], [NaN]]],
      [[Int32Array.of(16777217), [2.5]], 'float64', [[16777217], [2.5]]],
      [[Uint32Array.of(4294967295), [-1]], 'float64', [[4294967295], [-1]]],
      [[Int32Array.of(1), [2n ** 40n]], 'int64', [[1n], [2n ** 40n]]],
      [[BigUint64Array.of(2n ** 60n + 1n), [-1]], 'int64', [[2n ** 60n + 1n], [-1n]]],
      [[Int8Array.of(-1), BigUint64Array.of(2n), [3]], 'float64', [[-1], [2], [3]]],
      [[Float32Array.of(0.5), [0.1]], 'float32', [[0.5], [Math.fround(0.1)]]],
      [[Float64Array.of(0.5), [0.1]], 'float64', [[0.5], [0.1]]],
      [[tensor([true]), [2]], 'float32', [[1], [2]]],
      [[tensor([true]), [false]], 'bool', [[true], [false]]],
      [[tensor([1], 'int32'), [16777217]], 'int32', [[1], [16777217]]],
      [[Int8Array.of(1), Int16Array.of(300), [2]], 'int16', [[1], [300], [2]]],
    ]
    for (const [data, dtype, values] of cases) {
      assert.deepEqual([tensor(data).dtype, tensor(data).toArray()], [dtype, values])
    }
  })

  it('takes the dtype that is asked for: what it holds, or what casting allows', () => {
    assert.deepEqual(tensor([Float64Array.of(1, 2), [3, 4]], 'int32').toArray(), [
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(tensor([Float64Array.of(1, 2)], 'int8').toArray(), [[1, 2]])
    assert.deepEqual(
      tensor([Float64Array.of(1.5, 2)], { dtype: 'int8', casting: 'unsafe' }).toArray(),
      [[1, 2]],
    )
    assert.deepEqual(tensor([Float64Array.of(1, 2), [[3, 4], 5]], 'complex64').toArray(), [
      [
        [1, 0],
        [2, 0],
      ],
      [
        [3, 4],
        [5, 0],
      ],
    ])
    assert.deepEqual(tensor([Float64Array.of(1, 2)], 'complex128').toArray(), [
      [
        [1, 0],
        [2, 0],
      ],
    ])
    leavesNothing(() => {
      fails(() => tensor([Float64Array.of(1.5)], 'int8'), TypeError, 'ERR_CAST', /1\.5/)
      fails(
        () => tensor([Float64Array.of(1)], { dtype: 'float32', casting: 'safe' }),
        TypeError,
        'ERR_CAST',
        /casting 'safe'/,
      )
    })
  })

  it('refuses what has no dtype together, other lengths, other depths and detached ones; nothing is left', () => {
    const gone = new Int32Array(2)
    structuredClone(gone.buffer, { transfer: [gone.buffer] })
    leavesNothing(() => {
      fails(() => tensor([BigInt64Array.of(1n), [0.5]]), TypeError, 'ERR_CAST', /0\.5/)
      fails(() => tensor([BigUint64Array.of(2n ** 63n), [-1n]]), TypeError, 'ERR_CAST')
      fails(() => tensor([Int32Array.of(1), Int32Array.of(1, 2)]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([Int32Array.of(1), [1, 2]]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([Int32Array.of(1), 1]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([Int32Array.of(1), [[1]]]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([[Int32Array.of(1)], Int32Array.of(1)]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([Int32Array.of(1, 2), gone]), Error, 'ERR_DETACHED', /list in data/)
      fails(() => tensor([gone]), Error, 'ERR_DETACHED', /list in data/)
    })
  })

  it('refuses int32 rows that an iterable detaches while it is read', () => {
    const row = Int32Array.of(1, 2)
    const detaches = {
      *[Symbol.iterator]() {
        yield Int32Array.of(5, 6)
        structuredClone(row.buffer, { transfer: [row.buffer] })
      },
    }
    leavesNothing(() => fails(() => tensor([[row], detaches]), Error, 'ERR_DETACHED'))
  })

  it('gives 2,000 drawn lists of typed arrays and tensors the dtype and values that NumPy gives', function () {
    skipWithout(this, 'a Node of its own')
    skipWithout(this, 'NumPy')
    const { next, pick } = generator(5202)
    const names = Object.keys(ARRAYS)
    const cases = Array.from({ length: 2000 }, () => {
      const few = Array.from({ length: 1 + next(3) }, () => pick(names))
      const shape = Array.from({ length: 1 + next(3) }, () => 1 + next(3))
      const length = next(4)
      const rows = Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
        const dtype = pick(few)
        return {
          dtype,
          isTensor: next(3) === 0,
          values: Array.from({ length }, () => pick(EDGES[dtype])),
        }
      })
      return { shape, rows }
    })
    const text = JSON.stringify(cases, (_, value) =>
      typeof value === 'bigint' || Number.isNaN(value)
        ? String(value)
        : Object.is(value, -0)
          ? '-0.0'
          : value,
    )
    const script = `
import json, sys, warnings
import numpy as np
warnings.simplefilter('ignore')
def nest(shape, rows):
  return rows.pop(0) if not shape else [nest(shape[1:], rows) for _ in range(shape[0])]
def row(r):
  kind = np.dtype(r['dtype']).kind
  return np.array([float(v) if kind == 'f' else int(v) for v in r['values']], r['dtype'])
out = []
for case in json.load(sys.stdin):
  rows = [row(r) for r in case['rows']]
  a = np.array(nest(case['shape'], rows[:]))
  out.append([str(a.dtype), list(a.shape), [repr(v) for v in a.ravel().tolist()]])
json.dump(out, sys.stdout)`
    const run = spawnSync(PYTHON, ['-c', script], {
      input: text,
      maxBuffer: 1 << 28,
      encoding: 'utf8',
    })
    assert.equal(run.status, 0, run.stderr)
    let same = 0
    for (const [i, [dtype, shape, values]] of JSON.parse(run.stdout).entries()) {
      const { rows, shape: outer } = cases[i]
      const list = rows.map(({ dtype, isTensor, values }) =>
        isTensor ? tensor(rowOf(dtype, values)) : rowOf(dtype, values),
      )
      const nest = ([n, ...rest]) =>
        n === undefined ? list.shift() : Array.from({ length: n }, () => nest(rest))
      const t = tensor(nest(outer))
      assert.deepEqual([...t.shape], shape)
      assert.equal(
        t.dtype,
        rows.map((row) => row.dtype).reduce((a, b) => promoteTypes(a, b)),
      )
      if (t.dtype === dtype) same++
      else assert.ok(/float/.test(t.dtype) && /float/.test(dtype), `${t.dtype}, in NumPy ${dtype}`) // integers beside floats are the floats' dtype here
      const expected = tensor(
        values.map((text) =>
          /int/.test(dtype) ? BigInt(text) : Number(text.replace('inf', 'Infinity')),
        ),
        [values.length],
        /int/.test(dtype) ? dtype : 'float64',
      )
      assert.equal(
        hex(t),
        hex(tensor(expected.astype(t.dtype, { casting: 'unsafe' }), [values.length])),
        JSON.stringify([i, t.dtype, dtype]),
      )
    }
    assert.ok(same > 1000, `${same} have NumPy's dtype`)
  })
})
