/// <reference lib="esnext.disposable" preserve="true" />
'use strict'
// The Tensor class: a layout over a storage. Methods read and check their arguments, call C (backend/calls.js), and wrap the layout
// that comes back.

const { arrayOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { learnTensors } = require('../base/tensors')
const { functionsOf, lazyFile } = require('../runtime/lazy')
const {
  events,
  countCopy,
  claim,
  unclaim,
  CPU,
  isDevice,
  deviceOfStorage,
  nameOfDevice,
} = require('../backend/storage')
const validate = require('../base/validate')
const { show, wrongReceiver, wrongCount, boolean, integer, integers, inside } = validate
const { shapeOf, shapeOfArguments, axesOf, axesFromStart, formatOf } = validate
const { optionsOf, isOptions, axisAndOptions, OF_RESULT, ALONG, CASTINGS, castingOf } = validate
const { checkCounts, MOST_PARTS, sameParts, equalSizes, checkSizes } = validate
const { dtypes, itemsizes, dtypeOf } = require('../backend/dtypes')
const { BRAND, COPY, scalarFor } = require('../layout/values')
const {
  dtypeOfArray,
  isSharedArrayBuffer,
  isVideoFrame,
  isAudioBuffer,
  partsOfArray,
  dtypeOfType,
  isView,
} = require('../base/buffers')
const {
  HOST,
  placementOf,
  deviceOf,
  placementLike,
  checkSameDevice,
} = require('../layout/placement')
const layouts = require('../layout/layouts')
const { denseLayout, withBytes, written, adoptArray, viewed, inherit } = layouts
const { bufferRangeOf, layoutOfBytes, copyBytes, nameOfDynamism, readOnly } = layouts
const { read, integerList, indicesOf, write, nested } = require('../layout/elements')
const { frozenShape, frozenStrides } = require('../layout/frozen')
const { parseSlice, parseSlices } = require('../layout/slices')
const records = require('../layout/data')
const { dataOf, hasNoAddress, addressOf } = records
const results = require('../copy/results')
const { copyElements, likeOf, copied, copiedInto, checkOut } = results
const { sourceOf, imageOf, channelsOf, kept, scalingOf } = require('../copy/sources')
const { checkHeap, ENTRY, TENSOR } = require('../runtime/heap')
const lifetime = require('../layout/lifetime')
const { UNCLONEABLE } = require('../runtime/host')

/** @type {typeof Symbol.dispose} */
const DISPOSE = lifetime.DISPOSE

const { backend, opcodes, isPinned, Layout, READ_ONLY, STATIC, UNBOUND } = ffi

/** @typedef {import('../backend/dtypes').Dtype} Dtype */
/** @import { DtypeName, NameOf, Or, DtypeOf, ValueOf, DataOf, InputOf, NestedOf, NestedAs, Rank, PartOf, CudaArrayInterface, Shape, Dynamism, DeviceName, MemoryFormat, SliceSpec, Picture, Blob, CopySource, Frame, Capsule, DlpackOptions } from '../base/types' */
/** @import { ViewOptions, ResultOptions, ToOptions, ToAsyncOptions, AxisOptions, RollOptions, CopyOptions, CopyAsyncOptions, AccessorOptions, Accessor, ImageDataOptions } from '../base/types' */

const rearrange = lazyFile(() => require('../copy/recipes'))
// Read before a tensor's bytes are looked at: reading a file may run code of the program's.
const images = lazyFile(() => require('../copy/images'))
const rowCopies = lazyFile(() => require('../copy/channels'))
const printing = lazyFile(() => require('../layout/print'))
const asyncCopies = lazyFile(() => require('../copy/async'))
const { accessorOf } = functionsOf(() => require('./accessor'))
const { copyMedia } = functionsOf(() => require('../copy/media'))
const { signalOf, checkSignal } = functionsOf(() => require('../base/signals'))
const { askedOf, dlDeviceOf, capsuleOf, arrayInterfaceOf } = functionsOf(() =>
  require('./capsules'),
)

const { ready, streamOf, withStream } = functionsOf(() => require('../backend/cuda'))

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** lists the properties that Jest copies to show a difference; without it Jest runs all getters, also those that throw */
const JEST_COPIES = Symbol.for('@jest/serializableProperties')

/** number of Symbol.toStringTag's results without a hash */
let unhashed = 0

// Methods begin with one of these, or with a function below that does: `this.#method()` would be a TypeError of V8's own where
// a method is called without its tensor.

/** a tensor's current layout; null: disposed @type {(t: any) => InstanceType<typeof Layout> | null} */
let layoutNow
/** a view of a tensor @type {<D extends DtypeName>(t: Tensor<D>, layout: InstanceType<typeof Layout>) => Tensor<D>} */
let view

/** the constructor requires it, so that nobody else makes a tensor over a forged layout */
const KEY = Symbol('samebytes')

/**
 * @param {Tensor} t
 * @returns {InstanceType<typeof Layout>}
 */
function live(t) {
  const layout = layoutNow(t)
  if (layout === null) throw failure('ERR_DISPOSED', 'the tensor was disposed')
  return layout
}

/**
 * @param {Tensor} t
 * @returns {InstanceType<typeof Layout>} with attached bytes
 */
function attached(t) {
  const layout = live(t)
  ffi.checkAttached(layout.storage)
  return layout
}

/**
 * @param {Tensor} t
 * @returns {InstanceType<typeof Layout>} with attached bytes that no pending operation uses
 */
function notBusy(t) {
  const layout = attached(t)
  const { optional } = layout.storage
  if (optional !== null && optional.busy > 0) throw asyncCopies().busy('tensor')
  return layout
}

/**
 * @param {Tensor} t
 * @param {number} [elsewhere]  pending operations that use other bytes of the storage
 * @returns {InstanceType<typeof Layout>} that may be written
 */
function writable(t, elsewhere = 0) {
  const layout = attached(t)
  const { optional } = layout.storage
  if (layout.flags & READ_ONLY) throw readOnly(layout.storage)
  if (optional !== null && optional.busy > elsewhere) throw asyncCopies().busy('tensor')
  return layout
}

const addons = lazyFile(() => require('./addons'))
/** the external by which addons find samebytes' functions; made when one asks @type {unknown} */
let offered
const offer = () => (offered ??= addons().offer(Tensor, wrap))

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {Tensor} [base]
 * @returns {Tensor}
 */
function wrap(layout, base) {
  // @ts-expect-error The constructor is private to everybody else.
  return new Tensor(KEY, layout, base)
}

/**
 * An argument that has to be a tensor.
 *
 * @param {unknown} t
 * @param {string} [name]  of the argument, for messages
 * @returns {Tensor}
 */
function tensorOf(t, name = 't') {
  if (!Tensor.isTensor(t)) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(t)}; a tensor was expected${isView(t) ? `, as fromBlob(${name}) makes it` : ''}`,
    )
  }
  return t
}

/**
 * An n-dimensional array over bytes that it may share with others. Made by `tensor`, `zeros`, `fromBlob` and similar functions. Views
 * share the bytes of their base: a write to one shows in the other.
 *
 * Shapes, strides, offsets and sizes count elements; names with bytes in them count bytes. All members of a disposed tensor
 * throw ERR_DISPOSED, except those that say that they never throw.
 *
 * @template {DtypeName} [D=any] the dtype's name; any where it is not known
 * @template {ArrayBufferLike} [B=any] what `data` is over, where a program says it: SharedArrayBuffer; else `data` is taken to be over an
 *   ArrayBuffer
 */
class Tensor {
  /** null: disposed @type {InstanceType<typeof Layout> | null} */
  #layout
  /** the tensor that this one is a view of @type {Tensor | undefined} */
  #base

  /**
   * @param {symbol} key  KEY
   * @param {InstanceType<typeof Layout>} layout
   * @param {Tensor | undefined} base
   * @private
   */
  constructor(key, layout, base) {
    if (key !== KEY) {
      throw failure(
        'ERR_ARGUMENT',
        'tensors are made by tensor(), zeros(), fromBlob() and their like',
      )
    }
    this.#layout = layout
    this.#base = base
    /** no structured clone takes it; without it, clones would be empty objects @type {symbol | object} */
    this.uncloneable = UNCLONEABLE
    const { storage } = layout
    const { count } = storage.group
    if (storage.claims++ === 0) count.storages++
    count.tensors++
    if (lifetime.tracking.on) lifetime.made(this)
    if (events.listener !== null) events.listener.made(this)
  }

  /**
   * Is it a tensor of this copy of the package?
   *
   * @param {unknown} value  anything; no property of it is read
   * @returns {value is Tensor}
   * @example
   * Tensor.isTensor(zeros([2])) // true
   */
  static isTensor(value) {
    return value !== null && typeof value === 'object' && #layout in value
  }

  /** The external by which addons find samebytes' functions (`sb_napi_open` of samebytes_napi.h); null on WebAssembly. @returns {unknown} @ignore */
  static get __samebytes__() {
    return offer()
  }

  static {
    layoutNow = (t) => {
      try {
        return t.#layout
      } catch {
        throw wrongReceiver('tensor', t, 't')
      }
    }
    view = (t, layout) => {
      const whole = /** @type {InstanceType<typeof Layout>} */ (t.#layout)
      if (whole.optional !== null) inherit(layout, whole)
      return new Tensor(KEY, layout, t.#base ?? t)
    }
  }

  /**
   * @param {Tensor} t
   * @returns {InstanceType<typeof Layout>}
   * @ignore
   */
  static layoutOf(t) {
    return live(t)
  }

  /**
   * @param {Tensor} t
   * @returns {InstanceType<typeof Layout>} with attached bytes
   * @ignore
   */
  static attachedOf(t) {
    return attached(t)
  }

  /**
   * @param {Tensor} t
   * @param {number} [elsewhere]  pending operations that use other bytes of the storage
   * @returns {InstanceType<typeof Layout>} that may be written
   * @ignore
   */
  static writableOf(t, elsewhere) {
    return writable(t, elsewhere)
  }

  /**
   * @template {DtypeName} D
   * @param {Tensor<D>} t
   * @param {InstanceType<typeof Layout>} layout  over its bytes
   * @returns {Tensor<D>} a view
   * @ignore
   */
  static viewOf(t, layout) {
    return view(t, layout)
  }

  // ---- Properties ----

  /** Elements per axis; frozen. @returns {readonly number[]} */
  get shape() {
    return frozenShape(live(this))
  }
  /** Elements from one index to the next, per axis; frozen. @returns {readonly number[]} */
  get strides() {
    return frozenStrides(live(this))
  }
  /** The first element, in elements from the storage's first byte. @returns {number} */
  get offset() {
    return live(this).offset
  }
  /** The first element, in bytes from the storage's first byte. @returns {number} */
  get byteOffset() {
    const l = live(this)
    return l.offset * itemsizes[l.dtype]
  }
  /** The dtype's name, such as 'float32'. @returns {DtypeOf<D>} */
  get dtype() {
    return dtypes[live(this).dtype].name
  }
  /** Number of axes. @returns {number} */
  get ndim() {
    return live(this).shape.length
  }
  /** Number of elements. @returns {number} */
  get size() {
    return live(this).size
  }
  /** Number of elements, as in PyTorch. @returns {number} */
  get numel() {
    return live(this).size
  }
  /** Bytes of one element. @returns {number} */
  get itemsize() {
    return itemsizes[live(this).dtype]
  }
  /** Bytes of all elements: size * itemsize. @returns {number} */
  get nbytes() {
    return live(this).nbytes
  }
  /** Axes from outermost to innermost in memory; a copy. @returns {number[]} @see ExecuTorch dim_order */
  get dimOrder() {
    return ffi.dimOrder(live(this))
  }
  /** How far resize may go: 'static' not at all, 'bounded' up to the capacity, 'unbound' beyond. @returns {Dynamism} @see ExecuTorch TensorShapeDynamism */
  get dynamism() {
    return nameOfDynamism(live(this).flags)
  }

  /** Elements that resize can grow to in place. @returns {number} */
  get capacity() {
    return live(this).capacity
  }
  /** The device of the bytes: 'cpu', 'cuda:0'. @returns {DeviceName} */
  get device() {
    return nameOfDevice(deviceOfStorage(live(this).storage))
  }
  /** The tensor that this one is a view of. It may have other bytes since, by resize or setData. @returns {Tensor | undefined} @see NumPy ndarray.base */
  get base() {
    live(this)
    return this.#base
  }
  /** Is it a view of another tensor? @returns {boolean} */
  get isView() {
    live(this)
    return this.#base !== undefined
  }
  /** Do samebytes' writers refuse it? @returns {boolean} */
  get isReadOnly() {
    return (live(this).flags & READ_ONLY) !== 0
  }
  /** Can other threads see the bytes? @returns {boolean} */
  get isShared() {
    const { storage } = live(this)
    return (
      storage.kind === 'native' ||
      (storage.kind === 'wasm' && backend.name === 'wasm-shared') ||
      isSharedArrayBuffer(storage.buffer)
    )
  }

  /** Is it in page-locked memory, from and to which devices copy faster? @returns {boolean} @see PyTorch is_pinned */
  get isPinned() {
    return isPinned(attached(this).storage)
  }

  /** The owner given to fromBlob, else its source (of a record: the record's owner); undefined for bytes that samebytes allocated. @returns {unknown} */
  get owner() {
    const l = live(this)
    return l.owner === undefined ? l.storage.owner : l.owner
  }
  /** Was it disposed? Never throws. @returns {boolean} */
  get isDisposed() {
    return layoutNow(this) === null
  }

  /** onnxruntime's name for shape. @returns {readonly number[]} */
  get dims() {
    return frozenShape(live(this))
  }
  /** onnxruntime's name for dtype. @returns {DtypeOf<D>} */
  get type() {
    return dtypes[live(this).dtype].name
  }
  /** onnxruntime's name for the place of the bytes: 'cpu' or 'gpu-buffer'. @returns {string} */
  get location() {
    return deviceOfStorage(live(this).storage) === CPU ? 'cpu' : 'gpu-buffer'
  }

  /** The external by which addons find samebytes' functions (`sb_tensor_from_napi` of samebytes_napi.h); null on WebAssembly. @returns {unknown} */
  get __samebytes__() {
    return offer()
  }

  // ---- Bytes ----

  /**
   * The elements as a typed array over the same bytes; no copy. The array keeps the bytes alive, except on WASM: there the tensor or a
   * view must stay alive, and `data` must be read again after every await, allocation and dispose, because memory moves when it grows.
   *
   * postMessage and structuredClone of the array copy the whole buffer that it is over. On WASM that is all memory, with the other
   * tensors in it; on native it is the view's base. Post `t.data.slice()`, which copies this tensor alone, or `share(t)`.
   *
   * @returns {DataOf<D, B>} of the dtype's typed array; complex numbers are pairs, and short floats without a typed array of
   *   their own are bits
   * @throws {RangeError} ERR_SHAPE when not row-major contiguous (contiguous() copies) · ERR_DETACHED · ERR_UNSUPPORTED
   *   where the runtime can make no buffer over the memory
   * @see NumPy ndarray.data, PyTorch Tensor.numpy()
   * @example
   * zeros([2, 2]).data // Float32Array(4) [ 0, 0, 0, 0 ]
   */
  get data() {
    const layout = layoutNow(this)
    if (layout !== null) {
      const seen = layout.data
      if (seen !== null && seen[0] !== undefined) return seen // else: none, or its buffer went away
    }
    return dataOf(live(this))
  }

  /**
   * The elements as bytes; no copy.
   *
   * @returns {DataOf<'uint8', B>} of nbytes
   * @throws as data
   * @example
   * tensor([1, 256], 'int16').bytes // Uint8Array(4) [ 1, 0, 0, 1 ]
   */
  get bytes() {
    const layout = live(this)
    const { buffer, byteOffset, byteLength } = partsOfArray(
      layout.data !== null && layout.data.length > 0 ? layout.data : dataOf(layout),
    )
    const bytes = new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength)
    backend.expose(bytes, layout.storage)
    return bytes
  }

  /**
   * Copies raw bytes over all elements, in row-major order.
   *
   * @param {ArrayBufferView | ArrayBufferLike} bytes  exactly nbytes of them; they stay the caller's
   * @returns {this}
   * @throws {RangeError} ERR_SHAPE another length · {TypeError} ERR_ARGUMENT · ERR_READ_ONLY, ERR_OVERLAP, ERR_BUSY, ERR_DETACHED
   * @example
   * zeros([2], 'int16').setBytes(Uint8Array.of(1, 0, 0, 1)).toArray() // [1, 256]
   */
  setBytes(bytes) {
    const parts = bufferRangeOf(bytes)
    const layout = writable(this)
    const nbytes = layout.nbytes
    if (parts.byteLength !== nbytes) {
      throw failure('ERR_SHAPE', `bytes has ${parts.byteLength} bytes; the tensor has ${nbytes}`)
    }
    copyBytes(layout, layoutOfBytes(parts, layout.dtype, layout.shape, ffi.isContiguous(layout)))
    countCopy('setBytes', parts.byteLength)
    return this
  }

  /**
   * Address of the first element, which stays the same as long as the tensor lives; 0n without elements. The address does not keep
   * the bytes alive.
   *
   * @returns {bigint} in WASM an offset in wasmMemory()
   * @throws ERR_UNSUPPORTED for the caller's buffers in WASM · ERR_DETACHED
   * @see PyTorch data_ptr, ExecuTorch const_data_ptr
   * @example
   * zeros([0]).dataPtr // 0n
   */
  get dataPtr() {
    const layout = attached(this)
    if (layout.size > 0 && hasNoAddress(layout)) {
      throw failure(
        'ERR_UNSUPPORTED',
        "the bytes are the caller's and have no address in WASM memory",
      )
    }
    return addressOf(layout)
  }

  /**
   * A record that describes the bytes, for other libraries and for fromBlob. It does not change when this tensor does. It keeps the
   * bytes alive, also after this tensor's dispose, and so does every tensor that fromBlob makes of this record (a copy of its
   * fields does not).
   *
   * @returns {Blob<D>} frozen
   * @throws ERR_DETACHED
   * @see ExecuTorch from_blob, whose arguments these are
   * @example
   * fromBlob(zeros([2, 3]).T.toBlob()).strides // [1, 3]
   */
  toBlob() {
    const layout = attached(this)
    const { name, itemsize } = dtypes[layout.dtype]
    const record = Object.freeze({
      ptr: hasNoAddress(layout) ? 0n : addressOf(layout),
      shape: frozenShape(layout),
      strides: frozenStrides(layout),
      dtype: name,
      device: nameOfDevice(deviceOfStorage(layout.storage)),
      elementSize: itemsize,
      owner: this,
    })
    records.remember(record, layout)
    return record
  }

  /**
   * A DLPack capsule for another addon of the process, which takes it once, by its `fromDlpack` or in C with samebytes_dlpack.h. No byte
   * is copied. The bytes are pinned until the consumer calls the deleter, on any thread, or the unused capsule is collected. A
   * buffer of V8's cannot be transferred meanwhile (from Node 24 on, ever again), and is freed when its thread ends: for a
   * consumer that may outlive the thread, pass copy: true or use shared memory.
   *
   * @param {DlpackOptions} [opts]
   * @returns {Capsule} of DLPack 1.x where maxVersion allows it, else a legacy one
   * @throws {TypeError} ERR_ARGUMENT, ERR_DTYPE bool and float8 in a legacy capsule · ERR_READ_ONLY in a legacy one · ERR_UNSUPPORTED
   * negative strides in a legacy one, a resizable buffer, or WASM · ERR_DEVICE dlDevice is another device · ERR_BUSY · ERR_DETACHED ·
   * {RangeError} ERR_BOUNDS, ERR_MEMORY
   * @see array API __dlpack__
   * @example
   * const give = (addon, t) => addon.take(t.__dlpack__({ maxVersion: [1, 0] }))
   */
  __dlpack__(opts) {
    const asked = askedOf(optionsOf(opts, OF_CAPSULE, '__dlpack__'))
    return capsuleOf(attached(this), asked)
  }

  /**
   * The device of the bytes, in DLPack's numbers.
   *
   * @returns {[type: number, id: number]} [1, 0], the CPU; [2, i], cuda:i
   * @throws ERR_DISPOSED
   * @see array API __dlpack_device__
   * @example
   * zeros([2]).__dlpack_device__() // [1, 0]
   */
  __dlpack_device__() {
    return dlDeviceOf(live(this))
  }

  /**
   * The CUDA array interface, version 3, by which CuPy, Numba and PyTorch use a tensor on a CUDA device; undefined on the CPU. A consumer
   * must keep this tensor alive, and work on the stream that is named, or wait for it. Short floats without a typestr of their
   * own are shown as unsigned integers of their size.
   *
   * @returns {CudaArrayInterface | undefined}
   * @throws ERR_DISPOSED, ERR_CUDA_CONTEXT_LOST
   * @see Numba, CUDA Array Interface
   * @example
   * zeros([2]).__cudaArrayInterface__ // undefined
   */
  get __cudaArrayInterface__() {
    const layout = live(this)
    return deviceOfStorage(layout.storage) === CPU ? undefined : arrayInterfaceOf(layout)
  }

  // ---- Elements ----

  /**
   * The place of an element.
   *
   * @param {InstanceType<typeof Layout>} layout
   * @param {unknown[]} index
   * @returns {number} elements from the storage's first byte
   */
  #offsetOf(layout, index) {
    const { shape, strides } = layout
    const n = shape.length
    if (index.length !== n) throw wrongCount(index.length, n)
    let at = layout.offset
    for (let d = 0; d < n; d++) at += inside(index[d], shape[d], d) * strides[d]
    return at
  }

  /**
   * Reads one element.
   *
   * @param {...number} index  one per axis; negative counts from the end
   * @returns {ValueOf<D>} number, boolean, bigint (64-bit integers) or [re, im]
   * @throws {RangeError} ERR_BOUNDS outside, ERR_SHAPE another count · {TypeError} ERR_ARGUMENT · ERR_DETACHED
   * @example
   * tensor([[1, 2], [3, 4]]).get(1, -1) // 4
   */
  get(...index) {
    const layout = attached(this)
    return read(layout, this.#offsetOf(layout, index))
  }

  /**
   * The element at an index; a view of the remaining axes where fewer indices are given.
   *
   * @template {PartOf<D>} [R=PartOf<D>] element or view
   * @overload
   * @param {...number} index  of the first axes; negative counts from the end
   * @returns {R}
   * @throws {RangeError} ERR_BOUNDS outside, ERR_SHAPE more than axes · {TypeError} ERR_ARGUMENT
   * @see array API, indexing by integers
   * @example
   * tensor([[1, 2], [3, 4]]).at(1).toArray() // [3, 4]
   */
  /**
   * @param {...any} index
   * @returns {any}
   */
  at(...index) {
    if (index.length === live(this).shape.length) return this.get(...index)
    return this.slice(...index.map((i, d) => integer(`index ${d}`, i)))
  }

  /**
   * Writes one element. The value must fit the dtype.
   *
   * @param {InputOf<D>} value
   * @param {...number} index  one per axis; negative counts from the end
   * @throws {TypeError} ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_BOUNDS, ERR_SHAPE · ERR_READ_ONLY, ERR_BUSY, ERR_DETACHED
   * @example
   * const t = zeros([2, 2])
   * t.set(5, 1, 0)
   * t.toArray() // [[0, 0], [5, 0]]
   */
  set(value, ...index) {
    const dtype = dtypes[live(this).dtype]
    const scalar = scalarFor(value, dtype) // getters of a pair run here, before the checks
    const layout = writable(this)
    write(layout, this.#offsetOf(layout, index), scalar)
  }

  /**
   * An object that reads and writes single elements faster than get and set: dtype and number of axes are checked once, bounds at each
   * access. It works on the tensor's bytes, and keeps the tensor alive. After resize and setData it throws ERR_STALE.
   *
   * @template {D} [E=never]
   * @param {AccessorOptions<E> | NameOf<E>} [opts]  expected dtype and number of axes
   * @returns {Accessor<Or<E, D>>} with get(...index) and set(value, ...index), as the tensor's
   * @throws {TypeError} ERR_DTYPE the dtype is another one · {RangeError} ERR_SHAPE the number of axes is · ERR_DETACHED
   * @see PyTorch accessor, ExecuTorch make_tensor_accessor
   * @example
   * const a = tensor([[1, 2], [3, 4]]).accessor({ dtype: 'float32', ndim: 2 })
   * a.set(a.get(0, 1) + 1, 1, 0)
   * a.get(1, 0) // 3
   */
  accessor(opts) {
    const { dtype, ndim } = optionsOf(opts, ['dtype', 'ndim'], 'accessor') // getters run here
    return accessorOf(this, attached(this), layoutNow, { dtype, ndim })
  }

  /**
   * The element of a tensor that has one.
   *
   * @returns {ValueOf<D>} as get
   * @throws {RangeError} ERR_SHAPE when there is another number of elements · ERR_DETACHED
   * @see PyTorch and NumPy item
   * @example
   * tensor([[7]]).item() // 7
   */
  item() {
    const layout = attached(this)
    if (layout.size !== 1) {
      throw failure('ERR_SHAPE', `the tensor has ${layout.size} elements; item() takes one`)
    }
    return read(layout, layout.offset)
  }

  /**
   * Copies the elements into nested arrays. A type knows no number of axes: `toArray<1>()` is a list of numbers there, `toArray<2>()` one of lists.
   *
   * @template {NestedOf<D> | Rank} [R=NestedOf<D>] the number of axes, or the arrays' type: 2 or number[][]
   * @returns {NestedAs<D, R>} for 0-d the element
   * @throws {RangeError} ERR_MEMORY more than the runtime's heap has room for · ERR_DETACHED
   * @see NumPy and PyTorch tolist
   * @example
   * tensor([1, 2, 3, 4], [2, 2]).toArray() // [[1, 2], [3, 4]]
   */
  toArray() {
    return nested(attached(this))
  }

  /**
   * The same as toArray.
   *
   * @template {NestedOf<D> | Rank} [R=NestedOf<D>]
   * @returns {NestedAs<D, R>}
   * @throws as toArray
   * @see NumPy and PyTorch tolist
   * @example
   * tensor([1n, 2n]).tolist() // [ 1n, 2n ]
   */
  tolist() {
    layoutNow(this)
    return /** @type {any} */ (this.toArray())
  }

  /**
   * Nested arrays for JSON.stringify; 64-bit integers are strings, because JSON has none.
   *
   * @returns {any}
   * @throws as toArray
   * @example
   * JSON.stringify(tensor([1n, 2n])) // '["1","2"]'
   */
  toJSON() {
    return nested(attached(this), true)
  }

  /**
   * Iterates over the first axis: gives views, or elements in 1-D.
   *
   * @returns {IterableIterator<PartOf<D>>}
   * @throws {RangeError} ERR_SHAPE without axes
   * @see array API and NumPy, iteration
   * @example
   * Array.from(tensor([[1, 2], [3, 4]]), row => row.toArray()) // [[1, 2], [3, 4]]
   */
  *[Symbol.iterator]() {
    const { shape } = live(this)
    if (shape.length === 0) throw noAxes()
    for (let i = 0; i < shape[0]; i++) yield shape.length === 1 ? this.get(i) : this.select(0, i)
  }

  /**
   * Iterates over the first axis as the tensor itself does, but gives views always: in 1-D tensors without axes.
   *
   * @returns {IterableIterator<Tensor<D>>} views
   * @throws {RangeError} ERR_SHAPE without axes
   * @see PyTorch, iteration
   * @example
   * const t = tensor([[1, 2], [3, 4]])
   * for (const row of t.rows()) row.fill(row.get(0))
   * t.toArray() // [[1, 1], [3, 3]]
   */
  *rows() {
    const { shape } = live(this)
    if (shape.length === 0) throw noAxes()
    for (let i = 0; i < shape[0]; i++) yield this.select(0, i)
  }

  // ---- Views ----

  /**
   * Basic slicing as in Python, one entry per axis: a number (drops the axis), '1:5', '::-1', '...', null (new axis), or
   * { start, stop, step }.
   *
   * @param {...SliceSpec} specs  for the first axes; the others stay whole
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS an index outside, ERR_SHAPE too many entries · {TypeError} ERR_ARGUMENT
   * @see array API, basic indexing
   * @example
   * tensor([1, 2, 3, 4]).slice('::2').toArray() // [1, 3]
   */
  slice(...specs) {
    const list = specs.length === 1 ? parseSlice(specs[0], 0) : parseSlices(specs)
    return view(this, ffi.viewByList(opcodes.slice, live(this), list))
  }

  /**
   * The elements at one index of an axis, which is dropped.
   *
   * @param {number} axis  negative counts from the end
   * @param {number} index  likewise
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS axis or index outside · {TypeError} ERR_ARGUMENT
   * @see PyTorch select
   * @example
   * tensor([[1, 2], [3, 4]]).select(1, 0).toArray() // [1, 3]
   */
  select(axis, index) {
    integer('axis', axis)
    integer('index', index)
    return view(this, ffi.viewByNumbers(opcodes.select, live(this), axis, index))
  }

  /**
   * A range of an axis.
   *
   * @param {number} axis  negative counts from the end
   * @param {number} start  elements; likewise
   * @param {number} length  elements
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS axis, start or length outside · {TypeError} ERR_ARGUMENT
   * @see PyTorch narrow
   * @example
   * tensor([1, 2, 3, 4]).narrow(0, 1, 2).toArray() // [2, 3]
   */
  narrow(axis, start, length) {
    integer('axis', axis)
    integer('start', start)
    integer('length', length)
    return view(this, ffi.viewByNumbers(opcodes.narrow, live(this), axis, start, length))
  }

  /**
   * Reorders axes without moving bytes.
   *
   * @param {...(number | readonly number[])} order  axes of this tensor, each once; negative counts from the end
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_SHAPE when the count differs, ERR_BOUNDS when an axis is outside or repeated · {TypeError} ERR_ARGUMENT
   * @see array API permute_dims, PyTorch permute
   * @example
   * zeros([2, 3]).permute([1, 0]).shape // [3, 2]
   */
  permute(...order) {
    /** @type {unknown} */
    let list = order[0]
    if (order.length !== 1 || typeof list === 'number') {
      const axes = []
      for (let i = 0; i < order.length; i++) axes.push(order[i]) // a copy, so that V8 need not make the rest array
      list = axes
    }
    const axes = integers('order', list)
    return view(this, ffi.viewByList(opcodes.permute, live(this), axes))
  }

  /**
   * Swaps two axes.
   *
   * @overload
   * @param {number} a  negative counts from the end
   * @param {number} b  likewise
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS an axis is outside · {TypeError} ERR_ARGUMENT
   * @see PyTorch transpose
   * @example
   * zeros([2, 3, 4]).transpose(0, -1).shape // [4, 3, 2]
   */
  /**
   * @param {number} a
   * @param {number} b
   * @returns {Tensor<D, B>}
   */
  transpose(a, b) {
    if (arguments.length > 2) {
      throw failure('ERR_ARGUMENT', 'transpose swaps two axes; permute orders all of them')
    }
    integer('a', a)
    integer('b', b)
    return view(this, ffi.viewByNumbers(opcodes.transpose, live(this), a, b))
  }

  /**
   * Moves axes to other places; the others keep their order.
   *
   * @param {number | readonly number[]} source  axes of this tensor, each once; negative counts from the end
   * @param {number | readonly number[]} destination  where each of them goes; likewise
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_SHAPE another count, ERR_BOUNDS an axis is outside or repeated · {TypeError} ERR_ARGUMENT
   * @see array API moveaxis, PyTorch movedim
   * @example
   * zeros([2, 3, 4]).moveaxis(0, -1).shape // [3, 4, 2]
   */
  moveaxis(source, destination) {
    const given = axesOf(source, 'source')
    const destinations = axesOf(destination, 'destination')
    const layout = live(this)
    return view(
      this,
      ffi.viewByList(
        opcodes.permute,
        layout,
        orderOfMove(layout.shape.length, given, destinations),
      ),
    )
  }

  /**
   * Swaps the last two axes.
   *
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_SHAPE fewer than 2 axes
   * @see array API mT
   * @example
   * zeros([2, 3, 4]).mT.shape // [2, 4, 3]
   */
  get mT() {
    const layout = live(this)
    if (layout.shape.length < 2) {
      throw failure('ERR_SHAPE', `mT is for 2 and more axes; the tensor has ${layout.shape.length}`)
    }
    return view(this, ffi.viewByNumbers(opcodes.transpose, layout, -1, -2))
  }

  /**
   * The transpose of a matrix.
   *
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_SHAPE unless 2-D
   * @see array API T
   * @example
   * tensor([[1, 2], [3, 4]]).T.toArray() // [[1, 3], [2, 4]]
   */
  get T() {
    const layout = live(this)
    const { length } = layout.shape
    if (length !== 2) throw failure('ERR_SHAPE', `T is for 2 axes; the tensor has ${length}`)
    return view(this, ffi.viewByNumbers(opcodes.transpose, layout, 0, 1))
  }

  /**
   * The same elements in the same order with another shape: a view where strides allow it, else a copy.
   *
   * @overload
   * @param {Shape} shape  extents; one -1 is inferred
   * @param {{ copy?: boolean | undefined }} [opts]  copy: false throws where a copy would be needed, true always copies
   * @returns {Tensor<D, B>} a view, or a copy with its own bytes
   * @throws {RangeError} ERR_SHAPE another number of elements, or copy: false and a copy is needed; ERR_MEMORY · {TypeError} ERR_ARGUMENT ·
   *   ERR_DETACHED a copy is needed, and the bytes are gone
   * @see array API reshape
   * @example
   * zeros([2, 3]).reshape(3, -1).shape // [3, 2]
   */
  /**
   * As above, with the extents as arguments.
   *
   * @overload
   * @param {...number} shape  extents; one -1 is inferred
   * @returns {Tensor<D, B>}
   * @throws as with a list
   */
  /**
   * @param {...any} args
   * @returns {Tensor<D, B>}
   */
  reshape(...args) {
    const last = args[args.length - 1]
    const { copy: rule } =
      args.length > 1 && isOptions(last)
        ? optionsOf(args.pop(), ['copy'], 'reshape')
        : optionsOf(undefined)
    boolean('copy', rule)
    const shape = shapeOfArguments(args)
    const layout = live(this)
    if (rule === false) return view(this, ffi.viewByList(opcodes.view, layout, shape))
    const out = ffi.reshape(layout, shape)
    if (out.storage !== ffi.nothing && rule !== true) return view(this, out)
    const target = out.storage === ffi.nothing ? out : ffi.dense(layout.dtype, out.shape)
    return wrap(copied('reshape', target, attached(this), 0))
  }

  /**
   * A view with another shape, strides, dtype or offset; never a copy.
   *
   * @template {DtypeName} [E=never]
   * @overload
   * @param {Shape | null | ViewOptions<E> | NameOf<E>} [shape]  one may be -1 and is inferred
   * @param {ViewOptions<E> | NameOf<E>} [opts]  strides: any that stay inside this tensor's bytes; offset: elements from this tensor's first one
   * @returns {Tensor<Or<E, D>>} a view
   * @throws {RangeError} ERR_SHAPE the strides allow no such view (reshape copies), ERR_BOUNDS outside, ERR_ALIGNMENT ·
   *   {TypeError} ERR_DTYPE, ERR_ARGUMENT
   * @see PyTorch view and view(dtype), ExecuTorch make_tensor_ptr over a tensor
   * @example
   * zeros([2, 3]).view([3, 2]).shape // [3, 2]
   */
  /**
   * @param {any} [shape]
   * @param {any} [opts]
   * @returns {any}
   */
  view(shape, opts) {
    if (shape !== undefined && shape !== null && opts === undefined && isOptions(shape)) {
      opts = /** @type {Record<string, any>} */ (shape)
      shape = undefined
    }
    const { dtype, strides, dimOrder, offset } = optionsOf(opts, OF_VIEW, 'view')
    const asked = {
      dtype: dtype === undefined ? undefined : dtypeOf(dtype),
      shape: shape === undefined || shape === null ? null : shapeOf(shape),
      strides: strides === undefined ? null : integers('strides', strides),
      dimOrder: dimOrder === undefined ? null : integers('dimOrder', dimOrder, 'ERR_SHAPE'),
      offset: offset === undefined ? null : integer('offset', offset),
    }
    return view(this, viewed(live(this), asked))
  }

  /**
   * Windows along an axis: the axis becomes the number of windows, and a last axis with the elements of each is added. Windows overlap
   * where step is smaller than size.
   *
   * @param {number} axis  negative counts from the end
   * @param {number} size  elements in a window
   * @param {number} step  elements from one window to the next
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS axis, size or step · {TypeError} ERR_ARGUMENT
   * @see PyTorch unfold
   * @example
   * tensor([1, 2, 3, 4]).unfold(0, 3, 1).toArray() // [[1, 2, 3], [2, 3, 4]]
   */
  unfold(axis, size, step) {
    integer('axis', axis)
    integer('size', size)
    integer('step', step)
    return view(this, ffi.viewByNumbers(opcodes.unfold, live(this), axis, size, step))
  }

  /**
   * Drops axes of one element.
   *
   * @param {number | readonly number[]} [axis]  only these, which must have one element; all such axes where not given
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_SHAPE another extent, ERR_BOUNDS an axis is outside or repeated · {TypeError} ERR_ARGUMENT
   * @see array API squeeze
   * @example
   * zeros([1, 3, 1]).squeeze().shape // [3]
   */
  squeeze(axis) {
    const axes = axis === undefined ? null : axesOf(axis)
    return view(this, ffi.viewByList(opcodes.squeeze, live(this), axes))
  }

  /**
   * Inserts axes of one element.
   *
   * @param {number | readonly number[]} axis  indices in the result; negative counts from its end
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS outside or repeated, ERR_SHAPE more than 64 axes · {TypeError} ERR_ARGUMENT
   * @see array API expand_dims, PyTorch unsqueeze
   * @example
   * zeros([3]).unsqueeze(-1).shape // [3, 1]
   * zeros([3]).unsqueeze([0, -1]).shape // [1, 3, 1]
   */
  unsqueeze(axis) {
    const axes = axesOf(axis)
    const whole = live(this)
    if (axes.length === 1) return view(this, ffi.viewByNumbers(opcodes.unsqueeze, whole, axes[0]))
    const ndim = whole.shape.length + axes.length
    const added = axesFromStart(axes, ndim, 'axis')
    let layout = ffi.viewByList(opcodes.view, whole, whole.shape)
    for (let d = 0; d < ndim; d++) {
      if (added.includes(d)) layout = ffi.viewByNumbers(opcodes.unsqueeze, layout, d)
    }
    return view(this, layout)
  }

  /**
   * Repeats axes of one element and adds leading axes, without a copy: elements appear more than once.
   *
   * @param {...(number | readonly number[])} shape  extents, or an array of them; -1 keeps an axis
   * @returns {Tensor<D, B>} a view that cannot be copied into
   * @throws {RangeError} ERR_SHAPE it does not broadcast · {TypeError} ERR_ARGUMENT
   * @see PyTorch expand, array API broadcast_to
   * @example
   * tensor([1, 2]).expand(3, -1).toArray() // [[1, 2], [1, 2], [1, 2]]
   */
  expand(...shape) {
    const extents = shapeOfArguments(shape)
    return view(this, ffi.viewByList(opcodes.broadcast_to, live(this), extents))
  }

  /**
   * The array API's name for expand.
   *
   * @param {...(number | readonly number[])} shape  extents, or an array of them; -1 keeps an axis
   * @returns {Tensor<D, B>} a view that cannot be copied into
   * @throws as expand
   * @see array API broadcast_to
   * @example
   * tensor([1, 2]).broadcastTo([2, 2]).toArray() // [[1, 2], [1, 2]]
   */
  broadcastTo(...shape) {
    layoutNow(this)
    return this.expand(...shape)
  }

  /**
   * Reverses axes.
   *
   * @param {number | readonly number[]} [axis]  all where not given
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS an axis is outside or repeated · {TypeError} ERR_ARGUMENT
   * @see array API flip
   * @example
   * tensor([1, 2, 3]).flip().toArray() // [3, 2, 1]
   */
  flip(axis) {
    const axes = axis === undefined ? null : axesOf(axis)
    return view(this, ffi.viewByList(opcodes.flip, live(this), axes))
  }

  /**
   * A diagonal of two axes, as the last axis.
   *
   * @param {number} [offset]  0 is the main diagonal; positive lies to its right
   * @param {number} [axis1]  negative counts from the end
   * @param {number} [axis2]  likewise
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS an axis is outside, or both are the same · {TypeError} ERR_ARGUMENT
   * @see NumPy and PyTorch diagonal
   * @example
   * tensor([[1, 2], [3, 4]]).diagonal().toArray() // [1, 4]
   */
  diagonal(offset = 0, axis1 = 0, axis2 = 1) {
    integer('offset', offset)
    integer('axis1', axis1)
    integer('axis2', axis2)
    return view(this, ffi.viewByNumbers(opcodes.diagonal, live(this), offset, axis1, axis2))
  }

  /**
   * A view with any shape and strides inside the storage.
   *
   * @param {Shape} shape  elements
   * @param {readonly number[]} strides  elements, one per axis; 0 repeats, negative walks back
   * @param {number} [offset]  elements from the storage's first byte, not from this tensor's first element; this tensor's
   *   offset where not given
   * @returns {Tensor<D, B>} a view
   * @throws {RangeError} ERR_BOUNDS an element would lie outside, ERR_SHAPE · {TypeError} ERR_ARGUMENT
   * @see PyTorch as_strided
   * @example
   * tensor([1, 2, 3, 4]).asStrided([3, 2], [1, 1]).toArray() // [[1, 2], [2, 3], [3, 4]]
   */
  asStrided(shape, strides, offset) {
    const extents = shapeOf(shape)
    const steps = integers('strides', strides)
    const at = offset === undefined ? live(this).offset : integer('offset', offset)
    return view(this, ffi.asStrided(live(this), extents, steps, null, at, false))
  }

  /**
   * Splits an axis into parts.
   *
   * @param {number | readonly number[]} sizeOrSizes  elements of each part, of which the last may have fewer; or a list of sizes, whose sum is the axis' extent
   * @param {number} [axis]  negative counts from the end
   * @returns {Tensor<D>[]} views
   * @throws {RangeError} ERR_SHAPE the sizes do not add up, ERR_BOUNDS, ERR_MEMORY more parts than 2^20, or than the runtime's heap has room for · {TypeError} ERR_ARGUMENT
   * @see PyTorch split
   * @example
   * tensor([1, 2, 3]).split(2).map(t => t.toArray()) // [[1, 2], [3]]
   */
  split(sizeOrSizes, axis = 0) {
    const given =
      typeof sizeOrSizes === 'number'
        ? integer('size', sizeOrSizes)
        : integers('sizes', sizeOrSizes, 'ERR_BOUNDS', MOST_PARTS)
    const extent = Tensor.#extent(this, axis)
    const sizes = Array.isArray(given) ? checkSizes(given, extent) : equalSizes(given, extent)
    return this.#parts(axis, sizes)
  }

  /**
   * Splits an axis into n parts of equal size. The last may have fewer elements, and a short axis gives fewer parts; an axis
   * without elements gives n parts without elements.
   *
   * @param {number} n  parts
   * @param {number} [axis]  negative counts from the end
   * @returns {Tensor<D>[]} views
   * @throws {RangeError} ERR_BOUNDS, ERR_MEMORY as split · {TypeError} ERR_ARGUMENT
   * @see PyTorch chunk
   * @example
   * arange(5).chunk(2).map(t => t.shape) // [[3], [2]]
   */
  chunk(n, axis = 0) {
    if (integer('n', n) < 1) throw failure('ERR_BOUNDS', `n is ${n}; at least 1 was expected`)
    const extent = Tensor.#extent(this, axis)
    const sizes = extent === 0 ? sameParts(n, 0) : equalSizes(Math.ceil(extent / n), extent)
    return this.#parts(axis, sizes)
  }

  /**
   * One view for each index of an axis, which is dropped.
   *
   * @param {number} [axis]  negative counts from the end
   * @returns {Tensor<D>[]} views
   * @throws {RangeError} ERR_BOUNDS, ERR_MEMORY as split · {TypeError} ERR_ARGUMENT
   * @see PyTorch unbind, array API unstack
   * @example
   * tensor([[1, 2], [3, 4]]).unbind(1).map(t => t.toArray()) // [[1, 3], [2, 4]]
   */
  unbind(axis = 0) {
    const sizes = sameParts(Tensor.#extent(this, axis), 1)
    this.#checkParts(sizes)
    return sizes.map((_, i) => this.select(axis, i))
  }

  /**
   * @param {Tensor} t
   * @param {number} axis
   * @returns {number} its elements
   */
  static #extent(t, axis) {
    const { shape } = live(t)
    const n = shape.length
    if (integer('axis', axis) < -n || axis >= n) {
      throw failure('ERR_BOUNDS', `axis is ${axis}; the tensor has ${n} axes`)
    }
    return shape[axis < 0 ? axis + n : axis]
  }

  /** @param {number[]} sizes  of the views to be made */
  #checkParts({ length }) {
    checkHeap(
      length * (TENSOR + 2 * ENTRY * live(this).shape.length),
      () => `${length} views; narrow or select takes one`,
    )
  }

  /**
   * @param {number} axis
   * @param {number[]} sizes
   */
  #parts(axis, sizes) {
    this.#checkParts(sizes)
    let at = 0
    return sizes.map((size) => {
      at += size
      return this.narrow(axis, at - size, size)
    })
  }

  /**
   * Is it contiguous in a memory format? Axes of one element do not matter.
   *
   * @param {MemoryFormat} [memoryFormat]  row-major where not given
   * @returns {boolean}
   * @throws {TypeError} ERR_ARGUMENT no memory format · {RangeError} ERR_SHAPE it is for another number of axes
   * @see PyTorch is_contiguous
   * @example
   * zeros([2, 3]).T.isContiguous() // false
   */
  isContiguous(memoryFormat) {
    const layout = live(this)
    const order = memoryFormat === undefined ? null : formatOf(memoryFormat, layout.shape.length)
    return order === null ? ffi.isContiguous(layout) : ffi.isContiguousIn(layout, order)
  }

  /**
   * This tensor if it is contiguous in a memory format, else a copy that is: the same shape, other strides.
   *
   * @param {MemoryFormat} memoryFormat
   * @returns {Tensor<D>}
   * @throws as isContiguous · {RangeError} ERR_MEMORY · ERR_DETACHED
   * @see PyTorch contiguous(memory_format=...)
   * @example
   * zeros([1, 3, 2, 2]).toMemoryFormat('channels_last').strides // [12, 1, 6, 3]
   */
  toMemoryFormat(memoryFormat) {
    const layout = attached(this)
    const order = formatOf(memoryFormat, layout.shape.length)
    if (order === null) return this.contiguous()
    if (ffi.isContiguousIn(layout, order)) return this
    return wrap(
      copied('toMemoryFormat', ffi.denseOrdered(layout.dtype, layout.shape, order), layout, 0),
    )
  }

  // ---- Resizing, and other bytes ----

  /**
   * Changes the shape in place: the same number of axes, in the same order in memory, over the same bytes. No element moves, and elements
   * that were cut off reappear when it grows. Beyond its capacity an 'unbound' tensor moves to a new storage: a counted copy
   * of its whole capacity, the rest uninitialised; views and `data` taken before keep the old storage. Blobs and shared memory do not move.
   *
   * @param {...(number | readonly number[])} shape  extents, or an array of them
   * @returns {this}
   * @throws {RangeError} ERR_SHAPE another rank, static, too small, gaps; ERR_MEMORY · {TypeError} ERR_ARGUMENT · ERR_BUSY, ERR_DETACHED; nothing has changed then
   * @see ExecuTorch resize_tensor_ptr
   * @example
   * zeros([4, 3]).resize(2, 3).capacity // 12
   */
  resize(...shape) {
    const extents = shapeOfArguments(shape)
    const layout = notBusy(this)
    const out = ffi.resize(layout, extents)
    if (out.storage !== ffi.nothing) {
      this.#layout = out
      return this
    }
    if (!isOurs(layout.storage)) {
      throw failure(
        'ERR_SHAPE',
        `shape [${extents.join(', ')}] needs ${out.size} elements; there is room for ${layout.capacity}, and a blob or shared memory does not move`,
      )
    }
    const { capacity } = layout
    const made = withBytes(out, layout.flags & UNBOUND, false, placementLike(layout.storage))
    written(made, () => {
      if (capacity > 0) ffi.copy(flatLayout(made, capacity), flatLayout(layout, capacity), 0)
    })
    this.#rebind(made)
    this.#base = undefined
    countCopy('resize', capacity * itemsizes[layout.dtype])
    return this
  }

  /**
   * Moves this tensor to other bytes, with its own shape and strides, from the source's first element on. Views made before keep the old
   * bytes. `base` and `owner` become the source's: the tensor is then a view of a source tensor, but not of a typed array.
   *
   * @param {Tensor<D> | DataOf<D, ArrayBufferLike>} source  contiguous, of the same dtype, with at least as many elements; a typed array must be
   *   of the type that `data` has, and is wrapped as by fromBlob
   * @returns {this}
   * @throws {TypeError} ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_BOUNDS too small, ERR_SHAPE gaps, ERR_ALIGNMENT · ERR_BUSY, ERR_DETACHED; nothing has changed then
   * @see PyTorch set_data, ExecuTorch set_data
   * @example
   * zeros([2, 2]).setData(new Float32Array([1, 2, 3, 4])).toArray() // [[1, 2], [3, 4]]
   */
  setData(source) {
    if (!Tensor.isTensor(source)) return Tensor.#setArray(this, source)
    const layout = notBusy(this)
    const from = attached(source)
    checkSameDevice(layout.storage, from.storage)
    const made = ffi.rebind(layout, from)
    made.owner = from.owner
    this.#rebind(made)
    const root = source.#root(this)
    this.#base = root === this ? undefined : root
    return this
  }

  /**
   * @template {Tensor} T
   * @param {T} t
   * @param {unknown} array
   * @returns {T}
   */
  static #setArray(t, array) {
    const type = dtypeOfArray(array)
    if (type === undefined) {
      throw failure(
        'ERR_ARGUMENT',
        `source is ${show(array)}; a tensor or typed array was expected (fromBlob makes a tensor of other bytes)`,
      )
    }
    const layout = notBusy(t)
    const dtype = dtypes[layout.dtype]
    const wanted = dtypeOfType(dtype.Type)
    if (type !== wanted) {
      throw failure(
        'ERR_DTYPE',
        `source is of ${type}; the tensor is of ${dtype.name}, whose typed array is of ${wanted}`,
      )
    }
    if (deviceOfStorage(layout.storage) !== CPU) {
      throw failure(
        'ERR_DEVICE',
        `source is in the CPU's memory; the tensor is on ${nameOfDevice(deviceOfStorage(layout.storage))}, and copyFrom copies`,
      )
    }
    const source = adoptArray(array, dtype, undefined)
    written(source, () => t.#rebind(ffi.rebind(layout, source)))
    t.#base = undefined
    return t
  }

  /**
   * Follows bases to the first one.
   *
   * @param {Tensor} stop  ends the search, so that no tensor becomes its own base
   * @returns {Tensor}
   */
  #root(stop) {
    /** @type {Tensor} */
    let root = this
    for (let base = root.#base; root !== stop && base !== undefined; base = root.#base) root = base
    return root
  }

  /**
   * Moves to another layout and its storage.
   *
   * @param {InstanceType<typeof Layout>} layout
   */
  #rebind(layout) {
    const { storage } = /** @type {InstanceType<typeof Layout>} */ (this.#layout)
    claim(layout.storage)
    layout.storage.group.count.tensors++
    this.#layout = layout
    dropStorage(storage)
  }

  // ---- Copies ----

  /**
   * A copy with its own bytes; its axes have the same order in memory.
   *
   * @template {DtypeName} [E=never]
   * @param {ResultOptions<E> | NameOf<E>} [opts]
   * @returns {Tensor<Or<E, D>>}
   * @throws {TypeError} ERR_CAST the rule forbids the cast, ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DETACHED · as copyFrom, of out
   * @see PyTorch clone, ExecuTorch clone_tensor_ptr
   * @example
   * tensor([1, 2]).clone({ dtype: 'float64' }).dtype // 'float64'
   */
  clone(opts) {
    attached(this)
    return Tensor.#copy(this, 'clone', resultOf(opts, OF_RESULT, 'clone'))
  }

  /**
   * A copy in a dtype, also if it is this tensor's.
   *
   * @template {DtypeName} E
   * @param {E} dtype
   * @param {ResultOptions<E>} [opts]
   * @returns {Tensor<E>}
   * @throws as clone
   * @see array API astype
   * @example
   * tensor([1.5, -300]).astype('int8', { casting: 'unsafe' }).toArray() // [1, -128]
   */
  astype(dtype, opts) {
    return Tensor.#copy(this, 'astype', {
      ...resultOf(opts, OF_CASTING, 'astype'),
      dtype: dtypeOf(dtype),
    })
  }

  /**
   * This tensor if it is row-major contiguous, else a copy that is.
   *
   * @overload
   * @returns {Tensor<D>}
   * @throws {RangeError} ERR_MEMORY · ERR_DETACHED
   * @see PyTorch contiguous, NumPy ascontiguousarray
   * @example
   * zeros([2, 3]).T.contiguous().strides // [2, 1]
   */
  /**
   * This tensor if it is row-major contiguous and has the dtype, else a copy that is and has.
   *
   * @template {DtypeName} [E=D]
   * @overload
   * @param {ResultOptions<E> | NameOf<E>} opts  out: always gets a copy, and is returned
   * @returns {Tensor<E>}
   * @throws {TypeError} ERR_CAST, ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DETACHED · as copyFrom, of out
   */
  /**
   * @param {ResultOptions | string} [opts]
   * @returns {any}
   */
  contiguous(opts) {
    const result = resultOf(opts, OF_RESULT, 'contiguous')
    if (result.out !== undefined) return Tensor.#copy(this, 'contiguous', result)
    const layout = attached(this)
    const dtype = result.dtype === undefined ? layout.dtype : result.dtype.index
    if (dtype === layout.dtype && ffi.isContiguous(layout)) return this
    return wrap(copied('contiguous', denseLayout(dtype, layout.shape), layout, result.casting))
  }

  /**
   * This tensor if it has the dtype and is on the device, else a copy that has and is, with its axes in the same order in memory.
   *
   * @template {DtypeName} [E=D]
   * @overload
   * @param {DeviceName} target
   * @param {ToOptions<E>} [opts]
   * @returns {Tensor<E>}
   * @throws {TypeError} ERR_CAST, ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DEVICE the device is not available, ERR_UNSUPPORTED on WASM · ERR_DETACHED · as copyFrom, of out
   * @see PyTorch to
   * @example
   * tensor([1, 2]).to('float16').dtype // 'float16'
   */
  /**
   * This tensor if it has the dtype (and is on the device, where one is given), else a copy that has and is.
   *
   * @template {DtypeName} E
   * @overload
   * @param {E | (ToOptions<E> & { dtype: E })} target  a dtype, or dtype and device
   * @param {ToOptions<E>} [opts]  copy: true always copies; out: gets the copy, and is returned
   * @returns {Tensor<E>}
   * @throws as with a device
   */
  /**
   * As above, with options that need not have a dtype.
   *
   * @template {DtypeName} [E=never]
   * @overload
   * @param {ToOptions<E> | NameOf<E>} target
   * @param {ToOptions<E>} [opts]
   * @returns {Tensor<Or<E, D>>}
   * @throws as with a device
   */
  /**
   * @param {string | ToOptions} target
   * @param {ToOptions} [opts]
   * @returns {any}
   */
  to(target, opts) {
    const asked = conversionOf(target, opts, OF_CONVERSION, 'to')
    if (isConverted(attached(this), asked)) return this
    return Tensor.#copy(this, 'to', asked)
  }

  /**
   * This tensor if it is in the CPU's memory, else a copy there.
   *
   * @template {DtypeName} [E=D]
   * @param {ToOptions<E>} [opts]
   * @returns {Tensor<E>}
   * @throws as to
   * @see PyTorch cpu
   * @example
   * zeros([2]).cpu().device // 'cpu'
   */
  cpu(opts) {
    layoutNow(this)
    return this.to(optionsOnDevice('cpu', opts, OF_MOVE, 'cpu'))
  }

  /**
   * This tensor if it is on a CUDA device, else a copy there.
   *
   * @template {DtypeName} [E=D]
   * @overload
   * @param {number} [index]  of the device, 0 where not given
   * @param {ToOptions<E>} [opts]
   * @returns {Tensor<E>}
   * @throws as to
   * @see PyTorch cuda
   * @example
   * const move = t => t.cuda(1) // the same as t.to('cuda:1')
   */
  /**
   * @param {number} [index]
   * @param {ToOptions} [opts]
   * @returns {any}
   */
  cuda(index = 0, opts) {
    layoutNow(this)
    return this.to(optionsOnDevice(`cuda:${integer('index', index)}`, opts, OF_MOVE, 'cuda'))
  }

  /**
   * `to` without blocking the event loop: on another thread, or in turns of the loop.
   *
   * @template {DtypeName} [E=D]
   * @overload
   * @param {DeviceName} target
   * @param {ToAsyncOptions<E>} [opts]
   * @returns {Promise<Tensor<E>>}
   * @throws as to and copyFromAsync, as rejections
   * @see PyTorch to(non_blocking=True)
   * @example
   * (await tensor([1, 2]).toAsync('float64')).dtype // 'float64'
   */
  /**
   * As above, with a dtype, or dtype and device.
   *
   * @template {DtypeName} E
   * @overload
   * @param {E | (ToAsyncOptions<E> & { dtype: E })} target  a dtype, or dtype and device
   * @param {ToAsyncOptions<E>} [opts]  signal: cancels the copy
   * @returns {Promise<Tensor<E>>}
   * @throws as with a device
   */
  /**
   * As above, with options that need not have a dtype.
   *
   * @template {DtypeName} [E=never]
   * @overload
   * @param {ToAsyncOptions<E> | NameOf<E>} target
   * @param {ToAsyncOptions<E>} [opts]
   * @returns {Promise<Tensor<Or<E, D>>>}
   * @throws as with a device
   */
  /**
   * @param {string | ToAsyncOptions} target
   * @param {ToAsyncOptions} [opts]
   * @returns {Promise<any>}
   */
  async toAsync(target, opts) {
    const { signal, ...asked } = conversionOf(target, opts, OF_LATER, 'toAsync')
    const { dtype, casting, out, device } = asked
    checkSignal(signalOf(signal)) // where nothing is copied as well
    const layout = attached(this)
    if (isConverted(layout, asked)) return this
    const flags = layout.flags & (STATIC | UNBOUND)
    const made =
      out ?? wrap(withBytes(likeOf(layout, dtype), flags, false, placementFor(layout, device)))
    try {
      if (out !== undefined) {
        const layoutOfOut = writable(out)
        checkOut(layoutOfOut, layout.shape, dtype)
        checkDeviceOfOut(layoutOfOut, device)
      }
      return await made.copyFromAsync(this, { casting: CASTINGS[casting], signal })
    } catch (error) {
      if (out === undefined) made.dispose()
      throw error
    }
  }

  /**
   * `cpu` without blocking the event loop, as toAsync.
   *
   * @template {DtypeName} [E=D]
   * @param {ToAsyncOptions<E>} [opts]
   * @returns {Promise<Tensor<E>>}
   * @throws as toAsync
   * @example
   * (await zeros([2]).cpuAsync()).device // 'cpu'
   */
  async cpuAsync(opts) {
    layoutNow(this)
    return this.toAsync(optionsOnDevice('cpu', opts, OF_LATER_MOVE, 'cpuAsync'))
  }

  /**
   * `cuda` without blocking the event loop, as toAsync.
   *
   * @template {DtypeName} [E=D]
   * @overload
   * @param {number} [index]  of the device, 0 where not given
   * @param {ToAsyncOptions<E>} [opts]
   * @returns {Promise<Tensor<E>>}
   * @throws as toAsync
   * @example
   * const move = async t => await t.cudaAsync(1)
   */
  /**
   * @param {number} [index]
   * @param {ToAsyncOptions} [opts]
   * @returns {Promise<any>}
   */
  async cudaAsync(index = 0, opts) {
    layoutNow(this)
    return this.toAsync(
      optionsOnDevice(`cuda:${integer('index', index)}`, opts, OF_LATER_MOVE, 'cudaAsync'),
    )
  }

  /**
   * This tensor if it is in pinned memory, else a copy there: page-locked memory of the CPU, from and to which devices copy at the
   * speed of the link, and which they can access at its address.
   *
   * @returns {Tensor<D>} on the CPU
   * @throws ERR_UNSUPPORTED no CUDA, or WASM · ERR_DEVICE the tensor is on a device · {RangeError} ERR_MEMORY · ERR_DETACHED
   * @see PyTorch pin_memory
   * @example
   * const sent = t => t.pinMemory().cuda()
   */
  pinMemory() {
    const layout = attached(this)
    if (deviceOfStorage(layout.storage) !== CPU) {
      throw failure(
        'ERR_DEVICE',
        `the tensor is on ${nameOfDevice(deviceOfStorage(layout.storage))}; the CPU's memory is pinned, and cpu() copies it there`,
      )
    }
    if (isPinned(layout.storage)) return this
    return wrap(copied('pinMemory', likeOf(layout), layout, 0, placementOf(undefined, true)))
  }

  /**
   * Resolves when all device work queued so far on the bytes is done; at once for the CPU's ordinary memory. Reading a tensor on a device
   * waits by itself, but reading pinned memory does not wait for kernels that write it.
   *
   * @returns {Promise<this>}
   * @throws ERR_DISPOSED, ERR_CUDA_CONTEXT_LOST, errors of that work; as rejections
   * @example
   * (await zeros([2]).ready()).toArray() // [0, 0]
   */
  async ready() {
    const layout = live(this)
    if (layout.storage.optional !== null) await ready(layout)
    return this
  }

  /**
   * A copy in memory that other threads can share.
   *
   * @returns {Tensor<D>}
   * @throws {RangeError} ERR_MEMORY · ERR_DETACHED
   * @see PyTorch share_memory_, which works in place
   * @example
   * zeros([2]).shareMemory().isShared // true
   */
  shareMemory() {
    const layout = attached(this)
    const placement = { device: deviceOfStorage(layout.storage), pinned: false, shared: true }
    return wrap(copied('shareMemory', likeOf(layout), layout, 0, placement))
  }

  /**
   * @param {Tensor} t
   * @param {string} reason
   * @param {Result & { device?: number }} result  device: undefined keeps the tensor's
   */
  static #copy(t, reason, { dtype, casting, out, device }) {
    const layout = attached(t)
    if (out !== undefined) {
      const target = writable(out)
      checkDeviceOfOut(target, device ?? deviceOfStorage(layout.storage))
      copiedInto(reason, target, dtype, layout, casting)
      return out
    }
    return wrap(
      copied(reason, likeOf(layout, dtype), layout, casting, placementFor(layout, device)),
    )
  }

  // ---- Repeating and reordering elements ----

  /**
   * Repeats the whole tensor along each axis.
   *
   * @template {DtypeName} [E=never]
   * @param {number | readonly number[]} reps  how often per axis, aligned at the last one; more entries than axes add leading axes
   * @param {ResultOptions<E> | NameOf<E>} [opts]
   * @returns {Tensor<Or<E, D>>} a copy
   * @throws {RangeError} ERR_SHAPE a negative number, or too large a result; ERR_MEMORY · {TypeError} ERR_CAST, ERR_ARGUMENT · as copyFrom, of out
   * @see array API tile
   * @example
   * tensor([1, 2]).tile(2).toArray() // [1, 2, 1, 2]
   */
  tile(reps, opts) {
    const times = typeof reps === 'number' ? [integer('reps', reps)] : integers('reps', reps)
    const result = resultOf(opts, OF_RESULT, 'tile')
    checkCounts('reps', times)
    return produced('tile', rearrange().tile(attached(this), times), result)
  }

  /**
   * Repeats each element.
   *
   * @template {DtypeName} [E=never]
   * @param {number | ArrayLike<number> | Tensor} repeats  how often: one number for all, or one per index of the axis
   * @param {AxisOptions<E> | NameOf<E>} [opts]  axis: where not given, the tensor is flattened first
   * @returns {Tensor<Or<E, D>>} a copy
   * @throws {RangeError} ERR_SHAPE another count, or a negative one, ERR_BOUNDS axis · as tile
   * @see array API repeat
   * @example
   * tensor([[1, 2], [3, 4]]).repeat([1, 2], { axis: 0 }).toArray() // [[1, 2], [3, 4], [3, 4]]
   */
  repeat(repeats, opts) {
    const options = optionsOf(opts, ALONG, 'repeat')
    const { axis: along } = options
    const result = resultIn(options)
    const axis = along === undefined || along === null ? null : integer('axis', along)
    const list = Tensor.isTensor(repeats) ? integersOf('repeats', repeats) : repeats
    const counts =
      typeof list === 'number' ? integer('repeats', list) : integerList('repeats', list)
    checkCounts('repeats', typeof counts === 'number' ? [counts] : counts)
    return produced('repeat', rearrange().repeat(attached(this), counts, axis), result)
  }

  /**
   * Moves elements along axes; those moved beyond one end reappear at the other.
   *
   * @template {DtypeName} [E=never]
   * @param {number | readonly number[]} shift  elements; negative moves towards the start
   * @param {number | readonly number[] | null | RollOptions<E> | NameOf<E>} [axis]  one for each shift; where not given, the flattened elements are moved
   *   and the shape is kept
   * @param {RollOptions<E> | NameOf<E>} [opts]
   * @returns {Tensor<Or<E, D>>} a copy
   * @throws {RangeError} ERR_BOUNDS axis, ERR_SHAPE another count, ERR_MEMORY · {TypeError} ERR_CAST, ERR_ARGUMENT · as copyFrom, of out
   * @see array API roll
   * @example
   * tensor([1, 2, 3]).roll(1).toArray() // [3, 1, 2]
   */
  roll(shift, axis, opts) {
    const { along, asked } = axisAndOptions(axis, opts, 'roll')
    const shifts = axesOf(shift, 'shift')
    const axes = along === undefined || along === null ? null : axesOf(along)
    const result = resultOf(asked)
    return produced('roll', rearrange().roll(attached(this), shifts, axes), result)
  }

  /**
   * Takes the elements at given indices of an axis, in the order of the indices, which may repeat.
   *
   * @template {DtypeName} [E=never]
   * @param {ArrayLike<number | bigint> | Tensor} indices  integers along one axis; negative counts from the end
   * @param {number | null | AxisOptions<E> | NameOf<E>} [axis]  where not given, the tensor is flattened first
   * @param {AxisOptions<E> | NameOf<E>} [opts]
   * @returns {Tensor<Or<E, D>>} a copy
   * @throws {RangeError} ERR_BOUNDS an index or the axis is outside (nothing is written then), ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_DTYPE
   *   indices are no integers, ERR_CAST · as copyFrom, of out
   * @see array API take
   * @example
   * tensor([10, 20, 30]).take([2, 0, -1]).toArray() // [30, 10, 30]
   */
  take(indices, axis, opts) {
    const { along, asked } = axisAndOptions(axis, opts, 'take')
    const result = resultOf(asked)
    const d = along === undefined || along === null ? null : integer('axis', along)
    const list = Tensor.isTensor(indices) ? null : indicesOf('indices', indices)
    const layout = attached(this)
    const from = list ?? attached(/** @type {Tensor} */ (indices))
    if (list === null) checkSameDevice(layout.storage, from.storage)
    return produced('take', rearrange().take(layout, from, d), result)
  }

  /**
   * An image of a tensor of shape (height, width) or (height, width, 1, 3 or 4): grey, RGB or RGBA. Of uint8 as it is; of any real dtype
   * with options: min becomes 0 and max 255, what is outside is clamped, and NaN is 0.
   *
   * @param {ImageDataOptions} [opts]  min, max: 0 and 1 where they are not given. colormap: 2 to 256 colours [red, green, blue], or these and alpha, of 0 to 255, in lists, typed arrays or a tensor, from min's
   *   to max's, between which the numbers of a (height, width) tensor are interpolated
   * @returns {Picture} a copy; an ImageData where the runtime has that class
   * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
   * @example
   * full([1, 1, 3], 7, 'uint8').toImageData().data // Uint8ClampedArray(4) [ 7, 7, 7, 255 ]
   * tensor([[0.5]]).toImageData({ max: 1 }).data // Uint8ClampedArray(4) [ 128, 128, 128, 255 ]
   */
  toImageData(opts) {
    const { imageOfLayout, imageOfLevels, levelsOf } = images()
    if (typeof opts === 'string') {
      throw failure('ERR_ARGUMENT', `options is ${show(opts)}; an object was expected`)
    }
    const { min, max, colormap } = optionsOf(opts, OF_IMAGE_DATA, 'toImageData')
    const levels = opts === undefined ? null : levelsOf(min, max, colormap)
    const layout = attached(this)
    const scaling = levels && scalingOf(levels.scale, levels.bias, undefined, layout.shape)
    const image =
      levels === null ? imageOfLayout(layout) : imageOfLevels(layout, scaling, levels.table)
    countCopy('toImageData', 4 * image.width * image.height)
    return /** @type {any} */ (image)
  }

  /**
   * Copies into this tensor; broadcasts, casts and scales on the way.
   *
   * @param {CopySource} src
   *   a value, tensor or nested list, which is broadcast; a typed array or flat list with as many elements as this tensor, in
   *   row-major order; an ImageData or a canvas for (height, width, 4), or (height, width, 3) without alpha: bytes, or half floats of 0 to 1; an AudioBuffer for
   *   (channels, frames). Back to an AudioBuffer: fromBlob(buffer.getChannelData(c)).copyFrom(t.select(0, c))
   * @param {CopyOptions} [opts]  scale and bias: x * scale + bias, each one number (or a tensor without axes), or one per index of this tensor's axis, in a list or tensor. stream: of
   *   the device of this tensor, else of src; copies from or to the CPU are complete when this returns
   * @returns {this}
   * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_CAST, ERR_DTYPE, ERR_ARGUMENT · ERR_UNSUPPORTED the canvas cannot be read · ERR_OVERLAP (two elements of this share a byte),
   *   ERR_READ_ONLY, ERR_BUSY, ERR_DETACHED
   * @see PyTorch copy_, NumPy copyto
   * @example
   * zeros([2, 2]).copyFrom([1, 2], { scale: 0.5 }).toArray() // [[0.5, 1], [0.5, 1]]
   */
  copyFrom(src, opts) {
    const { casting: rule, scale, bias, axis, stream } = optionsOf(opts, OF_COPY, 'copyFrom')
    const casting = castingOf(rule)
    const scaling = scalingOf(scale, bias, axis, live(this).shape)
    if (stream !== undefined) {
      const on = Tensor.#streamOf(this, stream, src)
      return withStream(on, () => this.copyFrom(src, { casting: rule, scale, bias, axis }))
    }
    const isTensor = Tensor.isTensor(src) // first, because it is the most frequent, and isVideoFrame throws internally for others
    if (!isTensor && isVideoFrame(src)) {
      throw failure(
        'ERR_ARGUMENT',
        'src is a VideoFrame, which takes time to read; copyFromAsync copies it',
      )
    }
    const channels = isTensor ? null : channelsOf(src, live(this).shape)
    if (channels !== null) {
      const { copyRows } = rowCopies()
      const dst = writable(this)
      if (copyRows({ dst, scaling, casting }, channels)) {
        countCopy('copyFrom', dst.nbytes)
        return this
      }
    }
    const image = isTensor ? null : imageOf(src)
    const source = isTensor ? attached(src) : sourceOf(src, image, live(this))
    try {
      const layout = writable(this)
      copyElements(layout, source, scaling, casting)
      countCopy('copyFrom', layout.nbytes)
    } finally {
      if (!isTensor) backend.release(source.storage)
    }
    return this
  }

  /**
   * @param {Tensor} t
   * @param {unknown} stream  the option
   * @param {unknown} src
   */
  static #streamOf(t, stream, src) {
    if (stream === undefined) return null
    const there = deviceOfStorage(live(t).storage)
    const isOfSource = there === CPU && Tensor.isTensor(src)
    return streamOf(stream, isOfSource ? deviceOfStorage(live(src).storage) : there)
  }

  /**
   * copyFrom without blocking the event loop: on another thread where neither side's memory can move (shared memory,
   * addresses), else in turns of the loop. Arguments are checked at the call; errors reject the promise. Until it settles, both sides'
   * bytes are kept, and samebytes' writers throw ERR_BUSY for tensors on either storage; reading is allowed.
   *
   * @param {CopySource | Frame} src  as copyFrom; typed arrays, a tensor's `data` too, are read until the promise settles, and writing to them meanwhile is not refused. A VideoFrame is copied as an ImageData of its
   *   visible part, and may be closed at once; the browser writes it straight into contiguous (height, width, 4) uint8
   * @param {CopyAsyncOptions} [opts]  signal: if it aborts, what was copied so far stays
   * @returns {Promise<this>}
   * @throws as copyFrom · ERR_BUSY a side is in use, or is being written · ERR_DETACHED a buffer went away
   *   meanwhile, a VideoFrame was closed · ERR_UNSUPPORTED the browser does not read such a frame · the signal's reason
   * @example
   * const target = zeros([2, 2])
   * await target.copyFromAsync(tensor([[1, 2], [3, 4]]).T, { signal: AbortSignal.timeout(1000) })
   * target.toArray() // [[1, 3], [2, 4]]
   */
  async copyFromAsync(src, opts) {
    const options = optionsOf(opts, OF_LATER_COPY, 'copyFromAsync')
    const { casting: rule, scale, bias, axis, signal: given, stream } = options
    const signal = signalOf(given)
    checkSignal(signal)
    const casting = castingOf(rule)
    const { copyAsync } = asyncCopies()
    const scaling = scalingOf(scale, bias, axis, live(this).shape)
    const isTensor = Tensor.isTensor(src)
    const on = Tensor.#streamOf(this, stream, src)
    if (!isTensor && (isVideoFrame(src) || isAudioBuffer(src))) {
      await copyMedia(src, () => writable(this), { scaling, casting, signal })
      return this
    }
    const image = isTensor ? null : imageOf(src)
    const source = isTensor ? attached(src) : sourceOf(src, image, live(this))
    const array = image === null ? src : image.data
    const isArray = dtypeOfArray(array) !== undefined
    try {
      if (isArray) source.storage = kept(source.storage, array)
      const layout = writable(this)
      const copy = { dst: layout, src: source, scaling, casting }
      await copyAsync(copy, !isArray && !isTensor, signal, on)
      countCopy('copyFromAsync', layout.nbytes)
    } finally {
      if (!isTensor) backend.release(source.storage)
    }
    return this
  }

  /**
   * Writes one value to every element. The value must fit the dtype.
   *
   * @param {InputOf<D>} value
   * @returns {this}
   * @throws {TypeError} ERR_CAST, ERR_ARGUMENT · ERR_READ_ONLY, ERR_BUSY, ERR_DETACHED
   * @see PyTorch fill_
   * @example
   * zeros([2], 'int64').fill(5n).toArray() // [ 5n, 5n ]
   */
  fill(value) {
    const scalar = scalarFor(value, dtypes[live(this).dtype])
    ffi.fill(writable(this), scalar)
    return this
  }

  /**
   * Writes zero to every element.
   *
   * @returns {this}
   * @throws ERR_READ_ONLY, ERR_BUSY, ERR_DETACHED
   * @see PyTorch zero_
   * @example
   * ones([2]).zero().toArray() // [0, 0]
   */
  zero() {
    ffi.fill(writable(this), false)
    return this
  }

  // ---- Lifetime ----

  /**
   * Releases this tensor's bytes. They are freed when no view of them and no `data` taken before is left. The tensor then throws
   * ERR_DISPOSED; a second dispose does nothing. Never throws.
   *
   * @example
   * const t = zeros([2])
   * t.dispose()
   * t.isDisposed // true
   */
  dispose() {
    const layout = layoutNow(this)
    if (layout === null) return
    this.#layout = null
    this.#base = undefined
    dropStorage(layout.storage)
  }

  /** What `using` calls: dispose(). */
  [DISPOSE]() {
    layoutNow(this)
    this.dispose()
  }

  // ---- As text ----

  /**
   * The tensor as PyTorch prints it.
   *
   * @returns {string}
   * @throws ERR_DETACHED · {RangeError} ERR_MEMORY
   * @see PyTorch, printing of tensors
   * @example
   * String(tensor([1, 2])) // 'tensor([1., 2.])'
   */
  toString() {
    return printed(this, false)
  }

  /**
   * What JavaScript's operators take a tensor for: its element where numbers are wanted (`t > 3`, `t * 2`, `Number(t)`), else text.
   * A condition is no operator: `if (t)` is true whatever the tensor has.
   *
   * @param {string} hint
   * @returns {any} as item, or toString
   * @throws as item, or toString
   * @example
   * tensor([7]) > 3 // true
   */
  [Symbol.toPrimitive](hint) {
    attached(this) // which may be none
    return hint === 'number' ? this.item() : this.toString()
  }

  /**
   * For console.log, which must not throw: as toString, but of more than 1000 elements in fewer lines, with shape and dtype.
   *
   * @param {number} [depth]  how much deeper lists and objects are shown
   * @returns {string}
   */
  [INSPECT](depth = 0) {
    if (typeof depth === 'number' && depth < 0) return '[Tensor]'
    try {
      return this.toString === toString ? printed(this, true) : this.toString()
    } catch (/** @type {any} */ error) {
      // a subclass's toString may throw anything
      const code = error?.code
      if (code === 'ERR_DISPOSED') return 'tensor(disposed)'
      if (code === 'ERR_DETACHED') return 'tensor(detached)'
      if (code === 'ERR_CUDA_CONTEXT_LOST') {
        return `tensor(lost, device='${nameOfDevice(deviceOfStorage(live(this).storage))}')`
      }
      const message = error?.message
      return `[Tensor: ${typeof message === 'string' ? message : show(error)}]`
    }
  }

  /** None: for Jest. @returns {string[]} @ignore */
  get [JEST_COPIES]() {
    return []
  }

  /**
   * The tag of Object.prototype.toString, which assert.deepStrictEqual and Chai compare: dtype, shape and a hash of the content. A tensor of
   * more than 16 MiB has no hash, because loggers and React in development ask for the tag as well: it equals no other tensor there,
   * and arrayEqual compares. Never throws.
   *
   * @returns {string}
   */
  get [Symbol.toStringTag]() {
    const layout = Tensor.isTensor(this) ? this.#layout : undefined
    if (layout === undefined) return 'Tensor' // the prototype, or an object that inherits from it
    if (layout === null) return 'Tensor(disposed)'
    const what = `${dtypes[layout.dtype].name}[${layout.shape.join(',')}]`
    try {
      return `Tensor(${what}#${hashOf(layout)})`
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code === 'ERR_DETACHED') {
        return `Tensor(${what}, detached)`
      }
      return `Tensor(${what}, not hashed ${++unhashed})` // too large, or no memory for it: equals no other tensor
    }
  }
}

