'use strict'
/** What stands in a page for onnxruntime-node: a promise of onnxruntime-web, of its build for one thread of WebAssembly. */
const FOLDER = `${location.origin}/files/samebytes/node_modules/onnxruntime-web/dist/`
const load = async () => {
  const ort = await import(`${FOLDER}ort.wasm.min.mjs`)
  ort.env.wasm.wasmPaths = FOLDER
  ort.env.wasm.numThreads = 1
  return ort
}
let loading
module.exports = { then: (...args) => (loading ??= load()).then(...args) }
