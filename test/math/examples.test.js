'use strict'
// The @example of each function of samebytes/math runs, and gives what it says behind `//`.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { inspect } = require('node:util')
const samebytes = require('samebytes')
const { ROOT } = require('../setup')
const { math, needsMath } = require('./load')

const AsyncFunction = (async () => {}).constructor
const FOLDER = path.join(ROOT, 'js', 'math')
const source = fs
  .readdirSync(FOLDER)
  .filter((name) => name.endsWith('.js'))
  .map((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8'))
  .join('')
const examples = [...source.matchAll(/^ \* @example\n((?: \* .*\n)+?) \*\/$/gm)].map(([, text]) =>
  text.replace(/^ \* /gm, '').trimEnd(),
)

/** `expression // value` is compared with the value's words; other lines stay. */
const programOf = (text) =>
  text
    .split('\n')
    .map((line) => {
      const [, expression, words] = /^(?!const |let )(.+?) \/\/ (.+)$/.exec(line) ?? []
      return expression === undefined ? line : `said(${expression}, ${JSON.stringify(words)})`
    })
    .join('\n')

describe('examples of arithmetic', () => {
  needsMath()

  it('are found for every function', () => {
    const inSpaces = Object.entries(math)
      .filter(([, value]) => typeof value === 'object')
      .flatMap(([space, functions]) =>
        Object.keys(functions)
          .filter((name) => math[name] === undefined)
          .map((name) => `${space}.${name}`),
      )
    const missing = [
      ...Object.keys(math).filter(
        (name) => typeof math[name] === 'function' && !['init', 'var'].includes(name),
      ),
      ...inSpaces,
    ].filter(
      (name) =>
        !examples.some((text) => new RegExp(`\\b${name.replace('.', '\\.')}\\(`).test(text)),
    )
    assert.deepEqual(missing, [])
  })

  for (const text of examples) {
    it(text.split('\n').at(-1), async () => {
      let count = 0
      const said = (value, words) => {
        const printed = inspect(value, { breakLength: Infinity, depth: 8 })
        assert.ok(
          [printed, printed.replace(/\[ /g, '[').replace(/ \]/g, ']')].includes(words),
          `${words} was said, ${printed} came`,
        )
        count++
      }
      const { var: variance, ...others } = math // var is a word of JavaScript's
      const names = { said, ...samebytes, ...others, variance }
      await new AsyncFunction(...Object.keys(names), programOf(text))(...Object.values(names))
      assert.ok(count > 0)
    })
  }
})
