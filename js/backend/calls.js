'use strict'
// Calls into C, all under one name for the folders above.

const { Layout, READ_ONLY, CONTIGUOUS, STATIC, UNBOUND, nothing } = require('./layout')
const { backend, opcodes, tables, frame, check, putOperand, leave, errorOf, argument, result, putStorage, putStorages, invoke } = require('./call-buffer')
const { checkAttached, isGuarded, checkIntact } = require('./storage-checks')
const { extent, dense, isContiguous } = require('./layout-calls')
const { viewByList, viewByNumbers, asStrided, denseOrdered, denseLike, strided, reshape, resize, rebind, dimOrder, isContiguousIn, cut } = require('./views')
const { allocate } = require('./staging')
const { bytesWithin, copy, copyScaled, copyValues, checkCopy, startCopy, putCopy } = require('./copies')
const { canCast, promoteTypes, finfo, hash, sharesMemory, fill, take, arrayEqual, allClose, generate, checkArange } = require('./element-calls')
const { received, totals, sharedVram, sendStorage, receiveStorage, sentBytes, takeBackStorage, takeCapsule, home, run, wrapStream } = require('./storage-calls')
const { GUARDS, parse, swapBytes, mapFile, reserveFile, partOf, holdFile, newSegment, linkFile, isSealed } = require('./file-calls')
const { Storage } = require('./storage')

/** @typedef {import('./copies').Copy} Copy */
/** @typedef {import('./copies').Scaling} Scaling */

module.exports = {
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
  bytesWithin,
  allocate,
  viewByList,
  viewByNumbers,
  asStrided,
  denseOrdered,
  denseLike,
  strided,
  extent,
  dense,
  reshape,
  resize,
  rebind,
  dimOrder,
  isContiguous,
  isContiguousIn,
  canCast,
  promoteTypes,
  finfo,
  hash,
  sharesMemory,
  fill,
  copy,
  copyScaled,
  copyValues,
  take,
  arrayEqual,
  allClose,
  checkCopy,
  startCopy,
  cut,
  generate,
  checkArange,
  totals,
  sharedVram,
  sendStorage,
  receiveStorage,
  sentBytes,
  takeBackStorage,
  takeCapsule,
  home,
  GUARDS,
  isGuarded,
  checkIntact,
  parse,
  swapBytes,
  mapFile,
  reserveFile,
  partOf,
  holdFile,
  newSegment,
  linkFile,
  isSealed,
  putStorage,
  putStorages,
  putCopy,
  run,
  wrapStream,
  invoke
}
