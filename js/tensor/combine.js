'use strict'
// Functions of several tensors: one made of all of them; views of one shape; whether they are equal, or have bytes in common.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const {
  MOST_PARTS,
  show,
  boolean,
  integer,
  shapeOf,
  oneOf,
  optionsOf,
  axisAndOptions,
} = require('../base/validate')
const { broadcast } = require('../layout/layouts')
const { checkSameDevice } = require('../layout/placement')
const rearrange = require('../copy/recipes')
const { Tensor, tensorOf, resultOf, produced } = require('./tensor')

/** @import { DtypeName, NameOf, Or, Promote, AnyTensor, AxisOptions, CloseOptions, EqualOptions, GridOptions, Shape, Joined, OfOne } from '../base/types' */

/**
 * Splits (list, ...) or (a, b, ...) into the tensors and the arguments after them.
 *
 * @param {unknown[]} args
 * @param {number} least  tensors expected
 * @returns {{ tensors: Tensor[], rest: unknown[] }}
 */
function tensorsOf(args, least) {
  const isList = Array.isArray(args[0])
  const given = isList ? /** @type {unknown[]} */ (args[0]) : args
  const { length } = given
  const tensors = []
  for (let i = 0; i < length; i++) {
    if (i === MOST_PARTS) {
      throw failure(
        'ERR_MEMORY',
        `a list of ${show(length)} tensors was given; ${MOST_PARTS} are possible`,
      )
    }
    const t = given[i]
    if (Tensor.isTensor(t)) tensors.push(t)
    else if (isList || i < least) {
      throw failure(
        'ERR_ARGUMENT',
        `${isList ? 'entry' : 'argument'} ${i} is ${show(t)}; a tensor was expected`,
      )
    } else break
  }
  if (tensors.length < least) {
    throw failure(
      'ERR_ARGUMENT',
      `${tensors.length} tensors were given; at least ${least} were expected`,
    )
  }
  return { tensors, rest: args.slice(isList ? 1 : tensors.length) }
}

/**
 * concat and stack: reads the arguments and writes the recipe's result.
 *
 * @param {string} reason  name of the function
 * @param {unknown[]} args
 * @param {(sources: InstanceType<typeof ffi.Layout>[], axis: number | null) => import('../copy/recipes').Recipe} recipeOf
 * @returns {Tensor}
 */
function combined(reason, args, recipeOf) {
  const { tensors, rest } = tensorsOf(args, 1)
  const { along: named, asked: opts } = axisAndOptions(rest[0], rest[1], reason)
  const axis = named === undefined ? 0 : named === null ? null : integer('axis', named)
  const result = resultOf(opts)
  return produced(reason, recipeOf(tensors.map(Tensor.attachedOf), axis), result)
}

/**
 * Joins tensors of one dtype along an axis that they have.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {OfOne<D, readonly Tensor<D>[]>} list  tensors of one shape but for the axis
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>} a copy
 * @throws as with several dtypes
 */
/**
 * Joins tensors along an axis that they have. Different dtypes are promoted as by promoteTypes, unless one is given.
 *
 * @template {readonly AnyTensor[]} L
 * @template {DtypeName} [E=never]
 * @overload
 * @param {readonly [...L]} list  tensors of one shape but for the axis
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Joined<L>>>} a copy
 * @throws {RangeError} ERR_SHAPE, ERR_BOUNDS axis, ERR_MEMORY · {TypeError} ERR_CAST, ERR_ARGUMENT · as copyFrom, of out
 * @see array API concat
 * @example
 * concat(tensor([1]), tensor([2, 3])).toArray() // [1, 2, 3]
 */
/**
 * Joins two tensors of one dtype along an axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins three tensors of one dtype along an axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {OfOne<D, Tensor<D>>} c
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins four tensors of one dtype along an axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {OfOne<D, Tensor<D>>} c
 * @param {OfOne<D, Tensor<D>>} d
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins two tensors along an axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<A, B>>>}
 * @throws as with a list
 */
/**
 * Joins three tensors along an axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} C
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {Tensor<C>} c
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<Promote<A, B>, C>>>}
 * @throws as with a list
 */
/**
 * Joins four tensors along an axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} C
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {Tensor<C>} c
 * @param {Tensor<D>} d
 * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  0 where none is given; null flattens the tensors first
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<Promote<Promote<A, B>, C>, D>>>}
 * @throws as with a list
 */
/**
 * Joins any number of tensors along an axis, without a list: the tensors, then axis and options.
 *
 * @overload
 * @param {...(AnyTensor | number | null | AxisOptions | DtypeName)} args
 * @returns {AnyTensor}
 * @throws as with a list
 */
