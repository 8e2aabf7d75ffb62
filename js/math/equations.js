'use strict'
// Equations of einsum.

const { failure } = require('../base/errors')
const { arrayOf } = require('../base/records')
const { show } = require('../base/validate')

/** @typedef {InstanceType<typeof import('../backend/layout').Layout>} Layout */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Labels of a term before its ellipsis and after it. @typedef {{ before: string[], after: string[], hasEllipsis: boolean }} Term */

/** @param {string} equation @param {string} what */
const noEquation = (equation, what) =>
  failure('ERR_ARGUMENT', `equation is ${show(equation)}; ${what}`)

/** @returns {Term} */
const emptyTerm = () => ({ before: [], after: [], hasEllipsis: false })

/**
 * @param {string} equation
 * @returns {{ inputs: Term[], output: Term | null }} output: null, if there is no ->
 */
function termsOf(equation) {
  /** @type {Term[]} */
  const inputs = []
  let term = (inputs[0] = emptyTerm())
  /** @type {Term | null} */
  let output = null
  for (let i = 0; i < equation.length; i++) {
    const letter = equation[i]
    if (LETTERS.includes(letter)) {
      ;(term.hasEllipsis ? term.after : term.before).push(letter)
    } else if (letter === ',' && output === null) {
      term = emptyTerm()
      inputs.push(term)
    } else if (letter === '-' && equation[i + 1] === '>' && output === null) {
      term = output = emptyTerm()
      i++
    } else if (
      letter === '.' &&
      equation[i + 1] === '.' &&
      equation[i + 2] === '.' &&
      !term.hasEllipsis
    ) {
      term.hasEllipsis = true
      i += 2
    } else if (letter !== ' ') {
      throw noEquation(
        equation,
        `letters, commas, '->' and '...', once in each term, were expected at ${i}`,
      )
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
function labelsOf({ before, after, hasEllipsis }, count) {
  return [...before, ...arrayOf(hasEllipsis ? count : 0, (i) => `.${count - i}`), ...after]
}

/** @param {readonly (readonly string[])[]} inputs @returns {Term} the letters that stand once, by the alphabet */
function impliedOutput(inputs) {
  const all = inputs.flat()
  const once = [...LETTERS].filter(
    (letter) => all.includes(letter) && all.indexOf(letter) === all.lastIndexOf(letter),
  )
  return { before: [], after: once, hasEllipsis: true }
}

/**
 * @param {string} equation
 * @param {readonly string[]} output
 * @param {readonly (readonly string[])[]} inputs
 */
function checkOutput(equation, output, inputs) {
  for (const [i, label] of output.entries()) {
    if (!inputs.some((labels) => labels.includes(label))) {
      throw noEquation(equation, `the output has '${label}', which no operand has`)
    }
    if (output.indexOf(label) < i) throw noEquation(equation, `the output has '${label}' twice`)
  }
}

/**
 * @param {readonly (readonly string[])[]} inputs
 * @param {readonly Layout[]} layouts
 */
function checkExtents(inputs, layouts) {
  /** @type {Map<string, number>} */
  const extents = new Map()
  for (const [i, labels] of inputs.entries()) {
    for (const [d, label] of labels.entries()) {
      const n = layouts[i].shape[d]
      const known = extents.get(label) ?? 1
      if (n !== known && n !== 1 && known !== 1) {
        throw failure(
          'ERR_SHAPE',
          `axis '${label}' of operand ${i} has ${n} elements, and ${known} before`,
        )
      }
      extents.set(label, n === 1 ? known : n)
    }
  }
}

/**
 * @param {unknown} equation
 * @param {readonly Layout[]} layouts  of the operands
 * @returns {{ inputs: string[][], output: string[] }} labels of all axes
 * @throws ERR_ARGUMENT, ERR_SHAPE
 */
function equationOf(equation, layouts) {
  if (typeof equation !== 'string') {
    throw failure(
      'ERR_ARGUMENT',
      `equation is ${show(equation)}; a string such as 'ij,jk->ik' was expected`,
    )
  }
  const terms = termsOf(equation)
  if (terms.inputs.length !== layouts.length) {
    throw noEquation(equation, `there are ${layouts.length} operands`)
  }
  let most = 0
  const inputs = layouts.map(({ shape }, i) => {
    const { before, after, hasEllipsis } = terms.inputs[i]
    const count = shape.length - before.length - after.length
    if (count < 0 || (count > 0 && !hasEllipsis)) {
      throw failure(
        'ERR_SHAPE',
        `operand ${i} has shape [${shape.join(', ')}]; the equation has ${before.length + after.length} axes there`,
      )
    }
    if (hasEllipsis) most = Math.max(most, count)
    return labelsOf(terms.inputs[i], count)
  })
  const output = labelsOf(terms.output ?? impliedOutput(inputs), most)
  checkOutput(equation, output, inputs)
  checkExtents(inputs, layouts)
  return { inputs, output }
}

module.exports = { equationOf }
