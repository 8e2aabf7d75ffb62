'use strict'
// The inbox of a bus: one subscription that all replies come to, told apart by the last word of their subject. The client's own requests
// would read headers in quadratic time, and cannot be cancelled.

const { failure } = require('../base/errors')
const { refused } = require('./link')
const { peer } = require('./peers')

/** @typedef {import('./bus').Core} Core */

/** @param {Core} core @returns {Inbox} */
const inboxOf = (core) => (core.inbox ??= new Inbox(core))

class Inbox {
  #core
  #prefix
  /** @type {any} */
  #subscription = null
  /** by subject @type {Map<string, { arrived: (message: any) => void, failed: (error: Error) => void }>} */
  #waiters = new Map()
  #next = 0

  /** @param {Core} core */
  constructor(core) {
    this.#core = core
    // The connection's prefix, if users may only receive there; clients that do not tell it have the usual one.
    this.#prefix = peer('transport-node').createInbox(core.connection.options?.inboxPrefix)
  }

  /**
   * @param {(message: any) => void} arrived  throws nothing
   * @param {(error: Error) => void} failed  the server allows no replies; throws nothing
   * @returns {string} a subject, whose messages `arrived` gets until `close`
   * @throws ERR_DISCONNECTED the connection was closed
   */
  open(arrived, failed) {
    const callback = (/** @type {any} */ error, /** @type {any} */ message) =>
      error ? this.#refused(error) : this.#waiters.get(message.subject)?.arrived(message)
    try {
      this.#subscription ??= this.#core.connection.subscribe(`${this.#prefix}.*`, { callback })
    } catch (error) {
      throw closed(error)
    }
    const subject = `${this.#prefix}.${(this.#next++).toString(36)}`
    this.#waiters.set(subject, { arrived, failed })
    return subject
  }

  /** @param {string} subject  that `open` gave */
  close(subject) {
    this.#waiters.delete(subject)
  }

  /** @param {Error} cause  the server allows no subscription */
  #refused(cause) {
    this.#subscription = null
    const error = refused(`allows no replies to ${this.#prefix}.*`, cause)
    for (const { failed } of [...this.#waiters.values()]) failed(error)
  }
}

/** @param {unknown} [cause] */
const closed = (cause) =>
  Object.assign(failure('ERR_DISCONNECTED', 'the connection was closed'), { cause })

module.exports = { Inbox, inboxOf, closed }
