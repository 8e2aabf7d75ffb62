'use strict'
// Made from src/math/ops.def by `npm run generate`: a function for each row.

const { ops } = require('../backend/math')
const { unary, binary } = require('./elementwise')
const choices = require('./choices')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, DtypeName, DtypeOfValue, Floated, InputOf, MathOptions, NameOf, OfOne, Or, Promote, RealOf, Value } from '../base/types' */

/**
 * Computes x1 + x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API add
 * @example
 * add(tensor([1, 2]), tensor([3, 4])).toArray() // [4, 6]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function add (x1, x2, opts) {
  return binary(ops.add, x1, x2, opts)
}

/**
 * Computes x1 - x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API subtract
 * @example
 * subtract(tensor([3, 4]), tensor([1, 2])).toArray() // [2, 2]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function subtract (x1, x2, opts) {
  return binary(ops.subtract, x1, x2, opts)
}

/**
 * Computes x1 * x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API multiply
 * @example
 * multiply(tensor([1, 2]), 3).toArray() // [3, 6]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function multiply (x1, x2, opts) {
  return binary(ops.multiply, x1, x2, opts)
}

/**
 * Computes x1 / x2; of integers as floats.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API divide
 * @example
 * divide(tensor([1, 3], 'int32'), 2).toArray() // [0.5, 1.5]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function divide (x1, x2, opts) {
  return binary(ops.divide, x1, x2, opts)
}

/**
 * The largest integer that is not above x1 / x2; of integers by zero 0.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API floor_divide
 * @example
 * floorDivide(tensor([7, -7], 'int32'), 2).toArray() // [3, -4]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function floorDivide (x1, x2, opts) {
  return binary(ops.floor_divide, x1, x2, opts)
}

/**
 * Computes x1 - x2 * floor(x1 / x2), of the sign of x2; of integers by zero 0.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API remainder
 * @example
 * remainder(tensor([7, -7], 'int32'), 3).toArray() // [1, 2]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function remainder (x1, x2, opts) {
  return binary(ops.remainder, x1, x2, opts)
}

/**
 * Computes -x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API negative
 * @example
 * negative(tensor([1, -2])).toArray() // [-1, 2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function negative (x, opts) {
  return unary(ops.negative, x, opts)
}

/**
 * Gives x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API positive
 * @example
 * positive(tensor([1, -2])).toArray() // [1, -2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function positive (x, opts) {
  return unary(ops.positive, x, opts)
}

/**
 * The absolute value; of complex numbers the length.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, RealOf<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API abs
 * @example
 * abs(tensor([-1.5, 2])).toArray() // [1.5, 2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function abs (x, opts) {
  return unary(ops.abs, x, opts)
}

/**
 * Computes -1, 0 or 1; NaN stays; of complex numbers x / abs(x), and 0 of 0.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API sign
 * @example
 * sign(tensor([-3, 0, 2])).toArray() // [-1, 0, 1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function sign (x, opts) {
  return unary(ops.sign, x, opts)
}

/**
 * Computes x * x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API square
 * @example
 * square(tensor([2, 3])).toArray() // [4, 9]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function square (x, opts) {
  return unary(ops.square, x, opts)
}

/**
 * 1 / x; of integers as floats.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API reciprocal
 * @example
 * reciprocal(tensor([2, 4])).toArray() // [0.5, 0.25]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function reciprocal (x, opts) {
  return unary(ops.reciprocal, x, opts)
}

/**
 * The square root; NaN below 0.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API sqrt
 * @example
 * sqrt(tensor([4, 9])).toArray() // [2, 3]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function sqrt (x, opts) {
  return unary(ops.sqrt, x, opts)
}

/**
 * Gives x where it is above 0, else 0; NaN stays.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch relu
 * @example
 * relu(tensor([-1, 2])).toArray() // [0, 2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function relu (x, opts) {
  return unary(ops.relu, x, opts)
}

/**
 * The larger one; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API maximum
 * @example
 * maximum(tensor([1, NaN]), tensor([2, 0])).toArray() // [2, NaN]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function maximum (x1, x2, opts) {
  return binary(ops.maximum, x1, x2, opts)
}

/**
 * The smaller one; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API minimum
 * @example
 * minimum(tensor([1, NaN]), tensor([2, 0])).toArray() // [1, NaN]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function minimum (x1, x2, opts) {
  return binary(ops.minimum, x1, x2, opts)
}

/**
 * Gives x, at least min and at most max; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {OfOne<D, Tensor<D>> | InputOf<D> | null} [min]  a scalar takes x's dtype, and has to fit it; undefined or null: there is no bound
 * @param {OfOne<D, Tensor<D>> | InputOf<D> | null} [max]  likewise; the three are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API clip
 * @example
 * clip(tensor([-1, 0.5, 2]), 0, 1).toArray() // [0, 0.5, 1]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [A=D]
 * @template {DtypeName} [B=D]
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {Tensor<A> | InputOf<D> | null | undefined} min
 * @param {Tensor<B> | InputOf<D> | null | undefined} [max]
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<Promote<D, A>, B>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x
 * @param {any} min
 * @param {any} max
 * @param {any} [opts]
 * @returns {any}
 */
