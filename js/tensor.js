'use strict'
// The Tensor class: layout beside a storage. Methods check what they are given, call C through ffi.js
// and wrap the layout that comes back.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { Group, countCopy, countStaged } = require('./storage')
const { show, integer, integers, shapeOf, shapeOfArguments, optionsOf, isOptions, castingOf } = require('./validate')
const { flatten, deduce, scalarFor, pack, listOf } = require('./values')
const { dtypeOfArray, isArrayBuffer, isSharedArrayBuffer, isGone, partsOfArray, partsOfView, byteLengthOf } = require('./buffers')
const { parseSlice, parseSlices } = require('./slices')
const { print } = require('./print')
const lifetime = require('./lifetime')

const { backend, rows, Layout, READ_ONLY, CONTIGUOUS, dtypes, byName } = ffi

/** @typedef {import('./ffi').Dtype} Dtype */
/** @typedef {number | bigint | boolean | [number, number]} Value one element, as get gives it */
/** @typedef {number[] | number} Shape */

/**
 * @param {unknown} name
 * @returns {Dtype}
 */
function dtypeOf (name) {
  const dtype = byName.get(name)
  if (dtype === undefined) throw failure('ERR_DTYPE', `dtype is ${show(name)}; one of ${dtypes.map(d => d.name).join(', ')} was expected`)
  return dtype
}

// ---- Layouts without bytes, remembered: a loop makes the same shape again and again ----

/** the last one of a rank and dtype @type {(InstanceType<typeof Layout> | undefined)[]} */
const recent = new Array(9 * 32)

/**
 * @param {number} dtype
 * @param {unknown[]} shape  not checked yet
 * @returns {InstanceType<typeof Layout>} row-major, without bytes; shape and strides to be shared
 */
function denseLayout (dtype, shape) {
  const n = shape.length
  const known = recent[n * 32 + dtype]
  if (known === undefined || known.shape.length !== n) return newDenseLayout(dtype, shape) // a Proxy's length may be anything
  for (let d = 0; d < n; d++) {
    if (known.shape[d] !== shape[d]) return newDenseLayout(dtype, shape)
  }
  return known
}

/** what recent forgot, by a hash @type {(InstanceType<typeof Layout> | undefined)[]} */
const remembered = new Array(256)

/**
 * @param {number} dtype
 * @param {unknown[]} shape
 * @returns {InstanceType<typeof Layout>}
 */
function newDenseLayout (dtype, shape) {
  const extents = shapeOf(shape)
  const n = extents.length
  const hash = extents.reduce((sum, extent) => (sum * 31 + extent) | 0, dtype + n * 17) & 255
  let layout = remembered[hash]
  if (layout === undefined || layout.dtype !== dtype || layout.shape.length !== n || layout.shape.some((extent, d) => extent !== extents[d])) {
    layout = remembered[hash] = ffi.dense(dtype, extents)
  }
  if (n <= 8) recent[n * 32 + dtype] = layout
  return layout
}

/**
 * A tensor with bytes of its own for a layout that has none yet. Short, as backend.allocate is.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {Tensor}
 */
function makeUninitialised (layout) {
  const storage = backend.allocate(layout.size * ffi.itemsizes[layout.dtype], ffi.check)
  return new Tensor(KEY, new Layout(storage, layout.dtype, layout.shape, layout.strides, 0, layout.size, layout.flags & CONTIGUOUS), undefined)
}

/**
 * The same with options.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {boolean} zeroed
 * @param {unknown} [shared]  options.shared
 * @returns {Tensor}
 */
function makeOver (layout, zeroed, shared) {
  const nbytes = layout.size * ffi.itemsizes[layout.dtype]
  let storage
  if (shared === undefined || shared === false) {
    if (!zeroed) return makeUninitialised(layout)
    storage = backend.allocateZeroed(nbytes, ffi.check)
  } else if (shared === 'sab') {
    storage = backend.allocateSab(nbytes)
  } else if (shared === true) {
    storage = backend.allocateNative(nbytes, ffi.check)
  } else {
    throw failure('ERR_ARGUMENT', `shared is ${show(shared)}; true, false or 'sab' was expected`)
  }
  const t = wrap(new Layout(storage, layout.dtype, layout.shape, layout.strides, 0, layout.size, layout.flags & CONTIGUOUS))
  if (zeroed && shared === true) t.zero()
  return t
}

/**
 * @param {Dtype} dtype
 * @param {unknown} shape
 * @param {Record<string, any>} options
 * @param {boolean} zeroed
 * @returns {Tensor}
 */
function makeEmpty (dtype, shape, options, zeroed) {
  if (options.device !== undefined && options.device !== 'cpu') {
    throw failure('ERR_DEVICE', `device is ${show(options.device)}; 'cpu' is there`)
  }
  let layout = denseLayout(dtype.index, Array.isArray(shape) ? shape : shapeOf(shape))
  if (options.order !== undefined && options.order !== 'C') {
    if (options.order !== 'F') throw failure('ERR_ARGUMENT', `order is ${show(options.order)}; 'C' or 'F' was expected`)
    if (layout.size * dtype.itemsize > unbounded.nbytes) throw failure('ERR_MEMORY', `${layout.size * dtype.itemsize} bytes could not be allocated`)
    layout = ffi.asStrided(new Layout(unbounded, dtype.index, [0], [1], 0, 0, 0), layout.shape, null, layout.shape.map((_, d) => layout.shape.length - 1 - d), 0)
  }
  return makeOver(layout, zeroed, options.shared)
}

