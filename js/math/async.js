'use strict'
// Made by `npm run generate`: each function of samebytes/math without blocking the event loop.

const { offload } = require('./offload')
const { ofPictures } = require('./pictures')
const functions = require('./functions')
const reductions = require('./reductions')
const softmax = require('./softmax')
const norms = require('./norms')
const order = require('./order')
const images = require('./images')
const boxes = require('./boxes')
const fft = require('./fft')
const signals = require('./signals')
const matrices = require('./matrices')
const statistics = require('./statistics')
const interpolation = require('./interpolation')
const nans = require('./nans')
const linalg = require('./linalg')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, Axes, Canvas, Casting, DtypeName, DtypeOfValue, Floated, Frame, Image, InputOf, LaterOptions, NameOf, OfOne, Or, Promote, RealOf, Signal, Summed, TensorData, Value } from '../base/types' */

/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>> }} AddAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: OfOne<D, Tensor<D>>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>>; <A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, Promote<A, B>>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<D>, x2: InputOf<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>>; <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: InputOf<D>, x2: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>> }} DivideAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>> }} NegativeAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, RealOf<Or<E, D>>>>> }} AbsAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Floated<Or<E, D>>>>> }} ReciprocalAsync */
/** @typedef {{ <D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min?: OfOne<D, Tensor<D>> | InputOf<D> | null, max?: OfOne<D, Tensor<D>> | InputOf<D> | null, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, D>>>>; <D extends DtypeName, A extends DtypeName = D, B extends DtypeName = D, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, min: InputOf<D> | Tensor<A> | null | undefined, max?: InputOf<D> | Tensor<B> | null | undefined, opts?: LaterOptions<E, O> | NameOf<E>): Promise<Tensor<Or<O, Or<E, Promote<Promote<D, A>, B>>>>> }} ClipAsync */
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
const addAsync = offload(functions.add)

/**
 * subtract without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as subtract, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await subtractAsync(tensor([3, 4]), tensor([1, 2]))).toArray() // [2, 2]
 */
const subtractAsync = offload(functions.subtract)

/**
 * multiply without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as multiply, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await multiplyAsync(tensor([1, 2]), 3)).toArray() // [3, 6]
 */
const multiplyAsync = offload(functions.multiply)

/**
 * divide without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as divide, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await divideAsync(tensor([1, 3], 'int32'), 2)).toArray() // [0.5, 1.5]
 */
const divideAsync = offload(functions.divide)

/**
 * floorDivide without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as floorDivide, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await floorDivideAsync(tensor([7, -7], 'int32'), 2)).toArray() // [3, -4]
 */
const floorDivideAsync = offload(functions.floorDivide)

/**
 * remainder without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as remainder, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await remainderAsync(tensor([7, -7], 'int32'), 3)).toArray() // [1, 2]
 */
const remainderAsync = offload(functions.remainder)

/**
 * negative without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as negative, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await negativeAsync(tensor([1, -2]))).toArray() // [-1, 2]
 */
const negativeAsync = offload(functions.negative)

/**
 * positive without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as positive, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await positiveAsync(tensor([1, -2]))).toArray() // [1, -2]
 */
const positiveAsync = offload(functions.positive)

/**
 * abs without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as abs, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await absAsync(tensor([-1.5, 2]))).toArray() // [1.5, 2]
 */
const absAsync = offload(functions.abs)

/**
 * sign without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as sign, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await signAsync(tensor([-3, 0, 2]))).toArray() // [-1, 0, 1]
 */
const signAsync = offload(functions.sign)

/**
 * square without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as square, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await squareAsync(tensor([2, 3]))).toArray() // [4, 9]
 */
const squareAsync = offload(functions.square)

/**
 * reciprocal without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as reciprocal, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await reciprocalAsync(tensor([2, 4]))).toArray() // [0.5, 0.25]
 */
const reciprocalAsync = offload(functions.reciprocal)

/**
 * sqrt without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sqrt, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sqrtAsync(tensor([4, 9]))).toArray() // [2, 3]
 */
const sqrtAsync = offload(functions.sqrt)

/**
 * relu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as relu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await reluAsync(tensor([-1, 2]))).toArray() // [0, 2]
 */
const reluAsync = offload(functions.relu)

/**
 * maximum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as maximum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await maximumAsync(tensor([1, NaN]), tensor([2, 0]))).toArray() // [2, NaN]
 */
const maximumAsync = offload(functions.maximum)

/**
 * minimum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as minimum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await minimumAsync(tensor([1, NaN]), tensor([2, 0]))).toArray() // [1, NaN]
 */
const minimumAsync = offload(functions.minimum)

/**
 * clip without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ClipAsync}
 * @throws as clip, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await clipAsync(tensor([-1, 0.5, 2]), 0, 1)).toArray() // [0, 0.5, 1]
 */
const clipAsync = offload(functions.clip)

/**
 * where without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {WhereAsync}
 * @throws as where, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await whereAsync(tensor([true, false]), tensor([1, 2]), 0)).toArray() // [1, 0]
 */
const whereAsync = offload(functions.where)

/**
 * equal without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as equal, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await equalAsync(tensor([1, 2]), 2)).toArray() // [false, true]
 */
const equalAsync = offload(functions.equal)

/**
 * notEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as notEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await notEqualAsync(tensor([1, 2]), 2)).toArray() // [true, false]
 */
const notEqualAsync = offload(functions.notEqual)

/**
 * less without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as less, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await lessAsync(tensor([1, 2, 3]), 2)).toArray() // [true, false, false]
 */
const lessAsync = offload(functions.less)

/**
 * lessEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as lessEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await lessEqualAsync(tensor([1, 2, 3]), 2)).toArray() // [true, true, false]
 */
