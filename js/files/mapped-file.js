'use strict'
// A file that is mapped into memory.

const { nbytesOf } = require('../base/buffers')
const { rootless } = require('../base/records')
const fs = require('node:fs')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { log } = require('../runtime/host')
const { newBytes } = require('./allocate')
const { openDescriptor, sizeOfFile, readFully } = require('./read-file')
const { systemError, withFileName } = require('./system-errors')

const { backend, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./byte-source').Source} Source */

const { O_RDONLY, O_RDWR } = fs.constants
const SWEEP_PERIOD = 256 // mappings after which those of collected tensors are released
const MODES = /** @type {const} */ (['r', 'r+', 'c'])

let mappings = 0

/** The header is read, not mapped, so that nobody changes it while it is checked. @implements {Source} */
class MappedFile {
  /**
   * @param {string} file
   * @param {{ mode: number, guard: number }} options  mode: of MODES, guard: of ffi.GUARDS
   * @param {string} reason  under which copies are counted
   * @param {number} [fd]  of the file, if it is open: the mapping's from now on
   */
  constructor (file, { mode, guard }, reason, fd) {
    this.file = file
    this.writes = mode === 1
    this.flags = mode === 0 ? READ_ONLY : 0
    this.reason = reason
    this.first = 4096
    this.size = 0
    /** null: closed, or an empty file, which cannot be mapped @type {Storage | null} */
    this.storage = null
    this.fd = fd ?? openDescriptor(file, this.writes ? O_RDWR : O_RDONLY)
    try {
      this.size = sizeOfFile(this.fd, file)
      if (this.size > 0) this.storage = fileCalls.mapFile(this.fd, this.size, this.writes, guard)
    } catch (error) {
      this.closeDescriptor()
      throw systemError(error, file)
    }
    log('mapped %s: %d bytes, mode %s%s', file, this.size, MODES[mode], this.storage !== null && ffi.isGuarded(this.storage) ? ', guarded' : '')
    if (++mappings % SWEEP_PERIOD === 0) backend.sweep() // a loop that opens files gives finalizers no turn of the event loop
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   */
  read (from, nbytes) {
    const bytes = newBytes(nbytes, 'the file')
    if (this.fd >= 0) withFileName(this.file, () => readFully(this.fd, bytes, from))
    else if (nbytes > 0) this.copy(bytes, from)
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.read(from, nbytes) }

  /**
   * Copies from the mapping.
   *
   * @param {Uint8Array} target
   * @param {number} from
   * @throws ERR_IO the file is guarded and became shorter
   */
  copy (target, from) {
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    const { addon } = /** @type {any} */ (backend)
    ffi.checkIntact(this.storage)
    const n = nbytesOf(target)
    if (!(from >= 0 && from + n <= this.storage.nbytes)) throw failure('ERR_FORMAT', `bytes ${from} to ${from + n} are outside the file of ${this.storage.nbytes}`)
    addon.move(addon.address(target), backend.addressOf(this.storage) + from, n)
    ffi.checkIntact(this.storage)
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   */
  place (from, nbytes, alignment) {
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    if (from % alignment !== 0) return null // a mapping begins with a page
    const part = /** @type {any} */ (backend).partOf(this.storage, from, nbytes)
    if ((this.flags & READ_ONLY) !== 0) part.optional.file = this.file
    return part
  }

  /** Closes the descriptor once the header was read; the mapping stays. */
  closeDescriptor () {
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  close () {
    this.closeDescriptor()
    if (this.storage !== null) backend.release(this.storage)
    this.storage = null
  }
}

rootless(MappedFile)

module.exports = { MODES, MappedFile }
