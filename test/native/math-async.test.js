'use strict'
// Asynchronous arithmetic on other threads.
const assert = require('node:assert/strict')
const { empty, flush, full, fromBlob, memory, tensor, zeros } = require('samebytes')
const math = require('samebytes/math')
const { frame, backend, opcodes, tables } = require('../../js/backend/calls')
const { child, nativeOnly, skip, turn } = require('../setup')
const { occupyPool } = require('../pool')

/** The n-th allocation in C from now on fails; 0: none. */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
  assert.equal(frame.f64[tables.frame.STATUS], 0)
}

/** This thread does nothing for some milliseconds, its event loop neither. */
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const HOMES = {
  'shared: true': (shape, value) => full(shape, value, { shared: true }),
  "shared: 'sab'": (shape, value) => empty(shape, { shared: 'sab' }).fill(value),
  'an address': (shape, value) => {
    const owner = full(shape, value, { shared: true })
    return fromBlob(owner.dataPtr, shape, { dtype: 'float32', owner })
  },
}

describe('asynchronous arithmetic on other threads', function () {
  nativeOnly()
  afterEach(() => {
    if (opcodes.fail_allocation !== undefined) failAllocation(0)
  })

  for (const [home, make] of Object.entries(HOMES)) {
    it(`computes while JavaScript is blocked, of ${home}`, async () => {
      const [x, out, sums] = [make([64, 64], 4), make([64, 64], 0), make([64], 0)]
      const { inFlight } = memory() // tokens that other tests' workers never took
      const promises = [math.addAsync(x.T, 1, { out }), math.sumAsync(x, { axis: 0, out: sums })]
      for (let i = 0; i < 1000 && (out.get(63, 63) !== 5 || sums.get(63) !== 256); i++) sleep(10)
      assert.deepEqual([out.get(63, 63), sums.get(63), memory().inFlight - inFlight], [5, 256, 2])
      await Promise.all(promises)
    })
  }

  it('makes results there, which the next function goes on with', async () => {
    const x = full([8], 4, { shared: true })
    const y = await math.sqrtAsync(x)
    assert.ok(y.isShared)
    assert.ok((await math.whereAsync(await math.lessAsync(x, 3), y, 0)).isShared)
    assert.ok(!(await math.sqrtAsync(full([8], 4))).isShared)
  })

  it('begins with the next piece in a turn of the loop: an abort in between leaves it', async () => {
    const out = zeros([3, 4, 1024, 1024], { dtype: 'float64', shared: true })
    const controller = new AbortController()
    const promise = math.positiveAsync(
      full([1], 1, { dtype: 'float64', shared: true }).broadcastTo([3, 4, 1024, 1024]),
      { out, signal: controller.signal },
    )
    promise.catch(() => {})
    await turn()
    for (let i = 0; i < 10000 && out.get(0, 0, 0, 0) === 0; i++) sleep(1)
    controller.abort('enough')
    await assert.rejects(promise, (reason) => reason === 'enough')
    assert.equal(out.get(2, 3, 1023, 1023), 0)
    await math.positiveAsync(out, { out })
  })

  it('aborts what waits for a thread: nothing is written, and nobody has to wait', async () => {
    const release = occupyPool()
    const [x, out] = [full([4], 1, { shared: true }), zeros([4], { shared: true })]
    const controller = new AbortController()
    const promise = math.expAsync(x, { out, signal: controller.signal })
    controller.abort('enough')
    await assert.rejects(promise, (reason) => reason === 'enough')
    out.fill(2)
    await release()
    await flush()
    assert.deepEqual(out.toArray(), [2, 2, 2, 2])
  })

  it('keeps what an address points to: its deleter runs once, afterwards', async () => {
    const release = occupyPool()
    const kept = full([1000], 4, { shared: true })
    const calls = []
    const x = fromBlob(kept.dataPtr, [1000], {
      dtype: 'float32',
      deleter: (address) => calls.push(address),
    })
    const promise = math.sqrtAsync(x)
    x.dispose()
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(calls, [])
    await release()
    assert.equal((await promise).get(999), 2)
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
  })

  it('counts what C stages there', async () => {
    const x = tensor([1, 2, 3, 4], { shared: true })
    const { staged } = memory()
    await math.addAsync(x.slice(':3'), 10, { out: x.slice('1:') })
    assert.equal(memory().staged.bytes, staged.bytes + 12)
    assert.deepEqual(x.toArray(), [1, 11, 12, 13])
  })

  it('is ERR_MEMORY where the n-th allocation fails: nothing is written, and it works afterwards', async function () {
    if (opcodes.fail_allocation === undefined) return skip(this, 'needs the test addon (SB_TEST)')
    const CASES = {
      add: ([x, out]) => math.addAsync(x, 1, { out }),
      'an overlap': ([x]) => math.addAsync(x.slice(':10'), 1, { out: x.slice('1:11') }),
      sum: ([x]) => math.sumAsync(x, { axis: 0 }),
      where: ([x, out]) => math.whereAsync(x, 1, x, { out }),
    }
    for (const [name, act] of Object.entries(CASES)) {
      const tensors = [full([2000], 1, { shared: true }), zeros([2000], { shared: true })]
      const { inFlight } = memory()
      let failures = 0
      for (let done = false; !done; failures++) {
        failAllocation(failures + 1)
        try {
          await act(tensors)
          done = true
        } catch (error) {
          assert.equal(error.code, 'ERR_MEMORY', error.stack)
          assert.deepEqual(
            [tensors[0].get(5), tensors[1].get(5), memory().inFlight - inFlight],
            [1, 0, 0],
            name,
          )
          for (const t of tensors) t.copyFrom(t) // nobody is busy
        } finally {
          failAllocation(0)
        }
      }
      assert.ok(failures > 2, `${name}: ${failures}`)
    }
  })

  it('refuses operands that are none, and functions that are none, and calls nobody', async () => {
    const { SIZE_OF_OPERAND, OPERANDS, STATUS, HANDLE } = tables.frame
    let calls = 0
    const first = tables.rows.length - 1
    for (const [opcode, handle] of [
      [first + 1, 5],
      [first + 1, -1],
      [first + 2, NaN],
      [first + 999, 0],
      [0, 0],
      [-1, 0],
      ['x', 0],
    ]) {
      frame.f64.fill(0, OPERANDS, OPERANDS + 4 * SIZE_OF_OPERAND)
      frame.f64[OPERANDS + HANDLE] = handle
      backend.addon.compute(opcode, () => calls++)
      assert.notEqual(frame.f64[STATUS], 0)
    }
    await flush()
    assert.equal(calls, 0)
  })

  for (const end of [
    'process.exit(4)',
    'setTimeout(() => process.exit(4), 3)',
    'controller.abort(); process.on("unhandledRejection", () => {}); process.exit(4)',
  ]) {
    it(`a process that ends in the middle ends well: ${end}`, async () => {
      const { code, signal, stderr } = await child(`
        const { zeros } = require('samebytes')
        const { expAsync, sumAsync } = require('samebytes/math')
        const controller = new AbortController()
        const x = zeros([16, 1024, 1024], { shared: true })
        const { signal } = controller
        for (let i = 0; i < 3; i++) expAsync(x, { signal })
        sumAsync(x, { signal })
        ${end}
      `)
      assert.deepEqual({ code, signal }, { code: 4, signal: null }, stderr)
    })
  }
})
