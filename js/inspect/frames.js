'use strict'
// Lines of stacks' texts.

/** @typedef {{ name: string, file: string, line: number, column: number }} Frame name: '' where the function has none */

/**
 * Reads `    at name (file:1:2)` or `    at file:1:2`, as V8 writes, or `name@file:1:2`, as Firefox and Safari do. Files may have each of these signs.
 *
 * @param {string} line
 * @returns {Frame | null} null: it is no frame, or one of WebAssembly or of the engine
 */
function frameOf(line) {
  const found =
    /^\s*at (?:(?:async )?(.*?) \((.+):(\d+):(\d+)\)|(?:async )?()(.+):(\d+):(\d+))$/.exec(line) ??
    /^(.*?)@(.+):(\d+):(\d+)$/.exec(line)
  if (found === null) return null
  const [name, file, row, column] = found.slice(1).filter((each) => each !== undefined)
  return { name, file, line: Number(row), column: Number(column) }
}

module.exports = { frameOf }
