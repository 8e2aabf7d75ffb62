'use strict'
// Memory of pages that dispose nothing, and growth, in fresh pages; init.js runs them. Nothing is measured by time or by what others use.
const assert = require('node:assert/strict')

const FRAMES = process.env.SAMEBYTES_FULL === '1' ? 10_000 : 600

/* global load, refusal, turn, AudioBuffer, Blob, ImageData, OffscreenCanvas, Response */

/** [title, test, is the page isolated?] */
const TESTS = [
  ...[
    [11_059_200, FRAMES],
    [900_000, 6_000],
    [20_000, 60_000],
  ].flatMap(([nbytes, count]) =>
    [false, true].map((shared) => [
      `${count} tensors of ${nbytes} bytes that nobody disposes${shared ? ', shared' : ''}: they are collected in time`,
      async (page) => {
        const most = await page.evaluate(
          async ({ nbytes, count, shared }) => {
            const { empty, init, memory, wasmMemory } = await load()
            await init({ shared })
            const { port1, port2 } = new MessageChannel()
            const message = () =>
              new Promise((resolve) => {
                port1.onmessage = resolve
                port2.postMessage(0)
              }) // leaves the collector less time than turn
            let most = 0
            for (let i = 0; i < count; i++) {
              empty([nbytes], 'uint8').fill(i & 127)
              if (nbytes > 1e6) await message()
              else if (i % 64 === 0) await turn()
              most = Math.max(most, memory().bytes.wasm)
            }
            return { tensors: most, memory: wasmMemory().buffer.byteLength }
          },
          { nbytes, count, shared },
        )
        const mib = Object.entries(most)
          .map(([of, bytes]) => `${of} ${bytes / 2 ** 20} MiB`)
          .join(', ')
        assert.ok(nbytes > 1e6 ? most.memory < 2 ** 29 - 2 ** 27 : most.tensors < 2 ** 30, mib) // a page with nothing in it has 2 ** 27
      },
      shared,
    ]),
  ),
  [
    'tensors that nobody disposes, beside 2 GB that are held: they are collected in time',
    async (page) => {
      const most = await page.evaluate(async (frames) => {
        const { empty, init, memory } = await load()
        await init()
        const { port1, port2 } = new MessageChannel()
        const message = () =>
          new Promise((resolve) => {
            port1.onmessage = resolve
            port2.postMessage(0)
          })
        const held = Array.from({ length: 20 }, () => empty([1e8], 'uint8'))
        let most = 0
        for (let i = 0; i < frames; i++) {
          empty([11_059_200], 'uint8').fill(1)
          await message()
          most = Math.max(most, memory().bytes.wasm)
        }
        return { most, held: held.length }
      }, FRAMES)
      assert.ok(most.most < 4e9, `${most.most} of ${most.held}`)
    },
  ],
  [
    'a loop that never waits ends in an error that says what helps, and what it made is collected',
    async (page) => {
      const { error, made, left } = await page.evaluate(async () => {
        const { empty, init, memory } = await load()
        await init({ maximumMemory: 2 ** 26 })
        let made = 0
        const error = await refusal(() => {
          for (; ; made++) empty([900_000], 'uint8')
        })
        for (let i = 0; i < 200 && memory().tensors > 0; i++) {
          globalThis.gc?.()
          if (globalThis.gc === undefined) globalThis.waste = new Uint8Array(2 ** 24) // without gc() other garbage is what makes it run
          await turn()
        }
        return { error, made, left: memory().tensors }
      })
      assert.equal(error.code, 'ERR_MEMORY')
      assert.match(error.message, /Dispose tensors, or make them in tidy\(\)/)
      assert.ok(made > 60 && made < 80, `${made} of 900,000 bytes in 64 MiB`)
      assert.equal(left, 0)
    },
  ],
  [
    'tensors that are disposed leave the next ones nothing to collect',
    async (page) => {
      const [first, later] = await page.evaluate(async () => {
        const Given = ArrayBuffer
        let made = 0
        globalThis.ArrayBuffer = new Proxy(Given, {
          construct(target, args) {
            made++
            return new Given(...args)
          },
        })
        const { empty, init, tidy } = await load()
        await init()
        const frame = () =>
          tidy(() => {
            for (const n of [2 ** 20, 2 ** 16, 2 ** 20]) empty([n], 'uint8')
          })
        made = 0
        frame()
        const first = made
        for (let i = 0; i < 100; i++) frame()
        return [first, made - first]
      })
      assert.deepEqual([first, later], [3, 0])
    },
  ],
  [
    'grows 20 times at most on the way to 1 GiB, and never beyond its maximum',
    async (page) => {
      const { grown, bytes, few, end } = await page.evaluate(async () => {
        const { empty, init, memory, wasmMemory } = await load()
        await init({ maximumMemory: 2 ** 30 + 2 ** 20 })
        const held = []
        let small = 2 ** 16
        while (memory().bytes.wasm + small < 2 ** 30 - 2 ** 25) {
          held.push(empty([(small = Math.min(2 ** 22, small + 7777))], 'uint8'))
        }
        const { grown } = memory()
        const bytes = wasmMemory().buffer.byteLength
        const last = await refusal(() => {
          for (;;) held.push(empty([2 ** 20], 'uint8'))
        })
        return { grown, bytes, few: last.code, end: 2 ** 30 + 2 ** 20 - memory().bytes.wasm }
      })
      assert.ok(grown <= 20, `it grew ${grown} times to ${bytes} bytes`)
      assert.equal(few, 'ERR_MEMORY')
      assert.ok(end >= 0 && end < 2 ** 23, `${end} bytes were left`)
    },
  ],
  [
    'what the web offers refuses arrays over memory that grows in place: so data is not over it',
    async (page) => {
      const taken = await page.evaluate(async () => {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 })
        if (memory.toResizableBuffer === undefined) return []
        const buffer = memory.toResizableBuffer()
        const bytes = new Uint8Array(buffer, 0, 400)
        const uses = {
          ImageData: () => new ImageData(new Uint8ClampedArray(buffer, 0, 400), 10, 10),
          TextDecoder: () => new TextDecoder().decode(bytes),
          Blob: () => new Blob([bytes]),
          Response: () => new Response(bytes),
          AudioBuffer: () =>
            new AudioBuffer({ length: 4, sampleRate: 44100 }).copyToChannel(
              new Float32Array(buffer, 0, 4),
              0,
            ),
          WebGL: () => {
            const gl = new OffscreenCanvas(10, 10).getContext('webgl2')
            if (gl === null) throw new Error('not here')
            gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW)
          },
        }
        return Object.keys(uses).filter((name) => {
          try {
            return uses[name]() !== null
          } catch {
            return false
          }
        })
      })
      assert.deepEqual(taken, [])
    },
  ],
]

module.exports = { TESTS }
