'use strict'
// Waiting for a connection that comes and goes.

const { failure } = require('../base/errors')
const { checkSignal, unlessAborted } = require('../base/signals')

/** @typedef {import('../base/signals').Signal} Signal */

/** Who waits here is woken by acknowledgements, messages, the signal, and when the connection is lost or back. */
class Waits {
  /** @param {any} core  a bus's @param {number} timeout  milliseconds without progress @param {Signal | undefined} signal */
  constructor(core, timeout, signal) {
    this.core = core
    this.timeout = timeout
    this.signal = signal
    this.isLost = false
    this.woken = false
    this.progressed = Date.now()
    /** @type {(() => void) | null} */
    this.resolve = null
    const wake = () => this.wake()
    const lost = () => {
      this.isLost = true
      this.wake()
    }
    const leaveLink = core.link.follow({ lost, restored: wake, closed: wake })
    const leaveSignal = signal?.follow(wake)
    this.close = () => {
      leaveLink()
      leaveSignal?.()
    }
  }

  wake() {
    this.woken = true
    this.resolve?.()
  }

  /** Something was sent or received. */
  progress() {
    this.progressed = Date.now()
  }

  /**
   * Waits until woken, or for some time.
   *
   * @param {number} ms
   * @returns {Promise<boolean>} woken?
   * @throws the signal's reason · ERR_DISCONNECTED closed, or without progress for too long
   */
  async wait(ms) {
    if (!this.woken) {
      /** @type {any} */
      let timer
      await new Promise((resolve) => {
        this.resolve = () => resolve(undefined)
        timer = setTimeout(this.resolve, ms)
      })
      clearTimeout(timer)
      this.resolve = null
    }
    const { woken } = this
    this.woken = false
    this.check()
    return woken
  }

  /** @throws as wait */
  check() {
    checkSignal(this.signal)
    if (this.core.connection.isClosed()) {
      throw failure('ERR_DISCONNECTED', 'the connection was closed')
    }
    if (Date.now() - this.progressed > this.timeout) {
      throw failure('ERR_DISCONNECTED', `nothing came from the server for ${this.timeout} ms`)
    }
  }

  /** Waits until the server can be spoken to. */
  async connected() {
    this.check()
    while (!this.core.isConnected()) await this.wait(1000)
    this.isLost = false
  }

  /**
   * The promise's value, or the signal's reason if that is earlier.
   *
   * @template R
   * @param {Promise<R>} promise
   * @returns {Promise<R>}
   */
  orAborted(promise) {
    return unlessAborted(this.signal, promise)
  }
}

module.exports = { Waits }