const MOST_HASHED = 2 ** 24 // bytes; takes 1 to 5 ms

/** Programs may put another one in its place. */
const { toString } = Tensor.prototype

/** @param {Tensor} t @param {boolean} isInspected */
function printed(t, isInspected) {
  const { print } = printing()
  const layout = attached(t)
  const { name, kind } = dtypes[layout.dtype]
  return print(
    layout,
    { dtype: name, kind, device: nameOfDevice(deviceOfStorage(layout.storage)), isInspected },
    { Layout, nested, checkHeap },
  )
}

/**
 * A hash of the content. Of an expanded view with too many elements each is read once: expand([2 ** 52]) equals another expand of the
 * same elements, but no tensor of that shape made in another way.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {string}
 */
function hashOf(layout) {
  const { storage, dtype, shape, strides, offset } = layout
  const most = MOST_HASHED / itemsizes[dtype]
  if (layout.size <= most) return ffi.hash(layout)
  const once = shape.map((extent, d) => (strides[d] === 0 ? 1 : extent))
  const size = once.reduce((n, extent) => n * extent, 1)
  if (size > most) {
    throw failure('ERR_MEMORY', `${size} elements are too many to hash; ${most} are possible`)
  }
  return `${ffi.hash(new Layout(storage, dtype, once, strides, offset, size, 0))} of [${once.join(',')}]`
}

