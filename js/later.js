'use strict'
// Files that are read when they are first needed.

/**
 * A function whose file is read when it is first called: what few programs need should not cost all of them.
 *
 * @template {(...args: any[]) => any} F
 * @param {() => F} load
 * @returns {F}
 */
function later (load) {
  /** @type {F | undefined} */
  let fn
  /** @param {any[]} args */
  const call = (...args) => (fn ??= load())(...args)
  return /** @type {any} */ (call)
}

/**
 * The same for all that a file exports.
 *
 * @template M
 * @param {() => M} load
 * @returns {() => M}
 */
function laterFile (load) {
  /** @type {M | undefined} */
  let exported
  return () => (exported ??= load())
}

module.exports = { later, laterFile }
