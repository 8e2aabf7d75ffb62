'use strict'
// Windows, frames of signals, mel spectrograms, and convolution.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, integer, oneOf, show } = require('../base/validate')
const { rows, run } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { atOnce } = require('./calls/plan')
const { checkOperandCast, checkOut } = require('../copy/results')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { inRange, lastAxes, permuted, withExtent } = require('./axes')
const { FLOAT32, FLOAT64, SAME_KIND, UNSAFE } = require('./constants')
const { checkCore, target } = require('./cores')
const { add, divide, log10, maximum, positive, subtract } = require('./functions')
const lists = require('./lists')
const { operandOf, targetOf } = require('./operands')
const { count, number, unlessFalse, floatOf, known, optionsFor } = require('./options')
const { max, sum } = require('./reductions')
const {
  COMPLEX,
  REAL,
  HERMITIAN,
  INVERSE,
  isDouble,
  madeFrom,
  lengthOf,
  lengthFor,
  narrowed,
  part,
  temporary,
} = require('./transforms')

/** @import { AnyTensor, Casting, DtypeName, NameOf, Or, Promote, TensorData } from '../base/types' */
/** @import { SignalName, SpectrumName } from './fft' */
/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const { opcodes } = ffi

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ periodic?: boolean | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} WindowOptions periodic: true where it is not given; dtype: 'float32' */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} StftOptions
 * @property {number} nFft  elements of a frame
 * @property {number | undefined} [hopLength]  elements between the beginnings of frames; nFft / 4 where none is given, rounded down
 * @property {number | undefined} [winLength]  elements of the window, which is filled up with 0 on both sides; nFft where none is given
 * @property {AnyTensor | undefined} [window]  winLength real numbers; 1 where none is given
 * @property {boolean | undefined} [center]  frames are around their positions, so that x is padded by nFft / 2 on both sides; true where it is not given
 * @property {'reflect' | 'constant' | 'replicate' | 'circular' | undefined} [padMode]  'reflect' where none is given
 * @property {boolean | undefined} [normalized]  divides by the root of nFft
 * @property {boolean | undefined} [onesided]  only the nFft / 2 + 1 frequencies from 0 on; true where it is not given
 * @property {number | undefined} [axis]  of time; -1 where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} IstftOptions
 * @property {number | undefined} [nFft]  elements of a frame; from the number of frequencies where none is given, an even one
 * @property {number | undefined} [hopLength]  as of stft
 * @property {number | undefined} [winLength]  as of stft
 * @property {AnyTensor | undefined} [window]  as of stft
 * @property {boolean | undefined} [center]  as of stft
 * @property {boolean | undefined} [normalized]  as of stft
 * @property {number | undefined} [length]  elements of the result; all that frames reach where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} MelOptions
 * @property {number | undefined} [sampleRate]  of the signal, in Hz; 16000 where none is given
 * @property {number | undefined} [nFft]  elements of a frame; 400
 * @property {number | undefined} [nMels]  filters; 80
 * @property {number | undefined} [fMin]  where the first filter begins, in Hz; 0
 * @property {number | undefined} [fMax]  where the last one ends; half of sampleRate
 * @property {'slaney' | null | undefined} [norm]  'slaney', where none is given: filters are divided by their width
 * @property {'slaney' | 'htk' | undefined} [scale]  of mels; 'slaney' where none is given
 * @property {E | undefined} [dtype]  'float32' where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} LogMelOptions
 * @property {number | undefined} [sampleRate]  of the signal, in Hz; 16000 where none is given
 * @property {number | undefined} [nFft]  elements of a frame; 400
 * @property {number | undefined} [hopLength]  elements between the beginnings of frames; 160
 * @property {number | undefined} [nMels]  filters; 80
 * @property {AnyTensor | undefined} [filters]  [filters, nFft / 2 + 1], in the place of melFilterbank's
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 */

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ mode?: 'full' | 'same' | 'valid' | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} ConvolveOptions mode: all elements ('full', where none is given), as many as the longer line has, or those where both lines overlap wholly; dtype: that both lines are converted to first */

