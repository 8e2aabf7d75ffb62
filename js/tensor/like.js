'use strict'
// ...Like: new tensors in the shape of one that there is.

const { rows } = require('../backend/calls')
const { optionsOf } = require('../base/validate')
const { dtypes } = require('../backend/dtypes')
const { likeLayout } = require('../layout/layouts')
const { Tensor } = require('./tensor')
const { make, makeFull, tensorOf } = require('./creation')
const { draw, drawIntegers } = require('./random')

/** @import { DtypeName, NameOf, Or, InputOf, MakeOptions, RandomOptions } from '../base/types' */

/** @param {unknown} t */
function layoutOf (t) {
  return Tensor.layoutOf(tensorOf(t))
}

/**
 * A tensor of uninitialised elements in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  gives shape, dtype, device and order of axes in memory, without gaps; not its dynamism
 * @param {MakeOptions<E> | NameOf<E>} [opts]  what is to differ
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · ERR_DISPOSED · as empty
 * @see array API empty_like
 * @example
 * emptyLike(zeros([2, 3], 'int8').T).strides // [1, 3]
 */
function emptyLike (t, opts) {
  const layout = layoutOf(t)
  return make(likeLayout, layout, opts, false, dtypes[layout.dtype])
}

/**
 * A tensor of zeros in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {MakeOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as emptyLike
 * @see array API zeros_like
 * @example
 * zerosLike(tensor([[1n, 2n]])).toArray() // [ [ 0n, 0n ] ]
 */
function zerosLike (t, opts) {
  const layout = layoutOf(t)
  return make(likeLayout, layout, opts, true, dtypes[layout.dtype])
}

/**
 * A tensor of ones in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {MakeOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as emptyLike
 * @see array API ones_like
 * @example
 * onesLike(zeros([2]), 'int16').toArray() // [1, 1]
 */
function onesLike (t, opts) {
  const layout = layoutOf(t)
  return make(likeLayout, layout, opts, false, dtypes[layout.dtype]).fill(1)
}

/**
 * A tensor with one value everywhere, in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {InputOf<Or<E, D>>} value  that must fit the dtype
 * @param {MakeOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as emptyLike · {TypeError} ERR_CAST the value does not fit
 * @see array API full_like
 * @example
 * fullLike(zeros([2]), 0.5).toArray() // [0.5, 0.5]
 */
function fullLike (t, value, opts) {
  const layout = layoutOf(t)
  return makeFull(likeLayout, layout, value, opts, dtypes[layout.dtype])
}

/**
 * A tensor of numbers from [0, 1), all equally likely, in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {RandomOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as emptyLike · {TypeError} ERR_DTYPE t's dtype is not floating, and none is given
 * @see PyTorch rand_like
 * @example
 * randLike(zeros([2, 3])).shape // [2, 3]
 */
function randLike (t, opts) {
  const layout = layoutOf(t)
  return draw(rows.uniform, likeLayout, layout, optionsOf(opts), dtypes[layout.dtype], 0, 1)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1, in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {RandomOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as randLike
 * @see PyTorch randn_like
 * @example
 * randnLike(zeros([2, 3], 'int8'), 'float64').dtype // 'float64'
 */
function randnLike (t, opts) {
  const layout = layoutOf(t)
  return draw(rows.normal, likeLayout, layout, optionsOf(opts), dtypes[layout.dtype], 0, 1)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely, in another one's shape.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  as emptyLike
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {RandomOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws as emptyLike · as randint; {TypeError} ERR_DTYPE t's dtype is no integer, and none is given
 * @see PyTorch randint_like
 * @example
 * randintLike(zeros([3], 'int16'), 0, 10).dtype // 'int16'
 */
function randintLike (t, low, high, opts) {
  const layout = layoutOf(t)
  return drawIntegers(likeLayout, layout, low, high, opts, dtypes[layout.dtype])
}

module.exports = { emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike }
