'use strict'
// CUDA devices, their memory, streams and events. Loaded when a program first uses CUDA; the first call opens the driver's library.

const ffi = require('./calls')
const { collectGarbage } = require('../runtime/host')
const { failure } = require('../base/errors')
const { show, receiver, integer } = require('../base/validate')
const { isOnDevice, countStaged, CPU, nameOfDevice, isDevice } = require('./storage')

const { backend, opcodes, isPinned } = ffi
/** @type {any} undefined on WebAssembly */
const addon = /** @type {any} */ (backend).addon

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { DeviceName } from '../base/types' */

const WASM = 'CUDA needs the native addon; this is the WASM back end'
const DEFAULT_DEVICE = 0

// What `when` waits for; as in C's enum (WHEN_READY and so on).
const READY = 0
const STREAM = 1
const EVENT = 2

// ---- Devices ----

/** Devices that C has opened. @type {Set<number>} */
const known = new Set()

function checkNative() {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', WASM)
}

/**
 * Converts a device's name to its number, and opens the device the first time.
 *
 * @param {string} device  'cuda', or 'cuda:' and a number
 * @param {string} name  the argument's name, for messages
 * @returns {number}
 * @throws ERR_DEVICE there is no such device
 */
function indexOf(device, name) {
  const index = device === 'cuda' ? DEFAULT_DEVICE : Number(device.slice(5))
  open(index, (message) =>
    failure('ERR_DEVICE', `${name} is ${show(device)}; 'cpu' is there: ${message}`),
  )
  return index
}

/**
 * Opens a device the first time.
 *
 * @param {number} index
 * @param {(message: string) => Error} refusal  the error where there is no such device
 */
function open(index, refusal) {
  if (known.has(index)) return
  try {
    ffi.run(opcodes.cuda_open, [], [Math.min(index, 2 ** 31)])
  } catch (error) {
    const { code, message } = /** @type {{ code: string, message: string }} */ (error)
    throw code === 'ERR_DEVICE' ? refusal(message) : error
  }
  known.add(index)
}

/**
 * Checks a device argument and opens the device.
 *
 * @param {unknown} device  a name or a number; undefined: the first device
 * @param {string} [name]  the argument's name, for messages
 * @returns {number} the device's number
 */
function deviceGiven(device, name = 'device') {
  checkNative()
  if (device === undefined) device = DEFAULT_DEVICE
  if (typeof device === 'number') {
    integer(name, device)
    if (device < 0) {
      throw failure('ERR_DEVICE', `${name} is ${device}; a device's number is 0 or more`)
    }
    return indexOf(`cuda:${device}`, name)
  }
  if (typeof device !== 'string') {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(device)}; a device's name or number was expected`,
    )
  }
  if (!isDevice(device) || device === 'cpu') {
    throw failure('ERR_DEVICE', `${name} is ${show(device)}; 'cuda:0' or its like was expected`)
  }
  return indexOf(device, name)
}

/**
 * Can tensors be on a CUDA device? The first call opens the driver's library.
 *
 * @returns {boolean} false on WASM
 * @throws nothing
 * @see PyTorch torch.cuda.is_available
 * @example
 * cuda.isAvailable() === (cuda.whyNot() === '') // true
 */
function isAvailable() {
  return whyNot() === ''
}

/**
 * Says why CUDA cannot be used: no driver, no device, no device code, or the WASM back end.
 *
 * @returns {string} a sentence; empty if CUDA can be used
 * @throws nothing
 * @example
 * if (!cuda.isAvailable()) console.log(cuda.whyNot())
 */
function whyNot() {
  if (backend.isWasm) return WASM
  ffi.run(opcodes.cuda_why_not, [])
  return backend.text()
}

/**
 * Counts the CUDA devices that this process can use.
 *
 * @returns {number} 0 without a driver, and on WASM
 * @throws ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.device_count
 * @example
 * cuda.deviceCount() >= 0 // true
 */
function deviceCount() {
  if (backend.isWasm) return 0
  try {
    ffi.run(opcodes.cuda_count, [])
  } catch (error) {
    if (/** @type {{ code?: string }} */ (error).code === 'ERR_DEVICE') return 0
    throw error
  }
  return ffi.result(0)
}

