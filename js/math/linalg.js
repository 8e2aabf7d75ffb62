'use strict'
// samebytes/math's `linalg`: what the array API standard has under that name.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { CASTINGS, boolean, integer, oneOf, show } = require('../base/validate')
const { rows, run } = require('./calls/algorithms')
const { dtypes } = require('../backend/dtypes')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { checkOut } = require('../copy/results')
const { broadcast } = require('../layout/layouts')
const { axisGiven, inRange, lastAxes, permuted, reducedShape } = require('./axes')
const {
  batchOf,
  broadcastBatches,
  broadcastTo,
  checkCore,
  productDtype,
  refusable,
  target,
  wrapping,
} = require('./cores')
const { FLOAT32, FLOAT64, COMPLEX64, SAME_KIND } = require('./constants')
const { abs, greater, multiply, positive } = require('./functions')
const norms = require('./norms')
const { checkNumbers, operandOf, targetOf } = require('./operands')
const { known, optionsAlong, optionsFor } = require('./options')
const { countNonzero, max, min, sum } = require('./reductions')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Casting, DtypeName, Floated, NameOf, Or, Promote, RealOf, Summed } from '../base/types' */
/** @import { IndexName } from './reductions' */
/** @import { NormOptions } from './norms' */

/** @template {DtypeName} [O=any] @typedef {{ out?: Tensor<O> | undefined, casting?: Casting | undefined }} MatrixOptions out: of the result's shape; gets the result, and is returned; casting: of the result to out's dtype; 'same_kind' where none is given */
/** @template {DtypeName} [O=any] @typedef {MatrixOptions<O> & { upper?: boolean | undefined }} CholeskyOptions upper: false where none is given */
/** @typedef {{ mode?: 'reduced' | 'complete' | undefined }} QrOptions mode: 'reduced' where none is given */
/** @typedef {{ fullMatrices?: boolean | undefined }} SvdOptions fullMatrices: true where none is given */
/** @typedef {Record<string, never>} NoOptions */
/** @template {DtypeName} [O=any] @typedef {MatrixOptions<O> & { rtol?: number | undefined }} PinvOptions rtol: beside the greatest singular value, those up to that count as 0 */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ rtol?: number | AnyTensor | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined }} RankOptions rtol: as of pinv, or a tensor of the batches' shape */
/** @template {DtypeName} [O=any] @typedef {{ ord?: 'fro' | 'nuc' | 1 | -1 | 2 | -2 | number | undefined, keepdims?: boolean | undefined, out?: Tensor<O> | undefined }} MatrixNormOptions ord: 'fro' where none is given; Infinity and -Infinity as well */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {{ offset?: number | undefined, dtype?: E | undefined, out?: Tensor<O> | undefined, casting?: Casting | undefined }} TraceOptions offset: of the diagonal, above the main one; 0 where none is given */

const OF_RESULT = known(['out', 'casting'])
const OF_CHOLESKY = known(['upper', 'out', 'casting'])
const OF_QR = known(['mode'])
const OF_SVD = known(['fullMatrices'])
const NO_OPTION = known([])
const NO_RESULT = { out: undefined, casting: SAME_KIND } // of functions without `out`, whose options are not looked at
const OF_PINV = known(['rtol', 'out', 'casting'], 'rtol')
const OF_RANK = known(['rtol', 'dtype', 'out'], 'rtol')
const OF_NORM = known(['ord', 'keepdims', 'out'], 'ord')
const OF_TRACE = known(['offset', 'dtype', 'out', 'casting'], 'offset')
const MODES = ['reduced', 'complete']

/** Distances from 1 to the next number. @type {Record<string, number>} */
const EPSILONS = {
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
  float32: 2 ** -23,
  float64: 2 ** -52,
  complex64: 2 ** -23,
  complex128: 2 ** -52,
}

// ---- Operands ----

/**
 * @param {number} dtype
 * @returns {number} of a result: floats and complex numbers keep theirs
 */
