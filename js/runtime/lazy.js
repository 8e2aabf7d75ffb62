'use strict'
// Files that are read when they are first needed.

const { isEager, loaded } = require('./host')

/** Files that readAll reads; null: it need not. @type {(() => unknown)[] | null} */
let waiting = isEager ? [] : null

/**
 * A file's exports. The file is read at the first call.
 *
 * @template M
 * @param {() => M} load
 * @returns {() => M}
 */
function lazyFile(load) {
  /** @type {M | undefined} */
  let exported
  const read = () => (exported ??= loaded(load))
  if (waiting !== null) waiting.push(read)
  return read
}

/**
 * A file's functions. The file is read when one of them is first called, so that programs without it need not load it.
 *
 * @template M
 * @param {() => M} load
 * @returns {M} of which functions are taken
 */
function functionsOf(load) {
  const read = lazyFile(load)
  const get = (/** @type {unknown} */ _, /** @type {string} */ name) =>
    ({
      [name]: (/** @type {any[]} */ ...args) =>
        Reflect.apply(/** @type {any} */ (read())[name], undefined, args),
    })[name]
  return /** @type {any} */ (new Proxy({}, { get }))
}

/** Reads all files that were declared, under Jest (host.js: isEager); elsewhere it does nothing. */
function readAll() {
  const reads = waiting ?? []
  for (let i = 0; i < reads.length; i++) reads[i]() // files that are read may declare more
  if (waiting !== null) waiting = []
}

module.exports = { functionsOf, lazyFile, readAll }
