'use strict'
// Requests in browsers, by fetch.

const { failure } = require('../base/errors')
const { fetchTransport } = require('./fetch-transport')

/** @param {typeof fetch | undefined} given  the caller's @returns {import('./fetch-transport').Transport} */
function transportOf(given) {
  if (given !== undefined) return fetchTransport(given)
  if (typeof fetch !== 'function') {
    throw failure('ERR_UNSUPPORTED', 'there is no fetch here; { fetch } was expected')
  }
  return fetchTransport((url, options) => fetch(url, options)) // fetch is called without an object
}

module.exports = { transportOf }
