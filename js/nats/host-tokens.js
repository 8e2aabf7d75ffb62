'use strict'
// What a process exports to others on its host: a sealed segment for each message, and a page of tokens. A token is the text of a header, and lies also in
// the page: who is sent the header reads the page, and believes the text only if it is there. So nobody can have a process read or write
// what it was not exported.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs')
const { GUARDS } = require('../backend/calls')
const { lazyFile } = require('../runtime/lazy')

/** @typedef {InstanceType<typeof import('../sharing/segments').Segment>} Segment */

const TOKEN_BYTES = 128
const TOKENS = 512

const segments = lazyFile(() => require('../sharing/segments'))

/**
 * @param {number} nbytes
 * @returns {Segment}
 * @throws ERR_MEMORY · ERR_IO
 */
const newSealed = (nbytes) =>
  segments().newSegment(true, 0o600, null, nbytes, 'sealed memory', GUARDS.wanted)

/** What another process may read, or write. @typedef {{ text: string, close (): void }} Token */

/** The page of tokens. */
class TokenPage {
  /** made when the first is written @type {Segment | null} */
  #segment = null
  /** that are not in use @type {number[]} */
  #free = Array.from({ length: TOKENS }, (_, i) => TOKENS - 1 - i)
  /** where it is: process, descriptor, device and inode */
  text = ''

  /**
   * @param {Segment} segment
   * @param {{ writes: boolean, at: number, nbytes: number }} part  of the segment
   * @returns {Token | null} null: there are too many
   * @throws ERR_MEMORY · ERR_IO
   */
  write({ fd, id }, { writes, at, nbytes }) {
    if (this.#segment === null) {
      this.#segment = newSealed(TOKENS * TOKEN_BYTES)
      this.text = [process.pid, this.#segment.fd, this.#segment.id].join(' ')
    }
    const page = this.#segment
    const slot = this.#free.pop()
    if (slot === undefined) return null
    const text = [
      randomBytes(16).toString('hex'),
      slot,
      writes ? 'w' : 'r',
      fd,
      id,
      at,
      nbytes,
    ].join(' ')
    fs.writeSync(page.fd, text.padEnd(TOKEN_BYTES), slot * TOKEN_BYTES, 'latin1')
    const close = () => {
      // once
      fs.writeSync(page.fd, ''.padEnd(TOKEN_BYTES), slot * TOKEN_BYTES, 'latin1')
      this.#free.push(slot)
    }
    return { text, close }
  }
}

/** of this thread */
const page = new TokenPage()

module.exports = { TokenPage, TOKEN_BYTES, TOKENS, newSealed, page }
