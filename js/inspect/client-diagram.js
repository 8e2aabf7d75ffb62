'use strict'
// The page's diagram of a tensor: which element is where in memory.

/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./client').MapPage} MapPage */
/** Lengths in pixels, and slots in a row. @typedef {{ columns: number, width: number, height: number, line: number, margin: number }} Grid */

/**
 * The first places in memory that a tensor reaches, and the elements at each. Self-contained: pages have its text.
 *
 * @param {import('./map').MappedTensors} row
 * @param {number} most  places
 * @returns {{ slots: number[][], all: number }} slots: elements by place, as row-major order numbers them; all: how many places there are
 */
function slotsOf({ shape, strides, itemsize, reach, size }, most) {
  const all = size === 0 ? 0 : (reach[1] - reach[0]) / itemsize
  const shown = Math.min(most, all)
  /** @type {number[][]} */
  const slots = Array.from({ length: shown }, () => [])
  // Of the axes from each one on: the lowest and highest place they reach, and how many elements an index is worth.
  const low = new Array(shape.length + 1).fill(0)
  const high = low.slice()
  const weight = low.slice().fill(1)
  for (let d = shape.length - 1; d >= 0; d--) {
    const far = (shape[d] - 1) * strides[d]
    low[d] = low[d + 1] + Math.min(0, far)
    high[d] = high[d + 1] + Math.max(0, far)
    weight[d] = weight[d + 1] * shape[d]
  }
  /** Indices of an axis whose elements can lie in the slots. @param {number} d @param {number} at @returns {[number, number]} */
  const range = (d, at) => {
    const [stride, last] = [strides[d], shape[d] - 1]
    const [least, farthest] = [at + low[d + 1], at + high[d + 1]]
    if (stride > 0) {
      return [
        Math.max(0, Math.ceil(-farthest / stride)),
        Math.min(last, Math.floor((shown - 1 - least) / stride)),
      ]
    }
    if (stride < 0) {
      return [
        Math.max(0, Math.ceil((least - shown + 1) / -stride)),
        Math.min(last, Math.floor(farthest / -stride)),
      ]
    }
    return [0, farthest < 0 || least >= shown ? -1 : last]
  }
  let budget = 20000 // steps, whatever strides there are
  /** @param {number} d @param {number} at @param {number} order */
  const number = (d, at, order) => {
    if (--budget < 0) return
    if (d === shape.length) {
      if (slots[at].length < 1000) slots[at].push(order)
      return
    }
    const [from, to] = range(d, at)
    for (let i = from; i <= to; i++) {
      if (budget < 0) return
      number(d + 1, at + i * strides[d], order + i * weight[d + 1])
    }
  }
  if (size > 0) number(0, -reach[0] / itemsize, 0)
  return { slots, all }
}

/** Self-contained: pages have its text. */
class Diagram {
  /** @param {MapPage} page */
  constructor(page) {
    this.page = page
    this.mostSlots = 64
  }

  /** @param {MappedTensors} row */
  draw(row) {
    const { el, texts, parts } = this.page
    if (row.size === 0) return el('p.none', 'It has no elements.')
    const { slots, all } = parts.slotsOf(row, this.mostSlots)
    const grid = this.gridOf(row, slots.length)
    const width = grid.margin + grid.columns * grid.width
    const height = Math.ceil(slots.length / grid.columns) * grid.line - (grid.line - grid.height)
    const orders = slots.flat().sort((a, b) => a - b)
    const isDrawn = orders.length > 1 && orders.length <= this.mostSlots
    const points = isDrawn ? this.pathOf(slots, grid) : ''
    const places =
      all > slots.length
        ? `the first ${slots.length} of ${texts.grouped(all)} places`
        : texts.many(slots.length, 'place')
    const notes = [
      'numbered as they are read',
      `${places} in memory`,
      `${texts.many(row.itemsize, 'byte')} each`,
    ]
    if (slots.some((elements) => elements.length > 1)) {
      notes.push('striped: several elements share the bytes')
    }
    if (slots.some((elements) => elements.length === 0)) notes.push('empty: not its bytes')
    return el(
      'figure',
      { class: texts.hue(row.dtype) },
      el(
        'svg.diagram',
        {
          viewBox: `0 -4 ${width + 4} ${height + 8}`,
          width: width + 4,
          height: height + 8,
          role: 'img',
          'aria-label': `Which element is where: ${notes.join(', ')}`,
        },
        ...this.cellsOf(row, slots, orders, grid),
        points === '' ? null : el('polyline', { points, class: 'walk' }),
        ...this.wordsOf(row, slots, grid),
      ),
      el('figcaption', notes.join(' \u00b7 ')),
    )
  }

