'use strict'
// fromBlob and forBlob: tensors over bytes that somebody else made. Never copies.

const { Array, ArrayBuffer, Map, Math, Number, Object, clone, isView, mapGet, transferred } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, boolean, integer, integers, shapeOf, optionsOf, isOptions } = require('../base/validate')
const { claim } = require('../backend/storage')
const { dtypeOfArray, dtypeOfType, isArrayBuffer, isSharedArrayBuffer, byteLengthOf } = require('../base/buffers')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { CPU, deviceOfStorage, nameOfDevice } = require('../backend/device-names')
const { deviceOf } = require('../layout/placement')
const { dynamismOf, bytesOf, adopted, viewed, inherit } = require('../layout/layouts')
const records = require('../layout/blob-records')
const { Tensor, wrap } = require('./tensor')

const { backend, Layout, READ_ONLY, STATIC, UNBOUND } = ffi

const EXPECTED = 'a typed array, ArrayBuffer, SharedArrayBuffer, DataView or address'

/** what a record may call a dtype besides its name here @type {Map<unknown, string>} */
const TORCH_NAMES = new Map(Object.entries({
  byte: 'uint8',
  char: 'int8',
  short: 'int16',
  int: 'int32',
  long: 'int64',
  half: 'float16',
  float: 'float32',
  double: 'float64',
  cfloat: 'complex64',
  cdouble: 'complex128'
}))

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { DtypeName, NameOf, Or, Shape, Dynamism, DeviceName, Blob, BlobSource, BlobOptions, DtypeOfSource } from '../base/types' */

/**
 * What options say, after all that is user code ran.
 *
 * @typedef {object} Given
 * @property {string | undefined} dtype  the name of one
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
 * @property {number | undefined} dynamism  a flag
 * @property {number | undefined} device  undefined: none is named
 */

/**
 * The bytes of a source, before anything is made of them.
 *
 * @param {unknown} source
 * @param {string | undefined} asked  a dtype
 * @returns {import('../layout/layouts').Bytes & { dtype: string | undefined }}
 */
function bytesOfSource (source, asked) {
  const dtype = dtypeOfArray(source)
  // Pairs for complex and bits for short floats are what those dtypes' own typed arrays hold.
  if (dtype !== undefined && asked !== undefined && dtype !== 'uint8' && dtypeOfType(dtypeOf(asked).Type) !== dtype) {
    throw failure('ERR_DTYPE', `the source is of ${dtype}, dtype is ${asked}; view(dtype) reads bytes as another dtype`)
  }
  const { buffer, byteOffset, byteLength } = bytesOf(source, 'source', EXPECTED)
  return { buffer, byteOffset, byteLength, dtype }
}

/**
 * Detaches the caller's buffer; the bytes go on in a new one.
 *
 * @param {ArrayBufferLike} buffer
 * @returns {ArrayBuffer}
 */
function takeOver (buffer) {
  if (!isArrayBuffer(buffer)) throw failure('ERR_ARGUMENT', 'transfer takes an ArrayBuffer over; a SharedArrayBuffer has no single holder')
  const length = byteLengthOf(buffer)
  let taken
  try {
    taken = transferred !== undefined ? transferred(buffer) : /** @type {any} */ (clone)(buffer, { transfer: [buffer] })
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `the buffer cannot be transferred: ${/** @type {Error} */ (error).message}`)
  }
  // Node's own functions may run what programs replaced.
  if (!isArrayBuffer(taken) || byteLengthOf(taken) !== length || (length > 0 && byteLengthOf(buffer) !== 0)) throw failure('ERR_UNSUPPORTED', 'the buffer cannot be transferred; it stays with its holder')
  return taken
}

/**
 * @param {string} name
 * @param {unknown} source
 * @returns {number}
 */
