'use strict'
const assert = require('node:assert/strict')
const { childJson, needs } = require('../setup')

const TIMES = process.env.SAMEBYTES_FULL === '1' ? 50 : 1
const ROUNDS = { npy: 5000, safetensors: 600, gguf: 600, npz: 600 }

describe('bytes that another thread overwrites while they are parsed', function () {
  needs('a Node of its own')

  for (const format of Object.keys(ROUNDS)) {
    it(`are copied first where they are looked at twice: .${format}`, async () => {
      const { expected, found } = await childJson(
        `require('./test/overwritten').atOnce('${format}')`,
      )
      assert.equal(found.pop(), expected, 'the last look')
      for (const said of found) assert.ok(said === expected || said === 'ERR_FORMAT', said)
    })
  }

  for (const [format, few] of Object.entries(ROUNDS)) {
    const rounds = TIMES * few
    it(`are a file or refused with a code, and parsing ends: .${format}, ${rounds} times`, async () => {
      const { read, refused, wrong } = await childJson(
        `require('./test/overwritten').race('${format}', ${rounds})`,
      )
      assert.deepEqual(wrong, [])
      assert.equal(read + refused, rounds)
    })
  }
})