/**
 * Uncounts a tensor and drops its claim on the storage.
 *
 * @param {import('../backend/storage').Storage} storage
 */
function dropStorage(storage) {
  storage.group.count.tensors--
  unclaim(storage, backend)
}

/**
 * Did samebytes allocate the bytes, and are they neither shared nor known to others by address? Then resize may move them.
 *
 * @param {import('../backend/storage').Storage} storage
 */
function isOurs({ kind, optional }) {
  return (
    kind === 'v8' ||
    ((kind === 'wasm' || kind === 'cuda') &&
      optional !== null &&
      optional.handle !== 0 &&
      !optional.stays)
  )
}

/**
 * A 1-D layout over the first elements in memory.
 *
 * @param {InstanceType<typeof Layout>} layout  contiguous
 * @param {number} size
 */
const flatLayout = ({ storage, dtype, offset }, size) =>
  new Layout(storage, dtype, [size], [1], offset, size, 0)

/**
 * The order of axes for a permute that moves some of them.
 *
 * @param {number} ndim
 * @param {number[]} source
 * @param {number[]} destination
 * @returns {number[]}
 */
function orderOfMove(ndim, source, destination) {
  if (source.length !== destination.length) {
    throw failure(
      'ERR_SHAPE',
      `source has ${source.length} axes, destination ${destination.length}; as many were expected`,
    )
  }
  const from = axesFromStart(source, ndim, 'source')
  const to = axesFromStart(destination, ndim, 'destination')
  let next = 0
  return arrayOf(ndim, (d) => {
    const i = to.indexOf(d)
    if (i >= 0) return from[i]
    while (from.includes(next)) next++
    return next++
  })
}

