'use strict'
// What an answer says of itself: which bytes of the file it has, how many the file has, and which version of the file that is; and the errors
// of requests after which another attempt may go better.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/** @typedef {import('./fetch-transport').Answer} Answer */

const TEMPORARY = [408, 425, 429, 500, 502, 503, 504]
const MOST_WAIT = 30000 // ms that a server may ask to wait for

/**
 * The file as an answer has it.
 *
 * @typedef {object} Version
 * @property {number | null} size  bytes; null: an answer without ranges does not say it
 * @property {string | null} etag
 * @property {string | null} modified
 */

/** A request that failed, and may be tried again. */
class Trouble extends Error {
  /**
   * @param {Error} error  what is thrown where no attempt is left
   * @param {number} [wait]  ms that the server asks to wait for
   */
  constructor(error, wait = 0) {
    super(error.message)
    this.error = error
    this.wait = wait
  }
}

/** Errors that another attempt meets as well: of TLS, and of answers that are not HTTP. */
const LASTING = /^(HPE_|ERR_TLS|ERR_SSL|ERR_INVALID|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/

/**
 * What the network or a fetch says, as an error of ours.
 *
 * @param {string} shownUrl
 * @param {any} cause
 * @param {string} [hint]  at what may be behind it
 * @returns {Error} a Trouble unless it is lasting
 */
function networkTrouble(shownUrl, cause, hint = '') {
  let text
  let isLasting = false
  try {
    // a caller's fetch may throw anything
    const inner = typeof cause?.cause?.code === 'string' ? cause.cause : cause // of Node's fetch
    text = String(inner?.message || inner?.code || inner).split('\n')[0]
    isLasting = LASTING.test(inner?.code)
  } catch {
    text = show(cause)
  }
  const message = `${shownUrl} could not be read: ${text}${hint}`
  const error = Object.assign(failure('ERR_IO', message), { cause })
  return isLasting ? error : new Trouble(error)
}

/** An answer whose Content-Range is not that of its bytes: a request without a range may be answered rightly. */
class Excess extends Error {
  /** @param {string} shownUrl @param {Pick<Body, 'from' | 'end'>} range  that it said */
  constructor(shownUrl, { from, end }) {
    super('more bytes than the answer said')
    this.error = failure(
      'ERR_FORMAT',
      `${shownUrl}: the answer has more than the ${end - from} bytes that it said`,
    )
  }
}

/** The body of an answer: its bytes of the file; end is Infinity where the answer does not say it. @typedef {{ from: number, end: number, isPart: boolean, version: Version }} Body */

/** @param {string | null} text @returns {number | null} */
const contentLength = (text) =>
  text !== null && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
    ? Number(text)
    : null

/**
 * @param {Answer} answer
 * @param {string} shownUrl  the URL in messages
 * @returns {Body}
 * @throws ERR_NOT_FOUND · ERR_IO · ERR_FORMAT it contradicts itself · ERR_UNSUPPORTED · {Trouble} · {Excess}
 */
function bodyOf(answer, shownUrl) {
  const { status } = answer
  const validators = () => ({
    etag: answer.header('etag'),
    modified: answer.header('last-modified'),
  })
  if (status === 416) {
    // no byte of the file is in the range: of an empty file, or the server takes no range that goes beyond the file
    const size = contentLength(
      /^bytes \*\/(\d+)$/.exec(answer.header('content-range') ?? '')?.[1] ?? null,
    )
    if (size === null) throw refusalOf(answer, shownUrl)
    return { from: size, end: size, isPart: true, version: { size, ...validators() } }
  }
  if (status !== 200 && status !== 206) throw refusalOf(answer, shownUrl)
  const encoding = answer.header('content-encoding')
  if (encoding !== null && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw failure(
      'ERR_UNSUPPORTED',
      `${shownUrl} was sent as ${show(encoding.slice(0, 80))}, though it was asked for as it is; ranges of a compressed file cannot be used`,
    )
  }
  if (status === 200) {
    const size = contentLength(answer.header('content-length'))
    return { from: 0, end: size ?? Infinity, isPart: false, version: { size, ...validators() } }
  }
  const range = answer.header('content-range')
  if (range === null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${shownUrl}: the answer does not say which bytes it has; of another host a page sees Content-Range only if Access-Control-Expose-Headers names it`,
    )
  }
  const [, first, last, all] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range) ?? []
  if (all === '*') {
    throw failure('ERR_UNSUPPORTED', `${shownUrl}: the server does not say how long the file is`)
  }
  const [from, to, size] = [first, last, all].map((text) => contentLength(text ?? null))
  if (from === null || to === null || size === null || to < from || to >= size) {
    throw failure(
      'ERR_FORMAT',
      `${shownUrl}: the range of the answer is ${JSON.stringify(range.slice(0, 80))}, which is none`,
    )
  }
  const body = { from, end: to + 1, isPart: true, version: { size, ...validators() } }
  const length = contentLength(answer.header('content-length'))
  if (length !== null && length > body.end - from) throw new Excess(shownUrl, body) // none of its bytes is used
  return body
}

/** @param {Answer} answer @param {string} shownUrl @returns {Error} */
function refusalOf(answer, shownUrl) {
  const { status } = answer
  const code = status === 404 || status === 410 ? 'ERR_NOT_FOUND' : 'ERR_IO'
  const error = Object.assign(
    failure(code, `${shownUrl}: the server answered with status ${status}`),
    { status },
  )
  if (!TEMPORARY.includes(status)) return error
  const seconds = contentLength(answer.header('retry-after'))
  return new Trouble(error, seconds === null ? 0 : Math.min(1000 * seconds, MOST_WAIT))
}

/** @param {string} etag */
const opaque = (etag) => etag.replace(/^W\//, '')

/**
 * Are they the same file, as far as they tell?
 *
 * @param {Version} known
 * @param {Version} now
 */
function isSame(known, now) {
  if (now.size !== null && known.size !== now.size) return false
  if (known.etag !== null && now.etag !== null) return opaque(known.etag) === opaque(now.etag)
  return known.modified === null || now.modified === null || known.modified === now.modified
}

/** What If-Range may have. @param {Version} version @returns {string | null} */
const conditionOf = ({ etag, modified }) =>
  etag === null ? modified : etag.startsWith('W/') ? null : etag

module.exports = { Trouble, networkTrouble, Excess, bodyOf, isSame, conditionOf }
