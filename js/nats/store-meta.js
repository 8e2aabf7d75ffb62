'use strict'
// What the object store keeps of an object (ADR-20 of NATS): a message of JSON, beside the chunks, which have subjects of their own.

const { setTimeout: sleep } = require('node:timers/promises')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { textOf } = require('../runtime/host')
const { isUnanswered } = require('./link')
const { peer } = require('./peers')

/**
 * @typedef {object} Meta what the message says, checked
 * @property {string} name
 * @property {string} bucket
 * @property {string} nuid  of its chunks' subject
 * @property {number} size  bytes
 * @property {number} chunks
 * @property {string} digest  base64url, without padding
 * @property {boolean} deleted
 * @property {string} mtime  ISO 8601
 * @property {number} revision  the message's sequence in the stream
 */

/**
 * @typedef {object} ObjectInfo
 * @property {string} name
 * @property {number} size  bytes of the whole file
 * @property {number} chunks
 * @property {string} digest  'SHA-256=' and base64url
 * @property {Date} modified
 * @property {number} revision  grows with each put of the name
 */

/** A store, for the functions that do its work. @typedef {{ core: any, js: any, jsm: any, bucket: string, stream: string, chunk: number, maxBytes: number, timeout: number }} StoreParts */

const BUCKET = /^[\w-]{1,255}$/
const NUID = /^[\w-]{1,64}$/
const DIGEST = /^SHA-256=([\w-]{43})=?$/
const MOST_NAME = 1024 // bytes; subjects have a largest length
const MOST_META = 2 ** 18 // bytes of a message that tells of an object
const NO_MESSAGE = 10037
const NO_STREAM = 10059
const WRONG_LAST_SEQUENCE = 10071
const FULL = new Set([10023, 10047, 10054, 10077]) // no resources, no storage, message or stream too large
/** an object of which nothing is known */
const UNKNOWN = { nuid: '', size: 0, chunks: 0, digest: '', deleted: false, mtime: '' }

/** @param {unknown} bucket @returns {string} the stream's name */
function streamOf(bucket) {
  if (typeof bucket === 'string' && BUCKET.test(bucket)) return `OBJ_${bucket}`
  throw failure(
    'ERR_ARGUMENT',
    `a store's name is ${show(bucket)}; letters, digits, _ and - were expected`,
  )
}

/** @param {unknown} name @returns {string} */
function objectName(name) {
  if (
    typeof name === 'string' &&
    name !== '' &&
    Buffer.byteLength(name) <= MOST_NAME &&
    Buffer.from(name).toString() === name
  ) {
    return name
  }
  throw failure(
    'ERR_ARGUMENT',
    `an object's name is ${show(name)}; a text of 1 to ${MOST_NAME} bytes was expected`,
  )
}

/** @param {string} bucket @param {string} name */
const metaSubject = (bucket, name) =>
  `$O.${bucket}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`

/** @param {string} bucket @param {string} nuid */
const chunkSubject = (bucket, nuid) => `$O.${bucket}.C.${nuid}`

/** @param {string} what */
const malformed = (what) => failure('ERR_FORMAT', `what the store says of ${what}`)

/**
 * @param {Uint8Array} data  of the message
 * @param {number} revision
 * @param {string} bucket
 * @returns {Meta}
 * @throws ERR_FORMAT · ERR_UNSUPPORTED a link, another digest
 */
