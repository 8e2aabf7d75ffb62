'use strict'
// Copies, casts, fills and random numbers of 16 to 250 MB, as bytes read and written per second, over
// the better of memcpy and a non-temporal copy of as many bytes (memset for fills). Each has a process
// of its own, and they run in turn, a row at a time.
//
// Peers that are missing are left out. NumPy comes with scripts/setup, PyTorch by `apt-get install
// --no-install-recommends python3-torch`, and the npm peers, which are large, into another folder:
//
//   npm install --ignore-scripts --prefix /tmp/peers ndarray ndarray-ops @stdlib/ndarray \
//     @tensorflow/tfjs-core @tensorflow/tfjs-backend-cpu @tensorflow/tfjs-backend-wasm
//   SAMEBYTES_PEERS=/tmp/peers npm run bench
//
// A bound is what the barest loop that moves the same bytes between the same places reaches, in the best of some orders
// (c/bounds.c), on either side.
//
// limit: { native, wasm } at least, of the yardstick and of native; { peer } times the better of NumPy and PyTorch.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { ROOT, median } = require('./measure')

const ITEMSIZE = { uint8: 1, int16: 2, int32: 4, float16: 2, bfloat16: 2, float32: 4, float64: 8 }
const IMAGES = { shape: [8, 1080, 1920, 3], order: [0, 3, 1, 2] }
const LINE = { shape: [1 << 24] }

const copy = (what, from, to, { shape, order, ...more }, native, wasm) => ({
  what,
  work: { kind: 'copy', from, to, shape, order, ...more },
  limit: { native, wasm },
})
const transpose = (dtype, native, wasm) =>
  copy(
    `transpose 4096 × 4096, ${dtype}`,
    dtype,
    dtype,
    { shape: [4096, 4096], order: [1, 0] },
    native,
    wasm,
  )
const cast = (from, to, native, wasm) => copy(`${from} → ${to}`, from, to, LINE, native, wasm)
const random = (kind) => ({
  what: `${kind} float32, 64 MiB made anew`,
  work: { kind, count: 1 << 24 },
  limit: { peer: 2, wasm: 0.3 },
})

const rows = [
  copy('contiguous copy, 64 MiB', 'uint8', 'uint8', { shape: [1 << 26] }, 0.95, 0.6),
  transpose('float32', 0.7, 0.6),
  transpose('uint8', 0.45, 0.5),
  transpose('int16', 0.6, 0.5),
  transpose('float64', 0.7, 0.5),
  copy('NHWC → NCHW, 8 × 1080 × 1920 × 3, uint8', 'uint8', 'uint8', IMAGES, 0.6, 0.5),
  copy('the same, uint8 → float32', 'uint8', 'float32', IMAGES, 0.85, 0.4),
  copy(
    'the same, with scale and bias',
    'uint8',
    'float32',
    { ...IMAGES, scale: [0.0171, 0.0175, 0.0174], bias: [-2.118, -2.036, -1.804] },
    0.8,
    0.4,
  ),
  copy(
    'permute (3, 1, 0, 2) of 64 × 48 × 40 × 36, float32',
    'float32',
    'float32',
    { shape: [64, 48, 40, 36], order: [3, 1, 0, 2] },
    0.5,
    0.5,
  ),
  ...['float64', 'float16', 'bfloat16'].flatMap((other) => [
    cast('float32', other, 0.9, 0.3),
    cast(other, 'float32', 0.9, 0.3),
  ]),
  cast('uint8', 'float32'),
  cast('int32', 'float32'),
  {
    what: 'fill, 64 MiB, float32',
    work: { kind: 'fill', to: 'float32', ...LINE },
    limit: { native: 0.95, wasm: 0.6 },
  },
  random('uniform'),
  random('normal'),
]

/** A process that answers each line of JSON with one; serve.js has the other side. */
class Child {
  constructor(title, command, args, env = {}) {
    this.title = title
    this.process = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.lines = readline.createInterface({ input: this.process.stdout })
    this.ended = new Promise((resolve, reject) => {
      this.process
        .once('error', reject)
        .once('exit', (code) => reject(new Error(`${title} ended with exit code ${code}`)))
    })
    this.ended.catch(() => {})
  }

  ask(question) {
    const answer = new Promise((resolve) =>
      this.lines.once('line', (line) => resolve(JSON.parse(line))),
    )
    this.process.stdin.write(JSON.stringify(question) + '\n')
    return Promise.race([answer, this.ended])
  }
}

function startAll() {
  const node = (title, file, env) =>
    new Child(title, process.execPath, [path.join(__dirname, 'copy', file)], env)
  const children = [
    node('native', 'ours.js', { SAMEBYTES_BACKEND: 'native', SAMEBYTES_THREADS: '1' }),
    node('two threads', 'ours.js', { SAMEBYTES_BACKEND: 'native', SAMEBYTES_THREADS: '2' }),
    node('npm', 'npm.js'),
  ]
  if (fs.existsSync(path.join(ROOT, 'dist', 'samebytes.wasm'))) {
    children.push(node('WASM', 'ours.js', { SAMEBYTES_BACKEND: 'wasm' }))
  }
  const python = [process.env.PYTHON, '/usr/bin/python3', 'python3']
    .filter(Boolean)
    .find((command) => spawnSync(command, ['-c', 'import numpy']).status === 0)
  if (python) {
    children.push(new Child('Python', python, [path.join(__dirname, 'copy', 'python.py')]))
  }
  return children
}

