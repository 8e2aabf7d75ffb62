'use strict'
// put: a file's bytes as chunks, in order and each once, a bounded number of them on the way; the message that makes them the object comes last.

const { setImmediate: nextTurn } = require('node:timers/promises')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { countStaged } = require('../backend/storage')
const { beginUse, endUse } = require('../copy/async')
const { textOf } = require('../runtime/host')
const { TensorPiece, ChecksummedTensor, contentOf, withPart, sizeOf } = require('../files/writers')
const { Digest } = require('./digest')
const { peer } = require('./peers')
const { Waits } = require('./store-waits')
const {
  isPassing,
  storeError,
  readMeta,
  checkFound,
  publishMeta,
  purgeChunks,
  countChunks,
  chunkSubject,
  infoOf,
  parseMeta,
} = require('./store-meta')

const { backend } = ffi

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('../files/writers').Piece} Piece */
/** @typedef {import('./store-meta').StoreParts} StoreParts */
/** @typedef {import('./store-meta').Meta} Meta */
/** @typedef {{ piece: Piece, at: number, nbytes: number }} Part */
/** @typedef {{ parts: Part[], nbytes: number }} Chunk of one part: sent from where it lies; of several small ones: put together */

/** @typedef {object} Putting
 * @property {number} chunk  bytes, at most
 * @property {boolean} replace  else what is there stays
 * @property {Signal | undefined} signal
 * @property {((progress: { done: number, total: number }) => void) | undefined} onProgress
 */

const IN_PLACE = 2 ** 16 // bytes of a piece that is sent by itself
const IN_FLIGHT = 2 ** 22 // bytes that are sent and not acknowledged
const QUIET_MS = 5000 // without an acknowledgement: the chunks are taken as lost
const PAUSE_MS = 100
const COUNTS = 10 // of chunks, before some are taken as lost
const SUM_STEP = 2 ** 23 // bytes of a checksum in one turn of the event loop
/** what is published of an object, before it has bytes */
const EMPTY = { options: {}, size: 0, mtime: '', chunks: 0, digest: '', deleted: false }

/** @param {Piece[]} pieces @param {number} most  bytes @returns {Chunk[]} */
function chunksOf(pieces, most) {
  /** @type {Chunk[]} */
  const chunks = []
  let small = /** @type {Chunk | null} */ (null)
  for (const piece of pieces) {
    const size = sizeOf(piece)
    const isSmall = size < Math.min(IN_PLACE, most)
    for (let at = 0; at < size;) {
      const nbytes = Math.min(most, size - at)
      const part = { piece, at, nbytes }
      at += nbytes
      if (isSmall && small !== null && small.nbytes + nbytes <= most) {
        small.parts.push(part)
        small.nbytes += nbytes
        continue
      }
      const chunk = { parts: [part], nbytes }
      chunks.push(chunk)
      small = isSmall ? chunk : null
    }
  }
  return chunks
}

/** A chunk's bytes: the tensor's own where it is of one. @param {Chunk} chunk @returns {Uint8Array} */
function payloadOf({ parts, nbytes }) {
  const [{ piece, at }] = parts
  const isStable = !(contentOf(piece) instanceof TensorPiece) || !backend.isWasm // WASM memory may grow meanwhile
  if (parts.length === 1 && isStable) return withPart(piece, at, nbytes, (bytes) => bytes)
  const joined = new Uint8Array(nbytes)
  let to = 0
  for (const { piece, at, nbytes } of parts) {
    withPart(piece, at, nbytes, (bytes) => joined.set(bytes, to))
    to += nbytes
  }
  countStaged(nbytes)
  return joined
}

/** Takes the checksums that a zip has before its arrays. @param {Piece[]} pieces @param {Waits} waits */
async function checksum(pieces, waits) {
  for (const piece of pieces) {
    if (!(piece instanceof ChecksummedTensor)) continue
    const size = sizeOf(piece)
    for (let at = 0; at < size; at += SUM_STEP) {
      withPart(piece, at, Math.min(SUM_STEP, size - at), (bytes) => piece.add(bytes))
      await nextTurn()
      waits.progress()
      waits.check()
    }
    let begin = 0
    for (const each of pieces) {
      // one has the byte of the file at which the sum goes
      const end = begin + sizeOf(each)
      if (piece.at >= begin && piece.at < end) {
        const bytes = /** @type {Uint8Array} */ (each)
        bytes.set(piece.sum(), piece.at - begin)
      }
      begin = end
    }
  }
}

