'use strict'
// The WASM back end: the same C, over linear memory. Tensors that it makes are there; when it grows, all typed arrays over it are
// made anew. The caller's buffers stay outside: staging.js copies their bytes into linear memory for a call.

const { rootless } = require('../base/records')
const { failure } = require('../base/errors')
const { ballastOf, keepSpare, onNextTurn, textOf, log } = require('../runtime/host')
const { byteLengthOf, MAX_LENGTH, bytesCopied } = require('../base/buffers')
const {
  Storage,
  Group,
  OptionalFields,
  passing,
  newSharedStorage,
  reporting,
} = require('./storage')
const { opcodesOf, budget, grant, watchGrowth, counts, countedBytes, stats } = require('./storage')

const PAGE = 65536 // bytes
const MAX_PAGES = 65536
const LEAST_MAXIMUM = 4096 // pages that shared memory may at least grow to, 256 MiB
const SIZE_MAX = 2 ** 32 - 1 // in C
const SMALL = 1024 // bytes of the largest storage that is watched together with others
const BATCH = 32 // of them: watching costs as much as all the rest of a small tensor, and one that is kept keeps the bytes of all
const BATCH_BYTES = 4096 // of them, as many as a native block has
const BALLAST = 4096 // bytes of an ArrayBuffer for each such batch, of which the collector sees little else, and comes too late
const MOST = 0x7fffff00 - 64 // bytes of one allocation, as platform/heap.c has it

/** @typedef {{ readonly buffer: ArrayBuffer, grow (pages: number): number }} WasmMemory a WebAssembly.Memory */

/**
 * The call buffer. The user may make the memory grow as well, which detaches typed arrays over it: each use checks, and renews them.
 *
 * @param {number} size  doubles
 * @param {() => void} renew  calls cover
 */
function newCallBuffer(size, renew) {
  let f64 = new Float64Array(0)
  let i64 = new BigInt64Array(0)
  let i32 = new Int32Array(0)
  return {
    get f64() {
      if (f64[0] === undefined) renew()
      return f64
    },
    get i64() {
      if (i64[0] === undefined) renew()
      return i64
    },
    get i32() {
      if (i32[0] === undefined) renew()
      return i32
    },
    /**
     * @param {ArrayBuffer} buffer
     * @param {number} at
     */
    cover(buffer, at) {
      f64 = new Float64Array(buffer, at, size)
      i64 = new BigInt64Array(buffer, at, size)
      i32 = new Int32Array(buffer, at, 2 * size)
    },
  }
}

/** Bytes that a memory of this thread may grow to: WebAssembly.Memory does not tell. @type {WeakMap<object, number>} */
const maxima = new WeakMap()

/** The back end's interface, as select.js has it. */
class Backend {
  /**
   * @param {'wasm' | 'wasm-shared'} name
   * @param {any} exports  of the instance, which has its environment
   * @param {WasmMemory} memory
   */
  constructor(name, exports, memory) {
    this.name = name
    this.isWasm = true
    /** @type {import('./storage').Abilities} */
    this.abilities = {}
    /** what errors add that name the addon: how it is turned on */
    this.hint = ''
    this.exports = exports
    /** the threads that share this memory; null: it is not shared @type {import('./wasm-shared').ThreadGroup | null} */
    this.group = null
    this.memory = memory
    /** bytes that it may grow to */
    this.maximum = maxima.get(memory) ?? MAX_PAGES * PAGE
    this.buffer = memory.buffer
    /** a private typed array: it has no elements once the memory grew */
    this.probe = new Uint8Array(this.buffer, 0, 1)
    /** bytes that the windows reach: a resizable buffer (toResizableBuffer) grows in place, and detaches nothing */
    this.covered = 0
    this.callBufferAt = exports.sb_frame() >>> 0 // from 2 GiB on addresses come as negative
    /** typed arrays over the whole memory, by dtype @type {any[]} */
    this.windows = []
    this.tables = JSON.parse(this.textAt(exports.sb_tables()))
    this.frame = newCallBuffer(this.tables.frame.SIZE, () => this.renew())
    this.opcodes = opcodesOf(this.tables)
    this.renew()
    /** @type {(opcode: number) => void} */
    this.call = exports.sb_call
    /** bytes in use */
    this.inUse = () => {
      this.call(this.opcodes.totals)
      return countedBytes().sab + this.frame.f64[this.tables.frame.RESULTS + 1]
    }
    /** storages of the typed arrays that callers have (`data`), which keep them alive @type {WeakMap<object, Storage>} */
    this.dataViews = new WeakMap()
    /** handles whose storages were collected @type {number[]} */
    this.due = []
    /** @typedef {{ id: number, handles: number[] }} Held */
    this.registry = new FinalizationRegistry((/** @type {Held} */ { id, handles }) => {
      counts.drop(id)
      for (const handle of handles) if (handle !== 0) this.due.push(handle)
      this.drop()
    })
    /** @type {Group} */
    this.adopted = this.newGroup('js')
    /** of the next small storages @type {Group} */
    this.batch = this.newGroup('wasm')
    this.deleters = new FinalizationRegistry((/** @type {{ deleter: Function }} */ held) =>
      this.queue(held.deleter),
    )
  }

