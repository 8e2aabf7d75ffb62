'use strict'
// What functions of Fourier transforms have in common: their kinds, as C knows them, dtypes and lengths.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { rows, run } = require('./calls/algorithms')
const { Tensor } = require('../tensor/tensor')
const { made } = require('./allocate')
const { lastAxes, permuted } = require('./axes')
const { FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 } = require('./constants')
const { dtypeAmong } = require('./options')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const NORMS = /** @type {const} */ (['backward', 'ortho', 'forward'])
const BACKWARD = 0
const ORTHO = 1

// ---- Kinds of transforms: what src/math/algorithms.h has ----

const COMPLEX = 0
const REAL = 1
const HERMITIAN = 2
const INVERSE = 1
const CONJUGATE = 2

/** A transform along an axis. @typedef {{ kind: number, flags: number, isDivided: boolean }} Kind isDivided: by n where norm is 'backward' */

/** @param {number} dtype */
const isDouble = (dtype) => dtype === FLOAT64 || dtype === COMPLEX128

/**
 * The dtype of a transform's result.
 *
 * @param {number} kind
 * @param {number} from  x's dtype
 * @param {import('../backend/dtypes').Dtype | undefined} asked
 */
function madeFrom(kind, from, asked) {
  /** @type {[number, number]} */
  const [single, double] = kind === HERMITIAN ? [FLOAT32, FLOAT64] : [COMPLEX64, COMPLEX128]
  return asked === undefined && isDouble(from) ? double : dtypeAmong(asked, [single, double])
}

/** @param {boolean} isDivided @param {number} norm @param {number} n */
function scaleOf(isDivided, norm, n) {
  if (norm === ORTHO) return 1 / Math.sqrt(n)
  return (norm === BACKWARD) === isDivided ? 1 / n : 1
}

/** @param {number} kind @param {number} n */
const lengthOf = (kind, n) => (kind === REAL ? Math.floor(n / 2) + 1 : n)

/** @param {number} kind @param {number} extent  x's @param {number} axis  for the message */
function lengthFor(kind, extent, axis) {
  const n = kind === HERMITIAN ? 2 * (extent - 1) : extent
  if (n < 1) {
    throw failure(
      'ERR_SHAPE',
      `axis ${axis} has ${extent} elements, of which a transform has ${n}; 1 or more was expected`,
    )
  }
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
 * @param {number} norm  an index of NORMS
 * @param {number} made  the result's dtype
 * @param {number} casting
 */
function transformAlong({ kind, flags, isDivided }, to, from, axis, n, norm, made, casting) {
  const order = lastAxes(from.shape.length, [axis])
  run(rows.fft, [permuted(to, order)], [permuted(from, order)], {
    numbers: [kind, flags, n, made, casting],
    scalars: [scaleOf(isDivided, norm, n)],
  })
}

/** @param {Layout} layout @param {number} axis @param {number} n @returns {Layout} its first n elements along the axis */
const narrowed = (layout, axis, n) =>
  layout.shape[axis] <= n ? layout : ffi.viewByNumbers(ffi.opcodes.narrow, layout, axis, 0, n)

/** @param {Layout} line @param {number} start @param {number} length @returns {Layout} a part of its first axis */
const part = (line, start, length) => ffi.viewByNumbers(ffi.opcodes.narrow, line, 0, start, length)

/** @param {number} dtype @param {number[]} shape @returns {Layout} of a tensor, which a tidy disposes of */
const temporary = (dtype, shape) => Tensor.layoutOf(made(dtype, shape))

module.exports = {
  COMPLEX,
  REAL,
  HERMITIAN,
  INVERSE,
  CONJUGATE,
  NORMS,
  isDouble,
  madeFrom,
  lengthOf,
  lengthFor,
  transformAlong,
  narrowed,
  part,
  temporary,
}
