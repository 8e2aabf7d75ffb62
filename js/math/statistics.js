'use strict'
// Histograms and covariances, as NumPy has them.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, integer, show } = require('../base/validate')
const { NONE, elementwise, ops } = require('./calls/calls')
const { atOnce } = require('./calls/plan')
const { rows, run } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { isSameShape, layoutOver } = require('../layout/layouts')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { made } = require('./allocate')
const { INT32, INT64, FLOAT32, FLOAT64, SAME_KIND, UNSAFE, MOST_INT32 } = require('./constants')
const { target } = require('./cores')
const {
  clip,
  divide,
  floor,
  greaterEqual,
  logicalNot,
  multiply,
  notEqual,
  positive,
  sqrt,
  subtract,
} = require('./functions')
const lists = require('./lists')
const { matmul } = require('./matrices')
const { checkNumbers, checkReal, operandOf, targetOf } = require('./operands')
const { dtypeAmong, floatOf, known, numberOf, optionsFor } = require('./options')
const { any, diff, max, mean, min, sum } = require('./reductions')
const { temporary } = require('./transforms')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Casting, DtypeName, Floated, NameOf, Or, TensorData } from '../base/types' */
/** @import { IndexName } from './reductions' */

/**
 * @template {DtypeName} [E=any]
 * @typedef {object} HistogramOptions
 * @property {number | TensorData | undefined} [bins]  how many of equal width; or their edges, ascending: a tensor or a list, which is rounded to x's dtype where that is of floats. 10 where nothing is given
 * @property {readonly [number, number] | undefined} [range]  the first edge and the last one, where bins is a number; x's least and greatest element where none is given
 * @property {E | undefined} [dtype]  of counts: 'int32' or 'int64'; of weights and density: 'float64' or 'float32'
 */

/** @template {IndexName} [E=any] @template {DtypeName} [O=any] @typedef {{ right?: boolean | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} DigitizeOptions right: bins have their upper edge, not the lower one; dtype: of indices, 'int32' where none is given */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} CorrelationOptions
 * @property {AnyTensor | undefined} [y]  more variables, with as many observations as x
 * @property {boolean | undefined} [rowvar]  true where none is given: a row is a variable, a column an observation; false: the other way round
 * @property {E | undefined} [dtype]  of the result: a float
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {CorrelationOptions<E, O> & { correction?: number | undefined, fweights?: TensorData | undefined, aweights?: TensorData | undefined }} CovarianceOptions correction: what is subtracted from the number of observations, 1 where none is given; fweights: how often each observation counts, integers; aweights: how much */

const OF_HISTOGRAM = known(['bins', 'range', 'weights', 'density', 'dtype'], 'bins')
const OF_DIGITIZE = known(['right', 'dtype', 'out', 'casting'])
const OF_COV = known([
  'y',
  'rowvar',
  'correction',
  'fweights',
  'aweights',
  'dtype',
  'out',
  'casting',
])
const OF_CORRCOEF = known(['y', 'rowvar', 'dtype', 'out', 'casting'])
const INDICES = /** @type {const} */ ([INT32, INT64])
const MOST_BINS = 2 ** 31 - 2
const EDGES = 2 ** 15 // that are written at a time

// ---- Histograms ----

/** @typedef {{ low: number, high: number }} Range */

/** @param {() => Tensor<any>} compute @returns {number} what is computed at once */
const itemOf = (compute) => atOnce(() => tidy(() => Number(compute().item())))

/** @param {unknown} range @returns {Range | null} null: none is given */
function rangeOf(range) {
  if (range === undefined) return null
  const isPair = Array.isArray(range) && range.length === 2
  const low = isPair ? range[0] : undefined
  const high = isPair ? range[1] : undefined
  if (typeof low !== 'number' || typeof high !== 'number') {
    throw failure('ERR_ARGUMENT', `range is ${show(range)}; [low, high] was expected`)
  }
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high) {
    throw failure(
      'ERR_ARGUMENT',
      `range is [${low}, ${high}]; two finite numbers, the second one not less, were expected`,
    )
  }
  return { low, high }
}

