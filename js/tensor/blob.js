'use strict'
// fromBlob and forBlob: tensors over the caller's bytes: buffers, addresses, records. Never copies.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { isUntransferable } = require('../runtime/host')
const {
  show,
  receiver,
  boolean,
  integer,
  integers,
  shapeOf,
  optionsOf,
  isOptions,
  ownFields,
} = require('../base/validate')
const { claim, CPU, deviceOfStorage, nameOfDevice } = require('../backend/storage')
const {
  dtypeOfArray,
  dtypeOfType,
  isArrayBuffer,
  isSharedArrayBuffer,
  byteLengthOf,
  isView,
  transferred,
} = require('../base/buffers')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { deviceOf, placementOf } = require('../layout/placement')
const {
  axesOfOrder,
  dynamismOf,
  bufferRangeOf,
  adoptArray,
  viewed,
  inherit,
} = require('../layout/layouts')
const records = require('../layout/data')
const { Tensor, wrap } = require('./tensor')

const { backend, Layout, READ_ONLY, STATIC, UNBOUND } = ffi

const EXPECTED = 'a typed array, ArrayBuffer, SharedArrayBuffer, DataView or address'

/** PyTorch's names of dtypes, which records may use @type {Map<unknown, string>} */
const TORCH_NAMES = new Map(
  Object.entries({
    byte: 'uint8',
    char: 'int8',
    short: 'int16',
    int: 'int32',
    long: 'int64',
    half: 'float16',
    float: 'float32',
    double: 'float64',
    cfloat: 'complex64',
    cdouble: 'complex128',
  }),
)

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { DtypeName, NameOf, Or, Shape, Dynamism, DeviceName, Blob, BlobSource, BlobOptions, BufferOf, DtypeOfSource } from '../base/types' */

const OF_BLOB = [
  'dtype',
  'strides',
  'dimOrder',
  'offset',
  'nbytes',
  'owner',
  'deleter',
  'borrowed',
  'transfer',
  'readOnly',
  'dynamism',
  'device',
]

/**
 * fromBlob's options, read and checked. No code of the caller's runs after this.
 *
 * @typedef {object} Given
 * @property {string | undefined} dtype
 * @property {number[] | null} shape
 * @property {number[] | null} strides
 * @property {number[] | null} dimOrder
 * @property {number | null} offset
 * @property {number | undefined} nbytes
 * @property {unknown} owner  undefined: none
 * @property {Function | undefined} deleter
 * @property {boolean} borrowed
 * @property {boolean} transfer
 * @property {boolean} readOnly
 * @property {number | undefined} dynamism  a flag of a Layout
 * @property {number | undefined} device  undefined: not given
 */

/**
 * The bytes of a buffer or view, and the dtype that it implies.
 *
 * @param {unknown} source
 * @param {string | undefined} asked  the option dtype
 * @returns {import('../layout/layouts').Bytes & { dtype: string | undefined }}
 */
function bytesOfSource(source, asked) {
  const dtype = dtypeOfArray(source)
  // Pairs for complex and bits for short floats are what those dtypes' own typed arrays hold.
  if (
    dtype !== undefined &&
    asked !== undefined &&
    dtype !== 'uint8' &&
    dtypeOfType(dtypeOf(asked).Type) !== dtype
  ) {
    throw failure(
      'ERR_DTYPE',
      `the source is of ${dtype}, dtype is ${asked}; view(dtype) reads bytes as another dtype`,
    )
  }
  const { buffer, byteOffset, byteLength } = bufferRangeOf(source, 'source', EXPECTED)
  return { buffer, byteOffset, byteLength, dtype }
}

/**
 * Transfers the caller's buffer, which is detached, to a new one.
 *
 * @param {ArrayBufferLike} buffer
 * @returns {ArrayBuffer}
 */
