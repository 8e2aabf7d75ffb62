'use strict'
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const { Worker } = require('node:worker_threads')
const { SharedRing, SharedTensor, memory, openNpy } = require('samebytes')
const { backend, opcodes, frame, tables } = require('../../js/backend/calls')
const {
  childJson,
  collectUntil,
  copied,
  errnoOf,
  fails,
  nativeOnly,
  needs,
  quietMemory,
  skipWithout,
  turn,
} = require('../setup')
const { nodePeer, pythonPeer, endPeers } = require('../peer-process')
const { pathOf } = require('../segments')

const [WRITER, COUNT, FIRST] = [3, 8, 16] // as documented
const names = new Set()
let made = 0

/** A name that nobody else has; it is taken away after the test. */
function newName() {
  const name = `samebytes-test-${process.pid}-ring-${made++}`
  names.add(name)
  return name
}

/** One letter of each name may be in no other: the children's programs start so. */
const PRELUDE = `
  const { SharedRing } = require('samebytes')
  const name = process.env.RING
  const turn = () => new Promise(resolve => setImmediate(resolve))
`

const peerOf = (name, source) => nodePeer(PRELUDE + source, { env: { RING: name } })

/** The control words, for writing as well. */
const controlOf = (ring) => openNpy(ring.controlPath, { mode: 'r+' })

/** The frames that read() gives until there were `count`, as [index, lost, first value]. */
async function firstFrames(ring, count, options) {
  const frames = []
  for await (const { tensor, index, lost } of ring.read(options)) {
    frames.push([index, lost, Number(tensor.get(...tensor.shape.map(() => 0)))])
    if (frames.length === count) break
  }
  return frames
}

/** The n-th allocation in C from now on fails; 0: none. */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
}

