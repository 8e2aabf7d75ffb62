'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createNpy, fromBlob, full, memory } = require('samebytes')
const { childJson, collectUntil, nativeOnly, needs, quietMemory } = require('../setup')
const { abilities } = require('../segments')

const MIB = 1048576

// Ways that take the bytes of a buffer over native memory to another buffer, `moved`, which can be posted. Each is an expression.
const STREAM =
  "new ReadableStream({ type: 'bytes', start (c) { c.enqueue(data) } }).getReader().read().then(({ value }) => value.buffer)"
const TRANSFERS = {
  'transfer()': 'data.buffer.transfer()',
  'ArrayBuffer.prototype.transfer, of an instance that has none':
    '(Object.setPrototypeOf(data.buffer, null), ArrayBuffer.prototype.transfer.call(data.buffer))',
  'transferToFixedLength()': 'data.buffer.transferToFixedLength()',
  'two transfers': 'data.buffer.transfer().transfer()',
}

const SHARED = 'full([MIB], 7, { dtype: "uint8", shared: true })'

// Tensors of MIB bytes in a worker, all 7.
const MEMORIES = {
  'memory made with shared: true': SHARED,
  'memory of another thread': 'fromShared(workerData.token)',
  ...(abilities.sealedMemory && {
    'a segment': 'SharedTensor.create(null, [MIB], { dtype: "uint8" }).tensor.fill(7)',
  }),
  'a mapped file': 'openNpy(workerData.file)',
}

const WORKER = (t, moved, after) => `
  const { parentPort, workerData } = require('node:worker_threads')
  const { fromShared, full, openNpy, SharedTensor } = require('samebytes')
  const MIB = ${MIB}
  async function main () {
    globalThis.t = ${t}
    globalThis.data = t.data
    const moved = await ${moved}
    parentPort.postMessage(moved, [moved])
    ${after}
  }
  main()`

/**
 * What the main thread of a process sees when a worker posted it a buffer and has ended: the worker's exit code, bytes of the buffer,
 * and how many native bytes are there, beside those before, with the buffer and without.
 */
function seenAfter(worker, { ends = '', before = '', data = '{}' } = {}) {
  return childJson(
    `
    const { Worker } = require('node:worker_threads')
    const { flush, full, memory, share } = require('samebytes')
    const MIB = ${MIB}
    const collect = async () => { for (let i = 0; i < 4; i++) { gc(); await flush() } }
    async function main () {
      ${before}
      const start = memory().bytes.native
      let bytes
      const worker = new Worker(${JSON.stringify(worker)}, { eval: true, workerData: ${data}, execArgv: [] })
      worker.once('message', buffer => { bytes = new Uint8Array(buffer); ${ends} })
      const code = await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve))
      await collect()
      full([4 * MIB], 9, { dtype: 'uint8', shared: true }).dispose() // comes where freed bytes were
      const seen = bytes === undefined ? null : [bytes.length, bytes[0], bytes[MIB / 2], bytes[MIB - 1]]
      const held = memory().bytes.native - start
      bytes = undefined
      await collect()
      console.log(JSON.stringify({ code, seen, held, after: memory().bytes.native - start }))
    }
    main()`,
    { flags: ['--expose-gc'], env: { SAMEBYTES_BACKEND: 'native' } },
  )
}

const KEPT = { code: 0, seen: [MIB, 7, 7, 7], held: MIB, after: MIB }

describe('bytes that a worker posted away with their buffer', function () {
  nativeOnly()

  it('stay when it has ended, by way of a stream of bytes', async () => {
    assert.deepEqual(await seenAfter(WORKER(SHARED, STREAM, '')), KEPT)
  })

  it('stay when it was terminated in a loop', async () => {
    assert.deepEqual(
      await seenAfter(WORKER(SHARED, STREAM, 'for (;;) {}'), { ends: 'worker.terminate()' }),
      { ...KEPT, code: 1 },
    )
  })

  it('stay when it has called process.exit', async () => {
    assert.deepEqual(
      await seenAfter(WORKER(SHARED, STREAM, 'setTimeout(() => process.exit(3), 50)')),
      { ...KEPT, code: 3 },
    )
  })

  it('stay when it has made others since, and collected what is left of the first buffer', async () => {
    const after = `
      t.dispose()
      globalThis.t = globalThis.data = null
      const v8 = require('node:v8')
      v8.setFlagsFromString('--expose-gc')
      const gc = require('node:vm').runInNewContext('gc')
      globalThis.others = []
      for (let i = 0; i < 5; i++) {
        gc()
        await require('samebytes').flush()
        globalThis.others.push(full([16], i, { shared: true }).data) // all kept: what V8 collects just before the end may stay
      }`
    assert.deepEqual(await seenAfter(WORKER(SHARED, STREAM, after)), KEPT)
  })

  it('go when they were never taken from their buffer, however the worker ends', async () => {
    const worker = (end) => `
      const { parentPort } = require('node:worker_threads')
      const { full } = require('samebytes')
      globalThis.kept = Array.from({ length: 8 }, () => full([${MIB / 8}], 7, { dtype: 'uint8', shared: true }).data)
      parentPort.postMessage(new ArrayBuffer(${MIB}))
      ${end}`
    for (const [end, ends, expected] of [
      ['', '', 0],
      ['setTimeout(() => process.exit(3), 50)', '', 3],
      ['for (;;) {}', 'worker.terminate()', 1],
    ]) {
      const { code, held } = await seenAfter(worker(end), { ends })
      assert.deepEqual([code, held], [expected, 0], end)
    }
  })
})

