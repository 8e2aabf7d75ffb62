// What is done before and after a detector of objects: a picture is put into the middle of a square that the model reads, and what the
// model says of thousands of boxes becomes a few, in the picture's own pixels.
import assert from 'node:assert/strict'
import { concat, fromBlob, memory, zeros, type Tensor } from 'samebytes'
import { add, argmax, divide, greater, letterbox, max, nms, nonzero, subtract, unletterbox, type LetterboxPlace } from 'samebytes/math'

const SIDE = 64
const CLASSES = ['person', 'bicycle', 'car']
const SURE = 0.5
const OVERLAP = 0.45

interface Detection { label: string, score: number, box: [number, number, number, number] }

/** Puts a picture of (height, width, 3) bytes into the model's input, as large as fits, with grey bars at its sides. */
function place (picture: Tensor<'uint8'>, input: Tensor<'float32'>): LetterboxPlace {
  const pixels = input.select(0, 0).permute(1, 2, 0)
  return letterbox(picture, [SIDE, SIDE], { axes: [0, 1], method: 'nearest', scale: 1 / 255, out: pixels })
}

/** Detections of an output of shape [1, 4 + classes, boxes]: centres, sizes and a score a class. */
function detect (output: Tensor<'float32'>, placed: LetterboxPlace): Detection[] {
  const predictions = output.select(0, 0).T
  const [sure] = nonzero(greater(max(predictions.slice(':', '4:'), { axis: 1 }), SURE))
  const rows = predictions.take(sure, { axis: 0 })
  const [centres, half] = [rows.slice(':', ':2'), divide(rows.slice(':', '2:4'), 2)]
  const corners = concat([subtract(centres, half), add(centres, half)], { axis: 1 })
  const [scores, classes] = [max(rows.slice(':', '4:'), { axis: 1 }), argmax(rows.slice(':', '4:'), { axis: 1 })]

  const best = nms(corners, scores, { iouThreshold: OVERLAP, classes })
  const boxes = unletterbox(corners.take(best, { axis: 0 }), placed).toArray<2>()
  return best.toArray<1>().map((row, i) => {
    const [x0, y0, x1, y1] = boxes[i]!
    if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined) throw new Error('a box has four numbers')
    return { label: CLASSES[classes.get(row)]!, score: scores.get(row), box: [x0, y0, x1, y1] }
  })
}

// ---- What should come out ----

const HEIGHT = 48
const WIDTH = 128
const COUNT = 300

// Each pixel twice in each direction: in the square, which is half as large, it is there once, whichever of the four sharp takes.
const pixel = (y: number, x: number, c: number): number => (y * 40 + x * 3 + c) % 256
const picture = Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, i) => pixel(Math.floor(i / (WIDTH * 6)), Math.floor(i / 6) % (WIDTH / 2), i % 3))
const input = zeros([1, 3, SIDE, SIDE])
const placed = place(fromBlob(picture, [HEIGHT, WIDTH, 3]), input)
assert.deepEqual([placed.scale, placed.padding, placed.size], [[0.5, 0.5], [20, 0], [HEIGHT, WIDTH]])
assert.deepEqual(memory().copied, {}, 'pixels become floats where the model reads them')
const planes = input.data
for (let c = 0; c < 3; c++) {
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const inside = y >= 20 && y < 44
      const value = inside ? pixel(y - 20, x, c) / 255 : 114 / 255
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
const detections = detect(fromBlob(raw, [1, 7, COUNT]), placed)
const { copied } = memory()

interface Candidate { box: [number, number, number, number], kind: number, score: number }
const candidates: Candidate[] = []
for (let i = 0; i < COUNT; i++) {
  const value = (row: number): number => raw[row * COUNT + i]!
  const score = Math.max(value(4), value(5), value(6))
  const [x, y, w, h] = [value(0) / 0.5, (value(1) - 20) / 0.5, value(2) / 0.5, value(3) / 0.5]
  if (score >= SURE) candidates.push({ box: [x - w / 2, y - h / 2, x + w / 2, y + h / 2], kind: [4, 5, 6].findIndex(row => value(row) === score), score })
}
assert.deepEqual(copied, {
  take: { count: 2, bytes: 4 * (7 * candidates.length + 4 * detections.length) },
  concat: { count: 1, bytes: 4 * 4 * candidates.length }
}, 'of the output only rows that the model is sure of are copied, then the boxes that are kept')

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
