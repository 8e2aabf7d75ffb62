'use strict'
// The way of requests and replies between processes of one host: a message says where the bytes lie in shared memory. Callers send to a subject that has the
// host's name, where services of the host listen as well; where nobody does, or the bytes cannot be used, they are sent. docs/design/023 has the reasons.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { countSent } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { beginUse, endUse } = require('../copy/async')
const { Part } = require('../files/byte-source')
const { Tensor } = require('../tensor/tensor')
const { log, now } = require('../runtime/host')
const { lazyFile } = require('../runtime/lazy')
const { nbytesOfValue, tensorsOf } = require('./batches')
const { HeaderBlock, STATUS } = require('./headers')
const { hostContent, copyTo, readFrom, tensorOver } = require('./host-content')
const { borrow } = require('./host-open')
const { newSealed, page } = require('./host-tokens')
const messages = require('./messages')
const { remember } = require('./remember')

const { backend } = ffi
const segments = lazyFile(() => require('../sharing/segments'))

/** @typedef {import('./inbox').Core} Core */
/** @typedef {import('./batches').Value} Value */
/** @typedef {import('./host-content').Content} Content */
/** @typedef {import('./host-tokens').Segment} Segment */
/** @typedef {import('./host-tokens').Token} Token */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

const AWAY_MS = 5000 // for which bytes are sent to who did not take a descriptor
const MOST_SUBJECTS = 1024
const HEADER_BYTES = 8192 // bytes; as of replies
const PAGE = 'Tensor-Host' // of a request: process, descriptor and inode of its page of tokens; of a reply: REFUSED, WRITTEN
const DATA = 'Tensor-Host-Data' // a token: the request's bytes
const REPLY = 'Tensor-Host-Reply' // a token: where the reply may be written
const NEEDED = 'Tensor-Host-Needed' // of a refusal: bytes of the reply
const SIZE = 'Tensor-Host-Size' // of a record that was written: its bytes
const MOST_EXPORTED = Math.min(2 ** 30, Math.floor(os.totalmem() / 8)) // bytes of segments of ours that others may use; what is beyond is sent
const MOST_SEGMENTS = 128 // likewise
const RECORD_BYTES = 1024 // bytes by which the header of a reply's record may be longer than that of `out`
const [REFUSED, WRITTEN] = ['refused', 'written']

// ---- The host ----

/** undefined: not asked yet @type {string | null | undefined} */
let known

/** What processes of one host have in common that can open each other's segments. @returns {string | null} null: there are no segments */
function hostId() {
  if (known !== undefined) return known
  known = null
  const { segments: folder, sealedMemory, descriptorPaths } = backend.abilities
  if (folder === undefined || !sealedMemory || !descriptorPaths) return null
  if (process.versions.deno !== undefined) return null
  try {
    if (parseInt(fs.readFileSync('/proc/self/stat', 'latin1')) !== process.pid) return null // /proc is another namespace's
    const spaces = ['pid', 'user'].map((name) => fs.readlinkSync(`/proc/self/ns/${name}`))
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    const parts = [
      boot,
      fs.statSync(folder).dev,
      /** @type {() => number} */ (process.geteuid)(),
      ...spaces,
    ]
    known = createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 24)
  } catch (error) {
    log('the host has no name: %s', error)
  }
  return known
}

/** Where services of this host listen. @param {string} subject @returns {string | null} */
function subjectOfHost(subject) {
  const id = hostId()
  return id === null ? null : `${subject}.host.${id}`
}

/** What a bus has learned. @typedef {{ away: Map<string, number>, sizes: Map<string, number> }} State away: subjects that take no descriptors, until when; sizes: bytes of replies, by subject and method */

/** @param {Core} core @returns {State} */
const stateOf = (core) => (core.host ??= { away: new Map(), sizes: new Map() })

// ---- The caller ----

/** What a caller does next: sends bytes, sends it again with more room for the reply, or what else the reply asks for (null). @typedef {'bytes' | 'again' | null} Next */

/**
 * A request that is sent by descriptor to processes of this host, until it has settled.
 *
 * @param {Core} core
 * @param {string} subject
 * @param {Value} value
 * @param {{ method?: string | undefined, out?: Value | undefined, attempts?: number }} [options]  of the request
 * @returns null: it is sent as bytes
 */
