'use strict'

// The runner behind `npm run test:browser`: the files of test/api, test/math and test/browser in headless Chromium or Firefox.
//
//   node test/browser/run.js [part of a path]... [--browser firefox] [--run wasm|wasm-isolated|wasm-shared|init] [--grep text] [--all] [--slice n/m]
//
// Without options the isolated page runs nearly every file, and the other two leave out what test/plan.js leaves out on wasm-shared: layouts,
// kernels and texts, which are the same there, and most arithmetic. Firefox, which has another engine and other pictures, runs these fewer
// files in the isolated page, and init. --all: everything; so it is with a path, a run or a text as well. --slice: the n-th of m parts of the files, and of init's tests.
//
// Each run has a browser of its own, which tells every result as it comes; if its page dies or hangs, the test
// that ran counts as failed and a new one goes on with the next file. What a page cannot do is in test/cannot.js,
// and counted by reason; a page that is not isolated skips the tests that used SharedArrayBuffer in the one that is.
// The last line is `N passed, N failed`.

const fs = require('node:fs')
const { watchSharedArrayBuffer } = require('./watch')
const { SourceMap } = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { ROOT, bundle, testFiles } = require('./bundle')
const { serve } = require('./server')
const { testInit } = require('./init')
const { BROWSER_OPTION, launch, titleOf } = require('./launch')
const { HANG_MS } = require('../hang')
const { IN_ONE_PAGE, NATIVE_ONLY, NOT_IN_PAGES, NOT_SHARED, sliceOf } = require('../plan')

const STARTS = 3 // of a browser that ends before the first test
const ENDED = 'the browser ended'
const NOTE = 'note ' // what the page tells is a line of its console that begins so
const PASSED_ON = [
  'CI',
  'PYTHON',
  'SAMEBYTES_FULL',
  'SAMEBYTES_FUZZ_SEED',
  'SAMEBYTES_FUZZ_PROGRAMS',
]

/** What each run is: the page, and what init is given there. */
const RUNS = {
  'wasm-isolated': { title: 'wasm, isolated', backend: 'wasm', isolated: true, init: {} },
  wasm: {
    title: 'wasm, not isolated',
    backend: 'wasm',
    isolated: false,
    init: {},
    after: 'wasm-isolated',
    isShort: true,
  },
  'wasm-shared': {
    title: 'wasm-shared, isolated',
    backend: 'wasm-shared',
    isolated: true,
    init: { shared: true },
    isShort: true,
  },
}

/** What runs in Firefox unless more is asked for. */
const BRIEF = ['wasm-isolated', 'init']

/** Jobs, each the run of all files, or of one share of them, in a browser of its own; two at a time, in this order: the longest first. */
const JOBS = [
  ['init'],
  ['wasm-isolated', 0, 2],
  ['wasm-isolated', 1, 2],
  ['wasm-shared', 0, 1],
  ['wasm', 0, 1],
]
const AT_ONCE = 2

const PAGE = `<!doctype html><meta charset="utf-8"><title>samebytes</title><body>
<script src="/mocha.js"></script>
<script>globalThis.usesShared = (${watchSharedArrayBuffer})()</script>
<script type="module" src="/tests.mjs"></script>
`

main().then((code) => {
  process.exitCode = code
})

