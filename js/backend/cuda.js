'use strict'
// CUDA devices, their memory, streams and events. This file is read when CUDA is first asked for, and the driver is looked for when
// something here is called.

const ffi = require('./calls')
const { collectGarbage } = require('../runtime/host')
const { failure } = require('../base/errors')
const { show, integer } = require('../base/validate')
const { isOnDevice, countStaged, CPU, nameOfDevice, isDevice } = require('./storage')

const { backend, opcodes, isPinned } = ffi
/** @type {any} undefined on WebAssembly */
const addon = /** @type {any} */ (backend).addon

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { DeviceName } from '../base/types' */

const WASM = 'CUDA needs the native addon; this is the WASM back end'
const DEFAULT_DEVICE = 0

// What to wait for; the order is C's (WHEN_READY and so on).
const READY = 0
const STREAM = 1
const EVENT = 2

// ---- Devices ----

/** Devices that were found to be there. @type {Set<number>} */
const known = new Set()

function checkNative () {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', WASM)
}

/**
 * The number of a device that is there.
 *
 * @param {string} device  'cuda', or 'cuda:' and a number
 * @param {string} name  of the argument, for messages
 * @returns {number}
 * @throws ERR_DEVICE
 */
function indexOf (device, name) {
  const index = device === 'cuda' ? DEFAULT_DEVICE : Number(device.slice(5))
  if (!known.has(index)) {
    try {
      ffi.run(opcodes.cuda_open, [], [Math.min(index, 2 ** 31)])
    } catch (error) {
      const { code, message } = /** @type {{ code: string, message: string }} */ (error)
      throw code === 'ERR_DEVICE' ? failure(code, `${name} is ${show(device)}; 'cpu' is there: ${message}`) : error
    }
    known.add(index)
  }
  return index
}

/**
 * A device as functions take it.
 *
 * @param {unknown} device  a name, or a number; the first one where nothing is given
 * @param {string} [name]  of the argument, for messages
 * @returns {number}
 */
function deviceGiven (device, name = 'device') {
  checkNative()
  if (device === undefined) device = DEFAULT_DEVICE
  if (typeof device === 'number') {
    integer(name, device)
    if (device < 0) throw failure('ERR_DEVICE', `${name} is ${device}; a device's number is 0 or more`)
    return indexOf(`cuda:${device}`, name)
  }
  if (typeof device !== 'string') throw failure('ERR_ARGUMENT', `${name} is ${show(device)}; a device's name or number was expected`)
  if (!isDevice(device) || device === 'cpu') throw failure('ERR_DEVICE', `${name} is ${show(device)}; 'cuda:0' or its like was expected`)
  return indexOf(device, name)
}

/**
 * Can tensors be on a CUDA device? The driver is looked for at the first call.
 *
 * @returns {boolean} false on WASM
 * @throws nothing
 * @see PyTorch torch.cuda.is_available
 * @example
 * cuda.isAvailable() === (cuda.whyNot() === '') // true
 */
function isAvailable () {
  return whyNot() === ''
}

/**
 * What stands in the way of CUDA.
 *
 * @returns {string} a sentence; empty where nothing does
 * @throws nothing
 * @example
 * if (!cuda.isAvailable()) console.log(cuda.whyNot())
 */
function whyNot () {
  if (backend.isWasm) return WASM
  ffi.run(opcodes.cuda_why_not, [])
  return backend.text()
}

/**
 * How many CUDA devices the process has.
 *
 * @returns {number} 0 where there is no driver, and on WASM
 * @throws ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.device_count
 * @example
 * cuda.deviceCount() >= 0 // true
 */
function deviceCount () {
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
 * What a device is.
 *
 * @typedef {object} DeviceProperties
 * @property {string} name
 * @property {string} uuid  as nvidia-smi writes it after "GPU-"; empty where the driver does not tell
 * @property {number} major  of the compute capability
 * @property {number} minor
 * @property {number} multiProcessorCount
 * @property {number} totalMemory  bytes
 * @property {number} freeMemory  bytes, as the driver counts them for all processes; -1: it does not tell
 * @property {string} driverVersion  the newest CUDA that the driver knows, such as '13.0'
 * @property {boolean} sharesByDescriptor  can memory be given to other processes in a way that outlives this one?
 * @property {boolean} registersReadOnly  can memory be pinned that may only be read, such as a mapped file?
 */

/**
 * What a device is.
 *
 * @param {number | DeviceName} [device]  the first one where none is given
 * @returns {DeviceProperties}
 * @throws ERR_DEVICE it is not there · {TypeError} ERR_ARGUMENT · ERR_UNSUPPORTED on WASM · ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.get_device_properties
 * @example
 * if (cuda.isAvailable()) console.log(cuda.properties(0).name)
 */
function properties (device) {
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
    driverVersion: `${Math.floor(p.driver / 1000)}.${Math.floor(p.driver % 1000 / 10)}`,
    sharesByDescriptor: p.sharesByDescriptor,
    registersReadOnly: p.registersReadOnly
  }
}

