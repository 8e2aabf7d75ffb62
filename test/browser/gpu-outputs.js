'use strict'
// Models over onnxruntime-web on WebGPU, in Chromium, on its adapter that computes on the CPU; init.js runs them.
const assert = require('node:assert/strict')
const { AS_SEEN } = require('./bundle')

/* global load, refusal, plain */

/** b = Identity(a), float32[2] */
const IDENTITY = '08083a3b0a100a016112016222084964656e74697479120567726170685a0f0a0161120a0a08080112040a020802620f0a0162120a0a08080112040a0208024202100d'

const TESTS = [
  ['outputs on WebGPU stay there when they are fed on, and come to the CPU by toAsync', async page => {
    const found = await page.evaluate(async ({ folder, model }) => {
      if (!await navigator.gpu?.requestAdapter()) return null
      const [{ Tensor, init, memory, tensor, zeros }, { Module }, ort] = [await load(), await import('/dist/samebytes-module.mjs'), await import(`${folder}ort.webgpu.min.mjs`)]
      await init()
      ort.env.wasm.wasmPaths = folder
      ort.env.wasm.numThreads = 1
      ort.env.logLevel = 'error'
      const bytes = Uint8Array.from(model.match(/../g), pair => parseInt(pair, 16))
      const module = await Module.load(bytes, { ort, executionProviders: ['webgpu'], preferredOutputLocation: 'gpu-buffer' })
      const [first] = await module.forward(tensor([1, 2]))
      const { copied, staged } = memory()
      const [second] = await module.forward(first)
      const moved = JSON.stringify(memory().copied) !== JSON.stringify(copied) || JSON.stringify(memory().staged) !== JSON.stringify(staged)
      const t = await second.toAsync('cpu')
      t.set(9, 0) // changes nothing there
      const again = await second.toAsync()
      const given = zeros([2])
      const [written] = await module.run([second], { outputs: [given] })
      const kinds = [Tensor.isTensor(first), Tensor.isTensor(t), first.location, first.gpuBuffer.constructor.name, second.dtype, second.shape.join(), written === given, moved]
      const elsewhere = plain(await second.toAsync('cuda').catch(error => error))
      const pending = module.forward(second)
      second.dispose() // while it waits
      second.dispose()
      const [third] = await pending
      const errors = [await refusal(() => module.forward(second)), await refusal(() => second.toAsync('cpu')), await refusal(() => second.gpuBuffer)]
      return { kinds, elsewhere, errors, isDisposed: second.isDisposed, values: [...await Promise.all([again, given, third.toAsync('cpu')])].map(each => each.toArray().join()) }
    }, { folder: `/files${AS_SEEN}/node_modules/onnxruntime-web/dist/`, model: IDENTITY })
    if (found === null) return assert.match(await page.browser().version(), /firefox/i, 'Chromium has no WebGPU')
    const { kinds, elsewhere, errors, isDisposed, values } = found
    assert.deepEqual(kinds, [false, true, 'gpu-buffer', 'GPUBuffer', 'float32', '2', true, false])
    assert.deepEqual([elsewhere.code, elsewhere.message], ['ERR_DEVICE', 'device is "cuda"; outputs on a GPU go to \'cpu\''])
    assert.deepEqual(errors.map(({ code }) => code), Array(3).fill('ERR_DISPOSED'))
    assert.match(errors[0].message, /^input 'a' \(0\): the output on the GPU was disposed$/)
    assert.equal(isDisposed, true)
    assert.deepEqual(values, Array(3).fill('1,2'))
  }, true],
  ['an output on WebGPU that is disposed while toAsync reads it is kept until it was read', async page => {
    const found = await page.evaluate(async ({ folder, model }) => {
      if (!await navigator.gpu?.requestAdapter()) return null
      const [{ init, memory, tensor }, { Module }, ort] = [await load(), await import('/dist/samebytes-module.mjs'), await import(`${folder}ort.webgpu.min.mjs`)]
      await init()
      ort.env.wasm.wasmPaths = folder
      ort.env.wasm.numThreads = 1
      ort.env.logLevel = 'error'
      let answer
      const device = new Promise(resolve => { answer = resolve })
      const late = { ...ort, env: { webgpu: { device } } } // where toAsync looks for it
      const module = await Module.load(Uint8Array.from(model.match(/../g), pair => parseInt(pair, 16)), { ort: late, executionProviders: ['webgpu'], preferredOutputLocation: 'gpu-buffer' })
      const [output] = await module.forward(tensor([1, 2]))
      const before = memory().copied.toAsync ?? { count: 0, bytes: 0 }
      const pending = output.toAsync('cpu')
      output.dispose()
      for (let i = 0; i < 3; i++) await module.forward(tensor([7, 7])) // a released buffer would be written again, or be gone
      answer(await ort.env.webgpu.device)
      const t = await pending
      const after = memory().copied.toAsync
      return { values: t.toArray(), copies: [after.count - before.count, after.bytes - before.bytes] }
    }, { folder: `/files${AS_SEEN}/node_modules/onnxruntime-web/dist/`, model: IDENTITY })
    if (found === null) return assert.match(await page.browser().version(), /firefox/i, 'Chromium has no WebGPU')
    assert.deepEqual(found, { values: [1, 2], copies: [1, 8] })
  }, true]
]

module.exports = { TESTS }
