'use strict'
// Makes layouts: contiguous ones, from a cache; over new bytes; over a caller's bytes, for one call or for as long as a tensor uses
// them; and views of other layouts.

const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { show, integers, shapeOf, oneOf } = require('../base/validate')
const { countStaged, CPU, deviceOfStorage, nameOfDevice } = require('../backend/storage')
const buffers = require('../base/buffers')
const { dtypeOfArray, isArrayBuffer, isSharedArrayBuffer, isView, isGone } = buffers
const { partsOfArray, partsOfLive, partsOfView, byteLengthOf, bufferOf, bytesCopied } = buffers
const { dtypes, itemsizes, dtypeOf } = require('../backend/dtypes')
const { placementOf } = require('./placement')

const cuda = lazyFile(() => require('../backend/cuda'))

const { backend, opcodes, CONTIGUOUS, READ_ONLY, STATIC, UNBOUND } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** A range of bytes in a buffer. @typedef {{ buffer: ArrayBufferLike, byteOffset: number, byteLength: number }} Bytes */

const UINT8 = dtypeOf('uint8').index

/** the last dense layout by rank and dtype, because loops make the same shape repeatedly @type {(Layout | undefined)[]} */
const recent = arrayOf(9 * 32, () => undefined)

/**
 * @param {number} dtype
 * @param {unknown[]} shape  unchecked
 * @returns {Layout} row-major, without bytes; other layouts share its shape and strides
 */
function denseLayout(dtype, shape) {
  const n = shape.length
  const known = recent[n * 32 + dtype]
  if (known === undefined || known.shape.length !== n) return newDenseLayout(dtype, shape) // a Proxy's length may be anything
  for (let d = 0; d < n; d++) {
    if (known.shape[d] !== shape[d]) return newDenseLayout(dtype, shape)
  }
  return known
}

/** layouts that are no longer in `recent`, by a hash of dtype and shape @type {(Layout | undefined)[]} */
const remembered = arrayOf(256, () => undefined)

/**
 * @param {number} dtype
 * @param {unknown[]} shape
 * @returns {Layout}
 */
function newDenseLayout(dtype, shape) {
  const extents = shapeOf(shape)
  const n = extents.length
  let sum = dtype + n * 17
  for (let d = 0; d < n; d++) sum = (sum * 31 + extents[d]) | 0
  const hash = sum & 255
  let layout = remembered[hash]
  if (layout === undefined || layout.dtype !== dtype || !isSameShape(layout.shape, extents)) {
    layout = remembered[hash] = ffi.dense(dtype, extents)
  }
  if (n <= 8) recent[n * 32 + dtype] = layout
  return layout
}

// ---- Over new bytes ----

/** in the order of C's numbers */
const DYNAMISMS = /** @type {const} */ (['static', 'bounded', 'unbound'])

/**
 * @param {unknown} dynamism  an option; undefined: 'bounded'
 * @returns {number} flags of a Layout
 */
const dynamismOf = (dynamism) =>
  dynamism === undefined ? 0 : [STATIC, 0, UNBOUND][oneOf('dynamism', dynamism, DYNAMISMS)]

/** @param {number} flags  of a Layout */
const nameOfDynamism = (flags) => DYNAMISMS[flags & STATIC ? 0 : flags & UNBOUND ? 2 : 1]

/**
 * The layout over new, uninitialised bytes. Kept short, so that V8 inlines it.
 *
 * @param {Layout} layout  without bytes
 * @returns {Layout}
 */
function allocated(layout) {
  const storage = backend.allocate(layout.nbytes, ffi.check)
  return new ffi.Layout(
    storage,
    layout.dtype,
    layout.shape,
    layout.strides,
    0,
    layout.size,
    layout.flags,
  )
}

/** What the options of makers may name. */
const OF_MAKING = ['dtype', 'device', 'dynamism', 'order', 'shared', 'pinMemory']

/** @typedef {(dtype: import('../backend/dtypes').Dtype, what: any, options: Record<string, any>, zeroed: boolean) => Layout} Lay one of the three functions below; what: a shape, a layout, or a shape and strides */

