'use strict'
module.exports = {
  createRequire() {
    throw new Error('a page loads no CommonJS files')
  },
}
