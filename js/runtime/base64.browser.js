'use strict'
// Base64 of the modules in samebytes-inline.mjs. An AudioWorklet has no atob.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * @param {string} text  base64, padded
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOfBase64(text) {
  const values = new Uint8Array(128)
  for (let i = 0; i < DIGITS.length; i++) values[DIGITS.charCodeAt(i)] = i
  const n = (text.length / 4) * 3
  const bytes = new Uint8Array(n)
  for (let from = 0, to = 0; from < text.length; from += 4) {
    const [a, b, c, d] = [
      values[text.charCodeAt(from)],
      values[text.charCodeAt(from + 1)],
      values[text.charCodeAt(from + 2)],
      values[text.charCodeAt(from + 3)],
    ]
    bytes[to++] = (a << 2) | (b >> 4)
    bytes[to++] = (b << 4) | (c >> 2)
    bytes[to++] = (c << 6) | d
  }
  return bytes.subarray(0, n - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0))
}

module.exports = { bytesOfBase64 }
