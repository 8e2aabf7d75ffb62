'use strict'
// samebytes/math, and its list of functions.
const { readRows } = require('../../scripts/generate/math-functions')
const { skip } = require('../setup')

/** null where this back end has no arithmetic yet; then tests are skipped. */
function load() {
  try {
    return require('samebytes/math')
  } catch (error) {
    if (error.code !== 'ERR_UNSUPPORTED' || process.env.SAMEBYTES_BACKEND === 'native') throw error
    return null
  }
}

const math = load()

/** Skips all tests of a suite where there is no arithmetic. */
function needsMath() {
  before(function () {
    if (math === null) skip(this, 'this back end has no arithmetic')
  })
}

/** How many of so many random cases run: all with SAMEBYTES_FULL=1. */
const some = (n) => (process.env.SAMEBYTES_FULL === '1' ? n : Math.ceil(n / 6))

module.exports = { math: math ?? {}, needsMath, some, rows: readRows() }
