'use strict'
// Requests in Node, by node:http: its pieces come sooner than those of fetch. In browsers transport.browser.js takes this file's place.

const { failure } = require('../base/errors')
const { networkTrouble } = require('./answers')
const { fetchTransport } = require('./fetch-transport')

/** @typedef {import('./fetch-transport').Answer} Answer */
/** @typedef {import('./fetch-transport').Transport} Transport */

const MOST_REDIRECTS = 10
const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * @param {string} from
 * @param {string | undefined} location
 * @param {string} shownUrl
 * @returns {string}
 */
function redirected(from, location, shownUrl) {
  const to = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : null
  if (to === null) {
    throw failure('ERR_FORMAT', `${shownUrl} is redirected, and the answer does not say where to`)
  }
  if (to.protocol !== 'https:' && (to.protocol !== 'http:' || from.startsWith('https:'))) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${shownUrl} is redirected to a URL of ${to.protocol}; ${from.startsWith('https:') ? 'https:' : 'http: or https:'} was expected`,
    )
  }
  if (to.username !== '' || to.password !== '') {
    throw failure(
      'ERR_UNSUPPORTED',
      `${shownUrl} is redirected to a URL with a user or a password; one without was expected`,
    )
  }
  return to.href
}

/** An answer of node:http. @implements {Answer} */
class HttpAnswer {
  /** @param {import('node:http').IncomingMessage} response @param {string} url @param {string} shownUrl */
  constructor(response, url, shownUrl) {
    this.response = response
    this.url = url
    this.shownUrl = shownUrl
    this.status = /** @type {number} */ (response.statusCode)
  }

  /** @param {string} name */
  header(name) {
    const value = this.response.headers[name]
    return value === undefined ? null : String(value)
  }

  /** @param {(piece: Uint8Array) => Promise<void> | void} take @returns {Promise<void>} */
  pump(take) {
    const { response, shownUrl } = this
    return new Promise((resolve, reject) => {
      /** @type {Promise<void> | undefined} the piece that is being used */
      let wait
      const fail = (/** @type {unknown} */ error) => {
        response.destroy()
        const end = () => reject(error)
        if (wait === undefined) end()
        else wait.then(end, end) // what the next answer brings comes after it
      }
      response.on('end', resolve)
      response.on('error', (error) => fail(networkTrouble(shownUrl, error)))
      response.on('close', () =>
        fail(networkTrouble(shownUrl, new Error('the connection was closed'))),
      )
      response.on('data', (piece) => {
        try {
          wait = take(piece) ?? undefined
          if (wait === undefined) return
          response.pause()
          wait.then(() => response.resume(), fail)
        } catch (error) {
          fail(error)
        }
      })
    })
  }
}

/** @type {Transport} */
async function ofNode(url, headers, stop, shownUrl) {
  for (let i = 0; i <= MOST_REDIRECTS; i++) {
    /** @type {import('node:http').IncomingMessage} */
    let response
    try {
      const { get } = /** @type {typeof import('node:http')} */ (
        url.startsWith('https:') ? require('node:https') : require('node:http')
      )
      response = await new Promise((resolve, reject) => {
        get(url, { headers, signal: stop }, (response) => {
          response.on('error', () => {}) // pump tells what happened
          resolve(response)
        })
          .on('error', reject)
          .on('close', () => reject(new Error('the connection was closed'))) // no other event comes of a status of 101
      })
    } catch (error) {
      throw networkTrouble(shownUrl, error)
    }
    if (!REDIRECTS.includes(/** @type {number} */ (response.statusCode))) {
      return new HttpAnswer(response, url, shownUrl)
    }
    response.destroy()
    url = redirected(url, response.headers.location, shownUrl)
  }
  throw failure(
    'ERR_IO',
    `${shownUrl} was redirected ${MOST_REDIRECTS} times; that many are possible`,
  )
}

/** @param {typeof fetch | undefined} given  the caller's @returns {Transport} */
const transportOf = (given) => (given === undefined ? ofNode : fetchTransport(given))

module.exports = { transportOf }