/**
 * An extreme as a number: of those that float64 rounds, one on the other side of all elements.
 *
 * @param {Tensor<any>} extreme
 * @param {1 | -1} side
 */
function numberBeyond(extreme, side) {
  const value = extreme.item()
  const x = Number(value)
  const isWithin = typeof value === 'bigint' && (side < 0 ? BigInt(x) > value : BigInt(x) < value)
  return isWithin ? x + side * Math.abs(x) * 2 ** -52 : x
}

/** @param {Tensor<any>} x @returns {Range} the least element and the greatest one, which are looked for at once */
function extremesOf(x) {
  if (x.size === 0) return { low: 0, high: 1 }
  const low = atOnce(() => tidy(() => numberBeyond(min(x), -1)))
  const high = atOnce(() => tidy(() => numberBeyond(max(x), 1)))
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    throw failure(
      'ERR_ARGUMENT',
      `x has elements from ${low} to ${high}; range says between which finite numbers the bins are`,
    )
  }
  return { low, high }
}

/**
 * Writes the edges of n equal bins, which are computed in float64, some at a time: there may be as many as there is memory for.
 *
 * @param {Layout} to
 * @param {number} n
 * @param {Range} range
 */
function writeEvenly(to, n, { low, high }) {
  const start = low === high ? low - 0.5 : low
  const end = low === high ? high + 0.5 : high
  const width = end - start
  const step = width / n
  if (!Number.isFinite(width)) {
    throw failure('ERR_ARGUMENT', `bins from ${start} to ${end} have no width in float64`)
  }
  const edges = new Float64Array(Math.min(n + 1, EDGES))
  for (let from = 0; from <= n; from += EDGES) {
    const count = Math.min(EDGES, n + 1 - from)
    for (let k = 0; k < count; k++) {
      const i = from + k
      edges[k] = i === n ? end : (step === 0 ? (i / n) * width : i * step) + start // of subnormal numbers a step may be 0
    }
    ffi.copy(
      ffi.viewByNumbers(ffi.opcodes.narrow, to, 0, from, count),
      layoutOver(edges, FLOAT64, [count]),
      UNSAFE,
    )
  }
}

/** @param {Layout} layout @param {string} name  of the argument */
function checkOrdered({ dtype }, name) {
  if (dtypes[dtype].kind === 'COMPLEX') {
    throw failure('ERR_DTYPE', `${name} is of ${dtypes[dtype].name}, which has no order`)
  }
}

/**
 * How edges are in order.
 *
 * @param {Tensor<any>} edges
 * @returns {1 | -1} ascending or descending
 * @throws {TypeError} ERR_ARGUMENT neither · {RangeError} ERR_SHAPE
 */
function directionOf(edges) {
  const layout = operandOf(edges, 'bins')
  const { length } = layout.shape
  if (length !== 1) throw failure('ERR_SHAPE', `bins has ${length} axes; one was expected`)
  checkOrdered(layout, 'bins')
  const values = /** @type {any[]} */ (atOnce(() => edges.toArray()))
  let i = 1
  while (i < values.length && values[i] === values[0]) i++
  const isDescending = i < values.length && !(values[0] < values[i])
  for (i++; i < values.length; i++) {
    if (isDescending ? values[i - 1] < values[i] : values[i - 1] > values[i]) {
      throw failure(
        'ERR_ARGUMENT',
        `bins[${i}] is ${values[i]} after ${values[i - 1]}; edges have to be in order`,
      )
    }
  }
  return isDescending ? -1 : 1
}

/**
 * The edges of a histogram, in new bytes: they are written at once.
 *
 * @param {Tensor<any>} x
 * @param {number | ReturnType<typeof lists.read>} bins
 * @param {Range | null} range
 * @returns {ReturnType<typeof target>}
 */
