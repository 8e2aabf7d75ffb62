'use strict'
// Made by `npm run docs`: each function of samebytes/math without blocking the event loop.

const { later } = require('./later')
const functions = require('./functions')
const reductions = require('./reductions')
const softmax = require('./softmax')
const norms = require('./norms')
const matrices = require('./matrices')
const linalg = require('./linalg')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, Casting, DtypeName, DtypeOfValue, Floated, InputOf, LaterOptions, NameOf, OfOne, Or, Promote, RealOf, Signal, Summed, Value } from '../base/types' */

/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>> }} AddAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>>; <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>> }} DivideAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>> }} NegativeAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, RealOf<Or<E, D>>>>> }} AbsAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>> }} ReciprocalAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min?: OfOne<D, Tensor<D>> | InputOf<D> | null, max?: OfOne<D, Tensor<D>> | InputOf<D> | null, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <D extends DtypeName, A extends DtypeName = D, B extends DtypeName = D, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min: Tensor<A> | InputOf<D> | null | undefined, max?: Tensor<B> | InputOf<D> | null | undefined, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, Promote<Promote<D, A>, B>>>>> }} ClipAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <V extends Value, E extends DtypeName = never, O extends DtypeName = never>(condition: AnyTensor | boolean, x1: V, x2: V, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, DtypeOfValue<V>>>>> }} WhereAsync */
/** @typedef {{ <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, 'bool'>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, 'bool'>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, 'bool'>>> }} EqualAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, 'bool'>>> }} LogicalNotAsync */

/**
 * add without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as add, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await addAsync(tensor([1, 2]), tensor([3, 4]))).toArray() // [4, 6]
 */
const addAsync = later(functions.add)

/**
 * subtract without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as subtract, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await subtractAsync(tensor([3, 4]), tensor([1, 2]))).toArray() // [2, 2]
 */
const subtractAsync = later(functions.subtract)

/**
 * multiply without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as multiply, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await multiplyAsync(tensor([1, 2]), 3)).toArray() // [3, 6]
 */
const multiplyAsync = later(functions.multiply)

/**
 * divide without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as divide, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await divideAsync(tensor([1, 3], 'int32'), 2)).toArray() // [0.5, 1.5]
 */
const divideAsync = later(functions.divide)

/**
 * floorDivide without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as floorDivide, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await floorDivideAsync(tensor([7, -7], 'int32'), 2)).toArray() // [3, -4]
 */
const floorDivideAsync = later(functions.floorDivide)

/**
 * remainder without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as remainder, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await remainderAsync(tensor([7, -7], 'int32'), 3)).toArray() // [1, 2]
 */
const remainderAsync = later(functions.remainder)

/**
 * negative without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as negative, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await negativeAsync(tensor([1, -2]))).toArray() // [-1, 2]
 */
const negativeAsync = later(functions.negative)

/**
 * positive without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as positive, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await positiveAsync(tensor([1, -2]))).toArray() // [1, -2]
 */
const positiveAsync = later(functions.positive)

/**
 * abs without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as abs, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await absAsync(tensor([-1.5, 2]))).toArray() // [1.5, 2]
 */
const absAsync = later(functions.abs)

/**
 * sign without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as sign, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await signAsync(tensor([-3, 0, 2]))).toArray() // [-1, 0, 1]
 */
const signAsync = later(functions.sign)

/**
 * square without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as square, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await squareAsync(tensor([2, 3]))).toArray() // [4, 9]
 */
const squareAsync = later(functions.square)

/**
 * reciprocal without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as reciprocal, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await reciprocalAsync(tensor([2, 4]))).toArray() // [0.5, 0.25]
 */
const reciprocalAsync = later(functions.reciprocal)

/**
 * sqrt without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sqrt, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sqrtAsync(tensor([4, 9]))).toArray() // [2, 3]
 */
const sqrtAsync = later(functions.sqrt)

/**
 * relu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as relu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await reluAsync(tensor([-1, 2]))).toArray() // [0, 2]
 */
const reluAsync = later(functions.relu)

/**
 * maximum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as maximum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await maximumAsync(tensor([1, NaN]), tensor([2, 0]))).toArray() // [2, NaN]
 */
const maximumAsync = later(functions.maximum)

/**
 * minimum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as minimum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await minimumAsync(tensor([1, NaN]), tensor([2, 0]))).toArray() // [1, NaN]
 */
const minimumAsync = later(functions.minimum)

/**
 * clip without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ClipAsync}
 * @throws as clip, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await clipAsync(tensor([-1, 0.5, 2]), 0, 1)).toArray() // [0, 0.5, 1]
 */
