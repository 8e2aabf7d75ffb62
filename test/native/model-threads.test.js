'use strict'
// Module.run on another thread: which tensors' bytes it uses where they are, what it stages, and what callers do meanwhile.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const {
  createNpy,
  empty,
  fromBlob,
  full,
  memory,
  ones,
  openNpy,
  saveNpySync,
  tensor,
  zeros,
} = require('samebytes')
const { Module } = require('samebytes/module')
const { generator, hex, nativeOnly, turn } = require('../setup')
const { isMarkBinding } = require('../../js/runtime/host')
const { onnx } = require('../onnx')
const { DOUBLE, same } = require('../models')

const SHAPE = [40, 50]
const COUNT = 2000
const THREADS = ['always', 'never', 'auto']

/** y = x + x, of two axes */
const TWICE = onnx({
  inputs: { x: 'float32[n, m]' },
  nodes: ['Add(x, x) -> y'],
  outputs: { y: 'float32[n, m]' },
})

/** y = x, multiplied by itself so often that it takes until somebody stops it: tests wait for no end of it */
const LONG = onnx({
  inputs: { x: 'float32[n, n]' },
  nodes: Array.from(
    { length: 400 },
    (_, i) => `MatMul(${i === 0 ? 'x' : `t${i - 1}`}, x) -> ${i === 399 ? 'y' : `t${i}`}`,
  ),
  outputs: { y: 'float32[n, n]' },
})

