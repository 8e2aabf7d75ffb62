'use strict'
// Waking who waits in another process, and handing memory to another thread: round trips between two, halved.

const { execFileSync, spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { SharedRing, SharedTensor, empty, share } = require('samebytes')
const { ROOT, median } = require('./measure')

const GIB = 2 ** 30

/**
 * Half the microseconds of a round trip: the least of five medians, as what else runs on the machine decides on which
 * processors the two are, and whether those sleep.
 */
async function halved(trip, { quick }) {
  const medians = []
  for (let part = 0; part < 5; part++) {
    const spent = []
    for (let round = -300; round < (quick ? 300 : 2000); round++) {
      const start = process.hrtime.bigint()
      await trip()
      if (round >= 0) spent.push(Number(process.hrtime.bigint() - start) / 2000)
    }
    medians.push(median(spent))
  }
  return Math.min(...medians)
}

/** Keeps this process, all of its threads, to some processors. @param {string | number} list  as taskset takes it @returns {boolean} done */
const stay = (list) =>
  spawnSync('taskset', ['-a', '-cp', String(list), String(process.pid)]).status === 0

/** Processors that this process may run on; none where taskset is missing or refused. */
function processors() {
  const { status, stdout } = spawnSync('taskset', ['-cp', String(process.pid)], {
    encoding: 'utf8',
  })
  const said = status === 0 ? stdout.slice(stdout.lastIndexOf(':') + 1).trim() : ''
  const list = /^\d/.test(said) && stay(said) ? said : ''
  const ranges = list === '' ? [] : list.split(',').map((range) => range.split('-').map(Number))
  return {
    list,
    numbers: ranges.flatMap(([first, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    ),
  }
}

const { list: anywhere, numbers } = processors()

/** The processor that the other process is to stay on; null: the system chooses one again and again. @type {number | null} */
let place = null

/** The same with this process kept to the first processor, and the other one to another, or to the same one. */
const placed = (other, measure) => async (options) => {
  place = other
  stay(numbers[0])
  try {
    return await measure(options)
  } finally {
    place = null
    stay(anywhere)
  }
}

/** With another process that runs source, an async function's body that has `name`. */
async function besides(name, source, fn) {
  const run = [
    process.execPath,
    '-e',
    `const name = ${JSON.stringify(name)}; (async () => { ${source} })()`,
  ]
  const [program, ...args] = place === null ? run : ['taskset', '-c', String(place), ...run]
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit' })
  const exit = new Promise((resolve) => child.on('exit', resolve))
  try {
    return await fn()
  } finally {
    child.kill()
    await exit
  }
}

/** Two elements: one that this process changes, and one that the other answers with. */
async function woken(options) {
  const name = `sb-bench-waits-${process.pid}`
  const shared = SharedTensor.create(name, [64], { dtype: 'int32', ifExists: 'replace' })
  const mine = shared.tensor.data
  try {
    return await besides(
      name,
      `
      const shared = require('samebytes').SharedTensor.open(name)
      const mine = shared.tensor.data
      for (let n = 1; ; n++) {
        while (Atomics.load(mine, 0) !== n) await shared.wait(0, n - 1)
        Atomics.store(mine, 32, n)
        shared.notify(32)
      }`,
      () => {
        let n = 0
        return halved(async () => {
          Atomics.store(mine, 0, ++n)
          shared.notify(0)
          while (Atomics.load(mine, 32) !== n) await shared.wait(32, n - 1)
        }, options)
      },
    )
  } finally {
    SharedTensor.unlink(name)
    shared.dispose()
  }
}

/** Frames of 1 KiB there and back, each by a ring. */
async function ringed(options) {
  const name = `sb-bench-ring-${process.pid}`
  const [there, back] = ['a', 'b'].map((end) =>
    SharedRing.create(name + end, [256], { slots: 8, ifExists: 'replace' }),
  )
  try {
    return await besides(
      name,
      `
      const { SharedRing } = require('samebytes')
      const [there, back] = ['a', 'b'].map(end => SharedRing.open(name + end))
      for await (const { tensor } of there.read()) back.write(tensor)`,
      async () => {
        const frames = back.read()
        return await halved(async () => {
          there.next()
          there.commit()
          await frames.next()
        }, options)
      },
    )
  } finally {
    for (const ring of [there, back]) {
      SharedRing.unlink(ring.name)
      ring.dispose()
    }
  }
}

/** A byte through one pipe and back through another. */
async function piped(source, fn) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-'))
  const pipes = ['there', 'back'].map((name) => path.join(folder, name))
  execFileSync('mkfifo', pipes)
  try {
    return await besides(
      folder,
      `
      const fs = require('node:fs'), net = require('node:net'), byte = Buffer.alloc(1)
      const from = fs.openSync(name + '/there', 'r'), to = fs.openSync(name + '/back', 'w')
      ${source}`,
      async () => {
        const to = fs.openSync(pipes[0], 'w')
        const from = fs.openSync(pipes[1], 'r')
        return await fn(to, from)
      },
    )
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

const byte = Buffer.alloc(1)

const blocked = (options) =>
  piped(
    'for (;;) if (fs.readSync(from, byte) === 1) fs.writeSync(to, byte); else break',
    async (to, from) => {
      const spent = await halved(() => {
        fs.writeSync(to, byte)
        fs.readSync(from, byte)
      }, options)
      fs.closeSync(to)
      fs.closeSync(from)
      return spent
    },
  )

const looped = (options) =>
  piped(
    "new net.Socket({ fd: from, writable: false }).on('data', () => fs.writeSync(to, byte))",
    async (to, from) => {
      let heard
      const socket = new net.Socket({ fd: from, writable: false }).on('data', () => heard())
      const spent = await halved(
        () =>
          new Promise((resolve) => {
            heard = resolve
            fs.writeSync(to, byte)
          }),
        options,
      )
      socket.destroy()
      fs.closeSync(to)
      return spent
    },
  )

/** What is posted to a worker and answered by nothing. */
async function posted(make, take, { quick }, rounds = quick ? 200 : 2000) {
  const worker = new Worker(
    `
    const { parentPort } = require('node:worker_threads')
    const { fromShared } = require('samebytes')
    parentPort.on('message', message => {
      const taken = ${take}
      parentPort.postMessage(null)
      taken?.dispose()
    })`,
    { eval: true },
  )
  let answer
  let failed
  worker.on('message', () => answer()).on('error', (error) => failed(error))
  const spent = []
  for (let round = rounds > 100 ? -3000 : -1; round < rounds; round++) {
    const start = process.hrtime.bigint()
    await new Promise((resolve, reject) => {
      answer = resolve
      failed = reject
      worker.postMessage(make())
    })
    if (round >= 0) spent.push(Number(process.hrtime.bigint() - start) / 1000)
  }
  await worker.terminate()
  return median(spent)
}

async function handed(options) {
  const t = empty([GIB], { dtype: 'uint8', shared: true })
  try {
    return await posted(() => share(t), 'fromShared(message)', options)
  } finally {
    t.dispose()
  }
}

/** The bytes are there before. */
const cloned = ({ quick }) => {
  const bytes = new Uint8Array(GIB).fill(1)
  return posted(() => bytes, 'null', {}, quick ? 1 : 3)
}

const nothing = {
  what: 'postMessage of null, answered',
  measure: (options) => posted(() => null, 'null', options),
}
const pipe = { what: 'one byte written to a pipe and read, both blocked', measure: blocked }

/** Where the system puts two processes decides more than what they do, so that each limit is of two that are put alike. */
function wakings() {
  const what = 'waits: a process that waits for an element is woken'
  const limit = { ratio: 3 }
  const [one, another] = [numbers[0], numbers.at(-1)]
  const row = (where, place) => ({
    what: `${what}, ${where}`,
    unit: 'µs',
    limit,
    measure: placed(place, woken),
    yardstick: { what: `${pipe.what}, there`, measure: placed(place, blocked) },
  })
  const free = { what, unit: 'µs', measure: woken, yardstick: pipe }
  if (one === undefined) return [{ ...free, limit }]
  return [
    ...(another === one ? [] : [row('on another processor', another)]),
    row('on the same processor', one),
    free,
  ]
}

/** Two threads: on one processor, where neither has to be woken from sleep, and where the system puts them. */
function handings() {
  const what = 'threads: 1 GiB handed to a worker, answered'
  const [limit, [one]] = [{ ratio: 2 }, numbers]
  const free = { what, unit: 'µs', measure: handed, yardstick: nothing }
  if (one === undefined) return [{ ...free, limit }]
  return [
    {
      what: `${what}, on one processor`,
      unit: 'µs',
      limit,
      measure: placed(one, handed),
      yardstick: { what: `${nothing.what}, there`, measure: placed(one, nothing.measure) },
    },
    free,
  ]
}

const rows = [
  ...wakings(),
  {
    what: 'waits: a frame of 1 KiB is written to a ring, its reader woken',
    unit: 'µs',
    measure: ringed,
    yardstick: pipe,
  },
  {
    what: 'waits: one byte through a pipe, both in event loops',
    unit: 'µs',
    measure: looped,
    yardstick: pipe,
  },
  ...handings(),
  {
    what: 'threads: 1 GiB to a worker by structured clone, answered',
    unit: 'µs',
    measure: cloned,
    yardstick: nothing,
  },
]

module.exports = { title: 'Waiting and handing over', rows }
