'use strict'
// The memory map as a page that needs nothing but itself: no other file, no other host.

const { textOfParts } = require('./client')
const { styleOf } = require('./style')
const { mapText } = require('./text')

/** @typedef {import('./map').MemoryMap} MemoryMap */

/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"']/g, (c) => ESCAPES[c])

/** A value as JSON that stays inside a script element. @param {unknown} value */
const json = (value) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Runs in the page. */
const START = `
const data = document.getElementById('data')
const { map, events } = JSON.parse(data.textContent)
const page = new parts.MapPage(document.getElementById('map'), map, { parts, isLive: events !== '' })
if (events !== '') {
  const source = new EventSource(events)
  source.addEventListener('map', event => { page.summary.say('live', true); page.update(JSON.parse(event.data)) })
  source.addEventListener('end', event => { page.summary.say(JSON.parse(event.data), false); source.close() })
  source.onerror = () => page.summary.say(source.readyState === 2 ? 'the program has ended' : 'waiting for the program', false)
}
`

/** @returns {string} that nobody can guess */
const newNonce = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) =>
    byte.toString(36).padStart(2, '0'),
  ).join('')

/**
 * What the page may do: run its own script, have its own style, and where it is live ask where it came from.
 *
 * @param {string} nonce
 * @param {boolean} isLive
 */
const policyOf = (nonce, isLive) =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:${isLive ? "; connect-src 'self'" : ''}; base-uri 'none'; form-action 'none'`

/**
 * @param {MemoryMap} map
 * @param {{ events?: string, nonce?: string }} [live]  events: where a live page hears of changes
 * @returns {string}
 */
function pageOf(map, { events = '', nonce = newNonce() } = {}) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(nonce, events !== '')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(map.program)} \u00b7 memory map</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">html, body { margin: 0; min-height: 100%; } body { background: var(--ground); }${styleOf(':root')}</style>
</head>
<body>
<noscript><pre>${escaped(mapText(map))}</pre></noscript>
<div id="map"></div>
<script type="application/json" id="data">${json({ map, events })}</script>
<script nonce="${nonce}">
const __name = fn => fn
const parts = ${textOfParts()}
${START}</script>
</body>
</html>
`
}

module.exports = { pageOf, policyOf, newNonce }
