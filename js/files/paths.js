'use strict'
// Paths as callers give them.

const path = require('node:path')
const { fileURLToPath } = require('node:url')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/**
 * @param {unknown} given
 * @param {string} [fetching]  what reads a file at a URL, for the message; of functions that write a file nothing does
 * @returns {string}
 * @throws {TypeError} ERR_ARGUMENT
 */
function pathOf (given, fetching = undefined) {
  const file = given instanceof URL && given.protocol === 'file:' ? pathOfUrl(given) : given
  if (file instanceof URL || (typeof file === 'string' && IS_URL.test(file))) throw failure('ERR_ARGUMENT', `path is a URL of ${protocolOf(file)}; a path or file: URL was expected${fetching === undefined ? '' : `, ${fetching} reads a file at a URL`}`)
  if (typeof file !== 'string' || file === '' || file.includes('\0')) throw failure('ERR_ARGUMENT', `path is ${show(file)}; a path or file: URL was expected`)
  return file
}

const IS_URL = /^https?:\/\//i

/** @param {URL | string} url  of which more may be secret */
const protocolOf = url => url instanceof URL ? url.protocol : url.slice(0, url.indexOf(':') + 1).toLowerCase()

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
 * @returns {string} the extension in lower case, with its dot
 * @throws ERR_UNSUPPORTED it is none of the known ones
 */
function extensionOf (file, known) {
  const extension = path.extname(file).toLowerCase()
  if (!known.includes(extension)) throw failure('ERR_UNSUPPORTED', `${file} ends in none of ${known.join(', ')}`)
  return extension
}

module.exports = { pathOf, extensionOf }