  /** Makes typed arrays over the memory's present buffer: it grew, or was just made. */
  renew() {
    const before = this.covered
    this.buffer = this.memory.buffer
    this.frame.cover(this.buffer, this.callBufferAt)
    this.windows = []
    const probe = new Uint8Array(this.buffer, 0, 1)
    const covered = byteLengthOf(this.buffer)
    this.covered = covered
    this.probe = probe // last: a program may be stopped at any call before
    if (before > 0 && covered > before) {
      // else it is another buffer of the same bytes
      stats.grown++
      log('WASM memory grew from %d to %d bytes', before, covered)
    }
  }

  /** The memory's present buffer: the user may have made the memory grow, which tells nobody. */
  current() {
    if (this.probe[0] === undefined) this.renew()
    return this.buffer
  }

  /** @param {number} at  an address as the module gives it */
  textAt(at) {
    const bytes = new Uint8Array(this.memory.buffer, at >>> 0)
    return textOf(bytesCopied(bytes, 0, bytes.indexOf(0))) // a copy, because memory may be shared
  }

  /** The last error's message. */
  text() {
    return this.textAt(this.callBufferAt + this.tables.frame.TEXT * 8)
  }

  // ---- Counting ----

  /**
   * @param {'js' | 'sab' | 'wasm'} kind  wasm: of small storages
   * @returns {Group}
   */
  newGroup(kind) {
    const group = new Group(kind)
    const id = counts.put(group.count)
    if (kind === 'wasm') {
      group.handles = []
      try {
        group.ballast = new ArrayBuffer(BALLAST)
      } catch {} // there is no room
    }
    this.registry.register(group, { id, handles: group.handles ?? [] })
    return group
  }

  /** Frees what was collected. Not in the middle of another call, because it uses the call buffer. */
  drop() {
    const { f64 } = this.frame
    while (this.due.length > 0) {
      f64[this.tables.frame.ARGS] = /** @type {number} */ (this.due.pop())
      this.call(this.opcodes.storage_drop)
    }
  }

  /** Notices that the user made memory grow, which memory() counts. */
  sweep() {
    if (byteLengthOf(this.memory.buffer) > this.covered) this.renew()
  }

  // ---- Making storages ----

