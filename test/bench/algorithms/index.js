'use strict'
// Algorithms of samebytes/math beside NumPy, sharp, transformers.js and loops by hand, in turn.
//
//   npm run bench -- algorithms [--only TEXT] [--no-numpy]
//
// SAMEBYTES_THREADS=1 leaves out threads, which NumPy's functions here have not; its matrix products have one as well. SAMEBYTES_BACKEND=wasm runs
// WebAssembly. Never fails by speed.

const path = require('node:path')
const { parseArgs } = require('node:util')
const { backend, empty, fromBlob, tensor, zeros } = require('samebytes')
const math = require('samebytes/math')
const { inTurn, startNumpy, timed, times } = require('../rivals')
const { besideTransformers } = require('./transformers')

/** The same numbers as peer.py's. */
const values = (...shape) =>
  tensor(
    fromBlob(
      Float32Array.from(
        { length: shape.reduce((a, b) => a * b) },
        (_, i) => ((i * 7919) % 100003) / 100003,
      ),
      shape,
    ),
  )

const products = ['identical', 'fast', 'precise'].flatMap((accuracy) =>
  [256, 1024].map((n) => ({
    title: `matmul of ${n} x ${n} float32, ${accuracy}`,
    setup: `a = values(${n}, ${n}); b = values(${n}, ${n}); o = np.empty((${n}, ${n}), 'float32')`,
    python: 'np.matmul(a, b, out=o)',
    make: () => [values(n, n), values(n, n), zeros([n, n])],
    run: ([a, b, out]) => math.matmul(a, b, { accuracy, out }),
  })),
)

const ROWS = [
  ...products,
  {
    title: 'matmul of 1 x 384 by 384 x 100,000',
    setup: 'a = values(1, 384); b = values(384, 100000)',
    python: 'a @ b',
    make: () => [values(1, 384), values(384, 100000), zeros([1, 100000])],
    run: ([a, b, out]) => math.matmul(a, b, { out }),
  },
  {
    title: 'the same, of a transposed matrix',
    setup: 'a = values(1, 384); b = values(100000, 384)',
    python: 'a @ b.T',
    make: () => [values(1, 384), values(100000, 384).T, zeros([1, 100000])],
    run: ([a, b, out]) => math.matmul(a, b, { out }),
  },
  {
    title: 'topK(10) of 100,000 float32',
    setup: 'a = values(100000)',
    python: 'i = np.argpartition(a, 99990)[99990:]; i[np.argsort(-a[i])]',
    make: () => [values(100000)],
    run: ([a]) => disposed(math.topK(a, 10)),
  },
  {
    title: 'argsort of 1M float32',
    setup: 'a = values(1000000)',
    python: 'np.argsort(a, kind="stable")',
    make: () => [values(1000000)],
    run: ([a]) => math.argsort(a).dispose(),
  },
  {
    title: 'sort of 1M int32',
    setup: 'a = (values(1000000) * 1e9).astype("int32")',
    python: 'np.sort(a)',
    make: () => [math.multiply(values(1000000), 1e9).astype('int32', { casting: 'unsafe' })],
    run: ([a]) => math.sort(a).dispose(),
  },
  {
    title: 'uniqueCounts of 1M int32',
    setup: 'a = (values(1000000) * 1000).astype("int32")',
    python: 'np.unique(a, return_counts=True)',
    make: () => [math.multiply(values(1000000), 1000).astype('int32', { casting: 'unsafe' })],
    run: ([a]) => disposed(math.uniqueCounts(a)),
  },
  {
    title: 'rfft of 3,000 frames of 400 float32',
    setup: 'a = values(3000, 400)',
    python: 'np.fft.rfft(a)',
    make: () => [values(3000, 400)],
    run: ([a]) => math.rfft(a).dispose(),
  },
  {
    title: 'rfft of 2^20 float64',
    setup: 'a = values(1 << 20).astype("float64")',
    python: 'np.fft.rfft(a)',
    make: () => [values(2 ** 20).astype('float64')],
    run: ([a]) => math.rfft(a).dispose(),
  },
  ...[
    ['solve', 'np.linalg.solve(a, b)', ([a, b]) => math.linalg.solve(a, b).dispose()],
    ['svd', 'np.linalg.svd(a)', ([a]) => disposed(math.linalg.svd(a))],
    ['eigh', 'np.linalg.eigh(a @ a.T)', ([, , c]) => disposed(math.linalg.eigh(c))],
    ['inv', 'np.linalg.inv(a)', ([a]) => math.linalg.inv(a).dispose()],
  ].map(([name, python, run]) => ({
    title: `linalg.${name} of 200 x 200 float64`,
    setup: 'a = values(200, 200).astype("float64"); b = values(200, 3).astype("float64")',
    python,
    make: () => {
      const a = values(200, 200).astype('float64')
      return [a, values(200, 3).astype('float64'), math.matmul(a, a.T)]
    },
    run,
  })),
  {
    title: 'softmax and argmax of [8400, 80]',
    setup: 'a = values(8400, 80)',
    python: 'e = np.exp(a - a.max(-1, keepdims=True)); e /= e.sum(-1, keepdims=True); e.argmax(-1)',
    make: () => [values(8400, 80), zeros([8400, 80])],
    run: ([a, out]) => math.argmax(math.softmax(a, { out }), { axis: 1 }).dispose(),
    loop: ([a]) => softmaxByHand(a),
  },
  {
    title: 'nms of 8,400 boxes',
    make: () => boxes(8400),
    run: ([b, scores]) => math.nms(b, scores, { iouThreshold: 0.5 }).dispose(),
    loop: ([b, scores]) => nmsByHand(b, scores, 0.5),
  },
  {
    title: 'resize of 1080 x 1920 RGB bytes to 224 x 224 scaled planar floats',
    make: () => [empty([1080, 1920, 3], 'uint8').fill(90), zeros([3, 224, 224])],
    run: ([a, out]) =>
      math.resize(a, [224, 224], { axes: [0, 1], scale: 1 / 255, out: out.permute(1, 2, 0) }),
    sharp: true,
  },
]

