'use strict'
// Every code block of README.md and docs/ runs, in its own language, and prints what it says.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { ROOT, nativeOnly, skipWithout } = require('../setup')
const {
  ELSEWHERE,
  LANGUAGES,
  REASONS,
  blocksOf,
  directivesOf,
  missing,
  pages,
  parse,
  programs,
} = require('../docs/blocks')
const {
  compile,
  runPython,
  runScript,
  runShell,
  typeErrors,
  wrongCommand,
} = require('../docs/run-blocks')

const SCRIPTS = ['js', 'mjs', 'cjs', 'ts']
const list = pages()
const blocks = list.filter((page) => !(page in ELSEWHERE)).flatMap(blocksOf)
const isRun = (block) => block.reason === null && !block.browser
const named = (program) => ({
  ...program,
  name: `${path.basename(program.page, '.md')}-${program.line}`,
})

/** By page, as what continues a block continues one of its page. */
const programsIn = (languages, which) =>
  list
    .flatMap((page) =>
      programs(
        blocks.filter(
          (block) => block.page === page && languages.includes(block.language) && which(block),
        ),
      ),
    )
    .map(named)

const scripts = programsIn(['js', 'mjs', 'cjs'], isRun)
const python = programsIn(['py', 'python'], isRun)
const inC = programsIn(['c'], isRun)
const inCpp = programsIn(['cpp'], isRun)

/** The folder of node_api.h, as scripts/build finds it. */
function nodeHeaders() {
  const beside = path.join(
    path.dirname(path.dirname(fs.realpathSync(process.execPath))),
    'include',
    'node',
  )
  const cached = path.join(
    ROOT,
    'node_modules',
    '.cache',
    `node-headers-${process.versions.node.split('.')[0]}`,
    'include',
    'node',
  )
  const gyp = path.join(
    require('node:os').homedir(),
    '.cache',
    'node-gyp',
    process.versions.node,
    'include',
    'node',
  )
  const found = [beside, cached, gyp].find((place) => fs.existsSync(path.join(place, 'node_api.h')))
  assert.ok(found, "Node's headers are not there; bash scripts/build finds them")
  return found
}