const lessEqualAsync = offload(functions.lessEqual)

/**
 * greater without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as greater, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await greaterAsync(tensor([1, 2, 3]), 2)).toArray() // [false, false, true]
 */
const greaterAsync = offload(functions.greater)

/**
 * greaterEqual without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as greaterEqual, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await greaterEqualAsync(tensor([1, 2, 3]), 2)).toArray() // [false, true, true]
 */
const greaterEqualAsync = offload(functions.greaterEqual)

/**
 * logicalAnd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalAnd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalAndAsync(tensor([true, true]), tensor([true, false]))).toArray() // [true, false]
 */
const logicalAndAsync = offload(functions.logicalAnd)

/**
 * logicalOr without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalOr, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalOrAsync(tensor([true, false]), tensor([false, false]))).toArray() // [true, false]
 */
const logicalOrAsync = offload(functions.logicalOr)

/**
 * logicalXor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {EqualAsync}
 * @throws as logicalXor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalXorAsync(tensor([true, true]), tensor([true, false]))).toArray() // [false, true]
 */
const logicalXorAsync = offload(functions.logicalXor)

/**
 * logicalNot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as logicalNot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logicalNotAsync(tensor([true, false]))).toArray() // [false, true]
 */
const logicalNotAsync = offload(functions.logicalNot)

/**
 * bitwiseAnd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseAnd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseAndAsync(tensor([6], 'uint8'), 3)).toArray() // [2]
 */
const bitwiseAndAsync = offload(functions.bitwiseAnd)

/**
 * bitwiseOr without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseOr, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseOrAsync(tensor([6], 'uint8'), 1)).toArray() // [7]
 */
const bitwiseOrAsync = offload(functions.bitwiseOr)

/**
 * bitwiseXor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseXor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseXorAsync(tensor([6], 'uint8'), 3)).toArray() // [5]
 */
const bitwiseXorAsync = offload(functions.bitwiseXor)

/**
 * bitwiseInvert without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as bitwiseInvert, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseInvertAsync(tensor([1], 'uint8'))).toArray() // [254]
 */
const bitwiseInvertAsync = offload(functions.bitwiseInvert)

/**
 * bitwiseLeftShift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseLeftShift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseLeftShiftAsync(tensor([1, 3], 'uint8'), 2)).toArray() // [4, 12]
 */
const bitwiseLeftShiftAsync = offload(functions.bitwiseLeftShift)

/**
 * bitwiseRightShift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as bitwiseRightShift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await bitwiseRightShiftAsync(tensor([-4], 'int8'), 1)).toArray() // [-2]
 */
const bitwiseRightShiftAsync = offload(functions.bitwiseRightShift)

/**
 * ceil without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as ceil, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ceilAsync(tensor([1.2, -1.2]))).toArray() // [2, -1]
 */
const ceilAsync = offload(functions.ceil)

/**
 * floor without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as floor, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await floorAsync(tensor([1.8, -1.2]))).toArray() // [1, -2]
 */
const floorAsync = offload(functions.floor)

/**
 * trunc without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as trunc, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await truncAsync(tensor([1.8, -1.8]))).toArray() // [1, -1]
 */
const truncAsync = offload(functions.trunc)

/**
 * round without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as round, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await roundAsync(tensor([0.5, 1.5, 2.4]))).toArray() // [0, 2, 2]
 */
const roundAsync = offload(functions.round)

/**
 * isfinite without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isfinite, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isfiniteAsync(tensor([1, Infinity, NaN]))).toArray() // [true, false, false]
 */
const isfiniteAsync = offload(functions.isfinite)

/**
 * isinf without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isinf, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isinfAsync(tensor([1, Infinity, NaN]))).toArray() // [false, true, false]
 */
const isinfAsync = offload(functions.isinf)

/**
 * isnan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as isnan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isnanAsync(tensor([1, Infinity, NaN]))).toArray() // [false, false, true]
 */
const isnanAsync = offload(functions.isnan)

/**
 * signbit without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {LogicalNotAsync}
 * @throws as signbit, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await signbitAsync(tensor([-1, -0, 2]))).toArray() // [true, true, false]
 */
const signbitAsync = offload(functions.signbit)

/**
 * copysign without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as copysign, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await copysignAsync(tensor([1, 2]), tensor([-3, 4]))).toArray() // [-1, 2]
 */
const copysignAsync = offload(functions.copysign)

/**
 * nextafter without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as nextafter, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nextafterAsync(tensor([0]), 1)).toArray() // [1.401298464324817e-45]
 */
const nextafterAsync = offload(functions.nextafter)

/**
 * real without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as real, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await realAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [1]
 */
const realAsync = offload(functions.real)

/**
 * imag without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AbsAsync}
 * @throws as imag, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await imagAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [2]
 */
const imagAsync = offload(functions.imag)

/**
 * conj without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {NegativeAsync}
 * @throws as conj, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await conjAsync(tensor([[1, 2]], [1], 'complex64'))).toArray() // [[1, -2]]
 */
const conjAsync = offload(functions.conj)

/**
 * exp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as exp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await expAsync(tensor([0, 1]))).toArray() // [1, 2.7182817459106445]
 */
const expAsync = offload(functions.exp)

/**
 * expm1 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as expm1, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await expm1Async(tensor([0]))).toArray() // [0]
 */
const expm1Async = offload(functions.expm1)

/**
 * log without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logAsync(tensor([1]))).toArray() // [0]
 */
const logAsync = offload(functions.log)

/**
 * log1p without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log1p, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log1pAsync(tensor([0]))).toArray() // [0]
 */
const log1pAsync = offload(functions.log1p)

