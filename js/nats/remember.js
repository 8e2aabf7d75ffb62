'use strict'
// Maps of what is known of others, which may be any number: of more entries than a map keeps, the one that was set longest ago goes.

/**
 * Sets an entry, the last one of the map.
 *
 * @template V
 * @param {Map<string, V>} map
 * @param {string} key
 * @param {V} value
 * @param {number} most  entries
 */
function remember(map, key, value, most) {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(/** @type {string} */ (map.keys().next().value))
}

module.exports = { remember }
