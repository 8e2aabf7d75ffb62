'use strict'
// Callers' AbortSignals. They may be of another realm, or only look like one. Whatever they do, promises settle, and what they throw
// is the reason of the rejection.

const { failure } = require('./errors')
const { show } = require('./validate')

/**
 * A caller's signal. It is believed once: after it said that it was aborted, or threw, nothing that it says changes that.
 */
class Signal {
  #given

  /** @param {AbortSignal} given */
  constructor(given) {
    this.#given = given
    /** as far as is known */
    this.isAborted = false
    /** why it aborted, or what it threw @type {unknown} */
    this.reason = undefined
  }

  /** @param {() => boolean} asked  is it aborted? */
  #learn(asked) {
    if (this.isAborted) return
    let reason
    try {
      if (!asked()) return
      reason = this.#given.reason
    } catch (error) {
      reason = error
    }
    if (!this.isAborted) this.reason = reason
    this.isAborted = true
  }

  /**
   * Asks the signal, which may run any code; never throws.
   *
   * @returns {boolean} whether it is aborted
   */
  look() {
    this.#learn(() => this.#given.aborted)
    return this.isAborted
  }

  /**
   * Has stop called when the signal aborts, which may be at once.
   *
   * @param {() => void} stop  throws nothing; what it does a second time does nothing
   * @returns {() => void} ends that; throws nothing
   */
  follow(stop) {
    const given = this.#given
    /** @param {() => boolean} asked */
    const follower = (asked) => {
      this.#learn(asked)
      stop()
    }
    const group = followers.get(given) ?? new Followers(given)
    group.add(follower)
    return () => group.remove(follower)
  }
}

/** What was called by a signal, or what it threw @typedef {(asked: () => boolean) => void} Follower */

/** All who follow a caller's signal at a time, by one listener: of more than ten Node warns. */
class Followers {
  /** @param {AbortSignal} given */
  constructor(given) {
    this.given = given
    /** @type {Set<Follower>} */
    this.all = new Set()
    this.listener = () => this.tell(() => true)
  }

  /** @param {Follower} follower */
  add(follower) {
    this.all.add(follower)
    if (followers.get(this.given) === this) return
    followers.set(this.given, this)
    try {
      this.given.addEventListener('abort', this.listener)
    } catch (error) {
      followers.delete(this.given) // the next one asks it again
      this.tell(() => {
        throw error
      })
    }
  }

  /** @param {Follower} follower */
  remove(follower) {
    this.all.delete(follower)
    if (this.all.size > 0 || followers.get(this.given) !== this) return
    followers.delete(this.given)
    try {
      this.given.removeEventListener('abort', this.listener)
    } catch {} // the listener has nobody to tell any more
  }

  /** @param {() => boolean} asked */
  tell(asked) {
    for (const follower of [...this.all]) if (this.all.has(follower)) follower(asked)
  }
}

/** @type {WeakMap<AbortSignal, Followers>} */
const followers = new WeakMap()

/** A signal of ours, that many may follow: of an AbortSignal with more than ten listeners Node warns. */
class Stop extends Signal {
  /** @type {Set<() => void>} */
  #followers = new Set()

  constructor() {
    super(/** @type {any} */ (null))
  }

  /** @override */
  look() {
    return this.isAborted
  }

  /** @override @param {() => void} stop */
  follow(stop) {
    if (this.isAborted) stop()
    this.#followers.add(stop)
    return () => {
      this.#followers.delete(stop)
    }
  }

  /** @param {unknown} reason */
  abort(reason) {
    if (this.isAborted) return
    this.isAborted = true
    this.reason = reason
    for (const stop of [...this.#followers]) stop()
  }
}

/**
 * @param {any} signal  as a caller gave it
 * @returns {Signal | undefined}
 * @throws {TypeError} ERR_ARGUMENT · what its getters throw
 */
function signalOf(signal) {
  if (signal === undefined) return undefined
  const isSignal =
    signal !== null &&
    typeof signal === 'object' &&
    'aborted' in signal &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  if (isSignal) return new Signal(signal)
  throw failure('ERR_ARGUMENT', `signal is ${show(signal)}; an AbortSignal was expected`)
}

/**
 * Throws if the signal is aborted. This runs the caller's code: what was checked before may have changed, except what is held.
 *
 * @param {Signal | undefined} signal
 * @throws its reason
 */
function checkSignal(signal) {
  if (signal !== undefined && signal.look()) throw signal.reason
}

/**
 * What a promise gives, unless the signal aborts before.
 *
 * @template R
 * @param {Signal | undefined} signal
 * @param {Promise<R>} promise
 * @returns {Promise<R>} rejected with the signal's reason, or as promise
 */
function unlessAborted(signal, promise) {
  if (signal === undefined) return promise
  let leave = () => {}
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject)
    leave = signal.follow(() => reject(signal.reason))
    if (signal.look()) reject(signal.reason)
  }).finally(() => leave()) // at once where it is aborted: promise may never settle
}

module.exports = { Signal, Stop, signalOf, checkSignal, unlessAborted }