const noAxes = () => failure('ERR_SHAPE', 'a tensor without axes cannot be iterated over')

// ---- Results, in new tensors or in `out` ----

/** @typedef {{ dtype: Dtype | undefined, casting: number, out: Tensor | undefined, device?: number }} Result ResultOptions, read and checked */

// What the options of methods may name.
const OF_CAPSULE = ['maxVersion', 'copy', 'dlDevice', 'stream']
const OF_VIEW = ['strides', 'dimOrder', 'dtype', 'offset']
const OF_IMAGE_DATA = ['min', 'max', 'colormap']
const OF_CASTING = ['casting', 'out']
const OF_MOVE = ['dtype', 'casting', 'copy', 'out']
const OF_LATER_MOVE = ['dtype', 'casting', 'copy', 'out', 'signal']
const OF_CONVERSION = ['dtype', 'device', 'casting', 'copy', 'out']
const OF_LATER = ['dtype', 'device', 'casting', 'copy', 'out', 'signal']
const OF_COPY = ['casting', 'scale', 'bias', 'axis', 'stream']
const OF_LATER_COPY = ['casting', 'scale', 'bias', 'axis', 'stream', 'signal']

/** @type {Result} */
const NO_OPTIONS = { dtype: undefined, casting: 1, out: undefined, device: undefined }

