'use strict'
// What goes wrong: no driver, no device, no memory, lost contexts, threads and processes that end with work under way. Each in a process of its
// own, on a driver that faults as it is told.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { childJson, child } = require('../setup')
const { fakeOnly, onFake, runOnFake } = require('./device')

describe('without CUDA', function () {
  const ASK = `
    const { hostRegister } = samebytes
    say({
      why: cuda.whyNot(), available: cuda.isAvailable(), count: cuda.deviceCount(), device: codeOf(() => zeros([2], { device: 'cuda' })), pinned: codeOf(() => zeros([2], { pinMemory: true })),
      register: codeOf(() => hostRegister(zeros([2]))), stream: codeOf(() => new cuda.Stream()), properties: codeOf(() => cuda.properties(0)), empty: codeOf(() => cuda.emptyCache()),
      to: codeOf(() => zeros([2]).cuda()), bytes: memory().bytes.cuda, works: zeros([2]).fill(3).toArray()
    })
  `

  function check(answer, pattern) {
    assert.match(answer.why, pattern)
    assert.deepEqual(
      [answer.available, answer.count, answer.bytes, answer.works, answer.empty],
      [false, 0, 0, [3, 3], 'nothing was thrown'],
    )
    for (const name of ['device', 'stream', 'properties', 'to']) {
      assert.equal(answer[name][0], 'ERR_DEVICE', name)
      assert.match(answer[name][1], pattern)
    }
    assert.match(answer.device[1], /'cpu' is there/)
    for (const name of ['pinned', 'register']) {
      assert.equal(answer[name][0], 'ERR_UNSUPPORTED', name)
      assert.match(answer[name][1], pattern)
    }
  }

  it('there is no driver', async () => {
    check(
      await onFake(ASK, { SAMEBYTES_LIBCUDA: path.join(os.tmpdir(), 'no-such-libcuda.so') }),
      /no-such-libcuda/,
    )
  })

  it('import opens no driver, nor do tensors of the CPU', async () => {
    const answer = await childJson(`
      const { zeros, memory, share } = require('samebytes')
      const t = zeros([100])
      t.pinned = t.isPinned
      t.cpu().to('float16').toArray()
      memory()
      const maps = require('node:fs').readFileSync('/proc/self/maps', 'utf8')
      console.log(JSON.stringify({ mapped: /libcuda/.test(maps), pinned: t.pinned }))
    `)
    assert.deepEqual(answer, { mapped: false, pinned: false })
  })

  describe('with a driver that', () => {
    fakeOnly()

    it('has no device', async () => {
      check(await onFake(ASK, { FAKECUDA_DEVICES: '0' }), /device/)
    })
    it('is too old', async () => {
      check(await onFake(ASK, { FAKECUDA_INIT: '35' }), /too old/)
    })
    it('does not fit its library', async () => {
      check(await onFake(ASK, { FAKECUDA_INIT: '803' }), /differ/)
    })
  })
})