/**
 * A device's properties.
 *
 * @typedef {object} DeviceProperties
 * @property {string} name
 * @property {string} uuid  as nvidia-smi shows it after "GPU-"; empty if the driver does not report it
 * @property {number} major  compute capability
 * @property {number} minor  compute capability
 * @property {number} multiProcessorCount
 * @property {number} totalMemory  bytes
 * @property {number} freeMemory  bytes that all processes leave free, as the driver counts them; -1: not known
 * @property {string} driverVersion  the newest CUDA that the driver supports, such as '13.0'
 * @property {boolean} sharesByDescriptor  can other processes keep shared memory after this one ends?
 * @property {boolean} registersReadOnly  can read-only memory be pinned, such as a mapped file?
 */

/**
 * Reads a device's properties.
 *
 * @param {number | DeviceName} [device]  default: the first device
 * @returns {DeviceProperties}
 * @throws ERR_DEVICE no such device · {TypeError} ERR_ARGUMENT · ERR_UNSUPPORTED on WASM · ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.get_device_properties
 * @example
 * if (cuda.isAvailable()) console.log(cuda.properties(0).name)
 */
function properties(device) {
  ffi.run(opcodes.cuda_properties, [], [deviceGiven(device)])
  const p = JSON.parse(backend.text())
  return {
    name: p.name,
    uuid: p.uuid,
    major: p.major,
    minor: p.minor,
    multiProcessorCount: p.multiprocessors,
    totalMemory: p.total,
    freeMemory: p.free,
    driverVersion: `${Math.floor(p.driver / 1000)}.${Math.floor((p.driver % 1000) / 10)}`,
    sharesByDescriptor: p.sharesByDescriptor,
    registersReadOnly: p.registersReadOnly,
  }
}

/**
 * Blocks until the device has done all work of this process, also that of other libraries.
 *
 * @param {number | DeviceName} [device]  default: the first device
 * @throws as properties · the error of work that failed
 * @see PyTorch torch.cuda.synchronize
 * @example
 * if (cuda.isAvailable()) cuda.synchronize()
 */
function synchronize(device) {
  ffi.run(opcodes.cuda_synchronize, [], [deviceGiven(device)])
}

// ---- Memory ----

const self = Symbol('cuda')

/**
 * Allocates uninitialised bytes on a device, or pinned bytes on the host.
 *
 * @param {number} nbytes
 * @param {number} device  CPU: pinned bytes
 * @param {unknown} shared  true: other processes can map them; 'own': the same, in an allocation of their own; false; 'sab' is an error
 * @returns {Storage}
 */
function allocate(nbytes, device, shared) {
  if (shared === 'sab') {
    throw failure('ERR_ARGUMENT', "shared is 'sab'; a SharedArrayBuffer is not pinned")
  }
  if (nbytes > Number.MAX_SAFE_INTEGER) {
    throw failure('ERR_MEMORY', `${nbytes} bytes cannot be allocated`)
  }
  if (addon.sweeper !== self) {
    addon.sweeper = self
    addon.onFull(collectGarbage) // before an allocation fails; C forgets the function of an instance of the package that is gone (Jest)
  }
  const native = /** @type {import('./native').Backend} */ (backend)
  native.checkMemoryPressure(nbytes / (device === CPU ? 1 : 8))
  if (device === CPU) ffi.run(opcodes.pinned_new, [], [nbytes])
  else if (shared === false) ffi.run(opcodes.cuda_new, [], [device, nbytes])
  else {
    addon.vramNew(device, nbytes, shared === 'own')
    ffi.check()
  }
  const storage = native.hold(ffi.result(0), ffi.result(1), nbytes)
  if (shared !== false && storage.optional !== null) storage.optional.stays = true
  return storage
}

/**
 * @param {string} [what]  what needs pinned memory, for messages
 * @throws ERR_UNSUPPORTED memory cannot be pinned
 */
function checkPinning(what = 'pinMemory is true') {
  if (backend.isWasm) {
    throw failure('ERR_UNSUPPORTED', `${what}: memory is pinned for CUDA, and WASM has none`)
  }
  if (known.size > 0) return
  open(DEFAULT_DEVICE, (message) =>
    failure(
      'ERR_UNSUPPORTED',
      `${what}: memory is pinned for CUDA, which is not there (${message})`,
    ),
  )
}

/**
 * Is it memory of the host that is not pinned?
 *
 * @param {Storage} storage
 */
const isPageable = (storage) => !isOnDevice(storage) && !isPinned(storage)

