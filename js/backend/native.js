'use strict'
// The native back end: the addon, and V8's own memory for the tensors that it makes. Small ones are slots of a pool
// (small-tensors.js); larger ones have an ArrayBuffer of their own from the start.

const { rootless } = require('../base/records')
const path = require('node:path')
const { TextEncoder } = require('node:util')
const { failure } = require('../base/errors')
const {
  bundled,
  collectGarbage,
  onShortage,
  log,
  onNextTurn,
  placeOf,
  root,
  textOf,
} = require('../runtime/host')
const {
  byteLengthOf,
  isSharedArrayBuffer,
  MAX_LENGTH,
  bufferOf,
  bytesCopied,
  bytesFrom,
  lengthOf,
} = require('../base/buffers')
const { requireAddon, platformName, isShipped } = require('../runtime/platform')
const { Storage, Group, OptionalFields, passing, unclaim, newSharedStorage } = require('./storage')
const { events, opcodesOf, budget, grant, counts, countedBytes } = require('./storage')
const { outOfSight, reporting } = require('./storage')
const { SmallTensors, IN_HEAP, SMALL, ALIGNMENT, newBuffer } = require('./small-tensors')

const BIG = 65536 // bytes from which a storage is counted by itself
const BATCH = 64 // smaller storages that are counted together
const MOST_SPARE = 64 * 2 ** 20 // bytes of buffers that are kept for the next storages of their size
const MOST_BUFFERS = 8 // of them

const encoder = new TextEncoder()

/** What keeps foreign memory alive, for as long as a buffer over it lives. @type {WeakMap<object, unknown[]>} */
const owners = new WeakMap()

/** Buffers over guarded mappings, with a storage that lives as long: tensors made of such a buffer are guarded as well. @type {WeakMap<object, Storage>} */
const guarded = new WeakMap()

/** @returns {boolean} whether it is a mistake that the addon is missing */
const isExpected = () => process.env.SAMEBYTES_BINARY !== undefined || isShipped()

/** Systems on which the whole suite has passed on the system itself. On others somebody has to ask for the addon. */
const PROVEN = ['linux']

/** @returns {boolean} whether the addon is used here by itself */
const isDefault = () =>
  PROVEN.includes(process.platform) || process.env.SAMEBYTES_BINARY !== undefined

/** where the addon was found, and the others of its build are */
let folder = ''

function load() {
  const reasons = []
  let isForbidden = false
  const files = process.env.SAMEBYTES_BINARY
    ? [path.resolve(process.env.SAMEBYTES_BINARY)]
    : [
        placeOf('build', 'Release', 'samebytes.node'),
        placeOf('prebuilds', platformName(), 'samebytes.node'),
      ]
  for (const file of files) {
    try {
      const addon = requireAddon(file)
      if (typeof addon?.abilities !== 'function') throw new Error('it is another module')
      log('addon %s', file)
      folder = path.dirname(file)
      return addon
    } catch (/** @type {any} */ error) {
      reasons.push(`${file}: ${reasonOf(error)}`)
      log('no addon %s', reasons[reasons.length - 1])
      isForbidden ||= FORBIDDEN.includes(error.code)
    }
  }
  if (bundled !== '') {
    throw failure(
      'ERR_UNSUPPORTED',
      `no native addon for ${platformName()} could be loaded: ${bundled}`,
    )
  }
  const advice = isForbidden ? '' : ', npx samebytes-build compiles one'
  throw failure(
    'ERR_UNSUPPORTED',
    `no native addon for ${platformName()} could be loaded (${reasons.join('; ')}); SAMEBYTES_BACKEND=wasm does without${advice}`,
  )
}

const FORBIDDEN = ['ERR_DLOPEN_DISABLED', 'ERR_ACCESS_DENIED']

/** @param {Error & { code?: string }} error  why an addon could not be loaded */
function reasonOf({ code, message }) {
  if (code === 'MODULE_NOT_FOUND') return 'no such file'
  const isPermission = /** @type {any} */ (process).permission !== undefined
  if (code === 'ERR_DLOPEN_DISABLED') {
    return `addons are forbidden${isPermission ? ', --allow-addons allows them' : ' by --no-addons'}`
  }
  if (code === 'ERR_ACCESS_DENIED') {
    return `the permission model forbids it, --allow-fs-read=${root} allows it`
  }
  return message.split('\n')[0].trim()
}

