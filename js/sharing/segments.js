'use strict'
// Segments of shared memory between processes, in Node on Linux: making and opening them, their names, their owners.
//
// A segment is an unnamed file until it is complete, so that nothing is left if its process dies before. Its owner is recorded beside
// it in a symbolic link `.samebytes-INODE` with the text `pid:start:namespace:persist:name`, which is made before the name and
// belongs to that inode, whatever file has the name later. Nothing is added to the segment itself: a raw one must have the
// length that other programs expect. Whoever creates a segment, or opens it with ifExists: 'open', has its file locked as long as it has it
// open or mapped: sweep leaves what somebody has locked, or who writes or reads a ring.

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
const { systemError, withFileName } = require('../files/system-errors')
const { log, openSync } = require('../runtime/host')

const { backend, GUARDS } = ffi
const { LOCKS } = fileCalls
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = fs.constants
const { EAGAIN, ENOSPC, ENOMEM, EEXIST } = os.constants.errno

const FOLDER = backend.abilities.segments ?? ''
const MARK = '.samebytes-'
const MOST_NAME_BYTES = 255
const CONTROL = '.control' // the end of the name of a ring's control words

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
  if (name.startsWith(MARK)) return `names that begin with ${MARK} are samebytes' own`
  return bytes.toString() === name ? null : 'it has half a surrogate pair'
}

/** @param {string} name */
const pathOf = (name) => `${FOLDER}/${name}`

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
    throw failure('ERR_UNSUPPORTED', 'memory that other processes see needs the native addon')
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
    /** the name that this process gave it @type {{ path: string, inode: bigint } | null} */
    this.tag = null
  }

  /** Keeps the descriptor open, because it can be passed to other processes. @override */
  closeDescriptor() {}

  /** @override */
  close() {
    super.close()
    backend.release(this.holder)
    this.fd = -1
    if (this.tag !== null && statOf(this.tag.path)?.ino !== this.tag.inode) {
      remove(tagOf(this.tag.inode))
    } // another process removed or replaced the name
    this.tag = null
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
  } catch (error) {
    throw systemError(noSegment(error, total), label)
  }
  addon().account(/** @type {any} */ (file.holder.optional).watch, total)
  const segment = new Segment(file, label, { mode: 1, guard })
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
 * @param {any} error
 * @param {number} total
 */
