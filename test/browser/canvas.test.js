'use strict'
/* global createImageBitmap, Image, ImageData, OffscreenCanvas */
const assert = require('node:assert/strict')
const { asarray, backend, fromBlob, tensor, zeros } = require('samebytes')
const { counted, grow } = require('./counted')

const [W, H] = [5, 3]
const N = 4 * W * H
const BYTES = Uint8Array.from({ length: N }, (_, i) => (i % 4 === 3 ? 255 : (41 * i) % 256))
const NONE = [0, 0]

/** A canvas of its own, cleared. */
const context = () => new OffscreenCanvas(W, H).getContext('2d', { willReadFrequently: true })
const pixelsOf = (made) => [...made.getImageData(0, 0, W, H).data]
function painted() {
  const made = context()
  made.putImageData(new ImageData(Uint8ClampedArray.from(BYTES), W, H), 0, 0)
  return made
}
const clamped = (t) => new Uint8ClampedArray(t.data.buffer, t.data.byteOffset, t.size)
const flat = (t) => [...t.contiguous().reshape(-1).data]

describe('a tensor of a canvas', () => {
  it('is over the bytes of its ImageData, both ways, nothing copied', async () => {
    const image = painted().getImageData(0, 0, W, H)
    const { result: t, copied, staged } = await counted(() => fromBlob(image.data, [H, W, 4]))
    assert.deepEqual([copied, staged], [{}, NONE])
    assert.deepEqual(flat(t), [...BYTES])
    t.set(9, 0, 0, 1)
    assert.equal(image.data[1], 9)
    image.data[2] = 8
    assert.equal(t.get(0, 0, 2), 8)
    const back = context()
    back.putImageData(image, 0, 0)
    assert.deepEqual(pixelsOf(back), flat(t))
  })

  it('holds what is drawn, by copyFrom of the canvas itself', async () => {
    const { canvas } = painted()
    for (const copy of [(t) => t.copyFrom(canvas), (t) => t.copyFromAsync(canvas)]) {
      const t = zeros([H, W, 4], 'uint8')
      await copy(t)
      assert.deepEqual(flat(t), pixelsOf(canvas.getContext('2d')))
      assert.deepEqual(flat(t), [...BYTES])
    }
    const planes = zeros([3, H, W])
    planes.permute(1, 2, 0).copyFrom(canvas, { scale: 2 })
    assert.equal(planes.get(1, 0, 1), 2 * BYTES[5])
  })

  it('holds a copy, made once: nothing staged', async () => {
    const t = zeros([H, W, 4], 'uint8')
    const { copied, staged } = await counted(() => t.copyFrom(painted().getImageData(0, 0, W, H)))
    assert.deepEqual([copied, staged], [{ copyFrom: [1, N] }, NONE])
    assert.deepEqual(flat(t), [...BYTES])
    const later = zeros([H, W, 4], 'uint8')
    const pending = await counted(() => later.copyFromAsync(painted().getImageData(0, 0, W, H)))
    assert.deepEqual([pending.copied, pending.staged], [{ copyFromAsync: [1, N] }, NONE])
    assert.deepEqual(flat(later), [...BYTES])
  })

  it('holds floats, planes or three channels: staged once', async () => {
    const image = painted().getImageData(0, 0, W, H)
    const colours = [...BYTES].filter((_, i) => i % 4 !== 3)
    for (const t of [
      zeros([H, W, 3], 'uint8'),
      zeros([H, W, 3]),
      zeros([3, H, W]).permute(1, 2, 0),
    ]) {
      const { staged } = await counted(() => t.copyFrom(image))
      assert.equal(staged[0], 1)
      assert.ok(staged[1] <= N)
      assert.deepEqual(flat(t), colours)
    }
  })
})

