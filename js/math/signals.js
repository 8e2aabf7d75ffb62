'use strict'
// Fourier transforms, and what signals need beside them. Computed in float64 (src/algorithms/fft.c).

const { Math, Number, arrayIndexOf, arraySlice } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, integer, integers, oneOf, show } = require('../base/validate')
const { notDeferred } = require('../backend/math')
const { rows, run } = require('../backend/algorithms')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { checkOut } = require('../copy/results')
const { denseLayout } = require('../layout/layouts')
const { Tensor, tensorOf, resultIn, wrap } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { allocated } = require('./allocate')
const { axesFor, axesGiven, inRange, lastAxes, permuted } = require('./axes')
const { checkCore, joined, target } = require('./cores')
const { add, divide, log10, maximum, subtract } = require('./functions')
const { operandOf, targetOf } = require('./operands')
const { known, optionsFor } = require('./options')
const { max } = require('./reductions')

/** @import { AnyTensor, Casting, DtypeName, IsAny, NameOf, Or } from '../base/types' */
/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const { opcodes } = ffi

/** What transforms give: two floats. @template D @typedef {IsAny<D> extends true ? any : D extends 'float64' | 'complex128' ? 'complex128' : 'complex64'} SpectrumName */
/** What transforms to real numbers give. @template D @typedef {IsAny<D> extends true ? any : D extends 'float64' | 'complex128' ? 'float64' : 'float32'} SignalName */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} TransformOptions
 * @property {number | undefined} [n]  elements along the axis, of the longer side where the other one is half a spectrum; x is cut, or filled up with 0
 * @property {number | undefined} [axis]  -1 where none is given
 * @property {'backward' | 'ortho' | 'forward' | undefined} [norm]  what is divided by the length: the inverse ('backward', where none is given), the forward transform, or both by its root
 * @property {E | undefined} [dtype]  of the result
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned; may be x
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} TransformAxesOptions
 * @property {readonly number[] | undefined} [s]  elements along each of the axes, as n of fft; -1: as many as x has
 * @property {number | readonly number[] | null | undefined} [axes]  each once; where none are given the last ones, as many as s has, or all
 * @property {'backward' | 'ortho' | 'forward' | undefined} [norm]  as of fft
 * @property {E | undefined} [dtype]  of the result
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ d?: number | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} FrequencyOptions d: the samples' distance, 1 where none is given; dtype: 'float32' */
/** @template {DtypeName} [O=any] @typedef {{ axes?: number | readonly number[] | null | undefined, out?: Tensor<O> | undefined }} ShiftOptions axes: all where none are given; out: of x's dtype */
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

const NORMS = /** @type {const} */ (['backward', 'ortho', 'forward'])
const PADDINGS = /** @type {const} */ (['constant', 'reflect', 'replicate', 'circular'])

const OF_LINES = known(['n', 'axis', 'norm', 'dtype', 'out', 'casting'], 'n')
const OF_AXES = known(['s', 'axes', 'norm', 'dtype', 'out', 'casting'], 's')
const OF_FREQUENCIES = known(['d', 'dtype', 'out', 'casting'], 'd')
const OF_SHIFT = known(['axes', 'out'], 'axes')
const OF_WINDOW = known(['periodic', 'dtype', 'out', 'casting'])
const OF_STFT = known(['nFft', 'hopLength', 'winLength', 'window', 'center', 'padMode', 'normalized', 'onesided', 'axis', 'out', 'casting'], 'nFft')
const OF_ISTFT = known(['nFft', 'hopLength', 'winLength', 'window', 'center', 'normalized', 'length', 'out', 'casting'], 'nFft')
const OF_MEL = known(['sampleRate', 'nFft', 'nMels', 'fMin', 'fMax', 'norm', 'scale', 'dtype', 'out', 'casting'])
const OF_LOG_MEL = known(['sampleRate', 'nFft', 'hopLength', 'nMels', 'filters', 'out'])

const SINGLE = dtypeOf('float32').index
const DOUBLE = dtypeOf('float64').index
const SINGLES = dtypeOf('complex64').index
const DOUBLES = dtypeOf('complex128').index
const SAME_KIND = 1
const UNSAFE = 2
const MOST = 2 ** 48 // elements of a transform

// ---- Kinds of transforms: what src/algorithms/algorithms.h has ----

const COMPLEX = 0
const REAL = 1
const HERMITIAN = 2
const INVERSE = 1
const CONJUGATE = 2

