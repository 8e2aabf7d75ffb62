'use strict'
// Calls into C through the frame: descriptors and numbers in, status and results out.
//
// Whatever is user code (getters, valueOf) ran before; between the first write into the frame and the
// last read from it there is none. `held` keeps what an address points to reachable during a call.

const { ArrayBuffer, Atomics, Math, Object, Uint8Array, arrayIndexOf, arrayOf, arraySlice, rootless, typedSet } = require('../base/primordials')
const backend = require('./select')
const { learnErrors, failure } = require('../base/errors')
const { Storage, Group, isOnDevice, countStaged } = require('./storage')
const { byteLengthOf } = require('../base/buffers')
const { itemsizes } = require('./dtypes')

const { tables, frame } = backend
const codes = learnErrors(arraySlice(tables.errors, 0, tables.errors.length - 1))

const { rows } = backend

const { STATUS, RESULTS, OPERANDS, ARGS, HANDLE, ADDRESS, NBYTES, HEAD, OFFSET, NUMEL, AXES, SIZE_OF_OPERAND } = tables.frame
const { NDIM, FLAGS, WIDE } = tables.head
const OUT = OPERANDS + 4 * SIZE_OF_OPERAND

// Flags of a Layout; C is told of the first only.
const READ_ONLY = 1
const CONTIGUOUS = 2 // known to be row-major without gaps
const STRIDED = 4 // known not to be
const STATIC = 8 // no resize
const UNBOUND = 16 // a resize may move it
const INHERITED = READ_ONLY | STATIC | UNBOUND // by views

const ALIGNMENT = tables.alignment

/** @type {{ a: unknown, b: unknown }} what the current call's addresses point into */
const held = { a: null, b: null }

/** Layout over a storage: a plain object, never changed after it was made. */
class Layout {
  /**
   * @param {Storage} storage
   * @param {number} dtype  as C numbers it
   * @param {number[]} shape  elements; not to be changed, may be shared between layouts
   * @param {number[]} strides  elements; likewise
   * @param {number} offset  elements from the storage's first byte
   * @param {number} size  elements
   * @param {number} flags
   */
  constructor (storage, dtype, shape, strides, offset, size, flags) {
    this.storage = storage
    this.dtype = dtype
    this.shape = shape
    this.strides = strides
    this.offset = offset
    this.size = size
    this.flags = flags
    /** the typed array given out last @type {any} */
    this.data = null
    /** what few layouts have @type {Rare | null} */
    this.rare = null
  }

  /** Elements that a resize may reach in place. */
  get capacity () { return this.rare === null || this.rare.capacity < 0 ? this.size : this.rare.capacity }
  set capacity (n) { if (n !== this.capacity) (this.rare ??= new Rare()).capacity = n }
  /** Of a tensor made from a record; else undefined: the storage knows. @type {unknown} */
  get owner () { return this.rare === null ? undefined : this.rare.owner }
  set owner (owner) { if (owner !== this.owner) (this.rare ??= new Rare()).owner = owner }
  /** Of axes in memory, after a resize: strides of axes with one or no element do not tell it. @type {number[] | null} */
  get order () { return this.rare === null ? null : this.rare.order }
  set order (order) { if (order !== this.order) (this.rare ??= new Rare()).order = order }
  /** In place of data, over bytes that have to be looked after first. @type {any} */
  get guardedData () { return this.rare === null ? null : this.rare.guardedData }
  set guardedData (data) { (this.rare ??= new Rare()).guardedData = data }
}

rootless(Layout)

/** Beside each layout, these would take 24 of its bytes. */
class Rare {
  capacity = -1 // the layout's size
  /** @type {unknown} */
  owner = undefined
  /** @type {any} */
  guardedData = null
  /** @type {number[] | null} */
  order = null
}

rootless(Rare)

/** Throws what the frame reports. */
function check () {
  const status = frame.f64[STATUS]
  if (status !== 0) throw failure(codes[status], backend.text())
}

/** @param {number} row */
function invoke (row) {
  backend.call(row)
  if (frame.f64[STATUS] !== 0) check()
}

/**
 * The caller's buffer is still there, and still as long.
 *
 * @param {Storage} storage
 */
function checkAttached (storage) {
  if (storage.buffer === null || storage.nbytes === 0) return
  if (storage.block !== null) backend.leaveHeap(storage)
  const length = byteLengthOf(storage.buffer)
  if (length >= storage.byteOffset + storage.nbytes) return
  if (storage.kind === 'native') return // the memory is not the buffer's: a new one is made
  throw detached(storage, length)
}

/** @param {Storage} storage */
function isGuarded ({ extra }) {
  return extra !== null && extra.guarded
}

/** as native.js has it @type {Int32Array | null} */
const faults = /** @type {any} */ (backend).faults ?? null

/**
 * A guarded file's bytes are all there, as far as anybody knows. An atomic load, which no engine moves to where the bytes were not
 * read yet.
 *
 * @param {Storage} storage
 * @throws ERR_IO
 */
function checkIntact (storage) {
  if (!isGuarded(storage) || (faults !== null && Atomics.load(faults, 0) === 0)) return
  putStorage(frame.f64, OPERANDS, storage)
  invoke(rows.storage_intact)
}

/**
 * @param {Storage} storage
 * @param {number} length
 */
function detached (storage, length) {
  return failure('ERR_DETACHED', `the tensor's buffer has ${length} bytes; ${storage.byteOffset + storage.nbytes} are needed: it was transferred away or shrunk`)
}

/**
 * Writes what a descriptor says of a storage.
 *
 * @param {Float64Array} f64  the frame
 * @param {number} at  index in it
 * @param {Storage} storage
 */
function putStorage (f64, at, storage) {
  f64[at + HANDLE] = storage.extra === null ? 0 : storage.extra.handle
  // Where no byte is touched, the offset in the buffer stands for the address: alignment can be judged.
  f64[at + ADDRESS] = storage.address === null ? storage.byteOffset : storage.address
  f64[at + NBYTES] = storage.nbytes
}

/**
 * Writes a descriptor.
 *
 * @param {number} slot  0 to 3
 * @param {Layout} layout
 */
