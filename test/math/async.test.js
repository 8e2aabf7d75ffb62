'use strict'
// Arithmetic without blocking the event loop: the bits of the synchronous functions, and what happens to operands meanwhile.
const assert = require('node:assert/strict')
const {
  Tensor,
  arrayEqual,
  empty,
  fromBlob,
  full,
  memory,
  rand,
  tensor,
  tidy,
  zeros,
} = require('samebytes')
const {
  childJson,
  fails,
  generator,
  isWasm,
  settledMemory,
  skip,
  skipWithout,
  turn,
} = require('../setup')
const { AT_ONCE } = require('../../scripts/generate/math-functions')
const { ofMath } = require('../signatures')
const { acceptsRight, refusesAll } = require('../refusals')
const { math, needsMath, rows } = require('./load')

const ROWS = 300
const COLUMNS = 1500 // of float32 that is more than three pieces

async function rejection(promise) {
  assert.ok(promise instanceof Promise)
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('it resolved')
}

async function rejects(promise, code, pattern = /\S{3}/) {
  const error = await rejection(promise)
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, pattern)
}

function alive() {
  const { tensors, storages, inFlight } = settledMemory()
  return { tensors, storages, inFlight }
}

/** The tensors that were disposed of meanwhile. */
async function disposedBy(fn) {
  const { dispose } = Tensor.prototype
  const seen = []
  Tensor.prototype.dispose = function () {
    seen.push(this)
    return dispose.call(this)
  }
  try {
    await fn()
  } finally {
    Tensor.prototype.dispose = dispose
  }
  return seen
}

const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })
const isSame = (a, b) =>
  Buffer.from(a.contiguous().bytes).equals(Buffer.from(b.contiguous().bytes)) &&
  a.dtype === b.dtype &&
  `${a.shape}` === `${b.shape}`

/** Where bytes may be. */
const HOMES = {
  owned: (t) => t.clone(),
  shared: (t) => empty(t.shape, { dtype: t.dtype, shared: true }).copyFrom(t),
  "SharedArrayBuffer's": (t) => empty(t.shape, { dtype: t.dtype, shared: 'sab' }).copyFrom(t),
  "caller's": (t) => fromBlob(t.bytes.slice().buffer, t.shape, { dtype: t.dtype }),
}

const LAYOUTS = {
  'row-major': (t) => t,
  transposed: (t) => t.view([COLUMNS, ROWS]).T,
  'backwards, every second': (t) => t.slice('::-1', '::2'),
  'a row, broadcast': (t) => t.select(0, 3).broadcastTo([ROWS, COLUMNS]),
  'a column, broadcast': (t) => t.narrow(1, 5, 1).broadcastTo([ROWS, COLUMNS]),
  'of three axes': (t) => t.view([3, 100, COLUMNS]).permute(1, 2, 0),
}

const numbers = (seed) =>
  tensor(
    new Float32Array(ROWS * COLUMNS).map((_, i) => ((i * 7919 + seed) % 1009) / 64 - 7),
    [ROWS, COLUMNS],
  )

