'use strict'
// Which of the known names an unknown one probably means.

/**
 * The edit distance: letters that are changed, added, left out or swapped with their neighbours.
 *
 * @param {string} a
 * @param {string} b
 */
function distance(a, b) {
  /** @type {number[][]} */
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(
        rows[i - 1][j] + 1,
        rows[i][j - 1] + 1,
        rows[i - 1][j - 1] + (isSame ? 0 : 1),
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, rows[i - 2][j - 2] + 1)
      }
      rows[i].push(least)
    }
  }
  return rows[a.length][b.length]
}

/**
 * What was probably meant.
 *
 * @param {string} given
 * @param {readonly string[]} known
 * @returns {string | null}
 */
function nearest(given, known) {
  if (given.length > 64) return null
  let best = null
  let least = Math.max(2, Math.floor(given.length / 3)) + 0.5
  for (const name of known) {
    const isBegun = given.length > 1 && name.startsWith(given)
    if (!isBegun && Math.abs(name.length - given.length) >= least) continue // as far at least
    const n = isBegun ? 0.5 : distance(given.toLowerCase(), name.toLowerCase())
    if (n < least && n < name.length) [best, least] = [name, n]
  }
  return best
}

module.exports = { nearest }