function put (slot, layout) {
  const { f64, i32 } = frame
  const at = OPERANDS + slot * SIZE_OF_OPERAND
  const { storage, shape, strides, offset } = layout
  putStorage(f64, at, storage)
  i32[2 * (at + OFFSET)] = offset
  i32[2 * (at + HEAD)] = layout.dtype | shape.length << NDIM | (layout.flags & READ_ONLY) << FLAGS
  const first = 2 * (at + AXES)
  const isSmall = shape.length === 2 ? putMatrix(i32, first, shape, strides) : putAxes(i32, first, shape, strides)
  if (!isSmall || offset !== (offset | 0)) putWide(at, layout)
}

/**
 * Writes the lower halves of shape and strides.
 *
 * @param {Int32Array} i32  the frame
 * @param {number} at  index in it
 * @param {number[]} shape
 * @param {number[]} strides
 * @returns {boolean} that is all there is of them
 */
function putAxes (i32, at, shape, strides) {
  let isSmall = true
  for (let d = 0; d < shape.length; d++, at += 4) {
    const extent = shape[d]
    const stride = strides[d]
    i32[at] = extent
    i32[at + 2] = stride
    isSmall = isSmall && extent === (extent | 0) && stride === (stride | 0)
  }
  return isSmall
}

/**
 * The same of two axes, without a loop.
 *
 * @param {Int32Array} i32
 * @param {number} at
 * @param {number[]} shape
 * @param {number[]} strides
 */
function putMatrix (i32, at, shape, strides) {
  const height = shape[0]
  const width = shape[1]
  const down = strides[0]
  const right = strides[1]
  i32[at] = height
  i32[at + 2] = down
  i32[at + 4] = width
  i32[at + 6] = right
  return height === (height | 0) && width === (width | 0) && down === (down | 0) && right === (right | 0)
}

/**
 * The upper halves of a descriptor's integers.
 *
 * @param {number} at
 * @param {Layout} layout
 */
function putWide (at, { shape, strides, offset }) {
  const { i32 } = frame
  i32[2 * (at + HEAD)] |= 1 << WIDE
  i32[2 * (at + OFFSET) + 1] = upper(offset)
  for (let d = 0, k = 2 * (at + AXES); d < shape.length; d++, k += 4) {
    i32[k + 1] = upper(shape[d])
    i32[k + 3] = upper(strides[d])
  }
}

/** @param {number} x  an integer @returns {number} what is above its lower 32 bits */
const upper = x => Math.floor(x / 2 ** 32)

/**
 * Writes a layout as the first operand, for functions of the addon that are no rows.
 *
 * @param {Layout} layout  whose storage has an address
 * @param {boolean} readOnly  whatever the layout says
 */
function putOperand (layout, readOnly) {
  put(0, layout)
  if (readOnly) frame.i32[2 * (OPERANDS + HEAD)] |= READ_ONLY << FLAGS
}

/**
 * Leaves an error for C: its words in the frame.
 *
 * @param {unknown} error
 * @returns {number} its status
 */
function leave (error) {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error ?? {})
  const status = arrayIndexOf(codes, String(code))
  /** @type {any} */ const native = backend
  native.leaveText(status > 0 ? String(message) : 'JavaScript could not run (out of memory, or of stack)')
  return status > 0 ? status : arrayIndexOf(codes, 'ERR_MEMORY')
}

/**
 * @param {number} status
 * @param {string} text
 * @returns {Error} what C says went wrong
 */
const errorOf = (status, text) => failure(codes[status] ?? 'ERR_ARGUMENT', text === '' ? `an addon refused: ${codes[status]}` : text)

/**
 * A tensor that C left: its layout in the frame, and where its storage is not known its handle, address and bytes.
 *
 * @param {Storage | null} storage
 * @param {number} flags
 * @returns {Layout}
 */
function received (storage, flags) {
  const { f64 } = frame
  return takeLayout(storage ?? backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]), flags)
}

/** @param {number} i @returns {number} the i-th of the numbers that C left among the arguments */
const argument = i => frame.f64[ARGS + i]

/** @param {number} i @returns {number} the i-th of the results that C left */
const result = i => frame.f64[RESULTS + i]

/**
 * A layout whose bytes C will touch: attached, with an address. Comes before any put, because memory
 * may grow here.
 *
 * @param {Layout} layout
 * @returns {Layout}  to put; another one where the bytes were staged
 */
function reach (layout) {
  const { storage } = layout
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  if (storage.address === null) {
    if (backend.isWasm) return stage(layout)
    backend.addressOf(storage)
  }
  return layout
}

/**
 * The same for rows that only the CPU has: what lies on a device comes by way of a copy.
 *
 * @param {Layout} layout
 * @param {boolean} read  the row reads it; else all of its elements are written
 * @returns {Layout}
 */
function reachHere (layout, read) {
  const there = reach(layout)
  if (!isOnDevice(there.storage)) return there
  const here = dense(layout.dtype, layout.shape)
  here.storage = allocate(here.size * itemsizes[here.dtype])
  try {
    backend.addressOf(here.storage)
    if (read) copy(here, layout, 0)
  } catch (error) {
    backend.release(here.storage)
    throw error
  }
  countStaged(here.storage.nbytes)
  return here
}

/**
 * Lowest and highest element that a layout reaches, from its offset; it has elements.
 *
 * @param {Layout} layout
 * @returns {{ low: number, high: number }}
 */
function extent (layout) {
  put(0, layout)
  invoke(rows.extent)
  return { low: frame.f64[RESULTS], high: frame.f64[RESULTS + 1] }
}

/**
 * A copy of the caller's bytes in linear memory.
 *
 * @param {Layout} layout
 * @returns {Layout}
 */
function stage (layout) {
  const { storage, dtype, shape, strides, size, flags } = layout
  if (size === 0) return new Layout(allocate(0), dtype, shape, strides, 0, size, flags)
  const itemsize = itemsizes[dtype]
  const { low, high } = extent(layout)
  const n = (high - low + 1) * itemsize
  const from = storage.byteOffset + (layout.offset + low) * itemsize
  const copy = allocate(n)
  try {
    checkAttached(storage) // it may be linear memory from its first byte on, which has just grown
    typedSet(bytesOfStaged(copy, n), new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), from, n))
  } catch (error) {
    backend.release(copy)
    throw error
  }
  countStaged(n)
  return new Layout(copy, dtype, shape, strides, -low, size, flags)
}