const PADDINGS = /** @type {const} */ (['constant', 'reflect', 'replicate', 'circular'])
const REFLECT = 1
const LAST_TWO = [-2, -1]

const OF_WINDOW = known(['periodic', 'dtype', 'out', 'casting'])
const OF_STFT = known(
  [
    'nFft',
    'hopLength',
    'winLength',
    'window',
    'center',
    'padMode',
    'normalized',
    'onesided',
    'axis',
    'out',
    'casting',
  ],
  'nFft',
)
const OF_ISTFT = known(
  ['nFft', 'hopLength', 'winLength', 'window', 'center', 'normalized', 'length', 'out', 'casting'],
  'nFft',
)
const OF_MEL = known([
  'sampleRate',
  'nFft',
  'nMels',
  'fMin',
  'fMax',
  'norm',
  'scale',
  'dtype',
  'out',
  'casting',
])
const OF_CONVOLVE = known(['mode', 'dtype', 'out', 'casting'])
const MODES = /** @type {const} */ (['full', 'same', 'valid'])
const FULL = 0
const SAME = 1
const PRECISE = 1 // accuracy of products
const OF_LOG_MEL = known(['sampleRate', 'nFft', 'hopLength', 'nMels', 'filters', 'out'])

// ---- Windows ----

/**
 * @param {unknown} n
 * @param {unknown} opts
 * @param {number} a0
 * @param {number} a1
 * @returns {any}
 */
function windowOf(n, opts, a0, a1) {
  const elements = count('n', n)
  const options = optionsFor(opts, OF_WINDOW)
  const isPeriodic = unlessFalse('periodic', options.periodic)
  const { out, dtype, casting } = resultIn(options)
  const { to, result } = target(out, floatOf(dtype), [elements])
  run(rows.window, [to], [], { numbers: [isPeriodic ? 1 : 0, casting], scalars: [a0, a1] })
  return result()
}

/**
 * Hann's window, 0.5 - 0.5 cos(2 pi k / n); not periodic: with n - 1, so that it ends as it begins.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {number} n  elements
 * @param {WindowOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} [n]
 * @throws as fftfreq
 * @see PyTorch hann_window
 * @example
 * hann(4).toArray() // [0, 0.5, 1, 0.5]
 */
const hann = (n, opts) => windowOf(n, opts, 0.5, 0.5)

/**
 * Hamming's window, 0.54 - 0.46 cos(2 pi k / n); not periodic: with n - 1, so that it ends as it begins.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {number} n  elements
 * @param {WindowOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} [n]
 * @throws as fftfreq
 * @see PyTorch hamming_window
 * @example
 * hamming(4).get(2) // 1
 */
const hamming = (n, opts) => windowOf(n, opts, 0.54, 0.46)

// ---- Frames ----

/**
 * @param {unknown} window
 * @param {string} name
 * @returns {Layout | undefined}
 */