function edgesFor(x, bins, range) {
  const layout = operandOf(x, 'x')
  const { dtype } = layout
  if (typeof bins === 'number') {
    checkOrdered(layout, 'x')
    if (range === null) checkNumbers('histogram', layout)
    const limits = range ?? extremesOf(x)
    const made = target(undefined, dtypes[dtype].kind === 'FLOATING' ? dtype : FLOAT64, [bins + 1])
    writeEvenly(made.to, bins, limits)
    return made
  }
  const edges = lists.tensorBeside(bins, dtype, 'x')
  if (directionOf(edges) < 0) {
    throw failure('ERR_ARGUMENT', 'bins is descending; ascending edges were expected')
  }
  const from = operandOf(edges, 'bins')
  if (from.size === 0) throw failure('ERR_SHAPE', 'bins has no edges; one or more were expected')
  const made = target(undefined, from.dtype, from.shape)
  ffi.copy(made.to, from, 0)
  return made
}

/** @param {Tensor<any>} edges  ascending @returns {Tensor<any>} in float64 where they are no floats: differences of small integers would wrap */
function widthsOf(edges) {
  const { kind, itemsize } = dtypes[operandOf(edges, 'bins').dtype]
  if (kind === 'FLOATING') return diff(edges)
  return itemsize < 8
    ? diff(positive(edges, 'float64'))
    : positive(diff(edges).view({ dtype: 'uint64' }), 'float64') // exact before they are rounded
}

/**
 * How many elements are in each bin, or the sums of their weights, or with density what parts of them a unit of width has. A bin has its lower edge, the last one its upper
 * edge too. What is outside, and NaN beside a range or edges, is in none. Edges of equal bins are computed in float64 and rounded once, to x's
 * dtype where that is of floats; elements are compared with edges, so none is in a bin beside its own.
 *
 * @template {'int32' | 'int64' | 'float32' | 'float64'} [E=never]
 * @template {TensorData | undefined} [W=undefined]
 * @template {boolean | undefined} [P=undefined]
 * @param {AnyTensor} x  real numbers or bool, of any shape
 * @param {HistogramOptions<E> & { weights?: W, density?: P } | NameOf<E>} [opts]  weights: a tensor or lists of x's shape, added in float64 · density: the sum of hist times widths is 1
 * @returns {{ hist: Tensor<Or<E, W extends undefined ? (P extends true ? 'float64' : 'int32') : 'float64'>>, edges: AnyTensor }} hist: int32, float64 of weights and density, or what dtype says; edges: one more
 * @throws {TypeError} ERR_DTYPE complex numbers, and float8 without range and edges, ERR_CAST, ERR_ARGUMENT edges that do not ascend, NaN or infinities where neither range nor edges are given · {RangeError} ERR_BOUNDS bins is less than 1, ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device
 * @see NumPy histogram
 * @example
 * histogram(tensor([1, 2, 2, 4]), { bins: 3 }).hist.toArray() // [1, 2, 1]
 */
