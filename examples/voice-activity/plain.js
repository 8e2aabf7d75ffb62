'use strict'
// The same job the usual way, without samebytes: what the demo compares its result and its time with.

const ort = require('onnxruntime-node')
const { CONTEXT, HOP, SAMPLE_RATE, RECORDED_RATE } = require('./constants')
const { resample, resampledLength } = require('./resample')

/** The recording at the model's rate, with the model's context of silence in front. */
function preparePlain(bytes) {
  const recording = new Float32Array(new Uint8Array(bytes).buffer)
  const samples = resampledLength(recording.length, RECORDED_RATE, SAMPLE_RATE)
  const count = Math.ceil(samples / HOP)
  const pcm = new Float32Array(CONTEXT + count * HOP)
  resample(recording, RECORDED_RATE, SAMPLE_RATE, pcm.subarray(CONTEXT, CONTEXT + samples))
  return { pcm, count }
}

/** A listener whose `hear(i)` runs the model on window i: a new array and new tensors each time. */
function plainListener(session, { pcm, count }) {
  const probabilities = new Float32Array(count)
  let state

  return {
    probabilities,
    reset() {
      state = new ort.Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
    },
    async hear(i) {
      const samples = pcm.slice(i * HOP, i * HOP + CONTEXT + HOP)
      const input = new ort.Tensor('float32', samples, [1, CONTEXT + HOP])
      const sr = new ort.Tensor('int64', [BigInt(SAMPLE_RATE)], [])
      const { output, stateN } = await session.run({ input, state, sr })
      probabilities[i] = output.data[0]
      state = stateN
    },
  }
}

module.exports = { preparePlain, plainListener }
