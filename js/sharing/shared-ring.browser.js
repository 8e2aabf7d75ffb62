'use strict'
// SharedRing in pages, which have no other processes: every function throws.

const { failure } = require('../base/errors')

class SharedRing {
  constructor() {
    throw failure('ERR_ARGUMENT', 'rings are made by SharedRing.create() and SharedRing.open()')
  }
}
for (const name of ['create', 'open', 'unlink']) {
  Object.defineProperty(SharedRing, name, {
    value: () => {
      throw failure('ERR_UNSUPPORTED', `SharedRing.${name} needs Node`)
    },
    configurable: true,
    writable: true,
  })
}

module.exports = { SharedRing }
