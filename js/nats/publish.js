'use strict'
// Publishing: a promise that settles when the server, or a stream, has the message.

const { setTimeout: pause } = require('node:timers/promises')
const { failure } = require('../base/errors')
const { show, optionsOf } = require('../base/validate')
const { signalOf, checkSignal, unlessAborted } = require('../base/signals')
const { Tensor } = require('../tensor/tensor')
const { isUnanswered } = require('./link')
const { outgoing } = require('./messages')
const { peer } = require('./peers')
const { remember } = require('./remember')

/** @typedef {import('./bus').Core} Core */
/** @typedef {ReturnType<typeof outgoing>} Outgoing */

/**
 * @typedef {object} PublishOptions
 * @property {boolean | string} [stream]  wait for JetStream's acknowledgement: true, or the name that the stream must have
 * @property {string} [id]  with stream: of the message; one with the same id is not stored again while the stream remembers it (two minutes unless its configuration says otherwise)
 * @property {import('../base/types').Signal} [signal]  rejects the call; what was sent is sent
 */

const MOST_SUBJECTS = 2 ** 16 // that are counted; of more, those that were published to longest ago begin again
const ATTEMPTS = 3 // at having a stream take a message, which has an id: it is stored once
/** what the client's errors say of a connection that is gone */
const GONE = /^(ClosedConnectionError|DrainingConnectionError)|connection (closed|disconnected)/
const STREAM_MS = 5000 // that a stream may take to acknowledge
const PAUSE_MS = 250 // before it is asked again

/**
 * @param {Core} core
 * @param {string} subject  that was checked
 * @param {any} value
 * @param {PublishOptions} [options]
 * @returns {Promise<void>}
 */
async function publish(core, subject, value, options) {
  const {
    stream,
    id,
    signal: given,
  } = optionsOf(options, ['stream', 'id', 'signal'], 'bus.publish')
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw failure('ERR_ARGUMENT', `id is ${show(id)}; a string was expected`)
  }
  const isName = typeof stream === 'string' && stream !== ''
  const isStored = isName || stream === true
  if (!isStored && stream !== undefined && stream !== false) {
    throw failure('ERR_ARGUMENT', `stream is ${show(stream)}; true or a stream's name was expected`)
  }
  const signal = signalOf(given)
  checkSignal(signal)
  core.link.check()
  if (Tensor.isTensor(value)) checkSize(core, value.nbytes) // what is too large anyway is not copied first
  const message = outgoing(value)
  let sent
  try {
    const seq = (core.seqs.get(subject) ?? 0) + 1 // now: a record's getters may have published
    message.headers.set('Tensor-Seq', `${core.id}:${seq}`)
    checkSize(core, message.payload.length + message.headers.encode().length)
    remember(core.seqs, subject, seq, MOST_SUBJECTS)
    sent = isStored
      ? store(core, subject, message, isName ? stream : undefined, id)
      : send(core, subject, message)
  } catch (error) {
    message.release()
    throw error
  }
  await unlessAborted(signal, sent.finally(message.release))
}

/**
 * @param {Core} core
 * @param {number} nbytes  of headers and payload
 * @throws ERR_TOO_LARGE
 */
function checkSize({ connection }, nbytes) {
  const most = connection.info?.max_payload ?? Infinity
  if (nbytes > most) {
    throw failure(
      'ERR_TOO_LARGE',
      `the message has ${nbytes} bytes with its headers; the server takes ${most} (its max_payload). The object store takes more`,
    )
  }
}

/**
 * Settles when the server has the message.
 *
 * @param {Core} core
 * @param {string} subject
 * @param {Outgoing} message
 * @returns {Promise<void>}
 */
function send({ connection, link }, subject, { headers, payload, storage }) {
  const soon = storage === null ? link.flushSoon() : null // before the client's own microtask, which then sends both in one
  try {
    connection.publish(subject, payload, { headers })
  } catch (error) {
    soon?.catch(() => {})
    throw refusal(connection, error)
  }
  return link.permitted(subject, soon ?? link.flush())
}

/**
 * @param {any} connection
 * @param {any} error  of the client
 */
function refusal(connection, error) {
  if (!connection.isClosed() && !connection.isDraining()) return error
  return Object.assign(
    failure(
      'ERR_DISCONNECTED',
      `the connection is ${connection.isClosed() ? 'closed' : 'draining'}; nothing was sent`,
    ),
    { cause: error },
  )
}

/** @param {any} error  of the client */
const isTimeout = (error) => error?.name === 'TimeoutError'

/**
 * Settles when a stream has acknowledged the message. The client's own `retries` would not see what `isUnanswered` does.
 *
 * @param {Core} core
 * @param {string} subject
 * @param {Outgoing} message
 * @param {string | undefined} name  of the stream
 * @param {string | undefined} id
 */
async function store(
  { connection, link },
  subject,
  { headers, payload, storage },
  name,
  id = `${headers.get('Tensor-Seq')}:${subject}`,
) {
  link.jetstream ??= peer('jetstream').jetstream(connection)
  const expected = name === undefined ? {} : { expect: { streamName: name } }
  const options = { headers, msgID: id, timeout: STREAM_MS, ...expected }
  let isOver = false // the payload is the caller's again
  /** of the last attempt, behind all before it @type {Promise<void> | undefined} */
  let flushed
  const attempts = async () => {
    for (let i = 1; ; i++) {
      try {
        const acknowledged = link.jetstream.publish(subject, payload, options)
        if (storage !== null) flushed = link.flush().catch(() => {})
        return await acknowledged
      } catch (error) {
        if (i === ATTEMPTS || !(isUnanswered(error) || isTimeout(error))) throw error
      }
      await pause(PAUSE_MS)
      if (isOver) return
    }
  }
  const acknowledged = link.permitted(subject, link.guarded(attempts()))
  try {
    await acknowledged
  } catch (error) {
    throw streamFailure(subject, error)
  } finally {
    isOver = true
    await flushed // bytes in place may still be on their way
  }
}

/**
 * @param {string} subject
 * @param {any} error  of the client
 */
function streamFailure(subject, error) {
  if (typeof error?.code === 'string' && error.code.startsWith('ERR_')) return error // ours
  const { name, message } = error
  let made
  if (isUnanswered(error)) made = failure('ERR_NO_RESPONDERS', `no stream takes '${subject}'`)
  else if (isTimeout(error)) {
    made = failure(
      'ERR_TIMEOUT',
      `no stream acknowledged '${subject}' in ${ATTEMPTS} attempts of ${STREAM_MS} ms`,
    )
  } else if (GONE.test(`${name}: ${message}`)) made = failure('ERR_DISCONNECTED', message)
  else {
    made = Object.assign(
      failure('ERR_REMOTE', `the stream did not take '${subject}': ${message}`),
      { remoteCode: error.code ?? name },
    )
  }
  return Object.assign(made, { cause: error })
}

module.exports = { publish, refusal }
