'use strict'
// transformers.js' own functions on the same numbers: those in JavaScript, and those for which it asks onnxruntime.

const { fromBlob, ones, tidy } = require('samebytes')
const math = require('samebytes/math')
const { inTurn, times } = require('../rivals')

const numbers = (n) =>
  Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 100003) / 100003 - 0.5)

/** Rows: [what, theirs, ours]. @param {any} hf the package */
function rowsOf(hf) {
  const pair = (...shape) => {
    const data = numbers(shape.reduce((a, b) => a * b))
    return [new hf.Tensor('float32', data, shape), fromBlob(data, shape)]
  }
  const [logits, ownLogits] = pair(32000)
  const [hidden, ownHidden] = pair(8, 128, 384)
  const [flat, ownFlat] = pair(1024, 384)
  const [planes, ownPlanes] = pair(3, 480, 640)
  const [matrix, ownMatrix] = pair(256, 256)
  const mask = new hf.Tensor('int64', new BigInt64Array(8 * 128).fill(1n), [8, 128])
  const ownMask = ones([8, 128, 1])
  const rows = Array.from({ length: 1024 }, (_, i) => flat.data.subarray(384 * i, 384 * (i + 1)))
  const query = ownFlat.narrow(0, 0, 1)
  return [
    ['softmax of 32,000', () => hf.softmax(logits.data), () => math.softmax(ownLogits)],
    ['log_softmax of 32,000', () => hf.log_softmax(logits.data), () => math.logSoftmax(ownLogits)],
    [
      'cos_sim of one of 384 and 1,024',
      () => rows.map((row) => hf.cos_sim(rows[0], row)),
      () => math.cosineSimilarity(query, ownFlat),
    ],
    [
      'dot of one of 384 and 1,024',
      () => rows.map((row) => hf.dot(rows[0], row)),
      () => math.vecdot(query, ownFlat),
    ],
    [
      'mean_pooling of [8, 128, 384]',
      () => hf.mean_pooling(hidden, mask),
      () =>
        tidy(() =>
          math.divide(
            math.sum(math.multiply(ownHidden, ownMask), { axis: 1 }),
            math.sum(ownMask, { axis: 1 }),
          ),
        ),
    ],
    [
      'mean of [8, 128, 384] along 1',
      () => hf.mean(hidden, 1),
      () => math.mean(ownHidden, { axis: 1 }),
    ],
    [
      'std_mean of [8, 128, 384] along 2',
      () => hf.std_mean(hidden, 2),
      () =>
        tidy(() => [
          math.std(ownHidden, { axis: 2, correction: 1 }),
          math.mean(ownHidden, { axis: 2 }),
        ]),
    ],
    ['normalize of [1024, 384]', () => flat.normalize(2, -1), () => math.normalize(ownFlat)],
    [
      'permute of [8, 128, 384]',
      () => hf.permute(hidden, [2, 0, 1]),
      () => ownHidden.permute(2, 0, 1).contiguous(),
    ],
    [
      'interpolate of [3, 480, 640] to 224 x 224',
      () => hf.interpolate(planes, [224, 224], 'bilinear'),
      () => math.resize(ownPlanes, [224, 224], { axes: [1, 2], antialias: false }),
    ],
    [
      'quantize_embeddings of [1024, 384]',
      () => hf.quantize_embeddings(flat, 'binary'),
      () => math.greater(ownFlat, 0),
    ],
    [
      'matmul of 256 x 256 (onnxruntime)',
      () => hf.matmul(matrix, matrix),
      () => math.matmul(ownMatrix, ownMatrix),
    ],
    [
      'topk of 10 of 32,000 (onnxruntime)',
      () => hf.topk(logits, 10),
      () => math.topK(ownLogits, 10),
    ],
  ]
}

/** Seconds of n runs of what gives tensors, lists of them, or promises. */
async function seconds(n, run) {
  const begin = performance.now()
  for (let i = 0; i < n; i++) {
    const made = run()
    const result = made instanceof Promise ? await made : made
    for (const t of [result, result?.values, result?.indices].flat()) {
      if (typeof t?.dispose === 'function') t.dispose()
    }
  }
  return (performance.now() - begin) / 1000
}

async function besideTransformers(only) {
  const hf = await import('@huggingface/transformers')
  for (const [what, theirs, ours] of rowsOf(hf)) {
    if (!what.includes(only)) continue
    const took = await inTurn({ own: (n) => seconds(n, ours), theirs: (n) => seconds(n, theirs) })
    console.log(
      `${times(took.theirs / took.own)} transformers.js, ${(took.own * 1e6).toFixed(0)} us: ${what}`,
    )
  }
}

module.exports = { besideTransformers }
