'use strict'
// What stands around a detector of objects like YOLO. A picture is letterboxed into what the model reads, and what the model says of 8,400 boxes
// becomes a few, in the picture's own pixels. The model is left out: an output of its shape, [1, 84, 8400], is drawn at random and read from a file.
// transformers.js does on the same numbers what it has functions for.
//
//   node examples/detection
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const {
  Generator,
  allClose,
  backend,
  concat,
  fromBlob,
  load,
  openNpy,
  rand,
  randint,
  randn,
  save,
  tensor,
  zeros,
} = require('samebytes')
const math = require('samebytes/math')

const PICTURE = path.join(__dirname, '../../docs/browser-demo.png')
const SIDE = 640
const BOXES = 8400
const CLASSES = 80
const SURE = 0.5
const OVERLAP = 0.45

/** A picture of [rows, columns, 3] bytes in the middle of `input`, [1, 3, SIDE, SIDE], as floats from 0 to 1. */
function prepare(picture, input) {
  const pixels = input.select(0, 0).permute(1, 2, 0) // the same bytes, channels last
  return math.letterbox(picture, [SIDE, SIDE], {
    axes: [0, 1],
    antialias: false,
    scale: 1 / 255,
    out: pixels,
  })
}

/** The boxes that the model is sure of, as x0, y0, x1, y1 in pixels of its input. An output has a centre, a size and a score for each class. */
function decode(output) {
  const all = output.select(0, 0).T // [boxes, 84], a view
  const [sure] = math.nonzero(math.greater(math.max(all.slice(':', '4:'), { axis: 1 }), SURE))
  const rows = all.take(sure, { axis: 0 })
  const [centres, sizes, scores] = [
    rows.slice(':', ':2'),
    rows.slice(':', '2:4'),
    rows.slice(':', '4:'),
  ]
  const half = math.divide(sizes, 2)
  return {
    boxes: concat([math.subtract(centres, half), math.add(centres, half)], { axis: 1 }),
    classes: math.argmax(scores, { axis: 1 }),
    scores: math.max(scores, { axis: 1 }),
  }
}

/** Of boxes around the same object the best one, in pixels of the picture. */
function select({ boxes, classes, scores }, place) {
  const best = math.nms(boxes, scores, { iouThreshold: OVERLAP, classes })
  return {
    boxes: math.unletterbox(boxes.take(best, { axis: 0 }), place),
    classes: classes.take(best, { axis: 0 }),
    scores: scores.take(best, { axis: 0 }),
  }
}

/** Scores before the sigmoid, and boxes: each is near one of five objects; few see it. */
function draw(generator) {
  const objects = tensor([
    [100, 200, 80, 120],
    [320, 330, 200, 180],
    [500, 250, 60, 60],
    [520, 260, 60, 60],
    [200, 420, 120, 90],
  ])
  const kinds = tensor([0, 16, 2, 2, 7], 'int32')
  const of = randint(0, 5, [BOXES], { generator, dtype: 'int32' })
  const boxes = math.add(
    objects.take(of, { axis: 0 }),
    math.multiply(randn([BOXES, 4], { generator }), 4),
  )
  const seen = math.multiply(math.less(rand([BOXES, 1], { generator }), 0.02).astype('float32'), 8)
  const logits = math.add(
    math.subtract(randn([BOXES, CLASSES], { generator }), 6),
    math.multiply(math.oneHot(kinds.take(of), CLASSES), seen),
  )
  return { boxes, logits }
}

/** Calls a function a few times. Gives its result, and milliseconds of the fastest call. */
async function timed(times, run) {
  let [result, best] = [null, Infinity]
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    result = await run()
    best = Math.min(best, performance.now() - start)
  }
  return { result, ms: best }
}

function check(condition, text) {
  if (!condition) throw new Error(`transformers.js has ${text}`)
}

async function main(folder) {
  const sharp = require('sharp')
  const hf = await import('@huggingface/transformers')
  const hfTensor = (t) => new hf.Tensor(t.dtype, t.data, [...t.shape]) // over the same bytes

  // Before the model.
  const { data, info } = await sharp(PICTURE)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const picture = fromBlob(data, [info.height, info.width, 3])
  const input = zeros([1, 3, SIDE, SIDE])
  const boxed = await timed(5, () => prepare(picture, input))
  const place = boxed.result
  console.log(
    `picture     ${info.width} × ${info.height} pixels, scaled by ${place.scale.map((s) => s.toFixed(3)).join(' and ')}, ${place.padding.join(' and ')} pixels of border`,
  )

  const inner = place.scale.map((scale, i) => Math.round(scale * place.size[i]))
  const planes = await timed(5, () => {
    const floats = zeros([3, info.height, info.width])
    floats.permute(1, 2, 0).copyFrom(picture, { scale: 1 / 255 })
    return hf.interpolate_4d(hfTensor(floats.unsqueeze(0)), { size: inner })
  })
  const shown = input.narrow(2, place.padding[0], inner[0]).narrow(3, place.padding[1], inner[1])
  check(
    allClose(shown, fromBlob(planes.result.data, planes.result.dims), { atol: 2e-4 }),
    'other pixels',
  ) // its weights are of 32 bits

  // After the model.
  const { boxes, logits } = draw(new Generator(7))
  const file = path.join(folder, 'output.npy')
  await save(file, concat([boxes.T, math.sigmoid(logits).T]).unsqueeze(0))
  const output = backend() === 'native' ? openNpy(file) : await load(file)
  const decoded = await timed(5, () => decode(output))
  const selected = await timed(5, () => select(decoded.result, place))

  const processor = new hf.RTDetrImageProcessor({})
  const told = {
    logits: hfTensor(logits.unsqueeze(0)),
    pred_boxes: hfTensor(math.divide(boxes, SIDE).unsqueeze(0)),
  }
  const [theirs] = (
    await timed(1, () => processor.post_process_object_detection(told, SURE, [[SIDE, SIDE]], true))
  ).result
  const detecting = await timed(2, () =>
    processor.post_process_object_detection(told, SURE, [[SIDE, SIDE]], true),
  )
  const ours = decoded.result
  check(allClose(ours.boxes, tensor(theirs.boxes), { atol: 1e-3 }), 'other boxes')
  check(
    allClose(ours.classes, tensor(theirs.classes, 'int32'), { rtol: 0, atol: 0 }),
    'other classes',
  )
  check(allClose(ours.scores, tensor(theirs.scores), { rtol: 1e-6 }), 'other scores')

  console.log(
    `output      ${BOXES} boxes, sure of ${ours.scores.size}, ${selected.result.scores.size} are left; all as transformers.js has them, which has no nms`,
  )
  const kinds = selected.result.classes.toArray()
  const scores = selected.result.scores.toArray()
  for (const [i, corners] of selected.result.boxes.toArray().entries()) {
    console.log(
      `  class ${String(kinds[i]).padEnd(3)} ${scores[i].toFixed(3)}  [${corners.map((x) => x.toFixed(0)).join(', ')}]`,
    )
  }
  console.log(
    `times       transformers.js takes ${(planes.ms / boxed.ms).toFixed(1)} × as long to resize, ${(detecting.ms / decoded.ms).toFixed(0)} × to decode; nms ${selected.ms.toFixed(2)} ms`,
  )
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-detection-'))
main(folder)
  .catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
  .finally(() => fs.rmSync(folder, { recursive: true, force: true }))
