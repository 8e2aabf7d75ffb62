'use strict'
/* global ImageData, OffscreenCanvas, VideoFrame, crossOriginIsolated */
const assert = require('node:assert/strict')
const { backend, empty, fromBlob, full, memory, tensor, zeros } = require('samebytes')
const { skipWithout } = require('../setup')
const { counted, rejects, grow } = require('./counted')

const [W, H] = [6, 4]
const N = 4 * W * H
const BYTES = Uint8Array.from({ length: N }, (_, i) => (i % 4 === 3 ? 255 : (37 * i) % 256))
const NONE = [0, 0]

/** frames to be closed after the test @type {VideoFrame[]} */
const made = []
const opened = (frame) => {
  made.push(frame)
  return frame
}
const frameOf = (bytes = BYTES, options = {}) =>
  opened(
    new VideoFrame(bytes, {
      format: 'RGBA',
      codedWidth: W,
      codedHeight: H,
      timestamp: 0,
      ...options,
    }),
  )

/** A canvas with a picture of colours that differ everywhere. */
function canvas(width = 64, height = 48, settings = { alpha: false }) {
  const made = new OffscreenCanvas(width, height)
  const context = made.getContext('2d', { willReadFrequently: true, ...settings })
  for (let y = 0; y < height; y += 4) {
    for (let x = 0; x < width; x += 4) {
      context.fillStyle = `rgb(${(x * 3) % 256} ${(y * 5) % 256} ${(x + y) % 256})`
      context.fillRect(x, y, 4, 4)
    }
  }
  return {
    frame: () => opened(new VideoFrame(made, { timestamp: 0 })),
    image: () => context.getImageData(0, 0, width, height),
  }
}

/** What the browser itself gives for a frame. */
async function pixelsOf(frame) {
  const bytes = new Uint8Array(frame.allocationSize({ format: 'RGBA' }))
  await frame.copyTo(bytes, { format: 'RGBA' })
  return [...bytes]
}

const flat = (t) => [...t.contiguous().reshape(-1).data]

