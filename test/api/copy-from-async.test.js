'use strict'
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const { empty, fromBlob, full, memory, rand, tensor, zeros } = require('samebytes')
const {
  childJson,
  collectAll,
  collectUntil,
  copied,
  fails,
  hex,
  isWasm,
  quietMemory,
  skipWithout,
  turn,
} = require('../setup')
const { SAMPLES } = require('../tables')

/** The error that a promise rejects with; the promise itself must be one. */
async function rejection(promise) {
  assert.ok(promise instanceof Promise)
  let result
  try {
    result = await promise
  } catch (error) {
    return error
  }
  assert.fail(`it resolved to ${String(result).slice(0, 100)}`)
}

async function rejects(promise, code) {
  const error = await rejection(promise)
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, /\S{3}/)
}

/** tensors, storages and operations that are alive */
function alive() {
  const { tensors, storages, inFlight } = memory()
  return { tensors, storages, inFlight }
}

/** 0, 1, 2, … over 251: each place has a value of its own kind. */
function counted(shape, options) {
  const t = empty(shape, options)
  const n = t.size
  const bytes = new Uint8Array(n)
  for (let i = 0; i < n; i++) bytes[i] = i % 251 // Uint8Array.from with a function takes fifty times as long
  return t.copyFrom(bytes, { casting: 'unsafe' })
}

// Where bytes may be, for copies of some pieces and of one.
const HOMES = {
  owned: (shape, dtype) => counted(shape, { dtype }),
  shared: (shape, dtype) => counted(shape, { dtype, shared: true }),
  "SharedArrayBuffer's": (shape, dtype) => counted(shape, { dtype, shared: 'sab' }),
  "caller's": (shape, dtype) =>
    fromBlob(counted(shape, { dtype }).bytes.slice().buffer, shape, { dtype }),
}

// What is done to a target and a source of 300 rows of 1500: [name, target, source, options].
const LAYOUTS = [
  ['row-major', (t) => t, (t) => t],
  ['transposed', (t) => t, (t) => t.view([1500, 300]).T],
  ['into a transposed target', (t) => t.view([1500, 300]).T, (t) => t],
  ['backwards, every second', (t) => t.slice(':', '::-2'), (t) => t.slice('::-1', '1::2')],
  ['broadcast row', (t) => t, (t) => t.select(0, 7)],
  ['broadcast column', (t) => t, (t) => t.narrow(1, 3, 1)],
  ['scaled by one number', (t) => t, (t) => t, { scale: 0.5, bias: 3 }],
  [
    'scaled per row',
    (t) => t,
    (t) => t.slice('::-1'),
    { scale: Array.from({ length: 300 }, (_, i) => i / 8), bias: 1, axis: 0 },
  ],
  [
    'scaled per column, transposed',
    (t) => t.view([1500, 300]).T,
    (t) => t,
    { bias: Array.from({ length: 1500 }, (_, i) => i), axis: -1 },
  ],
  [
    'some rows of three axes',
    (t) => t.view([3, 100, 1500]).slice(':', '3:90'),
    (t) => t.view([100, 3, 1500]).slice('3:90').permute(1, 0, 2),
  ],
  [
    'eighteen axes',
    (t) =>
      t
        .view([450000])
        .narrow(0, 0, 2 ** 18)
        .view(new Array(18).fill(2)),
    (t) =>
      t
        .view([450000])
        .narrow(0, 5, 2 ** 18)
        .view(new Array(18).fill(2)),
  ],
  ['few long rows', (t) => t.view([2, 225000]), (t) => t.view([225000, 2]).T],
]

