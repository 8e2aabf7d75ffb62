'use strict'
/* global ImageData, Float16Array */
// resize, crop, letterbox and pad beside their definitions in NumPy, and PyTorch; out; no copies; the same bits everywhere.
const assert = require('node:assert/strict')
const { backend, concat, fromBlob, memory, tensor, zeros } = require('samebytes')
const {
  assertView,
  fails,
  generator,
  hex,
  needs,
  refusedUnchanged,
  skipWithout,
} = require('../setup')
const { math, needsMath, some } = require('./load')
const { numberOf, arranged } = require('./numpy-reductions')
const { askPython, flat } = require('./numpy-images')

const { resize, crop, letterbox, pad, unletterbox } = math
const staged = () => memory().staged.count
const METHODS = ['bilinear', 'bicubic', 'nearest']

/** A tensor of small numbers, or bytes: dense, permuted, sliced or flipped. */
function imageOf({ next, pick, shuffle }, dtype, shape) {
  const n = shape.reduce((a, b) => a * b, 1)
  const value = () =>
    dtype === 'uint8'
      ? next(256)
      : dtype.startsWith('uint') || dtype.startsWith('int')
        ? next(200) - (dtype.startsWith('int') ? 100 : 0)
        : next(2001) / 1000 - 1
  const order = shuffle(shape.map((_, d) => d))
  const values = Array.from({ length: n }, () =>
    dtype.endsWith('int64') ? BigInt(value()) : value(),
  )
  const inverse = order.map((_, d) => order.indexOf(d))
  let t = tensor(
    values,
    order.map((d) => shape[d]),
    { dtype },
  ).permute(inverse)
  if (next(3) === 0) t = t.slice(...shape.map(() => pick([':', ':', '::-1'])))
  return t
}

/** How far a result may be off, in its own units. */
const MOST = { float32: 1e-6, float64: 1e-13, float16: 2 ** -10, bfloat16: 2 ** -7 }

function assertNear(got, wanted, what) {
  const whole = !(got.dtype in MOST)
  flat(got).forEach((x, k) => {
    const y = numberOf(wanted[k])
    if (whole) {
      const [least, most] = { uint8: [0, 255], int8: [-128, 127], uint16: [0, 65535] }[
        got.dtype
      ] ?? [-Infinity, Infinity]
      const clamped = Math.min(Math.max(y, least), most)
      return assert.ok(
        Math.abs(Number(x) - clamped) <= 0.5 + 1e-4,
        `${what} at ${k}: ${x}, not ${y}`,
      )
    }
    assert.ok(
      Math.abs(x - y) <= MOST[got.dtype] * Math.max(1, Math.abs(y)),
      `${what} at ${k}: ${x}, not ${y}`,
    )
  })
}

describe('resize beside its definition', function () {
  needsMath()
  needs('NumPy')

  function makeCase(random) {
    const { next, pick, shuffle } = random
    const dtype = pick([
      'uint8',
      'uint8',
      'uint8',
      'float32',
      'float32',
      'float32',
      'float64',
      'float16',
      'bfloat16',
      'int8',
      'int16',
      'uint16',
      'int32',
      'int64',
    ])
    const ndim = pick([2, 3, 3, 3, 4])
    const axes = shuffle(Array.from({ length: ndim }, (_, d) => d)).slice(0, 2)
    const extents = [1, 2, 3, 5, 8, 13, 40, 67]
    const shape = Array.from({ length: ndim }, (_, d) =>
      axes.includes(d) ? pick(extents) : pick([1, 2, 3, 4, 5]),
    )
    return {
      name: 'resize',
      t: imageOf(random, dtype, shape),
      axes: axes.map((d) => d - pick([0, ndim])),
      size: [pick(extents), pick(extents)],
      method: pick(METHODS),
      antialias: next(2) === 1,
      torch: backend() === 'native',
    }
  }

  it('agrees on random images, axes, sizes, methods, dtypes and layouts, and so does PyTorch', () => {
    const random = generator(71)
    const cases = Array.from({ length: some(600) }, () => makeCase(random))
    askPython(cases).forEach(({ shape, values, off }, i) => {
      const { t, name, torch, ...opts } = cases[i]
      const what = JSON.stringify({ ...opts, dtype: t.dtype, shape: t.shape, strides: t.strides })
      const { size, ...rest } = opts
      const got = resize(t, size, rest)
      assert.equal(got.dtype, t.dtype, what)
      assert.deepEqual([...got.shape], shape, what)
      assertNear(got, values, what)
      assert.ok(off === null || off < 1e-6 * 256, `${what}: PyTorch is ${off} off`)
    })
  })

  it('agrees on images with long rows, and many rows for each new one', () => {
    const random = generator(72)
    const cases = [
      [
        [400, 40, 3],
        [7, 31],
      ],
      [
        [3, 40, 2101],
        [2, 5],
      ],
      [
        [9, 2500, 4],
        [12, 3],
      ],
      [
        [1, 70, 2],
        [90, 130],
      ],
    ].flatMap(([shape, size], i) =>
      [
        ['bilinear', true],
        ['bicubic', true],
        ['bicubic', false],
      ].map(([method, antialias], k) => ({
        name: 'resize',
        t: imageOf(
          { ...random, shuffle: (list) => list, next: (n) => (n === 3 ? 1 : random.next(n)) },
          ['uint8', 'float32', 'float16'][(i + k) % 3],
          shape,
        ),
        axes: i === 1 ? [1, 2] : [0, 1],
        size,
        method,
        antialias,
      })),
    )
    askPython(cases).forEach(({ values }, i) => {
      const { t, name, size, ...opts } = cases[i]
      assertNear(
        resize(t, size, opts),
        values,
        JSON.stringify({ size, ...opts, dtype: t.dtype, shape: t.shape }),
      )
    })
  })

  it('scales and converts in one step', () => {
    const random = generator(73)
    const cases = Array.from({ length: some(60) }, () => ({
      name: 'resize',
      t: imageOf(random, random.pick(['uint8', 'float32', 'int16']), [9, 14, 3]),
      axes: [0, 1],
      size: [random.pick([4, 17]), random.pick([5, 14])],
      method: random.pick(['bilinear', 'bicubic']),
      antialias: true,
    }))
    askPython(cases).forEach(({ values }, i) => {
      const { t, name, size, ...opts } = cases[i]
      const scale = [0.5, 0.25, 2]
      const bias = [1, 0, -3]
      const dtype = random.pick(['float32', 'float64', 'float16'])
      const got = resize(t.permute([2, 0, 1]), size, { ...opts, axes: [1, 2], scale, bias, dtype })
      assert.equal(got.dtype, dtype)
      const most = { float32: 1e-6, float64: 1e-13, float16: 2 ** -10 }[dtype] * 520
      flat(got.permute([1, 2, 0])).forEach((x, k) => {
        const y = numberOf(values[k]) * scale[k % 3] + bias[k % 3]
        assert.ok(Math.abs(x - y) <= most, `${dtype} at ${k}: ${x}, not ${y}`)
      })
    })
  })
})

