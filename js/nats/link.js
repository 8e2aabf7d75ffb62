'use strict'
// What a bus knows of its connection: whether it is up, what to tell when it goes down, and one round trip for all that was sent in a turn.

const { failure } = require('../base/errors')

/**
 * Who is told of the connection; throws nothing.
 *
 * @typedef {object} Follower
 * @property {(() => void) | undefined} [lost]  it may come back
 * @property {(() => void) | undefined} [restored]
 * @property {((subject: string, error: Error) => void) | undefined} [refused]  the server does not take what was published
 * @property {(() => void) | undefined} [closed]  for good
 */

/** one for each connection @type {WeakMap<object, Link>} */
const links = new WeakMap()

/** @param {string} [why] */
const disconnected = (why = 'the connection was lost') =>
  failure('ERR_DISCONNECTED', `${why}; what was pending may or may not have arrived`)

/** The server does not allow it. @param {string} what  it does @param {any} cause  of the client */
function refused(what, cause) {
  const error = failure('ERR_REMOTE', `the server ${what}: ${cause.message}`)
  return Object.assign(error, { remoteCode: 'PERMISSIONS_VIOLATION', cause })
}

/**
 * Did nobody listen to a request of JetStream's client? It says `JetStreamNotEnabled`. Where it has another version than the connection, each has a copy of @nats-io/nats-core,
 * and the connection's error comes as it is.
 *
 * @param {any} error  of the client
 * @returns {boolean}
 */
const isUnanswered = (error) =>
  error?.name === 'JetStreamNotEnabled' || error?.isNoResponders?.() === true

class Link {
  /** @type {Set<Follower>} */
  #followers = new Set()
  /** of this turn @type {Promise<void> | null} */
  #flushing = null
  /** a client of JetStream, made when it is first needed @type {any} */
  jetstream = undefined

  /** @param {any} connection */
  constructor(connection) {
    this.connection = connection
    this.isConnected = !connection.isClosed() && connection.info !== undefined
    this.#watch()
  }

  /** Ends with the connection; throws nothing. */
  async #watch() {
    try {
      for await (const { type, error } of this.connection.status()) {
        if (type === 'disconnect') this.#lose()
        else if (type === 'close') break
        else if (type === 'error' && error?.operation === 'publish') {
          this.#tell(({ refused }) => refused?.(error.subject, error))
        } else if (type === 'reconnect') {
          this.isConnected = true
          this.#tell(({ restored }) => restored?.())
        }
      }
    } catch {} // the connection is gone
    this.#lose()
    this.#tell(({ closed }) => closed?.())
  }

  #lose() {
    this.isConnected = false
    this.#tell(({ lost }) => lost?.())
  }

  /** @param {(follower: Follower) => void} tell */
  #tell(tell) {
    for (const follower of [...this.#followers]) tell(follower)
  }

  /** @param {Follower} follower @returns {() => void} ends that */
  follow(follower) {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** @throws ERR_DISCONNECTED */
  check() {
    if (this.connection.isClosed()) throw failure('ERR_DISCONNECTED', 'the connection is closed')
    if (!this.isConnected) {
      throw failure('ERR_DISCONNECTED', 'the connection is being made again; nothing was sent')
    }
  }

  /**
   * A promise that also rejects when the connection is lost, at once.
   *
   * @template R
   * @param {Promise<R>} promise  of the client
   * @returns {Promise<R>}
   */
  guarded(promise) {
    return this.#following(promise, (reject) => ({ lost: () => reject(disconnected()) }))
  }

  /**
   * A promise that also rejects where the server refuses to take messages of a subject.
   *
   * @template R
   * @param {string} subject
   * @param {Promise<R>} promise
   * @returns {Promise<R>}
   */
  permitted(subject, promise) {
    return this.#following(promise, (reject) => ({
      refused(name, error) {
        if (name === subject) reject(refused(`refuses to take '${subject}'`, error))
      },
    }))
  }

  /**
   * A promise that a follower may reject.
   *
   * @template R
   * @param {Promise<R>} promise
   * @param {(reject: (error: Error) => void) => Follower} followerFor
   * @returns {Promise<R>}
   */
  #following(promise, followerFor) {
    return new Promise((resolve, reject) => {
      const fail = (/** @type {Error} */ error) => {
        leave()
        reject(error)
      }
      const leave = this.follow(followerFor(fail))
      promise.finally(leave).then(resolve, reject)
    })
  }

  /**
   * Waits until the server has all that was published before the end of this turn's microtask: one round trip for all callers.
   *
   * @returns {Promise<void>}
   * @throws ERR_DISCONNECTED as a rejection
   */
  flushSoon() {
    this.#flushing ??= new Promise((resolve, reject) => {
      queueMicrotask(() => {
        this.#flushing = null
        this.flush().then(resolve, reject)
      })
    })
    return this.#flushing
  }

  /**
   * The same of what was published until now, which is handed to the socket before this returns.
   *
   * @returns {Promise<void>}
   */
  async flush() {
    try {
      await this.guarded(this.connection.flush())
    } catch (/** @type {any} */ error) {
      throw error?.code === 'ERR_DISCONNECTED'
        ? error
        : Object.assign(disconnected(), { cause: error })
    }
    await new Promise((resolve) => process.nextTick(resolve)) // a refusal that came before it has been told then
  }
}

/**
 * @param {any} connection
 * @returns {Link}
 */
function linkOf(connection) {
  let link = links.get(connection)
  if (link === undefined) links.set(connection, (link = new Link(connection)))
  return link
}

module.exports = { Link, linkOf, disconnected, isUnanswered, refused }
