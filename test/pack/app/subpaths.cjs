'use strict'
const wasm = require('node:fs').readFileSync(require.resolve('samebytes/samebytes.wasm'))
if (!WebAssembly.validate(wasm)) throw new Error('samebytes.wasm is not valid')
for (const name of ['shared', 'math', 'math-shared', 'algorithms', 'algorithms-shared']) {
  require.resolve(`samebytes/samebytes-${name}.wasm`)
}
const { memoryMap } = require('samebytes/inspect')
const t = require('samebytes').tensor([1, 2])
const { site } = memoryMap().regions.find(({ tensors }) => tensors[0].size === t.size)
if (site.call !== 'tensor' || site.line !== 8) {
  throw new Error(`a tensor was made by ${JSON.stringify(site)}`)
}
require.resolve('samebytes/onnxruntime')
require('samebytes/package.json')
if (
  require('samebytes/math')
    .add(require('samebytes').tensor([1, 2]), 3)
    .toArray()
    .join() !== '4,5'
) {
  throw new Error('samebytes/math does not add')
}
const fs = require('node:fs')
const { include, library } = require('samebytes/native')
for (const header of [
  'samebytes.h',
  'samebytes_napi.h',
  'samebytes_torch.h',
  'samebytes_dlpack.h',
]) {
  fs.accessSync(include + '/' + header)
}
if (!library.endsWith('.so.1')) throw new Error(`library is ${library}`)
fs.accessSync(library)