describe('copyFromAsync', function () {
  it('resolves to its float32 target, and counts the copy once', async () => {
    const t = zeros([2, 3])
    const before = memory().copied.copyFromAsync ?? { count: 0, bytes: 0 }
    const { result: promise, copies } = copied(() =>
      t.copyFromAsync([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    )
    assert.ok(promise instanceof Promise)
    assert.deepEqual(copies, {})
    assert.equal(await promise, t)
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { count, bytes } = memory().copied.copyFromAsync
    assert.deepEqual([count - before.count, bytes - before.bytes], [1, 24])
  })

  for (const { dtype, values, bytes } of SAMPLES) {
    it(`copies ${dtype} bits from tensors, lists and typed arrays, between all kinds of memory`, async () => {
      for (const shared of [false, true, 'sab']) {
        const dst = () => empty([2, 3], { dtype, shared })
        const src = tensor(values, [2, 3], { dtype })
        assert.equal(hex(await dst().copyFromAsync(src)), bytes)
        assert.equal(
          hex(await dst().copyFromAsync(tensor(values, [2, 3], { dtype, shared }))),
          bytes,
        )
        assert.equal(hex(await dst().copyFromAsync([values.slice(0, 3), values.slice(3)])), bytes)
        const array = src.data
        const same = tensor(0, { dtype }).data.constructor
        if (tensor(array).dtype === dtype && array instanceof same) {
          assert.equal(hex(await dst().copyFromAsync(array)), bytes)
        }
        const one = dst()
        assert.equal(hex(await one.copyFromAsync(values[5])), hex(dst().copyFrom(values[5])))
      }
    })
  }

  for (const [to, make] of Object.entries(HOMES)) {
    for (const [from, makeSource] of Object.entries(HOMES)) {
      it(`gives what copyFrom gives, from ${from} to ${to} bytes, for float32, and uint8 to float64`, async () => {
        for (const [name, ofTarget, ofSource, options] of LAYOUTS) {
          for (const [dtype, sourceDtype] of [
            ['float32', 'float32'],
            ['float64', 'uint8'],
          ]) {
            const [now, later] = [make([300, 1500], dtype), make([300, 1500], dtype)]
            const src = ofSource(makeSource([300, 1500], sourceDtype))
            ofTarget(now).copyFrom(src, options)
            await ofTarget(later).copyFromAsync(src, options)
            assert.ok(
              Buffer.from(later.bytes).equals(Buffer.from(now.bytes)),
              `${name}, ${sourceDtype} to ${dtype}`,
            )
          }
        }
      })
    }
  }

  it('takes what copyFrom takes: numbers, nests that broadcast, flat lists, float32 of rank 0, nothing', async () => {
    const t = zeros([2, 3])
    assert.deepEqual((await t.copyFromAsync(7)).toArray(), [
      [7, 7, 7],
      [7, 7, 7],
    ])
    assert.deepEqual((await t.copyFromAsync([[8], [9]])).toArray(), [
      [8, 8, 8],
      [9, 9, 9],
    ])
    assert.deepEqual((await t.copyFromAsync([6, 5, 4, 3, 2, 1])).toArray(), [
      [6, 5, 4],
      [3, 2, 1],
    ])
    assert.equal((await zeros([]).copyFromAsync(tensor(4))).item(), 4)
    assert.equal(
      (await zeros([0, 3], { shared: true }).copyFromAsync(zeros([3], { shared: true }))).size,
      0,
    )
    assert.equal((await zeros([0, 3]).copyFromAsync(5)).size, 0)
    assert.deepEqual(
      await zeros([2], 'int8')
        .copyFromAsync([1.5, -300], { casting: 'unsafe', scale: 1 })
        .catch((error) => error.code),
      'ERR_CAST',
    )
    assert.deepEqual(
      (
        await zeros([2], 'int8').copyFromAsync(tensor([1.5, -300]), { casting: 'unsafe' })
      ).toArray(),
      [1, -128],
    )
  })

  it('scales shared uint8 to shared float32 along an axis', async () => {
    const src = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { dtype: 'uint8', shared: true },
    )
    const dst = zeros([2, 2], { shared: true })
    await dst.copyFromAsync(src, { scale: [2, 3], bias: [0, 0.5], axis: 1 })
    assert.deepEqual(dst.toArray(), [
      [2, 6.5],
      [6, 12.5],
    ])
  })

  it('takes the values at the call: lists and factors that change afterwards do not matter', async () => {
    for (const shared of [false, true]) {
      const t = zeros([2], { shared })
      const list = [1, 2]
      const scale = Float64Array.of(10, 100)
      const promise = t.copyFromAsync(list, { scale, axis: 0 })
      list[0] = scale[0] = 9
      await promise
      assert.deepEqual(t.toArray(), [10, 200])
    }
  })

  describe('refuses at the call what copyFrom refuses: it rejects, never throws, and writes nothing', () => {
    const lists = [1, 2]
    const CASES = {
      'a float32 source of another shape': [(t) => t.copyFromAsync(zeros([3, 2])), 'ERR_SHAPE'],
      'a typed array of another length': [(t) => t.copyFromAsync(new Float32Array(5)), 'ERR_SHAPE'],
      'ragged lists': [(t) => t.copyFromAsync([[1, 2], [3]]), 'ERR_SHAPE'],
      'a string': [(t) => t.copyFromAsync('x'), 'ERR_ARGUMENT'],
      nothing: [(t) => t.copyFromAsync(), 'ERR_ARGUMENT'],
      'a complex64 source': [(t) => t.copyFromAsync(zeros([2, 3], 'complex64')), 'ERR_CAST'],
      'a complex64 source with a scale': [
        (t) => t.copyFromAsync(zeros([2, 3], 'complex64'), { scale: 2 }),
        'ERR_DTYPE',
      ],
      'a float64 source under casting safe': [
        (t) => t.copyFromAsync(zeros([2, 3], 'float64'), { casting: 'safe' }),
        'ERR_CAST',
      ],
      'an unknown casting': [(t) => t.copyFromAsync(1, { casting: 'any' }), 'ERR_ARGUMENT'],
      'a list of scales without an axis': [
        (t) => t.copyFromAsync(1, { scale: lists }),
        'ERR_ARGUMENT',
      ],
      'a list of biases of another length': [
        (t) => t.copyFromAsync(1, { bias: lists, axis: 1 }),
        'ERR_SHAPE',
      ],
      'an axis outside': [(t) => t.copyFromAsync(1, { bias: lists, axis: 2 }), 'ERR_BOUNDS'],
      'options that are none': [(t) => t.copyFromAsync(1, 5), 'ERR_ARGUMENT'],
      'a signal that is none': [(t) => t.copyFromAsync(1, { signal: {} }), 'ERR_ARGUMENT'],
      'a signal of null': [(t) => t.copyFromAsync(1, { signal: null }), 'ERR_ARGUMENT'],
      'a disposed source': [
        (t) => {
          const s = zeros([2, 3])
          s.dispose()
          return t.copyFromAsync(s)
        },
        'ERR_DISPOSED',
      ],
      'elements that share a byte': [
        (t) => t.view([2], { strides: [0] }).copyFromAsync(1),
        'ERR_OVERLAP',
      ],
      'values that do not fit': [
        (t) => t.view('int32').copyFromAsync([1.5, 1, 1, 1, 1, 1]),
        'ERR_CAST',
      ],
      'getters that throw': [
        (t) =>
          t.copyFromAsync(1, {
            get casting() {
              throw Object.assign(new Error('mine'), { code: 'ERR_MINE' })
            },
          }),
        'ERR_MINE',
      ],
    }
    for (const [name, [act, code]] of Object.entries(CASES)) {
      it(name, async () => {
        for (const shared of [false, true, 'sab']) {
          const t = tensor(
            [
              [1, 2, 3],
              [4, 5, 6],
            ],
            { shared },
          )
          const before = alive()
          await rejects(act(t), code)
          assert.deepEqual(t.toArray(), [
            [1, 2, 3],
            [4, 5, 6],
          ])
          assert.ok(alive().storages <= before.storages + 1 && alive().inFlight === before.inFlight)
          t.fill(0)
        }
      })
    }

    it('a list of another shape, and gives back what it was packed into', async () => {
      const t = zeros([2, 3])
      const { wasm } = (await quietMemory()).bytes
      await rejects(
        t.copyFromAsync([
          [1, 2],
          [3, 4],
        ]),
        'ERR_SHAPE',
      )
      assert.ok(memory().bytes.wasm <= wasm) // what is collected meanwhile goes as well
    })

    it('rows that share bytes, though no piece of them does', async () => {
      for (const shared of [false, true]) {
        const t = zeros([400000], { shared })
        await rejects(t.view([3, 200000], { strides: [100000, 1] }).copyFromAsync(1), 'ERR_OVERLAP')
        assert.ok(t.toArray().every((x) => x === 0))
      }
    })

    it('a read-only target and a disposed one', async () => {
      await rejects(
        fromBlob(new Float32Array(2), [2], { readOnly: true }).copyFromAsync(1),
        'ERR_READ_ONLY',
      )
      const t = zeros([2])
      t.dispose()
      await rejects(t.copyFromAsync(1), 'ERR_DISPOSED')
      await rejects(zeros([2], { shared: true }).copyFromAsync(t), 'ERR_DISPOSED')
    })
  })

  describe('lets the event loop breathe', () => {
    for (const [name, shared] of [
      ['owned', false],
      ['shared', true],
      ["SharedArrayBuffer's", 'sab'],
    ]) {
      it(`while it copies 12 million ${name} float32 to float8_e5m2`, async () => {
        const src = full([12, 1024, 1024], 3, { shared })
        const dst = zeros([12, 1024, 1024], { dtype: 'float8_e5m2', shared })
        let turns = 0
        // Another thread may be done before a starved loop has its second turn: then once more.
        for (let attempt = 0; attempt < 10 && turns < 4; attempt++) {
          turns = 0
          dst.zero()
          let pending = true
          const count = () => {
            turns++
            if (pending) setImmediate(count)
          }
          setImmediate(count)
          await dst.copyFromAsync(src)
          pending = false
        }
        assert.ok(turns >= 4, `${turns} turns`)
        assert.deepEqual([dst.get(0, 0, 0), dst.get(11, 1023, 1023)], [3, 3])
        await turn()
      })
    }

    it('also where several float32 copies are pending: each piece has a turn of its own', async () => {
      const src = zeros([1024, 1024])
      const targets = Array.from({ length: 4 }, () => zeros([1024, 1024]))
      let turns = 0
      let pending = true
      const count = () => {
        turns++
        if (pending) setImmediate(count)
      }
      setImmediate(count)
      await Promise.all(targets.map((t) => t.copyFromAsync(src)))
      pending = false
      assert.ok(turns >= 12, `${turns} turns`) // 3 pieces each at least
      await turn()
    })

    it('and does nothing in the turn of the call', async () => {
      const t = zeros([4])
      const promise = t.copyFromAsync(1)
      await Promise.resolve()
      assert.equal(t.get(0), 0)
      await promise
      assert.equal(t.get(0), 1)
    })

    it('without setImmediate as well, and the process ends by itself', async () => {
      const result = await childJson(`
        const was = globalThis.setImmediate
        delete globalThis.setImmediate
        const { full, zeros } = require('samebytes')
        globalThis.setImmediate = was
        let turns = 0
        let pending = true
        const count = () => { turns++; if (pending) setImmediate(count) }
        count()
        zeros([8, 1024, 1024]).copyFromAsync(full([1024, 1024], 4)).then(t => {
          pending = false
          console.log(JSON.stringify([t.get(7, 1023, 1023), turns > 4]))
        })
      `)
      assert.deepEqual(result, [4, true])
    })
  })

  describe('with a signal', () => {
    for (const shared of [false, true]) {
      const kind = shared ? 'shared' : 'owned'

      it(`that has aborted rejects with its reason before anything: ${kind} float32`, async () => {
        const t = zeros([2], { shared })
        let asked = 0
        const source = {
          [Symbol.iterator]: function* () {
            asked++
            yield 1
            yield 2
          },
        }
        for (const reason of [new Error('mine'), 'text', null]) {
          assert.equal(
            await rejection(t.copyFromAsync(source, { signal: AbortSignal.abort(reason) })),
            reason,
          )
        }
        assert.equal(
          (await rejection(t.copyFromAsync(source, { signal: AbortSignal.abort() }))).name,
          'AbortError',
        )
        assert.equal(asked, 0)
        assert.deepEqual(t.toArray(), [0, 0])
      })

      it(`that aborts in between rejects with its reason, and ${kind} float32 works afterwards`, async () => {
        const src = full([64, 1024, 1024], 1, { shared })
        const dst = zeros([64, 1024, 1024], { shared })
        const reason = new Error('enough')
        let error = null
        while (error === null) {
          // again where another thread had copied all of it before this one went on
          dst.fill(0)
          const controller = new AbortController()
          const promise = dst.copyFromAsync(src.slice('::-1'), { signal: controller.signal })
          assert.equal(memory().inFlight, 1)
          if (!shared) for (let i = 0; i < 3; i++) await turn()
          controller.abort(reason)
          error = await promise.then(
            () => null,
            (cause) => cause,
          )
          assert.equal(memory().inFlight, 0)
        }
        assert.equal(error, reason)
        assert.equal(dst.get(63, 1023, 1023), 0)
        if (!shared) assert.equal(dst.get(0, 0, 0), 1)
        dst.set(2, 0, 0, 0)
        await dst.select(0, 0).copyFromAsync(src.select(0, 0))
        assert.equal(dst.get(0, 0, 0), 1)
      })

      it(`has no listener of ours after ${kind} float32 was copied, refused or aborted`, async () => {
        const controller = new AbortController()
        const { signal } = controller
        const count = () => getEventListeners(signal, 'abort').length
        const t = zeros([2], { shared })
        await t.copyFromAsync(t.slice(':'), { signal })
        assert.equal(count(), 0)
        await rejects(t.copyFromAsync([1, 2, 3], { signal }), 'ERR_SHAPE')
        assert.equal(count(), 0)
        const pending = t.copyFromAsync(t.slice('::-1'), { signal })
        controller.abort()
        await rejection(pending)
        assert.equal(count(), 0)
      })
    }

    it('that aborts while the source is read writes nothing to float32', async () => {
      for (const shared of [false, true]) {
        const controller = new AbortController()
        const t = zeros([2], { shared })
        const source = {
          [Symbol.iterator]: function* () {
            controller.abort('late')
            yield 1
            yield 2
          },
        }
        assert.equal(
          await rejection(t.copyFromAsync(source, { signal: controller.signal })),
          'late',
        )
        assert.deepEqual(t.toArray(), [0, 0])
      }
    })

    it('that aborts after the end changes nothing', async () => {
      const controller = new AbortController()
      const t = await zeros([2]).copyFromAsync(3, { signal: controller.signal })
      controller.abort()
      assert.deepEqual(t.toArray(), [3, 3])
    })
  })

  describe('while it is pending', () => {
    const WRITERS = {
      fill: (t) => t.fill(1),
      zero: (t) => t.zero(),
      set: (t) => t.set(1, 0),
      'set of float64': (t) => t.view('float64').set(1, 0),
      setBytes: (t) => t.setBytes(new Uint8Array(16)),
      copyFrom: (t) => t.copyFrom(1),
      'copyFrom with a scale': (t) => t.copyFrom(1, { scale: 2 }),
      'fill through a view': (t) => t.slice('::2').fill(1),
      'copyFromAsync as a target': (t) => t.copyFromAsync(1),
    }
    for (const shared of [false, true]) {
      const kind = shared ? 'shared' : 'owned'
      for (const [name, write] of Object.entries(WRITERS)) {
        it(`${name} is ERR_BUSY on ${kind} float32, target and source, until it settles`, async () => {
          const src = full([4], 5, { shared })
          const dst = zeros([4], { shared })
          const refused = async (t) => {
            if (name.includes('Async')) await rejects(write(t), 'ERR_BUSY')
            else fails(() => write(t), Error, 'ERR_BUSY', /copyFromAsync/)
          }
          const promise = dst.copyFromAsync(src)
          const checks = [refused(dst), refused(src)] // in the turn of the call
          await promise
          await Promise.all(checks)
          assert.deepEqual(
            [dst.toArray(), src.toArray()],
            [
              [5, 5, 5, 5],
              [5, 5, 5, 5],
            ],
          )
          await write(dst)
          await write(src)

          const controller = new AbortController()
          const aborted = dst.copyFromAsync(src, { signal: controller.signal })
          controller.abort()
          await rejection(aborted)
          await write(dst)
          await write(src)
        })
      }

      it(`${kind} float32 can be read on both sides, and the source by other copies`, async () => {
        const src = full([4], 5, { shared })
        const [dst, other, third] = [zeros([4], { shared }), zeros([4], { shared }), zeros([4])]
        const promises = [dst.copyFromAsync(src), other.copyFromAsync(src)]
        assert.deepEqual(
          [
            src.get(0),
            src.toArray()[1],
            src.data[2],
            third.copyFrom(src).get(3),
            src.clone().get(0),
          ],
          [5, 5, 5, 5, 5],
        )
        assert.equal(memory().inFlight, 2)
        dst.get(0)
        dst.toArray()
        String(dst)
        await promises[0]
        if (!shared) fails(() => src.fill(1), Error, 'ERR_BUSY')
        await promises[1]
        src.fill(1)
        assert.deepEqual(
          [dst.toArray(), other.toArray()],
          [
            [5, 5, 5, 5],
            [5, 5, 5, 5],
          ],
        )
        assert.equal(memory().inFlight, 0)
      })

      it(`the ${kind} float32 that is being written is ERR_BUSY as the source of another copyFromAsync`, async () => {
        const dst = zeros([4], { shared })
        const promise = dst.copyFromAsync(2)
        await rejects(zeros([4], { shared }).copyFromAsync(dst), 'ERR_BUSY')
        await promise
        assert.deepEqual((await zeros([4]).copyFromAsync(dst)).toArray(), [2, 2, 2, 2])
      })
    }
  })

  describe('holds both sides', () => {
    for (const [name, make] of Object.entries(HOMES)) {
      it(`${name} float32 that is disposed meanwhile lives until it settles, then is released`, async () => {
        for (const shape of [[8], [1024, 1024]]) {
          await collectAll() // what other tests left is not counted
          const idle = alive()
          const src = make(shape, 'float32')
          const dst = make(shape, 'float32').fill(9)
          const seen = dst.slice(':') // what shows that the target was written
          const before = alive()
          const view = src.slice('::-1')
          const promise = dst.copyFromAsync(view)
          for (const t of [src, view, dst]) t.dispose()
          const during = alive()
          assert.equal(during.inFlight, 1)
          assert.ok(during.storages >= before.storages - 1)
          const noise = Array.from({ length: 8 }, () => full(shape, 77)) // takes what was freed too early
          assert.equal(await promise, dst)
          assert.ok(dst.isDisposed)
          assert.equal(seen.select(0, 0).size, shape.length === 1 ? 1 : 1024)
          assert.deepEqual(seen.slice('::-1').toArray(), make(shape, 'float32').toArray())
          for (const t of noise) t.dispose()
          seen.dispose()
          assert.equal(alive().inFlight, idle.inFlight)
        }
      })
    }

    it('a shared float32 target that nobody has any more is written and freed', async () => {
      await collectAll()
      const { native, wasm, shared } = memory().bytes
      let settled = 0
      ;(() => {
        for (let i = 0; i < 3; i++) {
          empty([256, 1024], { shared: true })
            .copyFromAsync(full([256, 1024], 1, { shared: true }))
            .then(() => settled++)
        }
        for (let i = 0; i < 3; i++) {
          empty([256, 1024])
            .copyFromAsync(full([256, 1024], 1))
            .then(() => settled++)
        }
      })()
      globalThis.gc()
      assert.ok(
        await collectUntil(
          () =>
            settled === 6 &&
            memory().bytes.native <= native &&
            memory().bytes.wasm <= wasm &&
            memory().bytes.shared <= shared,
        ),
      )
      assert.equal(memory().inFlight, 0)
    })

    it('no storage and no tensor is left over, whether it resolves, rejects or aborts', async () => {
      await collectAll()
      const make = () => [
        zeros([100, 100], { shared: true }),
        full([100, 100], 2, { shared: true }),
        zeros([100, 100]),
        zeros([100, 100]),
      ]
      const [a, b, c, d] = make()
      const before = { ...alive(), bytes: memory().bytes }
      for (let i = 0; i < 20; i++) {
        const controller = new AbortController()
        const { signal } = controller
        const all = [
          a.copyFromAsync(b, { scale: 2 }),
          c.copyFromAsync([[3]]),
          d.copyFromAsync(new Float32Array(10000)),
        ]
        const small = zeros([1])
        all.push(rejection(small.copyFromAsync(b)))
        await Promise.all(all)
        small.dispose()
        const aborted = [a.copyFromAsync(5, { signal }), c.copyFromAsync(b, { signal })].map(
          rejection,
        )
        controller.abort()
        await Promise.all(aborted)
      }
      const same = () => {
        const { tensors, storages, inFlight } = alive()
        const { native, shared, wasm } = memory().bytes
        return (
          inFlight === 0 &&
          tensors <= before.tensors &&
          storages <= before.storages &&
          native <= before.bytes.native &&
          shared <= before.bytes.shared &&
          wasm <= before.bytes.wasm
        )
      }
      assert.ok(await collectUntil(same), JSON.stringify([alive(), memory().bytes, before]))
    })

    it('the data of a float32 tensor that is disposed at once is read as it was', async () => {
      for (const shape of [[8], [1024, 1024]]) {
        const src = full(shape, 6)
        const dst = zeros(shape)
        const promise = dst.copyFromAsync(src.data)
        src.dispose()
        const noise = Array.from({ length: 4 }, () => full(shape, 77))
        await promise
        assert.equal(dst.slice('-1').reshape([-1]).get(0), 6)
        noise.forEach((t) => t.dispose())
      }
    })

    it('small float32 whose data is first taken meanwhile: the bytes that moved are the ones that count', async () => {
      const src = full([4], 5)
      const dst = zeros([4])
      const promise = dst.copyFromAsync(src)
      const [from, to] = [src.data, dst.data]
      from[1] = 6
      await promise
      assert.deepEqual([...to], [5, 6, 5, 5])
      assert.deepEqual(dst.toArray(), [5, 6, 5, 5])
    })

    it('float32 where memory grows meanwhile', async () => {
      const src = counted([1024, 1024])
      const dst = zeros([1024, 1024])
      const promise = dst.copyFromAsync(src)
      const more = []
      for (let i = 0; i < 6; i++) {
        await turn()
        more.push(full([3, 1024, 1024], i))
      }
      await promise
      assert.ok(Buffer.from(dst.bytes).equals(Buffer.from(src.bytes)))
      more.forEach((t) => t.dispose())
    })
  })

  describe('where a buffer goes away meanwhile', () => {
    const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })
    for (const [name, shape] of [
      ['before the first piece', [4]],
      ['between pieces', [4, 1024, 1024]],
    ]) {
      for (const side of ['target', 'source']) {
        it(`rejects with ERR_DETACHED: the float32 ${side} ${name}`, async () => {
          const array = new Float32Array(shape.reduce((a, b) => a * b))
          const gone = fromBlob(array, shape)
          const other = full(shape, 1)
          const promise = side === 'target' ? gone.copyFromAsync(other) : other.copyFromAsync(gone)
          promise.catch(() => {})
          if (shape.length > 1) for (let i = 0; i < 2; i++) await turn()
          detach(array.buffer)
          await rejects(promise, 'ERR_DETACHED')
          assert.equal(memory().inFlight, 0)
          other.fill(2)
          fails(() => gone.fill(1), Error, 'ERR_DETACHED')
        })
      }
    }

    it('rejects with ERR_DETACHED where a resizable buffer of float32 shrank', async () => {
      const buffer = new ArrayBuffer(16, { maxByteLength: 64 })
      const t = fromBlob(buffer, [4], 'float32')
      const promise = zeros([4]).copyFromAsync(t)
      buffer.resize(8)
      await rejects(promise, 'ERR_DETACHED')
      buffer.resize(16)
      t.fill(1)
    })

    it('rejects with ERR_DETACHED where the typed array that is the source was transferred', async () => {
      const array = new Float32Array(4)
      const promise = zeros([4]).copyFromAsync(array)
      detach(array.buffer)
      await rejects(promise, 'ERR_DETACHED')
    })

    it("rejects with ERR_DETACHED where an owned float32 tensor's own buffer was transferred", async function () {
      skipWithout(this, 'memory that can be detached')
      const t = full([1024, 1024], 1)
      const promise = zeros([1024, 1024]).copyFromAsync(t)
      detach(t.data.buffer)
      await rejects(promise, 'ERR_DETACHED')
    })
  })

  it("copies the caller's float32 into WASM memory once or twice, however it lies, and never on native or where both lie alike", async () => {
    const nbytes = 9e6
    const caller = (shape) => fromBlob(new Float32Array(nbytes / 4), shape)
    for (const [dst, src, isAlike] of [
      [zeros([1500, 1500]), caller([1500, 1500]).T, false],
      [caller([2, 1125000]), zeros([1125000, 2]).T, false],
      [caller([2, 1125000]), caller([2, 1125000]), true],
      [zeros([2, 1125000]), caller([2, 1125000]), true],
    ]) {
      const before = memory().staged.bytes
      await dst.copyFromAsync(src)
      const staged = (memory().staged.bytes - before) / nbytes
      assert.ok(isWasm && !isAlike ? staged >= 1 && staged < 2.1 : staged === 0, `${staged} times`)
    }
  })

  describe('with overlapping memory gives what copyFrom gives', () => {
    // Of 1.2 million elements, and of 64.
    const OVERLAPS = {
      'shifted forwards': (t) => [t.view([t.size]).slice('1:'), t.view([t.size]).slice(':-1')],
      'shifted backwards': (t) => [t.view([t.size]).slice(':-1'), t.view([t.size]).slice('1:')],
      reversed: (t) => [t, t.slice('::-1', '::-1')],
      'transposed in place': (t) => [t, t.T],
      itself: (t) => [t, t.slice(':')],
      'a row of itself': (t) => [t, t.select(0, 3)],
      'as another dtype': (t) => [t.view('int32'), t],
      'between two channels': (t) => [t.slice(':', '::2'), t.slice(':', '1::2')],
    }
    for (const [home, make] of Object.entries(HOMES)) {
      for (const [name, of] of Object.entries(OVERLAPS)) {
        it(`${home} float32, ${name}`, async () => {
          for (const n of [8, 1100]) {
            for (const options of [
              { casting: 'unsafe' },
              { casting: 'unsafe', scale: 2, bias: 1 },
            ]) {
              const [now, later] = [make([n, n], 'float32'), make([n, n], 'float32')]
              const [a, b] = of(now)
              a.copyFrom(b, options)
              const [c, d] = of(later)
              await c.copyFromAsync(d, options)
              assert.ok(
                Buffer.from(later.bytes).equals(Buffer.from(now.bytes)),
                `${n}, ${JSON.stringify(options)}`,
              )
            }
          }
        })
      }
    }

    it('float32 of two tensors over one Float32Array', async () => {
      const x = rand([2000000]).data.slice()
      const twin = x.slice()
      fromBlob(x).slice('1:').copyFrom(fromBlob(x).slice(':-1'))
      await fromBlob(twin).slice('1:').copyFromAsync(fromBlob(twin).slice(':-1'))
      assert.ok(Buffer.from(x.buffer).equals(Buffer.from(twin.buffer)))
    })

    it('and counts what it copies away as staged', async () => {
      const t = zeros([1000, 1000])
      const before = memory().staged.bytes
      await t.copyFromAsync(t.T)
      assert.equal(memory().staged.bytes - before, 4000000)
    })
  })
})
