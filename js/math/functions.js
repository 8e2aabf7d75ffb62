'use strict'
// Made from src/math/ops.def by `npm run generate`: a function for each row.

const { ops } = require('./calls/calls')
const { unary, binary } = require('./elementwise')
const choices = require('./choices')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, DtypeName, DtypeOfValue, Floated, InputOf, MathOptions, NameOf, OfOne, Or, Promote, RealOf, Value } from '../base/types' */

/** A function as it is written below: what it calls checks the arguments. @typedef {(...given: any[]) => any} Body */

/**
 * Dtypes are promoted as by promoteTypes.
 *
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @param x2  the two are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, Promote<A, B>>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 * }} Add
 */

/**
 * Dtypes are promoted as by promoteTypes.
 *
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @param x2  the two are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Floated<Or<E, D>>>>
 *   <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Floated<Or<E, D>>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Floated<Or<E, D>>>>
 * }} Divide
 */

/**
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 * }} Negative
 */

/**
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, RealOf<Or<E, D>>>>
 * }} Abs
 */

/**
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Floated<Or<E, D>>>>
 * }} Reciprocal
 */

/**
 * Dtypes are promoted as by promoteTypes.
 *
 * @param min  a scalar takes x's dtype, and has to fit it; undefined or null: there is no bound
 * @param max  likewise; the three are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min?: OfOne<D, Tensor<D>> | InputOf<D> | null, max?: OfOne<D, Tensor<D>> | InputOf<D> | null, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <D extends DtypeName, A extends DtypeName = D, B extends DtypeName = D, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min: InputOf<D> | Tensor<A> | null | undefined, max?: InputOf<D> | Tensor<B> | null | undefined, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, Promote<Promote<D, A>, B>>>>
 * }} Clip
 */

/**
 * Dtypes are promoted as by promoteTypes.
 *
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * Two scalars have the dtype that full gives them.
 *
 * @param condition  what is not zero counts as true
 * @param x2  all three are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<A>, x2: Tensor<B>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, Promote<A, B>>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<D>, x2: InputOf<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: InputOf<D>, x2: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, D>>>
 *   <V extends Value, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: V, x2: V, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, Or<E, DtypeOfValue<V>>>>
 * }} Where
 */

/**
 * A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it.
 *
 * @param x2  the two are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 * }} Equal
 */

/**
 * A scalar takes the tensor's dtype, and has to fit it.
 *
 * @param x2  the two are broadcast
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 * }} LogicalAnd
 */

/**
 * @param opts  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @typedef {{
 *   <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: MathOptions<E, O> | NameOf<E>): Tensor<Or<O, 'bool'>>
 * }} LogicalNot
 */

/**
 * Computes x1 + x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Add}
 * @see array API add
 * @example
 * add(tensor([1, 2]), tensor([3, 4])).toArray() // [4, 6]
 */
const add = /** @type {Body} */ ((x1, x2, opts) => binary(ops.add, x1, x2, opts))

/**
 * Computes x1 - x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Add}
 * @see array API subtract
 * @example
 * subtract(tensor([3, 4]), tensor([1, 2])).toArray() // [2, 2]
 */
const subtract = /** @type {Body} */ ((x1, x2, opts) => binary(ops.subtract, x1, x2, opts))

/**
 * Computes x1 * x2.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Add}
 * @see array API multiply
 * @example
 * multiply(tensor([1, 2]), 3).toArray() // [3, 6]
 */
const multiply = /** @type {Body} */ ((x1, x2, opts) => binary(ops.multiply, x1, x2, opts))

/**
 * Computes x1 / x2; of integers as floats.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @type {Divide}
 * @see array API divide
 * @example
 * divide(tensor([1, 3], 'int32'), 2).toArray() // [0.5, 1.5]
 */
const divide = /** @type {Body} */ ((x1, x2, opts) => binary(ops.divide, x1, x2, opts))

/**
 * The largest integer that is not above x1 / x2; of integers by zero 0.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Add}
 * @see array API floor_divide
 * @example
 * floorDivide(tensor([7, -7], 'int32'), 2).toArray() // [3, -4]
 */
const floorDivide = /** @type {Body} */ ((x1, x2, opts) => binary(ops.floor_divide, x1, x2, opts))

/**
 * Computes x1 - x2 * floor(x1 / x2), of the sign of x2; of integers by zero 0.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Add}
 * @see array API remainder
 * @example
 * remainder(tensor([7, -7], 'int32'), 3).toArray() // [1, 2]
 */
