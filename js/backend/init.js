'use strict'
// init in Node, where all is ready with the import. In the bundle for browsers init.browser.js takes this file's place.

const { optionsOfInit } = require('./init-options')

/** @typedef {import('./init-options').InitOptions} InitOptions */

/**
 * Makes the package ready: in a browser it fetches and compiles the WASM module, and everything else of the package
 * throws until this is done; in Node all is ready with the import, and nothing happens. Once it succeeded, another call
 * with the same options, or without any, does nothing; a call that failed may be repeated.
 *
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS, ERR_MEMORY · ERR_UNSUPPORTED no SIMD, shared memory in a page
 * that is not isolated, other options than before, a token of another version · ERR_IO, ERR_FORMAT the module cannot be had
 * or is none; all as rejections
 * @example
 * await init()
 */
async function init (options) {
  optionsOfInit(options)
}

module.exports = { init }
