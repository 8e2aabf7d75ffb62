'use strict'
// What the bundle exports until init is done: proxies, which forward to the real functions afterwards. A program that destructures
// the exports early, as in `const { init, tensor } = require('samebytes')`, keeps them.

const { notReady } = require('./init.browser')

/** all public names, once they are there @type {Record<string, any> | null} */
let api = null

/** @param {Record<string, any>} all */
function arrive(all) {
  api = all
}

/**
 * @param {string} name  of a function, a class or a list
 * @param {() => Record<string, any> | null} [find]  all public names, once they are there
 * @param {(name: string) => Error} [refusal]  before that
 * @returns {any}
 */
function early(name, find = () => api, refusal = notReady) {
  const real = () => {
    const all = find()
    if (all === null) throw refusal(name)
    return all[name]
  }
  /** @type {any} */
  const proxy = new Proxy(function () {}, {
    apply: {
      [name]: (
        /** @type {unknown} */ target,
        /** @type {unknown} */ self,
        /** @type {unknown[]} */ given,
      ) => real()(...given),
    }[name], // stacks have its name
    construct: (target, given, made) =>
      Reflect.construct(real(), given, made === proxy ? real() : made),
    // Tools look at properties that every function has; these do not throw before init. `length` does: it may be that of a list.
    get: (target, key) =>
      key in target && key !== 'length' && find() === null
        ? Reflect.get(target, key)
        : Reflect.get(real(), key),
  })
  return proxy
}

module.exports = { arrive, early }
