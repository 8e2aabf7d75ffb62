'use strict'
// Calls that are stopped in their middle: by vm's timeout, and by the end of the call stack. No catch or finally runs at a timeout;
// in WebAssembly neither lets C clean up.
const assert = require('node:assert/strict')
const { childJson, needs, isWasm } = require('../setup')

/** Runs op(again and again), stopped every millisecond, until `times` stops. */
const STOPS = `
  const vm = require('node:vm')
  function stopped (op, times) {
    const context = vm.createContext({ op })
    let stops = 0
    while (stops < times) {
      try {
        vm.runInContext('for (;;) op()', context, { timeout: 1 })
      } catch (error) {
        if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
        stops++
      }
    }
  }`

describe('a call that is stopped in its middle', function () {
  needs('a Node of its own')

  it('leaves no buffer with the address of another one: int32 of 40', async () => {
    const wrong = await childJson(`${STOPS}
      const { full } = require('samebytes')
      let wrong = 0
      for (let round = 0; round < 60; round++) {
        stopped(() => full([40], 7, 'int32').data, 1)
        for (let i = 0; i < 10; i++) if (full([40], 7, 'int32').data.some(x => x !== 7)) wrong++
      }
      console.log(wrong)`)
    assert.equal(wrong, 0)
  })

  it('leaves every tensor that is made later what it is: copies of a transpose, growing memory', async () => {
    const wrong = await childJson(`${STOPS}
      const { full, zeros, arange } = require('samebytes')
      const a = arange(4096).reshape(64, 64)
      const kept = Array.from({ length: 50 }, (_, i) => full([100], i, 'int32'))
      let wrong = 0
      for (let round = 0; round < 150; round++) {
        stopped(() => a.T.clone().dispose(), 1)
        if (round % 10 === 0) zeros([2 ** 18 + round]).dispose()
        if (a.T.clone().get(1, 0) !== 1) wrong++
      }
      for (const [i, t] of kept.entries()) if (t.toArray().some(x => x !== i)) wrong++
      console.log(wrong)`)
    assert.equal(wrong, 0)
  })

  it('ends with the call stack as often as it likes: in WebAssembly C has its whole stack again', async () => {
    const found = await childJson(`
      const { zeros, full, memory } = require('samebytes')
      const t = full([100], 3)
      const kept = Array.from({ length: 20 }, (_, i) => full([100], i, 'int32'))
      let left
      let overflows = 0
      function down () {
        try { down() } catch {}
        try {
          if (left-- > 0) t.clone().dispose()
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          overflows++
        }
      }
      const wrong = []
      // How deep a stack goes is V8's: where it compiles late, fewer calls end here.
      for (let round = 0; round < 300 || (${isWasm} && overflows <= 5000 && round < 3000); round++) {
        left = 600
        try {
          down()
          zeros([100]).dispose()
        } catch (error) {
          wrong.push(String(error))
          break
        }
      }
      for (const [i, t] of kept.entries()) if (t.toArray().some(x => x !== i)) wrong.push('tensor ' + i)
      console.log(JSON.stringify({ overflows, wrong }))`)
    assert.deepEqual(found.wrong, [])
    if (isWasm) assert.ok(found.overflows > 5000, `${found.overflows} overflows`)
  })

  it("in a tidy: what is made in a later turn is nobody's", async () => {
    const found = await childJson(
      `${STOPS}
      const { tidy, zeros, memory } = require('samebytes')
      tidy(() => zeros([4])) // reads its file: half a file is what Node leaves of a require that is stopped
      stopped(() => tidy(() => { for (;;) zeros([4]).dispose() }), 1)
      setImmediate(() => setImmediate(async () => {
        let gone = 0
        const registry = new FinalizationRegistry(() => { gone++ })
        for (let i = 0; i < 50; i++) registry.register(zeros([1000]), i)
        for (let i = 0; i < 20 && gone < 50; i++) {
          await new Promise(setImmediate)
          gc()
        }
        console.log(gone)
      }))`,
      { flags: ['--expose-gc'] },
    )
    assert.ok(found >= 49, `${found} of 50 were collected`)
  })

  it('is not inside setImmediate, of which half makes the event loop spin for ever', async () => {
    const found = await childJson(`
      const timers = require('node:timers')
      let inside = 0
      let isIn = false
      const { setImmediate: original } = timers
      timers.setImmediate = globalThis.setImmediate = (...args) => {
        if (isIn) inside++
        return original(...args)
      }
      const { tidy, zeros, flush, fromBlob } = require('samebytes')
      let freed = 0
      isIn = true
      tidy(() => zeros([4]).clone())
      fromBlob(new Float32Array(4), [4], { deleter: () => { freed++ } }).dispose()
      flush()
      isIn = false
      const until = setInterval(() => {
        if (freed === 0) return
        clearInterval(until)
        console.log(JSON.stringify({ inside, freed }))
      }, 1)`)
    assert.deepEqual(found, { inside: 0, freed: 1 })
  })
})

describe('NODE_DEBUG=samebytes', () => {
  needs('a Node of its own')

  it("writes nothing while a call runs: stderr may be the program's", async () => {
    const found = await childJson(
      `
      const s = require('samebytes')
      let isIn = false
      let inside = 0
      let written = 0
      process.stderr.write = () => {
        written++
        if (isIn) inside++
        s.full([3], 6, 'int8').dispose()
        return true
      }
      isIn = true
      const kept = Array.from({ length: 400 }, (_, i) => s.full([1000], i, 'int32'))
      for (let i = 0; i < 20; i++) s.zeros([2 ** 18]).copyFrom(new Float32Array(2 ** 18)).data
      isIn = false
      setTimeout(() => {
        console.log(JSON.stringify({ inside, wasWritten: written > 0, wrong: kept.filter((t, i) => t.toArray().some(x => x !== i)).length }))
      }, 200)`,
      { env: { NODE_DEBUG: 'samebytes' } },
    )
    assert.deepEqual(found, { inside: 0, wasWritten: true, wrong: 0 })
  })

  it('keeps no more than 10,000 lines for a program that gives no turn, and says how many came too fast', async () => {
    const found = await childJson(
      `
      const { zeros } = require('samebytes')
      const lines = []
      process.stderr.write = line => { lines.push(line); return true }
      const t = zeros([4])
      for (let i = 0; i < 10500; i++) t.slice(':3').copyFrom(t.slice('1:')) // overlaps: staged
      process.on('exit', () => console.log(JSON.stringify([lines.length, lines[lines.length - 1]])))`,
      { env: { NODE_DEBUG: 'samebytes' } },
    )
    assert.equal(found[0], 10001)
    assert.match(found[1], /^SAMEBYTES \d+: \d+ more lines came too fast\n$/)
  })
})