/**
 * log2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log2Async(tensor([1, 8]))).toArray() // [0, 3]
 */
const log2Async = offload(functions.log2)

/**
 * log10 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as log10, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await log10Async(tensor([1, 1000]))).toArray() // [0, 3]
 */
const log10Async = offload(functions.log10)

/**
 * sin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sinAsync(tensor([0]))).toArray() // [0]
 */
const sinAsync = offload(functions.sin)

/**
 * cos without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as cos, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cosAsync(tensor([0]))).toArray() // [1]
 */
const cosAsync = offload(functions.cos)

/**
 * tan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as tan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tanAsync(tensor([0]))).toArray() // [0]
 */
const tanAsync = offload(functions.tan)

/**
 * asin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as asin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await asinAsync(tensor([0]))).toArray() // [0]
 */
const asinAsync = offload(functions.asin)

/**
 * acos without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as acos, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await acosAsync(tensor([1]))).toArray() // [0]
 */
const acosAsync = offload(functions.acos)

/**
 * atan without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as atan, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atanAsync(tensor([0]))).toArray() // [0]
 */
const atanAsync = offload(functions.atan)

/**
 * sinh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sinh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sinhAsync(tensor([0]))).toArray() // [0]
 */
const sinhAsync = offload(functions.sinh)

/**
 * cosh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as cosh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await coshAsync(tensor([0]))).toArray() // [1]
 */
const coshAsync = offload(functions.cosh)

/**
 * tanh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as tanh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tanhAsync(tensor([0]))).toArray() // [0]
 */
const tanhAsync = offload(functions.tanh)

/**
 * asinh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as asinh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await asinhAsync(tensor([0]))).toArray() // [0]
 */
const asinhAsync = offload(functions.asinh)

/**
 * acosh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as acosh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await acoshAsync(tensor([1]))).toArray() // [0]
 */
const acoshAsync = offload(functions.acosh)

/**
 * atanh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as atanh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atanhAsync(tensor([0]))).toArray() // [0]
 */
const atanhAsync = offload(functions.atanh)

/**
 * erf without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as erf, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await erfAsync(tensor([0]))).toArray() // [0]
 */
const erfAsync = offload(functions.erf)

/**
 * sigmoid without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as sigmoid, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sigmoidAsync(tensor([0]))).toArray() // [0.5]
 */
const sigmoidAsync = offload(functions.sigmoid)

/**
 * silu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as silu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await siluAsync(tensor([0]))).toArray() // [0]
 */
const siluAsync = offload(functions.silu)

/**
 * gelu without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {ReciprocalAsync}
 * @throws as gelu, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await geluAsync(tensor([0]))).toArray() // [0]
 */
const geluAsync = offload(functions.gelu)

/**
 * pow without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {AddAsync}
 * @throws as pow, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await powAsync(tensor([2, 3]), 2)).toArray() // [4, 9]
 */
const powAsync = offload(functions.pow)

/**
 * atan2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as atan2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await atan2Async(tensor([0, 0]), tensor([1, 2]))).toArray() // [0, 0]
 */
const atan2Async = offload(functions.atan2)

/**
 * hypot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as hypot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await hypotAsync(tensor([3]), tensor([4]))).toArray() // [5]
 */
const hypotAsync = offload(functions.hypot)

/**
 * logaddexp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {DivideAsync}
 * @throws as logaddexp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logaddexpAsync(tensor([-Infinity]), tensor([1]))).toArray() // [1]
 */
const logaddexpAsync = offload(functions.logaddexp)

/**
 * sum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as sum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sumAsync(tensor([[1, 2], [3, 4]]), { axis: 0 })).toArray() // [4, 6]
 */
const sumAsync = offload(reductions.sum)

/**
 * prod without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as prod, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await prodAsync(tensor([2, 3, 4]))).item() // 24
 */
const prodAsync = offload(reductions.prod)

/**
 * mean without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as mean, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await meanAsync(tensor([1, 2, 6]))).item() // 3
 */
const meanAsync = offload(reductions.mean)

/**
 * std without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as std, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await stdAsync(tensor([1, 1, 3, 3]))).item() // 1
 */
const stdAsync = offload(reductions.std)

/**
 * min without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as min, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await minAsync(tensor([[3, 1], [2, 5]]), { axis: 1 })).toArray() // [1, 2]
 */
const minAsync = offload(reductions.min)

/**
 * max without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as max, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await maxAsync(tensor([[3, 1], [2, 5]]), { axis: 1 })).toArray() // [3, 5]
 */
const maxAsync = offload(reductions.max)

/**
 * any without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = never>(x: AnyTensor, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, 'bool'>>>}
 * @throws as any, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await anyAsync(tensor([0, 2, 0]))).item() // true
 */
const anyAsync = offload(reductions.any)

/**
 * all without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = never>(x: AnyTensor, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, 'bool'>>>}
 * @throws as all, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await allAsync(tensor([1, 2, 0]))).item() // false
 */
const allAsync = offload(reductions.all)

/**
 * countNonzero without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as countNonzero, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await countNonzeroAsync(tensor([[1, 0], [2, 3]]), { axis: 1 })).toArray() // [1, 2]
 */
const countNonzeroAsync = offload(reductions.countNonzero)

/**
 * argmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, axis?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as argmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await argmaxAsync(tensor([[1, 5, 2], [7, 0, 7]]), { axis: 1 })).toArray() // [1, 0]
 */
const argmaxAsync = offload(reductions.argmax)

/**
 * argmin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, axis?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./reductions').IndexOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as argmin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await argminAsync(tensor([3, 1, 2]))).item() // 1
 */
const argminAsync = offload(reductions.argmin)

