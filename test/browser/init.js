'use strict'
// init() in pages: each test has a fresh one, because a page starts the package once.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describeError } = require('../describe')
const { ROOT } = require('./bundle')
const { launch, titleOf } = require('./launch')
const { serve } = require('./server')
const { sliceOf } = require('../plan')
const gpuOutputs = require('./gpu-outputs')
const pageMemory = require('./page-memory')
const proxy = require('./proxy')
const threads = require('./threads')

const TEST_LIMIT_MS = 600_000
const RUNS = 4 // of a test whose browser did not do its part

const dist = (name) => fs.readFileSync(path.join(ROOT, 'dist', name))
const { version } = require('../../package.json')

/** Run in the page first: what the tests call there. */
function prepare() {
  globalThis.PLAIN = '/dist/samebytes.wasm'
  globalThis.SHARED = '/dist/samebytes-shared.wasm'
  globalThis.load = () => import('/dist/samebytes.mjs')
  globalThis.plain = (error) => ({
    Class: error.constructor.name,
    code: error.code,
    message: error.message,
  })
  globalThis.refusal = async (fn) => {
    try {
      await fn()
    } catch (error) {
      return globalThis.plain(error)
    }
    return { message: 'nothing was thrown' }
  }
  /** what init with these options comes to: the back end, or the error */
  globalThis.started = async (options) => {
    const samebytes = await globalThis.load()
    try {
      await samebytes.init(options)
    } catch (error) {
      return globalThis.plain(error)
    }
    const { backend, wasmMemory, tensor } = samebytes
    return {
      backend: backend(),
      bytes: wasmMemory().buffer.byteLength,
      sum: tensor([1, 2]).toArray(),
    }
  }
}

/* global load, refusal, started, PLAIN, SHARED, fetch, location */

function refused(given, code, pattern, Class = 'SamebytesError') {
  assert.deepEqual({ code: given.code, Class: given.Class }, { code, Class }, given.message)
  assert.match(given.message, pattern)
}

const works = ({ message, backend, sum }, expected = 'wasm') =>
  assert.deepEqual(
    { message, backend, sum },
    { message: undefined, backend: expected, sum: [1, 2] },
  )

