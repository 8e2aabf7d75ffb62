'use strict'
/* global ImageData, Float16Array */
const assert = require('node:assert/strict')
const { empty, memory, tensor, zeros } = require('samebytes')
const { copied, fails, needs, refusedUnchanged, refuses } = require('../setup')

// Two rows of three pixels; no byte comes twice.
const BYTES = Array.from({ length: 24 }, (_, i) => 10 * i)
const image = () => ({ data: Uint8ClampedArray.from(BYTES), width: 3, height: 2 })
const rgba = () => tensor(Uint8Array.from(BYTES), [2, 3, 4])
const rows = (channels) =>
  [0, 1].map((y) => [0, 1, 2].map((x) => BYTES.slice(12 * y + 4 * x, 12 * y + 4 * x + channels)))

describe('toImageData', () => {
  it('gives the bytes of a (height, width, 4) uint8 tensor, and counts one copy', () => {
    const t = rgba()
    const { result, copies } = copied(() => t.toImageData())
    assert.deepEqual(copies, { toImageData: { count: 1, bytes: 24 } })
    assert.deepEqual([result.width, result.height, [...result.data]], [3, 2, BYTES])
    assert.ok(result.data instanceof Uint8ClampedArray)
    result.data[0] = 99
    assert.equal(t.get(0, 0, 0), 0)
  })

  it('makes three channels, and one, opaque', () => {
    const opaque = BYTES.map((byte, i) => (i % 4 === 3 ? 255 : byte))
    assert.deepEqual([...rgba().slice('...', ':3').toImageData().data], opaque)
    assert.deepEqual([...rgba().slice('...', ':3').contiguous().toImageData().data], opaque)
    const grey = [0, 1, 2, 3, 4, 5].flatMap((i) => [i, i, i, 255])
    assert.deepEqual([...tensor(Uint8Array.of(0, 1, 2, 3, 4, 5), [2, 3]).toImageData().data], grey)
    assert.deepEqual(
      [...tensor(Uint8Array.of(0, 1, 2, 3, 4, 5), [2, 3, 1]).toImageData().data],
      grey,
    )
    assert.deepEqual(
      [
        ...tensor(Uint8Array.of(0, 2, 4, 1, 3, 5), [3, 2])
          .T.flip(0)
          .flip(0)
          .toImageData().data,
      ],
      [0, 4, 3, 2, 1, 5].flatMap((i) => [i, i, i, 255]),
    )
  })

  it('reads planes through a view', () => {
    const planes = rgba().permute(2, 0, 1).contiguous()
    assert.deepEqual([...planes.permute(1, 2, 0).toImageData().data], BYTES)
  })

  it("makes one of the runtime's own class", () => {
    class ImageData {
      constructor(data, width, height) {
        Object.assign(this, { data, width, height })
      }
    }
    const before = Object.getOwnPropertyDescriptor(globalThis, 'ImageData')
    Object.defineProperty(globalThis, 'ImageData', {
      value: ImageData,
      configurable: true,
      writable: true,
    })
    try {
      const made = rgba().toImageData()
      assert.ok(made instanceof ImageData)
      assert.deepEqual([...made.data], BYTES)
    } finally {
      if (before) Object.defineProperty(globalThis, 'ImageData', before)
      else delete globalThis.ImageData
    }
  })

  it('refuses other shapes and dtypes', () => {
    for (const shape of [
      [],
      [3],
      [2, 3, 2],
      [2, 3, 5],
      [4, 2, 3, 4],
      [0, 3],
      [2, 0, 4],
      [3, 2, 3, 1],
    ]) {
      refuses(() => zeros(shape, 'uint8').toImageData(), 'ERR_SHAPE')
    }
    fails(() => zeros([3, 20, 30], 'uint8').toImageData(), RangeError, 'ERR_SHAPE', /permute/)
    for (const dtype of ['float32', 'bool', 'int8', 'int64']) {
      fails(() => zeros([2, 3], dtype).toImageData(), TypeError, 'ERR_DTYPE', /uint8/)
    }
    const wide = zeros([1, 1], 'uint8').expand(2 ** 22, 2 ** 22)
    refuses(() => wide.toImageData(), 'ERR_MEMORY')
  })

  it('of numbers takes min and max, clamps, rounds to the nearest, and leaves three channels and alpha theirs', () => {
    for (const dtype of ['float64', 'float32', 'float16', 'bfloat16']) {
      assert.deepEqual(
        [...tensor([[0.5, -1, 2, NaN, 1]], dtype).toImageData({}).data],
        [128, 0, 255, 0, 255].flatMap((x) => [x, x, x, 255]),
        dtype,
      )
    }
    const { result, copies } = copied(() => tensor([[-1, 0, 1]]).T.toImageData({ min: -1 }))
    assert.deepEqual(
      [result.width, result.height, [...result.data]],
      [1, 3, [0, 128, 255].flatMap((x) => [x, x, x, 255])],
    )
    assert.deepEqual(copies.toImageData, { count: 1, bytes: 12 })
    assert.deepEqual(
      [...tensor([[0, 25, 100]], 'int64').toImageData({ max: 100 }).data],
      [0, 64, 255].flatMap((x) => [x, x, x, 255]),
    )
    assert.deepEqual(
      [...tensor([[[0, 0.5, 1]]]).toImageData({ min: 0, max: 1 }).data],
      [0, 128, 255, 255],
    )
    assert.deepEqual(
      [...tensor([[[0, 0.5, 1, 0.2]]]).toImageData({ max: 1 }).data],
      [0, 128, 255, 51],
    )
    assert.deepEqual(
      [...zeros([1, 1], 'bool').fill(true).toImageData({}).data],
      [255, 255, 255, 255],
    )
    assert.deepEqual([...tensor([[7]], 'uint8').toImageData({ max: 255 }).data], [7, 7, 7, 255])
  })

  it('of numbers takes a colormap: colours in a list or a tensor, between which it interpolates', () => {
    const colours = [
      [0, 0, 128],
      [255, 255, 0],
      [255, 0, 0],
    ]
    const like = (list) => ({ length: list.length, ...list })
    const kinds = [
      colours,
      tensor(colours),
      tensor(colours, 'uint8'),
      tensor(colours, 'int64'),
      colours.map((row) => Uint8Array.from(row)),
      colours.map((row) => Float32Array.from(row)),
      colours.map((row) => tensor(row)),
      like(colours.map(like)),
      colours.map((row, i) => (i === 1 ? [...row, 255] : row)),
      colours.map((row) => BigInt64Array.from(row, BigInt)),
    ]
    for (const colormap of kinds) {
      for (const t of [
        tensor([[0, 25, 50, 75, 100, 1e9]]),
        tensor([[[0], [25], [50], [75], [100], [1e9]]]),
      ]) {
        const { data } = t.toImageData({ max: 100, colormap })
        assert.deepEqual(
          [...data],
          [
            [0, 0, 128],
            [128, 128, 64],
            [255, 254, 0],
            [255, 128, 0],
            [255, 0, 0],
            [255, 0, 0],
          ].flatMap((colour) => [...colour, 255]),
        )
      }
    }
    for (const colormap of [
      [
        [0, 0, 0, 0],
        [200, 100, 50],
      ],
      tensor([
        [0, 0, 0, 0],
        [200, 100, 50, 255],
      ]),
    ]) {
      assert.deepEqual(
        [...tensor([[0, 51, 255]]).toImageData({ max: 255, colormap }).data],
        [0, 0, 0, 0, 40, 20, 10, 51, 200, 100, 50, 255],
      )
    }
    const all = Array.from({ length: 256 }, (_, i) => [i, 255 - i, i >> 1])
    assert.deepEqual(
      [...tensor([[0, 7, 255]]).toImageData({ max: 255, colormap: all }).data],
      [0, 7, 255].flatMap((i) => [...all[i], 255]),
    )
  })

  it('refuses options that mean nothing, and a colormap of colours', () => {
    const t = tensor([[0.5]])
    for (const options of [
      'viridis',
      5,
      null,
      { min: NaN },
      { min: '0' },
      { max: Infinity },
      { min: -1e308, max: 1e308 },
      { max: 5e-324 },
      { min: 1 },
      { min: 2, max: 1 },
      { colormap: 'viridis' },
      { colormap: [[1, 2, 3]] },
      {
        colormap: [
          [1, 2],
          [3, 4],
        ],
      },
      {
        colormap: [
          [0, 0, 256],
          [1, 2, 3],
        ],
      },
      {
        colormap: [
          [0, 0, NaN],
          [1, 2, 3],
        ],
      },
      { colormap: new Array(257).fill([1, 2, 3]) },
      { colormap: zeros([2]) },
      { colormap: zeros([]) },
      { colormap: [Uint8Array.of(1, 2), Uint8Array.of(3, 4)] },
      {
        colormap: [
          [1, 2, 3, 4, 5],
          [1, 2, 3, 4, 5],
        ],
      },
      { colormap: [[0, 0, 0], 'abc'] },
      { colormap: [[0, 0, 0], null] },
      { colormap: Uint8Array.of(1, 2, 3, 4, 5, 6) },
      { colormap: { length: 2 } },
    ]) {
      fails(() => t.toImageData(options), TypeError, 'ERR_ARGUMENT')
    }
    const { tensors, storages } = memory()
    fails(
      () =>
        zeros([2, 2, 3]).toImageData({
          colormap: [
            [0, 0, 0],
            [1, 1, 1],
          ],
        }),
      RangeError,
      'ERR_SHAPE',
      /with a colormap/,
    )
    fails(() => zeros([2, 2], 'complex64').toImageData({}), TypeError, 'ERR_DTYPE')
    for (const shape of [[3], [2, 3, 2], [0, 3], [1, 1, 1, 1]]) {
      refuses(() => zeros(shape).toImageData({}), 'ERR_SHAPE')
    }
    assert.ok(memory().storages <= storages + 6 && memory().tensors <= tensors + 6)
  })

  it('leaves no tensor behind', () => {
    const t = tensor(Uint8Array.of(1, 2, 3, 4), [2, 2])
    const { tensors, storages } = memory()
    t.toImageData()
    refuses(() => t.reshape(4).toImageData())
    const after = memory()
    assert.ok(after.tensors <= tensors + 1 && after.storages <= storages)
  })
})

