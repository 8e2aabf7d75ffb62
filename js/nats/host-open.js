'use strict'
// Memory of another process on this host, opened because a message says so. Nothing that it says is believed: a path is made of two integers, what is there
// must be a sealed segment of this user, with the inode that was told, and the process must have written the same token into a page of its own memory.

const { timingSafeEqual } = require('node:crypto')
const fs = require('node:fs')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { Part } = require('../files/byte-source')
const { MappedFile } = require('../files/mapped-file')
const { log, openSync } = require('../runtime/host')
const { TOKEN_BYTES, TOKENS } = require('./host-tokens')

const { GUARDS } = ffi
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOCTTY } = fs.constants

const PAGE = /^(\d{1,10}) (\d{1,10}) (\d{1,20}-\d{1,20})$/
const TOKEN = /^[0-9a-f]{32} (\d{1,4}) ([rw]) (\d{1,10}) (\d{1,20}-\d{1,20}) (\d{1,15}) (\d{1,15})$/
const MOST_INTEGER = 2 ** 31 - 1

/**
 * Opens what another process has open, if it is a sealed segment of this user.
 *
 * @param {number} pid
 * @param {number} fd
 * @param {string} id  device and inode
 * @param {boolean} writes
 * @returns {number} a descriptor; -1: it is none
 */
function openSealed(pid, fd, id, writes) {
  const path = `/proc/${pid}/fd/${fd}`
  let own = -1
  try {
    if (
      !fs.readlinkSync(path).startsWith('/memfd:') ||
      !isIt(fs.statSync(path, { bigint: true }), id)
    ) {
      return -1
    } // looked at before it is opened: opening may do things
    own = openSync(path, (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY)
    if (isIt(fs.fstatSync(own, { bigint: true }), id) && fileCalls.isSealed(own)) return own
  } catch (error) {
    log('%s cannot be opened: %s', path, error)
  }
  if (own >= 0) fs.closeSync(own)
  return -1
}

/** @param {fs.BigIntStats} stat @param {string} id */
const isIt = (stat, id) =>
  stat.isFile() &&
  `${stat.dev}-${stat.ino}` === id &&
  stat.uid === BigInt(/** @type {() => number} */ (process.geteuid)())

/**
 * Is the token in the other process' page?
 *
 * @param {{ pid: number, fd: number, id: string }} page
 * @param {number} slot
 * @param {string} text
 */
function isInPage({ pid, fd, id }, slot, text) {
  const page = openSealed(pid, fd, id, false)
  if (page < 0) return false
  try {
    const there = Buffer.alloc(TOKEN_BYTES)
    const n = fs.readSync(page, there, 0, TOKEN_BYTES, slot * TOKEN_BYTES)
    return (
      n === TOKEN_BYTES && timingSafeEqual(there, Buffer.from(text.padEnd(TOKEN_BYTES), 'latin1'))
    )
  } finally {
    fs.closeSync(page)
  }
}

/** A part of a mapping, which is closed with it; tensors over its bytes keep them. */
class Borrowed extends Part {
  /** of the whole file, until it is closed @returns {number} */
  get fd() {
    return /** @type {MappedFile} */ (this.whole).fd
  }

  /** @override */
  close() {
    this.whole.close()
  }
}

/**
 * The bytes that a message exports.
 *
 * @param {string | undefined} where  Tensor-Host
 * @param {string | undefined} what  Tensor-Host-Data or Tensor-Host-Reply
 * @param {{ writes: boolean, maxBytes: number }} wanted
 * @returns {Borrowed | null} the caller's to close
 */
function borrow(where, what, { writes, maxBytes }) {
  const page = PAGE.exec(where ?? '')
  const token = TOKEN.exec(what ?? '')
  if (page === null || token === null) return null
  const [pid, pageFd] = [page[1], page[2]].map(Number)
  const [slot, fd, at, nbytes] = [token[1], token[3], token[5], token[6]].map(Number)
  if (pid === 0 || Math.max(pid, pageFd, fd) > MOST_INTEGER || slot >= TOKENS) return null
  if ((token[2] === 'w') !== writes || nbytes === 0 || nbytes > maxBytes) return null
  try {
    if (!isInPage({ pid, fd: pageFd, id: page[3] }, slot, token[0])) return null
    const own = openSealed(pid, fd, token[4], writes)
    if (own < 0) return null
    const file = new MappedFile(
      `/proc/${pid}/fd/${fd}`,
      { mode: writes ? 1 : 0, guard: GUARDS.none },
      'host',
      own,
    )
    if (file.storage !== null && at + nbytes <= file.size) return new Borrowed(file, at, nbytes)
    file.close()
    return null
  } catch (error) {
    log('a segment of process %d cannot be used: %s', pid, error)
    return null
  }
}

module.exports = { borrow }
