'use strict'
const assert = require('node:assert/strict')
const { arange, fromBlob, memory, takeAlongAxis, tensor, zeros } = require('samebytes')
const {
  copied,
  describeTensor,
  fails,
  leavesNothing,
  nativeOnly,
  needsMemory,
  refusedUnchanged,
} = require('../setup')

const INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const matrix = () =>
  tensor(
    [
      [10, 20, 30],
      [40, 50, 60],
    ],
    'int16',
  )

describe('takeAlongAxis', () => {
  for (const dtype of INTEGERS) {
    it(`takes what ${dtype} indices say, along either axis`, () => {
      assert.deepEqual(
        takeAlongAxis(
          matrix(),
          tensor(
            [
              [2, 0],
              [1, 1],
            ],
            dtype,
          ),
        ).toArray(),
        [
          [30, 10],
          [50, 50],
        ],
      )
      assert.deepEqual(takeAlongAxis(matrix(), tensor([[1, 0, 1]], dtype), { axis: 0 }).toArray(), [
        [40, 20, 60],
      ])
      if (dtype.startsWith('u')) return
      assert.deepEqual(
        takeAlongAxis(matrix(), tensor([[-1], [-3]], dtype), { axis: -1 }).toArray(),
        [[30], [40]],
      )
    })
  }

  it('broadcasts either side but for the axis', () => {
    assert.deepEqual(takeAlongAxis(matrix(), tensor([[2, 1]], 'int32')).toArray(), [
      [30, 20],
      [60, 50],
    ])
    assert.deepEqual(
      takeAlongAxis(tensor([[1, 2, 3]]), tensor([[0], [2], [1]], 'int32')).toArray(),
      [[1], [3], [2]],
    )
    assert.deepEqual(takeAlongAxis(zeros([2, 1, 4]), zeros([1, 3, 5], 'int32')).shape, [2, 3, 5])
  })

  it('reads any layout where it is: reversed, transposed, repeated, of the caller', () => {
    const indices = fromBlob(Int32Array.of(9, 1, 9, 0), [2, 2]).slice(':', '1:') // [[1], [0]]
    assert.deepEqual(takeAlongAxis(matrix().flip(), indices).toArray(), [[50], [30]])
    assert.deepEqual(takeAlongAxis(matrix().T.narrow(0, 1, 2), indices).toArray(), [[50], [30]])
    assert.deepEqual(takeAlongAxis(tensor([7, 8]).expand(2, 2), indices).toArray(), [[8], [7]])
    assert.deepEqual(
      takeAlongAxis(fromBlob(Float64Array.of(1, 2, 3, 4), [2, 2]).T, indices).toArray(),
      [[3], [2]],
    )
    assert.deepEqual(takeAlongAxis(matrix(), tensor([1], 'int32').expand(2, 2)).toArray(), [
      [20, 20],
      [50, 50],
    ])
  })

  it('takes complex numbers and bools, and the bits of NaNs', () => {
    const indices = tensor([1, 0], 'int32')
    assert.deepEqual(
      takeAlongAxis(
        tensor(
          [
            [1, 2],
            [3, 4],
          ],
          'complex128',
        ),
        indices,
      ).toArray(),
      [
        [3, 4],
        [1, 2],
      ],
    )
    assert.deepEqual(takeAlongAxis(tensor([true, false]), indices).toArray(), [false, true])
    const bits = Uint32Array.of(0x7fc01234, 0xffc00001)
    assert.deepEqual(
      [...takeAlongAxis(fromBlob(bits).view('float32'), indices).view('uint32').data],
      [0xffc00001, 0x7fc01234],
    )
  })

  it('is one counted copy; what else it needs is counted as staged', () => {
    const t = matrix()
    const indices = tensor([[0], [1]], 'int64')
    const before = memory().staged.bytes
    const { result, copies } = copied(() => takeAlongAxis(t, indices))
    assert.deepEqual(copies, { takeAlongAxis: { count: 1, bytes: 4 } })
    assert.ok(memory().staged.bytes >= before + 16)
    assert.ok(result.isContiguous() && !result.isView)
  })

  it('of no indices has no elements, also of a tensor without elements', () => {
    assert.deepEqual(takeAlongAxis(matrix(), zeros([2, 0], 'int32')).shape, [2, 0])
    assert.deepEqual(takeAlongAxis(zeros([2, 0]), zeros([2, 0], 'int32')).shape, [2, 0])
    assert.deepEqual(takeAlongAxis(zeros([0, 3]), zeros([1, 2], 'int32')).shape, [0, 2])
    fails(
      () => takeAlongAxis(zeros([2, 0]), zeros([2, 1], 'int32')),
      RangeError,
      'ERR_BOUNDS',
      /indices has 0; axis 1 has 0 elements/,
    )
  })

  it("writes into out of the tensor's own bytes, between its elements, and over the indices", () => {
    const base = arange(8, 'int32').reshape(4, 2)
    const even = base.slice('::2')
    takeAlongAxis(
      even,
      tensor(
        [
          [1, 0],
          [0, 0],
        ],
        'int32',
      ),
      { out: base.slice('1::2') },
    )
    assert.deepEqual(base.toArray(), [
      [0, 1],
      [1, 0],
      [4, 5],
      [4, 4],
    ])
    const rows = arange(6, 'int32').reshape(3, 2)
    takeAlongAxis(rows.slice('::2'), tensor([[1, 0]], 'int32'), {
      axis: 0,
      out: rows.narrow(0, 1, 1),
    })
    assert.deepEqual(rows.toArray(), [
      [0, 1],
      [4, 1],
      [4, 5],
    ])
    const line = arange(4, 'int32')
    takeAlongAxis(line.slice('::2'), tensor([1, 0], 'int32'), { out: line.narrow(0, 1, 2) })
    assert.deepEqual(line.toArray(), [0, 2, 0, 3])
    const indices = tensor([1, 0, -1], 'int32')
    takeAlongAxis(tensor([5, 6, 7], 'int32'), indices, { out: indices })
    assert.deepEqual(indices.toArray(), [6, 5, 7])
  })

  for (const dtype of INTEGERS) {
    it(`refuses ${dtype} indices outside before anything is written`, () => {
      const isSigned = !dtype.startsWith('u')
      const most = dtype.endsWith('64')
        ? isSigned
          ? 2n ** 63n - 1n
          : 2n ** 64n - 1n
        : 2 ** (parseInt(dtype.replace(/\D+/, '')) - (isSigned ? 1 : 0)) - 1
      const t = matrix().narrow(0, 0, 1)
      const out = zeros([1, 3], 'int16').fill(-1)
      for (const wrong of [
        3,
        most,
        ...(isSigned ? [-4, typeof most === 'bigint' ? -most - 1n : -most - 1] : []),
      ]) {
        const indices = tensor(
          [[0, 1, wrong]].map((row) => (typeof wrong === 'bigint' ? row.map(BigInt) : row)),
          dtype,
        )
        refusedUnchanged(out, () => takeAlongAxis(t, indices, { out }), 'ERR_BOUNDS')
        leavesNothing(() =>
          fails(
            () => takeAlongAxis(t, indices),
            RangeError,
            'ERR_BOUNDS',
            /indices has .*; axis 1 has 3 elements/,
          ),
        )
      }
    })
  }

  it('refuses other dtypes, numbers of axes, shapes, axes and objects', () => {
    const t = matrix()
    const one = zeros([2, 1], 'int32')
    for (const dtype of ['float32', 'bool', 'complex64']) {
      fails(
        () => takeAlongAxis(t, zeros([2, 1], dtype)),
        TypeError,
        'ERR_DTYPE',
        new RegExp(`indices is ${dtype}`),
      )
    }
    fails(
      () => takeAlongAxis(t, zeros([2], 'int32')),
      RangeError,
      'ERR_SHAPE',
      /indices has 1 axes; the tensor has 2/,
    )
    fails(
      () => takeAlongAxis(t, zeros([3, 1], 'int32')),
      RangeError,
      'ERR_SHAPE',
      /do not broadcast: axis -2 has 2 and 3/,
    )
    fails(() => takeAlongAxis(t, one, { axis: 2 }), RangeError, 'ERR_BOUNDS', /axis is 2/)
    fails(
      () => takeAlongAxis(tensor(1), tensor(0, 'int32')),
      RangeError,
      'ERR_BOUNDS',
      /axis is -1/,
    )
    fails(() => takeAlongAxis(t, [[0], [0]]), TypeError, 'ERR_ARGUMENT', /indices is an array/)
    for (const axis of [null, '0', 1n, [0]]) {
      refusedUnchanged(t, () => takeAlongAxis(t, one, { axis }), 'ERR_ARGUMENT')
    }
    const out = zeros([2, 1], 'int8')
    refusedUnchanged(out, () => takeAlongAxis(t, one, { out, casting: 'safe' }), 'ERR_CAST')
    assert.deepEqual(describeTensor(t).values, [
      [10, 20, 30],
      [40, 50, 60],
    ])
  })

  it("of a tensor that an option's getter disposes is ERR_DISPOSED", () => {
    const t = matrix()
    const indices = zeros([2, 1], 'int32')
    fails(
      () =>
        takeAlongAxis(t, indices, {
          get axis() {
            indices.dispose()
            return 0
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
    fails(
      () =>
        takeAlongAxis(t, zeros([2, 1], 'int32'), {
          get out() {
            t.dispose()
            return undefined
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })

  it('of more indices than memory has room for is ERR_MEMORY', () => {
    fails(
      () => takeAlongAxis(zeros([1], 'uint8'), zeros([1], 'int8').expand(2 ** 45)),
      RangeError,
      'ERR_MEMORY',
    )
  })
})

describe('takeAlongAxis beyond 2^32 elements', () => {
  nativeOnly() // WASM's memory has no room
  needsMemory(5) // most of it is never touched

  it('finds the last ones', () => {
    const t = zeros([2, 2 ** 31 + 8], 'uint8')
    t.set(7, 1, -1)
    t.set(5, 0, -1)
    assert.deepEqual(
      takeAlongAxis(
        t,
        tensor(
          [
            [0, -1],
            [0, -1],
          ],
          'int32',
        ),
      ).toArray(),
      [
        [0, 5],
        [0, 7],
      ],
    )
    t.dispose()
  })
})