/**
 * Buffers of released storages that nobody has seen, for the next storages of exactly their size: a buffer of megabytes whose pages the
 * system has to bring costs many times what is computed into it. They would be garbage, and are dropped when garbage is collected.
 */
class SpareBuffers {
  constructor() {
    this.clear = () => {
      /** [buffer, address], the latest last @type {[ArrayBuffer, number][]} */
      this.list = []
      this.nbytes = 0
      this.isWatched = false
    }
    this.clear()
    this.collections = new FinalizationRegistry(this.clear)
  }

  /** @param {ArrayBuffer} buffer @param {number} address  of its first byte */
  put(buffer, address) {
    const nbytes = byteLengthOf(buffer)
    if (nbytes > MOST_SPARE) return
    while (this.list.length === MOST_BUFFERS || this.nbytes + nbytes > MOST_SPARE) this.takeAt(0)
    this.list.push([buffer, address])
    this.nbytes += nbytes
    if (this.isWatched) return
    this.collections.register({}, undefined)
    this.isWatched = true
  }

  /** @param {number} nbytes @returns {[ArrayBuffer, number] | null} a buffer of so many bytes, with anything in it, and its address */
  take(nbytes) {
    const at = this.list.findLastIndex(([buffer]) => byteLengthOf(buffer) === nbytes)
    return at < 0 ? null : this.takeAt(at)
  }

  /** @param {number} at */
  takeAt(at) {
    const found = this.list[at]
    const nbytes = byteLengthOf(found[0])
    this.list = this.list.filter((spare) => spare !== found) // not moved in place: a program that is stopped in a loop or at a call (vm's timeout) would leave one buffer there twice
    this.nbytes -= nbytes
    return found
  }
}

rootless(SpareBuffers)

/** The back end's interface, as select.js has it. */
class Backend {
  constructor() {
    const addon = load()
    this.addon = addon
    this.name = 'native'
    this.isWasm = false
    /** what this system offers, by sb__abilities of src/platform/platform.h @type {import('./storage').Abilities} */
    this.abilities = addon.abilities()
    this.hint = ''
    /** @type {import('./wasm-shared').ThreadGroup | null} */
    this.group = null
    this.tables = JSON.parse(addon.tables)
    this.frame = {
      f64: new Float64Array(addon.frame),
      i64: new BigInt64Array(addon.frame),
      i32: new Int32Array(addon.frame),
    }
    this.opcodes = opcodesOf(this.tables)
    this.RESULTS = this.tables.frame.RESULTS
    const int32 = this.tables.dtypes.findIndex(
      (/** @type {[string, string] | null} */ row) => row?.[0] === 'int32',
    )
    /** not 0 once bytes of a guarded mapping turned out to be gone; null: this system cannot tell @type {Int32Array | null} */
    this.faults = addon.faults === undefined ? null : new Int32Array(addon.faults)
    this.textBytes = new Uint8Array(
      addon.frame,
      this.tables.frame.TEXT * 8,
      (this.tables.frame.SCRATCH - this.tables.frame.TEXT) * 8,
    )
    const { call } = addon
    const { i32 } = this.frame
    const at = 2 * this.tables.frame.ROW
    /** @param {number} opcode */
    this.call = (opcode) => {
      i32[at] = opcode
      call()
    }
    this.watched = 0
    this.sweepAt = 256
    this.small = new SmallTensors(this, int32)
    this.spare = new SpareBuffers()
    /** the group of the next storage that is not BIG @type {Group} */
    this.batch = this.newGroup('v8')
    /** likewise, of the caller's bytes @type {Group} */
    this.adopted = this.newGroup('js')
    /** bytes in use, after what was collected is freed */
    this.inUse = () => {
      this.spare.clear()
      this.sweep()
      this.call(this.opcodes.totals)
      const { v8, sab } = countedBytes()
      return v8 + sab + this.frame.f64[this.RESULTS + 1]
    }
    /** whether the caller has a buffer over a guarded mapping */
    this.hasGuarded = false
    this.nativeBytes = 0
    this.nativeLimit = 32 * 2 ** 20
    onShortage(() => this.sweep())
    budget.collect = collectGarbage
  }

