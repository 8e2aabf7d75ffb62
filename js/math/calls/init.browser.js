'use strict'
// The WebAssembly modules of samebytes/math in browsers: arithmetic's, and that of algorithms, without which arithmetic works. This file is in the
// bundle of samebytes/math, where it also takes the place of runtime/wasm-modules.js (wasm/bundle.mjs).

const { failure } = require('../../base/errors')
const { engineOfPage, isUrl, moduleOf, offerMath, moduleIn } = require('../../backend/init.browser')

/** @typedef {import('../../backend/init-options').ModuleSource} ModuleSource */
/** @typedef {'math' | 'algorithms'} Name */
/** Of each module. @typedef {Record<Name, import('../../backend/init.browser').Modules>} Modules */

/** @type {Record<Name, WebAssembly.Module | null>} */
const loaded = { math: null, algorithms: null }

/** @type {Record<Name, Promise<void> | null>} */
const begun = { math: null, algorithms: null }

let whyNot = '' // there are no algorithms
let ready = false

const isReady = () => ready

/**
 * @param {string} file
 * @returns {WebAssembly.Module} where isReady()
 * @throws ERR_UNSUPPORTED it is that of algorithms, and was not loaded
 */
function compile(file) {
  const module = loaded[file.includes('algorithms') ? 'algorithms' : 'math']
  if (module === null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${file} was not loaded: ${whyNot}; init({ algorithms: ... }) takes its URL, or a WebAssembly.Module`,
    )
  }
  return module
}

/**
 * Loads the modules that are not there yet, once init of samebytes is done.
 *
 * @param {Modules} modules
 * @param {ModuleSource | true} [math]
 * @param {ModuleSource | boolean} [algorithms]
 * @returns {Promise<void>}
 */
async function load(modules, math = true, algorithms) {
  await Promise.all([once(modules, 'math', math), loadAlgorithms(modules, math, algorithms)])
  ready = true
}

/**
 * @param {Modules} modules
 * @param {Name} name
 * @param {ModuleSource | true} source
 * @returns {Promise<void>}
 */
function once(modules, name, source) {
  return (begun[name] ??= open(modules, name, source).catch((error) => {
    begun[name] = null // it may be tried again
    throw error
  }))
}

/**
 * @param {Modules} modules
 * @param {Name} name
 * @param {ModuleSource | true} source
 */
async function open(modules, name, source) {
  const isShared = engineOfPage().group !== null
  loaded[name] = await moduleOf(source === true ? moduleIn(modules[name], isShared) : source, name)
}

/**
 * Where nobody said where they are, they may be missing.
 *
 * @param {Modules} modules
 * @param {ModuleSource | true} math
 * @param {ModuleSource | boolean | undefined} algorithms
 */
async function loadAlgorithms(modules, math, algorithms) {
  if (algorithms !== undefined && algorithms !== false) {
    return once(modules, 'algorithms', algorithms)
  }
  const source = algorithms === false ? null : besides(math)
  if (source === null) {
    whyNot = algorithms === false ? 'algorithms is false' : 'it is not known where it is'
  } else {
    await once(modules, 'algorithms', source).catch((error) => {
      whyNot = error.message
    })
  }
}

/**
 * @param {ModuleSource | true} math  where arithmetic's module is
 * @returns {string | true | null} where the other one is; null: the name does not tell
 */
function besides(math) {
  if (math === true) return true
  const url = isUrl(math) ? math.href : math
  if (typeof url !== 'string') return null
  const other = url.replace(
    /samebytes-math(-shared)?\.wasm(?=$|[?#])/,
    'samebytes-algorithms$1.wasm',
  )
  return other === url ? null : other
}

/** So that init of samebytes can load them. @param {Modules} modules */
function offer(modules) {
  offerMath((math, algorithms) => load(modules, math, algorithms))
}

module.exports = { compile, isReady, load, offer }
