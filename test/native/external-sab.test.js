'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const {
  createNpy,
  empty,
  fromBlob,
  fromShared,
  memory,
  openNpy,
  share,
  SharedTensor,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const {
  childJson,
  collectUntil,
  nativeOnly,
  needs,
  quietMemory,
  refuses,
  skipWithout,
  turn,
} = require('../setup')

const MIB = 1048576
const SAB = { shared: 'sab' }

/** A worker of that source, which posts what it has. next(): its next message; exit: its code, once it has ended. */
function start(source, workerData) {
  const worker = new Worker(
    `
    const { parentPort, workerData } = require('node:worker_threads')
    const { fromShared, memory, share } = require('samebytes')
    ${source}`,
    { eval: true, workerData },
  )
  const messages = []
  const waiting = []
  let failed = null
  worker.on('message', (message) =>
    waiting.length > 0 ? waiting.shift().resolve(message) : messages.push(message),
  )
  worker.on('error', (error) => {
    failed = error
    for (const { reject } of waiting.splice(0)) reject(error)
  })
  const exit = new Promise((resolve) => worker.on('exit', resolve))
  const next = () =>
    new Promise((resolve, reject) => {
      if (messages.length > 0) resolve(messages.shift())
      else if (failed !== null) reject(failed)
      else waiting.push({ resolve, reject })
    })
  return { worker, next, exit }
}

/** A worker sleeps on element 0 of the token's tensor; this thread wakes it through a buffer of its own. */
async function wakesWorker(ofWorker, own) {
  const sleeper = start(
    `
    const t = fromShared(workerData, { shared: 'sab' })
    const slept = Atomics.wait(t.data, 0, 0, 60000)
    parentPort.postMessage([slept, t.get(0), t.get(1)])`,
    ofWorker,
  )
  const { data } = own
  data[1] = 42
  const answered = sleeper.next()
  const answer = { settled: false }
  const settle = () => {
    answer.settled = true
  }
  answered.then(settle, settle)
  while (!answer.settled && Atomics.notify(data, 0) === 0) await turn() // until it sleeps
  assert.deepEqual(await answered, ['ok', 0, 42])
  assert.equal(await sleeper.exit, 0)
}

/** Few bytes of an earlier test may go meanwhile. */
const isBack = async (before) => {
  assert.ok(
    await collectUntil(() => memory().bytes.native <= before.bytes.native),
    `${memory().bytes.native} bytes; ${before.bytes.native} before`,
  )
  assert.equal(memory().inFlight, before.inFlight)
  const after = await quietMemory()
  assert.ok(after.storages <= before.storages && after.tensors <= before.tensors)
}

describe('a SharedArrayBuffer over native memory, where Node makes none', () => {
  nativeOnly()
  needs('their refusal')

  it('is ERR_UNSUPPORTED that names those that do, and the token stays', () => {
    const t = tensor([1, 2], { shared: true })
    const token = share(t)
    for (let i = 0; i < 3; i++) {
      refuses(() => fromShared(token, SAB), 'ERR_UNSUPPORTED', /22\.23\.3.*24\.16.*26\.1/)
    }
    const u = fromShared(token)
    assert.ok(u.data.buffer instanceof ArrayBuffer)
    assert.deepEqual(u.toArray(), [1, 2])
    u.dispose()
    t.dispose()
  })
})

