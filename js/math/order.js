'use strict'
// Sorting and what it answers: the greatest elements, places among sorted ones, unique values, and how often integers occur.

const { failure } = require('../base/errors')
const { boolean, integer, oneOf } = require('../base/validate')
const { rows, run, resultAt } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { made } = require('./allocate')
const { inRange, lastAxes, permuted, withExtent } = require('./axes')
const { BOOL, INT32, INT64, FLOAT32, FLOAT64, MOST_INT32 } = require('./constants')
const { refusable, target } = require('./cores')
const lists = require('./lists')
const { operandOf } = require('./operands')
const { dtypeAmong, known, optionsAlong, optionsFor } = require('./options')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Casting, DtypeName, NameOf, Or, TensorData } from '../base/types' */
/** @import { IndexName } from './reductions' */

/**
 * @template {DtypeName} [O=any]
 * @typedef {object} SortOptions
 * @property {number | undefined} [axis]  -1 where none is given
 * @property {boolean | undefined} [descending]  the greatest first; NaN last all the same
 * @property {boolean | undefined} [stable]  equal elements keep their order: they do in any case
 * @property {Tensor<O> | undefined} [out]  of x's shape; gets the result, and is returned; may be x
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */
/** @template {IndexName} [E=any] @template {DtypeName} [O=any] @typedef {SortOptions<O> & { dtype?: E | undefined }} ArgsortOptions dtype: of indices; 'int32' where none is given */
/** @template {IndexName} [E=any] @typedef {{ axis?: number | undefined, largest?: boolean | undefined, sorted?: boolean | undefined, dtype?: E | undefined }} TopKOptions axis: -1 where none is given; largest: true; sorted: true; dtype: of indices */
/** @template {IndexName} [E=any] @template {DtypeName} [O=any] @typedef {{ side?: 'left' | 'right' | undefined, sorter?: AnyTensor | readonly number[] | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} SearchOptions side: 'left' where none is given; sorter: indices that sort x1; dtype: of the result */
/** @template {DtypeName} [O=any] @typedef {{ invert?: boolean | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} IsinOptions */
/** @template {IndexName} [E=any] @typedef {{ dtype?: E | undefined }} UniqueOptions dtype: of indices and counts; 'int32' where none is given */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ weights?: TensorData | undefined, minlength?: number | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} BincountOptions minlength: bins at least; dtype: 'int32' or 'int64', of weights 'float64' or 'float32' */

const OF_SORT = known(['axis', 'descending', 'stable', 'out', 'casting'], 'axis')
const OF_ARGSORT = known(['axis', 'descending', 'stable', 'dtype', 'out', 'casting'], 'axis')
const OF_TOP = known(['axis', 'largest', 'sorted', 'dtype'], 'axis')
const OF_SEARCH = known(['side', 'sorter', 'dtype', 'out', 'casting'])
const OF_ISIN = known(['invert', 'out', 'casting'])
const OF_UNIQUE = known(['dtype'])
const NO_OPTIONS = known([])
const OF_BINCOUNT = known(['weights', 'minlength', 'dtype', 'out', 'casting'], 'minlength')

const INDICES = /** @type {const} */ ([INT32, INT64])
const SUMS = /** @type {const} */ ([FLOAT64, FLOAT32])
const SIDES = ['left', 'right']
const IS_IN = 2 // after the sides (src/math/search.c)

/**
 * @param {number} n  the greatest index or count
 * @param {number} dtype  of the result
 * @param {Tensor | undefined} out
 */
function checkIndices(n, dtype, out) {
  const result = out === undefined ? dtype : Tensor.layoutOf(out).dtype
  if (n > MOST_INT32 && result === INT32) {
    throw failure('ERR_BOUNDS', `there are ${n} elements, whose indices need { dtype: 'int64' }`)
  }
}

const layoutOf = Tensor.writableOf

/**
 * Options of sort and argsort, read.
 *
 * @param {any} first  axis, or options
 * @param {any} opts
 * @param {import('./options').Known} names
 */
function readSort(first, opts, names) {
  const options = optionsAlong(first, opts, names)
  const { axis = -1, descending, stable } = options
  const given = integer('axis', axis)
  const isDescending = boolean('descending', descending)
  boolean('stable', stable)
  return { given, isDescending, ...resultIn(options) }
}

/**
 * Elements along an axis in ascending order, or descending. Equal ones, as -0 and 0, keep their order, and NaN come last in both.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {SortOptions<O> | number} [axis]  or options
 * @param {SortOptions<O>} [opts]
 * @returns {Tensor<Or<O, D>>} of x's shape; NaN are canonical
 * @throws {TypeError} ERR_DTYPE complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside, ERR_SHAPE of out, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API sort
 * @example
 * sort(tensor([3, 1, NaN, 2]), { descending: true }).toArray() // [3, 2, 1, NaN]
 */
function sort(x, axis, opts) {
  tensorOf(x, 'x')
  const { given, isDescending, out, casting } = readSort(axis, opts, OF_SORT)
  const from = operandOf(x, 'x')
  const { shape } = from
  const order = lastAxes(shape.length, [inRange(given, shape.length)])
  const { to, result } = target(out, from.dtype, shape)
  run(rows.sort, [permuted(to, order)], [permuted(from, order)], {
    numbers: [1, isDescending ? 1 : 0, casting],
  })
  return result()
}

/**
 * Indices along an axis in the order that sort puts their elements in. Equal ones keep their order.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x  real numbers or bool
 * @param {ArgsortOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {ArgsortOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} of x's shape; int32, or what dtype says
 * @throws as sort · {RangeError} ERR_BOUNDS the axis has more than 2^31 - 1 elements, and dtype is not 'int64'
 * @see array API argsort
 * @example
 * argsort(tensor([3, 1, NaN, 2])).toArray() // [1, 3, 0, 2]
 */
function argsort(x, axis, opts) {
  tensorOf(x, 'x')
  const { given, isDescending, out, dtype, casting } = readSort(axis, opts, OF_ARGSORT)
  const index = dtypeAmong(dtype, INDICES)
  const from = operandOf(x, 'x')
  const { shape } = from
  const at = inRange(given, shape.length)
  checkIndices(shape[at], index, out)
  const order = lastAxes(shape.length, [at])
  const { to, result } = target(out, index, shape, casting)
  run(rows.argsort, [permuted(to, order)], [permuted(from, order)], {
    numbers: [isDescending ? 1 : 0, casting],
  })
  return result()
}

/**
 * The k greatest elements along an axis, or the k least ones, and their indices, without sorting all. Of equal elements the first ones are
 * taken. Unlike in sort, NaN counts as the greatest.
 *
 * @template {DtypeName} D
 * @template {IndexName} [E=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {number} k  from 0 to the elements along the axis
 * @param {TopKOptions<E> | NameOf<E> | number} [axis]  or options
 * @param {TopKOptions<E> | NameOf<E>} [opts]  sorted: false allows any order
 * @returns {{ values: Tensor<D>, indices: Tensor<Or<E, 'int32'>> }} with k elements along the axis
 * @throws as sort · {RangeError} ERR_BOUNDS k is outside, or as argsort
 * @see PyTorch topk
 * @example
 * topK(tensor([3, 9, 4, 9]), 3).indices.toArray() // [1, 3, 2]
 */
function topK(x, k, axis, opts) {
  tensorOf(x, 'x')
  const count = integer('k', k)
  const options = optionsAlong(axis, opts, OF_TOP)
  const { axis: named = -1, largest = true, sorted } = options
  const given = integer('axis', named)
  const isLargest = boolean('largest', largest)
  boolean('sorted', sorted)
  const index = dtypeAmong(resultIn(options).dtype, INDICES)
  const from = operandOf(x, 'x')
  const at = inRange(given, from.shape.length)
  if (count < 0 || count > from.shape[at]) {
    throw failure(
      'ERR_BOUNDS',
      `k is ${count}; from 0 to ${from.shape[at]} was expected, the elements along axis ${at}`,
    )
  }
  checkIndices(from.shape[at], index, undefined)
  const shape = withExtent(from.shape, at, count)
  const order = lastAxes(shape.length, [at])
  const values = target(undefined, from.dtype, shape)
  const indices = target(undefined, index, shape)
  run(
    rows.top_k,
    [permuted(values.to, order), permuted(indices.to, order)],
    [permuted(from, order)],
    { numbers: [isLargest ? 1 : 0] },
  )
  return { values: values.result(), indices: indices.result() }
}

