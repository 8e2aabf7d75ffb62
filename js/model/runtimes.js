'use strict'
// Finds onnxruntime and models in Node. In bundles for browsers runtimes.browser.js replaces this file.

const fs = require('node:fs/promises')
const { fileURLToPath } = require('node:url')
const { instance } = require('./internals')

/** in order of preference */
const NAMES = ['onnxruntime-node', 'onnxruntime-web']

/**
 * Imports onnxruntime, which the user installs.
 *
 * @returns {Promise<any>}
 */
async function findOrt () {
  for (const name of NAMES) {
    let found
    try {
      found = await import(name)
    } catch (error) {
      if (/** @type {any} */ (error).code === 'ERR_MODULE_NOT_FOUND') continue
      throw unusable(name, error)
    }
    return found.InferenceSession === undefined ? found.default : found
  }
  throw instance().failure('ERR_UNSUPPORTED', `models need onnxruntime: npm install ${NAMES[0]} (or ${NAMES[1]}), or give it as the option ort`)
}

/**
 * @param {string} name
 * @param {unknown} cause
 */
function unusable (name, cause) {
  const error = instance().failure('ERR_UNSUPPORTED', `${name} is installed but could not be loaded: ${/** @type {Error} */ (cause).message}`)
  error.cause = cause
  return error
}

/**
 * The path to make a session of. Not the file's bytes, because a model may have files beside it.
 *
 * @param {string | URL} place
 * @returns {Promise<string>}
 */
async function modelAt (place) {
  const { failure } = instance()
  const path = typeof place === 'string' ? place : pathOfUrl(place)
  try {
    await fs.access(path)
  } catch (cause) {
    const { code, errno, message } = /** @type {any} */ (cause)
    const error = code === 'ENOENT' || code === 'ENOTDIR' ? failure('ERR_NOT_FOUND', `there is no model at ${path}`) : failure('ERR_IO', `the model at ${path} could not be read: ${message}`)
    throw Object.assign(error, { errno, path, cause })
  }
  return path
}

/** @param {URL} url */
function pathOfUrl (url) {
  if (url.protocol !== 'file:') throw instance().failure('ERR_UNSUPPORTED', `the model is at ${url.href}; in Node it comes from a file or from bytes`)
  return fileURLToPath(url)
}

module.exports = { findOrt, modelAt }