describe('bytes that a worker transferred away and posted', function () {
  nativeOnly()
  needs('ArrayBuffer.prototype.transfer')

  for (const [how, moved] of Object.entries(TRANSFERS)) {
    it(`stay when it has ended, by ${how}`, async () => {
      assert.deepEqual(await seenAfter(WORKER(SHARED, moved, '')), KEPT)
    })
  }

  for (const [what, t] of Object.entries(MEMORIES)) {
    it(`stay when it has ended, of ${what}`, async function () {
      const file = path.join(os.tmpdir(), `samebytes-${process.pid}-transferred.npy`)
      try {
        createNpy(file, [MIB], { dtype: 'uint8' }).fill(7).dispose()
        const { code, seen } = await seenAfter(WORKER(t, TRANSFERS['transfer()'], ''), {
          data: `{ token: (() => share(full([MIB], 7, { dtype: 'uint8', shared: true })))(), file: ${JSON.stringify(file)} }`,
        })
        assert.deepEqual([code, seen], [0, KEPT.seen])
      } finally {
        fs.rmSync(file, { force: true })
      }
    })
  }

  it('stay when what is left of their buffer was collected before it ended', async () => {
    const result = await seenAfter(
      WORKER(
        SHARED,
        TRANSFERS['transfer()'],
        `
      t.dispose()
      globalThis.t = globalThis.data = null
      const v8 = require('node:v8')
      v8.setFlagsFromString('--expose-gc')
      const gc = require('node:vm').runInNewContext('gc')
      for (let i = 0; i < 5; i++) { gc(); await require('samebytes').flush() }`,
      ),
    )
    assert.deepEqual(result, KEPT)
  })
})

describe('bytes of native memory that a thread transferred away', function () {
  nativeOnly()
  needs('ArrayBuffer.prototype.transfer')

  it('stay as long as the buffer that has them, and go with it', async () => {
    const result = await childJson(
      `
      const { flush, full, memory } = require('samebytes')
      const collect = async () => { for (let i = 0; i < 4; i++) { gc(); await flush() } }
      async function main () {
        const start = memory().bytes.native
        let moved = (() => full([${MIB}], 7, { dtype: 'uint8', shared: true }).data.buffer.transfer())()
        await collect()
        const seen = [new Uint8Array(moved)[${MIB} - 1], memory().bytes.native - start]
        moved = null
        await collect()
        console.log(JSON.stringify([...seen, memory().bytes.native - start]))
      }
      main()`,
      { flags: ['--expose-gc'], env: { SAMEBYTES_BACKEND: 'native' } },
    )
    assert.deepEqual(result, [7, MIB, 0])
  })

  it('stay as long as a worker has them, and go when it ends', async () => {
    const result = await childJson(
      `
      const { Worker } = require('node:worker_threads')
      const { flush, full, memory } = require('samebytes')
      const collect = async () => { for (let i = 0; i < 4; i++) { gc(); await flush() } }
      async function main () {
        const start = memory().bytes.native
        const worker = new Worker(\`
          const { parentPort } = require('node:worker_threads')
          let bytes
          parentPort.on('message', message => {
            if (message === 'end') parentPort.close()
            else if (message === 'look') parentPort.postMessage(bytes[${MIB} - 1])
            else { bytes = new Uint8Array(message); parentPort.postMessage('has it') }
          })\`, { eval: true })
        const answer = () => new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
        ;(() => {
          const moved = full([${MIB}], 7, { dtype: 'uint8', shared: true }).data.buffer.transfer()
          worker.postMessage(moved, [moved])
        })()
        await answer()
        await collect()
        worker.postMessage('look')
        const seen = [await answer(), memory().bytes.native - start]
        worker.postMessage('end')
        await new Promise(resolve => worker.once('exit', resolve))
        await collect()
        console.log(JSON.stringify([...seen, memory().bytes.native - start]))
      }
      main()`,
      { flags: ['--expose-gc'], env: { SAMEBYTES_BACKEND: 'native' } },
    )
    assert.deepEqual(result, [7, MIB, 0])
  })
})

