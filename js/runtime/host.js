'use strict'
// What Node offers: turns of the event loop, text, inflating, memory, garbage collection. In the bundle for browsers host.browser.js
// takes this file's place.

const { failure } = require('../base/errors')

const LEAVE_OUT =
  'leave it out of the bundle (--external:samebytes, serverExternalPackages), or import samebytes/inline'
const fs = fileSystem()
const { createRequire } = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { setImmediate } = require('node:timers') // test tools replace or remove the global one
const util = require('node:util')
const { TextDecoder, TextEncoder, debuglog } = util // some test environments have none as globals

function fileSystem() {
  try {
    return require('node:fs')
  } catch (cause) {
    throw Object.assign(
      failure(
        'ERR_UNSUPPORTED',
        `samebytes was bundled into an ES module, which has no require; ${LEAVE_OUT}`,
      ),
      { cause },
    )
  }
}

/** Whether these files are the package's own. Else a bundler put them into the program's, and __dirname is that one's folder, or one that isn't there. */
const isPackage = fs.existsSync(path.join(__dirname, '..', 'runtime', 'host.js'))

/**
 * The package's folder. A bundled program finds it from its own folder, which is the executable's if Node.js made it a single one; from
 * the current one, as where Next.js renders client components; from the executable's, if Bun made it.
 */
const root = isPackage ? path.join(__dirname, '..', '..') : rootFolder()

function rootFolder() {
  for (const folder of [__dirname, process.cwd(), path.dirname(process.execPath)]) {
    try {
      return path.dirname(
        createRequire(path.join(folder, 'program.js')).resolve('samebytes/package.json'),
      )
    } catch {}
  }
  return __dirname
}

/**
 * Path of a file or folder of the package, for the system's loader, compilers and Python. They do not read archives of Electron: what
 * was unpacked lies beside app.asar, in app.asar.unpacked.
 *
 * @param {...string} names
 * @returns {string} absolute; it may not be there
 */
function placeOf(...names) {
  const file = path.join(root, ...names)
  const unpacked = file.replace(/^.*\.asar(?=[\\/])/is, '$&.unpacked')
  return unpacked !== file && fs.existsSync(unpacked) ? unpacked : file
}

/** What a file that is missing means; '': nothing more than that. */
const bundled =
  isPackage || root !== __dirname
    ? ''
    : `samebytes was bundled into the program, and there is no node_modules/samebytes beside that; put it there, ${LEAVE_OUT}`

/** node:worker_threads, read when it is first needed, because that takes longer than all of this file. @type {any} */
let worker

/**
 * Calls a function on a later turn of the event loop. A setImmediate that is stopped in its middle (vm's timeout) leaves Node's event
 * loop spinning for ever, so it is called where nothing is stopped: in a microtask.
 *
 * @param {() => void} fn
 */
async function onNextTurn(fn) {
  await undefined
  setImmediate(fn)
}

/** Does NODE_DEBUG name samebytes? Callers ask before they put together what to log. */
const isLogged = debuglog('samebytes').enabled === true

/** Does Jest run this? After its `resetModules` a file that is read gets other copies of the files that it requires. */
const isEager = process.env.JEST_WORKER_ID !== undefined

/**
 * Writes a line of NODE_DEBUG=samebytes.
 *
 * @param {string} text  as util.format takes it
 * @param {...unknown} values
 */
function log(text, ...values) {
  if (isLogged) require('../base/log').log(text, values)
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true }) // a byte order mark may be part of a name

/** @param {Uint8Array} bytes  UTF-8, of memory that is not shared; invalid sequences become U+FFFD */
const textOf = (bytes) => utf8.decode(bytes)

const encoder = new TextEncoder()

/** @param {string} text  @returns {Uint8Array<ArrayBuffer>} UTF-8; half a surrogate pair becomes U+FFFD */
const bytesOf = (text) => /** @type {Uint8Array<ArrayBuffer>} */ (encoder.encode(text))

/**
 * @param {Uint8Array} bytes  of memory that is not shared
 * @returns {string | null} null: they are not UTF-8
 */
function exactTextOf(bytes) {
  const text = textOf(bytes)
  return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? null : text // without ICU no decoder is fatal
}

/**
 * @param {Uint8Array} bytes  deflated
 * @param {number} nbytes  inflated, at most
 * @returns {Uint8Array}
 * @throws zlib's error
 */