describe('copyFrom of a canvas', () => {
  const image = { data: Uint8ClampedArray.of(1, 2, 3, 4, 5, 6, 7, 8), width: 2, height: 1 }
  const canvas = (getImageData, more) => ({
    width: 2,
    height: 1,
    getContext: () => ({ getImageData }),
    ...more,
  })

  it('copies what its 2d context gives', () => {
    assert.deepEqual(
      zeros([1, 2, 4], 'uint8')
        .copyFrom(canvas(() => image))
        .toArray(),
      [
        [
          [1, 2, 3, 4],
          [5, 6, 7, 8],
        ],
      ],
    )
    assert.deepEqual(
      zeros([1, 2, 3])
        .copyFrom(
          canvas((x, y, w, h) => ([x, y, w, h].join() === '0,0,2,1' ? image : null)),
          { scale: 2 },
        )
        .toArray(),
      [
        [
          [2, 4, 6],
          [10, 12, 14],
        ],
      ],
    )
  })

  it('is a typed error where that cannot be read, or gives something else', () => {
    const t = zeros([1, 2, 4], 'uint8')
    for (const [wrong, code] of [
      [
        canvas(() => {
          throw new Error('tainted')
        }),
        'ERR_UNSUPPORTED',
      ],
      [canvas(undefined), 'ERR_UNSUPPORTED'],
      [canvas(() => image, { getContext: () => null }), 'ERR_UNSUPPORTED'],
      [canvas(() => null), 'ERR_UNSUPPORTED'],
      [
        canvas(() => {
          // eslint-disable-next-line no-throw-literal
          throw null
        }),
        'ERR_UNSUPPORTED',
      ],
      [canvas(() => image, { width: 0 }), 'ERR_SHAPE'],
      [canvas(() => ({ ...image, width: 3 })), 'ERR_SHAPE'],
      [canvas(() => canvas(() => image)), 'ERR_ARGUMENT'],
      [canvas(() => 1), 'ERR_ARGUMENT'],
    ]) {
      refuses(() => t.copyFrom(wrong), code)
    }
    assert.deepEqual(t.toArray(), zeros([1, 2, 4], 'uint8').toArray())
  })
})

