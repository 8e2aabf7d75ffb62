'use strict'
const assert = require('node:assert/strict')
const { dtypes, fromBytes, memory, tensor, zeros } = require('samebytes')
const { copied, fails, hex, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

const matrix = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])

/** Every one must be refused, and leave no tensor and no storage behind. */
function refusesAll(fns, ...codes) {
  const { tensors, storages } = memory()
  for (const fn of fns) refuses(fn, ...codes)
  const after = memory() // fewer where some were collected
  assert.ok(after.tensors <= tensors && after.storages <= storages)
}

describe('tile', () => {
  it('repeats a float32 matrix along the axes that are named, the last first', () => {
    assert.deepEqual(
      tensor([
        [1, 2],
        [3, 4],
      ])
        .tile(2)
        .toArray(),
      [
        [1, 2, 1, 2],
        [3, 4, 3, 4],
      ],
    )
    assert.deepEqual(
      tensor([[1], [2]])
        .tile([2, 3])
        .toArray(),
      [
        [1, 1, 1],
        [2, 2, 2],
        [1, 1, 1],
        [2, 2, 2],
      ],
    )
    assert.deepEqual(tensor([1, 2]).tile([2, 1, 2]).toArray(), [[[1, 2, 1, 2]], [[1, 2, 1, 2]]])
    assert.deepEqual(tensor(7).tile(3).toArray(), [7, 7, 7])
    assert.deepEqual(tensor(7).tile([]).toArray(), 7)
    assert.deepEqual(matrix().T.tile([1, 2]).toArray(), [
      [1, 4, 1, 4],
      [2, 5, 2, 5],
      [3, 6, 3, 6],
    ])
  })

  it('gives a copy of its own also where nothing is repeated', () => {
    const t = matrix()
    const { result, copies } = copied(() => t.tile(1))
    assert.deepEqual(copies, { tile: { count: 1, bytes: 24 } })
    result.set(9, 0, 0)
    assert.equal(t.get(0, 0), 1)
  })

  it('gives float32 without elements for 0, and of none', () => {
    assert.deepEqual(matrix().tile([0, 2]).shape, [0, 6])
    assert.deepEqual(zeros([0, 2]).tile(3).shape, [0, 6])
  })

  it('has up to 64 axes', () => {
    const shape = new Array(64).fill(1)
    shape[5] = 2
    assert.deepEqual(zeros([2]).tile(shape).shape, [...shape.slice(0, 63), 2])
    refuses(() => zeros([2]).tile([...shape, 1]), 'ERR_SHAPE')
  })

  it('refuses other numbers, and what no memory holds', () => {
    const t = matrix()
    fails(() => t.tile(-1), RangeError, 'ERR_SHAPE', /reps has -1/)
    refusesAll(
      [
        () => t.tile(2 ** 50),
        () => t.tile([2 ** 40, 2 ** 40]),
        () => t.tile(Number.MAX_SAFE_INTEGER),
        () => t.tile([2 ** 30, 2 ** 12]),
      ],
      'ERR_SHAPE',
      'ERR_MEMORY',
    )
    refusesAll(
      [
        () => t.tile(),
        () => t.tile('2'),
        () => t.tile(1.5),
        () => t.tile([1, NaN]),
        () => t.tile({}),
        () => t.tile(2n),
        () => t.tile(2, 7),
      ],
      'ERR_ARGUMENT',
      'ERR_BOUNDS',
    )
  })
})

