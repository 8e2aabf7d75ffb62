'use strict'
// samebytes/inspect: maps of memory, with what shares it. Loading this starts to record where tensors and copies are made.

const { memoryMap, serveMap, mapElement, trace, untrace } = require('./inspect/public')

/** @typedef {import('./inspect/map').MemoryMap} MemoryMap */
/** @typedef {import('./inspect/map').Region} Region */
/** @typedef {import('./inspect/map').MappedTensors} MappedTensors */
/** @typedef {import('./inspect/map').Owner} Owner */
/** @typedef {import('./inspect/map').Copied} Copied */
/** @typedef {import('./inspect/sites').Site} Site */
/** @typedef {import('./inspect/serve').MapServer} MapServer */
/** @typedef {import('./inspect/element').MapElement} MapElement */
/** @typedef {import('./inspect/public').MapFormat} MapFormat */
/** @template {import('./inspect/public').MapFormat} [F='json'] @typedef {import('./inspect/public').MapOptions<F>} MapOptions */

module.exports = { memoryMap, serveMap, mapElement, trace, untrace }
