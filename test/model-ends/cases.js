'use strict'
// Programs that end while models load and run by onnxruntime's C library, and how each has to end.
//
//   node test/model-ends/cases.js NAME SEED     runs one of them
//
// A program writes a line when it is where it wants to end, so its output shows that it ended there and not elsewhere.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { fromBlob, zeros } = require('samebytes')
const { onnx } = require('../onnx')

const SIDE = 512 // of matrices, whose product takes about 5 ms
const MOST_THREADS = 16 // that the addon has for models: what is more waits in its queue

// ---- Models ----

/** y = (x + x) · x · x …: `first` is written when a run has begun, then come so many nodes. */
function chain(nodes) {
  const shape = `float32[${SIDE}, ${SIDE}]`
  return onnx({
    inputs: { x: shape },
    nodes: [
      'Add(x, x) -> first',
      ...Array.from(
        { length: nodes },
        (_, i) => `MatMul(${i ? `y${i}` : 'first'}, x) -> y${i + 1}`,
      ),
      `Identity(y${nodes}) -> y`,
    ],
    outputs: { first: shape, y: shape },
  })
}
/** seconds of work: runs of it are there to be ended */
const LONG = chain(400)
/** runs of it end by themselves */
const SHORT = chain(6)

/** A model that takes as long to load: all of it is constant, and computed while it is loaded. */
const SLOW_TO_LOAD = onnx({
  inputs: { x: 'float32[1]' },
  constants: { shape: { dtype: 'int64', shape: [2], data: BigInt64Array.of(512n, 512n) } },
  nodes: [
    'ConstantOfShape(shape) -> c0',
    ...Array.from({ length: 400 }, (_, i) => `MatMul(c${i}, c0) -> c${i + 1}`),
    'Add(c400, x) -> y',
  ],
  outputs: { y: 'float32[512, 512]' },
})

// ---- What programs do ----

const seed = Number(isMainThread ? process.argv[3] : workerData?.seed)
const odd = seed % 2 === 1
/** Odd seeds have threads of onnxruntime's own beside ours. */
const options = { runtime: 'library', intraOpNumThreads: odd ? 2 : 1 }

const say = (text) => fs.writeSync(1, `${text}\n`)
const turn = () => new Promise((resolve) => setImmediate(resolve))
/** A moment that differs from process to process: whatever is going on has to survive its end there. */
const moment = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 20))

function load(model, more = {}) {
  const { Module } = require('samebytes/module')
  return Module.load(model, { ...options, ...more })
}

const square = (theirs) =>
  theirs
    ? fromBlob(new Float32Array(SIDE * SIDE), [SIDE, SIDE])
    : zeros([SIDE, SIDE], { shared: true })

/**
 * Begins a run, and waits until a thread is in the midst of it. What becomes of it is said.
 *
 * @param {{ theirs?: boolean, signal?: AbortSignal }} [how]  theirs: operands are buffers that V8 owns
 */
async function begin(module, { theirs = false, signal } = {}) {
  const first = zeros([SIDE, SIDE], { shared: true })
  first.data.fill(-1)
  const now = { hasEnded: false }
  const ended = module
    .run([square(theirs)], { outputs: [first, theirs ? square(true) : undefined], signal })
    .then(
      () => say('the run has ended'),
      (error) => say(error.name),
    )
    .finally(() => (now.hasEnded = true))
  while (first.data[0] === -1 && !now.hasEnded) await turn()
  return { ended }
}

/** More runs behind it: some on other threads, and some that wait for a thread, or for their turn in the module. */
function queue(module) {
  for (let i = 0; i < 2; i++) module.forward(square(odd)).then(say, say)
}
const manyRuns = (module) => {
  for (let i = 0; i < MOST_THREADS + 4; i++) module.forward(square(odd)).then(say, say)
}

/** Processor time of each thread of this process, in nanoseconds, by its number. */
function threadTimes() {
  const times = new Map()
  for (const id of fs.readdirSync('/proc/self/task')) {
    try {
      const [time] = fs.readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ')
      times.set(id, Number(time))
    } catch {} // it has ended
  }
  return times
}