/** A transform along an axis. @typedef {{ kind: number, flags: number, isDivided: boolean }} Kind isDivided: by n where norm is 'backward' */

const FFT = { kind: COMPLEX, flags: 0, isDivided: false }
const IFFT = { kind: COMPLEX, flags: INVERSE, isDivided: true }
const RFFT = { kind: REAL, flags: 0, isDivided: false }
const IRFFT = { kind: HERMITIAN, flags: INVERSE, isDivided: true }
const HFFT = { kind: HERMITIAN, flags: INVERSE | CONJUGATE, isDivided: false }
const IHFFT = { kind: REAL, flags: CONJUGATE, isDivided: true }

/** @param {number} dtype */
const isDouble = dtype => dtype === DOUBLE || dtype === DOUBLES

/**
 * The dtype of a transform's result.
 *
 * @param {number} kind
 * @param {number} from  x's dtype
 * @param {{ index: number, name: string } | undefined} asked
 */
function madeFrom (kind, from, asked) {
  const isReal = kind === HERMITIAN
  if (asked === undefined) return isDouble(from) ? (isReal ? DOUBLE : DOUBLES) : isReal ? SINGLE : SINGLES
  const { index } = asked
  if (isReal ? index === SINGLE || index === DOUBLE : index === SINGLES || index === DOUBLES) return index
  throw failure('ERR_DTYPE', `dtype is ${asked.name}; ${isReal ? 'float32 or float64' : 'complex64 or complex128'} was expected`)
}

/** @param {string} name @param {unknown} value @returns {number} 1 or more */
function count (name, value) {
  const n = integer(name, value)
  if (n < 1 || n > MOST) throw failure('ERR_BOUNDS', `${name} is ${n}; 1 or more was expected`)
  return n
}