  /**
   * Loads samebytes_math, the addon beside this one.
   *
   * @returns {{ tables: any, algorithms: () => any, call: (row: number) => void, start: (row: number, done: () => void) => void }} arithmetic's lists, those
   *   of algorithms, its calls by the call buffer, and the same on another thread (as startCopy)
   * @throws ERR_UNSUPPORTED it is missing, or of another build
   */
  openMath() {
    const file = path.join(folder, 'samebytes_math.node')
    let math
    try {
      math = requireAddon(file)
      math.open(this.addon.core())
    } catch (/** @type {any} */ error) {
      throw failure(
        'ERR_UNSUPPORTED',
        `samebytes/math could not be loaded (${file}: ${reasonOf(error)})`,
      )
    }
    const first = this.tables.rows.length - 1
    return {
      tables: JSON.parse(math.tables),
      algorithms: () => JSON.parse(math.algorithms),
      call: (row) => this.call(first + row),
      start: (row, done) => this.addon.compute(first + row, done),
    }
  }

  /** The last error's message. */
  text() {
    const end = this.textBytes.indexOf(0)
    return textOf(bytesCopied(this.textBytes, 0, end))
  }

  /** Writes text where C's error messages are, for C to read. @param {string} text */
  leaveText(text) {
    const { written } = encoder.encodeInto(
      text,
      bytesFrom(this.textBytes, 0, lengthOf(this.textBytes) - 1),
    )
    this.textBytes[written] = 0
  }

  // ---- Counting ----

  /**
   * @param {'v8' | 'js' | 'sab'} kind
   * @returns {Group}
   */
  newGroup(kind) {
    if (++this.watched > this.sweepAt) {
      this.sweep()
      this.watched = counts.size
      this.sweepAt = Math.max(256, 2 * counts.size)
    }
    const group = new Group(kind)
    const id = this.addon.watch(group, 0)
    if (id >= 0) counts.set(id, group.count)
    return group
  }

  /** Frees native storages that JavaScript has collected, and forgets the counts of collected groups. */
  sweep() {
    for (const id of this.addon.sweep()) counts.delete(id)
  }

  // ---- Making storages ----

  /**
   * @param {number} nbytes
   * @returns {Storage} uninitialised
   */
  allocate(nbytes) {
    return nbytes > SMALL ? this.allocateOwn(nbytes, false) : this.small.allocate(nbytes)
  }

  /**
   * @param {number} nbytes
   * @returns {Storage} all zero
   */
  allocateZeroed(nbytes) {
    return nbytes > SMALL ? this.allocateOwn(nbytes, true) : this.small.allocateZeroed(nbytes)
  }

  /**
   * Address of a buffer's first byte.
   *
   * @param {ArrayBufferLike} buffer
   * @returns {number}
   */
  locate(buffer) {
    this.addon.locate(buffer)
    return this.frame.f64[this.RESULTS]
  }

  /**
   * @param {number} nbytes
   * @param {boolean} zeroed
   */
  allocateOwn(nbytes, zeroed) {
    grant(nbytes, this.inUse)
    const spare = zeroed || nbytes < BIG ? null : this.spare.take(nbytes + ALIGNMENT)
    const buffer = spare === null ? this.newBuffer(nbytes, zeroed) : spare[0]
    const address = spare === null ? this.locate(buffer) : spare[1]
    const start = -address & (ALIGNMENT - 1)
    let group = this.batch
    if (nbytes >= BIG) group = this.newGroup('v8')
    else if (group.made++ >= BATCH) group = this.batch = this.newGroup('v8')
    const storage = new Storage(group, null, buffer, start, nbytes)
    storage.address = address + start
    group.count.bytes += nbytes
    return storage
  }

  /** @param {number} nbytes @param {boolean} zeroed @returns {ArrayBuffer} with room for alignment */
  newBuffer(nbytes, zeroed) {
    try {
      return newBuffer(nbytes, ALIGNMENT, zeroed)
    } catch {
      this.spare.clear()
      return newBuffer(nbytes, ALIGNMENT, zeroed)
    }
  }