function histogram(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_HISTOGRAM)
  const { bins: given = 10, range, weights, density } = options
  const bins = typeof given === 'number' ? integer('bins', given) : lists.read('bins', given)
  if (typeof bins === 'number' && (bins < 1 || bins > MOST_BINS)) {
    throw failure('ERR_BOUNDS', `bins is ${bins}; 1 to ${MOST_BINS} was expected`)
  }
  const limits = atOnce(() => rangeOf(range))
  const weighed = weights === undefined ? null : lists.read('weights', weights)
  const isDensity = boolean('density', density)
  const { dtype } = resultIn(options)
  const result =
    isDensity || weighed !== null
      ? dtypeAmong(dtype, [FLOAT64, FLOAT32], ' of weights and densities')
      : dtypeAmong(dtype, INDICES)
  return tidy(() => {
    const from = operandOf(x, 'x')
    const by = weighed === null ? null : operandOf(lists.tensorBeside(weighed, FLOAT64), 'weights')
    if (by !== null && !isSameShape(by.shape, from.shape)) {
      throw failure(
        'ERR_SHAPE',
        `weights has shape [${by.shape.join(', ')}]; x has [${from.shape.join(', ')}]`,
      )
    }
    if (result === INT32 && from.size > MOST_INT32) {
      throw failure(
        'ERR_BOUNDS',
        `there are ${from.size} elements, whose counts need { dtype: 'int64' }`,
      )
    }
    const { to: edges, result: edgesMade } = edgesFor(x, bins, limits)
    const { to, result: hist } = target(undefined, result, [edges.size - 1])
    const counts = isDensity ? made(FLOAT64, [edges.size - 1]) : null
    const targets = [counts === null ? to : Tensor.layoutOf(counts)]
    lists.count('histogram', weighed, by)
    if (by === null) run(rows.histogram, targets, [from, edges], { numbers: [SAME_KIND] })
    else run(rows.histogram_weighted, targets, [from, edges, by], { numbers: [SAME_KIND] })
    const found = { hist: hist(), edges: edgesMade() }
    if (counts !== null) {
      divide(divide(counts, widthsOf(found.edges), 'float64'), sum(counts), { out: found.hist })
    }
    return found
  })
}

/**
 * Which bin each element is in: i where it is between edge i - 1 and edge i; 0 before all edges, their number behind them.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x  real numbers or bool
 * @param {TensorData} bins  edges, ascending or descending: a tensor or a list, which is rounded to x's dtype where that is of floats
 * @param {DigitizeOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} of x's shape
 * @throws {TypeError} ERR_DTYPE complex numbers, ERR_CAST, ERR_ARGUMENT edges in no order · {RangeError} ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy digitize
 * @example
 * digitize(tensor([0.2, 6.4, 3]), [0, 1, 2.5, 4, 10]).toArray() // [1, 4, 3]
 */
function digitize(x, bins, opts) {
  tensorOf(x, 'x')
  const given = lists.read('bins', bins)
  const options = optionsFor(opts, OF_DIGITIZE)
  const isRight = boolean('right', options.right)
  const { out, dtype, casting } = resultIn(options)
  const index = dtypeAmong(dtype, INDICES)
  return tidy(() => {
    const from = operandOf(x, 'x')
    checkOrdered(from, 'x')
    const tensor = lists.tensorBeside(given, from.dtype, 'x')
    const direction = directionOf(tensor)
    const edges = operandOf(tensor, 'bins')
    const { to, result } = target(out, index, from.shape, casting)
    lists.count('digitize', given, edges)
    const side = isRight ? 0 : 1
    if (direction > 0) {
      run(rows.searchsorted, [to], [edges, from], { numbers: [side, casting] })
    } else {
      // all but those that are before an element from the other end
      const ranks = temporary(index, from.shape)
      run(rows.searchsorted, [ranks], [ffi.viewByList(ffi.opcodes.flip, edges, [0]), from], {
        numbers: [side, UNSAFE],
      })
      elementwise({ op: ops.subtract, asked: NONE, casting, scalar: edges.size, position: 0 }, to, [
        ranks,
      ])
    }
    return result()
  })
}

// ---- Covariances ----

/**
 * @param {Tensor<any>} t
 * @param {string} name
 * @param {boolean} isTurned  columns are variables, where there are two axes
 * @returns {Tensor<any>} variables as rows
 */
function variablesOf(t, name, isTurned) {
  const { shape } = operandOf(t, name)
  if (shape.length > 2) {
    throw failure(
      'ERR_SHAPE',
      `${name} has ${shape.length} axes; two at most were expected, of variables and observations`,
    )
  }
  return shape.length < 2 ? t.reshape([1, t.size]) : isTurned ? t.T : t
}

/**
 * Weights, which are looked at at once.
 *
 * @param {string} name
 * @param {ReturnType<typeof lists.read> | null} given
 * @param {number} n  observations
 * @returns {Tensor<any> | null}
 */