/**
 * @param {Storage} storage  in linear memory
 * @param {number} n
 */
function bytesOfStaged (storage, n) {
  return new Uint8Array(backend.bufferOf(storage, check), backend.addressOf(storage), n)
}

/**
 * Ends what reach began: writes back what a staged target got, and frees the copy.
 *
 * @param {Layout} staged  what reach returned
 * @param {Layout} layout  what it was given
 * @param {boolean} written
 */
function settle (staged, layout, written) {
  if (staged === layout) return
  const { storage, dtype, shape, strides, size } = layout
  if (written && size > 0) {
    const itemsize = itemsizes[dtype]
    const { low, high } = extent(layout)
    const n = (high - low + 1) * itemsize
    const source = bytesOfStaged(staged.storage, n)
    const target = new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), storage.byteOffset + (layout.offset + low) * itemsize, n)
    if (size === high - low + 1) typedSet(target, source)
    else writeBack(target, source, shape, strides, -low * itemsize, itemsize, 0) // not the gaps: they are others'
  }
  backend.release(staged.storage)
}

/**
 * Ends what reachHere began.
 *
 * @param {Layout} staged  what reachHere returned
 * @param {Layout} layout  what it was given
 * @param {boolean} written
 */
function settleHere (staged, layout, written) {
  if (staged === layout) return
  if (!isOnDevice(layout.storage)) {
    settle(staged, layout, written)
    return
  }
  try {
    if (written) copy(layout, staged, 0)
  } finally {
    backend.release(staged.storage)
  }
}

/**
 * @param {Uint8Array} target
 * @param {Uint8Array} source
 * @param {number[]} shape
 * @param {number[]} strides
 * @param {number} at
 * @param {number} itemsize
 * @param {number} d
 */
function writeBack (target, source, shape, strides, at, itemsize, d) {
  if (d === shape.length) {
    for (let i = at; i < at + itemsize; i++) target[i] = source[i]
    return
  }
  for (let i = 0; i < shape[d]; i++) writeBack(target, source, shape, strides, at + i * strides[d] * itemsize, itemsize, d + 1)
}

/**
 * Writes an integer of 64 bits.
 *
 * @param {number} at  index in the frame
 * @param {number} x
 */
function putInteger (at, x) {
  const { i32 } = frame
  i32[2 * at] = x
  i32[2 * at + 1] = x === (x | 0) ? x >> 31 : upper(x)
}

/**
 * Writes a list of integers; null says that none is given.
 *
 * @param {number} at  index in the frame
 * @param {readonly number[] | null} list
 * @returns {number} index after it
 */
function putList (at, list) {
  const { i32 } = frame
  const n = list === null ? -1 : list.length
  let isWide = 0
  i32[2 * at] = n
  for (let i = 0, k = 2 * (at + 1); i < n; i++, k += 2) {
    const x = /** @type {readonly number[]} */ (list)[i]
    i32[k] = x
    if (x !== (x | 0)) isWide = 1
  }
  i32[2 * at + 1] = isWide
  for (let i = 0; i < (isWide !== 0 ? n : 0); i++) putInteger(at + 1 + i, /** @type {readonly number[]} */ (list)[i])
  return at + 1 + Math.max(n, 0)
}

/**
 * The layout that C left, over a storage.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function takeLayout (storage, flags) {
  const { i32 } = frame
  const head = i32[2 * (OUT + HEAD)]
  if (head >> WIDE !== 0) return takeWideLayout(storage, flags)
  const n = head >> NDIM
  const shape = n === 2 ? [i32[FIRST], i32[FIRST + 4]] : takeSmall(FIRST, n)
  const strides = n === 2 ? [i32[FIRST + 2], i32[FIRST + 6]] : takeSmall(FIRST + 2, n)
  return new Layout(storage, head & 255, shape, strides, i32[2 * (OUT + OFFSET)], i32[2 * (OUT + NUMEL)], flags)
}

const FIRST = 2 * (OUT + AXES)

/**
 * Literals, because an array that grows has room for 17.
 *
 * @param {number} at  index of a lower half
 * @param {number} n
 * @returns {number[]}
 */
function takeSmall (at, n) {
  const { i32 } = frame
  if (n === 1) return [i32[at]]
  if (n === 3) return [i32[at], i32[at + 4], i32[at + 8]]
  if (n === 4) return [i32[at], i32[at + 4], i32[at + 8], i32[at + 12]]
  return arrayOf(n, d => i32[at + 4 * d])
}

/**
 * The same where a number is beyond 32 bits.
 *
 * @param {Storage} storage
 * @param {number} flags
 * @returns {Layout}
 */
function takeWideLayout (storage, flags) {
  const head = frame.i32[2 * (OUT + HEAD)]
  const n = head >> NDIM & 255
  const shape = arrayOf(n, d => wide(OUT + AXES + 2 * d))
  const strides = arrayOf(n, d => wide(OUT + AXES + 2 * d + 1))
  return new Layout(storage, head & 255, shape, strides, wide(OUT + OFFSET), wide(OUT + NUMEL), flags)
}

/** @param {number} at  index in the frame @returns {number} the integer of 64 bits there, which a double holds exactly */
const wide = at => frame.i32[2 * at + 1] * 2 ** 32 + (frame.i32[2 * at] >>> 0)

const KINDS = { BOOL: 0, INT: 1, UINT: 2, REAL: 3, COMPLEX: 4 }

/**
 * Writes a scalar.
 *
 * @param {number} at  index in the frame
 * @param {boolean | number | bigint | [number, number]} value
 */
function putScalar (at, value) {
  const { f64, i64 } = frame
  if (typeof value === 'number') {
    f64[at] = KINDS.REAL
    f64[at + 1] = value
  } else if (typeof value === 'boolean') {
    f64[at] = KINDS.BOOL
    i64[at + 1] = value ? 1n : 0n
  } else if (typeof value === 'bigint') {
    f64[at] = value > 0x7fffffffffffffffn ? KINDS.UINT : KINDS.INT
    i64[at + 1] = value
  } else {
    f64[at] = KINDS.COMPLEX
    f64[at + 1] = value[0]
    f64[at + 2] = value[1]
  }
}

// ---- What C can do ----

/**
 * @param {number} nbytes
 * @returns {Storage} uninitialised
 */
