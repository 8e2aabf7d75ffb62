'use strict'
const assert = require('node:assert/strict')
const {
  arange,
  broadcastArrays,
  broadcastShapes,
  fromBlob,
  meshgrid,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const { agrees } = require('../oracle')
const { assertView, copied, fails, refuses } = require('../setup')

const counting = (shape) => arange(shape.reduce((a, b) => a * b, 1)).reshape(shape)

describe('broadcastShapes', () => {
  it('gives the shape in which shapes meet', () => {
    assert.deepEqual(broadcastShapes(), [])
    assert.deepEqual(broadcastShapes([]), [])
    assert.deepEqual(broadcastShapes(3), [3])
    assert.deepEqual(broadcastShapes([2, 1], [3]), [2, 3])
    assert.deepEqual(broadcastShapes([8, 1, 6, 1], [7, 1, 5], [1, 1, 1, 1, 1]), [1, 8, 7, 6, 5])
    assert.deepEqual(broadcastShapes([0], [1], []), [0])
    assert.deepEqual(broadcastShapes([2, 0], [1, 1]), [2, 0])
    assert.deepEqual(broadcastShapes(zeros([2, 1]).shape, Int32Array.of(4)), [2, 4])
  })

  it("gives a list of the caller's own", () => {
    const shape = Object.freeze([2, 3])
    const got = broadcastShapes(shape)
    got.push(9)
    assert.deepEqual(broadcastShapes(shape), [2, 3])
  })

  it('refuses shapes that do not meet, and what is no shape', () => {
    fails(
      () => broadcastShapes([2, 3], [2]),
      RangeError,
      'ERR_SHAPE',
      /shapes \[2, 3\] and \[2\] do not broadcast: axis -1 has 3 and 2 elements/,
    )
    fails(() => broadcastShapes([0], [2]), RangeError, 'ERR_SHAPE')
    fails(() => broadcastShapes([-1], [1]), RangeError, 'ERR_SHAPE', /shape\[0\] is -1/)
    fails(() => broadcastShapes([2 ** 40, 1], [1, 2 ** 40]), RangeError, 'ERR_SHAPE')
    fails(() => broadcastShapes(new Array(65).fill(1)), RangeError, 'ERR_SHAPE')
    for (const bad of [undefined, null, 'x', {}, [null], [1n], zeros([2])]) {
      refuses(() => broadcastShapes([2], bad), 'ERR_ARGUMENT')
    }
  })
})

describe('broadcastArrays', () => {
  agrees(
    'broadcastArrays',
    { seed: 110, call: (t, [shapes]) => broadcastArrays(t, ...shapes.map(counting)) },
    ({ array, next, pick }) => {
      const one = array(next(4), { extents: [1, 1, 2, 3] })
      const shape = [
        ...Array.from({ length: next(3) }, () => pick([1, 2, 0])),
        ...one.now.map((n) => (n === 1 ? pick([1, 2, 3]) : n)),
      ]
      const shapes = Array.from({ length: next(3) }, () =>
        shape.slice(next(shape.length + 1)).map((n) => pick([n, n, n, 1])),
      )
      return { ...one, args: [next(8) ? shapes : [...shapes, [pick([1, 5])]]] }
    },
  )

  it('gives views of int8 and float64, each of its dtype', () => {
    const a = tensor([[1], [2]], 'int8')
    const b = tensor([1, 2, 3], 'float64')
    const {
      result: [x, y],
      copies,
    } = copied(() => broadcastArrays(a, b))
    assert.deepEqual(copies, {})
    assert.deepEqual(x.toArray(), [
      [1, 1, 1],
      [2, 2, 2],
    ])
    assert.deepEqual(y.toArray(), [
      [1, 2, 3],
      [1, 2, 3],
    ])
    assert.deepEqual([x.dtype, y.dtype], ['int8', 'float64'])
    assert.equal(x.dataPtr, a.dataPtr)
    assert.equal(y.base, b)
    b.set(9, 0)
    assert.equal(y.get(1, 0), 9)
    fails(() => x.copyFrom(zeros([2, 3], x.dtype)), Error, 'ERR_OVERLAP')
    assert.ok(assertView(b, () => broadcastArrays([b])[0]).isView)
  })

  it('keeps read-only tensors read-only', () => {
    const [view] = broadcastArrays(fromBlob(new Float32Array(2), { readOnly: true }), zeros([2]))
    assert.equal(view.isReadOnly, true)
  })

  it('refuses what is no tensor, or does not broadcast', () => {
    fails(
      () => broadcastArrays(zeros([2]), zeros([3])),
      RangeError,
      'ERR_SHAPE',
      /shapes \[2\] and \[3\]/,
    )
    fails(
      () => broadcastArrays(zeros([2]), 3),
      TypeError,
      'ERR_ARGUMENT',
      /3 was given after 1 tensors/,
    )
    fails(
      () => broadcastArrays([zeros([2])], zeros([2])),
      TypeError,
      'ERR_ARGUMENT',
      /a tensor of .* was given after 1 tensors/,
    )
    fails(() => broadcastArrays([zeros([2]), 3]), TypeError, 'ERR_ARGUMENT', /entry 1 is 3/)
    fails(() => broadcastArrays(), TypeError, 'ERR_ARGUMENT', /0 tensors/)
    const gone = zeros([2])
    gone.dispose()
    fails(() => broadcastArrays(zeros([2]), gone), Error, 'ERR_DISPOSED')
  })
})

describe('meshgrid', () => {
  agrees(
    'meshgrid',
    {
      seed: 111,
      call: (t, [lengths, indexing]) => meshgrid(t, ...lengths.map((n) => arange(n)), { indexing }),
    },
    ({ array, next, pick }) => ({
      ...array(pick([0, 1, 1, 1])),
      args: [Array.from({ length: next(4) }, () => next(4)), pick(['xy', 'ij'])],
    }),
  )

  it('runs along the columns first, and has views of int16 and uint8', () => {
    const a = tensor([1, 2, 3], 'int16')
    const b = tensor([7, 8], 'uint8').flip()
    const {
      result: [x, y],
      copies,
    } = copied(() => meshgrid(a, b))
    assert.deepEqual(copies, {})
    assert.deepEqual(x.toArray(), [
      [1, 2, 3],
      [1, 2, 3],
    ])
    assert.deepEqual(y.toArray(), [
      [8, 8, 8],
      [7, 7, 7],
    ])
    assert.deepEqual([x.dtype, y.dtype], ['int16', 'uint8'])
    assert.deepEqual(
      [x.strides, y.strides],
      [
        [0, 1],
        [-1, 0],
      ],
    )
    assert.equal(x.dataPtr, a.dataPtr)
    assert.equal(y.dataPtr, b.dataPtr)
    assert.ok(sharesMemory(y, b))
    a.set(9, 1)
    assert.equal(x.get(1, 1), 9)
    fails(() => x.copyFrom(zeros([2, 3], x.dtype)), Error, 'ERR_OVERLAP')
  })

  it('has an axis for each tensor in their order with ij, of a list as well', () => {
    const [x, y, z] = meshgrid([arange(2), arange(3), tensor(5)], { indexing: 'ij' })
    assert.deepEqual(x.toArray(), [
      [[0], [0], [0]],
      [[1], [1], [1]],
    ])
    assert.deepEqual(y.toArray(), [
      [[0], [1], [2]],
      [[0], [1], [2]],
    ])
    assert.deepEqual(z.toArray(), [
      [[5], [5], [5]],
      [[5], [5], [5]],
    ])
    assert.deepEqual(meshgrid(arange(2))[0].toArray(), [0, 1])
    assert.deepEqual(
      meshgrid(arange(2), arange(0)).map((t) => t.shape),
      [
        [0, 2],
        [0, 2],
      ],
    )
  })

  it('refuses matrices, another indexing, and options that are none', () => {
    fails(
      () => meshgrid(arange(2), zeros([2, 2])),
      RangeError,
      'ERR_SHAPE',
      /tensor 1 has shape \[2, 2\]; one axis was expected/,
    )
    fails(
      () => meshgrid(arange(2), { indexing: 'yx' }),
      TypeError,
      'ERR_ARGUMENT',
      /indexing is "yx"; one of 'xy', 'ij'/,
    )
    fails(() => meshgrid(arange(2), 'ij'), TypeError, 'ERR_ARGUMENT', /options is "ij"; an object/)
    fails(() => meshgrid(arange(2), {}, arange(2)), TypeError, 'ERR_ARGUMENT')
    fails(() => meshgrid(5), TypeError, 'ERR_ARGUMENT', /argument 0 is 5; a tensor/)
    fails(
      () => meshgrid(...Array.from({ length: 65 }, () => arange(1))),
      RangeError,
      'ERR_SHAPE',
      /65/,
    )
    assert.equal(meshgrid(...Array.from({ length: 64 }, () => arange(1)))[63].ndim, 64)
  })
})
