'use strict'
// WebAssembly modules in browsers. The bytes of that of the parsers are in the bundle, because parseNpy and its like are synchronous and
// cannot wait for a fetch. init loads the other modules.

const { failure } = require('../base/errors')

/** Hexadecimal: wasm/bundle.mjs puts it here. Base64 hides repetitions from gzip. @type {string} */
const PARSERS = /** @type {any} */ (globalThis).SAMEBYTES_PARSERS

/** Modules that init has loaded, by the names of their files. @type {Record<string, WebAssembly.Module>} */
const loaded = {}

/**
 * @param {string} name  of the module's file
 * @param {WebAssembly.Module} module
 */
function keepModule (name, module) {
  loaded[name] = module
}

/**
 * @param {string} name  of the module's file: loaded before, or that of the parsers
 * @returns {WebAssembly.Module}
 * @throws ERR_UNSUPPORTED WebAssembly is not allowed here
 */
function compile (name) {
  if (loaded[name] !== undefined) return loaded[name]
  const bytes = new Uint8Array(PARSERS.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(PARSERS.slice(2 * i, 2 * i + 2), 16)
  try {
    return new WebAssembly.Module(bytes)
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `the WASM module of the parsers cannot be compiled here; where a Content-Security-Policy has script-src, it has to list 'wasm-unsafe-eval': ${/** @type {Error} */ (error).message}`)
  }
}

module.exports = { compile, keepModule }