function transferBuffer(buffer) {
  if (!isArrayBuffer(buffer)) {
    throw failure(
      'ERR_ARGUMENT',
      'transfer takes an ArrayBuffer over; a SharedArrayBuffer has no single holder',
    )
  }
  if (isUntransferable(buffer)) {
    throw failure(
      'ERR_UNSUPPORTED',
      'the buffer cannot be transferred: it is marked as untransferable, as that of small Buffers is, which they share',
    )
  }
  const length = byteLengthOf(buffer)
  let taken
  try {
    taken =
      transferred !== undefined
        ? transferred(buffer)
        : /** @type {any} */ (structuredClone)(buffer, { transfer: [buffer] })
  } catch (error) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the buffer cannot be transferred: ${/** @type {Error} */ (error).message}`,
    )
  }
  // structuredClone may run functions that programs have replaced.
  if (
    !isArrayBuffer(taken) ||
    byteLengthOf(taken) !== length ||
    (length > 0 && byteLengthOf(buffer) !== 0)
  ) {
    throw failure('ERR_UNSUPPORTED', 'the buffer cannot be transferred; it stays with its holder')
  }
  return taken
}

/**
 * @param {string} name
 * @param {unknown} source
 * @returns {number}
 */
function checkedAddress(name, source) {
  const address = typeof source === 'bigint' || typeof source === 'number' ? Number(source) : NaN
  if (!Number.isSafeInteger(address) || address < 0) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(source)}; a bigint or safe integer, not negative, was expected`,
    )
  }
  return address
}

/**
 * A tensor over the source's own bytes, without a copy; each sees the other's writes. The tensor keeps the source and owner alive. The source may be
 * longer than the shape needs; without a shape the tensor is 1-D over the whole source, which then has a whole number of elements.
 *
 * A record is what toBlob gives, or a plain object with its fields: ptr, shape and dtype, and optionally strides, device and
 * owner. A shape argument reinterprets the record's elements in their order; a record's own shape may then be missing. Only
 * toBlob's own records work in WASM and need no owner. An address on a device needs the option device, and the driver is asked
 * whether it is there; that of page-locked memory (pinMemory, hostRegister) may be given with a device, which then works on the
 * CPU's bytes in place. A record's dtype may also be one of PyTorch's names, such as 'float' and 'long'.
 *
 * @template {BlobSource} S
 * @template {DtypeName} [D=never]
 * @param {S} source  an address needs owner, deleter or borrowed
 * @param {Shape | BlobOptions<D> | NameOf<D> | null} [shape]  elements
 * @param {BlobOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfSource<S>>, BufferOf<S>>} over the source's bytes, which the caller still owns; a deleter is called when no tensor uses them any more
 * @throws {RangeError} ERR_BOUNDS the layout leaves the source, ERR_SHAPE, ERR_ALIGNMENT (fromBytes with copy: 'if-needed' copies then) · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED · ERR_DEVICE · ERR_UNSUPPORTED addresses in WASM
 * @see PyTorch from_blob, ExecuTorch from_blob
 * @example
 * const samples = new Float32Array(6)
 * fromBlob(samples, [2, 3]).set(1, 0, 0)
 * samples[0] // 1
 */
function fromBlob(source, shape, opts) {
  if (opts === undefined && (shape === undefined || Array.isArray(shape))) {
    const dtype = dtypeOfArray(source)
    if (dtype !== undefined) {
      return wrap(adoptArray(source, dtypeOf(dtype), /** @type {any} */ (shape)))
    }
  }
  if (opts === undefined && shape !== undefined && shape !== null && isOptions(shape)) {
    opts = /** @type {BlobOptions} */ (shape)
    shape = undefined
  }
  // Getters of the options run here, before any buffer is read.
  const given = checkedOptions(shape, optionsOf(opts, OF_BLOB, 'fromBlob'))
  const ours = records.layoutOf(source)
  if (ours !== undefined) return wrap(overOwnRecord(/** @type {Blob} */ (source), ours, given))
  const layout =
    typeof source === 'bigint' || typeof source === 'number' || source === null
      ? overAddress(source ?? 0, given)
      : isPlain(source)
        ? overRecord(/** @type {any} */ (source), given)
        : overBuffer(source, given)
  layout.flags |= flagsOf(given, 0)
  return wrap(layout)
}

/**
 * @param {unknown} shape
 * @param {Record<string, any>} options
 * @returns {Given}
 */
