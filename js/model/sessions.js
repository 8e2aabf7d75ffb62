'use strict'
// Creates onnxruntime's sessions, and finds out by a trial what they can do, which differs by version and back end.

const { instance } = require('./internals')
const { nearest } = require('../base/nearest')
const { findOrt, modelAt, library, checkStamp } = require('./runtimes')

/** inPlace: writes into given outputs; readsShared, writesShared: SharedArrayBuffers. @typedef {{ inPlace: boolean, readsShared: boolean, writesShared: boolean }} Abilities */

/** @type {Abilities} */
const NONE = { inPlace: false, readsShared: false, writesShared: false }

/** a minimal model as protobuf: b = Identity(a), float32[2] */
const IDENTITY = Uint8Array.from(
  '08083a3b0a100a016112016222084964656e74697479120567726170685a0f0a0161120a0a08080112040a020802620f0a0162120a0a08080112040a0208024202100d'.match(
    /../g,
  ) ?? [],
  (pair) => parseInt(pair, 16),
)

/**
 * What runs models: onnxruntime's C library, or an onnxruntime of JavaScript's.
 *
 * @typedef {object} Runtime
 * @property {any} ort  null: not looked for yet, because the library runs them
 * @property {Record<string, unknown>} options  of sessions, as onnxruntime names them
 * @property {import('./library').NativeOptions | null} native  the same, as the library takes them; null: it is not used
 * @property {'auto' | 'library' | 'binding'} asked
 * @property {'auto' | 'always' | 'never'} thread
 * @property {any} weights  as the caller gave them; null: the model's own
 * @property {'each' | 'shared' | 'none'} prepack
 * @property {string | undefined} needs  an option that the library alone has
 * @property {RuntimeInfo} info
 */

/**
 * What runs a module's models.
 *
 * @typedef {object} RuntimeInfo
 * @property {'library' | 'binding'} name  'library': onnxruntime-node's C library, on threads of its own; 'binding': onnxruntime's JavaScript
 * @property {string | null} version  of onnxruntime; null: it does not tell
 * @property {string} reason  why it is not the library; '' where it is
 */

/** results of trials, by onnxruntime's session class and placement options @type {WeakMap<object, Map<string, Promise<Abilities | null>>>} */
const known = new WeakMap()

const ASKED = ['auto', 'library', 'binding']
const THREADS = ['auto', 'always', 'never']
const PREPACKING = ['each', 'shared', 'none']
const MOST_AT_ONCE = 1024
const OWN = ['ort', 'runtime', 'thread', 'concurrency', 'weights', 'prepack'] // options that are not onnxruntime's

/**
 * @param {unknown} given
 * @returns {Promise<{ runtime: Runtime, concurrency: number }>}
 */
async function runtimeOf(given) {
  const { failure, show } = instance()
  if (given !== undefined && (given === null || typeof given !== 'object')) {
    throw failure('ERR_ARGUMENT', `sessionOptions is ${show(given)}; an object was expected`)
  }
  const {
    ort,
    runtime: asked = 'auto',
    thread = 'auto',
    concurrency = 1,
    weights,
    prepack = 'each',
    ...options
  } = /** @type {Record<string, any>} */ (given ?? {})
  for (const [name, value, choices] of [
    ['runtime', asked, ASKED],
    ['thread', thread, THREADS],
    ['prepack', prepack, PREPACKING],
  ]) {
    if (!choices.includes(value)) {
      throw failure(
        'ERR_ARGUMENT',
        `sessionOptions.${name} is ${show(value)}; '${choices.join("', '")}' was expected`,
      )
    }
  }
  checkConcurrency(concurrency)
  if (ort === undefined) {
    for (const name of Object.keys(options)) {
      const meant = nearest(name, OWN)
      if (meant === null) continue
      throw failure(
        'ERR_ARGUMENT',
        `sessionOptions.${name} is no option of onnxruntime's; was '${meant}' meant?`,
      )
    }
  }
  if (prepack === 'shared' && weights === undefined) {
    throw failure(
      'ERR_ARGUMENT',
      "prepack: 'shared' takes the option weights, which sessions share",
    )
  }
  const needs = [
    asked === 'library' ? "runtime: 'library'" : '',
    thread === 'always' ? "thread: 'always'" : '',
    weights === undefined ? '' : 'weights',
    prepack === 'each' ? '' : `prepack: '${prepack}'`,
  ].find((option) => option !== '')
  /** @type {Runtime} */
  const runtime = {
    ...{ ort: ort ?? null, options, native: null, asked, thread, needs, info: NO_INFO },
    ...{ weights: weights ?? null, prepack },
  }
  if (ort !== undefined) checkOrt(ort)
  if (asked === 'binding') await useBinding(runtime, "the option runtime asks for 'binding'")
  else if (ort !== undefined) await useBinding(runtime, 'the option ort is another onnxruntime')
  else await useLibrary(runtime)
  return { runtime, concurrency }
}

