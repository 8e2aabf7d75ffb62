'use strict'
// The bench's results as a picture: how fast others do the same, with samebytes at 1. What is right of 1 is faster than samebytes.
//
//   npm run bench -- --chart     draws docs/benchmarks.svg from the run's own results
//   node test/bench/chart.js     draws it from the tables of docs/benchmarks.md, which are rounded
//
// Speeds are { [what]: { [who]: speed beside samebytes } }, from either.

const fs = require('node:fs')
const path = require('node:path')
const { ROOT } = require('./measure')

const FILE = path.join(ROOT, 'docs', 'benchmarks.svg')
const PAGE = path.join(ROOT, 'docs', 'benchmarks.md')

/** Rows of the picture, in its order: a title, and what the bench calls it. */
const ROWS = {
  'Copies of 16 to 250 MB, one thread': [
    ['copy, contiguous', 'contiguous copy, 64 MiB'],
    ['transpose, float32', 'transpose 4096 × 4096, float32'],
    ['transpose, uint8', 'transpose 4096 × 4096, uint8'],
    ['permute (3, 1, 0, 2), float32', 'permute (3, 1, 0, 2) of 64 × 48 × 40 × 36, float32'],
    ['images NHWC → NCHW, uint8', 'NHWC → NCHW, 8 × 1080 × 1920 × 3, uint8'],
    ['the same to float32, scaled', 'the same, with scale and bias'],
    ['cast float32 → float64', 'float32 → float64'],
    ['cast float32 → float16', 'float32 → float16'],
    ['cast uint8 → float32', 'uint8 → float32'],
    ['fill', 'fill, 64 MiB, float32'],
    ['random, uniform', 'uniform float32, 64 MiB made anew'],
  ],
  'Small tensors and views': [
    ['empty([4, 4])', 'empty([4, 4]), whole life'],
    ['the same, data written', 'the same, data read and written'],
    ['transposed view, T', 'T'],
    ["view, slice('1:3')", "slice('1:3')"],
    ['fromBlob(typed array)', 'fromBlob(typed array)'],
    ['copyFrom, 4096 bytes', 'the same, 4096 bytes'],
    ['model, forward of 2 × 3', 'module.forward, 2 × 3'],
  ],
}

/** Who is shown, as the bench names them, with a colour and a shape; the last one takes the yardsticks of small things. */
const LOOKS = {
  WASM: ['samebytes in WebAssembly', '#1f6feb', 'ring'],
  bound: ['the loop by hand', '#57606a', 'bar'],
  NumPy: ['NumPy', '#8250df', 'dot'],
  PyTorch: ['PyTorch', '#cf222e', 'dot'],
  'tfjs wasm': ['tfjs (WASM)', '#bf8700', 'diamond'],
  'tfjs cpu': ['tfjs (CPU)', '#bf8700', 'square'],
  'numpy-ts': ['numpy-ts', '#1a7f37', 'diamond'],
  'ndarray-ops': ['ndarray', '#1a7f37', 'square'],
  yardstick: ['a yardstick, named at its row', '#24292f', 'diamond'],
}

// ---- From a run's results ----

/** @param {object[]} results  what the sections of the bench gave */
function speedsOf(results) {
  return Object.fromEntries(
    results.map((result) => [
      result.what,
      result.GBps === undefined ? beside(result) : besideOurs(result),
    ]),
  )
}

/** Times: the yardstick's speed is the row's time over its own. */
const beside = ({ value, yardstick, yardstickName }) =>
  value > 0 && yardstick > 0 ? { yardstick: value / yardstick, name: yardstickName } : {}

function besideOurs({ GBps, bounds }) {
  const speeds = { ...GBps, bound: bounds.native }
  return Object.fromEntries(
    Object.keys(LOOKS)
      .filter((who) => speeds[who] > 0)
      .map((who) => [who, speeds[who] / GBps.native]),
  )
}

// ---- From the page's tables ----

/** @param {string} markdown */
function speedsOfPage(markdown) {
  const speeds = {}
  let head = []
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('| ')) head = []
    else if (head.length === 0) head = cells(line)
    else if (!line.startsWith('| ---')) {
      speeds[cells(line)[0]] = head.includes('ratio')
        ? timesIn(cells(line))
        : speedsIn(head, cells(line))
    }
  }
  return speeds
}

const cells = (line) =>
  line
    .slice(2, -2)
    .split(' | ')
    .map((cell) => cell.trim())

function timesIn([, , name, , ratio]) {
  const times = parseFloat(ratio)
  return times > 0 ? { yardstick: times, name } : {}
}

function speedsIn(head, row) {
  const column = (name, from = 0) => parseFloat(row[head.indexOf(name, from)])
  const ours = column('samebytes')
  const speeds = { WASM: column('WASM / native'), bound: column('bound') / ours }
  for (const who of Object.keys(LOOKS)) if (head.includes(who)) speeds[who] = column(who) / ours
  return Object.fromEntries(Object.entries(speeds).filter(([, speed]) => speed > 0))
}

