'use strict'
// The page's list of regions, with a stripe for each row of tensors.

/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./client').MapPage} MapPage */

/** Self-contained: pages have its text. */
class RegionList {
  /** @param {MapPage} page */
  constructor(page) {
    this.page = page
    this.element = page.el('div.regions')
    this.step = 100 // regions that are drawn at a time
    this.fewRows = 8 // of one region, before the others are asked for
    /** key of ordersOf */
    this.sort = 'size'
    /** 'log' or 'linear' */
    this.scale = 'log'
    /** text of the filter */
    this.words = ''
    this.most = this.step
    /** regions whose rows are all shown @type {Set<number>} */
    this.opened = new Set()
    /** what was drawn last, by region: regions that did not change keep their elements @type {Map<number, { said: string, drawn: any }>} */
    this.drawn = new Map()
  }

  /** @param {string} words */
  filter(words) {
    this.words = words.toLowerCase()
    this.most = this.step
    this.draw()
  }

  draw() {
    const { page, element } = this
    const { el, texts, map } = page
    const { regions, more } = map
    const focused = /** @type {any} */ (page.root).activeElement ?? page.document.activeElement
    const key = focused?.dataset?.key
    const found = regions.filter((region) => this.matches(region)).sort(this.orderOf(this.sort))
    const largest = Math.max(1, ...found.map((region) => region.nbytes))
    const next = new Map()
    for (const region of found.slice(0, this.most)) {
      const said = JSON.stringify([region, this.opened.has(region.id), this.scale, largest])
      const last = this.drawn.get(region.id)
      const isSame = last?.said === said
      next.set(region.id, isSame ? last : { said, drawn: this.drawRegion(region, largest) })
    }
    this.drawn = next
    const notes = []
    if (found.length === 0) {
      const isEmpty = regions.length === 0
      notes.push(el('p.none', isEmpty ? 'No tensors are alive.' : 'Nothing matches the filter.'))
    }
    const left = found.length - next.size
    if (left > 0) {
      const showMore = () => (this.most += this.step)
      notes.push(this.moreButton(`${texts.many(left, 'more row')} of blocks`, showMore))
    }
    if (more.regions > 0) {
      const blocks = `${texts.many(more.regions, 'smaller block')} of ${texts.bytes(more.bytes)}`
      const isOne = more.regions === 1
      const said = `${blocks} with ${texts.many(more.tensors, 'tensor')} ${isOne ? 'is' : 'are'} not on the map.`
      notes.push(el('p.none', said))
    }
    element.replaceChildren(...[...next.values()].map(({ drawn }) => drawn), ...notes)
    if (key !== undefined) {
      element.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true })
    }
    if (page.find(page.chosen) === null) page.chosen = this.interesting(found)
    page.choose(page.chosen)
  }

  /** @param {string} text @param {() => unknown} show */
  moreButton(text, show) {
    const onclick = () => {
      show()
      this.draw()
    }
    return this.page.el('button.more', { type: 'button', onclick }, text)
  }

  /** @param {string} sort @returns {(a: Region, b: Region) => number} */
  orderOf(sort) {
    const sharers = (/** @type {Region} */ region) =>
      region.tensors.reduce((n, row) => n + row.count, 0) + region.owners.length
    if (sort === 'age') return (a, b) => b.id - a.id
    if (sort === 'views') return (a, b) => sharers(b) - sharers(a) || a.id - b.id
    return (a, b) => b.nbytes * b.count - a.nbytes * a.count || a.id - b.id
  }

  /** @param {Region} region */
  matches({ kind, owners, tensors, site }) {
    if (this.words === '') return true
    const { texts } = this.page
    const said = [
      texts.kinds[kind]?.[0] ?? kind,
      kind,
      texts.where(site),
      ...owners.map((owner) => texts.owner(owner)),
      ...tensors.flatMap((row) => [row.dtype, texts.listed(row.shape), texts.where(row.site)]),
      ...tensors.map((row) => row.site?.call ?? ''),
    ]
    return said.some((text) => text.toLowerCase().includes(this.words))
  }

  /** The row to show before one was chosen: a view with strides that are worth it. @param {Region[]} regions @returns {string} its key */
  interesting(regions) {
    const { texts, diagram } = this.page
    const strided = (/** @type {MappedTensors} */ row) => !texts.isRowMajor(row) && row.size > 3
    /** @type {((row: MappedTensors) => boolean)[]} */
    const wishes = [
      (row) =>
        strided(row) &&
        row.reach[1] - row.reach[0] <= diagram.mostSlots * row.itemsize &&
        row.strides.every((n) => n !== 0),
      strided,
      () => true,
    ]
    const rows = regions.flatMap((region) => region.tensors.map((row) => ({ region, row })))
    const found = wishes.flatMap((wanted) => rows.find(({ row }) => wanted(row)) ?? [])
    return found.length === 0 ? '' : this.page.keyOf(found[0].region, found[0].row)
  }

  /** @param {Region} region @param {number} largest */
  drawRegion(region, largest) {
    const { el, texts } = this.page
    const { id, count, kind, nbytes, owners, site, tensors, more } = region
    const [name, meaning] = texts.kinds[kind] ?? [kind, '']
    const share =
      this.scale === 'linear' ? nbytes / largest : Math.log2(1 + nbytes) / Math.log2(1 + largest)
    const rows = this.opened.has(id) ? tensors : tensors.slice(0, this.fewRows)
    const left = tensors.length - rows.length
    const made = el(
      'section',
      { class: `region k-${kind}${count > 1 ? ' several' : ''}`, 'data-region': id },
      el(
        'h2',
        el('span.size', count > 1 ? el('em', texts.times(count)) : null, texts.bytes(nbytes)),
        el('span.kind', { title: meaning }, name),
        ...owners.map((owner) => {
          const text = texts.owner(owner)
          const shown = owner.kind === 'file' ? `file ${texts.nameOf(owner.name)}` : text
          return el('span', { class: `owner o-${owner.kind}`, title: text }, shown)
        }),
        site === null ? null : el('span.site', texts.where(site)),
      ),
      ...rows.map((row) => this.drawRow(region, row)),
      left > 0
        ? this.moreButton(`${texts.many(left, 'more kind')} of views`, () => this.opened.add(id))
        : null,
      more > 0 && left === 0
        ? el(
            'p.none',
            `${texts.many(more, 'smaller tensor')} ${more === 1 ? 'is' : 'are'} not on the map.`,
          )
        : null,
    )
    made.style.setProperty('--share', `${(Math.max(0.06, Math.min(1, share)) * 100).toFixed(2)}%`)
    return made
  }

  /** @param {Region} region @param {MappedTensors} row */
  drawRow(region, row) {
    const { page } = this
    const { el, texts } = page
    const { count, dtype, shape, strides, site, isReadOnly, exposed, thread } = row
    const key = page.keyOf(region, row)
    const stepped = texts.isRowMajor(row) ? '' : texts.listed(strides)
    const taken = 'JavaScript has a typed array over these bytes'
    const made = site === null ? '' : `, ${site.call} at ${texts.where(site)}`
    return el(
      'button',
      {
        type: 'button',
        class: `stripe ${texts.hue(dtype)}${row.isView ? ' view' : ''}`,
        'data-key': key,
        'aria-pressed': String(key === page.chosen),
        'aria-label': `${count > 1 ? `${count} times ` : ''}${dtype} ${texts.listed(shape)}${stepped === '' ? '' : `, strides ${stepped}`}${made}`,
        onclick: () => page.choose(key),
        onpointerenter: (/** @type {PointerEvent} */ event) => {
          if (event.pointerType === 'mouse') page.choose(key)
        },
        onfocus: () => page.choose(key),
      },
      el('span.track', el('span.room', this.stripe(region, row))),
      el(
        'span.words',
        count > 1 ? el('em', texts.times(count)) : null,
        el('b', dtype),
        ' ',
        el('span.shape', texts.listed(shape)),
        stepped === '' ? null : el('span.strides', { title: 'strides, in elements' }, stepped),
        thread === null ? null : el('span', { class: 'tag thread' }, thread),
        isReadOnly ? el('span.tag', 'read-only') : null,
        exposed > 0 ? el('span.tag js', { title: taken }, 'data') : null,
        site === null
          ? null
          : el('span.from', el('span.call', site.call), ` ${texts.shortly(site)}`),
      ),
    )
  }

  /** The region's bytes, darker where the row's tensors have more of them. @param {Region} region @param {MappedTensors} row */
  stripe({ nbytes }, row) {
    const { el, parts } = this.page
    const cells = nbytes > 0 && nbytes <= 512 ? nbytes : 256
    const levels = parts
      .coverage(cells, nbytes, row)
      .map((share) => (share <= 0 ? 0 : share >= 1 ? 4 : 1 + Math.floor(share * 2.9999)))
    const paths = ['', '', '', '']
    for (let from = 0, to = 0; from < cells; from = to) {
      const level = levels[from]
      for (to = from + 1; to < cells && levels[to] === level;) to++
      if (level > 0) paths[level - 1] += `M${from} 0h${to - from}v1h${from - to}z`
    }
    return el(
      'svg.bytes',
      { viewBox: `0 0 ${cells} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      ...paths.map((d, i) => (d === '' ? null : el('path', { d, class: `level${i + 1}` }))),
    )
  }
}

module.exports = { RegionList }