/**
 * A contiguous layout over new bytes, as a shape and the options of `empty` say.
 *
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {unknown} shape
 * @param {Record<string, any>} options
 * @param {boolean} zeroed
 * @returns {Layout}
 */
function emptyLayout(dtype, shape, { device, dynamism, order, shared, pinMemory }, zeroed) {
  const placement = placementOf(device, pinMemory, shared)
  const flags = dynamismOf(dynamism)
  let layout = denseLayout(dtype.index, Array.isArray(shape) ? shape : shapeOf(shape))
  const axes = axesOfOrder(order, layout.shape.length)
  if (axes !== null && order !== 'C') layout = ffi.denseOrdered(dtype.index, layout.shape, axes)
  return withBytes(layout, flags, zeroed, placement)
}

/**
 * A contiguous layout over new bytes, with another layout's shape, device and order of axes in memory, unless the options say otherwise.
 *
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {Layout} like
 * @param {Record<string, any>} options
 * @param {boolean} zeroed
 * @returns {Layout}
 */
function likeLayout(dtype, like, options, zeroed) {
  const { dynamism, order, shared, pinMemory } = options
  const device =
    options.device === undefined ? nameOfDevice(deviceOfStorage(like.storage)) : options.device
  if (order !== undefined || ffi.isContiguous(like)) {
    return emptyLayout(dtype, like.shape, { device, dynamism, order, shared, pinMemory }, zeroed)
  }
  const placement = placementOf(device, pinMemory, shared)
  return withBytes(
    ffi.viewByNumbers(ffi.opcodes.dense_like, like, dtype.index),
    dynamismOf(dynamism),
    zeroed,
    placement,
  )
}

/**
 * The dtype of a new tensor whose options name none.
 *
 * @param {Lay} lay
 * @param {any} what  lay's second argument
 * @returns {import('../backend/dtypes').Dtype | undefined} undefined: the caller has a default
 */
const dtypeLike = (lay, what) => (lay === likeLayout ? dtypes[what.dtype] : undefined)

/**
 * A layout with given strides, over as many new bytes as they reach.
 *
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {{ shape: unknown, strides: unknown }} given
 * @param {Record<string, any>} options
 * @param {boolean} zeroed
 * @returns {Layout}
 */
function stridedLayout(
  dtype,
  { shape, strides },
  { device, dynamism, order, shared, pinMemory },
  zeroed,
) {
  const placement = placementOf(device, pinMemory, shared)
  const flags = dynamismOf(dynamism)
  const extents = shapeOf(shape)
  const { layout, elements } = ffi.strided(
    dtype.index,
    extents,
    integers('strides', strides),
    axesOfOrder(order, extents.length),
  )
  return withBytes(layout, flags, zeroed, placement, elements)
}

/**
 * Axes from outermost to innermost in memory.
 *
 * @param {unknown} order  an option: 'C', 'F' or undefined
 * @param {number} n  axes
 * @returns {number[] | null} null: no order is asked for
 */
function axesOfOrder(order, n) {
  if (order === undefined) return null
  if (order !== 'C' && order !== 'F') {
    throw failure('ERR_ARGUMENT', `order is ${show(order)}; 'C' or 'F' was expected`)
  }
  return arrayOf(n, (d) => (order === 'C' ? d : n - 1 - d))
}

/**
 * @param {Layout} layout  without bytes
 * @param {number} flags  of dynamism
 * @param {boolean} zeroed  zeroes gaps between elements as well
 * @param {import('./placement').Placement} [placement]  the CPU's ordinary memory where none is given
 * @param {number} [elements]  to allocate
 * @returns {Layout}
 */
function withBytes(layout, flags, zeroed, placement, elements = layout.size) {
  const nbytes = elements * itemsizes[layout.dtype]
  let storage
  if (placement === undefined) {
    storage = zeroed
      ? backend.allocateZeroed(nbytes, ffi.check)
      : backend.allocate(nbytes, ffi.check)
  } else {
    storage = storageAt(placement, nbytes)
    if (zeroed && placement.shared !== 'sab') {
      written(new ffi.Layout(storage, layout.dtype, [elements], [1], 0, elements, 0), (flat) =>
        ffi.fill(flat, false),
      )
    }
  }
  const made = new ffi.Layout(
    storage,
    layout.dtype,
    layout.shape,
    layout.strides,
    0,
    layout.size,
    (layout.flags & CONTIGUOUS) | flags,
  )
  made.order = layout.order
  return made
}