/**
 * @param {unknown} opts
 * @param {readonly string[]} [names]  of options; any where none are given
 * @param {string} [where]  the function
 * @returns {Result}
 */
const resultOf = (opts, names, where) =>
  opts === undefined ? NO_OPTIONS : resultIn(optionsOf(opts, names, where))

/**
 * @param {Record<string, any>} options
 * @returns {Result}
 */
function resultIn({ dtype: name, casting: rule, out }) {
  if (out !== undefined) tensorOf(out, 'out')
  return {
    dtype: name === undefined ? undefined : dtypeOf(name),
    casting: castingOf(rule),
    out,
    device: undefined,
  }
}

/**
 * Reads the arguments of `to`.
 *
 * @param {unknown} target
 * @param {unknown} opts
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {Conversion & { signal: any }}
 */
function conversionOf(target, opts, names, where) {
  const isNamed = typeof target === 'string'
  if (!isNamed && opts !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      `target is ${show(target)}, and options were given as well; one of them was expected`,
    )
  }
  const given = isNamed ? opts : (target ?? null)
  const known = Tensor.isTensor(target) ? undefined : names // a tensor has a dtype and a device
  const { dtype, device, casting, copy, out, signal } = optionsOf(given, known, where)
  const isTargetDevice = isDevice(target)
  const twice = !isNamed ? undefined : isTargetDevice ? device : dtype
  if (twice !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      `target is ${show(target)}, and the option ${isTargetDevice ? 'device' : 'dtype'} ${show(twice)}; one of them was expected`,
    )
  }
  const asked = isTargetDevice ? target : device
  const at = asked === undefined ? undefined : deviceOf(asked)
  const result = resultOf({ dtype: isNamed && !isTargetDevice ? target : dtype, casting, out })
  return { ...result, copy: boolean('copy', copy), device: at, signal }
}