/** the group of what lives for one call only: nobody counts it */
const passing = new Group('js')

/** a storage whose only use is to let layouts be worked out before there are bytes */
const unbounded = new ffi.Storage(passing, null, null, 0, backend.name === 'wasm' ? 2 ** 32 - 1 : 2 ** 53 - 1)

/**
 * A typed array's elements as a layout, for one call. Made before anything is allocated: what lies in
 * linear memory is found again when that grew, though the array is not.
 *
 * @param {any} array
 * @param {number} dtype
 * @param {number[]} shape
 */
function layoutOver (array, dtype, shape) {
  const { buffer, byteOffset, byteLength } = partsOfArray(array)
  const layout = ffi.dense(dtype, shape)
  const address = backend.addressIn(buffer, byteOffset)
  layout.storage = new ffi.Storage(passing, null, address === null ? buffer : null, byteOffset, byteLength)
  layout.storage.address = address
  return layout
}

/** what the constructor asks for, so that nobody makes a tensor over a layout of their own */
const KEY = Symbol('samebytes')

function refuseConstruction () {
  throw failure('ERR_ARGUMENT', 'tensors are made by tensor(), zeros(), fromBlob() and their like')
}

function disposed () {
  return failure('ERR_DISPOSED', 'the tensor was disposed')
}

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {Tensor} [base]
 * @returns {Tensor}
 */
function wrap (layout, base) {
  return new Tensor(KEY, layout, base)
}

/**
 * n-dimensional array over bytes that others may see as well. Made by `tensor`, `zeros`, `fromBlob`
 * and their like. Views share the bytes of their base: writing to one shows in the other.
 */
class Tensor {
  /** null: disposed @type {InstanceType<typeof Layout> | null} */
  #layout
  /** what it was viewed from @type {Tensor | undefined} */
  #base

  /**
   * @param {symbol} key  that only this file has
   * @param {InstanceType<typeof Layout>} layout
   * @param {Tensor | undefined} base
   * @ignore
   */
  constructor (key, layout, base) {
    if (key !== KEY) refuseConstruction()
    this.#layout = layout
    this.#base = base
    const { storage } = layout
    storage.claims++
    storage.group.count.tensors++
    if (lifetime.tracking.on) lifetime.made(this)
  }

  /**
   * @param {unknown} value
   * @returns {value is Tensor}
   */
  static isTensor (value) {
    return value !== null && typeof value === 'object' && #layout in value
  }

  /**
   * @param {Tensor} t
   * @returns {InstanceType<typeof Layout>}
   * @ignore
   */
  static layoutOf (t) {
    return t.#live()
  }