/**
 * New bytes on a device, pinned, or shared.
 *
 * @param {import('./placement').Placement} placement
 * @param {number} nbytes
 * @returns {import('../backend/storage').Storage} uninitialised, but a SharedArrayBuffer is zeroed
 */
function storageAt({ device, pinned, shared }, nbytes) {
  const isKnown = typeof shared === 'boolean' || shared === (device === CPU ? 'sab' : 'own')
  if (!isKnown) {
    throw failure(
      'ERR_ARGUMENT',
      `shared is ${show(shared)}; true, false or ${device === CPU ? "'sab'" : "'own' on a device"} was expected`,
    )
  }
  if (device !== CPU || pinned) return cuda().allocate(nbytes, device, shared)
  if (shared === false) return backend.allocate(nbytes, ffi.check)
  return shared === 'sab'
    ? backend.allocateSab(nbytes, ffi.check)
    : backend.allocateNative(nbytes, ffi.check)
}

/**
 * Calls write with a layout over new bytes, and returns the layout. If write throws, releases the storage.
 *
 * @param {Layout} layout
 * @param {(layout: Layout) => void} write
 * @returns {Layout}
 */
function written(layout, write) {
  try {
    write(layout)
  } catch (error) {
    backend.release(layout.storage)
    throw error
  }
  return layout
}

/**
 * Calls fn with a layout over new, uninitialised bytes, which are freed afterwards.
 *
 * @template R
 * @param {Layout} layout  without bytes
 * @param {(layout: Layout) => R} fn
 * @param {import('./placement').Placement} [placement]  the CPU's ordinary memory where none is given
 * @returns {R}
 */
function withTemporary(layout, fn, placement) {
  const temporary = withBytes(layout, 0, false, placement)
  try {
    return fn(temporary)
  } finally {
    backend.release(temporary.storage)
  }
}

// ---- Over a caller's bytes ----

/**
 * A layout over a typed array's elements, for one call.
 *
 * @param {any} array
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major
 */
const layoutOver = (array, dtype, shape) => layoutOverBytes(partsOfArray(array), dtype, shape)

/**
 * A layout over a caller's bytes, for one call.
 *
 * @param {Bytes} bytes  copied first where byteOffset is not a multiple of the item size
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major
 */
function layoutOverBytes({ buffer, byteOffset, byteLength }, dtype, shape) {
  if (byteOffset % itemsizes[dtype] !== 0) {
    countStaged(byteLength)
    buffer = bufferOf(
      bytesCopied(new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength)),
    )
    byteOffset = 0
  }
  const { shape: extents, strides, size, flags } = denseLayout(dtype, shape)
  return new ffi.Layout(
    backend.borrow(buffer, byteOffset, byteLength),
    dtype,
    extents,
    strides,
    0,
    size,
    flags,
  )
}

/**
 * A layout over a caller's bytes, for copyBytes: of uint8 where they are not aligned for a dtype, so that no aligned copy has to be made first.
 *
 * @param {Bytes} parts
 * @param {number} dtype
 * @param {number[]} shape
 * @param {boolean} isDense  is the target row-major contiguous?
 * @returns {Layout}
 */
function layoutOfBytes(parts, dtype, shape, isDense) {
  const isAligned = parts.byteOffset % itemsizes[dtype] === 0
  return isAligned || !isDense
    ? layoutOverBytes(parts, dtype, shape)
    : layoutOverBytes(parts, UINT8, [parts.byteLength])
}

/**
 * @param {Layout} layout
 * @param {Layout} source  as layoutOfBytes gives it, of as many bytes
 */
function copyBytes(layout, source) {
  const { storage, dtype, offset } = layout
  const { size } = source
  ffi.copy(
    source.dtype === dtype
      ? layout
      : new ffi.Layout(storage, UINT8, [size], [1], offset * itemsizes[dtype], size, CONTIGUOUS),
    source,
    0,
  )
}