  /** As many columns as an axis steps over, where one steps over few slots. @param {MappedTensors} row @param {number} n  slots @returns {Grid} */
  gridOf({ strides, shape }, n) {
    const steps = strides
      .filter((stride, d) => shape[d] > 1 && Math.abs(stride) >= 4 && Math.abs(stride) <= 16)
      .map(Math.abs)
    const most = steps.length > 0 ? Math.min(...steps) : n <= 16 ? Math.max(4, n) : 16
    const columns = Math.min(n, most)
    const width = Math.max(20, Math.min(44, 318 / columns))
    return { columns, width, height: 26, line: 29, margin: 40 }
  }

  /** Left upper corner of a slot. @param {number} i @param {Grid} grid @returns {[number, number]} */
  cornerOf(i, { columns, width, line, margin }) {
    return [margin + (i % columns) * width, Math.floor(i / columns) * line]
  }

  /** @param {MappedTensors} row @param {number[][]} slots @param {number[]} orders  of all elements, sorted @param {Grid} grid */
  cellsOf({ shape, itemsize, starts, reach }, slots, orders, grid) {
    const { el } = this.page
    const rank = new Map(orders.map((order, i) => [order, i / Math.max(1, orders.length - 1)]))
    return slots.map((elements, i) => {
      const [x, y] = this.cornerOf(i, grid)
      const from = starts[0] + reach[0] + i * itemsize
      const indices = elements.slice(0, 6).map((order) => this.indexOf(shape, order))
      if (elements.length > 6) indices.push('\u2026')
      const what = indices.join(' ') || 'no element'
      const title = el('title', `bytes ${from} to ${from + itemsize - 1}: ${what}`)
      const kind = elements.length === 0 ? 'slot gap' : elements.length > 1 ? 'slot shared' : 'slot'
      const cell = el(
        'rect',
        { class: kind, x: x + 1, y, width: grid.width - 2, height: grid.height, rx: 4 },
        title,
      )
      cell.style.setProperty('--order', `${Math.round(100 * (rank.get(elements[0]) ?? 0))}%`)
      return cell
    })
  }

  /** Bytes before each line, and elements in the slots. @param {MappedTensors} row @param {number[][]} slots @param {Grid} grid */
  wordsOf({ starts, reach, itemsize }, slots, grid) {
    const { el } = this.page
    const baseline = grid.height / 2 + 4
    return slots.flatMap((elements, i) => {
      const [x, y] = this.cornerOf(i, grid)
      const many = elements.length >= 1000 ? '999+' : elements.length
      const text =
        elements.length === 0 ? '' : elements.length > 1 ? `\u00d7${many}` : String(elements[0])
      const from = i % grid.columns === 0 ? String(starts[0] + reach[0] + i * itemsize) : ''
      const isShort = text.length * 6.6 <= grid.width
      return [
        from === '' ? [] : el('text.at', { x: grid.margin - 8, y: y + baseline }, from),
        text === '' || !isShort ? [] : el('text', { x: x + grid.width / 2, y: y + baseline }, text),
      ].flat()
    })
  }

  /** A line through the slots in the order of the elements; '' where the elements are not the first, or are in order. @param {number[][]} slots @param {Grid} grid */
  pathOf(slots, grid) {
    const places = slots
      .flatMap((elements, i) => elements.map((order) => [order, i]))
      .sort((a, b) => a[0] - b[0])
    if (places.some(([order], i) => order !== i) || places.every(([order, i]) => order === i)) {
      return ''
    }
    return places
      .slice(0, 48)
      .map(([, i]) => {
        const [x, y] = this.cornerOf(i, grid)
        return `${x + grid.width / 2},${y + grid.height / 2}`
      })
      .join(' ')
  }

  /** An element's index. @param {number[]} shape @param {number} order  in row-major order */
  indexOf(shape, order) {
    const out = []
    for (let d = shape.length - 1; d >= 0; d--) {
      out.unshift(order % shape[d])
      order = Math.floor(order / shape[d])
    }
    return `[${out.join(', ')}]`
  }
}

module.exports = { Diagram, slotsOf }
