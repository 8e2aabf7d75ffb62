'use strict'
// A file that has its name when it is whole, or not at all.

const fs = require('node:fs')
const path = require('node:path')
const { getSystemErrorName } = require('node:util')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { newName } = require('../runtime/host')
const { named } = require('./system-errors')

const { backend } = ffi

const O_TMPFILE = 0o20000000 // not among Node's constants; the same on all processors that there are binaries for

/** @returns {boolean} whether Node's permission model is on, which has no fsync, fchmod or fchown for anyone */
const isRestricted = () => /** @type {any} */ (process).permission !== undefined

/** A file that is not there under its name until it is whole. */
class Draft {
  /**
   * @param {string} place
   * @param {boolean} [isMapped]  it has a name then, by which others know what is mapped
   */
  constructor (place, isMapped = false) {
    this.file = place
    /** what is there already @type {fs.Stats | null} */
    this.before = null
    try {
      this.file = fs.realpathSync(place) // what a link points to is replaced, not the link
      this.before = fs.statSync(this.file)
    } catch {}
    if (this.before !== null && !this.before.isFile()) throw Object.assign(failure('ERR_IO', `${place} is no regular file`), { path: place })
    this.draft = path.join(path.dirname(this.file), `.samebytes-${newName()}.tmp`)
    /** its folder, while the file has no name; else -1 */
    this.folder = -1
    const mode = this.before === null ? 0o666 : 0o600
    this.fd = isMapped ? -1 : this.unnamed(mode)
    if (this.fd >= 0) return
    const { O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = fs.constants
    const flags = O_RDWR | O_CREAT | O_EXCL | (isRestricted() ? O_DSYNC ?? 0 : 0)
    this.fd = named(place, () => fs.openSync(this.draft, flags, mode))
    this.inherit()
  }

  /**
   * A file without a name, of which nothing is left where this process is killed.
   *
   * @param {number} mode
   * @returns {number} its descriptor; -1: none can be had here, or be given a name later
   */
  unnamed (mode) {
    if (process.platform !== 'linux' || backend.isWasm || isRestricted()) return -1
    const { O_RDONLY, O_RDWR, O_DIRECTORY } = fs.constants
    const place = path.dirname(this.file)
    let fd = -1
    try {
      this.folder = fs.openSync(place, O_RDONLY | O_DIRECTORY)
      fd = fs.openSync(place, O_TMPFILE | O_DIRECTORY | O_RDWR, mode)
      if (fs.fstatSync(fd).isFile() && fs.existsSync(`/proc/self/fd/${fd}`)) return fd // else the runtime left a flag out, or /proc is not there
    } catch {} // not all file systems have such files
    if (fd >= 0) fs.closeSync(fd)
    this.closeFolder()
    return -1
  }

  /** Who may read and write what was there may do so with this, whatever the umask. */
  inherit () {
    if (this.before === null) return
    const { mode, uid, gid } = this.before
    try {
      if (isRestricted()) fs.chownSync(this.draft, uid, gid)
      else fs.fchownSync(this.fd, uid, gid)
    } catch {} // others' files stay theirs only where root saves
    try {
      if (isRestricted()) fs.chmodSync(this.draft, mode & 0o777)
      else fs.fchmodSync(this.fd, mode & 0o777)
    } catch {} // not all file systems have permissions
  }

  /**
   * Gives what has no name one; no link replaces a name that is taken.
   *
   * @param {string} file
   */
  link (file) {
    const errno = ffi.linkFile(this.fd, `/proc/self/fd/${this.folder}/${path.basename(file)}`)
    if (errno === 0) return
    const code = getSystemErrorName(-errno)
    throw Object.assign(new Error(`${code}: link '${file}'`), { code, errno: -errno, syscall: 'link' })
  }

  /** @param {boolean} replace */
  publish (replace) {
    if (this.folder >= 0) {
      try {
        if (this.before === null || !replace) return this.link(this.file)
      } catch (/** @type {any} */ error) {
        if (!replace || error.code !== 'EEXIST') throw error
      }
      this.link(this.draft) // for as long as the next lines take
      this.closeFolder()
      this.inherit()
    }
    if (replace) {
      fs.renameSync(this.draft, this.file)
    } else {
      fs.linkSync(this.draft, this.file)
      fs.unlinkSync(this.draft)
    }
  }

  /** The name is as safe as the bytes; not all file systems can. */
  syncFolder () {
    try {
      const fd = fs.openSync(path.dirname(this.file), 'r')
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch {}
  }

  closeFolder () {
    if (this.folder >= 0) fs.closeSync(this.folder)
    this.folder = -1
  }

  close () {
    this.closeFolder()
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  discard () {
    const isNamed = this.folder < 0
    this.close()
    if (!isNamed) return
    try {
      fs.unlinkSync(this.draft)
    } catch {}
  }
}

module.exports = { Draft, isRestricted }
