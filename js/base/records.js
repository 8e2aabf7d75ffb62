'use strict'

/**
 * Makes a class inherit nothing from Object.prototype, so that a field which a record does not have is undefined, whatever a program has put there.
 *
 * @template {Function} C
 * @param {C} Class
 * @returns {C} the same
 */
function rootless (Class) {
  Object.setPrototypeOf(Class.prototype, null)
  return Class
}

module.exports = { rootless }
