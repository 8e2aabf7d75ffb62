'use strict'
// Finds onnxruntime and models in a page.

const { downloaded } = require('./download')
const { instance } = require('./internals')

/**
 * Imports onnxruntime-web, by the page's bundler or import map.
 *
 * @returns {Promise<any>}
 */
async function findOrt() {
  try {
    return await import('onnxruntime-web')
  } catch (cause) {
    const error = instance().failure(
      'ERR_UNSUPPORTED',
      `models need onnxruntime-web, by an import map, a bundler or as the option ort: ${/** @type {Error} */ (cause).message}`,
    )
    error.cause = cause
    throw error
  }
}

module.exports = { findOrt, modelAt: downloaded }
