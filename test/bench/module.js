'use strict'
// Runs by samebytes/module beside onnxruntime-node's: small ones, and what a large one leaves of JavaScript's thread, of memory and of processors.

const { execFileSync } = require('node:child_process')
const { ROOT } = require('./measure')

/** What each program begins with. A is a small model, SLOW takes some 20 ms. */
const BEGIN = `
  'use strict'
  const ort = require('onnxruntime-node')
  const { ones, zeros } = require('samebytes')
  const { Module } = require('samebytes/module')
  const { ADD } = require('./test/models')
  const { onnx } = require('./test/onnx')
  const one = { intraOpNumThreads: 1 }
  const n = 512
  const SLOW = onnx({
    inputs: { x: 'float32[n, 512]' },
    nodes: Array.from({ length: 12 }, (_, i) => \`MatMul(\${i === 0 ? 'x' : 'h' + i}, w) -> \${i === 11 ? 'y' : 'h' + (i + 1)}\`),
    outputs: { y: 'float32[n, 512]' },
    constants: { w: { dtype: 'float32', shape: [n, n], data: new Float32Array(n * n).fill(0.001) } }
  })
  const theirs = (shape) => new ort.Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b)), shape)
  const sorted = (list) => list.sort((a, b) => a - b)
  const tell = (numbers) => process.stdout.write(JSON.stringify(numbers))
`

/** Microseconds a call, in turn: the lower quarter of the rounds. */
const SMALL = (rounds) => `${BEGIN}
  ;(async () => {
    const [session, module, given] = [await ort.InferenceSession.create(ADD, one), await Module.load(ADD, one), await Module.load(ADD, one)]
    const [a, b, c] = [theirs([2, 3]), theirs([2, 3]), theirs([2, 3])]
    const x = ones([2, 3])
    given.setOutput('c', zeros([2, 3]))
    const kinds = {
      bare: () => session.run({ a, b }),
      'bare, given': () => session.run({ a, b }, { c }),
      forward: () => module.forward(x, x),
      'forward, given': () => given.forward(x, x)
    }
    const times = {}
    for (let round = -5; round < ${rounds}; round++) {
      const names = Object.keys(kinds)
      for (const kind of round % 2 === 0 ? names : names.reverse()) {
        const from = performance.now()
        for (let i = 0; i < 200; i++) await kinds[kind]()
        if (round >= 0) (times[kind] ??= []).push((performance.now() - from) * 5)
      }
    }
    tell(Object.fromEntries(Object.entries(times).map(([kind, list]) => [kind, sorted(list)[list.length >> 2]])))
  })()
`

/** Milliseconds a run: of JavaScript's thread, of processor, and on the clock where two go on. */
const LARGE = (rounds) => `${BEGIN}
  ;(async () => {
    const [session, module, pair] = [await ort.InferenceSession.create(SLOW, one), await Module.load(SLOW, one), await Module.load(SLOW, { ...one, concurrency: 2 })]
    const [x, y] = [zeros([n, n], { shared: true }), zeros([n, n], { shared: true })]
    const [X, Y] = [theirs([n, n]), theirs([n, n])]
    const kinds = {
      bare: () => session.run({ x: X }, { y: Y }),
      run: () => module.run([x], { outputs: [y] }),
      order: () => Promise.all([module.run([x]), module.run([x])]),
      pair: () => Promise.all([pair.run([x]), pair.run([x])])
    }
    const seen = {}
    for (let round = -1; round < ${rounds}; round++) {
      for (const [kind, call] of Object.entries(kinds)) {
        const [loop, cpu, from] = [performance.eventLoopUtilization(), process.cpuUsage(), performance.now()]
        for (let i = 0; i < 5; i++) await call()
        const took = performance.now() - from
        const { user, system } = process.cpuUsage(cpu)
        const { active } = performance.eventLoopUtilization(loop)
        if (round >= 0) (seen[kind] ??= []).push([active / 5, (user + system) / 5000, took / 5])
      }
    }
    tell(Object.fromEntries(Object.entries(seen).map(([kind, list]) => [kind, [0, 1, 2].map((i) => sorted(list.map((each) => each[i]))[list.length >> 2])])))
  })()
`

/** MiB that eight sessions add to the process, each after a run. */
const SESSIONS = (isOurs) => `${BEGIN}
  const about = { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }
  const constant = (shape) => ({ dtype: 'float32', shape, data: new Float32Array(shape.reduce((a, b) => a * b)).fill(0.01) })
  const CONV = onnx({
    inputs: { x: 'float32[1, 3, 640, 640]' },
    nodes: [['Conv(x, v) -> h0', about], ...Array.from({ length: 8 }, (_, i) => [\`Conv(h\${i}, w) -> \${i === 7 ? 'y' : 'h' + (i + 1)}\`, about])],
    outputs: { y: 'float32[1, 16, 640, 640]' },
    constants: { v: constant([16, 3, 3, 3]), w: constant([16, 16, 3, 3]) }
  })
  ;(async () => {
    const before = process.memoryUsage().rss
    const shape = [1, 3, 640, 640]
    const kept = []
    const [x, X] = [zeros(shape, { shared: true }), theirs(shape)]
    for (let i = 0; i < 8; i++) {
      const session = ${isOurs ? 'await Module.load(CONV, one)' : 'await ort.InferenceSession.create(CONV, one)'}
      kept.push(session)
      const results = await session.run(${isOurs ? '[x]' : '{ x: X }'})
      ${isOurs ? 'results[0].dispose()' : ''}
    }
    tell((process.memoryUsage().rss - before) / 2 ** 20)
  })()
`

/** what programs told, by their text @type {Map<string, any>} */
const told = new Map()

function ask(program) {
  if (!told.has(program)) {
    const options = { cwd: ROOT, encoding: 'utf8' }
    told.set(program, JSON.parse(execFileSync(process.execPath, ['-e', program], options)))
  }
  return told.get(program)
}

const small =
  (kind) =>
  ({ quick }) =>
    ask(SMALL(quick ? 40 : 150))[kind]
const large =
  (kind, i) =>
  ({ quick }) =>
    ask(LARGE(quick ? 5 : 20))[kind][i]

const rows = [
  {
    what: 'module.forward, 2 × 3',
    unit: 'µs',
    limit: { ratio: 0.6 },
    measure: small('forward'),
    yardstick: { what: 'session.run', measure: small('bare') },
  },
  {
    what: 'the same, output given',
    unit: 'µs',
    limit: { ratio: 0.6 },
    measure: small('forward, given'),
    yardstick: { what: 'session.run, the same', measure: small('bare, given') },
  },
  {
    what: "JavaScript's thread, a run of 12 products",
    unit: 'ms',
    limit: { ratio: 0.02 },
    measure: large('run', 0),
    yardstick: { what: 'session.run', measure: large('bare', 0) },
  },
  {
    what: 'processor time of that run',
    unit: 'ms',
    limit: { ratio: 1.05 },
    measure: large('run', 1),
    yardstick: { what: 'session.run', measure: large('bare', 1) },
  },
  {
    what: 'two such runs, concurrency: 2',
    unit: 'ms',
    measure: large('pair', 2),
    yardstick: { what: 'in order', measure: large('order', 2) },
  },
  {
    what: 'eight sessions of convolutions, 640 × 640',
    unit: 'MiB',
    limit: { ratio: 0.5 },
    measure: () => ask(SESSIONS(true)),
    yardstick: { what: 'onnxruntime-node', measure: () => ask(SESSIONS(false)) },
  },
]

module.exports = { title: 'Models: samebytes/module beside onnxruntime-node', rows }