describe('an ImageData of a tensor', () => {
  it('is its bytes, nothing copied, in the memory of one thread until that grows', async () => {
    const t = tensor(BYTES, [H, W, 4])
    const make = () => new ImageData(clamped(t), W, H)
    if (backend() === 'wasm-shared') {
      assert.throws(make, TypeError)
      return
    }
    const { result: image, copied, staged } = await counted(make)
    assert.deepEqual([copied, staged], [{}, NONE])
    assert.equal(image.data.buffer, t.data.buffer)
    assert.equal(BigInt(image.data.byteOffset), t.dataPtr)
    t.set(9, 0, 0, 1)
    assert.equal(image.data[1], 9)
    image.data[2] = 8
    assert.equal(t.get(0, 0, 2), 8)
    const made = context()
    made.putImageData(image, 0, 0)
    assert.deepEqual(pixelsOf(made), flat(t))
    grow()
    assert.equal(image.data.length, 0)
    assert.throws(() => made.putImageData(image, 0, 0), { name: 'InvalidStateError' })
  })

  it('is a copy by toImageData, made once: nothing staged', async () => {
    const t = tensor(BYTES, [H, W, 4])
    const { result: image, copied, staged } = await counted(() => t.toImageData())
    assert.deepEqual([copied, staged], [{ toImageData: [1, N] }, NONE])
    assert.ok(image instanceof ImageData)
    t.fill(0)
    grow()
    const made = context()
    made.putImageData(image, 0, 0)
    assert.deepEqual(pixelsOf(made), [...BYTES])
  })

  it('is staged once by toImageData of grey, three channels, or planes', async () => {
    const t = tensor(BYTES, [H, W, 4])
    const opaque = [...BYTES]
    for (const picture of [
      t.slice('...', ':3').contiguous(),
      t.slice('...', ':3'),
      t.permute(2, 0, 1).contiguous().permute(1, 2, 0),
    ]) {
      const { result: image, copied, staged } = await counted(() => picture.toImageData())
      assert.deepEqual([copied, staged], [{ toImageData: [1, N] }, [1, N]])
      assert.deepEqual([...image.data], opaque)
    }
    const { result: grey, staged } = await counted(() => t.select(2, 0).contiguous().toImageData())
    assert.deepEqual(staged, [1, N])
    assert.deepEqual([...grey.data].slice(0, 8), [
      BYTES[0],
      BYTES[0],
      BYTES[0],
      255,
      BYTES[4],
      BYTES[4],
      BYTES[4],
      255,
    ])
  })

  it('is written in place where its data is the tensor', async () => {
    const image = new ImageData(W, H)
    const t = fromBlob(image.data, [H, W, 4])
    const result = tensor(BYTES, [H, W, 4])
    const { copied, staged } = await counted(() => t.copyFrom(result))
    assert.deepEqual([copied, staged], [{ copyFrom: [1, N] }, NONE])
    const made = context()
    made.putImageData(image, 0, 0)
    assert.deepEqual(pixelsOf(made), [...BYTES])
  })
})

describe('what has pixels, but shows none', () => {
  it('is named, and what reads it', async () => {
    const elements = ['video', 'img'].map((name) => document.createElement(name))
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'image')
    const things = {
      HTMLVideoElement: elements[0],
      HTMLImageElement: elements[1],
      ImageBitmap: await createImageBitmap(painted().canvas),
      SVGImageElement: svg,
    }
    const t = zeros([H, W, 4], 'uint8')
    for (const [name, thing] of Object.entries({ ...things, Image: new Image(W, H) })) {
      const words = new RegExp(
        `is an (${name}|HTMLImageElement) \\(drawImage puts it on a canvas, which can be read\\)`,
      )
      for (const call of [
        () => t.copyFrom(thing),
        () => tensor(thing),
        () => fromBlob(thing, [1]),
        () => asarray(thing),
      ]) {
        assert.throws(call, { code: 'ERR_ARGUMENT', message: words })
      }
      await assert.rejects(t.copyFromAsync(thing), { code: 'ERR_ARGUMENT', message: words })
    }
  })
})
