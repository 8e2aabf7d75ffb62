'use strict'
// What samebytes/module takes from the package. In the bundle of it for browsers the page's other bundle takes this
// file's place (wasm/bundle.mjs), so that both work with one instance.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { stats, countCopy, countStaged } = require('./storage')
const { show } = require('./validate')
const { dtypes, itemsizes } = require('./dtypes')
const { dataOf } = require('./exposed')
const { Tensor } = require('./tensor')
const { tensor } = require('./make')
const { fromBlob } = require('./blob')
const { hold, letGo, signalOf, checkSignal } = require('./async')
const { dtypeOfArray, isSharedArrayBuffer } = require('./buffers')
const { keep } = require('./lifetime')
const { TYPES, asBits, fromBits, fromOrt } = require('./ort')

const parts = {
  ffi,
  failure,
  stats,
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
  keep,
  dtypeOfArray,
  isSharedArrayBuffer,
  TYPES,
  asBits,
  fromBits,
  fromOrt
}

/** @returns {typeof parts} */
const instance = () => parts

module.exports = { instance }
