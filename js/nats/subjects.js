'use strict'
// Checks of subjects, before the client or the server sees them.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')

const MOST_BYTES = 1024 // of a subject; a server closes the connection of who sends it longer lines than 4096

/**
 * @param {unknown} subject  to publish to
 * @returns {string}
 * @throws {TypeError} ERR_ARGUMENT
 */
function subjectOf(subject) {
  const text = patternOf(subject)
  if (text.split('.').some((token) => token === '*' || token === '>')) {
    throw failure('ERR_ARGUMENT', `subject is ${show(text)}; one without wildcards was expected`)
  }
  return text
}

/**
 * @param {unknown} subject  to subscribe to: may have wildcards
 * @returns {string}
 * @throws {TypeError} ERR_ARGUMENT
 */
function patternOf(subject) {
  const tokens = typeof subject === 'string' ? subject.split('.') : ['']
  const isName = (/** @type {string} */ token, /** @type {number} */ i) =>
    token !== '' && (token !== '>' || i === tokens.length - 1)
  if (
    typeof subject !== 'string' ||
    /[\s\0]/.test(subject) ||
    Buffer.byteLength(subject) > MOST_BYTES ||
    !tokens.every(isName)
  ) {
    throw failure(
      'ERR_ARGUMENT',
      `subject is ${show(typeof subject === 'string' ? subject.slice(0, 100) : subject)}; names joined by dots, without spaces, at most ${MOST_BYTES} bytes, were expected`,
    )
  }
  return subject
}

/**
 * May an answer go to a subject that a message names? What begins with $ is the server's: an answer there may be an order, such as to delete a stream, with this user's
 * permissions. A long one makes a line for which the server closes the connection.
 *
 * @param {string} subject
 */
const takesAnswers = (subject) =>
  subject !== '' && !subject.startsWith('$') && Buffer.byteLength(subject) <= MOST_BYTES

module.exports = { subjectOf, patternOf, takesAnswers }