/**
 * This process' use of a device's memory, and of pinned memory of the host.
 *
 * @typedef {object} MemoryStats
 * @property {number} allocatedBytes  in tensors, each rounded up to the allocator's unit
 * @property {number} allocatedPeak
 * @property {number} reservedBytes  taken from the driver: allocatedBytes and the cache
 * @property {number} reservedPeak
 * @property {number} wrappedBytes  other libraries' memory that tensors are over
 * @property {number} segments  pieces that are taken from the driver now
 * @property {number} blocks  parts of segments that tensors use now
 * @property {number} allocations  by tensors, since the start
 * @property {number} driverAllocations  segments taken from the driver, since the start
 * @property {number} retries  allocations for which cache and driver had no room at first
 * @property {number} failures  allocations that failed for want of memory
 * @property {number} pinnedBytes  pinned memory in tensors; this and the following are of the whole process
 * @property {number} pinnedReserved  pinnedBytes and what is kept for later
 * @property {number} registeredBytes  memory that hostRegister pinned
 */

/** In the order of C's results. */
const STATISTICS = /** @type {const} */ ([
  'allocatedBytes',
  'allocatedPeak',
  'reservedBytes',
  'reservedPeak',
  'wrappedBytes',
  'segments',
  'blocks',
  'allocations',
  'driverAllocations',
  'retries',
  'failures',
  'pinnedBytes',
  'pinnedReserved',
  'registeredBytes',
])

/**
 * Reads counters of this process' memory on a device, and of pinned memory.
 *
 * @param {number | DeviceName} [device]  default: the first device
 * @returns {MemoryStats} a snapshot
 * @throws as properties
 * @see PyTorch torch.cuda.memory_stats
 * @example
 * if (cuda.isAvailable()) console.log(cuda.memoryStats().allocatedBytes)
 */
function memoryStats(device) {
  const index = deviceGiven(device)
  backend.sweep()
  ffi.run(opcodes.cuda_statistics, [], [index])
  return /** @type {MemoryStats} */ (
    Object.fromEntries(STATISTICS.map((name, i) => [name, ffi.argument(i)]))
  )
}

/**
 * Returns cached memory of all used devices, and unused pinned memory, to the driver. Tensors keep theirs.
 *
 * @throws ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.empty_cache
 * @example
 * cuda.emptyCache()
 */
function emptyCache() {
  if (backend.isWasm || known.size === 0) return
  backend.sweep()
  ffi.run(opcodes.cuda_empty_cache, [], [-1])
}

// ---- Waiting ----

/**
 * Waits for work without blocking the event loop.
 *
 * @param {number} what  READY, STREAM or EVENT
 * @param {Storage} holder  the tensor's storage, the stream or the event
 * @returns {Promise<void>}
 */
function when(what, holder) {
  return new Promise((resolve, reject) => {
    ffi.putStorages([holder])
    addon.cudaWhen(what, () => settle(resolve, reject))
    ffi.check()
    if (ffi.result(0) === 1) resolve()
  })
}

/**
 * @param {() => void} resolve
 * @param {(error: unknown) => void} reject
 */
function settle(resolve, reject) {
  try {
    ffi.check()
    resolve()
  } catch (error) {
    reject(error)
  }
}

/**
 * Waits for all work on a layout's bytes that was issued before.
 *
 * @param {Layout} layout
 * @returns {Promise<void>}
 */
async function ready({ storage }) {
  const { optional } = storage
  if (optional === null || !(optional.device >= 0 || optional.pinned)) return // the CPU's work is done when its call returns
  await when(READY, storage)
}

/**
 * Copies to, from or between devices. The caller marks the storages as busy until the promise settles.
 *
 * @param {import('./calls').Copy} copy  checked
 * @param {Storage | null} stream  null: the default stream
 * @returns {Promise<void>}
 */
function copyOn(copy, stream) {
  return new Promise((resolve, reject) => {
    let number = 0
    withStream(stream, () => {
      ffi.putCopy(copy)
      addon.cudaCopy(copy.scaling !== null, () => {
        settle(
          () => finish(copy, number, resolve, reject),
          (error) => {
            addon.cudaEnd(number, false, false)
            reject(error)
          },
        )
      })
      ffi.check()
      number = ffi.result(0)
      const staged = ffi.result(1)
      if (staged > 0) countStaged(staged)
    })
    if (number === 0) resolve()
  })
}

/**
 * Completes a copy on the event loop: C converts and copies what the device delivered.
 *
 * @param {import('./calls').Copy} copy
 * @param {number} number  C's number of the pending copy
 * @param {() => void} resolve
 * @param {(error: unknown) => void} reject
 */
