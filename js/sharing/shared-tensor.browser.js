'use strict'
// SharedTensor in pages, which have no other processes: every function throws.

const { failure } = require('../base/errors')

class SharedTensor {
  constructor() {
    throw failure(
      'ERR_ARGUMENT',
      'shared tensors are made by SharedTensor.create() and SharedTensor.open()',
    )
  }
}
for (const name of ['create', 'open', 'unlink', 'list', 'sweep']) {
  Object.defineProperty(SharedTensor, name, {
    value: () => {
      throw failure('ERR_UNSUPPORTED', `SharedTensor.${name} needs Node`)
    },
    configurable: true,
    writable: true,
  })
}

module.exports = { SharedTensor }
