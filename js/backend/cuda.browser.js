'use strict'
// cuda.js in browsers, which have no CUDA: functions that need it throw ERR_UNSUPPORTED.

const { failure } = require('../base/errors')

const WHY = 'CUDA needs Node and the native addon'

function refuse() {
  throw failure('ERR_UNSUPPORTED', WHY)
}

class Stream {
  constructor() {
    refuse()
  }
}

class Event {
  constructor() {
    refuse()
  }
}

module.exports = {
  isAvailable: () => false,
  whyNot: () => WHY,
  deviceCount: () => 0,
  emptyCache: () => {},
  checkPinning: (what = 'pinMemory is true') => {
    throw failure('ERR_UNSUPPORTED', `${what}: ${WHY}`)
  },
  properties: refuse,
  synchronize: refuse,
  memoryStats: refuse,
  streamOf: refuse,
  ready: async () => {}, // the CPU does all at once
  Stream,
  Event,
}
