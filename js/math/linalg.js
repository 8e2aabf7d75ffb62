'use strict'
// samebytes/math's `linalg`: what the array API standard has under that name.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { integer } = require('../base/validate')
const { rows, run } = require('../backend/algorithms')
const { tensorOf, resultIn } = require('../tensor/tensor')
const { broadcast } = require('../layout/layouts')
const { inRange, lastAxes, permuted } = require('./axes')
const { broadcastTo, target } = require('./cores')
const { operandOf } = require('./operands')
const { known, optionsAlong } = require('./options')

/** @import { AnyTensor, Casting, DtypeName, Or, Promote } from '../base/types' */
/** @import { Tensor } from '../tensor/tensor' */

const ALONG = known(['axis', 'out', 'casting'], 'axis')

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} CrossOptions
 * @property {number | undefined} [axis]  of three elements; -1 where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * The cross product of vectors of three elements, along an axis. The other axes are broadcast. Integers wrap.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers
 * @param {Tensor<B>} x2
 * @param {CrossOptions<O>} [opts]
 * @returns {Tensor<Or<O, Promote<A, B>>>}
 * @throws {TypeError} ERR_DTYPE bool and float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside, ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy linalg.cross
 * @example
 * linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray() // [0, 0, 1]
 */
function cross (x1, x2, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsAlong(opts, ALONG)
  const { axis = -1 } = options
  const given = integer('axis', axis)
  const { out, casting } = resultIn(options)
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  const shape = broadcast(a.shape, b.shape)
  const at = inRange(given, shape.length)
  if (shape[at] !== 3) throw failure('ERR_SHAPE', `axis ${given} has ${shape[at]} elements; cross has vectors of 3`)
  const order = lastAxes(shape.length, [at])
  const { to, result } = target(out, ffi.promoteTypes(a.dtype, b.dtype), shape)
  run(rows.cross, [permuted(to, order)], [permuted(broadcastTo(a, 0, shape), order), permuted(broadcastTo(b, 0, shape), order)], { numbers: [casting] })
  return result()
}

module.exports = { cross }