function noSegment(error, total) {
  if (error.errno !== -ENOSPC && error.errno !== -ENOMEM) return error
  const text = `${total} bytes of shared memory are not free (${getSystemErrorName(error.errno)})`
  return Object.assign(failure('ERR_MEMORY', text), { errno: error.errno })
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
 * Opens a segment by its name, of which this process is an owner from now on.
 *
 * @param {string} name
 * @param {How} how
 * @returns {Segment}
 * @throws ERR_NOT_FOUND also where it is being made or removed
 */
function openOwned(name, how) {
  const segment = openSegment(pathOf(name), how, false)
  try {
    own(segment, name)
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
  return new Segment(
    withFileName(label, () => fileCalls.holdFile(fd)),
    label,
    how,
  )
}

// ---- Owners ----

/** @typedef {{ pid: number, start: string, namespace: string, persist: boolean, name: string }} Owner */

/** This process' id, start and namespace; '': unknown. */
function identity() {
  const { pid, start, namespace } = fileCalls.thisProcess()
  return {
    pid,
    start: start === 0 ? '' : String(start),
    namespace: namespace === 0 ? '' : String(namespace),
  }
}

/** The text of the owner's link. @param {{ name: string, persist: boolean }} of @returns {string} */
function ownerText({ name, persist }) {
  const { pid, start, namespace } = identity()
  return [pid, start, namespace, persist ? 1 : 0, name].join(':')
}

/** @param {string} text @returns {Owner | null} */
function ownerOf(text) {
  const parts = /^(\d{1,15}):(\d*):(\d*):([01]):([^/]+)$/.exec(text)
  return parts === null
    ? null
    : {
        pid: Number(parts[1]),
        start: parts[2],
        namespace: parts[3],
        persist: parts[4] === '1',
        name: parts[5],
      }
}

/**
 * Makes this process an owner of a segment, beside others: the record of one that has ended is taken over.
 *
 * @param {Segment} segment
 * @param {string} name
 * @throws ERR_NOT_FOUND the name is another file's by now, or is being made or removed
 */
function own(segment, name) {
  const path = pathOf(name)
  const { ino } = fs.fstatSync(segment.fd, { bigint: true })
  if (fileCalls.lockFile(segment.fd, LOCKS.shared) === EAGAIN || statOf(path)?.ino !== ino) {
    throw Object.assign(failure('ERR_NOT_FOUND', `${show(name)} is being made or removed`), {
      path,
    })
  }
  const before = recordOf(ino)
  if (before === null || !before.isOurs || !isDead(before.owner)) return
  const draft = pathOf(draftOf(ino))
  try {
    remove(draft)
    fs.symlinkSync(ownerText({ name, persist: before.owner.persist }), draft)
    fs.renameSync(draft, tagOf(ino))
    segment.tag = { path, inode: ino }
    log('took %s over, which process %d left', path, before.owner.pid)
  } catch {
    remove(draft) // the lock is what counts
  }
}

/**
 * Has the owner certainly ended? False if it is in another namespace or not visible.
 *
 * @param {Pick<Owner, 'pid' | 'start' | 'namespace'>} owner
 */
const isDead = ({ pid, start, namespace }) =>
  fileCalls.hasEnded(pid, numberOf(start), numberOf(namespace))

/** @param {string} digits */
const numberOf = (digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)

// ---- Names ----

/** @param {string} path @returns {fs.BigIntStats | null} */
function statOf(path) {
  try {
    return fs.lstatSync(path, { bigint: true })
  } catch {
    return null
  }
}

/** @param {bigint} inode */
const tagOf = (inode) => `${FOLDER}/${MARK}${inode}`
/** @param {bigint} inode */
const draftOf = (inode) => `${MARK}draft-${inode}`

/** @param {string} path */
function remove(path) {
  try {
    fs.unlinkSync(path)
  } catch {}
}

/**
 * Gives a segment its name, after recording its owner.
 *
 * @param {Segment} segment
 * @param {string} name
 * @param {{ replace: boolean, persist: boolean, isPart?: boolean }} how  isPart: nobody may become an owner until complete() is called
 * @throws ERR_EXISTS · ERR_IO
 */
function publish(segment, name, { replace, persist, isPart = false }) {
  fileCalls.lockFile(segment.fd, isPart ? LOCKS.exclusive : LOCKS.shared) // without one the record is all there is
  const path = pathOf(name)
  const { ino } = fs.fstatSync(segment.fd, { bigint: true })
  const [tag, draft] = [tagOf(ino), draftOf(ino)]
  const text = ownerText({ name, persist })
  remove(tag) // left by an earlier file with this inode number
  try {
    fs.symlinkSync(text, tag)
  } catch (/** @type {any} */ error) {
    throw error.code === 'ERR_ACCESS_DENIED'
      ? systemError(error, path)
      : Object.assign(failure('ERR_IO', error.message), { errno: error.errno, path: tag })
  }
  try {
    if (replace) {
      const before = statOf(path)
      link(segment.fd, draft, path)
      withFileName(path, () => fs.renameSync(pathOf(draft), path))
      if (before !== null) remove(tagOf(before.ino))
    } else {
      link(segment.fd, name, path)
    }
    segment.tag = { path, inode: ino }
    log('named the segment %s', path)
  } catch (error) {
    remove(pathOf(draft))
    remove(tag)
    throw error
  }
}

/** The other part of what the segment belongs to is there as well. @param {number} fd */
function complete(fd) {
  fileCalls.lockFile(fd, LOCKS.shared)
}

/**
 * @param {number} fd
 * @param {string} name
 * @param {string} path  for errors
 */
function link(fd, name, path) {
  const errno = fileCalls.linkFile(fd, pathOf(name))
  if (errno === 0) return
  if (errno === EEXIST) throw taken(name)
  throw Object.assign(
    failure('ERR_IO', `${show(name)} could not be made (${getSystemErrorName(-errno)})`),
    { errno: -errno, path },
  )
}

/** @param {string} name @throws ERR_EXISTS */
function checkFree(name) {
  if (statOf(pathOf(name)) !== null) throw taken(name)
}

/** @param {string} name */
function taken(name) {
  return Object.assign(failure('ERR_EXISTS', `there is a segment ${show(name)}`), {
    errno: -EEXIST,
    path: pathOf(name),
  })
}

/**
 * Removes a name. Processes that have the segment mapped keep it.
 *
 * @param {string} name
 * @throws ERR_NOT_FOUND · ERR_IO
 */
function unlink(name) {
  const path = pathOf(name)
  const before = statOf(path)
  withFileName(path, () => fs.unlinkSync(path))
  log('removed the name %s', path)
  if (before !== null) remove(tagOf(before.ino))
}

/**
 * All owners' links, with the segment's file.
 *
 * @returns {{ inode: bigint, owner: Owner, stat: fs.BigIntStats | null, isOurs: boolean }[]} stat: null if the name is gone or another file's;
 *   isOurs: the link belongs to this user
 */
function taggedSegments() {
  const found = []
  for (const entry of withFileName(FOLDER, () => fs.readdirSync(FOLDER))) {
    const digits = /^\.samebytes-(\d{1,20})$/.exec(entry)?.[1]
    if (digits === undefined) continue
    const inode = BigInt(digits)
    const record = recordOf(inode)
    if (record === null) continue
    const stat = statOf(pathOf(record.owner.name))
    const isThere = stat !== null && stat.ino === inode && stat.isFile() && stat.uid === record.uid // a link counts only for files of its own user
    found.push({ inode, ...record, stat: isThere ? stat : null })
  }
  return found
}

/** @param {bigint} inode @returns {{ owner: Owner, uid: bigint, isOurs: boolean } | null} isOurs: this user's */
function recordOf(inode) {
  const tag = statOf(tagOf(inode))
  let owner = null
  try {
    owner = ownerOf(fs.readlinkSync(tagOf(inode)))
  } catch {} // removed meanwhile, or not a link
  if (owner === null || tag === null) return null
  return {
    owner,
    uid: tag.uid,
    isOurs: tag.uid === BigInt(/** @type {() => number} */ (process.geteuid)()),
  }
}

/**
 * Opens the file that a name has, if it is still that file, calls fn, and closes it.
 *
 * @template R
 * @param {string} name
 * @param {bigint} inode
 * @param {number} flags
 * @param {(fd: number) => R} fn
 * @returns {R | undefined} undefined: it is another file, or this process may not open it
 */
function withFile(name, inode, flags, fn) {
  let fd = -1
  try {
    fd = fs.openSync(pathOf(name), flags | O_NONBLOCK | O_NOFOLLOW)
    return fs.fstatSync(fd, { bigint: true }).ino === inode ? fn(fd) : undefined
  } catch {
    return undefined
  } finally {
    if (fd >= 0) fs.closeSync(fd)
  }
}

/** Has an owner the segment open or mapped, or is it part of a ring that somebody writes or reads? @param {string} name @param {bigint} inode */
const isHeld = (name, inode) =>
  withFile(name, inode, O_RDONLY, (fd) => fileCalls.lockFile(fd, LOCKS.asked)) === EAGAIN ||
  isRingInUse(name)

// ---- Rings: docs/ring-protocol.md ----

const MAGIC = Buffer.from('sb-ring3')
const [SLOTS, WRITER, READERS, FIRST, SLOT, PLACE] = [1, 3, 5, 16, 2, 4] // words, as in src/samebytes_ring.h
const MOST_READERS = 1024

/** How many control words a ring has. @param {number} slots @param {number} readers */
const controlWords = (slots, readers) => FIRST + SLOT * slots + PLACE * readers

/** Is a name that of a ring, or of its control words, which a living process writes, or from which it reads frames that the writer keeps? @param {string} name */
function isRingInUse(name) {
  try {
    return ringUsers(controlNameOf(name)).some((owner) => !isDead(owner))
  } catch {
    return false // it is no ring
  }
}

/** @param {string} name */
const controlNameOf = (name) => (name.endsWith(CONTROL) ? name : name + CONTROL)

/** Are there control words of a ring of that name? @param {string} name */
function isRing(name) {
  try {
    ringUsers(name + CONTROL)
    return true
  } catch {
    return false
  }
}

/**
 * Who writes a ring, and who has a place of it. The words are read, not mapped.
 *
 * @param {string} control  name
 * @returns {{ pid: number, start: string, namespace: string }[]}
 * @throws these are no control words
 */
function ringUsers(control) {
  const fd = fs.openSync(pathOf(control), O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    const read = (/** @type {number} */ at, /** @type {number} */ nbytes) => {
      const bytes = Buffer.alloc(nbytes)
      fs.readSync(fd, bytes, 0, nbytes, at)
      return bytes
    }
    const begin = 10 + read(8, 2).readUInt16LE() // of a .npy
    const words = read(begin, 8 * FIRST)
    if (!words.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw failure('ERR_FORMAT', 'byte 0: these are no control words')
    }
    const slots = Number(words.readBigUInt64LE(8 * SLOTS))
    const places = read(
      begin + 8 * controlWords(slots, 0),
      8 * PLACE * Math.min(Number(words.readBigUInt64LE(8 * READERS)), MOST_READERS),
    )
    const users = [
      words.subarray(8 * WRITER),
      ...Array.from({ length: places.length / 8 / PLACE }, (_, i) =>
        places.subarray(8 * PLACE * i),
      ),
    ]
    return users
      .filter((user) => user.readBigUInt64LE() !== 0n)
      .map((user) => ({
        pid: user.readUInt32LE(4),
        start: String(user.readUInt32LE()),
        namespace: String(user.readBigUInt64LE(8)),
      }))
  } finally {
    fs.closeSync(fd)
  }
}

const PAUSE_MS = 0.2 // times the tries: a second together after a hundred
const still = new Int32Array(new SharedArrayBuffer(4))

/** Waits a little while another process makes or removes a segment. @param {number} tries  so far */
function pause(tries) {
  Atomics.wait(still, 0, 0, tries * PAUSE_MS)
}

// ---- Sweeping ----

/**
 * Removes a name if it still belongs to this file. Another process may replace it meanwhile, so the name is moved aside, checked again,
 * and restored if it belongs to another file.
 *
 * @param {string} name
 * @param {bigint} inode
 * @returns {boolean} whether it was removed
 */
function removeNamed(name, inode) {
  const [path, aside] = [pathOf(name), pathOf(draftOf(inode))]
  if (statOf(path)?.ino !== inode) return false // moved aside, it would be missing for those who have it
  try {
    fs.renameSync(path, aside)
  } catch {
    return false
  }
  const isIt = statOf(aside)?.ino === inode
  try {
    if (!isIt) fs.linkSync(aside, path)
  } catch {} // the name was taken again, by a newer file
  remove(aside)
  return isIt
}

/**
 * Removes a name unless somebody holds the segment. Nobody can become its owner meanwhile.
 *
 * @param {string} name
 * @param {bigint} inode
 * @returns {boolean | undefined} whether it was removed; undefined: it is held
 */
function removeUnheld(name, inode) {
  let isLeft = isRingInUse(name)
  const removed = withFile(name, inode, O_RDWR, (fd) => {
    isLeft ||= fileCalls.lockFile(fd, LOCKS.exclusive) === EAGAIN
    return !isLeft && removeNamed(name, inode)
  })
  return isLeft ? undefined : (removed ?? removeNamed(name, inode))
}

/**
 * Removes control words without frames, which somebody left who was killed, or who removed the frames alone. A ring that is being made has
 * its words locked.
 *
 * @param {string} name  of the ring
 */
function removeHalf(name) {
  const control = name + CONTROL
  const there = statOf(pathOf(control))
  if (there === null || statOf(pathOf(name)) !== null) return
  withFile(control, there.ino, O_RDWR, (fd) => {
    if (
      fileCalls.lockFile(fd, LOCKS.shared) === 0 &&
      statOf(pathOf(name)) === null &&
      removeNamed(control, there.ino)
    ) {
      remove(tagOf(there.ino))
    }
  })
}

/**
 * Removes names of this user whose owners have ended, and which nobody holds.
 *
 * @param {string} [only]  this name alone
 * @returns {string[]} the removed names
 */
function sweep(only) {
  const names = []
  for (const { inode, owner, stat, isOurs } of taggedSegments()) {
    if (
      !isOurs ||
      !isDead(owner) ||
      (owner.persist && stat !== null) ||
      (only !== undefined && owner.name !== only)
    ) {
      continue
    }
    const isRemoved = stat !== null && removeUnheld(owner.name, inode)
    if (isRemoved === undefined) continue
    if (isRemoved) {
      names.push(owner.name)
      log('swept %s, which process %d left', owner.name, owner.pid)
    }
    remove(pathOf(draftOf(inode)))
    remove(tagOf(inode))
  }
  return names
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
  const found = []
  for (const {
    owner: { name, pid, persist },
    owner,
    stat,
  } of taggedSegments()) {
    if (stat !== null) {
      found.push({
        name,
        path: pathOf(name),
        nbytes: Number(stat.size),
        pid,
        isAlive: !isDead(owner) || isHeld(name, stat.ino),
        persist,
      })
    }
  }
  return found
}

module.exports = {
  FOLDER,
  nameOf,
  pathOf,
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
  pause,
  removeHalf,
  list,
  sweep,
  systemError,
}
