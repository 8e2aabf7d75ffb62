'use strict'
// WASM over memory that threads share. Each thread has an instance of the same module, with a stack, thread-local variables and a call
// buffer of its own. The first thread makes the group; others join it.

const { failure } = require('../base/errors')
const { newName } = require('../runtime/host')
const { byteLengthOf, isSharedArrayBuffer } = require('../base/buffers')
const { Backend, instantiate, newMemory, maxima } = require('./wasm')
const { version } = require('../base/version')

/** @typedef {import('./wasm').WasmMemory} WasmMemory */

/**
 * What a thread needs to join; can be cloned to any of the page or process.
 *
 * @typedef {object} ThreadGroup
 * @property {string} version  of the package that made it
 * @property {import('../base/types').WasmModule} module
 * @property {WasmMemory} memory
 * @property {string} name  of this group, as nobody else has one
 * @property {number | undefined} maximum  bytes that memory may grow to
 * @property {boolean} started  whether its first thread is there
 */

/**
 * Which thread of the host it is, where the host numbers them.
 *
 * @typedef {object} Place
 * @property {number} thread  no other one has or had this number; 0: none
 * @property {number} parent  a thread that this one does not outlive; 0: none
 */

/**
 * @param {import('../base/types').WasmModule} module
 * @param {WasmMemory} [memory]  shared
 * @returns {ThreadGroup} nobody's yet
 */
function newGroup(module, memory = newMemory({ shared: true })) {
  return { version, module, memory, name: newName(), maximum: maxima.get(memory), started: false }
}

/** Buffers known to be over this memory: this thread's, also from before memory grew, and those of other threads. @type {WeakSet<object>} */
const buffers = new WeakSet()

/** Buffers known not to be. @type {WeakSet<object>} */
const others = new WeakSet()

/** Linear memory that other threads have as well. */
class SharedBackend extends Backend {
  /**
   * @param {any} exports
   * @param {ThreadGroup} group
   */
  constructor(exports, group) {
    super('wasm-shared', exports, group.memory)
    this.group = group // which the class above knows as null
    this.maximum = group.maximum ?? this.maximum
    /** the number of this thread's environment */
    this.id = exports.sb_id()
  }

  /** Tells the group that this thread holds its lock, which others get when the thread is gone. */
  beWatched() {
    this.exports.sb_watched()
  }

  /** @returns {number[]} environments of the threads that hold their locks, this one's included */
  watched() {
    const ids = []
    let id = 0
    while ((id = this.exports.sb_next_watched(id)) !== 0) ids.push(id >>> 0)
    return ids
  }

  /**
   * Frees what a thread that is gone held.
   *
   * @param {number} id  of its environment
   */
  end(id) {
    this.exports.sb_end(id)
  }

  /** @override */
  renew() {
    super.renew()
    buffers.add(this.buffer)
  }

  /**
   * Growing shared memory leaves old buffers valid: shorter, over the same bytes. Buffers that other threads posted are over them, too.
   *
   * @override
   * @param {ArrayBufferLike} buffer
   */
  isOwn(buffer) {
    if (buffers.has(buffer)) return true
    if (others.has(buffer) || !isSharedArrayBuffer(buffer)) return false
    if (this.shows(buffer)) buffers.add(buffer)
    else others.add(buffer)
    return buffers.has(buffer)
  }

  /**
   * Is the buffer over this memory? Tried by writing to a place in the module's own data, which is in every buffer over it. Other threads
   * try there as well; then it is tried again.
   *
   * @param {SharedArrayBuffer} buffer
   */
  shows(buffer) {
    const at = this.exports.sb_probe() >>> 0
    if (byteLengthOf(buffer) < at + 8) return false
    const mine = new BigInt64Array(this.buffer, at, 1)
    const theirs = new BigInt64Array(buffer, at, 1)
    for (;;) {
      const sign = BigInt(Math.floor(Math.random() * 2 ** 52))
      Atomics.store(mine, 0, sign)
      if (Atomics.load(theirs, 0) === sign) return true
      if (Atomics.load(mine, 0) === sign) return false
    }
  }

  /** @override @param {number} nbytes @param {() => void} check */
  allocateNative(nbytes, check) {
    return staying(this.allocate(nbytes, check))
  }

  /** @override @param {number} nbytes @param {() => void} check */
  allocateSab(nbytes, check) {
    return staying(this.allocateZeroed(nbytes, check))
  }

  /**
   * Frees what a thread that is gone held, and what those that it started held. A thread cannot do this for itself: its stack goes, too.
   *
   * @param {number} thread  its number
   */
  endThread(thread) {
    this.exports.sb_end_thread(thread)
  }
}

/** @param {import('./storage').Storage} storage  that was asked for as memory that others may see */
function staying(storage) {
  ;/** @type {import('./storage').OptionalFields} */ (storage.optional).stays = true
  return storage
}

/**
 * Joins a group, as its first thread or as another.
 *
 * @param {ThreadGroup} group
 * @param {Place} [position]
 */
function start(group, { thread, parent } = { thread: 0, parent: 0 }) {
  if (group.version !== version) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the memory was made by samebytes ${group.version}; this is ${version}, and both have to be the same`,
    )
  }
  const { exports, watch } = instantiate(group.module, group.memory)
  if (!group.started) exports._initialize()
  const tls = exports.__tls_size.value
  const environment = exports.sb_new_environment(tls, group.started ? 1 : 0, thread, parent)
  if (environment === 0) throw failure('ERR_MEMORY', 'there is no WASM memory for another thread')
  // The module starts every thread on the same stack. What gives this one its own uses none, and no thread-local variables.
  if (group.started) exports.stackRestore(exports.sb_stack(environment, tls))
  exports.__wasm_init_tls(exports.sb_tls(environment))
  exports.sb_start(environment)
  if (!group.started) group.started = true // of others' groups nothing is written
  const backend = new SharedBackend(exports, group)
  watch(backend)
  return backend
}

module.exports = { SharedBackend, newGroup, start }