/**
 * cumulativeSum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as cumulativeSum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cumulativeSumAsync(tensor([1, 2, 3]))).toArray() // [1, 3, 6]
 */
const cumulativeSumAsync = offload(reductions.cumulativeSum)

/**
 * cumulativeProd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./reductions').CumulativeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as cumulativeProd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cumulativeProdAsync(tensor([2, 3, 4]))).toArray() // [2, 6, 24]
 */
const cumulativeProdAsync = offload(reductions.cumulativeProd)

/**
 * diff without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: { axis?: number | undefined, n?: number | undefined, prepend?: Tensor<D> | InputOf<D> | undefined, append?: Tensor<D> | InputOf<D> | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined } & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as diff, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await diffAsync(tensor([1, 4, 9, 16]))).toArray() // [3, 5, 7]
 */
const diffAsync = offload(reductions.diff)

/**
 * var without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as var, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await varAsync(tensor([1, 2, 3, 4]))).item() // 1.25
 */
const varAsync = offload(reductions.var)

/**
 * softmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as softmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await softmaxAsync(tensor([[1, 1], [0, 1000]]))).toArray() // [[0.5, 0.5], [0, 1]]
 */
const softmaxAsync = offload(softmax.softmax)

/**
 * logSoftmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./softmax').AlongOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as logSoftmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logSoftmaxAsync(tensor([0, 1000]))).toArray() // [-1000, 0]
 */
const logSoftmaxAsync = offload(softmax.logSoftmax)

/**
 * logSumExp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as logSumExp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logSumExpAsync(tensor([1000, -Infinity]))).item() // 1000
 */
const logSumExpAsync = offload(softmax.logSumExp)

/**
 * vectorNorm without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./norms').NormOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, RealOf<Floated<D>>>>>>}
 * @throws as vectorNorm, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await vectorNormAsync(tensor([[3, 4], [6, 8]]), { axis: 1 })).toArray() // [5, 10]
 */
const vectorNormAsync = offload(norms.vectorNorm)

/**
 * normalize without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./norms').NormalizeOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as normalize, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await normalizeAsync(tensor([[3, 4], [0, 0]]))).toArray() // [[0.6000000238418579, 0.800000011920929], [0, 0]]
 */
const normalizeAsync = offload(norms.normalize)

/**
 * sort without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./order').SortOptions<O> & { signal?: Signal | undefined } | number, opts?: import('./order').SortOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as sort, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await sortAsync(tensor([3, 1, NaN, 2]), { descending: true })).toArray() // [3, 2, 1, NaN]
 */
const sortAsync = offload(order.sort)

/**
 * argsort without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, axis?: import('./order').ArgsortOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./order').ArgsortOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as argsort, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await argsortAsync(tensor([3, 1, NaN, 2]))).toArray() // [1, 3, 0, 2]
 */
const argsortAsync = offload(order.argsort)

/**
 * topK without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends import('./reductions').IndexName = never>(x: Tensor<D>, k: number, axis?: import('./order').TopKOptions<E> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./order').TopKOptions<E> & { signal?: Signal | undefined } | NameOf<E>) => Promise<{ values: Tensor<D>, indices: Tensor<Or<E, 'int32'>> }>}
 * @throws as topK, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await topKAsync(tensor([3, 9, 4, 9]), 3)).indices.toArray() // [1, 3, 2]
 */
const topKAsync = offload(order.topK)

/**
 * searchsorted without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x1: TensorData, x2: TensorData, opts?: import('./order').SearchOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as searchsorted, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await searchsortedAsync(tensor([10, 20, 30]), [20, 35], { side: 'right' })).toArray() // [2, 3]
 */
const searchsortedAsync = offload(order.searchsorted)

/**
 * isin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = never>(x1: TensorData, x2: TensorData, opts?: import('./order').IsinOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, 'bool'>>>}
 * @throws as isin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await isinAsync(tensor([[1, 2], [3, 4]]), [4, 1])).toArray() // [[true, false], [false, true]]
 */
const isinAsync = offload(order.isin)

/**
 * resize without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 * Takes a VideoFrame as well: pictures are copied into a tensor first, as by copyFromAsync.
 *
 * @type {<D extends DtypeName = 'uint8', E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D> | Image | Canvas | Frame, size: readonly number[], opts?: import('./images').ImageOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, D>>>>}
 * @throws as resize, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await resizeAsync(tensor([[0, 100], [100, 200]], 'uint8'), [1, 4])).toArray() // [[50, 75, 125, 150]]
 */
const resizeAsync = ofPictures(offload(images.resize), true)

/**
 * crop without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 * Takes a VideoFrame as well: pictures are copied into a tensor first, as by copyFromAsync.
 *
 * @type {<D extends DtypeName = 'uint8'>(x: Tensor<D> | Image | Canvas | Frame, box: readonly number[], opts?: import('./images').CropOptions & { signal?: Signal | undefined }) => Promise<Tensor<D>>}
 * @throws as crop, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cropAsync(tensor([[1, 2, 3], [4, 5, 6]]), [1, 0, 3, 1])).toArray() // [[2, 3]]
 */
const cropAsync = ofPictures(offload(images.crop))

/**
 * letterbox without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 * Takes a VideoFrame as well: pictures are copied into a tensor first, as by copyFromAsync.
 *
 * @type {<D extends DtypeName = 'uint8', E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D> | Image | Canvas | Frame, size: readonly number[], opts?: import('./images').LetterboxOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<import('./images').LetterboxPlace & { image: Tensor<Or<O, Or<E, D>>> }>}
 * @throws as letterbox, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await letterboxAsync(tensor([[8, 8]], 'uint8'), [4, 4], { value: 0 })).image.toArray() // [[0, 0, 0, 0], [8, 8, 8, 8], [8, 8, 8, 8], [0, 0, 0, 0]]
 */