  /**
   * @param {number} nbytes
   * @param {() => void} check  throws the error of the last call
   * @returns {Storage}
   */
  allocate(nbytes, check) {
    if (nbytes > SIZE_MAX) {
      throw failure('ERR_MEMORY', `${nbytes} bytes cannot be allocated; WASM addresses 4 GiB`)
    }
    if (nbytes > MOST) {
      throw failure(
        'ERR_MEMORY',
        `${nbytes} bytes cannot be allocated; in WASM one tensor takes less than 2 GiB`,
      )
    }
    grant(nbytes, this.inUse)
    watchGrowth(nbytes, this.inUse)
    this.frame.f64[this.tables.frame.ARGS] = nbytes
    this.call(this.opcodes.storage_new)
    try {
      check()
    } catch (/** @type {any} */ error) {
      if (error.code !== 'ERR_MEMORY') throw error
      const mib = (/** @type {number} */ bytes) => Math.round(bytes / 2 ** 16) / 16
      throw failure(
        'ERR_MEMORY',
        `${nbytes} bytes could not be allocated; WASM memory has ${mib(byteLengthOf(this.current()))} of at most ${mib(this.maximum)} MiB. Dispose tensors, or make them in tidy(): what nobody holds is collected in later turns of the event loop, some time after`,
      )
    }
    const { f64 } = this.frame // memory may have grown
    const handle = f64[this.tables.frame.RESULTS]
    const address = f64[this.tables.frame.RESULTS + 1]
    if (nbytes <= SMALL) return this.holdSmall(handle, address, nbytes)
    const storage = this.hold(handle, address, nbytes)
    const optional = /** @type {OptionalFields} */ (storage.optional)
    optional.ballast = ballastOf(
      nbytes,
      this.inUse,
      budget.isKnown ? Math.min(budget.limit, this.maximum) : this.maximum,
    ) // uses the call buffer
    return storage
  }

  /**
   * A storage of linear memory. Its handle is dropped when it is collected.
   *
   * @param {number} handle
   * @param {number} address
   * @param {number} nbytes
   */
  hold(handle, address, nbytes) {
    const storage = this.unheld(address, nbytes)
    const optional = (storage.optional = new OptionalFields())
    const { count } = storage.group
    optional.handle = handle
    count.bytes = nbytes
    optional.watch = counts.put(count)
    this.registry.register(storage, { id: optional.watch, handles: [handle] }, storage)
    return storage
  }

  /**
   * hold for a new tensor of few bytes: the handles of several are dropped when all of these storages are collected.
   *
   * @param {number} handle
   * @param {number} address
   * @param {number} nbytes
   */
  holdSmall(handle, address, nbytes) {
    const { batch } = this
    const storage = this.unheld(address, nbytes, batch)
    const optional = (storage.optional = new OptionalFields())
    optional.handle = handle
    optional.watch = batch.made++
    batch.count.bytes += nbytes
    const handles = /** @type {number[]} */ (batch.handles)
    handles[optional.watch] = handle
    if (batch.made >= BATCH || batch.count.bytes >= BATCH_BYTES) this.batch = this.newGroup('wasm') // a full one is not kept
    return storage
  }

  /**
   * Renews the windows if bytes beyond them are about to be used: another thread, or the user of a resizable buffer, may have made
   * memory grow in place.
   *
   * @param {number} end  of these bytes
   */
  renewIfBeyond(end) {
    if (end > this.covered) this.renew()
  }

  /**
   * @param {number} nbytes
   * @param {() => void} check
   * @returns {Storage} all zero
   */
  allocateZeroed(nbytes, check) {
    const storage = this.allocate(nbytes, check)
    new Uint8Array(this.current(), storage.byteOffset, nbytes).fill(0)
    return storage
  }

  /** @param {number} nbytes @param {() => void} check  throws the error of the last call @returns {Storage} all zero */
  allocateSab(nbytes, check) {
    grant(nbytes, this.inUse)
    return newSharedStorage(this.newGroup('sab'), nbytes)
  }

  /**
   * Bytes that other threads may use: a SharedArrayBuffer.
   *
   * @param {number} nbytes
   * @param {() => void} check
   */
  allocateNative(nbytes, check) {
    return this.allocateSab(nbytes, check)
  }

