'use strict'
// Copies of elements that lie gigabytes apart: of most bytes in between no page is ever touched. Lists of elements count bytes in 32 bits, and have to
// see where they cannot.
const assert = require('node:assert/strict')
const { empty, tensor } = require('samebytes')
const { nativeOnly } = require('../setup')

/** Pictures in planes, of pixels of some channels; and one in a plane for each channel. */
const SHAPES = [
  {
    title: 'all channels of three planes',
    shape: [48, 64, 3, 4],
    strides: (apart) => [64 * 6, 6, apart, 1],
  },
  {
    title: 'every second channel of three planes, backwards',
    shape: [48, 64, 3, 4],
    strides: (apart) => [64 * 8, 8, apart, 2],
    flips: [3],
  },
  {
    title: 'three of four channels of two planes',
    shape: [48, 64, 2, 3],
    strides: (apart) => [64 * 4, 4, apart, 1],
  },
  {
    title: 'the same, the other way round',
    shape: [48, 64, 2, 3],
    strides: (apart) => [64 * 4, 4, apart, 1],
    flips: [2, 3],
  },
  { title: 'planes to pixels', shape: [48, 64, 3], strides: (apart) => [64, 1, apart] },
  {
    title: 'every second pixel of planes, backwards',
    shape: [48, 32, 3],
    strides: (apart) => [64, 2, apart],
    flips: [1, 2],
  },
]

/** Bytes between two planes; three of them have to fit. */
const APART = [
  2 ** 28,
  2 ** 29 - 300,
  2 ** 29 - 1,
  2 ** 29,
  2 ** 29 + 1,
  2 ** 30 - 1,
  2 ** 30,
  2 ** 30 + 33,
  2 ** 31 - 1,
  2 ** 31 + 5,
]

describe('copies of elements that are far apart', () => {
  nativeOnly()
  let memory

  before(function () {
    try {
      memory = empty([2 * APART.at(-1) + 48 * 64 * 8], 'uint8') // untouched
    } catch {
      this.skip()
    }
  })

  after(() => {
    memory?.dispose()
  })

  for (const { title, shape, strides, flips = [] } of SHAPES) {
    for (const apart of APART) {
      it(`${title}: ${apart} bytes`, () => {
        const values = tensor(
          Array.from(
            { length: shape.reduce((a, b) => a * b) },
            (_, i) => (i * 31 + (i >> 6) * 7) % 251,
          ),
          shape,
          { dtype: 'uint8' },
        )
        const view = memory.view(shape, { strides: strides(apart) }).flip(flips)
        view.fill(0)
        const indices = shape.map((n) => n - 1)
        view.copyFrom(values)
        for (const place of [shape.map(() => 0), indices, indices.map((i) => i >> 1)]) {
          assert.equal(view.get(...place), values.get(...place))
        }
        assert.deepEqual([...empty(shape, 'uint8').copyFrom(view).data], [...values.data])
        assert.deepEqual(
          [...empty(shape).copyFrom(view, { scale: 0.5 }).data],
          Array.from(values.data, (x) => x / 2),
        )
      })
    }
  }
})
