'use strict'
// Puts onnxruntime's C library under programs that use onnxruntime-node: a backend 'cpu' that onnxruntime-common asks before onnxruntime-node's
// own, which has what the library cannot do. Node alone.

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { setImmediate } = require('node:timers')
const { failure } = require('../base/errors')
const { log, placeOf, warn } = require('../runtime/host')
const { library } = require('./runtimes')

/** An onnxruntime-node: its main file, and the onnxruntime-common that it uses. @typedef {{ entry: string, common: any }} Found */

const PRIORITY = 200 // onnxruntime-node registers with 100
const LEVELS = ['verbose', 'info', 'warning', 'error', 'fatal']

// ---- Finding onnxruntime-node ----

/** @returns {string[]} files of the program and of packages from which onnxruntime-node is looked for */
function places() {
  /** @type {string[]} */
  const list = []
  try {
    list.push(path.join(process.cwd(), 'program.js'))
  } catch {} // the folder was removed
  const [, main] = process.argv
  if (main !== undefined) {
    try {
      const real = fs.realpathSync(main)
      list.unshift(fs.statSync(real).isDirectory() ? path.join(real, 'program.js') : real)
    } catch {
      if (path.isAbsolute(main)) list.unshift(main) // without its ending
    }
  }
  list.push(placeOf('package.json'))
  const others = list.map((from) => resolved(from, '@huggingface/transformers'))
  return [...list, ...others.filter((each) => each !== null)]
}

/** @param {string} from  a file @param {string} name  of a package @returns {string | null} its main file */
function resolved(from, name) {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return null
  }
}

/** @returns {Found[]} by onnxruntime-common, the program's own first */
function findAll() {
  /** @type {Map<any, Found>} */
  const all = new Map()
  for (const from of places()) {
    const entry = resolved(from, 'onnxruntime-node')
    if (entry === null) continue
    try {
      const common = createRequire(entry)('onnxruntime-common')
      fs.accessSync(backendOf(entry))
      if (!all.has(common)) all.set(common, { entry, common })
    } catch (error) {
      log('no backend takes the place of that of %s: %s', entry, messageOf(error))
    }
  }
  return [...all.values()]
}

/** @param {string} entry  of an onnxruntime-node @returns {string} the file with its own backend */
const backendOf = (entry) => path.join(path.dirname(entry), 'backend.js')

/** @param {unknown} error */
const messageOf = (error) => String(/** @type {any} */ (error)?.message ?? error)

// ---- The backend ----

/** What onnxruntime-common calls to make a session. */
class LibraryBackend {
  #entry
  #common

  /** @param {Found} found */
  constructor({ entry, common }) {
    this.#entry = entry
    this.#common = common
  }

  async init() {}

  /**
   * @param {string | Uint8Array} model  a path, or bytes
   * @param {any} options  onnxruntime-common's proxy of the caller's
   * @returns {Promise<any>} a session of ours, or of onnxruntime-node's own
   */
  async createInferenceSessionHandler(model, options) {
    let reason
    try {
      const found = await this.#load(model, options)
      if (typeof found !== 'string') return found
      reason = found
    } catch (error) {
      reason = messageOf(error) // onnxruntime-node says it in its own words, or has none
    }
    log('onnxruntime-node makes a session itself: %s', reason)
    const { onnxruntimeBackend } = createRequire(this.#entry)(backendOf(this.#entry))
    return onnxruntimeBackend.createInferenceSessionHandler(model, options)
  }

  /**
   * @param {string | Uint8Array} model
   * @param {any} options
   * @returns {Promise<any>} a text: why the library is not used
   */
  async #load(model, options) {
    const { nativeOptions, openLibrary, loadSession, stagedCopy } =
      /** @type {NonNullable<typeof library>} */ (library)()
    const { OrtSession, ARRAYS } = require('./ort-session')
    const prototype = Object.getPrototypeOf(options)
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      return 'the options inherit from others'
    }
    const level = LEVELS.indexOf(this.#common.env?.logLevel)
    const native = nativeOptions(level < 0 ? options : { logSeverityLevel: level, ...options })
    if (typeof native === 'string') return native
    native.isQuiet = false
    openLibrary()
    await new Promise((resolve) => setImmediate(resolve)) // when onnxruntime-node reads the bytes
    const session = await loadSession(model, native, stagedCopy)
    const other = [...session.inputMetadata, ...session.outputMetadata].find(
      ({ type }) => type === undefined || !Object.hasOwn(ARRAYS, type),
    )
    if (other === undefined) return new OrtSession(session, this.#common.Tensor)
    await session.release()
    return `'${other.name}' is of ${other.type ?? 'no tensor type'}`
  }
}

/**
 * Registers the backend with each onnxruntime-node that is found. Where the library cannot be used, nothing is registered, and Node.js warns of it.
 *
 * @throws ERR_UNSUPPORTED one of them is loaded already
 */
function register() {
  const all = findAll()
  const { whyNotHere } = /** @type {NonNullable<typeof library>} */ (library)()
  const reasons = all.map(({ entry }) => whyNotHere(entry))
  const usable = all.filter((_, i) => reasons[i] === '')
  for (const [i, { entry }] of all.entries()) if (reasons[i]) log('%s: %s', entry, reasons[i])
  if (usable.length === 0) {
    if (process.env.SAMEBYTES_ONNXRUNTIME === 'binding') return // the user's decision
    warn(
      `samebytes/onnxruntime has no effect: ${reasons[0] ?? 'no onnxruntime-node was found from the program, the current folder or samebytes'}`,
    )
    return
  }
  const loaded = usable.find(({ common }) => common.env?.versions?.node !== undefined)
  if (loaded !== undefined) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${loaded.entry} is loaded already, and has registered its own backend; import samebytes/onnxruntime before it, or start the program by node --import samebytes/onnxruntime`,
    )
  }
  for (const found of usable) {
    try {
      found.common.registerBackend('cpu', new LibraryBackend(found), PRIORITY)
    } catch (error) {
      log('%s takes no backend: %s', found.entry, messageOf(error)) // another copy of samebytes was first, or it is too old
    }
  }
}

module.exports = { register }
