'use strict'
// A small vision service, and the map of its memory on a page that follows it.
//
//   node examples/memory-map/index.js [frames]
//
// Nothing of it computes anything worth having: it is about which bytes there are, who sees them, and what is copied.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { serveMap } = require('samebytes/inspect') // first, so that it sees who makes the tensors
const samebytes = require('samebytes')

const {
  arange,
  backend,
  empty,
  fromBlob,
  fromShared,
  ones,
  rand,
  randint,
  scalarTensor,
  share,
  tidy,
  zeros,
} = samebytes

/** Weights as a model file has them; where files can be mapped, they are read from where they lie. */
function weights(folder) {
  const file = path.join(folder, 'weights.safetensors')
  tidy(() =>
    samebytes.saveSafetensorsSync(file, {
      'stem.weight': rand([64, 3, 7, 7]),
      'stem.bias': zeros([64]),
      'block.weight': rand([128, 64, 3, 3]).to('float16'),
      'head.weight': rand([128, 1000]).to('bfloat16'),
      'head.scale': ones([1000]),
    }),
  )

  return backend() === 'native'
    ? samebytes.openSafetensors(file)
    : samebytes.parseSafetensors(fs.readFileSync(file))
}

/** A camera's frames, four at a time, and what is looked at in them: views, no copies. */
function frames() {
  const buffer = Buffer.alloc(4 * 240 * 320 * 3)
  const batch = fromBlob(buffer, [4, 240, 320, 3], { dtype: 'uint8' })
  const crop = batch.slice(':', '8:232', '48:272')
  const mirrored = tidy(() => batch.select(0, 1).flip(1))
  return { batch, crop, mirrored, red: batch.select(-1, 0), planes: crop.permute(0, 3, 1, 2) }
}

/** Sound, and the windows of it that overlap. */
function sound() {
  const samples = zeros([4800], 'int16')
  return { samples, windows: samples.unfold(0, 480, 160) }
}

/** Results that another process reads, by name. */
function results() {
  if (backend() !== 'native') return { scores: empty([4, 1000], { shared: true }) }
  const segment = samebytes.SharedTensor.create(`scores-${process.pid}`, [4, 1000])
  return { segment, scores: segment.tensor, best: segment.tensor.slice(':', ':5') }
}

/** What the worker does: it has half of the input, where it lies. */
function work() {
  const input = fromShared(workerData)
  const half = input.slice('2:')
  const views = { input, half, corners: half.slice(':', ':', 0, 0) }
  const sums = zeros([2, 3], 'float64')
  parentPort.on('message', () => {
    sums.copyFrom(views.corners)
  })
  parentPort.postMessage('ready')
}

/** @param {any} input  another thread is given the same bytes */
async function otherThread(input) {
  const worker = new Worker(__filename, { workerData: share(input) })
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return worker
}

/** Looks at so many frames, and then does nothing more; resolves once it has looked at the first one. */
async function start(count) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-memory-map-'))
  const server = await serveMap()
  const layers = [...weights(folder)]
  const video = frames()
  const audio = sound()
  const out = results()
  const input = empty([4, 3, 224, 224], { shared: true })
  const mean = scalarTensor(0.45).expand([3, 224, 224])
  const grid = arange(24).reshape([4, 6])
  const corner = tidy(() => grid.T.slice('::-2', '1:'))
  const worker = backend() === 'native' ? await otherThread(input) : null
  const tracks = []

  const step = () => {
    input.copyFrom(video.planes, { scale: 1 / 255 })
    tidy(() => {
      out.scores.copyFrom(rand([4, 1000]))
    })
    tracks.push(randint(0, 320, [2, 2]))
    if (tracks.length > 400) tracks.splice(0, 400)
    worker?.postMessage('next')
  }
  step()
  let seen = 1
  const timer = setInterval(() => {
    if (seen++ < count) step()
  }, 500)
  async function stop() {
    clearInterval(timer)
    await server.close()
    await worker?.terminate()
    if (out.segment) samebytes.SharedTensor.unlink(out.segment.name)
    samebytes.dispose([...layers.map(([, t]) => t), ...Object.values(audio), mean, corner])
    fs.rmSync(folder, { recursive: true })
  }
  return { url: server.url, stop }
}

if (!isMainThread) {
  work()
} else {
  start(Number(process.argv[2] ?? Infinity)).then(({ url, stop }) => {
    console.log(`The map of this program: ${url}\nCtrl-C ends it.`)
    process.once('SIGINT', () => {
      stop().then(() => process.exit())
    })
  })
}