const letterboxAsync = ofPictures(offload(images.letterbox), true)

/**
 * pad without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, widths: number | readonly [number, number] | readonly (number | readonly [number, number])[], opts?: import('./images').PadOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as pad, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await padAsync(tensor([1, 2]), [1, 0], { mode: 'reflect' })).toArray() // [2, 1, 2]
 */
const padAsync = offload(images.pad)

/**
 * iou without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(boxes1: Tensor<A>, boxes2: Tensor<B>, opts?: import('./boxes').BoxOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<Promote<A, B>>>>>}
 * @throws as iou, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await iouAsync(tensor([[0, 0, 2, 2]]), tensor([[1, 0, 2, 2], [2, 2, 3, 3]]))).toArray() // [[0.5, 0]]
 */
const iouAsync = offload(boxes.iou)

/**
 * unletterbox without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(boxes: Tensor<D>, letterboxed: import('./images').LetterboxPlace, opts?: import('./boxes').UnletterboxOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as unletterbox, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await unletterboxAsync(tensor([0, 1, 2, 3]), letterbox(zeros([1, 2]), [4, 4]))).toArray() // [0, 0, 1, 1]
 */
const unletterboxAsync = offload(boxes.unletterbox)

/**
 * oneHot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(indices: AnyTensor, n: number, axis?: import('./boxes').OneHotOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./boxes').OneHotOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as oneHot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await oneHotAsync(tensor([2, 0], 'int32'), 3)).toArray() // [[0, 0, 1], [1, 0, 0]]
 */
const oneHotAsync = offload(boxes.oneHot)

/**
 * fft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as fft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await fftAsync(tensor([1, 0, 0, 0]))).toArray() // [[1, 0], [1, 0], [1, 0], [1, 0]]
 */
const fftAsync = offload(fft.fft)

/**
 * ifft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as ifft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ifftAsync(tensor([4, 0, 0, 0]))).toArray() // [[1, 0], [1, 0], [1, 0], [1, 0]]
 */
const ifftAsync = offload(fft.ifft)

/**
 * rfft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as rfft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await rfftAsync(tensor([1, 2, 3, 4]))).toArray() // [[10, 0], [-2, 2], [-2, 0]]
 */
const rfftAsync = offload(fft.rfft)

/**
 * irfft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SignalName<D>>>>>}
 * @throws as irfft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await irfftAsync(tensor([4, 0, 0]))).toArray() // [1, 1, 1, 1]
 */
const irfftAsync = offload(fft.irfft)

/**
 * hfft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SignalName<D>>>>>}
 * @throws as hfft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await hfftAsync(tensor([1, 1, 1]))).toArray() // [4, 0, 0, 0]
 */
const hfftAsync = offload(fft.hfft)

/**
 * ihfft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as ihfft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ihfftAsync(tensor([1, 0]))).toArray() // [[0.5, -0], [0.5, -0]]
 */
const ihfftAsync = offload(fft.ihfft)

/**
 * fftn without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as fftn, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await fftnAsync(tensor([[1, 1], [1, 1]]))).toArray() // [[[4, 0], [0, 0]], [[0, 0], [0, 0]]]
 */
const fftnAsync = offload(fft.fftn)

/**
 * ifftn without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as ifftn, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ifftnAsync(tensor([[4, 0], [0, 0]]))).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
const ifftnAsync = offload(fft.ifftn)

/**
 * fft2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as fft2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await fft2Async(tensor([[1, 0], [0, 0]]))).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
const fft2Async = offload(fft.fft2)

/**
 * ifft2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as ifft2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ifft2Async(tensor([[4, 0], [0, 0]]))).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
const ifft2Async = offload(fft.ifft2)

/**
 * rfftn without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as rfftn, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await rfftnAsync(tensor([[1, 1], [1, 1]]))).toArray() // [[[4, 0], [0, 0]], [[0, 0], [0, 0]]]
 */
const rfftnAsync = offload(fft.rfftn)

/**
 * irfftn without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SignalName<D>>>>>}
 * @throws as irfftn, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await irfftnAsync(tensor([[4, 0], [0, 0]]))).toArray() // [[1, 1], [1, 1]]
 */
const irfftnAsync = offload(fft.irfftn)

/**
 * rfft2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SpectrumName<D>>>>>}
 * @throws as rfft2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await rfft2Async(tensor([[1, 0], [0, 0]]))).toArray() // [[[1, 0], [1, 0]], [[1, 0], [1, 0]]]
 */
const rfft2Async = offload(fft.rfft2)

/**
 * irfft2 without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').TransformAxesOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, import('./fft').SignalName<D>>>>>}
 * @throws as irfft2, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await irfft2Async(tensor([[4, 0], [0, 0]]))).toArray() // [[1, 1], [1, 1]]
 */
const irfft2Async = offload(fft.irfft2)

/**
 * fftfreq without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(n: number, opts?: import('./fft').FrequencyOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as fftfreq, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await fftfreqAsync(4, { d: 0.25 })).toArray() // [0, 1, -2, -1]
 */
const fftfreqAsync = offload(fft.fftfreq)

/**
 * rfftfreq without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(n: number, opts?: import('./fft').FrequencyOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as rfftfreq, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await rfftfreqAsync(4, { d: 0.25 })).toArray() // [0, 1, 2]
 */
const rfftfreqAsync = offload(fft.rfftfreq)

/**
 * fftshift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').ShiftOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as fftshift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await fftshiftAsync(tensor([0, 1, 2, -2, -1]))).toArray() // [-2, -1, 0, 1, 2]
 */