/** What the server answers to a chunk. @param {Uint8Array} data @returns {number} its sequence @throws ERR_TOO_LARGE the bucket is full · ERR_REMOTE */
function storedAs(data) {
  let answer
  try {
    answer = JSON.parse(textOf(data)) ?? {}
  } catch (error) {
    throw storeError(error, 'the answer to a chunk')
  }
  const { error, seq } = answer
  if (error) {
    const { description, err_code: code } = error
    const cause = Object.assign(new Error(description), { name: 'JetStreamApiError', code })
    throw storeError(cause, 'a chunk was not stored')
  }
  if (Number.isSafeInteger(seq)) return seq
  throw failure('ERR_REMOTE', 'the answer to a chunk has no sequence')
}

/**
 * What makes chunks an object.
 *
 * @typedef {object} Draft
 * @property {Record<string, unknown> & { name: string, nuid: string, chunks: number }} body
 * @property {boolean} replace
 * @property {boolean} isUncertain  it was sent, and nobody knows whether it arrived
 */

/**
 * Makes the chunks the object of its name, whoever else does that.
 *
 * @param {StoreParts} store
 * @param {Waits} waits
 * @param {Draft} draft
 * @returns {Promise<Meta>}
 * @throws ERR_EXISTS · ERR_STALE
 */
async function install(store, waits, draft) {
  const { body, replace } = draft
  for (;;) {
    waits.check()
    const old = await waits.orAborted(readMeta(store, body.name, true))
    if (old?.nuid === body.nuid) return old // stored, though nobody said so
    if (!replace && old !== null && !old.deleted) throw exists(store, body.name)
    await checkStored(store, waits, body)
    let revision = null
    draft.isUncertain = true
    try {
      revision = await publishMeta(store, body, old?.revision ?? 0)
      if (revision === null) draft.isUncertain = false // somebody was faster
    } catch (error) {
      if (!isPassing(error)) {
        draft.isUncertain = false
        throw storeError(error, show(body.name))
      }
      await waits.connected()
      await waits.wait(PAUSE_MS)
    }
    if (revision === null) continue
    if (old !== null) await purgeChunks(store, old.nuid)
    return parseMeta(Buffer.from(JSON.stringify(body)), revision, store.bucket)
  }
}

/**
 * Chunks that were on their way when the connection was lost may come late, and others clean the store while a put rests. A server that has just become the leader may know of
 * the last ones a moment later.
 *
 * @param {StoreParts} store @param {Waits} waits @param {Draft['body']} body
 * @throws ERR_STALE
 */
async function checkStored(store, waits, { name, nuid, chunks }) {
  for (let i = 1; ; i++) {
    const stored = await waits.orAborted(countChunks(store, nuid))
    if (stored === chunks) return
    if (stored > chunks || i === COUNTS) {
      throw failure(
        'ERR_STALE',
        `${show(name)}: ${stored} chunks are in the store where ${chunks} were sent; chunks of a put that rests for long may be deleted`,
      )
    }
    await waits.wait(PAUSE_MS)
  }
}

/** @param {StoreParts} store @param {string} name */
const exists = ({ bucket }, name) =>
  failure('ERR_EXISTS', `${bucket} has an object ${show(name)} already`)

/**
 * @param {StoreParts} store
 * @param {string} name
 * @param {Piece[]} pieces
 * @param {Putting} how
 * @returns {Promise<import('./store-meta').ObjectInfo>}
 */
async function putObject(store, name, pieces, how) {
  const held = pieces.map(contentOf).filter((content) => content instanceof TensorPiece)
  for (const content of held) content.check()
  const storages = held.map(({ layout }) => layout.storage)
  for (const storage of storages) beginUse(storage, 0)
  const waits = new Waits(store.core, store.timeout, how.signal)
  try {
    waits.check()
    const there = how.replace ? null : await waits.orAborted(readMeta(store, name, true))
    if (there !== null && !there.deleted) throw exists(store, name)
    await checksum(pieces, waits)
    const size = pieces.reduce((n, piece) => n + sizeOf(piece), 0)
    const nuid = peer('transport-node').nuid.next()
    const options = { max_chunk_size: how.chunk }
    const body = { name, bucket: store.bucket, nuid, ...EMPTY, options, size }
    const draft = { body, replace: how.replace, isUncertain: false }
    try {
      const { chunks, digest } = await sendChunks(store, waits, nuid, pieces, size, how)
      for (const storage of storages) ffi.checkIntact(storage) // bytes of a mapped file are gone: zeros were sent
      Object.assign(body, { chunks, digest, mtime: new Date().toISOString() })
      return infoOf(await install(store, waits, draft))
    } catch (error) {
      const purged = draft.isUncertain ? undefined : purgeChunks(store, nuid) // else they may be an object's
      if (store.core.isConnected()) await purged
      throw error
    }
  } finally {
    waits.close()
    for (const storage of storages) endUse(storage, 0)
  }
}