function clip (x, min, max, opts) {
  return choices.clip(x, min, max, opts)
}

/**
 * Gives x1 where the condition holds, else x2.
 *
 * Takes all dtypes.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {AnyTensor | boolean} condition  what is not zero counts as true
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  all three are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API where
 * @example
 * where(tensor([true, false]), tensor([1, 2]), 0).toArray() // [1, 0]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {AnyTensor | boolean} condition
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {AnyTensor | boolean} condition
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {AnyTensor | boolean} condition
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * Two scalars have the dtype that full gives them.
 *
 * @template {Value} V
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {AnyTensor | boolean} condition
 * @param {V} x1
 * @param {V} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, DtypeOfValue<V>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} condition
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function where (condition, x1, x2, opts) {
  return choices.where(condition, x1, x2, opts)
}

/**
 * Computes x1 == x2.
 *
 * Takes all dtypes, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API equal
 * @example
 * equal(tensor([1, 2]), 2).toArray() // [false, true]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function equal (x1, x2, opts) {
  return binary(ops.equal, x1, x2, opts)
}

/**
 * Computes x1 != x2.
 *
 * Takes all dtypes, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API not_equal
 * @example
 * notEqual(tensor([1, 2]), 2).toArray() // [true, false]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function notEqual (x1, x2, opts) {
  return binary(ops.not_equal, x1, x2, opts)
}

/**
 * Computes x1 < x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API less
 * @example
 * less(tensor([1, 2, 3]), 2).toArray() // [true, false, false]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function less (x1, x2, opts) {
  return binary(ops.less, x1, x2, opts)
}

/**
 * Computes x1 <= x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API less_equal
 * @example
 * lessEqual(tensor([1, 2, 3]), 2).toArray() // [true, true, false]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function lessEqual (x1, x2, opts) {
  return binary(ops.less_equal, x1, x2, opts)
}

/**
 * Computes x1 > x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API greater
 * @example
 * greater(tensor([1, 2, 3]), 2).toArray() // [false, false, true]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function greater (x1, x2, opts) {
  return binary(ops.greater, x1, x2, opts)
}

/**
 * Computes x1 >= x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API greater_equal
 * @example
 * greaterEqual(tensor([1, 2, 3]), 2).toArray() // [false, true, true]
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function greaterEqual (x1, x2, opts) {
  return binary(ops.greater_equal, x1, x2, opts)
}

/**
 * Whether both are other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API logical_and
 * @example
 * logicalAnd(tensor([true, true]), tensor([true, false])).toArray() // [true, false]
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function logicalAnd (x1, x2, opts) {
  return binary(ops.logical_and, x1, x2, opts)
}

/**
 * Whether one is other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API logical_or
 * @example
 * logicalOr(tensor([true, false]), tensor([false, false])).toArray() // [true, false]
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function logicalOr (x1, x2, opts) {
  return binary(ops.logical_or, x1, x2, opts)
}

/**
 * Whether exactly one is other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API logical_xor
 * @example
 * logicalXor(tensor([true, true]), tensor([true, false])).toArray() // [false, true]
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function logicalXor (x1, x2, opts) {
  return binary(ops.logical_xor, x1, x2, opts)
}

/**
 * Whether x is 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API logical_not
 * @example
 * logicalNot(tensor([true, false])).toArray() // [false, true]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function logicalNot (x, opts) {
  return unary(ops.logical_not, x, opts)
}

/**
 * Bits that both have.
 *
 * Takes bool and integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_and
 * @example
 * bitwiseAnd(tensor([6], 'uint8'), 3).toArray() // [2]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseAnd (x1, x2, opts) {
  return binary(ops.bitwise_and, x1, x2, opts)
}

/**
 * Bits that one has.
 *
 * Takes bool and integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_or
 * @example
 * bitwiseOr(tensor([6], 'uint8'), 1).toArray() // [7]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseOr (x1, x2, opts) {
  return binary(ops.bitwise_or, x1, x2, opts)
}

/**
 * Bits that exactly one has.
 *
 * Takes bool and integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_xor
 * @example
 * bitwiseXor(tensor([6], 'uint8'), 3).toArray() // [5]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseXor (x1, x2, opts) {
  return binary(ops.bitwise_xor, x1, x2, opts)
}

/**
 * Bits that x has not.
 *
 * Takes bool and integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_invert
 * @example
 * bitwiseInvert(tensor([1], 'uint8')).toArray() // [254]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseInvert (x, opts) {
  return unary(ops.bitwise_invert, x, opts)
}

/**
 * Computes x1 * 2 ** x2; by its width or more, or by less than 0, 0.
 *
 * Takes integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_left_shift
 * @example
 * bitwiseLeftShift(tensor([1, 3], 'uint8'), 2).toArray() // [4, 12]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseLeftShift (x1, x2, opts) {
  return binary(ops.bitwise_left_shift, x1, x2, opts)
}

/**
 * Computes x1 / 2 ** x2, rounded down; by its width or more, or by less than 0, 0 or -1.
 *
 * Takes integers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API bitwise_right_shift
 * @example
 * bitwiseRightShift(tensor([-4], 'int8'), 1).toArray() // [-2]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function bitwiseRightShift (x1, x2, opts) {
  return binary(ops.bitwise_right_shift, x1, x2, opts)
}

/**
 * The smallest integer that is not below x.
 *
 * Takes floats; integers stay as they are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API ceil
 * @example
 * ceil(tensor([1.2, -1.2])).toArray() // [2, -1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function ceil (x, opts) {
  return unary(ops.ceil, x, opts)
}

/**
 * The largest integer that is not above x.
 *
 * Takes floats; integers stay as they are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API floor
 * @example
 * floor(tensor([1.8, -1.2])).toArray() // [1, -2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function floor (x, opts) {
  return unary(ops.floor, x, opts)
}

/**
 * The integer part of x.
 *
 * Takes floats; integers stay as they are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API trunc
 * @example
 * trunc(tensor([1.8, -1.8])).toArray() // [1, -1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function trunc (x, opts) {
  return unary(ops.trunc, x, opts)
}

/**
 * The nearest integer; halves to the even one; of complex numbers both parts.
 *
 * Takes floats and complex numbers; integers stay as they are.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API round
 * @example
 * round(tensor([0.5, 1.5, 2.4])).toArray() // [0, 2, 2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function round (x, opts) {
  return unary(ops.round, x, opts)
}

/**
 * Whether x is neither infinite nor NaN.
 *
 * Takes integers, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API isfinite
 * @example
 * isfinite(tensor([1, Infinity, NaN])).toArray() // [true, false, false]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function isfinite (x, opts) {
  return unary(ops.isfinite, x, opts)
}

/**
 * Whether x is infinite.
 *
 * Takes integers, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API isinf
 * @example
 * isinf(tensor([1, Infinity, NaN])).toArray() // [false, true, false]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function isinf (x, opts) {
  return unary(ops.isinf, x, opts)
}

/**
 * Whether x is NaN.
 *
 * Takes integers, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API isnan
 * @example
 * isnan(tensor([1, Infinity, NaN])).toArray() // [false, false, true]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function isnan (x, opts) {
  return unary(ops.isnan, x, opts)
}

/**
 * Whether x has a minus sign, -0 and NaN included.
 *
 * Takes floats; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, 'bool'>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API signbit
 * @example
 * signbit(tensor([-1, -0, 2])).toArray() // [true, true, false]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function signbit (x, opts) {
  return unary(ops.signbit, x, opts)
}

/**
 * Gives x1 with the sign of x2.
 *
 * Takes floats; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API copysign
 * @example
 * copysign(tensor([1, 2]), tensor([-3, 4])).toArray() // [-1, 2]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function copysign (x1, x2, opts) {
  return binary(ops.copysign, x1, x2, opts)
}

/**
 * The number next to x1 on the side of x2.
 *
 * Takes floats; integers give float32.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API nextafter
 * @example
 * nextafter(tensor([0]), 1).toArray() // [1.401298464324817e-45]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function nextafter (x1, x2, opts) {
  return binary(ops.nextafter, x1, x2, opts)
}

/**
 * The real part.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, RealOf<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API real
 * @example
 * real(tensor([[1, 2]], [1], 'complex64')).toArray() // [1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function real (x, opts) {
  return unary(ops.real, x, opts)
}

/**
 * The imaginary part; of real numbers 0.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, RealOf<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API imag
 * @example
 * imag(tensor([[1, 2]], [1], 'complex64')).toArray() // [2]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function imag (x, opts) {
  return unary(ops.imag, x, opts)
}

/**
 * The conjugate: the imaginary part negated.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API conj
 * @example
 * conj(tensor([[1, 2]], [1], 'complex64')).toArray() // [[1, -2]]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function conj (x, opts) {
  return unary(ops.conj, x, opts)
}

/**
 * Gives e to the power of x.
 *
 * Takes floats and complex numbers; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API exp
 * @example
 * exp(tensor([0, 1])).toArray() // [1, 2.7182817459106445]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function exp (x, opts) {
  return unary(ops.exp, x, opts)
}

/**
 * Exp(x) - 1, exact near 0.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API expm1
 * @example
 * expm1(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function expm1 (x, opts) {
  return unary(ops.expm1, x, opts)
}

/**
 * The natural logarithm; NaN below 0.
 *
 * Takes floats and complex numbers; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API log
 * @example
 * log(tensor([1])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function log (x, opts) {
  return unary(ops.log, x, opts)
}

/**
 * Gives log(1 + x), exact near 0.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API log1p
 * @example
 * log1p(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function log1p (x, opts) {
  return unary(ops.log1p, x, opts)
}

/**
 * The logarithm to the base of 2.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API log2
 * @example
 * log2(tensor([1, 8])).toArray() // [0, 3]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function log2 (x, opts) {
  return unary(ops.log2, x, opts)
}

/**
 * The logarithm to the base of 10.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API log10
 * @example
 * log10(tensor([1, 1000])).toArray() // [0, 3]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function log10 (x, opts) {
  return unary(ops.log10, x, opts)
}

/**
 * The sine of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API sin
 * @example
 * sin(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function sin (x, opts) {
  return unary(ops.sin, x, opts)
}

/**
 * The cosine of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API cos
 * @example
 * cos(tensor([0])).toArray() // [1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function cos (x, opts) {
  return unary(ops.cos, x, opts)
}

/**
 * The tangent of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.5 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API tan
 * @example
 * tan(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function tan (x, opts) {
  return unary(ops.tan, x, opts)
}

/**
 * The angle whose sine is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.8 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API asin
 * @example
 * asin(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function asin (x, opts) {
  return unary(ops.asin, x, opts)
}

/**
 * The angle whose cosine is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.8 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API acos
 * @example
 * acos(tensor([1])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function acos (x, opts) {
  return unary(ops.acos, x, opts)
}

/**
 * The angle whose tangent is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.1 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API atan
 * @example
 * atan(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function atan (x, opts) {
  return unary(ops.atan, x, opts)
}

/**
 * The hyperbolic sine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API sinh
 * @example
 * sinh(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function sinh (x, opts) {
  return unary(ops.sinh, x, opts)
}

/**
 * The hyperbolic cosine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API cosh
 * @example
 * cosh(tensor([0])).toArray() // [1]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function cosh (x, opts) {
  return unary(ops.cosh, x, opts)
}

/**
 * The hyperbolic tangent.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.6 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API tanh
 * @example
 * tanh(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function tanh (x, opts) {
  return unary(ops.tanh, x, opts)
}

/**
 * The inverse hyperbolic sine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.8 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API asinh
 * @example
 * asinh(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function asinh (x, opts) {
  return unary(ops.asinh, x, opts)
}

/**
 * The inverse hyperbolic cosine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.5 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API acosh
 * @example
 * acosh(tensor([1])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function acosh (x, opts) {
  return unary(ops.acosh, x, opts)
}

/**
 * The inverse hyperbolic tangent.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.2 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API atanh
 * @example
 * atanh(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function atanh (x, opts) {
  return unary(ops.atanh, x, opts)
}

/**
 * The error function.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.8 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch special.erf
 * @example
 * erf(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function erf (x, opts) {
  return unary(ops.erf, x, opts)
}

/**
 * 1 / (1 + exp(-x)).
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch sigmoid
 * @example
 * sigmoid(tensor([0])).toArray() // [0.5]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function sigmoid (x, opts) {
  return unary(ops.sigmoid, x, opts)
}

/**
 * Computes x * sigmoid(x).
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.2 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch silu
 * @example
 * silu(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function silu (x, opts) {
  return unary(ops.silu, x, opts)
}

/**
 * Computes x * (1 + erf(x / sqrt(2))) / 2.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 5 units in the last place off.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see PyTorch gelu
 * @example
 * gelu(tensor([0])).toArray() // [0]
 */
