'use strict'
// Packages that programs have beside this one: the lines of docs/neighbours.md, with the real ones.
const assert = require('node:assert/strict')
const {
  allClose,
  arange,
  fromBlob,
  fromOrt,
  memory,
  rand,
  tensor,
  toOrt,
  zeros,
} = require('samebytes')
const { copied, needs } = require('../setup')

const load = (name) => require(name) // a name in a variable: bundles of the tests leave these packages out

/** Both see what the other writes, at the same place, and nothing was copied or staged on the way. */
function sameBytes(t, there, back, write) {
  const { staged } = memory()
  const {
    result: [theirs, ours],
    copies,
  } = copied(() => {
    const theirs = there(t)
    return [theirs, back(theirs)]
  })
  assert.deepEqual(copies, {})
  assert.deepEqual(memory().staged, staged)
  assert.deepEqual([ours.shape, ours.dtype], [t.shape, t.dtype])
  assert.equal(ours.data.buffer, t.data.buffer)
  assert.equal(ours.data.byteOffset, t.data.byteOffset)
  t.fill(7)
  assert.ok(
    ours
      .toArray()
      .flat(Infinity)
      .every((x) => x === 7),
  )
  write(theirs)
  assert.notEqual(t.data[0], 7)
  assert.equal(ours.data[0], t.data[0])
  return theirs
}

const matrix = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])

