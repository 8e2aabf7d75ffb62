'use strict'
// Memory for what is in files. The files themselves say how much, so it may be too much.

const { failure } = require('../base/errors')

/**
 * Calls fn, which allocates; its error becomes ERR_MEMORY.
 *
 * @template R
 * @param {number} nbytes
 * @param {() => R} fn  fails only without memory
 * @returns {R}
 */
function allocated(nbytes, fn) {
  try {
    return fn()
  } catch (error) {
    throw failure(
      'ERR_MEMORY',
      `${nbytes} bytes for what is in the file cannot be allocated: ${/** @type {Error} */ (error).message}`,
    )
  }
}

/**
 * @param {number} nbytes
 * @param {string} what  is to have them
 * @returns {Uint8Array<ArrayBuffer>}
 */
function newBytes(nbytes, what) {
  try {
    return new Uint8Array(nbytes)
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} bytes of ${what} cannot be allocated`)
  }
}

module.exports = { allocated, newBytes }