function checkedOptions(
  shape,
  {
    dtype,
    strides,
    dimOrder,
    offset,
    nbytes,
    owner,
    deleter,
    borrowed,
    transfer,
    readOnly,
    dynamism,
    device,
  },
) {
  const given = {
    dtype: dtype === undefined ? undefined : dtypeOf(dtype).name,
    transfer: boolean('transfer', transfer),
    owner: owner ?? undefined,
    deleter,
    borrowed: boolean('borrowed', borrowed),
    readOnly: boolean('readOnly', readOnly),
    dynamism: dynamism === undefined ? undefined : dynamismOf(dynamism),
    nbytes: nbytes === undefined ? undefined : integer('nbytes', nbytes),
    strides: strides === undefined ? null : integers('strides', strides),
    dimOrder: dimOrder === undefined ? null : integers('dimOrder', dimOrder, 'ERR_SHAPE'),
    offset: offset === undefined ? null : integer('offset', offset),
    shape: shape === undefined || shape === null ? null : shapeOf(shape),
    device: device === undefined ? undefined : deviceOf(device),
  }
  if (deleter !== undefined && typeof deleter !== 'function') {
    throw failure('ERR_ARGUMENT', `deleter is ${show(deleter)}; a function was expected`)
  }
  return given
}

/**
 * @param {Given} given
 * @param {number} inherited  flags
 * @returns {number}
 */
function flagsOf({ readOnly, dynamism }, inherited) {
  const read = (inherited & READ_ONLY) | (readOnly ? READ_ONLY : 0)
  return read | (dynamism ?? inherited & ~READ_ONLY)
}

// ---- Buffers ----

/**
 * @param {any} source
 * @param {Given} given
 * @returns {Layout}
 */
function overBuffer(source, given) {
  if ((given.device ?? CPU) !== CPU) {
    throw failure(
      'ERR_DEVICE',
      `device is '${nameOfDevice(/** @type {number} */ (given.device))}', and the source is in the CPU's memory; to() copies it to a device`,
    )
  }
  const { buffer, byteOffset, byteLength, dtype: found } = bytesOfSource(source, given.dtype)
  if (given.dtype === undefined && found === undefined) {
    throw failure('ERR_DTYPE', 'dtype is needed: the source does not tell what its bytes are')
  }
  const dtype = dtypeOf(given.dtype ?? found)
  const last = { deleter: given.deleter }
  const isMemory =
    /** @type {number} */ (given.offset) > 0 && byteOffset === 0 && backend.isOwn(buffer) // WebAssembly's memory, from its first byte on
  let storage = isMemory ? null : backend.adopt(buffer, byteOffset, byteLength, source)
  try {
    const layout =
      storage === null
        ? overMemory(byteLength, dtype, given)
        : shaped(storage, dtype, given, byteLength)
    const made = (storage = layout.storage)
    made.owner = given.owner ?? source
    if (given.deleter !== undefined) {
      backend.attachDeleter(
        made,
        (/** @type {bigint} */ address) => last.deleter?.(address),
        ffi.check,
      )
    }
    if (given.transfer) {
      // last, because nothing may fail once the caller's buffer is detached
      const taken = transferBuffer(buffer)
      if (!ffi.isGuarded(made)) made.buffer = taken // a guarded storage's bytes are C's
      made.owner = given.owner
    }
    return layout
  } catch (error) {
    last.deleter = undefined // the caller keeps the bytes
    if (storage !== null) backend.release(storage)
    throw error
  }
}

/**
 * A layout over WebAssembly's memory from its first byte on. Address 0 means no bytes to C, so the storage begins at the second element.
 *
 * @param {number} nbytes  of the memory
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {Given} given
 */
function overMemory(nbytes, dtype, given) {
  /** @type {any} */ const wasm = backend
  const { itemsize } = dtype
  const storage = wasm.unheld(itemsize, nbytes - itemsize)
  const layout = shaped(
    storage,
    dtype,
    { ...given, offset: /** @type {number} */ (given.offset) - 1 },
    nbytes - itemsize,
  )
  if (layout.size === 0) return layout
  const { low, high } = ffi.extent(layout)
  return wasm.keepReached(layout, low, high, itemsize)
}

/**
 * @param {import('../backend/storage').Storage} storage
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {Given} given
 * @param {number} nbytes  of the source
 * @returns {Layout}
 */
function shaped(storage, { index, itemsize, name }, given, nbytes) {
  const whole = new Layout(storage, index, [0], [1], 0, 0, 0)
  const offset = given.offset ?? 0
  if (!given.shape && nbytes % itemsize !== 0) {
    throw failure(
      'ERR_SHAPE',
      `the source has ${nbytes} bytes, which is no multiple of ${name}'s ${itemsize}; a shape tells how many to take`,
    )
  }
  const shape = given.shape ?? [Math.max(0, nbytes / itemsize - offset)]
  return ffi.asStrided(whole, shape, given.strides, given.dimOrder, offset, false)
}

