'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { CLASSES, ROOT, skipWithout } = require('../setup')

const read = (file) => fs.readFileSync(path.join(ROOT, file), 'utf8')

/** [code, class, meaning] of C's list, in its order. */
function listed() {
  const [, body] = /#define SB_ERRORS\(X\)([\s\S]*?\n)(?=[^ ])/.exec(read('src/samebytes.h'))
  return [...body.matchAll(/X\((\w+), (\w+), "([^"]*)"\)/g)].map((match) => [
    `ERR_${match[1]}`,
    match[2],
    match[3],
  ])
}

/** What stands between these parentheses of a source: its string literals, and what is put together of them. */
function* callsIn(source, name) {
  for (const match of source.matchAll(new RegExp(`(?<!function )\\b${name}\\s*\\(`, 'g'))) {
    const texts = []
    let at = match.index + match[0].length
    for (let depth = 1; depth > 0 && at < source.length; at++) {
      const c = source[at]
      if (c === '(') depth++
      else if (c === ')') depth--
      else if (c === '"' || c === "'" || c === '`') {
        const from = ++at
        for (; source[at] !== c; at++) if (source[at] === '\\') at++
        texts.push(source.slice(from, at))
      }
    }
    yield texts
  }
}

/** Every message: { file, text }; what is put in is '#'. */
function messages() {
  const found = []
  for (const file of fs
    .readdirSync(path.join(ROOT, 'js'), { recursive: true })
    .filter((name) => name.endsWith('.js'))) {
    for (const [code, ...texts] of callsIn(read(`js/${file}`), 'failure')) {
      if (!/^ERR_/.test(code ?? '')) continue
      for (const text of texts) {
        if (!text.startsWith('ERR_')) {
          found.push({
            file: `js/${file}`,
            text: text.replace(/\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, '#'),
          })
        }
      }
    }
  }
  for (const file of fs
    .readdirSync(path.join(ROOT, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.c'))) {
    for (const texts of callsIn(read(`src/${file}`), 'sb__fail')) {
      if (texts.length > 0) {
        found.push({
          file: `src/${file}`,
          text: texts.join('').replace(/%(\.\d+)?(ll|z|l)?[a-z]/g, '#'),
        })
      }
    }
  }
  return found
}

describe('the messages of errors', () => {
  before(function () {
    skipWithout(this, "the package's sources")
  })

  it('are explained, code by code, in docs/errors.md', () => {
    const page = read('docs/errors.md')
    const rows = page
      .split('\n')
      .filter((line) => line.startsWith('| `ERR_'))
      .map((line) =>
        line
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.replaceAll('`', '')),
      )
    assert.deepEqual(rows, listed())
    const sections = page
      .split(/^#+ /m)
      .filter((text) => text.startsWith('`ERR_'))
      .map((text) => text.trim().split('\n'))
    assert.deepEqual(
      sections.map(([heading]) => heading.replaceAll('`', '')),
      listed().map(([code]) => code),
    )
    for (const [heading, ...lines] of sections) {
      const [, causes, remedies, ...rest] = lines
      assert.match(causes, /^- \*\*Causes:\*\* .*\w{2}/, heading)
      assert.match(remedies, /^- \*\*What to do:\*\* .*\w{2}/, heading)
      assert.equal(rest.length, 0, heading)
    }
    const [, union] = /@typedef \{(.*)\} ErrorCode \*\//.exec(read('js/base/errors.js'))
    const [, overNats] = page.split('\n## Over NATS\n')
    const ofNats = [...overNats.matchAll(/^- `(ERR_\w+)`/gm)].map(([, code]) => code)
    assert.equal(ofNats.length, 7)
    assert.deepEqual(
      union.replaceAll("'", '').split(' | '),
      [...listed().map(([code]) => code), ...ofNats],
      'the type ErrorCode',
    )
    assert.deepEqual(
      Object.keys(CLASSES).sort(),
      listed()
        .map(([code]) => code)
        .sort(),
    )
  })

  it('are in one voice', () => {
    const all = messages()
    assert.ok(all.length > 500, String(all.length))
    const faults = []
    for (const { file, text } of all) {
      const fault =
        /\b(invalid|illegal|bad|wrong|must|should|please|sorry|oops|failed to|unable|can't|don't|isn't)\b/i.exec(
          text,
        )?.[0] ??
        (/[.!]$/.test(text) && !/\.\.\.$/.test(text) ? 'its end' : null) ??
        (/^[A-Z](?![A-Z]|\w*[A-Z.])/.test(text) && !/^([A-Z] |JavaScript|Shared)/.test(text)
          ? 'its begin'
          : null) ??
        (/\\n/.test(text) ? 'a line break' : null)
      if (fault !== null) faults.push(`${file}: ${fault}: ${text}`)
    }
    assert.deepEqual(faults, [])
  })
})