const clipAsync = later(functions.clip)

/**
 * where without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {WhereAsync}
 * @throws as where, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await whereAsync(tensor([true, false]), tensor([1, 2]), 0)).toArray() // [1, 0]
 */
const whereAsync = later(functions.where)

/**
 * equal without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as equal, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await equalAsync(tensor([1, 2]), 2)).toArray() // [false, true]
 */
const equalAsync = later(functions.equal)

/**
 * notEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as notEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await notEqualAsync(tensor([1, 2]), 2)).toArray() // [true, false]
 */
const notEqualAsync = later(functions.notEqual)

/**
 * less without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as less, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await lessAsync(tensor([1, 2, 3]), 2)).toArray() // [true, false, false]
 */
const lessAsync = later(functions.less)

/**
 * lessEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as lessEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await lessEqualAsync(tensor([1, 2, 3]), 2)).toArray() // [true, true, false]
 */
const lessEqualAsync = later(functions.lessEqual)

/**
 * greater without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as greater, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await greaterAsync(tensor([1, 2, 3]), 2)).toArray() // [false, false, true]
 */
const greaterAsync = later(functions.greater)

/**
 * greaterEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as greaterEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await greaterEqualAsync(tensor([1, 2, 3]), 2)).toArray() // [false, true, true]
 */
const greaterEqualAsync = later(functions.greaterEqual)

/**
 * logicalAnd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalAnd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalAndAsync(tensor([true, true]), tensor([true, false]))).toArray() // [true, false]
 */
const logicalAndAsync = later(functions.logicalAnd)

/**
 * logicalOr without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalOr, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalOrAsync(tensor([true, false]), tensor([false, false]))).toArray() // [true, false]
 */
const logicalOrAsync = later(functions.logicalOr)

/**
 * logicalXor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalXor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalXorAsync(tensor([true, true]), tensor([true, false]))).toArray() // [false, true]
 */
const logicalXorAsync = later(functions.logicalXor)

/**
 * logicalNot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as logicalNot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalNotAsync(tensor([true, false]))).toArray() // [false, true]
 */
const logicalNotAsync = later(functions.logicalNot)

/**
 * bitwiseAnd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseAnd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseAndAsync(tensor([6], 'uint8'), 3)).toArray() // [2]
 */
const bitwiseAndAsync = later(functions.bitwiseAnd)

/**
 * bitwiseOr without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseOr, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseOrAsync(tensor([6], 'uint8'), 1)).toArray() // [7]
 */
const bitwiseOrAsync = later(functions.bitwiseOr)

/**
 * bitwiseXor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseXor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseXorAsync(tensor([6], 'uint8'), 3)).toArray() // [5]
 */
const bitwiseXorAsync = later(functions.bitwiseXor)

/**
 * bitwiseInvert without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as bitwiseInvert, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseInvertAsync(tensor([1], 'uint8'))).toArray() // [254]
 */
const bitwiseInvertAsync = later(functions.bitwiseInvert)

/**
 * bitwiseLeftShift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseLeftShift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseLeftShiftAsync(tensor([1, 3], 'uint8'), 2)).toArray() // [4, 12]
 */
const bitwiseLeftShiftAsync = later(functions.bitwiseLeftShift)

/**
 * bitwiseRightShift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseRightShift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseRightShiftAsync(tensor([-4], 'int8'), 1)).toArray() // [-2]
 */
const bitwiseRightShiftAsync = later(functions.bitwiseRightShift)

/**
 * ceil without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as ceil, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ceilAsync(tensor([1.2, -1.2]))).toArray() // [2, -1]
 */
const ceilAsync = later(functions.ceil)

/**
 * floor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as floor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await floorAsync(tensor([1.8, -1.2]))).toArray() // [1, -2]
 */
const floorAsync = later(functions.floor)

/**
 * trunc without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as trunc, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await truncAsync(tensor([1.8, -1.8]))).toArray() // [1, -1]
 */
const truncAsync = later(functions.trunc)

/**
 * round without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as round, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await roundAsync(tensor([0.5, 1.5, 2.4]))).toArray() // [0, 2, 2]
 */
const roundAsync = later(functions.round)

/**
 * isfinite without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isfinite, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isfiniteAsync(tensor([1, Infinity, NaN]))).toArray() // [true, false, false]
 */
const isfiniteAsync = later(functions.isfinite)

/**
 * isinf without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isinf, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isinfAsync(tensor([1, Infinity, NaN]))).toArray() // [false, true, false]
 */
const isinfAsync = later(functions.isinf)

/**
 * isnan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isnan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isnanAsync(tensor([1, Infinity, NaN]))).toArray() // [false, false, true]
 */
