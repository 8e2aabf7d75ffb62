'use strict'
// Inflates on another thread, in browsers: inflater.js by the web's streams.

class Inflater {
  /**
   * @param {number} nbytes  that are expected
   * @param {(part: Uint8Array) => boolean} take  gets what comes out; false: no more is wanted
   */
  constructor(nbytes, take) {
    /** @type {Error | null} */
    this.fault = null
    /** What is added from now on is ignored: the data ended or was wrong, or no more was wanted. */
    this.isOver = false
    /** null: there are no such streams, as in an AudioWorklet @type {WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> | null} */
    this.writer = null
    /** nothing comes out any more @type {Promise<void>} */
    this.over = this.read(take)
  }

  /** @param {(part: Uint8Array) => boolean} take */
  async read(take) {
    try {
      const { readable, writable } = new DecompressionStream('deflate-raw')
      this.writer = writable.getWriter()
      const reader = readable.getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        if (take(value)) continue
        await reader.cancel()
        break
      }
    } catch (error) {
      this.fault = /** @type {Error} */ (error)
    }
    this.isOver = true
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} packed
   * @returns {Promise<void>} settles once they were inflated
   */
  add(packed) {
    return Promise.race([this.over, this.writer?.write(packed).catch(() => {})]) // read() gets the error as well
  }

  /** Nothing is added any more. @returns {Promise<Error | null>} what was wrong with the data, once all of it came out */
  async end() {
    this.writer?.close().catch(() => {})
    await this.over
    return this.fault
  }

  close() {
    this.writer?.abort().catch(() => {})
  }
}

module.exports = { Inflater }
