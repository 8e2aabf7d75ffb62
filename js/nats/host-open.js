'use strict'
// Memory of another process on this host, opened because a message says so. Nothing that it says is believed: a path is made of two integers, what is there
// must be a sealed segment of this user, with the inode that was told, and the process must have written the same ticket into a page of its own memory.

const { timingSafeEqual } = require('node:crypto')
const fs = require('node:fs')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { Part } = require('../files/byte-source')
const { MappedFile } = require('../files/mapped-file')
const { log, openSync } = require('../runtime/host')
const { TICKET_BYTES, TICKETS } = require('./host-pool')

const { GUARDS } = ffi
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOCTTY } = fs.constants

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** What a message says of a page of tickets. @typedef {{ pid: number, fd: number, id: string }} Place */
/** @typedef {{ slot: number, writes: boolean, fd: number, id: string, at: number, nbytes: number }} Ticket */

const PAGE = /^(\d{1,10}) (\d{1,10}) (\d{1,20}-\d{1,20})$/
const TICKET = /^[0-9a-f]{32} (\d{1,4}) ([rw]) (\d{1,10}) (\d{1,20}-\d{1,20}) (\d{1,15}) (\d{1,15})$/
const MOST_MAPPED = 64 // segments that stay mapped
const MOST_BYTES = 2 ** 36 // of them, which are addresses, not memory
const MOST_LENT = 1024 // parts of one, after which it is mapped anew: views that a function leaves to be collected are not released
const IDLE_MS = 5000 // after which one that nobody uses is unmapped, because it keeps its memory
const MOST_INTEGER = 2 ** 31 - 1

/** @param {string | undefined} text  of Tensor-Host @returns {Place | null} */
function placeOf (text) {
  const parts = PAGE.exec(text ?? '')
  if (parts === null) return null
  const [pid, fd] = [Number(parts[1]), Number(parts[2])]
  return pid > 0 && pid <= MOST_INTEGER && fd <= MOST_INTEGER ? { pid, fd, id: parts[3] } : null
}

/** @param {string | undefined} text @returns {Ticket | null} */
function ticketOf (text) {
  const parts = TICKET.exec(text ?? '')
  if (parts === null) return null
  const [slot, fd, at, nbytes] = [parts[1], parts[3], parts[5], parts[6]].map(Number)
  if (slot >= TICKETS || fd > MOST_INTEGER || nbytes === 0) return null
  return { slot, writes: parts[2] === 'w', fd, id: parts[4], at, nbytes }
}

/**
 * Opens what another process has open, if it is a sealed segment of this user.
 *
 * @param {number} pid
 * @param {number} fd
 * @param {string} id  device and inode
 * @param {boolean} writes
 * @returns {number} a descriptor; -1: it is none
 */