describe('repeat', () => {
  it('repeats elements of float32, not the whole', () => {
    assert.deepEqual(tensor([1, 2]).repeat(2).toArray(), [1, 1, 2, 2])
    assert.deepEqual(
      tensor([
        [1, 2],
        [3, 4],
      ])
        .repeat(2)
        .toArray(),
      [1, 1, 2, 2, 3, 3, 4, 4],
    )
    assert.deepEqual(
      tensor([
        [1, 2],
        [3, 4],
      ])
        .T.repeat(2)
        .toArray(),
      [1, 1, 3, 3, 2, 2, 4, 4],
    )
    assert.deepEqual(matrix().repeat(2, { axis: 0 }).toArray(), [
      [1, 2, 3],
      [1, 2, 3],
      [4, 5, 6],
      [4, 5, 6],
    ])
    assert.deepEqual(matrix().repeat(2, { axis: -1 }).toArray(), [
      [1, 1, 2, 2, 3, 3],
      [4, 4, 5, 5, 6, 6],
    ])
    assert.deepEqual(tensor(5).repeat(3).toArray(), [5, 5, 5])
  })

  for (const repeats of [
    [2, 0, 1],
    Int8Array.of(2, 0, 1),
    BigUint64Array.of(2n, 0n, 1n),
    new Set([2, 0, 1]),
    [2n, 0, 1],
  ]) {
    it(`takes one number for each index of the axis: ${repeats.constructor.name} of ${typeof [...repeats][0]}`, () => {
      assert.deepEqual(matrix().repeat(repeats, { axis: 1 }).toArray(), [
        [1, 1, 3],
        [4, 4, 6],
      ])
    })
  }

  it('takes them from an integer tensor, and one for all', () => {
    assert.deepEqual(
      matrix()
        .repeat(tensor([9, 2, 0, 1], 'int64').slice('1:'), { axis: 1 })
        .toArray(),
      [
        [1, 1, 3],
        [4, 4, 6],
      ],
    )
    assert.deepEqual(tensor([1, 2]).repeat(tensor(2, 'int32')).toArray(), [1, 1, 2, 2])
    assert.deepEqual(tensor([1, 2]).repeat([2]).toArray(), [1, 1, 2, 2])
    assert.deepEqual(matrix().repeat([1, 0, 0, 0, 0, 2]).toArray(), [1, 6, 6])
  })

  it('takes more elements of one of 64 axes than a process can list, where there is room for the result', () => {
    const shape = new Array(64).fill(1)
    const wide = zeros(shape).expand(2 ** 33, ...shape.slice(1))
    assert.deepEqual(wide.repeat(0, { axis: 0 }).shape, [0, ...shape.slice(1)])
    fails(() => wide.repeat(1, { axis: 0 }), RangeError, 'ERR_MEMORY', /34359738368 bytes/)
  })

  it('works on 64 axes', () => {
    const shape = new Array(64).fill(1)
    shape[63] = 2
    assert.deepEqual(
      tensor([1, 2], shape).repeat(2, { axis: 63 }).reshape(-1).toArray(),
      [1, 1, 2, 2],
    )
  })

  it('refuses other counts, dtypes and axes', () => {
    const t = matrix()
    fails(
      () => t.repeat([1, 2], { axis: 1 }),
      RangeError,
      'ERR_SHAPE',
      /repeats has 2 entries; axis 1 has 3/,
    )
    fails(() => t.repeat([1, -2, 1], { axis: 1 }), RangeError, 'ERR_SHAPE', /repeats has -2/)
    fails(() => t.repeat(2, { axis: 2 }), RangeError, 'ERR_BOUNDS')
    const [floats, square, flag] = [tensor([1, 1, 1]), zeros([1, 1], 'int32'), tensor([true])]
    refusesAll([() => t.repeat(floats, { axis: 1 }), () => t.repeat(flag)], 'ERR_DTYPE')
    refusesAll(
      [
        () => t.repeat(square),
        () => t.repeat([2 ** 40, 1, 1], { axis: 1 }),
        () => t.repeat(2 ** 52),
        () => t.repeat([2 ** 53 - 1, 2 ** 53 - 1, 0], { axis: 1 }),
      ],
      'ERR_SHAPE',
      'ERR_MEMORY',
    )
    refusesAll(
      [
        () => t.repeat(),
        () => t.repeat('2'),
        () => t.repeat(0.5),
        () => t.repeat([0.5]),
        () => t.repeat(2, { axis: '1' }),
        () => t.repeat({ length: 1, 0: 1 }),
      ],
      'ERR_ARGUMENT',
      'ERR_BOUNDS',
    )
  })
})

