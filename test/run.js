'use strict'

// The runner behind `npm test`: one suite on every back end.
//
//   node test/run.js [part of a path]... [--backend native|wasm|wasm-shared] [--grep text] [-- node flags]
//
// test/api runs on each back end, test/cli on native and wasm, test/wasm-shared on that one, test/native and test/cuda on the native one,
// with the test addon (SAMEBYTES_TEST_BINARY, else build/Release/samebytes_test.node); test/cuda on the fake driver
// (.ci/build fakecuda), or with SAMEBYTES_TEST_CUDA=1 on the machine's own. Each suite has a process of its
// own, which notes down every result as it comes; if it dies, the test that ran counts as failed
// and a new process goes on with the next file. The last line is `N passed, N failed`.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { titleOf, reasonOf, describeError } = require('./describe')

const ROOT = path.join(__dirname, '..')
const BACKENDS = ['native', 'wasm', 'wasm-shared']
const FAKE_DRIVER = path.join(ROOT, 'build', 'fakecuda', 'libcuda_fake.so')
const FULL = process.env.SAMEBYTES_FULL === '1'
const TEST_TIMEOUT_MS = FULL ? 120_000 : 20_000
const STALL_TIMEOUT_MS = FULL ? 1_800_000 : 180_000
const EXIT_TIMEOUT_MS = 10_000

if (process.env.SAMEBYTES_TEST_RUN) child(JSON.parse(process.env.SAMEBYTES_TEST_RUN))
else main().then(code => { process.exitCode = code })

// ------------------------------------------------------------------------------- the parent

async function main () {
  const { filters, backends, grep, nodeFlags } = readArguments()
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-test-'))
  process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
  const total = { passed: 0, failed: 0, skipped: new Map(), failures: [] }

  for (const suite of suites(backends)) {
    const files = suite.files.filter(file => matches(file, filters))
    if (files.length === 0) {
      if (filters.length === 0) fail(total, suite.title, 'has no test files')
      continue
    }
    const before = total.passed + total.failed
    process.stdout.write(`\n${suite.title}\n`)
    await runSuite({ suite, files, grep, nodeFlags, scratch, total })
    if (total.passed + total.failed === before && !grep) fail(total, suite.title, 'ran no tests')
  }
  if (total.passed + total.failed === 0) fail(total, 'test/run.js', 'no tests ran')
  return report(total)
}

function readArguments () {
  const { values, positionals, tokens } = parseArgs({
    options: { backend: { type: 'string', short: 'b' }, grep: { type: 'string', short: 'g' } },
    allowPositionals: true,
    tokens: true
  })
  const end = tokens.find(token => token.kind === 'option-terminator')
  const isFlag = token => end && token.kind === 'positional' && token.index > end.index
  const nodeFlags = tokens.filter(isFlag).map(token => token.value)
  if (values.backend && !BACKENDS.includes(values.backend)) {
    console.error(`--backend is one of ${BACKENDS.join(', ')}, not ${values.backend}`)
    process.exit(2)
  }
  return {
    filters: positionals.slice(0, positionals.length - nodeFlags.length),
    backends: values.backend ? [values.backend] : BACKENDS,
    grep: values.grep,
    nodeFlags
  }
}

function suites (backends) {
  const all = []
  for (const backend of backends) {
    all.push({ title: `test/api on ${backend}`, backend, files: testFiles('api') })
    if (backend !== 'wasm-shared') all.push({ title: `test/cli on ${backend}`, backend, files: testFiles('cli') })
    if (backend === 'wasm-shared') all.push({ title: 'test/wasm-shared', backend, files: testFiles('wasm-shared') })
    const files = testFiles('native')
    if (backend === 'native' && files.length > 0) {
      const binary = process.env.SAMEBYTES_TEST_BINARY ||
        path.join(ROOT, 'build', 'Release', 'samebytes_test.node')
      all.push({ title: 'test/native on native', backend, files, binary })
      all.push(cudaSuite(binary))
    }
  }
  return all
}

function cudaSuite (binary) {
  const suite = { backend: 'native', files: testFiles('cuda'), binary }
  if (process.env.SAMEBYTES_TEST_CUDA === '1') return { ...suite, title: 'test/cuda on a device' }
  return { ...suite, title: 'test/cuda on the fake driver', env: { SAMEBYTES_LIBCUDA: FAKE_DRIVER, SAMEBYTES_CUDA_CODE: path.dirname(FAKE_DRIVER), FAKECUDA_DEVICES: '2' } }
}

function testFiles (folder) {
  const full = path.join(__dirname, folder)
  if (!fs.existsSync(full)) return []
  return fs.readdirSync(full, { recursive: true })
    .filter(name => /\.test\.m?js$/.test(name))
    .sort()
    .map(name => path.join(full, name))
}

function relative (file) {
  return path.relative(ROOT, file)
}

function matches (file, filters) {
  return filters.length === 0 || filters.some(part => relative(file).includes(part))
}

function fail (total, title, text) {
  total.failed++
  total.failures.push({ title, text })
}

async function runSuite ({ suite, files, grep, nodeFlags, scratch, total }) {
  let rest = files
  while (rest.length > 0) {
    const log = path.join(scratch, 'results')
    fs.writeFileSync(log, '')
    const ending = await runProcess({ suite, files: rest, grep, nodeFlags, log })
    const { last, ended } = readResults(log, suite, total)
    if (!ended || ending) {
      const where = ended ? 'after the last test' : last.title || 'before the first test'
      process.stdout.write('!')
      fail(total, `${suite.title}: ${where}`, ending || 'the process ended before its tests did')
    }
    if (ended) rest = []
    else if (last.loading) rest = rest.filter(file => file !== last.file)
    else rest = rest.slice(rest.indexOf(last.file) + 1)
    if (!ended && !last.file) break // it did not even start
  }
  process.stdout.write('\n')
}

