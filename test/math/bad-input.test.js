'use strict'
// Wrong values in every place of every elementwise function: a typed error that names the argument, and nothing has changed.
const assert = require('node:assert/strict')
const { ofMath } = require('../signatures')
const { acceptsRight, refusesAll } = require('../refusals')
const { math, needsMath, rows } = require('./load')

describe('wrong values of arithmetic', function () {
  this.timeout(60_000)
  needsMath()

  it('each row of the list is a function', () => {
    assert.deepEqual(rows.filter(({ js }) => typeof math[js] !== 'function' || math[js].name !== js), [])
  })

  for (const each of rows) {
    const row = { args: ofMath(each) }
    const call = args => math[each.js](...args)
    it(`of ${each.js} are refused, and leave nothing behind`, () => refusesAll(row, call))
    it(`of ${each.js}: right ones work, of every realm and through Proxies`, () => acceptsRight(row, call))
  }
})