/**
 * @param {...any} args
 * @returns {any}
 */
function concat(...args) {
  return combined('concat', args, rearrange.concat)
}

/**
 * Joins tensors of one dtype and shape along a new axis.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {OfOne<D, readonly Tensor<D>[]>} list
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>} a copy
 * @throws as with several dtypes
 */
/**
 * Joins tensors of one shape along a new axis. Different dtypes are promoted as by promoteTypes, unless one is given.
 *
 * @template {readonly AnyTensor[]} L
 * @template {DtypeName} [E=never]
 * @overload
 * @param {readonly [...L]} list
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Joined<L>>>} a copy
 * @throws as concat
 * @see array API stack
 * @example
 * stack([tensor([1, 2]), tensor([3, 4])], 1).toArray() // [[1, 3], [2, 4]]
 */
/**
 * Joins two tensors of one dtype along a new axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins three tensors of one dtype along a new axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {OfOne<D, Tensor<D>>} c
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins four tensors of one dtype along a new axis, without a list.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<D>} a
 * @param {OfOne<D, Tensor<D>>} b
 * @param {OfOne<D, Tensor<D>>} c
 * @param {OfOne<D, Tensor<D>>} d
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, D>>}
 * @throws as with a list
 */
/**
 * Joins two tensors along a new axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<A, B>>>}
 * @throws as with a list
 */
/**
 * Joins three tensors along a new axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} C
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {Tensor<C>} c
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<Promote<A, B>, C>>>}
 * @throws as with a list
 */
/**
 * Joins four tensors along a new axis, without a list.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} C
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @overload
 * @param {Tensor<A>} a
 * @param {Tensor<B>} b
 * @param {Tensor<C>} c
 * @param {Tensor<D>} d
 * @param {number | AxisOptions<E> | NameOf<E>} [axis]  of the result, 0 where none is given; negative counts from its end
 * @param {AxisOptions<E> | NameOf<E>} [opts]  out: gets the result, and is returned
 * @returns {Tensor<Or<E, Promote<Promote<Promote<A, B>, C>, D>>>}
 * @throws as with a list
 */
/**
 * Joins any number of tensors along a new axis, without a list: the tensors, then axis and options.
 *
 * @overload
 * @param {...(AnyTensor | number | AxisOptions | DtypeName)} args
 * @returns {AnyTensor}
 * @throws as with a list
 */
/**
 * @param {...any} args
 * @returns {any}
 */