const remainder = /** @type {Body} */ ((x1, x2, opts) => binary(ops.remainder, x1, x2, opts))

/**
 * Computes -x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Negative}
 * @see array API negative
 * @example
 * negative(tensor([1, -2])).toArray() // [-1, 2]
 */
const negative = /** @type {Body} */ ((x, opts) => unary(ops.negative, x, opts))

/**
 * Gives x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Negative}
 * @see array API positive
 * @example
 * positive(tensor([1, -2])).toArray() // [1, -2]
 */
const positive = /** @type {Body} */ ((x, opts) => unary(ops.positive, x, opts))

/**
 * The absolute value; of complex numbers the length.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @type {Abs}
 * @see array API abs
 * @example
 * abs(tensor([-1.5, 2])).toArray() // [1.5, 2]
 */
const abs = /** @type {Body} */ ((x, opts) => unary(ops.abs, x, opts))

/**
 * Computes -1, 0 or 1; NaN stays; of complex numbers x / abs(x), and 0 of 0.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Negative}
 * @see array API sign
 * @example
 * sign(tensor([-3, 0, 2])).toArray() // [-1, 0, 1]
 */
const sign = /** @type {Body} */ ((x, opts) => unary(ops.sign, x, opts))

/**
 * Computes x * x.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Negative}
 * @see array API square
 * @example
 * square(tensor([2, 3])).toArray() // [4, 9]
 */
const square = /** @type {Body} */ ((x, opts) => unary(ops.square, x, opts))

/**
 * 1 / x; of integers as floats.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @type {Reciprocal}
 * @see array API reciprocal
 * @example
 * reciprocal(tensor([2, 4])).toArray() // [0.5, 0.25]
 */
const reciprocal = /** @type {Body} */ ((x, opts) => unary(ops.reciprocal, x, opts))

/**
 * The square root; NaN below 0.
 *
 * Takes floats and complex numbers; integers give float32.
 *
 * @type {Reciprocal}
 * @see array API sqrt
 * @example
 * sqrt(tensor([4, 9])).toArray() // [2, 3]
 */
const sqrt = /** @type {Body} */ ((x, opts) => unary(ops.sqrt, x, opts))

/**
 * Gives x where it is above 0, else 0; NaN stays.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Negative}
 * @see PyTorch relu
 * @example
 * relu(tensor([-1, 2])).toArray() // [0, 2]
 */
const relu = /** @type {Body} */ ((x, opts) => unary(ops.relu, x, opts))

/**
 * The larger one; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Add}
 * @see array API maximum
 * @example
 * maximum(tensor([1, NaN]), tensor([2, 0])).toArray() // [2, NaN]
 */
const maximum = /** @type {Body} */ ((x1, x2, opts) => binary(ops.maximum, x1, x2, opts))

/**
 * The smaller one; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Add}
 * @see array API minimum
 * @example
 * minimum(tensor([1, NaN]), tensor([2, 0])).toArray() // [1, NaN]
 */
const minimum = /** @type {Body} */ ((x1, x2, opts) => binary(ops.minimum, x1, x2, opts))

/**
 * Gives x, at least min and at most max; NaN wins.
 *
 * Takes integers, which wrap, and floats.
 *
 * @type {Clip}
 * @see array API clip
 * @example
 * clip(tensor([-1, 0.5, 2]), 0, 1).toArray() // [0, 0.5, 1]
 */
const clip = /** @type {Body} */ ((x, min, max, opts) => choices.clip(x, min, max, opts))

/**
 * Gives x1 where the condition holds, else x2.
 *
 * Takes all dtypes.
 *
 * @type {Where}
 * @see array API where
 * @example
 * where(tensor([true, false]), tensor([1, 2]), 0).toArray() // [1, 0]
 */
const where = /** @type {Body} */ ((condition, x1, x2, opts) => choices.where(condition, x1, x2, opts))

/**
 * Computes x1 == x2.
 *
 * Takes all dtypes, compared by value.
 *
 * @type {Equal}
 * @see array API equal
 * @example
 * equal(tensor([1, 2]), 2).toArray() // [false, true]
 */
const equal = /** @type {Body} */ ((x1, x2, opts) => binary(ops.equal, x1, x2, opts))

