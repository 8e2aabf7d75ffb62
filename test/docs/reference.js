'use strict'
// Writes docs/api.md from the JSDoc of js/, and docs/c-api.md from src/samebytes.h.
//
//   node test/docs/reference.js            writes both
//   node test/docs/reference.js --check    says which is stale, and writes none

const fs = require('node:fs')
const path = require('node:path')
const { apiPage } = require('./api-page')
const { headerPage } = require('./header-page')

const ROOT = path.join(__dirname, '..', '..')

const PAGES = { 'docs/api.md': apiPage, 'docs/c-api.md': headerPage }

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
