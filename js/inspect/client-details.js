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
    this.element = page.el('aside', {
      class: 'details',
      'aria-label': 'The chosen tensor',
      'aria-live': 'polite',
    })
    /** what is drawn: it is drawn again only if it changed */
    this.drawn = ''
  }

  /** @param {{ region: Region, row: MappedTensors } | null} found  null: none */
  show(found) {
    const said = JSON.stringify(found)
    if (said === this.drawn) return
    this.drawn = said
    if (found === null) this.element.replaceChildren()
    else this.element.replaceChildren(...this.draw(found.region, found.row))
  }

  /** @param {Region} region @param {MappedTensors} row */
  draw(region, row) {
    const { el, texts, diagram } = this.page
    const { dtype, shape, strides, itemsize } = row
    const steps = shape.map((n, d) => {
      if (n < 2) return 'no step'
      if (strides[d] === 0) return '0 B: the same bytes again'
      return `${texts.signed(strides[d] * itemsize)} B${strides[d] < 0 ? ': backwards' : ''}`
    })
    return [
      el(
        'h3',
        { class: texts.hue(dtype) },
        el('span', { class: 'swatch' }),
        dtype,
        ' ',
        el('span', { class: 'shape' }, texts.listed(shape)),
      ),
      diagram.draw(row),
      el(
        'ol',
        { class: 'axes', start: '0' },
        ...shape.map((n, d) =>
          el(
            'li',
            {},
            el('span', {}, `axis ${d}`),
            el('span', {}, texts.many(n, 'element')),
            el('span', {}, steps[d]),
          ),
        ),
      ),
      el(
        'dl',
        { class: 'facts' },
        ...this.factsOf(region, row).flatMap(([name, value]) => [
          el('dt', {}, name),
          el('dd', {}, value),
        ]),
      ),
    ]
  }

  /** @param {Region} region @param {MappedTensors} row @returns {[string, string][]} */
  factsOf(
    { kind, nbytes, address, owners },
    { itemsize, size, starts, count, site, isView, thread, isReadOnly, exposed },
  ) {
    const { texts } = this.page
    const from = starts
      .slice(0, count > 1 ? 4 : 1)
      .map((start) => texts.grouped(start))
      .join(', ')
    const state = [isView ? 'a view' : 'no view']
    if (thread !== null) state.push(`of ${thread}`)
    if (isReadOnly) state.push('read-only')
    if (exposed > 0) {
      state.push(count > 1 ? `data taken of ${texts.grouped(exposed)}` : 'data taken by JavaScript')
    }
    /** @type {[string, string][]} */
    const facts = [
      ['elements', texts.grouped(size)],
      [
        'bytes',
        `${texts.bytes(size * itemsize)}${count > 1 ? ` each, ${texts.grouped(count)} of them` : ''}`,
      ],
      [
        'begins at',
        count > 1
          ? `byte ${from}${count > 4 ? '\u2026' : ''}`
          : `byte ${from} of ${texts.grouped(nbytes)}`,
      ],
      ['memory', `${texts.kinds[kind]?.[1] ?? kind}`],
    ]
    if (address !== null) {
      facts.push([
        'address',
        `0x${(BigInt(address) + BigInt(Math.max(0, starts[0]))).toString(16)}`,
      ])
    }
    if (site !== null) {
      facts.push([
        'made by',
        `${site.call === '' ? '' : `${site.call}, `}${site.file}:${site.line}:${site.column}`,
      ])
    }
    facts.push(['is', state.join(', ')])
    for (const owner of owners) facts.push(['also', texts.owner(owner)])
    return facts
  }
}

module.exports = { Details }
