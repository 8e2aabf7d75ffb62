'use strict'

/**
 * The package once more: the one that page.mjs has started, from another address; in another realm a promise of it.
 *
 * @param {Window} [realm]
 */
function anotherCopy(realm) {
  if (realm === undefined) return globalThis.otherSamebytes
  return realm.eval(`import('${location.origin}/dist/samebytes.mjs')`).then(async (samebytes) => {
    await samebytes.init(globalThis.RUN.init)
    return samebytes
  })
}

module.exports = { anotherCopy }