  /**
   * A storage over the caller's bytes.
   *
   * @param {ArrayBufferLike} buffer
   * @param {number} byteOffset
   * @param {number} nbytes
   * @returns {Storage}
   */
  adopt(buffer, byteOffset, nbytes) {
    const whole = this.hasGuarded && nbytes > 0 ? guarded.get(buffer) : undefined
    if (whole !== undefined) return this.partOf(whole, byteOffset, nbytes)
    if (this.adopted.made++ >= BATCH) this.adopted = this.newGroup('js')
    return new Storage(this.adopted, null, buffer, byteOffset, nbytes)
  }

  /**
   * A storage of some of another one's bytes, which it keeps alive.
   *
   * @param {Storage} whole  with a handle
   * @param {number} at
   * @param {number} nbytes  inside
   * @returns {Storage}
   * @throws {RangeError} ERR_MEMORY
   */
  partOf(whole, at, nbytes) {
    const { f64 } = this.frame
    const { STATUS, OPERANDS, HANDLE, ARGS } = this.tables.frame
    f64[OPERANDS + HANDLE] = /** @type {OptionalFields} */ (whole.optional).handle
    f64[ARGS] = at
    f64[ARGS + 1] = nbytes
    this.call(this.opcodes.storage_part)
    if (f64[STATUS] !== 0) throw failure('ERR_MEMORY', this.text())
    const part = this.hold(f64[this.RESULTS], f64[this.RESULTS + 1], nbytes)
    if (events.listener !== null) events.listener.divided(part, whole)
    return part
  }

  /**
   * Is it WASM's linear memory? Native has none.
   *
   * @param {ArrayBufferLike} buffer
   */
  isOwn(buffer) {
    return false
  }

  /**
   * A storage over the caller's bytes for one call.
   *
   * @param {ArrayBufferLike} buffer
   * @param {number} byteOffset
   * @param {number} nbytes
   * @returns {Storage}
   */
  borrow(buffer, byteOffset, nbytes) {
    return new Storage(passing, null, buffer, byteOffset, nbytes)
  }

  /** @param {number} nbytes @returns {Storage} all zero */
  allocateSab(nbytes) {
    grant(nbytes, this.inUse)
    return newSharedStorage(this.newGroup('sab'), nbytes)
  }

  /**
   * Bytes in C's heap, which other threads may use.
   *
   * @param {number} nbytes
   * @param {() => void} check  throws the error of the last call
   * @returns {Storage}
   */
  allocateNative(nbytes, check) {
    if (nbytes > Number.MAX_SAFE_INTEGER) {
      throw failure('ERR_MEMORY', `${nbytes} bytes cannot be allocated`)
    }
    grant(nbytes, this.inUse)
    const { f64 } = this.frame
    this.checkMemoryPressure(nbytes)
    f64[this.tables.frame.ARGS] = nbytes
    this.call(this.opcodes.storage_new)
    check()
    return this.hold(f64[this.RESULTS], f64[this.RESULTS + 1], nbytes)
  }

  /**
   * Sweeps after each 32 MiB of allocations: finalizers wait for the event loop, which a loop of allocations never reaches.
   *
   * @param {number} nbytes  of the next allocation
   */
  checkMemoryPressure(nbytes) {
    this.nativeBytes += nbytes
    if (this.nativeBytes <= this.nativeLimit) return
    this.sweep()
    this.nativeBytes = 0
  }

  /**
   * A storage over foreign memory.
   *
   * @param {number} address
   * @param {number} nbytes
   * @param {Function | undefined} deleter
   * @param {() => void} check  throws the error of the last call
   * @param {number} device  that has it; -1: the CPU
   * @returns {Storage}
   */
  wrap(address, nbytes, deleter, check, device) {
    this.addon.wrap(address, nbytes, deleter && reporting(deleter), device)
    check()
    const storage = this.hold(this.frame.f64[this.tables.frame.RESULTS], address, nbytes)
    if (events.listener !== null) events.listener.shared(storage, 'foreign')
    return storage
  }

