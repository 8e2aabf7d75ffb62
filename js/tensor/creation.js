'use strict'
// Functions that make tensors with bytes of their own: of a shape, like another tensor, with strides, of values.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { countCopy, countStaged } = require('../backend/storage')
const { shapeOf, optionsOf, isOptions, castingOf } = require('../base/validate')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { dtypeOfArray, partsOfLive } = require('../base/buffers')
const { flatten, scalarFor } = require('../layout/values')
const { placementLike } = require('../layout/placement')
const layouts = require('../layout/layouts')
const { denseLayout, allocated, written, withTemporary, emptyLayout, likeLayout, stridedLayout } =
  layouts
const { dtypeLike, OF_MAKING, bufferRangeOf, layoutOver, layoutOfBytes, copyBytes } = layouts
const { writeValues } = require('../layout/elements')
const { checkHeap } = require('../runtime/heap')
const { lazyFile } = require('../runtime/lazy')
const { copyRule, fromBlob, whyCopied } = require('./blob')
const { draw, drawIntegers } = require('./random')
const { Tensor, wrap, tensorOf } = require('./tensor')

const { opcodes } = ffi

const rearrange = lazyFile(() => require('../copy/recipes'))

/** @typedef {import('../layout/layouts').Lay} Lay */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { DtypeName, NameOf, Or, Shape, Value, InputOf, TensorData, MakeOptions, TensorOptions, RandomOptions, RandomFloating, RandomInteger, BytesOptions, ResultOptions, DtypeOfValue, DtypeOfBounds, DtypeOfData } from '../base/types' */

const FLOAT32 = dtypeOf('float32')
const OF_BYTES = [...OF_MAKING, 'copy']
const OF_TENSOR = [...OF_MAKING, 'casting']

// Each function below is one call of `make`, `makeFull`, `draw` or `drawIntegers` with one of three layouts:
// emptyLayout (a shape), likeLayout (another tensor's layout) or stridedLayout (shape and strides).

/**
 * A new tensor whose elements nothing but zeroing writes.
 *
 * @param {string} where  the function
 * @param {Lay} lay
 * @param {unknown} what  lay's second argument
 * @param {unknown} opts
 * @param {boolean} zeroed
 * @returns {Tensor}
 */
function make(where, lay, what, opts, zeroed) {
  const options = optionsOf(opts, OF_MAKING, where)
  const { dtype: name } = options
  const dtype = name === undefined ? (dtypeLike(lay, what) ?? FLOAT32) : dtypeOf(name)
  return wrap(lay(dtype, what, options, zeroed))
}

/**
 * The dtype of `full`'s result where none is named.
 *
 * @param {unknown} value
 */
function nameForValue(value) {
  return Array.isArray(value)
    ? 'complex64'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint'
        ? 'int64'
        : 'float32'
}

/**
 * A new tensor with one value everywhere.
 *
 * @param {string} where  the function
 * @param {Lay} lay
 * @param {unknown} what  lay's second argument
 * @param {unknown} value
 * @param {unknown} opts
 * @returns {Tensor}
 */
function makeFull(where, lay, what, value, opts) {
  const options = optionsOf(opts, OF_MAKING, where)
  const { dtype: name } = options
  const dtype =
    name === undefined ? (dtypeLike(lay, what) ?? dtypeOf(nameForValue(value))) : dtypeOf(name)
  const scalar = scalarFor(value, dtype)
  return wrap(written(lay(dtype, what, options, false), (layout) => ffi.fill(layout, scalar)))
}

// ---- By shape ----

/**
 * A tensor of uninitialised elements.
 *
 * @template {DtypeName} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (MakeOptions<E> & { dtype: E })} opts  a dtype, or options with one
 * @returns {Tensor<E>} row-major; owns its bytes, 64-byte aligned (16-byte where there are at most 64 bytes and
 *   `data` was read before the address)
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DEVICE, ERR_UNSUPPORTED
 * @see array API empty
 * @example
 * empty([2, 3], 'uint8').nbytes // 6
 */
/**
 * The same with options that need not have a dtype: float32 then.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {Shape} shape
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>}
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} opts
 * @returns {any}
 */
function empty(shape, opts) {
  if (opts === undefined && Array.isArray(shape)) {
    return wrap(allocated(denseLayout(FLOAT32.index, shape)))
  }
  return make('empty', emptyLayout, shape, opts, false)
}

