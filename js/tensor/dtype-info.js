'use strict'
// Casts and promotion between dtypes, and the range of their numbers.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, castingOf } = require('../base/validate')
const { dtypes, byName, dtypeOf } = require('../backend/dtypes')
const { Tensor } = require('./tensor')

/** @import { DtypeName, DtypeKind, Casting, AnyTensor, Floating, Complex, Signed, Unsigned, Promote, FloatInfo, IntegerInfo } from '../base/types' */

/**
 * The dtype that two dtypes are promoted to.
 *
 * bool and another dtype give the other; an integer and a float (or complex) give the latter, whatever their sizes; uint64
 * and a signed integer give float64; float16 and bfloat16 give float32; the two float8 give float16.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @param {A} a
 * @param {B} b
 * @returns {Promote<A, B>}
 * @throws {TypeError} ERR_DTYPE
 * @see array API result_type, PyTorch promote_types
 * @example
 * promoteTypes('int32', 'uint8') // 'int32'
 * promoteTypes('int64', 'float32') // 'float32'
 */
function promoteTypes(a, b) {
  return dtypes[ffi.promoteTypes(dtypeOf(a).index, dtypeOf(b).index)].name
}

/**
 * Does a casting rule allow a cast from one dtype to another?
 *
 * @param {DtypeName | AnyTensor} from  a name, or a tensor of it
 * @param {DtypeName} to
 * @param {Casting} [casting]  'same_kind' where none is given
 * @returns {boolean}
 * @throws {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DISPOSED
 * @see array API can_cast, with NumPy's levels
 * @example
 * canCast('int64', 'float64', 'safe') // false
 */
function canCast(from, to, casting) {
  return ffi.canCast(dtypeFor(from).index, dtypeOf(to).index, castingOf(casting))
}

/** By kind: what the names of its dtypes are like. @type {Record<string, RegExp>} */
const KINDS = {
  bool: /^bool/,
  'signed integer': /^int/,
  'unsigned integer': /^uint/,
  integral: /int/,
  'real floating': /^b?float/,
  'complex floating': /^complex/,
  numeric: /\d/,
}

/**
 * Is it a dtype of a kind?
 *
 * @param {DtypeName} dtype
 * @param {DtypeKind | DtypeName | readonly (DtypeKind | DtypeName)[]} kind  a kind, a dtype's name, or a list of such, of which one is enough
 * @returns {boolean}
 * @throws {TypeError} ERR_DTYPE, ERR_ARGUMENT
 * @see array API isdtype
 * @example
 * isdtype('uint8', 'integral') // true
 * isdtype('bool', ['numeric', 'complex64']) // false
 */
function isdtype(dtype, kind) {
  const { name } = dtypeOf(dtype)
  const matches = (/** @type {any} */ one) => {
    if (byName.has(one)) return one === name
    if (typeof one !== 'string' || !Object.hasOwn(KINDS, one)) {
      throw failure(
        'ERR_ARGUMENT',
        `kind is ${show(one)}; a dtype or one of ${Object.keys(KINDS).join(', ')} was expected`,
      )
    }
    return KINDS[one].test(name)
  }
  return Array.isArray(kind) ? Array.from(kind, matches).includes(true) : matches(kind)
}

/**
 * The dtype of a name or of a tensor.
 *
 * @param {unknown} of
 */
const dtypeFor = (of) => dtypeOf(Tensor.isTensor(of) ? of.dtype : of)

/**
 * The limits of a floating dtype; of a complex dtype, those of its parts.
 *
 * @param {Floating | Complex | AnyTensor} dtype  a name, or a tensor of it
 * @returns {FloatInfo} eps: from 1 to the next larger number; smallestNormal: the smallest positive number of full precision
 * @throws {TypeError} ERR_DTYPE · ERR_DISPOSED
 * @see array API finfo
 * @example
 * finfo('bfloat16').eps // 0.0078125
 */
function finfo(dtype) {
  const { name, kind, index, itemsize } = dtypeFor(dtype)
  if (kind !== 'FLOATING' && kind !== 'COMPLEX') {
    throw failure('ERR_DTYPE', `dtype is ${show(name)}; finfo is for floats, iinfo for integers`)
  }
  const { eps, max, smallestNormal } = ffi.finfo(index)
  const [bits, part] =
    kind === 'COMPLEX' ? [4 * itemsize, `float${4 * itemsize}`] : [8 * itemsize, name]
  return { bits, eps, max, min: -max, smallestNormal, dtype: part }
}

/**
 * The limits of an integer dtype.
 *
 * @template {DtypeName} D
 * @overload
 * @param {(D & (Signed | Unsigned)) | Tensor<D>} dtype  a name, or a tensor of it
 * @returns {IntegerInfo<D>} bigint for 64 bits
 * @throws {TypeError} ERR_DTYPE · ERR_DISPOSED
 * @see array API iinfo
 * @example
 * iinfo('int8').max // 127
 */
/**
 * @param {unknown} dtype
 * @returns {any}
 */
function iinfo(dtype) {
  const { name, kind, itemsize } = dtypeFor(dtype)
  if (kind !== 'SIGNED' && kind !== 'UNSIGNED') {
    throw failure('ERR_DTYPE', `dtype is ${show(name)}; iinfo is for integers, finfo for floats`)
  }
  const bits = 8 * itemsize
  const [min, max] =
    kind === 'SIGNED'
      ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
      : [0n, 2n ** BigInt(bits) - 1n]
  return bits === 64
    ? { bits, min, max, dtype: name }
    : { bits, min: Number(min), max: Number(max), dtype: name }
}

module.exports = { canCast, promoteTypes, isdtype, finfo, iinfo }