/**
 * Where elements would be inserted into sorted ones so that these stay sorted: how many are less, or, on the right side, not greater.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {TensorData} x1  a tensor or list of shape [n]; real numbers or bool in ascending order, NaN last
 * @param {TensorData} x2  a tensor, scalar or nested lists. One of both is a tensor; beside floats numbers are rounded to its dtype, and have to fit
 *   it. Else values of all dtypes are compared as they are, none is rounded
 * @param {SearchOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} of x2's shape; from 0 to n; int32, or what dtype says
 * @throws {TypeError} ERR_DTYPE complex numbers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_BOUNDS an index of sorter is outside, or as argsort, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API searchsorted
 * @example
 * searchsorted(tensor([10, 20, 30]), [20, 35], { side: 'right' }).toArray() // [2, 3]
 */
function searchsorted(x1, x2, opts) {
  const pair = lists.readPair(x1, x2)
  const options = optionsFor(opts, OF_SEARCH)
  const { side = 'left', sorter } = options
  oneOf('side', side, SIDES)
  const order = sorter === undefined ? null : lists.read('sorter', sorter)
  const { out, dtype, casting } = resultIn(options)
  const index = dtypeAmong(dtype, INDICES)
  return tidy(() => {
    const { x1: keys, x2: from } = lists.operandsOf(pair)
    const by = order === null ? null : operandOf(lists.tensorBeside(order, INT64), 'sorter')
    if (keys.shape.length !== 1) {
      throw failure('ERR_SHAPE', `x1 has ${keys.shape.length} axes; one was expected`)
    }
    if (by !== null) {
      const { kind, name } = dtypes[by.dtype]
      if (kind !== 'SIGNED' && kind !== 'UNSIGNED') {
        throw failure('ERR_DTYPE', `sorter is of ${name}; integers were expected`)
      }
      if (by.shape.length !== 1 || by.size !== keys.size) {
        throw failure(
          'ERR_SHAPE',
          `sorter has ${by.shape.length} axes and ${by.size} elements; as many as x1 has, ${keys.size}, were expected along one axis`,
        )
      }
    }
    checkIndices(keys.size, index, out)
    const { to, result } = target(out, index, from.shape, casting)
    lists.count('searchsorted', pair.x1, keys)
    lists.count('searchsorted', pair.x2, from)
    lists.count('searchsorted', order, by)
    const numbers = [side === 'left' ? 0 : 1, casting]
    if (by === null) run(rows.searchsorted, [to], [keys, from], { numbers })
    else refusable(out, to, () => run(rows.searchsorted_by, [to], [keys, by, from], { numbers }))
    return result()
  })
}

/**
 * Whether elements of x1 are among those of x2. -0 equals 0, and NaN no element.
 *
 * @template {DtypeName} [O=never]
 * @param {TensorData} x1  real numbers or bool: a tensor, scalar or nested lists
 * @param {TensorData} x2  of any shape, as x1. One of both is a tensor; beside floats numbers are rounded to its dtype, and have to fit it. Else values of
 *   all dtypes are compared as they are, none is rounded
 * @param {IsinOptions<O>} [opts]  invert: whether they are not
 * @returns {Tensor<Or<O, 'bool'>>} of x1's shape
 * @throws as searchsorted
 * @see array API isin
 * @example
 * isin(tensor([[1, 2], [3, 4]]), [4, 1]).toArray() // [[true, false], [false, true]]
 */
function isin(x1, x2, opts) {
  const pair = lists.readPair(x1, x2)
  const options = optionsFor(opts, OF_ISIN)
  const isNot = boolean('invert', options.invert)
  const { out, casting } = resultIn(options)
  return tidy(() => {
    const { x1: from, x2: among } = lists.operandsOf(pair)
    const { to, result } = target(out, BOOL, from.shape)
    lists.count('isin', pair.x1, from)
    lists.count('isin', pair.x2, among)
    run(rows.searchsorted, [to], [among, from], { numbers: [IS_IN + (isNot ? 1 : 0), casting] })
    return result()
  })
}

