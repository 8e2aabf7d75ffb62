'use strict'
// What samebytes/module and samebytes/inspect take from the package. In their bundles for browsers the page's other bundle
// takes this file's place (wasm/bundle.mjs), so that all work with one instance.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { laterFile } = require('./later')
const { stats, counts, countCopy, countStaged } = require('./storage')
const { show } = require('./validate')
const { dtypes, itemsizes } = require('./dtypes')
const { dataOf } = require('./exposed')
const { Tensor } = require('./tensor')
const { tensor } = require('./make')
const { fromBlob } = require('./blob')
const { hold, letGo, signalOf, checkSignal } = require('./async')
const { dtypeOfArray, isSharedArrayBuffer, isArrayBuffer, byteLengthOf } = require('./buffers')
const lifetime = require('./lifetime')
const { lent } = require('./loans')
const { version } = require('./version')
const { TYPES, asBits, fromBits, fromOrt } = require('./ort')

const index = laterFile(() => require('./index'))

const parts = {
  ffi,
  failure,
  stats,
  counts,
  lifetime,
  lent,
  version,
  /** @type {() => import('./index').Memory} */
  memory: () => index().memory(),
  countCopy,
  countStaged,
  show,
  dtypes,
  itemsizes,
  dataOf,
  Tensor,
  tensor,
  fromBlob,
  hold,
  letGo,
  signalOf,
  checkSignal,
  keep: lifetime.keep,
  dtypeOfArray,
  isSharedArrayBuffer,
  isArrayBuffer,
  byteLengthOf,
  TYPES,
  asBits,
  fromBits,
  fromOrt
}

/** @returns {typeof parts} */
const instance = () => parts

module.exports = { instance }
