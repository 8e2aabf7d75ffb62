'use strict'
// Models over onnxruntime-web in its own worker (`env.wasm.proxy`), to which it transfers the buffers of models and inputs; init.js runs them.
const assert = require('node:assert/strict')
const { onnx } = require('../onnx')
const { AS_SEEN } = require('./bundle')

const FOLDER = `/files${AS_SEEN}/node_modules/onnxruntime-web/dist/`
const ADD = [
  ...onnx({
    inputs: { a: 'float32[2]', b: 'float32[2]' },
    nodes: ['Add(a, b) -> c'],
    outputs: { c: 'float32[2]' },
  }),
]
const HALVES = [
  ...onnx({
    inputs: { a: 'float16[2]' },
    nodes: ['Identity(a) -> b'],
    outputs: { b: 'float16[2]' },
  }),
]
const TEXT = [
  ...onnx({ inputs: { a: 'string[2]' }, nodes: ['Identity(a) -> b'], outputs: { b: 'string[2]' } }),
]

/* global load, refusal */

const test = (options) => async (page) => {
  const found = await page.evaluate(
    async ({ FOLDER, ADD, HALVES, TEXT, options }) => {
      const [samebytes, { Module }, ort] = [
        await load(),
        await import('/dist/samebytes-module.mjs'),
        await import(`${FOLDER}ort.wasm.min.mjs`),
      ]
      const { init, fromBlob, memory, tensor, toOrt, zeros } = samebytes
      await init(options)
      Object.assign(ort.env.wasm, { wasmPaths: FOLDER, numThreads: 1, proxy: true })
      const uncloneable = await refusal(() =>
        Module.load(Uint8Array.from(ADD), { ort, extra: { onDone() {} } }),
      )
      const bad = await refusal(() => Module.load(Uint8Array.of(1, 2, 3), { ort }))
      const model = Uint8Array.from(ADD)
      const module = await Module.load(model, { ort })
      const [halves, text] = [
        await Module.load(tensor(HALVES, 'uint8'), { ort }),
        await Module.load(Uint8Array.from(TEXT).buffer, { ort }),
      ]
      const [array, t] = [Float32Array.of(1, 2), tensor([3, 4])]
      const before = memory().staged.bytes
      const values = [
        (await module.forward(t, t))[0].toArray(),
        (await module.forward(fromBlob(array, [2]), t))[0].toArray(),
      ]
      const staged = memory().staged.bytes - before
      values.push(
        (await module.forward(array, array))[0].toArray(),
        (await module.forward([5, 6], new ort.Tensor('float32', array, [2])))[0].toArray(),
      )
      const given = zeros([2])
      const outside = new Float32Array(2)
      values.push((await module.run([t, t], { outputs: [given] }))[0] === given && given.toArray())
      await module.run([t, fromBlob(array, [2])], { outputs: [fromBlob(outside, [2])] })
      values.push(
        [...outside],
        (await halves.forward(tensor([0.5, 2], 'float16')))[0].toArray(),
        (await text.forward(['a', 'é']))[0],
      )
      const failed = (await refusal(() => module.run([t, t], { outputs: [zeros([1])] }))).code
      const [sums] = [
        await Promise.all(
          Array.from({ length: 5 }, async (_, i) =>
            (await module.forward([i, i], t))[0].toArray().join(),
          ),
        ),
      ]
      const refused = await refusal(() => toOrt(t, ort))
      await Promise.all([module, halves, text].map((each) => each.dispose()))
      return {
        uncloneable,
        bad,
        values,
        staged,
        sums,
        failed,
        refused,
        lengths: [model.length > 0, array.join()],
        inFlight: memory().inFlight,
      }
    },
    { FOLDER, ADD, HALVES, TEXT, options },
  )
  const { uncloneable, bad, refused, ...rest } = found
  assert.deepEqual(
    [uncloneable.code, bad.code, refused.code],
    ['ERR_UNSUPPORTED', 'ERR_FORMAT', 'ERR_UNSUPPORTED'],
    JSON.stringify(found),
  )
  assert.match(uncloneable.message, /^onnxruntime cannot work as sessionOptions say: /)
  assert.match(refused.message, /^ort\.env\.wasm\.proxy is true: .*t\.data\.slice\(\)/)
  assert.deepEqual(rest, {
    values: [
      [6, 8],
      [4, 6],
      [2, 4],
      [6, 8],
      [6, 8],
      [4, 6],
      [0.5, 2],
      ['a', 'é'],
    ],
    staged: 32, // of four inputs
    sums: ['3,4', '4,5', '5,6', '6,7', '7,8'],
    failed: 'ERR_SHAPE',
    lengths: [true, '1,2'],
    inFlight: 0,
  })
}

const TESTS = [
  ["a model in onnxruntime's worker takes copies", test({})],
  ["a model in onnxruntime's worker takes copies, in a page that is isolated", test({}), true],
  ["a model in onnxruntime's worker takes copies of shared memory", test({ shared: true }), true],
]

module.exports = { TESTS }
