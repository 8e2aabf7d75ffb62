// The same functions for import as for require. Recording starts when this is loaded.
export { memoryMap, serveMap, mapElement, trace, untrace } from './inspect.js'

/** @typedef {import('./inspect.js').MemoryMap} MemoryMap */
/** @typedef {import('./inspect.js').Region} Region */
/** @typedef {import('./inspect.js').MappedTensors} MappedTensors */
/** @typedef {import('./inspect.js').Owner} Owner */
/** @typedef {import('./inspect.js').Copied} Copied */
/** @typedef {import('./inspect.js').Site} Site */
/** @typedef {import('./inspect.js').MapServer} MapServer */
/** @typedef {import('./inspect.js').MapElement} MapElement */
/** @typedef {import('./inspect.js').MapFormat} MapFormat */
/** @template {import('./inspect.js').MapFormat} [F='json'] @typedef {import('./inspect.js').MapOptions<F>} MapOptions */
