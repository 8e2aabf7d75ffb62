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
    const text = `models need onnxruntime-web, by an import map, a bundler or as the option ort: ${/** @type {Error} */ (cause).message}`
    throw Object.assign(instance().failure('ERR_UNSUPPORTED', text), { cause })
  }
}

/** pages have no C library */
const library = null

/** A model that was prepacked is for Node. */
const checkStamp = () => {}

module.exports = { findOrt, modelAt: downloaded, library, checkStamp }
