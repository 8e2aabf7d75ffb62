'use strict'
// The page's details of the chosen row of tensors.

/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./client').MapPage} MapPage */

/** Self-contained: pages have its text. */
class Details {
  /** @param {MapPage} page */
  constructor(page) {
    this.page = page
    const label = 'The chosen tensor'
    this.element = page.el('aside.details', { 'aria-label': label, 'aria-live': 'polite' })
    /** what is drawn: it is drawn again only if it changed */
    this.drawn = ''
  }

  /** @param {{ region: Region, row: MappedTensors } | null} found  null: none */
  show(found) {
    const said = JSON.stringify(found)
    if (said === this.drawn) return
    this.drawn = said
    this.element.replaceChildren(...(found === null ? [] : this.draw(found.region, found.row)))
  }

  /** @param {Region} region @param {MappedTensors} row */
  draw(region, row) {
    const { el, texts, diagram } = this.page
    const { dtype, shape, strides, itemsize } = row
    const axes = shape.map((n, d) => {
      const step = `${texts.signed(strides[d] * itemsize)} B${strides[d] < 0 ? ': backwards' : ''}`
      const said = n < 2 ? 'no step' : strides[d] === 0 ? '0 B: the same bytes again' : step
      return el(
        'li',
        el('span', `axis ${d}`),
        el('span', texts.many(n, 'element')),
        el('span', said),
      )
    })
    return [
      el(
        'h3',
        { class: texts.hue(dtype) },
        el('span.swatch'),
        dtype,
        ' ',
        el('span.shape', texts.listed(shape)),
      ),
      diagram.draw(row),
      el('ol.axes', { start: '0' }, ...axes),
      el(
        'dl.facts',
        ...this.factsOf(region, row).flatMap(([name, value]) => [el('dt', name), el('dd', value)]),
      ),
    ]
  }

  /** @param {Region} region @param {MappedTensors} row @returns {[string, string][]} */
  factsOf({ kind, nbytes, address, owners }, row) {
    const { itemsize, size, starts, count, site, isView, thread, isReadOnly, exposed } = row
    const { texts } = this.page
    const from = starts.slice(0, count > 1 ? 4 : 1).map((start) => texts.grouped(start))
    const bytes = texts.bytes(size * itemsize)
    const state = [isView ? 'a view' : 'no view']
    if (thread !== null) state.push(`of ${thread}`)
    if (isReadOnly) state.push('read-only')
    if (exposed > 0) {
      state.push(count > 1 ? `data taken of ${texts.grouped(exposed)}` : 'data taken by JavaScript')
    }
    /** @type {[string, string][]} */
    const facts = [
      ['elements', texts.grouped(size)],
      ['bytes', count > 1 ? `${bytes} each, ${texts.grouped(count)} of them` : bytes],
      [
        'begins at',
        count > 1
          ? `byte ${from.join(', ')}${count > 4 ? '\u2026' : ''}`
          : `byte ${from} of ${texts.grouped(nbytes)}`,
      ],
      ['memory', texts.kinds[kind]?.[1] ?? kind],
    ]
    if (address !== null) {
      const first = BigInt(address) + BigInt(Math.max(0, starts[0]))
      facts.push(['address', `0x${first.toString(16)}`])
    }
    if (site !== null) {
      const call = site.call === '' ? '' : `${site.call}, `
      facts.push(['made by', `${call}${site.file}:${site.line}:${site.column}`])
    }
    facts.push(['is', state.join(', ')])
    for (const owner of owners) facts.push(['also', texts.owner(owner)])
    return facts
  }
}

module.exports = { Details }
