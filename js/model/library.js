'use strict'
// onnxruntime-node's C library, which the addon opens: models are loaded and run off JavaScript's thread, over tensors' own bytes. Node alone.

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { isResizable, isSharedArrayBuffer } = require('../base/buffers')
const { countCopy, countStaged } = require('../backend/storage')
const { fix } = require('../backend/pins')
const { placeOf, isMarkBinding, isOfWasmMemory } = require('../runtime/host')
const { platformName } = require('../runtime/platform')
const { Tensor } = require('../tensor/tensor')
const { fromBlob } = require('../tensor/blob')
const { sourceOf, pairsAt, missingFile } = require('./graph')
const { unseen } = require('./signature')
const { TYPE_NAMES } = require('./types')
const { weightsOf, weightsFor, prepackedFor } = require('./weights')

const { backend } = ffi
const { ARGS } = ffi.tables.frame
/** @type {any} undefined on WebAssembly */
const addon = /** @type {any} */ (backend).addon

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** Session options as C takes them, and weights. @typedef {{ numbers: number[], texts: string[], isQuiet: boolean, weights: import('./weights').Weights | null, isPrepacked: boolean, goesOnReading: boolean }} NativeOptions */

/** systems on which the suite tries how threads, environments and the process end with it */
const PROVEN = ['linux-x64']

// ---- Finding the library ----

/** where it is, or why there is none @type {{ file: string | null, reason: string } | null} */
let found = null

/**
 * @param {string | undefined} entry  main file of the onnxruntime-node that it belongs to; undefined: the one that samebytes finds
 * @returns {{ file: string | null, reason: string }}
 */
function findLibrary(entry) {
  const told = process.env.SAMEBYTES_ONNXRUNTIME
  if (told) return { file: told, reason: '' }
  try {
    entry ??= createRequire(placeOf('package.json')).resolve('onnxruntime-node')
  } catch {
    return { file: null, reason: 'onnxruntime-node is not installed' }
  }
  const bin = path.join(entry, '..', '..', 'bin')
  const file = entriesOf(bin)
    .map((name) => path.join(bin, name, process.platform, process.arch, 'libonnxruntime.so.1'))
    .find((each) => fs.existsSync(each))
  return file === undefined
    ? { file: null, reason: `there is no library of onnxruntime under ${bin}` }
    : { file, reason: '' }
}