/** [title, test, is the page isolated?] */
const TESTS = [
  ['without options starts wasm', async (page) => works(await page.evaluate(() => started()))],
  [
    'works in a page that is isolated',
    async (page) => works(await page.evaluate(() => started())),
    true,
  ],
  [
    'what is used before it says so',
    async (page) => {
      const { early, late, made } = await page.evaluate(async () => {
        const { SamebytesError, init, ...samebytes } = await load()
        const early = []
        for (const name of Object.keys(samebytes)) {
          early.push(await refusal(() => samebytes[name]([2])))
        }
        await init()
        return {
          early,
          late: samebytes.zeros([2]).toArray(),
          made: new samebytes.Generator(1) instanceof (await load()).Generator,
        }
      })
      assert.ok(early.length > 40)
      for (const error of early) {
        refused(
          error,
          'ERR_UNSUPPORTED',
          /^\w+ was used before samebytes is ready; await init\(\) first$/,
        )
      }
      assert.deepEqual([late, made], [[0, 0], true])
    },
  ],
  [
    'with math loads samebytes/math, too: both its modules',
    async (page) => {
      const { before, sum, same, asked, early, named, crossed } = await page.evaluate(async () => {
        const [samebytes, math] = [await load(), await import('/dist/samebytes-math.mjs')]
        const { add, linalg } = math // before it is there
        const { cross, crossAsync } = linalg
        const before = await refusal(() => add(1, 2))
        const early = [
          await refusal(() => cross(1, 2)),
          await refusal(() => linalg.crossAsync(1, 2)),
        ]
        await samebytes.init({ math: true })
        const { arange, memory, tensor, tidy } = samebytes
        const asked = performance
          .getEntriesByType('resource')
          .map(({ name }) => new URL(name).pathname)
          .filter((name) => /math|algorithms/.test(name))
          .sort()
        const counted = JSON.stringify(memory())
        const sum = tidy(() => add(arange(4), 1).toArray())
        const same =
          JSON.stringify(memory()) === counted &&
          math.add !== undefined &&
          math.multiply(arange(3), 2).toArray().join()
        const axes = [tensor([1, 0, 0]), tensor([0, 1, 0])]
        const crossed = [
          cross(...axes),
          linalg.cross(...axes),
          math.linalg.cross(...axes),
          await crossAsync(...axes),
        ].map((t) => t.toArray().join())
        return {
          before,
          sum,
          same,
          asked,
          early,
          crossed,
          named: [
            Object.keys(linalg).join(),
            math.linalg.cross.name,
            math.linalg !== linalg,
            typeof cross,
          ],
        }
      })
      refused(
        before,
        'ERR_UNSUPPORTED',
        /^add was used before samebytes\/math is ready; await its init\(\), or init\(\{ math: true \}\)/,
      )
      for (const [i, error] of early.entries()) {
        refused(
          error,
          'ERR_UNSUPPORTED',
          [
            /^linalg\.cross was used before samebytes\/math is ready/,
            /^linalg\.crossAsync was used/,
          ][i],
        )
      }
      assert.deepEqual(sum, [1, 2, 3, 4])
      assert.equal(same, '0,2,4')
      assert.deepEqual(asked, [
        '/dist/samebytes-algorithms.wasm',
        '/dist/samebytes-math.mjs',
        '/dist/samebytes-math.wasm',
      ])
      assert.deepEqual(crossed, Array(4).fill('0,0,1'))
      assert.match(named.join(), /^cross,.*,cross,true,function$/)
    },
  ],
  [
    'takes modules of math from where they are, and finds that of algorithms beside the other',
    async (page, fresh) => {
      const crossed = async (page, options) =>
        page.evaluate(`(async () => {
      const [{ init, tensor }, { add, linalg }] = [await load(), await import('/dist/samebytes-math.mjs')]
      await init(${options})
      const got = () => [add(tensor([1]), 1).item(), linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray().join()].join(' ')
      try { return got() } catch (error) { return plain(error) }
    })()`)
      const bytes = (name) => `await (await fetch('/dist/samebytes-${name}.wasm')).arrayBuffer()`
      const both = [
        "{ math: '/dist/samebytes-math.wasm' }",
        "{ math: new URL('/dist/samebytes-math.wasm?v=1', location) }",
        "{ math: '/alone/samebytes-math.wasm', algorithms: true }",
        `{ math: ${bytes('math')}, algorithms: ${bytes('algorithms')} }`,
        `{ algorithms: await WebAssembly.compile(${bytes('algorithms')}) }`,
      ]
      for (const options of both) {
        assert.equal(await crossed(await fresh(), options), '2 0,0,1', options)
      }
      refused(
        await crossed(page, "{ math: true, algorithms: '/dist/samebytes-math.wasm' }"),
        'ERR_FORMAT',
        /not the one for algorithms \(samebytes-algorithms\.wasm\)/,
      )
      refused(
        await crossed(await fresh(), "{ math: '/dist/samebytes-algorithms.wasm' }"),
        'ERR_FORMAT',
        /not the one for arithmetic \(samebytes-math\.wasm\)/,
      )
      refused(
        await crossed(await fresh(), "{ math: true, algorithms: '/dist/samebytes.wasm' }"),
        'ERR_FORMAT',
        /not the one for algorithms/,
      )
    },
  ],
  [
    'without algorithms does arithmetic, says what is missing, and may be told later',
    async (page, fresh) => {
      const without = async (page, options) =>
        page.evaluate(`(async () => {
      const [{ init, tensor }, { add, linalg }] = [await load(), await import('/dist/samebytes-math.mjs')]
      const axes = () => [tensor([1, 0, 0]), tensor([0, 1, 0])]
      const options = ${options}
      const strict = options.algorithms ? await refusal(() => init(options)) : await init(options)
      if (strict !== undefined) await init({ math: true, algorithms: false })
      const sum = add(tensor([1]), 1).item()
      const error = await refusal(() => linalg.cross(...axes()))
      await init({ algorithms: '/dist/samebytes-algorithms.wasm' })
      return { strict, sum, error, later: linalg.cross(...axes()).toArray().join() }
    })()`)
      const ways = [
        [
          "{ math: '/alone/samebytes-math.wasm' }",
          /\/alone\/samebytes-algorithms\.wasm could not be read: 404.*init\(\{ algorithms: \.\.\. \}\) takes its URL/,
        ],
        [
          "{ math: '/alone/x.wasm' }",
          /samebytes-algorithms\.wasm was not loaded: it is not known where it is/,
        ],
        ["{ math: await fetch('/dist/samebytes-math.wasm') }", /not known where/],
        ['{ math: true, algorithms: false }', /algorithms is false/],
      ]
      for (const [options, pattern] of ways) {
        const { sum, error, later } = await without(await fresh(), options)
        refused(error, 'ERR_UNSUPPORTED', pattern)
        assert.deepEqual([sum, later], [2, '0,0,1'], options)
      }
      const { strict, later } = await without(page, "{ math: true, algorithms: '/missing.wasm' }")
      refused(strict, 'ERR_IO', /\/missing\.wasm could not be read: 404/)
      assert.equal(later, '0,0,1')
    },
  ],
  [
    'of samebytes/math awaits the other one, and begins it',
    async (page) => {
      const result = await page.evaluate(async () => {
        const [{ backend, arange, init }, math] = [
          await load(),
          await import('/dist/samebytes-math.mjs'),
        ]
        await Promise.all([math.init(), math.init()])
        await init({ math: true }) // it is there
        return [backend(), math.sqrt(arange(4).copyFrom([0, 1, 4, 9])).toArray()]
      })
      assert.deepEqual(result, ['wasm', [0, 1, 2, 3]])
    },
  ],
  [
    'with math over shared memory takes that module, in each thread',
    async (page) => {
      const { here, there } = await page.evaluate(async () => {
        const [{ backend, init, arange, share }, math] = [
          await load(),
          await import('/dist/samebytes-math.mjs'),
        ]
        await init({ shared: true, math: true })
        const x = arange(1000, undefined, undefined, { dtype: 'float32' })
        const source = `import { init, fromShared } from '${location.origin}/dist/samebytes.mjs'
        import * as math from '${location.origin}/dist/samebytes-math.mjs'
        onmessage = async ({ data }) => {
          await init({ from: data, math: true })
          const t = fromShared(data)
          math.multiply(t, 2, { out: t })
          math.linalg.cross(t.slice(':3'), t.slice('3:6'), { out: t.slice('6:9') })
          postMessage(0)
        }
        postMessage(0)`
        const worker = new Worker(
          URL.createObjectURL(new Blob([source], { type: 'text/javascript' })),
          { type: 'module' },
        )
        const next = () =>
          new Promise((resolve, reject) => {
            worker.onmessage = resolve
            worker.onerror = ({ message }) => reject(new Error(message))
          })
        await next()
        worker.postMessage(share(x))
        await next()
        const here = [
          backend(),
          math.add(x, 1).get(999),
          math.linalg.cross(x.slice('6:9'), x.slice(':3')).toArray().join(),
        ]
        const there = x.get(999)
        worker.terminate()
        return { here, there }
      })
      assert.deepEqual({ here, there }, { here: ['wasm-shared', 1999, '120,48,-24'], there: 1998 })
    },
    true,
  ],
  [
    'of the inline bundle finds the modules for math inside',
    async (page) => {
      const { sum, crossed, asked } = await page.evaluate(async () => {
        const [{ arange, init, tensor }, { add, linalg }] = [
          await import('/dist/samebytes-inline.mjs'),
          await import('/dist/samebytes-inline-math.mjs'),
        ]
        await init({ math: true })
        return {
          sum: add(arange(3), 1).toArray(),
          crossed: linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray(),
          asked: performance
            .getEntriesByType('resource')
            .map(({ name }) => name)
            .filter((name) => name.endsWith('.wasm')),
        }
      })
      assert.deepEqual({ sum, crossed, asked }, { sum: [1, 2, 3], crossed: [0, 0, 1], asked: [] })
    },
  ],
  [
    'with math refuses what is no module, and where samebytes/math is not imported',
    async (page) => {
      const { none, kinds, other, sum } = await page.evaluate(async () => {
        const { init, arange } = await load()
        const none = await refusal(() => init({ math: true }))
        const kinds = [
          await refusal(() => init({ math: 5 })),
          await refusal(() => init({ algorithms: null })),
        ]
        const { add } = await import('/dist/samebytes-math.mjs')
        await init({ math: PLAIN })
        const other = await refusal(() => add(arange(3), 1))
        return { none, kinds, other, sum: arange(2).toArray() }
      })
      refused(none, 'ERR_UNSUPPORTED', /math was given, and samebytes\/math is not imported/)
      refused(kinds[0], 'ERR_ARGUMENT', /math is 5; true, false, a URL/, 'TypeError')
      refused(kinds[1], 'ERR_ARGUMENT', /algorithms is null; true, false, a URL/, 'TypeError')
      refused(other, 'ERR_FORMAT', /not the one for arithmetic/)
      assert.deepEqual(sum, [0, 1])
    },
  ],
  [
    'takes a URL, a string, a Response, bytes and a module',
    async (page, fresh) => {
      const sources = [
        () => new URL(PLAIN, location.href),
        () => PLAIN,
        () => fetch(PLAIN),
        async () => (await fetch(PLAIN)).arrayBuffer(),
        async () => new Uint8Array(await (await fetch(PLAIN)).arrayBuffer()),
        async () => WebAssembly.compile(await (await fetch(PLAIN)).arrayBuffer()),
      ]
      for (const source of sources) {
        works(
          await (
            await fresh()
          ).evaluate(
            `(${source})().then ? (${source})().then(wasm => started({ wasm })) : started({ wasm: (${source})() })`,
          ),
        )
      }
    },
  ],
  [
    'refuses what is none of these',
    async (page) => {
      for (const wasm of ['5', '{}', '[]', 'true', "Symbol('s')"]) {
        refused(
          await page.evaluate(`started({ wasm: ${wasm} })`),
          'ERR_ARGUMENT',
          /wasm is .*; a URL, a Response/,
          'TypeError',
        )
      }
    },
  ],
  [
    'of a page of HTML instead of the module names it and its status',
    async (page) => {
      refused(
        await page.evaluate(() => started({ wasm: '/missing.wasm' })),
        'ERR_IO',
        /\/missing\.wasm could not be read: 404/,
      )
      refused(
        await page.evaluate(() => started({ wasm: '/blank' })),
        'ERR_FORMAT',
        /\/blank \(\d+ bytes\) is no WASM module: .*optimizeDeps: \{ exclude: \['samebytes'\] \}/,
      )
    },
  ],
  [
    'of a server that is not there',
    async (page) => {
      refused(
        await page.evaluate(() => started({ wasm: 'http://127.0.0.1:9/x.wasm' })),
        'ERR_IO',
        /127\.0\.0\.1:9\/x\.wasm could not be read/,
      )
    },
  ],
  [
    'of a module that was cut off',
    async (page) => {
      refused(
        await page.evaluate(() => started({ wasm: '/truncated.wasm' })),
        'ERR_FORMAT',
        /\/truncated\.wasm \(50000 bytes\) is no whole WASM module/,
      )
      refused(
        await page.evaluate(() => started({ wasm: '/broken.wasm' })),
        'ERR_IO',
        /\/broken\.wasm could not be read/,
      )
      refused(
        await page.evaluate(() => started({ wasm: new ArrayBuffer(0) })),
        'ERR_FORMAT',
        /0 bytes\) is no WASM module/,
      )
      refused(
        await page.evaluate(() => {
          const gone = new ArrayBuffer(8)
          structuredClone(gone, { transfer: [gone] })
          return started({ wasm: gone })
        }),
        'ERR_FORMAT',
        /0 bytes\) is no WASM module/,
      )
      refused(
        await page.evaluate(() => started({ wasm: new Uint8Array([0, 97, 115, 109]) })),
        'ERR_FORMAT',
        /4 bytes\) is no whole WASM module/,
      )
    },
  ],
  [
    'of another module',
    async (page) => {
      const other = 'Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)'
      const error = await page.evaluate(`started({ wasm: ${other} })`)
      refused(error, 'ERR_FORMAT', /module is not/)
    },
  ],
  [
    'of the plain module where the shared one is needed, and the reverse',
    async (page) => {
      refused(
        await page.evaluate(() => started({ wasm: PLAIN, shared: true })),
        'ERR_FORMAT',
        /not the one for shared memory \(samebytes-shared\.wasm\)/,
      )
      refused(
        await page.evaluate(() => started({ wasm: SHARED })),
        'ERR_FORMAT',
        /not the one for one thread \(samebytes\.wasm\)/,
      )
      works(await page.evaluate(() => started({ shared: true })), 'wasm-shared')
    },
    true,
  ],
  [
    'with shared: true in a page that is not isolated names the headers',
    async (page) => {
      refused(
        await page.evaluate(() => started({ shared: true })),
        'ERR_UNSUPPORTED',
        /cross-origin isolated.*Cross-Origin-Opener-Policy: same-origin.*Cross-Origin-Embedder-Policy: require-corp/,
      )
      works(await page.evaluate(() => started()))
    },
  ],
  [
    "with shared: 'auto' takes what the page has: nothing",
    async (page) => works(await page.evaluate(() => started({ shared: 'auto' }))),
  ],
  ...[2 ** 30, 2 ** 29, 2 ** 24].map((most) => [
    `with shared: 'auto' takes what a device has that reserves ${most / 2 ** 20} MiB`,
    async (page) => {
      const results = await page.evaluate(async (most) => {
        const { Memory } = WebAssembly
        WebAssembly.Memory = function (options) {
          if (options.shared && options.maximum * 65536 > most) {
            throw new RangeError('could not allocate memory')
          }
          return new Memory(options)
        }
        WebAssembly.Memory.prototype = Memory.prototype
        const begun = await started({ shared: 'auto' })
        const { memory } = await load()
        return { begun, maximum: memory().maximum }
      }, most)
      works(results.begun, most < 2 ** 28 ? 'wasm' : 'wasm-shared')
      assert.equal(results.maximum, most < 2 ** 28 ? 2 ** 32 : most)
    },
    true,
  ]),
  [
    "with shared: 'auto' takes what the page has: isolation",
    async (page) => works(await page.evaluate(() => started({ shared: 'auto' })), 'wasm-shared'),
    true,
  ],
  [
    'refuses wrong options',
    async (page) => {
      const wrong = [
        ['null', 'ERR_ARGUMENT', 'TypeError'],
        ["{ shared: 'yes' }", 'ERR_ARGUMENT', 'TypeError'],
        ['{ initialMemory: -1 }', 'ERR_BOUNDS', 'RangeError'],
        ["{ maximumMemory: '1' }", 'ERR_ARGUMENT', 'TypeError'],
        ['{ initialMemory: 2 ** 25, maximumMemory: 2 ** 24 }', 'ERR_BOUNDS', 'RangeError'],
        ['{ from: 5 }', 'ERR_ARGUMENT', 'TypeError'],
        ['{ from: {} }', 'ERR_UNSUPPORTED', 'SamebytesError'],
      ]
      for (const [options, code, Class] of wrong) {
        refused(
          await page.evaluate(`started(${options})`),
          code,
          /options|shared|Memory|from/,
          Class,
        )
      }
      works(await page.evaluate(() => started()))
    },
  ],
  [
    'that failed may be repeated',
    async (page) => {
      refused(await page.evaluate(() => started({ wasm: '/missing.wasm' })), 'ERR_IO', /404/)
      works(await page.evaluate(() => started()))
    },
  ],
  [
    'again with the same options or none does nothing, with others it is refused',
    async (page) => {
      const result = await page.evaluate(async () => {
        const samebytes = await load()
        await samebytes.init({ initialMemory: 2 ** 22 })
        const memory = samebytes.wasmMemory()
        const t = samebytes.tensor([1, 2])
        await samebytes.init({ initialMemory: 2 ** 22, shared: false })
        const others = []
        await samebytes.init() // asks for what there is
        await samebytes.init({})
        for (const options of [
          { shared: false },
          { initialMemory: 2 ** 23 },
          { initialMemory: 2 ** 22, shared: 'auto' },
          { wasm: SHARED },
        ]) {
          others.push(await refusal(() => samebytes.init(options)))
        }
        return { same: memory === samebytes.wasmMemory(), values: t.toArray(), others }
      })
      assert.deepEqual([result.same, result.values], [true, [1, 2]])
      for (const error of result.others) {
        refused(error, 'ERR_UNSUPPORTED', /called before with other options/)
      }
    },
  ],
  [
    'twice at once is one start',
    async (page) => {
      const [count, other] = await page.evaluate(async () => {
        const { init, zeros } = await load()
        const all = Promise.all([init(), init(), init()])
        const other = await refusal(() => init({ initialMemory: 2 ** 22 }))
        await all
        zeros([1])
        return [
          performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.wasm'))
            .length,
          other,
        ]
      })
      assert.equal(count, 1)
      refused(other, 'ERR_UNSUPPORTED', /other options/)
    },
  ],
  ...[false, true].map((shared) => [
    `keeps initialMemory and maximumMemory${shared ? ', shared' : ''}, and out of memory says how much there is`,
    async (page) => {
      const { bytes, error, after, zeroed } = await page.evaluate(async (shared) => {
        const { init, wasmMemory, empty, zeros, ones } = await load()
        await init({ shared, initialMemory: 1.5 * 2 ** 20, maximumMemory: 2 * 2 ** 20 })
        const bytes = wasmMemory().buffer.byteLength
        const error = await refusal(() => empty([2000000], 'uint8'))
        const zeroed = await refusal(() => zeros([3000000], 'uint8'))
        return { bytes, error, zeroed, after: ones([3]).toArray() }
      }, shared)
      assert.equal(bytes, 1.5 * 2 ** 20)
      refused(
        error,
        'ERR_MEMORY',
        /^2000000 bytes could not be allocated; WASM memory has [\d.]+ of at most 2 MiB\. Dispose tensors, or make them in tidy\(\)/,
        'RangeError',
      )
      refused(
        zeroed,
        'ERR_MEMORY',
        /^3000000 bytes could not be allocated; WASM memory has [\d.]+ of at most 2 MiB\. Dispose tensors, or make them in tidy\(\)/,
        'RangeError',
      )
      assert.deepEqual(after, [1, 1, 1])
    },
    shared,
  ]),
  ...[false, true].map((shared) => [
    `with little memory${shared ? ', shared' : ''}: transposes go without a room`,
    async (page) => {
      const results = await page.evaluate(async (shared) => {
        const { init, empty } = await load()
        await init({ shared, initialMemory: 2 ** 21, maximumMemory: 2 ** 21 })
        const attempt = (nbytes) => {
          try {
            return empty([nbytes], 'uint8')
          } catch {
            return null
          }
        }
        const [rows, columns] = [300, 962]
        const hole = empty([280000], 'uint8')
        const src = empty([rows, columns], 'uint8')
        const dst = empty([columns, rows], 'uint8')
        src.data.forEach((_, i, data) => {
          data[i] = (i * 7) % 251
        })
        const fillers = []
        for (let filler; (filler = attempt(65536)) !== null;) fillers.push(filler)
        const wrong = () =>
          dst
            .fill(0)
            .copyFrom(src.T)
            .data.reduce(
              (n, x, i) => n + (x !== (((i % rows) * columns + ((i / rows) | 0)) * 7) % 251),
              0,
            )
        const without = { room: attempt(278528) !== null, wrong: wrong() }
        hole.dispose()
        const room = attempt(278528)
        room?.dispose()
        return { without, with: { room: room !== null, wrong: wrong() } }
      }, shared)
      assert.deepEqual(results, {
        without: { room: false, wrong: 0 },
        with: { room: true, wrong: 0 },
      })
    },
    shared,
  ]),
  [
    'of memory that no page can have',
    async (page) => {
      const { code, Class, bytes } = await page.evaluate(() => started({ initialMemory: 2 ** 32 }))
      if (bytes === undefined) {
        assert.deepEqual({ code, Class }, { code: 'ERR_MEMORY', Class: 'RangeError' })
      } else assert.equal(bytes, 2 ** 32)
    },
  ],
  [
    'of samebytes/inline needs no other file',
    async (page) => {
      const { asked } = page
      const result = await page.evaluate(async () => {
        globalThis.load = () => import('/inline-only.mjs')
        return started()
      })
      works(result)
      assert.deepEqual(
        asked.filter((url) => /wasm/.test(url)),
        [],
      )
    },
  ],
  [
    'of samebytes/inline over shared memory',
    async (page) =>
      works(
        await page.evaluate(() => {
          globalThis.load = () => import('/inline-only.mjs')
          return started({ shared: true })
        }),
        'wasm-shared',
      ),
    true,
  ],
  [
    "of two versions in one page: each has memory of its own, and refuses the other's tensors",
    async (page) => {
      const result = await page.evaluate(async () => {
        const one = await load()
        const two = await import('/other/samebytes.mjs')
        await one.init()
        const wrong = await refusal(() => two.init({ wasm: PLAIN }))
        await two.init()
        const [a, b] = [one.tensor([1, 2]), two.tensor([3, 4])]
        const mixed = [
          await refusal(() => a.copyFrom(b)),
          await refusal(() => two.concat([a, b])),
          await refusal(() => one.concat([a, b])),
          await refusal(() => one.share(b)),
        ]
        const joined = [
          one.fromBlob(b.data).toArray(),
          [...two.fromBlob(a.data).fill(7).data],
          a.toArray(),
        ]
        return { wrong, mixed, joined, apart: one.wasmMemory() !== two.wasmMemory() }
      })
      refused(
        result.wrong,
        'ERR_UNSUPPORTED',
        new RegExp(
          `the WASM module is that of samebytes ${version}; this is 9\\.9\\.9`
            .replaceAll('.', '\\.')
            .replaceAll('\\\\', '\\'),
        ),
      )
      for (const error of result.mixed) {
        refused(error, 'ERR_ARGUMENT', /another copy|tensor/, 'TypeError')
      }
      assert.deepEqual(result.joined, [
        [3, 4],
        [7, 7],
        [7, 7],
      ])
      assert.equal(result.apart, true)
    },
  ],
  [
    'in a runtime without SIMD',
    async (page) => {
      refused(
        await page.evaluate(() => {
          WebAssembly.validate = () => false
          return started()
        }),
        'ERR_UNSUPPORTED',
        /no SIMD.*Chrome 91/,
      )
    },
  ],
  [
    'in a runtime without WebAssembly',
    async (page) => {
      refused(
        await page.evaluate(() => {
          delete globalThis.WebAssembly
          return started()
        }),
        'ERR_UNSUPPORTED',
        /no WebAssembly/,
      )
    },
  ],
  [
    'in a worker',
    async (page) => {
      const result = await page.evaluate(
        () =>
          new Promise((resolve) => {
            const source = `import { init, backend, zeros } from '${location.origin}/dist/samebytes.mjs'; await init(); postMessage([backend(), zeros([2]).toArray()])`
            const worker = new Worker(
              URL.createObjectURL(new Blob([source], { type: 'text/javascript' })),
              { type: 'module' },
            )
            worker.onmessage = ({ data }) => resolve(data)
            worker.onerror = ({ message }) => resolve(message)
          }),
      )
      assert.deepEqual(result, ['wasm', [0, 0]])
    },
  ],
]