function allocate (nbytes) {
  return backend.allocate(nbytes, check)
}

/** no bytes: what a layout without a storage is over */
const nothing = new Storage(new Group('js'), null, new ArrayBuffer(0), 0, 0)

/**
 * @param {number} row
 * @param {Layout} layout
 * @returns {Layout} a view on the same storage
 */
function view (row, layout) {
  put(0, layout)
  invoke(row)
  return takeLayout(layout.storage, layout.flags & INHERITED)
}

/**
 * @param {number} row
 * @param {Layout} layout
 * @param {readonly number[] | null} list
 */
function viewByList (row, layout, list) {
  putList(ARGS, list)
  return view(row, layout)
}

/**
 * @param {number} row
 * @param {Layout} layout
 * @param {number} a
 * @param {number} [b]
 * @param {number} [c]
 */
function viewByNumbers (row, layout, a, b = 0, c = 0) {
  putInteger(ARGS, a)
  putInteger(ARGS + 1, b)
  putInteger(ARGS + 2, c)
  return view(row, layout)
}

/**
 * Any layout inside the storage, or inside the layout's own elements.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 * @param {number[] | null} strides  null: dense
 * @param {number[] | null} dimOrder  null: row-major, or as the strides say
 * @param {number} offset  from the storage's first byte
 * @param {boolean} within
 */
