'use strict'
/** What `require('samebytes/module')` is in a page: the bundle beside the one that page.mjs has started. */
module.exports = globalThis.samebytesModule
