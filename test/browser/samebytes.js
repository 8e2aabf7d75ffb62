'use strict'
/** What `require('samebytes')` is in a page: the package that page.mjs has started. */
module.exports = globalThis.samebytes