function addressOf (name, source) {
  const address = typeof source === 'bigint' || typeof source === 'number' ? Number(source) : NaN
  if (!Number.isSafeInteger(address) || address < 0) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(source)}; a bigint or safe integer, not negative, was expected`)
  }
  return address
}

/**
 * A tensor over the source's own bytes; both see each other's writes. The source is kept alive, and so
 * is owner. It may be longer than needed; with the shape omitted, 1-D over the whole of it.
 *
 * A record is what toBlob gives, or a plain object with its fields: ptr, shape and dtype, and where they are known strides,
 * device and owner. Its shape may be omitted, and a given one keeps the order of its elements. Only toBlob's own records work in
 * WASM and need no owner. An address on a device needs its name, and is asked for whether it is there; that
 * of page-locked memory (pinMemory, hostRegister) may be given with a device, which then works on the CPU's bytes in place. In a
 * record, and nowhere else, dtype may also be one of PyTorch's names, such as 'float' and 'long'.
 *
 * @template {BlobSource} S
 * @template {DtypeName} [D=never]
 * @param {S} source  an address needs owner, deleter or borrowed
 * @param {Shape | BlobOptions<D> | NameOf<D> | null} [shape]  elements
 * @param {BlobOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfSource<S>>>} over the source's bytes, which stay whose they are; a deleter is told when nobody uses them
 * @throws {RangeError} ERR_BOUNDS the layout leaves the source, ERR_SHAPE, ERR_ALIGNMENT (fromBytes copies) · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED · ERR_DEVICE · ERR_UNSUPPORTED addresses in WASM
 * @see PyTorch from_blob, ExecuTorch from_blob
 * @example
 * const samples = new Float32Array(6)
 * fromBlob(samples, [2, 3]).set(1, 0, 0)
 * samples[0] // 1
 */
function fromBlob (source, shape, opts) {
  if (opts === undefined && (shape === undefined || Array.isArray(shape))) {
    const dtype = dtypeOfArray(source)
    if (dtype !== undefined) return wrap(adopted(source, dtypeOf(dtype), /** @type {any} */ (shape)))
  }
  if (opts === undefined && shape !== undefined && shape !== null && isOptions(shape)) {
    opts = /** @type {BlobOptions} */ (shape)
    shape = undefined
  }
  // All that is user code runs here, before any buffer is looked at.
  const given = givenOf(shape, optionsOf(opts))
  const ours = records.layoutOf(source)
  if (ours !== undefined) return wrap(overOurs(/** @type {Blob} */ (source), ours, given))
  const layout = typeof source === 'bigint' || typeof source === 'number' || source === null
    ? overAddress(source ?? 0, given)
    : isPlain(source) ? overRecord(/** @type {any} */ (source), given) : overBuffer(source, given)
  layout.flags |= flagsOf(given, 0)
  return wrap(layout)
}

/**
 * @param {unknown} shape
 * @param {Record<string, any>} options
 * @returns {Given}
 */
function givenOf (shape, { dtype, strides, dimOrder, offset, nbytes, owner, deleter, borrowed, transfer, readOnly, dynamism, device }) {
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
    device: device === undefined ? undefined : deviceOf(device)
  }
  if (deleter !== undefined && typeof deleter !== 'function') throw failure('ERR_ARGUMENT', `deleter is ${show(deleter)}; a function was expected`)
  return given
}

/**
 * @param {Given} given
 * @param {number} inherited  flags
 * @returns {number}
 */
function flagsOf ({ readOnly, dynamism }, inherited) {
  const read = (inherited & READ_ONLY) | (readOnly ? READ_ONLY : 0)
  return read | (dynamism ?? (inherited & ~READ_ONLY))
}

// ---- Buffers ----

/**
 * @param {any} source
 * @param {Given} given
 * @returns {Layout}
 */
function overBuffer (source, given) {
  if ((given.device ?? CPU) !== CPU) throw failure('ERR_DEVICE', `device is '${nameOfDevice(/** @type {number} */ (given.device))}', and the source is in the CPU's memory; to() copies it to a device`)
  const { buffer, byteOffset, byteLength, dtype: found } = bytesOfSource(source, given.dtype)
  if (given.dtype === undefined && found === undefined) throw failure('ERR_DTYPE', 'dtype is needed: the source does not tell what its bytes are')
  const dtype = dtypeOf(given.dtype ?? found)
  const last = { deleter: given.deleter }
  const isMemory = /** @type {number} */ (given.offset) > 0 && isFromZero(buffer, byteOffset)
  let storage = isMemory ? null : backend.adopt(buffer, byteOffset, byteLength, source)
  try {
    const layout = storage === null ? overMemory(byteLength, dtype, given) : shaped(storage, dtype, given, Math.floor(byteLength / dtype.itemsize))
    const made = storage = layout.storage
    made.owner = given.owner ?? source
    if (given.deleter !== undefined) backend.attachDeleter(made, (/** @type {bigint} */ address) => last.deleter?.(address), ffi.check)
    if (given.transfer) { // last: nothing fails after the caller's buffer is gone
      const taken = takeOver(buffer)
      if (!ffi.isGuarded(made)) made.buffer = taken // else the bytes are C's
      made.owner = given.owner
    }
    return layout
  } catch (error) {
    last.deleter = undefined // nothing was taken over
    if (storage !== null) backend.release(storage)
    throw error
  }
}

