'use strict'
// Storages: bytes, where they are and how many tensors use them. What memory() counts, and the limit on memory.

const { rootless } = require('../base/records')
const { failure } = require('../base/errors')
const { memoryOfMachine, onNextTurn, warn, isLogged, log } = require('../runtime/host')

/**
 * What the system offers, by sb__abilities of src/platform/platform.h. segments: the folder of named segments.
 *
 * @typedef {{ segments?: string, unnamedFiles?: boolean, sealedMemory?: boolean, descriptorPaths?: boolean, processStartTimes?: boolean, futexes?: boolean, namesIgnoreCase?: boolean }} Abilities
 */

/**
 * What memory() counts together: tensors and storages that are known to be collected when one watched object is (a few blocks of
 * small tensors, some buffers, one native storage).
 */
class Group {
  /** @param {'v8' | 'js' | 'sab' | 'native' | 'wasm' | 'cuda'} kind  of all that is in it */
  constructor(kind) {
    this.kind = kind
    this.count = { kind, tensors: 0, storages: 0, bytes: 0 }
    /** storages or blocks that were ever made in it */
    this.made = 0
    /** those of WebAssembly's small storages, 0 once it is released; null: none of them is in it @type {number[] | null} */
    this.handles = null
    /** makes the collector see how many small tensors there are @type {ArrayBuffer | null} */
    this.ballast = null
  }
}

rootless(Group)

/**
 * Values by small numbers that are used again. Finding one in a Map takes longer, most of all where the processor's caches are cold.
 * Either the caller numbers the values (`set`, `delete`), or the table does (`put`, `drop`).
 *
 * @template T
 */
class SlotTable {
  constructor() {
    /** by number, undefined where there is none; a list without methods @type {T[]} */
    this.held = []
    /** values that are there */
    this.size = 0
    /** numbers that `put` uses again, the last one first @type {number[]} */
    this.free = []
  }

  /** @param {number} id @param {T} value */
  set(id, value) {
    if (this.held[id] === undefined) this.size++
    this.held[id] = value
  }

  /** @param {number} id  there or not */
  delete(id) {
    if (this.held[id] === undefined) return
    this.held[id] = /** @type {any} */ (undefined)
    this.size--
  }

  /** @param {T} value @returns {number} its number */
  put(value) {
    const id = this.free.pop() ?? this.held.length
    this.set(id, value)
    return id
  }

  /** @param {number} id  that `put` gave; it is used again */
  drop(id) {
    this.delete(id)
    this.free.push(id)
  }

  /** @param {(value: T) => void} fn */
  forEach(fn) {
    for (let i = 0; i < this.held.length; i++) {
      const value = this.held[i]
      if (value !== undefined) fn(value)
    }
  }
}

rootless(SlotTable)

/** Counts of groups whose watched object is not known to be collected, by the number of its weak reference. @type {SlotTable<Group['count']>} */
const counts = new SlotTable()

/** Fields that few storages have. */
class OptionalFields {
  constructor() {
    /** of a native storage, as C numbers it; 0: none */
    this.handle = 0
    /** number of the weak reference that tells when it is collected, or of the handle in the group's; -1: none */
    this.watch = -1
    /** typed arrays for get and set, by dtype @type {any[] | null} */
    this.windows = null
    /** of the caller's buffer, on WASM @type {Function | null} */
    this.deleter = null
    /** another storage with these bytes, claimed by this one @type {Storage | null} */
    this.base = null
    /** others know the address: a resize does not move the bytes */
    this.stays = false
    /** blob records of it that are not known to be collected @type {{ live: number } | null} */
    this.records = null
    /** pending operations that use the bytes: until they are done, writing is ERR_BUSY */
    this.busy = 0
    /** how many of them write */
    this.written = 0
    /** path of a file that is mapped in mode 'r', whose bytes they are; null: of none @type {string | null} */
    this.file = null
    /** a mapping whose bytes may turn out to be gone: checkIntact tells after each use */
    this.guarded = false
    /** native code had the bytes, and the buffer was marked as untransferable */
    this.fixed = false
    /** number of the CUDA device that the bytes are on; -1: the CPU */
    this.device = -1
    /** page-locked: allocated so, or registered later */
    this.pinned = false
    /** makes the collector see how large it is (runtime/ballast.js) @type {ArrayBuffer | null} */
    this.ballast = null
  }
}