function floated(dtype) {
  const { kind, itemsize, name } = dtypes[dtype]
  if (kind === 'SIGNED' || kind === 'UNSIGNED') return FLOAT32
  if (itemsize === 1) {
    throw failure(
      'ERR_DTYPE',
      `x is ${name}; numbers of 16 bits and more, or integers, were expected, and astype converts`,
    )
  }
  return dtype
}

/** @param {number} dtype @returns {number} of its parts */
const realOf = (dtype) =>
  dtypes[dtype].kind !== 'COMPLEX' ? dtype : dtype === COMPLEX64 ? FLOAT32 : FLOAT64

/**
 * @param {Tensor<any>} x
 * @param {string} name
 * @param {boolean} isSquare
 * @returns {{ from: Layout, batch: number[], m: number, n: number, dtype: number }} m: rows; dtype: of results
 * @throws ERR_SHAPE, ERR_DTYPE · as operandOf
 */
function matricesOf(x, name, isSquare) {
  const from = operandOf(x, name)
  checkCore(from, 2, name)
  const { shape } = from
  const m = shape[shape.length - 2]
  const n = shape[shape.length - 1]
  if (isSquare && m !== n) {
    throw failure(
      'ERR_SHAPE',
      `${name} has matrices of ${m} rows and ${n} columns; square ones were expected`,
    )
  }
  return { from, batch: batchOf(from, 2), m, n, dtype: floated(from.dtype) }
}

/**
 * @param {Tensor<any>} x
 * @param {unknown} opts
 * @param {import('./options').Known} names
 * @param {boolean} isSquare
 * @returns {ReturnType<typeof matricesOf> & Pick<ReturnType<typeof resultIn>, 'out' | 'casting'>}
 * @throws as matricesOf · ERR_ARGUMENT
 */
function read(x, opts, names, isSquare) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, names)
  const { out, casting } = names === NO_OPTION ? NO_RESULT : resultIn(options)
  return { out, casting, ...matricesOf(x, 'x', isSquare) }
}

/**
 * @param {number} row  an algorithm with several results
 * @param {Layout} from
 * @param {Record<string, [dtype: number, shape: number[]]>} results  by name, in its order
 * @returns {any} tensors by name
 */
function several(row, from, results) {
  const targets = Object.values(results).map(([dtype, shape]) => target(undefined, dtype, shape))
  run(
    row,
    targets.map(({ to }) => to),
    [from],
  )
  return Object.fromEntries(Object.keys(results).map((name, i) => [name, targets[i].result()]))
}

/**
 * Runs a function that may fail because of what elements are: out stays as it was then.
 *
 * @param {Tensor | undefined} out
 * @param {number} casting
 * @param {number} dtype
 * @param {number[]} shape
 * @param {(to: Layout, casting: number) => void} compute
 * @returns {any}
 */
function whole(out, casting, dtype, shape, compute) {
  if (out !== undefined) checkOut(targetOf(out), shape, undefined)
  const { to, result } = target(undefined, dtype, shape)
  if (out === undefined) {
    refusable(out, to, () => compute(to, casting))
    return result()
  }
  return tidy(() => {
    const made = result()
    compute(to, casting)
    return positive(made, { out, casting: CASTINGS[casting] })
  })
}

/** @param {unknown} rtol @returns {number | undefined} */
function tolerance(rtol) {
  if (rtol === undefined || (typeof rtol === 'number' && rtol >= 0)) return rtol
  throw failure('ERR_ARGUMENT', `rtol is ${show(rtol)}; a number from 0 on was expected`)
}

/** @param {{ m: number, n: number, dtype: number }} of @returns {number} */
const usualTolerance = ({ m, n, dtype }) => Math.max(m, n) * EPSILONS[dtypes[dtype].name]

/** @param {Layout} layout @returns {Layout} with one column */
const asColumn = (layout) => ffi.viewByNumbers(ffi.opcodes.unsqueeze, layout, -1)

// ---- Products ----

