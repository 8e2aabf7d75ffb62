'use strict'
// The pool of small tensors in V8's memory.
//
// Their bytes are slots of blocks, which V8 frees as a whole. A block gets its memory when one of its tensors is first touched.
// When a tensor's bytes are first shown to the caller they move out of the block: up to 64 bytes into a typed array in V8's heap,
// more into an ArrayBuffer of their own (promotion).

const { arrayOf, rootless } = require('../base/records')
const { failure } = require('../base/errors')
const { isLogged, log } = require('../runtime/host')
const { partsOfArray, bufferOf, lengthOfBuffer } = require('../base/buffers')
const { Storage, passing, grant, stats } = require('./storage')

/** @typedef {InstanceType<typeof import('./storage').Group>} Group */

const BLOCK = 4096 // bytes of a block: one tensor that is kept keeps all of it
const BLOCKS = 4 // of a group, which are counted together
const SMALL = 1024 // bytes of the largest tensor in a block
const ALIGNMENT = 64 // bytes
const PADDING = ALIGNMENT - 16 // bytes that alignment takes where the allocator gives multiples of 16
const FREE_MOST = 64 // freed slots kept for reuse, of each size
const IN_HEAP_MOST = 64 // bytes of the largest typed array that V8 makes without a buffer
const POOLED_MOST = 256 // bytes of the largest tensor whose buffer is made in advance
const BUFFERS_MOST = 7 // made at a time: as many addresses fit into the call buffer's results

const { allocUnsafeSlow } = Buffer

/** @type {any[]} */
const NO_WINDOWS = []

/** Memory that small tensors' slots are in. */
class Block {
  /** @param {Group} group */
  constructor(group) {
    this.group = group
    /** bytes given out as slots */
    this.used = 0
    /** null: none of its tensors was touched @type {ArrayBuffer | null} */
    this.buffer = null
    /** bytes from the buffer's start to its first aligned byte */
    this.start = 0
    /** of that byte */
    this.address = 0
    /** typed arrays over the block, by dtype @type {any[]} */
    this.windows = NO_WINDOWS
  }
}

rootless(Block)

/** Stands for V8's heap in `storage.block`; the storage's `buffer` is then the typed array that the caller has. */
const IN_HEAP = new Block(passing)

/** Freed slots of one size, the last one on top. */
class FreeSlots {
  constructor() {
    this.count = 0
    /** @type {(Storage | null)[]} */
    this.slots = arrayOf(FREE_MOST, () => null)
  }
}

rootless(FreeSlots)

/**
 * Buffers of one size, made in advance: one call of C gives the addresses of several. The first time one is made, then two, four
 * and so on.
 */
class BufferPool {
  constructor() {
    this.left = 0
    this.next = 1
    /** @type {(ArrayBuffer | null)[]} */
    this.buffers = arrayOf(BUFFERS_MOST, () => null)
    /** @type {number[]} */
    this.addresses = arrayOf(BUFFERS_MOST, () => 0)
  }
}

rootless(BufferPool)

/** Small tensors' storages: allocated, touched, shown and freed. */
class SmallTensors {
  /**
   * @param {import('./native').Backend} native
   * @param {number} int32  the dtype's number
   */
  constructor(native, int32) {
    this.native = native
    this.int32 = int32
    /** where the next slot comes from */
    this.block = new Block(native.newGroup('v8'))
    /** by slot size / 64 */
    this.free = arrayOf(SMALL / ALIGNMENT + 1, () => new FreeSlots())
    /** by slot size / 64 */
    this.bufferPools = arrayOf(POOLED_MOST / ALIGNMENT + 1, () => new BufferPool())
  }

  // ---- Allocating ----

  /**
   * Short, so that V8 inlines it wherever a tensor is made.
   *
   * @param {number} nbytes  SMALL at most
   * @returns {Storage} uninitialised
   */
  allocate(nbytes) {
    const { block } = this
    const at = block.used
    const size = (nbytes + ALIGNMENT - 1) & -ALIGNMENT
    if (nbytes === 0 || at + size > BLOCK || this.free[size >>> 6].count > 0) {
      return this.allocateSlot(nbytes)
    }
    block.used = at + size
    return new Storage(block.group, block, null, at, nbytes)
  }

