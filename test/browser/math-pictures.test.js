'use strict'
/* global ImageData, OffscreenCanvas, VideoFrame, document */
// samebytes/math's resize, letterbox and crop of what pages have: ImageData, canvas, VideoFrame.
const assert = require('node:assert/strict')
const { fromBlob, memory, zeros } = require('samebytes')
const math = require('samebytes/math')
const { hex } = require('../setup')
const { counted } = require('./counted')

const [W, H] = [64, 48]
const OPTIONS = { dtype: 'float32', scale: [1, 0.5, 0.25], bias: -1 }

function painted(canvas = new OffscreenCanvas(W, H)) {
  const context = canvas.getContext('2d', { willReadFrequently: true, alpha: false })
  for (let y = 0; y < H; y += 4) {
    for (let x = 0; x < W; x += 4) {
      context.fillStyle = `rgb(${(x * 3) % 256} ${(y * 5) % 256} ${(x + y) % 256})`
      context.fillRect(x, y, 4, 4)
    }
  }
  return { canvas, image: context.getImageData(0, 0, W, H) }
}

const resized = (image) =>
  hex(
    math.resize(fromBlob(image.data, [H, W, 4]).narrow(2, 0, 3), [24, 20], {
      ...OPTIONS,
      axes: [0, 1],
    }),
  )

describe('resize, letterbox and crop of pictures in a page', () => {
  it('of an ImageData and of both kinds of canvas', async () => {
    const { canvas, image } = painted()
    const element = Object.assign(document.createElement('canvas'), { width: W, height: H })
    painted(element)
    assert.ok(image instanceof ImageData)
    for (const x of [image, canvas, element]) {
      assert.equal(hex(math.resize(x, [24, 20], OPTIONS)), resized(image))
      assert.equal(hex(await math.resizeAsync(x, [24, 20], OPTIONS)), resized(image))
      assert.deepEqual(math.letterbox(x, [32, 32]).image.shape, [32, 32, 3])
      assert.deepEqual(
        math.crop(x, [1, 2, 5, 4]).toArray(),
        fromBlob(image.data, [H, W, 4]).slice('2:4', '1:5', ':3').toArray(),
      )
    }
  })

  it('of none that can be read are typed errors', async () => {
    const drawn = new OffscreenCanvas(4, 4)
    drawn.getContext('bitmaprenderer')
    const given = document.createElement('canvas')
    given.transferControlToOffscreen()
    for (const [canvas, code] of [
      [drawn, 'ERR_UNSUPPORTED'],
      [given, 'ERR_UNSUPPORTED'],
      [new OffscreenCanvas(0, 5), 'ERR_SHAPE'],
    ]) {
      assert.throws(() => math.resize(canvas, [2, 2]), { code })
      await assert.rejects(math.letterboxAsync(canvas, [2, 2]), { code })
      assert.throws(() => zeros([5, 5, 4], 'uint8').copyFrom(canvas), { code })
    }
  })

  it('heed a signal', async () => {
    const { canvas, image } = painted()
    const frame = new VideoFrame(image.data, {
      format: 'RGBA',
      codedWidth: W,
      codedHeight: H,
      timestamp: 0,
    })
    const { signal } = new AbortController()
    const reason = new Error('enough')
    for (const x of [image, canvas, frame]) {
      assert.deepEqual((await math.resizeAsync(x, [24, 20], { signal })).shape, [24, 20, 3])
      assert.deepEqual(
        (await math.letterboxAsync(x, [32, 32], { signal })).image.shape,
        [32, 32, 3],
      )
      await assert.rejects(
        math.resizeAsync(x, [24, 20], { signal: AbortSignal.abort(reason) }),
        reason,
      )
      await assert.rejects(math.resizeAsync(x, [24, 20], { signal: 1 }), {
        code: 'ERR_ARGUMENT',
        message: /signal is 1/,
      })
    }
    frame.close()
  })

  it('of a VideoFrame, read by the browser into the bytes that are resized: one copy, nothing staged, nothing left', async () => {
    const { image } = painted()
    const frame = new VideoFrame(image.data, {
      format: 'RGBA',
      codedWidth: W,
      codedHeight: H,
      timestamp: 0,
    })
    const out = zeros([3, 24, 20])
    try {
      assert.throws(() => math.resize(frame, [2, 2]), {
        code: 'ERR_UNSUPPORTED',
        message: /asynchronous form/,
      })
      const { tensors } = memory()
      const { copied, staged } = await counted(() =>
        math.resizeAsync(frame, [24, 20], {
          scale: [1, 0.5, 0.25],
          bias: -1,
          out: out.permute([1, 2, 0]),
        }),
      )
      assert.ok(memory().tensors <= tensors + 1) // out's view
      assert.deepEqual(copied, { copyFromAsync: [1, 4 * W * H] })
      assert.equal(staged[0], 0)
      assert.equal(hex(out.permute([1, 2, 0])), resized(image))
      const before = memory().tensors
      const part = await math.cropAsync(frame, [1, 2, 5, 4], { channels: 4 })
      await assert.rejects(math.cropAsync(frame, [1, 2, W + 1, 4]), { code: 'ERR_BOUNDS' })
      assert.ok(memory().tensors <= before + 1)
      assert.deepEqual(
        part.toArray(),
        fromBlob(image.data, [H, W, 4]).slice('2:4', '1:5').toArray(),
      )
    } finally {
      frame.close()
    }
    await assert.rejects(math.resizeAsync(frame, [2, 2]), { code: 'ERR_DETACHED' })
  })
})
