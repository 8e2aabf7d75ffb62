'use strict'
// All that samebytes/module and samebytes/inspect use of the package. In browsers their bundles get this from the page's samebytes
// bundle instead (wasm/bundle.mjs), so that there is one instance with one memory.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { memory } = require('../backend/memory')
const { events, stats, countCopy, countStaged } = require('../backend/storage')
const { show, optionsOf, receiver, shapeOf } = require('../base/validate')
const { valuesOfIterable } = require('../layout/values')
const { checkHeap } = require('../runtime/heap')
const { ballastOf, keepSpare, onNextTurn } = require('../runtime/host')
const { dtypes, itemsizes } = require('../backend/dtypes')
const { dataOf } = require('../layout/data')
const { isSameShape } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { tensor } = require('../tensor/creation')
const { fromBlob } = require('../tensor/blob')
const { beginUse, endUse } = require('../copy/async')
const { signalOf, checkSignal } = require('../base/signals')
const {
  dtypeOfArray,
  isSharedArrayBuffer,
  isArrayBuffer,
  isHtml,
  byteLengthOf,
  partsOfLive,
} = require('../base/buffers')
const { keep } = require('../layout/lifetime')
const { pinned } = require('../backend/pins')
const { version } = require('../base/version')
const { TYPES, asBits, fromBits, isProxied, fromOrt } = require('../interop/onnxruntime')

const parts = {
  ffi,
  events,
  failure,
  stats,
  pinned,
  version,
  memory,
  countCopy,
  countStaged,
  show,
  optionsOf,
  receiver,
  shapeOf,
  valuesOfIterable,
  checkHeap,
  ballastOf,
  keepSpare,
  dtypes,
  itemsizes,
  dataOf,
  isSameShape,
  Tensor,
  tensor,
  fromBlob,
  beginUse,
  endUse,
  onNextTurn,
  signalOf,
  checkSignal,
  keep,
  dtypeOfArray,
  isSharedArrayBuffer,
  isArrayBuffer,
  isHtml,
  byteLengthOf,
  partsOfLive,
  TYPES,
  asBits,
  fromBits,
  isProxied,
  fromOrt,
}

/** @returns {typeof parts} */
const instance = () => parts

/** In a page: an error made in each bundle of samebytes that is loaded, from whose stack its file is known. @type {Error[]} */
const bundles = []

module.exports = { instance, bundles }
