'use strict'
// Inflates on another thread, in Node. In browsers inflater.browser.js takes this file's place.

const PART = 2 ** 18 // bytes that come out at a time, at most

class Inflater {
  /**
   * @param {number} nbytes  that are expected
   * @param {(part: Uint8Array) => boolean} take  gets what comes out; false: no more is wanted
   */
  constructor(nbytes, take) {
    /** @type {Error | null} */
    this.fault = null
    const chunkSize = Math.max(64, Math.min(nbytes + 1, PART))
    this.stream = require('node:zlib').createInflateRaw({ chunkSize })
    this.stream.on('data', (part) => {
      if (!take(part)) this.stream.destroy()
    })
    /** nothing comes out any more @type {Promise<void>} */
    this.over = new Promise((resolve) => {
      this.stream.on('error', (error) => (this.fault = error))
      for (const event of ['end', 'error', 'close']) this.stream.on(event, () => resolve())
    })
  }

  /** What is added from now on is ignored: the data ended or was wrong, or no more was wanted. */
  get isOver() {
    return this.stream.destroyed || this.stream.readableEnded
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} packed
   * @returns {Promise<void>} settles once they were inflated
   */
  add(packed) {
    const used = new Promise((resolve) => this.stream.write(packed, () => resolve(undefined)))
    return Promise.race([this.over, used])
  }

  /** Nothing is added any more. @returns {Promise<Error | null>} what was wrong with the data, once all of it came out */
  async end() {
    this.stream.end()
    await this.over
    return this.fault
  }

  close() {
    this.stream.destroy()
  }
}

module.exports = { Inflater }
