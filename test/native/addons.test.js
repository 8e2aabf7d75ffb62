'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const native = require('samebytes/native')
const samebytes = require('samebytes')
const {
  anotherCopy,
  child,
  childJson,
  collectUntil,
  copied,
  fails,
  growth,
  nativeOnly,
  refuses,
  skip,
  skipWithout,
} = require('../setup')
const { addonOf } = require('../tools')

const { dtypes, empty, flush, fromBlob, full, memory, ones, sharesMemory, tensor, zeros } =
  samebytes

const PEER = addonOf('test/peers/addon', 'peer')
const sanitized = process.env.SAMEBYTES_SANITIZED === '1'

/** What an addon sees of a tensor. */
function seen(peer, t) {
  const [address, dtype, ndim, numel, offset, flags, dynamism, capacity, ...layout] =
    peer.describe(t)
  return {
    address,
    dtype: dtypes[dtype],
    ndim,
    numel,
    offset,
    flags,
    dynamism,
    capacity,
    shape: layout.slice(0, ndim),
    strides: layout.slice(ndim),
  }
}

describe('an addon of somebody else', function () {
  nativeOnly()
  let peer

  before(() => {
    peer = require(PEER)
    peer.open(samebytes)
  })

  afterEach(() => {
    peer.release()
    assert.equal(memory().exported, 0)
  })

  it('sees a float32 tensor where it is', () => {
    const t = tensor([1, 2, 3, 4, 5, 6], [2, 3])
    const { result, copies } = copied(() => seen(peer, t))
    assert.deepEqual(copies, {})
    assert.deepEqual(result, {
      address: Number(t.dataPtr),
      dtype: 'float32',
      ndim: 2,
      numel: 6,
      offset: 0,
      flags: 1,
      dynamism: 1,
      capacity: 6,
      shape: [2, 3],
      strides: [3, 1],
    })
  })

  it('sees each dtype', () => {
    for (const dtype of dtypes) {
      const t = empty([3], dtype)
      assert.deepEqual([seen(peer, t).dtype, seen(peer, t).address], [dtype, Number(t.dataPtr)])
    }
  })

  it('sees views, scalars and nothing as they are', () => {
    const t = tensor([1, 2, 3, 4, 5, 6], [2, 3])
    const flipped = t.flip(1)
    assert.deepEqual(
      [seen(peer, flipped).strides, seen(peer, flipped).address],
      [[3, -1], Number(flipped.dataPtr)],
    )
    assert.deepEqual(seen(peer, t.T).strides, [1, 3])
    const scalar = tensor(5)
    assert.deepEqual(
      [seen(peer, scalar).shape, seen(peer, scalar).numel, seen(peer, scalar).address],
      [[], 1, Number(scalar.dataPtr)],
    )
    assert.deepEqual(
      [seen(peer, zeros([0, 3])).shape, seen(peer, zeros([0, 3])).address],
      [[0, 3], 0],
    )
    assert.deepEqual(seen(peer, ones(new Array(64).fill(1))).shape, new Array(64).fill(1))
  })

  it('writes a tensor in place, and sees what JavaScript writes', () => {
    const t = zeros([2, 3])
    const { copies } = copied(() => peer.fill(t.T.slice('1:'), 7))
    assert.deepEqual(copies, {})
    assert.deepEqual(t.toArray(), [
      [0, 7, 7],
      [0, 7, 7],
    ])
    peer.hold(t)
    t.set(100, 0, 0)
    assert.equal(peer.heldSum(), 100 + 4 * 7)
  })

  for (const [name, make] of Object.entries({
    "memory of V8's": () => full([4], 3),
    'shared memory': () => full([4], 3, { shared: true }),
    'a SharedArrayBuffer': () => full([4], 3, { shared: 'sab' }),
    "the caller's Float32Array": () => fromBlob(new Float32Array(4).fill(3)),
    "the caller's Buffer": () => fromBlob(Buffer.alloc(16)).view(4, { dtype: 'float32' }).fill(3),
  })) {
    it(`has ${name}, and gives it back as the same storage`, () => {
      const t = make()
      const { result, copies } = copied(() => peer.same(t, 0))
      assert.deepEqual(copies, {})
      assert.ok(sharesMemory(result, t))
      assert.equal(result.dataPtr, t.dataPtr)
      result.set(8, 1)
      assert.equal(t.get(1), 8)
      t.set(9, 2)
      assert.deepEqual(result.toArray(), [3, 8, 9, 3])
      t.dispose()
      assert.deepEqual(result.toArray(), [3, 8, 9, 3])
      result.dispose()
    })
  }

  it('returns a view of what it was given', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    const view = peer.last(t)
    assert.deepEqual(view.toArray(), [5, 6])
    view.fill(0)
    assert.deepEqual(t.toArray(), [
      [1, 2],
      [3, 4],
      [0, 0],
    ])
    assert.equal(view.data.buffer, t.data.buffer)
  })

  it('returns read-only what was read-only, and keeps the dynamism', () => {
    const t = fromBlob(new Float32Array(4), [4], { readOnly: true })
    assert.equal(peer.same(t, 1).isReadOnly, true)
    assert.equal(peer.same(ones([2]), 0).isReadOnly, false)
    assert.equal(peer.same(ones([2]), 1).isReadOnly, true)
    assert.equal(peer.same(ones([2], { dynamism: 'static' }), 0).dynamism, 'bounded')
  })

  it('gives memory of its own, freed once, when the tensor and its buffer are gone', async () => {
    const before = peer.freed()
    const t = peer.count(1000)
    assert.equal(t.get(999), 999)
    const view = t.slice('::2')
    t.dispose()
    assert.equal(peer.freed(), before)
    assert.equal(view.get(499), 998)
    view.dispose()
    assert.equal(peer.freed(), before + 1)
    let data = peer.count(10).data
    assert.deepEqual([...data.subarray(8)], [8, 9])
    data = null
    assert.ok(await collectUntil(() => peer.freed() === before + 2))
    assert.equal(peer.count(0).size, 0)
  })

  it('holds bytes past dispose and collection; memory().exported counts it', async () => {
    peer.hold(full([1000], 2))
    const t = full([10], 3)
    peer.hold(t)
    t.dispose()
    for (let i = 0; i < 3; i++) {
      gc()
      await flush()
    }
    for (let i = 0; i < 200; i++) full([1000], 9) // would be where the bytes were
    assert.equal(memory().exported, 2)
    assert.equal(peer.heldSum(), 2030)
    peer.release()
    assert.equal(memory().exported, 0)
  })

  it('frees at once what it releases after dispose', () => {
    const t = full([1 << 18], 3, { shared: true })
    peer.hold(t)
    t.dispose()
    const held = memory().bytes.native
    assert.ok(held >= 2 ** 20)
    peer.releaseElsewhere()
    assert.ok(memory().bytes.native <= held - 2 ** 20)
  })

  it('makes a tensor of what it holds, when the first one was disposed', () => {
    const t = full([10], 3)
    peer.hold(t)
    t.dispose()
    const again = peer.heldToJs()
    peer.release()
    assert.deepEqual(again.toArray(), new Array(10).fill(3))
  })

  it('may drop tensors on a thread of its own', () => {
    peer.hold(full([1000], 2))
    peer.hold(full([1000], 2, { shared: true }))
    assert.equal(memory().exported, 2)
    assert.equal(peer.heldSum(), 4000)
    peer.releaseElsewhere()
    assert.equal(memory().exported, 0)
  })

  it('keeps a lent buffer from being transferred', () => {
    const t = full([16], 5)
    const { buffer } = t.data
    peer.hold(t)
    try {
      structuredClone(buffer, { transfer: [buffer] })
    } catch {}
    assert.ok(buffer.byteLength >= 64)
    assert.equal(peer.heldSum(), 80)
  })

  it("keeps a deleter of the caller's waiting", async () => {
    let calls = 0
    const t = fromBlob(new Float32Array(4).fill(1), [4], {
      deleter: () => {
        calls++
      },
    })
    peer.hold(t)
    t.dispose()
    await flush()
    assert.equal(calls, 0)
    assert.equal(peer.heldSum(), 4)
    peer.releaseElsewhere()
    assert.ok(await collectUntil(() => calls > 0)) // the loop hears of it by itself
    assert.equal(calls, 1)
  })

  it("keeps what a blob record's tensor is of", async () => {
    let calls = 0
    const base = full([4], 2, { shared: true })
    const t = fromBlob(
      { ptr: base.dataPtr, shape: [4], dtype: 'float32', owner: base },
      undefined,
      {
        deleter: () => {
          calls++
        },
      },
    )
    peer.hold(fromBlob(t.toBlob()))
    t.dispose()
    for (let i = 0; i < 3; i++) {
      gc()
      await flush()
    }
    assert.equal(calls, 0)
    assert.equal(peer.heldSum(), 8)
    peer.release()
    memory()
    assert.ok(await collectUntil(() => calls === 1))
  })

  describe('is refused', () => {
    it('what is no tensor', () => {
      for (const value of [
        undefined,
        null,
        1,
        'x',
        {},
        [],
        new Float32Array(2),
        Symbol('x'),
        5n,
        () => {},
        { __samebytes__: 1 },
        { __samebytes__: peer.forge() },
        peer.forge(),
        Object.create(samebytes.Tensor.prototype),
        new Proxy(ones([2]), {}),
      ]) {
        refuses(() => peer.same(value, 0), 'ERR_ARGUMENT')
        refuses(() => peer.describe(value), 'ERR_ARGUMENT')
      }
      refuses(
        () =>
          peer.open({
            get __samebytes__() {
              throw new Error('mine')
            },
          }),
        'ERR_ARGUMENT',
      )
      refuses(
        () =>
          peer.open({
            get Tensor() {
              throw new Error('mine')
            },
          }),
        'ERR_ARGUMENT',
      )
    })

    it('a tensor that was disposed or whose buffer went away', () => {
      const t = ones([2])
      t.dispose()
      fails(() => peer.same(t, 0), Error, 'ERR_DISPOSED')
      const array = new Float32Array(4)
      const blob = fromBlob(array)
      structuredClone(array.buffer, { transfer: [array.buffer] })
      fails(() => peer.same(blob, 0), Error, 'ERR_DETACHED')
    })

    it('to write what is read-only', () => {
      fails(
        () => peer.same(fromBlob(new Float32Array(4), [4], { readOnly: true }), 0),
        Error,
        'ERR_READ_ONLY',
        /for reading/,
      )
    })

    it('a buffer that can shrink', () => {
      const buffer = new ArrayBuffer(16, { maxByteLength: 32 })
      fails(
        () => peer.same(fromBlob(buffer, [4], { dtype: 'float32' }), 0),
        Error,
        'ERR_UNSUPPORTED',
        /clone\(\)/,
      )
    })

    it('what a pending copy writes, and to write what it reads', async () => {
      const [from, to] = [zeros([1 << 20], { shared: true }), zeros([1 << 20], { shared: true })]
      const copying = to.copyFromAsync(from)
      fails(() => peer.same(to, 0), Error, 'ERR_BUSY')
      fails(() => peer.same(to, 1), Error, 'ERR_BUSY')
      fails(() => peer.same(from, 0), Error, 'ERR_BUSY')
      peer.same(from, 1)
      await copying
      peer.same(to, 0)
    })

    it('while an exception of the addon is pending, which stays', () => {
      const t = ones([2])
      for (const [open, back] of [
        [1, 0],
        [0, 0],
        [1, 1],
      ]) {
        assert.throws(() => peer.afterThrow(t, open, back), { name: 'RangeError', message: 'mine' })
      }
      assert.deepEqual(t.toArray(), [1, 1])
    })

    it('unknown flags', () => {
      fails(() => peer.fromFlags(ones([2]), 2), TypeError, 'ERR_ARGUMENT', /flags is 2/)
    })

    it('layouts that are none', () => {
      const codes = [
        'ERR_ARGUMENT',
        'ERR_SHAPE',
        'ERR_SHAPE',
        'ERR_DTYPE',
        'ERR_BOUNDS',
        'ERR_SHAPE',
        'ERR_BOUNDS',
        'ERR_BOUNDS',
        'ERR_SHAPE',
        'ERR_ARGUMENT',
        'ERR_ARGUMENT',
        'ERR_BOUNDS',
      ]
      codes.forEach((code, i) => refuses(() => peer.wrong(i), code))
      assert.equal(peer.wrong(codes.length).size, 6)
    })

    it('where the addon was built for a later samebytes', () => {
      const newer = require(addonOf('test/peers/addon', 'newer'))
      fails(
        () => newer.describe(ones([2])),
        Error,
        'ERR_UNSUPPORTED',
        /table 1\.99.*has 1\.0: update samebytes/,
      )
      fails(() => newer.open(samebytes), Error, 'ERR_UNSUPPORTED')
    })

    it('on a thread without JavaScript', () => {
      assert.deepEqual(peer.elsewhere(ones([2])), ['STALE', 'STALE'])
    })

    it('where the package runs on WebAssembly', async function () {
      skipWithout(this, 'the WebAssembly build')
      const { code, message } = await childJson(
        `
        const peer = require(${JSON.stringify(PEER)})
        try { peer.describe(require('samebytes').ones([2])) } catch ({ code, message }) { console.log(JSON.stringify({ code, message })) }
      `,
        { env: { SAMEBYTES_BACKEND: 'wasm' } },
      )
      assert.equal(code, 'ERR_UNSUPPORTED')
      assert.match(message, /WebAssembly/)
    })

    it('when memory is used up, and nothing is left lent', () => {
      const { opcodes, frame, tables } = require('../../js/backend/calls')
      const { backend } = require('../../js/backend/calls')
      const t = ones([4])
      peer.same(t, 0)
      for (const [call, least] of [
        [() => peer.same(t, 0), 2],
        [() => peer.count(4), 1],
      ]) {
        // count allocates more where a table has to grow
        let refusals = 0
        for (let n = 1; n < 50; n++) {
          frame.f64[tables.frame.ARGS] = n
          backend.call(opcodes.fail_allocation)
          let error
          try {
            call()
          } catch (e) {
            error = e
          }
          frame.f64[tables.frame.ARGS] = 0
          backend.call(opcodes.fail_allocation)
          assert.equal(memory().exported, 0)
          if (error === undefined) break
          assert.equal(error.code, 'ERR_MEMORY')
          refusals++
        }
        assert.ok(refusals >= least, `${refusals} refusals`)
      }
    })
  })

  it("throws errors of samebytes' classes", () => {
    fails(() => peer.throwIt(2), RangeError, 'ERR_SHAPE')
    fails(() => peer.throwIt(6), samebytes.SamebytesError, 'ERR_DISPOSED')
  })

  it('has tensors of another copy of the package, each with its own', () => {
    const other = anotherCopy()
    const t = other.tensor([1, 2, 3])
    assert.equal(seen(peer, t).address, Number(t.dataPtr))
    fails(() => peer.same(t, 0), TypeError, 'ERR_ARGUMENT', /this copy/)
    peer.open(other)
    assert.ok(other.Tensor.isTensor(peer.same(t, 0)))
    peer.hold(t)
    t.dispose()
    peer.open(samebytes)
    assert.equal(peer.heldSum(), 6)
  })

  it('finds every public function in the table', () => {
    const header = fs.readFileSync(path.join(native.include, 'samebytes.h'), 'utf8')
    const table = fs.readFileSync(path.join(native.include, 'samebytes_napi.h'), 'utf8')
    const functions = [...header.matchAll(/SB_API [^;(]*?\*?sb_([a-z_0-9]+)\(/g)].map(
      (match) => match[1],
    )
    const listed = [...table.matchAll(/ X\((\w+)\)/g)].map((match) => match[1])
    assert.ok(functions.length > 60)
    assert.deepEqual(
      functions.filter((name) => !listed.includes(name)),
      [],
    )
    const [, major, minor, missing] = peer.table()
    assert.deepEqual([major, minor, missing], [1, 0, 0])
  })

  it('is told where it gives a tensor before samebytes is open', async () => {
    const said = await childJson(`
      const peer = require(${JSON.stringify(PEER)})
      try { peer.early() } catch ({ code, message }) { console.log(JSON.stringify([code, message])) }
    `)
    assert.deepEqual(said, [
      'ERR_ARGUMENT',
      'samebytes is not open: sb_napi_open comes before this',
    ])
  })

  it('takes and gives 100,000 times without growing', async function () {
    if (sanitized) return skip(this, "a sanitizer's own memory grows")
    const { grown, exported } = await growth(
      `
      const peer = require(${JSON.stringify(PEER)})
      peer.open(samebytes)
      const t = samebytes.ones([16])`,
      'peer.same(t, 0).dispose(); peer.count(64).dispose()',
    )
    assert.equal(exported, 0)
    assert.ok(grown < 16 * 2 ** 20, `grew by ${grown} bytes`)
  })
})

describe('an addon and environments that end', function () {
  nativeOnly()

  /** A program whose main thread has run a worker to its end; `after` runs then. */
  const program = (worker, after, end = '') => `
    const { Worker } = require('node:worker_threads')
    const peer = require(${JSON.stringify(PEER)})
    const samebytes = require('samebytes')
    peer.open(samebytes)
    const worker = new Worker(${JSON.stringify(`
      const samebytes = require('samebytes')
      const peer = require(${JSON.stringify(PEER)})
      peer.open(samebytes)
      ${worker}
    `)}, { eval: true })
    ${end}
    worker.on('error', error => { throw error }).on('exit', () => {
      const out = {}
      ${after}
      console.log(JSON.stringify(out))
    })
  `
  const env = { SAMEBYTES_BACKEND: 'native' }

  it('reads shared memory of a worker that has ended, and gives it to JavaScript here', async () => {
    const out = await childJson(
      program(
        'peer.park(samebytes.full([4], 6, { shared: true }))',
        `
      out.first = peer.parkedFirst()
      const t = peer.parkedToJs()
      peer.unpark()
      out.values = t.toArray()
      t.fill(1)
      out.data = [...t.data]
    `,
      ),
      { env },
    )
    assert.deepEqual(out, { first: 6, values: [6, 6, 6, 6], data: [1, 1, 1, 1] })
  })

  it("drops V8's memory of a worker that has ended, and cannot give it to another one", async () => {
    const out = await childJson(
      program(
        'peer.park(samebytes.full([4], 6))',
        `
      try { peer.parkedToJs() } catch (error) { out.code = error.code }
      peer.unpark()
      out.exported = samebytes.memory().exported
    `,
      ),
      { env },
    )
    assert.deepEqual(out, { code: 'ERR_UNSUPPORTED', exported: 0 })
  })

  it("drops a worker's memory while that runs", async () => {
    const out = await childJson(
      program(
        `
      const { parentPort } = require('node:worker_threads')
      peer.park(samebytes.full([1000], 6))
      const before = samebytes.memory().exported
      parentPort.postMessage('parked')
      parentPort.once('message', () => parentPort.postMessage([before, samebytes.memory().exported]))
    `,
        'out.said = said',
        `
      let said
      worker.on('message', message => {
        if (message !== 'parked') { said = message; return }
        peer.unpark()
        worker.postMessage('go on')
      })
    `,
      ),
      { env },
    )
    assert.deepEqual(out, { said: [1, 0] })
  })

  it('has its deleter called once when the worker ends that had the memory', async () => {
    const out = await childJson(
      program(
        'globalThis.kept = [peer.count(10), peer.count(10).data]; for (let i = 0; i < 10; i++) peer.count(5)',
        'out.freed = peer.freed()',
      ),
      { env },
    )
    assert.deepEqual(out, { freed: 12 })
  })

  it('may hold tensors until the process ends, or a worker is terminated', async () => {
    const hold =
      'for (let i = 0; i < 50; i++) peer.hold(samebytes.full([i + 1], i, i % 2 ? { shared: true } : {}))'
    const out = await childJson(
      program(
        `${hold}; require('node:worker_threads').parentPort.postMessage('held'); for (;;);`,
        hold,
        "worker.on('message', () => worker.terminate())",
      ),
      { env },
    )
    assert.deepEqual(out, {})
    const { code, stderr } = await child(
      `const samebytes = require('samebytes'); const peer = require(${JSON.stringify(PEER)}); peer.open(samebytes); ${hold}; process.exit(0)`,
      { env },
    )
    assert.equal(code, 0, stderr)
  })

  it('takes and gives on eight threads at once', async () => {
    const work = `
      const kept = samebytes.full([100], 1)
      for (let i = 0; i < 3000; i++) {
        const t = peer.same(i % 3 ? kept : samebytes.full([10], 1, { shared: true }), 0)
        if (t.get(5) !== 1) throw new Error('wrong')
        peer.hold(t)
        if (i % 50 === 0) peer.releaseElsewhere()
      }
    `
    const out = await childJson(
      `
      const { Worker } = require('node:worker_threads')
      const run = () => new Promise((resolve, reject) => {
        new Worker(${JSON.stringify(`const samebytes = require('samebytes'); const peer = require(${JSON.stringify(PEER)}); peer.open(samebytes); ${work}`)}, { eval: true }).on('error', reject).on('exit', resolve)
      })
      Promise.all(Array.from({ length: 8 }, run)).then(codes => console.log(JSON.stringify(codes)))
    `,
      { env },
    )
    assert.deepEqual(out, new Array(8).fill(0))
  })
})

describe('samebytes/native', () => {
  nativeOnly()

  it('names the headers and the library, for import and require alike', async () => {
    const esm = await import('samebytes/native')
    assert.equal(esm.include, native.include)
    assert.equal(esm.library, native.library)
    assert.ok(path.isAbsolute(native.include) && path.isAbsolute(native.library))
    for (const header of ['samebytes.h', 'samebytes_napi.h']) {
      assert.ok(fs.existsSync(path.join(native.include, header)), header)
    }
    assert.equal(fs.readFileSync(native.library).subarray(1, 4).toString(), 'ELF')
  })

  it('loads no addon', async () => {
    const loaded = await childJson(
      "require('samebytes/native'); console.log(JSON.stringify(Object.keys(require.cache).filter(file => file.endsWith('.node'))))",
    )
    assert.deepEqual(loaded, [])
  })
})
