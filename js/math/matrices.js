'use strict'
// Products of matrices, and what becomes products of matrices: tensordot and einsum bring axes that are alike together, by views where
// strides allow it.

const ffi = require('../backend/calls')
const { arrayOf } = require('../base/records')
const { failure } = require('../base/errors')
const { axesOf, integer, oneOf, show, isOptions } = require('../base/validate')
const { rows, run } = require('./calls/algorithms')
const { NONE, elementwise, ops } = require('./calls/calls')
const { atOnce } = require('./calls/plan')
const { reduce, reductions } = require('./calls/reductions')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { broadcast, denseLayout, isSameShape } = require('../layout/layouts')
const { Tensor, tensorOf, resultIn } = require('../tensor/tensor')
const { allocated, freed } = require('./allocate')
const { axesFor, axisGiven, inRange, lastAxes, permuted, reducedShape } = require('./axes')
const {
  broadcastBatches,
  broadcastTo,
  isNumbers,
  productDtype,
  target,
  wrapping,
} = require('./cores')
const { FLOAT32, FLOAT64, SAME_KIND } = require('./constants')
const { operandOf } = require('./operands')
const { known, optionsAlong, optionsFor } = require('./options')
const { equationOf } = require('./equations')

const { opcodes, nothing } = ffi

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @import { AnyTensor, Casting, DtypeName, Floated, NameOf, Or, Promote } from '../base/types' */

/** How floats are multiplied and added. @typedef {'identical' | 'precise' | 'fast'} Accuracy */

/**
 * @template {DtypeName} [E=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} ProductOptions
 * @property {E | undefined} [dtype]  operands are converted to it first: 'int32' for int8, whose products would wrap
 * @property {Accuracy | undefined} [accuracy]  'identical': in the dtype, float16 and bfloat16 in float32, with the same bits everywhere; 'precise': in float64, rounded once, with the same bits everywhere; 'fast': as the first, with fused multiply-add where the processor has it, so that bits differ between processors; in WebAssembly the first. 'identical' where none is given
 * @property {Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {ProductOptions<E, O> & { axis?: number | undefined }} VecdotOptions axis: of the vectors; -1 where none is given */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {ProductOptions<E, O> & { axes?: number | readonly [readonly number[], readonly number[]] | undefined }} TensordotOptions axes: how many of x1's last and x2's first axes are summed over, or lists of both's; 2 where none is given */
/** @template {DtypeName} [E=any] @template {DtypeName} [O=any] @typedef {Omit<ProductOptions<E, O>, 'accuracy'>} OuterOptions */
/** @template {DtypeName} [O=any] @typedef {Omit<VecdotOptions<any, O>, 'accuracy' | 'dtype'> & { eps?: number | undefined }} CosineOptions eps: the least that a length counts; 1e-8 where none is given */

/** In the order of C's numbers. */
const ACCURACIES = /** @type {const} */ (['identical', 'precise', 'fast'])

const OF_PRODUCT = known(['accuracy', 'dtype', 'out', 'casting'])
const OF_VECDOT = known(['axis', 'accuracy', 'dtype', 'out', 'casting'], 'axis')
const OF_TENSORDOT = known(['axes', 'accuracy', 'dtype', 'out', 'casting'], 'axes')
const OF_OUTER = known(['dtype', 'out', 'casting'])
const OF_COSINE = known(['axis', 'eps', 'out', 'casting'], 'axis')

/** @param {unknown} accuracy @returns {number} as C numbers it */
const accuracyOf = (accuracy) =>
  accuracy === undefined ? 0 : oneOf('accuracy', accuracy, ACCURACIES)

/** @param {Layout} layout @param {number} axis  of the new one */
const unsqueezed = (layout, axis) => ffi.viewByNumbers(opcodes.unsqueeze, layout, axis)

/**
 * Products of matrices, the last two axes. Batches are alike.
 *
 * @param {Layout} to
 * @param {Layout} a
 * @param {Layout} b
 * @param {{ dtype: number, casting: number, accuracy: number }} how  dtype: that a and b are converted to
 * @param {boolean} [isConjugated]  a is
 */