/** Begins to load, and waits until a new thread works on it. */
async function beginLoading(how) {
  require('samebytes/module')
  const before = threadTimes()
  const isWorked = () =>
    [...threadTimes()].some(([id, time]) => !before.has(id) && time > 30_000_000)
  const now = { hasEnded: false }
  load(how === 'path' ? fileOf(SLOW_TO_LOAD) : SLOW_TO_LOAD)
    .then(() => say('loaded'), say)
    .finally(() => (now.hasEnded = true))
  while (!isWorked() && !now.hasEnded) await turn()
  await moment()
}

function fileOf(bytes) {
  const file = path.join(process.env.MODEL_ENDS_FOLDER ?? os.tmpdir(), `slow-${bytes.length}.onnx`)
  if (!fs.existsSync(file)) {
    const made = `${file}.${process.pid}`
    fs.writeFileSync(made, bytes)
    fs.renameSync(made, file)
  }
  return file
}

/** An error that nobody catches. */
const fail = () =>
  setImmediate(() => {
    throw new Error('on purpose')
  })

// ---- onnxruntime-node beside it ----

const theirs = {
  async make() {
    const ort = require('onnxruntime-node')
    const session = await ort.InferenceSession.create(SHORT, { intraOpNumThreads: odd ? 2 : 1 })
    const x = new ort.Tensor('float32', new Float32Array(SIDE * SIDE), [SIDE, SIDE])
    return { run: () => session.run({ x }), release: () => session.release() }
  },
  async use() {
    const session = await theirs.make()
    await session.run()
    return session
  },
}
const ours = {
  async use() {
    const module = await load(SHORT)
    await module.forward(square(odd))
    return module
  },
}

// ---- Workers ----

/** A worker that runs one of WORK; it has said so when this resolves. */
async function worker(name) {
  const made = new Worker(__filename, { workerData: { work: name, seed } })
  const exit = new Promise((resolve) => made.once('exit', resolve))
  const error = new Promise((resolve) => made.once('error', resolve))
  await Promise.race([new Promise((resolve) => made.once('message', resolve)), exit, error])
  return { terminate: () => made.terminate(), exit, error }
}
const ready = () => parentPort.postMessage('ready')

/** What workers do. */
const WORK = {
  async uses() {
    await ours.use()
  },
  async 'uses both'() {
    await ours.use()
    await theirs.use()
  },
  async 'uses theirs'() {
    await theirs.use()
  },
  /** Its event loop ends while nobody awaits the run. */
  async 'forgets a run'() {
    const module = await load(SHORT)
    module.forward(square(odd))
  },
  async 'runs native memory'() {
    const module = await load(LONG)
    await begin(module)
    queue(module)
    ready()
  },
  async "runs V8's memory"() {
    const module = await load(LONG)
    await begin(module, { theirs: true })
    queue(module)
    ready()
  },
  async 'runs many'() {
    const module = await load(LONG, { concurrency: 100 })
    await begin(module, { theirs: odd })
    manyRuns(module)
    ready()
  },
  async 'runs for ever'() {
    const module = await load(SHORT)
    await module.forward(square(odd))
    ready()
    for (;;) await module.forward(square(odd))
  },
  async 'runs on its own thread for ever'() {
    const module = await load(SHORT, { thread: 'never' })
    await module.forward(square(odd))
    ready()
    for (;;) await module.forward(square(odd))
  },
  async 'runs with theirs loaded'() {
    await theirs.use()
    const module = await load(LONG)
    await begin(module)
    ready()
  },
  async 'loads a path'() {
    await beginLoading('path')
    ready()
  },
  async 'loads bytes'() {
    await beginLoading('bytes')
    ready()
  },
  async 'exits in a run'() {
    const module = await load(LONG)
    await begin(module, { theirs: odd })
    queue(module)
    await moment()
    process.exit(7)
  },
  async 'exits while loading'() {
    await beginLoading(odd ? 'path' : 'bytes')
    process.exit(7)
  },
  async 'fails in a run'() {
    const module = await load(LONG)
    await begin(module, { theirs: odd })
    queue(module)
    fail()
  },
}