async function main() {
  const { values, positionals: filters } = parseArgs({
    options: {
      ...BROWSER_OPTION,
      run: { type: 'string', short: 'r' },
      grep: { type: 'string', short: 'g' },
      all: { type: 'boolean' },
      slice: { type: 'string' },
    },
    allowPositionals: true,
  })
  const names = [...Object.keys(RUNS), 'init']
  if (values.run && !names.includes(values.run)) {
    console.error(`--run is one of ${names.join(', ')}, not ${values.run}`)
    return 2
  }
  const { browser, grep } = values
  titleOf(browser) // or it throws
  const total = { passed: 0, failed: 0, failures: [] }
  const isWhole = values.all || values.run || values.grep || filters.length > 0
  const isBrief = browser === 'firefox' && !isWhole
  const isWanted = (name) =>
    values.run
      ? values.run === name
      : isBrief
        ? BRIEF.includes(name)
        : name !== 'init' || filters.length === 0
  const without = (files, ...lists) =>
    isWhole
      ? files
      : files.filter((file) => !lists.flat().some((name) => file.endsWith(`/${name}`)))
  const wanted = sliceOf(
    testFiles().filter(
      (file) => filters.length === 0 || filters.some((part) => file.includes(part)),
    ),
    values.slice,
  )
  const files = without(wanted, NOT_IN_PAGES)
  const few = without(files, NATIVE_ONLY, NOT_SHARED, IN_ONE_PAGE)
  const tests = await bundle(files)
  const usesShared = []
  const out = isBrief
    ? `${wanted.length - few.length} of ${wanted.length} files left out`
    : `${wanted.length - files.length} of ${wanted.length} files left out, ${files.length - few.length} in one page only`
  if (!isWhole) process.stdout.write(`${out}; --all: all in all\n`)
  /** of runs, by name @type {Record<string, Promise<void>[]>} */
  const begun = {}
  const run = async ([name, share, shares]) => {
    const isNeeded = Object.entries(RUNS).some(
      ([other, { after }]) => after === name && isWanted(other),
    )
    if (name === 'init') {
      return isWanted(name)
        ? testInit({ browser, total, fail, grep, slice: values.slice })
        : undefined
    }
    if (!isWanted(name) && !isNeeded) return
    const kind = RUNS[name]
    const its = (isBrief || kind.isShort ? few : files).filter((_, i) => i % shares === share)
    if (its.length === 0) return
    await Promise.all(begun[kind.after] ?? [])
    await new Run(kind, { browser, files: its, tests, grep, total, usesShared }).all()
  }
  const jobs = JOBS.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const job of jobs) {
        const running = run(job)
        ;(begun[job[0]] ??= []).push(running)
        await running
      }
    }),
  )
  if (total.passed + total.failed === 0) fail(total, 'test/browser/run.js', 'no tests ran')
  return report(total)
}

function fail(total, title, text) {
  total.failed++
  total.failures.push({ title, text })
}

function report({ passed, failed, failures }) {
  for (const [i, { title, text }] of failures.entries()) {
    process.stdout.write(`\n${i + 1}) ${title}\n${text.replace(/^/gm, '   ')}\n`)
  }
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  return failed ? 1 : 0
}

/** All files in one kind of page. */
class Run {
  constructor(kind, { browser, files, tests, grep, total, usesShared }) {
    Object.assign(this, kind, {
      browser,
      files,
      tests,
      grep,
      total,
      usesShared,
      title: `${titleOf(browser)}: ${kind.title}`,
    })
    this.map = new SourceMap(JSON.parse(tests.map))
    this.passed = 0
    this.skipped = 0
    this.starts = 0
    /** @type {Map<string, number>} */
    this.reasons = new Map()
  }

  async all() {
    const from = Date.now()
    const mocha = fs.readFileSync(
      path.join(path.dirname(require.resolve('mocha/package.json')), 'mocha.js'),
    )
    const server = await serve({
      isolated: this.isolated,
      pages: { '/': PAGE, '/mocha.js': mocha, '/tests.mjs': this.tests.code },
    })
    try {
      let rest = this.files
      while (rest.length > 0) rest = await this.once(server.url, rest)
    } finally {
      server.close()
    }
    this.print((Date.now() - from) / 1000)
  }

