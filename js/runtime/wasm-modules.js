'use strict'
// WebAssembly modules of the package in Node, where they are files. In the bundle for browsers wasm-modules.browser.js
// takes this file's place.

const path = require('node:path')
const { failure } = require('../base/errors')
const { bundled, readModule, root } = require('./host')

/**
 * @param {string} name  of a file in dist/
 * @returns {WebAssembly.Module}
 * @throws ERR_UNSUPPORTED it cannot be read, or there is no WebAssembly
 */
function compile(name) {
  if (typeof WebAssembly !== 'object') {
    throw failure(
      'ERR_UNSUPPORTED',
      'this runtime has no WebAssembly: Node has none under --jitless, where only the native addon works',
    )
  }
  let bytes
  try {
    bytes = readModule(name)
  } catch (error) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the WASM module could not be read: ${reasonOf(/** @type {any} */ (error), name)}`,
    )
  }
  return new WebAssembly.Module(/** @type {Uint8Array<ArrayBuffer>} */ (bytes))
}

/**
 * @param {Error & { code?: string }} error
 * @param {string} name  of a file
 */
function reasonOf({ code, message }, name) {
  if (code === 'ENOENT') {
    return `${message}; ${bundled === '' ? 'the package was packed, or is a checkout, before it was built' : bundled}`
  }
  if (code !== 'ERR_ACCESS_DENIED') return message
  return `the permission model forbids it, --allow-fs-read=${path.join(root, 'dist', name)} allows it`
}

module.exports = { compile }