function inflate(bytes, nbytes) {
  return require('node:zlib').inflateRawSync(bytes, {
    maxOutputLength: Math.max(nbytes, 1),
    chunkSize: Math.max(64, Math.min(nbytes + 1, 2 ** 30)),
  })
}

/**
 * Inflates the beginning of deflated bytes.
 *
 * @param {Uint8Array} bytes
 * @returns {Uint8Array<ArrayBuffer>} as much as they give
 * @throws zlib's error
 */
function inflateSome(bytes) {
  const zlib = require('node:zlib')
  return zlib.inflateRawSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH })
}

/** The runtime's CRC-32, which goes on from a CRC; undefined: it has none. @returns {((bytes: Uint8Array, crc: number) => number) | undefined} */
const findCrc32 = () => /** @type {any} */ (require('node:zlib')).crc32 // Node 20.15, 22.2

/** @returns {number} ms */
const now = () => performance.now()

/** @returns {string} a unique name */
const newName = () => require('node:crypto').randomUUID()

/**
 * @param {string} text  for the developer; nothing failed
 */
const warn = (text) => process.emitWarning(text, 'SamebytesWarning')

/** @returns {number} bytes that this process may use: its container's limit, else the machine's memory */
function memoryOfMachine() {
  const all = os.totalmem()
  const allowed = typeof process.constrainedMemory === 'function' ? process.constrainedMemory() : 0
  return allowed > 0 ? Math.min(allowed, all) : all
}

const MIB = 2 ** 20
const YOUNG = 192 // MiB that V8 keeps for young objects at most: those of V8 13 to 14.1; others keep a half or a quarter of that
const USABLE = 7 / 8 // of the room for old objects: V8 gives up before all is in use

/** @type {any} */
let v8
/** @type {(() => void) | undefined} */
let collect

/**
 * Collects garbage now, in the middle of a call.
 *
 * @throws where the runtime has nothing that does
 */
function collectGarbage() {
  collect ??= collector()
  collect()
}

/** @returns {() => void} what --expose-gc gives, without that flag */
function collector() {
  const { Bun, gc } = /** @type {any} */ (globalThis)
  if (Bun !== undefined) return () => Bun.gc(true)
  if (typeof gc === 'function') return () => gc()
  require('node:v8').setFlagsFromString('--expose-gc')
  return require('node:vm').runInNewContext('gc')
}

// V8 ends a process that collects again and again without effect. So unless there is much less room than after the last collection,
// only every fifth request that finds no room collects.
const SKIPPED = 4
let skipped = 0
let availableCollected = Infinity

/**
 * Bytes that V8's heap has room for. Garbage is collected if without that there is too little.
 *
 * @param {number} wanted
 * @returns {number | null} null: the runtime does not tell
 */
function heapAvailable(wanted) {
  v8 ??= require('node:v8')
  const free = availableNow()
  if (free === null || free >= wanted) return free
  if (availableCollected - free < wanted / 8 && skipped++ < SKIPPED) return free
  try {
    collectGarbage()
  } catch {} // a runtime without V8
  skipped = 0
  availableCollected = availableNow() ?? 0
  return availableCollected
}

function availableNow() {
  const {
    heap_size_limit: limit,
    used_heap_size: used,
    total_available_size: available,
  } = v8.getHeapStatistics()
  if (!(limit > 0)) return null
  if (process.versions.bun !== undefined) return available // its limit is what it happens to use
  return Math.max(0, Math.floor(oldLimit(limit) * USABLE - used))
}

/**
 * Bytes that V8 has for old objects. It tells only what young and old ones have together.
 *
 * @param {number} limit  that
 */
function oldLimit(limit) {
  const flags = `${process.env.NODE_OPTIONS} ${process.env.DENO_V8_FLAGS} ${process.execArgv.join(' ')}`
  const old = mibOf(/.*--max[-_]old[-_]space[-_]size[= ](\d+)/s.exec(flags))
  if (old > 0) return Math.min(old * MIB, limit)
  worker ??= require('node:worker_threads')
  // In a worker V8's defaults, unless it was given others. Flags that are not seen here may be in force, so the sum counts as well.
  const { maxOldGenerationSizeMb = Infinity, maxYoungGenerationSizeMb = YOUNG } =
    worker.resourceLimits ?? {}
  const young =
    3 * mibOf(/.*--max[-_]semi[-_]space[-_]size[= ](\d+)/s.exec(flags)) || maxYoungGenerationSizeMb
  // V8 divides what it takes of a machine's memory (half, up to 2 or 4 GiB) or --max-heap-size: an eighth or less is for young objects.
  const isDivided =
    /--max[-_]heap[-_]size/.test(flags) ||
    (limit >= Math.min(memoryOfMachine() / 2, 2 ** 31) && !flags.includes('size-percentage'))
  return Math.min(
    maxOldGenerationSizeMb * MIB,
    limit - Math.min(young * MIB, limit * (isDivided ? 1 / 8 : 3 / 4)),
  )
}

