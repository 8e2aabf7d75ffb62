'use strict'
// Models over onnxruntime-web on WebGPU, in Chromium, on its adapter that computes on the CPU; init.js runs them.
const assert = require('node:assert/strict')
const { onnx } = require('../onnx')
const { AS_SEEN } = require('./bundle')

/* global load, refusal, plain, startGpu, turn */

/** Run in the page first: startGpu gives samebytes, onnxruntime and how models are loaded that leave their outputs on the GPU; null: there is no WebGPU. */
function prepare(folder) {
  globalThis.startGpu = async (options) => {
    if (!(await navigator.gpu?.requestAdapter())) return null
    const [samebytes, { Module }, ort] = [
      await load(),
      await import('/dist/samebytes-module.mjs'),
      await import(`${folder}ort.webgpu.min.mjs`),
    ]
    await samebytes.init(options)
    ort.env.wasm.wasmPaths = folder
    ort.env.wasm.numThreads = 1
    ort.env.logLevel = 'error'
    const onGpu = { executionProviders: ['webgpu'], preferredOutputLocation: 'gpu-buffer' }
    const loadModel = (bytes, theirs = ort, options = onGpu) =>
      Module.load(Uint8Array.from(bytes), { ort: theirs, ...options })
    return { ...samebytes, ort, loadModel }
  }
}

/** The page's own function with the models, whose result is null without WebGPU, as in Firefox. */
async function inPage(page, models, fn) {
  await page.evaluate(prepare, `/files${AS_SEEN}/node_modules/onnxruntime-web/dist/`)
  const found = await page.evaluate(fn, models)
  if (found === null) {
    assert.match(await page.browser().version(), /firefox/i, 'Chromium has no WebGPU')
  }
  return found
}

/** A model of a, by its nodes and the names of its outputs; what is as long as a, onnxruntime does not tell before a run. */
const modelOf = (nodes, ...outputs) => [
  ...onnx({
    inputs: { a: 'float32[?]' },
    nodes,
    outputs: Object.fromEntries(outputs.map((name) => [name, 'float32[?]'])),
  }),
]

const IDENTITY = modelOf(['Identity(a) -> b'], 'b')
const PASSED_ON = modelOf(['Identity(a) -> b'], 'a', 'b')
const TWO = modelOf(['Add(a, a) -> b', 'Mul(a, a) -> c'], 'b', 'c')

