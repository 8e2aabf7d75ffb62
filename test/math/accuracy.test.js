'use strict'
// Accuracy of short floats, beside float64: all arguments of functions of one, drawn pairs of others. Of other dtypes MPFR tells (accuracy.js).
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { CLOSE, SEEN, roundedUp, shortErrors } = require('./accuracy')
const { needsMath } = require('./load')

describe('functions of float16 and bfloat16', function () {
  needsMath()

  it(`are at most ${CLOSE} units in the last place off, and as many as accuracy.json has`, () => {
    const seen = JSON.parse(fs.readFileSync(SEEN, 'utf8'))
    for (const [name, units] of Object.entries(shortErrors())) {
      assert.ok(units <= CLOSE, `${name} is ${units} units off`)
      assert.equal(roundedUp(units), seen[name].float16, name)
    }
  })
})