function stack(...args) {
  return combined('stack', args, (sources, axis) => {
    if (axis === null) throw failure('ERR_ARGUMENT', 'axis is null; an integer was expected')
    return rearrange.stack(sources, axis)
  })
}

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
function broadcastShapes(...shapes) {
  /** @type {number[]} */
  let shape = []
  for (const given of shapes) shape = ffi.dense(0, broadcast(shape, shapeOf(given))).shape // checks extents and the size
  return shape.slice()
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
function broadcastArrays(...args) {
  const { tensors, rest } = tensorsOf(args, 1)
  if (rest.length > 0) {
    throw failure(
      'ERR_ARGUMENT',
      `${show(rest[0])} was given after ${tensors.length} tensors; tensors alone were expected`,
    )
  }
  const shape = tensors.reduce(
    (met, t) => broadcast(met, Tensor.layoutOf(t).shape),
    /** @type {number[]} */ ([]),
  )
  return tensors.map((t) => t.expand(shape))
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
function meshgrid(...args) {
  const { tensors, rest } = tensorsOf(args, 1)
  if (rest.length > 1 || typeof rest[0] === 'string') {
    throw failure('ERR_ARGUMENT', `options is ${show(rest[0])}; an object alone was expected`)
  }
  const { indexing } = optionsOf(rest[0], ['indexing'], 'meshgrid')
  const isSwapped =
    (indexing === undefined || oneOf('indexing', indexing, ['xy', 'ij']) === 0) &&
    tensors.length > 1
  const axisAt = (/** @type {number} */ i) => (isSwapped && i < 2 ? 1 - i : i)
  const layouts = tensors.map(Tensor.layoutOf)
  const shape = layouts.map((_, d) => layouts[axisAt(d)].size)
  return tensors.map((t, i) => {
    const { shape: own, strides } = layouts[i]
    if (own.length > 1) {
      throw failure('ERR_SHAPE', `tensor ${i} has shape [${own.join(', ')}]; one axis was expected`)
    }
    const steps = shape.map((_, d) => (d === axisAt(i) && own.length === 1 ? strides[0] : 0))
    return t.asStrided(shape, steps)
  })
}

/**
 * Do all tensors have the same shape and equal elements? Dtypes may differ; 64-bit integers and floats are compared exactly.
 *
 * @param {...(AnyTensor | readonly AnyTensor[] | EqualOptions)} args  (list, options) or (a, b, ..., options). equalNaN: NaN equals NaN
 * @returns {boolean}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DEVICE they are on different ones · ERR_DISPOSED, ERR_DETACHED
 * @see NumPy array_equal
 * @example
 * arrayEqual(tensor([1, 2]), tensor([1, 2], 'int64')) // true
 */
function arrayEqual(...args) {
  const { tensors, rest } = tensorsOf(args, 2)
  const { equalNaN: asked } = optionsOf(rest[0], ['equalNaN'], 'arrayEqual')
  const equalNaN = boolean('equalNaN', asked)
  const [first, ...others] = tensors.map(Tensor.attachedOf)
  for (const other of others) checkSameDevice(first.storage, other.storage)
  return others.every((other) => ffi.arrayEqual(first, other, equalNaN))
}

/**
 * Is |a - b| <= atol + rtol * |b| for all elements? The tensors are broadcast; an infinity is close to itself alone.
 *
 * @overload
 * @param {AnyTensor} a
 * @param {AnyTensor} b
 * @param {CloseOptions} [opts]  rtol = 1e-5, atol = 1e-8, equalNaN = false
 * @returns {boolean}
 * @throws {RangeError} ERR_SHAPE they do not broadcast, ERR_BOUNDS a tolerance below 0, ERR_MEMORY · {TypeError} ERR_ARGUMENT · ERR_DISPOSED, ERR_DETACHED
 * @see NumPy and PyTorch allclose
 * @example
 * allClose(tensor([1, 2]), tensor([1.000001, 2])) // true
 */
/**
 * As above, with a list of two tensors.
 *
 * @overload
 * @param {readonly [AnyTensor, AnyTensor]} list
 * @param {CloseOptions} [opts]  rtol = 1e-5, atol = 1e-8, equalNaN = false
 * @returns {boolean}
 * @throws as with two
 */
/**
 * @param {...any} args
 * @returns {boolean}
 */
function allClose(...args) {
  const { tensors, rest } = tensorsOf(args, 2)
  const options = optionsOf(rest[0], ['rtol', 'atol', 'equalNaN'], 'allClose')
  const { rtol, atol, equalNaN: asked } = options
  const within = [tolerance('rtol', rtol, 1e-5), tolerance('atol', atol, 1e-8)]
  const equalNaN = boolean('equalNaN', asked)
  if (tensors.length > 2) {
    throw failure('ERR_ARGUMENT', `${tensors.length} tensors were given; two were expected`)
  }
  const [a, b] = tensors.map(Tensor.attachedOf)
  checkSameDevice(a.storage, b.storage)
  return ffi.allClose(a, b, within[0], within[1], equalNaN)
}

/**
 * Do two tensors share any byte? Decided by addresses and strides.
 *
 * @overload
 * @param {Tensor} a
 * @param {Tensor} b
 * @returns {boolean}
 * @throws {TypeError} ERR_ARGUMENT other than two tensors · {RangeError} ERR_MEMORY interleaved layouts need a bit for each byte · ERR_DISPOSED
 * @see NumPy shares_memory
 * @example
 * const t = zeros([4])
 * sharesMemory(t.slice(':2'), t.slice('2:')) // false
 */
/**
 * As above, with a list of two tensors.
 *
 * @overload
 * @param {readonly [Tensor, Tensor]} list
 * @returns {boolean}
 * @throws as with two
 */
/**
 * @param {...any} args
 * @returns {boolean}
 */
function sharesMemory(...args) {
  const given = args.length === 1 && Array.isArray(args[0]) ? args[0] : args
  const { length } = given
  if (length !== 2) throw failure('ERR_ARGUMENT', `${length} tensors were given; two were expected`)
  const a = tensorOf(given[0], 'a')
  const b = tensorOf(given[1], 'b')
  return ffi.sharesMemory(Tensor.layoutOf(a), Tensor.layoutOf(b))
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} missing
 * @returns {number}
 */
function tolerance(name, value, missing) {
  if (value === undefined) return missing
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number was expected`)
  }
  if (value < 0) throw failure('ERR_BOUNDS', `${name} is ${value}; 0 or more was expected`)
  return value
}

module.exports = {
  concat,
  stack,
  broadcastShapes,
  broadcastArrays,
  meshgrid,
  arrayEqual,
  allClose,
  sharesMemory,
}
