'use strict'
// Shared memory between processes, in Node on Linux: segments, their names, who made them. shared-tensor.js makes tensors of it.
//
// A segment gets its name when it is whole: until then it is a file without one, of which nothing is left if its maker dies.
// Who made it is said beside it, by a symbolic link `.samebytes-INODE` whose text is `pid:start:namespace:persist:name`. It
// is there before the name is, and belongs to this file, whatever has the name later. Nothing is added to the segment
// itself: a raw one is as long as the program on the other side expects.

const fs = require('node:fs')
const os = require('node:os')
const { getSystemErrorName } = require('node:util')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { grant } = require('../backend/storage')
const { MappedFile } = require('../files/mapped-file')
const { systemError, named } = require('../files/system-errors')
const { log } = require('../runtime/host')

const { backend, GUARDS } = ffi
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = fs.constants
const { ENOSPC, ENOMEM, EEXIST, EMFILE, ENFILE } = os.constants.errno

const FOLDER = '/dev/shm'
const MARK = '.samebytes-'
const LONGEST = 255 // bytes of a name

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * A name that shm_open would take, without its slash.
 *
 * @param {unknown} given
 * @returns {string}
 */
function nameOf (given) {
  if (typeof given !== 'string') throw failure('ERR_ARGUMENT', `name is ${show(given)}; a string was expected`)
  const name = given.startsWith('/') ? given.slice(1) : given
  const why = faultOf(name)
  if (why !== null) throw failure('ERR_ARGUMENT', `name is ${show(given.length > 300 ? given.slice(0, 300) + '...' : given)}: ${why}`)
  return name
}

/** @param {string} name @returns {string | null} */
function faultOf (name) {
  const bytes = Buffer.from(name)
  if (name === '' || name === '.' || name === '..') return 'a name of at least one character was expected, other than . and ..'
  if (/[/\0]/.test(name)) return 'a name has no slash but the first, and no character 0'
  if (bytes.length > LONGEST) return `a name has at most ${LONGEST} bytes; this one has ${bytes.length}`
  if (name.startsWith(MARK)) return `names that begin with ${MARK} are samebytes' own`
  return bytes.toString() === name ? null : 'it has half a surrogate pair'
}

/** @param {string} name */
const pathOf = name => `${FOLDER}/${name}`

/**
 * @param {string} path
 * @returns {string | null} the name that it stands for
 */
function nameOfPath (path) {
  const name = /^\/+dev\/+shm\/+([^/]+)$/.exec(path)?.[1]
  return name === undefined || faultOf(name) !== null ? null : name
}

/** Only here: Linux's shared memory, by the addon. */
function checkPlatform () {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'memory that other processes see needs the native addon')
  if (process.platform !== 'linux') throw failure('ERR_UNSUPPORTED', `SharedTensor needs Linux; this is ${process.platform}`)
  if (process.versions.deno !== undefined) throw failure('ERR_UNSUPPORTED', 'SharedTensor needs Node or Bun; Deno refuses file descriptors that it has not opened')
}

// ---- Segments ----

/** How a segment is mapped; mode: of MODES, guard: of GUARDS. @typedef {{ mode: number, guard: number }} How */

/** A segment that is mapped, and the descriptor that goes with it. */
class Segment extends MappedFile {
  /**
   * @param {{ holder: Storage, fd: number }} file
   * @param {string} label  its path, for errors
   * @param {How} how
   */
  constructor ({ holder, fd }, label, { mode, guard }) {
    try {
      super(label, { mode, guard: guard === GUARDS.wanted && ffi.isSealed(fd) ? GUARDS.none : guard }, 'SharedTensor', fd)
    } catch (error) {
      backend.release(holder)
      throw error
    }
    this.holder = holder
    /** where it was given a name, by this process @type {{ path: string, inode: bigint } | null} */
    this.tag = null
  }

  /** The descriptor stays open: others may be given it. @override */
  settle () {}

  /** @override */
  close () {
    super.close()
    backend.release(this.holder)
    this.fd = -1
    if (this.tag !== null && statOf(this.tag.path)?.ino !== this.tag.inode) remove(tagOf(this.tag.inode)) // others took the name away
    this.tag = null
  }

  /** What tells it from all other files. */
  get id () {
    const { dev, ino } = fs.fstatSync(this.fd, { bigint: true })
    return `${dev}-${ino}`
  }
}

/**
 * A new segment, all zero, without a name.
 *
 * @param {boolean} sealed
 * @param {number} mode  permissions
 * @param {Uint8Array | null} header  its first bytes
 * @param {number} total  bytes
 * @param {string} label
 * @param {number} guard  of GUARDS
 * @returns {Segment}
 */
