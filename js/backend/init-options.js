'use strict'
// Validates init's options, in Node and in browsers.

const { failure } = require('../base/errors')
const { optionsOf, show } = require('../base/validate')

const LARGEST = 2 ** 32 // bytes that WASM can address

/** @typedef {URL | string | Response | ArrayBuffer | ArrayBufferView | import('../base/types').WasmModule} ModuleSource */

/**
 * @typedef {object} InitOptions
 * @property {ModuleSource | undefined} [wasm]  the module or its URL;
 * default: the file beside the package's own
 * @property {boolean | 'auto' | undefined} [shared]  memory that workers can join; default: false. 'auto': if the page is cross-origin isolated, has Web Locks,
 * and the device room for it
 * @property {import('../sharing/tokens').Token | undefined} [from]  of another thread, whose memory this thread joins; one that carries a copy has none to join, and says nothing
 * @property {number | undefined} [initialMemory]  bytes of memory at the start
 * @property {number | undefined} [maximumMemory]  bytes that memory may grow to; default: 4 GiB, shared memory a half, a quarter and so on where the device refuses that (memory().maximum tells)
 * @property {ModuleSource | boolean | undefined} [math]  makes samebytes/math ready as well, where it is imported; its WASM module or that one's URL,
 * true for the file beside the package's own; default: false
 * @property {ModuleSource | boolean | undefined} [algorithms]  the WASM module of samebytes/math's algorithms (linalg and so on) or its URL, true for the file beside
 * the package's own, false for none; default: samebytes-algorithms.wasm beside the file that math is. Where that cannot be read, algorithms throw, and arithmetic works
 */

/**
 * @param {unknown} given
 * @returns {InitOptions}
 */
function optionsOfInit(given) {
  if (given === undefined) return {}
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw failure('ERR_ARGUMENT', `options is ${show(given)}; an object was expected`)
  }
  optionsOf(
    given,
    ['wasm', 'shared', 'from', 'initialMemory', 'maximumMemory', 'math', 'algorithms'],
    'init',
  )
  const { wasm, shared, from, initialMemory, maximumMemory, math, algorithms } =
    /** @type {InitOptions} */ (given)
  if (shared !== undefined && shared !== 'auto' && typeof shared !== 'boolean') {
    throw failure('ERR_ARGUMENT', `shared is ${show(shared)}; true, false or 'auto' was expected`)
  }
  if (from !== undefined && (from === null || typeof from !== 'object' || Array.isArray(from))) {
    throw failure('ERR_ARGUMENT', `from is ${show(from)}; a token of share() was expected`)
  }
  checkBytes('initialMemory', initialMemory)
  checkBytes('maximumMemory', maximumMemory)
  if (/** @type {number} */ (initialMemory) > /** @type {number} */ (maximumMemory)) {
    throw failure(
      'ERR_BOUNDS',
      `initialMemory is ${initialMemory}, more than maximumMemory, ${maximumMemory}`,
    )
  }
  checkSource('math', math)
  checkSource('algorithms', algorithms)
  return { wasm, shared, from, initialMemory, maximumMemory, math, algorithms }
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function checkSource(name, value) {
  if (
    value === undefined ||
    typeof value === 'boolean' ||
    typeof value === 'string' ||
    (value !== null && typeof value === 'object')
  ) {
    return
  }
  throw failure(
    'ERR_ARGUMENT',
    `${name} is ${show(value)}; true, false, a URL, a Response, an ArrayBuffer or a WebAssembly.Module was expected`,
  )
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function checkBytes(name, value) {
  if (value === undefined) return
  if (typeof value !== 'number') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number of bytes was expected`)
  }
  if (!(value > 0 && value <= LARGEST)) {
    throw failure('ERR_BOUNDS', `${name} is ${value}; 1 to ${LARGEST} bytes are possible`)
  }
}

module.exports = { optionsOfInit }
