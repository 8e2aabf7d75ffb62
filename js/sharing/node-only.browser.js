'use strict'
// Classes of memory that other processes see, in pages, which have no other processes: every function throws.

const { failure } = require('../base/errors')

/**
 * @param {string} name  of the class
 * @param {string} noun  for its objects
 * @param {string[]} names  of its functions
 */
function nodeOnly(name, noun, names) {
  class Missing {
    constructor() {
      throw failure('ERR_ARGUMENT', `${noun} are made by ${name}.create() and ${name}.open()`)
    }
  }
  Object.defineProperty(Missing, 'name', { value: name, configurable: true })
  for (const each of names) {
    const value = () => {
      throw failure('ERR_UNSUPPORTED', `${name}.${each} needs Node`)
    }
    Object.defineProperty(Missing, each, { value, configurable: true, writable: true })
  }
  return Missing
}

module.exports = { nodeOnly }