  /**
   * A freed slot, or the next one of this block or of a new one.
   *
   * @param {number} nbytes
   * @returns {Storage}
   */
  allocateSlot(nbytes) {
    const size = slotSize(nbytes)
    const free = this.free[size >>> 6]
    let block = this.block
    let at = block.used
    if (free.count > 0) {
      const old = /** @type {Storage} */ (free.slots[--free.count])
      free.slots[free.count] = null
      block = /** @type {Block} */ (old.block)
      at = old.byteOffset
    } else if (at + size <= BLOCK) {
      block.used = at + size
    } else {
      block = this.newBlock()
      block.used = size
      at = 0
    }
    return new Storage(block.group, block, null, at, nbytes)
  }

  /**
   * @param {number} nbytes  SMALL at most
   * @returns {Storage} all zero
   */
  allocateZeroed(nbytes) {
    const storage = this.allocate(nbytes)
    const { native } = this
    try {
      native.addressOf(storage) // marks it as touched: promotion has to move the zeros
      const at = storage.byteOffset >> 2
      this.window(/** @type {Block} */ (storage.block), this.int32, Int32Array).fill(
        0,
        at,
        at + (slotSize(nbytes) >> 2),
      )
    } catch (error) {
      native.release(storage)
      throw error
    }
    return storage
  }

  newBlock() {
    let { group } = this.block
    if (++group.made === BLOCKS) group = this.native.newGroup('v8')
    this.block = new Block(group)
    return this.block
  }

  /**
   * Keeps a storage's slot for reuse, unless enough of its size are kept.
   *
   * @param {Storage} storage  in a block; nobody uses it any more
   */
  recycle(storage) {
    const free = this.free[slotSize(storage.nbytes) >>> 6]
    if (free.count === FREE_MOST) return
    free.slots[free.count++] = storage
  }

  // ---- Touching ----

  /**
   * @param {Storage} storage  in a block
   * @returns {number}
   */
  addressOf(storage) {
    const block = /** @type {Block} */ (storage.block)
    if (block.buffer === null) this.fillBlock(block)
    return block.address + storage.byteOffset
  }

  /**
   * A typed array over a whole block, for our own reads and writes.
   *
   * @param {Block} block
   * @param {number} dtype
   * @param {any} Type
   */
  window(block, dtype, Type) {
    if (block.buffer === null) this.fillBlock(block)
    return (block.windows[dtype] ??= new Type(
      block.buffer,
      block.start,
      BLOCK / Type.BYTES_PER_ELEMENT,
    ))
  }

  /**
   * Gives a block its memory: one of its tensors is about to be touched.
   *
   * @param {Block} block
   */
  fillBlock(block) {
    const { native } = this
    grant(BLOCK, native.inUse)
    const buffer = newBuffer(BLOCK, ALIGNMENT, false)
    const address = native.locate(buffer)
    block.windows = []
    block.start = -address & (ALIGNMENT - 1)
    block.address = address + block.start
    block.group.count.bytes += BLOCK
    block.buffer = buffer // last: a program may be stopped at any call before
  }

  // ---- Showing ----

  /**
   * Moves a small tensor's bytes into a buffer of their own, because they are about to be shown.
   *
   * @param {Storage} storage
   */
  promote(storage) {
    if (storage.block === IN_HEAP) this.leaveHeap(storage)
    if (storage.block === null) return
    const { native } = this
    const { nbytes, address: from } = storage
    grant(nbytes, native.inUse)
    let buffer
    let address
    if (nbytes <= POOLED_MOST) {
      const pool = this.bufferPools[slotSize(nbytes) >>> 6]
      if (pool.left === 0) this.refill(pool, slotSize(nbytes))
      const i = --pool.left
      buffer = /** @type {ArrayBuffer} */ (pool.buffers[i])
      pool.buffers[i] = null
      address = pool.addresses[i]
    } else {
      buffer = newBuffer(nbytes, PADDING, true)
      address = native.locate(buffer)
    }
    let start = -address & (ALIGNMENT - 1)
    if (start > PADDING) {
      // an allocator that aligns to less than 16
      buffer = newBuffer(nbytes, ALIGNMENT, true)
      address = native.locate(buffer)
      start = -address & (ALIGNMENT - 1)
    }
    if (from !== null) native.addon.move(address + start, from, nbytes) // untouched bytes may have any content
    storage.group.count.bytes += nbytes
    storage.buffer = buffer
    storage.byteOffset = start
    storage.address = address + start
    storage.block = null
    countPromotion(nbytes)
  }

