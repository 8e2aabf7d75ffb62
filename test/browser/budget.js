'use strict'
const { setMemoryLimit } = require('samebytes')

/** js/backend/storage's, which the bundle has inside: a page's limit is Infinity. */
module.exports = {
  budget: {
    get limit() {
      return Infinity
    },
    set limit(bytes) {
      setMemoryLimit(bytes)
    },
  },
}
