'use strict'
// What may go better at another attempt.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/** A request that failed, and may be tried again. */
class Trouble extends Error {
  /**
   * @param {Error} error  what is thrown where no attempt is left
   * @param {number} [wait]  ms that the server asks to wait for
   */
  constructor (error, wait = 0) {
    super(error.message)
    this.error = error
    this.wait = wait
  }
}

/** Errors that another attempt meets as well: of TLS, and of answers that are not HTTP. */
const LASTING = /^(HPE_|ERR_TLS|ERR_SSL|ERR_INVALID|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/

/**
 * What the network or a fetch says, as an error of ours.
 *
 * @param {string} place
 * @param {any} cause
 * @param {string} [hint]  at what may be behind it
 * @returns {Error} a Trouble unless it is lasting
 */
function networkTrouble (place, cause, hint = '') {
  const { text, isLasting } = told(cause)
  const error = Object.assign(failure('ERR_IO', `${place} could not be read: ${text}${hint}`), { cause })
  return isLasting ? error : new Trouble(error)
}

/** What an error says of itself; a caller's fetch may throw anything. @param {any} cause @returns {{ text: string, isLasting: boolean }} */
function told (cause) {
  try {
    const error = typeof cause?.cause?.code === 'string' ? cause.cause : cause // of Node's fetch
    return { text: String(error?.message || error?.code || error).split('\n')[0], isLasting: LASTING.test(error?.code) }
  } catch {
    return { text: show(cause), isLasting: false }
  }
}

module.exports = { Trouble, networkTrouble }