const TESTS = [
  [
    'outputs on WebGPU stay there when they are fed on, and come to the CPU by toAsync',
    async (page) => {
      const found = await inPage(page, IDENTITY, async (model) => {
        const { Tensor, loadModel, memory, tensor, zeros } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const module = await loadModel(model)
        const [first] = await module.forward(tensor([1, 2]))
        const { copied, staged } = memory()
        const [second] = await module.forward(first)
        const moved =
          JSON.stringify(memory().copied) !== JSON.stringify(copied) ||
          JSON.stringify(memory().staged) !== JSON.stringify(staged)
        const t = await second.toAsync('cpu')
        t.set(9, 0) // changes nothing there
        const again = await second.toAsync()
        const given = zeros([2])
        const [written] = await module.run([second], { outputs: [given] })
        const kinds = [
          Tensor.isTensor(first),
          Tensor.isTensor(t),
          first.location,
          first.gpuBuffer.constructor.name,
          second.dtype,
          second.shape.join(),
          written === given,
          moved,
        ]
        const elsewhere = plain(await second.toAsync('cuda').catch((error) => error))
        const pending = module.forward(second)
        second.dispose() // while it waits
        second.dispose()
        const [third] = await pending
        const errors = [
          await refusal(() => module.forward(second)),
          await refusal(() => second.toAsync('cpu')),
          await refusal(() => second.gpuBuffer),
        ]
        const { toAsync, dispose } = third
        const strange = [
          await refusal(() => toAsync.call({})),
          await refusal(() => dispose.call(module)),
          await refusal(() => Object.create(third).shape),
        ]
        return {
          kinds,
          elsewhere,
          errors,
          strange,
          isDisposed: second.isDisposed,
          values: [...(await Promise.all([again, given, third.toAsync('cpu')]))].map((each) =>
            each.toArray().join(),
          ),
        }
      })
      if (found === null) return
      const { kinds, elsewhere, errors, strange, isDisposed, values } = found
      assert.deepEqual(kinds, [false, true, 'gpu-buffer', 'GPUBuffer', 'float32', '2', true, false])
      assert.deepEqual(
        [elsewhere.code, elsewhere.message],
        ['ERR_DEVICE', 'device is "cuda"; outputs on a GPU go to \'cpu\''],
      )
      assert.deepEqual(
        errors.map(({ code }) => code),
        Array(3).fill('ERR_DISPOSED'),
      )
      assert.match(errors[0].message, /^input 'a' \(0\): the output on the GPU was disposed$/)
      assert.deepEqual(
        strange.map(({ code }) => code),
        Array(3).fill('ERR_ARGUMENT'),
      )
      assert.equal(isDisposed, true)
      assert.deepEqual(values, Array(3).fill('1,2'))
    },
    true,
  ],
  [
    'an output on WebGPU that is disposed while toAsync reads it is kept until it was read',
    async (page) => {
      const found = await inPage(page, IDENTITY, async (model) => {
        const { loadModel, memory, ort, tensor } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        let answer
        const device = new Promise((resolve) => {
          answer = resolve
        })
        const module = await loadModel(model, { ...ort, env: { webgpu: { device } } }) // where toAsync looks for it
        const [output] = await module.forward(tensor([1, 2]))
        const before = memory().copied.toAsync ?? { count: 0, bytes: 0 }
        const pending = output.toAsync('cpu')
        output.dispose()
        for (let i = 0; i < 3; i++) await module.forward(tensor([7, 7])) // a released buffer would be written again, or be gone
        answer(await ort.env.webgpu.device)
        const t = await pending
        const after = memory().copied.toAsync
        return {
          values: t.toArray(),
          copies: [after.count - before.count, after.bytes - before.bytes],
        }
      })
      if (found !== null) assert.deepEqual(found, { values: [1, 2], copies: [1, 8] })
    },
    true,
  ],
  [
    'outputs on WebGPU outlive their module, whose session is released with the last of them',
    async (page) => {
      const found = await inPage(page, IDENTITY, async (model) => {
        const { loadModel, ort, tensor } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        let released = 0
        const create = async (...args) => {
          const session = await ort.InferenceSession.create(...args)
          const release = session.release.bind(session)
          session.release = () => {
            released++
            return release()
          }
          return session
        }
        const module = await loadModel(model, { ...ort, InferenceSession: { create } })
        const [first] = await module.forward(tensor([1, 2]))
        const [second] = await module.forward(first)
        await module.dispose()
        const counts = [released]
        const other = await loadModel(model)
        const pending = other.forward(first)
        first.dispose()
        second.dispose()
        counts.push(released)
        const [third] = await pending
        counts.push(released)
        await (await loadModel(model)).dispose()
        return { counts, values: (await third.toAsync()).toArray() }
      })
      if (found !== null) assert.deepEqual(found, { counts: [0, 0, 1], values: [1, 2] })
    },
    true,
  ],
  [
    'an output on WebGPU that is the input itself keeps the bytes when that is disposed',
    async (page) => {
      const found = await inPage(page, { IDENTITY, PASSED_ON }, async (models) => {
        const { loadModel, tensor } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const [module, passing] = [
          await loadModel(models.IDENTITY),
          await loadModel(models.PASSED_ON),
        ]
        const [input] = await module.forward(tensor([1, 2]))
        const [same] = await passing.forward(input)
        input.dispose()
        for (let i = 0; i < 3; i++) await module.forward(tensor([7, 7])) // would be written there
        return (await same.toAsync()).toArray()
      })
      if (found !== null) assert.deepEqual(found, [1, 2])
    },
    true,
  ],
  [
    'modules on WebGPU that are called at the same time run one after the other, and go on after one that failed',
    async (page) => {
      const found = await inPage(page, { IDENTITY, TWO }, async (models) => {
        const { loadModel, ort, tensor, zeros } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const onCpu = await loadModel(models.TWO, ort, {}) // has the same memory
        const modules = [
          await loadModel(models.IDENTITY),
          await loadModel(models.TWO),
          onCpu,
          await loadModel(models.IDENTITY),
        ]
        const given = modules.map(() => zeros([2]))
        const failing = modules[0]
          .run([tensor([1, 2])], { outputs: [zeros([1])] })
          .catch(({ code }) => code)
        const runs = modules.map((module, i) =>
          module.run([tensor([i, i + 1])], { outputs: [given[i]] }),
        )
        const [more] = await modules[1].forward(tensor([7, 8]))
        await Promise.all(runs)
        const { code, message } = await refusal(() => onCpu.forward(more))
        return [
          await failing,
          ...given.map((t) => t.toArray().join()),
          (await more.toAsync()).toArray().join(),
          code,
          message,
        ]
      })
      if (found === null) return
      assert.match(
        found.pop(),
        /^input 'a' \(0\): the output is on the GPU, which this module does not use \(executionProviders: \['webgpu'\]\); await toAsync\('cpu'\)/,
      )
      assert.deepEqual(found, ['ERR_SHAPE', '0,1', '2,4', '4,6', '3,4', '14,16', 'ERR_DEVICE'])
    },
    true,
  ],
  [
    'modules on WebGPU can be loaded at the same time, also while one runs, and after one that could not',
    async (page) => {
      const found = await inPage(page, { IDENTITY, TWO }, async (models) => {
        const { loadModel, ort, tensor } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const bad = loadModel([1, 2, 3]).catch(({ code }) => code)
        const [one, two, onCpu] = await Promise.all([
          loadModel(models.IDENTITY),
          loadModel(models.TWO),
          loadModel(models.TWO, ort, {}),
        ])
        const [[first], third, [second]] = await Promise.all([
          one.forward(tensor([1, 2])),
          loadModel(models.IDENTITY),
          two.forward(tensor([3, 4])),
        ])
        const outputs = [first, second, ...(await third.forward(tensor([5, 6])))]
        const [sum] = await onCpu.forward(tensor([7, 8]))
        return [
          await bad,
          ...(await Promise.all(
            outputs.map(async (output) => (await output.toAsync()).toArray().join()),
          )),
          sum.toArray().join(),
        ]
      })
      if (found !== null) assert.deepEqual(found, ['ERR_FORMAT', '1,2', '6,8', '5,6', '14,16'])
    },
    true,
  ],
  [
    'outputs on WebGPU of a run that is aborted as it ends are disposed',
    async (page) => {
      const found = await inPage(page, IDENTITY, async (model) => {
        const { loadModel, ort, tensor } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const module = await loadModel(model)
        const controller = new AbortController()
        let disposed = 0
        const { run } = ort.InferenceSession.prototype
        const { dispose } = ort.Tensor.prototype
        ort.Tensor.prototype.dispose = function () {
          disposed++
          return dispose.call(this)
        }
        ort.InferenceSession.prototype.run = async function (...list) {
          const results = await run.apply(this, list)
          controller.abort(new Error('mine'))
          return results
        }
        try {
          const { message } = await refusal(() =>
            module.run([tensor([1, 2])], { signal: controller.signal }),
          )
          return { message, disposed }
        } finally {
          Object.assign(ort.Tensor.prototype, { dispose })
          Object.assign(ort.InferenceSession.prototype, { run })
        }
      })
      if (found !== null) assert.deepEqual(found, { message: 'mine', disposed: 1 })
    },
    true,
  ],
  [
    'outputs on WebGPU that nobody disposes are collected in time',
    async (page) => {
      const most = await inPage(page, IDENTITY, async (model) => {
        const { loadModel, ort, zeros } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const { dispose } = ort.Tensor.prototype
        let living = 0
        ort.Tensor.prototype.dispose = function () {
          living--
          return dispose.call(this)
        }
        const module = await loadModel(model)
        const t = zeros([2 ** 20])
        let most = 0
        for (let i = 0; i < 200; i++) {
          await module.forward(t)
          most = Math.max(most, ++living)
          await turn()
        }
        return most
      })
      if (most !== null) assert.ok(most < 64, `${most} of 4 MiB`)
    },
    true,
  ],
  [
    'inputs in shared memory are not staged where outputs stay on WebGPU',
    async (page) => {
      const found = await inPage(page, IDENTITY, async (model) => {
        const { loadModel, memory, tensor } = (await startGpu({ shared: true })) ?? {}
        if (loadModel === undefined) return null
        const module = await loadModel(model)
        const t = tensor([1, 2])
        const { bytes } = memory().staged
        const [output] = await module.forward(t)
        return { staged: memory().staged.bytes - bytes, values: (await output.toAsync()).toArray() }
      })
      if (found !== null) assert.deepEqual(found, { staged: 0, values: [1, 2] })
    },
    true,
  ],
  [
    'a run that fails after it left outputs on WebGPU releases them; what WebGPU refuses is an error, not zeros',
    async (page) => {
      const found = await inPage(page, TWO, async (model) => {
        const { loadModel, ort, tensor, zeros } = (await startGpu()) ?? {}
        if (loadModel === undefined) return null
        const module = await loadModel(model)
        let disposed = 0
        const { dispose } = ort.Tensor.prototype
        ort.Tensor.prototype.dispose = function () {
          disposed++
          return dispose.call(this)
        }
        const small = await refusal(() =>
          module.run([tensor([1, 2])], { outputs: { b: zeros([1]) } }),
        )
        ort.Tensor.prototype.dispose = dispose
        const [b, c] = await module.forward(tensor([1, 2]))
        c.gpuBuffer.destroy()
        const destroyed = await refusal(() => c.toAsync())
        const values = (await b.toAsync()).toArray()
        const device = await ort.env.webgpu.device
        device.destroy()
        const lost = [
          await refusal(() => b.toAsync()),
          await refusal(() => module.run([tensor([1, 2])], { outputs: { b: zeros([2]) } })),
        ]
        return { disposed, values, errors: [small, destroyed, ...lost] }
      })
      if (found === null) return
      const { disposed, values, errors } = found
      assert.deepEqual(
        errors.map(({ code }) => code),
        ['ERR_SHAPE', 'ERR_DEVICE', 'ERR_DEVICE', 'ERR_MODEL'],
      )
      assert.match(errors[1].message, /^the output could not be read from the GPU: .*destroyed/)
      assert.deepEqual(values, [2, 4])
      assert.equal(disposed, 1, 'the output that stayed on the GPU')
    },
    true,
  ],
]

module.exports = { TESTS }