describe('bytes that __dlpack__ has lent', function () {
  nativeOnly()
  needs('ArrayBuffer.prototype.transfer')

  const NEW = { maxVersion: [1, 0] }
  const LENT = {
    'a small tensor': () => full([4], 7, 'uint8'),
    'a tensor whose data was seen before': () => {
      const t = full([2048], 7, 'uint8')
      t.data[0] = 7
      return t
    },
    "the caller's buffer": () => fromBlob(new Uint8Array(64).fill(7)),
  }

  const NATIVE = {
    "memory that is not V8's": () => fromBlob(full([16], 7, { dtype: 'uint8', shared: true }).data),
  }

  for (const [what, make] of Object.entries({ ...LENT, ...NATIVE })) {
    it(`stay in the buffer of ${what}: its methods throw`, () => {
      const t = make()
      const capsule = t.__dlpack__(NEW)
      const { buffer } = t.data
      for (const move of [
        () => buffer.transfer(),
        () => buffer.transferToFixedLength(),
        () => structuredClone(buffer, { transfer: [buffer] }),
      ]) {
        assert.throws(move)
      }
      assert.deepEqual([t.get(3), t.data[3], buffer.byteLength > 0], [7, 7, true])
      assert.equal(typeof capsule, 'object')
    })
  }

  it("of native memory under a buffer of the caller's stay when that is transferred and collected", async () => {
    const before = (await quietMemory()).bytes.native
    let capsule = (() => {
      const t = fromBlob(full([MIB], 7, { dtype: 'uint8', shared: true }).data.subarray(4096))
      const lent = t.__dlpack__(NEW)
      try {
        ArrayBuffer.prototype.transfer.call(t.data.buffer)
      } catch {}
      return lent
    })()
    for (let i = 0; i < 4; i++) {
      globalThis.gc()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(memory().bytes.native - before, MIB)
    assert.equal(typeof capsule, 'object')
    capsule = null
    assert.ok(await collectUntil(() => memory().bytes.native <= before))
  })

  describe('on Node 24 and later', () => {
    needs('buffers that stay')

    for (const [how, move] of Object.entries({
      'transfer()': (buffer) => ArrayBuffer.prototype.transfer.call(buffer),
      'transferToFixedLength()': (buffer) =>
        ArrayBuffer.prototype.transferToFixedLength.call(buffer),
      structuredClone: (buffer) => structuredClone(buffer, { transfer: [buffer] }),
      postMessage: (buffer) => new MessageChannel().port1.postMessage(buffer, [buffer]),
      'a stream of bytes': (buffer) =>
        new ReadableStream({
          type: 'bytes',
          start(c) {
            c.enqueue(new Uint8Array(buffer))
          },
        }),
      "a reader's own buffer": (buffer) =>
        new ReadableStream({ type: 'bytes' })
          .getReader({ mode: 'byob' })
          .read(new Uint8Array(buffer))
          .catch(() => {}),
    })) {
      it(`are not taken away by ${how}`, async () => {
        for (const make of Object.values(LENT)) {
          const t = make()
          const capsule = t.__dlpack__(NEW)
          try {
            await move(t.data.buffer)
          } catch {}
          assert.deepEqual([t.get(3), t.data[3]], [7, 7])
          assert.equal(typeof capsule, 'object')
        }
      })
    }
  })
})

describe('bytes that are being saved', function () {
  nativeOnly()

  // The one thread that writes files is kept busy meanwhile.
  const saved = (make, moves) =>
    childJson(
      `
    const fs = require('node:fs')
    const path = require('node:path')
    const { fromBlob, full, openNpy, saveNpy } = require('samebytes')
    const { occupyPool } = require('./test/pool')
    let begin
    async function main () {
      const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'samebytes-saved-'))
      try {
        const t = ${make}
        let release = null
        const begun = new Promise(resolve => {
          begin = () => {
            release ??= occupyPool() // before the bytes' write begins
            setImmediate(resolve)
          }
        })
        const saving = saveNpy(path.join(folder, 'x.npy'), t, { onProgress: () => begin() }) // of the header first
        await begun
        let moved = ${moves}
        new Uint8Array(moved).fill(9)
        moved = null
        gc()
        await release()
        await saving
        const saved = openNpy(path.join(folder, 'x.npy'))
        console.log(JSON.stringify([...new Set(saved.toArray())]))
        saved.dispose()
      } finally {
        fs.rmSync(folder, { recursive: true })
      }
    }
    main()`,
      { flags: ['--expose-gc'], env: { SAMEBYTES_BACKEND: 'native', UV_THREADPOOL_SIZE: '1' } },
    )

  it('are saved, whoever transfers the buffer away meanwhile and frees it', async () => {
    for (const make of [
      'full([1000000], 7, "uint8")',
      'fromBlob(new Uint8Array(1000000).fill(7))',
    ]) {
      assert.deepEqual(
        await saved(make, 'structuredClone(t.data.buffer, { transfer: [t.data.buffer] })'),
        [7],
        make,
      )
    }
  })
})
