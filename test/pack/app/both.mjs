// import and require give one instance.
import { createRequire } from 'node:module'
import * as esm from 'samebytes'
import { Module } from 'samebytes/module'
const require = createRequire(import.meta.url)
const cjs = require('samebytes')
for (const name of Object.keys(cjs)) {
  if (esm[name] !== cjs[name]) throw new Error(`${name} is not the same in both`)
}
if (Module !== require('samebytes/module').Module) throw new Error('Module is not the same in both')
