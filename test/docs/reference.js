'use strict'
// Writes docs/api.md from the JSDoc of js/, docs/c-api.md from src/samebytes.h, and the table of docs/arithmetic.md from src/math/ops.def and what
// test/math/accuracy.json measured.
//
//   node test/docs/reference.js            writes them
//   node test/docs/reference.js --check    names those that are stale, and writes none

const { write } = require('../../scripts/generate/write')
const { apiPage } = require('./api-page')
const { headerPage } = require('./header-page')
const { arithmeticPage } = require('../math/accuracy')

write(
  { 'docs/api.md': apiPage, 'docs/c-api.md': headerPage, 'docs/arithmetic.md': arithmeticPage },
  'npm run docs',
)
