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
const disconnected = (why = 'the connection was lost') => failure('ERR_DISCONNECTED', `${why}; what was pending may or may not have arrived`)

class Link {
  /** @type {Set<Follower>} */
  #followers = new Set()
  /** of this turn @type {Promise<void> | null} */
  #flushing = null
  /** a client of JetStream, made when it is first needed @type {any} */
  jetstream = undefined

  /** @param {any} connection */
  constructor (connection) {
    this.connection = connection
    this.isConnected = !connection.isClosed() && connection.info !== undefined
    this.#watch()
  }

  /** Ends with the connection; throws nothing. */
  async #watch () {
    try {
      for await (const status of this.connection.status()) {
        if (status.type === 'disconnect') this.#lose()
        else if (status.type === 'reconnect') this.#restore()
        else if (status.type === 'error') this.#refuse(status.error)
        else if (status.type === 'close') break
      }
    } catch {} // the connection is gone
    this.#lose()
    for (const { closed } of [...this.#followers]) closed?.()
  }

  #lose () {
    this.isConnected = false
    for (const { lost } of [...this.#followers]) lost?.()
  }

  #restore () {
    this.isConnected = true
    for (const { restored } of [...this.#followers]) restored?.()
  }

  /** @param {any} error */
  #refuse (error) {
    if (error?.operation !== 'publish') return
    for (const { refused } of [...this.#followers]) refused?.(error.subject, error)
  }

  /** @param {Follower} follower @returns {() => void} ends that */
  follow (follower) {
    this.#followers.add(follower)
    return () => { this.#followers.delete(follower) }
  }

  /** @throws ERR_DISCONNECTED */
  check () {
    if (this.connection.isClosed()) throw failure('ERR_DISCONNECTED', 'the connection is closed')
    if (!this.isConnected) throw failure('ERR_DISCONNECTED', 'the connection is being made again; nothing was sent')
  }

  /**
   * A promise that also rejects when the connection is lost, at once.
   *
   * @template R
   * @param {Promise<R>} promise  of the client
   * @returns {Promise<R>}
   */
  guarded (promise) {
    return new Promise((resolve, reject) => {
      const leave = this.follow({ lost () { leave(); reject(disconnected()) } })
      promise.then(result => { leave(); resolve(result) }, error => { leave(); reject(error) })
    })
  }

  /**
   * A promise that also rejects where the server refuses to take messages of a subject.
   *
   * @template R
   * @param {string} subject
   * @param {Promise<R>} promise
   * @returns {Promise<R>}
   */
  permitted (subject, promise) {
    return new Promise((resolve, reject) => {
      /** @param {string} name @param {Error} error */
      const refuse = (name, error) => { if (name === subject) reject(Object.assign(failure('ERR_REMOTE', `the server refuses to take '${subject}': ${error.message}`), { remoteCode: 'PERMISSIONS_VIOLATION', cause: error })) }
      const leave = this.follow({ refused: refuse })
      promise.then(result => { leave(); resolve(result) }, error => { leave(); reject(error) })
    })
  }

  /**
   * Waits until the server has all that was published before the end of this turn's microtask: one round trip for all callers.
   *
   * @returns {Promise<void>}
   * @throws ERR_DISCONNECTED as a rejection
   */
  flushSoon () {
    if (this.#flushing === null) {
      this.#flushing = new Promise((resolve, reject) => {
        queueMicrotask(() => {
          this.#flushing = null
          this.flush().then(resolve, reject)
        })
      })
    }
    return this.#flushing
  }

  /**
   * The same of what was published until now, which is handed to the socket before this returns.
   *
   * @returns {Promise<void>}
   */
  async flush () {
    try {
      await this.guarded(this.connection.flush())
    } catch (/** @type {any} */ error) {
      throw error?.code === 'ERR_DISCONNECTED' ? error : Object.assign(disconnected(), { cause: error })
    }
    await new Promise(resolve => { process.nextTick(resolve) }) // a refusal that came before it has been told then
  }
}

/**
 * @param {any} connection
 * @returns {Link}
 */
function linkOf (connection) {
  const known = links.get(connection)
  if (known !== undefined) return known
  const link = new Link(connection)
  links.set(connection, link)
  return link
}

module.exports = { Link, linkOf, disconnected }