function asStrided (layout, shape, strides, dimOrder, offset, within) {
  const at = putList(putList(putList(ARGS, shape), strides), dimOrder)
  frame.f64[at] = offset
  frame.f64[at + 1] = within ? 1 : 0
  return view(rows.as_strided, layout)
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @param {number[]} dimOrder
 * @returns {Layout} without gaps, without bytes
 */
function denseOrdered (dtype, shape, dimOrder) {
  frame.f64[ARGS] = dtype
  putList(putList(ARGS + 1, shape), dimOrder)
  invoke(rows.dense_ordered)
  return takeLayout(nothing, 0)
}

/**
 * A layout of the same shape, its axes in the same order in memory.
 *
 * @param {Layout} layout
 * @param {number} dtype
 * @returns {Layout} without gaps, without bytes
 */
function denseLike (layout, dtype) {
  const out = viewByNumbers(rows.dense_like, layout, dtype)
  out.order = layout.order
  return out
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @param {number[]} strides  not negative
 * @param {number[] | null} dimOrder  null: as the strides say
 * @returns {{ layout: Layout, elements: number }} without bytes; elements that a storage needs for it
 */
function strided (dtype, shape, strides, dimOrder) {
  frame.f64[ARGS] = dtype
  putList(putList(putList(ARGS + 1, shape), strides), dimOrder)
  invoke(rows.strided)
  return { layout: takeLayout(nothing, 0), elements: frame.f64[RESULTS] }
}

/**
 * @param {number} dtype
 * @param {number[]} shape
 * @returns {Layout} row-major, without bytes
 */
function dense (dtype, shape) {
  frame.f64[ARGS] = dtype
  putList(ARGS + 1, shape)
  invoke(rows.dense)
  return takeLayout(nothing, CONTIGUOUS)
}

/**
 * A view in the shape where one keeps the order; else a dense layout without bytes.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 */
function reshape (layout, shape) {
  const out = viewByList(rows.reshape, layout, shape)
  if (frame.f64[RESULTS] === 0) {
    out.storage = nothing
    out.flags = CONTIGUOUS | (layout.flags & (STATIC | UNBOUND))
  }
  return out
}

/**
 * Another shape over the same bytes, in the same order of axes.
 *
 * @param {Layout} layout
 * @param {number[]} shape
 * @returns {Layout} without bytes where an unbound layout needs more than it has
 */
function resize (layout, shape) {
  const order = layout.order ?? (isContiguous(layout) ? null : dimOrder(layout))
  const at = putList(putList(ARGS, shape), order)
  frame.f64[at] = layout.flags & STATIC ? 0 : layout.flags & UNBOUND ? 2 : 1
  frame.f64[at + 1] = layout.capacity
  const out = view(rows.resize, layout)
  if (frame.f64[RESULTS] !== 0) out.storage = nothing
  else out.capacity = layout.capacity
  out.order = order
  return out
}

/**
 * A layout's shape and strides over a source's bytes, from its first element.
 *
 * @param {Layout} layout
 * @param {Layout} source
 * @returns {Layout}
 */
function rebind (layout, source) {
  put(0, layout)
  put(1, source)
  invoke(rows.set_data)
  const out = takeLayout(source.storage, (source.flags & READ_ONLY) | (layout.flags & (STATIC | UNBOUND)))
  out.order = layout.order
  return out
}

/**
 * Axes from outermost to innermost in memory.
 *
 * @param {Layout} layout
 * @returns {number[]}
 */
function dimOrder (layout) {
  if (layout.order !== null) return arraySlice(layout.order)
  put(0, layout)
  invoke(rows.dim_order)
  return takeLayout(nothing, 0).shape
}

/**
 * @param {Layout} layout
 * @param {number[]} order  axes from outermost to innermost
 * @returns {boolean} without gaps in that order
 */
function isContiguousIn (layout, order) {
  putList(ARGS, order)
  put(0, layout)
  invoke(rows.is_contiguous_in)
  return frame.f64[RESULTS] !== 0
}

/**
 * @param {Layout} layout
 * @returns {boolean}
 */
function isContiguous (layout) {
  if ((layout.flags & (CONTIGUOUS | STRIDED)) === 0) {
    put(0, layout)
    invoke(rows.is_contiguous)
    layout.flags |= frame.f64[RESULTS] !== 0 ? CONTIGUOUS : STRIDED
  }
  return (layout.flags & CONTIGUOUS) !== 0
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} casting
 * @returns {boolean}
 */
function canCast (from, to, casting) {
  frame.f64[ARGS] = from
  frame.f64[ARGS + 1] = to
  frame.f64[ARGS + 2] = casting
  invoke(rows.can_cast)
  return frame.f64[RESULTS] !== 0
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number} the dtype in which both meet
 */
function promoteTypes (a, b) {
  frame.f64[ARGS] = a
  frame.f64[ARGS + 1] = b
  invoke(rows.promote_types)
  return frame.f64[RESULTS]
}

/**
 * @param {number} dtype
 * @returns {{ eps: number, max: number, smallestNormal: number }}
 */
function finfo (dtype) {
  frame.f64[ARGS] = dtype
  invoke(rows.finfo)
  const { f64 } = frame
  return { eps: f64[RESULTS], max: f64[RESULTS + 1], smallestNormal: f64[RESULTS + 2] }
}

/** @param {number} x  of 32 bits */
const hexOf = x => x.toString(16).padStart(8, '0')

/**
 * @param {Layout} layout
 * @returns {string} 16 hexadecimal digits, the same for the same elements
 */
function hash (layout) {
  const source = reachHere(layout, true)
  held.a = source
  put(0, source)
  backend.call(rows.hash)
  held.a = null
  try {
    check()
    const low = frame.f64[RESULTS] // both before text is made: that runs what programs can replace
    const high = frame.f64[RESULTS + 1]
    return hexOf(low) + hexOf(high)
  } finally {
    settleHere(source, layout, false)
  }
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @returns {boolean}
 */
function sharesMemory (a, b) {
  checkAttached(a.storage)
  checkAttached(b.storage)
  if (isOnDevice(a.storage) !== isOnDevice(b.storage)) return false
  if (a.storage !== b.storage && (a.storage.block !== null || b.storage.block !== null)) return false
  const unplaced = backend.isWasm && (a.storage.address === null || b.storage.address === null)
  if (unplaced && a.storage.buffer !== b.storage.buffer) return false
  if (!unplaced) {
    backend.addressOf(a.storage)
    backend.addressOf(b.storage)
  }
  held.a = a
  held.b = b
  put(0, a)
  put(1, b)
  if (unplaced) { // no byte is touched: places in their buffer do as addresses
    frame.f64[OPERANDS + ADDRESS] = ALIGNMENT + a.storage.byteOffset
    frame.f64[OPERANDS + SIZE_OF_OPERAND + ADDRESS] = ALIGNMENT + b.storage.byteOffset
  }
  backend.call(rows.shares_memory)
  held.a = held.b = null
  check()
  return frame.f64[RESULTS] !== 0
}

/**
 * @param {Layout} layout
 * @param {boolean | number | bigint | [number, number]} value
 */
function fill (layout, value) {
  const target = reach(layout)
  held.a = target
  put(0, target)
  putScalar(ARGS, value)
  backend.call(rows.fill)
  held.a = null
  if (target === layout) {
    if (frame.f64[STATUS] !== 0) check()
    return
  }
  try { // settling makes calls of its own
    check()
  } catch (error) {
    settle(target, layout, false)
    throw error
  }
  settle(target, layout, true)
}

/**
 * Runs a row on operands that were staged: the first is written, the others are read.
 *
 * @param {number} row
 * @param {Layout} to
 * @param {Layout[]} from
 * @param {number} a
 * @param {number} b
 */
function invokeOn (row, to, from, a, b) {
  held.a = to
  held.b = from
  put(0, to)
  for (let i = 0; i < from.length; i++) put(i + 1, from[i])
  frame.f64[RESULTS] = 0
  frame.f64[ARGS] = a
  frame.f64[ARGS + 1] = b
  backend.call(row)
  held.a = held.b = null
  check()
  if (frame.f64[RESULTS] > 0) countStaged(frame.f64[RESULTS])
}

/**
 * Runs a row whose first operand is written and whose others are read.
 *
 * @param {number} row
 * @param {Layout} target
 * @param {Layout[]} sources
 * @param {number} a
 * @param {number} b
 */
function write (row, target, sources, a, b) {
  const to = reach(target)
  /** @type {Layout[]} */
  const from = arraySlice(sources)
  let reached = 0
  try {
    for (; reached < sources.length; reached++) from[reached] = reach(sources[reached])
    invokeOn(row, to, from, a, b)
    settle(to, target, true)
  } catch (error) {
    settle(to, target, false)
    throw error
  } finally {
    for (let i = 0; i < reached; i++) settle(from[i], sources[i], false)
  }
}

const FEW_BYTES = 2 ** 16 // beyond, streaming and threads pay

/**
 * Few elements of one dtype and shape, known to be dense: their bytes in one stretch are all there is to copy.
 *
 * @param {Layout} a
 * @param {Layout} b
 */
function arePlain (a, b) {
  if (a.dtype !== b.dtype || a.size !== b.size || (a.flags & b.flags & CONTIGUOUS) === 0 || a.size > FEW_BYTES / 16) return false
  if (isOnDevice(a.storage) || isOnDevice(b.storage)) return false
  const x = a.shape
  const y = b.shape
  if (x === y) return true
  if (x.length !== y.length) return false
  for (let d = 0; d < x.length; d++) if (x[d] !== y[d]) return false
  return true
}

/**
 * @param {Layout} dst  within reach, and held
 * @param {Layout} src  likewise, and plain beside it
 */
function copyBytes (dst, src) {
  const { f64 } = frame
  const itemsize = itemsizes[dst.dtype]
  putStorage(f64, OPERANDS, dst.storage)
  putStorage(f64, OPERANDS + SIZE_OF_OPERAND, src.storage)
  f64[ARGS] = dst.offset * itemsize
  f64[ARGS + 1] = src.offset * itemsize
  f64[ARGS + 2] = dst.size * itemsize
  backend.call(rows.copy_bytes)
  held.a = held.b = null
  if (f64[STATUS] !== 0) check()
}

/**
 * The caller's bytes on either side, and both in the same order without gaps: the runtime can copy them, while a kernel
 * would need them in linear memory first.
 *
 * @param {Layout} dst
 * @param {Layout} src
 */
function areSameOutside (dst, src) {
  if (dst.dtype !== src.dtype || dst.size !== src.size || (dst.storage.address !== null && src.storage.address !== null)) return false
  const { length } = dst.shape
  if (length !== src.shape.length) return false
  for (let d = 0; d < length; d++) if (dst.shape[d] !== src.shape[d]) return false
  return isContiguous(dst) && isContiguous(src)
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 */
function copyOutside (dst, src) {
  typedSet(bytesWithin(dst), bytesWithin(src))
}

/**
 * A dense layout's bytes where they are.
 *
 * @param {Layout} layout
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesWithin ({ storage, dtype, offset, size }) {
  if (storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  checkAttached(storage)
  const buffer = /** @type {ArrayBuffer} */ (backend.bufferOf(storage, check))
  if (size === 0) return new Uint8Array(0)
  return new Uint8Array(buffer, storage.byteOffset + offset * itemsizes[dtype], size * itemsizes[dtype])
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {number} casting
 */
function copy (dst, src, casting) {
  if (backend.isWasm) { // may stage, which takes more care
    if (areSameOutside(dst, src)) copyOutside(dst, src)
    else write(rows.copy, dst, [src], casting, 0)
    return
  }
  reach(dst)
  reach(src)
  held.a = dst
  held.b = src
  if (arePlain(dst, src)) {
    copyBytes(dst, src)
    return
  }
  put(0, dst)
  put(1, src)
  const { f64 } = frame
  f64[RESULTS] = 0
  f64[ARGS] = casting
  backend.call(rows.copy)
  held.a = held.b = null
  if (f64[STATUS] !== 0) check()
  if (f64[RESULTS] > 0) countStaged(f64[RESULTS])
}

/**
 * @param {Layout} dst
 * @param {Layout} src
 * @param {Layout} scale
 * @param {Layout} bias
 * @param {number} axis
 * @param {number} casting
 */
function copyScaled (dst, src, scale, bias, axis, casting) {
  write(rows.copy_scaled, dst, [src, scale, bias], axis, casting)
}

/**
 * @param {Layout} dst
 * @param {Layout} src  of values that a person wrote
 */
function copyValues (dst, src) {
  write(rows.copy_values, dst, [src], 0, 0)
}

/**
 * @param {Layout} dst  of the source's dtype; shares no byte with it
 * @param {Layout} src
 * @param {Layout} indices
 * @param {number} axis
 */
function take (dst, src, indices, axis) {
  const to = reachHere(dst, false)
  const from = [src, indices]
  const sources = [src, indices]
  let reached = 0
  try {
    for (; reached < sources.length; reached++) from[reached] = reachHere(sources[reached], true)
    invokeOn(rows.take, to, from, axis, 0)
    settleHere(to, dst, true)
  } catch (error) {
    settleHere(to, dst, false)
    throw error
  } finally {
    for (let i = 0; i < reached; i++) settleHere(from[i], sources[i], false)
  }
}

/**
 * What a row says of two layouts that it reads.
 *
 * @param {number} row
 * @param {Layout} a
 * @param {Layout} b
 * @param {() => void} putArguments
 * @returns {boolean}
 */
function judge (row, a, b, putArguments) {
  const x = reachHere(a, true)
  try {
    const y = reachHere(b, true)
    try {
      held.a = x
      held.b = y
      put(0, x)
      put(1, y)
      putArguments()
      backend.call(row)
      held.a = held.b = null
      check()
      return frame.f64[RESULTS] !== 0
    } finally {
      settleHere(y, b, false)
    }
  } finally {
    settleHere(x, a, false)
  }
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @param {boolean} equalNaN
 * @returns {boolean}
 */
function arrayEqual (a, b, equalNaN) {
  return judge(rows.array_equal, a, b, () => { frame.f64[ARGS] = equalNaN ? 1 : 0 })
}

/**
 * @param {Layout} a
 * @param {Layout} b
 * @param {number} rtol
 * @param {number} atol
 * @param {boolean} equalNaN
 * @returns {boolean}
 */
function allClose (a, b, rtol, atol, equalNaN) {
  return judge(rows.all_close, a, b, () => {
    putScalar(ARGS, rtol)
    putScalar(ARGS + 3, atol)
    frame.f64[ARGS + 6] = equalNaN ? 1 : 0
  })
}

/**
 * Runs a row that writes a layout from scalars and a number rootless.
 *
 * @param {number} row
 * @param {Layout} layout
 * @param {(number | bigint)[]} scalars
 * @param {number} number  read by rows that take one after the scalars
 * @returns {number} the row's result
 */
function generate (row, layout, scalars, number) {
  const target = row === rows.arange || row === rows.linspace ? reachHere(layout, false) : reach(layout)
  try {
    held.a = target
    put(0, target)
    for (let i = 0; i < scalars.length; i++) putScalar(ARGS + 3 * i, scalars[i])
    frame.f64[ARGS + 3 * scalars.length] = number
    backend.call(row)
    held.a = null
    check()
    const result = frame.f64[RESULTS]
    settleHere(target, layout, true)
    return result
  } catch (error) {
    settleHere(target, layout, false)
    throw error
  }
}

/**
 * Throws where values from start by step do not all fit a dtype.
 *
 * @param {number} dtype
 * @param {number} size
 * @param {number | bigint} start
 * @param {number | bigint} step
 */
function checkArange (dtype, size, start, step) {
  frame.f64[ARGS] = dtype
  frame.f64[ARGS + 1] = size
  putScalar(ARGS + 2, start)
  putScalar(ARGS + 5, step)
  invoke(rows.arange_check)
}

/**
 * A copy that takes more than one call.
 *
 * @typedef {object} Copy
 * @property {Layout} dst
 * @property {Layout} src
 * @property {Scaling | null} scaling
 * @property {number} casting
 */

/** @typedef {{ scale: Layout, bias: Layout, axis: number }} Scaling factors, as copyScaled takes them */

/**
 * Writes a copy's operands where no byte will be touched in this call: none is staged.
 *
 * @param {Copy} copy
 */
function putCopy ({ dst, src, scaling, casting }) {
  const operands = scaling === null ? [dst, src] : [dst, src, scaling.scale, scaling.bias]
  for (let i = 0; i < operands.length; i++) {
    const { storage } = operands[i]
    checkAttached(storage)
    backend.addressOf(storage)
  }
  held.a = operands
  const { f64 } = frame
  for (let i = 0; i < operands.length; i++) {
    const { storage } = operands[i]
    put(i, operands[i])
    // A place in its buffer does as an address.
    if (storage.address === null) f64[OPERANDS + i * SIZE_OF_OPERAND + ADDRESS] = ALIGNMENT + storage.byteOffset
  }
  f64[ARGS] = scaling === null ? casting : scaling.axis
  f64[ARGS + 1] = casting
}

/**
 * Throws what the copy would throw before it writes.
 *
 * @param {Copy} copy
 * @returns {boolean} whether its pieces would get into each other's way: the target overlaps the source
 */
function checkCopy (copy) {
  const { dst: { storage: to }, src: { storage: from } } = copy
  putCopy(copy)
  backend.call(copy.scaling === null ? rows.copy_check : rows.copy_scaled_check)
  held.a = null
  check()
  const comparable = to.address === null ? from.address === null && to.buffer === from.buffer : from.address !== null
  return comparable && frame.f64[RESULTS] !== 0
}

/**
 * Begins a copy on another thread; all its storages are fixed, and held until done is called.
 *
 * @param {Copy} copy
 * @param {(finished: boolean, error: Error | null) => void} done  called on a later turn
 * @returns {number} its number, for backend.stopCopy
 */
function startCopy (copy, done) {
  putCopy(copy)
  backend.startCopy(copy.scaling !== null, () => {
    const status = frame.f64[STATUS]
    done(frame.f64[RESULTS] !== 0, status === 0 ? null : failure(codes[status], backend.text()))
  })
  held.a = null
  check()
  const { f64 } = frame
  if (f64[RESULTS + 1] > 0) countStaged(f64[RESULTS + 1])
  return f64[RESULTS]
}

/**
 * How work on a layout is cut into pieces.
 *
 * @param {Layout} layout
 * @param {number} most  elements of a piece
 * @param {boolean} compact  each lies in one stretch of memory
 * @returns {{ extents: number[], axis: number }} the first piece; along axis others follow
 */
function cut (layout, most, compact) {
  frame.f64[ARGS] = most
  frame.f64[ARGS + 1] = compact ? 1 : 0
  const { shape } = view(rows.cut, layout)
  return { extents: shape, axis: frame.f64[RESULTS] }
}

/** Descriptors of device memory that nobody has used, and memory that importers have on loan. @returns {number} */
function sharedVram () {
  /** @type {any} undefined on WASM */
  const { addon } = /** @type {any} */ (backend)
  if (addon === undefined) return 0
  addon.vramHeld()
  return frame.f64[RESULTS]
}

/** @returns {{ storages: number, heap: number, foreign: number, inFlight: number, mapped: number, pinned: number, cuda: number }} bytes alive in C; tokens' uses */
function totals () {
  invoke(rows.totals)
  const { f64 } = frame
  return { storages: f64[RESULTS], heap: f64[RESULTS + 1], foreign: f64[RESULTS + 2], inFlight: f64[RESULTS + 3], mapped: f64[RESULTS + 4], pinned: f64[RESULTS + 5], cuda: f64[RESULTS + 6] }
}

/**
 * Runs a row that takes storages and numbers rootless.
 *
 * @param {number} row
 * @param {Storage[]} storages  each with an address, or a handle
 * @param {number[]} [numbers]
 */
function run (row, storages, numbers) {
  const { f64 } = frame
  held.a = storages
  for (let i = 0; i < storages.length; i++) putStorage(f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
  if (numbers !== undefined) for (let i = 0; i < numbers.length; i++) f64[ARGS + i] = numbers[i]
  backend.call(row)
  held.a = null
  check()
}

/**
 * Writes storages as operands, for functions of the addon that are no rows.
 *
 * @param {Storage[]} storages
 */
function putStorages (storages) {
  for (let i = 0; i < storages.length; i++) putStorage(frame.f64, OPERANDS + i * SIZE_OF_OPERAND, storages[i])
}

/**
 * @param {number} device
 * @param {bigint} number  somebody's of a stream there
 * @returns {number} the handle of what stands for it
 */
function wrapStream (device, number) {
  frame.f64[ARGS] = device
  putScalar(ARGS + 1, number)
  invoke(rows.cuda_stream_wrap)
  return frame.f64[RESULTS]
}

/**
 * A storage on its way to other threads: it stays for as many takers.
 *
 * @param {Storage} storage  with a handle
 * @param {number} uses
 * @returns {number} its key
 */
function sendStorage (storage, uses) {
  putStorage(frame.f64, OPERANDS, storage)
  frame.f64[ARGS] = uses
  invoke(rows.parcel_new)
  return frame.f64[RESULTS]
}

/**
 * What others see as well of a device does not move to where there is more room.
 *
 * @param {Storage} storage  with a handle
 * @returns {Storage}
 */
function staying (storage) {
  if (isOnDevice(storage)) /** @type {import('./storage').Extra} */ (storage.extra).stays = true
  return storage
}

/**
 * @param {number} key
 * @param {boolean} asSab  its buffer is a SharedArrayBuffer; a token of which none can be made is not used up
 * @returns {Storage} this thread's as well
 */
function receiveStorage (key, asSab) {
  const buffer = asSab && backend.name === 'native' ? backend.sharedBuffer(key, check) : null // WASM's memory is one
  frame.f64[ARGS] = key
  invoke(rows.parcel_take)
  const { f64 } = frame
  const storage = staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  if (buffer !== null) storage.buffer = buffer
  return storage
}

/**
 * @param {number} key
 * @returns {number} bytes of what a token is of; nothing is taken
 */
function sentBytes (key) {
  frame.f64[ARGS] = key
  invoke(rows.parcel_nbytes)
  return frame.f64[RESULTS]
}

/**
 * What a capsule held.
 *
 * @param {(number: number) => Storage} lentAs  what this thread itself lent under a number
 * @returns {Layout}
 */
function takeCapsule (lentAs) {
  const { f64 } = frame
  const number = f64[RESULTS + 4]
  const layout = takeLayout(nothing, f64[RESULTS + 3] & READ_ONLY)
  layout.storage = number >= 0 ? lentAs(number) : staying(backend.hold(f64[RESULTS], f64[RESULTS + 1], f64[RESULTS + 2]))
  return layout
}

/** @param {number} key */
function takeBackStorage (key) {
  frame.f64[ARGS] = key
  invoke(rows.parcel_drop)
}

/** @returns {number} tells this process from others */
function home () {
  invoke(rows.parcels_home)
  return frame.f64[RESULTS]
}

// ---- Files ----

/**
 * What a parser of C's finds in bytes.
 *
 * @param {number} which  of parse's in run.c
 * @param {Storage} input  with an address
 * @param {Storage} output  likewise, for doubles
 * @param {number} total  bytes of the whole file
 * @param {number} base  where the given bytes begin in it
 * @returns {{ count: number, wanted: number }} doubles that there are (perhaps more than fit), bytes that have to be given for all; 0: no more
 */
function parse (which, input, output, total, base) {
  backend.addressOf(input)
  backend.addressOf(output)
  held.a = input
  held.b = output
  const { f64 } = frame
  putStorage(f64, OPERANDS, input)
  putStorage(f64, OPERANDS + SIZE_OF_OPERAND, output)
  f64[ARGS] = which
  f64[ARGS + 1] = total
  f64[ARGS + 2] = base
  try {
    invoke(rows.parse)
  } finally {
    held.a = held.b = null
  }
  return { count: f64[RESULTS], wanted: f64[RESULTS + 1] }
}

/**
 * Reverses the bytes of each item.
 *
 * @param {Storage} storage  with an address, full of them
 * @param {number} itemsize  2, 4 or 8
 */
function swapBytes (storage, itemsize) {
  backend.addressOf(storage)
  held.a = storage
  putStorage(frame.f64, OPERANDS, storage)
  frame.f64[ARGS] = itemsize
  try {
    invoke(rows.swap_bytes)
  } finally {
    held.a = null
  }
}

/** what is done about files that others make shorter: nothing; a guard; a guard if one can be had */
const GUARDS = { none: 0, needed: 1, wanted: 2 }

/**
 * A file as memory, on native. It may be closed afterwards.
 *
 * @param {number} fd
 * @param {number} nbytes  from its beginning, at least 1
 * @param {boolean} shared  whether writes reach it
 * @param {number} guard  of GUARDS: whether its bytes may go away, and checkIntact says so then
 * @returns {Storage}
 * @throws ERR_IO, with errno · ERR_UNSUPPORTED a guard that is needed, where another handler of SIGBUS took our place
 */
function mapFile (fd, nbytes, shared, guard) {
  const { f64 } = frame
  f64[ARGS] = fd
  f64[ARGS + 1] = 0
  f64[ARGS + 2] = nbytes
  f64[ARGS + 3] = shared ? 1 : 0
  f64[ARGS + 4] = guard
  try {
    invoke(rows.map_file)
  } catch (error) {
    throw f64[RESULTS] === 0 ? error : Object.assign(/** @type {Error} */ (error), { errno: -f64[RESULTS] })
  }
  return backend.hold(f64[RESULTS], f64[RESULTS + 1], nbytes)
}

/**
 * Makes a file so long, with room on its disk.
 *
 * @param {number} fd
 * @param {number} nbytes
 * @returns {number} the system's error number; 0: done
 */
function reserveFile (fd, nbytes) {
  frame.f64[ARGS] = fd
  frame.f64[ARGS + 1] = nbytes
  invoke(rows.reserve_file)
  return frame.f64[RESULTS]
}

/**
 * Some bytes of a storage with a handle, which they keep.
 *
 * @param {Storage} whole
 * @param {number} at
 * @param {number} nbytes
 * @returns {Storage}
 */
function partOf (whole, at, nbytes) {
  return /** @type {import('./native').Backend} */ (/** @type {unknown} */ (backend)).partOf(whole, at, nbytes)
}

/**
 * @param {number} row
 * @returns {{ holder: Storage, fd: number }} a file that is closed when its holder is released
 * @throws ERR_IO, with errno
 */
function heldFile (row) {
  const { f64 } = frame
  try {
    invoke(row)
  } catch (error) {
    throw f64[RESULTS] > 0 ? Object.assign(/** @type {Error} */ (error), { errno: -f64[RESULTS] }) : error
  }
  const fd = f64[RESULTS + 1]
  return { holder: backend.hold(f64[RESULTS], 0, 0), fd }
}

/**
 * Another descriptor of an open file.
 *
 * @param {number} fd
 */
function holdFile (fd) {
  frame.f64[ARGS] = fd
  return heldFile(rows.file_hold)
}

/**
 * Shared memory between processes that has no name yet, all zero.
 *
 * @param {boolean} sealed  nobody can make it shorter, or give it a name
 * @param {number} mode  permissions
 * @param {number} nbytes  at least 1
 */
function newSegment (sealed, mode, nbytes) {
  const { f64 } = frame
  f64[ARGS] = sealed ? 1 : 0
  f64[ARGS + 1] = mode
  f64[ARGS + 2] = nbytes
  return heldFile(rows.segment_new)
}

/**
 * One name more for an open file, which may have had none.
 *
 * @param {number} fd
 * @param {string} path  of some 300 bytes at most
 * @returns {number} the system's error number; 0: it has the name
 */
function linkFile (fd, path) {
  /** @type {any} */ (backend).leaveText(path)
  frame.f64[ARGS] = fd
  invoke(rows.link_file)
  return frame.f64[RESULTS]
}

/**
 * @param {number} fd
 * @returns {boolean} can nobody make the file shorter?
 */
function isSealed (fd) {
  frame.f64[ARGS] = fd
  invoke(rows.file_is_sealed)
  return frame.f64[RESULTS] === 1
}

module.exports = {
  backend,
  rows,
  tables,
  frame,
  Layout,
  Storage,
  READ_ONLY,
  CONTIGUOUS,
  STATIC,
  UNBOUND,
  nothing,
  check,
  checkAttached,
  putOperand,
  leave,
  errorOf,
  received,
  argument,
  result,
  bytesWithin,
  allocate,
  viewByList,
  viewByNumbers,
  asStrided,
  denseOrdered,
  denseLike,
  strided,
  extent,
  dense,
  reshape,
  resize,
  rebind,
  dimOrder,
  isContiguous,
  isContiguousIn,
  canCast,
  promoteTypes,
  finfo,
  hash,
  sharesMemory,
  fill,
  copy,
  copyScaled,
  copyValues,
  take,
  arrayEqual,
  allClose,
  checkCopy,
  startCopy,
  cut,
  generate,
  checkArange,
  totals,
  sharedVram,
  sendStorage,
  receiveStorage,
  sentBytes,
  takeBackStorage,
  takeCapsule,
  home,
  GUARDS,
  isGuarded,
  checkIntact,
  parse,
  swapBytes,
  mapFile,
  reserveFile,
  partOf,
  holdFile,
  newSegment,
  linkFile,
  isSealed,
  putStorage,
  putStorages,
  putCopy,
  run,
  wrapStream,
  invoke
}
