'use strict'

// Hostile programs: random sequences of public calls that try to read freed memory, to end the process, or to keep it busy for
// ever. README.md says what they are for.
//
//   node test/hostile/run.js [--family f] [--backend b] [--seconds n] [--seed s] [--programs n] [--long] [--sanitized] [--trace]
//
// Without options: a fixed number of programs of each family, the same ones each time, in about a minute. --seconds: seeds of the
// moment, for that long on each back end, and longer programs. --seed: that program, or --programs of them from there on; --long: as
// --seconds has them. --sanitized: with the addon of `scripts/build sanitize`. --trace: each call is written to stderr before it is
// made. Families and back ends may be lists.

const { spawn, execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')

const ROOT = path.join(__dirname, '..', '..')
const BACKENDS = ['native', 'wasm', 'wasm-shared']
const FAMILIES = fs
  .readdirSync(path.join(__dirname, 'families'))
  .map((name) => path.basename(name, '.js'))
  .sort()
const SHM = '/dev/shm'
const AT_ONCE = 2 // children
const EACH = 25 // programs of a child, unless a family says otherwise
// A program that takes longer never ends; sanitized three times that.
const STALL_MS = 600_000 // since it began

const total = { programs: 0, failed: 0, calls: 0, children: 0 }
const skipped = new Set()
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-hostile-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    sum()
    process.exit(1)
  })
}

async function main() {
  const options = readArguments()
  const tasks = options.seconds > 0 ? endless(options) : fixed(options)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const task of tasks) await finish(task, options)
    }),
  )
  if (total.programs === 0) total.failed++
  sum()
  process.exitCode = total.failed === 0 ? 0 : 1
}

/** What was run until now. */
function sum() {
  for (const reason of skipped) console.log(`skipped: ${reason}`)
  console.log(
    `${total.calls} calls in ${total.programs} programs and ${total.children} processes, ${Math.round(performance.now() / 1000)} s`,
  )
  console.log(`${total.programs - total.failed} passed, ${total.failed} failed`)
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      family: { type: 'string', short: 'f' },
      backend: { type: 'string', short: 'b' },
      seconds: { type: 'string' },
      seed: { type: 'string' },
      programs: { type: 'string' },
      sanitized: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
    },
  })
  const some = (given, all) =>
    given === undefined
      ? all
      : given
          .split(',')
          .map((name) =>
            all.includes(name) ? name : refuse(`${name} is none of ${all.join(', ')}`),
          )
  const count = (name, missing) =>
    values[name] === undefined
      ? missing
      : /^\d+$/.test(values[name])
        ? Number(values[name])
        : refuse(`--${name} is a number, not ${values[name]}`)
  return {
    families: some(values.family, FAMILIES),
    backends: values.sanitized ? some(values.backend, ['native']) : some(values.backend, BACKENDS),
    seconds: count('seconds', 0),
    seed: count('seed', undefined),
    programs: count('programs', undefined),
    sanitized: values.sanitized,
    long: values.long,
    trace: values.trace,
  }
}

function refuse(text) {
  console.error(text)
  process.exit(2)
}

// ---- What is to be run ----

/** { backends, programs (of a fixed run), each (of them in a process), flags (of Node), heavy (in long runs), missing (why it cannot be run), run } */
function familyOf(name) {
  return require(`./families/${name}`)
}

function places({ families, backends }) {
  const all = backends.flatMap((backend) =>
    families
      .filter((family) => familyOf(family).backends.includes(backend))
      .map((family) => ({ family, backend })),
  )
  return all.filter(({ family, backend }) => {
    const reason = familyOf(family).missing?.(backend)
    if (reason) skipped.add(`${family}, ${backend}: ${reason}`)
    return !reason
  })
}

/** The programs of a run that is the same each time. */
function* fixed(options) {
  for (const { family, backend } of places(options)) {
    const first = options.seed ?? 1
    const count = options.programs ?? (options.seed === undefined ? familyOf(family).programs : 1)
    const { each = EACH } = familyOf(family)
    for (let seed = first; seed < first + count; seed += each) {
      yield {
        family,
        backend,
        seed,
        count: Math.min(each, first + count - seed),
        long: options.long,
      }
    }
  }
}

/** Seeds of the moment, each back end in its turn for so many seconds. */
function* endless(options) {
  let seed = options.seed ?? Date.now() % 2 ** 32
  for (const backend of options.backends) {
    const all = places({ ...options, backends: [backend] })
    const end = performance.now() + options.seconds * 1000
    for (let i = 0; all.length > 0 && performance.now() < end; i++, seed += EACH) {
      const place = all[i % all.length]
      yield { ...place, seed, count: Math.min(familyOf(place.family).each ?? EACH, 8), long: true }
    }
  }
}

// ---- One task: a child, and another one for what a child that died has left ----

/** what the last one of those that take much memory is at: one such process at a time */
let heavy = Promise.resolve()

function finish(task, options) {
  if (!task.long || !familyOf(task.family).heavy) return finishNow(task, options)
  heavy = heavy.then(() => finishNow(task, options))
  return heavy
}

