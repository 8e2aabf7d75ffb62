'use strict'
// What is left of a thread when it is gone: nothing.
const assert = require('node:assert/strict')
const { memory, wasmMemory } = require('samebytes')
const { environments, settle, start } = require('./workers')

const HOLD =
  'globalThis.kept = [s.full([1000000], 3), s.zeros([16])]; const view = kept[0].slice("5:");'
const ALIVE = 'setInterval(() => {}, 1000);'
/** a thread in which this thread's copy is loaded once more; holds tensors as well */
const BELOW = (source) => `const { Worker } = require('node:worker_threads')
  const below = new Worker(\`const s = require('samebytes'); ${HOLD} require('node:worker_threads').parentPort.postMessage('there'); ${source}\`, { eval: true });`

/** how → [the program, what this thread does when it says that it is there] */
const ENDS = {
  'ends by itself': [`${HOLD} port.postMessage('there')`],
  'calls process.exit': [`${HOLD} port.postMessage('there'); process.exit(3)`],
  'throws what nobody catches': [
    `${HOLD} port.once('message', () => { throw new Error('mine') }); port.postMessage('there')`,
    ({ send }) => send('go on'),
  ],
  'is terminated': [
    `${HOLD} ${ALIVE} port.postMessage('there')`,
    ({ worker }) => worker.terminate(),
  ],
  'is terminated in an endless loop of calls': [
    `${HOLD} port.postMessage('there'); for (;;) view.get(1)`,
    ({ worker }) => worker.terminate(),
  ],
  'ends after the thread that it started': [
    `${BELOW('')} below.once('exit', () => port.postMessage('there'))`,
  ],
  'is terminated before the thread that it started': [
    `${BELOW(ALIVE)} below.once('message', () => port.postMessage('there'))`,
    ({ worker }) => worker.terminate(),
  ],
  'has two copies of the package': [
    `${HOLD} const other = require('./test/setup').anotherCopy(); globalThis.more = other.zeros([50000]); port.postMessage('there')`,
  ],
  'still uses its tensors in exit listeners': [
    `${HOLD} process.on('exit', () => { kept[0].fill(4); if (s.zeros([9]).fill(2).get(8) === 2 && view.get(-1) === 4) Atomics.store(workerData, 0, 1) }); port.postMessage('there')`,
  ],
}

describe('a thread that', function () {
  for (const [how, [source, act]] of Object.entries(ENDS)) {
    it(`${how} leaves no bytes in memory(), and no environment`, async () => {
      await settle()
      const [before, count] = [memory().bytes.wasm, environments()]
      const flag = new Int32Array(new SharedArrayBuffer(4))
      const thread = start(source, flag)
      let during = null
      thread.worker.once('exit', () => {
        during = [memory().bytes.wasm - before, environments() - count]
      })
      assert.equal(await thread.next(), 'there')
      act?.(thread)
      await thread.ended
      assert.deepEqual(during, [0, 0])
      if (how.includes('exit listeners')) assert.equal(flag[0], 1)
    })
  }

  it('holds bytes that memory() of all threads counts, while it lives', async () => {
    await settle()
    const [before, count] = [memory().bytes.wasm, environments()]
    const { next, send, ended } = start(
      `${HOLD} port.on('message', () => port.close()); port.postMessage(s.memory().bytes.wasm)`,
    )
    assert.equal(await next(), before + 4000064)
    assert.deepEqual([memory().bytes.wasm, environments()], [before + 4000064, count + 1])
    send('end')
    await ended
    assert.deepEqual([memory().bytes.wasm, environments()], [before, count])
  })

  it('ends gives its stack to the next one: 24 threads in turn do not make memory grow', async () => {
    const one = async () => assert.equal(await start('s.zeros([4])').ended, 0)
    for (let i = 0; i < 2; i++) await one()
    const size = wasmMemory().buffer.byteLength
    for (let i = 0; i < 24; i++) await one()
    assert.equal(wasmMemory().buffer.byteLength, size)
  })
})