// ---- Unique values ----

/**
 * @param {unknown} x
 * @param {unknown} opts
 * @param {(from: Layout, index: number) => Record<string, Tensor<any>>} find
 * @returns {any}
 */
function unique(x, opts, find) {
  tensorOf(x, 'x')
  const index = dtypeAmong(resultIn(optionsFor(opts, OF_UNIQUE)).dtype, INDICES)
  const from = operandOf(/** @type {Tensor} */ (x), 'x')
  checkIndices(from.size, index, undefined)
  return tidy(() => find(from, index))
}

/**
 * By values alone.
 *
 * @param {Layout} from
 * @param {number} index  dtype
 */
function counted(from, index) {
  if (dtypes[from.dtype].kind === 'COMPLEX') {
    throw failure('ERR_DTYPE', `unique has no ${dtypes[from.dtype].name}, which have no order`)
  }
  const sorted = made(from.dtype, from.shape)
  run(rows.sort, [layoutOf(sorted)], [from], { numbers: [from.shape.length, 0, 0] })
  run(rows.count_runs, [], [layoutOf(sorted)])
  const found = [resultAt(1)]
  const values = made(from.dtype, found)
  const counts = made(index, found)
  run(rows.runs, [layoutOf(values), layoutOf(counts)], [layoutOf(sorted)])
  return { values, counts }
}

/**
 * By values and where they are.
 *
 * @param {Layout} from
 * @param {number} index  dtype
 */
function located(from, index) {
  const order = made(index, [from.size])
  const inverseIndices = made(index, from.shape)
  run(rows.rank, [layoutOf(order), layoutOf(inverseIndices)], [from])
  const found = [resultAt(1)]
  const values = made(from.dtype, found)
  const indices = made(index, found)
  const counts = made(index, found)
  run(
    rows.firsts,
    [layoutOf(indices), layoutOf(counts)],
    [layoutOf(order), layoutOf(inverseIndices)],
  )
  run(rows.take_flat, [layoutOf(values)], [from, layoutOf(indices)])
  return { values, indices, inverseIndices, counts }
}

/**
 * The unique elements of all of x, in ascending order, where each is first, which one each element of x is, and how often each occurs.
 * -0 equals 0; each NaN counts as a value of its own, other than in NumPy, and NaN come last.
 *
 * @template {DtypeName} D
 * @template {IndexName} [E=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {UniqueOptions<E> | NameOf<E>} [opts]
 * @returns {{ values: Tensor<D>, indices: Tensor<Or<E, 'int32'>>, inverseIndices: Tensor<Or<E, 'int32'>>, counts: Tensor<Or<E, 'int32'>> }} indices: in x without its axes; inverseIndices: in values, of x's shape
 * @throws {TypeError} ERR_DTYPE complex numbers, ERR_ARGUMENT · {RangeError} ERR_BOUNDS x has more than 2^31 - 1 elements, and dtype is not 'int64', ERR_MEMORY · ERR_UNSUPPORTED x is on a device
 * @see array API unique_all
 * @example
 * uniqueAll(tensor([5, 2, 5])).inverseIndices.toArray() // [1, 0, 1]
 */
const uniqueAll = (x, opts) => unique(x, opts, located)

/**
 * The unique elements of all of x, in ascending order, and how often each occurs; NaN as in uniqueAll.
 *
 * @template {DtypeName} D
 * @template {IndexName} [E=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {UniqueOptions<E> | NameOf<E>} [opts]
 * @returns {{ values: Tensor<D>, counts: Tensor<Or<E, 'int32'>> }}
 * @throws as uniqueAll
 * @see array API unique_counts
 * @example
 * uniqueCounts(tensor([5, 2, 5])).counts.toArray() // [1, 2]
 */
const uniqueCounts = (x, opts) => unique(x, opts, counted)