/** @param {string} folder @returns {string[]} */
function entriesOf(folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * @param {string} [entry]  main file of an onnxruntime-node: the library that belongs to it; else that of the one that samebytes finds, or
 *   that was found before
 * @returns {string} why this process cannot use the library; '': it can, as far as is known before it is opened
 */
function whyNotHere(entry) {
  if (process.env.SAMEBYTES_ONNXRUNTIME === 'binding') return "SAMEBYTES_ONNXRUNTIME is 'binding'"
  if (backend.isWasm) return 'the back end is WebAssembly'
  if (process.versions.bun !== undefined) return 'Bun has not been tried with the library'
  if (process.versions.deno !== undefined) return 'Deno has not been tried with the library'
  if (process.versions.electron !== undefined) return 'Electron has not been tried with the library'
  const name = platformName()
  if (!PROVEN.includes(name)) return `${name} has not been tried with the library`
  if (found === null || (found.file === null && entry !== undefined)) found = findLibrary(entry)
  if (entry === undefined || found.reason !== '') return found.reason
  const { file } = findLibrary(entry)
  return file === null || file === found.file
    ? ''
    : `this process uses the library of another onnxruntime-node: ${found.file}`
}

/** @type {string | null} */
let version = null

/** @returns {string} onnxruntime's version @throws ERR_UNSUPPORTED · ERR_MODEL */
function openLibrary() {
  const reason = whyNotHere()
  if (reason !== '') throw failure('ERR_UNSUPPORTED', reason)
  if (version === null) {
    const opened = addon.modelOpen(found?.file)
    ffi.check()
    version = String(opened)
  }
  return version
}

// ---- Options ----

/** What a session option may be, and what C takes for it. Thrown: why the library does not take it. */
class Unknown {
  /** @param {string} reason */
  constructor(reason) {
    this.reason = reason
  }
}

/** @param {unknown} value */
const isPlainRecord = (value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** @param {string} name @param {unknown} value @param {string} expected @returns {never} */
function refuse(name, value, expected) {
  throw new Unknown(`sessionOptions.${name} is ${show(value)}; ${expected} was expected`)
}

/** @param {string} name @param {unknown} value @param {number} most */
function count(name, value, most) {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) {
    return value
  }
  return refuse(name, value, `an integer from 0 to ${most}`)
}

/** @param {string} name @param {unknown} value @param {Record<string, number>} choices */
function choice(name, value, choices) {
  if (typeof value === 'string' && Object.hasOwn(choices, value)) return choices[value]
  return refuse(name, value, Object.keys(choices).join(', '))
}

/** @param {string} name @param {unknown} value @returns {number} */
function flag(name, value) {
  return typeof value === 'boolean' ? Number(value) : refuse(name, value, 'true or false')
}

/** @param {string} name @param {unknown} value */
function textOf(name, value) {
  return typeof value === 'string' && !value.includes('\0')
    ? value
    : refuse(name, value, 'a string')
}

const MOST_THREADS = 2 ** 15
const LEVELS = { disabled: 0, basic: 1, extended: 2, layout: 3, all: 99 }
const INDICES = {
  intra: 0,
  inter: 1,
  mode: 2,
  level: 3,
  severity: 4,
  verbosity: 5,
  arena: 6,
  pattern: 7,
}

/** A thread of a run that spins takes the processor from JavaScript's. */
const SPINNING = ['session.intra_op.allow_spinning', 'session.inter_op.allow_spinning']

/** What each option does to what C gets. @type {Record<string, (o: NativeOptions, value: any) => void>} */
const OPTIONS = {
  intraOpNumThreads(o, value) {
    o.numbers[INDICES.intra] = count('intraOpNumThreads', value, MOST_THREADS)
  },
  interOpNumThreads(o, value) {
    o.numbers[INDICES.inter] = count('interOpNumThreads', value, MOST_THREADS)
  },
  executionMode(o, value) {
    o.numbers[INDICES.mode] = choice('executionMode', value, { sequential: 0, parallel: 1 })
  },
  graphOptimizationLevel(o, value) {
    o.numbers[INDICES.level] = choice('graphOptimizationLevel', value, LEVELS)
  },
  logSeverityLevel(o, value) {
    o.numbers[INDICES.severity] = count('logSeverityLevel', value, 4)
    o.isQuiet = false
  },
  logVerbosityLevel(o, value) {
    o.numbers[INDICES.verbosity] = count('logVerbosityLevel', value, 2 ** 31 - 1)
  },
  enableCpuMemArena(o, value) {
    o.numbers[INDICES.arena] = flag('enableCpuMemArena', value)
  },
  enableMemPattern(o, value) {
    o.numbers[INDICES.pattern] = flag('enableMemPattern', value)
  },
  logId(o, value) {
    o.texts.push('log', textOf('logId', value), '')
  },
  executionProviders(o, value) {
    const isCpu = (/** @type {any} */ each) =>
      each === 'cpu' || (each?.name === 'cpu' && Object.keys(each).length === 1)
    if (!Array.isArray(value) || !value.every(isCpu)) {
      const named = Array.isArray(value) ? JSON.stringify(value) : show(value)
      throw new Unknown(
        `sessionOptions.executionProviders is ${named}; the library has ['cpu'] alone`,
      )
    }
  },
  preferredOutputLocation(o, value) {
    if (value !== 'cpu') refuse('preferredOutputLocation', value, "'cpu'")
  },
  enableProfiling(o, value) {
    if (value !== false) refuse('enableProfiling', value, 'false')
  },
  enableGraphCapture(o, value) {
    if (value !== false) refuse('enableGraphCapture', value, 'false')
  },
  freeDimensionOverrides(o, value) {
    if (!isPlainRecord(value)) refuse('freeDimensionOverrides', value, 'an object of extents')
    for (const [name, extent] of Object.entries(value)) {
      const title = `freeDimensionOverrides.${name}`
      o.texts.push(
        'extent',
        textOf(title, name),
        String(count(title, extent, Number.MAX_SAFE_INTEGER)),
      )
    }
  },
  extra(o, value) {
    addExtra(o, value, '', 0)
  },
}

/** With these the library reads a model's bytes as long as there is the session. */
const READ_ON = [
  'session.use_ort_model_bytes_directly',
  'session.use_ort_model_bytes_for_initializers',
]

/** @param {NativeOptions} o @param {any} value @param {string} prefix @param {number} depth */
function addExtra(o, value, prefix, depth) {
  const title = `extra${prefix && '.'}${prefix}`
  if (!isPlainRecord(value) || depth > 16) refuse(title, value, 'an object')
  for (const [key, each] of Object.entries(value)) {
    const name = prefix === '' ? key : `${prefix}.${key}`
    o.goesOnReading ||= READ_ON.includes(name)
    if (each !== null && typeof each === 'object') addExtra(o, each, name, depth + 1)
    else if (typeof each === 'boolean') {
      o.texts.push('config', textOf(title, name), each ? '1' : '0')
    } else if (typeof each === 'string' || typeof each === 'number') {
      o.texts.push('config', textOf(title, name), textOf(`extra.${name}`, String(each)))
    } else refuse(`extra.${name}`, each, 'a string, number or boolean')
  }
}

/**
 * Session options as C takes them.
 *
 * @param {Record<string, unknown>} options  as onnxruntime-node names them
 * @returns {NativeOptions | string} a text: why the library does not take them
 */
function nativeOptions(options) {
  /** @type {NativeOptions} */
  const o = {
    numbers: [-1, -1, -1, -1, -1, -1, 1, 1],
    texts: [],
    isQuiet: true,
    weights: null,
    isPrepacked: false,
    goesOnReading: false,
  }
  try {
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined) continue
      if (!Object.hasOwn(OPTIONS, name)) {
        throw new Unknown(`sessionOptions.${name} is no option of the library's`)
      }
      OPTIONS[name](o, value)
    }
    for (const key of SPINNING) if (!o.texts.includes(key)) o.texts.push('config', key, '0')
    return o
  } catch (error) {
    if (error instanceof Unknown) return error.reason
    throw error
  }
}