  /**
   * @param {ArrayBufferLike} buffer
   * @param {number} byteOffset
   * @param {number} nbytes
   * @param {object} [source]  what the caller gave
   * @returns {Storage}
   * @throws {RangeError} ERR_STALE, ERR_BOUNDS linear memory that is no tensor's
   */
  adopt(buffer, byteOffset, nbytes, source) {
    if (this.isWithinOwn(buffer, byteOffset)) {
      const holder = source === undefined ? undefined : this.dataViews.get(source)
      if (holder !== undefined && holder.released) {
        throw failure(
          'ERR_STALE',
          'the typed array is the data of a tensor that was disposed; others may have the bytes',
        )
      }
      return this.partAt(byteOffset, nbytes)
    }
    if (nbytes > SIZE_MAX) {
      throw failure(
        'ERR_UNSUPPORTED',
        `the source has ${nbytes} bytes; WASM addresses 4 GiB, take a part of it first`,
      )
    }
    if (this.adopted.made++ >= 64) this.adopted = this.newGroup('js')
    return new Storage(this.adopted, null, buffer, byteOffset, nbytes)
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
    if (!this.isWithinOwn(buffer, byteOffset)) {
      return new Storage(passing, null, buffer, byteOffset, nbytes)
    }
    if (nbytes > 0) this.find(byteOffset, nbytes, false)
    return this.unheld(byteOffset, nbytes)
  }

  /**
   * Is it linear memory? Its first byte is no tensor's, because 0 is no address in C.
   *
   * @param {ArrayBufferLike} buffer
   * @param {number} byteOffset
   */
  isWithinOwn(buffer, byteOffset) {
    return byteOffset > 0 && this.isOwn(buffer)
  }

  /**
   * A storage of linear memory inside a tensor's bytes, which it keeps alive.
   *
   * @param {number} address
   * @param {number} nbytes
   * @returns {Storage}
   * @throws {RangeError} ERR_STALE no tensor has them (any more) · ERR_BOUNDS they reach beyond the tensor's
   */
  partAt(address, nbytes) {
    if (nbytes === 0) return this.unheld(address, 0)
    this.find(address, nbytes, true)
    const storage = this.hold(this.frame.f64[this.tables.frame.RESULTS], address, nbytes)
    if (storage.optional !== null) storage.optional.stays = true // the other tensor's bytes cannot be moved
    return storage
  }

  /**
   * @param {number} address
   * @param {number} nbytes  at least 1
   * @param {boolean} claimed  a handle is left among the results
   */
  find(address, nbytes, claimed) {
    const { ARGS, STATUS } = this.tables.frame
    const { f64 } = this.frame
    f64[ARGS] = address
    f64[ARGS + 1] = nbytes
    f64[ARGS + 2] = claimed ? 1 : 0
    this.call(this.opcodes.storage_at)
    const status = this.frame.f64[STATUS] // memory may have grown
    if (status !== 0) {
      throw failure(
        /** @type {import('../base/errors').ErrorCode} */ (
          'ERR_' + this.tables.errors[status - 1][0]
        ),
        this.text(),
      )
    }
  }

  /**
   * A storage of linear memory that keeps nothing alive.
   *
   * @param {number} address
   * @param {number} nbytes
   * @param {Group} [group]
   * @returns {Storage}
   */
  unheld(address, nbytes, group = new Group('wasm')) {
    this.renewIfBeyond(address + nbytes)
    const storage = new Storage(group, null, null, address, nbytes)
    storage.address = address
    return storage
  }

  /** @param {ArrayBufferLike} buffer */
  isOwn(buffer) {
    return buffer === this.current()
  }

  /**
   * Changes a layout over all of linear memory so that it keeps the bytes alive that it reaches, if they are those of one tensor.
   *
   * @template {{ storage: Storage, offset: number }} Layout
   * @param {Layout} layout
   * @param {number} low  the first element that it reaches, from its offset
   * @param {number} high  the last one
   * @param {number} itemsize
   * @returns {Layout} the same
   */
  keepReached(layout, low, high, itemsize) {
    const address = layout.storage.byteOffset + (layout.offset + low) * itemsize
    try {
      layout.storage = this.partAt(address, (high - low + 1) * itemsize)
      layout.offset = -low
    } catch (/** @type {any} */ error) {
      if (error.code === 'ERR_MEMORY') throw error
    }
    return layout
  }

  /** @returns {Storage} */
  wrap() {
    throw failure(
      'ERR_UNSUPPORTED',
      'an address needs the native addon; WASM sees its own memory only',
    )
  }

