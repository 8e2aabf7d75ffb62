'use strict'
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const { empty, fromShared, memory, share, tensor, unshare } = require('samebytes')
const { childJson, collectUntil, fails, nativeOnly, quietMemory } = require('../setup')

const MIB = 1048576

/** A worker that takes a tensor of the token, says so, and waits; exit: its code, once it has ended. */
function holder(token, then = 'setInterval(() => {}, 1000)') {
  const worker = new Worker(
    `
    const { parentPort, workerData } = require('node:worker_threads')
    const { fromShared } = require('samebytes')
    globalThis.kept = fromShared(workerData)
    globalThis.data = kept.data
    kept.set(5, 0)
    parentPort.postMessage(kept.dataPtr)
    ${then}`,
    { eval: true, workerData: token },
  )
  const exit = new Promise((resolve) => worker.on('exit', resolve))
  return new Promise((resolve, reject) =>
    worker.on('error', reject).on('message', (address) => resolve({ worker, address, exit })),
  )
}

describe('native memory in several threads', () => {
  nativeOnly()

  it('is at one address in all of them', async () => {
    const t = empty([4], { shared: true }).fill(1)
    const { worker, address } = await holder(share(t))
    assert.equal(address, t.dataPtr)
    assert.equal(t.get(0), 5)
    await worker.terminate()
    assert.equal(t.get(0), 5)
  })

  it('is given back when a worker that held it is terminated', async () => {
    const before = (await quietMemory()).bytes.native
    const t = empty([MIB], { dtype: 'uint8', shared: true })
    const token = share(t)
    t.dispose()
    const { worker } = await holder(token)
    assert.equal(memory().bytes.native - before, MIB)
    await worker.terminate()
    assert.ok(await collectUntil(() => memory().bytes.native === before))
  })

  it('is given back when a worker that held it calls process.exit', async () => {
    const before = (await quietMemory()).bytes.native
    const token = (() => share(empty([MIB], { dtype: 'uint8', shared: true })))()
    const { exit } = await holder(token, 'process.exit(3)')
    assert.equal(await exit, 3)
    assert.ok(await collectUntil(() => memory().bytes.native === before))
  })

  it('is given back when a worker that held it dies of an error, tokens that it made and took included', async () => {
    const before = await quietMemory()
    const tokens = (() => [1, 2].map(() => share(empty([MIB], { dtype: 'uint8', shared: true }))))()
    const worker = new Worker(
      `
      const { parentPort, workerData } = require('node:worker_threads')
      const { empty, fromShared, share } = require('samebytes')
      globalThis.kept = fromShared(workerData[0])
      globalThis.data = kept.data
      parentPort.postMessage(share(empty([${MIB}], { dtype: 'uint8', shared: true }).fill(3), { uses: 2 }))
      parentPort.once('message', () => { throw new Error('mine') })`,
      { eval: true, workerData: tokens },
    )
    const made = await new Promise((resolve) => worker.once('message', resolve))
    const died = new Promise((resolve) => worker.once('error', resolve))
    const exit = new Promise((resolve) => worker.once('exit', resolve))
    assert.equal(memory().bytes.native - before.bytes.native, 3 * MIB)
    worker.postMessage('now')
    assert.equal((await died).message, 'mine')
    assert.equal(await exit, 1)
    assert.equal(memory().inFlight - before.inFlight, 3) // the one that it did not take, and two uses of its own
    const t = fromShared(made) // survives its maker
    assert.deepEqual([t.get(0), t.get(MIB - 1)], [3, 3])
    t.dispose()
    unshare(made)
    unshare(tokens[1])
    assert.ok(await collectUntil(() => memory().bytes.native === before.bytes.native))
    assert.equal(memory().inFlight, before.inFlight)
  })

  it('is given back when workers die in the middle of handing it to each other, 8 times', async () => {
    const before = await quietMemory()
    const t = empty([MIB], { dtype: 'uint8', shared: true })
    for (let round = 0; round < 8; round++) {
      const worker = new Worker(
        `
        const { parentPort, workerData } = require('node:worker_threads')
        const { fromShared, share } = require('samebytes')
        const t = fromShared(workerData)
        parentPort.postMessage('begins')
        for (;;) fromShared(share(t)).fill(7)`,
        { eval: true, workerData: share(t) },
      )
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
      await worker.terminate()
    }
    assert.ok(memory().inFlight - before.inFlight <= 8) // a token that was made and not taken when its thread ended
    t.dispose()
    const mine = () =>
      memory().bytes.native ===
      before.bytes.native + (memory().inFlight > before.inFlight ? MIB : 0)
    assert.ok(await collectUntil(mine))
  })

  it('stays for the other when one lets it go', async () => {
    const t = tensor([1, 2, 3], { shared: true })
    const u = fromShared(share(t))
    t.dispose()
    globalThis.gc()
    assert.deepEqual([...u.data], [1, 2, 3])
    u.dispose()
  })

  it('is not that of another process', async () => {
    const token = await childJson(`
      const { share, zeros } = require('samebytes')
      console.log(JSON.stringify(share(zeros([2], { shared: true }))))`)
    fails(() => fromShared(token), Error, 'ERR_STALE', /process/)
  })
})
