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

const { O_RDONLY, O_NONBLOCK } = fs.constants
const MOST_READ = 2 ** 30 // bytes at a time: the system reads no more than 2 GiB

/**
 * @param {string} file
 * @param {number} [flags]  O_RDONLY or O_RDWR
 * @returns {number} a descriptor; of a pipe as well, which nobody has to write to first
 * @throws ERR_NOT_FOUND, ERR_IO
 */
function openDescriptor (file, flags = O_RDONLY) {
  return withFileName(file, () => openSync(file, flags | O_NONBLOCK))
}

/**
 * @param {number} fd
 * @param {string} file
 * @returns {number} bytes
 * @throws ERR_IO it is a folder, pipe or device
 */
function sizeOfFile (fd, file) {
  const stat = fs.fstatSync(fd)
  if (!stat.isFile()) throw failure('ERR_IO', `${file} is no regular file`)
  return stat.size
}

/**
 * @param {number} fd
 * @param {Uint8Array} target
 * @param {number} from
 * @throws ERR_FORMAT the file ends before
 */
function readFully (fd, target, from) {
  for (let at = 0; at < target.length;) {
    const n = fs.readSync(fd, target, at, Math.min(target.length - at, MOST_READ), from + at)
    if (n === 0) throw endOfFile(from + at)
    at += n
  }
}

/** @param {number} at */
const endOfFile = at => failure('ERR_FORMAT', `byte ${at}: the file ends here; it became shorter while it was read`)

/** @implements {Source} */
class ReadFile {
  /** @param {string} file */
  constructor (file) {
    this.file = file
    this.first = 4096
    this.flags = 0
    this.writes = false
    this.reason = 'load'
    this.size = 0
    /** -1: closed */
    this.fd = openDescriptor(file)
    try {
      this.size = sizeOfFile(this.fd, file)
    } catch (error) {
      fs.closeSync(this.fd)
      throw systemError(error, file)
    }
  }

  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) {
    if (this.fd < 0) throw failure('ERR_DISPOSED', 'the file was read and closed')
    const bytes = newBytes(nbytes, 'the file')
    withFileName(this.file, () => readFully(this.fd, bytes, from))
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.read(from, nbytes) }

  /**
   * Nothing of the file is in memory: whoever needs bytes reads them.
   *
   * @param {number} from
   * @param {number} nbytes
   * @returns {Storage | null}
   */
  place (from, nbytes) { return null }

  close () {
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }
}

rootless(ReadFile)

module.exports = { openDescriptor, sizeOfFile, readFully, endOfFile, ReadFile }
