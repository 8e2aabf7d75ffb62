'use strict'
const assert = require('node:assert/strict')
const { backend } = require('samebytes')
const { childJson } = require('../setup')

// Each is thrown by a deleter; what the process warning must say.
const THROWN = {
  'an Error': ["new Error('mine')", /a deleter threw: Error: mine/],
  'a Symbol': ["Symbol('odd')", /a deleter threw: Symbol\(odd\)/],
  null: ['null', /a deleter threw: null/],
  undefined: ['undefined', /a deleter threw: undefined/],
  'a number': ['5', /a deleter threw: 5/],
  'an object whose toString throws': [
    "({ toString () { throw new Error('again') } })",
    /a deleter threw: something/,
  ],
  'an object without a prototype': ['Object.create(null)', /a deleter threw: something/],
  'an Error whose stack getter throws': [
    "Object.defineProperty(new Error('x'), 'stack', { get () { throw new Error('again') } })",
    /a deleter threw: something/,
  ],
  'an Error whose stack is a Symbol': [
    "Object.assign(new Error('x'), { stack: Symbol('stack') })",
    /a deleter threw: Symbol\(stack\)/,
  ],
  'a Proxy that throws whatever it is asked': [
    "new Proxy({}, new Proxy({}, { get () { throw new Error('trap') } }))",
    /a deleter threw: something/,
  ],
  'a revoked Proxy': [
    '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()',
    /a deleter threw: something/,
  ],
}

describe('a deleter of a float32 blob that throws', function () {
  let results
  before(async () => {
    results = await childJson(
      `
      const { empty, flush, fromBlob, full, memory } = require('samebytes')
      const warnings = []
      process.removeAllListeners('warning')
      process.on('warning', warning => warnings.push(String(warning.name) + ' ' + warning.message))
      async function run (thrown) {
        const before = memory().deleterErrors
        const from = warnings.length
        let ran = 0
        fromBlob(new Float32Array(4), [4], { deleter () { ran++; throw thrown } }).dispose()
        fromBlob(new Float32Array(4), [4], { deleter () { ran += 10 } }).dispose()
        await flush()
        await new Promise(resolve => setImmediate(resolve))
        return { ran, counted: memory().deleterErrors - before, warnings: warnings.slice(from), works: full([2], 3).get(1) }
      }
      async function main () {
        const results = []
        for (const make of [${Object.values(THROWN)
          .map(([source]) => `() => ${source}`)
          .join(', ')}]) results.push(await run(make()))
        console.log(JSON.stringify(results))
      }
      main()
    `,
      { env: { SAMEBYTES_BACKEND: backend() } },
    )
  })

  for (const [i, [name, [, text]]] of Object.entries(THROWN).entries()) {
    it(`${name} becomes a process warning and is counted; the process goes on`, () => {
      const { ran, counted, warnings, works } = results[i]
      assert.equal(ran, 11)
      assert.equal(counted, 1)
      assert.equal(warnings.length, 1)
      assert.match(warnings[0], /^SamebytesWarning /)
      assert.match(warnings[0], text)
      assert.equal(works, 3)
    })
  }
})
