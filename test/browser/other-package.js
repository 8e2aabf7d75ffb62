'use strict'
/** A second copy of the package, at another address: page.mjs has started it. */
module.exports = { otherPackage: () => globalThis.otherSamebytes }