describe('resize', () => {
  needsMath()

  it('leaves an image of the same size as it is, NaN and infinities too', () => {
    const t = tensor([
      [1, NaN, 3],
      [Infinity, 5, -Infinity],
    ])
    for (const method of METHODS) {
      for (const antialias of [true, false]) {
        assert.deepEqual(resize(t, [2, 3], { method, antialias }).toArray(), t.toArray())
      }
    }
  })

  it('takes pixels from next to a NaN alone where it has no weight', () => {
    assert.deepEqual(resize(tensor([[1, 1, NaN, NaN]]), [1, 2]).toArray(), [[NaN, NaN]])
    assert.deepEqual(resize(tensor([[1, 1, NaN, NaN]]), [1, 2], { antialias: false }).toArray(), [
      [1, NaN],
    ])
  })

  it('rounds to integers, ties to even, and clamps', () => {
    assert.deepEqual(
      resize(tensor([[0, 1, 1, 2]], 'uint8'), [1, 2], { antialias: false }).toArray(),
      [[0, 2]],
    )
    assert.deepEqual(
      resize(tensor([[0, 255, 255, 0]], 'uint8'), [1, 8], { method: 'bicubic' })
        .toArray()[0]
        .slice(3, 5),
      [255, 255],
    )
    assert.deepEqual(resize(tensor([[0, 3]], 'int16'), [1, 1], { antialias: false }).toArray(), [
      [2],
    ])
    assert.deepEqual(resize(tensor([[100]], 'uint8'), [1, 1], { scale: -1 }).toArray(), [[0]])
    assert.deepEqual(
      resize(tensor([[100]], 'uint8'), [1, 1], { scale: 1000, dtype: 'int16' }).toArray(),
      [[32767]],
    )
    assert.deepEqual(resize(tensor([[100]], 'uint8'), [1, 1], { scale: 2, bias: 1 }).toArray(), [
      [201],
    ])
    assert.deepEqual(resize(tensor([[NaN]]), [1, 1], { dtype: 'uint8' }).toArray(), [[0]])
  })

  it('takes the nearest items of any dtype as they are', () => {
    for (const [dtype, a, b] of [
      ['bool', true, false],
      ['int64', 2n ** 62n + 1n, -1n],
      ['complex128', [1, 2], [3, 4]],
      ['complex64', [1, 2], [3, 4]],
      ['float8_e5m2', 1, 2],
      ['uint16', 1, 65535],
      ['float64', 0.1, -0],
    ]) {
      const t = tensor([[a, b]], { dtype })
      assert.deepEqual(resize(t, [2, 4], { method: 'nearest' }).toArray(), [
        [a, a, b, b],
        [a, a, b, b],
      ])
      assert.deepEqual(resize(t.T, [4, 1], { method: 'nearest' }).toArray(), [[a], [a], [b], [b]])
    }
  })

  it('writes straight into any layout of out, and nothing is staged', () => {
    const { next } = generator(8)
    const t = tensor(
      Uint8Array.from({ length: 20 * 30 * 3 }, () => next(256)),
      [20, 30, 3],
    )
    const before = memory()
    for (const dtype of ['float32', 'float64', 'float16', 'uint8', 'int32']) {
      const wanted = resize(t, [7, 9], { axes: [0, 1], dtype, scale: [1, 0.5, 0.25] })
      const batch = zeros([2, 3, 7, 9], dtype)
      const view = batch.select(0, 1).permute([1, 2, 0])
      assert.equal(
        resize(t, [7, 9], { axes: [0, 1], scale: [1, 0.5, 0.25], out: view, casting: 'unsafe' }),
        view,
      )
      assert.equal(hex(view), hex(wanted))
      assert.equal(math.countNonzero(batch.select(0, 0)).item(), 0)
      const flipped = zeros([7, 18, 3], dtype).slice(':', '::-2')
      assert.equal(
        hex(
          resize(t, [7, 9], {
            axes: [0, 1],
            scale: [1, 0.5, 0.25],
            out: flipped,
            casting: 'unsafe',
          }),
        ),
        hex(wanted),
      )
    }
    assert.equal(memory().staged.count, before.staged.count)
  })

  it('stages an image that out overlaps', () => {
    const all = tensor(
      Float32Array.from({ length: 40 }, (_, i) => i),
      [5, 8],
    )
    const wanted = resize(all, [4, 8]).toArray()
    const before = memory().staged
    resize(all, [4, 8], { out: all.narrow(0, 1, 4) })
    assert.deepEqual(all.narrow(0, 1, 4).toArray(), wanted)
    assert.equal(memory().staged.count, before.count + 1)
    assert.equal(memory().staged.bytes, before.bytes + 160)
  })

  it('of no images, and to no pixels', () => {
    assert.deepEqual([...resize(zeros([0, 4, 4]), [2, 2]).shape], [0, 2, 2])
    assert.deepEqual([...resize(zeros([3, 4, 4]), [0, 2]).shape], [3, 0, 2])
    assert.deepEqual([...resize(zeros([3, 0, 4]), [0, 2]).shape], [3, 0, 2])
    fails(() => resize(zeros([3, 0, 4]), [1, 2]), RangeError, 'ERR_SHAPE', /without pixels/)
  })

  it('refuses what it is not for, and leaves out as it was', () => {
    const t = zeros([3, 4, 5])
    const out = zeros([3, 2, 2]).fill(7)
    refusedUnchanged(out, () => resize(t, [2, 3], { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => resize(t, [2, 2], { out, dtype: 'float64' }), 'ERR_DTYPE')
    refusedUnchanged(
      out,
      () => resize(t.astype('complex64'), [2, 2], { out, casting: 'unsafe' }),
      'ERR_DTYPE',
    )
    refusedUnchanged(out, () => resize(t.astype('complex64'), [2, 2], { out }), 'ERR_CAST')
    refusedUnchanged(out, () => resize(zeros([3, 0, 5]), [2, 2], { out }), 'ERR_SHAPE')
    const bytes = zeros([3, 2, 2], 'uint8').fill(7)
    refusedUnchanged(bytes, () => resize(t, [2, 2], { out: bytes }), 'ERR_CAST')
    for (const dtype of ['bool', 'float8_e4m3fn', 'complex64']) {
      fails(() => resize(zeros([2, 2], dtype), [1, 1]), TypeError, 'ERR_DTYPE')
    }
    fails(() => resize(zeros([4]), [2, 2]), RangeError, 'ERR_SHAPE', /at least two/)
    fails(() => resize(t, [2]), RangeError, 'ERR_SHAPE', /\[height, width\]/)
    fails(() => resize(t, [2, -1]), RangeError, 'ERR_SHAPE', /size\[1\] is -1/)
    fails(() => resize(t, [2, 2 ** 40]), RangeError, 'ERR_SHAPE', /pixels are possible/)
    fails(() => resize(t, [2, 2], { axes: [0, 3] }), RangeError, 'ERR_BOUNDS')
    fails(() => resize(t, [2, 2], { axes: [1, 1] }), RangeError, 'ERR_BOUNDS', /repeated/)
    fails(() => resize(t, [2, 2], { method: 'lanczos' }), TypeError, 'ERR_ARGUMENT', /'bilinear'/)
    fails(
      () => resize(t, [2, 2], { scale: [1, 2] }),
      RangeError,
      'ERR_SHAPE',
      /scale has 2 entries; axis 0 has 3/,
    )
    fails(
      () => resize(t, [2, 2], { scale: [1, 2, 3, 4], axis: 1 }),
      TypeError,
      'ERR_ARGUMENT',
      /one of axes/,
    )
    fails(
      () => resize(t, [2, 2], { axis: [0, 1] }),
      TypeError,
      'ERR_ARGUMENT',
      /^axis is an array; .* axes are those of rows and columns$/,
    )
    const image = zeros([3, 4, 5], 'uint8')
    for (const call of [resize, letterbox]) {
      fails(
        () => call(image, [2, 2], { scale: 1 / 255 }),
        TypeError,
        'ERR_CAST',
        /scale is 0\.0039.*uint8.*{ dtype: 'float32' }/,
      )
      fails(
        () => call(image, [2, 2], { scale: [1, 1, 1], bias: [0, 0, 0.5] }),
        TypeError,
        'ERR_CAST',
        /bias is 0\.5/,
      )
      call(image, [2, 2], { scale: 1 / 255, dtype: 'uint8' })
    }
    fails(
      () => resize(zeros([4, 5]), [2, 2], { bias: [1] }),
      RangeError,
      'ERR_SHAPE',
      /no axis of channels/,
    )
    const x = zeros([2, 2])
    fails(
      () =>
        resize(x, [1, 1], {
          get method() {
            x.dispose()
            return 'bilinear'
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })

  it('leaves nothing allocated', () => {
    const t = zeros([3, 40, 50], 'uint8')
    resize(t, [4, 5], { scale: [1, 2, 3], dtype: 'float32' }).dispose()
    const before = memory().storages
    for (let i = 0; i < 5; i++) resize(t, [4, 5], { scale: [1, 2, 3], dtype: 'float32' }).dispose()
    assert.equal(memory().storages, before)
  })
})

describe('crop', () => {
  needsMath()

  it('shows a part of the image, without a copy', () => {
    const t = tensor(
      Uint8Array.from({ length: 60 }, (_, i) => i),
      [4, 5, 3],
    )
    const part = assertView(t, () => crop(t, [1, 2, 4, 4], { axes: [0, 1] }))
    assert.deepEqual([...part.shape], [2, 3, 3])
    assert.deepEqual(part.toArray(), t.slice('2:4', '1:4').toArray())
    part.set(99, 0, 0, 0)
    assert.equal(t.get(2, 1, 0), 99)
    assert.deepEqual([...crop(zeros([2, 3, 4, 5]), [0, 0, 5, 1]).shape], [2, 3, 1, 5])
    assert.deepEqual([...crop(zeros([4, 5]), [2, 2, 2, 2]).shape], [0, 0])
  })

  it('says which boxes the image has', () => {
    const t = zeros([4, 5])
    for (const box of [
      [-1, 0, 2, 2],
      [0, 0, 6, 2],
      [0, 0, 2, 5],
      [3, 0, 2, 2],
      [0, 3, 2, 2],
    ]) {
      fails(
        () => crop(t, box),
        RangeError,
        'ERR_BOUNDS',
        /an image of 5 × 4 pixels has \[0, 0, 5, 4\]/,
      )
    }
    fails(() => crop(t, [0, 0, 1]), RangeError, 'ERR_SHAPE', /left, top, right, bottom/)
    fails(() => crop(zeros([4]), [0, 0, 1, 1]), RangeError, 'ERR_SHAPE')
  })
})

describe('letterbox', () => {
  needsMath()

  it('resizes into the middle, and writes the border around it', () => {
    const { next } = generator(4)
    const t = tensor(
      Uint8Array.from({ length: 10 * 20 * 3 }, () => next(256)),
      [10, 20, 3],
    )
    const { image, scale, padding, size } = letterbox(t, [16, 16], { axes: [0, 1] })
    assert.deepEqual([image.dtype, ...image.shape], ['uint8', 16, 16, 3])
    assert.deepEqual(
      { scale, padding, size },
      { scale: [0.8, 0.8], padding: [4, 0], size: [10, 20] },
    )
    assert.equal(hex(image.slice('4:12')), hex(resize(t, [8, 16], { axes: [0, 1] })))
    for (const border of [image.slice(':4'), image.slice('12:')]) {
      assert.ok(flat(border).every((x) => x === 114))
    }
  })

  it('scales image and border alike, for each channel', () => {
    const t = zeros([3, 4, 2], 'uint8').fill(114)
    const opts = { scale: [1 / 255, 0.5, 2], bias: [0.25, -1, 0.1] }
    for (const dtype of ['float32', 'float64', 'float16']) {
      const { image, padding } = letterbox(t, [4, 6], { ...opts, dtype })
      assert.deepEqual(padding, [0, 2])
      for (let c = 0; c < 3; c++) assert.equal(new Set(flat(image.select(0, c))).size, 1, dtype)
    }
    assert.equal(
      letterbox(t, [4, 6], { value: 0, scale: 2, bias: 1, dtype: 'float32' }).image.get(0, 0, 0),
      1,
    )
    assert.deepEqual(letterbox(tensor([[5]], 'uint8'), [1, 3], { value: 300 }).image.toArray(), [
      [255, 5, 255],
    ])
  })

  it('puts the image where align says', () => {
    const t = zeros([1, 1]).fill(1)
    assert.deepEqual(letterbox(t, [1, 4], { value: 0 }).image.toArray(), [[0, 1, 0, 0]])
    assert.deepEqual(letterbox(t, [1, 4], { value: 0, align: 'start' }).image.toArray(), [
      [1, 0, 0, 0],
    ])
    assert.deepEqual(letterbox(t, [1, 4], { value: 0, align: 'end' }).image.toArray(), [
      [0, 0, 0, 1],
    ])
  })

  it('rounds halves of pixels to the even one, as Ultralytics does', () => {
    // 721 × 1280 in 640 × 640 is 360.5 high, 723 × 1280 361.5: Python's round() makes 360 and 362 of these
    for (const [size, wanted, inner] of [
      [[721, 1280], 640, [360, 640]],
      [[723, 1280], 640, [362, 640]],
      [[1280, 721], 640, [640, 360]],
      [[3, 6], 3, [2, 3]],
      [[5, 10], 5, [2, 5]],
      [[7, 14], 7, [4, 7]],
    ]) {
      const { scale, padding, image } = letterbox(zeros(size, 'uint8'), [wanted, wanted], {
        value: 7,
        align: 'start',
      })
      assert.deepEqual(
        [scale, padding],
        [
          [inner[0] / size[0], inner[1] / size[1]],
          [0, 0],
        ],
      )
      assert.deepEqual(
        [
          inner[0] === wanted || image.get(inner[0], 0),
          image.get(inner[0] - 1, inner[1] - 1),
          inner[1] === wanted || image.get(0, inner[1]),
        ],
        [inner[0] === wanted || 7, 0, inner[1] === wanted || 7],
      )
    }
  })

  it('keeps at least a pixel of each axis', () => {
    const { image, scale } = letterbox(zeros([1, 1000], 'uint8').fill(3), [4, 4], { value: 0 })
    assert.deepEqual(scale, [1, 0.004])
    assert.deepEqual(image.select(1, 0).toArray(), [0, 3, 0, 0])
  })

  it('boxes come back to where they were', () => {
    const { next } = generator(6)
    for (let i = 0; i < 50; i++) {
      const [h, w, height, width] = Array.from({ length: 4 }, () => next(300) + 1)
      const place = letterbox(zeros([h, w], 'uint8'), [height, width])
      const box = [next(w), next(h), w, h]
      const there = box.map((x, k) => x * place.scale[1 - (k % 2)] + place.padding[1 - (k % 2)])
      flat(unletterbox(tensor(there, { dtype: 'float64' }), place)).forEach((x, k) =>
        assert.ok(Math.abs(x - box[k]) < 1e-9),
      )
    }
  })

  it('writes into out, and refuses one of another shape', () => {
    const t = tensor([[1, 2]])
    const out = zeros([4, 3]).T
    assert.equal(letterbox(t, [3, 4], { out, value: 0 }).image, out)
    assert.equal(hex(out), hex(letterbox(t, [3, 4], { value: 0 }).image))
    const wrong = zeros([2, 2]).fill(7)
    refusedUnchanged(wrong, () => letterbox(t, [3, 4], { out: wrong }), 'ERR_SHAPE')
    refusedUnchanged(
      wrong,
      () => letterbox(t.astype('complex64'), [2, 2], { out: wrong, casting: 'unsafe' }),
      'ERR_DTYPE',
    )
    fails(() => letterbox(zeros([0, 2]), [3, 4]), RangeError, 'ERR_SHAPE', /proportions/)
    fails(() => letterbox(t, [0, 4]), RangeError, 'ERR_SHAPE', /proportions/)
    fails(() => letterbox(t, [3, 4], { value: '1' }), TypeError, 'ERR_ARGUMENT', /value is "1"/)
  })
})

describe('pad beside NumPy', () => {
  needsMath()
  needs('NumPy')

  it('agrees on random tensors, widths and modes', () => {
    const random = generator(81)
    const { next, pick } = random
    const cases = Array.from({ length: some(300) }, () => {
      const mode = pick(['constant', 'reflect', 'edge'])
      const dtype = pick(['float32', 'int64', 'uint8', 'float64', 'int16'])
      const t = arranged(random, dtype, mode === 'constant' ? [0, 1, 2, 3, 5] : [1, 2, 3, 5], 3)
      return {
        name: 'pad',
        t,
        mode,
        widths: t.shape.map(() => [next(7), next(7)]),
        value: dtype === 'uint8' ? 3 : -3,
      }
    })
    askPython(cases).forEach(({ shape, values }, i) => {
      const { t, widths, mode, value } = cases[i]
      const what = JSON.stringify({
        widths,
        mode,
        dtype: t.dtype,
        shape: t.shape,
        strides: t.strides,
      })
      const got = pad(t, widths, { mode, value })
      assert.deepEqual([got.dtype, ...got.shape], [t.dtype, ...shape], what)
      flat(got).forEach((x, k) =>
        assert.ok(Number(x) === numberOf(values[k]), `${what} at ${k}: ${x}, not ${values[k]}`),
      )
    })
  })
})

describe('pad', () => {
  needsMath()

  it('takes a number, a pair, or widths of each axis', () => {
    const t = tensor([[1, 2]])
    assert.deepEqual(pad(t, 1).toArray(), [
      [0, 0, 0, 0],
      [0, 1, 2, 0],
      [0, 0, 0, 0],
    ])
    assert.deepEqual(pad(t, [0, 1], { value: 9 }).toArray(), [
      [1, 2, 9],
      [9, 9, 9],
    ])
    assert.deepEqual(
      pad(
        t,
        [
          [1, 0],
          [0, 2],
        ],
        { mode: 'edge' },
      ).toArray(),
      [
        [1, 2, 2, 2],
        [1, 2, 2, 2],
      ],
    )
    assert.deepEqual(pad(t, [[0, 0], 1], { mode: 'reflect' }).toArray(), [[2, 1, 2, 1]])
    assert.deepEqual(pad(tensor(5), 3).item(), 5)
    assert.deepEqual(
      pad(tensor([[1, 2]], 'complex64'), 0).toArray(),
      tensor([[1, 2]], 'complex64').toArray(),
    )
    assert.deepEqual(pad(tensor([1n], 'int64'), [0, 1], { value: 2n ** 62n + 1n }).toArray(), [
      1n,
      2n ** 62n + 1n,
    ])
  })

  it('writes into out, which may have x in it', () => {
    const out = zeros([5]).fill(7)
    const inside = out.slice('1:4')
    inside.copyFrom([1, 2, 3])
    const before = staged()
    assert.equal(pad(inside, 1, { out, mode: 'edge' }), out)
    assert.equal(staged(), before)
    assert.deepEqual(out.toArray(), [1, 1, 2, 3, 3])
    pad(out.slice(':3'), 1, { out, value: 9 })
    assert.equal(staged(), before + 1)
    assert.deepEqual(out.toArray(), [9, 1, 1, 2, 9])
    assert.deepEqual(
      pad(tensor([1, 2], 'uint8'), 1, { out: zeros([4]), value: 0.5 }).toArray(),
      [0.5, 1, 2, 0.5],
    )
    const columns = zeros([4, 3]).T
    assert.deepEqual(pad(tensor([[1, 2]]), 1, { out: columns, mode: 'edge' }).toArray(), [
      [1, 1, 2, 2],
      [1, 1, 2, 2],
      [1, 1, 2, 2],
    ])
  })

  it('refuses what it is not for, and leaves out as it was', () => {
    const out = zeros([4], 'uint8').fill(7)
    const t = tensor([1, 2], 'uint8')
    refusedUnchanged(out, () => pad(t, 1, { out, value: -1 }), 'ERR_CAST')
    refusedUnchanged(out, () => pad(t, 2, { out }), 'ERR_SHAPE')
    for (const length of [65, 2 ** 32 - 1, 2 ** 53, 1.5, NaN]) {
      refusedUnchanged(
        out,
        () =>
          pad(t, new Proxy([1], { get: (list, key) => (key === 'length' ? length : list[key]) }), {
            out,
          }),
        'ERR_SHAPE',
      )
    }
    refusedUnchanged(out, () => pad(tensor([1, 2]), 1, { out }), 'ERR_CAST')
    refusedUnchanged(out, () => pad(tensor([], 'uint8'), 2, { out, mode: 'edge' }), 'ERR_SHAPE')
    fails(() => pad(t, 1, { value: 0.5 }), TypeError, 'ERR_CAST', /value is 0.5/)
    fails(() => pad(t, -1), RangeError, 'ERR_SHAPE', /widths is -1/)
    fails(
      () =>
        pad(t, [
          [1, 2],
          [1, 2],
        ]),
      RangeError,
      'ERR_SHAPE',
      /widths has 2 entries; x has 1/,
    )
    fails(() => pad(t, [[1, 2, 3]]), RangeError, 'ERR_SHAPE', /before, after/)
    fails(
      () => pad(zeros([0]), 1, { mode: 'reflect' }),
      RangeError,
      'ERR_SHAPE',
      /no elements to repeat/,
    )
    fails(() => pad(t, 1, { mode: 'wrap' }), TypeError, 'ERR_ARGUMENT', /'reflect'/)
    assert.deepEqual(pad(zeros([0]), 1).toArray(), [0, 0])
  })
})

/** The mean of colours with alpha as weight, by resize's own weights: of colours times alpha, and of alpha, in float64. */
function weighted(t, size, opts) {
  const wide = t.astype('float64', { casting: 'unsafe' })
  const how = { method: opts.method, antialias: opts.antialias, axes: [0, 1] }
  const alpha = resize(wide.narrow(2, 3, 1), size, how)
  const colours = math.where(
    math.greater(alpha, /int/.test(t.dtype) ? 0.5 : 0),
    math.divide(
      resize(math.multiply(wide, wide.narrow(2, 3, 1)), size, how).narrow(2, 0, 3),
      alpha,
    ),
    0,
  )
  return flat(concat([colours, alpha], { axis: 2 }))
}

describe('resize with alpha', function () {
  needsMath()

  it('a transparent pixel colours nothing: what a canvas and Pillow make of it', () => {
    const t = tensor(
      [
        [
          [255, 0, 0, 255],
          [0, 255, 0, 0],
        ],
      ],
      'uint8',
    ) // red, beside green that nobody sees
    const { image } = {
      image:
        typeof ImageData === 'function'
          ? new ImageData(Uint8ClampedArray.from(flat(t)), 2, 1)
          : { data: Uint8ClampedArray.from(flat(t)), width: 2, height: 1 },
    }
    assert.deepEqual(resize(image, [1, 1], { channels: 4 }).toArray(), [[[255, 0, 0, 128]]])
    assert.deepEqual(resize(image, [1, 1], { channels: 4, alpha: false }).toArray(), [
      [[128, 128, 0, 128]],
    ])
    assert.deepEqual(resize(image, [1, 1]).toArray(), [[[128, 128, 0]]])
    assert.deepEqual(resize(t, [1, 1], { axes: [0, 1], alpha: true }).toArray(), [
      [[255, 0, 0, 128]],
    ])
    assert.deepEqual(resize(t, [1, 1], { axes: [0, 1] }).toArray(), [[[128, 128, 0, 128]]])
    assert.deepEqual(resize(t.permute(2, 0, 1), [1, 1], { alpha: true }).toArray(), [
      [[255]],
      [[0]],
      [[0]],
      [[128]],
    ])
    assert.deepEqual(
      resize(t, [1, 1], {
        axes: [0, 1],
        alpha: true,
        scale: [1, 1, 1, 1 / 255],
        bias: [0, 1, 2, 0],
        dtype: 'float32',
      }).toArray(),
      [[[255, 1, 2, 0.5]]],
    )
    assert.deepEqual(
      letterbox(image, [2, 1], { channels: 4, value: 9, align: 'start' }).image.toArray(),
      [[[255, 0, 0, 128]], [[9, 9, 9, 9]]],
    )
  })

  it('is the mean of colours that alpha weights, in each dtype, layout and method', () => {
    const { next, pick } = generator(31)
    for (const dtype of ['uint8', 'uint16', 'int32', 'float16', 'float32', 'float64']) {
      const most = { uint8: 255, uint16: 65535, int32: 2 ** 20 }[dtype] ?? 1
      const value = () => (most === 1 ? next(257) / 256 : next(most + 1))
      const t = tensor(
        Array.from({ length: 23 * 31 * 4 }, (_, i) => (i % 4 === 3 && next(3) === 0 ? 0 : value())),
        [23, 31, 4],
        { dtype },
      )
      const planar = t.permute(2, 0, 1).contiguous()
      for (const method of ['bilinear', 'bicubic']) {
        for (const antialias of [true, false]) {
          const size = [pick([7, 23, 50]), pick([9, 31, 64])]
          const got = resize(t, size, { axes: [0, 1], method, antialias, alpha: true })
          const wanted = weighted(t, size, { method, antialias })
          const off = { float16: 2 ** -10, float32: 1e-6, float64: 1e-12 }[dtype] ?? 0.5 + 1e-3
          flat(got).forEach((x, k) => {
            const y =
              most === 1
                ? wanted[k]
                : Math.min(
                    Math.max(wanted[k], dtype === 'int32' ? -Infinity : 0),
                    dtype === 'int32' ? Infinity : most,
                  )
            assert.ok(
              Math.abs(x - y) <= off * Math.max(1, most === 1 ? Math.abs(y) : 1) ||
                (method === 'bicubic' && most === 1 && Math.abs(y) > 4),
              `${dtype} ${method} ${antialias} at ${k}: ${x}, not ${y}`,
            )
          })
          assert.equal(
            hex(resize(planar, size, { method, antialias, alpha: true }).permute(1, 2, 0)),
            hex(got),
          )
          assert.equal(
            hex(
              resize(t.slice('::-1', '...', ':'), size, {
                axes: [0, 1],
                method,
                antialias,
                alpha: true,
                out: zeros([...size, 4], dtype),
              }),
            ),
            hex(
              resize(t.slice('::-1').contiguous(), size, {
                axes: [0, 1],
                method,
                antialias,
                alpha: true,
              }),
            ),
          )
        }
      }
    }
  })

  it('is right of every dtype into every dtype, with alpha near 0 as well, scaled or not', () => {
    const { next } = generator(53)
    const { finfo, iinfo } = require('samebytes')
    const dtypes = [
      'uint8',
      'int8',
      'uint16',
      'int16',
      'int32',
      'uint32',
      'int64',
      'uint64',
      'float16',
      'bfloat16',
      'float32',
      'float64',
    ]
    for (const from of dtypes) {
      const most = /int/.test(from) ? 100 : 1
      const t = tensor(
        Array.from({ length: 6 * 6 * 4 }, (_, i) =>
          i % 4 === 3
            ? next(3)
              ? 0
              : most === 1
                ? 2 ** -6
                : 1
            : most === 1
              ? next(65) / 64
              : next(101),
        ),
        [6, 6, 4],
        { dtype: from },
      )
      for (const dtype of dtypes) {
        const isWhole = /int/.test(dtype)
        for (const scale of [1, 2.5]) {
          const wide = t.astype('float64', { casting: 'unsafe' })
          const how = { axes: [0, 1], method: 'bilinear' }
          const alpha = resize(wide.narrow(2, 3, 1), [16, 16], how)
          const least = isWhole && scale === 1 ? 0.5 : 0 // what rounds to 0 is transparent
          const colours = math.where(
            math.greater(alpha, least),
            math.divide(
              resize(math.multiply(wide, wide.narrow(2, 3, 1)), [16, 16], how).narrow(2, 0, 3),
              alpha,
            ),
            0,
          )
          const wanted = flat(concat([colours, alpha], { axis: 2 })).map((x) => x * scale)
          const got = flat(
            resize(t, [16, 16], {
              ...how,
              alpha: true,
              dtype,
              casting: 'unsafe',
              ...(scale !== 1 && { scale }),
            }),
          )
          const { min, max } = isWhole ? iinfo(dtype) : {}
          got.forEach((x, k) => {
            const y = isWhole ? Math.min(Math.max(wanted[k], Number(min)), Number(max)) : wanted[k]
            const off = isWhole
              ? 0.5 + 1e-4
              : Math.max(Number(finfo(dtype).eps) / 2, 1e-14) * Math.abs(y)
            assert.ok(
              Math.abs(Number(x) - y) <= off * (1 + 1e-6),
              `${from} to ${dtype}, times ${scale}, at ${k}: ${x}, not ${y}`,
            )
          })
        }
      }
    }
    const faint = tensor([[[200, 100, 50, 1], ...new Array(7).fill([0, 0, 0, 0])]], 'uint8') // a mean alpha of 3 / 32
    assert.deepEqual(
      resize(faint, [1, 1], { axes: [0, 1], alpha: true, dtype: 'float32' }).toArray(),
      [[[200, 100, 50, 0.09375]]],
    )
    assert.deepEqual(resize(faint, [1, 1], { axes: [0, 1], alpha: true }).toArray(), [
      [[0, 0, 0, 0]],
    ])
  })

  it('leaves an image of the same size as it is, but for what is transparent, whose colours become 0', () => {
    const { next } = generator(5)
    for (const dtype of ['uint8', 'uint16', 'float16', 'float32']) {
      const t = tensor(
        Array.from({ length: 9 * 7 * 4 }, (_, i) =>
          dtype[0] === 'u' ? 1 + next(255) : (1 + next(1000)) / 1024,
        ),
        [9, 7, 4],
        { dtype },
      )
      for (const method of METHODS) {
        assert.equal(
          hex(resize(t, [9, 7], { axes: [0, 1], method, alpha: true })),
          hex(t),
          `${dtype} ${method}`,
        )
      }
      t.select(2, 3).fill(0)
      const gone = t.clone()
      gone.fill(0)
      assert.equal(hex(resize(t, [9, 7], { axes: [0, 1], alpha: true })), hex(gone))
      assert.equal(hex(resize(t, [9, 7], { axes: [0, 1], alpha: true, method: 'nearest' })), hex(t))
    }
    const t = tensor([
      [
        [Infinity, 0],
        [NaN, 0],
        [2, 1],
      ],
    ])
    assert.deepEqual(resize(t, [1, 1], { axes: [0, 1], alpha: true }).toArray(), [
      [[2, Math.fround(2 / 7)]],
    ])
  })

  it('has the same bits asynchronously, and where out lies over x', async () => {
    const { t } = pictureOf(40, 30)
    const opts = { axes: [0, 1], alpha: true }
    const wanted = hex(resize(t, [14, 20], opts))
    assert.equal(hex(await math.resizeAsync(t, [14, 20], opts)), wanted)
    assert.equal(
      hex((await math.letterboxAsync(t, [20, 20], opts)).image),
      hex(letterbox(t, [20, 20], opts).image),
    )
    const large = zeros([60, 40, 4], 'uint8')
    large.slice('30:').copyFrom(t.permute(0, 1, 2).reshape([30, 40, 4]))
    assert.equal(
      hex(resize(large.slice('30:'), [14, 20], { ...opts, out: large.slice('25:39', ':20') })),
      wanted,
    )
  })

  it('of 2 to 16 channels and more, the last of which is alpha; refuses fewer', () => {
    const { next } = generator(11)
    for (const channels of [2, 3, 4, 5, 17]) {
      const t = tensor(
        Array.from({ length: 6 * 5 * channels }, () => 1 + next(255)),
        [6, 5, channels],
        { dtype: 'uint8' },
      )
      const got = resize(t, [3, 4], { axes: [0, 1], alpha: true, dtype: 'float64' })
      for (let c = 0; c + 1 < channels; c++) {
        const pair = concat([t.narrow(2, c, 1), t.narrow(2, channels - 1, 1)], { axis: 2 })
        assert.equal(
          hex(resize(pair, [3, 4], { axes: [0, 1], alpha: true, dtype: 'float64' }).select(2, 0)),
          hex(got.select(2, c)),
        )
      }
    }
    fails(
      () => resize(zeros([4, 5, 1]), [2, 2], { axes: [0, 1], alpha: true }),
      RangeError,
      'ERR_SHAPE',
      /axis 2 has 1 channels/,
    )
    fails(
      () => resize(zeros([4, 5]), [2, 2], { alpha: true }),
      RangeError,
      'ERR_SHAPE',
      /alpha is the last one/,
    )
    fails(
      () => resize(zeros([4, 5, 4]), [2, 2], { axes: [0, 1], alpha: true, axis: 1 }),
      TypeError,
      'ERR_ARGUMENT',
      /one of axes/,
    )
    fails(
      () => letterbox(zeros([4, 5, 1]), [2, 2], { axes: [0, 1], alpha: true }),
      RangeError,
      'ERR_SHAPE',
      /axis 2 has 1 channels/,
    )
    fails(
      () => resize(zeros([4, 5, 4]), [2, 2], { axes: [0, 1], alpha: 'yes' }),
      TypeError,
      'ERR_ARGUMENT',
      /alpha is "yes"/,
    )
    assert.deepEqual(
      resize(zeros([0, 5, 5, 4], 'uint8'), [2, 2], { axes: [1, 2], alpha: true }).shape,
      [0, 2, 2, 4],
    )
  })
})

describe('images have the same bits', function () {
  needsMath()

  it('for every layout', () => {
    const { next } = generator(9)
    for (const dtype of ['uint8', 'float32', 'float16']) {
      const t = tensor(
        Float32Array.from({ length: 90 * 130 * 3 }, () => next(256)),
        [90, 130, 3],
      ).astype(dtype, { casting: 'unsafe' })
      for (const method of METHODS) {
        const opts = { method, dtype: 'float32' }
        const wanted = hex(resize(t, [33, 200], { ...opts, axes: [0, 1] }))
        assert.equal(
          hex(resize(t.permute([2, 0, 1]).contiguous(), [33, 200], opts).permute([1, 2, 0])),
          wanted,
        )
        assert.equal(
          hex(
            resize(t.permute([1, 2, 0]).contiguous(), [33, 200], { ...opts, axes: [2, 0] }).permute(
              [2, 0, 1],
            ),
          ),
          wanted,
        )
        const wide = zeros([90, 130, 4], dtype)
        wide.slice('...', ':3').copyFrom(t)
        assert.equal(
          hex(resize(wide.slice('...', ':3'), [33, 200], { ...opts, axes: [0, 1] })),
          wanted,
        )
        assert.equal(
          hex(resize(wide, [33, 200], { ...opts, axes: [0, 1] }).slice('...', ':3')),
          wanted,
        )
      }
    }
  })

  it('asynchronously', async () => {
    const t = zeros([3, 40, 50], 'uint8').fill(9)
    const opts = { scale: [1, 2, 3], dtype: 'float32' }
    assert.equal(hex(await math.resizeAsync(t, [9, 8], opts)), hex(resize(t, [9, 8], opts)))
    const { image, ...place } = await math.letterboxAsync(t, [9, 8], opts)
    const { image: wanted, ...other } = letterbox(t, [9, 8], opts)
    assert.equal(hex(image), hex(wanted))
    assert.deepEqual(place, other)
    assert.equal(
      hex(await math.padAsync(t, 2, { mode: 'reflect' })),
      hex(pad(t, 2, { mode: 'reflect' })),
    )
  })

  it('asynchronously where the image is worth a thread', async () => {
    const t = fromBlob(
      Float32Array.from({ length: 3 * 120 * 100 }, (_, i) => i % 251),
      [3, 120, 100],
    )
    const wanted = hex(letterbox(t, [150, 160], { scale: [1, 2, 3] }).image)
    for (let i = 0; i < 5; i++) {
      assert.equal(
        hex((await math.letterboxAsync(t, [150, 160], { scale: [1, 2, 3] })).image),
        wanted,
      )
    }
    const out = fromBlob(new Float32Array(3 * 150 * 160).fill(7), [150, 160, 3]).permute([2, 0, 1])
    await math.letterboxAsync(t, [150, 160], { scale: [1, 2, 3], out })
    assert.equal(hex(out), wanted)
  })
})

/** An ImageData, or an object like one where the runtime has none. */
function pictureOf(width, height) {
  const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) =>
    i % 4 === 3 ? 255 - (i % 7) : (41 * i + (i >> 7)) % 256,
  )
  return {
    image:
      typeof ImageData === 'function'
        ? new ImageData(data, width, height)
        : { data, width, height },
    t: fromBlob(data, [height, width, 4], { dtype: 'uint8' }),
  }
}

describe('resize, letterbox and crop of a picture', function () {
  needsMath()

  it('read it as [height, width, 3], or 4 channels where that is asked for', async () => {
    const { image, t } = pictureOf(40, 30)
    for (const [channels, given] of [[undefined], [3], [3, false], [4], [4, true], [4, false]]) {
      const same = channels === 4 ? t : t.narrow(2, 0, 3)
      const alpha = given ?? channels === 4
      const how = { channels, ...(given !== undefined && { alpha: given }) }
      const opts = { dtype: 'float32', scale: 1 / 255, bias: [1, 2, 3, 4].slice(0, channels ?? 3) }
      const wanted = resize(same, [14, 20], { ...opts, axes: [0, 1], alpha })
      assert.deepEqual(wanted.shape, [14, 20, channels ?? 3])
      for (const got of [
        resize(image, [14, 20], { ...opts, ...how }),
        await math.resizeAsync(image, [14, 20], { ...opts, ...how }),
      ]) {
        assert.equal(hex(got), hex(wanted))
      }
      const { image: boxed, ...place } = letterbox(same, [32, 32], { axes: [0, 1], alpha })
      for (const { image: got, ...other } of [
        letterbox(image, [32, 32], how),
        await math.letterboxAsync(image, [32, 32], how),
      ]) {
        assert.equal(hex(got), hex(boxed))
        assert.deepEqual(other, place)
      }
    }
    const planes = zeros([1, 3, 14, 20])
    resize(image, [14, 20], { out: planes.select(0, 0).permute([1, 2, 0]) })
    assert.equal(
      hex(planes.select(0, 0).permute([1, 2, 0])),
      hex(resize(image, [14, 20], { dtype: 'float32' })),
    )
    assert.equal(
      hex(resize(image, [14, 20], 'float16')),
      hex(resize(t.narrow(2, 0, 3), [14, 20], { axes: [0, 1], dtype: 'float16' })),
    )
  })

  it('read one of half floats as float16', async function () {
    skipWithout(this, 'Float16Array')
    const [width, height] = [5, 4]
    const data = Float16Array.from({ length: 80 }, (_, i) => ((i * 7) % 32) / 16)
    const image = { data, width, height }
    const t = tensor([...data], [height, width, 4], 'float16')
    for (const channels of [3, 4]) {
      const same = t.narrow(2, 0, channels)
      const wanted = resize(same, [3, 7], { axes: [0, 1], alpha: channels === 4 })
      for (const got of [
        resize(image, [3, 7], { channels }),
        await math.resizeAsync(image, [3, 7], { channels }),
      ]) {
        assert.equal(got.dtype, 'float16')
        assert.equal(hex(got), hex(wanted))
      }
      assert.equal(
        hex(letterbox(image, [8, 8], { channels, value: 0.5 }).image),
        hex(letterbox(same, [8, 8], { axes: [0, 1], alpha: channels === 4, value: 0.5 }).image),
      )
    }
    const part = crop(image, [1, 1, 3, 3])
    assert.deepEqual(part.toArray(), t.slice('1:3', '1:3', ':3').toArray())
    part.set(0.75, 0, 0, 0)
    assert.equal(data[4 * 6], 0.75)
  })

  it('crop is a view of its bytes', () => {
    const { image, t } = pictureOf(8, 6)
    const part = crop(image, [2, 1, 5, 4])
    assert.deepEqual(
      [part.shape, part.toArray()],
      [[3, 3, 3], t.slice('1:4', '2:5', ':3').toArray()],
    )
    part.set(7, 0, 0, 1)
    assert.equal(image.data[4 * (8 + 2) + 1], 7)
    assert.deepEqual(crop(image, [0, 0, 1, 1], { channels: 4 }).shape, [1, 1, 4])
  })

  it('leaves no tensor behind, and takes an empty picture as resize takes one', async () => {
    const { image } = pictureOf(8, 6)
    const out = zeros([4, 4, 3])
    const { tensors } = memory()
    resize(image, [4, 4], { out })
    await math.resizeAsync(image, [4, 4], { out })
    assert.equal(memory().tensors, tensors)
    fails(
      () => resize({ data: new Uint8ClampedArray(0), width: 0, height: 0 }, [4, 4]),
      RangeError,
      'ERR_SHAPE',
    )
  })

  it('refuses what is none, and channels where they make no sense', async () => {
    const { image, t } = pictureOf(8, 6)
    for (const x of [
      null,
      5,
      'image',
      {},
      [],
      [[1]],
      { data: new Uint8Array(5), width: 1, height: 1 },
      { getContext: 1 },
      new Uint8Array(4),
    ]) {
      for (const call of [
        () => resize(x, [2, 2]),
        () => letterbox(x, [2, 2]),
        () => crop(x, [0, 0, 1, 1]),
      ]) {
        assert.throws(call, ({ code }) => /^ERR_(ARGUMENT|SHAPE|UNSUPPORTED)$/.test(code))
      }
      await assert.rejects(math.resizeAsync(x, [2, 2]), ({ code }) =>
        /^ERR_(ARGUMENT|SHAPE|UNSUPPORTED)$/.test(code),
      )
    }
    for (const call of [resize, letterbox, math.resizeAsync, math.letterboxAsync]) {
      await assert.rejects(async () => call(image, [2, 2], { alpha: true }), {
        code: 'ERR_ARGUMENT',
        message: /channels 3, without it/,
      })
      await assert.rejects(async () => call(image, [2, 2], { channels: 4, alpha: 1 }), {
        code: 'ERR_ARGUMENT',
        message: /alpha is 1/,
      })
    }
    for (const call of [crop, math.cropAsync]) {
      await assert.rejects(async () => call(image, [0, 0, 1, 1], { alpha: true }), {
        code: 'ERR_ARGUMENT',
        message: /no option "alpha"/,
      })
    }
    for (const channels of [1, '3', null, NaN]) {
      fails(
        () => resize(image, [2, 2], { channels }),
        TypeError,
        'ERR_ARGUMENT',
        /3, without alpha, or 4/,
      )
    }
    for (const call of [resize, letterbox]) {
      fails(() => call(t, [2, 2], { channels: 3 }), TypeError, 'ERR_ARGUMENT', /narrow/)
    }
    fails(() => crop(t, [0, 0, 1, 1], { channels: 3 }), TypeError, 'ERR_ARGUMENT', /narrow/)
    for (const context of [null, {}]) {
      fails(
        () => resize({ getContext: () => context, width: 1, height: 1 }, [1, 1]),
        Error,
        'ERR_UNSUPPORTED',
        /2d context/,
      )
    }
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await assert.rejects(math.resizeAsync(image, [2, 2], { signal: stop.signal }), /enough/)
  })

  it('are read over turns, lists and options at once, inherited ones too', async () => {
    const { image } = pictureOf(8, 6)
    class Scaled {
      get scale() {
        return [1, 2, 3]
      }
      get axis() {
        return 2
      }
      get method() {
        return 'nearest'
      }
    }
    const wanted = hex(resize(image, [3, 4], { scale: [1, 2, 3], axis: 2, method: 'nearest' }))
    assert.equal(hex(await math.resizeAsync(image, [3, 4], new Scaled())), wanted)
    const [size, box] = [[3, 4], Int32Array.of(1, 0, 3, 2)]
    const options = { scale: Float32Array.of(1, 2, 3), axis: 2, method: 'nearest' }
    const pending = [math.resizeAsync(image, size, options), math.cropAsync(image, box)]
    options.scale.fill(9)
    delete options.method
    size.length = 0
    box.fill(0)
    assert.equal(hex(await pending[0]), wanted)
    assert.equal(hex(await pending[1]), hex(crop(image, [1, 0, 3, 2])))
  })
})