const ALONG = known(['axis', 'dtype', 'out', 'casting'], 'axis')

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} CrossOptions
 * @property {number | undefined} [axis]  of three elements; -1 where none is given
 * @property {E | undefined} [dtype]  operands are converted to it first
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */

/**
 * The cross product of vectors of three elements, along an axis. The other axes are broadcast. Integers wrap.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers
 * @param {Tensor<B>} x2
 * @param {CrossOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {CrossOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws {TypeError} ERR_DTYPE bool and float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS axis outside, ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see NumPy linalg.cross
 * @example
 * linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray() // [0, 0, 1]
 */
function cross(x1, x2, axis, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsAlong(axis, opts, ALONG)
  const given = axisGiven(options)
  const { out, casting, dtype: asked } = resultIn(options)
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  const shape = broadcast(a.shape, b.shape)
  const at = inRange(given, shape.length)
  if (shape[at] !== 3) {
    throw failure('ERR_SHAPE', `axis ${given} has ${shape[at]} elements; cross has vectors of 3`)
  }
  const order = lastAxes(shape.length, [at])
  const dtype = productDtype([a, b], asked)
  return wrapping('cross', out, dtype, shape, casting, (to) => {
    run(
      rows.cross,
      [permuted(to, order)],
      [permuted(broadcastTo(a, 0, shape), order), permuted(broadcastTo(b, 0, shape), order)],
      { numbers: [casting, dtype] },
    )
  })
}

/**
 * Powers of square matrices: products of themselves, or of their inverses where n is less than 0; matrices with 1 on the diagonal where it is 0.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  matrices: the last two axes; numbers
 * @param {number} n  an integer
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} of x's shape; integers give float32
 * @throws as inv · {RangeError} ERR_BOUNDS n is no integer
 * @see array API linalg.matrix_power
 * @example
 * linalg.matrixPower(tensor([[1, 1], [1, 0]]), 10).toArray() // [[89, 55], [55, 34]]
 */
function matrixPower(x, n, opts) {
  tensorOf(x, 'x')
  const { out, casting } = resultIn(optionsFor(opts, OF_RESULT))
  const power = integer('n', n)
  const { from, dtype } = matricesOf(x, 'x', true)
  return whole(out, casting, dtype, from.shape, (to, rule) =>
    run(rows.matrix_power, [to], [from], { numbers: [rule, power] }),
  )
}

/**
 * The sum of a diagonal.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  matrices: the last two axes; numbers or bool
 * @param {TraceOptions<E, O> | NameOf<E>} [opts]  dtype: of the result, which x's has to cast to
 * @returns {Tensor<Or<O, Or<E, Summed<D>>>>} x's shape without the last two axes; dtypes as of sum
 * @throws as sum · {RangeError} ERR_SHAPE x has no matrices
 * @see array API linalg.trace
 * @example
 * linalg.trace(tensor([[1, 2], [3, 4]])).item() // 5
 */
function trace(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_TRACE)
  const { offset = 0, dtype, casting } = options
  const at = integer('offset', offset)
  const { out } = resultIn(options)
  checkCore(operandOf(x, 'x'), 2, 'x')
  if (dtype === undefined) checkNumbers('trace', operandOf(x, 'x'))
  return tidy(
    () => /** @type {any} */ (sum(x.diagonal(at, -2, -1), { axis: -1, dtype, casting, out })),
  )
}

// ---- Norms ----

/**
 * The length of vectors, as vectorNorm of samebytes/math.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  numbers or bool
 * @param {NormOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, RealOf<Floated<D>>>>>} x's shape without the axes; integers give float32, complex numbers the dtype of their parts
 * @throws as vectorNorm
 * @see array API linalg.vector_norm
 * @example
 * linalg.vectorNorm(tensor([[3, 4], [6, 8]]), { axis: 1 }).toArray() // [5, 10]
 */
function vectorNorm(x, opts) {
  return norms.vectorNorm(x, opts)
}

