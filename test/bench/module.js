'use strict'
// What samebytes/module adds to a bare session of onnxruntime, and what outputs that are given save.

const { execFileSync } = require('node:child_process')
const { ROOT } = require('./measure')

/** Each kind of call in turn, in a process of its own: { [kind]: microseconds, the lower quarter of the rounds; garbage: bytes }. */
const measuring = ({ n, rounds, calls }) => `
  'use strict'
  const ort = require('onnxruntime-node')
  const { ones, zeros } = require('samebytes')
  const { Module } = require('samebytes/module')
  const { ADD } = require('./test/models')
  ;(async () => {
    const [session, module, given] = [await ort.InferenceSession.create(ADD), await Module.load(ADD), await Module.load(ADD)]
    const theirs = () => new ort.Tensor('float32', new Float32Array(${n} * 3), [${n}, 3])
    const [a, b, c] = [theirs(), theirs(), theirs()]
    const x = ones([${n}, 3])
    given.setOutput('c', zeros([${n}, 3]))
    const kinds = {
      bare: () => session.run({ a, b }),
      'bare, given': () => session.run({ a, b }, { c }),
      forward: () => module.forward(x, x),
      'forward, given': () => given.forward(x, x)
    }
    const [times, garbage] = [{}, {}]
    for (let round = -5; round < ${rounds}; round++) {
      const names = Object.keys(kinds)
      for (const kind of round % 2 === 0 ? names : names.reverse()) {
        const call = kinds[kind]
        const from = performance.now()
        for (let i = 0; i < ${calls}; i++) await call()
        const took = (performance.now() - from) * 1000 / ${calls}
        const before = process.memoryUsage().arrayBuffers
        await call()
        const bytes = process.memoryUsage().arrayBuffers - before
        if (round >= 0) (times[kind] ??= []).push(took)
        if (round >= 0) (garbage[kind] ??= []).push(bytes)
      }
    }
    const sorted = list => list.sort((a, b) => a - b)
    const told = Object.fromEntries(Object.entries(times).map(([kind, list]) => [kind, sorted(list)[list.length >> 2]]))
    const left = Object.fromEntries(Object.entries(garbage).map(([kind, list]) => [kind, sorted(list)[list.length >> 1] / 1024]))
    process.stdout.write(JSON.stringify({ told, left }))
  })()
`

/** by size of the model's input: measured once @type {Map<number, any>} */
const measured = new Map()

function measure(n, quick) {
  const program = measuring(
    n > 100
      ? { n, rounds: quick ? 10 : 40, calls: 5 }
      : { n, rounds: quick ? 40 : 150, calls: 200 },
  )
  if (!measured.has(n)) {
    measured.set(
      n,
      JSON.parse(execFileSync(process.execPath, ['-e', program], { cwd: ROOT, encoding: 'utf8' })),
    )
  }
  return measured.get(n)
}

const time =
  (n, kind) =>
  ({ quick }) =>
    measure(n, quick).told[kind]
const garbage =
  (n, kind) =>
  ({ quick }) =>
    measure(n, quick).left[kind]
const MIB = (2 ** 18 / 3) | 0 // rows of three floats

const rows = [
  {
    what: 'module.forward, 2 × 3',
    unit: 'µs',
    limit: { over: 5 },
    measure: time(2, 'forward'),
    yardstick: { what: 'session.run', measure: time(2, 'bare') },
  },
  {
    what: 'the same, output given',
    unit: 'µs',
    limit: { over: 5 },
    measure: time(2, 'forward, given'),
    yardstick: { what: 'session.run, the same', measure: time(2, 'bare, given') },
  },
  {
    what: 'module.forward, 1 MiB, output given',
    unit: 'µs',
    limit: { ratio: 1 },
    measure: time(MIB, 'forward, given'),
    yardstick: { what: 'output made by onnxruntime', measure: time(MIB, 'forward') },
  },
  {
    what: 'buffers left to collect, a call',
    unit: 'KiB',
    limit: { ratio: 1 },
    measure: garbage(MIB, 'forward, given'),
    yardstick: { what: 'output made by onnxruntime', measure: garbage(MIB, 'forward') },
  },
]

module.exports = { title: 'Models: what samebytes/module adds to onnxruntime-node', rows }
