'use strict'
// init in a browser: fetches and compiles the WASM module, and makes its memory or joins another thread's. The rest of the
// package loads after that, because it reads C's tables when it loads.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { optionsOfInit } = require('./init-options')
const { version } = require('../base/version')
const wasm = require('./wasm')
const shared = require('./wasm-shared')
const { guard, isWorklet, whyNoLocks } = require('./threads.browser')

/** @typedef {import('./init-options').InitOptions} InitOptions */
/** @typedef {{ plain: () => unknown, shared: () => unknown, isInside: boolean }} Modules  the modules or their URLs; isInside: the bundle contains them */
/** @typedef {import('./wasm').Backend} Engine */
/** @typedef {import('./init-options').ModuleSource} ModuleSource */
/** @typedef {(math: ModuleSource | true, algorithms: ModuleSource | boolean | undefined) => Promise<void>} LoadMath */

/** (module (func (result v128) i32.const 0 i8x16.splat)), which is valid only with SIMD */
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15,
  11,
])

/** as a page begins */
const LESS_THAN = 60

/** @type {Engine | null} */
let engine = null

/** The first call's options and promise @type {{ options: InitOptions, done: Promise<void> } | null} */
let begun = null

/** @returns {Engine} */
function engineOfPage() {
  if (engine === null) throw notReady('samebytes')
  return engine
}

/** @param {string} name  what the program used before init() was done */
const notReady = (name) =>
  failure('ERR_UNSUPPORTED', `${name} was used before samebytes is ready; await init() first`)

/** Loads the modules of samebytes/math, where that is imported @type {LoadMath | null} */
let loadMath = null

/** @param {LoadMath} load  called when init is done */
function offerMath(load) {
  loadMath = load
}

/**
 * @param {Promise<void>} done
 * @param {InitOptions} options
 */
async function withMath(
  done,
  { algorithms, math = algorithms !== undefined && algorithms !== false },
) {
  await done
  if (math === false) return
  if (loadMath === null) {
    throw failure(
      'ERR_UNSUPPORTED',
      'math was given, and samebytes/math is not imported; import it first, or call its init() later',
    )
  }
  await loadMath(math, algorithms)
}

/**
 * @param {unknown} given
 * @param {Modules} modules
 * @returns {Promise<void>}
 */
async function init(given, modules) {
  const { math, algorithms, ...options } = optionsOfInit(given)
  if (begun === null) {
    const done = open(options, modules).catch((error) => {
      begun = null // init may be called again
      throw error
    })
    begun = { options, done }
  } else if (Object.values(options).some((value) => value !== undefined)) {
    const before = comparable(begun.options)
    if (comparable(options).some((value, i) => value !== before[i])) {
      throw failure(
        'ERR_UNSUPPORTED',
        'init was called before with other options; a page or worker has one memory',
      )
    }
  }
  await withMath(begun.done, { math, algorithms })
}

/**
 * @param {InitOptions} options
 * @returns {unknown[]} the same for options that mean the same
 */
function comparable({ wasm, shared = false, from, initialMemory, maximumMemory }) {
  const { group } = /** @type {any} */ (from ?? {})
  return [isUrl(wasm) ? String(wasm) : wasm, shared, group?.name, initialMemory, maximumMemory]
}

/**
 * @param {unknown} value
 * @returns {value is URL} false in an AudioWorklet, which lacks the class URL
 */
const isUrl = (value) => typeof URL === 'function' && value instanceof URL

/**
 * @param {InitOptions} options
 * @param {Modules} modules
 */