/**
 * Norms of matrices: the root of the sum of squares (ord 'fro'), the sum of singular values ('nuc'), the greatest one (2) or the least (-2), and of
 * sums of absolute values the greatest or least of columns (1, -1) or rows (Infinity, -Infinity).
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  matrices: the last two axes; numbers
 * @param {MatrixNormOptions<O>} [opts]
 * @returns {Tensor<Or<O, RealOf<Floated<D>>>>} x's shape without the last two axes; integers give float32, complex numbers the dtype of their parts
 * @throws as svdvals · {TypeError} ERR_ARGUMENT ord is another one · {RangeError} ERR_SHAPE there is no greatest or least of no elements
 * @see array API linalg.matrix_norm
 * @example
 * linalg.matrixNorm(tensor([[1, -2], [3, 4]]), { ord: Infinity }).item() // 7
 */
function matrixNorm(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_NORM)
  const { ord = 'fro', keepdims: kept } = options
  const keepdims = boolean('keepdims', kept)
  const { out } = resultIn(options)
  const found = matricesOf(x, 'x', false)
  const isOfValues = ord === 2 || ord === -2 || ord === 'nuc'
  const isOfSums = ord === 1 || ord === -1 || ord === Infinity || ord === -Infinity
  if (ord !== 'fro' && !isOfValues && !isOfSums) {
    throw failure(
      'ERR_ARGUMENT',
      `ord is ${show(ord)}; 'fro', 'nuc', 1, -1, 2, -2, Infinity or -Infinity was expected`,
    )
  }
  const { shape } = found.from
  const result = reducedShape(shape, [shape.length - 2, shape.length - 1], keepdims)
  if (out !== undefined) checkOut(targetOf(out), result, undefined)
  return tidy(() => {
    const to = out ?? target(undefined, realOf(found.dtype), result).result()
    if (ord === 'fro') return norms.vectorNorm(x, { axis: [-2, -1], keepdims, out: to })
    if (isOfValues) {
      const values = singularValues(found)
      /** @type {(x: Tensor, opts: object) => any} */
      const reduce = ord === 'nuc' ? sum : ord === 2 ? max : min
      return reduce(keepdims ? values.unsqueeze(-2) : values, { axis: -1, keepdims, out: to })
    }
    /** @type {Tensor<any>} */
    const sizes = dtypes[found.dtype].kind === 'COMPLEX' ? abs(x) : abs(x, { dtype: 'float64' })
    const isOfColumns = ord === 1 || ord === -1
    const sums = sum(sizes, { axis: isOfColumns ? -2 : -1, keepdims, dtype: 'float64' })
    const reduce = ord > 0 ? max : min
    return reduce(sums, { axis: isOfColumns || !keepdims ? -1 : -2, keepdims, out: to })
  })
}

/** @param {ReturnType<typeof matricesOf>} found @returns {Tensor<'float64'>} not yet rounded */
function singularValues({ from, batch, m, n }) {
  const { to, result } = target(undefined, FLOAT64, [...batch, Math.min(m, n)])
  run(rows.svdvals, [to], [from], { numbers: [0] })
  return result()
}

/**
 * How many singular values are greater than rtol times the greatest one. Matrices with NaN or Infinity have 0.
 *
 * @template {IndexName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {AnyTensor} x  matrices: the last two axes; numbers
 * @param {RankOptions<E, O> | NameOf<E>} [opts]  rtol: where none is given, the greater of rows and columns times the distance from 1 to the dtype's next number
 * @returns {Tensor<Or<O, Or<E, 'int32'>>>} x's shape without the last two axes; int32, or what dtype says
 * @throws as svdvals · {TypeError} ERR_ARGUMENT rtol is no number from 0 on
 * @see array API linalg.matrix_rank
 * @example
 * linalg.matrixRank(tensor([[1, 2], [2, 4]])).item() // 1
 */
