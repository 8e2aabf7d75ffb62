'use strict'
// Rings whose writer waits for its slowest living reader.
const assert = require('node:assert/strict')
const { SharedRing, openNpy } = require('samebytes')
const { fails, generator, nativeOnly, needs, skipWithout } = require('../setup')
const { nodePeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')

const [MAGIC, READERS, SLEEPS, COUNT, PLACES, PLACE] = [0, 5, 7, 8, 16 + 2 * 3, 4] // as documented, of 3 slots

describe('SharedRing with readers', function () {
  nativeOnly()
  needs('shared memory with a name')
  afterEach(async () => {
    await endPeers()
    clean()
  })

  const ringOf = ({ slots = 3, readers = 2 } = {}) =>
    SharedRing.create(fresh(), [2], { slots, readers, dtype: 'int32' })
  const peerOf = (ring, source) =>
    nodePeer(`const ring = require('samebytes').SharedRing.open(process.env.RING); ${source}`, {
      env: { RING: ring.name },
    })
  const READER =
    'for await (const { index, lost, tensor } of ring.read({ from: 0 })) await send([index, lost, tensor.get(1)])'

  it('refuses a frame whose slot a reader still needs, and gives it once that one goes on', async () => {
    const ring = ringOf()
    assert.equal(ring.readers, 2)
    assert.equal(SharedRing.open(ring.name).readers, 2)
    const reader = ring.read({ from: 0 })
    for (let i = 0; i < 2; i++) ring.write(i)
    assert.equal((await reader.next()).value.index, 0)
    assert.equal(ring.write(2), 2)
    fails(
      () => ring.write(3),
      Error,
      'ERR_BUSY',
      new RegExp(
        `^process ${process.pid} still reads frame 0; the ring has no slot for frame 3 until then$`,
      ),
    )
    fails(() => ring.next(), Error, 'ERR_BUSY', /still reads/)
    await assert.rejects(ring.writeAsync(3, { timeout: 0 }), { code: 'ERR_BUSY' })
    const written = ring.writeAsync(3)
    await assert.rejects(ring.writeAsync(4), { code: 'ERR_BUSY', message: /pending/ })
    assert.equal((await reader.next()).value.index, 1)
    assert.equal(await written, 3)
    await reader.return()
    for (let i = 4; i < 9; i++) ring.write(i) // nobody reads
    ring.dispose()
  })

  it('gives the slot in place as well, and the same one until commit()', async () => {
    const ring = ringOf({ slots: 1, readers: 1 })
    const reader = ring.read()
    const first = reader.next()
    const t = await ring.nextAsync()
    t.fill(5)
    ring.next()
    assert.equal(ring.commit(), 0)
    assert.equal((await first).value.tensor.get(1), 5)
    await assert.rejects(ring.nextAsync({ timeout: 1 }), { code: 'ERR_BUSY' })
    const more = reader.next()
    ;(await ring.nextAsync()).fill(6)
    ring.commit()
    const {
      value: { index, lost },
    } = await more
    assert.deepEqual([index, lost], [1, 0])
    ring.dispose()
    assert.equal((await reader.next()).done, true)
  })

  it('begins with the newest frame for who comes late, and has places for so many', async () => {
    const ring = ringOf()
    for (let i = 0; i < 7; i++) ring.write(i)
    const [one, two, three] = [ring.read(), SharedRing.open(ring.name).read(), ring.read()]
    for (const reader of [one, two]) {
      const {
        value: { index, lost, tensor },
      } = await reader.next()
      assert.deepEqual([index, lost, tensor.get(0)], [6, 0, 6])
    }
    await assert.rejects(three.next(), {
      code: 'ERR_BUSY',
      message: 'the ring has 2 readers, and no place for more',
    })
    await one.return()
    const four = ring.read({ from: 0 })
    const { value } = await four.next()
    assert.deepEqual([value.index, value.lost], [4, 4])
    ring.dispose()
  })

  it('loses no frame: two processes that read 500 get each of them, whole', async () => {
    const ring = ringOf()
    const peers = [0, 1].map(() =>
      peerOf(
        ring,
        `
      let next = 0
      const reader = ring.read({ from: 0 })
      const first = reader.next()
      await send('there')
      for (let frame = await first; ; frame = await reader.next()) {
        const { index, lost, tensor } = frame.value
        if (index !== next++ || lost !== 0 || tensor.get(0) !== index || tensor.get(1) !== index) throw new Error('frame ' + index)
        if (index === 499) break
      }
      await send(next)`,
      ),
    )
    for (const peer of peers) assert.equal(await peer.next(), 'there')
    for (let i = 0; i < 500; i++) await ring.writeAsync(i, { timeout: 60000 })
    for (const peer of peers) assert.equal(await peer.next(), 500)
    ring.dispose()
  })

  it('waits for a stopped reader until the time is up, for a dead one not at all', async function () {
    skipWithout(this, 'signals of POSIX')
    const ring = ringOf()
    ring.write(0)
    const peer = peerOf(ring, READER)
    assert.deepEqual(await peer.next(), [0, 0, 0])
    peer.child.kill('SIGSTOP')
    let refused
    for (let i = 1; refused === undefined; i++) {
      refused = await ring.writeAsync(i, { timeout: 20 }).then(
        () => undefined,
        (error) => error,
      )
    }
    assert.equal(refused.code, 'ERR_BUSY')
    assert.match(refused.message, new RegExp(`^process ${peer.child.pid} still reads`))
    const next = ring.count
    const pending = ring.writeAsync(next)
    await peer.kill('SIGKILL')
    assert.equal(await pending, next)
    for (let i = 0; i < 5; i++) ring.write(i)
    ring.dispose()
  })

  it('ends a wait with its signal, and with the ring', async () => {
    const ring = ringOf({ slots: 1 })
    const reader = ring.read({ from: 0 })
    ring.write(0)
    await reader.next()
    const stop = new AbortController()
    const stopped = ring.writeAsync(1, { signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(stopped, /enough/)
    const closed = ring.nextAsync()
    ring.dispose()
    await assert.rejects(closed, { code: 'ERR_DISPOSED' })
    const other = SharedRing.open(ring.name)
    assert.equal(other.write(1), 1) // its place is free
    other.dispose()
  })

  it('refuses what makes no sense', async () => {
    const make = (readers) => () => SharedRing.create(fresh(), [1], { slots: 2, readers })
    fails(make(-1), RangeError, 'ERR_BOUNDS', /^readers is -1; 0 to 1024 were expected$/)
    fails(make(1025), RangeError, 'ERR_BOUNDS', /1024/)
    fails(make('2'), TypeError, 'ERR_ARGUMENT', /readers/)
    const ring = ringOf()
    fails(
      () =>
        SharedRing.create(ring.name, [2], {
          slots: 3,
          readers: 1,
          dtype: 'int32',
          ifExists: 'open',
        }),
      TypeError,
      'ERR_ARGUMENT',
      /2 readers; 1 were expected/,
    )
    fails(() => ring.writeAsync(1, { timeout: -1 }), RangeError, 'ERR_BOUNDS', /timeout/)
    fails(() => ring.nextAsync({ signal: 1 }), TypeError, 'ERR_ARGUMENT', /signal/)
    assert.equal(await SharedRing.create(fresh(), [2], { slots: 1 }).writeAsync([1, 2]), 0) // nobody is waited for
    ring.dispose()
  })

  it('has the words of the table, and opens none that do not fit', async () => {
    const ring = ringOf()
    ring.write(0)
    const reader = ring.read()
    await reader.next()
    const words = openNpy(ring.controlPath, { mode: 'r+' })
    assert.deepEqual(words.shape, [PLACES + 2 * PLACE])
    assert.equal(Buffer.from(new BigUint64Array([words.get(MAGIC)]).buffer).toString(), 'sb-ring3')
    assert.deepEqual([words.get(READERS), words.get(SLEEPS)], [2n, 0n])
    assert.equal(words.get(PLACES), words.get(3)) // the reader is the writer's process
    assert.equal(words.get(PLACES + 2), 0n)
    for (const readers of [0n, 1n, 3n, 1025n, 2n ** 63n]) {
      words.set(readers, READERS)
      fails(() => SharedRing.open(ring.name), Error, 'ERR_FORMAT')
    }
    words.set(2n, READERS)
    SharedRing.open(ring.name).dispose()
    ring.dispose()
  })

  it('hangs on nothing, and reads outside of nothing, whatever a peer writes to the words', async () => {
    const { next } = generator(5)
    const ring = ringOf()
    const words = openNpy(ring.controlPath, { mode: 'r+' })
    const values = [
      0n,
      1n,
      2n ** 31n,
      2n ** 53n,
      2n ** 63n,
      2n ** 64n - 1n,
      BigInt(process.pid) << 32n,
    ]
    for (let i = 0; i < 300; i++) {
      const at = next(words.shape[0] - 1)
      words.set(values[next(values.length - 1)], at === COUNT || at === 3 ? PLACES : at)
      const reader = ring.read()
      const stop = new AbortController()
      const got = reader.next().catch(({ code }) => assert.match(code, /^ERR_(BUSY|STALE|FORMAT)$/))
      await ring
        .writeAsync(i, { timeout: 1 })
        .catch(({ code }) => assert.match(code, /^ERR_(BUSY|FORMAT)$/))
      stop.abort()
      for (let place = 0; place < 2; place++) words.set(0n, PLACES + PLACE * place)
      ring.write(i)
      await got
      await reader.return()
    }
    ring.dispose()
  })
})
