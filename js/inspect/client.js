'use strict'
// Draws the memory map, in a page of its own or as an element of another one. Pages have the text of the parts below. So each part needs
// nothing around it, and finds the others as properties, which bundlers do not rename. Parts make elements and text nodes only: no name
// of a file or function becomes markup.

const { Copies } = require('./client-copies')
const { Details } = require('./client-details')
const { Diagram, slotsOf } = require('./client-diagram')
const { RegionList } = require('./client-regions')
const { Summary } = require('./client-summary')
const { textsOf } = require('./client-texts')
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
   * @param {string} what  a name, or name.class
   * @param {...any} content  attributes (on...: listeners; null, false: none), where there are some, and children: nodes and texts; null: none
   * @returns {any}
   */
  function el(what, ...content) {
    const [name, className = ''] = what.split('.')
    const made = SVG.includes(name)
      ? document.createElementNS('http://www.w3.org/2000/svg', name)
      : document.createElement(name)
    if (className !== '') made.setAttribute('class', className)
    const attributes = content[0]?.constructor === Object ? content.shift() : {}
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
      else if (value !== null && value !== false) {
        made.setAttribute(key, value === true ? '' : String(value))
      }
    }
    made.append(...content.filter((child) => child !== null))
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
    this.texts = parts.textsOf()
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
      'div.map',
      el(
        'header',
        el('div.name', el('h1', el('b', 'same', el('i', 'bytes')), ' memory map'), summary.title),
        summary.numbers,
      ),
      el(
        'div.tools',
        filter,
        this.newSwitch('Order', 'sort', { size: 'Largest', age: 'Newest', views: 'Most shared' }),
        this.newSwitch('Scale', 'scale', { log: 'Log', linear: 'Linear' }),
        summary.legend,
      ),
      el(
        'div.columns',
        el('main', regions.element),
        el('div.side', details.element, copies.element),
      ),
    )
    this.frame.addEventListener('keydown', (/** @type {any} */ event) => this.onKey(event))
    root.append(this.frame)
    summary.say(isLive ? 'live' : 'snapshot', isLive)
    this.update(map)
  }

  /**
   * @param {string} label
   * @param {'sort' | 'scale'} property  of the list of regions
   * @param {Record<string, string>} choices  what is shown, by value
   */
  newSwitch(label, property, choices) {
    const { el, regions } = this
    /** @type {any[]} */
    const buttons = Object.entries(choices).map(([value, name], i) => {
      const onclick = () => {
        regions[property] = value
        buttons.forEach((button, k) => button.setAttribute('aria-pressed', String(k === i)))
        regions.draw()
      }
      const isPressed = String(value === regions[property])
      return el('button', { type: 'button', 'aria-pressed': isPressed, onclick }, name)
    })
    return el('span.switch', { role: 'group', 'aria-label': label }, ...buttons)
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
      const i = stripes.indexOf(target) + steps[event.key]
      const to = stripes[Math.max(0, Math.min(stripes.length - 1, i))]
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

/** @typedef {{ MapPage: typeof MapPage, textsOf: typeof textsOf, Summary: typeof Summary, RegionList: typeof RegionList, Diagram: typeof Diagram, Details: typeof Details, Copies: typeof Copies, elementsOf: typeof elementsOf, slotsOf: typeof slotsOf, coverage: typeof coverage }} Parts */

/** @type {Parts} */
const parts = {
  MapPage,
  textsOf,
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
function textOfParts() {
  const texts = Object.entries(parts).map(([name, part]) => `${name}: ${part}`)
  return `{\n${texts.join(',\n')}\n}`
}

module.exports = { MapPage, parts, textOfParts }