function parseMeta(data, revision, bucket) {
  if (data.length > MOST_META) {
    throw malformed(`an object has ${data.length} bytes; at most ${MOST_META} are read`)
  }
  let given
  try {
    given = JSON.parse(textOf(data))
  } catch (/** @type {any} */ error) {
    throw malformed(`an object is no JSON: ${error.message}`)
  }
  if (given === null || typeof given !== 'object') throw malformed(`an object is ${show(given)}`)
  const {
    name,
    nuid = '',
    size = 0,
    chunks = 0,
    digest = '',
    deleted = false,
    mtime,
    options,
  } = given
  const isCount = (/** @type {unknown} */ n) =>
    Number.isSafeInteger(n) && /** @type {number} */ (n) >= 0
  if (typeof name !== 'string') throw malformed(`an object has the name ${show(name)}`)
  const base = { name, bucket, revision, mtime: typeof mtime === 'string' ? mtime : '' }
  if (deleted === true) {
    const own = typeof nuid === 'string' && NUID.test(nuid) ? nuid : ''
    return { ...UNKNOWN, ...base, nuid: own, deleted: true }
  }
  if (options?.link !== undefined && options.link !== null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${show(name)} is a link to another object, which is not followed`,
    )
  }
  if (
    typeof nuid !== 'string' ||
    !NUID.test(nuid) ||
    !isCount(size) ||
    !isCount(chunks) ||
    chunks > size
  ) {
    throw malformed(`${show(name)} is no object of its: ${size} bytes in ${chunks} chunks`)
  }
  const found = DIGEST.exec(typeof digest === 'string' ? digest : '')
  if (found === null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${show(name)} has the digest ${show(digest)}; SHA-256 was expected`,
    )
  }
  return { ...base, nuid, size, chunks, digest: found[1], deleted: false }
}

/**
 * Whose chunks an object has, whatever else is said of it.
 *
 * @param {Uint8Array} data  of the message
 * @returns {string | null} '': nobody's, such as a link's or a deleted object's; null: that is not understood
 */
function nuidNamed(data) {
  if (data.length > MOST_META) return null
  try {
    const { name, nuid = '', deleted = false } = JSON.parse(textOf(data))
    if (typeof name !== 'string' || typeof nuid !== 'string') return null
    return deleted === true ? '' : nuid
  } catch {
    return null
  }
}

/** @param {Meta} meta @returns {ObjectInfo} */
const infoOf = ({ name, size, chunks, digest, mtime, revision }) => ({
  name,
  size,
  chunks,
  digest: `SHA-256=${digest}=`,
  modified: new Date(mtime),
  revision,
})

/**
 * An error of the client or the server, as one of ours; one of ours stays what it is.
 *
 * @param {any} error
 * @param {string} what  was done
 */
function storeError(error, what) {
  if (typeof error?.code === 'string' && error.code.startsWith('ERR_')) return error
  const number = error?.code
  /** @type {import('../base/errors').ErrorCode} */
  let code = 'ERR_REMOTE'
  if (number === NO_STREAM || number === NO_MESSAGE) code = 'ERR_NOT_FOUND'
  else if (FULL.has(number)) code = 'ERR_TOO_LARGE'
  else if (/Closed|Draining|Connection/.test(error?.name)) code = 'ERR_DISCONNECTED'
  else if (/Timeout/.test(error?.name)) code = 'ERR_TIMEOUT'
  else if (isUnanswered(error)) code = 'ERR_NO_RESPONDERS'
  return Object.assign(
    failure(code, `${what}: ${error?.message ?? error}`),
    { cause: error },
    code === 'ERR_REMOTE' && { remoteCode: number },
  )
}

/** Does the server not allow it to this user? @param {any} error  of the client @returns {boolean} */
const isRefusal = (error) =>
  /permissions violation/i.test(error?.message) ||
  (error?.cause instanceof Error && isRefusal(error.cause))

/** May the same work a moment later? The server was restarted, or another one becomes the leader. @param {any} error */
function isPassing(error) {
  return (
    !isRefusal(error) &&
    (['TimeoutError', 'JetStreamNotEnabled', 'NoResponders', 'RequestError'].includes(
      error?.name,
    ) ||
      error?.code === 10008 ||
      error?.code === 503)
  )
}

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {boolean} [isAny]  also what is no object that can be read, such as a link, to be replaced or deleted
 * @returns {Promise<Meta | null>} null: there never was one; it may have been deleted
 */
