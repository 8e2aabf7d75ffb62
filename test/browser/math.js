'use strict'
/** What `require('samebytes/math')` is in a page: the bundle beside the one that page.mjs has started. */
module.exports = globalThis.samebytesMath
