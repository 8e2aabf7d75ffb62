'use strict'
// What samebytes/inspect exports. In Node, loading it starts recording which lines make tensors and copies.

const { instance } = require('../model/internals')
const { takeMap, trace, untrace } = require('./map')
const { isNode } = require('./system')
const { functionsOf, readAll } = require('../runtime/lazy')

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./map').Owner} Owner */
/** @typedef {import('./map').Copied} Copied */
/** @typedef {import('./sites').Site} Site */
/** @typedef {import('./serve').MapServer} MapServer */
/** @typedef {import('./element').MapElement} MapElement */

/** @typedef {'json' | 'text' | 'html'} MapFormat json: plain data; text: lines; html: a page that needs no other file */

/**
 * @template {MapFormat} [F='json']
 * @typedef {object} MapOptions
 * @property {F | undefined} [format]  'json'
 * @property {number | undefined} [limit]  rows of blocks, and rows of tensors on each block; 1000. The smallest beyond it are left out and counted
 */

const { mapText } = functionsOf(() => require('./text'))
const { pageOf } = functionsOf(() => require('./page'))
const { newElement } = functionsOf(() => require('./element'))
const { serve } = functionsOf(() => require('./serve'))

readAll()

const FORMATS = ['json', 'text', 'html']

/** @param {string} name @param {unknown} value @param {number} least @param {number} most @param {number} otherwise */
function integerOf(name, value, least, most, otherwise) {
  const { failure, show } = instance()
  if (value === undefined) return otherwise
  if (!Number.isSafeInteger(value)) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; an integer was expected`)
  }
  const n = /** @type {number} */ (value)
  if (n < least || n > most) {
    throw failure('ERR_BOUNDS', `${name} is ${n}; ${least} to ${most} was expected`)
  }
  return n
}

/** @param {any} options */
const limitOf = ({ limit }) => integerOf('limit', limit, 0, Number.MAX_SAFE_INTEGER, 1000)

/**
 * Lists this thread's blocks of bytes, the largest first. Each has the tensors on it, the lines that made them (since trace()), and
 * what else uses the bytes: buffers, files, addons, threads. Copies are listed by function and line. It reads no elements, and keeps
 * nothing alive.
 *
 * @template {MapFormat} [F='json']
 * @param {MapOptions<F>} [options]
 * @returns {F extends 'json' ? MemoryMap : string}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS a negative limit
 * @example
 * const t = zeros([2, 3])
 * memoryMap().regions.some(region => region.tensors.some(({ dtype }) => dtype === t.dtype)) // true
 */
function memoryMap(options) {
  const { optionsOf, failure, show } = instance()
  const given = optionsOf(options, ['format', 'limit'], 'memoryMap')
  const { format = 'json' } = given
  if (!FORMATS.includes(format)) {
    throw failure(
      'ERR_ARGUMENT',
      `format is ${show(format)}; one of ${FORMATS.join(', ')} was expected`,
    )
  }
  const map = takeMap(limitOf(given))
  return /** @type {any} */ (
    format === 'text' ? mapText(map) : format === 'html' ? pageOf(map) : map
  )
}

/**
 * Serves the map as a page that updates itself, on this machine only. The URL contains a secret; requests without it are refused.
 * The server does not keep the process alive.
 *
 * @param {{ port?: number | undefined, limit?: number | undefined }} [options]  port: 0, any that is free; limit: as memoryMap's
 * @returns {Promise<MapServer>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_IO the port is taken, with errno · ERR_UNSUPPORTED in a page; all as rejections
 * @example
 * const { url, close } = await serveMap()
 * url.startsWith('http://127.0.0.1:') // true
 * await close()
 */
async function serveMap(options) {
  const given = instance().optionsOf(options, ['port', 'limit'], 'serveMap')
  return serve({ port: integerOf('port', given.port, 0, 65535, 0), limit: limitOf(given) })
}

/**
 * Makes an element that shows the map, for a page to insert.
 *
 * @param {{ limit?: number | undefined }} [options]  as memoryMap's
 * @returns {MapElement} it shows the map as it is now, and anew at each refresh()
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_UNSUPPORTED outside of a page
 * @example
 * const show = () => document.body.append(mapElement())
 */
function mapElement(options) {
  const limit = limitOf(instance().optionsOf(options, ['limit'], 'mapElement'))
  if (typeof document !== 'object') {
    throw instance().failure(
      'ERR_UNSUPPORTED',
      "there is no document here to show the map in; memoryMap({ format: 'html' }) gives a page",
    )
  }
  return newElement(() => takeMap(limit))
}

if (isNode) trace() // in a page after init()

module.exports = { memoryMap, serveMap, mapElement, trace, untrace }