function weightsOf(name, given, n) {
  if (given === null) return null
  const weights = lists.tensorBeside(given, FLOAT64)
  const layout = operandOf(weights, name)
  if (layout.shape.length !== 1 || layout.size !== n) {
    throw failure(
      'ERR_SHAPE',
      `${name} has ${layout.shape.length} axes and ${layout.size} elements; there are ${n} observations`,
    )
  }
  const { kind, itemsize, name: dtype } = dtypes[checkReal(layout, name).dtype]
  if (kind === 'FLOATING' && itemsize === 1) {
    throw failure(
      'ERR_DTYPE',
      `${name} is of ${dtype}; other real numbers were expected, and astype converts`,
    )
  }
  atOnce(() =>
    tidy(() => {
      if (any(logicalNot(greaterEqual(weights, 0))).item()) {
        throw failure('ERR_ARGUMENT', `${name} has weights below 0, or NaN`)
      }
      if (
        name === 'fweights' &&
        kind === 'FLOATING' &&
        any(notEqual(weights, floor(weights))).item()
      ) {
        throw failure('ERR_ARGUMENT', 'fweights has fractions; integers were expected')
      }
    }),
  )
  return weights
}

/**
 * What cov and corrcoef were given.
 *
 * @param {string} where  the function
 * @param {Tensor<any>} x
 * @param {Record<string, any>} options
 */
function readCorrelation(where, x, { y, rowvar, dtype, out, casting }) {
  if (y !== undefined) tensorOf(y, 'y')
  const result = resultIn({ dtype, out, casting })
  checkNumbers(where, operandOf(x, 'x'), 'real numbers')
  if (y !== undefined) checkNumbers(where, operandOf(y, 'y'), 'real numbers')
  if (result.out !== undefined) targetOf(result.out) // before anything is computed
  return {
    y: /** @type {Tensor<any> | undefined} */ (y),
    isTurned: rowvar !== undefined && !boolean('rowvar', rowvar),
    ...result,
  }
}

/**
 * Covariances in float64.
 *
 * @param {Tensor<any>} x
 * @param {ReturnType<typeof readCorrelation>} given
 * @param {number} correction
 * @param {(n: number) => (Tensor<any> | null)[]} weighing  of n observations: frequencies and reliabilities
 * @returns {{ sums: Tensor<any>, factor: number, result: number }} sums: of products, square; factor: that makes covariances of them; result: the dtype of it
 */
function productsOf(x, { y, isTurned, dtype }, correction, weighing) {
  const first = variablesOf(x, 'x', isTurned && x.ndim !== 1)
  const parts = [first]
  if (y !== undefined) parts[1] = variablesOf(y, 'y', isTurned && y.ndim === 2 && y.shape[0] !== 1)
  const n = first.shape[1]
  const last = parts[parts.length - 1]
  if (last.shape[1] !== n) {
    throw failure('ERR_SHAPE', `x has ${n} observations, and y ${last.shape[1]}`)
  }
  const met =
    y === undefined
      ? operandOf(x, 'x').dtype
      : ffi.promoteTypes(operandOf(x, 'x').dtype, operandOf(y, 'y').dtype)
  const result = dtype !== undefined || dtypes[met].kind !== 'FLOATING' ? floatOf(dtype) : met
  const [frequencies, reliabilities] = weighing(n)
  const weights =
    frequencies === null || reliabilities === null
      ? (frequencies ?? reliabilities)
      : atOnce(() => multiply(frequencies, reliabilities, 'float64'))
  const total = weights === null ? n : itemOf(() => sum(weights, 'float64'))
  if (weights !== null && total === 0) throw failure('ERR_ARGUMENT', 'the weights add up to 0')
  const lost =
    correction === 0 || reliabilities === null
      ? correction
      : (correction *
          itemOf(() =>
            sum(multiply(/** @type {Tensor<any>} */ (weights), reliabilities, 'float64')),
          )) /
        total
  const all = made(FLOAT64, [first.shape[0] + (y === undefined ? 0 : last.shape[0]), n])
  let at = 0
  for (const part of parts) {
    const rows = part.shape[0]
    const means =
      weights === null
        ? mean(part, { axis: 1, keepdims: true, dtype: 'float64' })
        : divide(sum(multiply(part, weights, 'float64'), { axis: 1, keepdims: true }), total)
    subtract(part, means, { dtype: 'float64', out: all.narrow(0, at, rows) })
    at += rows
  }
  const sums = matmul(all, (weights === null ? all : multiply(all, weights, 'float64')).T)
  return {
    sums: sums.shape[0] === 1 ? sums.reshape([]) : sums,
    factor: 1 / Math.max(total - lost, 0),
    result,
  }
}