async function finishNow(task, options) {
  let { seed, count } = task
  while (count > 0) {
    const { done, calls, findings, running, ending, text } = await child(
      { ...task, seed, count },
      options,
    )
    total.children++
    total.calls += calls
    total.programs += done
    for (const finding of findings) report(task, finding.seed, finding.text, options)
    if (ending === null && done === count) return
    const broken = running ?? seed + done - 1
    if (running !== null) total.programs++
    report(
      task,
      broken,
      `${ending ?? 'the process ended before its programs did'}\n${text}`.trim(),
      options,
    )
    count -= broken + 1 - seed
    seed = broken + 1
  }
}

function report({ family, backend, long }, seed, text, { sanitized }) {
  total.failed++
  console.log(
    `FINDING ${family}, ${backend}, seed ${seed}: ${text}\n  again: node test/hostile/run.js --family ${family} --backend ${backend} --seed ${seed}${long ? ' --long' : ''}${sanitized ? ' --sanitized' : ''} --trace`,
  )
}

/** Runs some programs in a process; { done, calls, findings, running (the seed it was busy with), ending (what was wrong with its end), text }. */
function child({ family, backend, seed, count, long }, { sanitized, trace }) {
  const log = path.join(scratch, `${family}-${backend}-${seed}`)
  fs.writeFileSync(log, '')
  const { flags = () => [] } = familyOf(family)
  const env = {
    ...process.env,
    TMPDIR: scratch,
    SAMEBYTES_BACKEND: backend,
    ...(sanitized ? sanitizer() : {}),
  }
  const args = [
    '--expose-gc',
    ...flags(seed, backend),
    path.join(__dirname, 'child.js'),
    JSON.stringify({ family, seed, count, long, trace, log }),
  ]
  // A group of its own, so that what it has started ends with it.
  const run = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', trace ? 'inherit' : 'pipe'],
    detached: true,
  })
  let text = ''
  const keep = (data) => {
    text = (text + data).slice(-4000)
  }
  run.stdout.on('data', keep)
  run.stderr?.on('data', keep)
  const stop = () => {
    try {
      process.kill(-run.pid, 'SIGKILL')
    } catch {}
  }
  process.once('exit', stop)
  let stalled = false
  const patience = sanitized ? 3 : 1
  const watch = setInterval(() => {
    if (Date.now() - fs.statSync(log).mtimeMs < STALL_MS * patience) return
    stalled = true
    stop()
  }, 1000)
  return new Promise((resolve) => {
    const over = (ending) => {
      clearInterval(watch)
      process.off('exit', stop)
      stop()
      clean(run.pid)
      resolve({ ...notesIn(log), ending, text })
      fs.rmSync(log, { force: true })
    }
    run.once('error', (error) => over(`could not start: ${error.message}`))
    run.once('close', (code, signal) => {
      if (stalled) over('never ended; the process was killed')
      else {
        over(
          signal !== null
            ? `the process died of ${signal}`
            : code === 0
              ? null
              : `the process ended with exit code ${code}`,
        )
      }
    })
  })
}

/** Takes away what a child that died left in shared memory: names of its own, and those that a link beside them says are its. */
function clean(pid) {
  const names = fs.existsSync(SHM) ? fs.readdirSync(SHM) : []
  const made = names
    .filter((name) => name.startsWith('.samebytes-'))
    .map((name) => [name, textOf(name)])
    .filter(([, text]) => text.startsWith(`${pid}:`) || text.includes(`sb-hostile-${pid}-`))
  const gone = [
    ...names.filter((name) => name.startsWith(`sb-hostile-${pid}-`)),
    ...made.flatMap(([name, text]) => [name, text.split(':').slice(4).join(':')]),
  ]
  for (const name of gone) {
    if (name !== '' && !name.includes('/')) {
      fs.rmSync(path.join(SHM, name), { recursive: true, force: true })
    }
  }
}

function textOf(name) {
  try {
    return fs.readlinkSync(path.join(SHM, name))
  } catch {
    return '' // no link, or gone
  }
}

/** What a child noted. */
function notesIn(log) {
  const found = { done: 0, calls: 0, findings: [], running: null }
  for (const line of fs.readFileSync(log, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue // empty, or cut short by a crash
    const { begin, end, calls = 0, seed, finding } = JSON.parse(line)
    if (begin !== undefined) found.running = begin
    if (finding !== undefined) found.findings.push({ seed, text: finding })
    if (end !== undefined) {
      found.running = null
      found.done++
      found.calls += calls
    }
  }
  return found
}

let asan
/** What .ci/run has for the tests on the sanitized addon. */
function sanitizer() {
  asan ??= execFileSync(process.env.CC ?? 'gcc', ['-print-file-name=libasan.so'], {
    encoding: 'utf8',
  }).trim()
  return {
    LD_PRELOAD: asan,
    ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1:strict_string_checks=1',
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    SAMEBYTES_BINARY: path.join(ROOT, 'build-asan', 'samebytes.node'),
    SAMEBYTES_SANITIZED: '1',
  }
}

main()
