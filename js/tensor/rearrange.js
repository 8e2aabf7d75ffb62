'use strict'
// Functions of one tensor that the array API has beside methods: axes moved, triangles, elements by indices.

const { integer, optionsOf, axisAndOptions } = require('../base/validate')
const { checkSameDevice } = require('../layout/placement')
const rearrange = require('../copy/recipes')
const { Tensor, tensorOf, resultOf, produced } = require('./tensor')

const OF_TRIANGLE = ['k', 'dtype', 'casting', 'out']

/** @import { AnyTensor, DtypeName, NameOf, Or, ResultOptions, AlongOptions, TriangleOptions } from '../base/types' */

/**
 * Moves axes to other places; the others keep their order.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x
 * @param {number | readonly number[]} source  axes of x, each once; negative counts from the end
 * @param {number | readonly number[]} destination  where each of them goes; likewise
 * @returns {Tensor<D>} a view
 * @throws {TypeError} ERR_ARGUMENT x is no tensor · as the method of this name
 * @see array API moveaxis
 * @example
 * moveaxis(zeros([2, 3, 4]), [0, 1], [2, 0]).shape // [3, 4, 2]
 */
function moveaxis(x, source, destination) {
  return tensorOf(x, 'x').moveaxis(source, destination)
}

/**
 * The lower triangles of matrices: elements on a diagonal and below it, and zeros above.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} x  its last two axes are the matrices'
 * @param {TriangleOptions<E> | NameOf<E>} [opts]  k: the diagonal, 0 for the main one, positive above it
 * @returns {Tensor<Or<E, D>>} a copy
 * @throws {RangeError} ERR_SHAPE fewer than 2 axes, ERR_BOUNDS k, ERR_MEMORY · {TypeError} ERR_CAST, ERR_ARGUMENT · as copyFrom, of out
 * @see array API tril
 * @example
 * tril(ones([2, 3])).toArray() // [[1, 0, 0], [1, 1, 0]]
 */
function tril(x, opts) {
  return triangle('tril', x, opts, true)
}

/**
 * The upper triangles of matrices: elements on a diagonal and above it, and zeros below.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} x  its last two axes are the matrices'
 * @param {TriangleOptions<E> | NameOf<E>} [opts]  k: the diagonal, 0 for the main one, positive above it
 * @returns {Tensor<Or<E, D>>} a copy
 * @throws as tril
 * @see array API triu
 * @example
 * triu(ones([2, 3]), { k: 1 }).toArray() // [[0, 1, 1], [0, 0, 1]]
 */
function triu(x, opts) {
  return triangle('triu', x, opts, false)
}

/**
 * @param {string} reason  name of the function
 * @param {unknown} x
 * @param {unknown} opts
 * @param {boolean} isLower
 * @returns {any}
 */
function triangle(reason, x, opts, isLower) {
  const t = tensorOf(x, 'x')
  const options = optionsOf(opts, OF_TRIANGLE, reason)
  const { k } = options
  const diagonal = k === undefined ? 0 : integer('k', k)
  const result = resultOf(options)
  return produced(reason, rearrange.triangle(Tensor.attachedOf(t), diagonal, isLower), result)
}

/**
 * For each index an element of x: of the line along the axis in which the index stands.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} x
 * @param {AnyTensor} indices  integers, with as many axes as x, broadcast with it but for the axis; negative counts from the end
 * @param {number | AlongOptions<E> | NameOf<E>} [axis]  the last one where none is given
 * @param {AlongOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>} a copy
 * @throws {RangeError} ERR_BOUNDS an index or the axis is outside (nothing is written then), ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_DTYPE
 *   indices are no integers, ERR_CAST, ERR_ARGUMENT · as copyFrom, of out
 * @see array API take_along_axis, PyTorch take_along_dim
 * @example
 * takeAlongAxis(tensor([[10, 20], [30, 40]]), tensor([[1], [0]], 'int32')).toArray() // [[20], [30]]
 */
function takeAlongAxis(x, indices, axis, opts) {
  tensorOf(x, 'x')
  tensorOf(indices, 'indices')
  const { along, asked } = axisAndOptions(axis, opts, 'takeAlongAxis')
  const d = along === undefined ? -1 : integer('axis', along)
  const result = resultOf(asked)
  const source = Tensor.attachedOf(x)
  const from = Tensor.attachedOf(indices)
  checkSameDevice(source.storage, from.storage)
  return /** @type {any} */ (
    produced('takeAlongAxis', rearrange.takeAlongAxis(source, from, d), result)
  )
}

module.exports = { moveaxis, tril, triu, takeAlongAxis }
