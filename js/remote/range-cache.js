'use strict'
// In Node nothing keeps ranges. In browsers range-cache.browser.js takes this file's place.

const { failure } = require('../base/errors')

/** @param {import('./fetch-transport').Transport} transport @returns {import('./fetch-transport').Transport} */
function keptTransport(transport) {
  throw failure(
    'ERR_UNSUPPORTED',
    'caches needs the Cache API of a page; in Node { fetch } may ask a cache of yours',
  )
}

module.exports = { keptTransport }
