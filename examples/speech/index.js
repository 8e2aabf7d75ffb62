'use strict'
// What a model for speech reads. A recording is brought to 16 kHz by its spectrum, and becomes the log-mel features of Whisper, beside transformers.js's
// features of the same samples. Then the loudest tone of each frame, from a Fourier transform of overlapping frames.
//
//   node examples/speech
const fs = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { allClose, concat, fromBytes, fromOrt, tensor, zeros } = require('samebytes')
const math = require('samebytes/math')

const RECORDING = path.join(path.dirname(require.resolve('audio-lena')), 'lena.wav')
const RATE = 16000
const SECONDS = 30 // what Whisper reads at once

/** The samples of a .wav of 16 bits and one channel, over the file's bytes, and their rate. */
function samplesOf(wav) {
  const [format, data] = ['fmt ', 'data'].map((name) => {
    const at = wav.indexOf(name, 12, 'latin1')
    return wav.subarray(at + 8, at + 8 + wav.readUInt32LE(at + 4))
  })
  if (format.readUInt16LE(2) !== 1 || format.readUInt16LE(14) !== 16) {
    throw new Error('a recording of one channel and 16 bits was expected')
  }
  return {
    samples: fromBytes(data, { dtype: 'int16', copy: 'if-needed' }),
    rate: format.readUInt32LE(4),
  }
}

/** Whole seconds of a signal at a lower rate: what is left of its spectrum without the frequencies that are too high. */
function resample(signal, from, to) {
  const seconds = Math.floor(signal.size / from)
  const spectrum = math.rfft(signal.narrow(0, 0, seconds * from))
  const lower = math.irfft(spectrum.narrow(0, 0, (seconds * to) / 2 + 1), { n: seconds * to })
  return math.multiply(lower, to / from, { out: lower })
}

/** A signal with silence up to SECONDS behind it. */
function filled(signal) {
  return concat([signal, zeros([SECONDS * RATE - signal.size])])
}

/** The frequency, in hertz, that is strongest in each frame, and 0 where a frame is much quieter than the loudest one. */
function tones(signal) {
  const nFft = 1024
  const power = math.square(
    math.abs(math.stft(signal, { nFft, hopLength: 256, window: math.hann(nFft) })),
  )
  const frequencies = math.rfftfreq(nFft, { d: 1 / RATE }).take(math.argmax(power, { axis: 0 }))
  const energy = math.sum(power, { axis: 0 })
  return math.where(math.greater(energy, math.multiply(math.max(energy), 0.01)), frequencies, 0)
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

async function main() {
  const { samples, rate } = samplesOf(fs.readFileSync(RECORDING))
  const recording = math.divide(samples, 32768)
  const resampled = await timed(3, () => resample(recording, rate, RATE))
  const speech = resampled.result
  console.log(
    `recording   ${(samples.size / rate).toFixed(1)} s at ${rate} Hz; ${speech.size / RATE} s at ${RATE} Hz, loudest sample ${math.max(math.abs(speech)).item().toFixed(3)}`,
  )

  const audio = filled(speech)
  const features = await timed(3, () => math.logMelSpectrogram(audio))

  const { WhisperFeatureExtractor } = await import('@huggingface/transformers')
  const extract = new WhisperFeatureExtractor({
    feature_size: 80,
    sampling_rate: RATE,
    n_fft: 400,
    hop_length: 160,
    n_samples: SECONDS * RATE,
    nb_max_frames: SECONDS * 100,
  })
  const theirs = await timed(3, () => extract(audio.data))
  const wanted = fromOrt(theirs.result.input_features.ort_tensor).select(0, 0)
  check(allClose(features.result, wanted, { rtol: 0, atol: 1e-5 }), 'other features')
  check(
    allClose(
      math.melFilterbank({ dtype: 'float64' }),
      tensor(extract.config.mel_filters, 'float64'),
      { atol: 1e-9 },
    ),
    'other filters',
  )
  console.log(
    `features    ${features.result.dtype} [${features.result.shape.join(', ')}], from ${math.min(features.result).item().toFixed(2)} to ${math.max(features.result).item().toFixed(2)}, and the mel filters: as transformers.js has them`,
  )

  const heard = tones(speech)
  const voiced = math.maskedSelect(heard, math.greater(heard, 0))
  const [low, middle, high] = math.quantile(voiced, [0.1, 0.5, 0.9]).toArray()
  console.log(
    `tones       strongest in half of ${voiced.size} frames below ${middle.toFixed(0)} Hz, in most from ${low.toFixed(0)} to ${high.toFixed(0)} Hz`,
  )
  console.log(
    `times       transformers.js takes ${(theirs.ms / features.ms).toFixed(1)} × as long for the features; here ${features.ms.toFixed(1)} ms, and ${resampled.ms.toFixed(1)} ms for the other rate`,
  )
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
