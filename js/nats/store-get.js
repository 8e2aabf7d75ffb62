'use strict'
// get: an object's chunks, written to their places as they come, and compared with its digest.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { readMeta, checkFound, parseMeta, chunkSubject, infoOf } = require('./store-meta')
const { Waits } = require('./store-waits')
const { readMessages } = require('./store-reading')
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

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {Getting} how
 * @param {Waits} waits
 */
async function attempt(store, name, how, waits) {
  const { file, out, maxBytes, onProgress } = how
  const meta = checkFound(store, name, await waits.orAborted(readMeta(store, name)))
  const { nuid, size } = meta
  if (size > maxBytes) {
    throw failure('ERR_TOO_LARGE', `${show(name)} has ${size} bytes; maxBytes is ${maxBytes}`)
  }
  if (size === 0) throw failure('ERR_FORMAT', `${show(name)} is empty`)
  waits.check()
  /** @type {Target} */
  let target
  if (file !== undefined) target = new FileTarget(meta, file, how.resume)
  else target = out === undefined ? new BlockTarget(meta, how) : new TensorTarget(meta, how, out)
  try {
    /** @type {import('./store-reading').Take} */
    const take = (data, seq) => {
      if (target.at + data.length > size) {
        throw failure('ERR_CHECKSUM', `${show(name)}: more than its ${size} bytes came`)
      }
      target.write(data, seq)
      onProgress?.({ done: target.at, total: size })
    }
    if (target.at < size) {
      const filter = chunkSubject(store.bucket, nuid)
      await readMessages(store, waits, { filter, after: target.seq, take })
    }
    if (target.at < size) {
      const now = await waits.orAborted(readMeta(store, name))
      const isGone = now === null || now.deleted
      if (isGone || now.nuid !== nuid) {
        throw failure(
          'ERR_STALE',
          `${show(name)} was ${isGone ? 'deleted' : 'replaced'} while it was read`,
        )
      }
      throw failure(
        'ERR_CHECKSUM',
        `${show(name)}: ${target.at} of its ${size} bytes are in the store`,
      )
    }
    const digest = await waits.orAborted(target.digest())
    waits.progress()
    if (digest !== meta.digest) {
      throw failure(
        'ERR_CHECKSUM',
        `${show(name)} has the digest ${meta.digest}; its chunks have ${digest}`,
      )
    }
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
async function getObject(store, name, how) {
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
async function listObjects(store, signal) {
  const waits = new Waits(store.core, store.timeout, signal)
  /** @type {Map<string, Meta>} */
  const found = new Map()
  const filter = `$O.${store.bucket}.M.>`
  /** @type {import('./store-reading').Take} */
  const take = (data, seq) => {
    try {
      const meta = parseMeta(data, seq, store.bucket)
      found.set(meta.name, meta)
    } catch {} // it is none of ours, such as a link, and left out
  }
  try {
    await readMessages(store, waits, { filter, isLastOnly: true, take })
  } finally {
    waits.close()
  }
  return [...found.values()]
    .filter((meta) => !meta.deleted)
    .map(infoOf)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

module.exports = { getObject, listObjects }
