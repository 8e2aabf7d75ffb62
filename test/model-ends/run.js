'use strict'
// Programs of cases.js, many times: each in a process of its own, which has to end as it says.
//
//   node test/model-ends/run.js [--case text] [--times n] [--seconds n] [--seed n] [--sanitized]
//
// Without options each once. --case: those whose names have this text. --seconds: rounds of all of them, for so long. --seed: of the
// first round; each round has the next one. --sanitized: with the addon of `scripts/build sanitize`.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { parseArgs } = require('node:util')
const { launch } = require('./launch')
const { CASES } = require('./cases')

const AT_ONCE = 2 // processes
const total = { passed: 0, failed: 0 }
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-ends-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

async function main() {
  const text = /** @type {const} */ ({ type: 'string' })
  const { values } = parseArgs({
    options: {
      case: text,
      times: text,
      seconds: text,
      seed: text,
      sanitized: { type: 'boolean', default: false },
    },
  })
  if (values.sanitized) Object.assign(process.env, sanitizer())
  const programs = programsOf(values)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const { name, seed } of programs) await run(name, seed)
    }),
  )
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
}

/** Round by round. */
function* programsOf({ case: part = '', times, seconds, seed: first = '0' }) {
  const end = performance.now() + Number(seconds ?? 0) * 1000
  const names = Object.keys(CASES).filter((name) => name.includes(part))
  const isOver = (round) =>
    seconds === undefined ? round >= Number(times ?? 1) : performance.now() >= end
  for (let round = 0; !isOver(round); round++) {
    for (const name of names) yield { name, seed: Number(first) + round }
  }
}

async function run(name, seed) {
  const wrong = await launch(name, seed, folder)
  if (wrong === '') total.passed++
  else {
    total.failed++
    console.log(`FINDING ${name}, seed ${seed}: ${wrong}`)
  }
}

/** What scripts/sanitized has. */
function sanitizer() {
  const root = path.join(__dirname, '..', '..')
  const library = execFileSync(process.env.CC ?? 'gcc', ['-print-file-name=libasan.so'])
  return {
    LD_PRELOAD: String(library).trim(),
    ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1:strict_string_checks=1',
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    SAMEBYTES_BINARY: path.join(root, 'build-asan', 'samebytes.node'),
    SAMEBYTES_SANITIZED: '1',
  }
}

main()