// ---- Addresses ----

/**
 * @param {number | bigint} source
 * @param {Given} given
 * @returns {Layout}
 */
function overAddress(source, given) {
  const address = checkedAddress('the address', source)
  checkForeign(given)
  if (given.dtype === undefined) {
    throw failure('ERR_DTYPE', 'dtype is needed: an address does not tell what its bytes are')
  }
  const dtype = dtypeOf(given.dtype)
  if (given.shape === null && given.nbytes === undefined) {
    throw failure('ERR_SHAPE', 'shape or nbytes is needed: an address has no end')
  }
  // The layout is checked over a placeholder, before the address is wrapped.
  const layout = shaped(probe(address, given.nbytes), dtype, given, given.nbytes ?? 0)
  if (address === 0 && layout.size > 0) throw failure('ERR_ARGUMENT', 'address 0 has no elements')
  const needed =
    given.nbytes ??
    (layout.size === 0 ? 0 : (layout.offset + ffi.extent(layout).high + 1) * dtype.itemsize)
  layout.storage = storageAtAddress(address, needed, given)
  return layout
}

/**
 * Checks that somebody keeps the bytes of an address.
 *
 * @param {Given} given
 */
function checkForeign({ owner, deleter, borrowed, transfer, nbytes }) {
  if (backend.name !== 'native') {
    throw failure(
      'ERR_UNSUPPORTED',
      'an address needs the native addon; WASM sees its own memory only',
    )
  }
  if (owner === undefined && deleter === undefined && !borrowed) {
    throw failure(
      'ERR_ARGUMENT',
      'an address needs owner, deleter or borrowed: true, so that it is clear who keeps the bytes',
    )
  }
  if (transfer) {
    throw failure('ERR_ARGUMENT', 'transfer is for ArrayBuffers; an address has a deleter')
  }
  if (nbytes !== undefined && nbytes < 0) {
    throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; 0 or more was expected`)
  }
}

/**
 * A placeholder storage at an address, for checking a layout. No byte of it is touched.
 *
 * @param {number} address
 * @param {number | undefined} nbytes
 */
function probe(address, nbytes) {
  const storage = backend.borrow(new ArrayBuffer(0), 0, nbytes ?? 2 ** 53 - 1)
  storage.address = address
  return storage
}

/**
 * Wraps an address with its owner and deleter.
 *
 * @param {number} address
 * @param {number} nbytes
 * @param {Given} given
 * @returns {import('../backend/storage').Storage}
 */
function storageAtAddress(address, nbytes, { owner, deleter, device }) {
  const base = Tensor.isTensor(owner) ? Tensor.layoutOf(owner).storage : null
  const storage = backend.wrap(
    address,
    address === 0 ? 0 : nbytes,
    deleter,
    ffi.check,
    device ?? CPU,
  )
  storage.owner = owner
  if (storage.optional !== null && storage.optional.device >= 0) storage.optional.stays = true // resize must not move the caller's memory
  if (base !== null) {
    // disposing the owner must not free these bytes
    const optional = /** @type {import('../backend/storage').OptionalFields} */ (storage.optional)
    claim(base)
    optional.base = base
  }
  return storage
}

// ---- Records ----

/**
 * Is it an object other than an array, a buffer, a view and a tensor, and so maybe a record?
 *
 * @param {unknown} source
 */
function isPlain(source) {
  return (
    source !== null &&
    typeof source === 'object' &&
    !Array.isArray(source) &&
    !isView(source) &&
    !isArrayBuffer(source) &&
    !isSharedArrayBuffer(source) &&
    !Tensor.isTensor(source)
  )
}

/**
 * A layout over the bytes of a record that toBlob made.
 *
 * @param {Blob} record
 * @param {Layout} layout  the record's
 * @param {Given} given
 * @returns {Layout}
 */
function overOwnRecord(record, layout, given) {
  if (given.deleter !== undefined || given.transfer) {
    throw failure(
      'ERR_ARGUMENT',
      `${given.transfer ? 'transfer' : 'deleter'} was given; the record of a tensor keeps the tensor's bytes itself`,
    )
  }
  const device = deviceOfStorage(layout.storage)
  if ((given.device ?? device) !== device) {
    throw failure(
      'ERR_DEVICE',
      `device is '${nameOfDevice(/** @type {number} */ (given.device))}'; the record's bytes are on ${nameOfDevice(device)}`,
    )
  }
  ffi.checkAttached(layout.storage)
  const made = viewOfRecord(layout, given)
  inherit(made, layout)
  made.owner = given.owner ?? record.owner
  made.flags = flagsOf(given, layout.flags & (READ_ONLY | STATIC | UNBOUND))
  return made
}