describe('the code blocks of README.md and docs/', function () {
  nativeOnly()
  let folder

  before(() => {
    fs.mkdirSync(path.join(ROOT, 'build'), { recursive: true })
    folder = fs.mkdtempSync(path.join(ROOT, 'build', 'docs-')) // in the package, so that it finds itself
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })

  it('are in languages that are known, and none is left out without a reason', () => {
    for (const { page, line, language, reason, browser, code } of blocks) {
      const where = `${page}:${line}`
      assert.ok(LANGUAGES.includes(language), `${where}: a block of ${language || 'no language'}`)
      if (reason !== null) {
        assert.ok(
          REASONS.some((known) => known.test(reason)),
          `${where}: "${reason}" is no reason that is known`,
        )
      }
      const part = /^a part of ((?:test|examples)\/\S+)/.exec(reason ?? '')
      if (part !== null) {
        const text = fs.readFileSync(path.join(ROOT, part[1]), 'utf8').replace(/\s+/g, '')
        assert.ok(text.includes(code.replace(/\s+/g, '')), `${where} is not in ${part[1]}`)
      }
      if (language === 'html' || browser) {
        assert.ok(browser && [...SCRIPTS, 'html'].includes(language), where)
      }
    }
    assert.ok(scripts.length >= 20, `${scripts.length} programs`)
    for (const [page, file] of Object.entries(ELSEWHERE)) {
      assert.ok(list.includes(page) && fs.existsSync(path.join(ROOT, file)), page)
    }
  })

  it('fail where they print something else, and comments that are none are refused', () => {
    const [one] = programs(
      parse('```js\nconsole.log(1) // 2\nconsole.log(3)\n// 3\n```\n', 'here', new Map()),
    )
    assert.deepEqual(one.printed, ['2', '3'])
    assert.equal(missing(one.printed, '1\n3\n'), '2')
    assert.equal(missing(one.printed, '2\n3\n'), null)
    assert.equal(missing(one.printed, '3\n2\n'), '3')
    assert.throws(() => directivesOf('== here · Title\n-- skip\n'), /unknown: skip/)
    const said = directivesOf('== here · Title · 2\n-- before\none\n\n-- browser\n')
    assert.deepEqual(
      parse('# Title\n```js\n```\nwords\n```js\n```\n', 'here', said).map(
        ({ line, before, browser }) => [line, before, browser],
      ),
      [
        [2, '', false],
        [5, 'one\n', true],
      ],
    )
    assert.throws(
      () => parse('# Title\n```js\n```\n', 'here', said),
      /no such block: here · Title · 2/,
    )
  })

  it('have the right types', () => {
    const all = programsIn(SCRIPTS, (block) => block.reason === null)
    const isTypeScript = new Set(
      blocks
        .filter((block) => block.language === 'ts')
        .map((block) => `${path.basename(block.page, '.md')}-${block.line}`),
    )
    const place = fs.mkdtempSync(path.join(folder, 'types-'))
    const complaints = typeErrors(
      all.map((program) => ({ ...program, isTypeScript: isTypeScript.has(program.name) })),
      place,
    )
    const wrong = [...complaints].filter(([, messages]) => messages.length > 0)
    assert.deepEqual(
      wrong.map(([name, messages]) => `${name}: ${messages.join('\n  ')}`).join('\n'),
      '',
    )
  })

  for (const { page, line, name, source, printed } of scripts) {
    it(`${page}:${line} runs`, async function () {
      if (/\bstartServer\b/.test(source)) skipWithout(this, 'nats-server')
      if (/\bpython3\b/.test(source)) skipWithout(this, 'Python')
      if (/[^.\w]fetch\(/.test(source)) skipWithout(this, 'fetch from servers')
      if (/\bfrom 'sharp'/.test(source)) skipWithout(this, 'sharp')
      if (/\bsent\.host\b/.test(source)) skipWithout(this, 'paths of descriptors')
      const { code, stdout, output } = await runScript(source, name, folder)
      assert.equal(code, 0, output)
      assert.equal(missing(printed, stdout), null, `this was not printed; what was:\n${stdout}`)
    })
  }

  for (const { page, line, name, source, printed } of python) {
    it(`${page}:${line} runs in Python`, async function () {
      skipWithout(
        this,
        /\btorch\b/.test(source)
          ? 'PyTorch'
          : /\b(numpy|samebytes)\b/.test(source)
            ? 'NumPy'
            : 'Python',
      )
      const { code, stdout, output } = await runPython(source, name, folder)
      assert.equal(code, 0, output)
      assert.equal(missing(printed, stdout), null, `this was not printed; what was:\n${stdout}`)
    })
  }

  for (const [language, all] of [
    ['c', inC],
    ['cpp', inCpp],
  ]) {
    for (const { page, line, name, source } of all) {
      it(`${page}:${line} compiles`, async function () {
        skipWithout(this, 'a C compiler')
        if (/torch/.test(source)) skipWithout(this, 'LibTorch')
        const { code, output } = await compile(source, language, name, folder, nodeHeaders())
        assert.equal(code, 0, output)
      })
    }
  }

  for (const [i, block] of blocks.entries()) {
    const { page, line, language, code } = block
    if (!isRun(block)) continue
    if (language === 'sh' && block.before !== '') {
      it(`${page}:${line} runs in a shell`, async function () {
        skipWithout(this, 'bash')
        const results = await runShell(block, folder)
        for (const { line, code, output } of results) {
          assert.ok(
            code === 0 || (code === 1 && line.startsWith('samebytes doctor')),
            `${line}: ${output}`,
          )
        }
        // What the next block shows is what one of them printed.
        const next = blocks[i + 1]
        if (next?.language === 'text' && next.page === page) {
          assert.ok(
            results.some(({ stdout }) => stdout === next.code),
            `${page}:${next.line} was not printed, but:\n${results[1].stdout}`,
          )
        }
      })
    }
    if (language === 'sh') {
      it(`${page}:${line} names commands that are there`, () => {
        for (const command of code.trim().split('\n')) {
          assert.equal(wrongCommand(command), null, command)
        }
      })
    }
    if (language === 'gyp') {
      it(`${page}:${line} is what gyp reads`, async function () {
        skipWithout(this, 'Python')
        const ending = await runPython(
          `import ast\nast.literal_eval('''{${code.replaceAll('\\', '\\\\')}}''')`,
          `gyp-${line}`,
          folder,
        )
        assert.equal(ending.code, 0, ending.output)
      })
    }
    if (language === 'json') {
      it(`${page}:${line} is JSON`, () => {
        JSON.parse(code)
      })
    }
  }
})

describe('README.md and docs/', () => {
  nativeOnly()

  it('link to what is there', () => {
    const design = fs
      .readdirSync(path.join(ROOT, 'docs', 'design'))
      .map((name) => `docs/design/${name}`)
    for (const page of [...list, ...design, 'js/README.md', 'src/README.md', 'CONTRIBUTING.md']) {
      const text = fs.readFileSync(path.join(ROOT, page), 'utf8').replace(/```[^]*?```/g, '')
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue
        const [file, anchor] = target.split('#')
        const place =
          file === '' ? path.join(ROOT, page) : path.join(ROOT, path.dirname(page), file)
        assert.ok(fs.existsSync(place), `${page} links to ${target}`)
        if (anchor === undefined || !place.endsWith('.md')) continue
        const anchors = fs
          .readFileSync(place, 'utf8')
          .split('\n')
          .filter((line) => /^#+ /.test(line))
          .map((line) =>
            line
              .replace(/^#+ /, '')
              .toLowerCase()
              .replace(/[^\w\- ]/g, '')
              .replace(/ /g, '-'),
          )
        assert.ok(
          anchors.includes(anchor),
          `${page} links to ${target}; there are ${anchors.join(', ')}`,
        )
      }
    }
  })

  it('are named in the index of docs/, and README.md is short', () => {
    const index = fs.readFileSync(path.join(ROOT, 'docs', 'README.md'), 'utf8')
    for (const page of list.filter(
      (page) => page.startsWith('docs/') && page !== 'docs/README.md',
    )) {
      assert.equal(
        index.split(`](${path.basename(page)})`).length,
        2,
        `docs/README.md names ${page} once`,
      )
    }
    const lines = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n').length
    assert.ok(lines <= 110, `README.md has ${lines} lines`)
  })
})
