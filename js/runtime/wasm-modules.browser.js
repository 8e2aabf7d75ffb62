'use strict'
// The parsers' WebAssembly module in browsers. Its bytes are in the bundle, because parseNpy and its like are synchronous and cannot
// wait for a fetch. init loads the other modules.

const { failure } = require('../base/errors')

/** Hexadecimal: wasm/bundle.mjs puts it here. Base64 hides repetitions from gzip. @type {string} */
const PARSERS = /** @type {any} */ (globalThis).SAMEBYTES_PARSERS

/**
 * @returns {WebAssembly.Module}
 * @throws ERR_UNSUPPORTED WebAssembly is not allowed here
 */
function compile() {
  const bytes = new Uint8Array(PARSERS.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(PARSERS.slice(2 * i, 2 * i + 2), 16)
  try {
    return new WebAssembly.Module(bytes)
  } catch (error) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the WASM module of the parsers cannot be compiled here; where a Content-Security-Policy has script-src, it has to list 'wasm-unsafe-eval': ${/** @type {Error} */ (error).message}`,
    )
  }
}

module.exports = { compile }
