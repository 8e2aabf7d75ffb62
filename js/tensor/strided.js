'use strict'
// ...Strided: new tensors with strides that the caller gives.

const { rows } = require('../backend/calls')
const { optionsOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { stridedLayout } = require('../layout/layouts')
const { make, makeFull } = require('./creation')
const { draw, drawIntegers } = require('./random')

/** @import { DtypeName, NameOf, Or, Shape, Value, MakeOptions, RandomOptions, RandomFloating, RandomInteger, DtypeOfValue, DtypeOfBounds } from '../base/types' */
/** @import { Tensor } from './tensor' */

const FLOAT32 = dtypeOf('float32')

/**
 * A tensor of uninitialised elements. Its storage ends with the last element that the strides reach.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  elements, 0 or more, one per axis; elements may share bytes
 * @param {MakeOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given; an order must agree with the strides
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws {RangeError} ERR_SHAPE another number of strides, ERR_BOUNDS a negative one, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT
 * @see PyTorch empty_strided
 * @example
 * emptyStrided([2, 3], [1, 2]).isContiguous() // false
 */
function emptyStrided (shape, strides, opts) {
  return make(stridedLayout, { shape, strides }, opts, false)
}

/**
 * A tensor of zeros; bytes between its elements are zero as well.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as emptyStrided
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as emptyStrided
 * @see ExecuTorch zeros_strided
 * @example
 * zerosStrided([2, 2], [1, 2], 'int8').toArray() // [[0, 0], [0, 0]]
 */
function zerosStrided (shape, strides, opts) {
  return make(stridedLayout, { shape, strides }, opts, true)
}

/**
 * A tensor of ones; what lies between its elements is uninitialised.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as emptyStrided
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as emptyStrided
 * @see ExecuTorch ones_strided
 * @example
 * onesStrided([2, 2], [1, 2], 'int8').toArray() // [[1, 1], [1, 1]]
 */
function onesStrided (shape, strides, opts) {
  return make(stridedLayout, { shape, strides }, opts, false).fill(1)
}

/**
 * A tensor with one value everywhere; what lies between its elements is uninitialised.
 *
 * @template {Value} V
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as emptyStrided
 * @param {V} value  number -> float32, bigint -> int64, boolean -> bool, pair -> complex64, unless a dtype is given
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfValue<V>>>} owns its bytes
 * @throws as emptyStrided · {TypeError} ERR_CAST the value does not fit
 * @see ExecuTorch full_strided
 * @example
 * fullStrided([2, 2], [1, 2], true).dtype // 'bool'
 */
function fullStrided (shape, strides, value, opts) {
  return makeFull(stridedLayout, { shape, strides }, value, opts)
}

/**
 * A tensor of numbers from [0, 1), all equally likely: the same as rand's of the same shape.
 *
 * @template {RandomFloating} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as emptyStrided, but no two elements may share a byte
 * @param {RandomOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as emptyStrided · ERR_OVERLAP
 * @see ExecuTorch rand_strided
 * @example
 * randStrided([2, 3], [1, 2]).strides // [1, 2]
 */
function randStrided (shape, strides, opts) {
  return draw(rows.uniform, stridedLayout, { shape, strides }, optionsOf(opts), FLOAT32, 0, 1)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1: the same as randn's of the same shape.
 *
 * @template {RandomFloating} [D=never]
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as randStrided
 * @param {RandomOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as randStrided
 * @see ExecuTorch randn_strided
 * @example
 * randnStrided([2, 3], [1, 2]).strides // [1, 2]
 */
function randnStrided (shape, strides, opts) {
  return draw(rows.normal, stridedLayout, { shape, strides }, optionsOf(opts), FLOAT32, 0, 1)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely: the same as randint's of the same shape.
 *
 * @template {number | bigint} N
 * @template {number | bigint} M
 * @template {RandomInteger} [D=never]
 * @param {N} low
 * @param {M} high  exclusive
 * @param {Shape} shape  elements
 * @param {readonly number[]} strides  as randStrided
 * @param {RandomOptions<D> | NameOf<D>} [opts]  dtype as randint
 * @returns {Tensor<Or<D, DtypeOfBounds<N | M>>>} owns its bytes
 * @throws as randStrided · {RangeError} ERR_BOUNDS low is not below high · {TypeError} ERR_CAST the dtype does not hold them
 * @see ExecuTorch randint_strided
 * @example
 * randintStrided(5, 6, [2, 2], [1, 2]).toArray() // [[5, 5], [5, 5]]
 */
function randintStrided (low, high, shape, strides, opts) {
  return drawIntegers(stridedLayout, { shape, strides }, low, high, opts)
}

module.exports = { emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided }
