'use strict'
const assert = require('node:assert/strict')
const { empty, fromBlob, fromBytes, memory, sharesMemory, tensor, zeros } = require('samebytes')
const { ALL_SHARED, isWasm } = require('../setup')

/** Temporary copies that fn made, as [count, bytes]. */
function staged(fn) {
  const before = memory().staged
  fn()
  const after = memory().staged
  return [after.count - before.count, after.bytes - before.bytes]
}

/** [count, bytes] on native and in WASM, where the caller's bytes are staged */
const expect = isWasm ? 1 : 0 // and in a third place on wasm-shared, where that differs
const floats = () => new Float32Array([1, 2, 3, 4, 5, 6])

const CASES = [
  [
    'making, reading and writing float32',
    () => {
      const t = tensor([1, 2]) // the packed values are staged in WASM, before this is measured
      return () => [
        t.get(0),
        t.set(1, 0),
        t.fill(2),
        t.zero(),
        t.toArray(),
        String(t),
        t.data,
        empty([3]),
        zeros([3]),
        t.clone(),
        t.slice('1:'),
      ]
    },
    [0, 0],
    [0, 0],
  ],
  [
    "views over the caller's float32",
    () => {
      const t = fromBlob(floats())
      return () => [
        t.get(0),
        t.toArray(),
        String(t),
        t.data,
        t.slice('1:'),
        sharesMemory(t, t),
        t.view([2, 3]),
      ]
    },
    [0, 0],
    [0, 0],
  ],

  // Temporaries of setBytes, fromBytes and tensor.
  [
    'setBytes of aligned bytes',
    () => {
      const t = zeros([6])
      return () => t.setBytes(floats())
    },
    [0, 0],
    [0, 0],
  ],
  [
    'setBytes of misaligned bytes',
    () => {
      const t = zeros([2])
      return () => t.setBytes(new Uint8Array(new ArrayBuffer(12), 1, 8))
    },
    [0, 0],
    [0, 0],
  ],
  [
    'setBytes of misaligned bytes, transposed',
    () => {
      const t = zeros([2, 2]).T
      return () => t.setBytes(new Uint8Array(new ArrayBuffer(20), 1, 16))
    },
    [1, 16],
    [2, 32],
  ],
  [
    'fromBytes of aligned bytes',
    () => () => fromBytes(new Uint8Array(new ArrayBuffer(16), 8, 8), [2], 'float32'),
    [0, 0],
    [0, 0],
  ],
  [
    'fromBytes of misaligned bytes',
    () => () => fromBytes(new Uint8Array(new ArrayBuffer(20), 4, 16), [2], 'float64'),
    [0, 0],
    [0, 0],
  ],
  [
    'tensor of a matrix with another shape',
    () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ])
      return () => tensor(t, [3, 2])
    },
    [0, 0],
    [0, 0],
  ],
  [
    'tensor of a transposed matrix with another shape',
    () => {
      const t = tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).T
      return () => assert.deepEqual(tensor(t, [6]).toArray(), [1, 4, 2, 5, 3, 6])
    },
    [1, 24],
    [1, 24],
  ],
  [
    'tensor of a transposed float64 matrix with another shape, as float32',
    () => {
      const t = tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        'float64',
      ).T
      return () => tensor(t, [2, 3], 'float32')
    },
    [1, 48],
    [1, 48],
  ],
  [
    "tensor of the caller's transposed float32 with another shape",
    () => {
      const t = fromBlob(floats(), [2, 3]).T
      return () => tensor(t, [6])
    },
    [1, 24],
    [2, 48],
  ],

  // Overlap.
  [
    'copyFrom of the same float32 elements, shifted',
    () => {
      const t = tensor([1, 2, 3, 4])
      return () => t.slice('1:').copyFrom(t.slice(':-1'))
    },
    null,
    null,
  ],
  [
    'copyFrom of the transposed square itself',
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      return () =>
        assert.deepEqual(t.copyFrom(t.T).toArray(), [
          [1, 3],
          [2, 4],
        ])
    },
    [1, 16],
    [1, 16],
  ],

  // The caller's operands.
  [
    "fill of the caller's float32",
    () => {
      const t = fromBlob(floats())
      return () => t.fill(1)
    },
    [0, 0],
    [1, 24],
  ],
  [
    "fill of every other one of the caller's float32",
    () => {
      const t = fromBlob(floats()).slice('::2')
      return () => t.fill(1)
    },
    [0, 0],
    [1, 20],
  ],
  [
    "set of one of the caller's float32",
    () => {
      const t = fromBlob(floats())
      return () => t.set(1, 2)
    },
    [0, 0],
    [0, 0],
  ],
  [
    "set of one of the caller's float64",
    () => {
      const t = fromBlob(new Float64Array(2))
      return () => t.set(1, 1)
    },
    [0, 0],
    [0, 0],
  ],
  [
    "copyFrom between the caller's float32 and int32",
    () => {
      const [a, b] = [fromBlob(floats()), fromBlob(new Int32Array(6))]
      return () => b.copyFrom(a, { casting: 'unsafe' })
    },
    [0, 0],
    [2, 48],
  ],
  [
    "copyFrom of a broadcast row of the caller's",
    () => {
      const [a, b] = [zeros([4, 6]), fromBlob(floats())]
      return () => a.copyFrom(b)
    },
    [0, 0],
    [1, 24],
  ],
  [
    'copyFrom of a Float32Array',
    () => {
      const t = zeros([6])
      return () => t.copyFrom(floats())
    },
    [0, 0],
    [0, 0],
  ],
  [
    'copyFrom with a list as scale: float64 factors',
    () => {
      const t = zeros([2, 3])
      return () => t.copyFrom(t.clone(), { scale: [1, 2, 3], axis: 1 })
    },
    [0, 0],
    [0, 0],
  ],
  [
    'copyFrom with a list of 300 as scale: float64 factors',
    () => {
      const t = zeros([2, 300])
      const scale = new Array(300).fill(1)
      return () => t.copyFrom(t.clone(), { scale, axis: 1 })
    },
    [0, 0],
    [2, 2408],
  ],
  [
    "clone and astype of the caller's float32",
    () => {
      const t = fromBlob(floats())
      return () => [t.clone(), t.astype('float64'), t.slice('::-1').contiguous()]
    },
    [0, 0],
    [2, 48],
  ],
  ['tensor of a Float32Array', () => () => tensor(floats()), [0, 0], [0, 0]],
  [
    'fill of shared float32',
    () => {
      const t = empty([6], { shared: true })
      return () => t.fill(1)
    },
    [0, 0],
    [1, 24],
    [0, 0],
  ],
  [
    'fill without elements',
    () => {
      const t = fromBlob(new Float32Array(0))
      return () => t.fill(1)
    },
    [0, 0],
    [0, 0],
  ],
  [
    'get and toArray of native float32 that nobody viewed',
    () => {
      const t = empty([6], { shared: true }).fill(2)
      return () => [t.get(0), t.toArray()]
    },
    [2, 28],
    [0, 0],
  ],
]