const fftshiftAsync = offload(fft.fftshift)

/**
 * ifftshift without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./fft').ShiftOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as ifftshift, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await ifftshiftAsync(tensor([-2, -1, 0, 1, 2]))).toArray() // [0, 1, 2, -2, -1]
 */
const ifftshiftAsync = offload(fft.ifftshift)

/**
 * hann without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(n: number, opts?: import('./signals').WindowOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as hann, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await hannAsync(4)).toArray() // [0, 0.5, 1, 0.5]
 */
const hannAsync = offload(signals.hann)

/**
 * hamming without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(n: number, opts?: import('./signals').WindowOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as hamming, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await hammingAsync(4)).get(2) // 1
 */
const hammingAsync = offload(signals.hamming)

/**
 * stft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./signals').StftOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, import('./fft').SpectrumName<D>>>>}
 * @throws as stft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await stftAsync(tensor([1, 1, 1, 1]), { nFft: 2, center: false, hopLength: 2 })).toArray() // [[[2, 0], [2, 0]], [[0, 0], [0, 0]]]
 */
const stftAsync = offload(signals.stft)

/**
 * istft without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./signals').IstftOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, import('./fft').SignalName<D>>>>}
 * @throws as istft, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await istftAsync(stft(tensor([1, 2, 3, 4, 5]), { nFft: 4, hopLength: 1 }), { hopLength: 1 })).toArray() // [1, 2, 3, 4, 5]
 */
const istftAsync = offload(signals.istft)

/**
 * melFilterbank without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends DtypeName = never, O extends DtypeName = never>(opts?: import('./signals').MelOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'float32'>>>>}
 * @throws as melFilterbank, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await melFilterbankAsync({ sampleRate: 8, nFft: 4, nMels: 1, norm: null })).toArray() // [[0, 1, 0]]
 */
const melFilterbankAsync = offload(signals.melFilterbank)

/**
 * logMelSpectrogram without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./signals').LogMelOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, import('./fft').SignalName<D>>>>}
 * @throws as logMelSpectrogram, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await logMelSpectrogramAsync(zeros([320]), { nMels: 1 })).toArray() // [[-1.5, -1.5]]
 */
const logMelSpectrogramAsync = offload(signals.logMelSpectrogram)

/**
 * convolve without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName = A, E extends DtypeName = never, O extends DtypeName = never>(a: Tensor<A> | TensorData, v: Tensor<B> | TensorData, opts?: import('./signals').ConvolveOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as convolve, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await convolveAsync(tensor([1, 2, 3]), [0, 1, 0.5])).toArray() // [0, 1, 2.5, 4, 1.5]
 */
const convolveAsync = offload(signals.convolve)

/**
 * matmul without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').ProductOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as matmul, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await matmulAsync(tensor([[1, 2], [3, 4]]), tensor([[1, 1], [0, 1]]))).toArray() // [[1, 3], [3, 7]]
 */
const matmulAsync = offload(matrices.matmul)

/**
 * vecdot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, axis?: import('./matrices').VecdotOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./matrices').VecdotOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as vecdot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await vecdotAsync(tensor([[1, 2], [3, 4]]), tensor([10, 1]))).toArray() // [12, 34]
 */
const vecdotAsync = offload(matrices.vecdot)

/**
 * tensordot without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').TensordotOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as tensordot, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await tensordotAsync(tensor([[1, 2], [3, 4]]), tensor([[1, 0], [1, 1]]), { axes: [[0], [1]] })).toArray() // [[1, 4], [2, 6]]
 */
const tensordotAsync = offload(matrices.tensordot)

/**
 * outer without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./matrices').OuterOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as outer, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await outerAsync(tensor([1, 2]), tensor([3, 4]))).toArray() // [[3, 4], [6, 8]]
 */
const outerAsync = offload(matrices.outer)

/**
 * einsum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<O extends DtypeName = any>(equation: string, ...operands: (AnyTensor | import('./matrices').ProductOptions<any, O> & { signal?: Signal | undefined })[]) => Promise<Tensor<O>>}
 * @throws as einsum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await einsumAsync('ij,kj->ik', tensor([[1, 2], [3, 4]]), tensor([[1, 1]]))).toArray() // [[3], [7]]
 */
const einsumAsync = offload(matrices.einsum)

/**
 * cosineSimilarity without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, axis?: import('./matrices').CosineOptions<O> & { signal?: Signal | undefined } | number, opts?: import('./matrices').CosineOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<Promote<A, B>>>>>}
 * @throws as cosineSimilarity, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await cosineSimilarityAsync(tensor([[3, 4], [0, 2]]), tensor([0, 1]))).toArray() // [0.800000011920929, 1]
 */
const cosineSimilarityAsync = offload(matrices.cosineSimilarity)

/**
 * histogram without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends 'int32' | 'int64' | 'float32' | 'float64' = never, W extends TensorData | undefined = undefined, P extends boolean | undefined = undefined>(x: AnyTensor, opts?: import('./statistics').HistogramOptions<E> & { weights?: W, density?: P } & { signal?: Signal | undefined } | NameOf<E>) => Promise<{ hist: Tensor<Or<E, W extends undefined ? (P extends true ? 'float64' : 'int32') : 'float64'>>, edges: AnyTensor }>}
 * @throws as histogram, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await histogramAsync(tensor([1, 2, 2, 4]), { bins: 3 })).hist.toArray() // [1, 2, 1]
 */
const histogramAsync = offload(statistics.histogram)

/**
 * digitize without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, bins: TensorData, opts?: import('./statistics').DigitizeOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as digitize, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await digitizeAsync(tensor([0.2, 6.4, 3]), [0, 1, 2.5, 4, 10])).toArray() // [1, 4, 3]
 */
