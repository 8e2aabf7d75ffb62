'use strict'
// Weights that a program gives, what kernels make of them, and sessions that several threads share.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const {
  fromBlob,
  memory,
  ones,
  openSafetensors,
  saveSafetensorsSync,
  unshare,
  zeros,
} = require('samebytes')
const { Module } = require('samebytes/module')
const { onnx } = require('../onnx')
const { ADD, DOUBLE, same } = require('../models')
const { childJson, nativeOnly } = require('../setup')

const N = 64

/** y = x · v · w; the weights are zeros in the model itself */
const PRODUCTS = onnx({
  inputs: { x: `float32[n, ${N}]` },
  nodes: ['MatMul(x, v) -> h', 'MatMul(h, w) -> y'],
  outputs: { y: `float32[n, ${N}]` },
  constants: Object.fromEntries(
    ['v', 'w'].map((name) => [
      name,
      { dtype: 'float32', shape: [N, N], data: new Float32Array(N * N) },
    ]),
  ),
})

/** integers, whose products and sums are exact in any order */
const filled = (seed) =>
  fromBlob(
    Float32Array.from({ length: N * N }, (_, i) => ((i * seed) % 7) - 3),
    [N, N],
  )

function product(x, ...matrices) {
  return matrices.reduce(
    (row, m) =>
      Array.from({ length: N }, (_, j) =>
        row.reduce((sum, value, i) => sum + value * m.get(i, j), 0),
      ),
    x,
  )
}

describe('weights of a program', function () {
  nativeOnly()
  let folder, file
  const v = filled(3)
  const w = filled(5)
  const x = ones([1, N])
  const right = product(new Array(N).fill(1), v, w)

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-weights-'))
    file = path.join(folder, 'w.safetensors')
    saveSafetensorsSync(file, { v, w, another: zeros([2]) })
  })
  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  async function resultWith(options) {
    const module = await Module.load(PRODUCTS, options)
    try {
      return (await module.run([x]))[0].toArray()[0]
    } finally {
      await module.dispose()
    }
  }

  for (const prepack of ['each', 'shared', 'none']) {
    it(`are read where a file is mapped, prepack: '${prepack}'`, async () => {
      const weights = openSafetensors(file)
      const before = memory().copied.load?.bytes ?? 0
      assert.deepEqual(await resultWith({ weights, prepack }), right)
      assert.deepEqual(await resultWith({ weights, prepack }), right)
      assert.equal(memory().copied.load?.bytes ?? 0, before)
      weights.dispose()
    })
  }

  it('stay with the session when the file object and its tensors are disposed', async () => {
    const weights = openSafetensors(file)
    const module = await Module.load(PRODUCTS, { weights, prepack: 'none' })
    weights.dispose()
    assert.deepEqual((await module.run([x]))[0].toArray()[0], right)
    await module.dispose()
  })

  it("are copied, and counted, where they are JavaScript's", async () => {
    const before = memory().copied.load?.bytes ?? 0
    assert.deepEqual(await resultWith({ weights: { v, w } }), right)
    assert.deepEqual(
      await resultWith({
        weights: new Map([
          ['v', v],
          ['w', w],
        ]),
      }),
      right,
    )
    assert.equal((memory().copied.load?.bytes ?? 0) - before, 4 * N * N * 4)
  })

  it('may be some of them: the model has the others', async () => {
    assert.deepEqual(await resultWith({ weights: { v } }), new Array(N).fill(0))
  })

  const WRONG = {
    'none of the names': [{ u: v }, 'ERR_NOT_FOUND', /none of the model's: 'v', 'w'/],
    'another dtype': [
      { v: zeros([N, N], { dtype: 'int32' }) },
      'ERR_DTYPE',
      /'v' is of float32 in the model/,
    ],
    'another shape': [{ v: zeros([N, 2]) }, 'ERR_SHAPE', /'v' has shape \[64, 64\]/],
    'no tensor': [{ v: [1] }, 'ERR_ARGUMENT', /'v' is/],
    'no object': ['v', 'ERR_ARGUMENT', /weights is/],
    'a list': [[v], 'ERR_ARGUMENT', /weights is/],
  }
  for (const [what, [weights, code, message]] of Object.entries(WRONG)) {
    it(`are refused by name before anything is loaded: ${what}`, async () => {
      const before = memory()
      await assert.rejects(Module.load(PRODUCTS, { weights }), { code, message })
      assert.equal(memory().inFlight, before.inFlight)
    })
  }

  it("prepack: 'shared' takes weights; the binding has neither", async () => {
    await assert.rejects(Module.load(PRODUCTS, { prepack: 'shared' }), { code: 'ERR_ARGUMENT' })
    await assert.rejects(Module.load(PRODUCTS, { prepack: 'all' }), { code: 'ERR_ARGUMENT' })
    for (const options of [{ weights: { v } }, { prepack: 'none' }]) {
      await assert.rejects(Module.load(PRODUCTS, { ...options, runtime: 'binding' }), {
        code: 'ERR_UNSUPPORTED',
      })
    }
  })

  it('a file that gets shorter under a session is ERR_IO', async () => {
    const told = await childJson(`
      const fs = require('node:fs')
      const { ones, openSafetensors } = require('samebytes')
      const { Module } = require('samebytes/module')
      const { onnx } = require('./test/onnx')
      const n = 1024
      const model = onnx({
        inputs: { x: 'float32[n, 1024]' }, nodes: ['MatMul(x, v) -> y'], outputs: { y: 'float32[n, 1024]' },
        constants: { v: { dtype: 'float32', shape: [n, n], data: new Float32Array(n * n) } }
      })
      ;(async () => {
        const { saveSafetensorsSync, zeros } = require('samebytes')
        const file = ${JSON.stringify(path.join(folder, 'short.safetensors'))}
        saveSafetensorsSync(file, { v: zeros([n, n]) })
        const module = await Module.load(model, { weights: openSafetensors(file), prepack: 'none' })
        const x = ones([1, n])
        await module.run([x])
        fs.truncateSync(file, 8192)
        const seen = []
        for (const thread of [0, 1]) seen.push(await module.run([x]).then(() => 'well', ({ code }) => code))
        console.log(JSON.stringify(seen))
      })()`)
    assert.deepEqual(told, ['ERR_IO', 'ERR_IO'])
  })
})

