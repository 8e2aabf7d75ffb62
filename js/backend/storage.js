'use strict'
// Bytes, as JavaScript knows them: where they are, who else holds them, and how many were copied.

const { SharedArrayBuffer, newList, rootless } = require('../base/primordials')
const { failure } = require('../base/errors')
const { SlotTable } = require('../base/slot-table')
const { memoryOfMachine, warn, isLogged, log } = require('../runtime/host')

/**
 * What is counted together for memory(): the tensors and storages that live and die with one watched
 * object (a few blocks of small tensors, some buffers, one native storage).
 */
class Group {
  /** @param {'v8' | 'js' | 'sab' | 'native' | 'wasm' | 'cuda'} kind  of all that is in it */
  constructor (kind) {
    this.kind = kind
    this.count = { kind, tensors: 0, storages: 0, bytes: 0 }
    /** storages, or blocks, ever made in it */
    this.made = 0
  }
}

rootless(Group)

/** Numbers, the last one first. Its list never gets shorter: that is a tenth of push and pop of a list without a prototype. */
class Stack {
  constructor () {
    /** @type {number[]} */
    this.list = newList()
    this.size = 0
  }

  /** @param {number} x */
  push (x) { this.list[this.size++] = x }

  /** @returns {number} of a stack that has one */
  pop () { return this.list[--this.size] }
}

rootless(Stack)

/** the counts of groups that are not known to be collected, by watch @type {SlotTable<Group['count']>} */
const counts = new SlotTable()

/** What few storages have. */
class Extra {
  constructor () {
    /** of a native storage, as C numbers it; 0: none */
    this.handle = 0
    /** index of the weak reference that goes with it; -1: none */
    this.watch = -1
    /** typed arrays for get and set, by dtype @type {any[] | null} */
    this.windows = null
    /** of the caller's buffer, where the back end keeps it here @type {Function | null} */
    this.deleter = null
    /** whose bytes these are as well: claimed @type {Storage | null} */
    this.base = null
    /** others may follow the bytes by their address: they do not move to where there is more room */
    this.stays = false
    /** blob records of it that are not known to be collected @type {{ live: number } | null} */
    this.records = null
    /** pending operations that read or write the bytes: our writers refuse them */
    this.busy = 0
    /** those of them that write */
    this.written = 0
    /** a mapping whose bytes may turn out to be gone: who touched them asks afterwards (ffi.checkIntact) */
    this.guarded = false
    /** no transfer takes the buffer away: native code had the bytes */
    this.fixed = false
    /** number of the CUDA device that has the bytes; -1: the CPU's memory */
    this.device = -1
    /** page-locked, made so or registered since */
    this.pinned = false
  }
}

rootless(Extra)

/** the group of what lives for one call only: nobody counts it */
const passing = new Group('js')

/**
 * One block of bytes. Its group says who owns it: 'v8', memory that we made in a V8 ArrayBuffer; 'sab',
 * in a SharedArrayBuffer; 'js', the caller's buffer; 'native', 'wasm' and 'cuda', a handle, the last one to memory
 * that the CPU does not see. Small, because every tensor that is made has one.
 */
class Storage {
  /**
   * @param {Group} group
   * @param {import('./small-tensors').Block | null} block  that a small, unexposed tensor's bytes lie in; or a mark: V8's heap
   * @param {ArrayBufferLike | null} buffer  that holds the bytes; null: the block's, or made when asked for; the typed
   *   array itself while V8's heap has them
   * @param {number} byteOffset  in the buffer; in the block: from its first aligned byte
   * @param {number} nbytes
   */
  constructor (group, block, buffer, byteOffset, nbytes) {
    this.group = group
    this.block = block
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.nbytes = nbytes
    /** of the first byte; null: not looked up; in a block: and no byte was touched @type {number | null} */
    this.address = null
    /** tensors that were not disposed; -1: it was given up */
    this.claims = 0
    /** what the caller wants kept, or the caller's object @type {unknown} */
    this.owner = undefined
    /** @type {Extra | null} */
    this.extra = null
  }

  get kind () { return this.group.kind }
  get released () { return this.claims < 0 }
}

rootless(Storage)

/**
 * Are the bytes where the CPU does not see them?
 *
 * @param {Storage} storage
 */
