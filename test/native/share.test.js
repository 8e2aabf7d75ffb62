'use strict'
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const { empty, fromShared, memory, share, tensor } = require('samebytes')
const { childJson, collectUntil, fails, nativeOnly, quietMemory } = require('../setup')

const MIB = 1048576

/** A worker that takes a tensor of the token, says so, and waits. */
function holder (token, then = 'setInterval(() => {}, 1000)') {
  const worker = new Worker(`
    const { parentPort, workerData } = require('node:worker_threads')
    const { fromShared } = require('samebytes')
    globalThis.kept = fromShared(workerData)
    globalThis.data = kept.data
    kept.set(5, 0)
    parentPort.postMessage(kept.dataPtr)
    ${then}`, { eval: true, workerData: token })
  return new Promise((resolve, reject) => worker.on('error', reject).on('message', address => resolve({ worker, address })))
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
    const { worker } = await holder(token, 'process.exit(3)')
    await new Promise(resolve => worker.once('exit', resolve))
    assert.ok(await collectUntil(() => memory().bytes.native === before))
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
