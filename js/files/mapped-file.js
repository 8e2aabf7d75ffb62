'use strict'
// A file that is mapped into memory.

const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { log } = require('../runtime/host')
const { newBytes } = require('./allocate')
const { ReadFile } = require('./read-file')
const { systemError } = require('./system-errors')

const { backend, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

const SWEEP_PERIOD = 256 // mappings after which those of collected tensors are released
const MODES = /** @type {const} */ (['r', 'r+', 'c'])

let mappings = 0

/** The header is read, not mapped, so that nobody changes it while it is checked. */
class MappedFile extends ReadFile {
  /**
   * @param {string} file
   * @param {{ mode: number, guard: number }} options  mode: of MODES, guard: of ffi.GUARDS
   * @param {string} reason  under which copies are counted
   * @param {number} [fd]  of the file, if it is open: the mapping's from now on
   */
  constructor(file, { mode, guard }, reason, fd) {
    super(file, reason, mode === 1, fd)
    this.flags = mode === 0 ? READ_ONLY : 0
    /** null: closed, or an empty file, which cannot be mapped @type {Storage | null} */
    this.storage = null
    try {
      if (this.size > 0) this.storage = fileCalls.mapFile(this.fd, this.size, this.writes, guard)
    } catch (error) {
      this.closeDescriptor()
      throw systemError(error, file)
    }
    log(
      'mapped %s: %d bytes, mode %s%s',
      file,
      this.size,
      MODES[mode],
      this.storage !== null && ffi.isGuarded(this.storage) ? ', guarded' : '',
    )
    if (++mappings % SWEEP_PERIOD === 0) backend.sweep() // a loop that opens files gives finalizers no turn of the event loop
  }

  /** @override @param {number} from @param {number} nbytes @throws ERR_IO also: the file is guarded and became shorter */
  read(from, nbytes) {
    if (this.fd >= 0) return super.read(from, nbytes)
    const bytes = newBytes(nbytes, 'the file')
    if (nbytes === 0) return bytes
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    ffi.checkIntact(this.storage)
    if (!(from >= 0 && from + nbytes <= this.storage.nbytes)) {
      throw failure(
        'ERR_FORMAT',
        `bytes ${from} to ${from + nbytes} are outside the file of ${this.storage.nbytes}`,
      )
    }
    const { addon } = /** @type {any} */ (backend)
    addon.move(addon.address(bytes), backend.addressOf(this.storage) + from, nbytes)
    ffi.checkIntact(this.storage)
    return bytes
  }

  /** @override @param {number} from @param {number} nbytes @param {number} alignment */
  storageAt(from, nbytes, alignment) {
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    if (from % alignment !== 0) return null // a mapping begins with a page
    const part = /** @type {any} */ (backend).partOf(this.storage, from, nbytes)
    if ((this.flags & READ_ONLY) !== 0) part.optional.file = this.file
    return part
  }

  /** @override */
  close() {
    super.close()
    if (this.storage !== null) backend.release(this.storage)
    this.storage = null
  }
}

module.exports = { MODES, MappedFile }
