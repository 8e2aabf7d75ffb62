'use strict'
const assert = require('node:assert/strict')
const { concat, dtypes, empty, fromBytes, memory, stack, tensor, zeros } = require('samebytes')
const { copied, fails, hex, refuses, settledMemory } = require('../setup')
const { SAMPLES } = require('../tables')

describe('concat', () => {
  for (const { dtype, bytes } of SAMPLES) {
    it(`keeps the bits of ${dtype}`, () => {
      const t = fromBytes(Buffer.from(bytes, 'hex'), [6], { dtype })
      const joined = concat([t.slice('4:'), t.slice(':4')])
      assert.equal(joined.dtype, dtype)
      assert.equal(hex(concat(joined.slice('2:'), joined.slice(':2'))), bytes)
    })
  }

  it('refuses what other libraries call axis, which would else be another axis', () => {
    const x = zeros([2, 3])
    for (const name of ['dim', 'dims', 'axes']) {
      for (const call of [
        (opts) => concat([x, x], opts),
        (opts) => stack([x, x], opts),
        (opts) => x.take([0], opts),
        (opts) => x.roll(1, opts),
      ]) {
        fails(
          () => call({ [name]: 1 }),
          TypeError,
          'ERR_ARGUMENT',
          new RegExp(`has no option "${name}"; axis was expected$`),
        )
      }
    }
    assert.deepEqual(concat([x, x], { axis: 1 }).shape, [2, 6])
  })

  it('takes a list or tensors, an axis or none, options or none, of float32', () => {
    const [a, b] = [tensor([[1, 2]]), tensor([[3, 4]])]
    const down = [
      [1, 2],
      [3, 4],
    ]
    const beside = [[1, 2, 3, 4]]
    for (const [got, expected] of [
      [concat([a, b]), down],
      [concat(a, b), down],
      [concat(a, b, 0), down],
      [concat([a, b], undefined, {}), down],
      [concat(a, b, 1), beside],
      [concat([a, b], -1), beside],
      [concat(a, b, { axis: 1 }), beside],
      [concat([a, b], { axis: -1 }), beside],
      [concat([a, b], null), [1, 2, 3, 4]],
      [concat(a, b, { axis: null }), [1, 2, 3, 4]],
      [concat([a]), [[1, 2]]],
      [concat(a), [[1, 2]]],
    ]) {
      assert.deepEqual(got.toArray(), expected)
    }
    for (const got of [
      concat([a, b], 'float64'),
      concat(a, b, 'float64'),
      concat([a, b], 0, { dtype: 'float64' }),
    ]) {
      assert.equal(got.dtype, 'float64')
      assert.deepEqual(got.toArray(), down)
    }
  })

  it('promotes: bool, uint8, int8 and float16', () => {
    assert.equal(concat(tensor([true]), tensor([2], 'uint8')).dtype, 'uint8')
    const t = concat(tensor([200], 'uint8'), tensor([-1], 'int8'))
    assert.equal(t.dtype, 'int16')
    assert.deepEqual(t.toArray(), [200, -1])
    assert.equal(concat(tensor([1], 'int64'), tensor([1.5], 'float16')).dtype, 'float16')
  })

  it('keeps int64 exact on its way to the dtype asked for', () => {
    const t = concat([tensor([2n ** 53n + 1n]), tensor([1.5])], 0, {
      dtype: 'int64',
      casting: 'unsafe',
    })
    assert.deepEqual(t.toArray(), [2n ** 53n + 1n, 1n])
  })

  it('judges each source by the casting rule, elements or none', () => {
    const opts = { dtype: 'int32' }
    fails(
      () => concat([tensor([1], 'int32'), tensor([1.5])], 0, opts),
      TypeError,
      'ERR_CAST',
      /float32 does not cast to int32 under casting 'same_kind'/,
    )
    fails(() => concat([tensor([1], 'int32'), zeros([0])], 0, opts), TypeError, 'ERR_CAST')
    fails(
      () => concat([tensor([1], 'int32')], 0, { dtype: 'int16', casting: 'safe' }),
      TypeError,
      'ERR_CAST',
    )
  })

  it('takes float32 without elements, and adds nothing', () => {
    assert.deepEqual(concat(zeros([0, 2]), tensor([[1, 2]]), zeros([0, 2])).toArray(), [[1, 2]])
    assert.deepEqual(concat(zeros([2, 0]), zeros([3, 0])).shape, [5, 0])
    assert.deepEqual(concat([zeros([]), zeros([0, 3])], null).toArray(), [0])
  })

  it("counts one copy of the result's bytes", () => {
    const parts = [zeros([2, 2]), zeros([2, 2]).T]
    assert.deepEqual(copied(() => concat(parts)).copies, { concat: { count: 1, bytes: 32 } })
  })

  it('says what does not fit', () => {
    fails(
      () => concat([zeros([2, 3]), zeros([2, 4])]),
      RangeError,
      'ERR_SHAPE',
      /tensor 1 has shape \[2, 4\]; \[2, 3\]/,
    )
    fails(() => concat([zeros([2]), zeros([2, 1])]), RangeError, 'ERR_SHAPE')
    fails(() => concat([zeros([]), zeros([])]), RangeError, 'ERR_SHAPE', /stack/)
    fails(() => concat([zeros([2])], 1), RangeError, 'ERR_BOUNDS', /axis is 1/)
    fails(() => concat([zeros([2])], -2), RangeError, 'ERR_BOUNDS')
    fails(() => concat([]), TypeError, 'ERR_ARGUMENT', /at least 1/)
    fails(() => concat(), TypeError, 'ERR_ARGUMENT')
    fails(() => concat([zeros([2]), [1, 2]]), TypeError, 'ERR_ARGUMENT', /entry 1 is an array/)
    refuses(() => concat([zeros([2])], 0.5), 'ERR_BOUNDS')
    refuses(() => concat([zeros([2])], '0'), 'ERR_DTYPE')
    refuses(() => concat(zeros([2]), [zeros([2])]), 'ERR_ARGUMENT')
    refuses(() => concat(new Array(2 ** 32 - 1)), 'ERR_ARGUMENT')
  })

  it('refuses what no memory holds, and leaves nothing behind', () => {
    const wide = zeros([1]).expand(2 ** 40)
    const part = zeros([1])
    const wider = zeros([1]).expand(2 ** 52)
    const { tensors, storages } = memory()
    for (const list of [
      [wide, wide],
      [part, wide],
      [wider, wider],
    ]) {
      refuses(() => concat(list), 'ERR_MEMORY', 'ERR_SHAPE')
    }
    const after = memory() // fewer where some were collected
    assert.ok(after.tensors <= tensors && after.storages <= storages)
  })

  it("refuses disposed tensors, also those that an option's getter disposes", () => {
    const [a, b, out] = [zeros([1]), zeros([1]), zeros([2])]
    fails(
      () =>
        concat([a, b], 0, {
          get out() {
            b.dispose()
            return out
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
    fails(() => concat([a, b]), Error, 'ERR_DISPOSED')
    fails(
      () =>
        concat([a, a], 0, {
          get casting() {
            out.dispose()
          },
          out,
        }),
      Error,
      'ERR_DISPOSED',
    )
  })
})

describe('stack', () => {
  it('makes an axis, counted from either end, of int32', () => {
    const [a, b] = [tensor([1, 2, 3], 'int32'), tensor([4, 5, 6], 'int32')]
    assert.deepEqual(stack([a, b]).toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(stack(a, b, 1).toArray(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    assert.deepEqual(stack(a, b, -1).toArray(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    assert.deepEqual(stack(a, b, -2).toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
  })

  it('stacks float32 without axes and without elements', () => {
    assert.deepEqual(stack(tensor(1), tensor(2)).toArray(), [1, 2])
    assert.deepEqual(stack([zeros([0]), zeros([0])], 1).shape, [0, 2])
  })

  for (const dtype of dtypes) {
    it(`stacks views of ${dtype}, reversed and repeated`, () => {
      const t = tensor([0, 1, 1], {
        dtype: dtype.startsWith('complex') ? 'float32' : dtype,
        casting: 'unsafe',
      }).astype(dtype)
      const s = stack(t.flip(), t.slice('0:1').expand(3))
      assert.equal(s.dtype, dtype)
      assert.deepEqual(s.astype('complex128').toArray(), [
        [
          [1, 0],
          [1, 0],
          [0, 0],
        ],
        [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      ])
    })
  }

  it('counts one copy', () => {
    const parts = [zeros([4]), zeros([4])]
    assert.deepEqual(copied(() => stack(parts)).copies, { stack: { count: 1, bytes: 32 } })
  })

  it('says what does not fit', () => {
    fails(
      () => stack([zeros([2]), zeros([3])]),
      RangeError,
      'ERR_SHAPE',
      /tensor 1 has shape \[3\]; \[2\]/,
    )
    fails(() => stack([zeros([2])], 2), RangeError, 'ERR_BOUNDS')
    fails(() => stack([zeros([2])], -3), RangeError, 'ERR_BOUNDS')
    fails(() => stack([zeros([2])], null), TypeError, 'ERR_ARGUMENT')
    fails(() => stack([zeros(new Array(64).fill(1))]), RangeError, 'ERR_SHAPE')
    refuses(() => stack([zeros([1]).expand(2 ** 40)]), 'ERR_MEMORY', 'ERR_SHAPE')
  })

  it('leaves no tensor behind where it fails', () => {
    const parts = [empty([2]), empty([3])]
    const before = settledMemory().tensors
    refuses(() => stack(parts))
    refuses(() => stack([parts[0], parts[0]], 0, { dtype: 'bool' }), 'ERR_CAST')
    assert.ok(memory().tensors <= before)
  })
})
