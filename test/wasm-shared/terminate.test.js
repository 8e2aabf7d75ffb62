'use strict'
// Threads that are terminated while they allocate, free, share and join: the others go on.
const assert = require('node:assert/strict')
const { zeros } = require('samebytes')
const { settle, start } = require('./workers')

/** what a thread does again and again after it counted itself into the Int32Array workerData */
const BUSY = {
  'makes and disposes tensors': 's.zeros([1 + i % 3000]).dispose()',
  'makes memory grow':
    'kept.push(s.empty([20000])); if (kept.length > 200) for (const t of kept.splice(0)) t.dispose()',
  'makes tokens and takes them':
    'const t = s.zeros([16]); s.fromShared(s.share(t)).dispose(); t.dispose()',
}

describe('threads that are terminated', function () {
  for (const [how, step] of Object.entries(BUSY)) {
    it(`while one ${how} hold nobody up`, async () => {
      const count = new Int32Array(new SharedArrayBuffer(4))
      for (let round = 0; round < 4; round++) {
        const threads = [0, 1].map(() =>
          start(
            `const kept = []; for (let i = 0; ; i++) { ${step}; Atomics.add(workerData, 0, 1) }`,
            count,
          ),
        )
        const before = Atomics.load(count, 0)
        while (Atomics.load(count, 0) < before + 200 + 37 * round) {
          await new Promise((resolve) => setImmediate(resolve))
        }
        for (const { worker } of threads) worker.terminate()
        for (let i = 0; i < 200; i++) {
          zeros([1 + i])
            .fill(i)
            .dispose()
        }
        await Promise.all(threads.map(({ ended }) => ended))
        const t = zeros([5000]).fill(round)
        assert.equal(t.get(4999), round)
        t.dispose()
      }
      const { next, ended } = start('port.postMessage(s.ones([3]).toArray())')
      assert.deepEqual(await next(), [1, 1, 1])
      await ended
      await settle()
    })
  }
})