describe('roll', () => {
  it('moves float32 along an axis, round the ends', () => {
    assert.deepEqual(tensor([1, 2, 3, 4]).roll(1).toArray(), [4, 1, 2, 3])
    assert.deepEqual(tensor([1, 2, 3, 4]).roll(-1).toArray(), [2, 3, 4, 1])
    assert.deepEqual(tensor([1, 2, 3, 4]).roll(9).toArray(), [4, 1, 2, 3])
    assert.deepEqual(tensor([1, 2, 3, 4]).roll(Number.MIN_SAFE_INTEGER).toArray(), [4, 1, 2, 3])
    assert.deepEqual(matrix().roll(1, 1).toArray(), [
      [3, 1, 2],
      [6, 4, 5],
    ])
    assert.deepEqual(matrix().roll(1, 0).toArray(), [
      [4, 5, 6],
      [1, 2, 3],
    ])
    assert.deepEqual(matrix().roll(1, -1, { dtype: 'float64' }).dtype, 'float64')
  })

  it('moves all along one axis where none is named, and keeps the shape', () => {
    assert.deepEqual(matrix().roll(2).toArray(), [
      [5, 6, 1],
      [2, 3, 4],
    ])
    assert.deepEqual(matrix().T.roll(1).toArray(), [
      [6, 1],
      [4, 2],
      [5, 3],
    ])
    assert.deepEqual(matrix().roll([1, 1]).toArray(), [
      [5, 6, 1],
      [2, 3, 4],
    ])
    assert.deepEqual(tensor(3).roll(1).toArray(), 3)
    assert.deepEqual(zeros([0, 2]).roll(1).shape, [0, 2])
    assert.deepEqual(zeros([0, 2]).roll(3, 0).shape, [0, 2])
  })

  it('moves along several axes, one of them twice', () => {
    assert.deepEqual(matrix().roll([1, 1], [0, 1]).toArray(), [
      [6, 4, 5],
      [3, 1, 2],
    ])
    assert.deepEqual(matrix().roll(1, [0, 1]).toArray(), [
      [6, 4, 5],
      [3, 1, 2],
    ])
    assert.deepEqual(matrix().roll([1, 1], [1, -1]).toArray(), [
      [2, 3, 1],
      [5, 6, 4],
    ])
    assert.deepEqual(matrix().roll([1, 1], 1).toArray(), [
      [2, 3, 1],
      [5, 6, 4],
    ])
  })

  for (const { dtype, bytes } of SAMPLES) {
    it(`keeps the bits of ${dtype}`, () => {
      const t = fromBytes(Buffer.from(bytes, 'hex'), [6], { dtype })
      assert.equal(hex(t.roll(2).roll(-2)), bytes)
      assert.equal(hex(t.take([0, 1, 2, 3, -2, -1])), bytes)
      assert.equal(hex(t.tile(2).slice('6:')), bytes)
      assert.equal(hex(t.repeat(3).slice('1::3')), bytes)
    })
  }

  it('refuses other shifts and axes', () => {
    const t = matrix()
    fails(() => t.roll(1, 2), RangeError, 'ERR_BOUNDS', /axis is 2/)
    fails(() => t.roll([1, 2, 3], [0, 1]), RangeError, 'ERR_SHAPE', /3 shifts and 2 axes/)
    refusesAll(
      [
        () => t.roll(),
        () => t.roll('1'),
        () => t.roll(0.5),
        () => t.roll(1n),
        () => t.roll(1, '0'),
        () => t.roll(1, 0.5),
        () => t.roll(1, 0, 3),
      ],
      'ERR_ARGUMENT',
      'ERR_BOUNDS',
      'ERR_DTYPE',
    )
  })
})

