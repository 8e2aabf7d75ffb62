'use strict'
// What shared-tensor.js has in Node, refused: a page sees no other process.

const { failure } = require('../base/errors')

class SharedTensor {
  constructor () { throw failure('ERR_ARGUMENT', 'shared tensors are made by SharedTensor.create() and SharedTensor.open()') }
}
for (const name of ['create', 'open', 'unlink', 'list', 'sweep']) {
  Object.defineProperty(SharedTensor, name, { value: () => { throw failure('ERR_UNSUPPORTED', `SharedTensor.${name} needs Node on Linux`) }, configurable: true, writable: true })
}

module.exports = { SharedTensor }