describe('packages of npm, beside tensors', function () {
  needs('a Node of its own')

  describe('ndarray', () => {
    let ndarray
    before(() => {
      ndarray = load('ndarray')
    })

    it('shows a tensor and is shown by one, over the same bytes', () => {
      sameBytes(
        matrix(),
        (t) => ndarray(t.data, t.shape),
        (a) => fromBlob(a.data, a.shape, { strides: a.stride, offset: a.offset }),
        (a) => a.set(0, 0, -1),
      )
    })

    it('has the strides of views', () => {
      const t = matrix()
      const view = t.T.slice('::-1')
      const a = ndarray(t.data, view.shape, view.strides, view.offset - t.offset)
      assert.deepEqual([a.get(0, 0), a.get(0, 1), a.get(2, 1)], [3, 6, 4])
      a.set(1, 1, 50)
      assert.equal(t.get(1, 1), 50)
      const picked = a.hi(2, 2).step(-1, 1)
      const back = fromBlob(picked.data, picked.shape, {
        strides: picked.stride,
        offset: picked.offset,
      })
      assert.deepEqual(back.toArray(), [
        [2, 50],
        [3, 6],
      ])
      back.set(-1, 0, 0)
      assert.equal(t.get(0, 1), -1)
    })
  })

  describe('@stdlib/ndarray', () => {
    let ndarray
    before(() => {
      ndarray = load('@stdlib/ndarray-base-ctor')
    })

    for (const dtype of ['float32', 'float64', 'int8', 'uint16', 'int32']) {
      it(`shows a ${dtype} tensor and is shown by one, over the same bytes`, () => {
        const make = (t) => new ndarray(t.dtype, t.data, t.shape, t.strides, 0, 'row-major') // eslint-disable-line new-cap
        sameBytes(
          matrix().astype(dtype, { casting: 'unsafe' }),
          make,
          (x) => fromBlob(x.data, x.shape, { strides: x.strides, offset: x.offset }),
          (x) => x.set(0, 0, 9),
        )
      })
    }
  })

  describe('apache-arrow', () => {
    let arrow
    before(() => {
      arrow = load('apache-arrow')
    })

    it('shows a tensor as a vector, and a vector is shown by one, over the same bytes', () => {
      const vector = sameBytes(
        tensor([1, 2, 3, 4]),
        (t) => arrow.makeVector(t.data),
        (v) => fromBlob(v.toArray()),
        (v) => {
          v.data[0].values[0] = 9
        },
      )
      assert.deepEqual([vector.length, vector.get(0), vector.get(3)], [4, 9, 7])
    })

    it('has columns of tables that are tensors', () => {
      const t = tensor([1, 2, 3, 4], 'int32')
      const table = new arrow.Table({ n: arrow.makeVector(t.data) })
      t.set(30, 2)
      assert.deepEqual(
        table.toArray().map(({ n }) => n),
        [1, 2, 30, 4],
      )
      const part = fromBlob(table.getChild('n').slice(1, 3).toArray())
      assert.deepEqual(part.toArray(), [2, 30])
      part.set(20, 0)
      assert.equal(t.get(1), 20)
    })
  })

  describe('tfjs, CPU backend', () => {
    let tf
    before(async () => {
      const { log, warn } = console
      console.warn = console.log = () => {} // it recommends another backend
      try {
        tf = load('@tensorflow/tfjs-core')
        load('@tensorflow/tfjs-backend-cpu')
        await tf.ready()
        tf.tensor([1]).dispose()
      } finally {
        Object.assign(console, { log, warn })
      }
      assert.equal(tf.getBackend(), 'cpu')
    })

    for (const dtype of ['float32', 'int32']) {
      it(`shows a ${dtype} tensor and is shown by one, over the same bytes`, () => {
        const x = sameBytes(
          matrix().astype(dtype, { casting: 'unsafe' }),
          (t) => tf.tensor(t.data, t.shape, t.dtype),
          (x) => fromBlob(x.dataSync(), x.shape),
          (x) => {
            x.dataSync()[0] = 9
          },
        )
        assert.deepEqual(x.arraySync(), [
          [9, 7, 7],
          [7, 7, 7],
        ])
        x.dispose()
      })
    }

    it('resizes as resize does with halfPixelCenters alone: what it does without is in docs/arithmetic.md', () => {
      const math = require('samebytes/math')
      // that page's function
      const along = (x, axis, to, by) => {
        const at = math.multiply(arange(to, { dtype: 'float64' }), by)
        const low = math.floor(at)
        const [a, b] = [low, math.minimum(math.add(low, 1), x.shape[axis] - 1)].map((i) =>
          x.take(i.astype('int32', { casting: 'unsafe' }), { axis }),
        )
        const part = math
          .subtract(at, low)
          .reshape(x.shape.map((_, d) => (d === axis ? to : 1)))
          .astype('float32', { casting: 'same_kind' })
        return math.add(a, math.multiply(math.subtract(b, a), part))
      }
      for (const [from, to] of [
        [
          [5, 7],
          [8, 4],
        ],
        [
          [4, 4],
          [16, 9],
        ],
        [
          [9, 6],
          [3, 3],
        ],
      ]) {
        const x = rand([...from, 3])
        const near = (made, wanted) =>
          assert.ok(
            allClose(made, fromBlob(wanted.dataSync(), wanted.shape), { rtol: 0, atol: 1e-5 }),
            `${from} to ${to}`,
          )
        const given = tf.tensor(x.data, x.shape)
        near(
          math.resize(x, to, { axes: [0, 1], antialias: false }),
          tf.image.resizeBilinear(given, to, false, true),
        )
        near(
          along(along(x, 0, to[0], from[0] / to[0]), 1, to[1], from[1] / to[1]),
          tf.image.resizeBilinear(given, to),
        )
        near(
          along(
            along(x, 0, to[0], (from[0] - 1) / (to[0] - 1)),
            1,
            to[1],
            (from[1] - 1) / (to[1] - 1),
          ),
          tf.image.resizeBilinear(given, to, true),
        )
      }
    })
  })

  describe('transformers.js', () => {
    needs('sharp') // which it loads
    let hf
    let ort
    before(() => {
      hf = load('@huggingface/transformers')
      ort = load('onnxruntime-node')
    })

    it('shows a tensor and is shown by one, over the same bytes', () => {
      const x = sameBytes(
        matrix(),
        (t) => new hf.Tensor(t.dtype, t.data, t.shape),
        (x) => fromOrt(x),
        (x) => {
          x.data[0] = 9
        },
      )
      assert.deepEqual(x.tolist(), [
        [9, 7, 7],
        [7, 7, 7],
      ])
      assert.deepEqual(x.dims, [2, 3])
    })

    it('takes what toOrt makes, of the one onnxruntime that both have', () => {
      const t = matrix()
      const x = new hf.Tensor(toOrt(t, ort))
      t.set(50, 1, 1)
      assert.deepEqual(x.tolist(), [
        [1, 2, 3],
        [4, 50, 6],
      ])
      assert.equal(x.data.buffer, t.data.buffer)
      assert.ok(x.ort_tensor instanceof ort.Tensor)
    })
  })

  describe('sharp', () => {
    needs('sharp')
    let sharp
    before(() => {
      sharp = load('sharp')
    })

    it('gives pixels that a tensor shows, over the same bytes', async () => {
      const { data, info } = await sharp({
        create: { width: 5, height: 4, channels: 3, background: { r: 1, g: 2, b: 3 } },
      })
        .raw()
        .toBuffer({ resolveWithObject: true })
      const { result: t, copies } = copied(() =>
        fromBlob(data, [info.height, info.width, info.channels]),
      )
      assert.deepEqual(copies, {})
      assert.deepEqual([t.shape, t.dtype], [[4, 5, 3], 'uint8'])
      assert.deepEqual(t.select(0, 0).select(0, 0).toArray(), [1, 2, 3])
      t.set(99, 0, 0, 0)
      assert.equal(data[0], 99)
      data[1] = 98
      assert.equal(t.get(0, 0, 1), 98)
    })

    it("reads a tensor's bytes where they are, when it works", async () => {
      const t = zeros([4, 6, 3], 'uint8')
      const { result: image, copies } = copied(() =>
        sharp(t.bytes, { raw: { width: 6, height: 4, channels: 3 } }),
      )
      assert.deepEqual(copies, {})
      t.fill(200) // after sharp took them, before it reads them
      const { data } = await image.raw().toBuffer({ resolveWithObject: true })
      assert.deepEqual(fromBlob(data, [4, 6, 3]).toArray(), t.toArray())
      const png = await sharp(t.bytes, { raw: { width: 6, height: 4, channels: 3 } })
        .png()
        .toBuffer()
      const { data: again } = await sharp(png).raw().toBuffer({ resolveWithObject: true })
      assert.deepEqual([...again], [...t.data])
    })
  })
})