/**
 * The same, with the weights that a caller gave.
 *
 * @param {NativeOptions} native
 * @param {{ weights: unknown, prepack: 'each' | 'shared' | 'none' }} given
 * @returns {NativeOptions}
 */
function withWeights(native, { weights, prepack }) {
  if (prepack === 'none') native.texts.push('config', 'session.disable_prepacking', '1')
  native.weights = weights === null ? null : weightsOf(weights)
  native.isPrepacked = prepack === 'shared'
  return native
}

// ---- Bytes for a thread ----

/**
 * A layout that a thread can use: the same, where its bytes stay where they are whatever the program does meanwhile, or a copy in
 * native memory, which is counted.
 *
 * @param {Layout} layout  of a tensor that is not disposed
 * @param {boolean} isRead  the copy has the bytes
 * @returns {Layout}
 */
function forThread(layout, isRead) {
  const { storage } = layout
  if (layout.size === 0 || storage.kind === 'native' || storage.kind === 'sab') return layout
  if (unseen.has(storage)) return layout
  const isTheirs = storage.kind === 'js'
  if (isTheirs && isSharedArrayBuffer(storage.buffer)) return layout // asking takes microseconds
  backend.promote(storage)
  const buffer = /** @type {ArrayBuffer} */ (storage.buffer)
  const isResized = isTheirs && (isResizable(buffer) || isOfWasmMemory(buffer))
  if (isMarkBinding() && !isResized) {
    fix(storage)
    return layout
  }
  return stagedCopy(layout, isRead)
}

/**
 * A copy in native memory, which is counted.
 *
 * @param {Layout} layout
 * @param {boolean} isRead  the copy has the bytes
 * @returns {Layout}
 */
function stagedCopy(layout, isRead) {
  const twin = ffi.dense(layout.dtype, layout.shape)
  twin.storage = backend.allocateNative(twin.nbytes, ffi.check)
  try {
    if (isRead) ffi.copy(twin, layout, 0)
    countStaged(twin.nbytes)
    return twin
  } catch (error) {
    backend.release(twin.storage)
    throw error
  }
}

/** @param {Layout} used @param {Layout} layout  what forThread made it of */
function releaseTwin(used, layout) {
  if (used !== layout) backend.release(used.storage)
}

// ---- Sessions ----

