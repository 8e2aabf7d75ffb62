'use strict'
// Which runtime a module has and why, session options as the library takes them, and runs that a signal ends.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { memory, ones, zeros } = require('samebytes')
const { Module } = require('samebytes/module')
const { onnx } = require('../onnx')
const { ADD, DOUBLE, same } = require('../models')
const { childJson, needs } = require('../setup')

const ROUNDS = 2000

/** y = x · w, so many times over: long enough that a signal comes in between */
const LONG = onnx({
  inputs: { x: 'float32[n, 256]' },
  nodes: Array.from({ length: ROUNDS }, (_, i) => {
    const [from, to] = [i === 0 ? 'x' : `h${i}`, i === ROUNDS - 1 ? 'y' : `h${i + 1}`]
    return `MatMul(${from}, w) -> ${to}`
  }),
  outputs: { y: 'float32[n, 256]' },
  constants: { w: { dtype: 'float32', shape: [256, 256], data: new Float32Array(256 * 256) } },
})

/** y = x + w, whose bytes are in a file beside it */
const SEPARATE = onnx({
  inputs: { x: 'float32[2]' },
  nodes: ['Add(x, w) -> y'],
  outputs: { y: 'float32[2]' },
  constants: { w: { dtype: 'float32', shape: [2], location: 'w.bin' } },
})

/** options of sessions: samebytes' own, and those of onnxruntime-node and -web */
const OWN = ['ort', 'runtime', 'thread', 'concurrency', 'weights', 'prepack']
const ONNXRUNTIMES =
  'executionProviders intraOpNumThreads interOpNumThreads freeDimensionOverrides graphOptimizationLevel enableCpuMemArena enableMemPattern executionMode optimizedModelFilePath enableProfiling profileFilePrefix logId logSeverityLevel logVerbosityLevel externalData preferredOutputLocation enableGraphCapture extra'.split(
    ' ',
  )

