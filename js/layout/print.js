'use strict'
// Tensors as text, as PyTorch 1.13 prints them: aligned columns, four digits, summarised beyond a thousand.

const THRESHOLD = 1000 // elements from which only the edges are shown
const EDGE = 3 // entries at each edge then
const MOST_SHOWN = 2 ** 18 // elements at the edges; where there are more, none are shown
const LINES = 16 // of a summary that is inspected, if fewer entries at the edges do it
const MOST_LINES = 100 // of one; where there are more, no elements are shown
const PRECISION = 4 // digits after the point
const VALUE_BYTES = 512 // of heap that printing one value takes
const WIDTH = 80 // columns
const PREFIX = 'tensor('
const TIE = /^(-?\d+\.\d{3}[02468])50*(e.*)?$/ // half-way between two numbers of PRECISION digits, the lower one even

/** @typedef {InstanceType<Bytes['Layout']>} LayoutOf */
/**
 * The functions that read bytes. They are passed in, not required: this file is loaded at the first print, and by then `require`
 * could give another instance of the package (after jest.resetModules), which has another memory.
 *
 * @typedef {object} Bytes
 * @property {typeof import('../backend/calls').Layout} Layout
 * @property {typeof import('./elements').nested} nested
 * @property {typeof import('../runtime/heap').checkHeap} checkHeap
 */

/** text: writes one value; width: of a column. @typedef {{ text: (value: any) => string, width: number }} Style */

/**
 * Rounds half to even as Python does; JavaScript's toFixed and toExponential round half up.
 *
 * @param {(digits: number) => string} write  a number with so many digits after the point
 * @returns {string}
 */
function rounded(write) {
  if (!TIE.test(write(PRECISION + 1))) return write(PRECISION) // the tie may be due to rounding
  const tie = TIE.exec(write(10 * PRECISION))
  return tie === null ? write(PRECISION) : tie[1] + (tie[2] ?? '')
}

/**
 * Python's exponents have at least two digits.
 *
 * @param {number} x
 */
const scientific = (x) =>
  rounded((digits) => x.toExponential(digits)).replace(/e([+-])(\d)$/, 'e$10$2')

/** @param {number} x */
const fixed = (x) => rounded((digits) => x.toFixed(digits))

/** @param {number} x */
const whole = (x) => `${x.toFixed(0)}.`

/**
 * The notation for all floats of one tensor: scientific, whole or fixed, by PyTorch's rules.
 *
 * @param {number[]} values  finite, without zeros
 * @returns {(x: number) => string}
 */
function writerOf(values) {
  let low = Infinity
  let high = 0
  let integral = true
  for (const value of values) {
    const x = Math.abs(value)
    if (x < low) low = x
    if (x > high) high = x
    integral &&= Number.isInteger(x)
  }
  if (values.length > 0 && (high / low > 1000 || high > 1e8 || (!integral && low < 1e-4))) {
    return scientific
  }
  return integral ? whole : fixed
}

/**
 * The style of one tensor's floats.
 *
 * @param {number[]} values
 * @returns {Style}
 */
function floatStyle(values) {
  const finite = values.filter((x) => Number.isFinite(x) && x !== 0)
  const write = writerOf(finite)
  /** @param {number} x */
  const text = (x) => {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf'
    return Object.is(x, -0) ? `-${write(0)}` : write(x)
  }
  return { text, width: widest(finite, text) } // zeros, nan and inf do not widen a column
}

/**
 * @param {any[]} values
 * @param {(value: any) => string} text
 */
const widest = (values, text) =>
  values.reduce((most, value) => Math.max(most, text(value).length), 1)

/**
 * @param {any[]} values
 * @param {string} kind
 * @returns {Style}
 */
function styleOf(values, kind) {
  if (kind === 'FLOATING') return floatStyle(values)
  if (kind !== 'COMPLEX') {
    const text =
      kind === 'BOOLEAN' ? (/** @type {boolean} */ value) => (value ? 'True' : 'False') : String
    return { text, width: widest(values, text) }
  }
  const re = floatStyle(values.map((v) => v[0]))
  const im = floatStyle(values.map((v) => v[1]))
  return {
    // only real parts are aligned
    text: ([a, b]) =>
      `${re.text(a).padStart(re.width)}${im.text(b).startsWith('-') ? '' : '+'}${im.text(b)}j`,
    width: re.width + im.width + 1,
  }
}

/**
 * @param {number[]} shape  of the tensor
 * @param {any[]} values  those that are shown, in logical order
 * @param {string} kind
 * @param {number} edge  entries at each edge of axes but the last
 * @param {boolean} isTight  without empty lines
 * @returns {string}
 */
function body(shape, values, kind, edge, isTight) {
  const summarised = isSummarised(shape)
  const { text, width } = styleOf(values, kind)
  const texts = values.map((value) =>
    kind === 'COMPLEX' ? text(value) : text(value).padStart(width),
  )
  const last = shape.length - 1
  let next = 0
  /**
   * @param {number} d
   * @param {number} indent  columns before it
   * @returns {string}
   */
  const write = (d, indent) => {
    if (d > last) return texts[next++].trimStart()
    const parts = []
    const most = d < last ? edge : EDGE
    const cut = summarised && shape[d] > 2 * most
    const shown = cut ? 2 * most : shape[d]
    for (let i = 0; i < shown; i++) {
      if (cut && i === most) parts.push(d < last ? '...' : ' ...')
      parts.push(d < last ? write(d + 1, indent + 1) : texts[next++])
    }
    const margin = ' '.repeat(indent + 1)
    if (d < last) return `[${parts.join(`,${'\n'.repeat(isTight ? 1 : last - d)}${margin}`)}]`
    const each = Math.max(1, Math.floor((WIDTH - indent) / (width + 2)))
    const lines = []
    for (let i = 0; i < parts.length; i += each) lines.push(parts.slice(i, i + each).join(', '))
    return `[${lines.join(`,\n${margin}`)}]`
  }
  return write(0, PREFIX.length)
}