function matrixRank(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_RANK)
  const { rtol, dtype } = options
  const given = Tensor.isTensor(rtol) ? rtol : tolerance(rtol)
  const { out } = resultIn(options)
  const found = matricesOf(/** @type {Tensor} */ (x), 'x', false)
  if (typeof given === 'object') operandOf(given, 'rtol')
  return tidy(() => {
    const values = singularValues(found)
    if (values.size === 0) {
      return /** @type {any} */ (countNonzero(values, { axis: -1, dtype, out }))
    }
    const most = max(values, { axis: -1, keepdims: true })
    /** @type {any} */
    const factor =
      typeof given === 'object' ? given.unsqueeze(-1) : (given ?? usualTolerance(found))
    return /** @type {any} */ (
      countNonzero(greater(values, multiply(most, factor)), { axis: -1, dtype, out })
    )
  })
}

// ---- Gauss ----

/**
 * The determinant, by Gauss's elimination with exchanges of rows; 0 of a singular matrix, 1 of one without elements.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  square matrices: the last two axes; numbers
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} x's shape without the last two axes; integers give float32
 * @throws {TypeError} ERR_DTYPE bool and float8, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE no square matrices, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API linalg.det
 * @example
 * linalg.det(tensor([[3, 1], [2, 4]])).item() // 10
 */
function det(x, opts) {
  const { from, batch, dtype, out, casting } = read(x, opts, OF_RESULT, true)
  const { to, result } = target(out, dtype, batch, casting)
  run(rows.det, [to], [from], { numbers: [casting] })
  return result()
}

/**
 * The determinant's sign and the logarithm of its absolute value, also where the determinant is too great or too small for a float. Of a singular
 * matrix they are 0 and -Infinity; a complex determinant's sign is a number of length 1.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x  square matrices: the last two axes; numbers
 * @param {NoOptions} [opts]  there are none
 * @returns {{ sign: Tensor<Floated<D>>, logabsdet: Tensor<RealOf<Floated<D>>> }} x's shape without the last two axes; integers give float32
 * @throws as det
 * @see array API linalg.slogdet
 * @example
 * linalg.slogdet(tensor([[0, 1], [1, 0]])).sign.item() // -1
 */
function slogdet(x, opts) {
  const { from, batch, dtype } = read(x, opts, NO_OPTION, true)
  return several(rows.slogdet, from, {
    sign: [dtype, batch],
    logabsdet: [realOf(dtype), batch],
  })
}

/**
 * The inverse of square matrices. To solve equations, solve is faster and more accurate.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  square matrices: the last two axes; numbers
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<D>>>} of x's shape; integers give float32
 * @throws as det · {TypeError} ERR_ARGUMENT a matrix is singular
 * @see array API linalg.inv
 * @example
 * linalg.inv(tensor([[2, 0], [0, 4]])).toArray() // [[0.5, 0], [0, 0.25]]
 */
function inv(x, opts) {
  const { from, dtype, out, casting } = read(x, opts, OF_RESULT, true)
  return whole(out, casting, dtype, from.shape, (to, rule) =>
    run(rows.inv, [to], [from], { numbers: [rule] }),
  )
}

/**
 * Solves x1 y = x2 for y, by Gauss's elimination with exchanges of rows.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  square matrices: the last two axes; numbers
 * @param {Tensor<B>} x2  one axis: a vector; more: matrices of as many rows as x1's; axes before are broadcast
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, Promote<Floated<A>, Floated<B>>>>} vectors or matrices, as x2; integers give float32
 * @throws as det · {TypeError} ERR_ARGUMENT a matrix is singular · {RangeError} ERR_SHAPE they do not fit
 * @see array API linalg.solve
 * @example
 * linalg.solve(tensor([[2, 0], [0, 4]]), tensor([2, 2])).toArray() // [1, 0.5]
 */
