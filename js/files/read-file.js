'use strict'
// A file that is read, not mapped: whoever makes it shorter meanwhile harms nobody.

const { rootless } = require('../base/records')
const fs = require('node:fs')
const { failure } = require('../base/errors')
const { openSync } = require('../runtime/host')
const { newBytes } = require('./allocate')
const { systemError, withFileName } = require('./system-errors')

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./byte-source').Source} Source */

const { O_RDONLY, O_RDWR, O_NONBLOCK } = fs.constants
const MOST_READ = 2 ** 30 // bytes at a time: the system reads no more than 2 GiB

/** @param {number} at */
const endOfFile = (at) =>
  failure('ERR_FORMAT', `byte ${at}: the file ends here; it became shorter while it was read`)

/**
 * @param {number} fd
 * @param {Uint8Array} target
 * @param {number} from
 * @throws ERR_FORMAT the file ends before
 */
function readFully(fd, target, from) {
  for (let at = 0; at < target.length;) {
    const n = fs.readSync(fd, target, at, Math.min(target.length - at, MOST_READ), from + at)
    if (n === 0) throw endOfFile(from + at)
    at += n
  }
}

/** @implements {Source} */
class ReadFile {
  /**
   * @param {string} file
   * @param {string} [reason]  under which copies are counted
   * @param {boolean} [writes]
   * @param {number} [fd]  of the file, if it is open
   * @throws ERR_NOT_FOUND · ERR_IO, also of a folder, pipe or device
   */
  constructor(file, reason = 'load', writes = false, fd) {
    this.file = file
    this.first = 4096
    this.flags = 0
    this.writes = writes
    this.reason = reason
    this.size = 0
    /** -1: closed. O_NONBLOCK: of a pipe as well, which nobody has to write to first */
    this.fd =
      fd ?? withFileName(file, () => openSync(file, (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK))
    try {
      const stat = fs.fstatSync(this.fd)
      if (!stat.isFile()) throw failure('ERR_IO', `${file} is no regular file`)
      this.size = stat.size
    } catch (error) {
      this.closeDescriptor()
      throw systemError(error, file)
    }
  }

  /** @param {number} from @param {number} nbytes @throws ERR_FORMAT the file ends before */
  read(from, nbytes) {
    if (this.fd < 0) throw failure('ERR_DISPOSED', 'the file was read and closed')
    const bytes = newBytes(nbytes, 'the file')
    withFileName(this.file, () => readFully(this.fd, bytes, from))
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view(from, nbytes) {
    return this.read(from, nbytes)
  }

  /**
   * Nothing of the file is in memory: whoever needs bytes reads them.
   *
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   * @returns {Storage | null}
   */
  storageAt(from, nbytes, alignment) {
    return null
  }

  closeDescriptor() {
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  close() {
    this.closeDescriptor()
  }
}

rootless(ReadFile)

module.exports = { endOfFile, readFully, ReadFile }