function filtersOf(window, name) {
  if (window === undefined) return undefined
  if (typeof window === 'string') {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(window)}; a tensor was expected, as hann(400) gives one`,
    )
  }
  tensorOf(window, name)
  const layout = operandOf(/** @type {Tensor} */ (window), name)
  const { kind, name: dtype } = dtypes[layout.dtype]
  if (kind === 'COMPLEX') {
    throw failure('ERR_DTYPE', `${name} is ${dtype}; real numbers were expected`)
  }
  return layout
}

/**
 * A window as long as a frame.
 *
 * @param {Layout | undefined} given
 * @param {number} length  of the window
 * @param {number} nFft
 * @returns {Layout}
 */
function windowFor(given, length, nFft) {
  if (length > nFft) throw failure('ERR_SHAPE', `winLength is ${length}; nFft is ${nFft}`)
  if (given !== undefined && (given.shape.length !== 1 || given.shape[0] !== length)) {
    throw failure(
      'ERR_SHAPE',
      `window has ${given.size} elements and ${given.shape.length} axes; one axis of ${length} was expected`,
    )
  }
  let window = given
  if (window === undefined) {
    window = temporary(FLOAT64, [length])
    run(rows.window, [window], [], { numbers: [1, SAME_KIND], scalars: [1, 0] })
  }
  return length === nFft ? window : paddedTo(window, nFft, Math.floor((nFft - length) / 2), 0)
}

/**
 * Lines with more elements on both sides.
 *
 * @param {Layout} layout
 * @param {number} n  elements afterwards
 * @param {number} before
 * @param {number} mode  an index of PADDINGS
 */
function paddedTo(layout, n, before, mode) {
  const to = temporary(layout.dtype, withExtent(layout.shape, layout.shape.length - 1, n))
  run(rows.pad_lines, [to], [layout], { numbers: [before, mode] })
  return to
}

/**
 * The frames of a signal, which is the last axis.
 *
 * @param {Layout} signal
 * @param {number} nFft
 * @param {number} hop
 * @param {number | null} padding  an index of PADDINGS; null: frames begin at their positions
 * @returns {Layout} [..., frames, nFft]: a view, of the signal or of a longer copy
 */
function framesOf(signal, nFft, hop, padding) {
  const last = signal.shape.length - 1
  const n = signal.shape[last]
  const side = Math.floor(nFft / 2)
  const x = padding === null ? signal : paddedTo(signal, n + 2 * side, side, padding)
  if (x.shape[last] < nFft) {
    throw failure('ERR_SHAPE', `the signal has ${n} elements; a frame has ${nFft}`)
  }
  return ffi.viewByNumbers(opcodes.unfold, x, last, nFft, hop)
}

/** @param {Layout} layout @returns {Layout} its last two axes exchanged */
const exchanged = (layout) => ffi.viewByNumbers(opcodes.transpose, layout, -1, -2)

/** @param {unknown} hop @param {number} nFft */
const hopOf = (hop, nFft) =>
  hop === undefined ? Math.max(1, Math.floor(nFft / 4)) : count('hopLength', hop)

/**
 * The short-time Fourier transform: of each frame of a signal, times a window.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers
 * @param {StftOptions<O>} [opts]
 * @returns {Tensor<Or<O, SpectrumName<D>>>} [..., nFft / 2 + 1, frames], or [..., nFft, frames] where it is not onesided
 * @throws {TypeError} ERR_DTYPE bool, float8 and complex numbers, ERR_CAST, ERR_ARGUMENT nFft is missing · {RangeError} ERR_BOUNDS, ERR_SHAPE the signal is too short, or window does not fit, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch stft
 * @example
 * stft(tensor([1, 1, 1, 1]), { nFft: 2, center: false, hopLength: 2 }).toArray() // [[[2, 0], [2, 0]], [[0, 0], [0, 0]]]
 */
function stft(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_STFT)
  const {
    nFft: frame,
    hopLength,
    winLength,
    window: factors,
    center,
    padMode = 'reflect',
    normalized,
    onesided,
    axis = -1,
  } = options
  const nFft = count('nFft', frame)
  const hop = hopOf(hopLength, nFft)
  const length = winLength === undefined ? nFft : count('winLength', winLength)
  const isCentred = unlessFalse('center', center)
  const padding = oneOf('padMode', padMode, PADDINGS)
  const isNormalized = boolean('normalized', normalized)
  const kind = unlessFalse('onesided', onesided) ? REAL : COMPLEX
  const given = integer('axis', axis)
  const { out, casting } = resultIn(options)
  return tidy(() => {
    const from = operandOf(x, 'x')
    const at = inRange(given, from.shape.length)
    const factor = filtersOf(factors, 'window')
    const frames = framesOf(
      permuted(from, lastAxes(from.shape.length, [at])),
      nFft,
      hop,
      isCentred ? padding : null,
    ) // refuses what is too long for the signal
    const window = windowFor(factor, length, nFft)
    const made = madeFrom(kind, from.dtype, undefined)
    const ndim = frames.shape.length
    const { to, result } = target(out, made, [
      ...frames.shape.slice(0, -2),
      lengthOf(kind, nFft),
      frames.shape[ndim - 2],
    ])
    run(rows.frames_fft, [exchanged(to)], [frames, window], {
      numbers: [kind, made, casting],
      scalars: [isNormalized ? 1 / Math.sqrt(nFft) : 1],
    })
    return result()
  })
}

/**
 * The inverse of stft: frames are transformed back, multiplied by the window, added up where they overlap, and divided by the sum of the
 * windows' squares.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  complex numbers, [..., nFft / 2 + 1, frames]
 * @param {IstftOptions<O>} [opts]
 * @returns {Tensor<Or<O, SignalName<D>>>} [..., elements], real numbers
 * @throws as stft · {TypeError} ERR_ARGUMENT the windows' squares add up to 0 somewhere
 * @see PyTorch istft
 * @example
 * istft(stft(tensor([1, 2, 3, 4, 5]), { nFft: 4, hopLength: 1 }), { hopLength: 1 }).toArray() // [1, 2, 3, 4, 5]
 */
function istft(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_ISTFT)
  const {
    nFft: frame,
    hopLength,
    winLength,
    window: factors,
    center,
    normalized,
    length: wanted,
  } = options
  const size = frame === undefined ? undefined : count('nFft', frame)
  const win = winLength === undefined ? undefined : count('winLength', winLength)
  const step = hopLength === undefined ? undefined : count('hopLength', hopLength)
  const isCentred = unlessFalse('center', center)
  const isNormalized = boolean('normalized', normalized)
  const length = wanted === undefined ? undefined : count('length', wanted)
  const { out, casting } = resultIn(options)
  return tidy(() => {
    const from = operandOf(x, 'x')
    checkCore(from, 2, 'x')
    const ndim = from.shape.length
    const count = from.shape[ndim - 1]
    const nFft = size ?? lengthFor(HERMITIAN, from.shape[ndim - 2], ndim - 2)
    if (from.shape[ndim - 2] !== lengthOf(REAL, nFft)) {
      throw failure(
        'ERR_SHAPE',
        `x has ${from.shape[ndim - 2]} frequencies; ${lengthOf(REAL, nFft)} were expected of ${nFft} elements`,
      )
    }
    if (count < 1) throw failure('ERR_SHAPE', 'x has no frames')
    const hop = hopOf(step, nFft)
    const window = windowFor(filtersOf(factors, 'window'), win ?? nFft, nFft)
    const skipped = isCentred ? Math.floor(nFft / 2) : 0
    const elements = length ?? (count - 1) * hop + nFft - 2 * skipped
    if (elements < 1) {
      throw failure('ERR_SHAPE', 'the frames have no elements but those that center skips')
    }
    const made = madeFrom(HERMITIAN, from.dtype, undefined)
    const batch = from.shape.slice(0, ndim - 2)
    const { to, result } = target(out, made, [...batch, elements], casting)
    const frames = temporary(FLOAT64, [...batch, count, nFft]) // sums of them are rounded once
    run(rows.fft, [frames], [exchanged(from)], {
      numbers: [HERMITIAN, INVERSE, nFft, FLOAT64, UNSAFE],
      scalars: [isNormalized ? 1 / Math.sqrt(nFft) : 1 / nFft],
    })
    run(rows.overlap_add, [to], [frames, window], { numbers: [hop, skipped, UNSAFE] })
    return result()
  })
}

// ---- Mels ----

/**
 * Writes filters into a target.
 *
 * @param {Layout} to  [nMels, nFft / 2 + 1]
 * @param {number} nFft
 * @param {number} sampleRate
 * @param {number} fMin
 * @param {number} fMax
 * @param {{ isHtk: boolean, isArea: boolean, casting: number }} how
 */
function writeFilters(to, nFft, sampleRate, fMin, fMax, { isHtk, isArea, casting }) {
  run(rows.mel_filters, [to], [], {
    numbers: [nFft, isHtk ? 1 : 0, isArea ? 1 : 0, casting],
    scalars: [sampleRate, fMin, fMax],
  })
}

/** @param {unknown} value @returns {number} */
function rateOf(value) {
  const rate = number('sampleRate', value)
  if (rate <= 0) throw failure('ERR_ARGUMENT', `sampleRate is ${rate}; more than 0 was expected`)
  return rate
}

/**
 * Triangular filters over frequencies, at equal distances on the mel scale.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {MelOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} [nMels, nFft / 2 + 1]
 * @throws {TypeError} ERR_ARGUMENT, ERR_DTYPE dtype is no float · {RangeError} ERR_BOUNDS, ERR_SHAPE of out, ERR_MEMORY · as copyFrom, of out
 * @see librosa filters.mel
 * @example
 * melFilterbank({ sampleRate: 8, nFft: 4, nMels: 1, norm: null }).toArray() // [[0, 1, 0]]
 */
function melFilterbank(opts) {
  const options = optionsFor(opts, OF_MEL)
  const {
    sampleRate: rate = 16000,
    nFft: frame = 400,
    nMels: mels = 80,
    fMin: low = 0,
    fMax: high,
    norm = 'slaney',
    scale = 'slaney',
  } = options
  const sampleRate = rateOf(rate)
  const nFft = count('nFft', frame)
  const nMels = count('nMels', mels)
  const fMin = number('fMin', low)
  const fMax = high === undefined ? sampleRate / 2 : number('fMax', high)
  if (!(fMin >= 0 && fMin < fMax)) {
    throw failure(
      'ERR_ARGUMENT',
      `fMin is ${fMin}, and fMax ${fMax}; frequencies from 0 on, the second one higher, were expected`,
    )
  }
  const isArea = norm !== null && oneOf('norm', norm, ['slaney']) === 0
  const isHtk = oneOf('scale', scale, ['slaney', 'htk']) === 1
  const { out, dtype, casting } = resultIn(options)
  const { to, result } = target(out, floatOf(dtype), [nMels, lengthOf(REAL, nFft)])
  writeFilters(to, nFft, sampleRate, fMin, fMax, { isHtk, isArea, casting })
  return result()
}

/**
 * What Whisper hears: log10 of the powers of each frame, added up by mel filters, no lower than 8 below the highest one, plus 4, divided by 4.
 * Frames are centred, the signal is reflected at its ends, the window is Hann's, and the last frame is left out. Each signal of a batch has a
 * highest value of its own. Signals of less than 30 seconds are not filled up.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers, [..., elements]
 * @param {LogMelOptions<O>} [opts]
 * @returns {Tensor<Or<O, SignalName<D>>>} [..., nMels, frames]
 * @throws as stft
 * @see OpenAI Whisper log_mel_spectrogram
 * @example
 * logMelSpectrogram(zeros([320]), { nMels: 1 }).toArray() // [[-1.5, -1.5]]
 */
function logMelSpectrogram(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_LOG_MEL)
  const { sampleRate: rate = 16000, nFft: frame = 400, hopLength = 160 } = options
  const { nMels: mels, filters: weights } = options
  const sampleRate = rateOf(rate)
  const nFft = count('nFft', frame)
  const hop = count('hopLength', hopLength)
  const asked = mels === undefined ? undefined : count('nMels', mels)
  const { out } = resultIn(options)
  return tidy(() => {
    const from = operandOf(x, 'x')
    checkCore(from, 1, 'x')
    const given = filtersOf(weights, 'filters')
    const nMels = given === undefined ? (asked ?? 80) : given.shape[0]
    if (given !== undefined && asked !== undefined && asked !== nMels) {
      throw failure('ERR_SHAPE', `filters has ${nMels} rows; nMels is ${asked}`)
    }
    const made = isDouble(from.dtype) ? FLOAT64 : FLOAT32
    const frames = framesOf(from, nFft, hop, REFLECT)
    const ndim = frames.shape.length
    const count = frames.shape[ndim - 2] - 1
    if (count < 1) {
      throw failure(
        'ERR_SHAPE',
        `the signal has ${from.shape[from.shape.length - 1]} elements; ${hop} or more were expected`,
      )
    }
    const window = temporary(FLOAT64, [nFft])
    run(rows.window, [window], [], { numbers: [1, SAME_KIND], scalars: [0.5, 0.5] })
    const filters = given ?? temporary(FLOAT32, [nMels, lengthOf(REAL, nFft)])
    if (given === undefined) {
      writeFilters(filters, nFft, sampleRate, 0, sampleRate / 2, {
        isHtk: false,
        isArea: true,
        casting: SAME_KIND,
      })
    }
    const shape = [...frames.shape.slice(0, -2), nMels, count]
    const { to, result } = target(undefined, made, shape)
    if (out !== undefined) checkOut(targetOf(out), shape, undefined)
    run(rows.frames_mel, [exchanged(to)], [narrowed(frames, ndim - 2, count), window, filters], {
      numbers: [SAME_KIND],
    })
    return compressed(result(), out)
  })
}

/**
 * @param {Tensor<any>} mels  powers; is written
 * @param {Tensor | undefined} out  may be mels
 * @returns {any}
 */
function compressed(mels, out) {
  if (mels.size === 0) return out ?? mels // there is no greatest one
  maximum(mels, 1e-10, { out: mels })
  log10(mels, { out: mels })
  maximum(mels, subtract(max(mels, { axis: LAST_TWO, keepdims: true }), 8), { out: mels })
  add(mels, 4, { out: mels })
  return divide(mels, 4, { out: out ?? mels })
}

// ---- Convolution ----

/**
 * @param {ReturnType<typeof lists.read>} given
 * @param {string} name
 * @param {number} dtype  that a list takes
 * @returns {Layout}
 */
function lineOf(given, name, dtype) {
  const layout = operandOf(lists.tensorAs(given, dtype), name)
  checkOperandCast(layout.dtype, dtype)
  if (layout.shape.length !== 1 || layout.size === 0) {
    throw failure(
      'ERR_SHAPE',
      `${name} has shape [${layout.shape.join(', ')}]; one or more elements along one axis were expected`,
    )
  }
  return layout
}

/**
 * @param {Layout} line
 * @param {number} dtype
 * @param {number} before
 * @param {number} after
 * @returns {Layout} a copy of that dtype, with 0 around it
 */
function surrounded(line, dtype, before, after) {
  const to = temporary(dtype, [before + line.size + after])
  run(rows.pad, [to], [line], { lists: [[before]], numbers: [0, SAME_KIND], scalars: [0] })
  return to
}

/** @param {Layout} line @param {number} start @param {number} length @returns {Layout} a part of it, as a matrix */
const columnOf = (line, start, length) =>
  ffi.viewByNumbers(opcodes.unsqueeze, part(line, start, length), 1)

/**
 * Is the sum of a line's elements finite in a dtype? Then all of them are. The caller runs it in tidy.
 *
 * @param {Tensor<any>} line
 * @param {DtypeName} dtype
 */
function isFinite(line, dtype) {
  const total = /** @type {any} */ (
    atOnce(() => sum(line.dtype === dtype ? line : positive(line, { dtype })).item())
  )
  return Array.isArray(total) ? total.every(Number.isFinite) : Number.isFinite(total)
}

/**
 * The convolution of two lines: each element of the result is a sum of products, one line backwards. Integers wrap; floats are added in float64, in an
 * order that depends on nothing but their number, and rounded once.
 *
 * @template {DtypeName} A
 * @template {DtypeName} [B=A]
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A> | TensorData} a  numbers, one axis. One of both is a tensor; a list takes its dtype, or the one that was asked for, and has to fit it
 * @param {Tensor<B> | TensorData} v
 * @param {ConvolveOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>} one axis
 * @throws {TypeError} ERR_DTYPE bool and float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE a line is empty, or has other axes, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy convolve
 * @example
 * convolve(tensor([1, 2, 3]), [0, 1, 0.5]).toArray() // [0, 1, 2.5, 4, 1.5]
 */
function convolve(a, v, opts) {
  if (!Tensor.isTensor(a) && !Tensor.isTensor(v)) {
    throw failure(
      'ERR_ARGUMENT',
      `a is ${show(a)}, and v ${show(v)}; one of them has to be a tensor`,
    )
  }
  const x = lists.read('a', a)
  const y = lists.read('v', v)
  const options = optionsFor(opts, OF_CONVOLVE)
  const { mode: word = 'full' } = options
  const mode = oneOf('mode', word, MODES)
  const { out, dtype, casting } = resultIn(options)
  return tidy(() => {
    const met = Tensor.isTensor(x)
      ? operandOf(x, 'a').dtype
      : operandOf(/** @type {Tensor} */ (y), 'v').dtype
    const computed =
      dtype !== undefined
        ? dtype.index
        : Tensor.isTensor(y)
          ? ffi.promoteTypes(met, operandOf(y, 'v').dtype)
          : met
    const { kind, name, itemsize } = dtypes[computed]
    if (kind === 'BOOLEAN' || (kind === 'FLOATING' && itemsize === 1)) {
      throw failure('ERR_DTYPE', `convolve has no ${name}; { dtype } converts first`)
    }
    const one = lists.tensorAs(x, computed)
    const other = lists.tensorAs(y, computed)
    const first = lineOf(one, 'a', computed)
    const second = lineOf(other, 'v', computed)
    const long = first.size < second.size ? second : first
    const short = long === first ? second : first
    const n = short.size
    const before = mode === FULL ? n - 1 : mode === SAME ? Math.floor(n / 2) : 0
    const after = mode === FULL ? n - 1 : mode === SAME ? n - 1 - before : 0
    const { to, result } = target(out, computed, [long.size + before + after - n + 1])
    lists.count('convolve', x, first)
    lists.count('convolve', y, second)
    const inexact = kind === 'FLOATING' || kind === 'COMPLEX'
    const around = surrounded(long, computed, before, after)
    const weights = ffi.viewByList(opcodes.flip, surrounded(short, computed, 0, 0), [0])
    /**
     * Writes elements from i on: products of as many windows with weights from j on.
     *
     * @param {number} i
     * @param {number} count
     * @param {number} j
     * @param {number} m  weights
     */
    const compute = (i, count, j, m) => {
      const windows = ffi.viewByNumbers(opcodes.unfold, part(around, i + j, count + m - 1), 0, m, 1)
      run(rows.matmul, [columnOf(to, i, count)], [windows, columnOf(weights, j, m)], {
        numbers: [casting, inexact ? PRECISE : 0, 0, computed],
      })
    }
    if (
      before + after === 0 ||
      !inexact ||
      isFinite(long === first ? other : one, /** @type {DtypeName} */ (name))
    ) {
      compute(0, to.size, 0, n)
    } else {
      // NaN and infinities times the 0 around a line are NaN: what reaches beyond an end has only its own products
      const inner = long.size - n + 1
      compute(before, inner, 0, n)
      for (let i = 0; i < before; i++) compute(i, 1, before - i, n - before + i)
      for (let i = 0; i < after; i++) compute(before + inner + i, 1, 0, n - 1 - i)
    }
    return result()
  })
}

module.exports = { hann, hamming, stft, istft, melFilterbank, logMelSpectrogram, convolve }
