'use strict'
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const { empty, fromBlob, full, memory, ones, tensor, wasmMemory, zeros } = require('samebytes')
const { ALL_SHARED, isWasm, refuses, skipWithout } = require('../setup')

/** what memory() counts such bytes as */
const kindOf = (shared) => (ALL_SHARED ? 'wasm' : shared === true && !isWasm ? 'native' : 'shared')
const makers = {
  empty: (opts) => empty([256, 256], opts),
  zeros: (opts) => zeros([256, 256], opts),
  ones: (opts) => ones([256, 256], opts),
  full: (opts) => full([256, 256], 3, opts),
  tensor: (opts) => tensor(new Float32Array(65536), [256, 256], opts),
}

describe('shared memory', () => {
  for (const shared of [true, 'sab']) {
    for (const [name, make] of Object.entries(makers)) {
      it(`of ${name} with shared: ${shared}, float32, is shared, and its bytes are counted and given back exactly`, () => {
        globalThis.gc?.()
        const before = memory()
        const t = make({ shared })
        const during = memory()
        assert.equal(t.isShared, true)
        assert.equal(during.bytes[kindOf(shared)] - before.bytes[kindOf(shared)], 262144)
        assert.equal(during.tensors - before.tensors, 1)
        assert.equal(during.storages - before.storages, 1)
        const view = t.slice('::2')
        assert.equal(view.isShared, true)
        t.dispose()
        assert.equal(memory().bytes[kindOf(shared)] - before.bytes[kindOf(shared)], 262144)
        view.dispose()
        assert.equal(memory().bytes[kindOf(shared)], before.bytes[kindOf(shared)])
      })
    }

    it(`with shared: ${shared} holds values of every kind, both ways`, () => {
      assert.deepEqual(zeros([3], { shared }).toArray(), [0, 0, 0])
      assert.deepEqual(ones([2], { shared, dtype: 'bool' }).toArray(), [true, true])
      assert.deepEqual(full([2], [1, -2], { shared }).toArray(), [
        [1, -2],
        [1, -2],
      ])
      const t = tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        { shared, dtype: 'int16', order: 'F' },
      )
      assert.deepEqual(t.toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
      const { data } = t.T
      assert.deepEqual([...data], [1, 4, 2, 5, 3, 6])
      data[1] = 40
      assert.equal(t.get(1, 0), 40)
      t.set(50, 1, 1)
      assert.equal(data[3], 50)
      assert.equal(empty([0, 3], { shared }).data.length, 0)
      assert.equal(zeros([], { shared }).fill(4).item(), 4)
    })
  }

  it('is a SharedArrayBuffer for sab, a plain one for true on native', () => {
    const isShared = (t) => t.data.buffer instanceof SharedArrayBuffer
    assert.equal(isShared(empty([4], { shared: 'sab' })), true)
    assert.equal(isShared(empty([4], { shared: true })), isWasm)
    for (const t of [empty([4]), empty([4], { shared: false })]) {
      assert.deepEqual([t.isShared, isShared(t)], [ALL_SHARED, ALL_SHARED])
    }
    assert.equal(fromBlob(new Float32Array(4)).isShared, false)
    assert.equal(fromBlob(new Float32Array(new SharedArrayBuffer(16))).isShared, true)
  })

  it('lies in wasmMemory() in WASM over memory that threads share, as all tensors do', function () {
    skipWithout(this, 'one memory for all threads')
    for (const opts of [{}, { shared: true }, { shared: 'sab' }]) {
      const t = full([4], 7, opts)
      assert.equal(t.isShared, true)
      assert.equal(t.data.buffer instanceof SharedArrayBuffer, true)
      assert.deepEqual(
        [...new Float32Array(wasmMemory().buffer, Number(t.dataPtr), 4)],
        [7, 7, 7, 7],
      )
      assert.equal(fromBlob(t.data).isShared, true)
    }
  })

  it('refuses other words', () => {
    for (const shared of ['SAB', 'true', '', 'auto', 0, 1, null, {}, [], Symbol('s')]) {
      refuses(() => empty([4], { shared }), 'ERR_ARGUMENT')
      refuses(() => tensor([4], { shared }), 'ERR_ARGUMENT')
    }
  })

  it('refuses what cannot be had', function () {
    skipWithout(this, 'SharedArrayBuffer') // the limit on memory may refuse before one is made
    for (const shared of [true, 'sab']) refuses(() => empty([2 ** 50], { shared }), 'ERR_MEMORY')
  })

  it('takes Atomics on data of int32', async () => {
    const t = zeros([4], { dtype: 'int32', shared: 'sab' })
    const { data } = t
    assert.equal(Atomics.add(data, 1, 5), 0)
    assert.equal(t.get(1), 5)
    t.set(7, 2)
    assert.equal(Atomics.exchange(data, 2, 9), 7)
    assert.equal(Atomics.notify(data, 2), 0)
    const waiting = Atomics.waitAsync(t.slice('1:').data, 1, 9) // the same element, through a view
    assert.equal(waiting.async, true)
    assert.equal(Atomics.notify(data, 2), 1)
    assert.equal(await waiting.value, 'ok')
  })

  it('takes Atomics.wait on data of int32', function () {
    skipWithout(this, 'a thread that may wait')
    const { data } = zeros([4], { dtype: 'int32', shared: 'sab' }).fill(9)
    assert.equal(Atomics.wait(data, 2, 7), 'not-equal')
    assert.equal(Atomics.wait(data, 2, 9, 1), 'timed-out')
  })

  it('is seen by another thread, both ways: int32 and Atomics.wait', async () => {
    const t = zeros([2], { dtype: 'int32', shared: 'sab' })
    const worker = new Worker(
      `
      const { workerData: data } = require('node:worker_threads')
      Atomics.wait(data, 0, 0)
      Atomics.store(data, 1, data[0] * 2)
    `,
      { eval: true, workerData: t.data },
    )
    const ended = new Promise((resolve, reject) =>
      worker.once('exit', resolve).once('error', reject),
    )
    t.set(21, 0)
    Atomics.notify(t.data, 0)
    assert.equal(await ended, 0)
    assert.deepEqual(t.toArray(), [21, 42])
  })
})