/**
 * A tensor of zeros.
 *
 * @template {DtypeName} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (MakeOptions<E> & { dtype: E })} opts  a dtype, or options with one
 * @returns {Tensor<E>} owns its bytes
 * @throws as empty
 * @see array API zeros
 * @example
 * zeros([2], 'int64').toArray() // [ 0n, 0n ]
 */
/**
 * The same with options that need not have a dtype: float32 then.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {Shape} shape
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>}
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} opts
 * @returns {any}
 */
function zeros(shape, opts) {
  return make('zeros', emptyLayout, shape, opts, true)
}

/**
 * A tensor of ones.
 *
 * @template {DtypeName} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (MakeOptions<E> & { dtype: E })} opts  a dtype, or options with one
 * @returns {Tensor<E>} owns its bytes
 * @throws as empty
 * @see array API ones
 * @example
 * ones(3, { dtype: 'bool' }).toArray() // [true, true, true]
 */
/**
 * The same with options that need not have a dtype: float32 then.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {Shape} shape
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, 'float32'>>}
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} opts
 * @returns {any}
 */
function ones(shape, opts) {
  return make('ones', emptyLayout, shape, opts, false).fill(1)
}

/**
 * A tensor with one value everywhere.
 *
 * @template {DtypeName} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {Value} value  that fits the dtype
 * @param {E | (MakeOptions<E> & { dtype: E })} opts  a dtype, or options with one
 * @returns {Tensor<E>} owns its bytes
 * @throws as empty · {TypeError} ERR_CAST the value does not fit
 * @see array API full
 * @example
 * full([2, 2], 7, 'uint8').toArray() // [[7, 7], [7, 7]]
 */
/**
 * The same with options that need not have a dtype: the value decides then.
 *
 * @template {Value} V
 * @template {DtypeName} [D=never]
 * @overload
 * @param {Shape} shape
 * @param {V} value  number -> float32, bigint -> int64, boolean -> bool, pair -> complex64
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfValue<V>>>}
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} value
 * @param {any} opts
 * @returns {any}
 */
function full(shape, value, opts) {
  return makeFull('full', emptyLayout, shape, value, opts)
}

/**
 * A tensor without axes.
 *
 * @template {Value} V
 * @template {DtypeName} [D=never]
 * @param {V} value  dtype as full
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfValue<V>>>} owns its bytes
 * @throws as full
 * @see PyTorch scalar_tensor, ExecuTorch scalar_tensor
 * @example
 * scalarTensor(2n).dtype // 'int64'
 */
function scalarTensor(value, opts) {
  return makeFull('scalarTensor', emptyLayout, [], value, opts)
}

// ---- Like another tensor ----

/**
 * @param {unknown} t
 * @returns {Layout}
 */
const layoutOf = (t) => Tensor.layoutOf(tensorOf(t))

/**
 * A tensor of uninitialised elements with the shape of another tensor.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t  gives shape, dtype, device and order of axes in memory; the result has no gaps, and its dynamism is 'bounded' unless told
 * @param {MakeOptions<E> | NameOf<E>} [opts]  for what shall differ from t
 * @returns {Tensor<Or<E, D>>} owns its bytes
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · ERR_DISPOSED · as empty
 * @see array API empty_like
 * @example
 * emptyLike(zeros([2, 3], 'int8').T).strides // [1, 3]
 */
function emptyLike(t, opts) {
  return make('emptyLike', likeLayout, layoutOf(t), opts, false)
}