/**
 * The bytes of a buffer or view that a caller gave.
 *
 * @param {unknown} source
 * @param {string} [name]  of the argument, for messages
 * @param {string} [expected]
 * @returns {Bytes}
 */
function bufferRangeOf(source, name = 'bytes', expected = 'a typed array or an ArrayBuffer') {
  let parts
  if (dtypeOfArray(source) !== undefined) parts = partsOfLive(source, name)
  else if (isView(source)) parts = partsOfView(source, name)
  else if (isArrayBuffer(source) || isSharedArrayBuffer(source)) {
    parts = { buffer: source, byteOffset: 0, byteLength: byteLengthOf(source) }
  } else throw failure('ERR_ARGUMENT', `${name} is ${show(source)}; ${expected} was expected`)
  if (parts.byteLength === 0 && isGone(parts.buffer)) {
    throw failure('ERR_DETACHED', `${name} was transferred away`)
  }
  return parts
}

/**
 * A row-major layout over a typed array, which the storage keeps alive.
 *
 * @param {any} array
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[] | undefined} shape  undefined: 1-D over the whole array
 * @returns {Layout}
 */
function adoptArray(array, dtype, shape) {
  if (shape !== undefined) shape = denseLayout(dtype.index, shape).shape // user code in getters runs here
  const { buffer, byteOffset, byteLength } = partsOfLive(array, 'source')
  const length = Math.floor(byteLength / dtype.itemsize)
  const {
    shape: extents,
    strides,
    size,
  } = denseLayout(dtype.index, shape === undefined ? [length] : shape)
  if (size > length) {
    throw failure(
      'ERR_BOUNDS',
      `shape [${extents.join(', ')}] needs ${size} elements; the source has ${length} of ${dtype.name}`,
    )
  }
  const storage = backend.adopt(buffer, byteOffset, byteLength, array)
  storage.owner = array
  return new ffi.Layout(storage, dtype.index, extents, strides, 0, size, CONTIGUOUS)
}

// ---- Views of other layouts ----

/**
 * What a view shall differ in.
 *
 * @typedef {object} Asked
 * @property {import('../backend/dtypes').Dtype | undefined} dtype
 * @property {number[] | null} shape
 * @property {number[] | null} strides  any inside the layout's bytes
 * @property {number[] | null} dimOrder
 * @property {number | null} offset  elements from the layout's first one
 */

/**
 * A view with another shape, strides, dtype or offset. A shape alone keeps the logical order of elements.
 *
 * @param {Layout} layout
 * @param {Asked} asked
 * @returns {Layout} on the same storage
 */
function viewed(layout, { dtype, shape, strides, dimOrder, offset }) {
  let view = layout
  if (dtype !== undefined && dtype.index !== layout.dtype) {
    view = ffi.viewByNumbers(opcodes.view_dtype, layout, dtype.index)
  }
  if (strides !== null || dimOrder !== null || offset !== null) {
    return ffi.asStrided(
      view,
      shape ?? view.shape,
      strides,
      dimOrder,
      view.offset + (offset ?? 0),
      true,
    )
  }
  if (shape !== null) return ffi.viewByList(opcodes.view, view, shape)
  return view === layout ? ffi.viewByList(opcodes.view, layout, layout.shape) : view
}

/**
 * A layout that another thread or process described, if it lies inside the storage.
 *
 * @param {import('../backend/storage').Storage} storage
 * @param {{ dtype: import('../backend/dtypes').Dtype, shape: number[], strides: number[] }} described  extents and strides in elements
 * @param {number} byteOffset  of the first element, from the storage's first byte
 * @param {number} flags
 * @returns {Layout}
 * @throws ERR_ALIGNMENT · ERR_BOUNDS, ERR_SHAPE
 */