/** Throws the error of the last call. The cause of ERR_MODEL is an error with all that onnxruntime said, as it said it. */
function checkModel() {
  try {
    ffi.check()
  } catch (error) {
    const failed = /** @type {any} */ (error)
    if (failed.code === 'ERR_MODEL') failed.cause = new Error(addon.modelWords())
    throw error
  }
}

/** A session of the library's, with the fields of onnxruntime's that a Module reads. */
class LibrarySession {
  #handle
  #isQuiet
  /** @type {Map<string, string> | null} */
  #pairs = null

  /**
   * @param {unknown} handle  C's
   * @param {boolean} isQuiet  its runs log nothing
   * @param {import('./graph').GraphSource} source  where its graph is
   */
  constructor(handle, isQuiet, source) {
    this.#handle = handle
    this.source = source
    this.#isQuiet = isQuiet
    const about = [false, true].map((outputs) => {
      const list = addon.modelDescribe(handle, outputs)
      ffi.check()
      return list.map(metadataOf)
    })
    this.inputMetadata = about[0]
    this.outputMetadata = about[1]
    this.inputNames = namesOf(about[0])
    this.outputNames = namesOf(about[1])
  }

  /** why the library cannot run it, though it could load it; '': it can */
  get reason() {
    const other = [...this.inputMetadata, ...this.outputMetadata].find(
      ({ type }) => type === undefined || type === 'string',
    )
    if (other === undefined) return ''
    return `'${other.name}' is of ${other.type === 'string' ? 'strings' : 'no dtype'}`
  }

