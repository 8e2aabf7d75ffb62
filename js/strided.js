'use strict'
// …Strided: new tensors with strides that the caller gives.

const { rows } = require('./ffi')
const { optionsOf } = require('./validate')
const { dtypeOf } = require('./dtypes')
const { stridedLayout } = require('./layouts')
const { make, makeFull } = require('./make')
const { draw, drawIntegers } = require('./random')

/** @typedef {import('./make').MakeOptions} MakeOptions */
/** @typedef {import('./random').RandomOptions} RandomOptions */
/** @typedef {import('./tensor').Shape} Shape */
/** @typedef {import('./tensor').Tensor} Tensor */

const FLOAT32 = dtypeOf('float32')

/**
 * A tensor of uninitialised elements. Its storage ends with the last element that the strides reach.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  elements, 0 or more, one per axis; elements may share bytes
 * @param {MakeOptions | string} [opts]  float32 where no dtype is given; an order must agree with the strides
 * @returns {Tensor}
 * @throws {RangeError} ERR_SHAPE another number of strides, ERR_BOUNDS a negative one, ERR_MEMORY · {TypeError} ERR_DTYPE
 * @example
 * emptyStrided([2, 3], [1, 2]).isContiguous() // false
 */
function emptyStrided (shape, strides, opts) {
  return make(stridedLayout, [shape, strides], opts, false)
}

/**
 * A tensor of zeros; bytes between its elements are zero as well.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  as emptyStrided
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyStrided
 */
function zerosStrided (shape, strides, opts) {
  return make(stridedLayout, [shape, strides], opts, true)
}

/**
 * A tensor of ones; what lies between its elements is uninitialised.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  as emptyStrided
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyStrided
 */
function onesStrided (shape, strides, opts) {
  return make(stridedLayout, [shape, strides], opts, false).fill(1)
}

/**
 * A tensor with one value everywhere; what lies between its elements is uninitialised.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  as emptyStrided
 * @param {import('./tensor').Value} value  number → float32, bigint → int64, boolean → bool, unless a dtype is given
 * @param {MakeOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyStrided · {TypeError} ERR_CAST the value does not fit
 */
function fullStrided (shape, strides, value, opts) {
  return makeFull(stridedLayout, [shape, strides], value, opts)
}

/**
 * A tensor of numbers from [0, 1), all equally likely: the same as rand's of the same shape.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  as emptyStrided, but no two elements may share a byte
 * @param {RandomOptions | string} [opts]
 * @returns {Tensor}
 * @throws as emptyStrided · ERR_OVERLAP
 */
function randStrided (shape, strides, opts) {
  return draw(rows.uniform, stridedLayout, [shape, strides], optionsOf(opts), FLOAT32, 0, 1)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1: the same as randn's of the same shape.
 *
 * @param {Shape} shape
 * @param {readonly number[]} strides  as randStrided
 * @param {RandomOptions | string} [opts]
 * @returns {Tensor}
 * @throws as randStrided
 */
function randnStrided (shape, strides, opts) {
  return draw(rows.normal, stridedLayout, [shape, strides], optionsOf(opts), FLOAT32, 0, 1)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely: the same as randint's of the same shape.
 *
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {Shape} shape
 * @param {readonly number[]} strides  as randStrided
 * @param {RandomOptions | string} [opts]  dtype as randint
 * @returns {Tensor}
 * @throws as randStrided · {RangeError} ERR_BOUNDS low is not below high · {TypeError} ERR_CAST the dtype does not hold them
 */
function randintStrided (low, high, shape, strides, opts) {
  return drawIntegers(stridedLayout, [shape, strides], low, high, opts)
}

module.exports = { emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided }
