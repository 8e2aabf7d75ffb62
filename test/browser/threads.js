'use strict'
// Threads over one memory, and memory that becomes another, in fresh pages; init.js runs them. Nothing is measured by time:
// what comes later is waited for.
const assert = require('node:assert/strict')
const { HANG_MS } = require('../hang')

/** Run in the page first: what the tests call there. */
function prepare() {
  const HEAD = `import * as s from '${location.origin}/dist/samebytes.mjs'
    const queue = [], waiting = []
    onmessage = ({ data }) => { waiting.length > 0 ? waiting.shift()(data) : queue.push(data) }
    const next = () => new Promise(resolve => { queue.length > 0 ? resolve(queue.shift()) : waiting.push(resolve) })
    const textOf = error => error.code + ': ' + error.message
  `
  /**
   * A worker that runs a program, which has `s`, `next()`, a message of the page's, and textOf(error). What it posts comes
   * from next() here; what it throws is thrown there.
   */
  globalThis.thread = (source, ...messages) => {
    const text = `${HEAD} try { ${source} } catch (error) { postMessage({ thrown: textOf(error) + error.stack }) }`
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), {
      type: 'module',
    })
    const [said, waiting] = [[], []]
    const settle = () => {
      while (said.length > 0 && waiting.length > 0) waiting.shift()(said.shift())
    }
    worker.onmessage = ({ data }) => {
      said.push(data)
      settle()
    }
    worker.onerror = ({ message }) => {
      said.push({ thrown: message })
      settle()
    }
    for (const message of messages) worker.postMessage(message)
    const next = async () => {
      const value = await new Promise((resolve) => {
        waiting.push(resolve)
        settle()
      })
      if (value?.thrown) throw new Error(value.thrown)
      return value
    }
    return { next, post: (message) => worker.postMessage(message), end: () => worker.terminate() }
  }
  globalThis.turn = () => new Promise((resolve) => setTimeout(resolve, 5))
  /** Waits until it is so; whoever waits too long is stopped by the test's own limit. */
  globalThis.until = async (isSo) => {
    while (!isSo()) await globalThis.turn()
  }
  globalThis.shared = async (options) => {
    const s = await globalThis.load()
    await s.init({ shared: true, ...options })
    return s
  }
}

/* global load, shared, thread, turn, until, AudioContext, AudioWorkletNode, Blob, Worker, document, fetch, location */

/** how a thread goes → what it does, after it holds a million float32; is it terminated? what it says then; rounds */
const ENDS = {
  'is terminated with a thread of its own': [
    `
    const source = "const message = new Promise(resolve => { onmessage = ({ data }) => resolve(data) }); postMessage('started'); const s = await import('" + location.origin + "/dist/samebytes.mjs'); await s.init({ from: await message }); globalThis.held = s.full([1000], 4); postMessage('there')"
    const below = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' })
    below.onmessage = ({ data }) => postMessage(data)
    below.postMessage(token)`,
    true,
    ['started', 'there'],
    15,
  ],
  'is terminated': ['setInterval(() => {}, 1000)', true],
  'is terminated in an endless loop of calls': [
    'const view = held.slice("5:"); for (;;) view.get(1)',
    true,
    [],
    8,
  ], // Chromium waits for two seconds
  'closes itself': ['close()', false],
}

/**
 * Firefox 153 sometimes starts no worker of a worker: after others were terminated, in a page without anything of ours as well, rarely as the first.
 * So this test comes first there, and ends one only; where none starts, it is run again in another browser (Again).
 */
const FIRST_IN_FIREFOX = 'is terminated with a thread of its own'

/** What a browser did not do, whatever we do: the test is to be run again in a fresh one. */
class Again extends Error {}

