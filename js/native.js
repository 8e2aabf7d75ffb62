'use strict'
// The native back end: the addon, and V8's own memory for the tensors that it owns.
//
// Small tensors are cut from blocks of 16 KiB, which V8 frees as a whole; the first exposure of one's
// bytes moves them to a buffer of their own (promotion). Larger ones have their own from the start.

const path = require('node:path')
const { failure } = require('./errors')
const { Storage, Group, stats, counts, reportDeleter } = require('./storage')

const BLOCK = 16384 // bytes in a block
const SMALL = 2048 // bytes of the largest tensor that is cut from one
const ALIGNMENT = 64
const BIG = 65536 // bytes from which a storage is counted by itself
const CROWD = 64 // storages that are otherwise counted together
const SPARE = 64 // freed slots kept for reuse, each size

/** Memory that small tensors are cut from. */
class Block extends Group {
  /**
   * @param {ArrayBuffer} buffer
   * @param {number} start  bytes to the first aligned one
   * @param {number} address  of that one
   */
  constructor (buffer, start, address) {
    super('v8')
    this.buffer = buffer
    this.start = start
    this.address = address
    this.used = 0
    /** @type {any[]} */
    this.windows = []
    this.words = new Int32Array(buffer, start, BLOCK / 4)
  }
}

/** who keeps the bytes of an address, for as long as a buffer over them is held @type {WeakMap<object, unknown>} */
const owners = new WeakMap()

/** @returns {string[]} where the addon may be, in the order in which it is looked for */
function places () {
  const root = path.join(__dirname, '..')
  if (process.env.SAMEBYTES_BINARY) return [path.resolve(process.env.SAMEBYTES_BINARY)]
  return [
    path.join(root, 'build', 'Release', 'samebytes.node'),
    path.join(root, 'prebuilds', `${process.platform}-${process.arch}`, 'samebytes.node')
  ]
}

/** @returns {boolean} whether this platform is one that the addon is shipped for */
function isExpected () {
  return process.env.SAMEBYTES_BINARY !== undefined || (process.platform === 'linux' && process.arch === 'x64')
}

function load () {
  const reasons = []
  for (const place of places()) {
    try {
      return require(place)
    } catch (error) {
      reasons.push(`${place}: ${/** @type {Error} */ (error).message.split('\n')[0]}`)
    }
  }
  throw failure('ERR_UNSUPPORTED', `no native addon for ${process.platform}-${process.arch} could be loaded (${reasons.join('; ')}); SAMEBYTES_BACKEND=wasm does without`)
}

/** The addon's memory as the rest of the library uses it. */
class Backend {
  constructor () {
    const addon = load()
    this.addon = addon
    this.name = 'native'
    this.tables = JSON.parse(addon.tables)
    this.frame = { f64: new Float64Array(addon.frame), i64: new BigInt64Array(addon.frame) }
    this.textBytes = new Uint8Array(addon.frame, this.tables.frame.TEXT * 8)
    /** @type {(row: number) => void} */
    this.call = addon.call
    /** @type {Block | null} */
    this.block = null
    /** @type {Group} */
    this.crowd = this.newGroup('v8')
    /** @type {Group} */
    this.adopted = this.newGroup('js')
    /** slots whose tensors were disposed unexposed, by size / 64 @type {Storage[][]} */
    this.spare = Array.from({ length: SMALL / ALIGNMENT + 1 }, () => [])
    this.watched = 0
    this.sweepAt = 256
    this.nativeBytes = 0
    this.nativeLimit = 32 * 2 ** 20
    addon.onDeleter((/** @type {Function} */ deleter, /** @type {bigint} */ address) => {
      try {
        deleter(address)
      } catch (error) {
        reportDeleter(error)
      }
    })
  }

  /** The last failure in words. */
  text () {
    const end = this.textBytes.indexOf(0)
    return Buffer.from(this.textBytes.subarray(0, end)).toString('utf8')
  }

  // ---- Counting ----

  /**
   * @param {'v8' | 'js'} kind
   * @returns {Group}
   */
  newGroup (kind) {
    const group = new Group(kind)
    this.watchGroup(group)
    return group
  }

  /** @param {Group} group */
  watchGroup (group) {
    if (++this.watched > this.sweepAt) {
      this.sweep()
      this.watched = counts.size
      this.sweepAt = Math.max(256, 2 * counts.size)
    }
    const id = this.addon.watch(group, 0)
    if (id >= 0) counts.set(id, Object.assign(group.count, { kind: group.kind }))
  }

  /** Forgets what was collected, and frees native storages whose JavaScript side is gone. */
  sweep () {
    for (const id of this.addon.sweep()) counts.delete(id)
  }

  // ---- Making storages ----

  /**
   * @param {number} nbytes
   * @param {boolean} zeroed
   * @returns {Storage}
   */
  allocate (nbytes, zeroed) {
    if (nbytes > SMALL) return this.allocateOwn(nbytes, zeroed)
    const size = nbytes === 0 ? ALIGNMENT : (nbytes + ALIGNMENT - 1) & -ALIGNMENT
    const spare = this.spare[size >>> 6]
    if (spare.length > 0) {
      const old = /** @type {Storage} */ (spare.pop())
      const block = /** @type {Block} */ (old.block)
      return this.cut(block, old.windowOffset, nbytes, size, zeroed)
    }
    let block = this.block
    if (block === null || block.used + size > BLOCK) block = this.newBlock()
    const at = block.used
    block.used = at + size
    return this.cut(block, at, nbytes, size, zeroed)
  }