const isnanAsync = later(functions.isnan)

/**
 * signbit without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as signbit, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await signbitAsync(tensor([-1, -0, 2]))).toArray() // [true, true, false]
 */
const signbitAsync = later(functions.signbit)

/**
 * copysign without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as copysign, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await copysignAsync(tensor([1, 2]), tensor([-3, 4]))).toArray() // [-1, 2]
 */
const copysignAsync = later(functions.copysign)

/**
 * nextafter without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as nextafter, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nextafterAsync(tensor([0]), 1)).toArray() // [1.401298464324817e-45]
 */
const nextafterAsync = later(functions.nextafter)

/**
 * real without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as real, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await realAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [1]
 */
const realAsync = later(functions.real)

/**
 * imag without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as imag, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await imagAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [2]
 */
const imagAsync = later(functions.imag)

/**
 * conj without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as conj, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await conjAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [[1, -2]]
 */
const conjAsync = later(functions.conj)

/**
 * exp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as exp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await expAsync(tensor([0, 1]))).toArray() // [1, 2.7182817459106445]
 */
const expAsync = later(functions.exp)

/**
 * expm1 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as expm1, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await expm1Async(tensor([0]))).toArray() // [0]
 */
const expm1Async = later(functions.expm1)

/**
 * log without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logAsync(tensor([1]))).toArray() // [0]
 */
const logAsync = later(functions.log)

/**
 * log1p without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log1p, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log1pAsync(tensor([0]))).toArray() // [0]
 */
const log1pAsync = later(functions.log1p)

/**
 * log2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log2Async(tensor([1, 8]))).toArray() // [0, 3]
 */
const log2Async = later(functions.log2)

/**
 * log10 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log10, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log10Async(tensor([1, 1000]))).toArray() // [0, 3]
 */
const log10Async = later(functions.log10)

/**
 * sin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sinAsync(tensor([0]))).toArray() // [0]
 */
const sinAsync = later(functions.sin)

/**
 * cos without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as cos, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cosAsync(tensor([0]))).toArray() // [1]
 */
const cosAsync = later(functions.cos)

/**
 * tan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as tan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tanAsync(tensor([0]))).toArray() // [0]
 */
const tanAsync = later(functions.tan)

/**
 * asin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as asin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await asinAsync(tensor([0]))).toArray() // [0]
 */
const asinAsync = later(functions.asin)

/**
 * acos without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as acos, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await acosAsync(tensor([1]))).toArray() // [0]
 */
const acosAsync = later(functions.acos)

/**
 * atan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as atan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atanAsync(tensor([0]))).toArray() // [0]
 */
const atanAsync = later(functions.atan)

/**
 * sinh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sinh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sinhAsync(tensor([0]))).toArray() // [0]
 */
const sinhAsync = later(functions.sinh)

/**
 * cosh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as cosh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await coshAsync(tensor([0]))).toArray() // [1]
 */
const coshAsync = later(functions.cosh)

/**
 * tanh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as tanh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tanhAsync(tensor([0]))).toArray() // [0]
 */
const tanhAsync = later(functions.tanh)

/**
 * asinh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as asinh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await asinhAsync(tensor([0]))).toArray() // [0]
 */
const asinhAsync = later(functions.asinh)

/**
 * acosh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as acosh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await acoshAsync(tensor([1]))).toArray() // [0]
 */
const acoshAsync = later(functions.acosh)

/**
 * atanh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as atanh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atanhAsync(tensor([0]))).toArray() // [0]
 */
const atanhAsync = later(functions.atanh)

/**
 * erf without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as erf, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await erfAsync(tensor([0]))).toArray() // [0]
 */
const erfAsync = later(functions.erf)

/**
 * sigmoid without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sigmoid, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sigmoidAsync(tensor([0]))).toArray() // [0.5]
 */
const sigmoidAsync = later(functions.sigmoid)

/**
 * silu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as silu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await siluAsync(tensor([0]))).toArray() // [0]
 */
const siluAsync = later(functions.silu)

/**
 * gelu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as gelu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await geluAsync(tensor([0]))).toArray() // [0]
 */
const geluAsync = later(functions.gelu)

/**
 * pow without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as pow, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await powAsync(tensor([2, 3]), 2)).toArray() // [4, 9]
 */
const powAsync = later(functions.pow)

/**
 * atan2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as atan2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atan2Async(tensor([0, 0]), tensor([1, 2]))).toArray() // [0, 0]
 */
const atan2Async = later(functions.atan2)

/**
 * hypot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as hypot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await hypotAsync(tensor([3]), tensor([4]))).toArray() // [5]
 */