function offer(core, subject, value, { method, out, attempts = 1 } = {}) {
  const to = subjectOfHost(subject)
  if (to === null) return null
  const { away, sizes } = stateOf(core)
  const key = `${method ?? ''} ${subject}`
  let expected = sizes.get(key) ?? 0 // bytes of the reply
  if (out !== undefined) {
    expected = nbytesOfValue(out)
    const isLargeRecord = !Tensor.isTensor(out) && expected >= messages.SMALL
    if (isLargeRecord) expected = hostContent(out).nbytes + RECORD_BYTES
  }
  if (nbytesOfValue(value) < messages.SMALL && expected < messages.SMALL) return null
  const content = hostContent(value)
  if (!content.isOnCpu) return null
  const fits = content.nbytes < (core.connection.info?.max_payload ?? Infinity) - HEADER_BYTES
  if (fits && (away.get(subject) ?? 0) > now()) return null
  const isLarge = content.nbytes >= messages.SMALL // else the bytes are sent
  const exported = isLarge ? exportOf(value, content) : null
  if (exported === null && isLarge) return null
  if (exported !== null) countSent('host', content.nbytes)

  const kind = messages.kindFields(value)
  /** dense, what is sent as bytes: the value, of which the caller may dispose, or its copy in the segment; of a record the whole file @type {Tensor | null} */
  const source =
    exported === null ? null : (exported.source ?? /** @type {Tensor} */ (value).view())
  const storage = source && Tensor.layoutOf(source).storage
  if (storage !== null) beginUse(storage, 0)
  /** messages that are not answered, by subject of the reply @type {Map<string, Area | null>} */
  const sent = new Map()
  let hasGrown = false

  /** Sends bytes for a while. @returns {Next} */
  const leave = () => {
    remember(away, subject, now() + AWAY_MS, MOST_SUBJECTS)
    return 'bytes'
  }

  return {
    /** where it is sent */
    subject: to,
    /** can bytes be sent instead? */
    fits,
    /** is the payload empty? */
    isEmpty: exported !== null,
    /** do attempts still go this way? */
    isOpen: true,

    /** The exported bytes as a message. */
    outgoing: () => messages.outgoing(source, { isBody: !Tensor.isTensor(value) }),

    /**
     * Headers of a message, and memory for its reply.
     *
     * @param {string} reply  the message's
     */
    headersFor(reply) {
      const area = expected < messages.SMALL ? null : newArea(expected, true)
      sent.set(reply, area)
      const isExported = exported !== null || area !== null
      return new HeaderBlock(kind, {
        [PAGE]: isExported ? page.text : undefined,
        [DATA]: exported?.token.text,
        [REPLY]: area?.token.text,
      })
    },

    /**
     * Hears of a reply.
     *
     * @param {string} reply  its subject
     * @param {Map<string, string>} headers
     * @returns {Next}
     */
    heard(reply, headers) {
      const area = sent.get(reply)
      if (area === undefined || headers.get('tensor-error') === 'ERR_TIMEOUT') return null // after the latter the service may still read
      const answer = headers.get(PAGE.toLowerCase())
      if (answer === WRITTEN) return null // `result` takes it
      sent.delete(reply)
      if (area !== null) closeArea(area)
      if (answer === REFUSED) return leave()
      if (headers.get(STATUS) === '503') return !fits && attempts > 1 ? null : leave() // a service may still come
      if (headers.get('nats-service-error-code') === '503') return fits ? 'bytes' : null // others may have room
      const needed = headerInteger(headers.get(NEEDED.toLowerCase()))
      if (hasGrown || !(needed <= core.maxBytes)) return null
      hasGrown = true
      expected = needed
      return 'again'
    },

    /**
     * The tensor of a reply.
     *
     * @param {string} reply  its subject
     * @param {Map<string, string>} headers
     * @param {Uint8Array} data
     * @param {Value | undefined} out
     * @returns {Value | null} null: it is no reply to a descriptor, or has its bytes in the message
     * @throws as messages.decode
     */
    result(reply, headers, data, out) {
      const area = sent.get(reply)
      if (headers.get(PAGE.toLowerCase()) !== WRITTEN) {
        if (data.length >= messages.SMALL) remember(sizes, key, data.length, MOST_SUBJECTS)
        return null
      }
      if (area === undefined || area === null) {
        throw failure(
          'ERR_FORMAT',
          'the reply says that it was written to memory that was not offered',
        )
      }
      sent.delete(reply)
      const { maxBytes } = core
      try {
        const kind = messages.isRecord(headers) ? null : messages.dtypeAndShape(headers)
        const nbytes = kind === null ? headerInteger(headers.get(SIZE.toLowerCase())) : kind.nbytes
        if (nbytes > maxBytes) {
          throw failure('ERR_TOO_LARGE', `the reply has ${nbytes} bytes; maxBytes is ${maxBytes}`)
        }
        if (!(nbytes > 0 && nbytes <= area.nbytes)) {
          throw failure(
            'ERR_FORMAT',
            `the reply says that ${nbytes} bytes were written where there are ${area.nbytes}`,
          )
        }
        const made =
          kind === null
            ? messages.decodeExported(new Part(area.segment, 0, nbytes), out, copyTo)
            : tensorIn(area.segment, kind, out)
        // V8 hears how much the reply keeps of a segment that is closed: a program may leave it to be collected.
        for (const t of out === undefined ? tensorsOf(made) : []) {
          const { storage } = Tensor.layoutOf(t)
          if (storage.kind !== 'native') continue
          const { addon } = /** @type {any} */ (backend)
          addon.account(/** @type {any} */ (storage.optional).watch, storage.nbytes)
        }
        remember(sizes, key, nbytes, MOST_SUBJECTS)
        return made
      } finally {
        closeArea(area)
      }
    },

    /** Further attempts send bytes, if they can. */
    close() {
      this.isOpen = !fits
    },

    /**
     * Does the server take no messages to the subject of the host, but bytes may be sent?
     *
     * @param {any} error  of the inbox
     */
    isBarred(error) {
      if (!this.isOpen || !fits || error?.cause?.subject !== to) return false
      leave()
      return true
    },

    /** The tensor may be written to. Called once, before `end`. */
    release() {
      if (storage !== null) endUse(storage, 0)
    },

    /** Ends it. Called once, when no bytes of `source` are sent any more. */
    end() {
      for (const area of sent.values()) if (area !== null) closeArea(area)
      sent.clear()
      exported?.close()
      source?.dispose()
    },
  }
}

