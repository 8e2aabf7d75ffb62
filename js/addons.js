'use strict'
// Tensors in and out of other addons (src/samebytes_napi.h): what node/addons.c calls, and the external by which they find it.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show } = require('./validate')
const { Tensor, wrap } = require('./tensor')
const { hold, giveBack, lent } = require('./loans')

const { backend, READ_ONLY, STATIC, UNBOUND } = ffi

/**
 * @param {unknown} value  that should be a tensor; with one argument: a number that was not lent after all
 * @param {boolean} [readOnly]
 * @returns {number | undefined} that it is lent under, the layout being in the frame; below 0: what went wrong
 */
function lend (value, readOnly) {
  try {
    if (readOnly === undefined) return takeBack(/** @type {number} */ (value))
    if (!Tensor.isTensor(value)) throw failure('ERR_ARGUMENT', `${show(value)} was given; a tensor of this copy of samebytes was expected`)
    return hold(Tensor.attachedOf(value), readOnly)
  } catch (error) {
    return -ffi.leave(error)
  }
}

/** @param {number} number @returns {undefined} */
function takeBack (number) {
  giveBack(number)
}

/**
 * @param {number} number  that its storage is lent under; -1: it is another addon's
 * @param {number} dynamism  as C numbers it
 * @param {number} flags  READ_ONLY or 0
 * @returns {import('./tensor').Tensor | number} of the layout in the frame; below 0: what went wrong
 */
function make (number, dynamism, flags) {
  try {
    const layout = ffi.received(number < 0 ? null : lent.held[number], flags & READ_ONLY)
    layout.flags |= dynamism === 0 ? STATIC : dynamism === 2 ? UNBOUND : 0
    if (number < 0 && layout.storage.extra !== null) layout.storage.extra.stays = true // the addon may follow the bytes by their address
    return wrap(layout)
  } catch (error) {
    return -ffi.leave(error)
  }
}

/** null: on WebAssembly there is nothing for addons @type {unknown} */
const offer = backend.isWasm ? null : /** @type {any} */ (backend).addon.offer(lend, make, ffi.errorOf)

module.exports = { offer }
