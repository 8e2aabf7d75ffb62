'use strict'
// Requests by fetch, the browser's or a caller's.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { networkTrouble } = require('./trouble')

const PIECE = 2 ** 18 // bytes of one at most

/**
 * What came of a request, whose body was not read yet.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} url  that later requests go to
 * @property {(name: string) => string | null} header
 * @property {(take: (piece: Uint8Array) => Promise<void> | void) => Promise<void>} pump  gives all pieces of the body, each when take is done with the one before;
 * rejects with what take throws, and with a Trouble where the body ends early
 */

/**
 * @typedef {(url: string, headers: Record<string, string>, stop: AbortSignal, place: string) => Promise<Answer>} Transport  place: the URL in messages
 */

/** @implements {Answer} */
class FetchAnswer {
  /** @param {Response} response @param {string} url @param {string} place @param {AbortSignal} stop */
  constructor (response, url, place, stop) {
    this.stop = stop
    this.response = response
    this.url = url // not the response's: what a caller's fetch adds is for this host
    this.place = place
    this.status = response.status
  }

  /** @param {string} name */
  header (name) { return this.response.headers.get(name) }

  /** @param {(piece: Uint8Array) => Promise<void> | void} take */
  async pump (take) {
    const { body } = this.response
    if (body === null || body === undefined) return
    const reader = readerOf(body)
    this.stop.addEventListener('abort', () => { reader.cancel().catch(() => {}) }) // a read does not always end by it
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(error => { throw networkTrouble(this.place, error) })
        if (done) return
        if (!(value instanceof Uint8Array)) throw failure('ERR_FORMAT', `${this.place}: fetch gave a piece that is ${show(value)}; a Uint8Array was expected`)
        await take(value)
      }
    } catch (error) {
      reader.cancel().catch(() => {})
      throw error
    }
  }
}

/**
 * A reader of pieces that are all in one buffer where the stream can do that: what each piece would leave, pages collect late.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {{ read: () => Promise<{ done: boolean, value?: unknown }>, cancel: () => Promise<void> }}
 */
function readerOf (body) {
  /** @type {ReadableStreamBYOBReader} */
  let reader
  try {
    reader = body.getReader({ mode: 'byob' })
  } catch {
    return body.getReader()
  }
  let buffer = new ArrayBuffer(PIECE)
  return {
    async read () {
      const result = await reader.read(new Uint8Array(buffer))
      if (result.value !== undefined) buffer = result.value.buffer
      return result
    },
    cancel: () => reader.cancel()
  }
}

/** Is it of another host than the page? @param {URL} url */
const isElsewhere = url => typeof location === 'object' && location !== null && url.origin !== location.origin

/** @param {(url: string, options: RequestInit) => Promise<Response>} given @returns {Transport} */
const fetchTransport = given => async (url, headers, stop, place) => {
  let response
  try {
    response = await given(url, { headers, signal: stop, cache: 'no-store' }) // Chromium's cache has one request of a URL wait for the other
  } catch (error) {
    throw networkTrouble(place, error, isElsewhere(new URL(url)) ? '; a page may read files of other hosts only if they send Access-Control-Allow-Origin' : '')
  }
  if (typeof response?.status !== 'number' || typeof response.headers?.get !== 'function') throw failure('ERR_ARGUMENT', `fetch gave ${show(response)}; a Response was expected`)
  if (response.status === 0) throw failure('ERR_UNSUPPORTED', `${place}: fetch gave a response of type '${response.type}', of which a page sees nothing; one by mode 'cors' and redirect 'follow' was expected`)
  return new FetchAnswer(response, url, place, stop)
}

module.exports = { fetchTransport, isElsewhere }