describe('a SharedArrayBuffer over native memory', function () {
  nativeOnly()
  needs('external SharedArrayBuffers')

  it('has the very bytes, beside a plain buffer of the same thread', () => {
    const t = tensor([1, 2, 3], { dtype: 'float32', shared: true })
    const u = fromShared(share(t), SAB)
    const plain = fromShared(share(t))
    assert.ok(u.data.buffer instanceof SharedArrayBuffer)
    assert.ok(plain.data.buffer instanceof ArrayBuffer && t.data.buffer instanceof ArrayBuffer)
    assert.equal(u.data.buffer, u.data.buffer)
    assert.equal(u.dataPtr, t.dataPtr)
    assert.equal(fromBlob(u.data).dataPtr, t.dataPtr)
    assert.ok(sharesMemory(t, u))
    t.data[0] = 10
    u.data[1] = 20
    plain.set(30, 2)
    for (const x of [t, u, plain]) {
      assert.deepEqual(
        [x.toArray(), [...x.data]],
        [
          [10, 20, 30],
          [10, 20, 30],
        ],
      )
    }
    assert.deepEqual([...u.slice('1:').data], [20, 30])
    for (const x of [t, u, plain]) x.dispose()
  })

  it('is what another token of it gives only if asked', () => {
    const t = fromShared(share(zeros([2], { shared: true })), SAB)
    const token = share(t, { uses: 2 })
    const plain = fromShared(token)
    const other = fromShared(token, SAB)
    assert.ok(plain.data.buffer instanceof ArrayBuffer)
    assert.ok(other.data.buffer instanceof SharedArrayBuffer)
    other.data[1] = 5
    assert.deepEqual(
      [t.toArray(), plain.toArray()],
      [
        [0, 5],
        [0, 5],
      ],
    )
  })

  it('may have no bytes', () => {
    const t = fromShared(share(empty([0, 2], { shared: true })), SAB)
    assert.deepEqual([t.shape, t.data.length, t.toArray()], [[0, 2], 0, []])
  })

  it('is of a token that is not used up by what is wrong with it, nor used twice', () => {
    const t = zeros([2], { shared: true })
    const token = share(t)
    refuses(() => fromShared({ ...token, shape: [3] }, SAB), 'ERR_BOUNDS')
    const u = fromShared(token, SAB)
    refuses(() => fromShared(token, SAB), 'ERR_STALE')
    assert.deepEqual([...u.data], [0, 0])
  })

  it('wakes a worker that sleeps on { shared: true } memory', async () => {
    const t = zeros([4], { dtype: 'int32', shared: true })
    await wakesWorker(share(t), fromShared(share(t), SAB))
  })

  it('wakes a worker that sleeps on the int32 elements of a segment', async function () {
    skipWithout(this, 'sealed memory')
    const s = SharedTensor.create(null, [4], { dtype: 'int32' })
    try {
      await wakesWorker(share(s.tensor), fromShared(share(s.tensor), SAB))
      assert.equal(s.tensor.get(1), 42)
    } finally {
      s.dispose()
    }
  })

  it('wakes a worker that sleeps on the int32 elements of a mapped file', async () => {
    const file = path.join(os.tmpdir(), `samebytes-${process.pid}-sab.npy`)
    try {
      const t = createNpy(file, [4], { dtype: 'int32' })
      await wakesWorker(share(t), fromShared(share(t), SAB))
      t.dispose()
      assert.deepEqual(openNpy(file).toArray(), [0, 42, 0, 0])
    } finally {
      fs.rmSync(file, { force: true })
    }
  })

  it('wakes waitAsync of another buffer', async () => {
    const t = zeros([2], { dtype: 'int32', shared: true })
    const [a, b] = [0, 1].map(() => fromShared(share(t), SAB).data)
    const { async: isAsync, value } = Atomics.waitAsync(a, 1, 0, 60000)
    assert.ok(isAsync)
    assert.equal(Atomics.notify(b, 1), 1)
    assert.equal(await value, 'ok')
  })

  it('holds the bytes when its tensor is disposed, until it is collected', async () => {
    const before = await quietMemory()
    let data = (() => {
      const t = empty([MIB], { dtype: 'uint8', shared: true }).fill(7)
      const u = fromShared(share(t), SAB)
      t.dispose()
      const { data: seen } = u
      u.dispose()
      return seen
    })()
    for (let i = 0; i < 3; i++) {
      globalThis.gc()
      await turn()
    }
    assert.ok(memory().bytes.native - before.bytes.native > MIB / 2)
    assert.deepEqual([data[0], data[MIB - 1]], [7, 7])
    data = null
    await isBack(before)
  })

  it('runs the deleter of an address once, when the last of it is collected', async () => {
    const before = await quietMemory()
    const kept = tensor([1, 2, 3, 4], { dtype: 'int32', shared: true })
    const calls = []
    const address = kept.dataPtr
    ;(() => {
      const t = fromBlob(address, [4], { dtype: 'int32', deleter: (x) => calls.push(x) })
      const u = fromShared(share(t), SAB)
      u.data[0] = 9
      t.dispose()
      u.dispose()
    })()
    assert.ok(await collectUntil(() => calls.length > 0))
    assert.deepEqual(calls, [address])
    assert.equal(kept.get(0), 9)
    kept.dispose()
    await isBack(before)
  })

  for (const [how, ending, code] of [
    ['is terminated', 'setInterval(() => {}, 1000)', undefined],
    ['calls process.exit', 'parentPort.once("message", () => process.exit(3))', 3],
    ['ends', 'parentPort.once("message", () => {})', 0],
  ]) {
    it(`gives the bytes back when a worker that held it ${how}`, async () => {
      const before = await quietMemory()
      const token = (() => share(empty([MIB], { dtype: 'uint8', shared: true })))()
      const held = start(
        `
        globalThis.t = fromShared(workerData, { shared: 'sab' })
        globalThis.data = t.data
        parentPort.postMessage(data.buffer instanceof SharedArrayBuffer)
        ${ending}`,
        token,
      )
      assert.equal(await held.next(), true)
      assert.equal(memory().inFlight, before.inFlight)
      assert.ok(memory().bytes.native - before.bytes.native > MIB / 2)
      if (code === undefined) {
        await held.worker.terminate()
      } else {
        held.worker.postMessage('now')
        assert.equal(await held.exit, code)
      }
      await isBack(before)
    })
  }

  it('is posted on, and outlives its tensor and its thread', async () => {
    const before = await quietMemory()
    const token = (() => share(empty([MIB], { dtype: 'uint8', shared: true }).fill(1)))()
    const maker = start(
      `
      const t = fromShared(workerData, { shared: 'sab' })
      parentPort.postMessage(t.data.buffer)
      t.data[0] = 2
      t.dispose()
      parentPort.once('message', () => {})`,
      token,
    )
    const taker = start(`
      parentPort.once('message', buffer => {
        globalThis.bytes = new Uint8Array(buffer)
        parentPort.postMessage('has it')
        parentPort.once('message', () => {
          bytes[1] = 3
          parentPort.postMessage([bytes[0], bytes[1], bytes.length, bytes[bytes.length - 1]])
        })
      })`)
    await (async () => {
      taker.worker.postMessage(await maker.next())
    })()
    assert.equal(await taker.next(), 'has it')
    maker.worker.postMessage('end')
    assert.equal(await maker.exit, 0)
    for (let i = 0; i < 3; i++) {
      globalThis.gc()
      await turn()
    }
    assert.ok(memory().bytes.native - before.bytes.native > MIB / 2)
    taker.worker.postMessage('look')
    assert.deepEqual(await taker.next(), [2, 3, MIB, 1])
    assert.equal(await taker.exit, 0)
    await isBack(before)
  })

  it('goes with workers that are terminated while they make them, 6 times', async () => {
    const before = await quietMemory()
    const t = empty([MIB], { dtype: 'uint8', shared: true })
    for (let round = 0; round < 6; round++) {
      const maker = start(
        `
        const t = fromShared(workerData)
        parentPort.postMessage('begins')
        for (;;) fromShared(share(t), { shared: 'sab' }).data[0]++`,
        share(t),
      )
      await maker.next()
      await maker.worker.terminate()
    }
    t.dispose()
    // A token that was made and not taken when its thread ended keeps the bytes.
    assert.ok(
      await collectUntil(
        () =>
          memory().bytes.native <=
          before.bytes.native + (memory().inFlight > before.inFlight ? MIB : 0),
      ),
    )
  })

  it('is made and collected 20000 times without growth', async () => {
    const before = await quietMemory()
    const t = empty([4096], { dtype: 'uint8', shared: true })
    for (let i = 0; i < 20000; i++) {
      const u = fromShared(share(t), SAB)
      u.data[0] = i
      u.dispose()
    }
    t.dispose()
    await isBack(before)
  })

  it('lets a process end that has some, in both threads', async () => {
    const result = await childJson(
      `
      const { Worker } = require('node:worker_threads')
      const { fromShared, share, zeros } = require('samebytes')
      const t = zeros([1000], { shared: true })
      globalThis.kept = fromShared(share(t), { shared: 'sab' }).data
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { fromShared } = require('samebytes')
        globalThis.kept = fromShared(workerData, { shared: 'sab' }).data
        parentPort.postMessage(kept[0])
        setInterval(() => {}, 1000)\`, { eval: true, workerData: share(t) })
      worker.once('message', seen => { console.log(seen); process.exit(0) })`,
      { env: { SAMEBYTES_BACKEND: 'native' } },
    )
    assert.equal(result, 0)
  })

  it('is refused where the runtime allows no buffers over native memory, and the token stays', async () => {
    const result = await childJson(
      `
      const { fromShared, share, tensor } = require('samebytes')
      const token = share(tensor([1, 2], { shared: true }))
      let code = 'none'
      try { fromShared(token, { shared: 'sab' }) } catch (error) { code = error.code }
      console.log(JSON.stringify([code, fromShared(token).toArray()]))`,
      { env: { SAMEBYTES_NO_EXTERNAL_BUFFERS: '1', SAMEBYTES_BACKEND: 'native' } },
    )
    assert.deepEqual(result, ['ERR_UNSUPPORTED', [1, 2]])
  })
})
