'use strict'
// In browsers there is nobody to serve a page.

const { instance } = require('../model/internals')

/** @returns {Promise<never>} */
async function serve () {
  throw instance().failure('ERR_UNSUPPORTED', 'serveMap needs Node; mapElement() shows the map in this page')
}

module.exports = { serve }
