'use strict'
// Segments of shared memory between processes, in Node: making and opening them, their names, their owners.
//
// A segment has no name until it is complete, so that nothing is left if its process dies before. C gives and removes names, records owners
// and sweeps (src/ipc/owners.c); it asks nobody for permission, so Node's permission model is asked here.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { getSystemErrorName } = require('node:util')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { grant } = require('../backend/storage')
const { MappedFile } = require('../files/mapped-file')
const {
  callError,
  checkAllowed,
  isAllowed,
  systemError,
  withFileName,
} = require('../files/system-errors')
const { errnoOf, log, openSync } = require('../runtime/host')

const { backend, GUARDS } = ffi
const { LOCKS } = fileCalls
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = fs.constants
const { ENOSPC, ENOMEM, EEXIST } = os.constants.errno

const FOLDER = backend.abilities.segments ?? ''
const MARK = '.samebytes-'
const MOST_NAME_BYTES = 255
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * Checks a name as for shm_open, and removes its slash.
 *
 * @param {unknown} given
 * @returns {string}
 */
function nameOf(given) {
  if (typeof given !== 'string') {
    throw failure('ERR_ARGUMENT', `name is ${show(given)}; a string was expected`)
  }
  const name = given.startsWith('/') ? given.slice(1) : given
  const why = faultOf(name)
  if (why !== null) {
    throw failure(
      'ERR_ARGUMENT',
      `name is ${show(given.length > 300 ? given.slice(0, 300) + '...' : given)}: ${why}`,
    )
  }
  return name
}

/** What is wrong with a name; null: nothing. @param {string} name @returns {string | null} */
function faultOf(name) {
  const bytes = Buffer.from(name)
  if (name === '' || name === '.' || name === '..') {
    return 'a name of at least one character was expected, other than . and ..'
  }
  if (/[/\0]/.test(name)) return 'a name has no slash but the first, and no character 0'
  if (bytes.length > MOST_NAME_BYTES) {
    return `a name has at most ${MOST_NAME_BYTES} bytes; this one has ${bytes.length}`
  }
  if (name.slice(0, MARK.length).toLowerCase() === MARK) {
    return `names that begin with ${MARK} are samebytes' own` // in any case: some systems see no difference
  }
  if (bytes.toString() !== name) return 'it has half a surrogate pair'
  return backend.isWasm ? null : addon().segmentNameFault(name)
}

/** @param {string} name */
const pathOf = (name) => path.join(FOLDER, name)

/**
 * @param {string} file  a path
 * @returns {string | null} the segment's name; null: a path elsewhere
 */
function nameOfPath(file) {
  const name = path.basename(file)
  return path.resolve(file) === path.join(FOLDER, name) &&
    !file.endsWith('/') &&
    faultOf(name) === null
    ? name
    : null
}

/** @throws ERR_UNSUPPORTED without the addon, on a system without named segments, in Deno */
function checkPlatform() {
  if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      `memory that other processes see needs the native addon${backend.hint}`,
    )
  }
  if (FOLDER === '') throw failure('ERR_UNSUPPORTED', 'this system has no named segments')
  if (process.versions.deno !== undefined) {
    throw failure(
      'ERR_UNSUPPORTED',
      'SharedTensor needs Node or Bun; Deno refuses file descriptors that it has not opened',
    )
  }
}

// ---- Segments ----

/** How a segment is mapped: an index of shared-tensor.js' MODES, and one of GUARDS. @typedef {{ mode: number, guard: number }} How */

/** A mapped segment and its file descriptor. */
class Segment extends MappedFile {
  /**
   * @param {{ holder: Storage, fd: number }} file
   * @param {string} label  its path, for errors
   * @param {How} how
   */
  constructor({ holder, fd }, label, { mode, guard }) {
    try {
      super(
        label,
        { mode, guard: guard === GUARDS.wanted && fileCalls.isSealed(fd) ? GUARDS.none : guard },
        'SharedTensor',
        fd,
      )
    } catch (error) {
      backend.release(holder)
      throw error
    }
    this.holder = holder
    /** the name under which this process is recorded as its owner; '': it has none yet @type {string | null} */
    this.recorded = null
  }

  /** Keeps the descriptor open, because it can be passed to other processes. @override */
  closeDescriptor() {}

  /** @override */
  close() {
    super.close()
    if (this.recorded !== null) addon().segmentForget(this.fd, this.recorded)
    this.recorded = null
    backend.release(this.holder)
    this.fd = -1
  }

  /** Device and inode. */
  get id() {
    const { dev, ino } = fs.fstatSync(this.fd, { bigint: true })
    return `${dev}-${ino}`
  }
}

/**
 * A new, zeroed segment without a name.
 *
 * @param {boolean} sealed
 * @param {number} mode  permissions
 * @param {Uint8Array | null} header  its first bytes
 * @param {number} total  bytes
 * @param {string} label
 * @param {number} guard  one of GUARDS
 * @returns {Segment}
 */