  /**
   * @param {Block} block
   * @param {number} at
   * @param {number} nbytes
   * @param {number} size
   * @param {boolean} zeroed
   */
  cut (block, at, nbytes, size, zeroed) {
    // No address yet: its absence says that neither C nor a window has touched the bytes.
    const storage = new Storage('v8', block.buffer, block.start + at, nbytes, 0, block)
    storage.block = block
    storage.windowOffset = at
    block.count.storages++
    if (zeroed) block.words.fill(0, at >> 2, (at + size) >> 2)
    return storage
  }

  newBlock () {
    const bytes = Buffer.allocUnsafeSlow(BLOCK + ALIGNMENT)
    const address = this.addon.address(bytes)
    const start = -address & (ALIGNMENT - 1)
    const block = new Block(bytes.buffer, start, address + start)
    block.count.bytes = BLOCK
    this.watchGroup(block)
    this.block = block
    return block
  }

  /**
   * @param {number} nbytes
   * @param {boolean} zeroed
   */
  allocateOwn (nbytes, zeroed) {
    const buffer = newBuffer(nbytes + ALIGNMENT, zeroed)
    const address = this.addon.address(new Uint8Array(buffer, 0, 1))
    const start = -address & (ALIGNMENT - 1)
    const storage = new Storage('v8', buffer, start, nbytes, address + start, this.groupFor('v8', nbytes))
    storage.count.storages++
    storage.count.bytes += nbytes
    return storage
  }

  /**
   * @param {'v8' | 'js'} kind
   * @param {number} nbytes
   * @returns {Group}
   */
  groupFor (kind, nbytes) {
    if (kind === 'js') {
      if (this.adopted.made++ >= CROWD) this.adopted = this.newGroup('js')
      return this.adopted
    }
    if (nbytes >= BIG) return this.newGroup('v8')
    if (this.crowd.made++ >= CROWD) this.crowd = this.newGroup('v8')
    return this.crowd
  }

  /**
   * The caller's bytes, where they are.
   *
   * @param {ArrayBufferLike} buffer
   * @param {number} byteOffset
   * @param {number} nbytes
   * @returns {Storage}
   */
  adopt (buffer, byteOffset, nbytes) {
    const storage = new Storage('js', buffer, byteOffset, nbytes, 0, this.groupFor('js', nbytes))
    storage.count.storages++
    return storage
  }

  /**
   * Bytes on the native heap, which other threads may see.
   *
   * @param {number} nbytes
   * @param {number} row  storage_new
   * @param {(row: number) => void} invoke
   * @returns {Storage}
   */
  allocateNative (nbytes, row, invoke) {
    const { f64 } = this.frame
    const { ARGS, RESULTS } = this.tables.frame
    this.nativeBytes += nbytes
    if (this.nativeBytes > this.nativeLimit) { // finalizers wait for the event loop; this does not
      this.sweep()
      this.nativeBytes = 0
    }
    f64[ARGS] = nbytes
    invoke(row)
    return this.hold(f64[RESULTS], f64[RESULTS + 1], nbytes)
  }

  /**
   * Foreign memory at an address.
   *
   * @param {number} address
   * @param {number} nbytes
   * @param {Function | undefined} deleter
   * @param {() => void} check  throws what the frame reports
   * @returns {Storage}
   */
  wrap (address, nbytes, deleter, check) {
    this.addon.wrap(address, nbytes, deleter)
    check()
    return this.hold(this.frame.f64[this.tables.frame.RESULTS], address, nbytes)
  }

  /**
   * @param {number} handle
   * @param {number} address
   * @param {number} nbytes
   */
  hold (handle, address, nbytes) {
    const group = new Group('native')
    const storage = new Storage('native', null, 0, nbytes, address, group)
    storage.handle = handle
    storage.watch = this.addon.watch(storage, handle)
    if (storage.watch < 0) {
      this.drop(handle)
      throw failure('ERR_MEMORY', 'no memory to watch a native storage')
    }
    group.count.storages = 1
    counts.set(storage.watch, Object.assign(group.count, { kind: 'native' }))
    return storage
  }

  /**
   * Calls deleter when the caller's buffer is used by no tensor any more.
   *
   * @param {Storage} storage
   * @param {Function} deleter
   * @param {() => void} check
   */
  attachDeleter (storage, deleter, check) {
    const address = this.addressOf(storage)
    this.addon.wrap(address, storage.nbytes, deleter)
    check()
    const watch = this.addon.watch(storage, this.frame.f64[this.tables.frame.RESULTS])
    if (watch < 0) {
      this.drop(this.frame.f64[this.tables.frame.RESULTS])
      throw failure('ERR_MEMORY', 'no memory to watch a buffer')
    }
    storage.watch = watch
  }