/**
 * A view of a record's layout, as the options ask.
 *
 * @param {Layout} layout
 * @param {Given} given
 * @returns {Layout}
 */
function viewOfRecord(layout, { dtype: name, shape, strides, dimOrder, offset, nbytes }) {
  const dtype = name === undefined ? undefined : dtypeOf(name)
  if (nbytes !== undefined) checkLength(layout, nbytes)
  const dense = ffi.isContiguous(layout)
  if (strides === null && dimOrder === null) {
    if (dense && shape !== null) offset ??= 0 // the record may have more elements than the shape
    if (!dense && offset !== null) {
      throw failure(
        'ERR_SHAPE',
        `offset is ${offset}; strides are needed as well, because the record's elements are not row-major`,
      )
    }
  }
  return viewed(layout, { dtype, shape, strides, dimOrder, offset })
}

/**
 * @param {Layout} layout  of a record
 * @param {number} nbytes  from its first element
 */
function checkLength(layout, nbytes) {
  if (layout.size === 0) return
  const { low, high } = ffi.extent(layout)
  const { name, itemsize } = dtypes[layout.dtype]
  if (low < 0 || (high + 1) * itemsize > nbytes) {
    throw failure(
      'ERR_BOUNDS',
      `nbytes is ${nbytes}; the record reaches elements ${low} to ${high} of ${name}`,
    )
  }
}

/**
 * A layout over the address in a record that the caller filled in.
 *
 * @param {Record<string, any>} record
 * @param {Given} given
 * @returns {Layout}
 */
function overRecord(record, given) {
  const { ptr, shape, strides, dtype: name, device, elementSize, owner } = ownFields(record)
  if (ptr === undefined) {
    throw failure(
      'ERR_ARGUMENT',
      `source is ${show(record)} without ptr; ${EXPECTED}, or a record with ptr, shape and dtype was expected`,
    )
  }
  if (shape === undefined && given.shape === null) {
    throw failure('ERR_SHAPE', 'shape is missing in the record')
  }
  if (name === undefined && given.dtype === undefined) {
    throw failure('ERR_DTYPE', 'dtype is missing in the record')
  }
  const dtype = name === undefined ? dtypeOf(given.dtype) : dtypeOf(TORCH_NAMES.get(name) ?? name)
  const extents = shape === undefined ? given.shape : shapeOf(shape)
  const steps =
    strides === undefined || strides === null ? null : integers('strides of the record', strides)
  const address = ptr === null ? 0 : checkedAddress('ptr', ptr)
  const named =
    device === undefined || device === null ? undefined : deviceOf(device, 'device of the record')
  if (named !== undefined && (given.device ?? named) !== named) {
    throw failure(
      'ERR_DEVICE',
      `device is '${nameOfDevice(/** @type {number} */ (given.device))}'; the record says ${show(device)}`,
    )
  }
  if (elementSize !== undefined && elementSize !== dtype.itemsize) {
    throw failure(
      'ERR_DTYPE',
      `elementSize of the record is ${show(elementSize)}; an element of ${dtype.name} has ${dtype.itemsize} bytes`,
    )
  }
  const asked = {
    ...given,
    owner: given.owner ?? owner ?? undefined,
    device: given.device ?? named,
  }
  checkForeign(asked)
  return overElements(address, dtype, /** @type {number[]} */ (extents), steps, asked)
}

const MOST_BACK = 2 ** 40 // elements that negative strides may reach below a record's ptr

/**
 * @param {number} address  of a record's first element; negative strides reach lower ones
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} shape
 * @param {number[] | null} strides
 * @param {Given} given
 * @returns {Layout}
 */
