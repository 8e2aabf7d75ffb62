'use strict'
// How the page makes elements.

/**
 * What makes elements of a document. Only elements and text nodes: nothing becomes markup. Self-contained: pages have its text.
 *
 * @param {Document} document
 */
function elementsOf (document) {
  const SVG = ['svg', 'path', 'rect', 'text', 'g', 'title', 'line', 'polyline', 'circle']
  /**
   * @param {string} name
   * @param {Record<string, any>} [attributes]  on...: listeners; null, false: none
   * @param {...(Node | string | null)} children
   * @returns {any}
   */
  function el (name, attributes = {}, ...children) {
    const made = SVG.includes(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
      else if (value !== null && value !== false) made.setAttribute(key, value === true ? '' : String(value))
    }
    for (const child of children) if (child !== null) made.append(child)
    return made
  }
  return el
}

module.exports = { elementsOf }
