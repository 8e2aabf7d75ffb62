'use strict'
// Objects that go into files: mapped, so that what came stays there if the process ends, under a name of its own until all is there.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { TemporaryFile, replaceFile } = require('../files/atomic-write')
const { MappedFile } = require('../files/mapped-file')
const { systemError, withFileName } = require('../files/system-errors')
const { errnoOf, openSync } = require('../runtime/host')
const { callback } = require('../files/transfers')
const { unless } = require('../sharing/shared-tensor')
const { infoOf } = require('./store-meta')
const { tensorOver } = require('./host-content')
const { Arriving } = require('./store-targets')

const { backend, GUARDS } = ffi
const { LOCKS } = fileCalls

/** @typedef {import('./store-meta').Meta} Meta */
/** @typedef {import('./store-targets').Target} Target */
/** What the side file says. @typedef {{ at: number, seq: number }} Progress */

const MOST_RECORD = 2 ** 16 // bytes of a side file
const COUNTS = 40 // characters of its last line: two numbers, and the end of the line
const TRIES = 100 // while others finish the file and begin it anew
const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
const { EAGAIN } = os.constants.errno

/** A new file beside the old one. */
class NewFile extends TemporaryFile {
  /** @param {string} file */
  constructor(file) {
    super(file, true)
    /** @type {Progress} */
    this.progress = { at: 0, seq: 0 }
  }

  /** @param {number} at @param {number} seq */
  note(at, seq) {}

  /** @override */
  publish() {
    super.publish(true)
    this.syncFolder()
    this.close()
  }
}

/** @param {string} what @param {number} errno  as C has it */
const ioError = (what, errno) =>
  Object.assign(failure('ERR_IO', `${what} (errno ${errno})`), { errno: errnoOf(errno) })

/**
 * Opens or makes a file, and locks it: until it is unlocked, or until nobody has this opening of it any more, however the process ends.
 *
 * @param {string} target
 * @param {number} [flags]
 * @returns {number} its descriptor
 * @throws ERR_BUSY another opening has it locked, of this process or another one
 */
function lockedFile(target, flags = 0) {
  for (let tries = 0; tries < TRIES; tries++) {
    const fd = unless('EEXIST', () =>
      openSync(target, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0) | flags, 0o666),
    )
    if (fd === undefined) break
    let isKept = false
    try {
      const errno = fileCalls.lockFile(fd, LOCKS.exclusive)
      if (errno === EAGAIN) break
      if (errno !== 0) throw ioError(`${target} could not be locked`, errno)
      const { dev, ino } = fs.fstatSync(fd, { bigint: true })
      const there = fs.lstatSync(target, { bigint: true, throwIfNoEntry: false })
      isKept = there?.dev === dev && there.ino === ino // else whoever had it gave it another name, or removed it
      if (isKept) return fd
    } finally {
      if (!isKept) fs.closeSync(fd)
    }
  }
  throw Object.assign(failure('ERR_BUSY', `another get() writes ${target}`), { path: target })
}

/**
 * An empty file in the place of a locked one, which is not cut: others may have it mapped.
 *
 * @param {number} fd
 * @param {string} target
 * @returns {number} locked; another one than fd, which is closed, unless that is empty
 */
function renewed(fd, target) {
  if (fs.fstatSync(fd).size === 0) return fd
  fs.unlinkSync(target)
  const made = lockedFile(target, O_EXCL)
  fs.closeSync(fd)
  return made
}

