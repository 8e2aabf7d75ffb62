'use strict'
// Operands, which arithmetic wants in the CPU's memory.

const { checkHost } = require('../backend/math')
const { Tensor } = require('../tensor/tensor')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

/**
 * @param {Tensor<any>} t
 * @param {string} name  of the argument, for messages
 * @returns {Layout} attached, and the CPU's
 * @throws ERR_DISPOSED, ERR_DETACHED, ERR_UNSUPPORTED it is on a device
 */
function operandOf (t, name) {
  const layout = Tensor.attachedOf(t)
  checkHost(layout, name, 'cpu() copies it there')
  return layout
}

/**
 * @param {Tensor<any>} out
 * @returns {Layout} writable, and the CPU's
 * @throws ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_BUSY, ERR_UNSUPPORTED it is on a device
 */
function targetOf (out) {
  const layout = Tensor.writableOf(out)
  checkHost(layout, 'out', 'copyFrom() copies a result to the device')
  return layout
}

module.exports = { operandOf, targetOf }