/** The package of another version, as an application might have it twice. */
const ofVersion = (text) =>
  Buffer.from(
    String(text)
      .replaceAll(JSON.stringify(version), '"9.9.9"')
      .replaceAll(`'${version}'`, "'9.9.9'"),
  )

/** The module of another version: as long as ours, because nothing else in it moves. */
function moduleOfVersion(bytes) {
  const at = bytes.indexOf(`"version":"${version}"`)
  assert.ok(at > 0, 'the module names its version')
  const other = Buffer.from(bytes)
  other.write('"version":"9.9.9"', at)
  return other
}

const PAGES = () => ({
  '/blank': '<!doctype html><title>samebytes</title>',
  '/favicon.ico': '',
  '/truncated.wasm': dist('samebytes.wasm').subarray(0, 50000),
  '/broken.wasm': (request, response, headers) => {
    response.writeHead(200, { ...headers, 'Content-Length': 100000 })
    response.write(Buffer.alloc(1000), () => response.destroy())
  },
  '/inline-only.mjs': dist('samebytes-inline.mjs'),
  '/inline-for-all.mjs': (request, response, headers) => {
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'text/javascript',
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
    response.end(dist('samebytes-inline.mjs'))
  },
  '/other/samebytes.mjs': ofVersion(dist('samebytes.mjs')),
  '/alone/samebytes-math.wasm': dist('samebytes-math.wasm'),
  '/alone/x.wasm': dist('samebytes-math.wasm'),
  '/other/samebytes.wasm': moduleOfVersion(dist('samebytes.wasm')),
})

/** Runs them all: passed and failed are added to total. */
async function testInit({ browser: name, total, fail, grep, slice }) {
  process.stdout.write(`\ninit in ${titleOf(name)}\n`)
  const pages = PAGES()
  const [open, isolated] = await Promise.all(
    [false, true].map((isolated) => serve({ isolated, pages })),
  )
  let browser = await launch(name)
  try {
    const named = [
      ...threads.TESTS,
      ...TESTS.map(([title, ...rest]) => [`init › ${title}`, ...rest]),
      ...pageMemory.TESTS,
      ...gpuOutputs.TESTS,
      ...proxy.TESTS,
    ]
    for (const [title, test, isIsolated] of sliceOf(named, slice)) {
      if (grep && !title.includes(grep)) continue
      for (let runs = 1; ; runs++) {
        if (!browser.connected) browser = await launch(name) // the test before ended it
        const context = await browser.createBrowserContext()
        const fresh = () => newPage(context, (isIsolated ? isolated : open).url)
        try {
          await within(TEST_LIMIT_MS, (async () => test(await fresh(), fresh))())
          total.passed++
          process.stdout.write('.')
        } catch (error) {
          if (error instanceof threads.Again && runs < RUNS) {
            process.stdout.write(`\n${title}: ${error.message}, once more\n`)
            await browser.close()
            continue
          }
          fail(total, title, describeError(error))
          process.stdout.write('!')
        }
        await context.close().catch(() => {}) // with the browser
        break
      }
    }
  } finally {
    await browser.close()
    open.close()
    isolated.close()
  }
  process.stdout.write('\n')
}

/** What a page is asked to evaluate has no limit of its own. */
function within(ms, promise) {
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${ms / 1000} s`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function newPage(context, url) {
  const page = await context.newPage()
  page.setDefaultTimeout(TEST_LIMIT_MS)
  page.asked = []
  page.on('request', (request) => page.asked.push(request.url()))
  await page.evaluateOnNewDocument(prepare)
  await page.evaluateOnNewDocument(threads.prepare)
  await page.goto(`${url}/blank`)
  return page
}

module.exports = { testInit }