/** [title, test, is the page isolated?] */
const TESTS = [
  ...Object.entries(ENDS).map(([how, [source, isEnded, words = [], most = 25]]) => [
    `a worker that ${how} leaves no bytes behind, ${most} times`,
    async (page) => {
      const rounds =
        how === FIRST_IN_FIREFOX && (await page.browser().version()).startsWith('firefox/')
          ? 1
          : most
      const seen = await page.evaluate(
        async ([source, isEnded, words, rounds, limit]) => {
          const { memory, share, wasmMemory, zeros } = await shared()
          const t = zeros([1])
          const bytes = () => memory().bytes.wasm
          const before = bytes()
          const during = []
          const sizes = []
          for (let i = 0; i < rounds; i++) {
            const token = share(t, { uses: 2 })
            const worker = thread(
              `const token = await next(); await s.init({ from: token }); globalThis.held = s.full([1000000], 3); const one = s.fromShared(token); postMessage(s.memory().bytes.wasm); ${source}`,
              token,
            )
            during.push(await worker.next())
            for (const word of words) {
              const said = await (word === 'started'
                ? Promise.race([
                    worker.next(),
                    new Promise((resolve) => setTimeout(resolve, limit, 'nothing')),
                  ])
                : worker.next())
              if (said !== word) return said
            }
            if (isEnded) worker.end()
            await until(() => bytes() === before)
            ;(await load()).unshare(token)
            sizes.push(wasmMemory().buffer.byteLength)
          }
          return [before, during, bytes(), sizes]
        },
        [source, isEnded, words, rounds, HANG_MS],
      )
      if (seen === 'nothing') throw new Again('a worker of a worker did not start')
      const [before, during, after, sizes] = seen
      assert.deepEqual([during, after], [Array(rounds).fill(before + 4000000), before])
      assert.equal(
        sizes.at(-1),
        sizes.at(Math.min(4, rounds - 1)),
        'the stacks and tables of those that are gone are used again',
      )
    },
    true,
  ]),

  [
    'a worker over the memory of its page: each sees what the other writes, and waits for it',
    async (page) => {
      const seen = await page.evaluate(async () => {
        const { fromShared, memory, share, tensor, zeros } = await shared()
        const [m, steps] = [
          tensor([
            [1, 2, 3],
            [4, 5, 6],
          ]),
          zeros([2], 'int32'),
        ]
        const worker = thread(
          `const [a, b] = await next(); await s.init({ from: a })
        const [m, steps] = [a, b].map(s.fromShared)
        postMessage([s.backend(), Number(m.dataPtr), m.toArray(), s.memory().copied])
        const how = Atomics.wait(steps.data, 0, 0)
        m.set(m.get(0, 0) * 2, 2, 1)
        Atomics.store(steps.data, 1, 1)
        Atomics.notify(steps.data, 1)
        postMessage(how)`,
          [share(m.T), share(steps)],
        )
        const first = await worker.next()
        m.set(50, 0, 0)
        while (Atomics.notify(steps.data, 0) === 0) await turn() // until it waits
        const waits = Atomics.waitAsync(steps.data, 1, 0)
        if (waits.async) await waits.value
        const how = await worker.next()
        const back = await (async () => {
          const other = thread(
            'const token = await next(); await s.init({ from: token }); s.fromShared(token); postMessage(s.share(s.tensor([7, 8]).slice("::-1"))); await next()',
            share(m),
          )
          const t = fromShared(await other.next())
          other.end()
          return t.toArray()
        })()
        return {
          first,
          same: first[1] === Number(m.dataPtr),
          how,
          m: m.toArray(),
          back,
          inFlight: memory().inFlight,
        }
      })
      assert.deepEqual(
        [seen.first[0], seen.first[2], seen.first[3], seen.same],
        [
          'wasm-shared',
          [
            [1, 4],
            [2, 5],
            [3, 6],
          ],
          {},
          true,
        ],
      )
      assert.deepEqual(
        [seen.how, seen.m, seen.back, seen.inFlight],
        [
          'ok',
          [
            [50, 2, 3],
            [4, 5, 100],
          ],
          [8, 7],
          0,
        ],
      )
    },
    true,
  ],

  [
    'workers that end while others begin: what each held is given back',
    async (page) => {
      const [before, after] = await page.evaluate(async () => {
        const { memory, share, zeros } = await shared()
        const t = zeros([1])
        const before = memory().bytes.wasm
        const begin = () =>
          thread(
            'const token = await next(); await s.init({ from: token }); globalThis.held = s.zeros([50000]); postMessage("there"); await next()',
            share(t),
          )
        let old = []
        for (let round = 0; round < 6; round++) {
          const young = round < 5 ? [begin(), begin(), begin()] : []
          for (const worker of old) worker.end() // they sleep: none holds a lock
          for (const worker of young) await worker.next()
          old = young
        }
        await until(() => memory().bytes.wasm === before)
        return [before, memory().bytes.wasm]
      })
      assert.equal(after, before)
    },
    true,
  ],

  [
    'a worker that told nobody of itself is found when another one ends',
    async (page) => {
      const [before, after] = await page.evaluate(async () => {
        const { memory, share, zeros } = await shared()
        const t = zeros([1])
        const before = memory().bytes.wasm
        const begin = (first) =>
          thread(
            `${first}; const token = await next(); await s.init({ from: token }); globalThis.held = s.zeros([50000]); postMessage("there"); await next()`,
            share(t),
          )
        const other = begin('')
        await other.next()
        while ((await navigator.locks.query()).pending.length === 0) await turn() // until the page waits for its end
        const silent = begin('BroadcastChannel.prototype.postMessage = () => {}')
        await silent.next()
        silent.end()
        other.end()
        await until(() => memory().bytes.wasm === before)
        return [before, memory().bytes.wasm]
      })
      assert.equal(after, before)
    },
    true,
  ],

  [
    'a page whose worker makes memory grow: tensors, data, accessors and arrays go on, also of the buffer in between',
    async (page) => {
      const seen = await page.evaluate(async () => {
        const { fromBlob, memory, share, sharesMemory, tensor, wasmMemory, zeros } = await shared()
        const t = tensor([1, 2, 3, 4])
        const { data } = t
        const accessor = t.accessor()
        const source = `const token = await next(); await s.init({ from: token })
        const held = []
        for (;;) {
          const size = s.wasmMemory().buffer.byteLength
          while (s.wasmMemory().buffer.byteLength === size) held.push(s.empty([65536]).fill(9))
          postMessage(Number(held.at(-1).dataPtr))
          if (await next() === 'post') postMessage(new Float32Array(s.wasmMemory().buffer, token.address, 4))
        }`
        const worker = thread(source, Object.assign(share(t), { address: Number(t.dataPtr) }))
        const before = wasmMemory().buffer.byteLength
        await worker.next()
        const between = new Float32Array(wasmMemory().buffer, Number(t.dataPtr), 4) // the package has not seen this buffer
        worker.post('more')
        const last = await worker.next()
        const end = fromBlob(new Float32Array(wasmMemory().buffer, last, 65536))
        const { staged, grown } = memory()
        const u = fromBlob(between)
        u.fill(5)
        worker.post('post')
        const posted = fromBlob(await worker.next())
        posted.set(6, 3)
        const result = {
          t: [t.toArray(), t.get(0), [...data], accessor.get(3), t.slice('2:').clone().toArray()],
          same: [
            u.dataPtr === t.dataPtr,
            posted.dataPtr === t.dataPtr,
            sharesMemory(u, posted),
            t.data === data,
          ],
          end: [end.get(0), end.get(-1), end.slice('-2:').clone().toArray()],
          fresh: zeros([3]).toArray(),
          staged: memory().staged.count - staged.count,
          grew: [wasmMemory().buffer.byteLength > before, grown > 0],
        }
        worker.end()
        return result
      })
      assert.deepEqual(seen, {
        t: [[5, 5, 5, 6], 5, [5, 5, 5, 6], 6, [5, 6]],
        same: [true, true, true, true],
        end: [9, 9, [9, 9]],
        fresh: [0, 0, 0],
        staged: 0,
        grew: [true, true],
      })
    },
    true,
  ],

  ...[
    ['memory that threads share', {}, { shared: true }],
    ['a SharedArrayBuffer', { shared: 'sab' }, {}],
  ].map(([of, options, init]) => [
    `uses of a token of ${of} are counted once each by six workers that race for four`,
    async (page) => {
      const rounds = await page.evaluate(
        async ([options, init]) => {
          const { init: start, memory, share, tensor } = await load()
          await start(init)
          const rounds = []
          for (let round = 0; round < 4; round++) {
            const t = tensor([1, 2], options)
            const token = share(t, { uses: 4 })
            const source = `const token = await next(); await s.init(${init.shared ? '{ from: token }' : ''}); postMessage('ready'); await next()
          try { const t = s.fromShared(token); postMessage(t.toArray().join()) } catch (error) { postMessage(error.code) }`
            const workers = Array.from({ length: 6 }, () => thread(source, token))
            for (const worker of workers) await worker.next()
            for (const worker of workers) worker.post('go')
            const said = []
            for (const worker of workers) said.push(await worker.next())
            for (const worker of workers) worker.end()
            rounds.push([said.sort().join(' '), memory().inFlight])
          }
          return rounds
        },
        [options, init],
      )
      for (const round of rounds) {
        assert.deepEqual(round, ['1,2 1,2 1,2 1,2 ERR_STALE ERR_STALE', 0])
      }
    },
    true,
  ]),

  [
    'a worker of another version of the package is refused, and says both',
    async (page) => {
      const error = await page.evaluate(async () => {
        const { share, zeros } = await shared()
        const source = `const other = await import('${location.origin}/other/samebytes.mjs')
        const token = await next()
        try { await other.init({ from: token }) } catch (error) { postMessage(textOf(error)) }`
        return thread(source, share(zeros([1]))).next()
      })
      assert.match(
        error,
        /^ERR_UNSUPPORTED: the memory was made by samebytes [\d.]+; this is 9\.9\.9/,
      )
    },
    true,
  ],

  [
    'a frame that may have no Web Locks: shared: true and from say so and leave nothing, auto takes memory of its own; no Cache API either',
    async (page) => {
      const { said, left } = await page.evaluate(async () => {
        const { memory } = await shared()
        const before = memory().bytes.wasm
        const frame = document.createElement('iframe')
        frame.sandbox = 'allow-scripts'
        frame.allow = 'cross-origin-isolated'
        frame.srcdoc = `<script type="module">
        import * as s from '${location.origin}/inline-for-all.mjs'
        const said = [crossOriginIsolated]
        for (const options of [{ shared: true }, { shared: 'auto' }]) {
          try { await s.init(options); said.push(s.backend(), s.tensor([1, 2]).toArray()) } catch (error) { said.push(error.code + ': ' + error.message) }
        }
        try { await s.fetchNpy('${location.origin}/x.npy', { caches: true, retries: 0 }) } catch (error) { said.push(error.code + ': ' + error.message) }
        parent.postMessage(said, '*')
      </script>`
        const said = new Promise((resolve) =>
          addEventListener('message', ({ data }) => resolve(data)),
        )
        document.body.append(frame)
        return { said: await said, left: memory().bytes.wasm - before }
      })
      assert.deepEqual([said[0], said[2], said[3], left], [true, 'wasm', [1, 2], 0])
      assert.match(
        said[1],
        /^ERR_UNSUPPORTED: shared memory needs Web Locks, .*(denied|not allowed)/,
      )
      assert.match(said[4], /^(ERR_UNSUPPORTED: caches needs the Cache API|ERR_IO: )/) // reading `caches` throws in Chromium; Firefox refuses to open one
    },
    true,
  ],

  [
    'a worker without Web Locks joins nothing, and its page goes on',
    async (page) => {
      const [errors, same] = await page.evaluate(async () => {
        const { share, wasmMemory, zeros } = await shared()
        const t = zeros([1])
        const size = wasmMemory().buffer.byteLength
        const errors = []
        for (const missing of [
          "Object.defineProperty(navigator, 'locks', { value: undefined })",
          "navigator.locks.request = () => Promise.reject(new Error('not here'))",
        ]) {
          for (let i = 0; i < 10; i++) {
            // an environment has a stack of 256 KiB
            const worker = thread(
              `${missing}; const token = await next(); try { await s.init({ from: token }) } catch (error) { postMessage(textOf(error)) }`,
              share(t),
            )
            errors.push(await worker.next())
            worker.end()
          }
        }
        return [errors, wasmMemory().buffer.byteLength === size]
      })
      for (const error of errors) {
        assert.match(
          error,
          /^ERR_UNSUPPORTED: shared memory needs Web Locks, which tell when a worker is gone/,
        )
      }
      assert.equal(same, true)
    },
    true,
  ],

  ...[false, true].map((isolated) => [
    `an AudioWorklet, which has no fetch, URL, TextDecoder, timers or locks${isolated ? ', of an isolated page' : ''}`,
    async (page) => {
      const seen = await page.evaluate(async () => {
        const wasm = await WebAssembly.compile(
          await (await fetch('/dist/samebytes.wasm')).arrayBuffer(),
        )
        const s = globalThis.crossOriginIsolated ? await shared() : null
        const t = s?.tensor([1, 2, 3])
        const source = (from) => `
        import * as s from '${location.origin}${from}'
        class Tried extends AudioWorkletProcessor {
          constructor ({ processorOptions: options }) {
            super()
            this.tried(options).then(value => this.port.postMessage(value), error => this.port.postMessage([error.code + ': ' + error.message, error.stack]))
          }
          async tried ({ init, token }) {
            await s.init(init)
            const made = s.tensor([[1, 2], [3, 4]])
            const later = await s.zeros([2, 2]).copyFromAsync(made.T)
            const said = [s.backend(), String(made), later.toArray(), s.memory().copied.copyFromAsync.count, s.fromBlob(new Float32Array(2), { transfer: true }).size]
            if (token) said.push(s.fromShared(token).toArray())
            if (token) s.fromShared(token).fill(8)
            try { made.reshape([5]) } catch (error) { said.push(error.code) }
            try { s.parseNpy(new Uint8Array(16)) } catch (error) { said.push(error.message) } // a module of its own is compiled
            await s.flush()
            return said
          }
          process () { return true }
        }
        registerProcessor('tried', Tried)`
        const run = async (from, processorOptions) => {
          const context = new AudioContext()
          try {
            await context.audioWorklet.addModule(
              URL.createObjectURL(new Blob([source(from)], { type: 'text/javascript' })),
            )
            const node = new AudioWorkletNode(context, 'tried', { processorOptions })
            return await new Promise((resolve, reject) => {
              node.port.onmessage = ({ data }) => resolve(data)
              node.onprocessorerror = () => reject(new Error('the processor failed'))
            })
          } finally {
            await context.close()
          }
        }
        return {
          module: await run('/dist/samebytes.mjs', { init: { wasm } }),
          inline: await run('/inline-only.mjs', {}),
          none: await run('/dist/samebytes.mjs', {}),
          url: await run('/inline-only.mjs', { init: { wasm: '/dist/samebytes.wasm' } }),
          ...(s !== null && {
            joined: await run('/dist/samebytes.mjs', {
              init: { from: s.share(t) },
              token: s.share(t, { uses: 2 }),
            }),
            t: t.toArray(),
          }),
        }
      })
      const works = [
        'wasm',
        'tensor([[1., 2.],\n        [3., 4.]])',
        [
          [1, 3],
          [2, 4],
        ],
        1,
        2,
        'ERR_SHAPE',
        'byte 0: this is no .npy file',
      ]
      assert.deepEqual(seen.module, works)
      assert.deepEqual(seen.inline, works)
      for (const [error] of [seen.none, seen.url]) {
        assert.match(
          error,
          /^ERR_UNSUPPORTED: nothing can be fetched here, as in an AudioWorklet: .*init\(\{ wasm: module \}\).*samebytes\/inline/,
        )
      }
      if (!isolated) return
      assert.deepEqual(seen.joined, [
        'wasm-shared',
        ...works.slice(1, 5),
        [1, 2, 3],
        ...works.slice(5),
      ])
      assert.deepEqual(seen.t, [8, 8, 8])
    },
    isolated,
  ]),

  ...[false, true].map((isolated) => [
    `memory whose buffer is made resizable${isolated ? ', shared' : ''}: all goes on where it grows in place`,
    async (page) => {
      const seen = await page.evaluate(async () => {
        const { empty, fromBlob, init, memory, sharesMemory, tensor, wasmMemory } = await load()
        await init({ shared: globalThis.crossOriginIsolated })
        if (typeof wasmMemory().toResizableBuffer !== 'function') return null
        const t = tensor([1, 2, 3, 4])
        const old = t.data
        const buffer = wasmMemory().toResizableBuffer()
        const array = new Float32Array(buffer, Number(t.dataPtr), 4)
        const check = () => [
          t.toArray(),
          t.get(3),
          [...t.data],
          fromBlob(array).dataPtr === t.dataPtr,
          sharesMemory(t, fromBlob(array)),
        ]
        const checks = [check()]
        const { grown } = memory()
        const size = buffer.byteLength
        wasmMemory().grow(1)
        checks.push([memory().grown - grown, buffer.byteLength - size])
        const kept = []
        /** tensors up to the end, which nobody told the package of */
        const fill = (from) => {
          do kept.push(empty([4096]).fill(6))
          while (Number(kept.at(-1).dataPtr) + kept.at(-1).nbytes <= from)
          const last = kept.at(-1)
          last.set(7, 4095)
          return [
            last.get(0),
            last.get(4095),
            last.data[4095],
            last.accessor().get(4095),
            last.slice('-2:').clone().toArray(),
          ]
        }
        checks.push(fill(size))
        const more = buffer.byteLength
        buffer.resizable ? buffer.resize(more + 2 ** 20) : buffer.grow(more + 2 ** 20)
        checks.push(fill(more), check())
        const fixed = wasmMemory().toFixedLengthBuffer()
        let after
        try {
          after = fromBlob(array).toArray()
        } catch (error) {
          after = error.code
        }
        let first
        try {
          first = fromBlob(old).toArray()
        } catch (error) {
          first = error.code
        }
        checks.push([fixed.byteLength > more, t.toArray(), tensor([8, 9]).toArray()])
        return { checks, after, first }
      })
      if (seen === null) return
      const well = [[1, 2, 3, 4], 4, [1, 2, 3, 4], true, true]
      const end = [6, 7, 7, 7, [6, 7]]
      assert.deepEqual(seen.checks, [
        well,
        [1, 65536],
        end,
        end,
        well,
        [true, [1, 2, 3, 4], [8, 9]],
      ])
      assert.deepEqual(
        [seen.after, seen.first],
        isolated
          ? [
              [1, 2, 3, 4],
              [1, 2, 3, 4],
            ]
          : ['ERR_DETACHED', 'ERR_DETACHED'],
      )
    },
    isolated,
  ]),
]

module.exports = { Again, TESTS, prepare }