describe('copyFrom of an ImageData', () => {
  it('fills (height, width, 4) uint8, and without alpha (height, width, 3)', () => {
    assert.deepEqual(empty([2, 3, 4], 'uint8').copyFrom(image()).toArray(), rows(4))
    const { result, copies } = copied(() => zeros([2, 3, 3], 'uint8').copyFrom(image()))
    assert.deepEqual(copies, { copyFrom: { count: 1, bytes: 18 } })
    assert.deepEqual(result.toArray(), rows(3))
  })

  it('casts and scales to float32, and writes planes through a view', () => {
    const planes = zeros([3, 2, 3])
    planes.permute(1, 2, 0).copyFrom(image(), { scale: [1, 2, 3], bias: 0.5, axis: -1 })
    assert.deepEqual(
      planes.permute(1, 2, 0).toArray(),
      rows(3).map((row) => row.map(([r, g, b]) => [r + 0.5, 2 * g + 0.5, 3 * b + 0.5])),
    )
  })

  it('takes bytes of other classes, such as a decoded PNG', () => {
    assert.deepEqual(
      empty([2, 3, 4], 'uint8')
        .copyFrom({ data: Buffer.from(BYTES), width: 3, height: 2, gamma: 0 })
        .toArray(),
      rows(4),
    )
    const t = empty([2, 3, 3], 'uint8')
    assert.deepEqual(
      empty([2, 3, 3], 'uint8').copyFrom(t.copyFrom(image()).toImageData()).toArray(),
      rows(3),
    )
  })

  it('goes off the event loop as well', async () => {
    const t = zeros([2, 3, 3])
    const source = image()
    assert.equal(await t.copyFromAsync(source), t)
    assert.deepEqual(t.toArray(), rows(3))
    const shared = zeros([2, 3, 4], { dtype: 'uint8', shared: true })
    await shared.copyFromAsync({
      ...source,
      data: new Uint8ClampedArray(new SharedArrayBuffer(24)).fill(7),
    })
    assert.deepEqual(shared.reshape(-1).toArray(), new Array(24).fill(7))
  })

  it("holds a tensor's bytes until they are copied", async () => {
    const [t, other] = [zeros([2, 3, 4], 'uint8'), rgba()]
    const copy = t.copyFromAsync({ data: other.data, width: 3, height: 2 })
    other.dispose()
    for (let i = 0; i < 20; i++) zeros([24], 'uint8').fill(9) // in their place, if they were freed
    await copy
    assert.deepEqual(t.toArray(), rows(4))
  })

  it('refuses one channel, and says what to do', () => {
    for (const shape of [
      [2, 3],
      [2, 3, 1],
    ]) {
      const t = zeros(shape, 'uint8')
      const error = refusedUnchanged(t, () => t.copyFrom(image()), 'ERR_SHAPE')
      assert.match(error.message, /select\(2, 0\)/)
    }
  })

  it('refuses other sizes, and planes', () => {
    for (const shape of [[3, 2, 4], [2, 3, 2], [1, 2, 3, 4], [], [6, 4], [24], [3, 2, 3]]) {
      const t = zeros(shape, 'uint8')
      refusedUnchanged(t, () => t.copyFrom(image()), 'ERR_SHAPE')
    }
    assert.match(
      refuses(() => zeros([3, 2, 3]).permute(2, 0, 1).copyFrom(image())).message,
      /permute/,
    )
  })

  it('refuses images whose fields contradict each other', () => {
    const t = zeros([2, 3, 4], 'uint8')
    for (const fields of [
      { width: 4 },
      { height: 0 },
      { width: 1.5 },
      { width: -3, height: -2 },
      { height: NaN },
      { data: new Uint8Array(23) },
    ]) {
      refusedUnchanged(t, () => t.copyFrom({ ...image(), ...fields }), 'ERR_SHAPE')
    }
    refusedUnchanged(t, () => t.copyFrom({ ...image(), data: new Float32Array(24) }), 'ERR_DTYPE')
    for (const fields of [
      { data: undefined },
      { data: BYTES },
      { width: '3' },
      { height: undefined },
    ]) {
      refusedUnchanged(t, () => t.copyFrom({ ...image(), ...fields }), 'ERR_ARGUMENT')
    }
    const gone = image()
    structuredClone(gone.data, { transfer: [gone.data.buffer] })
    refusedUnchanged(t, () => t.copyFrom(gone), 'ERR_DETACHED')
  })

  it('reads its fields before it looks at the tensor', () => {
    const t = zeros([2, 3, 4], 'uint8')
    const { data, height } = image()
    fails(
      () =>
        t.copyFrom({
          data,
          height,
          get width() {
            t.dispose()
            return 3
          },
        }),
      Error,
      'ERR_DISPOSED',
    )
  })
})

