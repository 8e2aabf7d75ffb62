'use strict'
// Threads that end at random moments, in the midst of allocations, copies and shares; processes that are killed while they have
// segments and rings. Those that are left go on, and what was taken from the dead is what it was.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const s = require('samebytes')
const { NAMES, isNative } = require('../calls')
const { Bystanders, used } = require('../witness')

const { SharedRing, SharedTensor } = s
const ROOT = path.join(__dirname, '..', '..', '..')
const N = 5000

/** What a thread does until it is ended; what it sends has the value that comes with it everywhere. */
const SOURCE = `
  const { parentPort, workerData: { seed } } = require('node:worker_threads')
  const s = require(${JSON.stringify(ROOT)})
  let random = seed
  const next = n => { random = (Math.imul(random, 1664525) + 1013904223) >>> 0; return Math.floor(random / 2 ** 32 * n) }
  s.setMemoryLimit(2 ** 28)
  const held = []
  const shared = () => next(2) ? 'sab' : true
  const deeds = [
    () => held.push(s.full([1 + next(${N})], 3)),
    () => held.push(s.empty([1 + next(20)], { dynamism: 'unbound' }).resize(1 + next(2000))),
    () => held.splice(next(held.length), 1)[0]?.dispose(),
    () => { held.length = next(held.length + 1) },
    () => { const value = next(100); const t = s.full([${N}], value, { shared: shared() }); const token = s.share(t, { uses: 1 + next(2) }); parentPort.postMessage({ token, value }); if (next(2)) t.dispose() },
    () => { const t = s.zeros([${N} * 20], { shared: true }); held.push(t); t.copyFromAsync(s.ones([${N} * 20], { shared: true })).catch(() => {}) },
    () => { const t = s.zeros([${N} * 20]); t.copyFromAsync(s.ones([${N} * 20])).catch(() => {}) },
    () => { const t = s.full([${N}], 9, { shared: true }); s.unshare(s.share(t)) },
    () => { held.push(s.parseNpy(s.toNpyBytes(s.ones([100])))) },
    () => { const t = s.full([100], 4); const { buffer, byteOffset: at } = t.data; if (buffer.transfer && s.backend() === 'native') { const moved = buffer.transfer(); parentPort.postMessage({ moved, at, value: 4 }, [moved]) } },
    () => { const t = s.full([100], 4, { shared: true }); const { buffer, byteOffset: at } = t.data; if (buffer.transfer && s.backend() === 'native') { const moved = buffer.transfer(); parentPort.postMessage({ moved, at, value: 4 }, [moved]) } },
    () => { if (s.backend() === 'native') { const t = s.full([100], 4); const c = t.__dlpack__(); held.push(s.fromDlpack(c)); t.dispose() } },
    () => held.push(s.concat(held.slice(-2).map(t => t.view([t.numel]))))
  ]
  const work = () => {
    for (let i = 0; i < 30; i++) try { deeds[next(deeds.length)]() } catch (error) { if (!/^ERR_/.test(error.code) && error.name !== 'DataCloneError') throw error }
    if (held.length > 60) held.length = 0
    setImmediate(work)
  }
  parentPort.postMessage('ready')
  work()
`

/** Has all that a thread sent the value that it had? */
function taken(program, r, messages) {
  for (const { token, value, moved, at } of messages) {
    if (moved !== undefined) {
      const floats = new Float32Array(moved, at, 100)
      for (let i = 0; i < 100; i++) {
        if (floats[i] !== value) {
          program.fail(
            `a buffer that a thread transferred: element ${i} is ${floats[i]}, not ${value}`,
          )
        }
      }
      continue
    }
    if (r.rarely(5)) {
      program.call('unshare', () => s.unshare(token))
      continue
    }
    const { value: t, error } = program.call('fromShared', () => s.fromShared(token))
    if (error !== undefined && !['ERR_STALE', 'ERR_MEMORY'].includes(error.code)) {
      program.fail(`fromShared: ${error.stack}`)
    }
    if (t === undefined) continue
    for (const x of t.toArray()) {
      if (x !== value) program.fail(`a token of another thread: ${x}, not ${value}`)
    }
    t.dispose()
  }
}