function overElements(address, { index, itemsize }, shape, strides, given) {
  const whole = ffi.asStrided(
    new Layout(probe(address, undefined), index, [0], [1], 0, 0, 0),
    shape,
    strides,
    null,
    MOST_BACK,
    false,
  )
  const { low, high } = whole.size === 0 ? { low: 0, high: -1 } : ffi.extent(whole)
  if (address === 0 && whole.size > 0) throw failure('ERR_ARGUMENT', 'ptr 0 has no elements')
  const first = address + low * itemsize
  const nbytes = (high - low + 1) * itemsize
  if (first < 0 || !Number.isSafeInteger(first + nbytes)) {
    throw failure('ERR_BOUNDS', `strides of the record lead from ptr to address ${first}`)
  }
  const layout = new Layout(
    probe(first, nbytes),
    index,
    whole.shape,
    whole.strides,
    -low,
    whole.size,
    0,
  )
  const made = viewOfRecord(layout, given)
  made.storage = storageAtAddress(first, nbytes, given)
  return made
}

// ---- The builder ----

/** what a builder's method was called on @type {(it: any) => BlobBuilder} */
let own

/**
 * Sets fromBlob's options one by one; made by forBlob. Setters return the builder. Their values are checked by makeTensor,
 * after which setters throw ERR_STALE.
 *
 * @template {DtypeName} [D=any]
 */
class BlobBuilder {
  /** undefined once the tensor was made @type {{ source: any, shape: any, opts: Record<string, unknown> } | undefined} */
  #plan

  static {
    own = receiver('builder', (it) => #plan in it)
  }

  /**
   * @param {any} source
   * @param {any} shape
   * @param {string | undefined} dtype
   * @private
   */
  constructor(source, shape, dtype) {
    this.#plan = { source, shape, opts: { dtype } }
  }

  /**
   * The source and options, until makeTensor has used them: a builder makes one tensor.
   *
   * @param {unknown} it  what a method was called on
   */
  static #open(it) {
    const plan = own(it).#plan
    if (plan === undefined) {
      throw failure(
        'ERR_STALE',
        'the builder was finished: makeTensor gave its tensor; forBlob begins another one',
      )
    }
    return plan
  }

  /**
   * @template T
   * @param {T} it  as of #open
   * @param {string} name
   * @param {unknown} value
   * @returns {T}
   */
  static #option(it, name, value) {
    BlobBuilder.#open(it).opts[name] = value
    return it
  }

  /**
   * What one element is.
   *
   * @template {DtypeName} E
   * @overload
   * @param {E} dtype
   * @returns {BlobBuilder<E>}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new ArrayBuffer(4)).dtype('int16').makeTensor().shape // [2]
   */
  /**
   * @param {string} dtype
   * @returns {any}
   */
  dtype(dtype) {
    return BlobBuilder.#option(this, 'dtype', dtype)
  }
  /**
   * Elements from one to the next per axis.
   *
   * @param {readonly number[]} strides  any that stay inside
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(6), [2, 3]).strides([1, 2]).makeTensor().strides // [1, 2]
   */
  strides(strides) {
    return BlobBuilder.#option(this, 'strides', strides)
  }
  /**
   * Axes from outermost to innermost in memory.
   *
   * @param {readonly number[]} order  each axis once
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(6), [2, 3]).dimOrder([1, 0]).makeTensor().strides // [1, 2]
   */
  dimOrder(order) {
    return BlobBuilder.#option(this, 'dimOrder', order)
  }
  /**
   * Where the first element is.
   *
   * @param {number} offset  elements from the source's first byte
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(Int8Array.of(1, 2, 3)).offset(1).makeTensor().toArray() // [2, 3]
   */
  offset(offset) {
    return BlobBuilder.#option(this, 'offset', offset)
  }
  /**
   * How many bytes an address has; the extent is checked against it.
   *
   * @param {number} nbytes
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const floats = (address, owner) => forBlob(address, [4], 'float32').nbytes(16).owner(owner).makeTensor()
   */
  nbytes(nbytes) {
    return BlobBuilder.#option(this, 'nbytes', nbytes)
  }
  /**
   * How far resize may go; no blob grows.
   *
   * @param {Dynamism} dynamism
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).dynamism('static').makeTensor().dynamism // 'static'
   */
  dynamism(dynamism) {
    return BlobBuilder.#option(this, 'dynamism', dynamism)
  }
  /**
   * A function to be called once, on a later turn, when no tensor uses the bytes any more.
   *
   * @param {(address: bigint) => void} deleter
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const wrap = (address, free) => forBlob(address, [4], 'float32').deleter(free).makeTensor()
   */
  deleter(deleter) {
    return BlobBuilder.#option(this, 'deleter', deleter)
  }
  /**
   * A value to keep alive as long as the bytes are in use.
   *
   * @param {unknown} owner
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).owner('me').makeTensor().owner // 'me'
   */
  owner(owner) {
    return BlobBuilder.#option(this, 'owner', owner)
  }
  /**
   * Declares that the caller keeps an address' bytes valid for as long as they are in use.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const floats = address => forBlob(address, [4], 'float32').borrowed().makeTensor()
   */
  borrowed(yes = true) {
    return BlobBuilder.#option(this, 'borrowed', yes)
  }
  /**
   * Transfers the caller's ArrayBuffer, which is detached.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const source = new Float32Array(2)
   * forBlob(source).transfer().makeTensor()
   * source.length // 0
   */
  transfer(yes = true) {
    return BlobBuilder.#option(this, 'transfer', yes)
  }
  /**
   * Where the bytes are.
   *
   * @param {DeviceName} device  whose memory an address is in; 'cpu' unless told
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).device('cpu').makeTensor().device // 'cpu'
   */
  device(device) {
    return BlobBuilder.#option(this, 'device', device)
  }
  /**
   * Makes the tensor and its views read-only: samebytes' writers refuse them.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).readOnly().makeTensor().isReadOnly // true
   */
  readOnly(yes = true) {
    return BlobBuilder.#option(this, 'readOnly', yes)
  }

  /**
   * Makes the tensor, once. If it throws, the caller keeps the source and may try again.
   *
   * @returns {Tensor<D>} over the source's bytes
   * @throws as fromBlob · ERR_STALE the tensor was made
   * @see ExecuTorch TensorPtrMaker::make_tensor_ptr, LibTorch TensorMaker::make_tensor
   * @example
   * forBlob(new Float32Array(6), [2, 3]).makeTensor().shape // [2, 3]
   */
  makeTensor() {
    const { source, shape, opts } = BlobBuilder.#open(this)
    const made = fromBlob(source, shape, opts)
    this.#plan = undefined
    return made
  }
}