describe('a module of several threads', function () {
  nativeOnly()

  /** runs code in a worker, which has workerData.token, and gives what it posts */
  function inWorker(code, token) {
    const worker = new Worker(
      `const { parentPort, workerData: { token } } = require('node:worker_threads')
       const { Module } = require('samebytes/module')
       ;(async () => { ${code} })().catch(({ code, message }) => parentPort.postMessage([code, message]))`,
      { eval: true, workerData: { token } },
    )
    return new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  }

  it('has one session, and inputs, order and end of its own in each', async () => {
    const module = await Module.load(
      { forward: DOUBLE, sum: ADD },
      { concurrency: 2, thread: 'always' },
    )
    module.setInput('x', [1, 2])
    const token = module.share({ uses: 2 })
    const code = `
      const module = Module.fromShared(token)
      const missing = await module.run([]).catch(({ code }) => code)
      const [y] = await module.run([[3, 4, 5]])
      const [c] = await module.execute('sum', [[1, 2, 3]], [[4, 5, 6]])
      const said = [module.methodNames, missing, y.toArray(), c.toArray(), module.runtime.name]
      await module.dispose()
      parentPort.postMessage(said)`
    const expected = [['forward', 'sum'], 'ERR_ARGUMENT', [6, 8, 10], [[5, 7, 9]], 'library']
    assert.deepEqual(await Promise.all([inWorker(code, token), inWorker(code, token)]), [
      expected,
      expected,
    ])
    assert.deepEqual((await module.run([]))[0].toArray(), [2, 4])
    await module.dispose()
    assert.equal(memory().inFlight, 0)
  })

  it('lives on where the first module was disposed', async () => {
    const module = await Module.load(DOUBLE)
    const token = module.share()
    await module.dispose()
    const other = Module.fromShared(token)
    assert.deepEqual((await other.forward([4]))[0].toArray(), [8])
    await other.dispose()
    assert.throws(() => Module.fromShared(token), { code: 'ERR_STALE' })
  })

  it('counts tokens that nobody takes; unshare takes them back', async () => {
    const module = await Module.load(DOUBLE)
    const before = memory().inFlight
    const token = module.share({ uses: 3 })
    assert.equal(memory().inFlight, before + 3)
    await Module.fromShared(structuredClone(token)).dispose()
    unshare(token)
    assert.equal(memory().inFlight, before)
    assert.throws(() => Module.fromShared(token), { code: 'ERR_STALE' })
    assert.throws(() => unshare(token), { code: 'ERR_STALE' })
    await module.dispose()
    assert.throws(() => module.share(), { code: 'ERR_DISPOSED' })
  })

  it('refuses what is no token of a module', async () => {
    const { share } = require('samebytes')
    const module = await Module.load(DOUBLE)
    const token = module.share()
    const tensors = share(zeros([2], { shared: true }))
    for (const [wrong, code] of [
      [null, 'ERR_ARGUMENT'],
      [{}, 'ERR_ARGUMENT'],
      [tensors, 'ERR_ARGUMENT'],
      [{ ...token, samebytes: '0' }, 'ERR_UNSUPPORTED'],
      [{ ...token, home: 1 }, 'ERR_STALE'],
      [{ ...token, concurrency: 0 }, 'ERR_ARGUMENT'],
      [{ ...token, thread: 'x' }, 'ERR_ARGUMENT'],
      [{ ...token, methods: [{ name: 'forward', key: 12345 }] }, 'ERR_STALE'],
      [{ ...token, methods: [{ name: 'forward', key: tensors.key }] }, 'ERR_ARGUMENT'],
    ]) {
      assert.throws(() => Module.fromShared(wrong), { code }, JSON.stringify(wrong))
    }
    for (const uses of [0, -1]) assert.throws(() => module.share({ uses }), { code: 'ERR_BOUNDS' })
    assert.throws(() => module.share({ uses: '1' }), { code: 'ERR_ARGUMENT' })
    await Module.fromShared(token).dispose()
    unshare(tensors)
    await module.dispose()
  })

  it('is not of the binding', async () => {
    const module = await Module.load(same('string'))
    assert.throws(() => module.share(), { code: 'ERR_UNSUPPORTED', message: /'x' is of strings/ })
    await module.dispose()
  })

  it('goes on where the thread that loaded it has ended', async () => {
    const token = await inWorker(
      `const { DOUBLE } = require(${JSON.stringify(path.join(__dirname, '../models'))})
       parentPort.postMessage((await Module.load(DOUBLE)).share())`,
    )
    const module = Module.fromShared(token)
    assert.deepEqual((await module.forward([1]))[0].toArray(), [2])
    await module.dispose()
  })
})
