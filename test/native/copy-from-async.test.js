'use strict'
const assert = require('node:assert/strict')
const { empty, flush, fromBlob, full, memory, tensor, zeros } = require('samebytes')
const { frame, backend, opcodes, tables } = require('../../js/backend/calls')
const { child, childJson, collectUntil, fails, generator, nativeOnly, skip } = require('../setup')
const { occupyPool } = require('../pool')

/** The n-th allocation in C from now on fails; 0: none. */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
  assert.equal(frame.f64[tables.frame.STATUS], 0)
}

async function rejects(promise, code) {
  await assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.stack)
    return true
  })
}

/** This thread does nothing for some milliseconds, its event loop neither. */
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

function shared(shape, dtype) {
  const t = empty(shape, { dtype, shared: true })
  t.copyFrom(
    new Uint8Array(t.size).map((_, i) => i % 251),
    { casting: 'unsafe' },
  )
  return t
}

const KINDS = {
  'shared: true': shared,
  "shared: 'sab'": (shape, dtype) =>
    empty(shape, { dtype, shared: 'sab' }).copyFrom(shared(shape, dtype)),
  'a SharedArrayBuffer given to fromBlob': (shape, dtype) => {
    const source = shared(shape, dtype)
    const buffer = new SharedArrayBuffer(source.nbytes + 64)
    new Uint8Array(buffer, 64).set(source.bytes)
    return fromBlob(buffer, shape, { dtype, offset: 64 / source.itemsize })
  },
  'an address': (shape, dtype) => {
    const owner = shared(shape, dtype)
    return fromBlob(owner.dataPtr, shape, { dtype, owner })
  },
}