/**
 * @param {any} x
 * @param {any} [opts]
 * @returns {any}
 */
function gelu (x, opts) {
  return unary(ops.gelu, x, opts)
}

/**
 * Gives x1 to the power of x2; a negative power of an integer is 0, except of 1 and -1.
 *
 * Takes integers, which wrap, and floats. float32 is at most 0.501 units in the last place off, float64 less than 2.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API pow
 * @example
 * pow(tensor([2, 3]), 2).toArray() // [4, 9]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, D>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function pow (x1, x2, opts) {
  return binary(ops.pow, x1, x2, opts)
}

/**
 * The angle of the point (x2, x1).
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 2.2.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API atan2
 * @example
 * atan2(tensor([0, 0]), tensor([1, 2])).toArray() // [0, 0]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function atan2 (x1, x2, opts) {
  return binary(ops.atan2, x1, x2, opts)
}

/**
 * The root of x1 * x1 + x2 * x2.
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 1.4.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API hypot
 * @example
 * hypot(tensor([3]), tensor([4])).toArray() // [5]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function hypot (x1, x2, opts) {
  return binary(ops.hypot, x1, x2, opts)
}

/**
 * Gives log(exp(x1) + exp(x2)); where that is below 1/4 the error is up to 2^-55 more.
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 1.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {OfOne<D, Tensor<D>>} x2  the two are broadcast
 * @param {MathOptions<E, O> | NameOf<E>} [opts]  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API logaddexp
 * @example
 * logaddexp(tensor([-Infinity]), tensor([1])).toArray() // [1]
 */
