'use strict'
// Files that are read when they are first needed.

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
  waiting?.push(read)
  return read
}

/**
 * A function whose file is read when it is first called: what few programs need should not cost all of them.
 *
 * @template {(...args: any[]) => any} F
 * @param {() => F} load
 * @returns {F}
 */
function later (load) {
  const read = laterFile(load)
  /** @param {any[]} args */
  const call = (...args) => read()(...args)
  return /** @type {any} */ (call)
}

/** Reads what was declared until now, and what that declares; nothing where there is no need to (host.js). */
function readAll () {
  for (const read of waiting ?? []) read()
  if (waiting !== null) waiting = []
}

module.exports = { later, laterFile, readAll }