function finish(copy, number, resolve, reject) {
  const wanted = !isOnDevice(copy.dst.storage) // a device has done all of it
  let isEnded = false
  try {
    if (wanted) ffi.putCopy(copy)
    isEnded = true
    addon.cudaEnd(number, wanted, copy.scaling !== null)
    ffi.check()
    const staged = ffi.result(1)
    if (staged > 0) countStaged(staged)
    resolve()
  } catch (error) {
    if (!isEnded) addon.cudaEnd(number, false, false)
    reject(error)
  }
}

// ---- Streams and events ----

/**
 * @param {number} handle  of a stream or an event in C
 * @returns {Storage} without bytes; C drops the handle when the storage is collected
 */
const holderOf = (handle) => /** @type {import('./native').Backend} */ (backend).hold(handle, 0, 0)

/** what a stream's or an event's method was called on @type {(it: any) => Stream} */
let ownStream
/** @type {(it: any) => Event} */
let ownEvent

/**
 * A queue of work on a device, which runs in order. Different streams may run at the same time; where they use the same tensor, one
 * waits for the other, so that nothing is read before it is written.
 *
 * @see PyTorch torch.cuda.Stream
 * @example
 * const overlapped = async (a, b) => { // tensors on cuda:0
 *   const stream = new cuda.Stream()
 *   a.copyFrom(b, { stream })
 *   await stream.finished()
 * }
 */
class Stream {
  /** @type {Storage} */
  #holder
  #device
  #handle

