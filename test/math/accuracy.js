'use strict'
// How far elementwise functions are off at most: what src/math/ops.def claims, and what was seen.
//
//   node test/math/accuracy.js [COUNT]           measures beside MPFR, and fails where a claim is wrong. COUNT: arguments of each function of float64,
//                                                a million where none is given; of float32's functions of two arguments ten times as many
//   node test/math/accuracy.js --write [COUNT]   writes accuracy.json as well, of which `npm run docs` makes the table of docs/arithmetic.md

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { readRows } = require('../../scripts/generate/math-functions')

const ROOT = path.join(__dirname, '..', '..')
const SEEN = path.join(__dirname, 'accuracy.json')
const CLOSE = 0.501 // of float32, in ops.def

const inexact = () => readRows().filter(({ accuracy }) => accuracy !== 'EXACT')

/** What float64 is claimed to be less off than, in units. */
const claimOf = ({ accuracy }) => Number(/[\d.]+/.exec(accuracy)[0])

/** Units, not less than they are. */
const roundedUp = (units) => Math.ceil(units * 1e4) / 1e4

// ---- float16 and bfloat16: all arguments, or drawn pairs, beside the functions of float64 ----

const SHORT = {
  float16: { digits: 11, least: -14, top: 15 },
  bfloat16: { digits: 8, least: -126, top: 127 },
}
const PAIRS = 2 ** 18

/** How far off a number is, in units of the last place. What is rounded to infinity is taken for the next power of two. */
function unitsOff(made, exact, { digits, least, top }) {
  if (Number.isNaN(exact) || exact === made) {
    return Number.isNaN(exact) && !Number.isNaN(made) ? Infinity : 0
  }
  const exponent = Math.min(Math.max(Math.floor(Math.log2(Math.abs(exact))), least), top)
  const near = Number.isFinite(made) ? made : Math.sign(made) * 2 ** (top + 1)
  return near !== made && Math.abs(exact) > Math.abs(near)
    ? 0
    : Math.abs(near - exact) / 2 ** (exponent - digits + 1)
}

function worstOf({ js, count }, dtype) {
  const { fromBytes } = require('samebytes')
  const math = require('samebytes/math')
  const n = count === 1 ? 2 ** 16 : PAIRS
  const bits = (k) =>
    new Uint16Array(n).map((_, i) =>
      count === 1 ? i : Math.imul(i + 1, k === 0 ? 0x9e3779b1 : 0x85ebca77) >>> 16,
    )
  const operands = Array.from({ length: count }, (_, k) =>
    fromBytes(new Uint8Array(bits(k).buffer), [n], dtype),
  )
  const made = math[js](...operands).astype('float64')
  const exact = math[js](...operands.map((t) => t.astype('float64')))
  const { data } = exact
  return made.data.reduce((worst, x, i) => Math.max(worst, unitsOff(x, data[i], SHORT[dtype])), 0)
}

/** The most that float16 and bfloat16 are off, by function. */
const shortErrors = () =>
  Object.fromEntries(
    inexact().map((row) => [row.name, Math.max(worstOf(row, 'float16'), worstOf(row, 'bfloat16'))]),
  )

// ---- The table ----

/** What was seen, by function and dtype; a claim that it exceeds, or a function that it lacks, is an error. */
function readSeen() {
  const seen = JSON.parse(fs.readFileSync(SEEN, 'utf8'))
  for (const row of inexact()) {
    const { float16, float32 = 0, float64 } = seen[row.name] ?? {}
    if (!(float64 < claimOf(row) && float32 <= CLOSE && float16 <= CLOSE)) {
      throw new Error(
        `${row.name}: ${SEEN} has no errors within its claims; node test/math/accuracy.js --write measures them`,
      )
    }
  }
  return seen
}

const BEGIN = '<!-- accuracy: npm run docs -->\n'
const END = '<!-- /accuracy -->'

/** docs/arithmetic.md with the table as it is now. */
function arithmeticPage() {
  const page = fs.readFileSync(path.join(ROOT, 'docs', 'arithmetic.md'), 'utf8')
  const [before, rest] = page.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  const seen = readSeen()
  const exact = readRows()
    .filter(({ accuracy }) => accuracy === 'EXACT')
    .map(({ js }) => `\`${js}\``)
  const lines = inexact().map((row) => {
    const isNearest = row.accuracy.startsWith('ULP')
    return `| \`${row.js}\` | ${isNearest ? 'the nearest' : CLOSE} | ${claimOf(row)} | ${seen[row.name].float64} | ${CLOSE} |`
  })
  return `${before}${BEGIN}| function | float32 | float64 | seen of float64 | float16, bfloat16 |\n| --- | --- | --- | --- | --- |\n${lines.join('\n')}\n| ${exact.join(', ')} | exact | exact | | exact |\n${after}`
}

// ---- Measuring ----

/** What accuracy.c prints: [name, claim, worst] of each function. */
function measured(dtype, count) {
  const { status, stdout, error } = spawnSync(
    'bash',
    [path.join(__dirname, 'accuracy.sh'), dtype, String(count)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  if (error !== undefined || status > 1) process.exit(2)
  process.stdout.write(stdout.replace(/^/gm, `${dtype} `).replace(/^\w+ $/gm, ''))
  if (status !== 0) process.exitCode = 1
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
}

function main() {
  const count = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 1e6)
  const seen = Object.fromEntries(inexact().map(({ name }) => [name, {}]))
  for (const [dtype, n] of [
    ['float32', 10 * count],
    ['float64', count],
  ]) {
    for (const [name, , units] of measured(dtype, n)) {
      if (seen[name] !== undefined) seen[name][dtype] = roundedUp(Number(units))
    }
  }
  if (!process.argv.includes('--write')) return
  for (const [name, units] of Object.entries(shortErrors())) seen[name].float16 = roundedUp(units)
  fs.writeFileSync(
    SEEN,
    `{\n${Object.entries(seen)
      .map(([name, errors]) => `  ${JSON.stringify(name)}: ${JSON.stringify(errors)}`)
      .join(',\n')}\n}\n`,
  )
}

if (require.main === module) main()

module.exports = { CLOSE, SEEN, arithmeticPage, roundedUp, shortErrors }