/**
 * Waits until all work on a device is done, whoever gave it. Blocks.
 *
 * @param {number | DeviceName} [device]  the first one where none is given
 * @throws as properties · what went wrong in that work
 * @see PyTorch torch.cuda.synchronize
 * @example
 * if (cuda.isAvailable()) cuda.synchronize()
 */
function synchronize (device) {
  ffi.run(opcodes.cuda_synchronize, [], [deviceGiven(device)])
}

// ---- Memory ----

let isSwept = false

/** Has garbage collected before an allocation on a full device fails. */
function sweepWhenFull () {
  if (isSwept) return
  isSwept = true
  addon.onFull(collectGarbage)
}

/**
 * Uninitialised bytes of a device, or pinned ones of the host.
 *
 * @param {number} nbytes
 * @param {number} device  CPU: pinned ones
 * @param {unknown} shared  true, false, 'sab' or 'own'
 * @returns {Storage}
 */
function allocate (nbytes, device, shared) {
  if (shared === 'sab') throw failure('ERR_ARGUMENT', "shared is 'sab'; a SharedArrayBuffer is not pinned")
  if (nbytes > Number.MAX_SAFE_INTEGER) throw failure('ERR_MEMORY', `${nbytes} bytes cannot be allocated`)
  sweepWhenFull()
  const native = /** @type {import('./native').Backend} */ (backend)
  native.checkMemoryPressure(nbytes / (device === CPU ? 1 : 8))
  if (device === CPU) ffi.run(opcodes.pinned_new, [], [nbytes])
  else if (shared === false) ffi.run(opcodes.cuda_new, [], [device, nbytes])
  else shareable(nbytes, device, shared === 'own')
  const storage = native.hold(ffi.result(0), ffi.result(1), nbytes)
  if (shared !== false) /** @type {import('./storage').OptionalFields} */ (storage.extra).stays = true
  return storage
}

/**
 * Bytes that other processes can map.
 *
 * @param {number} nbytes
 * @param {number} device
 * @param {boolean} own  in an allocation of their own
 */
function shareable (nbytes, device, own) {
  addon.vramNew(device, nbytes, own)
  ffi.check()
}

/**
 * @param {string} [what]  was asked for
 * @throws ERR_UNSUPPORTED nothing can be pinned
 */
function checkPinning (what = 'pinMemory is true') {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', `${what}: memory is pinned for CUDA, and WASM has none`)
  if (known.size > 0) return
  try {
    ffi.run(opcodes.cuda_open, [], [DEFAULT_DEVICE])
    known.add(DEFAULT_DEVICE)
  } catch (error) {
    const { code, message } = /** @type {{ code: string, message: string }} */ (error)
    throw code === 'ERR_DEVICE' ? failure('ERR_UNSUPPORTED', `${what}: memory is pinned for CUDA, which is not there (${message})`) : error
  }
}

/**
 * Is it memory of the host that is not page-locked?
 *
 * @param {Storage} storage
 */
function isPageable (storage) {
  return !isOnDevice(storage) && !isPinned(storage)
}

/**
 * What a device's memory is used for.
 *
 * @typedef {object} MemoryStats
 * @property {number} allocatedBytes  in tensors, rounded up as they are allocated
 * @property {number} allocatedPeak
 * @property {number} reservedBytes  taken from the driver; what is not allocated is kept for later
 * @property {number} reservedPeak
 * @property {number} wrappedBytes  of others' memory that tensors are over
 * @property {number} segments  taken from the driver
 * @property {number} blocks  of them in use
 * @property {number} allocations  ever made
 * @property {number} driverAllocations  of which the driver was asked for
 * @property {number} retries  after which there was room
 * @property {number} failures
 * @property {number} pinnedBytes  of the host, in tensors; of the process, as the following
 * @property {number} pinnedReserved
 * @property {number} registeredBytes
 */

/** In the order in which C gives them. */
const STATISTICS = /** @type {const} */ (['allocatedBytes', 'allocatedPeak', 'reservedBytes', 'reservedPeak', 'wrappedBytes', 'segments', 'blocks', 'allocations',
  'driverAllocations', 'retries', 'failures', 'pinnedBytes', 'pinnedReserved', 'registeredBytes'])

/**
 * How a device's memory is used by this process.
 *
 * @param {number | DeviceName} [device]  the first one where none is given
 * @returns {MemoryStats} a snapshot
 * @throws as properties
 * @see PyTorch torch.cuda.memory_stats
 * @example
 * if (cuda.isAvailable()) console.log(cuda.memoryStats().allocatedBytes)
 */
