'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const samebytes = require('samebytes')
const { childJson, needs, skipWithout } = require('../setup')

const ROOT = path.join(__dirname, '..', '..')
const read = (file) => fs.readFileSync(path.join(ROOT, file), 'utf8')

/** The rows of all tables of a page: { column: cell }. */
function rowsOf(page) {
  const rows = []
  let columns = null
  for (const line of page.split('\n')) {
    const cells = line.startsWith('| ')
      ? line
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.trim())
      : null
    if (cells === null || /^-+$/.test(cells[0])) {
      if (cells === null) columns = null
    } else if (columns === null) columns = cells
    else rows.push(Object.fromEntries(cells.map((cell, i) => [columns[i], cell])))
  }
  return rows
}

/** The tests that show what rows of a page say, by the row's first cell: test/docs/shown-by.txt. @returns {Map<string, string[]>} */
function shownBy(page) {
  const [section] = read('test/docs/shown-by.txt')
    .split(/^== /m)
    .filter((text) => text.startsWith(`${page}\n`))
  const entries = section
    .split(/^-- /m)
    .slice(1)
    .map((text) => text.trim().split('\n'))
  const named = new Map(entries.map(([first, ...tests]) => [first, tests]))
  assert.equal(named.size, entries.length, `${page}: entries of test/docs/shown-by.txt differ`)
  assert.ok(
    entries.every(([, ...tests]) => tests.length > 0),
    `${page}: each entry names a test`,
  )
  return named
}

/** Each row has an entry, and each entry a row. */
function checkRows(page, rows) {
  assert.deepEqual(
    [...shownBy(page).keys()].sort(),
    rows.map((row) => Object.values(row)[0]).sort(),
  )
}

/** What entries name, as [file, …titles]. */
const namedBy = (page) => [...shownBy(page).values()].flat().map((text) => text.split(' › '))

const snippets = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1])

