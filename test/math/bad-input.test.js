'use strict'
// Wrong values in every place of every function: a typed error that names the argument, and nothing has changed.
const assert = require('node:assert/strict')
const { MATH, ofMath } = require('../signatures')
const { acceptsRight, refusesAll } = require('../refusals')
const { math, needsMath, rows } = require('./load')

describe('wrong values of arithmetic', function () {
  this.timeout(60_000)
  needsMath()

  it('each row of the list is a function', () => {
    assert.deepEqual(rows.filter(({ js }) => typeof math[js] !== 'function'), [])
  })

  it('each function has its own name', () => {
    assert.deepEqual(Object.entries(math).filter(([name, fn]) => fn.name !== name), [])
  })

  it('each other function has a row in test/signatures.js, but asynchronous ones', () => {
    const own = rows.map(({ js }) => js).concat('init')
    assert.deepEqual(Object.keys(MATH).sort(), Object.keys(math).filter(name => !own.includes(name) && !name.endsWith('Async')).sort())
  })

  const functions = rows.map(row => [row.js, ofMath(row)]).concat(Object.entries(MATH))
  for (const [name, args] of functions) {
    const call = list => math[name](...list)
    it(`of ${name} are refused, and leave nothing behind`, () => refusesAll({ args }, call))
    it(`of ${name}: right ones work, of every realm and through Proxies`, () => acceptsRight({ args }, call))
  }
})
