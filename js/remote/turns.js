'use strict'
// So many requests at once, of all files that are read as one; the others wait for their turn.

const MOST = 4

class Turns {
  constructor () {
    this.free = MOST
    /** @type {(() => void)[]} */
    this.waiting = []
  }

  /**
   * @template R
   * @param {() => Promise<R>} work
   * @returns {Promise<R>}
   */
  async run (work) {
    if (this.free > 0) this.free--
    else await new Promise(resolve => this.waiting.push(() => resolve(undefined)))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}

module.exports = { Turns }