const hypotAsync = later(functions.hypot)

/**
 * logaddexp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as logaddexp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logaddexpAsync(tensor([-Infinity]), tensor([1]))).toArray() // [1]
 */
const logaddexpAsync = later(functions.logaddexp)

/**
 * sum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as sum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sumAsync(tensor([[1, 2], [3, 4]]), { axis: 0 })).toArray() // [4, 6]
 */
const sumAsync = later(reductions.sum)

/**
 * prod without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as prod, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await prodAsync(tensor([2, 3, 4]))).item() // 24
 */
const prodAsync = later(reductions.prod)

/**
 * mean without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as mean, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await meanAsync(tensor([1, 2, 6]))).item() // 3
 */
const meanAsync = later(reductions.mean)

/**
 * std without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as std, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await stdAsync(tensor([1, 1, 3, 3]))).item() // 1
 */
const stdAsync = later(reductions.std)

/**
 * min without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as min, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await minAsync(tensor([[3, 1], [2, 5]]), { axis: 1 })).toArray() // [1, 2]
 */
const minAsync = later(reductions.min)

/**
 * max without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as max, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await maxAsync(tensor([[3, 1], [2, 5]]), { axis: 1 })).toArray() // [3, 5]
 */
const maxAsync = later(reductions.max)

/**
 * any without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = never>(x: AnyTensor, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, 'bool'>>>}
 * @throws as any, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await anyAsync(tensor([0, 2, 0]))).item() // true
 */
const anyAsync = later(reductions.any)

/**
 * all without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = never>(x: AnyTensor, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, 'bool'>>>}
 * @throws as all, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await allAsync(tensor([1, 2, 0]))).item() // false
 */
const allAsync = later(reductions.all)

/**
 * countNonzero without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as countNonzero, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await countNonzeroAsync(tensor([[1, 0], [2, 3]]), { axis: 1 })).toArray() // [1, 2]
 */
const countNonzeroAsync = later(reductions.countNonzero)

/**
 * argmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, opts?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as argmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await argmaxAsync(tensor([[1, 5, 2], [7, 0, 7]]), { axis: 1 })).toArray() // [1, 0]
 */
const argmaxAsync = later(reductions.argmax)

/**
 * argmin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, opts?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as argmin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await argminAsync(tensor([3, 1, 2]))).item() // 1
 */
const argminAsync = later(reductions.argmin)

/**
 * cumulativeSum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as cumulativeSum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cumulativeSumAsync(tensor([1, 2, 3]))).toArray() // [1, 3, 6]
 */
const cumulativeSumAsync = later(reductions.cumulativeSum)

/**
 * cumulativeProd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as cumulativeProd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cumulativeProdAsync(tensor([2, 3, 4]))).toArray() // [2, 6, 24]
 */
const cumulativeProdAsync = later(reductions.cumulativeProd)

/**
 * diff without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: { axis?: number | undefined, n?: number | undefined, prepend?: Tensor<D> | InputOf<D> | undefined, append?: Tensor<D> | InputOf<D> | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined } & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as diff, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await diffAsync(tensor([1, 4, 9, 16]))).toArray() // [3, 5, 7]
 */
const diffAsync = later(reductions.diff)

/**
 * var without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as var, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await varAsync(tensor([1, 2, 3, 4]))).item() // 1.25
 */
const varAsync = later(reductions.var)

/**
 * softmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as softmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await softmaxAsync(tensor([[1, 1], [0, 1000]]))).toArray() // [[0.5, 0.5], [0, 1]]
 */
const softmaxAsync = later(softmax.softmax)

/**
 * logSoftmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as logSoftmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logSoftmaxAsync(tensor([0, 1000]))).toArray() // [-1000, 0]
 */
const logSoftmaxAsync = later(softmax.logSoftmax)

/**
 * logSumExp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as logSumExp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logSumExpAsync(tensor([1000, -Infinity]))).item() // 1000
 */
const logSumExpAsync = later(softmax.logSumExp)

/**
 * vectorNorm without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./norms').NormOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, RealOf<Floated<D>>>>>>}
 * @throws as vectorNorm, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await vectorNormAsync(tensor([[3, 4], [6, 8]]), { axis: 1 })).toArray() // [5, 10]
 */
const vectorNormAsync = later(norms.vectorNorm)

/**
 * normalize without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./norms').NormalizeOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as normalize, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await normalizeAsync(tensor([[3, 4], [0, 0]]))).toArray() // [[0.6000000238418579, 0.800000011920929], [0, 0]]
 */
const normalizeAsync = later(norms.normalize)

