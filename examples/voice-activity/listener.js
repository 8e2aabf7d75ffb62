'use strict'
// Voice activity with samebytes: the recording, the windows, the model's inputs and outputs are
// tensors over bytes that stay where they are.

const ort = require('onnxruntime-node')
const { backend, fromBlob, tensor, zeros } = require('samebytes')
const { CONTEXT, HOP, SAMPLE_RATE, RECORDED_RATE } = require('./constants')
const { resample, resampledLength } = require('./resample')

/** A tensor over the file's bytes, one over the samples for the model, and its windows. */
function prepare(bytes) {
  const recording = fromBlob(bytes, { dtype: 'float32' }) // no copy: the bytes read are the samples
  const samples = resampledLength(recording.size, RECORDED_RATE, SAMPLE_RATE)
  const count = Math.ceil(samples / HOP)

  // The model wants the end of the window before in front of each window: silence for the first.
  const pcm = zeros([CONTEXT + count * HOP])
  resample(recording.data, RECORDED_RATE, SAMPLE_RATE, pcm.narrow(0, CONTEXT, samples).data)

  const windows = pcm.unfold(0, CONTEXT + HOP, HOP) // a view: neighbours overlap by 64 samples
  return { recording, pcm, windows, count }
}

/** A listener whose `hear(i)` runs the model on window i; everything it needs is made here, once. */
function listener(session, { windows, count }) {
  const sr = tensor(BigInt(SAMPLE_RATE)) // 0-d, int64
  const probabilities = zeros([count])
  const outputs = Array.from({ length: count }, (_, i) =>
    fetchOf(probabilities.narrow(0, i, 1).view([1, 1])),
  )
  let [state, next] = [zeros([2, 1, 128]), zeros([2, 1, 128])].map(fetchOf)
  const states = [state, next]

  return {
    probabilities,
    outputs,
    states,
    reset() {
      state.tensor.zero()
    },
    async hear(i) {
      const feeds = { input: windows.narrow(0, i, 1), state: state.tensor, sr }
      await session.run(feeds, { output: outputs[i].ort, stateN: next.ort })
      ;[state, next] = [next, state] // what the model wrote is what it reads next
    },
  }
}

/**
 * A tensor as the preallocated output of a run. Any tensor is a valid feed as it is, but what
 * onnxruntime writes to has to be its own kind of tensor: here over the same bytes.
 */
function fetchOf(tensor) {
  const wrap = () => new ort.Tensor(tensor.dtype, tensor.data, tensor.shape)
  if (backend() !== 'native') {
    return {
      tensor,
      get ort() {
        return wrap()
      },
    }
  } // WASM memory may move
  return { tensor, ort: wrap() }
}

module.exports = { prepare, listener, fetchOf }