async function threads(program, r) {
  const all = Array.from({ length: r.between(1, 3) }, () => {
    const worker = new Worker(SOURCE, { eval: true, workerData: { seed: r.uint32() } })
    const messages = []
    worker.on('message', (message) => {
      if (message !== 'ready') messages.push(message)
    })
    worker.on('error', (error) => {
      messages.problem = error
    })
    return { worker, messages, ready: once(worker, 'message') }
  })
  await Promise.all(all.map(({ ready }) => (r.next(4) ? ready.catch(() => {}) : null)))
  for (const { worker, messages } of all) {
    for (let i = r.next(30); i > 0; i--) {
      await new Promise((resolve) => setImmediate(resolve))
      const late = messages.filter(({ moved }) => moved !== undefined || r.rarely(4))
      taken(
        program,
        r,
        messages.splice(0).filter((message) => !late.includes(message)),
      )
      messages.push(...late)
    }
    await worker.terminate()
    if (messages.problem !== undefined) program.fail(`a thread: ${messages.problem.stack}`)
    for (let i = 0; i < 3; i++) {
      globalThis.gc()
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Where anything of the dead was given back.
    const kept = [N, 100].flatMap((n) =>
      Array.from({ length: 100 }, (_, i) => s.full([n], 77, { shared: i % 2 === 1 })),
    )
    taken(program, r, messages)
    for (const t of kept) {
      for (const x of t.data) if (x !== 77) program.fail(`after a thread ended: ${x}, not 77`)
      t.dispose()
    }
  }
}

/** A process that writes to a ring and a segment until it is killed. */
const KILLED = `
  const { SharedRing, SharedTensor } = require('samebytes')
  const [ring, name] = process.argv.slice(1)
  const on = SharedRing.open(ring)
  const shared = SharedTensor.create(name, [1000], { ifExists: 'replace' })
  process.stdout.write('ready')
  for (let i = 0; ; i++) {
    try { on.next().fill(i % 200); on.commit() } catch (error) { if (error.code !== 'ERR_BUSY') throw error }
    if (i % 50 === 0) SharedTensor.create(name, [1000], { ifExists: 'replace' }).dispose()
    shared.tensor.fill(i)
  }
`

async function processes(program, r) {
  const ring = SharedRing.create(NAMES[1], [300], { slots: 4, dtype: 'uint8', ifExists: 'replace' })
  const child = spawn(process.execPath, ['-e', KILLED, NAMES[1], NAMES[0]], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  await new Promise((resolve) => setTimeout(resolve, r.next(12)))
  child.kill('SIGKILL')
  await once(child, 'exit')
  program.call('ring: count', () => ring.count)
  // Its role is free, and every frame is a whole one.
  const { error } = program.call('ring: write', () => ring.write(201))
  if (error !== undefined) program.fail(`ring: write after its writer was killed: ${error.stack}`)
  const opened = SharedRing.open(NAMES[1])
  let seen = 0
  for await (const { tensor, index } of opened.read()) {
    const copy = tensor.clone()
    if (opened.intact(index) && new Set(copy.data).size !== 1) {
      program.fail(`ring: frame ${index} is a mixture`)
    }
    if (++seen > 8 || copy.get(0) === 201) break
  }
  ring.dispose()
  opened.dispose()
  const { value: there } = program.call('SharedTensor.open', () => SharedTensor.open(NAMES[0]))
  if (there !== undefined) used(program, 'SharedTensor.open', there.tensor)
  program.call('SharedTensor.create', () =>
    SharedTensor.create(NAMES[0], [10], { ifExists: 'replace' }).dispose(),
  )
  ring.dispose()
  for (const unlink of [() => SharedRing.unlink(NAMES[1]), () => SharedTensor.unlink(NAMES[0])]) {
    try {
      unlink()
    } catch {}
  }
}

async function run(program) {
  const { r } = program
  const others = new Bystanders(r)
  if (isNative && r.rarely(4)) await processes(program, r)
  else for (let i = program.long ? 6 : 2; i > 0; i--) await threads(program, r)
  others.check(program, 'in the end')
  others.dispose()
}

module.exports = { backends: ['native', 'wasm', 'wasm-shared'], programs: 5, run }