/** Terminates a worker in the midst of its work; models still run here. */
const terminated = (name) => async () => {
  const { terminate } = await worker(name)
  await moment()
  await terminate()
  await ours.use()
  say('terminated')
}
/** The process ends in the midst of a worker's work. */
const exited = (name) => async () => {
  await worker(name)
  await moment()
  say('now')
  process.exit(7)
}

// ---- The programs ----

/** What Node prints of an error that nobody caught. */
const FAILED = /^\S+:\d+\n.*\n +\^\n\nError: on purpose\n(?: {4}at .*\n)+\nNode\.js v\S+\n$/

/** By name: [the program, its exit code, its output, what it prints to stderr] @type {Record<string, [() => Promise<unknown>, number, string, RegExp?]>} */
const CASES = {
  // process.exit
  'process.exit in a run': [
    async () => {
      const module = await load(LONG)
      await begin(module, { theirs: odd })
      queue(module)
      await moment()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'process.exit in more runs than there are threads': [
    async () => {
      const module = await load(LONG, { concurrency: 100 })
      await begin(module)
      manyRuns(module)
      await moment()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'process.exit at the end of a run': [
    async () => {
      const module = await load(SHORT)
      const runs = [module.forward(square(odd)), module.forward(square(odd))]
      await Promise.race(runs)
      await moment()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'process.exit while a path is loaded': [
    async () => {
      await beginLoading('path')
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'process.exit while bytes are loaded, with runs': [
    async () => {
      const module = await load(LONG)
      await begin(module, { theirs: odd })
      await beginLoading('bytes')
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],

  // errors that nobody catches
  'an uncaught error in a run': [
    async () => {
      const module = await load(LONG)
      await begin(module, { theirs: odd })
      queue(module)
      await moment()
      say('now')
      fail()
    },
    1,
    'now\n',
    FAILED,
  ],
  'an uncaught error while a model is loaded': [
    async () => {
      await beginLoading(odd ? 'path' : 'bytes')
      say('now')
      fail()
    },
    1,
    'now\n',
    FAILED,
  ],

  // programs that end by themselves
  'a run that nobody awaits': [
    async () => {
      const module = await load(SHORT)
      await begin(module, { theirs: odd })
      process.exitCode = 7
    },
    7,
    'the run has ended\n',
  ],
  'a load that nobody awaits': [
    async () => {
      load(SHORT).then(() => say('loaded'))
      process.exitCode = 7
    },
    7,
    'loaded\n',
  ],

  // workers
  'worker.terminate in a run over native memory': [
    terminated('runs native memory'),
    0,
    'terminated\n',
  ],
  "worker.terminate in a run over V8's memory": [terminated("runs V8's memory"), 0, 'terminated\n'],
  'worker.terminate in more runs than there are threads': [
    terminated('runs many'),
    0,
    'terminated\n',
  ],
  'worker.terminate between runs': [terminated('runs for ever'), 0, 'terminated\n'],
  "worker.terminate in a run on the worker's thread": [
    terminated('runs on its own thread for ever'),
    0,
    'terminated\n',
  ],
  'worker.terminate while a path is loaded': [terminated('loads a path'), 0, 'terminated\n'],
  'worker.terminate while bytes are loaded': [terminated('loads bytes'), 0, 'terminated\n'],
  'process.exit of a worker in its run': [
    async () => {
      const { exit } = await worker('exits in a run')
      say(await exit)
      await ours.use()
    },
    0,
    '7\n',
  ],
  'process.exit of a worker while it loads': [
    async () => {
      const { exit } = await worker('exits while loading')
      say(await exit)
      await ours.use()
    },
    0,
    '7\n',
  ],
  "an uncaught error in a worker's run": [
    async () => {
      const { exit, error } = await worker('fails in a run')
      say((await error).message)
      say(await exit)
      await ours.use()
    },
    0,
    'on purpose\n1\n',
  ],
  "process.exit in a worker's run": [exited('runs native memory'), 7, 'now\n'],
  "process.exit in a worker's run over V8's memory": [exited("runs V8's memory"), 7, 'now\n'],
  'process.exit while a worker runs for ever': [exited('runs for ever'), 7, 'now\n'],
  "process.exit in a run on a worker's thread": [
    exited('runs on its own thread for ever'),
    7,
    'now\n',
  ],
  'process.exit while a worker loads': [exited('loads bytes'), 7, 'now\n'],
  'a worker that ends with a run that nobody awaits': [
    async () => {
      const { exit } = await worker('forgets a run')
      say(await exit)
    },
    0,
    '0\n',
  ],
  'ten workers in turn': [
    async () => {
      for (let i = 0; i < 10; i++) {
        const { exit, terminate } = await worker(i % 2 ? 'uses' : 'runs native memory')
        if (i % 2 === 0) await terminate()
        await exit
      }
      await ours.use()
      say('done')
    },
    0,
    'done\n',
  ],

  // onnxruntime-node in the same process
  'onnxruntime-node before': [
    async () => {
      const session = await theirs.use()
      await ours.use()
      await session.run()
      say('done')
    },
    0,
    'done\n',
  ],
  'onnxruntime-node after, released meanwhile': [
    async () => {
      const module = await ours.use()
      const session = await theirs.use()
      await session.release()
      await module.forward(square(odd))
      say('done')
    },
    0,
    'done\n',
  ],
  'onnxruntime-node at once': [
    async () => {
      await Promise.all([theirs.use(), ours.use(), theirs.use(), ours.use()])
      say('done')
    },
    0,
    'done\n',
  ],
  'onnxruntime-node runs during a run, and process.exit': [
    async () => {
      const session = await theirs.make()
      const module = await load(LONG)
      await begin(module, { theirs: odd })
      await session.run()
      await session.release()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'onnxruntime-node in a worker': [
    async () => {
      const { exit } = await worker('uses theirs')
      await ours.use()
      say(await exit)
      await ours.use()
    },
    0,
    '0\n',
  ],
  'onnxruntime-node here, the library in a worker': [
    async () => {
      const session = await theirs.use()
      const { exit } = await worker('uses')
      await session.run()
      say(await exit)
      await session.run()
    },
    0,
    '0\n',
  ],
  'both in two workers': [
    async () => {
      const workers = await Promise.all([worker('uses both'), worker('uses both')])
      for (const { exit } of workers) say(await exit)
      await ours.use()
    },
    0,
    '0\n0\n',
  ],
  'worker.terminate in a run where onnxruntime-node is loaded': [
    terminated('runs with theirs loaded'),
    0,
    'terminated\n',
  ],

  // ends of runs
  'dispose in a run, and the end': [
    async () => {
      const module = await load(SHORT)
      await begin(module, { theirs: odd })
      module.dispose().then(() => say('disposed'))
    },
    0,
    'the run has ended\ndisposed\n',
  ],
  'dispose in a run, and process.exit': [
    async () => {
      const module = await load(LONG)
      await begin(module, { theirs: odd })
      queue(module)
      module.dispose()
      await moment()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
  'a signal in a run': [
    async () => {
      const module = await load(LONG)
      const controller = new AbortController()
      const { ended } = await begin(module, { theirs: odd, signal: controller.signal })
      await moment()
      controller.abort()
      await ended
      await ours.use()
    },
    0,
    'AbortError\n',
  ],
  'a signal in a run, and process.exit': [
    async () => {
      const module = await load(LONG)
      const controller = new AbortController()
      await begin(module, { theirs: odd, signal: controller.signal })
      controller.abort()
      say('now')
      process.exit(7)
    },
    7,
    'now\n',
  ],
}

module.exports = { CASES }

if (!isMainThread) WORK[workerData.work]()
else if (require.main === module) CASES[process.argv[2]][0]()
