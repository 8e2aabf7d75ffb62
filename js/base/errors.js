'use strict'
// The errors that samebytes throws. Codes and classes come from C's list.

/** The `code` of errors: C's list, which a test compares. @typedef {'ERR_ARGUMENT' | 'ERR_SHAPE' | 'ERR_DTYPE' | 'ERR_BOUNDS' | 'ERR_CAST' | 'ERR_DISPOSED' | 'ERR_DETACHED' | 'ERR_STALE' | 'ERR_BUSY' | 'ERR_READ_ONLY' | 'ERR_ALIGNMENT' | 'ERR_OVERLAP' | 'ERR_MEMORY' | 'ERR_DEVICE' | 'ERR_UNSUPPORTED' | 'ERR_FORMAT' | 'ERR_NOT_FOUND' | 'ERR_MODEL' | 'ERR_IO' | 'ERR_EXISTS' | 'ERR_CUDA_CONTEXT_LOST'} ErrorCode */

/**
 * What samebytes throws where JavaScript has no class of its own for it; `code` is stable.
 *
 * @example
 * new SamebytesError('no such thing', 'ERR_UNSUPPORTED').code // 'ERR_UNSUPPORTED'
 */
class SamebytesError extends Error {
  /**
   * @param {string} message
   * @param {ErrorCode} code  such as 'ERR_DISPOSED'
   */
  constructor (message, code) {
    super(message)
    /** Stable, such as 'ERR_DISPOSED'; messages are not. @type {ErrorCode} */
    this.code = code
  }
}
Object.defineProperty(SamebytesError, 'name', { value: 'SamebytesError', configurable: true }) // bundlers give it another
Object.defineProperty(SamebytesError.prototype, 'name', { value: 'SamebytesError', configurable: true, writable: true })

/** @type {Record<string, ErrorConstructor | typeof SamebytesError>} */
const classes = { ERR_ARGUMENT: TypeError, ERR_BOUNDS: RangeError, ERR_MEMORY: RangeError, ERR_UNSUPPORTED: SamebytesError }

/**
 * Learns C's list of errors: [code without ERR_, class name], in the order of its numbers.
 *
 * @param {[string, string][]} list
 * @returns {string[]} codes by status number
 */
function learnErrors (list) {
  /** @type {Record<string, ErrorConstructor | typeof SamebytesError>} */
  const known = { TypeError, RangeError, SamebytesError }
  const codes = ['OK']
  for (const [code, name] of list) {
    classes['ERR_' + code] = known[name]
    codes.push('ERR_' + code)
  }
  return codes
}

/**
 * Makes an error with its code; the class is the one of C's list.
 *
 * @param {string} code
 * @param {string} message  names the argument, what was given and what was expected
 * @returns {Error & { code: string }}
 */
function failure (code, message) {
  const Class = classes[code]
  if (Class === undefined || Class === SamebytesError) return new SamebytesError(message, /** @type {ErrorCode} */ (code))
  const error = /** @type {Error & { code: string }} */ (new (/** @type {ErrorConstructor} */ (Class))(message))
  error.code = code
  return error
}

module.exports = { SamebytesError, learnErrors, failure }
