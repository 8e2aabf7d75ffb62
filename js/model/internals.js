'use strict'
// What samebytes/module and samebytes/inspect take from the package. In their bundles for browsers the page's other bundle
// takes this file's place (wasm/bundle.mjs), so that all work with one instance.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { memory } = require('../backend/memory')
const { stats, counts, countCopy, countStaged } = require('../backend/storage')
const { show, shapeOf } = require('../base/validate')
const { collected } = require('../layout/values')
const { checkHeap } = require('../runtime/heap')
const { dtypes, itemsizes } = require('../backend/dtypes')
const { dataOf } = require('../layout/data')
const { isSameShape } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { tensor } = require('../tensor/creation')
const { fromBlob } = require('../tensor/blob')
const { hold, letGo } = require('../copy/async')
const { signalOf, checkSignal } = require('../base/signals')
const { dtypeOfArray, isSharedArrayBuffer, isArrayBuffer, byteLengthOf } = require('../base/buffers')
const lifetime = require('../layout/lifetime')
const { lent } = require('../backend/pins')
const { version } = require('../base/version')
const { TYPES, asBits, fromBits, fromOrt } = require('../interop/onnxruntime')

const parts = {
  ffi,
  failure,
  stats,
  counts,
  lifetime,
  lent,
  version,
  memory,
  countCopy,
  countStaged,
  show,
  shapeOf,
  collected,
  checkHeap,
  dtypes,
  itemsizes,
  dataOf,
  isSameShape,
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