describe('copyFrom of an ImageData of half floats', () => {
  needs('Float16Array')

  const values = [0, 0.25, 0.5, 1, 2, -1, 0.125, 0]
  const [width, height] = [2, 1]
  /** An object like an ImageData, and one where the runtime makes such ones, as Chromium does. */
  function images() {
    const data = Float16Array.from(values)
    return [
      { data, width, height },
      ...(globalThis.RUN?.browser === 'Chromium'
        ? [new ImageData(data, width, height, { pixelFormat: 'rgba-float16' })]
        : []),
    ]
  }

  it('copies them as they are, to other dtypes, without alpha, and off the event loop', async () => {
    for (const image of images()) {
      for (const dtype of ['float16', 'float32', 'float64']) {
        assert.deepEqual(zeros([1, 2, 4], dtype).copyFrom(image).toArray(), [
          [values.slice(0, 4), values.slice(4)],
        ])
        assert.deepEqual((await zeros([1, 2, 3], dtype).copyFromAsync(image)).toArray(), [
          [values.slice(0, 3), values.slice(4, 7)],
        ])
      }
      assert.deepEqual(
        zeros([1, 2, 3], 'uint8')
          .copyFrom(image, { scale: 4, bias: 4, casting: 'unsafe' })
          .toArray(),
        [
          [
            [4, 5, 6],
            [12, 0, 4],
          ],
        ],
      )
    }
  })

  it('refuses to lose what they are, a wrong count, and other floats', () => {
    const t = zeros([1, 2, 4], 'uint8')
    const [image] = images()
    refusedUnchanged(t, () => t.copyFrom(image), 'ERR_CAST')
    fails(
      () => t.copyFrom({ width, height: 2, data: Float16Array.from(values) }),
      RangeError,
      'ERR_SHAPE',
      /8 halves; 2 x 2 pixels of 4/,
    )
    fails(
      () => t.copyFrom({ width, height, data: Float32Array.from(values) }),
      TypeError,
      'ERR_DTYPE',
      /float32; uint8, or float16/,
    )
  })
})
