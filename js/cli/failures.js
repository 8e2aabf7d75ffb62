'use strict'
// What the program says of what went wrong: one sentence and its code.

const { plain, note, styled } = require('./output')

const FAILED = 1

/**
 * Does something with a file; what is wrong with it is said with the file's name.
 *
 * @template T
 * @param {string} label  of the file
 * @param {() => T} what
 * @returns {T}
 */
function about (label, what) {
  try {
    return what()
  } catch (/** @type {any} */ error) {
    // Only what a reader says of bytes: other messages name the file, or what of it is meant.
    if ((error?.code === 'ERR_FORMAT' || error?.code === 'ERR_DTYPE') && !String(error.message).startsWith(label)) error.message = `${label}: ${error.message}`
    throw error
  }
}

/**
 * One sentence and no stack: what went wrong is the file's or the caller's, and its code says what it is.
 *
 * @param {string} who
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