  /** @param {number} handle  that nobody will watch */
  drop (handle) {
    this.frame.f64[this.tables.frame.ARGS] = handle
    this.call(this.tables.rows.findIndex((/** @type {[string, string] | null} */ row) => row !== null && row[0] === 'storage_drop'))
  }

  // ---- Using storages ----

  /**
   * Address of the storage's first byte; the buffer is attached and long enough.
   *
   * @param {Storage} storage
   * @returns {number}
   */
  addressOf (storage) {
    if (storage.block !== null) {
      storage.address = storage.block.address + storage.windowOffset
    } else if (storage.address === 0 && storage.nbytes > 0) {
      const address = this.addon.address(new Uint8Array(/** @type {ArrayBuffer} */ (storage.buffer), 0, 1))
      storage.address = address + storage.byteOffset
    }
    return storage.address
  }

  /**
   * Makes a small tensor's bytes a buffer of their own, because they are about to be seen.
   *
   * @param {Storage} storage
   */
  promote (storage) {
    const block = storage.block
    if (block === null) return
    const { nbytes } = storage
    const buffer = new ArrayBuffer(nbytes + ALIGNMENT)
    // Untouched bytes need not be moved: any content will do, and zeros are as good as new.
    const start = this.addon.promote(buffer, storage.address, storage.address === 0 ? 0 : nbytes)
    const address = this.frame.f64[this.tables.frame.RESULTS]
    const group = this.groupFor('v8', nbytes)
    block.count.storages--
    block.count.tensors -= storage.claims
    group.count.storages++
    group.count.tensors += storage.claims
    group.count.bytes += nbytes
    storage.group = group
    storage.count = group.count
    storage.buffer = buffer
    storage.byteOffset = start
    storage.address = address
    storage.block = null
    storage.windowOffset = 0
    stats.promoted++
  }

  /**
   * The buffer that holds the bytes, for the caller to see.
   *
   * @param {Storage} storage
   * @param {() => void} check
   * @returns {ArrayBufferLike}
   */
  bufferOf (storage, check) {
    if (storage.block !== null) this.promote(storage)
    if (storage.kind === 'native' && (storage.buffer === null || (storage.nbytes > 0 && storage.buffer.byteLength === 0))) {
      const buffer = this.addon.buffer(storage.watch)
      check()
      storage.buffer = buffer
      storage.windows = null
      if (storage.owner !== undefined) owners.set(buffer, storage.owner)
    }
    return /** @type {ArrayBufferLike} */ (storage.buffer)
  }

  /**
   * Are the bytes in reach of JavaScript? Native memory is once a buffer over it was asked for: our own
   * reads make none, because it would hold the memory until it is collected (and some runtimes refuse).
   *
   * @param {Storage} storage
   * @returns {boolean}
   */
  canView (storage) {
    return storage.kind !== 'native' || storage.buffer !== null
  }

  /**
   * A typed array over the storage for our own reads and writes; never shown to anybody.
   *
   * @param {Storage} storage
   * @param {number} dtype
   * @param {any} Type
   * @param {() => void} check
   */
  window (storage, dtype, Type, check) {
    const block = storage.block
    if (block !== null) {
      this.addressOf(storage)
      block.windows[dtype] ??= new Type(block.buffer, block.start, BLOCK / Type.BYTES_PER_ELEMENT)
      return block.windows[dtype]
    }
    const buffer = this.bufferOf(storage, check)
    storage.windows ??= []
    const seen = storage.windows[dtype]
    if (seen !== undefined && seen.buffer === buffer) return seen
    const made = new Type(buffer, storage.byteOffset, Math.floor(storage.nbytes / Type.BYTES_PER_ELEMENT))
    storage.windows[dtype] = made
    return made
  }

  /**
   * The last tensor that was not disposed is gone.
   *
   * @param {Storage} storage
   */
  release (storage) {
    if (storage.released) return
    storage.released = true
    storage.count.storages--
    const block = storage.block
    if (block !== null) {
      const spare = this.spare[storage.nbytes === 0 ? 1 : (storage.nbytes + ALIGNMENT - 1) >>> 6]
      if (spare.length < SPARE) spare.push(storage)
    } else if (storage.kind === 'v8') {
      storage.count.bytes -= storage.nbytes
    } else if (storage.watch >= 0) {
      counts.delete(storage.watch)
      this.addon.unwatch(storage.watch)
    }
  }

  /** Waits until what is due on the event loop is done. */
  async flush () {
    const turn = () => new Promise(resolve => setImmediate(resolve))
    for (let i = 0; i < 3; i++) await turn()
    while (this.addon.due() > 0) await turn()
  }
}

/**
 * @param {number} nbytes
 * @param {boolean} zeroed
 * @returns {ArrayBuffer}
 */
function newBuffer (nbytes, zeroed) {
  try {
    if (zeroed || nbytes > 2 ** 31) return new ArrayBuffer(nbytes)
    return Buffer.allocUnsafeSlow(nbytes).buffer
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} bytes could not be allocated`)
  }
}

module.exports = { Backend, Block, isExpected, start: () => new Backend() }