/**
 * fromBlob as a builder: setters in any order, then makeTensor(), before which the source stays the caller's.
 *
 * @template {BlobSource} S
 * @template {DtypeName} [D=DtypeOfSource<S>]
 * @param {S} source  as fromBlob
 * @param {Shape | null} [shape]  elements
 * @param {D} [dtype]
 * @returns {BlobBuilder<D>}
 * @throws nothing: makeTensor checks
 * @see ExecuTorch for_blob, LibTorch for_blob
 * @example
 * forBlob(new Float32Array(6), [2, 3]).dimOrder([1, 0]).readOnly().makeTensor().strides // [1, 2]
 */
function forBlob(source, shape, dtype) {
  // @ts-expect-error The constructor is private to everybody else.
  return new BlobBuilder(source, shape, dtype)
}

/**
 * @param {unknown} copy  fromBytes' option
 * @returns {boolean | 'if-needed'}
 */
function copyRule(copy) {
  if (copy === undefined || copy === true) return true
  if (copy === false || copy === 'if-needed') return copy
  throw failure('ERR_ARGUMENT', `copy is ${show(copy)}; true, false or 'if-needed' was expected`)
}

/**
 * Why bytes cannot be used where they are; null: they can.
 *
 * @param {import('../layout/layouts').Bytes} parts
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} extents
 * @param {import('../base/types').MakeOptions} options
 * @returns {(() => Error) | null}
 */
function whyCopied(
  { byteOffset },
  { name, kind, itemsize },
  extents,
  { device, order, shared, pinMemory },
) {
  const step = kind === 'COMPLEX' ? itemsize / 2 : itemsize
  if (byteOffset % step !== 0) {
    return () =>
      failure(
        'ERR_ALIGNMENT',
        `bytes begins at byte ${byteOffset} of its buffer, which is not a multiple of ${step}, as ${name} needs; copy: 'if-needed' copies`,
      )
  }
  if (placementOf(device, pinMemory, shared) !== undefined) {
    return () =>
      failure(
        'ERR_UNSUPPORTED',
        'copy is false, and device, shared or pinMemory asks for other memory',
      )
  }
  return axesOfOrder(order, extents.length) === null || order === 'C' || extents.length < 2
    ? null
    : () =>
        failure(
          'ERR_UNSUPPORTED',
          "copy is false, and order is 'F'; the bytes are in row-major order",
        )
}

module.exports = { fromBlob, forBlob, BlobBuilder, copyRule, whyCopied }
