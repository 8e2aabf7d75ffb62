'use strict'
// SHA-256 of bytes that arrive or are sent piece by piece: by a thread where they lie in memory that it can see, else here, in the caller's steps.

const { createHash } = require('node:crypto')
const path = require('node:path')
const { failure } = require('../base/errors')
const { isPackage } = require('../runtime/host')
const { readBytes } = require('../layout/data')
const { itemsizes } = require('../backend/dtypes')
const { Tensor } = require('../tensor/tensor')
const { share, unshare } = require('../sharing/tokens')
const { copyOut } = require('../files/native-bytes')

/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {Uint8Array | TensorOf} Section bytes that nobody changes, or a contiguous tensor */
/** @typedef {{ resolve: (digest: string) => void, reject: (error: any) => void }} Waiting */

const LEAST = 2 ** 22 // bytes that are worth a thread
const OWN = 2 ** 16 // bytes of native memory that are hashed at a time here
const STEP = 2 ** 20 // bytes of which the thread is told at a time

/** The thread of this one, once it is needed. @type {import('node:worker_threads').Worker | null} */
let worker = null
/** @type {Map<number, Waiting>} */
const waiting = new Map()
/** Why digests failed that nobody waits for yet; undefined: they go on. @type {Map<number, { error: unknown } | undefined>} */
const open = new Map()
let lastId = 0

/** @param {Section} section */
const sizeOf = section => section instanceof Uint8Array ? section.length : section.size * itemsizes[Tensor.layoutOf(section).dtype]

/** @returns {import('node:worker_threads').Worker | null} null: this process may start none */
function theWorker () {
  if (worker !== null) return worker
  if (!isPackage) return null // a bundler took no worker along
  try {
    const { Worker } = require('node:worker_threads')
    const started = worker = new Worker(path.join(__dirname, 'digest-worker.js'), { execArgv: [] })
    started.on('message', ({ id, digest, fault }) => settle(id, digest, fault && failure(fault.code, fault.message)))
    started.on('error', error => ended(started, error))
    started.on('exit', () => ended(started, failure('ERR_IO', 'the thread that computes digests ended')))
    started.unref()
    return started
  } catch {
    return null
  }
}

/** @param {number} id @param {string} digest @param {unknown} error */
function settle (id, digest, error) {
  const one = waiting.get(id)
  waiting.delete(id)
  if (one !== undefined) open.delete(id)
  else if (open.has(id) && error !== undefined) open.set(id, { error })
  if (waiting.size === 0) worker?.unref()
  if (error === undefined) one?.resolve(digest)
  else one?.reject(error)
}

/** @param {import('node:worker_threads').Worker} which @param {unknown} error */
function ended (which, error) {
  if (worker !== which) return
  worker = null
  for (const id of [...waiting.keys()]) settle(id, '', error)
}

/** Hashes here: each step takes as long as it takes. */
class LocalDigest {
  /** @param {Section[]} sections  in the order of the bytes */
  constructor (sections) {
    this.hash = createHash('sha256')
    this.sections = sections.slice()
    this.at = 0
    this.done = 0
    this.isLocal = true
    /** for native memory @type {Uint8Array | null} */
    this.own = null
  }

  /** All bytes before this one are in place now. @param {number} total */
  reach (total) {
    while (this.done < total) {
      const [section] = this.sections
      const n = Math.min(total - this.done, STEP, sizeOf(section) - this.at)
      if (section instanceof Uint8Array) this.hash.update(section.subarray(this.at, this.at + n))
      else this.update(Tensor.attachedOf(section), n)
      this.done += n
      this.at += n
      if (this.at < sizeOf(section)) continue
      this.sections.shift()
      this.at = 0
    }
  }

  /** @param {InstanceType<typeof import('../backend/calls').Layout>} layout @param {number} n  bytes at this.at */
  update (layout, n) {
    if (layout.storage.kind !== 'native') return readBytes(layout, this.at, n, bytes => { this.hash.update(bytes) })
    this.own ??= new Uint8Array(OWN)
    for (let from = 0; from < n; from += OWN) {
      const bytes = this.own.subarray(0, Math.min(OWN, n - from))
      copyOut(layout, this.at + from, bytes)
      this.hash.update(bytes)
    }
  }

  /** @returns {Promise<string>} base64url, without padding */
  async end () { return this.hash.digest('base64url') }

  drop () {}
}

/** Hashes in the thread, which keeps the memory until it is done. */
class SharedDigest {
  /** @param {import('node:worker_threads').Worker} thread @param {any[]} parts  messages that tell of the sections */
  constructor (thread, parts) {
    this.thread = thread
    this.id = ++lastId
    this.done = 0
    this.isLocal = false
    open.set(this.id, undefined)
    this.send({ action: 'open' })
    for (const part of parts) this.send(part)
  }

  /** @param {any} message */
  send (message) { if (worker === this.thread) this.thread.postMessage({ ...message, id: this.id }) }

  /** @param {number} total @param {boolean} [isLast] */
  reach (total, isLast = false) {
    if (total === this.done || (total - this.done < STEP && !isLast)) return
    this.send({ action: 'advance', nbytes: total - this.done })
    this.done = total
  }

  /** @param {number} total  bytes of all @returns {Promise<string>} */
  end (total) {
    this.reach(total, true)
    return new Promise((resolve, reject) => {
      const failed = open.get(this.id)
      if (failed !== undefined || worker !== this.thread) {
        open.delete(this.id)
        return reject(failed !== undefined ? failed.error : failure('ERR_IO', 'the thread that computes digests ended'))
      }
      waiting.set(this.id, { resolve, reject })
      worker.ref()
      this.send({ action: 'end' })
    })
  }

  /** Nobody wants it any more. */
  drop () {
    open.delete(this.id)
    this.send({ action: 'drop' })
  }
}

/** @typedef {LocalDigest | SharedDigest} Digest */

/**
 * @param {Section[]} sections
 * @returns {any[] | null} null: a thread does not see one of them
 */
function partsOf (sections) {
  /** @type {any[]} */
  const parts = []
  try {
    for (const section of sections) {
      if (sizeOf(section) === 0) continue
      parts.push(section instanceof Uint8Array ? { action: 'bytes', bytes: section } : { action: 'token', token: share(section) })
    }
    return parts
  } catch (/** @type {any} */ error) {
    for (const part of parts) if (part.token !== undefined) unshare(part.token)
    if (error.code !== 'ERR_UNSUPPORTED') throw error
    return null
  }
}

/**
 * @param {Section[]} sections  in the order of the bytes; tensors stay alive until the digest has ended
 * @returns {Digest}
 */
function digestOf (sections) {
  const full = sections.filter(section => sizeOf(section) > 0)
  const total = full.reduce((n, section) => n + sizeOf(section), 0)
  const thread = total < LEAST ? null : theWorker()
  const parts = thread === null ? null : partsOf(full)
  return thread === null || parts === null ? new LocalDigest(full) : new SharedDigest(thread, parts)
}

module.exports = { digestOf }