/**
 * Computes x1 != x2.
 *
 * Takes all dtypes, compared by value.
 *
 * @type {Equal}
 * @see array API not_equal
 * @example
 * notEqual(tensor([1, 2]), 2).toArray() // [true, false]
 */
const notEqual = /** @type {Body} */ ((x1, x2, opts) => binary(ops.not_equal, x1, x2, opts))

/**
 * Computes x1 < x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @type {Equal}
 * @see array API less
 * @example
 * less(tensor([1, 2, 3]), 2).toArray() // [true, false, false]
 */
const less = /** @type {Body} */ ((x1, x2, opts) => binary(ops.less, x1, x2, opts))

/**
 * Computes x1 <= x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @type {Equal}
 * @see array API less_equal
 * @example
 * lessEqual(tensor([1, 2, 3]), 2).toArray() // [true, true, false]
 */
const lessEqual = /** @type {Body} */ ((x1, x2, opts) => binary(ops.less_equal, x1, x2, opts))

/**
 * Computes x1 > x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @type {Equal}
 * @see array API greater
 * @example
 * greater(tensor([1, 2, 3]), 2).toArray() // [false, false, true]
 */
const greater = /** @type {Body} */ ((x1, x2, opts) => binary(ops.greater, x1, x2, opts))

/**
 * Computes x1 >= x2.
 *
 * Takes all dtypes but complex ones, compared by value.
 *
 * @type {Equal}
 * @see array API greater_equal
 * @example
 * greaterEqual(tensor([1, 2, 3]), 2).toArray() // [false, true, true]
 */
const greaterEqual = /** @type {Body} */ ((x1, x2, opts) => binary(ops.greater_equal, x1, x2, opts))

/**
 * Whether both are other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @type {LogicalAnd}
 * @see array API logical_and
 * @example
 * logicalAnd(tensor([true, true]), tensor([true, false])).toArray() // [true, false]
 */
const logicalAnd = /** @type {Body} */ ((x1, x2, opts) => binary(ops.logical_and, x1, x2, opts))

/**
 * Whether one is other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @type {LogicalAnd}
 * @see array API logical_or
 * @example
 * logicalOr(tensor([true, false]), tensor([false, false])).toArray() // [true, false]
 */
const logicalOr = /** @type {Body} */ ((x1, x2, opts) => binary(ops.logical_or, x1, x2, opts))

/**
 * Whether exactly one is other than 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @type {LogicalAnd}
 * @see array API logical_xor
 * @example
 * logicalXor(tensor([true, true]), tensor([true, false])).toArray() // [false, true]
 */
const logicalXor = /** @type {Body} */ ((x1, x2, opts) => binary(ops.logical_xor, x1, x2, opts))

/**
 * Whether x is 0.
 *
 * Takes all dtypes: what is not zero counts as true.
 *
 * @type {LogicalNot}
 * @see array API logical_not
 * @example
 * logicalNot(tensor([true, false])).toArray() // [false, true]
 */
const logicalNot = /** @type {Body} */ ((x, opts) => unary(ops.logical_not, x, opts))

/**
 * Bits that both have.
 *
 * Takes bool and integers.
 *
 * @type {Add}
 * @see array API bitwise_and
 * @example
 * bitwiseAnd(tensor([6], 'uint8'), 3).toArray() // [2]
 */
const bitwiseAnd = /** @type {Body} */ ((x1, x2, opts) => binary(ops.bitwise_and, x1, x2, opts))

/**
 * Bits that one has.
 *
 * Takes bool and integers.
 *
 * @type {Add}
 * @see array API bitwise_or
 * @example
 * bitwiseOr(tensor([6], 'uint8'), 1).toArray() // [7]
 */
const bitwiseOr = /** @type {Body} */ ((x1, x2, opts) => binary(ops.bitwise_or, x1, x2, opts))

/**
 * Bits that exactly one has.
 *
 * Takes bool and integers.
 *
 * @type {Add}
 * @see array API bitwise_xor
 * @example
 * bitwiseXor(tensor([6], 'uint8'), 3).toArray() // [5]
 */
const bitwiseXor = /** @type {Body} */ ((x1, x2, opts) => binary(ops.bitwise_xor, x1, x2, opts))

/**
 * Bits that x has not.
 *
 * Takes bool and integers.
 *
 * @type {Negative}
 * @see array API bitwise_invert
 * @example
 * bitwiseInvert(tensor([1], 'uint8')).toArray() // [254]
 */
const bitwiseInvert = /** @type {Body} */ ((x, opts) => unary(ops.bitwise_invert, x, opts))