/**
 * A layout over linear memory, by its offset there. For C nothing is at address 0: elements are counted from the second one.
 *
 * @param {number} nbytes  of all of it
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {Given} given
 */
function overMemory (nbytes, dtype, given) {
  /** @type {any} */ const wasm = backend
  const { itemsize } = dtype
  const storage = wasm.unheld(itemsize, nbytes - itemsize)
  const layout = shaped(storage, dtype, { ...given, offset: /** @type {number} */ (given.offset) - 1 }, Math.floor(nbytes / itemsize) - 1)
  if (layout.size === 0) return layout
  const { low, high } = ffi.extent(layout)
  return wasm.keepReached(layout, low, high, itemsize)
}

/**
 * Is it linear memory from its first byte on?
 *
 * @param {ArrayBufferLike} buffer
 * @param {number} byteOffset
 */
function isFromZero (buffer, byteOffset) {
  return byteOffset === 0 && backend.isOwn(buffer)
}

/**
 * @param {import('../backend/storage').Storage} storage
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {Given} given
 * @param {number} count  elements in the source
 * @returns {Layout}
 */
function shaped (storage, dtype, given, count) {
  const whole = new Layout(storage, dtype.index, [0], [1], 0, 0, 0)
  const offset = given.offset ?? 0
  const shape = given.shape ?? [Math.max(0, count - offset)]
  return ffi.asStrided(whole, shape, given.strides, given.dimOrder, offset, false)
}

// ---- Addresses ----

/**
 * @param {number | bigint} source
 * @param {Given} given
 * @returns {Layout}
 */
function overAddress (source, given) {
  const address = addressOf('the address', source)
  checkForeign(given)
  if (given.dtype === undefined) throw failure('ERR_DTYPE', 'dtype is needed: an address does not tell what its bytes are')
  const dtype = dtypeOf(given.dtype)
  if (given.shape === null && given.nbytes === undefined) throw failure('ERR_SHAPE', 'shape or nbytes is needed: an address has no end')
  // The layout is judged before anything is taken over, over what is there or what it will need.
  const layout = shaped(probe(address, given.nbytes), dtype, given, Math.floor((given.nbytes ?? 0) / dtype.itemsize))
  if (address === 0 && layout.size > 0) throw failure('ERR_ARGUMENT', 'address 0 has no elements')
  const needed = given.nbytes ?? (layout.size === 0 ? 0 : (layout.offset + ffi.extent(layout).high + 1) * dtype.itemsize)
  layout.storage = wrapped(address, needed, given)
  return layout
}

/**
 * Who keeps the bytes of an address?
 *
 * @param {Given} given
 */