function memoryStats (device) {
  const index = deviceGiven(device)
  backend.sweep()
  ffi.run(opcodes.cuda_statistics, [], [index])
  return /** @type {MemoryStats} */ (Object.fromEntries(STATISTICS.map((name, i) => [name, ffi.argument(i)])))
}

/**
 * Gives memory that is kept for later back to the driver: of all devices in use, and pinned memory. Tensors keep theirs.
 *
 * @throws ERR_CUDA_CONTEXT_LOST
 * @see PyTorch torch.cuda.empty_cache
 * @example
 * cuda.emptyCache()
 */
function emptyCache () {
  if (backend.isWasm || known.size === 0) return
  backend.sweep()
  ffi.run(opcodes.cuda_empty_cache, [], [-1])
}

// ---- Waiting ----

/**
 * @param {number} what
 * @param {Storage} holder
 * @returns {Promise<void>}
 */
function when (what, holder) {
  return new Promise((resolve, reject) => {
    ffi.putStorages([holder])
    addon.cudaWhen(what, () => { settle(resolve, reject) })
    ffi.check()
    if (ffi.result(0) === 1) resolve()
  })
}

/**
 * @param {() => void} resolve
 * @param {(error: unknown) => void} reject
 */
function settle (resolve, reject) {
  try {
    ffi.check()
    resolve()
  } catch (error) {
    reject(error)
  }
}

/**
 * Waits for all work on a layout's bytes so far.
 *
 * @param {Layout} layout
 * @returns {Promise<void>}
 */
async function ready ({ storage }) {
  const { extra } = storage
  if (extra === null || !(extra.device >= 0 || extra.pinned)) return // the CPU's work is done when its call returns
  await when(READY, storage)
}

/**
 * Copies to, from or between devices. The caller holds what it uses, as busy, until the promise settles.
 *
 * @param {import('./calls').Copy} copy  that was checked
 * @param {Storage | null} stream
 * @returns {Promise<void>}
 */
