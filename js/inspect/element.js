'use strict'
// The memory map as an element of somebody else's page: in a shadow tree, so that neither's styles reach the other.

const { client } = require('./client')
const { coverage } = require('./coverage')
const { styleOf } = require('./style')

/** What makes elements, where there are any. @typedef {typeof globalThis extends { document: { createElement(name: 'div'): infer E } } ? E : object} Division */

/** @typedef {Division & { refresh: () => void }} MapElement refresh: shows what is so now */

/**
 * @param {() => import('./map').MemoryMap} take
 * @returns {MapElement}
 */
function newElement (take) {
  const host = document.createElement('div')
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet() // what a page's policy says of style elements is none of its business
  sheet.replaceSync(`:host { display: block; }${styleOf(':host')}`)
  shadow.adoptedStyleSheets = [sheet]
  const { update } = client(shadow, take(), { coverage, isLive: false })
  return Object.assign(/** @type {any} */ (host), { refresh: () => update(take()) })
}

module.exports = { newElement }
