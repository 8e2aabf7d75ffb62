'use strict'
// Requests by fetch, the browser's or a caller's.

const { failure } = require('../base/errors')
const { bufferOf, byteOffsetOf, nbytesOf, tagOf } = require('../base/buffers')
const { show } = require('../base/validate')
const { onNextTurn } = require('../runtime/host')
const { networkTrouble } = require('./answers')

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
 * @typedef {(url: string, headers: Record<string, string>, stop: AbortSignal, shownUrl: string) => Promise<Answer>} Transport  place: the URL in messages
 */

/**
 * Calls ask, which asks what a caller's fetch gave; what that throws, the request failed by.
 *
 * @template R
 * @param {string} shownUrl
 * @param {() => R} ask
 * @returns {R}
 */
function asked(shownUrl, ask) {
  try {
    return ask()
  } catch (error) {
    throw networkTrouble(shownUrl, error)
  }
}

/** @param {Pick<Response, 'status' | 'headers' | 'body'>} response @param {string} url @param {string} shownUrl @param {AbortSignal} stop @returns {Answer} */
function fetchAnswer({ status, headers, body }, url, shownUrl, stop) {
  /** what the stop ends @type {{ cancel: () => unknown } | null} */
  let source = body
  /** ends the read that is waited for */
  let interrupt = () => {}
  stop.addEventListener('abort', () => {
    // a read does not always end by it, and a body that nobody reads does not either
    cancelled(source)
    interrupt()
  })

  /** @param {string} name */
  const header = (name) => {
    const value = asked(shownUrl, () => headers.get(name))
    if (value !== null && typeof value !== 'string') {
      throw failure(
        'ERR_ARGUMENT',
        `fetch gave a response whose header ${name} is ${show(value)}; a string or null was expected`,
      )
    }
    return value
  }

  /** @param {(piece: Uint8Array) => Promise<void> | void} take */
  const pump = async (take) => {
    if (body === null || body === undefined) return
    if (asked(shownUrl, () => typeof body.getReader) !== 'function') {
      throw failure(
        'ERR_ARGUMENT',
        `fetch gave a response whose body is ${show(body)}; a ReadableStream was expected`,
      )
    }
    if (asked(shownUrl, () => body.locked)) {
      throw failure(
        'ERR_ARGUMENT',
        'fetch gave a response whose body somebody else reads, or has read',
      )
    }
    const reader = asked(shownUrl, () => readerOf(body))
    source = reader
    try {
      for (;;) {
        let result
        try {
          // gets what the reader gives, or a rejection once the request is stopped
          result = await new Promise((resolve, reject) => {
            interrupt = () => reject(stop.reason)
            if (stop.aborted) interrupt()
            Promise.resolve(reader.read()).then(resolve, reject)
          })
        } catch (error) {
          throw networkTrouble(shownUrl, error)
        }
        if (typeof result !== 'object' || result === null) {
          throw failure(
            'ERR_ARGUMENT',
            `fetch gave a body whose read gives ${show(result)}; { done, value } was expected`,
          )
        }
        const { done, value } = asked(shownUrl, () => ({ done: result.done, value: result.value }))
        if (done) return
        if (tagOf(value) !== 'Uint8Array') {
          throw failure(
            'ERR_FORMAT',
            `${shownUrl}: fetch gave a piece that is ${show(value)}; a Uint8Array was expected`,
          )
        }
        const n = nbytesOf(value) // whatever its class says of itself
        const piece =
          n === 0 ? new Uint8Array(0) : new Uint8Array(bufferOf(value), byteOffsetOf(value), n)
        if (piece.length > 0) await take(piece)
        else await new Promise((resolve) => onNextTurn(() => resolve(undefined))) // pieces without an end leave the idle limit its turns
      }
    } catch (error) {
      cancelled(reader)
      throw error
    }
  }

  return { status, url, header, pump } // not the response's URL: what a caller's fetch adds is for this host
}

/** Ends a stream, whatever it says to that. @param {{ cancel?: () => unknown } | null | undefined} stream */
async function cancelled(stream) {
  try {
    await stream?.cancel?.()
  } catch {}
}

/** @typedef {{ read: () => Promise<{ done: boolean, value?: unknown }>, cancel: () => unknown }} Reader */

/**
 * A reader of pieces that are all in one buffer where the stream can do that: what each piece would leave, pages collect late.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {Reader}
 */
function readerOf(body) {
  /** @type {ReadableStreamBYOBReader} */
  let reader
  try {
    reader = body.getReader({ mode: 'byob' })
  } catch {
    return body.getReader()
  }
  let buffer = new ArrayBuffer(PIECE)
  return {
    async read() {
      const result = await reader.read(new Uint8Array(buffer))
      if (result?.value !== undefined) buffer = result.value.buffer
      return result
    },
    cancel: () => reader.cancel(),
  }
}

/** Is it of another host than the page? @param {URL} url */
const isElsewhere = (url) =>
  typeof location === 'object' && location !== null && url.origin !== location.origin

/** @param {(url: string, options: RequestInit) => Promise<Response>} fetch @returns {Transport} */
const fetchTransport = (fetch) => async (url, headers, stop, shownUrl) => {
  let response
  try {
    response = await new Promise((resolve, reject) => {
      // rejected once the request is stopped: a caller's fetch need not know signals
      stop.addEventListener('abort', () => reject(stop.reason))
      const ask = async () => fetch(url, { headers, signal: stop, cache: 'no-store' }) // Chromium's cache has one request of a URL wait for the other
      ask().then((response) => {
        if (stop.aborted) cancelled(response?.body) // nobody waits for it
        resolve(response)
      }, reject)
    })
  } catch (error) {
    const hint =
      '; a page may read files of other hosts only if they send Access-Control-Allow-Origin'
    throw networkTrouble(shownUrl, error, isElsewhere(new URL(url)) ? hint : '')
  }
  const given = asked(shownUrl, () => {
    const { status, headers, body, type } = response ?? Object(null) // each is asked once
    return { status, headers, body, type, hasHeaders: typeof headers?.get === 'function' }
  })
  if (typeof given.status !== 'number' || !given.hasHeaders) {
    throw failure('ERR_ARGUMENT', `fetch gave ${show(response)}; a Response was expected`)
  }
  if (given.status === 0) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${shownUrl}: fetch gave a response of type '${given.type}', of which a page sees nothing; one by mode 'cors' and redirect 'follow' was expected`,
    )
  }
  return fetchAnswer(given, url, shownUrl, stop)
}

module.exports = { fetchTransport, isElsewhere }
