'use strict'
// Tensors in and out of other addons (src/samebytes_napi.h): what node/addons.c calls, and the external by which they find it.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { hold, giveBack, lent } = require('../backend/pins')

const { backend, READ_ONLY, STATIC, UNBOUND } = ffi

/** @typedef {typeof import('./tensor').Tensor} TensorClass */
/** @typedef {typeof import('./tensor').wrap} Wrap */

/**
 * Offers samebytes' functions to the other addons of the process.
 *
 * @param {TensorClass} Tensor
 * @param {Wrap} wrap
 * @returns {unknown} the external by which they find them; null on WebAssembly
 */
function offer (Tensor, wrap) {
  if (backend.isWasm) return null

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

  return /** @type {any} */ (backend).addon.offer(lend, make, ffi.errorOf)
}

/** @param {number} number @returns {undefined} */
function takeBack (number) {
  giveBack(number)
}

module.exports = { offer }