const digitizeAsync = offload(statistics.digitize)

/**
 * cov without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./statistics').CovarianceOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as cov, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await covAsync(tensor([[0, 1, 2], [2, 1, 0]]))).toArray() // [[1, -1], [-1, 1]]
 */
const covAsync = offload(statistics.cov)

/**
 * corrcoef without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./statistics').CorrelationOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as corrcoef, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await corrcoefAsync(tensor([[0, 1, 2], [2, 1, 0]]))).toArray() // [[1, -1], [-1, 1]]
 */
const corrcoefAsync = offload(statistics.corrcoef)

/**
 * interp without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, F extends DtypeName = D, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, xp: TensorData, fp: Tensor<F> | TensorData, opts?: import('./interpolation').InterpOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<Promote<D, F>>>>>>}
 * @throws as interp, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await interpAsync(tensor([0, 1, 1.5, 2.75, 3.5]), [1, 2, 3], [3, 2, 0])).toArray() // [3, 3, 2.5, 0.5, 0]
 */
const interpAsync = offload(interpolation.interp)

/**
 * nansum without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as nansum, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nansumAsync(tensor([1, NaN, 3]))).item() // 4
 */
const nansumAsync = offload(nans.nansum)

/**
 * nanprod without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as nanprod, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanprodAsync(tensor([2, NaN, 3]))).item() // 6
 */
const nanprodAsync = offload(nans.nanprod)

/**
 * nanmean without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').TypedReductionOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as nanmean, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanmeanAsync(tensor([1, NaN, 3]))).item() // 2
 */
const nanmeanAsync = offload(nans.nanmean)

/**
 * nanvar without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as nanvar, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanvarAsync(tensor([1, NaN, 3]))).item() // 1
 */
const nanvarAsync = offload(nans.nanvar)

/**
 * nanstd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | Axes, opts?: import('./reductions').SpreadOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Floated<D>>>>>}
 * @throws as nanstd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanstdAsync(tensor([1, NaN, 3]))).item() // 1
 */
const nanstdAsync = offload(nans.nanstd)

/**
 * nanmin without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as nanmin, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanminAsync(tensor([[3, NaN], [NaN, NaN]]), { axis: 1 })).toArray() // [3, NaN]
 */
const nanminAsync = offload(nans.nanmin)

/**
 * nanmax without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, axis?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined } | Axes, opts?: import('./reductions').ReductionOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, D>>>}
 * @throws as nanmax, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await nanmaxAsync(tensor([[3, NaN], [1, 2]]), { axis: 1 })).toArray() // [3, 2]
 */
const nanmaxAsync = offload(nans.nanmax)

/**
 * linalg.cross without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, axis?: import('./linalg').CrossOptions<E, O> & { signal?: Signal | undefined } | NameOf<E> | number, opts?: import('./linalg').CrossOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Promote<A, B>>>>>}
 * @throws as linalg.cross, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.crossAsync(tensor([1, 0, 0]), tensor([0, 1, 0]))).toArray() // [0, 0, 1]
 */
const linalgCrossAsync = offload(linalg.cross)

/**
 * linalg.matrixPower without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, n: number, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as linalg.matrixPower, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.matrixPowerAsync(tensor([[1, 1], [1, 0]]), 10)).toArray() // [[89, 55], [55, 34]]
 */
const linalgMatrixPowerAsync = offload(linalg.matrixPower)

/**
 * linalg.trace without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').TraceOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, Summed<D>>>>>}
 * @throws as linalg.trace, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.traceAsync(tensor([[1, 2], [3, 4]]))).item() // 5
 */
const linalgTraceAsync = offload(linalg.trace)

/**
 * linalg.vectorNorm without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./norms').NormOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, RealOf<Floated<D>>>>>>}
 * @throws as linalg.vectorNorm, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.vectorNormAsync(tensor([[3, 4], [6, 8]]), { axis: 1 })).toArray() // [5, 10]
 */
const linalgVectorNormAsync = offload(linalg.vectorNorm)

/**
 * linalg.matrixNorm without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').MatrixNormOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, RealOf<Floated<D>>>>>}
 * @throws as linalg.matrixNorm, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.matrixNormAsync(tensor([[1, -2], [3, 4]]), { ord: Infinity })).item() // 7
 */
const linalgMatrixNormAsync = offload(linalg.matrixNorm)

/**
 * linalg.matrixRank without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<E extends import('./reductions').IndexName = never, O extends DtypeName = never>(x: AnyTensor, opts?: import('./linalg').RankOptions<E, O> & { signal?: Signal | undefined } | NameOf<E>) => Promise<Tensor<Or<O, Or<E, 'int32'>>>>}
 * @throws as linalg.matrixRank, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.matrixRankAsync(tensor([[1, 2], [2, 4]]))).item() // 1
 */
const linalgMatrixRankAsync = offload(linalg.matrixRank)

/**
 * linalg.det without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as linalg.det, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.detAsync(tensor([[3, 1], [2, 4]]))).item() // 10
 */
const linalgDetAsync = offload(linalg.det)

/**
 * linalg.slogdet without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName>(x: Tensor<D>, opts?: import('./linalg').NoOptions & { signal?: Signal | undefined }) => Promise<{ sign: Tensor<Floated<D>>, logabsdet: Tensor<RealOf<Floated<D>>> }>}
 * @throws as linalg.slogdet, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.slogdetAsync(tensor([[0, 1], [1, 0]]))).sign.item() // -1
 */
const linalgSlogdetAsync = offload(linalg.slogdet)

/**
 * linalg.inv without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as linalg.inv, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.invAsync(tensor([[2, 0], [0, 4]]))).toArray() // [[0.5, 0], [0, 0.25]]
 */
