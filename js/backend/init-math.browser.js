'use strict'
// Arithmetic's WebAssembly module in browsers. This file is in the bundle of samebytes/math, where it also takes the place of
// runtime/wasm-modules.js (wasm/bundle.mjs).

const { engineOfPage, moduleOf, offerMath, placeIn } = require('./init.browser')

/** @typedef {import('./init-options').ModuleSource} ModuleSource */
/** @typedef {import('./init.browser').Places} Places */

/** @type {Promise<void> | null} */
let begun = null

/** @type {WebAssembly.Module | null} */
let loaded = null

const isReady = () => loaded !== null

/** @returns {WebAssembly.Module} where it is ready */
const compile = () => /** @type {WebAssembly.Module} */ (loaded)

/**
 * Loads the module, once init of samebytes is done.
 *
 * @param {Places} places
 * @param {ModuleSource | true} [source]
 * @returns {Promise<void>}
 */
function load (places, source = true) {
  return (begun ??= open(places, source).catch(error => {
    begun = null // it may be tried again
    throw error
  }))
}

/**
 * @param {Places} places
 * @param {ModuleSource | true} source
 */
async function open (places, source) {
  const isShared = engineOfPage().group !== null
  loaded = await moduleOf(source === true ? placeIn(places, isShared) : source, 'math')
}

/** So that init of samebytes can load it. @param {Places} places */
function offer (places) {
  offerMath(source => load(places, source))
}

module.exports = { compile, isReady, load, offer }
