// What is done before and after a detector of objects: a picture is put into the middle of a square that the model reads, and what the
// model says of thousands of boxes becomes a few, in the picture's own pixels.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { fromBlob, full, memory, zeros, type Tensor } from 'samebytes'

const SIDE = 64
const CLASSES = ['person', 'bicycle', 'car']
const GREY = 114 / 255
const SURE = 0.5
const OVERLAP = 0.45

interface Placed { input: Tensor<'float32'>, scale: number, left: number, top: number }
interface Detection { label: string, score: number, box: [number, number, number, number] }

/** A picture of (height, width, 3) bytes, made as large as fits, with grey bars at its sides. */
async function letterbox (picture: Tensor<'uint8'>): Promise<Placed> {
  const [height, width] = picture.shape
  if (height === undefined || width === undefined) throw new Error('a picture has rows and columns')
  const scale = Math.min(SIDE / height, SIDE / width)
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) }
  const { data } = await sharp(picture.bytes, { raw: { width, height, channels: 3 } })
    .resize({ ...size, fit: 'fill', kernel: 'nearest' }).raw().toBuffer({ resolveWithObject: true })
  const left = Math.floor((SIDE - size.width) / 2)
  const top = Math.floor((SIDE - size.height) / 2)
  const input = full([1, 3, SIDE, SIDE], GREY)
  input.select(0, 0).permute(1, 2, 0)
    .narrow(0, top, size.height).narrow(1, left, size.width)
    .copyFrom(fromBlob(data, [size.height, size.width, 3]), { scale: 1 / 255 })
  return { input, scale, left, top }
}

/** Detections of an output of shape [1, 4 + classes, boxes]: centres, sizes and a score a class. */
function detect (output: Tensor<'float32'>, { scale, left, top }: Placed): Detection[] {
  const predictions = output.select(0, 0).T
  const boxes = predictions.slice(':', ':4').accessor()
  const scores = predictions.slice(':', '4:').accessor()
  const found: { row: number, kind: number, score: number }[] = []
  for (let row = 0; row < predictions.shape[0]!; row++) {
    let kind = 0
    for (let c = 1; c < CLASSES.length; c++) if (scores.get(row, c) > scores.get(row, kind)) kind = c
    const score = scores.get(row, kind)
    if (score >= SURE) found.push({ row, kind, score })
  }
  found.sort((a, b) => b.score - a.score)

  const corners = zeros([found.length, 4])
  const a = corners.accessor()
  for (const [i, { row }] of found.entries()) {
    for (const [axis, before] of [left, top].entries()) {
      const [centre, extent] = [boxes.get(row, axis), boxes.get(row, 2 + axis)]
      a.set((centre - extent / 2 - before) / scale, i, axis)
      a.set((centre + extent / 2 - before) / scale, i, 2 + axis)
    }
  }
  const kept = suppress(corners, found.map(f => f.kind))
  return corners.take(kept, { axis: 0 }).unbind(0).map((corner, i) => {
    const { kind, score } = found[kept[i]!]!
    const [x0, y0, x1, y1] = corner.data
    if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined) throw new Error('a box has four numbers')
    return { label: CLASSES[kind]!, score, box: [x0, y0, x1, y1] }
  })
}

/** Indices of the boxes, the best one first, that no better one of their class covers. */
function suppress (corners: Tensor<'float32'>, kinds: number[]): number[] {
  const rows = corners.unbind(0).map(row => row.data)
  const kept: number[] = []
  rows.forEach((row, i) => {
    if (kept.every(k => kinds[k] !== kinds[i] || shared(rows[k]!, row) <= OVERLAP)) kept.push(i)
  })
  return kept
}

/** The area that two boxes share, as a part of what they cover together. */
function shared (a: Float32Array, b: Float32Array): number {
  const extent = (axis: number): number => Math.max(0, Math.min(a[axis + 2]!, b[axis + 2]!) - Math.max(a[axis]!, b[axis]!))
  const area = (c: Float32Array): number => (c[2]! - c[0]!) * (c[3]! - c[1]!)
  const both = extent(0) * extent(1)
  return both / (area(a) + area(b) - both)
}

