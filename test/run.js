'use strict'

// The runner behind `npm test`: one suite on every back end.
//
//   node test/run.js [part of a path]... [--backend native|wasm|wasm-shared] [--grep text] [--all | --rest | --brief] [--jobs n] [--times] [-- node flags]
//
// test/api and test/math run on each back end, test/cli and test/remote on native and wasm, test/wasm-shared on that one, test/nats, test/native and test/cuda on the native one,
// with the test addon (SAMEBYTES_TEST_BINARY, else build/Release/samebytes_test.node); test/cuda on the fake driver
// (.ci/build fakecuda), or with SAMEBYTES_TEST_CUDA=1 on the machine's own.
//
// Without options everything runs on native, and on the other two, but for what test/plan.js leaves out. --all: everything;
// so it is with a path, a back end or a text as well, but with --brief. --rest: only what is left out.
//
// Files run in processes of a dozen, one more than there are cores at a time (--jobs), those that test/plan.js wants alone at the end. A process
// notes down every result as it comes; if it dies, the test that ran counts as failed and a new process goes on with the next
// file. --times: the files that took longest. The last line is `N passed, N failed`.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { titleOf, reasonOf, describeError } = require('./describe')
const { PATIENCE, makePatient } = require('./limits')
const { ALONE, IN_ONE_PAGE, LATER, NATIVE_ONLY, NOT_IN_PAGES, NOT_SHARED } = require('./plan')
const { secondsOf, secondsOfTree } = require('./processor-time')

const ROOT = path.join(__dirname, '..')
const BACKENDS = ['native', 'wasm', 'wasm-shared']
const FAKE_DRIVER = path.join(ROOT, 'build', 'fakecuda', 'libcuda_fake.so')
const FULL = process.env.SAMEBYTES_FULL === '1'
const TEST_TIMEOUT_MS = FULL ? 120_000 : 20_000
const LOAD_TIMEOUT_MS = 180_000 // for all files of a process
const EXIT_TIMEOUT_MS = 10_000
const FILES_EACH = 12 // of a process
const MOST_JOBS = 4 // processes at a time, each with up to 1.5 GB; one more than cores, because tests wait
const SLOWEST = 20 // files that --times shows
const COUNTED = { pass: 'passed', fail: 'failed', skip: 'skipped' }

// ------------------------------------------------------------------------------- the parent

async function main () {
  const options = readArguments()
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-test-'))
  process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
  const total = { passed: 0, failed: 0, skipped: new Map(), failures: [], times: [] }
  const { wanted, leftOut } = planned(options, total)

  const parts = wanted.flatMap(partsOf)
  await runAll(parts.filter(part => !part.isAlone), options.jobs, { ...options, scratch, total })
  await runAll(parts.filter(part => part.isAlone), 1, { ...options, scratch, total })
  if (total.passed + total.failed === 0) fail(total, 'test/run.js', 'no tests ran')
  if (options.times) reportTimes(total.times)
  reportLeftOut(leftOut)
  return report(total)
}