describe('copyFromAsync off the event loop', function () {
  nativeOnly()
  afterEach(() => {
    if (opcodes.fail_allocation !== undefined) failAllocation(0)
  })

  for (const [to, make] of Object.entries(KINDS)) {
    for (const [from, makeSource] of Object.entries(KINDS)) {
      it(`copies float32 from ${from} to ${to} while JavaScript is blocked`, async () => {
        const src = makeSource([64, 64], 'float32')
        const dst = make([64, 64], 'float32').zero()
        const promise = dst.copyFromAsync(src.T)
        for (let i = 0; i < 500 && dst.get(63, 63) !== src.get(63, 63); i++) sleep(10)
        assert.deepEqual([dst.get(0, 1), dst.get(63, 62)], [src.get(1, 0), src.get(62, 63)])
        assert.equal(memory().inFlight, 1)
        await promise
        assert.deepEqual(dst.toArray(), src.T.toArray())
      })
    }
  }

  it('takes numbers, lists and factors there, too', async () => {
    const t = zeros([3, 4000], { shared: true })
    for (const [value, options, expected] of [
      [5, {}, [5, 5, 5]],
      [[[1], [2], [3]], {}, [1, 2, 3]],
      [2, { scale: [1, 2, 3], bias: 1, axis: 0 }, [3, 5, 7]],
    ]) {
      t.zero()
      const promise = t.copyFromAsync(value, options)
      for (let i = 0; i < 500 && t.get(2, 3999) !== expected[2]; i++) sleep(10)
      assert.deepEqual(t.slice(':', 3999).toArray(), expected)
      await promise
    }
  })

  for (const dtypes of [
    ['uint8', 'uint8'],
    ['float32', 'float32'],
    ['float64', 'uint8'],
    ['int16', 'float64'],
    ['complex128', 'complex64'],
    ['float16', 'int64'],
  ]) {
    it(`gives the bits of copyFrom for ${dtypes[1]} to ${dtypes[0]}, in pieces of 4 KiB, whatever the strides`, async () => {
      const { next, pick, shuffle } = generator(44)
      for (let round = 0; round < 150; round++) {
        const shape = Array.from({ length: next(5) }, () => 1 + next(pick([3, 8, 30])))
        const [now, later] = [shared([30000], dtypes[0]), shared([30000], dtypes[0])]
        const from = shared([30000], dtypes[1])
        const size = shape.reduce((a, b) => a * b, 1)
        if (size > 15000) continue
        const axes = shuffle(shape.map((_, d) => d))
        const layout = (t) => {
          let view = t
            .view(
              axes.map((d) => shape[d]),
              { offset: 7 },
            )
            .permute(axes.map((_, d) => axes.indexOf(d)))
          if (shape.length > 0 && round % 3 === 0) view = view.slice('::-1')
          return view
        }
        const source =
          round % 4 === 0 && shape.length > 0
            ? from.view(shape.slice(1), { offset: 3 })
            : from.view(shape, { offset: 3 })
        const options = { casting: 'unsafe' }
        if (round % 5 === 1 && shape.length > 0 && !dtypes[0].includes('complex')) {
          const axis = next(shape.length) - (round % 2) * shape.length
          Object.assign(options, {
            axis,
            scale: Array.from({ length: shape.at(axis) }, () => next(9) / 2),
            bias: 1,
          })
        }
        layout(now).copyFrom(source, options)
        await layout(later).copyFromAsync(source, options)
        assert.ok(
          Buffer.from(later.bytes).equals(Buffer.from(now.bytes)),
          JSON.stringify([shape, axes, options]),
        )
      }
    })
  }

  it('scales shared float32 by one factor per index of the axis that is cut', async () => {
    for (const axis of [0, 1, -1]) {
      const [now, later, src] = Array.from({ length: 3 }, () => shared([150, 150], 'float32'))
      const options = {
        axis,
        scale: Array.from({ length: 150 }, (_, i) => i),
        bias: new Float64Array(150).map((_, i) => -i),
      }
      for (const turned of [(t) => t, (t) => t.T]) {
        turned(now).copyFrom(src, options)
        await turned(later).copyFromAsync(src, options)
        assert.deepEqual(later.toArray(), now.toArray())
      }
    }
  })

  it('gives the right answer for overlapping int32, staged', async () => {
    const { staged } = memory()
    const [t, same] = [shared([300, 300], 'int32'), shared([300, 300], 'int32')]
    await t.copyFromAsync(t.T)
    assert.equal(memory().staged.bytes - staged.bytes, 360000)
    same.copyFrom(same.T)
    assert.deepEqual(t.toArray(), same.toArray())
    const [a, b] = [shared([90000], 'int32'), shared([90000], 'int32')]
    await fromBlob(a.dataPtr, [89999], { dtype: 'int32', owner: a }).copyFromAsync(a.slice('1:'))
    b.slice(':-1').copyFrom(b.slice('1:'))
    assert.deepEqual(a.toArray(), b.toArray())
  })

  it('aborts between pieces of float32: what comes later is not written', async () => {
    const src = full([64, 1024, 1024], 1, { shared: true })
    const dst = zeros([64, 1024, 1024], { shared: true })
    const controller = new AbortController()
    const promise = dst.copyFromAsync(src, { signal: controller.signal })
    promise.catch(() => {})
    while (dst.get(0, 0, 0) === 0) sleep(1)
    controller.abort('enough')
    const before = dst.get(63, 1023, 1023)
    await assert.rejects(promise, (reason) => reason === 'enough')
    assert.deepEqual([before, dst.get(63, 1023, 1023)], [0, 0])
    dst.fill(3)
    src.fill(3)
  })

  it('aborts float32 that waits for a thread: nothing is written, and nobody has to wait', async () => {
    const release = occupyPool()
    const t = zeros([4], { shared: true })
    const controller = new AbortController()
    const promise = t.copyFromAsync(1, { signal: controller.signal })
    fails(() => t.fill(2), Error, 'ERR_BUSY')
    controller.abort('enough')
    await assert.rejects(promise, (reason) => reason === 'enough')
    assert.deepEqual(t.toArray(), [0, 0, 0, 0])
    t.fill(2)
    await release()
    await flush()
    assert.deepEqual(t.toArray(), [2, 2, 2, 2])
  })

  it('keeps what an address points to: its deleter runs once, after the copy, though the float32 tensor was disposed', async () => {
    const release = occupyPool()
    const kept = full([1000], 4, { shared: true })
    const calls = []
    const blob = fromBlob(kept.dataPtr, [1000], {
      dtype: 'float32',
      deleter: (address) => calls.push(address),
    })
    const dst = zeros([1000], { shared: true })
    const promise = dst.copyFromAsync(blob)
    blob.dispose()
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(calls, [])
    await release()
    await promise
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
    assert.equal(dst.get(999), 4)
  })

  it('keeps SharedArrayBuffers that nobody else has', async () => {
    const release = occupyPool()
    const dst = zeros([100000], { shared: true })
    const promises = Array.from({ length: 20 }, (_, i) => {
      const buffer = new SharedArrayBuffer(400000)
      const array = new Float32Array(buffer).fill(i)
      return i < 19
        ? fromBlob(new SharedArrayBuffer(400000), [100000], 'float32').copyFromAsync(array)
        : dst.copyFromAsync(array)
    })
    for (let i = 0; i < 5; i++) globalThis.gc()
    const noise = Array.from({ length: 20 }, () => new Float32Array(100000).fill(77))
    await release()
    await Promise.all(promises)
    assert.deepEqual([dst.get(0), dst.get(99999), noise[3][0]], [19, 19, 77])
  })

  it('is ERR_MEMORY where the n-th allocation fails: nothing is written, nothing stays, and it works afterwards', async function () {
    if (opcodes.fail_allocation === undefined) return skip(this, 'needs the test addon (SB_TEST)')
    const CASES = {
      'of float32 tensors': [
        () => [shared([2000], 'float32'), shared([2000], 'float32')],
        ([a, b]) => a.copyFromAsync(b.slice('::-1')),
        1,
      ],
      'of a number': [() => [shared([2000], 'float32')], ([a]) => a.copyFromAsync(3), 3],
      'with factors': [
        () => [shared([2, 3], 'float32'), shared([2, 3], 'float32')],
        ([a, b]) => a.copyFromAsync(b, { scale: [1, 2], axis: 0 }),
        5,
      ],
      'of overlapping float32': [
        () => [shared([100, 100], 'float32')],
        ([a]) => a.copyFromAsync(a.T),
        3,
      ],
    }
    for (const [name, [make, act, least]] of Object.entries(CASES)) {
      const { native } = memory().bytes
      const tensors = make()
      const before = tensors[0].toArray()
      let failures = 0
      for (let done = false; !done; failures++) {
        const alive = memory()
        failAllocation(failures + 1)
        const promise = act(tensors)
        promise.catch(() => {}) // what throws at once rejects before we look
        failAllocation(0)
        try {
          await promise
          done = true
        } catch (error) {
          assert.equal(error.code, 'ERR_MEMORY', error.stack)
          assert.ok(error instanceof RangeError)
          assert.deepEqual(tensors[0].toArray(), before, name)
          tensors[0].copyFrom(tensors[0]) // nobody is busy
        }
        const now = memory()
        assert.deepEqual(
          [now.storages <= alive.storages, now.bytes.native <= alive.bytes.native, now.inFlight],
          [true, true, 0],
          name,
        )
      }
      for (const t of tensors) t.dispose()
      assert.ok(await collectUntil(() => memory().bytes.native <= native), name)
      assert.ok(
        failures - 1 >= least,
        `${name}: ${failures - 1} requests failed; ${least} were expected`,
      )
    }
  })

  describe('where an environment ends in the middle', () => {
    const WORK = `
      const { empty, full, fromBlob, zeros } = require('samebytes')
      const big = n => [full([n, 1024, 1024], 1, { shared: true }), zeros([n, 1024, 1024], { shared: true })]
      const [a, b] = big(8)
      const sab = fromBlob(new SharedArrayBuffer(1 << 25), [8, 1024, 1024], 'float32')
      const own = [zeros([1024, 1024]), zeros([1024, 1024])]
      const controller = new AbortController()
      function begin () {
        b.copyFromAsync(a.permute(2, 1, 0).slice('::-1').permute(2, 1, 0).slice(':', ':', '::-1'), { signal: controller.signal })
        sab.copyFromAsync(new Float32Array(new SharedArrayBuffer(1 << 25)))
        fromBlob(new SharedArrayBuffer(1 << 23), [1024, 1024], 'float64').copyFromAsync(5)
        own[0].copyFromAsync(own[1])
        empty([2000, 2000], { shared: true }).copyFromAsync(7)
      }
    `

    it("workers that are terminated, 20 times, leave the process well and the main thread's copies alone", async () => {
      const result = await childJson(`
        const { Worker } = require('node:worker_threads')
        const { full, memory, zeros } = require('samebytes')
        async function main () {
          const mine = zeros([2048, 1024], { shared: true })
          for (let i = 0; i < 20; i++) {
            const worker = new Worker(${JSON.stringify(WORK + "begin(); require('node:worker_threads').parentPort.postMessage('begun'); for (;;) {}")}, { eval: true })
            await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
            const copy = mine.copyFromAsync(full([1024], i))
            await new Promise(resolve => setTimeout(resolve, i))
            await worker.terminate()
            await copy
          }
          console.log(JSON.stringify([mine.get(2047, 1023), memory().inFlight]))
        }
        main()
      `)
      assert.deepEqual(result, [19, 0])
    })

    it('workers that end by process.exit or an error', async () => {
      const result = await childJson(`
        const { Worker } = require('node:worker_threads')
        const end = source => new Promise(resolve => {
          let error
          const worker = new Worker(${JSON.stringify(WORK)} + source, { eval: true })
          worker.on('error', reason => { error = reason.message }).on('exit', code => resolve([code, error]))
        })
        end('begin(); process.exit(3)').then(async first => {
          console.log(JSON.stringify([first, await end("begin(); setTimeout(() => { throw new Error('mine') }, 2)")]))
        })
      `)
      assert.deepEqual(result, [
        [3, null],
        [1, 'mine'],
      ])
    })

    for (const [how, source, expected] of [
      ['process.exit at once', 'begin(); process.exit(4)', 4],
      ['process.exit a little later', 'begin(); setTimeout(() => process.exit(4), 3)', 4],
      ['an uncaught error', "begin(); setTimeout(() => { throw new Error('mine') }, 3)", 1],
      [
        'process.exit after an abort',
        'begin(); controller.abort(); process.on("unhandledRejection", () => {}); process.exit(4)',
        4,
      ],
    ]) {
      it(`${how}`, async () => {
        for (let i = 0; i < 5; i++) {
          const { code, signal, stderr } = await child(WORK + source)
          assert.deepEqual({ code, signal }, { code: expected, signal: null }, stderr)
        }
      })
    }

    it('a process with nothing else to do ends when its copies are done', async () => {
      const result = await childJson(
        WORK +
          `
        begin()
        process.on('exit', () => console.log(JSON.stringify([b.get(7, 1023, 1023), own[0].get(0, 0)])))
      `,
      )
      assert.deepEqual(result, [1, 0])
    })
  })
})

describe('a pending copy of the addon', () => {
  nativeOnly()

  it("is stopped by its number only: others are nobody's", async () => {
    const release = occupyPool()
    const t = tensor([1, 2], { shared: true })
    const promise = t.copyFromAsync(3)
    for (const id of [0, -1, 1e9, NaN, 'x', undefined]) backend.stopCopy(id)
    await release()
    await promise
    assert.deepEqual(t.toArray(), [3, 3])
  })

  it('refuses operands that are none, and calls nobody', async () => {
    const { SIZE_OF_OPERAND, OPERANDS, STATUS, HANDLE } = tables.frame
    let calls = 0
    for (const handle of [5, -1, NaN, 2 ** 60]) {
      frame.f64.fill(0, OPERANDS, OPERANDS + 4 * SIZE_OF_OPERAND)
      frame.f64[OPERANDS + HANDLE] = handle
      backend.startCopy(true, () => calls++)
      assert.notEqual(frame.f64[STATUS], 0)
    }
    const t = tensor([1, 2], { shared: true })
    await rejects(t.copyFromAsync(t.slice(':1').view([1, 1, 1])), 'ERR_SHAPE')
    await flush()
    assert.equal(calls, 0)
  })
})
