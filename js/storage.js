'use strict'
// Bytes, as JavaScript knows them: where they are and who else holds them. No layout, no dtype.

/**
 * What is counted together for memory(): the tensors and storages that live and die with one watched
 * object (a block of small tensors, a group of buffers, one native storage).
 */
class Group {
  /** @param {'v8' | 'js' | 'native' | 'wasm'} kind */
  constructor (kind) {
    this.kind = kind
    this.count = { tensors: 0, storages: 0, bytes: 0 }
    /** storages ever made in it */
    this.made = 0
  }
}

/** @type {Map<number, Group['count'] & { kind: string }>} */
const counts = new Map()

/** One block of bytes. `kind` says who owns it; which fields matter depends on it. */
class Storage {
  /**
   * @param {'v8' | 'js' | 'native' | 'wasm'} kind
   *   v8: memory that we made in a V8 ArrayBuffer; js: the caller's buffer; native, wasm: a handle
   * @param {ArrayBufferLike | null} buffer  that holds the bytes; null: made when asked for
   * @param {number} byteOffset  in that buffer
   * @param {number} nbytes
   * @param {number} address  of the first byte; 0: not looked up yet
   * @param {Group} group
   */
  constructor (kind, buffer, byteOffset, nbytes, address, group) {
    this.kind = kind
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.nbytes = nbytes
    this.address = address
    this.group = group
    this.count = group.count
    /** of a native storage, as C numbers it; 0: none */
    this.handle = 0
    /** index of the weak reference that goes with the handle; -1: none */
    this.watch = -1
    /** the block that a small, unexposed tensor's bytes lie in @type {import('./native').Block | null} */
    this.block = null
    /** bytes from the start of the memory that windows cover */
    this.windowOffset = 0
    /** typed arrays for get and set, by dtype @type {any[] | null} */
    this.windows = null
    /** tensors that were not disposed */
    this.claims = 0
    /** what the caller wants kept, or the caller's object @type {unknown} */
    this.owner = undefined
    /** of the caller's buffer, where the back end keeps it here @type {Function | null} */
    this.deleter = null
    /** was it given up? */
    this.released = false
  }
}

/** What memory() counts over the life of the process. */
const stats = {
  /** @type {Record<string, { count: number, bytes: number }>} */
  copied: {},
  staged: { count: 0, bytes: 0 },
  promoted: 0,
  grown: 0,
  deleterErrors: 0
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
  process.emitWarning(`a deleter threw: ${text}`, 'SamebytesWarning')
}

module.exports = { Storage, Group, stats, counts, countCopy, countStaged, reportDeleter }
