'use strict'
// Equations of einsum.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Labels of a term before its ellipsis and after it. @typedef {{ before: string[], after: string[], hasEllipsis: boolean }} Term */

/** @param {string} equation @param {string} what */
const noEquation = (equation, what) => failure('ERR_ARGUMENT', `equation is ${show(equation)}; ${what}`)

/** @param {string} letter */
function isLetter (letter) {
  for (let i = 0; i < LETTERS.length; i++) if (LETTERS[i] === letter) return true
  return false
}

/** @returns {Term} */
const emptyTerm = () => ({ before: [], after: [], hasEllipsis: false })

/**
 * @param {string} equation
 * @returns {{ inputs: Term[], output: Term | null }} output: null, if there is no ->
 */
function termsOf (equation) {
  /** @type {Term[]} */
  const inputs = []
  let term = inputs[0] = emptyTerm()
  /** @type {Term | null} */
  let output = null
  for (let i = 0; i < equation.length; i++) {
    const letter = equation[i]
    if (isLetter(letter)) {
      const list = term.hasEllipsis ? term.after : term.before
      list.push(letter)
    } else if (letter === ',' && output === null) {
      term = emptyTerm()
      inputs.push(term)
    } else if (letter === '-' && equation[i + 1] === '>' && output === null) {
      term = output = emptyTerm()
      i++
    } else if (letter === '.' && equation[i + 1] === '.' && equation[i + 2] === '.' && !term.hasEllipsis) {
      term.hasEllipsis = true
      i += 2
    } else if (letter !== ' ') {
      throw noEquation(equation, `letters, commas, '->' and '...', once in each term, were expected at ${i}`)
    }
  }
  return { inputs, output }
}

/**
 * The labels of a term's axes. Axes of an ellipsis are counted from the right.
 *
 * @param {Term} term
 * @param {number} count  axes of the ellipsis
 * @returns {string[]}
 */
function labelsOf ({ before, after, hasEllipsis }, count) {
  /** @type {string[]} */
  const labels = []
  for (let i = 0; i < before.length; i++) labels.push(before[i])
  if (hasEllipsis) for (let i = count; i > 0; i--) labels.push(`.${i}`)
  for (let i = 0; i < after.length; i++) labels.push(after[i])
  return labels
}

/** @param {readonly (readonly string[])[]} inputs @returns {Term} the letters that stand once, by the alphabet */
function impliedOutput (inputs) {
  const output = { ...emptyTerm(), hasEllipsis: true }
  for (let k = 0; k < LETTERS.length; k++) {
    let count = 0
    for (let i = 0; i < inputs.length; i++) {
      for (let d = 0; d < inputs[i].length; d++) if (inputs[i][d] === LETTERS[k]) count++
    }
    if (count === 1) output.after.push(LETTERS[k])
  }
  return output
}

/**
 * @param {string} equation
 * @param {readonly string[]} output
 * @param {readonly (readonly string[])[]} inputs
 */
function checkOutput (equation, output, inputs) {
  for (let i = 0; i < output.length; i++) {
    let isThere = false
    for (let k = 0; k < inputs.length; k++) isThere ||= inputs[k].includes(output[i])
    if (!isThere) throw noEquation(equation, `the output has '${output[i]}', which no operand has`)
    for (let k = 0; k < i; k++) if (output[k] === output[i]) throw noEquation(equation, `the output has '${output[i]}' twice`)
  }
}

/**
 * @param {readonly (readonly string[])[]} inputs
 * @param {readonly Layout[]} layouts
 */
function checkExtents (inputs, layouts) {
  /** @type {Record<string, number>} */
  const extents = Object.create(null)
  for (let i = 0; i < inputs.length; i++) {
    for (let d = 0; d < inputs[i].length; d++) {
      const label = inputs[i][d]
      const n = layouts[i].shape[d]
      const known = extents[label] ?? 1
      if (n !== known && n !== 1 && known !== 1) throw failure('ERR_SHAPE', `axis '${label}' of operand ${i} has ${n} elements, and ${known} before`)
      extents[label] = n === 1 ? known : n
    }
  }
}

/**
 * @param {unknown} equation
 * @param {readonly Layout[]} layouts  of the operands
 * @returns {{ inputs: string[][], output: string[] }} labels of all axes
 * @throws ERR_ARGUMENT, ERR_SHAPE
 */
function equationOf (equation, layouts) {
  if (typeof equation !== 'string') throw failure('ERR_ARGUMENT', `equation is ${show(equation)}; a string such as 'ij,jk->ik' was expected`)
  const terms = termsOf(equation)
  if (terms.inputs.length !== layouts.length) throw noEquation(equation, `there are ${layouts.length} operands`)
  /** @type {string[][]} */
  const inputs = []
  let most = 0
  for (let i = 0; i < layouts.length; i++) {
    const { shape } = layouts[i]
    const { before, after, hasEllipsis } = terms.inputs[i]
    const count = shape.length - before.length - after.length
    if (count < 0 || (count > 0 && !hasEllipsis)) throw failure('ERR_SHAPE', `operand ${i} has shape [${shape.join(', ')}]; the equation has ${before.length + after.length} axes there`)
    inputs[i] = labelsOf(terms.inputs[i], count)
    if (hasEllipsis && count > most) most = count
  }
  const output = labelsOf(terms.output ?? impliedOutput(inputs), most)
  checkOutput(equation, output, inputs)
  checkExtents(inputs, layouts)
  return { inputs, output }
}

module.exports = { equationOf }