/** @param {number[]} shape @returns {number} elements */
const sizeOf = (shape) => shape.reduce((n, extent) => n * extent, 1)

/**
 * @param {number[]} shape
 * @returns {boolean} whether only the edges of a tensor are shown: EDGE entries at both ends of long axes
 */
const isSummarised = (shape) => sizeOf(shape) > THRESHOLD

/**
 * @param {number[]} shape
 * @returns {boolean} whether even the edges are too many to show, as of 7 axes with 6 entries each
 */
const isOmitted = (shape) =>
  isSummarised(shape) && sizeOf(shape.map((n) => Math.min(n, 2 * EDGE))) > MOST_SHOWN

/**
 * @param {number[]} shape  of a summarised tensor
 * @param {number} edge
 * @returns {number} lines of its summary without empty ones
 */
function linesOf(shape, edge) {
  let lines = 1
  for (let d = shape.length - 2; d >= 0; d--) {
    lines = shape[d] > 2 * edge ? 2 * edge * lines + 1 : shape[d] * lines
  }
  return lines
}

/**
 * @param {number[]} shape  of a summarised tensor
 * @returns {number} the most entries at each edge with which inspection has no more than LINES; 1 where none has
 */
function edgeOfInspection(shape) {
  for (let edge = EDGE; edge > 1; edge--) if (linesOf(shape, edge) <= LINES) return edge
  return 1
}

/**
 * Reads the values that are printed: all, or only the edges.
 *
 * @param {LayoutOf} layout  with elements
 * @param {number} edge  entries at each edge of axes but the last
 * @param {Bytes} bytes
 * @returns {any[]} in logical order
 */
function shownValues(layout, edge, { Layout, nested, checkHeap }) {
  const shown = isSummarised(layout.shape) ? edgesOf(layout, edge, Layout) : layout
  const { length } = shown.shape
  const n = sizeOf(shown.shape)
  checkHeap(n * VALUE_BYTES, () => `the text of ${n} values; take a part`)
  return length === 0 ? [nested(shown)] : nested(shown).flat(length - 1)
}

/**
 * A view of the edges: each long axis becomes two, the end (2) and the entries there.
 *
 * @param {LayoutOf} layout
 * @param {number} edge  entries at each edge of axes but the last
 * @param {Bytes['Layout']} Layout
 * @returns {LayoutOf}
 */
function edgesOf({ storage, dtype, shape, strides, offset }, edge, Layout) {
  /** @type {number[]} */
  const extents = []
  /** @type {number[]} */
  const steps = []
  let size = 1
  for (let d = 0; d < shape.length; d++) {
    const most = d < shape.length - 1 ? edge : EDGE
    const isLong = shape[d] > 2 * most
    if (isLong) {
      extents.push(2)
      steps.push((shape[d] - most) * strides[d])
    }
    if (shape[d] > 1) {
      extents.push(isLong ? most : shape[d])
      steps.push(strides[d])
    }
    size *= isLong ? 2 * most : shape[d]
  }
  return new Layout(storage, dtype, extents, steps, offset, size, 0)
}

/** dtypes that PyTorch does not print */
const INFERRED_DTYPES = ['float32', 'int64', 'bool', 'complex64']

/**
 * The whole text, such as `tensor([[1., 2.], [3., 4.]])`, with the dtype unless PyTorch leaves it out.
 *
 * @param {LayoutOf} layout
 * @param {object} of
 * @param {string} of.dtype
 * @param {string} of.kind
 * @param {string} of.device
 * @param {boolean} of.isInspected  of a summarised tensor fewer lines, with its shape and dtype, as NumPy 2 has them
 * @param {Bytes} bytes
 * @returns {string}
 */
function print(layout, { dtype, kind, device, isInspected }, bytes) {
  const { shape } = layout
  const isTight = isInspected && isSummarised(shape)
  const edge = isTight ? edgeOfInspection(shape) : EDGE
  const empty = shape.includes(0)
  const omitted = isOmitted(shape) || (isTight && linesOf(shape, edge) > MOST_LINES)
  const suffixes = []
  if (device !== 'cpu') suffixes.push(`device='${device}'`)
  if (isTight) suffixes.push(`shape=[${shape.join(', ')}]`, `dtype=${dtype}`)
  else {
    if (omitted || (empty && shape.length !== 1)) suffixes.push(`size=(${shape.join(', ')})`)
    if (empty ? dtype !== 'float32' : !INFERRED_DTYPES.includes(dtype)) {
      suffixes.push(`dtype=torch.${dtype}`)
    }
  }
  let text =
    PREFIX +
    (empty
      ? '[]'
      : omitted
        ? '[...]'
        : body(shape, shownValues(layout, edge, bytes), kind, edge, isTight))
  let used = text.length - text.lastIndexOf('\n') + 1 // columns of the last line, a comma and a bracket
  for (const suffix of suffixes) {
    const breaks = used + suffix.length + 2 > WIDTH
    text += `,${breaks ? `\n${' '.repeat(PREFIX.length)}` : ' '}${suffix.replace('torch.', '')}` // lines break where PyTorch's do
    used = breaks ? PREFIX.length + suffix.length : used + suffix.length + 2
  }
  return `${text})`
}

module.exports = { print }
