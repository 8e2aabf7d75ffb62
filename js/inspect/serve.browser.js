'use strict'
// In browsers, in place of serve.js: a page cannot be a server.

const { instance } = require('../model/internals')

/** @returns {Promise<never>} */
async function serve() {
  throw instance().failure(
    'ERR_UNSUPPORTED',
    'serveMap needs Node; mapElement() shows the map in this page',
  )
}

module.exports = { serve }