describe('failures of a device', function () {
  fakeOnly()

  it('out of memory is ERR_MEMORY with numbers, and what there is goes on', async () => {
    const answer = await onFake(
      `
      const kept = ones([1 << 20], { device: 'cuda:0' })
      const full = codeOf(() => zeros([1 << 24], { device: 'cuda:0' }))
      say({ full, kept: kept.get(5), again: zeros([100], { device: 'cuda:0' }).get(99), left: memory().bytes.cuda })
    `,
      { FAKECUDA_MEM: String(32 * 2 ** 20) },
    )
    assert.equal(answer.full[0], 'ERR_MEMORY')
    assert.match(answer.full[1], /\d{7}/)
    assert.deepEqual([answer.kept, answer.again], [1, 0])
  })

  it('what nobody can reach is freed where there is no memory left, without a turn of the event loop', async () => {
    const answer = await onFake(
      `
      let last
      for (let i = 0; i < 40; i++) last = zeros([1 << 20], { device: 'cuda:0' }).fill(i) // 160 of 64 MiB
      say({ last: last.get(7), stats: cuda.memoryStats().failures })
    `,
      { FAKECUDA_MEM: String(64 * 2 ** 20) },
    )
    assert.deepEqual(answer, { last: 39, stats: 0 })
  })

  it('so it is for an instance of the package when a later one is gone', async () => {
    const answer = await onFake(
      `
      const forget = () => {
        for (const name of Object.keys(require.cache)) if (!name.endsWith('.node')) delete require.cache[name]
        module.children.length = 0
      }
      const later = () => {
        forget()
        require('samebytes').zeros([1], { device: 'cuda:0' }).dispose()
        const host = Object.keys(require.cache).find(name => name.endsWith('runtime/host.js'))
        const collector = new WeakRef(require.cache[host].exports.collectGarbage)
        forget()
        return collector
      }
      let last = zeros([1], { device: 'cuda:0' })
      const collector = later()
      let turns = 0
      const fill = () => {
        gc()
        if (++turns < 5) return setTimeout(fill, 5)
        const isGone = collector.deref() === undefined
        for (let i = 0; i < 40; i++) last = zeros([1 << 20], { device: 'cuda:0' }).fill(i) // 160 of 64 MiB
        say({ isGone, last: last.get(7) })
      }
      setTimeout(fill, 5)
    `,
      { FAKECUDA_MEM: String(64 * 2 ** 20) },
      { flags: ['--expose-gc'] },
    )
    assert.deepEqual(answer, { isGone: true, last: 39 })
  })

  it('page-locked memory that is used up is ERR_MEMORY', async () => {
    const answer = await onFake(
      `
      say({ full: codeOf(() => zeros([1 << 24], { pinMemory: true })), pinned: codeOf(() => samebytes.hostRegister(zeros([1 << 24]))), works: zeros([4], { pinMemory: true }).fill(2).toArray() })
    `,
      { FAKECUDA_HOST_MEM: String(16 * 2 ** 20) },
    )
    assert.deepEqual(
      [answer.full[0], answer.pinned[0], answer.works],
      ['ERR_MEMORY', 'ERR_MEMORY', [2, 2, 2, 2]],
    )
  })

  for (const name of [
    'cuMemAlloc',
    'cuMemcpyHtoDAsync',
    'cuMemcpyDtoHAsync',
    'cuMemcpyDtoDAsync',
    'cuEventRecord',
    'cuEventCreate',
    'cuStreamCreate',
    'cuLaunchKernel',
    'cuMemHostAlloc',
    'cuEventQuery',
    'cuCtxPushCurrent',
    'cuMemHostRegister',
  ]) {
    it(`any call of ${name} may fail: a typed error, and nothing is left`, async () => {
      const answer = await onFake(
        `
        async function round () {
          const a = arange(600, { device: 'cuda:0' }).view([20, 30])
          const b = a.T.contiguous().to('float32').fill(2)
          const stream = new cuda.Stream()
          const c = zeros([30, 20], { device: 'cuda:0' }).copyFrom(b, { stream })
          await c.ready()
          await stream.finished()
          await c.copyFromAsync(zeros([30, 20], { pinMemory: true }))
          samebytes.hostRegister(zeros([4096]))
          c.set(1, 0, 0)
          return c.cpu().toArray().flat().reduce((x, y) => x + y)
        }
        async function main () {
          const ends = []
          for (let i = 0; i < 2; i++) {
            try { ends.push(await round()) } catch (error) { ends.push(error.code) }
          }
          say(ends)
        }
        main()
      `,
        { FAKECUDA_FAIL: `${name}:2:1` },
      )
      for (const end of answer) {
        assert.ok(
          end === 1 || ['ERR_DEVICE', 'ERR_MEMORY', 'ERR_UNSUPPORTED'].includes(end),
          `${name}: ${end}`,
        )
      }
      assert.ok(answer.includes(1), `${name}: ${answer}`)
    })
  }

  it('a lost context is said at each use of a device, the first words kept, and the CPU goes on', async () => {
    const answer = await onFake(
      `
      const t = zeros([1000], { device: 'cuda:0' })
      const pinned = ones([10], { pinMemory: true })
      const stream = new cuda.Stream()
      const first = codeOf(() => { for (let i = 0; i < 100; i++) t.fill(i).get(0) })
      const codes = [() => t.get(0), () => t.fill(1), () => t.cpu(), () => zeros([1], { device: 'cuda:0' }), () => zeros([2]).cuda(), () => new cuda.Stream(), () => stream.synchronize(),
        () => cuda.synchronize(), () => t.clone(), () => zeros([1000]).copyFrom(t)].map(codeOf)
      const text = [String(require('node:util').inspect(t)), Object.prototype.toString.call(t).slice(0, 6)]
      async function main () {
        const promises = await Promise.allSettled([t.copyFromAsync(zeros([1000])), stream.finished()])
        t.dispose()
        const cpu = zeros([4]).fill(7).clone().toArray()
        pinned.data.fill(3)
        say({ first, codes: codes.map(c => c[0]), words: codes[0][1], text, promises: promises.map(p => p.reason?.code), cpu, pinned: pinned.toArray().length, why: cuda.whyNot(), available: cuda.isAvailable() })
      }
      main()
    `,
      { FAKECUDA_FAIL: 'cuMemcpyDtoHAsync:3:700' },
    )
    assert.equal(answer.first[0], 'ERR_CUDA_CONTEXT_LOST')
    assert.deepEqual(new Set(answer.codes), new Set(['ERR_CUDA_CONTEXT_LOST']))
    assert.match(answer.words, /illegal address/)
    assert.deepEqual(answer.text, ["tensor(lost, device='cuda:0')", '[objec'])
    assert.deepEqual(answer.promises, ['ERR_CUDA_CONTEXT_LOST', 'ERR_CUDA_CONTEXT_LOST'])
    assert.deepEqual([answer.cpu, answer.pinned, answer.available], [[7, 7, 7, 7], 10, false])
    assert.match(answer.why, /illegal address/)
  })

  it('work goes to the stream that is named, and streams wait for each other only then', async () => {
    // The driver refuses to let one stream wait for another: what needs that tells by its failure where it went.
    const answer = await onFake(
      `
      const [a, b] = [zeros([10], { device: 'cuda:0' }), ones([10], { device: 'cuda:0' })]
      const [stream, other] = [new cuda.Stream(), new cuda.Stream()]
      const event = new cuda.Event().record(stream)
      const FNS = {
        default: () => a.copyFrom(b),
        stream: () => a.copyFrom(b, { stream }),
        number: () => a.copyFrom(b, { stream: stream.handle }),
        capsule: () => a.__dlpack__({ stream: stream.handle }),
        'capsule on the default stream': () => a.__dlpack__({ stream: 1 }),
        'capsule without order': () => a.__dlpack__({ stream: -1 }),
        wait: () => other.wait(event),
        'default again': () => b.fill(2)
      }
      say(Object.fromEntries(Object.entries(FNS).map(([name, fn]) => [name, codeOf(fn)[0].length === 1 ? 'done' : 'refused'])))
    `,
      {
        FAKECUDA_FAIL: Array.from({ length: 40 }, (_, i) => `cuStreamWaitEvent:${i + 1}:1`).join(
          ',',
        ),
      },
    )
    assert.deepEqual(answer, {
      default: 'done',
      stream: 'refused',
      number: 'refused',
      capsule: 'refused',
      'capsule on the default stream': 'done',
      'capsule without order': 'done',
      wait: 'refused',
      'default again': 'done',
    })
  })

  describe('while work is under way', () => {
    let pause

    beforeEach(() => {
      pause = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-pause-')), 'pause')
    })
    afterEach(() => {
      fs.rmSync(path.dirname(pause), { recursive: true, force: true })
    })

    it('promises are pending, the event loop turns, and what is freed is not reused early', async () => {
      const answer = await onFake(
        `
        const fs = require('node:fs')
        const pause = ${JSON.stringify(pause)}
        async function main () {
          const t = zeros([1000], { device: 'cuda:0' })
          const pinned = ones([1000], { pinMemory: true })
          await t.ready()
          fs.writeFileSync(pause, '')
          const stream = new cuda.Stream()
          const event = new cuda.Event()
          let done = 0
          const pending = [t.copyFromAsync(pinned, { stream }), stream.finished()]
          event.record(stream)
          pending.push(event.finished(), t.ready())
          for (const p of pending) p.then(() => { done++ })
          for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve))
          const before = { done, isDone: event.isDone, inFlight: memory().inFlight, busy: codeOf(() => pinned.fill(3))[0] }
          pinned.dispose()
          const other = zeros([1000], { pinMemory: true }) // not where pinned was
          fs.rmSync(pause)
          await Promise.all(pending)
          say({ before, done, value: t.get(999), other: other.get(0), after: memory().inFlight })
        }
        main()
      `,
        { FAKECUDA_PAUSE: pause },
      )
      assert.deepEqual(answer, {
        before: { done: 0, isDone: false, inFlight: 1, busy: 'ERR_BUSY' },
        done: 4,
        value: 1,
        other: 0,
        after: 0,
      })
    })

    it('a process ends where nothing is awaited, and ends at process.exit where something is', async () => {
      for (const [last, code] of [
        ['', 0],
        ['t.ready(); process.exit(3)', 3],
        ['t.copyFromAsync(pinned); process.exit(4)', 4],
      ]) {
        const {
          code: ended,
          signal,
          stderr,
        } = await runOnFake(`
          const t = zeros([1000], { device: 'cuda:0' })
          const pinned = ones([1000], { pinMemory: true })
          t.fill(1)
          t.copyFrom(ones([1000], { device: 'cuda:0' }), { stream: new cuda.Stream() })
          ${last}
        `)
        assert.deepEqual([ended, signal, stderr], [code, null, ''])
      }
    })
  })

  it('a worker that ends, or is terminated, with tensors alive and copies under way takes nothing along', async () => {
    const answer = await onFake(`
      const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
      const source = \`
        const { zeros, ones, arange, fromShared, fromBlob, hostRegister, cuda } = require('samebytes')
        const { parentPort, workerData } = require('node:worker_threads')
        const theirs = fromShared(workerData)
        const kept = [zeros([1000], { device: 'cuda:0' }), ones([1000], { pinMemory: true }), arange(10, { device: 'cuda:0' }), new cuda.Stream(), hostRegister(fromBlob(new Float32Array(10000)))]
        globalThis.kept = kept
        theirs.fill(5)
        kept[0].copyFromAsync(kept[1], { stream: kept[3] })
        kept[0].copyFromAsync(new Float32Array(1000)).catch(() => {})
        kept[3].finished()
        parentPort.postMessage('there')
      \`
      async function main () {
        const t = zeros([100], { device: 'cuda:0' })
        const before = [memory().bytes.cuda, memory().bytes.pinned]
        for (let i = 0; i < 4; i++) {
          const worker = new Worker(source, { eval: true, workerData: samebytes.share(t) })
          const ended = new Promise(resolve => worker.once('exit', resolve))
          await new Promise((resolve, reject) => { worker.once('message', resolve); worker.once('error', reject) })
          if (i % 2 === 0) await worker.terminate()
          await ended
        }
        const registered = cuda.memoryStats().registeredBytes
        say({ before, after: [memory().bytes.cuda, memory().bytes.pinned], value: t.get(99), registered, works: zeros([3], { device: 'cuda:0' }).fill(2).toArray() })
      }
      main()
    `)
    assert.deepEqual(answer.after, answer.before)
    assert.deepEqual([answer.value, answer.registered, answer.works], [5, 0, [2, 2, 2]])
  })

  it('a child process is one of its own', async () => {
    const { code, stdout } = await child(
      `
      const { cuda } = require('samebytes')
      cuda.isAvailable()
      console.log(require('node:child_process').execFileSync(process.execPath, ['-p', "require('samebytes').cuda.deviceCount()"], { encoding: 'utf8' }).trim())
    `,
      { env: { SAMEBYTES_LIBCUDA: require('./device').FAKE, FAKECUDA_DEVICES: '3' } },
    )
    assert.deepEqual([code, stdout.trim()], [0, '3'])
  })
})
