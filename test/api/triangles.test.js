'use strict'
const assert = require('node:assert/strict')
const { arange, fromBlob, memory, tensor, tril, triu, zeros } = require('samebytes')
const { copied, fails, leavesNothing, refusedUnchanged } = require('../setup')

/** Every element by itself: is it kept? */
const expected = (t, keeps) =>
  t.toArray().map((row, i) => row.map((x, j) => (keeps(j - i) ? x : 0)))

describe('tril and triu', () => {
  for (const [rows, columns] of [
    [1, 1],
    [3, 3],
    [2, 5],
    [5, 2],
    [1, 4],
    [4, 1],
  ]) {
    it(`of ${rows} × ${columns} int16, for every diagonal and some beyond`, () => {
      const t = arange(1, rows * columns + 1, 'int16').reshape(rows, columns)
      for (let k = -rows - 2; k <= columns + 2; k++) {
        assert.deepEqual(
          tril(t, { k }).toArray(),
          expected(t, (way) => way <= k),
          `tril, k = ${k}`,
        )
        assert.deepEqual(
          triu(t, { k }).toArray(),
          expected(t, (way) => way >= k),
          `triu, k = ${k}`,
        )
      }
    })
  }

  it('are of the last two axes, of any strides, and keep bits where they keep elements', () => {
    const t = tensor(
      new Float32Array(24).map((_, i) => (i % 5 === 0 ? NaN : -0)),
      [2, 3, 4],
    ).permute(0, 2, 1)
    const lower = tril(t)
    for (const i of [0, 1]) {
      assert.deepEqual(
        lower.select(0, i).toArray(),
        expected(t.select(0, i), (way) => way <= 0),
      )
    }
    assert.ok(lower.isContiguous())
    assert.deepEqual(
      tril(
        tensor([
          [true, true],
          [true, true],
        ]),
      ).toArray(),
      [
        [true, false],
        [true, true],
      ],
    )
    assert.deepEqual(
      triu(
        tensor(
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
          'complex64',
        ),
      ).toArray(),
      [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [0, 0],
          [7, 8],
        ],
      ],
    )
    assert.deepEqual(tril(tensor([[1n, 2n]])).toArray(), [[1n, 0n]])
  })

  it('are copies, counted once, also where all is kept', () => {
    const t = arange(6, 'float32').reshape(2, 3)
    const { result, copies } = copied(() => triu(t, { k: -9 }))
    assert.deepEqual(copies, { triu: { count: 1, bytes: 24 } })
    assert.equal(result.isView, false)
    result.set(9, 0, 0)
    assert.equal(t.get(0, 0), 0)
  })

  it('work in place, and into gaps of the tensor itself', () => {
    const t = arange(1, 10, 'float32').reshape(3, 3)
    assert.equal(tril(t, { out: t }), t)
    assert.deepEqual(t.toArray(), [
      [1, 0, 0],
      [4, 5, 0],
      [7, 8, 9],
    ])
    triu(t, { out: t.T })
    assert.deepEqual(t.toArray(), [
      [1, 0, 0],
      [0, 5, 0],
      [0, 0, 9],
    ])
  })

  it('have a result without elements of one without', () => {
    for (const shape of [
      [0, 3],
      [3, 0],
      [0, 2, 2],
    ]) {
      assert.deepEqual(tril(zeros(shape)).shape, shape)
    }
  })

  it('take any safe integer as a diagonal', () => {
    const t = arange(4).reshape(2, 2)
    assert.deepEqual(tril(t, { k: 2 ** 53 - 1 }).toArray(), [
      [0, 1],
      [2, 3],
    ])
    assert.deepEqual(tril(t, { k: -(2 ** 53 - 1) }).toArray(), [
      [0, 0],
      [0, 0],
    ])
    assert.deepEqual(triu(t, { k: 2 ** 53 - 1 }).toArray(), [
      [0, 0],
      [0, 0],
    ])
  })

  it('refuse fewer than two axes and what is no diagonal, and leave nothing behind', () => {
    for (const fn of [tril, triu]) {
      fails(() => fn(zeros([3])), RangeError, 'ERR_SHAPE', /x has 1 axes; 2 or more/)
      fails(() => fn(tensor(1)), RangeError, 'ERR_SHAPE')
      const t = zeros([2, 2])
      fails(() => fn(t, { k: 0.5 }), RangeError, 'ERR_BOUNDS', /k is 0.5/)
      for (const k of [null, '1', 1n, [1]]) refusedUnchanged(t, () => fn(t, { k }), 'ERR_ARGUMENT')
      fails(() => fn(t, 1), TypeError, 'ERR_ARGUMENT', /options is 1/)
      fails(() => fn([[1]]), TypeError, 'ERR_ARGUMENT', /x is an array/)
      const out = fromBlob(new Float32Array(4), [2, 2], { readOnly: true })
      leavesNothing(() => fails(() => fn(t, { out }), Error, 'ERR_READ_ONLY'))
      leavesNothing(() => fails(() => fn(t, { dtype: 'int8' }), TypeError, 'ERR_CAST'))
    }
  })

  it("of a tensor that an option's getter disposes are ERR_DISPOSED", () => {
    const t = zeros([2, 2])
    const { tensors } = memory()
    fails(
      () =>
        tril(t, {
          get k() {
            t.dispose()
            return 0
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
    assert.ok(memory().tensors < tensors)
  })
})