/**
 * Sends a file's chunks, and computes its digest; what was sent behind a lost one is deleted, and sent again.
 *
 * @param {StoreParts} store @param {Waits} waits @param {string} nuid @param {Piece[]} pieces @param {number} total  bytes @param {Putting} how
 */
async function sendChunks(store, waits, nuid, pieces, total, { chunk, onProgress }) {
  const { jsm, stream } = store
  const { connection, link } = store.core
  const subject = chunkSubject(store.bucket, nuid)
  const chunks = chunksOf(pieces, chunk)
  const contents = pieces.map(contentOf)
  const digest = new Digest(
    contents.map((content) => (content instanceof TensorPiece ? content.tensor : content)),
  )
  let done = 0 // chunks that are stored, from the first on
  let sent = 0 // bytes of these
  let last = 0 // sequence of the last of these
  let next = 0
  let inFlight = 0
  let isBroken = false
  /** @type {{ error: any } | null} */
  let failed = null

  /** @param {any} error @param {any} message */
  const receive = (error, message) => {
    if (isBroken || failed !== null) return
    try {
      if (error) throw error
      const isStored = message.data.length > 0 // else nobody stores it now
      const seq = isStored ? storedAs(message.data) : 0
      if (isStored && Number(message.subject.split('.').at(-1)) === done) {
        const { nbytes } = chunks[done++]
        inFlight -= nbytes
        sent += nbytes
        last = seq
        waits.progress()
        digest.reach(sent)
        onProgress?.({ done: sent, total })
      } else isBroken = true // answers come in the order of the chunks
    } catch (thrown) {
      if (isPassing(thrown)) isBroken = true
      else failed = { error: thrown }
    }
    waits.wake()
  }

  /** Sends until all is stored, or something is lost. */
  const attempt = async () => {
    const inbox = peer('transport-node').createInbox(jsm.getOptions().watcherPrefix)
    const subscription = connection.subscribe(`${inbox}.*`, { callback: receive })
    try {
      while (done < chunks.length && !isBroken) {
        while (
          next < chunks.length &&
          (inFlight === 0 || inFlight + chunks[next].nbytes <= IN_FLIGHT)
        ) {
          const payload = payloadOf(chunks[next])
          try {
            connection.publish(subject, payload, { reply: `${inbox}.${next}` })
          } catch (error) {
            throw storeError(error, 'a chunk was not sent')
          }
          inFlight += chunks[next++].nbytes
        }
        link.flush().catch(() => {}) // hands them to the socket before anybody can transfer their buffers
        const before = done
        const woken = await waits.wait(QUIET_MS)
        if (failed !== null) throw failed.error
        if (waits.isLost || (!woken && done === before)) isBroken = true
      }
    } finally {
      if (!connection.isClosed()) subscription.unsubscribe()
    }
  }

  /** Deletes what may have been stored behind the last acknowledged chunk. @returns {Promise<boolean>} false: not now */
  const recover = async () => {
    try {
      for (;;) {
        const behind = { seq: last + 1, next_by_subj: subject }
        const message = await waits.orAborted(jsm.streams.getMessage(stream, behind))
        if (message === null) break
        await waits.orAborted(jsm.streams.deleteMessage(stream, message.seq, false))
      }
    } catch (error) {
      waits.check()
      if (!isPassing(error)) throw storeError(error, subject)
      await waits.wait(PAUSE_MS)
      return false
    }
    next = done
    inFlight = 0
    isBroken = false
    return true
  }

  try {
    while (done < chunks.length) {
      await waits.connected()
      if (isBroken && !(await recover())) continue
      await attempt()
    }
    const sum = await waits.orAborted(digest.end(total))
    waits.progress()
    return { chunks: chunks.length, digest: `SHA-256=${sum}=` }
  } catch (error) {
    digest.drop()
    throw error
  }
}

/**
 * @param {StoreParts} store
 * @param {string} name
 * @returns {Promise<void>}
 * @throws ERR_NOT_FOUND
 */
async function deleteObject(store, name) {
  for (;;) {
    const { nuid, revision } = checkFound(store, name, await readMeta(store, name, true))
    const mtime = new Date().toISOString()
    const body = { name, bucket: store.bucket, nuid, ...EMPTY, mtime, deleted: true }
    const made = await publishMeta(store, body, revision).catch((error) => {
      throw storeError(error, show(name))
    })
    if (made !== null) return purgeChunks(store, nuid)
  }
}

module.exports = { putObject, deleteObject }
