'use strict'
// The memory map as an element of another page: in a shadow tree, so that neither's styles reach the other.

const { MapPage, parts } = require('./client')
const { styleOf } = require('./style')

/** What makes elements, where there are any. @typedef {typeof globalThis extends { document: { createElement(name: 'div'): infer E } } ? E : object} Division */

/** @typedef {Division & { refresh: () => void }} MapElement refresh: shows what is so now */

/**
 * @param {() => import('./map').MemoryMap} take
 * @returns {MapElement}
 */
function newElement(take) {
  const host = document.createElement('div')
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet() // the page's Content-Security-Policy may refuse style elements
  sheet.replaceSync(`:host { display: block; }${styleOf(':host')}`)
  shadow.adoptedStyleSheets = [sheet]
  const page = new MapPage(shadow, take(), { parts, isLive: false })
  return Object.assign(/** @type {any} */ (host), { refresh: () => page.update(take()) })
}

module.exports = { newElement }
