'use strict'
// GPU memory between real processes: on the fake driver, whose memory processes really share; with SAMEBYTES_TEST_CUDA=1 on a GPU,
// with PyTorch and CuPy where they are.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { cuda } = require('samebytes')
const { needs, quietMemory, skip, skipWithout } = require('../setup')
const { endAll, hasGpu, start, until } = require('./vram-processes')

const HAS_GPU = process.env.SAMEBYTES_TEST_CUDA === '1'

/** The promise must fail with this code and a sentence. */
async function refused(promise, code, pattern = /\S{3}/) {
  const error = await promise.then(
    (value) => assert.fail(`it worked: ${JSON.stringify(value)}`),
    (error) => error,
  )
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, pattern)
}

const VALUES = [
  [1, 2, 3],
  [4, 5, 6],
]
const OTHER = [
  [7, 8, 9],
  [-1, -2, -3],
]

describe('GPU memory of two processes', function () {
  afterEach(endAll)

  for (const [from, to] of [
    ['node', 'node'],
    ['node', 'python'],
    ['python', 'node'],
    ['python', 'python'],
    ['node', 'torch'],
    ['torch', 'node'],
    ['node', 'cupy'],
    ['cupy', 'node'],
  ]) {
    describe(`from ${from} to ${to}`, () => {
      if ([from, to].some((kind) => kind !== 'node')) needs('Python')
      before(function () {
        const library = [from, to].find((kind) => kind === 'torch' || kind === 'cupy')
        if (library === undefined) return
        if (!HAS_GPU) skip(this, 'it needs a GPU (SAMEBYTES_TEST_CUDA=1)')
        if (!hasGpu(library)) skip(this, `Python has no ${library} with CUDA here`)
      })

      for (const shared of [true, false]) {
        const kind = shared ? 'memory that is made to be shared' : 'memory of others'

        it(`has the same bytes, both ways: ${kind}`, async () => {
          const [one, other] = [start(from), start(to)]
          await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared })
          const d = await one.ask('share', { of: 't' })
          assert.deepEqual(
            [d.lease, d.readOnly, d.shape, d.strides, d.dtype, d.nbytes],
            [shared ? 'none' : 'exporter', false, [2, 3], [3, 1], 'float32', 24],
          )
          const there = await other.ask('open', { d, as: 't' })
          if (there !== null) {
            assert.deepEqual(there, {
              shape: [2, 3],
              dtype: 'float32',
              device: 'cuda:0',
              strides: [3, 1],
              readOnly: false,
            })
          }
          assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
          await other.ask('write', { of: 't', values: OTHER })
          assert.deepEqual(await one.ask('read', { of: 't' }), OTHER)
          await one.ask('write', { of: 't', values: VALUES })
          assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
          assert.deepEqual([await other.end(), await one.end()], [0, 0])
        })

        it(`stays when the exporter drops it: ${kind}`, async () => {
          const [one, other] = [start(from), start(to)]
          await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared })
          const d = await one.ask('share', { of: 't' })
          await one.ask('dispose', { of: 't' })
          await other.ask('open', { d, as: 't' })
          await one.ask('make', { as: 'u', shape: [2, 3], values: OTHER, shared }) // where the first was, if it had gone
          assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
          await other.ask('write', { of: 't', values: VALUES.map((row) => row.map((x) => -x)) })
          assert.deepEqual(await one.ask('read', { of: 'u' }), OTHER)
        })
      }

      it('outlives an exporter that is killed', async () => {
        const [one, other] = [start(from), start(to)]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
        const d = await one.ask('share', { of: 't', uses: 2 })
        await other.ask('open', { d, as: 't' })
        assert.equal(await one.end('SIGKILL'), 'SIGKILL')
        assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
        await other.ask('write', { of: 't', values: OTHER })
        assert.deepEqual(await other.ask('read', { of: 't' }), OTHER)
        await refused(other.ask('open', { d, as: 'u' }), 'ERR_NOT_FOUND', /has ended/)
      })

      it('is opened as often as was asked for, and not once more', async () => {
        const [one, other] = [start(from), start(to)]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
        const d = await one.ask('share', { of: 't', uses: 2 })
        await other.ask('open', { d, as: 'a' })
        await other.ask('open', { d, as: 'b' })
        await refused(other.ask('open', { d, as: 'c' }), 'ERR_STALE', /used up/)
        await until(
          () =>
            one.ask('unshare', { d }).then(
              () => false,
              (error) => error.code === 'ERR_STALE',
            ),
          Boolean,
        )
        assert.deepEqual(await other.ask('read', { of: 'b' }), VALUES)
      })

      it('is opened no more when it was taken back', async () => {
        const [one, other] = [start(from), start(to)]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
        const d = await one.ask('share', { of: 't', uses: 5 })
        await other.ask('open', { d, as: 'a' })
        await one.ask('unshare', { d })
        await refused(other.ask('open', { d, as: 'b' }), 'ERR_STALE', /taken back/)
        await refused(one.ask('unshare', { d }), 'ERR_STALE')
        await refused(other.ask('unshare', { d }), 'ERR_STALE', /another process/)
        assert.deepEqual(await other.ask('read', { of: 'a' }), VALUES)
      })

      it('refuses descriptors that were changed, and takes no use for them', async () => {
        const [one, other] = [start(from), start(to)]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
        const d = await one.ask('share', { of: 't' })
        for (const [change, codes] of [
          [{ token: '0'.repeat(32) }, ['ERR_STALE']],
          [{ token: 'x' }, ['ERR_ARGUMENT']],
          [{ token: 5 }, ['ERR_ARGUMENT']],
          [{ generation: d.generation + 1 }, ['ERR_STALE']],
          [{ uuid: '0'.repeat(32) }, ['ERR_DEVICE']],
          [{ uuid: null }, ['ERR_ARGUMENT']],
          [{ socket: '@samebytes-vram-0-0' }, ['ERR_NOT_FOUND']],
          [{ socket: '/tmp' }, ['ERR_ARGUMENT']],
          [{ socket: '@' + 'x'.repeat(200) }, ['ERR_ARGUMENT', 'ERR_IO']],
          [{ offset: d.offset + 4 }, ['ERR_STALE', 'ERR_BOUNDS']],
          [{ offset: -4 }, ['ERR_BOUNDS']],
          [{ offset: 2 ** 50 }, ['ERR_STALE', 'ERR_BOUNDS']],
          [{ shape: [2, 4] }, ['ERR_BOUNDS']],
          [{ shape: [-1, 3] }, ['ERR_SHAPE', 'ERR_BOUNDS']],
          [{ strides: [300, 1] }, ['ERR_BOUNDS']],
          [{ strides: [-3, 1] }, ['ERR_STALE', 'ERR_BOUNDS']],
          [{ strides: [1] }, ['ERR_SHAPE']],
          [{ shape: 'x' }, ['ERR_ARGUMENT']],
          [{ dtype: 'complex128' }, ['ERR_BOUNDS']],
          [{ dtype: 'float31' }, ['ERR_DTYPE']],
          [{ version: 2 }, ['ERR_UNSUPPORTED']],
          [{ samebytes: 'x' }, ['ERR_ARGUMENT']],
        ]) {
          const error = await other.ask('open', { d: { ...d, ...change }, as: 'x' }).then(
            () => assert.fail(`${JSON.stringify(change)} was taken`),
            (error) => error,
          )
          assert.ok(codes.includes(error.code), `${JSON.stringify(change)}: ${error.stack}`)
        }
        for (const wrong of [null, 5, 'no JSON', '5', [], {}]) {
          await refused(other.ask('open', { d: wrong, as: 'x' }), 'ERR_ARGUMENT')
        }
        await other.ask('open', { d: JSON.stringify(d), as: 't' })
        assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
      })

      it('leaves nothing open', async () => {
        const [one, other] = [start(from), start(to)]
        const round = async (shared) => {
          await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared })
          const d = await one.ask('share', { of: 't' })
          await other.ask('open', { d, as: 't' })
          await other.ask('read', { of: 't' })
          await other.ask('dispose', { of: 't' })
          await one.ask('dispose', { of: 't' })
        }
        for (const shared of [true, false]) await round(shared)
        const files = async (peer) => (await peer.ask('held')).files
        const before = [await files(one), await files(other)]
        for (let i = 0; i < 5; i++) for (const shared of [true, false]) await round(shared)
        for (const [i, peer] of [one, other].entries()) {
          await until(
            () => files(peer),
            (n) => n <= before[i],
          )
        }
      })
    })
  }

  it('keeps memory of others for as long as somebody has it open, and no longer', async () => {
    for (const signal of [undefined, 'SIGKILL']) {
      const [one, other] = [start('node'), start('node')]
      await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared: false })
      const d = await one.ask('share', { of: 't' })
      await other.ask('open', { d, as: 't' })
      await one.ask('dispose', { of: 't' })
      assert.ok((await one.ask('held')).cuda >= 24)
      assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
      await other.end(signal)
      await until(
        () => one.ask('held'),
        ({ cuda, inFlight }) => cuda === 0 && inFlight === 0,
      )
      await one.end()
    }
  })

  it('keeps memory for descriptors that nobody has used, until they are taken back', async () => {
    const one = start('node')
    await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
    const d = await one.ask('share', { of: 't' })
    await one.ask('dispose', { of: 't' })
    const held = await one.ask('held')
    assert.ok(held.cuda >= 24)
    assert.equal(held.inFlight, 1)
    await one.ask('unshare', { d })
    await until(
      () => one.ask('held'),
      ({ cuda, inFlight }) => cuda === 0 && inFlight === 0,
    )
  })

  it('is opened in the process that made it, where it was made to be shared', async function () {
    skipWithout(this, 'Python')
    for (const kind of ['node', 'python']) {
      const one = start(kind)
      await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
      await one.ask('open', { d: await one.ask('share', { of: 't' }), as: 'u' })
      await one.ask('write', { of: 'u', values: OTHER })
      assert.deepEqual(await one.ask('read', { of: 't' }), OTHER)
      await one.ask('make', { as: 'f', shape: [2, 3], values: VALUES, shared: false })
      const d = await one.ask('share', { of: 'f' })
      await refused(one.ask('open', { d, as: 'g' }), 'ERR_UNSUPPORTED', /this process/)
      await one.ask('unshare', { d }) // no use was taken
    }
  })

  it('goes on to a third process with what its strides say', async () => {
    const [one, other] = [start('node'), start('node')]
    await one.ask('make', {
      as: 't',
      shape: [4, 6],
      dtype: 'int32',
      values: Array.from({ length: 4 }, (_, i) => Array.from({ length: 6 }, (_, j) => 10 * i + j)),
    })
    await one.ask('slice', { of: 't', as: 's', specs: ['1:3', '::-2'] })
    const d = await one.ask('share', { of: 's' })
    assert.deepEqual([d.shape, d.strides, d.nbytes], [[2, 3], [6, -2], 4 * 11])
    await other.ask('open', { d, as: 's' })
    assert.deepEqual(await other.ask('read', { of: 's' }), [
      [15, 13, 11],
      [25, 23, 21],
    ])
    await other.ask('write', {
      of: 's',
      values: [
        [0, 1, 2],
        [3, 4, 5],
      ],
    })
    assert.deepEqual((await one.ask('read', { of: 't' }))[2], [20, 5, 22, 4, 24, 3])
  })

  it('has room for tensors of all sizes, alone or with others', async () => {
    const [one, other] = [start('node'), start('node')]
    for (const [i, [shape, shared]] of [
      [[0, 3], true],
      [[], true],
      [[7], true],
      [[300000], true],
      [[600000], true],
      [[5], 'own'],
      [[1 << 20], 'own'],
    ].entries()) {
      const t = `t${i}`
      await one.ask('make', { as: t, shape, shared, values: 2 + i })
      await other.ask('open', { d: await one.ask('share', { of: t }), as: t })
      const values = await other.ask('read', { of: t })
      assert.ok(
        [values].flat().every((x) => x === 2 + i),
        `${shape} ${shared}`,
      )
      assert.equal(
        [values].flat().length,
        shape.reduce((a, b) => a * b, 1),
      )
    }
    const own = await one.ask('share', { of: 't5' })
    assert.equal(own.offset, 0)
    for (let i = 0; i < 7; i++) await one.ask('dispose', { of: `t${i}` })
  })

  it('uses memory again that nobody else has, and never what another process has', async () => {
    const [one, other] = [start('node'), start('node')]
    await one.ask('make', { as: 'keep', shape: [4], values: 1 }) // the segment stays
    await one.ask('make', { as: 'a', shape: [4], values: 2 })
    const first = await one.ask('address', { of: 'a' })
    await one.ask('dispose', { of: 'a' })
    await until(
      async () => {
        await one.ask('make', { as: 'b', shape: [4], values: 3 })
        const again = await one.ask('address', { of: 'b' })
        if (again !== first) await one.ask('dispose', { of: 'b' })
        return again
      },
      (again) => again === first,
    )
    await other.ask('open', { d: await one.ask('share', { of: 'b' }), as: 'b' })
    await one.ask('dispose', { of: 'b' })
    for (let i = 0; i < 20; i++) {
      await one.ask('make', { as: 'c', shape: [4], values: 4 })
      assert.notEqual(await one.ask('address', { of: 'c' }), first)
      await one.ask('dispose', { of: 'c' })
    }
    assert.deepEqual(await other.ask('read', { of: 'b' }), [3, 3, 3, 3])
  })

  it('is found by the GPU that it is on, whatever its number', async function () {
    if (HAS_GPU) skip(this, 'it needs two GPUs, which the fake driver has')
    skipWithout(this, 'Python')
    const FAKECUDA_DEVICES = '2'
    const [one, other, blind] = [
      start('node', { FAKECUDA_DEVICES }),
      start('node', { FAKECUDA_DEVICES, CUDA_VISIBLE_DEVICES: '1,0' }),
      start('node', { FAKECUDA_DEVICES, CUDA_VISIBLE_DEVICES: '0' }),
    ]
    const python = start('python', { FAKECUDA_DEVICES, CUDA_VISIBLE_DEVICES: '1,0' })
    await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, device: 'cuda:1' })
    const d = await one.ask('share', { of: 't', uses: 2 })
    assert.equal((await other.ask('open', { d, as: 't' })).device, 'cuda:0')
    assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
    await refused(blind.ask('open', { d, as: 't' }), 'ERR_DEVICE', /CUDA_VISIBLE_DEVICES/)
    assert.equal((await python.ask('open', { d, as: 't' })).device, 'cuda:0')
    assert.deepEqual(await python.ask('read', { of: 't' }), VALUES)
  })

  it('shows itself to consumers in Python', async function () {
    skipWithout(this, 'Python')
    const [one, python] = [start('node'), start('python')]
    await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
    await one.ask('slice', { of: 't', as: 's', specs: ['...', '::2'] })
    const d = await one.ask('share', { of: 's', uses: 2 })
    await python.ask('open', { d, as: 's' })
    const shown = await python.ask('interface', { of: 's' })
    assert.ok(shown.data[0] > 0)
    assert.deepEqual(
      { ...shown, data: shown.data[1] },
      { shape: [2, 2], typestr: '<f4', data: false, strides: [12, 8], stream: null, version: 3 },
    )
    assert.deepEqual(await python.ask('capsule', { of: 's' }), {
      device: [2, 0],
      shape: [2, 2],
      strides: [3, 2],
      code: 2,
      bits: 32,
      same: true,
      stays: true,
      first: 1,
      goes: true,
    })
    assert.equal((await python.ask('held')).exports, 0)
  })

  it('is read-only where it was shared so', async function () {
    skipWithout(this, 'Python')
    const old = { FAKECUDA_FAIL: 'cuMemSetAccess:1:801' } // a driver that knows no such access
    const peers = [start('node'), start('python'), start('node', old), start('python', old)]
    const one = start('node')
    await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
    await one.ask('blob', { of: 't', as: 'b', readOnly: true })
    const d = await one.ask('share', { of: 'b', uses: peers.length })
    assert.equal(d.readOnly, true)
    for (const peer of peers) {
      assert.equal((await peer.ask('open', { d, as: 't' })).readOnly, true)
      await refused(peer.ask('write', { of: 't', values: OTHER }), 'ERR_READ_ONLY')
      assert.deepEqual(await peer.ask('read', { of: 't' }), VALUES)
    }
  })

  describe('where CUDA is lost', () => {
    before(function () {
      if (HAS_GPU) skip(this, 'it needs faults that only the fake driver has')
    })

    it('as the exporter answers: the importer is told so, and goes on', async () => {
      const [one, other] = [
        start('node', { FAKECUDA_FAIL: 'cuMemExportToShareableHandle:1:700' }),
        start('node'),
      ]
      await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
      const d = await one.ask('share', { of: 't' })
      await refused(other.ask('open', { d, as: 't' }), 'ERR_DEVICE', /illegal address/)
      await refused(one.ask('share', { of: 't' }), 'ERR_CUDA_CONTEXT_LOST', /illegal address/)
      await refused(one.ask('read', { of: 't' }), 'ERR_CUDA_CONTEXT_LOST')
      await refused(other.ask('open', { d, as: 't' }), 'ERR_DEVICE', /illegal address/)
      await one.ask('unshare', { d })
      await one.ask('dispose', { of: 't' })
      await until(
        () => one.ask('held'),
        ({ inFlight, cuda }) => inFlight === 0 && cuda === 0,
      )
      await other.ask('make', { as: 'u', shape: [2, 3], values: VALUES })
      assert.deepEqual(await other.ask('read', { of: 'u' }), VALUES)
      assert.deepEqual([await one.end(), await other.end()], [0, 0])
    })

    for (const [shared, call] of [
      [true, 'cuMemImportFromShareableHandle'],
      [true, 'cuMemSetAccess'],
      [false, 'cuIpcOpenMemHandle'],
    ]) {
      it(`as the importer maps the memory (${call}): no use is taken`, async () => {
        const [one, lost, other] = [
          start('node'),
          start('node', { FAKECUDA_FAIL: `${call}:1:700` }),
          start('node'),
        ]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared })
        const d = await one.ask('share', { of: 't' })
        await refused(lost.ask('open', { d, as: 't' }), 'ERR_CUDA_CONTEXT_LOST', /illegal address/)
        await refused(lost.ask('open', { d, as: 't' }), 'ERR_CUDA_CONTEXT_LOST', /illegal address/)
        await until(
          () =>
            other.ask('open', { d, as: 't' }).then(
              () => true,
              ({ code }) => {
                assert.equal(code, 'ERR_STALE')
              },
            ),
          Boolean,
        )
        assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
        assert.deepEqual([await lost.end(), await other.end(), await one.end()], [0, 0, 0])
      })
    }

    it('while an importer has the memory: its end is no other than any', async () => {
      for (const shared of [true, false]) {
        const [one, other] = [
          start('node'),
          start('node', { FAKECUDA_FAIL: 'cuMemcpyDtoHAsync:2:700' }),
        ]
        await one.ask('make', { as: 't', shape: [2, 3], values: VALUES, shared })
        await other.ask('open', { d: await one.ask('share', { of: 't' }), as: 't' })
        assert.deepEqual(await other.ask('read', { of: 't' }), VALUES)
        await refused(other.ask('read', { of: 't' }), 'ERR_CUDA_CONTEXT_LOST')
        await other.ask('dispose', { of: 't' })
        await one.ask('dispose', { of: 't' })
        await until(
          () => one.ask('held'),
          ({ inFlight, cuda }) => inFlight === 0 && cuda === 0,
        )
        assert.deepEqual([await other.end(), await one.end()], [0, 0])
      }
    })
  })

  it('lets a thread end that waits for an answer, and takes no use for it', async () => {
    const one = start('node')
    await one.ask('make', { as: 't', shape: [2, 3], values: VALUES })
    const d = await one.ask('share', { of: 't' })
    const connections = () =>
      fs
        .readFileSync('/proc/net/unix', 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(d.socket)).length
    const { storages } = await quietMemory()
    one.process.kill('SIGSTOP') // it answers nobody
    const began = process.hrtime.bigint()
    const worker = new Worker(
      `
      const { cuda } = require('samebytes')
      cuda.open(require('node:worker_threads').workerData).catch(() => {})
    `,
      { eval: true, workerData: d },
    )
    const ended = once(worker, 'exit')
    await until(connections, (n) => n > 1)
    await worker.terminate()
    await ended
    assert.ok(process.hrtime.bigint() - began < 25_000_000_000n, 'it waited for an answer') // for which it has 30 s
    one.process.kill('SIGCONT')
    const t = await until(
      () =>
        cuda.open(d).catch(({ code }) => {
          assert.equal(code, 'ERR_STALE')
        }),
      Boolean,
    )
    assert.deepEqual(t.cpu().toArray(), VALUES)
    t.dispose()
    assert.ok((await quietMemory()).storages <= storages)
  })

  it('refuses what is no tensor on a GPU, and no number of uses', async () => {
    const one = start('node')
    await one.ask('make', { as: 'c', shape: [2], device: 'cpu', shared: false })
    await refused(one.ask('share', { of: 'c' }), 'ERR_DEVICE', /CPU/)
    await refused(one.ask('share', { of: 'missing' }), 'ERR_ARGUMENT')
    await one.ask('make', { as: 't', shape: [2] })
    for (const uses of [0, -1]) await refused(one.ask('share', { of: 't', uses }), 'ERR_BOUNDS')
    await refused(one.ask('share', { of: 't', uses: 1.5 }), 'ERR_BOUNDS')
    await refused(one.ask('share', { of: 't', uses: 'x' }), 'ERR_ARGUMENT')
  })
})
