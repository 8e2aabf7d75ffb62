'use strict'
// The inbox of a bus: one subscription that all replies come to, told apart by the last word of their subject. The client's own requests
// would read headers in quadratic time, and cannot be cancelled.

const { failure } = require('../base/errors')
const { refused } = require('./link')
const { peer } = require('./peers')

/** @typedef {import('./bus').Core} Core */

/**
 * Who waits for replies.
 *
 * @typedef {object} Waiter
 * @property {() => void} dropped  the connection was lost; it may come back
 * @property {() => void} restored  it came back
 * @property {(error: Error) => void} failed  no reply can come any more
 * @property {(subject: string) => boolean} sendsTo  does it send to the subject?
 */

/** @param {Core} core @returns {Inbox} */
const inboxOf = (core) => (core.inbox ??= new Inbox(core))

class Inbox {
  #core
  #prefix
  /** @type {any} */
  #subscription = null
  /** @type {Map<string, (message: any) => void>} */
  #handlers = new Map()
  /** @type {Set<Waiter>} */
  #waiters = new Set()
  #next = 0

  /** @param {Core} core */
  constructor(core) {
    this.#core = core
    core.link.follow({
      lost: () => this.#each((waiter) => waiter.dropped()),
      restored: () => this.#each((waiter) => waiter.restored()),
      refused: (subject, error) =>
        this.#each((waiter) => {
          if (waiter.sendsTo(subject)) waiter.failed(refused(`does not take ${subject}`, error))
        }),
      closed: () => this.#fail(closed()),
    })
    // The connection's prefix, if users may only receive there; clients that do not tell it have the usual one.
    this.#prefix = peer('transport-node').createInbox(core.connection.options?.inboxPrefix)
  }

  /**
   * @param {(message: any) => void} handler  throws nothing
   * @returns {string} a subject, whose messages the handler gets until `close`
   * @throws ERR_DISCONNECTED the connection was closed
   */
  open(handler) {
    const callback = (/** @type {any} */ error, /** @type {any} */ message) =>
      error ? this.#refused(error) : this.#handlers.get(message.subject)?.(message)
    try {
      this.#subscription ??= this.#core.connection.subscribe(`${this.#prefix}.*`, { callback })
    } catch (error) {
      throw closed(error)
    }
    const subject = `${this.#prefix}.${(this.#next++).toString(36)}`
    this.#handlers.set(subject, handler)
    return subject
  }

  /** @param {string} subject  that `open` gave */
  close(subject) {
    this.#handlers.delete(subject)
  }

  /** @param {Waiter} waiter */
  join(waiter) {
    this.#waiters.add(waiter)
    if (this.#core.connection.isClosed()) waiter.failed(closed())
  }

  /** @param {Waiter} waiter */
  leave(waiter) {
    this.#waiters.delete(waiter)
  }

  /** @param {Error} cause  the server allows no subscription */
  #refused(cause) {
    this.#subscription = null
    this.#fail(refused(`allows no replies to ${this.#prefix}.*`, cause))
  }

  /** @param {Error} error */
  #fail(error) {
    this.#each((waiter) => waiter.failed(error))
  }

  /** @param {(waiter: Waiter) => void} tell */
  #each(tell) {
    for (const waiter of [...this.#waiters]) tell(waiter)
  }

  /**
   * Calls back when nothing that was published before is sent any more: all went to the server, or the connection was lost.
   *
   * @param {() => void} done
   */
  whenSent(done) {
    this.#core.link.flush().then(done, done)
  }
}

/** @param {unknown} [cause] */
const closed = (cause) =>
  Object.assign(failure('ERR_DISCONNECTED', 'the connection was closed'), { cause })

module.exports = { Inbox, inboxOf, closed }
