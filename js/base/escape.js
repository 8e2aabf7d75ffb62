'use strict'
// Text of others, such as names in files, fit for a terminal. For programs and logs: messages keep what they are about as it is.

/** Controls (of terminals above all), what changes the direction of text, halves of pairs, other ends of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t']])

/**
 * One line, of nothing but what can be seen.
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