async function measure(rows, options) {
  const children = startAll()
  try {
    const results = []
    for (const row of rows) results.push(judge(row, await timeInTurn(children, row.work, options)))
    return results
  } finally {
    for (const child of children) child.process.kill()
  }
}

/**
 * Median seconds by who it was. The library and its yardsticks run in every round, others while their time lasts. Each round
 * has an order of its own: who comes after another process finds less in the caches.
 */
async function timeInTurn(children, work, { quick }) {
  const [rounds, budget] = quick ? [3, 0.1] : [11, 0.8] // seconds
  const runners = []
  for (const child of children) {
    for (const name of await child.ask({ work })) {
      const isBound = name.startsWith('bound')
      const who = name === 'samebytes' ? child.title : isBound ? `${child.title} ${name}` : name
      const isYardstick = ['memcpy', 'stream', 'memset'].includes(name)
      if ((isYardstick && child.title !== 'native') || (isBound && child.title === 'two threads')) {
        continue
      }
      runners.push({
        child,
        name,
        who,
        always: isYardstick || who === 'native',
        samples: [],
        spent: 0,
      })
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const runner of shuffled(runners)) {
      if (!runner.always && runner.spent > budget) continue
      const start = performance.now()
      runner.samples.push(await runner.child.ask({ run: runner.name }))
      runner.spent += (performance.now() - start) / 1000
    }
  }
  return Object.fromEntries(runners.map(({ who, samples }) => [who, median(samples)]))
}

function shuffled(items) {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

const PEERS = {
  NumPy: 'NumPy',
  PyTorch: 'PyTorch',
  'ndarray-ops': 'ndarray-ops',
  stdlib: '@stdlib',
  'tfjs cpu': 'tfjs cpu',
  'tfjs wasm': 'tfjs wasm',
}

function bytesOf({ kind, from, to, shape, count }) {
  if (kind !== 'copy' && kind !== 'fill') return count * ITEMSIZE.float32
  return shape.reduce((a, b) => a * b, 1) * (ITEMSIZE[to] + (from ? ITEMSIZE[from] : 0))
}

function judge({ what, work, limit }, seconds) {
  const nbytes = bytesOf(work)
  const GBps = Object.fromEntries(
    Object.entries(seconds).map(([who, time]) => [who, nbytes / time / 1e9]),
  )
  const better = (names) =>
    names.reduce((best, name) => Math.max(best, GBps[name] ?? 0), 0) || undefined
  const { native } = GBps
  const memory = better(['memcpy', 'stream', 'memset'])
  const peer = better(['NumPy', 'PyTorch'])
  const wasm = GBps.WASM && GBps.WASM / native
  const boundOf = (side) =>
    better(Object.keys(GBps).filter((who) => who.startsWith(`${side} bound`)))
  const bounds = { native: boundOf('native'), wasm: boundOf('WASM') }
  const nativeOk = limit.peer ? !(native / peer < limit.peer) : !(native / memory < limit.native)
  const wasmOk = !(wasm < limit.wasm)
  const limited = limit.peer ? peer : limit.native
  return {
    what,
    unit: 'GB/s',
    value: native,
    memory,
    wasm,
    GBps,
    bounds,
    limit,
    nativeOk,
    wasmOk,
    ok: limited ? nativeOk && wasmOk : undefined,
  }
}

const head = [
  'what',
  'memory',
  'samebytes',
  'at least',
  'bound',
  'two threads',
  'WASM / native',
  'at least',
  'bound',
  ...Object.values(PEERS),
  '',
]
const numbers = head.map((_, c) => c).slice(1, -1)

/** Speeds as parts of the yardstick's, or in GB/s where there is none. */
function cellsOf({ what, memory, wasm, GBps, bounds, limit, nativeOk, wasmOk, ok }) {
  const speed = (value) => {
    if (value === undefined) return '–'
    return memory === undefined ? `${value.toFixed(2)} GB/s` : (value / memory).toFixed(2)
  }
  return [
    what,
    memory === undefined ? '–' : `${memory.toFixed(0)} GB/s`,
    speed(GBps.native),
    limit.peer ? `${limit.peer} × peer` : (limit.native?.toFixed(2) ?? ''),
    bounds.native ? speed(bounds.native) : '',
    speed(GBps['two threads']),
    wasm?.toFixed(2) ?? '–',
    limit.wasm?.toFixed(1) ?? '',
    bounds.wasm ? (bounds.wasm / GBps.native).toFixed(2) : '',
    ...Object.keys(PEERS).map((who) => speed(GBps[who])),
    ok === undefined
      ? ''
      : ok
        ? 'ok'
        : [!nativeOk && 'UNDER', !wasmOk && 'WASM UNDER'].filter(Boolean).join(', '),
  ]
}

module.exports = {
  title:
    'Copies: bytes read and written per second, one thread, over the better of memcpy and a non-temporal copy',
  rows,
  measure,
  format: { head, numbers, cellsOf },
}