/**
 * The options of `cpu` and `cuda` as those of `to`.
 *
 * @param {string} device
 * @param {unknown} opts
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {any}
 */
function optionsOnDevice(device, opts, names, where) {
  const { dtype, casting, copy, out, signal } = optionsOf(opts, names, where)
  return { device, dtype, casting, copy, out, signal }
}

/** @typedef {Omit<Result, 'device'> & { copy: boolean, device: number | undefined }} Conversion */

/**
 * Has a tensor already the dtype and device that `to` was asked for?
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {Conversion} asked
 */
function isConverted({ dtype, storage }, asked) {
  return (
    asked.out === undefined &&
    !asked.copy &&
    (asked.dtype === undefined || asked.dtype.index === dtype) &&
    (asked.device === undefined || asked.device === deviceOfStorage(storage))
  )
}

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number | undefined} device  undefined: the layout's
 */
function placementFor({ storage }, device) {
  if (device === undefined) return placementLike(storage)
  return device === CPU ? HOST : { device, pinned: false, shared: false }
}

/**
 * @param {InstanceType<typeof Layout>} out
 * @param {number | undefined} device  undefined: any
 * @throws ERR_DEVICE
 */
function checkDeviceOfOut({ storage }, device) {
  const there = deviceOfStorage(storage)
  if (device !== undefined && there !== device) {
    throw failure(
      'ERR_DEVICE',
      `out is on ${nameOfDevice(there)}; the result was to be on ${nameOfDevice(device)}, and cpu() or to() bring it elsewhere`,
    )
  }
}