describe('copyFromAsync of a VideoFrame', () => {
  afterEach(() => {
    for (const frame of made.splice(0)) frame.close()
  })

  it('is written by the browser into the bytes of a dense (height, width, 4) uint8 tensor: nothing staged', async () => {
    const t = zeros([H, W, 4], 'uint8')
    const place = t.dataPtr
    const { result, copied, staged } = await counted(() => t.copyFromAsync(frameOf()))
    assert.equal(result, t)
    assert.deepEqual([copied, staged], [{ copyFromAsync: [1, N] }, NONE])
    assert.equal(t.dataPtr, place)
    assert.deepEqual(flat(t), [...BYTES])
  })

  it('is written into one picture of a batch, and nowhere else', async () => {
    const t = full([3, H, W, 4], 7, 'uint8')
    const { staged } = await counted(() => t.select(0, 1).copyFromAsync(frameOf()))
    assert.deepEqual(staged, NONE)
    assert.deepEqual(flat(t), [...new Array(N).fill(7), ...BYTES, ...new Array(N).fill(7)])
  })

  it("is written into the caller's ArrayBuffer and into a SharedArrayBuffer: nothing staged", async () => {
    const buffers = [new ArrayBuffer(N + 8)]
    if (crossOriginIsolated) buffers.push(new SharedArrayBuffer(N + 8))
    for (const buffer of buffers) {
      const t = fromBlob(new Uint8Array(buffer, 8), [H, W, 4])
      const { staged } = await counted(() => t.copyFromAsync(frameOf()))
      assert.deepEqual(staged, NONE)
      assert.deepEqual([...new Uint8Array(buffer)], [...new Array(8).fill(0), ...BYTES])
    }
  })

  it('is staged once for a resizable ArrayBuffer, which the browser refuses', async () => {
    const buffer = new ArrayBuffer(N, { maxByteLength: 2 * N })
    await assert.rejects(frameOf().copyTo(new Uint8Array(buffer)), TypeError)
    const { staged } = await counted(() =>
      fromBlob(new Uint8Array(buffer), [H, W, 4]).copyFromAsync(frameOf()),
    )
    assert.deepEqual(staged, [1, N])
    assert.deepEqual([...new Uint8Array(buffer)], [...BYTES])
  })

  it('is staged once without alpha, and for a part of a larger picture, whose rest stays', async () => {
    const colours = zeros([H, W, 3], 'uint8')
    assert.deepEqual(await counted(() => colours.copyFromAsync(frameOf())), {
      result: colours,
      copied: { copyFromAsync: [1, (N / 4) * 3] },
      staged: [1, N],
    })
    assert.deepEqual(
      flat(colours),
      [...BYTES].filter((_, i) => i % 4 !== 3),
    )
    const larger = full([H + 2, W + 2, 4], 9, 'uint8')
    const inner = larger.slice('1:-1', '1:-1')
    const { staged } = await counted(() => inner.copyFromAsync(frameOf()))
    assert.deepEqual(staged, [1, N])
    assert.deepEqual(flat(inner), [...BYTES])
    assert.deepEqual(
      [flat(larger.select(0, 0)), flat(larger.select(1, 0))].flat(),
      new Array(4 * (W + 2 + H + 2)).fill(9),
    )
  })

  it('is cast, scaled and laid out as planes like an ImageData, by way of one buffer', async () => {
    const [planes, expected] = [zeros([3, H, W]), zeros([3, H, W])]
    const options = { scale: [1 / 255, 2, 3], bias: -0.5, axis: -1 }
    expected.permute(1, 2, 0).copyFrom(new ImageData(Uint8ClampedArray.from(BYTES), W, H), options)
    const plain = (await counted(() => zeros([H, W, 3]).copyFromAsync(frameOf()))).staged
    assert.deepEqual(plain, [1, N])
    await planes.permute(1, 2, 0).copyFromAsync(frameOf(), options)
    assert.deepEqual(planes.toArray(), expected.toArray())
  })

  it('of a canvas has the pixels that getImageData has', async () => {
    const { frame, image } = canvas()
    const [a, b] = [zeros([48, 64, 4], 'uint8'), zeros([48, 64, 4], 'uint8').copyFrom(image())]
    await a.copyFromAsync(frame())
    assert.ok(new Set(flat(b)).size > 20)
    assert.deepEqual(flat(a), flat(b))
  })

  const SIZES = {
    I420: (W * H * 3) / 2,
    I420A: (W * H * 5) / 2,
    I422: W * H * 2,
    I444: W * H * 3,
    NV12: (W * H * 3) / 2,
    BGRA: N,
  }
  for (const [format, size] of Object.entries(SIZES)) {
    it(`of ${format} has the pixels that the browser makes of it`, async function () {
      if (['I422', 'I444'].includes(format)) skipWithout(this, 'frames of I422 and I444')
      const bytes = Uint8Array.from({ length: size }, (_, i) => ((53 * i) % 200) + 20)
      const expected = await pixelsOf(frameOf(bytes, { format }))
      const t = zeros([H, W, 4], 'uint8')
      const { staged } = await counted(() => t.copyFromAsync(frameOf(bytes, { format })))
      assert.deepEqual(staged, NONE)
      assert.deepEqual(flat(t), expected)
    })
  }

  it('of grey I420 and NV12 is grey and opaque', async () => {
    for (const format of ['I420', 'NV12']) {
      const t = zeros([H, W, 4], 'uint8')
      await t.copyFromAsync(frameOf(new Uint8Array((W * H * 3) / 2).fill(128), { format }))
      const [r, g, b, a] = flat(t)
      assert.ok(
        Math.abs(r - 130) < 3 && Math.abs(g - 130) < 3 && Math.abs(b - 130) < 3,
        `${[r, g, b]}`,
      )
      assert.equal(a, 255)
    }
  })

  it('of RGBX and BGRX is opaque whatever its fourth byte is', async () => {
    const bytes = BYTES.map((byte, i) => (i % 4 === 3 ? 128 : byte))
    for (const target of [zeros([H, W, 4], 'uint8'), fromBlob(new Uint8Array(N), [H, W, 4])]) {
      await target.copyFromAsync(frameOf(bytes, { format: 'RGBX' }))
      assert.deepEqual(flat(target), [...BYTES])
    }
    const swapped = zeros([H, W, 4], 'uint8')
    await swapped.copyFromAsync(frameOf(bytes, { format: 'BGRX' }))
    assert.ok(flat(swapped.select(2, 3)).every((alpha) => alpha === 255))
    const opaque = zeros([H, W, 4], 'uint8')
    await opaque.copyFromAsync(frameOf(BYTES, { format: 'BGRX' }))
    assert.deepEqual(
      flat(opaque),
      [...BYTES].map((_, i) => (i % 4 === 3 ? 255 : BYTES[i - (i % 4) + 2 - (i % 4)])),
    )
  })

  it('shows the visible part', async () => {
    const rect = { x: 2, y: 1, width: 3, height: 2 }
    const t = zeros([2, 3, 4], 'uint8')
    await t.copyFromAsync(frameOf(BYTES, { visibleRect: rect }))
    assert.deepEqual(flat(t), flat(tensor(BYTES, [H, W, 4]).slice('1:3', '2:5')))
    const whole = zeros([H, W, 4], 'uint8')
    await rejects(
      whole.copyFromAsync(frameOf(BYTES, { visibleRect: rect })),
      'ERR_SHAPE',
      /2 rows of 3 pixels/,
    )
    const cropped = opened(new VideoFrame(frameOf(), { visibleRect: rect }))
    await t.zero().copyFromAsync(cropped)
    assert.deepEqual(flat(t), flat(tensor(BYTES, [H, W, 4]).slice('1:3', '2:5')))
  })

  it('may be closed at once, and is not closed by us', async () => {
    for (const dtype of ['uint8', 'float32']) {
      const t = zeros([H, W, 4], dtype)
      const [one, two] = [frameOf(), frameOf()]
      const pending = t.copyFromAsync(one)
      one.close()
      await pending
      assert.deepEqual(flat(t), [...BYTES])
      await t.copyFromAsync(two)
      assert.equal(two.format, 'RGBA')
    }
  })

  it('that was closed is ERR_DETACHED, and one that was transferred', async () => {
    const t = full([H, W, 4], 3, 'uint8')
    const [closed, posted] = [frameOf(), frameOf()]
    closed.close()
    structuredClone(posted, { transfer: [posted] }).close()
    await rejects(t.copyFromAsync(closed), 'ERR_DETACHED', /closed/)
    await rejects(t.copyFromAsync(posted), 'ERR_DETACHED')
    assert.deepEqual(flat(t), new Array(N).fill(3))
    t.fill(1)
  })

  it('of another realm is one as well', async () => {
    const element = document.createElement('iframe')
    document.body.append(element)
    try {
      const frame = opened(
        new element.contentWindow.VideoFrame(BYTES, {
          format: 'RGBA',
          codedWidth: W,
          codedHeight: H,
          timestamp: 0,
        }),
      )
      assert.ok(!(frame instanceof VideoFrame))
      const t = zeros([H, W, 4], 'uint8')
      await t.copyFromAsync(frame)
      assert.deepEqual(flat(t), [...BYTES])
    } finally {
      element.remove()
    }
  })

  it('holds the target, which is busy, until it settles', async () => {
    const t = zeros([H, W, 4], 'uint8')
    const { inFlight } = memory()
    const pending = t.copyFromAsync(frameOf())
    assert.equal(memory().inFlight, inFlight + 1)
    assert.throws(() => t.fill(1), { code: 'ERR_BUSY' })
    await rejects(t.copyFromAsync(frameOf()), 'ERR_BUSY')
    await pending
    assert.equal(memory().inFlight, inFlight)
    t.fill(1)
  })

  it('goes on when the target is disposed, and keeps nothing', async () => {
    for (const dtype of ['uint8', 'float32']) {
      const t = zeros([H, W, 4], dtype)
      const view = t.view()
      const { storages, bytes } = memory()
      const pending = t.copyFromAsync(frameOf())
      t.dispose()
      await pending
      assert.deepEqual(flat(view), [...BYTES])
      const gone = zeros([H, W, 4], dtype)
      const late = gone.copyFromAsync(frameOf())
      gone.dispose()
      await late
      const after = memory()
      assert.deepEqual([after.storages <= storages, after.bytes.wasm <= bytes.wasm], [true, true])
    }
  })

  it('gives other tasks their turn, whatever is copied', async () => {
    const { port1, port2 } = new MessageChannel()
    let told = 0
    port1.onmessage = () => {
      told++
    }
    for (const dtype of ['uint8', 'float32']) {
      told = 0
      const frame = frameOf()
      for (let i = 0; i < 20; i++) {
        port2.postMessage(0)
        await zeros([H, W, 4], dtype).copyFromAsync(frame)
      }
      assert.ok(told > 0, dtype)
    }
    port1.close()
  })

  it('is stopped by a signal: before anything, and when the frame was read', async () => {
    const reason = new Error('enough')
    const early = full([H, W, 4], 3, 'uint8')
    await assert.rejects(
      early.copyFromAsync(frameOf(), { signal: AbortSignal.abort(reason) }),
      reason,
    )
    assert.deepEqual(flat(early), new Array(N).fill(3))
    for (const [dtype, written] of [
      ['uint8', BYTES],
      ['float32', new Float32Array(N)],
    ]) {
      const t = zeros([H, W, 4], dtype)
      const controller = new AbortController()
      const pending = t.copyFromAsync(frameOf(), { signal: controller.signal })
      controller.abort(reason)
      await assert.rejects(pending, reason)
      assert.deepEqual(flat(t), [...written])
      t.fill(1) // is free again
    }
  })

  it('arrives where memory grows meanwhile', async () => {
    for (const dtype of ['uint8', 'float32']) {
      const { frame, image } = canvas(640, 480)
      const t = zeros([480, 640, 4], dtype)
      const before = t.data
      const pending = t.copyFromAsync(frame())
      grow()
      await pending
      if (backend() === 'wasm') assert.equal(before.length, 0)
      const pixels = image().data
      assert.ok(t.data.every((value, i) => value === pixels[i]))
    }
  })

  it("is ERR_DETACHED where the caller's buffer goes away meanwhile", async () => {
    for (const shape of [
      [H, W, 4],
      [H, W, 3],
    ]) {
      const buffer = new ArrayBuffer(N)
      const pending = fromBlob(new Uint8Array(buffer), shape).copyFromAsync(frameOf())
      structuredClone(buffer, { transfer: [buffer] })
      await rejects(pending, 'ERR_DETACHED')
    }
  })

  it('leaves no staged bytes behind where it is refused or stopped', async () => {
    const [flags, floats] = [zeros([480, 640, 4], 'bool'), zeros([480, 640, 4])]
    const frame = canvas(640, 480).frame()
    const { wasm } = memory().bytes
    await rejects(flags.copyFromAsync(frame), 'ERR_CAST')
    assert.ok(memory().bytes.wasm <= wasm)
    const controller = new AbortController()
    const pending = floats.copyFromAsync(frame, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(pending, { message: 'enough' })
    assert.ok(memory().bytes.wasm <= wasm)
  })

  it('is refused before it is read: by shape, dtype, read-only targets, and by copyFrom', async () => {
    const { inFlight } = memory()
    const { staged } = await counted(async () => {
      for (const shape of [[W, H, 4], [H, W], [H, W, 1], [1, H, W, 4], [N], []]) {
        await rejects(zeros(shape, 'uint8').copyFromAsync(frameOf()), 'ERR_SHAPE')
      }
      await rejects(zeros([H, W, 4], 'bool').copyFromAsync(frameOf()), 'ERR_CAST')
      await rejects(zeros([H, W, 4], 'uint8').copyFromAsync(frameOf(), { scale: 0.5 }), 'ERR_CAST')
      await rejects(
        fromBlob(new Uint8Array(N), [H, W, 4], { readOnly: true }).copyFromAsync(frameOf()),
        'ERR_READ_ONLY',
      )
      await rejects(
        zeros([1, 1, 4], 'uint8').expand(H, W, 4).copyFromAsync(frameOf()),
        'ERR_OVERLAP',
      )
      assert.throws(() => empty([H, W, 4], 'uint8').copyFrom(frameOf()), {
        code: 'ERR_ARGUMENT',
        message: /copyFromAsync/,
      })
    })
    assert.deepEqual(staged, NONE)
    assert.equal(memory().inFlight, inFlight)
  })
})

describe('a VideoFrame of a tensor', () => {
  afterEach(() => {
    for (const frame of made.splice(0)) frame.close()
  })

  it('is made of its bytes, which the browser copies', async () => {
    const t = tensor(BYTES, [H, W, 4])
    const { result: frame, copied, staged } = await counted(() => frameOf(t.data))
    assert.deepEqual([copied, staged], [{}, NONE])
    t.fill(0)
    assert.deepEqual(await pixelsOf(frame), [...BYTES])
  })

  it("takes the caller's buffer over without a copy, and the tensor over it is ERR_DETACHED", async function () {
    skipWithout(this, 'frames that take buffers over')
    const bytes = BYTES.slice()
    const t = fromBlob(bytes, [H, W, 4])
    const frame = frameOf(t.data, { transfer: [t.data.buffer] })
    assert.equal(bytes.length, 0)
    assert.throws(() => t.get(0, 0, 0), { code: 'ERR_DETACHED' })
    assert.deepEqual(await pixelsOf(frame), [...BYTES])
  })
})
