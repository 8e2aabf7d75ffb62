'use strict'
// What WebAssembly's main module imports.

const { Math, Number, Object, Uint8Array, bufferOfMemory, charCodeAt, toExponential, toPrecision } = require('../base/primordials')

/**
 * A number as printf's %.*g has it, of 15 to 17 digits: of as few as tell it from all others. Halves of the last one are rounded up.
 *
 * @param {number} x
 * @returns {string} at most 24 characters
 */
function digitsOf (x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'nan' : x < 0 ? '-inf' : 'inf'
  if (x === 0) return Object.is(x, -0) ? '-0' : '0'
  let text = ''
  for (let n = 15; n <= 17 && Number(text) !== x; n++) text = Math.abs(x) < 1e-4 ? toExponential(x, n - 1) : toPrecision(x, n)
  let result = ''
  let zeros = '' // behind the point, unless a digit follows
  let isFraction = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === 'e') return `${result}e${text[i + 1]}${i + 3 === text.length ? '0' : ''}${text[i + 2]}${text[i + 3] ?? ''}${text[i + 4] ?? ''}`
    if (c === '.') isFraction = true
    if (isFraction && (c === '.' || c === '0')) {
      zeros += c
    } else {
      result += zeros + c
      zeros = ''
    }
  }
  return result
}

/**
 * @param {import('./wasm').WasmMemory} memory
 * @param {() => void} grows  called when the module made it grow
 * @returns {any} the imports
 */
function importsOf (memory, grows) {
  return {
    env: { memory, emscripten_notify_memory_growth: grows },
    samebytes: {
      write_digits (/** @type {number} */ at, /** @type {number} */ x) {
        const text = digitsOf(x)
        const bytes = new Uint8Array(bufferOfMemory(memory), at, text.length)
        for (let i = 0; i < text.length; i++) bytes[i] = charCodeAt(text, i)
      }
    }
  }
}

module.exports = { importsOf }
