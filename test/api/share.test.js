'use strict'
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const {
  backend,
  dtypes,
  empty,
  fromBlob,
  fromShared,
  memory,
  share,
  tensor,
  unshare,
  zeros,
} = require('samebytes')
const {
  collectUntil,
  copied,
  fails,
  hex,
  refuses,
  settledMemory,
  skipWithout,
} = require('../setup')

// Memory that can leave its thread, as each back end has it.
const KINDS = backend() === 'wasm-shared' ? [undefined, true, 'sab'] : [true, 'sab']
const isParcel = (kind) => backend() === 'wasm-shared' || (backend() === 'native' && kind === true)

/** Runs source in a worker, which has `token` and says things by post(); gives what it said and how it ended. */
function inWorker(source, token) {
  const worker = new Worker(
    `
    const { parentPort, workerData: token } = require('node:worker_threads')
    const post = value => parentPort.postMessage(value)
    const sb = require('samebytes')
    ;(async () => { ${source} })()`,
    { eval: true, workerData: token },
  )
  const said = []
  worker.on('message', (value) => said.push(value))
  const ended = new Promise((resolve, reject) =>
    worker.on('error', reject).on('exit', (code) => resolve({ said, code })),
  )
  return { worker, ended, heard: () => new Promise((resolve) => worker.once('message', resolve)) }
}

