'use strict'
/* global AudioBuffer, AudioBufferSourceNode, OfflineAudioContext */
const assert = require('node:assert/strict')
const { backend, fromBlob, memory, tensor, zeros } = require('samebytes')
const { counted, rejects } = require('./counted')

const [CHANNELS, FRAMES] = [3, 8]
const NONE = [0, 0]
const sample = (c, i) => c + i / 16
const ROWS = Array.from({ length: CHANNELS }, (_, c) =>
  Array.from({ length: FRAMES }, (_, i) => sample(c, i)),
)

function audio() {
  const buffer = new AudioBuffer({ numberOfChannels: CHANNELS, length: FRAMES, sampleRate: 48000 })
  for (const [c, row] of ROWS.entries()) buffer.copyToChannel(Float32Array.from(row), c)
  return buffer
}
const rowsOf = (buffer) =>
  Array.from({ length: buffer.numberOfChannels }, (_, c) => [...buffer.getChannelData(c)])

describe('a tensor over a channel of an AudioBuffer', () => {
  it('is the same bytes both ways, nothing copied', async () => {
    const buffer = audio()
    const { result: t, copied, staged } = await counted(() => fromBlob(buffer.getChannelData(1)))
    assert.deepEqual([copied, staged], [{}, NONE])
    assert.equal(t.data.buffer, buffer.getChannelData(1).buffer)
    t.set(0.25, 3)
    assert.equal(buffer.getChannelData(1)[3], 0.25)
    buffer.copyToChannel(Float32Array.of(0.75), 1, 4)
    assert.equal(t.get(4), 0.75)
  })

  it('is heard: what is written to it is played', async () => {
    const context = new OfflineAudioContext(1, FRAMES, 48000)
    const buffer = new AudioBuffer({ numberOfChannels: 1, length: FRAMES, sampleRate: 48000 })
    fromBlob(buffer.getChannelData(0)).copyFrom(ROWS[0])
    const source = new AudioBufferSourceNode(context, { buffer })
    source.connect(context.destination)
    source.start()
    const played = await context.startRendering()
    assert.deepEqual(fromBlob(played.getChannelData(0)).toArray(), ROWS[0])
  })
})

