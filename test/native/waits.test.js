'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { SharedTensor, createNpy, openNpy, memory, zeros } = require('samebytes')
const { Tensor } = require('../../js/tensor/tensor')
const { Waits, notify } = require('../../js/sharing/waits')
const { frame, backend, opcodes, tables } = require('../../js/backend/calls')
const {
  can,
  childJson,
  collectUntil,
  fails,
  nativeOnly,
  needs,
  quietMemory,
  settledMemory,
  skip,
  skipWithout,
  turn,
} = require('../setup')
const { nodePeer, pythonPeer, endPeers } = require('../peer-process')

const MANY = 100000 // elements

const layoutOf = (t) => Tensor.attachedOf(t)

/** Notifies until as many were woken: who waits begins to do so on a thread of its own. */
async function wakeAll(layout, index, count = 1) {
  for (let woken = 0; woken < count; await turn()) woken += notify(layout, index, count - woken)
}

/** The n-th allocation in C from now on fails; 0: none. */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
}

// A program's first lines: t is over the file in its environment.
const PRELUDE = `
  const { openNpy, memory } = require('samebytes')
  const { Tensor } = require('./js/tensor/tensor')
  const { Waits, notify } = require('./js/sharing/waits')
  const waits = new Waits()
  const t = openNpy(process.env.SHARED, { mode: 'r+' })
  const layout = Tensor.attachedOf(t)
`

