'use strict'
// Elementwise functions: reads tensors, scalars and options, makes the result, calls C. functions.js has their names.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { CHOICE, NONE, dtypeOfResult, elementwise } = require('./calls/calls')
const { broadcast, denseLayout } = require('../layout/layouts')
const { checkOut } = require('../copy/results')
const { Tensor, tensorOf, wrap } = require('../tensor/tensor')
const { allocated } = require('./allocate')
const { operandOf, targetOf } = require('./operands')
const { resultOptions } = require('./options')
const scalars = require('./scalars')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { Choice, Scalar } from './calls/calls' */
/** What options ask for. @typedef {ReturnType<typeof resultOptions>} Asked */

/** @param {Asked} options @returns {number} the dtype that operands are converted to first, or NONE */
const askedOf = ({ dtype }) => (dtype === undefined ? NONE : dtype.index)

/**
 * @param {number} op
 * @param {readonly Layout[]} from  one to three
 * @param {number[]} shape
 * @param {Asked} options
 * @param {Scalar | Choice} [scalar]
 * @param {number} [position]
 * @returns {Tensor}
 */
function computed(op, from, shape, options, scalar, position) {
  const { out, casting } = options
  const how = { op, asked: askedOf(options), casting, scalar, position }
  if (out !== undefined) {
    const to = targetOf(out)
    checkOut(to, shape, undefined)
    elementwise(how, to, from)
    return out
  }
  const made = allocated(denseLayout(dtypeOf(how, from), shape))
  elementwise(how, made, from)
  return wrap(made)
}

/** @param {import('./calls/calls').How} how @param {readonly Layout[]} from @returns {number} of the result */
function dtypeOf({ op, asked, scalar, position }, from) {
  if (position !== CHOICE) {
    return dtypeOfResult(
      op,
      from[0].dtype,
      from[from.length > 1 ? 1 : 0].dtype,
      from[from.length > 2 ? 2 : 0].dtype,
      asked,
    )
  }
  const { of, second, third } = /** @type {Choice} */ (scalar)
  return dtypeOfResult(op, of, second, third, asked)
}

/**
 * A function of one tensor. What the caller's code runs in, options and scalars, is read before tensors are looked at; so it is below.
 *
 * @param {number} op
 * @param {unknown} x
 * @param {unknown} opts
 * @returns {any}
 */
function unary(op, x, opts) {
  tensorOf(x, 'x')
  const options = resultOptions(opts)
  const a = operandOf(/** @type {Tensor} */ (x), 'x')
  return computed(op, [a], a.shape, options)
}

/**
 * A function of two tensors, or of a tensor and a scalar.
 *
 * @param {number} op
 * @param {unknown} x1
 * @param {unknown} x2
 * @param {unknown} opts
 * @param {string} [first]  x1's name, for messages
 * @param {string} [second]  x2's
 * @returns {any}
 */
function binary(op, x1, x2, opts, first = 'x1', second = 'x2') {
  if (!Tensor.isTensor(x1)) return besideScalar(op, x2, second, first, x1, 0, opts)
  if (!Tensor.isTensor(x2)) return besideScalar(op, x1, first, second, x2, 1, opts)
  const options = resultOptions(opts)
  const a = operandOf(x1, first)
  const b = operandOf(x2, second)
  return computed(op, [a, b], broadcast(a.shape, b.shape), options)
}

/**
 * @param {number} op
 * @param {unknown} x
 * @param {string} ofTensor  x's name
 * @param {string} name  of the scalar
 * @param {unknown} value
 * @param {0 | 1} position  the scalar's
 * @param {unknown} opts
 * @returns {Tensor}
 */
function besideScalar(op, x, ofTensor, name, value, position, opts) {
  const scalar = scalars.read(name, value)
  if (!Tensor.isTensor(x)) {
    throw failure(
      'ERR_ARGUMENT',
      `${ofTensor} is ${show(x)}, and ${name} ${show(value)}; one of them has to be a tensor, as tensor() makes of lists`,
    )
  }
  const options = resultOptions(opts)
  const a = operandOf(x, ofTensor)
  return computed(
    op,
    [a],
    a.shape,
    options,
    scalars.taken(name, op, a.dtype, askedOf(options), scalar),
    position,
  )
}

module.exports = { unary, binary, computed }
