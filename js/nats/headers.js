'use strict'
// The header block of a message: written with padding, read from its bytes with limits. The client's own reader is quadratic.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { bytesOf, exactTextOf } = require('../runtime/host')

const FIRST_LINE = 'NATS/1.0'
const LINE = '\r\n'
const MOST_BYTES = 2 ** 14 // of a block that is read
const MOST_FIELDS = 128 // of a block that is read
const ALIGNMENT = 64
const PADDING = 'Tensor-Pad'
/** What readHeaders calls the status of the first line, such as '503'; no field can have the name. */
const STATUS = ':status'

const NAME = /^[!-9;-~]+$/ // printable ASCII without a colon
const VALUE = /^[^\r\n]*$/

/**
 * Fields of a message that is sent: what the client takes as `headers`, which it asks for its bytes.
 */
class HeaderBlock {
  /** @type {Map<string, string>} */
  #fields = new Map()
  /** as encoded last, before a field changed @type {Uint8Array | null} */
  #bytes = null

  /** @param {(Record<string, string | number | undefined> | undefined)[]} all  fields; undefined: no such field */
  constructor(...all) {
    for (const [name, value] of all.flatMap((fields) => Object.entries(fields ?? {}))) {
      if (value !== undefined) this.set(name, String(value))
    }
  }

  /**
   * @param {string} name
   * @param {string} value
   * @throws {TypeError} ERR_ARGUMENT it would break the block
   */
  set(name, value) {
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw failure(
        'ERR_ARGUMENT',
        `the header's name is ${show(name)}; printable ASCII without a colon was expected`,
      )
    }
    if (typeof value !== 'string' || !VALUE.test(value)) {
      throw failure(
        'ERR_ARGUMENT',
        `header ${name} is ${show(value)}; a string of one line was expected`,
      )
    }
    this.#fields.set(name, value)
    this.#bytes = null
  }

  /** @param {string} name @param {string} value */
  append(name, value) {
    this.set(name, value)
  }
  /** @param {string} name @returns {string} '' where there is none, as the client's own */
  get(name) {
    return this.#fields.get(name) ?? ''
  }
  /** @param {string} name */
  has(name) {
    return this.#fields.has(name)
  }
  /** @param {string} name */
  delete(name) {
    this.#fields.delete(name)
    this.#bytes = null
  }

  keys() {
    return [...this.#fields.keys()]
  }
  /** @returns {IterableIterator<(string | string[])[]>} */
  [Symbol.iterator]() {
    return [...this.#fields].map(([name, value]) => [name, [value]])[Symbol.iterator]()
  }

  /** @returns {Uint8Array} the block, as long as a multiple of 64 */
  encode() {
    if (this.#bytes !== null) return this.#bytes
    let text = FIRST_LINE
    for (const [name, value] of this.#fields) {
      if (name !== PADDING) text += `${LINE}${name}: ${value}`
    }
    text += `${LINE}${PADDING}: `
    const length = Buffer.byteLength(text) + 2 * LINE.length
    return (this.#bytes = bytesOf(`${text}${'-'.repeat(-length & (ALIGNMENT - 1))}${LINE}${LINE}`))
  }
}

/** @param {number} nbytes */
const tooLong = (nbytes) =>
  failure('ERR_TOO_LARGE', `the message's headers have ${nbytes} bytes; ${MOST_BYTES} are read`)

/** @param {string} reason */
const malformed = (reason) => failure('ERR_FORMAT', `the message's headers ${reason}`)

/**
 * The bytes of a received message's header block: they lie right before its data.
 *
 * @param {any} message  as the client gives it, also of JetStream
 * @returns {Uint8Array} empty: it has none
 * @throws ERR_FORMAT · ERR_TOO_LARGE
 */
function blockOf(message) {
  const inner = typeof message.size === 'function' ? message : message.msg // which those of JetStream and of services have
  if (typeof inner?.size !== 'function') {
    throw failure(
      'ERR_ARGUMENT',
      `message is ${show(message)}; one that the client received was expected`,
    )
  }
  const { data, subject, reply } = inner
  const length =
    inner.size() - Buffer.byteLength(subject) - Buffer.byteLength(reply ?? '') - data.length
  if (length === 0) return new Uint8Array(0)
  if (length > MOST_BYTES) throw tooLong(length)
  if (length < 0 || length > data.byteOffset) {
    throw malformed('are not where they should be: its subject is not UTF-8')
  }
  return new Uint8Array(data.buffer, data.byteOffset - length, length)
}

/**
 * Reads a header block.
 *
 * @param {Uint8Array} block  with its empty line; empty: no fields
 * @returns {Map<string, string>} by lower-cased name, of a repeated field the first value; ':status' is the status of the first line, if it has one
 * @throws ERR_FORMAT no block, not UTF-8, a `Tensor-` field twice · ERR_TOO_LARGE more than 16 KiB, more than 128 fields
 */
function parseBlock(block) {
  /** @type {Map<string, string>} */
  const fields = new Map()
  if (block.length === 0) return fields
  if (block.length > MOST_BYTES) throw tooLong(block.length)
  const text = exactTextOf(block)
  if (text === null) throw malformed('are not UTF-8')
  if (!text.startsWith(FIRST_LINE) || !text.endsWith(LINE + LINE)) {
    throw malformed(`do not begin with ${FIRST_LINE} and end with an empty line`)
  }
  const lines = text.slice(0, -2 * LINE.length).split(LINE, MOST_FIELDS + 2)
  if (lines.length > MOST_FIELDS + 1) {
    throw failure('ERR_TOO_LARGE', `the message has more than ${MOST_FIELDS} headers`)
  }
  const status = /** @type {string} */ (lines[0]).slice(FIRST_LINE.length).trim()
  if (status !== '') fields.set(STATUS, status.split(' ', 1)[0])
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':')
    if (colon < 1) throw malformed(`have the line ${show(line.slice(0, 40))}, which is no field`)
    const name = line.slice(0, colon).toLowerCase()
    if (name === PADDING.toLowerCase()) continue
    if (!fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
    else if (name.startsWith('tensor-')) throw malformed(`have ${name} twice`)
  }
  return fields
}

/**
 * The headers of a received message, read within limits, whatever it is.
 *
 * @param {any} message  of the client, or of JetStream
 * @returns {Map<string, string>} as of parseBlock
 * @throws ERR_FORMAT · ERR_TOO_LARGE
 */
const readHeaders = (message) => parseBlock(blockOf(message))

module.exports = { HeaderBlock, STATUS, parseBlock, readHeaders }
