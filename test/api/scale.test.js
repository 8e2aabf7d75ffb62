'use strict'
const assert = require('node:assert/strict')
const { fromBlob, full, memory, tensor, zeros } = require('samebytes')
const { copied, fails, hex, refusedUnchanged, refuses } = require('../setup')

describe('copyFrom with scale and bias', () => {
  // Literal: in float32 multiply, round, add, round. A fused multiply-add, or float64, gives another number.
  const rounded = [
    [11, 0.1, 0.3, 1.4000000953674316],
    [13, 0.1, 0.3, 1.6000001430511475],
    [11, 1.7, 0.7, 19.400001525878906],
    [14, 1.7, 0.7, 24.500001907348633],
    [17, 1.7, 0.7, 29.60000228881836],
  ]
  for (const dtype of [
    'uint8',
    'int8',
    'int16',
    'uint16',
    'int32',
    'uint32',
    'float16',
    'bfloat16',
    'float32',
  ]) {
    it(`rounds the product, then the sum, in float32, for ${dtype}`, () => {
      for (const [x, scale, bias, expected] of rounded) {
        const src = tensor(new Array(21).fill(x), { dtype })
        const out = zeros([21]).copyFrom(src, { scale, bias })
        assert.deepEqual(out.toArray(), new Array(21).fill(expected))
      }
    })
  }

  for (const dtype of ['float64', 'int64', 'uint64']) {
    it(`computes in float64 where the source is ${dtype}`, () => {
      const src = tensor([3, 11], { dtype })
      const out = zeros([2], 'float64').copyFrom(src, { scale: 0.1, bias: 0.3 })
      assert.deepEqual(out.toArray(), [0.6000000000000001, 1.4000000000000001])
    })
  }

  it('computes in float64 where the target is float64', () => {
    const out = zeros([1], 'float64').copyFrom(tensor([3], 'uint8'), { scale: 0.1, bias: 0.3 })
    assert.deepEqual(out.toArray(), [0.6000000000000001])
  })

  it('computes in float64 where the target is a 64-bit integer', () => {
    const opts = { scale: 1, bias: 9007199254740990, casting: 'unsafe' }
    assert.deepEqual(
      zeros([1], 'int64')
        .copyFrom(tensor([1]), opts)
        .toArray(),
      [9007199254740991n],
    )
    const down = { ...opts, bias: 16777216 }
    assert.deepEqual(
      zeros([1], 'int32')
        .copyFrom(tensor([1]), down)
        .toArray(),
      [16777216],
    )
    assert.deepEqual(
      zeros([1], 'int64')
        .copyFrom(tensor([1]), down)
        .toArray(),
      [16777217n],
    )
  })

  it('rounds once more into float16 and bfloat16', () => {
    const src = tensor([3], 'uint8')
    assert.deepEqual(
      zeros([1], 'float16').copyFrom(src, { scale: 0.1 }).toArray(),
      [0.300048828125],
    )
    assert.deepEqual(zeros([1], 'bfloat16').copyFrom(src, { scale: 0.1 }).toArray(), [0.30078125])
  })

  it('takes scale alone and bias alone, for float32', () => {
    assert.deepEqual(
      zeros([3])
        .copyFrom(tensor([1, 2, 3]), { scale: 2 })
        .toArray(),
      [2, 4, 6],
    )
    assert.deepEqual(
      zeros([3])
        .copyFrom(tensor([1, 2, 3]), { bias: -1 })
        .toArray(),
      [0, 1, 2],
    )
  })

  it('takes lists of one to 1,000 factors, for uint8 to float32', () => {
    for (const n of [1, 2, 9, 255, 256, 257, 1000]) {
      const index = Array.from({ length: n }, (_, i) => i)
      const out = zeros([2, n]).copyFrom(full([2, n], 3, 'uint8'), {
        scale: index,
        bias: index.map((i) => -i),
        axis: 1,
      })
      assert.deepEqual(out.toArray(), [index.map((i) => 2 * i), index.map((i) => 2 * i)])
    }
    const out = zeros([300]).copyFrom(full([300], 3), {
      scale: 2,
      bias: new Array(300).fill(1),
      axis: 0,
    })
    assert.deepEqual(out.toArray(), new Array(300).fill(7))
  })

  it('keeps its factors while another scaled copy runs in their getters', () => {
    const other = zeros([2])
    const scale = [10, 20]
    const bias = [1, 2]
    Object.defineProperty(bias, 1, {
      get() {
        other.copyFrom([1, 1], { scale: [7, 7], bias: [8, 8], axis: 0 })
        return 2
      },
    })
    assert.deepEqual(zeros([2]).copyFrom([1, 1], { scale, bias, axis: 0 }).toArray(), [11, 22])
    assert.deepEqual(other.toArray(), [15, 15])
  })

  it('takes one factor per index of an axis, for uint8 to float32', () => {
    const src = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'uint8',
    )
    const rows = zeros([2, 3]).copyFrom(src, { scale: [10, 100], bias: [1, 2], axis: 0 })
    assert.deepEqual(rows.toArray(), [
      [11, 21, 31],
      [402, 502, 602],
    ])
    const columns = zeros([2, 3]).copyFrom(src, { scale: [1, 2, 3], axis: -1 })
    assert.deepEqual(columns.toArray(), [
      [1, 4, 9],
      [4, 10, 18],
    ])
    const mixed = zeros([2, 3]).copyFrom(src, { scale: [1, 2, 3], bias: 0.5, axis: 1 })
    assert.deepEqual(mixed.toArray(), [
      [1.5, 4.5, 9.5],
      [4.5, 10.5, 18.5],
    ])
  })

  it('refuses a factor that has more entries than the axis, or than there can be, before it takes memory for them or reads one', () => {
    const t = zeros([2, 3])
    const proxied = (length) =>
      new Proxy([], {
        get: (list, key) => (key === 'length' ? length : assert.fail(`${String(key)} was read`)),
      })
    const staged = memory().staged.bytes
    for (const n of [4, 2 ** 20, 2 ** 40]) {
      for (const factor of [tensor(1).expand([n]), proxied(n)]) {
        fails(
          () => t.copyFrom(1, { scale: factor, axis: 1 }),
          RangeError,
          'ERR_SHAPE',
          new RegExp(`^scale has shape \\[${n}\\]; axis 1 has 3 elements$`),
        )
        fails(
          () => t.copyFrom(1, { bias: factor, axis: -2 }),
          RangeError,
          'ERR_SHAPE',
          new RegExp(`^bias has shape \\[${n}\\]; axis 0 has 2 elements$`),
        )
        fails(
          () => t.copyFrom(1, { bias: factor, axis: 2 }),
          RangeError,
          'ERR_BOUNDS',
          /^axis is 2; there are 2 axes$/,
        )
        fails(() => t.copyFrom(1, { bias: factor, axis: -3 }), RangeError, 'ERR_BOUNDS')
        fails(
          () => t.copyFrom(1, { scale: factor }),
          TypeError,
          'ERR_ARGUMENT',
          /^scale has several entries; axis says/,
        )
      }
    }
    refuses(() => t.copyFrom(1, { scale: proxied('3'), axis: 1 }), 'ERR_SHAPE')
    refuses(() => t.copyFrom(1, { scale: new Float32Array(2 ** 16), axis: 1 }), 'ERR_SHAPE')
    assert.ok(memory().staged.bytes - staged < 4096) // single numbers, on WASM
    const long = zeros([1]).expand([2 ** 40])
    refuses(() => long.copyFrom(1, { scale: tensor(1).expand([2 ** 40]), axis: 0 }), 'ERR_MEMORY')
  })

  it('refuses a factor of another count in copyFromAsync too', async () => {
    const staged = memory().staged.bytes
    await assert.rejects(
      zeros([2]).copyFromAsync([1, 2], { scale: tensor(1).expand([2 ** 20]), axis: 0 }),
      { code: 'ERR_SHAPE' },
    )
    assert.ok(memory().staged.bytes - staged < 4096) // single numbers, on WASM
  })

  it('takes factors from a Float32Array', () => {
    const out = zeros([2, 2]).copyFrom(
      tensor([
        [1, 2],
        [3, 4],
      ]),
      { scale: new Float32Array([2, 3]), axis: 1 },
    )
    assert.deepEqual(out.toArray(), [
      [2, 6],
      [6, 12],
    ])
  })

  for (const dtype of ['float32', 'float16', 'float64', 'uint8', 'int64', 'bool']) {
    it(`takes factors from ${dtype} tensors: without axes for all, with one per index, of any strides`, () => {
      const src = tensor([
        [1, 2],
        [3, 4],
      ])
      const factors = tensor([1, 1, 0, 1], dtype).slice('::2')
      const [one, none] = [1, 0].map((x) => tensor(x, dtype))
      assert.deepEqual(zeros([2, 2]).copyFrom(src, { scale: factors, axis: 1 }).toArray(), [
        [1, 0],
        [3, 0],
      ])
      assert.deepEqual(
        zeros([2, 2]).copyFrom(src, { scale: factors.flip(), bias: factors, axis: 0 }).toArray(),
        [
          [1, 1],
          [3, 4],
        ],
      )
      assert.deepEqual(zeros([2, 2]).copyFrom(src, { scale: one, bias: one }).toArray(), [
        [2, 3],
        [4, 5],
      ])
      assert.deepEqual(zeros([2, 2]).copyFrom(src, { scale: none }).toArray(), [
        [0, 0],
        [0, 0],
      ])
    })
  }

  it('takes factors from tensors in copyFromAsync too, as float64', async () => {
    const out = zeros([2, 2], 'float64')
    await out.copyFromAsync(
      tensor([
        [1, 2],
        [3, 4],
      ]),
      { scale: tensor([0.1, 0.2], 'float64'), bias: tensor(1), axis: 0 },
    )
    assert.deepEqual(out.toArray(), [
      [1.1, 1.2],
      [1.6, 1.8],
    ])
  })

  it('refuses complex64 factors, and such with two axes or without an axis of the target', () => {
    const t = zeros([2, 2])
    refusedUnchanged(
      t,
      () =>
        t.copyFrom(1, {
          scale: tensor(
            [
              [1, 2],
              [3, 4],
            ],
            'complex64',
          ),
          axis: 0,
        }),
      'ERR_CAST',
    )
    refusedUnchanged(
      t,
      () =>
        t.copyFrom(1, {
          bias: tensor([
            [1, 2],
            [3, 4],
          ]),
          axis: 0,
        }),
      'ERR_SHAPE',
    )
    refusedUnchanged(t, () => t.copyFrom(1, { scale: tensor([1, 2]) }), 'ERR_ARGUMENT')
    refusedUnchanged(t, () => t.copyFrom(1, { scale: tensor([1, 2, 3]), axis: 0 }), 'ERR_SHAPE')
  })

  it('turns HWC uint8 pixels into normalised CHW float32', () => {
    const pixels = new Uint8Array([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110])
    const image = fromBlob(pixels, [2, 2, 3])
    const input = zeros([1, 3, 2, 2])
    const { copies } = copied(() =>
      input.copyFrom(image.permute([2, 0, 1]), {
        scale: [0.5, 0.25, 2],
        bias: [-1, 0, 1],
        axis: 1,
      }),
    )
    assert.deepEqual(input.toArray(), [
      [
        [
          [-1, 14],
          [29, 44],
        ],
        [
          [2.5, 10],
          [17.5, 25],
        ],
        [
          [41, 101],
          [161, 221],
        ],
      ],
    ])
    assert.deepEqual(copies, { copyFrom: { count: 1, bytes: 48 } })
  })

  // In float32: float64 holds the product of a float32 and 16 bits, and rounds sums closely enough that fround gives the nearest.
  const scaled = (x, scale, bias) =>
    Math.fround(Math.fround(x * Math.fround(scale)) + Math.fround(bias))
  const same = (actual, expected) => assert.equal(hex(actual), hex(tensor(expected)))
  const FACTORS = [
    [
      [0.1, 1.7, -0.3],
      [0.3, -0.7, 0],
    ],
    [
      [0, -0, 1],
      [-0, -0, 0],
    ],
    [
      [Infinity, 2, 3],
      [0, 1, 2],
    ],
    [
      [1, 3e38, 2],
      [1, -Infinity, NaN],
    ],
    [
      [NaN, 1, -Infinity],
      [0, 0, Infinity],
    ],
    [
      [3e38, -3e38, 1e30],
      [-3e38, 1, 3e38],
    ],
    [
      [1e39, 1, 1],
      [0, -1e39, 1],
    ],
  ] // 1e39: only float64 has it

  const PIXELS = [1, 2, 3, 4, 17, ...Array.from({ length: 16 }, (_, i) => 126 + i), 511, 1000] // few are not split by channels

  for (const [dtype, low] of [
    ['uint8', 0],
    ['int8', -128],
    ['uint16', 0],
    ['int16', -32768],
  ]) {
    const step = /16/.test(dtype) ? 257 : 1
    for (const channels of [2, 3, 4]) {
      it(`turns ${channels} channels of ${dtype} into planes, of any number of pixels, beside guards`, () => {
        for (const n of PIXELS) {
          const values = Array.from(
            { length: n * channels },
            (_, i) => low + ((i * 37 + n) % 256) * step,
          )
          const pixels = tensor([7, ...values], dtype)
            .slice('1:')
            .reshape(n, channels)
          const around = full([channels, n + 2], 5)
          const planes = around.narrow(1, 1, n)
          const expected = (scale, bias) =>
            Array.from({ length: channels }, (_, c) => [
              5,
              ...Array.from({ length: n }, (_, i) =>
                scaled(values[i * channels + c], scale[c % 3], bias[c % 3]),
              ),
              5,
            ]).flat()
          planes.copyFrom(pixels.T)
          same(around, expected([1, 1, 1], [0, 0, 0]))
          for (const [scales, biases] of FACTORS) {
            const [scale, bias] = [scales, biases].map((each) =>
              Array.from({ length: channels }, (_, c) => each[c % 3]),
            )
            planes.copyFrom(pixels.T, { scale, bias, axis: 0 })
            same(around, expected(scale, bias))
          }
        }
      })
    }

    it(`turns crops of a batch of ${dtype} images into planes, with factors per channel`, () => {
      const [count, height, width, channels] = [2, 9, 160, 3]
      const values = Array.from(
        { length: count * height * width * channels },
        (_, i) => low + ((i * 37) % 256) * step,
      )
      const crop = tensor(values, [count, height, width, channels], dtype)
        .slice(':', '2:8', '3:153')
        .permute(0, 3, 1, 2)
      const [scale, bias] = FACTORS[0]
      const expected = []
      for (let n = 0; n < count; n++) {
        for (let c = 0; c < channels; c++) {
          for (let y = 2; y < 8; y++) {
            for (let x = 3; x < 153; x++) {
              expected.push(
                scaled(values[((n * height + y) * width + x) * channels + c], scale[c], bias[c]),
              )
            }
          }
        }
      }
      same(zeros(crop.shape).copyFrom(crop, { scale, bias, axis: 1 }), expected)
    })

    it(`scales ${dtype} side by side, of any length, by one factor, finite or not`, () => {
      for (let n = 0; n <= 40; n++) {
        const values = Array.from({ length: n }, (_, i) => low + ((i * 41 + n) % 256) * step)
        const around = full([n + 2], 5)
        for (const [scales, biases] of FACTORS) {
          for (let k = 0; k < 3; k++) {
            around
              .slice('1:-1')
              .copyFrom(tensor(values, [n], dtype), { scale: scales[k], bias: biases[k] })
            same(around, [5, ...values.map((x) => scaled(x, scales[k], biases[k])), 5])
          }
        }
      }
    })
  }

  it('broadcasts its source, and reads bool as 0 and 1', () => {
    const out = zeros([2, 2]).copyFrom(tensor([true, false]), { scale: 3, bias: 1 })
    assert.deepEqual(out.toArray(), [
      [4, 1],
      [4, 1],
    ])
  })

  it('works in place and over overlapping float32', () => {
    const t = tensor([1, 2, 3, 4])
    t.copyFrom(t, { scale: 2 })
    assert.deepEqual(t.toArray(), [2, 4, 6, 8])
    t.slice('1:').copyFrom(t.slice(':-1'), { scale: 0.5 })
    assert.deepEqual(t.toArray(), [2, 1, 2, 3])
    t.copyFrom(t.slice('::-1'), { bias: 1 })
    assert.deepEqual(t.toArray(), [4, 3, 2, 3])
  })

  it('passes Infinity through and makes the canonical NaN, in float32', () => {
    const t = tensor([Infinity, -Infinity, NaN, 0])
    assert.equal(
      hex(zeros([4]).copyFrom(t, { scale: 0, bias: 1 })),
      '0000c07f0000c07f0000c07f0000803f',
    )
    assert.deepEqual(zeros([4]).copyFrom(t, { scale: -1, bias: 1 }).toArray(), [
      -Infinity,
      Infinity,
      NaN,
      1,
    ])
  })

  it('lets casting judge float to the target', () => {
    const t = tensor([1, 2, 3], 'uint8')
    const src = tensor([1, 2, 3], 'uint8')
    refusedUnchanged(t, () => t.copyFrom(src, { scale: 2 }), 'ERR_CAST')
    assert.deepEqual(t.copyFrom(src, { scale: 1.5, casting: 'unsafe' }).toArray(), [1, 3, 4])
    assert.deepEqual(t.copyFrom(src, { scale: 200, casting: 'unsafe' }).toArray(), [200, 255, 255])
  })

  it('refuses complex dtypes', () => {
    const c = tensor([[1, 2]], [1], 'complex64')
    refusedUnchanged(c, () => c.copyFrom(tensor([1]), { scale: 2 }), 'ERR_DTYPE')
    const f = zeros([1])
    refusedUnchanged(f, () => f.copyFrom(c, { scale: 2, casting: 'unsafe' }), 'ERR_DTYPE')
  })

  it('refuses factors whose count is not the axis, axes outside, and other kinds', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const src = zeros([2, 3])
    refusedUnchanged(t, () => t.copyFrom(src, { scale: [1, 2], axis: 1 }), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom(src, { bias: [1, 2, 3], axis: 0 }), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom(src, { scale: [], axis: 0 }), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom(src, { scale: [1, 2], axis: 2 }), 'ERR_BOUNDS')
    refusedUnchanged(t, () => t.copyFrom(src, { scale: [1, 2], axis: -3 }), 'ERR_BOUNDS')
    for (const scale of ['2', {}, null, ['1', '2'], [[1], [2]], true, () => 2, [undefined, 1]]) {
      refusedUnchanged(t, () => t.copyFrom(src, { scale, axis: 0 }), 'ERR_ARGUMENT', 'ERR_SHAPE')
      refusedUnchanged(
        t,
        () => t.copyFrom(src, { bias: scale, axis: 0 }),
        'ERR_ARGUMENT',
        'ERR_SHAPE',
      )
    }
    for (const axis of ['0', 0.5, NaN, null, {}, 2 ** 53]) {
      refusedUnchanged(
        t,
        () => t.copyFrom(src, { scale: [1, 2], axis }),
        'ERR_ARGUMENT',
        'ERR_BOUNDS',
      )
    }
  })
})
