'use strict'
// The page's details of the chosen row of tensors.

/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./client').MapPage} MapPage */

/** Self-contained: pages have its text. */
class Details {
  /** @param {MapPage} page */
  constructor (page) {
    this.page = page
    this.element = page.el('aside', { class: 'details', 'aria-label': 'The chosen tensor', 'aria-live': 'polite' })
    /** what is drawn: it is drawn again only if it changed */
    this.drawn = ''
  }

  /** @param {{ region: Region, row: MappedTensors } | null} found  null: none */
  show (found) {
    const said = JSON.stringify(found)
    if (said === this.drawn) return
    this.drawn = said
    if (found === null) this.element.replaceChildren()
    else this.element.replaceChildren(...this.draw(found.region, found.row))
  }

  /** @param {Region} region @param {MappedTensors} row */
  draw (region, row) {
    const { el, texts, diagram } = this.page
    const { dtype, shape, strides, itemsize } = row
    return [
      el('h3', { class: texts.hue(dtype) }, el('span', { class: 'swatch' }), dtype, ' ', el('span', { class: 'shape' }, texts.listed(shape))),
      diagram.draw(row),
      el('ol', { class: 'axes', start: '0' }, ...shape.map((n, d) => el('li', {}, el('span', {}, `axis ${d}`), el('span', {}, texts.many(n, 'element')), el('span', {}, this.stepOf(n, strides[d], itemsize))))),
      el('dl', { class: 'facts' }, ...this.factsOf(region, row).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]))
    ]
  }

  /** @param {Region} region @param {MappedTensors} row @returns {[string, string][]} */
  factsOf (region, row) {
    const { texts } = this.page
    const { itemsize, size, starts, count, site } = row
    /** @type {[string, string][]} */
    const facts = [
      ['elements', texts.grouped(size)],
      ['bytes', `${texts.bytes(size * itemsize)}${count > 1 ? ` each, ${texts.grouped(count)} of them` : ''}`],
      ['begins at', count > 1 ? `byte ${starts.slice(0, 4).map(start => texts.grouped(start)).join(', ')}${count > 4 ? '\u2026' : ''}` : `byte ${texts.grouped(starts[0])} of ${texts.grouped(region.nbytes)}`],
      ['memory', `${texts.kinds[region.kind]?.[1] ?? region.kind}`]
    ]
    if (region.address !== null) facts.push(['address', `0x${(BigInt(region.address) + BigInt(Math.max(0, starts[0]))).toString(16)}`])
    if (site !== null) facts.push(['made by', `${site.call === '' ? '' : `${site.call}, `}${site.file}:${site.line}:${site.column}`])
    facts.push(['is', this.stateOf(row).join(', ')])
    for (const owner of region.owners) facts.push(['also', texts.owner(owner)])
    return facts
  }

  /** @param {MappedTensors} row */
  stateOf ({ isView, thread, isReadOnly, exposed, count }) {
    const state = [isView ? 'a view' : 'no view']
    if (thread !== null) state.push(`of ${thread}`)
    if (isReadOnly) state.push('read-only')
    if (exposed > 0) state.push(count > 1 ? `data taken of ${this.page.texts.grouped(exposed)}` : 'data taken by JavaScript')
    return state
  }

  /** @param {number} n @param {number} stride @param {number} itemsize */
  stepOf (n, stride, itemsize) {
    if (n < 2) return 'no step'
    if (stride === 0) return '0 B: the same bytes again'
    return `${this.page.texts.signed(stride * itemsize)} B${stride < 0 ? ': backwards' : ''}`
  }
}

module.exports = { Details }
