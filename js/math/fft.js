'use strict'
// Fourier transforms, and the frequencies of their elements. Computed in float64 (src/math/fft.c).

const { failure } = require('../base/errors')
const { integer, integers, oneOf } = require('../base/validate')
const { atOnce } = require('./calls/plan')
const { rows, run } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { axesFor, axesGiven, inRange, withExtent } = require('./axes')
const { COMPLEX128, UNSAFE } = require('./constants')
const { target } = require('./cores')
const { operandOf } = require('./operands')
const { count, number, floatOf, known, optionsFor } = require('./options')
const {
  COMPLEX,
  REAL,
  HERMITIAN,
  INVERSE,
  CONJUGATE,
  NORMS,
  madeFrom,
  lengthOf,
  lengthFor,
  transformAlong,
  narrowed,
  temporary,
} = require('./transforms')

/** @import { AnyTensor, Casting, DtypeName, IsAny, NameOf, Or } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */
/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {import('./transforms').Kind} Kind */

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

const OF_LINES = known(['n', 'axis', 'norm', 'dtype', 'out', 'casting'], 'n')
const OF_AXES = known(['s', 'axes', 'norm', 'dtype', 'out', 'casting'], 's')
const OF_FREQUENCIES = known(['d', 'dtype', 'out', 'casting'], 'd')
const OF_SHIFT = known(['axes', 'out'], 'axes')

const FFT = { kind: COMPLEX, flags: 0, isDivided: false }
const IFFT = { kind: COMPLEX, flags: INVERSE, isDivided: true }
const RFFT = { kind: REAL, flags: 0, isDivided: false }
const IRFFT = { kind: HERMITIAN, flags: INVERSE, isDivided: true }
const HFFT = { kind: HERMITIAN, flags: INVERSE | CONJUGATE, isDivided: false }
const IHFFT = { kind: REAL, flags: CONJUGATE, isDivided: true }

/**
 * @param {Kind} kind
 * @param {unknown} x
 * @param {unknown} opts
 * @returns {any}
 */
