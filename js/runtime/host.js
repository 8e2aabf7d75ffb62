'use strict'
// What the runtime has, here Node. In the bundle for browsers host.browser.js takes this file's place.

const { uncurried } = require('../base/primordials')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setImmediate } = require('node:timers') // some test environments have no global one
const { TextDecoder, TextEncoder, debuglog } = require('node:util') // some test environments have none as globals
const { failure } = require('../base/errors')

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
  if (isLogged) require('../base/log').log(text, values)
}

const decode = uncurried(TextDecoder.prototype.decode)
const encode = uncurried(TextEncoder.prototype.encode)
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true }) // what looks like one is part of a name

/** @param {Uint8Array} bytes  UTF-8, of memory that nobody shares; what is none becomes U+FFFD */
const textOf = bytes => decode(utf8, bytes)

const encoder = new TextEncoder()

/** @param {string} text  @returns {Uint8Array<ArrayBuffer>} UTF-8; half a surrogate pair becomes U+FFFD */
const bytesOf = text => /** @type {Uint8Array<ArrayBuffer>} */ (encode(encoder, text))

/**
 * @param {Uint8Array} bytes  of memory that nobody shares
 * @returns {string | null} null: they are not UTF-8
 */
function exactTextOf (bytes) {
  const text = textOf(bytes)
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
 * @returns {Uint8Array<ArrayBuffer>} as much as they hold
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

const YOUNG = 3 * 2 ** 24 // bytes of V8's limit that are for young objects alone
const GROWS = 7 / 8 // of the rest may be in use: V8 gives up before all is

/** @type {any} */
let v8
/** @type {(() => void) | undefined} */
let collect

/**
 * Collects garbage now, in the middle of a call.
 *
 * @throws where the runtime has nothing that does
 */
function collectGarbage () {
  collect ??= collector()
  collect()
}

/** @returns {() => void} what --expose-gc gives, without that flag */
function collector () {
  const { gc } = /** @type {any} */ (globalThis)
  if (typeof gc === 'function') return () => { gc() }
  require('node:v8').setFlagsFromString('--expose-gc')
  return require('node:vm').runInNewContext('gc')
}

// V8 ends a process that collects again and again in vain. So where there is not much less room than after the last collection, only
// one refusal in a few collects: what the program let go of meanwhile is found then.
const SKIPPED = 4
let skipped = 0
let roomCollected = Infinity

/**
 * Bytes of objects that V8's heap has room for. What is in use there may be garbage, so that is collected where it decides.
 *
 * @param {number} wanted
 * @returns {number | null} null: the runtime does not tell
 */
function heapRoom (wanted) {
  v8 ??= require('node:v8')
  const room = roomNow()
  if (room === null || room >= wanted) return room
  if (roomCollected - room < wanted / 8 && skipped++ < SKIPPED) return room
  try {
    collectGarbage()
  } catch {} // a runtime without V8
  skipped = 0
  roomCollected = roomNow() ?? 0
  return roomCollected
}

function roomNow () {
  const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics()
  return limit > 0 ? Math.max(0, Math.floor((limit - Math.min(YOUNG, limit * 5 / 8)) * GROWS - used)) : null
}

/**
 * @param {string} name  of a file beside the package's modules
 * @returns {Uint8Array}
 * @throws what reading it throws
 */
function readModule (name) {
  return fs.readFileSync(path.join(__dirname, '..', '..', 'dist', name))
}

/** Does the mark below stop ArrayBuffer.prototype.transfer, as from Node 24 on? undefined: nobody looked @type {boolean | undefined} */
let isMarkEnough

/**
 * No transfer takes the buffer's bytes away from now on, as far as the runtime sees to it: in Node 20 and 22 streams of bytes
 * do, and in Node 22 ArrayBuffer's methods. Buffers over memory that is not V8's have a mark already, which those pass by on
 * every version; another one would end the process in Node 24 and later.
 *
 * @param {ArrayBuffer} buffer
 */
function keepAttached (buffer) {
  worker ??= require('node:worker_threads')
  const { markAsUntransferable, isMarkedAsUntransferable } = worker
  const isMarked = isMarkedAsUntransferable !== undefined && isMarkedAsUntransferable(buffer)
  if (!isMarked) markAsUntransferable(buffer)
  isMarkEnough ??= keepsMarked(markAsUntransferable)
  if (isMarkEnough && !isMarked) return
  Reflect.defineProperty(buffer, 'transfer', { value: refuseTransfer })
  Reflect.defineProperty(buffer, 'transferToFixedLength', { value: refuseTransfer })
}

/** @param {(buffer: ArrayBuffer) => void} mark */
function keepsMarked (mark) {
  const { transfer } = /** @type {any} */ (ArrayBuffer.prototype)
  const buffer = new ArrayBuffer(1)
  if (typeof transfer !== 'function') return true // as in Node 20
  mark(buffer)
  try {
    transfer.call(buffer)
  } catch {}
  return buffer.byteLength > 0
}

function refuseTransfer () {
  throw failure('ERR_UNSUPPORTED', 'the buffer stays where it is: native code was given the address of its bytes; slice() copies')
}

/** @type {string | null} */
const pythonPath = path.join(__dirname, '..', '..', 'python')

module.exports = { isEager, isLogged, log, onNextTurn, textOf, bytesOf, exactTextOf, inflate, inflateSome, findCrc32, now, newName, warn, memoryOfMachine, collectGarbage, heapRoom, readModule, keepAttached, pythonPath }
