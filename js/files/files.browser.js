'use strict'
// What files.js has in Node, refused: a page has no files of its own. Bytes are parsed and made anywhere.

const { failure } = require('../base/errors')

/** @param {string} name */
function refused (name) {
  return () => { throw failure('ERR_UNSUPPORTED', `${name} needs Node; parseNpy, parseSafetensors and their like take bytes, toNpyBytes and its like give them`) }
}

/** @param {string} name */
function refusedLater (name) {
  return async () => refused(name)()
}

const names = ['openNpy', 'openNpz', 'openSafetensors', 'openGguf', 'openRaw', 'createNpy', 'createSafetensors', 'saveNpySync', 'saveNpzSync', 'saveSafetensorsSync']
const later = ['saveNpy', 'saveNpz', 'saveSafetensors', 'save', 'load']

module.exports = Object.fromEntries([...names.map(name => [name, refused(name)]), ...later.map(name => [name, refusedLater(name)])])
