'use strict'
// nms, iou, oneHot and unletterbox beside their definitions in NumPy; edge cases; out.
const assert = require('node:assert/strict')
const { dtypes, memory, tensor, zeros } = require('samebytes')
const { fails, generator, hex, needs, refusedUnchanged, skipWithout } = require('../setup')
const { math, needsMath, some } = require('./load')
const { numberOf } = require('./numpy-reductions')
const { askPython, flat } = require('./numpy-images')

const { argsort, greater, nms, iou, oneHot, unletterbox } = math

/** Boxes that have much in common: [n, 4], dense, transposed, or every second one. */
function boxesOf({ next, pick }, dtype, n, span = 40) {
  const part = dtype.startsWith('float') ? 4 : 1
  const rows = Array.from({ length: n }, () => {
    const [x, y] = [next(span * part) / part, next(span * part) / part]
    return [x, y, x + next(12 * part) / part, y + next(12 * part) / part]
  })
  const t = tensor(n === 0 ? [] : rows.flat(), [n, 4], { dtype })
  const how = next(3)
  if (how === 0) return t.T.contiguous().T
  if (how === 1) {
    return t
      .unsqueeze(1)
      .broadcastTo([n, 3, 4])
      .contiguous()
      .select(1, pick([0, 1, 2]))
  }
  return t
}

describe('nms beside its definition', function () {
  needsMath()
  needs('NumPy')

  it('agrees on random lists, thresholds, limits, classes and dtypes', () => {
    const random = generator(91)
    const { next, pick } = random
    const cases = Array.from({ length: some(300) }, () => {
      const t = boxesOf(
        random,
        pick(['float32', 'float32', 'float64', 'int16', 'float16']),
        pick([0, 1, 2, 7, 40, 200, 400]),
      )
      const n = t.shape[0]
      return {
        name: 'nms',
        t,
        scores: Array.from({ length: n }, () => next(pick([5, 1000])) / 64 - 1),
        classes: next(2) ? Array.from({ length: n }, () => next(4) - 1) : null,
        most: pick([0, 0.1, 0.3, 0.5, 0.7, 1]),
        least: pick([null, null, 0, 1, 3]),
        limit: pick([0, 1, 10, 100000, 100000]),
      }
    })
    askPython(cases).forEach(({ values }, i) => {
      const { t, scores, classes, most, least, limit } = cases[i]
      const n = scores.length
      const got = nms(t, tensor(scores, [n], { dtype: 'float64' }), {
        iouThreshold: most,
        scoreThreshold: least ?? undefined,
        limit,
        classes:
          classes === null
            ? undefined
            : tensor(
                classes.map((c) => BigInt(c) * 2n ** 40n),
                [n],
                { dtype: 'int64' },
              ),
      })
      assert.equal(got.dtype, 'int32')
      assert.deepEqual(
        flat(got),
        values.map(Number),
        JSON.stringify({
          n,
          most,
          least,
          limit,
          classes: classes !== null,
          dtype: t.dtype,
          strides: t.strides,
        }),
      )
    })
  })
})

