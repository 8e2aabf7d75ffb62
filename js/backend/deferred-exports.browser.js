'use strict'
// What the bundle exports until init is done: proxies, which forward to the real functions afterwards. A program that destructures
// the exports early, as in `const { init, tensor } = require('samebytes')`, keeps them.

const { notReady } = require('./init.browser')

/** all public names, once they are there @type {Record<string, any> | null} */
let api = null

/** @param {Record<string, any>} all */
function arrive (all) {
  api = all
}

/**
 * @param {string} name  of a function, a class or a list
 * @returns {any}
 */
function early (name) {
  const real = () => {
    if (api === null) throw notReady(name)
    return api[name]
  }
  /** @type {any} */
  const proxy = new Proxy(function () {}, {
    apply: (target, self, given) => real()(...given),
    construct: (target, given, made) => Reflect.construct(real(), given, made === proxy ? real() : made),
    // Tools look at properties that every function has; these do not throw before init. `length` does: it may be that of a list.
    get: (target, key) => api === null && key in target && key !== 'length' ? Reflect.get(target, key) : Reflect.get(real(), key)
  })
  return proxy
}

module.exports = { arrive, early }
