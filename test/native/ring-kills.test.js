'use strict'
// Writers and readers of each kind, killed at random moments: what was counted is whole, and the others go on.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { SharedRing, pythonPath } = require('samebytes')
const { include } = require('samebytes/native')
const { can, generator, nativeOnly, needs, skipWithout, turn } = require('../setup')
const { lackOf } = require('../tools')
const { nodePeer, programPeer, pythonPeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')

const KILLS = process.env.SAMEBYTES_FULL === '1' ? 1000 : 12
const MOST_MS = 8 // from a frame of it to the kill
const LIMIT = 60000 // milliseconds that end a wait which hangs
const KINDS = ['C', 'Python', 'Node']
/** what a kind needs @type {Record<string, string>} */
const NEEDS = { C: 'the ring protocol of Linux', Python: 'NumPy' } // samebytes_ring.h has Linux' own

describe('peers of a ring that are killed at random moments', function () {
  nativeOnly()
  needs('shared memory with a name')
  let folder
  const rings = []
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-kills-'))
    if (!can(NEEDS.C)) return
    execFileSync(
      process.env.CC ?? 'gcc',
      [
        '-O2',
        '-I',
        include,
        '-U_FORTIFY_SOURCE',
        '-Wl,--wrap=readlink,--wrap=open',
        '-o',
        path.join(folder, 'ring-page'),
        path.join(__dirname, 'ring-page.c'),
      ],
      { stdio: 'pipe' },
    )
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    await endPeers()
    for (const ring of rings.splice(0)) ring.dispose() // ends loops of a test that failed
    clean()
  })

  const page = (...args) => programPeer(path.join(folder, 'ring-page'), args)
  const python = (source, name) =>
    pythonPeer(
      `sys.path.insert(0, ${JSON.stringify(pythonPath)})\nfrom samebytes import SharedRing\nring = SharedRing.open(sys.argv[1])\n${source}`,
      [name],
    )
  const node = (source, name) =>
    nodePeer(`const ring = require('samebytes').SharedRing.open(process.env.RING); ${source}`, {
      env: { RING: name },
    })

  /** They write frames full of their index without an end. */
  const writers = {
    C: (name) => page('write', name, '1000000000'),
    Python: (name) => python('while True: ring.write(ring.count, tag=ring.count)', name),
    Node: (name) =>
      node(
        'for (;;) ring.readers > 0 ? await ring.writeAsync(ring.count, { tag: ring.count }) : ring.write(ring.count, { tag: ring.count })',
        name,
      ),
  }
  /** They read without an end, say once that they have a place, and end by themselves where a frame is missing or not whole. */
  const readers = {
    C: (name) => page('hold', name, '1000000000'),
    Python: (name) =>
      python(
        `
after = None
for array, index, lost, tag in ring.read():
  assert index == after or after is None, (index, after)
  assert (array == index).all() and tag == index, index
  if after is None: say('ready')
  after = index + 1`,
        name,
      ),
    Node: (name) =>
      node(
        `
      let after = null
      for await (const { index, tensor, tag } of ring.read()) {
        if (after !== null && index !== after || Number(tag) !== index || !tensor.data.every(x => x === index)) throw new Error('frame ' + index + ' after ' + after)
        if (after === null) await send('ready')
        after = index + 1
      }`,
        name,
      ),
  }
  const killed = async (peer) =>
    assert.deepEqual(await peer.kill('SIGKILL'), { code: null, signal: 'SIGKILL', errors: '' })
  function ringOf(places = 0) {
    rings.push(
      SharedRing.create(fresh(), [2, 5000], {
        slots: places > 0 ? 3 : 4,
        readers: places,
        dtype: 'int32',
      }),
    )
    return rings.at(-1)
  }

  for (const kind of KINDS) {
    it(`writers, ${kind}: ${KILLS} kills, and every frame that was counted is whole`, async function () {
      if (kind in NEEDS) skipWithout(this, NEEDS[kind])
      const { next } = generator(kind.length)
      const ring = ringOf()
      let count = 0
      for (let i = 0; i < KILLS; i++) {
        const writer = writers[kind](ring.name)
        const frames = ring.read({ from: count })
        const first = frames.next()
        await Promise.race([first, writer.exit.then(({ errors }) => assert.fail(errors))])
        await frames.return()
        await wait(next(MOST_MS))
        await killed(writer)
        assert.ok(ring.count > count, `kill ${i}`)
        const reader = SharedRing.open(ring.name) // counts what was whole, drops what was not
        count = reader.count
        let seen = 0
        for (let n = Math.max(0, count - 4); n < count; n++) {
          if (!reader.intact(n)) continue // its slot was begun anew
          const { value } = await reader.read({ from: n }).next()
          assert.ok(
            value.tensor.data.every((x) => x === n),
            `frame ${n} after kill ${i} is not whole`,
          )
          seen++
        }
        assert.ok(seen >= Math.min(3, count), `${seen} frames of ${count} after kill ${i}`) // a slow writer was killed at its first ones
        reader.dispose()
      }
      assert.equal(ring.write(0), count)
      ring.dispose()
    })
  }

  /** A reader of this process, which the writer waits for: each frame comes once, and whole. It ends with the ring. */
  function readAll(ring) {
    const reading = { seen: 0, end: null }
    reading.end = (async () => {
      for await (const { tensor, index, lost, tag } of ring.read({ from: 0 })) {
        assert.deepEqual([index, lost, tag], [reading.seen, 0, BigInt(index)])
        assert.ok(
          tensor.data.every((x) => x === index),
          `frame ${index} is not whole`,
        )
        reading.seen++
        await turn()
      }
    })()
    return reading
  }

  /** Until the reader of this process got a frame that was not counted before; a peer that ends is an error. */
  async function aFrame(ring, reading, peers) {
    const { count } = ring
    const ended = Promise.race([
      ...peers.map((peer) => peer.exit.then(({ errors }) => assert.fail(errors))),
      reading.end,
    ])
    while (reading.seen <= count) await Promise.race([wait(1), ended])
  }

  for (const kind of KINDS) {
    it(`readers that are waited for, ${kind}: ${KILLS} kills, and the writer goes on without those`, async function () {
      if (kind in NEEDS) skipWithout(this, NEEDS[kind])
      const { next } = generator(10 + kind.length)
      const ring = ringOf(2)
      const reading = readAll(ring)
      const write = async () => {
        assert.equal(
          await ring.writeAsync(ring.count, { timeout: LIMIT, tag: ring.count }),
          ring.count - 1,
        )
      }
      for (let i = 0; i < KILLS; i++) {
        const reader = readers[kind](ring.name)
        const said = { isThere: false }
        const there = reader.next().finally(() => {
          said.isThere = true
        })
        there.catch(() => {}) // it is awaited below
        while (!said.isThere) await write()
        await there
        for (const end = performance.now() + next(MOST_MS); performance.now() < end;) await write()
        const dead = killed(reader)
        for (let n = next(7); n > 0; n--) await write() // none: the next one takes the place of the dead one
        await dead
      }
      const { count } = ring
      while (reading.seen < count) await Promise.race([turn(), reading.end])
      ring.dispose()
      await reading.end
    })

    it(`writers that wait, ${kind}: ${KILLS} kills, and a reader gets each frame, whole`, async function () {
      if (kind in NEEDS) skipWithout(this, NEEDS[kind])
      const { next } = generator(20 + kind.length)
      const ring = ringOf(1)
      const reading = readAll(ring)
      for (let i = 0; i < KILLS; i++) {
        const writer = writers[kind](ring.name)
        await aFrame(ring, reading, [writer])
        await wait(next(MOST_MS))
        await killed(writer)
      }
      ring.dispose()
      await reading.end
    })
  }

  it(`both, of all kinds together: ${KILLS} kills, and a reader gets each frame, whole`, async () => {
    const { next, pick } = generator(30)
    const ring = ringOf(3)
    const reading = readAll(ring)
    const starts = [writers, readers, readers]
    const kinds = KINDS.filter((kind) =>
      kind === 'C' ? can(NEEDS.C) : kind === 'Node' || lackOf(NEEDS.Python) === null,
    )
    const start = (i) => starts[i][pick(kinds)](ring.name)
    const peers = starts.map((_, i) => start(i))
    for (let i = 0; i < KILLS; i++) {
      const which = next(3)
      if (which > 0) {
        await peers[which].next()
      } // it has its place
      else await aFrame(ring, reading, peers)
      await wait(next(MOST_MS))
      const both = next(4) === 0 ? [which, (which + 1) % 3] : [which]
      await Promise.all(both.map((at) => killed(peers[at])))
      for (const at of both) peers[at] = start(at)
      await aFrame(ring, reading, peers)
    }
    ring.dispose()
    await reading.end
  })

  it('writers at any moment of a frame: 12 kills, and a reader that nobody waits for goes on', async () => {
    const name = fresh()
    const ring = SharedRing.create(name, [30000], { slots: 4, dtype: 'int64' })
    const { next } = generator(7)
    const controller = new AbortController()
    const seen = { last: -1 }
    let whole = 0
    const reading = (async () => {
      for await (const { tensor, index, lost } of ring.read({
        from: 0,
        signal: controller.signal,
      })) {
        assert.equal(index, seen.last + 1 + lost)
        seen.last = index
        const values = tensor.data.slice()
        if (!ring.intact(index)) continue
        whole++
        assert.ok(
          values.every((value) => value === BigInt(index)),
          `frame ${index} is of several`,
        )
      }
    })()
    for (let round = 0; round < 12; round++) {
      const before = ring.count
      const peer = node(
        `
        const turn = () => new Promise(resolve => setImmediate(resolve))
        for (;;) {
          ring.write(BigInt(ring.count))
          if (ring.count % 3 === 0) await turn()
        }`,
        name,
      )
      for (const enough = before + 1 + next(40); ring.count < enough;) await turn()
      for (let spin = next(3000); spin > 0; spin--) ring.intact(0) // not always at the same point of a write
      await peer.kill('SIGKILL')
      assert.ok(ring.count >= before)
    }
    const end = SharedRing.open(name)
    const index = end.write(BigInt(end.count))
    while (seen.last < index) await turn()
    controller.abort()
    await assert.rejects(reading, { name: 'AbortError' })
    assert.ok(whole > 0)
    end.dispose()
    ring.dispose()
  })
})
