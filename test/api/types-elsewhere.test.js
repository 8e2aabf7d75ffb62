'use strict'
// The declarations, compiled with what older programs have around them, and those without a browser: test/types/*.mts and .cts.
const assert = require('node:assert/strict')
const { declared } = require('../declarations')
const { skipWithout } = require('../setup')

const SURROUNDINGS = {
  'lib es2022 and dom': { target: 'es2022', lib: ['es2022', 'dom'] },
  'lib es2022 and the types of Node.js': { target: 'es2022', lib: ['es2022'], types: ['node'] }
}

describe('types elsewhere', function () {
  this.timeout(300_000)
  let programs

  before(async function () {
    skipWithout(this, 'declarations')
    programs = await declared()
  })

  after(() => { programs?.dispose() })

  for (const [title, surroundings] of Object.entries(SURROUNDINGS)) {
    it(`compile with ${title}, and what must not compile does not`, async () => {
      assert.equal(await programs.complaints(surroundings), '')
    })
  }
})