describe('waiting for a word of shared memory', function () {
  nativeOnly()
  needs('futexes')

  let folder
  let made = 0
  before(function () {
    if (backend.isWasm) return
    folder = fs.mkdtempSync(
      path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'samebytes-'),
    )
  })
  after(async () => {
    if (!folder) return
    if (!can('mapped files that change')) await collectUntil(() => memory().bytes.mapped === 0) // those cannot be deleted
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    failAllocation(0)
    await endPeers()
  })

  /** A new file of words, mapped. */
  function words(dtype = 'int32', count = 8) {
    const file = path.join(folder, `${made++}.npy`)
    const t = createNpy(file, [count], dtype)
    return { file, t, layout: layoutOf(t), waits: new Waits() }
  }

  it('wakes a waiting process, which then sees what was written: int32', async () => {
    const { file, t, layout } = words()
    const peer = nodePeer(
      `${PRELUDE}
      await send('ready')
      const how = await waits.wait(layout, 2, 0)
      await send([how, t.get(2)])`,
      { env: { SHARED: file } },
    )
    assert.equal(await peer.next(), 'ready')
    while (notify(layout, 2) === 0) await turn() // 0: not asleep yet
    assert.deepEqual(await peer.next(), ['ok', 0])
    assert.equal((await peer.exit).code, 0)
    assert.equal(t.get(2), 0)
  })

  it('is woken by another process, after the word has changed: back and forth 200 times', async function () {
    const { file, t, layout, waits } = words()
    const peer = nodePeer(
      `${PRELUDE}
      for (let i = 1; i <= 200; i++) {
        while (t.get(0) !== i) await waits.wait(layout, 0, i - 1)
        t.set(i, 1)
        notify(layout, 1)
      }`,
      { env: { SHARED: file } },
    )
    for (let i = 1; i <= 200; i++) {
      t.set(i, 0)
      notify(layout, 0)
      while (t.get(1) !== i) await waits.wait(layout, 1, i - 1)
    }
    assert.equal((await peer.exit).code, 0)
  })

  it('is woken by Python, which has the file as an array, and wakes it', async function () {
    if (process.arch !== 'x64') skip(this, 'the number of the system call is that of x64')
    skipWithout(this, 'NumPy')
    const { file, t, layout, waits } = words()
    const peer = pythonPeer(
      `
import ctypes, numpy as np
a = np.load(sys.argv[1], mmap_mode='r+')
libc = ctypes.CDLL(None, use_errno=True)
def futex(i, operation, value): return libc.syscall(202, ctypes.c_void_p(a.ctypes.data + 4 * i), operation, value, None, None, 0)
a[3] = 7
while futex(3, 1, 1) == 0: pass
while a[4] == 0: futex(4, 0, 0)
say(int(a[4]))
`,
      [file],
    )
    while (t.get(3) !== 7) await turn()
    assert.equal(await waits.wait(layout, 3, 7), 'ok')
    t.set(9, 4)
    notify(layout, 4)
    assert.equal(await peer.next(), '9')
  })

  for (const [dtype, value] of Object.entries({
    int32: -5,
    uint32: 4294967295,
    int64: -(2n ** 40n) - 3n,
    uint64: 2n ** 63n + 9n,
  })) {
    it(`compares ${dtype} with what is expected, and says at once where it differs`, async () => {
      const { t, layout, waits } = words(dtype)
      t.set(value, 7)
      assert.equal(await waits.wait(layout, 7, dtype.endsWith('64') ? 5n : 5), 'not-equal')
      assert.equal(await waits.wait(layout, 7, value, { timeout: 1 }), 'timed-out')
      assert.equal(await waits.wait(layout, 7, value, { timeout: 0 }), 'timed-out')
      const waiting = waits.wait(layout, 7, value)
      await wakeAll(layout, 7)
      assert.equal(await waiting, 'ok')
    })
  }

  it('waits on the lower word of 64 bits', async () => {
    const { t, layout, waits } = words('uint64')
    t.set(2n ** 32n, 0)
    assert.equal(await waits.wait(layout, 0, 5n * 2n ** 32n, { timeout: 1 }), 'timed-out')
    const waiting = waits.wait(layout, 0, 2n ** 32n)
    await wakeAll(layoutOf(t.view('int32')), 0)
    assert.equal(await waiting, 'ok')
  })

  it('refuses what is no word, and values that are none of the dtype', async () => {
    const { t, layout, waits } = words()
    const rejects = (fn, code) => assert.rejects(async () => fn(), { code })
    for (const dtype of ['float32', 'uint8', 'int16', 'float64', 'bool', 'complex64']) {
      const other = words(dtype)
      await rejects(() => waits.wait(other.layout, 0, 0), 'ERR_DTYPE')
      fails(() => notify(other.layout, 0), TypeError, 'ERR_DTYPE')
    }
    for (const [index, code] of [
      [-1, 'ERR_BOUNDS'],
      [8, 'ERR_BOUNDS'],
      [2 ** 53, 'ERR_BOUNDS'],
      [0.5, 'ERR_BOUNDS'],
      ['0', 'ERR_ARGUMENT'],
      [undefined, 'ERR_ARGUMENT'],
    ]) {
      await rejects(() => waits.wait(layout, index, 0), code)
      fails(() => notify(layout, index), Error, code)
    }
    for (const [expected, code] of [
      [2 ** 31, 'ERR_CAST'],
      [-(2 ** 31) - 1, 'ERR_CAST'],
      [0.5, 'ERR_CAST'],
      [NaN, 'ERR_CAST'],
      ['0', 'ERR_ARGUMENT'],
      [undefined, 'ERR_ARGUMENT'],
      [2n ** 64n, 'ERR_CAST'],
    ]) {
      await rejects(() => waits.wait(layout, 0, expected), code)
    }
    for (const [timeout, code] of [
      [-1, 'ERR_BOUNDS'],
      [NaN, 'ERR_BOUNDS'],
      ['1', 'ERR_ARGUMENT'],
      [null, 'ERR_ARGUMENT'],
    ]) {
      await rejects(() => waits.wait(layout, 0, 0, { timeout }), code)
    }
    await rejects(() => waits.wait(layout, 0, 0, { signal: {} }), 'ERR_ARGUMENT')
    for (const [n, code] of [
      [-1, 'ERR_BOUNDS'],
      [0.5, 'ERR_BOUNDS'],
      ['1', 'ERR_ARGUMENT'],
      [null, 'ERR_ARGUMENT'],
    ]) {
      fails(() => notify(layout, 0, n), Error, code)
    }
    const readOnly = layoutOf(openNpy(path.join(folder, '0.npy')))
    await rejects(() => waits.wait(readOnly, 0, 0), 'ERR_READ_ONLY')
    await rejects(
      () => waits.wait(layoutOf(zeros([4], { dtype: 'int32' })), 0, 0),
      'ERR_UNSUPPORTED',
    )
    assert.equal(t.get(0), 0)
  })

  it('takes the numbers of its dtype and no others', async () => {
    const right = {
      int32: [-1, -(2 ** 31), 2 ** 31 - 1, 0, -0],
      uint32: [0, 2 ** 31, 2 ** 32 - 1],
      int64: [-1, -1n, 2 ** 40, -(2n ** 63n), 2 ** 32 - 1],
      uint64: [0, 2 ** 32 - 1, 2 ** 53 - 1, 2n ** 64n - 1n],
    }
    const wrong = {
      int32: [2 ** 31, -(2 ** 31) - 1, 2n ** 31n],
      uint32: [-1, 2 ** 32, -1n],
      int64: [2n ** 63n, 2 ** 53],
      uint64: [-1, -1n, -(2 ** 31), 2n ** 64n],
    }
    for (const dtype of Object.keys(right)) {
      const { t, layout, waits } = words(dtype)
      for (const value of right[dtype]) {
        t.set(value, 3)
        assert.equal(await waits.waitFor(layout.storage, 0, 1, 0), 'not-equal')
        assert.equal(
          await waits.wait(layout, 3, value, { timeout: 0 }),
          'timed-out',
          `${dtype} ${value}`,
        )
        t.set(dtype.endsWith('64') ? 77n : 77, 3)
        assert.equal(
          await waits.wait(layout, 3, value, { timeout: 0 }),
          'not-equal',
          `${dtype} ${value}`,
        )
      }
      for (const value of wrong[dtype]) {
        await assert.rejects(
          async () => waits.wait(layout, 3, value),
          { code: 'ERR_CAST' },
          `${dtype} ${value}`,
        )
      }
    }
  })

  it('wakes as many as notify says, and tells how many those were', async () => {
    const { layout, waits } = words()
    const how = []
    const waiting = Array.from({ length: 5 }, () =>
      waits.wait(layout, 1, 0).then((each) => how.push(each)),
    )
    assert.equal(notify(layout, 1, 0), 0)
    await wakeAll(layout, 1, 3)
    while (how.length < 3) await turn()
    assert.deepEqual(how, ['ok', 'ok', 'ok'])
    assert.equal(notify(layout, 0), 0)
    await wakeAll(layout, 1, 2)
    await Promise.all(waiting)
    assert.equal(notify(layout, 1), 0)
  })

  it('200 times at once, and libuv’s threads stay free', async () => {
    const { file, layout, waits } = words()
    const waiting = Array.from({ length: 200 }, (_, i) => waits.wait(layout, i % 8, 0))
    assert.ok((await fs.promises.stat(file)).size > 0) // would wait for ever behind them
    for (let i = 0; i < 8; i++) await wakeAll(layout, i, 25)
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['ok']))
  })

  it('of another thread of the process, too: native memory that was never a file', async () => {
    const t = zeros([4], { dtype: 'int32', shared: true })
    const waits = new Waits()
    const waiting = waits.wait(layoutOf(t), 3, 0)
    await wakeAll(layoutOf(t), 3)
    assert.equal(await waiting, 'ok')
  })

  describe("with a signal of the caller's own", () => {
    const thrown = new Error('thrown by the signal')
    const reason = new Error('the reason')
    const fails = () => {
      throw thrown
    }
    const signalWith = (over) =>
      Object.defineProperties(
        { aborted: false, reason, addEventListener() {}, removeEventListener() {} },
        Object.getOwnPropertyDescriptors(over),
      )
    const SIGNALS = {
      'throws when its listener is removed': [
        () => signalWith({ removeEventListener: fails }),
        'ok',
      ],
      'never tells': [() => signalWith({}), 'ok'],
      'throws when it is listened to': [() => signalWith({ addEventListener: fails }), thrown],
      'calls its listener at once, and throws': [
        () =>
          signalWith({
            addEventListener(_, listener) {
              listener()
              throw thrown
            },
            removeEventListener: fails,
          }),
        reason,
      ],
      'throws when it is asked': [
        () =>
          signalWith({
            get aborted() {
              throw thrown
            },
          }),
        thrown,
      ],
      'throws when it is asked why': [
        () =>
          signalWith({
            aborted: true,
            get reason() {
              throw thrown
            },
          }),
        thrown,
      ],
    }

    for (const [what, [signal, outcome]] of Object.entries(SIGNALS)) {
      it(`that ${what}, it settles and leaves nothing`, async () => {
        const { layout, waits } = words()
        const { claims } = layout.storage
        const waiting = (async () =>
          waits.wait(layout, 0, 0, { signal: signal(), timeout: 30000 }))().catch((error) => error)
        if (outcome === 'ok') await wakeAll(layout, 0)
        assert.equal(await waiting, outcome)
        assert.deepEqual([waits.pending.size, layout.storage.claims], [0, claims])
      })
    }

    for (const part of ['aborted', 'addEventListener', 'removeEventListener']) {
      it(`whose ${part} disposes what is waited on is ERR_DISPOSED, or ends as it would`, async function () {
        skipWithout(this, 'shared memory with a name')
        const shared = SharedTensor.create(null, [4], 'int32')
        const dispose = () => {
          shared.tensor.dispose()
          shared.dispose()
        }
        const over =
          part === 'aborted'
            ? {
                get aborted() {
                  dispose()
                  return false
                },
              }
            : { [part]: dispose }
        const waiting = shared
          .wait(0, 0, { signal: signalWith(over), timeout: 30000 })
          .catch((error) => error.code)
        if (part === 'removeEventListener') while (shared.notify(0) === 0) await turn()
        assert.equal(await waiting, part === 'removeEventListener' ? 'ok' : 'ERR_DISPOSED')
      })
    }
  })

  it('ends with its signal: the reason is the signal’s, and nothing is left', async () => {
    const { layout, waits, t } = words()
    const before = settledMemory()
    const controller = new AbortController()
    const waiting = Array.from({ length: 8 }, () =>
      waits.wait(layout, 0, 0, { signal: controller.signal }),
    )
    const reason = new Error('mine')
    controller.abort(reason)
    for (const each of await Promise.allSettled(waiting)) assert.equal(each.reason, reason)
    await assert.rejects(
      async () => waits.wait(layout, 0, 0, { signal: controller.signal }),
      (error) => error === reason,
    )
    assert.equal(notify(layout, 0), 0)
    assert.equal(waits.pending.size, 0)
    assert.ok(memory().storages <= before.storages) // less where what an earlier test left has gone meanwhile
    assert.equal(t.get(0), 0)
  })

  it('ends with what it is of: ERR_DISPOSED', async () => {
    const { layout, waits } = words()
    const waiting = Array.from({ length: 20 }, (_, i) =>
      waits.wait(layout, i % 8, 0, { timeout: 1e9 }),
    )
    waits.end()
    for (const { reason } of await Promise.allSettled(waiting)) {
      assert.equal(reason.code, 'ERR_DISPOSED')
    }
    await assert.rejects(async () => waits.wait(layout, 0, 0), { code: 'ERR_DISPOSED' })
    waits.end()
  })

  it('holds the bytes while it is pending, and lets go of them then', async () => {
    const { file, t, layout, waits } = words('int32', MANY) // more than earlier tests may have left behind
    const other = openNpy(file, { mode: 'r+' })
    const before = (await quietMemory()).bytes.mapped
    const waiting = waits.wait(layout, 0, 0)
    t.dispose()
    assert.ok(before - (await quietMemory()).bytes.mapped < 4 * MANY)
    await wakeAll(layoutOf(other), 0)
    assert.equal(await waiting, 'ok')
    assert.equal(waits.pending.size, 0)
    assert.ok(before - (await quietMemory()).bytes.mapped >= 4 * MANY)
  })

  it('of a file that became shorter is an error, not the end of the process', async function () {
    skipWithout(this, 'mapped files that change')
    const { file, layout, waits } = words('int32', 4096)
    fs.truncateSync(file, 0)
    await assert.rejects(async () => waits.wait(layout, 4000, 0), { code: 'ERR_IO' })
    fails(() => notify(layout, 4000), Error, 'ERR_IO', /shorter/)
  })

  it('that is pending when its file becomes shorter ends with ERR_IO; another one of that file goes on', async function () {
    skipWithout(this, 'mapped files that change')
    const { file, layout, waits } = words('int32', 4096)
    const gone = waits.wait(layout, 4000, 0)
    const here = waits.wait(layout, 0, 0)
    for (let i = 0; i < 20; i++) await turn()
    fs.truncateSync(file, 4096)
    await assert.rejects(gone, { code: 'ERR_IO' })
    await wakeAll(layout, 0)
    assert.equal(await here, 'ok')
    assert.equal(waits.pending.size, 0)
    assert.equal(waits.timer, null)
  })

  it('without memory is refused, and nothing is left', async () => {
    const { layout, waits } = words()
    let failures = 0
    for (let n = 1; n < 12; n++) {
      failAllocation(n)
      const waiting = waits.wait(layout, 0, 0, { timeout: 1 })
      failAllocation(0)
      const how = await waiting.catch((error) => error.code)
      if (how === 'ERR_MEMORY') failures++
      else assert.equal(how, 'timed-out')
      assert.equal(waits.pending.size, 0)
    }
    assert.ok(failures > 0)
  })

  it('beyond 1024 at a time is refused', async () => {
    const { layout, waits } = words()
    const waiting = Array.from({ length: 1025 }, () => waits.wait(layout, 0, 0))
    waits.end()
    const codes = (await Promise.allSettled(waiting)).map(({ reason }) => reason.code)
    assert.deepEqual([...new Set(codes)].sort(), ['ERR_DISPOSED', 'ERR_MEMORY'])
    assert.ok(codes.filter((code) => code === 'ERR_DISPOSED').length > 0)
  })

  it('keeps the process alive, and no longer', async function () {
    const { file, layout } = words()
    const peer = nodePeer(
      `${PRELUDE}
      await send('ready')
      waits.wait(layout, 0, 0).then(() => { t.set(1, 1) })`,
      { env: { SHARED: file } },
    )
    await peer.next()
    await wakeAll(layout, 0)
    assert.equal((await peer.exit).code, 0)
    assert.equal(openNpy(file).get(1), 1)
  })

  for (const [how, code] of Object.entries({
    'process.exit(5)': 5,
    "setTimeout(() => { throw new Error('mine') })": 1,
  })) {
    it(`goes with a process that ends by ${how} while it is pending`, async () => {
      const { file } = words()
      const peer = nodePeer(
        `${PRELUDE}
        for (let i = 0; i < 50; i++) waits.wait(layout, i % 8, 0)
        ${how}
        await new Promise(() => {})`,
        { env: { SHARED: file } },
      )
      assert.equal((await peer.exit).code, code)
    })
  }

  for (const how of ['worker.terminate()', "worker.postMessage('process.exit()')"]) {
    it(`goes with a worker that ends by ${how} while it is pending, and so does what it held`, async () => {
      const { file, layout } = words('int32', MANY)
      const before = (await quietMemory()).bytes.mapped
      for (let round = 0; round < 5; round++) {
        const worker = new Worker(
          `${PRELUDE}
          const { parentPort } = require('node:worker_threads')
          for (let i = 0; i < 40; i++) waits.wait(layout, i % 8, 0)
          parentPort.on('message', text => { eval(text) })
          parentPort.postMessage('ready')`,
          { eval: true, env: { ...process.env, SHARED: file } },
        )
        await new Promise((resolve, reject) =>
          worker.once('message', resolve).once('error', reject),
        )
        assert.ok(memory().bytes.mapped > before)
        const exit = new Promise((resolve) => worker.once('exit', resolve))
        if (how === 'worker.terminate()') worker.terminate()
        else worker.postMessage('process.exit()')
        await exit
        while (memory().bytes.mapped > before) await turn() // their threads let go of it
      }
      for (let i = 0; i < 8; i++) assert.equal(notify(layout, i), 0)
    })
  }

  it('works where the system cannot wait for two things at once', async () => {
    const { file } = words()
    const result = await childJson(
      `${PRELUDE}
      const turn = () => new Promise(resolve => setImmediate(resolve))
      async function main () {
        const results = [await waits.wait(layout, 0, 1), await waits.wait(layout, 0, 0, { timeout: 1 }), await waits.wait(layout, 0, 0, { timeout: 30 })]
        const waiting = Array.from({ length: 30 }, () => waits.wait(layout, 0, 0))
        while (waits.pending.size > 0) { notify(layout, 0); await turn() } // till all of them have slept and were woken
        results.push(...new Set(await Promise.all(waiting)))
        const changed = Array.from({ length: 30 }, () => waits.wait(layout, 0, 0))
        t.set(1, 0)
        while (waits.pending.size > 0) { notify(layout, 0); await turn() }
        results.push((await Promise.all(changed)).every(each => each === 'ok' || each === 'not-equal'))
        const controller = new AbortController()
        const aborted = waits.wait(layout, 1, 0, { signal: controller.signal })
        controller.abort()
        results.push(await aborted.catch(error => error.name))
        const last = waits.wait(layout, 1, 0)
        waits.end()
        results.push(await last.catch(error => error.code))
        console.log(JSON.stringify(results))
      }
      main()`,
      { env: { SHARED: file, SAMEBYTES_NO_WAITV: '1' } },
    )
    assert.deepEqual(result, [
      'not-equal',
      'timed-out',
      'timed-out',
      'ok',
      true,
      'AbortError',
      'ERR_DISPOSED',
    ])
  })

  it('10,000 times leaves nothing', async () => {
    const { t, layout, waits } = words()
    const before = await quietMemory()
    for (let i = 0; i < 10000; i++) {
      const waiting = waits.wait(layout, 0, i)
      t.set(i + 1, 0)
      notify(layout, 0) // who does not sleep yet sees the change
      assert.match(await waiting, /ok|not-equal/)
    }
    const after = await quietMemory() // less where what an earlier test left has gone meanwhile
    for (const key of ['tensors', 'storages', 'inFlight']) assert.ok(after[key] <= before[key], key)
    assert.ok(after.bytes.mapped <= before.bytes.mapped)
  })

  it('is a method of SharedTensor: two processes, an element of a name', async function () {
    skipWithout(this, 'shared memory with a name')
    const name = `samebytes-test-${process.pid}-waits`
    const shared = SharedTensor.create(name, [2, 3], { dtype: 'int64', ifExists: 'replace' })
    try {
      const peer = nodePeer(
        `
        const { SharedTensor } = require('samebytes')
        const shared = SharedTensor.open(process.env.NAME)
        const how = []
        while (shared.tensor.get(1, 2) !== 5n) how.push(await shared.wait(5, 0))
        shared.tensor.set(6n, 0, 0)
        shared.notify(0)
        await send(how.length)`,
        { env: { NAME: name } },
      )
      const waiting = shared.wait(0, 0n)
      shared.tensor.set(5n, 1, 2)
      shared.notify(5)
      assert.ok(Number.isInteger(await peer.next()))
      assert.match(await waiting, /ok|not-equal/)
      assert.equal(shared.tensor.get(0, 0), 6n)
      assert.equal(await shared.wait(0, 0), 'not-equal')
      assert.equal(await shared.wait(0, 6, { timeout: 0 }), 'timed-out')
      for (const mode of ['r', 'c']) {
        const other = SharedTensor.open(name, { mode })
        await assert.rejects(other.wait(0, 6), { code: 'ERR_READ_ONLY' })
        fails(() => other.notify(0), Error, 'ERR_READ_ONLY')
        other.dispose()
      }
    } finally {
      SharedTensor.unlink(name)
    }
    const last = shared.wait(0, 6)
    shared.dispose()
    await assert.rejects(last, { code: 'ERR_DISPOSED' })
    await assert.rejects(shared.wait(0, 6), { code: 'ERR_DISPOSED' })
    fails(() => shared.notify(0), Error, 'ERR_DISPOSED')
  })

  it('is one of raw segments, from any element on, and of sealed ones', async function () {
    skipWithout(this, 'sealed memory')
    const sealed = SharedTensor.create(null, [5], { dtype: 'uint32', format: 'raw' })
    const part = SharedTensor.open({ fd: sealed.fd }, { format: 'raw', dtype: 'uint32', offset: 3 })
    const waiting = part.wait(1, 0)
    while (sealed.notify(4) === 0) await turn()
    assert.equal(await waiting, 'ok')
    part.dispose()
    sealed.dispose()
  })
})
