'use strict'
// Several threads over one memory.
const assert = require('node:assert/strict')
const { fromBlob, wasmMemory, zeros } = require('samebytes')
const { PROGRAM, program } = require('../program')
const { childJson } = require('../setup')
const { start } = require('./workers')

const ROUNDS = 3000

/** What a thread tells another to begin at the same time: an int32 that both wait on. */
const MEET =
  'const meet = () => { const at = new Int32Array(s.wasmMemory().buffer, workerData.at, 1); Atomics.add(at, 0, 1); while (Atomics.load(at, 0) < workerData.count) continue };'

describe('threads over one memory', function () {
  it(`make, fill, check and dispose int32 tensors at the same time, ${ROUNDS} rounds, while memory grows`, async () => {
    const result = await childJson(`require('./test/wasm-shared/churn').main(${ROUNDS})`)
    assert.deepEqual(result, {
      said: ['done', 'done', 'done'],
      left: 0,
      hasGrown: true,
      hasNoticed: true,
    })
  })

  it('have one checksum of the long random program, all at once', async () => {
    const threads = [1, 2].map(() =>
      start("port.postMessage(require('./test/program').program(4000))"),
    )
    assert.equal(program(4000), PROGRAM)
    for (const { next, ended } of threads) {
      assert.equal(await next(), PROGRAM)
      assert.equal(await ended, 0)
    }
  })

  it("see each other's writes at a worker's address, both ways: int32", async () => {
    const { next, send, ended } = start(`
      const t = s.tensor([[1, 2, 3], [4, 5, 6]], 'int32')
      port.on('message', what => {
        if (what === 'end') return port.close()
        const before = t.toArray()
        t.T.copyFrom(t.clone().T, { scale: 10, casting: 'unsafe' })
        port.postMessage(before)
      })
      port.postMessage(t.dataPtr)`)
    const address = Number(await next())
    const array = new Int32Array(wasmMemory().buffer, address, 6)
    assert.deepEqual([...array], [1, 2, 3, 4, 5, 6])
    const t = fromBlob(array, [2, 3])
    assert.equal(t.dataPtr, BigInt(address))
    assert.equal(t.isShared, true)
    t.slice('1:').fill(7)
    array[0] = 9
    send('go')
    assert.deepEqual(await next(), [
      [9, 2, 3],
      [7, 7, 7],
    ])
    assert.deepEqual(t.toArray(), [
      [90, 20, 30],
      [70, 70, 70],
    ])
    assert.deepEqual([...array], [90, 20, 30, 70, 70, 70])
    send('end')
    assert.equal(await ended, 0)
  })

  it("see this thread's tensors as well, and wait for one another: int32 and Atomics", async () => {
    const t = zeros([3], 'int32')
    const { next, ended } = start(
      `
      const t = s.fromBlob(new Int32Array(s.wasmMemory().buffer, workerData, 3))
      port.postMessage('ready')
      Atomics.wait(t.data, 0, 0)
      t.set(t.get(0) * 2, 1)
      Atomics.store(t.data, 2, 1)
      Atomics.notify(t.data, 2)
    `,
      Number(t.dataPtr),
    )
    assert.equal(await next(), 'ready')
    t.set(21, 0)
    Atomics.notify(t.data, 0)
    const waiting = Atomics.waitAsync(t.data, 2, 0)
    if (waiting.async) await waiting.value
    assert.deepEqual(t.toArray(), [21, 42, 1])
    assert.equal(await ended, 0)
  })

  it('have messages of their own: those of errors at the same time do not mix', async () => {
    const provoke = (s, extent, meet) => {
      const t = s.zeros([extent, 2])
      const textOf = (i) => {
        try {
          t.view([extent * 1000 + i])
        } catch (error) {
          return error.message
        }
      }
      const texts = [0, 1, 2, 3, 4].map(textOf)
      meet()
      for (let i = 0; i < 20000; i++) {
        const text = textOf(i % 5)
        if (text !== texts[i % 5]) return `${text} instead of ${texts[i % 5]}`
      }
      return texts[4]
    }
    const meeting = zeros([1], 'int32')
    const source = `const provoke = ${provoke}\n${MEET}\nport.postMessage(provoke(s, workerData.extent, meet))`
    const threads = [333, 777].map((extent) =>
      start(source, { extent, at: Number(meeting.dataPtr), count: 2 }),
    )
    for (const [i, extent] of [333, 777].entries()) {
      assert.match(
        await threads[i].next(),
        new RegExp(`^[^\\d]*${extent}004\\D.*\\D${extent}, 2\\D*$`),
      )
      assert.equal(await threads[i].ended, 0)
    }
  })
})