function checkForeign ({ owner, deleter, borrowed, transfer, nbytes }) {
  if (backend.name !== 'native') throw failure('ERR_UNSUPPORTED', 'an address needs the native addon; WASM sees its own memory only')
  if (owner === undefined && deleter === undefined && !borrowed) {
    throw failure('ERR_ARGUMENT', 'an address needs owner, deleter or borrowed: true, so that it is clear who keeps the bytes')
  }
  if (transfer) throw failure('ERR_ARGUMENT', 'transfer is for ArrayBuffers; an address has a deleter')
  if (nbytes !== undefined && nbytes < 0) throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; 0 or more was expected`)
}

/**
 * Bytes at an address as long as a layout is judged: none is touched.
 *
 * @param {number} address
 * @param {number | undefined} nbytes
 */
function probe (address, nbytes) {
  const storage = backend.borrow(new ArrayBuffer(0), 0, nbytes ?? 2 ** 53 - 1)
  storage.address = address
  return storage
}

/**
 * @param {number} address
 * @param {number} nbytes
 * @param {Given} given
 * @returns {import('../backend/storage').Storage}
 */
function wrapped (address, nbytes, { owner, deleter, device }) {
  const base = Tensor.isTensor(owner) ? Tensor.layoutOf(owner).storage : null
  const storage = backend.wrap(address, address === 0 ? 0 : nbytes, deleter, ffi.check, device ?? CPU)
  storage.owner = owner
  if (storage.extra !== null && storage.extra.device >= 0) storage.extra.stays = true // it is not ours to move
  if (base !== null) { // an owner's dispose must not free the bytes under us
    const extra = /** @type {import('../backend/storage').Extra} */ (storage.extra)
    claim(base)
    extra.base = base
  }
  return storage
}

// ---- Records ----

/**
 * Is it an object that could be a record?
 *
 * @param {unknown} source
 */
function isPlain (source) {
  return source !== null && typeof source === 'object' && !Array.isArray(source) && !isView(source) &&
    !isArrayBuffer(source) && !isSharedArrayBuffer(source) && !Tensor.isTensor(source)
}

/**
 * Over the bytes of toBlob's own record, whatever they are.
 *
 * @param {Blob} record
 * @param {Layout} layout  that it stands for
 * @param {Given} given
 * @returns {Layout}
 */
function overOurs (record, layout, given) {
  if (given.deleter !== undefined || given.transfer) {
    throw failure('ERR_ARGUMENT', `${given.transfer ? 'transfer' : 'deleter'} was given; the record of a tensor keeps the tensor's bytes itself`)
  }
  const device = deviceOfStorage(layout.storage)
  if ((given.device ?? device) !== device) throw failure('ERR_DEVICE', `device is '${nameOfDevice(/** @type {number} */ (given.device))}'; the record's bytes are on ${nameOfDevice(device)}`)
  ffi.checkAttached(layout.storage)
  const made = within(layout, given)
  inherit(made, layout)
  made.owner = given.owner ?? record.owner
  made.flags = flagsOf(given, layout.flags & (READ_ONLY | STATIC | UNBOUND))
  return made
}

/**
 * A record's elements, or those of them that are asked for.
 *
 * @param {Layout} layout
 * @param {Given} given
 * @returns {Layout}
 */
function within (layout, { dtype: name, shape, strides, dimOrder, offset, nbytes }) {
  const dtype = name === undefined ? undefined : dtypeOf(name)
  if (nbytes !== undefined) checkLength(layout, nbytes)
  const dense = ffi.isContiguous(layout)
  if (strides === null && dimOrder === null) {
    if (dense && shape !== null) offset ??= 0 // a run of elements may be longer than needed
    if (!dense && offset !== null) throw failure('ERR_SHAPE', `offset is ${offset}; strides are needed as well, because the record's elements are not row-major`)
  }
  return viewed(layout, { dtype, shape, strides, dimOrder, offset })
}

/**
 * @param {Layout} layout  of a record
 * @param {number} nbytes  from its first element
 */
