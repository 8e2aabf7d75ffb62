'use strict'
// What things cost, each row beside its yardstick measured in the same run.
//
//   node --expose-gc test/bench/index.js [--json | --markdown] [--chart] [--quick] [--only WORD]
//   node --expose-gc test/bench/index.js layouts ...    copies between layouts drawn from a seed (layouts/index.js)
//   node --expose-gc test/bench/index.js math ...       samebytes/math beside loops by hand and NumPy (math/index.js)
//   node --expose-gc test/bench/index.js algorithms ... its algorithms beside NumPy, sharp and loops (algorithms/index.js)
//
// --chart also draws docs/benchmarks.svg of the results (chart.js). Every other file of this folder but cuda.js, which needs a GPU
// (npm run bench:cuda), and those that are required here exports `rows`. A row has `what`, a `limit` and one of
//
//   run (n)      does the thing n times; timed in turn with the yardstick's `run`
//   measure ()   returns (or promises) its value in `unit`, undefined where there is nothing to
//                measure; the yardstick likewise
//
// limit: { ratio?, value?, over? }, at most: in times the yardstick, in the row's unit, and as much
// more than the yardstick; none is just told. A section may measure and format its rows itself.

const fs = require('node:fs')
const path = require('node:path')
const { backend } = require('samebytes')
const { speedsOf, writeChart } = require('./chart')
const { median } = require('./measure')

const ROUNDS = 15
const NANOSECONDS = 1e6 // in a millisecond

async function main() {
  if (['layouts', 'math', 'algorithms'].includes(process.argv[2])) {
    return require(`./${process.argv[2]}`).main(process.argv.slice(3))
  }
  const options = readOptions(process.argv.slice(2))
  if (backend() !== 'native') {
    throw new Error(`these limits are for the native addon, not for ${backend()}`)
  }
  if (typeof global.gc !== 'function') {
    throw new Error('run it with: node --expose-gc test/bench/index.js')
  }

  const sections = fs
    .readdirSync(__dirname)
    .filter(
      (file) =>
        file.endsWith('.js') &&
        !['index.js', 'chart.js', 'measure.js', 'rivals.js', 'cuda.js'].includes(file),
    )
    .sort()
    .map((file) => require(path.join(__dirname, file)))
    .map((section) => ({
      ...section,
      rows: section.rows.filter(({ what }) => what.includes(options.only)),
    }))
    .filter(({ rows }) => rows.length > 0)

  const results = []
  const tables = new Map() // rows of one format go into one table
  for (const { title, rows, measure = measureRows, format = FORMAT } of sections) {
    const measured = await measure(rows, options)
    if (options.text) console.log(`\n${title}\n\n${table(measured, format)}`)
    tables.set(format, [...(tables.get(format) ?? []), ...measured])
    results.push(...measured)
  }
  if (options.chart) writeChart(speedsOf(results))
  const over = results.filter(({ ok }) => ok === false)
  if (options.json) {
    console.log(
      JSON.stringify({ node: process.version, backend: backend(), rows: results }, null, 2),
    )
  } else if (options.markdown) {
    console.log([...tables].map(([format, rows]) => markdown(rows, format)).join('\n\n'))
  } else {
    console.log(
      `\n${results.length} rows, ${over.length} miss their limit · Node ${process.version}, ${backend()}`,
    )
  }
}

function readOptions(args) {
  const only = args.indexOf('--only')
  const [json, markdown, chart, quick] = ['--json', '--markdown', '--chart', '--quick'].map(
    (name) => args.includes(name),
  )
  return {
    json,
    markdown,
    chart,
    text: !json && !markdown,
    quick,
    only: only === -1 ? '' : args[only + 1],
  }
}

async function measureRows(rows, { quick }) {
  const timed = timeInTurn(
    rows.filter(({ run }) => run),
    quick,
  )
  const results = []
  for (const row of rows) {
    const { value, yardstick } = timed.get(row) ?? {
      value: await row.measure({ quick }),
      yardstick: await row.yardstick?.measure({ quick }),
    }
    results.push(judge(row, value, yardstick))
  }
  return results
}

/** Nanoseconds per call of each row and of its yardstick: medians over rounds in which all take part. */
function timeInTurn(rows, quick) {
  const runs = new Set(
    rows.flatMap(({ run, yardstick }) => (yardstick ? [run, yardstick.run] : [run])),
  )
  const samples = new Map([...runs].map((run) => [run, []]))
  const rounds = quick ? 5 : ROUNDS
  for (let round = -2; round < rounds; round++) {
    // two to warm up
    const order = round % 2 === 0 ? [...runs] : [...runs].reverse()
    for (const run of order) {
      global.gc()
      const n = run.count ?? 1e5
      run((n / 4) | 0) // the collection has made V8's young generation small: it grows again first
      const start = performance.now()
      run(n)
      const time = ((performance.now() - start) * NANOSECONDS) / n
      if (round >= 0) samples.get(run).push(time)
    }
  }
  return new Map(
    rows.map((row) => [
      row,
      {
        value: median(samples.get(row.run)),
        yardstick: row.yardstick && median(samples.get(row.yardstick.run)),
      },
    ]),
  )
}

function judge(
  { what, unit = 'ns', limit = {}, yardstick: { what: yardstickName } = {} },
  value,
  yardstick,
) {
  const ratio = yardstick === undefined ? undefined : value / yardstick
  const limited = [limit.ratio, limit.value, limit.over].some((most) => most !== undefined)
  const ok =
    limited && value !== undefined
      ? !(ratio > limit.ratio) && !(value > limit.value) && !(value > yardstick + limit.over)
      : undefined
  return { what, unit, value, yardstickName, yardstick, ratio, limit, ok }
}

const FORMAT = {
  head: ['what', '', 'beside', '', 'ratio', 'at most', ''],
  numbers: [1, 3, 4, 5], // columns
  cellsOf,
}

function cellsOf({ what, unit, value, yardstickName, yardstick, ratio, limit, ok }) {
  return [
    what,
    amount(value, unit),
    yardstickName ?? '',
    yardstick === undefined ? '' : amount(yardstick, unit),
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    [
      limit.ratio && `${limit.ratio} ×`,
      limit.value !== undefined && amount(limit.value, unit, 0),
      limit.over !== undefined && `+ ${amount(limit.over, unit, 0)}`,
    ]
      .filter(Boolean)
      .join(', '),
    ok === undefined ? '' : ok ? 'ok' : 'OVER',
  ]
}

function table(results, { head, numbers, cellsOf }) {
  const rows = [head, ...results.map(cellsOf)]
  const widths = head.map((_, c) => Math.max(...rows.map((row) => row[c].length)))
  return rows
    .map(
      (row) =>
        '  ' +
        row
          .map((cell, c) =>
            numbers.includes(c) ? cell.padStart(widths[c]) : cell.padEnd(widths[c]),
          )
          .join('  ')
          .trimEnd(),
    )
    .join('\n')
}

function markdown(results, { head, numbers, cellsOf }) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [head, head.map((_, c) => (numbers.includes(c) ? '---:' : '---')), ...results.map(cellsOf)]
    .map(line)
    .join('\n')
}

function amount(value, unit, digits = value < 10 ? 1 : 0) {
  if (value === undefined) return 'missing'
  return `${value.toFixed(digits)} ${unit}`
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