function newSegment (sealed, mode, header, total, label, guard) {
  grant(total, backend.inUse)
  let file
  try {
    file = ffi.newSegment(sealed, mode, total)
  } catch (error) {
    throw systemError(noSegment(error, total), label)
  }
  const segment = new Segment(file, label, { mode: 1, guard })
  try {
    if (header !== null) named(label, () => fs.writeSync(file.fd, header, 0, header.length, 0))
  } catch (error) {
    segment.close()
    throw error
  }
  log('made a segment of %d bytes: %s%s', total, label, sealed ? ', sealed' : '')
  return segment
}

/**
 * @param {any} error
 * @param {number} total
 */
function noSegment (error, total) {
  if (error.errno !== -ENOSPC && error.errno !== -ENOMEM) return error
  const text = `${total} bytes of shared memory are not free (${getSystemErrorName(error.errno)})`
  return Object.assign(failure('ERR_MEMORY', text), { errno: error.errno })
}

/**
 * What fn gives. Where there are too many open files, those that were collected are closed first: finalizers wait for the
 * event loop.
 *
 * @template R
 * @param {string} path
 * @param {() => R} fn
 * @returns {R}
 */
function roomy (path, fn) {
  try {
    return fn()
  } catch (/** @type {any} */ error) {
    if (![-EMFILE, -ENFILE, -ENOMEM].includes(error.errno)) throw systemError(error, path)
    backend.sweep()
    return named(path, fn)
  }
}

/**
 * A segment, or any other file, by what opens it.
 *
 * @param {string} path
 * @param {How} how
 * @param {boolean} follow  symbolic links
 * @returns {Segment}
 */
function openSegment (path, how, follow) {
  const fd = roomy(path, () => fs.openSync(path, (how.mode === 1 ? O_RDWR : O_RDONLY) | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)))
  let file
  try {
    file = roomy(path, () => ffi.holdFile(fd)) // which goes with the environment, also where a worker is terminated
  } finally {
    fs.closeSync(fd)
  }
  log('opened the segment %s', path)
  return new Segment(file, path, how)
}

/**
 * @param {number} fd  which stays the caller's
 * @param {How} how
 * @returns {Segment}
 */
function segmentOfDescriptor (fd, how) {
  const label = `file descriptor ${fd}`
  return new Segment(roomy(label, () => ffi.holdFile(fd)), label, how)
}

// ---- Owners ----

/** @typedef {{ pid: number, start: string, namespace: string, persist: boolean, name: string }} Owner */

/**
 * When a process started, and whether it still runs. No two processes have the same number and the same start.
 *
 * @param {number | 'self'} pid
 * @returns {{ pid: number, start: string, hasEnded: boolean } | null} null: there is none that can be seen
 */
function processOf (pid) {
  let text
  try {
    text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before them may have spaces
  return { pid: parseInt(text), start: fields[19], hasEnded: fields[0] === 'Z' || fields[0] === 'X' }
}

/** Process numbers mean something here. */
function namespaceOf () {
  try {
    return fs.readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
  } catch {
    return ''
  }
}

/** What tells this process from all others; '': it is not known. */
function identity () {
  const self = processOf('self')
  const isKnown = self !== null && self.pid === process.pid // else /proc is another namespace's
  return { pid: process.pid, start: isKnown ? self.start : '', namespace: isKnown ? namespaceOf() : '' }
}

/** @param {{ name: string, persist: boolean }} of @returns {string} */
function ownerText ({ name, persist }) {
  const { pid, start, namespace } = identity()
  return [pid, start, namespace, persist ? 1 : 0, name].join(':')
}

/** @param {string} text @returns {Owner | null} */
function ownerOf (text) {
  const parts = /^(\d{1,15}):(\d*):(\d*):([01]):([^/]+)$/.exec(text)
  return parts === null ? null : { pid: Number(parts[1]), start: parts[2], namespace: parts[3], persist: parts[4] === '1', name: parts[5] }
}

/**
 * Is it certain that the owner has ended? Not where it is another namespace's, or cannot be seen.
 *
 * @param {Owner} owner
 */
function isDead ({ pid, start, namespace }) {
  if (start === '' || namespace === '' || namespace !== namespaceOf()) return false
  const found = processOf(pid)
  if (found !== null) return found.hasEnded || found.start !== start
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return /** @type {any} */ (error).code === 'ESRCH'
  }
}

// ---- Names ----

/** @param {string} path @returns {fs.BigIntStats | null} */
function statOf (path) {
  try {
    return fs.lstatSync(path, { bigint: true })
  } catch {
    return null
  }
}

/** @param {bigint} inode */
const tagOf = inode => `${FOLDER}/${MARK}${inode}`
/** @param {bigint} inode */
const draftOf = inode => `${MARK}draft-${inode}`

/** @param {string} path */
function remove (path) {
  try {
    fs.unlinkSync(path)
  } catch {}
}

/**
 * Gives a segment its name.
 *
 * @param {Segment} segment
 * @param {string} name
 * @param {{ replace: boolean, persist: boolean }} how
 * @throws ERR_EXISTS · ERR_IO
 */
