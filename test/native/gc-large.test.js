'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly, skip } = require('../setup')

const MIB = 1048576
const sanitized = /asan/.test(process.env.LD_PRELOAD ?? '') || 'ASAN_OPTIONS' in process.env

// The limits are those of the project's cost table, measured after a warm-up in a fresh process.
describe('collection of large tensors that nobody disposes', function () {
  nativeOnly()
  const env = { SAMEBYTES_BACKEND: 'native' }

  it('4000 float32 tensors of 1 MiB, every byte written, grow the process by less than 128 MiB', async function () {
    if (sanitized) return skip(this, "a sanitizer's own memory grows")
    const growthOf = (make) =>
      childJson(
        `
      const { empty } = require('samebytes')
      ${make('1')}
      gc()
      const before = process.memoryUsage.rss()
      let peak = before
      for (let i = 0; i < 4000; i++) {
        ${make('i')}
        if (i % 20 === 0) peak = Math.max(peak, process.memoryUsage.rss())
      }
      console.log(JSON.stringify(peak - before))
    `,
        { env, flags: ['--expose-gc'] },
      )
    const grown = await growthOf((value) => `empty([262144]).fill(${value})`)
    if (grown < 128 * MIB) return
    // Node.js 26 lets its own arrays grow the process by more than that; then they are the bound.
    const plain = await growthOf((value) => `new Float32Array(262144).fill(${value})`)
    assert.ok(
      plain > 112 * MIB && grown < 1.3 * plain,
      `grew by ${(grown / MIB).toFixed(1)} MiB, V8's own arrays by ${(plain / MIB).toFixed(1)}`,
    )
  })
})