/**
 * How a token's sessions are run.
 *
 * @param {unknown} thread
 * @param {unknown} concurrency
 * @returns {Runtime}
 * @throws ERR_UNSUPPORTED · {TypeError} ERR_ARGUMENT
 */
function sharedRuntime(thread, concurrency) {
  const { failure } = instance()
  checkConcurrency(concurrency)
  if (!THREADS.includes(/** @type {any} */ (thread))) {
    throw failure(
      'ERR_ARGUMENT',
      "the token has no thread; what a module's share() gave was expected",
    )
  }
  const reason = whyNoLibrary()
  if (reason !== '') {
    throw failure('ERR_UNSUPPORTED', `the token takes onnxruntime's library: ${reason}`)
  }
  const found = /** @type {NonNullable<typeof library>} */ (library)()
  const version = found.openLibrary()
  const native = /** @type {import('./library').NativeOptions} */ (found.nativeOptions({}))
  return {
    ...{ ort: null, options: {}, native, asked: 'library', thread: /** @type {any} */ (thread) },
    ...{ weights: null, prepack: 'each', needs: undefined },
    info: { name: 'library', version, reason: '' },
  }
}

/**
 * @param {number} key
 * @param {unknown} source  where its graph is
 * @param {Runtime} runtime
 * @returns {any} a session
 * @throws ERR_STALE
 */
const sharedSession = (key, source, { native }) =>
  /** @type {NonNullable<typeof library>} */ (library)().sessionOf(
    key,
    native?.isQuiet === true,
    source,
  )

const whyNoLibrary = () => (library === null ? 'pages have no C library' : library().whyNotHere())

/** @param {unknown} concurrency */
function checkConcurrency(concurrency) {
  const { failure, show } = instance()
  const isOne =
    Number.isInteger(concurrency) &&
    /** @type {number} */ (concurrency) >= 1 &&
    /** @type {number} */ (concurrency) <= MOST_AT_ONCE
  if (isOne) return
  throw failure(
    'ERR_ARGUMENT',
    `sessionOptions.concurrency is ${show(concurrency)}; an integer from 1 to ${MOST_AT_ONCE} was expected`,
  )
}

/** @type {RuntimeInfo} */
const NO_INFO = { name: 'binding', version: null, reason: '' }

/**
 * Has the library run models, if it can with these options; else the binding, unless the library was asked for.
 *
 * @param {Runtime} runtime
 * @throws ERR_UNSUPPORTED · {TypeError} ERR_ARGUMENT 'library' was asked for, and does not know an option
 */
async function useLibrary(runtime) {
  const { failure } = instance()
  let reason = whyNoLibrary()
  if (reason === '') {
    const native = /** @type {any} */ (library)().nativeOptions(runtime.options)
    if (typeof native === 'string') {
      if (runtime.asked === 'library') throw failure('ERR_ARGUMENT', native)
      reason = native
    } else {
      try {
        const version = /** @type {any} */ (library)().openLibrary()
        runtime.native = /** @type {any} */ (library)().withWeights(native, runtime)
        runtime.info = { name: 'library', version, reason: '' }
        return
      } catch (error) {
        if (/** @type {any} */ (error).code === 'ERR_ARGUMENT') throw error
        reason = messageOf(error)
      }
    }
  }
  await useBinding(runtime, reason)
}

/**
 * Has onnxruntime's JavaScript run models.
 *
 * @param {Runtime} runtime
 * @param {string} reason  why not the library
 * @throws ERR_UNSUPPORTED
 */
