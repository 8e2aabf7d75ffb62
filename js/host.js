'use strict'
// What the runtime has, here Node. In the bundle for browsers host.browser.js takes this file's place.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setImmediate } = require('node:timers') // some test environments have no global one
const { TextDecoder, TextEncoder, debuglog } = require('node:util') // some test environments have none as globals

/** read when it is first needed, for it takes longer than all of this file @type {any} */
let worker

/** A later turn of the event loop. Taken now, because test tools replace it, or take the global away. @type {(fn: () => void) => void} */
const onNextTurn = setImmediate

/** Does NODE_DEBUG name samebytes? Asked before what is logged is put together. */
const isLogged = debuglog('samebytes').enabled === true

/** Does Jest run this? It gives files that are read after its `resetModules` other copies of those that were read before. */
const isEager = process.env.JEST_WORKER_ID !== undefined

/**
 * A line of NODE_DEBUG=samebytes.
 *
 * @param {string} text  as util.format takes it
 * @param {...unknown} values
 */
function log (text, ...values) {
  if (isLogged) require('./log').log(text, values)
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true }) // what looks like one is part of a name

/** @param {Uint8Array} bytes  UTF-8, of memory that nobody shares; what is none becomes U+FFFD */
const textOf = bytes => utf8.decode(bytes)

const encoder = new TextEncoder()

/** @param {string} text  @returns {Uint8Array<ArrayBuffer>} UTF-8; half a surrogate pair becomes U+FFFD */
const bytesOf = text => /** @type {Uint8Array<ArrayBuffer>} */ (encoder.encode(text))

/**
 * @param {Uint8Array} bytes  of memory that nobody shares
 * @returns {string | null} null: they are not UTF-8
 */
function exactTextOf (bytes) {
  const text = utf8.decode(bytes)
  return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? null : text // without ICU no decoder is fatal
}

/**
 * @param {Uint8Array} bytes  deflated
 * @param {number} nbytes  that they become, at most
 * @returns {Uint8Array}
 * @throws what is wrong with them
 */
function inflate (bytes, nbytes) {
  return require('node:zlib').inflateRawSync(bytes, { maxOutputLength: Math.max(nbytes, 1), chunkSize: Math.max(64, Math.min(nbytes + 1, 2 ** 30)) })
}

/**
 * What the beginning of deflated bytes begins with.
 *
 * @param {Uint8Array} bytes
 * @returns {Uint8Array} as much as they hold
 * @throws what is wrong with them
 */
function inflateSome (bytes) {
  const zlib = require('node:zlib')
  return zlib.inflateRawSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH })
}

/** A CRC-32 of the runtime's own, with that of what came before; undefined: it has none. @returns {((bytes: Uint8Array, crc: number) => number) | undefined} */
const findCrc32 = () => /** @type {any} */ (require('node:zlib')).crc32 // Node 20.15, 22.2

/** @returns {number} ms */
const now = () => performance.now()

/** @returns {string} a name that nobody else has */
const newName = () => require('node:crypto').randomUUID()

/**
 * @param {string} text  what the developer should know though nothing failed
 */
function warn (text) {
  process.emitWarning(text, 'SamebytesWarning')
}

/** @returns {number} bytes that this process may have: its container's limit, else all there are */
function memoryOfMachine () {
  const all = os.totalmem()
  const allowed = typeof process.constrainedMemory === 'function' ? process.constrainedMemory() : 0
  return allowed > 0 ? Math.min(allowed, all) : all
}

/**
 * @param {string} name  of a file beside the package's modules
 * @returns {Uint8Array}
 * @throws what reading it throws
 */
function readModule (name) {
  return fs.readFileSync(path.join(__dirname, '..', 'dist', name))
}

/**
 * No transfer takes the buffer's bytes away from now on, as far as the runtime sees to it. Not for buffers over memory
 * that is not V8's: Node 24 and later would end the process with them. They have the mark already.
 *
 * @param {ArrayBuffer} buffer
 */
function keepAttached (buffer) {
  worker ??= require('node:worker_threads')
  const { markAsUntransferable, isMarkedAsUntransferable } = worker
  if (isMarkedAsUntransferable === undefined || !isMarkedAsUntransferable(buffer)) markAsUntransferable(buffer)
}

/** @type {string | null} */
const pythonPath = path.join(__dirname, 'python')

/** SAMEBYTES_TRACE=1 asks for a report at the end of who made the tensors that are left; the map's server has its workers answer. */
function traceIfAsked () {
  const { SAMEBYTES_TRACE: asked } = process.env
  if (asked === undefined) return
  if (asked === '1') require('./inspect/report').start()
  else if (asked === `map:${process.pid}`) require('./inspect')
}

module.exports = { isEager, isLogged, log, traceIfAsked, onNextTurn, textOf, bytesOf, exactTextOf, inflate, inflateSome, findCrc32, now, newName, warn, memoryOfMachine, readModule, keepAttached, pythonPath }