for (const dtype of ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float16']) {
  const itemsize = dtype.startsWith('float8') ? 1 : 2
  const own = () =>
    tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { dtype },
    )
  const blob = () => fromBlob(new Uint8Array(6 * itemsize), [2, 3], { dtype })
  CASES.push(
    [
      `toArray of ${dtype}`,
      () => {
        const t = own()
        return () => t.toArray()
      },
      [0, 0],
      [0, 0],
    ],
    [
      `toString of ${dtype}`,
      () => {
        const t = own()
        return () => String(t)
      },
      [0, 0],
      [0, 0],
    ],
    [
      `toArray of a ${dtype} column`,
      () => {
        const t = own().slice(':', 1)
        return () => t.toArray()
      },
      [0, 0],
      [0, 0],
    ],
    [
      `get of ${dtype}`,
      () => {
        const t = own()
        return () => [t.get(1, 2), t.get(0, 0)]
      },
      [0, 0],
      [0, 0],
    ],
    [
      `toArray of the caller's ${dtype}`,
      () => {
        const t = blob()
        return () => t.toArray()
      },
      [0, 0],
      [0, 0],
    ],
    [
      `get of the caller's ${dtype}`,
      () => {
        const t = blob()
        return () => t.get(1, 1)
      },
      [0, 0],
      [0, 0],
    ],
  )
}

describe('memory().staged counts', () => {
  for (const [name, prepare, native, wasm, allShared = wasm] of CASES) {
    const wanted = [native, ALL_SHARED ? allShared : wasm][expect]
    if (wanted === null) continue
    it(`${name}: ${wanted[0]} of ${wanted[1]} bytes`, () => {
      assert.deepEqual(staged(prepare()), wanted)
    })
  }

  it('counts what an overlapping copy stages while memory grows', () => {
    const n = 24e6
    const t = zeros([n], 'uint8')
    const before = memory().staged.bytes
    t.slice('1:').copyFrom(t.slice(`:${n - 1}`))
    assert.equal(memory().staged.bytes - before, n - 1)
    t.dispose()
  })
})