function transformed(kind, x, opts) {
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

/**
 * Transforms along axes, the last one first.
 *
 * @param {Kind} kind
 * @param {Layout} to  written by the last transform
 * @param {Layout} between  complex128, by those before; of to's shape, may be to
 * @param {Layout} from  no longer than to
 * @param {number[]} axes
 * @param {number[]} lengths  of each of them, in to
 * @param {number} norm  an index of NORMS
 * @param {number} made
 * @param {number} casting
 */
function transformAll(kind, to, between, from, axes, lengths, norm, made, casting) {
  let source = from
  for (let i = axes.length - 1; i >= 0; i--) {
    let part = i === 0 ? to : between
    for (let k = 0; k < i; k++) part = narrowed(part, axes[k], source.shape[axes[k]])
    const [dtype, rule] = i === 0 ? [made, casting] : [COMPLEX128, UNSAFE]
    transformAlong(kind, part, source, axes[i], lengths[i], norm, dtype, rule)
    source = part
  }
}

/**
 * @param {Kind} complex  the transform of all axes but the last, or of all
 * @param {Kind} last
 * @param {unknown} x
 * @param {unknown} opts
 * @param {number[] | null} usual  axes where none are given
 * @returns {any}
 */
function transformedAxes(complex, last, x, opts, usual) {
  const { kind } = last
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_AXES)
  const { s, axes: list, norm: word = 'backward' } = options
  const sizes = s === undefined || s === null ? null : atOnce(() => integers('s', s))
  const given = axesGiven(list) ?? usual
  const norm = oneOf('norm', word, NORMS)
  const { out, dtype, casting } = resultIn(options)
  return tidy(() => {
    const from = operandOf(/** @type {Tensor} */ (x), 'x')
    const axes = axesFor(
      given ?? (sizes === null ? null : sizes.map((_, i) => i - sizes.length)),
      from.shape.length,
    )
    const end = axes.length - 1
    if (sizes !== null && sizes.length !== axes.length) {
      throw failure('ERR_SHAPE', `s has ${sizes.length} entries; there are ${axes.length} axes`)
    }
    if (end < 0) throw failure('ERR_SHAPE', 'there is no axis to transform along')
    const kindAt = (/** @type {number} */ i) => (i === end ? kind : COMPLEX)
    const lengths = axes.map((axis, i) => {
      const size = sizes === null || sizes[i] === -1 ? undefined : count(`s[${i}]`, sizes[i])
      return size ?? lengthFor(kindAt(i), from.shape[axis], axis)
    })
    const made = madeFrom(kind, from.dtype, dtype)
    const shape = from.shape.slice()
    let source = from
    for (const [i, axis] of axes.entries()) {
      const n = lengths[i]
      shape[axis] = lengthOf(kindAt(i), n)
      source = narrowed(source, axis, kindAt(i) === HERMITIAN ? Math.floor(n / 2) + 1 : n)
    }
    const { to, result } = target(out, made, shape)
    if (end === 0) {
      transformAlong(last, to, source, axes[0], lengths[0], norm, made, casting)
      return result()
    }
    // Results are rounded once, and out stays as it was where one of them fails.
    const axis = axes[end]
    const n = lengths[end]
    const others = axes.slice(0, end)
    const between = temporary(
      COMPLEX128,
      kind === HERMITIAN ? withExtent(shape, axis, source.shape[axis]) : shape,
    )
    if (kind === COMPLEX) {
      transformAll(complex, to, between, source, axes, lengths, norm, made, casting)
    } else if (kind === REAL) {
      let part = between
      for (const each of others) part = narrowed(part, each, source.shape[each])
      transformAlong(last, part, source, axis, n, norm, COMPLEX128, UNSAFE)
      transformAll(complex, to, between, part, others, lengths, norm, made, casting)
    } else {
      transformAll(complex, between, between, source, others, lengths, norm, COMPLEX128, UNSAFE)
      transformAlong(last, to, between, axis, n, norm, made, casting)
    }
    return result()
  })
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
const fft = (x, opts) => transformed(FFT, x, opts)

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
const ifft = (x, opts) => transformed(IFFT, x, opts)

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
 * rfft(tensor([1, 2, 3, 4])).toArray() // [[10, 0], [-2, 2], [-2, 0]]
 */
const rfft = (x, opts) => transformed(RFFT, x, opts)

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
const irfft = (x, opts) => transformed(IRFFT, x, opts)

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
const hfft = (x, opts) => transformed(HFFT, x, opts)

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
 * ihfft(tensor([1, 0])).toArray() // [[0.5, -0], [0.5, -0]]
 */
const ihfft = (x, opts) => transformed(IHFFT, x, opts)

/**
 * The Fourier transform along several axes, one after the other, rounded once. Between them is a temporary complex128 tensor of the result's shape.
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
const fftn = (x, opts) => transformedAxes(FFT, FFT, x, opts, null)

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
const ifftn = (x, opts) => transformedAxes(IFFT, IFFT, x, opts, null)

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
const fft2 = (x, opts) => transformedAxes(FFT, FFT, x, opts, LAST_TWO)

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
const ifft2 = (x, opts) => transformedAxes(IFFT, IFFT, x, opts, LAST_TWO)

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
const rfftn = (x, opts) => transformedAxes(FFT, RFFT, x, opts, null)

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
const irfftn = (x, opts) => transformedAxes(IFFT, IRFFT, x, opts, null)

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
const rfft2 = (x, opts) => transformedAxes(FFT, RFFT, x, opts, LAST_TWO)

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
const irfft2 = (x, opts) => transformedAxes(IFFT, IRFFT, x, opts, LAST_TWO)

// ---- Frequencies ----

/**
 * @param {unknown} n
 * @param {unknown} opts
 * @param {number} isHalf  0 or 1
 * @returns {any}
 */
function frequencies(n, opts, isHalf) {
  const elements = count('n', n)
  const options = optionsFor(opts, OF_FREQUENCIES)
  const { d: distance = 1 } = options
  const d = number('d', distance)
  if (d === 0) throw failure('ERR_ARGUMENT', 'd is 0; a distance was expected')
  const { out, dtype, casting } = resultIn(options)
  const { to, result } = target(out, floatOf(dtype), [
    isHalf === 1 ? Math.floor(elements / 2) + 1 : elements,
  ])
  run(rows.frequencies, [to], [], { numbers: [elements, isHalf, casting], scalars: [d] })
  return result()
}

/**
 * The frequencies of fft's n elements, in cycles a unit of d: 0, 1 / (n d), ..., then the negative ones.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {number} n
 * @param {FrequencyOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} [n]
 * @throws {TypeError} ERR_ARGUMENT, ERR_CAST, ERR_DTYPE dtype is no float · {RangeError} ERR_BOUNDS n is less than 1, ERR_SHAPE of out, ERR_MEMORY · as copyFrom, of out
 * @see NumPy fft.fftfreq, array API fft.fftfreq
 * @example
 * fftfreq(4, { d: 0.25 }).toArray() // [0, 1, -2, -1]
 */
const fftfreq = (n, opts) => frequencies(n, opts, 0)

/**
 * The frequencies of rfft's n / 2 + 1 elements.
 *
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {number} n
 * @param {FrequencyOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'float32'>>>} [n / 2 + 1]
 * @throws as fftfreq
 * @see NumPy fft.rfftfreq, array API fft.rfftfreq
 * @example
 * rfftfreq(4, { d: 0.25 }).toArray() // [0, 1, 2]
 */
const rfftfreq = (n, opts) => frequencies(n, opts, 1)

/**
 * @param {unknown} x
 * @param {unknown} opts
 * @param {number} isInverse  0 or 1
 * @returns {any}
 */
function shifted(x, opts, isInverse) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_SHIFT)
  const given = axesGiven(options.axes)
  const { out } = resultIn(options)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  const axes = axesFor(given, from.shape.length)
  const { to, result } = target(out, from.dtype, from.shape.slice())
  if (to.dtype !== from.dtype) {
    throw failure(
      'ERR_DTYPE',
      `out is ${dtypes[to.dtype].name}; ${dtypes[from.dtype].name} was expected`,
    )
  }
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
const fftshift = (x, opts) => shifted(x, opts, 0)

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
const ifftshift = (x, opts) => shifted(x, opts, 1)

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
}