function readArguments () {
  const { values, positionals, tokens } = parseArgs({
    options: {
      backend: { type: 'string', short: 'b' },
      grep: { type: 'string', short: 'g' },
      all: { type: 'boolean' },
      rest: { type: 'boolean' },
      brief: { type: 'boolean' },
      jobs: { type: 'string', short: 'j' },
      times: { type: 'boolean' }
    },
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
  const jobs = Number(values.jobs ?? Math.min(MOST_JOBS, os.availableParallelism() + 1))
  if (!Number.isInteger(jobs) || jobs < 1 || (values.all && values.rest)) {
    console.error(values.all ? '--all or --rest, not both' : `--jobs is a number from 1 on, not ${values.jobs}`)
    process.exit(2)
  }
  const filters = positionals.slice(0, positionals.length - nodeFlags.length)
  const isNarrowed = filters.length > 0 || values.backend !== undefined || values.grep !== undefined
  return {
    filters,
    backends: values.backend ? [values.backend] : BACKENDS,
    grep: values.grep,
    which: values.rest ? 'rest' : values.all || (isNarrowed && !values.brief) ? 'all' : 'default',
    jobs,
    times: values.times,
    nodeFlags
  }
}

/** The suites with the files of theirs that are to run, and how many files of each back end are left out. */
function planned ({ backends, filters, which }, total) {
  const wanted = []
  const leftOut = new Map()
  for (const suite of suites(backends)) {
    if (suite.files.length === 0) fail(total, suite.title, 'has no test files')
    const files = suite.files.filter(file => {
      const isLeftOut = isLeftOutOf(file, suite.backend)
      if (which === 'default' && isLeftOut) leftOut.set(suite.backend, (leftOut.get(suite.backend) ?? 0) + 1)
      return matches(file, filters) && (which === 'all' || isLeftOut === (which === 'rest'))
    })
    if (files.length > 0) wanted.push({ ...suite, files })
  }
  for (const name of [...ALONE, ...LATER, ...NATIVE_ONLY, ...NOT_SHARED, ...NOT_IN_PAGES, ...IN_ONE_PAGE]) if (!fs.existsSync(path.join(__dirname, name))) fail(total, 'test/plan.js', `there is no test/${name}`)
  return { wanted, leftOut }
}

function isLeftOutOf (file, backend) {
  const name = nameOf(file)
  return LATER.includes(name) || (backend !== 'native' && NATIVE_ONLY.includes(name)) || (backend === 'wasm-shared' && NOT_SHARED.includes(name))
}

/** A suite in parts, each of which has a process of its own. */
function partsOf (suite) {
  const { files } = suite
  suite.counts = { passed: 0, failed: 0, skipped: 0, seconds: 0, left: 0 }
  const alone = files.filter(file => ALONE.includes(nameOf(file)))
  const parts = alone.map(file => ({ suite, files: [file], isAlone: true }))
  const others = files.filter(file => !alone.includes(file))
  const count = Math.ceil(others.length / FILES_EACH)
  for (let i = 0; i < count; i++) parts.push({ suite, files: others.filter((_, j) => j % count === i), isAlone: suite.isAlone ?? false })
  suite.counts.left = parts.length
  return parts
}

function suites (backends) {
  const all = []
  for (const backend of backends) {
    const add = folder => all.push({ title: `test/${folder} on ${backend}`, backend, files: testFiles(folder) })
    if (backend === 'native') { // the longest first: others fill the time that is left
      const binary = process.env.SAMEBYTES_TEST_BINARY ||
        path.join(ROOT, 'build', 'Release', 'samebytes_test.node')
      all.push({ title: 'test/native on native', backend, files: testFiles('native'), binary })
      all.push(cudaSuite(binary))
    }
    if (backend === 'native') add('nats')
    if (backend !== 'wasm-shared') add('remote')
    if (backend !== 'wasm-shared') add('cli')
    add('api')
    add('math')
    if (backend === 'wasm-shared') all.push({ title: 'test/wasm-shared', backend, files: testFiles('wasm-shared') })
  }
  return all
}

function cudaSuite (binary) {
  const suite = { backend: 'native', files: testFiles('cuda'), binary }
  if (process.env.SAMEBYTES_TEST_CUDA === '1') return { ...suite, title: 'test/cuda on a device', isAlone: true }
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

/** A file's name in test/plan.js. */
function nameOf (file) {
  return path.relative(__dirname, file).split(path.sep).join('/')
}

function matches (file, filters) {
  return filters.length === 0 || filters.some(part => relative(file).includes(part))
}

function fail (total, title, text) {
  total.failed++
  total.failures.push({ title, text })
}

/** Runs parts of suites, so many at a time. */
async function runAll (parts, jobs, options) {
  const left = [...parts]
  await Promise.all(Array.from({ length: jobs }, async () => {
    while (left.length > 0) await runPart(left.shift(), options)
  }))
}

async function runPart ({ suite, files }, { grep, nodeFlags, scratch, total }) {
  const { counts } = suite
  const from = performance.now()
  let rest = files
  while (rest.length > 0) {
    const log = path.join(fs.mkdtempSync(path.join(scratch, 'part-')), 'results')
    fs.writeFileSync(log, '')
    const ending = await runProcess({ suite, files: rest, grep, nodeFlags, log })
    const { last, ended } = readResults(log, suite, total)
    if (!ended || ending) {
      const where = ended ? 'after the last test' : last.title || 'before the first test'
      process.stdout.write('!')
      counts.failed++
      fail(total, `${suite.title}: ${where}`, ending || 'the process ended before its tests did')
    }
    if (ended) rest = []
    else if (last.loading) rest = rest.filter(file => file !== last.file)
    else rest = rest.slice(rest.indexOf(last.file) + 1)
    if (!ended && !last.file) break // it did not even start
  }
  counts.seconds += (performance.now() - from) / 1000
  if (--counts.left > 0) return
  if (counts.passed + counts.failed === 0 && !grep) fail(total, suite.title, 'ran no tests')
  process.stdout.write(`\n${suite.title}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${counts.seconds.toFixed(0)} s\n`)
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
  let stalled = null
  let began = 0 // ms, when the last thing was noted
  let computed = 0 // s, at that time
  const watch = setInterval(() => {
    const { mtimeMs } = fs.statSync(log)
    const seconds = secondsOfTree(run.pid)
    if (mtimeMs !== began) [began, computed] = [mtimeMs, seconds]
    const limit = 2 * limitIn(log) // what mocha could end it has ended
    if (seconds - computed > limit / 1000) stalled = `it computed for ${Math.round(seconds - computed)} s`
    else if (Date.now() - began > limit * PATIENCE) stalled = `it took ${Math.round((Date.now() - began) / 1000)} s`
    if (stalled !== null) run.kill('SIGKILL')
  }, 2000)
  const stop = () => run.kill('SIGKILL')
  process.once('exit', stop)
  return new Promise(resolve => {
    run.once('error', error => resolve(`could not start: ${error.message}`))
    run.once('close', (code, signal) => {
      clearInterval(watch)
      process.off('exit', stop)
      if (stalled !== null) resolve(`no end of it: ${stalled}; the process was killed`)
      else if (signal) resolve(`the process died of ${signal}`)
      else resolve(code === 0 ? null : `the process ended with exit code ${code}`)
    })
  })
}

/** The limit of what a process is busy with, in ms. */
function limitIn (log) {
  const limits = fs.readFileSync(log, 'utf8').match(/"limit":\d+/g)
  return Number(limits?.at(-1).slice(8) ?? LOAD_TIMEOUT_MS)
}

/** Adds up what the process noted; `last` is what it was busy with. */
function readResults (log, suite, total) {
  let last = {}
  let ended = false
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue // empty, or cut short by a crash
    const { event, file = last.file, title, text, reason, time } = JSON.parse(line)
    if (event === 'load') last = { file, title: `loading ${relative(file)}`, loading: true }
    if (event === 'test') last = { file, title }
    if (event === 'pass') total.passed++
    if (event === 'skip') countSkip(total.skipped, reason, suite.backend)
    if (event === 'fail') fail(total, `${suite.title}: ${title}`, text)
    if (event in COUNTED) suite.counts[COUNTED[event]]++
    if (event === 'time') total.times.push({ file, backend: suite.backend, ...time })
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

/** Prints the files that took longest. @param {{ file: string, backend: string, wall: number, computed: number }[]} times  in s, of loading and of running */
function reportTimes (times) {
  const files = new Map()
  for (const { file, backend, wall, computed } of times) {
    const text = `${relative(file)} on ${backend}`
    const before = files.get(text) ?? { wall: 0, computed: 0 }
    files.set(text, { wall: before.wall + wall, computed: before.computed + computed })
  }
  const sum = key => times.reduce((a, each) => a + each[key], 0)
  const row = ({ wall, computed }, text) => process.stdout.write(`${wall.toFixed(1).padStart(8)} ${computed.toFixed(1).padStart(8)}  ${text}\n`)
  process.stdout.write('\n       s        s\n elapsed computed\n')
  for (const [text, each] of [...files].sort(([, a], [, b]) => b.computed - a.computed).slice(0, SLOWEST)) row(each, text)
  row({ wall: sum('wall'), computed: sum('computed') }, 'all files')
}

/** @param {Map<string, number>} leftOut  files by back end */
function reportLeftOut (leftOut) {
  if (leftOut.size === 0) return
  const text = [...leftOut].map(([backend, n]) => `${n} files on ${backend}`).join(' and ')
  process.stdout.write(`\nleft out: ${text}, for the reasons in test/plan.js; node test/run.js --rest runs them\n`)
}

function report ({ passed, failed, skipped, failures }) {
  const count = reportSkips(skipped)
  for (const [i, { title, text }] of failures.entries()) { // behind what was skipped: of a log often only the end is kept
    process.stdout.write(`\n${i + 1}) ${title}\n${text.replace(/^/gm, '   ')}\n`)
  }
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

  makePatient(Mocha, limit => note({ event: 'limit', limit }))
  const clock = new FileClock(note)
  const mocha = new Mocha({ reporter: reporter(note, clock), timeout: TEST_TIMEOUT_MS, grep })
  mocha.suite.on('pre-require', (_, file) => {
    note({ event: 'load', file, limit: LOAD_TIMEOUT_MS })
    clock.at(file)
  })
  for (const file of files) mocha.addFile(file)
  try {
    await mocha.loadFilesAsync()
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
  mocha.run(() => {
    // A process that cannot end by itself has left something running: that is a failure too.
    const late = `something keeps the process alive ${EXIT_TIMEOUT_MS * PATIENCE / 1000} s after its last test`
    setTimeout(() => {
      note({ event: 'fail', title: 'after the last test', text: late })
      process.exit(0)
    }, EXIT_TIMEOUT_MS * PATIENCE).unref()
  })
}

/** Notes how long each file takes: as it is loaded, and as its tests run. */
class FileClock {
  constructor (note) {
    this.note = note
    this.file = null
  }

  /** What comes now belongs to this file; null: to none. */
  at (file) {
    if (file === this.file) return
    const now = { wall: performance.now() / 1000, computed: secondsOf(process.pid) || process.cpuUsage().user / 1e6 }
    if (this.file !== null) this.note({ event: 'time', file: this.file, time: { wall: now.wall - this.from.wall, computed: now.computed - this.from.computed } })
    this.file = file
    this.from = now
  }
}

/** A dot per test on the terminal, a line per event in the log; written at once, so a crash loses nothing. */
function reporter (note, clock) {
  return class Dots {
    constructor (runner) {
      const dot = text => process.stdout.write(text)
      runner.on('suite', suite => {
        // Hooks run before the first test: a crash in them belongs to this file.
        if (!suite.file) return
        note({ event: 'test', file: suite.file, title: `${titleOf(suite)} (hooks)`, limit: suite.timeout() })
        clock.at(suite.file)
      })
      runner.on('hook', hook => note({ event: 'hook', limit: hook._timeout }))
      runner.on('test', test => note({ event: 'test', file: test.file, title: titleOf(test), limit: test._timeout }))
      runner.on('pass', () => { note({ event: 'pass' }); dot('.') })
      runner.on('pending', test => { note({ event: 'skip', title: titleOf(test), reason: reasonOf(test) }); dot(',') })
      runner.on('fail', (test, error) => {
        note({ event: 'fail', title: titleOf(test), text: describeError(error) })
        dot('!')
      })
      runner.on('end', () => {
        clock.at(null)
        note({ event: 'end', limit: EXIT_TIMEOUT_MS })
      })
    }
  }
}

if (process.env.SAMEBYTES_TEST_RUN) child(JSON.parse(process.env.SAMEBYTES_TEST_RUN))
else main().then(code => { process.exitCode = code })