/**
 * Covariances of variables: the means of products of their differences to their means. As NumPy, and other than var, it divides by one less than
 * there are observations. Computed in float64, and rounded once.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  real numbers or bool: a row is a variable, a column an observation of all; one axis is one variable
 * @param {CovarianceOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} [variables, variables], without axes of one; integers give float32. NaN and infinities where the correction leaves no observations
 * @throws {TypeError} ERR_DTYPE float8 and complex numbers, ERR_CAST, ERR_ARGUMENT weights below 0, or that add up to 0 · {RangeError} ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy cov
 * @example
 * cov(tensor([[0, 1, 2], [2, 1, 0]])).toArray() // [[1, -1], [-1, 1]]
 */
function cov(x, opts) {
  tensorOf(x, 'x')
  const {
    correction = 1,
    fweights,
    aweights,
    y,
    rowvar,
    dtype,
    out,
    casting,
  } = optionsFor(opts, OF_COV)
  numberOf('correction', correction, Number.isFinite)
  const counts = fweights === undefined ? null : lists.read('fweights', fweights)
  const shares = aweights === undefined ? null : lists.read('aweights', aweights)
  const given = readCorrelation('cov', x, { y, rowvar, dtype, out, casting })
  return tidy(() => {
    /** @type {(Tensor<any> | null)[]} */
    let weights = []
    const { sums, factor, result } = productsOf(x, given, correction, (n) => {
      weights = [weightsOf('fweights', counts, n), weightsOf('aweights', shares, n)]
      return weights
    })
    const to = target(given.out, result, sums.shape.slice(), given.casting)
    for (const [i, listed] of [counts, shares].entries()) {
      if (weights[i] !== null) lists.count('cov', listed, Tensor.layoutOf(weights[i]))
    }
    return multiply(sums, factor, { out: to.result(), casting: 'unsafe' })
  })
}

/**
 * Correlation coefficients of variables: covariances divided by both standard deviations, from -1 to 1. NaN of a variable that does not vary.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  as of cov
 * @param {CorrelationOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Floated<D>>>>} [variables, variables], without axes of one; integers give float32
 * @throws as cov
 * @see NumPy corrcoef
 * @example
 * corrcoef(tensor([[0, 1, 2], [2, 1, 0]])).toArray() // [[1, -1], [-1, 1]]
 */
function corrcoef(x, opts) {
  tensorOf(x, 'x')
  const given = readCorrelation('corrcoef', x, optionsFor(opts, OF_CORRCOEF))
  return tidy(() => {
    const { sums, factor, result } = productsOf(x, given, 1, () => [null, null])
    const to = target(given.out, result, sums.shape.slice(), given.casting)
    const all = multiply(sums, factor)
    if (all.ndim === 0) return divide(all, all, { out: to.result(), casting: 'unsafe' })
    const spread = sqrt(all.diagonal())
    divide(divide(all, spread.unsqueeze(1), { out: all }), spread, { out: all })
    return clip(all, -1, 1, { out: to.result(), casting: 'unsafe' })
  })
}

module.exports = { histogram, digitize, cov, corrcoef }