rootless(OptionalFields)

/** The group of storages that live for one call, which nobody counts. */
const passing = new Group('js')

/**
 * Bytes of tensors. The group's kind says who owns them: 'v8', an ArrayBuffer of ours; 'sab', a SharedArrayBuffer of ours; 'js', the
 * caller's buffer; 'native', 'wasm' and 'cuda', C, under a handle ('cuda': memory that the CPU does not see). It has few fields, because
 * each new tensor has one.
 */
class Storage {
  /**
   * @param {Group} group
   * @param {import('./small-tensors').Block | null} block  that a small tensor's bytes are in, or IN_HEAP; null once they have a buffer
   * @param {ArrayBufferLike | null} buffer  over the bytes; null: the block's, or made when asked for; IN_HEAP: the typed array
   * @param {number} byteOffset  in the buffer; in the block: from its first aligned byte
   * @param {number} nbytes
   */
  constructor(group, block, buffer, byteOffset, nbytes) {
    this.group = group
    this.block = block
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.nbytes = nbytes
    /** of the first byte; null: not looked up yet, and nobody has touched a small tensor's bytes @type {number | null} */
    this.address = null
    /** tensors that use it and were not disposed; -1: it was released */
    this.claims = 0
    /** callers have had its buffer or its address, or may have: its bytes are not used again before they are collected */
    this.isShown = false
    /** the caller's object, kept alive with the bytes @type {unknown} */
    this.owner = undefined
    /** @type {OptionalFields | null} */
    this.optional = null
  }

  get kind() {
    return this.group.kind
  }
  get released() {
    return this.claims < 0
  }
}

rootless(Storage)

/** the number of the CPU among devices */
const CPU = -1

/**
 * Does a text name a device, there or not?
 *
 * @param {unknown} value
 * @returns {value is string}
 */
const isDevice = (value) => typeof value === 'string' && /^(cpu|cuda(:\d+)?)$/.test(value)

/**
 * @param {number} device
 * @returns {import('../base/types').DeviceName}
 */
const nameOfDevice = (device) => (device === CPU ? 'cpu' : `cuda:${device}`)

/**
 * The number of the device that has a storage's bytes.
 *
 * @param {Storage} storage
 * @returns {number} CPU for the CPU
 */
const deviceOfStorage = ({ optional }) => (optional === null ? CPU : optional.device)

/**
 * Are the bytes on a CUDA device, where the CPU does not see them?
 *
 * @param {Storage} storage
 */
const isOnDevice = ({ optional }) => optional !== null && optional.device >= 0

/**
 * Marks a device's memory that others use as well: a resize does not move it.
 *
 * @param {Storage} storage  with a handle
 * @returns {Storage}
 */
function staying(storage) {
  if (isOnDevice(storage)) /** @type {OptionalFields} */ (storage.optional).stays = true
  return storage
}

/**
 * One user more.
 *
 * @param {Storage} storage
 */
function claim(storage) {
  if (storage.claims++ === 0) storage.group.count.storages++
}

/**
 * One user less. The last one releases the bytes, unless a blob record is over them: then they go when it is collected.
 *
 * @param {Storage} storage
 * @param {{ release: (storage: Storage) => void }} backend
 */
function unclaim(storage, backend) {
  if (--storage.claims > 0) return
  storage.group.count.storages--
  const { optional } = storage
  if (optional === null || optional.records === null || optional.records.live === 0) {
    backend.release(storage)
  }
}

/**
 * The numbers by which C's functions are called.
 *
 * @param {any} tables  C's lists
 * @returns {Record<string, number>} by name
 */
function opcodesOf(tables) {
  const rows = tables.rows.slice(0, -1)
  return Object.fromEntries(
    rows.map((/** @type {[string]} */ [name], /** @type {number} */ i) => [name, i]),
  )
}

// ---- What the inspector is told ----

