'use strict'
// What cuda.js has in Node, in browsers: nothing is there, and it says so.

const { failure } = require('./errors')
const { show } = require('./validate')
const { Tensor } = require('./tensor')

const WHY = 'CUDA needs Node and the native addon'

function refuse () {
  throw failure('ERR_UNSUPPORTED', WHY)
}

/** @param {unknown} t */
function hostRegister (t) {
  if (!Tensor.isTensor(t)) throw failure('ERR_ARGUMENT', `t is ${show(t)}; a tensor was expected`)
  Tensor.attachedOf(t)
  return refuse()
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
  hostRegister,
  share: async () => refuse(),
  open: async () => refuse(),
  unshare: refuse,
  streamOf: refuse,
  ready: async () => {}, // the CPU does all at once
  Stream,
  Event
}
