'use strict'
// Indexing by integers and masks: entries are read first, then a view is made of those that t.slice takes, and C moves the elements at
// offsets in it that the others give.

const { arrayOf, sumOf } = require('../base/records')
const ffi = require('../backend/calls')
const { sharesMemory } = require('../backend/element-calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { dtypeOfArray, isSharedArrayBuffer } = require('../base/buffers')
const { countCopy, countStaged } = require('../backend/storage')
const { dtypes, itemsizes, dtypeOf } = require('../backend/dtypes')
const { countTrue, positions, offsets, gather, scatter } = require('./calls/indexing')
const { indicesOf, nested } = require('../layout/elements')
const { allocated, broadcast, denseLayout, isSameShape, written } = require('../layout/layouts')
const { INDEX, RANGE, NEW_AXIS, ELLIPSIS, parseSpec } = require('../layout/slices')
const { scalarFor } = require('../layout/values')
const { Tensor, tensorOf, wrap, resultOf, produced } = require('../tensor/tensor')
const { tidy } = require('../tensor/scopes')
const { where } = require('./choices')
const { BOOL, INT32, INT64, SAFE, SAME_KIND, UNSAFE, MOST_INT32 } = require('./constants')
const { operandOf, targetOf } = require('./operands')
const { dtypeAmong, known, optionsFor, resultOptions } = require('./options')
const scalars = require('./scalars')

const { opcodes, nothing, backend } = ffi

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */
/** @typedef {boolean | number | bigint | [number, number]} Scalar */
/** @import { AnyTensor, SliceSpec, DtypeName, Or, InputOf } from '../base/types' */

/** An entry of index: as t.slice takes it, or integers, or a mask. @typedef {SliceSpec | AnyTensor | ArrayLike<number | bigint>} IndexEntry */

const OF_FILL = known(['out', 'casting'])
const OF_NONZERO = known(['dtype'])
const LARGE = 4096 // bytes
const MOST_ENTRIES = 64

/** The slice of a whole axis. */
const WHOLE = [RANGE, 0, 0, 0, 1]

// ---- Entries ----

/**
 * What the caller gave.
 *
 * @typedef {object} Entry
 * @property {readonly number[] | null} slice  five numbers; null: a list or a tensor
 * @property {Tensor | null} tensor
 * @property {Layout | null} list  of integers
 */

/**
 * Reads entries: afterwards no code of the caller's is left to run.
 *
 * @param {unknown[]} given
 * @returns {Entry[]}
 */
function readEntries(given) {
  if (given.length > MOST_ENTRIES) {
    throw failure('ERR_SHAPE', `${given.length} entries were given; ${MOST_ENTRIES} are possible`)
  }
  return given.map((entry, i) => {
    const name = `entry ${i}`
    if (Tensor.isTensor(entry)) return { slice: null, tensor: entry, list: null }
    const first = Array.isArray(entry) ? entry[0] : undefined
    if (typeof first === 'boolean' || Array.isArray(first)) {
      throw failure(
        'ERR_ARGUMENT',
        `${name}[0] is ${show(first)}; an integer was expected, or instead of the list a tensor: tensor(list) makes a mask of booleans, and integers of several axes`,
      )
    }
    if (Array.isArray(entry) || dtypeOfArray(entry) !== undefined) {
      return { slice: null, tensor: null, list: indicesOf(name, entry) }
    }
    return { slice: parseSpec(entry, name), tensor: null, list: null }
  })
}

/** Integers, or a mask, and where they stand. @typedef {{ layout: Layout, entry: number, axis: number, number: number }} Advanced axis: the first one of the view; number: of the tensor */

/**
 * How entries index a layout.
 *
 * @typedef {object} Plan
 * @property {Layout} view  by the slices; axes of the other entries are whole
 * @property {Advanced[]} advanced
 * @property {number[]} axes  of the view, that these index
 * @property {number} at  where the axes of indices come in the result
 */

/** @param {Layout} layout */
const isMask = (layout) => layout.dtype === BOOL

/** @param {Layout | null} layout @param {readonly number[] | null} slice @returns {number} axes of the tensor that an entry names */
function axesNamed(layout, slice) {
  if (layout !== null) return isMask(layout) ? layout.shape.length : 1
  const kind = /** @type {readonly number[]} */ (slice)[0]
  return kind === INDEX || kind === RANGE ? 1 : 0
}

/**
 * @param {Layout} mask
 * @param {number} entry
 * @param {readonly number[]} shape  the tensor's
 * @param {number} d  first axis of it
 */
function checkMask(mask, entry, shape, d) {
  const there = shape.slice(d, d + mask.shape.length)
  if (!isSameShape(mask.shape, there)) {
    throw failure(
      'ERR_SHAPE',
      `entry ${entry} is a mask of shape [${mask.shape.join(', ')}]; from axis ${d} on the tensor has shape [${there.join(', ')}]`,
    )
  }
}

/**
 * @param {Layout} layout
 * @param {Entry[]} entries
 * @returns {Plan}
 */
function planOf(layout, entries) {
  const { shape } = layout
  const given = entries.map(({ list, tensor }, i) =>
    tensor === null ? list : operandOf(tensor, `entry ${i}`),
  )
  const named = given.map((own, i) => axesNamed(own, entries[i].slice))
  const total = sumOf(named)
  const ellipses = entries.filter(({ slice }) => slice?.[0] === ELLIPSIS).length
  if (ellipses > 1) throw failure('ERR_SHAPE', `'...' stands ${ellipses} times; once is possible`)
  if (total > shape.length) {
    throw failure('ERR_SHAPE', `entries name ${total} axes; the tensor has ${shape.length}`)
  }
  /** @type {Advanced[]} */
  const advanced = []
  /** @type {number[]} */
  const axes = []
  /** @type {number[]} */
  const slices = []
  let d = 0 // next axis of the tensor
  let v = 0 // of the view
  let at = -1 // axis of the view where the first index stands
  let isPast = false // after that and those beside it
  let isSeparated = false
  for (let i = 0; i < entries.length; i++) {
    const own = given[i]
    const slice = entries[i].slice ?? WHOLE
    const isIndex = own !== null || slice[0] === INDEX
    if (!isIndex) isPast ||= at >= 0
    else if (at < 0) at = v
    else isSeparated ||= isPast
    if (own !== null) {
      if (isMask(own)) checkMask(own, i, shape, d)
      advanced.push({ layout: own, entry: i, axis: v, number: d })
      for (let k = 0; k < named[i]; k++) axes.push(v + k)
    } else if (slice[0] === INDEX && (slice[2] < -shape[d] || slice[2] >= shape[d])) {
      throw failure(
        'ERR_BOUNDS',
        `index ${slice[2]} of entry ${i} is outside axis ${d} of ${shape[d]} elements`,
      )
    }
    const repeats = own === null ? 1 : named[i]
    for (let k = 0; k < 5 * repeats; k++) slices.push(slice[k % 5])
    const rest = slice[0] === ELLIPSIS ? shape.length - total : named[i]
    d += rest
    v += slice[0] === INDEX ? 0 : slice[0] === NEW_AXIS ? 1 : rest
  }
  return {
    view: ffi.viewByList(opcodes.slice, layout, slices),
    advanced,
    axes,
    at: isSeparated ? 0 : at,
  }
}

// ---- Offsets ----

/** @typedef {Layout[]} Made temporary layouts */

/**
 * @template T
 * @param {(made: Made) => T} fn  whose temporary layouts are released afterwards
 * @returns {T}
 */
function withTemporaries(fn) {
  /** @type {Made} */
  const made = []
  try {
    return fn(made)
  } finally {
    for (const { storage } of made) backend.release(storage)
  }
}

/**
 * @param {Made} made  gets it
 * @param {number} dtype
 * @param {readonly number[]} shape
 * @returns {Layout} uninitialised
 */
function temporary(made, dtype, shape) {
  const { size, strides, flags, nbytes, shape: extents } = denseLayout(dtype, shape.slice())
  const isLarge = nbytes > LARGE && !backend.isWasm // what V8 has is free after a collection only
  const storage = isLarge
    ? backend.allocateNative(nbytes, ffi.check)
    : backend.allocate(nbytes, ffi.check)
  const layout = new ffi.Layout(storage, dtype, extents, strides, 0, size, flags)
  made.push(layout)
  return layout
}

/**
 * @param {Made} made  gets it
 * @param {Layout} source
 * @param {number} dtype
 * @param {readonly number[]} shape  that it is broadcast to
 * @param {number} casting
 * @returns {Layout} a copy, which counts as staged
 */
function stagedCopy(made, source, dtype, shape, casting) {
  const copy = temporary(made, dtype, shape)
  ffi.copy(copy, source, casting)
  countStaged(copy.nbytes)
  return copy
}

/**
 * Can C read a mask where it is, as often as it wants? Masks that other threads may write are copied first, so that each reading finds the same.
 *
 * @param {Layout} mask
 * @param {readonly number[]} shape  that it is broadcast to
 */
function isSteady(mask, shape) {
  const { storage } = mask
  const isShared =
    storage.kind === 'native' ||
    storage.kind === 'sab' ||
    (backend.isWasm && (storage.address === null || backend.group !== null))
  return (
    isMask(mask) &&
    !isShared &&
    !isSharedArrayBuffer(storage.buffer) &&
    isSameShape(mask.shape, shape) &&
    ffi.isContiguous(mask)
  )
}

/**
 * A mask without gaps.
 *
 * @param {Made} made
 * @param {Layout} mask  of any dtype: what is not 0 is true
 * @param {readonly number[]} shape  that it is broadcast to
 * @returns {Layout} bool
 */
const maskOf = (made, mask, shape) =>
  isSteady(mask, shape) ? mask : stagedCopy(made, mask, BOOL, shape, UNSAFE)

/**
 * @param {Made} made
 * @param {Layout} mask  of maskOf
 * @param {readonly number[]} factors
 * @returns {Layout} int64: for each true element the sum of its indices times their factors
 */
function whereTrue(made, mask, factors) {
  const at = temporary(made, INT64, [countTrue(mask)])
  positions(at, mask, factors)
  return at
}

/**
 * @param {Layout} to
 * @param {Layout} mask  of maskOf
 * @param {number} axis
 * @returns {void} to gets the indices of true elements along the axis
 */
function indicesInto(to, mask, axis) {
  const factors = mask.shape.map((_, d) => (d === axis ? 1 : 0))
  positions(to, mask, factors)
}

/** Where elements are: bytes from the view's first one. @typedef {{ at: Layout, shape: readonly number[] }} Offsets at: int64; shape: of the indices */

/** Integers along one axis. @typedef {{ layout: Layout, axis: number, number: number, entry: number }} Indices */

/**
 * The integers that entries stand for: a mask's are those of its true elements, for each of its axes.
 *
 * @param {Made} made
 * @param {Advanced[]} advanced
 * @returns {{ indices: Indices[], shape: number[] }} shape: that they broadcast to
 */
function indicesFor(made, advanced) {
  /** @type {Indices[]} */
  const indices = []
  /** @type {number[]} */
  let shape = []
  for (const { layout, axis, number, entry } of advanced) {
    if (!isMask(layout)) {
      const { itemsize, name } = dtypes[layout.dtype]
      if (!scalars.isWhole[layout.dtype]) {
        throw failure('ERR_DTYPE', `entry ${entry} is ${name}; integers or bool were expected`)
      }
      const integers = itemsize >= 4 ? layout : stagedCopy(made, layout, INT32, layout.shape, SAFE)
      indices.push({ layout: integers, axis, number, entry })
      shape = broadcast(shape, layout.shape)
      continue
    }
    const mask = maskOf(made, layout, layout.shape)
    const found = [countTrue(mask)]
    for (let k = 0; k < mask.shape.length; k++) {
      const at = temporary(made, INT64, found)
      indicesInto(at, mask, k)
      indices.push({ layout: at, axis: axis + k, number: number + k, entry })
    }
    shape = broadcast(shape, found)
  }
  return { indices, shape }
}

/**
 * @param {Made} made
 * @param {Plan} plan
 * @returns {Offsets}
 */
function offsetsOf(made, { view, advanced }) {
  const itemsize = itemsizes[view.dtype]
  const strides = view.strides.map((stride) => stride * itemsize)
  const first = advanced[0]
  if (advanced.length === 1 && isMask(first.layout)) {
    const mask = maskOf(made, first.layout, first.layout.shape)
    const at = whereTrue(made, mask, strides.slice(first.axis, first.axis + mask.shape.length))
    return { at, shape: at.shape }
  }
  const { indices, shape } = indicesFor(made, advanced)
  const at = temporary(made, INT64, shape)
  if (indices.length === 0) ffi.fill(at, 0) // masks without axes
  for (const [i, { layout, axis, number, entry }] of indices.entries()) {
    offsets(at, layout, { extent: view.shape[axis], stride: strides[axis], entry, number }, i > 0)
  }
  return { at: ffi.viewByList(opcodes.view, at, [at.size]), shape }
}

/** @param {Plan} plan @param {readonly number[]} shape  of the indices @returns {number[]} */
function shapeOfResult(plan, shape) {
  const rest = restOf(plan)
  return [...rest.slice(0, plan.at), ...shape, ...rest.slice(plan.at)]
}

/** @param {Plan} plan @returns {number[]} extents of the view's axes that no index is along */
const restOf = ({ view, axes }) => view.shape.filter((_, d) => !axes.includes(d))

/**
 * A result's axes with those of the indices in front.
 *
 * @param {Layout} layout  of a result's shape
 * @param {Plan} plan
 * @param {readonly number[]} shape  of the indices
 */
function withIndicesFirst(layout, { at }, shape) {
  const n = shape.length
  if (at === 0) return layout
  return ffi.viewByList(
    opcodes.permute,
    layout,
    arrayOf(layout.shape.length, (d) => (d < n ? at + d : d < at + n ? d - n : d)),
  )
}

/** @param {Plan} plan @param {readonly number[]} shape @returns {number[]} of a result whose indices are one axis, in front */
const shapeOfItems = (plan, shape) => [shape.reduce((n, extent) => n * extent, 1), ...restOf(plan)]

// ---- The functions ----

/**
 * The elements at integers and masks, with NumPy's rules. Entries are as of t.slice, or tensors or lists of integers, or masks, which are
 * bool tensors of one or more axes and stand for the places where they are true. Integers are broadcast together; their axes take the place of
 * the first such entry, or come first where a slice stands between two of them (a number beside them counts as one of them). Other
 * threads may write indices and masks meanwhile: no other bytes than the tensor's are read then.
 *
 * @template {DtypeName} D
 * @param {import('../tensor/tensor').Tensor<D>} t
 * @param {...IndexEntry} entries  for the first axes; the others stay whole
 * @returns {import('../tensor/tensor').Tensor<D>} a copy; a view, as t.slice gives it, where there are neither integers nor masks
 * @throws {RangeError} ERR_BOUNDS an index outside, ERR_SHAPE too many entries, or shapes of indices or masks that do not fit, ERR_MEMORY ·
 *   {TypeError} ERR_DTYPE indices are no integers, ERR_ARGUMENT · ERR_UNSUPPORTED a tensor is on a device · ERR_DISPOSED, ERR_DETACHED
 * @see NumPy advanced indexing, array API indexing by arrays
 * @example
 * const t = tensor([[1, 2, 3], [4, 5, 6]])
 * index(t, [1, 0, 1], [2, 0, 0]).toArray() // [6, 1, 4]
 * index(t, ':', [2, 0]).toArray() // [[3, 1], [6, 4]]
 * index(t, tensor([[true, false, true], [false, false, true]])).toArray() // [1, 3, 6]
 */
function index(t, ...entries) {
  tensorOf(t)
  const read = readEntries(entries)
  const layout = Tensor.attachedOf(t)
  const plan = planOf(layout, read)
  if (plan.advanced.length === 0) return Tensor.viewOf(t, plan.view)
  operandOf(t, 't')
  return withTemporaries((made) => {
    const { at, shape } = offsetsOf(made, plan)
    const result = {
      dtype: layout.dtype,
      shape: shapeOfResult(plan, shape),
      sources: [layout],
      write(/** @type {Layout} */ target) {
        if (target.size === 0) return
        const items = withIndicesFirst(target, plan, shape)
        gather(ffi.reshape(items, shapeOfItems(plan, shape)), plan.view, at, plan.axes)
      },
    }
    return /** @type {any} */ (produced('index', result, resultOf(undefined)))
  })
}

/**
 * What indexPut writes, as scatter takes it.
 *
 * @param {Made} made
 * @param {Layout} value
 * @param {Plan} plan
 * @param {readonly number[]} shape  of the indices
 * @returns {Layout} of the target's dtype; shares no byte with it
 */
function itemsOf(made, value, plan, shape) {
  const { view } = plan
  const source =
    value.dtype === view.dtype ? value : stagedCopy(made, value, view.dtype, value.shape, SAME_KIND)
  const whole = withIndicesFirst(
    ffi.viewByList(opcodes.broadcast_to, source, shapeOfResult(plan, shape)),
    plan,
    shape,
  )
  const items = ffi.reshape(whole, shapeOfItems(plan, shape))
  if (items.storage !== nothing && (source !== value || !sharesMemory(view, value))) return items
  return ffi.reshape(stagedCopy(made, whole, view.dtype, whole.shape, SAME_KIND), items.shape)
}

/**
 * Writes in place where entries, as of index, say. Of an index that is repeated the last value stays. Nothing is written where this
 * throws. The value is cast as copyFrom casts; where it shares bytes with t, it is copied first.
 *
 * @template {DtypeName} D
 * @param {import('../tensor/tensor').Tensor<D>} t
 * @param {[...entries: IndexEntry[], value: AnyTensor | InputOf<D>]} args  value: a tensor, broadcast to what index gives, or a scalar, which has to fit t's dtype
 * @returns {import('../tensor/tensor').Tensor<D>} t
 * @throws as index · {TypeError} ERR_CAST the value does not fit · {RangeError} ERR_SHAPE it does not broadcast · ERR_READ_ONLY, ERR_BUSY ·
 *   ERR_OVERLAP elements of t share bytes
 * @see NumPy advanced indexing, PyTorch index_put_
 * @example
 * const t = zeros([2, 3])
 * indexPut(t, [0, 1], [2, 0], tensor([7, 8])).toArray() // [[0, 0, 7], [8, 0, 0]]
 * indexPut(t, ':', 1, -1).toArray() // [[0, -1, 7], [8, -1, 0]]
 */
function indexPut(t, ...args) {
  tensorOf(t)
  if (args.length === 0) throw failure('ERR_ARGUMENT', 'no value was given')
  const given = args[args.length - 1]
  if (Array.isArray(given) && dtypes[Tensor.layoutOf(t).dtype].kind !== 'COMPLEX') {
    throw failure(
      'ERR_ARGUMENT',
      `the value, which is the last argument, is ${show(given)}; a number or a tensor was expected`,
    )
  }
  const read = readEntries(args.slice(0, args.length - 1))
  const source = Tensor.isTensor(given) ? given : null
  const scalar = source === null ? scalarFor(given, dtypes[Tensor.layoutOf(t).dtype]) : false
  const to = Tensor.writableOf(t)
  operandOf(t, 't')
  const plan = planOf(to, read)
  withTemporaries((made) => {
    const value =
      source === null ? temporary(made, to.dtype, restOf(plan)) : operandOf(source, 'value') // a scalar is one item, for all indices
    if (source === null) ffi.fill(value, scalar)
    let { size } = plan.view
    if (plan.advanced.length === 0) ffi.copy(plan.view, value, SAME_KIND)
    else {
      const { at, shape } = offsetsOf(made, plan)
      const items =
        source === null
          ? ffi.viewByList(opcodes.broadcast_to, value, shapeOfItems(plan, shape))
          : itemsOf(made, value, plan, shape)
      if (items.size > 0) scatter(plan.view, items, at, plan.axes)
      size = items.size
    }
    countCopy('indexPut', size * itemsizes[to.dtype])
  })
  return t
}

/**
 * @param {unknown} mask
 * @returns {Layout} of bool
 */
function boolsOf(mask) {
  const layout = operandOf(tensorOf(mask, 'mask'), 'mask')
  if (!isMask(layout)) {
    throw failure('ERR_DTYPE', `mask is ${dtypes[layout.dtype].name}; bool was expected`)
  }
  return layout
}

/**
 * The elements where a mask is true, in row-major order.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {import('../tensor/tensor').Tensor<D>} t
 * @param {AnyTensor} mask  bool; broadcast to t's shape
 * @param {import('../base/types').ResultOptions<E>} [opts]
 * @returns {import('../tensor/tensor').Tensor<Or<E, D>>} a copy, with one axis
 * @throws {RangeError} ERR_SHAPE of mask or out, ERR_MEMORY · {TypeError} ERR_DTYPE mask is not bool, ERR_CAST, ERR_ARGUMENT · ERR_UNSUPPORTED
 *   a tensor is on a device · as copyFrom, of out
 * @see PyTorch masked_select
 * @example
 * const t = tensor([[1, 5], [7, 2]])
 * maskedSelect(t, greater(t, 2)).toArray() // [5, 7]
 */
function maskedSelect(t, mask, opts) {
  tensorOf(t)
  tensorOf(mask, 'mask')
  const options = resultOptions(opts)
  if (options.out !== undefined) targetOf(options.out)
  const from = operandOf(t, 't')
  return withTemporaries((made) => {
    const { shape, strides, dtype } = from
    const itemsize = itemsizes[dtype]
    const at = whereTrue(
      made,
      maskOf(made, boolsOf(mask), shape),
      strides.map((stride) => stride * itemsize),
    )
    const result = {
      dtype,
      shape: at.shape,
      sources: [from],
      canWriteTo: (/** @type {Layout} */ target) => target.dtype === dtype,
      write: (/** @type {Layout} */ target) => gather(target, from, at, [...shape.keys()]),
    }
    return /** @type {any} */ (produced('maskedSelect', result, options))
  })
}

/**
 * A tensor with a value where a mask is true, and t's elements elsewhere; in place with { out: t }.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [O=never]
 * @param {import('../tensor/tensor').Tensor<D>} t
 * @param {AnyTensor} mask  bool; broadcast to t's shape
 * @param {AnyTensor | InputOf<D>} value  has to fit t's dtype; of a tensor without axes its element
 * @param {{ out?: import('../tensor/tensor').Tensor<O> | undefined, casting?: 'safe' | 'same_kind' | 'unsafe' | undefined }} [opts]
 * @returns {import('../tensor/tensor').Tensor<Or<O, D>>} of t's shape and dtype; out where it is given
 * @throws as where
 * @see PyTorch masked_fill
 * @example
 * const t = tensor([[1, 5], [7, 2]])
 * maskedFill(t, greater(t, 2), 0).toArray() // [[1, 0], [0, 2]]
 */
function maskedFill(t, mask, value, opts) {
  tensorOf(t)
  tensorOf(mask, 'mask')
  const { out, casting } = optionsFor(opts, OF_FILL)
  const scalar = Tensor.isTensor(value)
    ? elementOf(value)
    : scalarFor(value, dtypes[Tensor.layoutOf(t).dtype])
  const { dtype, shape } = operandOf(t, 't')
  if (!scalars.takes(dtype, scalar)) throw scalars.misfit('value', scalar, dtype, 't')
  ffi.viewByList(opcodes.broadcast_to, boolsOf(mask), shape)
  return where(mask, scalar, t, { out, casting })
}

/** @param {AnyTensor} value @returns {Scalar} */
function elementOf(value) {
  const layout = operandOf(value, 'value')
  if (layout.shape.length > 0) {
    throw failure(
      'ERR_SHAPE',
      `value has shape [${layout.shape.join(', ')}]; a scalar, or a tensor without axes, was expected`,
    )
  }
  return nested(layout)
}

/**
 * Where elements are not 0.
 *
 * @template {'int32' | 'int64'} [E='int32']
 * @param {AnyTensor} x  of any dtype; NaN is not 0
 * @param {{ dtype?: E }} [opts]
 * @returns {[Tensor<E>, ...Tensor<E>[]]} for each axis the indices along it, in row-major order of the elements
 * @throws {RangeError} ERR_SHAPE x has no axes, ERR_BOUNDS an axis has more than 2^31 - 1 elements and dtype is not 'int64', ERR_MEMORY ·
 *   {TypeError} ERR_DTYPE another dtype, ERR_ARGUMENT · ERR_UNSUPPORTED x is on a device
 * @see array API nonzero
 * @example
 * nonzero(tensor([[0, 3], [4, 0]])).map(at => at.toArray()) // [[0, 1], [1, 0]]
 */
function nonzero(x, opts) {
  tensorOf(x, 'x')
  const { dtype: name = 'int32' } = optionsFor(opts, OF_NONZERO)
  const dtype = dtypeAmong(dtypeOf(name), [INT32, INT64])
  const from = operandOf(x, 'x')
  const { shape } = from
  if (shape.length === 0) {
    throw failure('ERR_SHAPE', 'x has no axes, along which its elements would have indices')
  }
  for (let d = 0; d < shape.length; d++) {
    if (shape[d] > MOST_INT32 && dtype !== INT64) {
      throw failure(
        'ERR_BOUNDS',
        `axis ${d} has ${shape[d]} elements, whose indices need { dtype: 'int64' }`,
      )
    }
  }
  return withTemporaries((made) => {
    const mask = maskOf(made, from, shape)
    const found = [countTrue(mask)]
    return tidy(() => {
      const all = shape.map((_, axis) => {
        const to = allocated(denseLayout(dtype, found))
        return wrap(written(to, () => indicesInto(to, mask, axis)))
      })
      return /** @type {any} */ (all)
    })
  })
}

module.exports = { nonzero, index, indexPut, maskedSelect, maskedFill }
