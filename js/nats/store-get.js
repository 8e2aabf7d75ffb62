'use strict'
// get: an object's chunks, written to their places as they come, and compared with its digest.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { readMeta, parseMeta, chunkSubject, infoOf } = require('./store-meta')
const { Link } = require('./store-link')
const { Reading } = require('./store-reading')
const { BlockTarget, TensorTarget } = require('./store-targets')
const { FileTarget } = require('./store-files')

/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./store-meta').StoreParts} StoreParts */
/** @typedef {import('./store-meta').Meta} Meta */
/** @typedef {import('./store-targets').Target} Target */

/**
 * Options of get, checked.
 *
 * @typedef {object} Getting
 * @property {string} extension  of the name
 * @property {TensorOf | Record<string, TensorOf> | undefined} out
 * @property {string | undefined} file
 * @property {string | undefined} resume
 * @property {any} dtype
 * @property {number} maxBytes
 * @property {Signal | undefined} signal
 * @property {((progress: { bytes: number, total: number }) => void) | undefined} onProgress
 */

const ATTEMPTS = 3 // where objects are replaced while they are read

/** @param {Meta} meta @param {Getting} how @returns {Target} */
function targetOf (meta, how) {
  if (how.file !== undefined) return new FileTarget(meta, how.file, how.resume)
  return how.out === undefined ? new BlockTarget(meta, how) : new TensorTarget(meta, how, how.out)
}

/**
 * @param {StoreParts} store
 * @param {Link} link
 * @param {string} name
 * @param {number} maxBytes
 * @returns {Promise<Meta>}
 */
async function metaOf (store, link, name, maxBytes) {
  const meta = await link.orAborted(readMeta(store, name))
  if (meta === null || meta.deleted) throw failure('ERR_NOT_FOUND', `${store.bucket} has no object ${show(name)}`)
  if (meta.size > maxBytes) throw failure('ERR_TOO_LARGE', `${show(name)} has ${meta.size} bytes; maxBytes is ${maxBytes}`)
  if (meta.size === 0) throw failure('ERR_FORMAT', `${show(name)} is empty`)
  return meta
}

/**
 * Reads what a target has not got yet.
 *
 * @param {StoreParts} store
 * @param {Link} link
 * @param {Meta} meta
 * @param {Target} target
 * @param {Getting['onProgress']} onProgress
 */
async function receive (store, link, meta, target, onProgress) {
  const { name, nuid, size } = meta
  const take = (/** @type {Uint8Array} */ data, /** @type {number} */ seq) => {
    if (target.at + data.length > size) throw failure('ERR_CHECKSUM', `${show(name)}: more than its ${size} bytes came`)
    target.write(data, seq)
    onProgress?.({ bytes: target.at, total: size })
  }
  if (target.at < size) await new Reading(store, link, { filter: chunkSubject(store.bucket, nuid), after: target.seq, take }).run()
  if (target.at < size) throw await missing(store, link, meta, target.at)
  const digest = await link.orAborted(target.digest())
  link.progress()
  if (digest !== meta.digest) throw failure('ERR_CHECKSUM', `${show(name)} has the digest ${meta.digest}; its chunks have ${digest}`)
}

/** Why chunks are missing. @param {StoreParts} store @param {Link} link @param {Meta} meta @param {number} at */
async function missing (store, link, { name, nuid, size }, at) {
  const now = await link.orAborted(readMeta(store, name))
  return now?.nuid === nuid && !now.deleted
    ? failure('ERR_CHECKSUM', `${show(name)}: ${at} of its ${size} bytes are in the store`)
    : failure('ERR_STALE', `${show(name)} was ${now === null || now.deleted ? 'deleted' : 'replaced'} while it was read`)
}

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {Getting} how
 * @param {Link} link
 */
async function attempt (store, name, how, link) {
  const meta = await metaOf(store, link, name, how.maxBytes)
  link.check()
  const target = targetOf(meta, how)
  try {
    await receive(store, link, meta, target, how.onProgress)
    link.check()
    return await target.finish()
  } catch (error) {
    target.discard(error)
    throw error
  }
}

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {Getting} how
 * @returns {Promise<any>}
 */
async function getObject (store, name, how) {
  const link = new Link(store.core, store.timeout, how.signal)
  try {
    for (let i = 1; ; i++) {
      try {
        return await attempt(store, name, how, link)
      } catch (/** @type {any} */ error) {
        if (error?.code !== 'ERR_STALE' || i === ATTEMPTS) throw error
      }
    }
  } finally {
    link.close()
  }
}

/**
 * What the store has, by name.
 *
 * @param {StoreParts} store
 * @param {Signal | undefined} signal
 * @returns {Promise<import('./store-meta').ObjectInfo[]>}
 */
async function listObjects (store, signal) {
  const link = new Link(store.core, store.timeout, signal)
  /** @type {Map<string, Meta>} */
  const found = new Map()
  const take = (/** @type {Uint8Array} */ data, /** @type {number} */ seq) => {
    const meta = parsed(() => parseMeta(data, seq, store.bucket))
    if (meta !== null) found.set(meta.name, meta)
  }
  try {
    await new Reading(store, link, { filter: `$O.${store.bucket}.M.>`, isLastOnly: true, take }).run()
  } finally {
    link.close()
  }
  return [...found.values()].filter(meta => !meta.deleted).map(infoOf).sort((a, b) => a.name < b.name ? -1 : 1)
}

/** Objects that are none of ours, such as links, are left out. @param {() => Meta} parse */
function parsed (parse) {
  try {
    return parse()
  } catch {
    return null
  }
}

module.exports = { getObject, listObjects }