/**
 * Computes x1 * 2 ** x2; by its width or more, or by less than 0, 0.
 *
 * Takes integers.
 *
 * @type {Add}
 * @see array API bitwise_left_shift
 * @example
 * bitwiseLeftShift(tensor([1, 3], 'uint8'), 2).toArray() // [4, 12]
 */
const bitwiseLeftShift = /** @type {Body} */ ((x1, x2, opts) => binary(ops.bitwise_left_shift, x1, x2, opts))

/**
 * Computes x1 / 2 ** x2, rounded down; by its width or more, or by less than 0, 0 or -1.
 *
 * Takes integers.
 *
 * @type {Add}
 * @see array API bitwise_right_shift
 * @example
 * bitwiseRightShift(tensor([-4], 'int8'), 1).toArray() // [-2]
 */
const bitwiseRightShift = /** @type {Body} */ ((x1, x2, opts) => binary(ops.bitwise_right_shift, x1, x2, opts))

/**
 * The smallest integer that is not below x.
 *
 * Takes floats; integers stay as they are.
 *
 * @type {Negative}
 * @see array API ceil
 * @example
 * ceil(tensor([1.2, -1.2])).toArray() // [2, -1]
 */
const ceil = /** @type {Body} */ ((x, opts) => unary(ops.ceil, x, opts))

/**
 * The largest integer that is not above x.
 *
 * Takes floats; integers stay as they are.
 *
 * @type {Negative}
 * @see array API floor
 * @example
 * floor(tensor([1.8, -1.2])).toArray() // [1, -2]
 */
const floor = /** @type {Body} */ ((x, opts) => unary(ops.floor, x, opts))

/**
 * The integer part of x.
 *
 * Takes floats; integers stay as they are.
 *
 * @type {Negative}
 * @see array API trunc
 * @example
 * trunc(tensor([1.8, -1.8])).toArray() // [1, -1]
 */
const trunc = /** @type {Body} */ ((x, opts) => unary(ops.trunc, x, opts))

/**
 * The nearest integer; halves to the even one; of complex numbers both parts.
 *
 * Takes floats and complex numbers; integers stay as they are.
 *
 * @type {Negative}
 * @see array API round
 * @example
 * round(tensor([0.5, 1.5, 2.4])).toArray() // [0, 2, 2]
 */
const round = /** @type {Body} */ ((x, opts) => unary(ops.round, x, opts))

/**
 * Whether x is neither infinite nor NaN.
 *
 * Takes integers, floats and complex numbers.
 *
 * @type {LogicalNot}
 * @see array API isfinite
 * @example
 * isfinite(tensor([1, Infinity, NaN])).toArray() // [true, false, false]
 */
const isfinite = /** @type {Body} */ ((x, opts) => unary(ops.isfinite, x, opts))

/**
 * Whether x is infinite.
 *
 * Takes integers, floats and complex numbers.
 *
 * @type {LogicalNot}
 * @see array API isinf
 * @example
 * isinf(tensor([1, Infinity, NaN])).toArray() // [false, true, false]
 */
const isinf = /** @type {Body} */ ((x, opts) => unary(ops.isinf, x, opts))

/**
 * Whether x is NaN.
 *
 * Takes integers, floats and complex numbers.
 *
 * @type {LogicalNot}
 * @see array API isnan
 * @example
 * isnan(tensor([1, Infinity, NaN])).toArray() // [false, false, true]
 */
const isnan = /** @type {Body} */ ((x, opts) => unary(ops.isnan, x, opts))

/**
 * Whether x has a minus sign, -0 and NaN included.
 *
 * Takes floats; integers give float32.
 *
 * @type {LogicalNot}
 * @see array API signbit
 * @example
 * signbit(tensor([-1, -0, 2])).toArray() // [true, true, false]
 */
const signbit = /** @type {Body} */ ((x, opts) => unary(ops.signbit, x, opts))

/**
 * Gives x1 with the sign of x2.
 *
 * Takes floats; integers give float32.
 *
 * @type {Divide}
 * @see array API copysign
 * @example
 * copysign(tensor([1, 2]), tensor([-3, 4])).toArray() // [-1, 2]
 */
const copysign = /** @type {Body} */ ((x1, x2, opts) => binary(ops.copysign, x1, x2, opts))

