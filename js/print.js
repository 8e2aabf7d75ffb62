'use strict'
// Tensors as text, as PyTorch prints them: aligned columns, four digits, summarised beyond a thousand.

const THRESHOLD = 1000 // elements from which only the edges are shown
const EDGE = 3 // entries at each edge then
const PRECISION = 4 // digits after the point
const WIDTH = 80 // columns

/**
 * Python's repr of a float in exponent form has two digits at least.
 *
 * @param {number} x
 */
function scientific (x) {
  return x.toExponential(PRECISION).replace(/e([+-])(\d)$/, 'e$10$2')
}

/**
 * How the floats of one tensor are written: all in the same way.
 *
 * @param {number[]} values
 * @returns {(x: number) => string}
 */
function floatStyle (values) {
  const finite = values.filter(x => Number.isFinite(x) && x !== 0).map(Math.abs)
  /** @param {number} x */
  const special = x => Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf'
  if (finite.length === 0) return x => Number.isFinite(x) ? (Object.is(x, -0) ? '-0.' : '0.') : special(x)
  const high = finite.reduce((a, b) => Math.max(a, b))
  const low = finite.reduce((a, b) => Math.min(a, b))
  const whole = values.every(x => !Number.isFinite(x) || Math.ceil(x) === x)
  if (high / low > 1000 || high > 1e8 || (!whole && low < 1e-4)) {
    return x => Number.isFinite(x) ? scientific(x) : special(x)
  }
  if (whole) return x => Number.isFinite(x) ? `${Object.is(x, -0) ? '-0' : x.toFixed(0)}.` : special(x)
  return x => Number.isFinite(x) ? (Object.is(x, -0) ? '-0.0000' : x.toFixed(PRECISION)) : special(x)
}

/**
 * @param {any[]} values
 * @param {string} kind
 * @returns {(value: any) => string}
 */
function styleOf (values, kind) {
  if (kind === 'BOOLEAN') return value => value ? 'True' : 'False'
  if (kind === 'FLOATING') return floatStyle(values)
  if (kind === 'COMPLEX') {
    const re = floatStyle(values.map(v => v[0]))
    const im = floatStyle(values.map(v => v[1]))
    return ([a, b]) => `${re(a)}${b < 0 || Object.is(b, -0) ? '-' : '+'}${im(Math.abs(b))}j`
  }
  return String
}

/**
 * Which indices of an axis are shown; -1 stands for what is left out.
 *
 * @param {number} extent
 * @param {boolean} summarise
 */
function shown (extent, summarise) {
  if (!summarise || extent <= 2 * EDGE) return Array.from({ length: extent }, (_, i) => i)
  return [0, 1, 2, -1, extent - 3, extent - 2, extent - 1]
}

/**
 * @param {number[]} shape
 * @param {(index: number[]) => any} read
 * @param {string} kind
 * @param {number} indent  columns before the text
 * @returns {string}
 */
function body (shape, read, kind, indent) {
  const size = shape.reduce((a, b) => a * b, 1)
  const summarise = size > THRESHOLD
  /** @type {any[]} */
  const values = []
  /**
   * @param {number} d
   * @param {number[]} index
   * @returns {any}
   */
  const pick = (d, index) => {
    if (d === shape.length) {
      const value = read(index)
      values.push(value)
      return { value }
    }
    return shown(shape[d], summarise).map(i => i < 0 ? null : pick(d + 1, [...index, i]))
  }
  const picked = pick(0, [])
  const style = styleOf(values, kind)
  // As in PyTorch, nan and inf do not widen a column.
  const wide = kind === 'FLOATING' ? values.filter(v => Number.isFinite(v) && v !== 0) : values
  const width = shape.length === 0 ? 0 : wide.reduce((most, v) => Math.max(most, style(v).length), 0)
  /**
   * @param {any} node
   * @param {number} d
   * @param {number} at
   * @returns {string}
   */
  const write = (node, d, at) => {
    if (d === shape.length) return style(node.value).padStart(width)
    if (d === shape.length - 1) {
      const items = node.map((/** @type {any} */ n) => n === null ? ' ...' : style(n.value).padStart(width))
      const each = Math.max(1, Math.floor((WIDTH - at) / (width + 2)))
      const lines = []
      for (let i = 0; i < items.length; i += each) lines.push(items.slice(i, i + each).join(', '))
      return `[${lines.join(`,\n${' '.repeat(at + 1)}`)}]`
    }
    const gap = `,${'\n'.repeat(shape.length - 1 - d)}${' '.repeat(at + 1)}`
    return `[${node.map((/** @type {any} */ n) => n === null ? '...' : write(n, d + 1, at + 1)).join(gap)}]`
  }
  return write(picked, 0, indent)
}

/**
 * The whole text: `tensor([[1., 2.], [3., 4.]])`, with a dtype that its values do not tell.
 *
 * @param {{ shape: number[], dtype: string, kind: string, size: number, read: (index: number[]) => any }} t
 * @returns {string}
 */
function print ({ shape, dtype, kind, size, read }) {
  const suffixes = []
  if (size === 0 && shape.length !== 1) suffixes.push(`size=(${shape.join(', ')})`)
  if (size === 0 ? dtype !== 'float32' : !['float32', 'int64', 'bool', 'complex64'].includes(dtype)) suffixes.push(`dtype=${dtype}`)
  const text = size === 0 ? '[]' : body(shape, read, kind, 'tensor('.length)
  const last = text.slice(text.lastIndexOf('\n') + 1)
  const suffix = suffixes.join(', ')
  const first = text.includes('\n') ? 0 : 'tensor('.length
  if (suffix === '') return `tensor(${text})`
  const breaks = first + last.length + suffix.length + 3 > WIDTH
  return `tensor(${text},${breaks ? '\n       ' : ' '}${suffix})`
}

module.exports = { print }