  #live () {
    const layout = this.#layout
    if (layout === null) throw disposed()
    return layout
  }

  /** @returns {InstanceType<typeof Layout>} whose bytes are there */
  #attached () {
    const layout = this.#live()
    ffi.checkAttached(layout.storage)
    return layout
  }

  /** @returns {InstanceType<typeof Layout>} that may be written to */
  #writable () {
    const layout = this.#attached()
    if (layout.flags & READ_ONLY) throw failure('ERR_READ_ONLY', 'the tensor is read-only')
    return layout
  }

  // ---- What it is ----

  /** Elements per axis; a copy. @returns {number[]} */
  get shape () { return this.#live().shape.slice() }
  /** Elements from one to the next per axis; a copy. @returns {number[]} */
  get strides () { return this.#live().strides.slice() }
  /** Elements from the storage's first byte. @returns {number} */
  get offset () { return this.#live().offset }
  /** Bytes from the storage's first one. @returns {number} */
  get byteOffset () { const l = this.#live(); return l.offset * ffi.itemsizes[l.dtype] }
  /** What one element is, such as 'float32'. @returns {string} */
  get dtype () { return dtypes[this.#live().dtype].name }
  /** Axes. @returns {number} */
  get ndim () { return this.#live().shape.length }
  /** Elements. @returns {number} */
  get size () { return this.#live().size }
  /** Elements. @returns {number} */
  get numel () { return this.#live().size }
  /** Bytes of one element. @returns {number} */
  get itemsize () { return ffi.itemsizes[this.#live().dtype] }
  /** Bytes of all elements. @returns {number} */
  get nbytes () { const l = this.#live(); return l.size * ffi.itemsizes[l.dtype] }
  /** Where the bytes are. @returns {string} */
  get device () { this.#live(); return 'cpu' }
  /** The tensor that this one is a view of. @returns {Tensor | undefined} */
  get base () { this.#live(); return this.#base }
  /** Is it a view of another tensor? @returns {boolean} */
  get isView () { this.#live(); return this.#base !== undefined }
  /** Do our writers refuse it? @returns {boolean} */
  get isReadOnly () { return (this.#live().flags & READ_ONLY) !== 0 }
  /** Can other threads see the bytes? @returns {boolean} */
  get isShared () {
    const { storage } = this.#live()
    return storage.kind === 'native' || isSharedArrayBuffer(storage.buffer)
  }

  /** The owner given to fromBlob, else its source; undefined for tensors made here. @returns {unknown} */
  get owner () { return this.#live().storage.owner }
  /** Was it disposed? @returns {boolean} */
  get isDisposed () { return this.#layout === null }

  /** onnxruntime's name for shape. @returns {number[]} */
  get dims () { return this.#live().shape.slice() }
  /** onnxruntime's name for dtype. @returns {string} */
  get type () { return dtypes[this.#live().dtype].name }
  /** onnxruntime's word for where it is. @returns {string} */
  get location () { this.#live(); return 'cpu' }

  // ---- Bytes ----

  /**
   * The elements as a typed array over the same bytes; no copy. Keeps the bytes alive, on WASM as long as
   * the tensor or a view of it does: there it is a window on memory that moves when it grows, to be taken
   * anew after every await, allocation and dispose.
   *
   * @returns {any} of the type that goes with the dtype
   * @throws ERR_SHAPE when not row-major contiguous (contiguous() copies), ERR_DISPOSED, ERR_DETACHED,
   *   ERR_UNSUPPORTED where the runtime can make no buffer over the memory
   * @example
   * zeros([2, 2]).data // Float32Array(4)
   */
  get data () {
    const layout = this.#layout
    if (layout !== null) {
      const seen = layout.data
      if (seen !== null && seen.length > 0) return seen // else: none, or its buffer went away
    }
    return dataOf(this.#live())
  }

  /**
   * The same range as bytes; no copy.
   *
   * @returns {Uint8Array}
   * @throws as data
   */
  get bytes () {
    const { buffer, byteOffset, byteLength } = partsOfArray(this.data)
    return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength)
  }

  /**
   * Writes raw bytes over all elements.
   *
   * @param {ArrayBufferView | ArrayBufferLike} bytes  exactly nbytes of them
   * @returns {this}
   * @throws ERR_SHAPE another length, ERR_READ_ONLY, ERR_OVERLAP
   */
  setBytes (bytes) {
    const source = bytesOf(bytes)
    const layout = this.#writable()
    if (source.byteLength !== this.nbytes) {
      throw failure('ERR_SHAPE', `bytes has ${source.byteLength} bytes; the tensor has ${this.nbytes}`)
    }
    ffi.copy(layout, layoutOver(aligned(source, ffi.itemsizes[layout.dtype]), layout.dtype, layout.shape), 0)
    countCopy('setBytes', source.byteLength)
    return this
  }

  /**
   * Address of the first element; stable as long as the tensor lives. 0n without elements. Reading it
   * keeps nothing alive.
   *
   * @returns {bigint}
   * @throws ERR_UNSUPPORTED for the caller's buffers in WASM
   */
  get dataPtr () {
    const layout = this.#attached()
    const { storage } = layout
    if (layout.size === 0) return 0n
    if (backend.name === 'wasm' && storage.kind !== 'wasm') {
      throw failure('ERR_UNSUPPORTED', 'the bytes are the caller\'s and have no address in WASM memory')
    }
    backend.promote(storage)
    return BigInt(backend.addressOf(storage) + layout.offset * ffi.itemsizes[layout.dtype])
  }

  // ---- Elements ----

  /**
   * @param {InstanceType<typeof Layout>} layout
   * @param {unknown[]} index
   * @param {number} from  first entry of index to read
   * @returns {number} elements from the storage's first byte
   */
  #place (layout, index, from) {
    const { shape, strides } = layout
    const n = shape.length
    if (index.length - from !== n) {
      throw failure('ERR_SHAPE', `${index.length - from} indices were given; the tensor has ${n} axes`)
    }
    let at = layout.offset
    for (let d = 0; d < n; d++) {
      const i = index[from + d]
      const extent = shape[d]
      if (typeof i !== 'number' || !Number.isInteger(i) || i < -extent || i >= extent) {
        const index = integer(`index ${d}`, i)
        throw failure('ERR_BOUNDS', `index ${index} is outside axis ${d} of ${extent} elements`)
      }
      at += (i < 0 ? i + extent : i) * strides[d]
    }
    return at
  }

  /**
   * One element.
   *
   * @param {...number} index  one per axis; negative counts from the end
   * @returns {any} number, boolean, bigint (64-bit integers) or [re, im]
   * @throws {RangeError} ERR_BOUNDS outside, ERR_SHAPE another count
   * @example
   * tensor([[1, 2], [3, 4]]).get(1, -1) // 4
   */
  get (...index) {
    const layout = this.#attached()
    return read(layout, this.#place(layout, index, 0))
  }

  /**
   * The element at an index, or a view where fewer indices are given.
   *
   * @param {...number} index
   * @returns {any}
   */
  at (...index) {
    if (index.length === this.#live().shape.length) return this.get(...index)
    return this.slice(...index.map((i, d) => integer(`index ${d}`, i)))
  }

  /**
   * Writes one element. The value must fit the dtype.
   *
   * @param {Value} value
   * @param {...number} index  one per axis; negative counts from the end
   * @throws {TypeError} ERR_CAST · {RangeError} ERR_BOUNDS, ERR_SHAPE · ERR_READ_ONLY
   */
  set (value, ...index) {
    const dtype = dtypes[this.#live().dtype]
    const scalar = scalarFor(value, dtype) // user code in a pair's getters runs here
    const layout = this.#writable()
    const place = this.#place(layout, index, 0)
    if (typeof value === 'number' && dtype.name === 'float64' && backend.canView(layout.storage)) {
      const window = backend.window(layout.storage, layout.dtype, dtype.Type, ffi.check)
      const i = backend.windowOffset(layout.storage) / 8 + place
      if (i < window.length) {
        window[i] = value
        return
      }
    }
    ffi.fill(new Layout(layout.storage, layout.dtype, [], [], place, 1, layout.flags), scalar)
  }

  /**
   * The only element.
   *
   * @returns {any} as get
   * @throws {RangeError} ERR_SHAPE when there is another number of elements
   */
  item () {
    const layout = this.#attached()
    if (layout.size !== 1) throw failure('ERR_SHAPE', `the tensor has ${layout.size} elements; item() takes one`)
    return read(layout, layout.offset)
  }

  /**
   * Copies the elements into nested arrays.
   *
   * @returns {any} a value for 0-d
   */
  toArray () {
    const layout = this.#readable()
    try {
      return nest(layout)
    } finally {
      if (layout !== this.#layout) backend.release(layout.storage)
    }
  }

  /** The same as toArray. */
  tolist () {
    return this.toArray()
  }

  /** Nested arrays; 64-bit integers as strings, since JSON has none. */
  toJSON () {
    /**
     * @param {any} value
     * @returns {any}
     */
    const plain = value => Array.isArray(value) ? value.map(plain) : typeof value === 'bigint' ? String(value) : value
    return plain(this.toArray())
  }

  /**
   * This, or a temporary copy that JavaScript can read: float32 of short floats, and whatever lies
   * where the runtime allows no buffer.
   *
   * @returns {InstanceType<typeof Layout>}
   */
  #readable () {
    const layout = this.#attached()
    const decoding = needsDecoding(dtypes[layout.dtype])
    if (!decoding && backend.canView(layout.storage)) return layout
    const wide = ffi.dense(decoding ? FLOAT32.index : layout.dtype, layout.shape)
    wide.storage = ffi.allocate(wide.size * ffi.itemsizes[wide.dtype])
    try {
      ffi.copy(wide, layout, 0)
    } catch (error) {
      backend.release(wide.storage)
      throw error
    }
    countStaged(wide.size * ffi.itemsizes[wide.dtype])
    return wide
  }

  /** Over the first axis: views, or elements in 1-D. @returns {IterableIterator<any>} */
  * [Symbol.iterator] () {
    const { shape } = this.#live()
    if (shape.length === 0) throw failure('ERR_SHAPE', 'a tensor without axes cannot be iterated over')
    for (let i = 0; i < shape[0]; i++) yield shape.length === 1 ? this.get(i) : this.select(0, i)
  }

  // ---- Views ----

  /**
   * @param {InstanceType<typeof Layout>} layout
   * @returns {Tensor} a view of this
   */
  #view (layout) {
    return new Tensor(KEY, layout, this.#base ?? this)
  }

  /**
   * Python's basic slicing, one entry per axis: a number (drops the axis), '1:5', '::-1', '...',
   * null (new axis), or { start, stop, step }.
   *
   * @param {...(number | string | null | { start?: number | null, stop?: number | null, step?: number | null })} specs
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_BOUNDS an index outside, ERR_SHAPE too many entries
   * @example
   * tensor([1, 2, 3, 4]).slice('::2').toArray() // [1, 3]
   */
  slice (...specs) {
    const list = specs.length === 1 ? parseSlice(specs[0], 0) : parseSlices(specs)
    return this.#view(ffi.viewByList(rows.slice, this.#live(), list))
  }

  /**
   * One index of an axis, which is dropped.
   *
   * @param {number} axis  negative counts from the end
   * @param {number} index  likewise
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_BOUNDS
   */
  select (axis, index) {
    integer('axis', axis)
    integer('index', index)
    return this.#view(ffi.viewByNumbers(rows.select, this.#live(), axis, index))
  }

  /**
   * length elements of an axis.
   *
   * @param {number} axis
   * @param {number} start
   * @param {number} length
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_BOUNDS
   */
  narrow (axis, start, length) {
    integer('axis', axis)
    integer('start', start)
    integer('length', length)
    return this.#view(ffi.viewByNumbers(rows.narrow, this.#live(), axis, start, length))
  }

  /**
   * The same bytes with dimensions in another order; writing to one shows in the other.
   *
   * @param {...(number | number[])} order  axes of this tensor, each once; negative counts from the end
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_SHAPE when the count differs, ERR_BOUNDS when an axis is outside or repeated
   * @example
   * zeros([2, 3]).permute([1, 0]).shape // [3, 2]
   */
  permute (...order) {
    const axes = integers('order', order.length === 1 && typeof order[0] !== 'number' ? order[0] : order)
    return this.#view(ffi.viewByList(rows.permute, this.#live(), axes))
  }

  /**
   * Swaps two axes.
   *
   * @param {number} a
   * @param {number} b
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_BOUNDS
   */
  transpose (a, b) {
    integer('a', a)
    integer('b', b)
    return this.#view(ffi.viewByNumbers(rows.transpose, this.#live(), a, b))
  }

  /** A matrix transposed: a view. @returns {Tensor} @throws {RangeError} ERR_SHAPE unless 2-D */
  get T () {
    const layout = this.#live()
    if (layout.shape.length !== 2) throw noMatrix(layout)
    return this.#view(ffi.viewByNumbers(rows.transpose, layout, 0, 1))
  }

  /**
   * The same elements in the same order with another shape: a view where that can be, else a copy.
   *
   * @param {...(Shape | { copy?: boolean })} args  extents, or an array of them and { copy }; one -1 is
   *   inferred. copy: false throws where a copy would be needed, true always copies
   * @returns {Tensor}
   * @throws {RangeError} ERR_SHAPE another number of elements
   */
  reshape (...args) {
    const last = args[args.length - 1]
    const { copy: rule } = args.length > 1 && isOptions(last) ? optionsOf(args.pop()) : {}
    const shape = shapeOfArguments(args)
    const layout = this.#live()
    if (rule === false) return this.#view(ffi.viewByList(rows.view, layout, shape))
    const out = ffi.reshape(layout, shape)
    if (out.storage !== ffi.nothing && rule !== true) return this.#view(out)
    const copy = out.storage === ffi.nothing ? out : ffi.dense(layout.dtype, out.shape)
    const ordered = ffi.dense(layout.dtype, layout.shape)
    const made = makeOver(copy, false)
    ordered.storage = made.#live().storage
    return made.#filled('reshape', ordered, layout, 0)
  }

  /**
   * A view with another shape, strides, dtype or offset; never a copy.
   *
   * @param {Shape | null | Record<string, any> | string} [shape]  one -1 is inferred
   * @param {{ strides?: number[], dimOrder?: number[], dtype?: string, offset?: number } | string} [opts]
   *   strides: any inside this tensor's bytes; offset: elements from this tensor's first one
   * @returns {Tensor}
   * @throws {RangeError} ERR_SHAPE where the order cannot be kept (reshape copies), ERR_BOUNDS outside
   * @example
   * zeros([2, 3]).view([3, 2]).shape // [3, 2]
   */
  view (shape, opts) {
    if (shape !== undefined && shape !== null && opts === undefined && isOptions(shape)) {
      opts = /** @type {Record<string, any>} */ (shape)
      shape = undefined
    }
    const options = optionsOf(opts)
    const { dtype: name, strides: givenStrides, dimOrder: givenOrder, offset: givenOffset } = options
    const dtype = name === undefined ? undefined : dtypeOf(name)
    const extents = shape === undefined || shape === null ? null : shapeOf(shape)
    const strides = givenStrides === undefined ? null : integers('strides', givenStrides)
    const order = givenOrder === undefined ? null : integers('dimOrder', givenOrder, 'ERR_SHAPE')
    const offset = givenOffset === undefined ? 0 : integer('offset', givenOffset)
    let layout = this.#live()
    if (dtype !== undefined && dtype.index !== layout.dtype) layout = ffi.viewByNumbers(rows.view_dtype, layout, dtype.index)
    if (strides !== null || order !== null || givenOffset !== undefined) {
      // "Inside t's bytes": the storage is cut to this tensor's range for the check.
      layout = within(layout, extents ?? layout.shape, strides, order, offset)
    } else if (extents !== null) {
      layout = ffi.viewByList(rows.view, layout, extents)
    } else if (layout === this.#layout) {
      layout = ffi.viewByList(rows.view, layout, layout.shape)
    }
    return this.#view(layout)
  }

  /**
   * Windows along an axis: the axis becomes their number, and a last axis of extent size is added.
   * Windows overlap where step is smaller than size.
   *
   * @param {number} axis
   * @param {number} size  elements in a window
   * @param {number} step  elements from one window to the next
   * @returns {Tensor} a view
   * @throws {RangeError} ERR_BOUNDS
   * @example
   * tensor([1, 2, 3, 4]).unfold(0, 3, 1).toArray() // [[1, 2, 3], [2, 3, 4]]
   */
  unfold (axis, size, step) {
    integer('axis', axis)
    integer('size', size)
    integer('step', step)
    return this.#view(ffi.viewByNumbers(rows.unfold, this.#live(), axis, size, step))
  }

  /**
   * Row-major without gaps? Axes of one element do not matter.
   *
   * @returns {boolean}
   */
  isContiguous () {
    return ffi.isContiguous(this.#live())
  }

  // ---- Copies ----

  /**
   * A copy with bytes of its own, and the axes in the same order of storage.
   *
   * @param {{ dtype?: string, casting?: 'safe' | 'same_kind' | 'unsafe' } | string} [opts]
   * @returns {Tensor}
   * @throws {TypeError} ERR_CAST the rule forbids the cast
   */
  clone (opts) {
    return this.#copy('clone', optionsOf(opts))
  }

  /**
   * A copy in another dtype (in the same one as well).
   *
   * @param {string} dtype
   * @param {{ casting?: 'safe' | 'same_kind' | 'unsafe' }} [opts]
   * @returns {Tensor}
   * @throws {TypeError} ERR_CAST
   */
  astype (dtype, opts) {
    return this.#copy('astype', { ...optionsOf(opts), dtype: dtypeOf(dtype).name })
  }

  /** Itself where it is row-major contiguous, else a copy that is. @returns {Tensor} */
  contiguous () {
    const layout = this.#attached()
    if (ffi.isContiguous(layout)) return this
    const made = makeOver(denseLayout(layout.dtype, layout.shape), false)
    return made.#filled('contiguous', made.#live(), layout, 0)
  }

  /**
   * @param {string} reason
   * @param {Record<string, any>} options
   */
  #copy (reason, { dtype: name, casting: rule }) {
    const dtype = name === undefined ? undefined : dtypeOf(name)
    const casting = castingOf(rule)
    const layout = this.#attached()
    const made = makeOver(ffi.viewByNumbers(rows.dense_like, layout, dtype === undefined ? layout.dtype : dtype.index), false)
    return made.#filled(reason, made.#live(), layout, casting)
  }

  /**
   * A copy that was just made gets its elements; it goes where that fails.
   *
   * @param {string} reason
   * @param {InstanceType<typeof Layout>} target  over this tensor's bytes
   * @param {InstanceType<typeof Layout>} source
   * @param {number} casting
   * @returns {this}
   */
  #filled (reason, target, source, casting) {
    try {
      ffi.copy(target, source, casting)
    } catch (error) {
      this.dispose()
      throw error
    }
    countCopy(reason, this.nbytes)
    return this
  }

  /**
   * Copies into this tensor: broadcast, cast, scaled on the way.
   *
   * @param {Tensor | number | bigint | boolean | ArrayBufferView | any[]} src  a value or tensor or nested
   *   list that broadcasts; a typed array or flat list of equal count fills row-major
   * @param {{ casting?: 'safe' | 'same_kind' | 'unsafe', scale?: number | ArrayLike<number>, bias?: number | ArrayLike<number>, axis?: number }} [opts]
   *   scale and bias give x * scale + bias: one number, or one per index of this tensor's axis
   * @returns {this}
   * @throws ERR_SHAPE, ERR_CAST, ERR_OVERLAP (two elements of this share a byte), ERR_READ_ONLY
   */
  copyFrom (src, opts) {
    const { casting: rule, scale, bias, axis } = optionsOf(opts)
    const casting = castingOf(rule)
    const scaled = scale !== undefined || bias !== undefined
    const factors = scaled ? factorOf('scale', scale, 1) : null
    const terms = scaled ? factorOf('bias', bias, 0) : null
    const along = axis === undefined ? 0 : integer('axis', axis)
    if (scaled && axis === undefined && (/** @type {Factor} */ (factors).length >= 0 || /** @type {Factor} */ (terms).length >= 0)) {
      throw failure('ERR_ARGUMENT', 'scale or bias is a list; axis says along which axis of the target')
    }
    const source = this.#source(src)
    try {
      const layout = this.#writable()
      if (scaled) ffi.copyScaled(layout, source, /** @type {Factor} */ (factors).layout, /** @type {Factor} */ (terms).layout, along, casting)
      else ffi.copy(layout, source, casting)
    } finally {
      if (!Tensor.isTensor(src)) backend.release(source.storage)
    }
    countCopy('copyFrom', this.nbytes)
    return this
  }

  /**
   * What copyFrom was given, as a layout.
   *
   * @param {unknown} src
   * @returns {InstanceType<typeof Layout>}
   */
  #source (src) {
    if (Tensor.isTensor(src)) return src.#attached()
    const { shape, size, dtype } = this.#live()
    const arrayType = dtypeOfArray(src)
    if (arrayType !== undefined) {
      const array = /** @type {any} */ (src)
      const from = dtypeOf(arrayType)
      const { length } = partsOfArray(array)
      if (length !== size) throw failure('ERR_SHAPE', `the typed array has ${length} elements; the tensor has ${size}`)
      return layoutOver(array, from.index, shape)
    }
    const to = dtypes[dtype]
    const { flat, shape: given } = flatten(src, to.kind === 'COMPLEX')
    const packed = ffi.dense(dtype, given)
    packed.storage = ffi.allocate(packed.size * to.itemsize)
    try {
      writeValues(packed, flat)
    } catch (error) {
      backend.release(packed.storage)
      throw error
    }
    // A flat list of equal count fills row-major.
    return given.length === 1 && given[0] === size ? ffi.reshape(packed, shape) : packed
  }

  /**
   * Writes one value to every element. The value must fit the dtype.
   *
   * @param {Value} value
   * @returns {this}
   * @throws {TypeError} ERR_CAST · ERR_READ_ONLY
   */
  fill (value) {
    const scalar = typeof value === 'number' && dtypes[this.#live().dtype].kind === 'FLOATING' ? value : scalarFor(value, dtypes[this.#live().dtype])
    ffi.fill(this.#writable(), scalar)
    return this
  }

  /** Writes zero to every element. @returns {this} @throws ERR_READ_ONLY */
  zero () {
    ffi.fill(this.#writable(), false)
    return this
  }

  // ---- Lifetime ----

  /**
   * Drops this tensor's claim on its bytes. They are freed when nobody else has them: views of them,
   * `.data` taken before. Using the tensor afterwards throws ERR_DISPOSED; a second dispose does nothing.
   */
  dispose () {
    const layout = this.#layout
    if (layout === null) return
    this.#layout = null
    this.#base = undefined
    const { storage } = layout
    storage.group.count.tensors--
    if (--storage.claims === 0) backend.release(storage)
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')] () {
    this.dispose()
  }

  // ---- As text ----

  /** As PyTorch prints it. @returns {string} */
  toString () {
    const layout = this.#readable()
    try {
      return print({
        shape: layout.shape,
        dtype: this.dtype,
        kind: dtypes[layout.dtype].kind,
        size: layout.size,
        read: index => read(layout, index.reduce((at, i, d) => at + i * layout.strides[d], layout.offset))
      })
    } finally {
      if (layout !== this.#layout) backend.release(layout.storage)
    }
  }

  [Symbol.for('nodejs.util.inspect.custom')] () {
    return this.#layout === null ? 'tensor(disposed)' : this.toString()
  }
}

/**
 * A typed array for the caller.
 *
 * @param {InstanceType<typeof Layout>} layout
 */
function dataOf (layout) {
  const { storage } = layout
  ffi.checkAttached(storage)
  if (layout.data !== null && layout.size === 0) return layout.data
  if (!ffi.isContiguous(layout)) throw notContiguous(layout)
  const { Type, kind, itemsize } = dtypes[layout.dtype]
  const buffer = backend.bufferOf(storage, ffi.check)
  const n = kind === 'COMPLEX' ? 2 * layout.size : layout.size
  try {
    return (layout.data = new Type(buffer, storage.byteOffset + layout.offset * itemsize, n))
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `no typed array of ${n} elements can be made; narrow first (${/** @type {Error} */ (error).message})`)
  }
}

/** @param {InstanceType<typeof Layout>} layout */
function noMatrix ({ shape }) {
  return failure('ERR_SHAPE', `T is for 2 axes; the tensor has ${shape.length}`)
}

/** @param {InstanceType<typeof Layout>} layout */
function notContiguous ({ shape, strides }) {
  return failure('ERR_SHAPE', `the tensor of shape [${shape.join(', ')}] and strides [${strides.join(', ')}] is not contiguous; contiguous() copies`)
}

/** @typedef {{ layout: InstanceType<typeof Layout>, length: number }} Factor length -1: one number */

const FLOAT32 = dtypeOf('float32')
const FLOAT64 = dtypeOf('float64')

/** @param {Dtype} dtype */
function needsDecoding (dtype) {
  return dtype.kind === 'FLOATING' && dtype.itemsize < 4 && (dtype.name !== 'float16' || dtype.Type === Uint16Array)
}

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} place  elements from the storage's first byte
 * @returns {any}
 */
function read (layout, place) {
  const dtype = dtypes[layout.dtype]
  const { storage } = layout
  if (needsDecoding(dtype)) return readCopy(layout, place, FLOAT32)
  if (!backend.canView(storage)) return readCopy(layout, place, dtype)
  const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
  const i = backend.windowOffset(storage) / dtype.itemsize + place
  if (i * (dtype.kind === 'COMPLEX' ? 2 : 1) >= window.length) return readCopy(layout, place, dtype) // beyond its limit
  if (dtype.kind === 'COMPLEX') return [window[2 * i], window[2 * i + 1]]
  return dtype.kind === 'BOOLEAN' ? window[i] !== 0 : window[i]
}

/** where single elements are copied to, to be read @type {InstanceType<typeof Layout>[]} */
const copies = []

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} place
 * @param {Dtype} dtype  that it is read as
 */
function readCopy (layout, place, dtype) {
  const copy = copies[dtype.index] ??= new Layout(ffi.allocate(dtype.itemsize), dtype.index, [], [], 0, 1, 0)
  ffi.copy(copy, new Layout(layout.storage, layout.dtype, [], [], place, 1, 0), 0)
  countStaged(dtype.itemsize)
  return read(copy, 0)
}

/**
 * @param {InstanceType<typeof Layout>} layout
 * @returns {any}
 */
function nest (layout) {
  const { storage, shape, strides } = layout
  const dtype = dtypes[layout.dtype]
  if (shape.length === 0) return read(layout, layout.offset)
  const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
  const first = backend.windowOffset(storage) / dtype.itemsize + layout.offset
  const last = shape.length - 1
  /**
   * @param {number} d
   * @param {number} at
   * @returns {any[]}
   */
  function list (d, at) {
    const out = []
    for (let i = 0; i < shape[d]; i++, at += strides[d]) {
      if (d < last) out.push(list(d + 1, at))
      else if (dtype.kind === 'COMPLEX') out.push([window[2 * at], window[2 * at + 1]])
      else out.push(dtype.kind === 'BOOLEAN' ? window[at] !== 0 : window[at])
    }
    return out
  }
  return list(0, first)
}

/**
 * A view with given strides inside a tensor's own bytes.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {number[]} shape
 * @param {number[] | null} strides
 * @param {number[] | null} dimOrder
 * @param {number} offset  elements from the tensor's first one
 */
function within (layout, shape, strides, dimOrder, offset) {
  if (strides !== null && dimOrder !== null) checkAgreement(shape, strides, dimOrder)
  const { low, high } = reach(layout)
  const made = ffi.asStrided(layout, shape, strides, strides === null ? dimOrder : null, layout.offset + offset)
  const inside = reach(made)
  if (made.size > 0 && (inside.low < low || inside.high > high)) {
    throw failure('ERR_BOUNDS', `the view reaches elements ${inside.low - layout.offset} to ${inside.high - layout.offset}; the tensor has ${low - layout.offset} to ${high - layout.offset}`)
  }
  return made
}

/** @param {InstanceType<typeof Layout>} layout */
function reach ({ shape, strides, offset, size }) {
  let low = offset
  let high = offset
  if (size === 0) return { low, high: offset - 1 }
  for (let d = 0; d < shape.length; d++) {
    const span = (shape[d] - 1) * strides[d]
    if (span < 0) low += span
    else high += span
  }
  return { low, high }
}

/**
 * Strides that fall in another order than dimOrder says.
 *
 * @param {number[]} shape
 * @param {number[]} strides
 * @param {number[]} dimOrder
 */
function checkAgreement (shape, strides, dimOrder) {
  if (dimOrder.length !== shape.length || strides.length !== shape.length || [...dimOrder].sort((a, b) => a - b).some((axis, d) => axis !== d)) {
    throw failure('ERR_SHAPE', `shape has ${shape.length} axes, strides ${strides.length}, dimOrder [${dimOrder.join(', ')}]; they do not agree`)
  }
  const axes = dimOrder.filter(d => shape[d] !== 1)
  for (let i = 1; i < axes.length; i++) {
    if (Math.abs(strides[axes[i - 1]]) < Math.abs(strides[axes[i]])) {
      throw failure('ERR_SHAPE', `strides [${strides.join(', ')}] do not agree with dimOrder [${dimOrder.join(', ')}]`)
    }
  }
}

/**
 * Writes values that a person wrote into a layout, in logical order; each must fit its dtype.
 *
 * @param {InstanceType<typeof Layout>} target
 * @param {(number | bigint | boolean | [number, number])[]} flat
 */
function writeValues (target, flat) {
  const { array, dtype } = pack(flat, dtypes[target.dtype])
  ffi.copyValues(target, layoutOver(array, dtypeOf(dtype).index, target.shape))
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} missing
 * @returns {Factor}
 */
function factorOf (name, value, missing) {
  if (value === undefined || typeof value === 'number') {
    const one = Float64Array.of(value ?? missing)
    return { layout: layoutOver(one, FLOAT64.index, []), length: -1 }
  }
  const list = listOf(value)
  if (list === null) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number or a list of numbers was expected`)
  const numbers = Float64Array.from(list, (x, i) => {
    if (typeof x !== 'number') throw failure('ERR_ARGUMENT', `${name}[${i}] is ${show(x)}; a number was expected`)
    return x
  })
  return { layout: layoutOver(numbers, FLOAT64.index, [numbers.length]), length: numbers.length }
}

/**
 * @param {unknown} source
 * @returns {Uint8Array}
 */
function bytesOf (source) {
  let buffer = /** @type {any} */ (source)
  let byteOffset = 0
  let byteLength
  if (dtypeOfArray(source) !== undefined) ({ buffer, byteOffset, byteLength } = partsOfArray(source))
  else if (ArrayBuffer.isView(source)) ({ buffer, byteOffset, byteLength } = partsOfView(source))
  else if (isArrayBuffer(source) || isSharedArrayBuffer(source)) byteLength = byteLengthOf(source)
  else throw failure('ERR_ARGUMENT', `bytes is ${show(source)}; a typed array or an ArrayBuffer was expected`)
  if (byteLength === 0 && isGone(buffer)) throw failure('ERR_DETACHED', 'the bytes were transferred away')
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/**
 * The bytes, copied first where their place is no multiple of the item size.
 *
 * @param {Uint8Array} bytes
 * @param {number} itemsize
 */
function aligned (bytes, itemsize) {
  if (bytes.byteOffset % itemsize === 0) return bytes
  countStaged(bytes.byteLength)
  return bytes.slice()
}

for (const name of ['dims', 'type', 'location']) {
  Object.defineProperty(Tensor.prototype, name, { enumerable: false })
}

module.exports = { Tensor, wrap, dtypeOf, makeEmpty, makeOver, makeUninitialised, denseLayout, writeValues, layoutOver, within, passing, bytesOf, aligned, flatten, deduce }
