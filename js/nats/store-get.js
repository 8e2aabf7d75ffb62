'use strict'
// get: an object's chunks, written to their places as they come, and compared with its digest.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { readMeta, parseMeta, chunkSubject, infoOf } = require('./store-meta')
const { Waits } = require('./store-waits')
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
 * @property {((progress: { done: number, total: number }) => void) | undefined} onProgress
 */

const ATTEMPTS = 3 // where objects are replaced while they are read

/** @param {Meta} meta @param {Getting} how @returns {Target} */
function targetOf (meta, how) {
  if (how.file !== undefined) return new FileTarget(meta, how.file, how.resume)
  return how.out === undefined ? new BlockTarget(meta, how) : new TensorTarget(meta, how, how.out)
}

/**
 * @param {StoreParts} store
 * @param {Waits} waits
 * @param {string} name
 * @param {number} maxBytes
 * @returns {Promise<Meta>}
 */
async function metaOf (store, waits, name, maxBytes) {
  const meta = await waits.orAborted(readMeta(store, name))
  if (meta === null || meta.deleted) throw failure('ERR_NOT_FOUND', `${store.bucket} has no object ${show(name)}`)
  if (meta.size > maxBytes) throw failure('ERR_TOO_LARGE', `${show(name)} has ${meta.size} bytes; maxBytes is ${maxBytes}`)
  if (meta.size === 0) throw failure('ERR_FORMAT', `${show(name)} is empty`)
  return meta
}

/**
 * Reads what a target has not got yet.
 *
 * @param {StoreParts} store
 * @param {Waits} waits
 * @param {Meta} meta
 * @param {Target} target
 * @param {Getting['onProgress']} onProgress
 */
async function receive (store, waits, meta, target, onProgress) {
  const { name, nuid, size } = meta
  const take = (/** @type {Uint8Array} */ data, /** @type {number} */ seq) => {
    if (target.at + data.length > size) throw failure('ERR_CHECKSUM', `${show(name)}: more than its ${size} bytes came`)
    target.write(data, seq)
    onProgress?.({ done: target.at, total: size })
  }
  if (target.at < size) await new Reading(store, waits, { filter: chunkSubject(store.bucket, nuid), after: target.seq, take }).run()
  if (target.at < size) throw await missing(store, waits, meta, target.at)
  const digest = await waits.orAborted(target.digest())
  waits.progress()
  if (digest !== meta.digest) throw failure('ERR_CHECKSUM', `${show(name)} has the digest ${meta.digest}; its chunks have ${digest}`)
}

/** Why chunks are missing. @param {StoreParts} store @param {Waits} waits @param {Meta} meta @param {number} at */
async function missing (store, waits, { name, nuid, size }, at) {
  const now = await waits.orAborted(readMeta(store, name))
  return now?.nuid === nuid && !now.deleted
    ? failure('ERR_CHECKSUM', `${show(name)}: ${at} of its ${size} bytes are in the store`)
    : failure('ERR_STALE', `${show(name)} was ${now === null || now.deleted ? 'deleted' : 'replaced'} while it was read`)
}

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {Getting} how
 * @param {Waits} waits
 */
async function attempt (store, name, how, waits) {
  const meta = await metaOf(store, waits, name, how.maxBytes)
  waits.check()
  const target = targetOf(meta, how)
  try {
    await receive(store, waits, meta, target, how.onProgress)
    waits.check()
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
  const waits = new Waits(store.core, store.timeout, how.signal)
  try {
    for (let i = 1; ; i++) {
      try {
        return await attempt(store, name, how, waits)
      } catch (/** @type {any} */ error) {
        if (error?.code !== 'ERR_STALE' || i === ATTEMPTS) throw error
      }
    }
  } finally {
    waits.close()
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
  const waits = new Waits(store.core, store.timeout, signal)
  /** @type {Map<string, Meta>} */
  const found = new Map()
  const take = (/** @type {Uint8Array} */ data, /** @type {number} */ seq) => {
    const meta = parsed(() => parseMeta(data, seq, store.bucket))
    if (meta !== null) found.set(meta.name, meta)
  }
  try {
    await new Reading(store, waits, { filter: `$O.${store.bucket}.M.>`, isLastOnly: true, take }).run()
  } finally {
    waits.close()
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