function openSealed (pid, fd, id, writes) {
  const path = `/proc/${pid}/fd/${fd}`
  let own = -1
  try {
    if (!fs.readlinkSync(path).startsWith('/memfd:') || !isIt(fs.statSync(path, { bigint: true }), id)) return -1 // looked at before it is opened: opening may do things
    own = openSync(path, (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY)
    if (isIt(fs.fstatSync(own, { bigint: true }), id) && fileCalls.isSealed(own)) return own
  } catch (error) {
    log('%s cannot be opened: %s', path, error)
  }
  if (own >= 0) fs.closeSync(own)
  return -1
}

/** @param {fs.BigIntStats} stat @param {string} id */
const isIt = (stat, id) => stat.isFile() && `${stat.dev}-${stat.ino}` === id && stat.uid === BigInt(/** @type {() => number} */ (process.geteuid)())

/**
 * Is the ticket in the other process' page?
 *
 * @param {Place} place
 * @param {number} slot
 * @param {string} text
 */
function isInPage ({ pid, fd, id }, slot, text) {
  const page = openSealed(pid, fd, id, false)
  if (page < 0) return false
  try {
    const there = Buffer.alloc(TICKET_BYTES)
    const n = fs.readSync(page, there, 0, TICKET_BYTES, slot * TICKET_BYTES)
    return n === TICKET_BYTES && timingSafeEqual(there, Buffer.from(text.padEnd(TICKET_BYTES), 'latin1'))
  } finally {
    fs.closeSync(page)
  }
}

/**
 * A segment of another process that stays mapped.
 *
 * @typedef {object} Mapping
 * @property {MappedFile} file
 * @property {number} since  when it was used last
 * @property {Storage[]} lent  parts that are or were tensors' bytes
 */

/** Segments of other processes, in the order of their last use. */
class Mappings {
  /** @type {Map<string, Mapping>} */
  #all = new Map()
  #bytes = 0
  /** @type {NodeJS.Timeout | null} */
  #timer = null

  get count () { return this.#all.size }

  /**
   * @param {number} pid
   * @param {Ticket} ticket  that was found in the process' page
   * @returns {Mapping | null} null: it cannot be mapped, or is too short
   */
  find (pid, { fd, id, writes, at, nbytes }) {
    const key = [pid, fd, id, writes].join()
    let found = this.#all.get(key)
    if (found !== undefined && !writes && (found.lent.length > MOST_LENT || found.lent.some(({ isShown }) => isShown))) { // a program may have written to the private pages of this mapping
      this.#drop(key, found)
      found = undefined
    }
    found ??= this.#open(key, pid, fd, id, writes) ?? undefined
    if (found === undefined || at + nbytes > found.file.size) return null
    this.#all.delete(key)
    this.#all.set(key, found)
    found.since = performance.now()
    found.lent = found.lent.filter(each => !each.released)
    return found
  }

  /** @param {string} key @param {number} pid @param {number} fd @param {string} id @param {boolean} writes @returns {Mapping | null} */
  #open (key, pid, fd, id, writes) {
    const own = openSealed(pid, fd, id, writes)
    if (own < 0) return null
    const file = new MappedFile(`/proc/${pid}/fd/${fd}`, { mode: writes ? 1 : 0, guard: GUARDS.none }, 'host', own)
    file.closeDescriptor()
    if (file.storage === null || file.size > MOST_BYTES) {
      file.close()
      return null
    }
    const made = { file, since: 0, lent: [] }
    this.#all.set(key, made)
    this.#bytes += file.size
    this.#trim()
    this.#timer ??= setInterval(() => this.#sweep(), IDLE_MS).unref()
    return made
  }

  #trim () {
    for (const [key, each] of this.#all) {
      if (this.#all.size <= MOST_MAPPED && this.#bytes <= MOST_BYTES) return
      this.#drop(key, each)
    }
  }

  /** Tensors over its bytes keep them. @param {string} key @param {Mapping} mapping */
  #drop (key, mapping) {
    this.#all.delete(key)
    this.#bytes -= mapping.file.size
    mapping.file.close()
  }

  #sweep () {
    const before = performance.now() - IDLE_MS
    for (const [key, each] of this.#all) if (each.since <= before) this.#drop(key, each)
    if (this.#all.size === 0) this.#stop()
  }

  #stop () {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  clear () {
    for (const [key, each] of this.#all) this.#drop(key, each)
    this.#stop()
  }
}

/** of this thread */
const mappings = new Mappings()

/** What a mapping lends, as a file. */
class Borrowed extends Part {
  #lent

  /** @param {Mapping} mapping @param {Ticket} ticket */
  constructor ({ file, lent }, { at, nbytes }) {
    super(file, at, nbytes)
    this.#lent = lent
  }

  /** @param {number} from @param {number} nbytes @param {number} alignment @override */
  place (from, nbytes, alignment) {
    const storage = super.place(from, nbytes, alignment)
    if (storage !== null) this.#lent.push(storage)
    return storage
  }
}

/**
 * The bytes that a message lends.
 *
 * @param {string | undefined} where  Tensor-Host
 * @param {string | undefined} what  Tensor-Host-Data or Tensor-Host-Reply
 * @param {{ writes: boolean, maxBytes: number }} wanted
 * @returns {Borrowed | null}
 */
function borrow (where, what, { writes, maxBytes }) {
  const place = placeOf(where)
  const ticket = ticketOf(what)
  if (place === null || ticket === null || ticket.writes !== writes || ticket.nbytes > maxBytes) return null
  try {
    if (!isInPage(place, ticket.slot, /** @type {string} */ (what))) return null
    const mapping = mappings.find(place.pid, ticket)
    return mapping === null ? null : new Borrowed(mapping, ticket)
  } catch (error) {
    log('a segment of process %d cannot be used: %s', place.pid, error)
    return null
  }
}

module.exports = { openSealed, borrow, mappings }
