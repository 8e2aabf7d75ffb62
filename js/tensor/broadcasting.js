'use strict'
// Shapes that meet: of lists, of tensors, and of the axes of a grid. The results are views.

const { arrayJoin, arrayMap, arrayOf, arraySlice } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, shapeOf, optionsOf, oneOf } = require('../base/validate')
const { broadcast } = require('../layout/layouts')
const { tensorsOf } = require('./combine')
const { Tensor } = require('./tensor')

/** @import { AnyTensor, DtypeName, GridOptions, Shape } from '../base/types' */

/** @param {number[]} shape @throws ERR_SHAPE it is negative, or has too many elements */
const checked = shape => ffi.dense(0, shape).shape

/**
 * The shape that several shapes are broadcast to.
 *
 * @param {...Shape} shapes
 * @returns {number[]}
 * @throws {RangeError} ERR_SHAPE they do not broadcast · {TypeError} ERR_ARGUMENT
 * @see array API broadcast_shapes
 * @example
 * broadcastShapes([2, 1], [3]) // [2, 3]
 */
function broadcastShapes (...shapes) {
  /** @type {number[]} */
  let shape = []
  for (let i = 0; i < shapes.length; i++) shape = checked(broadcast(shape, checked(shapeOf(shapes[i]))))
  return arraySlice(shape)
}

/**
 * Broadcasts tensors to one shape, without copies.
 *
 * @template {readonly AnyTensor[]} L
 * @overload
 * @param {readonly [...L]} list
 * @returns {{ -readonly [K in keyof L]: L[K] }} a view of each, whose elements may appear more than once
 * @throws {RangeError} ERR_SHAPE they do not broadcast · {TypeError} ERR_ARGUMENT · ERR_DISPOSED
 * @see array API broadcast_arrays
 * @example
 * broadcastArrays([zeros([2, 1]), zeros([3])]).map(t => t.shape) // [[2, 3], [2, 3]]
 */
/**
 * As above, with two tensors.
 *
 * @template {AnyTensor} A
 * @template {AnyTensor} B
 * @overload
 * @param {A} a
 * @param {B} b
 * @returns {[A, B]}
 * @throws as with a list
 */
/**
 * As above, with three tensors.
 *
 * @template {AnyTensor} A
 * @template {AnyTensor} B
 * @template {AnyTensor} C
 * @overload
 * @param {A} a
 * @param {B} b
 * @param {C} c
 * @returns {[A, B, C]}
 * @throws as with a list
 */
/**
 * As above, with any number of tensors.
 *
 * @template {DtypeName} D
 * @overload
 * @param {...Tensor<D>} tensors
 * @returns {Tensor<D>[]}
 * @throws as with a list
 */
/**
 * @param {...any} args
 * @returns {any}
 */
function broadcastArrays (...args) {
  const { tensors, rest } = tensorsOf(args, 1)
  if (rest.length > 0) throw failure('ERR_ARGUMENT', `argument ${args.length - rest.length} is ${show(rest[0])}; ${tensors.length === 1 && args[0] !== tensors[0] ? 'the list alone' : 'a tensor'} was expected`)
  let shape = Tensor.layoutOf(tensors[0]).shape
  for (let i = 1; i < tensors.length; i++) shape = broadcast(shape, Tensor.layoutOf(tensors[i]).shape)
  return arrayMap(tensors, t => t.expand(shape))
}

/**
 * The coordinates of a grid: of n tensors of one axis, n views that have n axes, without copies.
 *
 * @template {readonly AnyTensor[]} L
 * @overload
 * @param {readonly [...L]} list  coordinates along each axis; one without axes counts as one element
 * @param {GridOptions} [opts]  indexing: 'ij' has an axis for each tensor in their order; 'xy', where nothing is given, swaps the first two
 * @returns {{ -readonly [K in keyof L]: L[K] }} views, whose elements appear more than once; clone() makes tensors that can be written
 * @throws {RangeError} ERR_SHAPE one has two or more axes, or there are more than 64 · {TypeError} ERR_ARGUMENT · ERR_DISPOSED
 * @see array API meshgrid, NumPy meshgrid(copy=False)
 * @example
 * const [x, y] = meshgrid(arange(3), arange(2))
 * x.toArray() // [[0, 1, 2], [0, 1, 2]]
 * y.toArray() // [[0, 0, 0], [1, 1, 1]]
 */
/**
 * As above, with two tensors.
 *
 * @template {AnyTensor} A
 * @template {AnyTensor} B
 * @overload
 * @param {A} a
 * @param {B} b
 * @param {GridOptions} [opts]
 * @returns {[A, B]}
 * @throws as with a list
 */
/**
 * As above, with three tensors.
 *
 * @template {AnyTensor} A
 * @template {AnyTensor} B
 * @template {AnyTensor} C
 * @overload
 * @param {A} a
 * @param {B} b
 * @param {C} c
 * @param {GridOptions} [opts]
 * @returns {[A, B, C]}
 * @throws as with a list
 */
/**
 * As above, with any number of tensors.
 *
 * @template {DtypeName} D
 * @overload
 * @param {...(Tensor<D> | GridOptions)} args  the tensors, then options
 * @returns {Tensor<D>[]}
 * @throws as with a list
 */
/**
 * @param {...any} args
 * @returns {any}
 */
function meshgrid (...args) {
  const { tensors, rest } = tensorsOf(args, 1)
  if (rest.length > 1 || typeof rest[0] === 'string') throw failure('ERR_ARGUMENT', `options is ${show(rest[0])}; an object, as the last argument, was expected`)
  const { indexing } = optionsOf(rest[0])
  const isSwapped = (indexing === undefined || oneOf('indexing', indexing, ['xy', 'ij']) === 0) && tensors.length > 1
  const place = (/** @type {number} */ i) => isSwapped && i < 2 ? 1 - i : i
  const lines = arrayMap(arrayMap(tensors, Tensor.layoutOf), lineOf)
  const shape = arrayOf(lines.length, d => lines[place(d)].length)
  return arrayMap(tensors, (t, i) => t.asStrided(shape, arrayOf(shape.length, d => d === place(i) ? lines[i].stride : 0)))
}

/**
 * @param {InstanceType<typeof ffi.Layout>} layout
 * @param {number} i  the tensor's number, for messages
 * @returns {{ length: number, stride: number }} elements
 */
function lineOf ({ shape, strides }, i) {
  if (shape.length > 1) throw failure('ERR_SHAPE', `tensor ${i} has shape [${arrayJoin(shape)}]; one axis was expected`)
  return shape.length === 0 ? { length: 1, stride: 0 } : { length: shape[0], stride: strides[0] }
}

module.exports = { broadcastShapes, broadcastArrays, meshgrid }