  /**
   * Calls deleter when the caller's buffer is used by no tensor any more.
   *
   * @param {Storage} storage
   * @param {Function} deleter
   */
  attachDeleter(storage, deleter) {
    ;(storage.optional ??= new OptionalFields()).deleter = deleter
    this.deleters.register(storage, { deleter }, storage)
  }

  // ---- Using storages ----

  /**
   * @param {Storage} storage
   * @returns {number} 0 for the caller's bytes, which have none
   */
  addressOf(storage) {
    return storage.address ?? 0
  }

  /** @param {Storage} storage */
  promote(storage) {}

  /** WASM has no bytes in V8's heap. @returns {any} */
  moveToHeap() {
    return null
  }

  leaveHeap() {}

  /**
   * Notes that a typed array that the caller gets shows a storage: it keeps the storage alive.
   *
   * @param {object} data
   * @param {Storage} storage
   */
  expose(data, storage) {
    this.dataViews.set(data, storage)
  }

  /**
   * Can a window reach all of the bytes?
   *
   * @param {Storage} storage
   * @param {any} Type
   */
  canView(storage, Type) {
    return this.windowOffset(storage) + storage.nbytes <= MAX_LENGTH * Type.BYTES_PER_ELEMENT
  }

  /**
   * @param {Storage} storage
   * @returns {ArrayBufferLike}
   */
  bufferOf(storage) {
    return storage.kind === 'wasm'
      ? this.current()
      : /** @type {ArrayBufferLike} */ (storage.buffer)
  }

  /**
   * @param {Storage} storage
   * @param {number} dtype
   * @param {any} Type
   */
  window(storage, dtype, Type) {
    if (storage.kind === 'wasm') {
      const buffer = this.current()
      return (this.windows[dtype] ??= new Type(
        buffer,
        0,
        Math.min(Math.floor(byteLengthOf(buffer) / Type.BYTES_PER_ELEMENT), MAX_LENGTH),
      ))
    }
    const optional = (storage.optional ??= new OptionalFields())
    const windows = (optional.windows ??= [])
    return (windows[dtype] ??=
      storage.nbytes === 0
        ? new Type(0)
        : new Type(
            storage.buffer,
            storage.byteOffset,
            Math.floor(storage.nbytes / Type.BYTES_PER_ELEMENT),
          ))
  }

  /**
   * Bytes from the start of the storage's window to its first byte.
   *
   * @param {Storage} storage
   */
  windowOffset(storage) {
    return storage.kind === 'wasm' ? storage.byteOffset : 0
  }

  /** @param {Storage} storage */
  release(storage) {
    if (storage.released) return
    storage.claims = -1
    const { optional } = storage
    if (storage.kind === 'sab') storage.group.count.bytes -= storage.nbytes
    if (optional === null) return // the caller's bytes
    if (optional.ballast !== null) keepSpare(optional.ballast)
    optional.ballast = null
    if (optional.handle !== 0) {
      const { count, handles } = storage.group
      if (handles === null) {
        counts.drop(optional.watch)
        this.registry.unregister(storage)
      } else {
        count.bytes -= storage.nbytes
        handles[optional.watch] = 0
      }
      this.due.push(optional.handle)
      this.drop()
    }
    if (optional.deleter !== null) {
      this.deleters.unregister(storage)
      this.queue(optional.deleter)
    }
  }

  // ---- Off the event loop ----

  /**
   * May another thread work on the bytes? WASM has no worker threads of its own.
   *
   * @param {Storage} storage
   * @returns {boolean}
   */
  isFixed(storage) {
    return false
  }

  /**
   * @param {boolean} scaled
   * @param {() => void} done
   */
  startCopy(scaled, done) {
    throw failure('ERR_UNSUPPORTED', 'WASM has no threads')
  }

  /** @param {number} id */
  stopCopy(id) {}

  /** @param {Function} deleter */
  queue(deleter) {
    onNextTurn(() => reporting(deleter)(0n))
  }

  /** Waits until deleters and finalizers that are due have run. */
  async flush() {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
  }
}

rootless(Backend)

