'use strict'
// What things cost, each row beside its yardstick measured in the same run.
//
//   node --expose-gc test/bench/index.js [--json | --markdown] [--quick] [--only WORD]
//
// Every other file of this folder exports `rows`. A row has `what`, a `limit` and one of
//
//   run (n)      does the thing n times; timed in turn with the yardstick's `run`
//   measure ()   returns (or promises) its value in `unit`, undefined where there is nothing to
//                measure; the yardstick likewise
//
// limit: { ratio?, value? }, in times the yardstick and in the row's unit; neither is just told.

const fs = require('node:fs')
const path = require('node:path')
const { backend } = require('samebytes')
const { median } = require('./measure')

const ROUNDS = 15
const NANOSECONDS = 1e6 // in a millisecond

async function main () {
  const options = readOptions(process.argv.slice(2))
  if (backend() !== 'native') throw new Error(`these limits are for the native addon, not for ${backend()}`)
  if (typeof global.gc !== 'function') throw new Error('run it with: node --expose-gc test/bench/index.js')

  const sections = fs.readdirSync(__dirname)
    .filter(file => file.endsWith('.js') && !['index.js', 'measure.js'].includes(file))
    .sort()
    .map(file => require(path.join(__dirname, file)))
    .map(({ title, rows }) => ({ title, rows: rows.filter(({ what }) => what.includes(options.only)) }))
    .filter(({ rows }) => rows.length > 0)

  const results = []
  for (const { title, rows } of sections) {
    const measured = await measureRows(rows, options)
    if (options.text) console.log(`\n${title}\n\n${table(measured)}`)
    results.push(...measured)
  }
  const over = results.filter(({ ok }) => ok === false)
  if (options.json) console.log(JSON.stringify({ node: process.version, backend: backend(), rows: results }, null, 2))
  else if (options.markdown) console.log(markdown(results))
  else console.log(`\n${results.length} rows, ${over.length} over their limit · Node ${process.version}, ${backend()}`)
}

function readOptions (args) {
  const only = args.indexOf('--only')
  const [json, markdown, quick] = ['--json', '--markdown', '--quick'].map(name => args.includes(name))
  return { json, markdown, text: !json && !markdown, quick, only: only === -1 ? '' : args[only + 1] }
}

async function measureRows (rows, { quick }) {
  const timed = timeInTurn(rows.filter(({ run }) => run), quick)
  const results = []
  for (const row of rows) {
    const { value, yardstick } = timed.get(row) ?? {
      value: await row.measure({ quick }),
      yardstick: await row.yardstick?.measure({ quick })
    }
    results.push(judge(row, value, yardstick))
  }
  return results
}

/** Nanoseconds per call of each row and of its yardstick: medians over rounds in which all take part. */
function timeInTurn (rows, quick) {
  const runs = new Set(rows.flatMap(({ run, yardstick }) => yardstick ? [run, yardstick.run] : [run]))
  const samples = new Map([...runs].map(run => [run, []]))
  const rounds = quick ? 5 : ROUNDS
  for (let round = -2; round < rounds; round++) { // two to warm up
    const order = round % 2 === 0 ? [...runs] : [...runs].reverse()
    for (const run of order) {
      global.gc()
      const n = run.count ?? 1e5
      run(n / 4 | 0) // the collection has made V8's young generation small: it grows again first
      const start = performance.now()
      run(n)
      const time = (performance.now() - start) * NANOSECONDS / n
      if (round >= 0) samples.get(run).push(time)
    }
  }
  return new Map(rows.map(row => [row, {
    value: median(samples.get(row.run)),
    yardstick: row.yardstick && median(samples.get(row.yardstick.run))
  }]))
}

function judge ({ what, unit = 'ns', limit = {}, yardstick: { what: yardstickName } = {} }, value, yardstick) {
  const ratio = yardstick === undefined ? undefined : value / yardstick
  const limited = limit.ratio !== undefined || limit.value !== undefined
  const ok = limited && value !== undefined ? !(ratio > limit.ratio) && !(value > limit.value) : undefined
  return { what, unit, value, yardstickName, yardstick, ratio, limit, ok }
}

const HEAD = ['what', '', 'beside', '', 'ratio', 'at most', '']
const NUMBERS = [1, 3, 4, 5] // columns

function cellsOf ({ what, unit, value, yardstickName, yardstick, ratio, limit, ok }) {
  return [
    what,
    amount(value, unit),
    yardstickName ?? '',
    yardstick === undefined ? '' : amount(yardstick, unit),
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    [limit.ratio && `${limit.ratio} ×`, limit.value !== undefined && amount(limit.value, unit, 0)].filter(Boolean).join(', '),
    ok === undefined ? '' : ok ? 'ok' : 'OVER'
  ]
}

function table (results) {
  const rows = [HEAD, ...results.map(cellsOf)]
  const widths = HEAD.map((_, c) => Math.max(...rows.map(row => row[c].length)))
  return rows.map(row => '  ' + row.map((cell, c) => NUMBERS.includes(c)
    ? cell.padStart(widths[c])
    : cell.padEnd(widths[c])).join('  ').trimEnd()).join('\n')
}

function markdown (results) {
  const line = cells => `| ${cells.join(' | ')} |`
  return [HEAD, HEAD.map((_, c) => NUMBERS.includes(c) ? '---:' : '---'), ...results.map(cellsOf)].map(line).join('\n')
}

function amount (value, unit, digits = value < 10 ? 1 : 0) {
  if (value === undefined) return 'missing'
  return `${value.toFixed(digits)} ${unit}`
}

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
