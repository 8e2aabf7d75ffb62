'use strict'
// The runner behind `npm test`: mocha over a dozen or so files a process, on every back end.
//
//   node test/run.js [part of a path]... [--backend native|wasm|wasm-shared] [--grep text] [--all | --rest | --brief] [--slice n/m] [--jobs n] [--times] [-- node flags]
//
// Without options it runs what test/plan.js has for `npm test`; with a path, a back end or a text everything that fits. --brief: of that what
// `npm test` has. --rest: what .ci/run has besides. --all: everything. --slice: the n-th of m parts of each folder. If a process dies, the test
// that ran counts as failed and a new one goes on with the next file. --times: what each file took. The last line is `N passed, N failed`.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { HANG_MS } = require('./hang')
const { ALONE, BACKENDS, suitesOf } = require('./plan')
const { lackOf } = require('./tools')
const { fail, noteSkip, report, total } = require('./total')

const ROOT = path.join(__dirname, '..')
const MOCHA = path.join(path.dirname(require.resolve('mocha/package.json')), 'bin', '_mocha')
const FILES_EACH = 16 // of a process
const MOST_JOBS = 4 // processes at a time, each with up to 1.5 GB; one more than cores, because tests wait

async function main() {
  const { filters, backends, grep, which, slice, jobs, times, flags } = readArguments()
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-test-'))
  process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

  const parts = suitesOf(backends, filters, which, slice).filter(canRun).flatMap(partsOf)
  const options = { grep, flags, scratch }
  await runAll(
    parts.filter((part) => !part.isAlone),
    jobs,
    options,
  )
  await runAll(
    parts.filter((part) => part.isAlone),
    1,
    options,
  )
  if (total.passed + total.failures.length + total.skipped.size === 0) {
    fail('test/run.js', 'no tests ran')
  }
  report(times)
}

function readArguments() {
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const all = process.argv.slice(2)
  const end = all.includes('--') ? all.indexOf('--') : all.length
  const { values, positionals: filters } = parseArgs({
    args: all.slice(0, end),
    allowPositionals: true,
    options: {
      backend: { ...text, short: 'b' },
      grep: { ...text, short: 'g' },
      all: flag,
      rest: flag,
      brief: flag,
      slice: text,
      jobs: { ...text, short: 'j' },
      times: flag,
    },
  })
  const jobs = Number(values.jobs ?? Math.min(MOST_JOBS, os.availableParallelism() + 1))
  if (
    (values.backend && !BACKENDS.includes(values.backend)) ||
    !(jobs >= 1) ||
    (values.all && values.rest)
  ) {
    console.error(
      `--backend is one of ${BACKENDS.join(', ')}; --jobs is a number from 1 on; --all or --rest, not both`,
    )
    process.exit(2)
  }
  const isNarrowed = filters.length > 0 || values.backend !== undefined || values.grep !== undefined
  const which = values.rest ? 'ci' : values.all || (isNarrowed && !values.brief) ? 'all' : 'test'
  return {
    filters: filters.map((part) => part.replaceAll('\\', '/')), // as a shell of Windows completes them
    backends: values.backend ? [values.backend] : BACKENDS,
    grep: values.grep,
    which,
    slice: values.slice,
    jobs,
    times: values.times,
    flags: all.slice(end + 1),
  }
}

/** A suite whose back end, or driver, could not be built is one skip. */
function canRun({ backend, needs }) {
  const lack = needs === null ? null : lackOf(needs)
  if (lack !== null) noteSkip(lack, backend)
  return lack === null
}

/** A suite in parts, each of which has a process of its own. */
function partsOf({ title, backend, files, isAlone }) {
  const suite = { title, backend, passed: 0, failed: 0, skipped: 0, seconds: 0, left: 0 }
  const alone = files.filter((file) => ALONE.some((name) => file === path.join(__dirname, name)))
  const others = files.filter((file) => !alone.includes(file))
  const count = Math.ceil(others.length / FILES_EACH)
  const parts = [
    ...alone.map((file) => ({ suite, files: [file], isAlone: true })),
    ...Array.from({ length: count }, (_, i) => ({
      suite,
      files: others.filter((_, j) => j % count === i),
      isAlone,
    })),
  ]
  suite.left = parts.length
  return parts
}

/** Runs parts of suites, so many at a time. */
async function runAll(parts, jobs, options) {
  const left = [...parts]
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      while (left.length > 0) await runPart(left.shift(), options)
    }),
  )
}

async function runPart({ suite, files }, { grep, flags, scratch }) {
  const from = performance.now()
  let rest = files
  while (rest.length > 0) {
    const log = path.join(fs.mkdtempSync(path.join(scratch, 'part-')), 'results')
    fs.writeFileSync(log, '')
    const args = [
      '--expose-gc',
      ...flags,
      MOCHA,
      '--reporter',
      path.join(__dirname, 'reporter.js'),
      '--timeout',
      HANG_MS,
      ...(grep ? ['--grep', grep] : []),
      ...rest,
    ]
    const ending = await runProcess(
      args,
      { SAMEBYTES_BACKEND: suite.backend, SAMEBYTES_TEST_LOG: log },
      log,
    )
    const { last, ended } = readResults(log, suite)
    if (ended && ending === null) break
    process.stdout.write('!')
    suite.failed++
    fail(
      `${suite.title}: ${ended ? 'after the last test' : (last.title ?? `loading one of ${rest.map(relative).join(', ')}`)}`,
      ending ?? 'the process ended before its tests did',
    )
    rest = ended || !last.file ? [] : rest.slice(rest.indexOf(last.file) + 1)
  }
  suite.seconds += (performance.now() - from) / 1000
  if (--suite.left === 0) {
    process.stdout.write(
      `\n${suite.title}: ${suite.passed} passed, ${suite.failed} failed, ${suite.skipped} skipped, ${suite.seconds.toFixed(0)} s\n`,
    )
  }
}

/** Runs one process to its end; what was wrong with that end, or null. mocha's status is the number of failures, which the log has. */
function runProcess(args, env, log) {
  const run = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let stalled = null
  const stop = () => run.kill('SIGKILL')
  const watch = setInterval(() => {
    // mocha has had its turn
    const idle = Date.now() - fs.statSync(log).mtimeMs
    if (idle < 2 * HANG_MS) return
    stalled = `no end of it after ${Math.round(idle / 1000)} s; the process was killed`
    stop()
  }, 2000)
  process.once('exit', stop)
  return new Promise((resolve) => {
    run.once('error', (error) => resolve(`could not start: ${error.message}`))
    run.once('close', (code, signal) => {
      clearInterval(watch)
      process.off('exit', stop)
      resolve(stalled ?? (signal ? `the process died of ${signal}` : null))
    })
  })
}

/** Adds up what the process noted; `last` is what it was busy with. */
function readResults(log, suite) {
  let last = {}
  let ended = false
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue // empty, or cut short by a crash
    const { event, file, title, text, reason, ...time } = JSON.parse(line)
    if (event === 'test') last = { file, title }
    if (event === 'pass') {
      suite.passed++
      total.passed++
    }
    if (event === 'fail') {
      suite.failed++
      fail(`${suite.title}: ${title}`, text)
    }
    if (event === 'skip') {
      suite.skipped++
      noteSkip(reason, suite.backend)
    }
    if (event === 'time') {
      total.times.push({ text: `${relative(file)} on ${suite.backend}`, ...time })
    }
    if (event === 'end') ended = true
  }
  return { last, ended }
}

const relative = (file) => path.relative(ROOT, file)

main()
