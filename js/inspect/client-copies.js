'use strict'
// The page's lists of copies, by what was called, and of what was sent, by the way.

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Copied} Copied */
/** @typedef {import('./client').MapPage} MapPage */

/** Self-contained: pages have its text. */
class Copies {
  /** @param {MapPage} page */
  constructor(page) {
    this.page = page
    this.element = page.el('section.copies', { 'aria-label': 'Copies' })
  }

  /** @param {MemoryMap} map */
  draw({ copied, staged, sent }) {
    const { el } = this.page
    const rows = Object.entries(copied).filter(([, row]) => row.count > 0)
    if (staged.count > 0) rows.push(['staged on the way', staged])
    rows.sort((a, b) => b[1].bytes - a[1].bytes)
    /** @type {[string, Copied][]} */
    const ways = Object.entries(sent).map(([way, row]) => [
      way === 'host' ? 'shared memory' : 'messages',
      row,
    ])
    const sentTitle = el('h2', 'Sent over NATS', el('span.site', 'by the way, and where'))
    this.element.replaceChildren(
      el(
        'h2',
        'Copies',
        el('span.site', rows.length === 0 ? 'none were made' : 'by what was called, and where'),
      ),
      ...this.drawRows(rows),
      ...(ways.length === 0 ? [] : [sentTitle, ...this.drawRows(ways)]),
    )
  }

  /** @param {[string, Copied][]} rows */
  drawRows(rows) {
    const { el, texts } = this.page
    const largest = Math.max(1, ...rows.map(([, { bytes }]) => bytes))
    return rows.map(([reason, { count, bytes, sites }]) => {
      const bar = el('span.length')
      bar.style.setProperty('--share', `${((100 * bytes) / largest).toFixed(2)}%`)
      const known = sites.flatMap(({ site, count }) => (site === null ? [] : [{ site, count }]))
      const where = known.slice(0, 4).map(({ site, count }) => {
        const times = count > 1 ? ` \u00d7 ${texts.grouped(count)}` : ''
        return el('span', { title: texts.where(site) }, `${texts.shortly(site)}${times}`)
      })
      return el(
        'div.copy',
        el('b', reason),
        el('span.track', bar),
        el('span.amount', `${texts.bytes(bytes)} in ${texts.grouped(count)}`),
        el('span.from', ...where),
      )
    })
  }
}

module.exports = { Copies }
