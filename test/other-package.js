'use strict'
// Pages have test/browser/other-package.js in this file's place.
const path = require('node:path')

let other

/** A second copy of the package, which knows nothing of the first: on WASM, where copies share nothing. */
function otherPackage () {
  if (other !== undefined) return other
  const folder = path.dirname(require.resolve('samebytes'))
  const mine = Object.keys(require.cache).filter(file => file.startsWith(folder))
  const kept = mine.map(file => [file, require.cache[file]])
  const backend = process.env.SAMEBYTES_BACKEND
  for (const file of mine) delete require.cache[file]
  process.env.SAMEBYTES_BACKEND = 'wasm'
  try {
    other = require('samebytes')
  } finally {
    if (backend === undefined) delete process.env.SAMEBYTES_BACKEND
    else process.env.SAMEBYTES_BACKEND = backend
    for (const [file, module] of kept) require.cache[file] = module
  }
  return other
}

module.exports = { otherPackage }
