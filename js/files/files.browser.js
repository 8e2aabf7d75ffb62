'use strict'
// In browsers, in place of files.js: a page has no files, so its functions throw. Bytes are parsed and written anywhere.

const { failure } = require('../base/errors')

/** @param {string} name @returns {string} what does it in a page */
function insteadOf(name) {
  if (name === 'load' || name === 'openRaw') {
    return 'fetchSafetensors, fetchNpy and their like read files at URLs, parseNpy and its like take bytes'
  }
  if (name.startsWith('open')) {
    return `${name.replace('open', 'fetch')} reads a file at a URL, ${name.replace('open', 'parse')} takes its bytes`
  }
  return 'toNpyBytes, toSafetensorsBytes and their like give the bytes of a file'
}

/** @param {string} name */
const refused = (name) => () => {
  throw failure('ERR_UNSUPPORTED', `${name} needs Node; ${insteadOf(name)}`)
}

const names = [
  'openNpy',
  'openNpz',
  'openSafetensors',
  'openGguf',
  'openRaw',
  'createNpy',
  'createSafetensors',
  'saveNpySync',
  'saveNpzSync',
  'saveSafetensorsSync',
]
const asynchronous = ['saveNpy', 'saveNpz', 'saveSafetensors', 'save', 'load']

module.exports = Object.fromEntries([
  ...names.map((name) => [name, refused(name)]),
  ...asynchronous.map((name) => [name, async () => refused(name)()]),
])
