'use strict'
// What messages and lists need to know of the Tensor class, which stands above them: it says so when it is loaded (learnTensors).

/**
 * @typedef {object} Knowledge
 * @property {(value: unknown) => string | null} describe  in words; null: it is no tensor. Runs no code of the caller's
 * @property {(value: unknown) => any} layoutOf  with attached bytes; null: it is no tensor
 * @property {(layout: any) => any} nested  its elements in nested arrays
 */

/** @type {Knowledge} */
const tensors = { describe: () => null, layoutOf: () => null, nested: () => null }

/** @param {Knowledge} knowledge */
function learnTensors(knowledge) {
  Object.assign(tensors, knowledge)
}

module.exports = { tensors, learnTensors }