  /** One page; the files that are left when it ended early. */
  async once(url, files) {
    const failed = this.total.failed
    this.last = {}
    const browser = await launch(this.browser)
    const ending = await this.page(browser, url, files).catch((error) => error.message)
    await browser.close()
    if (ending === null) return []
    if (ending === ENDED && !this.last.file && ++this.starts < STARTS) {
      process.stdout.write(`\n${ENDED} before it began, once more\n`)
      return files
    }
    process.stdout.write('!')
    fail(this.total, `${this.title}: ${this.last.title ?? 'before the first test'}`, ending)
    if (!this.last.file) return [] // it did not even start
    const next = files.indexOf(this.last.file) + 1
    return this.total.failed - failed > 50 ? [] : files.slice(next)
  }

  /** null, or what was wrong with its end */
  async page(browser, url, files) {
    const page = await browser.newPage()
    let told = Date.now()
    let watch
    let end
    const ended = new Promise((resolve) => {
      end = resolve
      page.on('error', () => resolve('the page crashed'))
      page.on('close', () => resolve('the page closed')) // as Firefox says it
      browser.on('disconnected', () => resolve(ENDED))
      page.on('pageerror', (error) => {
        if (!this.last.running) resolve(this.mapped(error.stack))
      })
      watch = setInterval(() => {
        if (Date.now() - told > 2 * HANG_MS) {
          resolve(`no end of it after ${(Date.now() - told) / 1000} s`)
        } // mocha had its turn
      }, 1000)
    })
    page.on('console', (message) => {
      if (!message.text().startsWith(NOTE)) return
      told = Date.now()
      if (this.heard(JSON.parse(message.text().slice(NOTE.length)))) end(null)
    })
    await page.evaluateOnNewDocument(`globalThis.RUN = ${JSON.stringify(this.told(files))}`)
    try {
      await page.goto(url, { timeout: HANG_MS, waitUntil: 'domcontentloaded' }) // what comes then it tells itself
      return await ended
    } finally {
      clearInterval(watch)
    }
  }

  /** What the page is told. */
  told(files) {
    const env = Object.fromEntries(
      PASSED_ON.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
    )
    return {
      wanted: files,
      note: NOTE,
      browser: titleOf(this.browser),
      init: this.init,
      timeout: HANG_MS,
      grep: this.grep,
      skipped: this.isolated ? [] : this.usesShared,
      env: { ...env, SAMEBYTES_BACKEND: this.backend },
      freemem: os.freemem(),
      totalmem: os.totalmem(),
    }
  }

  /** Was it the end? */
  heard({ event, file = this.last.file, title, text, reason, usesShared }) {
    if (event === 'load') this.last = { file, title: `loading ${file}` }
    if (event === 'test') this.last = { file, title, running: true }
    if (event === 'pass') {
      this.dot('.', () => {
        this.passed++
        this.total.passed++
      })
    }
    if (usesShared && this.isolated && this.backend === 'wasm') {
      this.usesShared.push(`${file} ${title}`)
    }
    if (event === 'skip') this.dot(',', () => this.skip(reason))
    if (event === 'fail') {
      this.dot('!', () => fail(this.total, `${this.title}: ${title}`, this.mapped(text)))
    }
    return event === 'end'
  }

  dot(sign, count) {
    process.stdout.write(sign)
    count()
  }

  skip(reason) {
    this.skipped++
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
  }

  /** A stack with lines of the files that were bundled. */
  mapped(text) {
    return text.replace(/http:\S+\/tests\.mjs:(\d+):(\d+)/g, (found, line, column) => {
      const { originalSource, originalLine, originalColumn } = this.map.findEntry(
        line - 1,
        column - 1,
      )
      return originalSource === undefined
        ? found
        : `${path.relative(ROOT, path.resolve(ROOT, originalSource))}:${originalLine + 1}:${originalColumn + 1}`
    })
  }

  print(seconds) {
    process.stdout.write(
      `\n${this.title}: ${this.passed} passed, ${this.skipped} skipped, ${seconds.toFixed(0)} s\n`,
    )
    for (const [reason, count] of [...this.reasons].sort((a, b) => b[1] - a[1])) {
      process.stdout.write(`  ${count} skipped: ${reason}\n`)
    }
  }
}
