'use strict'
// Paths as callers give them.

const path = require('node:path')
const { fileURLToPath } = require('node:url')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')

const IS_URL = /^https?:\/\//i

/**
 * @param {unknown} given
 * @param {string} [fetching]  what reads a file at a URL, for the message; of functions that write a file nothing does
 * @returns {string}
 * @throws {TypeError} ERR_ARGUMENT
 */
function pathOf(given, fetching = undefined) {
  let file = given
  if (given instanceof URL && given.protocol === 'file:') {
    try {
      file = fileURLToPath(given)
    } catch (error) {
      // another host, an escaped slash
      throw failure(
        'ERR_ARGUMENT',
        `path is ${given.href}: ${/** @type {Error} */ (error).message}`,
      )
    }
  }
  if (file instanceof URL || (typeof file === 'string' && IS_URL.test(file))) {
    const protocol =
      file instanceof URL ? file.protocol : file.slice(0, file.indexOf(':') + 1).toLowerCase() // more of the URL may be secret
    throw failure(
      'ERR_ARGUMENT',
      `path is a URL of ${protocol}; a path or file: URL was expected${fetching === undefined ? '' : `, ${fetching} reads a file at a URL`}`,
    )
  }
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    throw failure('ERR_ARGUMENT', `path is ${show(file)}; a path or file: URL was expected`)
  }
  return file
}

/**
 * @param {string} file
 * @param {readonly string[]} known
 * @returns {string} the extension in lower case, with its dot
 * @throws ERR_UNSUPPORTED it is none of the known ones
 */
function extensionOf(file, known) {
  const extension = path.extname(file).toLowerCase()
  if (!known.includes(extension)) {
    throw failure('ERR_UNSUPPORTED', `${file} ends in none of ${known.join(', ')}`)
  }
  return extension
}

module.exports = { pathOf, extensionOf }
