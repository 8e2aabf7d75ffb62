'use strict'
// What a process lends to others on its host: sealed segments, which are used again, and a page of tickets. A ticket is the text of a header, and lies also in
// the page: who is sent the header reads the page, and believes the text only if it is there. So nobody can have a process read or write
// what it was not lent.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const ffi = require('../backend/calls')
const { log } = require('../runtime/host')
const { lazyFile } = require('../runtime/lazy')

const { GUARDS } = ffi

/** @typedef {InstanceType<typeof import('../sharing/segments').Segment>} Segment */

const MOST_BYTES = Math.min(2 ** 30, Math.floor(os.totalmem() / 8)) // of all segments, lent or not
const MOST_SEGMENTS = 128
const LEAST_BYTES = 2 ** 16
const IDLE_MS = 5000 // after which a segment that nobody uses is freed
const TICKET_BYTES = 128
const TICKETS = 512

const segments = lazyFile(() => require('../sharing/segments'))

/**
 * @param {number} nbytes
 * @returns {Segment}
 * @throws ERR_MEMORY · ERR_IO
 */
const newSealed = nbytes => segments().newSegment(true, 0o600, null, nbytes, '/dev/shm', GUARDS.wanted)

/** Bytes of the segment for so many: four sizes for each power of two. @param {number} nbytes @returns {number} */
function capacityFor (nbytes) {
  const step = 2 ** Math.max(12, Math.floor(Math.log2(Math.max(nbytes, LEAST_BYTES))) - 2)
  return Math.ceil(Math.max(nbytes, LEAST_BYTES) / step) * step
}

/** Sealed segments that are used again. */
class SegmentPool {
  /** unused ones, with when they came back, oldest first @type {{ segment: Segment, since: number }[]} */
  #free = []
  /** of all */
  #bytes = 0
  #count = 0
  /** @type {NodeJS.Timeout | null} */
  #timer = null
  #mostBytes
  #idle

  /** @param {{ mostBytes?: number, idle?: number }} [limits]  idle: milliseconds */
  constructor ({ mostBytes = MOST_BYTES, idle = IDLE_MS } = {}) {
    this.#mostBytes = mostBytes
    this.#idle = idle
  }

  /** Of all segments, lent or not. */
  get nbytes () { return this.#bytes }
  get count () { return this.#count }
  /** Segments that nobody uses. */
  get unused () { return this.#free.length }

  /**
   * A segment to lend. Its bytes are what they were.
   *
   * @param {number} nbytes
   * @returns {Segment | null} null: there is no room
   */
  take (nbytes) {
    const capacity = capacityFor(nbytes)
    const i = this.#free.findLastIndex(({ segment }) => segment.size === capacity)
    if (i >= 0) return this.#free.splice(i, 1)[0].segment
    while (!this.#hasRoom(capacity) && this.#free.length > 0) this.drop(/** @type {any} */ (this.#free.shift()).segment)
    return this.#hasRoom(capacity) ? this.#make(capacity) : null
  }

  /** @param {number} nbytes */
  #hasRoom (nbytes) { return this.#bytes + nbytes <= this.#mostBytes && this.#count < MOST_SEGMENTS }

  /** @param {number} capacity @returns {Segment | null} */
  #make (capacity) {
    try {
      const segment = newSealed(capacity)
      this.#bytes += capacity
      this.#count++
      return segment
    } catch (error) {
      log('no segment for another process: %s', error)
      return null
    }
  }

  /** Takes a segment back that nobody reads or writes any more. @param {Segment} segment */
  give (segment) {
    this.#free.push({ segment, since: performance.now() })
    this.#timer ??= setInterval(() => this.#sweep(), this.#idle).unref()
  }

  /** Frees a segment that others may still use: they keep it. @param {Segment} segment */
  drop (segment) {
    this.#bytes -= segment.size
    this.#count--
    segment.close()
  }

  #sweep () {
    const before = performance.now() - this.#idle
    while (this.#free.length > 0 && this.#free[0].since <= before) this.drop(/** @type {any} */ (this.#free.shift()).segment)
    if (this.#free.length === 0) this.#stop()
  }

  #stop () {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Frees all that nobody uses. */
  clear () {
    for (const { segment } of this.#free.splice(0)) this.drop(segment)
    this.#stop()
  }
}

/** What another process may read, or write. @typedef {{ text: string, close (): void }} Ticket */

/** The page of tickets. */
class TicketPage {
  /** made when the first is written @type {Segment | null} */
  #segment = null
  /** that are not in use @type {number[]} */
  #free = Array.from({ length: TICKETS }, (_, i) => TICKETS - 1 - i)
  /** where it is: process, descriptor, device and inode */
  text = ''

  /**
   * @param {Segment} segment
   * @param {{ writes: boolean, at: number, nbytes: number }} part  of the segment
   * @returns {Ticket | null} null: there are too many
   * @throws ERR_MEMORY · ERR_IO
   */
  write ({ fd, id }, { writes, at, nbytes }) {
    const page = this.#page()
    const slot = this.#free.pop()
    if (slot === undefined) return null
    const text = [randomBytes(16).toString('hex'), slot, writes ? 'w' : 'r', fd, id, at, nbytes].join(' ')
    fs.writeSync(page.fd, text.padEnd(TICKET_BYTES), slot * TICKET_BYTES, 'latin1')
    return { text, close: () => this.#erase(slot) }
  }

  #page () {
    if (this.#segment !== null) return this.#segment
    this.#segment = newSealed(TICKETS * TICKET_BYTES)
    this.text = [process.pid, this.#segment.fd, this.#segment.id].join(' ')
    return this.#segment
  }

  /** @param {number} slot  once */
  #erase (slot) {
    fs.writeSync(/** @type {Segment} */ (this.#segment).fd, ''.padEnd(TICKET_BYTES), slot * TICKET_BYTES, 'latin1')
    this.#free.push(slot)
  }
}

/** of this thread */
const pool = new SegmentPool()
const page = new TicketPage()

module.exports = { SegmentPool, TicketPage, TICKET_BYTES, TICKETS, pool, page }
