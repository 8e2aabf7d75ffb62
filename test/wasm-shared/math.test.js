'use strict'
// Arithmetic and algorithms in several threads over one memory: each has its own instances of the modules, and leaves nothing of them.
const assert = require('node:assert/strict')
const { arange, memory, share, wasmMemory } = require('samebytes')
const math = require('samebytes/math')
const { environments, settle, start } = require('./workers')

const MATH = "const math = require('samebytes/math');"

describe('arithmetic of several threads', function () {
  it('computes at the same time, each with its own data and stack', async () => {
    const n = 100000
    const threads = [1, 2, 3].map((k) =>
      start(`${MATH}
      port.on('message', token => {
        const x = s.fromShared(token)
        let right = 0
        for (let i = 0; i < 50; i++) {
          const y = math.add(math.multiply(x.flip(0), ${k}), ${k})
          const z = math.linalg.cross(x.slice('1:').reshape([-1, 3]).flip(0), s.tensor([0, 0, ${k}])) // of [first, second, third]: [k second, -k first, 0]
          if (y.get(0) === ${k} * ${n - 1} + ${k} && y.get(-1) === ${k} && z.get(0, 0) === ${k} * ${n - 2} && z.get(-1, 1) === -${k}) right++
          y.dispose()
          z.dispose()
        }
        port.postMessage(right)
        port.close()
      })`),
    )
    const x = arange(n)
    for (const { send } of threads) send(share(x))
    for (let i = 0; i < 50; i++) {
      const [y, z] = [math.add(x, x), math.linalg.cross(x.slice(':3'), x.slice('3:6'))]
      assert.equal(y.get(-1), 2 * (n - 1))
      assert.deepEqual(z.toArray(), [-3, 6, -3])
      y.dispose()
    }
    for (const { next, ended } of threads) {
      assert.equal(await next(), 50)
      await ended
    }
  })

  it('that end leave no bytes, no environment, and no growth', async () => {
    const one = async () =>
      assert.equal(
        await start(`${MATH} math.add(s.arange(4), 1); math.linalg.cross(s.arange(3), s.arange(3))`)
          .ended,
        0,
      )
    for (let i = 0; i < 3; i++) await one()
    await settle()
    const [size, bytes, count] = [
      wasmMemory().buffer.byteLength,
      memory().bytes.wasm,
      environments(),
    ]
    for (let i = 0; i < 20; i++) await one()
    assert.deepEqual(
      [wasmMemory().buffer.byteLength, memory().bytes.wasm, environments()],
      [size, bytes, count],
    )
  })

  const CALLS = {
    'functions of elements':
      'const x = s.ones([1 << 20]); const call = () => math.add(x.flip(0), 1, { out: x })',
    algorithms:
      'const x = s.ones([1 << 18, 3]); const call = () => math.linalg.cross(x.flip(0), x, { out: x })',
  }
  for (const [what, program] of Object.entries(CALLS)) {
    it(`that are terminated in the middle of calls of ${what} which hold a copy of a source leave nothing, and hold nobody up`, async () => {
      const count = new Int32Array(new SharedArrayBuffer(4))
      const round = async () => {
        const { worker, ended } = start(
          `${MATH} ${program}; for (;;) { call(); Atomics.add(workerData, 0, 1) }`,
          count,
        )
        const before = Atomics.load(count, 0)
        while (Atomics.load(count, 0) < before + 5) {
          await new Promise((resolve) => setImmediate(resolve))
        }
        await worker.terminate()
        await ended
        assert.deepEqual(math.add(arange(3), 1).toArray(), [1, 2, 3])
        assert.deepEqual(math.linalg.cross(arange(3), arange(3)).toArray(), [0, 0, 0])
      }
      for (let i = 0; i < 4; i++) await round()
      await settle()
      const [size, bytes, all] = [
        wasmMemory().buffer.byteLength,
        memory().bytes.wasm,
        environments(),
      ]
      for (let i = 0; i < 12; i++) await round()
      await settle()
      assert.deepEqual([memory().bytes.wasm, environments()], [bytes, all])
      assert.ok(
        wasmMemory().buffer.byteLength <= size + 2 ** 22,
        `${wasmMemory().buffer.byteLength} after ${size}`,
      )
    })
  }
})
