'use strict'
// Calls into C, under one name for the folders above; those about files are file-calls.js.

const { functionsOf } = require('../runtime/lazy')
const { Layout, READ_ONLY, CONTIGUOUS, STATIC, UNBOUND, nothing } = require('./layout')
const buffer = require('./call-buffer')
const { backend, opcodes, tables, frame, invoke, check, leave, errorOf, argument, result } = buffer
const { putOperand, putStorage, putStorages, received, takeCapsule } = buffer
const layoutCalls = require('./layout-calls')
const { viewByList, viewByNumbers, asStrided, dense, denseOrdered, denseLike } = layoutCalls
const { strided, reshape, resize, rebind, cut } = layoutCalls
const { extent, dimOrder, isContiguous, isContiguousIn } = layoutCalls
const { checkAttached, GUARDS, isGuarded, checkIntact, allocate } = require('./staging')
const copies = require('./copies')
const { canCast, copy, copyScaled, copyValues, fill } = copies
const { bytesWithin, checkCopy, startCopy, putCopy } = copies
const { Storage } = require('./storage')

// Files of functions that begin a call: one that reads what is in the call buffer already may not be here, since reading a file may run code of the program's.
const {
  promoteTypes,
  finfo,
  hash,
  sharesMemory,
  take,
  arrayEqual,
  allClose,
  generate,
  checkArange,
} = functionsOf(() => require('./element-calls'))
const {
  totals,
  sharedVram,
  sendStorage,
  receiveStorage,
  sentBytes,
  takeBackStorage,
  isPinned,
  home,
  run,
  wrapStream,
} = functionsOf(() => require('./storage-calls'))

/** @typedef {import('./copies').Copy} Copy */
/** @typedef {import('./copies').Scaling} Scaling */

module.exports = {
  viewByList,
  viewByNumbers,
  asStrided,
  dense,
  denseOrdered,
  denseLike,
  strided,
  reshape,
  resize,
  rebind,
  cut,
  extent,
  dimOrder,
  isContiguous,
  isContiguousIn,
  canCast,
  copy,
  copyScaled,
  copyValues,
  fill,
  bytesWithin,
  checkCopy,
  startCopy,
  putCopy,
  backend,
  opcodes,
  tables,
  frame,
  Layout,
  Storage,
  READ_ONLY,
  CONTIGUOUS,
  STATIC,
  UNBOUND,
  nothing,
  check,
  checkAttached,
  putOperand,
  leave,
  errorOf,
  received,
  argument,
  result,
  allocate,
  promoteTypes,
  finfo,
  hash,
  sharesMemory,
  take,
  arrayEqual,
  allClose,
  generate,
  checkArange,
  totals,
  sharedVram,
  sendStorage,
  receiveStorage,
  sentBytes,
  takeBackStorage,
  takeCapsule,
  isPinned,
  home,
  GUARDS,
  isGuarded,
  checkIntact,
  putStorage,
  putStorages,
  run,
  wrapStream,
  invoke,
}
