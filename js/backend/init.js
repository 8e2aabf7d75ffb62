'use strict'
// init in Node, where the import makes everything ready. In the bundle for browsers init.browser.js takes this file's place.

const { optionsOfInit } = require('./init-options')

/** @typedef {import('./init-options').InitOptions} InitOptions */

/**
 * Makes the package ready. In a browser it fetches and compiles the WASM module; until it is done, the package's other functions
 * throw. In Node the import makes everything ready, and init only checks its options. After a success, a call with the same options
 * or none does nothing. After a failure it may be called again.
 *
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS, ERR_MEMORY · ERR_UNSUPPORTED no SIMD, shared memory in a page
 * that is not isolated or has no Web Locks, other options than before, a token of another version · ERR_IO the module cannot be read · ERR_FORMAT it is
 * no WASM module, or not samebytes'; all as rejections
 * @example
 * await init()
 */
async function init(options) {
  optionsOfInit(options)
}

module.exports = { init }
