'use strict'
// Each function of arithmetic, and each dtype: the same bits on every back end and instruction set.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { childJson } = require('../setup')
const { LIST, hashes } = require('./hashes')
const { needsMath } = require('./load')

const LEVELS = process.env.SAMEBYTES_BACKEND !== 'native' ? [] : process.arch === 'arm64' ? ['scalar'] : ['scalar', 'avx2']
const SOURCE = "console.log(JSON.stringify(require('./test/math/hashes').hashes()))"

describe('hashes of arithmetic', function () {
  this.timeout(120_000)
  needsMath()
  const wanted = JSON.parse(fs.readFileSync(LIST, 'utf8'))

  it('are those of the list (node test/math/hashes.js --write makes it anew)', () => {
    assert.deepEqual(hashes(), wanted)
  })

  for (const level of LEVELS) {
    it(`are those of the list on ${level}`, async () => {
      assert.deepEqual(await childJson(SOURCE, { env: { SAMEBYTES_ISA: level } }), wanted)
    })
  }
})
