'use strict'
const assert = require('node:assert/strict')
const { arange, backend, cuda, memory, ones, tensor, zeros } = require('samebytes')
const { fails, refuses, settledMemory } = require('../setup')
const { isFake, twoDevices } = require('./device')

const device = 'cuda:0'

describe('cuda', () => {
  it('is there', () => {
    assert.equal(backend(), 'native')
    assert.equal(cuda.whyNot(), '')
    assert.equal(cuda.isAvailable(), true)
    assert.ok(cuda.deviceCount() >= 1)
    assert.equal(Object.isFrozen(cuda), true)
    assert.deepEqual(Object.keys(cuda).sort(), [
      'Event',
      'Stream',
      'deviceCount',
      'emptyCache',
      'isAvailable',
      'memoryStats',
      'open',
      'properties',
      'share',
      'synchronize',
      'unshare',
      'whyNot',
    ])
    for (const name of Object.keys(cuda)) assert.equal(cuda[name].name, name)
  })

  it('tells what a device is', () => {
    const p = cuda.properties(0)
    assert.deepEqual(cuda.properties(), { ...p, freeMemory: cuda.properties('cuda').freeMemory })
    assert.ok(p.name.length > 0 && p.totalMemory > 0 && p.major >= 5 && p.multiProcessorCount > 0)
    assert.match(p.driverVersion, /^\d+\.\d$/)
    if (isFake) assert.match(p.uuid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    for (const wrong of [99, -1, 'cuda:99', 'cpu', 'x']) {
      refuses(() => cuda.properties(wrong), 'ERR_DEVICE')
    }
    for (const wrong of [1.5, NaN]) refuses(() => cuda.properties(wrong), 'ERR_BOUNDS')
    for (const wrong of [null, {}, [0], 0n]) refuses(() => cuda.properties(wrong), 'ERR_ARGUMENT')
  })

  it('counts memory, and gives it back', () => {
    const t = zeros([1 << 20], { device })
    const used = cuda.memoryStats(0)
    assert.ok(
      used.allocatedBytes >= 4 * 2 ** 20 &&
        used.reservedBytes >= used.allocatedBytes &&
        used.allocatedPeak >= used.allocatedBytes,
    )
    for (const value of Object.values(used)) assert.ok(Number.isSafeInteger(value))
    t.dispose()
    cuda.synchronize()
    assert.equal(cuda.memoryStats().allocatedBytes, used.allocatedBytes - 4 * 2 ** 20)
    cuda.emptyCache()
    assert.ok(cuda.memoryStats().reservedBytes <= used.reservedBytes)
    refuses(() => cuda.memoryStats('cuda:99'), 'ERR_DEVICE')
  })
})

describe('streams and events', () => {
  it('work on a stream is done when it says so', async () => {
    const stream = new cuda.Stream()
    assert.equal(stream.device, device)
    assert.equal(typeof stream.handle, 'bigint')
    const t = zeros([1000], { device })
    assert.equal(t.copyFrom(arange(1000, 'float32').pinMemory(), { stream }), t)
    await stream.finished()
    assert.deepEqual(t.toArray(), arange(1000).toArray())
    stream.synchronize()
    await t.copyFromAsync(ones([1000]), { stream })
    assert.equal(t.get(999), 1)
    assert.equal(await t.ready(), t)
  })

  it('what streams do to one tensor is in the order of the calls', async () => {
    const streams = Array.from({ length: 4 }, () => new cuda.Stream())
    const t = zeros([4096], { device })
    const sources = streams.map((_, i) => ones([4096], { device }).fill(i))
    for (let round = 0; round < 50; round++) {
      const i = round % 4
      t.copyFrom(sources[i], { stream: streams[i] })
      if (round % 7 === 0) assert.equal(t.get(4095), i)
    }
    assert.equal(t.get(0), 1)
    await Promise.all(streams.map((stream) => stream.finished()))
  })

  it("another library's stream goes by its number", async () => {
    const stream = new cuda.Stream()
    const t = zeros([3], { device }).copyFrom(tensor([1, 2, 3]), { stream: stream.handle })
    assert.deepEqual(t.toArray(), [1, 2, 3])
    for (const number of [0, 1, 2n]) {
      assert.deepEqual(
        t.copyFrom(tensor([4, 5, 6], { device }), { stream: number }).toArray(),
        [4, 5, 6],
      )
    }
    const host = zeros([3]).copyFrom(t, { stream: stream.handle })
    assert.deepEqual(host.toArray(), [4, 5, 6])
    await stream.finished()
  })

  it('events say when what was given before is done, and other streams wait for them', async () => {
    const [a, b] = [new cuda.Stream(device), new cuda.Stream(0)]
    const event = new cuda.Event()
    assert.equal(event.isDone, true)
    await event.finished()
    const t = zeros([1 << 16], { device }).copyFrom(ones([1 << 16], { device }), { stream: a })
    assert.equal(event.record(a), event)
    assert.equal(b.wait(event), b)
    assert.equal(b.wait(new cuda.Event()), b, 'an event that was not recorded')
    await event.finished()
    assert.equal(event.isDone, true)
    assert.equal(t.get(5), 1)
    await event.record(a.handle).record().finished()
    await b.finished()
  })

  it('tensors of the CPU are ready at once', async () => {
    const t = zeros([2])
    assert.equal(await t.ready(), t)
    t.dispose()
    await assert.rejects(t.ready(), { code: 'ERR_DISPOSED' })
    const pinned = zeros([2], { pinMemory: true })
    assert.equal(await pinned.ready(), pinned)
  })

  it('many may be waited for at once, and nothing is kept', async () => {
    const before = settledMemory().storages
    const stream = new cuda.Stream()
    const t = zeros([100], { device })
    const pending = []
    for (let i = 0; i < 200; i++) {
      pending.push(t.fill(i).ready(), stream.finished(), new cuda.Event().record(stream).finished())
    }
    await Promise.all(pending)
    assert.equal(t.get(0), 199)
    t.dispose()
    assert.ok(memory().storages <= before + 1)
  })

  it('refuse what is none of them', () => {
    const t = zeros([2], { device })
    const stream = new cuda.Stream()
    for (const wrong of ['1', 1.5, {}, true, new cuda.Event()]) {
      refuses(() => t.copyFrom(1, { stream: wrong }), 'ERR_ARGUMENT')
    }
    for (const wrong of [-1, -1n, 2n ** 64n]) {
      refuses(() => t.copyFrom(1, { stream: wrong }), 'ERR_BOUNDS')
    }
    fails(() => zeros([2]).copyFrom(1, { stream }), Error, 'ERR_DEVICE', /stream/)
    fails(() => zeros([2]).copyFrom(1, { stream: 1 }), Error, 'ERR_DEVICE', /stream/)
    for (const wrong of [undefined, null, 1n, stream]) {
      refuses(() => stream.wait(wrong), 'ERR_ARGUMENT')
    }
    for (const wrong of ['x', {}, 0.5]) {
      refuses(() => new cuda.Event().record(wrong), 'ERR_ARGUMENT')
    }
    refuses(() => new cuda.Stream('cuda:99'), 'ERR_DEVICE')
  })
})

describe('streams of two devices', () => {
  twoDevices()

  it("are for their own device, and wait for each other's events", async () => {
    const [a, b] = [new cuda.Stream('cuda:0'), new cuda.Stream('cuda:1')]
    const t = zeros([100], { device: 'cuda:1' })
    fails(() => t.copyFrom(1, { stream: a }), Error, 'ERR_DEVICE', /cuda:0.*cuda:1/)
    const source = ones([100], { device: 'cuda:0' })
    t.copyFrom(source, { stream: b })
    b.wait(new cuda.Event().record(a))
    await b.finished()
    assert.equal(t.get(99), 1)
    const event = new cuda.Event().record(a)
    await event.record(b).finished()
    cuda.synchronize('cuda:1')
  })
})