/** @param {RegExpExecArray | null} flag  the last one of its name @returns {number} 0: there is none */
const mibOf = (flag) => (flag === null ? 0 : Number(flag[1]))

/**
 * @param {string} name  of a file beside the package's modules
 * @returns {Uint8Array}
 * @throws what reading it throws
 */
const readModule = (name) => fs.readFileSync(path.join(root, 'dist', name))

/** Does markAsUntransferable stop ArrayBuffer.prototype.transfer, as from Node 24 on? undefined: not tried yet @type {boolean | undefined} */
let isMarkEnough

const WASM_PAGE = 2 ** 16 // bytes

/** read at once: test tools replace or remove it */
const { structuredClone } = globalThis

/** @param {ArrayBuffer} buffer @returns {string} why it cannot be transferred twice, or not at all: it stays where it is */
function refusal(buffer) {
  try {
    structuredClone(null, { transfer: [buffer, buffer] })
    return ''
  } catch (error) {
    return String(/** @type {any} */ (error)?.message)
  }
}

/**
 * Is this the buffer of a WebAssembly.Memory? Growing that detaches it, marked or not, and ends the process where it is marked
 * (Node 24 and later).
 *
 * @param {ArrayBuffer} buffer  of fixed length
 * @returns {boolean} false also where the runtime does not tell
 */
function isOfWasmMemory(buffer) {
  const { byteLength } = buffer
  if (byteLength === 0 || byteLength % WASM_PAGE !== 0 || isUntransferable(buffer)) return false
  const { bun, deno } = process.versions // which may transfer the buffer before they see that it is there twice
  if (bun !== undefined || deno !== undefined || typeof structuredClone !== 'function') return false
  return refusal(buffer) !== refusal(new ArrayBuffer(1))
}

/**
 * Keeps a buffer from being transferred, as far as the runtime can: byte streams in Node 20 and 22 transfer it nevertheless, as do
 * ArrayBuffer's methods in Node 22. Buffers over memory that is not V8's are marked already; these methods ignore the mark on all
 * versions, and marking them again ends the process in Node 24 and later.
 *
 * @param {ArrayBuffer} buffer
 */
function keepAttached(buffer) {
  const isMarked = isUntransferable(buffer)
  const { markAsUntransferable } = worker
  if (isOfWasmMemory(buffer)) return // nothing transfers it
  if (!isMarked) markAsUntransferable(buffer)
  isMarkEnough ??= keepsMarked(markAsUntransferable)
  if (isMarkEnough && !isMarked) return
  Reflect.defineProperty(buffer, 'transfer', { value: refuseTransfer })
  Reflect.defineProperty(buffer, 'transferToFixedLength', { value: refuseTransfer })
}

/**
 * Is a buffer marked as untransferable, as Node's pool of Buffers is? ArrayBuffer.prototype.transfer ignores the mark in Node 22.
 *
 * @param {ArrayBuffer} buffer
 * @returns {boolean} false where the runtime does not tell, as Node 20, which has no such method
 */
function isUntransferable(buffer) {
  worker ??= require('node:worker_threads')
  return worker.isMarkedAsUntransferable?.(buffer) === true
}

/** @returns {boolean} whether V8 itself heeds the mark, so that nothing detaches such a buffer: byte streams ignore Node's own, older one */
function isMarkBinding() {
  if (typeof (/** @type {any} */ (ArrayBuffer.prototype).transfer) !== 'function') return false
  worker ??= require('node:worker_threads')
  isMarkEnough ??= keepsMarked(worker.markAsUntransferable)
  return isMarkEnough
}

/** @param {(buffer: ArrayBuffer) => void} mark */
function keepsMarked(mark) {
  const { transfer } = /** @type {any} */ (ArrayBuffer.prototype)
  const buffer = new ArrayBuffer(1)
  if (typeof transfer !== 'function') return true // as in Node 20
  mark(buffer)
  try {
    transfer.call(buffer)
  } catch {}
  return buffer.byteLength > 0
}

