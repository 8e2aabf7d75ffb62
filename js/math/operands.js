'use strict'
// Operands, which arithmetic wants in the CPU's memory.

const { failure } = require('../base/errors')
const { dtypes } = require('../backend/dtypes')
const { checkHost } = require('./calls/calls')
const { Tensor } = require('../tensor/tensor')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

/**
 * @param {Tensor<any>} t
 * @param {string} name  of the argument, for messages
 * @returns {Layout} attached, and the CPU's
 * @throws ERR_DISPOSED, ERR_DETACHED, ERR_UNSUPPORTED it is on a device
 */
function operandOf(t, name) {
  const layout = Tensor.attachedOf(t)
  checkHost(layout, name, 'cpu() copies it there')
  return layout
}

/**
 * @param {Tensor<any>} out
 * @returns {Layout} writable, and the CPU's
 * @throws ERR_DISPOSED, ERR_DETACHED, ERR_READ_ONLY, ERR_BUSY, ERR_UNSUPPORTED it is on a device
 */
function targetOf(out) {
  const layout = Tensor.writableOf(out)
  checkHost(layout, 'out', 'copyFrom() copies a result to the device')
  return layout
}

/**
 * Refuses float8, and what else a function is not for, by its own name: it is made of others, whose names C would tell.
 *
 * @param {string} where  the function
 * @param {Layout} from
 * @param {'numbers' | 'real numbers'} [wanted]
 * @throws ERR_DTYPE
 */
function checkNumbers(where, { dtype }, wanted = 'numbers') {
  const { kind, itemsize, name } = dtypes[dtype]
  if (kind === 'COMPLEX' && wanted === 'real numbers') {
    throw failure('ERR_DTYPE', `${where} is not for ${name}, but for ${wanted}; astype converts`)
  }
  if (kind === 'FLOATING' && itemsize === 1) {
    throw failure(
      'ERR_DTYPE',
      `${where} is not for ${name}, but for other numbers; astype converts`,
    )
  }
}

/**
 * @param {Layout} layout
 * @param {string} name  of the argument
 * @returns {Layout} the same, of real numbers or bool
 * @throws ERR_DTYPE
 */
function checkReal(layout, name) {
  const { kind, name: dtype } = dtypes[layout.dtype]
  if (kind === 'COMPLEX') {
    throw failure('ERR_DTYPE', `${name} is of ${dtype}; real numbers were expected`)
  }
  return layout
}

module.exports = { operandOf, targetOf, checkNumbers, checkReal }