/**
 * Writes a recipe's result into a new tensor or into `out`.
 *
 * @param {string} reason
 * @param {import('../copy/recipes').Recipe} recipe
 * @param {Result} result
 * @returns {Tensor}
 */
function produced(reason, recipe, { dtype, casting, out }) {
  const to = out === undefined ? null : writable(out)
  const layout = results.produced(reason, recipe, to, dtype, casting)
  return out ?? wrap(layout)
}

/**
 * The elements of an integer tensor with at most one axis.
 *
 * @param {string} name  of the argument, for messages
 * @param {Tensor} t
 * @returns {any[]}
 */
function integersOf(name, t) {
  const layout = attached(t)
  const { kind, name: dtype } = dtypes[layout.dtype]
  const { length } = layout.shape
  if (kind !== 'SIGNED' && kind !== 'UNSIGNED') {
    throw failure('ERR_DTYPE', `${name} is ${dtype}; integers were expected`)
  }
  if (length > 1) throw failure('ERR_SHAPE', `${name} has ${length} axes; one was expected`)
  return length === 0 ? [nested(layout)] : nested(layout)
}

/** @param {unknown} value @returns {string | null} for messages; null: it is no tensor */
function describe(value) {
  if (!Tensor.isTensor(value)) return null
  const layout = layoutNow(value)
  return layout === null
    ? 'a disposed tensor'
    : `a tensor of ${dtypes[layout.dtype].name} and shape [${layout.shape.join(', ')}]`
}

learnTensors({
  describe,
  layoutOf: (value) => (Tensor.isTensor(value) ? attached(value) : null),
  nested,
})

Object.defineProperty(Tensor.prototype, BRAND, { value: COPY })

module.exports = { Tensor, wrap, tensorOf, resultOf, resultIn, produced, checkDeviceOfOut }