describe('nms', () => {
  needsMath()

  const REAL = dtypes.filter((name) => !name.startsWith('complex'))
  /** Boxes that have nothing in common. */
  const apart = (n) =>
    tensor(Array.from({ length: n }, (_, i) => [2 * i, 0, 2 * i + 1, 1]).flat(), [n, 4])

  for (const dtype of REAL) {
    it(`takes the scores that greater takes, in the order of argsort: ${dtype}`, () => {
      const { next, pick } = generator(5270 + REAL.indexOf(dtype))
      const isWhole = dtype.includes('int') || dtype === 'bool'
      for (let round = 0; round < some(120); round++) {
        const n = 1 + next(30)
        const numbers = Array.from({ length: n }, () =>
          pick([
            0.3,
            0.1,
            0.25,
            0.5,
            0.7,
            -0.3,
            0,
            -0,
            1,
            1 / 3,
            2,
            100,
            ...(isWhole || dtype.startsWith('float8_e4') ? [] : [NaN, Infinity]),
          ]),
        )
        const scores = tensor(
          tensor(
            isWhole ? numbers.map((x) => Math.max(0, Math.round(x * 10))) : numbers,
            'float64',
          ),
          null,
          { dtype, casting: 'unsafe' },
        )
        const least = pick([
          0.3,
          0.1,
          0.25,
          0.5,
          0.7,
          -0.3,
          0,
          1,
          1 / 3,
          -0.5,
          2.5,
          -1e30,
          undefined,
        ])
        const order = argsort(scores, { descending: true, stable: true }).toArray()
        const isGreater =
          least === undefined ? null : greater(scores, least === -1e30 ? -400 : least).toArray()
        assert.deepEqual(
          nms(apart(n), scores, { scoreThreshold: least }).toArray(),
          order.filter((i) => isGreater === null || isGreater[i]),
          JSON.stringify([least, scores.toArray().map(String)]),
        )
      }
    })
  }

  it('leaves a score of 0.3 out at a scoreThreshold of 0.3: float16, bfloat16, float32, float64', () => {
    for (const dtype of ['float16', 'bfloat16', 'float32', 'float64']) {
      const scores = tensor([0.3, 0.31, 0.29], dtype)
      assert.deepEqual(nms(apart(3), scores, { scoreThreshold: 0.3 }).toArray(), [1])
      assert.deepEqual(greater(scores, 0.3).toArray(), [false, true, false])
    }
  })

  it('takes any threshold: beyond what float16, float8 and int8 scores have', () => {
    for (const dtype of ['float16', 'float8_e4m3fn', 'float8_e5m2', 'int8', 'uint64', 'bool']) {
      const scores = tensor([1, 0], { dtype: dtype === 'bool' ? 'uint8' : dtype }).astype(dtype, {
        casting: 'unsafe',
      })
      for (const least of [1e300, Infinity, 1e6]) {
        assert.deepEqual(nms(apart(2), scores, { scoreThreshold: least }).toArray(), [])
      }
      for (const least of [-1e300, -Infinity, -1e6]) {
        assert.deepEqual(nms(apart(2), scores, { scoreThreshold: least }).toArray(), [0, 1])
      }
    }
  })

  it('compares int64 and uint64 scores as they are', () => {
    for (const dtype of ['int64', 'uint64']) {
      const scores = tensor([2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 53n - 1n], dtype)
      assert.deepEqual(nms(apart(4), scores).toArray(), [2, 1, 0, 3])
      assert.deepEqual(nms(apart(4), scores, { scoreThreshold: 2 ** 53 }).toArray(), [2, 1])
    }
    assert.deepEqual(
      nms(apart(3), tensor([-1n, 0n, -(2n ** 63n)]), { scoreThreshold: -0.5 }).toArray(),
      [1],
    )
    assert.deepEqual(
      nms(apart(2), tensor([2n ** 64n - 1n, 2n ** 64n - 2n], 'uint64'), {
        scoreThreshold: 2 ** 63,
      }).toArray(),
      [0, 1],
    )
  })

  it("compares what boxes share with iouThreshold as it is, as torchvision does: float32's 0.3 is above 0.3", () => {
    const boxes = tensor([
      [0, 0, 10, 1],
      [0, 0, 3, 1],
    ]) // 3 / 10
    assert.deepEqual(nms(boxes, tensor([2, 1]), { iouThreshold: 0.3 }).toArray(), [0])
    assert.deepEqual(
      nms(boxes, tensor([2, 1]), { iouThreshold: Math.fround(0.3) }).toArray(),
      [0, 1],
    )
    assert.deepEqual(
      nms(boxes.astype('float64'), tensor([2, 1]), { iouThreshold: 0.3 }).toArray(),
      [0, 1],
    )
  })

  const four = tensor([
    [0, 0, 2, 2],
    [0, 0, 2, 1],
    [0, 0, 2, 2],
    [5, 5, 6, 6],
  ])

  it('leaves a box out whose union with a better one is less than the threshold times what they share', () => {
    assert.deepEqual(nms(four, tensor([0.5, 0.9, 0.5, 0.1])).toArray(), [1, 0, 3])
    assert.deepEqual(
      nms(four, tensor([0.5, 0.9, 0.5, 0.1]), { iouThreshold: 0.49 }).toArray(),
      [1, 3],
    )
    assert.deepEqual(
      nms(four, tensor([0.5, 0.9, 0.5, 0.1]), { iouThreshold: 1 }).toArray(),
      [1, 0, 2, 3],
    )
  })

  it('orders equal scores by index, and NaN last', () => {
    const apart = tensor([
      [0, 0, 1, 1],
      [2, 0, 3, 1],
      [4, 0, 5, 1],
      [6, 0, 7, 1],
      [8, 0, 9, 1],
    ])
    assert.deepEqual(
      nms(apart, tensor([0, NaN, -0, Infinity, -Infinity])).toArray(),
      [3, 0, 2, 4, 1],
    )
    assert.deepEqual(
      nms(apart, tensor([0, NaN, -0, Infinity, -Infinity]), { scoreThreshold: -1 }).toArray(),
      [3, 0, 2],
    )
    assert.deepEqual(
      nms(apart, tensor([1, 1, 1, 1, 1], 'uint8'), { limit: 3 }).toArray(),
      [0, 1, 2],
    )
  })

  it('keeps boxes of NaN, and of no area beside each other', () => {
    assert.deepEqual(
      nms(
        tensor([
          [NaN, 0, 1, 1],
          [NaN, 0, 1, 1],
        ]),
        tensor([1, 2]),
      ).toArray(),
      [1, 0],
    )
    assert.deepEqual(
      nms(
        tensor([
          [1, 1, 1, 1],
          [1, 1, 1, 1],
        ]),
        tensor([1, 2]),
        { iouThreshold: 0 },
      ).toArray(),
      [1, 0],
    )
  })

  it('gives as many indices as there are, and leaves nothing behind', () => {
    const scores = tensor([0.5, 0.9, 0.5, 0.1])
    nms(four, scores).dispose()
    const before = memory()
    const got = nms(four, scores, { dtype: 'int64' })
    assert.deepEqual([got.dtype, got.shape, got.nbytes, got.offset], ['int64', [3], 24, 0])
    assert.deepEqual(got.toArray(), [1n, 0n, 3n])
    got.dispose()
    assert.equal(memory().storages, before.storages)
    assert.equal(memory().staged.count, before.staged.count)
    assert.deepEqual([...nms(zeros([0, 4]), zeros([0])).shape], [0])
  })

  it('refuses what it is not for', () => {
    const scores = zeros([4])
    fails(() => nms(zeros([4, 5]), scores), RangeError, 'ERR_SHAPE', /boxes have 4/)
    fails(() => nms(zeros([4]), scores), RangeError, 'ERR_SHAPE', /\[n, 4\]/)
    fails(() => nms(four, zeros([3])), RangeError, 'ERR_SHAPE', /one for each box/)
    fails(
      () => nms(four, scores, { classes: zeros([3], 'int32') }),
      RangeError,
      'ERR_SHAPE',
      /classes/,
    )
    fails(() => nms(four, scores, { classes: zeros([4]) }), TypeError, 'ERR_DTYPE', /integers/)
    fails(() => nms(four.astype('complex64'), scores), TypeError, 'ERR_DTYPE')
    fails(() => nms(four, zeros([4], 'complex64')), TypeError, 'ERR_DTYPE', /scores/)
    fails(() => nms(four, scores, { limit: -1 }), RangeError, 'ERR_BOUNDS')
    fails(() => nms(four, scores, { dtype: 'float32' }), TypeError, 'ERR_DTYPE', /int32 or int64/)
    fails(() => nms(four, scores, { iouThreshold: NaN }), TypeError, 'ERR_ARGUMENT', /iouThreshold/)
    fails(() => nms(four, scores, 0.5), TypeError, 'ERR_ARGUMENT', /\{ iouThreshold: 0.5 \}/)
  })
})

