'use strict'
// The page's summary: totals, and the colours of dtypes.

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./client').MapPage} MapPage */

/** Self-contained: pages have its text. */
class Summary {
  /** @param {MapPage} page */
  constructor(page) {
    const { el } = page
    this.page = page
    this.status = el('span.status', { role: 'status' })
    this.program = el('code')
    this.also = el('span.also')
    this.title = el('p', this.program, this.also, this.status)
    this.numbers = el('dl.numbers')
    this.legend = el('ul.legend', { 'aria-label': 'Colours of dtypes' })
  }

  /** @param {string} text @param {boolean} isGood */
  say(text, isGood) {
    this.status.textContent = text
    this.status.className = `status ${isGood ? 'good' : 'over'}`
  }

  /** @param {MemoryMap} map */
  draw({ totals, copied, staged, backend, samebytes, pid, program, regions }) {
    const { el, texts } = this.page
    let [times, moved] = [staged.count, staged.bytes]
    for (const row of Object.values(copied)) [times, moved] = [times + row.count, moved + row.bytes]
    const numbers = [
      [texts.bytes(totals.bytes), 'on the map', 'bytes'],
      [texts.grouped(totals.tensors), totals.tensors === 1 ? 'tensor' : 'tensors', 'tensors'],
      [texts.grouped(totals.regions), totals.regions === 1 ? 'block' : 'blocks', 'regions'],
      [
        texts.bytes(moved),
        times === 1 ? 'in 1 copy' : `in ${texts.grouped(times)} copies`,
        'copied',
      ],
    ]
    this.numbers.replaceChildren(
      ...numbers.map(([value, name, id]) =>
        el('div', { 'data-number': id }, el('dt', name), el('dd', value)),
      ),
    )

    const also = [backend, `samebytes ${samebytes}`]
    if (pid > 0) also.push(`process ${pid}`)
    if (totals.untraced > 0) also.push(`${texts.many(totals.untraced, 'earlier tensor')} not shown`)
    this.program.textContent = program
    this.program.title = this.also.textContent = also.join(' \u00b7 ')

    const counts = new Map()
    for (const { tensors, count } of regions) {
      for (const row of tensors) {
        counts.set(row.dtype, (counts.get(row.dtype) ?? 0) + row.count * count)
      }
    }
    const items = [...counts]
      .sort((a, b) => b[1] - a[1])
      .map(([dtype, n]) =>
        el(
          'li',
          { class: texts.hue(dtype), title: texts.many(n, 'tensor') },
          el('span.swatch'),
          dtype,
        ),
      )
    this.legend.replaceChildren(...items)
  }
}

module.exports = { Summary }
