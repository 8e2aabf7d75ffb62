'use strict'
// A file that gets its name when it is whole. Whoever opens or maps that name meanwhile has the old file.

const fs = require('node:fs')
const path = require('node:path')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { newName, openSync } = require('../runtime/host')
const { callError, withFileName } = require('./system-errors')

const { backend } = ffi

const O_TMPFILE = 0o20000000 // not among Node's constants; the same on all processors that there are binaries for

/** @returns {boolean} whether Node's permission model is on: it refuses fsync, fchmod and fchown whatever is allowed */
const isRestricted = () => /** @type {any} */ (process).permission !== undefined

/** Temporary files that have a name and are not published yet: process.exit() leaves none behind. @type {Set<string>} */
const drafts = new Set()

/** Calls fn; that it could not be done is no failure. @param {() => void} fn */
function attempt(fn) {
  try {
    fn()
  } catch {}
}

function removeDrafts() {
  for (const file of drafts) attempt(() => fs.unlinkSync(file))
}

/** @param {string} file  noted or not */
function forgetDraft(file) {
  if (drafts.delete(file) && drafts.size === 0) process.off('exit', removeDrafts)
}

/** folders where this thread renamed a file aside that could not be deleted yet @type {Set<string>} */
const folders = new Set()

const OLD = /^\.samebytes-(\d+)-[\w-]+\.old$/

/**
 * Renames a file over another one. Windows replaces no file that somebody has mapped, but renames it: then it is called otherwise from here
 * on, until it can be deleted. A process that is killed between the renames leaves both files, and neither has the name; nobody deletes
 * the old one, which ends with .was until the new one has its name.
 *
 * @param {string} from
 * @param {string} to
 */
function replaceFile(from, to) {
  try {
    return fs.renameSync(from, to)
  } catch (/** @type {any} */ error) {
    if (!['EPERM', 'EACCES', 'EBUSY'].includes(error.code) || !fs.existsSync(to)) throw error
    const folder = path.dirname(to)
    const aside = path.join(folder, `.samebytes-${process.pid}-${newName()}.was`)
    try {
      fs.renameSync(to, aside)
    } catch {
      throw error
    }
    try {
      fs.renameSync(from, to)
    } catch (why) {
      fs.renameSync(aside, to)
      throw why
    }
    attempt(() => fs.renameSync(aside, aside.replace(/was$/, 'old'))) // else the old one stays: the new file has its name
    if (folders.size === 0) process.on('exit', removeAside)
    folders.add(folder)
  } finally {
    removeAside()
  }
}

/** Deletes what was renamed aside and nobody has mapped any more: by this process, and by those that have ended. */
function removeAside() {
  for (const folder of folders) {
    let isLeft = false
    for (const name of listed(folder)) {
      const [, pid] = OLD.exec(name) ?? []
      if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue
      try {
        fs.unlinkSync(path.join(folder, name))
      } catch {
        isLeft = true
      }
    }
    if (!isLeft) folders.delete(folder)
  }
  if (folders.size === 0) process.off('exit', removeAside)
}

/** @param {string} folder */
function listed(folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (/** @type {any} */ error) {
    return error.code !== 'ESRCH'
  }
}