/**
 * A tensor of zeros with the shape of another tensor.
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
function zerosLike(t, opts) {
  return make('zerosLike', likeLayout, layoutOf(t), opts, true)
}

/**
 * A tensor of ones with the shape of another tensor.
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
function onesLike(t, opts) {
  return make('onesLike', likeLayout, layoutOf(t), opts, false).fill(1)
}

/**
 * A tensor with one value everywhere and the shape of another tensor.
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
function fullLike(t, value, opts) {
  return makeFull('fullLike', likeLayout, layoutOf(t), value, opts)
}

/**
 * A tensor of numbers from [0, 1), all equally likely, with the shape of another tensor.
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
function randLike(t, opts) {
  return draw('randLike', opcodes.uniform, likeLayout, layoutOf(t), opts)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1, with the shape of another tensor.
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
function randnLike(t, opts) {
  return draw('randnLike', opcodes.normal, likeLayout, layoutOf(t), opts)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely, with the shape of another tensor.
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
function randintLike(t, low, high, opts) {
  return drawIntegers('randintLike', likeLayout, layoutOf(t), low, high, opts)
}

// ---- With strides ----

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
function emptyStrided(shape, strides, opts) {
  return make('emptyStrided', stridedLayout, { shape, strides }, opts, false)
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
function zerosStrided(shape, strides, opts) {
  return make('zerosStrided', stridedLayout, { shape, strides }, opts, true)
}

/**
 * A tensor of ones; bytes between its elements are uninitialised.
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
function onesStrided(shape, strides, opts) {
  return make('onesStrided', stridedLayout, { shape, strides }, opts, false).fill(1)
}

/**
 * A tensor with one value everywhere; bytes between its elements are uninitialised.
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
function fullStrided(shape, strides, value, opts) {
  return makeFull('fullStrided', stridedLayout, { shape, strides }, value, opts)
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
function randStrided(shape, strides, opts) {
  return draw('randStrided', opcodes.uniform, stridedLayout, { shape, strides }, opts)
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
function randnStrided(shape, strides, opts) {
  return draw('randnStrided', opcodes.normal, stridedLayout, { shape, strides }, opts)
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
function randintStrided(low, high, shape, strides, opts) {
  return drawIntegers('randintStrided', stridedLayout, { shape, strides }, low, high, opts)
}

// ---- Of values and bytes ----

/**
 * Reads (shape, options), or (options) without a shape.
 *
 * @param {unknown} shape
 * @param {unknown} opts
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {{ given: unknown, asked: Record<string, any> }}
 */
function shapeAndOptions(shape, opts, names, where) {
  return opts === undefined && shape !== undefined && shape !== null && isOptions(shape)
    ? { given: undefined, asked: optionsOf(shape, names, where) }
    : { given: shape === null ? undefined : shape, asked: optionsOf(opts, names, where) }
}

/**
 * Copies values into a new tensor: a number, bigint, boolean, nested lists or iterables of them, a typed array, or a tensor.
 * Numbers become float32, not float64. Where the lists have tensors and typed arrays alone, the result is their stack: their dtype is kept
 * (several are promoted as by promoteTypes), and `casting` says which dtype may be asked for instead; where it is not given, another kind may be
 * as well, of values that fit it. Numbers beside tensors and typed arrays take that dtype too. If it is one of integers that does not hold them
 * all, the result is int64 if there are bigints, else float32, or float64 if the dtype has 32 bits. In a complex dtype, innermost pairs of
 * numbers are values: [re, im].
 *
 * @template {TensorData} T
 * @template {DtypeName} [D=never]
 * @param {T} data  in logical order; it stays the caller's
 * @param {Shape | null | TensorOptions<D> | NameOf<D>} [shape]  that of data where none is given
 * @param {TensorOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfData<T>>>} owns its bytes
 * @throws {RangeError} ERR_SHAPE ragged, or another count, ERR_MEMORY · {TypeError} ERR_CAST a value or a dtype does not fit, ERR_DTYPE, ERR_ARGUMENT ·
 *   ERR_DETACHED
 * @see PyTorch tensor, array API asarray with copy
 * @example
 * tensor([[1, 2], [3, 4]]).shape // [2, 2]
 * tensor([[1, 2], [3, 4]], 'complex64').shape // [2]
 * tensor([tensor(1n), tensor(2n)]).dtype // 'int64'
 * tensor([Int32Array.of(1, 2), [3, 4]]).dtype // 'int32'
 */
function tensor(data, shape, opts) {
  const { given, asked } = shapeAndOptions(shape, opts, OF_TENSOR, 'tensor')
  const { dtype, device, dynamism, order, shared, pinMemory, casting } = asked
  const options = { dtype, device, dynamism, order, shared, pinMemory, casting }
  const made = tensorOfData(data, given === undefined ? null : shapeOf(given), options)
  countCopy('tensor', made.nbytes)
  return made
}

/**
 * Copies values into a new tensor, without counting the copy.
 *
 * @param {any} data
 * @param {number[] | null} extents  null: those of data
 * @param {TensorOptions} options  without getters
 * @returns {Tensor}
 */