/** @param {Record<string, import('samebytes').Tensor>} results */
function disposed(results) {
  for (const t of Object.values(results)) t.dispose()
}

function boxes(n) {
  const numbers = values(n, 5).data
  const list = new Float32Array(4 * n)
  for (let i = 0; i < n; i++) {
    const [x, y, w, h] = numbers.subarray(5 * i, 5 * i + 4)
    list.set([x * 600, y * 600, x * 600 + 20 + 60 * w, y * 600 + 20 + 60 * h], 4 * i)
  }
  return [tensor(fromBlob(list, [n, 4])), values(n, 5).select(1, 4).contiguous()]
}

/** As common repositories have it: sorted indices, a filter for each box that is kept. */
function nmsByHand(b, scores, threshold) {
  const [c, s] = [b.data, scores.data]
  const area = (i) => (c[4 * i + 2] - c[4 * i]) * (c[4 * i + 3] - c[4 * i + 1])
  let order = Array.from(s.keys()).sort((i, j) => s[j] - s[i])
  const kept = []
  while (order.length > 0) {
    const best = order[0]
    kept.push(best)
    order = order.slice(1).filter((i) => {
      const w = Math.max(
        0,
        Math.min(c[4 * best + 2], c[4 * i + 2]) - Math.max(c[4 * best], c[4 * i]),
      )
      const h = Math.max(
        0,
        Math.min(c[4 * best + 3], c[4 * i + 3]) - Math.max(c[4 * best + 1], c[4 * i + 1]),
      )
      return (w * h) / (area(best) + area(i) - w * h) <= threshold
    })
  }
  return kept
}

function softmaxByHand(a) {
  const {
    data,
    shape: [rows, columns],
  } = a
  return Array.from({ length: rows }, (_, i) => {
    const row = Array.from(data.subarray(i * columns, (i + 1) * columns))
    const most = Math.max(...row)
    const powers = row.map((x) => Math.exp(x - most))
    const sum = powers.reduce((x, y) => x + y, 0)
    const result = powers.map((x) => x / sum)
    return result.indexOf(Math.max(...result))
  })
}

async function main(args) {
  const { values: options } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      'no-numpy': { type: 'boolean', default: false },
    },
  })
  const numpy =
    options['no-numpy'] || backend() !== 'native'
      ? null
      : await startNumpy(path.join(__dirname, 'peer.py'), { setup: '', run: 'pass' })
  for (const row of ROWS) {
    if (row.title.includes(options.only)) console.log(await measure(row, numpy))
  }
  if (''.includes(options.only) && backend() === 'native') {
    console.log(await besideSharp(ROWS.find(({ sharp }) => sharp)))
  }
  if (backend() === 'native') await besideTransformers(options.only)
  numpy?.close()
}

async function measure({ title, setup, python, make, run, loop }, numpy) {
  const operands = make()
  const rival = python === undefined ? null : numpy
  await rival?.prepare({ setup, run: python })
  const seconds = await inTurn({
    own: (n) => timed(n, () => run(operands)),
    ...(rival && { numpy: (n) => rival.seconds(n) }),
    ...(loop && { loop: (n) => timed(n, () => loop(operands)) }),
  })
  for (const t of operands) t.dispose()
  const beside = [
    rival && `${times(seconds.numpy / seconds.own)} NumPy`,
    loop && `${times(seconds.loop / seconds.own)} the loop`,
  ].filter(Boolean)
  return `${[...beside, `${(seconds.own * 1e6).toFixed(0)} us`].join(', ')}: ${title}`
}

/** sharp's calls are asynchronous: their times are taken in turn, by one thread of its own. */
async function besideSharp({ title, make, run }) {
  const sharp = require('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  const operands = make()
  const pixels = Buffer.from(operands[0].data)
  const took = { own: [], sharp: [] }
  for (let i = 0; i < 21; i++) {
    let begin = performance.now()
    run(operands)
    took.own.push(performance.now() - begin)
    begin = performance.now()
    await sharp(pixels, { raw: { width: 1920, height: 1080, channels: 3 } })
      .resize(224, 224, { fit: 'fill', kernel: 'linear' })
      .raw()
      .toBuffer()
    took.sharp.push(performance.now() - begin)
  }
  const { median } = require('../measure')
  return `${times(median(took.sharp) / median(took.own))} sharp (bytes alone): ${title}`
}

module.exports = { main }
