// The same functions for import as for require. Recording starts when this is loaded.
export { memoryMap, serveMap, mapElement, trace, untrace } from './inspect.js'
