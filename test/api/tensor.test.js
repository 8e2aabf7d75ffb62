'use strict'
const assert = require('node:assert/strict')
const { asarray, memory, stack, tensor, zeros } = require('samebytes')
const { copied, fails, fromHex, hex, leavesNothing, refuses, settledMemory } = require('../setup')
const { SAMPLES } = require('../tables')

describe('tensor', () => {
  describe('of JavaScript values', () => {
    it('makes a number a float32 of rank 0', () => {
      const t = tensor(2.5)
      assert.equal(t.dtype, 'float32')
      assert.deepEqual([...t.shape], [])
      assert.equal(t.item(), 2.5)
    })

    it('makes a bigint an int64', () => {
      const t = tensor(-5n)
      assert.equal(t.dtype, 'int64')
      assert.equal(t.item(), -5n)
    })

    it('makes a boolean a bool', () => {
      const t = tensor([true, false])
      assert.equal(t.dtype, 'bool')
      assert.deepEqual(t.toArray(), [true, false])
    })

    it('makes numbers float32, not float64: 0.1 rounds', () => {
      assert.equal(tensor(0.1).item(), 0.10000000149011612)
      assert.equal(tensor([16777217]).get(0), 16777216)
    })

    it('makes integer numbers float32 as well', () => {
      assert.equal(tensor([1, 2, 3]).dtype, 'float32')
    })

    it('reads a nest of numbers as float32 [2, 2, 3]', () => {
      const nest = [
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        [
          [7, 8, 9],
          [10, 11, 12],
        ],
      ]
      const t = tensor(nest)
      assert.deepEqual([...t.shape], [2, 2, 3])
      assert.deepEqual(t.toArray(), nest)
    })

    it('reads typed arrays inside a nest as its rows', () => {
      const t = tensor([new Float32Array([1, 2]), new Float32Array([3, 4])])
      assert.equal(t.dtype, 'float32')
      assert.deepEqual(t.toArray(), [
        [1, 2],
        [3, 4],
      ])
    })

    it('reads a Set of numbers as float32', () => {
      assert.deepEqual(tensor(new Set([3, 1, 2])).toArray(), [3, 1, 2])
    })

    it('reads a generator of numbers as int32', () => {
      function* squares() {
        for (let i = 0; i < 4; i++) yield i * i
      }
      const t = tensor(squares(), { dtype: 'int32' })
      assert.deepEqual(t.toArray(), [0, 1, 4, 9])
    })

    it('reads complex pairs as complex64, also nested', () => {
      assert.deepEqual(
        tensor(
          [
            [1, 2],
            [3, -4],
          ],
          { dtype: 'complex64' },
        ).toArray(),
        [
          [1, 2],
          [3, -4],
        ],
      )
      const m = tensor(
        [
          [
            [1, 2],
            [3, 4],
          ],
          [
            [5, 6],
            [7, 8],
          ],
        ],
        'complex128',
      )
      assert.deepEqual([...m.shape], [2, 2])
      assert.deepEqual(m.get(1, 0), [5, 6])
    })

    it('makes empty lists of float32', () => {
      assert.deepEqual([...tensor([]).shape], [0])
      assert.equal(tensor([]).dtype, 'float32')
      const t = tensor([[], []])
      assert.deepEqual([...t.shape], [2, 0])
      assert.deepEqual(t.toArray(), [[], []])
    })

    it('takes a dtype string where the shape or the options would stand', () => {
      assert.equal(tensor([1, 2], 'int16').dtype, 'int16')
      assert.equal(tensor([1, 2], [2, 1], 'uint8').dtype, 'uint8')
    })

    it('lays a flat list of float32 out in the shape given', () => {
      assert.deepEqual(tensor([1, 2, 3, 4, 5, 6], [3, 2]).toArray(), [
        [1, 2],
        [3, 4],
        [5, 6],
      ])
      assert.deepEqual([...tensor([7], []).shape], [])
      assert.deepEqual([...tensor([1, 2], 2).shape], [2])
    })

    for (const { dtype, values, bytes } of SAMPLES) {
      it(`writes ${dtype} values as the bytes that they are`, () => {
        const t = tensor(values, [2, 3], { dtype })
        assert.equal(hex(t), bytes)
        assert.deepEqual(t.toArray(), [values.slice(0, 3), values.slice(3)])
      })
    }
  })

  describe('of values that must fit', () => {
    const unfit = [
      ['float32', 1e39],
      ['float32', -1e39],
      ['float16', 65520],
      ['float16', -65520],
      ['float16', 1e300],
      ['bfloat16', 3.4e38],
      ['float8_e5m2', 61440],
      ['int32', 1.5],
      ['int32', 2147483648],
      ['int32', NaN],
      ['int32', Infinity],
      ['int32', -2147483649],
      ['uint8', 300],
      ['uint8', -1],
      ['uint8', 256n],
      ['int8', 128],
      ['int8', -129],
      ['int16', 32768],
      ['uint16', 65536],
      ['uint32', -1],
      ['uint32', 4294967296],
      ['int64', 0.5],
      ['int64', 9007199254740992],
      ['int64', 9223372036854775808n],
      ['int64', -9223372036854775809n],
      ['uint64', -1n],
      ['uint64', -1],
      ['uint64', 18446744073709551616n],
      ['int64', 10n ** 40n],
      ['complex64', [1e39, 0]],
      ['complex64', [0, -1e39]],
    ]
    for (const [dtype, value] of unfit) {
      const text = typeof value === 'bigint' ? `${value}n` : `${value}`
      it(`refuses ${text} as ${dtype}`, () => {
        fails(() => tensor([value], [1], { dtype }), TypeError, 'ERR_CAST')
      })
    }

    it('names the value with the digits that tell it from the limit: uint8, complex64, float32', () => {
      for (const value of [255.5, 255.0000001, 255.00000000000003, -0.1, 1 / 3]) {
        fails(
          () => tensor([value], 'uint8'),
          TypeError,
          'ERR_CAST',
          new RegExp(`^the value ${value} does not fit uint8$`),
        )
      }
      for (const [value, text] of [
        [1e300, '1e\\+300'],
        [-1e-7, '-1e-07'],
        [1.5e-5, '1\\.5e-05'],
        [0.0001234, '0\\.0001234'],
        [1e15, '1e\\+15'],
        [123456789012340, '123456789012340'],
        [Infinity, 'inf'],
        [NaN, 'nan'],
      ]) {
        fails(
          () => tensor([value], 'uint8'),
          TypeError,
          'ERR_CAST',
          new RegExp(`^the value ${text} does not fit uint8$`),
        )
      }
      // with %g it was 3.40282e+38, which fits
      fails(
        () => tensor([[3.40282357e38, 0.1]], 'complex64'),
        TypeError,
        'ERR_CAST',
        /^the value \[3\.40282357e\+38, 0\.1\] does not fit complex64$/,
      )
    })

    it('refuses 1e39 without a dtype, because numbers are float32', () => {
      fails(() => tensor([1, 1e39]), TypeError, 'ERR_CAST')
    })

    const fit = [
      ['float32', Infinity, Infinity],
      ['float32', NaN, NaN],
      ['float16', 65519, 65504],
      ['float16', 0.1, 0.0999755859375],
      ['bfloat16', 0.1, 0.10009765625],
      ['float32', 1e-60, 0],
      ['int32', -0, 0],
      ['int64', 9007199254740991, 9007199254740991n],
      ['int64', -9223372036854775808n, -9223372036854775808n],
      ['uint64', 18446744073709551615n, 18446744073709551615n],
      ['int8', -128n, -128],
      ['float64', 0.1, 0.1],
      ['float32', -0, -0],
    ]
    for (const [dtype, value, expected] of fit) {
      it(`takes ${typeof value} ${Object.is(value, -0) ? '-0' : value} as ${dtype}`, () => {
        assert.deepEqual(tensor([value], { dtype }).toArray(), [expected])
      })
    }
  })

  describe('of typed arrays', () => {
    const kinds = [
      [new Uint8Array([1, 255]), 'uint8', [1, 255]],
      [new Uint8ClampedArray([1, 255]), 'uint8', [1, 255]],
      [Buffer.from([7, 9]), 'uint8', [7, 9]],
      [new Int8Array([-1, 2]), 'int8', [-1, 2]],
      [new Int16Array([-1, 300]), 'int16', [-1, 300]],
      [new Uint16Array([1, 65535]), 'uint16', [1, 65535]],
      [new Int32Array([-1, 70000]), 'int32', [-1, 70000]],
      [new Uint32Array([1, 4294967295]), 'uint32', [1, 4294967295]],
      [new BigInt64Array([-1n, 2n]), 'int64', [-1n, 2n]],
      [new BigUint64Array([1n, 18446744073709551615n]), 'uint64', [1n, 18446744073709551615n]],
      [new Float32Array([0.5, NaN]), 'float32', [0.5, NaN]],
      [new Float64Array([0.1, -Infinity]), 'float64', [0.1, -Infinity]],
    ]
    for (const [source, dtype, values] of kinds) {
      it(`makes a ${source.constructor.name} ${dtype} and copies it`, () => {
        const t = tensor(source)
        assert.equal(t.dtype, dtype)
        assert.deepEqual(t.toArray(), values)
        const first = source[0]
        source[0] = source[1]
        assert.deepEqual(t.get(0), values[0])
        source[0] = first
      })
    }

    it('gives a Float32Array the shape asked for', () => {
      const t = tensor(new Float32Array([1, 2, 3, 4]), [2, 2])
      assert.deepEqual(t.toArray(), [
        [1, 2],
        [3, 4],
      ])
    })

    it('reads a Float64Array as float32, because narrowing is same_kind', () => {
      assert.equal(
        tensor(new Float64Array([0.1]), { dtype: 'float32' }).get(0),
        0.10000000149011612,
      )
    })

    it('wraps an Int32Array into uint8, because integers are one kind', () => {
      assert.deepEqual(tensor(new Int32Array([256, -1]), { dtype: 'uint8' }).toArray(), [0, 255])
    })

    it('refuses a Float32Array as int32, also without elements', () => {
      fails(() => tensor(new Float32Array([1]), 'int32'), TypeError, 'ERR_CAST', /float32.*int32/)
      fails(() => tensor(new Float32Array(0), 'int32'), TypeError, 'ERR_CAST')
    })

    it('truncates a Float32Array to int32 when told unsafe', () => {
      const t = tensor(new Float32Array([1.9, -1.9, NaN]), { dtype: 'int32', casting: 'unsafe' })
      assert.deepEqual(t.toArray(), [1, -1, 0])
    })

    it('refuses float64 to float32 when told safe', () => {
      const opts = { dtype: 'float32', casting: 'safe' }
      fails(() => tensor(new Float64Array([1]), opts), TypeError, 'ERR_CAST')
    })

    it('reads a Float32Array over a SharedArrayBuffer', () => {
      const source = new Float32Array(new SharedArrayBuffer(8))
      source.set([3, 4])
      assert.deepEqual(tensor(source).toArray(), [3, 4])
    })

    it('reads a float32 subarray from its own first element', () => {
      assert.deepEqual(tensor(new Float32Array([1, 2, 3, 4]).subarray(1, 3)).toArray(), [2, 3])
    })
  })

  describe('of tensors', () => {
    for (const { dtype, values, bytes } of SAMPLES) {
      it(`copies a ${dtype} tensor, bit for bit`, () => {
        const a = tensor(values, [6], { dtype })
        const b = tensor(a)
        assert.equal(b.dtype, dtype)
        assert.equal(hex(b), bytes)
        a.zero()
        assert.equal(hex(b), bytes)
      })
    }

    it('copies a transposed float32 tensor in logical order', () => {
      const t = tensor(
        tensor([
          [1, 2, 3],
          [4, 5, 6],
        ]).T,
      )
      assert.deepEqual(t.toArray(), [
        [1, 4],
        [2, 5],
        [3, 6],
      ])
      assert.ok(t.isContiguous())
    })

    it('gives an int32 tensor another shape', () => {
      const a = tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        'int32',
      )
      assert.deepEqual(tensor(a, [3, 2]).toArray(), [
        [1, 2],
        [3, 4],
        [5, 6],
      ])
    })

    it('casts under same_kind: float64 to float32 yes, float32 to int32 no', () => {
      assert.equal(tensor(tensor([0.1], 'float64'), 'float32').get(0), 0.10000000149011612)
      fails(() => tensor(tensor([1]), 'int32'), TypeError, 'ERR_CAST')
    })
  })

  describe('of lists of tensors', () => {
    for (const { dtype, values, bytes } of SAMPLES) {
      it(`keeps the dtype, as stack does: ${dtype}, with and without axes, bit for bit`, () => {
        const all = tensor(values, [6], dtype)
        const flat = tensor([...all.unbind()].map((t) => tensor(t)))
        assert.equal(flat.dtype, dtype)
        assert.deepEqual(flat.shape, [6])
        assert.equal(hex(flat), bytes)
        const elements = Array.from({ length: 6 }, (_, i) => all.select(0, i)) // views without axes
        assert.equal(hex(tensor([elements.slice(0, 3), elements.slice(3)])), bytes)
        const rows = tensor([all.slice(':2'), all.slice('2:4'), all.slice('4:')])
        assert.deepEqual([rows.dtype, rows.shape], [dtype, [3, 2]])
        assert.equal(hex(rows), bytes)
        assert.equal(hex(tensor(new Set(elements), [3, 2])), bytes)
        assert.equal(hex(asarray(elements)), bytes)
      })
    }

    it('gives them a common dtype, as stack does: int64 and float64, int8 and uint8', () => {
      const mixed = tensor([tensor(1n), tensor(0.5, 'float64')])
      assert.deepEqual([mixed.dtype, mixed.toArray()], ['float64', [1, 0.5]])
      assert.equal(tensor([[tensor([1], 'int8')], [tensor([255], 'uint8')]]).dtype, 'int16')
    })

    it('reads pairs of a complex64 tensor as its values, never as an axis', () => {
      const z = tensor(
        [
          [1, 2],
          [3, 4],
        ],
        'complex64',
      )
      assert.deepEqual(z.shape, [2])
      const two = tensor([z, z])
      assert.deepEqual(
        [two.dtype, two.shape, two.toArray()],
        [
          'complex64',
          [2, 2],
          [
            [
              [1, 2],
              [3, 4],
            ],
            [
              [1, 2],
              [3, 4],
            ],
          ],
        ],
      )
      assert.deepEqual(tensor([z, z], 'complex128').toArray(), two.toArray())
      assert.deepEqual(tensor([z.select(0, 0), 7], 'complex64').toArray(), [
        [1, 2],
        [7, 0],
      ])
      assert.deepEqual(
        zeros([2], 'complex64')
          .copyFrom([z.select(0, 1), 7])
          .toArray(),
        [
          [3, 4],
          [7, 0],
        ],
      )
      for (const refused of [
        () => tensor([z, z], 'float32'),
        () => tensor([z, [5, 6]]),
        () => zeros([2, 2]).copyFrom([z, z]),
      ]) {
        fails(
          refused,
          TypeError,
          'ERR_CAST',
          /has a tensor of complex64 among values that are to be real/,
        )
      }
    })

    it('reads real tensors in a complex64 list as real values, whatever their extents', () => {
      assert.deepEqual(tensor([tensor([1, 2]), tensor([3, 4])], 'complex64').toArray(), [
        [
          [1, 0],
          [2, 0],
        ],
        [
          [3, 0],
          [4, 0],
        ],
      ])
      assert.deepEqual(
        tensor(
          [
            tensor([1, 2]),
            [
              [3, 4],
              [5, 6],
            ],
          ],
          'complex64',
        ).toArray(),
        [
          [
            [1, 0],
            [2, 0],
          ],
          [
            [3, 4],
            [5, 6],
          ],
        ],
      )
    })

    it('reads them as values beside float32 numbers, and where another kind of dtype is asked for: int8', () => {
      for (const data of [
        [tensor(1), 2],
        [1, tensor(2)],
      ]) {
        assert.deepEqual([tensor(data).dtype, tensor(data).toArray()], ['float32', [1, 2]])
      }
      assert.deepEqual(
        [tensor([tensor(1, 'int8'), 2]).dtype, tensor([tensor(1, 'int8'), 2]).toArray()],
        ['int8', [1, 2]],
      )
      assert.deepEqual(tensor([tensor([1, 2]), [3, 4]]).toArray(), [
        [1, 2],
        [3, 4],
      ])
      assert.deepEqual(tensor([[tensor(1), tensor(2)], tensor([3, 4])]).toArray(), [
        [1, 2],
        [3, 4],
      ])
      assert.deepEqual(tensor([tensor([1, 2]), tensor([3, 4])], 'int8').toArray(), [
        [1, 2],
        [3, 4],
      ])
      fails(() => tensor([tensor([1.5])], 'int8'), TypeError, 'ERR_CAST', /1\.5/)
      assert.deepEqual(
        zeros([2])
          .copyFrom([tensor(1), tensor(2)])
          .toArray(),
        [1, 2],
      )
    })

    it('obeys casting, as tensor of a tensor and stack do', () => {
      const [big, half] = [tensor([1e300, 2], 'float64'), tensor([1.5, -2.5])]
      for (const make of [
        (t, opts) => tensor(t, opts),
        (t, opts) => tensor([t], opts),
        (t, opts) => tensor([[[t]]], opts),
        (t, opts) => tensor(new Set([t]), [2], opts),
        (t, opts) => tensor([t], { order: 'F', ...opts }),
        (t, opts) => asarray([t], { copy: true, ...opts }),
        (t, opts) => stack([t], 0, opts),
      ]) {
        assert.deepEqual(make(big, { dtype: 'float32' }).reshape([2]).toArray(), [Infinity, 2])
        assert.deepEqual(
          make(half, { dtype: 'int8', casting: 'unsafe' }).reshape([2]).toArray(),
          [1, -2],
        )
        assert.deepEqual(
          make(half, { dtype: 'float64', casting: 'safe' }).reshape([2]).toArray(),
          [1.5, -2.5],
        )
        leavesNothing(() => {
          fails(
            () => make(big, { dtype: 'float32', casting: 'safe' }),
            TypeError,
            'ERR_CAST',
            /float64 does not cast to float32 under casting 'safe'/,
          )
          fails(
            () => make(half, { dtype: 'int8', casting: 'same_kind' }),
            TypeError,
            'ERR_CAST',
            /float32 does not cast to int8 under casting 'same_kind'/,
          )
        })
      }
      const { result, copies } = copied(() =>
        tensor(
          [
            [big, big],
            [half, half],
          ],
          'float32',
        ),
      )
      assert.deepEqual(result.toArray(), [
        [
          [Infinity, 2],
          [Infinity, 2],
        ],
        [
          [1.5, -2.5],
          [1.5, -2.5],
        ],
      ])
      assert.deepEqual(copies, { tensor: { count: 1, bytes: 32 } })
      fails(() => tensor([big, [1, 2]], 'float32'), TypeError, 'ERR_CAST', /1e\+300/) // values, beside numbers
    })

    it('takes a shape, an order and empty int16 tensors, and counts one copy', () => {
      const list = [tensor([1, 2, 3], 'int16'), tensor([4, 5, 6], 'int16')]
      const before = settledMemory()
      const plain = tensor(list)
      assert.deepEqual(memory().copied.tensor.bytes - (before.copied.tensor?.bytes ?? 0), 12)
      assert.deepEqual(plain.toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
      for (const order of ['C', 'F']) {
        assert.deepEqual(tensor(list, { order }).toArray(), [
          [1, 2, 3],
          [4, 5, 6],
        ])
        assert.deepEqual(tensor(list, [3, 2], { order }).toArray(), [
          [1, 2],
          [3, 4],
          [5, 6],
        ])
      }
      const none = tensor([zeros([0], 'int16'), zeros([0], 'int16')])
      assert.deepEqual([none.dtype, none.shape], ['int16', [2, 0]])
    })

    it('refuses float32 tensors of several shapes, disposed ones, and what stands at another depth; nothing is left', () => {
      const [t, three, one, nest, gone, late] = [[1, 2], [1, 2, 3], 1, [[1]], [1, 2], [1, 2]].map(
        (data) => tensor(data),
      )
      gone.dispose()
      const before = settledMemory().storages
      fails(() => tensor([t, three]), RangeError, 'ERR_SHAPE', /\[3\]/)
      fails(() => tensor([t, one]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([[t], nest]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([t, 3]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([t], [3]), RangeError, 'ERR_SHAPE')
      fails(() => tensor([t, 'x']), TypeError, 'ERR_ARGUMENT')
      fails(() => tensor([t, gone]), Error, 'ERR_DISPOSED')
      fails(() => tensor([t, t], { casting: 'safe', dtype: 'bool' }), TypeError, 'ERR_CAST')
      assert.equal(memory().storages, before)
      const getter = {
        get(list, key) {
          late.dispose()
          return list[key]
        },
      }
      fails(() => tensor([late, new Proxy([t, t], getter).at(0)]), Error, 'ERR_DISPOSED')
      assert.equal(memory().storages, before - 1)
    })
  })

  describe('of data that does not fit its shape', () => {
    const ragged = [
      [[1, 2], [3]],
      [[1], [2, 3]],
      [1, [2]],
      [[1], 2],
      [[[1], [2]], [[3]]],
      [[], [1]],
      [[1, 2], 3],
    ]
    for (const nest of ragged) {
      it(`refuses the ragged nest ${JSON.stringify(nest)}`, () => {
        fails(() => tensor(nest), RangeError, 'ERR_SHAPE')
      })
    }

    it('refuses three float32 numbers for [2, 2]', () => {
      fails(() => tensor([1, 2, 3], [2, 2]), RangeError, 'ERR_SHAPE', /3/)
      fails(() => tensor([1, 2, 3, 4, 5], [2, 2]), RangeError, 'ERR_SHAPE', /5/)
    })

    it('refuses a Float32Array or a tensor with another count', () => {
      fails(() => tensor(new Float32Array(3), [2, 2]), RangeError, 'ERR_SHAPE')
      fails(() => tensor(zeros([3]), [2, 2]), RangeError, 'ERR_SHAPE')
    })

    it('refuses what is no number, boolean or bigint', () => {
      const bad = [
        undefined,
        null,
        'text',
        Symbol('s'),
        () => 1,
        {},
        ['1'],
        [null],
        [undefined],
        [{}],
        [1, 'a'],
        new Date(0),
        /x/,
      ]
      for (const data of bad) fails(() => tensor(data), TypeError, 'ERR_ARGUMENT')
    })

    it('refuses a sparse list', () => {
      // eslint-disable-next-line no-sparse-arrays
      fails(() => tensor([1, , 3]), TypeError, 'ERR_ARGUMENT')
    })

    it('refuses a nest that contains itself', () => {
      const nest = [1]
      nest[0] = nest
      refuses(() => tensor(nest), 'ERR_SHAPE', 'ERR_ARGUMENT')
    })
  })

  it('gives shape and strides of float32 frozen, those of the time', () => {
    const t = zeros([2, 3])
    const { shape, strides, dims } = t
    for (const list of [
      shape,
      strides,
      dims,
      t.T.shape,
      t.toBlob().shape,
      zeros([1, 2, 1, 2, 1, 2]).shape,
      zeros([]).shape,
    ]) {
      for (const change of [
        () => list.push(9),
        () => list.fill(7),
        () => {
          list[0] = 7
        },
        () => {
          list.length = 0
        },
      ]) {
        if (list.length > 0 || change.toString().includes('push')) assert.throws(change, TypeError)
      }
    }
    assert.deepEqual([t.shape, t.strides, t.dims, t.size], [[2, 3], [3, 1], [2, 3], 6])
    t.resize([3, 2])
    assert.deepEqual(
      [shape, strides, t.shape, t.strides],
      [
        [2, 3],
        [3, 1],
        [3, 2],
        [2, 1],
      ],
    )
    const others = Array.from({ length: 2000 }, (_, i) => zeros([0, i, 1 + (i % 7)])) // more than there are lists kept
    for (let round = 0; round < 2; round++) {
      others.forEach((other, i) => assert.deepEqual(other.shape, [0, i, 1 + (i % 7)]))
    }
    assert.deepEqual(
      [shape, zeros([2 ** 31, 0]).shape, zeros([0, 2 ** 40]).shape],
      [
        [2, 3],
        [2 ** 31, 0],
        [0, 2 ** 40],
      ],
    )
  })

  it('counts one copy with its float32 bytes', () => {
    assert.deepEqual(copied(() => tensor([1, 2, 3])).copies, { tensor: { count: 1, bytes: 12 } })
    assert.deepEqual(copied(() => tensor(new Float64Array(5))).copies, {
      tensor: { count: 1, bytes: 40 },
    })
    const t = zeros([2, 2], 'int8')
    assert.deepEqual(copied(() => tensor(t)).copies, { tensor: { count: 1, bytes: 4 } })
  })

  it('reads bool bytes other than 0 and 1 of a buffer as true', () => {
    const { fromBlob } = require('samebytes')
    const t = fromBlob(fromHex('000102807fff'), [6], { dtype: 'bool' })
    assert.deepEqual(t.toArray(), [false, true, true, true, true, true])
  })
})