function solve(x1, x2, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const { out, casting } = resultIn(optionsFor(opts, OF_RESULT))
  const { from, n, dtype } = matricesOf(x1, 'x1', true)
  const given = operandOf(x2, 'x2')
  checkCore(given, 1, 'x2')
  const isVector = given.shape.length === 1
  const right = isVector ? asColumn(given) : given
  const { shape } = right
  if (shape[shape.length - 2] !== n) {
    throw failure(
      'ERR_SHAPE',
      `x2 has ${isVector ? 'a vector' : 'matrices'} of ${shape[shape.length - 2]} rows; x1's have ${n}`,
    )
  }
  const { batch, a, b } = broadcastBatches(from, 2, right, 2)
  const made = ffi.promoteTypes(dtype, floated(given.dtype))
  const result = isVector ? [...batch, n] : [...batch, n, shape[shape.length - 1]]
  return whole(out, casting, made, result, (to, rule) =>
    run(rows.solve, [isVector ? asColumn(to) : to], [a, b], { numbers: [rule] }),
  )
}

// ---- Factors ----

/**
 * Cholesky's factor: a triangular matrix L with a positive diagonal, of which L L* is x. Only x's lower triangle is read.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  symmetric, or Hermitian, positive definite matrices: the last two axes; numbers
 * @param {CholeskyOptions<O>} [opts]  upper: U of U* U = x instead
 * @returns {Tensor<Or<O, Floated<D>>>} of x's shape; integers give float32
 * @throws as det · {TypeError} ERR_ARGUMENT a matrix is not positive definite
 * @see array API linalg.cholesky
 * @example
 * linalg.cholesky(tensor([[4, 2], [2, 10]])).toArray() // [[2, 0], [1, 3]]
 */
function cholesky(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_CHOLESKY)
  const upper = boolean('upper', options.upper)
  const { out, casting } = resultIn(options)
  const { from, dtype } = matricesOf(x, 'x', true)
  return whole(out, casting, dtype, from.shape, (to, rule) =>
    run(rows.cholesky, [to], [from], { numbers: [rule, upper ? 1 : 0] }),
  )
}

/**
 * Factors matrices into q, of orthonormal columns, and r, an upper triangle: x = q r, by Householder's reflections.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x  matrices of m rows and n columns: the last two axes; numbers
 * @param {QrOptions} [opts]  mode: 'reduced': q has as many columns as the less of m and n; 'complete': m
 * @returns {{ q: Tensor<Floated<D>>, r: Tensor<Floated<D>> }} integers give float32
 * @throws as det
 * @see array API linalg.qr
 * @example
 * linalg.qr(tensor([[3, 5], [4, 0]])).r.toArray() // [[-5, -3], [0, -4]]
 */
function qr(x, opts) {
  tensorOf(x, 'x')
  const { mode = 'reduced' } = optionsFor(opts, OF_QR)
  const isComplete = oneOf('mode', mode, MODES) === 1
  const { from, batch, m, n, dtype } = matricesOf(x, 'x', false)
  const k = isComplete ? m : Math.min(m, n)
  return several(rows.qr, from, { q: [dtype, [...batch, m, k]], r: [dtype, [...batch, k, n]] })
}

/**
 * Eigenvalues, ascending, and eigenvectors of symmetric, or Hermitian, matrices. Only x's lower triangle is read. Matrices with NaN or Infinity have NaN.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x  square matrices: the last two axes; numbers
 * @param {NoOptions} [opts]  there are none
 * @returns {{ eigenvalues: Tensor<RealOf<Floated<D>>>, eigenvectors: Tensor<Floated<D>> }} eigenvectors: columns of length 1; integers give float32
 * @throws as det
 * @see array API linalg.eigh
 * @example
 * linalg.eigh(tensor([[2, 0], [0, 1]])).eigenvalues.toArray() // [1, 2]
 */
function eigh(x, opts) {
  const { from, batch, n, dtype } = read(x, opts, NO_OPTION, true)
  return several(rows.eigh, from, {
    eigenvalues: [realOf(dtype), [...batch, n]],
    eigenvectors: [dtype, from.shape],
  })
}

/**
 * Eigenvalues, ascending, of symmetric, or Hermitian, matrices, as eigh.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  square matrices: the last two axes; numbers
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, RealOf<Floated<D>>>>} x's shape without the last axis; integers give float32
 * @throws as det
 * @see array API linalg.eigvalsh
 * @example
 * linalg.eigvalsh(tensor([[2, 0], [0, 1]])).toArray() // [1, 2]
 */