/** @param {string} name @param {unknown} value @returns {number} finite */
function number (name, value) {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a finite number was expected`)
}

/** @param {string} name @param {unknown} value @returns {boolean} true where it is not given */
const unlessFalse = (name, value) => value === undefined || boolean(name, value)

/** @param {boolean} isDivided @param {string} norm @param {number} n */
function scaleOf (isDivided, norm, n) {
  if (norm === 'ortho') return 1 / Math.sqrt(n)
  return (norm === 'backward') === isDivided ? 1 / n : 1
}

/** @param {readonly number[]} shape @param {number} axis @param {number} n @returns {number[]} */
function withExtent (shape, axis, n) {
  const list = arraySlice(shape)
  list[axis] = n
  return list
}

/** @param {number} kind @param {number} n */
const lengthOf = (kind, n) => kind === REAL ? Math.floor(n / 2) + 1 : n

/** @param {number} kind @param {number} extent  x's @param {number} axis  for the message */
function lengthFor (kind, extent, axis) {
  const n = kind === HERMITIAN ? 2 * (extent - 1) : extent
  if (n < 1) throw failure('ERR_SHAPE', `axis ${axis} has ${extent} elements, of which a transform has ${n}; 1 or more was expected`)
  return n
}

/**
 * Runs a transform along one axis.
 *
 * @param {Kind} kind
 * @param {Layout} to
 * @param {Layout} from
 * @param {number} axis
 * @param {number} n
 * @param {string} norm
 * @param {number} made  the result's dtype
 * @param {number} casting
 */
function transformAlong ({ kind, flags, isDivided }, to, from, axis, n, norm, made, casting) {
  const order = lastAxes(from.shape.length, [axis])
  run(rows.fft, [permuted(to, order)], [permuted(from, order)], { numbers: [kind, flags, n, made, casting], scalars: [scaleOf(isDivided, norm, n)] })
}

/**
 * @param {Kind} kind
 * @param {unknown} x
 * @param {unknown} opts
 * @returns {any}
 */
function transformed (kind, x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_LINES)
  const { n: elements, axis = -1, norm: word = 'backward' } = options
  const asked = elements === undefined ? undefined : count('n', elements)
  const given = integer('axis', axis)
  const norm = oneOf('norm', word, NORMS)
  const { out, dtype, casting } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const at = inRange(given, from.shape.length)
  const n = asked ?? lengthFor(kind.kind, from.shape[at], given)
  const made = madeFrom(kind.kind, from.dtype, dtype)
  const { to, result } = target(out, made, withExtent(from.shape, at, lengthOf(kind.kind, n)))
  transformAlong(kind, to, from, at, n, norm, made, casting)
  return result()
}

// ---- Along several axes ----

/** @param {Layout} layout @param {number} axis @param {number} n @returns {Layout} its first n elements along the axis */
const narrowed = (layout, axis, n) => layout.shape[axis] <= n ? layout : ffi.viewByNumbers(opcodes.narrow, layout, axis, 0, n)

/**
 * Transforms along axes, the last one first, in place from the second one on.
 *
 * @param {Kind} kind
 * @param {Layout} to
 * @param {Layout} from  no longer than to
 * @param {number[]} axes
 * @param {number[]} lengths  of each of them, in to
 * @param {string} norm
 * @param {number} made
 * @param {number} casting
 */
function transformAll (kind, to, from, axes, lengths, norm, made, casting) {
  let source = from
  for (let i = axes.length - 1; i >= 0; i--) {
    let part = to
    for (let k = 0; k < i; k++) part = narrowed(part, axes[k], source.shape[axes[k]])
    transformAlong(kind, part, source, axes[i], lengths[i], norm, made, casting)
    source = part
  }
}

/** @param {number} dtype @param {number[]} shape @returns {Layout} of a tensor, which a tidy disposes of */
function temporary (dtype, shape) {
  const layout = allocated(denseLayout(dtype, shape))
  wrap(layout)
  return layout
}

/**
 * @param {number} kind
 * @param {Kind} complex  the transform of all axes but the last, or of all
 * @param {Kind} last
 * @param {unknown} x
 * @param {unknown} opts
 * @param {number[] | null} usual  axes where none are given
 * @returns {any}
 */
function transformedAxes (kind, complex, last, x, opts, usual) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_AXES)
  const { s, axes: list, norm: word = 'backward' } = options
  const sizes = s === undefined || s === null ? null : notDeferred(() => integers('s', s))
  const given = axesGiven(list) ?? usual
  const norm = oneOf('norm', word, NORMS)
  const { out, dtype, casting } = resultIn(options)
  return tidy(() => {
    const from = operandOf(/** @type {Tensor} */ (x), 'x')
    const axes = axesFor(given ?? (sizes === null ? null : lastOnes(sizes.length)), from.shape.length)
    const end = axes.length - 1
    if (sizes !== null && sizes.length !== axes.length) throw failure('ERR_SHAPE', `s has ${sizes.length} entries; there are ${axes.length} axes`)
    if (end < 0) throw failure('ERR_SHAPE', 'there is no axis to transform along')
    const lengths = arraySlice(axes)
    for (let i = 0; i <= end; i++) {
      const size = sizes === null || sizes[i] === -1 ? undefined : count(`s[${i}]`, sizes[i])
      lengths[i] = size ?? lengthFor(i === end ? kind : COMPLEX, from.shape[axes[i]], axes[i])
    }
    return transformedBy(kind, complex, last, from, axes, lengths, norm, madeFrom(kind, from.dtype, dtype), out, casting)
  })
}

/** @param {number} n @returns {number[]} -n, ..., -1 */
function lastOnes (n) {
  /** @type {number[]} */
  const list = []
  for (let i = 0; i < n; i++) list[i] = i - n
  return list
}

/**
 * @param {number} kind
 * @param {Kind} complex
 * @param {Kind} last
 * @param {Layout} from
 * @param {number[]} axes
 * @param {number[]} lengths
 * @param {string} norm
 * @param {number} made
 * @param {Tensor | undefined} out
 * @param {number} casting
 * @returns {any}
 */
function transformedBy (kind, complex, last, from, axes, lengths, norm, made, out, casting) {
  const end = axes.length - 1
  const shape = arraySlice(from.shape)
  for (let i = 0; i <= end; i++) shape[axes[i]] = lengthOf(i === end ? kind : COMPLEX, lengths[i])
  const { to, result } = target(out, made, shape)
  let source = from
  for (let i = 0; i < end; i++) source = narrowed(source, axes[i], lengths[i])
  source = narrowed(source, axes[end], kind === HERMITIAN ? Math.floor(lengths[end] / 2) + 1 : lengths[end])
  if (kind === COMPLEX || (kind === HERMITIAN && end === 0)) {
    transformAll(kind === COMPLEX ? complex : last, to, source, axes, lengths, norm, made, casting)
  } else if (kind === REAL) {
    let part = to
    for (let k = 0; k < end; k++) part = narrowed(part, axes[k], source.shape[axes[k]])
    transformAlong(last, part, source, axes[end], lengths[end], norm, made, casting)
    transformAll(complex, to, part, arraySlice(axes, 0, end), lengths, norm, made, casting)
  } else {
    const spectrum = made === DOUBLE ? DOUBLES : SINGLES
    const between = temporary(spectrum, withExtent(shape, axes[end], source.shape[axes[end]]))
    transformAll(complex, between, source, arraySlice(axes, 0, end), lengths, norm, spectrum, UNSAFE)
    transformAlong(last, to, between, axes[end], lengths[end], norm, made, casting)
  }
  return result()
}

/** axes of fft2 and its like */
const LAST_TWO = [-2, -1]

/**
 * The discrete Fourier transform along an axis, of any length. Of float64 and complex128 the result is complex128, of others complex64; it is
 * computed in float64.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws {TypeError} ERR_DTYPE bool and float8, a dtype of another kind, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside, n less than 1, ERR_SHAPE no elements, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy fft.fft, array API fft.fft
 * @example
 * fft(tensor([1, 0, 0, 0])).toArray() // [[1, 0], [1, 0], [1, 0], [1, 0]]
 */
function fft (x, opts) {
  return transformed(FFT, x, opts)
}

/**
 * The inverse of fft.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fft
 * @see NumPy fft.ifft, array API fft.ifft
 * @example
 * ifft(tensor([4, 0, 0, 0])).toArray() // [[1, 0], [1, 0], [1, 0], [1, 0]]
 */
function ifft (x, opts) {
  return transformed(IFFT, x, opts)
}

/**
 * The Fourier transform of real numbers along an axis: the n / 2 + 1 elements from frequency 0 on; the others are their conjugates.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fft · {TypeError} ERR_DTYPE complex numbers
 * @see NumPy fft.rfft, array API fft.rfft
 * @example
 * rfft(tensor([1, 1, 1, 1])).toArray() // [[4, 0], [0, 0], [0, 0]]
 */
function rfft (x, opts) {
  return transformed(RFFT, x, opts)
}

/**
 * The inverse of rfft. Without n the result has an even length; the imaginary parts of frequency 0, and of the last one then, are not read.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers: n / 2 + 1 along the axis
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SignalName<D>>>>} real numbers
 * @throws as fft
 * @see NumPy fft.irfft, array API fft.irfft
 * @example
 * irfft(tensor([4, 0, 0])).toArray() // [1, 1, 1, 1]
 */
function irfft (x, opts) {
  return transformed(IRFFT, x, opts)
}

/**
 * The Fourier transform of a signal that is its own conjugate backwards, of which half is given: real numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers: n / 2 + 1 along the axis
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SignalName<D>>>>} real numbers
 * @throws as fft
 * @see NumPy fft.hfft, array API fft.hfft
 * @example
 * hfft(tensor([1, 1, 1])).toArray() // [4, 0, 0, 0]
 */
function hfft (x, opts) {
  return transformed(HFFT, x, opts)
}

/**
 * The inverse of hfft.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers
 * @param {TransformOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as rfft
 * @see NumPy fft.ihfft, array API fft.ihfft
 * @example
 * ihfft(tensor([1, 0])).toArray() // [[0.5, 0], [0.5, 0]]
 */
function ihfft (x, opts) {
  return transformed(IHFFT, x, opts)
}

/**
 * The Fourier transform along several axes, one after the other.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fft · {RangeError} ERR_BOUNDS an axis repeated
 * @see NumPy fft.fftn, array API fft.fftn
 * @example
 * fftn(tensor([[1, 1], [1, 1]])).toArray() // [[[4, 0], [0, 0]], [[0, 0], [0, 0]]]
 */
function fftn (x, opts) {
  return transformedAxes(COMPLEX, FFT, FFT, x, opts, null)
}

/**
 * The inverse of fftn.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fftn
 * @see NumPy fft.ifftn, array API fft.ifftn
 * @example
 * ifftn(tensor([[4, 0], [0, 0]])).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
function ifftn (x, opts) {
  return transformedAxes(COMPLEX, IFFT, IFFT, x, opts, null)
}

/**
 * fftn along the last two axes, where none are given.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fftn
 * @see NumPy fft.fft2
 * @example
 * fft2(tensor([[1, 0], [0, 0]])).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
function fft2 (x, opts) {
  return transformedAxes(COMPLEX, FFT, FFT, x, opts, LAST_TWO)
}

/**
 * The inverse of fft2.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fftn
 * @see NumPy fft.ifft2
 * @example
 * ifft2(tensor([[4, 0], [0, 0]])).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
function ifft2 (x, opts) {
  return transformedAxes(COMPLEX, IFFT, IFFT, x, opts, LAST_TWO)
}

/**
 * The Fourier transform of real numbers along several axes: rfft along the last one of them, then fft along the others.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as fftn, rfft
 * @see NumPy fft.rfftn, array API fft.rfftn
 * @example
 * rfftn(tensor([[1, 1], [1, 1]])).toArray() // [[[4, 0], [0, 0]], [[0, 0], [0, 0]]]
 */
function rfftn (x, opts) {
  return transformedAxes(REAL, FFT, RFFT, x, opts, null)
}

/**
 * The inverse of rfftn.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers: n / 2 + 1 along the last one of the axes
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SignalName<D>>>>} real numbers
 * @throws as fftn
 * @see NumPy fft.irfftn, array API fft.irfftn
 * @example
 * irfftn(tensor([[4, 0], [0, 0]])).toArray() // [[1, 1], [1, 1]]
 */
function irfftn (x, opts) {
  return transformedAxes(HERMITIAN, IFFT, IRFFT, x, opts, null)
}

/**
 * rfftn along the last two axes, where none are given.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SpectrumName<D>>>>}
 * @throws as rfftn
 * @see NumPy fft.rfft2
 * @example
 * rfft2(tensor([[1, 0], [0, 0]])).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
function rfft2 (x, opts) {
  return transformedAxes(REAL, FFT, RFFT, x, opts, LAST_TWO)
}

/**
 * The inverse of rfft2.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers: n / 2 + 1 along the last one of the axes
 * @param {TransformAxesOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, SignalName<D>>>>} real numbers
 * @throws as fftn
 * @see NumPy fft.irfft2
 * @example
 * irfft2(tensor([[4, 0], [0, 0]])).toArray() // [[1, 1], [1, 1]]
 */
function irfft2 (x, opts) {
  return transformedAxes(HERMITIAN, IFFT, IRFFT, x, opts, LAST_TWO)
}

// ---- Frequencies ----

/**
 * @param {unknown} n
 * @param {unknown} opts
 * @param {number} isHalf  0 or 1
 * @returns {any}
 */
function frequencies (n, opts, isHalf) {
  const elements = count('n', n)
  const options = optionsFor(opts, OF_FREQUENCIES)
  const { d: distance = 1 } = options
  const d = number('d', distance)
  if (d === 0) throw failure('ERR_ARGUMENT', 'd is 0; a distance was expected')
  const { out, dtype, casting } = resultIn(options)
  const { to, result } = target(out, floatOf(dtype), [isHalf === 1 ? Math.floor(elements / 2) + 1 : elements])
  run(rows.frequencies, [to], [], { numbers: [elements, isHalf, casting], scalars: [d] })
  return result()
}

/** @param {{ index: number, kind: string, name: string } | undefined} dtype @returns {number} float32 where none is given */
function floatOf (dtype) {
  if (dtype === undefined) return SINGLE
  if (dtype.kind !== 'FLOATING') throw failure('ERR_DTYPE', `dtype is ${dtype.name}; a float was expected`)
  return dtype.index
}

/**
 * The frequencies of fft's n elements, in cycles a unit of d: 0, 1 / (n d), ..., then the negative ones.
 *
 * @template {DtypeName} [E='float32']
 * @template {DtypeName} [O=never]
 * @param {number} n
 * @param {FrequencyOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, E>>} [n]
 * @throws {TypeError} ERR_ARGUMENT, ERR_CAST, ERR_DTYPE dtype is no float · {RangeError} ERR_BOUNDS n is less than 1, ERR_SHAPE of out, ERR_MEMORY · as copyFrom, of out
 * @see NumPy fft.fftfreq, array API fft.fftfreq
 * @example
 * fftfreq(4, { d: 0.25 }).toArray() // [0, 1, -2, -1]
 */
function fftfreq (n, opts) {
  return frequencies(n, opts, 0)
}

/**
 * The frequencies of rfft's n / 2 + 1 elements.
 *
 * @template {DtypeName} [E='float32']
 * @template {DtypeName} [O=never]
 * @param {number} n
 * @param {FrequencyOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, E>>} [n / 2 + 1]
 * @throws as fftfreq
 * @see NumPy fft.rfftfreq, array API fft.rfftfreq
 * @example
 * rfftfreq(4, { d: 0.25 }).toArray() // [0, 1, 2]
 */
function rfftfreq (n, opts) {
  return frequencies(n, opts, 1)
}

/**
 * @param {unknown} x
 * @param {unknown} opts
 * @param {number} isInverse  0 or 1
 * @returns {any}
 */
function shifted (x, opts, isInverse) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_SHIFT)
  const { axes: list } = options
  const given = axesGiven(list)
  const { out } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const axes = axesFor(given, from.shape.length)
  const { to, result } = target(out, from.dtype, arraySlice(from.shape))
  if (to.dtype !== from.dtype) throw failure('ERR_DTYPE', `out is ${dtypes[to.dtype].name}; ${dtypes[from.dtype].name} was expected`)
  run(rows.fft_shift, [to], [from], { lists: [axes], numbers: [isInverse] })
  return result()
}

/**
 * Moves frequency 0 to the middle: elements are moved by half of an axis, round about.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {ShiftOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's shape
 * @throws {TypeError} ERR_DTYPE of out, ERR_ARGUMENT · {RangeError} ERR_BOUNDS an axis outside or repeated, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy fft.fftshift, array API fft.fftshift
 * @example
 * fftshift(tensor([0, 1, 2, -2, -1])).toArray() // [-2, -1, 0, 1, 2]
 */
function fftshift (x, opts) {
  return shifted(x, opts, 0)
}

/**
 * The inverse of fftshift.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x
 * @param {ShiftOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's shape
 * @throws as fftshift
 * @see NumPy fft.ifftshift, array API fft.ifftshift
 * @example
 * ifftshift(tensor([-2, -1, 0, 1, 2])).toArray() // [0, 1, 2, -2, -1]
 */
function ifftshift (x, opts) {
  return shifted(x, opts, 1)
}

// ---- Windows ----

/**
 * @param {unknown} n
 * @param {unknown} opts
 * @param {number} a0
 * @returns {any}
 */
function windowOf (n, opts, a0) {
  const elements = count('n', n)
  const options = optionsFor(opts, OF_WINDOW)
  const { periodic } = options
  const isPeriodic = unlessFalse('periodic', periodic)
  const { out, dtype, casting } = resultIn(options)
  const { to, result } = target(out, floatOf(dtype), [elements])
  run(rows.window, [to], [], { numbers: [isPeriodic ? 1 : 0, casting], scalars: [a0] })
  return result()
}

/**
 * Hann's window, 0.5 - 0.5 cos(2 pi k / n); not periodic: with n - 1, so that it ends as it begins.
 *
 * @template {DtypeName} [E='float32']
 * @template {DtypeName} [O=never]
 * @param {number} n  elements
 * @param {WindowOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, E>>} [n]
 * @throws as fftfreq
 * @see PyTorch hann_window
 * @example
 * hann(4).toArray() // [0, 0.5, 1, 0.5]
 */
function hann (n, opts) {
  return windowOf(n, opts, 0.5)
}

/**
 * Hamming's window, 0.54 - 0.46 cos(2 pi k / n); not periodic: with n - 1, so that it ends as it begins.
 *
 * @template {DtypeName} [E='float32']
 * @template {DtypeName} [O=never]
 * @param {number} n  elements
 * @param {WindowOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, E>>} [n]
 * @throws as fftfreq
 * @see PyTorch hamming_window
 * @example
 * hamming(4, 'float64').toArray() // [0.08, 0.54, 1, 0.54]
 */
function hamming (n, opts) {
  return windowOf(n, opts, 0.54)
}

// ---- Frames ----

/**
 * @param {unknown} window
 * @param {string} name
 * @returns {Layout | undefined}
 */
function filtersOf (window, name) {
  if (window === undefined) return undefined
  tensorOf(window, name)
  const layout = operandOf(/** @type {Tensor} */ (window), name)
  const { kind, name: dtype } = dtypes[layout.dtype]
  if (kind === 'COMPLEX') throw failure('ERR_DTYPE', `${name} is ${dtype}; real numbers were expected`)
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
function windowFor (given, length, nFft) {
  if (length > nFft) throw failure('ERR_SHAPE', `winLength is ${length}; nFft is ${nFft}`)
  if (given !== undefined && (given.shape.length !== 1 || given.shape[0] !== length)) {
    throw failure('ERR_SHAPE', `window has ${given.size} elements and ${given.shape.length} axes; one axis of ${length} was expected`)
  }
  let window = given
  if (window === undefined) {
    window = temporary(DOUBLE, [length])
    run(rows.window, [window], [], { numbers: [1, SAME_KIND], scalars: [1] })
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
function paddedTo (layout, n, before, mode) {
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
function framesOf (signal, nFft, hop, padding) {
  const last = signal.shape.length - 1
  const n = signal.shape[last]
  const side = Math.floor(nFft / 2)
  const x = padding === null ? signal : paddedTo(signal, n + 2 * side, side, padding)
  if (x.shape[last] < nFft) throw failure('ERR_SHAPE', `the signal has ${n} elements; a frame has ${nFft}`)
  return ffi.viewByNumbers(opcodes.unfold, x, last, nFft, hop)
}

/** @param {Layout} layout @returns {Layout} its last two axes exchanged */
function exchanged (layout) {
  const last = layout.shape.length - 1
  const order = arraySlice(layout.shape)
  for (let d = 0; d <= last; d++) order[d] = d
  order[last] = last - 1
  order[last - 1] = last
  return permuted(layout, order)
}

/** @param {unknown} hop @param {number} nFft */
const hopOf = (hop, nFft) => hop === undefined ? Math.max(1, Math.floor(nFft / 4)) : count('hopLength', hop)

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
function stft (x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_STFT)
  const { nFft: frame, hopLength, winLength, window: factors, center, padMode = 'reflect', normalized, onesided, axis = -1 } = options
  const nFft = count('nFft', frame)
  const hop = hopOf(hopLength, nFft)
  const length = winLength === undefined ? nFft : count('winLength', winLength)
  const isCentred = unlessFalse('center', center)
  const padding = arrayIndexOf(PADDINGS, oneOf('padMode', padMode, PADDINGS))
  const isNormalized = boolean('normalized', normalized)
  const kind = unlessFalse('onesided', onesided) ? REAL : COMPLEX
  const given = integer('axis', axis)
  const { out, casting } = resultIn(options)
  return tidy(() => {
    const from = operandOf(x, 'x')
    const at = inRange(given, from.shape.length)
    const window = windowFor(filtersOf(factors, 'window'), length, nFft)
    const frames = framesOf(permuted(from, lastAxes(from.shape.length, [at])), nFft, hop, isCentred ? padding : null)
    const made = madeFrom(kind, from.dtype, undefined)
    const ndim = frames.shape.length
    const { to, result } = target(out, made, joined(arraySlice(frames.shape, 0, ndim - 2), [lengthOf(kind, nFft), frames.shape[ndim - 2]]))
    run(rows.frames_fft, [exchanged(to)], [frames, window], { numbers: [kind, made, casting], scalars: [isNormalized ? 1 / Math.sqrt(nFft) : 1] })
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
function istft (x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_ISTFT)
  const { nFft: frame, hopLength, winLength, window: factors, center, normalized, length: wanted } = options
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
    if (from.shape[ndim - 2] !== lengthOf(REAL, nFft)) throw failure('ERR_SHAPE', `x has ${from.shape[ndim - 2]} frequencies; ${lengthOf(REAL, nFft)} were expected of ${nFft} elements`)
    if (count < 1) throw failure('ERR_SHAPE', 'x has no frames')
    const hop = hopOf(step, nFft)
    const window = windowFor(filtersOf(factors, 'window'), win ?? nFft, nFft)
    const skipped = isCentred ? Math.floor(nFft / 2) : 0
    const elements = length ?? (count - 1) * hop + nFft - 2 * skipped
    if (elements < 1) throw failure('ERR_SHAPE', 'the frames have no elements but those that center skips')
    const made = madeFrom(HERMITIAN, from.dtype, undefined)
    const batch = arraySlice(from.shape, 0, ndim - 2)
    const { to, result } = target(out, made, joined(batch, [elements]))
    const frames = temporary(made, joined(batch, [count, nFft]))
    run(rows.fft, [frames], [exchanged(from)], { numbers: [HERMITIAN, INVERSE, nFft, made, UNSAFE], scalars: [isNormalized ? 1 / Math.sqrt(nFft) : 1 / nFft] })
    run(rows.overlap_add, [to], [frames, window], { numbers: [hop, skipped, casting] })
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
function writeFilters (to, nFft, sampleRate, fMin, fMax, { isHtk, isArea, casting }) {
  run(rows.mel_filters, [to], [], { numbers: [nFft, isHtk ? 1 : 0, isArea ? 1 : 0, casting], scalars: [sampleRate, fMin, fMax] })
}

/** @param {unknown} value @returns {number} */
function rateOf (value) {
  const rate = number('sampleRate', value)
  if (rate <= 0) throw failure('ERR_ARGUMENT', `sampleRate is ${rate}; more than 0 was expected`)
  return rate
}

/**
 * Triangular filters over frequencies, at equal distances on the mel scale.
 *
 * @template {DtypeName} [E='float32']
 * @template {DtypeName} [O=never]
 * @param {MelOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, E>>} [nMels, nFft / 2 + 1]
 * @throws {TypeError} ERR_ARGUMENT, ERR_DTYPE dtype is no float · {RangeError} ERR_BOUNDS, ERR_SHAPE of out, ERR_MEMORY · as copyFrom, of out
 * @see librosa filters.mel
 * @example
 * melFilterbank({ sampleRate: 8, nFft: 4, nMels: 1, norm: null }).toArray() // [[0, 1, 0]]
 */
function melFilterbank (opts) {
  const options = optionsFor(opts, OF_MEL)
  const { sampleRate: rate = 16000, nFft: frame = 400, nMels: mels = 80, fMin: low = 0, fMax: high, norm = 'slaney', scale = 'slaney' } = options
  const sampleRate = rateOf(rate)
  const nFft = count('nFft', frame)
  const nMels = count('nMels', mels)
  const fMin = number('fMin', low)
  const fMax = high === undefined ? sampleRate / 2 : number('fMax', high)
  if (!(fMin >= 0 && fMin < fMax)) throw failure('ERR_ARGUMENT', `fMin is ${fMin}, and fMax ${fMax}; frequencies from 0 on, the second one higher, were expected`)
  const isArea = norm !== null && oneOf('norm', norm, ['slaney']) === 'slaney'
  const isHtk = oneOf('scale', scale, ['slaney', 'htk']) === 'htk'
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
function logMelSpectrogram (x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_LOG_MEL)
  const { sampleRate: rate = 16000, nFft: frame = 400, hopLength = 160, nMels: mels, filters: weights } = options
  const sampleRate = rateOf(rate)
  const nFft = count('nFft', frame)
  const hop = count('hopLength', hopLength)
  const asked = mels === undefined ? undefined : count('nMels', mels)
  const { out } = resultIn(options)
  return tidy(() => {
    const from = operandOf(x, 'x')
    checkCore(from, 1, 'x')
    const given = filtersOf(weights, 'filters')
    const nMels = given === undefined ? asked ?? 80 : given.shape[0]
    if (given !== undefined && asked !== undefined && asked !== nMels) throw failure('ERR_SHAPE', `filters has ${nMels} rows; nMels is ${asked}`)
    const made = isDouble(from.dtype) ? DOUBLE : SINGLE
    const window = temporary(DOUBLE, [nFft])
    run(rows.window, [window], [], { numbers: [1, SAME_KIND], scalars: [0.5] })
    const filters = given ?? temporary(SINGLE, [nMels, lengthOf(REAL, nFft)])
    if (given === undefined) writeFilters(filters, nFft, sampleRate, 0, sampleRate / 2, { isHtk: false, isArea: true, casting: SAME_KIND })
    const frames = framesOf(from, nFft, hop, 1)
    const ndim = frames.shape.length
    const count = frames.shape[ndim - 2] - 1
    if (count < 1) throw failure('ERR_SHAPE', `the signal has ${from.shape[from.shape.length - 1]} elements; ${hop} or more were expected`)
    const shape = joined(arraySlice(frames.shape, 0, ndim - 2), [nMels, count])
    const isOwn = out === undefined || (Tensor.layoutOf(out).dtype !== SINGLE && Tensor.layoutOf(out).dtype !== DOUBLE)
    const { to, result } = target(isOwn ? undefined : out, made, shape)
    if (out !== undefined) checkOut(targetOf(out), shape, undefined)
    run(rows.frames_mel, [exchanged(to)], [narrowed(frames, ndim - 2, count), window, filters], { numbers: [SAME_KIND] })
    return compressed(result(), out)
  })
}

/**
 * @param {Tensor<any>} mels  powers; is written
 * @param {Tensor | undefined} out  may be mels
 * @returns {any}
 */
function compressed (mels, out) {
  maximum(mels, 1e-10, { out: mels })
  log10(mels, { out: mels })
  maximum(mels, subtract(max(mels, { axis: LAST_TWO, keepdims: true }), 8), { out: mels })
  add(mels, 4, { out: mels })
  return divide(mels, 4, { out: out ?? mels })
}

module.exports = {
  fft,
  ifft,
  rfft,
  irfft,
  hfft,
  ihfft,
  fftn,
  ifftn,
  fft2,
  ifft2,
  rfftn,
  irfftn,
  rfft2,
  irfft2,
  fftfreq,
  rfftfreq,
  fftshift,
  ifftshift,
  hann,
  hamming,
  stft,
  istft,
  melFilterbank,
  logMelSpectrogram
}
