'use strict'
// Arithmetic in several threads over one memory: each has its own instance of the module, and leaves nothing of it.
const assert = require('node:assert/strict')
const { arange, memory, share, wasmMemory } = require('samebytes')
const math = require('samebytes/math')
const { environments, settle, start } = require('./workers')

const MATH = "const math = require('samebytes/math');"

describe('arithmetic of several threads', function () {
  this.timeout(120000)

  it('computes at the same time, each with its own data and stack', async () => {
    const n = 100000
    const threads = [1, 2, 3].map(k => start(`${MATH}
      port.on('message', token => {
        const x = s.fromShared(token)
        let right = 0
        for (let i = 0; i < 50; i++) {
          const y = math.add(math.multiply(x.flip(0), ${k}), ${k})
          if (y.get(0) === ${k} * ${n - 1} + ${k} && y.get(-1) === ${k}) right++
          y.dispose()
        }
        port.postMessage(right)
        port.close()
      })`))
    const x = arange(n)
    for (const { send } of threads) send(share(x))
    for (let i = 0; i < 50; i++) {
      const y = math.add(x, x)
      assert.equal(y.get(-1), 2 * (n - 1))
      y.dispose()
    }
    for (const { next, ended } of threads) {
      assert.equal(await next(), 50)
      await ended
    }
  })

  it('that end leave no bytes, no environment, and no growth', async () => {
    const one = async () => assert.equal(await start(`${MATH} math.add(s.arange(4), 1)`).ended, 0)
    for (let i = 0; i < 3; i++) await one()
    await settle()
    const [size, bytes, count] = [wasmMemory().buffer.byteLength, memory().bytes.wasm, environments()]
    for (let i = 0; i < 20; i++) await one()
    assert.deepEqual([wasmMemory().buffer.byteLength, memory().bytes.wasm, environments()], [size, bytes, count])
  })

  it('that are terminated in the middle of calls which hold a copy of a source leave nothing, and hold nobody up', async () => {
    const count = new Int32Array(new SharedArrayBuffer(4))
    const round = async () => {
      const { worker, ended } = start(`${MATH} const x = s.ones([1 << 20]); for (;;) { math.add(x.flip(0), 1, { out: x }); Atomics.add(workerData, 0, 1) }`, count)
      const before = Atomics.load(count, 0)
      while (Atomics.load(count, 0) < before + 5) await new Promise(resolve => setImmediate(resolve))
      await worker.terminate()
      await ended
      assert.deepEqual(math.add(arange(3), 1).toArray(), [1, 2, 3])
    }
    for (let i = 0; i < 4; i++) await round()
    await settle()
    const [size, bytes, all] = [wasmMemory().buffer.byteLength, memory().bytes.wasm, environments()]
    for (let i = 0; i < 12; i++) await round()
    await settle()
    assert.deepEqual([memory().bytes.wasm, environments()], [bytes, all])
    assert.ok(wasmMemory().buffer.byteLength <= size + 2 ** 22, `${wasmMemory().buffer.byteLength} after ${size}`)
  })
})