/**
 * Without a maximum in the options shared memory may get a smaller one: its addresses are reserved at once, and some devices refuse 4 GiB.
 *
 * @param {{ initialMemory?: number, maximumMemory?: number, shared?: boolean }} options  bytes, whole pages are taken
 * @returns {WasmMemory}
 */
function newMemory({ initialMemory = 16 * PAGE, maximumMemory, shared = false }) {
  const initial = Math.max(16, Math.ceil(initialMemory / PAGE)) // what the module itself needs
  const most = maximumMemory === undefined ? MAX_PAGES : Math.floor(maximumMemory / PAGE)
  if (most < initial) {
    throw failure(
      'ERR_BOUNDS',
      `maximumMemory is ${maximumMemory}; at least ${initial * PAGE} bytes are needed`,
    )
  }
  const least = shared && maximumMemory === undefined ? Math.max(initial, LEAST_MAXIMUM) : most
  for (let maximum = most; ; maximum /= 2) {
    try {
      const memory = /** @type {any} */ (new WebAssembly.Memory({ initial, maximum, shared }))
      maxima.set(memory, maximum * PAGE)
      return memory
    } catch (error) {
      if (maximum / 2 >= least) continue
      throw failure(
        'ERR_MEMORY',
        `WASM memory of ${initial * PAGE} bytes, growing up to ${maximum * PAGE}, could not be allocated: ${/** @type {Error} */ (error).message}`,
      )
    }
  }
}

/**
 * A number as printf's %.*g has it, of 15 to 17 digits: of as few as tell it from all others. Halves of the last one are rounded up.
 *
 * @param {number} x
 * @returns {string} at most 24 characters
 */
function digitsOf(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'nan' : x < 0 ? '-inf' : 'inf'
  if (x === 0) return Object.is(x, -0) ? '-0' : '0'
  let text = ''
  for (let n = 15; n <= 17 && Number(text) !== x; n++) {
    text = Math.abs(x) < 1e-4 ? x.toExponential(n - 1) : x.toPrecision(n)
  }
  let result = ''
  let zeros = '' // behind the point, unless a digit follows
  let isFraction = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === 'e') {
      return `${result}e${text[i + 1]}${i + 3 === text.length ? '0' : ''}${text[i + 2]}${text[i + 3] ?? ''}${text[i + 4] ?? ''}`
    }
    if (c === '.') isFraction = true
    if (isFraction && (c === '.' || c === '0')) {
      zeros += c
    } else {
      result += zeros + c
      zeros = ''
    }
  }
  return result
}

/**
 * What the module imports.
 *
 * @param {WasmMemory} memory
 * @param {() => void} grows  called when the module made it grow
 * @returns {any}
 */
function importsOf(memory, grows) {
  return {
    env: { memory, emscripten_notify_memory_growth: grows },
    samebytes: {
      write_digits(/** @type {number} */ at, /** @type {number} */ x) {
        const text = digitsOf(x)
        const bytes = new Uint8Array(memory.buffer, at >>> 0, text.length)
        for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
      },
    },
  }
}

/**
 * A thread's instance of the module.
 *
 * @param {import('../base/types').WasmModule} module
 * @param {WasmMemory} memory
 * @returns {{ exports: any, watch: (backend: Backend) => void }} watch: of the back end that is told when the module makes memory grow
 */
function instantiate(module, memory) {
  /** @type {Backend | null} */
  let watcher = null
  const imports = importsOf(memory, () => watcher?.renew())
  const { exports } = new WebAssembly.Instance(/** @type {any} */ (module), imports)
  const watch = (/** @type {Backend} */ backend) => {
    watcher = backend
  }
  return { exports, watch }
}

/**
 * One thread's memory and module.
 *
 * @param {import('../base/types').WasmModule} module
 * @param {WasmMemory} memory
 */
function start(module, memory) {
  const { exports, watch } = instantiate(module, memory)
  exports._initialize()
  if (!exports.sb_start()) {
    throw failure('ERR_MEMORY', 'WASM memory is too small for an environment')
  }
  const backend = new Backend('wasm', exports, memory)
  watch(backend)
  return backend
}

module.exports = { Backend, instantiate, start, newMemory, maxima, importsOf }
