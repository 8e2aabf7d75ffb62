'use strict'
// Paths, as callers give them.

const path = require('node:path')
const { fileURLToPath } = require('node:url')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/**
 * @param {unknown} place
 * @returns {string}
 */
function pathOf (place) {
  const given = place instanceof URL && place.protocol === 'file:' ? pathOfUrl(place) : place
  if (typeof given !== 'string' || given === '' || given.includes('\0')) throw failure('ERR_ARGUMENT', `path is ${show(place)}; a path or file: URL was expected`)
  return given
}

/** @param {URL} url @throws {TypeError} ERR_ARGUMENT another host, an escaped slash */
function pathOfUrl (url) {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw failure('ERR_ARGUMENT', `path is ${url.href}: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * @param {string} file
 * @param {readonly string[]} known
 */
function extensionOf (file, known) {
  const extension = path.extname(file).toLowerCase()
  if (!known.includes(extension)) throw failure('ERR_UNSUPPORTED', `${file} ends in none of ${known.join(', ')}`)
  return extension
}

module.exports = { pathOf, extensionOf }
