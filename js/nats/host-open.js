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
const { TICKET_BYTES, TICKETS } = require('./host-tickets')

const { GUARDS } = ffi
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOCTTY } = fs.constants

/** What a message says of a page of tickets. @typedef {{ pid: number, fd: number, id: string }} Place */
/** @typedef {{ slot: number, writes: boolean, fd: number, id: string, at: number, nbytes: number }} Ticket */

const PAGE = /^(\d{1,10}) (\d{1,10}) (\d{1,20}-\d{1,20})$/
const TICKET = /^[0-9a-f]{32} (\d{1,4}) ([rw]) (\d{1,10}) (\d{1,20}-\d{1,20}) (\d{1,15}) (\d{1,15})$/
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
 * Maps what another process lends.
 *
 * @param {number} pid
 * @param {Ticket} ticket  that was found in the process' page
 * @returns {Borrowed | null} null: it cannot be mapped, or is too short
 */
function mapped (pid, { fd, id, writes, at, nbytes }) {
  const own = openSealed(pid, fd, id, writes)
  if (own < 0) return null
  const file = new MappedFile(`/proc/${pid}/fd/${fd}`, { mode: writes ? 1 : 0, guard: GUARDS.none }, 'host', own)
  if (file.storage !== null && at + nbytes <= file.size) return new Borrowed(file, at, nbytes)
  file.close()
  return null
}

/** A part of a mapping, which is closed with it; tensors over its bytes keep them. */
class Borrowed extends Part {
  /** of the whole file, until it is closed @returns {number} */
  get fd () { return /** @type {MappedFile} */ (this.whole).fd }

  /** @override */
  close () { this.whole.close() }
}

/**
 * The bytes that a message lends.
 *
 * @param {string | undefined} where  Tensor-Host
 * @param {string | undefined} what  Tensor-Host-Data or Tensor-Host-Reply
 * @param {{ writes: boolean, maxBytes: number }} wanted
 * @returns {Borrowed | null} the caller's to close
 */
function borrow (where, what, { writes, maxBytes }) {
  const place = placeOf(where)
  const ticket = ticketOf(what)
  if (place === null || ticket === null || ticket.writes !== writes || ticket.nbytes > maxBytes) return null
  try {
    if (!isInPage(place, ticket.slot, /** @type {string} */ (what))) return null
    return mapped(place.pid, ticket)
  } catch (error) {
    log('a segment of process %d cannot be used: %s', place.pid, error)
    return null
  }
}

module.exports = { openSealed, borrow }