/** Bytes that are exported. source: over a copy in a segment that was made for it. @typedef {{ token: Token, source: Tensor | null, close: () => void }} Exported */

/**
 * In place where a sealed segment of this process has the bytes, else a copy.
 *
 * @param {Value} value
 * @param {Content} content
 * @returns {Exported | null} null: there is no memory, or no token
 */
function exportOf(value, content) {
  const { nbytes } = content
  const layout = Tensor.isTensor(value) ? Tensor.attachedOf(value) : null
  const isDense = layout !== null && ffi.isContiguous(layout)
  if (isDense && backend.isFixed(layout.storage)) {
    const there = segments().sealedAround(
      backend.addressOf(layout.storage) + layout.offset * dtypes[layout.dtype].itemsize,
      nbytes,
    )
    const token = there && newToken(there.segment, { writes: false, at: there.at, nbytes })
    if (token) return { token, source: null, close: token.close }
  }
  const area = newArea(nbytes, false)
  if (area === null) return null
  const { segment, token } = area
  const close = () => closeArea(area)
  try {
    content.write({ fd: segment.fd, at: 0, storageAt: segment.storageAt.bind(segment) })
    const bytes = isDense ? null : /** @type {Storage} */ (segment.storageAt(0, nbytes, 1))
    const source = bytes && tensorOver(bytes, layout?.dtype, layout?.shape ?? [nbytes])
    return { token, source, close }
  } catch (error) {
    close() // the value's bytes are gone, such as those of a file that was cut
    throw error
  }
}

/** A segment of our own, and a token for all of it. @typedef {{ segment: Segment, token: Token, nbytes: number }} Area */

/** Segments of areas. */
const inUse = { count: 0, bytes: 0 }

/** @param {number} nbytes @param {boolean} writes  may the other process write? @returns {Area | null} null: there is no memory, or no token, or enough is exported */
function newArea(nbytes, writes) {
  if (inUse.count === MOST_SEGMENTS || inUse.bytes + nbytes > MOST_EXPORTED) return null
  try {
    const segment = newSealed(nbytes)
    inUse.count++
    inUse.bytes += segment.size
    const token = newToken(segment, { writes, at: 0, nbytes })
    if (token !== null) return { segment, token, nbytes }
    closeArea({ segment, token })
  } catch (error) {
    log('no segment for another process: %s', error)
  }
  return null
}