  static {
    ownStream = receiver('cuda.Stream', (it) => #holder in it, 'stream')
  }

  /**
   * @param {number | DeviceName} [device]  default: the first device
   * @throws as cuda.properties · {RangeError} ERR_MEMORY
   */
  constructor(device) {
    this.#device = deviceGiven(device)
    ffi.run(opcodes.cuda_stream_new, [], [this.#device])
    this.#handle = (BigInt(ffi.result(1)) << 32n) | BigInt(ffi.result(2))
    this.#holder = holderOf(ffi.result(0))
  }

  /**
   * @param {unknown} value
   * @returns {value is Stream}
   * @ignore
   */
  static isStream(value) {
    return value !== null && typeof value === 'object' && #holder in value
  }

  /** @param {Stream} stream @returns {Storage} @ignore */
  static holderOf(stream) {
    return stream.#holder
  }

  /** The stream's device. @returns {DeviceName} */
  get device() {
    return nameOfDevice(ownStream(this).#device)
  }
  /** The driver's handle (a CUstream), for other libraries of the process. @returns {bigint} */
  get handle() {
    return ownStream(this).#handle
  }

  /**
   * Makes work that is issued to the stream from now on wait for an event. Does not block.
   *
   * @param {Event} event  if nothing was recorded, there is nothing to wait for
   * @returns {this}
   * @throws {TypeError} ERR_ARGUMENT · ERR_CUDA_CONTEXT_LOST
   * @see PyTorch Stream.wait_event
   * @example
   * if (cuda.isAvailable()) new cuda.Stream().wait(new cuda.Event().record())
   */
  wait(event) {
    const stream = ownStream(this)
    if (!Event.isEvent(event)) {
      throw failure('ERR_ARGUMENT', `event is ${show(event)}; a cuda.Event was expected`)
    }
    const holder = Event.holderOf(event)
    if (holder !== null) ffi.run(opcodes.cuda_stream_wait, [stream.#holder, holder])
    return this
  }

  /**
   * Waits for all work that was issued to the stream before.
   *
   * @returns {Promise<void>}
   * @throws the error of work that failed, as a rejection
   * @example
   * if (cuda.isAvailable()) await new cuda.Stream().finished()
   */
  async finished() {
    await when(STREAM, ownStream(this).#holder)
  }

  /**
   * Blocks until all work is done that was issued to the stream before.
   *
   * @throws the error of work that failed
   * @see PyTorch Stream.synchronize
   * @example
   * if (cuda.isAvailable()) new cuda.Stream().synchronize()
   */
  synchronize() {
    ffi.run(opcodes.cuda_stream_synchronize, [ownStream(this).#holder])
  }
}

/**
 * Marks a point in a stream's work, to wait for.
 *
 * @see PyTorch torch.cuda.Event
 * @example
 * if (cuda.isAvailable()) await new cuda.Event().record(new cuda.Stream()).finished()
 */
class Event {
  /** null: nothing was recorded @type {Storage | null} */
  #holder = null
  #device = CPU

  static {
    ownEvent = receiver('cuda.Event', (it) => #holder in it, 'event')
  }

  /** @throws ERR_UNSUPPORTED on WASM */
  constructor() {
    checkNative()
  }

  /**
   * @param {unknown} value
   * @returns {value is Event}
   * @ignore
   */
  static isEvent(value) {
    return value !== null && typeof value === 'object' && #holder in value
  }

  /** @param {Event} event @returns {Storage | null} @ignore */
  static holderOf(event) {
    return event.#holder
  }

  /**
   * Marks the work that was issued to a stream before. A second call replaces the first.
   *
   * @param {Stream | bigint | number} [stream]  another library's stream by its number, on the first device; default: the first device's
   * default stream
   * @returns {this}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS a number of more than 64 bits · ERR_DEVICE · {RangeError} ERR_MEMORY ·
   * ERR_CUDA_CONTEXT_LOST
   * @see PyTorch Event.record
   * @example
   * const marked = stream => new cuda.Event().record(stream)
   */
  record(stream) {
    ownEvent(this)
    const isOurs = Stream.isStream(stream)
    const device = isOurs ? indexOf(stream.device, 'stream') : deviceGiven(undefined)
    const on = streamOf(stream, device)
    if (this.#holder === null || this.#device !== device) {
      ffi.run(opcodes.cuda_event_new, [], [device])
      this.#holder = holderOf(ffi.result(0))
      this.#device = device
    }
    ffi.run(opcodes.cuda_event_record, [this.#holder, on ?? this.#holder], [on === null ? 0 : 1])
    return this
  }

  /** Is the marked work done? true if nothing was recorded. @returns {boolean} @throws the error of work that failed */
  get isDone() {
    const holder = ownEvent(this).#holder
    if (holder === null) return true
    ffi.run(opcodes.cuda_event_query, [holder])
    return ffi.result(0) !== 0
  }

  /**
   * Waits for the marked work.
   *
   * @returns {Promise<void>}
   * @throws the error of work that failed, as a rejection
   * @see PyTorch Event.synchronize, which blocks
   * @example
   * if (cuda.isAvailable()) await new cuda.Event().record().finished()
   */
  async finished() {
    const holder = ownEvent(this).#holder
    if (holder !== null) await when(EVENT, holder)
  }
}

/**
 * Checks a stream argument.
 *
 * @param {unknown} stream  undefined: the default stream; a number: another library's stream
 * @param {number} device  the device of the work; CPU: every stream is an error
 * @returns {Storage | null} null: the default stream
 */
function streamOf(stream, device) {
  if (stream === undefined || stream === null) return null
  if (Stream.isStream(stream)) {
    if (stream.device !== nameOfDevice(device)) {
      throw failure(
        'ERR_DEVICE',
        `stream is of ${stream.device}; the work is for ${nameOfDevice(device)}`,
      )
    }
    return Stream.holderOf(stream)
  }
  if (typeof stream !== 'bigint' && !Number.isSafeInteger(stream)) {
    throw failure(
      'ERR_ARGUMENT',
      `stream is ${show(stream)}; a cuda.Stream, or the number of another library's, was expected`,
    )
  }
  const number = BigInt(/** @type {number | bigint} */ (stream))
  if (number < 0n || number >= 1n << 64n) {
    throw failure('ERR_BOUNDS', `stream is ${number}; a number of 64 bits was expected`)
  }
  if (device === CPU) {
    throw failure('ERR_DEVICE', `stream is ${number}; the work is for the CPU, which has none`)
  }
  return holderOf(ffi.wrapStream(device, number))
}

/**
 * Calls a function, and issues its work to a stream.
 *
 * @template R
 * @param {Storage | null} stream  null: the default stream
 * @param {() => R} fn
 * @returns {R}
 */
function withStream(stream, fn) {
  if (stream === null) return fn()
  ffi.run(opcodes.cuda_use_stream, [stream], [1])
  try {
    return fn()
  } finally {
    ffi.run(opcodes.cuda_use_stream, [stream], [0])
  }
}

/**
 * Makes another library's stream wait for our work on a storage's bytes, before that library uses them.
 *
 * @param {Storage} storage  on a device
 * @param {number | bigint | null} stream  the number of its stream; null: the default stream
 */
function touch(storage, stream) {
  const device = /** @type {import('./storage').OptionalFields} */ (storage.optional).device
  const on = stream === null ? null : streamOf(stream, device)
  ffi.run(opcodes.cuda_touch, [storage, on ?? storage], [on === null ? 0 : 1])
}

module.exports = {
  isAvailable,
  whyNot,
  deviceCount,
  properties,
  synchronize,
  memoryStats,
  emptyCache,
  Stream,
  Event,
  indexOf,
  allocate,
  checkPinning,
  isPageable,
  ready,
  copyOn,
  streamOf,
  withStream,
  touch,
}