function multiplyMatrices(to, a, b, { dtype, casting, accuracy }, isConjugated = false) {
  run(rows.matmul, [to], [a, b], { numbers: [casting, accuracy, isConjugated ? 1 : 0, dtype] })
}

/**
 * The product of matrices, which are the last two axes; those before them are broadcast. A vector is a row on the left, a column on the right.
 * Matrices of any strides are read where they are. Integers wrap: int8 needs { dtype: 'int32' }. Floats are added in blocks of 256 products, by a rule that depends on
 * nothing but the elements' order: see `accuracy`.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers, [..., m, k] or [k]
 * @param {Tensor<B>} x2  [..., k, n] or [k]
 * @param {ProductOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>} [..., m, n], without m or n where x1 or x2 is a vector
 * @throws {TypeError} ERR_DTYPE bool and float8 without a dtype, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_MEMORY · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out
 * @see array API matmul
 * @example
 * matmul(tensor([[1, 2], [3, 4]]), tensor([[1, 1], [0, 1]])).toArray() // [[1, 3], [3, 7]]
 */
function matmul(x1, x2, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsFor(opts, OF_PRODUCT)
  const accuracy = accuracyOf(options.accuracy)
  const { out, casting, dtype: asked } = resultIn(options)
  let a = operandOf(x1, 'x1')
  let b = operandOf(x2, 'x2')
  const isRow = a.shape.length === 1
  const isColumn = b.shape.length === 1
  if (a.shape.length === 0 || b.shape.length === 0) {
    throw failure(
      'ERR_SHAPE',
      `${a.shape.length === 0 ? 'x1' : 'x2'} has no axes; a matrix or a vector was expected`,
    )
  }
  if (isRow) a = unsqueezed(a, 0)
  if (isColumn) b = unsqueezed(b, 1)
  const [m, k] = a.shape.slice(-2)
  const [height, n] = b.shape.slice(-2)
  if (height !== k) {
    throw failure('ERR_SHAPE', `x1 has rows of ${k} elements, and x2 columns of ${height}`)
  }
  const dtype = productDtype([a, b], asked)
  const alike = broadcastBatches(a, 2, b, 2)
  const shape = [...alike.batch, ...(isRow ? [] : [m]), ...(isColumn ? [] : [n])]
  return wrapping('matmul', out, dtype, shape, casting, (to) => {
    let view = to
    if (isRow) view = unsqueezed(view, alike.batch.length)
    if (isColumn) view = unsqueezed(view, alike.batch.length + 1)
    multiplyMatrices(view, alike.a, alike.b, { dtype, casting, accuracy })
  })
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @param {number} axis
 * @returns {{ shape: number[], a: Layout, b: Layout }} shape: without the axis, which comes last in a and b; those are alike
 */
function alongAxis(a, b, axis) {
  const shape = broadcast(a.shape, b.shape)
  const n = shape.length
  const at = inRange(axis, n)
  const k = a.shape[at - n + a.shape.length]
  const other = b.shape[at - n + b.shape.length]
  if (k !== other) {
    throw failure(
      'ERR_SHAPE',
      `axis ${axis} has ${k ?? 'no'} elements in x1, and ${other ?? 'none'} in x2; vectors of one length were expected`,
    )
  }
  const order = lastAxes(n, [at])
  return {
    shape: reducedShape(shape, [at], false),
    a: permuted(broadcastTo(a, 0, shape), order),
    b: permuted(broadcastTo(b, 0, shape), order),
  }
}

/**
 * @param {Layout} to
 * @param {Layout} a  vectors are the last axis
 * @param {Layout} b
 * @param {{ dtype: number, casting: number, accuracy: number }} how
 */
function multiplyVectors(to, a, b, how) {
  const n = to.shape.length
  const target = unsqueezed(unsqueezed(to, n), n)
  multiplyMatrices(target, unsqueezed(a, n), unsqueezed(b, n + 1), how, true)
}

/**
 * Dot products of vectors along an axis; the other axes are broadcast. Complex elements of x1 are conjugated. Sums are those of matmul; integers wrap as there.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers
 * @param {Tensor<B>} x2  with as many elements along the axis
 * @param {VecdotOptions<E, O> | NameOf<E> | number} [axis]  or options
 * @param {VecdotOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>} the broadcast shape without the axis
 * @throws as matmul · {RangeError} ERR_BOUNDS axis outside
 * @see array API vecdot
 * @example
 * vecdot(tensor([[1, 2], [3, 4]]), tensor([10, 1])).toArray() // [12, 34]
 */
function vecdot(x1, x2, axis, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsAlong(axis, opts, OF_VECDOT)
  const given = axisGiven(options)
  const accuracy = accuracyOf(options.accuracy)
  const { out, casting, dtype: asked } = resultIn(options)
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  const dtype = productDtype([a, b], asked)
  const along = alongAxis(a, b, given)
  return wrapping('vecdot', out, dtype, along.shape, casting, (to) =>
    multiplyVectors(to, along.a, along.b, { dtype, casting, accuracy }),
  )
}

/**
 * All products of an element of one vector and one of another. Integers wrap.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers, [m]
 * @param {Tensor<B>} x2  [n]
 * @param {OuterOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>} [m, n]
 * @throws as matmul
 * @see array API linalg.outer
 * @example
 * outer(tensor([1, 2]), tensor([3, 4])).toArray() // [[3, 4], [6, 8]]
 */
function outer(x1, x2, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const { out, casting, dtype: asked } = resultIn(optionsFor(opts, OF_OUTER))
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  if (a.shape.length !== 1 || b.shape.length !== 1) {
    throw failure(
      'ERR_SHAPE',
      `x1 has shape [${a.shape.join(', ')}], and x2 [${b.shape.join(', ')}]; two vectors were expected`,
    )
  }
  const dtype = productDtype([a, b], asked)
  const { to, result } = target(out, dtype, [a.shape[0], b.shape[0]])
  elementwise({ op: ops.multiply, asked: dtype, casting }, to, [unsqueezed(a, 1), unsqueezed(b, 0)])
  return result()
}

// ---- Axes by labels ----

/** A tensor whose axes have labels, each once. @typedef {{ layout: Layout, labels: string[] }} Labelled */

/** What a contraction is computed with; dtype: that all operands are converted to; made: temporary layouts. @typedef {{ name: string, dtype: number, casting: number, accuracy: number, made: Layout[] }} How */

/** @param {Labelled} x @param {readonly string[]} order  all of its labels @returns {Layout} a view */
const inOrder = ({ layout, labels }, order) =>
  permuted(
    layout,
    order.map((label) => labels.indexOf(label)),
  )

/** @param {Labelled} x @param {readonly string[]} labels @returns {number[]} */
const extentsOf = (x, labels) => labels.map((label) => x.layout.shape[x.labels.indexOf(label)])

/** @param {readonly number[]} extents */
const product = (extents) => extents.reduce((n, extent) => n * extent, 1)

/** @param {How} how @param {number} dtype @param {number[]} shape @returns {Layout} new bytes */
function temporary({ made }, dtype, shape) {
  const layout = allocated(denseLayout(dtype, shape))
  made.push(layout)
  return layout
}

/** @param {Layout} to @param {Layout} from @param {{ dtype: number, casting: number }} how */
const copyInto = (to, from, { dtype, casting }) =>
  elementwise({ op: ops.positive, asked: dtype, casting }, to, [from])

/** @param {Layout} layout @param {number} dtype  numbers @param {How} how @returns {Layout} a copy, which is counted */
function copied(layout, dtype, how) {
  const copy = temporary(how, dtype, layout.shape)
  copyInto(copy, layout, { dtype, casting: SAME_KIND })
  countCopy(how.name, copy.nbytes)
  return copy
}

/** @param {Layout} layout @param {number[]} shape @returns {Layout | null} a view; null: strides do not allow it */
function reshaped(layout, shape) {
  if (isSameShape(layout.shape, shape)) return layout
  const view = ffi.reshape(layout, shape)
  return view.storage === nothing ? null : view
}

/**
 * @param {Layout} layout
 * @param {number[]} shape
 * @param {How} how
 * @returns {Layout} a view of it, or of a copy
 */
function merged(layout, shape, how) {
  const dtype = isNumbers(layout.dtype) ? layout.dtype : how.dtype
  return /** @type {Layout} */ (
    reshaped(layout, shape) ?? reshaped(copied(layout, dtype, how), shape)
  )
}

/**
 * @param {Labelled} x
 * @param {(label: string) => boolean} isKept  the other axes are summed over
 * @param {How} how
 * @returns {Labelled}
 */
function summed(x, isKept, how) {
  const gone = x.labels.filter((label) => !isKept(label))
  if (gone.length === 0) return x
  const labels = x.labels.filter(isKept)
  const to = temporary(how, how.dtype, extentsOf(x, labels))
  const numbers = isNumbers(x.layout.dtype)
    ? x
    : { layout: copied(x.layout, how.dtype, how), labels: x.labels } // in the dtype in which operands meet
  sumInto(to, numbers, labels, gone, { dtype: how.dtype, casting: SAME_KIND })
  return { layout: to, labels }
}

/**
 * @param {Layout} to  its axes are labels, in that order
 * @param {Labelled} x
 * @param {readonly string[]} labels
 * @param {readonly string[]} gone
 * @param {{ dtype: number, casting: number }} how  dtype: that sums are computed in
 */
function sumInto(to, x, labels, gone, { dtype, casting }) {
  const from = inOrder(x, [...labels, ...gone])
  const axes = gone.map((_, i) => labels.length + i)
  reduce(reductions.sum, to, from, axes, dtype, casting, 0)
}

/**
 * The product of two tensors, summed over the labels that are not wanted.
 *
 * @param {Labelled} x
 * @param {Labelled} y
 * @param {(label: string) => boolean} isWanted
 * @param {Labelled | null} given  where the result goes; null: to new bytes
 * @param {How} how
 * @returns {Labelled}
 */
function contracted(x, y, isWanted, given, how) {
  const { dtype } = how
  const a = summed(x, (label) => isWanted(label) || y.labels.includes(label), how)
  const b = summed(y, (label) => isWanted(label) || x.labels.includes(label), how)
  const inBoth = a.labels.filter((label) => b.labels.includes(label))
  const batch = inBoth.filter(isWanted)
  const gone = inBoth.filter((label) => !isWanted(label))
  const left = a.labels.filter((label) => !b.labels.includes(label))
  const right = b.labels.filter((label) => !a.labels.includes(label))
  const order = [...batch, ...left, ...right]
  const batches = extentsOf(a, batch)
  const m = product(extentsOf(a, left))
  const k = product(extentsOf(a, gone))
  const n = product(extentsOf(b, right))
  const extents = [...batches, ...extentsOf(a, left), ...extentsOf(b, right)]
  const result = given ?? { layout: temporary(how, dtype, extents), labels: order }
  const to = inOrder(result, order)
  const casting = given === null ? SAME_KIND : how.casting
  if (gone.length === 0) {
    let row = inOrder(a, [...batch, ...left])
    let column = inOrder(b, [...batch, ...right])
    for (let i = 0; i < right.length; i++) row = unsqueezed(row, row.shape.length)
    for (let i = 0; i < left.length; i++) column = unsqueezed(column, batch.length)
    elementwise({ op: ops.multiply, asked: dtype, casting }, to, [row, column])
    return result
  }
  const shape = [...batches, m, n]
  const direct = reshaped(to, shape)
  const made = direct ?? temporary(how, dtype, shape)
  const from = merged(inOrder(a, [...batch, ...left, ...gone]), [...batches, m, k], how)
  const by = merged(inOrder(b, [...batch, ...gone, ...right]), [...batches, k, n], how)
  multiplyMatrices(made, from, by, {
    dtype,
    casting: direct === null ? SAME_KIND : casting,
    accuracy: how.accuracy,
  })
  if (direct === null) {
    copyInto(to, /** @type {Layout} */ (reshaped(made, extents)), { dtype, casting })
  }
  return result
}

// ---- tensordot ----

/** Axes of both tensors. @typedef {{ a: number[], b: number[] }} Pairs */

/**
 * Reads the option `axes`, which may run code of the caller's.
 *
 * @param {unknown} axes
 * @returns {number | Pairs}
 */
function axesGiven(axes) {
  if (axes === undefined) return 2
  if (typeof axes === 'number') {
    const count = integer('axes', axes)
    if (count < 0) throw failure('ERR_BOUNDS', `axes is ${count}; 0 or more were expected`)
    return count
  }
  return atOnce(() => {
    if (!Array.isArray(axes) || axes.length !== 2) {
      throw failure(
        'ERR_ARGUMENT',
        `axes is ${show(axes)}; a number, or two lists of axes, were expected`,
      )
    }
    return { a: axesOf(axes[0], 'axes[0]'), b: axesOf(axes[1], 'axes[1]') }
  })
}

/**
 * The sum of products over pairs of axes, one of each tensor. What is left of x1's axes comes before x2's.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [E=never]
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  numbers
 * @param {Tensor<B>} x2
 * @param {TensordotOptions<E, O> | NameOf<E>} [opts]
 * @returns {Tensor<Or<O, Or<E, Promote<A, B>>>>}
 * @throws as matmul · {RangeError} ERR_BOUNDS an axis outside or repeated
 * @see array API tensordot
 * @example
 * tensordot(tensor([[1, 2], [3, 4]]), tensor([[1, 0], [1, 1]]), { axes: [[0], [1]] }).toArray() // [[1, 4], [2, 6]]
 */
function tensordot(x1, x2, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsFor(opts, OF_TENSORDOT)
  const given = axesGiven(options.axes)
  const accuracy = accuracyOf(options.accuracy)
  const { out, casting, dtype: asked } = resultIn(options)
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  const pairs = pairsOf(given, a, b)
  const dtype = productDtype([a, b], asked)
  const labels = a.shape.map((_, d) => `a${d}`)
  const others = b.shape.map((_, d) =>
    pairs.b.includes(d) ? labels[pairs.a[pairs.b.indexOf(d)]] : `b${d}`,
  )
  const order = [
    ...labels.filter((label) => !others.includes(label)),
    ...others.filter((label) => !labels.includes(label)),
  ]
  return contraction(
    [
      { layout: a, labels },
      { layout: b, labels: others },
    ],
    order,
    out,
    { name: 'tensordot', dtype, casting, accuracy, made: [] },
  )
}

/**
 * @param {number | Pairs} given
 * @param {Layout} a
 * @param {Layout} b
 * @returns {Pairs} from 0 on, each once
 */
function pairsOf(given, a, b) {
  const na = a.shape.length
  const nb = b.shape.length
  if (typeof given === 'number' && (given > na || given > nb)) {
    throw failure('ERR_BOUNDS', `axes is ${given}; x1 has ${na} axes, and x2 ${nb}`)
  }
  const pairs =
    typeof given === 'number'
      ? { a: arrayOf(given, (i) => na - given + i), b: arrayOf(given, (i) => i) }
      : { a: axesFor(given.a, na, 'axes[0]'), b: axesFor(given.b, nb, 'axes[1]') }
  if (pairs.a.length !== pairs.b.length) {
    throw failure('ERR_SHAPE', `axes has ${pairs.a.length} axes of x1, and ${pairs.b.length} of x2`)
  }
  for (let i = 0; i < pairs.a.length; i++) {
    const n = a.shape[pairs.a[i]]
    const m = b.shape[pairs.b[i]]
    if (n !== m) {
      throw failure(
        'ERR_SHAPE',
        `axis ${pairs.a[i]} of x1 has ${n} elements, and axis ${pairs.b[i]} of x2 ${m}`,
      )
    }
  }
  return pairs
}

// ---- einsum ----

/**
 * The sum of products of tensors, in the order of an output: operands are multiplied from left to right.
 *
 * @param {Labelled[]} operands
 * @param {string[]} output
 * @param {Tensor | undefined} out
 * @param {How} how
 * @returns {any}
 */
function contraction(operands, output, out, how) {
  const shape = output.map((label) => {
    const owner = operands.find(({ labels }) => labels.includes(label))
    return owner === undefined ? 1 : extentsOf(owner, [label])[0]
  })
  return wrapping(how.name, out, how.dtype, shape, how.casting, (to) => {
    const last = operands.length - 1
    let x = operands[0]
    try {
      for (let i = 1; i <= last; i++) {
        const rest = [output, ...operands.slice(i + 1).map(({ labels }) => labels)]
        const isWanted = (/** @type {string} */ label) =>
          rest.some((labels) => labels.includes(label))
        const end = i < last ? null : { layout: to, labels: output }
        x = contracted(x, operands[i], isWanted, end, how)
      }
      if (last === 0) {
        const gone = x.labels.filter((label) => !output.includes(label))
        if (gone.length > 0) sumInto(to, x, output, gone, how)
        else copyInto(to, inOrder(x, output), how)
      }
    } finally {
      how.made.forEach(freed)
    }
  })
}

/**
 * Sums of products, as an equation of letters says: each letter is an axis of operands. Letters that the output has not are summed over; one
 * that an operand has twice is its diagonal; `...` stands for axes that are broadcast. Without `->` the output has the letters that stand
 * once, by the alphabet. Operands are multiplied from left to right, two at a time, as matrices, in the dtype in which all of them meet, or that is asked for.
 *
 * @template {DtypeName} [O=any]
 * @param {string} equation  such as 'ij,jk->ik'
 * @param {...(AnyTensor | ProductOptions<any, O>)} operands  tensors of numbers; after them options
 * @returns {Tensor<O>}
 * @throws as matmul · {TypeError} ERR_ARGUMENT the equation is none
 * @see NumPy einsum
 * @example
 * einsum('ij,kj->ik', tensor([[1, 2], [3, 4]]), tensor([[1, 1]])).toArray() // [[3], [7]]
 */
function einsum(equation, ...operands) {
  const { length } = operands
  const hasOptions =
    length > 0 &&
    !Tensor.isTensor(operands[length - 1]) &&
    (operands[length - 1] === undefined || isOptions(operands[length - 1]))
  const count = hasOptions ? length - 1 : length
  for (let i = 0; i < count; i++) tensorOf(operands[i], `operand ${i}`)
  const options = optionsFor(hasOptions ? operands[length - 1] : undefined, OF_PRODUCT)
  const accuracy = accuracyOf(options.accuracy)
  const { out, casting, dtype: asked } = resultIn(options)
  const layouts = operands
    .slice(0, count)
    .map((t, i) => operandOf(/** @type {Tensor} */ (t), `operand ${i}`))
  const { inputs, output } = equationOf(equation, layouts)
  const dtype = productDtype(layouts, asked)
  return contraction(
    layouts.map((layout, i) => simplified(layout, inputs[i], inputs, layouts)),
    output,
    out,
    { name: 'einsum', dtype, casting, accuracy, made: [] },
  )
}

/**
 * Each label once; axes of one element are dropped where another operand has more.
 *
 * @param {Layout} layout
 * @param {readonly string[]} given  its labels
 * @param {readonly (readonly string[])[]} inputs  all operands'
 * @param {readonly Layout[]} layouts
 * @returns {Labelled}
 */
function simplified(layout, given, inputs, layouts) {
  let labels = given.slice()
  let view = layout
  for (let d = labels.length - 1; d >= 0; d--) {
    const first = labels.indexOf(labels[d])
    const isShort =
      view.shape[d] === 1 &&
      inputs.some((own, i) =>
        own.some((label, k) => label === labels[d] && layouts[i].shape[k] !== 1),
      ) // than another operand there
    if (isShort) {
      view = ffi.viewByList(opcodes.squeeze, view, [d])
      labels = labels.filter((_, i) => i !== d)
      d = labels.length // begins anew: what waited for it
      continue
    }
    if (first === d) continue
    if (view.shape[first] === 1 && view.shape[d] !== 1) continue // it is dropped when its turn comes
    view = ffi.viewByNumbers(opcodes.diagonal, view, 0, first, d)
    const label = labels[d]
    labels = [...labels.filter((_, i) => i !== d && i !== first), label]
    d = labels.length // begins anew
  }
  return { layout: view, labels }
}

// ---- cosineSimilarity ----

/**
 * The cosine of the angle between vectors along an axis; the other axes are broadcast. Lengths below eps count as eps. Sums of products are
 * vecdot's, of squares vectorNorm's.
 *
 * @template {DtypeName} A
 * @template {DtypeName} B
 * @template {DtypeName} [O=never]
 * @param {Tensor<A>} x1  real numbers
 * @param {Tensor<B>} x2  with as many elements along the axis
 * @param {CosineOptions<O> | number} [axis]  or options
 * @param {CosineOptions<O>} [opts]
 * @returns {Tensor<Or<O, Floated<Promote<A, B>>>>} the broadcast shape without the axis; integers give float32
 * @throws as vecdot · {TypeError} ERR_DTYPE complex numbers
 * @see PyTorch cosine_similarity
 * @example
 * cosineSimilarity(tensor([[3, 4], [0, 2]]), tensor([0, 1])).toArray() // [0.800000011920929, 1]
 */
function cosineSimilarity(x1, x2, axis, opts) {
  tensorOf(x1, 'x1')
  tensorOf(x2, 'x2')
  const options = optionsAlong(axis, opts, OF_COSINE)
  const { eps = 1e-8 } = options
  const given = axisGiven(options)
  if (typeof eps !== 'number' || !(eps >= 0)) {
    throw failure('ERR_ARGUMENT', `eps is ${show(eps)}; a number of at least 0 was expected`)
  }
  const { out, casting } = resultIn(options)
  const a = operandOf(x1, 'x1')
  const b = operandOf(x2, 'x2')
  const met = productDtype([a, b], undefined)
  const { kind, itemsize } = dtypes[met]
  if (kind === 'COMPLEX') {
    throw failure(
      'ERR_DTYPE',
      `cosineSimilarity has no ${dtypes[met].name}; real numbers were expected`,
    )
  }
  const isFloat = kind === 'FLOATING'
  const computed = met === FLOAT64 || (!isFloat && itemsize >= 4) ? FLOAT64 : FLOAT32
  const along = alongAxis(a, b, given)
  const { to, result } = target(out, isFloat ? met : FLOAT32, along.shape)
  /** @type {How} */
  const how = { name: 'cosineSimilarity', dtype: computed, casting, accuracy: 0, made: [] }
  try {
    const dots = temporary(how, computed, along.shape)
    const lengths = temporary(how, computed, along.shape)
    const others = temporary(how, computed, along.shape)
    const first = floated(along.a, computed, how)
    const second = floated(along.b, computed, how)
    multiplyVectors(dots, first, second, { dtype: computed, casting: SAME_KIND, accuracy: 0 })
    lengthsInto(lengths, first, computed, eps)
    lengthsInto(others, second, computed, eps)
    elementwise({ op: ops.multiply, asked: NONE, casting: SAME_KIND }, lengths, [lengths, others])
    elementwise({ op: ops.divide, asked: NONE, casting }, to, [dots, lengths])
  } finally {
    how.made.forEach(freed)
  }
  return result()
}

/** @param {Layout} to @param {Layout} from  vectors are the last axis @param {number} dtype @param {number} eps */
function lengthsInto(to, from, dtype, eps) {
  reduce(reductions.norm2, to, from, [from.shape.length - 1], dtype, SAME_KIND, 0)
  elementwise({ op: ops.maximum, asked: NONE, casting: SAME_KIND, scalar: eps, position: 1 }, to, [
    to,
  ])
}

/** @param {Layout} layout @param {number} dtype @param {How} how @returns {Layout} itself, if it is of floats */
const floated = (layout, dtype, how) =>
  dtypes[layout.dtype].kind === 'FLOATING' && isNumbers(layout.dtype)
    ? layout
    : copied(layout, dtype, how)

module.exports = { matmul, vecdot, tensordot, outer, einsum, cosineSimilarity }