describe('copyFrom of an AudioBuffer', () => {
  it('copies each channel into its row once, nothing staged', async () => {
    const t = zeros([CHANNELS, FRAMES])
    assert.deepEqual(await counted(() => t.copyFrom(audio())), {
      result: t,
      copied: { copyFrom: [1, 4 * CHANNELS * FRAMES] },
      staged: NONE,
    })
    assert.deepEqual(t.toArray(), ROWS)
  })

  it('writes a part of longer rows, nothing staged, and the rest stays', async () => {
    const t = zeros([CHANNELS, FRAMES + 4]).fill(-1)
    const { staged } = await counted(() => t.narrow(1, 2, FRAMES).copyFrom(audio()))
    assert.deepEqual(staged, NONE)
    assert.deepEqual(
      t.toArray(),
      ROWS.map((row) => [-1, -1, ...row, -1, -1]),
    )
  })

  it('interleaves through a view, casts and scales: each channel is staged once', async () => {
    const interleaved = zeros([FRAMES, CHANNELS])
    const { copied, staged } = await counted(() => interleaved.T.copyFrom(audio()))
    assert.deepEqual(
      [copied, staged],
      [{ copyFrom: [1, 4 * CHANNELS * FRAMES] }, [CHANNELS, 4 * CHANNELS * FRAMES]],
    )
    assert.deepEqual(interleaved.T.toArray(), ROWS)
    const options = { scale: [100, 10, 1], bias: [0, 1, 2], axis: 0, casting: 'unsafe' }
    const wanted = ROWS.map((row, c) => row.map((value) => value * [100, 10, 1][c] + c))
    assert.deepEqual(
      zeros([CHANNELS, FRAMES], 'float64')
        .copyFrom(audio(), { ...options, axis: -2 })
        .toArray(),
      wanted,
    )
    assert.deepEqual(
      zeros([CHANNELS, FRAMES], 'int16').copyFrom(audio(), options).toArray(),
      wanted.map((row) => row.map(Math.trunc)),
    )
    const along = { scale: ROWS[0], axis: 1 }
    assert.deepEqual(
      zeros([CHANNELS, FRAMES]).copyFrom(audio(), along).toArray(),
      ROWS.map((row) => row.map((value, i) => value * ROWS[0][i])),
    )
    assert.deepEqual(
      fromBlob(new Float32Array(CHANNELS * FRAMES), [CHANNELS, FRAMES])
        .copyFrom(audio(), { scale: 2 })
        .toArray(),
      ROWS.map((row) => row.map((value) => 2 * value)),
    )
  })

  it('goes off the event loop as well: nothing staged, the target is busy', async () => {
    const t = zeros([CHANNELS, FRAMES])
    const { storages, inFlight } = memory()
    const { copied, staged } = await counted(async () => {
      const pending = t.copyFromAsync(audio())
      assert.throws(() => t.fill(1), { code: 'ERR_BUSY' })
      assert.equal(await pending, t)
    })
    assert.deepEqual([copied, staged], [{ copyFromAsync: [1, 4 * CHANNELS * FRAMES] }, NONE])
    assert.deepEqual(t.toArray(), ROWS)
    assert.ok(memory().storages <= storages)
    await zeros([FRAMES, CHANNELS]).T.copyFromAsync(audio(), { scale: [1, 2, 3], axis: 0 })
    const reason = new Error('enough')
    const controller = new AbortController()
    const stopped = t.zero().copyFromAsync(audio(), { signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(stopped, reason)
    assert.equal(memory().inFlight, inFlight)
    t.fill(1)
  })

  it('refuses other shapes and casts, and a channel that was transferred, before it writes', async () => {
    for (const shape of [
      [FRAMES, CHANNELS],
      [CHANNELS, FRAMES + 1],
      [CHANNELS - 1, FRAMES],
      [1, CHANNELS, FRAMES],
      [CHANNELS * FRAMES],
      [],
    ]) {
      assert.throws(() => zeros(shape).copyFrom(audio()), {
        code: 'ERR_SHAPE',
        message: /channels/,
      })
      await rejects(zeros(shape).copyFromAsync(audio()), 'ERR_SHAPE')
    }
    const whole = zeros([CHANNELS, FRAMES], 'int16')
    assert.throws(() => whole.copyFrom(audio()), { code: 'ERR_CAST' })
    const t = zeros([CHANNELS, FRAMES])
    assert.throws(() => t.copyFrom(audio(), { scale: [1, 2], axis: 0 }), { code: 'ERR_SHAPE' })
    const gone = audio()
    structuredClone(gone.getChannelData(2).buffer, { transfer: [gone.getChannelData(2).buffer] })
    assert.throws(() => t.copyFrom(gone), { code: 'ERR_DETACHED', message: /channel 2/ })
    await rejects(t.copyFromAsync(gone), 'ERR_DETACHED')
    assert.ok(
      t
        .toArray()
        .flat()
        .every((value) => value === 0),
    )
  })
})

describe('copyFrom of a typed array per channel', () => {
  it("copies each into its row once, nothing staged: an AudioWorklet's inputs", async () => {
    const inputs = [Object.freeze(ROWS.map((row) => Float32Array.from(row)))]
    const t = zeros([CHANNELS, FRAMES])
    assert.deepEqual(await counted(() => t.copyFrom(inputs[0])), {
      result: t,
      copied: { copyFrom: [1, 4 * CHANNELS * FRAMES] },
      staged: NONE,
    })
    assert.deepEqual(t.toArray(), ROWS)
  })
})

describe('an AudioBuffer of a tensor', () => {
  it('takes each row by one copy into its channel, from any layout', async () => {
    const t = tensor(ROWS).T.contiguous().T // interleaved
    const buffer = new AudioBuffer({
      numberOfChannels: CHANNELS,
      length: FRAMES,
      sampleRate: 48000,
    })
    const contiguous = t.contiguous()
    const { copied, staged } = await counted(() => {
      for (let c = 0; c < CHANNELS; c++) {
        fromBlob(buffer.getChannelData(c)).copyFrom(contiguous.select(0, c))
      }
    })
    assert.deepEqual([copied, staged], [{ copyFrom: [CHANNELS, 4 * CHANNELS * FRAMES] }, NONE])
    assert.deepEqual(rowsOf(buffer), ROWS)
    for (let c = 0; c < CHANNELS; c++) buffer.getChannelData(c).fill(0)
    const strided = await counted(() => {
      for (let c = 0; c < CHANNELS; c++) fromBlob(buffer.getChannelData(c)).copyFrom(t.select(0, c))
    })
    assert.deepEqual([strided.copied, strided.staged], [copied, [CHANNELS, 4 * CHANNELS * FRAMES]])
    assert.deepEqual(rowsOf(buffer), ROWS)
  })

  it("takes a row's data by copyToChannel, but none of shared memory", async () => {
    const t = tensor(ROWS)
    const buffer = new AudioBuffer({
      numberOfChannels: CHANNELS,
      length: FRAMES,
      sampleRate: 48000,
    })
    const give = () => {
      for (let c = 0; c < CHANNELS; c++) buffer.copyToChannel(t.select(0, c).data, c)
    }
    if (backend() === 'wasm-shared') {
      assert.throws(give, TypeError)
    } else {
      const { copied, staged } = await counted(give)
      assert.deepEqual([copied, staged, rowsOf(buffer)], [{}, NONE, ROWS])
    }
  })

  it('is filled in place where its channels are the tensors', async () => {
    const buffer = audio()
    const channels = Array.from({ length: CHANNELS }, (_, c) => fromBlob(buffer.getChannelData(c)))
    const { copied } = await counted(() => {
      for (const channel of channels) channel.fill(0.5)
    })
    assert.deepEqual(copied, {})
    assert.ok(
      rowsOf(buffer)
        .flat()
        .every((value) => value === 0.5),
    )
  })
})