/** Somebody who still reads or writes there keeps the memory. @param {{ segment: Segment, token: Token | null }} area */
function closeArea({ segment, token }) {
  token?.close()
  inUse.count--
  inUse.bytes -= segment.size
  segment.close()
}

/** @param {Segment} segment @param {{ writes: boolean, at: number, nbytes: number }} part @returns {Token | null} */
function newToken(segment, part) {
  try {
    return page.write(segment, part)
  } catch (error) {
    log('no token: %s', error)
    return null
  }
}

/**
 * @param {Segment} segment
 * @param {{ dtype: import('../backend/dtypes').Dtype, shape: number[], nbytes: number }} kind
 * @param {Value | undefined} out
 * @returns {Value}
 */
function tensorIn(segment, { dtype, shape, nbytes }, out) {
  if (out !== undefined) messages.checkTarget(out, dtype.name, shape)
  if (out !== undefined && ffi.isContiguous(Tensor.attachedOf(/** @type {Tensor} */ (out)))) {
    readFrom(/** @type {Tensor} */ (out), segment.fd)
    return out
  }
  const there = tensorOver(
    /** @type {Storage} */ (segment.storageAt(0, nbytes, 1)),
    dtype.index,
    shape,
  )
  if (out === undefined) return there
  try {
    copyTo(/** @type {Tensor} */ (out), there)
    return out
  } finally {
    there.dispose()
  }
}

/** @param {string | undefined} text  of a header @returns {number} NaN: it is none */
const headerInteger = (text) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : NaN)

// ---- The service ----

/**
 * What a request exports.
 *
 * @param {Map<string, string>} headers
 * @param {{ maxBytes: number }} limits
 * @returns {Value | null} read-only, over the caller's memory, which the caller may write to; null: the caller has to send bytes
 */
function accept(headers, { maxBytes }) {
  try {
    const kind = messages.isRecord(headers) ? null : messages.dtypeAndShape(headers)
    const [where, what] = [PAGE, DATA].map((name) => headers.get(name.toLowerCase()))
    const found = borrow(where, what, { writes: false, maxBytes })
    if (found === null) return null
    try {
      if (kind === null) return messages.decodeExported(found)
      const { dtype, shape, nbytes } = kind
      const storage =
        found.size === nbytes
          ? found.storageAt(
              0,
              nbytes,
              dtype.kind === 'COMPLEX' ? dtype.itemsize / 2 : dtype.itemsize,
            )
          : null
      return storage === null ? null : tensorOver(storage, dtype.index, shape, ffi.READ_ONLY)
    } finally {
      found.close()
    }
  } catch (error) {
    log('a descriptor is refused: %s', error)
    return null
  }
}

/** Are a request's bytes in the caller's memory? @param {Map<string, string>} headers */
const isExported = (headers) => headers.has(DATA.toLowerCase())

/**
 * Writes a result to memory that the caller has exported.
 *
 * @param {Map<string, string>} headers  of the request
 * @param {Value} result
 * @returns {Record<string, string> | null} headers of the reply; null: bytes have to be sent
 */
function put(headers, result) {
  const what = headers.get(REPLY.toLowerCase())
  if (what === undefined) return null
  const { nbytes, isOnCpu, write } = hostContent(result)
  if (nbytes < messages.SMALL || !isOnCpu) return null
  const found = borrow(headers.get(PAGE.toLowerCase()), what, { writes: true, maxBytes: Infinity })
  if (found === null) return null
  try {
    if (found.size < nbytes) return null
    write(found)
  } finally {
    found.close()
  }
  countSent('host', nbytes)
  /** @type {Record<string, string>} */
  const size = Tensor.isTensor(result) ? {} : { [SIZE]: String(nbytes) }
  return { ...messages.kindFields(result), [PAGE]: WRITTEN, ...size }
}

/**
 * What a refusal of a large result tells a caller of this host, who can export memory for it.
 *
 * @param {Map<string, string>} headers  of the request
 * @param {Value} result
 * @returns {Record<string, string>}
 */
function needed(headers, result) {
  return headers.has(PAGE.toLowerCase()) ? { [NEEDED]: String(hostContent(result).nbytes) } : {}
}

/** Headers of the answer 'bytes, please'. @returns {Record<string, string>} */
const pleaseSendBytes = () => ({ [PAGE]: REFUSED })

module.exports = { subjectOfHost, offer, accept, isExported, put, needed, pleaseSendBytes, stateOf }
