'use strict'
// Draws the memory map, in a page of its own or as an element of another one. Pages have the text of the parts below. So each part needs
// nothing around it, and finds the others as properties, which bundlers do not rename. Parts make elements and text nodes only: no name
// of a file or function becomes markup.

const { Copies } = require('./client-copies')
const { Details } = require('./client-details')
const { Diagram, slotsOf } = require('./client-diagram')
const { RegionList } = require('./client-regions')
const { Summary } = require('./client-summary')
const { Texts } = require('./client-texts')
const { coverage } = require('./coverage')

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */

/**
 * What makes elements of a document. Only elements and text nodes: nothing becomes markup. Self-contained: pages have its text.
 *
 * @param {Document} document
 */
function elementsOf(document) {
  const SVG = ['svg', 'path', 'rect', 'text', 'g', 'title', 'line', 'polyline', 'circle']
  /**
   * @param {string} name
   * @param {Record<string, any>} [attributes]  on...: listeners; null, false: none
   * @param {...(Node | string | null)} children
   * @returns {any}
   */
  function el(name, attributes = {}, ...children) {
    const made = SVG.includes(name)
      ? document.createElementNS('http://www.w3.org/2000/svg', name)
      : document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
      else if (value !== null && value !== false) {
        made.setAttribute(key, value === true ? '' : String(value))
      }
    }
    for (const child of children) if (child !== null) made.append(child)
    return made
  }
  return el
}

/** Self-contained: pages have its text. */
class MapPage {
  /**
   * @param {HTMLElement | ShadowRoot} root  to draw into
   * @param {MemoryMap} map
   * @param {{ parts: Parts, isLive: boolean }} options
   */
  constructor(root, map, { parts, isLive }) {
    this.root = root
    this.document = root.ownerDocument
    this.map = map
    this.parts = parts
    /** key of the chosen row; '': none */
    this.chosen = ''
    this.el = parts.elementsOf(this.document)
    this.texts = new parts.Texts()
    this.summary = new parts.Summary(this)
    this.regions = new parts.RegionList(this)
    this.diagram = new parts.Diagram(this)
    this.details = new parts.Details(this)
    this.copies = new parts.Copies(this)
    this.filter = this.el('input', {
      type: 'search',
      placeholder: 'Filter: dtype, file, kind\u2026',
      'aria-label': 'Filter',
      oninput: () => this.regions.filter(this.filter.value),
    })
    const { el, summary, regions, details, copies, filter } = this
    this.frame = el(
      'div',
      { class: 'map' },
      el(
        'header',
        {},
        el(
          'div',
          { class: 'name' },
          el('h1', {}, el('b', {}, 'same', el('i', {}, 'bytes')), ' memory map'),
          summary.title,
        ),
        summary.numbers,
      ),
      el(
        'div',
        { class: 'tools' },
        filter,
        this.newSwitch(
          'Order',
          [
            ['size', 'Largest'],
            ['age', 'Newest'],
            ['views', 'Most shared'],
          ],
          regions.sort,
          (value) => {
            regions.sort = value
          },
        ),
        this.newSwitch(
          'Scale',
          [
            ['log', 'Log'],
            ['linear', 'Linear'],
          ],
          regions.scale,
          (value) => {
            regions.scale = value
          },
        ),
        summary.legend,
      ),
      el(
        'div',
        { class: 'columns' },
        el('main', {}, regions.element),
        el('div', { class: 'side' }, details.element, copies.element),
      ),
    )
    this.frame.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) =>
      this.onKey(event),
    )
    root.append(this.frame)
    summary.say(isLive ? 'live' : 'snapshot', isLive)
    this.update(map)
  }

  /**
   * @param {string} label
   * @param {[value: string, name: string][]} choices
   * @param {string} now
   * @param {(value: string) => void} set
   */
  newSwitch(label, choices, now, set) {
    const buttons = choices.map(([value, name]) =>
      this.el(
        'button',
        {
          type: 'button',
          'aria-pressed': String(value === now),
          onclick: () => {
            set(value)
            for (const [i, button] of buttons.entries()) {
              button.setAttribute('aria-pressed', String(choices[i][0] === value))
            }
            this.regions.draw()
          },
        },
        name,
      ),
    )
    return this.el('span', { class: 'switch', role: 'group', 'aria-label': label }, ...buttons)
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const target = /** @type {HTMLElement} */ (event.target)
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }
    if (event.key === '/' && target !== this.filter) {
      event.preventDefault()
      this.filter.focus()
    } else if (event.key === 'Escape' && target === this.filter) {
      this.filter.value = ''
      this.regions.words = ''
      this.regions.draw()
    } else if (target.classList.contains('stripe') && Object.hasOwn(steps, event.key)) {
      event.preventDefault()
      const stripes = [...this.frame.querySelectorAll('.stripe')]
      const to =
        stripes[
          Math.max(0, Math.min(stripes.length - 1, stripes.indexOf(target) + steps[event.key]))
        ]
      to.focus()
      to.scrollIntoView({ block: 'nearest' })
      this.choose(to.dataset.key)
    }
  }

  /** @param {Region} region @param {MappedTensors} row */
  keyOf(region, row) {
    return `${region.id}.${row.id}`
  }

  /** @param {string} key */
  find(key) {
    for (const region of this.map.regions) {
      for (const row of region.tensors) if (this.keyOf(region, row) === key) return { region, row }
    }
    return null
  }

  /** @param {string} key */
  choose(key) {
    this.chosen = key
    for (const stripe of this.regions.element.querySelectorAll('.stripe')) {
      stripe.setAttribute('aria-pressed', String(stripe.dataset.key === key))
    }
    this.details.show(this.find(key))
  }

  /** @param {MemoryMap} map */
  update(map) {
    this.map = map
    this.summary.draw(map)
    this.regions.draw()
    this.copies.draw(map)
  }
}

/** @typedef {{ MapPage: typeof MapPage, Texts: typeof Texts, Summary: typeof Summary, RegionList: typeof RegionList, Diagram: typeof Diagram, Details: typeof Details, Copies: typeof Copies, elementsOf: typeof elementsOf, slotsOf: typeof slotsOf, coverage: typeof coverage }} Parts */

/** @type {Parts} */
const parts = {
  MapPage,
  Texts,
  Summary,
  RegionList,
  Diagram,
  Details,
  Copies,
  elementsOf,
  slotsOf,
  coverage,
}

/** All parts, as the text of an object's initializer. */
const textOfParts = () =>
  `{\n${Object.entries(parts)
    .map(([name, part]) => `${name}: ${part}`)
    .join(',\n')}\n}`

module.exports = { MapPage, parts, textOfParts }