describe('take', () => {
  const indices = [2, 0, -1, -3, 1, 1]
  const expected = [
    [3, 1, 3, 1, 2, 2],
    [6, 4, 6, 4, 5, 5],
  ]

  it('picks columns and rows of float32 in the order of the indices', () => {
    assert.deepEqual(matrix().take(indices, 1).toArray(), expected)
    assert.deepEqual(matrix().take([1, 0, 1], 0).toArray(), [
      [4, 5, 6],
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(matrix().T.take(indices, 0).T.toArray(), expected)
    assert.deepEqual(matrix().take([5, 0]).toArray(), [6, 1])
    assert.deepEqual(matrix().T.take([5, 1]).toArray(), [6, 4])
    assert.deepEqual(tensor(5).take([0, 0]).toArray(), [5, 5])
    assert.deepEqual(matrix().take([], 1).shape, [2, 0])
    assert.deepEqual(zeros([0, 3]).take([1, 1], 1).shape, [0, 2])
  })

  for (const dtype of ['int8', 'int16', 'int32', 'int64']) {
    it(`takes indices from ${dtype} tensors and arrays, in steps`, () => {
      const list = tensor(
        indices.flatMap((i) => [i, 0]),
        dtype,
      )
      assert.deepEqual(matrix().take(list.slice('::2'), 1).toArray(), expected)
      assert.deepEqual(
        matrix().take(list.slice('::2').contiguous().data.slice(), 1).toArray(),
        expected,
      )
      assert.deepEqual(
        matrix().take(list.slice('::2').flip(), -1).toArray(),
        expected.map((row) => row.toReversed()),
      )
    })
  }

  for (const dtype of ['uint8', 'uint16', 'uint32', 'uint64']) {
    it(`takes indices from ${dtype} tensors`, () => {
      assert.deepEqual(
        matrix()
          .take(tensor([2, 0], dtype), 1)
          .toArray(),
        [
          [3, 1],
          [6, 4],
        ],
      )
      const largest = { uint8: 255, uint16: 65535, uint32: 2 ** 32 - 1, uint64: 2n ** 64n - 1n }[
        dtype
      ]
      fails(
        () => matrix().take(tensor([0, largest], dtype), 1),
        RangeError,
        'ERR_BOUNDS',
        new RegExp(`indices\\[1\\] is ${largest}`),
      )
    })
  }

  it('takes iterables and bigints', () => {
    assert.deepEqual(
      matrix()
        .take(new Set([2, 0]), 1)
        .toArray(),
      [
        [3, 1],
        [6, 4],
      ],
    )
    assert.deepEqual(matrix().take([2n, 0], 1).toArray(), [
      [3, 1],
      [6, 4],
    ])
  })

  it('moves rows of any length, and of any item size', () => {
    for (const dtype of dtypes.filter((name) => !name.startsWith('float8'))) {
      const from = dtype.startsWith('complex') || dtype === 'bool' ? 'uint8' : dtype
      const rows = tensor(
        Array.from({ length: 300 }, (_, i) => i % 100),
        [3, 100],
        from,
      ).astype(dtype, { casting: 'unsafe' })
      const values = rows.toArray()
      assert.deepEqual(rows.take([2, 1, 2], 0).toArray(), [values[2], values[1], values[2]])
      assert.deepEqual(
        rows.take([99, 7], 1).toArray(),
        values.map((row) => [row[99], row[7]]),
      )
    }
  })

  it('handles more indices than fit one piece', () => {
    const many = Array.from({ length: 1000 }, (_, i) => ((i * 7) % 600) - 300)
    const t = tensor(new Int32Array(300).map((_, i) => i))
    assert.deepEqual(
      t.take(many).toArray(),
      many.map((i) => (i < 0 ? i + 300 : i)),
    )
    fails(
      () => t.take([...many, 300]),
      RangeError,
      'ERR_BOUNDS',
      /indices\[1000\] is 300; axis 0 has 300/,
    )
  })

  it('refuses what is outside, also where there is nothing to take it from', () => {
    fails(
      () => matrix().take([0, 3], 1),
      RangeError,
      'ERR_BOUNDS',
      /indices\[1\] is 3; axis 1 has 3 elements/,
    )
    fails(() => matrix().take([-4], 1), RangeError, 'ERR_BOUNDS', /indices\[0\] is -4/)
    fails(() => zeros([0]).take([0]), RangeError, 'ERR_BOUNDS')
    fails(() => zeros([0, 3]).take([3], 1), RangeError, 'ERR_BOUNDS')
    fails(() => matrix().take([2 ** 53 - 1], 1), RangeError, 'ERR_BOUNDS')
    fails(() => matrix().take([0], 2), RangeError, 'ERR_BOUNDS', /axis is 2/)
  })

  it('refuses indices that are no integers along one axis', () => {
    const t = matrix()
    const [floats, flags, table] = [tensor([1]), tensor([true]), zeros([1, 1], 'int32')]
    refusesAll(
      [() => t.take(floats, 1), () => t.take(flags, 1), () => t.take(Float32Array.of(1), 1)],
      'ERR_DTYPE',
    )
    refusesAll([() => t.take(table, 1)], 'ERR_SHAPE')
    refusesAll(
      [
        () => t.take(1, 1),
        () => t.take('0', 1),
        () => t.take([0.5], 1),
        () => t.take([[0]], 1),
        () => t.take([true], 1),
        () => t.take(null, 1),
        () => t.take(),
      ],
      'ERR_ARGUMENT',
      'ERR_BOUNDS',
    )
    const gone = Int32Array.of(1)
    structuredClone(gone, { transfer: [gone.buffer] })
    refuses(() => t.take(gone, 1), 'ERR_DETACHED')
    const list = new Proxy([0], {
      get: (target, key) => (key === 'length' ? 1e300 : Reflect.get(target, key)),
    })
    refuses(() => t.take(list, 1), 'ERR_MEMORY', 'ERR_ARGUMENT')
  })

  it('refuses more indices than memory holds', () => {
    const t = matrix()
    const many = zeros([1], 'uint8').expand(2 ** 45)
    const none = zeros([0, 1])
    refusesAll([() => t.take(many, 1), () => none.take(many, 1)], 'ERR_MEMORY', 'ERR_SHAPE')
  })
})
