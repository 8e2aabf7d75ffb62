'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly, skip } = require('../setup')

const MIB = 1048576
const sanitized = /asan/.test(process.env.LD_PRELOAD ?? '') || 'ASAN_OPTIONS' in process.env

// The limits are those of the project's cost table, measured after a warm-up in a fresh process.
describe('collection of tensors that nobody disposes', function () {
  nativeOnly()
  const env = { SAMEBYTES_BACKEND: 'native' }

  it('2,000,000 small float32 tensors in one synchronous loop grow the process by less than 16 MiB', async function () {
    if (sanitized) return skip(this, "a sanitizer's own memory grows")
    const grown = await childJson(
      `
      const { empty } = require('samebytes')
      let peak = 0
      const loop = n => { for (let i = 0; i < n; i++) {
        empty([4, 4])
        if (i % 10000 === 0) peak = Math.max(peak, process.memoryUsage.rss())
      } }
      loop(300000)
      gc()
      const before = process.memoryUsage.rss()
      peak = before
      loop(2000000)
      console.log(JSON.stringify(peak - before))
    `,
      { env, flags: ['--expose-gc'] },
    )
    assert.ok(grown < 16 * MIB, `grew by ${(grown / MIB).toFixed(1)} MiB`)
  })

  it('one float32 survivor in 4096, 2000 of them, keeps its values and little memory', async function () {
    const { grown, wrong } = await childJson(
      `
      const { empty } = require('samebytes')
      const survivors = []
      for (let i = 0; i < 100000; i++) empty([4, 4])
      gc()
      const before = process.memoryUsage.rss()
      for (let i = 0; i < 4096 * 2000; i++) {
        const t = empty([4, 4])
        if (i % 4096 === 0) survivors.push(t.fill(i / 4096))
      }
      gc()
      const wrong = survivors.findIndex((t, i) => !t.toArray().flat().every(x => x === i))
      console.log(JSON.stringify({ grown: process.memoryUsage.rss() - before, wrong }))
    `,
      { env, flags: ['--expose-gc'] },
    )
    assert.equal(wrong, -1)
    if (!sanitized) assert.ok(grown < 128 * MIB, `grew by ${(grown / MIB).toFixed(1)} MiB`)
  })

  it("at nearly every allocation leaves the survivors' float32 and int64 values intact", async () => {
    const wrong = await childJson(
      `
      const { empty, fromBlob, full, memory, tensor, tidy, zeros } = require('samebytes')
      const live = []
      const wrong = []
      const check = ({ t, value }) => {
        for (const x of t.toArray().flat(9)) if (x !== value) { wrong.push([String(x), String(value)]); return }
      }
      for (let i = 0; i < 3000; i++) {
        const value = i
        const kind = i % 7
        let t
        if (kind === 0) t = full([3, 5], value)
        else if (kind === 1) t = full([2, 40], value).T.slice('1:')
        else if (kind === 2) t = full([6], BigInt(value)).view([2, 3])
        else if (kind === 3) t = fromBlob(new Float32Array(8).fill(value), [2, 4]).T
        else if (kind === 4) t = full([9], value, { shared: true }).slice('::-1')
        else if (kind === 5) t = tidy(() => zeros([70]).copyFrom(full([70], value)).reshape([7, 10]))
        else { t = full([4], value); t.data.fill(value) }
        live.push({ t, value: kind === 2 ? BigInt(value) : value })
        if (live.length > 60) {
          const [gone] = live.splice((i * 31) % live.length, 1)
          check(gone)
          if (i % 3) gone.t.dispose()
        }
        check(live[(i * 17) % live.length])
      }
      live.forEach(check)
      console.log(JSON.stringify(wrong))
    `,
      { env, flags: ['--expose-gc', '--gc-interval=500'] },
    )
    assert.deepEqual(wrong, [])
  })

  it('while copies run keeps the operands: float32 temporaries as source and target', async () => {
    const result = await childJson(
      `
      const { fromBlob, full, zeros } = require('samebytes')
      let sum = 0
      for (let i = 0; i < 400; i++) {
        sum += zeros([50]).copyFrom(fromBlob(new Float32Array(50).fill(1)).slice('::-1'), { scale: 2 }).data[49]
        sum += full([5, 10], 1).T.contiguous().get(9, 4)
      }
      console.log(JSON.stringify(sum))
    `,
      { env, flags: ['--expose-gc', '--gc-interval=100'] },
    )
    assert.equal(result, 1200)
  })
})
