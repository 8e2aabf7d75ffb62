// Where samples come from: a file that the browser decodes, or the microphone.

import { tidy, wasmMemory } from './dist/samebytes.mjs'
import { CONTEXT, RATE } from './listener.mjs'

/**
 * Any sound file that the browser knows, as one channel at the model's rate.
 *
 * @param {ArrayBuffer} bytes  taken over
 * @returns {Promise<AudioBuffer>}
 */
export async function decode(bytes) {
  const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(bytes)
  if (sound.numberOfChannels === 1) return sound
  const mixer = new OfflineAudioContext(1, sound.length, RATE)
  const source = new AudioBufferSourceNode(mixer, { buffer: sound })
  source.connect(mixer.destination)
  source.start()
  return mixer.startRendering()
}

/** @returns {() => void} stops it */
export function play(sound) {
  const context = new AudioContext()
  const source = new AudioBufferSourceNode(context, { buffer: sound })
  source.connect(context.destination)
  source.start()
  return () => {
    context.close()
  }
}

/**
 * The microphone into `samples`. In shared memory the audio thread writes to the tensor's bytes itself; else it
 * sends its samples, and they are copied.
 *
 * @param {object} samples  tensor
 * @param {boolean} shared
 * @param {(samples: number, copied: number) => void} onHeard  how many there are, and bytes that were copied for the last ones
 * @returns {Promise<() => void>} stops it
 */
export async function record(samples, shared, onHeard) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
  const context = new AudioContext({ sampleRate: RATE })
  const stop = () => {
    for (const track of stream.getTracks()) track.stop()
    context.close()
  }
  try {
    await context.audioWorklet.addModule('./recorder.js')
    const place = {
      buffer: wasmMemory().buffer,
      byteOffset: Number(samples.dataPtr),
      length: samples.size,
      at: CONTEXT,
    }
    const node = new AudioWorkletNode(context, 'recorder', {
      numberOfOutputs: 0,
      processorOptions: shared ? place : { at: CONTEXT },
    })
    node.port.onmessage = ({ data: { at, chunk } }) => {
      const count = Math.min(chunk?.length ?? 0, samples.size - at)
      if (count > 0) {
        tidy(() => {
          samples.narrow(0, at, count).copyFrom(chunk.subarray(0, count))
        })
      }
      onHeard(Math.min(at + (chunk?.length ?? 0), samples.size) - CONTEXT, 4 * Math.max(0, count))
    }
    context.createMediaStreamSource(stream).connect(node)
    await context.resume()
    return stop
  } catch (error) {
    stop()
    throw error
  }
}
