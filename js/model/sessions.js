'use strict'
// Sessions of onnxruntime, and what the one at hand can do: found out, because versions and kinds of it differ.

const { instance } = require('./internals')
const { findOrt, modelAt } = require('./runtimes')

/** @typedef {{ inPlace: boolean, readsShared: boolean, writesShared: boolean }} Abilities */

/** b = Identity(a), of float32[2]: as small as a model can be, as protobuf */
const IDENTITY = Uint8Array.from(
  '08083a3b0a100a016112016222084964656e74697479120567726170685a0f0a0161120a0a08080112040a020802620f0a0162120a0a08080112040a0208024202100d'.match(/../g) ?? [],
  pair => parseInt(pair, 16)
)

/**
 * @typedef {object} Runtime
 * @property {any} ort
 * @property {Record<string, unknown>} options  of sessions
 */

/** what was found out, by onnxruntime's session class and place of work @type {WeakMap<object, Map<string, Promise<Abilities | null>>>} */
const known = new WeakMap()

/**
 * @param {unknown} given
 * @returns {Promise<Runtime>}
 */
async function runtimeOf (given) {
  const { failure, show } = instance()
  if (given !== undefined && (given === null || typeof given !== 'object')) throw failure('ERR_ARGUMENT', `sessionOptions is ${show(given)}; an object was expected`)
  const { ort, ...options } = /** @type {Record<string, any>} */ (given ?? {})
  const found = ort === undefined ? await findOrt() : ort
  if (typeof found?.InferenceSession?.create !== 'function' || typeof found.Tensor !== 'function') {
    throw failure('ERR_ARGUMENT', `ort is ${show(found)}; onnxruntime-node, onnxruntime-web or their like was expected`)
  }
  return { ort: found, options }
}

/**
 * @param {string} title  of the model, for messages
 * @param {unknown} source  a path, a URL or bytes
 * @param {Runtime} runtime
 * @returns {Promise<any>}
 */
