'use strict'
// Writes docs/api.md from the JSDoc of js/, docs/c-api.md from src/samebytes.h, js/math/functions.js, js/math/async.js, js/math.js, js/math.mjs and
// the table of docs/arithmetic.md from src/math/ops.def.
//
//   node test/docs/reference.js            writes them
//   node test/docs/reference.js --check    says which is stale, and writes none

const fs = require('node:fs')
const path = require('node:path')
const { apiPage } = require('./api-page')
const { headerPage } = require('./header-page')
const { arithmeticPage } = require('../math/accuracy')
const { mathFunctions, mathLater, mathEntry, mathModule } = require('./math-functions')

const ROOT = path.join(__dirname, '..', '..')

// The functions first: the reference has them.
const PAGES = { 'js/math/functions.js': mathFunctions, 'js/math/async.js': mathLater, 'js/math.js': mathEntry, 'js/math.mjs': mathModule, 'docs/api.md': apiPage, 'docs/c-api.md': headerPage, 'docs/arithmetic.md': arithmeticPage }

const isCheck = process.argv.includes('--check')
for (const [file, make] of Object.entries(PAGES)) {
  const place = path.join(ROOT, file)
  const text = make()
  const there = fs.existsSync(place) ? fs.readFileSync(place, 'utf8') : ''
  if (text === there) continue
  if (isCheck) {
    console.error(`${file} is stale; npm run docs writes it anew`)
    process.exitCode = 1
  } else {
    fs.writeFileSync(place, text)
    console.log(`${file}: ${text.split('\n').length} lines`)
  }
}
