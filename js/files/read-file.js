'use strict'
// A file that is read, not mapped.

const { rootless } = require('../base/primordials')
const fs = require('node:fs')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { checkSignal } = require('../base/signals')
const { onNextTurn } = require('../runtime/host')
const { roomFor } = require('./allocate')
const { inflatedNow } = require('./inflate')
const { PART, Inflation } = require('./inflation')
const { packedBytes } = require('./npz')
const { CHUNK, settled } = require('./transfers')

const { backend } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./npz').Member} Member */
/** @typedef {import('./transfers').Transfer} Transfer */

/** @param {number} fd @param {Uint8Array} target @param {number} from */
function readFully (fd, target, from) {
  for (let at = 0; at < target.length;) {
    const n = fs.readSync(fd, target, at, Math.min(target.length - at, 2 ** 30), from + at)
    if (n === 0) throw failure('ERR_FORMAT', `byte ${from + at}: the file ends here; it became shorter while it was read`)
    at += n
  }
}

/** A file that is read, not mapped: headers at once, all else in turns of the event loop. @implements {Source} */
class ReadFile {
  /**
   * @param {number} fd
   * @param {number} size
   * @param {Transfer} options
   */
  constructor (fd, size, { signal, onProgress }) {
    this.fd = fd
    this.size = size
    this.signal = signal
    this.onProgress = onProgress
    /** bytes that were read, but for headers */
    this.done = 0
    this.first = 4096
    this.flags = 0
    this.writes = false
    this.owned = true
    this.reason = 'load'
    /** @type {Set<unknown>} */
    this.faults = new Set()
    /** for the tensor that is made next @type {{ from: number, storage: Storage } | null} */
    this.ready = null
  }

  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) {
    if (this.fd < 0) throw failure('ERR_DISPOSED', 'the file was read and closed')
    const bytes = roomFor(nbytes, 'the file')
    readFully(this.fd, bytes, from)
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.read(from, nbytes) }

  /** @param {number} from @param {number} nbytes */
  place (from, nbytes) {
    const { ready } = this
    if (ready === null || ready.from !== from || ready.storage.nbytes !== nbytes) return null
    this.ready = null
    return ready.storage
  }

  /** @param {number} n  bytes more that were read: never all, for there are headers */
  step (n) {
    checkSignal(this.signal)
    this.done += n
    this.onProgress?.({ done: this.done, total: this.size })
  }

  /** Gives the event loop a turn. */
  async turn () {
    await new Promise(resolve => { onNextTurn(() => resolve(undefined)) })
    checkSignal(this.signal)
  }

  /** All was read that is needed. */
  end () {
    checkSignal(this.signal)
    this.onProgress?.({ done: this.size, total: this.size })
    checkSignal(this.signal)
  }

  /**
   * @param {Uint8Array} target
   * @param {number} from
   * @returns {Promise<number>} bytes, at least one
   */
  async readSome (target, from) {
    const n = await settled(done => { fs.read(this.fd, target, 0, target.length, from, done) })
    if (n === 0) throw failure('ERR_FORMAT', `byte ${from}: the file ends here; it became shorter while it was read`)
    return n
  }

  /**
   * @param {number} from
   * @param {number} nbytes  few
   */
  async readAll (from, nbytes) {
    const bytes = new Uint8Array(nbytes)
    for (let at = 0; at < nbytes;) {
      const n = await this.readSome(bytes.subarray(at), from + at)
      at += n
      this.step(n)
    }
    return bytes
  }

  /**
   * Reads what a tensor will have.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  async prepare (from, nbytes) {
    if (nbytes === 0) return
    const storage = backend.allocate(nbytes, ffi.check)
    this.ready = { from, storage }
    for (let at = 0; at < nbytes;) {
      const size = Math.min(CHUNK, nbytes - at)
      const window = () => new Uint8Array(/** @type {any} */ (backend.bufferOf(storage, ffi.check)), storage.byteOffset + at, size)
      const target = backend.isWasm ? new Uint8Array(size) : window() // WASM memory may move meanwhile
      const n = await this.readSome(target, from + at)
      if (backend.isWasm) window().set(target)
      at += n
      this.step(n)
    }
  }

  /**
   * Inflates a member of an .npz, which is looked at and becomes a tensor then.
   *
   * @param {Member} member
   */
  async inflate (member) {
    const { at: begin, size } = packedBytes(this, member)
    if (Math.max(size, member.unpacked) <= PART) {
      const packed = await this.readAll(begin, size)
      member.bytes = inflatedNow(this, member, packed) // which takes less time than another thread would
      return
    }
    const most = Math.max(PART / 64, Math.min(CHUNK, Math.ceil(CHUNK * size / member.unpacked))) // becomes CHUNK bytes or so
    const inflation = new Inflation(member, this.signal)
    try {
      for (let at = 0; at < size;) {
        const piece = new Uint8Array(Math.min(most, size - at))
        const n = await this.readSome(piece, begin + at)
        await inflation.add(piece.subarray(0, n))
        if (inflation.isOver) break
        at += n
        this.step(n)
      }
      await inflation.end()
      checkSignal(this.signal)
      member.bytes = inflation.result(this)
    } finally {
      inflation.stream.destroy()
    }
  }

  /** Nothing is read any more. */
  settle () {
    this.fd = -1
    if (this.ready !== null) backend.release(this.ready.storage)
    this.ready = null
  }

  close () {}
}

rootless(ReadFile)

module.exports = { readFully, ReadFile }
