'use strict'
// From one sample rate to another with a windowed sinc: a low-pass at the lower of the two Nyquist
// frequencies, evaluated exactly where each output sample falls.

const ZERO_CROSSINGS = 16 // on either side; more is steeper and slower

/** How many samples `length` of them become. */
function resampledLength(length, from, to) {
  return Math.floor((length * to) / from)
}

/**
 * @param {Float32Array} input
 * @param {number} from    its rate in Hz
 * @param {number} to      the wanted rate in Hz
 * @param {Float32Array} output  takes the result; it says how many samples are made
 */
function resample(input, from, to, output) {
  const divisor = greatestCommonDivisor(from, to)
  const step = from / divisor // the input advances by step / phases per output sample
  const phases = to / divisor
  const { taps, reach } = lowPass(phases, Math.min(1, to / from))
  const width = 2 * reach

  for (let i = 0; i < output.length; i++) {
    const position = i * step
    const phase = position % phases
    const first = (position - phase) / phases - reach + 1
    let sum = 0
    for (let k = Math.max(0, -first); k < width && first + k < input.length; k++) {
      sum += input[first + k] * taps[phase * width + k]
    }
    output[i] = sum
  }
}

/** One row of filter taps for each position that an output sample can have between two inputs. */
function lowPass(phases, cutoff) {
  const reach = Math.ceil(ZERO_CROSSINGS / cutoff)
  const width = 2 * reach
  const taps = new Float64Array(phases * width)
  for (let phase = 0; phase < phases; phase++) {
    const row = taps.subarray(phase * width, (phase + 1) * width)
    let sum = 0
    for (let k = 0; k < width; k++) {
      const x = k - reach + 1 - phase / phases
      row[k] = sinc(x * cutoff) * hann(x / reach)
      sum += row[k]
    }
    for (let k = 0; k < width; k++) row[k] /= sum // a constant stays that constant
  }
  return { taps, reach }
}

function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function hann(x) {
  return Math.abs(x) >= 1 ? 0 : 0.5 + 0.5 * Math.cos(Math.PI * x)
}

function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

module.exports = { resample, resampledLength }