describe('asynchronous arithmetic', function () {
  needsMath()

  it('begin cumulative results after they have read what these overwrite', async () => {
    for (const shared of [false, true]) {
      const all = full([6], 1, { shared: shared && !isWasm })
      const at = all.narrow(0, 0, 5)
      assert.deepEqual(
        (await math.cumulativeSumAsync(at, { includeInitial: true, out: all })).toArray(),
        [0, 1, 2, 3, 4, 5],
      )
      const controller = new AbortController()
      const out = full([6], 9)
      const running = math.cumulativeProdAsync(at, {
        includeInitial: true,
        out,
        signal: controller.signal,
      })
      controller.abort()
      assert.equal((await rejection(running)).name, 'AbortError')
      assert.deepEqual(out.toArray(), [9, 9, 9, 9, 9, 9])
    }
  })

  it('let getters of lists call synchronous functions', async () => {
    const seen = []
    const list = (...values) =>
      Object.defineProperty(values, 0, {
        get() {
          seen.push(math.add(tensor([1, 2]), 1).toArray())
          return values[1] ?? 0
        },
      })
    await math.sumAsync(tensor([1, 2]), { axis: list(0) })
    await math.multiplyAsync(tensor([[1, 1]], 'complex64'), list(0, 1))
    await math.whereAsync(tensor([true]), list(0, 1), tensor([[1, 1]], 'complex64'))
    assert.ok(seen.length >= 3)
    for (const values of seen) assert.deepEqual(values, [2, 3])
  })

  it('has a form of every function but those that have to know elements first', () => {
    const names = Object.keys(math).filter((name) => typeof math[name] === 'function')
    assert.deepEqual(
      names
        .filter(
          (name) =>
            name !== 'init' &&
            !name.endsWith('Async') &&
            typeof math[`${name}Async`] !== 'function',
        )
        .sort(),
      [...AT_ONCE].sort(),
    )
    assert.equal(math.addAsync.name, 'addAsync')
  })

  describe('gives the bits of the synchronous function', () => {
    const { next, pick } = generator(2027)
    for (const [home, place] of Object.entries(HOMES)) {
      for (const [layout, turned] of Object.entries(LAYOUTS)) {
        it(`of operands that are ${home}, ${layout}`, async () => {
          const [x, y] = [turned(place(numbers(1))), turned(place(numbers(2)))]
          const drawn = Array.from({ length: 6 }, () =>
            pick(
              rows.filter(
                ({ domain, name }) => domain !== 'BITS' && domain !== 'INTEGER' && name !== 'where',
              ),
            ),
          )
          for (const { js, count } of drawn) {
            const operands =
              count === 1 ? [x] : count === 2 ? [x, next(3) === 0 ? 0.5 : y] : [x, -1, y]
            assert.ok(isSame(await math[`${js}Async`](...operands), math[js](...operands)), js)
          }
          const condition = math.less(x, y)
          assert.ok(isSame(await math.whereAsync(condition, x, 2), math.where(condition, x, 2)))
          for (const axis of [undefined, 0, -1, [0, 1], [x.ndim - 1]]) {
            for (const keepdims of [false, true]) {
              const name = pick(['sum', 'mean', 'max', 'any', 'var', 'countNonzero'])
              assert.ok(
                isSame(
                  await math[`${name}Async`](x, { axis, keepdims }),
                  math[name](x, { axis, keepdims }),
                ),
                `${name} ${axis}`,
              )
            }
          }
          for (const axis of [0, -1]) {
            assert.ok(isSame(await math.argmaxAsync(x, { axis }), math.argmax(x, { axis })))
            assert.ok(
              isSame(
                await math.cumulativeSumAsync(x, { axis, includeInitial: axis === 0 }),
                math.cumulativeSum(x, { axis, includeInitial: axis === 0 }),
              ),
            )
            assert.ok(isSame(await math.diffAsync(x, { axis, n: 2 }), math.diff(x, { axis, n: 2 })))
            for (const name of ['softmax', 'logSoftmax', 'logSumExp', 'vectorNorm', 'normalize']) {
              assert.ok(
                isSame(await math[`${name}Async`](x, { axis }), math[name](x, { axis })),
                name,
              )
            }
          }
        })
      }

      it(`into an out that is ${home}, of another dtype, transposed`, async () => {
        const x = place(numbers(1))
        const outs = ['float64', 'float16'].map((dtype) => place(zeros([COLUMNS, ROWS], dtype)).T)
        const expected = zeros([ROWS, COLUMNS], 'float64')
        for (const out of outs) {
          assert.equal(await math.multiplyAsync(x, 3, { out }), out)
          assert.ok(
            isSame(
              out.astype('float64'),
              math.multiply(x, 3, { out: expected.astype(out.dtype) }).astype('float64'),
            ),
          )
        }
        const sums = place(zeros([COLUMNS]))
        assert.equal(await math.sumAsync(x, { axis: 0, out: sums }), sums)
        assert.ok(isSame(sums, math.sum(x, { axis: 0 })))
      })

      it(`where out is an operand that is ${home}, or overlaps one, which is staged`, async () => {
        for (const turned of [(t) => t, (t) => t.slice('::-1'), (t) => t.slice(':', '::-1')]) {
          const [x, y] = [place(numbers(1)), place(numbers(1))]
          math.add(x, turned(x), { out: x })
          assert.equal(await math.addAsync(y, turned(y), { out: y }), y)
          assert.ok(isSame(x, y))
          math.cumulativeSum(x, { axis: 0, out: x })
          await math.cumulativeSumAsync(y, { axis: 0, out: y })
          assert.ok(isSame(x, y))
          math.max(turned(x), { axis: 0, out: x.select(0, 150) })
          await math.maxAsync(turned(y), { axis: 0, out: y.select(0, 150) })
          assert.ok(isSame(x, y))
        }
      })
    }

    it('of nothing, of one element, and of scalars alone', async () => {
      assert.deepEqual((await math.addAsync(zeros([0, 3]), 1)).shape, [0, 3])
      assert.deepEqual((await math.sumAsync(zeros([0, 3]), { axis: 0 })).toArray(), [0, 0, 0])
      assert.equal((await math.addAsync(tensor(2), 1)).item(), 3)
      assert.equal((await math.whereAsync(true, 1, 2)).item(), 1)
      assert.deepEqual(
        (await math.multiplyAsync(tensor([1, 2], { shared: true }), 2, 'float64')).toArray(),
        [2, 4],
      )
      await rejects(math.argmaxAsync(zeros([0])), 'ERR_SHAPE')
    })

    it('for 60 at once, of all kinds', async () => {
      const x = Object.values(HOMES).map((place) => place(numbers(5)))
      const { next, pick } = generator(5)
      const names = ['exp', 'sqrt', 'negative', 'sum', 'mean', 'cumulativeSum']
      const calls = Array.from({ length: 60 }, () => [
        pick(names),
        x[next(4)].slice(`${next(9)}:`),
        { axis: next(2) },
      ])
      const optionsFor = (name, options) =>
        /^(exp|sqrt|negative)$/.test(name) ? undefined : options
      const results = await Promise.all(
        calls.map(([name, t, options]) => math[`${name}Async`](t, optionsFor(name, options))),
      )
      results.forEach((result, i) =>
        assert.ok(
          isSame(result, math[calls[i][0]](calls[i][1], optionsFor(calls[i][0], calls[i][2]))),
        ),
      )
      assert.equal(memory().inFlight, 0)
    })
  })

  describe('rejects', () => {
    for (const each of rows.filter((_, i) => i % 4 === 0)) {
      const row = { args: ofMath(each) }
      const call = (args) => math[`${each.js}Async`](...args)
      it(`what ${each.js} refuses, and leaves nothing behind`, () => refusesAll(row, call))
      it(`nothing that ${each.js} takes`, () => acceptsRight(row, call))
    }

    it('an out that overlaps itself, though no piece of it does', async () => {
      const out = zeros([400_000]).asStrided([4, 2 ** 17], [2 ** 16, 1]) // pieces are rows
      await rejects(math.addAsync(zeros([4, 2 ** 17]), 1, { out }), 'ERR_OVERLAP')
      assert.equal(out.get(0, 0), 0)
    })

    it('what is no signal, before anything else', async () => {
      for (const signal of [null, 1, {}, { aborted: true }]) {
        await rejects(math.addAsync(tensor([1]), 1, { signal }), 'ERR_ARGUMENT', /signal/)
      }
    })
  })

  describe('while it runs', () => {
    for (const [home, place] of Object.entries(HOMES)) {
      it(`writers of operands that are ${home} are refused, readers are not`, async () => {
        const [x, out] = [place(numbers(1)), place(zeros([ROWS, COLUMNS]))]
        const promise = math.expAsync(x, { out })
        for (const t of [x, out]) fails(() => t.fill(1), Error, 'ERR_BUSY', /in use/)
        fails(() => math.add(x, 1, { out: x }), Error, 'ERR_BUSY')
        await rejects(math.addAsync(x, 1, { out }), 'ERR_BUSY')
        await rejects(math.addAsync(out, 1), 'ERR_BUSY', /source/)
        await rejects(out.clone().copyFromAsync(out), 'ERR_BUSY', /source/)
        const again = await math.expAsync(x)
        await promise
        assert.ok(isSame(again, out))
        x.fill(1)
        out.fill(1)
      })

      it(`operands that are ${home} may be disposed: their bytes go afterwards`, async () => {
        const before = alive()
        const x = place(numbers(1))
        const y = x.clone()
        const out = place(zeros([ROWS, COLUMNS]))
        const kept = out.view([ROWS, COLUMNS])
        const promise = math.addAsync(x.T, x.T, { out: out.view([COLUMNS, ROWS]) })
        x.dispose()
        out.dispose()
        const result = await promise
        assert.ok(isSame(kept.view([COLUMNS, ROWS]), math.add(y.T, y.T)))
        for (const t of [y, kept, result]) t.dispose()
        globalThis.gc()
        await turn()
        assert.equal(alive().inFlight, before.inFlight)
      })
    }

    for (const role of ['source', 'out']) {
      it(`a ${role} whose buffer is transferred away is ERR_DETACHED`, async () => {
        for (const turns of [0, 1]) {
          const array = new Float32Array(4 * ROWS * COLUMNS)
          const gone = fromBlob(array, [4, ROWS, COLUMNS])
          const other = zeros([4, ROWS, COLUMNS])
          const promise =
            role === 'source'
              ? math.negativeAsync(gone, { out: other })
              : math.negativeAsync(other, { out: gone })
          promise.catch(() => {})
          for (let i = 0; i < turns; i++) await turn()
          detach(array.buffer)
          await rejects(promise, 'ERR_DETACHED')
          assert.equal(memory().inFlight, 0)
          other.fill(2)
        }
      })
    }

    it("an owned tensor's own buffer as well, and the result is discarded", async function () {
      skipWithout(this, 'memory that can be detached')
      const x = zeros([4, ROWS, COLUMNS])
      const disposed = await disposedBy(async () => {
        const promise = math.expAsync(x)
        detach(x.data.buffer)
        await rejects(promise, 'ERR_DETACHED')
      })
      assert.deepEqual(
        disposed.map((t) => t.isDisposed),
        [true],
      )
    })

    it('the loop turns, and several take turns', async () => {
      const x = zeros([16, ROWS, COLUMNS])
      let turns = 0
      const state = { isOver: false }
      Promise.all([math.expAsync(x), math.sinAsync(x)]).finally(() => {
        state.isOver = true
      })
      for (; !state.isOver; turns++) await turn()
      assert.ok(turns >= (2 * 16 * ROWS * COLUMNS * 4) / 2 ** 19 / 16, `${turns} turns`)
    })

    it('nothing is computed in the turn of the call', async () => {
      const out = zeros([2])
      const promise = math.addAsync(tensor([1, 2]), 1, { out })
      assert.deepEqual(out.toArray(), [0, 0])
      await promise
      assert.deepEqual(out.toArray(), [2, 3])
    })

    it('getters of options may compute: what they compute is there at once', async () => {
      const said = []
      const options = {
        get out() {
          said.push(math.add(tensor([1]), 1).item())
          return undefined
        },
      }
      class Options {
        get dtype() {
          said.push(math.sum(tensor([4, 5])).item())
          return 'float64'
        }
      }
      assert.equal((await math.addAsync(tensor([1]), 5, options)).item(), 6)
      assert.equal((await math.addAsync(tensor([1]), 5, new Options())).dtype, 'float64')
      assert.deepEqual(said, [2, 9])
      assert.equal(math.add(tensor([1]), 1).item(), 2)
    })

    it('getters that dispose of an operand are ERR_DISPOSED, and nothing is left', async () => {
      const x = tensor([1, 2])
      const { inFlight } = memory()
      await rejects(
        math.addAsync(x, 1, {
          get casting() {
            x.dispose()
            return 'safe'
          },
        }),
        'ERR_DISPOSED',
      )
      assert.equal(memory().inFlight, inFlight)
      const y = tensor([1, 2])
      const signal = {
        get aborted() {
          y.dispose()
          return false
        },
        addEventListener() {},
        removeEventListener() {},
      }
      await rejects(math.addAsync(y, 1, { signal }), 'ERR_DISPOSED')
    })

    it('a result is of its scope, as those of other functions', async () => {
      let promise
      tidy(() => {
        promise = math.addAsync(zeros([2]), 1)
      })
      assert.ok((await promise).isDisposed)
    })
  })

  describe('a signal', () => {
    it('that is aborted before leaves everything as it was', async () => {
      const out = zeros([2])
      const { tensors } = memory()
      const error = await rejection(
        math.addAsync(tensor([1, 2]), 1, { out, signal: AbortSignal.abort() }),
      )
      assert.equal(error.name, 'AbortError')
      assert.equal(
        await rejection(math.sumAsync(tensor([1, 2]), { signal: AbortSignal.abort('why') })),
        'why',
      )
      assert.deepEqual(out.toArray(), [0, 0])
      globalThis.gc()
      assert.ok(memory().tensors <= tensors + 2)
    })

    it('that aborts in the turn of the call writes nothing', async () => {
      for (const place of Object.values(HOMES)) {
        const out = place(zeros([ROWS, COLUMNS]))
        const controller = new AbortController()
        const promise = math.addAsync(place(numbers(1)), 1, { out, signal: controller.signal })
        controller.abort('enough')
        assert.equal(await rejection(promise), 'enough')
        out.fill(3)
      }
    })

    it('that aborts midway stops the turns: what was computed stays in out', async () => {
      const x = zeros([60, ROWS, COLUMNS])
      const out = zeros([60, ROWS, COLUMNS])
      const controller = new AbortController()
      const promise = math.expAsync(x, { out, signal: controller.signal })
      promise.catch(() => {})
      while (out.get(0, 0, 0) === 0) await turn()
      controller.abort()
      assert.equal((await rejection(promise)).name, 'AbortError')
      assert.deepEqual([out.get(0, 0, 0), out.get(59, ROWS - 1, COLUMNS - 1)], [1, 0])
      out.fill(3)
      x.fill(3)
      assert.equal(memory().inFlight, 0)
    })

    it('that aborts midway discards a result of its own', async () => {
      const x = full([4, ROWS, COLUMNS], 1)
      const controller = new AbortController()
      const disposed = await disposedBy(async () => {
        const promise = math.expAsync(x, { signal: controller.signal })
        controller.abort('enough')
        assert.equal(await rejection(promise), 'enough')
      })
      assert.deepEqual(
        disposed.map((t) => t.isDisposed),
        [true],
      )
    })

    it('that never aborts changes nothing, nor does one that aborts afterwards', async () => {
      const controller = new AbortController()
      const result = await math.addAsync(tensor([1]), 1, { signal: controller.signal })
      controller.abort()
      assert.equal(result.item(), 2)
    })
  })

  it("of the caller's matrix on WebAssembly, transposed, copies its bytes in once", async function () {
    if (!isWasm) return skip(this, 'natively nothing is staged')
    const nbytes = 4 * ROWS * COLUMNS * 4
    const x = fromBlob(new Float32Array(nbytes / 4), [4 * ROWS, COLUMNS])
    const { staged } = memory()
    await math.addAsync(x.T, 1)
    assert.ok(memory().staged.bytes - staged.bytes <= 3 * nbytes)
    await math.sumAsync(x, { axis: 0 })
    assert.ok(memory().staged.bytes - staged.bytes <= 6 * nbytes)
  })

  it('where a thread or the process ends in the middle, all is well', async function () {
    skipWithout(this, 'a Node of its own')
    const work = `
      const { zeros } = require('samebytes')
      const { expAsync, sumAsync } = require('samebytes/math')
      const x = [{}, { shared: true }].map(options => zeros([20, 512, 1024], options))
      const begin = () => { for (const t of x) { expAsync(t); sumAsync(t.permute(2, 1, 0), { axis: 0 }); sumAsync(t) } }
    `
    const result = await childJson(`
      const { Worker } = require('node:worker_threads')
      const { memory, zeros } = require('samebytes')
      const { addAsync } = require('samebytes/math')
      async function main () {
        const mine = zeros([1000, 1000], { shared: true })
        const ends = []
        for (let i = 0; i < 6; i++) {
          const worker = new Worker(${JSON.stringify(work + "begin(); require('node:worker_threads').parentPort.postMessage('begun'); if (END === 1) process.exit(3); if (END === 2) throw new Error('mine'); for (;;) {}")}.replaceAll('END', i % 3), { eval: true })
          worker.on('error', () => {})
          await new Promise(resolve => worker.on('message', resolve).on('exit', resolve))
          const sum = addAsync(mine, 1, { out: mine })
          await worker.terminate()
          await sum
        }
        console.log(JSON.stringify([mine.get(999, 999), memory().inFlight]))
      }
      main()
    `)
    assert.deepEqual(result, [6, 0])
    assert.equal(
      await childJson(
        `${work}begin(); process.on('exit', () => console.log(JSON.stringify(x[0].get(0, 0, 0)))); process.exit(0)`,
      ),
      0,
    )
  })

  it('of 100 layouts drawn at random', async () => {
    const { next, pick } = generator(77)
    for (let i = 0; i < 100; i++) {
      const shape = Array.from({ length: 1 + next(4) }, () => pick([1, 2, 5, 17]))
      const home = pick(Object.values(HOMES))
      const x = home(rand([...shape, 3])).select(-1, next(3))
      const y = pick([x, home(rand(shape.slice(-1))), 0.25])
      const name = pick(['add', 'multiply', 'less', 'pow', 'maximum'])
      assert.ok(arrayEqual(await math[`${name}Async`](x, y), math[name](x, y)), `${name} ${shape}`)
    }
  })
})