function tensorOfData(data, extents, options) {
  const casting = castingOf(options.casting)
  const named = options.dtype === undefined ? undefined : dtypeOf(options.dtype)
  const arrayType = dtypeOfArray(data)
  if (Tensor.isTensor(data)) {
    const source = Tensor.layoutOf(data)
    const shape = checkCount(extents ?? source.shape, source.size)
    const made = emptyLayout(named ?? dtypes[source.dtype], shape, options, false)
    return wrap(written(made, (made) => fillFrom(made, source, casting, extents !== null)))
  }
  if (arrayType !== undefined) {
    const from = dtypeOf(arrayType)
    const { length } = partsOfLive(data, 'the typed array')
    const source = layoutOver(data, from.index, [length]) // allocating may grow memory, and leave data empty
    const made = emptyLayout(named ?? from, checkCount(extents ?? [length], length), options, false)
    return wrap(written(made, (made) => fillFrom(made, source, casting, true)))
  }
  const keeps = (/** @type {number} */ dtype) =>
    named === undefined || options.casting !== undefined || ffi.canCast(dtype, named.index, casting)
  const { values, shape, kept } = flatten('data', data, named?.kind === 'COMPLEX', keeps)
  if (kept !== null) return copyOfRows(kept, shape, extents, options, casting)
  const dtype = named ?? dtypeOf(values.dtype)
  const made = emptyLayout(dtype, checkCount(extents ?? shape, values.count), options, false)
  return wrap(written(made, (made) => writeValues(made, values)))
}

const ROW_BYTES = 1024 // of heap that one row takes here

/** @param {any} row  a tensor or a typed array @returns {Layout} */
function layoutOfRow(row) {
  const arrayType = dtypeOfArray(row)
  if (arrayType === undefined) return Tensor.attachedOf(row)
  const { length } = partsOfLive(row, 'a list in data')
  return layoutOver(row, dtypeOf(arrayType).index, [length])
}

/**
 * Copies tensors and typed arrays that stood in nested lists into a new tensor.
 *
 * @param {any[]} list
 * @param {number[]} outer  shape of the lists
 * @param {number[] | null} extents  null: those of the lists and rows
 * @param {TensorOptions} options  the dtype promoted from the rows' where none is given
 * @param {number} casting
 * @returns {Tensor}
 */
function copyOfRows(list, outer, extents, options, casting) {
  checkHeap(
    list.length * ROW_BYTES,
    () => `${list.length} rows; make a tensor, and copy some at a time`,
  )
  const recipe = rearrange().stack(list.map(layoutOfRow), 0)
  const { shape } = recipe
  const found = [...outer, ...shape.slice(1)]
  const dtype = options.dtype === undefined ? dtypes[recipe.dtype] : dtypeOf(options.dtype)
  const rows = ffi.dense(dtype.index, shape)
  const extentsOfAll = extents === null ? found : checkCount(extents, rows.size)
  const made = emptyLayout(dtype, extentsOfAll, options, false)
  written(made, () => {
    if (ffi.isContiguous(made)) {
      rows.storage = made.storage
      recipe.write(rows, casting)
      return
    }
    const fill = (/** @type {Layout} */ copy) => {
      recipe.write(copy, casting)
      countStaged(copy.nbytes)
      fillFrom(made, copy, 0, true)
    }
    withTemporary(rows, fill, placementLike(made.storage))
  })
  return wrap(made)
}

/**
 * Checks that a shape has as many elements as the data.
 *
 * @param {number[]} shape
 * @param {number} count
 * @returns {number[]}
 */
function checkCount(shape, count) {
  const { size } = ffi.dense(0, shape)
  if (size !== count) {
    throw failure(
      'ERR_SHAPE',
      `shape [${shape.join(', ')}] has ${size} elements; the data has ${count}`,
    )
  }
  return shape
}

/**
 * @param {Layout} target
 * @param {Layout} source
 * @param {number} casting
 * @param {boolean} reshaped  the source's shape may differ from the target's
 */
function fillFrom(target, source, casting, reshaped) {
  const viewed = reshaped ? ffi.reshape(source, target.shape) : source
  if (viewed.storage !== ffi.nothing || source.storage === ffi.nothing) {
    ffi.copy(target, viewed, casting)
    return
  }
  // Strides allow no such view: a contiguous temporary does.
  const copyTwice = (/** @type {Layout} */ flat) => {
    viewed.storage = flat.storage
    ffi.copy(flat, source, 0)
    countStaged(flat.nbytes)
    ffi.copy(target, viewed, casting)
  }
  withTemporary(ffi.dense(source.dtype, source.shape), copyTwice, placementLike(source.storage))
}

