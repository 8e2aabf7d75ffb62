'use strict'
// Many streams at once: the recording is heard from several places, one window of each in every run of the model.

const ort = require('onnxruntime-node')
const { tensor, zeros } = require('samebytes')
const { CONTEXT, HOP, SAMPLE_RATE } = require('./constants')
const { fetchOf } = require('./listener')

const STREAMS = 16
const WINDOW = CONTEXT + HOP

/** With samebytes: one batch, filled by one copy a step; results and states are written where they stay. */
function batchListener(session, { pcm, count }) {
  const steps = Math.floor(count / STREAMS)
  const sr = tensor(BigInt(SAMPLE_RATE))
  const places = pcm.asStrided([steps, STREAMS, WINDOW], [HOP, steps * HOP, 1]) // step, stream, sample: a view
  const batch = zeros([STREAMS, WINDOW])
  const probabilities = zeros([steps, STREAMS])
  const outputs = Array.from({ length: steps }, (_, i) =>
    fetchOf(probabilities.narrow(0, i, 1).view([STREAMS, 1])),
  )
  let [state, next] = [zeros([2, STREAMS, 128]), zeros([2, STREAMS, 128])].map(fetchOf)

  return {
    steps,
    probabilities: probabilities.data,
    reset() {
      state.tensor.zero()
    },
    async hear(i) {
      batch.copyFrom(places.select(0, i))
      await session.run(
        { input: batch, state: state.tensor, sr },
        { output: outputs[i].ort, stateN: next.ort },
      )
      ;[state, next] = [next, state]
    },
  }
}

/** The usual way: a batch put together in a new array, and results in new ones. */
function plainBatchListener(session, { pcm, count }) {
  const steps = Math.floor(count / STREAMS)
  const probabilities = new Float32Array(steps * STREAMS)
  let state

  return {
    steps,
    probabilities,
    reset() {
      state = new ort.Tensor('float32', new Float32Array(2 * STREAMS * 128), [2, STREAMS, 128])
    },
    async hear(i) {
      const samples = new Float32Array(STREAMS * WINDOW)
      for (let s = 0; s < STREAMS; s++) {
        const start = (s * steps + i) * HOP
        samples.set(pcm.subarray(start, start + WINDOW), s * WINDOW)
      }
      const input = new ort.Tensor('float32', samples, [STREAMS, WINDOW])
      const sr = new ort.Tensor('int64', [BigInt(SAMPLE_RATE)], [])
      const { output, stateN } = await session.run({ input, state, sr })
      probabilities.set(output.data, i * STREAMS)
      state = stateN
    },
  }
}

module.exports = { STREAMS, batchListener, plainBatchListener }
