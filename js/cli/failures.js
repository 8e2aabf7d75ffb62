'use strict'
// Errors as the program prints them: one sentence and the code.

const { plain, note, styled } = require('./output')

const FAILED = 1

/**
 * Calls what, whose errors get the file's name; those of its promise as well.
 *
 * @template T
 * @param {string} label  of the file
 * @param {() => T} what
 * @returns {T}
 */
function about (label, what) {
  /** @param {any} error @returns {never} */
  const named = error => {
    // Only the parsers' errors: the messages of others have the name.
    if ((error?.code === 'ERR_FORMAT' || error?.code === 'ERR_DTYPE') && !String(error.message).startsWith(label)) error.message = `${label}: ${error.message}`
    throw error
  }
  try {
    const result = what()
    return result instanceof Promise ? /** @type {any} */ (result.catch(named)) : result
  } catch (error) {
    return named(error)
  }
}

/**
 * Prints an error's message and code, without its stack.
 *
 * @param {string} who  program and command
 * @param {any} error
 * @returns {number} exit status
 */
function failed (who, error) {
  const message = plain(String(error?.message ?? error))
  note(`${styled('red', `${who}:`, process.stderr)} ${message}${typeof error?.code === 'string' ? ` (${plain(error.code)})` : ''}`)
  if (/\bsamebytes\b/i.test(process.env.NODE_DEBUG ?? '') && error?.stack !== undefined) note(plain(error.stack).replaceAll('\\n', '\n'))
  return FAILED
}

module.exports = { about, failed }