/**
 * Makes a tensor of raw bytes: a copy, or a tensor over them.
 *
 * @template {DtypeName} [D=any]
 * @overload
 * @param {ArrayBufferView | ArrayBufferLike} bytes  exactly as many as the shape needs, at any alignment; they stay the caller's
 * @param {Shape | null} shape  elements; null: one axis with all bytes
 * @param {BytesOptions<D> | NameOf<D>} opts  dtype is required. copy: true where nothing is given; 'if-needed': a tensor over the bytes themselves, as
 *   fromBlob makes it, where they are aligned for the dtype (and nothing asks for other memory), else a copy; false: never a copy
 * @returns {Tensor<D>} owns its bytes, if they were copied
 * @throws {RangeError} ERR_SHAPE another length, ERR_MEMORY; ERR_ALIGNMENT copy is false · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED ·
 *   ERR_UNSUPPORTED copy is false, and a copy is asked for besides
 * @see NumPy frombuffer, array API asarray (copy=None), ExecuTorch make_tensor_ptr over std::vector<uint8_t>
 * @example
 * fromBytes(Uint8Array.of(1, 0, 0, 1), [2], 'int16').toArray() // [1, 256]
 * fromBytes(new Uint8Array(9).subarray(1), [2], { dtype: 'float32', copy: 'if-needed' }).toArray() // [0, 0]
 */
/**
 * As above, of one axis with all bytes.
 *
 * @template {DtypeName} [D=any]
 * @overload
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of whole elements
 * @param {BytesOptions<D> | NameOf<D>} opts
 * @returns {Tensor<D>}
 * @throws as with a shape
 * @example
 * fromBytes(Uint8Array.of(1, 0, 0, 1), 'int16').shape // [2]
 */
/**
 * @param {ArrayBufferView | ArrayBufferLike} bytes
 * @param {any} [shape]
 * @param {any} [opts]
 * @returns {Tensor}
 */
function fromBytes(bytes, shape, opts) {
  const { given, asked } = shapeAndOptions(shape, opts, OF_BYTES, 'fromBytes')
  const { dtype: name, device, dynamism, order, shared, pinMemory, copy } = asked
  const options = { device, dynamism, order, shared, pinMemory }
  if (name === undefined) {
    throw failure('ERR_DTYPE', 'dtype is needed: bytes do not tell what their elements are')
  }
  const dtype = dtypeOf(name)
  const rule = copyRule(copy)
  const parts = bufferRangeOf(bytes)
  const extents =
    given === undefined ? [Math.floor(parts.byteLength / dtype.itemsize)] : shapeOf(given)
  const nbytes = ffi.dense(dtype.index, extents).size * dtype.itemsize
  if (parts.byteLength !== nbytes) {
    throw failure(
      'ERR_SHAPE',
      `bytes has ${parts.byteLength} bytes; ${given === undefined ? `a multiple of ${dtype.itemsize}, as ${dtype.name} needs, was expected` : `the shape needs ${nbytes}`}`,
    )
  }
  const why = rule === true ? undefined : whyCopied(parts, dtype, extents, options)
  if (why === null) {
    const buffer = /** @type {ArrayBuffer} */ (parts.buffer)
    const source = new Uint8Array(buffer, parts.byteOffset, nbytes)
    return fromBlob(source, extents, { dtype: dtype.name, dynamism, owner: bytes })
  }
  if (rule === false && why !== undefined) throw why()
  const source = layoutOfBytes(parts, dtype.index, extents, order !== 'F')
  const made = written(emptyLayout(dtype, extents, options, false), (made) =>
    copyBytes(made, source),
  )
  countCopy('fromBytes', nbytes)
  return wrap(made)
}

/**
 * A copy with its own bytes; its axes have the same order in memory.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t
 * @param {ResultOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>}
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · as the method of this name
 * @see PyTorch clone, ExecuTorch clone_tensor_ptr
 * @example
 * clone(zeros([2]), 'float64').dtype // 'float64'
 */
function clone(t, opts) {
  Tensor.layoutOf(tensorOf(t))
  return t.clone(opts)
}

module.exports = {
  tensor,
  empty,
  zeros,
  ones,
  full,
  scalarTensor,
  fromBytes,
  clone,
  tensorOfData,
  emptyLike,
  zerosLike,
  onesLike,
  fullLike,
  randLike,
  randnLike,
  randintLike,
  emptyStrided,
  zerosStrided,
  onesStrided,
  fullStrided,
  randStrided,
  randnStrided,
  randintStrided,
}
