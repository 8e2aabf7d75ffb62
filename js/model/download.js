'use strict'
// Fetches the bytes of a model.

const { instance } = require('./internals')

/**
 * @param {string | URL} url  in a page it may be relative
 * @returns {Promise<Uint8Array>}
 * @throws ERR_NOT_FOUND · ERR_IO
 */
async function downloaded(url) {
  const { failure } = instance()
  const label = `the model at ${String(url).replace(/^(data:[^,]{0,64}).*|[?#].*/s, '$1')}` // what is behind it may be a signature
  let response
  try {
    response = await fetch(url)
    if (response.ok) return new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    const { message, cause: reason } = /** @type {any} */ (cause) // Node's fetch says why in the cause alone
    throw Object.assign(
      failure('ERR_IO', `${label} could not be read: ${reason?.message ?? message}`),
      { cause },
    )
  }
  const { status, statusText } = response
  const error =
    status === 404 || status === 410
      ? failure('ERR_NOT_FOUND', `there is no ${label.slice(4)}`)
      : failure('ERR_IO', `${label} could not be read: ${status} ${statusText}`)
  throw Object.assign(error, { status })
}

module.exports = { downloaded }
