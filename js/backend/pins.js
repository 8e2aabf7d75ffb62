'use strict'
// Pins: storages whose bytes native code uses for a while (C's side is node/pins.c). They stay alive and where they are until it is done.

const ffi = require('./calls')
const { failure } = require('../base/errors')
const { claim, unclaim, OptionalFields, SlotTable, isOnDevice } = require('./storage')
const { isResizable, isSharedArrayBuffer } = require('../base/buffers')
const { keepAttached } = require('../runtime/host')

const { backend, READ_ONLY } = ffi
/** @type {any} undefined on WebAssembly */
const addon = /** @type {any} */ (backend).addon

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof ffi.Storage>} Stored */

/**
 * Pinned storages by the number that C knows each by, and how the instance of the package that pinned each unpins it. A process
 * may have several instances over one addon (Jest). They use the table of the one that pinned first, which is told of all returns,
 * until nothing is pinned: the addon outlives an instance, and would keep it alive.
 *
 * @type {{ table: SlotTable<Stored>, letGo: ((storage: Stored) => void)[] }}
 */
const own = { table: new SlotTable(), letGo: [] }

/** @returns {typeof own} the table in use */
const current = () => addon.pinnedHere ?? own

/** Unpins what native code is done with. */
function collect() {
  let n
  do {
    n = addon.returned()
    for (let i = 1; i <= n; i++) unpin(ffi.argument(i))
  } while (n === 512)
}

/**
 * Unpins a storage: native code is done with it, or did not get it after all.
 *
 * @param {number} number
 */
function unpin(number) {
  const { table, letGo } = current()
  const storage = /** @type {Stored} */ (table.held[number])
  table.drop(number)
  if (table.size === 0) {
    addon.pinnedHere = undefined
    addon.onReturned(undefined)
  }
  const fn = letGo[number]
  letGo[number] = /** @type {any} */ (undefined) // may be another instance's
  fn(storage)
}

/**
 * Pins a layout's bytes and writes the layout into the call buffer as the first operand. The next call has to be that of a function
 * of the addon that calls sb__pin with the number; if it fails, the caller calls unpin(number).
 *
 * @param {Layout} layout  of a tensor that was not disposed
 * @param {boolean} readOnly  native code will only read
 * @returns {number} of the pin
 * @throws ERR_READ_ONLY · ERR_BUSY · ERR_DETACHED · ERR_DEVICE · ERR_UNSUPPORTED without the addon, or of bytes that JavaScript can shrink
 */
function pin(layout, readOnly) {
  const { storage } = layout
  if (addon === undefined) {
    throw failure(
      'ERR_UNSUPPORTED',
      'native code can have the bytes of tensors with the native addon only (backend() is the WebAssembly one)',
    )
  }
  checkUse(layout, readOnly)
  if (isOnDevice(storage)) {
    throw failure(
      'ERR_DEVICE',
      `the bytes are on cuda:${storage.optional?.device}; addons take the CPU's, and cpu() copies them there`,
    )
  }
  collect()
  ffi.checkAttached(storage)
  backend.promote(storage)
  backend.addressOf(storage)
  if (storage.kind !== 'native') fix(storage)
  if (addon.pinnedHere === undefined) {
    addon.onReturned(collect)
    addon.pinnedHere = own
  }
  const { table, letGo } = current()
  const number = table.put(storage)
  letGo[number] = (stored) => unclaim(stored, backend)
  claim(storage)
  ffi.putOperand(layout, readOnly)
  return number
}

/**
 * @param {Layout} layout
 * @param {boolean} readOnly
 */
function checkUse({ storage, flags }, readOnly) {
  if (!readOnly && (flags & READ_ONLY) !== 0) {
    throw failure('ERR_READ_ONLY', 'the tensor is read-only; native code can have it for reading')
  }
  const { optional } = storage
  if (optional === null || optional.busy === 0) return
  if (optional.written > 0 || !readOnly) {
    throw failure('ERR_BUSY', 'the tensor is in use by a pending operation')
  }
}

/**
 * Keeps a buffer of V8's or of the caller's from being transferred or resized.
 *
 * @param {Stored} storage
 */
function fix(storage) {
  const optional = (storage.optional ??= new OptionalFields())
  if (optional.fixed) return
  const buffer = /** @type {ArrayBuffer} */ (storage.buffer)
  const isShared = storage.kind === 'sab' || (storage.kind === 'js' && isSharedArrayBuffer(buffer)) // asking takes microseconds
  if (!isShared && isResizable(buffer)) {
    throw failure(
      'ERR_UNSUPPORTED',
      "the tensor's buffer is resizable, and native code could not be told when it shrinks; clone() copies",
    )
  }
  if (!isShared) keepAttached(buffer)
  optional.fixed = true
}

/** @returns {number} pins that native code has */
function pinCount() {
  if (addon === undefined) return 0
  collect()
  return current().table.size
}

/** @returns {Stored[]} pinned storages by their number, in a list without methods that may have holes */
const pinned = () => (addon === undefined ? own.table.held : current().table.held)

module.exports = { fix, checkUse, pin, unpin, pinCount, pinned }