describe('SharedRing', function () {
  nativeOnly()
  needs('shared memory with a name')
  afterEach(async () => {
    await endPeers()
    for (const name of names) {
      try {
        SharedRing.unlink(name)
      } catch (error) {
        if (error.code !== 'ERR_NOT_FOUND') throw error
      }
    }
    names.clear()
  })

  for (const dtype of ['float32', 'uint8', 'int64', 'bfloat16', 'complex64']) {
    it(`gives ${dtype} frames as they were written, without a copy`, async () => {
      const name = newName()
      const ring = SharedRing.create(name, [2, 5], { slots: 3, dtype })
      const other = SharedRing.open(name, dtype)
      assert.deepEqual(
        [other.name, other.slots, other.shape, other.dtype, other.count],
        [name, 3, [2, 5], dtype, 0],
      )
      for (let i = 0; i < 3; i++) {
        const t = ring.next()
        assert.deepEqual([t.shape, t.dtype], [[2, 5], dtype])
        t.fill(dtype === 'int64' ? BigInt(i) : i)
        assert.equal(ring.commit(), i)
      }
      const { copies } = copied(() => other.read())
      assert.deepEqual(copies, {})
      const seen = []
      for await (const { tensor, index, lost } of other.read()) {
        assert.ok(tensor.isReadOnly)
        assert.equal(other.intact(index), true)
        seen.push([index, lost, tensor.astype('float32', { casting: 'unsafe' }).get(1, 4)])
        if (index === 2) break
      }
      assert.deepEqual(seen, [
        [0, 0, 0],
        [1, 0, 1],
        [2, 0, 2],
      ])
      ring.dispose()
      other.dispose()
    })
  }

  it('shows a frame in place: what the writer does to a slot, a reader’s tensor has', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [4], { slots: 2, dtype: 'int32' })
    const other = SharedRing.open(name)
    ring.write([1, 2, 3, 4])
    const { value } = await other.read().next()
    assert.deepEqual(value.tensor.toArray(), [1, 2, 3, 4])
    ring.write(0)
    assert.equal(other.intact(0), true)
    ring.next().fill(9)
    assert.equal(other.intact(0), false)
    assert.deepEqual(value.tensor.toArray(), [9, 9, 9, 9])
    ring.commit()
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => other.intact(i)),
      [false, true, true, false],
    )
    ring.dispose()
    other.dispose()
  })

  it('wakes a reader in another process for each frame: 300, one after the other', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [8], { slots: 4, dtype: 'float64' })
    const peer = peerOf(
      name,
      `
      const ring = SharedRing.open(name)
      await send('ready')
      for await (const { tensor, index, lost } of ring.read()) {
        const values = tensor.toArray()
        await send([index, lost, values[0], values[7], ring.intact(index)])
        if (index === 299) break
      }`,
    )
    assert.equal(await peer.next(), 'ready')
    for (let i = 0; i < 300; i++) {
      ring.write(i * 1.5)
      assert.deepEqual(await peer.next(), [i, 0, i * 1.5, i * 1.5, true])
    }
    assert.equal((await peer.exit).code, 0)
    ring.dispose()
  })

  it('counts every frame once, read or lost, beside a writer that does not wait', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [4096], { slots: 8, dtype: 'float64' })
    const peer = peerOf(
      name,
      `
      const ring = SharedRing.open(name)
      for (let i = 0; i < 20000; i++) {
        ring.write(i)
        if (i % 500 === 0) await turn()
      }`,
    )
    let next = 0
    let whole = 0
    for await (const { tensor, index, lost } of ring.read({ from: 0 })) {
      assert.equal(index, next + lost)
      next = index + 1
      const values = tensor.data.slice() // a copy, in one go
      if (ring.intact(index)) {
        whole++
        assert.ok(
          values.every((value) => value === index),
          `frame ${index} is of several`,
        )
      }
      if (index === 19999) break
    }
    assert.ok(whole > 0)
    assert.equal((await peer.exit).code, 0)
    ring.dispose()
  })

  it('tells a reader that is overtaken how much it lost, and lets it go on half a ring behind', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [], { slots: 4, dtype: 'int32' })
    const other = SharedRing.open(name)
    const frames = other.read()
    const next = async () => {
      const {
        value: { index, lost, tensor },
      } = await frames.next()
      return [index, lost, tensor.item()]
    }
    const write = (n) => {
      for (let i = 0; i < n; i++) ring.write(ring.count * 10)
    }
    write(2)
    assert.deepEqual(await next(), [0, 0, 0])
    write(3) // five: frame 1 is there yet
    assert.deepEqual(await next(), [1, 0, 10])
    write(5) // ten: 2 to 5 are gone
    assert.deepEqual(await next(), [8, 6, 80])
    assert.deepEqual(await next(), [9, 0, 90])
    const pending = next()
    write(1)
    assert.deepEqual(await pending, [10, 0, 100])
    ring.next() // the slot of frame 7
    assert.deepEqual(await firstFrames(other, 3, { from: 5 }), [
      [8, 3, 80],
      [9, 0, 90],
      [10, 0, 100],
    ])
    assert.deepEqual(await firstFrames(other, 1, { from: 10 }), [[10, 0, 100]])
    ring.commit()
    assert.deepEqual(await firstFrames(other, 1), [[8, 0, 80]])
    ring.dispose()
    other.dispose()
  })

  it('begins with a frame that is to come, where it is told to', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [1], { slots: 4, dtype: 'int32' })
    const other = SharedRing.open(name)
    const pending = firstFrames(other, 1, { from: 6 })
    for (let i = 0; i < 7; i++) {
      ring.write([i])
      await turn()
    }
    assert.deepEqual(await pending, [[6, 0, 6]])
    ring.dispose()
    other.dispose()
  })

  it('is two .npy files for NumPy, whose words are those of the table', async function () {
    skipWithout(this, 'NumPy')
    const name = newName()
    const ring = SharedRing.create(name, [3, 2], { slots: 5, dtype: 'float32' })
    for (let i = 0; i < 7; i++) ring.write(i, { tag: 100 + i })
    ring.next().fill(100)
    const peer = pythonPeer(
      `
import numpy as np, json, os
f = np.load(sys.argv[1], mmap_mode='r')
c = np.load(sys.argv[2], mmap_mode='r')
writer = int(c[3])
n = int(c[8]) - 1
say(json.dumps(dict(shape=f.shape, dtype=str(f.dtype), words=str(c.dtype), n=c.size, magic=int(c[0]).to_bytes(8, 'little').decode(),
  slots=int(c[1]), bytes=int(c[2]), pid=writer >> 32, start=writer % 2 ** 32, count=int(c[8]), slot=[int(x) for x in c[16::2]], tags=[int(x) for x in c[17::2]],
  newest=float(f[n % 5].sum()), intact=bool(c[16 + 2 * (n % 5)] == 2 * n + 2))))
input()
say(int(c[8]), float(f[7 % 5].sum()))
`,
      [ring.path, ring.controlPath],
    )
    const stat = fs.readFileSync('/proc/self/stat', 'latin1')
    const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) // a second
    assert.deepEqual(JSON.parse(await peer.next()), {
      shape: [5, 3, 2],
      dtype: 'float32',
      words: 'uint64',
      n: 26,
      magic: 'sb-ring3',
      slots: 5,
      bytes: 24,
      pid: process.pid,
      start: backend.abilities.processStartTimes
        ? ((Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) * 1000) / ticks) % 2 ** 32
        : 0,
      count: 7,
      slot: [12, 14, 15, 8, 10],
      tags: [105, 106, 102, 103, 104],
      newest: 36,
      intact: true,
    })
    ring.commit()
    peer.send('go on')
    assert.equal(await peer.next(), '8 600.0')
    ring.dispose()
  })

  it('is read by NumPy while it is written: what is intact is whole', async function () {
    skipWithout(this, 'NumPy')
    const name = newName()
    const ring = SharedRing.create(name, [20000], { slots: 4, dtype: 'int64' })
    const peer = pythonPeer(
      `
import numpy as np
f = np.load(sys.argv[1], mmap_mode='r')
c = np.load(sys.argv[2], mmap_mode='r')
say('ready')
whole = torn = 0
n = -1
while n < 2999:
  n = int(c[8]) - 1
  if n < 0: continue
  before = int(c[16 + 2 * (n % 4)])
  x = f[n % 4].copy()
  after = int(c[16 + 2 * (n % 4)])
  if before == after == 2 * n + 2:
    whole += 1
    if not (x == n).all(): torn += 1
say(whole > 0, torn)
`,
      [ring.path, ring.controlPath],
    )
    assert.equal(await peer.next(), 'ready')
    for (let i = 0; i < 3000; i++) {
      ring.write(BigInt(i))
      if (i % 50 === 0) await turn()
    }
    assert.equal(await peer.next(), 'True 0')
    ring.dispose()
  })

  it("gives readers each frame's tag, of any 64 bits; a tag that is none publishes nothing", async () => {
    const ring = SharedRing.create(newName(), [1], { slots: 8, dtype: 'int32' })
    const tags = [undefined, 0n, 1n, 2 ** 53 - 1, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n]
    for (const [i, tag] of tags.entries()) {
      if (i % 2 === 0) assert.equal(ring.write(2 * i, { tag, casting: 'same_kind' }), i)
      else assert.equal(ring.next().fill(2 * i) && ring.commit({ tag }), i)
    }
    assert.equal(await ring.writeAsync(14, { tag: 77 }), 7)
    const seen = []
    for await (const { index, tag, tensor } of ring.read({ from: 0 })) {
      assert.equal(tensor.item(), 2 * index)
      if (seen.push(tag) === 8) break
    }
    assert.deepEqual(seen, [0n, 0n, 1n, 2n ** 53n - 1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n, 77n])
    ring.write(9, { tag: 9n })
    ring.write(10) // no tag of the frame that was in the slot
    assert.equal((await ring.read({ from: 9 }).next()).value.tag, 0n)
    ring.next()
    for (const [tag, Class, code] of [
      [-1n, RangeError, 'ERR_BOUNDS'],
      [2n ** 64n, RangeError, 'ERR_BOUNDS'],
      [-1, RangeError, 'ERR_BOUNDS'],
      [1.5, RangeError, 'ERR_BOUNDS'],
      [2 ** 60, RangeError, 'ERR_BOUNDS'],
      [2 ** 53, RangeError, 'ERR_BOUNDS'],
      ['1', TypeError, 'ERR_ARGUMENT'],
      [null, TypeError, 'ERR_ARGUMENT'],
    ]) {
      fails(() => ring.commit({ tag }), Class, code, /^tag/)
      fails(() => ring.write(1, { tag }), Class, code, /^tag/)
      fails(() => ring.writeAsync(1, { tag }), Class, code, /^tag/)
    }
    assert.deepEqual([ring.count, ring.commit({ tag: 5n }), ring.count], [10, 10, 11])
    ring.dispose()
  })

  it('has one writer at a time: in this process, in another, in a worker', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [1], { slots: 2 })
    const other = SharedRing.open(name)
    ring.write([1])
    fails(() => other.next(), Error, 'ERR_BUSY', new RegExp(`process ${process.pid}`))
    fails(() => other.write([1]), Error, 'ERR_BUSY')
    const peer = peerOf(
      name,
      `
      const ring = SharedRing.open(name)
      try { ring.next() } catch (error) { await send(error.code) }
      await next()
      ring.write([5])
      await send(ring.count)
      await next()`,
    )
    assert.equal(await peer.next(), 'ERR_BUSY')
    ring.dispose()
    peer.send('go on')
    assert.equal(await peer.next(), 2)
    fails(() => other.next(), Error, 'ERR_BUSY', new RegExp(`process ${peer.child.pid}`))
    peer.send('go on')
    await peer.exit
    assert.equal(other.write([6]), 2)
    other.dispose()
  })

  it('gets another writer when the one before is collected, or its worker ends', async () => {
    const name = newName()
    const other = SharedRing.create(name, [1], { slots: 2 })
    ;(() => SharedRing.open(name).write([1]))()
    const takes = () => {
      try {
        other.next()
      } catch {
        return false
      }
      return true
    }
    assert.ok(await collectUntil(takes))
    other.commit()
    other.dispose()
    const worker = new Worker(
      `
      const { SharedRing } = require('samebytes')
      const ring = SharedRing.open(${JSON.stringify(name)})
      ring.next()
      require('node:worker_threads').parentPort.postMessage('writes')
      for (;;) ring.next()`,
      { eval: true },
    )
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    const last = SharedRing.open(name)
    fails(() => last.next(), Error, 'ERR_BUSY')
    await worker.terminate()
    assert.equal(last.write([2]), 2)
    assert.deepEqual(await firstFrames(last, 1, { from: 2 }), [[2, 0, 2]])
    last.dispose()
  })

  it('is mended on open, where a writer was killed between next() and commit()', async () => {
    const name = newName()
    const reader = SharedRing.create(name, [4], { slots: 3, dtype: 'int32' })
    const peer = peerOf(
      name,
      `
      const ring = SharedRing.open(name)
      for (let i = 0; i < 5; i++) ring.write(i)
      ring.next().select(0, 0).fill(77)
      await send('half')
      await next()`,
    )
    assert.equal(await peer.next(), 'half')
    const control = controlOf(reader)
    const word = (i) => Number(control.get(i))
    assert.deepEqual([5 % 3, word(FIRST + 4), word(COUNT)], [2, 2 * 5 + 1, 5])
    await peer.kill('SIGKILL')
    assert.ok(word(WRITER) > 0)
    const ring = SharedRing.open(name)
    assert.deepEqual([word(FIRST + 4), word(COUNT), word(WRITER)], [0, 5, 0])
    assert.deepEqual(
      [2, 3, 4, 5].map((i) => ring.intact(i)),
      [false, true, true, false],
    )
    assert.equal(ring.write(50), 5)
    assert.deepEqual(await firstFrames(reader, 3), [
      [3, 0, 3],
      [4, 0, 4],
      [5, 0, 50],
    ])
    for (const each of [ring, reader, control]) each.dispose()
  })

  it('is mended where the writer was killed after a frame was whole and before it was counted', async () => {
    const name = newName()
    const reader = SharedRing.create(name, [1], { slots: 3, dtype: 'int32' })
    const peer = peerOf(
      name,
      `
      const ring = SharedRing.open(name)
      for (let i = 0; i < 4; i++) ring.write([i])
      ring.next().fill(4)
      await send('half')
      await next()`,
    )
    await peer.next()
    const control = controlOf(reader)
    control.set(2n * 4n + 2n, FIRST + 2) // what commit() writes before it counts
    await peer.kill('SIGKILL')
    const pending = firstFrames(reader, 3, { from: 2 })
    const ring = SharedRing.open(name)
    assert.equal(ring.count, 5)
    assert.deepEqual(await pending, [
      [2, 0, 2],
      [3, 0, 3],
      [4, 0, 4],
    ])
    for (const each of [ring, reader, control]) each.dispose()
  })

  it('ends a loop with its signal, and leaves nothing', async () => {
    const name = newName()
    const before = await quietMemory()
    const ring = SharedRing.create(name, [1], { slots: 2 })
    const controller = new AbortController()
    const pending = firstFrames(ring, 1, { signal: controller.signal })
    await turn()
    controller.abort(new Error('mine'))
    await assert.rejects(pending, { message: 'mine' })
    await assert.rejects(ring.read({ signal: AbortSignal.abort(new Error('yours')) }).next(), {
      message: 'yours',
    })
    ring.dispose()
    const after = await quietMemory()
    for (const key of ['tensors', 'storages', 'inFlight']) {
      assert.ok(after[key] <= before[key], `${key}: ${after[key]}, before ${before[key]}`)
    }
    assert.ok(after.bytes.mapped <= before.bytes.mapped)
  })

  it('goes on with a signal whose listener cannot be removed, and ends with one that throws', async () => {
    const ring = SharedRing.create(newName(), [1], { slots: 2 })
    const thrown = new Error('thrown by the signal')
    const fails = () => {
      throw thrown
    }
    const signal = { aborted: false, addEventListener() {}, removeEventListener: fails }
    for (let i = 0; i < 3; i++) {
      const frames = ring.read({ from: i, signal })
      const pending = frames.next()
      await turn()
      ring.write([i])
      assert.equal((await pending).value.index, i)
      await frames.return()
    }
    await assert.rejects(
      ring.read({ from: 3, signal: { ...signal, addEventListener: fails } }).next(),
      thrown,
    )
    await assert.rejects(
      ring
        .read({ from: 3, signal: Object.defineProperty({ ...signal }, 'aborted', { get: fails }) })
        .next(),
      thrown,
    )
    ring.dispose()
  })

  it('ends its loops when it is disposed, and is ERR_DISPOSED afterwards', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [1], { slots: 2 })
    const other = SharedRing.open(name)
    ring.write([1])
    const view = ring.next()
    const pending = [firstFrames(other, 5), firstFrames(other, 5, { from: 9 })]
    const idle = other.read()
    assert.equal((await idle.next()).value.index, 0)
    other.dispose()
    assert.deepEqual(await Promise.all(pending), [[[0, 0, 1]], []])
    assert.equal((await idle.next()).done, true)
    other.dispose()
    for (const act of [
      () => other.count,
      () => other.next(),
      () => other.commit(),
      () => other.write([1]),
      () => other.read(),
      () => other.intact(0),
    ]) {
      fails(act, Error, 'ERR_DISPOSED')
    }
    ring.dispose()
    assert.deepEqual(view.fill(3).toArray(), [3]) // stays mapped
    assert.equal(other.name, name)
    assert.equal(fs.existsSync(other.path), true)
  })

  it('is there as before where it was to be replaced by what makes no sense', () => {
    const ring = SharedRing.create(newName(), [2], { slots: 4 })
    ring.write(7)
    for (const [more, code] of [
      [{ mode: 0o1777 }, 'ERR_BOUNDS'],
      [{ mode: '7' }, 'ERR_ARGUMENT'],
      [{ persist: 1 }, 'ERR_ARGUMENT'],
      [{ dtype: 'x' }, 'ERR_DTYPE'],
      [{ readers: -1 }, 'ERR_BOUNDS'],
    ]) {
      assert.throws(
        () => SharedRing.create(ring.name, [2], { slots: 4, ifExists: 'replace', ...more }),
        { code },
      )
    }
    assert.equal(SharedRing.open(ring.name).count, 1)
    ring.close()
    fails(() => ring.count, Error, 'ERR_DISPOSED')
    ring.dispose() // does nothing
  })

  it('refuses what makes no sense, and says what is wrong', async () => {
    const name = newName()
    const good = { slots: 2 }
    for (const [given, code, shape = [1]] of [
      [undefined, 'ERR_ARGUMENT'],
      [{}, 'ERR_ARGUMENT'],
      [{ ...good, slots: 0 }, 'ERR_BOUNDS'],
      [{ ...good, slots: 1.5 }, 'ERR_BOUNDS'],
      [{ ...good, slots: '2' }, 'ERR_ARGUMENT'],
      [{ ...good, slots: 2 ** 51 }, 'ERR_MEMORY'],
      [{ ...good, slots: 2 ** 51 + 1 }, 'ERR_BOUNDS'],
      [{ ...good, slots: 2 ** 51 }, 'ERR_SHAPE', [2 ** 40]],
      [good, 'ERR_SHAPE', [-2]],
      [good, 'ERR_ARGUMENT', 'x'],
      [good, 'ERR_ARGUMENT', null],
      [{ ...good, shape: [1] }, 'ERR_ARGUMENT'],
      [{ ...good, dtype: 'int33' }, 'ERR_DTYPE'],
      [{ ...good, ifExists: 'no' }, 'ERR_ARGUMENT'],
      [{ ...good, mode: -1 }, 'ERR_BOUNDS'],
      [{ ...good, persist: 1 }, 'ERR_ARGUMENT'],
    ]) {
      assert.throws(
        () => SharedRing.create(name, shape, given),
        (error) => error.code === code || assert.fail(`${JSON.stringify(given)}: ${error.stack}`),
      )
      fails(() => SharedRing.open(name), Error, 'ERR_NOT_FOUND')
    }
    for (const wrong of ['', 'a/b', 5, null, undefined, 'x'.repeat(248), '..']) {
      fails(() => SharedRing.create(wrong, [1], good), TypeError, 'ERR_ARGUMENT')
      fails(() => SharedRing.open(wrong), TypeError, 'ERR_ARGUMENT')
      fails(() => SharedRing.unlink(wrong), TypeError, 'ERR_ARGUMENT')
    }
    fails(() => new SharedRing(), TypeError, 'ERR_ARGUMENT')
    fails(() => SharedRing.unlink(name), Error, 'ERR_NOT_FOUND')
    assert.throws(() => SharedRing.open(name), {
      name: 'SamebytesError',
      message: `there is no ring "${name}": ${pathOf(name)} is not there`,
      path: pathOf(name),
      errno: errnoOf('ENOENT'),
    })
    assert.throws(
      () => SharedRing.open(name),
      (error) => error.cause.code === 'ERR_NOT_FOUND',
    )
    SharedTensor.create(name, [2])
    fails(() => SharedRing.open(name), Error, 'ERR_NOT_FOUND', /\.control is not there$/)
    SharedTensor.unlink(name)
    const ring = SharedRing.create(name, [1], good)
    fails(() => SharedRing.create(name, [1], good), Error, 'ERR_EXISTS')
    fails(() => ring.commit(), Error, 'ERR_STALE', /next\(\)/)
    for (const from of [-1, 0.5, NaN, '1', null]) {
      assert.throws(() => ring.read({ from }), {
        code: typeof from === 'number' ? 'ERR_BOUNDS' : 'ERR_ARGUMENT',
      })
    }
    for (const index of [-1, 0.5, NaN, '1', null, undefined, 2 ** 53]) {
      assert.throws(() => ring.intact(index), {
        code: typeof index === 'number' ? 'ERR_BOUNDS' : 'ERR_ARGUMENT',
      })
    }
    fails(() => ring.read({ signal: 5 }), TypeError, 'ERR_ARGUMENT')
    fails(() => ring.write([1, 2, 3]), RangeError, 'ERR_SHAPE')
    fails(() => ring.write(['x']), TypeError, 'ERR_ARGUMENT')
    assert.equal(ring.count, 0)
    assert.equal(ring.write([4]), 0)
    ring.dispose()
  })

  it('is opened where it is there, if it is the one that was asked for; or replaced, and who has the old one keeps it', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [3], { slots: 2, dtype: 'int16', ifExists: 'open' })
    ring.write(7)
    const same = SharedRing.create(name, [3], { slots: 2, dtype: 'int16', ifExists: 'open' })
    assert.equal(same.count, 1)
    fails(
      () => SharedRing.create(name, [3], { slots: 3, dtype: 'int16', ifExists: 'open' }),
      RangeError,
      'ERR_SHAPE',
    )
    fails(
      () => SharedRing.create(name, [3], { slots: 2, dtype: 'int32', ifExists: 'open' }),
      TypeError,
      'ERR_DTYPE',
    )
    const other = SharedRing.create(name, [2], { slots: 4, ifExists: 'replace' })
    assert.deepEqual([other.slots, other.count, SharedRing.open(name).slots], [4, 0, 4])
    ring.write(8)
    other.write(1)
    assert.deepEqual(await firstFrames(same, 2), [
      [0, 0, 7],
      [1, 0, 8],
    ])
    assert.deepEqual(await firstFrames(other, 1), [[0, 0, 1]])
    SharedRing.unlink(name)
    fails(() => SharedRing.open(name), Error, 'ERR_NOT_FOUND')
    for (const each of [ring, same, other]) each.dispose()
  })

  it('opens nothing that is no ring', () => {
    const name = newName()
    const control = `${name}.control`
    const put = (of, shape, dtype) => SharedTensor.create(of, shape, { dtype, ifExists: 'replace' })
    const frames = put(name, [4, 2], 'float32')
    fails(() => SharedRing.open(name), Error, 'ERR_NOT_FOUND')
    const words = put(control, [24], 'uint64')
    fails(() => SharedRing.open(name), Error, 'ERR_FORMAT', /ready/)
    const sound = () =>
      words.tensor.fill(0n).copyFrom([0x33676e69722d6273n, 4n, 8n, ...new Array(21).fill(0n)])
    sound()
    assert.equal(SharedRing.open(name).count, 0)
    for (const [at, value] of [
      [0, 5n],
      [1, 5n],
      [1, 0n],
      [1, 2n ** 64n - 1n],
      [2, 9n],
      [2, 0n],
      [5, 1n],
      [5, 2n ** 64n - 1n],
    ]) {
      sound()
      words.tensor.set(value, at)
      fails(() => SharedRing.open(name), Error, 'ERR_FORMAT')
    }
    for (const old of [1n, 2n]) {
      sound()
      words.tensor.set(((0x30n + old) << 56n) | 0x676e69722d6273n, 0)
      fails(
        () => SharedRing.open(name),
        Error,
        'ERR_FORMAT',
        new RegExp(`another protocol, number ${old}; 3 was expected`),
      )
    }
    for (const byte of [0n, 0x1bn, 0x3an, 0xffn]) {
      // no number
      sound()
      words.tensor.set((byte << 56n) | 0x676e69722d6273n, 0)
      fails(() => SharedRing.open(name), Error, 'ERR_FORMAT', /no control words/)
    }
    for (const [shape, dtype] of [
      [[23], 'uint64'],
      [[25], 'uint64'],
      [[20], 'uint64'],
      [[24], 'int64'],
      [[24, 1], 'uint64'],
      [[0], 'uint64'],
      [[], 'uint64'],
    ]) {
      put(control, shape, dtype)
      fails(() => SharedRing.open(name), Error, 'ERR_FORMAT')
    }
    for (const shape of [[], [0, 2]]) {
      put(name, shape, 'float32')
      fails(() => SharedRing.open(name), Error, 'ERR_FORMAT')
    }
    for (const each of [frames, words]) each.dispose()
  })

  it('reads outside of nothing and ends nobody, whatever a peer writes to the control words', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [1000], { slots: 5, dtype: 'float64' })
    const codes = await childJson(
      `${PRELUDE}
      const { openNpy, memory } = require('samebytes')
      const { generator } = require('./test/setup')
      const { next, uint32, pick } = generator(3)
      const codes = {}
      const note = code => { codes[code] = (codes[code] ?? 0) + 1 }
      async function main () {
        let ring = SharedRing.open(name)
        const control = openNpy(ring.controlPath, { mode: 'r+' })
        const sound = control.toArray()
        const wild = () => pick([0n, 1n, 2n, 11n, 2n ** 32n, 2n ** 53n, 2n ** 64n - 1n, BigInt(uint32()), BigInt(uint32()) << 32n, BigInt(next(12))])
        const acts = [
          () => ring.count,
          () => ring.intact(next(20)),
          () => ring.next().fill(1),
          () => ring.commit(),
          () => ring.write(2),
          () => { ring.dispose(); ring = SharedRing.open(name) },
          async () => {
            const controller = new AbortController()
            const frames = ring.read({ from: pick([undefined, 0, 3, 1e15]), signal: controller.signal })
            const reading = (async () => { for (let i = 0; i < 3; i++) (await frames.next()).value?.tensor.get(999) })()
            reading.catch(() => {}) // heard of below
            await turn()
            controller.abort()
            await reading
          }
        ]
        for (let round = 0; round < 4000; round++) {
          for (let n = 1 + next(3); n > 0; n--) control.set(wild(), pick([3, 4, 8, 8, 16, 18, 20, 22, 24, next(26)]))
          try { await pick(acts)(); note('ok') } catch (error) { note(error.code) }
          if (round % 10 === 9) control.copyFrom(sound)
        }
        console.log(JSON.stringify(codes))
      }
      main()`,
      { env: { RING: name, SAMEBYTES_BACKEND: 'native' } },
    )
    const allowed = ['ok', 'ERR_FORMAT', 'ERR_BUSY', 'ERR_STALE', 'ERR_DISPOSED', '20'] // 20: of an AbortError
    assert.deepEqual(
      Object.keys(codes).filter((code) => !allowed.includes(code)),
      [],
    )
    assert.ok(codes.ok > 500 && codes.ERR_FORMAT > 50, JSON.stringify(codes))
    ring.dispose()
  })

  it('leaves the loop its turns when a peer counts without end', async () => {
    const name = newName()
    const ring = SharedRing.create(name, [1], { slots: 5, dtype: 'int32' })
    const peer = peerOf(
      name,
      `
      const { openNpy } = require('samebytes')
      const ring = SharedRing.open(name)
      const control = openNpy(ring.controlPath, { mode: 'r+' })
      await send('ready')
      for (let n = 1n; ; n++) control.set(n, 8)`,
    )
    await peer.next()
    const controller = new AbortController()
    const pending = firstFrames(ring, 1, { signal: controller.signal })
    for (let i = 0; i < 100; i++) await turn()
    controller.abort()
    await assert.rejects(pending, { name: 'AbortError' })
    await peer.kill('SIGKILL')
    ring.dispose()
  })

  // What is not caught ends the process: each program has one of its own, and cuts the files as a peer would.
  const CUT = `
    const fs = require('node:fs')
    const { SharedTensor } = require('samebytes')
    let made = 0
    /** A ring that has frame 0, and another one over it. */
    function ringed (more) {
      const ring = SharedRing.create(name + (made++ === 0 ? '' : made), [4096], { slots: 2, dtype: 'uint8', ...more })
      ring.write(7)
      return { ring, other: SharedRing.open(ring.name) }
    }
    const rings = []
    const cut = (ring, which, size = 0) => { for (const path of which) fs.truncateSync(ring[path], size) }
    const told = error => error.code === 'ERR_IO' && !error.message.includes('"' + name) ? 'ERR_IO without a name' : error.code ?? error.stack
    const code = fn => { try { return fn() } catch (error) { return told(error) } }
    const say = x => { for (const { name } of rings) SharedRing.unlink(name); process.stdout.write(JSON.stringify(x)) }
  `

  for (const [what, paths] of Object.entries({
    'control words': ['controlPath'],
    frames: ['path'],
    'control words and frames': ['controlPath', 'path'],
  })) {
    it(`is ERR_IO, with its name, where a peer makes the ${what} shorter, whatever comes first`, async function () {
      skipWithout(this, 'mapped files that change')
      const name = newName()
      const said = await childJson(
        PRELUDE +
          CUT +
          `
        const uses = {
          count: ({ other }) => other.count,
          intact: ({ other }) => other.intact(0),
          next: ({ ring }) => ring.next().dispose() ?? 'begun',
          commit: ({ ring }) => ring.commit(),
          write: ({ ring }) => ring.write(8),
          'the first write': ({ other }) => other.write(8),
          open: ({ ring }) => SharedRing.open(ring.name).name,
          'open, by create': ({ ring }) => SharedRing.create(ring.name, [4096], { slots: 2, dtype: 'uint8', ifExists: 'open' }).name,
          read: async ({ other }) => (await other.read().next()).value.index,
          'a frame, then intact': ({ other, frame }) => { const data = frame.data; const [first] = data; return [first, other.intact(0)] },
          dispose: ({ ring, other }) => { ring.dispose(); other.dispose(); return 'done' }
        }
        const main = async () => {
          const said = {}
          for (const [name, use] of Object.entries(uses)) {
            const { ring, other } = ringed()
            rings.push(ring)
            const frame = (await other.read().next()).value.tensor
            if (name === 'commit') ring.next().fill(1)
            if (name === 'the first write') ring.dispose()
            cut(ring, ${JSON.stringify(paths)})
            let result
            try { result = await use({ ring, other, frame }) } catch (error) { result = told(error) }
            said[name] = result
            for (const each of [ring, other]) each.dispose()
          }
          say(said)
        }
        main()`,
        { env: { RING: name } },
      )
      const gone = 'ERR_IO'
      if (what === 'frames') {
        // Nobody looks before the bytes are used; then all is ERR_IO.
        assert.deepEqual(
          { count: said.count, intact: said.intact, read: said.read },
          { count: 1, intact: true, read: 0 },
        )
        assert.deepEqual({ next: said.next, commit: said.commit }, { next: 'begun', commit: 1 })
      } else {
        for (const use of ['count', 'intact', 'next', 'commit', 'read']) {
          assert.equal(said[use], gone, use)
        }
      }
      assert.deepEqual(
        [said.write, said['the first write'], said['a frame, then intact']],
        [gone, gone, gone],
      )
      assert.deepEqual(
        [said.open, said['open, by create'], said.dispose],
        ['ERR_FORMAT', 'ERR_FORMAT', 'done'],
      )
    })
  }

  it('ends loops that wait when a peer makes the control words shorter, and waits for elements likewise', async function () {
    skipWithout(this, 'mapped files that change')
    const name = newName()
    const said = await childJson(
      PRELUDE +
        CUT +
        `
      const main = async () => {
        const { ring, other } = ringed()
        rings.push(ring)
        const shared = SharedTensor.create(name + '-t', [2048], 'int32')
        const failed = (promise, how = error => error.code) => promise.then(result => result, how)
        const pending = [
          failed(other.read({ from: 1 }).next(), told),
          failed(SharedTensor.open(ring.name + '.control').wait(8, 1)),
          failed(shared.wait(0, 0)),
          failed(shared.wait(1024, 0, { timeout: 0 }))
        ]
        for (let i = 0; i < 20; i++) await turn()
        cut(ring, ['controlPath'])
        fs.truncateSync(shared.path)
        const results = await Promise.all(pending)
        SharedTensor.unlink(shared.name)
        say([results, code(() => ring.count)])
      }
      main()`,
      { env: { RING: name } },
    )
    assert.deepEqual(said, [['ERR_IO', 'ERR_IO', 'ERR_IO', 'timed-out'], 'ERR_IO'])
  })

  it('may be given up by a worker, by collection and at exit when its control words are gone', async function () {
    skipWithout(this, 'mapped files that change')
    const name = newName()
    const said = await childJson(
      PRELUDE +
        CUT +
        `
      const { Worker } = require('node:worker_threads')
      const main = async () => {
        const worker = new Worker("const { SharedRing } = require('samebytes'); const ring = SharedRing.create(require('node:worker_threads').workerData, [4], { slots: 2 }); ring.write(1); require('node:worker_threads').parentPort.postMessage(ring.controlPath); setInterval(() => {}, 1000)", { eval: true, workerData: name })
        const path = await new Promise(resolve => worker.once('message', resolve))
        fs.truncateSync(path)
        await worker.terminate()
        const last = SharedRing.create(name + '-2', [4], { slots: 2 })
        ;(() => { const lost = SharedRing.create(name + '-3', [4], { slots: 2 }); lost.write(1); fs.truncateSync(lost.controlPath) })()
        for (let i = 0; i < 10; i++) { gc(); await turn() }
        last.write(1)
        fs.truncateSync(last.controlPath)
        for (const end of ['', '-2', '-3']) SharedRing.unlink(name + end)
        process.stdout.write('"alive"')
      }
      main()`,
      { env: { RING: name }, flags: ['--expose-gc'] },
    )
    assert.equal(said, 'alive')
  })

  it('has its guard where another handler of SIGBUS took its place', async function () {
    skipWithout(this, 'mapped files that change')
    const name = newName()
    const said = await childJson(
      PRELUDE +
        CUT +
        `
      const first = ringed()
      process.on('SIGBUS', () => {})
      const second = ringed()
      second.ring.write(9)
      rings.push(first.ring, second.ring)
      const before = second.other.count
      cut(second.ring, ['controlPath'])
      say([before, code(() => second.ring.write(9)), code(() => second.other.count)])`,
      { env: { RING: name } },
    )
    assert.deepEqual(said, [2, 'ERR_IO', 'ERR_IO'])
  })

  it('without memory is refused, and nothing is left', () => {
    const name = newName()
    let failures = 0
    for (let n = 1; n < 60; n++) {
      failAllocation(n)
      let ring
      try {
        ring = SharedRing.create(name, [2], { slots: 2 })
        ring.write([1, 2])
      } catch (error) {
        failures++
        assert.equal(error.code, 'ERR_MEMORY', error.stack)
      } finally {
        failAllocation(0)
      }
      if (ring !== undefined) {
        ring.write([3, 4])
        ring.dispose()
        SharedRing.unlink(name)
      }
      assert.deepEqual(
        fs.readdirSync('/dev/shm').filter((file) => file.startsWith(name)),
        [],
      )
    }
    assert.ok(failures > 3, `${failures}`)
    assert.ok(memory().tensors >= 0)
  })
})