/**
 * The number next to x1 on the side of x2.
 *
 * Takes floats; integers give float32.
 *
 * @type {Divide}
 * @see array API nextafter
 * @example
 * nextafter(tensor([0]), 1).toArray() // [1.401298464324817e-45]
 */
const nextafter = /** @type {Body} */ ((x1, x2, opts) => binary(ops.nextafter, x1, x2, opts))

/**
 * The real part.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @type {Abs}
 * @see array API real
 * @example
 * real(tensor([[1, 2]], [1], 'complex64')).toArray() // [1]
 */
const real = /** @type {Body} */ ((x, opts) => unary(ops.real, x, opts))

/**
 * The imaginary part; of real numbers 0.
 *
 * Takes integers, which wrap, floats and complex numbers. The parts of complex numbers are floats.
 *
 * @type {Abs}
 * @see array API imag
 * @example
 * imag(tensor([[1, 2]], [1], 'complex64')).toArray() // [2]
 */
const imag = /** @type {Body} */ ((x, opts) => unary(ops.imag, x, opts))

/**
 * The conjugate: the imaginary part negated.
 *
 * Takes integers, which wrap, floats and complex numbers.
 *
 * @type {Negative}
 * @see array API conj
 * @example
 * conj(tensor([[1, 2]], [1], 'complex64')).toArray() // [[1, -2]]
 */
const conj = /** @type {Body} */ ((x, opts) => unary(ops.conj, x, opts))

/**
 * Gives e to the power of x.
 *
 * Takes floats and complex numbers; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API exp
 * @example
 * exp(tensor([0, 1])).toArray() // [1, 2.7182817459106445]
 */
const exp = /** @type {Body} */ ((x, opts) => unary(ops.exp, x, opts))

/**
 * Exp(x) - 1, exact near 0.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API expm1
 * @example
 * expm1(tensor([0])).toArray() // [0]
 */
const expm1 = /** @type {Body} */ ((x, opts) => unary(ops.expm1, x, opts))

/**
 * The natural logarithm; NaN below 0.
 *
 * Takes floats and complex numbers; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API log
 * @example
 * log(tensor([1])).toArray() // [0]
 */
const log = /** @type {Body} */ ((x, opts) => unary(ops.log, x, opts))

/**
 * Gives log(1 + x), exact near 0.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API log1p
 * @example
 * log1p(tensor([0])).toArray() // [0]
 */
const log1p = /** @type {Body} */ ((x, opts) => unary(ops.log1p, x, opts))

/**
 * The logarithm to the base of 2.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API log2
 * @example
 * log2(tensor([1, 8])).toArray() // [0, 3]
 */
const log2 = /** @type {Body} */ ((x, opts) => unary(ops.log2, x, opts))

/**
 * The logarithm to the base of 10.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API log10
 * @example
 * log10(tensor([1, 1000])).toArray() // [0, 3]
 */
const log10 = /** @type {Body} */ ((x, opts) => unary(ops.log10, x, opts))

/**
 * The sine of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API sin
 * @example
 * sin(tensor([0])).toArray() // [0]
 */
const sin = /** @type {Body} */ ((x, opts) => unary(ops.sin, x, opts))

/**
 * The cosine of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.9 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API cos
 * @example
 * cos(tensor([0])).toArray() // [1]
 */
const cos = /** @type {Body} */ ((x, opts) => unary(ops.cos, x, opts))

/**
 * The tangent of x radians.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.5 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API tan
 * @example
 * tan(tensor([0])).toArray() // [0]
 */
const tan = /** @type {Body} */ ((x, opts) => unary(ops.tan, x, opts))

/**
 * The angle whose sine is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.8 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API asin
 * @example
 * asin(tensor([0])).toArray() // [0]
 */
const asin = /** @type {Body} */ ((x, opts) => unary(ops.asin, x, opts))

/**
 * The angle whose cosine is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 0.8 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API acos
 * @example
 * acos(tensor([1])).toArray() // [0]
 */
const acos = /** @type {Body} */ ((x, opts) => unary(ops.acos, x, opts))

/**
 * The angle whose tangent is x.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.1 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API atan
 * @example
 * atan(tensor([0])).toArray() // [0]
 */
const atan = /** @type {Body} */ ((x, opts) => unary(ops.atan, x, opts))

/**
 * The hyperbolic sine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API sinh
 * @example
 * sinh(tensor([0])).toArray() // [0]
 */
const sinh = /** @type {Body} */ ((x, opts) => unary(ops.sinh, x, opts))