async function useBinding(runtime, reason) {
  const { failure } = instance()
  const { needs } = runtime
  if (needs !== undefined) {
    throw failure('ERR_UNSUPPORTED', `${needs} takes onnxruntime's library: ${reason}`)
  }
  if (runtime.ort === null) checkOrt((runtime.ort = await findOrt()))
  const versions = runtime.ort.env?.versions
  const version = versions?.node ?? versions?.web ?? versions?.common
  runtime.native = null
  runtime.info = {
    name: 'binding',
    version: typeof version === 'string' ? version : null,
    reason,
  }
}

/** @param {any} ort */
function checkOrt(ort) {
  if (typeof ort?.InferenceSession?.create === 'function' && typeof ort.Tensor === 'function') {
    return
  }
  const { failure, show } = instance()
  throw failure(
    'ERR_ARGUMENT',
    `ort is ${show(ort)}; onnxruntime-node, onnxruntime-web or their like was expected`,
  )
}

/**
 * @param {Model} model
 * @param {Runtime} runtime  which changes where the library cannot run what is in the model
 * @returns {Promise<any>}
 */
async function openSession({ title, content, storage }, runtime) {
  const { countStaged, failure, isHtml, isProxied } = instance()
  let model =
    typeof content === 'string' || content instanceof URL ? await modelAt(content) : content
  if (typeof model !== 'string' && isHtml(model)) {
    throw failure(
      'ERR_FORMAT',
      `${model === content ? title : content} is a page of HTML, as servers send it where there is no such file; a model was expected`,
    )
  }
  checkStamp(model, runtime.info.version)
  let session
  try {
    if (model === content && typeof model !== 'string' && isProxied(runtime.ort)) {
      // onnxruntime would take the caller's buffer
      model = model.slice()
      countStaged(model.length)
    }
    session = await newSession(model, runtime)
    if (runtime.native !== null && session.reason !== '') {
      const { reason } = session
      await close(session)
      await useBinding(runtime, reason)
      session = await newSession(model, runtime)
    }
  } catch (cause) {
    checkIntact(storage)
    throw await whyNot(title, model, cause, runtime)
  }
  try {
    checkIntact(storage)
  } catch (error) {
    await close(session)
    throw error
  }
  return session
}

/**
 * Checks that the mapped file that onnxruntime read a model from has not got shorter meanwhile.
 *
 * @param {InstanceType<typeof import('../backend/storage').Storage> | null} storage
 * @throws ERR_IO
 */
function checkIntact(storage) {
  if (storage !== null && !storage.released) instance().ffi.checkIntact(storage)
}

/**
 * The error for a failed load: ERR_FORMAT, or ERR_NOT_FOUND of a file with weights, if a minimal model loads with the same options, else
 * ERR_UNSUPPORTED.
 *
 * @param {string} title
 * @param {string | Uint8Array} model
 * @param {unknown} cause
 * @param {Runtime} runtime
 */
async function whyNot(title, model, cause, runtime) {
  const { failure } = instance()
  if (runtime.native !== null && /** @type {any} */ (cause).code !== 'ERR_MODEL') return cause // it is not onnxruntime's
  const said = messageOf(cause)
  let error
  try {
    await close(await newSession(IDENTITY.slice(), withoutModel(runtime)))
    const missing = /** @type {any} */ (library)?.().missingFile(model)
    error =
      missing === undefined
        ? failure('ERR_FORMAT', `${title} is no model that onnxruntime can load: ${said}`)
        : failure('ERR_NOT_FOUND', `${title} keeps weights in ${missing}, where there is no file`)
  } catch {
    error = failure('ERR_UNSUPPORTED', `onnxruntime cannot work as sessionOptions say: ${said}`)
  }
  return Object.assign(error, { cause })
}

/**
 * A model to be loaded. storage: of a tensor with its bytes, else null.
 *
 * @typedef {{ title: string, content: string | URL | Uint8Array, storage: InstanceType<typeof import('../backend/storage').Storage> | null }} Model
 */

/**
 * Takes a model's bytes before anything is awaited: they may go away meanwhile.
 *
 * @param {string} title  of the model, for messages
 * @param {any} source  a path, a URL or bytes
 * @returns {Model}
 * @throws {TypeError} ERR_ARGUMENT · ERR_DETACHED, ERR_DISPOSED its bytes are gone
 */
