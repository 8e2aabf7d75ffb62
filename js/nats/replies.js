'use strict'
// What a service answers, and how messages without tensors are sent.

const { failure } = require('../base/errors')
const { HeaderBlock } = require('./headers')
const { closed } = require('./inbox')
const messages = require('./messages')
const { isStable } = require('./payloads')

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('./inbox').Core} Core */

const HEADER_BYTES = 8192 // bytes; more than our own headers have
const LONGEST_TEXT = 512 // of an error, characters

/**
 * @param {Core} core
 * @param {string} subject
 * @param {string | undefined} reply
 * @param {InstanceType<typeof HeaderBlock> | undefined} headers
 * @param {Uint8Array} [payload]
 */
function post({ connection }, subject, reply, headers, payload) {
  const most = connection.info?.max_payload ?? Infinity
  const nbytes = payload?.length ?? 0
  const isClose = nbytes > most - HEADER_BYTES // else the headers' length does not matter
  const all = isClose ? nbytes + (headers?.encode().length ?? 0) : nbytes
  if (all > most) {
    throw failure(
      'ERR_TOO_LARGE',
      `the message has ${all} bytes with its headers; the server takes ${most}`,
    )
  }
  // A program may have transferred or shrunk the buffer of a payload that waited for its turn: the client would throw later, and never send again.
  if (payload?.length === 0 && isStable(payload)) {
    throw failure(
      'ERR_DETACHED',
      "the tensor's buffer was transferred away or shrunk before it was sent",
    )
  }
  try {
    connection.publish(subject, payload, { headers, reply })
  } catch (error) {
    throw connection.isClosed()
      ? closed(error)
      : Object.assign(
          failure(
            'ERR_DISCONNECTED',
            `the client does not send: ${/** @type {Error} */ (error).message}`,
          ),
          { cause: error },
        )
  }
}

/**
 * Answers a request with a result.
 *
 * @param {Core} core
 * @param {string} reply
 * @param {Value} value
 * @param {string} replica
 * @returns {boolean} are bytes sent in place? They are busy until then
 * @throws ERR_TOO_LARGE · ERR_DISCONNECTED · as messages.encode
 */
function answer(core, reply, value, replica) {
  const fields = { 'Tensor-Replica': replica }
  const { headers, payload, storage, release } = messages.outgoing(value, { fields })
  try {
    post(core, reply, undefined, headers, payload)
  } catch (error) {
    release()
    throw error
  }
  if (storage === null) release()
  else core.link.flush().then(release, release)
  return storage !== null
}

/**
 * Answers a request with a failure, as the service framework does; throws nothing.
 *
 * @param {Core} core
 * @param {string} reply
 * @param {{ code?: unknown, message: string }} error
 * @param {string} replica
 * @param {Record<string, string>} [fields]  other headers
 */
function refuse(core, reply, { code, message }, replica, fields) {
  const own = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : 'ERR_REMOTE'
  const headers = new HeaderBlock({
    'Nats-Service-Error-Code': STATUSES[own] ?? '500',
    'Nats-Service-Error': message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, LONGEST_TEXT),
    'Tensor-Error': own,
    'Tensor-Replica': replica,
    ...fields,
  })
  try {
    post(core, reply, undefined, headers)
  } catch {} // the connection is closed: nobody can be told
}

/** Numbers of failures that callers tell apart; others are 500. @type {Record<string, string>} */
const STATUSES = {
  ERR_BUSY_REMOTE: '503',
  ERR_TIMEOUT: '504',
  ERR_FORMAT: '400',
  ERR_TOO_LARGE: '413',
}

module.exports = { answer, refuse, post }