describe('iou', () => {
  needsMath()

  it('agrees with NumPy on random boxes and dtypes', function () {
    skipWithout(this, 'NumPy')
    const random = generator(95)
    const cases = Array.from({ length: some(60) }, () => {
      const other = boxesOf(
        random,
        random.pick(['float32', 'float64', 'int32']),
        random.pick([1, 5, 70]),
      )
      return {
        name: 'iou',
        t: boxesOf(
          random,
          random.pick(['float32', 'float64', 'float16', 'int16']),
          random.pick([1, 3, 40]),
        ),
        other: other.toArray(),
        b: other,
      }
    })
    askPython(cases.map(({ b, ...rest }) => rest)).forEach(({ shape, values }, i) => {
      const got = iou(cases[i].t, cases[i].b)
      assert.deepEqual([...got.shape], shape)
      const most = got.dtype === 'float64' ? 1e-14 : got.dtype === 'float32' ? 2e-7 : 1e-3
      flat(got).forEach((x, k) =>
        assert.ok(
          Object.is(x, numberOf(values[k])) || Math.abs(x - numberOf(values[k])) <= most,
          `${x}, not ${values[k]}`,
        ),
      )
    })
  })

  it('broadcasts batches, and takes lists without boxes', () => {
    const a = tensor([[[0, 0, 2, 2]], [[1, 0, 3, 2]]])
    assert.deepEqual(
      iou(
        a,
        tensor([
          [0, 0, 2, 2],
          [5, 5, 6, 6],
        ]),
      ).toArray(),
      [[[1, 0]], [[Math.fround(1 / 3), 0]]],
    )
    assert.deepEqual([...iou(zeros([0, 4]), zeros([3, 4])).shape], [0, 3])
    assert.deepEqual([...iou(zeros([3, 4]), zeros([0, 4])).shape], [3, 0])
    assert.equal(iou(zeros([1, 4], 'uint8'), zeros([1, 4], 'int32')).dtype, 'float32')
  })

  it('writes into out, which may be of the boxes', () => {
    const boxes = tensor([
      [0, 0, 2, 2],
      [0, 0, 2, 1],
      [0, 0, 1, 1],
      [1, 1, 2, 2],
    ])
    const wanted = iou(boxes, boxes)
    const out = zeros([4, 4], 'float64').T
    assert.equal(iou(boxes, boxes, { out }), out)
    assert.deepEqual(out.toArray(), wanted.toArray())
    assert.deepEqual(iou(boxes, boxes, { out: boxes }).toArray(), wanted.toArray())
    const wrong = zeros([4, 3]).fill(7)
    refusedUnchanged(wrong, () => iou(boxes, boxes, { out: wrong }), 'ERR_SHAPE')
    const whole = zeros([4, 4], 'int32').fill(7)
    refusedUnchanged(whole, () => iou(boxes, boxes, { out: whole }), 'ERR_CAST')
    fails(() => iou(zeros([4]), boxes), RangeError, 'ERR_SHAPE', /boxes1/)
    fails(() => iou(boxes, zeros([4, 3])), RangeError, 'ERR_SHAPE', /boxes2/)
    fails(() => iou(boxes, boxes.astype('complex64')), TypeError, 'ERR_DTYPE')
  })
})