function modelOf(title, source) {
  const { failure, show, Tensor, dtypeOfArray, isSharedArrayBuffer, partsOfLive } = instance()
  if (typeof source === 'string' || source instanceof URL) {
    return { title, content: source, storage: null }
  }
  if (Tensor.isTensor(source)) {
    const { storage } = Tensor.layoutOf(source)
    return { title, content: stableBytes(source.bytes), storage }
  }
  let bytes
  if (dtypeOfArray(source) === 'uint8') {
    const { buffer, byteOffset, byteLength } = partsOfLive(source, title)
    bytes = new Uint8Array(buffer, byteOffset, byteLength)
  } else if (
    Object.prototype.toString.call(source) === '[object ArrayBuffer]' ||
    isSharedArrayBuffer(source)
  ) {
    try {
      bytes = new Uint8Array(source)
    } catch {
      throw failure('ERR_DETACHED', `${title} was transferred away`)
    }
  } else {
    throw failure(
      'ERR_ARGUMENT',
      `${title} is ${show(source)}; a path, a URL or a model's bytes were expected`,
    )
  }
  return { title, content: stableBytes(bytes), storage: null }
}

/**
 * Bytes that onnxruntime can read in a later turn: copied if they are in shared memory or in WebAssembly's memory, which may move.
 *
 * @param {Uint8Array} bytes
 * @returns {Uint8Array}
 */
function stableBytes(bytes) {
  const { ffi, countStaged, isSharedArrayBuffer } = instance()
  const { buffer } = bytes
  const backend = /** @type {any} */ (ffi.backend)
  const isOfWasm = backend.isWasm && buffer === backend.memory.buffer
  if (!isSharedArrayBuffer(buffer) && !isOfWasm) return bytes
  countStaged(bytes.length)
  return bytes.slice()
}

/** @param {unknown} error */
const messageOf = (error) => String(/** @type {any} */ (error)?.message ?? error).trim()

/**
 * @param {any} session
 * @param {Runtime} runtime
 * @returns {import('./run').Method['library']}
 */
function runsOf(session, runtime) {
  if (runtime.native === null) return null
  const { LibraryRuns } = /** @type {NonNullable<typeof library>} */ (library)()
  return new LibraryRuns(session, runtime.thread)
}

/** @param {any} session */
async function close(session) {
  await session.release?.()
}

/**
 * A runtime without the session options that concern the model or write files.
 *
 * @param {Runtime} runtime
 * @returns {Runtime}
 */
function withoutModel(runtime) {
  const {
    externalData,
    freeDimensionOverrides,
    optimizedModelFilePath,
    enableProfiling,
    profileFilePrefix,
    ...options
  } = runtime.options
  const native = runtime.native && /** @type {any} */ (library)().nativeOptions(options)
  return { ...runtime, options, native }
}

/**
 * The session options that choose where work is done.
 *
 * @param {Record<string, unknown>} options
 */
function placementOptions({ executionProviders, preferredOutputLocation }) {
  const where = typeof preferredOutputLocation === 'string' ? { preferredOutputLocation } : {}
  return executionProviders === undefined ? where : { ...where, executionProviders }
}

/** ends of the last calls where some are on WebGPU or in a worker, by the class whose calls wait for each other @type {WeakMap<object, Promise<void>>} */
const turns = new WeakMap()

/** @param {Record<string, unknown>} options  of sessions */
function usesGpu({ executionProviders }) {
  return (
    Array.isArray(executionProviders) &&
    executionProviders.some((each) => (typeof each === 'string' ? each : each?.name) === 'webgpu')
  )
}

/**
 * Calls onnxruntime. onnxruntime-web's memory breaks where a session runs while another one's run waits for WebGPU, and it refuses two that are
 * made at a time: so from the first call on WebGPU on they are made one after the other. So are all in its worker (`isProxied`), whose answers
 * it assigns to calls by their order.
 *
 * @param {object} kind  of calls that wait for each other
 * @param {Runtime} runtime
 * @param {() => Promise<any>} call
 * @returns {Promise<any>} what it gives
 */
function inTurn(kind, { ort, options }, call) {
  const before = turns.get(kind)
  if (before === undefined && !usesGpu(options) && !instance().isProxied(ort)) return call()
  const found = before === undefined ? call() : before.then(call)
  const ignore = () => {}
  turns.set(kind, found.then(ignore, ignore))
  return found
}

/**
 * @param {any} model  bytes or a path
 * @param {Runtime} runtime
 * @returns {Promise<any>} rejected by onnxruntime
 */
