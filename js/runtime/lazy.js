'use strict'
// Files that are read when they are first needed.

const { Reflect } = require('../base/primordials')
const { isEager } = require('./host')

/** reads that readAll does; null: none is noted @type {(() => unknown)[] | null} */
let waiting = isEager ? [] : null

/**
 * What a file exports, once somebody asks.
 *
 * @template M
 * @param {() => M} load
 * @returns {() => M}
 */
function laterFile (load) {
  /** @type {M | undefined} */
  let exported
  const read = () => (exported ??= load())
  if (waiting !== null) waiting[waiting.length] = read
  return read
}

/**
 * The functions of a file that is read when one of them is first called: what few programs need should not cost all of them.
 *
 * @template M
 * @param {() => M} load
 * @returns {M} of which functions are taken
 */
function functionsOf (load) {
  const read = laterFile(load)
  const get = (/** @type {unknown} */ _, /** @type {string} */ name) => (/** @type {any[]} */ ...args) => Reflect.apply(/** @type {any} */ (read())[name], undefined, args)
  return /** @type {any} */ (new Proxy({}, { get }))
}

/** Reads what was declared until now, and what that declares; nothing where there is no need to (host.js). */
function readAll () {
  const reads = waiting ?? []
  for (let i = 0; i < reads.length; i++) reads[i]() // more are added meanwhile
  if (waiting !== null) waiting = []
}

module.exports = { functionsOf, laterFile, readAll }