/** Runs one process to its end; what was wrong with that end, or null. */
function runProcess ({ suite, files, grep, nodeFlags, log }) {
  const env = {
    ...process.env,
    ...suite.env,
    SAMEBYTES_BACKEND: suite.backend,
    SAMEBYTES_TEST_RUN: JSON.stringify({ files, grep, log })
  }
  if (suite.binary) env.SAMEBYTES_BINARY = suite.binary
  const run = spawn(process.execPath, ['--expose-gc', ...nodeFlags, __filename], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit']
  })
  let stalled = false
  const watch = setInterval(() => {
    if (Date.now() - fs.statSync(log).mtimeMs < STALL_TIMEOUT_MS) return
    stalled = true
    run.kill('SIGKILL')
  }, 1000)
  const stop = () => run.kill('SIGKILL')
  process.once('exit', stop)
  return new Promise(resolve => {
    run.once('error', error => resolve(`could not start: ${error.message}`))
    run.once('close', (code, signal) => {
      clearInterval(watch)
      process.off('exit', stop)
      if (stalled) resolve(`no test finished for ${STALL_TIMEOUT_MS / 1000} s; the process was killed`)
      else if (signal) resolve(`the process died of ${signal}`)
      else resolve(code === 0 ? null : `the process ended with exit code ${code}`)
    })
  })
}

/** Adds up what the process noted; `last` is what it was busy with. */
function readResults (log, suite, total) {
  let last = {}
  let ended = false
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue // empty, or cut short by a crash
    const { event, file = last.file, title, text, reason } = JSON.parse(line)
    if (event === 'load') last = { file, title: `loading ${relative(file)}`, loading: true }
    if (event === 'test') last = { file, title }
    if (event === 'pass') total.passed++
    if (event === 'skip') countSkip(total.skipped, reason, suite.backend)
    if (event === 'fail') fail(total, `${suite.title}: ${title}`, text)
    if (event === 'end') ended = true
  }
  return { last, ended }
}

/** @param {Map<string, Map<string, number>>} skipped  tests by back end, by reason */
function countSkip (skipped, reason, backend) {
  const row = skipped.get(reason) ?? new Map()
  skipped.set(reason, row.set(backend, (row.get(backend) ?? 0) + 1))
}

/** Prints how many tests were skipped, and why; gives how many. */
function reportSkips (skipped) {
  let all = 0
  if (skipped.size > 0) process.stdout.write('\nskipped:\n')
  for (const [reason, row] of skipped) {
    const count = [...row.values()].reduce((a, b) => a + b, 0)
    const where = [...row].map(([backend, n]) => row.size > 1 ? `${n} on ${backend}` : `on ${backend}`).join(', ')
    process.stdout.write(`${String(count).padStart(5)}  ${reason} (${where})\n`)
    all += count
  }
  return all
}

function report ({ passed, failed, skipped, failures }) {
  for (const [i, { title, text }] of failures.entries()) {
    process.stdout.write(`\n${i + 1}) ${title}\n${text.replace(/^/gm, '   ')}\n`)
  }
  const count = reportSkips(skipped)
  const tail = count > 0 ? `, ${count} skipped` : ''
  process.stdout.write(`\n${passed} passed, ${failed} failed${tail}\n`)
  return failed ? 1 : 0
}

// -------------------------------------------------------------------------------- the child

async function child ({ files, grep, log }) {
  const Mocha = require('mocha')
  delete process.env.SAMEBYTES_TEST_RUN // for the processes that tests start
  const fd = fs.openSync(log, 'a')
  const note = entry => fs.writeSync(fd, JSON.stringify(entry) + '\n')

  const mocha = new Mocha({ reporter: reporter(note), timeout: TEST_TIMEOUT_MS, grep })
  mocha.suite.on('pre-require', (_, file) => note({ event: 'load', file }))
  for (const file of files) mocha.addFile(file)
  try {
    await mocha.loadFilesAsync()
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
  mocha.run(() => {
    // A process that cannot end by itself has left something running: that is a failure too.
    const late = `something keeps the process alive ${EXIT_TIMEOUT_MS / 1000} s after its last test`
    setTimeout(() => {
      note({ event: 'fail', title: 'after the last test', text: late })
      process.exit(0)
    }, EXIT_TIMEOUT_MS).unref()
  })
}

/** A dot per test on the terminal, a line per event in the log; written at once, so a crash loses nothing. */
function reporter (note) {
  return class Dots {
    constructor (runner) {
      const dot = text => process.stdout.write(text)
      runner.on('suite', suite => {
        // Hooks run before the first test: a crash in them belongs to this file.
        if (suite.file) note({ event: 'test', file: suite.file, title: `${titleOf(suite)} (hooks)` })
      })
      runner.on('test', test => note({ event: 'test', file: test.file, title: titleOf(test) }))
      runner.on('pass', () => { note({ event: 'pass' }); dot('.') })
      runner.on('pending', test => { note({ event: 'skip', title: titleOf(test), reason: reasonOf(test) }); dot(',') })
      runner.on('fail', (test, error) => {
        note({ event: 'fail', title: titleOf(test), text: describeError(error) })
        dot('!')
      })
      runner.on('end', () => note({ event: 'end' }))
    }
  }
}
