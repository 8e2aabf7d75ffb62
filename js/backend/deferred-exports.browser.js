'use strict'
// What the bundle exports until init is done. Who takes a name before that, as in `const { init, tensor } =
// require('samebytes')`, keeps what is made here: it becomes a way to the real one.

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
    // Tools look at functions before they are called: what every function has is no use of this one. A list has a length.
    get: (target, key) => api === null && key in target && key !== 'length' ? Reflect.get(target, key) : Reflect.get(real(), key)
  })
  return proxy
}

module.exports = { arrive, early }
