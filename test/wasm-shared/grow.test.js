'use strict'
// A thread makes the memory grow that this one has as well.
const assert = require('node:assert/strict')
const {
  dispose,
  empty,
  fromBlob,
  full,
  memory,
  sharesMemory,
  tensor,
  wasmMemory,
  zeros,
} = require('samebytes')
const { childJson, fails } = require('../setup')
const { start } = require('./workers')

describe('memory that another thread makes grow', () => {
  /** a thread that has a large float32 tensor past the end of what memory was; { address, size, old, ... } */
  async function grown() {
    const old = wasmMemory().buffer.byteLength
    const size = Math.ceil(old / 128) // elements: a 32nd of it
    const thread = start(
      `
      const held = []
      let t
      do held.push(t = s.full([workerData.size], 3))
      while (Number(t.dataPtr) + t.nbytes <= workerData.old)
      port.on('message', what => {
        if (what === 'dispose') s.dispose(held)
        if (what === 'end') return port.close()
        port.postMessage(what === 'read' ? [t.get(0), t.get(-1)] : 'done')
      })
      port.postMessage(Number(t.dataPtr))`,
      { size, old },
    )
    const address = await thread.next()
    const end = async () => {
      thread.send('end')
      assert.equal(await thread.ended, 0)
    }
    return { ...thread, address, size, old, end }
  }

  it("keeps this thread's tensors, data and new ones right: float32", async () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const { data } = t
    const accessor = t.accessor()
    const { end } = await grown()
    assert.deepEqual(t.toArray(), [
      [1, 2],
      [3, 4],
    ])
    assert.equal(t.data, data)
    data[0] = 10
    t.set(40, 1, 1)
    assert.deepEqual([t.get(0, 0), data[3], accessor.get(1, 1)], [10, 40, 40])
    assert.deepEqual(full([100], 2).data.length, 100)
    assert.deepEqual(t.T.clone().toArray(), [
      [10, 3],
      [2, 40],
    ])
    fails(() => t.reshape([5]), RangeError, 'ERR_SHAPE', /5/)
    await end()
  })

  it("is seen at its new end: a worker's float32 there, read and written here", async () => {
    const { address, size, old, next, send, end } = await grown()
    assert.ok(address + 4 * size > old, 'it lies in the old part')
    const t = fromBlob(new Float32Array(wasmMemory().buffer, address, size))
    assert.equal(t.dataPtr, BigInt(address))
    assert.deepEqual([t.get(0), t.get(-1), t.data.at(-1), t.bytes.length], [3, 3, 3, 4 * size])
    t.slice('-1:').fill(8)
    assert.equal(t.clone().get(-1), 8)
    send('read')
    assert.deepEqual(await next(), [3, 8])
    await end()
  })

  it('is counted by memory() once it is noticed', async () => {
    const before = memory().grown
    const { end } = await grown()
    assert.equal(memory().grown, before + 1)
    assert.equal(memory().grown, before + 1)
    await end()
  })

  it("takes this thread's new tensors where it never looked: float32 values, data, views, random numbers", async () => {
    const { old, size, next, send, end } = await grown()
    send('dispose')
    assert.equal(await next(), 'done')
    const { buffer } = wasmMemory()
    const held = []
    let t
    do held.push((t = empty([size])))
    while (Number(t.dataPtr) + t.nbytes <= old)
    assert.equal(wasmMemory().buffer, buffer) // nothing grew here
    t.fill(1)
    t.set(5, -1)
    assert.deepEqual(
      [t.get(0), t.get(-1), t.data.at(-1), t.slice('-2:').toArray()],
      [1, 5, 5, [1, 5]],
    )
    assert.equal(t.accessor().get(-1), 5)
    assert.equal(sharesMemory(t, fromBlob(t.data)), true)
    assert.deepEqual(
      fromBlob(new Float32Array(wasmMemory().buffer, Number(t.dataPtr), t.size)).get(-1),
      5,
    )
    dispose(held)
    await end()
  })

  it('shows at once what a thread writes to an array of an old buffer: float32', async () => {
    const t = zeros([2])
    const { buffer } = wasmMemory()
    const { end } = await grown()
    assert.notEqual(wasmMemory().buffer, buffer)
    const before = memory().staged.count
    const u = fromBlob(new Float32Array(buffer, Number(t.dataPtr), 2)).fill(6)
    assert.deepEqual([t.toArray(), u.dataPtr, memory().staged.count], [[6, 6], t.dataPtr, before])
    await end()
  })

  it('is known where a thread posts arrays over it, also of a buffer that it had before it grew: float32', async () => {
    const t = tensor([1, 2, 3])
    const { end } = await grown()
    const { buffer } = wasmMemory()
    const arrays = [t.data, new Float32Array(buffer, Number(t.dataPtr), 3)]
    const { next, ended } = start(
      `
      const staged = s.memory().staged.count
      const all = workerData.map(array => s.fromBlob(array))
      port.postMessage([all.map(u => u.dataPtr), s.sharesMemory(all[0], all[1]), all.map(u => u.fill(7).size), s.memory().staged.count - staged])`,
      arrays,
    )
    assert.deepEqual(await next(), [[t.dataPtr, t.dataPtr], true, [3, 3], 0])
    assert.deepEqual(t.toArray(), [7, 7, 7])
    await ended
    await end()
  })

  it('is known to a thread whose start makes it grow past the end of a buffer: float32', async () => {
    const found = await childJson(`
      const { empty, tensor, wasmMemory } = require('samebytes')
      const { Worker } = require('node:worker_threads')
      const t = tensor([1, 2, 3])
      const held = []
      let buffer
      do { // until there is no room for a thread
        held.push(empty([2 ** 12]))
        buffer = wasmMemory().buffer
      } while (Number(held.at(-1).dataPtr) + 2 * held.at(-1).nbytes < buffer.byteLength)
      new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { fromBlob } = require('samebytes')
        const u = fromBlob(workerData)
        parentPort.postMessage([workerData.buffer.byteLength, u.dataPtr, u.fill(7).size])
      \`, { eval: true, workerData: new Float32Array(buffer, Number(t.dataPtr), 3) }).on('message', ([length, at, size]) => {
        console.log(JSON.stringify({ isOld: length === buffer.byteLength, hasGrown: wasmMemory().buffer.byteLength > length, isSame: at === t.dataPtr, size, values: t.toArray() }))
      })`)
    assert.deepEqual(found, {
      isOld: true,
      hasGrown: true,
      isSame: true,
      size: 3,
      values: [7, 7, 7],
    })
  })
})