/**
 * matmul without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').ProductOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<A, B>>>>}
 * @throws as matmul, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await matmulAsync(tensor([[1, 2], [3, 4]]), tensor([[1, 1], [0, 1]]))).toArray() // [[1, 3], [3, 7]]
 */
const matmulAsync = later(matrices.matmul)

/**
 * vecdot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').VecdotOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<A, B>>>>}
 * @throws as vecdot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await vecdotAsync(tensor([[1, 2], [3, 4]]), tensor([10, 1]))).toArray() // [12, 34]
 */
const vecdotAsync = later(matrices.vecdot)

/**
 * tensordot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').TensordotOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<A, B>>>>}
 * @throws as tensordot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tensordotAsync(tensor([[1, 2], [3, 4]]), tensor([[1, 0], [1, 1]]), { axes: [[0], [1]] })).toArray() // [[1, 4], [2, 6]]
 */
const tensordotAsync = later(matrices.tensordot)

/**
 * outer without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').OuterOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<A, B>>>>}
 * @throws as outer, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await outerAsync(tensor([1, 2]), tensor([3, 4]))).toArray() // [[3, 4], [6, 8]]
 */
const outerAsync = later(matrices.outer)

/**
 * einsum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = any>(equation: string, ...operands: (AnyTensor | import('./matrices').ProductOptions<O> & { signal?: Signal | undefined })[]) => Promise<Tensor<O>>}
 * @throws as einsum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await einsumAsync('ij,kj->ik', tensor([[1, 2], [3, 4]]), tensor([[1, 1]]))).toArray() // [[3], [7]]
 */
const einsumAsync = later(matrices.einsum)

/**
 * cosineSimilarity without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').CosineOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<Promote<A, B>>>>>}
 * @throws as cosineSimilarity, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cosineSimilarityAsync(tensor([[3, 4], [0, 2]]), tensor([0, 1]))).toArray() // [0.800000011920929, 1]
 */
const cosineSimilarityAsync = later(matrices.cosineSimilarity)

/**
 * linalg.cross without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./linalg').CrossOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<A, B>>>>}
 * @throws as linalg.cross, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.crossAsync(tensor([1, 0, 0]), tensor([0, 1, 0]))).toArray() // [0, 0, 1]
 */
const crossAsync = later(linalg.cross)

module.exports = {
  addAsync,
  subtractAsync,
  multiplyAsync,
  divideAsync,
  floorDivideAsync,
  remainderAsync,
  negativeAsync,
  positiveAsync,
  absAsync,
  signAsync,
  squareAsync,
  reciprocalAsync,
  sqrtAsync,
  reluAsync,
  maximumAsync,
  minimumAsync,
  clipAsync,
  whereAsync,
  equalAsync,
  notEqualAsync,
  lessAsync,
  lessEqualAsync,
  greaterAsync,
  greaterEqualAsync,
  logicalAndAsync,
  logicalOrAsync,
  logicalXorAsync,
  logicalNotAsync,
  bitwiseAndAsync,
  bitwiseOrAsync,
  bitwiseXorAsync,
  bitwiseInvertAsync,
  bitwiseLeftShiftAsync,
  bitwiseRightShiftAsync,
  ceilAsync,
  floorAsync,
  truncAsync,
  roundAsync,
  isfiniteAsync,
  isinfAsync,
  isnanAsync,
  signbitAsync,
  copysignAsync,
  nextafterAsync,
  realAsync,
  imagAsync,
  conjAsync,
  expAsync,
  expm1Async,
  logAsync,
  log1pAsync,
  log2Async,
  log10Async,
  sinAsync,
  cosAsync,
  tanAsync,
  asinAsync,
  acosAsync,
  atanAsync,
  sinhAsync,
  coshAsync,
  tanhAsync,
  asinhAsync,
  acoshAsync,
  atanhAsync,
  erfAsync,
  sigmoidAsync,
  siluAsync,
  geluAsync,
  powAsync,
  atan2Async,
  hypotAsync,
  logaddexpAsync,
  sumAsync,
  prodAsync,
  meanAsync,
  stdAsync,
  minAsync,
  maxAsync,
  anyAsync,
  allAsync,
  countNonzeroAsync,
  argmaxAsync,
  argminAsync,
  cumulativeSumAsync,
  cumulativeProdAsync,
  diffAsync,
  varAsync,
  softmaxAsync,
  logSoftmaxAsync,
  logSumExpAsync,
  vectorNormAsync,
  normalizeAsync,
  matmulAsync,
  vecdotAsync,
  tensordotAsync,
  outerAsync,
  einsumAsync,
  cosineSimilarityAsync,
  linalg: { crossAsync }
}
