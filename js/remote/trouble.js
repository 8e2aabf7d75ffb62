'use strict'
// What may go better at another attempt.

const { failure } = require('../base/errors')

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
  const inner = typeof cause?.cause?.code === 'string' ? cause.cause : cause // of Node's fetch
  const error = Object.assign(failure('ERR_IO', `${place} could not be read: ${textOf(inner)}${hint}`), { cause })
  return LASTING.test(inner?.code) ? error : new Trouble(error)
}

/** @param {any} error */
const textOf = error => String(error?.message || error?.code || error).split('\n')[0]

module.exports = { Trouble, networkTrouble }