  /**
   * @param {number} handle
   * @param {number} address
   * @param {number} nbytes
   */
  hold(handle, address, nbytes) {
    const storage = new Storage(new Group('native'), null, null, 0, nbytes)
    storage.address = address
    const optional = this.watch(storage, handle)
    optional.handle = handle // operands have it instead of the address
    if (optional.device >= 0) storage.group.kind = storage.group.count.kind = 'cuda'
    counts.set(optional.watch, storage.group.count)
    return storage
  }

  /**
   * Has the handle dropped when the storage is collected.
   *
   * @param {Storage} storage
   * @param {number} handle
   * @returns {OptionalFields} with the watch
   */
  watch(storage, handle) {
    const id = this.addon.watch(storage, handle)
    const { f64 } = this.frame
    if (id < 0) {
      this.drop(handle)
      throw failure('ERR_MEMORY', 'no memory to watch a storage')
    }
    const optional = (storage.optional = new OptionalFields())
    optional.watch = id
    optional.guarded = f64[this.RESULTS] !== 0
    optional.device = f64[this.RESULTS + 1]
    optional.pinned = f64[this.RESULTS + 2] !== 0
    return optional
  }

  /**
   * Calls deleter when the caller's buffer is used by no tensor any more.
   *
   * @param {Storage} storage
   * @param {Function} deleter
   * @param {() => void} check
   */
  attachDeleter(storage, deleter, check) {
    this.addon.wrap(this.addressOf(storage), storage.nbytes, reporting(deleter), -1)
    check()
    this.watch(storage, this.frame.f64[this.RESULTS])
  }

  /** @param {number} handle  without a watch */
  drop(handle) {
    this.frame.f64[this.tables.frame.ARGS] = handle
    this.call(this.opcodes.storage_drop)
  }

  // ---- Using storages ----

  /**
   * Address of the storage's first byte; the buffer is attached and long enough.
   *
   * @param {Storage} storage
   * @returns {number}
   */
  addressOf(storage) {
    return (storage.address ??= this.findAddress(storage))
  }

