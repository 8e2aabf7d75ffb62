'use strict'
// A search among 100,000 embeddings in a file that is mapped, not read: the product of the matrix and a query goes through the file once, and the best rows
// are taken from the scores. transformers.js does the same on the same bytes. The file is removed at the end.
//
//   node examples/search [float32 or float16]
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const {
  Generator,
  allClose,
  backend,
  createNpy,
  fromOrt,
  load,
  openNpy,
  randn,
  save,
} = require('samebytes')
const math = require('samebytes/math')

const ROWS = 100_000
const WIDTH = 384
const BEST = 5
const MiB = 2 ** 20

/** Rows of length 1, as models for sentences give them. Written in parts, so that no part is larger than 8 MiB. */
async function make(file, dtype) {
  const generator = new Generator(7)
  const unit = (rows) => math.normalize(randn([rows, WIDTH], { generator })).astype(dtype)
  if (backend() !== 'native') return save(file, unit(ROWS)) // nothing can be mapped there
  const all = createNpy(file, [ROWS, WIDTH], dtype)
  for (const part of all.split(5000)) part.copyFrom(unit(part.shape[0]))
  all.dispose()
}

/** The best rows for a query, and their scores. */
function search(embeddings, query) {
  return math.topK(math.matmul(embeddings, query), BEST)
}

/** Bytes of this process that are its own, and bytes of files that are mapped; null where the system does not tell. */
function resident() {
  const status = fs.existsSync('/proc/self/status')
    ? fs.readFileSync('/proc/self/status', 'latin1')
    : ''
  const [own, files] = ['RssAnon', 'RssFile'].map(
    (name) => 1024 * new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1],
  )
  return own >= 0 ? { own, files } : null
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

async function main(file, dtype) {
  await make(file, dtype)
  const { size } = fs.statSync(file)
  const query = math.normalize(randn([WIDTH], { generator: new Generator(8) }))

  const before = resident()
  const embeddings = backend() === 'native' ? openNpy(file) : await load(file)
  const { values, indices } = search(embeddings, query)
  const after = resident()
  const how = backend() === 'native' ? 'mapped' : 'read'
  console.log(
    `file        ${embeddings.dtype} [${embeddings.shape.join(', ')}], ${(size / MiB).toFixed(0)} MiB, ${how}`,
  )
  if (before !== null) {
    const [own, files] = ['own', 'files'].map((name) =>
      ((after[name] - before[name]) / MiB).toFixed(1),
    )
    console.log(
      `memory      after a search ${own} MiB more of its own, ${files} MiB more of files, which the system may drop`,
    )
  }
  console.log(
    `best        rows ${indices.toArray().join(', ')}: ${values
      .toArray()
      .map((x) => x.toFixed(4))
      .join(', ')}`,
  )

  // The same by transformers.js, whose functions are for float32.
  const hf = await import('@huggingface/transformers')
  const hfTensor = (t) => new hf.Tensor(t.dtype, t.data, [...t.shape]) // over the same bytes
  const floats = embeddings.to('float32')
  const ours = await timed(5, () => search(floats, query))
  const theirs = await timed(3, async () => {
    const scores = await hf.matmul(hfTensor(floats), hfTensor(query.unsqueeze(1)))
    return hf.topk(scores.view(ROWS), BEST)
  })
  const [theirValues, theirIndices] = theirs.result.map((t) => fromOrt(t.ort_tensor))
  check(
    allClose(theirIndices.astype('int32', { casting: 'unsafe' }), indices, { rtol: 0, atol: 0 }),
    'other rows',
  )
  check(allClose(theirValues, values, { atol: 1e-6 }), 'other scores')

  const found = floats.take(indices, { axis: 0 })
  const cosines = found.unbind(0).map((row) => hf.cos_sim(query.data, row.data))
  check(
    cosines.every((x, i) => Math.abs(x - values.get(i)) < (dtype === 'float16' ? 1e-4 : 1e-6)),
    'other cosines',
  ) // halves have not quite length 1
  console.log(
    '            matmul and topk of transformers.js give the same rows and scores, its cos_sim the same cosines',
  )
  console.log(
    `times       transformers.js takes ${(theirs.ms / ours.ms).toFixed(1)} × as long, matmul and topk by onnxruntime; a search here ${ours.ms.toFixed(1)} ms`,
  )
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-search-'))
main(path.join(folder, 'embeddings.npy'), process.argv[2] ?? 'float32')
  .catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
  .finally(() => fs.rmSync(folder, { recursive: true, force: true }))
