'use strict'
const assert = require('node:assert/strict')
const { askNumpy, compute, copySets } = require('../copies')
const { skipWithout } = require('../setup')

// NumPy as the oracle: random shapes, strides and dtypes, compared bit for bit, gaps included.
describe('copyFrom agrees with NumPy, bit for bit', function () {
  const sets = copySets()
  const expected = {}

  before(function () {
    skipWithout(this, 'NumPy')
    for (const [name, cases] of Object.entries(sets)) expected[name] = askNumpy(cases)
  })

  for (const [name, cases] of Object.entries(sets)) {
    for (const owned of [false, true]) {
      it(`${cases.length} ${name}, ${owned ? 'owned' : 'adopted'} memory`, () => {
        const wrong = []
        cases.forEach((one, i) => {
          const got = compute(one, owned)
          if (!got.equals(expected[name][i])) wrong.push({ one, got, expected: expected[name][i] })
        })
        const pairs = [...new Set(wrong.map(({ one }) => `${one.from} → ${one.to}`))]
        assert.equal(
          wrong.length,
          0,
          `${wrong.length} differ (${pairs.join(', ')}); the first: ${wrong.length && show(wrong[0])}`,
        )
      })
    }
  }
})

function show({ one: { srcBytes, dstBytes, ...layouts }, got, expected }) {
  const at = got.findIndex((byte, i) => byte !== expected[i])
  const hex = (buffer) => Buffer.from(buffer).subarray(0, 256).toString('hex')
  return JSON.stringify(
    {
      ...layouts,
      bytes: hex(srcBytes ?? dstBytes),
      at,
      got: hex(got.subarray(at)),
      expected: hex(expected.subarray(at)),
    },
    null,
    1,
  )
}