async function openSession (title, source, runtime) {
  const { Tensor } = instance()
  const storage = Tensor.isTensor(source) && !source.isDisposed ? Tensor.layoutOf(source).storage : null
  const model = await modelOf(title, source)
  const { ort, options } = runtime
  let session
  try {
    session = await ort.InferenceSession.create(model, options)
  } catch (cause) {
    checkIntact(storage)
    throw await whyNot(title, cause, runtime)
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
 * What onnxruntime read of a mapped file may have proved to be gone meanwhile.
 *
 * @param {InstanceType<typeof import('../backend/storage').Storage> | null} storage
 * @throws ERR_IO
 */
function checkIntact (storage) {
  if (storage !== null && !storage.released) instance().ffi.checkIntact(storage)
}

/**
 * Is it the model, or is it onnxruntime that cannot do what the options ask?
 *
 * @param {string} title
 * @param {unknown} cause
 * @param {Runtime} runtime
 */
async function whyNot (title, cause, { ort, options }) {
  const { failure } = instance()
  const said = messageOf(cause)
  let error
  try {
    await close(await ort.InferenceSession.create(IDENTITY, withoutModel(options)))
    error = failure('ERR_FORMAT', `${title} is no model that onnxruntime can load: ${said}`)
  } catch {
    error = failure('ERR_UNSUPPORTED', `onnxruntime cannot work as sessionOptions say: ${said}`)
  }
  error.cause = cause
  return error
}

/**
 * @param {string} title
 * @param {any} source
 * @returns {Promise<string | Uint8Array>}
 */
async function modelOf (title, source) {
  const { failure, show, Tensor, dtypeOfArray, isSharedArrayBuffer } = instance()
  if (typeof source === 'string' || source instanceof URL) return modelAt(source)
  if (Tensor.isTensor(source)) return staying(source.bytes)
  if (dtypeOfArray(source) === 'uint8') return staying(new Uint8Array(source.buffer, source.byteOffset, source.length))
  if (Object.prototype.toString.call(source) === '[object ArrayBuffer]' || isSharedArrayBuffer(source)) return staying(new Uint8Array(source))
  throw failure('ERR_ARGUMENT', `${title} is ${show(source)}; a path, a URL or a model's bytes were expected`)
}

/**
 * Bytes that onnxruntime can read in a later turn: of shared memory, and of WebAssembly's, which moves, a copy.
 *
 * @param {Uint8Array} bytes
 * @returns {Uint8Array}
 */
function staying (bytes) {
  const { ffi: { backend }, countStaged, isSharedArrayBuffer } = instance()
  if (!isSharedArrayBuffer(bytes.buffer) && !(backend.isWasm && bytes.buffer === /** @type {any} */ (backend).memory.buffer)) return bytes
  countStaged(bytes.length)
  return bytes.slice()
}

/** @param {unknown} error */
function messageOf (error) {
  return String(/** @type {any} */ (error)?.message ?? error).trim()
}

/** @param {any} session */
async function close (session) {
  await session.release?.()
}

/**
 * The options without what is about the model or leaves files.
 *
 * @param {Record<string, unknown>} options
 */
function withoutModel ({ externalData, freeDimensionOverrides, optimizedModelFilePath, enableProfiling, profileFilePrefix, ...rest }) {
  return rest
}

/**
 * Those of the options that say where work is done.
 *
 * @param {Record<string, unknown>} options
 */
function placeOf ({ executionProviders, preferredOutputLocation }) {
  const where = typeof preferredOutputLocation === 'string' ? { preferredOutputLocation } : {}
  return executionProviders === undefined ? where : { ...where, executionProviders }
}

/**
 * What sessions like this one can do, tried once on a model of one operation. Where new sessions are not like this one any more
 * (onnxruntime-node was loaded after onnxruntime-web: they share their registry), it is taken to be able to do nothing.
 *
 * @param {Runtime} runtime
 * @param {any} session
 * @returns {Promise<Abilities>}
 */
async function abilitiesOf (runtime, session) {
  const kind = kindOf(session, runtime.ort)
  const place = placeOf(runtime.options)
  const key = JSON.stringify(place)
  const tried = known.get(kind) ?? new Map()
  known.set(kind, tried)
  const trial = tried.get(key) ?? tryOut(runtime.ort, place, kind)
  tried.set(key, trial)
  let abilities = null
  try {
    abilities = await trial
  } finally {
    if (abilities === null && tried.get(key) === trial) tried.delete(key) // to be asked again
  }
  return abilities ?? { inPlace: false, readsShared: false, writesShared: false }
}

/**
 * @param {any} session
 * @param {any} ort
 * @returns {object} what sessions of one back end have in common
 */
function kindOf (session, ort) {
  return session.handler?.constructor ?? ort.InferenceSession
}

/**
 * @param {any} ort
 * @param {Record<string, unknown>} options
 * @param {object} kind
 * @returns {Promise<Abilities | null>} null: new sessions are of another kind
 * @throws ERR_MODEL
 */
async function tryOut (ort, options, kind) {
  let session
  try {
    session = await ort.InferenceSession.create(IDENTITY, { ...options, logSeverityLevel: 4 })
  } catch (cause) {
    const error = instance().failure('ERR_MODEL', `onnxruntime cannot load the model by which it is found out whether it works in place: ${messageOf(cause)}`)
    error.cause = cause
    throw error
  }
  if (kindOf(session, ort) !== kind) {
    await close(session)
    return null
  }
  const plain = new Float32Array(2)
  const shared = typeof SharedArrayBuffer === 'function' ? new Float32Array(new SharedArrayBuffer(8)) : null
  try {
    return {
      inPlace: await passes(ort, session, Float32Array.of(1, 2), plain),
      readsShared: shared !== null && await passes(ort, session, shared.fill(3), null),
      writesShared: shared !== null && await passes(ort, session, Float32Array.of(1, 2), shared.fill(0))
    }
  } finally {
    await close(session)
  }
}

/**
 * @param {any} ort
 * @param {any} session
 * @param {Float32Array} from
 * @param {Float32Array | null} to  that should be written to
 */
async function passes (ort, session, from, to) {
  try {
    const feeds = { a: new ort.Tensor('float32', from, [2]) }
    const { b } = to === null ? await session.run(feeds) : await session.run(feeds, { b: new ort.Tensor('float32', to, [2]) })
    const seen = to ?? b.data
    return seen[0] === from[0] && seen[1] === from[1]
  } catch {
    return false
  }
}

module.exports = { runtimeOf, openSession, abilitiesOf, close, messageOf }