describe('share', () => {
  for (const shared of KINDS) {
    describe(`of memory made with shared: ${shared}`, () => {
      it('gives the same bytes, both ways, and copies nothing', () => {
        const t = tensor(
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
          { shared },
        )
        const { result: u, copies } = copied(() => fromShared(structuredClone(share(t))))
        assert.deepEqual(copies, {})
        assert.deepEqual(u.toArray(), [
          [1, 2, 3],
          [4, 5, 6],
        ])
        t.set(10, 0, 0)
        u.set(60, 1, 2)
        assert.deepEqual([u.get(0, 0), t.get(1, 2)], [10, 60])
        if (isParcel(shared)) assert.equal(u.dataPtr, t.dataPtr)
        u.data[1] = 20
        assert.equal(t.data[1], 20)
      })

      it('keeps strides, offset, dtype and whether it may be written', () => {
        const t = tensor(
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
          { shared, dtype: 'int16' },
        )
        for (const view of [
          t.T,
          t.slice('::-1', '::-2'),
          t.slice('1:', 1),
          t.select(0, 1).expand([3, 3]),
          t.unfold(1, 2, 1),
          t.slice('5:'),
          t.slice(1, 2),
        ]) {
          const u = fromShared(share(view))
          assert.deepEqual(
            [u.shape, u.strides, u.dtype, u.toArray()],
            [view.shape, view.strides, 'int16', view.toArray()],
          )
        }
        const locked = fromShared(
          share(fromBlob(new SharedArrayBuffer(4), { dtype: 'int8', readOnly: true })),
        )
        assert.equal(locked.isReadOnly, true)
        refuses(() => locked.fill(1), 'ERR_READ_ONLY')
        assert.equal(
          fromShared(share(zeros([2], { shared, dynamism: 'static' }))).dynamism,
          'static',
        )
      })

      it('of each dtype', () => {
        for (const dtype of dtypes) {
          const bytes = new Uint8Array(64).map((_, i) => (dtype === 'bool' ? i & 1 : i * 37))
          const t = empty([64], { dtype: 'uint8', shared }).setBytes(bytes).view(dtype)
          assert.equal(hex(fromShared(share(t))), hex(t), dtype)
        }
        assert.deepEqual(fromShared(share(zeros([0, 3], { shared }))).shape, [0, 3])
      })

      it('is taken as often as uses says, then it is stale', () => {
        const t = tensor([1, 2], { shared })
        const token = share(t, { uses: 3 })
        for (let i = 0; i < 3; i++) {
          assert.deepEqual(fromShared(structuredClone(token)).toArray(), [1, 2])
        }
        for (let i = 0; i < 2; i++) fails(() => fromShared(token), Error, 'ERR_STALE')
        fails(() => unshare(token), Error, 'ERR_STALE')
      })

      it('is taken by map, which passes places and the list, too', () => {
        const [t, u] = [share(tensor([1, 2], { shared })), share(tensor([3, 4], { shared }))].map(
          fromShared,
        )
        assert.deepEqual(
          [t.toArray(), u.toArray()],
          [
            [1, 2],
            [3, 4],
          ],
        )
      })

      it('is taken back', () => {
        const token = share(tensor([1, 2], { shared }), { uses: 5 })
        fromShared(token)
        unshare(token)
        fails(() => fromShared(token), Error, 'ERR_STALE')
        fails(() => unshare(token), Error, 'ERR_STALE')
      })

      it('outlives its tensor, and leaves nothing behind', async () => {
        const before = settledMemory()
        let token = (() => {
          const t = tensor([5, 6, 7, 8], { shared })
          const token = share(t)
          t.dispose()
          return token
        })()
        globalThis.gc()
        if (isParcel(shared)) assert.equal(memory().inFlight - before.inFlight, 1)
        let u = fromShared(token)
        assert.equal(memory().inFlight, before.inFlight)
        globalThis.gc()
        assert.deepEqual(u.toArray(), [5, 6, 7, 8])
        u = token = null
        const same = () =>
          ['native', 'shared', 'wasm'].every((kind) => memory().bytes[kind] <= before.bytes[kind])
        assert.ok(await collectUntil(same))
      })

      it('ten thousand times, and nothing is left', async () => {
        const t = zeros([4], { shared })
        const before = settledMemory()
        for (let i = 0; i < 10000; i++) {
          const u = fromShared(share(t))
          u.set(i, 3)
          u.dispose()
        }
        assert.equal(t.get(3), 9999)
        assert.equal(memory().inFlight, before.inFlight)
        assert.ok(
          await collectUntil(() => {
            const { tensors, storages, bytes } = memory()
            return (
              tensors <= before.tensors &&
              storages <= before.storages &&
              bytes.wasm <= before.bytes.wasm &&
              bytes.native <= before.bytes.native
            )
          }),
        )
      })

      it('to a worker: both see what the other writes', async () => {
        const t = tensor(
          [
            [1, 2],
            [3, 4],
          ],
          { shared },
        )
        const { said, code } = await inWorker(
          `
          const t = sb.fromShared(token)
          post(t.toArray())
          t.set(30, 0, 1)
          post(sb.memory().copied)
        `,
          share(t.T),
        ).ended
        assert.deepEqual(
          [said, code],
          [
            [
              [
                [1, 3],
                [2, 4],
              ],
              {},
            ],
            0,
          ],
        )
        assert.deepEqual(t.toArray(), [
          [1, 2],
          [30, 4],
        ])
      })

      it('from a worker that posts and exits', async function () {
        skipWithout(this, 'SharedArrayBuffer')
        const before = settledMemory()
        const {
          said: [token],
          code,
        } = await inWorker(`
          post(sb.share(sb.tensor([1, 2, 3], { shared: ${JSON.stringify(shared)} }).slice('1:')))
        `).ended
        assert.equal(code, 0)
        if (isParcel(shared)) assert.equal(memory().inFlight - before.inFlight, 1)
        const t = fromShared(token)
        assert.deepEqual(t.toArray(), [2, 3])
        assert.equal(memory().inFlight, before.inFlight)
        t.dispose()
      })

      it('to three workers at once, which race for one use', async () => {
        const source =
          "try { sb.fromShared(token); post('taken') } catch (error) { post(error.code) }"
        for (let round = 0; round < 5; round++) {
          // workers that end together must not disturb one another
          const token = share(tensor([1], { shared }))
          const all = await Promise.all([1, 2, 3].map(() => inWorker(source, token).ended))
          assert.deepEqual(all.map(({ said: [word] }) => word).sort(), [
            'ERR_STALE',
            'ERR_STALE',
            'taken',
          ])
        }
      })
    })
  }

  it('of a SharedArrayBuffer wakes a worker that waits on it', async () => {
    const t = zeros([2], { dtype: 'int32', shared: 'sab' })
    const { heard, ended } = inWorker(
      `
      const t = sb.fromShared(token)
      post('ready')
      const how = Atomics.wait(t.data, 1, 0, 20000)
      post([how, t.get(1)])
    `,
      share(t),
    )
    assert.equal(await heard(), 'ready')
    t.set(7, 1)
    while (Atomics.notify(t.data, 1) === 0 && t.get(1) === 7 && (await stillRuns(ended))) continue
    const { said } = await ended
    assert.equal(said.length, 2)
    assert.ok(['ok', 'not-equal'].includes(said[1][0]))
    assert.equal(said[1][1], 7)
  })

  it('of the caller’s SharedArrayBuffer needs no copy', () => {
    const buffer = new SharedArrayBuffer(16)
    const u = fromShared(share(fromBlob(buffer, [2], { dtype: 'float32', offset: 1 })))
    u.set(5, 0)
    assert.equal(new Float32Array(buffer)[1], 5)
  })

  it('refuses memory of this thread, and names shareMemory()', () => {
    const ours =
      backend() === 'wasm-shared' ? [] : [zeros([4]), zeros([4]).slice('1:'), zeros([5000])]
    for (const t of [
      ...ours,
      fromBlob(new Float32Array(4)),
      fromBlob(new ArrayBuffer(8), { dtype: 'int16' }),
    ]) {
      fails(() => share(t), Error, 'ERR_UNSUPPORTED', /shareMemory\(\).*copy: true/)
    }
    const t = fromBlob(Float32Array.of(1, 2)).shareMemory()
    assert.deepEqual(fromShared(share(t)).toArray(), [1, 2])
  })

  describe('with copy: true', () => {
    it('carries a copy of any tensor, which is counted, and says so', () => {
      const x = tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        'int16',
      )
      for (const t of [
        x,
        x.T,
        x.slice('::-1', '::2'),
        x.select(0, 1).expand([3, 3]),
        zeros([0, 3]),
        fromBlob(new Float32Array(4)),
        zeros([2], { shared: true }),
        tensor(5n, 'int64'),
      ]) {
        const { result: token, copies } = copied(() => share(t, { copy: true }))
        assert.deepEqual(copies, { share: { count: 1, bytes: t.nbytes } })
        assert.deepEqual(
          [token.isCopy, token.buffer instanceof ArrayBuffer, token.buffer.byteLength],
          [true, true, t.nbytes],
        )
        const { result: u, copies: none } = copied(() => fromShared(token))
        assert.deepEqual(none, {})
        assert.deepEqual(
          [u.shape, u.dtype, u.isContiguous(), u.toArray()],
          [t.shape, t.dtype, true, t.toArray()],
        )
        assert.equal(hex(fromShared(structuredClone(token))), hex(t.clone().contiguous()))
      }
      const token = share(zeros([2], { shared: true }))
      assert.equal(token.isCopy, false)
      unshare(token)
    })

    it('has bytes of its own: neither side sees what the other writes, and each clone has others', () => {
      const t = tensor([1, 2])
      const token = share(t, { copy: true })
      const [here, there] = [fromShared(token), fromShared(structuredClone(token))]
      t.set(5, 0)
      here.set(6, 0)
      there.set(7, 0)
      assert.deepEqual(
        [t, here, there, fromShared(token)].map((x) => x.get(0)),
        [5, 6, 7, 6],
      )
    })

    it('moves by transfer, and is stale where it was', () => {
      const token = share(tensor([1, 2]), { copy: true })
      const moved = structuredClone(token, { transfer: [token.buffer] })
      assert.deepEqual(fromShared(moved).toArray(), [1, 2])
      fails(() => fromShared(token), Error, 'ERR_STALE', /transferred/)
      unshare(moved) // says nothing
    })

    it('reaches a worker', async () => {
      const { ended } = inWorker(
        'post(sb.fromShared(token).toArray())',
        share(tensor([1, 2]).slice('::-1'), { copy: true }),
      )
      assert.deepEqual(await ended, { said: [[2, 1]], code: 0 })
    })

    it('keeps dynamism, and may be written where the tensor may not', () => {
      const t = fromBlob(new Int8Array(2), { readOnly: true })
      const u = fromShared(share(t, { copy: true })).fill(3)
      assert.deepEqual(
        [u.toArray(), t.toArray()],
        [
          [3, 3],
          [0, 0],
        ],
      )
      assert.equal(
        fromShared(share(zeros([2], { dynamism: 'static' }), { copy: true })).dynamism,
        'static',
      )
    })

    it('takes true or false alone, and no forged token', () => {
      for (const copy of [1, null, 'auto']) {
        refuses(() => share(zeros([2]), { copy }), 'ERR_ARGUMENT')
      }
      const token = share(zeros([2]), { copy: true })
      const forged = (more, code) => refuses(() => fromShared({ ...token, ...more }), code)
      for (const buffer of [undefined, null, new Uint8Array(8), new SharedArrayBuffer(8), {}]) {
        forged({ buffer }, 'ERR_ARGUMENT')
      }
      forged({ buffer: new ArrayBuffer(4) }, 'ERR_BOUNDS')
      forged({ shape: [3] }, 'ERR_BOUNDS')
      forged({ strides: [-1] }, 'ERR_BOUNDS')
      forged({ byteOffset: 2 }, 'ERR_ALIGNMENT')
      const shrunk = new ArrayBuffer(8, { maxByteLength: 8 })
      const u = fromShared({ ...token, buffer: shrunk })
      shrunk.resize(0)
      refuses(() => u.get(0), 'ERR_DETACHED')
    })
  })

  it('refuses what is gone', () => {
    const t = zeros([2], { shared: true })
    t.dispose()
    for (const copy of [false, true]) refuses(() => share(t, { copy }), 'ERR_DISPOSED')
    const source = new Float32Array(2)
    const gone = fromBlob(source)
    structuredClone(source, { transfer: [source.buffer] })
    for (const copy of [false, true]) refuses(() => share(gone, { copy }), 'ERR_DETACHED')
  })

  function forgedCounters({ buffer }, forged) {
    const lie = Object.defineProperty(new Int32Array(new SharedArrayBuffer(0)), 'length', {
      value: 1,
    })
    for (const left of [
      new Int32Array(0),
      Int32Array.of(9),
      new Int32Array(buffer, 0, 1),
      new Int32Array(new SharedArrayBuffer(8), 0, 1),
      new Uint32Array(new SharedArrayBuffer(4)),
      lie,
      { 0: 9, length: 1 },
      9,
      undefined,
      null,
    ]) {
      forged({ left }, 'ERR_ARGUMENT')
    }
    const [used, negative] = [0, -5].map((n) => new Int32Array(new SharedArrayBuffer(4)).fill(n))
    forged({ left: used }, 'ERR_STALE')
    forged({ left: negative }, 'ERR_STALE')
    assert.deepEqual([used[0], negative[0]], [0, -5])
  }

  it('of a SharedArrayBuffer takes no forged count of uses', () => {
    const token = share(fromBlob(new SharedArrayBuffer(16), 'float32'), { uses: 2 })
    forgedCounters(token, (more, ...codes) =>
      refuses(() => fromShared({ ...token, ...more }), ...codes),
    )
    for (let i = 0; i < 2; i++) assert.equal(fromShared(structuredClone(token)).size, 4)
    fails(() => fromShared(token), Error, 'ERR_STALE')
  })

  it('takes no forged token', () => {
    const t = zeros([4], { shared: true })
    const before = settledMemory()
    const token = share(t, { uses: 100 })
    const forged = (more, ...codes) => refuses(() => fromShared({ ...token, ...more }), ...codes)
    forged({ samebytes: '0.0.1' }, 'ERR_UNSUPPORTED')
    forged({ shape: [5] }, 'ERR_BOUNDS')
    forged({ shape: [2 ** 40], strides: [1] }, 'ERR_BOUNDS')
    forged({ shape: [2 ** 40, 2 ** 40], strides: [0, 0] }, 'ERR_SHAPE')
    forged({ byteOffset: 4 }, 'ERR_BOUNDS')
    forged({ byteOffset: -4 }, 'ERR_BOUNDS')
    forged({ byteOffset: 2 }, 'ERR_ALIGNMENT')
    forged({ byteOffset: 2 ** 53 }, 'ERR_BOUNDS')
    forged({ strides: [1, 1] }, 'ERR_SHAPE')
    forged({ strides: [2 ** 52] }, 'ERR_BOUNDS')
    forged({ dtype: 'float128' }, 'ERR_DTYPE')
    forged({ dtype: 'float64' }, 'ERR_BOUNDS')
    forged({ shape: [-1] }, 'ERR_SHAPE', 'ERR_BOUNDS')
    forged({ kind: 'other' }, 'ERR_ARGUMENT')
    forged({ key: 0.5 }, 'ERR_BOUNDS')
    forged({ key: '1' }, 'ERR_ARGUMENT')
    if (isParcel(true)) {
      forged({ key: token.key + 1 }, 'ERR_STALE')
      forged({ key: token.key + 2 ** 24 }, 'ERR_STALE')
      forged({ key: 0 }, 'ERR_STALE')
      forged({ key: -1 }, 'ERR_STALE')
      forged({ key: 2 ** 53 - 1 }, 'ERR_STALE')
      forged({ home: 5 }, 'ERR_STALE', 'ERR_UNSUPPORTED')
    } else {
      forged({ buffer: new ArrayBuffer(16) }, 'ERR_ARGUMENT')
      forgedCounters(token, forged)
    }
    assert.deepEqual(fromShared(token).toArray(), [0, 0, 0, 0])
    unshare(token)
    const after = memory()
    assert.equal(after.inFlight, before.inFlight)
    assert.ok(after.tensors <= before.tensors + 1)
  })

  it('is over a SharedArrayBuffer where it was one, asked for or not; no other word than that is taken', function () {
    skipWithout(this, 'SharedArrayBuffer')
    const t = tensor([1, 2], { shared: 'sab' })
    const token = share(t, { uses: 2 })
    for (const shared of [true, false, null, 'SAB', 1]) {
      fails(() => fromShared(token, { shared }), TypeError, 'ERR_ARGUMENT', /'sab' was expected/)
    }
    for (const options of [{ shared: 'sab' }, {}]) {
      const u = fromShared(token, options)
      assert.equal(u.data.buffer, t.data.buffer)
      assert.ok(u.data.buffer instanceof SharedArrayBuffer)
    }
  })

  it('reads a token’s fields once', () => {
    const token = share(tensor([1, 2], { shared: true }))
    const reads = {}
    const watched = new Proxy(token, {
      get(o, key) {
        reads[key] = (reads[key] ?? 0) + 1
        return o[key]
      },
    })
    assert.deepEqual(fromShared(watched).toArray(), [1, 2])
    assert.deepEqual(
      Object.values(reads).filter((n) => n !== 1),
      [],
    )
  })
})

async function stillRuns(ended) {
  return (
    (await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5, 'runs'))])) ===
    'runs'
  )
}
