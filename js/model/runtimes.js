'use strict'
// Finds onnxruntime and models in Node. In bundles for browsers runtimes.browser.js replaces this file.

const fs = require('node:fs/promises')
const { fileURLToPath } = require('node:url')
const { downloaded } = require('./download')
const { lazyFile } = require('../runtime/lazy')
const { instance } = require('./internals')

/** in order of preference */
const NAMES = ['onnxruntime-node', 'onnxruntime-web']

/**
 * Both by a literal name: bundlers and tracers of files (@vercel/nft) follow no other.
 *
 * @param {string} name
 * @returns {Promise<any>}
 */
const imported = (name) =>
  name === NAMES[0] ? import('onnxruntime-node') : import('onnxruntime-web')

/**
 * Imports onnxruntime, which the user installs.
 *
 * @returns {Promise<any>}
 */
async function findOrt() {
  keepQuiet()
  for (const name of NAMES) {
    let found
    try {
      found = await imported(name)
    } catch (error) {
      if (/** @type {any} */ (error).code === 'ERR_MODULE_NOT_FOUND') continue
      throw Object.assign(
        instance().failure(
          'ERR_UNSUPPORTED',
          `${name} is installed but could not be loaded: ${/** @type {Error} */ (error).message}`,
        ),
        { cause: error },
      )
    }
    return found.InferenceSession === undefined ? found.default : found
  }
  throw instance().failure(
    'ERR_UNSUPPORTED',
    `models need onnxruntime: npm install ${NAMES[0]} (or ${NAMES[1]}), or give it as the option ort`,
  )
}

/**
 * onnxruntime-node reports to its maker from 1.29 on, and keeps a number and a database in the user's folders, unless this variable is set
 * before it is loaded. In a worker process.env is a copy, so the addon sets the process' own.
 */
function keepQuiet() {
  const name = 'ORT_DISABLE_TELEMETRY'
  if (process.env[name] !== undefined) return // the user's decision
  process.env[name] = '1'
  const { backend } = instance().ffi
  if (!backend.isWasm) /** @type {any} */ (backend).addon.setDefault(name, '1')
}

const IS_URL = /^[a-z][a-z0-9+.-]+:/i // one letter is a drive of Windows

/**
 * What to make a session of: a path, not the file's bytes, because a model may have files beside it; of a URL the bytes.
 *
 * @param {string | URL} location
 * @returns {Promise<string | Uint8Array>}
 */
async function modelAt(location) {
  const { failure } = instance()
  const url =
    typeof location !== 'string'
      ? location
      : IS_URL.test(location) && URL.canParse(location)
        ? new URL(location)
        : null
  if (url !== null && url.protocol !== 'file:') return downloaded(url)
  const path = url === null ? /** @type {string} */ (location) : pathOfUrl(url)
  try {
    await fs.access(path)
  } catch (cause) {
    const { code, errno, message } = /** @type {any} */ (cause)
    const error =
      code === 'ENOENT' || code === 'ENOTDIR'
        ? failure('ERR_NOT_FOUND', `there is no model at ${path}`)
        : failure('ERR_IO', `the model at ${path} could not be read: ${message}`)
    throw Object.assign(error, { errno, path, cause })
  }
  return path
}

/** @param {URL} url @throws {TypeError} ERR_ARGUMENT another host, an escaped slash */
function pathOfUrl(url) {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw instance().failure(
      'ERR_ARGUMENT',
      `source is ${url.href}: ${/** @type {Error} */ (error).message}`,
    )
  }
}

/** onnxruntime's C library; null: pages have none @type {(() => typeof import('./library') & { LibraryRuns: typeof import('./library-run').LibraryRuns }) | null} */
const library = lazyFile(() => {
  keepQuiet()
  return { ...require('./library'), ...require('./library-run') }
})

/** @type {typeof import('./prepacked').checkStamp} */
const checkStamp = (model, version) => require('./prepacked').checkStamp(model, version)

module.exports = { findOrt, modelAt, library, checkStamp }