describe("Module's runs on a thread", function () {
  nativeOnly()
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-threads-'))
  })
  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  const load = (model, options) => Module.load(model, { runtime: 'library', ...options })
  const staged = () => memory().staged.bytes
  const copies = () => Object.values(memory().copied).reduce((sum, { bytes }) => sum + bytes, 0)

  /** What fn made samebytes stage and copy: { result, staged, copied }, in bytes. */
  async function counted(fn) {
    const before = [staged(), copies()]
    const result = await fn()
    return { result, staged: staged() - before[0], copied: copies() - before[1] }
  }

  // ---- Whose bytes they are ----

  let files = 0
  const newFile = () => path.join(folder, `${files++}.npy`)
  /** Kinds of bytes: make gives a tensor of SHAPE, and the buffer of V8's that a run on a thread marks from Node 24 on. */
  const KINDS = {
    'native memory': { make: () => zeros(SHAPE, { shared: true }) },
    "a SharedArrayBuffer of samebytes'": { make: () => zeros(SHAPE, { shared: 'sab' }) },
    "a caller's SharedArrayBuffer": {
      make: () => fromBlob(new Float32Array(new SharedArrayBuffer(COUNT * 4)), SHAPE),
    },
    'a growable SharedArrayBuffer': {
      make: () =>
        fromBlob(
          new Float32Array(
            new SharedArrayBuffer(COUNT * 4, { maxByteLength: COUNT * 8 }),
            0,
            COUNT,
          ),
          SHAPE,
        ),
    },
    "V8's memory, which nobody has seen": { make: () => zeros(SHAPE), isV8: true },
    "V8's memory, which somebody has seen": {
      make() {
        const t = zeros(SHAPE)
        assert.equal(t.data.length, COUNT)
        return t
      },
      isV8: true,
    },
    "a caller's ArrayBuffer": {
      make: () => fromBlob(new Float32Array(COUNT), SHAPE),
      isV8: true,
    },
    'a part of an ArrayBuffer': {
      make: () => fromBlob(new Float32Array(COUNT + 9).subarray(3, COUNT + 3), SHAPE),
      isV8: true,
    },
    "a view of native memory's middle": {
      make: () => zeros([60, 50], { shared: true }).narrow(0, 7, 40),
    },
    'a resizable ArrayBuffer': {
      make: () =>
        fromBlob(
          new Float32Array(new ArrayBuffer(COUNT * 4, { maxByteLength: COUNT * 8 }), 0, COUNT),
          SHAPE,
        ),
      isV8: true,
      isResizable: true,
    },
    'a mapped file that is written': {
      make: () => createNpy(newFile(), SHAPE, { dtype: 'float32' }),
    },
    "a caller's memory of WebAssembly": {
      make: () =>
        fromBlob(new Float32Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, COUNT), SHAPE),
      isV8: true,
      isResizable: true,
    },
  }
  const values = Float32Array.from({ length: COUNT }, (_, i) => i / 7 - 100)
  const expected = Buffer.from(values.map((x) => x + x).buffer).toString('hex')
  const isStaged = ({ isV8, isResizable }) =>
    isV8 === true && (!isMarkBinding() || isResizable === true)
  const canLeave = (buffer) => {
    try {
      structuredClone(buffer, { transfer: [buffer] })
      return true
    } catch {
      return false
    }
  }

  for (const [name, kind] of Object.entries(KINDS)) {
    it(`reads ${name}${isStaged(kind) ? ' by way of a copy, which is counted' : ' in place'}`, async () => {
      for (const thread of THREADS) {
        const module = await load(TWICE, { thread })
        const x = kind.make()
        x.copyFrom(tensor(values, SHAPE))
        const isSeen = !name.includes('nobody')
        const address = isSeen && x.dataPtr
        const run = await counted(() => module.run([x]))
        assert.equal(hex(run.result[0]), expected)
        assert.equal(run.staged, thread !== 'never' && isStaged(kind) ? x.nbytes : 0, thread)
        assert.equal(run.copied, 0)
        if (isSeen) assert.equal(x.dataPtr, address)
        x.data[0] = 5 // what the caller writes is what the next run reads
        const [again] = await module.run([x])
        assert.equal(again.data[0], 10)
        if (kind.isV8 && !name.includes('WebAssembly')) {
          assert.equal(canLeave(x.data.buffer), thread === 'never' || isStaged(kind), thread)
        }
        await module.dispose()
      }
    })

    it(`writes into ${name}${isStaged(kind) ? ' by way of a copy, which is counted' : ' in place'}`, async () => {
      const x = zeros(SHAPE, { shared: true })
      x.data.set(values)
      for (const thread of THREADS) {
        const module = await load(TWICE, { thread })
        const y = kind.make()
        const isSeen = !name.includes('nobody')
        const { data } = isSeen ? y : { data: null }
        const address = isSeen && y.dataPtr
        const run = await counted(() => module.run([x], { outputs: [y] }))
        assert.equal(run.result[0], y)
        assert.equal(hex(y), expected)
        if (data !== null) assert.equal(data[1], Math.fround(values[1] * 2))
        if (isSeen) assert.equal(y.dataPtr, address)
        assert.equal(run.staged, thread !== 'never' && isStaged(kind) ? y.nbytes : 0, thread)
        assert.equal(run.copied, 0)
        await module.dispose()
      }
    })
  }

  it('reads a mapped file that cannot be written, and refuses to write it', async () => {
    const file = newFile()
    saveNpySync(file, tensor(values, SHAPE))
    for (const thread of THREADS) {
      const module = await load(TWICE, { thread })
      const x = openNpy(file)
      const run = await counted(() => module.run([x]))
      assert.equal(hex(run.result[0]), expected)
      assert.deepEqual([run.staged, run.copied], [0, 0])
      await assert.rejects(module.run([zeros(SHAPE)], { outputs: [x] }), { code: 'ERR_READ_ONLY' })
      await module.dispose()
    }
  })

  it('refuses tensors that are not contiguous, wherever it runs', async () => {
    for (const thread of THREADS) {
      const module = await load(TWICE, { thread })
      const t = full(SHAPE, 2, { shared: true })
      for (const x of [
        t.transpose(0, 1),
        t.flip(0),
        ones([1, 50]).expand(SHAPE),
        t.narrow(1, 0, 2),
      ]) {
        await assert.rejects(module.run([x]), { code: 'ERR_SHAPE' })
        await assert.rejects(module.run([t], { outputs: [x] }), (error) =>
          ['ERR_SHAPE', 'ERR_OVERLAP', 'ERR_READ_ONLY'].includes(error.code),
        )
      }
      await module.dispose()
    }
  })

  it('makes new results of native memory, which can be posted, and copies none of their bytes', async () => {
    const module = await load(TWICE, { thread: 'always' })
    const x = zeros(SHAPE, { shared: true })
    for (let i = 0; i < 4; i++) {
      x.data.fill(i)
      const { result, copied } = await counted(() => module.run([x]))
      assert.equal(copied, 0)
      assert.equal(result[0].get(1, 1), 2 * i)
    }
  })

  it("lets a caller's memory of WebAssembly grow during a run and after it", async () => {
    for (const thread of THREADS) {
      const module = await load(TWICE, { thread })
      const wasm = new WebAssembly.Memory({ initial: 1 })
      const x = fromBlob(new Float32Array(wasm.buffer, 0, COUNT), SHAPE)
      x.data.set(values)
      const run = module.run([x])
      wasm.grow(1)
      await run.then(
        ([y]) => assert.equal(hex(y), expected),
        (error) => assert.equal(error.code, 'ERR_DETACHED'),
      )
      const y = fromBlob(new Float32Array(wasm.buffer, 0, COUNT), SHAPE)
      await module.run([zeros(SHAPE)], { outputs: [y] })
      wasm.grow(1)
      await module.dispose()
    }
  })

  // ---- The same bits ----

  it('gives the same bits as onnxruntime-node for every dtype, of extents of none and of scalars', async () => {
    const r = generator(58)
    const DTYPES = 'bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64'
    for (const dtype of DTYPES.split(' ')) {
      const of2 = same(dtype, '[a, b]')
      const scalar = same(dtype, '[]')
      for (const [model, shapes] of [
        [
          of2,
          [
            [3, 5],
            [0, 4],
            [1, 1],
            [300, 7],
            [3, 0],
            [3, 5],
          ],
        ],
        [scalar, [[], []]],
      ]) {
        const theirs = await Module.load(model, { runtime: 'binding' })
        for (const thread of THREADS) {
          const ours = await load(model, { thread })
          for (const shape of shapes) {
            for (const opts of [{}, { shared: true }, { shared: 'sab' }]) {
              const x = zeros(shape, { dtype, ...opts })
              const bytes = new Uint8Array(x.bytes.buffer, x.bytes.byteOffset, x.nbytes)
              for (let i = 0; i < bytes.length; i++) {
                bytes[i] = dtype === 'bool' ? r.next(2) : r.next(256)
              }
              const [want] = await theirs.run([x])
              const y = empty(shape, { dtype, ...opts })
              const [got] = await ours.run([x])
              const [written] = await ours.run([x], { outputs: [y] })
              assert.equal(written, y)
              for (const each of [got, written]) {
                assert.equal(each.dtype, dtype)
                assert.deepEqual([...each.shape], shape)
                assert.equal(hex(each), hex(want), `${dtype} ${shape} ${thread}`)
              }
            }
          }
          await ours.dispose()
        }
        await theirs.dispose()
      }
    }
  })

  it('finds results that are not of the shape that names promise, as onnxruntime-node does', async () => {
    const LYING = onnx({
      inputs: { x: 'float32[n]' },
      nodes: [['Concat(x, x) -> y', { axis: 0 }]],
      outputs: { y: 'float32[n]' },
    })
    for (const runtime of ['binding', 'library']) {
      const module = await Module.load(LYING, { runtime, logSeverityLevel: 4 })
      const y = zeros([4])
      for (let i = 1; i < 4; i++) {
        const [given] = await module.run([[i, 9]], { outputs: [y] })
        assert.equal(given, y)
        assert.deepEqual(y.toArray(), [i, 9, i, 9])
        const [made] = await module.run([[i, 9]])
        assert.deepEqual(made.toArray(), [i, 9, i, 9])
      }
      await module.dispose()
    }
  })

  // ---- Meanwhile ----

  /** A run that goes on until the signal stops it. */
  async function longRun(options = {}) {
    const module = await load(LONG, { thread: 'always' })
    const stop = new AbortController()
    const x = full([300, 300], 0.001, { shared: true })
    const outcome = module.run([x], { signal: stop.signal, ...options }).then(
      () => assert.fail('it was not stopped'),
      (error) => error,
    )
    await turn()
    return { module, stop, x, outcome }
  }

  it('ends for the reason of its signal, whatever that is', async () => {
    for (const reason of [
      new Error('enough'),
      Object.assign(new Error('mine'), { code: 'ERR_MODEL' }),
      null,
      undefined,
      'text',
    ]) {
      for (const isGiven of [false, true]) {
        const y = zeros([300, 300], { shared: true })
        const { stop, outcome, module } = await longRun(isGiven ? { outputs: [y] } : {})
        if (reason === undefined) stop.abort()
        else stop.abort(reason)
        assert.equal(await outcome, stop.signal.reason)
        await module.dispose()
      }
    }
  })

  it('runs nothing where the signal aborts in the turn of the call', async () => {
    for (const thread of THREADS) {
      const module = await load(DOUBLE, { thread })
      const y = full([4], 7, { shared: true })
      const stop = new AbortController()
      const outcome = module.run([[1, 2, 3, 4]], { outputs: [y], signal: stop.signal })
      stop.abort('enough')
      await assert.rejects(outcome, (reason) => reason === 'enough')
      assert.deepEqual(y.toArray(), [7, 7, 7, 7], thread)
      await module.dispose()
    }
  })
})