function newSegment(sealed, mode, header, total, label, guard) {
  if (sealed && !backend.abilities.sealedMemory) {
    throw failure('ERR_UNSUPPORTED', 'this system has no sealed memory: a segment needs a name')
  }
  grant(total, backend.inUse)
  let file
  try {
    file = fileCalls.newSegment(sealed, mode, total)
  } catch (/** @type {any} */ error) {
    const { errno } = error
    if (![ENOSPC, ENOMEM].map(errnoOf).includes(errno)) throw systemError(error, label)
    const text = `${total} bytes of shared memory are not free (${getSystemErrorName(errno)})`
    throw systemError(Object.assign(failure('ERR_MEMORY', text), { errno }), label)
  }
  addon().account(/** @type {any} */ (file.holder.optional).watch, total)
  const segment = new Segment(file, label, { mode: 1, guard })
  if (!sealed) segment.recorded = ''
  try {
    if (header !== null) {
      withFileName(label, () => fs.writeSync(file.fd, header, 0, header.length, 0))
    }
  } catch (error) {
    segment.close()
    throw error
  }
  log('made a segment of %d bytes: %s%s', total, label, sealed ? ', sealed' : '')
  if (sealed) note(segment)
  return segment
}

/** sealed segments that this thread made, by watches of the addon's: a WeakRef would keep each until the turn ends @type {Set<number>} */
const made = new Set()
let pruneAt = 64

/** @param {Segment} segment */
function note(segment) {
  made.add(addon().watch(segment, 0)) // -1 without memory
  if (made.size < pruneAt) return
  for (const id of made) if (segmentOf(id) === null) made.delete(id)
  pruneAt = Math.max(64, 2 * made.size)
}

const addon = () => /** @type {any} */ (backend).addon

/** @param {number} id @returns {Segment | null} null: it is closed, or was collected, and its number may be another object's */
function segmentOf(id) {
  const found = addon().watched(id)
  return found instanceof Segment && found.fd >= 0 ? found : null
}

/**
 * The sealed segment, made by this thread and still open, that bytes lie in.
 *
 * @param {number} address
 * @param {number} nbytes
 * @returns {{ segment: Segment, at: number } | null} at: of the first byte in the segment
 */
function sealedAround(address, nbytes) {
  for (const id of made) {
    const segment = segmentOf(id)
    if (segment === null || segment.storage === null) continue
    const at = address - backend.addressOf(segment.storage)
    if (at >= 0 && at + nbytes <= segment.size) return { segment, at }
  }
  return null
}

/**
 * Opens a segment, or any other file.
 *
 * @param {string} path
 * @param {How} how
 * @param {boolean} follow  symbolic links
 * @returns {Segment}
 */
function openSegment(path, how, follow) {
  const fd = withFileName(path, () =>
    openSync(path, (how.mode === 1 ? O_RDWR : O_RDONLY) | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)),
  )
  let file
  try {
    file = withFileName(path, () => fileCalls.holdFile(fd)) // C closes it with the environment, also if a worker is terminated
  } finally {
    fs.closeSync(fd)
  }
  log('opened the segment %s', path)
  return new Segment(file, path, how)
}

/**
 * Opens a segment by its name, of which this process is an owner from now on, beside others: the record of one that has ended is taken over.
 *
 * @param {string} name
 * @param {How} how
 * @returns {Segment}
 * @throws ERR_NOT_FOUND also where it is being made or removed
 */
function openOwned(name, how) {
  const path = pathOf(name)
  const segment = openSegment(path, how, false)
  try {
    const before = addon().segmentOwn(segment.fd, name, isAllowed('fs', path)) // the process whose record is taken over
    if (before < 0) {
      const error = failure('ERR_NOT_FOUND', `${show(name)} is being made or removed`)
      throw Object.assign(error, { path })
    }
    if (before > 0) {
      segment.recorded = name
      log('took %s over, which process %d left', path, before)
    }
    return segment
  } catch (error) {
    segment.close()
    throw error
  }
}

/**
 * @param {number} fd  which stays the caller's
 * @param {How} how
 * @returns {Segment}
 */
function segmentOfDescriptor(fd, how) {
  const label = `file descriptor ${fd}`
  const file = withFileName(label, () => fileCalls.holdFile(fd))
  return new Segment(file, label, how)
}

// ---- Names and owners: src/ipc/owners.c ----

/**
 * Gives a segment its name, after recording its owner.
 *
 * @param {Segment} segment
 * @param {string} name
 * @param {{ replace: boolean, persist: boolean, isPart?: boolean }} how  isPart: nobody may become an owner until complete() is called
 * @throws ERR_EXISTS · ERR_IO
 */
