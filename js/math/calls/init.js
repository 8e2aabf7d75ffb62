'use strict'
// init of samebytes/math in Node, where the import makes everything ready. In browsers the bundle's own takes its place (wasm/bundle.mjs).

/**
 * Makes arithmetic ready. In a browser it awaits the package's own init, then fetches and compiles two more WASM modules, arithmetic's and that
 * of algorithms, unless `init({ math: true })` has done so; until then the functions throw. In Node the import makes everything ready.
 *
 * @returns {Promise<void>}
 * @throws ERR_UNSUPPORTED, ERR_IO, ERR_FORMAT as init, as rejections
 * @example
 * await math.init()
 */
async function init() {}

module.exports = { init }