function checkLength (layout, nbytes) {
  if (layout.size === 0) return
  const { low, high } = ffi.extent(layout)
  const { name, itemsize } = dtypes[layout.dtype]
  if (low < 0 || (high + 1) * itemsize > nbytes) {
    throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; the record reaches elements ${low} to ${high} of ${name}`)
  }
}

/**
 * Over the address in a record that somebody else filled in.
 *
 * @param {Record<string, any>} record
 * @param {Given} given
 * @returns {Layout}
 */
function overRecord (record, given) {
  const { ptr, shape, strides, dtype: name, device, elementSize, owner } = record
  if (ptr === undefined) throw failure('ERR_ARGUMENT', `source is an object without ptr; ${EXPECTED}, or a record with ptr, shape and dtype was expected`)
  if (shape === undefined && given.shape === null) throw failure('ERR_SHAPE', 'shape is missing in the record')
  if (name === undefined && given.dtype === undefined) throw failure('ERR_DTYPE', 'dtype is missing in the record')
  const dtype = name === undefined ? dtypeOf(given.dtype) : dtypeOf(mapGet(TORCH_NAMES, name) ?? name)
  const extents = shape === undefined ? given.shape : shapeOf(shape)
  const steps = strides === undefined || strides === null ? null : integers('strides of the record', strides)
  const address = ptr === null ? 0 : addressOf('ptr', ptr)
  const named = device === undefined || device === null ? undefined : deviceOf(device, 'device of the record')
  if (named !== undefined && (given.device ?? named) !== named) throw failure('ERR_DEVICE', `device is '${nameOfDevice(/** @type {number} */ (given.device))}'; the record says ${show(device)}`)
  if (elementSize !== undefined && elementSize !== dtype.itemsize) throw failure('ERR_DTYPE', `elementSize of the record is ${show(elementSize)}; an element of ${dtype.name} has ${dtype.itemsize} bytes`)
  const asked = { ...given, owner: given.owner ?? owner ?? undefined, device: given.device ?? named }
  checkForeign(asked)
  return overElements(address, dtype, /** @type {number[]} */ (extents), steps, asked)
}

const FAR = 2 ** 40 // elements that strides may lead back: room below an address while a layout is judged

/**
 * @param {number} address  of a record's first element, which need not be its lowest one
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} shape
 * @param {number[] | null} strides
 * @param {Given} given
 * @returns {Layout}
 */
function overElements (address, { index, itemsize }, shape, strides, given) {
  const whole = ffi.asStrided(new Layout(probe(address, undefined), index, [0], [1], 0, 0, 0), shape, strides, null, FAR, false)
  const { low, high } = whole.size === 0 ? { low: 0, high: -1 } : ffi.extent(whole)
  if (address === 0 && whole.size > 0) throw failure('ERR_ARGUMENT', 'ptr 0 has no elements')
  const first = address + low * itemsize
  const nbytes = (high - low + 1) * itemsize
  if (first < 0 || !Number.isSafeInteger(first + nbytes)) throw failure('ERR_BOUNDS', `strides of the record lead from ptr to address ${first}`)
  const layout = new Layout(probe(first, nbytes), index, whole.shape, whole.strides, -low, whole.size, 0)
  const made = within(layout, given)
  made.storage = wrapped(first, nbytes, given)
  return made
}

// ---- The builder ----

/**
 * What forBlob gives: fromBlob's options one by one. Setters return the builder, and what they are given is judged at
 * makeTensor; after it they throw ERR_STALE.
 *
 * @template {DtypeName} [D=any]
 */
class BlobBuilder {
  /** undefined once the tensor was made @type {{ source: any, shape: any, opts: Record<string, unknown> } | undefined} */
  #plan

  /**
   * @param {any} source
   * @param {any} shape
   * @param {string | undefined} dtype
   * @private
   */
  constructor (source, shape, dtype) {
    this.#plan = { source, shape, opts: { dtype } }
  }

  /** A builder has one tensor to give: its source, owner and deleter go with it. */
  #open () {
    if (this.#plan === undefined) throw failure('ERR_STALE', 'the builder was finished: makeTensor gave its tensor; forBlob begins another one')
    return this.#plan
  }

  /**
   * @param {string} name
   * @param {unknown} value
   * @returns {this}
   */
  #set (name, value) {
    this.#open().opts[name] = value
    return this
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
  dtype (dtype) { return this.#set('dtype', dtype) }
  /**
   * Elements from one to the next per axis.
   *
   * @param {readonly number[]} strides  any that stay inside
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(6), [2, 3]).strides([1, 2]).makeTensor().strides // [1, 2]
   */
  strides (strides) { return this.#set('strides', strides) }
  /**
   * Axes from outermost to innermost in memory.
   *
   * @param {readonly number[]} order  each axis once
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(6), [2, 3]).dimOrder([1, 0]).makeTensor().strides // [1, 2]
   */
  dimOrder (order) { return this.#set('dimOrder', order) }
  /**
   * Where the first element is.
   *
   * @param {number} offset  elements from the source's first byte
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(Int8Array.of(1, 2, 3)).offset(1).makeTensor().toArray() // [2, 3]
   */
  offset (offset) { return this.#set('offset', offset) }
  /**
   * How many bytes an address has; the extent is checked against it.
   *
   * @param {number} nbytes
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const floats = (address, owner) => forBlob(address, [4], 'float32').nbytes(16).owner(owner).makeTensor()
   */
  nbytes (nbytes) { return this.#set('nbytes', nbytes) }
  /**
   * How far resize may go; no blob grows.
   *
   * @param {Dynamism} dynamism
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).dynamism('static').makeTensor().dynamism // 'static'
   */
  dynamism (dynamism) { return this.#set('dynamism', dynamism) }
  /**
   * What to call when nobody uses the bytes: once, on a later turn.
   *
   * @param {(address: bigint) => void} deleter
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const wrap = (address, free) => forBlob(address, [4], 'float32').deleter(free).makeTensor()
   */
  deleter (deleter) { return this.#set('deleter', deleter) }
  /**
   * What to keep as long as the bytes are in use.
   *
   * @param {unknown} owner
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).owner('me').makeTensor().owner // 'me'
   */
  owner (owner) { return this.#set('owner', owner) }
  /**
   * The caller vouches for an address: its bytes stay as long as they are in use.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const floats = address => forBlob(address, [4], 'float32').borrowed().makeTensor()
   */
  borrowed (yes = true) { return this.#set('borrowed', yes) }
  /**
   * Takes the caller's ArrayBuffer over: it is detached.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * const source = new Float32Array(2)
   * forBlob(source).transfer().makeTensor()
   * source.length // 0
   */
  transfer (yes = true) { return this.#set('transfer', yes) }
  /**
   * Where the bytes are.
   *
   * @param {DeviceName} device  that an address is memory of; 'cpu' unless told
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).device('cpu').makeTensor().device // 'cpu'
   */
  device (device) { return this.#set('device', device) }
  /**
   * Our writers will refuse the tensor and its views.
   *
   * @param {boolean} [yes]
   * @returns {this}
   * @throws ERR_STALE the tensor was made
   * @example
   * forBlob(new Float32Array(2)).readOnly().makeTensor().isReadOnly // true
   */
  readOnly (yes = true) { return this.#set('readOnly', yes) }

  /**
   * The tensor, once. Nothing is taken over before, nor where it throws; then it may be tried again.
   *
   * @returns {Tensor<D>} over the source's bytes
   * @throws as fromBlob · ERR_STALE the tensor was made
   * @see ExecuTorch TensorPtrMaker::make_tensor_ptr, LibTorch TensorMaker::make_tensor
   * @example
   * forBlob(new Float32Array(6), [2, 3]).makeTensor().shape // [2, 3]
   */
  makeTensor () {
    const { source, shape, opts } = this.#open()
    const made = fromBlob(source, shape, opts)
    this.#plan = undefined
    return made
  }
}

/**
 * fromBlob as a builder: setters in any order, then makeTensor(). Takes nothing over.
 *
 * @template {BlobSource} S
 * @template {DtypeName} [D=DtypeOfSource<S>]
 * @param {S} source  as fromBlob
 * @param {Shape | null} [shape]  elements
 * @param {D} [dtype]
 * @returns {BlobBuilder<D>}
 * @throws nothing: makeTensor judges
 * @see ExecuTorch for_blob, LibTorch for_blob
 * @example
 * forBlob(new Float32Array(6), [2, 3]).dimOrder([1, 0]).readOnly().makeTensor().strides // [1, 2]
 */
function forBlob (source, shape, dtype) {
  // @ts-expect-error The constructor is private to everybody else.
  return new BlobBuilder(source, shape, dtype)
}

module.exports = { fromBlob, forBlob, BlobBuilder }