describe('unletterbox', () => {
  needsMath()

  const place = { scale: [0.5, 0.25], padding: [4, 8], size: [100, 200] }

  it('takes padding and scale off, and clips where it is asked to', () => {
    assert.deepEqual(unletterbox(tensor([[8, 4, 58, 58]]), place).toArray(), [[0, 0, 200, 108]])
    assert.deepEqual(
      unletterbox(tensor([[0, 0, 70, 58]], 'int32'), place, { clip: true }).toArray(),
      [[0, 0, 200, 100]],
    )
    assert.deepEqual(unletterbox(tensor([NaN, 0, NaN, 0]), place, { clip: true }).toArray(), [
      NaN,
      0,
      NaN,
      0,
    ])
    assert.equal(unletterbox(zeros([2, 3, 4], 'float16'), place).dtype, 'float16')
  })

  it('writes into out, in place too', () => {
    const boxes = tensor([[8, 4, 58, 58]])
    assert.equal(unletterbox(boxes, place, { out: boxes }), boxes)
    assert.deepEqual(boxes.toArray(), [[0, 0, 200, 108]])
    const out = zeros([4], 'int32').fill(7)
    refusedUnchanged(out, () => unletterbox(zeros([4]), place, { out }), 'ERR_CAST')
    refusedUnchanged(out, () => unletterbox(zeros([2, 4]), place, { out }), 'ERR_SHAPE')
    fails(() => unletterbox(zeros([3]), place), RangeError, 'ERR_SHAPE', /boxes have 4/)
    fails(() => unletterbox(zeros([4]), null), TypeError, 'ERR_ARGUMENT', /letterboxed is null/)
    fails(
      () => unletterbox(zeros([4]), { ...place, scale: 2 }),
      TypeError,
      'ERR_ARGUMENT',
      /scale is 2/,
    )
    fails(() => unletterbox(zeros([4], 'bool'), place), TypeError, 'ERR_DTYPE')
  })
})