function copyOn (copy, stream) {
  return new Promise((resolve, reject) => {
    let number = 0
    withStream(stream, () => {
      ffi.putCopy(copy)
      addon.cudaCopy(copy.scaling !== null, () => {
        settle(() => finish(copy, number, resolve, reject), error => {
          addon.cudaEnd(number, false, false)
          reject(error)
        })
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
 * @param {import('./calls').Copy} copy
 * @param {number} number
 * @param {() => void} resolve
 * @param {(error: unknown) => void} reject
 */
function finish (copy, number, resolve, reject) {
  const wanted = !isOnDevice(copy.dst.storage) // elsewhere nothing is left to copy
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
 * @param {number} handle
 * @returns {Storage} without bytes; the handle is dropped when it is collected
 */
function holderOf (handle) {
  return /** @type {import('./native').Backend} */ (backend).hold(handle, 0, 0)
}

/**
 * Work on a device in the order in which it was given. Work on different streams may go on at the same time; tensors that are
 * touched on several of them are waited for, so that nothing is read before it is written.
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

  /**
   * @param {number | DeviceName} [device]  the first one where none is given
   * @throws as cuda.properties · {RangeError} ERR_MEMORY
   */
  constructor (device) {
    this.#device = deviceGiven(device)
    ffi.run(opcodes.cuda_stream_new, [], [this.#device])
    this.#handle = handleNow()
    this.#holder = holderOf(ffi.result(0))
  }

  /**
   * @param {unknown} value
   * @returns {value is Stream}
   * @ignore
   */
  static isStream (value) {
    return value !== null && typeof value === 'object' && #holder in value
  }

  /** @param {Stream} stream @returns {Storage} @ignore */
  static holderOf (stream) { return stream.#holder }

  /** Where it is. @returns {DeviceName} */
  get device () { return nameOfDevice(this.#device) }
  /** The driver's number for it, which other libraries of the process take. @returns {bigint} */
  get handle () { return this.#handle }

  /**
   * What is given to the stream from now on waits for what an event recorded. Does not block.
   *
   * @param {Event} event  one that was not recorded is not waited for
   * @returns {this}
   * @throws {TypeError} ERR_ARGUMENT · ERR_CUDA_CONTEXT_LOST
   * @see PyTorch Stream.wait_event
   * @example
   * if (cuda.isAvailable()) new cuda.Stream().wait(new cuda.Event().record())
   */
  wait (event) {
    if (!Event.isEvent(event)) throw failure('ERR_ARGUMENT', `event is ${show(event)}; a cuda.Event was expected`)
    const holder = Event.holderOf(event)
    if (holder !== null) ffi.run(opcodes.cuda_stream_wait, [this.#holder, holder])
    return this
  }

  /**
   * When all is done that was given to the stream so far.
   *
   * @returns {Promise<void>}
   * @throws what went wrong in that work, as a rejection
   * @example
   * if (cuda.isAvailable()) await new cuda.Stream().finished()
   */
  async finished () {
    await when(STREAM, this.#holder)
  }

  /**
   * Waits until all is done that was given to the stream so far. Blocks.
   *
   * @throws what went wrong in that work
   * @see PyTorch Stream.synchronize
   * @example
   * if (cuda.isAvailable()) new cuda.Stream().synchronize()
   */
  synchronize () {
    ffi.run(opcodes.cuda_stream_synchronize, [this.#holder])
  }
}

/**
 * A point in the work of a stream, for others to wait for.
 *
 * @see PyTorch torch.cuda.Event
 * @example
 * if (cuda.isAvailable()) await new cuda.Event().record(new cuda.Stream()).finished()
 */
class Event {
  /** null: not recorded yet @type {Storage | null} */
  #holder = null
  #device = CPU

  /** @throws ERR_UNSUPPORTED on WASM */
  constructor () {
    checkNative()
  }

  /**
   * @param {unknown} value
   * @returns {value is Event}
   * @ignore
   */
  static isEvent (value) {
    return value !== null && typeof value === 'object' && #holder in value
  }

  /** @param {Event} event @returns {Storage | null} @ignore */
  static holderOf (event) { return event.#holder }

  /**
   * From now on the event stands for all that was given to a stream so far, and no longer for what it stood for.
   *
   * @param {Stream | bigint | number} [stream]  another library's by its number; the default one of the first device where none is given
   * @returns {this}
   * @throws {TypeError} ERR_ARGUMENT · ERR_DEVICE · {RangeError} ERR_MEMORY · ERR_CUDA_CONTEXT_LOST
   * @see PyTorch Event.record
   * @example
   * const marked = stream => new cuda.Event().record(stream)
   */
  record (stream) {
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

  /** Is it done? An event that was not recorded is. @returns {boolean} @throws what went wrong in that work */
  get isDone () {
    if (this.#holder === null) return true
    ffi.run(opcodes.cuda_event_query, [this.#holder])
    return ffi.result(0) !== 0
  }

  /**
   * When all is done that the event stands for.
   *
   * @returns {Promise<void>}
   * @throws what went wrong in that work, as a rejection
   * @see PyTorch Event.synchronize, which blocks
   * @example
   * if (cuda.isAvailable()) await new cuda.Event().record().finished()
   */
  async finished () {
    if (this.#holder !== null) await when(EVENT, this.#holder)
  }
}

/** @returns {bigint} of the stream that C has just made */
function handleNow () {
  return (BigInt(ffi.result(1)) << 32n) | BigInt(ffi.result(2))
}

/**
 * A stream as options and methods take it.
 *
 * @param {unknown} stream  undefined: the default one; a number: somebody else's
 * @param {number} device  that work is for; CPU: none, and no stream is allowed
 * @returns {Storage | null} null: the default one
 */
function streamOf (stream, device) {
  if (stream === undefined || stream === null) return null
  if (Stream.isStream(stream)) {
    if (stream.device !== nameOfDevice(device)) throw failure('ERR_DEVICE', `stream is of ${stream.device}; the work is for ${nameOfDevice(device)}`)
    return Stream.holderOf(stream)
  }
  if (typeof stream !== 'bigint' && !Number.isSafeInteger(stream)) throw failure('ERR_ARGUMENT', `stream is ${show(stream)}; a cuda.Stream, or the number of another library's, was expected`)
  const number = BigInt(/** @type {number | bigint} */ (stream))
  if (number < 0n || number >= 1n << 64n) throw failure('ERR_BOUNDS', `stream is ${number}; a number of 64 bits was expected`)
  if (device === CPU) throw failure('ERR_DEVICE', `stream is ${number}; the work is for the CPU, which has none`)
  return holderOf(ffi.wrapStream(device, number))
}

/**
 * Runs a function whose work goes to a stream.
 *
 * @template R
 * @param {Storage | null} stream  null: the default one
 * @param {() => R} fn
 * @returns {R}
 */
function withStream (stream, fn) {
  if (stream === null) return fn()
  ffi.run(opcodes.cuda_use_stream, [stream], [1])
  try {
    return fn()
  } finally {
    ffi.run(opcodes.cuda_use_stream, [stream], [0])
  }
}

/**
 * Makes a stream, on which others are about to use a storage's bytes, wait for our work on them.
 *
 * @param {Storage} storage  on a device
 * @param {number | bigint | null} stream  the number of theirs; null: the default one
 */
function touch (storage, stream) {
  const device = /** @type {import('./storage').OptionalFields} */ (storage.extra).device
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
  touch
}