  /** @param {Storage} storage */
  findAddress(storage) {
    const { block } = storage
    if (block === IN_HEAP) {
      this.small.leaveHeap(storage)
      if (storage.address !== null) return storage.address
    } else if (block !== null) {
      return this.small.addressOf(storage)
    }
    if (storage.nbytes === 0) return 0
    const view = new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), 0, 1)
    return this.addon.address(view) + storage.byteOffset
  }

  /**
   * Gives a small tensor's bytes a buffer of their own, because they are about to be shown.
   *
   * @param {Storage} storage
   */
  promote(storage) {
    this.small.promote(storage)
    storage.isShown = true
  }

  /**
   * @param {Storage} storage
   * @param {any} Type
   * @returns {any} a typed array over all bytes of the storage, in V8's heap; null: there are too many, or they were shown before
   */
  moveToHeap(storage, Type) {
    return this.small.moveToHeap(storage, Type)
  }

  /** @param {Storage} storage  in V8's heap */
  leaveHeap(storage) {
    this.small.leaveHeap(storage)
  }

  /** WASM notes here what typed arrays show; native need not. */
  expose() {}

  /**
   * The buffer over the bytes, for the caller to see.
   *
   * @param {Storage} storage
   * @param {() => void} check
   * @returns {ArrayBufferLike}
   */
  bufferOf(storage, check) {
    storage.isShown = true
    if (storage.block !== null) this.small.promote(storage)
    if (storage.kind === 'cuda') throw outOfSight(storage)
    if (
      storage.kind === 'native' &&
      (storage.buffer === null || (storage.nbytes > 0 && byteLengthOf(storage.buffer) === 0))
    ) {
      const optional = /** @type {OptionalFields} */ (storage.optional)
      const buffer = this.addon.buffer(optional.watch)
      check()
      if (optional.guarded) {
        guarded.set(buffer, this.partOf(storage, 0, storage.nbytes)) // the storage may be disposed before the buffer is collected
        this.hasGuarded = true
      }
      storage.buffer = buffer
      optional.windows = null
      if (storage.owner !== undefined) owners.set(buffer, [storage.owner, optional.base])
    }
    return /** @type {ArrayBufferLike} */ (storage.buffer)
  }

  /**
   * A SharedArrayBuffer over the storage of a token. It keeps the bytes until all threads have collected it.
   *
   * @param {number} key
   * @param {() => void} check  throws the error of the last call
   * @returns {SharedArrayBuffer}
   */
  sharedBuffer(key, check) {
    const buffer = this.addon.sharedBuffer(key)
    check()
    return buffer ?? new SharedArrayBuffer(0)
  }

  /**
   * Can our own reads and writes use a typed array over the bytes? Over native memory only if the caller has asked for a buffer: one
   * of ours would keep the memory until it is collected, and some runtimes refuse to make one. Uses of guarded memory are followed
   * by checkIntact.
   *
   * @param {Storage} storage
   * @param {any} Type  of the typed array, which has to reach all bytes
   * @returns {boolean}
   */
  canView(storage, Type) {
    const { kind, buffer, optional } = storage
    if (kind === 'cuda' || (kind === 'native' && buffer === null)) return false
    if (kind === 'native' && this.faults === null && optional?.guarded) return false
    return storage.nbytes <= MAX_LENGTH * Type.BYTES_PER_ELEMENT
  }

  /**
   * A typed array over the storage for our own reads and writes, which callers never see.
   *
   * @param {Storage} storage
   * @param {number} dtype
   * @param {any} Type
   * @param {() => void} check
   */
  window(storage, dtype, Type, check) {
    if (storage.block !== null && storage.block !== IN_HEAP) {
      this.addressOf(storage) // marks it as touched: promotion has to move the bytes
      return this.small.window(storage.block, dtype, Type)
    }
    const buffer = this.bufferOf(storage, check)
    const optional = (storage.optional ??= new OptionalFields())
    const windows = (optional.windows ??= [])
    const seen = windows[dtype]
    if (seen !== undefined && bufferOf(seen) === buffer) return seen
    const n = Math.floor(storage.nbytes / Type.BYTES_PER_ELEMENT)
    return (windows[dtype] =
      storage.nbytes === 0 ? new Type(0) : new Type(buffer, storage.byteOffset, n)) // a detached buffer takes no array
  }

  /**
   * Bytes from the start of the storage's window to its first byte.
   *
   * @param {Storage} storage
   */
  windowOffset(storage) {
    return storage.block === null ? 0 : storage.byteOffset
  }

  /**
   * Gives up a storage: its last tensor was disposed.
   *
   * @param {Storage} storage
   */
  release(storage) {
    if (storage.released) return
    storage.claims = -1
    const { group, block, optional } = storage
    if (optional !== null && optional.base !== null) unclaim(optional.base, this)
    if (block !== null && block !== IN_HEAP) {
      this.small.recycle(storage)
    } else if (storage.kind === 'v8' || storage.kind === 'sab') {
      group.count.bytes -= storage.nbytes
      if (storage.nbytes >= BIG && storage.kind === 'v8' && !storage.isShown && optional === null) {
        this.spare.put(
          /** @type {ArrayBuffer} */ (storage.buffer),
          /** @type {number} */ (storage.address) - storage.byteOffset,
        )
      }
    } else if (optional !== null && optional.watch >= 0) {
      counts.delete(optional.watch)
      this.addon.unwatch(optional.watch)
    }
  }

  // ---- Off the event loop ----

  /**
   * May another thread work on the bytes? That is, do they stay where they are while the storage and its buffer are reachable?
   *
   * @param {Storage} storage
   * @returns {boolean}
   */
  isFixed(storage) {
    return storage.kind === 'native' || isSharedArrayBuffer(storage.buffer)
  }

  /**
   * Begins the copy whose operands are in the call buffer.
   *
   * @param {boolean} scaled
   * @param {() => void} done  called on a later turn; must not throw. Until then the caller keeps the operands' storages reachable
   */
  startCopy(scaled, done) {
    this.addon.copy(scaled, done)
  }

  /** @param {number} id  of a copy or of arithmetic, pending or not */
  stopCopy(id) {
    this.addon.stop(id)
  }

  /** Waits until deleters and finalizers that are due have run. */
  async flush() {
    const turn = () => new Promise((resolve) => onNextTurn(() => resolve(undefined)))
    for (let i = 0; i < 3; i++) await turn()
    while (this.addon.due() > 0) await turn()
  }
}

rootless(Backend)

module.exports = { Backend, isExpected, isDefault, start: () => new Backend() }