describe('oneHot', () => {
  needsMath()

  it('has 1 at each index, along any axis, of any dtype', () => {
    const t = tensor(
      [
        [2, 0],
        [1, 1],
      ],
      'uint8',
    )
    assert.deepEqual(oneHot(t, 3).toArray(), [
      [
        [0, 0, 1],
        [1, 0, 0],
      ],
      [
        [0, 1, 0],
        [0, 1, 0],
      ],
    ])
    assert.deepEqual(oneHot(t, 3, { axis: 1 }).toArray(), [
      [
        [0, 1],
        [0, 0],
        [1, 0],
      ],
      [
        [0, 0],
        [1, 1],
        [0, 0],
      ],
    ])
    assert.deepEqual(
      oneHot(t.T, 3, { axis: 0 }).permute([1, 2, 0]).toArray(),
      oneHot(t, 3).permute([1, 0, 2]).toArray(),
    )
    for (const [dtype, zero, one] of [
      ['bool', false, true],
      ['int64', 0n, 1n],
      ['float16', 0, 1],
      ['bfloat16', 0, 1],
      ['complex64', [0, 0], [1, 0]],
      ['complex128', [0, 0], [1, 0]],
      ['float8_e4m3fn', 0, 1],
    ]) {
      assert.deepEqual(oneHot(tensor([1n], 'int64'), 2, { dtype }).toArray(), [[zero, one]], dtype)
    }
    assert.deepEqual(oneHot(tensor(1, 'int32'), 2, 'uint8').toArray(), [0, 1])
    assert.deepEqual([...oneHot(zeros([0], 'int32'), 3).shape], [0, 3])
    assert.deepEqual([...oneHot(zeros([0], 'int32'), 0).shape], [0, 0])
  })

  it('agrees with a comparison of many indices', () => {
    const { next } = generator(3)
    const t = tensor(
      Int32Array.from({ length: 70000 }, () => next(10)),
      [70000],
    )
    const wanted = math
      .equal(t.unsqueeze(1), tensor(Int32Array.from({ length: 10 }, (_, i) => i)))
      .astype('float32')
    assert.equal(hex(oneHot(t, 10)), hex(wanted))
    assert.equal(hex(oneHot(t, 10, { axis: 0 }).T), hex(wanted))
  })

  it('refuses an index outside, and leaves out as it was', () => {
    const out = zeros([2, 3]).fill(7)
    for (const bad of [3, -1, 2 ** 31 - 1]) {
      refusedUnchanged(out, () => oneHot(tensor([0, bad], 'int32'), 3, { out }), 'ERR_BOUNDS')
    }
    refusedUnchanged(
      out,
      () => oneHot(tensor([2n ** 64n - 1n, 0n], 'uint64'), 3, { out }),
      'ERR_BOUNDS',
    )
    refusedUnchanged(out, () => oneHot(tensor([0, 1], 'int32'), 4, { out }), 'ERR_SHAPE')
    refusedUnchanged(
      out,
      () => oneHot(tensor([0, 1], 'int32'), 3, { out, dtype: 'int32' }),
      'ERR_DTYPE',
    )
    fails(() => oneHot(tensor([0]), 3), TypeError, 'ERR_DTYPE', /integers/)
    fails(() => oneHot(tensor([0], 'int32'), 0), RangeError, 'ERR_BOUNDS')
    fails(() => oneHot(tensor([0], 'int32'), -1), RangeError, 'ERR_SHAPE', /n is -1/)
    fails(() => oneHot(tensor([0], 'int32'), 3, { axis: 2 }), RangeError, 'ERR_BOUNDS')
    const own = tensor(
      [
        [1, 0],
        [0, 0],
      ],
      'int32',
    )
    assert.deepEqual(oneHot(own.select(0, 0), 2, { out: own }).toArray(), [
      [0, 1],
      [1, 0],
    ])
  })

  it('asynchronously', async () => {
    const t = tensor([1, 0], 'int32')
    assert.deepEqual((await math.oneHotAsync(t, 2)).toArray(), [
      [0, 1],
      [1, 0],
    ])
    await assert.rejects(math.oneHotAsync(t, 1), { code: 'ERR_BOUNDS' })
    const boxes = tensor([[0, 0, 2, 2]])
    assert.deepEqual((await math.iouAsync(boxes, boxes)).toArray(), [[1]])
    assert.deepEqual(
      (
        await math.unletterboxAsync(boxes, { scale: [2, 2], padding: [0, 0], size: [1, 1] })
      ).toArray(),
      [[0, 0, 1, 1]],
    )
  })
})