function layoutWithin(storage, { dtype, shape, strides }, byteOffset, flags) {
  const { index, itemsize } = dtype
  if (byteOffset % itemsize !== 0) {
    throw failure(
      'ERR_ALIGNMENT',
      `the first element begins at byte ${byteOffset}; a multiple of ${itemsize} was expected`,
    )
  }
  const n = Math.floor(storage.nbytes / itemsize)
  const layout = ffi.asStrided(
    new ffi.Layout(storage, index, [n], [1], 0, n, flags),
    shape,
    strides,
    null,
    byteOffset / itemsize,
    false,
  )
  layout.flags |= flags
  return layout
}

/**
 * Gives a view the owner of the whole layout, and its capacity where the view covers all of it.
 *
 * @param {Layout} view
 * @param {Layout} whole
 */
function inherit(view, whole) {
  const from = itemsizes[whole.dtype]
  const to = itemsizes[view.dtype]
  view.owner = whole.owner
  if (
    view.shape.length > 0 &&
    view.size * to === whole.size * from &&
    view.offset * to === whole.offset * from
  ) {
    view.capacity = Math.floor((whole.capacity * from) / to)
  }
}

/**
 * @param {Layout} layout
 * @param {number[]} start  first index per axis
 * @param {number[]} extents
 * @returns {Layout} that box of it
 */
function subLayout({ storage, dtype, strides, offset, flags }, start, extents) {
  let at = offset
  let size = 1
  for (let d = 0; d < extents.length; d++) {
    at += start[d] * strides[d]
    size *= extents[d]
  }
  return new ffi.Layout(storage, dtype, extents, strides, at, size, flags & READ_ONLY)
}

/**
 * The parts of scale and bias that belong to a box of the target.
 *
 * @param {import('../backend/calls').Scaling} scaling
 * @param {number[]} start
 * @param {number[]} extents
 * @returns {import('../backend/calls').Scaling}
 */
function scalingOfPart({ scale, bias, axis }, start, extents) {
  const d = axis < 0 ? axis + extents.length : axis
  const partOf = (/** @type {Layout} */ factor) =>
    factor.shape.length === 0 ? factor : subLayout(factor, [start[d]], [extents[d]])
  return { scale: partOf(scale), bias: partOf(bias), axis, numbers: null }
}

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @param {number} [but]  an axis whose extents may differ
 * @returns {boolean}
 */
function isSameShape(a, b, but = -1) {
  if (a.length !== b.length) return false
  for (let d = 0; d < a.length; d++) if (d !== but && a[d] !== b[d]) return false
  return true
}

/**
 * The shape that two shapes are broadcast to.
 *
 * @param {number[]} a
 * @param {number[]} b
 * @returns {number[]}
 */
function broadcast(a, b) {
  if (isSameShape(a, b)) return a
  const [long, short] = a.length >= b.length ? [a, b] : [b, a]
  const rest = long.length - short.length
  return long.map((n, d) => {
    const m = d < rest ? 1 : short[d - rest]
    if (n !== m && n !== 1 && m !== 1) {
      throw failure(
        'ERR_SHAPE',
        `shapes [${a.join(', ')}] and [${b.join(', ')}] do not broadcast: axis ${d - long.length} has ${n} and ${m} elements`,
      )
    }
    return n === 1 ? m : n
  })
}

/**
 * The error for a write to a read-only tensor; of a file it says which, and what mode allows it.
 *
 * @param {import('../backend/storage').Storage} storage
 */
function readOnly({ optional }) {
  const of =
    optional === null || optional.file === null
      ? ''
      : `: ${show(optional.file)} is mapped in mode 'r'; 'r+' writes to the file, 'c' to a private copy`
  return failure('ERR_READ_ONLY', `the tensor is read-only${of}`)
}

module.exports = {
  OF_MAKING,
  isSameShape,
  broadcast,
  denseLayout,
  dynamismOf,
  nameOfDynamism,
  allocated,
  emptyLayout,
  likeLayout,
  stridedLayout,
  dtypeLike,
  axesOfOrder,
  withBytes,
  written,
  withTemporary,
  layoutOver,
  layoutOverBytes,
  layoutOfBytes,
  copyBytes,
  bufferRangeOf,
  adoptArray,
  viewed,
  layoutWithin,
  inherit,
  subLayout,
  scalingOfPart,
  readOnly,
}
