'use strict'
// Values on the lines between points.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { NONE, elementwise, ops } = require('./calls/calls')
const { rows, run } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { INT64, FLOAT64, UNSAFE } = require('./constants')
const { target } = require('./cores')
const lists = require('./lists')
const { checkReal, operandOf } = require('./operands')
const { floatOf, known, numberOf, optionsFor } = require('./options')
const { part, temporary } = require('./transforms')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { Casting, DtypeName, Floated, NameOf, Or, Promote, TensorData } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} InterpOptions
 * @property {number | undefined} [left]  before the first point; its value where none is given
 * @property {number | undefined} [right]  behind the last point; its value where none is given
 * @property {number | undefined} [period]  of x and xp: points need no order then, and left and right are not read
 * @property {E | undefined} [dtype]  of the result: a float
 * @property {Tensor<O> | undefined} [out]  of x's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

const OF_INTERP = known(['left', 'right', 'period', 'dtype', 'out', 'casting'])

/** @param {string} name @param {unknown} value @returns {number | undefined} */
const optionalNumber = (name, value) =>
  value === undefined ? undefined : numberOf(name, value, () => true)

/**
 * @param {Layout} to
 * @param {Layout} x
 * @param {Layout} xp
 * @param {Layout} fp
 * @param {number} [left]
 * @param {number} [right]
 */
function interpolate(to, x, xp, fp, left, right) {
  run(rows.interp, [to], [x, xp, fp], {
    numbers: [left === undefined ? 0 : 1, right === undefined ? 0 : 1],
    scalars: [left ?? 0, right ?? 0],
  })
}

/** @param {Layout} x @param {number} period @returns {Layout} its remainders, in float64 */
function inPeriod(x, period) {
  const to = temporary(FLOAT64, x.shape)
  const how = { op: ops.remainder, asked: FLOAT64, casting: UNSAFE, scalar: period, position: 1 }
  elementwise(how, to, [x])
  return to
}

/**
 * Interpolates between points by their places in a period, in order, with one before the first and one behind the last.
 *
 * @param {Layout} to
 * @param {Layout} at
 * @param {Layout} xp
 * @param {Layout} fp
 * @param {number} period
 */
function interpolateAround(to, at, xp, fp, period) {
  const n = xp.size
  const points = inPeriod(xp, period)
  const order = temporary(INT64, [n])
  run(rows.argsort, [order], [points], { numbers: [0, UNSAFE] })
  const x = temporary(FLOAT64, [n + 2])
  const y = temporary(FLOAT64, [n + 2])
  const values = temporary(FLOAT64, [n])
  elementwise({ op: ops.positive, asked: FLOAT64, casting: UNSAFE }, values, [fp])
  run(rows.take_flat, [part(x, 1, n)], [points, order])
  run(rows.take_flat, [part(y, 1, n)], [values, order])
  for (const [op, end, from] of [
    [ops.subtract, 0, n],
    [ops.add, n + 1, 1],
  ]) {
    const how = { op, asked: NONE, casting: UNSAFE, scalar: period, position: 1 }
    elementwise(how, part(x, end, 1), [part(x, from, 1)])
    elementwise({ op: ops.positive, asked: NONE, casting: UNSAFE }, part(y, end, 1), [
      part(y, from, 1),
    ])
  }
  interpolate(to, inPeriod(at, period), x, y)
}

/**
 * Values at x on the lines between points. Computed in float64, and rounded once.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [F=D]
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool, of any shape
 * @param {TensorData} xp  where the points are, ascending, which is not checked: a tensor with one axis or a list, which is rounded to x's dtype where that is of floats
 * @param {Tensor<F> | TensorData} fp  their values, as many
 * @param {InterpOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<Promote<D, F>>>>>} of x's shape; the float in which x and fp meet, float32 of integers. NumPy gives float64
 * @throws {TypeError} ERR_DTYPE complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE there are no points, or they are not as many, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy interp
 * @example
 * interp(tensor([0, 1, 1.5, 2.75, 3.5]), [1, 2, 3], [3, 2, 0]).toArray() // [3, 3, 2.5, 0.5, 0]
 */
function interp(x, xp, fp, opts) {
  tensorOf(x, 'x')
  const givenX = lists.read('xp', xp)
  const givenY = lists.read('fp', fp)
  const options = optionsFor(opts, OF_INTERP)
  const { left: before, right: behind, period: length } = options
  const left = optionalNumber('left', before)
  const right = optionalNumber('right', behind)
  const period = optionalNumber('period', length)
  if (period !== undefined && !(Number.isFinite(period) && period !== 0)) {
    throw failure('ERR_ARGUMENT', `period is ${period}; a finite number, not 0, was expected`)
  }
  const { out, dtype, casting } = resultIn(options)
  return tidy(() => {
    const at = checkReal(operandOf(x, 'x'), 'x')
    const tensorX = lists.tensorBeside(givenX, at.dtype, 'x')
    const tensorY = lists.tensorBeside(givenY, FLOAT64)
    const px = checkReal(operandOf(tensorX, 'xp'), 'xp')
    const py = checkReal(operandOf(tensorY, 'fp'), 'fp')
    if (px.shape.length !== 1 || py.shape.length !== 1 || px.size !== py.size || px.size === 0) {
      throw failure(
        'ERR_SHAPE',
        `xp has shape [${px.shape.join(', ')}], and fp [${py.shape.join(', ')}]; as many points, one or more, were expected along one axis`,
      )
    }
    const met = tensorY === givenY ? ffi.promoteTypes(at.dtype, py.dtype) : at.dtype
    const made = dtype !== undefined || dtypes[met].kind !== 'FLOATING' ? floatOf(dtype) : met
    const { to, result } = target(out, made, at.shape, casting)
    lists.count('interp', givenX, px)
    lists.count('interp', givenY, py)
    if (period === undefined) interpolate(to, at, px, py, left, right)
    else interpolateAround(to, at, px, py, Math.abs(period))
    return result()
  })
}

module.exports = { interp }