describe('what runs models', function () {
  needs("onnxruntime's library")

  /** loads, runs and disposes the model */
  async function runtimeWith(options, model = DOUBLE, input = [1, 2]) {
    const module = await Module.load(model, options)
    try {
      const [y] = await module.run([input])
      return { ...module.runtime, y: Array.isArray(y) ? y : y.toArray() }
    } finally {
      await module.dispose()
    }
  }

  it('is the library of onnxruntime-node, and says its version', async () => {
    const { name, version, reason, y } = await runtimeWith(undefined)
    assert.deepEqual([name, reason, y], ['library', '', [2, 4]])
    assert.equal(version, require('onnxruntime-node/package.json').version)
  })

  it('gives a copy of what it is', async () => {
    const module = await Module.load(DOUBLE)
    module.runtime.name = 'binding'
    assert.equal(module.runtime.name, 'library')
    await module.dispose()
    assert.equal(module.runtime.name, 'library')
  })

  const KNOWN = {
    'numbers of threads': { intraOpNumThreads: 1, interOpNumThreads: 1 },
    'an order of nodes': { executionMode: 'parallel' },
    'a level of optimisation': { graphOptimizationLevel: 'basic' },
    'no arena': { enableCpuMemArena: false, enableMemPattern: false },
    'what is logged': { logId: 'ours', logSeverityLevel: 3, logVerbosityLevel: 0 },
    'the CPU by its name': { executionProviders: ['cpu', { name: 'cpu' }] },
    'a value for an extent': { freeDimensionOverrides: { n: 2 } },
    'keys of onnxruntime': {
      extra: { session: { intra_op: { allow_spinning: '1' }, disable_prepacking: 1 } },
    },
    'undefined ones': { enableProfiling: undefined, anything: undefined },
  }
  for (const [what, options] of Object.entries(KNOWN)) {
    it(`is the library with session options: ${what}`, async () => {
      const { name, reason, y } = await runtimeWith({ ...options, runtime: 'library' })
      assert.deepEqual([name, reason, y], ['library', '', [2, 4]])
    })
  }

  it("has the library's own words where it refuses a key", async () => {
    const options = { extra: { session: { ['x'.repeat(5000)]: 1 } } }
    await assert.rejects(Module.load(DOUBLE, options), (error) =>
      /^ERR_(MODEL|UNSUPPORTED)$/.test(error.code),
    )
  })

  const OTHER = {
    enableProfiling: true,
    optimizedModelFilePath: '',
    intraOpNumThreads: 'two',
    graphOptimizationLevel: 'most',
    executionProviders: ['cuda'],
    extra: { session: 3n },
    freeDimensionOverrides: { n: -1 },
    nothingOfTheKind: 1,
    toString: 1,
  }
  for (const [name, value] of Object.entries(OTHER)) {
    it(`runtime: 'library' names the option ${name}, which it does not take`, async () => {
      await assert.rejects(
        Module.load(DOUBLE, { [name]: value, runtime: 'library' }),
        (error) =>
          error.code === 'ERR_ARGUMENT' && error.message.includes(`sessionOptions.${name}`),
      )
    })
  }

  it('is the binding where the library does not know an option, and says which', async () => {
    const { name, reason, y } = await runtimeWith({ nothingOfTheKind: 1 })
    assert.deepEqual([name, y], ['binding', [2, 4]])
    assert.match(reason, /sessionOptions\.nothingOfTheKind is no option/)
  })

  const MEANT = {
    concurency: 'concurrency',
    threads: 'thread',
    weight: 'weights',
    prepacked: 'prepack',
    Runtime: 'runtime',
  }
  for (const [name, meant] of Object.entries(MEANT)) {
    it(`asks whether ${meant} was meant by ${name}`, async () => {
      await assert.rejects(Module.load(DOUBLE, { [name]: 1 }), (error) => {
        assert.equal(error.code, 'ERR_ARGUMENT')
        return error.message.endsWith(`was '${meant}' meant?`)
      })
    })
  }

  it('takes no option of onnxruntime for one of its own that is misspelt', () => {
    const { nearest } = require('../../js/base/nearest')
    for (const name of ONNXRUNTIMES) assert.equal(nearest(name, OWN), null, name)
  })

  it('names the providers that the library does not have', async () => {
    await assert.rejects(
      Module.load(DOUBLE, { executionProviders: ['webgpu', 'cpu'], runtime: 'library' }),
      { code: 'ERR_ARGUMENT', message: /executionProviders is \["webgpu","cpu"\]/ },
    )
  })

  for (const runtime of ['library', 'binding']) {
    it(`names a file of weights that is missing, on the ${runtime}`, async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-'))
      try {
        const file = path.join(folder, 'm.onnx')
        fs.writeFileSync(file, SEPARATE)
        await assert.rejects(Module.load(file, { runtime }), (error) => {
          assert.equal(error.code, 'ERR_NOT_FOUND')
          return error.message.includes(path.join(folder, 'w.bin'))
        })
        fs.writeFileSync(path.join(folder, 'w.bin'), new Float32Array([3, 4]))
        const module = await Module.load(file, { runtime })
        const [y] = await module.run([[1, 2]])
        assert.deepEqual(y.toArray(), [4, 6])
        await module.dispose()
      } finally {
        fs.rmSync(folder, { recursive: true })
      }
    })
  }

  it('is the binding for strings; runtime: library refuses them by name', async () => {
    const model = same('string', '[?]')
    const { name, reason, y } = await runtimeWith(undefined, model, ['a', 'b'])
    assert.deepEqual([name, reason, y], ['binding', "'x' is of strings", ['a', 'b']])
    await assert.rejects(Module.load(model, { runtime: 'library' }), {
      code: 'ERR_UNSUPPORTED',
      message: /takes onnxruntime's library: 'x' is of strings/,
    })
  })

  it('is told of each model: one of strings leaves another to the library', async () => {
    const module = await Module.load({ forward: DOUBLE, words: same('string') })
    assert.deepEqual([module.runtime.name, module.runtime.reason], ['binding', "'x' is of strings"])
    assert.deepEqual((await module.forward([1]))[0].toArray(), [2])
    assert.deepEqual(await module.execute('words', ['a']), [['a']])
    await module.dispose()
  })

  it('is the binding where it is asked for, or an ort is given', async () => {
    const { name, reason } = await runtimeWith({ runtime: 'binding' })
    assert.deepEqual([name, reason], ['binding', "the option runtime asks for 'binding'"])
    const given = await runtimeWith({ ort: require('onnxruntime-node') })
    assert.deepEqual(
      [given.name, given.reason],
      ['binding', 'the option ort is another onnxruntime'],
    )
    for (const options of [{ runtime: 'library' }, { thread: 'always' }]) {
      await assert.rejects(Module.load(DOUBLE, { ...options, ort: require('onnxruntime-node') }), {
        code: 'ERR_UNSUPPORTED',
      })
    }
  })

  it('refuses other words and numbers by name', async () => {
    for (const options of [
      { runtime: 'cpu' },
      { runtime: null },
      { thread: 'sometimes' },
      { concurrency: 0 },
      { concurrency: 1.5 },
      { concurrency: '2' },
    ]) {
      const [name] = Object.keys(options)
      await assert.rejects(
        Module.load(DOUBLE, options),
        (error) =>
          error.code === 'ERR_ARGUMENT' && error.message.startsWith(`sessionOptions.${name} is`),
      )
    }
  })

  it('falls back where there is no library, and says why: SAMEBYTES_ONNXRUNTIME', async () => {
    const program = `
      const { Module } = require('samebytes/module')
      const { DOUBLE } = require('./test/models')
      ;(async () => {
        const module = await Module.load(DOUBLE)
        const asked = await Module.load(DOUBLE, { runtime: 'library' }).catch(({ code, message }) => [code, message])
        const [y] = await module.run([[1, 2]])
        console.log(JSON.stringify({ ...module.runtime, asked, y: y.toArray() }))
      })()`
    const missing = await childJson(program, {
      env: { SAMEBYTES_ONNXRUNTIME: '/none/libonnxruntime.so.1' },
    })
    assert.deepEqual(
      [missing.name, missing.asked[0], missing.y],
      ['binding', 'ERR_UNSUPPORTED', [2, 4]],
    )
    assert.match(missing.reason, /\/none\/libonnxruntime/)
    const told = await childJson(program, { env: { SAMEBYTES_ONNXRUNTIME: 'binding' } })
    assert.deepEqual(
      [told.name, told.reason, told.y],
      ['binding', "SAMEBYTES_ONNXRUNTIME is 'binding'", [2, 4]],
    )
  })

  it('a signal ends a run at its node, and the tensors are busy until then', async () => {
    const module = await Module.load(LONG, { thread: 'always', intraOpNumThreads: 1 })
    const [x, y] = [ones([256, 256]), zeros([256, 256], { shared: true })]
    const stop = new AbortController()
    const run = module.run([x], { outputs: [y], signal: stop.signal })
    const next = module.run([x], { outputs: [zeros([256, 256])] })
    assert.throws(() => y.fill(1), { code: 'ERR_BUSY' })
    await new Promise((resolve) => setTimeout(resolve, 10))
    stop.abort(new Error('enough'))
    assert.throws(() => y.fill(1), { code: 'ERR_BUSY' })
    await assert.rejects(run, { message: 'enough' })
    y.fill(1)
    assert.equal((await next)[0].get(0, 0), 0) // it is not ended by the other one's
    await module.dispose()
    assert.equal(memory().inFlight, 0)
  })

  it('numbers and lists are read where they are, and small results of a thread are memory of C', async () => {
    const module = await Module.load(ADD, { thread: 'always' })
    module.setInput('b', [[1, 2, 3]])
    const before = memory().staged.count
    const [c] = await module.run([[[1, 1, 1]]])
    const [d] = await module.run([c])
    assert.equal(memory().staged.count, before)
    assert.deepEqual(d.toArray(), [[3, 5, 7]])
    await module.dispose()
  })

  it('refuses a signal that has aborted, before and after its turn', async () => {
    const module = await Module.load(ADD, { thread: 'always' })
    const x = ones([2, 3])
    const stop = new AbortController()
    const first = module.run([x, x])
    const second = module.run([x, x], { signal: stop.signal })
    stop.abort()
    assert.equal((await first)[0].get(0, 0), 2)
    await assert.rejects(second, { name: 'AbortError' })
    await assert.rejects(module.run([x, x], { signal: stop.signal }), { name: 'AbortError' })
    await module.dispose()
  })
})