async function open(options, modules) {
  if (typeof WebAssembly !== 'object') {
    throw failure('ERR_UNSUPPORTED', 'this runtime has no WebAssembly')
  }
  if (!WebAssembly.validate(SIMD)) {
    throw failure(
      'ERR_UNSUPPORTED',
      "this runtime's WebAssembly has no SIMD, which samebytes needs (Chrome 91, Firefox 89, Safari 16.4 and later have it)",
    )
  }
  const from = /** @type {any} */ (options.from)
  const carriesCopy = from?.isCopy === true && from.group === undefined // without memory to join
  const made =
    from === undefined || carriesCopy ? await started(options, modules) : await joined(options)
  const { tables } = made
  if (tables.version !== version) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the WASM module is that of samebytes ${tables.version}; this is ${version}`,
    )
  }
  if (made instanceof shared.SharedBackend && !isWorklet()) await guard(made)
  engine = made
}

/**
 * @param {InitOptions} options
 * @returns {Promise<Engine>}
 */
async function joined({ from, shared: wanted }) {
  const group = /** @type {any} */ (from).group
  if (wanted === false) {
    throw failure('ERR_ARGUMENT', 'shared is false; a thread that joins memory (from) shares it')
  }
  if (group === undefined) {
    throw failure(
      'ERR_UNSUPPORTED',
      'from is a token without memory to join; share() gives one where init had shared memory',
    )
  }
  if (group === null || typeof group !== 'object') {
    throw failure('ERR_ARGUMENT', `from.group is ${show(group)}; what share() gave was expected`)
  }
  if (!(group.module instanceof WebAssembly.Module)) {
    throw failure(
      'ERR_ARGUMENT',
      `from.group.module is ${show(group.module)}; a WebAssembly.Module was expected`,
    )
  }
  if (!(group.memory instanceof WebAssembly.Memory)) {
    throw failure(
      'ERR_ARGUMENT',
      `from.group.memory is ${show(group.memory)}; a WebAssembly.Memory was expected`,
    )
  }
  if (!isWorklet()) await checkLocks() // before joining, which cannot be undone
  try {
    return shared.start(group)
  } catch (error) {
    if (!(error instanceof WebAssembly.LinkError || error instanceof WebAssembly.RuntimeError)) {
      throw error
    }
    throw failure('ERR_FORMAT', `from.group has memory that is not of its module: ${error.message}`)
  }
}

/**
 * @param {InitOptions} options
 * @param {Modules} modules
 * @returns {Promise<Engine>}
 */
async function started(options, modules) {
  const { initialMemory, maximumMemory } = options
  const isShared =
    options.shared === 'auto'
      ? isIsolated() && (await whyNoLocks()) === null
      : options.shared === true
  if (isShared && !isIsolated()) {
    throw failure(
      'ERR_UNSUPPORTED',
      'shared memory needs a page that is cross-origin isolated: it is served with Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp',
    )
  }
  if (isShared && options.shared === true) await checkLocks()
  /** @type {import('./wasm').WasmMemory | null} */
  let memory = null
  try {
    if (isShared) memory = wasm.newMemory({ initialMemory, maximumMemory, shared: true })
  } catch (/** @type {any} */ error) {
    if (!(options.shared === 'auto' && error.code === 'ERR_MEMORY')) throw error // the device has no room for it
  }
  const module = await moduleOf(options.wasm ?? moduleIn(modules, memory !== null), 'wasm')
  try {
    if (memory !== null) return shared.start(shared.newGroup(module, memory))
    return wasm.start(module, wasm.newMemory({ initialMemory, maximumMemory }))
  } catch (error) {
    if (!(error instanceof WebAssembly.LinkError || error instanceof TypeError)) throw error
    throw failure(
      'ERR_FORMAT',
      `the module is not the one for ${memory !== null ? 'shared memory (samebytes-shared.wasm)' : 'one thread (samebytes.wasm)'}: ${error.message}`,
    )
  }
}

/** @throws ERR_UNSUPPORTED no Web Locks; as a rejection */
async function checkLocks() {
  const error = await whyNoLocks()
  if (error !== null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `shared memory needs Web Locks, which tell when a worker is gone, and this page or worker may have none: ${error.message}`,
    )
  }
}

/**
 * @param {Modules} modules
 * @param {boolean} isShared
 */
function moduleIn(modules, isShared) {
  if (typeof URL !== 'function' && !modules.isInside) throw noFetch()
  return isShared ? modules.shared() : modules.plain()
}

function noFetch() {
  return failure(
    'ERR_UNSUPPORTED',
    'nothing can be fetched here, as in an AudioWorklet: post a WebAssembly.Module and call init({ wasm: module }), or import samebytes/inline, which has it inside',
  )
}

const isIsolated = () =>
  globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer === 'function'

/**
 * @param {unknown} source
 * @param {string} option  that it was given as
 * @returns {Promise<WebAssembly.Module>}
 */
async function moduleOf(source, option) {
  if (source instanceof WebAssembly.Module) return source
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return compile(/** @type {BufferSource} */ (source), option)
  }
  const response =
    typeof Response === 'function' && source instanceof Response
      ? source
      : await fetched(source, option)
  const name = response.url === '' ? 'the response' : response.url
  if (!response.ok) {
    throw failure('ERR_IO', `${name} could not be read: ${response.status} ${response.statusText}`)
  }
  let bytes
  try {
    bytes = await response.arrayBuffer()
  } catch (error) {
    throw failure('ERR_IO', `${name} could not be read: ${/** @type {Error} */ (error).message}`)
  }
  return compile(bytes, name)
}

/**
 * @param {unknown} source
 * @param {string} option
 */
async function fetched(source, option) {
  if (typeof source !== 'string' && !isUrl(source)) {
    throw failure(
      'ERR_ARGUMENT',
      `${option} is ${show(source)}; a URL, a Response, an ArrayBuffer or a WebAssembly.Module was expected`,
    )
  }
  if (typeof fetch !== 'function') throw noFetch()
  try {
    return await fetch(source)
  } catch (error) {
    throw failure('ERR_IO', `${source} could not be read: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * @param {BufferSource} bytes
 * @param {string} name
 */
async function compile(bytes, name) {
  try {
    return await WebAssembly.compile(bytes)
  } catch (error) {
    if (bytes.byteLength > 0 && WebAssembly.validate(bytes)) {
      throw failure(
        'ERR_UNSUPPORTED',
        `WebAssembly is not allowed here; where a Content-Security-Policy has script-src, it has to list 'wasm-unsafe-eval': ${/** @type {Error} */ (error).message}`,
      )
    }
    const start =
      bytes.byteLength === 0
        ? new Uint8Array(0)
        : ArrayBuffer.isView(bytes)
          ? new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(4, bytes.byteLength))
          : new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength))
    const isWasm = start.length === 4 && [0, 97, 115, 109].every((byte, i) => start[i] === byte)
    const what = isWasm ? 'is no whole WASM module' : 'is no WASM module'
    const hint =
      start[0] === LESS_THAN
        ? ". It looks like a page, which servers send where a file is missing: a bundler may have moved the package's modules away from it; Vite up to 7 leaves them with optimizeDeps: { exclude: ['samebytes'] }, and init({ wasm: url }) says where it is"
        : ''
    throw failure(
      'ERR_FORMAT',
      `${name} (${bytes.byteLength} bytes) ${what}: ${/** @type {Error} */ (error).message}${hint}`,
    )
  }
}

module.exports = { init, engineOfPage, isUrl, notReady, offerMath, moduleOf, moduleIn }