/**
 * A listener's methods run in the middle of what they report. They must not throw.
 *
 * @typedef {object} Listener
 * @property {(tensor: any) => void} made  a tensor or a view is about to be returned by its constructor
 * @property {(reason: string, bytes: number) => void} copied  a function copied; 'staged': a temporary copy was made
 * @property {(way: string, bytes: number) => void} sent  bytes are about to be sent to another process
 * @property {(storage: Storage, role: 'sent' | 'received' | 'dlpack' | 'foreign') => void} shared  others have the bytes too: a token was made or taken, a capsule came in, an address was given
 * @property {(storage: Storage, fd: number, writes: boolean) => void} mapped  a storage maps a file
 * @property {(part: Storage, whole: Storage) => void} divided  a storage was made of some of another's bytes
 */

/** listener: null while nobody listens. */
const events = { listener: /** @type {Listener | null} */ (null) }

/** What memory() counts from the start of the process on. */
const stats = {
  /** @type {Record<string, { count: number, bytes: number }>} */
  copied: {},
  staged: { count: 0, bytes: 0 },
  /** @type {Record<string, { count: number, bytes: number }>} */
  sent: {},
  promoted: 0,
  grown: 0,
  inFlight: 0,
  deleterErrors: 0,
}

/**
 * The limit on tensors' memory, looked up when it is first needed. granted: an upper bound of what is in use, because what is freed
 * is not subtracted; reaching the limit has it counted anew. collect: collects garbage, where that frees memory in the middle of a turn.
 */
const budget = {
  limit: 0,
  isKnown: false,
  granted: 0,
  collect: /** @type {(() => void) | null} */ (null),
}

/**
 * Asks for bytes before they are allocated.
 *
 * @param {number} nbytes
 * @param {() => number} inUse  counts what is in use, at some cost
 * @throws {RangeError} ERR_MEMORY beyond the limit
 */
function grant(nbytes, inUse) {
  budget.granted += nbytes
  if (budget.granted > budget.limit) recount(nbytes, inUse)
}

const LOOKED = 2 ** 26 // bytes asked for after which it is looked how much is in use
const MUCH = 2 ** 28 // bytes that it grows by within one turn of the event loop before the developer is told
const MANY = 64 // of so many at least: a few large ones are meant to be there

/** What was asked for since it was last looked; used: bytes that were in use at the first look in this turn of the event loop, -1: there was none. */
const growth = { count: 0, bytes: 0, used: -1, isTold: false }

/**
 * Tells the developer once of a turn that makes much and gives nothing back. In WebAssembly alone: V8 frees its own buffers in the middle of a turn.
 *
 * @param {number} nbytes  that are about to be allocated
 * @param {() => number} inUse
 */
function watchGrowth(nbytes, inUse) {
  growth.count++
  growth.bytes += nbytes
  if (growth.bytes < LOOKED || growth.isTold) return
  growth.bytes = 0
  const used = inUse()
  if (growth.used < 0) {
    growth.used = used
    growth.count = 0
    onNextTurn(() => (growth.used = -1))
  } else if (used - growth.used >= MUCH && growth.count >= MANY) {
    growth.isTold = true
    warn(
      `tensors grew by ${Math.round((used - growth.used) / 2 ** 20)} MiB within one turn of the event loop, where none that is left is collected: tidy(fn) around what a loop does once frees them as it goes, and is faster (docs/lifetime.md)`,
    )
  }
}

/**
 * @param {number} nbytes
 * @param {() => number} inUse
 */
function recount(nbytes, inUse) {
  if (!budget.isKnown) {
    budget.limit = memoryOfMachine()
    budget.isKnown = true
    if (budget.granted <= budget.limit) return
  }
  let used = inUse()
  if (budget.collect !== null && nbytes <= budget.limit && used + nbytes > budget.limit) {
    try {
      budget.collect() // V8 marks beside the program, and lags behind where the machine is busy
    } catch {} // a runtime that has nothing that does
    used = inUse()
  }
  budget.granted = used + nbytes
  if (budget.granted <= budget.limit) return
  budget.granted = used
  throw failure(
    'ERR_MEMORY',
    `${nbytes} bytes were asked for; ${used} of the limit of ${budget.limit} are in use (setMemoryLimit); dispose tensors, or make them in tidy()`,
  )
}

/**
 * What a call of C may take for itself: less than there is, where much was freed since it was last counted.
 *
 * @returns {number} 1 or more
 */
const bytesLeft = () => Math.max(1, budget.limit - budget.granted)