/** Names that a snippet of JavaScript calls or reads: { functions, members }; what stands in strings and objects is none. */
function namesIn(snippet) {
  const code = snippet.replace(/'[^']*'/g, '""')
  return {
    functions: [...code.matchAll(/(?<![\w.])(?:new )?([A-Za-z]\w*)\(/g)].map((match) => match[1]),
    members: [...code.matchAll(/\.([A-Za-z]\w*)/g)].map((match) => match[1]),
  }
}

/** The titles of all tests in test files of mocha, by file. */
function mochaTitles(files) {
  return childJson(
    `
    const Mocha = require('mocha')
    const titles = {}
    for (const file of ${JSON.stringify(files)}) {
      const mocha = new Mocha()
      mocha.addFile(file)
      mocha.loadFiles()
      const list = titles[file] = []
      const walk = suite => { for (const test of suite.tests) list.push(test.title); suite.suites.forEach(walk) }
      walk(mocha.suite)
    }
    console.log(JSON.stringify(titles))
  `,
    { flags: ['--expose-gc'] },
  )
}

/** The titles in a C program: test("…" "…", …). */
function cTitles(file) {
  return [...read(file).matchAll(/\btest\(((?:\s*"(?:[^"\\]|\\.)*")+)/g)].map(([, strings]) =>
    [...strings.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]).join(''),
  )
}

/** The one file of that name. */
function fileOf(name) {
  const found = ['test/api', 'test/native', 'test/browser', 'test/c']
    .map((folder) => `${folder}/${name}`)
    .filter((file) => fs.existsSync(path.join(ROOT, file)))
  assert.equal(found.length, 1, `${name}: ${found.length} files`)
  return found[0]
}

describe('docs/from-executorch-and-torch.md', function () {
  const rows = rowsOf(read('docs/from-executorch-and-torch.md'))

  it('has its tables', () => {
    assert.ok(rows.length > 60, `${rows.length} rows`)
    for (const row of rows) {
      assert.equal(Object.keys(row).length, 3, JSON.stringify(row))
      assert.ok(
        Object.values(row).every((cell) => cell !== ''),
        JSON.stringify(row),
      )
    }
    checkRows('docs/from-executorch-and-torch.md', rows)
  })

  it('names functions and members that the package has', () => {
    const builder = Object.getPrototypeOf(samebytes.forBlob(new Float32Array(1)))
    const known = new Set([samebytes.Tensor.prototype, builder].flatMap(Object.getOwnPropertyNames))
    let checked = 0
    for (const { JavaScript } of rows) {
      for (const snippet of snippets(JavaScript)) {
        const { functions, members } = namesIn(snippet)
        for (const name of functions) {
          assert.equal(typeof samebytes[name], 'function', `${name} of ${snippet}`)
        }
        for (const name of members) assert.ok(known.has(name), `${name} of ${snippet}`)
        checked += functions.length + members.length
      }
    }
    assert.ok(checked > 100, `${checked} names`)
  })

  it('names what src/samebytes.h declares', () => {
    const header = read('src/samebytes.h').replace(/\/\*[^]*?\*\//g, '') // comments declare nothing
    const dtypes = [...header.matchAll(/^ X\((\w+), \w+, "/gm)].map((match) => `SB_${match[1]}`)
    const known = new Set(
      [...header.matchAll(/\b(sb_\w+|SB_\w+)\b/g)].map((match) => match[1]).concat(dtypes),
    )
    let checked = 0
    for (const row of rows) {
      for (const [name] of row.C.matchAll(/\b(?:sb_|SB_)\w+/g)) {
        assert.ok(known.has(name), `${name} in ${row.C}`)
        checked++
      }
    }
    assert.ok(checked > 60, `${checked} names`)
  })

  it('names tests that are there', async function () {
    skipWithout(this, 'a Node of its own')
    const named = namedBy('docs/from-executorch-and-torch.md')
    const files = [...new Set(named.map(([file]) => file))].map(fileOf)
    const titles = await mochaTitles(
      files.filter((file) => file.endsWith('.js')).map((file) => path.join(ROOT, file)),
    )
    for (const [name, ...rest] of named) {
      const file = fileOf(name)
      const there = file.endsWith('.c') ? cTitles(file) : titles[path.join(ROOT, file)]
      assert.ok(there.includes(rest.join(' › ')), `${name} has no test '${rest.join(' › ')}'`)
    }
  })
})

describe('docs/camera-canvas-audio.md', function () {
  needs("the package's sources")
  const rows = rowsOf(read('docs/camera-canvas-audio.md'))

  it('names tests that are there', async () => {
    assert.ok(rows.length > 15, `${rows.length} rows`)
    checkRows('docs/camera-canvas-audio.md', rows)
    const named = namedBy('docs/camera-canvas-audio.md')
    const files = [...new Set(named.map(([file]) => path.join(ROOT, fileOf(file))))]
    const titles = await mochaTitles(files)
    for (const [name, ...rest] of named) {
      assert.ok(
        titles[path.join(ROOT, fileOf(name))].includes(rest.join(' › ')),
        `${name} has no test '${rest.join(' › ')}'`,
      )
    }
  })
})

/** Arithmetic; null where the back end has none. */
function mathOrNull() {
  try {
    return require('samebytes/math')
  } catch (error) {
    if (error.code !== 'ERR_UNSUPPORTED') throw error
    return null
  }
}

describe('docs/coming-from.md', () => {
  const rows = rowsOf(read('docs/coming-from.md')).filter((row) => 'here' in row) // not the table of what was renamed

  it('names functions and members that the package has', () => {
    const { Module } = require('samebytes/module')
    const math = mathOrNull()
    const builder = Object.getPrototypeOf(samebytes.forBlob(new Float32Array(1)))
    const known = new Set(
      [samebytes.Tensor.prototype, builder, Module.prototype, Module].flatMap(
        Object.getOwnPropertyNames,
      ),
    )
    let checked = 0
    for (const { here } of rows) {
      for (const snippet of snippets(here)) {
        const { functions, members } = namesIn(snippet)
        const ofMath = [...snippet.matchAll(/\bmath\.((?:linalg\.)?\w+)/g)].flatMap(([, name]) =>
          name.split('.'),
        )
        for (const name of math === null ? [] : ofMath) {
          assert.equal(
            typeof (math[name] ?? math.linalg[name]),
            name === 'linalg' ? 'object' : 'function',
            `${name} of ${snippet}`,
          )
        }
        for (const name of functions) {
          assert.equal(typeof samebytes[name], 'function', `${name} of ${snippet}`)
        }
        for (const name of members) {
          assert.ok(
            known.has(name) || ofMath.includes(name) || snippet === 'fromOrt(results.output)',
            `${name} of ${snippet}`,
          )
        }
        checked += functions.length + members.length
      }
    }
    assert.ok(rows.length > 50 && checked > 120, `${rows.length} rows, ${checked} names`)
  })

  it('calls them as they are called', async () => {
    const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
    const elsewhere = /module|Module|\bort\b|image|toImageData|path\b|url\b|results|init\(|dataPtr/ // a model, a page, a file, a server, an address
    const math = mathOrNull()
    let ran = 0
    const failures = []
    for (const { here } of rows) {
      for (const snippet of snippets(here).filter(
        (snippet) =>
          !elsewhere.test(snippet) &&
          (math !== null || !/\bmath\./.test(snippet)) &&
          /[(.]/.test(snippet),
      )) {
        const named = {
          ...samebytes,
          math,
          t: samebytes
            .arange(0, 16, 1, 'float32')
            .view(
              /channels_last/.test(snippet)
                ? [2, 2, 2, 2]
                : /2, 0, 1/.test(snippet)
                  ? [4, 2, 2]
                  : [4, 4],
            ),
          u: samebytes.ones([4, 4]),
          s: /strides\(s\)/.test(snippet) ? [1] : [16],
          x: /fill|set\(/.test(snippet)
            ? 1
            : /int32/.test(snippet)
              ? new Int32Array(16)
              : new Float32Array(16),
          a: new Float32Array(4),
          b: Buffer.alloc(16),
          data: new Float32Array(16),
          dims: [4, 4],
          shape: /forBlob|dtype: 'int32' }|resize|broadcastTo|asStrided|fromBlob/.test(snippet)
            ? [4, 4]
            : [2, 3],
          strides: [4, 1],
          offset: 0,
          value: 1,
          v: samebytes.tensor([1, 2]),
          indices: /takeAlongAxis/.test(snippet) ? samebytes.zeros([4, 4], 'int32') : [0, 2],
          mask: samebytes.ones([4, 4], 'bool'),
          edges: samebytes.tensor([4, 8, 12]),
          i: 1,
          j: 2,
          fn: () => samebytes.zeros([2]),
        }
        if (/forBlob/.test(snippet)) Object.assign(named, { shape: [16] })
        if (/\.item\(/.test(snippet)) named.t = samebytes.tensor(1)
        if (/searchsorted|bincount/.test(snippet)) named.t = samebytes.arange(4)
        if (/linalg/.test(snippet)) named.t = samebytes.eye(4)
        ran++
        await new AsyncFunction(...Object.keys(named), `return (${snippet})`)(
          ...Object.values(named),
        ).catch((error) => failures.push(`${snippet}: ${error.message}`))
      }
    }
    assert.deepEqual(failures, [])
    assert.ok(ran > 90, `${ran} snippets`)
  })
})

describe('docs/neighbours.md, docs/running-a-model.md and docs/dlpack.md', function () {
  needs("the package's sources")
  const rows = rowsOf(read('docs/running-a-model.md')).filter((row) => 'Shown by' in row)

  it('name tests that are there', async () => {
    checkRows('docs/neighbours.md', rowsOf(read('docs/neighbours.md')))
    const named = [
      ...rows.flatMap((row) => row['Shown by'].split('<br>').map((text) => text.split(' › '))),
      ...namedBy('docs/neighbours.md'),
      ...namedBy('docs/dlpack.md'),
    ]
    assert.ok(named.length > 30, `${named.length} tests`)
    const files = [...new Set(named.map(([file]) => path.join(ROOT, fileOf(file))))]
    const titles = await mochaTitles(files)
    // Titles repeat from package to package, so the suite's is named as well.
    for (const [name, ...rest] of named) {
      assert.ok(
        titles[path.join(ROOT, fileOf(name))].includes(rest.at(-1)),
        `${name} has no test '${rest.join(' › ')}'`,
      )
      if (rest.length > 1) {
        assert.ok(
          read(fileOf(name)).includes(`describe('${rest[0]}'`),
          `${name} has no suite '${rest[0]}'`,
        )
      }
    }
  })
})

describe('docs/examples.md', () => {
  needs("the package's sources")

  it('names programs and tests that are there', () => {
    const rows = rowsOf(read('docs/examples.md'))
    const { scripts } = JSON.parse(read('package.json'))
    assert.ok(rows.length >= 8, `${rows.length} rows`)
    for (const row of rows) {
      const by = snippets(row['run it']).map((snippet) => {
        const [, script] = /^npm run ([\w:]+)$/.exec(snippet) ?? []
        const [, file] = /^node test\/run\.js (\S+)$/.exec(snippet) ?? []
        if (script !== undefined) assert.ok(script in scripts, snippet)
        else assert.ok(file !== undefined && fs.existsSync(path.join(ROOT, file)), snippet)
        return snippet
      })
      assert.ok(by.length > 0, JSON.stringify(row))
    }
  })
})

describe('src/samebytes.h', () => {
  const header = read('src/samebytes.h')
  const functions = [
    ...header.matchAll(
      /(\/\*(?:(?!\*\/)[^])*\*\/)?\n((?:SB_CHECKED )?SB_API [^;{]*?\b(sb_\w+)\([^]*?\);)/g,
    ),
  ]

  it('declares functions', () => {
    assert.equal(functions.length, header.match(/^(?:SB_CHECKED )?SB_API /gm).length)
    assert.ok(functions.length > 60, `${functions.length} functions`)
  })

  for (const [, comment, declaration, name] of functions) {
    it(`explains ${name}`, () => {
      assert.ok(comment, `${name} has no comment`)
      assert.match(comment, /^\/\* "?[A-Z]\S* \S+/, `${name} begins with what it does`)
      const canFail = / sb_status (?=sb_)/.test(declaration)
      assert.equal(
        declaration.startsWith('SB_CHECKED'),
        canFail,
        `${name} is checked where it can fail`,
      )
      if (canFail) assert.match(comment, /\n \* Errors {2}\S/, `${name} says how it fails`)
      else assert.doesNotMatch(comment, /\n \* Errors /, `${name} cannot fail`)
    })
  }
})