// ---- The picture ----

const [WIDTH, LEFT, RIGHT, ROW, TOP] = [900, 222, 650, 21, 62]
const [LEAST, MOST] = [0.01, 10]
const TICKS = [
  [0.01, '1/100'],
  [0.1, '1/10'],
  [0.5, '1/2'],
  [1, '1'],
  [2, '2'],
  [5, '5'],
  [10, '10 ×'],
]

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
const round = (number) => Math.round(number * 10) / 10
/** Where a speed stands; what is out of the picture stands at its edge. */
const xOf = (speed) =>
  round(
    LEFT +
      ((RIGHT - LEFT) * Math.log(Math.min(MOST, Math.max(LEAST, speed)) / LEAST)) /
        Math.log(MOST / LEAST),
  )

function mark(x, y, color, shape) {
  if (shape === 'ring') {
    return `<circle cx="${x}" cy="${y}" r="4" fill="#fff" stroke="${color}" stroke-width="2"/>`
  }
  if (shape === 'bar') {
    return `<rect x="${round(x - 1.5)}" y="${y - 7}" width="3" height="14" fill="${color}"/>`
  }
  if (shape === 'square') {
    return `<rect x="${round(x - 3.5)}" y="${y - 3.5}" width="7" height="7" fill="${color}"/>`
  }
  if (shape === 'diamond') return `<path d="M${x} ${y - 5}l5 5-5 5-5-5z" fill="${color}"/>`
  return `<circle cx="${x}" cy="${y}" r="4.5" fill="${color}"/>`
}

const text = (x, y, words, more = '') => `<text x="${x}" y="${y}"${more}>${escaped(words)}</text>`

/** @param {Record<string, Record<string, any>>} speeds  @returns {string} an SVG */
function draw(speeds) {
  const lines = []
  const used = new Set()
  let y = TOP + 24
  for (const [title, rows] of Object.entries(ROWS)) {
    const there = rows.filter(([, what]) => Object.keys(speeds[what] ?? {}).length > 0)
    if (there.length === 0) continue
    lines.push(text(8, y + 4, title, ' font-weight="600"'))
    y += ROW + 2
    for (const [label, what] of there) {
      const { name, ...all } = speeds[what]
      lines.push(
        `<path d="M${LEFT} ${y}H${RIGHT}" stroke="#eaeef2"/>`,
        text(LEFT - 10, y + 4, label, ' text-anchor="end"'),
      )
      for (const [who, [, color, shape]] of Object.entries(LOOKS)) {
        if (!(all[who] > 0)) continue
        used.add(who)
        lines.push(mark(xOf(all[who]), y, color, shape))
      }
      if (name !== undefined) {
        lines.push(text(RIGHT + 10, y + 4, name, ' fill="#57606a" font-size="11"'))
      }
      y += ROW
    }
    y += 8
  }
  const bottom = y - 10
  const grid = TICKS.map(
    ([speed, words]) =>
      `<path d="M${xOf(speed)} ${TOP}V${bottom}" stroke="${speed === 1 ? '#1f6feb' : '#d0d7de'}"${speed === 1 ? ' stroke-width="2"' : ''}/>` +
      text(xOf(speed), TOP - 6, words, ' text-anchor="middle" font-size="11" fill="#57606a"'),
  )
  const axis = [
    text(
      xOf(1),
      TOP - 24,
      'samebytes = 1',
      ' text-anchor="middle" font-weight="600" fill="#1f6feb"',
    ),
    text(LEFT, TOP - 24, '← slower than samebytes', ' fill="#57606a" font-size="11"'),
    text(RIGHT, TOP - 24, 'faster →', ' text-anchor="end" fill="#57606a" font-size="11"'),
  ]
  const legend = []
  let [x, below] = [16, bottom + 22]
  for (const [who, [words, color, shape]] of Object.entries(LOOKS)) {
    if (!used.has(who)) continue
    const width = 32 + words.length * 7
    if (x + width > WIDTH) [x, below] = [16, below + ROW]
    legend.push(mark(x, below, color, shape), text(x + 11, below + 4, words))
    x = Math.round(x + width)
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${below + 18}" viewBox="0 0 ${WIDTH} ${below + 18}" font-family="system-ui, sans-serif" font-size="12.5" fill="#24292f" role="img">
<title>Speeds of others beside samebytes</title>
<rect width="100%" height="100%" fill="#fff"/>
${[...grid, ...axis, ...lines, ...legend].join('\n')}
</svg>
`
}

/** @param {Record<string, Record<string, any>>} speeds */
function writeChart(speeds) {
  fs.writeFileSync(FILE, draw(speeds))
  return path.relative(ROOT, FILE)
}

if (require.main === module) console.log(writeChart(speedsOfPage(fs.readFileSync(PAGE, 'utf8'))))

module.exports = { draw, speedsOf, speedsOfPage, writeChart }
