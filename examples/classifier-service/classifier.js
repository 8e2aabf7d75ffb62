'use strict'
// From the bytes of a picture to labels. All that is needed for a picture is made once, in a few places that are used again:
// what it costs in memory is known when the service starts, and stays.

const { cpus } = require('node:os')
const sharp = require('sharp')
const { fromBlob, zeros } = require('samebytes')
const { softmax } = require('samebytes/math')
const { Module } = require('samebytes/module')
const { SIZE, MEAN, DEVIATION } = require('./model')

sharp.cache(false) // no two pictures are the same
sharp.concurrency(1) // many pictures at a time, not many threads for one

/** x / 255, minus the mean, by the deviation: one multiplication and one addition for each element */
const SCALE = DEVIATION.map((deviation) => 1 / (255 * deviation))
const BIAS = MEAN.map((mean, i) => -mean / DEVIATION[i])

/**
 * @param {string | Uint8Array} source  a model of onnxruntime's, by path or bytes: [1, 3, 224, 224] → [1, labels]
 * @param {string[]} labels
 * @param {{ places?: number, waiting?: number }} [options]  pictures at a time, and how many may wait for their turn
 */
async function classifier(
  source,
  labels,
  { places = Math.max(2, cpus().length), waiting = 64 } = {},
) {
  const module = await Module.load(source, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  const free = Array.from({ length: places }, () => placeFor(labels.length))
  const queue = []

  async function take() {
    if (free.length > 0) return free.pop()
    if (queue.length === waiting) {
      throw Object.assign(new Error(`${waiting} pictures wait already`), { status: 503 })
    }
    return new Promise((resolve) => queue.push(resolve))
  }

  function giveBack(place) {
    const next = queue.shift()
    if (next === undefined) free.push(place)
    else next(place)
  }

  return {
    /** @param {Uint8Array} picture  JPEG, PNG, WebP … */
    async classify(picture, count = 3) {
      const place = await take()
      try {
        await decode(picture, place.pixels)
        await module.run(
          { [module.inputs[0].name]: place.image },
          { outputs: { [module.outputs[0].name]: place.logits } },
        )
        return best(softmax(place.logits, { out: place.logits }).data, labels, count)
      } finally {
        giveBack(place)
      }
    },
    close: () => module.dispose(),
  }
}

/** What a picture needs on its way: the model's input, the same bytes as sharp has them, the model's output, which become probabilities in place. */
function placeFor(count) {
  const image = zeros([1, 3, SIZE, SIZE], { shared: true }) // planes, as models want them, in memory that a model's thread reads where it is
  const pixels = image.permute(0, 2, 3, 1) // the same bytes as rows of pixels, as sharp gives them
  return { image, pixels, logits: zeros([1, count], { shared: true }) }
}

async function decode(picture, pixels) {
  const decoded = sharp(picture)
    .resize(SIZE, SIZE, { fit: 'cover' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
  const { data, info } = await decoded.toBuffer({ resolveWithObject: true }).catch((cause) => {
    throw Object.assign(new Error(`this is no picture: ${cause.message}`), { status: 415, cause })
  })
  const raw = fromBlob(data, [info.height, info.width, info.channels]) // sharp's bytes, in place
  try {
    // uint8 pixels → float32 planes, scaled and shifted by channel, in one pass; axis 3 is that of the channels
    pixels.copyFrom(raw, { scale: SCALE, bias: BIAS, axis: 3 })
  } finally {
    raw.dispose()
  }
}

/** The most probable labels. */
function best(probabilities, labels, count) {
  return labels
    .map((label, i) => ({ label, probability: probabilities[i] }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, count)
}

module.exports = { classifier }
