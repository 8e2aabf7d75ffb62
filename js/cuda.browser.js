'use strict'
// What cuda.js has in Node, in browsers: nothing is there, and it says so.

const { failure } = require('./errors')

const WHY = 'CUDA needs Node and the native addon'

function refuse () {
  throw failure('ERR_UNSUPPORTED', WHY)
}

class Stream {
  constructor () { refuse() }
}

class Event {
  constructor () { refuse() }
}

module.exports = {
  isAvailable: () => false,
  whyNot: () => WHY,
  deviceCount: () => 0,
  emptyCache: () => {},
  checkPinning: () => { throw failure('ERR_UNSUPPORTED', `pinMemory is true: ${WHY}`) },
  properties: refuse,
  synchronize: refuse,
  memoryStats: refuse,
  hostRegister: refuse,
  share: async () => refuse(),
  open: async () => refuse(),
  unshare: refuse,
  streamOf: refuse,
  Stream,
  Event
}
