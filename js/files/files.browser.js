'use strict'
// In browsers, in place of files.js: a page has no files, so its functions throw. Bytes are parsed and written anywhere.

const { failure } = require('../base/errors')

/** @param {string} name */
const isOpener = name => name.startsWith('open') && name !== 'openRaw'

/** @param {string} name */
function refused (name) {
  return () => { throw failure('ERR_UNSUPPORTED', `${name} needs Node${isOpener(name) ? ', but for URLs: https://host/path, or new URL(path, location)' : ''}; parseNpy, parseSafetensors and their like take bytes, toNpyBytes and its like give them`) }
}

/** @param {string} name */
function rejected (name) {
  return async () => refused(name)()
}

const names = ['openNpy', 'openNpz', 'openSafetensors', 'openGguf', 'openRaw', 'createNpy', 'createSafetensors', 'saveNpySync', 'saveNpzSync', 'saveSafetensorsSync']
const asynchronous = ['saveNpy', 'saveNpz', 'saveSafetensors', 'save', 'load']

module.exports = Object.fromEntries([...names.map(name => [name, refused(name)]), ...asynchronous.map(name => [name, rejected(name)])])