/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<A>} x1
 * @param {Tensor<B>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {Tensor<D>} x1
 * @param {InputOf<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @overload
 * @param {InputOf<D>} x1
 * @param {Tensor<D>} x2
 * @param {MathOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Floated<Or<E, D>>>>}
 * @throws as with one dtype
 */
/**
 * @param {any} x1
 * @param {any} x2
 * @param {any} [opts]
 * @returns {any}
 */
function logaddexp (x1, x2, opts) {
  return binary(ops.logaddexp, x1, x2, opts)
}

module.exports = {
  add,
  subtract,
  multiply,
  divide,
  floorDivide,
  remainder,
  negative,
  positive,
  abs,
  sign,
  square,
  reciprocal,
  sqrt,
  relu,
  maximum,
  minimum,
  clip,
  where,
  equal,
  notEqual,
  less,
  lessEqual,
  greater,
  greaterEqual,
  logicalAnd,
  logicalOr,
  logicalXor,
  logicalNot,
  bitwiseAnd,
  bitwiseOr,
  bitwiseXor,
  bitwiseInvert,
  bitwiseLeftShift,
  bitwiseRightShift,
  ceil,
  floor,
  trunc,
  round,
  isfinite,
  isinf,
  isnan,
  signbit,
  copysign,
  nextafter,
  real,
  imag,
  conj,
  exp,
  expm1,
  log,
  log1p,
  log2,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  sigmoid,
  silu,
  gelu,
  pow,
  atan2,
  hypot,
  logaddexp
}
