// Voice activity with samebytes: the samples, their windows, the model's state and its answers are tensors in one
// linear memory. onnxruntime-web has a memory of its own: it copies what it is given, and what it gives.

import * as ort from './onnxruntime-web/ort.wasm.min.mjs'
import { arrayEqual, dispose, tensor, tidy, zeros } from './dist/samebytes.mjs'

export const RATE = 16000 // samples per second that the model wants
export const CONTEXT = 64 // samples of the window before, which it wants to see again
export const HOP = 512 // new samples in each window: 32 ms
const STATE = [2, 1, 128]

/** Bytes that onnxruntime-web copies in each run: into its memory, and out of it. */
export const RUN = {
  in: 4 * (CONTEXT + HOP) + 4 * 256 + 8, // input, state, sr
  out: 4 * 256 + 4, // stateN, output
}

export function loadModel() {
  ort.env.wasm.wasmPaths = new URL('./onnxruntime-web/', import.meta.url).href
  ort.env.wasm.numThreads = 1 // a model this small only loses time by sharing its work out
  return ort.InferenceSession.create('./model.onnx', {
    executionProviders: ['wasm'],
    logSeverityLevel: 3,
  })
}

/**
 * Everything that is needed to listen to so many samples, made once. The first CONTEXT samples are the
 * silence in front of the first window.
 *
 * @param {number} length  samples
 */
export function prepare(length) {
  const count = Math.max(1, Math.ceil(length / HOP))
  return tidy(() => {
    // if one cannot be made, none is left behind
    const samples = zeros([CONTEXT + count * HOP])
    return {
      count,
      samples,
      windows: samples.unfold(0, CONTEXT + HOP, HOP), // a view: neighbours overlap by 64 samples
      speech: zeros([count]), // the model's answers
      stateA: zeros(STATE),
      stateB: zeros(STATE),
      levels: zeros([count, 3]),
      progress: zeros([2], { dtype: 'int32' }), // windows that there are; that are measured
    }
  })
}

/** Frees the bytes now, instead of when the garbage collector comes by. */
export function release({ count, ...tensors }) {
  dispose(Object.values(tensors))
}

/** `hear(i)` runs the model on window i. Tensors are given to onnxruntime-web as they are. */
export function listener(session, { windows, speech, stateA, stateB }) {
  const sr = tensor(BigInt(RATE)) // 0-d, int64
  let [state, next] = [stateA, stateB]
  state.zero()
  return {
    async hear(i) {
      const input = windows.narrow(0, i, 1)
      const { output, stateN } = await session.run({ input, state, sr })
      // onnxruntime-web writes into no memory but its own (preallocated outputs stay as they were): copied on purpose
      next.copyFrom(stateN.data)
      const answer = speech.narrow(0, i, 1).copyFrom(output.data)
      ;[state, next] = [next, state] // what the model gave is what it reads next
      dispose([input, answer]) // the views, not the bytes
    },
    dispose() {
      sr.dispose()
    },
  }
}

/**
 * The same the usual way, arrays and tensors made anew for each window.
 *
 * @param {Float32Array} pcm  the samples, context in front
 * @returns {Promise<Float32Array>} a probability for each window
 */
export async function plainLoop(session, pcm, count) {
  const probabilities = new Float32Array(count)
  let state = new ort.Tensor('float32', new Float32Array(256), STATE)
  for (let i = 0; i < count; i++) {
    const input = new ort.Tensor('float32', pcm.slice(i * HOP, i * HOP + CONTEXT + HOP), [
      1,
      CONTEXT + HOP,
    ])
    const sr = new ort.Tensor('int64', [BigInt(RATE)], [])
    const { output, stateN } = await session.run({ input, state, sr })
    probabilities[i] = output.data[0]
    state = stateN
  }
  return probabilities
}

/** Compared by the C kernel, element by element, as far as there are probabilities. */
export function isSame(speech, probabilities) {
  return tidy(() => arrayEqual(speech.narrow(0, 0, probabilities.length), tensor(probabilities)))
}