// ---- What should come out ----

const HEIGHT = 48
const WIDTH = 128
const COUNT = 300

// Each pixel twice in each direction: in the square, which is half as large, it is there once, whichever of the four sharp takes.
const pixel = (y: number, x: number, c: number): number => (y * 40 + x * 3 + c) % 256
const picture = Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, i) => pixel(Math.floor(i / (WIDTH * 6)), Math.floor(i / 6) % (WIDTH / 2), i % 3))
const placed = await letterbox(fromBlob(picture, [HEIGHT, WIDTH, 3]))
assert.deepEqual([placed.scale, placed.left, placed.top], [0.5, 0, 20])
const planes = placed.input.data
for (let c = 0; c < 3; c++) {
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const inside = y >= 20 && y < 44
      const value = inside ? pixel(y - 20, x, c) / 255 : GREY
      assert.ok(Math.abs(planes[(c * SIDE + y) * SIDE + x]! - value) < 1e-6, `${c} ${y} ${x}`)
    }
  }
}

// Boxes around a few places, each seen many times, with numbers of no pattern.
let state = 5
const random = (): number => { state = (state * 48271) % 2147483647; return state / 2147483647 }
const raw = new Float32Array(7 * COUNT)
for (let i = 0; i < COUNT; i++) {
  const place = i % 4
  const values = [10 + place * 14 + random() * 4, 30 + random() * 4, 8 + random() * 3, 12 + random() * 4, random() * 0.9, random() * 0.7, random() * 0.6]
  values.forEach((value, row) => { raw[row * COUNT + i] = value })
}
const before = memory().copied
const detections = detect(fromBlob(raw, [1, 7, COUNT]), placed)
const after = memory().copied
assert.deepEqual(after, { ...before, take: { count: 1, bytes: 16 * detections.length } }, 'but for the boxes that are kept nothing is copied')

interface Candidate { box: [number, number, number, number], kind: number, score: number }
const candidates: Candidate[] = []
for (let i = 0; i < COUNT; i++) {
  const value = (row: number): number => raw[row * COUNT + i]!
  const score = Math.max(value(4), value(5), value(6))
  const [x, y, w, h] = [value(0) / 0.5, (value(1) - 20) / 0.5, value(2) / 0.5, value(3) / 0.5]
  if (score >= SURE) candidates.push({ box: [x - w / 2, y - h / 2, x + w / 2, y + h / 2], kind: [4, 5, 6].findIndex(row => value(row) === score), score })
}
const wanted: Candidate[] = []
let rest = candidates
while (rest.length > 0) {
  const best = rest.reduce((a, b) => b.score > a.score ? b : a)
  wanted.push(best)
  rest = rest.filter(({ box: [x0, y0, x1, y1], kind }) => {
    const [a0, b0, a1, b1] = best.box
    const both = Math.max(0, Math.min(x1, a1) - Math.max(x0, a0)) * Math.max(0, Math.min(y1, b1) - Math.max(y0, b0))
    return kind !== best.kind || both / ((x1 - x0) * (y1 - y0) + (a1 - a0) * (b1 - b0) - both) <= OVERLAP
  })
}
assert.ok(wanted.length > 3 && wanted.length < candidates.length / 4, `${wanted.length} of ${candidates.length}`)
assert.equal(detections.length, wanted.length)
detections.forEach(({ label, score, box }, i) => {
  const { kind, score: wantedScore, box: wantedBox } = wanted[i]!
  assert.deepEqual([label, score], [CLASSES[kind], wantedScore])
  box.forEach((x, k) => assert.ok(Math.abs(x - wantedBox[k]!) < 1e-3, `${box} is not ${wantedBox}`))
})