function refuseTransfer() {
  throw failure(
    'ERR_UNSUPPORTED',
    'the buffer stays where it is: native code was given the address of its bytes; slice() copies',
  )
}

// Node's other ArrayBuffers are cleared by writing, and V8 maps each of these apart: the system allows 65,530 mappings.
/** read at once under Jest, whose resetModules would give it other copies of what it requires @type {typeof import('./ballast').ballasts | undefined} */
let ballasts = isEager ? require('./ballast').ballasts : undefined
/** made when WebAssembly's first tensor asks @type {ReturnType<typeof import('./ballast').ballasts> | undefined} */
let ballast

function ballastsNow() {
  ballasts ??= require('./ballast').ballasts
  ballast ??= ballasts(
    2 ** 18,
    64,
    (/** @type {number} */ length) =>
      new /** @type {any} */ (ArrayBuffer)(length, { maxByteLength: length }),
  )
  return ballast
}

/** @type {ReturnType<typeof import('./ballast').ballasts>['ballastOf']} */
const ballastOf = (nbytes, inUse, most) => ballastsNow().ballastOf(nbytes, inUse, most)
/** @type {ReturnType<typeof import('./ballast').ballasts>['keepSpare']} */
const keepSpare = (ballast) => ballastsNow().keepSpare(ballast)

/** @type {string | null} */
const pythonPath = placeOf('python')

/** What each tensor has, so that no structured clone takes it: the error says `Symbol(...) could not be cloned`. @type {symbol | object} */
const UNCLONEABLE = Symbol('a Tensor (share(t) gives a token that can be posted)')

// ---- Open files and mappings, of which a process may have so many, and shared memory, which has its own limit ----

/**
 * @param {number} number  of an error, as C has it
 * @returns {number} the `errno` that Node's own errors have then: on Windows libuv has numbers of its own
 */
function errnoOf(number) {
  const { errno } = os.constants
  const name = Object.keys(errno).find((key) => /** @type {any} */ (errno)[key] === number)
  for (const [uv, [known]] of util.getSystemErrorMap()) if (known === name) return uv
  return -number
}

/** Releases what was collected: finalizers run in a later turn of the event loop. */
let release = () => {}

/** @param {() => void} fn */
function onShortage(fn) {
  release = fn
}

/** @param {any} error */
function isShortage({ errno, code, message }) {
  if (code === 'ERR_DLOPEN_FAILED' && /too many open files/i.test(message)) return true
  const { EMFILE, ENFILE, ENOMEM, ENOSPC } = os.constants.errno
  return errno !== undefined && [EMFILE, ENFILE, ENOMEM, ENOSPC].map(errnoOf).includes(errno)
}

/**
 * Calls fn. Where there are too many open files or mappings, or too little shared memory, what nobody holds any more is collected, and fn called again.
 *
 * @template R
 * @param {() => R} fn  does nothing where it fails
 * @returns {R}
 */
function retried(fn) {
  try {
    return fn()
  } catch (error) {
    if (!isShortage(error)) throw error
    try {
      collectGarbage()
    } catch {} // a runtime without V8
    release()
    return fn()
  }
}

/** As fs.openSync. @param {string} file @param {number} flags @param {number} [mode] @returns {number} */
const openSync = (file, flags, mode) => retried(() => fs.openSync(file, flags, mode))

/**
 * Reads a part of the package.
 *
 * @template R
 * @param {() => R} load  calls require
 * @returns {R}
 * @throws ERR_IO there are too many open files
 */
function loaded(load) {
  try {
    return retried(load)
  } catch (/** @type {any} */ error) {
    if (!isShortage(error) || error.syscall === undefined) throw error
    const { errno, path, message } = error
    const own = failure('ERR_IO', `a part of samebytes could not be loaded: ${message}`)
    throw Object.assign(own, { errno, path, cause: error })
  }
}

module.exports = {
  onShortage,
  errnoOf,
  retried,
  openSync,
  loaded,
  UNCLONEABLE,
  isEager,
  isLogged,
  log,
  onNextTurn,
  textOf,
  bytesOf,
  exactTextOf,
  inflate,
  inflateSome,
  findCrc32,
  now,
  newName,
  warn,
  memoryOfMachine,
  collectGarbage,
  heapAvailable,
  root,
  placeOf,
  bundled,
  readModule,
  keepAttached,
  isMarkBinding,
  isOfWasmMemory,
  isUntransferable,
  ballastOf,
  keepSpare,
  pythonPath,
}