async function readMeta(store, name, isAny = false) {
  const { jsm, stream, bucket } = store
  const message = await repeated(store, `${show(name)} in ${bucket}`, () =>
    jsm.streams.getMessage(stream, { last_by_subj: metaSubject(bucket, name) }),
  )
  if (message === null) return null
  try {
    return parseMeta(message.data, message.seq, bucket)
  } catch (error) {
    if (!isAny) throw error
    return { ...UNKNOWN, name, bucket, revision: message.seq }
  }
}

/** @param {StoreParts} store @param {string} name @param {Meta | null} meta  that readMeta gave @returns {Meta} @throws ERR_NOT_FOUND */
function checkFound({ bucket }, name, meta) {
  if (meta !== null && !meta.deleted) return meta
  throw failure('ERR_NOT_FOUND', `${bucket} has no object ${show(name)}`)
}

/**
 * Publishes what is known of an object from now on, if nobody else did meanwhile.
 *
 * @param {StoreParts} store
 * @param {Record<string, unknown> & { name: string }} body
 * @param {number} revision  of the message that it replaces; 0: none
 * @returns {Promise<number | null>} its revision; null: somebody was faster
 */
async function publishMeta({ js, bucket, timeout }, body, revision) {
  const headers = peer('transport-node').headers()
  headers.set('Nats-Rollup', 'sub')
  const expect = { lastSubjectSequence: revision }
  const how = { headers, timeout: Math.min(timeout, 5000), expect }
  try {
    return (await js.publish(metaSubject(bucket, body.name), JSON.stringify(body), how)).seq
  } catch (/** @type {any} */ error) {
    if (error?.code === WRONG_LAST_SEQUENCE) return null
    throw error
  }
}

/**
 * Throws chunks away; a failure is no harm but to the space that they take.
 *
 * @param {StoreParts} store
 * @param {string} nuid
 */
async function purgeChunks(store, nuid) {
  if (nuid === '') return
  try {
    await store.jsm.streams.purge(store.stream, { filter: chunkSubject(store.bucket, nuid) })
  } catch {}
}

/** Deletes chunks. @param {StoreParts} store @param {string} nuid @returns {Promise<number>} how many */
async function purgeAll(store, nuid) {
  const filter = chunkSubject(store.bucket, nuid)
  const { purged } = await repeated(store, `the chunks of ${nuid} in ${store.bucket}`, () =>
    store.jsm.streams.purge(store.stream, { filter }),
  )
  return purged
}

/**
 * @param {StoreParts} store
 * @param {string} nuid
 * @returns {Promise<number>} chunks that are stored
 */
async function countChunks(store, nuid) {
  const subject = chunkSubject(store.bucket, nuid)
  const { jsm, stream, bucket } = store
  const { state } = await repeated(store, `the chunks of ${nuid} in ${bucket}`, () =>
    jsm.streams.info(stream, { subjects_filter: subject }),
  )
  return state.subjects?.[subject] ?? 0
}

/**
 * Calls act, again while the server is away, for as long as the store waits.
 *
 * @template R
 * @param {StoreParts} store
 * @param {string} what
 * @param {() => Promise<R>} act
 * @returns {Promise<R>}
 */
async function repeated({ core, timeout }, what, act) {
  const until = Date.now() + timeout
  for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
    try {
      return await act()
    } catch (error) {
      if (core.connection.isClosed()) {
        throw failure('ERR_DISCONNECTED', `${what}: the connection was closed`)
      }
      if (!isPassing(error) || Date.now() + pause > until) throw storeError(error, what)
    }
    await sleep(pause)
  }
}

module.exports = {
  streamOf,
  objectName,
  chunkSubject,
  parseMeta,
  nuidNamed,
  infoOf,
  storeError,
  isPassing,
  readMeta,
  checkFound,
  publishMeta,
  purgeChunks,
  purgeAll,
  countChunks,
}