function newSession(model, runtime) {
  const { ort, options, native } = runtime
  if (native !== null) return /** @type {any} */ (library)().loadSession(model, native)
  const { InferenceSession } = ort
  return inTurn(InferenceSession, runtime, async () => {
    if (instance().isProxied(ort)) structuredClone(options) // fails before onnxruntime fails to post them
    return InferenceSession.create(model, options)
  })
}

/**
 * @param {any} session
 * @param {Runtime} runtime
 * @param {() => Promise<any>} run
 * @returns {Promise<any>} what it gives
 */
const runInTurn = (session, runtime, run) => inTurn(backendOf(session, runtime.ort), runtime, run)

/**
 * What sessions like this one can do, tried once with a minimal model. If new sessions have another back end than this one
 * (onnxruntime-node was loaded after onnxruntime-web, and they share a registry), nothing is assumed to work. In onnxruntime's worker
 * nothing does, and the trial itself would be posted.
 *
 * @param {Runtime} runtime
 * @param {any} session
 * @returns {Promise<Abilities>}
 */
async function abilitiesOf(runtime, session) {
  if (instance().isProxied(runtime.ort)) return NONE
  const kind = backendOf(session, runtime.ort)
  const options = placementOptions(runtime.options)
  const key = JSON.stringify(options)
  const tried = known.get(kind) ?? new Map()
  known.set(kind, tried)
  const trial = tried.get(key) ?? probe(runtime.ort, options, kind)
  tried.set(key, trial)
  let abilities = null
  try {
    abilities = await trial
  } finally {
    if (abilities === null && tried.get(key) === trial) tried.delete(key) // the next call tries again
  }
  return abilities ?? NONE
}

/**
 * @param {any} session
 * @param {any} ort
 * @returns {object} identifies the session's back end
 */
const backendOf = (session, ort) => session.handler?.constructor ?? ort.InferenceSession

/** @param {any} ort @param {Record<string, unknown>} options @returns {Runtime} */
const trialOf = (ort, options) => ({
  ...{ ort, options, native: null, info: NO_INFO },
  ...{ asked: 'binding', thread: 'auto', weights: null, prepack: 'each', needs: undefined },
})

/**
 * @param {any} ort
 * @param {Record<string, unknown>} options
 * @param {object} kind
 * @returns {Promise<Abilities | null>} null: new sessions have another back end
 * @throws ERR_MODEL
 */
async function probe(ort, options, kind) {
  let session
  try {
    session = await newSession(IDENTITY, trialOf(ort, { ...options, logSeverityLevel: 4 }))
  } catch (cause) {
    const text = `onnxruntime cannot load the model by which it is found out whether it works in place: ${messageOf(cause)}`
    throw Object.assign(instance().failure('ERR_MODEL', text), { cause })
  }
  if (backendOf(session, ort) !== kind) {
    await close(session)
    return null
  }
  const runtime = trialOf(ort, options)
  const plain = new Float32Array(2)
  const shared =
    typeof SharedArrayBuffer === 'function' ? new Float32Array(new SharedArrayBuffer(8)) : null
  try {
    return {
      inPlace: await copiesThrough(runtime, session, Float32Array.of(1, 2), plain),
      readsShared: shared !== null && (await copiesThrough(runtime, session, shared.fill(3), null)),
      writesShared:
        shared !== null &&
        (await copiesThrough(runtime, session, Float32Array.of(1, 2), shared.fill(0))),
    }
  } finally {
    await close(session)
  }
}

/**
 * Does the session copy these values through the identity model?
 *
 * @param {Runtime} runtime
 * @param {any} session
 * @param {Float32Array} from
 * @param {Float32Array | null} to  a given output; null: onnxruntime makes one
 */
async function copiesThrough(runtime, session, from, to) {
  try {
    const { Tensor } = runtime.ort
    const feeds = { a: new Tensor('float32', from, [2]) }
    const { b } = await runInTurn(session, runtime, () =>
      to === null ? session.run(feeds) : session.run(feeds, { b: new Tensor('float32', to, [2]) }),
    )
    const seen = to ?? (b.location === 'gpu-buffer' ? await b.getData(true) : b.data)
    return seen[0] === from[0] && seen[1] === from[1]
  } catch {
    return false
  }
}

module.exports = {
  runtimeOf,
  modelOf,
  openSession,
  runsOf,
  sharedRuntime,
  sharedSession,
  abilitiesOf,
  runInTurn,
  usesGpu,
  close,
  messageOf,
}