/** A file without a name where the system has such files, else with a temporary one; publish() gives it its own. */
class TemporaryFile {
  /**
   * @param {string} target  what it is to be called
   * @param {boolean} [isMapped]  it has a temporary name then, because lsof and /proc/PID/maps show it
   */
  constructor(target, isMapped = false) {
    this.file = target
    /** the file that has the name now @type {fs.Stats | null} */
    this.before = null
    try {
      this.file = fs.realpathSync(target) // a link stays, and its target is replaced
      this.before = fs.statSync(this.file)
    } catch {}
    if (this.before !== null && !this.before.isFile()) {
      throw Object.assign(failure('ERR_IO', `${target} is no regular file`), { path: target })
    }
    this.temporary = path.join(path.dirname(this.file), `.samebytes-${newName()}.tmp`)
    /** descriptor of the folder while the file has no name; else -1 */
    this.folder = -1
    const mode = this.before === null ? 0o666 : 0o600
    this.fd = isMapped ? -1 : this.unnamed(mode)
    if (this.fd >= 0) return
    const { O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = fs.constants
    const flags = O_RDWR | O_CREAT | O_EXCL | (isRestricted() ? (O_DSYNC ?? 0) : 0)
    this.fd = withFileName(target, () => openSync(this.temporary, flags, mode))
    if (drafts.size === 0) process.on('exit', removeDrafts)
    drafts.add(this.temporary)
    this.inherit()
  }

  /**
   * Opens a file without a name: nothing of it is left if this process is killed.
   *
   * @param {number} mode
   * @returns {number} its descriptor; -1: there are no such files here, or they cannot be given a name later
   */
  unnamed(mode) {
    if (!backend.abilities.unnamedFiles || isRestricted()) return -1
    const { O_RDONLY, O_RDWR, O_DIRECTORY } = fs.constants
    const parent = path.dirname(this.file)
    let fd = -1
    try {
      this.folder = openSync(parent, O_RDONLY | O_DIRECTORY)
      fd = openSync(parent, O_TMPFILE | O_DIRECTORY | O_RDWR, mode)
      if (fs.fstatSync(fd).isFile() && fs.existsSync(`/proc/self/fd/${fd}`)) return fd // else the runtime dropped a flag, or there is no /proc
    } catch {} // some file systems have no such files
    if (fd >= 0) fs.closeSync(fd)
    this.closeFolder()
    return -1
  }

  /** Gives it the old file's owner and permissions, whatever the umask. */
  inherit() {
    if (this.before === null) return
    const { mode, uid, gid } = this.before
    // only root can give a file to somebody else, and some file systems have no permissions
    if (isRestricted()) {
      attempt(() => fs.chownSync(this.temporary, uid, gid))
      attempt(() => fs.chmodSync(this.temporary, mode & 0o777))
    } else {
      attempt(() => fs.fchownSync(this.fd, uid, gid))
      attempt(() => fs.fchmodSync(this.fd, mode & 0o777))
    }
  }

  /**
   * Gives the nameless file a name. By the addon, because Node's link does not follow /proc/self/fd.
   *
   * @param {string} file
   * @throws EEXIST the name is taken: a link replaces nothing
   */
  link(file) {
    const errno = fileCalls.linkFile(this.fd, `/proc/self/fd/${this.folder}/${path.basename(file)}`)
    if (errno !== 0) throw callError(errno, 'link', file)
  }

  /** @param {boolean} replace  the old file; else EEXIST if there is one */
  publish(replace) {
    if (this.folder >= 0) {
      try {
        if (this.before === null || !replace) return this.link(this.file)
      } catch (/** @type {any} */ error) {
        if (!replace || error.code !== 'EEXIST') throw error
      }
      this.link(this.temporary) // only a name can be renamed
      this.closeFolder()
      this.inherit()
    }
    if (replace) replaceFile(this.temporary, this.file)
    else {
      fs.linkSync(this.temporary, this.file)
      fs.unlinkSync(this.temporary)
    }
    forgetDraft(this.temporary)
  }

  /** Writes the new name to the disk, where the file system can. */
  syncFolder() {
    attempt(() => {
      const fd = fs.openSync(path.dirname(this.file), 'r')
      attempt(() => fs.fsyncSync(fd))
      fs.closeSync(fd)
    })
  }

  closeFolder() {
    if (this.folder >= 0) fs.closeSync(this.folder)
    this.folder = -1
  }

  close() {
    this.closeFolder()
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  discard() {
    const isNamed = this.folder < 0
    this.close()
    if (!isNamed) return
    attempt(() => fs.unlinkSync(this.temporary))
    forgetDraft(this.temporary)
  }
}

module.exports = { TemporaryFile, replaceFile, isRestricted }