/** A file that another process may have begun, and a side file that tells how far it came. Both are locked while they are written. */
class ResumedFile {
  /** @param {string} file @param {string} side @param {Meta} meta */
  constructor(file, side, meta) {
    this.file = file
    this.side = side
    this.part = `${file}.part`
    if ([file, this.part].some((each) => path.resolve(each) === path.resolve(side))) {
      throw failure(
        'ERR_ARGUMENT',
        `resume is ${show(side)}, where the object itself goes; a file beside it was expected`,
      )
    }
    if (fs.existsSync(file) && !fs.statSync(file).isFile()) {
      throw failure('ERR_IO', `${file} is no regular file`)
    }
    this.line = `${JSON.stringify({ bucket: meta.bucket, name: meta.name, nuid: meta.nuid, size: meta.size, digest: meta.digest, part: path.basename(this.part) })}\n`
    this.fd = lockedFile(this.part)
    this.sideFd = -1
    try {
      this.sideFd = lockedFile(side)
      this.progress = this.found(meta.size)
      if (this.progress.at > 0) return
      this.fd = renewed(this.fd, this.part)
      this.sideFd = renewed(this.sideFd, this.side)
      fs.writeSync(this.sideFd, this.line, 0)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** How far another process came with the same object. @param {number} size @returns {Progress} */
  found(size) {
    const none = { at: 0, seq: 0 }
    try {
      if (fs.fstatSync(this.sideFd).size > MOST_RECORD) return none
      const text = fs.readFileSync(this.side, 'latin1')
      const [, at, seq] = /^(\d{1,16}) (\d{1,16}) *\n$/.exec(text.slice(this.line.length)) ?? []
      const isSame =
        text.startsWith(Buffer.from(this.line).toString('latin1')) &&
        fs.fstatSync(this.fd).size === size
      return isSame && Number(at) <= size ? { at: Number(at), seq: Number(seq) } : none
    } catch {
      return none
    }
  }

  /** All before is written. One call of the system, which is done or not. @param {number} at @param {number} seq */
  note(at, seq) {
    fs.writeSync(
      this.sideFd,
      `${`${at} ${seq}`.padEnd(COUNTS - 1)}\n`,
      Buffer.byteLength(this.line),
    )
  }

  /** Unlocks both: the thread that computes digests may have the mapping, and so the lock, for a while. */
  close() {
    for (const fd of [this.fd, this.sideFd]) {
      if (fd < 0) continue
      fileCalls.lockFile(fd, LOCKS.none)
      fs.closeSync(fd)
    }
    this.fd = this.sideFd = -1
  }

  publish() {
    replaceFile(this.part, this.file)
    fs.rmSync(this.side, { force: true })
    this.close()
  }

  /** @param {any} error  what came stays, if it can be of use */
  discard(error) {
    if (error?.code === 'ERR_CHECKSUM' || error?.code === 'ERR_STALE') {
      fs.rmSync(this.part, { force: true })
      fs.rmSync(this.side, { force: true })
    }
    this.close()
  }
}

/** @implements {Target} */
class FileTarget extends Arriving {
  /** @param {Meta} meta @param {string} filename @param {string | undefined} resume  the side file's path */
  constructor(meta, filename, resume) {
    if (backend.isWasm) {
      throw failure(
        'ERR_UNSUPPORTED',
        'an object is written to a file through a mapping, which needs the native addon',
      )
    }
    const file = withFileName(filename, () =>
      resume === undefined ? new NewFile(filename) : new ResumedFile(filename, resume, meta),
    )
    try {
      const errno = fileCalls.reserveFile(file.fd, meta.size)
      if (errno !== 0) throw ioError(`${meta.size} bytes could not be reserved`, errno)
      super(meta, tensorOver(fileCalls.mapFile(file.fd, meta.size, true, GUARDS.wanted)))
    } catch (error) {
      file.discard(error)
      throw systemError(error, filename)
    }
    this.filename = filename
    this.file = file
    this.isDone = false
    this.at = file.progress.at
    this.seq = file.progress.seq
  }

  /** @override */
  note() {
    this.file.note(this.at, this.seq)
  }

  async finish() {
    try {
      await callback((done) => fs.fdatasync(this.file.fd, done))
      ffi.checkIntact(this.layout.storage)
      this.file.publish()
    } catch (error) {
      throw systemError(error, this.filename)
    }
    this.isDone = true
    this.bytes.dispose()
    return infoOf(this.meta)
  }

  /** @param {any} [error] @override */
  discard(error) {
    if (this.isDone) return
    super.discard()
    this.file.discard(error)
  }
}

/**
 * A file as a tensor of its bytes, which are read where they lie.
 *
 * @param {string} file
 * @returns {{ bytes: import('../tensor/tensor').Tensor, source: MappedFile }}
 */
function mappedBytes(file) {
  const source = new MappedFile(file, { mode: 0, guard: GUARDS.wanted }, 'store.put')
  try {
    if (source.size === 0) throw failure('ERR_FORMAT', `${show(file)} is empty`)
    return { bytes: tensorOver(/** @type {any} */ (source.storageAt(0, source.size, 1))), source }
  } catch (error) {
    source.close()
    throw error
  }
}

module.exports = { FileTarget, mappedBytes }
