'use strict'
// …Like: new tensors in the shape of one that there is.

const { rows } = require('./ffi')
const { optionsOf } = require('./validate')
const { dtypes } = require('./dtypes')
const { likeLayout } = require('./layouts')
const { Tensor } = require('./tensor')
const { make, makeFull, tensorOf } = require('./make')
const { draw, drawIntegers } = require('./random')

/** @typedef {import('./make').MakeOptions} MakeOptions */
/** @typedef {import('./random').RandomOptions} RandomOptions */

/** @param {unknown} t */
function layoutOf (t) {
  return Tensor.layoutOf(tensorOf(t))
}

/**
 * A tensor of uninitialised elements in another one's shape.
 *
 * @param {Tensor} t  gives shape, dtype and order of axes in memory, without gaps; not its dynamism
 * @param {MakeOptions | string} [opts]  what is to differ
 * @returns {Tensor}
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · ERR_DISPOSED · as empty
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
 * @param {Tensor} t  as emptyLike
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyLike
 */
function zerosLike (t, opts) {
  const layout = layoutOf(t)
  return make(likeLayout, layout, opts, true, dtypes[layout.dtype])
}

/**
 * A tensor of ones in another one's shape.
 *
 * @param {Tensor} t  as emptyLike
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyLike
 */
function onesLike (t, opts) {
  const layout = layoutOf(t)
  return make(likeLayout, layout, opts, false, dtypes[layout.dtype]).fill(1)
}

/**
 * A tensor with one value everywhere, in another one's shape.
 *
 * @param {Tensor} t  as emptyLike
 * @param {import('./tensor').Value} value  that must fit the dtype
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyLike · {TypeError} ERR_CAST the value does not fit
 */
function fullLike (t, value, opts) {
  const layout = layoutOf(t)
  return makeFull(likeLayout, layout, value, opts, dtypes[layout.dtype])
}

/**
 * A tensor of numbers from [0, 1), all equally likely, in another one's shape.
 *
 * @param {Tensor} t  as emptyLike
 * @param {RandomOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyLike · {TypeError} ERR_DTYPE t's dtype is not floating, and none is given
 */
function randLike (t, opts) {
  const layout = layoutOf(t)
  return draw(rows.uniform, likeLayout, layout, optionsOf(opts), dtypes[layout.dtype], 0, 1)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1, in another one's shape.
 *
 * @param {Tensor} t  as emptyLike
 * @param {RandomOptions | string} [opts]
 * @returns {Tensor}
 * @throws as randLike
 */
function randnLike (t, opts) {
  const layout = layoutOf(t)
  return draw(rows.normal, likeLayout, layout, optionsOf(opts), dtypes[layout.dtype], 0, 1)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely, in another one's shape.
 *
 * @param {Tensor} t  as emptyLike
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {RandomOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyLike · as randint; {TypeError} ERR_DTYPE t's dtype is no integer, and none is given
 */
function randintLike (t, low, high, opts) {
  const layout = layoutOf(t)
  return drawIntegers(likeLayout, layout, low, high, opts, dtypes[layout.dtype])
}

module.exports = { emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike }
