'use strict'
const assert = require('node:assert/strict')
const { constants } = require('node:buffer')
const { empty, fromBlob, zeros } = require('samebytes')
const { fails, needs, refuses } = require('../setup')

// Numbers around the borders of 32 bits, which the layouts on their way from C treat differently.
const BORDERS = [
  2 ** 31 - 1,
  2 ** 31,
  2 ** 31 + 1,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 32 + 1,
  2 ** 40 + 3,
  2 ** 52 - 1,
]

function describeLayout(t) {
  return {
    shape: [...t.shape],
    strides: [...t.strides],
    offset: t.offset,
    size: t.size,
    numel: t.numel,
    ndim: t.ndim,
    dims: [...t.dims],
  }
}

describe('numbers beyond 32 bits', () => {
  for (const n of BORDERS) {
    it(`in a shape over one uint8 come back exactly: ${n}`, () => {
      const one = zeros([1], 'uint8').fill(7)
      const t = one.view([n], { strides: [0] })
      assert.deepEqual(describeLayout(t), {
        shape: [n],
        strides: [0],
        offset: 0,
        size: n,
        numel: n,
        ndim: 1,
        dims: [n],
      })
      assert.equal(t.nbytes, n)
      assert.equal(t.get(n - 1), 7)
      assert.equal(t.get(-n), 7)
      fails(() => t.get(n), RangeError, 'ERR_BOUNDS')
      fails(() => t.get(-n - 1), RangeError, 'ERR_BOUNDS')
      assert.deepEqual([...t.select(0, n - 1).shape], [])
      assert.deepEqual([...t.narrow(0, n - 2, 2).shape], [2])
      assert.deepEqual([...t.narrow(0, 1, n - 1).shape], [n - 1])
      assert.deepEqual([...t.slice(`${n - 3}:`).shape], [3])
      assert.deepEqual([...t.slice({ stop: n }).shape], [n])
      assert.deepEqual([...t.slice('::-1').shape], [n])
      assert.deepEqual([...t.slice('::2').shape], [Math.ceil(n / 2)])
      assert.deepEqual([...t.unfold(0, 2, 1).shape], [n - 1, 2])
      assert.deepEqual([...t.view([n, 1]).shape], [n, 1])
      assert.deepEqual([...t.view([1, n]).T.shape], [n, 1])
      assert.deepEqual([...t.view([-1, 1, 1]).permute([2, 0, 1]).shape], [1, n, 1])
      assert.match(String(t), /^tensor\(\[7, 7, 7, {2}\.\.\., 7, 7, 7\], dtype=uint8\)$/)
      assert.equal(t.isContiguous(), false)
    })

    it(`in the strides of tensors without elements come back exactly: ${n}`, () => {
      assert.deepEqual(describeLayout(empty([0, n], 'int8')).strides, [n, 1])
      assert.deepEqual(describeLayout(empty([n, 0, 3], 'int8')), {
        shape: [n, 0, 3],
        strides: [3, 3, 1],
        offset: 0,
        size: 0,
        numel: 0,
        ndim: 3,
        dims: [n, 0, 3],
      })
      assert.deepEqual([...empty([0, n], 'int8').T.shape], [n, 0])
    })
  }

  it('as a product stay exact or are refused: uint8', () => {
    const one = zeros([1], 'uint8')
    const t = one.view([2 ** 20, 2 ** 20, 2 ** 12], { strides: [0, 0, 0] })
    assert.equal(t.size, 2 ** 52)
    assert.deepEqual([...t.view([2 ** 32, 2 ** 20]).shape], [2 ** 32, 2 ** 20])
    assert.equal(one.view([2 ** 27, 2 ** 26], { strides: [0, 0] }).size, 2 ** 53)
    fails(
      () => one.view([2 ** 27, 2 ** 26 + 1], { strides: [0, 0] }),
      RangeError,
      'ERR_SHAPE',
      /double/,
    )
    fails(() => empty([0, 2 ** 30, 2 ** 24]), RangeError, 'ERR_SHAPE', /double/)
    refuses(() => one.view([2 ** 40, 2 ** 40], { strides: [0, 0] }), 'ERR_SHAPE', 'ERR_BOUNDS')
    refuses(() => t.clone(), 'ERR_MEMORY')
    assert.equal(t.fill(1).get(5, 5, 5), 1)
  })
})

describe('a blob of more bytes than 32 bits count, none of them touched', () => {
  needs('addresses')

  const huge = 2 ** 52
  const blob = (shape, opts) =>
    fromBlob(64n, shape, { dtype: 'int8', borrowed: true, nbytes: huge, ...opts })

  for (const n of BORDERS.filter((n) => n < huge / 8)) {
    it(`has int8 offsets, strides of both signs and extents of ${n} exactly`, () => {
      assert.deepEqual(describeLayout(blob([n])), {
        shape: [n],
        strides: [1],
        offset: 0,
        size: n,
        numel: n,
        ndim: 1,
        dims: [n],
      })
      const at = blob([2], { offset: n })
      assert.deepEqual([at.offset, at.byteOffset, at.dataPtr], [n, n, 64n + BigInt(n)])
      assert.deepEqual([...blob([3], { strides: [n] }).strides], [n])
      const back = blob([3], { strides: [-n], offset: 3 * n })
      assert.deepEqual(describeLayout(back), {
        shape: [3],
        strides: [-n],
        offset: 3 * n,
        size: 3,
        numel: 3,
        ndim: 1,
        dims: [3],
      })
      const turned = blob([3], { strides: [n] }).slice('::-1')
      assert.deepEqual(
        [[...turned.strides], turned.offset, turned.dataPtr],
        [[-n], 2 * n, 64n + 2n * BigInt(n)],
      )
      assert.deepEqual([...blob([2, n]).T.strides], [1, n])
      assert.deepEqual([...blob([2, n]).select(0, 1).shape], [n])
      assert.equal(blob([2, n]).select(0, 1).offset, n)
      assert.equal(blob([2, n]).narrow(1, n - 1, 1).offset, n - 1)
      assert.deepEqual(
        [...blob([3, 2, 2], { strides: [2, n, 1] }).permute([1, 0, 2]).strides],
        [n, 2, 1],
      )
      assert.deepEqual(
        [
          ...blob([3, 2, 2, 2], { strides: [2, n, 1, -1], offset: 5 }).permute([3, 1, 0, 2])
            .strides,
        ],
        [-1, n, 2, 1],
      )
    })
  }

  it('has the numbers beside the border exactly, also the most negative of 32 bits', () => {
    for (const n of [-(2 ** 31) - 1, -(2 ** 31), -(2 ** 31) + 1]) {
      const t = blob([2], { strides: [n], offset: -n })
      assert.deepEqual([[...t.strides], t.offset], [[n], -n])
      assert.deepEqual([...t.slice(':').strides], [n])
      assert.deepEqual([...t.slice('::-1').strides], [-n])
      assert.equal(t.slice('1:').offset, 0)
    }
  })

  it('counts byteOffset and nbytes beyond 32 bits for float64', () => {
    const t = blob([2 ** 40], { dtype: 'float64', offset: 2 ** 33 })
    assert.deepEqual([t.byteOffset, t.nbytes, t.dataPtr], [2 ** 36, 2 ** 43, 64n + 2n ** 36n])
    if (constants.MAX_LENGTH < t.nbytes) refuses(() => t.data, 'ERR_UNSUPPORTED')
    else assert.equal(t.data.length, 2 ** 40)
  })

  it('refuses what goes past its end by one', () => {
    assert.equal(blob([huge]).size, huge)
    refuses(() => blob([huge + 1]), 'ERR_BOUNDS')
    refuses(() => blob([1], { offset: huge }), 'ERR_BOUNDS')
    refuses(() => blob([2], { strides: [huge] }), 'ERR_BOUNDS')
    assert.equal(blob([2], { strides: [huge - 1] }).size, 2)
  })

  it('are no bytes to be had: beyond what a double counts exactly, too', () => {
    for (const shared of [false, true, 'sab']) {
      for (const n of [2 ** 48, 3 * 2 ** 51]) refuses(() => empty([n], { shared }), 'ERR_MEMORY')
    }
  })
})