const linalgInvAsync = offload(linalg.inv)

/**
 * linalg.solve without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<A extends DtypeName, B extends DtypeName, O extends DtypeName = never>(x1: Tensor<A>, x2: Tensor<B>, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Promote<Floated<A>, Floated<B>>>>>}
 * @throws as linalg.solve, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.solveAsync(tensor([[2, 0], [0, 4]]), tensor([2, 2]))).toArray() // [1, 0.5]
 */
const linalgSolveAsync = offload(linalg.solve)

/**
 * linalg.cholesky without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').CholeskyOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as linalg.cholesky, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.choleskyAsync(tensor([[4, 2], [2, 10]]))).toArray() // [[2, 0], [1, 3]]
 */
const linalgCholeskyAsync = offload(linalg.cholesky)

/**
 * linalg.qr without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName>(x: Tensor<D>, opts?: import('./linalg').QrOptions & { signal?: Signal | undefined }) => Promise<{ q: Tensor<Floated<D>>, r: Tensor<Floated<D>> }>}
 * @throws as linalg.qr, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.qrAsync(tensor([[3, 5], [4, 0]]))).r.toArray() // [[-5, -3], [0, -4]]
 */
const linalgQrAsync = offload(linalg.qr)

/**
 * linalg.eigh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName>(x: Tensor<D>, opts?: import('./linalg').NoOptions & { signal?: Signal | undefined }) => Promise<{ eigenvalues: Tensor<RealOf<Floated<D>>>, eigenvectors: Tensor<Floated<D>> }>}
 * @throws as linalg.eigh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.eighAsync(tensor([[2, 0], [0, 1]]))).eigenvalues.toArray() // [1, 2]
 */
const linalgEighAsync = offload(linalg.eigh)

/**
 * linalg.eigvalsh without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, RealOf<Floated<D>>>>>}
 * @throws as linalg.eigvalsh, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.eigvalshAsync(tensor([[2, 0], [0, 1]]))).toArray() // [1, 2]
 */
const linalgEigvalshAsync = offload(linalg.eigvalsh)

/**
 * linalg.svd without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName>(x: Tensor<D>, opts?: import('./linalg').SvdOptions & { signal?: Signal | undefined }) => Promise<{ u: Tensor<Floated<D>>, s: Tensor<RealOf<Floated<D>>>, vh: Tensor<Floated<D>> }>}
 * @throws as linalg.svd, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.svdAsync(tensor([[0, 2], [1, 0]]))).s.toArray() // [2, 1]
 */
const linalgSvdAsync = offload(linalg.svd)

/**
 * linalg.svdvals without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').MatrixOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, RealOf<Floated<D>>>>>}
 * @throws as linalg.svdvals, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.svdvalsAsync(tensor([[0, 2], [1, 0]]))).toArray() // [2, 1]
 */
const linalgSvdvalsAsync = offload(linalg.svdvals)

/**
 * linalg.pinv without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.
 *
 * @type {<D extends DtypeName, O extends DtypeName = never>(x: Tensor<D>, opts?: import('./linalg').PinvOptions<O> & { signal?: Signal | undefined }) => Promise<Tensor<Or<O, Floated<D>>>>}
 * @throws as linalg.pinv, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * (await linalg.pinvAsync(tensor([[2], [0]]))).toArray() // [[0.5, 0]]
 */
const linalgPinvAsync = offload(linalg.pinv)

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
  sortAsync,
  argsortAsync,
  topKAsync,
  searchsortedAsync,
  isinAsync,
  resizeAsync,
  cropAsync,
  letterboxAsync,
  padAsync,
  iouAsync,
  unletterboxAsync,
  oneHotAsync,
  fftAsync,
  ifftAsync,
  rfftAsync,
  irfftAsync,
  hfftAsync,
  ihfftAsync,
  fftnAsync,
  ifftnAsync,
  fft2Async,
  ifft2Async,
  rfftnAsync,
  irfftnAsync,
  rfft2Async,
  irfft2Async,
  fftfreqAsync,
  rfftfreqAsync,
  fftshiftAsync,
  ifftshiftAsync,
  hannAsync,
  hammingAsync,
  stftAsync,
  istftAsync,
  melFilterbankAsync,
  logMelSpectrogramAsync,
  convolveAsync,
  matmulAsync,
  vecdotAsync,
  tensordotAsync,
  outerAsync,
  einsumAsync,
  cosineSimilarityAsync,
  histogramAsync,
  digitizeAsync,
  covAsync,
  corrcoefAsync,
  interpAsync,
  nansumAsync,
  nanprodAsync,
  nanmeanAsync,
  nanvarAsync,
  nanstdAsync,
  nanminAsync,
  nanmaxAsync,
  linalg: {
    crossAsync: linalgCrossAsync,
    matrixPowerAsync: linalgMatrixPowerAsync,
    traceAsync: linalgTraceAsync,
    vectorNormAsync: linalgVectorNormAsync,
    matrixNormAsync: linalgMatrixNormAsync,
    matrixRankAsync: linalgMatrixRankAsync,
    detAsync: linalgDetAsync,
    slogdetAsync: linalgSlogdetAsync,
    invAsync: linalgInvAsync,
    solveAsync: linalgSolveAsync,
    choleskyAsync: linalgCholeskyAsync,
    qrAsync: linalgQrAsync,
    eighAsync: linalgEighAsync,
    eigvalshAsync: linalgEigvalshAsync,
    svdAsync: linalgSvdAsync,
    svdvalsAsync: linalgSvdvalsAsync,
    pinvAsync: linalgPinvAsync
  }
}