  /** @returns {Map<string, string>} inputs that may have an output's bytes, by the output @throws ERR_UNSUPPORTED the model's file has changed */
  pairs() {
    return (this.#pairs ??= pairsAt(this.source))
  }

  async release() {
    addon.modelClose(this.#handle)
  }

  /** A key for another thread's session by this one's. @param {number} uses @returns {number} */
  share(uses) {
    addon.modelShare(this.#handle, uses)
    ffi.check()
    return ffi.result(0)
  }

  /**
   * Begins a run: its operands are C's from here on, and this thread's next call has to be one of start and runHere.
   *
   * @param {Layout[]} inputs  whose storages have addresses
   * @param {(Layout | null | undefined)[]} outputs  by index; null: a new one; undefined: none
   */
  #begin(inputs, outputs) {
    try {
      addon.modelBegin(this.#handle)
      checkModel()
      for (let i = 0; i < inputs.length; i++) {
        ffi.putOperand(inputs[i], true)
        addon.modelInput(i)
        checkModel()
      }
      for (let i = 0; i < outputs.length; i++) {
        const given = outputs[i]
        if (given === undefined) continue
        if (given !== null) ffi.putOperand(given, false)
        addon.modelOutput(i, given !== null)
        checkModel()
      }
    } catch (error) {
      addon.modelGiveUp()
      throw error
    }
  }

  /**
   * Takes the results of a run that has ended well.
   *
   * @param {(Layout | null | undefined)[]} outputs
   * @returns {{ results: (Layout | null)[], took: number }} by index, null: given, or not asked for; nanoseconds of the thread's processor time
   */
  #take(outputs) {
    const took = ffi.result(0)
    /** @type {(Layout | null)[]} */
    const results = []
    try {
      for (let i = 0; i < outputs.length; i++) {
        results[i] = null
        if (outputs[i] !== null) continue
        addon.modelResult(i)
        ffi.check()
        const copied = ffi.result(3)
        results[i] = ffi.received(null, 0)
        if (copied > 0) countCopy('run', copied)
      }
    } catch (error) {
      for (const each of results) if (each !== null) backend.release(each.storage)
      addon.modelGiveUp()
      throw error
    }
    return { results, took }
  }

  /**
   * Runs on this thread.
   *
   * @param {Layout[]} inputs
   * @param {(Layout | null | undefined)[]} outputs
   * @param {boolean} isQuiet  nothing is logged where it fails
   */
  runHere(inputs, outputs, isQuiet) {
    this.#begin(inputs, outputs)
    addon.modelRun(isQuiet || this.#isQuiet, undefined)
    checkModel()
    return this.#take(outputs)
  }

  /**
   * Runs on another thread. The operands stay the caller's to keep until the promise settles.
   *
   * @param {Layout[]} inputs
   * @param {(Layout | null | undefined)[]} outputs
   * @param {boolean} isQuiet
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<{ results: (Layout | null)[], took: number }>}
   */
  run(inputs, outputs, isQuiet, signal) {
    return new Promise((resolve, reject) => {
      this.#begin(inputs, outputs)
      let leave = () => {}
      addon.modelRun(isQuiet || this.#isQuiet, () => {
        let results
        try {
          checkModel()
          results = this.#take(outputs)
        } catch (error) {
          leave()
          if (signal?.look()) reject(signal.reason)
          else reject(error)
          return
        }
        leave()
        resolve(results)
      })
      ffi.check()
      const id = ffi.result(0)
      if (signal !== undefined) leave = signal.follow(() => addon.modelStop(id))
    })
  }
}

rootless(LibrarySession)

/** @param {{ name: string }[]} metadata */
const namesOf = (metadata) => metadata.map(({ name }) => name)

/** @param {[string, number, (number | string)[]]} one  of modelDescribe's list */
const metadataOf = ([name, type, shape]) =>
  type < 0
    ? { name, isTensor: false, type: undefined, shape: undefined }
    : { name, isTensor: true, type: TYPE_NAMES[type], shape }

/**
 * Loads a model off JavaScript's thread.
 *
 * @param {string | Uint8Array} model  a path, or bytes
 * @param {NativeOptions} options
 * @param {(layout: Layout, isRead: boolean) => Layout} [threaded]  what a thread reads the bytes from
 * @returns {Promise<LibrarySession>}
 * @throws ERR_MODEL what onnxruntime says
 */
async function loadSession(model, options, threaded = forThread) {
  openLibrary()
  const { weights, isPrepacked } = options
  const given = weights === null ? new Map() : weightsFor(model, weights)
  const source = sourceOf(model)
  const bytes = typeof model === 'string' ? null : fromBlob(model)
  const layout = bytes === null ? null : Tensor.layoutOf(bytes)
  /** @type {Layout | null} */
  let used = null
  let handle
  try {
    const stage = options.goesOnReading ? stagedCopy : threaded // the session holds native memory, not V8's
    used = layout === null ? null : stage(layout, true)
    const prepacked = weights !== null && isPrepacked ? prepackedFor(weights) : undefined
    const path = used === null ? model : undefined
    handle = await new Promise((resolve, reject) =>
      beginLoad(path, used, options, given, prepacked, (made) => {
        try {
          checkModel()
          resolve(made)
        } catch (error) {
          reject(error)
        }
      }),
    )
    return new LibrarySession(handle, options.isQuiet, source)
  } catch (error) {
    if (handle !== undefined) addon.modelClose(handle) // it would stay until it is collected
    throw error
  } finally {
    for (const t of given.values()) t.dispose() // the session holds their storages
    if (used !== null) releaseTwin(used, /** @type {Layout} */ (layout))
    bytes?.dispose()
  }
}

/**
 * @param {unknown} path  undefined: of bytes
 * @param {Layout | null} bytes
 * @param {NativeOptions} options
 * @param {Map<string, Tensor>} weights
 * @param {unknown} prepacked
 * @param {(session: unknown) => void} done  called on a later turn, the status in the call buffer
 */
function beginLoad(path, bytes, { numbers, texts }, weights, prepacked, done) {
  for (let i = 0; i < numbers.length; i++) ffi.frame.f64[ARGS + i] = numbers[i]
  addon.modelPrepare(texts, prepacked, done)
  ffi.check()
  try {
    for (const [name, t] of weights) {
      ffi.putOperand(Tensor.layoutOf(t), true)
      addon.modelWeight(name)
      ffi.check()
    }
    if (bytes !== null) {
      backend.addressOf(bytes.storage)
      ffi.putOperand(bytes, true)
    }
    addon.modelLoad(path)
    ffi.check()
  } catch (error) {
    addon.modelGiveUp()
    throw error
  }
}

/** The session of a key. @param {number} key @param {boolean} isQuiet @param {any} source @returns {LibrarySession} @throws ERR_STALE */
function sessionOf(key, isQuiet, source) {
  openLibrary()
  const handle = addon.modelTake(key)
  ffi.check()
  return new LibrarySession(handle, isQuiet, source)
}

module.exports = {
  whyNotHere,
  openLibrary,
  nativeOptions,
  withWeights,
  loadSession,
  sessionOf,
  forThread,
  stagedCopy,
  releaseTwin,
  LibrarySession,
  missingFile,
}
