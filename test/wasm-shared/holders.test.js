'use strict'
// Arrays over shared memory that another thread posted.
const assert = require('node:assert/strict')
const { empty, fromBlob, share, tensor, zeros } = require('samebytes')
const { refuses } = require('../setup')
const { settle, start } = require('./workers')

/** A thread that posts parts of the data of tensors that it drops, and collects or disposes them when told to. */
function posting(dispose) {
  return start(
    `
    let kept = []
    port.on('message', async message => {
      if (message === 'end') process.exit()
      if (message === 'drop') {
        if (${dispose}) for (const t of kept) t.dispose()
        kept = []
        for (let i = 0; i < 4; i++) { globalThis.gc(); await new Promise(setImmediate) }
        s.memory()
        port.postMessage('dropped')
        return
      }
      kept = Array.from({ length: 20 }, () => s.tensor(new Float32Array(20000).map((_, i) => i)))
      port.postMessage(kept.map(t => t.data.subarray(15000, 15004)))
    })`,
    share(zeros([1])),
  )
}

describe('an array that another thread posted', () => {
  for (const dispose of [true, false]) {
    it(`keeps the bytes when that thread's tensor is ${dispose ? 'disposed' : 'collected'} after a tensor was made over it: float32`, async () => {
      const { next, send, ended } = posting(dispose)
      send('post')
      const made = (await next()).map((array) => fromBlob(array))
      send('drop')
      assert.equal(await next(), 'dropped')
      const others = Array.from({ length: 25 }, () => empty([20000]).fill(-1))
      for (const t of made) assert.deepEqual(t.toArray(), [15000, 15001, 15002, 15003])
      for (const t of made) t.fill(5)
      for (const other of others) assert.equal(other.get(15000), -1)
      send('end')
      await ended
      assert.deepEqual(made[0].toArray(), [5, 5, 5, 5]) // what a thread had is given back at its end
      for (const t of [...made, ...others]) t.dispose()
    })
  }

  it("is ERR_STALE once that thread's tensor is disposed: float32", async () => {
    await settle()
    const { next, send, ended } = posting(true)
    send('post')
    const arrays = await next()
    send('drop')
    assert.equal(await next(), 'dropped')
    for (const array of arrays) refuses(() => fromBlob(array), 'ERR_STALE')
    refuses(() => zeros([4]).copyFrom(arrays[7]), 'ERR_STALE')
    assert.deepEqual(tensor([1]).toArray(), [1])
    send('end')
    await ended
  })
})
