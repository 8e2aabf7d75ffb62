'use strict'
// A hash of transforms and spectrograms of fixed numbers: one for all back ends, levels and numbers of threads.
const { createHash } = require('node:crypto')
const { tensor } = require('samebytes')
const math = require('samebytes/math')

// each way of C: short lengths of all factors, matrices, and convolutions of both kinds
const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 11, 26, 31, 37, 60, 97, 210, 256, 257, 400, 512, 720, 1009, 1024, 2310, 4096, 10007]

/** @returns {string} */
function signalsBits () {
  const values = new Float64Array(50_000)
  for (let i = 0, x = 1; i < values.length; i++) values[i] = (x = Math.imul(x, 1664525) + 1013904223 | 0) / 2 ** (24 + x % 5)
  const hash = createHash('sha256')
  for (const dtype of ['float32', 'float64']) {
    const all = tensor(values, [values.length]).astype(dtype)
    for (const n of LENGTHS) {
      const t = all.slice(`:${Math.floor(values.length / n) * n}`).reshape([-1, n]).slice(':21')
      const spectrum = math.rfft(t)
      for (const made of [math.fft(t), spectrum, math.ifft(math.fft(t)), math.irfft(spectrum, { n }), math.ihfft(t), math.hfft(spectrum, { n })]) hash.update(made.bytes)
    }
    const spectrum = math.stft(all, { nFft: 400, hopLength: 160, window: math.hann(400) })
    for (const made of [math.fft2(all.reshape([200, 250])), spectrum, math.istft(spectrum, { hopLength: 160, window: math.hann(400) }), math.logMelSpectrogram(all)]) hash.update(made.contiguous().bytes)
    for (const made of [math.melFilterbank(dtype), math.melFilterbank({ scale: 'htk', dtype }), math.hann(1001, dtype), math.hamming(77, dtype)]) hash.update(made.bytes)
  }
  return hash.digest('hex')
}

module.exports = { signalsBits }
