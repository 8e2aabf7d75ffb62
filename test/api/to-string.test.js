'use strict'
const assert = require('node:assert/strict')
const util = require('node:util')
const { Tensor, dtypes, empty, fromBlob, memory, tensor, zeros } = require('samebytes')
const { childJson, skipWithout, within } = require('../setup')

const range = (n, dtype) =>
  tensor(
    Array.from({ length: n }, (_, i) => i),
    { dtype },
  )

// As torch prints the same tensor, with the dtype's name in place of torch.<name>.
const PRINTED = [
  [
    'float32 matrix',
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    'tensor([[1., 2.],\n        [3., 4.]])',
  ],
  ['float32 with fractions', () => tensor([1, 2.5, -0.125]), 'tensor([ 1.0000,  2.5000, -0.1250])'],
  ['float32 rank 0', () => tensor(5), 'tensor(5.)'],
  ['float32 rank 0 with a fraction', () => tensor(0.1), 'tensor(0.1000)'],
  ['float32 zeros', () => zeros([3]), 'tensor([0., 0., 0.])'],
  ['float32 of different widths', () => tensor([1, 20, -300]), 'tensor([   1.,   20., -300.])'],
  [
    'float32 in scientific form for its range',
    () => tensor([1, 10000]),
    'tensor([1.0000e+00, 1.0000e+04])',
  ],
  ['float32 at the edge of the scientific form', () => tensor([1, 1000]), 'tensor([   1., 1000.])'],
  ['float32 that is small', () => tensor([0.00001, 1]), 'tensor([1.0000e-05, 1.0000e+00])'],
  ['float32 that is large', () => tensor([200000000]), 'tensor([2.0000e+08])'],
  [
    'float32 nan and inf',
    () => tensor([NaN, 1, Infinity, -Infinity]),
    'tensor([nan, 1., inf, -inf])',
  ],
  ['float32 nan beside wider numbers', () => tensor([NaN, 10.5]), 'tensor([    nan, 10.5000])'],
  ['float32 with a zero and a fraction', () => tensor([0, 1.5]), 'tensor([0.0000, 1.5000])'],
  ['float32 empty', () => tensor([]), 'tensor([])'],
  ['float32 without elements', () => zeros([2, 0]), 'tensor([], size=(2, 0))'],
  ['int32 empty', () => zeros([0], 'int32'), 'tensor([], dtype=int32)'],
  ['int64 without elements', () => zeros([0, 3], 'int64'), 'tensor([], size=(0, 3), dtype=int64)'],
  ['int64', () => tensor([1n, -20n, 300n]), 'tensor([  1, -20, 300])'],
  [
    'int32',
    () =>
      tensor(
        [
          [1, 2],
          [3, 4],
        ],
        'int32',
      ),
    'tensor([[1, 2],\n        [3, 4]], dtype=int32)',
  ],
  ['uint8 rank 0', () => tensor(7, [], 'uint8'), 'tensor(7, dtype=uint8)'],
  [
    'uint64',
    () => tensor([18446744073709551615n], 'uint64'),
    'tensor([18446744073709551615], dtype=uint64)',
  ],
  ['bool', () => tensor([true, false]), 'tensor([ True, False])'],
  ['bool, all true', () => tensor([[true], [true]]), 'tensor([[True],\n        [True]])'],
  ['float64', () => tensor([0.1, 2], 'float64'), 'tensor([0.1000, 2.0000], dtype=float64)'],
  ['float16', () => tensor([1, 2], 'float16'), 'tensor([1., 2.], dtype=float16)'],
  ['bfloat16', () => tensor([0.1], 'bfloat16'), 'tensor([0.1001], dtype=bfloat16)'],
  ['float8_e4m3fn', () => tensor([1.5], 'float8_e4m3fn'), 'tensor([1.5000], dtype=float8_e4m3fn)'],
  [
    'complex64',
    () =>
      tensor(
        [
          [1, 2],
          [3, -4],
        ],
        [2],
        'complex64',
      ),
    'tensor([1.+2.j, 3.-4.j])',
  ],
  [
    'complex128',
    () => tensor([[0.5, 1]], [1], 'complex128'),
    'tensor([0.5000+1.j], dtype=complex128)',
  ],
  [
    'float32 half-way between two texts, to the even one',
    () => tensor([0.03125, 0.09375, -0.15625]),
    'tensor([ 0.0312,  0.0938, -0.1562])',
  ],
  [
    'float32 half-way in the exponent form',
    () => tensor([100005, 300005, 1e-3]),
    'tensor([1.0000e+05, 3.0000e+05, 1.0000e-03])',
  ],
  ['float32 negative zero', () => tensor([-0, 0]), 'tensor([-0., 0.])'],
  ['float32 negative zero beside a fraction', () => tensor([-0, 1.5]), 'tensor([-0.0000, 1.5000])'],
  ['float32 nan and inf alone', () => tensor([NaN, Infinity]), 'tensor([nan, inf])'],
  ['float64 subnormal', () => tensor([5e-324], 'float64'), 'tensor([4.9407e-324], dtype=float64)'],
  [
    'complex64 nan, inf and negative zeros',
    () =>
      tensor(
        [
          [1, 2],
          [NaN, -Infinity],
          [-0, -0],
        ],
        'complex64',
      ),
    'tensor([1.+2.j, nan-infj, -0.-0.j])',
  ],
  [
    'complex64 in columns of their real parts',
    () =>
      tensor(
        [
          [
            [10.5, 1],
            [-1, -100.25],
          ],
        ],
        'complex64',
      ),
    'tensor([[10.5000+1.0000j, -1.0000-100.2500j]])',
  ],
  ['complex64 rank 0', () => tensor([1.5, -2], [], 'complex64'), 'tensor(1.5000-2.j)'],
  [
    'complex64 without elements',
    () => zeros([0, 3], 'complex64'),
    'tensor([], size=(0, 3), dtype=complex64)',
  ],
  ['bool rank 0', () => tensor(false), 'tensor(False)'],
  [
    'bool on several lines',
    () => tensor(new Array(30).fill(true)),
    'tensor([True, True, True, True, True, True, True, True, True, True, True, True,\n' +
      '        True, True, True, True, True, True, True, True, True, True, True, True,\n' +
      '        True, True, True, True, True, True])',
  ],
  [
    "int32 with the dtype on a line of its own, where PyTorch's longer name has it",
    () => tensor([0, -111, -222, -333, -444, -555, -666, -777, -888], 'int32'),
    'tensor([   0, -111, -222, -333, -444, -555, -666, -777, -888],\n       dtype=int32)',
  ],
  [
    'float16 of 1001 × 1, summarised',
    () => zeros([1001, 1], 'float16'),
    'tensor([[0.],\n        [0.],\n        [0.],\n        ...,\n        [0.],\n        [0.],\n        [0.]], dtype=float16)',
  ],
  ['uint16', () => tensor([1, 65535], 'uint16'), 'tensor([    1, 65535], dtype=uint16)'],
  ['uint32', () => tensor([4294967295], 'uint32'), 'tensor([4294967295], dtype=uint32)'],
  [
    'float8_e5m2',
    () => tensor([0.25, -57344], 'float8_e5m2'),
    'tensor([ 2.5000e-01, -5.7344e+04], dtype=float8_e5m2)',
  ],
  [
    'float32 transposed',
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]).T,
    'tensor([[1., 3.],\n        [2., 4.]])',
  ],
  [
    'int64 of rank 3',
    () => tensor([[[1n, 2n]], [[3n, 4n]]]),
    'tensor([[[1, 2]],\n\n        [[3, 4]]])',
  ],
  [
    'int64 on several lines',
    () => range(30, 'int64'),
    'tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n' +
      '        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])',
  ],
  [
    'int64 of 1001 elements, summarised',
    () => range(1001, 'int64'),
    'tensor([   0,    1,    2,  ...,  998,  999, 1000])',
  ],
  [
    'float32 from 0 to 1599, in scientific form',
    () => range(1600, 'float32'),
    'tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.5970e+03, 1.5980e+03,\n        1.5990e+03])',
  ],
  [
    'int32 of 40 × 40, summarised',
    () => range(1600, 'int32').reshape([40, 40]),
    'tensor([[   0,    1,    2,  ...,   37,   38,   39],\n' +
      '        [  40,   41,   42,  ...,   77,   78,   79],\n' +
      '        [  80,   81,   82,  ...,  117,  118,  119],\n' +
      '        ...,\n' +
      '        [1480, 1481, 1482,  ..., 1517, 1518, 1519],\n' +
      '        [1520, 1521, 1522,  ..., 1557, 1558, 1559],\n' +
      '        [1560, 1561, 1562,  ..., 1597, 1598, 1599]], dtype=int32)',
  ],
]

