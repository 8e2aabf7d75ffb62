'use strict'
// Escapes text from outside, such as names in files, for terminals and logs. Error messages keep it as it is.

/** Control characters, changes of direction, lone surrogates, line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t']])

/**
 * One line of visible characters; others are escaped.
 *
 * @param {string} text
 * @returns {string}
 */
function plain (text) {
  return text.replace(UNSEEN, c => {
    const code = /** @type {number} */ (c.codePointAt(0))
    return SHORT.get(c) ?? (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
  })
}

module.exports = { plain, UNSEEN }