function eigvalsh(x, opts) {
  const { from, batch, n, dtype, out, casting } = read(x, opts, OF_RESULT, true)
  const { to, result } = target(out, realOf(dtype), [...batch, n], casting)
  run(rows.eigvalsh, [to], [from], { numbers: [casting] })
  return result()
}

/**
 * Factors matrices into u, singular values s, descending, and vh: x = u diag(s) vh. Matrices with NaN or Infinity have NaN.
 *
 * @template {DtypeName} D
 * @param {Tensor<D>} x  matrices of m rows and n columns: the last two axes; numbers
 * @param {SvdOptions} [opts]  fullMatrices: u of m columns and vh of n rows; false: both of the less of m and n
 * @returns {{ u: Tensor<Floated<D>>, s: Tensor<RealOf<Floated<D>>>, vh: Tensor<Floated<D>> }} integers give float32
 * @throws as det
 * @see array API linalg.svd
 * @example
 * linalg.svd(tensor([[0, 2], [1, 0]])).s.toArray() // [2, 1]
 */
function svd(x, opts) {
  tensorOf(x, 'x')
  const { fullMatrices = true } = optionsFor(opts, OF_SVD)
  const isFull = boolean('fullMatrices', fullMatrices)
  const { from, batch, m, n, dtype } = matricesOf(x, 'x', false)
  const k = Math.min(m, n)
  return several(rows.svd, from, {
    u: [dtype, [...batch, m, isFull ? m : k]],
    s: [realOf(dtype), [...batch, k]],
    vh: [dtype, [...batch, isFull ? n : k, n]],
  })
}

/**
 * Singular values, descending, as svd.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  matrices: the last two axes; numbers
 * @param {MatrixOptions<O>} [opts]
 * @returns {Tensor<Or<O, RealOf<Floated<D>>>>} as many as the less of rows and columns; integers give float32
 * @throws as det
 * @see array API linalg.svdvals
 * @example
 * linalg.svdvals(tensor([[0, 2], [1, 0]])).toArray() // [2, 1]
 */
function svdvals(x, opts) {
  const { from, batch, m, n, dtype, out, casting } = read(x, opts, OF_RESULT, false)
  const { to, result } = target(out, realOf(dtype), [...batch, Math.min(m, n)], casting)
  run(rows.svdvals, [to], [from], { numbers: [casting] })
  return result()
}

/**
 * The pseudoinverse of Moore and Penrose, of any matrix: multiplied by it, a vector becomes the shortest of those that come nearest to solving
 * x y = vector. Matrices with NaN or Infinity have NaN.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {Tensor<D>} x  matrices of m rows and n columns: the last two axes; numbers
 * @param {PinvOptions<O>} [opts]  rtol: where none is given, as of matrixRank
 * @returns {Tensor<Or<O, Floated<D>>>} matrices of n rows and m columns; integers give float32
 * @throws as det · {TypeError} ERR_ARGUMENT rtol is no number from 0 on
 * @see array API linalg.pinv
 * @example
 * linalg.pinv(tensor([[2], [0]])).toArray() // [[0.5, 0]]
 */
function pinv(x, opts) {
  tensorOf(x, 'x')
  const options = optionsFor(opts, OF_PINV)
  const given = tolerance(options.rtol)
  const { out, casting } = resultIn(options)
  const found = matricesOf(x, 'x', false)
  const { from, batch, m, n, dtype } = found
  const { to, result } = target(out, dtype, [...batch, n, m], casting)
  run(rows.pinv, [to], [from], { numbers: [casting], scalars: [given ?? usualTolerance(found)] })
  return result()
}

module.exports = {
  cross,
  matrixPower,
  trace,
  vectorNorm,
  matrixNorm,
  matrixRank,
  det,
  slogdet,
  inv,
  solve,
  cholesky,
  qr,
  eigh,
  eigvalsh,
  svd,
  svdvals,
  pinv,
}