describe('toString', () => {
  for (const [name, make, expected] of PRINTED) {
    it(`prints ${name} as PyTorch does`, () => assert.equal(make().toString(), expected))
  }

  it('prints 1000 int64 elements in full', () => {
    const printed = range(1000, 'int64').toString()
    assert.doesNotMatch(printed, /\.\.\./)
    assert.match(printed, /499, 500, 501/)
  })

  it('is what inspection shows, for float32', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    assert.equal(util.inspect(t), t.toString())
    assert.equal(`${t}`, t.toString())
  })

  it('prints a huge float32 view of few bytes in little time', () => {
    const t = tensor([1.5]).view([1000000, 1000000], { strides: [0, 0] })
    const text = within(15000, () => t.toString()) // else it takes days
    assert.match(text, /^tensor\(\[\[1\.5000, 1\.5000, 1\.5000, {2}\.\.\., 1\.5000/)
  })

  for (const dtype of dtypes) {
    it(`reads no more of 64 MiB of ${dtype} than it shows`, () => {
      const { itemsize } = zeros([1], dtype)
      const n = 2 ** 26 / itemsize
      for (const t of [
        empty([n], { dtype, shared: true }),
        empty([n], dtype),
        fromBlob(new ArrayBuffer(2 ** 26), dtype),
      ]) {
        for (const i of [0, 1, 2, -3, -2, -1]) t.set(i === -1, i)
        String(zeros([1], dtype)) // what stands for bits is looked up once
        const before = memory().staged.bytes
        const text = within(5000, () => t.toString()) // all elements as text take longer
        assert.match(
          text,
          dtype === 'bool'
            ? /\.\.\., False, False, {2}True]/
            : /\.\.\., +0(\.|\.\+0\.j)?, +0(\.|\.\+0\.j)?, +1(\.|\.\+0\.j)?]/,
        )
        assert.ok(memory().staged.bytes - before <= 6 * itemsize)
        t.dispose()
      }
    })
  }
})