function publish (segment, name, { replace, persist }) {
  const path = pathOf(name)
  const { ino } = fs.fstatSync(segment.fd, { bigint: true })
  const [tag, draft] = [tagOf(ino), draftOf(ino)]
  const text = ownerText({ name, persist })
  remove(tag) // of a file that had this number before
  try {
    fs.symlinkSync(text, tag)
  } catch (/** @type {any} */ error) {
    throw error.code === 'ERR_ACCESS_DENIED' ? systemError(error, path) : Object.assign(failure('ERR_IO', error.message), { errno: error.errno, path: tag })
  }
  try {
    if (replace) {
      const before = statOf(path)
      link(segment.fd, draft, path)
      named(path, () => fs.renameSync(pathOf(draft), path))
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

/**
 * @param {number} fd
 * @param {string} name
 * @param {string} path  for errors
 */
function link (fd, name, path) {
  const errno = ffi.linkFile(fd, pathOf(name))
  if (errno === 0) return
  if (errno === EEXIST) throw taken(name)
  throw Object.assign(failure('ERR_IO', `${show(name)} could not be made (${getSystemErrorName(-errno)})`), { errno: -errno, path })
}

/** @param {string} name @throws ERR_EXISTS */
function checkFree (name) {
  if (statOf(pathOf(name)) !== null) throw taken(name)
}

/** @param {string} name */
function taken (name) {
  return Object.assign(failure('ERR_EXISTS', `there is a segment ${show(name)}`), { errno: -EEXIST, path: pathOf(name) })
}

/**
 * Takes a name away. Who has the segment mapped keeps it.
 *
 * @param {string} name
 * @throws ERR_NOT_FOUND · ERR_IO
 */
function unlink (name) {
  const path = pathOf(name)
  const before = statOf(path)
  named(path, () => fs.unlinkSync(path))
  log('removed the name %s', path)
  if (before !== null) remove(tagOf(before.ino))
}

/**
 * What is known of segments: those whose file still has the name that it was given, and what is left of others.
 *
 * @returns {{ inode: bigint, owner: Owner, stat: fs.BigIntStats | null, isOurs: boolean }[]}
 */
function tagged () {
  const found = []
  for (const entry of named(FOLDER, () => fs.readdirSync(FOLDER))) {
    const digits = /^\.samebytes-(\d{1,20})$/.exec(entry)?.[1]
    if (digits === undefined) continue
    const inode = BigInt(digits)
    const tag = statOf(tagOf(inode))
    let owner = null
    try {
      owner = ownerOf(fs.readlinkSync(tagOf(inode)))
    } catch {} // it went meanwhile, or is no link
    if (owner === null || tag === null) continue
    const stat = statOf(pathOf(owner.name))
    const isThere = stat !== null && stat.ino === inode && stat.isFile() && stat.uid === tag.uid // nobody speaks for others' files
    found.push({ inode, owner, stat: isThere ? stat : null, isOurs: tag.uid === BigInt(/** @type {() => number} */ (process.geteuid)()) })
  }
  return found
}

/**
 * Removes a name if it still means this file. Another one may have taken its place since it was looked at, so the name is
 * moved away, looked at again, and given back where it was the other one's.
 *
 * @param {string} name
 * @param {bigint} inode
 * @returns {boolean} whether it was removed
 */
function removeNamed (name, inode) {
  const [path, aside] = [pathOf(name), pathOf(draftOf(inode))]
  try {
    fs.renameSync(path, aside)
  } catch {
    return false
  }
  const isIt = statOf(aside)?.ino === inode
  try {
    if (!isIt) fs.linkSync(aside, path)
  } catch {} // there is yet another one, which is newer
  remove(aside)
  return isIt
}

/** Removes what dead owners of this user left. @returns {string[]} the names that went */
function sweep () {
  const names = []
  for (const { inode, owner, stat, isOurs } of tagged()) {
    if (!isOurs || !isDead(owner) || (owner.persist && stat !== null)) continue
    if (stat !== null && removeNamed(owner.name, inode)) {
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
 * @property {number} nbytes  of the segment, its header included
 * @property {number} pid  of the process that made it
 * @property {boolean} isAlive  false: that process has ended, and `sweep` would remove the name
 * @property {boolean} persist  or not, because of this
 */

/** @returns {SegmentInfo[]} */
function list () {
  const found = []
  for (const { owner: { name, pid, persist }, owner, stat } of tagged()) {
    if (stat !== null) found.push({ name, path: pathOf(name), nbytes: Number(stat.size), pid, isAlive: !isDead(owner), persist })
  }
  return found
}

module.exports = { nameOf, pathOf, nameOfPath, checkFree, checkPlatform, Segment, newSegment, openSegment, segmentOfDescriptor, publish, unlink, list, sweep, identity, isDead, systemError }
