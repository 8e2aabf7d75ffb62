'use strict'
// Finds onnxruntime and models in a page.

const { instance } = require('./internals')

/**
 * Imports onnxruntime-web, by the page's bundler or import map.
 *
 * @returns {Promise<any>}
 */
async function findOrt () {
  try {
    return await import('onnxruntime-web')
  } catch (cause) {
    const error = instance().failure('ERR_UNSUPPORTED', `models need onnxruntime-web, by an import map, a bundler or as the option ort: ${/** @type {Error} */ (cause).message}`)
    error.cause = cause
    throw error
  }
}

/**
 * Fetches the bytes of a model.
 *
 * @param {string | URL} place
 * @returns {Promise<Uint8Array>}
 */
async function modelAt (place) {
  const { failure } = instance()
  let response
  try {
    response = await fetch(place)
    if (response.ok) return new Uint8Array(await response.arrayBuffer())
  } catch (error) {
    throw failure('ERR_IO', `the model at ${place} could not be read: ${/** @type {Error} */ (error).message}`)
  }
  if (response.status === 404) throw failure('ERR_NOT_FOUND', `there is no model at ${place}`)
  throw failure('ERR_IO', `the model at ${place} could not be read: ${response.status} ${response.statusText}`)
}

module.exports = { findOrt, modelAt }