describe('inspection', () => {
  const t = tensor([
    [1, 2],
    [3, 4],
  ])

  it('of a float32 matrix in an object or a list is indented', () => {
    assert.equal(
      util.inspect({ a: [t] }),
      '{\n  a: [\n    tensor([[1., 2.],\n            [3., 4.]])\n  ]\n}',
    )
  })

  it('of more than 1000 elements has shape and dtype, and few lines', () => {
    const { inspect } = util
    assert.equal(
      inspect(zeros([2, 3, 224, 224])),
      `tensor([[[[0., 0., 0.,  ..., 0., 0., 0.],
          ...,
          [0., 0., 0.,  ..., 0., 0., 0.]],
         ...,
         [[0., 0., 0.,  ..., 0., 0., 0.],
          ...,
          [0., 0., 0.,  ..., 0., 0., 0.]]],
        [[[0., 0., 0.,  ..., 0., 0., 0.],
          ...,
          [0., 0., 0.,  ..., 0., 0., 0.]],
         ...,
         [[0., 0., 0.,  ..., 0., 0., 0.],
          ...,
          [0., 0., 0.,  ..., 0., 0., 0.]]]], shape=[2, 3, 224, 224],
       dtype=float32)`,
    )
    assert.equal(
      inspect(range(1001, 'int64')),
      'tensor([   0,    1,    2,  ...,  998,  999, 1000], shape=[1001], dtype=int64)',
    )
    assert.equal(
      inspect(range(6000, 'int32').reshape([300, 20])),
      `tensor([[   0,    1,    2,  ...,   17,   18,   19],
        [  20,   21,   22,  ...,   37,   38,   39],
        [  40,   41,   42,  ...,   57,   58,   59],
        ...,
        [5940, 5941, 5942,  ..., 5957, 5958, 5959],
        [5960, 5961, 5962,  ..., 5977, 5978, 5979],
        [5980, 5981, 5982,  ..., 5997, 5998, 5999]], shape=[300, 20],
       dtype=int32)`,
    )
    assert.equal(
      inspect(range(4000, 'float64').reshape([4, 100, 10])),
      `tensor([[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 7.0000e+00,
          8.0000e+00, 9.0000e+00],
         ...,
         [9.9000e+02, 9.9100e+02, 9.9200e+02,  ..., 9.9700e+02,
          9.9800e+02, 9.9900e+02]],
        ...,
        [[3.0000e+03, 3.0010e+03, 3.0020e+03,  ..., 3.0070e+03,
          3.0080e+03, 3.0090e+03],
         ...,
         [3.9900e+03, 3.9910e+03, 3.9920e+03,  ..., 3.9970e+03,
          3.9980e+03, 3.9990e+03]]], shape=[4, 100, 10], dtype=float64)`,
    )
    assert.equal(
      inspect(zeros(Array(17).fill(2), 'bool')),
      `tensor([...], shape=[${Array(17).fill(2).join(', ')}],\n       dtype=bool)`,
    )
    assert.equal(
      inspect({ big: zeros([500, 3]) }),
      `{
  big: tensor([[0., 0., 0.],
          [0., 0., 0.],
          [0., 0., 0.],
          ...,
          [0., 0., 0.],
          [0., 0., 0.],
          [0., 0., 0.]], shape=[500, 3], dtype=float32)
}`,
    )
    assert.equal(inspect(zeros([1000])), String(zeros([1000])), 'of 1000 all are shown')
    assert.match(String(zeros([1001])), /^tensor\(\[0\., 0\., 0\., {2}\.\.\., 0\., 0\., 0\.\]\)$/)
  })

  it('has the text of a subclass, and of a program, that has its own toString', () => {
    class Mine extends Tensor {
      toString() {
        return 'mine'
      }
    }
    const t = Object.setPrototypeOf(zeros([2000]), Mine.prototype)
    assert.equal(util.inspect(t), 'mine')
  })

  it('stops where it goes too deep, as for other objects', () => {
    assert.equal(
      util.inspect({ a: { b: { c: t } } }),
      '{\n  a: { b: { c: [Tensor] } }\n}'.replace(/\n */g, ' '),
    )
    assert.equal(util.inspect([t], { depth: 0 }), '[ [Tensor] ]')
    assert.equal(util.inspect(t, { depth: 0 }), String(t))
  })

  it('does not throw for a disposed or detached float32 tensor, or for the class', () => {
    const gone = zeros([2])
    gone.dispose()
    assert.equal(util.inspect([gone]), '[ tensor(disposed) ]')
    const buffer = new ArrayBuffer(16)
    const detached = fromBlob(buffer, [4], 'float32')
    structuredClone(buffer, { transfer: [buffer] })
    assert.equal(util.inspect(detached), 'tensor(detached)')
    assert.equal(typeof util.inspect(Tensor, { showHidden: true, depth: 3 }), 'string')
  })

  it('prints its own bytes where modules are loaded anew, and does not throw where none can be loaded', async function () {
    skipWithout(this, 'a Node of its own')
    const texts = await childJson(`
      const util = require('node:util')
      const { tensor } = require('samebytes')
      const t = tensor([1, 2])
      for (const key of Object.keys(require.cache)) if (!key.endsWith('.node')) delete require.cache[key]
      const load = require('node:module')._extensions['.js']
      require('node:module')._extensions['.js'] = () => { throw new Error('too many open files') }
      const none = util.inspect(t)
      require('node:module')._extensions['.js'] = load
      console.log(JSON.stringify([none, util.inspect(t), String(t)]))`)
    assert.deepEqual(texts, [
      '[Tensor: too many open files]',
      'tensor([1., 2.])',
      'tensor([1., 2.])',
    ])
  })
})

describe('JSON', () => {
  it('has NaN and infinities as null, 64-bit integers as strings, complex64 as pairs', () => {
    assert.equal(
      JSON.stringify({
        t: tensor([
          [NaN, 1.5],
          [-Infinity, 2],
        ]),
      }),
      '{"t":[[null,1.5],[null,2]]}',
    )
    assert.equal(JSON.stringify(tensor([9007199254740993n])), '["9007199254740993"]')
    assert.equal(JSON.stringify(tensor([[1, 2]], 'complex64')), '[[1,2]]')
    assert.equal(JSON.stringify(tensor([true, false])), '[true,false]')
    assert.equal(JSON.stringify(tensor(1.5, [], 'bfloat16')), '1.5')
  })
})