/**
 * Counts anew, after C was refused what it wanted for a call that has ended. `bytesLeft` is exact then.
 *
 * @param {number} nbytes
 * @param {() => number} inUse
 * @throws {RangeError} ERR_MEMORY beyond the limit
 */
function grantScratch(nbytes, inUse) {
  budget.granted += nbytes
  recount(nbytes, inUse)
  budget.granted -= nbytes
}

/** Bytes of groups that are not known to be collected. @returns {{ v8: number, sab: number }} */
function countedBytes() {
  const bytes = { v8: 0, sab: 0 }
  counts.forEach(({ kind, bytes: n }) => {
    if (kind === 'v8' || kind === 'sab') bytes[kind] += n
  })
  return bytes
}

/**
 * A storage over a new SharedArrayBuffer.
 *
 * @param {Group} group  for it alone
 * @param {number} nbytes
 * @returns {Storage}
 */
function newSharedStorage(group, nbytes) {
  if (typeof SharedArrayBuffer !== 'function') {
    throw failure(
      'ERR_UNSUPPORTED',
      'shared memory needs a SharedArrayBuffer, which a page has where it is cross-origin isolated; share(t, { copy: true }) sends a copy anywhere',
    )
  }
  let buffer
  try {
    buffer = new SharedArrayBuffer(nbytes)
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} shared bytes could not be allocated`)
  }
  group.count.bytes += nbytes
  return new Storage(group, null, buffer, 0, nbytes)
}

/**
 * Notes a copy that the caller asked for.
 *
 * @param {string} reason  the public function's name
 * @param {number} bytes
 */
function countCopy(reason, bytes) {
  count(stats.copied, reason, bytes)
  if (events.listener !== null) events.listener.copied(reason, bytes)
}

/**
 * Notes what is about to be sent to another process.
 *
 * @param {'message' | 'host'} way  in a message, or in memory that processes of one host share
 * @param {number} bytes
 */
function countSent(way, bytes) {
  count(stats.sent, way, bytes)
  if (events.listener !== null) events.listener.sent(way, bytes)
}

/** @param {Record<string, { count: number, bytes: number }>} rows @param {string} name @param {number} bytes */
function count(rows, name, bytes) {
  const row = (rows[name] ??= { count: 0, bytes: 0 })
  row.count++
  row.bytes += bytes
}

/** Notes a temporary copy that an operation made. @param {number} bytes */
function countStaged(bytes) {
  stats.staged.count++
  stats.staged.bytes += bytes
  if (events.listener !== null) events.listener.copied('staged', bytes)
  if (isLogged) log('staged %d bytes: a temporary copy', bytes)
}

/** Do stacks begin with the error's name and message, as V8's do? */
const isTold = String(new Error('told').stack).includes('told')

/** @param {Error} error */
function stackOf(error) {
  const { stack } = error
  return isTold || typeof stack !== 'string' ? String(stack) : `${error}\n${stack}`
}

/**
 * Has the instance of the package that was given a deleter report what it throws, in a counter and a process warning: a process may have
 * several instances over one addon (Jest), and the last one is called for all.
 *
 * @param {Function} deleter
 * @returns {(address: bigint) => void}
 */
function reporting(deleter) {
  return (address) => {
    try {
      deleter(address)
    } catch (error) {
      stats.deleterErrors++
      let text = 'something that has no text'
      try {
        text = error instanceof Error ? stackOf(error) : String(error)
      } catch {}
      warn(`a deleter threw: ${text}`)
    }
  }
}

/**
 * The error where JavaScript would have to see a device's memory.
 *
 * @param {Storage} storage  on a device
 */
function outOfSight({ optional }) {
  return failure(
    'ERR_DEVICE',
    `the bytes are on cuda:${optional?.device}, where JavaScript does not see them; cpu() copies them`,
  )
}

module.exports = {
  events,
  Storage,
  Group,
  OptionalFields,
  SlotTable,
  passing,
  CPU,
  isDevice,
  nameOfDevice,
  deviceOfStorage,
  isOnDevice,
  staying,
  claim,
  unclaim,
  opcodesOf,
  budget,
  grant,
  grantScratch,
  bytesLeft,
  watchGrowth,
  countedBytes,
  newSharedStorage,
  stats,
  counts,
  countCopy,
  countSent,
  countStaged,
  outOfSight,
  reporting,
}