function isOnDevice ({ extra }) {
  return extra !== null && extra.device >= 0
}

/**
 * One user more.
 *
 * @param {Storage} storage
 */
function claim (storage) {
  if (storage.claims++ === 0) storage.group.count.storages++
}

/**
 * One user less; the last one gives the bytes up, unless a blob record has them: then collection does.
 *
 * @param {Storage} storage
 * @param {{ release: (storage: Storage) => void }} backend
 */
function unclaim (storage, backend) {
  if (--storage.claims > 0) return
  storage.group.count.storages--
  const { extra } = storage
  if (extra === null || extra.records === null || extra.records.live === 0) backend.release(storage)
}

/**
 * C's functions are called by number.
 *
 * @param {any} tables
 * @returns {Record<string, number>} by name
 */
function opcodesOf (tables) {
  /** @type {Record<string, number>} */
  const numbers = {}
  for (let i = 0; i < tables.rows.length - 1; i++) numbers[tables.rows[i][0]] = i
  return numbers
}

/** What memory() counts over the life of the process. */
const stats = {
  /** @type {Record<string, { count: number, bytes: number }>} */
  copied: {},
  staged: { count: 0, bytes: 0 },
  promoted: 0,
  grown: 0,
  inFlight: 0,
  deleterErrors: 0
}

/**
 * How much memory tensors may take; looked up when it is first asked for. granted: at least what is in use, with what
 * has gone since it was counted.
 */
const budget = { limit: 0, isKnown: false, granted: 0 }

/**
 * Asks for bytes before they are allocated.
 *
 * @param {number} nbytes
 * @param {() => number} inUse  counts what is in use, at some cost
 * @throws {RangeError} ERR_MEMORY beyond the limit
 */
function grant (nbytes, inUse) {
  budget.granted += nbytes
  if (budget.granted > budget.limit) recount(nbytes, inUse)
}

/**
 * @param {number} nbytes
 * @param {() => number} inUse
 */
function recount (nbytes, inUse) {
  if (!budget.isKnown) {
    budget.limit = memoryOfMachine()
    budget.isKnown = true
    if (budget.granted <= budget.limit) return
  }
  const used = inUse()
  budget.granted = used + nbytes
  if (budget.granted <= budget.limit) return
  budget.granted = used
  throw failure('ERR_MEMORY', `${nbytes} bytes were asked for; ${used} of the limit of ${budget.limit} are in use (setMemoryLimit)`)
}

/** Bytes of groups that are known to be alive, by kind. @returns {{ v8: number, sab: number }} */
function countedBytes () {
  const bytes = { v8: 0, sab: 0 }
  counts.forEach(({ kind, bytes: n }) => { if (kind === 'v8' || kind === 'sab') bytes[kind] += n })
  return bytes
}

/**
 * Bytes that Atomics and other threads may work on.
 *
 * @param {Group} group  for it alone
 * @param {number} nbytes
 * @returns {Storage}
 */
function newSharedStorage (group, nbytes) {
  if (typeof SharedArrayBuffer !== 'function') throw failure('ERR_UNSUPPORTED', 'shared memory needs a SharedArrayBuffer, which a page has where it is cross-origin isolated')
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
function countCopy (reason, bytes) {
  const row = stats.copied[reason] ??= { count: 0, bytes: 0 }
  row.count++
  row.bytes += bytes
}

/** @param {number} bytes  of a temporary copy on the way of an operation */
function countStaged (bytes) {
  stats.staged.count++
  stats.staged.bytes += bytes
  if (isLogged) log('staged %d bytes: a temporary copy', bytes)
}

/**
 * A deleter threw: a process warning and a counter, whatever was thrown.
 *
 * @param {unknown} error
 */
function reportDeleter (error) {
  stats.deleterErrors++
  let text = 'something that has no text'
  try {
    text = error instanceof Error ? String(error.stack) : String(error)
  } catch {}
  warn(`a deleter threw: ${text}`)
}

module.exports = { Storage, Group, Extra, Stack, passing, isOnDevice, claim, unclaim, opcodesOf, budget, grant, countedBytes, newSharedStorage, stats, counts, countCopy, countStaged, reportDeleter }
