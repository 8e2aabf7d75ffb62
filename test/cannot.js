'use strict'
// What a back end cannot do, or what its tests need not do again: feature → the back ends, and why. Tests name a
// feature and are skipped there (setup.js: needs, skipWithout); test/run.js counts the skips by reason.

const WASM = ['wasm', 'wasm-shared']

const CANNOT = {
  addresses: { backends: WASM, reason: 'an address needs the native addon: WASM sees its own memory only' },
  'buffers of their own': { backends: WASM, reason: 'all tensors lie in the one buffer of WASM memory' },
  'memory that can be detached': { backends: WASM, reason: 'the buffer of WASM memory cannot be transferred' },
  'memory that grows': { backends: ['native'], reason: 'the addon has no memory that grows and moves' },
  'the addon': { backends: WASM, reason: 'about the addon itself' },
  'one memory for all threads': { backends: ['native', 'wasm'], reason: 'only wasm-shared has memory that all threads see whole' },
  declarations: { backends: WASM, reason: 'the declarations do not depend on the back end: compiled once, on native' }
}

module.exports = { CANNOT }
