'use strict'
// Rings and segments that Node and C programs have together: ring-peer.c by libsamebytes, ring-page.c by samebytes_ring.h alone.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedRing, SharedTensor } = require('samebytes')
const { include, library: built } = require('samebytes/native')
const { nativeOnly, needs, skipWithout, turn } = require('../setup')
const { nodePeer, programPeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')

const library = process.env.SAMEBYTES_LIBRARY ?? built

describe('rings and C', function () {
  nativeOnly()
  needs('shared memory with a name')
  let folder
  before(function () {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-ring-'))
    skipWithout(this, 'a C compiler')
    if (library === null) {
      throw new Error('libsamebytes is missing; first: bash scripts/build library')
    }
    const compile = (program, ...more) =>
      execFileSync(
        process.env.CC ?? 'gcc',
        [
          '-Wall',
          '-Wextra',
          '-Werror',
          '-I',
          include,
          '-o',
          path.join(folder, program),
          path.join(__dirname, `${program}.c`),
          ...more,
        ],
        { stdio: 'pipe' },
      )
    compile('ring-peer', library, `-Wl,-rpath,${path.dirname(library)}`)
    compile(
      'ring-page',
      '-std=c11',
      '-O2',
      '-Wconversion',
      '-U_FORTIFY_SOURCE',
      '-Wl,--wrap=readlink,--wrap=open',
    )
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    await endPeers()
    clean()
  })
  const start = (program, ...args) => programPeer(path.join(folder, program), args)
  const peer = (...args) => start('ring-peer', ...args)
  const ringOf = (name) => SharedRing.create(name, [2, 50], { slots: 4, dtype: 'int32' })

  /** Every frame up to one, counted once; whole ones have their index in all elements. */
  async function readUpTo(ring, last) {
    let [next, whole] = [0, 0]
    for await (const { tensor, index, lost, tag } of ring.read({ from: 0 })) {
      assert.deepEqual([index, tag], [next + lost, BigInt(index)])
      next = index + 1
      const values = tensor.data.slice()
      if (ring.intact(index)) {
        whole++
        assert.ok(
          values.every((value) => value === index),
          `frame ${index} is of several`,
        )
      }
      if (index === last) return whole
    }
  }

  for (const program of ['ring-peer', 'ring-page']) {
    it(`${program}: a C program writes, and we read whole frames only`, async () => {
      const ring = ringOf(fresh())
      const reading = readUpTo(ring, 2999)
      const writer = start(program, 'write', ring.name, '3000')
      assert.ok((await reading) > 0)
      assert.deepEqual(await writer.exit, { code: 0, signal: null, errors: '' })
      ring.write(7) // it has given the role up
      assert.equal(ring.count, 3001)
      ring.dispose()
    })

    it(`${program}: we write, and a C program reads whole frames only`, async function () {
      if (program === 'ring-page') skipWithout(this, 'the ring protocol of Linux')
      const ring = ringOf(fresh())
      const reader = start(program, 'read', ring.name, '3000')
      assert.equal(await reader.next(), 'ready')
      for (let i = 0; i < 3000; i++) {
        ring.write(i, { tag: i })
        if (i % 100 === 0) await turn()
      }
      const { whole, torn, lost, overwritten } = JSON.parse(await reader.next())
      assert.deepEqual([torn, whole + lost + overwritten], [0, 3000])
      assert.ok(whole > 0)
      ring.dispose()
    })

    it(`${program}: a C program that is killed inside a frame takes nothing with it`, async function () {
      if (program === 'ring-page') skipWithout(this, 'the ring protocol of Linux')
      const name = fresh()
      const maker = peer('make', name)
      assert.equal((await maker.exit).code, 0)
      assert.ok(
        SharedTensor.list().some(
          (segment) => segment.name === name && !segment.isAlive && segment.pid === maker.child.pid,
        ),
      )
      const writer = start(program, 'hang', name)
      assert.equal(await writer.next(), 'inside')
      const ring = SharedRing.open(name)
      assert.equal(ring.count, 2)
      assert.throws(() => ring.write(1), {
        code: 'ERR_BUSY',
        message: `process ${writer.child.pid} writes the ring; there is one writer at a time`,
      })
      await writer.kill('SIGKILL')
      assert.deepEqual([ring.intact(1), ring.intact(2)], [true, false])
      assert.equal(ring.write(2, { tag: 2 }), 2)
      assert.equal(await readUpTo(SharedRing.open(name), 2), 3)
      ring.dispose()
      SharedRing.unlink(name)
    })

    it(`${program}: a Node that is killed inside a frame is followed by a C program`, async function () {
      if (program === 'ring-page') skipWithout(this, 'the ring protocol of Linux')
      const ring = ringOf(fresh())
      const writer = nodePeer(
        "const ring = require('samebytes').SharedRing.open(process.env.RING); ring.write(0); ring.next().fill(9); await send('inside'); await next()",
        { env: { RING: ring.name } },
      )
      assert.equal(await writer.next(), 'inside')
      assert.match(
        (await start(program, 'write', ring.name).exit).errors,
        /^ERR_BUSY: process \d+ writes the ring/,
      )
      await writer.kill('SIGKILL')
      assert.equal((await start(program, 'write', ring.name, '2').exit).code, 0)
      assert.equal(await readUpTo(ring, 2), 3)
      ring.dispose()
    })
  }

  for (const [writes, reads] of [
    ['ring-peer', 'ring-page'],
    ['ring-page', 'ring-peer'],
  ]) {
    it(`${reads} reads whole frames only of ${writes}, and follows it where it was killed`, async function () {
      skipWithout(this, 'the ring protocol of Linux')
      const ring = ringOf(fresh())
      const reader = start(reads, 'read', ring.name, '3001')
      assert.equal(await reader.next(), 'ready')
      const writer = start(writes, 'hang', ring.name, '3000')
      assert.equal(await writer.next(), 'inside')
      await writer.kill('SIGKILL')
      assert.equal((await start(reads, 'write', ring.name).exit).code, 0)
      const { whole, torn, lost, overwritten } = JSON.parse(await reader.next())
      assert.deepEqual([torn, whole + lost + overwritten, ring.count], [0, 3001, 3001])
      assert.ok(whole > 0)
      ring.dispose()
    })
  }

  it('a writer waits for C programs that read, and a C program for us: nothing is lost', async function () {
    skipWithout(this, 'the ring protocol of Linux')
    const make = () => SharedRing.create(fresh(), [2, 50], { slots: 2, readers: 2, dtype: 'int32' })
    const ring = make()
    const readers = [0, 1].map(() => start('ring-page', 'hold', ring.name, '300'))
    for (const reader of readers) assert.equal(await reader.next(), 'ready')
    assert.match((await start('ring-page', 'hold', ring.name, '1').exit).errors, /^ERR_BUSY/)
    for (let i = 0; i < 300; i++) await ring.writeAsync(i, { timeout: 60000, tag: i })
    for (const reader of readers) assert.equal(await reader.next(), '300')
    for (const reader of readers) assert.equal((await reader.exit).code, 0)
    for (let i = 0; i < 5; i++) ring.write(i) // they have left
    ring.dispose()
    const other = make()
    const frames = other.read({ from: 0 })
    const first = frames.next()
    const writer = start('ring-page', 'write', other.name, '300')
    for (let i = 0; i < 300; i++) {
      const {
        value: { index, lost, tensor, tag },
      } = await (i === 0 ? first : frames.next())
      assert.deepEqual([index, lost, tensor.get(1, 49), tag], [i, 0, i, BigInt(i)])
    }
    assert.deepEqual(await writer.exit, { code: 0, signal: null, errors: '' })
    other.dispose()
  })

  it('ring-page: a child that was forked has neither the role nor the place of its parent', async () => {
    const ring = SharedRing.create(fresh(), [2, 50], { slots: 2, readers: 1, dtype: 'int32' })
    assert.deepEqual(await start('ring-page', 'fork', ring.name).exit, {
      code: 0,
      signal: null,
      errors: '',
    })
    assert.equal(ring.write(0), 1)
    ring.dispose()
  })

  it('ring-page: frames and words are of one ring, also where it is replaced meanwhile', async () => {
    const name = fresh()
    const opens = start('ring-page', 'open', name)
    for (let i = 1000; i >= 0; i--) {
      const mark = i || -1
      const ring = SharedRing.create(name, [2], { slots: 4, dtype: 'int32', ifExists: 'replace' })
      const words = SharedTensor.open(`${name}.control`)
      ring.write(mark)
      words.tensor.set(BigInt.asUintN(64, BigInt(mark)), 9)
      words.dispose()
      if (i === 0) assert.equal(await opens.next(), '0')
      ring.dispose()
    }
  })

  it('ring-page: no ring, a name that is too long, and a file that is none are told apart', async () => {
    const file = fresh()
    fs.writeFileSync(`/dev/shm/${file}`, 'no ring')
    try {
      const errors = async (name) => (await start('ring-page', 'read', name).exit).errors
      assert.equal(await errors(fresh()), 'open: No such file or directory\n')
      assert.equal(await errors('r'.repeat(280)), 'open: File name too long\n')
      assert.equal(await errors(file), 'open: Invalid argument\n')
    } finally {
      fs.unlinkSync(`/dev/shm/${file}`)
    }
  })

  it('ring-page: says what is wrong where it is compiled as C++, or after headers that hid what it needs', () => {
    const compile = (...args) =>
      execFileSync(
        process.env.CC ?? 'gcc',
        ['-I', include, '-fsyntax-only', ...args, '-xc', path.join(__dirname, 'ring-page.c')],
        { stdio: 'pipe' },
      )
    assert.throws(
      () => compile('-std=c11', '-include', 'stdio.h'),
      /error:? "?with -std=c11 samebytes_ring\.h comes before/,
    )
    assert.throws(() => compile('-D__cplusplus'), /error:? "?samebytes_ring\.h is C/)
    compile('-std=c11', '-D_GNU_SOURCE', '-include', 'stdio.h')
  })

  it('ring-page: who is killed while it comes leaves neither the role nor a place taken', async () => {
    const ring = SharedRing.create(fresh(), [2, 50], { slots: 2, readers: 1, dtype: 'int32' })
    for (const what of ['write', 'hold']) {
      assert.equal((await start('ring-page', what, ring.name, '1', 'die').exit).signal, 'SIGKILL')
    }
    for (let i = 0; i < 5; i++) ring.write(i)
    ring.dispose()
  })

  it('ring-page: nothing is written where another process made nonsense of the count', async () => {
    const ring = ringOf(fresh())
    const words = SharedTensor.open(`${ring.name}.control`)
    for (const count of [2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n]) {
      words.tensor.set(count, 8)
      assert.deepEqual(await start('ring-page', 'write', ring.name).exit, {
        code: 1,
        signal: null,
        errors: 'begin: Invalid argument\n',
      })
      assert.deepEqual([words.tensor.get(3), words.tensor.get(8)], [0n, count])
    }
    words.dispose()
    ring.dispose()
  })

  it('a C program and we wake each other', async () => {
    const shared = SharedTensor.create(fresh(), [2], { dtype: 'int32' })
    const other = peer('wait', shared.name)
    assert.equal(await other.next(), 'ready')
    const answered = shared.wait(1, 0)
    shared.tensor.set(1, 0)
    shared.notify(0)
    assert.match(await answered, /^(ok|not-equal)$/)
    assert.deepEqual(shared.tensor.toArray(), [1, 1])
    assert.equal((await other.exit).code, 0)
    shared.dispose()
  })
})