  /**
   * @param {BufferPool} pool  an empty one
   * @param {number} nbytes  of each buffer
   */
  refill(pool, nbytes) {
    const { buffers, addresses } = pool
    const { addon, frame, RESULTS } = this.native
    buffers[0] = newBuffer(nbytes, PADDING, true)
    let n = 1
    try {
      for (; n < pool.next; n++) buffers[n] = newBuffer(nbytes, PADDING, true)
    } catch {
      pool.next = 1 // one will do
    }
    Reflect.apply(addon.locate, undefined, buffers)
    for (let i = 0; i < n; i++) addresses[i] = frame.f64[RESULTS + i]
    pool.next = Math.min(2 * pool.next, BUFFERS_MOST)
    pool.left = n // last: a program may be stopped at any call before
  }

  /**
   * Moves a small tensor's bytes into a typed array in V8's heap, which takes a twentieth of a buffer's time. It gets a buffer
   * and an address once its user, or leaveHeap, asks for one.
   *
   * @param {Storage} storage
   * @param {any} Type  of the typed array
   * @returns {any} over all bytes of the storage; null: there are too many, or they were shown before
   */
  moveToHeap(storage, Type) {
    const { block, nbytes, byteOffset } = storage
    if (block === null || block === IN_HEAP || nbytes > IN_HEAP_MOST) return null
    grant(nbytes, this.native.inUse)
    const n = nbytes / Type.BYTES_PER_ELEMENT
    const data = new Type(n)
    if (storage.address !== null) data.set(new Type(block.buffer, block.start + byteOffset, n))
    storage.group.count.bytes += nbytes
    storage.block = IN_HEAP
    storage.buffer = data
    storage.byteOffset = 0
    storage.address = null
    countPromotion(nbytes)
    return data
  }

  /**
   * Has V8 make the buffer of a typed array in its heap, which is at a fixed address from then on.
   *
   * @param {Storage} storage  in the heap
   */
  leaveHeap(storage) {
    const data = storage.buffer
    const { buffer, length } = partsOfArray(data)
    storage.buffer = buffer
    storage.block = null
    if (length > 0) storage.address = this.native.addon.address(data) // else it was transferred away
  }
}

rootless(SmallTensors)

/** @param {number} nbytes  of a small tensor that left its block */
function countPromotion(nbytes) {
  stats.promoted++
  if (isLogged) log('promoted a tensor of %d bytes: it has a buffer of its own', nbytes)
}

/**
 * @param {number} nbytes
 * @returns {number} bytes of its slot
 */
const slotSize = (nbytes) => (nbytes === 0 ? ALIGNMENT : (nbytes + ALIGNMENT - 1) & -ALIGNMENT)

/**
 * @param {number} nbytes
 * @param {number} padding  more bytes, for alignment
 * @param {boolean} zeroed
 * @returns {ArrayBuffer}
 * @throws {RangeError} ERR_MEMORY
 */
function newBuffer(nbytes, padding, zeroed) {
  const n = nbytes + padding
  let buffer
  try {
    buffer =
      zeroed || n > 2 ** 31
        ? new ArrayBuffer(n)
        : /** @type {ArrayBuffer} */ (bufferOf(allocUnsafeSlow(n)))
  } catch {}
  // Node makes it with functions of its own, which programs may replace.
  if (buffer === undefined || lengthOfBuffer(buffer) < n) {
    throw failure('ERR_MEMORY', `${nbytes} bytes could not be allocated`)
  }
  return buffer
}

module.exports = { SmallTensors, Block, IN_HEAP, SMALL, ALIGNMENT, newBuffer }
