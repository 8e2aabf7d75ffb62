'use strict'
// Tensors to and from other addons (src/samebytes_napi.h): the functions that node/addons.c calls, and the external by which addons find them.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const pins = require('../backend/pins')

const { backend, READ_ONLY, STATIC, UNBOUND } = ffi

/** @typedef {typeof import('./tensor').Tensor} TensorClass */
/** @typedef {typeof import('./tensor').wrap} Wrap */

/** The functions that C was given: it does not keep them alive. @type {Function[]} */
const given = []

/**
 * Offers samebytes' functions to the other addons of the process. Called once.
 *
 * @param {TensorClass} Tensor
 * @param {Wrap} wrap
 * @returns {unknown} the external; null on WebAssembly
 */
function offer(Tensor, wrap) {
  if (backend.isWasm) return null

  /**
   * Pins a tensor's bytes and writes its layout to the frame; with one argument, unpins.
   *
   * @param {unknown} value  a tensor to pin; with one argument: the number of a pin to undo
   * @param {boolean} [readOnly]  the addon will only read
   * @returns {number | undefined} the pin's number; below 0: minus the status of an error
   */
  function pin(value, readOnly) {
    try {
      if (readOnly === undefined) {
        pins.unpin(/** @type {number} */ (value))
        return undefined
      }
      if (!Tensor.isTensor(value)) {
        throw failure(
          'ERR_ARGUMENT',
          `${show(value)} was given; a tensor of this copy of samebytes was expected`,
        )
      }
      return pins.pin(Tensor.attachedOf(value), readOnly)
    } catch (error) {
      return -ffi.leave(error)
    }
  }

  /**
   * Makes a tensor of the layout in the frame.
   *
   * @param {number} number  of the pin that has its storage; -1: the storage is the addon's
   * @param {number} dynamism  as C numbers it
   * @param {number} flags  READ_ONLY or 0
   * @returns {import('./tensor').Tensor | number} below 0: minus the status of an error
   */
  function make(number, dynamism, flags) {
    try {
      const layout = ffi.received(number < 0 ? null : pins.pinned()[number], flags & READ_ONLY)
      layout.flags |= dynamism === 0 ? STATIC : dynamism === 2 ? UNBOUND : 0
      if (number < 0 && layout.storage.optional !== null) layout.storage.optional.stays = true // the addon knows the bytes by their address
      return wrap(layout)
    } catch (error) {
      return -ffi.leave(error)
    }
  }

  given.push(pin, make)
  return /** @type {any} */ (backend).addon.offer(pin, make, ffi.errorOf)
}

module.exports = { offer }