function publish(segment, name, { replace, persist, isPart = false }) {
  const path = pathOf(name)
  checkAllowed('fs', path)
  const errno = addon().segmentPublish(segment.fd, name, replace, persist, isPart)
  if (errno === EEXIST) throw taken(name)
  if (errno !== 0) throw systemError(callError(errno, 'link', path), path)
  segment.recorded = name
  log('named the segment %s', path)
}

/** The other part of what the segment belongs to is there as well. @param {number} fd */
const complete = (fd) => fileCalls.lockFile(fd, LOCKS.shared)

/** Has anything that name? @param {string} name */
function isThere(name) {
  checkAllowed('fs.read', pathOf(name))
  return addon().segmentIsThere(name)
}

/** @param {string} name @throws ERR_EXISTS */
function checkFree(name) {
  checkAllowed('fs', pathOf(name))
  if (isThere(name)) throw taken(name)
}

/** @param {string} name */
function taken(name) {
  const error = failure('ERR_EXISTS', `there is a segment ${show(name)}`)
  return Object.assign(error, { errno: errnoOf(EEXIST), path: pathOf(name) })
}

/** A path by which others open a segment without a name, as long as it is open. @param {Segment} segment @returns {string} */
const pathOfDescriptor = ({ fd, file }) => addon().segmentPath(fd) ?? file

/**
 * Removes a name. Processes that have the segment mapped keep it.
 *
 * @param {string} name
 * @throws ERR_NOT_FOUND · ERR_IO · ERR_UNSUPPORTED as checkPlatform
 */
function unlink(name) {
  checkPlatform()
  const path = pathOf(name)
  checkAllowed('fs.write', path)
  const errno = addon().segmentUnlink(name)
  if (errno !== 0) throw systemError(callError(errno, 'unlink', path), path)
  log('removed the name %s', path)
}

const CONTROL = '.control' // the end of the name of a ring's control words
const [FIRST, SLOT, PLACE] = [16, 2, 4] // words, as in src/samebytes_ring.h

/** How many control words a ring has. @param {number} slots @param {number} readers */
const controlWords = (slots, readers) => FIRST + SLOT * slots + PLACE * readers

/** Are there control words of a ring of that name? @param {string} name @returns {boolean} */
const isRing = (name) => isAllowed('fs.read', pathOf(name + CONTROL)) && addon().segmentIsRing(name)

/**
 * Removes control words without frames, which somebody left who was killed, or who removed the frames alone.
 *
 * @param {string} name  of the ring
 */
function removeHalf(name) {
  if (isAllowed('fs', pathOf(name))) addon().ringRemoveHalf(name, name + CONTROL)
}

const PAUSE_MS = 0.2 // times the tries: a second together after a hundred
const still = new Int32Array(new SharedArrayBuffer(4))

/** Waits a little while another process makes or removes a segment. @param {number} tries  so far */
const pause = (tries) => Atomics.wait(still, 0, 0, tries * PAUSE_MS)

/**
 * Removes names of this user whose owners have ended, and which nobody holds.
 *
 * @param {string} [only]  this name alone
 * @returns {string[]} the removed names
 */
function sweep(only) {
  checkPlatform()
  const all = pathOf('*')
  checkAllowed('fs.read', all)
  checkAllowed('fs.write', all)
  return listed(addon().segmentSweep(only)).map(({ name, pid }) => {
    log('swept %s, which process %d left', name, pid)
    return name
  })
}

/** @typedef {Omit<SegmentInfo, 'path'>[]} Listed */

/** @param {Listed | number} found  number: the system's error @returns {Listed} */
function listed(found) {
  if (typeof found === 'number') throw systemError(callError(found, 'scandir', FOLDER), FOLDER)
  return found
}

/**
 * @typedef {object} SegmentInfo
 * @property {string} name
 * @property {string} path
 * @property {number} nbytes  of the segment, including its header
 * @property {number} pid  of the process that made it
 * @property {boolean} isAlive  false: that process has ended, no other owner has the segment, and `sweep` would remove the name, unless persist
 * @property {boolean} persist  `sweep` leaves it
 */

/** @returns {SegmentInfo[]} */
function list() {
  checkPlatform()
  checkAllowed('fs.read', FOLDER, pathOf('*'))
  const found = listed(addon().segmentList())
  return found.map(({ name, ...rest }) => ({ name, path: pathOf(name), ...rest }))
}

module.exports = {
  FOLDER,
  nameOf,
  pathOf,
  pathOfDescriptor,
  nameOfPath,
  checkFree,
  checkPlatform,
  Segment,
  newSegment,
  sealedAround,
  openSegment,
  segmentOfDescriptor,
  openOwned,
  publish,
  complete,
  controlWords,
  unlink,
  isRing,
  isThere,
  pause,
  removeHalf,
  list,
  sweep,
}