/**
 * The hyperbolic cosine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API cosh
 * @example
 * cosh(tensor([0])).toArray() // [1]
 */
const cosh = /** @type {Body} */ ((x, opts) => unary(ops.cosh, x, opts))

/**
 * The hyperbolic tangent.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.6 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API tanh
 * @example
 * tanh(tensor([0])).toArray() // [0]
 */
const tanh = /** @type {Body} */ ((x, opts) => unary(ops.tanh, x, opts))

/**
 * The inverse hyperbolic sine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.8 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API asinh
 * @example
 * asinh(tensor([0])).toArray() // [0]
 */
const asinh = /** @type {Body} */ ((x, opts) => unary(ops.asinh, x, opts))

/**
 * The inverse hyperbolic cosine.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.5 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API acosh
 * @example
 * acosh(tensor([1])).toArray() // [0]
 */
const acosh = /** @type {Body} */ ((x, opts) => unary(ops.acosh, x, opts))

/**
 * The inverse hyperbolic tangent.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.2 units in the last place off.
 *
 * @type {Reciprocal}
 * @see array API atanh
 * @example
 * atanh(tensor([0])).toArray() // [0]
 */
const atanh = /** @type {Body} */ ((x, opts) => unary(ops.atanh, x, opts))

/**
 * The error function.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.8 units in the last place off.
 *
 * @type {Reciprocal}
 * @see PyTorch special.erf
 * @example
 * erf(tensor([0])).toArray() // [0]
 */
const erf = /** @type {Body} */ ((x, opts) => unary(ops.erf, x, opts))

/**
 * 1 / (1 + exp(-x)).
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 1.4 units in the last place off.
 *
 * @type {Reciprocal}
 * @see PyTorch sigmoid
 * @example
 * sigmoid(tensor([0])).toArray() // [0.5]
 */
const sigmoid = /** @type {Body} */ ((x, opts) => unary(ops.sigmoid, x, opts))

/**
 * Computes x * sigmoid(x).
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 2.2 units in the last place off.
 *
 * @type {Reciprocal}
 * @see PyTorch silu
 * @example
 * silu(tensor([0])).toArray() // [0]
 */
const silu = /** @type {Body} */ ((x, opts) => unary(ops.silu, x, opts))

/**
 * Computes x * (1 + erf(x / sqrt(2))) / 2.
 *
 * Takes floats; integers give float32. float32 is correctly rounded, float64 less than 5 units in the last place off.
 *
 * @type {Reciprocal}
 * @see PyTorch gelu
 * @example
 * gelu(tensor([0])).toArray() // [0]
 */
const gelu = /** @type {Body} */ ((x, opts) => unary(ops.gelu, x, opts))

/**
 * Gives x1 to the power of x2; a negative power of an integer is 0, except of 1 and -1.
 *
 * Takes integers, which wrap, and floats. float32 is at most 0.501 units in the last place off, float64 less than 2.
 *
 * @type {Add}
 * @see array API pow
 * @example
 * pow(tensor([2, 3]), 2).toArray() // [4, 9]
 */
const pow = /** @type {Body} */ ((x1, x2, opts) => binary(ops.pow, x1, x2, opts))

/**
 * The angle of the point (x2, x1).
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 2.2.
 *
 * @type {Divide}
 * @see array API atan2
 * @example
 * atan2(tensor([0, 0]), tensor([1, 2])).toArray() // [0, 0]
 */
const atan2 = /** @type {Body} */ ((x1, x2, opts) => binary(ops.atan2, x1, x2, opts))

/**
 * The root of x1 * x1 + x2 * x2.
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 1.4.
 *
 * @type {Divide}
 * @see array API hypot
 * @example
 * hypot(tensor([3]), tensor([4])).toArray() // [5]
 */
const hypot = /** @type {Body} */ ((x1, x2, opts) => binary(ops.hypot, x1, x2, opts))

/**
 * Gives log(exp(x1) + exp(x2)); where that is below 1/4 the error is up to 2^-55 more.
 *
 * Takes floats; integers give float32. float32 is at most 0.501 units in the last place off, float64 less than 1.
 *
 * @type {Divide}
 * @see array API logaddexp
 * @example
 * logaddexp(tensor([-Infinity]), tensor([1])).toArray() // [1]
 */
const logaddexp = /** @type {Body} */ ((x1, x2, opts) => binary(ops.logaddexp, x1, x2, opts))

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