/**
 * The unique elements of all of x, in ascending order, and which one each element of x is; NaN as in uniqueAll.
 *
 * @template {DtypeName} D
 * @template {IndexName} [E=never]
 * @param {Tensor<D>} x  real numbers or bool
 * @param {UniqueOptions<E> | NameOf<E>} [opts]
 * @returns {{ values: Tensor<D>, inverseIndices: Tensor<Or<E, 'int32'>> }} inverseIndices: of x's shape
 * @throws as uniqueAll
 * @see array API unique_inverse
 * @example
 * uniqueInverse(tensor([5, 2, 5])).values.toArray() // [2, 5]
 */
function uniqueInverse(x, opts) {
  return unique(x, opts, (from, index) => {
    const { values, inverseIndices } = located(from, index)
    return { values, inverseIndices }
  })
}

/**
 * The unique elements of all of x, in ascending order; NaN as in uniqueAll.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x  real numbers or bool
 * @param {{}} [opts]  there are none
 * @returns {Tensor<D>} of shape [n]
 * @throws as uniqueAll
 * @see array API unique_values
 * @example
 * uniqueValues(tensor([5, 2, 5])).toArray() // [2, 5]
 */
function uniqueValues(x, opts) {
  tensorOf(x, 'x')
  optionsFor(opts, NO_OPTIONS)
  const from = operandOf(x, 'x')
  return tidy(() => counted(from, INT64).values)
}

// ---- How often ----

/**
 * How often each integer from 0 on occurs, or the sums of their weights.
 *
 * @template {'int32' | 'int64' | 'float32' | 'float64'} [E=never]
 * @template {DtypeName} [O=never]
 * @template {TensorData | undefined} [W=undefined]
 * @param {AnyTensor} x  of shape [n]; integers from 0 on, or bool
 * @param {BincountOptions<E, O> & { weights?: W } | NameOf<E>} [opts]  weights: a tensor or list of x's shape, added in float64
 * @returns {Tensor<Or<O, Or<E, W extends undefined ? 'int32' : 'float64'>>>} the greatest element and 1 are its length, or minlength if that is more; int32, or float64 of weights, or what dtype says
 * @throws {TypeError} ERR_DTYPE x is not of integers, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS a negative element, or more than 2^31 - 1 elements without a dtype, ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy bincount
 * @example
 * bincount(tensor([1, 3, 1], 'int32')).toArray() // [0, 2, 0, 1]
 */
function bincount(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_BINCOUNT)
  const { weights, minlength = 0 } = options
  const least = integer('minlength', minlength)
  if (least < 0) throw failure('ERR_BOUNDS', `minlength is ${least}; from 0 on was expected`)
  const weighed = weights === undefined ? null : lists.read('weights', weights)
  const { out, dtype, casting } = resultIn(options)
  const result =
    weighed === null ? dtypeAmong(dtype, INDICES) : dtypeAmong(dtype, SUMS, ' of weights')
  return tidy(() => {
    const from = operandOf(x, 'x')
    const by = weighed === null ? null : operandOf(lists.tensorBeside(weighed, FLOAT64), 'weights')
    if (from.shape.length !== 1) {
      throw failure(
        'ERR_SHAPE',
        `x has ${from.shape.length} axes; one was expected, as x.reshape(-1) has`,
      )
    }
    if (by !== null && (by.shape.length !== 1 || by.size !== from.size)) {
      throw failure(
        'ERR_SHAPE',
        `weights has ${by.shape.length} axes and ${by.size} elements; as many as x has, ${from.size}, were expected along one axis`,
      )
    }
    if (by === null) checkIndices(from.size, result, out)
    run(rows.count_bins, [], [from])
    const found = resultAt(1)
    const { to, result: done } = target(out, result, [found < least ? least : found])
    lists.count('bincount', weighed, by)
    if (by === null) run(rows.bincount, [to], [from], { numbers: [casting] })
    else run(rows.bincount_weighted, [to], [from, by], { numbers: [casting] })
    return done()
  })
}

module.exports = {
  sort,
  argsort,
  topK,
  searchsorted,
  isin,
  uniqueAll,
  uniqueCounts,
  uniqueInverse,
  uniqueValues,
  bincount,
}
